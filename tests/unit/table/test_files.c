/* SPDX-License-Identifier: Apache-2.0
 *
 * What manifests tell of files, partitions and writers.
 */
#include "files_help.h"

#include "table/files.h"

struct fixture {
    struct manifests m;
    struct ebb_files *files;
    struct ebb_err err;
};

static int read_files(struct fixture *f)
{
    struct ebb_table *t = NULL;
    int rc;

    ebb_files_free(f->files);
    f->files = NULL;
    assert_ok(f, ebb_table_open(&f->m.t->site, f->m.t->location, &t, &f->err));
    rc = ebb_files_read(&f->m.t->site, t, &f->files, &f->err);
    ebb_table_free(t);
    return rc;
}

static struct fixture *start(void)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    manifests_init(&f->m, make_table());
    return f;
}

static void end(struct fixture *f)
{
    ebb_files_free(f->files);
    manifests_fini(&f->m);
    remove_table(f->m.t);
    free(f);
}

static const struct ebb_partition *partition(struct fixture *f, const char *key)
{
    for (size_t i = 0; i < f->files->partition_count; i++)
        if (!strcmp(f->files->partitions[i].key, key))
            return &f->files->partitions[i];
    fail_msg("no partition %s", key);
    return NULL;
}

static const char *snapshots(struct fixture *f, char out[1024])
{
    char one[512], two[512];

    snapshot_text(&f->m, 1, -1, one);
    snapshot_text(&f->m, 2, 1, two);
    snprintf(out, 1024, "%s%s", one, two);
    return out;
}

static void test_live_files_are_counted(void **state)
{
    static const struct entry OLD[] = {{0, 1, 0, "eu", 10, 100, 0, NULL}, {2, 3, 0, "eu", 99, 999, 0, NULL}};
    static const struct entry NEW[] = {
        {1, 0, 0, "eu", 5, 500, 0, NULL}, {1, 0, 0, "us east/1", 7, 70, 0, NULL}, {1, 0, 0, NULL, 1, 10, 0, NULL}};
    static const struct entry DELETES[] = {{1, 0, 1, "eu", 3, 1000, 40, NULL}, {1, 2, 2, "eu", 4, 60, 0, NULL}};
    struct fixture *f = start();
    const struct ebb_partition *p;
    char text[1024];

    (void)state;
    add_manifest(&f->m, 3, OLD, 2);
    add_manifest(&f->m, 2, NEW, 3);
    add_manifest(&f->m, 3, DELETES, 2);
    commit_list(&f->m, "string", snapshots(f, text), "\"write.target-file-size-bytes\":\"200\"");
    assert_ok(f, read_files(f));
    assert_int_equal(f->files->manifests, 3);
    assert_int_equal(f->files->data_files, 4);
    assert_int_equal(f->files->records, 23);
    assert_int_equal(f->files->delete_files, 2);
    assert_int_equal(f->files->delete_records, 7);
    assert_int_equal(f->files->bytes, 100 + 500 + 70 + 10 + 40 + 60); /* of a vector its own part of the file */
    assert_int_equal(f->files->small_files, 3);                       /* below 150 bytes */
    assert_true(f->files->has_partitions);
    assert_int_equal(f->files->partition_count, 3);
    p = partition(f, "region=eu");
    assert_int_equal(p->spec_id, 1);
    assert_int_equal(p->files, 2);
    assert_int_equal(p->bytes, 600);
    assert_int_equal(p->records, 15);
    assert_int_equal(p->max_file, 500);
    assert_int_equal(p->delete_files, 2);
    assert_int_equal(p->delete_records, 7);
    assert_int_equal(p->last_write_ms, 3000);
    p = partition(f, "region=us+east%2F1");
    assert_int_equal(p->last_write_ms, 2000);
    assert_int_equal(partition(f, "region=null")->files, 1);
    end(f);
}

static void test_a_table_without_snapshots_has_no_files(void **state)
{
    struct fixture *f = start();

    (void)state;
    assert_ok(f, read_files(f));
    assert_int_equal(f->files->data_files, 0);
    assert_int_equal(f->files->manifests, 0);
    assert_true(f->files->has_partitions);
    assert_int_equal(f->files->partition_count, 0);
    end(f);
}

/* The snapshot that added the file has expired: it was committed before the oldest one that is left of the line. */
static void test_an_expired_snapshot_bounds_the_last_write(void **state)
{
    static const struct entry ENTRIES[] = {{0, 1, 0, "eu", 1, 1, 0, NULL}, {0, 3, 0, "us", 1, 1, 0, NULL}};
    struct fixture *f = start();
    char two[512];

    (void)state;
    add_manifest(&f->m, 3, ENTRIES, 2);
    snapshot_text(&f->m, 2, 1, two);
    commit_list(&f->m, "string", two, "");
    assert_ok(f, read_files(f));
    assert_int_equal(partition(f, "region=eu")->last_write_ms, 2000);
    assert_int_equal(partition(f, "region=us")->last_write_ms, 3000);
    end(f);
}

static void test_a_snapshot_outside_of_a_whole_history_tells_nothing(void **state)
{
    static const struct entry ENTRIES[] = {{0, 77, 0, "eu", 1, 1, 0, NULL},
                                           {0, 1, 0, "us", 1, 1, 0, NULL},
                                           {0, 77, 0, "us", 1, 1, 0, NULL},
                                           {0, 3, 0, "us", 1, 1, 0, NULL},
                                           {0, 1, 0, "asia", 1, 1, 0, NULL}};
    struct fixture *f = start();
    char text[1024];

    (void)state;
    add_manifest(&f->m, 3, ENTRIES, 5);
    commit_list(&f->m, "string", snapshots(f, text), "");
    assert_ok(f, read_files(f));
    assert_int_equal(partition(f, "region=eu")->last_write_ms, -1);
    assert_int_equal(partition(f, "region=us")->last_write_ms, -1); /* those of its files that are known don't help */
    assert_int_equal(partition(f, "region=asia")->last_write_ms, 1000);
    end(f);
}

static void test_partitions_of_an_unknown_type_stay_unknown(void **state)
{
    static const struct entry ENTRIES[] = {{1, 3, 0, "eu", 1, 1, 0, NULL}};
    struct fixture *f = start();

    (void)state;
    add_manifest(&f->m, 3, ENTRIES, 1);
    commit_list(&f->m, "geometry", "", "");
    assert_ok(f, read_files(f));
    assert_int_equal(f->files->data_files, 1);
    assert_false(f->files->has_partitions);
    assert_int_equal(f->files->partition_count, 0);
    assert_non_null(f->files->why);
    end(f);
}

static void test_a_manifest_of_another_type_is_an_error(void **state)
{
    static const struct entry ENTRIES[] = {{1, 3, 0, "eu", 1, 1, 0, NULL}};
    struct fixture *f = start();

    (void)state;
    add_manifest(&f->m, 3, ENTRIES, 1);
    commit_list(&f->m, "long", "", ""); /* the manifest says text */
    assert_error(f, read_files(f), EMANIFEST_CORRUPT);
    assert_null(f->files);
    end(f);
}

static void test_negative_and_huge_numbers_are_errors(void **state)
{
    static const struct entry CASES[][2] = {
        {{1, 3, 0, "eu", -1, 1, 0, NULL}, {1, 3, 0, "eu", 1, 1, 0, NULL}},
        {{1, 3, 0, "eu", 1, -5, 0, NULL}, {1, 3, 0, "eu", 1, 1, 0, NULL}},
        {{1, 3, 0, "eu", INT64_MAX, 1, 0, NULL}, {1, 3, 0, "eu", INT64_MAX, 1, 0, NULL}},
        {{1, 3, 0, "eu", 1, INT64_MAX, 0, NULL}, {1, 3, 0, "us", 1, INT64_MAX, 0, NULL}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct fixture *f = start();

        add_manifest(&f->m, 3, CASES[i], 2);
        commit_list(&f->m, "string", "", "");
        assert_error(f, read_files(f), EMANIFEST_CORRUPT);
        end(f);
    }
}

static void test_a_damaged_table_gives_no_numbers(void **state)
{
    static const struct entry ENTRIES[] = {{1, 3, 0, "eu", 1, 1, 0, NULL}};
    struct fixture *f = start();
    char path[512];

    (void)state;
    commit_list(&f->m, "string", "", ""); /* an empty list, and no summary that says so */
    assert_error(f, read_files(f), ELIST_CORRUPT);
    add_manifest(&f->m, 3, ENTRIES, 1);
    commit_list(&f->m, "string", "", "");
    assert_ok(f, read_files(f));
    path_of(f->m.t, "metadata/m1.avro", path);
    write_path(path, "Obj");
    assert_error(f, read_files(f), EMANIFEST_CORRUPT);
    assert_int_equal(unlink(path), 0);
    assert_error(f, read_files(f), EMANIFEST_MISSING);
    end(f);
}

static void test_too_many_partitions_stay_unknown(void **state)
{
    size_t n = EBB_FILES_PARTITIONS_MAX + 1;
    struct entry *entries = calloc(n, sizeof *entries);
    char(*names)[12] = calloc(n, sizeof *names);
    struct fixture *f = start();

    (void)state;
    assert_non_null(entries);
    assert_non_null(names);
    for (size_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "r%zu", i);
        entries[i] = (struct entry){1, 3, 0, names[i], 1, 1, 0, NULL};
    }
    add_manifest(&f->m, 3, entries, n - 1);
    commit_list(&f->m, "string", "", "");
    assert_ok(f, read_files(f));
    assert_int_equal(f->files->partition_count, n - 1);
    add_manifest(&f->m, 3, entries + n - 1, 1);
    commit_list(&f->m, "string", "", "");
    assert_ok(f, read_files(f));
    assert_false(f->files->has_partitions);
    assert_int_equal(f->files->partition_count, 0);
    assert_int_equal(f->files->data_files, n);
    free(entries);
    free(names);
    end(f);
}

/* Whatever a byte of a manifest becomes: an answer or an error, and an answer that is right where it is about what was
 * not touched. */
static void test_every_byte_of_a_manifest(void **state)
{
    static const struct entry ENTRIES[] = {{1, 0, 0, "eu", 3, 5, 0, "data/a.parquet"},
                                           {1, 3, 1, "us", 4, 6, 2, "data/b.parquet"}};
    struct fixture *f = start();
    char path[512], bytes[8192];
    FILE *file;
    size_t n;

    (void)state;
    f->m.codec = "null";
    add_manifest(&f->m, 3, ENTRIES, 2);
    commit_list(&f->m, "string", "", "");
    path_of(f->m.t, "metadata/m1.avro", path);
    file = fopen(path, "r+");
    assert_non_null(file);
    n = fread(bytes, 1, sizeof bytes, file);
    assert_in_range(n, 500, sizeof bytes - 1);
    for (size_t i = 0; i < n; i++) {
        for (int bit = i > n - 200 ? 0 : 7; bit < 8; bit++) {
            assert_int_equal(fseek(file, (long)i, SEEK_SET), 0);
            fputc(bytes[i] ^ (1 << bit), file);
            fflush(file);
            if (read_files(f) == 0) {
                assert_in_range(f->files->data_files + f->files->delete_files, 0, 2);
                assert_in_range(f->files->partition_count, 0, 2);
            }
        }
        assert_int_equal(fseek(file, (long)i, SEEK_SET), 0);
        fputc(bytes[i], file);
    }
    fclose(file);
    assert_ok(f, read_files(f));
    end(f);
}

/* ---- writers ---- */

static void put_file_at(struct fixture *f, const char *name, int64_t at_ms)
{
    struct timespec times[2] = {{at_ms / 1000, 0}, {at_ms / 1000, 0}};
    char path[512];

    put_file(f->m.t, name);
    path_of(f->m.t, name, path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int measure(struct fixture *f, int64_t *ms)
{
    struct ebb_writes *writes = NULL;
    struct ebb_table *t = NULL;
    int rc;

    assert_ok(f, ebb_table_open(&f->m.t->site, f->m.t->location, &t, &f->err));
    assert_ok(f, ebb_writes_new(&f->m.t->site, t, &writes, &f->err));
    rc = ebb_writes_measure(writes, ebb_metadata_snapshot(t->metadata, 3), ms, &f->err);
    ebb_writes_free(writes);
    ebb_table_free(t);
    return rc;
}

static void test_a_write_lasts_from_its_oldest_file(void **state)
{
    static const struct entry ENTRIES[] = {{1, 0, 0, "eu", 1, 1, 0, "data/a.parquet"},
                                           {1, 3, 0, "eu", 1, 1, 0, "data/b.parquet"},
                                           {0, 1, 0, "eu", 1, 1, 0, "data/gone.parquet"}, /* of another snapshot */
                                           {1, 2, 0, "eu", 1, 1, 0, "data/gone.parquet"}};
    static const struct entry OTHER[] = {{1, 2, 0, "eu", 1, 1, 0, "data/gone.parquet"}};
    struct fixture *f = start();
    int64_t ms = 0;

    (void)state;
    put_file_at(f, "data/a.parquet", 2000);
    put_file_at(f, "data/b.parquet", 1000);
    add_manifest(&f->m, 3, ENTRIES, 4);
    add_manifest(&f->m, 2, OTHER, 1);
    commit_list(&f->m, "string", "", "");
    assert_ok(f, measure(f, &ms));
    assert_int_equal(ms, 2000);
    put_file_at(f, "data/a.parquet", 4000); /* clocks differ a little */
    put_file_at(f, "data/b.parquet", 5000);
    assert_ok(f, measure(f, &ms));
    assert_int_equal(ms, 0);
    put_file_at(f, "data/b.parquet", 3000 + EBB_WRITES_SKEW_MS + 1000); /* restored, or copied */
    assert_error(f, measure(f, &ms), EMETADATA);
    end(f);
}

static void test_a_snapshot_without_files_took_no_time(void **state)
{
    static const struct entry ENTRIES[] = {{2, 3, 0, "eu", 1, 1, 0, "data/gone.parquet"}};
    struct fixture *f = start();
    int64_t ms = 0;

    (void)state;
    add_manifest(&f->m, 3, ENTRIES, 1);
    commit_list(&f->m, "string", "", "");
    assert_ok(f, measure(f, &ms));
    assert_int_equal(ms, -1);
    end(f);
}

static void test_a_write_with_a_file_that_is_gone_is_not_known(void **state)
{
    static const struct entry ENTRIES[] = {{1, 3, 0, "eu", 1, 1, 0, "data/a.parquet"},
                                           {1, 3, 0, "eu", 1, 1, 0, "data/gone.parquet"}};
    struct fixture *f = start();
    char path[512];
    int64_t ms = 0;

    (void)state;
    put_file_at(f, "data/a.parquet", 2000);
    add_manifest(&f->m, 3, ENTRIES, 2);
    commit_list(&f->m, "string", "", "");
    assert_error(f, measure(f, &ms), ENOENT);
    path_of(f->m.t, "data/gone.parquet", path);
    assert_int_equal(symlink("a.parquet", path), 0);
    assert_error(f, measure(f, &ms), EMETADATA);
    end(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_live_files_are_counted),
        cmocka_unit_test(test_a_table_without_snapshots_has_no_files),
        cmocka_unit_test(test_an_expired_snapshot_bounds_the_last_write),
        cmocka_unit_test(test_a_snapshot_outside_of_a_whole_history_tells_nothing),
        cmocka_unit_test(test_partitions_of_an_unknown_type_stay_unknown),
        cmocka_unit_test(test_a_manifest_of_another_type_is_an_error),
        cmocka_unit_test(test_negative_and_huge_numbers_are_errors),
        cmocka_unit_test(test_a_damaged_table_gives_no_numbers),
        cmocka_unit_test(test_too_many_partitions_stay_unknown),
        cmocka_unit_test(test_every_byte_of_a_manifest),
        cmocka_unit_test(test_a_write_lasts_from_its_oldest_file),
        cmocka_unit_test(test_a_snapshot_without_files_took_no_time),
        cmocka_unit_test(test_a_write_with_a_file_that_is_gone_is_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
