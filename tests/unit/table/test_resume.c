/* SPDX-License-Identifier: Apache-2.0
 *
 * Going on with a stopped run: the states that old and new name of a journaled file can have, made by hand.
 */
#include "table_help.h"

/* A run as a crash leaves it: claimed, begun, one file journaled as about to move. */
static void make_stopped(struct table_fixture *f, char run[40])
{
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    atomic_bool cancelled = true;
    struct ebb_move move;
    struct ebb_stat st;
    char id[EBB_STAT_ID_MAX], uri[300];

    put_file(f, "data/a.parquet");
    make_plan(f);
    f->site.cancelled = &cancelled;
    options.verify = EBB_VERIFY_NONE; /* looking at all files would notice the wish to stop before the run begins */
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), ECANCELLED);
    f->site.cancelled = NULL;
    snprintf(run, 40, "%s", r.run);
    ebb_apply_result_fini(&r);
    snprintf(uri, sizeof uri, "%s/data/a.parquet", f->uri);
    assert_ok(f, ebb_storage_stat(f->storage, uri, &st, &f->err));
    ebb_stat_id(&st, id);
    memset(&move, 0, sizeof move);
    move.path = move.target = EBB_STR("data/a.parquet");
    move.id = id;
    move.size_bytes = st.size_bytes;
    move.mtime_ns = st.mtime_ns;
    move.state = EBB_MOVE_PLANNED;
    move.why = "";
    assert_ok(f, ebb_store_put_moves(f->store, run, &move, 1, &f->err));
}

static void move_by_hand(struct table_fixture *f, const char *run, bool as_link)
{
    char command[1024];

    snprintf(command, sizeof command,
             "mkdir -p %s/.ebb-quarantine/%s/data && %s %s/data/a.parquet %s/.ebb-quarantine/%s/data/", f->location,
             run, as_link ? "ln" : "mv", f->location, f->location, run);
    assert_int_equal(system(command), 0);
}

static void test_old_name_only_is_done_again(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    char run[40];

    make_stopped(f, run);
    assert_ok(f, ebb_resume(&f->site, run, &r, &f->err));
    assert_int_equal(r.moved, 1);
    assert_false(has_file(f, "data/a.parquet"));
    ebb_apply_result_fini(&r);
}

static void test_new_name_only_counts_as_moved(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    char run[40];

    make_stopped(f, run);
    move_by_hand(f, run, false);
    assert_ok(f, ebb_resume(&f->site, run, &r, &f->err));
    assert_int_equal(r.moved, 1);
    ebb_apply_result_fini(&r);
}

static void test_new_name_only_and_referenced_goes_back(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    char run[40];

    make_stopped(f, run);
    move_by_hand(f, run, false);
    commit_names(f, "data/a.parquet");
    assert_error(f, ebb_resume(&f->site, run, &r, &f->err), EPARTIAL);
    assert_int_equal(r.returned, 1);
    assert_true(holds(f, "data/a.parquet", "data/a.parquet"));
    ebb_apply_result_fini(&r);
}

static void test_both_names_are_both_kept(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    char run[40], path[512], name[512];

    make_stopped(f, run);
    move_by_hand(f, run, false);
    path_of(f, "data/a.parquet", path);
    write_path(path, "a writer made it again");
    assert_error(f, ebb_resume(&f->site, run, &r, &f->err), EPARTIAL);
    assert_int_equal(r.failed.count, 1);
    assert_true(holds(f, "data/a.parquet", "a writer made it again"));
    assert_true(holds(f, in_quarantine(run, "data/a.parquet", name), "data/a.parquet"));
    ebb_apply_result_fini(&r);
}

static void test_a_half_made_hard_link_is_undone(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    char run[40], name[512];

    make_stopped(f, run);
    move_by_hand(f, run, true);
    ebb_resume(&f->site, run, &r, &f->err);
    assert_true(holds(f, "data/a.parquet", "data/a.parquet"));
    assert_false(has_file(f, in_quarantine(run, "data/a.parquet", name)));
    ebb_apply_result_fini(&r);
}

static void test_neither_name_is_reported(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    char run[40], path[512];

    make_stopped(f, run);
    path_of(f, "data/a.parquet", path);
    assert_int_equal(unlink(path), 0);
    assert_error(f, ebb_resume(&f->site, run, &r, &f->err), EPARTIAL);
    assert_int_equal(r.failed.count, 1);
    ebb_apply_result_fini(&r);
}

static void test_a_resume_without_its_plan_closes_the_run(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    char run[40];

    make_stopped(f, run);
    assert_int_equal(unlink(f->plan_path), 0);
    assert_error(f, ebb_resume(&f->site, run, &r, &f->err), EPARTIAL);
    assert_true(has_status(f, run, "partial"));
    ebb_apply_result_fini(&r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_old_name_only_is_done_again),
        TEST(test_new_name_only_counts_as_moved),
        TEST(test_new_name_only_and_referenced_goes_back),
        TEST(test_both_names_are_both_kept),
        TEST(test_a_half_made_hard_link_is_undone),
        TEST(test_neither_name_is_reported),
        TEST(test_a_resume_without_its_plan_closes_the_run),
    };

    return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
