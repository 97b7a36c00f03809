/* SPDX-License-Identifier: Apache-2.0 */
#include "table_help.h"

static struct ebb_apply_result apply_all(struct table_fixture *f)
{
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;

    make_plan(f);
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    return r;
}

static int purge(struct table_fixture *f, const char *run, int64_t older_than_ms, bool dropped,
                 struct ebb_purge_result *out)
{
    struct ebb_purge_options options = {older_than_ms, dropped};
    struct ebb_strs runs;
    int rc;

    ebb_strs_init(&runs);
    if (run)
        assert_ok(f, ebb_strs_add(&runs, run, &f->err));
    rc = ebb_purge(&f->site, &runs, &options, out, &f->err);
    ebb_strs_fini(&runs);
    return rc;
}

static void test_purge_removes_an_old_run(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_purge_result p;

    put_file(f, "data/a.parquet");
    put_file(f, "data/p=1/b.parquet");
    put_file(f, "data/live.parquet");
    commit_names(f, "data/live.parquet");
    r = apply_all(f);
    assert_ok(f, purge(f, NULL, 0, false, &p));
    assert_int_equal(p.runs.count, 1);
    assert_string_equal(p.runs.items[0], r.run);
    assert_int_equal(p.deleted, 2);
    assert_int_equal(p.bytes, strlen("data/a.parquet") + strlen("data/p=1/b.parquet"));
    assert_false(has_file(f, ".ebb-quarantine"));
    assert_true(has_file(f, "data/live.parquet"));
    assert_true(has_status(f, r.run, "purged"));
    ebb_purge_result_fini(&p);
    assert_ok(f, purge(f, r.run, 0, false, &p)); /* again: nothing to do */
    assert_int_equal(p.runs.count, 0);
    ebb_purge_result_fini(&p);
    ebb_apply_result_fini(&r);
}

static void test_a_young_run_is_not_purged(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_purge_result p;
    char name[512];

    put_file(f, "data/a.parquet");
    r = apply_all(f);
    assert_ok(f, purge(f, NULL, -1, false, &p)); /* 7 days */
    assert_int_equal(p.runs.count, 0);
    ebb_purge_result_fini(&p);
    assert_error(f, purge(f, r.run, -1, false, &p), ERUN_STATE);
    ebb_purge_result_fini(&p);
    assert_true(has_file(f, in_quarantine(r.run, "data/a.parquet", name)));
    ebb_apply_result_fini(&r);
}

static void test_what_is_reachable_again_comes_back(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_purge_result p;
    char name[512];

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    r = apply_all(f);
    commit_names(f, "data/a.parquet");
    assert_error(f, purge(f, r.run, 0, false, &p), EPARTIAL);
    assert_int_equal(p.restored, 1);
    assert_int_equal(p.deleted, 0);
    assert_int_equal(p.runs.count, 0);
    assert_true(holds(f, "data/a.parquet", "data/a.parquet"));
    assert_true(has_file(f, in_quarantine(r.run, "data/b.parquet", name)));
    ebb_purge_result_fini(&p);
    assert_ok(f, purge(f, r.run, 0, false, &p)); /* now nothing of it is needed */
    assert_int_equal(p.deleted, 1);
    assert_true(has_file(f, "data/a.parquet"));
    ebb_purge_result_fini(&p);
    ebb_apply_result_fini(&r);
}

/* A writer commits after the purge has loaded the table: the clock is next read when its lock is checked. */
static void commit_once(struct table_fixture *f)
{
    if (f->hook_state == 0 && has_file(f, ".ebb-quarantine/lock")) {
        f->hook_state = 1;
        commit_names(f, "data/a.parquet");
    }
}

static void test_a_commit_during_the_purge_is_seen(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_purge_result p;

    put_file(f, "data/a.parquet");
    r = apply_all(f);
    f->hook = commit_once;
    assert_error(f, purge(f, r.run, 0, false, &p), EPARTIAL);
    assert_int_equal(f->hook_state, 1);
    assert_true(holds(f, "data/a.parquet", "data/a.parquet"));
    assert_int_equal(p.deleted, 0);
    ebb_purge_result_fini(&p);
    ebb_apply_result_fini(&r);
}

static void test_only_journaled_files_go(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_purge_result p;
    char name[512], path[512];

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    r = apply_all(f);
    path_of(f, in_quarantine(r.run, "data/foreign", name), path);
    write_path(path, "someone put this here");
    path_of(f, in_quarantine(r.run, "data/b.parquet", name), path);
    write_path(path, "another content");
    assert_error(f, purge(f, r.run, 0, false, &p), EPARTIAL);
    assert_true(has_file(f, in_quarantine(r.run, "data/foreign", name)));
    assert_true(has_file(f, in_quarantine(r.run, "data/b.parquet", name)));
    assert_false(has_file(f, in_quarantine(r.run, "data/a.parquet", name)));
    assert_false(has_status(f, r.run, "purged"));
    ebb_purge_result_fini(&p);
    ebb_apply_result_fini(&r);
}

static void test_another_uuid_needs_dropped(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_purge_result p;
    char name[512];

    put_file(f, "data/a.parquet");
    r = apply_all(f);
    f->version = 0;
    commit_as(f, UUID_B, "");
    assert_error(f, purge(f, r.run, 0, false, &p), EPARTIAL);
    assert_int_equal(p.kept.count, 1);
    assert_true(has_file(f, in_quarantine(r.run, "data/a.parquet", name)));
    ebb_purge_result_fini(&p);
    f->version = 0;
    commit_as(f, UUID_B, "data/a.parquet"); /* even so: what the new table needs comes back */
    assert_error(f, purge(f, r.run, 0, true, &p), EPARTIAL);
    assert_true(has_file(f, "data/a.parquet"));
    ebb_purge_result_fini(&p);
    ebb_apply_result_fini(&r);
}

static void test_a_dropped_table_needs_dropped(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_purge_result p;
    char command[256], name[512];

    put_file(f, "data/a.parquet");
    r = apply_all(f);
    snprintf(command, sizeof command, "rm -rf %s/metadata", f->location);
    assert_int_equal(system(command), 0);
    assert_error(f, purge(f, r.run, 0, false, &p), EPARTIAL);
    assert_true(has_file(f, in_quarantine(r.run, "data/a.parquet", name)));
    ebb_purge_result_fini(&p);
    assert_ok(f, purge(f, r.run, 0, true, &p));
    assert_int_equal(p.deleted, 1);
    ebb_purge_result_fini(&p);
    ebb_apply_result_fini(&r);
}

static void test_unreadable_metadata_is_not_dropped(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_purge_result p;
    char path[512], name[512];

    put_file(f, "data/a.parquet");
    r = apply_all(f);
    path_of(f, "metadata/v1.metadata.json", path);
    write_path(path, "{");
    assert_error(f, purge(f, r.run, 0, true, &p), EPARTIAL);
    assert_true(has_file(f, in_quarantine(r.run, "data/a.parquet", name)));
    ebb_purge_result_fini(&p);
    ebb_apply_result_fini(&r);
}

static void test_a_run_that_did_not_end_is_not_purged(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    struct ebb_purge_result p;
    atomic_bool cancelled = true;

    put_file(f, "data/a.parquet");
    make_plan(f);
    f->site.cancelled = &cancelled;
    options.verify = EBB_VERIFY_NONE; /* looking at all files would notice the wish to stop before the run begins */
    assert_error(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err), ECANCELLED);
    f->site.cancelled = NULL;
    assert_error(f, purge(f, r.run, 0, false, &p), ERUN_STATE);
    ebb_purge_result_fini(&p);
    assert_ok(f, purge(f, NULL, 0, false, &p));
    assert_int_equal(p.runs.count, 0);
    ebb_purge_result_fini(&p);
    ebb_apply_result_fini(&r);
}

static void test_a_purged_run_cant_be_restored(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_purge_result p;
    struct ebb_restore_result back;

    put_file(f, "data/a.parquet");
    r = apply_all(f);
    assert_ok(f, purge(f, r.run, 0, false, &p));
    ebb_purge_result_fini(&p);
    assert_error(f, ebb_restore(&f->site, r.run, NULL, &back, &f->err), ERUN_STATE);
    ebb_restore_result_fini(&back);
    ebb_apply_result_fini(&r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_purge_removes_an_old_run),
        TEST(test_a_young_run_is_not_purged),
        TEST(test_what_is_reachable_again_comes_back),
        TEST(test_a_commit_during_the_purge_is_seen),
        TEST(test_only_journaled_files_go),
        TEST(test_another_uuid_needs_dropped),
        TEST(test_a_dropped_table_needs_dropped),
        TEST(test_unreadable_metadata_is_not_dropped),
        TEST(test_a_run_that_did_not_end_is_not_purged),
        TEST(test_a_purged_run_cant_be_restored),
    };

    return cmocka_run_group_tests_name("purge", tests, NULL, NULL);
}
