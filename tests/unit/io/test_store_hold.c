/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "io/store_jobs.h"
#include "io/store_priv.h"
#include "store_help.h"

static struct ebb_record record(const char *id, const char *status)
{
    struct ebb_record r = {id, "lake.db.t", "u-1", "weekly", status, 1000, 0, "", "{}"};

    return r;
}

static struct ebb_job_record job(const char *id, const char *occurrence)
{
    struct ebb_job_record j = {
        .id = id, .kind = "apply", .occurrence = occurrence, .state = EBB_JOB_QUEUED, .json = "{}"};

    return j;
}

static int count_record(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    (void)r;
    (void)err;
    ++*(int *)data;
    return 0;
}

static int count_job(void *data, const struct ebb_job_record *j, struct ebb_err *err)
{
    (void)j;
    (void)err;
    ++*(int *)data;
    return 0;
}

static int records(struct fixture *f)
{
    int n = 0;

    assert_int_equal(ebb_store_list(f->store, EBB_RECORD_DECISION, NULL, count_record, &n, &f->err), 0);
    return n;
}

static int jobs(struct fixture *f)
{
    int n = 0;

    assert_int_equal(ebb_store_list_jobs(f->store, NULL, count_job, &n, &f->err), 0);
    return n;
}

static void check_value(struct fixture *f, const char *key, const char *right)
{
    struct ebb_buf value;
    bool found = false;

    ebb_buf_init(&value, 100);
    assert_int_equal(ebb_store_get_value(f->store, "s", key, &value, &found, &f->err), 0);
    assert_int_equal(found, right != NULL);
    assert_string_equal(ebb_buf_cstr(&value), right ? right : "");
    ebb_buf_fini(&value);
}

/* A decision, its occurrence, its job. */
static void gather(struct fixture *f)
{
    char text[16] = "d-000001"; /* what is gathered is copied */
    struct ebb_record r = record(text, "run");
    struct ebb_job_record j = job("job-1", "weekly u-1 0 5");
    bool is_new = false;

    assert_int_equal(ebb_store_hold(f->store, &f->err), 0);
    assert_int_equal(ebb_store_put(f->store, EBB_RECORD_DECISION, &r, &f->err), 0);
    memset(text, 'x', 8);
    assert_int_equal(ebb_store_put_value(f->store, "s", "k", "1", &f->err), 0);
    assert_int_equal(ebb_store_put_value(f->store, "s", "k", "2", &f->err), 0);
    assert_int_equal(ebb_store_put_value(f->store, "s", "gone", NULL, &f->err), 0);
    assert_int_equal(ebb_store_put_job(f->store, &j, &is_new, &f->err), 0);
    assert_true(is_new);
}

static void test_gathered_writes_are_seen_after_the_release(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    assert_int_equal(ebb_store_put_value(f->store, "s", "gone", "0", &f->err), 0);
    gather(f);
    assert_int_equal(records(f), 0);
    assert_int_equal(jobs(f), 0);
    check_value(f, "k", NULL);
    assert_int_equal(ebb_store_release(f->store, &f->err), 0);
    assert_int_equal(records(f), 1);
    assert_int_equal(jobs(f), 1);
    check_value(f, "k", "2");
    check_value(f, "gone", NULL);
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_DECISION, "d-000001", count_record, &(int){0}, &f->err), 0);
}

static void test_what_is_dropped_is_not_written(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    gather(f);
    ebb_store_drop_held(f->store);
    assert_int_equal(ebb_store_release(f->store, &f->err), -EBB_EINTERNAL);
    assert_int_equal(records(f) + jobs(f), 0);
    gather(f);
    ebb_store_close(f->store); /* dropped with it */
    open_store(f);
    assert_int_equal(records(f) + jobs(f), 0);
}

static void test_all_or_none(void **state)
{
    struct fixture *f = *state;
    struct ebb_job_record taken = job("job-1", "another");

    open_store(f);
    assert_int_equal(ebb_store_put_job(f->store, &taken, NULL, &f->err), 0);
    gather(f); /* holds a job of this id */
    assert_int_equal(ebb_store_release(f->store, &f->err), -EBB_EEXIST);
    assert_int_equal(records(f), 0);
    check_value(f, "k", NULL);
    assert_int_equal(jobs(f), 1);
    assert_int_equal(ebb_store_put_value(f->store, "s", "k", "3", &f->err), 0); /* at once again */
    check_value(f, "k", "3");
}

static void test_a_job_whose_occurrence_is_taken_is_left_out(void **state)
{
    struct fixture *f = *state;
    struct ebb_job_record taken = job("job-0", "weekly u-1 0 5");

    open_store(f);
    assert_int_equal(ebb_store_put_job(f->store, &taken, NULL, &f->err), 0);
    gather(f);
    assert_int_equal(ebb_store_release(f->store, &f->err), 0);
    assert_int_equal(jobs(f), 1);
    assert_int_equal(records(f), 1);
}

static void test_moves_are_written_at_once(void **state)
{
    struct fixture *f = *state;
    struct ebb_record plan = record("p-000001", "ready"), run = record("r-000001", "started");

    open_store(f);
    gather(f);
    assert_int_equal(ebb_store_claim_plan(f->store, &plan, &run, &f->err), 0);
    assert_int_equal(ebb_store_get(f->store, EBB_RECORD_RUN, "r-000001", count_record, &(int){0}, &f->err), 0);
    assert_int_equal(ebb_store_hold(f->store, &f->err), -EBB_EINTERNAL); /* not nested */
    assert_int_equal(ebb_store_release(f->store, &f->err), 0);
}

static void test_a_cache_is_written_at_once(void **state)
{
    struct fixture *f = *state;
    size_t n = ((size_t)1 << 20) + 1;
    char *large = malloc(n + 1);
    struct ebb_buf value;
    bool found = false;

    assert_non_null(large);
    memset(large, ' ', n);
    large[n] = '\0';
    open_store(f);
    gather(f);
    assert_int_equal(ebb_store_put_value(f->store, "cache", "k", large, &f->err), 0);
    ebb_store_drop_held(f->store);
    ebb_buf_init(&value, 2 * n);
    assert_int_equal(ebb_store_get_value(f->store, "cache", "k", &value, &found, &f->err), 0);
    assert_true(found);
    assert_int_equal(value.len, n);
    ebb_buf_fini(&value);
    free(large);
}

static void test_too_much_is_refused(void **state)
{
    struct fixture *f = *state;
    struct ebb_record r = record("d-000002", "run");
    size_t n = (size_t)257 << 20;
    char *large = malloc(n + 1);

    if (!large)
        skip();
    memset(large, ' ', n);
    large[n] = '\0';
    open_store(f);
    gather(f);
    r.json = large;
    assert_int_equal(ebb_store_put(f->store, EBB_RECORD_DECISION, &r, &f->err), -EBB_ELIMIT);
    assert_non_null(strstr(f->err.message, "256 MiB"));
    assert_int_equal(ebb_store_release(f->store, &f->err), 0); /* what was gathered before is not lost */
    check_value(f, "k", "2");
    free(large);
}

static void test_a_store_that_is_busy_says_so(void **state)
{
    struct fixture *f = *state;
    sqlite3 *db;

    open_store(f);
    gather(f);
    sqlite3_busy_timeout(f->store->db, 20);
    assert_int_equal(sqlite3_open(f->file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(ebb_store_release(f->store, &f->err), -EBB_ESTORE);
    assert_true(f->err.retryable);
    sqlite3_close(db);
    assert_int_equal(records(f) + jobs(f), 0);
}

static void test_a_store_that_cannot_be_written_takes_none(void **state)
{
    struct fixture *f = *state;
    bool is_new = true;
    struct ebb_job_record j = job("job-9", "");

    open_store(f);
    gather(f);
    assert_int_equal(sqlite3_exec(f->store->db, "PRAGMA query_only = ON", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(ebb_store_release(f->store, &f->err), -EBB_EPERMISSION);
    assert_int_equal(ebb_store_put_job(f->store, &j, &is_new, &f->err), -EBB_EPERMISSION);
    assert_false(is_new);
    assert_int_equal(records(f) + jobs(f), 0);
}

/* In a child, whose files may not grow: none of what was gathered is there afterwards, and nothing is damaged. */
static int release_without_room(const char *dir)
{
    struct rlimit limit = {4096, 4096};
    struct ebb_store *store;
    struct ebb_err err;
    char id[40];
    int rc;

    signal(SIGXFSZ, SIG_IGN);
    if (ebb_store_open(dir, &store, &err) || ebb_store_hold(store, &err))
        return 90;
    for (int i = 0; i < 3000; i++) {
        struct ebb_record r = record(id, "skip");

        snprintf(id, sizeof id, "d-%06d", i);
        if (ebb_store_put(store, EBB_RECORD_DECISION, &r, &err))
            return 91;
    }
    setrlimit(RLIMIT_FSIZE, &limit);
    rc = ebb_store_release(store, &err);
    return rc ? 0 : 92;
}

static void test_a_full_disk_takes_none(void **state)
{
    struct fixture *f = *state;
    int status = 0;
    pid_t pid;

    open_store(f);
    ebb_store_close(f->store);
    f->store = NULL;
    pid = fork();
    if (pid == 0)
        _exit(release_without_room(f->dir));
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    open_store(f);
    assert_int_equal(records(f), 0);
    assert_int_equal(ebb_store_check(f->store, &f->err), 0);
}

/* Steps as a look takes them: a decision, its occurrence and its job, all with one number, until it is killed. */
static void work_until_killed(const char *dir)
{
    struct ebb_store *store;
    struct ebb_err err;

    if (ebb_store_open(dir, &store, &err))
        _exit(1);
    for (;;) {
        char id[40], text[60];
        struct ebb_record r = record(text, "run");
        struct ebb_job_record j = job(id, id);

        ebb_store_new_job_id(store, 1790000000000, id);
        snprintf(text, sizeof text, "d-%s", id);
        if (ebb_store_hold(store, &err) || ebb_store_put(store, EBB_RECORD_DECISION, &r, &err) ||
            ebb_store_put_value(store, "s", "last", id, &err) || ebb_store_put_job(store, &j, NULL, &err) ||
            ebb_store_release(store, &err))
            _exit(2);
    }
}

static int same_job(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    struct fixture *f = data;
    int n = 0;

    return ebb_store_get_job(f->store, r->id + 2, count_job, &n, err);
}

static int note_last(void *data, const struct ebb_job_record *j, struct ebb_err *err)
{
    (void)err;
    snprintf(data, 40, "%s", j->id);
    return 0;
}

static void test_a_kill_leaves_whole_steps(void **state)
{
    struct fixture *f = *state;
    unsigned seed = 5;

    for (int round = 0; round < 12; round++) {
        char last[40] = "";
        pid_t pid = fork();

        if (pid == 0)
            work_until_killed(f->dir);
        usleep(2000 + (useconds_t)rand_r(&seed) % 60000);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        open_store(f); /* checks the integrity after the unclean stop */
        assert_int_equal(records(f), jobs(f));
        assert_int_equal(ebb_store_list(f->store, EBB_RECORD_DECISION, NULL, same_job, f, &f->err), 0);
        assert_int_equal(ebb_store_list_jobs(f->store, &(struct ebb_job_filter){.newest_first = true, .limit = 1},
                                             note_last, last, &f->err),
                         0);
        check_value(f, "last", last[0] ? last : NULL);
        ebb_store_close(f->store);
        f->store = NULL;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gathered_writes_are_seen_after_the_release, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_dropped_is_not_written, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_or_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_job_whose_occurrence_is_taken_is_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_moves_are_written_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_cache_is_written_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_much_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_store_that_is_busy_says_so, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_store_that_cannot_be_written_takes_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_full_disk_takes_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_kill_leaves_whole_steps, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
