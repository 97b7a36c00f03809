/* SPDX-License-Identifier: Apache-2.0
 *
 * Pure text helpers: fmt bytes_h iso hash glob.
 */
#include <inttypes.h>
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <xxhash.h>

#include "base/time.h"
#include "engine/bind_priv.h"
#include "engine/number_priv.h"
#include "engine/policy.h"

#define WIDTH_MAX 64
#define PRECISION_MAX 20
#define FIELD_MAX 400 /* "%f" of the greatest double and its precision */
#define GLOB_MAX 256
#define LONG_NUMBER 1e15 /* beyond it "%f" is long, and slow */

/* One conversion: flags, width, precision as "%-8.3" and the letter. */
struct conversion {
    char spec[16];
    size_t n;
    int width;
    int precision; /* -1 none */
    bool left;
    char letter;
};

static void spec_add(lua_State *L, struct conversion *c, char ch)
{
    if (c->n + 4 >= sizeof c->spec)
        luaL_error(L, "fmt: a conversion is too long");
    c->spec[c->n++] = ch;
    c->spec[c->n] = '\0';
}

static int read_digits(lua_State *L, struct conversion *c, const char **p, int max)
{
    int n = 0;

    while (**p >= '0' && **p <= '9') {
        n = n * 10 + (**p - '0');
        if (n > max)
            luaL_error(L, "fmt: width at most %d, precision at most %d", WIDTH_MAX, PRECISION_MAX);
        spec_add(L, c, *(*p)++);
    }
    return n;
}

/* Read the conversion after '%'; p moves behind its letter. */
static void read_conversion(lua_State *L, struct conversion *c, const char **p)
{
    *c = (struct conversion){.precision = -1};
    spec_add(L, c, '%');
    while (**p && strchr("-+ 0#", **p)) {
        c->left = c->left || **p == '-';
        if (**p == '#')
            luaL_error(L, "fmt: flag '#' does not exist");
        spec_add(L, c, *(*p)++);
    }
    c->width = read_digits(L, c, p, WIDTH_MAX);
    if (**p == '.') {
        spec_add(L, c, *(*p)++);
        c->precision = read_digits(L, c, p, PRECISION_MAX);
    }
    c->letter = **p;
    if (!c->letter || !strchr("sdfgx", c->letter))
        luaL_error(L, "fmt: only %%s %%d %%f %%g %%x and %%%% exist");
    (*p)++;
}

static void add_padding(luaL_Buffer *b, size_t have, int width)
{
    for (size_t i = have; i < (size_t)width; i++)
        luaL_addchar(b, ' ');
}

static void add_text(lua_State *L, luaL_Buffer *b, const struct conversion *c, const char *s, size_t n)
{
    if (c->precision >= 0 && n > (size_t)c->precision)
        n = (size_t)c->precision;
    EBB_MAY_LJMP(ebb__charge(L, n / 16 + 1));
    if (!c->left)
        add_padding(b, n, c->width);
    luaL_addlstring(b, s, n);
    if (c->left)
        add_padding(b, n, c->width);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void add_number(lua_State *L, luaL_Buffer *b, struct conversion *c, int arg)
{
    char *out;

    if (c->letter == 'f' || c->letter == 'g') {
        char text[FIELD_MAX];
        struct ebb_buf field = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

        if (lua_type(L, arg) != LUA_TNUMBER)
            luaL_error(L, "fmt: argument %d: a number is due, not %s", arg, ebb__type_name(L, arg));
        EBB_MAY_LJMP(ebb__charge(L, fabs(lua_tonumber(L, arg)) > LONG_NUMBER ? 300 : 20));
        spec_add(L, c, c->letter);
        ebb__number_printf(&field, c->spec, lua_tonumber(L, arg));
        luaL_addlstring(b, text, field.len);
        return;
    }
    EBB_MAY_LJMP(ebb__check_int(L, arg, "fmt"));
    spec_add(L, c, 'l');
    spec_add(L, c, 'l');
    spec_add(L, c, c->letter);
    out = luaL_prepbuffsize(b, FIELD_MAX);
    luaL_addsize(b, (size_t)snprintf(out, FIELD_MAX, c->spec, (long long)lua_tointeger(L, arg)));
}
#pragma GCC diagnostic pop

static void add_conversion(lua_State *L, luaL_Buffer *b, const char **p, int arg)
{
    struct conversion c;
    char copy[32];

    read_conversion(L, &c, p);
    if (arg > lua_gettop(L) || lua_isnone(L, arg))
        luaL_error(L, "fmt: argument %d is missing", arg);
    if (c.letter != 's') {
        add_number(L, b, &c, arg);
        return;
    }
    if (lua_type(L, arg) == LUA_TSTRING) {
        size_t n;
        const char *s = lua_tolstring(L, arg, &n);

        add_text(L, b, &c, s, n);
    } else if (lua_isinteger(L, arg)) {
        int n = snprintf(copy, sizeof copy, "%lld", (long long)lua_tointeger(L, arg));

        add_text(L, b, &c, copy, (size_t)n);
    } else if (lua_type(L, arg) == LUA_TNUMBER) {
        char text[EBB__NUMBER_MAX];

        ebb__number_format(lua_tonumber(L, arg), text);
        add_text(L, b, &c, text, strlen(text));
    } else {
        const char *s = lua_isboolean(L, arg) ? (lua_toboolean(L, arg) ? "true" : "false") : ebb__type_name(L, arg);

        add_text(L, b, &c, s, strlen(s));
    }
}

static int l_fmt(lua_State *L)
{
    size_t n;
    const char *p = luaL_checklstring(L, 1, &n);
    const char *end = p + n;
    int args = lua_gettop(L), arg = 1;
    luaL_Buffer b;

    EBB_MAY_LJMP(ebb__charge(L, n / 8 + 1));
    luaL_buffinit(L, &b);
    while (p < end) {
        if (luaL_bufflen(&b) > EBB__TEXT_MAX)
            return luaL_error(L, "fmt: the result would be longer than %d bytes", (int)EBB__TEXT_MAX);
        if (*p != '%')
            luaL_addchar(&b, *p++);
        else if (p[1] == '%') {
            luaL_addchar(&b, '%');
            p += 2;
        } else {
            p++;
            if (++arg > args)
                return luaL_error(L, "fmt: argument %d is missing", arg);
            add_conversion(L, &b, &p, arg);
        }
    }
    luaL_pushresult(&b);
    return 1;
}

/* NaN and what does not fit count as 0 and the nearest that fits. */
static int64_t whole_bytes(double n)
{
    if (n >= 9.2e18)
        return INT64_MAX;
    if (n <= -9.2e18)
        return -INT64_MAX;
    return n == n ? (int64_t)n : 0;
}

/* bytes_h(n): "1.5 GiB"; "unknown" for nil. */
static int l_bytes_h(lua_State *L)
{
    char text[64];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};
    int64_t n;

    if (lua_isnoneornil(L, 1)) {
        lua_pushliteral(L, "unknown");
        return 1;
    }
    luaL_checknumber(L, 1);
    n = lua_isinteger(L, 1) ? lua_tointeger(L, 1) : whole_bytes(lua_tonumber(L, 1));
    if (n < 0)
        ebb_buf_putc(&b, '-');
    ebb_text_size(&b, n < 0 ? 0u - (uint64_t)n : (uint64_t)n);
    lua_pushlstring(L, text, b.len);
    return 1;
}

/* iso(instant): "2026-06-01T00:00:00Z"; "unknown" for nil. */
static int l_iso(lua_State *L)
{
    char text[64];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    if (lua_isnoneornil(L, 1)) {
        lua_pushliteral(L, "unknown");
        return 1;
    }
    ebb_time_iso(&b, EBB_MAY_LJMP(ebb__check_int(L, 1, "iso")));
    lua_pushlstring(L, text, b.len);
    return 1;
}

/* hash(key, n): a fixed number in 0..n-1 for a text or whole number. */
static int l_hash(lua_State *L)
{
    int64_t n = ebb__check_int(L, 2, "hash");
    size_t len;
    const char *s;
    XXH64_hash_t h;

    luaL_argcheck(L, n >= 1, 2, "must be 1 or more");
    if (lua_type(L, 1) != LUA_TSTRING)
        EBB_MAY_LJMP(ebb__check_int(L, 1, "hash"));
    lua_pushvalue(L, 1);
    s = lua_tolstring(L, -1, &len);
    EBB_MAY_LJMP(ebb__charge(L, len / 16 + 1));
    h = XXH64(s, len, 0);
    lua_pushinteger(L, (lua_Integer)(h % (uint64_t)n));
    return 1;
}

/* glob(pattern, s): '*' any run, '?' one byte. */
static int l_glob(lua_State *L)
{
    struct ebb_str pattern, s;

    pattern.p = luaL_checklstring(L, 1, &pattern.n);
    s.p = luaL_checklstring(L, 2, &s.n);
    luaL_argcheck(L, pattern.n <= GLOB_MAX, 1, "longer than 256 bytes");
    EBB_MAY_LJMP(ebb__charge(L, (pattern.n + 1) * (s.n / 8 + 1)));
    lua_pushboolean(L, ebb_glob_is_match(pattern, s));
    return 1;
}

static const luaL_Reg FUNCTIONS[] = {
    {"fmt", l_fmt}, {"bytes_h", l_bytes_h}, {"iso", l_iso}, {"hash", l_hash}, {"glob", l_glob}, {NULL, NULL},
};

EBB_LJMP void ebb__bind_text(lua_State *L)
{
    ebb__set_functions(L, FUNCTIONS);
}
