/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/file.h"
#include "place_help.h"

static const char *at(struct place_fixture *f, const char *name)
{
    static char path[200];

    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return path;
}

static void expect_content(struct place_fixture *f, const char *name, const char *text)
{
    struct ebb_buf b;

    ebb_buf_init(&b, 1000);
    assert_int_equal(ebb_file_read(at(f, name), &b, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&b), text);
    ebb_buf_fini(&b);
}

static void test_read(void **state)
{
    struct place_fixture *f = *state;
    struct ebb_buf b;

    ebb_buf_init(&b, 3);
    fixture_file(f, "three", "123");
    fixture_file(f, "four", "1234");
    assert_int_equal(mkfifoat(f->dir, "fifo", 0600), 0);
    assert_int_equal(ebb_file_read(at(f, "three"), &b, &f->err), 0);
    assert_string_equal(ebb_buf_cstr(&b), "123");
    assert_int_equal(ebb_file_read(at(f, "four"), &b, &f->err), -EBB_ELIMIT);
    assert_int_equal(ebb_file_read(at(f, "none"), &b, &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_file_read(at(f, "fifo"), &b, &f->err), -EBB_EIO);
    assert_non_null(strstr(f->err.message, "not a regular file"));
    assert_int_equal(ebb_file_read(f->path, &b, &f->err), -EBB_EIO);
    ebb_buf_fini(&b);
}

static void test_replace(void **state)
{
    struct place_fixture *f = *state;
    struct stat st;

    assert_int_equal(ebb_file_replace(at(f, "new"), "one", 3, &f->err), 0);
    expect_content(f, "new", "one");
    assert_int_equal(ebb_file_replace(at(f, "new"), "", 0, &f->err), 0);
    expect_content(f, "new", "");
    assert_int_equal(stat(at(f, "new"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(ebb_file_replace(at(f, "none/new"), "one", 3, &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_file_replace(at(f, "new/"), "one", 3, &f->err), -EBB_EIO);
    fixture_run(f, "test \"$(ls -A)\" = new");
}

static void test_make_dirs(void **state)
{
    struct place_fixture *f = *state;
    struct stat st;

    assert_int_equal(ebb_file_make_dirs(at(f, "a/b//c/"), &f->err), 0);
    assert_int_equal(ebb_file_make_dirs(at(f, "a/b/c"), &f->err), 0);
    assert_int_equal(stat(at(f, "a/b/c"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    fixture_file(f, "file", "");
    assert_int_equal(ebb_file_make_dirs(at(f, "file"), &f->err), -EBB_EIO);
    assert_int_equal(ebb_file_make_dirs(at(f, "file/x"), &f->err), -EBB_EIO);
    assert_int_equal(ebb_file_make_dirs("", &f->err), -EBB_ENOENT);
}

static void test_append(void **state)
{
    struct place_fixture *f = *state;

    assert_int_equal(ebb_file_append(at(f, "log"), "a\n", 2, &f->err), 0);
    assert_int_equal(ebb_file_append(at(f, "log"), "b\n", 2, &f->err), 0);
    expect_content(f, "log", "a\nb\n");
    assert_int_equal(ebb_file_append(at(f, "none/log"), "b\n", 2, &f->err), -EBB_ENOENT);
    assert_int_equal(ebb_file_append(f->path, "b\n", 2, &f->err), -EBB_EIO);
    fixture_link(f, "link", "log");
    assert_int_equal(ebb_file_append(at(f, "link"), "c\n", 2, &f->err), -EBB_EIO);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {T(test_read), T(test_replace), T(test_make_dirs), T(test_append)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
