/* SPDX-License-Identifier: Apache-2.0
 *
 * Time triggers: calendar expressions ("Sun 02:00", "Mon..Fri *:00/15", "*-*-01 03:30", "last Sun 02:00"), five-field cron, and
 * fixed steps. Rules for clock changes: design of the scheduler (a named time in a gap fires once, at the first instant after it; a
 * time that happens twice fires at the first only; hour "*" fires at both). Pure, immutable once parsed.
 */
#ifndef EBB_BASE_CALENDAR_H
#define EBB_BASE_CALENDAR_H

#include "base/tz.h"

struct ebb_calendar;
/* tz is borrowed and must outlive the calendar. EBB_ESCHEDULE with position and reason. */
int ebb_calendar_parse(const char *text, const struct ebb_tz *tz, struct ebb_calendar **out, struct ebb_err *err);
int ebb_cron_parse(const char *text, const struct ebb_tz *tz, struct ebb_calendar **out, struct ebb_err *err);
/* Every step_ms; start_of_day: counted from the first instant of each local date (last slot of a day cut short), else from the
 * epoch. */
int ebb_every_new(int64_t step_ms, bool start_of_day, const struct ebb_tz *tz, struct ebb_calendar **out,
                  struct ebb_err *err);
void ebb_calendar_free(struct ebb_calendar *calendar);
/* Append the normal form of the expression. */
void ebb_calendar_format(const struct ebb_calendar *calendar, struct ebb_buf *out);
/* First fire strictly after `after_ms`. False when there is none within 400 years. */
bool ebb_calendar_next(const struct ebb_calendar *calendar, int64_t after_ms, int64_t *out_ms);
/* Last fire at or before `at_ms`. False when there is none since 1970. */
bool ebb_calendar_last(const struct ebb_calendar *calendar, int64_t at_ms, int64_t *out_ms);

#endif
