/* SPDX-License-Identifier: Apache-2.0 */
#include "base/calendar_priv.h"

#include <stdlib.h>

#include "base/time_priv.h"
#include "base/tz_priv.h"

/* No change of offset turns the wall further than this. */
#define TURN_MAX_S (EBB_TZ_OFFSET_MAX_S - EBB_TZ_OFFSET_MIN_S)

_Static_assert(sizeof(struct ebb_calendar) <= 64, "a hundred thousand triggers stay in the cache");

/* A stretch with one offset, with the wall times that count in it: [first_s, end_s). */
struct stretch {
    struct ebb_tz_span span;
    int64_t reached_s; /* named hours: walls before this one were shown, or jumped over, before */
    int64_t first_s;
    int64_t end_s;
};

void ebb_calendar_free(struct ebb_calendar *calendar)
{
    free(calendar);
}

static bool is_every(const struct ebb_calendar *c)
{
    return c->kind == EBB_CALENDAR_EPOCH || c->kind == EBB_CALENDAR_START_OF_DAY;
}

/* The latest wall time that clocks had reached when this stretch began. */
static int64_t wall_reached(const struct ebb_tz *tz, const struct ebb_tz_span *span)
{
    int64_t reached_s = INT64_MIN, at_s = span->from_s;

    while (at_s > EBB_TZ_MIN_S && at_s > span->from_s - TURN_MAX_S) {
        struct ebb_tz_span before = ebb__tz_span(tz, at_s - 1);

        if (at_s + before.offset_s > reached_s)
            reached_s = at_s + before.offset_s;
        at_s = before.from_s;
    }
    return reached_s;
}

/* The stretch that holds utc_s, for walls from `since_s` (an instant) on. A fixed time fires when the wall first
 * reaches or jumps over it: so in each stretch only walls not reached before count, and one jump over any number of
 * them is one fire at its start. */
static struct stretch stretch_at(const struct ebb_calendar *c, int64_t utc_s, int64_t since_s)
{
    struct stretch s;

    s.span = ebb__tz_span(c->tz, utc_s);
    s.first_s = s.span.from_s + s.span.offset_s;
    s.end_s = s.span.to_s + s.span.offset_s;
    s.reached_s = s.first_s;
    if (c->any_hour || s.span.from_s <= EBB_TZ_MIN_S || since_s - s.span.from_s > TURN_MAX_S)
        return s;
    s.reached_s = wall_reached(c->tz, &s.span);
    if (s.first_s < s.reached_s)
        s.first_s = s.reached_s;
    return s;
}

/* Whether the jump at the start of the stretch skips a named time. */
static bool has_gap_fire(const struct ebb_calendar *c, const struct stretch *s)
{
    int64_t nominal_s;

    return ebb__nominal_next(c, s->reached_s, s->span.from_s + s->span.offset_s, &nominal_s);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool is_in_range(int64_t s)
{
    return s > EBB_TZ_MIN_S + EBB_TZ_CYCLE_S && s < EBB_TZ_MAX_S - EBB_TZ_CYCLE_S;
}

bool ebb_calendar_next(const struct ebb_calendar *calendar, int64_t after_ms, int64_t *out_ms)
{
    int64_t from_s = ebb__floor_div(after_ms, 1000) + 1, limit_s = from_s + EBB_TZ_CYCLE_S;
    struct stretch s;
    int64_t nominal_s;

    *out_ms = 0;
    if (is_every(calendar))
        return ebb__every_next(calendar, after_ms, out_ms);
    if (!is_in_range(from_s))
        return false;
    for (int64_t at_s = from_s; at_s < limit_s; at_s = s.span.to_s) {
        s = stretch_at(calendar, at_s, from_s);
        *out_ms = s.span.from_s * 1000;
        if (s.span.from_s >= from_s && has_gap_fire(calendar, &s))
            return true;
        if (ebb__nominal_next(calendar, later(s.first_s, from_s + s.span.offset_s),
                              earlier(s.end_s, limit_s + s.span.offset_s), &nominal_s)) {
            *out_ms = (nominal_s - s.span.offset_s) * 1000;
            return true;
        }
    }
    *out_ms = 0;
    return false;
}

/* Nothing can fire after the last wanted year; saves walking back to it. */
static int64_t last_useful_s(const struct ebb_calendar *c, int64_t at_s)
{
    int64_t year = 0;

    for (int i = 0; i < c->year_count; i++)
        year = later(year, c->years[i].to);
    return c->year_count ? earlier(at_s, ebb_civil_days(year + 1, 1, 3) * EBB_DAY_S) : at_s;
}

bool ebb_calendar_last(const struct ebb_calendar *calendar, int64_t at_ms, int64_t *out_ms)
{
    int64_t at_s = ebb__floor_div(at_ms, 1000), floor_s;
    struct stretch s;
    int64_t nominal_s;

    *out_ms = 0;
    if (is_every(calendar))
        return ebb__every_last(calendar, at_ms, out_ms);
    if (!is_in_range(at_s))
        return false;
    at_s = last_useful_s(calendar, at_s);
    floor_s = later(0, at_s - EBB_TZ_CYCLE_S);
    for (; at_s >= floor_s; at_s = s.span.from_s - 1) {
        s = stretch_at(calendar, at_s, floor_s);
        if (ebb__nominal_last(calendar, later(s.first_s, floor_s + s.span.offset_s),
                              earlier(s.end_s, at_s + s.span.offset_s + 1), &nominal_s)) {
            *out_ms = (nominal_s - s.span.offset_s) * 1000;
            return true;
        }
        *out_ms = s.span.from_s * 1000;
        if (s.span.from_s >= floor_s && has_gap_fire(calendar, &s))
            return true;
    }
    *out_ms = 0;
    return false;
}

/* Fires of one stretch within [from_s, end_s). A fire of the jump and one at the same instant are one. */
static int64_t count_stretch(const struct ebb_calendar *c, const struct stretch *s, int64_t from_s, int64_t end_s)
{
    int64_t first_s = later(s->first_s, from_s + s->span.offset_s);
    int64_t count = ebb__nominal_count(c, first_s, earlier(s->end_s, end_s + s->span.offset_s));
    int64_t jump_s = s->span.from_s + s->span.offset_s;

    if (s->span.from_s >= from_s && has_gap_fire(c, s))
        count += 1 - ebb__nominal_count(c, jump_s, earlier(jump_s + 1, end_s + s->span.offset_s));
    return count;
}

int64_t ebb_calendar_count(const struct ebb_calendar *calendar, int64_t after_ms, int64_t until_ms)
{
    int64_t from_ms =
        until_ms < INT64_MIN + EBB_TZ_CYCLE_S * 1000 ? after_ms : later(after_ms, until_ms - EBB_TZ_CYCLE_S * 1000);
    int64_t from_s = ebb__floor_div(from_ms, 1000) + 1, end_s = ebb__floor_div(until_ms, 1000) + 1;
    int64_t count = 0;
    struct stretch s;

    if (is_every(calendar))
        return ebb__every_count(calendar, from_ms, until_ms);
    if (!is_in_range(from_s) || !is_in_range(end_s))
        return 0;
    for (int64_t at_s = from_s; at_s < end_s; at_s = s.span.to_s) {
        s = stretch_at(calendar, at_s, from_s);
        count += count_stretch(calendar, &s, from_s, end_s);
    }
    return count;
}

void ebb_calendar_wall(const struct ebb_calendar *c, int64_t fire_ms, struct ebb_calendar_wall *out)
{
    int64_t at_s = ebb__floor_div(fire_ms, 1000), twice[2], nominal_s;
    struct stretch s;

    *out = (struct ebb_calendar_wall){.local_s = at_s, .used_s = at_s};
    if (c->kind == EBB_CALENDAR_EPOCH)
        return;
    out->local_s = out->used_s = at_s + ebb_tz_offset(c->tz, at_s);
    if (c->kind == EBB_CALENDAR_START_OF_DAY || c->any_hour || !is_in_range(at_s))
        return;
    s = stretch_at(c, at_s, at_s);
    if (s.span.from_s == at_s && !ebb__nominal_next(c, out->local_s, out->local_s + 1, &nominal_s) &&
        ebb__nominal_next(c, s.reached_s, out->local_s, &nominal_s)) {
        out->local_s = nominal_s;
        out->is_gap = true;
    }
    out->is_overlap = !out->is_gap && ebb_tz_instants(c->tz, out->local_s, twice) == 2;
}

int ebb__calendar_check(const struct ebb_calendar *c, const struct ebb_field_text *t)
{
    int64_t fire_ms;

    if (ebb_calendar_next(c, -1, &fire_ms))
        return 0;
    return ebb_err_set(t->err, EBB_ESCHEDULE, "%s \"%.200s\": never fires: there is no such date", t->kind, t->text);
}
