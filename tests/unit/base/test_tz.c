/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/tz.h"

static const char *const ZONES[] = {
    "Europe/Berlin",     "America/New_York", "Australia/Lord_Howe", "America/Santiago",
    "Africa/Casablanca", "Europe/Dublin",    "Antarctica/Troll",    "Pacific/Apia",
    "Asia/Kathmandu",    "America/St_Johns", "Pacific/Kwajalein",   "Asia/Gaza",
};
enum { ZONE_COUNT = sizeof ZONES / sizeof ZONES[0] };

#define Y1900 INT64_C(-2208988800)
#define Y2100 INT64_C(4102444800)
#define Y2600 INT64_C(19880899200)

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int64_t random_between(uint64_t *state, int64_t low, int64_t high)
{
    return low + (int64_t)(next_random(state) % (uint64_t)(high - low));
}

static struct ebb_tz *load(const char *name)
{
    struct ebb_tz *tz = NULL;
    struct ebb_err err = {0};

    if (ebb_tz_load(name, &tz, &err))
        fail_msg("%s", err.message);
    assert_string_equal(ebb_tz_name(tz), name);
    return tz;
}

/* Against the C library: 1900 to 2100 densely, then to 2600 where only the rule tells. */
static void test_offsets_as_libc(void **state)
{
    uint64_t random = 88172645463325252u;

    (void)state;
    for (int z = 0; z < ZONE_COUNT; z++) {
        struct ebb_tz *tz = load(ZONES[z]);

        setenv("TZ", ZONES[z], 1);
        tzset();
        for (int i = 0; i < 20000; i++) {
            time_t t = random_between(&random, Y1900, i % 4 ? Y2100 : Y2600);
            struct tm tm;
            struct ebb_civil c;

            localtime_r(&t, &tm);
            ebb_tz_civil(tz, t, &c);
            if (ebb_tz_offset(tz, t) != tm.tm_gmtoff || c.year != tm.tm_year + 1900 || c.month != tm.tm_mon + 1 ||
                c.day != tm.tm_mday || c.hour != tm.tm_hour || c.minute != tm.tm_min || c.second != tm.tm_sec ||
                c.weekday != tm.tm_wday)
                fail_msg("%s at %lld: %d instead of %ld", ZONES[z], (long long)t, ebb_tz_offset(tz, t), tm.tm_gmtoff);
        }
        ebb_tz_free(tz);
    }
    unsetenv("TZ");
    tzset();
}

/* The first instant whose wall time is past local_s though that second never showed. */
static int64_t slow_gap_end(const struct ebb_tz *tz, int64_t local_s)
{
    for (int64_t u = local_s - 100000; u < local_s + 100000; u++)
        if (u - 1 + ebb_tz_offset(tz, u - 1) < local_s && u + ebb_tz_offset(tz, u) > local_s)
            return u;
    fail_msg("no gap at %" PRId64, local_s);
    return 0;
}

/* All instants with that wall time, from the offsets seen in the days around it. */
static int slow_instants(const struct ebb_tz *tz, int64_t local_s, int64_t at[2])
{
    int count = 0;

    for (int64_t u = local_s - 100800; u < local_s + 100800; u += 900) {
        int64_t candidate = local_s - ebb_tz_offset(tz, u);

        if (candidate + ebb_tz_offset(tz, candidate) != local_s || (count && at[count - 1] == candidate) || count == 2)
            continue;
        at[count++] = candidate;
    }
    if (count == 2 && at[0] > at[1]) {
        int64_t swap = at[0];

        at[0] = at[1];
        at[1] = swap;
    }
    if (!count)
        at[0] = slow_gap_end(tz, local_s);
    return count;
}

static void check_instants(const struct ebb_tz *tz, int64_t local_s)
{
    int64_t want[2] = {0, 0}, have[2] = {0, 0};
    int want_count = slow_instants(tz, local_s, want), have_count = ebb_tz_instants(tz, local_s, have);

    if (want_count != have_count || want[0] != have[0] || (want_count == 2 && want[1] != have[1]))
        fail_msg("%s, wall %" PRId64 ": %d at %" PRId64 ", not %d at %" PRId64, ebb_tz_name(tz), local_s, have_count,
                 have[0], want_count, want[0]);
}

/* An instant at which the offset changes, after `from_s`, by halving; 0 when the year shows none. */
static int64_t find_change(const struct ebb_tz *tz, int64_t from_s)
{
    for (int64_t low = from_s; low < from_s + 366 * 86400; low += 86400) {
        int64_t high = low + 86400, left = low;

        if (ebb_tz_offset(tz, low) == ebb_tz_offset(tz, high))
            continue;
        while (high - left > 1) {
            int64_t middle = left + (high - left) / 2;

            if (ebb_tz_offset(tz, middle) == ebb_tz_offset(tz, low))
                left = middle;
            else
                high = middle;
        }
        return high;
    }
    return 0;
}

static void test_instants_as_brute_force(void **state)
{
    uint64_t random = 362436069;

    (void)state;
    for (int z = 0; z < ZONE_COUNT; z++) {
        struct ebb_tz *tz = load(ZONES[z]);

        for (int i = 0; i < 150; i++) {
            int64_t from_s = random_between(&random, Y1900, i % 4 ? Y2100 : Y2600);
            int64_t change_s = find_change(tz, from_s);
            int64_t before_s = change_s + ebb_tz_offset(tz, change_s - 1);
            int64_t after_s = change_s + ebb_tz_offset(tz, change_s);

            check_instants(tz, from_s);
            if (!change_s || i >= 60)
                continue;
            check_instants(tz, before_s - 1);
            check_instants(tz, before_s);
            check_instants(tz, after_s - 1);
            check_instants(tz, after_s);
            check_instants(tz, (before_s + after_s) / 2);
        }
        ebb_tz_free(tz);
    }
}

/* The transitions of the scheduler's worked cases (checked with zdump). */
static void test_known_changes(void **state)
{
    struct ebb_tz *tz = load("Europe/Berlin");
    int64_t at[2];

    (void)state;
    assert_int_equal(ebb_tz_offset(tz, INT64_C(1774745999)), 3600);
    assert_int_equal(ebb_tz_offset(tz, INT64_C(1774746000)), 7200);
    /* 2026-03-29 02:30 is missing, 2026-10-25 02:30 happens twice. */
    assert_int_equal(ebb_tz_instants(tz, ebb_civil_days(2026, 3, 29) * 86400 + 9000, at), 0);
    assert_int_equal(at[0], INT64_C(1774746000));
    assert_int_equal(ebb_tz_instants(tz, ebb_civil_days(2026, 10, 25) * 86400 + 9000, at), 2);
    assert_int_equal(at[0], INT64_C(1792888200));
    assert_int_equal(at[1], INT64_C(1792891800));
    ebb_tz_free(tz);
}

static void test_utc_and_extremes(void **state)
{
    struct ebb_tz *utc = load("UTC"), *berlin = load("Europe/Berlin");
    struct ebb_civil c;
    int64_t at[2];

    (void)state;
    assert_int_equal(ebb_tz_offset(utc, INT64_MAX), 0);
    assert_int_equal(ebb_tz_instants(utc, 12345, at), 1);
    assert_int_equal(at[0], 12345);
    ebb_tz_civil(utc, -1, &c);
    assert_true(c.year == 1969 && c.month == 12 && c.day == 31 && c.hour == 23 && c.second == 59);
    /* Far away nothing overflows, and the rule still holds: July is summer, January is not. */
    ebb_tz_civil(berlin, INT64_MAX, &c);
    ebb_tz_civil(berlin, INT64_MIN, &c);
    assert_int_equal(ebb_tz_instants(berlin, INT64_MAX, at), 1);
    assert_int_equal(ebb_tz_instants(berlin, INT64_MIN, at), 1);
    assert_int_equal(ebb_tz_offset(berlin, ebb_civil_days(9999, 7, 1) * 86400), 7200);
    assert_int_equal(ebb_tz_offset(berlin, ebb_civil_days(9999, 1, 1) * 86400), 3600);
    assert_int_equal(ebb_tz_offset(berlin, ebb_civil_days(1800, 1, 1) * 86400), 3208); /* local mean time */
    ebb_tz_free(utc);
    ebb_tz_free(berlin);
    ebb_tz_free(NULL);
}

static void test_names(void **state)
{
    static const char *const BAD[] = {
        "",
        "EST",
        "MST",
        "HST",
        "EET",
        "CET",
        "PST8PDT",
        "W-SU",
        "GMT",
        "GMT+0",
        "GMT0",
        "Zulu",
        "utc",
        "Europe",
        "Europe/",
        "/etc/passwd",
        "../x",
        "a/../b",
        "./UTC",
        "Europe//Berlin",
        "Europe/Berlin ",
        " Europe/Berlin",
        "Europe/Ber.lin",
        "Europe/Atlantis",
        "right/UTC",
        "right/Europe/Berlin",
        "posix/Europe/Berlin",
        "Europe/Berlin\n",
        "America/Argentina",
        "Europe\\Berlin",
        "Etc/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    struct ebb_tz *tz = NULL;
    struct ebb_err err;
    char version[16];

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        if (ebb_tz_load(BAD[i], &tz, &err) != -EBB_ETIME || tz || !err.hint[0])
            fail_msg("\"%s\" is accepted", BAD[i]);
    ebb_tz_free(load("Etc/GMT+5"));
    ebb_tz_free(load("America/Argentina/Buenos_Aires"));
    ebb_tz_free(load("America/Port-au-Prince"));
    ebb_tz_version(version);
    assert_true(strlen(version) < sizeof version);
}

/* A small zone file is put together: version, counts, changes and footer as asked. */
struct made {
    unsigned char bytes[512];
    size_t n;
};

static void put_u32(struct made *m, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        m->bytes[m->n++] = (unsigned char)(v >> shift);
}

static void put_header(struct made *m, char version, uint32_t leaps, uint32_t times, uint32_t types)
{
    memcpy(m->bytes + m->n, "TZif", 4);
    m->bytes[m->n + 4] = (unsigned char)version;
    memset(m->bytes + m->n + 5, 0, 15);
    m->n += 20;
    put_u32(m, 0);
    put_u32(m, 0);
    put_u32(m, leaps);
    put_u32(m, times);
    put_u32(m, types);
    put_u32(m, 4);
}

static void put_type(struct made *m, int32_t offset_s)
{
    put_u32(m, (uint32_t)offset_s);
    m->bytes[m->n++] = 0;
    m->bytes[m->n++] = 0;
}

static void put_text(struct made *m, const char *text, size_t n)
{
    memcpy(m->bytes + m->n, text, n);
    m->n += n;
}

/* Version 2 without changes: the footer tells all. */
static void make_footer_zone(struct made *m, int32_t offset_s, const char *footer)
{
    m->n = 0;
    for (int block = 0; block < 2; block++) {
        put_header(m, '2', 0, 0, 1);
        put_type(m, offset_s);
        put_text(m, "ZZZ", 4);
    }
    put_text(m, "\n", 1);
    put_text(m, footer, strlen(footer));
    put_text(m, "\n", 1);
}

static struct ebb_tz *parse_footer_zone(int32_t offset_s, const char *footer)
{
    struct made m;
    struct ebb_tz *tz = NULL;
    struct ebb_err err = {0};

    make_footer_zone(&m, offset_s, footer);
    if (ebb_tz_parse("Test/Zone", m.bytes, m.n, &tz, &err))
        fail_msg("%s: %s", footer, err.message);
    return tz;
}

/* Rules as the C library reads them from TZ itself. */
static void test_footers_as_libc(void **state)
{
    static const struct {
        int32_t offset_s;
        const char *rule;
    } CASES[] = {
        {3600, "CET-1CEST,M3.5.0,M10.5.0/3"},
        {-18000, "EST5EDT,M3.2.0,M11.1.0"},
        {36000, "AEST-10AEDT,M10.1.0,M4.1.0/3"},
        {37800, "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"},
        {-10800, "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1"},
        {3600, "IST-1GMT0,M10.5.0,M3.5.0/1"},
        {-18000, "EST5EDT,J60/2,J300/2:30:15"},
        {-18000, "EST5EDT,59,299/26"},
        {7200, "EET-2EEST,M3.4.4/50,M10.4.4/50"},
        {-12600, "NST3:30NDT2:30,M3.2.0/0:01,M11.1.0/0:01"},
        {20700, "<+0545>-5:45"},
    };
    uint64_t random = 521288629;

    (void)state;
    for (size_t k = 0; k < sizeof CASES / sizeof CASES[0]; k++) {
        struct ebb_tz *tz = parse_footer_zone(CASES[k].offset_s, CASES[k].rule);

        setenv("TZ", CASES[k].rule, 1);
        tzset();
        for (int i = 0; i < 20000; i++) {
            time_t t = random_between(&random, 0, i % 4 ? Y2100 : 4 * Y2600);
            struct tm tm;

            localtime_r(&t, &tm);
            if (ebb_tz_offset(tz, t) != tm.tm_gmtoff)
                fail_msg("%s at %lld: %d instead of %ld", CASES[k].rule, (long long)t, ebb_tz_offset(tz, t),
                         tm.tm_gmtoff);
        }
        ebb_tz_free(tz);
    }
    unsetenv("TZ");
    tzset();
}

/* RFC 8536 section 3.3.1 gives this as summer time all the year. */
static void test_summer_all_year(void **state)
{
    struct ebb_tz *tz = parse_footer_zone(-18000, "EST5EDT,0/0,J365/25");

    (void)state;
    for (int64_t t = 0; t < Y2600; t += 86400 * 13 + 77)
        assert_int_equal(ebb_tz_offset(tz, t), -14400);
    ebb_tz_free(tz);
}

static void test_bad_footers(void **state)
{
    static const char *const BAD[] = {
        "C",
        "CE-1",
        "CET",
        "CET-25",
        "CET-1CEST",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M3.5.0,",
        "CET-1CEST,M0.5.0,M10.5.0",
        "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,J0,J1",
        "CET-1CEST,J366,J1",
        "CET-1CEST,366,1",
        "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-1CEST,M3.5.0,M10.5.0/3x",
        "<CET-1",
        "CET-1:60",
        "CET-1:",
        "CET-1CEST,M3.5.0,M10.5.0 ",
        "CET-0001",
        ":Europe/Berlin",
    };
    struct made m;
    struct ebb_tz *tz = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        make_footer_zone(&m, 3600, BAD[i]);
        if (ebb_tz_parse("Test/Zone", m.bytes, m.n, &tz, NULL) != -EBB_ETIME || tz)
            fail_msg("\"%s\" is accepted", BAD[i]);
    }
}

/* Version 1: 32-bit times, no footer. `index` and the order of the changes are as given. */
static void make_old_zone(struct made *m, uint32_t leaps, uint32_t first, uint32_t second, unsigned char index)
{
    m->n = 0;
    put_header(m, '\0', leaps, 2, 2);
    put_u32(m, first);
    put_u32(m, second);
    m->bytes[m->n++] = 1;
    m->bytes[m->n++] = index;
    put_type(m, 3600);
    put_type(m, 7200);
    put_text(m, "ZZZ", 4);
    memset(m->bytes + m->n, 0, 8 * leaps);
    m->n += 8 * leaps;
}

static void test_old_version(void **state)
{
    struct made m;
    struct ebb_tz *tz = NULL;

    (void)state;
    make_old_zone(&m, 0, (uint32_t)-1000, 1000, 0);
    assert_int_equal(ebb_tz_parse("Test/Zone", m.bytes, m.n, &tz, NULL), 0);
    assert_int_equal(ebb_tz_offset(tz, -1001), 3600);
    assert_int_equal(ebb_tz_offset(tz, -1000), 7200);
    assert_int_equal(ebb_tz_offset(tz, 1000), 3600);
    ebb_tz_free(tz);
}

static void expect_refused(const struct made *m, const char *why)
{
    struct ebb_tz *tz = NULL;
    struct ebb_err err = {0};

    assert_int_equal(ebb_tz_parse("Test/Zone", m->bytes, m->n, &tz, &err), -EBB_ETIME);
    assert_null(tz);
    if (!strstr(err.message, why))
        fail_msg("\"%s\" does not say \"%s\"", err.message, why);
}

static void test_damaged(void **state)
{
    struct made m;

    (void)state;
    make_old_zone(&m, 1, 0, 1000, 0);
    expect_refused(&m, "leap seconds");
    make_old_zone(&m, 0, 1000, 1000, 0);
    expect_refused(&m, "order");
    make_old_zone(&m, 0, 0, 1000, 2);
    expect_refused(&m, "offset");
    make_old_zone(&m, 0, 0, 1000, 0);
    memset(m.bytes + 32, 0xFF, 4); /* count of changes */
    expect_refused(&m, "cut short");
    make_old_zone(&m, 0, 0, 1000, 0);
    memset(m.bytes + 36, 0, 4); /* count of types */
    expect_refused(&m, "types");
    make_footer_zone(&m, 93600, "");
    expect_refused(&m, "offset");
    make_footer_zone(&m, -90000, "");
    expect_refused(&m, "offset");
    m.bytes[0] = 'X';
    expect_refused(&m, "TZif");
    m.n = 0;
    expect_refused(&m, "TZif");
}

/* Cut at each length: refused. A changed byte: refused or read, never worse. */
static void test_cut_and_changed(void **state)
{
    struct made m;
    struct ebb_tz *tz = NULL;

    (void)state;
    make_footer_zone(&m, 3600, "CET-1CEST,M3.5.0,M10.5.0/3");
    for (size_t n = 0; n < m.n; n++) {
        unsigned char *copy = malloc(n + 1);

        memcpy(copy, m.bytes, n);
        assert_int_equal(ebb_tz_parse("Test/Zone", copy, n, &tz, NULL), -EBB_ETIME);
        free(copy);
    }
    for (size_t i = 0; i < m.n * 8; i++) {
        int64_t at[2];

        m.bytes[i / 8] ^= (unsigned char)(1u << i % 8);
        if (ebb_tz_parse("Test/Zone", m.bytes, m.n, &tz, NULL) == 0)
            ebb_tz_instants(tz, Y2100, at);
        ebb_tz_free(tz);
        m.bytes[i / 8] ^= (unsigned char)(1u << i % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets_as_libc), cmocka_unit_test(test_instants_as_brute_force),
        cmocka_unit_test(test_known_changes),   cmocka_unit_test(test_utc_and_extremes),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_footers_as_libc),
        cmocka_unit_test(test_summer_all_year), cmocka_unit_test(test_bad_footers),
        cmocka_unit_test(test_old_version),     cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_cut_and_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
