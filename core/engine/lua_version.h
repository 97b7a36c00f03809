/* SPDX-License-Identifier: Apache-2.0
 *
 * Which Lua this program runs with.
 */
#ifndef EBB_ENGINE_LUA_VERSION_H
#define EBB_ENGINE_LUA_VERSION_H

#include "base/err.h"

/* "5.4.4": the release of the library that is linked, which may be another than at build time. */
const char *ebb_lua_version(void);
/* Whether a release may run policies: 5.4.0 to 5.4.3 may not. EBB_EUNSUPPORTED. */
int ebb_lua_check(const char *release, struct ebb_err *err);

#endif
