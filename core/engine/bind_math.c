/* SPDX-License-Identifier: Apache-2.0 */
#include <lauxlib.h>
#include <math.h>
#include <stdint.h>

#include "engine/bind_priv.h"

static void push_whole(lua_State *L, double x)
{
    lua_Integer n;

    if (lua_numbertointeger(x, &n))
        lua_pushinteger(L, n);
    else
        lua_pushnumber(L, x);
}

static int l_abs(lua_State *L)
{
    if (lua_isinteger(L, 1)) {
        lua_Integer n = lua_tointeger(L, 1);

        lua_pushinteger(L, n < 0 ? (lua_Integer)(0u - (lua_Unsigned)n) : n);
    } else
        lua_pushnumber(L, fabs(luaL_checknumber(L, 1)));
    return 1;
}

static int l_round_down(lua_State *L)
{
    if (lua_isinteger(L, 1))
        lua_settop(L, 1);
    else
        push_whole(L, floor(luaL_checknumber(L, 1)));
    return 1;
}

static int l_round_up(lua_State *L)
{
    if (lua_isinteger(L, 1))
        lua_settop(L, 1);
    else
        push_whole(L, ceil(luaL_checknumber(L, 1)));
    return 1;
}

static int pick(lua_State *L, bool greatest)
{
    int best = 1, n = lua_gettop(L);

    luaL_checknumber(L, 1);
    for (int i = 2; i <= n; i++) {
        luaL_checknumber(L, i);
        if (greatest ? lua_compare(L, best, i, LUA_OPLT) : lua_compare(L, i, best, LUA_OPLT))
            best = i;
    }
    lua_pushvalue(L, best);
    return 1;
}

static int l_max(lua_State *L)
{
    return pick(L, true);
}

static int l_min(lua_State *L)
{
    return pick(L, false);
}

static int l_fmod(lua_State *L)
{
    if (lua_isinteger(L, 1) && lua_isinteger(L, 2)) {
        lua_Integer a = lua_tointeger(L, 1), b = lua_tointeger(L, 2);

        luaL_argcheck(L, b != 0, 2, "zero");
        lua_pushinteger(L, b == -1 ? 0 : a % b);
    } else
        lua_pushnumber(L, fmod(luaL_checknumber(L, 1), luaL_checknumber(L, 2)));
    return 1;
}

static int l_modf(lua_State *L)
{
    double x = luaL_checknumber(L, 1);
    double whole = x < 0 ? ceil(x) : floor(x);

    lua_pushnumber(L, whole);
    lua_pushnumber(L, isinf(x) ? 0.0 : x - whole);
    return 2;
}

static int l_tointeger(lua_State *L)
{
    int exact;
    lua_Integer n = lua_tointegerx(L, 1, &exact);

    luaL_checkany(L, 1);
    if (exact && lua_type(L, 1) == LUA_TNUMBER)
        lua_pushinteger(L, n);
    else
        lua_pushnil(L);
    return 1;
}

static int l_type(lua_State *L)
{
    luaL_checkany(L, 1);
    if (lua_type(L, 1) == LUA_TNUMBER)
        lua_pushstring(L, lua_isinteger(L, 1) ? "integer" : "float");
    else
        lua_pushnil(L);
    return 1;
}

static int l_ult(lua_State *L)
{
    lua_pushboolean(L, (lua_Unsigned)luaL_checkinteger(L, 1) < (lua_Unsigned)luaL_checkinteger(L, 2));
    return 1;
}

static int l_log(lua_State *L)
{
    double x = luaL_checknumber(L, 1);

    if (lua_isnoneornil(L, 2))
        lua_pushnumber(L, log(x));
    else if (luaL_checknumber(L, 2) == 2)
        lua_pushnumber(L, log2(x));
    else if (lua_tonumber(L, 2) == 10)
        lua_pushnumber(L, log10(x));
    else
        lua_pushnumber(L, log(x) / log(lua_tonumber(L, 2)));
    return 1;
}

static int l_sqrt(lua_State *L)
{
    lua_pushnumber(L, sqrt(luaL_checknumber(L, 1)));
    return 1;
}

static int l_exp(lua_State *L)
{
    lua_pushnumber(L, exp(luaL_checknumber(L, 1)));
    return 1;
}

static int l_sin(lua_State *L)
{
    lua_pushnumber(L, sin(luaL_checknumber(L, 1)));
    return 1;
}

static int l_cos(lua_State *L)
{
    lua_pushnumber(L, cos(luaL_checknumber(L, 1)));
    return 1;
}

static int l_tan(lua_State *L)
{
    lua_pushnumber(L, tan(luaL_checknumber(L, 1)));
    return 1;
}

static int l_asin(lua_State *L)
{
    lua_pushnumber(L, asin(luaL_checknumber(L, 1)));
    return 1;
}

static int l_acos(lua_State *L)
{
    lua_pushnumber(L, acos(luaL_checknumber(L, 1)));
    return 1;
}

static int l_atan(lua_State *L)
{
    lua_pushnumber(L, atan2(luaL_checknumber(L, 1), luaL_optnumber(L, 2, 1)));
    return 1;
}

static int l_deg(lua_State *L)
{
    lua_pushnumber(L, luaL_checknumber(L, 1) * (180.0 / M_PI));
    return 1;
}

static int l_rad(lua_State *L)
{
    lua_pushnumber(L, luaL_checknumber(L, 1) * (M_PI / 180.0));
    return 1;
}

static const luaL_Reg FUNCTIONS[] = {
    {"abs", l_abs},       {"floor", l_round_down},
    {"ceil", l_round_up}, {"max", l_max},
    {"min", l_min},       {"fmod", l_fmod},
    {"modf", l_modf},     {"tointeger", l_tointeger},
    {"type", l_type},     {"ult", l_ult},
    {"log", l_log},       {"sqrt", l_sqrt},
    {"exp", l_exp},       {"sin", l_sin},
    {"cos", l_cos},       {"tan", l_tan},
    {"asin", l_asin},     {"acos", l_acos},
    {"atan", l_atan},     {"deg", l_deg},
    {"rad", l_rad},       {NULL, NULL},
};

static void add_constants(lua_State *L)
{
    lua_pushnumber(L, M_PI);
    lua_setfield(L, -2, "pi");
    lua_pushnumber(L, HUGE_VAL);
    lua_setfield(L, -2, "huge");
    lua_pushinteger(L, INT64_MAX);
    lua_setfield(L, -2, "maxinteger");
    lua_pushinteger(L, INT64_MIN);
    lua_setfield(L, -2, "mininteger");
}

EBB_LJMP void ebb__bind_math(lua_State *L)
{
    ebb__set_library(L, "math", FUNCTIONS, add_constants);
}
