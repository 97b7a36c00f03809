/* SPDX-License-Identifier: Apache-2.0 */
#include "base/calendar_priv.h"

#include <stdlib.h>
#include <strings.h>

/* The week begins on Monday here: "Sat..Sun" is a plain range. */
static const char *const WEEKDAYS[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

static const struct ebb_field WEEKDAY = {"weekday", 0, 6, WEEKDAYS, 7, 0, 7, "..", false, false};
static const struct ebb_field YEAR = {"year", EBB_CALENDAR_YEAR_MIN, EBB_CALENDAR_YEAR_MAX, NULL, 0, 0, 0, "..", true,
                                      true};
static const struct ebb_field MONTH = {"month", 1, 12, NULL, 0, 0, 0, "..", true, true};
static const struct ebb_field DAY = {"day", 1, 31, NULL, 0, 0, 0, "..", true, true};
static const struct ebb_field HOUR = {"hour", 0, 23, NULL, 0, 0, 0, "..", true, true};
static const struct ebb_field MINUTE = {"minute", 0, 59, NULL, 0, 0, 0, "..", true, true};

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_end(const struct ebb_field_text *t)
{
    return !*t->p || is_space(*t->p);
}

/* Whether the word at p holds the character. */
static bool word_has(const char *p, char wanted)
{
    for (; *p && !is_space(*p); p++)
        if (*p == wanted)
            return true;
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int end_word(struct ebb_field_text *t, const char *what)
{
    if (!is_end(t))
        return ebb__field_refuse(t, "something follows the %s", what);
    ebb__field_skip_spaces(t);
    return 0;
}

/* ["last "] weekday list */
static int parse_weekdays(struct ebb_field_text *t, struct ebb_calendar *c)
{
    uint64_t monday_first;
    int rc;

    if (strncasecmp(t->p, "last", 4) == 0 && is_space(t->p[4])) {
        c->last_weekday = true;
        t->p += 4;
        ebb__field_skip_spaces(t);
    }
    if (!is_letter(*t->p))
        return ebb__field_refuse(t, "a weekday is missing");
    rc = ebb__field_mask(t, &WEEKDAY, &monday_first);
    if (rc)
        return rc;
    c->weekdays = (uint8_t)((monday_first << 1 | monday_first >> 6) & EBB_WEEKDAYS_ALL);
    return end_word(t, "weekdays");
}

static int parse_years(struct ebb_field_text *t, struct ebb_calendar *c)
{
    struct ebb_field_item item;
    int rc;

    if (t->p[0] == '*' && t->p[1] == '-') {
        t->p++;
        return 0;
    }
    do {
        if (c->year_count == EBB_CALENDAR_YEARS_MAX)
            return ebb__field_refuse(t, "more than %d years in a list", EBB_CALENDAR_YEARS_MAX);
        rc = ebb__field_item(t, &YEAR, &item);
        if (rc)
            return rc;
        c->years[c->year_count].from = (uint16_t)item.from;
        c->years[c->year_count].to = (uint16_t)item.to;
        c->years[c->year_count].step = (uint16_t)item.step;
        c->year_count++;
    } while (ebb__field_take(t, ","));
    return 0;
}

/* A list in which "last" stands for the last day of the month. */
static int parse_days(struct ebb_field_text *t, struct ebb_calendar *c)
{
    struct ebb_field_item item;
    int rc;

    c->days = 0;
    do {
        if (ebb__field_take(t, "last")) {
            c->last_day = true;
            continue;
        }
        rc = ebb__field_item(t, &DAY, &item);
        if (rc)
            return rc;
        for (int day = item.from; day <= item.to; day += item.step)
            c->days |= 1u << day;
    } while (ebb__field_take(t, ","));
    return 0;
}

/* [year-]month-day */
static int parse_date(struct ebb_field_text *t, struct ebb_calendar *c)
{
    const char *dash = strchr(t->p, '-');
    uint64_t months;
    int rc = 0;

    if (dash && word_has(t->p, '-') && word_has(dash + 1, '-')) {
        rc = parse_years(t, c);
        if (!rc && !ebb__field_take(t, "-"))
            rc = ebb__field_refuse(t, "a \"-\" is missing after the year");
    }
    if (!rc)
        rc = ebb__field_mask(t, &MONTH, &months);
    if (rc)
        return rc;
    if (!ebb__field_take(t, "-"))
        return ebb__field_refuse(t, "a \"-\" is missing after the month");
    c->months = (uint16_t)months;
    rc = parse_days(t, c);
    return rc ? rc : end_word(t, "date");
}

/* hour:minute, and ":00" for those who are used to write seconds */
static int parse_time(struct ebb_field_text *t, struct ebb_calendar *c)
{
    uint64_t hours;
    int rc;

    c->any_hour = t->p[0] == '*' && t->p[1] == ':';
    rc = ebb__field_mask(t, &HOUR, &hours);
    if (rc)
        return rc;
    if (!ebb__field_take(t, ":"))
        return ebb__field_refuse(t, "a \":\" is missing after the hour");
    rc = ebb__field_mask(t, &MINUTE, &c->minutes);
    if (rc)
        return rc;
    c->hours = (uint32_t)hours;
    if (*t->p == ':' && !ebb__field_take(t, ":00"))
        return ebb__field_refuse(t, "seconds are not supported");
    return end_word(t, "time of day");
}

static int parse_all(struct ebb_field_text *t, struct ebb_calendar *c)
{
    int rc = 0;

    ebb__field_skip_spaces(t);
    if (!*t->p)
        return ebb__field_refuse(t, "empty");
    if (is_letter(*t->p))
        rc = parse_weekdays(t, c);
    if (!rc && *t->p && !word_has(t->p, ':') && word_has(t->p, '-'))
        rc = parse_date(t, c);
    if (!rc && *t->p)
        rc = word_has(t->p, ':') ? parse_time(t, c) : ebb__field_refuse(t, "neither a date nor a time of day");
    if (!rc && *t->p)
        rc = ebb__field_refuse(t, "something follows the time of day");
    return rc ? rc : ebb__calendar_check(c, t);
}

int ebb_calendar_parse(const char *text, const struct ebb_tz *tz, struct ebb_calendar **out, struct ebb_err *err)
{
    struct ebb_field_text t = {"calendar", text, text, err};
    struct ebb_calendar *c = calloc(1, sizeof *c);
    int rc;

    *out = NULL;
    if (!c)
        return ebb_err_nomem(err);
    c->kind = EBB_CALENDAR_EXPRESSION;
    c->tz = tz;
    c->minutes = 1;
    c->hours = 1;
    c->days = EBB_DAYS_ALL;
    c->months = EBB_MONTHS_ALL;
    c->weekdays = EBB_WEEKDAYS_ALL;
    rc = parse_all(&t, c);
    if (rc)
        goto out;
    *out = c;
    c = NULL;
out:
    free(c);
    if (rc == -EBB_ESCHEDULE)
        ebb_err_hint(err, "write [weekdays] [year-month-day] hour:minute, such as \"Sun 02:00\" or \"*-*-01 03:30\"");
    return rc;
}
