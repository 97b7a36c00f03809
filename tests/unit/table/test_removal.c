/* SPDX-License-Identifier: Apache-2.0 */
#include "table_help.h"

#include "table/name_priv.h"
#include "table/removal.h"

struct removal_fixture {
    struct table_fixture *t;
    struct ebb_place *place;
    struct ebb_quarantine q;
    char id[EBB_STAT_ID_MAX];
};

static int setup(void **state)
{
    struct removal_fixture *r = calloc(1, sizeof *r);

    assert_non_null(r);
    r->t = make_table();
    assert_ok(r->t, ebb_place_open(r->t->storage, r->t->uri, EBB_PLACE_WRITE, &r->place, &r->t->err));
    assert_ok(r->t, ebb_quarantine_open(r->t->storage, r->place, NULL, "r-1", &r->q, &r->t->err));
    assert_ok(r->t, ebb_place_make_dirs(r->place, ".ebb-quarantine/r-1/data", true, &r->t->err));
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    struct removal_fixture *r = *state;

    ebb_quarantine_close(&r->q);
    ebb_place_close(r->place);
    remove_table(r->t);
    free(r);
    return 0;
}

/* The file as a plan would record it now. */
static struct ebb_removal_file planned(struct removal_fixture *r, const char *name)
{
    struct ebb_removal_file file = {ebb_str_of(name), ebb_str_of(name), r->id, 0, 0};
    struct ebb_stat st;

    assert_ok(r->t, ebb_place_stat(r->place, name, &st, &r->t->err));
    ebb_stat_id(&st, r->id);
    file.size_bytes = st.size_bytes;
    file.mtime_ns = st.mtime_ns;
    return file;
}

static enum ebb_removal take(struct removal_fixture *r, const struct ebb_removal_file *file)
{
    enum ebb_removal outcome = EBB_REMOVAL_STUCK;

    assert_ok(r->t, ebb_removal_take(r->place, &r->q, file, &outcome, &r->t->err));
    return outcome;
}

static enum ebb_removal put_back(struct removal_fixture *r, const struct ebb_removal_file *file)
{
    enum ebb_removal outcome = EBB_REMOVAL_STUCK;

    assert_ok(r->t, ebb_removal_put_back(r->place, &r->q, file, &outcome, &r->t->err));
    return outcome;
}

static void test_take_and_put_back(void **state)
{
    struct removal_fixture *r = *state;
    struct ebb_removal_file file;

    put_file(r->t, "data/a");
    file = planned(r, "data/a");
    assert_int_equal(take(r, &file), EBB_REMOVAL_DONE);
    assert_false(has_file(r->t, "data/a"));
    assert_true(holds(r->t, ".ebb-quarantine/r-1/data/a", "data/a"));
    assert_int_equal(take(r, &file), EBB_REMOVAL_GONE);
    assert_int_equal(put_back(r, &file), EBB_REMOVAL_DONE);
    assert_true(holds(r->t, "data/a", "data/a"));
    assert_int_equal(put_back(r, &file), EBB_REMOVAL_GONE);
}

static void test_another_file_is_not_taken(void **state)
{
    struct removal_fixture *r = *state;
    struct ebb_removal_file file;
    char path[512];

    put_file(r->t, "data/a");
    file = planned(r, "data/a");
    path_of(r->t, "data/a", path);
    assert_int_equal(unlink(path), 0); /* same name, size and time, another inode */
    put_file(r->t, "data/a");
    assert_int_equal(take(r, &file), EBB_REMOVAL_CHANGED);
    assert_true(has_file(r->t, "data/a"));
    file = planned(r, "data/a");
    assert_int_equal(chmod(path, 0600), 0); /* only its change time differs */
    assert_int_equal(take(r, &file), EBB_REMOVAL_CHANGED);
    file = planned(r, "data/a");
    file.size_bytes++;
    assert_int_equal(take(r, &file), EBB_REMOVAL_CHANGED);
    file.size_bytes--;
    file.mtime_ns++;
    assert_int_equal(take(r, &file), EBB_REMOVAL_CHANGED);
    file.mtime_ns--;
    assert_int_equal(take(r, &file), EBB_REMOVAL_DONE);
}

static void test_links_and_folders_are_not_taken(void **state)
{
    struct removal_fixture *r = *state;
    struct ebb_removal_file file;
    char path[512];

    put_file(r->t, "data/real");
    path_of(r->t, "data/link", path);
    assert_int_equal(symlink("real", path), 0);
    file = planned(r, "data/link");
    assert_int_equal(take(r, &file), EBB_REMOVAL_CHANGED);
    put_file(r->t, "data/dir/x");
    file = planned(r, "data/dir");
    assert_int_equal(take(r, &file), EBB_REMOVAL_CHANGED);
    assert_true(has_file(r->t, "data/dir/x"));
}

static void test_nothing_is_overwritten(void **state)
{
    struct removal_fixture *r = *state;
    struct ebb_removal_file file;

    put_file(r->t, "data/a");
    put_file(r->t, ".ebb-quarantine/r-1/data/a");
    file = planned(r, "data/a");
    assert_int_equal(take(r, &file), EBB_REMOVAL_OCCUPIED);
    assert_true(holds(r->t, "data/a", "data/a"));
    assert_true(holds(r->t, ".ebb-quarantine/r-1/data/a", ".ebb-quarantine/r-1/data/a"));
    put_file(r->t, "data/b");
    file = planned(r, "data/b");
    assert_int_equal(take(r, &file), EBB_REMOVAL_DONE);
    put_file(r->t, "data/b");
    assert_int_equal(put_back(r, &file), EBB_REMOVAL_OCCUPIED);
    assert_true(holds(r->t, ".ebb-quarantine/r-1/data/b", "data/b"));
}

static void test_put_back_makes_the_folder(void **state)
{
    struct removal_fixture *r = *state;
    struct ebb_removal_file file;
    char path[512];

    put_file(r->t, "data/p=1/q=2/a");
    file = planned(r, "data/p=1/q=2/a");
    assert_ok(r->t, ebb_place_make_dirs(r->place, ".ebb-quarantine/r-1/data/p=1/q=2", true, &r->t->err));
    assert_int_equal(take(r, &file), EBB_REMOVAL_DONE);
    path_of(r->t, "data/p=1/q=2", path);
    assert_int_equal(rmdir(path), 0);
    path_of(r->t, "data/p=1", path);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(put_back(r, &file), EBB_REMOVAL_DONE);
    assert_true(has_file(r->t, "data/p=1/q=2/a"));
}

static void test_put_back_refuses_another_file(void **state)
{
    struct removal_fixture *r = *state;
    struct ebb_removal_file file;
    char path[512];

    put_file(r->t, "data/a");
    file = planned(r, "data/a");
    assert_int_equal(take(r, &file), EBB_REMOVAL_DONE);
    path_of(r->t, ".ebb-quarantine/r-1/data/a", path);
    write_path(path, "x");
    assert_int_equal(put_back(r, &file), EBB_REMOVAL_CHANGED);
    assert_false(has_file(r->t, "data/a"));
}

static void test_unlink_only_in_quarantine_and_only_the_file(void **state)
{
    struct removal_fixture *r = *state;
    struct ebb_removal_file file;
    enum ebb_removal outcome;
    char path[512];

    put_file(r->t, "data/a");
    file = planned(r, "data/a");
    assert_ok(r->t, ebb_removal_unlink(&r->q, &file, &outcome, &r->t->err));
    assert_int_equal(outcome, EBB_REMOVAL_GONE); /* it looks only below the run folder */
    assert_true(has_file(r->t, "data/a"));
    assert_int_equal(take(r, &file), EBB_REMOVAL_DONE);
    assert_ok(r->t, ebb_removal_unlink(&r->q, &file, &outcome, &r->t->err));
    assert_int_equal(outcome, EBB_REMOVAL_DONE);
    assert_false(has_file(r->t, ".ebb-quarantine/r-1/data/a"));
    put_file(r->t, "data/b");
    file = planned(r, "data/b");
    assert_int_equal(take(r, &file), EBB_REMOVAL_DONE);
    path_of(r->t, ".ebb-quarantine/r-1/data/b", path);
    write_path(path, "x");
    assert_ok(r->t, ebb_removal_unlink(&r->q, &file, &outcome, &r->t->err));
    assert_int_equal(outcome, EBB_REMOVAL_CHANGED);
    assert_true(holds(r->t, ".ebb-quarantine/r-1/data/b", "x"));
}

static void test_unsafe_names_are_refused(void **state)
{
    struct removal_fixture *r = *state;
    static const char *const BAD[] = {"", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "./a", "a/.", ".."};
    struct ebb_removal_file file;
    enum ebb_removal outcome;

    put_file(r->t, "data/a");
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        file = planned(r, "data/a");
        file.name = ebb_str_of(BAD[i]);
        assert_error(r->t, ebb_removal_take(r->place, &r->q, &file, &outcome, &r->t->err), EOUTSIDE);
        file = planned(r, "data/a");
        file.target = ebb_str_of(BAD[i]);
        assert_error(r->t, ebb_removal_take(r->place, &r->q, &file, &outcome, &r->t->err), EOUTSIDE);
        assert_error(r->t, ebb_removal_unlink(&r->q, &file, &outcome, &r->t->err), EOUTSIDE);
        assert_error(r->t, ebb_removal_put_back(r->place, &r->q, &file, &outcome, &r->t->err), EOUTSIDE);
    }
    file.name.p = "data/a\0b";
    file.name.n = 8;
    assert_error(r->t, ebb_removal_take(r->place, &r->q, &file, &outcome, &r->t->err), EOUTSIDE);
    file = planned(r, "data/a");
    file.target = EBB_STR("run.jsonl");
    assert_error(r->t, ebb_removal_take(r->place, &r->q, &file, &outcome, &r->t->err), EOUTSIDE);
    assert_true(has_file(r->t, "data/a"));
}

static void test_prune_removes_only_empty_folders(void **state)
{
    struct removal_fixture *r = *state;

    put_file(r->t, ".ebb-quarantine/r-1/data/p=1/x");
    assert_ok(r->t, ebb_place_make_dirs(r->place, ".ebb-quarantine/r-1/data/p=2/q=3", true, &r->t->err));
    assert_ok(r->t, ebb_removal_prune(&r->q, EBB_STR("data/p=2/q=3/gone"), &r->t->err));
    assert_false(has_file(r->t, ".ebb-quarantine/r-1/data/p=2"));
    assert_ok(r->t, ebb_removal_prune(&r->q, EBB_STR("data/p=1/gone"), &r->t->err));
    assert_true(has_file(r->t, ".ebb-quarantine/r-1/data/p=1/x"));
}

static void test_the_record_goes_with_an_empty_folder(void **state)
{
    struct removal_fixture *r = *state;
    bool is_gone;

    put_file(r->t, ".ebb-quarantine/r-1/run.jsonl");
    put_file(r->t, ".ebb-quarantine/r-1/other");
    assert_ok(r->t, ebb_removal_prune(&r->q, EBB_STR("data/x"), &r->t->err));
    assert_ok(r->t, ebb_removal_remove_record(&r->q, &is_gone, &r->t->err));
    assert_false(is_gone);
    assert_true(has_file(r->t, ".ebb-quarantine/r-1/other"));
}

static void test_look_tells_the_four_states(void **state)
{
    struct removal_fixture *r = *state;
    struct ebb_removal_state s;
    struct ebb_removal_file file;
    char old[512], new[512];

    put_file(r->t, "data/a");
    file = planned(r, "data/a");
    path_of(r->t, "data/a", old);
    path_of(r->t, ".ebb-quarantine/r-1/data/a", new);
    assert_ok(r->t, ebb_removal_look(r->place, &r->q, &file, &s, &r->t->err));
    assert_int_equal(s.presence, EBB_PRESENT_OLD);
    assert_true(s.is_old_planned && s.is_old_same);
    assert_int_equal(rename(old, new), 0);
    assert_ok(r->t, ebb_removal_look(r->place, &r->q, &file, &s, &r->t->err));
    assert_int_equal(s.presence, EBB_PRESENT_NEW);
    assert_true(s.is_new_same);
    put_file(r->t, "data/a");
    assert_ok(r->t, ebb_removal_look(r->place, &r->q, &file, &s, &r->t->err));
    assert_int_equal(s.presence, EBB_PRESENT_BOTH);
    assert_true(s.is_new_same && !s.is_old_same && !s.is_one_file);
    assert_int_equal(unlink(old), 0);
    assert_int_equal(link(new, old), 0);
    assert_ok(r->t, ebb_removal_look(r->place, &r->q, &file, &s, &r->t->err));
    assert_true(s.is_one_file);
    assert_int_equal(unlink(old), 0);
    assert_int_equal(unlink(new), 0);
    assert_ok(r->t, ebb_removal_look(r->place, &r->q, &file, &s, &r->t->err));
    assert_int_equal(s.presence, EBB_PRESENT_NOWHERE);
}

/* ---- names ---- */

static int name_of(const char *location, const char *uri, char out[256])
{
    struct ebb_buf b;
    int rc;

    ebb_buf_init(&b, 256);
    rc = ebb__name_of(location, ebb_str_of(uri), NULL, &b, NULL);
    snprintf(out, 256, "%s", ebb_buf_cstr(&b));
    ebb_buf_fini(&b);
    return rc;
}

static void test_names_are_exact_tails(void **state)
{
    char out[256];

    (void)state;
    assert_int_equal(name_of("s3://lake/t", "s3://lake/t/data/a b%20#?.parquet", out), 0);
    assert_string_equal(out, "data/a b%20#?.parquet");
    assert_int_equal(name_of("s3://lake/t/", "s3a://lake/t/x", out), 0);
    assert_string_equal(out, "x");
    assert_int_equal(name_of("file:/srv//lake//t/", "/srv/lake/t/x", out), 0);
    assert_string_equal(out, "x");
}

static void test_names_outside_are_refused(void **state)
{
    static const char *const BAD[] = {
        "s3://lake/t",
        "s3://lake/t/",
        "s3://lake/t2/x",
        "s3://lake/tx",
        "s3://other/t/x",
        "gs://lake/t/x",
        "s3://lake/t/../u/x",
        "s3://lake/t/a/../../u",
        "s3://lake/t//x",
        "s3://lake/t/a//b",
        "s3://lake/t/./x",
        "/t/x",
        "t/x",
        "s3://lake/x/../t/a/../b",
        "s3://lake/t/.ebb-quarantine/r-1/x",
        "s3://lake/t/.ebb-quarantine",
        "s3://lake/t/.EBB-Quarantine/x",
    };
    char out[256];

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        if (name_of("s3://lake/t", BAD[i], out) != -EBB_EOUTSIDE)
            fail_msg("%s is taken as %s", BAD[i], out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_take_and_put_back),
        TEST(test_another_file_is_not_taken),
        TEST(test_links_and_folders_are_not_taken),
        TEST(test_nothing_is_overwritten),
        TEST(test_put_back_makes_the_folder),
        TEST(test_put_back_refuses_another_file),
        TEST(test_unlink_only_in_quarantine_and_only_the_file),
        TEST(test_unsafe_names_are_refused),
        TEST(test_prune_removes_only_empty_folders),
        TEST(test_the_record_goes_with_an_empty_folder),
        TEST(test_look_tells_the_four_states),
        cmocka_unit_test(test_names_are_exact_tails),
        cmocka_unit_test(test_names_outside_are_refused),
    };

    return cmocka_run_group_tests_name("removal", tests, NULL, NULL);
}
