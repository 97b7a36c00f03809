/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb.policy: policy files as objects.
 */
#include "front/lua/policy_priv.h"

#include <stdlib.h>

#include "service/facts.h"
#include "service/pass.h"

struct policy_box {
    struct ebb__shared_policy *shared; /* NULL: closed */
};

void ebb__shared_policy_drop(struct ebb__shared_policy *shared)
{
    if (!shared || --shared->refs > 0)
        return;
    ebb_policy_free(shared->policy);
    free(shared);
}

static int l_policy_gc(lua_State *L)
{
    struct policy_box *box = luaL_checkudata(L, 1, EBB__LUA_POLICY);

    ebb__shared_policy_drop(box->shared);
    box->shared = NULL;
    return 0;
}

EBB_LJMP struct ebb__shared_policy *ebb__lua_check_policy(lua_State *L, int index)
{
    struct policy_box *box = luaL_checkudata(L, index, EBB__LUA_POLICY);

    luaL_argcheck(L, box->shared, index, "the policy is closed");
    return box->shared;
}

/* policy:name(), policy:file(), policy:bundle() */
static int l_policy_name(lua_State *L)
{
    lua_pushstring(L, ebb_policy_get_name(ebb__lua_check_policy(L, 1)->policy));
    return 1;
}

static int l_policy_file(lua_State *L)
{
    lua_pushstring(L, ebb_policy_get_file(ebb__lua_check_policy(L, 1)->policy));
    return 1;
}

static int l_policy_bundle(lua_State *L)
{
    lua_pushstring(L, ebb_policy_get_bundle(ebb__lua_check_policy(L, 1)->policy));
    return 1;
}

/* policy:manifest() -> the data part as tables */
static int l_policy_manifest(lua_State *L)
{
    ebb__lua_push_value(L, ebb_policy_get_manifest(ebb__lua_check_policy(L, 1)->policy));
    return 1;
}

/* ---- deciding ---- */

static enum ebb_mode mode_of(lua_State *L, int index, const struct ebb_value *map)
{
    static const char *const NAMES[] = {"observe", "approve", "enforce"};
    const char *name = ebb_value_text_of(map, "mode");

    if (!ebb_value_get(map, "mode"))
        return EBB_MODE_OBSERVE;
    for (int i = 0; i < 3; i++)
        if (name && !strcmp(name, NAMES[i]))
            return (enum ebb_mode)i;
    luaL_argerror(L, index, "mode is observe, approve or enforce");
    return EBB_MODE_OBSERVE;
}

EBB_LJMP void ebb__lua_check_keys(lua_State *L, int index, const struct ebb_value *map, const char *const *names,
                                  size_t count)
{
    for (size_t i = 0; i < ebb_value_get_count(map); i++) {
        struct ebb_str key = ebb_value_get_key(map, i);
        bool is_known = false;

        for (size_t k = 0; k < count && !is_known; k++)
            is_known = ebb_str_is_equal(key, ebb_str_of(names[k]));
        if (!is_known)
            luaL_argerror(L, index, lua_pushfstring(L, "unknown option '%s'", key.p ? key.p : ""));
    }
}

EBB_LJMP void ebb__lua_check_binding(lua_State *L, int index, const struct ebb_value *map, struct ebb__lua_binding *out)
{
    struct ebb_err err;

    memset(out, 0, sizeof *out);
    out->mode = EBB_MAY_LJMP(mode_of(L, index, map));
    out->params = ebb_value_get(map, "params");
    out->blackouts = ebb_value_get(map, "blackouts");
    out->blackout_tz = ebb_value_text_of(map, "blackout_tz");
    out->guard = ebb_value_get(map, "guard");
    if (out->guard && ebb_guard_check_site("guard", out->guard, &err))
        luaL_argerror(L, index, lua_pushstring(L, err.message));
    out->allow_below_floor = ebb_value_bool_of(map, "allow_below_floor", false);
    out->allow_override_quiet = ebb_value_bool_of(map, "allow_override_quiet", false);
}

/* What a call of decide says beside the facts. The trees live as long as the stack slots that the calls pushed. */
static void read_context(lua_State *L, int index, struct ebb_decide_input *in)
{
    static const char *const KEYS[] = {"now",       "trigger",           "params",       "mode",
                                       "bound",     "allow_below_floor", "active_since", "allow_override_quiet",
                                       "blackouts", "blackout_tz",       "id",           "guard",
                                       "inputs"};
    const struct ebb_value *map;
    struct ebb__lua_binding binding;

    luaL_checktype(L, index, LUA_TTABLE);
    map = ebb_value_get(EBB_MAY_LJMP(ebb__lua_check_value(L, index)), EBB__LUA_KEY);
    EBB_MAY_LJMP(ebb__lua_check_keys(L, index, map, KEYS, sizeof KEYS / sizeof *KEYS));
    luaL_argcheck(L, ebb_value_get_kind(ebb_value_get(map, "now")) == EBB_VALUE_INT, index,
                  "now is due: an instant in ms");
    EBB_MAY_LJMP(ebb__lua_check_binding(L, index, map, &binding));
    in->now_ms = ebb_value_int_of(map, "now", 0);
    in->trigger = ebb_value_get(map, "trigger");
    in->overrides = binding.params;
    in->mode = binding.mode;
    in->bound = ebb_value_bool_of(map, "bound", true);
    in->active_since_ms = ebb_value_int_of(map, "active_since", 0);
    in->allow_below_floor = binding.allow_below_floor;
    in->allow_override_quiet = binding.allow_override_quiet;
    in->blackouts = binding.blackouts;
    in->blackout_tz = binding.blackout_tz;
    in->guard = binding.guard;
    in->id = ebb_value_text_of(map, "id");
    in->with_inputs = ebb_value_bool_of(map, "inputs", false);
}

EBB_LJMP int ebb__lua_check_facts(lua_State *L, int index, int64_t now_ms, const struct ebb_value **out,
                                  struct ebb_err *err)
{
    struct ebb_value **tree;
    const char *file;
    int rc;

    if (lua_type(L, index) != LUA_TSTRING) {
        luaL_checktype(L, index, LUA_TTABLE);
        *out = ebb_value_get(EBB_MAY_LJMP(ebb__lua_check_value(L, index)), EBB__LUA_KEY);
        return 0;
    }
    rc = EBB_MAY_LJMP(ebb__lua_check_text(L, index, EBB_EUSAGE, &file, err));
    tree = EBB_MAY_LJMP(ebb__lua_tree(L));
    if (!rc)
        rc = ebb_facts_load(file, NULL, now_ms, tree, err);
    *out = *tree;
    return rc;
}

struct decision_box {
    struct ebb_decision *decision;
};

static int l_decision_gc(lua_State *L)
{
    struct decision_box *box = luaL_checkudata(L, 1, EBB__LUA_DECISION);

    ebb_decision_free(box->decision);
    box->decision = NULL;
    return 0;
}

EBB_LJMP struct ebb_decision **ebb__lua_decision(lua_State *L)
{
    struct decision_box *box = EBB_MAY_LJMP(ebb__lua_box(L, EBB__LUA_DECISION, sizeof *box, l_decision_gc));

    return &box->decision;
}

/* policy:decide(facts, context) -> the record as tables; nil, err when the policy goes wrong */
static int l_policy_decide(lua_State *L)
{
    struct ebb__shared_policy *shared = ebb__lua_check_policy(L, 1);
    struct ebb_decide_input in;
    struct ebb_decision **decision;
    struct ebb_err err;
    const char *record;
    int rc;

    memset(&in, 0, sizeof in);
    lua_settop(L, 3);
    read_context(L, 3, &in);
    rc = ebb__lua_check_facts(L, 2, in.now_ms, &in.facts, &err);
    decision = ebb__lua_decision(L);
    if (!rc)
        rc = ebb_decide(shared->policy, &in, decision, &err);
    if (rc)
        return ebb__lua_fail(L, &err);
    record = ebb_decision_get_record(*decision);
    return ebb__lua_return_json(L, "decision", record, strlen(record));
}

/* ---- opening ---- */

static const luaL_Reg METHODS[] = {
    {"name", l_policy_name},         {"file", l_policy_file},     {"bundle", l_policy_bundle},
    {"manifest", l_policy_manifest}, {"decide", l_policy_decide}, {NULL, NULL},
};

static int load(const char *path, struct ebb__shared_policy **out, struct ebb_err *err)
{
    struct ebb__shared_policy *shared = calloc(1, sizeof *shared);
    int rc;

    if (!shared)
        return ebb_err_nomem(err);
    shared->refs = 1;
    rc = ebb_policy_load(path, &shared->policy, NULL, err);
    if (rc)
        ebb__shared_policy_drop(shared);
    else
        *out = shared;
    return rc;
}

/* ebb.policy.load(path) -> policy, or nil, err */
static int l_policy_load(lua_State *L)
{
    struct policy_box *box;
    struct ebb_err err;
    const char *path;
    int rc = ebb__lua_check_text(L, 1, EBB_EUSAGE, &path, &err);

    box = ebb__lua_box(L, EBB__LUA_POLICY, sizeof *box, l_policy_gc);
    ebb__lua_methods(L, METHODS);
    if (!rc)
        rc = load(path, &box->shared, &err);
    return rc ? ebb__lua_fail(L, &err) : 1;
}

static const luaL_Reg FUNCTIONS[] = {
    {"load", l_policy_load},
    {NULL, NULL},
};

EBB_LJMP int ebb__lua_open_policy(lua_State *L)
{
    luaL_newlib(L, FUNCTIONS);
    return 1;
}
