/* SPDX-License-Identifier: Apache-2.0
 *
 * The `where` functions of event triggers.
 */
#include <lauxlib.h>

#include "engine/eval_priv.h"
#include "engine/header_priv.h"

struct filtering {
    const struct ebb_policy *policy;
    lua_Integer trigger; /* from 1 */
    const struct ebb_value *event;
    bool is_wanted;
};

/* Push the `where` of the trigger, or nil. */
static void push_where(lua_State *L, lua_Integer trigger)
{
    lua_pushliteral(L, "triggers");
    lua_rawget(L, -2);
    lua_rawgeti(L, -1, trigger);
    if (!ebb__object_test(L, -1, EBB__MADE)) {
        lua_pushnil(L);
        return;
    }
    lua_getiuservalue(L, -1, 1);
    lua_pushliteral(L, "where");
    lua_rawget(L, -2);
}

static int filter(lua_State *L)
{
    struct filtering *f = lua_touserdata(L, 1);

    ebb__header_push(L, (struct ebb_str){f->policy->source, f->policy->source_bytes});
    push_where(L, f->trigger);
    if (lua_isnil(L, -1)) {
        f->is_wanted = true;
        return 0;
    }
    ebb__sandbox_refuel(ebb__sandbox_of(L), EBB__GAS_HEADER);
    ebb__view_push_map(L, f->event, &ebb__shape_event, -1);
    lua_call(L, 1, 1);
    f->is_wanted = lua_toboolean(L, -1);
    return 0;
}

int ebb_policy_filter_event(const struct ebb_policy *policy, size_t trigger, const struct ebb_value *event, bool *out,
                            struct ebb_err *err)
{
    struct filtering f = {.policy = policy, .trigger = (lua_Integer)trigger + 1, .event = event};
    struct ebb__sandbox sb;
    int rc;

    *out = false;
    if (!ebb_value_get(ebb_value_get_at(ebb_value_get(policy->manifest, "triggers"), trigger), "where")) {
        *out = true;
        return 0;
    }
    rc = ebb__sandbox_open(&sb, EBB__PHASE_HEADER, NULL, ebb__open_policy, err);
    if (rc)
        return rc;
    sb.bundle = (struct ebb__bundle *)(uintptr_t)&policy->bundle;
    rc = ebb__sandbox_run(&sb, filter, &f, policy->file, NULL, err);
    ebb__sandbox_close(&sb);
    *out = !rc && f.is_wanted;
    return rc;
}
