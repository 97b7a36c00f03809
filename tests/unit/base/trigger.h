/* SPDX-License-Identifier: Apache-2.0
 *
 * Time triggers for the tests of the calendar: opened from text, or the test fails.
 */
#ifndef EBB_TESTS_TRIGGER_H
#define EBB_TESTS_TRIGGER_H

#include <stdio.h>
#include <string.h>

#include "base/calendar.h"

/* A trigger together with the zone that it borrows. */
struct trigger {
    struct ebb_tz *tz;
    struct ebb_calendar *calendar;
};

enum kind { KIND_CALENDAR, KIND_CRON, KIND_EVERY_DAY, KIND_EVERY_EPOCH };

static inline void open_trigger(struct trigger *t, enum kind kind, const char *text, const char *zone)
{
    struct ebb_err err = {0};
    int64_t step_ms = 0;
    int rc = 0;

    memset(t, 0, sizeof *t);
    if (ebb_tz_load(zone, &t->tz, &err))
        fail_msg("%s", err.message);
    if (kind == KIND_CALENDAR)
        rc = ebb_calendar_parse(text, t->tz, &t->calendar, &err);
    else if (kind == KIND_CRON)
        rc = ebb_cron_parse(text, t->tz, &t->calendar, &err);
    else if (!ebb_duration_parse(text, &step_ms, &err))
        rc = ebb_every_new(step_ms, kind == KIND_EVERY_DAY, t->tz, &t->calendar, &err);
    if (rc || !t->calendar)
        fail_msg("%s", err.message);
}

static inline void close_trigger(struct trigger *t)
{
    ebb_calendar_free(t->calendar);
    ebb_tz_free(t->tz);
}

static inline int64_t instant(const char *text)
{
    char full[64];
    int64_t ms;

    /* 2027-03-25T00:00Z has no seconds */
    snprintf(full, sizeof full, strlen(text) == 17 ? "%.16s:00Z" : "%s", text);
    if (ebb_time_parse(full, NULL, &ms, NULL))
        fail_msg("bad instant %s", text);
    return ms;
}

#endif
