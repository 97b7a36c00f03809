/* SPDX-License-Identifier: Apache-2.0 */
#include "scan_help.h"

#include "table/zone_priv.h"

static struct table_fixture *map(struct table_fixture *f, const char *from, const char *to)
{
    assert_ok(f, ebb_uri_map_add(f->map, from, to, &f->err));
    return f;
}

static enum ebb_zone_relation relate(struct table_fixture *f, const char *zone_uri, const char *place)
{
    struct ebb_zone zone;
    enum ebb_zone_relation relation;

    assert_ok(f, ebb__zone_init(&zone, &f->site, NULL, zone_uri, &f->err));
    relation = ebb__zone_relate(&zone, place);
    ebb__zone_fini(&zone);
    return relation;
}

static void test_by_text(void **state)
{
    static const struct {
        const char *zone, *place;
        enum ebb_zone_relation relation;
    } CASES[] = {
        {"s3://b/wh/t", "s3://b/wh/t", EBB_ZONE_EQUAL},
        {"s3://b/wh/t", "s3a://b//wh/./t/", EBB_ZONE_EQUAL},
        {"s3://b/wh/t", "s3://b/wh/t/x", EBB_ZONE_INSIDE},
        {"s3://b/wh/t", "s3://b/wh", EBB_ZONE_AROUND},
        {"s3://b/wh/t", "s3://b", EBB_ZONE_AROUND},
        {"s3://b/wh/t", "s3://b/wh/t2", EBB_ZONE_APART},
        {"s3://b/wh/t", "s3://b/wh/t/../t2", EBB_ZONE_APART},
        {"s3://b/wh/t", "s3://b2/wh/t", EBB_ZONE_APART},
        {"s3://b/wh/t", "/wh/t", EBB_ZONE_APART},
        {"s3://b/wh/t", "gs://b/wh/t", EBB_ZONE_APART},
        {"s3://b/wh/t", "", EBB_ZONE_APART},
        {"s3://b/wh/t", "data", EBB_ZONE_APART},
        {"s3://b/wh/t", "s3://b/../../x", EBB_ZONE_APART},
        {"hdfs://nn/wh/t", "/wh/t/x", EBB_ZONE_INSIDE},
        {"hdfs://nn/wh/t", "hdfs:/wh/t", EBB_ZONE_EQUAL},
        {"hdfs://nn/wh/t", "hdfs://nn:8020/wh", EBB_ZONE_AROUND},
        {"hdfs://nn/wh/t", "hdfs://other/wh/t", EBB_ZONE_APART},
        {"hdfs://nn/wh/t", "HDFS://NN/wh/t", EBB_ZONE_EQUAL},
        {"/wh/t", "hdfs://nn/wh/t/x", EBB_ZONE_INSIDE},
        {"file:/nowhere/t", "file:///nowhere/t/x", EBB_ZONE_INSIDE},
    };
    struct table_fixture *f = *state;

    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        if (relate(f, CASES[i].zone, CASES[i].place) != CASES[i].relation)
            fail_msg("%s to %s", CASES[i].place, CASES[i].zone);
}

static void test_by_map_and_link(void **state)
{
    struct table_fixture *f = *state;
    char link[128], uri[256];

    map(f, "s3://b/wh", f->top);
    map(f, "hdfs://nn/old", f->top);
    assert_int_equal(relate(f, "s3://b/wh/wh/ns/t", "hdfs://nn/old/wh/ns/t/data"), EBB_ZONE_INSIDE);
    assert_int_equal(relate(f, "s3://b/wh/wh/ns/t", f->uri), EBB_ZONE_EQUAL);
    assert_int_equal(relate(f, "s3://b/wh/wh/ns/t", "hdfs://nn/old/wh/ns/t2"), EBB_ZONE_APART);
    snprintf(link, sizeof link, "%s/link", f->top);
    assert_int_equal(symlink(f->location, link), 0);
    snprintf(uri, sizeof uri, "file:%s/data", link);
    assert_int_equal(relate(f, f->uri, uri), EBB_ZONE_INSIDE);
    snprintf(uri, sizeof uri, "file:%s", link);
    assert_int_equal(relate(f, uri, f->uri), EBB_ZONE_EQUAL);
    snprintf(uri, sizeof uri, "file:%s/not/there/yet", link);
    assert_int_equal(relate(f, f->uri, uri), EBB_ZONE_INSIDE);
}

/* Two names of one place in a bucket, as in a catalog of which the tables were moved to it. */
static void test_by_map_to_a_bucket(void **state)
{
    struct table_fixture *f = *state;

    map(f, "file:/old/wh", "s3://b/wh");
    map(f, "hdfs://nn/wh", "s3://b/wh/");
    assert_int_equal(relate(f, "file:/old/wh/ns/t", "s3://b/wh/ns/t"), EBB_ZONE_EQUAL);
    assert_int_equal(relate(f, "s3://b/wh/ns/t", "file:/old/wh/ns/t/data"), EBB_ZONE_INSIDE);
    assert_int_equal(relate(f, "file:/old/wh/ns/t", "hdfs://nn/wh/ns//t/data"), EBB_ZONE_INSIDE);
    assert_int_equal(relate(f, "file:/old/wh/ns/t", "hdfs://nn/wh/ns"), EBB_ZONE_AROUND);
    assert_int_equal(relate(f, "file:/old/wh/ns/t", "s3://b"), EBB_ZONE_AROUND);
    assert_int_equal(relate(f, "file:/old/wh/ns/t", "s3://b/wh/ns/t2"), EBB_ZONE_APART);
    assert_int_equal(relate(f, "file:/old/wh/ns/t", "s3://b/old/wh/ns/t"), EBB_ZONE_APART);
    assert_int_equal(relate(f, "file:/old/wh/ns/t", "s3://c/wh/ns/t"), EBB_ZONE_APART);
}

/* What does not exist is not its nearest folder. */
static void test_a_zone_that_is_missing(void **state)
{
    struct table_fixture *f = *state;
    char missing[256], data[256];

    snprintf(missing, sizeof missing, "%s/data/nothing", f->uri);
    snprintf(data, sizeof data, "%s/data", f->uri);
    assert_int_equal(relate(f, missing, f->uri), EBB_ZONE_AROUND);
    assert_int_equal(relate(f, missing, data), EBB_ZONE_AROUND);
    snprintf(data, sizeof data, "%s/data/x", f->uri);
    assert_int_equal(relate(f, missing, data), EBB_ZONE_APART);
}

static bool collect(void *data, const char *rel)
{
    char *out = data;

    snprintf(out + strlen(out), 512 - strlen(out), "[%s]", rel);
    return true;
}

static void test_names_below(void **state)
{
    struct table_fixture *f = *state;
    char link[128], uri[256], out[512] = "", real[PATH_MAX], rel[PATH_MAX];
    struct ebb_zone zone;

    snprintf(link, sizeof link, "%s/data/l", f->location);
    assert_int_equal(symlink("../metadata", link), 0);
    assert_ok(f, ebb__zone_init(&zone, &f->site, NULL, f->uri, &f->err));
    snprintf(uri, sizeof uri, "%s/data/l/x", f->uri);
    assert_true(ebb__zone_all_rels(&zone, uri, collect, out));
    assert_string_equal(out, "[data/l/x][data/l/x][metadata/x]");
    assert_false(ebb__zone_all_rels(&zone, "file:/etc", collect, out));
    assert_non_null(realpath(link, real));
    assert_true(ebb__zone_rel(&zone, real, rel));
    assert_string_equal(rel, "metadata");
    assert_true(ebb__zone_rel(&zone, zone.real, rel));
    assert_string_equal(rel, "");
    assert_false(ebb__zone_rel(&zone, f->top, rel));
    snprintf(uri, sizeof uri, "%s2", zone.real);
    assert_false(ebb__zone_rel(&zone, uri, rel));
    ebb__zone_fini(&zone);
}

static void test_names_below_in_a_bucket(void **state)
{
    struct table_fixture *f = *state;
    char out[512] = "";
    struct ebb_zone zone;

    map(f, "file:/old/wh", "s3://b/wh");
    assert_ok(f, ebb__zone_init(&zone, &f->site, NULL, "file:/old/wh/t", &f->err));
    assert_true(ebb__zone_all_rels(&zone, "s3a://b/wh/t/data/x", collect, out));
    assert_string_equal(out, "[data/x]");
    assert_true(ebb__zone_all_rels(&zone, "file:/old/wh/t/data/y", collect, out));
    assert_string_equal(out, "[data/x][data/y][data/y]");
    assert_false(ebb__zone_all_rels(&zone, "s3://b/wh/t2/data/x", collect, out));
    ebb__zone_fini(&zone);
}

/* Of two mounts at one place the list does not tell which covers which: what is inside by its real path stays so. */
static void test_a_wrong_list_of_mounts(void **state)
{
    struct table_fixture *f = *state;
    char text[512], path[256], rel[PATH_MAX];
    struct ebb_zone zone;

    assert_ok(f, ebb__zone_init(&zone, &f->site, NULL, f->uri, &f->err));
    snprintf(text, sizeof text, "1 1 99:1 /elsewhere %s/data rw - x x rw\n", zone.real);
    assert_ok(f, ebb__mounts_parse(&zone.mounts, ebb_str_of(text), &f->err));
    snprintf(path, sizeof path, "%s/data/x", zone.real);
    assert_true(ebb__zone_rel(&zone, path, rel));
    assert_string_equal(rel, "data/x");
    ebb__zone_fini(&zone);
}

static void test_straight(void **state)
{
    struct table_fixture *f = *state;
    char uri[256], path[256];

    snprintf(path, sizeof path, "%s/link", f->top);
    assert_int_equal(symlink("wh", path), 0);
    assert_true(ebb__zone_is_straight(&f->site, f->uri));
    snprintf(uri, sizeof uri, "file:%s/link/ns/t", f->top);
    assert_false(ebb__zone_is_straight(&f->site, uri));
    snprintf(uri, sizeof uri, "file:%s/nowhere/at/all", f->top);
    assert_true(ebb__zone_is_straight(&f->site, uri));
    assert_false(ebb__zone_is_straight(&f->site, "s3://b/x"));
}

static void test_mounts(void **state)
{
    static const char TEXT[] = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
                               "23 22 8:2 / /mnt rw - ext4 /dev/sda2 rw\n"
                               "24 22 8:1 /wh/t/sub /mnt/again rw shared:1 - ext4 /dev/sda1 rw\n"
                               "25 22 8:3 /a\\040b /mnt/with\\040blank rw - ext4 x rw\n"
                               "26 22 8:4 / /mnt rw - ext4 over rw\n"
                               "garbage\n"
                               "27 22 8:5 nothing /x";
    static const struct {
        const char *real, *disk;
    } CASES[] = {
        {"/wh/t", "8:1/wh/t"},
        {"/", "8:1/"},
        {"/mnt/again/x", "8:1/wh/t/sub/x"},
        {"/mnt/again", "8:1/wh/t/sub"},
        {"/mnt/again2", "8:4/again2"},
        {"/mnt", "8:4"},
        {"/mnt/with blank/c", "8:3/a b/c"},
        {"/x", "8:1/x"},
    };
    struct ebb_mounts mounts;
    char out[PATH_MAX];

    (void)state;
    memset(&mounts, 0, sizeof mounts);
    assert_int_equal(ebb__mounts_parse(&mounts, EBB_STR(TEXT), NULL), 0);
    assert_int_equal(mounts.count, 5);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_true(ebb__mounts_disk(&mounts, CASES[i].real, out));
        assert_string_equal(out, CASES[i].disk);
    }
    ebb__mounts_fini(&mounts);
    assert_false(ebb__mounts_disk(&mounts, "/x", out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_by_text, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_by_map_and_link, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_by_map_to_a_bucket, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_names_below_in_a_bucket, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_a_zone_that_is_missing, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_names_below, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_a_wrong_list_of_mounts, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_straight, table_setup, table_teardown),
        cmocka_unit_test(test_mounts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
