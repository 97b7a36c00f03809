/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <time.h>

#include "trigger.h"
#include "tsv.h"

/* The quoted text after `lead` in a Lua-like trigger, or `otherwise`. */
static void quoted_after(const char *text, const char *lead, const char *otherwise, char *out, size_t size)
{
    const char *start = strstr(text, lead), *end;

    snprintf(out, size, "%s", otherwise);
    if (!start)
        return;
    start += strlen(lead);
    end = strchr(start, '"');
    assert_non_null(end);
    snprintf(out, size, "%.*s", (int)(end - start), start);
}

static void open_written(struct trigger *t, const char *written)
{
    char text[100], zone[100], anchor[100];
    enum kind kind = KIND_CALENDAR;

    quoted_after(written, "{ \"", "", text, sizeof text);
    quoted_after(written, "tz = \"", "UTC", zone, sizeof zone);
    quoted_after(written, "anchor = \"", "", anchor, sizeof anchor);
    if (strncmp(written, "time.cron", 9) == 0)
        kind = KIND_CRON;
    else if (strncmp(written, "time.every", 10) == 0)
        kind = strcmp(anchor, "epoch") == 0 ? KIND_EVERY_EPOCH : KIND_EVERY_DAY;
    else
        assert_memory_equal(written, "time.calendar", 13);
    open_trigger(t, kind, text, zone);
}

/* next, last and count must all agree with the given fires. */
static void check_fires(const char *id, const struct ebb_calendar *c, int64_t from_ms, const int64_t *fires, int count)
{
    int64_t before_ms = from_ms, ms;

    for (int i = 0; i < count; i++) {
        if (!ebb_calendar_next(c, before_ms, &ms) || ms != fires[i])
            fail_msg("%s: fire %d is %" PRId64 ", not %" PRId64, id, i + 1, ms, fires[i]);
        if (!ebb_calendar_next(c, fires[i] - 1, &ms) || ms != fires[i])
            fail_msg("%s: 1 ms before fire %d: %" PRId64, id, i + 1, ms);
        if (!ebb_calendar_last(c, fires[i], &ms) || ms != fires[i])
            fail_msg("%s: last at fire %d is %" PRId64, id, i + 1, ms);
        if (i && (!ebb_calendar_last(c, fires[i] - 1, &ms) || ms != fires[i - 1]))
            fail_msg("%s: last before fire %d is %" PRId64, id, i + 1, ms);
        if (ebb_calendar_count(c, from_ms, fires[i]) != i + 1 || ebb_calendar_count(c, from_ms, fires[i] - 1) != i)
            fail_msg("%s: %" PRId64 " fires up to fire %d", id, ebb_calendar_count(c, from_ms, fires[i]), i + 1);
        before_ms = fires[i];
    }
}

/* id trigger guard from n fires note */
static void check_schedule(char **cells, int count, void *data)
{
    struct trigger t;
    cJSON *list, *item;
    int64_t fires[32];
    int fire_count = 0;

    assert_true(count >= 6);
    open_written(&t, cells[1]);
    list = cJSON_Parse(cells[5]);
    cJSON_ArrayForEach(item, list) fires[fire_count++] = instant(item->valuestring);
    assert_int_equal(fire_count, atol(cells[4]));
    if (strcmp(cells[2], "-") == 0)
        check_fires(cells[0], t.calendar, instant(cells[3]), fires, fire_count);
    cJSON_Delete(list);
    close_trigger(&t);
    (*(int *)data)++;
}

static void test_schedule_table(void **state)
{
    int seen = 0;

    (void)state;
    tsv_each("schedule.tsv", check_schedule, &seen);
    assert_int_equal(seen, 40);
}

static void test_worked_cases(void **state)
{
    static const struct {
        const char *zone, *text, *after;
        const char *fires[2]; /* and nothing between */
    } CASES[] = {
        {"Europe/Berlin", "Sun 02:00", "2026-03-28T12:00:00Z", {"2026-03-29T01:00:00Z", "2026-04-05T00:00:00Z"}},
        {"Europe/Berlin", "Sun 02:00", "2026-10-24T12:00:00Z", {"2026-10-25T00:00:00Z", "2026-11-01T01:00:00Z"}},
        {"Europe/Berlin", "*:30", "2026-10-25T00:00:00Z", {"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"}},
        {"America/New_York", "02:30", "2026-03-07T12:00:00Z", {"2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"}},
        {"America/New_York", "01:30", "2026-10-31T12:00:00Z", {"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}},
        {"Australia/Lord_Howe", "02:15", "2026-10-03T00:00:00Z", {"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
        {"Australia/Lord_Howe", "01:45", "2026-04-04T00:00:00Z", {"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct trigger t;
        int64_t fires[2] = {instant(CASES[i].fires[0]), instant(CASES[i].fires[1])};

        open_trigger(&t, KIND_CALENDAR, CASES[i].text, CASES[i].zone);
        check_fires(CASES[i].text, t.calendar, instant(CASES[i].after), fires, 2);
        close_trigger(&t);
    }
}

/* "every 2h", the host asleep for nine hours: four slots missed. */
static void test_missed_slots(void **state)
{
    struct trigger t;

    (void)state;
    open_trigger(&t, KIND_EVERY_EPOCH, "2h", "UTC");
    assert_int_equal(ebb_calendar_count(t.calendar, instant("2026-06-01T00:00:00Z"), instant("2026-06-01T09:00:00Z")),
                     4);
    assert_int_equal(ebb_calendar_count(t.calendar, 10, 10), 0);
    assert_int_equal(ebb_calendar_count(t.calendar, 10, 5), 0);
    close_trigger(&t);
}

/* Steps, ranges and lists of hours are named hours: they meet a gap and fire once in an overlap. "*" is not. */
static void test_named_hours(void **state)
{
    static const struct {
        const char *text;
        enum kind kind;
        int64_t spring, autumn; /* fires of the local dates 2026-03-29 and 2026-10-25 in Berlin */
    } CASES[] = {
        {"*:00", KIND_CALENDAR, 23, 25},    {"0 * * * *", KIND_CRON, 23, 25},     {"*:15", KIND_CALENDAR, 23, 25},
        {"15 * * * *", KIND_CRON, 23, 25},  {"00..23:15", KIND_CALENDAR, 24, 24}, {"15 0-23 * * *", KIND_CRON, 24, 24},
        {"00/1:15", KIND_CALENDAR, 24, 24}, {"15 */1 * * *", KIND_CRON, 24, 24},  {"00..23:00", KIND_CALENDAR, 23, 24},
        {"0 */2 * * *", KIND_CRON, 12, 12}, {"01,02,03:00", KIND_CALENDAR, 2, 3}, {"02:00/10", KIND_CALENDAR, 1, 6},
        {"02:*", KIND_CALENDAR, 1, 60},     {"* 2 * * *", KIND_CRON, 1, 60},      {"02..03:30", KIND_CALENDAR, 2, 2},
        {"30 2,2 * * *", KIND_CRON, 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct trigger t;
        int64_t spring, autumn;

        open_trigger(&t, CASES[i].kind, CASES[i].text, "Europe/Berlin");
        spring = ebb_calendar_count(t.calendar, instant("2026-03-28T22:59:59Z"), instant("2026-03-29T21:59:59Z"));
        autumn = ebb_calendar_count(t.calendar, instant("2026-10-24T21:59:59Z"), instant("2026-10-25T22:59:59Z"));
        if (spring != CASES[i].spring || autumn != CASES[i].autumn)
            fail_msg("%s: %" PRId64 " in spring, %" PRId64 " in autumn", CASES[i].text, spring, autumn);
        close_trigger(&t);
    }
}

static void test_normal_form(void **state)
{
    static const struct {
        enum kind kind;
        const char *text, *normal;
    } CASES[] = {
        {KIND_CALENDAR, "Sun 02:00", "Sun 02:00"},
        {KIND_CALENDAR, "Mon..Fri *:00/15", "Mon..Fri *:00/15"},
        {KIND_CALENDAR, "*-*-01 03:30", "*-*-01 03:30"},
        {KIND_CALENDAR, "last Sun 02:00", "last Sun 02:00"},
        {KIND_CALENDAR, "*-*-last 03:30", "*-*-last 03:30"},
        {KIND_CALENDAR, "  sunday   2:0 ", "Sun 02:00"},
        {KIND_CALENDAR, "Sun", "Sun 00:00"},
        {KIND_CALENDAR, "12-25", "*-12-25 00:00"},
        {KIND_CALENDAR, "*-*-* 02:00:00", "02:00"},
        {KIND_CALENDAR, "Sun,Sat,Mon 02:00", "Mon,Sat,Sun 02:00"},
        {KIND_CALENDAR, "Fri..Mon 02:00", "Mon,Fri..Sun 02:00"},
        {KIND_CALENDAR, "Mon..Sun 02:00", "02:00"},
        {KIND_CALENDAR, "Last MON..SUN 02:00", "last Mon..Sun 02:00"},
        {KIND_CALENDAR, "*/6:30", "00/6:30"},
        {KIND_CALENDAR, "8..18/2:00", "08..18/2:00"},
        {KIND_CALENDAR, "22,23:00", "22,23:00"},
        {KIND_CALENDAR, "00..23:00", "00..23:00"},
        {KIND_CALENDAR, "*:*", "*:*"},
        {KIND_CALENDAR, "*:0,1,2,3,30", "*:00..03,30"},
        {KIND_CALENDAR, "*-1,4,7,10-1 12:00", "*-01/3-01 12:00"},
        {KIND_CALENDAR, "2026..2030/2,2035-*-15,last 12:00", "2026..2030/2,2035-*-15,last 12:00"},
        {KIND_CALENDAR, "Mon *-*-1..7 04:00", "Mon *-*-01..07 04:00"},
        {KIND_CRON, "0 2 * * 0", "0 2 * * 0"},
        {KIND_CRON, " 0\t2  * * 7 ", "0 2 * * 0"},
        {KIND_CRON, "*/10 * * * *", "*/10 * * * *"},
        {KIND_CRON, "5 4 * jan-MAR Fri-sun", "5 4 * 1-3 0,5,6"},
        {KIND_CRON, "0 0 1-31 * 0-7", "0 0 1-31 * 0-6"},
        {KIND_CRON, "0 */6 */2 * */3", "0 0-18/6 */2 * */3"},
        {KIND_CRON, "0 0 */16,5 * 1", "0 0 */16,5 * 1"},
        {KIND_CRON, "0 0-23 * * *", "0 0-23 * * *"},
        {KIND_CRON, "7/20 1 * * 1-5", "7-47/20 1 * * 1-5"},
        {KIND_EVERY_DAY, "120m", "every 2h from start_of_day"},
        {KIND_EVERY_EPOCH, "45m", "every 45m from epoch"},
    };
    struct ebb_buf b;

    (void)state;
    ebb_buf_init(&b, 1000);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct trigger t;

        open_trigger(&t, CASES[i].kind, CASES[i].text, "Europe/Berlin");
        ebb_buf_reset(&b);
        ebb_calendar_format(t.calendar, &b);
        assert_string_equal(ebb_buf_cstr(&b), CASES[i].normal);
        close_trigger(&t);
        if (CASES[i].kind >= KIND_EVERY_DAY)
            continue;
        open_trigger(&t, CASES[i].kind, CASES[i].normal, "Europe/Berlin");
        ebb_buf_reset(&b);
        ebb_calendar_format(t.calendar, &b);
        assert_string_equal(ebb_buf_cstr(&b), CASES[i].normal);
        close_trigger(&t);
    }
    ebb_buf_fini(&b);
}

static void test_bad_calendars(void **state)
{
    static const char *const BAD[] = {
        "",
        " ",
        "x",
        "Foo 02:00",
        "Su 02:00",
        "Sund 02:00",
        "02",
        "2",
        "24:00",
        "02:60",
        "-1:00",
        "02:00:30",
        "02:00x",
        "02:00 Sun",
        "Sun Mon 02:00",
        "Sun,",
        "Sun, 02:00",
        "Sun..",
        "Sun/2 02:00",
        "Mon,3 02:00",
        "last",
        "last 02:00",
        "last *-*-01 02:00",
        "*-*-00",
        "*-*-32",
        "*-13-01",
        "*-00-01",
        "*-*-*-*",
        "1969-01-01",
        "2301-01-01",
        "99999-01-01",
        "*-02-30 00:00",
        "2026-02-29 00:00",
        "*-04,06-31",
        "Mon *-*-last..31",
        "22..02:00",
        "05..03:00",
        "*:00/0",
        "*:00/60",
        "*:70/5",
        "00/24:00",
        "*:00/",
        "*:00..",
        "*:",
        ":00",
        "02:00,",
        "*-*-1/40",
        "* 02:00",
        "*,:00",
        "02:00 02:00",
        "*-*-01 *-*-02 03:00",
        "0x2:00",
        "02:00\n",
        "２:00",
        "999999999999:00",
        "1970,1971,1972,1973,1974-01-01",
        "daily",
        "Sun 02.00",
        "*-*-~01 02:00",
        "*-*-01/last 00:00",
    };
    struct ebb_tz *tz = NULL;
    struct ebb_calendar *c = NULL;

    (void)state;
    assert_int_equal(ebb_tz_load("UTC", &tz, NULL), 0);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct ebb_err err = {0};

        if (ebb_calendar_parse(BAD[i], tz, &c, &err) != -EBB_ESCHEDULE || c || !err.message[0] || !err.hint[0])
            fail_msg("\"%s\" is accepted", BAD[i]);
    }
    ebb_tz_free(tz);
}

static void test_bad_crons(void **state)
{
    static const char *const BAD[] = {
        "",
        "0",
        "0 2 * *",
        "0 2 * * 0 0",
        "60 2 * * 0",
        "0 24 * * 0",
        "0 2 0 * *",
        "0 2 32 * *",
        "0 2 * 0 *",
        "0 2 * 13 *",
        "0 2 * * 8",
        "0 2 * * foo",
        "0 2 * foo *",
        "*/0 * * * *",
        "*/60 * * * *",
        "5-1 * * * *",
        "1- * * * *",
        "-1 * * * *",
        "1, * * * *",
        ",1 * * * *",
        "1..5 * * * *",
        "@daily",
        "0 2 ? * *",
        "0 2 L * *",
        "0 2 30 2 *",
        "0 2 31 4,6,9,11 *",
        "jan * * * *",
        "** * * * *",
        "*5 * * * *",
        "0 2 * * 0\n",
        "0 2 * * 1#2",
        "1/2/3 * * * *",
        "00000 * * * *",
    };
    struct ebb_tz *tz = NULL;
    struct ebb_calendar *c = NULL;

    (void)state;
    assert_int_equal(ebb_tz_load("UTC", &tz, NULL), 0);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct ebb_err err = {0};

        if (ebb_cron_parse(BAD[i], tz, &c, &err) != -EBB_ESCHEDULE || c || !err.message[0] || !err.hint[0])
            fail_msg("\"%s\" is accepted", BAD[i]);
    }
    ebb_tz_free(tz);
}

static void test_messages(void **state)
{
    struct ebb_tz *tz = NULL;
    struct ebb_calendar *c = NULL;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_tz_load("UTC", &tz, NULL), 0);
    ebb_calendar_parse("Sun 25:00", tz, &c, &err);
    assert_string_equal(err.message, "calendar \"Sun 25:00\": position 5: the hour is not within 0 to 23");
    ebb_cron_parse("0 2 * * fun", tz, &c, &err);
    assert_string_equal(err.message, "cron \"0 2 * * fun\": position 9: no weekday is called \"fun\"");
    ebb_calendar_parse("*-02-30 01:00", tz, &c, &err);
    assert_string_equal(err.message, "calendar \"*-02-30 01:00\": never fires: there is no such date");
    ebb_tz_free(tz);
}

static void test_bad_steps(void **state)
{
    struct ebb_tz *tz = NULL;
    struct ebb_calendar *c = NULL;

    (void)state;
    assert_int_equal(ebb_tz_load("UTC", &tz, NULL), 0);
    assert_int_equal(ebb_every_new(0, false, tz, &c, NULL), -EBB_ESCHEDULE);
    assert_int_equal(ebb_every_new(-5, true, tz, &c, NULL), -EBB_ESCHEDULE);
    assert_int_equal(ebb_every_new(86400001, true, tz, &c, NULL), -EBB_ESCHEDULE);
    assert_int_equal(ebb_every_new(1000, true, NULL, &c, NULL), -EBB_ESCHEDULE);
    assert_int_equal(ebb_every_new(1000, false, NULL, &c, NULL), 0);
    ebb_calendar_free(c);
    ebb_calendar_free(NULL);
    ebb_tz_free(tz);
}

/* Each slot is a step after the start of its local date, or the start of a date. */
static void test_every_start_of_day(void **state)
{
    struct trigger t;
    int64_t ms = instant("2011-12-20T00:00:00Z"), end = instant("2012-12-20T00:00:00Z"), next, last, count = 0;
    int64_t start = ms;

    (void)state;
    open_trigger(&t, KIND_EVERY_DAY, "7h", "Pacific/Apia");
    while (ebb_calendar_next(t.calendar, ms, &next) && next <= end) {
        struct ebb_civil c;

        assert_true(next > ms);
        ebb_tz_civil(t.tz, next / 1000, &c);
        assert_true(c.minute == 0 && c.second == 0);
        assert_true(ebb_calendar_last(t.calendar, next, &last) && last == next);
        assert_true(!count || (ebb_calendar_last(t.calendar, next - 1, &last) && last == ms));
        ms = next;
        count++;
        assert_int_equal(ebb_calendar_count(t.calendar, start, ms), count);
    }
    assert_true(count > 365 * 4 && count < 367 * 4 + 10);
    close_trigger(&t);
}

static void test_far_instants(void **state)
{
    static const int64_t FAR[] = {
        INT64_MIN, INT64_MIN + 1, -INT64_C(300000000000000000), INT64_C(300000000000000000), INT64_MAX - 1, INT64_MAX};
    struct trigger t;
    int64_t ms;

    (void)state;
    for (int kind = KIND_CALENDAR; kind <= KIND_EVERY_EPOCH; kind++) {
        open_trigger(&t, (enum kind)kind,
                     kind == KIND_CALENDAR ? "02:00"
                     : kind == KIND_CRON   ? "0 2 * * *"
                                           : "2h",
                     "Europe/Berlin");
        for (size_t i = 0; i < sizeof FAR / sizeof FAR[0]; i++) {
            assert_false(ebb_calendar_next(t.calendar, FAR[i], &ms));
            assert_false(ebb_calendar_last(t.calendar, FAR[i], &ms));
            assert_int_equal(ebb_calendar_count(t.calendar, FAR[i], FAR[i]), 0);
        }
        assert_int_equal(ebb_calendar_count(t.calendar, INT64_MIN, INT64_MAX), 0);
        assert_false(ebb_calendar_last(t.calendar, -1, &ms));
        assert_true(ebb_calendar_next(t.calendar, -1, &ms));
        assert_true(ms >= 0);
        assert_true(ebb_calendar_next(t.calendar, instant("9999-12-31T00:00:00Z"), &ms));
        close_trigger(&t);
    }
}

static void test_rare_dates(void **state)
{
    struct trigger t;
    int64_t ms;

    (void)state;
    /* 29 February is a Monday in 2044, then in 2072; before in 2016. */
    open_trigger(&t, KIND_CALENDAR, "Mon *-02-29 06:00", "UTC");
    assert_true(ebb_calendar_next(t.calendar, instant("2026-01-01T00:00:00Z"), &ms));
    assert_true(ms == instant("2044-02-29T06:00:00Z"));
    assert_true(ebb_calendar_next(t.calendar, ms, &ms));
    assert_true(ms == instant("2072-02-29T06:00:00Z"));
    assert_true(ebb_calendar_last(t.calendar, instant("2026-01-01T00:00:00Z"), &ms));
    assert_true(ms == instant("2016-02-29T06:00:00Z"));
    close_trigger(&t);
    open_trigger(&t, KIND_CALENDAR, "2030-06-15 12:00", "Europe/Berlin");
    assert_true(ebb_calendar_next(t.calendar, instant("2026-01-01T00:00:00Z"), &ms));
    assert_true(ms == instant("2030-06-15T10:00:00Z"));
    assert_false(ebb_calendar_next(t.calendar, ms, &ms));
    assert_false(ebb_calendar_last(t.calendar, instant("2030-06-15T09:59:59Z"), &ms));
    assert_true(ebb_calendar_last(t.calendar, instant("9000-01-01T00:00:00Z"), &ms));
    assert_true(ms == instant("2030-06-15T10:00:00Z"));
    close_trigger(&t);
    /* The last day: 29 in February 2028. */
    open_trigger(&t, KIND_CALENDAR, "*-*-last 03:30", "UTC");
    assert_true(ebb_calendar_next(t.calendar, instant("2028-02-01T00:00:00Z"), &ms));
    assert_true(ms == instant("2028-02-29T03:30:00Z"));
    assert_true(ebb_calendar_next(t.calendar, ms, &ms));
    assert_true(ms == instant("2028-03-31T03:30:00Z"));
    close_trigger(&t);
}

/* Cron: a day field that begins with "*" is not restricted, then both must match. */
static void test_cron_day_fields(void **state)
{
    static const struct {
        const char *text;
        int64_t count; /* in June 2026, which has 30 days and begins on a Monday */
    } CASES[] = {
        {"0 4 1 * 1", 5},   {"0 4 2 * 1", 6},     {"0 4 * * 1", 5},   {"0 4 2 * *", 1},
        {"0 4 */2 * 1", 3}, {"0 4 1-31 * 1", 30}, {"0 4 2 * */2", 1}, {"0 4 2 * 0-7", 30},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct trigger t;
        int64_t count;

        open_trigger(&t, KIND_CRON, CASES[i].text, "UTC");
        count = ebb_calendar_count(t.calendar, instant("2026-06-01T00:00:00Z"), instant("2026-07-01T00:00:00Z"));
        if (count != CASES[i].count)
            fail_msg("%s: %" PRId64 ", not %" PRId64, CASES[i].text, count, CASES[i].count);
        close_trigger(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule_table),  cmocka_unit_test(test_worked_cases),
        cmocka_unit_test(test_missed_slots),    cmocka_unit_test(test_named_hours),
        cmocka_unit_test(test_normal_form),     cmocka_unit_test(test_bad_calendars),
        cmocka_unit_test(test_bad_crons),       cmocka_unit_test(test_messages),
        cmocka_unit_test(test_bad_steps),       cmocka_unit_test(test_every_start_of_day),
        cmocka_unit_test(test_far_instants),    cmocka_unit_test(test_rare_dates),
        cmocka_unit_test(test_cron_day_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
