/* SPDX-License-Identifier: Apache-2.0
 *
 * Models of what actions do, and of what writers commit. All numbers are worked out by hand from effects.h.
 */
#include "session_help.h"

#include "service/effects.h"

#define GIB ((int64_t)1 << 30)
#define MIB ((int64_t)1 << 20)
#define DAY (24 * HOUR)

static int64_t in(const struct ebb_value *v, const char *key)
{
    return ebb_value_int_of(v, key, -1);
}

/* The effect of an action; *changes is the caller's. */
static struct ebb_effect effect(const char *facts_json, const char *action_json, struct ebb_value **changes)
{
    struct ebb_value *facts = help_json(facts_json), *action = help_json(action_json);
    struct ebb_effect out;
    struct ebb_err err;

    if (ebb_effect_of(facts, action, 1000, &out, changes, &err))
        fail_msg("%s", err.message);
    ebb_value_free(facts);
    ebb_value_free(action);
    return out;
}

static void test_orphans_go(void **state)
{
    struct ebb_value *changes;
    struct ebb_effect e =
        effect("{\"table\":{\"stats\":{\"data_files\":7,\"orphans\":{\"files\":212,\"bytes\":1000,\"age\":5}}}}",
               "{\"type\":\"remove_orphan_files\",\"older_than\":1}", &changes);
    const struct ebb_value *stats = ebb_value_get(changes, "table.stats"), *left = ebb_value_get(stats, "orphans");

    (void)state;
    assert_int_equal(e.files_deleted, 212);
    assert_int_equal(e.bytes_deleted, 1000);
    assert_false(e.commits);
    assert_int_equal(in(left, "files"), 0);
    assert_int_equal(in(left, "bytes"), 0);
    assert_int_equal(in(left, "at"), 1000);
    assert_null(ebb_value_get(left, "age"));
    assert_int_equal(in(stats, "data_files"), 7);
    ebb_value_free(changes);
    e = effect("{\"table\":{}}", "{\"type\":\"remove_orphan_files\"}", &changes); /* nothing is known */
    assert_int_equal(e.files_deleted, 0);
    ebb_value_free(changes);
}

#define SNAPSHOTS                                                                                                      \
    "{\"table\":{\"snapshots\":[{\"id\":1,\"at\":10},{\"id\":2,\"at\":20,\"summary\":{\"deleted-data-files\":\"4\"}}," \
    "{\"id\":3,\"at\":30},{\"id\":4,\"at\":40},{\"id\":5,\"at\":50}],\"current_snapshot\":{\"id\":5},"                 \
    "\"refs\":{\"v1\":{\"snapshot_id\":1,\"type\":\"tag\"}},\"stats\":{\"snapshots\":5}}}"

static void test_snapshots_expire(void **state)
{
    struct ebb_value *changes;
    struct ebb_effect e =
        effect(SNAPSHOTS, "{\"type\":\"expire_snapshots\",\"older_than\":45,\"retain_last\":2}", &changes);
    const struct ebb_value *kept = ebb_value_get(changes, "table.snapshots");

    (void)state;
    /* 2 and 3 go; 1 has a tag, 4 and 5 are the latest two */
    assert_int_equal(e.snapshots_expired, 2);
    assert_int_equal(e.files_deleted, 2 + 4);
    assert_int_equal(ebb_value_get_count(kept), 3);
    assert_int_equal(in(ebb_value_get_at(kept, 0), "id"), 1);
    assert_int_equal(in(ebb_value_get_at(kept, 1), "id"), 4);
    assert_int_equal(in(ebb_value_get(changes, "table.stats"), "snapshots"), 3);
    ebb_value_free(changes);
    e = effect(SNAPSHOTS, "{\"type\":\"expire_snapshots\",\"snapshot_ids\":[1,4,5]}", &changes);
    assert_int_equal(e.snapshots_expired, 1); /* the tagged and the current one stay whoever asks */
    ebb_value_free(changes);
    e = effect(SNAPSHOTS, "{\"type\":\"expire_snapshots\",\"older_than\":100}", &changes);
    assert_int_equal(e.snapshots_expired, 3);
    ebb_value_free(changes);
}

#define PARTITIONS                                                                                                     \
    "{\"table\":{\"stats\":{\"data_files\":300,\"small_files\":290,\"bytes\":3221225472,\"delete_files\":3,"           \
    "\"delete_records\":50},\"partitions\":["                                                                          \
    "{\"key\":\"a\",\"files\":200,\"bytes\":1073741825,\"records\":1000,\"delete_files\":2,\"delete_records\":40,"     \
    "\"avg_file\":5368709,\"max_file\":9000000,\"last_write\":5},"                                                     \
    "{\"key\":\"b\",\"files\":100,\"bytes\":2147483647,\"last_write\":6}]}}"

static void test_partitions_are_rewritten(void **state)
{
    struct ebb_value *changes;
    struct ebb_effect e =
        effect(PARTITIONS, "{\"type\":\"rewrite_data_files\",\"partitions\":[\"a\"],\"target_file_size\":536870912}",
               &changes);
    const struct ebb_value *list = ebb_value_get(changes, "table.partitions"), *a = ebb_value_get_at(list, 0);
    const struct ebb_value *stats = ebb_value_get(changes, "table.stats");

    (void)state;
    assert_int_equal(e.files_rewritten, 200);
    assert_int_equal(e.bytes_rewritten, GIB + 1);
    assert_int_equal(e.files_written, 3); /* one byte more than two files hold */
    assert_true(e.commits);
    assert_int_equal(in(a, "files"), 3);
    assert_int_equal(in(a, "records"), 960);
    assert_int_equal(in(a, "delete_files"), 0);
    assert_int_equal(in(a, "max_file"), 512 * MIB);
    assert_int_equal(in(a, "last_write"), 1000);
    assert_int_equal(in(ebb_value_get_at(list, 1), "files"), 100);
    assert_int_equal(in(stats, "data_files"), 300 - 197);
    assert_int_equal(in(stats, "small_files"), 290 - 197);
    assert_int_equal(in(stats, "delete_files"), 1);
    assert_int_equal(in(stats, "delete_records"), 10);
    assert_int_equal(in(stats, "bytes"), 3 * GIB);
    ebb_value_free(changes);
    e = effect("{\"table\":{\"properties\":{\"write.target-file-size-bytes\":\"1000\"},"
               "\"stats\":{\"data_files\":50,\"bytes\":5001}}}",
               "{\"type\":\"rewrite_data_files\"}", &changes); /* partitions unknown: the whole table */
    assert_int_equal(e.files_written, 6);
    assert_int_equal(in(ebb_value_get(changes, "table.stats"), "data_files"), 6);
    assert_null(ebb_value_get(ebb_value_get(changes, "table.stats"), "small_files"));
    ebb_value_free(changes);
}

static void test_manifests_are_merged(void **state)
{
    struct ebb_value *changes;
    struct ebb_effect e = effect("{\"table\":{\"stats\":{\"data_files\":20001,\"manifests\":88}}}",
                                 "{\"type\":\"rewrite_manifests\"}", &changes);

    (void)state;
    assert_true(e.commits);
    assert_int_equal(in(ebb_value_get(changes, "table.stats"), "manifests"), 2);
    ebb_value_free(changes);
}

/* ---- arrivals ---- */

static struct ebb_arrivals *arrivals(const char *facts_json, int64_t now_ms, bool always)
{
    struct ebb_value *facts = help_json(facts_json);
    struct ebb_arrivals *out;
    struct ebb_err err;

    if (ebb_arrivals_new(facts, now_ms, always, &out, &err))
        fail_msg("%s", err.message);
    ebb_value_free(facts);
    return out;
}

static void test_days_are_repeated(void **state)
{
    /* two commits on one day, at 01:00 and 03:30: a period of one day */
    static const char FACTS[] =
        "{\"table\":{\"snapshots\":["
        "{\"id\":1,\"at\":3600000,\"operation\":\"append\",\"summary\":{\"added-data-files\":\"4\",\"added-files-"
        "size\":"
        "\"800\"}},"
        "{\"id\":2,\"at\":12600000,\"operation\":\"append\",\"summary\":{\"added-data-files\":\"8\"}},"
        "{\"id\":3,\"at\":12700000,\"operation\":\"replace\"},"
        "{\"id\":4,\"at\":12800000,\"operation\":\"append\",\"summary\":{\"ebb.run-id\":\"r-1\"}}]}}";
    struct ebb_arrivals *a = arrivals(FACTS, 5 * HOUR, false);
    struct ebb_arrival next;
    int64_t period;

    (void)state;
    assert_int_equal(ebb_arrivals_count(a, &period), 2); /* maintenance is no writer */
    assert_int_equal(period, DAY);
    assert_true(ebb_arrivals_next(a, 5 * HOUR, &next));
    assert_int_equal(next.at_ms, DAY + HOUR);
    assert_int_equal(next.files, 4);
    assert_int_equal(next.bytes, 800);
    assert_true(ebb_arrivals_next(a, next.at_ms, &next));
    assert_int_equal(next.at_ms, DAY + 3 * HOUR + 30 * MINUTE);
    assert_int_equal(next.files, 8);
    assert_int_equal(next.bytes, 800); /* not told: the mean of the others */
    assert_true(ebb_arrivals_next(a, next.at_ms, &next));
    assert_int_equal(next.at_ms, 2 * DAY + HOUR);
    assert_true(ebb_arrivals_next(a, 100 * DAY, &next)); /* after it, never at it */
    assert_int_equal(next.at_ms, 100 * DAY + HOUR);
    ebb_arrivals_free(a);
    a = arrivals(FACTS, 3 * DAY, false); /* asleep for longer than what would be repeated */
    assert_false(ebb_arrivals_next(a, 3 * DAY, &next));
    ebb_arrivals_free(a);
    a = arrivals(FACTS, 3 * DAY, true);
    assert_true(ebb_arrivals_next(a, 3 * DAY, &next));
    assert_int_equal(next.at_ms, 3 * DAY + HOUR);
    ebb_arrivals_free(a);
    a = arrivals(FACTS, 2 * HOUR, true); /* only one commit is of the past */
    assert_false(ebb_arrivals_next(a, 2 * HOUR, &next));
    ebb_arrivals_free(a);
}

static void test_weeks_are_repeated(void **state)
{
    char facts[8192] = "{\"table\":{\"snapshots\":[";
    struct ebb_arrivals *a;
    struct ebb_arrival next;
    int64_t period;

    (void)state;
    for (int i = 0; i < 40; i++) /* every day at 06:00 for 40 days */
        snprintf(facts + strlen(facts), 100, "%s{\"id\":%d,\"at\":%lld}", i ? "," : "", i + 1,
                 (long long)(i * DAY + 6 * HOUR));
    snprintf(facts + strlen(facts), 10, "]}}");
    a = arrivals(facts, 40 * DAY, false);
    assert_int_equal(ebb_arrivals_count(a, &period), 28);
    assert_int_equal(period, 28 * DAY);
    for (int i = 0; i < 60; i++) {
        assert_true(ebb_arrivals_next(a, (40 + i) * DAY, &next));
        assert_int_equal(next.at_ms, (40 + i) * DAY + 6 * HOUR);
        assert_int_equal(next.files, 1);
    }
    ebb_arrivals_free(a);
}

/* ---- in a session ---- */

static void test_a_run_changes_the_table(void **state)
{
    struct ebb_session_options options = {
        .now_ms = instant("2026-03-10T00:00:00Z"), .ends_at_once = true, .has_effects = true};
    struct ebb_session_binding binding = {.mode = EBB_MODE_ENFORCE};
    struct ebb_policy *policy = help_policy("", "return run(all {}, action.rewrite_data_files {})");
    struct ebb_value *facts = help_json(PARTITIONS);
    struct ebb_session_totals totals;
    struct ebb_session *s;
    const struct ebb_value *t;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_session_new(&options, &s, &err), 0);
    assert_int_equal(ebb_session_add_table(s, facts, NULL, &err), 0);
    assert_int_equal(ebb_session_bind(s, policy, &binding, &err), 0);
    assert_int_equal(ebb_session_manual(s, 0, "test", &err), 0);
    t = ebb_value_get(ebb_session_facts(s, 0, NULL, &err), "table");
    assert_int_equal(in(ebb_value_get(t, "stats"), "data_files"), 3 + 4);
    assert_string_equal(ebb_value_text_of(ebb_value_get(t, "current_snapshot"), "operation"), "replace");
    assert_non_null(ebb_value_get(ebb_value_get(ebb_value_get(t, "current_snapshot"), "summary"), "ebb.run-id"));
    assert_int_equal(ebb_session_get_totals(s, "test", &totals, &err), 0);
    assert_int_equal(totals.runs, 1);
    assert_int_equal(totals.effect.bytes_rewritten, 3 * GIB);
    ebb_value_free(facts);
    ebb_session_free(s);
    ebb_policy_free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orphans_go),
        cmocka_unit_test(test_snapshots_expire),
        cmocka_unit_test(test_partitions_are_rewritten),
        cmocka_unit_test(test_manifests_are_merged),
        cmocka_unit_test(test_days_are_repeated),
        cmocka_unit_test(test_weeks_are_repeated),
        cmocka_unit_test(test_a_run_changes_the_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
