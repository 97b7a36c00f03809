/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/syntax.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "engine/policy.h"
#include "engine/tokens_priv.h"

#define MEMORY_MAX ((size_t)16 * 1024 * 1024)
#define CARET_BEFORE 60 /* of a long line this much is shown before the place, */
#define CARET_WIDTH 120 /* and this much in all */

/* The source byte by byte: how far the compiler came tells where it stopped. */
struct feed {
    struct ebb_str source;
    size_t at;
    size_t used; /* memory */
};

static void *allocate(void *data, void *block, size_t old, size_t wanted)
{
    struct feed *feed = data;
    void *p = NULL;

    if (!block)
        old = 0; /* Lua passes the kind of the object here */
    if (wanted && (wanted <= old || wanted - old <= MEMORY_MAX - feed->used))
        p = realloc(block, wanted);
    else if (!wanted)
        free(block);
    if (wanted && !p)
        return wanted <= old ? block : NULL;
    feed->used = feed->used - old + wanted;
    return p;
}

static const char *next_byte(lua_State *L, void *data, size_t *n)
{
    struct feed *feed = data;

    (void)L;
    *n = feed->at < feed->source.n;
    return *n ? feed->source.p + feed->at++ : NULL;
}

/* The compiler has read the token that does not fit and one byte behind it. */
static void find_place(const struct feed *feed, struct ebb_syntax *out)
{
    struct ebb__tokens tokens;
    const struct ebb__token *best = NULL;
    size_t last = feed->at >= 2 ? feed->at - 2 : 0;
    bool at_end = strstr(out->message, "near <eof>") || strstr(out->message, "near '<eof>'");

    if (ebb__tokens_init(&tokens, feed->source, NULL))
        return;
    for (size_t i = 0; i < tokens.count && !at_end; i++)
        if (tokens.items[i].offset <= last)
            best = &tokens.items[i];
    if (at_end)
        best = &tokens.items[tokens.count];
    if (best) {
        out->line = best->line;
        out->column = ebb__column_of(feed->source, best->offset);
    }
    ebb__tokens_fini(&tokens);
}

/* "policy:12: text" */
static void take_message(const char *text, struct ebb_syntax *out)
{
    char *end;
    long n = strncmp(text, "policy:", 7) ? 0 : strtol(text + 7, &end, 10);

    if (n > 0 && *end == ':') {
        out->line = (int)n;
        text = end + 1 + (end[1] == ' ');
    }
    snprintf(out->message, sizeof out->message, "%s", text);
}

bool ebb_syntax_check(struct ebb_str source, struct ebb_syntax *out)
{
    struct feed feed = {source, 0, 0};
    lua_State *L = lua_newstate(allocate, &feed);
    int status;

    *out = (struct ebb_syntax){0, 0, "memory ran out"};
    if (!L || source.n > EBB_POLICY_SOURCE_MAX_BYTES) {
        if (L)
            lua_close(L);
        return false;
    }
    status = lua_load(L, next_byte, &feed, "=policy", "t");
    if (status == LUA_ERRSYNTAX && lua_type(L, -1) == LUA_TSTRING) {
        take_message(lua_tostring(L, -1), out);
        find_place(&feed, out);
    }
    lua_close(L);
    return status == LUA_OK;
}

static bool is_start(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

static bool is_blank(struct ebb_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != ' ' && text.p[i] != '\t' && text.p[i] != '\r')
            return false;
    return true;
}

/* Append one character, n bytes; what a terminal could take for a command becomes '?'. */
static void put_char(struct ebb_buf *out, const char *p, size_t n)
{
    unsigned char c = (unsigned char)p[0];
    bool is_control = (c < 0x20 && c != '\t') || c == 0x7F || (c == 0xC2 && n > 1 && (unsigned char)p[1] < 0xA0);

    if (is_control || !ebb_text_is_utf8(p, n))
        ebb_buf_putc(out, '?');
    else
        ebb_buf_add_str(out, (struct ebb_str){p, n});
}

void ebb_caret_print(struct ebb_buf *out, struct ebb_str source, int line, int column)
{
    struct ebb_str text = line > 0 ? ebb__line_of(source, line) : (struct ebb_str){"", 0};
    int first = column > CARET_BEFORE + 20 ? column - CARET_BEFORE : 1, at = 0;
    char under[CARET_BEFORE + 24];
    size_t used = 0;

    if (column < 1 || is_blank(text))
        return;
    ebb_buf_puts(out, "  ");
    for (size_t i = 0, n; i < text.n && at < first + CARET_WIDTH; i += n) {
        for (n = 1; i + n < text.n && !is_start(text.p[i + n]);)
            n++;
        at++;
        if (at < first)
            continue;
        put_char(out, text.p + i, n);
        if (at < column && used < sizeof under - 1)
            under[used++] = text.p[i] == '\t' ? '\t' : ' ';
    }
    for (; at + 1 < column && used < sizeof under - 1; at++)
        under[used++] = ' ';
    under[used] = '\0';
    ebb_buf_printf(out, "\n  %s^\n", under);
}
