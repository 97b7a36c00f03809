/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tz_priv.h"

#include <stdlib.h>

#include "base/time_priv.h"

static int64_t within_limits(int64_t s)
{
    return s < EBB_TZ_MIN_S ? EBB_TZ_MIN_S : s > EBB_TZ_MAX_S ? EBB_TZ_MAX_S : s;
}

void ebb_tz_free(struct ebb_tz *tz)
{
    if (!tz)
        return;
    free(tz->changes);
    free(tz);
}

const char *ebb_tz_name(const struct ebb_tz *tz)
{
    return tz->name;
}

int ebb__tz_add(struct ebb_tz *tz, int64_t at_s, int32_t offset_s, struct ebb_err *err)
{
    const struct ebb_tz_change *last = tz->count ? &tz->changes[tz->count - 1] : NULL;

    if (last && (at_s <= last->at_s || offset_s == last->offset_s))
        return 0;
    if (tz->count == tz->cap) {
        size_t cap = tz->cap ? tz->cap * 2 : 64;
        struct ebb_tz_change *grown = realloc(tz->changes, cap * sizeof *grown);

        if (!grown)
            return ebb_err_nomem(err);
        tz->changes = grown;
        tz->cap = cap;
    }
    tz->changes[tz->count].at_s = at_s;
    tz->changes[tz->count].offset_s = offset_s;
    tz->count++;
    return 0;
}

/* Index of the last change at or before s, from low up to but not including high. */
static size_t search_changes(const struct ebb_tz *tz, int64_t s, size_t low, size_t high)
{
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (tz->changes[middle].at_s <= s)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void ebb__tz_finish(struct ebb_tz *tz)
{
    size_t at = 0;

    for (int64_t i = 0; i <= EBB_TZ_HINTS; i++) {
        while (at + 1 < tz->count && tz->changes[at + 1].at_s <= i << EBB_TZ_HINT_BITS)
            at++;
        tz->hints[i] = (uint32_t)at;
    }
}

static size_t find_change(const struct ebb_tz *tz, int64_t s)
{
    int64_t hint = s >> EBB_TZ_HINT_BITS;

    if (s < 0 || hint >= EBB_TZ_HINTS)
        return search_changes(tz, s, 0, tz->count);
    return search_changes(tz, s, tz->hints[hint], (size_t)tz->hints[hint + 1] + 1);
}

struct ebb_tz_span ebb__tz_span(const struct ebb_tz *tz, int64_t utc_s)
{
    int64_t s = within_limits(utc_s), shift_s = 0;
    int64_t last_s = tz->changes[tz->count - 1].at_s;
    struct ebb_tz_span span;
    size_t i;

    if (tz->repeats && s >= last_s)
        shift_s = ((s - last_s) / EBB_TZ_CYCLE_S + 1) * EBB_TZ_CYCLE_S;
    i = find_change(tz, s - shift_s);
    span.offset_s = tz->changes[i].offset_s;
    span.from_s = tz->changes[i].at_s + shift_s;
    span.to_s = i + 1 < tz->count ? tz->changes[i + 1].at_s + shift_s : EBB_TZ_END_S;
    return span;
}

int32_t ebb_tz_offset(const struct ebb_tz *tz, int64_t utc_s)
{
    return ebb__tz_span(tz, utc_s).offset_s;
}

void ebb_tz_civil(const struct ebb_tz *tz, int64_t utc_s, struct ebb_civil *out)
{
    int64_t s = within_limits(utc_s);

    ebb__civil_of_seconds(s + ebb_tz_offset(tz, s), out);
}

int ebb_tz_instants(const struct ebb_tz *tz, int64_t local_s, int64_t at[2])
{
    int64_t wall_s = within_limits(local_s);
    struct ebb_tz_span span = ebb__tz_span(tz, wall_s - EBB_TZ_OFFSET_MAX_S - 1);
    int64_t gap_s = wall_s;
    int count = 0;

    while (count < 2) {
        int64_t utc_s = wall_s - span.offset_s;
        int32_t before_s = span.offset_s;

        if (utc_s >= span.from_s && utc_s < span.to_s)
            at[count++] = utc_s;
        if (span.to_s > wall_s - EBB_TZ_OFFSET_MIN_S)
            break;
        span = ebb__tz_span(tz, span.to_s);
        if (span.from_s + before_s <= wall_s && wall_s < span.from_s + span.offset_s)
            gap_s = span.from_s;
    }
    if (!count)
        at[0] = gap_s;
    return count;
}
