/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions: the stories of the policy guide, and the rules of the scheduler as far as a story shows them. What must
 * come out is written by hand from those rules.
 */
#include "session_help.h"

static struct ebb_policy *example(const char *name)
{
    struct ebb_policy *policy = NULL;
    struct ebb_err err;
    char path[512];

    snprintf(path, sizeof path, "%s/policies/examples/%s", EBB_SOURCE_DIR, name);
    if (ebb_policy_load(path, &policy, NULL, &err))
        fail_msg("%s", err.message);
    return policy;
}

static void open_clicks(struct story *s, const char *now)
{
    char path[512];
    size_t n;
    char *text;

    snprintf(path, sizeof path, "%s/tests/fixtures/facts/clicks.json", EBB_SOURCE_DIR);
    text = help_read(path, &n);
    open_story(s, example("orphans_on_event.lua"), text, EBB_MODE_OBSERVE, now, false);
    free(text);
}

/* ---- the stories of the guide ---- */

static void test_a_failed_commit_arms_a_run(void **state)
{
    struct story s;

    (void)state;
    open_clicks(&s, "2026-03-29T00:00:00Z");
    must(&s, ebb_session_at(s.session, instant("2026-03-29T00:00:00Z"), &s.err));
    event(&s, "{\"type\":\"commit.failed\",\"files_written\":212}");
    step(&s, HOUR);
    check_said(&s, "2026-03-29T00:10:00Z event defer until 2026-04-01T00:00:00Z by policy\n");
    assert_int_equal(ebb_session_now(s.session), instant("2026-03-29T01:00:00Z"));
    step(&s, 71 * HOUR);
    check_said(&s, "2026-04-01T00:00:00Z deferred run\n");
    close_story(&s);
}

static void test_quiet_hours_of_the_owner(void **state)
{
    struct ebb_decision *d = NULL;
    struct story s;

    (void)state;
    open_clicks(&s, "2026-03-29T00:00:00Z");
    set(&s, "properties", "{\"v\":{\"owner.timezone\":\"Europe/Berlin\"}}");
    must(&s, ebb_session_at(s.session, instant("2026-03-31T09:00:00Z"), &s.err));
    must(&s, ebb_session_commits(s.session, 0, 500, &s.err));
    must(&s, ebb_session_decide(s.session, 0, "orphans-on-event", &d, &s.err));
    assert_string_equal(ebb_verdict_name(ebb_decision_get_verdict(d)), "defer");
    assert_string_equal(ebb_decision_get_by(d), "guard.quiet");
    assert_int_equal(ebb_decision_get_until_ms(d), instant("2026-03-31T17:00:00Z"));
    ebb_decision_free(d);
    check_said(&s, "");
    step(&s, 12 * HOUR); /* the count trigger, and then the end of the quiet hours */
    check_said(&s, "2026-03-31T09:00:00Z count defer until 2026-03-31T17:00:00Z by guard.quiet\n"
                   "2026-03-31T17:00:00Z deferred run\n");
    close_story(&s);
}

/* ---- missed runs ---- */

static void test_nine_hours_asleep(void **state)
{
    struct story s;

    (void)state;
    tell_story(&s, "triggers = { time.every { \"2h\", anchor = \"start_of_day\", tz = \"UTC\" } },", RUN,
               "2026-03-29T03:30:00Z");
    must(&s, ebb_session_asleep(s.session, 9 * HOUR, &s.err));
    /* 04, 06, 08 and 10 were missed, 12 is the one that runs */
    check_said(&s, "2026-03-29T12:30:00Z catch_up missed 4 run\n");
    step(&s, 2 * HOUR);
    check_said(&s, "2026-03-29T14:00:00Z time run\n");
    close_story(&s);
}

static void test_all_and_none_are_caught_up(void **state)
{
    struct story s;

    (void)state;
    tell_story(&s, "triggers = { time.calendar { \"02:00\", catch_up = \"all\", max = 3 } },", RUN,
               "2026-03-01T00:00:00Z");
    must(&s, ebb_session_asleep(s.session, 9 * 24 * HOUR + 3 * HOUR, &s.err));
    assert_int_equal(s.count, 3);
    close_story(&s);
    tell_story(&s, "triggers = { time.calendar { \"02:00\", catch_up = \"none\" } },", RUN, "2026-03-01T00:00:00Z");
    must(&s, ebb_session_asleep(s.session, 27 * HOUR, &s.err));
    check_said(&s, "2026-03-02T03:00:00Z time dropped late\n");
    step(&s, 24 * HOUR);
    check_said(&s, "2026-03-03T02:00:00Z time run\n");
    close_story(&s);
}

static void test_lateness_is_bounded(void **state)
{
    struct story s;

    (void)state;
    tell_story(&s, "triggers = { time.calendar { \"Sun 02:00\", late_by = \"36h\" } },", RUN, "2026-03-28T00:00:00Z");
    must(&s, ebb_session_asleep(s.session, 62 * HOUR, &s.err)); /* Mon 14:00: just in time */
    check_said(&s, "2026-03-30T14:00:00Z time run\n");
    must(&s, ebb_session_at(s.session, instant("2026-03-28T00:00:00Z"), &s.err));
    must(&s, ebb_session_asleep(s.session, 63 * HOUR, &s.err));
    check_said(&s, "2026-03-30T15:00:00Z time dropped late\n");
    close_story(&s);
}

/* ---- the change of clocks ---- */

static void test_a_missing_hour_and_a_doubled_one(void **state)
{
    struct story s;

    (void)state;
    tell_story(&s, "triggers = { time.calendar { \"Sun 02:00\", tz = \"Europe/Berlin\" } },", RUN,
               "2026-03-28T00:00:00Z");
    step(&s, 48 * HOUR);
    check_said(&s, "2026-03-29T01:00:00Z time run\n");
    must(&s, ebb_session_at(s.session, instant("2026-10-24T00:00:00Z"), &s.err));
    step(&s, 48 * HOUR);
    check_said(&s, "2026-10-25T00:00:00Z time run\n");
    close_story(&s);
}

/* ---- clocks that jump ---- */

static void test_a_clock_that_goes_back_a_day(void **state)
{
    struct story s;

    (void)state;
    tell_story(&s, "triggers = { time.calendar { \"02:00\" } },", RUN, "2026-03-10T00:00:00Z");
    step(&s, 3 * HOUR);
    check_said(&s, "2026-03-10T02:00:00Z time run\n");
    must(&s, ebb_session_clock_step(s.session, -24 * HOUR, &s.err));
    assert_int_equal(ebb_session_now(s.session), instant("2026-03-09T03:00:00Z"));
    step(&s, 24 * HOUR); /* over the same instant again */
    check_said(&s, "");
    step(&s, 24 * HOUR);
    check_said(&s, "2026-03-11T02:00:00Z time run\n");
    close_story(&s);
}

static void test_a_clock_that_goes_ahead_a_month(void **state)
{
    struct story s;

    (void)state;
    tell_story(&s, "triggers = { time.calendar { \"Sun 02:00\" } },", RUN, "2026-03-02T00:00:00Z");
    must(&s, ebb_session_clock_step(s.session, 28 * 24 * HOUR, &s.err));
    check_said(&s, "2026-03-30T00:00:00Z catch_up missed 3 run\n"); /* 8, 15, 22 and the 29th */
    must(&s, ebb_session_clock_step(s.session, -28 * 24 * HOUR, &s.err));
    step(&s, 28 * 24 * HOUR); /* all of them have fired */
    check_said(&s, "");
    step(&s, 7 * 24 * HOUR);
    check_said(&s, "2026-04-05T02:00:00Z time run\n");
    close_story(&s);
}

/* ---- guards ---- */

static void test_min_interval_counts_from_the_end(void **state)
{
    struct story s;

    (void)state;
    open_story(&s,
               help_policy("triggers = { time.every { \"1h\", anchor = \"epoch\" } },\n"
                           "guard = { min_interval = \"150m\" },",
                           RUN),
               TABLE, EBB_MODE_ENFORCE, "2026-03-10T00:30:00Z", false);
    step(&s, HOUR);
    check_said(&s, "2026-03-10T01:00:00Z time run\n");
    must(&s, ebb_session_finish(s.session, 0, "test", "success", &s.err)); /* at 01:30 */
    check_said(&s, "");
    step(&s, 3 * HOUR);
    /* held back until 04:00, but the occurrence of 02:00 is dropped when the next one comes; that of 04:00 is one with
     * what waited */
    check_said(&s,
               "2026-03-10T02:00:00Z time defer until 2026-03-10T04:00:00Z by guard.min_interval dropped min_interval\n"
               "2026-03-10T03:00:00Z time defer until 2026-03-10T04:00:00Z by guard.min_interval\n"
               "2026-03-10T04:00:00Z deferred run\n");
    close_story(&s);
}

/* An expiration that has nothing left to expire: the fifth such run in a row doubles the interval. */
static void test_runs_that_change_nothing_come_less_often(void **state)
{
    static const char *const FACTS =
        "{\"table\":{\"catalog\":\"prod\",\"namespace\":\"db\",\"name\":\"t\",\"uuid\":"
        "\"11111111-2222-4333-8444-555555555555\",\"location\":\"s3://lake/prod/db/t\",\"properties\":{},\"snapshots\":"
        "[{\"id\":1,\"sequence\":1,\"at\":1773000000000,\"operation\":\"append\"},"
        "{\"id\":2,\"sequence\":2,\"at\":1773000000001,\"operation\":\"append\"}],\"current_snapshot\":{\"id\":2,"
        "\"sequence\":2,\"at\":1773000000001,\"operation\":\"append\"},\"stats\":{}},\"events\":[]}";
    struct ebb_session_options o = {
        .now_ms = instant("2026-03-10T00:30:00Z"), .ends_at_once = true, .has_effects = true};
    struct story s = {.policy = help_policy("triggers = { time.every { \"1h\", anchor = \"epoch\" } },\n"
                                            "guard = { min_interval = \"30m\" },",
                                            "return run(all {}, action.expire_snapshots { older_than = ctx.now })")};
    struct ebb_session_binding binding = {.mode = EBB_MODE_ENFORCE};
    struct ebb_value *facts = help_json(FACTS);

    (void)state;
    o.decided = on_decided;
    o.data = &s;
    must(&s, ebb_session_new(&o, &s.session, &s.err));
    must(&s, ebb_session_add_table(s.session, facts, NULL, &s.err));
    must(&s, ebb_session_bind(s.session, s.policy, &binding, &s.err));
    step(&s, 9 * HOUR);
    /* the first expired one; six others nothing: 30m doubled once fits into the hour, twice does not */
    check_said(&s, "2026-03-10T01:00:00Z time run\n2026-03-10T02:00:00Z time run\n2026-03-10T03:00:00Z time run\n"
                   "2026-03-10T04:00:00Z time run\n2026-03-10T05:00:00Z time run\n2026-03-10T06:00:00Z time run\n"
                   "2026-03-10T07:00:00Z time run\n"
                   "2026-03-10T08:00:00Z time defer until 2026-03-10T09:00:00Z by guard.min_interval\n"
                   "2026-03-10T09:00:00Z deferred run\n");
    ebb_value_free(facts);
    close_story(&s);
}

static void test_one_run_waits_for_another(void **state)
{
    struct story s;

    (void)state;
    open_story(&s, help_policy("triggers = { on.event { \"x\" } }, guard = { overlap = \"queue_one\" },", RUN), TABLE,
               EBB_MODE_ENFORCE, "2026-03-10T00:00:00Z", false);
    event(&s, "{\"type\":\"x\"}");
    step(&s, HOUR);
    check_said(&s, "2026-03-10T00:00:00Z event run\n");
    event(&s, "{\"type\":\"x\"}");
    step(&s, HOUR);
    check_said(&s, "2026-03-10T01:00:00Z event defer by guard.overlap\n");
    event(&s, "{\"type\":\"x\"}");
    step(&s, HOUR);
    check_said(&s, "");
    must(&s, ebb_session_finish(s.session, 0, "test", "success", &s.err));
    assert_int_equal(strncmp(s.said, "2026-03-10T03:00:00Z deferred run\n", 34), 0);
    assert_int_equal(ebb_session_finish(s.session, 0, "test", "lost", &s.err), -(int)EBB_EUSAGE);
    close_story(&s);
}

static void test_back_off_after_failures(void **state)
{
    struct story s;

    (void)state;
    open_story(&s,
               help_policy("triggers = { on.event { \"x\" } },\n"
                           "guard = { backoff = { after_failures = 1, first = \"1h\", factor = 2, max = \"3h\" } },",
                           RUN),
               TABLE, EBB_MODE_ENFORCE, "2026-03-10T00:00:00Z", false);
    event(&s, "{\"type\":\"x\"}");
    step(&s, 0);
    check_said(&s, "2026-03-10T00:00:00Z event run\n");
    must(&s, ebb_session_finish(s.session, 0, "test", "failed", &s.err));
    step(&s, MINUTE);
    event(&s, "{\"type\":\"x\"}");
    step(&s, 2 * HOUR);
    check_said(&s, "2026-03-10T00:01:00Z event defer until 2026-03-10T01:00:00Z by guard.backoff\n"
                   "2026-03-10T01:00:00Z deferred run\n");
    must(&s, ebb_session_finish(s.session, 0, "test", "failed", &s.err)); /* at 02:01 */
    event(&s, "{\"type\":\"x\"}");
    step(&s, 3 * HOUR);
    check_said(&s, "2026-03-10T02:01:00Z event defer until 2026-03-10T04:01:00Z by guard.backoff\n"
                   "2026-03-10T04:01:00Z deferred run\n");
    assert_int_equal(ebb_session_finish(s.session, 0, "nobody", "failed", &s.err), -(int)EBB_ENOT_FOUND);
    close_story(&s);
}

static void test_pause_collapses(void **state)
{
    struct story s;
    int64_t wake;

    (void)state;
    tell_story(&s, "triggers = { time.every { \"1h\", anchor = \"epoch\" } },", RUN, "2026-03-10T00:30:00Z");
    ebb_session_pause(s.session);
    step(&s, 5 * HOUR);
    check_said(&s, "");
    must(&s, ebb_session_wake(s.session, &wake, &s.err));
    assert_true(wake == INT64_MAX);
    must(&s, ebb_session_resume(s.session, &s.err));
    check_said(&s, "2026-03-10T05:30:00Z catch_up missed 4 run\n");
    must(&s, ebb_session_wake(s.session, &wake, &s.err));
    assert_int_equal(wake, instant("2026-03-10T06:00:00Z"));
    close_story(&s);
}

static void test_debounce_and_max_hold(void **state)
{
    struct story s;

    (void)state;
    tell_story(&s, "triggers = { on.event { \"x\", debounce = \"10m\", max_hold = \"25m\" } },", RUN,
               "2026-03-10T00:00:00Z");
    for (int i = 0; i < 6; i++) { /* every 6 minutes: never quiet for ten */
        event(&s, "{\"type\":\"x\"}");
        step(&s, 6 * MINUTE);
    }
    assert_int_equal(strncmp(s.said, "2026-03-10T00:25:00Z event run\n", 31), 0);
    close_story(&s);
}

static void test_events_are_told_once(void **state)
{
    const struct ebb_value *facts;
    struct story s;
    char id[40];
    struct ebb_value *v = help_json("{\"type\":\"x\"}");

    (void)state;
    tell_story(&s, "triggers = { on.event { \"x\" } },", RUN, "2026-03-10T00:00:00Z");
    event(&s, "{\"type\":\"x\",\"id\":\"a\",\"source\":\"hook\"}");
    event(&s, "{\"type\":\"x\",\"id\":\"a\",\"source\":\"hook\"}");
    event(&s, "{\"type\":\"x\",\"id\":\"a\",\"source\":\"other\"}");
    facts = ebb_session_facts(s.session, 0, NULL, &s.err);
    assert_int_equal(ebb_value_get_count(ebb_value_get(facts, "events")), 2);
    must(&s, ebb_session_event(s.session, 0, v, id, &s.err));
    assert_string_equal(id, "e-s1");
    ebb_value_free(v);
    v = help_json("{\"files\":1}");
    assert_int_equal(ebb_session_event(s.session, 0, v, id, &s.err), -(int)EBB_EUSAGE);
    ebb_value_free(v);
    close_story(&s);
}

/* ---- the world ---- */

static void test_commits_move_the_table(void **state)
{
    const struct ebb_value *t, *list;
    struct story s;

    (void)state;
    tell_story(&s, "triggers = { on.count { \"snapshot.committed\", n = 5 } },", RUN, "2026-03-10T00:00:00Z");
    must(&s, ebb_session_commits(s.session, 0, 4, &s.err));
    step(&s, MINUTE);
    check_said(&s, "");
    must(&s, ebb_session_commits(s.session, 0, 1, &s.err));
    step(&s, MINUTE);
    check_said(&s, "2026-03-10T00:01:00Z count run\n");
    t = ebb_value_get(ebb_session_facts(s.session, 0, "test", &s.err), "table");
    list = ebb_value_get(t, "snapshots");
    assert_int_equal(ebb_value_get_count(list), 5);
    assert_int_equal(ebb_value_int_of(ebb_value_get_at(list, 3), "at", 0), instant("2026-03-10T00:00:00Z"));
    assert_int_equal(ebb_value_int_of(ebb_value_get_at(list, 0), "at", 0), instant("2026-03-10T00:00:00Z") - 3);
    for (size_t i = 1; i < 5; i++) {
        assert_int_equal(ebb_value_int_of(ebb_value_get_at(list, i), "sequence", 0), (int64_t)i + 1);
        assert_int_equal(ebb_value_int_of(ebb_value_get_at(list, i), "parent_id", 0),
                         ebb_value_int_of(ebb_value_get_at(list, i - 1), "id", -1));
    }
    assert_true(ebb_value_is_equal(ebb_value_get(t, "current_snapshot"), ebb_value_get_at(list, 4)));
    assert_int_equal(ebb_value_int_of(ebb_value_get(t, "stats"), "snapshots", 0), 5);
    assert_int_equal(ebb_value_int_of(ebb_value_get(t, "stats"), "data_files", 0), 15);
    assert_int_equal(ebb_session_commits(s.session, 0, 0, &s.err), -(int)EBB_EUSAGE);
    assert_int_equal(ebb_session_commits(s.session, 3, 1, &s.err), -(int)EBB_ENOT_FOUND);
    close_story(&s);
}

static void test_values_are_set(void **state)
{
    struct story s;
    const struct ebb_value *facts;
    struct ebb_value *box = help_json("{\"v\":1}");

    (void)state;
    tell_story(&s, "", RUN, "2026-03-10T00:00:00Z");
    set(&s, "stats.bytes", "{\"v\":77}");
    set(&s, "stats.orphans.bytes", "{\"v\":5}");
    set(&s, "properties.owner.timezone", "{\"v\":\"Europe/Berlin\"}");
    set(&s, "flags.freeze", "{\"v\":true}");
    facts = ebb_session_facts(s.session, 0, "test", &s.err);
    assert_int_equal(ebb_value_int_of(ebb_value_get(ebb_value_get(facts, "table"), "stats"), "bytes", 0), 77);
    assert_int_equal(
        ebb_value_int_of(ebb_value_get(ebb_value_get(ebb_value_get(facts, "table"), "stats"), "orphans"), "bytes", 0),
        5);
    assert_string_equal(ebb_value_text_of(ebb_value_get(ebb_value_get(facts, "table"), "properties"), "owner.timezone"),
                        "Europe/Berlin");
    assert_true(ebb_value_bool_of(ebb_value_get(facts, "flags"), "freeze", false));
    must(&s, ebb_session_set(s.session, 0, "stats.bytes", NULL, NULL, &s.err));
    facts = ebb_session_facts(s.session, 0, NULL, &s.err);
    assert_null(ebb_value_get(ebb_value_get(ebb_value_get(facts, "table"), "stats"), "bytes"));
    assert_int_equal(ebb_session_set(s.session, 0, "stat.bytes", box, "v", &s.err), -(int)EBB_EUSAGE);
    assert_string_equal(s.err.hint, "did you mean stats?");
    assert_int_equal(ebb_session_set(s.session, 0, "stats.", box, "v", &s.err), -(int)EBB_EUSAGE);
    must(&s, ebb_session_reset(s.session, &s.err));
    facts = ebb_session_facts(s.session, 0, NULL, &s.err);
    assert_int_equal(ebb_value_int_of(ebb_value_get(ebb_value_get(facts, "table"), "stats"), "bytes", 0), 1000);
    ebb_value_free(box);
    close_story(&s);
}

static void test_parameters_and_another_revision(void **state)
{
    struct ebb_session_binding binding = {.mode = EBB_MODE_OBSERVE};
    struct ebb_value *box = help_json("{\"v\":\"2h\",\"bad\":\"soon\"}");
    struct ebb_policy *next;
    struct story s;

    (void)state;
    tell_story(&s,
               "params = { wait = { type = \"duration\", default = \"1h\" } },\n"
               "triggers = { on.event { \"x\" } },",
               "return defer(all {}, ctx.now + ctx.params.wait, \"later\")", "2026-03-10T00:00:00Z");
    must(&s, ebb_session_param(s.session, "test", "wait", box, "v", &s.err));
    assert_int_equal(ebb_session_param(s.session, "test", "wait", box, "bad", &s.err), -(int)EBB_ECONFIG);
    assert_int_equal(ebb_session_param(s.session, "test", "weight", box, "v", &s.err), -(int)EBB_ECONFIG);
    event(&s, "{\"type\":\"x\"}");
    step(&s, HOUR);
    check_said(&s, "2026-03-10T00:00:00Z event defer until 2026-03-10T02:00:00Z by policy\n");
    next = help_policy("triggers = { on.event { \"x\" } },", RUN);
    must(&s, ebb_session_bind(s.session, next, &binding, &s.err)); /* what is pending is decided again at once */
    check_said(&s, "2026-03-10T01:00:00Z deferred run\n");
    ebb_policy_free(s.policy);
    s.policy = next;
    assert_ptr_equal(ebb_session_policy(s.session, "test"), next);
    must(&s, ebb_session_unbind(s.session, "test", &s.err));
    assert_int_equal(ebb_session_unbind(s.session, "test", &s.err), -(int)EBB_ENOT_FOUND);
    ebb_value_free(box);
    close_story(&s);
}

static void test_runs_by_hand(void **state)
{
    struct story s;

    (void)state;
    open_story(&s, help_policy("triggers = { on.event { \"x\" } }, guard = { min_interval = \"2h\" },", RUN), TABLE,
               EBB_MODE_ENFORCE, "2026-03-10T00:00:00Z", true);
    must(&s, ebb_session_manual(s.session, 0, "test", &s.err));
    must(&s, ebb_session_manual(s.session, 0, "test", &s.err)); /* does not wait */
    event(&s, "{\"type\":\"x\"}");
    step(&s, HOUR); /* but sets the interval anew */
    check_said(&s, "2026-03-10T00:00:00Z run\n2026-03-10T00:00:00Z run\n"
                   "2026-03-10T00:00:00Z event defer until 2026-03-10T02:00:00Z by guard.min_interval\n");
    close_story(&s);
}

static void test_errors_of_policies_are_told(void **state)
{
    struct story s;

    (void)state;
    tell_story(&s, "triggers = { on.event { \"x\" } },", "error(\"no\")", "2026-03-10T00:00:00Z");
    event(&s, "{\"type\":\"x\"}");
    step(&s, HOUR);
    check_said(&s, "2026-03-10T00:00:00Z event error error policy.error\n");
    assert_int_equal(ebb_session_step(s.session, -1, &s.err), -(int)EBB_EUSAGE);
    assert_int_equal(ebb_session_step(s.session, INT64_MAX, &s.err), -(int)EBB_EUSAGE);
    assert_int_equal(ebb_session_at(s.session, -5, &s.err), -(int)EBB_EUSAGE);
    close_story(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failed_commit_arms_a_run),
        cmocka_unit_test(test_quiet_hours_of_the_owner),
        cmocka_unit_test(test_nine_hours_asleep),
        cmocka_unit_test(test_all_and_none_are_caught_up),
        cmocka_unit_test(test_lateness_is_bounded),
        cmocka_unit_test(test_a_missing_hour_and_a_doubled_one),
        cmocka_unit_test(test_a_clock_that_goes_back_a_day),
        cmocka_unit_test(test_a_clock_that_goes_ahead_a_month),
        cmocka_unit_test(test_min_interval_counts_from_the_end),
        cmocka_unit_test(test_runs_that_change_nothing_come_less_often),
        cmocka_unit_test(test_one_run_waits_for_another),
        cmocka_unit_test(test_back_off_after_failures),
        cmocka_unit_test(test_pause_collapses),
        cmocka_unit_test(test_debounce_and_max_hold),
        cmocka_unit_test(test_events_are_told_once),
        cmocka_unit_test(test_commits_move_the_table),
        cmocka_unit_test(test_values_are_set),
        cmocka_unit_test(test_parameters_and_another_revision),
        cmocka_unit_test(test_runs_by_hand),
        cmocka_unit_test(test_errors_of_policies_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
