/* SPDX-License-Identifier: Apache-2.0 */
#include <lauxlib.h>
#include <stdlib.h>

#include "engine/bind_priv.h"

#define NAMES_MAX 96
#define NEAREST_GAS 12 /* for the comparison with one name */

struct frozen {
    const char *name;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names in the table at index that may be meant, in order; the pointers live as long as the table. */
static size_t names_of(lua_State *L, int index, const char *names[NAMES_MAX])
{
    size_t count = 0;

    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        if (count < NAMES_MAX && lua_type(L, -1) == LUA_TSTRING)
            names[count++] = lua_tostring(L, -1);
    }
    qsort(names, count, sizeof *names, compare_names);
    return count;
}

EBB_LJMP int ebb__unknown_name(lua_State *L, const char *where, const char *name, const char *const *names,
                               size_t count)
{
    const char *dot = where[0] ? "." : "";
    const char *near;

    EBB_MAY_LJMP(ebb__charge(L, NEAREST_GAS * count + 20));
    near = ebb_text_nearest(name, names, count);
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

static const char CLASS_KEYS[EBB__CLASS_COUNT] = {0}; /* addresses serve as registry keys */

EBB_LJMP void ebb__class_make(lua_State *L, enum ebb__class class, const struct luaL_Reg *methods)
{
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0); /* no script gets hold of these */
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushliteral(L, "table");
    lua_setfield(L, -2, "__name");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &CLASS_KEYS[class]);
}

EBB_LJMP void ebb__object_init(lua_State *L, enum ebb__class class, const struct luaL_Reg *methods)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &CLASS_KEYS[class]) == LUA_TNIL) {
        lua_pop(L, 1);
        EBB_MAY_LJMP(ebb__class_make(L, class, methods));
        lua_rawgetp(L, LUA_REGISTRYINDEX, &CLASS_KEYS[class]);
    }
    lua_setmetatable(L, -2);
}

void *ebb__object_test(lua_State *L, int index, enum ebb__class class)
{
    bool is_it;

    if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index))
        return NULL;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &CLASS_KEYS[class]);
    is_it = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return is_it ? lua_touserdata(L, index) : NULL;
}

EBB_LJMP void ebb__freeze(lua_State *L, const char *name)
{
    static const luaL_Reg METHODS[] = {{"__index", frozen_index}, {"__newindex", frozen_newindex}, {NULL, NULL}};
    struct frozen *f = lua_newuserdatauv(L, sizeof *f, 1);

    f->name = name;
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
    ebb__object_init(L, EBB__FROZEN, METHODS);
}
