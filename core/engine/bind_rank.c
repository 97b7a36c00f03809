/* SPDX-License-Identifier: Apache-2.0
 *
 * rank { over, keep, score, per, min, budget }: the best items within a budget, best first; the table of scores goes to
 * the record.
 */
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/eval_priv.h"

/* Stack slots: 1 the options, then their values, then parallel lists of the items that were kept. */
enum { OPTIONS = 1, OVER, KEEP, SCORE, PER, MIN, BUDGET, ITEMS, SCORES, WEIGHTS, DENSITIES, KEYS, ROWS, ORDER };

static void read_options(lua_State *L)
{
    static const char *const NAMES[] = {"over", "keep", "score", "per", "min", "budget"};

    if (lua_type(L, 1) != LUA_TTABLE)
        luaL_error(L, "rank: write rank { over = …, score = … }");
    lua_settop(L, 1);
    EBB_MAY_LJMP(ebb__check_keys(L, 1, "rank", NAMES, 6));
    for (int i = 0; i < 6; i++) {
        lua_pushstring(L, NAMES[i]);
        lua_rawget(L, 1);
    }
    EBB_MAY_LJMP(ebb__list_length(L, OVER, "rank.over"));
    for (int i = KEEP; i <= PER; i++)
        if (!lua_isnil(L, i) && lua_type(L, i) != LUA_TFUNCTION)
            luaL_error(L, "rank.%s: a function is due", NAMES[i - OVER]);
    if (lua_isnil(L, SCORE))
        luaL_error(L, "rank.score: missing");
    if (!lua_isnil(L, MIN) && lua_type(L, MIN) != LUA_TNUMBER)
        luaL_error(L, "rank.min: a number is due");
    for (int i = ITEMS; i <= ROWS; i++)
        lua_newtable(L);
}

/* Call the function at f with the item at the top; one result, or two with the parts of a score. */
static void call(lua_State *L, int f, int results)
{
    lua_pushvalue(L, f);
    lua_pushvalue(L, -2);
    lua_call(L, 1, results);
}

static double number_of(lua_State *L, int index, const char *what)
{
    double n = lua_tonumber(L, index);

    if (lua_type(L, index) != LUA_TNUMBER || n != n)
        luaL_error(L, "rank.%s: a number is due, not %s", what, ebb__type_name(L, index));
    return n;
}

static bool is_kept(lua_State *L)
{
    bool kept;

    if (lua_isnil(L, KEEP))
        return true;
    call(L, KEEP, 1);
    if (lua_type(L, -1) != LUA_TBOOLEAN)
        luaL_error(L, "rank.keep: must return true or false, not %s", ebb__type_name(L, -1));
    kept = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return kept;
}

/* What the item at the top costs: per(item), 0 without it. Pushes nothing. */
static double weight_of(lua_State *L)
{
    double w;

    if (lua_isnil(L, PER))
        return 0;
    call(L, PER, 1);
    w = number_of(L, -1, "per");
    lua_pop(L, 1);
    return w;
}

/* Push the key of the item at the top; its index where it has none. */
static void push_key(lua_State *L, lua_Integer i)
{
    struct ebb__view *v = ebb__view_test(L, -1);

    if (v)
        ebb__view_push(L, ebb_value_get(v->value, "key"), NULL, -1);
    else if (lua_type(L, -1) == LUA_TTABLE) {
        lua_pushliteral(L, "key");
        lua_rawget(L, -2);
    } else
        lua_pushnil(L);
    if (lua_type(L, -1) == LUA_TSTRING || lua_isinteger(L, -1))
        return;
    lua_pop(L, 1);
    lua_pushinteger(L, i);
}

/* Append the number at the top to the list at index. */
static void append(lua_State *L, int list)
{
    lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
}

/* Record the parts of a score (a flat table of numbers) at the top under the item's key. */
static void record_parts(lua_State *L, struct ebb_value *row)
{
    struct ebb_value_limits limits = ebb_value_limits_script();
    struct ebb__value_rules rules = {limits, "rank.score", NULL, NULL, false};
    struct ebb_err err;

    if (lua_type(L, -1) == LUA_TTABLE && row)
        ebb__value_add_lua(L, -1, &rules, row, EBB_STR("parts"), &err);
}

/* A row of the record for the key at the top, or NULL: only so many are kept. */
static struct ebb_value *record_row(lua_State *L, double score)
{
    struct ebb__eval *e = ebb__eval_of(L);
    struct ebb_value *row;

    if (ebb_value_get_count(e->ranked) >= EBB__RANKED_MAX)
        return NULL;
    row = ebb_value_add_map(e->ranked);
    ebb__operand_put(L, -1, -1, e, row, "key");
    ebb_value_put_float(row, "score", score);
    ebb_value_put_bool(row, "taken", false);
    return row;
}

/* The item at the top is not good enough; below it are the parts of its score. */
static void record_poor(lua_State *L, lua_Integer i, double score)
{
    struct ebb_value *row;
    char why[80];

    push_key(L, i);
    row = record_row(L, score);
    snprintf(why, sizeof why, "below min %g", lua_tonumber(L, MIN));
    if (row)
        ebb_value_put_str(row, "why", why);
    lua_pushvalue(L, -3);
    record_parts(L, row);
    lua_pop(L, 2);
}

/* The item at the top is scored and, when good enough, appended to the lists. */
static void consider(lua_State *L, lua_Integer i)
{
    double score, weight;
    struct ebb_value *row;

    if (!is_kept(L))
        return;
    call(L, SCORE, 2);
    score = number_of(L, -2, "score");
    lua_insert(L, -3);
    lua_pop(L, 1);
    if (!lua_isnil(L, MIN) && score < lua_tonumber(L, MIN)) {
        record_poor(L, i, score);
        return;
    }
    weight = weight_of(L);
    push_key(L, i);
    row = record_row(L, score);
    if (row)
        ebb_value_put_float(row, "per", weight);
    append(L, KEYS);
    lua_pushvalue(L, -1);
    append(L, ITEMS);
    lua_pushnumber(L, score);
    append(L, SCORES);
    lua_pushnumber(L, weight);
    append(L, WEIGHTS);
    lua_pushnumber(L, score / (weight < 1 ? 1 : weight));
    append(L, DENSITIES);
    lua_pushlightuserdata(L, row);
    append(L, ROWS);
    lua_pushvalue(L, -2);
    record_parts(L, row);
    lua_pop(L, 1);
}

/* Greater density first; equal ones by key: numbers before texts. */
static bool is_before(lua_State *L, int context)
{
    lua_Integer a = lua_tointeger(L, -2), b = lua_tointeger(L, -1);
    double x, y;
    bool before;

    (void)context;
    lua_rawgeti(L, DENSITIES, a);
    lua_rawgeti(L, DENSITIES, b);
    x = lua_tonumber(L, -2);
    y = lua_tonumber(L, -1);
    lua_pop(L, 2);
    if (x != y)
        return y > x;
    lua_rawgeti(L, KEYS, a);
    lua_rawgeti(L, KEYS, b);
    if (lua_type(L, -1) == lua_type(L, -2))
        before = lua_compare(L, -1, -2, LUA_OPLT);
    else
        before = lua_type(L, -1) == LUA_TNUMBER;
    lua_pop(L, 2);
    return before;
}

static double budget_of(lua_State *L, const char *key)
{
    static const char *const NAMES[] = {"bytes", "count"};
    double n;

    if (lua_isnil(L, BUDGET))
        return 1e300;
    if (lua_type(L, BUDGET) != LUA_TTABLE)
        luaL_error(L, "rank.budget: a table is due");
    EBB_MAY_LJMP(ebb__check_keys(L, BUDGET, "rank.budget", NAMES, 2));
    lua_pushstring(L, key);
    n = lua_rawget(L, BUDGET) == LUA_TNIL ? 1e300 : number_of(L, -1, "budget");
    lua_pop(L, 1);
    return n;
}

static void set_number(lua_State *L, const char *key, double n)
{
    lua_Integer whole;

    if (lua_numbertointeger(n, &whole) && (double)whole == n)
        lua_pushinteger(L, whole);
    else
        lua_pushnumber(L, n);
    lua_setfield(L, -2, key);
}

/* Note in the record of an item whether it was taken, or why not. */
static void record_taken(lua_State *L, lua_Integer at, const char *why_not)
{
    struct ebb_value *row;

    lua_rawgeti(L, ROWS, at);
    row = lua_touserdata(L, -1);
    lua_pop(L, 1);
    if (row && why_not)
        ebb_value_put_str(row, "why", why_not);
    else if (row)
        ebb_value_put_bool(row, "taken", true);
}

/* The stack ends with the order: push the result. */
static void push_result(lua_State *L, lua_Integer n)
{
    double bytes = budget_of(L, "bytes"), count = budget_of(L, "count"), used = 0, best = 0;
    lua_Integer taken = 0;
    int keys, items;

    lua_newtable(L);
    lua_newtable(L);
    items = lua_gettop(L);
    keys = items - 1;
    for (lua_Integer i = 1; i <= n; i++) {
        bool is_counted = (double)taken < count;
        lua_Integer at;
        double weight;

        lua_rawgeti(L, ORDER, i);
        at = lua_tointeger(L, -1);
        lua_rawgeti(L, WEIGHTS, at);
        weight = lua_tonumber(L, -1);
        lua_pop(L, 2);
        record_taken(L, at, !is_counted ? "over the count" : used + weight > bytes ? "over the bytes" : NULL);
        if (!is_counted || used + weight > bytes)
            continue;
        used += weight;
        taken++;
        lua_rawgeti(L, SCORES, at);
        best = taken == 1 || lua_tonumber(L, -1) > best ? lua_tonumber(L, -1) : best;
        lua_pop(L, 1);
        lua_rawgeti(L, KEYS, at);
        append(L, keys);
        lua_rawgeti(L, ITEMS, at);
        append(L, items);
    }
    lua_newtable(L);
    lua_pushvalue(L, keys);
    lua_setfield(L, -2, "keys");
    lua_pushvalue(L, items);
    lua_setfield(L, -2, "items");
    set_number(L, "count", (double)taken);
    set_number(L, "bytes", used);
    set_number(L, "best", best);
    EBB_MAY_LJMP(ebb__freeze(L, "ranked"));
}

static int l_rank(lua_State *L)
{
    lua_Integer n, kept;

    EBB_MAY_LJMP(ebb__need_phase(L, EBB__PHASE_DECIDE, "rank"));
    read_options(L);
    luaL_checkstack(L, 20, "rank");
    n = ebb__list_length(L, OVER, "rank.over");
    for (lua_Integer i = 1; i <= n; i++) {
        EBB_MAY_LJMP(ebb__charge(L, 20));
        EBB_MAY_LJMP(ebb__list_push(L, OVER, i));
        consider(L, i);
        lua_settop(L, ROWS);
    }
    kept = (lua_Integer)lua_rawlen(L, KEYS);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= kept; i++) {
        lua_pushinteger(L, i);
        lua_rawseti(L, ORDER, i);
    }
    EBB_MAY_LJMP(ebb__list_sort(L, is_before, 0));
    push_result(L, kept);
    return 1;
}

EBB_LJMP void ebb__bind_rank(lua_State *L)
{
    EBB_MAY_LJMP(ebb__push_function(L, l_rank));
    lua_setfield(L, -2, "rank");
}

int ebb__open_policy(lua_State *L)
{
    lua_newtable(L);
    EBB_MAY_LJMP(ebb__bind_pure(L));
    EBB_MAY_LJMP(ebb__bind_views(L));
    EBB_MAY_LJMP(ebb__bind_header(L));
    EBB_MAY_LJMP(ebb__bind_check(L));
    EBB_MAY_LJMP(ebb__bind_rank(L));
    EBB_MAY_LJMP(ebb__bind_action(L));
    EBB_MAY_LJMP(ebb__bind_result(L));
    return 1;
}
