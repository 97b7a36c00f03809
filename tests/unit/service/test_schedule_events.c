/* SPDX-License-Identifier: Apache-2.0
 *
 * Events that are told from outside: late, reordered, twice, and while the clock steps. Each makes its policy due once.
 */
#include "../engine/engine_help.h"

#include <sys/wait.h>
#include <unistd.h>

#include "service/preview.h"

#define UUID "11111111-2222-4333-8444-555555555555"
#define T0 ((int64_t)1790000000000)
#define MINUTE ((int64_t)60000)

struct world {
    struct ebb_policy *policy;
    struct ebb_settings *settings;
    struct ebb_value *facts;
    struct ebb_schedule schedule;
    struct ebb_due due;
    struct ebb_err err;
};

static void open_world(struct world *w, const char *lines)
{
    memset(w, 0, sizeof *w);
    w->policy = help_policy(lines, "return skip(all {})");
    if (ebb_settings_new(w->policy, NULL, NULL, &w->settings, &w->err))
        fail_msg("%s", w->err.message);
    w->facts = ebb_value_new_map(NULL);
    ebb_value_put_list(w->facts, "events");
    w->schedule.active_since_ms = T0;
}

static void close_world(struct world *w)
{
    ebb_value_free(w->facts);
    ebb_settings_free(w->settings);
    ebb_policy_free(w->policy);
}

/* One more is told: its number, when it happened and when it came, in minutes after T0. */
static void tell(struct world *w, int64_t seq, int64_t at, int64_t received)
{
    struct ebb_value *old = NULL, *events, *event;

    assert_int_equal(ebb_value_dup(ebb_value_get(w->facts, "events"), NULL, &old, &w->err), 0);
    events = ebb_value_put_list(w->facts, "events");
    for (size_t i = 0; i < ebb_value_get_count(old); i++)
        ebb_value_add_copy(events, ebb_value_get_at(old, i));
    ebb_value_free(old);
    event = ebb_value_add_map(events);
    ebb_value_put_str(event, "type", "commit.failed");
    ebb_value_put_int(event, "at", T0 + at * MINUTE);
    ebb_value_put_int(event, "received", T0 + received * MINUTE);
    ebb_value_put_int(event, "seq", seq);
}

static struct ebb_schedule_input input(const struct world *w, int64_t now)
{
    return (struct ebb_schedule_input){w->policy, w->settings, UUID, w->facts, T0 + now * MINUTE};
}

/* How many events the occurrence that is due at this minute holds; 0: nothing is due. It is taken. */
static size_t fires(struct world *w, int64_t now)
{
    struct ebb_schedule_input in = input(w, now);
    struct ebb_value *trigger = NULL;
    size_t count;

    assert_int_equal(ebb_schedule_due(&in, &w->schedule, &w->due, &w->err), 0);
    if (!w->due.is_due)
        return 0;
    assert_string_equal(w->due.kind, "event");
    assert_int_equal(ebb_schedule_trigger(&in, &w->due, &trigger, &w->err), 0);
    count = ebb_value_get_count(ebb_value_get(trigger, "events"));
    ebb_value_free(trigger);
    ebb_schedule_take(&w->schedule, &w->due);
    return count;
}

static void test_a_late_event_is_not_missed(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { on.event { \"commit.failed\" } },");
    tell(&w, 1, 10, 10);
    assert_int_equal(fires(&w, 10), 1);
    assert_int_equal(fires(&w, 11), 0);
    tell(&w, 2, 5, 12); /* happened before the one that fired */
    assert_int_equal(fires(&w, 12), 1);
    assert_int_equal(fires(&w, 13), 0);
    tell(&w, 3, -5000, 14); /* even before the policy was active */
    assert_int_equal(fires(&w, 14), 1);
    close_world(&w);
}

static void test_two_of_one_instant_fire_twice(void **state)
{
    struct world w;
    int64_t first;

    (void)state;
    open_world(&w, "triggers = { on.event { \"commit.failed\" } },");
    tell(&w, 1, 10, 10);
    assert_int_equal(fires(&w, 10), 1);
    first = w.due.scheduled_for_ms;
    tell(&w, 2, 10, 10); /* came in the next batch, in the same millisecond */
    assert_int_equal(fires(&w, 10), 1);
    assert_true(w.due.scheduled_for_ms > first); /* another occurrence */
    close_world(&w);
}

static void test_reordered_events_fire_once_each(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { on.event { \"commit.failed\" } },");
    tell(&w, 3, 1, 9);
    tell(&w, 1, 8, 7);
    tell(&w, 2, 4, 8);
    assert_int_equal(fires(&w, 9), 3);
    assert_int_equal(fires(&w, 100), 0);
    close_world(&w);
}

static void test_what_was_told_before_a_policy_is_no_news(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { on.event { \"commit.failed\" } },");
    w.schedule.active_since_ms = 0;
    tell(&w, 1, 1, 1);
    assert_int_equal(fires(&w, 2), 0);
    tell(&w, 2, 0, 3);
    assert_int_equal(fires(&w, 3), 1);
    close_world(&w);
}

static void test_a_debounce_counts_from_when_it_came(void **state)
{
    struct world w;
    struct ebb_schedule_input in;
    int64_t wake = 0;

    (void)state;
    open_world(&w, "triggers = { on.event { \"commit.failed\", debounce = \"10m\", max_hold = \"30m\" } },");
    tell(&w, 1, 0, 100);
    assert_int_equal(fires(&w, 105), 0);
    in = input(&w, 105);
    assert_int_equal(ebb_schedule_wake(&in, &w.schedule, &wake, &w.err), 0);
    assert_int_equal(wake, T0 + 110 * MINUTE);
    tell(&w, 2, 0, 109);
    assert_int_equal(fires(&w, 110), 0);
    assert_int_equal(fires(&w, 119), 2);
    close_world(&w);
}

static void test_a_clock_that_was_ahead_hides_none(void **state)
{
    struct world w;
    int64_t first;

    (void)state;
    open_world(&w, "triggers = { on.event { \"commit.failed\", debounce = \"10m\" } },");
    tell(&w, 1, 43200, 43200); /* the clock was a month ahead */
    assert_int_equal(fires(&w, 43210), 1);
    first = w.due.scheduled_for_ms;
    tell(&w, 2, 20, 20); /* set right again */
    assert_int_equal(fires(&w, 30), 1);
    assert_true(w.due.scheduled_for_ms > first);
    tell(&w, 3, 43200, 43300); /* came while it was ahead once more */
    assert_int_equal(fires(&w, 40), 1);
    assert_int_equal(fires(&w, 50), 0);
    close_world(&w);
}

static void test_a_pass_that_steps_back_keeps_what_waits(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { on.event { \"commit.failed\", debounce = \"10m\" } },");
    tell(&w, 1, 5, 5);
    assert_int_equal(fires(&w, 6), 0);
    assert_int_equal(fires(&w, -1440), 1); /* a day back: nobody knows how long it was quiet */
    close_world(&w);
}

static void test_a_count_takes_late_ones(void **state)
{
    struct world w;
    struct ebb_schedule_input in;

    (void)state;
    open_world(&w, "triggers = { on.count { \"commit.failed\", n = 2, since = \"last_run\" } },");
    tell(&w, 1, -10, 5);
    in = input(&w, 6);
    assert_int_equal(ebb_schedule_due(&in, &w.schedule, &w.due, &w.err), 0);
    assert_false(w.due.is_due);
    tell(&w, 2, -20, 7);
    in = input(&w, 7);
    assert_int_equal(ebb_schedule_due(&in, &w.schedule, &w.due, &w.err), 0);
    assert_true(w.due.is_due);
    assert_string_equal(w.due.kind, "count");
    close_world(&w);
}

static void test_the_watermark_is_kept(void **state)
{
    char dir[] = "/tmp/ebb-told-XXXXXX";
    struct ebb_store *store;
    struct world w;
    pid_t pid;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(ebb_store_open(dir, &store, NULL), 0);
    open_world(&w, "triggers = { time.calendar { \"02:00\" }, on.event { \"commit.failed\" } },");
    tell(&w, 77, 1, 1);
    assert_int_equal(fires(&w, 1), 1);
    assert_int_equal(ebb_schedule_save(store, "p", UUID, &w.schedule, &w.err), 0);
    memset(&w.schedule, 0, sizeof w.schedule);
    assert_int_equal(ebb_schedule_load(store, "p", UUID, &w.schedule, &w.err), 0);
    assert_int_equal(w.schedule.told[1], 77);
    assert_int_equal(fires(&w, 2), 0);
    tell(&w, 78, 1, 1);
    assert_int_equal(fires(&w, 2), 1);
    close_world(&w);
    ebb_store_close(store);
    pid = fork();
    if (pid == 0) {
        execlp("rm", "rm", "-rf", "--", dir, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_late_event_is_not_missed),
        cmocka_unit_test(test_two_of_one_instant_fire_twice),
        cmocka_unit_test(test_reordered_events_fire_once_each),
        cmocka_unit_test(test_what_was_told_before_a_policy_is_no_news),
        cmocka_unit_test(test_a_debounce_counts_from_when_it_came),
        cmocka_unit_test(test_a_clock_that_was_ahead_hides_none),
        cmocka_unit_test(test_a_pass_that_steps_back_keeps_what_waits),
        cmocka_unit_test(test_a_count_takes_late_ones),
        cmocka_unit_test(test_the_watermark_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
