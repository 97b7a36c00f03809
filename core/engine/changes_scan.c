/* SPDX-License-Identifier: Apache-2.0
 *
 * Which places of a source read what moves, and which of these are plain operands of a check.
 *
 * A read is reported with a line: that of its last token, or of the token after it, where the compiler was when it
 * wrote the instruction. So a line counts as clear only when all places that could be reported there are.
 */
#include <stdlib.h>

#include "engine/changes_priv.h"
#include "engine/tokens_priv.h"

#define DEPTH_MAX 32

static const char *const NAMES[EBB__MOVING_COUNT] = {"now", "age", "since_partition"};

struct scan {
    const struct ebb__tokens *t;
    struct ebb__movers *out;
    size_t at;               /* of the operand that is read */
    struct ebb__mover mover; /* of the check that is read */
    int operand;
    int depth;
};

/* Which of the moving values a name is; EBB__MOVING_COUNT: none. */
static int moving_of(struct ebb_str name)
{
    int i = 0;

    while (i < EBB__MOVING_COUNT && !ebb_str_is_equal(name, ebb_str_of(NAMES[i])))
        i++;
    return i;
}

static const struct ebb__token *token(const struct scan *s, size_t at)
{
    return ebb__token_at(s->t, at);
}

static bool is(const struct scan *s, size_t at, const char *text)
{
    return ebb__token_is(token(s, at), text);
}

static bool is_field(const struct scan *s, size_t at)
{
    return token(s, at)->kind == EBB__TOKEN_NAME && at > 0 && (is(s, at - 1, ".") || is(s, at - 1, ":"));
}

static bool is_read(const struct scan *s, size_t at)
{
    return is_field(s, at) && moving_of(token(s, at)->text) < EBB__MOVING_COUNT;
}

/* The token after it may be where the compiler was. */
static void note_line(struct scan *s, size_t at, unsigned bit)
{
    size_t lines[2] = {(size_t)token(s, at)->line, (size_t)token(s, at + 1)->line};

    for (size_t i = 0; i < 2; i++)
        if (lines[i] < s->out->line_count)
            s->out->lines[lines[i]] |= (uint8_t)bit;
}

/* The bracket that closes the one at `at`; past the end when there is none. */
static size_t closing(const struct scan *s, size_t at)
{
    size_t depth = 0;

    for (; at < s->t->count; at++) {
        if (is(s, at, "(") || is(s, at, "{") || is(s, at, "["))
            depth++;
        else if ((is(s, at, ")") || is(s, at, "}") || is(s, at, "]")) && --depth == 0)
            return at;
    }
    return at;
}

static bool has_reads(const struct scan *s, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (is_read(s, i) || is(s, i, "function"))
            return true;
    return false;
}

static bool read_sum(struct scan *s, size_t end, int sign);

/* A call or a table as an argument: what moves must not be in it. */
static bool skip_standing(struct scan *s, size_t end)
{
    size_t close = closing(s, s->at);
    bool stands = close < end && !has_reads(s, s->at, close);

    s->at = close + 1;
    return stands;
}

static void count(struct scan *s, int which, int sign)
{
    s->mover.reads[which]++;
    s->mover.slope[s->operand][which] += sign;
}

/* Name, fields, calls. *moves: it ends in something that moves. */
static bool read_path(struct scan *s, size_t end, int sign, bool *moves)
{
    int which = EBB__MOVING_COUNT;

    s->at++;
    while (s->at < end) {
        bool is_call = is(s, s->at, "(") || is(s, s->at, "{") || token(s, s->at)->kind == EBB__TOKEN_TEXT;

        if (which < EBB__MOVING_COUNT && (which != EBB__MOVING_SINCE || !is(s, s->at, "(")))
            break;
        if (is(s, s->at, ".") && token(s, s->at + 1)->kind == EBB__TOKEN_NAME) {
            which = moving_of(token(s, s->at + 1)->text);
            s->at += 2;
        } else if (is_call && token(s, s->at)->kind == EBB__TOKEN_TEXT)
            s->at++;
        else if (is_call || is(s, s->at, "[")) {
            if (!skip_standing(s, end))
                return false;
            if (which == EBB__MOVING_SINCE) {
                count(s, which, sign);
                *moves = true;
                return true;
            }
        } else
            break;
    }
    if (which == EBB__MOVING_SINCE)
        return false;
    *moves = which < EBB__MOVING_COUNT;
    if (*moves)
        count(s, which, sign);
    return true;
}

static bool read_factor(struct scan *s, size_t end, int sign, bool *moves)
{
    bool is_good;

    if (s->at >= end || s->depth >= DEPTH_MAX)
        return false;
    if (is(s, s->at, "-")) {
        s->at++;
        s->depth++;
        is_good = read_factor(s, end, -sign, moves);
        s->depth--;
        return is_good;
    }
    if (token(s, s->at)->kind == EBB__TOKEN_NUMBER) {
        s->at++;
        return true;
    }
    if (token(s, s->at)->kind == EBB__TOKEN_NAME)
        return read_path(s, end, sign, moves);
    if (is(s, s->at, "(")) {
        size_t close = closing(s, s->at);

        if (close >= end)
            return false;
        *moves = has_reads(s, s->at, close);
        s->at++;
        s->depth++;
        is_good = read_sum(s, close, sign);
        s->depth--;
        s->at = close + 1;
        return is_good && !is(s, s->at, "(") && !is(s, s->at, ".") && !is(s, s->at, "[") && !is(s, s->at, ":") &&
               !is(s, s->at, "{") && token(s, s->at)->kind != EBB__TOKEN_TEXT;
    }
    return false;
}

static bool is_product(const struct scan *s)
{
    return is(s, s->at, "*") || is(s, s->at, "/") || is(s, s->at, "//") || is(s, s->at, "%");
}

/* Factors; what moves must stand alone. */
static bool read_term(struct scan *s, size_t end, int sign)
{
    bool moves = false, all = false;
    int factors = 1;

    if (!read_factor(s, end, sign, &moves))
        return false;
    for (all = moves; s->at < end && is_product(s); all = all || moves) {
        s->at++;
        factors++;
        moves = false;
        if (!read_factor(s, end, sign, &moves))
            return false;
    }
    return factors == 1 || !all;
}

/* Terms with + and -, up to `end`. */
static bool read_sum(struct scan *s, size_t end, int sign)
{
    if (!read_term(s, end, sign))
        return false;
    while (s->at < end) {
        int its = is(s, s->at, "+") ? sign : is(s, s->at, "-") ? -sign : 0;

        s->at++;
        if (!its || !read_term(s, end, its))
            return false;
    }
    return true;
}

/* End of the argument that begins at `at`, in a list that ends at `close`. */
static size_t argument_end(const struct scan *s, size_t at, size_t close)
{
    while (at < close && !is(s, at, ",")) {
        if (is(s, at, "(") || is(s, at, "{") || is(s, at, "["))
            at = closing(s, at);
        at++;
    }
    return at < close ? at : close;
}

static bool is_name(const struct scan *s, size_t at, size_t end)
{
    const struct ebb__token *t = token(s, at);

    return end == at + 1 && t->kind == EBB__TOKEN_TEXT && t->text.n && !memchr(t->text.p, '\\', t->text.n);
}

/* The arguments between the brackets; fills s->mover. first: position of operand a, from 0. */
static bool read_arguments(struct scan *s, size_t open, size_t close, size_t first)
{
    size_t at = open + 1, index = 0;
    bool is_good = true;

    while (at < close && is_good) {
        size_t end = argument_end(s, at, close);

        if (index == 0)
            is_good = is_name(s, at, end);
        else if (has_reads(s, at, end)) {
            s->operand = index == first ? 0 : 1;
            s->at = at;
            s->depth = 0;
            is_good = (index == first || index == first + 2) && read_sum(s, end, 1) && s->at == end;
        }
        at = end + 1;
        index++;
    }
    return is_good;
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
static int scan_check(struct scan *s, size_t at, size_t *end, struct ebb_err *err)
{
    size_t open = at + 1, close = closing(s, open);
    bool is_good;

    *end = close;
    if (!has_reads(s, open, close))
        return 0;
    memset(&s->mover, 0, sizeof s->mover);
    s->mover.name = token(s, open + 1)->text;
    is_good = close < s->t->count && read_arguments(s, open, close, is(s, at, "check") ? 1 : 2);
    for (size_t i = open; i < close; i++)
        if (is_read(s, i))
            note_line(s, i, is_good ? EBB__LINE_CLEAR : EBB__LINE_DIM);
    return is_good ? add(s->out, &s->mover, err) : 0;
}

/* An index that is computed may name anything. */
static bool is_fixed_index(const struct scan *s, size_t at)
{
    const struct ebb__token *t = token(s, at - 1);

    if (at < 2 || !is(s, at - 2, "["))
        return false;
    if (t->kind == EBB__TOKEN_NUMBER)
        return true;
    return t->kind == EBB__TOKEN_TEXT && !memchr(t->text.p, '\\', t->text.n) && moving_of(t->text) == EBB__MOVING_COUNT;
}

/* A use of the name check that is no call of the function itself. */
static bool is_check_misused(const struct scan *s, size_t at)
{
    return !is(s, at + 1, "(") || (at > 0 && is(s, at - 1, "function"));
}

static bool is_check(const struct scan *s, size_t at)
{
    return token(s, at)->kind == EBB__TOKEN_NAME && (is(s, at, "check") || is(s, at, "check_each")) && !is_field(s, at);
}

static int scan_tokens(struct scan *s, struct ebb_err *err)
{
    size_t inside = 0; /* end of the check that the token is in */
    int rc = 0;

    for (size_t i = 0; i < s->t->count && !rc; i++) {
        if (is(s, i, "pcall"))
            s->out->is_clear = false;
        else if (is(s, i, "]") && !is_fixed_index(s, i))
            note_line(s, i, EBB__LINE_DIM);
        else if (is_check(s, i)) {
            size_t end = 0;

            s->out->is_clear = s->out->is_clear && !is_check_misused(s, i);
            if (!is_check_misused(s, i))
                rc = scan_check(s, i, &end, err);
            inside = end > inside ? end : inside;
        } else if (is_read(s, i) && i >= inside)
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
    struct scan s = {.t = &tokens, .out = movers};
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
