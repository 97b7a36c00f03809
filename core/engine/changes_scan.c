/* SPDX-License-Identifier: Apache-2.0
 *
 * Which places of a source read what moves, and which of these are plain operands of a check.
 *
 * A read is reported with a line: that of its last token, or of the token after it, where the compiler was when it
 * wrote the instruction. So a line counts as clear only when all places that could be reported there are.
 */
#include <stdlib.h>

#include "engine/changes_scan_priv.h"

/* The token after it may be where the compiler was. */
static void note_line(struct ebb__scan *s, size_t at, unsigned bit)
{
    size_t lines[2] = {(size_t)ebb__scan_token(s, at)->line, (size_t)ebb__scan_token(s, at + 1)->line};

    for (size_t i = 0; i < 2; i++)
        if (lines[i] < s->out->line_count)
            s->out->lines[lines[i]] |= (uint8_t)bit;
}

static bool is_same(const struct ebb__mover *a, const struct ebb__mover *b)
{
    return !memcmp(a->reads, b->reads, sizeof a->reads) && !memcmp(a->slope, b->slope, sizeof a->slope);
}

static int add(struct ebb__movers *out, const struct ebb__mover *mover, struct ebb_err *err)
{
    size_t cap = out->cap ? out->cap * 2 : 16;

    for (size_t i = 0; i < out->count; i++)
        if (ebb_str_is_equal(out->items[i].name, mover->name)) {
            out->items[i].is_clear = out->items[i].is_clear && is_same(&out->items[i], mover);
            return 0;
        }
    if (out->count == out->cap) {
        struct ebb__mover *items = realloc(out->items, cap * sizeof *items);

        if (!items)
            return ebb_err_nomem(err);
        out->items = items;
        out->cap = cap;
    }
    out->items[out->count] = *mover;
    out->items[out->count++].is_clear = true;
    return 0;
}

/* A call of check or check_each at `at`: its reads are clear or dim. *end: past it. */
static int scan_check(struct ebb__scan *s, size_t at, size_t *end, struct ebb_err *err)
{
    size_t open = at + 1, close = ebb__scan_closing(s, open);
    bool is_good;

    *end = close < s->t->count ? close : open;
    if (close >= s->t->count || !ebb__scan_has_reads(s, open, close))
        return 0;
    memset(&s->mover, 0, sizeof s->mover);
    s->mover.name = ebb__scan_token(s, open + 1)->text;
    is_good = ebb__scan_arguments(s, open, close, ebb__scan_is(s, at, "check") ? 1 : 2);
    for (size_t i = open; i < close; i++)
        if (ebb__scan_is_read(s, i))
            note_line(s, i, is_good ? EBB__LINE_CLEAR : EBB__LINE_DIM);
    return is_good ? add(s->out, &s->mover, err) : 0;
}

/* An index that is computed may name anything. */
static bool is_fixed_index(const struct ebb__scan *s, size_t at)
{
    const struct ebb__token *t = ebb__scan_token(s, at - 1);

    if (at < 2 || !ebb__scan_is(s, at - 2, "["))
        return false;
    if (t->kind == EBB__TOKEN_NUMBER)
        return true;
    return t->kind == EBB__TOKEN_TEXT && !memchr(t->text.p, '\\', t->text.n) &&
           ebb__scan_moving(t->text) == EBB__MOVING_COUNT;
}

/* A use of the name check that is no call of the function itself. */
static bool is_check_misused(const struct ebb__scan *s, size_t at)
{
    return !ebb__scan_is(s, at + 1, "(") || (at > 0 && ebb__scan_is(s, at - 1, "function"));
}

static bool is_check(const struct ebb__scan *s, size_t at)
{
    return ebb__scan_token(s, at)->kind == EBB__TOKEN_NAME &&
           (ebb__scan_is(s, at, "check") || ebb__scan_is(s, at, "check_each")) && !ebb__scan_is_field(s, at);
}

static int scan_tokens(struct ebb__scan *s, struct ebb_err *err)
{
    size_t inside = 0; /* end of the check that the token is in */
    int rc = 0;

    for (size_t i = 0; i < s->t->count && !rc; i++) {
        if (ebb__scan_is(s, i, "pcall"))
            s->out->is_clear = false;
        else if (ebb__scan_is(s, i, "]") && !is_fixed_index(s, i))
            note_line(s, i, EBB__LINE_DIM);
        else if (is_check(s, i)) {
            size_t end = 0;

            s->out->is_clear = s->out->is_clear && !is_check_misused(s, i);
            if (!is_check_misused(s, i))
                rc = scan_check(s, i, &end, err);
            inside = end > inside ? end : inside;
        } else if (ebb__scan_is_read(s, i) && i >= inside)
            note_line(s, i, EBB__LINE_DIM);
    }
    return rc;
}

/* Ends of lines that Lua counts otherwise than we do, and escapes that hide some. */
static bool is_odd(struct ebb_str source)
{
    for (size_t i = 0; i < source.n; i++) {
        if (source.p[i] == '\r' && (i + 1 == source.n || source.p[i + 1] != '\n'))
            return true;
        if (source.p[i] == '\\' && i + 1 < source.n && source.p[i + 1] == 'z')
            return true;
    }
    return false;
}

static size_t count_lines(struct ebb_str source)
{
    size_t n = 2;

    for (size_t i = 0; i < source.n; i++)
        n += source.p[i] == '\n';
    return n;
}

int ebb__movers_scan(struct ebb__movers *movers, struct ebb_str source, struct ebb_err *err)
{
    struct ebb__tokens tokens;
    struct ebb__scan s = {.t = &tokens, .out = movers};
    int rc;

    memset(movers, 0, sizeof *movers);
    rc = ebb__tokens_init(&tokens, source, err);
    if (rc)
        return rc;
    movers->is_clear = !is_odd(source);
    movers->line_count = count_lines(source);
    movers->lines = calloc(movers->line_count, 1);
    rc = movers->lines ? scan_tokens(&s, err) : ebb_err_nomem(err);
    ebb__tokens_fini(&tokens);
    return rc;
}

void ebb__movers_fini(struct ebb__movers *movers)
{
    free(movers->lines);
    free(movers->items);
    memset(movers, 0, sizeof *movers);
}
