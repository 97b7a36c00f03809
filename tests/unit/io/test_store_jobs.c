/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/store_jobs.h"
#include "store_help.h"

#define NOW ((int64_t)1790000000000)

static struct ebb_job_record job(const char *id, const char *occurrence)
{
    struct ebb_job_record j = {.id = id,
                               .kind = "remove-orphan-files",
                               .template_ = "builtin-iceberg-remove-orphan-files",
                               .table = "lake.db.t",
                               .uuid = "u-1",
                               .policy = "weekly",
                               .occurrence = occurrence,
                               .parent = "d-1",
                               .state = EBB_JOB_QUEUED,
                               .priority = 5,
                               .queued_ms = NOW,
                               .not_before_ms = NOW + 1,
                               .deadline_ms = NOW + 2,
                               .owner = "ann",
                               .json = "{\"a\":1}"};

    return j;
}

static bool put(struct fixture *f, const struct ebb_job_record *j)
{
    bool is_new = false;

    assert_int_equal(ebb_store_put_job(f->store, j, &is_new, &f->err), 0);
    return is_new;
}

static int note(void *data, const struct ebb_job_record *j, struct ebb_err *err)
{
    struct ebb_buf *text = data;

    (void)err;
    ebb_buf_printf(text, "%s:%s ", j->id, ebb_job_state_name(j->state));
    return 0;
}

static int note_all(void *data, const struct ebb_job_record *j, struct ebb_err *err)
{
    struct ebb_buf *text = data;

    (void)err;
    ebb_buf_printf(text, "%s|%s|%s|%s|%s|%s|%s|%s|%s|%lld|%lld|%lld|%lld|%lld|%lld|%lld|%lld|%s|%s|%s|%s|%s|%s", j->id,
                   j->kind, j->template_, j->table, j->uuid, j->policy, j->occurrence, j->parent,
                   ebb_job_state_name(j->state), (long long)j->priority, (long long)j->attempt,
                   (long long)(j->queued_ms - NOW), (long long)(j->not_before_ms - NOW), (long long)j->started_ms,
                   (long long)j->changed_ms, (long long)j->ended_ms, (long long)(j->deadline_ms - NOW), j->plan, j->run,
                   j->code, j->message, j->owner, j->json);
    return 0;
}

static void expect_list(struct fixture *f, const struct ebb_job_filter *filter, const char *right)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 4096);
    assert_int_equal(ebb_store_list_jobs(f->store, filter, note, &text, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&text), right);
    ebb_buf_fini(&text);
}

static void expect_job(struct fixture *f, const char *id, const char *right)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 4096);
    assert_int_equal(ebb_store_get_job(f->store, id, note_all, &text, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&text), right);
    ebb_buf_fini(&text);
}

static void test_states_have_names(void **state)
{
    enum ebb_job_state s;

    (void)state;
    for (int i = 0; i <= EBB_JOB_UNKNOWN; i++) {
        assert_true(ebb_job_state_of(ebb_job_state_name((enum ebb_job_state)i), &s));
        assert_int_equal(s, i);
    }
    assert_string_equal(ebb_job_state_name(EBB_JOB_CANCELLING), "cancelling");
    assert_false(ebb_job_state_of("done", &s));
    assert_true(ebb_job_state_is_final(EBB_JOB_SUCCEEDED) && ebb_job_state_is_final(EBB_JOB_FAILED) &&
                ebb_job_state_is_final(EBB_JOB_CANCELLED));
    assert_false(ebb_job_state_is_final(EBB_JOB_QUEUED) || ebb_job_state_is_final(EBB_JOB_STARTED) ||
                 ebb_job_state_is_final(EBB_JOB_CANCELLING) || ebb_job_state_is_final(EBB_JOB_UNKNOWN));
}

static void test_a_job_comes_back_as_it_was(void **state)
{
    struct fixture *f = *state;
    struct ebb_job_record j = job("job-1", "weekly u-1 0 5");

    open_store(f);
    assert_true(put(f, &j));
    expect_job(f, "job-1",
               "job-1|remove-orphan-files|builtin-iceberg-remove-orphan-files|lake.db.t|u-1|weekly|weekly u-1 0 5|d-1|"
               "queued|5|0|0|1|0|0|0|2|||||ann|{\"a\":1}");
    assert_int_equal(ebb_store_get_job(f->store, "job-2", note_all, NULL, &f->err), -EBB_ENOT_FOUND);
}

static void test_an_occurrence_has_one_job(void **state)
{
    struct fixture *f = *state;
    struct ebb_job_record a = job("job-1", "weekly u-1 0 5"), b = job("job-2", "weekly u-1 0 5");
    struct ebb_job_record c = job("job-3", ""), d = job("job-4", "");

    open_store(f);
    assert_true(put(f, &a));
    assert_false(put(f, &b));
    assert_true(put(f, &c));
    assert_true(put(f, &d)); /* none is no occurrence */
    expect_list(f, NULL, "job-1:queued job-3:queued job-4:queued ");
}

static void test_an_id_is_taken_once(void **state)
{
    struct fixture *f = *state;
    struct ebb_job_record a = job("job-1", "one"), b = job("job-1", "two");
    bool is_new = true;

    open_store(f);
    assert_true(put(f, &a));
    assert_int_equal(ebb_store_put_job(f->store, &b, &is_new, &f->err), -EBB_EEXIST);
    assert_false(is_new);
    expect_list(f, NULL, "job-1:queued ");
}

static void test_only_allowed_states_are_left(void **state)
{
    struct fixture *f = *state;
    struct ebb_job_record j = job("job-1", "o");

    open_store(f);
    put(f, &j);
    j.state = EBB_JOB_STARTED;
    j.attempt = 1;
    j.started_ms = 7;
    j.changed_ms = 8;
    j.plan = "p-1";
    j.priority = 99; /* stays */
    assert_int_equal(ebb_store_set_job(f->store, &j, 1u << EBB_JOB_QUEUED, &f->err), 0);
    expect_job(f, "job-1",
               "job-1|remove-orphan-files|builtin-iceberg-remove-orphan-files|lake.db.t|u-1|weekly|o|d-1|"
               "started|5|1|0|1|7|8|0|2|p-1||||ann|{\"a\":1}");
    j.state = EBB_JOB_CANCELLED;
    assert_int_equal(ebb_store_set_job(f->store, &j, 1u << EBB_JOB_QUEUED | 1u << EBB_JOB_UNKNOWN, &f->err),
                     -EBB_ERUN_STATE);
    assert_non_null(strstr(f->err.message, "started"));
    expect_list(f, NULL, "job-1:started ");
    j.id = "job-2";
    assert_int_equal(ebb_store_set_job(f->store, &j, ~0u, &f->err), -EBB_ENOT_FOUND);
}

static void test_ids_ascend_and_are_unique(void **state)
{
    struct fixture *f = *state;
    struct ebb_store *other;
    struct ebb_job_record j = job(NULL, "");
    char last[40] = "", id[40], theirs[40];

    open_store(f);
    assert_int_equal(ebb_store_open(f->dir, &other, &f->err), 0);
    for (int i = 0; i < 300; i++) {
        ebb_store_new_job_id(f->store, NOW + i / 100, id);
        ebb_store_new_job_id(other, NOW + i / 100, theirs);
        assert_int_equal(strlen(id), 4 + 19);
        assert_int_equal(strncmp(id, "job-", 4), 0);
        assert_int_equal(strspn(id + 4, "0123456789"), 19);
        assert_true(strcmp(last, id) < 0);
        assert_string_not_equal(id, theirs);
        memcpy(last, id, sizeof last);
        j.id = id;
        assert_true(put(f, &j));
        j.id = theirs;
        assert_true(put(f, &j));
    }
    ebb_store_new_job_id(other, NOW + 1000, theirs);
    assert_true(strcmp(last, theirs) < 0); /* later in time, whoever gave it */
    ebb_store_close(other);
}

static void test_ids_of_a_clock_that_stands(void **state)
{
    struct fixture *f = *state;
    struct ebb_job_record j = job(NULL, "");
    char id[40];

    for (int round = 0; round < 3; round++) { /* processes one after the other, the clock the same */
        open_store(f);
        for (int i = 0; i < 5; i++) {
            ebb_store_new_job_id(f->store, NOW, id);
            j.id = id;
            assert_true(put(f, &j));
        }
        ebb_store_close(f->store);
        f->store = NULL;
    }
    open_store(f);
    for (int i = 0; i < 20000; i++) /* more than fit into one millisecond */
        ebb_store_new_job_id(f->store, NOW, id);
    j.id = id;
    assert_true(put(f, &j));
    ebb_store_new_job_id(f->store, INT64_MIN, id);
    ebb_store_new_job_id(f->store, INT64_MAX, id);
    assert_int_equal(strlen(id), 23);
}

static void put_many(struct fixture *f)
{
    struct ebb_job_record j = job("job-1", "a");

    put(f, &j);
    j = job("job-2", "b");
    j.table = "lake.db.x[1]";
    j.uuid = "u-2";
    j.state = EBB_JOB_STARTED;
    put(f, &j);
    j = job("job-3", "c");
    j.policy = "daily";
    j.kind = "shell";
    j.template_ = "mine";
    j.queued_ms = NOW + 100;
    j.state = EBB_JOB_FAILED;
    j.ended_ms = NOW + 200;
    j.run = "r-1";
    put(f, &j);
}

static void test_lists_are_filtered(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    put_many(f);
    expect_list(f, &(struct ebb_job_filter){.table = "lake.*"}, "job-1:queued job-2:started job-3:failed ");
    expect_list(f, &(struct ebb_job_filter){.table = "*.x[1]"}, "job-2:started ");
    expect_list(f, &(struct ebb_job_filter){.uuid = "u-1"}, "job-1:queued job-3:failed ");
    expect_list(f, &(struct ebb_job_filter){.policy = "daily"}, "job-3:failed ");
    expect_list(f, &(struct ebb_job_filter){.kind = "shell"}, "job-3:failed ");
    expect_list(f, &(struct ebb_job_filter){.template_ = "mine"}, "job-3:failed ");
    expect_list(f, &(struct ebb_job_filter){.run = "r-1"}, "job-3:failed ");
    expect_list(f, &(struct ebb_job_filter){.run = ""}, "");
    expect_list(f, &(struct ebb_job_filter){.since_ms = NOW + 1}, "job-3:failed ");
    expect_list(f, &(struct ebb_job_filter){.states = 1u << EBB_JOB_QUEUED | 1u << EBB_JOB_STARTED},
                "job-1:queued job-2:started ");
    expect_list(f, &(struct ebb_job_filter){.limit = 2}, "job-1:queued job-2:started ");
    expect_list(f, &(struct ebb_job_filter){.after = "job-1", .limit = 1}, "job-2:started ");
    expect_list(f, &(struct ebb_job_filter){.newest_first = true}, "job-3:failed job-2:started job-1:queued ");
    expect_list(f, &(struct ebb_job_filter){.newest_first = true, .after = "job-3"}, "job-2:started job-1:queued ");
}

static void test_jobs_are_counted_and_dropped(void **state)
{
    struct fixture *f = *state;
    int64_t counts[EBB_JOB_UNKNOWN + 1], dropped = -1;

    open_store(f);
    put_many(f);
    assert_int_equal(ebb_store_count_jobs(f->store, NULL, counts, &f->err), 0);
    assert_int_equal(counts[EBB_JOB_QUEUED], 1);
    assert_int_equal(counts[EBB_JOB_STARTED], 1);
    assert_int_equal(counts[EBB_JOB_FAILED], 1);
    assert_int_equal(counts[EBB_JOB_SUCCEEDED], 0);
    assert_int_equal(ebb_store_count_jobs(f->store, "mine", counts, &f->err), 0);
    assert_int_equal(counts[EBB_JOB_FAILED], 1);
    assert_int_equal(counts[EBB_JOB_QUEUED], 0);
    assert_int_equal(ebb_store_drop_jobs(f->store, "other", INT64_MAX, &dropped, &f->err), 0);
    assert_int_equal(dropped, 0);
    assert_int_equal(ebb_store_drop_jobs(f->store, NULL, NOW + 200, &dropped, &f->err), 0);
    assert_int_equal(dropped, 0); /* ended at that very instant */
    assert_int_equal(ebb_store_drop_jobs(f->store, NULL, INT64_MAX, &dropped, &f->err), 0);
    assert_int_equal(dropped, 1); /* only what is final */
    expect_list(f, NULL, "job-1:queued job-2:started ");
}

static void test_jobs_that_were_asked_for_are_counted(void **state)
{
    struct fixture *f = *state;
    struct ebb_job_record j = {.id = "job-1", .kind = "apply", .json = "{\"a\":1}"};
    int64_t count = -1, bytes = -1;

    open_store(f);
    assert_int_equal(ebb_store_count_asked_jobs(f->store, &count, &bytes, &f->err), 0);
    assert_int_equal(count, 0);
    assert_int_equal(bytes, 0);
    put(f, &j);
    j.id = "job-2";
    j.occurrence = "api 0a 7";
    put(f, &j);
    j.id = "job-3";
    j.occurrence = "weekly u-1 time 5";
    put(f, &j);
    j.id = "job-4";
    j.occurrence = "";
    j.state = EBB_JOB_CANCELLED;
    put(f, &j);
    assert_int_equal(ebb_store_count_asked_jobs(f->store, &count, &bytes, &f->err), 0);
    assert_int_equal(count, 2);
    assert_int_equal(bytes, 14);
}

struct growing {
    struct fixture *f;
    int count;
};

static int put_another(void *data, const struct ebb_job_record *j, struct ebb_err *err)
{
    struct growing *g = data;
    struct ebb_job_record next = job("job-999", "");

    (void)j;
    if (g->count++ == 0)
        return ebb_store_put_job(g->f->store, &next, NULL, err);
    return 0;
}

static void test_many_are_listed_while_more_are_put(void **state)
{
    struct fixture *f = *state;
    struct growing g = {f, 0};
    char id[40];

    open_store(f);
    for (int i = 0; i < 200; i++) { /* several pages */
        snprintf(id, sizeof id, "job-%03d", i);
        struct ebb_job_record j = job(id, "");
        put(f, &j);
    }
    assert_int_equal(ebb_store_list_jobs(f->store, NULL, put_another, &g, &f->err), 0);
    assert_int_equal(g.count, 201);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_have_names),
        cmocka_unit_test_setup_teardown(test_a_job_comes_back_as_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_occurrence_has_one_job, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_id_is_taken_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_allowed_states_are_left, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ids_ascend_and_are_unique, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ids_of_a_clock_that_stands, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lists_are_filtered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_jobs_are_counted_and_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_jobs_that_were_asked_for_are_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_are_listed_while_more_are_put, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
