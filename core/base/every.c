/* SPDX-License-Identifier: Apache-2.0 */
#include "base/calendar_priv.h"

#include <stdlib.h>

#include "base/time_priv.h"
#include "base/tz_priv.h"

enum { DAY_MS = EBB_DAY_S * 1000 };

int ebb_every_new(int64_t step_ms, bool start_of_day, const struct ebb_tz *tz, struct ebb_calendar **out,
                  struct ebb_err *err)
{
    struct ebb_calendar *c;

    *out = NULL;
    if (step_ms < 1)
        return ebb_err_set(err, EBB_ESCHEDULE, "every: the step is not greater than zero");
    if (start_of_day && step_ms > DAY_MS)
        return ebb_err_set(err, EBB_ESCHEDULE, "every: a step counted from the start of the day is longer than a day");
    if (start_of_day && !tz)
        return ebb_err_set(err, EBB_ESCHEDULE, "every: the start of the day needs a time zone");
    c = calloc(1, sizeof *c);
    if (!c)
        return ebb_err_nomem(err);
    c->kind = start_of_day ? EBB_CALENDAR_START_OF_DAY : EBB_CALENDAR_EPOCH;
    c->step_ms = step_ms;
    c->tz = tz;
    *out = c;
    return 0;
}

/* First instant of a local date. */
static int64_t day_start_ms(const struct ebb_tz *tz, int64_t day)
{
    int64_t at[2];

    ebb_tz_instants(tz, day * EBB_DAY_S, at);
    return at[0] * 1000;
}

/* The last local date that began at or before an instant, though the wall may have gone back since. */
static int64_t date_begun(const struct ebb_tz *tz, int64_t at_ms)
{
    int64_t at_s = ebb__floor_div(at_ms, 1000);
    int64_t day = ebb__floor_div(at_s + ebb_tz_offset(tz, at_s), EBB_DAY_S) + 3;

    while (day_start_ms(tz, day) > at_ms)
        day--;
    return day;
}

static bool is_in_range(int64_t ms)
{
    return ms / 1000 > EBB_TZ_MIN_S + EBB_TZ_CYCLE_S && ms / 1000 < EBB_TZ_MAX_S - EBB_TZ_CYCLE_S;
}

bool ebb__every_next(const struct ebb_calendar *c, int64_t after_ms, int64_t *out_ms)
{
    int64_t start_ms = 0, end_ms = INT64_MAX;

    if (!is_in_range(after_ms) || c->step_ms > INT64_MAX / 2)
        return false;
    if (c->kind == EBB_CALENDAR_START_OF_DAY) {
        int64_t day = date_begun(c->tz, after_ms);

        start_ms = day_start_ms(c->tz, day);
        end_ms = day_start_ms(c->tz, day + 1);
    }
    *out_ms = start_ms + (ebb__floor_div(after_ms - start_ms, c->step_ms) + 1) * c->step_ms;
    if (*out_ms > end_ms)
        *out_ms = end_ms;
    return *out_ms - after_ms <= EBB_TZ_CYCLE_S * 1000;
}

bool ebb__every_last(const struct ebb_calendar *c, int64_t at_ms, int64_t *out_ms)
{
    int64_t start_ms = 0;

    if (!is_in_range(at_ms) || at_ms < 0)
        return false;
    if (c->kind == EBB_CALENDAR_START_OF_DAY)
        start_ms = day_start_ms(c->tz, date_begun(c->tz, at_ms));
    *out_ms = start_ms + (at_ms - start_ms) / c->step_ms * c->step_ms;
    return *out_ms >= 0;
}

/* Slots of a local date that are at or before until_ms, its start included. */
static int64_t slots_until(const struct ebb_calendar *c, int64_t day, int64_t until_ms)
{
    return (until_ms - day_start_ms(c->tz, day)) / c->step_ms + 1;
}

int64_t ebb__every_count(const struct ebb_calendar *c, int64_t after_ms, int64_t until_ms)
{
    int64_t first, last, count;

    if (!is_in_range(after_ms) || !is_in_range(until_ms) || after_ms >= until_ms)
        return 0;
    if (c->kind == EBB_CALENDAR_EPOCH)
        return ebb__floor_div(until_ms, c->step_ms) - ebb__floor_div(after_ms, c->step_ms);
    first = date_begun(c->tz, after_ms);
    last = date_begun(c->tz, until_ms);
    count = slots_until(c, last, until_ms) - slots_until(c, first, after_ms);
    for (int64_t day = first; day < last; day++) {
        int64_t end_ms = day_start_ms(c->tz, day + 1);

        if (end_ms > day_start_ms(c->tz, day)) /* a date can be missing */
            count += slots_until(c, day, end_ms - 1);
    }
    return count;
}
