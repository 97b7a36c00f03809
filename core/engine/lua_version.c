/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lua_version.h"

#include <lua.h>

const char *ebb_lua_version(void)
{
    return LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE;
}
