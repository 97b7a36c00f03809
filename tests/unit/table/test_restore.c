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

static void assert_same_time(struct table_fixture *f, const char *name, struct timespec want)
{
    char path[512];
    struct stat st;

    path_of(f, name, path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mtim.tv_sec, want.tv_sec);
    assert_int_equal(st.st_mtim.tv_nsec, want.tv_nsec);
}

static struct timespec time_of(struct table_fixture *f, const char *name)
{
    char path[512];
    struct stat st;

    path_of(f, name, path);
    assert_int_equal(stat(path, &st), 0);
    return st.st_mtim;
}

static void test_restore_brings_everything_back(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_restore_result back;
    struct timespec was;
    char path[512];

    put_file(f, "data/a.parquet");
    put_file(f, "data/p=1/b.parquet");
    was = time_of(f, "data/p=1/b.parquet");
    r = apply_all(f);
    path_of(f, "data/p=1", path);
    assert_int_equal(rmdir(path), 0); /* the folder may be gone by now */
    assert_ok(f, ebb_restore(&f->site, r.run, NULL, &back, &f->err));
    assert_int_equal(back.restored, 2);
    assert_string_equal(back.run, r.run);
    assert_true(holds(f, "data/a.parquet", "data/a.parquet"));
    assert_true(holds(f, "data/p=1/b.parquet", "data/p=1/b.parquet"));
    assert_same_time(f, "data/p=1/b.parquet", was);
    assert_false(has_file(f, ".ebb-quarantine"));
    assert_true(has_status(f, r.run, "restored"));
    ebb_restore_result_fini(&back);
    assert_ok(f, ebb_restore(&f->site, r.run, NULL, &back, &f->err)); /* again: nothing to do */
    assert_int_equal(back.restored, 0);
    assert_int_equal(back.already_there, 2);
    ebb_restore_result_fini(&back);
    ebb_apply_result_fini(&r);
}

static void test_restore_never_overwrites(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_restore_result back;
    char path[512], name[512];

    put_file(f, "data/a.parquet");
    put_file(f, "data/b.parquet");
    r = apply_all(f);
    path_of(f, "data/a.parquet", path);
    write_path(path, "new");
    assert_error(f, ebb_restore(&f->site, r.run, NULL, &back, &f->err), EPARTIAL);
    assert_int_equal(back.restored, 1);
    assert_int_equal(back.conflicts.count, 1);
    assert_true(holds(f, "data/a.parquet", "new"));
    assert_true(holds(f, in_quarantine(r.run, "data/a.parquet", name), "data/a.parquet"));
    assert_false(has_status(f, r.run, "restored"));
    ebb_restore_result_fini(&back);
    ebb_apply_result_fini(&r);
}

static void test_restore_of_chosen_paths(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_restore_result back;
    struct ebb_strs paths;
    char uri[512];

    put_file(f, "data/a.parquet");
    put_file(f, "data/ab.parquet");
    put_file(f, "data/p=1/x.parquet");
    put_file(f, "data/p=1/y.parquet");
    put_file(f, "data/p=11/z.parquet");
    r = apply_all(f);
    snprintf(uri, sizeof uri, "%s/data/a.parquet", f->uri);
    ebb_strs_init(&paths);
    assert_ok(f, ebb_strs_add(&paths, uri, &f->err));
    assert_ok(f, ebb_strs_add(&paths, "data/p=1/", &f->err));
    assert_ok(f, ebb_restore(&f->site, r.run, &paths, &back, &f->err));
    assert_int_equal(back.restored, 3);
    assert_true(has_file(f, "data/a.parquet"));
    assert_false(has_file(f, "data/ab.parquet"));
    assert_true(has_file(f, "data/p=1/y.parquet"));
    assert_false(has_file(f, "data/p=11/z.parquet"));
    assert_true(has_status(f, r.run, "done"));
    ebb_restore_result_fini(&back);
    ebb_strs_fini(&paths);
    assert_ok(f, ebb_strs_add(&paths, "data/nothing.parquet", &f->err));
    assert_error(f, ebb_restore(&f->site, r.run, &paths, &back, &f->err), EPARTIAL);
    assert_int_equal(back.failed.count, 1);
    ebb_restore_result_fini(&back);
    ebb_strs_fini(&paths);
    assert_ok(f, ebb_strs_add(&paths, "../../etc/passwd", &f->err));
    assert_error(f, ebb_restore(&f->site, r.run, &paths, &back, &f->err), EOUTSIDE);
    ebb_restore_result_fini(&back);
    ebb_strs_fini(&paths);
    ebb_apply_result_fini(&r);
}

static void test_restore_leaves_a_changed_file_in_quarantine(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_restore_result back;
    char name[512], path[512];

    put_file(f, "data/a.parquet");
    r = apply_all(f);
    path_of(f, in_quarantine(r.run, "data/a.parquet", name), path);
    write_path(path, "tampered");
    assert_error(f, ebb_restore(&f->site, r.run, NULL, &back, &f->err), EPARTIAL);
    assert_int_equal(back.failed.count, 1);
    assert_false(has_file(f, "data/a.parquet"));
    ebb_restore_result_fini(&back);
    ebb_apply_result_fini(&r);
}

static void test_restore_of_an_unknown_run(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_restore_result back;

    assert_error(f, ebb_restore(&f->site, "r-00000000000000000000000000", NULL, &back, &f->err), ENOT_FOUND);
    ebb_restore_result_fini(&back);
}

static void test_restore_needs_no_readable_table(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_restore_result back;
    char command[256];

    put_file(f, "data/a.parquet");
    r = apply_all(f);
    snprintf(command, sizeof command, "rm -rf %s/metadata", f->location);
    assert_int_equal(system(command), 0);
    assert_ok(f, ebb_restore(&f->site, r.run, NULL, &back, &f->err));
    assert_true(has_file(f, "data/a.parquet"));
    ebb_restore_result_fini(&back);
    ebb_apply_result_fini(&r);
}

/* ---- from the folder alone ---- */

/* The state folder is lost: no store, no audit log. */
static void lose_state(struct table_fixture *f)
{
    f->site.store = NULL;
    f->site.audit = NULL;
}

static int restore_from(struct table_fixture *f, const char *run, struct ebb_restore_result *back)
{
    char uri[512];

    snprintf(uri, sizeof uri, "%s/.ebb-quarantine/%s", f->uri, run);
    return ebb_restore_from(&f->site, uri, NULL, back, &f->err);
}

static void test_restore_without_the_state_folder(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_restore_result back;

    put_file(f, "data/a.parquet");
    put_file(f, "data/odd \xff\"name\n.parquet");
    r = apply_all(f);
    assert_false(has_file(f, "data/a.parquet"));
    lose_state(f);
    assert_ok(f, restore_from(f, r.run, &back));
    assert_int_equal(back.restored, 2);
    assert_string_equal(back.run, r.run);
    assert_true(holds(f, "data/a.parquet", "data/a.parquet"));
    assert_true(has_file(f, "data/odd \xff\"name\n.parquet"));
    assert_false(has_file(f, ".ebb-quarantine"));
    ebb_restore_result_fini(&back);
    ebb_apply_result_fini(&r);
}

static void test_restore_from_a_torn_record(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_restore_result back;
    char command[700], name[512];

    put_file(f, "data/a.parquet");
    r = apply_all(f);
    snprintf(command, sizeof command, "printf '{\"seq\":7,\"path\":\"fi' >> %s/%s", f->location,
             in_quarantine(r.run, "run.jsonl", name));
    assert_int_equal(system(command), 0);
    lose_state(f);
    assert_ok(f, restore_from(f, r.run, &back));
    assert_true(has_file(f, "data/a.parquet"));
    ebb_restore_result_fini(&back);
    ebb_apply_result_fini(&r);
}

/* Change the record with a sed script. */
static void forge(struct table_fixture *f, const char *run, const char *script)
{
    char command[2048], name[512];

    snprintf(command, sizeof command, "sed -i -E '%s' %s/%s", script, f->location,
             in_quarantine(run, "run.jsonl", name));
    assert_int_equal(system(command), 0);
}

static void test_a_forged_record_is_refused(void **state)
{
    struct table_fixture *f = *state;
    static const char *const SCRIPTS[] = {
        "s#(\"path\":\"file:[^\"]*)/ns/t/data/a.parquet#\\1/ns/victim#",
        "s#(\"path\":\"file:[^\"]*)/data/a.parquet#\\1/../x#",
        "s#\"target\":\"[^\"]*\"#\"target\":\"../../../data/live.parquet\"#",
        "s#\"target\":\"[^\"]*\"#\"target\":\"/etc/passwd\"#",
        "s#\"target\":\"[^\"]*\"#\"target\":\"\"#",
        "s#(\"path\":\"file:[^\"]*)/data/a.parquet#\\1/.ebb-quarantine/lock#",
        "2s#.*#not json#",
        "1s#\"ebb_run\":1#\"ebb_run\":2#",
        "1s#\"run\":\"r-[^\"]*\"#\"run\":\"../r\"#",
        "1s#\"run\":\"r-[^\"]*\"#\"run\":\"r-other\"#",
        "2s#\"id\":\"[^\"]*\"#\"id\":\"\"#",
        "2s#\"size\":[0-9]+#\"size\":-1#",
    };
    char original[600], command[1400], name[512];
    struct ebb_apply_result r;
    struct ebb_restore_result back;

    put_file(f, "data/a.parquet");
    put_file(f, "data/live.parquet");
    commit_names(f, "data/live.parquet");
    r = apply_all(f);
    lose_state(f);
    snprintf(original, sizeof original, "%s/%s", f->location, in_quarantine(r.run, "run.jsonl", name));
    snprintf(command, sizeof command, "cp %s %s/saved", original, f->top);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof SCRIPTS / sizeof SCRIPTS[0]; i++) {
        snprintf(command, sizeof command, "cp %s/saved %s", f->top, original);
        assert_int_equal(system(command), 0);
        forge(f, r.run, SCRIPTS[i]);
        if (restore_from(f, r.run, &back) == 0)
            fail_msg("forged record %zu was taken", i);
        assert_int_equal(back.restored, 0);
        assert_true(has_file(f, in_quarantine(r.run, "data/a.parquet", name)));
        assert_true(holds(f, "data/live.parquet", "data/live.parquet"));
        ebb_restore_result_fini(&back);
    }
    snprintf(command, sizeof command, "cp %s/saved %s", f->top, original);
    assert_int_equal(system(command), 0);
    assert_ok(f, restore_from(f, r.run, &back));
    ebb_restore_result_fini(&back);
    ebb_apply_result_fini(&r);
}

static void test_a_record_that_names_another_table_is_refused(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_restore_result back;
    char other[160], command[600], script[800];

    put_file(f, "data/a.parquet");
    r = apply_all(f);
    lose_state(f);
    snprintf(other, sizeof other, "%s/wh/ns/other", f->top);
    snprintf(command, sizeof command, "mkdir -p %s/data", other);
    assert_int_equal(system(command), 0);
    snprintf(script, sizeof script, "s#%s([/\"])#file:%s\\1#g", f->uri, other);
    forge(f, r.run, script);
    assert_int_not_equal(restore_from(f, r.run, &back), 0);
    assert_int_equal(back.restored, 0);
    ebb_restore_result_fini(&back);
    ebb_apply_result_fini(&r);
}

static void test_restore_from_a_folder_elsewhere(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_options options = apply_options();
    struct ebb_apply_result r;
    struct ebb_restore_result back;
    char folder[128], uri[256];

    put_file(f, "data/a.parquet");
    make_plan(f);
    snprintf(folder, sizeof folder, "%s/shelf", f->top);
    assert_int_equal(mkdir(folder, 0700), 0);
    options.quarantine = folder;
    assert_ok(f, ebb_apply(&f->site, f->plan, &options, &r, &f->err));
    lose_state(f);
    snprintf(uri, sizeof uri, "%s/%s", folder, r.run);
    f->version = 0;
    commit_as(f, UUID_B, ""); /* another table has the place now */
    assert_error(f, ebb_restore_from(&f->site, uri, NULL, &back, &f->err), EPLAN_TABLE);
    ebb_restore_result_fini(&back);
    f->version = 0;
    commit_names(f, "");
    assert_ok(f, ebb_restore_from(&f->site, uri, NULL, &back, &f->err));
    assert_true(has_file(f, "data/a.parquet"));
    ebb_restore_result_fini(&back);
    ebb_apply_result_fini(&r);
}

static void test_restore_from_a_known_run_uses_its_journal(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_apply_result r;
    struct ebb_restore_result back;

    put_file(f, "data/a.parquet");
    r = apply_all(f);
    assert_ok(f, restore_from(f, r.run, &back));
    assert_int_equal(back.restored, 1);
    assert_true(has_status(f, r.run, "restored"));
    ebb_restore_result_fini(&back);
    ebb_apply_result_fini(&r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_restore_brings_everything_back),   TEST(test_restore_never_overwrites),
        TEST(test_restore_of_chosen_paths),          TEST(test_restore_leaves_a_changed_file_in_quarantine),
        TEST(test_restore_of_an_unknown_run),        TEST(test_restore_needs_no_readable_table),
        TEST(test_restore_without_the_state_folder), TEST(test_restore_from_a_torn_record),
        TEST(test_a_forged_record_is_refused),       TEST(test_a_record_that_names_another_table_is_refused),
        TEST(test_restore_from_a_folder_elsewhere),  TEST(test_restore_from_a_known_run_uses_its_journal),
    };

    return cmocka_run_group_tests_name("restore", tests, NULL, NULL);
}
