/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/places_priv.h"

#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 16
#define PATH_MAX_BYTES 256
#define PLACES_MAX 2000

enum token { T_END, T_NAME, T_TEXT, T_OTHER };

struct scanner {
    const char *p, *end;
    const char *line_start;
    int line;
    /* the token */
    enum token token;
    struct ebb_str text;
    int at_line, at_column;
};

/* One open table: its path, the key that waits for its value, the index of the next positional item. */
struct frame {
    char path[PATH_MAX_BYTES];
    char key[64];
    int index;
    bool is_ours;
};

struct walk {
    struct scanner s;
    struct ebb__places *places;
    struct frame frames[DEPTH_MAX];
    int depth;
    int blocks; /* open function bodies and blocks: nothing in them counts */
    bool after_policy;
};

static void newline(struct scanner *s)
{
    s->line++;
    s->line_start = s->p;
}

/* Level of a long bracket at p ("[[", "[=["…), or -1. */
static int long_level(const char *p, const char *end)
{
    int level = 0;

    for (p++; p < end && *p == '='; p++)
        level++;
    return p < end && *p == '[' ? level : -1;
}

static void skip_long(struct scanner *s, int level)
{
    s->p += level + 2;
    while (s->p < s->end) {
        char c = *s->p++;
        int closed = 0;

        if (c == '\n')
            newline(s);
        if (c != ']')
            continue;
        while (s->p + closed < s->end && s->p[closed] == '=')
            closed++;
        if (closed == level && s->p + closed < s->end && s->p[closed] == ']') {
            s->p += closed + 1;
            return;
        }
    }
}

static void skip_blank(struct scanner *s)
{
    while (s->p < s->end) {
        if (*s->p == '\n') {
            s->p++;
            newline(s);
        } else if (*s->p == ' ' || *s->p == '\t' || *s->p == '\r') {
            s->p++;
        } else if (s->p + 1 < s->end && s->p[0] == '-' && s->p[1] == '-') {
            s->p += 2;
            if (s->p < s->end && *s->p == '[' && long_level(s->p, s->end) >= 0)
                skip_long(s, long_level(s->p, s->end));
            else
                while (s->p < s->end && *s->p != '\n')
                    s->p++;
        } else
            return;
    }
}

static void read_quoted(struct scanner *s)
{
    char quote = *s->p++;

    s->text.p = s->p;
    while (s->p < s->end && *s->p != quote && *s->p != '\n')
        s->p += *s->p == '\\' && s->p + 1 < s->end && s->p[1] != '\n' ? 2 : 1;
    if (s->p > s->end)
        s->p = s->end;
    s->text.n = (size_t)(s->p - s->text.p);
    if (s->p < s->end && *s->p == quote)
        s->p++;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void next_token(struct scanner *s)
{
    skip_blank(s);
    s->at_line = s->line;
    s->at_column = (int)(s->p - s->line_start) + 1;
    s->text = (struct ebb_str){s->p, 1};
    if (s->p >= s->end) {
        s->token = T_END;
    } else if (is_word(*s->p)) {
        s->token = T_NAME;
        while (s->p < s->end && is_word(*s->p))
            s->p++;
        s->text.n = (size_t)(s->p - s->text.p);
    } else if (*s->p == '"' || *s->p == '\'') {
        s->token = T_TEXT;
        read_quoted(s);
    } else if (*s->p == '[' && long_level(s->p, s->end) >= 0) {
        s->token = T_TEXT;
        skip_long(s, long_level(s->p, s->end));
    } else {
        s->token = T_OTHER;
        s->p++;
    }
}

static bool is_text(const struct scanner *s, const char *text)
{
    return s->token != T_TEXT && s->token != T_END && ebb_str_is_equal(s->text, ebb_str_of(text));
}

static void remember(struct walk *w, const char *path, int line, int column)
{
    struct ebb__places *places = w->places;
    char *copy;

    if (places->count == places->cap) {
        size_t cap = places->cap ? places->cap * 2 : 64;
        struct ebb__place *items = cap <= PLACES_MAX ? realloc(places->items, cap * sizeof *items) : NULL;

        if (!items)
            return;
        places->items = items;
        places->cap = cap;
    }
    copy = ebb_arena_dup(&places->arena, path, strlen(path));
    if (copy)
        places->items[places->count++] = (struct ebb__place){copy, line, column};
}

/* Path of the value that begins now in the innermost table. */
static void value_path(const struct frame *f, char out[PATH_MAX_BYTES])
{
    const char *dot = f->path[0] ? "." : "";
    int n;

    if (f->key[0])
        n = snprintf(out, PATH_MAX_BYTES, "%s%s%s", f->path, dot, f->key);
    else
        n = snprintf(out, PATH_MAX_BYTES, "%s[%d]", f->path, f->index);
    if (n >= PATH_MAX_BYTES)
        out[0] = '\0';
}

static void open_table(struct walk *w)
{
    struct frame *top = w->depth ? &w->frames[w->depth - 1] : NULL;
    struct frame *f = &w->frames[w->depth < DEPTH_MAX ? w->depth : DEPTH_MAX - 1];
    char path[PATH_MAX_BYTES] = "";

    if (top)
        value_path(top, path);
    if (w->depth >= DEPTH_MAX) {
        w->depth++;
        return;
    }
    memcpy(f->path, path, sizeof path);
    f->key[0] = '\0';
    f->index = 1;
    f->is_ours = top ? top->is_ours : w->after_policy;
    if (f->is_ours)
        remember(w, path, w->s.at_line, w->s.at_column);
    w->depth++;
}

/* A name or ["name"] followed by '=' in a table is a key. */
static void maybe_key(struct walk *w, struct ebb_str name, int line, int column)
{
    struct frame *f = &w->frames[w->depth - 1];
    struct scanner ahead = w->s;
    char path[PATH_MAX_BYTES];

    next_token(&ahead);
    if (!is_text(&ahead, "=") || (ahead.p < ahead.end && *ahead.p == '=') || f->key[0] || name.n >= sizeof f->key)
        return;
    memcpy(f->key, name.p, name.n);
    f->key[name.n] = '\0';
    value_path(f, path);
    if (f->is_ours)
        remember(w, path, line, column);
}

static void in_table(struct walk *w)
{
    struct frame *f = &w->frames[w->depth - 1];
    struct scanner *s = &w->s;

    if (s->token == T_NAME) {
        maybe_key(w, s->text, s->at_line, s->at_column);
    } else if (is_text(s, "[")) {
        int line = s->at_line, column = s->at_column;
        struct ebb_str name;

        next_token(s);
        name = s->text;
        if (s->token != T_TEXT)
            return;
        next_token(s);
        if (is_text(s, "]"))
            maybe_key(w, name, line, column);
    } else if (is_text(s, ",") || is_text(s, ";")) {
        f->index += f->key[0] == '\0';
        f->key[0] = '\0';
    }
}

static bool is_opening(const struct scanner *s)
{
    return is_text(s, "function") || is_text(s, "if") || is_text(s, "do") || is_text(s, "repeat");
}

static void step(struct walk *w)
{
    struct scanner *s = &w->s;

    if (s->token == T_NAME && is_opening(s))
        w->blocks++;
    else if (s->token == T_NAME && (is_text(s, "end") || is_text(s, "until")))
        w->blocks -= w->blocks > 0;
    else if (w->blocks)
        return;
    else if (is_text(s, "{"))
        open_table(w);
    else if (is_text(s, "}"))
        w->depth -= w->depth > 0;
    else if (w->depth > 0 && w->depth <= DEPTH_MAX)
        in_table(w);
    if (w->depth == 0 && !is_text(s, "("))
        w->after_policy = is_text(s, "policy");
}

void ebb__places_init(struct ebb__places *places, struct ebb_str source)
{
    struct walk w = {.places = places};

    memset(places, 0, sizeof *places);
    ebb_arena_init(&places->arena, (size_t)1024 * 1024);
    w.s = (struct scanner){.p = source.p, .end = source.p + source.n, .line_start = source.p, .line = 1};
    for (next_token(&w.s); w.s.token != T_END; next_token(&w.s))
        step(&w);
}

void ebb__places_fini(struct ebb__places *places)
{
    ebb_arena_fini(&places->arena);
    free(places->items);
    memset(places, 0, sizeof *places);
}

void ebb__places_find(const struct ebb__places *places, const char *path, int *line, int *column)
{
    size_t best = 0;
    bool found = false;

    *line = *column = 0;
    for (size_t i = 0; i < places->count; i++) {
        const struct ebb__place *item = &places->items[i];
        size_t n = strlen(item->path);
        bool fits = !strncmp(path, item->path, n) && (!path[n] || path[n] == '.' || path[n] == '[' || n == 0);

        if (!fits || (found && n <= best))
            continue;
        found = true;
        best = n;
        *line = item->line;
        *column = item->column;
    }
}
