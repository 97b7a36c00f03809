/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of what is asked for by calls: since when it counts.
 */
#include <lauxlib.h>

#include "base/time.h"
#include "engine/sections_priv.h"

/* Whole numbers below this are durations, others instants (this one is in 1973). */
#define INSTANT_MIN ((int64_t)100000000000)

static int64_t started_at(lua_State *L, bool success)
{
    struct ebb__eval *e = ebb__eval_of(L);
    const struct ebb_value *run = ebb__runs_last(e->input, success);

    return run ? ebb_value_int_of(run, "started", 0) : e->input->active_since_ms;
}

/* An instant that is a duration back from now. */
static int64_t since_ago(struct ebb__eval *e, int64_t ms, int64_t *moves)
{
    int64_t at;

    if (__builtin_sub_overflow(e->input->now_ms, ms, &at))
        at = ms < 0 ? INT64_MAX : INT64_MIN;
    *moves = ms;
    return at;
}

/* An instant from the value at index: "last_run", "last_success", an instant, or a duration back from now: *moves then
 * gets it, else -1. */
static int64_t check_since(lua_State *L, int index, const char *what, int64_t *moves)
{
    struct ebb__eval *e = ebb__eval_of(L);
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;
    int64_t ms;

    *moves = -1;
    if (text && !strcmp(text, "last_run"))
        return started_at(L, false);
    if (text && !strcmp(text, "last_success"))
        return started_at(L, true);
    if (text) {
        if (ebb_duration_parse(text, &ms, NULL))
            luaL_error(L, "%s: \"%s\" is neither last_run, last_success nor a duration", what, text);
        return since_ago(e, ms, moves);
    }
    ms = ebb__check_int(L, index, what);
    if (ms < 0)
        luaL_error(L, "%s: a duration or an instant is not negative", what);
    return ms < INSTANT_MIN ? since_ago(e, ms, moves) : ms;
}

EBB_LJMP void ebb__check_options(lua_State *L, const char *what, const char *const *keys, size_t count)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    if (lua_type(L, 1) != LUA_TTABLE)
        luaL_error(L, "%s: write %s { … }", what, what);
    lua_settop(L, 1);
    EBB_MAY_LJMP(ebb__check_keys(L, 1, what, keys, count));
}

EBB_LJMP int64_t ebb__option_int(lua_State *L, const char *what, const char *key, int64_t otherwise)
{
    int64_t n = otherwise;

    lua_pushstring(L, key);
    if (lua_rawget(L, 1) != LUA_TNIL)
        n = ebb__check_int(L, -1, what);
    lua_pop(L, 1);
    return n;
}

EBB_LJMP struct ebb__window ebb__option_since(lua_State *L, const char *what, const char *key)
{
    struct ebb__window w = {INT64_MIN, -1};

    lua_pushstring(L, key);
    if (lua_rawget(L, 1) != LUA_TNIL)
        w.since = check_since(L, -1, what, &w.moves);
    lua_pop(L, 1);
    return w;
}

bool ebb__window_has(lua_State *L, const struct ebb__window *w, int64_t at)
{
    if (at <= w->since)
        return false;
    if (w->moves >= 0)
        ebb__changes_in(ebb__eval_of(L), at, w->moves);
    return true;
}
