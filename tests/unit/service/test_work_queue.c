/* SPDX-License-Identifier: Apache-2.0
 *
 * The queue of jobs: which may go side by side on one table, in which order they are taken, and that none waits for
 * ever.
 */
#include "../engine/engine_help.h"

#include "service/work.h"

#define MINUTE ((int64_t)60000)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static struct ebb_work_queue *new_queue(unsigned running_max)
{
    struct ebb_work_queue *q = NULL;
    struct ebb_err err;

    assert_int_equal(ebb_work_queue_new(running_max, &q, &err), 0);
    return q;
}

static struct ebb_job_record job_of(const char *id, const char *kind, const char *table)
{
    struct ebb_job_record j = {.id = id, .kind = kind, .table = table, .json = "{}"};

    j.template_ = j.uuid = j.policy = j.occurrence = j.parent = j.plan = j.run = j.code = j.message = j.owner = "";
    return j;
}

static void put(struct ebb_work_queue *q, struct ebb_job_record job)
{
    struct ebb_err err;

    assert_int_equal(ebb_work_queue_put(q, &job, &err), 0);
}

static const char *take(struct ebb_work_queue *q, int64_t now_ms)
{
    int64_t wake;
    const struct ebb_job_record *job = ebb_work_queue_take(q, now_ms, &wake);

    return job ? job->id : "";
}

static const char *const KINDS[] = {
    "remove-orphan-files", "apply",        "restore", "purge", "expire-snapshots", "rewrite-data-files",
    "rewrite-manifests",   "update-stats", "shell"};
/* 1: they exclude each other on one table. */
static const char *const MATRIX[] = {
    /* remove  */ "111111101",
    /* apply   */ "111111101",
    /* restore */ "111111101",
    /* purge   */ "111111101",
    /* expire  */ "111111001",
    /* rewrite */ "111111101",
    /* manif.  */ "111101101",
    /* stats   */ "000000010",
    /* shell   */ "111111101",
};

static void test_each_row_of_the_matrix(void **state)
{
    (void)state;
    for (size_t a = 0; a < 9; a++)
        for (size_t b = 0; b < 9; b++) {
            struct ebb_work_queue *q = new_queue(8);
            bool excluded = MATRIX[a][b] == '1';

            if (ebb_work_is_compatible(KINDS[a], KINDS[b]) == excluded)
                fail_msg("%s and %s", KINDS[a], KINDS[b]);
            put(q, job_of("job-1", KINDS[a], "lake.db.t"));
            assert_string_equal(take(q, 0), "job-1");
            put(q, job_of("job-2", KINDS[b], "lake.db.t"));
            put(q, job_of("job-3", KINDS[b], "lake.db.other"));
            assert_string_equal(take(q, 0), excluded ? "job-3" : "job-2");
            if (excluded) {
                assert_string_equal(take(q, 0), "");
                ebb_work_queue_end(q, "job-1");
                assert_string_equal(take(q, 0), "job-2");
            }
            ebb_work_queue_free(q);
        }
}

static void test_a_kind_that_is_not_known_excludes_what_changes_the_table(void **state)
{
    (void)state;
    assert_false(ebb_work_is_compatible("nonsense", "remove-orphan-files"));
    assert_false(ebb_work_is_compatible("rewrite-manifests", "nonsense"));
    assert_false(ebb_work_is_compatible("nonsense", "other nonsense"));
}

/* A table is known by its uuid under another name, and by its name without uuid. */
static void test_tables_are_the_same_by_uuid_or_name(void **state)
{
    struct ebb_work_queue *q = new_queue(8);
    struct ebb_job_record a = job_of("job-1", "apply", "lake.db.t"), b = job_of("job-2", "purge", "lake.db.renamed");

    (void)state;
    a.uuid = b.uuid = "u-1";
    put(q, a);
    put(q, b);
    put(q, job_of("job-3", "restore", "lake.db.t"));
    put(q, job_of("job-4", "shell", ""));
    put(q, job_of("job-5", "shell", ""));
    assert_string_equal(take(q, 0), "job-1");
    assert_string_equal(take(q, 0), "job-4"); /* without a table there is nothing to exclude */
    assert_string_equal(take(q, 0), "job-5");
    assert_string_equal(take(q, 0), "");
    ebb_work_queue_free(q);
}

static void test_order(void **state)
{
    struct ebb_work_queue *q = new_queue(8);
    struct ebb_job_record j;

    (void)state;
    j = job_of("job-1", "apply", "a");
    j.queued_ms = 5, j.policy = "z";
    put(q, j);
    j = job_of("job-2", "apply", "b");
    j.queued_ms = 5, j.policy = "b";
    put(q, j);
    j = job_of("job-3", "apply", "c");
    j.queued_ms = 4, j.policy = "z";
    put(q, j);
    j = job_of("job-4", "apply", "d");
    j.queued_ms = 9, j.priority = 1;
    put(q, j);
    assert_string_equal(take(q, 10), "job-4"); /* priority, then age, then name */
    assert_string_equal(take(q, 10), "job-3");
    assert_string_equal(take(q, 10), "job-2");
    assert_string_equal(take(q, 10), "job-1");
    ebb_work_queue_free(q);
}

/* One more for each ten minutes: after 100 minutes what waits is in front of a fresh one of priority 9. */
static void test_waiting_raises_the_rank(void **state)
{
    struct ebb_work_queue *q = new_queue(8);
    struct ebb_job_record old = job_of("job-1", "apply", "a"), fresh = job_of("job-2", "apply", "b");

    (void)state;
    fresh.priority = 9;
    fresh.queued_ms = 89 * MINUTE;
    put(q, old);
    put(q, fresh);
    assert_string_equal(take(q, 89 * MINUTE), "job-2");
    put(q, fresh);
    assert_int_equal(ebb_work_queue_running(q), 0);
    assert_string_equal(take(q, 99 * MINUTE + 59999), "job-2"); /* 9 + 1 and 9 */
    fresh.queued_ms = 99 * MINUTE;
    put(q, fresh);
    assert_string_equal(take(q, 100 * MINUTE), "job-1"); /* 9 and 10 */
    ebb_work_queue_free(q);
}

static void test_odd_numbers(void **state)
{
    struct ebb_work_queue *q = new_queue(8);
    struct ebb_job_record j = job_of("job-1", "apply", "a");

    (void)state;
    j.priority = INT64_MAX;
    j.queued_ms = INT64_MIN;
    put(q, j);
    j = job_of("job-2", "apply", "b");
    j.priority = INT64_MIN;
    j.queued_ms = INT64_MAX;
    put(q, j);
    assert_string_equal(take(q, INT64_MAX), "job-1");
    assert_string_equal(take(q, INT64_MAX), "job-2");
    ebb_work_queue_free(q);
}

static void test_its_time(void **state)
{
    struct ebb_work_queue *q = new_queue(8);
    struct ebb_job_record j = job_of("job-1", "apply", "a");
    struct ebb_buf why;
    int64_t wake;

    (void)state;
    j.not_before_ms = 500;
    put(q, j);
    j.id = "job-2", j.not_before_ms = 400;
    put(q, j);
    assert_null(ebb_work_queue_take(q, 399, &wake));
    assert_int_equal(wake, 400);
    ebb_buf_init(&why, 1000);
    ebb_work_queue_why(q, "job-1", 399, &why);
    assert_string_equal(ebb_buf_cstr(&why), "not before 1970-01-01T00:00:00.500Z");
    ebb_buf_fini(&why);
    assert_string_equal(take(q, 400), "job-2");
    assert_null(ebb_work_queue_take(q, 600, &wake)); /* it waits for the table, not for time */
    assert_true(wake == INT64_MAX);
    ebb_work_queue_free(q);
}

/* Back by a day: what waits for a minute does not wait for a day. */
static void test_a_clock_that_was_set_back(void **state)
{
    struct ebb_work_queue *q = new_queue(8);
    struct ebb_job_record j = job_of("job-1", "apply", "a");

    (void)state;
    j.changed_ms = 5 * DAY, j.not_before_ms = 5 * DAY + MINUTE;
    put(q, j);
    assert_string_equal(take(q, 5 * DAY + MINUTE - 1), "");
    assert_string_equal(take(q, 4 * DAY), "job-1");
    ebb_work_queue_free(q);
}

/* What is read from the store again takes its time from there; a job that was written since is another. */
static void test_put_again(void **state)
{
    struct ebb_work_queue *q = new_queue(8);
    struct ebb_job_record j = job_of("job-2", "apply", "a");
    bool is_running;

    (void)state;
    j.not_before_ms = DAY;
    put(q, j);
    j.id = "job-3", j.table = "b";
    put(q, j);
    j.id = "job-1", j.table = "c";
    put(q, j);
    assert_int_equal(ebb_work_queue_waiting(q), 3);
    assert_string_equal(take(q, 1), "");
    j.id = "job-2", j.table = "a", j.not_before_ms = 0;
    put(q, j);
    assert_int_equal(ebb_work_queue_waiting(q), 3);
    assert_string_equal(take(q, 1), "job-2");
    ebb_work_queue_end(q, "job-2");
    assert_false(ebb_work_queue_has(q, "job-2", &is_running));
    assert_true(ebb_work_queue_has(q, "job-1", &is_running) && ebb_work_queue_has(q, "job-3", &is_running));
    j.id = "job-3", j.table = "d", j.changed_ms = 1, j.json = "{\"a\":1}";
    put(q, j);
    assert_string_equal(take(q, 1), "job-3");
    assert_string_equal(take(q, DAY), "job-1");
    ebb_work_queue_free(q);
}

static void test_expiration_goes_before_orphan_removal(void **state)
{
    struct ebb_work_queue *q = new_queue(8);
    struct ebb_job_record remove = job_of("job-1", "remove-orphan-files", "a"),
                          expire = job_of("job-2", "expire-snapshots", "a");
    struct ebb_buf why;

    (void)state;
    remove.priority = 50;
    put(q, remove);
    put(q, expire);
    put(q, job_of("job-3", "expire-snapshots", "b"));
    ebb_buf_init(&why, 1000);
    ebb_work_queue_why(q, "job-1", 1, &why);
    assert_string_equal(ebb_buf_cstr(&why), "goes before it: job-2 (expire-snapshots)");
    assert_string_equal(take(q, 1), "job-2");
    ebb_buf_reset(&why);
    ebb_work_queue_why(q, "job-1", 1, &why);
    assert_string_equal(ebb_buf_cstr(&why), "on the same table: job-2 (expire-snapshots)");
    ebb_buf_fini(&why);
    assert_string_equal(take(q, 1), "job-3");
    assert_string_equal(take(q, 1), "");
    ebb_work_queue_end(q, "job-2");
    assert_string_equal(take(q, 1), "job-1");
    ebb_work_queue_free(q);
}

/* One that may not start yet stands before nothing; and after a day none does. */
static void test_the_order_holds_for_a_day(void **state)
{
    struct ebb_work_queue *q = new_queue(8);
    struct ebb_job_record remove = job_of("job-1", "remove-orphan-files", "a"),
                          expire = job_of("job-2", "expire-snapshots", "a");

    (void)state;
    expire.not_before_ms = 2 * DAY;
    put(q, expire);
    put(q, remove);
    assert_string_equal(take(q, 1), "job-1");
    put(q, remove);
    expire.not_before_ms = 0;
    expire.queued_ms = DAY - 1;
    put(q, expire);
    put(q, remove);
    assert_string_equal(take(q, DAY - 1), "job-2");
    put(q, expire);
    put(q, remove);
    assert_string_equal(take(q, DAY), "job-1");
    ebb_work_queue_free(q);
}

static void test_slots(void **state)
{
    struct ebb_work_queue *q = new_queue(2);
    struct ebb_buf why;
    bool is_running;

    (void)state;
    put(q, job_of("job-1", "apply", "a"));
    put(q, job_of("job-2", "apply", "b"));
    put(q, job_of("job-3", "apply", "c"));
    assert_string_equal(take(q, 0), "job-1");
    assert_string_equal(take(q, 0), "job-2");
    assert_string_equal(take(q, 0), "");
    assert_int_equal(ebb_work_queue_running(q), 2);
    assert_int_equal(ebb_work_queue_waiting(q), 1);
    assert_true(ebb_work_queue_has(q, "job-1", &is_running) && is_running);
    assert_true(ebb_work_queue_has(q, "job-3", &is_running) && !is_running);
    assert_false(ebb_work_queue_has(q, "job-4", &is_running));
    ebb_buf_init(&why, 1000);
    ebb_work_queue_why(q, "job-3", 0, &why);
    assert_string_equal(ebb_buf_cstr(&why), "all slots are taken (2 of 2)");
    ebb_buf_fini(&why);
    ebb_work_queue_end(q, "job-1");
    ebb_work_queue_end(q, "job-1"); /* it is gone */
    assert_string_equal(take(q, 0), "job-3");
    ebb_work_queue_end(q, "job-2");
    ebb_work_queue_end(q, "job-3");
    assert_int_equal(ebb_work_queue_running(q) + ebb_work_queue_waiting(q), 0);
    ebb_work_queue_free(q);
}

/* A slot that policies share, however many were queued for it; others go past. */
static void test_slots_that_policies_share(void **state)
{
    static const char SLOT[] = "{\"origin\":{\"slot\":\"nights\",\"slot_max\":1}}";
    struct ebb_work_queue *q = new_queue(8);
    struct ebb_job_record j = job_of("job-1", "remove-orphan-files", "a");
    struct ebb_buf why;

    (void)state;
    j.json = SLOT;
    j.policy = "p";
    put(q, j);
    j.id = "job-2", j.table = "b", j.policy = "q";
    put(q, j);
    j.id = "job-3", j.table = "c", j.policy = ""; /* by hand: no slot */
    put(q, j);
    j = job_of("job-4", "restore", "b");
    j.policy = "z";
    put(q, j);
    assert_string_equal(take(q, 0), "job-3");
    assert_string_equal(take(q, 0), "job-1");
    assert_string_equal(take(q, 0), "job-4"); /* job-2 waits for its slot, not for the table */
    ebb_work_queue_end(q, "job-4");
    assert_string_equal(take(q, 0), "");
    ebb_buf_init(&why, 1000);
    ebb_work_queue_why(q, "job-2", 0, &why);
    assert_string_equal(ebb_buf_cstr(&why), "the slot nights is full (1)");
    ebb_buf_fini(&why);
    ebb_work_queue_end(q, "job-1");
    assert_string_equal(take(q, 0), "job-2");
    ebb_work_queue_free(q);
    q = new_queue(8);
    j = job_of("job-1", "remove-orphan-files", "a");
    j.policy = "p";
    j.json = "{\"origin\":{\"slot\":7,\"slot_max\":-1}"; /* no JSON: it fails when it runs */
    put(q, j);
    assert_string_equal(take(q, 0), "job-1");
    ebb_work_queue_free(q);
}

/* Jobs that may go side by side with those that run, but not with one that waits, do not go past it: else a table that
 * is never free would keep it waiting. */
static void test_none_is_passed_for_ever(void **state)
{
    struct ebb_work_queue *q = new_queue(8);
    struct ebb_job_record j = job_of("job-0", "rewrite-manifests", "a");
    char id[32];

    (void)state;
    put(q, j);
    assert_string_equal(take(q, 0), "job-0");
    put(q, job_of("job-1", "remove-orphan-files", "a"));
    for (int i = 2; i < 20; i++) { /* each could start beside job-0 */
        snprintf(id, sizeof id, "job-%d", i);
        j = job_of(id, i % 2 ? "update-stats" : "restore", "a");
        j.queued_ms = i;
        put(q, j);
    }
    assert_string_equal(take(q, 20), "job-3"); /* update-stats excludes nothing but itself */
    assert_string_equal(take(q, 20), "");
    ebb_work_queue_end(q, "job-0");
    assert_string_equal(take(q, 20), "job-1");
    ebb_work_queue_free(q);
    q = new_queue(8);
    put(q, job_of("job-0", "rewrite-manifests", "a"));
    assert_string_equal(take(q, 0), "job-0");
    put(q, job_of("job-1", "rewrite-data-files", "a"));
    j = job_of("job-2", "expire-snapshots", "a"); /* fits job-0, but not job-1, which is older */
    j.queued_ms = 1;
    put(q, j);
    assert_string_equal(take(q, 1), "");
    ebb_work_queue_end(q, "job-0");
    assert_string_equal(take(q, 1), "job-1");
    ebb_work_queue_end(q, "job-1");
    assert_string_equal(take(q, 1), "job-2");
    ebb_work_queue_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_row_of_the_matrix),
        cmocka_unit_test(test_a_kind_that_is_not_known_excludes_what_changes_the_table),
        cmocka_unit_test(test_tables_are_the_same_by_uuid_or_name),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_waiting_raises_the_rank),
        cmocka_unit_test(test_odd_numbers),
        cmocka_unit_test(test_its_time),
        cmocka_unit_test(test_a_clock_that_was_set_back),
        cmocka_unit_test(test_put_again),
        cmocka_unit_test(test_expiration_goes_before_orphan_removal),
        cmocka_unit_test(test_the_order_holds_for_a_day),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_slots_that_policies_share),
        cmocka_unit_test(test_none_is_passed_for_ever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
