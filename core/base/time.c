/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time_priv.h"
#include "base/tz.h"

enum { DAYS_OF_ERA = 146097, YEARS_OF_ERA = 400, DAYS_TO_EPOCH = 719468, MAX_OFFSET_HOURS = 18 };
#define YEAR_LIMIT INT64_C(1000000000000000)

/* Where the parser stands in a text, and the text for messages. */
struct cursor {
    const char *p;
    const char *text;
    struct ebb_err *err;
};

/* Years run from March to February here: the leap day comes last, and month lengths follow one linear formula. */
int64_t ebb_civil_days(int64_t year, int month, int day)
{
    int64_t limited = year > YEAR_LIMIT ? YEAR_LIMIT : year < -YEAR_LIMIT ? -YEAR_LIMIT : year;
    int64_t y = limited - (month <= 2 ? 1 : 0);
    int64_t era = ebb__floor_div(y, YEARS_OF_ERA);
    int64_t year_of_era = y - era * YEARS_OF_ERA;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * DAYS_OF_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - DAYS_TO_EPOCH;
}

void ebb_civil_of_days(int64_t days, struct ebb_civil *out)
{
    int64_t rest = days % DAYS_OF_ERA;
    int64_t shifted = (rest < 0 ? rest + DAYS_OF_ERA : rest) + DAYS_TO_EPOCH;
    int64_t era = ebb__floor_div(days, DAYS_OF_ERA) + shifted / DAYS_OF_ERA;
    int64_t day_of_era = shifted % DAYS_OF_ERA;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;

    memset(out, 0, sizeof *out);
    out->day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    out->month = (int)(month < 10 ? month + 3 : month - 9);
    out->year = year_of_era + era * YEARS_OF_ERA + (out->month <= 2 ? 1 : 0);
    /* 1970-01-01 was a Thursday; an era is a whole number of weeks. */
    out->weekday = (int)((shifted - DAYS_TO_EPOCH + 4 + 7 * DAYS_OF_ERA) % 7);
}

int ebb_civil_month_length(int64_t year, int month)
{
    static const int LENGTHS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    if (month < 1 || month > 12)
        return 0;
    return LENGTHS[month - 1] + (month == 2 && leap ? 1 : 0);
}

void ebb__civil_of_seconds(int64_t s, struct ebb_civil *out)
{
    int64_t days = ebb__floor_div(s, EBB_DAY_S);
    int second_of_day = (int)(s - days * EBB_DAY_S);

    ebb_civil_of_days(days, out);
    out->hour = second_of_day / 3600;
    out->minute = second_of_day / 60 % 60;
    out->second = second_of_day % 60;
}

static int refuse(const struct cursor *c, const char *why)
{
    ebb_err_set(c->err, EBB_ETIME, "time \"%.64s\": %s", c->text, why);
    ebb_err_hint(c->err, "an instant is like 2026-06-01T00:00:00Z");
    return -(int)EBB_ETIME;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Exactly `count` digits. */
static bool take_number(struct cursor *c, int count, int *out)
{
    int value = 0;

    for (int i = 0; i < count; i++) {
        if (!is_digit(c->p[i]))
            return false;
        value = value * 10 + (c->p[i] - '0');
    }
    c->p += count;
    *out = value;
    return true;
}

static bool take_char(struct cursor *c, char wanted)
{
    if (*c->p != wanted)
        return false;
    c->p++;
    return true;
}

static int parse_date(struct cursor *c, struct ebb_civil *out)
{
    int year;

    if (!take_number(c, 4, &year) || !take_char(c, '-') || !take_number(c, 2, &out->month) || !take_char(c, '-') ||
        !take_number(c, 2, &out->day))
        return refuse(c, "not of the form yyyy-MM-dd HH:mm:ss");
    out->year = year;
    if (out->month < 1 || out->month > 12)
        return refuse(c, "no such month");
    if (out->day < 1 || out->day > ebb_civil_month_length(out->year, out->month))
        return refuse(c, "no such day in this month");
    return 0;
}

static int parse_clock(struct cursor *c, struct ebb_civil *out)
{
    if (!take_number(c, 2, &out->hour) || !take_char(c, ':') || !take_number(c, 2, &out->minute) ||
        !take_char(c, ':') || !take_number(c, 2, &out->second))
        return refuse(c, "the time of day is not of the form HH:mm:ss");
    if (out->hour > 23)
        return refuse(c, "no such hour");
    if (out->minute > 59)
        return refuse(c, "no such minute");
    if (out->second == 60)
        return refuse(c, "a leap second has no epoch value of its own");
    if (out->second > 59)
        return refuse(c, "no such second");
    return 0;
}

static int parse_fraction(struct cursor *c, int64_t *out_ms)
{
    int digits = 0, scale = 100;

    if (!take_char(c, '.'))
        return 0;
    for (; is_digit(*c->p); c->p++, digits++) {
        *out_ms += (*c->p - '0') * scale;
        scale /= 10;
    }
    if (digits < 1 || digits > 9)
        return refuse(c, "the fraction of the second needs 1 to 9 digits");
    return 0;
}

static int parse_offset(struct cursor *c, int64_t *out_s)
{
    int sign = *c->p++ == '-' ? -1 : 1;
    int hours, minutes;

    if (!take_number(c, 2, &hours) || !take_char(c, ':') || !take_number(c, 2, &minutes) || *c->p)
        return refuse(c, "the offset is not of the form +HH:MM");
    if (minutes > 59 || hours > MAX_OFFSET_HOURS || (hours == MAX_OFFSET_HOURS && minutes))
        return refuse(c, "the offset is beyond 18:00");
    *out_s = sign * (hours * 3600 + minutes * 60);
    return 0;
}

static int resolve_region(const struct cursor *c, const char *name, int64_t local_s, int64_t *out_s)
{
    struct ebb_tz *tz = NULL;
    int64_t at[2] = {0, 0};
    char prefix[80];
    int count, rc;

    rc = ebb_tz_load(name, &tz, c->err);
    if (rc) {
        snprintf(prefix, sizeof prefix, "time \"%.64s\"", c->text);
        return c->err ? ebb_err_as(c->err, c->err->error, prefix) : rc;
    }
    count = ebb_tz_instants(tz, local_s, at);
    ebb_tz_free(tz);
    *out_s = at[0];
    if (count == 1)
        return 0;
    rc = refuse(c, count ? "this local time exists twice" : "this local time does not exist: the clock jumps over it");
    ebb_err_hint(c->err, "write an offset such as +01:00 instead of the name of the zone");
    return rc;
}

/* From the wall clock to the instant, by the zone that stands at c->p (to the end of its text). */
static int resolve_zone(struct cursor *c, int64_t local_s, int64_t *out_s)
{
    int64_t offset_s = 0;
    int rc = 0;

    if (*c->p == '+' || *c->p == '-')
        rc = parse_offset(c, &offset_s);
    else if (strcmp(c->p, "Z") != 0 && strcmp(c->p, "UTC") != 0)
        return resolve_region(c, c->p, local_s, out_s);
    *out_s = local_s - offset_s;
    return rc;
}

static bool is_integer(const char *text)
{
    const char *p = text + (*text == '-' ? 1 : 0);

    return *p && strspn(p, "0123456789") == strlen(p);
}

static int parse_epoch(const struct cursor *c, int64_t *out_ms)
{
    long long value;

    errno = 0;
    value = strtoll(c->text, NULL, 10);
    if (errno)
        return refuse(c, "does not fit 64 bits");
    *out_ms = value;
    return 0;
}

/* Let the cursor stand at the zone: the one in the text, or the default. */
static int find_zone(struct cursor *c, const char *default_zone)
{
    bool spaced = take_char(c, ' ');

    if (*c->p)
        return 0;
    if (spaced)
        return refuse(c, "ends with a space");
    if (default_zone && *default_zone) {
        c->p = default_zone;
        return 0;
    }
    (void)refuse(c, "has no time zone");
    ebb_err_hint(c->err, "append Z for UTC, or an offset such as +01:00");
    return -EBB_ETIME;
}

static int parse_calendar_time(struct cursor *c, const char *default_zone, int64_t *out_ms)
{
    struct ebb_civil civil;
    int64_t fraction_ms = 0, utc_s = 0, local_s;
    int rc;

    memset(&civil, 0, sizeof civil);
    rc = parse_date(c, &civil);
    if (rc)
        return rc;
    if (!take_char(c, 'T') && !take_char(c, ' '))
        return refuse(c, "the date is not followed by a time of day");
    rc = parse_clock(c, &civil);
    if (!rc)
        rc = parse_fraction(c, &fraction_ms);
    if (!rc)
        rc = find_zone(c, default_zone);
    if (rc)
        return rc;
    local_s = ebb_civil_days(civil.year, civil.month, civil.day) * EBB_DAY_S + civil.hour * 3600 + civil.minute * 60 +
              civil.second;
    rc = resolve_zone(c, local_s, &utc_s);
    if (!rc)
        *out_ms = utc_s * 1000 + fraction_ms;
    return rc;
}

int ebb_time_parse(const char *text, const char *default_zone, int64_t *out_ms, struct ebb_err *err)
{
    struct cursor c = {text, text, err};

    *out_ms = 0;
    if (!*text)
        return refuse(&c, "empty");
    if (is_integer(text))
        return parse_epoch(&c, out_ms);
    return parse_calendar_time(&c, default_zone, out_ms);
}

static void add_date_and_clock(struct ebb_buf *out, const struct ebb_civil *t, char between)
{
    ebb_buf_printf(out, "%s%04" PRId64 "-%02d-%02d%c%02d:%02d:%02d", t->year < 0 ? "-" : "",
                   t->year < 0 ? -t->year : t->year, t->month, t->day, between, t->hour, t->minute, t->second);
}

void ebb_time_iso(struct ebb_buf *out, int64_t ms)
{
    int64_t s = ebb__floor_div(ms, 1000);
    struct ebb_civil t;

    ebb__civil_of_seconds(s, &t);
    add_date_and_clock(out, &t, 'T');
    if (ms % 1000)
        ebb_buf_printf(out, ".%03d", (int)((ms % 1000 + 1000) % 1000));
    ebb_buf_putc(out, 'Z');
}

void ebb_time_sql(struct ebb_buf *out, int64_t ms)
{
    struct ebb_civil t;

    ebb__civil_of_seconds(ebb__floor_div(ms, 1000), &t);
    add_date_and_clock(out, &t, ' ');
}
