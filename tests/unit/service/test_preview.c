/* SPDX-License-Identifier: Apache-2.0
 *
 * What a preview foretells is what the scheduler does: the runs of a session, stepped through, against the fires that
 * were told before.
 */
#include "../engine/engine_help.h"

#include "service/preview.h"
#include "service/session.h"

#define HOUR ((int64_t)3600000)
#define DAY (24 * HOUR)
#define FIRES_MAX 200
#define TABLE                                                                                                          \
    "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"uuid\":\"11111111-2222-4333-8444-"             \
    "555555555555\",\"location\":\"s3://b/w/t\"}}"
#define RUN                                                                                                            \
    "return run(all { check(\"yes\", 1, \"==\", 1) }, action.remove_orphan_files { older_than = ctx.now - 864000000 "  \
    "})"

struct fires {
    int64_t at[FIRES_MAX];
    size_t count;
    char notes[FIRES_MAX][160];
    int rc; /* for the callback to give */
};

static int on_fire(void *data, const struct ebb_fire *fire, struct ebb_err *err)
{
    struct fires *f = data;
    struct ebb_buf b;

    if (f->rc)
        return ebb_err_set(err, EBB_ECANCELLED, "enough");
    assert_true(f->count < FIRES_MAX);
    ebb_buf_init(&b, 159);
    ebb_fire_wall(fire, &b);
    ebb_buf_puts(&b, " | ");
    ebb_fire_note(fire, &b);
    snprintf(f->notes[f->count], sizeof f->notes[0], "%s", ebb_buf_cstr(&b));
    ebb_buf_fini(&b);
    f->at[f->count++] = fire->fires_ms;
    return 0;
}

static void on_decision(void *data, const struct ebb_session_decision *d)
{
    struct fires *f = data;

    if (d->error)
        fail_msg("%s", d->error->message);
    if (d->decision && ebb_decision_get_verdict(d->decision) == EBB_VERDICT_RUN) {
        assert_true(f->count < FIRES_MAX);
        f->at[f->count++] = d->at_ms;
    }
}

static void must(int rc, const struct ebb_err *err)
{
    if (rc)
        fail_msg("%s", err->message);
}

static void foretell(const struct ebb_policy *policy, const char *facts, const char *uuid, int64_t from, size_t n,
                     struct fires *out)
{
    struct ebb_value *v = facts ? help_json(facts) : NULL;
    struct ebb_schedule_input in = {.policy = policy, .uuid = uuid, .facts = v};
    struct ebb_settings *settings = NULL;
    struct ebb_err err;

    memset(out, 0, sizeof *out);
    must(ebb_settings_new(policy, NULL, NULL, &settings, &err), &err);
    in.settings = settings;
    must(ebb_preview(&in, from, n, on_fire, out, &err), &err);
    ebb_settings_free(settings);
    ebb_value_free(v);
}

/* The runs of a policy that always wants one, for so many days. */
static void live(const struct ebb_policy *policy, int64_t from, int days, struct fires *out)
{
    struct ebb_session_options o = {.now_ms = from, .ends_at_once = true, .decided = on_decision, .data = out};
    struct ebb_session_binding binding = {.mode = EBB_MODE_ENFORCE};
    struct ebb_value *facts = help_json(TABLE);
    struct ebb_session *s = NULL;
    struct ebb_err err;

    memset(out, 0, sizeof *out);
    must(ebb_session_new(&o, &s, &err), &err);
    must(ebb_session_add_table(s, facts, NULL, &err), &err);
    must(ebb_session_bind(s, policy, &binding, &err), &err);
    must(ebb_session_step(s, days * DAY, &err), &err);
    ebb_session_free(s);
    ebb_value_free(facts);
}

static void compare(const char *lines, int64_t from, int days)
{
    static struct fires told, lived;
    struct ebb_policy *policy = help_policy(lines, RUN);

    live(policy, from, days, &lived);
    foretell(policy, NULL, "11111111-2222-4333-8444-555555555555", from, lived.count, &told);
    assert_int_equal(told.count, lived.count);
    assert_true(told.count > 1);
    for (size_t i = 0; i < told.count; i++)
        if (told.at[i] != lived.at[i])
            fail_msg("%s: fire %zu: told %lld, was %lld", lines, i, (long long)told.at[i], (long long)lived.at[i]);
    ebb_policy_free(policy);
}

/* From 2026-03-28T10:17Z: over the night when clocks change. */
#define FROM (HELP_NOW - 14 * HOUR + 17 * 60000)
#define BERLIN ", tz = \"Europe/Berlin\""

static void test_runs_are_as_foretold(void **state)
{
    static const char *const LINES[] = {
        "triggers = { time.calendar { \"02:30\"" BERLIN " } },",
        "triggers = { time.calendar { \"*:00/20\"" BERLIN " } }, guard = { min_interval = \"7h\" },",
        "triggers = { time.calendar { \"Sun 02:00\"" BERLIN ", spread = \"3h\" }, time.every { \"11h\", anchor = "
        "\"epoch\" } },",
        "triggers = { time.calendar { \"22:30\"" BERLIN
        " } }, guard = { quiet = { { from = \"22:00\", to = \"06:00\"" BERLIN " } } },",
        "triggers = { time.cron { \"0 */3 * * *\"" BERLIN
        ", late_by = \"4h\" }, time.calendar { \"03:10\" } }, guard = { "
        "min_interval = \"5h\", quiet = { { days = \"Mon..Fri\", from = \"07:00\", to = \"19:00\"" BERLIN
        " }, { from = "
        "\"00:00\", to = \"04:00\" } } },",
        "triggers = { time.calendar { \"*:00/30\" } }, guard = { quiet = { { from = \"01:30\", to = \"03:00\" } }, "
        "min_interval = \"12h\" },",
        "triggers = { time.calendar { \"12:00\", late_by = \"1h\" }, time.calendar { \"Mon 12:00\", late_by = \"9h\" } "
        "}, guard "
        "= { quiet = { { from = \"11:00\", to = \"18:00\" } } },",
        "triggers = { time.every { \"5h\", anchor = \"start_of_day\"" BERLIN
        ", spread = \"1h\" } }, guard = { min_interval = "
        "\"4h\" },",
    };

    (void)state;
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++)
        compare(LINES[i], FROM, 20);
}

static void check_note(const char *lines, const char *uuid, size_t index, const char *want)
{
    static struct fires told;
    struct ebb_policy *policy = help_policy(lines, RUN);

    foretell(policy, NULL, uuid, FROM, index + 1, &told);
    assert_int_equal(told.count, index + 1);
    assert_string_equal(told.notes[index], want);
    ebb_policy_free(policy);
}

static void test_words(void **state)
{
    (void)state;
    check_note("triggers = { time.calendar { \"Sun 02:00\"" BERLIN " } },", NULL, 0,
               "Sun 2026-03-29 02:00 | 02:00 does not exist; uses 03:00");
    check_note("triggers = { time.calendar { \"Sun 02:00\"" BERLIN " } },", NULL, 1, "Sun 2026-04-05 02:00 | ");
    check_note("triggers = { time.calendar { \"Sun 02:00\"" BERLIN " } },", NULL, 30,
               "Sun 2026-10-25 02:00 | 02:00 happens twice; the first one counts");
    check_note("triggers = { time.calendar { \"12:00\" } }, guard = { min_interval = \"25h\", quiet = { { from = "
               "\"11:00\", to = \"13:00\" } } },",
               NULL, 1, "Sun 2026-03-29 12:00 | held back by quiet hours and min_interval");
}

static void test_anchors_of_runs(void **state)
{
    static struct fires told;
    struct ebb_policy *policy = help_policy("triggers = { time.every { \"6h\", anchor = \"last_end\" } },", RUN);

    (void)state;
    foretell(policy, NULL, NULL, FROM, 2, &told); /* never ran: from now on */
    assert_int_equal(told.at[0], FROM + 6 * HOUR);
    assert_int_equal(told.at[1], FROM + 12 * HOUR);
    foretell(policy, "{\"runs\":[{\"started\":1774684800000,\"ended\":1774688400000,\"outcome\":\"failed\"}]}", NULL,
             FROM, 2, &told); /* ended at 09:00Z */
    assert_int_equal(told.at[0], 1774688400000 + 6 * HOUR);
    assert_int_equal(told.at[1], 1774688400000 + 12 * HOUR);
    ebb_policy_free(policy);
}

/* Runs that changed nothing make the interval longer; those that are foretold leave it so. */
static void test_an_interval_that_is_doubled(void **state)
{
    static struct fires told;
    struct ebb_policy *policy =
        help_policy("triggers = { time.calendar { \"12:00\" } }, guard = { min_interval = \"20h\" },", RUN);
    struct ebb_buf facts;

    (void)state;
    ebb_buf_init(&facts, 4096);
    for (int i = 0; i < 6; i++) /* the last ended on 2026-03-28 at 09:00Z */
        ebb_buf_printf(&facts, "%s{\"started\":%lld,\"ended\":%lld,\"outcome\":\"success\",\"changed\":false}",
                       i ? "," : "{\"runs\":[", (long long)(1774688400000 - (6 - i) * DAY),
                       (long long)(1774688400000 - (5 - i) * DAY));
    ebb_buf_puts(&facts, "]}");
    foretell(policy, ebb_buf_cstr(&facts), NULL, FROM, 2, &told);
    assert_int_equal(told.count, 2);
    /* 80 h: until the 31st at 17:00Z, and until the 4th at 01:00Z */
    assert_int_equal(told.at[0], 1774688400000 + 80 * HOUR);
    assert_int_equal(told.at[1], 1774688400000 + 160 * HOUR);
    ebb_buf_fini(&facts);
    ebb_policy_free(policy);
}

static void test_hostile_facts(void **state)
{
    static const char *const FACTS[] = {
        "{\"runs\":5,\"flags\":7}",
        "{\"runs\":[1,{},[]],\"flags\":[]}",
        "{\"runs\":[{\"started\":9223372036854775807,\"ended\":9223372036854775807}]}",
        "{\"runs\":[{\"started\":-9223372036854775808,\"ended\":-9223372036854775808}]}",
        "{\"runs\":[{\"ended\":\"x\"}]}",
    };
    static struct fires told;
    struct ebb_policy *policy = help_policy("triggers = { time.calendar { \"02:00\" }, time.every { \"1h\", anchor = "
                                            "\"last_start\" } }, guard = { min_interval "
                                            "= \"2h\", quiet = { { from = \"01:00\", to = \"03:00\" } } },",
                                            RUN);

    (void)state;
    for (size_t i = 0; i < sizeof FACTS / sizeof *FACTS; i++)
        foretell(policy, FACTS[i], NULL, FROM, 5, &told);
    foretell(policy, NULL, NULL, INT64_MAX - 5, 5, &told);
    assert_int_equal(told.count, 0);
    foretell(policy, NULL, NULL, INT64_MIN + 5, 5, &told);
    foretell(policy, NULL, NULL, FROM, 0, &told);
    assert_int_equal(told.count, 0);
    ebb_policy_free(policy);
}

static void test_the_caller_can_stop(void **state)
{
    static struct fires told;
    struct ebb_policy *policy = help_policy("triggers = { time.calendar { \"02:00\" } },", RUN);
    struct ebb_schedule_input in = {.policy = policy};
    struct ebb_settings *settings = NULL;
    struct ebb_err err;

    (void)state;
    must(ebb_settings_new(policy, NULL, NULL, &settings, &err), &err);
    in.settings = settings;
    told.rc = 1;
    assert_int_equal(ebb_preview(&in, FROM, 5, on_fire, &told, &err), -EBB_ECANCELLED);
    ebb_settings_free(settings);
    ebb_policy_free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_are_as_foretold), cmocka_unit_test(test_words),
        cmocka_unit_test(test_anchors_of_runs),      cmocka_unit_test(test_an_interval_that_is_doubled),
        cmocka_unit_test(test_hostile_facts),        cmocka_unit_test(test_the_caller_can_stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
