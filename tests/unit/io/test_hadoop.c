/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "warehouse_help.h"

#define META "db/t/metadata/"
#define HINT META "version-hint.text"

static void put_versions(struct warehouse *w, int from, int to)
{
    char name[64];

    for (int i = from; i <= to; i++) {
        snprintf(name, sizeof name, META "v%d.metadata.json", i);
        put_file(w, name, "{}");
    }
}

static void expect(struct warehouse *w, const char *file, int64_t version, int64_t hint, size_t lagging)
{
    struct ebb_hadoop_version v;
    char uri[128];

    assert_int_equal(ebb_hadoop_resolve(w->storage, "file:/w/db/t", &v, &w->err), 0);
    snprintf(uri, sizeof uri, "file:/w/db/t/metadata/%s", file);
    assert_string_equal(v.metadata_uri, uri);
    assert_int_equal(v.version, version);
    assert_int_equal(v.hint_version, hint);
    assert_int_equal(v.lagging.count, lagging);
    ebb_hadoop_version_fini(&v);
}

static void expect_error(struct warehouse *w, int error)
{
    struct ebb_hadoop_version v;

    assert_int_equal(ebb_hadoop_resolve(w->storage, "file:/w/db/t", &v, &w->err), -error);
    assert_null(v.metadata_uri);
}

static void test_hint_names_the_version(void **state)
{
    struct warehouse *w = *state;

    put_versions(w, 1, 7);
    put_file(w, HINT, "7");
    expect(w, "v7.metadata.json", 7, 7, 0);
}

/* Case RO2: white space around the number is tolerated; only the first line counts. */
static void test_spellings_of_the_hint(void **state)
{
    static const char *const SEVEN[] = {"7\n", "7\r\n", " 7",     " 7 \n", "\t7",
                                        "+7",  "007",   "7\n9\n", "7\r9",  "7 \r\n\r\n"};
    struct warehouse *w = *state;

    put_versions(w, 1, 7);
    for (size_t i = 0; i < sizeof SEVEN / sizeof SEVEN[0]; i++) {
        put_file(w, HINT, SEVEN[i]);
        expect(w, "v7.metadata.json", 7, 7, 0);
    }
}

/* Case RO2: garbage and an empty hint lead to the highest version of a complete listing, never to v1. */
static void test_garbage_leads_to_the_listing(void **state)
{
    static const char *const GARBAGE[] = {"",
                                          "abc",
                                          "7x",
                                          "x7",
                                          "7 8",
                                          "0x7",
                                          "\n7",
                                          "\xEF\xBB\xBF"
                                          "7",
                                          "1.5",
                                          "- 1",
                                          "-",
                                          "+",
                                          "++7",
                                          "v7",
                                          "7\x80"};
    struct warehouse *w = *state;
    char big[6000];

    put_versions(w, 1, 12);
    for (size_t i = 0; i < sizeof GARBAGE / sizeof GARBAGE[0]; i++) {
        put_file(w, HINT, GARBAGE[i]);
        expect(w, "v12.metadata.json", 12, -1, 0);
    }
    memset(big, '0', sizeof big - 2);
    big[sizeof big - 2] = '7';
    big[sizeof big - 1] = '\0';
    put_file(w, HINT, big); /* longer than is read */
    expect(w, "v12.metadata.json", 12, -1, 0);
}

static void test_no_hint_leads_to_the_listing(void **state)
{
    struct warehouse *w = *state;

    put_versions(w, 2, 3);
    put_versions(w, 9, 10); /* the greatest, whatever gaps there are */
    expect(w, "v10.metadata.json", 10, -1, 0);
}

/* Case RO1: the hint may lag; the versions from it on are told. */
static void test_lagging_hint_is_probed_upward(void **state)
{
    struct warehouse *w = *state;
    struct ebb_hadoop_version v;

    put_versions(w, 1, 7);
    put_file(w, HINT, "4");
    expect(w, "v7.metadata.json", 7, 4, 3);
    assert_int_equal(ebb_hadoop_resolve(w->storage, "file:/w/db/t/", &v, &w->err), 0);
    assert_string_equal(v.lagging.items[0], "file:/w/db/t/metadata/v4.metadata.json");
    assert_string_equal(v.lagging.items[2], "file:/w/db/t/metadata/v6.metadata.json");
    ebb_hadoop_version_fini(&v);
}

static void test_beyond_a_gap_is_not_looked_at(void **state)
{
    struct warehouse *w = *state;

    put_versions(w, 1, 7);
    put_versions(w, 9, 9);
    put_file(w, HINT, "6");
    expect(w, "v7.metadata.json", 7, 6, 1);
}

/* A number is believed even if it is wrong. */
static void test_wrong_hint_is_refused(void **state)
{
    static const char *const WRONG[] = {"99",
                                        "-3",
                                        "0",
                                        "-0",
                                        "8",
                                        "4294967303",
                                        "99999999999",
                                        "9223372036854775807",
                                        "18446744073709551623",
                                        "-99999999999999999999",
                                        "340282366920938463463374607431768211463"};
    struct warehouse *w = *state;

    put_versions(w, 1, 7);
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        put_file(w, HINT, WRONG[i]);
        expect_error(w, EBB_EHINT);
        assert_string_not_equal(w->err.hint, "");
    }
    put_file(w, HINT, "99");
    expect_error(w, EBB_EHINT);
    assert_non_null(strstr(w->err.message, "99"));
    put_file(w, HINT, "3");
    remove_file(w, META "v3.metadata.json"); /* v4 is there, v3 is not */
    expect_error(w, EBB_EHINT);
}

static void test_gzip_spellings(void **state)
{
    struct warehouse *w = *state;

    put_file(w, META "v1.metadata.json", "{}");
    put_file(w, META "v2.gz.metadata.json", "{}");
    put_file(w, META "v3.metadata.json.gz", "{}");
    put_file(w, HINT, "1");
    expect(w, "v3.metadata.json.gz", 3, 1, 2);
    put_file(w, META "v3.gz.metadata.json", "{}");
    expect(w, "v3.gz.metadata.json", 3, 1, 2);
    put_file(w, META "v3.metadata.json", "{}");
    expect(w, "v3.metadata.json", 3, 1, 2);
}

static void test_other_names_are_no_versions(void **state)
{
    static const char *const NAMES[] = {"v8.metadata.json.tmp", "V8.metadata.json",
                                        "v08.metadata.json",    "v8.foo.metadata.json",
                                        "v+8.metadata.json",    ".v8.metadata.json",
                                        "v8metadata.json",      "v8.metadata.json.crc",
                                        "v.metadata.json",      "v99999999999999999999.metadata.json",
                                        UUID_A ".metadata.json"};
    struct warehouse *w = *state;
    char path[128];

    put_versions(w, 1, 7);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        snprintf(path, sizeof path, META "%s", NAMES[i]);
        put_file(w, path, "{}");
    }
    put_file(w, META "deeper/v8.metadata.json", "{}");
    put_file(w, HINT, "7");
    expect(w, "v7.metadata.json", 7, 7, 0);
    remove_file(w, HINT);
    expect(w, "v7.metadata.json", 7, -1, 0);
}

static void test_no_table(void **state)
{
    struct warehouse *w = *state;

    expect_error(w, EBB_ETABLE_NOT_FOUND);
    put_file(w, "db/t/data/f", "x");
    expect_error(w, EBB_ETABLE_NOT_FOUND);
    put_file(w, META "snap-1.avro", "x");
    expect_error(w, EBB_ETABLE_NOT_FOUND);
    put_file(w, HINT, "abc");
    expect_error(w, EBB_ETABLE_NOT_FOUND);
    put_file(w, HINT, "1");
    expect_error(w, EBB_EHINT);
}

/* A version behind a link is one: to overlook it would make an older one current. */
static void test_linked_version_counts(void **state)
{
    struct warehouse *w = *state;
    char path[128];

    put_versions(w, 1, 2);
    put_file(w, HINT, "2");
    snprintf(path, sizeof path, "%s/" META "v3.metadata.json", w->root);
    assert_int_equal(symlink("nowhere", path), 0);
    expect(w, "v3.metadata.json", 3, 2, 1);
}

static void test_unreadable_hint_is_an_error(void **state)
{
    struct warehouse *w = *state;

    put_versions(w, 1, 2);
    put_file(w, HINT "/file", "x"); /* a folder in its place */
    expect_error(w, EBB_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_hint_names_the_version, warehouse_setup, warehouse_teardown),
        cmocka_unit_test_setup_teardown(test_spellings_of_the_hint, warehouse_setup, warehouse_teardown),
        cmocka_unit_test_setup_teardown(test_garbage_leads_to_the_listing, warehouse_setup, warehouse_teardown),
        cmocka_unit_test_setup_teardown(test_no_hint_leads_to_the_listing, warehouse_setup, warehouse_teardown),
        cmocka_unit_test_setup_teardown(test_lagging_hint_is_probed_upward, warehouse_setup, warehouse_teardown),
        cmocka_unit_test_setup_teardown(test_beyond_a_gap_is_not_looked_at, warehouse_setup, warehouse_teardown),
        cmocka_unit_test_setup_teardown(test_wrong_hint_is_refused, warehouse_setup, warehouse_teardown),
        cmocka_unit_test_setup_teardown(test_gzip_spellings, warehouse_setup, warehouse_teardown),
        cmocka_unit_test_setup_teardown(test_other_names_are_no_versions, warehouse_setup, warehouse_teardown),
        cmocka_unit_test_setup_teardown(test_no_table, warehouse_setup, warehouse_teardown),
        cmocka_unit_test_setup_teardown(test_linked_version_counts, warehouse_setup, warehouse_teardown),
        cmocka_unit_test_setup_teardown(test_unreadable_hint_is_an_error, warehouse_setup, warehouse_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
