/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "table/plan_priv.h"

#define NOW INT64_C(1780272000000) /* 2026-06-01T00:00:00Z */
#define HOUR INT64_C(3600000)

static int64_t now(void *data)
{
    (void)data;
    return NOW;
}

/* The cutoff as distance before now, or an error. */
static int64_t cutoff(const char *text, bool allow, bool is_job, struct ebb_err *err)
{
    struct ebb_site site = {.clock = {now, NULL}, .allow_below_floor = allow};
    struct ebb_plan_options options = {.older_than = text, .is_job = is_job};
    struct ebb_planning p;
    int rc;

    memset(&p, 0, sizeof p);
    p.site = &site;
    p.options = &options;
    rc = ebb__plan_cutoff(&p, err);
    if (!rc && text)
        assert_string_equal(p.older_than, text);
    free(p.older_than);
    return rc ? rc : NOW - p.cutoff_ms;
}

static void test_ages_and_instants(void **state)
{
    struct ebb_err err;

    (void)state;
    assert_int_equal(cutoff(NULL, false, false, &err), 72 * HOUR);
    assert_int_equal(cutoff("24h", false, false, &err), 24 * HOUR);
    assert_int_equal(cutoff("7d", true, true, &err), 168 * HOUR);
    assert_int_equal(cutoff("2026-05-31T00:00:00Z", false, false, &err), 24 * HOUR);
    assert_int_equal(cutoff("2026-05-31T02:00:00+02:00", false, true, &err), 24 * HOUR);
    assert_int_equal(cutoff("1970-01-01T00:00:00Z", false, false, &err), NOW);
    assert_int_equal(cutoff("1960-01-01T00:00:00Z", false, false, &err), NOW + 315619200000);
}

static void test_floor(void **state)
{
    struct ebb_err err;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(cutoff("86399999ms", i & 1, i & 2, &err), i == 3 ? 86399999 : -EBB_ECUTOFF_FLOOR);
    assert_int_equal(cutoff("2026-05-31T00:00:00.001Z", false, false, &err), -EBB_ECUTOFF_FLOOR);
    assert_int_equal(cutoff("2026-06-01T00:00:00Z", false, false, &err), -EBB_ECUTOFF_FLOOR);
}

/* Zero must be written as an age, and be allowed (case TM5). */
static void test_written_zero(void **state)
{
    struct ebb_err err;

    (void)state;
    assert_int_equal(cutoff("0d", false, false, &err), -EBB_ECUTOFF_FLOOR);
    assert_int_equal(cutoff("0d", true, false, &err), 0);
    assert_int_equal(cutoff("0h", true, false, &err), 0);
    assert_int_equal(cutoff("1h", true, false, &err), -EBB_ECUTOFF_FLOOR);
    assert_int_equal(cutoff("2026-06-01T00:00:00Z", true, false, &err), -EBB_ECUTOFF_FLOOR);
    assert_int_equal(cutoff("2026-06-01T00:00:00Z", false, true, &err), -EBB_ECUTOFF_FLOOR);
    assert_int_equal(cutoff("2026-06-01T00:00:00Z", true, true, &err), 0); /* a job sees only the instant */
}

static void test_future(void **state)
{
    struct ebb_err err;

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cutoff("2026-06-01T00:00:00.001Z", i & 1, i & 2, &err), -EBB_ECUTOFF_FUTURE);
        assert_int_equal(cutoff("9999-12-31T23:59:59Z", i & 1, i & 2, &err), -EBB_ECUTOFF_FUTURE);
    }
}

static void test_unusable(void **state)
{
    static const char *const TEXTS[] = {"",   "-3d", "soon", "2026-01-10 00:00:00", "99999999d", "2026-02-30T00:00:00Z",
                                        "3d "};
    struct ebb_err err;

    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++)
        if (cutoff(TEXTS[i], true, true, &err) != -EBB_ETIME)
            fail_msg("\"%s\"", TEXTS[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ages_and_instants), cmocka_unit_test(test_floor),
        cmocka_unit_test(test_written_zero),      cmocka_unit_test(test_future),
        cmocka_unit_test(test_unusable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
