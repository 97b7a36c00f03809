/* SPDX-License-Identifier: Apache-2.0
 *
 * The guards: a run that the script wants is refused, deferred or skipped by C code.
 */
#include "engine_help.h"

#define HOUR ((int64_t)3600000)

struct guard_case {
    const char *guard;  /* lines of the policy */
    const char *action; /* arguments of action.remove_orphan_files */
    const char *runs;   /* JSON */
    int64_t now;
    bool floor_off, may_override;
    const char *trigger; /* JSON */
    enum ebb_verdict verdict;
    const char *by;
    int64_t until;
};

static void run_case(const struct guard_case *c)
{
    char body[1024], json[2048];
    struct ebb_policy *policy;
    struct ebb_value *facts, *trigger;
    struct ebb_decision *d = NULL;
    struct ebb_decide_input input = {
        .now_ms = c->now, .allow_below_floor = c->floor_off, .allow_override_quiet = c->may_override};
    struct ebb_err err;

    snprintf(body, sizeof body,
             "return run(all { check(\"yes\", 1, \"==\", 1) }, action.remove_orphan_files { %s }, { override_quiet = "
             "true })",
             c->action);
    snprintf(
        json, sizeof json,
        "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"location\":\"s3://b/w/t\"},\"runs\":%s}",
        c->runs ? c->runs : "[]");
    policy = help_policy(c->guard, body);
    facts = help_json(json);
    trigger = help_json(c->trigger ? c->trigger : "{\"kind\":\"time\"}");
    input.facts = facts;
    input.trigger = trigger;
    if (ebb_decide(policy, &input, &d, &err))
        fail_msg("%s: %s", body, err.message);
    if (ebb_decision_get_verdict(d) != c->verdict || strcmp(ebb_decision_get_by(d), c->by) ||
        ebb_decision_get_until_ms(d) != c->until)
        fail_msg("%s %s: %s", c->guard, c->action, ebb_decision_get_record(d));
    ebb_decision_free(d);
    ebb_policy_free(policy);
    ebb_value_free(facts);
    ebb_value_free(trigger);
}

#define OLD "older_than = ctx.now - 3 * 86400000"
#define RUN EBB_VERDICT_RUN, "policy", 0
#define REFUSED(by) EBB_VERDICT_REFUSED, by, 0
#define NOW HELP_NOW

static void test_floor(void **state)
{
    static const struct guard_case CASES[] = {
        {"", OLD, NULL, NOW, false, false, NULL, RUN},
        {"", "older_than = ctx.now - 86400000", NULL, NOW, false, false, NULL, RUN},
        {"", "older_than = ctx.now - 86400000 + 1", NULL, NOW, false, false, NULL, REFUSED("guard.floor")},
        {"", "older_than = ctx.now", NULL, NOW, false, false, NULL, REFUSED("guard.floor")},
        {"", "older_than = ctx.now", NULL, NOW, true, false, NULL, RUN},
        {"", "older_than = ctx.now + 1", NULL, NOW, true, false, NULL, REFUSED("guard.floor")},
        {"", "older_than = math.maxinteger", NULL, NOW, false, false, NULL, REFUSED("guard.floor")},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        run_case(&CASES[i]);
}

static void test_location(void **state)
{
    static const struct guard_case CASES[] = {
        {"", OLD ", location = t.location", NULL, NOW, false, false, NULL, RUN},
        {"", OLD ", location = \"s3://b/w/t/data\"", NULL, NOW, false, false, NULL, RUN},
        {"", OLD ", location = \"s3://b/w/t2\"", NULL, NOW, false, false, NULL, REFUSED("guard.location")},
        {"", OLD ", location = \"s3://b/w\"", NULL, NOW, false, false, NULL, REFUSED("guard.location")},
        {"", OLD ", location = \"s3://lake/\"", NULL, NOW, false, false, NULL, REFUSED("guard.location")},
        {"", OLD ", location = \"s3://b/w/t/../u\"", NULL, NOW, false, false, NULL, REFUSED("guard.location")},
        {"", OLD ", location = \"/w/t\"", NULL, NOW, false, false, NULL, REFUSED("guard.location")},
        {"", OLD ", location = \"../\"", NULL, NOW, false, false, NULL, REFUSED("guard.location")},
        {"", OLD ", location = \"\"", NULL, NOW, false, false, NULL, REFUSED("guard.location")},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        run_case(&CASES[i]);
}

/* The last run ended at 2026-03-28T23:00Z, an hour ago. */
#define ENDED "[{\"started\":1774735200000,\"ended\":1774738800000,\"outcome\":\"success\"}]"
#define FAILED "{\"started\":1774735200000,\"ended\":1774738800000,\"outcome\":\"failed\"}"
#define RUNNING "[{\"started\":1774741800000,\"outcome\":\"running\"}]"

static void test_waits(void **state)
{
    static const struct guard_case CASES[] = {
        {"guard = { min_interval = \"1h\" },", OLD, ENDED, NOW, false, false, NULL, RUN},
        {"guard = { min_interval = \"6h\" },", OLD, ENDED, NOW, false, false, NULL, EBB_VERDICT_DEFER,
         "guard.min_interval", NOW + 5 * HOUR},
        {"guard = { min_interval = \"6h\" },", OLD, ENDED, NOW, false, false, "{\"kind\":\"manual\"}", RUN},
        {"guard = { min_interval = \"6h\" },", OLD, "[]", NOW, false, false, NULL, RUN},
        {"guard = { overlap = \"skip\" },", OLD, RUNNING, NOW, false, false, NULL, EBB_VERDICT_SKIP, "guard.overlap",
         0},
        {"guard = { overlap = \"queue_one\" },", OLD, RUNNING, NOW, false, false, NULL, EBB_VERDICT_DEFER,
         "guard.overlap", 0},
        {"", OLD, RUNNING, NOW, false, false, NULL, EBB_VERDICT_SKIP, "guard.overlap", 0},
        {"guard = { backoff = { first = \"2h\", factor = 2, max = \"24h\" } },", OLD, "[" FAILED "]", NOW, false, false,
         NULL, EBB_VERDICT_DEFER, "guard.backoff", NOW + HOUR},
        {"guard = { backoff = { first = \"2h\", factor = 2, max = \"24h\" } },", OLD,
         "[" FAILED "," FAILED "," FAILED "]", NOW, false, false, NULL, EBB_VERDICT_DEFER, "guard.backoff",
         NOW + 7 * HOUR},
        {"guard = { backoff = { first = \"2h\", factor = 10, max = \"3h\" } },", OLD, "[" FAILED "," FAILED "]", NOW,
         false, false, NULL, EBB_VERDICT_DEFER, "guard.backoff", NOW + 2 * HOUR},
        /* waits longer than there is time */
        {"guard = { backoff = { first = \"9223372036854775807ms\", max = \"9223372036854775807ms\" } },", OLD,
         "[" FAILED "]", NOW, false, false, NULL, EBB_VERDICT_SKIP, "guard.backoff", 0},
        {"guard = { min_interval = \"9223372036854775807ms\" },", OLD, ENDED, NOW, false, false, NULL, EBB_VERDICT_SKIP,
         "guard.min_interval", 0},
        {"guard = { pause_after = 2 },", OLD, "[" FAILED "," FAILED "]", NOW, false, false, NULL, EBB_VERDICT_SKIP,
         "guard.pause", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        run_case(&CASES[i]);
}

/* A history, the oldest first: i changed nothing, c changed something, s a success of which that is not known, o
 * observed, f failed, F failed having changed something, p and P partial likewise, r running. The last ended at NOW - 1
 * h. */
static void make_history(const char *letters, struct ebb_buf *out)
{
    static const char *const OUTCOMES[] = {['i'] = "success\",\"changed\":false",
                                           ['c'] = "success\",\"changed\":true",
                                           ['s'] = "success\"",
                                           ['o'] = "observed\"",
                                           ['f'] = "failed\"",
                                           ['F'] = "failed\",\"changed\":true",
                                           ['p'] = "partial\",\"changed\":false",
                                           ['P'] = "partial\",\"changed\":true",
                                           ['r'] = "running\""};
    size_t n = strlen(letters);

    ebb_buf_puts(out, "[");
    for (size_t i = 0; i < n; i++) {
        int64_t at = NOW - HOUR - (int64_t)(n - 1 - i) * 72 * HOUR;

        ebb_buf_printf(out, "%s{\"started\":%lld,", i ? "," : "", (long long)(at - HOUR));
        if (letters[i] != 'r')
            ebb_buf_printf(out, "\"ended\":%lld,", (long long)at);
        ebb_buf_printf(out, "\"outcome\":\"%s}", OUTCOMES[(unsigned char)letters[i]]);
    }
    ebb_buf_puts(out, "]");
}

/* The interval of a policy with 6 h after such a history, and what the record says of it. */
static void check_interval(const char *letters, int hours, const char *why)
{
    struct ebb_policy *policy =
        help_policy("guard = { min_interval = \"6h\" },", "return run(all {}, action.remove_orphan_files { " OLD " })");
    struct ebb_value *facts, *trigger = help_json("{\"kind\":\"time\"}");
    struct ebb_decide_input input = {.now_ms = NOW, .trigger = trigger};
    struct ebb_decision *d = NULL;
    struct ebb_buf json;
    struct ebb_err err;

    ebb_buf_init(&json, 65536);
    ebb_buf_puts(&json, "{\"table\":{\"location\":\"s3://b/w/t\"},\"runs\":");
    make_history(letters, &json);
    ebb_buf_puts(&json, "}");
    input.facts = facts = help_json(ebb_buf_cstr(&json));
    assert_int_equal(ebb_decide(policy, &input, &d, &err), 0);
    if (ebb_decision_get_verdict(d) != EBB_VERDICT_DEFER || strcmp(ebb_decision_get_by(d), "guard.min_interval") ||
        ebb_decision_get_until_ms(d) != NOW + (hours - 1) * HOUR ||
        (why ? !strstr(ebb_decision_get_record(d), why) : strstr(ebb_decision_get_record(d), "doubled") != NULL))
        fail_msg("%s: %s", letters, ebb_decision_get_record(d));
    ebb_decision_free(d);
    ebb_policy_free(policy);
    ebb_value_free(facts);
    ebb_value_free(trigger);
    ebb_buf_fini(&json);
}

#define ONCE "12h (6h, doubled once: 5 runs changed nothing)"
#define TWICE "1d (6h, doubled 2 times: 6 runs changed nothing)"
#define MOST "2d (6h, doubled 3 times: the last 7 runs changed nothing)"

static void test_runs_that_change_nothing(void **state)
{
    (void)state;
    check_interval("iiii", 6, NULL);
    check_interval("iiiii", 12, ONCE);
    check_interval("iiiiii", 24, TWICE);
    check_interval("iiiiiii", 48, MOST);
    check_interval("iiiiiiiiiiii", 48, MOST);
    /* an effect, and one that is not known, end it */
    check_interval("iiiiic", 6, NULL);
    check_interval("iiiiis", 6, NULL);
    check_interval("iiciiii", 6, NULL);
    check_interval("iiciiiii", 12, ONCE);
    check_interval("isiiiiii", 24, TWICE);
    check_interval("iiiiiF", 6, NULL);
    check_interval("iPiiii", 6, NULL);
    /* what did not end well, or was only observed, does neither */
    check_interval("iiiif", 6, NULL);
    check_interval("iiffiiif", 12, ONCE);
    check_interval("ooooooo", 6, NULL);
    check_interval("iiioiio", 12, ONCE);
    check_interval("iiipii", 12, ONCE);
}

/* Nor what was asked for by hand, or has no interval, or one that can't be doubled. */
static void test_intervals_that_are_not_doubled(void **state)
{
    struct guard_case c = {.action = OLD, .now = NOW, .verdict = EBB_VERDICT_RUN, .by = "policy"};
    struct ebb_buf json;

    (void)state;
    ebb_buf_init(&json, 65536);
    make_history("iiiiiiiii", &json);
    c.runs = ebb_buf_cstr(&json);
    c.guard = "";
    run_case(&c);
    c.guard = "guard = { min_interval = \"6h\" },";
    c.trigger = "{\"kind\":\"manual\"}";
    run_case(&c);
    c.trigger = NULL;
    c.guard = "guard = { min_interval = \"4611686018427387905ms\" },"; /* twice that is more than there is */
    c.verdict = EBB_VERDICT_SKIP;
    c.by = "guard.min_interval";
    run_case(&c);
    ebb_buf_fini(&json);
}

#define NIGHT "guard = { quiet = { { from = \"22:00\", to = \"06:00\", tz = \"Europe/Berlin\" } } },"
#define OFFICE                                                                                                         \
    "guard = { min_interval = \"12h\", quiet = { { days = \"Mon..Fri\", from = \"08:00\", to = \"19:00\", tz = "       \
    "\"Europe/Berlin\" } } },"
#define FREEZE "guard = { quiet = { { days = \"Sat,Sun\", from = \"00:00\", to = \"00:00\", only_if = \"freeze\" } } },"

static void test_quiet(void **state)
{
    static const struct guard_case CASES[] = {
        /* 2026-03-28T21:30Z is 22:30 CET; free at 06:00 CEST = 04:00Z (worked case of the scheduler) */
        {NIGHT, OLD, NULL, NOW - 5 * HOUR / 2, false, false, NULL, EBB_VERDICT_DEFER, "guard.quiet", NOW + 4 * HOUR},
        {NIGHT, OLD, NULL, NOW - 5 * HOUR / 2, false, true, NULL, RUN},
        {NIGHT, OLD, NULL, NOW + 4 * HOUR, false, false, NULL, RUN},
        {NIGHT, OLD, NULL, NOW + 4 * HOUR - 1, false, false, NULL, EBB_VERDICT_DEFER, "guard.quiet", NOW + 4 * HOUR},
        /* Tuesday 2026-03-31T09:00Z = 11:00 CEST: free at 19:00 CEST = 17:00Z */
        {OFFICE, OLD, NULL, NOW + 57 * HOUR, false, false, NULL, EBB_VERDICT_DEFER, "guard.quiet", NOW + 65 * HOUR},
        /* The interval ends on Sunday 11:00Z, which is free. */
        {OFFICE, OLD, ENDED, NOW, false, false, NULL, EBB_VERDICT_DEFER, "guard.min_interval", NOW + 11 * HOUR},
        {FREEZE, OLD, NULL, NOW, false, false, NULL, RUN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        run_case(&CASES[i]);
}

/* An interval that ends in quiet hours waits for their end too. */
static void test_both(void **state)
{
    static const char LATE[] =
        "[{\"started\":1774825200000,\"ended\":1774828800000,\"outcome\":\"observed\"}]"; /* Mon 2026-03-30T00:00Z */
    static const struct guard_case CASES[] = {
        {OFFICE, OLD, LATE, NOW + 25 * HOUR, false, false, NULL, EBB_VERDICT_DEFER, "guard.min_interval",
         NOW + 41 * HOUR},
    };

    (void)state;
    run_case(&CASES[0]);
}

static void test_flags(void **state)
{
    struct ebb_policy *policy = help_policy(FREEZE, "return skip(all {})");
    struct ebb_value *flags = help_json("{\"freeze\":true}");
    struct ebb_settings *s = NULL;
    struct ebb_err err;
    int64_t at;

    (void)state;
    assert_int_equal(ebb_settings_new(policy, NULL, NULL, &s, &err), 0);
    assert_true(ebb_guard_is_quiet(ebb_settings_get_guard(s), flags, HELP_NOW));
    assert_false(ebb_guard_is_quiet(ebb_settings_get_guard(s), NULL, HELP_NOW));
    assert_true(ebb_guard_next_free(ebb_settings_get_guard(s), flags, HELP_NOW, &at));
    assert_int_equal(at, HELP_NOW + HELP_DAY);
    ebb_settings_free(s);
    ebb_value_free(flags);
    ebb_policy_free(policy);
}

/* A policy without target runs only where it is bound; a script is not even run elsewhere. */
static void test_target(void **state)
{
    static const char SOURCE[] = "return policy { api = 1, name = \"p\", decide = function(t) error(\"ran\") end }";
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW};
    struct ebb_policy *policy = NULL;
    struct ebb_decision *d = NULL;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_policy_load_text("p.lua", SOURCE, sizeof SOURCE - 1, &policy, NULL, &err), 0);
    assert_int_equal(ebb_decide(policy, &input, &d, &err), 0);
    assert_int_equal(ebb_decision_get_verdict(d), EBB_VERDICT_SKIP);
    assert_string_equal(ebb_decision_get_by(d), "guard.target");
    ebb_decision_free(d);
    input.bound = true;
    assert_int_equal(ebb_decide(policy, &input, &d, &err), -EBB_EPOLICY_ERROR);
    ebb_decision_free(d);
    ebb_policy_free(policy);
    ebb_value_free(facts);
}

static void test_fuses(void **state)
{
    struct ebb_policy *policy = help_policy("guard = { deletes = { max_files = 7, max_share = 0.05, max_bytes = "
                                            "\"1GiB\", on_exceed = \"trim\" }, timeout = \"4h\" },",
                                            "return skip(all {})");
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW};
    struct ebb_decision *d = NULL;
    const struct ebb_fuses *f;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_decide(policy, &input, &d, &err), 0);
    f = ebb_decision_get_fuses(d);
    assert_int_equal(f->max_files, 7);
    assert_true(f->max_share == 0.05);
    assert_int_equal(f->max_bytes, 1073741824);
    assert_int_equal(f->on_exceed, EBB_EXCEED_TRIM);
    assert_int_equal(f->timeout_ms, 4 * HOUR);
    ebb_decision_free(d);
    ebb_policy_free(policy);
    ebb_value_free(facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floor),
        cmocka_unit_test(test_location),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_runs_that_change_nothing),
        cmocka_unit_test(test_intervals_that_are_not_doubled),
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_fuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
