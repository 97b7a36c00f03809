/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies and decisions as Lua values, and what a binding says of them.
 */
#ifndef EBB_FRONT_LUA_POLICY_PRIV_H
#define EBB_FRONT_LUA_POLICY_PRIV_H

#include "engine/decide.h"
#include "front/lua/module_priv.h"

/* A policy that Lua values and sessions share; the last one to let go frees it. */
struct ebb__shared_policy {
    struct ebb_policy *policy;
    int refs;
    uint8_t lines[EBB_POLICY_SOURCE_MAX_BYTES / 8 + 1]; /* that were executed, by all sessions */
};
void ebb__shared_policy_drop(struct ebb__shared_policy *shared); /* NULL is fine */

struct ebb__lua_binding {
    enum ebb_mode mode;
    const struct ebb_value *params, *blackouts, *guard;
    const char *blackout_tz;
    bool allow_below_floor, allow_override_quiet;
};

/* The policy at index; raises when it is none, or closed. */
EBB_LJMP struct ebb__shared_policy *ebb__lua_check_policy(lua_State *L, int index);
/* Push an empty boxed decision. */
EBB_LJMP struct ebb_decision **ebb__lua_decision(lua_State *L);
/* Raise when a map of options has another key than these. */
EBB_LJMP void ebb__lua_check_keys(lua_State *L, int index, const struct ebb_value *map, const char *const *names,
                                  size_t count);
/* mode, params, blackouts, blackout_tz, guard, allow_below_floor, allow_override_quiet of a map; borrows from it. */
EBB_LJMP void ebb__lua_check_binding(lua_State *L, int index, const struct ebb_value *map,
                                     struct ebb__lua_binding *out);
/* Facts as a table, or the name of a captured fixture. Pushes what owns them. */
EBB_LJMP int ebb__lua_check_facts(lua_State *L, int index, int64_t now_ms, const struct ebb_value **out,
                                  struct ebb_err *err);

#endif
