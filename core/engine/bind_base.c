/* SPDX-License-Identifier: Apache-2.0 */
#include <lauxlib.h>
#include <stdlib.h>

#include "engine/bind_priv.h"

EBB_LJMP void ebb__push_function(lua_State *L, lua_CFunction function)
{
    lua_pushboolean(L, 0);
    lua_pushcclosure(L, function, 1);
}

EBB_LJMP void ebb__set_functions(lua_State *L, const struct luaL_Reg *functions)
{
    for (; functions->name; functions++) {
        EBB_MAY_LJMP(ebb__push_function(L, functions->func));
        lua_setfield(L, -2, functions->name);
    }
}

EBB_LJMP void ebb__set_library(lua_State *L, const char *name, const struct luaL_Reg *functions,
                               void (*more)(lua_State *L))
{
    lua_newtable(L);
    EBB_MAY_LJMP(ebb__set_functions(L, functions));
    if (more)
        more(L);
    EBB_MAY_LJMP(ebb__freeze(L, name));
    lua_setfield(L, -2, name);
}

EBB_LJMP void ebb__need_phase(lua_State *L, enum ebb__phase phase, const char *name)
{
    enum ebb__phase now = ebb__sandbox_of(L)->phase;

    if (now == phase)
        return;
    if (now == EBB__PHASE_DECIDE)
        luaL_error(L, "%s: only for the data part of a policy, not inside decide", name);
    luaL_error(L, "%s: only inside decide, where there are facts", name);
}

const char *ebb__type_name(lua_State *L, int index)
{
    if (lua_type(L, index) == LUA_TUSERDATA)
        return "table";
    return lua_typename(L, lua_type(L, index));
}

EBB_LJMP const char *ebb__push_text(lua_State *L, int index, size_t *n)
{
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
        lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
        break;
    case LUA_TNUMBER:
    case LUA_TSTRING:
        lua_pushvalue(L, index);
        break;
    default:
        lua_pushstring(L, ebb__type_name(L, index));
    }
    return lua_tolstring(L, -1, n);
}

EBB_LJMP int64_t ebb__check_int(lua_State *L, int index, const char *what)
{
    int exact;
    lua_Integer n = lua_tointegerx(L, index, &exact);

    if (!exact || lua_type(L, index) != LUA_TNUMBER)
        luaL_error(L, "%s: a whole number is due, not %s", what,
                   lua_isnoneornil(L, index) ? "nil" : ebb__type_name(L, index));
    return n;
}

static bool is_among(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(keys[i], key))
            return true;
    return false;
}

/* Keys come in no order: of several unknown ones the least is told. */
EBB_LJMP void ebb__check_keys(lua_State *L, int index, const char *what, const char *const *keys, size_t count)
{
    const char *unknown = NULL, *odd = NULL;

    EBB_MAY_LJMP(ebb__charge_walk(L));
    lua_pushnil(L);
    while (lua_next(L, index)) {
        bool is_name = lua_type(L, -2) == LUA_TSTRING;
        const char *key = is_name ? lua_tostring(L, -2) : luaL_typename(L, -2);
        const char **least = is_name ? &unknown : &odd;

        EBB_MAY_LJMP(ebb__charge(L, 2));
        if ((!is_name || !is_among(key, keys, count)) && (!*least || strcmp(key, *least) < 0))
            *least = key;
        lua_pop(L, 1);
    }
    if (odd)
        luaL_error(L, "%s: has names only, not a %s", what, odd);
    if (unknown)
        EBB_MAY_LJMP(ebb__unknown_name(L, what, unknown, keys, count));
}

static int l_type(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_pushstring(L, ebb__type_name(L, 1));
    return 1;
}

static int l_tostring(lua_State *L)
{
    size_t n;

    luaL_checkany(L, 1);
    EBB_MAY_LJMP(ebb__push_text(L, 1, &n));
    return 1;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

static int number_in_base(lua_State *L, const char *s, size_t n, lua_Integer base)
{
    lua_Unsigned value = 0;
    size_t i = n && s[0] == '-' ? 1 : 0;

    if (i == n)
        return 0;
    for (size_t k = i; k < n; k++) {
        int digit = digit_of(s[k]);

        if (digit >= base)
            return 0;
        value = value * (lua_Unsigned)base + (lua_Unsigned)digit;
    }
    lua_pushinteger(L, (lua_Integer)(i ? 0u - value : value));
    return 1;
}

static int l_tonumber(lua_State *L)
{
    size_t n;
    const char *s;
    lua_Integer base = luaL_optinteger(L, 2, 10);

    luaL_checkany(L, 1);
    luaL_argcheck(L, base >= 2 && base <= 36, 2, "base out of range");
    if (lua_type(L, 1) == LUA_TNUMBER && base == 10) {
        lua_settop(L, 1);
        return 1;
    }
    if (lua_type(L, 1) != LUA_TSTRING)
        return 0;
    s = lua_tolstring(L, 1, &n);
    EBB_MAY_LJMP(ebb__charge(L, n / 8 + 1));
    if (lua_isnoneornil(L, 2))
        return lua_stringtonumber(L, s) == n + 1 ? 1 : 0;
    return number_in_base(L, s, n, base);
}

static int next_item(lua_State *L)
{
    lua_Integer i = (lua_Integer)((lua_Unsigned)luaL_checkinteger(L, 2) + 1);

    EBB_MAY_LJMP(ebb__charge(L, 1));
    lua_pushinteger(L, i);
    EBB_MAY_LJMP(ebb__list_push(L, 1, i));
    return lua_isnil(L, -1) ? 1 : 2;
}

/* Upvalue: next_item. */
static int l_ipairs(lua_State *L)
{
    EBB_MAY_LJMP(ebb__list_length(L, 1, "ipairs"));
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

static int l_select(lua_State *L)
{
    int n = lua_gettop(L);
    lua_Integer i;

    if (lua_type(L, 1) == LUA_TSTRING && !strcmp(lua_tostring(L, 1), "#")) {
        lua_pushinteger(L, n - 1);
        return 1;
    }
    i = luaL_checkinteger(L, 1);
    if (i < 0)
        i = n + i;
    else if (i > n)
        i = n;
    luaL_argcheck(L, 1 <= i, 1, "index out of range");
    return n - (int)i;
}

static int l_error(lua_State *L)
{
    lua_Integer level = luaL_optinteger(L, 2, 1);

    lua_settop(L, 1);
    if (lua_type(L, 1) == LUA_TSTRING && level > 0) {
        luaL_where(L, level > 100 ? 100 : (int)level);
        lua_pushvalue(L, 1);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int l_assert(lua_State *L)
{
    if (lua_toboolean(L, 1))
        return lua_gettop(L);
    luaL_checkany(L, 1);
    if (lua_gettop(L) == 1)
        return luaL_error(L, "assertion failed");
    lua_settop(L, 2);
    return lua_error(L);
}

static int l_pcall(lua_State *L)
{
    int status;

    luaL_checkany(L, 1);
    EBB_MAY_LJMP(ebb__charge(L, 10));
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    status = EBB_MAY_LJMP(ebb__pcall(L, lua_gettop(L) - 2));
    if (status == LUA_OK)
        return lua_gettop(L);
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
}

static const luaL_Reg FUNCTIONS[] = {
    {"type", l_type},   {"tostring", l_tostring}, {"tonumber", l_tonumber}, {"select", l_select},
    {"error", l_error}, {"assert", l_assert},     {"pcall", l_pcall},       {NULL, NULL},
};

EBB_LJMP void ebb__bind_base(lua_State *L)
{
    ebb__set_functions(L, FUNCTIONS);
    EBB_MAY_LJMP(ebb__push_function(L, next_item));
    lua_pushcclosure(L, l_ipairs, 1);
    lua_setfield(L, -2, "ipairs");
}

EBB_LJMP void ebb__bind_pure(lua_State *L)
{
    EBB_MAY_LJMP(ebb__bind_base(L));
    EBB_MAY_LJMP(ebb__bind_pairs(L));
    EBB_MAY_LJMP(ebb__bind_math(L));
    EBB_MAY_LJMP(ebb__bind_str(L));
    EBB_MAY_LJMP(ebb__bind_table(L));
    EBB_MAY_LJMP(ebb__bind_text(L));
    EBB_MAY_LJMP(ebb__bind_list(L));
}
