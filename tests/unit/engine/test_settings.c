/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of a binding: guards that are made stricter, never looser, and blackouts.
 */
#include "engine_help.h"

#define HOUR ((int64_t)3600000)

/* A policy with every guard. */
static const char GUARD[] =
    "guard = { overlap = \"queue_one\", min_interval = \"6h\", timeout = \"4h\", ignore_own = true, stop_in_quiet = "
    "true, pause_after = 5,\n"
    " deletes = { max_files = 100, max_share = 0.1, max_bytes = \"1GiB\", on_exceed = \"hold\" },\n"
    " rewrites = { max_files = 50, max_bytes = \"2GiB\", on_exceed = \"trim\" },\n"
    " fleet = { slot = \"s\", max_running = 4 },\n"
    " backoff = { after_failures = 2, first = \"1h\", factor = 2, max = \"8h\" },\n"
    " quiet = { { from = \"01:00\", to = \"02:00\" } } },";

static int settings_of(const char *lines, const char *site, struct ebb_settings **out, struct ebb_policy **policy,
                       struct ebb_value **guard, struct ebb_err *err)
{
    struct ebb_settings_site bound = {0};

    *policy = help_policy(lines, "return skip(all {})");
    *guard = help_json(site);
    bound.guard = *guard;
    return ebb_settings_new_bound(*policy, &bound, NULL, out, err);
}

static void refused(const char *site, const char *name)
{
    struct ebb_settings *s = NULL;
    struct ebb_policy *policy;
    struct ebb_value *guard;
    struct ebb_err err;
    char want[128];

    snprintf(want, sizeof want, "bind.guard.%s: looser than in the policy", name);
    if (settings_of(GUARD, site, &s, &policy, &guard, &err) != -EBB_ECONFIG || !strstr(err.message, want))
        fail_msg("%s: %s", site, s ? "taken" : err.message);
    assert_true(err.hint[0] != '\0');
    ebb_value_free(guard);
    ebb_policy_free(policy);
}

static void test_nothing_is_loosened(void **state)
{
    (void)state;
    refused("{\"overlap\":\"cancel_running\"}", "overlap");
    refused("{\"min_interval\":\"5h\"}", "min_interval");
    refused("{\"min_interval\":\"0s\"}", "min_interval");
    refused("{\"timeout\":\"5h\"}", "timeout");
    refused("{\"ignore_own\":false}", "ignore_own");
    refused("{\"stop_in_quiet\":false}", "stop_in_quiet");
    refused("{\"pause_after\":6}", "pause_after");
    refused("{\"deletes\":{\"max_files\":101}}", "deletes.max_files");
    refused("{\"deletes\":{\"max_share\":0.2}}", "deletes.max_share");
    refused("{\"deletes\":{\"max_bytes\":\"2GiB\"}}", "deletes.max_bytes");
    refused("{\"deletes\":{\"on_exceed\":\"trim\"}}", "deletes.on_exceed");
    refused("{\"rewrites\":{\"max_files\":51}}", "rewrites.max_files");
    refused("{\"rewrites\":{\"max_bytes\":\"3GiB\"}}", "rewrites.max_bytes");
    refused("{\"fleet\":{\"slot\":\"other\",\"max_running\":1}}", "fleet.slot");
    refused("{\"fleet\":{\"slot\":\"s\",\"max_running\":5}}", "fleet.max_running");
    refused("{\"backoff\":{\"first\":\"30m\"}}", "backoff.first");
    refused("{\"backoff\":{\"first\":\"1h\",\"after_failures\":3}}", "backoff.after_failures");
    refused("{\"backoff\":{\"first\":\"1h\",\"factor\":1.5}}", "backoff.factor");
    refused("{\"backoff\":{\"first\":\"1h\",\"max\":\"7h\"}}", "backoff.max");
}

static void test_everything_can_be_stricter(void **state)
{
    static const char SITE[] = "{\"overlap\":\"skip\",\"min_interval\":\"7h\",\"timeout\":\"3h\",\"pause_after\":4,"
                               "\"deletes\":{\"max_files\":99,\"max_share\":0.05,\"max_bytes\":5},"
                               "\"rewrites\":{\"max_files\":49,\"max_bytes\":6,\"on_exceed\":\"hold\"},"
                               "\"fleet\":{\"slot\":\"s\",\"max_running\":3},"
                               "\"backoff\":{\"after_failures\":1,\"first\":\"2h\",\"factor\":3,\"max\":\"9h\"},"
                               "\"quiet\":[{\"from\":\"03:00\",\"to\":\"04:00\"}]}";
    struct ebb_settings *s = NULL;
    const struct ebb_guard *g;
    struct ebb_policy *policy;
    struct ebb_value *guard;
    struct ebb_err err;

    (void)state;
    if (settings_of(GUARD, SITE, &s, &policy, &guard, &err))
        fail_msg("%s", err.message);
    g = ebb_settings_get_guard(s);
    assert_int_equal(g->overlap, EBB_OVERLAP_SKIP);
    assert_int_equal(g->min_interval_ms, 7 * HOUR);
    assert_int_equal(g->timeout_ms, 3 * HOUR);
    assert_int_equal(g->pause_after, 4);
    assert_int_equal(g->deletes_max_files, 99);
    assert_true(g->deletes_max_share == 0.05);
    assert_int_equal(g->deletes_max_bytes, 5);
    assert_int_equal(g->rewrites_max_files, 49);
    assert_int_equal(g->rewrites_max_bytes, 6);
    assert_int_equal(g->rewrites_on_exceed, EBB_EXCEED_HOLD);
    assert_int_equal(g->fleet_max_running, 3);
    assert_int_equal(g->backoff_after, 1);
    assert_int_equal(g->backoff_first_ms, 2 * HOUR);
    assert_true(g->backoff_factor == 3);
    assert_int_equal(g->backoff_max_ms, 9 * HOUR);
    assert_true(ebb_guard_is_quiet(g, NULL, HOUR)); /* both windows */
    assert_true(ebb_guard_is_quiet(g, NULL, 3 * HOUR));
    assert_false(ebb_guard_is_quiet(g, NULL, 2 * HOUR));
    ebb_settings_free(s);
    ebb_value_free(guard);
    ebb_policy_free(policy);
}

/* What the binding does not name stays; what the policy does not have is taken. */
static void test_the_rest_stays(void **state)
{
    struct ebb_settings *s = NULL;
    const struct ebb_guard *g;
    struct ebb_policy *policy;
    struct ebb_value *guard;
    struct ebb_err err;

    (void)state;
    assert_int_equal(settings_of(GUARD, "{\"min_interval\":\"6h\"}", &s, &policy, &guard, &err), 0);
    g = ebb_settings_get_guard(s);
    assert_int_equal(g->deletes_max_files, 100);
    assert_int_equal(g->backoff_max_ms, 8 * HOUR);
    assert_int_equal(g->overlap, EBB_OVERLAP_QUEUE_ONE);
    assert_int_equal(g->rewrites_on_exceed, EBB_EXCEED_TRIM);
    assert_true(g->stop_in_quiet);
    ebb_settings_free(s);
    ebb_value_free(guard);
    ebb_policy_free(policy);
    assert_int_equal(settings_of("",
                                 "{\"min_interval\":\"2h\",\"backoff\":{\"first\":\"1h\"},\"deletes\":{\"max_files\":3}"
                                 ",\"fleet\":{\"slot\":\"s\",\"max_running\":1}}",
                                 &s, &policy, &guard, &err),
                     0);
    g = ebb_settings_get_guard(s);
    assert_int_equal(g->min_interval_ms, 2 * HOUR);
    assert_true(g->has_backoff);
    assert_int_equal(g->deletes_max_files, 3);
    assert_string_equal(g->fleet_slot, "s");
    ebb_settings_free(s);
    ebb_value_free(guard);
    ebb_policy_free(policy);
}

static void test_quiet_of_both_must_leave_time(void **state)
{
    struct ebb_settings *s = NULL;
    struct ebb_policy *policy;
    struct ebb_value *guard;
    struct ebb_err err;

    (void)state;
    assert_int_equal(settings_of("guard = { quiet = { { from = \"00:00\", to = \"12:00\" } } },",
                                 "{\"quiet\":[{\"from\":\"12:00\",\"to\":\"00:00\"}]}", &s, &policy, &guard, &err),
                     -EBB_ECONFIG);
    ebb_value_free(guard);
    ebb_policy_free(policy);
}

static void test_the_schema_of_a_binding(void **state)
{
    static const struct {
        const char *json, *why;
    } BAD[] = {
        {"{\"min_intervall\":\"1d\"}", "min_interval"},
        {"{\"min_interval\":5}", "guard.min_interval"},
        {"{\"quiet\":[{\"from\":\"25:00\",\"to\":\"26:00\"}]}", "guard.quiet[1]"},
        {"{\"deletes\":{\"max_share\":2}}", "guard.deletes.max_share"},
        {"{\"fleet\":{\"slot\":\"s\"}}", "max_running"},
        {"[]", "guard"},
    };
    struct ebb_value *good = help_json("{\"min_interval\":\"1d\",\"deletes\":{\"max_files\":5}}");
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_guard_check_site("ebb.lua: bind[1]", good, &err), 0);
    ebb_value_free(good);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct ebb_value *bad = help_json(BAD[i].json);

        assert_int_equal(ebb_guard_check_site("ebb.lua: bind[1]", bad, &err), -EBB_ECONFIG);
        if (strncmp(err.message, "ebb.lua: bind[1]: ", 18) || !strstr(err.message, BAD[i].why))
            fail_msg("%s", err.message);
        ebb_value_free(bad);
    }
}

static void test_blackouts_are_read(void **state)
{
    static const char *const BAD[] = {"[\"2026-13-01\"]",
                                      "[\"2026-02-29\"]",
                                      "[\"2026-1-01\"]",
                                      "[\"2026-01-01 \"]",
                                      "[\"\"]",
                                      "[\"1969-12-31\"]",
                                      "[\"2026-01-01..\"]",
                                      "[\"2026-01-02..2026-01-01\"]",
                                      "[1]",
                                      "{}",
                                      "[\"2026-01-01...2026-01-02\"]"};
    struct ebb_blackout days[EBB_POLICY_BLACKOUTS_MAX];
    struct ebb_value *good = help_json("[\"2028-02-29\",\"2026-12-24..2027-01-02\"]");
    struct ebb_err err;
    size_t count;

    (void)state;
    assert_int_equal(ebb_blackouts_parse(good, days, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_int_equal(days[0].first_day, 21243);
    assert_int_equal(days[0].last_day, 21243);
    assert_int_equal(days[1].last_day - days[1].first_day, 9);
    ebb_value_free(good);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct ebb_value *bad = help_json(BAD[i]);

        if (ebb_blackouts_parse(bad, days, &count, &err) != -EBB_ECONFIG)
            fail_msg("%s: taken", BAD[i]);
        assert_int_equal(count, 0);
        ebb_value_free(bad);
    }
    assert_int_equal(ebb_blackouts_parse(NULL, days, &count, &err), 0);
}

/* A run of free time is found over windows and blackouts that touch, and beyond fifteen days of them. */
static void test_the_first_free_instant(void **state)
{
    struct ebb_value *days = help_json("[\"2026-03-29..2026-05-31\"]");
    struct ebb_settings_site bound = {.blackouts = days, .blackout_tz = "Europe/Berlin"};
    struct ebb_policy *policy = help_policy(
        "guard = { quiet = { { from = \"22:00\", to = \"06:00\", tz = \"Europe/Berlin\" } } },", "return skip(all {})");
    struct ebb_settings *s = NULL;
    struct ebb_err err;
    int64_t at = 0;
    unsigned by;

    (void)state;
    assert_int_equal(ebb_settings_new_bound(policy, &bound, NULL, &s, &err), 0);
    assert_true(ebb_guard_wait(ebb_settings_get_guard(s), NULL, HELP_NOW - 2 * HOUR, &at, &by));
    assert_int_equal(at, (int64_t)1780286400000); /* 2026-06-01T04:00Z = 06:00 CEST */
    assert_int_equal(by, EBB_HELD_QUIET | EBB_HELD_BLACKOUT);
    assert_true(ebb_guard_wait(ebb_settings_get_guard(s), NULL, at, &at, &by));
    assert_int_equal(by, 0);
    assert_false(ebb_guard_wait(ebb_settings_get_guard(s), NULL, INT64_MAX, &at, &by));
    assert_false(ebb_guard_wait(ebb_settings_get_guard(s), NULL, INT64_MIN, &at, &by));
    ebb_settings_free(s);
    ebb_policy_free(policy);
    ebb_value_free(days);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_loosened),     cmocka_unit_test(test_everything_can_be_stricter),
        cmocka_unit_test(test_the_rest_stays),          cmocka_unit_test(test_quiet_of_both_must_leave_time),
        cmocka_unit_test(test_the_schema_of_a_binding), cmocka_unit_test(test_blackouts_are_read),
        cmocka_unit_test(test_the_first_free_instant),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
