/* SPDX-License-Identifier: Apache-2.0
 *
 * str: plain text helpers, also the methods of strings. No patterns. Results are at most EBB__TEXT_MAX bytes; work is
 * charged by bytes.
 */
#include <lauxlib.h>

#include "engine/bind_priv.h"

#define PIECES_MAX 5000

static struct ebb_str check_text(lua_State *L, int index)
{
    struct ebb_str s;

    s.p = luaL_checklstring(L, index, &s.n);
    EBB_MAY_LJMP(ebb__charge(L, s.n / 16 + 1));
    return s;
}

static void check_size(lua_State *L, const char *what, size_t n)
{
    if (n > EBB__TEXT_MAX)
        luaL_error(L, "%s: the result would be longer than %d bytes", what, (int)EBB__TEXT_MAX);
}

static int l_len(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)check_text(L, 1).n);
    return 1;
}

static int change_case(lua_State *L, char from, char to)
{
    struct ebb_str s = check_text(L, 1);
    luaL_Buffer b;
    char *out;

    check_size(L, "str", s.n);
    out = luaL_buffinitsize(L, &b, s.n);
    for (size_t i = 0; i < s.n; i++)
        out[i] = (char)(s.p[i] >= from && s.p[i] < from + 26 ? s.p[i] - from + to : s.p[i]);
    luaL_pushresultsize(&b, s.n);
    return 1;
}

static int l_lower(lua_State *L)
{
    return change_case(L, 'A', 'a');
}

static int l_upper(lua_State *L)
{
    return change_case(L, 'a', 'A');
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int l_trim(lua_State *L)
{
    struct ebb_str s = check_text(L, 1);

    while (s.n && is_space(s.p[0]))
        s.p++, s.n--;
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    lua_pushlstring(L, s.p, s.n);
    return 1;
}

static const char *seek(struct ebb_str s, struct ebb_str what)
{
    return what.n ? memmem(s.p, s.n, what.p, what.n) : s.p;
}

/* split(s, sep): the pieces between separators, also empty ones. */
static int l_split(lua_State *L)
{
    struct ebb_str s = check_text(L, 1), sep = check_text(L, 2);
    const char *at;

    luaL_argcheck(L, sep.n > 0, 2, "empty separator");
    lua_settop(L, 2);
    lua_newtable(L);
    for (lua_Integer i = 1;; i++) {
        if (i > PIECES_MAX)
            return luaL_error(L, "str.split: more than %d pieces", PIECES_MAX);
        EBB_MAY_LJMP(ebb__charge(L, 2));
        at = seek(s, sep);
        lua_pushlstring(L, s.p, at ? (size_t)(at - s.p) : s.n);
        lua_rawseti(L, 3, i);
        if (!at)
            return 1;
        s.n -= (size_t)(at - s.p) + sep.n;
        s.p = at + sep.n;
    }
}

static int l_starts(lua_State *L)
{
    lua_pushboolean(L, ebb_str_has_prefix(check_text(L, 1), check_text(L, 2)));
    return 1;
}

static int l_ends(lua_State *L)
{
    struct ebb_str s = check_text(L, 1), end = check_text(L, 2);

    lua_pushboolean(L, s.n >= end.n && !memcmp(s.p + s.n - end.n, end.p, end.n));
    return 1;
}

static int l_contains(lua_State *L)
{
    lua_pushboolean(L, seek(check_text(L, 1), check_text(L, 2)) != NULL);
    return 1;
}

/* Index from 1, negative from the end, made absolute. */
static size_t position(lua_Integer i, size_t n)
{
    if (i > 0)
        return (size_t)i;
    if (i == 0 || i < -(lua_Integer)n)
        return i == 0 ? 0 : 1;
    return n + 1 - (size_t)-i;
}

/* find(s, what [, from]): first and last index, or nil. */
static int l_find(lua_State *L)
{
    struct ebb_str s = check_text(L, 1), what = check_text(L, 2);
    size_t from = position(luaL_optinteger(L, 3, 1), s.n);
    const char *at;

    if (from < 1)
        from = 1;
    if (from > s.n + 1)
        return 0;
    at = seek((struct ebb_str){s.p + from - 1, s.n - from + 1}, what);
    if (!at)
        return 0;
    lua_pushinteger(L, at - s.p + 1);
    lua_pushinteger(L, at - s.p + (lua_Integer)what.n);
    return 2;
}

static int l_sub(lua_State *L)
{
    struct ebb_str s = check_text(L, 1);
    lua_Integer last = luaL_optinteger(L, 3, -1);
    size_t from = position(luaL_checkinteger(L, 2), s.n);
    size_t to = last < -(lua_Integer)s.n ? 0 : position(last, s.n);

    if (from < 1)
        from = 1;
    if (to > s.n)
        to = s.n;
    lua_pushlstring(L, from <= to ? s.p + from - 1 : "", from <= to ? to - from + 1 : 0);
    return 1;
}

/* rep(s, n [, sep]) */
static int l_rep(lua_State *L)
{
    struct ebb_str s = check_text(L, 1), sep = {"", 0};
    lua_Integer n = luaL_checkinteger(L, 2);
    luaL_Buffer b;

    if (!lua_isnoneornil(L, 3))
        sep = check_text(L, 3);
    if (n <= 0 || s.n + sep.n == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if (s.n + sep.n > EBB__TEXT_MAX || (lua_Unsigned)n > EBB__TEXT_MAX / (s.n + sep.n))
        check_size(L, "str.rep", EBB__TEXT_MAX + 1);
    EBB_MAY_LJMP(ebb__charge(L, (s.n + sep.n) * (size_t)n / 16 + (size_t)n));
    luaL_buffinit(L, &b);
    for (lua_Integer i = 1; i <= n; i++) {
        luaL_addlstring(&b, s.p, s.n);
        if (i < n)
            luaL_addlstring(&b, sep.p, sep.n);
    }
    luaL_pushresult(&b);
    return 1;
}

/* replace(s, what, by): every occurrence, left to right; the second result is their number. */
static int l_replace(lua_State *L)
{
    struct ebb_str s = check_text(L, 1), what = check_text(L, 2), by = check_text(L, 3);
    lua_Integer count = 0;
    size_t made = 0;
    const char *at;
    luaL_Buffer b;

    luaL_argcheck(L, what.n > 0, 2, "empty text");
    luaL_buffinit(L, &b);
    while ((at = seek(s, what)) != NULL) {
        size_t before = (size_t)(at - s.p);

        made += before + by.n;
        check_size(L, "str.replace", made);
        EBB_MAY_LJMP(ebb__charge(L, by.n / 16 + 1));
        luaL_addlstring(&b, s.p, before);
        luaL_addlstring(&b, by.p, by.n);
        s.p = at + what.n;
        s.n -= before + what.n;
        count++;
    }
    check_size(L, "str.replace", made + s.n);
    luaL_addlstring(&b, s.p, s.n);
    luaL_pushresult(&b);
    lua_pushinteger(L, count);
    return 2;
}

static const luaL_Reg FUNCTIONS[] = {
    {"len", l_len},     {"lower", l_lower},   {"upper", l_upper}, {"trim", l_trim},
    {"split", l_split}, {"starts", l_starts}, {"ends", l_ends},   {"contains", l_contains},
    {"find", l_find},   {"sub", l_sub},       {"rep", l_rep},     {"replace", l_replace},
    {NULL, NULL},
};

EBB_LJMP void ebb__bind_str(lua_State *L)
{
    ebb__set_library(L, "str", FUNCTIONS, NULL);
    lua_pushliteral(L, "");
    lua_newtable(L);
    lua_getfield(L, -3, "str");
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}
