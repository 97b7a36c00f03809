/* SPDX-License-Identifier: Apache-2.0
 *
 * What is due: each kind of trigger against the clock, the facts and what fired before. Instants are written out by
 * hand from the rules of the scheduler.
 */
#include "../engine/engine_help.h"

#include <unistd.h>

#include "base/time.h"
#include "service/preview.h"

#define UUID "11111111-2222-4333-8444-555555555555"
#define HOUR ((int64_t)3600000)
#define MINUTE ((int64_t)60000)

struct world {
    struct ebb_policy *policy;
    struct ebb_settings *settings;
    struct ebb_value *facts;
    struct ebb_schedule schedule;
    struct ebb_due due;
    struct ebb_err err;
};

static int64_t at(const char *text)
{
    int64_t ms = 0;

    if (ebb_time_parse(text, NULL, &ms, NULL))
        fail_msg("%s: no instant", text);
    return ms;
}

/* lines: the policy's triggers and guard. The schedule is active since `since`. */
static void open_world(struct world *w, const char *lines, const char *facts, const char *since)
{
    memset(w, 0, sizeof *w);
    w->policy = help_policy(lines, "return skip(all {})");
    if (ebb_settings_new(w->policy, NULL, NULL, &w->settings, &w->err))
        fail_msg("%s", w->err.message);
    w->facts = help_json(facts);
    w->schedule.active_since_ms = since ? at(since) : 0;
}

static void close_world(struct world *w)
{
    ebb_value_free(w->facts);
    ebb_settings_free(w->settings);
    ebb_policy_free(w->policy);
}

static struct ebb_schedule_input input(const struct world *w, const char *now)
{
    return (struct ebb_schedule_input){w->policy, w->settings, UUID, w->facts, at(now)};
}

static bool due(struct world *w, const char *now)
{
    struct ebb_schedule_input in = input(w, now);

    if (ebb_schedule_due(&in, &w->schedule, &w->due, &w->err))
        fail_msg("%s", w->err.message);
    return w->due.is_due;
}

static void check_due(struct world *w, const char *now, const char *kind, const char *nominal, int64_t missed)
{
    char text[64];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    if (!due(w, now))
        fail_msg("at %s: not due", now);
    ebb_time_iso(&b, w->due.scheduled_for_ms);
    assert_string_equal(w->due.kind, kind);
    assert_string_equal(ebb_buf_cstr(&b), nominal);
    assert_int_equal(w->due.missed, missed);
}

/* Due, and taken. */
static void check_fires(struct world *w, const char *now, const char *kind, const char *nominal, int64_t missed)
{
    check_due(w, now, kind, nominal, missed);
    ebb_schedule_take(&w->schedule, &w->due);
}

static void check_quiet(struct world *w, const char *now)
{
    if (due(w, now))
        fail_msg("at %s: due as %s", now, w->due.kind);
}

/* ---- time ---- */

static void test_the_first_pass_makes_it_active(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\" } },", "{}", NULL);
    check_quiet(&w, "2026-03-01T09:00:00Z");
    assert_int_equal(w.schedule.active_since_ms, at("2026-03-01T09:00:00Z"));
    check_quiet(&w, "2026-03-02T01:59:59Z");
    check_fires(&w, "2026-03-02T02:00:00Z", "time", "2026-03-02T02:00:00Z", 0);
    check_quiet(&w, "2026-03-02T02:00:00Z");
    check_quiet(&w, "2026-03-03T01:59:59Z");
    close_world(&w);
}

static void test_cron(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.cron { \"30 3 * * 1\", tz = \"Europe/Berlin\" } },", "{}",
               "2026-03-22T00:00:00Z");
    check_quiet(&w, "2026-03-23T02:29:59Z");
    check_fires(&w, "2026-03-23T02:30:00Z", "time", "2026-03-23T02:30:00Z", 0);
    check_fires(&w, "2026-03-30T01:45:00Z", "time", "2026-03-30T01:30:00Z", 0); /* summer time */
    close_world(&w);
}

static void test_missed_slots_are_counted(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.every { \"2h\", anchor = \"epoch\" } },", "{}", "2026-03-01T00:30:00Z");
    check_fires(&w, "2026-03-01T02:00:00Z", "time", "2026-03-01T02:00:00Z", 0);
    /* asleep from then to 12:30: 04, 06, 08, 10 were missed */
    check_fires(&w, "2026-03-01T12:30:00Z", "catch_up", "2026-03-01T12:00:00Z", 4);
    check_quiet(&w, "2026-03-01T13:59:59Z");
    close_world(&w);
}

static void test_a_long_sleep_is_arithmetic(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.every { \"1m\", anchor = \"epoch\" } },", "{}", "2020-01-01T00:00:00Z");
    check_fires(&w, "2026-01-01T00:00:30Z", "catch_up", "2026-01-01T00:00:00Z", 2192 * 1440 - 1);
    close_world(&w);
}

static void test_every_from_the_start_of_the_day(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.every { \"5h\", anchor = \"start_of_day\", tz = \"Asia/Kolkata\" } },", "{}",
               "2026-03-01T00:00:00Z");
    /* the local day begins at 18:30Z; slots 18:30 23:30 04:30 09:30 14:30, then the next day */
    check_fires(&w, "2026-03-01T05:00:00Z", "time", "2026-03-01T04:30:00Z", 0);
    check_fires(&w, "2026-03-01T18:31:00Z", "catch_up", "2026-03-01T18:30:00Z", 2);
    close_world(&w);
}

static void test_every_since_the_last_run(void **state)
{
    struct world w;

    (void)state;
    open_world(
        &w, "triggers = { time.every { \"6h\", anchor = \"last_start\" } },",
        "{\"runs\":[{\"id\":\"r-1\",\"started\":1772350200000,\"ended\":1772357400000,\"outcome\":\"failed\"}]}", /* 07:30
                                                                                                                     to
                                                                                                                     09:30
                                                                                                                   */
        "2026-03-01T00:00:00Z");
    check_quiet(&w, "2026-03-01T13:29:59Z");
    check_due(&w, "2026-03-01T13:30:00Z", "time", "2026-03-01T13:30:00Z", 0);
    check_fires(&w, "2026-03-02T02:00:00Z", "catch_up", "2026-03-02T01:30:00Z", 2);
    check_quiet(&w, "2026-03-02T07:29:59Z"); /* it led to no run: the next step counts from it */
    check_due(&w, "2026-03-02T07:30:00Z", "time", "2026-03-02T07:30:00Z", 0);
    close_world(&w);
    open_world(
        &w, "triggers = { time.every { \"6h\", anchor = \"last_end\" } },",
        "{\"runs\":[{\"id\":\"r-1\",\"started\":1772350200000,\"ended\":1772357400000,\"outcome\":\"success\"}]}",
        "2026-03-01T00:00:00Z");
    check_quiet(&w, "2026-03-01T15:29:59Z");
    check_due(&w, "2026-03-01T15:30:00Z", "time", "2026-03-01T15:30:00Z", 0);
    close_world(&w);
    open_world(&w, "triggers = { time.every { \"6h\", anchor = \"last_end\" } },", "{}", "2026-03-01T00:00:00Z");
    check_quiet(&w, "2026-03-01T05:59:59Z"); /* never ran: from when it became active */
    check_due(&w, "2026-03-01T06:00:00Z", "time", "2026-03-01T06:00:00Z", 0);
    close_world(&w);
}

static void test_catch_up_none(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\", catch_up = \"none\" } },", "{}", "2026-03-01T00:00:00Z");
    check_quiet(&w, "2026-03-03T02:10:01Z");
    assert_true(w.due.is_dropped);
    check_quiet(&w, "2026-03-03T02:10:02Z");
    assert_false(w.due.is_dropped); /* dropped once */
    check_fires(&w, "2026-03-04T02:10:00Z", "time", "2026-03-04T02:00:00Z", 0);
    close_world(&w);
}

static void test_catch_up_all(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\", catch_up = \"all\", max = 3 } },", "{}",
               "2026-03-01T00:00:00Z");
    /* 1st to 10th of March were missed: the last three run one after the other, the first of them tells of the seven
     * before */
    check_fires(&w, "2026-03-10T12:00:00Z", "catch_up", "2026-03-08T02:00:00Z", 7);
    check_fires(&w, "2026-03-10T12:01:00Z", "catch_up", "2026-03-09T02:00:00Z", 0);
    check_fires(&w, "2026-03-10T12:02:00Z", "time", "2026-03-10T02:00:00Z", 0);
    check_quiet(&w, "2026-03-10T12:03:00Z");
    check_fires(&w, "2026-03-12T03:00:00Z", "catch_up", "2026-03-11T02:00:00Z", 0);
    check_fires(&w, "2026-03-12T03:00:00Z", "time", "2026-03-12T02:00:00Z", 0);
    close_world(&w);
}

static void test_late_by(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\", late_by = \"3h\" } },", "{}", "2026-03-01T00:00:00Z");
    check_due(&w, "2026-03-02T05:00:00Z", "catch_up", "2026-03-02T02:00:00Z", 1);
    check_quiet(&w, "2026-03-02T05:00:01Z");
    assert_true(w.due.is_dropped);
    check_quiet(&w, "2026-03-02T05:00:02Z");
    assert_false(w.due.is_dropped);
    close_world(&w);
}

static void test_a_clock_that_steps_back(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"*:00\" } },", "{}", "2026-03-01T00:30:00Z");
    check_fires(&w, "2026-03-01T10:00:00Z", "catch_up", "2026-03-01T10:00:00Z", 9);
    check_quiet(&w, "2026-03-01T08:00:00Z");
    check_quiet(&w, "2026-03-01T09:00:00Z");
    check_quiet(&w, "2026-03-01T10:00:00Z");
    check_fires(&w, "2026-03-01T11:00:00Z", "time", "2026-03-01T11:00:00Z", 0);
    close_world(&w);
    /* activated by a clock that was years ahead: active from now, not for years to come */
    open_world(&w, "triggers = { time.calendar { \"*:00\" } },", "{}", "2036-03-01T00:30:00Z");
    check_quiet(&w, "2026-03-01T08:30:00Z");
    check_fires(&w, "2026-03-01T09:00:00Z", "time", "2026-03-01T09:00:00Z", 0);
    close_world(&w);
}

static int64_t spread_of(struct world *w, const char *uuid)
{
    struct ebb_schedule_input in;

    memset(&w->schedule, 0, sizeof w->schedule);
    w->schedule.active_since_ms = at("2026-03-01T00:00:00Z");
    for (int64_t now = at("2026-03-01T02:00:00Z"); now < at("2026-03-01T05:00:00Z"); now += 1000) {
        in = (struct ebb_schedule_input){w->policy, w->settings, uuid, w->facts, now};
        assert_int_equal(ebb_schedule_due(&in, &w->schedule, &w->due, &w->err), 0);
        if (w->due.is_due) {
            assert_int_equal(w->due.scheduled_for_ms, at("2026-03-01T02:00:00Z"));
            return now - at("2026-03-01T02:00:00Z");
        }
    }
    fail_msg("never due");
    return 0;
}

static void test_spread_is_fixed_for_a_table(void **state)
{
    struct world w;
    int64_t a, b, c;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\", spread = \"3h\" } },", "{}", NULL);
    a = spread_of(&w, UUID);
    assert_int_equal(a, spread_of(&w, UUID));
    b = spread_of(&w, "21111111-2222-4333-8444-555555555555");
    c = spread_of(&w, "31111111-2222-4333-8444-555555555555");
    assert_true(a != b || b != c);
    assert_true(a < 3 * HOUR && b < 3 * HOUR && c < 3 * HOUR);
    close_world(&w);
}

/* A table-uuid is text from a file: it may be of any length. */
static void test_a_very_long_uuid(void **state)
{
    struct world w;
    char *uuid = malloc(40001);

    (void)state;
    memset(uuid, 'a', 40000);
    uuid[40000] = '\0';
    open_world(&w, "triggers = { time.calendar { \"02:00\", spread = \"3h\" } },", "{}", NULL);
    assert_true(spread_of(&w, uuid) < 3 * HOUR);
    close_world(&w);
    free(uuid);
}

/* ---- counts ---- */

#define COMMIT(n, at) "{\"id\":\"s-" #n "\",\"type\":\"snapshot.committed\",\"at\":" #at ",\"snapshot_id\":" #n "}"
#define OWN(n, at)                                                                                                     \
    "{\"id\":\"s-" #n "\",\"type\":\"snapshot.committed\",\"at\":" #at ",\"snapshot_id\":" #n ",\"own\":true}"
/* 1772348400000 is 2026-03-01T07:00:00Z, an hour 3600000 */

static void test_count(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { on.count { \"snapshot.committed\", n = 2 } },",
               "{\"events\":[" COMMIT(1, 1772348400000) "," COMMIT(2, 1772352000000) "," COMMIT(3, 1772355600000) "]}",
               "2026-03-01T07:00:00Z");      /* the first came before */
    check_quiet(&w, "2026-03-01T08:30:00Z"); /* the third is still to come */
    check_fires(&w, "2026-03-01T09:00:00Z", "count", "2026-03-01T09:00:00Z", 0);
    check_quiet(&w, "2026-03-01T09:01:00Z"); /* what fired and led to no run is not counted again */
    close_world(&w);
}

static void test_count_leaves_out_own_commits(void **state)
{
    static const char FACTS[] = "{\"events\":[" OWN(1, 1772348400000) "," COMMIT(2, 1772352000000) "]}";
    struct world w;

    (void)state;
    open_world(&w, "triggers = { on.count { \"snapshot.committed\", n = 2 } },", FACTS, "2026-03-01T00:00:00Z");
    check_quiet(&w, "2026-03-01T09:00:00Z");
    close_world(&w);
    open_world(&w, "triggers = { on.count { \"snapshot.committed\", n = 2 } }, guard = { ignore_own = false },", FACTS,
               "2026-03-01T00:00:00Z");
    check_due(&w, "2026-03-01T09:00:00Z", "count", "2026-03-01T09:00:00Z", 0);
    close_world(&w);
}

static void test_count_since_the_last_success(void **state)
{
    /* a run at 07:30 failed; one at 06:30 went well */
    static const char FACTS[] = "{\"events\":[" COMMIT(1, 1772348400000) "," COMMIT(
        2, 1772352000000) "],"
                          "\"runs\":[{\"id\":\"r-1\",\"started\":1772346600000,\"ended\":1772346600000,\"outcome\":"
                          "\"observed\"},"
                          "{\"id\":\"r-2\",\"started\":1772350200000,\"ended\":1772350200000,\"outcome\":\"failed\"}]}";
    struct world w;

    (void)state;
    open_world(&w, "triggers = { on.count { \"snapshot.committed\", n = 2, since = \"last_success\" } },", FACTS,
               "2026-03-01T00:00:00Z");
    check_due(&w, "2026-03-01T09:00:00Z", "count", "2026-03-01T09:00:00Z", 0);
    close_world(&w);
    open_world(&w, "triggers = { on.count { \"snapshot.committed\", n = 2, since = \"last_run\" } },", FACTS,
               "2026-03-01T00:00:00Z");
    check_quiet(&w, "2026-03-01T09:00:00Z");
    close_world(&w);
}

/* ---- events ---- */

#define FAILED(n, at, files)                                                                                           \
    "{\"id\":\"f-" #n "\",\"type\":\"commit.failed\",\"at\":" #at ",\"files_written\":" #files "}"

static void test_event_debounce(void **state)
{
    struct world w;

    (void)state;
    /* 07:00, 07:20, 07:40 */
    open_world(&w, "triggers = { on.event { \"commit.failed\", debounce = \"30m\", max_hold = \"2h\" } },",
               "{\"events\":[" FAILED(1, 1772348400000, 1) "," FAILED(2, 1772349600000, 1) "," FAILED(3, 1772350800000,
                                                                                                      1) "]}",
               "2026-03-01T00:00:00Z");
    check_quiet(&w, "2026-03-01T07:29:59Z"); /* the one at 07:20 keeps it */
    check_quiet(&w, "2026-03-01T08:09:59Z");
    check_fires(&w, "2026-03-01T08:10:00Z", "event", "2026-03-01T07:40:00Z", 0);
    check_quiet(&w, "2026-03-01T12:00:00Z");
    close_world(&w);
}

static void test_event_max_hold(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { on.event { \"commit.failed\", debounce = \"30m\", max_hold = \"35m\" } },",
               "{\"events\":[" FAILED(1, 1772348400000, 1) "," FAILED(2, 1772349600000, 1) "," FAILED(3, 1772350800000,
                                                                                                      1) "]}",
               "2026-03-01T00:00:00Z");
    check_quiet(&w, "2026-03-01T07:34:59Z");
    check_fires(&w, "2026-03-01T07:35:00Z", "event", "2026-03-01T07:20:00Z", 0);
    check_fires(&w, "2026-03-01T08:10:00Z", "event", "2026-03-01T07:40:00Z", 0);
    close_world(&w);
}

static void test_event_where(void **state)
{
    static const char LINES[] =
        "triggers = { on.event { \"commit.failed\", where = function(e) return e.files_written > 5 end } },";
    struct ebb_value *trigger = NULL;
    struct ebb_schedule_input in;
    struct world w;

    (void)state;
    open_world(&w, LINES, "{\"events\":[" FAILED(1, 1772348400000, 1) "," FAILED(2, 1772349600000, 5) "]}",
               "2026-03-01T00:00:00Z");
    check_quiet(&w, "2026-03-01T09:00:00Z");
    close_world(&w);
    open_world(&w, LINES,
               "{\"events\":[" FAILED(1, 1772348400000, 1) "," FAILED(2, 1772349600000, 6) "," COMMIT(
                   3, 1772349600000) "," FAILED(4, 1772350800000, 2) "," FAILED(5, 1772384400000,
                                                                                9) "]}", /* the last at 17:00 */
               "2026-03-01T00:00:00Z");
    check_due(&w, "2026-03-01T09:00:00Z", "event", "2026-03-01T07:20:00Z", 0);
    in = input(&w, "2026-03-01T09:00:00Z");
    assert_int_equal(ebb_schedule_trigger(&in, &w.due, &trigger, &w.err), 0);
    assert_int_equal(ebb_value_get_count(ebb_value_get(trigger, "events")), 1);
    assert_string_equal(ebb_value_text_of(ebb_value_get_at(ebb_value_get(trigger, "events"), 0), "id"), "f-2");
    assert_string_equal(ebb_value_text_of(trigger, "kind"), "event");
    ebb_value_free(trigger);
    close_world(&w);
}

static void test_a_where_that_goes_wrong_is_an_error(void **state)
{
    struct ebb_schedule_input in;
    struct world w;

    (void)state;
    open_world(&w, "triggers = { on.event { \"commit.failed\", where = function(e) while true do end end } },",
               "{\"events\":[" FAILED(1, 1772348400000, 1) "]}", "2026-03-01T00:00:00Z");
    in = input(&w, "2026-03-01T09:00:00Z");
    assert_int_equal(ebb_schedule_due(&in, &w.schedule, &w.due, &w.err), -EBB_EPOLICY_GAS);
    assert_false(w.due.is_due);
    close_world(&w);
}

/* ---- defer ---- */

static bool defer(struct world *w, const char *now, const char *until, bool by_guard)
{
    struct ebb_schedule_input in = input(w, now);

    ebb_schedule_take(&w->schedule, &w->due);
    return ebb_schedule_defer(&in, &w->due, until ? at(until) : 0, by_guard, &w->schedule);
}

static void test_a_defer_is_due_again(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\" } },", "{}", "2026-03-01T00:00:00Z");
    check_due(&w, "2026-03-01T02:00:00Z", "time", "2026-03-01T02:00:00Z", 0);
    assert_true(defer(&w, "2026-03-01T02:00:00Z", "2026-03-05T00:00:00Z", false));
    check_due(&w, "2026-03-02T02:00:00Z", "time", "2026-03-02T02:00:00Z", 0); /* a newer one */
    assert_true(defer(&w, "2026-03-02T02:00:00Z", "2026-03-07T00:00:00Z", false));
    assert_int_equal(w.schedule.deferred_until_ms, at("2026-03-05T00:00:00Z")); /* does not push it back */
    check_due(&w, "2026-03-03T02:00:00Z", "time", "2026-03-03T02:00:00Z", 0);
    assert_true(defer(&w, "2026-03-03T02:00:00Z", "2026-03-04T00:00:00Z", false));
    check_quiet(&w, "2026-03-03T23:59:59Z"); /* but brings it forward */
    check_fires(&w, "2026-03-04T00:00:00Z", "deferred", "2026-03-04T00:00:00Z", 0);
    check_quiet(&w, "2026-03-04T00:00:01Z");
    close_world(&w);
}

static void test_a_defer_without_an_instant_waits_for_the_next_pass(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\" } }, guard = { overlap = \"queue_one\" },", "{}",
               "2026-03-01T00:00:00Z");
    check_due(&w, "2026-03-01T02:00:00Z", "time", "2026-03-01T02:00:00Z", 0);
    assert_true(defer(&w, "2026-03-01T02:00:00Z", NULL, true));
    check_due(&w, "2026-03-01T02:05:00Z", "deferred", "2026-03-01T02:00:00Z", 0);
    close_world(&w);
}

static void test_what_is_held_back_too_long_is_dropped(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\", late_by = \"4h\" } },", "{}", "2026-03-01T00:00:00Z");
    check_due(&w, "2026-03-01T02:00:00Z", "time", "2026-03-01T02:00:00Z", 0);
    assert_false(defer(&w, "2026-03-01T02:00:00Z", "2026-03-01T06:00:01Z", true));
    assert_int_equal(w.schedule.deferred_until_ms, 0);
    check_due(&w, "2026-03-02T02:00:00Z", "time", "2026-03-02T02:00:00Z", 0);
    assert_true(defer(&w, "2026-03-02T02:00:00Z", "2026-03-02T06:00:00Z", true));
    close_world(&w);
    open_world(&w, "triggers = { time.calendar { \"02:00\" } },", "{}", "2026-03-01T00:00:00Z");
    check_due(&w, "2026-03-01T02:00:00Z", "time", "2026-03-01T02:00:00Z", 0);
    assert_false(defer(&w, "2026-03-01T02:00:00Z", "2026-03-02T02:00:01Z", true)); /* the next one comes first */
    check_due(&w, "2026-03-02T02:00:00Z", "time", "2026-03-02T02:00:00Z", 0);
    assert_true(defer(&w, "2026-03-02T02:00:00Z", "2026-03-12T02:00:00Z", false)); /* the policy itself may */
    close_world(&w);
    open_world(&w, "triggers = { on.event { \"commit.failed\" } },", "{\"events\":[" FAILED(1, 1772348400000, 1) "]}",
               "2026-03-01T00:00:00Z");
    check_due(&w, "2026-03-01T09:00:00Z", "event", "2026-03-01T07:00:00Z", 0);
    assert_true(defer(&w, "2026-03-01T09:00:00Z", "2026-05-01T02:00:00Z", true));
    close_world(&w);
}

/* ---- several triggers, hostile facts, the store ---- */

static void test_the_first_trigger_counts_and_the_other_stays_due(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\" }, time.calendar { \"01:00\" } },", "{}",
               "2026-03-01T00:00:00Z");
    check_fires(&w, "2026-03-01T03:00:00Z", "time", "2026-03-01T02:00:00Z", 0);
    check_fires(&w, "2026-03-01T03:00:01Z", "time", "2026-03-01T01:00:00Z", 0);
    check_quiet(&w, "2026-03-01T03:00:02Z");
    close_world(&w);
}

static void test_hostile_facts(void **state)
{
    static const char *const FACTS[] = {
        "{\"events\":5,\"runs\":\"x\"}",
        "{\"events\":[1,\"a\",[],{}],\"runs\":[1,{},[]]}",
        "{\"events\":[{\"type\":\"commit.failed\",\"at\":-9223372036854775808},{\"type\":\"commit.failed\",\"at\":"
        "9223372036854775807},"
        "{\"type\":5,\"at\":\"x\"}],\"runs\":[{\"started\":9223372036854775807},{\"started\":-9223372036854775808,"
        "\"outcome\":\"success\"}]}",
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct world w;

        open_world(&w,
                   "triggers = { on.event { \"commit.failed\", debounce = \"1h\", max_hold = \"2h\" }, on.count { "
                   "\"commit.failed\", n = 1 }, "
                   "time.every { \"1h\", anchor = \"last_end\" } },",
                   FACTS[i], "2026-03-01T00:00:00Z");
        due(&w, "2026-03-01T00:10:00Z");
        w.schedule.fired_ms[1] = INT64_MAX;
        w.schedule.fired_ms[2] = INT64_MAX;
        check_quiet(&w, "2026-03-01T00:10:00Z");
        close_world(&w);
    }
}

static void test_state_is_kept(void **state)
{
    char dir[] = "/tmp/ebb-schedule-XXXXXX", command[64];
    struct ebb_schedule a, b;
    struct ebb_store *store = NULL;
    struct ebb_err err;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(ebb_store_open(dir, &store, &err), 0);
    assert_int_equal(ebb_schedule_load(store, "p", UUID, &a, &err), 0);
    assert_int_equal(a.active_since_ms, 0);
    a.active_since_ms = 5;
    a.deferred_until_ms = INT64_MAX;
    a.fired_ms[EBB_POLICY_TRIGGERS_MAX - 1] = 7;
    assert_int_equal(ebb_schedule_save(store, "p", UUID, &a, &err), 0);
    assert_int_equal(ebb_schedule_load(store, "p", UUID, &b, &err), 0);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(ebb_schedule_load(store, "q", UUID, &b, &err), 0);
    assert_int_equal(b.active_since_ms, 0);
    assert_int_equal(
        ebb_store_put_value(store, "schedule", "p/" UUID, "{\"fired\":{\"a\":1},\"active_since\":\"x\"}", &err), 0);
    assert_int_equal(ebb_schedule_load(store, "p", UUID, &b, &err), 0);
    assert_int_equal(b.active_since_ms, 0);
    assert_int_equal(ebb_store_put_value(store, "schedule", "p/" UUID, "{", &err), 0);
    assert_int_not_equal(ebb_schedule_load(store, "p", UUID, &b, &err), 0);
    ebb_store_close(store);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

/* Two long uuids that differ at their end only are two tables. */
static void test_long_uuids_are_told_apart(void **state)
{
    char dir[] = "/tmp/ebb-schedule-XXXXXX", command[64], one[2000], two[2000];
    struct ebb_schedule a;
    struct ebb_store *store = NULL;
    struct ebb_err err;

    (void)state;
    memset(one, 'a', sizeof one - 1);
    one[sizeof one - 1] = '\0';
    memcpy(two, one, sizeof one);
    two[sizeof two - 2] = 'b';
    assert_non_null(mkdtemp(dir));
    assert_int_equal(ebb_store_open(dir, &store, &err), 0);
    memset(&a, 0, sizeof a);
    a.active_since_ms = 5;
    assert_int_equal(ebb_schedule_save(store, "p", one, &a, &err), 0);
    assert_int_equal(ebb_schedule_load(store, "p", two, &a, &err), 0);
    assert_int_equal(a.active_since_ms, 0);
    ebb_store_close(store);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

/* ---- rows of the scheduler that meet ---- */

/* Where a trigger stands does not matter; one that was changed begins anew: nothing from before is caught up. */
static void test_an_edit_keeps_the_state_of_triggers(void **state)
{
    struct ebb_schedule kept;
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"Sun 02:00\" }, time.calendar { \"*:00\" } },", "{}",
               "2026-03-01T00:30:00Z");
    check_fires(&w, "2026-03-01T02:00:00Z", "time", "2026-03-01T02:00:00Z", 0);
    check_fires(&w, "2026-03-01T02:00:00Z", "catch_up", "2026-03-01T02:00:00Z", 1);
    check_quiet(&w, "2026-03-01T02:30:00Z");
    kept = w.schedule;
    close_world(&w);
    /* a daily one is put before them */
    open_world(&w,
               "triggers = { time.calendar { \"01:00\" }, time.calendar { \"Sun 02:00\", spread = \"1h\" }, "
               "time.calendar { \"*:00\" } },",
               "{}", NULL);
    w.schedule = kept;
    check_quiet(&w, "2026-03-01T02:40:00Z");
    check_fires(&w, "2026-03-01T03:00:00Z", "time", "2026-03-01T03:00:00Z", 0);
    assert_int_equal(w.due.trigger, 2);
    check_fires(&w, "2026-03-02T01:00:00Z", "time", "2026-03-02T01:00:00Z", 0);
    assert_int_equal(w.due.trigger, 0);
    close_world(&w);
    /* it was weekly and is daily now: the days before do not count */
    open_world(&w, "triggers = { time.calendar { \"02:00\" } },", "{}", NULL);
    w.schedule = kept;
    check_quiet(&w, "2026-03-09T09:00:00Z");
    check_fires(&w, "2026-03-10T02:00:00Z", "time", "2026-03-10T02:00:00Z", 0);
    close_world(&w);
}

/* One instant, one decision. */
static void test_a_defer_stands_for_what_is_due_with_it(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"*:00/30\", late_by = \"5h\" } },", "{}", "2026-03-01T00:45:00Z");
    check_due(&w, "2026-03-01T01:00:00Z", "time", "2026-03-01T01:00:00Z", 0);
    assert_true(defer(&w, "2026-03-01T01:00:00Z", "2026-03-01T03:00:00Z", true));
    check_due(&w, "2026-03-01T01:30:00Z", "time", "2026-03-01T01:30:00Z", 0);
    assert_true(defer(&w, "2026-03-01T01:30:00Z", "2026-03-01T03:00:00Z", true));
    check_fires(&w, "2026-03-01T03:00:00Z", "deferred", "2026-03-01T03:00:00Z", 2); /* 02:00, 02:30; 03:00 is now */
    check_quiet(&w, "2026-03-01T03:00:00Z");
    check_fires(&w, "2026-03-01T03:30:00Z", "time", "2026-03-01T03:30:00Z", 0);
    close_world(&w);
    /* catch_up = "all" runs each */
    open_world(&w, "triggers = { time.calendar { \"*:00/30\", catch_up = \"all\", max = 5 } },", "{}",
               "2026-03-01T00:45:00Z");
    check_due(&w, "2026-03-01T01:00:00Z", "time", "2026-03-01T01:00:00Z", 0);
    assert_true(defer(&w, "2026-03-01T01:00:00Z", "2026-03-01T01:30:00Z", true));
    check_fires(&w, "2026-03-01T01:30:00Z", "deferred", "2026-03-01T01:30:00Z", 0);
    check_fires(&w, "2026-03-01T01:30:00Z", "time", "2026-03-01T01:30:00Z", 0);
    close_world(&w);
}

/* Held back, and held back again: the bound stays that of the occurrence. */
static void test_a_deadline_is_kept(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\", late_by = \"4h\" } },", "{}", "2026-03-01T00:00:00Z");
    check_due(&w, "2026-03-01T02:00:00Z", "time", "2026-03-01T02:00:00Z", 0);
    assert_true(defer(&w, "2026-03-01T02:00:00Z", "2026-03-01T04:00:00Z", true));
    check_due(&w, "2026-03-01T04:00:00Z", "deferred", "2026-03-01T04:00:00Z", 0);
    assert_true(defer(&w, "2026-03-01T04:00:00Z", "2026-03-01T06:00:00Z", true));
    check_due(&w, "2026-03-01T06:00:00Z", "deferred", "2026-03-01T06:00:00Z", 0);
    assert_int_equal(w.schedule.dropped, 0);
    assert_false(defer(&w, "2026-03-01T06:00:00Z", "2026-03-01T06:00:01Z", true));
    assert_int_equal(w.schedule.dropped, 1);
    assert_int_equal(w.schedule.deferred_until_ms, 0);
    check_due(&w, "2026-03-02T02:00:00Z", "time", "2026-03-02T02:00:00Z", 0);
    assert_true(defer(&w, "2026-03-02T02:00:00Z", "2026-03-09T00:00:00Z", false)); /* the policy's own has none */
    check_due(&w, "2026-03-09T00:00:00Z", "deferred", "2026-03-09T00:00:00Z", 0);
    assert_int_equal(w.schedule.dropped, 7); /* 1 and those of six days, which are too late by now */
    assert_true(defer(&w, "2026-03-09T00:00:00Z", "2026-03-19T00:00:00Z", true));
    close_world(&w);
}

/* A wait for a run that is under way ends with the lateness too. */
static void test_queue_one_does_not_wait_for_ever(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\", late_by = \"1h\" } }, guard = { overlap = \"queue_one\" },",
               "{}", "2026-03-01T00:00:00Z");
    check_due(&w, "2026-03-01T02:00:00Z", "time", "2026-03-01T02:00:00Z", 0);
    assert_true(defer(&w, "2026-03-01T02:00:00Z", NULL, true));
    check_due(&w, "2026-03-01T02:30:00Z", "deferred", "2026-03-01T02:00:00Z", 0);
    assert_true(defer(&w, "2026-03-01T02:30:00Z", NULL, true));
    check_due(&w, "2026-03-01T03:00:01Z", "deferred", "2026-03-01T02:30:00Z", 0);
    assert_false(defer(&w, "2026-03-01T03:00:01Z", NULL, true));
    check_quiet(&w, "2026-03-01T03:00:02Z");
    close_world(&w);
}

/* late_by counts from the nominal time: Monday 14:00 is the last, spread or not. */
static void test_late_by_counts_from_the_nominal_time(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"Sun 02:00\", spread = \"3h\", late_by = \"36h\" } },", "{}",
               "2026-02-24T00:00:00Z");
    check_due(&w, "2026-03-02T14:00:00Z", "time", "2026-03-01T02:00:00Z", 0);
    check_quiet(&w, "2026-03-02T14:00:01Z");
    assert_true(w.due.is_dropped);
    assert_int_equal(w.schedule.dropped, 1);
    close_world(&w);
}

/* A forward step of the clock is missed time. */
static void test_a_clock_that_steps_forward(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"*:00\" } },", "{}", "2026-03-01T00:30:00Z");
    check_fires(&w, "2026-03-01T01:00:00Z", "time", "2026-03-01T01:00:00Z", 0);
    check_fires(&w, "2026-03-05T01:00:05Z", "catch_up", "2026-03-05T01:00:00Z", 95);
    check_quiet(&w, "2026-03-05T01:00:06Z");
    close_world(&w);
}

static void test_a_revision_is_noted(void **state)
{
    struct ebb_schedule kept;
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\" } },", "{}", NULL);
    check_quiet(&w, "2026-03-01T09:00:00Z");
    check_quiet(&w, "2026-03-01T10:00:00Z");
    assert_int_equal(w.schedule.revised_ms, 0);
    kept = w.schedule;
    close_world(&w);
    open_world(&w, "doc = \"mended\", triggers = { time.calendar { \"02:00\" } },", "{}", NULL);
    w.schedule = kept;
    check_quiet(&w, "2026-03-01T11:00:00Z");
    check_quiet(&w, "2026-03-01T12:00:00Z");
    assert_int_equal(w.schedule.revised_ms, at("2026-03-01T11:00:00Z"));
    close_world(&w);
}

static void test_a_renamed_policy_takes_its_state_along(void **state)
{
    char dir[] = "/tmp/ebb-schedule-XXXXXX", command[64];
    struct ebb_policy *policy = help_policy("was = \"older\",", "return skip(all {})");
    struct ebb_schedule a = {.active_since_ms = 5, .fired_ms = {7}, .keys = {UINT64_MAX}}, b;
    struct ebb_store *store = NULL;
    struct ebb_err err;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(ebb_store_open(dir, &store, &err), 0);
    assert_int_equal(ebb_schedule_load_of(store, policy, UUID, &b, &err), 0);
    assert_int_equal(b.active_since_ms, 0);
    assert_int_equal(ebb_schedule_save(store, "older", UUID, &a, &err), 0);
    assert_int_equal(ebb_schedule_load_of(store, policy, UUID, &b, &err), 0);
    assert_memory_equal(&a, &b, sizeof a);
    a.active_since_ms = 6; /* its own comes first */
    assert_int_equal(ebb_schedule_save(store, "test", UUID, &a, &err), 0);
    assert_int_equal(ebb_schedule_load_of(store, policy, UUID, &b, &err), 0);
    assert_int_equal(b.active_since_ms, 6);
    ebb_store_close(store);
    ebb_policy_free(policy);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

/* ---- when to look again ---- */

static void check_wake(struct world *w, const char *now, const char *want)
{
    struct ebb_schedule_input in = input(w, now);
    struct ebb_buf b;
    int64_t wake;

    if (ebb_schedule_wake(&in, &w->schedule, &wake, &w->err))
        fail_msg("%s", w->err.message);
    ebb_buf_init(&b, 64);
    if (wake < INT64_MAX)
        ebb_time_iso(&b, wake);
    assert_string_equal(ebb_buf_cstr(&b), want);
    ebb_buf_fini(&b);
}

static void test_wake_for_time(void **state)
{
    struct world w;

    (void)state;
    open_world(&w, "triggers = { time.calendar { \"02:00\" }, time.every { \"7h\", anchor = \"epoch\" } },", "{}",
               "2026-03-01T00:00:00Z");
    check_wake(&w, "2026-03-01T00:00:00Z", "2026-03-01T02:00:00Z");
    check_wake(&w, "2026-03-01T01:59:59Z", "2026-03-01T02:00:00Z");
    check_wake(&w, "2026-03-01T02:00:00Z", "2026-03-01T05:00:00Z");
    w.schedule.deferred_until_ms = at("2026-03-01T02:30:00Z");
    check_wake(&w, "2026-03-01T02:00:00Z", "2026-03-01T02:30:00Z");
    w.schedule.deferred_until_ms = at("2026-03-01T01:30:00Z"); /* due already: nothing new */
    check_wake(&w, "2026-03-01T02:00:00Z", "2026-03-01T05:00:00Z");
    close_world(&w);
    /* the clock stepped back: not before what fired */
    open_world(&w, "triggers = { time.calendar { \"*:00\" } },", "{}", "2026-03-01T00:00:00Z");
    check_fires(&w, "2026-03-01T10:00:00Z", "catch_up", "2026-03-01T10:00:00Z", 9);
    check_wake(&w, "2026-03-01T08:00:00Z", "2026-03-01T11:00:00Z");
    close_world(&w);
    open_world(&w, "", "{}", "2026-03-01T00:00:00Z");
    check_wake(&w, "2026-03-01T08:00:00Z", "");
    close_world(&w);
}

static void test_wake_since_the_last_run(void **state)
{
    struct world w;

    (void)state;
    open_world(
        &w, "triggers = { time.every { \"6h\", anchor = \"last_end\" } },",
        "{\"runs\":[{\"id\":\"r-1\",\"started\":1772350200000,\"ended\":1772357400000,\"outcome\":\"success\"}]}",
        "2026-03-01T00:00:00Z"); /* ended at 09:30 */
    check_wake(&w, "2026-03-01T10:00:00Z", "2026-03-01T15:30:00Z");
    check_wake(&w, "2026-03-01T15:30:00Z", "2026-03-01T21:30:00Z");
    close_world(&w);
    open_world(&w, "triggers = { time.every { \"6h\", anchor = \"last_start\" } },", "{}", NULL);
    check_wake(&w, "2026-03-01T10:00:00Z", "2026-03-01T16:00:00Z"); /* it becomes active now */
    close_world(&w);
}

static void test_wake_for_events(void **state)
{
    struct world w;

    (void)state;
    /* 07:00, 07:20, and 12:00 that is still to come */
    open_world(&w, "triggers = { on.event { \"commit.failed\", debounce = \"30m\", max_hold = \"45m\" } },",
               "{\"events\":[" FAILED(1, 1772348400000, 1) "," FAILED(2, 1772349600000, 1) "," FAILED(3, 1772366400000,
                                                                                                      1) "]}",
               "2026-03-01T00:00:00Z");
    check_wake(&w, "2026-03-01T07:10:00Z", "2026-03-01T07:20:00Z");
    check_wake(&w, "2026-03-01T07:20:00Z", "2026-03-01T07:45:00Z"); /* max_hold comes before 07:50 */
    check_wake(&w, "2026-03-01T07:45:00Z", "2026-03-01T07:50:00Z");
    check_wake(&w, "2026-03-01T08:00:00Z", "2026-03-01T12:00:00Z");
    check_wake(&w, "2026-03-01T12:00:00Z", "2026-03-01T12:30:00Z");
    check_wake(&w, "2026-03-02T00:00:00Z", "");
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_pass_makes_it_active),
        cmocka_unit_test(test_cron),
        cmocka_unit_test(test_missed_slots_are_counted),
        cmocka_unit_test(test_a_long_sleep_is_arithmetic),
        cmocka_unit_test(test_every_from_the_start_of_the_day),
        cmocka_unit_test(test_every_since_the_last_run),
        cmocka_unit_test(test_catch_up_none),
        cmocka_unit_test(test_catch_up_all),
        cmocka_unit_test(test_late_by),
        cmocka_unit_test(test_a_clock_that_steps_back),
        cmocka_unit_test(test_spread_is_fixed_for_a_table),
        cmocka_unit_test(test_a_very_long_uuid),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_count_leaves_out_own_commits),
        cmocka_unit_test(test_count_since_the_last_success),
        cmocka_unit_test(test_event_debounce),
        cmocka_unit_test(test_event_max_hold),
        cmocka_unit_test(test_event_where),
        cmocka_unit_test(test_a_where_that_goes_wrong_is_an_error),
        cmocka_unit_test(test_a_defer_is_due_again),
        cmocka_unit_test(test_a_defer_without_an_instant_waits_for_the_next_pass),
        cmocka_unit_test(test_what_is_held_back_too_long_is_dropped),
        cmocka_unit_test(test_the_first_trigger_counts_and_the_other_stays_due),
        cmocka_unit_test(test_hostile_facts),
        cmocka_unit_test(test_state_is_kept),
        cmocka_unit_test(test_long_uuids_are_told_apart),
        cmocka_unit_test(test_an_edit_keeps_the_state_of_triggers),
        cmocka_unit_test(test_a_defer_stands_for_what_is_due_with_it),
        cmocka_unit_test(test_a_deadline_is_kept),
        cmocka_unit_test(test_queue_one_does_not_wait_for_ever),
        cmocka_unit_test(test_late_by_counts_from_the_nominal_time),
        cmocka_unit_test(test_a_clock_that_steps_forward),
        cmocka_unit_test(test_a_revision_is_noted),
        cmocka_unit_test(test_a_renamed_policy_takes_its_state_along),
        cmocka_unit_test(test_wake_for_time),
        cmocka_unit_test(test_wake_since_the_last_run),
        cmocka_unit_test(test_wake_for_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
