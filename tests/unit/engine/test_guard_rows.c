/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards of blackouts, fleet slots and rewrites, and quiet hours that stop a run.
 */
#include "engine_help.h"

#define HOUR ((int64_t)3600000)
#define NOW HELP_NOW /* Sunday 2026-03-29T00:00Z */
#define SWEEP "action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 }"
#define REWRITE "action.rewrite_data_files { partitions = { \"b\", \"a\", \"c\" } }"
/* Three partitions of 10, 20 and 40 bytes. */
#define TABLE                                                                                                          \
    "\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"location\":\"s3://b/w/t\",\"stats\":{\"data_"   \
    "files\":7,\"bytes\":70},\"partitions\":[{\"key\":\"a\",\"files\":1,\"bytes\":10},{\"key\":\"b\",\"files\":2,"     \
    "\"bytes\":20},{\"key\":\"c\",\"files\":4,\"bytes\":40}]}"

struct asked {
    const char *guard, *action, *facts; /* facts: further members of the map */
    const char *blackouts, *zone;       /* JSON */
    const char *site;                   /* guards of the binding, JSON */
    int64_t now, revised;
    bool override_quiet;
    bool with_settings;
};

static struct ebb_decision *decide(const struct asked *a)
{
    char body[512], json[2048];
    struct ebb_value *facts, *trigger = help_json("{\"kind\":\"time\"}");
    struct ebb_value *blackouts = a->blackouts ? help_json(a->blackouts) : NULL;
    struct ebb_value *site = a->site ? help_json(a->site) : NULL;
    struct ebb_decide_input in = {.now_ms = a->now ? a->now : NOW, .allow_override_quiet = a->override_quiet};
    struct ebb_settings_site bound = {.guard = site, .blackouts = blackouts, .blackout_tz = a->zone};
    struct ebb_settings *settings = NULL;
    struct ebb_decision *d = NULL;
    struct ebb_policy *policy;
    struct ebb_err err;

    snprintf(body, sizeof body, "return run(all { check(\"yes\", 1, \"==\", 1) }, %s, { override_quiet = true })",
             a->action ? a->action : SWEEP);
    snprintf(json, sizeof json, "{" TABLE "%s%s}", a->facts ? "," : "", a->facts ? a->facts : "");
    policy = help_policy(a->guard ? a->guard : "", body);
    facts = help_json(json);
    if (a->with_settings && ebb_settings_new_bound(policy, &bound, NULL, &settings, &err))
        fail_msg("%s", err.message);
    in.facts = facts;
    in.trigger = trigger;
    in.settings = settings;
    in.blackouts = settings ? NULL : blackouts;
    in.blackout_tz = a->zone;
    in.guard = site;
    in.revised_ms = a->revised;
    if (ebb_decide(policy, &in, &d, &err))
        fail_msg("%s", err.message);
    ebb_settings_free(settings);
    ebb_policy_free(policy);
    ebb_value_free(facts);
    ebb_value_free(trigger);
    ebb_value_free(blackouts);
    ebb_value_free(site);
    return d;
}

static void check(const struct asked *a, enum ebb_verdict verdict, const char *by, int64_t until)
{
    struct ebb_decision *d = decide(a);

    if (ebb_decision_get_verdict(d) != verdict || strcmp(ebb_decision_get_by(d), by) ||
        ebb_decision_get_until_ms(d) != until)
        fail_msg("%s: %s", a->guard ? a->guard : "", ebb_decision_get_record(d));
    if (strcmp(by, "policy") && !strstr(ebb_decision_get_record(d), by))
        fail_msg("no row of %s: %s", by, ebb_decision_get_record(d));
    ebb_decision_free(d);
}

static void test_blackout(void **state)
{
    struct asked a = {.blackouts = "[\"2026-03-28..2026-03-29\",\"2026-12-24\"]"};

    (void)state;
    for (int with = 0; with < 2; with++) {
        a.with_settings = with;
        a.zone = NULL;
        check(&a, EBB_VERDICT_DEFER, "guard.blackout", NOW + 24 * HOUR);
        a.zone = "Europe/Berlin"; /* 2026-03-30 begins at 22:00Z */
        check(&a, EBB_VERDICT_DEFER, "guard.blackout", NOW + 22 * HOUR);
        a.zone = "Asia/Tokyo"; /* there at 15:00Z */
        check(&a, EBB_VERDICT_DEFER, "guard.blackout", NOW + 15 * HOUR);
        a.now = NOW + 15 * HOUR;
        check(&a, EBB_VERDICT_RUN, "policy", 0);
        a.now = NOW + 15 * HOUR - 1;
        check(&a, EBB_VERDICT_DEFER, "guard.blackout", NOW + 15 * HOUR);
        a.now = 0;
    }
}

/* Only quiet hours can be overridden; a wait that ends on a blackout waits for its end. */
static void test_blackout_is_not_overridden(void **state)
{
    struct asked a = {.blackouts = "[\"2026-03-29\"]", .override_quiet = true};

    (void)state;
    check(&a, EBB_VERDICT_DEFER, "guard.blackout", NOW + 24 * HOUR);
    a.guard = "guard = { min_interval = \"3h\" },";
    a.facts = "\"runs\":[{\"started\":1774735200000,\"ended\":1774738800000,\"outcome\":\"success\"}]"; /* to 23:00Z */
    check(&a, EBB_VERDICT_DEFER, "guard.min_interval", NOW + 24 * HOUR);
}

static void test_unreadable_blackouts_hold_everything(void **state)
{
    static const char *const BAD[] = {"[\"2026-02-30\"]", "[\"2026-03-29..2026-03-28\"]", "[\"soon\"]", "[5]",
                                      "{\"a\":\"2026-03-29\"}"};

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct ebb_value *facts = help_json("{" TABLE "}"), *days = help_json(BAD[i]);
        struct ebb_policy *policy = help_policy("", "return run(all {}, " SWEEP ")");
        struct ebb_settings *plain = NULL;
        struct ebb_decision *d = NULL;
        struct ebb_decide_input in = {.facts = facts, .now_ms = NOW, .blackouts = days};
        struct ebb_err err;

        assert_int_equal(ebb_settings_new(policy, NULL, NULL, &plain, &err), 0);
        in.settings = plain;
        assert_int_equal(ebb_decide(policy, &in, &d, &err), 0);
        assert_int_equal(ebb_decision_get_verdict(d), EBB_VERDICT_SKIP);
        assert_string_equal(ebb_decision_get_by(d), "guard.blackout");
        ebb_decision_free(d);
        ebb_settings_free(plain);
        ebb_policy_free(policy);
        ebb_value_free(facts);
        ebb_value_free(days);
    }
}

#define SLOT "guard = { fleet = { slot = \"sweep\", max_running = 2 } },"

static void test_fleet(void **state)
{
    struct asked a = {.guard = SLOT};

    (void)state;
    check(&a, EBB_VERDICT_RUN, "policy", 0); /* no fleet is kept */
    a.facts = "\"fleet\":{\"slots\":{\"other\":{\"running\":9}}}";
    check(&a, EBB_VERDICT_RUN, "policy", 0); /* nobody holds the slot */
    a.facts = "\"fleet\":{\"slots\":{\"sweep\":{\"running\":1}}}";
    check(&a, EBB_VERDICT_RUN, "policy", 0);
    a.facts = "\"fleet\":{\"slots\":{\"sweep\":{\"running\":2}}}";
    check(&a, EBB_VERDICT_DEFER, "guard.fleet", 0); /* waits, is not lost */
    a.facts = "\"fleet\":{\"slots\":{\"sweep\":{\"running\":\"x\"}}}";
    check(&a, EBB_VERDICT_DEFER, "guard.fleet", 0);
    a.facts = "\"fleet\":{\"slots\":{\"sweep\":{\"running\":-1}}}";
    check(&a, EBB_VERDICT_DEFER, "guard.fleet", 0);
}

static void check_partitions(const struct asked *a, const char *want)
{
    struct ebb_decision *d = decide(a);
    const struct ebb_value *keys = ebb_value_get(ebb_decision_get_action(d), "partitions");
    char got[16] = "";

    assert_int_equal(ebb_decision_get_verdict(d), EBB_VERDICT_RUN);
    for (size_t i = 0; i < ebb_value_get_count(keys); i++)
        strncat(got, ebb_value_get_str(ebb_value_get_at(keys, i)), 1);
    assert_string_equal(got, want);
    ebb_decision_free(d);
}

static void test_rewrites_are_cut_in_their_order(void **state)
{
    struct asked a = {.action = REWRITE};

    (void)state;
    a.guard = "guard = { rewrites = { max_bytes = 70, on_exceed = \"trim\" } },";
    check_partitions(&a, "bac");
    a.guard = "guard = { rewrites = { max_bytes = 69, on_exceed = \"trim\" } },";
    check_partitions(&a, "ba");
    a.guard = "guard = { rewrites = { max_bytes = 10, on_exceed = \"trim\" } },";
    check_partitions(&a, "a");
    a.guard = "guard = { rewrites = { max_files = 6, on_exceed = \"trim\" } },";
    check_partitions(&a, "ba");
    a.guard = "guard = { rewrites = { max_bytes = 9, on_exceed = \"trim\" } },";
    check(&a, EBB_VERDICT_SKIP, "guard.rewrites", 0);
    a.action = "action.rewrite_data_files { partitions = { \"zz\", \"a\" } }"; /* one that is not known is cut */
    a.guard = "guard = { rewrites = { max_bytes = 99, on_exceed = \"trim\" } },";
    check_partitions(&a, "a");
}

static void test_rewrites_are_held(void **state)
{
    struct asked a = {.action = REWRITE};

    (void)state;
    a.guard = "guard = { rewrites = { max_bytes = 69 } },";
    check(&a, EBB_VERDICT_SKIP, "guard.rewrites", 0);
    a.guard = "guard = { rewrites = { max_bytes = 70, max_files = 7 } },";
    check(&a, EBB_VERDICT_RUN, "policy", 0);
    a.guard = "guard = { rewrites = { max_files = 6 } },";
    check(&a, EBB_VERDICT_SKIP, "guard.rewrites", 0);
    a.action = "action.rewrite_data_files { strategy = \"binpack\" }"; /* the whole table: 70 bytes */
    a.guard = "guard = { rewrites = { max_bytes = 69, on_exceed = \"trim\" } },";
    check(&a, EBB_VERDICT_SKIP, "guard.rewrites", 0);
    a.guard = "guard = { rewrites = { max_bytes = 70 } },";
    check(&a, EBB_VERDICT_RUN, "policy", 0);
}

static void test_overlap_cancels_nothing(void **state)
{
    struct asked a = {.guard = "guard = { overlap = \"cancel_running\" },",
                      .facts = "\"runs\":[{\"started\":1774741800000,\"outcome\":\"running\"}]"};

    (void)state;
    check(&a, EBB_VERDICT_SKIP, "guard.overlap", 0);
}

/* Another revision of the policy ends a pause: what failed before it does not count. */
static void test_a_revision_ends_a_pause(void **state)
{
    struct asked a = {.guard = "guard = { pause_after = 2 },",
                      .facts = "\"runs\":[{\"started\":1774735200000,\"ended\":1774735200000,\"outcome\":\"failed\"},"
                               "{\"started\":1774738800000,\"ended\":1774738800000,\"outcome\":\"failed\"}]"};

    (void)state;
    check(&a, EBB_VERDICT_SKIP, "guard.pause", 0);
    a.revised = 1774735200000;
    check(&a, EBB_VERDICT_SKIP, "guard.pause", 0);
    a.revised = 1774735200001;
    check(&a, EBB_VERDICT_RUN, "policy", 0);
    a.guard = "guard = { pause_after = 1 },"; /* the new one failed already */
    check(&a, EBB_VERDICT_SKIP, "guard.pause", 0);
    a.revised = 1774738800001;
    check(&a, EBB_VERDICT_RUN, "policy", 0);
}

static int64_t timeout_of(const struct asked *a)
{
    struct ebb_decision *d = decide(a);
    int64_t ms = ebb_decision_get_fuses(d)->timeout_ms;

    assert_int_equal(ebb_decision_get_verdict(d), EBB_VERDICT_RUN);
    ebb_decision_free(d);
    return ms;
}

/* The next window begins on Monday at 07:00 in Berlin: 05:00Z. */
static void test_quiet_hours_stop_a_run(void **state)
{
    struct asked a = {0};

    (void)state;
    a.guard = "guard = { stop_in_quiet = true, quiet = { { days = \"Mon..Fri\", from = \"07:00\", to = \"20:00\", tz = "
              "\"Europe/Berlin\" } } },";
    assert_int_equal(timeout_of(&a), 29 * HOUR);
    a.blackouts = "[\"2026-03-30\"]";
    assert_int_equal(timeout_of(&a), 24 * HOUR);
    a.blackouts = NULL;
    a.guard = "guard = { stop_in_quiet = true, timeout = \"4h\", quiet = { { days = \"Mon..Fri\", from = \"07:00\", to "
              "= \"20:00\", tz = \"Europe/Berlin\" } } },";
    assert_int_equal(timeout_of(&a), 4 * HOUR);
    a.guard = "guard = { quiet = { { days = \"Mon..Fri\", from = \"07:00\", to = \"20:00\" } } },";
    assert_int_equal(timeout_of(&a), 0);
}

static void test_a_binding_holds_back(void **state)
{
    struct asked a = {.site = "{\"min_interval\":\"6h\"}",
                      .guard = "guard = { min_interval = \"30m\" },",
                      .facts =
                          "\"runs\":[{\"started\":1774735200000,\"ended\":1774738800000,\"outcome\":\"success\"}]"};

    (void)state;
    check(&a, EBB_VERDICT_DEFER, "guard.min_interval", NOW + 5 * HOUR);
    a.site = NULL;
    check(&a, EBB_VERDICT_RUN, "policy", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blackout),
        cmocka_unit_test(test_blackout_is_not_overridden),
        cmocka_unit_test(test_unreadable_blackouts_hold_everything),
        cmocka_unit_test(test_fleet),
        cmocka_unit_test(test_rewrites_are_cut_in_their_order),
        cmocka_unit_test(test_rewrites_are_held),
        cmocka_unit_test(test_overlap_cancels_nothing),
        cmocka_unit_test(test_a_revision_ends_a_pause),
        cmocka_unit_test(test_quiet_hours_stop_a_run),
        cmocka_unit_test(test_a_binding_holds_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
