/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lua_version.h"

#include <lua.h>
#include <string.h>

#define OLDEST_GOOD '4' /* the first release of 5.4 without the known bugs that a script can reach */

/* The library says its release in a text of its own; the header only knows which one was there at build time. */
const char *ebb_lua_version(void)
{
    static const char *const RELEASES[] = {"5.4.0", "5.4.1", "5.4.2", "5.4.3", "5.4.4",
                                           "5.4.5", "5.4.6", "5.4.7", "5.4.8", "5.4.9"};
    const char *at = strstr(lua_ident, "Lua 5.4.");
    char digit = at ? at[strlen("Lua 5.4.")] : '\0';

    if (digit < '0' || digit > '9')
        return LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE;
    return RELEASES[digit - '0'];
}

int ebb_lua_check(const char *release, struct ebb_err *err)
{
    size_t n = strlen(release);

    if (n == 5 && !strncmp(release, "5.4.", 4) && release[4] >= '0' && release[4] < OLDEST_GOOD) {
        ebb_err_set(err, EBB_EUNSUPPORTED, "Lua %s: has faults that a policy could use", release);
        ebb_err_hint(err, "run with liblua 5.4.%c or later", OLDEST_GOOD);
        return -(int)EBB_EUNSUPPORTED;
    }
    return 0;
}
