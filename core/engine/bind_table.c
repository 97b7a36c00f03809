/* SPDX-License-Identifier: Apache-2.0
 *
 * table: insert, remove, concat, sort (stable), unpack; raw access, work charged by the elements that move.
 */
#include <lauxlib.h>

#include "engine/bind_priv.h"

#define UNPACK_MAX 200

static lua_Integer check_table(lua_State *L, const char *what)
{
    if (lua_type(L, 1) == LUA_TUSERDATA)
        luaL_error(L, "%s: the list is read only", what);
    luaL_checktype(L, 1, LUA_TTABLE);
    return EBB_MAY_LJMP(ebb__list_length(L, 1, what));
}

static int l_insert(lua_State *L)
{
    lua_Integer n = check_table(L, "table.insert");
    lua_Integer at = n + 1;
    int args = lua_gettop(L);

    if (args == 3) {
        at = luaL_checkinteger(L, 2);
        luaL_argcheck(L, at >= 1 && at <= n + 1, 2, "position out of bounds");
    } else if (args != 2)
        return luaL_error(L, "table.insert: wrong number of arguments");
    EBB_MAY_LJMP(ebb__charge(L, (size_t)(n + 1 - at) + 1));
    for (lua_Integer i = n; i >= at; i--) {
        lua_rawgeti(L, 1, i);
        lua_rawseti(L, 1, i + 1);
    }
    lua_pushvalue(L, args);
    lua_rawseti(L, 1, at);
    return 0;
}

static int l_remove(lua_State *L)
{
    lua_Integer n = check_table(L, "table.remove");
    lua_Integer at = luaL_optinteger(L, 2, n);

    if (n == 0 && (at == 0 || at == 1)) {
        lua_pushnil(L);
        return 1;
    }
    luaL_argcheck(L, at >= 1 && at <= n + 1, 2, "position out of bounds");
    lua_rawgeti(L, 1, at);
    if (at == n + 1)
        return 1;
    EBB_MAY_LJMP(ebb__charge(L, (size_t)(n - at) + 1));
    for (lua_Integer i = at; i < n; i++) {
        lua_rawgeti(L, 1, i + 1);
        lua_rawseti(L, 1, i);
    }
    lua_pushnil(L);
    lua_rawseti(L, 1, n);
    return 1;
}

/* concat(list [, sep [, from [, to]]]) */
static int l_concat(lua_State *L)
{
    lua_Integer n = ebb__list_length(L, 1, "table.concat");
    struct ebb_str sep;
    lua_Integer from, to;
    luaL_Buffer b;
    size_t made = 0;

    sep.p = luaL_optlstring(L, 2, "", &sep.n);
    from = luaL_optinteger(L, 3, 1);
    to = luaL_optinteger(L, 4, n);
    luaL_argcheck(L, from >= 1 && to <= n, 3, "range out of bounds");
    luaL_buffinit(L, &b);
    for (lua_Integer i = from; i <= to; i++) {
        size_t len;

        EBB_MAY_LJMP(ebb__list_push(L, 1, i));
        if (!lua_isstring(L, -1))
            return luaL_error(L, "table.concat: element %d is a %s", (int)i, ebb__type_name(L, -1));
        lua_tolstring(L, -1, &len);
        made += len + (i < to ? sep.n : 0);
        if (made > EBB__TEXT_MAX)
            return luaL_error(L, "table.concat: the result would be longer than %d bytes", (int)EBB__TEXT_MAX);
        EBB_MAY_LJMP(ebb__charge(L, len / 16 + 1));
        luaL_addvalue(&b);
        if (i < to)
            luaL_addlstring(&b, sep.p, sep.n);
    }
    luaL_pushresult(&b);
    return 1;
}

static bool is_less_natural(lua_State *L, int context)
{
    (void)context;
    return lua_compare(L, -1, -2, LUA_OPLT);
}

static bool is_less_by_call(lua_State *L, int context)
{
    bool less;

    lua_pushvalue(L, context);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -4);
    lua_call(L, 2, 1);
    if (lua_type(L, -1) != LUA_TBOOLEAN)
        luaL_error(L, "table.sort: the order function must return true or false, not %s", ebb__type_name(L, -1));
    less = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return less;
}

/* The list is sorted in a copy that the order function cannot see, then written back. */
static int l_sort(lua_State *L)
{
    lua_Integer n = check_table(L, "table.sort");
    bool by_call = !lua_isnoneornil(L, 2);

    if (by_call)
        luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    EBB_MAY_LJMP(ebb__charge(L, (size_t)n * 2 + 1));
    lua_createtable(L, n < 4096 ? (int)n : 4096, 0);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, 1, i);
        lua_rawseti(L, 3, i);
    }
    EBB_MAY_LJMP(ebb__list_sort(L, by_call ? is_less_by_call : is_less_natural, 2));
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, -1, i);
        lua_rawseti(L, 1, i);
    }
    return 0;
}

static int l_unpack(lua_State *L)
{
    lua_Integer n = ebb__list_length(L, 1, "table.unpack");
    lua_Integer from = luaL_optinteger(L, 2, 1);
    lua_Integer to = luaL_optinteger(L, 3, n);

    if (from > to)
        return 0;
    if (from < 0 || (lua_Unsigned)to - (lua_Unsigned)from >= UNPACK_MAX)
        return luaL_error(L, "table.unpack: more than %d values", UNPACK_MAX);
    luaL_checkstack(L, (int)(to - from) + 8, "table.unpack");
    for (lua_Integer i = 0; i <= to - from; i++)
        EBB_MAY_LJMP(ebb__list_push(L, 1, from + i));
    return (int)(to - from) + 1;
}

static const luaL_Reg FUNCTIONS[] = {
    {"insert", l_insert}, {"remove", l_remove}, {"concat", l_concat},
    {"sort", l_sort},     {"unpack", l_unpack}, {NULL, NULL},
};

EBB_LJMP void ebb__bind_table(lua_State *L)
{
    ebb__set_library(L, "table", FUNCTIONS, NULL);
}
