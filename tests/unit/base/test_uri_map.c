/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "base/uri_map.h"

static struct ebb_uri_map *map_of(const char *const *pairs)
{
    struct ebb_uri_map *map = NULL;

    assert_int_equal(ebb_uri_map_new(&map, NULL), 0);
    for (; *pairs; pairs++)
        assert_int_equal(ebb_uri_map_add_text(map, *pairs, NULL), 0);
    return map;
}

static void assert_local(const struct ebb_uri_map *map, const char *uri, const char *want)
{
    struct ebb_buf out;
    struct ebb_err err = {0};
    int rc;

    ebb_buf_init(&out, 4096);
    rc = ebb_uri_map_local(map, uri, &out, &err);
    if (rc)
        print_error("%s: %s\n", uri, err.message);
    assert_int_equal(rc, 0);
    assert_string_equal(ebb_buf_cstr(&out), want);
    ebb_buf_fini(&out);
}

static void assert_no_local(const struct ebb_uri_map *map, const char *uri, enum ebb_error want)
{
    struct ebb_buf out;
    struct ebb_err err;

    ebb_buf_init(&out, 4096);
    assert_int_equal(ebb_uri_map_local(map, uri, &out, &err), -(int)want);
    assert_string_equal(ebb_buf_cstr(&out), "");
    ebb_buf_fini(&out);
}

static void assert_uri(const struct ebb_uri_map *map, const char *local, const char *want)
{
    struct ebb_buf out;

    ebb_buf_init(&out, 4096);
    assert_int_equal(ebb_uri_map_uri(map, local, &out, NULL), 0);
    assert_string_equal(ebb_buf_cstr(&out), want);
    ebb_buf_fini(&out);
}

static void files_need_no_entry(void **state)
{
    const char *const none[] = {NULL};
    struct ebb_uri_map *map = map_of(none);

    (void)state;
    assert_local(map, "file:/wh/t", "/wh/t");
    assert_local(map, "file:///wh//t/", "/wh//t/");
    assert_local(map, "/wh/t/a%20b?#;", "/wh/t/a%20b?#;");
    assert_local(map, "file:/wh/./x/../t", "/wh/t");
    assert_local(NULL, "FILE:/wh", "/wh");
    assert_no_local(map, "file://localhost/wh", EBB_ESCHEME);
    assert_no_local(map, "//host/wh", EBB_ESCHEME);
    assert_no_local(map, "s3://lake/wh", EBB_ESCHEME);
    assert_no_local(map, "oss:/wh", EBB_ESCHEME);
    assert_no_local(map, "C:/wh", EBB_ELOCATION);
    assert_no_local(map, "wh/t", EBB_ELOCATION);
    assert_no_local(map, "", EBB_ELOCATION);
    assert_no_local(map, "/../etc", EBB_ELOCATION);
    ebb_uri_map_free(map);
    ebb_uri_map_free(NULL);
}

static void unmapped_scheme_is_named(void **state)
{
    struct ebb_buf out;
    struct ebb_err err;

    (void)state;
    ebb_buf_init(&out, 100);
    ebb_uri_map_local(NULL, "oss://lake/t", &out, &err);
    assert_non_null(strstr(err.message, "'oss'"));
    assert_non_null(strstr(err.hint, "--map"));
    ebb_buf_fini(&out);
}

static void file_prefix_in_all_spellings(void **state)
{
    const char *const pairs[] = {"file:/ebb=/mnt/ebb", NULL};
    struct ebb_uri_map *map = map_of(pairs);

    (void)state;
    assert_local(map, "file:/ebb/x", "/mnt/ebb/x");
    assert_local(map, "file:///ebb/x", "/mnt/ebb/x");
    assert_local(map, "/ebb/x", "/mnt/ebb/x");
    assert_local(map, "file:////ebb///x//y/", "/mnt/ebb///x//y/");
    assert_local(map, "/ebb", "/mnt/ebb");
    assert_local(map, "/ebb2/x", "/ebb2/x");
    assert_local(map, "/", "/");
    assert_local(map, "/ebb/a/../b", "/mnt/ebb/b");
    assert_local(map, "/ebb/../b", "/b");
    assert_true(ebb_uri_map_has(map, "file:///ebb/x"));
    assert_false(ebb_uri_map_has(map, "file:///ebb/../x"));
    assert_false(ebb_uri_map_has(map, "/ebb2"));
    assert_false(ebb_uri_map_has(map, "ebb"));
    ebb_uri_map_free(map);
}

static void objects_are_matched_by_components(void **state)
{
    const char *const pairs[] = {"s3://lake/wh=/data/wh/", "s3://lake/wh/deep/=/deep", "hdfs://nn:8020/=/h", "C:/wh=/c",
                                 NULL};
    struct ebb_uri_map *map = map_of(pairs);

    (void)state;
    assert_local(map, "s3a://lake/wh/t//a b%20", "/data/wh/t//a b%20");
    assert_local(map, "s3://lake/wh/deep/t", "/deep/t");
    assert_local(map, "s3://lake//wh//deep//t", "/deep//t");
    assert_local(map, "s3://lake/wh/deeper/t", "/data/wh/deeper/t");
    assert_local(map, "hdfs://nn:8020/x", "/h/x");
    assert_local(map, "hdfs://nn:8020", "/h");
    assert_local(map, "C:/wh/x", "/c/x");
    assert_no_local(map, "hdfs://nn/x", EBB_ESCHEME);
    assert_no_local(map, "s3://lake/wh/../x", EBB_ESCHEME);
    assert_no_local(map, "s3://lake/wh2", EBB_ESCHEME);
    assert_no_local(map, "s3://lake/../x", EBB_ELOCATION);
    assert_no_local(map, "s3://lakehouse/wh/x", EBB_ESCHEME);
    ebb_uri_map_free(map);
}

static void targets(void **state)
{
    const char *const pairs[] = {"s3://a=file:///srv/a", "s3://b=/", "s3://c/p=1=/srv/c", "s3://a=/srv/other", NULL};
    struct ebb_uri_map *map = map_of(pairs);

    (void)state;
    assert_local(map, "s3://a/x", "/srv/other/x");
    assert_local(map, "s3://b/x", "/x");
    assert_local(map, "s3://b", "/");
    assert_local(map, "s3://c/p=1/x", "/srv/c/x");
    ebb_uri_map_free(map);
}

static void relative_target_is_made_absolute_when_added(void **state)
{
    const char *const pairs[] = {"file:/warehouse=./wh", NULL};
    struct ebb_uri_map *map;
    char cwd[4096], want[8192];

    (void)state;
    assert_int_equal(chdir("/tmp"), 0);
    assert_non_null(getcwd(cwd, sizeof cwd));
    map = map_of(pairs);
    assert_int_equal(chdir("/"), 0);
    snprintf(want, sizeof want, "%s/./wh/db/t", cwd);
    assert_local(map, "file:/warehouse/db/t", want);
    assert_uri(map, want, "file:/warehouse/db/t");
    ebb_uri_map_free(map);
}

static void way_back(void **state)
{
    const char *const pairs[] = {"s3://lake=/srv", "s3://deep/x=/srv/deep", "file:/=/root", NULL};
    struct ebb_uri_map *map = map_of(pairs);

    (void)state;
    assert_uri(map, "/srv/t", "s3://lake/t");
    assert_uri(map, "/srv/deep/t/", "s3://deep/x/t");
    assert_uri(map, "/srv//deeper/./t", "s3://lake/deeper/t");
    assert_uri(map, "/srv", "s3://lake/");
    assert_uri(map, "/srv/deep", "s3://deep/x");
    assert_uri(map, "/root", "file:/");
    assert_uri(map, "/root/x", "file:/x");
    assert_uri(map, "/elsewhere/t", "file:/elsewhere/t");
    assert_uri(NULL, "/", "file:/");
    assert_int_equal(chdir("/"), 0);
    assert_uri(map, "srv/t", "s3://lake/t");
    assert_uri(map, "./elsewhere", "file:/elsewhere");
    ebb_uri_map_free(map);
}

static void bad_entries_are_refused(void **state)
{
    static const char *const BAD[] = {"",
                                      "=",
                                      "s3://a",
                                      "s3://a=",
                                      "=/x",
                                      "rel=/x",
                                      "s3://a=gs://b",
                                      "s3://a=file:x",
                                      "s3://a=file://h/x",
                                      "s3://a/../b=/x",
                                      "s3://a=/../x"};
    struct ebb_uri_map *map = NULL;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_uri_map_new(&map, NULL), 0);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(ebb_uri_map_add_text(map, BAD[i], &err), -EBB_EUSAGE);
        assert_int_equal(err.error, EBB_EUSAGE);
    }
    assert_false(ebb_uri_map_has(map, "s3://a"));
    ebb_uri_map_free(map);
}

static void assert_target(struct ebb_uri_map *map, const char *uri, const char *target, bool is_remote)
{
    struct ebb_buf out;
    bool remote = !is_remote;

    ebb_buf_init(&out, 4096);
    assert_int_equal(ebb_uri_map_target(map, uri, &out, &remote, NULL), 0);
    assert_string_equal(ebb_buf_cstr(&out), target);
    assert_int_equal(remote, is_remote);
    ebb_buf_fini(&out);
}

/* Keys are bytes: slash runs stay. What has no entry is itself, s3a: and s3n: being other names of s3:. */
static void test_object_stores(void **state)
{
    struct ebb_uri_map *map = NULL;

    (void)state;
    assert_int_equal(ebb_uri_map_new(&map, NULL), 0);
    assert_int_equal(ebb_uri_map_add(map, "file:/ebb", "s3://lake/fx/", NULL), 0);
    assert_int_equal(ebb_uri_map_add(map, "s3://here", "/srv/here", NULL), 0);
    assert_target(map, "file:/ebb/t//a b%20+", "s3://lake/fx/t//a b%20+", true);
    assert_target(map, "/ebb", "s3://lake/fx", true);
    assert_target(map, "file:/ebbs/t", "/ebbs/t", false);
    assert_target(map, "s3a://lake//x/y", "s3://lake//x/y", true);
    assert_target(map, "s3n://here/x", "/srv/here/x", false);
    assert_no_local(map, "file:/ebb/t", EBB_ESCHEME);
    assert_int_equal(ebb_uri_map_add(map, "file:/x", "s3://", NULL), -EBB_EUSAGE);
    assert_int_equal(ebb_uri_map_add(map, "file:/x", "gs://lake", NULL), -EBB_EUSAGE);
    ebb_uri_map_free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_object_stores),
        cmocka_unit_test(files_need_no_entry),
        cmocka_unit_test(unmapped_scheme_is_named),
        cmocka_unit_test(file_prefix_in_all_spellings),
        cmocka_unit_test(objects_are_matched_by_components),
        cmocka_unit_test(targets),
        cmocka_unit_test(relative_target_is_made_absolute_when_added),
        cmocka_unit_test(way_back),
        cmocka_unit_test(bad_entries_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
