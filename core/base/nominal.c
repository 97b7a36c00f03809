/* SPDX-License-Identifier: Apache-2.0 */
#include "base/calendar_priv.h"

#include "base/time_priv.h"

enum { MINUTES_PER_DAY = 1440, NO_TIME = -1 };

static int lowest_bit(uint64_t bits)
{
    return __builtin_ctzll(bits);
}

static int highest_bit(uint64_t bits)
{
    return 63 - __builtin_clzll(bits);
}

/* Bits n and above, n <= 64. */
static uint64_t bits_from(int n)
{
    return n > 63 ? 0 : ~UINT64_C(0) << n;
}

static bool is_year_wanted(const struct ebb_calendar *c, int64_t year)
{
    for (int i = 0; i < c->year_count; i++) {
        const struct ebb_calendar_years *y = &c->years[i];

        if (year >= y->from && year <= y->to && (year - y->from) % y->step == 0)
            return true;
    }
    return !c->year_count;
}

/* 0 = Sunday; 1970-01-01 was a Thursday. */
static int weekday_of(int64_t day)
{
    return (int)(((day + 4) % 7 + 7) % 7);
}

/* Days of the month whose weekday is wanted: the week's pattern, turned to the month's first day and repeated. */
static uint32_t weekday_bits(const struct ebb_calendar *c, int first_weekday, int length)
{
    uint64_t week = (uint64_t)c->weekdays << 7 | c->weekdays;
    uint64_t turned = week >> first_weekday & EBB_WEEKDAYS_ALL;
    uint64_t month = (turned | turned << 7 | turned << 14 | turned << 21 | turned << 28) << 1;

    if (c->last_weekday)
        month &= bits_from(length - 6);
    return (uint32_t)month;
}

/* Wanted days of a month, bit 1..31. */
static uint32_t days_of_month(const struct ebb_calendar *c, int64_t year, int month)
{
    int length = ebb_civil_month_length(year, month);
    uint32_t valid = (uint32_t)~bits_from(length + 1) & EBB_DAYS_ALL;
    uint32_t days, weekdays;

    if (!(c->months >> month & 1) || !is_year_wanted(c, year))
        return 0;
    days = c->days | (c->last_day ? 1u << length : 0);
    if (c->weekdays == EBB_WEEKDAYS_ALL && !c->last_weekday && (c->any_weekday || c->kind != EBB_CALENDAR_CRON))
        return days & valid;
    weekdays = weekday_bits(c, weekday_of(ebb_civil_days(year, month, 1)), length);
    if (c->kind == EBB_CALENDAR_CRON && !c->any_day && !c->any_weekday)
        return (days | weekdays) & valid;
    return days & weekdays & valid;
}

/* First wanted minute of the day that is not before `minute`. */
static int time_from(const struct ebb_calendar *c, int minute)
{
    int hour = minute / 60;
    uint64_t minutes = c->minutes & bits_from(minute % 60);
    uint64_t later = c->hours & bits_from(hour + 1);

    if (c->hours >> hour & 1 && minutes)
        return hour * 60 + lowest_bit(minutes);
    return later ? lowest_bit(later) * 60 + lowest_bit(c->minutes) : NO_TIME;
}

/* Last wanted minute of the day that is not after `minute`. */
static int time_until(const struct ebb_calendar *c, int minute)
{
    int hour = minute / 60;
    uint64_t minutes = c->minutes & ~bits_from(minute % 60 + 1);
    uint64_t earlier = c->hours & ~bits_from(hour);

    if (c->hours >> hour & 1 && minutes)
        return hour * 60 + highest_bit(minutes);
    return earlier ? highest_bit(earlier) * 60 + highest_bit(c->minutes) : NO_TIME;
}

/* The next month that can hold a wanted day: single steps, but over unwanted years at once. */
static void step_month(const struct ebb_calendar *c, int64_t *year, int *month, int by)
{
    *month += by;
    if (*month >= 1 && *month <= 12 && is_year_wanted(c, *year))
        return;
    *year += by;
    *month = by > 0 ? 1 : 12;
}

static int64_t at(int64_t year, int month, int day, int minute)
{
    return ebb_civil_days(year, month, day) * EBB_DAY_S + minute * 60;
}

/* Whether the weekday alone decides: every date, month and year is wanted. */
static bool is_weekly(const struct ebb_calendar *c)
{
    return c->days == EBB_DAYS_ALL && c->months == EBB_MONTHS_ALL && !c->year_count && !c->last_weekday &&
           (c->kind != EBB_CALENDAR_CRON || c->any_day);
}

/* The first wanted day from `day` on, by its weekday. */
static int64_t weekly_from(const struct ebb_calendar *c, int64_t day)
{
    unsigned turned = ((unsigned)c->weekdays << 7 | c->weekdays) >> weekday_of(day);

    return day + lowest_bit(turned);
}

static bool weekly_next(const struct ebb_calendar *c, int64_t day, int time, int64_t end_s, int64_t *out_s)
{
    int64_t first = weekly_from(c, time == NO_TIME ? day + 1 : day);

    *out_s = first * EBB_DAY_S + (first == day ? time : time_from(c, 0)) * 60;
    return *out_s < end_s;
}

bool ebb__nominal_next(const struct ebb_calendar *c, int64_t from_s, int64_t end_s, int64_t *out_s)
{
    int64_t from_minute = -ebb__floor_div(-from_s, 60);
    int64_t day = ebb__floor_div(from_minute, MINUTES_PER_DAY);
    int time = time_from(c, (int)(from_minute - day * MINUTES_PER_DAY));
    struct ebb_civil date;
    uint64_t days;

    if (from_s >= end_s)
        return false;
    if (is_weekly(c))
        return weekly_next(c, day, time, end_s, out_s);
    ebb_civil_of_days(day, &date);
    days = days_of_month(c, date.year, date.month);
    if (time != NO_TIME && days >> date.day & 1) {
        *out_s = day * EBB_DAY_S + time * 60;
        return *out_s < end_s;
    }
    days &= bits_from(date.day + 1);
    while (!days) {
        step_month(c, &date.year, &date.month, 1);
        if (at(date.year, date.month, 1, 0) >= end_s)
            return false;
        days = days_of_month(c, date.year, date.month);
    }
    *out_s = at(date.year, date.month, lowest_bit(days), time_from(c, 0));
    return *out_s < end_s;
}

bool ebb__nominal_last(const struct ebb_calendar *c, int64_t from_s, int64_t end_s, int64_t *out_s)
{
    int64_t last_minute = ebb__floor_div(end_s - 1, 60);
    int64_t day = ebb__floor_div(last_minute, MINUTES_PER_DAY);
    int time = time_until(c, (int)(last_minute - day * MINUTES_PER_DAY));
    struct ebb_civil date;
    uint64_t days;

    if (from_s >= end_s)
        return false;
    ebb_civil_of_days(day, &date);
    days = days_of_month(c, date.year, date.month);
    if (time != NO_TIME && days >> date.day & 1) {
        *out_s = day * EBB_DAY_S + time * 60;
        return *out_s >= from_s;
    }
    days &= ~bits_from(date.day);
    while (!days) {
        if (at(date.year, date.month, 1, 0) <= from_s)
            return false;
        step_month(c, &date.year, &date.month, -1);
        days = days_of_month(c, date.year, date.month);
    }
    *out_s = at(date.year, date.month, highest_bit(days), time_until(c, MINUTES_PER_DAY - 1));
    return *out_s >= from_s;
}

/* Wanted minutes of a day before `minute`. */
static int64_t times_before(const struct ebb_calendar *c, int minute)
{
    uint64_t hours = c->hours & ~bits_from(minute / 60);
    int64_t count = (int64_t)__builtin_popcountll(hours) * __builtin_popcountll(c->minutes);

    if (minute < MINUTES_PER_DAY && c->hours >> (minute / 60) & 1)
        count += __builtin_popcountll(c->minutes & ~bits_from(minute % 60));
    return count;
}

static bool is_day_wanted(const struct ebb_calendar *c, int64_t day)
{
    struct ebb_civil date;

    ebb_civil_of_days(day, &date);
    return days_of_month(c, date.year, date.month) >> date.day & 1;
}

/* Wanted days in [from, end). */
static int64_t count_days(const struct ebb_calendar *c, int64_t from, int64_t end)
{
    int64_t count = 0;

    while (from < end) {
        struct ebb_civil date;
        uint64_t days;
        int length, stop;

        ebb_civil_of_days(from, &date);
        length = ebb_civil_month_length(date.year, date.month);
        stop = end - from < length - date.day + 1 ? date.day + (int)(end - from) : length + 1;
        days = days_of_month(c, date.year, date.month) & bits_from(date.day) & ~bits_from(stop);
        count += __builtin_popcountll(days);
        from += stop - date.day;
    }
    return count;
}

int64_t ebb__nominal_count(const struct ebb_calendar *c, int64_t from_s, int64_t end_s)
{
    int64_t from = -ebb__floor_div(-from_s, 60), end = -ebb__floor_div(-end_s, 60);
    int64_t first = ebb__floor_div(from, MINUTES_PER_DAY), last = ebb__floor_div(end, MINUTES_PER_DAY);
    int64_t count;

    if (from >= end)
        return 0;
    count = count_days(c, first, last) * times_before(c, MINUTES_PER_DAY);
    if (is_day_wanted(c, last))
        count += times_before(c, (int)(end - last * MINUTES_PER_DAY));
    if (is_day_wanted(c, first))
        count -= times_before(c, (int)(from - first * MINUTES_PER_DAY));
    return count;
}
