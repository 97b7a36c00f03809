/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/tokens_priv.h"

#include <stdlib.h>

struct scanner {
    const char *start, *p, *end;
    int line;
};

static const struct ebb__token END_TOKEN = {EBB__TOKEN_END, {"", 0}, 0, 0};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

static char peek(const struct scanner *s, size_t ahead)
{
    return ahead < (size_t)(s->end - s->p) ? s->p[ahead] : '\0';
}

static void advance(struct scanner *s)
{
    if (*s->p++ == '\n')
        s->line++;
}

/* Level of a long bracket at p ("[[", "[=["…), or -1. */
static int long_level(const struct scanner *s)
{
    size_t level = 0;

    if (peek(s, 0) != '[')
        return -1;
    while (peek(s, level + 1) == '=')
        level++;
    return peek(s, level + 1) == '[' ? (int)level : -1;
}

/* Skip a long bracket; gives what stands in it. */
static struct ebb_str skip_long(struct scanner *s, size_t level)
{
    struct ebb_str inside;

    s->p += level + 2;
    inside.p = s->p;
    while (s->p < s->end) {
        size_t closed = 1;

        if (*s->p == ']') {
            while (closed <= level && peek(s, closed) == '=')
                closed++;
            if (closed == level + 1 && peek(s, closed) == ']') {
                inside.n = (size_t)(s->p - inside.p);
                s->p += closed + 1;
                return inside;
            }
        }
        advance(s);
    }
    inside.n = (size_t)(s->p - inside.p);
    return inside;
}

static void skip_comment(struct scanner *s)
{
    int level;

    s->p += 2;
    level = long_level(s);
    if (level >= 0)
        skip_long(s, (size_t)level);
    else
        while (s->p < s->end && *s->p != '\n')
            s->p++;
}

static void skip_blank(struct scanner *s)
{
    while (s->p < s->end) {
        if (*s->p == '\n' || *s->p == ' ' || (*s->p >= '\t' && *s->p <= '\r'))
            advance(s);
        else if (peek(s, 0) == '-' && peek(s, 1) == '-')
            skip_comment(s);
        else
            return;
    }
}

static struct ebb_str read_quoted(struct scanner *s)
{
    char quote = *s->p++;
    struct ebb_str inside = {s->p, 0};

    while (s->p < s->end && *s->p != quote && *s->p != '\n') {
        bool skips = *s->p == '\\' && s->p + 1 < s->end;

        advance(s);
        if (skips)
            advance(s);
    }
    inside.n = (size_t)(s->p - inside.p);
    if (s->p < s->end && *s->p == quote)
        s->p++;
    return inside;
}

static void read_number(struct scanner *s)
{
    while (s->p < s->end && (is_word(*s->p) || *s->p == '.')) {
        char c = *s->p++;

        if ((c == 'e' || c == 'E' || c == 'p' || c == 'P') && (peek(s, 0) == '+' || peek(s, 0) == '-'))
            s->p++;
    }
}

static void read_sign(struct scanner *s)
{
    static const char *const SIGNS[] = {"...", "..", "==", "~=", "<=", ">=", "//", "::", "<<", ">>"};

    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        size_t n = strlen(SIGNS[i]);

        if ((size_t)(s->end - s->p) >= n && !memcmp(s->p, SIGNS[i], n)) {
            s->p += n;
            return;
        }
    }
    s->p++;
}

static bool is_reserved(struct ebb_str name)
{
    static const char *const WORDS[] = {"and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                        "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                        "repeat",   "return", "then", "true", "until",  "while"};

    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (ebb_str_is_equal(name, ebb_str_of(WORDS[i])))
            return true;
    return false;
}

static void read_plain(struct scanner *s, struct ebb__token *t)
{
    if (is_digit(*s->p) || (*s->p == '.' && is_digit(peek(s, 1)))) {
        t->kind = EBB__TOKEN_NUMBER;
        read_number(s);
    } else if (is_word(*s->p)) {
        while (s->p < s->end && is_word(*s->p))
            s->p++;
        t->kind = EBB__TOKEN_NAME;
    } else {
        t->kind = EBB__TOKEN_SIGN;
        read_sign(s);
    }
    t->text = (struct ebb_str){s->start + t->offset, (size_t)(s->p - s->start) - t->offset};
    if (t->kind == EBB__TOKEN_NAME && is_reserved(t->text))
        t->kind = EBB__TOKEN_WORD;
}

/* False at the end. */
static bool next_token(struct scanner *s, struct ebb__token *t)
{
    int level;

    skip_blank(s);
    *t = (struct ebb__token){EBB__TOKEN_END, {s->p, 0}, (size_t)(s->p - s->start), s->line};
    if (s->p >= s->end)
        return false;
    level = long_level(s);
    if (level < 0 && *s->p != '"' && *s->p != '\'') {
        read_plain(s, t);
        return true;
    }
    t->kind = EBB__TOKEN_TEXT;
    t->text = level >= 0 ? skip_long(s, (size_t)level) : read_quoted(s);
    return true;
}

int ebb__tokens_init(struct ebb__tokens *tokens, struct ebb_str source, struct ebb_err *err)
{
    struct scanner s = {source.p, source.p, source.p + source.n, 1};
    size_t cap = 0;
    bool more = true;

    *tokens = (struct ebb__tokens){.source = source};
    while (more) {
        if (tokens->count == cap) {
            struct ebb__token *items;

            cap = cap ? cap * 2 : 512;
            items = realloc(tokens->items, cap * sizeof *items);
            if (!items) {
                ebb__tokens_fini(tokens);
                return ebb_err_nomem(err);
            }
            tokens->items = items;
        }
        more = next_token(&s, &tokens->items[tokens->count]);
        tokens->count += more;
    }
    return 0;
}

void ebb__tokens_fini(struct ebb__tokens *tokens)
{
    free(tokens->items);
    *tokens = (struct ebb__tokens){.source = {"", 0}};
}

const struct ebb__token *ebb__token_at(const struct ebb__tokens *tokens, size_t index)
{
    if (!tokens->items)
        return &END_TOKEN;
    return &tokens->items[index < tokens->count ? index : tokens->count];
}

bool ebb__token_is(const struct ebb__token *token, const char *text)
{
    return token->kind != EBB__TOKEN_TEXT && token->kind != EBB__TOKEN_END &&
           ebb_str_is_equal(token->text, ebb_str_of(text));
}

int ebb__column_of(struct ebb_str source, size_t offset)
{
    size_t at = offset < source.n ? offset : source.n;
    int column = 1;

    while (at > 0 && source.p[at - 1] != '\n') {
        at--;
        column += ((unsigned char)source.p[at] & 0xC0) != 0x80;
    }
    return column;
}

struct ebb_str ebb__line_of(struct ebb_str source, int line)
{
    const char *p = source.p, *end = source.p + source.n, *stop;

    for (int i = 1; i < line && p < end; i++) {
        const char *next = memchr(p, '\n', (size_t)(end - p));

        p = next ? next + 1 : end;
    }
    stop = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    if (!stop)
        stop = end;
    if (stop > p && stop[-1] == '\r')
        stop--;
    return (struct ebb_str){p, (size_t)(stop - p)};
}
