/* SPDX-License-Identifier: Apache-2.0
 *
 * Pure helpers for numbers and lists: ratio clamp sum min_by max_by percentile sort_by group_by top. They take plain
 * and frozen lists, keep the order of equals, and charge by items. A projection is a function, a field name, or nothing
 * (the item itself).
 */
#include <lauxlib.h>
#include <math.h>

#include "engine/view_priv.h"

EBB_LJMP lua_Integer ebb__list_length(lua_State *L, int index, const char *what)
{
    lua_Integer n = lua_type(L, index) == LUA_TTABLE ? (lua_Integer)lua_rawlen(L, index) : ebb__view_length(L, index);

    if (n < 0)
        luaL_error(L, "%s: a list is due, not %s", what, lua_isnoneornil(L, index) ? "nil" : ebb__type_name(L, index));
    if (n == LUA_MAXINTEGER)
        luaL_error(L, "%s: a list without end", what);
    return n;
}

EBB_LJMP void ebb__list_push(lua_State *L, int index, lua_Integer i)
{
    if (lua_type(L, index) == LUA_TTABLE)
        lua_rawgeti(L, index, i);
    else if (!ebb__view_push_item(L, index, i))
        lua_pushnil(L);
}

EBB_LJMP void ebb__check_projection(lua_State *L, int index, const char *what)
{
    int type = lua_type(L, index);

    if (type != LUA_TNONE && type != LUA_TNIL && type != LUA_TFUNCTION && type != LUA_TSTRING)
        luaL_error(L, "%s: a function or a field name is due, not %s", what, ebb__type_name(L, index));
}

EBB_LJMP void ebb__list_project(lua_State *L, int f)
{
    EBB_MAY_LJMP(ebb__charge(L, 3));
    if (lua_type(L, f) == LUA_TFUNCTION) {
        lua_pushvalue(L, f);
        lua_insert(L, -2);
        lua_call(L, 1, 1);
    } else if (lua_type(L, f) == LUA_TSTRING) {
        lua_pushvalue(L, f);
        lua_gettable(L, -2);
        lua_remove(L, -2);
    }
}

struct merge {
    ebb__less_cb *less;
    int context;
    int from, to; /* stack indices of the two tables */
};

static void merge_runs(lua_State *L, const struct merge *m, lua_Integer low, lua_Integer mid, lua_Integer high)
{
    lua_Integer i = low, j = mid;

    for (lua_Integer k = low; k < high; k++) {
        bool right = i >= mid;

        EBB_MAY_LJMP(ebb__charge(L, 3));
        if (i < mid && j < high) {
            lua_rawgeti(L, m->from, i);
            lua_rawgeti(L, m->from, j);
            right = m->less(L, m->context);
            lua_pop(L, 2);
        }
        lua_rawgeti(L, m->from, right ? j++ : i++);
        lua_rawseti(L, m->to, k);
    }
}

EBB_LJMP void ebb__list_sort(lua_State *L, ebb__less_cb *less, int context)
{
    int list = lua_gettop(L);
    lua_Integer n = (lua_Integer)lua_rawlen(L, list);
    struct merge m = {less, context, list, list + 1};

    luaL_checkstack(L, 10, "sort");
    lua_newtable(L);
    for (lua_Integer width = 1; width < n; width *= 2) {
        int swap = m.from;

        for (lua_Integer low = 1; low <= n; low += 2 * width) {
            lua_Integer mid = low + width < n + 1 ? low + width : n + 1;
            lua_Integer high = mid + width < n + 1 ? mid + width : n + 1;

            merge_runs(L, &m, low, mid, high);
        }
        m.from = m.to;
        m.to = swap;
    }
    lua_pushvalue(L, m.from);
    lua_replace(L, list);
    lua_settop(L, list);
}

/* Push a list of the keys f(item) of the list at 1, missing ones as false, and one of the indices 1..n. */
static lua_Integer push_keys(lua_State *L, int f, const char *what)
{
    lua_Integer n = ebb__list_length(L, 1, what);

    EBB_MAY_LJMP(ebb__check_projection(L, f, what));
    EBB_MAY_LJMP(ebb__charge(L, (size_t)n + 1));
    lua_newtable(L);
    lua_newtable(L);
    for (lua_Integer i = 1; i <= n; i++) {
        EBB_MAY_LJMP(ebb__list_push(L, 1, i));
        EBB_MAY_LJMP(ebb__list_project(L, f));
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            lua_pushboolean(L, 0);
        } else if (lua_type(L, -1) != LUA_TNUMBER && lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "%s: item %d: a number or text is due, not %s", what, (int)i, ebb__type_name(L, -1));
        lua_rawseti(L, -3, i);
        lua_pushinteger(L, i);
        lua_rawseti(L, -2, i);
    }
    return n;
}

/* Order of two indices by their keys; missing keys come last either way. */
static bool is_before(lua_State *L, int keys, bool descending)
{
    bool before;

    lua_rawgeti(L, keys, lua_tointeger(L, -2));
    lua_rawgeti(L, keys, lua_tointeger(L, -2));
    if (lua_isboolean(L, -1))
        before = false;
    else if (lua_isboolean(L, -2))
        before = true;
    else
        before = descending ? lua_compare(L, -2, -1, LUA_OPLT) : lua_compare(L, -1, -2, LUA_OPLT);
    lua_pop(L, 2);
    return before;
}

static bool is_before_up(lua_State *L, int keys)
{
    return is_before(L, keys, false);
}

static bool is_before_down(lua_State *L, int keys)
{
    return is_before(L, keys, true);
}

/* The stack ends with keys, sorted indices: push the first `count` items in that order. */
static void push_picked(lua_State *L, lua_Integer count)
{
    int order = lua_gettop(L);

    lua_newtable(L);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, order, i);
        EBB_MAY_LJMP(ebb__list_push(L, 1, lua_tointeger(L, -1)));
        lua_rawseti(L, order + 1, i);
        lua_pop(L, 1);
    }
}

/* sort_by(list [, f [, "desc"]]) */
static int l_sort_by(lua_State *L)
{
    static const char *const ORDERS[] = {"asc", "desc", NULL};
    bool descending = luaL_checkoption(L, 3, "asc", ORDERS) == 1;
    lua_Integer n;

    lua_settop(L, 3);
    n = push_keys(L, 2, "sort_by");
    EBB_MAY_LJMP(ebb__list_sort(L, descending ? is_before_down : is_before_up, lua_gettop(L) - 1));
    push_picked(L, n);
    return 1;
}

/* top(list, n [, f]): the n greatest, greatest first. */
static int l_top(lua_State *L)
{
    lua_Integer want = ebb__check_int(L, 2, "top");
    lua_Integer n;

    luaL_argcheck(L, want >= 0, 2, "negative count");
    lua_settop(L, 3);
    n = push_keys(L, 3, "top");
    EBB_MAY_LJMP(ebb__list_sort(L, is_before_down, lua_gettop(L) - 1));
    push_picked(L, want < n ? want : n);
    return 1;
}

static int pick_by(lua_State *L, bool greatest, const char *what)
{
    lua_Integer n = ebb__list_length(L, 1, what), best = 0;

    lua_settop(L, 2);
    EBB_MAY_LJMP(ebb__check_projection(L, 2, what));
    lua_pushnil(L);
    for (lua_Integer i = 1; i <= n; i++) {
        EBB_MAY_LJMP(ebb__list_push(L, 1, i));
        EBB_MAY_LJMP(ebb__list_project(L, 2));
        if (!lua_isnil(L, 4) &&
            (!best || (greatest ? lua_compare(L, 3, 4, LUA_OPLT) : lua_compare(L, 4, 3, LUA_OPLT)))) {
            best = i;
            lua_copy(L, 4, 3);
        }
        lua_settop(L, 3);
    }
    if (best)
        EBB_MAY_LJMP(ebb__list_push(L, 1, best));
    else
        lua_pushnil(L);
    lua_insert(L, 3);
    return 2;
}

/* min_by(list, f): the item with the least f and that value; the first of equals; items without f are passed over. */
static int l_min_by(lua_State *L)
{
    return pick_by(L, false, "min_by");
}

static int l_max_by(lua_State *L)
{
    return pick_by(L, true, "max_by");
}

/* Add the number at the top to the one below it, exactly while both are whole and the sum fits. */
static void add_number(lua_State *L)
{
    int64_t total;

    if (lua_isinteger(L, -1) && lua_isinteger(L, -2) &&
        !__builtin_add_overflow((int64_t)lua_tointeger(L, -2), (int64_t)lua_tointeger(L, -1), &total))
        lua_pushinteger(L, total);
    else
        lua_pushnumber(L, lua_tonumber(L, -2) + lua_tonumber(L, -1));
    lua_replace(L, -3);
    lua_pop(L, 1);
}

/* sum(list [, f]) */
static int l_sum(lua_State *L)
{
    lua_Integer n = ebb__list_length(L, 1, "sum");

    lua_settop(L, 2);
    EBB_MAY_LJMP(ebb__check_projection(L, 2, "sum"));
    lua_pushinteger(L, 0);
    for (lua_Integer i = 1; i <= n; i++) {
        EBB_MAY_LJMP(ebb__list_push(L, 1, i));
        EBB_MAY_LJMP(ebb__list_project(L, 2));
        if (lua_type(L, -1) != LUA_TNUMBER)
            return luaL_error(L, "sum: item %d: a number is due, not %s", (int)i, ebb__type_name(L, -1));
        add_number(L);
    }
    return 1;
}

/* percentile(list, p [, f]): nearest rank, p in 0..100; nil for an empty list. */
static int l_percentile(lua_State *L)
{
    lua_Number p = luaL_checknumber(L, 2);
    lua_Integer n, rank;
    int keys;

    luaL_argcheck(L, p >= 0 && p <= 100, 2, "not between 0 and 100");
    lua_settop(L, 3);
    n = push_keys(L, 3, "percentile");
    keys = lua_gettop(L) - 1;
    EBB_MAY_LJMP(ebb__list_sort(L, is_before_up, keys));
    while (n > 0 && (lua_rawgeti(L, -1, n), lua_rawgeti(L, keys, lua_tointeger(L, -1)), lua_isboolean(L, -1))) {
        lua_pop(L, 2);
        n--;
    }
    if (n == 0)
        return 0;
    lua_pop(L, 2);
    rank = (lua_Integer)ceil(p / 100 * (double)n);
    lua_rawgeti(L, -1, rank < 1 ? 1 : rank);
    lua_rawgeti(L, keys, lua_tointeger(L, -1));
    return 1;
}

/* group_by(list, f): map of key to list of items in their order. */
static int l_group_by(lua_State *L)
{
    lua_Integer n = ebb__list_length(L, 1, "group_by");

    lua_settop(L, 2);
    EBB_MAY_LJMP(ebb__check_projection(L, 2, "group_by"));
    lua_newtable(L);
    for (lua_Integer i = 1; i <= n; i++) {
        EBB_MAY_LJMP(ebb__list_push(L, 1, i));
        lua_pushvalue(L, -1);
        EBB_MAY_LJMP(ebb__list_project(L, 2));
        if (!lua_isinteger(L, -1) && lua_type(L, -1) != LUA_TSTRING)
            return luaL_error(L, "group_by: item %d: a text or whole number is due, not %s", (int)i,
                              ebb__type_name(L, -1));
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 3) == LUA_TNIL) {
            lua_pop(L, 1);
            lua_newtable(L);
            lua_pushvalue(L, -2);
            lua_pushvalue(L, -2);
            lua_rawset(L, 3);
        }
        lua_pushvalue(L, 4);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        lua_settop(L, 3);
    }
    return 1;
}

/* ratio(a, b): a / b; 0 for a zero divisor; nil when either is missing. */
static int l_ratio(lua_State *L)
{
    if (lua_isnoneornil(L, 1) || lua_isnoneornil(L, 2)) {
        lua_pushnil(L);
        return 1;
    }
    luaL_checknumber(L, 1);
    lua_pushnumber(L, luaL_checknumber(L, 2) == 0 ? 0 : lua_tonumber(L, 1) / lua_tonumber(L, 2));
    return 1;
}

/* clamp(x, low, high); nil when x is missing. */
static int l_clamp(lua_State *L)
{
    int best = 1;

    if (lua_isnoneornil(L, 1)) {
        lua_pushnil(L);
        return 1;
    }
    luaL_checknumber(L, 1);
    luaL_checknumber(L, 2);
    luaL_checknumber(L, 3);
    luaL_argcheck(L, lua_compare(L, 2, 3, LUA_OPLE), 3, "high is below low");
    if (lua_compare(L, 1, 2, LUA_OPLT))
        best = 2;
    else if (lua_compare(L, 3, 1, LUA_OPLT))
        best = 3;
    lua_pushvalue(L, best);
    return 1;
}

static const luaL_Reg FUNCTIONS[] = {
    {"ratio", l_ratio},     {"clamp", l_clamp},       {"sum", l_sum},
    {"min_by", l_min_by},   {"max_by", l_max_by},     {"percentile", l_percentile},
    {"sort_by", l_sort_by}, {"group_by", l_group_by}, {"top", l_top},
    {NULL, NULL},
};

EBB_LJMP void ebb__bind_list(lua_State *L)
{
    ebb__set_functions(L, FUNCTIONS);
}
