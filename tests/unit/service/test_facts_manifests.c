/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts that are read off manifests: small files and partitions, how long writers took, and what is kept of them.
 */
#include "service_help.h"

#include "../table/files_help.h"

#include "service/facts.h"
#include "table/files.h"

#define DAY ((int64_t)86400000)
#define UUID "00000001-2222-4333-8444-555555555555"

struct fixture {
    struct world w;
    struct manifests m;
    struct ebb_value *facts;
};

static void start(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    open_world(&f->w);
    world_put(&f->w, "ebb.lua", CONFIG_HEAD "}");
    manifests_init(&f->m, add_table(&f->w, "a", 0));
    f->m.uuid = UUID;
    assert_ok(&f->w, try_open(&f->w, 0));
}

static void end(struct fixture *f)
{
    ebb_value_free(f->facts);
    manifests_fini(&f->m);
    close_world(&f->w);
}

/* t as of an instant. */
static const struct ebb_value *table_at(struct fixture *f, unsigned manifests, int64_t now_ms)
{
    struct ebb_facts_options o = {.overlaps = -1, .manifests = manifests};
    struct ebb_table *t = NULL;

    ebb_value_free(f->facts);
    f->facts = NULL;
    assert_ok(&f->w, ebb_table_open(ebb_workspace_site(f->w.ws), "lake.db.a", &t, &f->w.err));
    assert_ok(&f->w, ebb_facts_new(ebb_workspace_site(f->w.ws), t, &o, now_ms, &f->facts, &f->w.err));
    ebb_table_free(t);
    return ebb_value_get(f->facts, "table");
}

static const struct ebb_value *stats_at(struct fixture *f, int64_t now_ms)
{
    return ebb_value_get(table_at(f, EBB_LACKS_WRITES, now_ms), "stats");
}

static void put_file_at(struct fixture *f, const char *name, int64_t at_ms)
{
    struct timespec times[2] = {{at_ms / 1000, 0}, {at_ms / 1000, 0}};
    char path[512];

    put_file(f->m.t, name);
    path_of(f->m.t, name, path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_only_what_is_asked_for_is_read(void **state)
{
    static const struct entry ENTRIES[] = {{1, 3, 0, "eu", 4, 100, 0, "data/live.parquet"}};
    const struct ebb_value *t, *p;
    struct fixture f;

    (void)state;
    start(&f);
    add_manifest(&f.m, 3, ENTRIES, 1);
    commit_list(&f.m, "string", "", "");
    t = table_at(&f, 0, 5000);
    assert_null(ebb_value_get(t, "partitions"));
    assert_null(ebb_value_get(ebb_value_get(t, "stats"), "small_files"));
    t = table_at(&f, EBB_LACKS_PARTITIONS, 5000);
    assert_int_equal(ebb_value_int_of(ebb_value_get(t, "stats"), "small_files", -1), 1);
    assert_null(ebb_value_get(ebb_value_get(t, "stats"), "longest_write"));
    assert_int_equal(ebb_value_get_count(ebb_value_get(t, "partitions")), 1);
    p = ebb_value_get_at(ebb_value_get(t, "partitions"), 0);
    assert_string_equal(ebb_value_text_of(p, "key"), "region=eu");
    assert_int_equal(ebb_value_int_of(p, "avg_file", -1), 100);
    assert_int_equal(ebb_value_int_of(p, "last_write", -1), 3000);
    end(&f);
}

static void test_what_is_kept_is_of_the_same_state(void **state)
{
    static const struct entry ENTRIES[] = {{1, 3, 0, "eu", 4, 100, 0, "data/live.parquet"}};
    struct fixture f;
    char path[512];

    (void)state;
    start(&f);
    add_manifest(&f.m, 3, ENTRIES, 1);
    commit_list(&f.m, "string", "", "");
    table_at(&f, EBB_LACKS_FILES, 5000);
    path_of(f.m.t, "metadata/m1.avro", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(ebb_value_int_of(ebb_value_get(table_at(&f, EBB_LACKS_FILES, 5000), "stats"), "data_files", -1),
                     1);
    commit_list(&f.m, "string", "", ""); /* another state: what is kept does not count */
    assert_null(ebb_value_get(ebb_value_get(table_at(&f, EBB_LACKS_FILES, 5000), "stats"), "data_files"));
    assert_int_equal(ebb_store_put_value(ebb_workspace_site(f.w.ws)->store, "facts.files", UUID, "{\"state\":5}", NULL),
                     0);
    assert_null(ebb_value_get(ebb_value_get(table_at(&f, EBB_LACKS_FILES, 5000), "stats"), "data_files"));
    end(&f);
}

static void test_the_longest_write_of_the_last_days(void **state)
{
    static const struct entry ENTRIES[] = {{1, 0, 0, "eu", 1, 1, 0, "data/a.parquet"}};
    const struct ebb_value *stats;
    struct fixture f;

    (void)state;
    start(&f);
    put_file_at(&f, "data/a.parquet", 1000);
    add_manifest(&f.m, 3, ENTRIES, 1);
    commit_list(&f.m, "string", "", "");
    stats = stats_at(&f, 3000 + 30 * DAY - 1);
    assert_int_equal(ebb_value_int_of(stats, "longest_write", -1), 2000);
    assert_string_equal(ebb_value_text_of(stats, "longest_write_source"), "mtime");
    put_file_at(&f, "data/a.parquet", 2000); /* a snapshot does not change: it is measured once */
    assert_int_equal(ebb_value_int_of(stats_at(&f, 5000), "longest_write", -1), 2000);
    stats = stats_at(&f, 3000 + 30 * DAY); /* no commit within 30 days: nothing was measured */
    assert_null(ebb_value_get(stats, "longest_write"));
    assert_null(ebb_value_get(stats, "longest_write_source"));
    end(&f);
}

static void test_an_unmeasured_write_leaves_it_unknown(void **state)
{
    static const struct entry ENTRIES[] = {{1, 0, 0, "eu", 1, 1, 0, "data/a.parquet"},
                                           {1, 0, 0, "eu", 1, 1, 0, "data/b.parquet"}};
    struct fixture f;

    (void)state;
    start(&f);
    put_file_at(&f, "data/a.parquet", 1000);
    add_manifest(&f.m, 3, ENTRIES, 2);
    commit_list(&f.m, "string", "", "");
    assert_null(ebb_value_get(stats_at(&f, 5000), "longest_write")); /* b is not there */
    put_file_at(&f, "data/b.parquet", 4 * 3600000);
    assert_null(ebb_value_get(stats_at(&f, 5000), "longest_write")); /* its time is not that of its writing */
    put_file_at(&f, "data/b.parquet", 2000);
    assert_int_equal(ebb_value_int_of(stats_at(&f, 5000), "longest_write", -1), 2000);
    end(&f);
}

static void test_a_snapshot_of_too_many_files_is_looked_at_once(void **state)
{
    size_t n = (size_t)EBB_WRITES_FILES_MAX + 1;
    struct entry *entries = calloc(n, sizeof *entries);
    struct ebb_buf kept;
    struct fixture f;
    bool has = false;

    (void)state;
    assert_non_null(entries);
    start(&f);
    f.m.rows.max = 64 << 20;
    put_file_at(&f, "data/a.parquet", 1000);
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct entry){1, 3, 0, "eu", 1, 1, 0, "data/a.parquet"};
    add_manifest(&f.m, 3, entries, n);
    commit_list(&f.m, "string", "", "");
    assert_null(ebb_value_get(stats_at(&f, 5000), "longest_write"));
    ebb_buf_init(&kept, 65536);
    assert_ok(&f.w,
              ebb_store_get_value(ebb_workspace_site(f.w.ws)->store, "facts.writes", UUID, &kept, &has, &f.w.err));
    assert_true(has);
    assert_string_equal(ebb_buf_cstr(&kept), "{\"3 3000\":-2}");
    assert_null(ebb_value_get(stats_at(&f, 5000), "longest_write"));
    ebb_buf_fini(&kept);
    free(entries);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_what_is_asked_for_is_read),
        cmocka_unit_test(test_what_is_kept_is_of_the_same_state),
        cmocka_unit_test(test_the_longest_write_of_the_last_days),
        cmocka_unit_test(test_an_unmeasured_write_leaves_it_unknown),
        cmocka_unit_test(test_a_snapshot_of_too_many_files_is_looked_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
