/* SPDX-License-Identifier: Apache-2.0
 *
 * Where checks turn: instants to look at, and halving between two of them.
 */
#include <math.h>

#include "base/time.h"
#include "engine/guards_priv.h"
#include "engine/whynot_priv.h"

#define MINUTE ((int64_t)60000)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define DEFERS_MAX 100
#define GRID_STEP (HOUR / 2)
#define GRID_FINE_END (2 * DAY)
#define GRID_END (8 * DAY)

static const int64_t AHEAD[] = {
    MINUTE,   5 * MINUTE, 15 * MINUTE, HOUR,      3 * HOUR,  6 * HOUR,  12 * HOUR,          DAY,
    2 * DAY,  3 * DAY,    5 * DAY,     7 * DAY,   10 * DAY,  14 * DAY,  21 * DAY,           30 * DAY,
    45 * DAY, 60 * DAY,   90 * DAY,    120 * DAY, 180 * DAY, 270 * DAY, EBB_WHYNOT_AHEAD_MS};

static int probe(struct ebb__why *y, int64_t from_ms, int64_t after_ms, struct ebb_err *err)
{
    int64_t at;
    size_t index;

    if (after_ms <= 0 || __builtin_add_overflow(from_ms, after_ms, &at))
        return 0;
    return ebb__why_probe(y, at, &index, err);
}

/* The instant and the one before it. */
static int probe_edge(struct ebb__why *y, int64_t after_ms, struct ebb_err *err)
{
    int64_t now = y->probes[0].at_ms;
    int rc = 0;

    if (after_ms == INT64_MAX)
        return 0;
    if (after_ms > 1)
        rc = probe(y, now, after_ms - 1, err);
    return rc ? rc : probe(y, now, after_ms, err);
}

static bool is_compared(const char *op)
{
    return op && (op[0] == '<' || op[0] == '>' || !strcmp(op, "==") || !strcmp(op, "~="));
}

/* a − b, and how much of it a minute brings. */
static bool difference(const struct ebb__operand x[2], bool *is_int, int64_t *whole, double *real)
{
    if (!x[0].is_known || !x[1].is_known)
        return false;
    *is_int = x[0].is_int && x[1].is_int && !__builtin_sub_overflow(x[0].whole, x[1].whole, whole);
    *real = x[0].real - x[1].real;
    return true;
}

static bool is_apart(int64_t a, int64_t b, int64_t by)
{
    int64_t gap;

    return !__builtin_sub_overflow(a, b, &gap) && (gap == by || gap == -by);
}

/* Where a check turns whose difference goes straight on as from now to a minute later. */
static int probe_check(struct ebb__why *y, size_t i, const struct ebb_value *then, struct ebb_err *err)
{
    const struct ebb_value *now = ebb_value_get_at(y->checks, i);
    int64_t at = y->probes[0].at_ms, whole = 0, later_whole = 0;
    const char *op = ebb_value_text_of(now, "op");
    struct ebb__operand x[2], z[2];
    bool is_int, later_int;
    double real, later, after;
    int rc = 0;

    if (!is_compared(op))
        return 0;
    ebb__operands_of(now, at, x);
    ebb__operands_of(then, at + MINUTE, z);
    if (!difference(x, &is_int, &whole, &real) || !difference(z, &later_int, &later_whole, &later) || real == later)
        return 0;
    if (is_int && later_int && is_apart(whole, later_whole, MINUTE)) {
        y->slopes[i] = later_whole > whole ? 1 : -1;
        return probe_edge(y, ebb__changes_turn(whole, op, 0, y->slopes[i]), err);
    }
    after = -real / ((later - real) / (double)MINUTE);
    if (!(after > 0 && after < (double)EBB_WHYNOT_AHEAD_MS))
        return 0;
    for (int k = -1; k <= 1 && !rc; k++)
        rc = probe_edge(y, (int64_t)floor(after) + k, err);
    return rc;
}

static bool is_same(const struct ebb_value *a, const struct ebb_value *b)
{
    return ebb_value_is_equal(ebb_value_get(a, "n"), ebb_value_get(b, "n")) &&
           ebb_value_is_equal(ebb_value_get(a, "key"), ebb_value_get(b, "key"));
}

/* How the checks move, from the record of a minute later. Lists that differ are left to halving. */
static int probe_checks(struct ebb__why *y, struct ebb_err *err)
{
    const struct ebb_value *checks;
    struct ebb_value *record;
    struct ebb__probe later;
    int64_t at;
    int rc;

    if (__builtin_add_overflow(y->probes[0].at_ms, MINUTE, &at))
        return 0;
    rc = ebb__why_evaluate(y, at, &later, &record, err);
    checks = ebb_value_get(record, "checks");
    if (record)
        rc = 0;
    for (size_t i = 0; i < 2 * y->check_count && !rc; i++) { /* first the plain ones, then those of each item */
        size_t k = i % y->check_count;
        const struct ebb_value *mine = ebb_value_get_at(y->checks, k), *its = ebb_value_get_at(checks, k);

        if (its && is_same(mine, its) && (ebb_value_get(mine, "key") != NULL) == (i >= y->check_count))
            rc = probe_check(y, k, its, err);
    }
    ebb_value_free(record);
    return rc;
}

/* Full half hours of two days, then full hours of eight: for what does not go straight, such as hours of the day. Most
 * of what may be spent is left for halving. */
static int probe_grid(struct ebb__why *y, struct ebb_err *err)
{
    int64_t now = y->probes[0].at_ms, after = GRID_STEP - (now % GRID_STEP + GRID_STEP) % GRID_STEP;
    int rc = 0;

    for (; after <= GRID_END && y->gas < EBB__PROBES_GAS / 4 && !rc; after += GRID_STEP)
        if (after <= GRID_FINE_END || (now % HOUR + after) % HOUR == 0)
            rc = probe(y, now, after, err);
    return rc;
}

int ebb__why_spread(struct ebb__why *y, struct ebb_err *err)
{
    const struct ebb_value *guards = ebb_value_get(y->record, "guards");
    int64_t now = y->probes[0].at_ms;
    int rc = 0;

    for (size_t i = 0; i < sizeof AHEAD / sizeof *AHEAD && !rc; i++)
        rc = probe(y, now, AHEAD[i], err);
    for (size_t i = 0; i < ebb_value_get_count(guards) && !rc; i++) {
        const char *until = ebb_value_text_of(ebb_value_get_at(guards, i), "until");
        int64_t at;

        if (until && !ebb_time_parse(until, NULL, &at, NULL) && at > now)
            rc = probe_edge(y, at - now, err);
    }
    if (!rc)
        rc = probe_checks(y, err);
    return rc ? rc : probe_grid(y, err);
}

/* What is looked at in a probe: the truth of a check, or (check SIZE_MAX) whether the verdict is run. */
static uint8_t seen(const struct ebb__probe *p, size_t check)
{
    return check == SIZE_MAX ? p->verdict == EBB_VERDICT_RUN : p->truths[check];
}

/* Between two instants at which it differs: the first millisecond at which it is as at the later one. */
static int halve(struct ebb__why *y, int64_t low, int64_t high, size_t check, uint8_t low_seen, int64_t *out,
                 struct ebb_err *err)
{
    while (high - low > 1) {
        size_t index;
        int64_t middle = low + (high - low) / 2;
        int rc = ebb__why_probe(y, middle, &index, err);

        if (rc)
            return rc;
        if (index == SIZE_MAX) /* too many probes: nothing that was not verified is told */
            return 0;
        if (seen(&y->probes[index], check) == low_seen)
            low = middle;
        else
            high = middle;
    }
    *out = high;
    return 0;
}

int ebb__why_turn(struct ebb__why *y, size_t i, int64_t *at_ms, uint8_t *to, struct ebb_err *err)
{
    uint8_t first = seen(&y->probes[0], i);
    int64_t low = y->probes[0].at_ms;
    size_t index;
    int rc = 0;

    *at_ms = 0;
    for (size_t k = 1; k < y->count; k++) {
        uint8_t its = seen(&y->probes[k], i);

        if (its == EBB__ABSENT)
            continue;
        if (its != first) {
            rc = halve(y, low, y->probes[k].at_ms, i, first, at_ms, err);
            break;
        }
        low = y->probes[k].at_ms;
    }
    if (rc || !*at_ms)
        return rc;
    rc = ebb__why_probe(y, *at_ms, &index, err);
    if (index == SIZE_MAX || seen(&y->probes[index], i) == EBB__ABSENT)
        *at_ms = 0; /* it is not made any more: not a turn */
    else
        *to = seen(&y->probes[index], i);
    return rc;
}

/* Probe where decisions put off themselves, up to the first that runs. *first: its index, or the count. */
static int follow_defers(struct ebb__why *y, size_t *first, struct ebb_err *err)
{
    int rc = 0;

    *first = 0;
    for (int n = 0; *first < y->count && y->probes[*first].verdict != EBB_VERDICT_RUN && !rc;) {
        int64_t until = y->probes[*first].until_ms;
        size_t before = y->count, index;

        if (until > y->probes[*first].at_ms && n < DEFERS_MAX) {
            rc = ebb__why_probe(y, until, &index, err);
            n += y->count > before;
        }
        (*first)++;
    }
    return rc;
}

int ebb__why_earliest(struct ebb__why *y, bool *has, int64_t *at_ms, struct ebb_err *err)
{
    size_t first;
    int rc = follow_defers(y, &first, err);

    *has = false;
    if (rc || first == y->count)
        return rc;
    *at_ms = y->probes[first].at_ms;
    *has = true;
    if (first > 0)
        rc = halve(y, y->probes[first - 1].at_ms, *at_ms, SIZE_MAX, 0, at_ms, err);
    return rc;
}
