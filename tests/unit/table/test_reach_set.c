/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "table/reach.h"

#define ROOT "s3://lake/db/t"

static struct ebb_reach_set *make(const struct ebb_prefix_rules *rules, const char *const *names)
{
    struct ebb_reach_set *set = NULL;

    assert_int_equal(ebb_reach_set_new(rules, 42, &set, NULL), 0);
    for (size_t i = 0; names && names[i]; i++)
        assert_int_equal(ebb_reach_set_add(set, ebb_str_of(names[i]), ROOT, NULL), 0);
    return set;
}

static enum ebb_match match(struct ebb_reach_set *set, const char *listed)
{
    enum ebb_match out = EBB_MATCH_NONE;
    struct ebb_location loc;
    struct ebb_err err;

    assert_int_equal(ebb_location_split(listed, strlen(listed), &loc, &err), 0);
    assert_int_equal(ebb_reach_set_match(set, &loc, &out, NULL, &err), 0);
    return out;
}

static void test_same_none_conflict(void **state)
{
    static const char *const NAMES[] = {"s3://lake/db/t/a",      "file:/x/b", "/bare/c", "hdfs:/y/d",
                                        "s3://lake//db//t/./e/", NULL};
    struct ebb_reach_set *set = make(NULL, NAMES);

    (void)state;
    assert_int_equal(match(set, "s3://lake/db/t/a"), EBB_MATCH_SAME);
    assert_int_equal(match(set, "s3a://lake//db/t/x/../a"), EBB_MATCH_SAME);
    assert_int_equal(match(set, "s3://lake/db/t/A"), EBB_MATCH_NONE);
    assert_int_equal(match(set, "s3://lake/db/t/a%20"), EBB_MATCH_NONE);
    assert_int_equal(match(set, "s3://lake2/db/t/a"), EBB_MATCH_CONFLICT);
    assert_int_equal(match(set, "gs://lake/db/t/a"), EBB_MATCH_CONFLICT);
    assert_int_equal(match(set, "/x/b"), EBB_MATCH_SAME);             /* a bare path is a file */
    assert_int_equal(match(set, "hdfs://nn/bare/c"), EBB_MATCH_SAME); /* nothing in valid matches any */
    assert_int_equal(match(set, "hdfs://nn/y/d"), EBB_MATCH_SAME);
    assert_int_equal(match(set, "/y/d"), EBB_MATCH_CONFLICT);
    assert_int_equal(match(set, "s3://lake/db/t/e"), EBB_MATCH_SAME);
    assert_int_equal(ebb_reach_set_count(set), 5);
    ebb_reach_set_free(set);
}

/* Case PX10. */
static void test_an_exact_match_beats_every_conflict(void **state)
{
    static const char *const NAMES[] = {"s3://b1/p/f", "s3://b2/p/f", "s3://b2/p/f", NULL};
    struct ebb_reach_set *set = make(NULL, NAMES);

    (void)state;
    assert_int_equal(match(set, "s3://b1/p/f"), EBB_MATCH_SAME);
    assert_int_equal(match(set, "s3://b2/p/f"), EBB_MATCH_SAME);
    assert_int_equal(match(set, "s3://b3/p/f"), EBB_MATCH_CONFLICT);
    assert_int_equal(ebb_reach_set_count(set), 2);
    ebb_reach_set_free(set);
}

static void test_conflict_is_told(void **state)
{
    static const char *const NAMES[] = {"hdfs:/u/t/f1", "file://localhost/srv/a", NULL};
    struct ebb_reach_set *set = make(NULL, NAMES);
    struct ebb_location loc;
    enum ebb_match out;
    struct ebb_buf told;

    (void)state;
    ebb_buf_init(&told, 4096);
    assert_int_equal(ebb_location_split("myhdfs://ns1/u/t/f1", 19, &loc, NULL), 0);
    assert_int_equal(ebb_reach_set_match(set, &loc, &out, &told, NULL), 0);
    assert_int_equal(out, EBB_MATCH_CONFLICT);
    assert_string_equal(ebb_buf_cstr(&told), "(hdfs, myhdfs)");
    assert_int_equal(ebb_location_split("file:/srv/a", 11, &loc, NULL), 0);
    assert_int_equal(ebb_reach_set_match(set, &loc, &out, &told, NULL), 0);
    assert_string_equal(ebb_buf_cstr(&told), "(localhost, none)");
    ebb_buf_fini(&told);
    ebb_reach_set_free(set);
}

/* Declared equals count even for prefixes that come after others were looked at. */
static void test_rules_and_late_prefixes(void **state)
{
    static const char *const NAMES[] = {"hdfs:/u/f1", NULL};
    struct ebb_prefix_rules *rules = NULL;
    struct ebb_reach_set *set;

    (void)state;
    assert_int_equal(ebb_prefix_rules_new(&rules, NULL), 0);
    assert_int_equal(ebb_prefix_rules_add_schemes(rules, "myhdfs", "hdfs", NULL), 0);
    set = make(rules, NAMES);
    assert_int_equal(match(set, "myhdfs://ns/u/f1"), EBB_MATCH_SAME);
    assert_int_equal(ebb_reach_set_add(set, ebb_str_of("gs://b/u/f2"), ROOT, NULL), 0);
    assert_int_equal(match(set, "myhdfs://ns/u/f2"), EBB_MATCH_CONFLICT);
    assert_int_equal(ebb_reach_set_add(set, ebb_str_of("HDFS://ns/u/f2"), ROOT, NULL), 0);
    assert_int_equal(match(set, "myhdfs://ns/u/f2"), EBB_MATCH_SAME);
    ebb_reach_set_free(set);
    ebb_prefix_rules_free(rules);
}

/* Case PX7. */
static void test_relative_names(void **state)
{
    static const char *const NAMES[] = {"data/gr8/obj1", "./x", "a/../b", "c:/drive", NULL};
    struct ebb_reach_set *set = make(NULL, NAMES);
    struct ebb_err err;

    (void)state;
    assert_int_equal(match(set, "s3a://lake/db/t/data/gr8/obj1"), EBB_MATCH_SAME);
    assert_int_equal(match(set, "s3://lake/db/t/x"), EBB_MATCH_SAME);
    assert_int_equal(match(set, "s3://lake/db/t/b"), EBB_MATCH_SAME);
    assert_int_equal(match(set, "s3://lake/db/t/c:/drive"), EBB_MATCH_NONE);
    assert_int_equal(ebb_reach_set_add(set, ebb_str_of("../../../../x"), ROOT, &err), -EBB_EBAD_LOCATION);
    ebb_reach_set_free(set);
}

static void test_unusable_names(void **state)
{
    static const char *const NAMES[] = {"", "file:/../x", "s3://b/../x", "s3://bucket", "/.."};
    struct ebb_reach_set *set = make(NULL, NULL);
    struct ebb_err err;

    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        assert_int_equal(ebb_reach_set_add(set, ebb_str_of(NAMES[i]), ROOT, &err), -EBB_EBAD_LOCATION);
    assert_int_equal(ebb_reach_set_add(set, (struct ebb_str){"/a\0b", 4}, ROOT, &err), -EBB_EBAD_LOCATION);
    assert_int_equal(ebb_reach_set_count(set), 0);
    assert_int_equal(match(set, "/a"), EBB_MATCH_NONE);
    ebb_reach_set_free(set);
}

static void test_too_many_prefixes(void **state)
{
    struct ebb_reach_set *set = make(NULL, NULL);
    struct ebb_err err;
    char name[64];
    int rc = 0, i;

    (void)state;
    for (i = 0; !rc && i < 300; i++) {
        snprintf(name, sizeof name, "s3://b%d/x", i);
        rc = ebb_reach_set_add(set, ebb_str_of(name), ROOT, &err);
    }
    assert_int_equal(rc, -EBB_ELIMIT);
    assert_int_equal(i, 257);
    assert_int_equal(match(set, "s3://b255/x"), EBB_MATCH_SAME);
    assert_int_equal(match(set, "s3://b256/x"), EBB_MATCH_CONFLICT);
    ebb_reach_set_free(set);
}

static void test_a_long_prefix(void **state)
{
    struct ebb_reach_set *set = make(NULL, NULL);
    struct ebb_err err;
    char name[1024];

    (void)state;
    memset(name, 'x', sizeof name);
    memcpy(name, "s3://", 5);
    memcpy(name + 800, "/f", 3);
    assert_int_equal(ebb_reach_set_add(set, ebb_str_of(name), ROOT, &err), -EBB_ELIMIT);
    assert_int_equal(ebb_reach_set_add(set, ebb_str_of("s3://b/f"), ROOT, NULL), 0);
    assert_int_equal(match(set, name), EBB_MATCH_CONFLICT);
    ebb_reach_set_free(set);
}

static void test_many_names(void **state)
{
    struct ebb_reach_set *set = make(NULL, NULL);
    char name[64];

    (void)state;
    ebb_reach_set_reserve(set, 10);
    for (int i = 0; i < 200000; i++) {
        snprintf(name, sizeof name, "s3://lake/db/t/data/%d.parquet", i % 100000);
        assert_int_equal(ebb_reach_set_add(set, ebb_str_of(name), ROOT, NULL), 0);
    }
    assert_int_equal(ebb_reach_set_count(set), 100000);
    for (int i = 0; i < 100000; i++) {
        snprintf(name, sizeof name, "s3://lake/db/t/data/%d.parquet", i);
        assert_int_equal(match(set, name), EBB_MATCH_SAME);
        snprintf(name, sizeof name, "s3://lake/db/t/data/%d.orc", i);
        assert_int_equal(match(set, name), EBB_MATCH_NONE);
    }
    ebb_reach_set_free(set);
    ebb_reach_set_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_none_conflict), cmocka_unit_test(test_an_exact_match_beats_every_conflict),
        cmocka_unit_test(test_conflict_is_told),   cmocka_unit_test(test_rules_and_late_prefixes),
        cmocka_unit_test(test_relative_names),     cmocka_unit_test(test_unusable_names),
        cmocka_unit_test(test_too_many_prefixes),  cmocka_unit_test(test_a_long_prefix),
        cmocka_unit_test(test_many_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
