/* SPDX-License-Identifier: Apache-2.0
 *
 * Carrying out jobs: what is done, what its end means, and what becomes of a job that was begun before.
 */
#include <sqlite3.h>

#include "base/time.h"
#include "look_help.h"

#define CONFIG CONFIG_HEAD "bind = { { policy = 'sweep', tables = { 'lake.db.*' }, mode = 'enforce' } } }"
#define DAILY(body)                                                                                                    \
    "return policy { api = 1, name = 'sweep', triggers = { time.every { '1h', anchor = 'epoch' } },\n"                 \
    "decide = function(t, ctx) " body " end }\n"
#define RUN "return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 })"
#define CONF "\"catalog_name\":\"lake\",\"table_identifier\":\"db.a\""

static atomic_bool stop_it;

static void start(struct world *w)
{
    open_world(w);
    world_put(w, "ebb.lua", CONFIG);
    world_put(w, "policies/sweep.lua", DAILY(RUN));
    add_table(w, "a", 2);
    assert_ok(w, try_open(w, 0));
    atomic_store(&stop_it, false);
}

static struct ebb_job_record job_of(const char *kind, const char *json)
{
    return (struct ebb_job_record){.id = "job-0000000000000000001",
                                   .kind = kind,
                                   .template_ = "",
                                   .table = "lake.db.a",
                                   .uuid = "00000001-2222-4333-8444-555555555555",
                                   .policy = "",
                                   .occurrence = "",
                                   .parent = "",
                                   .state = EBB_JOB_STARTED,
                                   .attempt = 1,
                                   .plan = "",
                                   .run = "",
                                   .code = "",
                                   .message = "",
                                   .owner = "",
                                   .json = json};
}

static struct ebb_work_result run_job(struct world *w, struct ebb_job_record job)
{
    struct ebb_work_context context = {.ws = w->ws, .cancelled = &stop_it};
    struct ebb_work_result out;

    ebb_work_run(&context, &job, &out);
    return out;
}

static void expect(const struct ebb_work_result *r, enum ebb_job_state state, enum ebb_error error)
{
    if (r->state != state || r->err.error != error)
        fail_msg("%s, %s: %s", ebb_job_state_name(r->state), ebb_error_code(r->err.error), r->err.message);
}

/* ---- kinds ---- */

static void test_kinds_that_are_not_carried_out(void **state)
{
    static const char *const KINDS[] = {"rewrite-data-files", "rewrite-manifests", "update-stats", "nonsense", ""};
    struct world w;

    (void)state;
    start(&w);
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        struct ebb_work_result r = run_job(&w, job_of(KINDS[i], "{}"));

        expect(&r, EBB_JOB_FAILED, EBB_EUNSUPPORTED);
    }
    close_world(&w);
}

static void test_a_job_by_hand(void **state)
{
    struct world w;
    struct ebb_work_result r;

    (void)state;
    start(&w);
    r = run_job(&w, job_of("remove-orphan-files", "{" CONF ",\"dry_run\":\"true\"}"));
    expect(&r, EBB_JOB_SUCCEEDED, EBB_OK);
    assert_string_equal(r.status, "ready");
    assert_int_equal(r.candidates, 2);
    assert_true(r.is_held); /* the plan waits */
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, NULL), 0);
    r = run_job(&w, job_of("remove-orphan-files", "{\"config\":{" CONF "}}"));
    expect(&r, EBB_JOB_SUCCEEDED, EBB_OK);
    assert_int_equal(r.moved, 2);
    assert_false(r.is_held);
    assert_false(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_true(has_file(&w.tables[0], "data/live.parquet"));
    close_world(&w);
}

/* Whoever asks for a job may not lower the floor, whatever it says of its origin. */
static void test_a_job_by_hand_has_no_origin(void **state)
{
    static const char JSON[] = "{" CONF ",\"older_than\":\"%s\",\"origin\":{\"allow_below_floor\":true}}";
    struct world w;
    struct ebb_work_result r;
    struct ebb_buf at;
    char json[512];

    (void)state;
    start(&w);
    ebb_buf_init(&at, 100);
    ebb_time_iso(&at, world_now(&w) - 60000);
    snprintf(json, sizeof json, JSON, ebb_buf_cstr(&at));
    ebb_buf_fini(&at);
    r = run_job(&w, job_of("remove-orphan-files", json));
    expect(&r, EBB_JOB_FAILED, EBB_ECUTOFF_FLOOR);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    close_world(&w);
}

static void test_bad_jobs(void **state)
{
    static const struct {
        const char *kind, *json;
        enum ebb_error error;
    } BAD[] = {
        {"remove-orphan-files", "", EBB_ECORRUPT},
        {"remove-orphan-files", "[]", EBB_EUSAGE},
        {"remove-orphan-files", "{}", EBB_EUSAGE},
        {"remove-orphan-files", "{\"catalog_name\":\"other\",\"table_identifier\":\"db.a\"}", EBB_ECATALOG_UNKNOWN},
        {"remove-orphan-files", "{\"catalog_name\":\"lake\",\"table_identifier\":\"../x\"}", EBB_EUSAGE},
        {"remove-orphan-files", "{" CONF ",\"location\":\"file:/etc\"}", EBB_EOUTSIDE},
        {"remove-orphan-files", "{" CONF ",\"dry_run\":\"yes\"}", EBB_EUSAGE},
        {"remove-orphan-files", "{" CONF ",\"older_than\":\"2999-01-01 00:00:00\"}", EBB_ECUTOFF_FUTURE},
        {"remove-orphan-files", "{" CONF ",\"spark_conf\":\"{\\\"a\\\":\\\"b\\\"}\"}", EBB_EUNSUPPORTED},
        {"apply", "{}", EBB_EUSAGE},
        {"apply", "{\"plan\":\"/etc/passwd\"}", EBB_EUSAGE},
        {"apply", "{\"plan\":\"p-../../../../etc/passwdabcd\"}", EBB_EUSAGE},
        {"apply", "{\"plan\":\"p-01K5Z900000000000000000000\"}", EBB_ENOT_FOUND},
        {"apply", "{\"plan\":\"p-01K5Z900000000000000000000\",\"overrides\":\"max_share\"}", EBB_EUSAGE},
        {"apply", "{\"plan\":\"p-01K5Z900000000000000000000\",\"verify\":\"maybe\"}", EBB_EUSAGE},
        {"apply", "{\"plan\":\"p-01K5Z900000000000000000000\",\"max_age\":\"0d\"}", EBB_EUSAGE},
        {"apply", "{\"plan\":\"p-01K5Z900000000000000000000\",\"delete\":true,\"quarantine\":\"file:/q\"}", EBB_EUSAGE},
        {"restore", "{\"run\":\"r-1\"}", EBB_EUSAGE},
        {"restore", "{\"run\":\"r-01K5Z900000000000000000000\"}", EBB_ENOT_FOUND},
        {"restore", "{\"run\":\"r-01K5Z900000000000000000000\",\"paths\":[1]}", EBB_EUSAGE},
        {"purge", "{\"runs\":[\"/\"]}", EBB_EUSAGE},
        {"purge", "{\"older_than\":7}", EBB_EUSAGE},
        {"purge", "{\"older_than\":\"soon\"}", EBB_ETIME},
    };
    struct world w;

    (void)state;
    start(&w);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct ebb_work_result r = run_job(&w, job_of(BAD[i].kind, BAD[i].json));

        if (r.state != EBB_JOB_FAILED || r.err.error != BAD[i].error)
            fail_msg("%s %s: %s, %s: %s", BAD[i].kind, BAD[i].json, ebb_job_state_name(r.state),
                     ebb_error_code(r.err.error), r.err.message);
    }
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    close_world(&w);
}

static void test_apply_restore_purge(void **state)
{
    struct world w;
    struct ebb_work_result r;
    char json[200], run[40];

    (void)state;
    start(&w);
    r = run_job(&w, job_of("remove-orphan-files", "{" CONF ",\"dry_run\":\"true\"}"));
    snprintf(json, sizeof json, "{\"plan\":\"%s\"}", r.plan);
    r = run_job(&w, job_of("apply", json));
    expect(&r, EBB_JOB_SUCCEEDED, EBB_OK);
    assert_int_equal(r.moved, 2);
    assert_string_equal(r.status, "done");
    snprintf(run, sizeof run, "%s", r.run);
    r = run_job(&w, job_of("apply", json));
    expect(&r, EBB_JOB_FAILED, EBB_EPLAN_APPLIED);
    snprintf(json, sizeof json, "{\"run\":\"%s\",\"paths\":[\"data/old-0.parquet\"]}", run);
    r = run_job(&w, job_of("restore", json));
    expect(&r, EBB_JOB_SUCCEEDED, EBB_OK);
    assert_int_equal(r.restored, 1);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_false(has_file(&w.tables[0], "data/old-1.parquet"));
    r = run_job(&w, job_of("purge", "{}"));
    expect(&r, EBB_JOB_SUCCEEDED, EBB_OK);
    assert_int_equal(r.deleted, 0); /* not old enough */
    snprintf(json, sizeof json, "{\"runs\":[\"%s\"],\"older_than\":\"0d\"}", run);
    r = run_job(&w, job_of("purge", json));
    expect(&r, EBB_JOB_SUCCEEDED, EBB_OK);
    assert_int_equal(r.deleted, 1);
    close_world(&w);
}

/* ---- how it ends ---- */

static void test_cancelled_and_too_late(void **state)
{
    struct world w;
    struct ebb_work_result r;
    struct ebb_job_record job = job_of("remove-orphan-files", "{" CONF "}");

    (void)state;
    start(&w);
    atomic_store(&stop_it, true);
    r = run_job(&w, job);
    expect(&r, EBB_JOB_CANCELLED, EBB_ECANCELLED);
    atomic_store(&stop_it, false);
    job.deadline_ms = world_now(&w) - 60000;
    r = run_job(&w, job);
    expect(&r, EBB_JOB_CANCELLED, EBB_ECANCELLED);
    assert_non_null(strstr(r.err.message, "before it began"));
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, NULL), 0);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    job.deadline_ms = world_now(&w) + 3600000;
    r = run_job(&w, job);
    expect(&r, EBB_JOB_SUCCEEDED, EBB_OK);
    assert_true(ebb_workspace_site(w.ws)->cancelled == &w.cancelled); /* nothing of the job is left */
    assert_int_equal(ebb_workspace_site(w.ws)->deadline_ms, 0);
    close_world(&w);
}

static void lock_by_another(struct world *w)
{
    char path[600], text[512];

    snprintf(text, sizeof text,
             "{\"host\":\"elsewhere\",\"boot\":\"b\",\"pid\":1,\"started\":\"1\",\"run\":\"r-other\",\"epoch\":1,"
             "\"expires\":%lld}",
             (long long)(world_now(w) + 600000));
    snprintf(path, sizeof path, "%s/.ebb-quarantine/lock", w->tables[0].location);
    make_parents(path);
    write_path(path, text);
}

/* A lock that another holds may be gone in a while: the same wait for the same job, longer each time, three attempts.
 */
static void test_what_may_pass_is_tried_again(void **state)
{
    struct world w;
    struct ebb_work_result r;
    struct ebb_job_record job = job_of("remove-orphan-files", "{" CONF "}");
    int64_t wait, before;

    (void)state;
    start(&w);
    lock_by_another(&w);
    before = world_now(&w);
    r = run_job(&w, job);
    expect(&r, EBB_JOB_QUEUED, EBB_ELOCKED);
    wait = r.not_before_ms - before;
    assert_true(wait >= 60000 && wait <= 90000 + 20000);
    job.attempt = 2;
    before = world_now(&w);
    r = run_job(&w, job);
    expect(&r, EBB_JOB_QUEUED, EBB_ELOCKED);
    assert_true(r.not_before_ms - before >= 240000);
    job.attempt = 3;
    r = run_job(&w, job);
    expect(&r, EBB_JOB_FAILED, EBB_ELOCKED);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    close_world(&w);
}

/* ---- jobs of policies ---- */

static int copy_job(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    (void)err;
    return ebb_work_queue_put(data, job, NULL);
}

/* The job that a look made, as if it were started for the n-th time. */
static struct ebb_work_queue *queued(struct world *w, int64_t attempt, struct ebb_job_record *out)
{
    struct ebb_work_queue *q = NULL;
    int64_t wake;

    assert_ok(w, ebb_work_queue_new(1, &q, &w->err));
    assert_ok(w, ebb_store_list_jobs(ebb_workspace_site(w->ws)->store, NULL, copy_job, q, &w->err));
    *out = *ebb_work_queue_take(q, INT64_MAX, &wake);
    out->attempt = attempt;
    out->state = EBB_JOB_STARTED;
    return q;
}

static void start_with_job(struct world *w, struct looked *l)
{
    start(w);
    w->shift_ms = -DAY_MS;
    start_looker(w, l);
    assert_ok(w, look(w, l, -DAY_MS));
    assert_ok(w, look(w, l, 0));
    assert_int_equal(jobs_of(w).count, 1);
}

static void test_a_job_of_a_policy(void **state)
{
    struct world w;
    struct looked l;
    struct ebb_job_record job;
    struct ebb_work_queue *q;
    struct ebb_work_result r;

    (void)state;
    start_with_job(&w, &l);
    q = queued(&w, 1, &job);
    r = run_job(&w, job);
    expect(&r, EBB_JOB_SUCCEEDED, EBB_OK);
    assert_int_equal(r.moved, 2);
    job.attempt = 2; /* it ended, but nobody wrote that down */
    r = run_job(&w, job);
    expect(&r, EBB_JOB_SUCCEEDED, EBB_OK);
    assert_int_equal(r.moved, 2);
    assert_string_equal(r.status, "done");
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, NULL), 1);
    assert_int_equal(count_records(&w, EBB_RECORD_PLAN, NULL), 1);
    ebb_work_queue_free(q);
    end_looker(&l);
    close_world(&w);
}

static void test_a_run_that_stopped_is_resumed(void **state)
{
    struct world w;
    struct looked l;
    struct ebb_job_record job;
    struct ebb_work_queue *q;
    struct ebb_work_result r;
    char run[40];

    (void)state;
    start_with_job(&w, &l);
    q = queued(&w, 1, &job);
    r = run_job(&w, job);
    snprintf(run, sizeof run, "%s", r.run);
    sql_on(&w, "UPDATE record SET status = 'started', end_ms = 0 WHERE kind = 1");
    job.attempt = 2;
    r = run_job(&w, job);
    expect(&r, EBB_JOB_SUCCEEDED, EBB_OK);
    assert_string_equal(r.run, run);
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, "done"), 1);
    ebb_work_queue_free(q);
    end_looker(&l);
    close_world(&w);
}

/* What failed before it touched anything is a run for intervals and back-off: one, however often it is gone on with. */
static void test_a_failure_is_recorded_once(void **state)
{
    struct world w;
    struct looked l;
    struct ebb_job_record job;
    struct ebb_work_queue *q;
    struct ebb_work_result r;

    (void)state;
    start_with_job(&w, &l);
    world_put(&w, "wh/db/a/metadata/v1.metadata.json", "{\"format-version\":2,");
    q = queued(&w, 1, &job);
    r = run_job(&w, job);
    expect(&r, EBB_JOB_FAILED, EBB_EMETADATA);
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, "failed"), 1);
    job.attempt = 2;
    r = run_job(&w, job);
    assert_int_equal(r.state, EBB_JOB_FAILED);
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, NULL), 1);
    ebb_work_queue_free(q);
    end_looker(&l);
    close_world(&w);
}

/* Without its decision nobody can say what was decided. */
static void test_a_job_whose_decision_is_gone(void **state)
{
    struct world w;
    struct looked l;
    struct ebb_job_record job;
    struct ebb_work_queue *q;
    struct ebb_work_result r;

    (void)state;
    start_with_job(&w, &l);
    q = queued(&w, 1, &job);
    sql_on(&w, "DELETE FROM record WHERE kind = 2");
    r = run_job(&w, job);
    expect(&r, EBB_JOB_FAILED, EBB_ENOT_FOUND);
    job.json = "{\"config\":{" CONF ",\"older_than\":\"2020-01-01 00:00:00\"}}";
    r = run_job(&w, job);
    expect(&r, EBB_JOB_FAILED, EBB_ECONFIG);
    job.json = "{\"config\":{" CONF "},\"origin\":{}}";
    r = run_job(&w, job);
    expect(&r, EBB_JOB_FAILED, EBB_ECONFIG); /* not the default of 3 days */
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    ebb_work_queue_free(q);
    end_looker(&l);
    close_world(&w);
}

static void test_nothing_secret_is_said(void **state)
{
    static const char JSON[] = "{\"catalog_name\":\"lake\",\"table_identifier\":\"db.a\","
                               "\"location\":\"s3://planted:hunter2@bucket/x?token=hunter2\"}";
    struct world w;
    struct ebb_work_result r;

    (void)state;
    start(&w);
    r = run_job(&w, job_of("remove-orphan-files", JSON));
    assert_int_equal(r.state, EBB_JOB_FAILED);
    if (strstr(r.err.message, "hunter2") || strstr(r.err.hint, "hunter2"))
        fail_msg("%s", r.err.message);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_that_are_not_carried_out),
        cmocka_unit_test(test_a_job_by_hand),
        cmocka_unit_test(test_a_job_by_hand_has_no_origin),
        cmocka_unit_test(test_bad_jobs),
        cmocka_unit_test(test_apply_restore_purge),
        cmocka_unit_test(test_cancelled_and_too_late),
        cmocka_unit_test(test_what_may_pass_is_tried_again),
        cmocka_unit_test(test_a_job_of_a_policy),
        cmocka_unit_test(test_a_run_that_stopped_is_resumed),
        cmocka_unit_test(test_a_failure_is_recorded_once),
        cmocka_unit_test(test_a_job_whose_decision_is_gone),
        cmocka_unit_test(test_nothing_secret_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
