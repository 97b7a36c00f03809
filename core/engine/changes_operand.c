/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments of a check: what moves must be added to, or taken from, what stands still, and nothing else.
 */
#include "engine/changes_scan_priv.h"

#define DEPTH_MAX 32
#define BRACKET_MAX ((size_t)400) /* tokens that are looked at for the end of a bracket */

static const char *const NAMES[EBB__MOVING_COUNT] = {"now", "age", "since_partition"};

/* Which of the moving values a name is; EBB__MOVING_COUNT: none. */
int ebb__scan_moving(struct ebb_str name)
{
    int i = 0;

    while (i < EBB__MOVING_COUNT && !ebb_str_is_equal(name, ebb_str_of(NAMES[i])))
        i++;
    return i;
}

const struct ebb__token *ebb__scan_token(const struct ebb__scan *s, size_t at)
{
    return ebb__token_at(s->t, at);
}

bool ebb__scan_is(const struct ebb__scan *s, size_t at, const char *text)
{
    return ebb__token_is(ebb__scan_token(s, at), text);
}

bool ebb__scan_is_field(const struct ebb__scan *s, size_t at)
{
    return ebb__scan_token(s, at)->kind == EBB__TOKEN_NAME && at > 0 &&
           (ebb__scan_is(s, at - 1, ".") || ebb__scan_is(s, at - 1, ":"));
}

bool ebb__scan_is_read(const struct ebb__scan *s, size_t at)
{
    return ebb__scan_is_field(s, at) && ebb__scan_moving(ebb__scan_token(s, at)->text) < EBB__MOVING_COUNT;
}

/* The bracket that closes the one at `at`; past the end when there is none. */
size_t ebb__scan_closing(const struct ebb__scan *s, size_t at)
{
    size_t depth = 0, end = s->t->count - at > BRACKET_MAX ? at + BRACKET_MAX : s->t->count;

    for (; at < end; at++) {
        if (ebb__scan_is(s, at, "(") || ebb__scan_is(s, at, "{") || ebb__scan_is(s, at, "["))
            depth++;
        else if ((ebb__scan_is(s, at, ")") || ebb__scan_is(s, at, "}") || ebb__scan_is(s, at, "]")) && --depth == 0)
            return at;
    }
    return s->t->count;
}

bool ebb__scan_has_reads(const struct ebb__scan *s, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (ebb__scan_is_read(s, i) || ebb__scan_is(s, i, "function"))
            return true;
    return false;
}

static bool read_sum(struct ebb__scan *s, size_t end, int sign);

/* A call or a table as an argument: what moves must not be in it. */
static bool skip_standing(struct ebb__scan *s, size_t end)
{
    size_t close = ebb__scan_closing(s, s->at);
    bool stands = close < end && !ebb__scan_has_reads(s, s->at, close);

    s->at = close + 1;
    return stands;
}

static void count(struct ebb__scan *s, int which, int sign)
{
    s->mover.reads[which]++;
    s->mover.slope[s->operand][which] += sign;
}

/* Name, fields, calls. *moves: it ends in something that moves. */
static bool read_path(struct ebb__scan *s, size_t end, int sign, bool *moves)
{
    int which = EBB__MOVING_COUNT;

    s->at++;
    while (s->at < end) {
        bool is_call = ebb__scan_is(s, s->at, "(") || ebb__scan_is(s, s->at, "{") ||
                       ebb__scan_token(s, s->at)->kind == EBB__TOKEN_TEXT;

        if (which < EBB__MOVING_COUNT && (which != EBB__MOVING_SINCE || !ebb__scan_is(s, s->at, "(")))
            break;
        if (ebb__scan_is(s, s->at, ".") && ebb__scan_token(s, s->at + 1)->kind == EBB__TOKEN_NAME) {
            which = ebb__scan_moving(ebb__scan_token(s, s->at + 1)->text);
            s->at += 2;
        } else if (is_call && ebb__scan_token(s, s->at)->kind == EBB__TOKEN_TEXT)
            s->at++;
        else if (is_call || ebb__scan_is(s, s->at, "[")) {
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

static bool read_factor(struct ebb__scan *s, size_t end, int sign, bool *moves)
{
    bool is_good;

    if (s->at >= end || s->depth >= DEPTH_MAX)
        return false;
    if (ebb__scan_is(s, s->at, "-")) {
        s->at++;
        s->depth++;
        is_good = read_factor(s, end, -sign, moves);
        s->depth--;
        return is_good;
    }
    if (ebb__scan_token(s, s->at)->kind == EBB__TOKEN_NUMBER) {
        s->at++;
        return true;
    }
    if (ebb__scan_token(s, s->at)->kind == EBB__TOKEN_NAME)
        return read_path(s, end, sign, moves);
    if (ebb__scan_is(s, s->at, "(")) {
        size_t close = ebb__scan_closing(s, s->at);

        if (close >= end)
            return false;
        *moves = ebb__scan_has_reads(s, s->at, close);
        s->at++;
        s->depth++;
        is_good = read_sum(s, close, sign);
        s->depth--;
        s->at = close + 1;
        return is_good && !ebb__scan_is(s, s->at, "(") && !ebb__scan_is(s, s->at, ".") &&
               !ebb__scan_is(s, s->at, "[") && !ebb__scan_is(s, s->at, ":") && !ebb__scan_is(s, s->at, "{") &&
               ebb__scan_token(s, s->at)->kind != EBB__TOKEN_TEXT;
    }
    return false;
}

static bool is_product(const struct ebb__scan *s)
{
    return ebb__scan_is(s, s->at, "*") || ebb__scan_is(s, s->at, "/") || ebb__scan_is(s, s->at, "//") ||
           ebb__scan_is(s, s->at, "%");
}

/* Factors; what moves must stand alone. */
static bool read_term(struct ebb__scan *s, size_t end, int sign)
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
static bool read_sum(struct ebb__scan *s, size_t end, int sign)
{
    if (!read_term(s, end, sign))
        return false;
    while (s->at < end) {
        int its = ebb__scan_is(s, s->at, "+") ? sign : ebb__scan_is(s, s->at, "-") ? -sign : 0;

        s->at++;
        if (!its || !read_term(s, end, its))
            return false;
    }
    return true;
}

/* End of the argument that begins at `at`, in a list that ends at `close`. */
static size_t argument_end(const struct ebb__scan *s, size_t at, size_t close)
{
    while (at < close && !ebb__scan_is(s, at, ",")) {
        if (ebb__scan_is(s, at, "(") || ebb__scan_is(s, at, "{") || ebb__scan_is(s, at, "["))
            at = ebb__scan_closing(s, at);
        at++;
    }
    return at < close ? at : close;
}

static bool is_name(const struct ebb__scan *s, size_t at, size_t end)
{
    const struct ebb__token *t = ebb__scan_token(s, at);

    return end == at + 1 && t->kind == EBB__TOKEN_TEXT && t->text.n && !memchr(t->text.p, '\\', t->text.n);
}

/* The arguments between the brackets; fills s->mover. first: position of operand a, from 0. */
bool ebb__scan_arguments(struct ebb__scan *s, size_t open, size_t close, size_t first)
{
    size_t at = open + 1, index = 0;
    bool is_good = true;

    while (at < close && is_good) {
        size_t end = argument_end(s, at, close);

        if (index == 0)
            is_good = is_name(s, at, end);
        else if (ebb__scan_has_reads(s, at, end)) {
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
