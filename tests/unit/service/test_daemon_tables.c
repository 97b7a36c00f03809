/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/location.h"
#include "service/daemon_priv.h"

struct want {
    const char *label, *location;
    int64_t overlaps;
};

static struct ebb__view *make_view(const struct want *wants, size_t count, bool is_unknown)
{
    struct ebb__view *v = calloc(1, sizeof *v);

    assert_non_null(v);
    atomic_init(&v->refs, 1);
    ebb_arena_init(&v->arena, (size_t)1 << 20);
    v->entries = calloc(count + 1, sizeof *v->entries);
    assert_non_null(v->entries);
    v->count = count;
    v->is_unknown = is_unknown;
    for (size_t i = 0; i < count; i++) {
        v->entries[i].label = wants[i].label;
        v->entries[i].location = wants[i].location;
        v->entries[i].metadata_uri = wants[i].location;
        v->entries[i].catalog = v->entries[i].namespace_ = v->entries[i].name = "c";
    }
    assert_int_equal(ebb__view_overlaps(v, NULL), 0);
    return v;
}

/* ---- overlaps ---- */

static const struct want PLACES[] = {
    {"a", "file:/wh/a", 2},                              /* b and c below it */
    {"b", "file:/wh/a/b", 1},                            /* in a */
    {"c", "file:///wh/a/c/", 1},                         /* the same, spelled in another way */
    {"d", "file:/wh/ab", 0},                             /* a prefix as text, not as a folder */
    {"e", "s3://bucket/x", 1},                           /* f: s3a is the same store */
    {"f", "s3a://bucket/x/y", 1},                        /* in e */
    {"g", "s3://other/x", 0},                            /* another bucket */
    {"h", "s3://bucket/x-1", 0},                         /* '-' sorts before '/' */
    {"i", NULL, 0},                                      /* not known */
    {"j", "abfss://c@acc.dfs.core.windows.net/t", 1},    /* k */
    {"k", "wasbs://c@acc.blob.core.windows.net/t/u", 1}, /* the same container */
    {"l", "hdfs://nn:8020/t", 0},                        /* another port is another place */
    {"m", "hdfs://nn:9000/t", 0},
    {"n", "file:/same", 2}, /* three of one place */
    {"o", "file:/same", 2},
    {"p", "file:/same/.", 2},
};

static void test_overlaps(void **state)
{
    struct ebb__view *v = make_view(PLACES, sizeof PLACES / sizeof *PLACES, false);

    (void)state;
    for (size_t i = 0; i < v->count; i++)
        if (v->entries[i].overlaps != PLACES[i].overlaps)
            fail_msg("%s: %d overlaps, not %d", PLACES[i].label, (int)v->entries[i].overlaps, (int)PLACES[i].overlaps);
    ebb__view_unref(v);
}

static void test_overlaps_unknown(void **state)
{
    struct ebb__view *v = make_view(PLACES, sizeof PLACES / sizeof *PLACES, true);

    (void)state;
    for (size_t i = 0; i < v->count; i++)
        assert_int_equal(v->entries[i].overlaps, PLACES[i].overlaps ? PLACES[i].overlaps : -1);
    ebb__view_unref(v);
}

/* The same as comparing each with each. */
static void test_overlaps_by_chance(void **state)
{
    enum { COUNT = 200 };
    static const char *const PARTS[] = {"/a", "/b", "/a-", "/a.b"};
    static const char *const HEADS[] = {"file:", "s3://x", "s3a://x", "hdfs://nn"};
    static char labels[COUNT][8], places[COUNT][128];
    struct want wants[COUNT];
    struct ebb__view *v;

    (void)state;
    srand(7);
    for (int i = 0; i < COUNT; i++) {
        int depth = 1 + rand() % 5, at = snprintf(places[i], sizeof places[i], "%s", HEADS[rand() % 4]);

        while (depth--)
            at += snprintf(places[i] + at, sizeof places[i] - (size_t)at, "%s", PARTS[rand() % 4]);
        snprintf(labels[i], sizeof labels[i], "t%03d", i);
        wants[i] = (struct want){labels[i], places[i], 0};
    }
    v = make_view(wants, COUNT, false);
    for (size_t i = 0; i < COUNT; i++) {
        int64_t count = 0;

        for (size_t k = 0; k < COUNT; k++) {
            bool inside = false, around = false;

            ebb_location_contains(places[i], places[k], NULL, &inside, NULL);
            ebb_location_contains(places[k], places[i], NULL, &around, NULL);
            count += k != i && (inside || around);
        }
        if (count < 64)
            assert_int_equal(v->entries[i].overlaps, count);
        else
            assert_true(v->entries[i].overlaps > 0);
    }
    ebb__view_unref(v);
}

/* ---- tables ---- */

static const struct want FIRST[] = {{"a", "file:/a", 0}, {"b", "file:/b", 0}, {"c", "file:/c", 0}, {"d", "file:/d", 0}};
static const struct want SECOND[] = {
    {"a", "file:/a", 0}, {"bb", "file:/bb", 0}, {"c", "file:/cc", 0}, {"d", "file:/d", 0}};

static void merge(struct ebb__tables *t, const struct ebb__view *v, size_t fresh, size_t gone)
{
    size_t new_count = 99, gone_count = 99;

    assert_int_equal(ebb__tables_merge(t, v, 5, &new_count, &gone_count, NULL), 0);
    assert_int_equal(new_count, fresh);
    assert_int_equal(gone_count, gone);
    assert_int_equal(t->count, v->count);
}

static struct ebb__table *take(struct ebb__tables *t, const char *label)
{
    struct ebb__table *table = ebb__tables_take(t);

    assert_non_null(table);
    assert_string_equal(table->entry->label, label);
    assert_true(table->is_looking);
    return table;
}

static void test_merge(void **state)
{
    struct ebb__view *first = make_view(FIRST, 4, false), *second = make_view(SECOND, 4, false);
    struct ebb__tables t;
    struct ebb__table *b, *c;

    (void)state;
    memset(&t, 0, sizeof t);
    merge(&t, first, 4, 0);
    assert_int_equal(t.waiting, 4);
    ebb__tables_looked(&t, take(&t, "a"), 100);
    b = take(&t, "b");
    c = take(&t, "c");
    ebb__tables_queue(&t, c); /* while it is looked at: once more afterwards */
    ebb__tables_queue(&t, c);
    merge(&t, second, 1, 1); /* b is gone, bb is new, c changed, d still waits */
    assert_null(ebb__tables_find(&t, "b"));
    assert_true(b->is_gone);
    assert_int_equal(t.waiting, 2);
    ebb__tables_looked(&t, b, 1); /* frees it */
    ebb__tables_looked(&t, c, 50);
    assert_int_equal(t.waiting, 3);
    ebb__tables_looked(&t, take(&t, "d"), INT64_MAX);
    ebb__tables_looked(&t, take(&t, "bb"), INT64_MAX);
    assert_ptr_equal(take(&t, "c"), c);
    assert_string_equal(c->entry->location, "file:/cc");
    ebb__tables_looked(&t, c, 50);
    assert_null(ebb__tables_take(&t));
    assert_ptr_equal(ebb__tables_next(&t), c);
    assert_int_equal(t.heap_count, 2);
    merge(&t, first, 1, 1);
    ebb__tables_fini(&t);
    ebb__view_unref(first);
    ebb__view_unref(second);
}

static void test_due(void **state)
{
    struct ebb__view *v = make_view(FIRST, 4, false);
    struct ebb__tables t;

    (void)state;
    memset(&t, 0, sizeof t);
    merge(&t, v, 4, 0);
    for (int64_t i = 0; i < 4; i++)
        ebb__tables_looked(&t, ebb__tables_take(&t), 40 - 10 * i);
    assert_string_equal(ebb__tables_next(&t)->entry->label, "d");
    ebb__tables_due(&t, 9);
    assert_null(ebb__tables_take(&t));
    ebb__tables_due(&t, 20);
    ebb__tables_looked(&t, take(&t, "d"), INT64_MAX);
    ebb__tables_looked(&t, take(&t, "c"), 15);
    assert_null(ebb__tables_take(&t));
    assert_int_equal(t.heap_count, 3);
    ebb__tables_due(&t, INT64_MAX - 1);
    take(&t, "c");
    take(&t, "b");
    take(&t, "a");
    assert_null(ebb__tables_next(&t));
    ebb__tables_fini(&t);
    ebb__view_unref(v);
}

static void test_heap_by_chance(void **state)
{
    enum { COUNT = 300 };
    static char labels[COUNT][8];
    struct want wants[COUNT];
    struct ebb__tables t;
    struct ebb__view *v;
    int64_t last = -1;

    (void)state;
    memset(&t, 0, sizeof t);
    for (int i = 0; i < COUNT; i++) {
        snprintf(labels[i], sizeof labels[i], "t%03d", i);
        wants[i] = (struct want){labels[i], NULL, 0};
    }
    v = make_view(wants, COUNT, false);
    merge(&t, v, COUNT, 0);
    srand(3);
    while (t.first)
        ebb__tables_looked(&t, ebb__tables_take(&t), rand() % 1000);
    for (int i = 0; i < 2000; i++)
        ebb__tables_wake(&t, t.items[rand() % COUNT], rand() % 3 ? rand() % 1000 : INT64_MAX);
    while (ebb__tables_next(&t)) {
        const struct ebb__table *next = ebb__tables_next(&t);

        assert_true(next->wake_ms >= last);
        last = next->wake_ms;
        ebb__tables_due(&t, last);
    }
    ebb__tables_fini(&t);
    ebb__view_unref(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_overlaps_unknown),
        cmocka_unit_test(test_overlaps_by_chance),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_due),
        cmocka_unit_test(test_heap_by_chance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
