/* SPDX-License-Identifier: Apache-2.0
 *
 * The header phase: what constructors make, and how it becomes plain data.
 */
#ifndef EBB_ENGINE_HEADER_PRIV_H
#define EBB_ENGINE_HEADER_PRIV_H

#include "engine/bind_priv.h"

/* The userdata of constructors; user value 1 is the table (or text) they were given. */
struct ebb__made {
    const char *kind; /* "time.calendar", "param", … */
    int line;         /* where it was called; 0 unknown */
};

/* As plain data a made object is {"@made": kind, "line": n, "args": …}, a function {"@function": true}. */
#define EBB__MADE_KIND "@made"
#define EBB__FUNCTION_KEY "@function"

/* Run the source and push the table that was given to policy{…}. */
EBB_LJMP void ebb__header_push(lua_State *L, struct ebb_str source);
/* For ebb__value_rules; data is the rules themselves. */
int ebb__header_copy(void *data, lua_State *L, int index, struct ebb_value *box, struct ebb_str key,
                     struct ebb_err *err);

int ebb__l_civil(lua_State *L);
int ebb__l_start_of(lua_State *L);

#endif
