/* SPDX-License-Identifier: Apache-2.0
 *
 * The commits of writers, repeated.
 */
#include <stdlib.h>

#include "service/effects.h"
#include "service/session_priv.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)
#define WEEK_MS (7 * DAY_MS)
#define WEEKS_MAX 4

struct ebb_arrivals {
    int64_t end_ms, period_ms; /* the part (end − period, end] is repeated */
    struct ebb_arrival *items; /* sorted */
    size_t count;
};

static int by_time(const void *a, const void *b)
{
    const struct ebb_arrival *x = a, *y = b;

    if (x->at_ms != y->at_ms)
        return x->at_ms < y->at_ms ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static bool is_by_a_writer(const struct ebb_value *s)
{
    const char *operation = ebb_value_text_of(s, "operation");

    return !ebb__snapshot_is_own(s) && !(operation && !strcmp(operation, "replace"));
}

/* All commits of writers up to now. */
static int collect(struct ebb_arrivals *a, const struct ebb_value *facts, int64_t now_ms, struct ebb_err *err)
{
    const struct ebb_value *snapshots = ebb_value_get(ebb_value_get(facts, "table"), "snapshots");
    size_t count = ebb_value_get_count(snapshots);
    struct ebb__commit typical;

    a->items = calloc(count + 1, sizeof *a->items);
    if (!a->items)
        return ebb_err_nomem(err);
    ebb__facts_typical(facts, &typical);
    for (size_t i = 0; i < count; i++) {
        const struct ebb_value *s = ebb_value_get_at(snapshots, i);
        int64_t at = ebb_value_int_of(s, "at", -1), files = ebb__snapshot_counter(s, "added-data-files");
        int64_t bytes = ebb__snapshot_counter(s, "added-files-size");
        int64_t records = ebb__snapshot_counter(s, "added-records");

        if (at < 0 || at > now_ms || !is_by_a_writer(s))
            continue;
        a->items[a->count++] =
            (struct ebb_arrival){at, files < 0 ? typical.added_files : files, bytes < 0 ? typical.added_bytes : bytes,
                                 records < 0 ? typical.added_records : records};
    }
    qsort(a->items, a->count, sizeof *a->items, by_time);
    return 0;
}

/* Whole weeks, so that days and hours of the week stay what they are. */
static int64_t period_of(int64_t span_ms)
{
    int64_t weeks = span_ms / WEEK_MS;

    if (weeks)
        return (weeks < WEEKS_MAX ? weeks : WEEKS_MAX) * WEEK_MS;
    return (span_ms / DAY_MS + 1) * DAY_MS;
}

static void choose(struct ebb_arrivals *a, int64_t now_ms, bool always)
{
    size_t first = 0;

    if (a->count < 2) {
        a->count = 0;
        return;
    }
    a->end_ms = a->items[a->count - 1].at_ms;
    a->period_ms = period_of(a->end_ms - a->items[0].at_ms);
    while (a->items[first].at_ms <= a->end_ms - a->period_ms)
        first++;
    a->count -= first;
    memmove(a->items, a->items + first, a->count * sizeof *a->items);
    if (!always && now_ms - a->end_ms > a->period_ms)
        a->count = 0;
}

int ebb_arrivals_new(const struct ebb_value *facts, int64_t now_ms, bool always, struct ebb_arrivals **out,
                     struct ebb_err *err)
{
    struct ebb_arrivals *a = calloc(1, sizeof *a);
    int rc = a ? collect(a, facts, now_ms, err) : ebb_err_nomem(err);

    *out = NULL;
    if (rc) {
        ebb_arrivals_free(a);
        return rc;
    }
    choose(a, now_ms, always);
    *out = a;
    return 0;
}

void ebb_arrivals_free(struct ebb_arrivals *a)
{
    if (!a)
        return;
    free(a->items);
    free(a);
}

bool ebb_arrivals_next(const struct ebb_arrivals *a, int64_t after_ms, struct ebb_arrival *out)
{
    int64_t rounds, shift;
    size_t low = 0, high = a->count;

    if (!a->count)
        return false;
    /* how often the part was repeated when the instant comes, and what lies behind it in that round */
    rounds = after_ms < a->end_ms ? 0 : (after_ms - a->end_ms) / a->period_ms + 1;
    shift = rounds * a->period_ms;
    while (low < high) {
        size_t mid = (low + high) / 2;

        if (a->items[mid].at_ms + shift > after_ms)
            high = mid;
        else
            low = mid + 1;
    }
    if (low == a->count) {
        low = 0;
        shift += a->period_ms;
    }
    *out = a->items[low];
    out->at_ms += shift;
    return true;
}

size_t ebb_arrivals_count(const struct ebb_arrivals *a, int64_t *period_ms)
{
    *period_ms = a->period_ms;
    return a->count;
}
