/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "table/spool_priv.h"

static void add(struct ebb_spool *s, const char *path, int64_t mtime_ns)
{
    struct ebb_plan_candidate c = {ebb_str_of(path),    strlen(path),  mtime_ns,
                                   ebb_str_of("1:2:3"), EBB_PLAN_DATA, {NULL, 0}};

    assert_int_equal(ebb__spool_add(s, &c, NULL), 0);
}

struct seen {
    char last[1024];
    size_t count;
    int64_t sum_ns;
};

static int take(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct seen *seen = data;
    char path[1024];

    (void)err;
    assert_true(c->path.n < sizeof path);
    memcpy(path, c->path.p, c->path.n);
    path[c->path.n] = '\0';
    assert_int_equal(c->size_bytes, c->path.n);
    assert_true(ebb_str_is_equal(c->id, ebb_str_of("1:2:3")));
    if (seen->count)
        assert_true(strcmp(seen->last, path) < 0);
    memcpy(seen->last, path, c->path.n + 1);
    seen->count++;
    seen->sum_ns += c->mtime_ns;
    return 0;
}

static void test_order_and_once(void **state)
{
    static const char *const PATHS[] = {"b", "a", "a/b", "a-b", "\xff", "\xc3\xa4", "a b", "a", "Z", "a"};
    struct ebb_spool *s = NULL;
    struct seen seen = {"", 0, 0};

    (void)state;
    assert_int_equal(ebb__spool_new("/tmp", &s, NULL), 0);
    for (size_t i = 0; i < sizeof PATHS / sizeof PATHS[0]; i++)
        add(s, PATHS[i], 1);
    assert_int_equal(ebb__spool_each(s, take, &seen, NULL), 0);
    assert_int_equal(seen.count, 8);
    ebb__spool_free(s);
}

static void test_nothing(void **state)
{
    struct ebb_spool *s = NULL;
    struct seen seen = {"", 0, 0};

    (void)state;
    assert_int_equal(ebb__spool_new("/tmp", &s, NULL), 0);
    assert_int_equal(ebb__spool_each(s, take, &seen, NULL), 0);
    assert_int_equal(seen.count, 0);
    ebb__spool_free(s);
    ebb__spool_free(NULL);
}

static void test_newest_time_counts(void **state)
{
    struct ebb_spool *s = NULL;
    struct seen seen = {"", 0, 0};

    (void)state;
    assert_int_equal(ebb__spool_new("/tmp", &s, NULL), 0);
    add(s, "x", 5);
    add(s, "x", INT64_MAX);
    add(s, "x", 7);
    assert_int_equal(ebb__spool_each(s, take, &seen, NULL), 0);
    assert_int_equal(seen.count, 1);
    assert_true(seen.sum_ns == INT64_MAX);
    ebb__spool_free(s);
}

/* 120,000 long names in a scattered order, each twice with another time: several runs in the file and one in memory. */
static void test_runs_are_merged(void **state)
{
    enum { COUNT = 120000 };
    struct ebb_spool *s = NULL;
    struct seen seen = {"", 0, 0};
    char path[256];

    (void)state;
    assert_int_equal(ebb__spool_new("/tmp", &s, NULL), 0);
    for (int round = 0; round < 2; round++)
        for (int64_t i = 0; i < COUNT; i++) {
            snprintf(path, sizeof path,
                     "file:/warehouse/with/a/long/name/and/many/folders/in/it/data/part=%lld/%0100lld",
                     (long long)(i * 7919 % 97), (long long)(i * 7919 % COUNT));
            add(s, path, round ? 3 : 2);
        }
    assert_int_equal(ebb__spool_each(s, take, &seen, NULL), 0);
    assert_int_equal(seen.count, COUNT);
    assert_int_equal(seen.sum_ns, 3 * (int64_t)COUNT);
    ebb__spool_free(s);
}

static int count_only(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    (void)c;
    (void)err;
    ++*(size_t *)data;
    return 0;
}

static void test_long_names(void **state)
{
    struct ebb_spool *s = NULL;
    struct ebb_err err;
    size_t count = 0;
    char *path = malloc(EBB_PLAN_MAX_LINE_BYTES + 2);

    (void)state;
    assert_non_null(path);
    memset(path, 'x', EBB_PLAN_MAX_LINE_BYTES + 1);
    path[EBB_PLAN_MAX_LINE_BYTES + 1] = '\0';
    assert_int_equal(ebb__spool_new("/tmp", &s, NULL), 0);
    for (int i = 0; i < 60; i++) { /* 15 MiB */
        path[0] = (char)('A' + i);
        struct ebb_plan_candidate c = {{path, EBB_PLAN_MAX_LINE_BYTES - 1}, 1, 1, {NULL, 0}, EBB_PLAN_OTHER, {NULL, 0}};

        assert_int_equal(ebb__spool_add(s, &c, NULL), 0);
    }
    struct ebb_plan_candidate c = {{path, EBB_PLAN_MAX_LINE_BYTES + 1}, 1, 1, {NULL, 0}, EBB_PLAN_OTHER, {NULL, 0}};

    assert_int_equal(ebb__spool_add(s, &c, &err), -EBB_ELIMIT);
    assert_int_equal(ebb__spool_each(s, count_only, &count, NULL), 0);
    assert_int_equal(count, 60);
    ebb__spool_free(s);
    free(path);
}

static int stop(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    (void)data;
    (void)c;
    return ebb_err_set(err, EBB_EIO, "stop");
}

static void test_errors(void **state)
{
    struct ebb_spool *s = NULL;
    struct ebb_err err;
    char path[4000];
    int rc = 0;

    (void)state;
    assert_int_equal(ebb__spool_new("/nowhere/at/all", &s, NULL), 0);
    add(s, "x", 1);
    assert_int_equal(ebb__spool_each(s, stop, NULL, &err), -EBB_EIO);
    ebb__spool_free(s);
    assert_int_equal(ebb__spool_new("/nowhere/at/all", &s, NULL), 0);
    memset(path, 'x', sizeof path);
    for (int i = 0; !rc && i < 3000; i++) { /* no room in memory, and none on disk */
        struct ebb_plan_candidate c = {{path, sizeof path}, 1, 1, {NULL, 0}, EBB_PLAN_OTHER, {NULL, 0}};

        rc = ebb__spool_add(s, &c, &err);
    }
    assert_int_equal(rc, -EBB_ENOENT);
    ebb__spool_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_once),     cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_newest_time_counts), cmocka_unit_test(test_runs_are_merged),
        cmocka_unit_test(test_long_names),         cmocka_unit_test(test_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
