/* SPDX-License-Identifier: Apache-2.0 */
#include "../tsv.h"

#include "base/location.h"

static const char *const RELATIONS[] = {"same", "inside", "outside", "conflict"};

static void add_equals(struct ebb_prefix_rules *rules, bool schemes, const char **p)
{
    struct tsv_text name, as;

    assert_true(tsv_skip(p, " :{"));
    while (**p == '"') {
        tsv_string_at(p, &name);
        tsv_skip(p, " :");
        tsv_string_at(p, &as);
        tsv_skip(p, ", ");
        if (schemes)
            assert_int_equal(ebb_prefix_rules_add_schemes(rules, name.bytes, as.bytes, NULL), 0);
        else
            assert_int_equal(ebb_prefix_rules_add_authorities(rules, name.bytes, as.bytes, NULL), 0);
    }
    tsv_skip(p, "} ,");
}

static struct ebb_prefix_rules *read_rules(const char *cell)
{
    struct ebb_prefix_rules *rules = NULL;
    struct tsv_text key;

    assert_int_equal(ebb_prefix_rules_new(&rules, NULL), 0);
    assert_int_equal(*cell++, '{');
    while (*cell == '"') {
        tsv_string_at(&cell, &key);
        if (strcmp(key.bytes, "equal_schemes"))
            assert_string_equal(key.bytes, "equal_authorities");
        add_equals(rules, !strcmp(key.bytes, "equal_schemes"), &cell);
    }
    return rules;
}

static void check_relation(char **cells, int line)
{
    struct tsv_text valid, actual;
    struct ebb_prefix_rules *rules = read_rules(cells[2]);
    enum ebb_relation relation = EBB_RELATION_SAME;
    struct ebb_err err;
    const char *got;
    int rc;

    tsv_string(cells[0], &valid);
    tsv_string(cells[1], &actual);
    rc = ebb_location_relation(valid.bytes, actual.bytes, rules, &relation, &err);
    got = rc ? "error" : RELATIONS[relation];
    if (strcmp(got, cells[3]))
        print_error("locations.tsv row %d: %s %s: %s, not %s\n", line, cells[0], cells[1], got, cells[3]);
    assert_string_equal(got, cells[3]);
    if (rc)
        assert_int_equal(rc, -EBB_ELOCATION);
    ebb_prefix_rules_free(rules);
}

static void table_of_relations(void **state)
{
    (void)state;
    assert_int_equal(tsv_each("locations.tsv", 5, check_relation), 60);
}

static void check_normal(char **cells, int line)
{
    struct tsv_text input, want;
    struct ebb_buf out;
    struct ebb_err err;
    int rc;

    tsv_string(cells[0], &input);
    ebb_buf_init(&out, EBB_LOCATION_MAX_BYTES);
    ebb_buf_puts(&out, "<");
    rc = ebb_location_normalise(input.bytes, input.n, &out, &err);
    if (strcmp(cells[1], "error") == 0) {
        assert_int_equal(rc, -EBB_ELOCATION);
        assert_string_equal(ebb_buf_cstr(&out), "<");
    } else {
        tsv_string(cells[1], &want);
        if (rc || strcmp(out.data + 1, want.bytes))
            print_error("normalise.tsv row %d: %s: %s\n", line, cells[0], rc ? err.message : out.data);
        assert_int_equal(rc, 0);
        assert_string_equal(out.data + 1, want.bytes);
    }
    ebb_buf_fini(&out);
}

/* The normal form of a normal form is itself, and relates as "same" to what it came from. */
static void check_stable(char **cells, int line)
{
    struct tsv_text input, normal;
    enum ebb_relation relation = EBB_RELATION_CONFLICT;
    struct ebb_buf out;

    (void)line;
    if (!strcmp(cells[1], "error"))
        return;
    tsv_string(cells[0], &input);
    tsv_string(cells[1], &normal);
    ebb_buf_init(&out, EBB_LOCATION_MAX_BYTES);
    assert_int_equal(ebb_location_normalise(normal.bytes, normal.n, &out, NULL), 0);
    assert_string_equal(ebb_buf_cstr(&out), normal.bytes);
    assert_int_equal(ebb_location_relation(input.bytes, normal.bytes, NULL, &relation, NULL), 0);
    assert_int_equal(relation, EBB_RELATION_SAME);
    ebb_buf_fini(&out);
}

static void table_of_normal_forms(void **state)
{
    (void)state;
    assert_int_equal(tsv_each("normalise.tsv", 3, check_normal), 50);
    tsv_each("normalise.tsv", 3, check_stable);
}

static void check_hidden(char **cells, int line)
{
    static struct tsv_text fields[TSV_LIST_MAX];
    struct ebb_str slices[TSV_LIST_MAX];
    struct ebb_hidden_rule rule = {slices, tsv_list(cells[1], fields)};
    struct tsv_text path;
    struct ebb_str relative;
    const char *got;

    for (size_t i = 0; i < rule.count; i++)
        slices[i] = (struct ebb_str){fields[i].bytes, fields[i].n};
    tsv_string(cells[0], &path);
    relative = (struct ebb_str){path.bytes, path.n};
    got = ebb_location_is_hidden(relative, &rule) ? "hidden" : "visible";
    if (strcmp(got, cells[2]))
        print_error("hidden.tsv row %d: %s %s: %s\n", line, cells[0], cells[1], got);
    assert_string_equal(got, cells[2]);
}

static void table_of_hidden_paths(void **state)
{
    (void)state;
    assert_int_equal(tsv_each("hidden.tsv", 4, check_hidden), 40);
}

static void assert_slice(struct ebb_str s, const char *text)
{
    assert_int_equal(s.n, strlen(text));
    if (s.n)
        assert_memory_equal(s.p, text, s.n);
}

static void assert_split(const char *text, const char *scheme, const char *authority, const char *path)
{
    struct ebb_location l;

    assert_int_equal(ebb_location_split(text, strlen(text), &l, NULL), 0);
    assert_slice(l.scheme, scheme);
    assert_slice(l.authority, authority);
    assert_slice(l.path, path);
}

static void split_into_parts(void **state)
{
    (void)state;
    assert_split("s3://lake/t/data/a#1.parquet", "s3", "lake", "/t/data/a#1.parquet");
    assert_split("s3://lake/t/data/a?x.parquet", "s3", "lake", "/t/data/a?x.parquet");
    assert_split("s3://lake/t/data/a;v.parquet", "s3", "lake", "/t/data/a;v.parquet");
    assert_split("s3://lake", "s3", "lake", "");
    assert_split("file:///a", "file", "", "/a");
    assert_split("file:/a", "file", "", "/a");
    assert_split("file:////a", "file", "", "//a");
    assert_split("blobstore://", "blobstore", "", "//");
    assert_split("hdfs://nn:8020/a:b", "hdfs", "nn:8020", "/a:b");
    assert_split("/a:b", "", "", "/a:b");
    assert_split("a/b:c", "", "", "a/b:c");
    assert_split("C:/x", "", "", "C:/x");
    assert_split("7:/x", "7", "", "/x");
    assert_split("//host/x", "", "host", "/x");
}

static void split_refuses(void **state)
{
    static char big[EBB_LOCATION_MAX_BYTES + 2];
    struct ebb_location l;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_location_split("", 0, &l, &err), -EBB_ELOCATION);
    assert_int_equal(ebb_location_split("s3://b/a\0b", 10, &l, &err), -EBB_ELOCATION);
    memset(big, '/', sizeof big - 1);
    assert_int_equal(ebb_location_split(big, EBB_LOCATION_MAX_BYTES, &l, &err), 0);
    assert_int_equal(ebb_location_split(big, EBB_LOCATION_MAX_BYTES + 1, &l, &err), -EBB_ELOCATION);
}

static void root_spellings_are_one(void **state)
{
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 100);
    assert_int_equal(ebb_location_normalise("s3://lake", 9, &out, NULL), 0);
    assert_string_equal(ebb_buf_cstr(&out), "s3://lake/");
    ebb_buf_reset(&out);
    assert_int_equal(ebb_location_normalise("blobstore://", 12, &out, NULL), 0);
    assert_string_equal(ebb_buf_cstr(&out), "blobstore:/");
    ebb_buf_reset(&out);
    assert_int_equal(ebb_location_normalise("C:/a/../", 8, &out, NULL), 0);
    assert_string_equal(ebb_buf_cstr(&out), "C:/");
    ebb_buf_fini(&out);
}

static void bad_locations_have_no_normal_form(void **state)
{
    static const char *const BAD[] = {"C:", "C:x", "C:/..", "file:", "s3:",         "file:x",
                                      ":",  ":/x", "..",    ".",     "C:/a/../../b"};
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 100);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(ebb_location_normalise(BAD[i], strlen(BAD[i]), &out, NULL), -EBB_ELOCATION);
        assert_string_equal(ebb_buf_cstr(&out), "");
    }
    ebb_buf_fini(&out);
    ebb_buf_init(&out, 4);
    assert_int_equal(ebb_location_normalise("s3://lake/x", 11, &out, NULL), -EBB_ELIMIT);
    ebb_buf_fini(&out);
}

static void normal_paths_are_known(void **state)
{
    static const char *const NORMAL[] = {"/", "/a", "/a/b", "C:/", "C:/x", "/...", "/.a", "/..a/b", "/a./b"};
    static const char *const NOT[] = {"",    "a",    "//",     "/a/",     "/a//b", "/.",
                                      "/..", "/a/.", "/a/./b", "/a/../b", "C:",    "C:x"};

    (void)state;
    for (size_t i = 0; i < sizeof NORMAL / sizeof *NORMAL; i++)
        assert_true(ebb_path_is_normal(ebb_str_of(NORMAL[i])));
    for (size_t i = 0; i < sizeof NOT / sizeof *NOT; i++)
        assert_false(ebb_path_is_normal(ebb_str_of(NOT[i])));
}

static void azure_spellings_are_one_prefix(void **state)
{
    static const char *const SPELLINGS[] = {
        "wasbs://c@acct.blob.core.windows.net/t/data/a.parquet", "abfss://c@acct.dfs.core.windows.net/t/data/a.parquet",
        "abfss://c@acct.blob.core.windows.net/t/data/a.parquet", "abfs://c@acct.dfs.core.windows.net/t/data/a.parquet"};
    static const char *const OTHERS[] = {
        "wasbs://c2@acct.blob.core.windows.net/t/data/a.parquet",
        "abfss://c@acct2.dfs.core.windows.net/t/data/a.parquet", "abfss://c@acct.dfs.core.windows.org/t/data/a.parquet",
        "s3://c@acct.dfs.core.windows.net/t/data/a.parquet", "abfss://c@acct.file.core.windows.net/t/data/a.parquet"};
    enum ebb_relation relation;
    bool inside;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 4; k++) {
            assert_int_equal(ebb_location_relation(SPELLINGS[i], SPELLINGS[k], NULL, &relation, NULL), 0);
            assert_int_equal(relation, EBB_RELATION_SAME);
            assert_int_equal(ebb_location_contains(SPELLINGS[i], SPELLINGS[k], NULL, &inside, NULL), 0);
            assert_true(inside);
        }
        for (size_t k = 0; k < 5; k++) {
            assert_int_equal(ebb_location_relation(SPELLINGS[i], OTHERS[k], NULL, &relation, NULL), 0);
            assert_int_equal(relation, EBB_RELATION_CONFLICT);
        }
    }
}

static void assert_contains(const char *outer, const char *inner, bool want)
{
    bool got = !want;

    assert_int_equal(ebb_location_contains(outer, inner, NULL, &got, NULL), 0);
    assert_int_equal(got, want);
}

static void containment_is_strict(void **state)
{
    bool got = true;

    (void)state;
    assert_contains("s3://lake/db/t", "s3a://lake/db/t/data", true);
    assert_contains("s3://lake/db/t", "s3://lake/db/t/", true);
    assert_contains("s3://lake/db/t", "s3://lake/db/other", false);
    assert_contains("s3://lake/db/t", "s3://lake/db/tt", false);
    assert_contains("s3://lake/db/t", "s3://lake/", false);
    assert_contains("s3://lake/db/t", "file:///etc", false);
    assert_contains("s3://lake/db/t", "s3://lake/db/t/../x", false);
    assert_contains("/wh/t", "file:///wh/t/data", true);
    assert_contains("file:/wh/t", "/wh/t/data", true);
    assert_contains("/wh/t", "hdfs://nn/wh/t/data", false);
    assert_contains("hdfs:/wh/t", "hdfs://nn/wh/t/data", false);
    assert_contains("hdfs://nn/wh/t", "hdfs:/wh/t/data", false);
    assert_contains("file://localhost/wh/t", "/wh/t/data", false);
    assert_int_equal(ebb_location_contains("s3://lake/t", "t/data", NULL, &got, NULL), -EBB_ELOCATION);
    assert_false(got);
}

static void declared_equals_join_classes(void **state)
{
    struct ebb_prefix_rules *rules = NULL;
    struct ebb_err err;
    bool got = false;

    (void)state;
    assert_int_equal(ebb_prefix_rules_new(&rules, NULL), 0);
    assert_int_equal(ebb_prefix_rules_add_schemes(rules, "oss , S3A", "minio", NULL), 0);
    assert_int_equal(ebb_prefix_rules_add_authorities(rules, "nn1,nn2", "ns", NULL), 0);
    assert_int_equal(ebb_prefix_rules_add_authorities(rules, "nn3", "NN2", NULL), 0);
    ebb_location_contains("s3://nn3/a", "oss://nn1/a/b", rules, &got, NULL);
    assert_true(got);
    ebb_location_contains("s3n://ns/a", "minio://nn3/a/b", rules, &got, NULL);
    assert_true(got);
    ebb_location_contains("s3n://ns/a", "gs://nn3/a/b", rules, &got, NULL);
    assert_false(got);
    assert_int_equal(ebb_prefix_rules_add_schemes(rules, "a,,b", "c", &err), -EBB_ECONFIG);
    assert_int_equal(ebb_prefix_rules_add_schemes(rules, " ", "c", &err), -EBB_ECONFIG);
    ebb_prefix_rules_free(rules);
    ebb_prefix_rules_free(NULL);
}

static void bad_table_locations_are_refused(void **state)
{
    static const char *const ROOTS[] = {"/",      "//",          "s3://b", "s3://b/",      "s3://b//",     "file:///",
                                        "file:/", "s3://b/a/..", "C:/",    "blobstore://", "blobstore:///"};
    static const char *const BLANK[] = {"s3://lake/foo/bar ", "s3://lake/foo/bar /", "/wh/t\n",     "/wh/t\t",
                                        "/wh/t\xC2\xA0",      "/wh/t\xE2\x80\x83",   " s3://lake/t"};
    static const char *const GOOD[] = {"s3://lake/foo/bar", "s3://lake/foo /bar", "/wh/t", "file:///wh/t/",
                                       "s3://lake/日本"};

    (void)state;
    for (size_t i = 0; i < sizeof ROOTS / sizeof *ROOTS; i++)
        assert_int_equal(ebb_location_check_table(ROOTS[i], NULL), -EBB_EROOT_LOCATION);
    for (size_t i = 0; i < sizeof BLANK / sizeof *BLANK; i++)
        assert_int_equal(ebb_location_check_table(BLANK[i], NULL), -EBB_EBAD_LOCATION);
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        assert_int_equal(ebb_location_check_table(GOOD[i], NULL), 0);
    assert_int_equal(ebb_location_check_table("", NULL), -EBB_ELOCATION);
    assert_int_equal(ebb_location_check_table("wh/t", NULL), -EBB_ELOCATION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_of_relations),
        cmocka_unit_test(table_of_normal_forms),
        cmocka_unit_test(table_of_hidden_paths),
        cmocka_unit_test(split_into_parts),
        cmocka_unit_test(split_refuses),
        cmocka_unit_test(root_spellings_are_one),
        cmocka_unit_test(bad_locations_have_no_normal_form),
        cmocka_unit_test(normal_paths_are_known),
        cmocka_unit_test(azure_spellings_are_one_prefix),
        cmocka_unit_test(containment_is_strict),
        cmocka_unit_test(declared_equals_join_classes),
        cmocka_unit_test(bad_table_locations_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
