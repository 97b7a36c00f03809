/* SPDX-License-Identifier: Apache-2.0 */
#include "front/lua/module_priv.h"

EBB_LJMP void *ebb__lua_box(lua_State *L, const char *metatable, size_t size, lua_CFunction fini)
{
    void *box = EBB_MAY_LJMP(lua_newuserdatauv(L, size, 0));

    memset(box, 0, size);
    if (EBB_MAY_LJMP(luaL_newmetatable(L, metatable))) {
        lua_pushcfunction(L, fini);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return box;
}

EBB_LJMP void ebb__lua_methods(lua_State *L, const luaL_Reg *methods)
{
    lua_getmetatable(L, -1);
    if (lua_getfield(L, -1, "__index") == LUA_TNIL) {
        luaL_checkstack(L, 4, "methods");
        lua_getfield(L, -2, "__gc");
        lua_setfield(L, -3, "__close");
        lua_newtable(L);
        luaL_setfuncs(L, methods, 0);
        lua_setfield(L, -3, "__index");
    }
    lua_pop(L, 2);
}

static int l_buf_gc(lua_State *L)
{
    ebb_buf_fini(luaL_checkudata(L, 1, EBB__LUA_BUF));
    return 0;
}

EBB_LJMP struct ebb_buf *ebb__lua_buf(lua_State *L)
{
    struct ebb_buf *b = EBB_MAY_LJMP(ebb__lua_box(L, EBB__LUA_BUF, sizeof *b, l_buf_gc));

    ebb_buf_init(b, EBB__LUA_TEXT_MAX);
    return b;
}

EBB_LJMP int ebb__lua_return_buf(lua_State *L, struct ebb_buf *b, int rc, struct ebb_err *err)
{
    if (!rc)
        rc = ebb_buf_check(b, "text", err);
    if (rc)
        return EBB_MAY_LJMP(ebb__lua_fail(L, err));
    EBB_MAY_LJMP(lua_pushlstring(L, ebb_buf_cstr(b), b->len));
    ebb_buf_fini(b);
    return 1;
}

EBB_LJMP int ebb__lua_return_int(lua_State *L, int64_t value, int rc, const struct ebb_err *err)
{
    if (rc)
        return EBB_MAY_LJMP(ebb__lua_fail(L, err));
    lua_pushinteger(L, value);
    return 1;
}

static int l_error_tostring(lua_State *L)
{
    const char *code, *message;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_getfield(L, 1, "code");
    lua_getfield(L, 1, "message");
    code = luaL_tolstring(L, -2, NULL);
    message = luaL_tolstring(L, -2, NULL);
    lua_pushfstring(L, "%s: %s", code, message);
    return 1;
}

EBB_LJMP int ebb__lua_fail(lua_State *L, const struct ebb_err *err)
{
    lua_pushnil(L);
    EBB_MAY_LJMP(lua_createtable(L, 0, 4));
    lua_pushstring(L, ebb_error_code(err->error));
    lua_setfield(L, -2, "code");
    lua_pushstring(L, err->message);
    lua_setfield(L, -2, "message");
    lua_pushboolean(L, err->retryable);
    lua_setfield(L, -2, "retryable");
    if (err->hint[0]) {
        lua_pushstring(L, err->hint);
        lua_setfield(L, -2, "hint");
    }
    if (luaL_newmetatable(L, EBB__LUA_ERROR)) {
        lua_pushcfunction(L, l_error_tostring);
        lua_setfield(L, -2, "__tostring");
    }
    lua_setmetatable(L, -2);
    return 2;
}

EBB_LJMP struct ebb_str ebb__lua_check_bytes(lua_State *L, int index)
{
    struct ebb_str s;

    luaL_checktype(L, index, LUA_TSTRING);
    s.p = lua_tolstring(L, index, &s.n);
    return s;
}

EBB_LJMP int64_t ebb__lua_check_int(lua_State *L, int index)
{
    luaL_checktype(L, index, LUA_TNUMBER);
    return luaL_checkinteger(L, index);
}

EBB_LJMP int ebb__lua_check_text(lua_State *L, int index, enum ebb_error error, const char **out, struct ebb_err *err)
{
    struct ebb_str s = EBB_MAY_LJMP(ebb__lua_check_bytes(L, index));

    *out = s.p;
    if (memchr(s.p, '\0', s.n))
        return ebb_err_set(err, error, "text '%s': holds a NUL character", s.p);
    return 0;
}

EBB_LJMP const struct ebb_str *ebb__lua_check_list(lua_State *L, int index, size_t *count)
{
    struct ebb_str *items;
    size_t n;

    luaL_checktype(L, index, LUA_TTABLE);
    n = lua_rawlen(L, index);
    luaL_argcheck(L, n <= EBB__LUA_TEXT_MAX / sizeof *items, index, "list is too long");
    items = EBB_MAY_LJMP(lua_newuserdatauv(L, n * sizeof *items, 0));
    for (size_t i = 0; i < n; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        luaL_argcheck(L, lua_type(L, -1) == LUA_TSTRING, index, "list of strings expected");
        items[i].p = lua_tolstring(L, -1, &items[i].n);
        lua_pop(L, 1);
    }
    *count = n;
    return items;
}
