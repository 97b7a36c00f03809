/* SPDX-License-Identifier: Apache-2.0
 *
 * pairs in a defined order: whole numbers ascending, then texts bytewise.
 */
#include <lauxlib.h>
#include <stdlib.h>

#include "engine/bind_priv.h"
#include "engine/view_priv.h"

#define SLOT_BYTES 256 /* memory in use for one unit of gas */

struct key {
    bool is_text;
    lua_Integer number;
    struct ebb_str text; /* lives as long as the table holds the key, and nothing runs between filling and use */
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->is_text != y->is_text)
        return x->is_text ? 1 : -1;
    if (x->is_text)
        return ebb_str_compare(x->text, y->text);
    return x->number < y->number ? -1 : x->number > y->number;
}

static size_t count_keys(lua_State *L, int index)
{
    size_t count = 0;

    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        if (!lua_isinteger(L, -1) && lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "pairs: a key is a %s; only texts and whole numbers have an order", luaL_typename(L, -1));
        count++;
    }
    return count;
}

static size_t log2_of(size_t n)
{
    size_t bits = 1;

    while (n >>= 1)
        bits++;
    return bits;
}

static void fill_keys(lua_State *L, int index, struct key *keys)
{
    size_t i = 0;

    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        keys[i].is_text = lua_type(L, -1) == LUA_TSTRING;
        if (keys[i].is_text)
            keys[i].text.p = lua_tolstring(L, -1, &keys[i].text.n);
        else
            keys[i].number = lua_tointeger(L, -1);
        i++;
    }
}

/* Push a list of the keys of the plain table at index. */
static void push_sorted_keys(lua_State *L, int index)
{
    size_t count;
    struct key *keys;

    /* A table that was emptied still has its slots: what is in use bounds them. */
    EBB_MAY_LJMP(ebb__charge(L, ebb__sandbox_of(L)->mem_used / SLOT_BYTES));
    count = count_keys(L, index);
    EBB_MAY_LJMP(ebb__charge(L, count * log2_of(count) + 1));
    keys = lua_newuserdatauv(L, count * sizeof *keys + 1, 0);
    lua_createtable(L, (int)count, 0);
    memset(keys, 0, count * sizeof *keys);
    fill_keys(L, index, keys);
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].is_text)
            lua_pushlstring(L, keys[i].text.p, keys[i].text.n);
        else
            lua_pushinteger(L, keys[i].number);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_remove(L, -2);
}

/* Upvalues: list of keys, position. Keys removed meanwhile are passed over. */
static int next_pair(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));

    for (;;) {
        EBB_MAY_LJMP(ebb__charge(L, 1));
        lua_settop(L, 1);
        i++;
        lua_pushinteger(L, i);
        lua_replace(L, lua_upvalueindex(2));
        if (lua_rawgeti(L, lua_upvalueindex(1), i) == LUA_TNIL)
            return 1;
        lua_pushvalue(L, 2);
        if (lua_type(L, 1) == LUA_TTABLE)
            lua_rawget(L, 1);
        else
            lua_gettable(L, 1);
        if (!lua_isnil(L, 3))
            return 2;
    }
}

static int l_pairs(lua_State *L)
{
    lua_settop(L, 1);
    if (lua_type(L, 1) == LUA_TTABLE)
        push_sorted_keys(L, 1);
    else
        EBB_MAY_LJMP(ebb__view_push_keys(L, 1));
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_pair, 2);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

EBB_LJMP void ebb__bind_pairs(lua_State *L)
{
    EBB_MAY_LJMP(ebb__push_function(L, l_pairs));
    lua_setfield(L, -2, "pairs");
}
