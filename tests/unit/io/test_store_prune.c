/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/store_events.h"
#include "io/store_jobs.h"
#include "store_help.h"

#define NOW ((int64_t)1790000000000)
#define DAY ((int64_t)86400000)
#define OLD (NOW - 100 * DAY)

static const struct ebb_retention KEEP = {.skips_max = 1000,
                                          .skips_ms = 7 * DAY,
                                          .decisions_ms = 90 * DAY,
                                          .jobs_ms = 90 * DAY,
                                          .events_ms = 30 * DAY,
                                          .events_max = 1000};

static void put(struct fixture *f, enum ebb_record_kind kind, const char *id, const char *status, const char *parent,
                int64_t at_ms)
{
    struct ebb_record r = {id, "lake.db.t", "u-1", "weekly", status, at_ms, 0, parent, "{}"};

    assert_int_equal(ebb_store_put(f->store, kind, &r, &f->err), 0);
}

static void put_job(struct fixture *f, const char *id, enum ebb_job_state state, const char *parent, const char *plan,
                    const char *run)
{
    struct ebb_job_record j = {.id = id,
                               .kind = "apply",
                               .state = state,
                               .parent = parent,
                               .plan = plan,
                               .run = run,
                               .queued_ms = OLD,
                               .ended_ms = ebb_job_state_is_final(state) ? OLD : 0,
                               .json = "{}"};

    assert_int_equal(ebb_store_put_job(f->store, &j, NULL, &f->err), 0);
}

static void put_move(struct fixture *f, const char *run, int64_t seq, enum ebb_move_state state)
{
    struct ebb_move m = {.seq = seq, .path = EBB_STR("a"), .target = EBB_STR("a"), .id = "", .state = state, .why = ""};

    assert_int_equal(ebb_store_put_moves(f->store, run, &m, 1, &f->err), 0);
}

static int64_t prune(struct fixture *f, const struct ebb_retention *keep)
{
    int64_t dropped = -1;

    assert_int_equal(ebb_store_prune(f->store, NOW, keep, &dropped, &f->err), 0);
    return dropped;
}

static int note(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    (void)err;
    ebb_buf_printf(data, "%s ", r->id);
    return 0;
}

static void expect(struct fixture *f, enum ebb_record_kind kind, const char *right)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 65536);
    assert_int_equal(ebb_store_list(f->store, kind, NULL, note, &text, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&text), right);
    ebb_buf_fini(&text);
}

static int count_move(void *data, const struct ebb_move *m, struct ebb_err *err)
{
    (void)m;
    (void)err;
    ++*(int *)data;
    return 0;
}

static int moves(struct fixture *f, const char *run)
{
    int n = 0;

    assert_int_equal(ebb_store_list_moves(f->store, run, -1, count_move, &n, &f->err), 0);
    return n;
}

static void test_old_decisions_go(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    put(f, EBB_RECORD_DECISION, "d-old-skip", "skip", "", NOW - 8 * DAY);
    put(f, EBB_RECORD_DECISION, "d-new-skip", "skip", "", NOW - 6 * DAY);
    put(f, EBB_RECORD_DECISION, "d-old-run", "run", "", OLD);
    put(f, EBB_RECORD_DECISION, "d-new-run", "run", "", NOW - 8 * DAY);
    assert_int_equal(prune(f, &KEEP), 2);
    expect(f, EBB_RECORD_DECISION, "d-new-run d-new-skip ");
    assert_int_equal(prune(f, &KEEP), 0);
}

static void test_decisions_that_are_needed_stay(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    put(f, EBB_RECORD_DECISION, "d-held", "run", "", OLD);
    put(f, EBB_RECORD_PLAN, "p-held", "held", "d-held", OLD);
    put(f, EBB_RECORD_DECISION, "d-ready", "run", "", OLD + 1);
    put(f, EBB_RECORD_PLAN, "p-ready", "ready", "d-ready", OLD);
    put(f, EBB_RECORD_DECISION, "d-job", "run", "", OLD + 2);
    put_job(f, "job-1", EBB_JOB_UNKNOWN, "d-job", "", "");
    put(f, EBB_RECORD_DECISION, "d-done", "run", "", OLD + 3);
    put(f, EBB_RECORD_PLAN, "p-done", "applied", "d-done", OLD);
    put_job(f, "job-2", EBB_JOB_SUCCEEDED, "d-done", "p-done", "");
    assert_int_equal(prune(f, &KEEP), 2); /* d-done and its job */
    expect(f, EBB_RECORD_DECISION, "d-held d-ready d-job ");
}

static void test_plans_that_can_be_applied_or_were_stay(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    put(f, EBB_RECORD_PLAN, "p-1", "ready", "", OLD);
    put(f, EBB_RECORD_PLAN, "p-2", "held", "", OLD);
    put(f, EBB_RECORD_PLAN, "p-3", "applied", "", OLD); /* must not be applied again */
    put(f, EBB_RECORD_PLAN, "p-4", "rejected", "", OLD);
    put(f, EBB_RECORD_PLAN, "p-5", "empty", "", OLD);
    put(f, EBB_RECORD_PLAN, "p-6", "empty", "", OLD + 1);
    assert_int_equal(prune(f, &KEEP), 1);
    expect(f, EBB_RECORD_PLAN, "p-1 p-2 p-3 p-4 p-6 "); /* p-6 is the newest of the table */
}

static void test_runs_and_journals_that_are_needed_stay(void **state)
{
    static const struct {
        const char *id, *status;
        enum ebb_move_state move;
        int left;
    } RUNS[] = {
        {"r-01", "started", EBB_MOVE_PLANNED, 2},   {"r-02", "interrupted", EBB_MOVE_MOVED, 2},
        {"r-03", "partial", EBB_MOVE_SKIPPED, 2},   {"r-04", "failed", EBB_MOVE_SKIPPED, 2},
        {"r-05", "done", EBB_MOVE_MOVED, 2},        {"r-06", "done", EBB_MOVE_PLANNED, 2},
        {"r-07", "restored", EBB_MOVE_CONFLICT, 2}, {"r-08", "purged", EBB_MOVE_FAILED, 2},
        {"r-09", "purged", EBB_MOVE_DELETED, 0},    {"r-10", "restored", EBB_MOVE_BACK, 0},
        {"r-11", "done", EBB_MOVE_SKIPPED, 0},
    };
    struct fixture *f = *state;

    open_store(f);
    for (size_t i = 0; i < sizeof RUNS / sizeof RUNS[0]; i++) {
        put(f, EBB_RECORD_RUN, RUNS[i].id, RUNS[i].status, "p-1", OLD);
        put_move(f, RUNS[i].id, 0, EBB_MOVE_SKIPPED);
        put_move(f, RUNS[i].id, 1, RUNS[i].move);
    }
    assert_int_equal(prune(f, &KEEP), 6);
    for (size_t i = 0; i < sizeof RUNS / sizeof RUNS[0]; i++)
        assert_int_equal(moves(f, RUNS[i].id), RUNS[i].left);
    expect(f, EBB_RECORD_RUN, "r-01 r-02 r-03 r-04 r-05 r-06 r-07 r-08 r-09 r-10 r-11 ");
}

static void test_a_journal_of_a_job_stays(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    put(f, EBB_RECORD_RUN, "r-1", "done", "p-1", OLD);
    put_move(f, "r-1", 0, EBB_MOVE_SKIPPED);
    put_job(f, "job-1", EBB_JOB_STARTED, "", "", "r-1");
    assert_int_equal(prune(f, &KEEP), 0);
    assert_int_equal(moves(f, "r-1"), 1);
}

static void test_the_latest_runs_of_a_policy_stay(void **state)
{
    struct fixture *f = *state;
    char id[16];

    open_store(f);
    for (int i = 0; i < 103; i++) {
        snprintf(id, sizeof id, "r-%03d", i);
        put(f, EBB_RECORD_RUN, id, "observed", "d-1", OLD + i);
    }
    put(f, EBB_RECORD_PLAN, "p-1", "applied", "", NOW);
    put(f, EBB_RECORD_RUN, "r-plan", "done", "p-1", OLD - 1); /* of a plan: it is the record of what was done */
    assert_int_equal(prune(f, &KEEP), 3);
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_RUN, "r-002", note, &(struct ebb_buf){0}, &f->err),
                     -EBB_ENOT_FOUND);
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_RUN, "r-003", note, &(struct ebb_buf){0}, &f->err), 0);
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_RUN, "r-plan", note, &(struct ebb_buf){0}, &f->err), 0);
}

static void test_jobs_that_are_not_final_stay(void **state)
{
    struct fixture *f = *state;
    int64_t counts[EBB_JOB_UNKNOWN + 1];

    open_store(f);
    for (int i = 0; i <= EBB_JOB_UNKNOWN; i++) {
        char id[16];

        snprintf(id, sizeof id, "job-%d", i);
        put_job(f, id, (enum ebb_job_state)i, "", "", "");
    }
    assert_int_equal(prune(f, &KEEP), 3);
    assert_int_equal(ebb_store_count_jobs(f->store, NULL, counts, &f->err), 0);
    for (int i = 0; i <= EBB_JOB_UNKNOWN; i++)
        assert_int_equal(counts[i], !ebb_job_state_is_final((enum ebb_job_state)i));
}

static void put_event(struct fixture *f, int number, int64_t received_ms)
{
    struct ebb_event e = {.source = "s", .type = "x", .table = "", .received_ms = received_ms, .json = "{}"};
    char id[16];

    snprintf(id, sizeof id, "%d", number);
    e.id = id;
    assert_int_equal(ebb_store_put_events(f->store, &e, 1, NULL, NULL, &f->err), 0);
}

static int note_seq(void *data, const struct ebb_event *e, struct ebb_err *err)
{
    (void)err;
    ebb_buf_printf(data, "%lld ", (long long)e->seq);
    return 0;
}

static void expect_events(struct fixture *f, const char *right)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 4096);
    assert_int_equal(ebb_store_list_events(f->store, NULL, note_seq, &text, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&text), right);
    ebb_buf_fini(&text);
}

static void test_old_events_go_but_for_the_last(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    for (int i = 1; i <= 5; i++)
        put_event(f, i, i < 4 ? NOW - 31 * DAY : NOW - DAY);
    assert_int_equal(prune(f, &KEEP), 3);
    expect_events(f, "4 5 ");
    assert_int_equal(ebb_store_prune(f->store, NOW + 100 * DAY, &KEEP, NULL, &f->err), 0);
    expect_events(f, "5 ");
    put_event(f, 6, NOW);
    expect_events(f, "5 6 ");
}

static void test_there_are_not_more_than_the_bounds(void **state)
{
    struct ebb_retention keep = {.skips_max = 2, .events_max = 3};
    struct fixture *f = *state;

    open_store(f);
    for (int i = 1; i <= 5; i++)
        put_event(f, i, NOW);
    put(f, EBB_RECORD_DECISION, "d-1", "skip", "", 1);
    put(f, EBB_RECORD_DECISION, "d-2", "run", "", 2);
    put(f, EBB_RECORD_DECISION, "d-3", "skip", "", 3);
    put(f, EBB_RECORD_DECISION, "d-4", "skip", "", 4);
    put(f, EBB_RECORD_PLAN, "p-1", "empty", "", 1);
    assert_int_equal(prune(f, &keep), 3);
    expect_events(f, "3 4 5 ");
    expect(f, EBB_RECORD_DECISION, "d-2 d-3 d-4 ");
    expect(f, EBB_RECORD_PLAN, "p-1 ");
}

static int note_job(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    (void)err;
    ebb_buf_printf(data, "%s ", job->id);
    return 0;
}

/* Whoever asks for very many jobs over the interface does not push out those of policies. */
static void test_jobs_that_were_asked_for_have_a_bound(void **state)
{
    static const char *const occurrences[] = {"", "weekly u-1 time 5", "api 0a 7", "", "", ""};
    struct ebb_retention keep = {.jobs_max = 2};
    struct fixture *f = *state;
    struct ebb_buf text;

    open_store(f);
    for (int i = 0; i < 6; i++) {
        char id[8];
        struct ebb_job_record j = {.id = id, .kind = "apply", .occurrence = occurrences[i], .json = "{}"};

        snprintf(id, sizeof id, "job-%d", i);
        j.state = i == 3 ? EBB_JOB_STARTED : EBB_JOB_FAILED;
        assert_int_equal(ebb_store_put_job(f->store, &j, NULL, &f->err), 0);
    }
    assert_int_equal(prune(f, &keep), 2);
    ebb_buf_init(&text, 4096);
    assert_int_equal(ebb_store_list_jobs(f->store, &(struct ebb_job_filter){0}, note_job, &text, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&text), "job-1 job-3 job-4 job-5 ");
    ebb_buf_fini(&text);
    assert_int_equal(prune(f, &keep), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_old_decisions_go, setup, teardown),
        cmocka_unit_test_setup_teardown(test_decisions_that_are_needed_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plans_that_can_be_applied_or_were_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(test_runs_and_journals_that_are_needed_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_journal_of_a_job_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_latest_runs_of_a_policy_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(test_jobs_that_are_not_final_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(test_jobs_that_were_asked_for_have_a_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(test_old_events_go_but_for_the_last, setup, teardown),
        cmocka_unit_test_setup_teardown(test_there_are_not_more_than_the_bounds, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
