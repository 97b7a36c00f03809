/* SPDX-License-Identifier: Apache-2.0 */
#include "scan_help.h"

#include <inttypes.h>

/* Rows of an inventory: names below the location unless they have a scheme, with an age in days; -1: no time. */
struct row {
    const char *name;
    int age_days;
};

static void list(struct table_fixture *f, struct scan *s, char path[256], const struct row *rows, size_t count)
{
    int64_t now = ebb_clock_system().now_ms(NULL);
    FILE *file;

    snprintf(path, 256, "%s/list.tsv", f->top);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "path\tsize\tmtime\n");
    for (size_t i = 0; i < count; i++) {
        bool whole = strchr(rows[i].name, ':') != NULL;

        fprintf(file, "%s%s%s\t1\t", whole ? "" : f->uri, whole ? "" : "/", rows[i].name);
        if (rows[i].age_days >= 0)
            fprintf(file, "%" PRId64, now - (int64_t)rows[i].age_days * 24 * HOUR_MS);
        fputc('\n', file);
    }
    assert_int_equal(fclose(file), 0);
    s->options.listing = path;
}

#define LIST(f, s, path, rows) list(f, s, path, rows, sizeof(rows) / sizeof(rows)[0])

static void test_rows(void **state)
{
    static const struct row ROWS[] = {
        {"data/live.parquet", 10}, {"data/b.parquet", 10},
        {"data/a.parquet", 10},    {"data//c.parquet", 10},
        {"data/young.parquet", 1}, {"data/unknown.parquet", -1},
        {"_tmp/x.parquet", 10},    {"data/marker/", 10},
        {"data/p_$folder$", 10},   {"data/x/../live.parquet", 10},
        {"../t2/d.parquet", 10},   {"s3://b/t/e.parquet", 10},
        {"notes.txt", 10},         {"metadata/v1.metadata.json", 10},
    };
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char path[256];

    commit_names(f, "data/live.parquet");
    LIST(f, s, path, ROWS);
    assert_candidates(f, s, "data//c.parquet data/a.parquet data/b.parquet");
    assert_int_equal(s->result.summary.listed, 12);
    assert_int_equal(s->result.summary.too_young, 1);
    assert_int_equal(s->result.summary.hidden, 1);
    scan_free(s);
}

static void test_rows_that_repeat(void **state)
{
    static const struct row ROWS[] = {{"data/a.parquet", 10}, {"data/a.parquet", 1},  {"data/b.parquet", 1},
                                      {"data/b.parquet", 10}, {"data/c.parquet", 10}, {"data/c.parquet", -1},
                                      {"data/d.parquet", -1}, {"data/d.parquet", 10}, {"data/e.parquet", 10},
                                      {"data/e.parquet", 20}};
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char path[256];

    LIST(f, s, path, ROWS);
    assert_candidates(f, s, "data/e.parquet");
    scan_free(s);
}

static void test_rows_of_another_prefix(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char path[256], stranger[256];
    struct row rows[2] = {{stranger, 10}, {"data/stray.parquet", 10}};

    commit_names(f, "data/live.parquet");
    snprintf(stranger, sizeof stranger, "gs://b%s/data/other.parquet", f->location);
    LIST(f, s, path, rows);
    assert_candidates(f, s, "data/stray.parquet");
    snprintf(stranger, sizeof stranger, "gs://b%s/data/live.parquet", f->location);
    LIST(f, s, path, rows);
    assert_error(f, scan_run(f, s, NULL), EPREFIX_CONFLICT);
    assert_non_null(strstr(f->err.message, "(file, gs)"));
    s->options.protect.mismatch = EBB_MISMATCH_IGNORE;
    assert_candidates(f, s, "data/stray.parquet");
    s->options.protect.mismatch = EBB_MISMATCH_DELETE;
    assert_candidates(f, s, "data/stray.parquet");
    scan_free(s);
}

static void test_scanned_and_excluded(void **state)
{
    static const struct row ROWS[] = {{"data/a.parquet", 10},
                                      {"data2/b.parquet", 10},
                                      {"data/p/c.parquet", 10},
                                      {"data//p//d.parquet", 10},
                                      {"data", 10}};
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char path[256], location[300], place[300];

    LIST(f, s, path, ROWS);
    snprintf(location, sizeof location, "%s/data", f->uri);
    s->options.location = location;
    assert_candidates(f, s, "data//p//d.parquet data/a.parquet data/p/c.parquet");
    snprintf(place, sizeof place, "%s/data/p", f->uri);
    assert_ok(f, ebb_strs_add(&s->options.protect.exclude, place, &f->err));
    assert_candidates(f, s, "data/a.parquet");
    scan_free(s);
}

/* Nobody walks: links are looked for where the names lead. */
static void test_links(void **state)
{
    static const struct row ROWS[] = {{"data/real.parquet", 10}, {"data/q/f.parquet", 10}, {"data/stray.parquet", 10}};
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char path[256], link[512];

    put_file(f, "data/real.parquet");
    put_file(f, "data/q/f.parquet");
    path_of(f, "data/alias.parquet", link);
    assert_int_equal(symlink("real.parquet", link), 0);
    path_of(f, "data/l", link);
    assert_int_equal(symlink("q", link), 0);
    commit_names(f, "data/alias.parquet data/l/f.parquet");
    LIST(f, s, path, ROWS);
    assert_candidates(f, s, "data/stray.parquet");
    scan_free(s);
}

static void test_an_unreadable_list(void **state)
{
    struct table_fixture *f = *state;
    struct scan *s = scan_new();
    char path[256];

    snprintf(path, sizeof path, "%s/list.tsv", f->top);
    s->options.listing = path;
    assert_error(f, scan_run(f, s, NULL), ENOENT);
    write_path(path, "name\tsize\n");
    assert_error(f, scan_run(f, s, NULL), EINVENTORY);
    assert_nothing_left(f);
    scan_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_rows_that_repeat, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_rows_of_another_prefix, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_scanned_and_excluded, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_links, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_an_unreadable_list, table_setup, table_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
