/* SPDX-License-Identifier: Apache-2.0
 *
 * The calendar against a model that asks the rules minute by minute around changes of the clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>

#include "trigger.h"

/* What the rules say, minute by minute. */
struct model {
    bool minutes[60], hours[24], days[32], weekdays[7], any_hour;
};

static bool model_wants(const struct model *m, int64_t wall_s)
{
    int64_t day = wall_s >= 0 ? wall_s / 86400 : -((86399 - wall_s) / 86400);
    int second = (int)(wall_s - day * 86400);
    struct ebb_civil c;

    ebb_civil_of_days(day, &c);
    return second % 60 == 0 && m->minutes[second / 60 % 60] && m->hours[second / 3600] && m->days[c.day] &&
           m->weekdays[c.weekday];
}

/* Whether it fires at this minute; *reached_s is the latest wall time seen before it (exclusive end). */
static bool model_fires(const struct model *m, const struct ebb_tz *tz, int64_t utc_s, int64_t *reached_s)
{
    int64_t wall_s = utc_s + ebb_tz_offset(tz, utc_s), first_s = *reached_s;
    bool fires = m->any_hour && model_wants(m, wall_s);

    if (wall_s >= *reached_s)
        *reached_s = wall_s + 60;
    for (int64_t w = first_s; w <= wall_s && !m->any_hour; w += 60)
        fires = fires || model_wants(m, w);
    return fires;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Fill a field with some values and write it as a list; returns the text's length. */
static int random_list(bool *values, int min, int max, int chance, uint64_t *random, char *text, size_t size)
{
    int length = 0;
    int sure = min + (int)(next_random(random) % (unsigned)(max - min + 1));

    for (int v = min; v <= max; v++) {
        values[v] = v == sure || next_random(random) % 100 < (unsigned)chance;
        if (values[v])
            length += snprintf(text + length, size - (size_t)length, "%s%d", length ? "," : "", v);
    }
    return length;
}

static void random_model(struct model *m, uint64_t *random, char *cron, size_t size)
{
    char minute[300], hour[100] = "*", day[200], weekday[30];

    m->any_hour = next_random(random) % 3 == 0;
    random_list(m->minutes, 0, 59, (int)(next_random(random) % 20), random, minute, sizeof minute);
    if (m->any_hour)
        memset(m->hours, 1, sizeof m->hours);
    else
        random_list(m->hours, 0, 23, (int)(next_random(random) % 30), random, hour, sizeof hour);
    random_list(m->days, 1, 31, 95, random, day, sizeof day);
    random_list(m->weekdays, 0, 6, 90, random, weekday, sizeof weekday);
    /* The day field begins with a star, so that both day fields must match. */
    m->days[1] = true;
    snprintf(cron, size, "%s %s */31,%s * %s", minute, hour, day, weekday);
}

static void check_window(const struct model *m, const struct trigger *t, const char *cron, int64_t start_s, int days)
{
    int64_t reached_s = start_s - 60 + ebb_tz_offset(t->tz, start_s - 60) + 60, before_ms = start_s * 1000 - 1, ms;
    int64_t count = 0;

    for (int64_t utc_s = start_s; utc_s < start_s + days * 86400; utc_s += 60) {
        if (!model_fires(m, t->tz, utc_s, &reached_s))
            continue;
        count++;
        if (!ebb_calendar_next(t->calendar, before_ms, &ms) || ms != utc_s * 1000)
            fail_msg("%s in %s: next is %" PRId64 ", not %" PRId64, cron, ebb_tz_name(t->tz), ms / 1000, utc_s);
        if (count > 1 && (!ebb_calendar_last(t->calendar, utc_s * 1000 - 1, &ms) || ms != before_ms))
            fail_msg("%s in %s: last is %" PRId64 ", not %" PRId64, cron, ebb_tz_name(t->tz), ms / 1000, before_ms);
        before_ms = utc_s * 1000;
    }
    ms = ebb_calendar_count(t->calendar, start_s * 1000 - 1, (start_s + days * 86400 - 60) * 1000);
    if (ms != count)
        fail_msg("%s in %s from %" PRId64 ": count %" PRId64 ", not %" PRId64, cron, ebb_tz_name(t->tz), start_s, ms,
                 count);
}

static void test_minute_by_minute(void **state)
{
    /* Windows of 12 days that hold a change of the clock. */
    static const struct {
        const char *zone, *start;
    } WINDOWS[] = {
        {"Europe/Berlin", "2026-03-24T00:00:00Z"},       {"Europe/Berlin", "2026-10-20T00:00:00Z"},
        {"Australia/Lord_Howe", "2026-10-01T00:00:00Z"}, {"Australia/Lord_Howe", "2026-04-01T00:00:00Z"},
        {"America/St_Johns", "2006-10-25T00:00:00Z"},    {"America/St_Johns", "2006-03-29T00:00:00Z"},
        {"America/Santiago", "2023-08-30T00:00:00Z"},    {"America/Santiago", "2023-03-28T00:00:00Z"},
        {"Antarctica/Troll", "2026-03-25T00:00:00Z"},    {"Antarctica/Troll", "2026-10-20T00:00:00Z"},
        {"Africa/Casablanca", "2023-03-15T00:00:00Z"},   {"Africa/Casablanca", "2023-04-18T00:00:00Z"},
        {"Pacific/Apia", "2011-12-26T00:00:00Z"},        {"America/Havana", "2030-10-30T00:00:00Z"},
        {"Asia/Gaza", "2075-02-01T00:00:00Z"},           {"America/New_York", "2420-03-05T00:00:00Z"},
    };
    uint64_t random = 88172645463325252u;

    (void)state;
    for (size_t i = 0; i < sizeof WINDOWS / sizeof WINDOWS[0]; i++)
        for (int k = 0; k < 12; k++) {
            struct model m = {0};
            struct trigger t;
            char cron[800];

            random_model(&m, &random, cron, sizeof cron);
            open_trigger(&t, KIND_CRON, cron, WINDOWS[i].zone);
            check_window(&m, &t, cron, instant(WINDOWS[i].start) / 1000, 12);
            close_trigger(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minute_by_minute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
