/* SPDX-License-Identifier: Apache-2.0
 *
 * The table `ebb` of trusted scripts: what they need of time and locations.
 */
#include <lauxlib.h>

#include "base/location.h"
#include "base/time.h"
#include "engine/script_priv.h"

/* ebb.time.format(ms [, "sql" | "iso"]) */
static int l_time_format(lua_State *L)
{
    static const char *const KINDS[] = {"iso", "sql", NULL};
    int64_t at = luaL_checkinteger(L, 1);
    char text[64];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    if (luaL_checkoption(L, 2, "iso", KINDS))
        ebb_time_sql(&b, at);
    else
        ebb_time_iso(&b, at);
    lua_pushlstring(L, text, b.len);
    return 1;
}

/* A location as a C string: one that holds NUL is a mistake. */
static const char *check_location(lua_State *L, int index)
{
    size_t n;
    const char *text = luaL_checklstring(L, index, &n);

    luaL_argcheck(L, strlen(text) == n, index, "holds a NUL byte");
    return text;
}

static int push_failure(lua_State *L, const struct ebb_err *err)
{
    lua_pushnil(L);
    lua_pushstring(L, err->message);
    return 2;
}

/* ebb.location.check(text): true, or nil and why no table may have it. */
static int l_location_check(lua_State *L)
{
    struct ebb_err err;

    if (ebb_location_check_table(check_location(L, 1), &err))
        return push_failure(L, &err);
    lua_pushboolean(L, 1);
    return 1;
}

/* ebb.location.contains(outer, inner): whether inner is outer or lies in it; nil and why when that can't be told. */
static int l_location_contains(lua_State *L)
{
    struct ebb_err err;
    bool inside = false;

    if (ebb_location_contains(check_location(L, 1), check_location(L, 2), NULL, &inside, &err))
        return push_failure(L, &err);
    lua_pushboolean(L, inside);
    return 1;
}

static const luaL_Reg TIME[] = {{"format", l_time_format}, {NULL, NULL}};
static const luaL_Reg LOCATION[] = {{"check", l_location_check}, {"contains", l_location_contains}, {NULL, NULL}};

void ebb__script_push_helpers(lua_State *L)
{
    lua_newtable(L);
    luaL_newlib(L, TIME);
    lua_setfield(L, -2, "time");
    luaL_newlib(L, LOCATION);
    lua_setfield(L, -2, "location");
}
