/* SPDX-License-Identifier: Apache-2.0
 *
 * run, skip, defer: the only things decide may return. They box their arguments; what they must fulfil is checked when
 * decide has returned.
 */
#include <lauxlib.h>
#include <stdio.h>

#include "engine/eval_priv.h"

struct result {
    enum ebb_verdict verdict;
    int node;
    int64_t until_ms;
    bool override_quiet;
    int line;
};

enum { USER_ACTION = 1, USER_WHY = 2 };

static int result_index(lua_State *L)
{
    return luaL_error(L, "a result can only be returned");
}

static int caller_line(lua_State *L)
{
    lua_Debug ar;

    if (!lua_getstack(L, 1, &ar) || !lua_getinfo(L, "l", &ar))
        return 0;
    return ar.currentline > 0 ? ar.currentline : 0;
}

static const luaL_Reg RESULT_METHODS[] = {{"__index", result_index}, {"__newindex", result_index}, {NULL, NULL}};

/* Push a result for the check at 1; why: index of a text or 0. */
static struct result *push_result(lua_State *L, enum ebb_verdict verdict, const char *what, int why)
{
    struct ebb__node *node;
    struct result *r;

    EBB_MAY_LJMP(ebb__need_phase(L, EBB__PHASE_DECIDE, what));
    EBB_MAY_LJMP(ebb__charge(L, 20));
    node = ebb__check_node(L, 1, what);
    if (why && !lua_isnoneornil(L, why) && lua_type(L, why) != LUA_TSTRING)
        luaL_error(L, "%s: the reason is a text, not %s", what, ebb__type_name(L, why));
    r = lua_newuserdatauv(L, sizeof *r, 2);
    *r = (struct result){.verdict = verdict, .node = (int)(node - ebb__eval_of(L)->nodes), .line = caller_line(L)};
    ebb__object_init(L, EBB__RESULT, RESULT_METHODS);
    if (why && !lua_isnoneornil(L, why)) {
        lua_pushvalue(L, why);
        lua_setiuservalue(L, -2, USER_WHY);
    }
    return r;
}

static void read_options(lua_State *L)
{
    static const char *const KEYS[] = {"override_quiet", "note"};

    if (lua_isnoneornil(L, 3)) {
        lua_settop(L, 2);
        lua_newtable(L);
    }
    if (lua_type(L, 3) != LUA_TTABLE)
        luaL_error(L, "run: options are a table, not %s", ebb__type_name(L, 3));
    lua_settop(L, 3);
    EBB_MAY_LJMP(ebb__check_keys(L, 3, "run", KEYS, 2));
    lua_pushliteral(L, "override_quiet");
    if (lua_rawget(L, 3) != LUA_TNIL && lua_type(L, 4) != LUA_TBOOLEAN)
        luaL_error(L, "run: override_quiet is true or false, not %s", ebb__type_name(L, 4));
    lua_pushliteral(L, "note");
    lua_rawget(L, 3);
}

/* run(checks, action [, { override_quiet =, note = }]) */
static int l_run(lua_State *L)
{
    struct result *r;

    if (!ebb__action_test(L, 2))
        return luaL_error(L, "run: an action is due, made by action.…, not %s",
                          lua_isnoneornil(L, 2) ? "nil" : ebb__type_name(L, 2));
    read_options(L);
    r = push_result(L, EBB_VERDICT_RUN, "run", 5);
    r->override_quiet = lua_toboolean(L, 4);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, -2, USER_ACTION);
    return 1;
}

/* skip(checks [, why]) */
static int l_skip(lua_State *L)
{
    push_result(L, EBB_VERDICT_SKIP, "skip", 2);
    return 1;
}

/* defer(checks, instant [, why]) */
static int l_defer(lua_State *L)
{
    int64_t until = ebb__check_int(L, 2, "defer");

    push_result(L, EBB_VERDICT_DEFER, "defer", 3)->until_ms = until;
    return 1;
}

static int fault(struct ebb__eval *e, const struct result *r, const char *why)
{
    if (r && r->line)
        return ebb_err_set(&e->err, EBB_EPOLICY_RESULT, "%s:%d: %s", ebb_policy_get_file(e->policy), r->line, why);
    return ebb_err_set(&e->err, EBB_EPOLICY_RESULT, "%s: %s", ebb_policy_get_file(e->policy), why);
}

static int take_action(lua_State *L, int index, struct ebb__eval *e)
{
    struct ebb_value_limits limits = ebb_value_limits_wide();
    const struct ebb_value *action;
    int rc;

    lua_getiuservalue(L, index, USER_ACTION);
    action = ebb__action_test(L, -1);
    lua_pop(L, 1);
    rc = ebb_value_dup(action, &limits, &e->action, &e->err);
    return rc;
}

static void take_why(lua_State *L, int index, struct ebb__eval *e)
{
    if (lua_getiuservalue(L, index, USER_WHY) == LUA_TSTRING)
        snprintf(e->why, sizeof e->why, "%s", lua_tostring(L, -1));
    lua_pop(L, 1);
}

static int check_result(const struct result *r, struct ebb__eval *e)
{
    int64_t ahead_ms;

    if (r->verdict == EBB_VERDICT_RUN && e->nodes[r->node].truth != EBB__TRUE)
        return fault(
            e, r, e->nodes[r->node].truth == EBB__FALSE ? "run: its checks are false" : "run: its checks are unknown");
    if (r->verdict != EBB_VERDICT_DEFER)
        return 0;
    if (r->until_ms <= e->input->now_ms)
        return fault(e, r, "defer: to an instant that is not in the future");
    if (__builtin_sub_overflow(r->until_ms, e->input->now_ms, &ahead_ms) || ahead_ms > EBB_DECIDE_DEFER_MAX_MS)
        return fault(e, r, "defer: more than a year ahead");
    return 0;
}

void ebb__result_take(lua_State *L, int index, struct ebb__eval *e)
{
    struct result *r = ebb__object_test(L, index, EBB__RESULT);
    char why[96];

    if (!r) {
        snprintf(why, sizeof why, "decide returned a %s, not what run, skip or defer make",
                 lua_isnoneornil(L, index) ? "nil" : ebb__type_name(L, index));
        e->rc = fault(e, NULL, why);
        return;
    }
    e->rc = check_result(r, e);
    if (!e->rc && r->verdict == EBB_VERDICT_RUN)
        e->rc = take_action(L, index, e);
    if (e->rc)
        return;
    take_why(L, index, e);
    e->verdict = r->verdict;
    e->node = r->node;
    e->until_ms = r->until_ms;
    e->override_quiet = r->override_quiet;
}

static const luaL_Reg FUNCTIONS[] = {{"run", l_run}, {"skip", l_skip}, {"defer", l_defer}, {NULL, NULL}};

EBB_LJMP void ebb__bind_result(lua_State *L)
{
    ebb__set_functions(L, FUNCTIONS);
    EBB_MAY_LJMP(ebb__class_make(L, EBB__RESULT, RESULT_METHODS));
}
