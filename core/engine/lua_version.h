/* SPDX-License-Identifier: Apache-2.0
 *
 * Which Lua this program was built with.
 */
#ifndef EBB_ENGINE_LUA_VERSION_H
#define EBB_ENGINE_LUA_VERSION_H

/* "5.4.4". */
const char *ebb_lua_version(void);

#endif
