/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/places_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/tokens_priv.h"

#define DEPTH_MAX 16
#define PATH_MAX_BYTES 256
#define PLACES_MAX 4096

/* One open table: its path, the key that waits for its value, the index of the next positional item. */
struct frame {
    char path[PATH_MAX_BYTES];
    char key[64];
    int index;
    int parens;     /* open in the item that is being read */
    bool has_begun; /* the item that is being read */
    bool is_ours;
};

struct walk {
    const struct ebb__tokens *tokens;
    size_t at;
    struct ebb__places *places;
    struct frame frames[DEPTH_MAX];
    int depth;
    int blocks; /* open function bodies and blocks: nothing in them counts */
    bool after_policy;
};

static void remember(struct walk *w, const char *path, const struct ebb__token *token)
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
        places->items[places->count++] =
            (struct ebb__place){copy, token->line, ebb__column_of(w->tokens->source, token->offset)};
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

static void open_table(struct walk *w, const struct ebb__token *token)
{
    struct frame *top = w->depth ? &w->frames[w->depth - 1] : NULL;
    struct frame *f = &w->frames[w->depth < DEPTH_MAX ? w->depth : DEPTH_MAX - 1];
    char path[PATH_MAX_BYTES] = "";

    if (w->depth >= DEPTH_MAX) {
        w->depth++;
        return;
    }
    if (top)
        value_path(top, path);
    *f = (struct frame){.index = 1, .is_ours = top ? top->is_ours : w->after_policy};
    memcpy(f->path, path, sizeof path);
    if (f->is_ours)
        remember(w, path, token);
    w->depth++;
}

/* A name or ["name"] followed by '=' at the begin of an item is a key. Gives how many tokens it has, 0 none. */
static size_t key_at(const struct walk *w, struct ebb_str *name)
{
    const struct ebb__token *t = ebb__token_at(w->tokens, w->at);

    *name = t->text;
    if (t->kind == EBB__TOKEN_NAME)
        return ebb__token_is(ebb__token_at(w->tokens, w->at + 1), "=") ? 1 : 0;
    if (!ebb__token_is(t, "["))
        return 0;
    t = ebb__token_at(w->tokens, w->at + 1);
    *name = t->text;
    if (t->kind != EBB__TOKEN_TEXT || !ebb__token_is(ebb__token_at(w->tokens, w->at + 2), "]"))
        return 0;
    return ebb__token_is(ebb__token_at(w->tokens, w->at + 3), "=") ? 3 : 0;
}

static void begin_item(struct walk *w, const struct ebb__token *token)
{
    struct frame *f = &w->frames[w->depth - 1];
    char path[PATH_MAX_BYTES];
    struct ebb_str name;
    size_t n = key_at(w, &name);

    f->has_begun = true;
    f->parens = 0;
    if (n && name.n < sizeof f->key) {
        memcpy(f->key, name.p, name.n);
        f->key[name.n] = '\0';
        w->at += n;
    }
    value_path(f, path);
    if (f->is_ours)
        remember(w, path, token);
}

static void in_table(struct walk *w, const struct ebb__token *token)
{
    struct frame *f = &w->frames[w->depth - 1];

    if (ebb__token_is(token, "("))
        f->parens++;
    else if (ebb__token_is(token, ")"))
        f->parens -= f->parens > 0;
    else if (!f->parens && (ebb__token_is(token, ",") || ebb__token_is(token, ";"))) {
        f->index += f->key[0] == '\0';
        f->key[0] = '\0';
        f->has_begun = false;
    }
}

static bool is_opening(const struct ebb__token *t)
{
    return ebb__token_is(t, "function") || ebb__token_is(t, "if") || ebb__token_is(t, "do") ||
           ebb__token_is(t, "repeat");
}

static void step(struct walk *w)
{
    const struct ebb__token *t = ebb__token_at(w->tokens, w->at);
    bool inside = w->depth > 0 && w->depth <= DEPTH_MAX;
    size_t before = w->at;

    if (!w->blocks && inside && !w->frames[w->depth - 1].has_begun && !ebb__token_is(t, "}")) {
        begin_item(w, t);
        if (w->at > before)
            return;
    }
    if (is_opening(t))
        w->blocks++;
    else if (ebb__token_is(t, "end") || ebb__token_is(t, "until"))
        w->blocks -= w->blocks > 0;
    else if (w->blocks)
        return;
    else if (ebb__token_is(t, "{"))
        open_table(w, t);
    else if (ebb__token_is(t, "}"))
        w->depth -= w->depth > 0;
    else if (inside)
        in_table(w, t);
    if (w->depth == 0 && !ebb__token_is(t, "("))
        w->after_policy = ebb__token_is(t, "policy");
    if (w->depth == 0 && w->after_policy)
        remember(w, "", t);
}

void ebb__places_init(struct ebb__places *places, struct ebb_str source)
{
    struct ebb__tokens tokens;
    struct walk w = {.places = places, .tokens = &tokens};

    memset(places, 0, sizeof *places);
    ebb_arena_init(&places->arena, (size_t)1024 * 1024);
    if (ebb__tokens_init(&tokens, source, NULL))
        return;
    for (; w.at < tokens.count; w.at++)
        step(&w);
    ebb__tokens_fini(&tokens);
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
