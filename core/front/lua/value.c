/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain data between Lua and value trees.
 */
#include <math.h>

#include "front/lua/module_priv.h"

#define DEPTH_MAX (EBB_VALUE_DEPTH_MAX - 1)

struct tree_box {
    struct ebb_value *root;
};

static int l_tree_gc(lua_State *L)
{
    struct tree_box *box = luaL_checkudata(L, 1, EBB__LUA_TREE);

    ebb_value_free(box->root);
    box->root = NULL;
    return 0;
}

/* Where a value goes: under a key of a map, or at the end of a list (key NULL). */
struct slot {
    struct ebb_value *box;
    const char *key;
};

static void put_scalar(lua_State *L, int index, struct slot to)
{
    if (lua_isboolean(L, index) && to.key)
        ebb_value_put_bool(to.box, to.key, lua_toboolean(L, index));
    else if (lua_isboolean(L, index))
        ebb_value_add_bool(to.box, lua_toboolean(L, index));
    else if (lua_isinteger(L, index) && to.key)
        ebb_value_put_int(to.box, to.key, lua_tointeger(L, index));
    else
        ebb_value_add_int(to.box, lua_tointeger(L, index));
}

static void put_float(lua_State *L, int index, struct slot to, int arg)
{
    lua_Number real = lua_tonumber(L, index);

    luaL_argcheck(L, isfinite(real), arg, "not a number or infinite");
    if (to.key)
        ebb_value_put_float(to.box, to.key, real);
    else
        ebb_value_add_float(to.box, real);
}

static void put_text(lua_State *L, int index, struct slot to)
{
    size_t n;
    const char *text = lua_tolstring(L, index, &n);

    if (to.key)
        ebb_value_put_strn(to.box, to.key, text, n);
    else
        ebb_value_add_strn(to.box, text, n);
}

static void put_any(lua_State *L, int index, struct slot to, int arg, int depth);

static void put_list(lua_State *L, int index, struct ebb_value *list, int arg, int depth)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, index), seen = 0;

    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1), seen++)
        luaL_argcheck(L, lua_isinteger(L, -2), arg, "names and numbers as keys of one table");
    luaL_argcheck(L, seen == n, arg, "a list with holes");
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(L, index, i);
        put_any(L, lua_gettop(L), (struct slot){list, NULL}, arg, depth);
        lua_pop(L, 1);
    }
}

static void put_map(lua_State *L, int index, struct ebb_value *map, int arg, int depth)
{
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        const char *key;
        size_t n;

        luaL_argcheck(L, lua_type(L, -2) == LUA_TSTRING, arg, "keys are names, or 1 to n");
        key = lua_tolstring(L, -2, &n);
        luaL_argcheck(L, strlen(key) == n, arg, "a key holds a NUL character");
        put_any(L, lua_gettop(L), (struct slot){map, key}, arg, depth);
    }
}

static void put_table(lua_State *L, int index, struct slot to, int arg, int depth)
{
    bool is_list = lua_rawlen(L, index) > 0;
    struct ebb_value *made;

    luaL_argcheck(L, depth < DEPTH_MAX, arg, "nested too deeply");
    luaL_checkstack(L, 8, "value");
    if (is_list)
        made = to.key ? ebb_value_put_list(to.box, to.key) : ebb_value_add_list(to.box);
    else
        made = to.key ? ebb_value_put_map(to.box, to.key) : ebb_value_add_map(to.box);
    luaL_argcheck(L, made, arg, "too much data");
    if (is_list)
        put_list(L, index, made, arg, depth + 1);
    else
        put_map(L, index, made, arg, depth + 1);
}

static void put_any(lua_State *L, int index, struct slot to, int arg, int depth)
{
    switch (lua_type(L, index)) {
    case LUA_TNIL:
        return;
    case LUA_TNUMBER:
        if (!lua_isinteger(L, index)) {
            put_float(L, index, to, arg);
            return;
        }
        put_scalar(L, index, to);
        return;
    case LUA_TBOOLEAN:
        put_scalar(L, index, to);
        return;
    case LUA_TSTRING:
        put_text(L, index, to);
        return;
    case LUA_TTABLE:
        put_table(L, index, to, arg, depth);
        return;
    default:
        luaL_argerror(L, arg, lua_pushfstring(L, "a %s is no plain data", luaL_typename(L, index)));
    }
}

EBB_LJMP struct ebb_value **ebb__lua_tree(lua_State *L)
{
    struct tree_box *box = EBB_MAY_LJMP(ebb__lua_box(L, EBB__LUA_TREE, sizeof *box, l_tree_gc));

    return &box->root;
}

EBB_LJMP const struct ebb_value *ebb__lua_check_value(lua_State *L, int index)
{
    struct ebb_value **root;
    struct ebb_err err;

    index = lua_absindex(L, index);
    root = EBB_MAY_LJMP(ebb__lua_tree(L));
    *root = ebb_value_new_map(NULL);
    put_any(L, index, (struct slot){*root, EBB__LUA_KEY}, index, 1);
    if (ebb_value_check(*root, "value", &err))
        luaL_argerror(L, index, lua_pushstring(L, err.message));
    return *root;
}

EBB_LJMP void ebb__lua_push_value(lua_State *L, const struct ebb_value *value)
{
    enum ebb_value_kind kind = ebb_value_get_kind(value);
    struct ebb_str text = ebb_value_get_bytes(value);

    luaL_checkstack(L, 4, "value");
    if (kind == EBB_VALUE_NIL)
        lua_pushnil(L);
    else if (kind == EBB_VALUE_BOOL)
        lua_pushboolean(L, ebb_value_get_bool(value, false));
    else if (kind == EBB_VALUE_INT)
        lua_pushinteger(L, ebb_value_get_int(value, 0));
    else if (kind == EBB_VALUE_FLOAT)
        lua_pushnumber(L, ebb_value_get_float(value, 0));
    else if (kind == EBB_VALUE_STRING)
        lua_pushlstring(L, text.p, text.n);
    else
        lua_newtable(L);
    for (size_t i = 0; i < ebb_value_get_count(value); i++) {
        struct ebb_str key = ebb_value_get_key(value, i);

        if (kind == EBB_VALUE_MAP)
            lua_pushlstring(L, key.p, key.n);
        ebb__lua_push_value(L, ebb_value_get_at(value, i));
        if (kind == EBB_VALUE_MAP)
            lua_rawset(L, -3);
        else
            lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

EBB_LJMP int ebb__lua_return_json(lua_State *L, const char *what, const char *json, size_t n)
{
    struct ebb_value **root = EBB_MAY_LJMP(ebb__lua_tree(L));
    struct ebb_err err;

    if (ebb_value_of_json(what, json, n, NULL, root, &err))
        return EBB_MAY_LJMP(ebb__lua_fail(L, &err));
    ebb__lua_push_value(L, *root);
    ebb_value_free(*root);
    *root = NULL;
    return 1;
}
