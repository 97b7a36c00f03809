/* SPDX-License-Identifier: Apache-2.0 */
#include "../format/avro_help.h"

#include "scan_help.h"

#define LIST_SCHEMA                                                                                                    \
    "{\"type\":\"record\",\"name\":\"manifest_file\",\"fields\":["                                                     \
    "{\"name\":\"manifest_path\",\"type\":\"string\",\"field-id\":500},"                                               \
    "{\"name\":\"manifest_length\",\"type\":\"long\",\"field-id\":501},"                                               \
    "{\"name\":\"partition_spec_id\",\"type\":\"int\",\"field-id\":502},"                                              \
    "{\"name\":\"content\",\"type\":\"int\",\"field-id\":517},"                                                        \
    "{\"name\":\"added_files_count\",\"type\":\"int\",\"field-id\":504}]}"
#define MANIFEST_SCHEMA                                                                                                \
    "{\"type\":\"record\",\"name\":\"manifest_entry\",\"fields\":["                                                    \
    "{\"name\":\"status\",\"type\":\"int\",\"field-id\":0},"                                                           \
    "{\"name\":\"data_file\",\"field-id\":2,\"type\":{\"type\":\"record\",\"name\":\"r2\",\"fields\":["                \
    "{\"name\":\"content\",\"type\":\"int\",\"field-id\":134},"                                                        \
    "{\"name\":\"file_path\",\"type\":\"string\",\"field-id\":100},"                                                   \
    "{\"name\":\"file_format\",\"type\":\"string\",\"field-id\":101},"                                                 \
    "{\"name\":\"record_count\",\"type\":\"long\",\"field-id\":103},"                                                  \
    "{\"name\":\"file_size_in_bytes\",\"type\":\"long\",\"field-id\":104},"                                            \
    "{\"name\":\"referenced_data_file\",\"type\":\"string\",\"field-id\":143}]}}]}"

static void write_bytes(const char *path, const struct ebb_buf *bytes)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes->data, 1, bytes->len, file), bytes->len);
    assert_int_equal(fclose(file), 0);
}

struct entry {
    int status, content;
    const char *path, *referenced;
};

/* A manifest below the location; its length. */
static int64_t put_manifest(struct table_fixture *f, const char *name, const struct entry *entries, size_t count)
{
    struct ebb_buf rows, file;
    char path[512];
    int64_t length;

    ebb_buf_init(&rows, 1 << 20);
    ebb_buf_init(&file, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        put_long(&rows, entries[i].status);
        put_long(&rows, entries[i].content);
        put_text(&rows, entries[i].path);
        put_text(&rows, "PARQUET");
        put_long(&rows, 1);
        put_long(&rows, 1);
        put_text(&rows, entries[i].referenced ? entries[i].referenced : "");
    }
    put_header(&file, MANIFEST_SCHEMA, "deflate", NULL);
    if (count)
        put_block(&file, "deflate", (int64_t)count, &rows);
    path_of(f, name, path);
    write_bytes(path, &file);
    length = (int64_t)file.len;
    ebb_buf_fini(&rows);
    ebb_buf_fini(&file);
    return length;
}

struct ref {
    const char *path;
    int64_t length;
    int content, added;
};

static void put_list(struct table_fixture *f, const char *name, const struct ref *refs, size_t count)
{
    struct ebb_buf rows, file;
    char path[512];

    ebb_buf_init(&rows, 1 << 20);
    ebb_buf_init(&file, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        put_text(&rows, refs[i].path);
        put_long(&rows, refs[i].length);
        put_long(&rows, 0);
        put_long(&rows, refs[i].content);
        put_long(&rows, refs[i].added);
    }
    put_header(&file, LIST_SCHEMA, "null", NULL);
    if (count)
        put_block(&file, "null", (int64_t)count, &rows);
    path_of(f, name, path);
    write_bytes(path, &file);
    ebb_buf_fini(&rows);
    ebb_buf_fini(&file);
}

/* The next version, with these snapshots (JSON objects, comma separated). */
static struct ebb_table *commit_snapshots(struct table_fixture *f, const char *snapshots)
{
    char path[512], hint[16], text[8192];
    struct ebb_table *t = NULL;

    f->version++;
    snprintf(text, sizeof text,
             "{\"format-version\":2,\"table-uuid\":\"" UUID_A "\",\"location\":\"%s\",\"last-sequence-number\":9,"
             "\"last-updated-ms\":%d,\"partition-specs\":[],\"properties\":{},\"snapshots\":[%s],"
             "\"metadata-log\":[{\"timestamp-ms\":1,\"metadata-file\":\"metadata/old.metadata.json\"}],"
             "\"statistics\":[{\"snapshot-id\":1,\"statistics-path\":\"%s/s.stats\"}],"
             "\"partition-statistics\":[{\"snapshot-id\":1,\"statistics-path\":\"%s/ps.stats\"}]}",
             f->uri, 1767225600 + f->version, snapshots, f->uri, f->uri);
    snprintf(path, sizeof path, "%s/metadata/v%d.metadata.json", f->location, f->version);
    write_path(path, text);
    snprintf(path, sizeof path, "%s/metadata/version-hint.text", f->location);
    snprintf(hint, sizeof hint, "%d", f->version);
    write_path(path, hint);
    assert_ok(f, ebb_table_open(&f->site, f->location, &t, &f->err));
    return t;
}

static const char *snapshot(struct table_fixture *f, int id, const char *list, const char *summary, char out[1024])
{
    snprintf(out, 1024,
             "{\"snapshot-id\":%d,\"timestamp-ms\":1,\"sequence-number\":%d,\"manifest-list\":\"%s/metadata/"
             "%s\",\"summary\":{%s}}",
             id, id, f->uri, list, summary);
    return out;
}

struct names {
    struct table_fixture *f;
    char text[8192]; /* "kind:name " of each, without the location; "kind:!name " of one elsewhere */
    size_t count;
};

static int take_name(void *data, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err)
{
    struct names *n = data;
    size_t root = strlen(n->f->uri);
    bool inside = path.n > root && !memcmp(path.p, n->f->uri, root);

    (void)err;
    n->count++;
    snprintf(n->text + strlen(n->text), sizeof n->text - strlen(n->text), "%d:%s%.*s ", (int)kind, inside ? "" : "!",
             (int)(inside ? path.n - root - 1 : path.n), inside ? path.p + root + 1 : path.p);
    return 0;
}

static int walk(struct table_fixture *f, const struct ebb_table *t, bool keep_deleted, struct names *names)
{
    struct ebb_reach_options options = {keep_deleted};

    memset(names, 0, sizeof *names);
    names->f = f;
    return ebb_reach_walk(&f->site, t, &options, take_name, names, NULL, &f->err);
}

#define assert_named(names, wanted) assert_non_null(strstr((names)->text, wanted))
#define assert_not_named(names, wanted) assert_null(strstr((names)->text, wanted))

/* One snapshot with a data and a delete manifest. */
static struct ebb_table *usual_table(struct table_fixture *f)
{
    struct entry data[] = {
        {1, 0, "data/a.parquet", NULL}, {0, 0, "s3://b/x/b.parquet", NULL}, {2, 0, "data/gone.parquet", NULL}};
    struct entry deletes[] = {{1, 1, "data/dv.puffin", "data/a.parquet"}, {1, 2, "data/eq.parquet", NULL}};
    struct ref refs[2];
    char d[512], e[512], text[1024];

    snprintf(d, sizeof d, "%s/metadata/d.avro", f->uri);
    snprintf(e, sizeof e, "%s/metadata/e.avro", f->uri);
    refs[0] = (struct ref){d, put_manifest(f, "metadata/d.avro", data, 3), 0, 1};
    refs[1] = (struct ref){e, put_manifest(f, "metadata/e.avro", deletes, 2), 1, 2};
    put_list(f, "metadata/l.avro", refs, 2);
    return commit_snapshots(
        f, snapshot(f, 1, "l.avro", "\"operation\":\"append\",\"total-data-files\":\"2\",\"total-delete-files\":\"2\"",
                    text));
}

static void test_every_kind(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_table *t = usual_table(f);
    struct names n;

    assert_ok(f, walk(f, t, false, &n));
    assert_named(&n, "0:metadata/v2.metadata.json ");
    assert_named(&n, "0:metadata/old.metadata.json ");
    assert_named(&n, "0:metadata/version-hint.text ");
    assert_named(&n, "1:metadata/l.avro ");
    assert_named(&n, "2:metadata/d.avro ");
    assert_named(&n, "2:metadata/e.avro ");
    assert_named(&n, "3:data/a.parquet "); /* a relative name is below the location */
    assert_named(&n, "3:!s3://b/x/b.parquet ");
    assert_named(&n, "4:data/dv.puffin ");
    assert_named(&n, "4:data/eq.parquet ");
    assert_named(&n, "5:s.stats ");
    assert_named(&n, "5:ps.stats ");
    assert_named(&n, "6:data/a.parquet ");
    assert_not_named(&n, "gone");
    assert_ok(f, walk(f, t, true, &n));
    assert_named(&n, "3:data/gone.parquet ");
    ebb_table_free(t);
}

static void test_only_what_is_new(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_table *t = usual_table(f), *newer;
    struct ebb_reach_reader *reader = NULL;
    struct ebb_reach_stats stats = {0, 0, 0};
    struct entry more[] = {{1, 0, "data/c.parquet", NULL}};
    struct ref refs[2];
    char one[1024], two[1024], both[2100], d[512], m[512];
    struct names n;
    struct stat st;

    assert_ok(f, ebb_reach_reader_new(&f->site, NULL, &reader, &f->err));
    memset(&n, 0, sizeof n);
    n.f = f;
    assert_ok(f, ebb_reach_reader_walk(reader, t, NULL, take_name, &n, &stats, &f->err));
    assert_int_equal(stats.metadata_files_read, 4);
    assert_int_equal(stats.live_files, 4);
    snprintf(d, sizeof d, "%s/metadata/d.avro", f->location);
    assert_int_equal(stat(d, &st), 0);
    snprintf(d, sizeof d, "%s/metadata/d.avro", f->uri);
    snprintf(m, sizeof m, "%s/metadata/m.avro", f->uri);
    refs[0] = (struct ref){d, st.st_size, 0, 1};
    refs[1] = (struct ref){m, put_manifest(f, "metadata/m.avro", more, 1), 0, 1};
    put_list(f, "metadata/l2.avro", refs, 2);
    snapshot(f, 1, "l.avro", "\"total-data-files\":\"2\"", one);
    snapshot(f, 2, "l2.avro", "\"total-data-files\":\"3\"", two);
    snprintf(both, sizeof both, "%s,%s", one, two);
    newer = commit_snapshots(f, both);
    memset(&n, 0, sizeof n);
    n.f = f;
    assert_ok(f, ebb_reach_reader_walk(reader, newer, NULL, take_name, &n, &stats, &f->err));
    assert_int_equal(stats.metadata_files_read, 7);
    assert_named(&n, "data/c.parquet");
    assert_named(&n, "2:metadata/m.avro ");
    assert_not_named(&n, "data/a.parquet");
    assert_not_named(&n, "2:metadata/d.avro "); /* each snapshot lists it, as long as it lives */
    ebb_reach_reader_free(reader);
    ebb_table_free(t);
    ebb_table_free(newer);
}

/* A list that was read for one snapshot is held against the summary of another, too. */
static void test_totals(void **state)
{
    static const struct {
        const char *summary;
        bool ok;
    } CASES[] = {
        {"", true},
        {"\"total-data-files\":\"2\",\"total-delete-files\":\"2\"", true},
        {"\"total-data-files\":\"1\"", true}, /* only warned of */
        {"\"total-data-files\":\"3\"", false},
        {"\"total-delete-files\":\"3\"", false},
        {"\"total-data-files\":\"many\"", true},
    };
    struct table_fixture *f = *state;
    char one[1024], two[1024], both[2100];
    struct names n;

    ebb_table_free(usual_table(f));
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct ebb_table *t;
        int rc;

        snapshot(f, 1, "l.avro", "", one);
        snapshot(f, 2, "l.avro", CASES[i].summary, two);
        snprintf(both, sizeof both, "%s,%s", one, two);
        t = commit_snapshots(f, both);
        rc = walk(f, t, false, &n);
        if (rc != (CASES[i].ok ? 0 : -EBB_ELIST_CORRUPT))
            fail_msg("%s: %d %s", CASES[i].summary, rc, rc ? f->err.message : "");
        ebb_table_free(t);
    }
}

/* A list that was cut behind its header reads as empty: only a total says that it is. */
static void test_an_empty_list(void **state)
{
    static const struct {
        const char *summary;
        bool ok;
    } CASES[] = {
        {"\"operation\":\"append\"", false},
        {"\"operation\":\"delete\"", false},
        {"\"operation\":\"append\",\"total-data-files\":\" 0\"", false},
        {"\"operation\":\"append\",\"total-data-files\":\"99999999999999999999\"", false},
        {"\"operation\":\"append\",\"total-data-files\":\"1\"", false},
        {"\"operation\":\"append\",\"total-data-files\":\"0\",\"total-delete-files\":\"1\"", false},
        {"\"operation\":\"append\",\"total-data-files\":\"0\"", true},
    };
    struct table_fixture *f = *state;
    char text[1024];
    struct names n;

    put_list(f, "metadata/l.avro", NULL, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct ebb_table *t = commit_snapshots(f, snapshot(f, 1, "l.avro", CASES[i].summary, text));
        int rc = walk(f, t, false, &n);

        if (rc != (CASES[i].ok ? 0 : -EBB_ELIST_CORRUPT))
            fail_msg("%s: %d", CASES[i].summary, rc);
        ebb_table_free(t);
    }
}

static void test_lengths_and_counts(void **state)
{
    static const struct {
        int64_t more_bytes;
        int added, error;
    } CASES[] = {{0, 1, 0},
                 {0, 0, 0},
                 {1, 1, EBB_EMANIFEST_CORRUPT},
                 {-1, 1, EBB_EMANIFEST_CORRUPT},
                 {0, 2, EBB_EMANIFEST_CORRUPT}};
    struct table_fixture *f = *state;
    struct entry data[] = {{1, 0, "data/a.parquet", NULL}};
    char path[512], text[1024];
    struct names n;

    snprintf(path, sizeof path, "%s/metadata/d.avro", f->uri);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct ref ref = {path, put_manifest(f, "metadata/d.avro", data, 1) + CASES[i].more_bytes, 0, CASES[i].added};
        struct ebb_table *t;

        put_list(f, "metadata/l.avro", &ref, 1);
        t = commit_snapshots(f, snapshot(f, 1, "l.avro", "", text));
        assert_int_equal(walk(f, t, false, &n), -CASES[i].error);
        ebb_table_free(t);
    }
}

static void test_missing_and_broken_pieces(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_table *t = usual_table(f);
    struct names n;
    char path[512];

    path_of(f, "metadata/e.avro", path);
    write_path(path, "Obj");
    assert_error(f, walk(f, t, false, &n), EMANIFEST_CORRUPT);
    assert_int_equal(unlink(path), 0);
    assert_error(f, walk(f, t, false, &n), EMANIFEST_MISSING);
    path_of(f, "metadata/l.avro", path);
    write_path(path, "Obj");
    assert_error(f, walk(f, t, false, &n), ELIST_CORRUPT);
    assert_int_equal(unlink(path), 0);
    assert_error(f, walk(f, t, false, &n), ELIST_MISSING);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_error(f, walk(f, t, false, &n), EMETADATA);
    ebb_table_free(t);
}

/* Case CR2. */
static void test_pieces_of_other_schemes(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_table *t;
    struct names n;

    t = commit_snapshots(f, "{\"snapshot-id\":1,\"timestamp-ms\":1,\"manifest-list\":\"s3://someone-else/x.avro\"}");
    assert_error(f, walk(f, t, false, &n), ESCHEME);
    assert_non_null(strstr(f->err.hint, "--read-also"));
    ebb_table_free(t);
}

static int fail_at(void *data, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err)
{
    (void)path;
    return kind == *(enum ebb_reach_kind *)data ? ebb_err_set(err, EBB_EIO, "stop") : 0;
}

static void test_stops(void **state)
{
    struct table_fixture *f = *state;
    struct ebb_table *t = usual_table(f);
    atomic_bool cancelled = true;
    struct names n;

    for (enum ebb_reach_kind kind = EBB_REACH_METADATA; kind <= EBB_REACH_REFERENCED; kind++)
        assert_error(f, ebb_reach_walk(&f->site, t, NULL, fail_at, &kind, NULL, &f->err), EIO);
    f->site.cancelled = &cancelled;
    assert_error(f, walk(f, t, false, &n), ECANCELLED);
    ebb_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_kind, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_only_what_is_new, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_totals, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_an_empty_list, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_lengths_and_counts, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_missing_and_broken_pieces, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_pieces_of_other_schemes, table_setup, table_teardown),
        cmocka_unit_test_setup_teardown(test_stops, table_setup, table_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
