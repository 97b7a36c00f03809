/* SPDX-License-Identifier: Apache-2.0
 *
 * Time triggers: calendar expressions ("Sun 02:00", "Mon..Fri *:00/15", "*-*-01 03:30", "last Sun 02:00"), five-field
 * cron, and fixed steps. Clock changes: a named time in a gap fires once, at the
 * first instant after it; a time that happens twice fires at the first only; hour "*" fires at both. Pure, immutable
 * once parsed.
 */
#ifndef EBB_BASE_CALENDAR_H
#define EBB_BASE_CALENDAR_H

#include "base/tz.h"

struct ebb_calendar;
/* [weekdays] [[year-]month-day] [hour:minute]: "*", lists "1,2", ranges "1..5", steps "00/15" and "8..18/2"; weekdays
 * by name (ranges may run over Sunday), "last Sun" = the last one of its month, day "last"; weekday AND date; no time =
 * 00:00; years 1970 to 2300. tz is borrowed and must outlive the calendar. EBB_ESCHEDULE with position and reason, also
 * when it can never fire. */
int ebb_calendar_parse(const char *text, const struct ebb_tz *tz, struct ebb_calendar **out, struct ebb_err *err);
/* Minute, hour, day of the month, month, weekday (0 and 7 = Sunday; names accepted). When both day fields are
 * restricted either may match; a field that begins with "*" is not restricted. tz and errors as above. */
int ebb_cron_parse(const char *text, const struct ebb_tz *tz, struct ebb_calendar **out, struct ebb_err *err);
/* Every step_ms of elapsed time. start_of_day: counted from the first instant of each local date, the last slot of a
 * day cut short, step at most 24 h; else counted from the epoch and tz may be NULL. EBB_ESCHEDULE. */
int ebb_every_new(int64_t step_ms, bool start_of_day, const struct ebb_tz *tz, struct ebb_calendar **out,
                  struct ebb_err *err);
void ebb_calendar_free(struct ebb_calendar *calendar);
/* Append the normal form of the expression: parsed again it is the same trigger. Fixed steps: "every 2h from
 * start_of_day". */
void ebb_calendar_format(const struct ebb_calendar *calendar, struct ebb_buf *out);
/* First fire strictly after `after_ms`. False when there is none within 400 years. */
bool ebb_calendar_next(const struct ebb_calendar *calendar, int64_t after_ms, int64_t *out_ms);
/* Last fire at or before `at_ms`. False when there is none since 1970 or within 400 years. */
bool ebb_calendar_last(const struct ebb_calendar *calendar, int64_t at_ms, int64_t *out_ms);
/* How many fires there are after `after_ms` up to and including `until_ms`, by arithmetic; at most 400 years count. */
int64_t ebb_calendar_count(const struct ebb_calendar *calendar, int64_t after_ms, int64_t until_ms);

/* The wall time that a fire stands for: seconds since the epoch as if the wall were UTC. */
struct ebb_calendar_wall {
    int64_t local_s;
    int64_t used_s;  /* what the wall shows at the fire: another one in a gap */
    bool is_gap;     /* that time is skipped: the fire is the first instant after it */
    bool is_overlap; /* that time happens twice: the fire is the first */
};
/* Of an instant at which the calendar fires. */
void ebb_calendar_wall(const struct ebb_calendar *calendar, int64_t fire_ms, struct ebb_calendar_wall *out);

#endif
