/* SPDX-License-Identifier: Apache-2.0
 *
 * action.*: constructors of actions. Each is checked by a closed schema when it is made and kept on the C side; the
 * script holds a handle.
 */
#include <lauxlib.h>

#include "engine/eval_priv.h"

#define MANY 1e15

static const struct ebb__rule ORPHANS[] = {
    {"older_than", EBB__TYPE_INSTANT, true, NULL, NULL, 0, 0},
    {"location", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0},
    {"prefix_mismatch", EBB__TYPE_TEXT, false, NULL, "error|ignore|delete", 0, 0},
    {"keep", EBB__TYPE_TEXTS, false, NULL, NULL, 0, 0},
    {"dry_run", EBB__TYPE_BOOL, false, NULL, NULL, 0, 0},
    {"equal_schemes", EBB__TYPE_TEXT_MAP, false, NULL, NULL, 0, 0},
    {"equal_authorities", EBB__TYPE_TEXT_MAP, false, NULL, NULL, 0, 0},
};
static const struct ebb__rule EXPIRE[] = {
    {"older_than", EBB__TYPE_INSTANT, false, NULL, NULL, 0, 0},
    {"retain_last", EBB__TYPE_INTEGER, false, NULL, NULL, 1, MANY},
    {"snapshot_ids", EBB__TYPE_ANY, false, NULL, NULL, 0, 0},
    {"clean_expired_metadata", EBB__TYPE_BOOL, false, NULL, NULL, 0, 0},
};
static const struct ebb__rule REWRITE[] = {
    {"strategy", EBB__TYPE_TEXT, false, NULL, "binpack|sort", 0, 0},
    {"partitions", EBB__TYPE_ANY, false, NULL, NULL, 0, 0},
    {"sort_order", EBB__TYPE_TEXT, false, NULL, NULL, 0, 0},
    {"target_file_size", EBB__TYPE_INTEGER, false, NULL, NULL, 1, 9e18},
    {"delete_ratio", EBB__TYPE_NUMBER, false, NULL, NULL, 0, 1},
    {"partial_progress", EBB__TYPE_MAP, false, NULL, NULL, 0, 0},
};
static const struct ebb__rule MANIFESTS[] = {
    {"spec_id", EBB__TYPE_INTEGER, false, NULL, NULL, 0, MANY},
};
#define N(rules) (sizeof(rules) / sizeof *(rules))

const struct ebb__rule_set EBB__ACTION_RULES[] = {
    {"action.remove_orphan_files", ORPHANS, N(ORPHANS)},
    {"action.expire_snapshots", EXPIRE, N(EXPIRE)},
    {"action.rewrite_data_files", REWRITE, N(REWRITE)},
    {"action.rewrite_manifests", MANIFESTS, N(MANIFESTS)},
    {NULL, NULL, 0},
};

const struct ebb_value *ebb__action_test(lua_State *L, int index)
{
    size_t *at = ebb__object_test(L, index, EBB__ACTION);

    return at ? ebb__sandbox_of(L)->actions[*at] : NULL;
}

static int action_index(lua_State *L)
{
    const struct ebb_value *action = ebb__action_test(L, 1);

    if (!action || lua_type(L, 2) != LUA_TSTRING)
        return 0;
    ebb__view_push(L, ebb_value_get(action, lua_tostring(L, 2)), NULL, -1);
    return 1;
}

static int action_newindex(lua_State *L)
{
    return luaL_error(L, "action: an action is read only\n  hint: give everything to its constructor");
}

static const luaL_Reg ACTION_METHODS[] = {{"__index", action_index}, {"__newindex", action_newindex}, {NULL, NULL}};

/* Copy and check the arguments; never throws. */
static int take(lua_State *L, const struct ebb__rule_set *c, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb__value_rules rules = {ebb_value_limits_script(), c->path, ebb__view_copy, NULL, false};
    struct ebb__checker checker = {.file = c->path, .code = "policy.schema", .error = EBB_EPOLICY_RESULT};
    int rc = ebb__value_of_lua(L, 1, &rules, out, err);

    if (rc)
        return rc;
    ebb__schema_check(&checker, "", 0, *out, c->rules, c->count);
    if (checker.has_failed) {
        *err = checker.first;
        return -(int)EBB_EPOLICY_RESULT;
    }
    ebb_value_put_str(*out, "type", strchr(c->path, '.') + 1);
    return ebb_value_check(*out, c->path, err);
}

static int construct(lua_State *L, const struct ebb__rule_set *c)
{
    struct ebb__sandbox *sb = ebb__sandbox_of(L);
    struct ebb_value **slot = &sb->actions[sb->action_count];
    size_t *at;
    struct ebb_err err;
    int rc;

    if (lua_type(L, 1) != LUA_TTABLE)
        return luaL_error(L, "%s: write %s { … }", c->path, c->path);
    if (sb->action_count == EBB__ACTIONS_MAX)
        return luaL_error(L, "%s: more than %d actions in one evaluation", c->path, EBB__ACTIONS_MAX);
    EBB_MAY_LJMP(ebb__charge(L, 500));
    EBB_MAY_LJMP(ebb__charge_walk(L));
    lua_settop(L, 1);
    rc = take(L, c, slot, &err);
    if (*slot)
        sb->action_count++;
    if (rc == -(int)EBB_ENOMEM)
        return EBB_MAY_LJMP(ebb__abort(L, EBB_EPOLICY_MEMORY));
    if (rc)
        return luaL_error(L, "%s%s%s", err.message, err.hint[0] ? "\n  hint: " : "", err.hint);
    at = lua_newuserdatauv(L, sizeof *at, 0);
    *at = sb->action_count - 1;
    ebb__object_init(L, EBB__ACTION, ACTION_METHODS);
    return 1;
}

static int l_remove_orphan_files(lua_State *L)
{
    return construct(L, &EBB__ACTION_RULES[0]);
}

static int l_expire_snapshots(lua_State *L)
{
    return construct(L, &EBB__ACTION_RULES[1]);
}

static int l_rewrite_data_files(lua_State *L)
{
    return construct(L, &EBB__ACTION_RULES[2]);
}

static int l_rewrite_manifests(lua_State *L)
{
    return construct(L, &EBB__ACTION_RULES[3]);
}

static const luaL_Reg FUNCTIONS[] = {
    {"remove_orphan_files", l_remove_orphan_files},
    {"expire_snapshots", l_expire_snapshots},
    {"rewrite_data_files", l_rewrite_data_files},
    {"rewrite_manifests", l_rewrite_manifests},
    {NULL, NULL},
};

EBB_LJMP void ebb__bind_action(lua_State *L)
{
    ebb__set_library(L, "action", FUNCTIONS, NULL);
    EBB_MAY_LJMP(ebb__class_make(L, EBB__ACTION, ACTION_METHODS));
}
