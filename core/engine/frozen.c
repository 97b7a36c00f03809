/* SPDX-License-Identifier: Apache-2.0 */
#include <lauxlib.h>

#include "engine/bind_priv.h"

#define NAMES_MAX 96

struct frozen {
    const char *name;
};

/* Names in the table at index that may be meant; the pointers live as long as the table. */
static size_t names_of(lua_State *L, int index, const char *names[NAMES_MAX])
{
    size_t count = 0;

    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        if (count < NAMES_MAX && lua_type(L, -1) == LUA_TSTRING)
            names[count++] = lua_tostring(L, -1);
    }
    return count;
}

EBB_LJMP int ebb__unknown_name(lua_State *L, const char *where, const char *name, const char *const *names,
                               size_t count)
{
    const char *near = ebb_text_nearest(name, names, count);
    const char *dot = where[0] ? "." : "";

    if (near)
        return luaL_error(L, "%s%s%s: unknown\n  hint: did you mean %s%s%s?", where, dot, name, where, dot, near);
    return luaL_error(L, "%s%s%s: unknown\n  hint: see the policy guide for what a policy can use", where, dot, name);
}

static int frozen_index(lua_State *L)
{
    struct frozen *f = lua_touserdata(L, 1);
    const char *names[NAMES_MAX];
    size_t count;

    lua_getiuservalue(L, 1, 1);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 3) != LUA_TNIL)
        return 1;
    if (lua_type(L, 2) != LUA_TSTRING)
        return luaL_error(L, "%s: has names only, not a %s", f->name[0] ? f->name : "globals", luaL_typename(L, 2));
    count = names_of(L, 3, names);
    return EBB_MAY_LJMP(ebb__unknown_name(L, f->name, lua_tostring(L, 2), names, count));
}

static int frozen_newindex(lua_State *L)
{
    struct frozen *f = lua_touserdata(L, 1);
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);

    if (f->name[0])
        return luaL_error(L, "%s.%s: can't be changed, %s is read only", f->name, key, f->name);
    return luaL_error(L, "%s: can't be set, globals are read only\n  hint: write: local %s = …", key, key);
}

EBB_LJMP void ebb__protect_metatable(lua_State *L)
{
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
}

EBB_LJMP void ebb__freeze(lua_State *L, const char *name)
{
    struct frozen *f = lua_newuserdatauv(L, sizeof *f, 1);

    f->name = name;
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
    if (luaL_newmetatable(L, EBB__FROZEN)) {
        lua_pushcfunction(L, frozen_index);
        lua_setfield(L, -2, "__index");
        lua_pushcfunction(L, frozen_newindex);
        lua_setfield(L, -2, "__newindex");
        ebb__protect_metatable(L);
    }
    lua_setmetatable(L, -2);
}
