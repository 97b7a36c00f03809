/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <time.h>

#include "base/time.h"
#include "tsv.h"

static void check_timestamp(char **cells, int count, void *data)
{
    char *text = tsv_text(cells[0]), *zone = tsv_text(cells[1]);
    struct ebb_err err = {0};
    int64_t ms = -7;
    int rc;

    assert_true(count >= 3);
    assert_non_null(text);
    assert_non_null(zone);
    rc = ebb_time_parse(text, zone, &ms, &err);
    if (strcmp(cells[2], "error") == 0) {
        if (rc != -EBB_ETIME || !err.message[0] || ebb_time_parse(text, zone, &ms, NULL) != -EBB_ETIME)
            fail_msg("\"%s\" in \"%s\": %d instead of an error", text, zone, rc);
    } else if (rc || ms != strtoll(cells[2], NULL, 10)) {
        fail_msg("\"%s\" in \"%s\": %d, %" PRId64 ", %s instead of %s", text, zone, rc, ms, err.message, cells[2]);
    }
    free(text);
    free(zone);
    (*(int *)data)++;
}

static void test_timestamp_table(void **state)
{
    int seen = 0;

    (void)state;
    tsv_each("timestamps.tsv", check_timestamp, &seen);
    assert_int_equal(seen, 54);
}

static void test_timestamp_variants(void **state)
{
    static const struct {
        const char *text, *zone;
        int64_t ms;
    } GOOD[] = {
        {"-1", "", -1},
        {"2026-01-10T00:00:00 Z", "", INT64_C(1768003200000)},
        {"2026-01-10T00:00:00UTC", NULL, INT64_C(1768003200000)},
        {"2026-01-10T00:00:00+18:00", "", INT64_C(1767938400000)},
        {"2026-01-10T00:00:00-18:00", "", INT64_C(1768068000000)},
        {"2026-01-10 00:00:00 -08:00", "", INT64_C(1768032000000)},
        {"2026-01-10 00:00:00", "+01:00", INT64_C(1767999600000)},
        {"2026-01-10 00:00:00.5 Europe/Berlin", "", INT64_C(1767999600500)},
        {"9223372036854775807", "", INT64_MAX},
        {"-9223372036854775808", "", INT64_MIN},
        {"1969-12-31 23:59:59.5Z", "", -500},
    };
    static const char *const BAD[] = {
        "2026-01-10  00:00:00Z",
        "2026-01-10t00:00:00Z",
        "2026-01-10T00:00:00z",
        "2026-01-10T00:00:00  Z",
        "2026-01-10T00:00:00 ",
        "2026-1-10T00:00:00Z",
        "2026-01-10T0:00:00Z",
        "2026-01-10T00:00Z",
        " 2026-01-10T00:00:00Z",
        "2026-01-10T00:00:00Z ",
        "2026-01-10T00:00:00+18:01",
        "2026-01-10T00:00:00+01",
        "2026-01-10T00:00:00+0100",
        "2026-01-10T00:00:00+01:60",
        "2026-01-10T00:00:00+01:00x",
        "2026-01-10T24:00:00Z",
        "2026-01-10T00:00:00,5Z",
        "2026-01-10T00:00:00 GMT",
        "2026-01-10T00:00:00 EST",
        "2026-01-10T00:00:00 ../x",
        "2026-01-10T00:00:00 europe/Berlin/",
        "+1",
        "-",
        "--1",
        "1e3",
        "0x10",
        "9223372036854775808",
        "-9223372036854775809",
        "2026-01-32T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026",
        "2026-01",
        "2026-01-10Z",
    };
    int64_t ms;

    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        struct ebb_err err = {0};

        if (ebb_time_parse(GOOD[i].text, GOOD[i].zone, &ms, &err) || ms != GOOD[i].ms)
            fail_msg("\"%s\": %" PRId64 " %s", GOOD[i].text, ms, err.message);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        if (strcmp(BAD[i], "2026") == 0) /* a short epoch is an epoch */
            assert_int_equal(ebb_time_parse(BAD[i], "UTC", &ms, NULL), 0);
        else if (ebb_time_parse(BAD[i], "UTC", &ms, NULL) != -EBB_ETIME)
            fail_msg("\"%s\" is accepted", BAD[i]);
    }
}

static void test_messages_name_the_text(void **state)
{
    struct ebb_err err;
    int64_t ms;

    (void)state;
    assert_int_equal(ebb_time_parse("2026-13-01T00:00:00Z", "", &ms, &err), -EBB_ETIME);
    assert_string_equal(err.message, "time \"2026-13-01T00:00:00Z\": no such month");
    assert_int_equal(ebb_time_parse("2026-01-10 00:00:00", "", &ms, &err), -EBB_ETIME);
    assert_string_equal(err.message, "time \"2026-01-10 00:00:00\": has no time zone");
    assert_true(err.hint[0]);
    assert_int_equal(ebb_time_parse("2026-01-10 00:00:00 Europe/Atlantis", "", &ms, &err), -EBB_ETIME);
    assert_non_null(strstr(err.message, "Atlantis"));
}

static void check_format(int64_t ms, const char *iso, const char *sql)
{
    struct ebb_buf b;

    ebb_buf_init(&b, 200);
    ebb_time_iso(&b, ms);
    assert_string_equal(ebb_buf_cstr(&b), iso);
    ebb_buf_reset(&b);
    ebb_time_sql(&b, ms);
    assert_string_equal(ebb_buf_cstr(&b), sql);
    ebb_buf_fini(&b);
}

static void test_format(void **state)
{
    (void)state;
    check_format(0, "1970-01-01T00:00:00Z", "1970-01-01 00:00:00");
    check_format(-1, "1969-12-31T23:59:59.999Z", "1969-12-31 23:59:59");
    check_format(INT64_C(1768048496789), "2026-01-10T12:34:56.789Z", "2026-01-10 12:34:56");
    check_format(INT64_C(253402300799000), "9999-12-31T23:59:59Z", "9999-12-31 23:59:59");
    check_format(INT64_C(-62167219200000), "0000-01-01T00:00:00Z", "0000-01-01 00:00:00");
    check_format(INT64_C(-62167219201000), "-0001-12-31T23:59:59Z", "-0001-12-31 23:59:59");
    check_format(INT64_MAX, "292278994-08-17T07:12:55.807Z", "292278994-08-17 07:12:55");
    check_format(INT64_MIN, "-292275055-05-16T16:47:04.192Z", "-292275055-05-16 16:47:04");
}

/* Against the C library's calendar, every day from 1583 to 2600, and the extremes. */
static void test_civil(void **state)
{
    struct ebb_civil c;

    (void)state;
    for (int64_t day = -141428; day < 230200; day++) {
        time_t t = day * 86400;
        struct tm tm;

        gmtime_r(&t, &tm);
        ebb_civil_of_days(day, &c);
        if (c.year != tm.tm_year + 1900 || c.month != tm.tm_mon + 1 || c.day != tm.tm_mday || c.weekday != tm.tm_wday)
            fail_msg("day %" PRId64, day);
        assert_true(ebb_civil_days(c.year, c.month, c.day) == day);
    }
    for (int64_t day = INT64_MIN; day < 0; day += INT64_MAX / 97) {
        ebb_civil_of_days(day, &c);
        assert_in_range(c.month, 1, 12);
        assert_in_range(c.day, 1, 31);
        assert_in_range(c.weekday, 0, 6);
    }
    assert_true(ebb_civil_days(INT64_MAX, 1, 1) > 0);
    assert_true(ebb_civil_days(INT64_MIN, 12, 31) < 0);
    assert_true(ebb_civil_days(-400, 3, 1) - ebb_civil_days(-800, 3, 1) == 146097);
}

static void test_month_length(void **state)
{
    (void)state;
    assert_int_equal(ebb_civil_month_length(2000, 2), 29);
    assert_int_equal(ebb_civil_month_length(1900, 2), 28);
    assert_int_equal(ebb_civil_month_length(2024, 2), 29);
    assert_int_equal(ebb_civil_month_length(-4, 2), 29);
    assert_int_equal(ebb_civil_month_length(2026, 4), 30);
    assert_int_equal(ebb_civil_month_length(2026, 12), 31);
    assert_int_equal(ebb_civil_month_length(2026, 0), 0);
    assert_int_equal(ebb_civil_month_length(2026, 13), 0);
}

static void test_duration_parse(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } GOOD[] = {
        {"5d", 432000000}, {"36h", 129600000}, {"1h30m", 5400000}, {"90s", 90000},
        {"250ms", 250},    {"0d", 0},          {"2w", 1209600000}, {"1w1d1h1m1s1ms", 694861001},
        {"1m1ms", 60001},  {"007h", 25200000}, {"0ms", 0},         {"9223372036854775807ms", INT64_MAX},
    };
    static const char *const BAD[] = {
        "",
        "0",
        "5",
        "d",
        "5 d",
        " 5d",
        "5d ",
        "-5d",
        "+5d",
        "1.5h",
        "5D",
        "1m1h",
        "1h1h",
        "1s1m",
        "5days",
        "5min",
        "1y",
        "1h30",
        "h1",
        "1ms1s",
        "5d,",
        "５d",
        "1e3s",
        "0x5s",
        "9223372036854775808ms",
        "106751991168d",
        "99999999999999999999ms",
        "15250284452w1w",
    };
    struct ebb_err err;
    int64_t ms;

    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        assert_int_equal(ebb_duration_parse(GOOD[i].text, &ms, &err), 0);
        assert_true(ms == GOOD[i].ms);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        if (ebb_duration_parse(BAD[i], &ms, &err) != -EBB_ETIME || !strstr(err.message, "duration"))
            fail_msg("\"%s\" is accepted", BAD[i]);
}

static void test_duration_format(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } CASES[] = {
        {0, "0s"},           {1, "1ms"},           {250, "250ms"},       {1000, "1s"},
        {90000, "1m30s"},    {5400000, "1h30m"},   {129600000, "1d12h"}, {INT64_C(2592000000), "30d"},
        {86400001, "1d1ms"}, {-5400000, "-1h30m"}, {604800000, "7d"},
    };
    struct ebb_buf b;
    int64_t ms;

    (void)state;
    ebb_buf_init(&b, 100);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        ebb_buf_reset(&b);
        ebb_duration_format(&b, CASES[i].ms);
        assert_string_equal(ebb_buf_cstr(&b), CASES[i].text);
    }
    for (int64_t value = 1; value > 0 && value < INT64_MAX / 7; value = value * 7 + 3) {
        ebb_buf_reset(&b);
        ebb_duration_format(&b, value);
        assert_int_equal(ebb_duration_parse(ebb_buf_cstr(&b), &ms, NULL), 0);
        assert_true(ms == value);
    }
    ebb_buf_reset(&b);
    ebb_duration_format(&b, INT64_MIN);
    assert_string_equal(ebb_buf_cstr(&b), "-106751991167d7h12m55s808ms");
    ebb_buf_fini(&b);
}

static void test_size_parse(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } GOOD[] = {
        {"0B", 0},
        {"1B", 1},
        {"1kB", 1000},
        {"1KiB", 1024},
        {"64 KiB", 65536},
        {"500MB", 500000000},
        {"1GiB", 1073741824},
        {"1.5GiB", 1610612736},
        {"1.5GB", 1500000000},
        {"0.001kB", 1},
        {"0.5KiB", 512},
        {"2.50kB", 2500},
        {"1TB", UINT64_C(1000000000000)},
        {"1PiB", UINT64_C(1125899906842624)},
        {"16383PiB", UINT64_C(18445618173802708992)},
        {"18446744073709551615B", UINT64_MAX},
        {"1.000000000000001PB", UINT64_C(1000000000000001)},
    };
    static const char *const BAD[] = {
        "",
        "0",
        "1024",
        "B",
        "1 ",
        "1  KiB",
        " 1KiB",
        "1KiB ",
        "-1B",
        "+1B",
        "1KB",
        "1kiB",
        "1kib",
        "1K",
        "1mb",
        "1MiBx",
        "1.B",
        ".5kB",
        "1,5kB",
        "0.5B",
        "1.5B",
        "0.3KiB",
        "0.0001kB",
        "16384PiB",
        "18446744073709551616B",
        "1e3B",
        "1EiB",
        "1.0000000000000001PB",
        "1..5kB",
        "1.5.5kB",
    };
    struct ebb_err err;
    uint64_t bytes;

    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++)
        if (ebb_size_parse(GOOD[i].text, &bytes, &err) || bytes != GOOD[i].bytes)
            fail_msg("\"%s\": %" PRIu64 " %s", GOOD[i].text, bytes, err.message);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        if (ebb_size_parse(BAD[i], &bytes, &err) != -EBB_EUSAGE || !err.hint[0])
            fail_msg("\"%s\" is accepted", BAD[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timestamp_table),
        cmocka_unit_test(test_timestamp_variants),
        cmocka_unit_test(test_messages_name_the_text),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_civil),
        cmocka_unit_test(test_month_length),
        cmocka_unit_test(test_duration_parse),
        cmocka_unit_test(test_duration_format),
        cmocka_unit_test(test_size_parse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
