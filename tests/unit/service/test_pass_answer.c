/* SPDX-License-Identifier: Apache-2.0
 *
 * A policy that skipped is not asked again while all that it looked at stays the same; it is as soon as anything of it
 * changes. And what only manifests tell is read when a policy looks at it, within one decision.
 */
#include "service_help.h"

#include "../table/files_help.h"

#define HOUR ((int64_t)3600000)
#define CONFIG(binding) CONFIG_HEAD "bind = { { policy = 'sweep', tables = { 'lake.db.*' }, " binding " } } }"
#define POLICY(decide)                                                                                                 \
    "return policy { api = 1, name = 'sweep', params = { n = { type = 'integer', default = 1 } },\n"                   \
    "triggers = { time.every { '1h', anchor = 'epoch' } },\n"                                                          \
    "decide = function(t, ctx) " decide " end }\n"
#define SKIP POLICY("return skip(all { check('x', t.properties.x, '==', 'go') })")

static void start(struct world *w, const char *policy)
{
    open_world(w);
    world_put(w, "ebb.lua", CONFIG("mode = 'observe'"));
    world_put(w, "policies/sweep.lua", policy);
    add_table(w, "a", 0);
    edit_metadata(&w->tables[0], "\"properties\":{}", "\"properties\":{\"x\":\"wait\",\"y\":\"1\"}");
    assert_ok(w, pass(w, -DAY_MS)); /* it becomes active */
}

static void expect(struct world *w, int64_t at_ms, const char *status)
{
    assert_ok(w, pass(w, at_ms));
    if (strcmp(told_of(w, "lake.db.a")->status, status) != 0)
        fail_msg("at %lld: %s, not %s", (long long)at_ms, told_of(w, "lake.db.a")->status, status);
}

static int take_json(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    (void)err;
    snprintf(data, 8192, "%s", record->json);
    return 0;
}

static const char *record_of(struct world *w, const char *id, char out[8192])
{
    assert_ok(w, ebb_store_get(ebb_workspace_site(w->ws)->store, EBB_RECORD_DECISION, id, take_json, out, &w->err));
    return out;
}

static void test_an_answer_that_holds_is_not_asked_for_again(void **state)
{
    struct world w;
    char first[40];

    (void)state;
    start(&w, SKIP);
    expect(&w, 0, "skipped");
    snprintf(first, sizeof first, "%s", told_of(&w, "lake.db.a")->decision);
    expect(&w, HOUR, "unchanged");
    assert_string_equal(told_of(&w, "lake.db.a")->decision, first);
    assert_string_equal(told_of(&w, "lake.db.a")->due, "time");
    assert_string_equal(told_of(&w, "lake.db.a")->verdict, "");
    expect(&w, HOUR + 1, "not due"); /* the occurrence was taken */
    expect(&w, 2 * HOUR, "unchanged");
    assert_int_equal(count_records(&w, EBB_RECORD_DECISION, NULL), 1);
    close_world(&w);
}

static void test_what_was_not_read_does_not_count(void **state)
{
    struct world w;

    (void)state;
    start(&w, SKIP);
    expect(&w, 0, "skipped");
    edit_metadata(&w.tables[0], "\"y\":\"1\"", "\"y\":\"2\"");
    expect(&w, HOUR, "unchanged");
    close_world(&w);
}

static void test_another_value_is_asked_about(void **state)
{
    struct world w;

    (void)state;
    start(&w, SKIP);
    expect(&w, 0, "skipped");
    edit_metadata(&w.tables[0], "\"x\":\"wait\"", "\"x\":\"still\"");
    expect(&w, HOUR, "skipped");
    expect(&w, 2 * HOUR, "unchanged");
    edit_metadata(&w.tables[0], "\"x\":\"still\",", "");
    expect(&w, 3 * HOUR, "skipped");
    assert_int_equal(count_records(&w, EBB_RECORD_DECISION, "skip"), 3);
    close_world(&w);
}

static void test_another_policy_parameter_or_mode_is_asked(void **state)
{
    struct world w;

    (void)state;
    start(&w, SKIP);
    expect(&w, 0, "skipped");
    world_put(&w, "policies/sweep.lua", SKIP "-- edited\n");
    expect(&w, HOUR, "skipped");
    world_put(&w, "ebb.lua", CONFIG("mode = 'observe', params = { n = 2 }"));
    expect(&w, 2 * HOUR, "skipped");
    world_put(&w, "ebb.lua", CONFIG("mode = 'approve', params = { n = 2 }"));
    expect(&w, 3 * HOUR, "skipped");
    expect(&w, 4 * HOUR, "unchanged");
    close_world(&w);
}

static void test_an_answer_holds_until_the_clock_turns_it(void **state)
{
    struct world w;
    char policy[1024];
    int64_t turn;

    (void)state;
    open_world(&w);
    turn = world_now(&w) + 150 * 60000;
    close_world(&w);
    snprintf(policy, sizeof policy, POLICY("return skip(all { check('later', ctx.now, '>=', %lld) })"),
             (long long)turn);
    start(&w, policy);
    expect(&w, 0, "skipped");
    expect(&w, HOUR, "unchanged");
    expect(&w, 2 * HOUR, "unchanged");
    expect(&w, 3 * HOUR, "skipped"); /* the check is true now */
    close_world(&w);
}

static void test_a_look_at_the_clock_outside_of_checks_is_asked_again(void **state)
{
    struct world w;

    (void)state;
    start(&w, POLICY("local odd = ctx.now % 2 == 1 return skip(all { check('odd', odd, '==', true) })"));
    expect(&w, 0, "skipped");
    expect(&w, HOUR, "skipped");
    close_world(&w);
}

static void test_before_its_time_an_answer_does_not_hold(void **state)
{
    struct world w;

    (void)state;
    start(&w, SKIP);
    expect(&w, 5 * HOUR, "skipped");
    assert_ok(&w, pass(&w, 2 * HOUR)); /* the clock stepped back: nothing fires twice */
    assert_string_equal(told_of(&w, "lake.db.a")->status, "not due");
    expect(&w, 6 * HOUR, "unchanged");
    close_world(&w);
}

static void test_runs_and_defers_are_always_asked(void **state)
{
    struct world w;
    char policy[1024];

    (void)state;
    start(&w, POLICY("return run(all {}, action.remove_orphan_files { older_than = 1500000000000 })"));
    expect(&w, 0, "observed");
    expect(&w, HOUR, "observed");
    snprintf(policy, sizeof policy, POLICY("return defer(all {}, %lld, 'later')"),
             (long long)(world_now(&w) + 20 * HOUR)); /* a fixed instant: nothing that is read changes */
    world_put(&w, "policies/sweep.lua", policy);
    expect(&w, 2 * HOUR, "deferred");
    expect(&w, 3 * HOUR, "deferred");
    close_world(&w);
}

static void test_a_dry_pass_keeps_no_answer(void **state)
{
    struct world w;

    (void)state;
    start(&w, SKIP);
    w.dry_run = true;
    expect(&w, 0, "skipped");
    expect(&w, HOUR, "skipped");
    w.dry_run = false;
    expect(&w, 2 * HOUR, "skipped");
    w.dry_run = true;
    expect(&w, 3 * HOUR, "unchanged");
    close_world(&w);
}

static void test_a_damaged_answer_is_asked_again(void **state)
{
    static const char *const KEPT[] = {"{", "[]", "{\"digest\":5}", "{\"digest\":\"sha256:\",\"at\":1}",
                                       "{\"digest\":\"\",\"at\":1,\"holds_until\":9223372036854775807,\"reads\":[]}"};
    struct world w;

    (void)state;
    start(&w, SKIP);
    expect(&w, 0, "skipped");
    for (size_t i = 0; i < sizeof KEPT / sizeof KEPT[0]; i++) {
        assert_ok(&w, ebb_store_put_value(ebb_workspace_site(w.ws)->store, "answer",
                                          "sweep 00000001-2222-4333-8444-555555555555", KEPT[i], &w.err));
        expect(&w, ((int64_t)i + 1) * HOUR, "skipped");
    }
    close_world(&w);
}

/* ---- manifests ---- */

static void put_table_with_files(struct world *w, struct manifests *m, const char *snapshots)
{
    static const struct entry ENTRIES[] = {{1, 3, 0, "eu", 1, 100, 0, "data/live.parquet"},
                                           {1, 3, 0, "us", 1, 100, 0, "data/live.parquet"}};

    manifests_init(m, &w->tables[0]);
    m->uuid = "00000001-2222-4333-8444-555555555555";
    add_manifest(m, 3, ENTRIES, 2);
    commit_list(m, "string", snapshots, "");
}

static void test_manifests_are_read_when_a_policy_looks(void **state)
{
    struct manifests m;
    struct world w;
    char json[8192], path[512];

    (void)state;
    start(&w, POLICY("return skip(all { check('parts', #(t.partitions {}), '==', 99), "
                     "check('small', t.stats.small_files, '==', 98) })"));
    put_table_with_files(&w, &m, "");
    expect(&w, 0, "skipped");
    assert_int_equal(count_records(&w, EBB_RECORD_DECISION, "skip"), 1); /* one decision, not one for each look */
    assert_int_equal(count_records(&w, EBB_RECORD_DECISION, NULL), 1);
    assert_non_null(strstr(record_of(&w, told_of(&w, "lake.db.a")->decision, json), "\"a\":2,"));
    path_of(&w.tables[0], "metadata/m1.avro", path);
    assert_int_equal(unlink(path), 0);
    expect(&w, HOUR, "unchanged"); /* from what is kept: the table is the same, and is not read twice */
    manifests_fini(&m);
    close_world(&w);
}

static void test_other_files_are_asked_about(void **state)
{
    static const struct entry MORE[] = {{1, 3, 0, "ap", 1, 100, 0, "data/live.parquet"}};
    struct manifests m;
    struct world w;

    (void)state;
    start(&w, POLICY("return skip(all { check('parts', #(t.partitions {}), '==', 99) })"));
    put_table_with_files(&w, &m, "");
    expect(&w, 0, "skipped");
    expect(&w, HOUR, "unchanged");
    add_manifest(&m, 3, MORE, 1);
    commit_list(&m, "string", "", "");
    expect(&w, 2 * HOUR, "skipped");
    manifests_fini(&m);
    close_world(&w);
}

static void test_manifests_that_can_not_be_read_leave_it_unknown(void **state)
{
    struct manifests m;
    struct world w;
    char path[512], json[8192];

    (void)state;
    start(&w, POLICY("return skip(all { check('small', t.stats.small_files, '<', 5) })"));
    put_table_with_files(&w, &m, "");
    path_of(&w.tables[0], "metadata/m1.avro", path);
    assert_int_equal(unlink(path), 0);
    expect(&w, 0, "skipped");
    assert_non_null(strstr(record_of(&w, told_of(&w, "lake.db.a")->decision, json), "\"r\":\"unknown\""));
    manifests_fini(&m);
    close_world(&w);
}

/* A broken policy file stops its own policy and no other, and nothing runs in its place. */
static void test_a_broken_policy_runs_nothing(void **state)
{
    struct world w;

    (void)state;
    start(&w, POLICY_RUN);
    expect(&w, 0, "observed");
    world_put(&w, "policies/sweep.lua", "return policy { api = 1, name = 'sweep', decide = 7 }");
    assert_int_equal(pass(&w, HOUR), -(int)EBB_EPOLICY_SCHEMA);
    assert_int_equal(w.told_count, 0);
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, NULL), 1);
    world_put(&w, "policies/sweep.lua", POLICY_RUN); /* taken as soon as it is right again, without a restart */
    expect(&w, 2 * HOUR, "observed");
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer_that_holds_is_not_asked_for_again),
        cmocka_unit_test(test_what_was_not_read_does_not_count),
        cmocka_unit_test(test_another_value_is_asked_about),
        cmocka_unit_test(test_another_policy_parameter_or_mode_is_asked),
        cmocka_unit_test(test_an_answer_holds_until_the_clock_turns_it),
        cmocka_unit_test(test_a_look_at_the_clock_outside_of_checks_is_asked_again),
        cmocka_unit_test(test_before_its_time_an_answer_does_not_hold),
        cmocka_unit_test(test_runs_and_defers_are_always_asked),
        cmocka_unit_test(test_a_dry_pass_keeps_no_answer),
        cmocka_unit_test(test_a_damaged_answer_is_asked_again),
        cmocka_unit_test(test_manifests_are_read_when_a_policy_looks),
        cmocka_unit_test(test_other_files_are_asked_about),
        cmocka_unit_test(test_manifests_that_can_not_be_read_leave_it_unknown),
        cmocka_unit_test(test_a_broken_policy_runs_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
