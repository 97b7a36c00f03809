/* SPDX-License-Identifier: Apache-2.0
 *
 * Stories by chance: whatever the clock does, no occurrence comes twice and none is lost.
 */
#include "session_help.h"

#define STORIES 200
#define MOVES 40

struct count {
    int64_t last_ms, occurrences, runs, start_ms, latest_ms;
    struct ebb_session *session;
};

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void on_count(void *data, const struct ebb_session_decision *d)
{
    struct count *c = data;

    assert_non_null(d->decision);
    assert_null(d->dropped);
    assert_non_null(d->due);
    assert_true(d->due->scheduled_for_ms > c->last_ms);
    assert_true(d->due->scheduled_for_ms <= d->at_ms);
    c->last_ms = d->due->scheduled_for_ms;
    c->occurrences += 1 + d->due->missed;
    c->runs++;
}

static void move(struct count *c, uint64_t *seed)
{
    int64_t by = (int64_t)(next_random(seed) % (uint64_t)(5 * HOUR));
    struct ebb_err err;
    int rc = 0;

    switch (next_random(seed) % 8) {
    case 0:
        rc = ebb_session_asleep(c->session, by, &err);
        break;
    case 1:
        rc = ebb_session_clock_step(c->session, by, &err);
        break;
    case 2: /* not before the start: that would be an earlier one */
        by = by < ebb_session_now(c->session) - c->start_ms ? by : ebb_session_now(c->session) - c->start_ms;
        rc = ebb_session_clock_step(c->session, -by, &err);
        break;
    case 3:
        ebb_session_pause(c->session);
        break;
    case 4:
        rc = ebb_session_resume(c->session, &err);
        break;
    default:
        rc = ebb_session_step(c->session, by, &err);
    }
    if (rc)
        fail_msg("%s", err.message);
    if (ebb_session_now(c->session) > c->latest_ms)
        c->latest_ms = ebb_session_now(c->session);
}

/* Hours that began after the start, up to the latest time that the clock ever told. */
static int64_t hours_of(const struct count *c)
{
    return c->latest_ms / HOUR - (c->start_ms - 1) / HOUR;
}

static void tell(const char *catch_up, uint64_t seed)
{
    struct count c = {.start_ms = instant("2026-03-28T00:00:00Z") + (int64_t)(next_random(&seed) % (uint64_t)HOUR)};
    struct ebb_session_options options = {.now_ms = c.start_ms, .decided = on_count, .data = &c};
    struct ebb_session_binding binding = {.mode = EBB_MODE_OBSERVE};
    struct ebb_value *facts = help_json(TABLE);
    struct ebb_policy *policy;
    struct ebb_err err;
    char triggers[200];

    snprintf(triggers, sizeof triggers, "triggers = { time.every { \"1h\", anchor = \"epoch\", %s } },", catch_up);
    policy = help_policy(triggers, RUN);
    c.latest_ms = c.start_ms;
    assert_int_equal(ebb_session_new(&options, &c.session, &err), 0);
    assert_int_equal(ebb_session_add_table(c.session, facts, NULL, &err), 0);
    assert_int_equal(ebb_session_bind(c.session, policy, &binding, &err), 0);
    for (int i = 0; i < MOVES; i++)
        move(&c, &seed);
    assert_int_equal(ebb_session_resume(c.session, &err), 0);
    while (ebb_session_now(c.session) < c.latest_ms) /* what the clock ran ahead comes to pass */
        assert_int_equal(ebb_session_step(c.session, HOUR, &err), 0);
    c.latest_ms = ebb_session_now(c.session);
    assert_int_equal(c.occurrences, hours_of(&c));
    ebb_session_free(c.session);
    ebb_value_free(facts);
    ebb_policy_free(policy);
}

static void test_one_run_for_all_that_was_missed(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= STORIES; i++)
        tell("catch_up = \"one\"", i * 7919);
}

static void test_all_of_them(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= STORIES; i++)
        tell("catch_up = \"all\", max = 3", i * 104729);
}

/* The same story ends the same, decision by decision. */
static void test_the_same_again(void **state)
{
    char first[16384];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct story s;

        tell_story(&s, "triggers = { on.count { \"snapshot.committed\", n = 3 } }, guard = { min_interval = \"50m\" },",
                   RUN, "2026-03-10T00:00:00Z");
        for (int k = 0; k < 20; k++) {
            must(&s, ebb_session_commits(s.session, 0, 1 + k % 3, &s.err));
            step(&s, 17 * MINUTE);
        }
        if (i)
            assert_string_equal(s.said, first);
        snprintf(first, sizeof first, "%s", s.said);
        assert_true(s.count > 5);
        close_story(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_run_for_all_that_was_missed),
        cmocka_unit_test(test_all_of_them),
        cmocka_unit_test(test_the_same_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
