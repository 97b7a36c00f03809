/* SPDX-License-Identifier: Apache-2.0
 *
 * Where in a chunk something is: the token a message is about, the facts a path means.
 */
#include <ctype.h>
#include <lauxlib.h>
#include <stdio.h>

#include "engine/console_priv.h"

#define OCCURRENCES_MAX 40
#define TOKEN_MAX 200

bool ebb__console_is_cut(const char *message)
{
    static const char END[] = "<eof>";
    size_t n = strlen(message);

    return n >= sizeof END - 1 && !strcmp(message + n - (sizeof END - 1), END) && !strstr(message, "unfinished string");
}

/* The token in "… near 'token'" or an empty one. */
static struct ebb_str token_of(const char *message)
{
    struct ebb_str token = {"", 0};
    const char *near = NULL;
    size_t n;

    for (const char *p = strstr(message, " near '"); p; p = strstr(p + 1, " near '"))
        near = p + strlen(" near '");
    if (!near)
        return token;
    n = strlen(near);
    if (n > 1 && near[n - 1] == '\'' && n <= TOKEN_MAX)
        token = (struct ebb_str){near, n - 1};
    return token;
}

static struct ebb_str find_line(struct ebb_str source, int line)
{
    while (line > 1 && source.n) {
        const char *end = memchr(source.p, '\n', source.n);
        size_t n = end ? (size_t)(end - source.p) + 1 : source.n;

        source.p += n;
        source.n -= n;
        line--;
    }
    return source;
}

/* Whether the compiler gives up within this beginning of the chunk, not for its end. */
static bool fails_within(lua_State *L, const char *source, size_t n)
{
    bool fails = luaL_loadbufferx(L, source, n, "=policy", "t") != LUA_OK && lua_type(L, -1) == LUA_TSTRING &&
                 !ebb__console_is_cut(lua_tostring(L, -1));

    lua_pop(L, 1);
    return fails;
}

EBB_LJMP int ebb__console_column(lua_State *L, struct ebb_str source, int line, const char *message)
{
    struct ebb_str token = token_of(message), rest = find_line(source, line);
    const char *start = rest.p, *p = start;
    int left = OCCURRENCES_MAX;

    while (token.n && left-- > 0) {
        size_t n = rest.n - (size_t)(p - start);
        const char *end = memchr(p, '\n', n);

        p = memmem(p, end ? (size_t)(end - p) : n, token.p, token.n);
        if (!p)
            return 0;
        EBB_MAY_LJMP(ebb__charge(L, (size_t)(p - source.p) / 8 + 10));
        if (fails_within(L, source.p, (size_t)(p - source.p) + token.n))
            return (int)(p - start) + 1;
        p++;
    }
    return 0;
}

static size_t skip_blank(struct ebb_str s, size_t i)
{
    while (i < s.n && isspace((unsigned char)s.p[i]))
        i++;
    return i;
}

static bool begins_with(struct ebb_str s, const char *word)
{
    return ebb_str_has_prefix(s, ebb_str_of(word));
}

static size_t path_length(struct ebb_str s)
{
    size_t n = 0;

    if (!begins_with(s, "t.") && !begins_with(s, "ctx."))
        return 0;
    while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_' || s.p[n] == '.'))
        n++;
    return s.p[n - 1] == '.' ? 0 : n;
}

size_t ebb__console_path(struct ebb_str source)
{
    size_t n = path_length(source), i = skip_blank(source, n);

    return n && (i == source.n || strchr("{(['\"", source.p[i])) ? n : 0;
}

static const char *const REASONS[][2] = {
    {"t.stats.longest_write", "no writer has reported a duration"},
    {"t.stats.orphans", "no listing of this table is known"},
    {"t.stats.custom", "no such statistic was put"},
    {"t.stats.", "the manifests were not read"},
    {"t.partitions", "the manifests were not read"},
    {"t.current_snapshot", "the table has no snapshot"},
    {"t.location_overlaps", "no catalog tells where other tables lie"},
    {"t.properties", "the table has no such property"},
    {"ctx.runs.last", "there is no such run yet"},
    {"ctx.runs.", "there was no such run"},
    {"ctx.events.", "no source of events is known"},
    {"", "the facts of this table do not have it"},
};

void ebb__console_unknown(struct ebb_buf *out, struct ebb_str path)
{
    size_t i = 0;

    while (!ebb_str_has_prefix(path, ebb_str_of(REASONS[i][0])))
        i++;
    ebb_buf_printf(out, "   -- unknown: %s. A check on it is 'unknown', never true.", REASONS[i][1]);
}

/* `t.stats.bytes = 0`: what to do instead. */
static bool explain_write(struct ebb_str source, struct ebb_err *err)
{
    size_t n = path_length(source), i = skip_blank(source, n), end = source.n;
    struct ebb_str value;

    if (!n || i + 1 >= source.n || source.p[i] != '=' || source.p[i + 1] == '=')
        return false;
    i = skip_blank(source, i + 1);
    while (end > i && isspace((unsigned char)source.p[end - 1]))
        end--;
    value = (struct ebb_str){source.p + i, end - i > 60 ? 60 : end - i};
    if (begins_with(source, "t."))
        ebb_err_set(err, EBB_EPOLICY_ERROR, "t is read-only.  To try another value in this session: :set %.*s %.*s",
                    (int)(n - 2), source.p + 2, (int)value.n, value.p);
    else if (begins_with(source, "ctx.params."))
        ebb_err_set(err, EBB_EPOLICY_ERROR, "ctx is read-only.  To try another value in this session: :param %.*s %.*s",
                    (int)(n - 11), source.p + 11, (int)value.n, value.p);
    else
        ebb_err_set(err, EBB_EPOLICY_ERROR,
                    "ctx is read-only.  To change the session: :at INSTANT, :event TYPE, :param NAME VALUE");
    return true;
}

void ebb__console_explain(struct ebb_str source, struct ebb_err *err)
{
    static const char PLACE[] = "input:1: ";
    const char *first = source.n ? memchr(source.p, '\n', source.n) : NULL;

    if (!err || explain_write(source, err) || first || strncmp(err->message, PLACE, sizeof PLACE - 1))
        return;
    memmove(err->message, err->message + sizeof PLACE - 1, strlen(err->message) - (sizeof PLACE - 1) + 1);
}
