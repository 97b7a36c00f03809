/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tz_priv.h"

#include "base/time_priv.h"

enum { YEARS_AHEAD = 401, FIRST_YEAR = 1600, HOURS_MAX = 167, OFFSET_HOURS_MAX = 24 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool take_char(const char **p, char wanted)
{
    if (**p != wanted)
        return false;
    (*p)++;
    return true;
}

/* At most three digits, value at least min and at most max. */
static bool take_number(const char **p, int min, int max, int *out)
{
    const char *start = *p;
    int value = 0;

    for (; is_digit(**p) && *p - start < 3; (*p)++)
        value = value * 10 + (**p - '0');
    *out = value;
    return *p != start && !is_digit(**p) && value >= min && value <= max;
}

/* An abbreviation: three letters or more, or anything alphanumeric in angle brackets. */
static bool skip_name(const char **p)
{
    const char *start = *p;

    if (take_char(p, '<')) {
        while (is_letter(**p) || is_digit(**p) || **p == '+' || **p == '-')
            (*p)++;
        return *p - start >= 4 && take_char(p, '>');
    }
    while (is_letter(**p))
        (*p)++;
    return *p - start >= 3;
}

/* [+-]hh[:mm[:ss]] */
static bool take_clock(const char **p, int hours_max, int32_t *out_s)
{
    int sign = **p == '-' ? -1 : 1;
    int hours, minutes = 0, seconds = 0;

    if (**p == '+' || **p == '-')
        (*p)++;
    if (!take_number(p, 0, hours_max, &hours))
        return false;
    if (take_char(p, ':')) {
        if (!take_number(p, 0, 59, &minutes))
            return false;
        if (take_char(p, ':') && !take_number(p, 0, 59, &seconds))
            return false;
    }
    *out_s = sign * (hours * 3600 + minutes * 60 + seconds);
    return true;
}

/* Jn | n | Mm.w.d, then [/time], 02:00 when there is none. */
static bool take_day(const char **p, struct ebb_tz_rule_day *out)
{
    bool good;

    if (take_char(p, 'J')) {
        out->kind = EBB_TZ_DAY_JULIAN;
        good = take_number(p, 1, 365, &out->day);
    } else if (take_char(p, 'M')) {
        out->kind = EBB_TZ_DAY_WEEK;
        good = take_number(p, 1, 12, &out->month) && take_char(p, '.') && take_number(p, 1, 5, &out->week) &&
               take_char(p, '.') && take_number(p, 0, 6, &out->day);
    } else {
        out->kind = EBB_TZ_DAY_ZERO;
        good = take_number(p, 0, 365, &out->day);
    }
    out->time_s = 2 * 3600;
    if (good && take_char(p, '/'))
        good = take_clock(p, HOURS_MAX, &out->time_s);
    return good;
}

static bool take_summer(const char **p, struct ebb_tz_rule *out)
{
    out->has_summer = true;
    out->summer_offset_s = out->offset_s + 3600;
    if (!skip_name(p))
        return false;
    if (**p != ',') {
        if (!take_clock(p, OFFSET_HOURS_MAX, &out->summer_offset_s))
            return false;
        out->summer_offset_s = -out->summer_offset_s;
    }
    return take_char(p, ',') && take_day(p, &out->start) && take_char(p, ',') && take_day(p, &out->end);
}

bool ebb__tz_rule_parse(const char *text, struct ebb_tz_rule *out)
{
    const char *p = text;

    memset(out, 0, sizeof *out);
    if (!skip_name(&p) || !take_clock(&p, OFFSET_HOURS_MAX, &out->offset_s))
        return false;
    out->offset_s = -out->offset_s; /* POSIX counts west of UTC */
    if (*p && !take_summer(&p, out))
        return false;
    return !*p;
}

/* Days since the epoch on which the rule changes the clock in a year. */
static int64_t day_in_year(const struct ebb_tz_rule_day *day, int64_t year)
{
    int64_t first;
    struct ebb_civil month;
    int in_month;

    if (day->kind == EBB_TZ_DAY_ZERO)
        return ebb_civil_days(year, 1, 1) + day->day;
    if (day->kind == EBB_TZ_DAY_JULIAN) /* 29 February is never counted */
        return ebb_civil_days(year, 1, 1) + day->day - 1 + (day->day >= 60 ? ebb_civil_month_length(year, 2) - 28 : 0);
    first = ebb_civil_days(year, day->month, 1);
    ebb_civil_of_days(first, &month);
    in_month = (day->day - month.weekday + 7) % 7 + (day->week - 1) * 7;
    if (in_month >= ebb_civil_month_length(year, day->month))
        in_month -= 7;
    return first + in_month;
}

/* A wall time of the rule as an instant; offset_s is in force before the change. */
static int64_t change_in_year(const struct ebb_tz_rule_day *day, int64_t year, int32_t offset_s)
{
    return day_in_year(day, year) * EBB_DAY_S + day->time_s - offset_s;
}

/* The summer that begins in a year ends in the same one, or in the next in the south. */
static int64_t summer_end(const struct ebb_tz_rule *rule, int64_t year, int64_t start_s)
{
    int64_t end_s = change_in_year(&rule->end, year, rule->summer_offset_s);

    return end_s > start_s ? end_s : change_in_year(&rule->end, year + 1, rule->summer_offset_s);
}

int ebb__tz_rule_expand(const struct ebb_tz_rule *rule, struct ebb_tz *tz, struct ebb_err *err)
{
    int64_t known_s = tz->count > 1 ? tz->changes[tz->count - 1].at_s : ebb_civil_days(FIRST_YEAR, 1, 1) * EBB_DAY_S;
    struct ebb_civil known;
    int64_t year;
    int rc = 0;

    if (!rule->has_summer)
        return 0;
    ebb__civil_of_seconds(known_s, &known);
    year = known.year - 1;
    for (int i = 0; i <= YEARS_AHEAD + 1 && !rc; i++) {
        int64_t start_s = change_in_year(&rule->start, year + i, rule->offset_s);
        int64_t end_s = summer_end(rule, year + i, start_s);
        int64_t next_s = change_in_year(&rule->start, year + i + 1, rule->offset_s);

        rc = ebb__tz_add(tz, start_s, rule->summer_offset_s, err);
        if (!rc && end_s < next_s) /* else it is summer all the year */
            rc = ebb__tz_add(tz, end_s, rule->offset_s, err);
    }
    tz->repeats = tz->changes[tz->count - 1].at_s >= known_s + EBB_TZ_CYCLE_S;
    return rc;
}
