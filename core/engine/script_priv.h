/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers of the engine state: the table `ebb` that scripts get, and `import`.
 */
#ifndef EBB_ENGINE_SCRIPT_PRIV_H
#define EBB_ENGINE_SCRIPT_PRIV_H

#include "engine/bundle_priv.h"
#include "engine/value_priv.h"

/* Push { time = { format }, location = { check, contains } }. */
void ebb__script_push_helpers(lua_State *L);
int ebb__l_import(lua_State *L);

#endif
