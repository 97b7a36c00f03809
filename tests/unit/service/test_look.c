/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks: what is due is decided once, a decision to run becomes a job in the transaction that takes its occurrence, and
 * nothing is written when nothing is new.
 */
#include <sqlite3.h>

#include "look_help.h"

#define BIND(mode) CONFIG_HEAD "bind = { { policy = 'sweep', tables = { 'lake.db.*' }, mode = '" mode "' } } }"
#define HOURLY(name, guard, body)                                                                                      \
    "return policy { api = 1, name = '" name "', triggers = { time.every { '1h', anchor = 'epoch' } }, " guard         \
    " decide = function(t, ctx) " body " end }\n"
#define RUN "return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 })"
#define HOUR ((int64_t)3600000)

static void start(struct world *w, struct looked *l, const char *config, const char *policy)
{
    open_world(w);
    world_put(w, "ebb.lua", config);
    world_put(w, "policies/sweep.lua", policy);
    add_table(w, "a", 2);
    w->shift_ms = -DAY_MS;
    start_looker(w, l);
    assert_ok(w, look(w, l, -DAY_MS)); /* it becomes active */
    assert_string_equal(l->status, "not due");
}

static void stop(struct world *w, struct looked *l)
{
    end_looker(l);
    close_world(w);
}

static int64_t next_hour(struct world *w)
{
    return (world_now(w) / HOUR + 1) * HOUR;
}

static void test_a_decision_to_run_is_a_job(void **state)
{
    struct world w;
    struct looked l;
    struct job_seen job;
    char occurrence[200];

    (void)state;
    start(&w, &l, BIND("enforce"), HOURLY("sweep", "", RUN));
    assert_ok(&w, look(&w, &l, 0));
    job = jobs_of(&w);
    assert_int_equal(job.count, 1);
    assert_int_equal(job.state, EBB_JOB_QUEUED);
    assert_string_equal(job.kind, "remove-orphan-files");
    assert_string_equal(l.status, "queued");
    assert_string_equal(l.verdict, "run");
    assert_string_equal(l.job, job.id);
    assert_int_equal(l.looks[0].jobs, 1);
    assert_int_equal(l.looks[0].decisions, 1);
    assert_string_equal(l.looks[0].uuid, "00000001-2222-4333-8444-555555555555");
    assert_string_equal(l.looks[0].location, w.tables[0].uri);
    assert_non_null(strstr(l.looks[0].metadata_uri, "v1.metadata.json"));
    snprintf(occurrence, sizeof occurrence, "sweep 00000001-2222-4333-8444-555555555555 0 %lld",
             (long long)(world_now(&w) / HOUR * HOUR));
    assert_string_equal(job.occurrence, occurrence);
    assert_memory_equal(job.parent, "d-", 2);
    assert_non_null(strstr(job.json, "\"mode\":\"enforce\""));
    assert_non_null(strstr(job.json, "\"plan_only\":false"));
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, NULL), 0); /* nothing is carried out */
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_ok(&w, look(&w, &l, 0)); /* taken */
    assert_string_equal(l.status, "not due");
    assert_int_equal(jobs_of(&w).count, 1);
    stop(&w, &l);
}

static void test_the_wake_time_is_the_next_fire(void **state)
{
    struct world w;
    struct looked l;

    (void)state;
    start(&w, &l, BIND("enforce"), HOURLY("sweep", "", RUN));
    assert_ok(&w, look(&w, &l, 0));
    assert_true(l.looks[0].wake_ms == next_hour(&w));
    assert_ok(&w, look(&w, &l, 1000));
    assert_true(l.looks[0].wake_ms == next_hour(&w));
    stop(&w, &l);
}

/* Until its job is over a policy counts as running on the table. */
static void test_a_job_that_waits_counts_as_a_run(void **state)
{
    struct world w;
    struct looked l;

    (void)state;
    start(&w, &l, BIND("enforce"), HOURLY("sweep", "", RUN));
    assert_ok(&w, look(&w, &l, 0));
    assert_ok(&w, look(&w, &l, HOUR));
    assert_string_equal(l.status, "skipped"); /* overlap = "skip" */
    assert_int_equal(jobs_of(&w).count, 1);
    sql_on(&w, "UPDATE job SET state = 2"); /* it succeeded */
    assert_ok(&w, look(&w, &l, 2 * HOUR));
    assert_string_equal(l.status, "queued");
    assert_int_equal(jobs_of(&w).count, 2);
    stop(&w, &l);
}

/* catch_up = "all": the next occurrence waits for the end of the run before it, and is not lost to overlap. */
static void test_what_is_caught_up_waits_its_turn(void **state)
{
    static const char POLICY[] = "return policy { api = 1, name = 'sweep', triggers = { time.every { '1h', anchor = "
                                 "'epoch', catch_up = 'all', max = 3 } },\n"
                                 "decide = function(t, ctx) " RUN " end }\n";
    struct world w;
    struct looked l;

    (void)state;
    start(&w, &l, BIND("enforce"), POLICY);
    for (int i = 1; i <= 3; i++) {
        assert_ok(&w, look(&w, &l, i * 10));
        assert_string_equal(l.status, "queued");
        assert_int_equal(jobs_of(&w).count, i);
        assert_ok(&w, look(&w, &l, i * 10 + 5));
        assert_string_equal(l.status, i < 3 ? "waiting" : "not due");
        assert_int_equal(jobs_of(&w).count, i);
        sql_on(&w, "UPDATE job SET state = 2");
    }
    assert_ok(&w, look(&w, &l, 100));
    assert_string_equal(l.status, "not due");
    stop(&w, &l);
}

/* Within one look, too: what was queued a moment ago is in no store yet. */
static void test_slots_count_what_the_same_look_queued(void **state)
{
    struct world w;
    struct looked l;

    (void)state;
    open_world(&w);
    world_put(&w, "ebb.lua", BIND("enforce"));
    world_put(&w, "policies/sweep.lua", HOURLY("sweep", "guard = { fleet = { slot = 'one', max_running = 1 } },", RUN));
    add_table(&w, "a", 1);
    add_table(&w, "b", 1);
    w.shift_ms = -DAY_MS;
    start_looker(&w, &l);
    assert_ok(&w, look(&w, &l, -DAY_MS));
    assert_ok(&w, look(&w, &l, 0));
    assert_int_equal(jobs_of(&w).count, 1);
    assert_int_equal(l.looks[0].jobs, 1);
    assert_int_equal(l.looks[1].jobs, 0);
    assert_string_equal(l.verdict, "defer");
    stop(&w, &l);
}

/* An occurrence is in the store with its job, or neither is. */
static void test_a_store_that_fails_takes_nothing(void **state)
{
    struct world w;
    struct looked l;

    (void)state;
    start(&w, &l, BIND("enforce"), HOURLY("sweep", "", RUN));
    sql_on(&w, "CREATE TRIGGER no BEFORE INSERT ON job BEGIN SELECT RAISE(ABORT, 'no'); END");
    assert_int_equal(look(&w, &l, 0), -(int)EBB_ESTORE);
    assert_int_equal(jobs_of(&w).count, 0);
    assert_int_equal(count_records(&w, EBB_RECORD_DECISION, NULL), 0);
    sql_on(&w, "DROP TRIGGER no; CREATE TRIGGER no BEFORE INSERT ON record BEGIN SELECT RAISE(ABORT, 'no'); END");
    assert_int_equal(look(&w, &l, 1), -(int)EBB_ESTORE);
    assert_int_equal(jobs_of(&w).count, 0);
    sql_on(&w, "DROP TRIGGER no");
    assert_ok(&w, look(&w, &l, 2));
    assert_string_equal(l.status, "queued");
    assert_int_equal(jobs_of(&w).count, 1);
    assert_int_equal(count_records(&w, EBB_RECORD_DECISION, NULL), 1);
    stop(&w, &l);
}

static void test_interrupted_it_takes_nothing(void **state)
{
    struct world w;
    struct looked l;

    (void)state;
    start(&w, &l, BIND("enforce"), HOURLY("sweep", "", RUN));
    atomic_store(&w.cancelled, true);
    assert_int_equal(look(&w, &l, 0), -(int)EBB_ECANCELLED);
    atomic_store(&w.cancelled, false);
    assert_int_equal(jobs_of(&w).count, 0);
    assert_ok(&w, look(&w, &l, 0));
    assert_int_equal(jobs_of(&w).count, 1);
    stop(&w, &l);
}

/* Another process that looks at the same moment: one job. */
static void test_one_job_for_an_occurrence(void **state)
{
    struct world w;
    struct looked l;

    (void)state;
    start(&w, &l, BIND("enforce"), HOURLY("sweep", "", RUN));
    assert_ok(&w, look(&w, &l, 0));
    sql_on(&w, "DELETE FROM value WHERE scope = 'schedule'; UPDATE job SET state = 2;"
               "INSERT INTO value SELECT 'schedule', 'sweep/' || uuid, '{\"active_since\":1}' FROM job");
    assert_ok(&w, look(&w, &l, 0));
    assert_int_equal(jobs_of(&w).count, 1);
    stop(&w, &l);
}

static void test_observe_and_approve(void **state)
{
    struct world w;
    struct looked l;

    (void)state;
    start(&w, &l, BIND("observe"), HOURLY("sweep", "", RUN));
    assert_ok(&w, look(&w, &l, 0));
    assert_string_equal(l.status, "observed");
    assert_int_equal(jobs_of(&w).count, 0);
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, "observed"), 1);
    stop(&w, &l);
    start(&w, &l, BIND("approve"), HOURLY("sweep", "", RUN));
    assert_ok(&w, look(&w, &l, 0));
    assert_non_null(strstr(jobs_of(&w).json, "\"plan_only\":true"));
    stop(&w, &l);
}

static void test_refused(void **state)
{
    struct world w;
    struct looked l;

    (void)state;
    start(&w, &l, BIND("enforce"),
          HOURLY("sweep", "", "return run(all {}, action.remove_orphan_files { older_than = ctx.now })"));
    assert_ok(&w, look(&w, &l, 0));
    assert_string_equal(l.status, "refused");
    assert_string_equal(l.code, "policy.refused");
    assert_int_equal(l.looks[0].problem.error, EBB_EREFUSED);
    assert_int_equal(jobs_of(&w).count, 0);
    stop(&w, &l);
}

/* ---- pauses ---- */

static void check_pause(struct ebb_look_options o, bool holds)
{
    struct world w;
    struct looked l;

    start(&w, &l, BIND("enforce"), HOURLY("sweep", "", RUN));
    assert_ok(&w, look_with(&w, &l, 0, o));
    assert_string_equal(l.status, holds ? "paused" : "queued");
    assert_int_equal(jobs_of(&w).count, holds ? 0 : 1);
    assert_int_equal(count_records(&w, EBB_RECORD_DECISION, NULL), holds ? 0 : 1);
    assert_true(l.looks[0].wake_ms == next_hour(&w)); /* it does not ask again and again */
    if (holds) {                                      /* what was due is pending as one */
        assert_ok(&w, look_with(&w, &l, 3 * HOUR, o));
        assert_ok(&w, look(&w, &l, 3 * HOUR));
        assert_string_equal(l.status, "queued");
        assert_int_equal(jobs_of(&w).count, 1);
    }
    stop(&w, &l);
}

static void test_paused(void **state)
{
    static const char *const HELD[] = {"all", "policy sweep", "table lake.db.a"};
    static const char *const FREE[] = {"policy swee", "policy sweeps", "table lake.db", "table sweep", "", "al"};

    (void)state;
    check_pause((struct ebb_look_options){.is_paused = true}, true);
    for (size_t i = 0; i < 3; i++) {
        struct ebb_strs one = {(char **)(uintptr_t)&HELD[i], 1, 1};

        check_pause((struct ebb_look_options){.paused = &one}, true);
    }
    for (size_t i = 0; i < 6; i++) {
        struct ebb_strs one = {(char **)(uintptr_t)&FREE[i], 1, 1};

        check_pause((struct ebb_look_options){.paused = &one}, false);
    }
}

/* ---- what is not written ---- */

static int64_t writes(struct world *w)
{
    char path[512];
    struct stat st;

    world_path(w, "state/ebb.db-wal", path);
    return stat(path, &st) ? 0 : (int64_t)st.st_size;
}

static void test_nothing_new_writes_nothing(void **state)
{
    struct world w;
    struct looked l;
    int64_t before;

    (void)state;
    start(&w, &l, BIND("enforce"), HOURLY("sweep", "", "return skip(all { check('x', t.name, '==', 'b') })"));
    assert_ok(&w, look(&w, &l, 0));
    assert_string_equal(l.status, "skipped");
    before = writes(&w);
    for (int i = 1; i < 5; i++) {
        assert_ok(&w, look(&w, &l, i));
        assert_string_equal(l.status, "not due");
    }
    assert_int_equal(writes(&w), before);
    assert_ok(&w, look(&w, &l, HOUR));
    assert_string_equal(l.status, "unchanged");
    assert_int_equal(l.looks[0].unchanged, 1);
    assert_int_equal(l.looks[0].decisions, 0);
    assert_int_equal(count_records(&w, EBB_RECORD_DECISION, NULL), 1);
    stop(&w, &l);
}

/* ---- tables that are wrong ---- */

static void test_what_is_wrong_with_a_table_is_its_own(void **state)
{
    struct world w;
    struct looked l;

    (void)state;
    open_world(&w);
    world_put(&w, "ebb.lua", BIND("enforce"));
    world_put(&w, "policies/sweep.lua", HOURLY("sweep", "", RUN));
    add_table(&w, "a", 1);
    add_table(&w, "broken", 1);
    w.shift_ms = -DAY_MS;
    start_looker(&w, &l);
    assert_ok(&w, look(&w, &l, -DAY_MS));
    world_put(&w, "wh/db/broken/metadata/v1.metadata.json", "{\"format-version\":2,");
    assert_ok(&w, look(&w, &l, 0));
    assert_int_equal(l.looks[0].problem.error, EBB_OK);
    assert_int_equal(l.looks[0].jobs, 1);
    assert_int_equal(l.looks[1].problem.error, EBB_EMETADATA);
    assert_true(l.looks[1].wake_ms == INT64_MAX);
    assert_null(l.looks[1].location);
    assert_int_equal(l.told, 2);
    stop(&w, &l);
}

/* ---- threads ---- */

struct side {
    struct world *w;
    struct ebb_generation *generation;
    struct ebb_table_ref *refs;
    size_t count;
    struct ebb_look looks[LOOKED_MAX];
    int rc;
};

static void *look_beside(void *data)
{
    struct side *s = data;
    struct ebb_look_options o = {.overlaps = 0};
    struct ebb_workspace_options wo = {.shared = s->generation->config, .clock = {world_now, s->w}};
    struct ebb_workspace *ws = NULL;
    struct ebb_looker *looker = NULL;
    struct ebb_err err;
    char state[512];

    world_path(s->w, "state", state);
    wo.state_dir = state;
    s->rc = ebb_workspace_open(&wo, false, &ws, &err);
    if (!s->rc)
        s->rc = ebb_workspace_connect(ws, NULL, NULL, &err);
    if (!s->rc)
        s->rc = ebb_looker_new(ws, s->w->scripts, NULL, &looker, &err);
    for (int round = 0; !s->rc && round < 5; round++) {
        s->rc = ebb_look_tables(looker, s->generation, s->refs, s->count, &o, s->looks, &err);
        for (size_t i = 0; i < LOOKED_MAX; i++)
            ebb_look_fini(&s->looks[i]);
    }
    ebb_looker_free(looker);
    ebb_workspace_close(ws);
    return NULL;
}

/* Two lookers, each with its own tables, on one generation: each table gets its job. */
static void test_two_lookers(void **state)
{
    struct world w;
    struct looked l;
    struct side sides[2];
    pthread_t threads[2];

    (void)state;
    open_world(&w);
    world_put(&w, "ebb.lua", BIND("enforce"));
    world_put(&w, "policies/sweep.lua", HOURLY("sweep", "", RUN));
    add_table(&w, "a", 1);
    add_table(&w, "b", 1);
    add_table(&w, "c", 1);
    add_table(&w, "d", 1);
    w.shift_ms = -DAY_MS;
    start_looker(&w, &l);
    assert_ok(&w, look(&w, &l, -DAY_MS));
    w.shift_ms = 0;
    for (size_t i = 0; i < 2; i++) {
        sides[i] = (struct side){&w, l.generation, l.refs + 2 * i, 2, {{0}}, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, look_beside, &sides[i]), 0);
    }
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(sides[i].rc, 0);
    }
    assert_int_equal(jobs_of(&w).count, 4);
    stop(&w, &l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_decision_to_run_is_a_job),
        cmocka_unit_test(test_the_wake_time_is_the_next_fire),
        cmocka_unit_test(test_a_job_that_waits_counts_as_a_run),
        cmocka_unit_test(test_what_is_caught_up_waits_its_turn),
        cmocka_unit_test(test_slots_count_what_the_same_look_queued),
        cmocka_unit_test(test_a_store_that_fails_takes_nothing),
        cmocka_unit_test(test_interrupted_it_takes_nothing),
        cmocka_unit_test(test_one_job_for_an_occurrence),
        cmocka_unit_test(test_observe_and_approve),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_paused),
        cmocka_unit_test(test_nothing_new_writes_nothing),
        cmocka_unit_test(test_what_is_wrong_with_a_table_is_its_own),
        cmocka_unit_test(test_two_lookers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
