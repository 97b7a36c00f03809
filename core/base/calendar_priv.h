/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of a time trigger, for calendar_*.c, cron.c, every.c and field.c. A nominal time is a minute of the local wall
 * clock, counted in seconds since the epoch as if the wall were UTC.
 */
#ifndef EBB_BASE_CALENDAR_PRIV_H
#define EBB_BASE_CALENDAR_PRIV_H

#include "base/calendar.h"

enum ebb_calendar_kind { EBB_CALENDAR_EXPRESSION, EBB_CALENDAR_CRON, EBB_CALENDAR_EPOCH, EBB_CALENDAR_START_OF_DAY };

enum { EBB_CALENDAR_YEARS_MAX = 4, EBB_CALENDAR_YEAR_MIN = 1970, EBB_CALENDAR_YEAR_MAX = 2300 };

struct ebb_calendar_years {
    uint16_t from, to, step;
};

struct ebb_calendar {
    const struct ebb_tz *tz; /* NULL only for EBB_CALENDAR_EPOCH */
    union {
        uint64_t minutes; /* bit 0..59 */
        int64_t step_ms;  /* EBB_CALENDAR_EPOCH, EBB_CALENDAR_START_OF_DAY */
    };
    uint32_t hours; /* bit 0..23 */
    uint32_t days;  /* bit 1..31 */
    struct ebb_calendar_years years[EBB_CALENDAR_YEARS_MAX];
    uint16_t months;    /* bit 1..12 */
    uint8_t weekdays;   /* bit 0..6, 0 = Sunday */
    uint8_t year_count; /* 0: every year */
    uint8_t kind;
    bool any_hour : 1;     /* the hour is "*": no hour is named */
    bool last_day : 1;     /* also the last day of the month */
    bool last_weekday : 1; /* weekdays count only in the last seven days of the month */
    bool any_day : 1;      /* cron: the field begins with "*" */
    bool any_weekday : 1;  /* cron: the field begins with "*" */
};

#define EBB_MINUTES_ALL ((UINT64_C(1) << 60) - 1)
#define EBB_HOURS_ALL 0xFFFFFFu
#define EBB_DAYS_ALL 0xFFFFFFFEu
#define EBB_MONTHS_ALL 0x1FFEu
#define EBB_WEEKDAYS_ALL 0x7Fu

/* The smallest / greatest nominal time in [from_s, end_s), by the wall clock alone. False when there is none. */
bool ebb__nominal_next(const struct ebb_calendar *c, int64_t from_s, int64_t end_s, int64_t *out_s);
bool ebb__nominal_last(const struct ebb_calendar *c, int64_t from_s, int64_t end_s, int64_t *out_s);
/* How many there are. */
int64_t ebb__nominal_count(const struct ebb_calendar *c, int64_t from_s, int64_t end_s);

/* As the functions of calendar.h, for fixed steps. */
bool ebb__every_next(const struct ebb_calendar *c, int64_t after_ms, int64_t *out_ms);
bool ebb__every_last(const struct ebb_calendar *c, int64_t at_ms, int64_t *out_ms);
int64_t ebb__every_count(const struct ebb_calendar *c, int64_t after_ms, int64_t until_ms);

/* A text that is being read. */
struct ebb_field_text {
    const char *kind; /* "calendar" or "cron" */
    const char *text;
    const char *p;
    struct ebb_err *err;
};

/* What a field may hold. */
struct ebb_field {
    const char *name;
    int min, max;
    const char *const *names; /* full names; their first three letters do as well. NULL: none */
    int name_count;
    int name_base;     /* value of the first name */
    int period;        /* 7 for weekdays, where ranges may run over the end of the week; else 0 */
    const char *range; /* ".." or "-" */
    bool has_numbers;
    bool has_step;
};

/* from, from + step, … to; with a period the values count modulo it. */
struct ebb_field_item {
    int from, to, step;
};

/* EBB_ESCHEDULE: <kind> "<text>": position N: <why>. */
int ebb__field_refuse(const struct ebb_field_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Read one item ("*", "5", "1..5", "5/10", "1..5/2"), or a list of them into a mask with one bit per value. */
int ebb__field_item(struct ebb_field_text *t, const struct ebb_field *f, struct ebb_field_item *out);
int ebb__field_mask(struct ebb_field_text *t, const struct ebb_field *f, uint64_t *out);
void ebb__field_skip_spaces(struct ebb_field_text *t);
bool ebb__field_take(struct ebb_field_text *t, const char *word);
/* Refuse a calendar without any fire in 400 years, such as 30 February. */
int ebb__calendar_check(const struct ebb_calendar *c, const struct ebb_field_text *t);

#endif
