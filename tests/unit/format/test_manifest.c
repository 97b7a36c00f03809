/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "avro_help.h"
#include "format/manifest.h"

#define MAX ((size_t)1 << 24)
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void read_fixture(const char *name, struct ebb_buf *out)
{
    char path[512], chunk[4096];
    size_t n;
    FILE *f;

    snprintf(path, sizeof path, "%s/tests/fixtures/avro/%s", EBB_SOURCE_DIR, name);
    f = fopen(path, "rb");
    assert_non_null(f);
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        ebb_buf_append(out, chunk, n);
    fclose(f);
}

static int note_ref(void *data, const struct ebb_manifest_ref *ref, struct ebb_err *err)
{
    struct ebb_buf *b = data;

    (void)err;
    ebb_buf_add_str(b, ref->path);
    ebb_buf_printf(b, " %lld spec %lld content %d seq %lld snapshot %lld counts %lld %lld %lld\n",
                   (long long)ref->length, (long long)ref->spec_id, ref->content, (long long)ref->sequence_number,
                   (long long)ref->added_snapshot_id, (long long)ref->added_files, (long long)ref->existing_files,
                   (long long)ref->deleted_files);
    return 0;
}

static int note_entry(void *data, const struct ebb_manifest_entry *entry, struct ebb_err *err)
{
    struct ebb_buf *b = data;

    (void)err;
    ebb_buf_printf(b, "%c%d ", "EAD"[entry->status], entry -> content);
    ebb_buf_add_str(b, entry->file_path);
    ebb_buf_putc(b, ' ');
    ebb_buf_add_str(b, entry->file_format);
    ebb_buf_printf(b, " %lld %lld snapshot %lld ref ", (long long)entry->record_count,
                   (long long)entry->file_size_bytes, (long long)entry->snapshot_id);
    ebb_buf_add_str(b, entry->referenced_data_file);
    ebb_buf_putc(b, '\n');
    return 0;
}

/* Read bytes as a list or as a manifest: lines, or NULL and the error with a part of its text. */
static void check_bytes(bool is_list, struct ebb_str bytes, const char *lines, enum ebb_error kind, const char *error,
                        struct ebb_manifest_counts *counts)
{
    struct ebb_avro_reader *reader;
    struct ebb_buf text;
    struct ebb_err err = {.error = EBB_OK};
    int rc;

    assert_int_equal(ebb_avro_reader_new(&reader, NULL), 0);
    ebb_buf_init(&text, MAX);
    if (is_list)
        rc = ebb_manifest_list_read(reader, "file.avro", bytes.p, bytes.n, note_ref, &text, &err);
    else
        rc = ebb_manifest_read(reader, "file.avro", bytes.p, bytes.n, note_entry, &text, counts, &err);
    assert_int_equal(rc, -(int)err.error);
    if (lines) {
        assert_string_equal(rc ? err.message : "", "");
        assert_string_equal(ebb_buf_cstr(&text), lines);
    } else {
        assert_int_equal(rc, -(int)kind);
        assert_non_null(strstr(err.message, "file.avro"));
        if (!strstr(err.message, error))
            fail_msg("\"%s\" does not say \"%s\"", err.message, error);
    }
    ebb_buf_fini(&text);
    ebb_avro_reader_free(reader);
}

static void check_fixture(bool is_list, const char *name, const char *lines, struct ebb_manifest_counts *counts)
{
    struct ebb_buf file;

    ebb_buf_init(&file, MAX);
    read_fixture(name, &file);
    check_bytes(is_list, ebb_buf_str(&file), lines, EBB_OK, NULL, counts);
    ebb_buf_fini(&file);
}

#define CODEC "file:/ebb/wh/c19-codecs/db/codec/"

/* Lists that Spark (Iceberg 1.10.1) and PyIceberg 0.11 wrote. */
static void real_lists_are_read(void **state)
{
    static const char null_line[] =
        CODEC "metadata/a08e697f-d430-4a60-90f6-50739daf10ba-m0.avro 7932 spec 0 content 0 seq 1 "
              "snapshot 7133336070976489387 counts 2 0 0\n";
    static const char snappy_line[] =
        CODEC "metadata/2008eb36-7179-4e31-80d8-0a6f2816a7ae-m0.avro 7736 spec 0 content 0 seq 2 "
              "snapshot 1660235256879767063 counts 2 0 0\n";
    static const char deflate_line[] =
        CODEC "metadata/9290942c-a1d0-4a28-a83f-900afce607eb-m0.avro 7687 spec 0 content 0 seq 3 "
              "snapshot 2191005185554634859 counts 2 0 0\n";
    static const char fourth_line[] =
        CODEC "metadata/d2beeb79-8f01-4201-8f87-bb27228d682f-m0.avro 7932 spec 0 content 0 seq 4 "
              "snapshot 7207037975040624468 counts 2 0 0\n";
    static const char fifth_line[] =
        CODEC "metadata/9887e8fb-e7e9-41a7-9587-bba27c11d4de-m0.avro 7746 spec 0 content 0 seq 5 "
              "snapshot 2944849261859410457 counts 0 1 1\n";
    char lines[2048];

    (void)state;
    snprintf(lines, sizeof lines, "%s%s%s", deflate_line, snappy_line, null_line);
    check_fixture(true, "list-deflate.avro", lines, NULL);
    snprintf(lines, sizeof lines, "%s%s%s%s", fourth_line, deflate_line, snappy_line, null_line);
    check_fixture(true, "list-snappy.avro", lines, NULL);
    snprintf(lines, sizeof lines, "%s%s%s%s", fourth_line, deflate_line, fifth_line, null_line);
    check_fixture(true, "list-null.avro", lines, NULL);
    check_fixture(true, "list-empty.avro", "", NULL);
    check_fixture(
        true, "list-python.avro",
        "file:///ebb/wh/c22-pyiceberg/py/events/metadata/1d0dd5c5-3313-4672-94cc-7bcd444a30b9-m0.avro 4422 spec 0 "
        "content 0 seq 7 snapshot 3184737136658130179 counts 1 0 0\n"
        "file:///ebb/wh/c22-pyiceberg/py/events/metadata/55257f79-38e6-46b6-926d-1a3204f5c577-m0.avro 4417 spec 0 "
        "content 0 seq 5 snapshot 1510255853390380511 counts 1 0 0\n"
        "file:///ebb/wh/c22-pyiceberg/py/events/metadata/3f6489a9-a66b-463e-8911-946e0a5963fb-m0.avro 4425 spec 0 "
        "content 0 seq 4 snapshot 262563970889412859 counts 0 1 0\n",
        NULL);
    check_fixture(true, "list-v1.avro",
                  "file:/ebb/wh/c01-v1-basic/db/t/metadata/2c28687d-41d1-41cf-a44c-82ef45786872-m1.avro 6044 spec 0 "
                  "content 0 seq "
                  "0 snapshot 3703537308568931979 counts 1 0 0\n"
                  "file:/ebb/wh/c01-v1-basic/db/t/metadata/2cf02268-ec92-4320-901c-61a30a4269a5-m0.avro 6093 spec 0 "
                  "content 0 seq "
                  "0 snapshot 8422468160654916705 counts 2 0 0\n"
                  "file:/ebb/wh/c01-v1-basic/db/t/metadata/2c28687d-41d1-41cf-a44c-82ef45786872-m0.avro 6090 spec 0 "
                  "content 0 seq "
                  "0 snapshot 3703537308568931979 counts 0 1 1\n",
                  NULL);
}

static void real_manifests_are_read(void **state)
{
    struct ebb_manifest_counts counts;

    (void)state;
    check_fixture(
        false, "manifest-null.avro",
        "A0 " CODEC "data/cat=a/00000-1520-2d5e6bf8-fec6-4608-8ccc-5b82a5cb79d0-0-00001.parquet PARQUET 1 879 snapshot "
        "7207037975040624468 ref \n"
        "A0 " CODEC "data/cat=b/00001-1521-2d5e6bf8-fec6-4608-8ccc-5b82a5cb79d0-0-00001.parquet PARQUET 1 880 snapshot "
        "7207037975040624468 ref \n",
        &counts);
    assert_true(counts.added == 2 && counts.existing == 0 && counts.deleted == 0);
    check_fixture(
        false, "manifest-snappy.avro",
        "D0 " CODEC "data/cat=a/00000-1512-e7cec05f-b176-486a-856d-417aeb947326-0-00001.parquet PARQUET 1 879 snapshot "
        "2944849261859410457 ref \n"
        "E0 " CODEC "data/cat=b/00001-1513-e7cec05f-b176-486a-856d-417aeb947326-0-00001.parquet PARQUET 1 880 snapshot "
        "1660235256879767063 ref \n",
        &counts);
    assert_true(counts.added == 0 && counts.existing == 1 && counts.deleted == 1);
    check_fixture(
        false, "manifest-deflate.avro",
        "A0 " CODEC "data/cat=a/00000-1516-c6b2ae46-16b4-4cac-bbfb-45cfa14548d3-0-00001.parquet PARQUET 1 879 snapshot "
        "2191005185554634859 ref \n"
        "A0 " CODEC "data/cat=b/00001-1517-c6b2ae46-16b4-4cac-bbfb-45cfa14548d3-0-00001.parquet PARQUET 1 880 snapshot "
        "2191005185554634859 ref \n",
        NULL);
    check_fixture(
        false, "manifest-python.avro",
        "A0 file:///ebb/wh/c22-pyiceberg/py/events/data/p=%252F/00000-0-93af3b61-6d42-4639-8495-3cf46b2c003d.parquet "
        "PARQUET 1 899 snapshot 70469578335630035 ref \n"
        "A0 file:///ebb/wh/c22-pyiceberg/py/events/data/p=z/00000-1-93af3b61-6d42-4639-8495-3cf46b2c003d.parquet "
        "PARQUET 1 889 snapshot 70469578335630035 ref \n",
        NULL);
    check_fixture(
        false, "manifest-v1.avro",
        "D0 file:/ebb/wh/c01-v1-basic/db/t/data/cat=a/00000-2-b58b5f9a-d28a-4bb4-b31a-00b49ed1f222-0-00001.parquet "
        "PARQUET 1 879 snapshot 4734436892878901633 ref \n",
        NULL);
}

/* Deletion vectors of format 3; uuid, decimal, date and void partition fields, one fixed type used twice. */
static void special_manifests_are_read(void **state)
{
    (void)state;
    check_fixture(
        false, "manifest-dv.avro",
        "A1 file:/ebb/wh/c04-v3-dv/db/dv/data/00001-302-443219f0-83d5-4893-9022-94874992e704-00001-deletes.puffin "
        "PUFFIN "
        "2 451 snapshot 6982329634637996116 ref "
        "file:/ebb/wh/c04-v3-dv/db/dv/data/cat=a/00000-292-eb44f9de-1f7b-44ae-97f7-a8c4f63fa2ea-0-00001.parquet\n",
        NULL);
    check_fixture(
        false, "manifest-types.avro",
        "A0 file:/ebb/wh/c39-partition-types/db/types/data/u1=00000000-0000-0000-0000-000000000002/"
        "u2=00000000-0000-0000-0000-000000000033/d=1.25/d2=-1.75/dt=2026-01-02/s_null=null/f1.parquet PARQUET 1 18 "
        "snapshot 5967459832123098442 ref \n",
        NULL);
}

/* A manifest cut at any byte is refused; only its header alone is a whole file. */
static void cut_manifests_are_refused(void **state)
{
    struct ebb_buf file;
    size_t whole = 0;

    (void)state;
    ebb_buf_init(&file, MAX);
    read_fixture("manifest-cut.avro", &file);
    check_bytes(false, ebb_buf_str(&file), NULL, EBB_EMANIFEST_CORRUPT, "past the end of the file", NULL);
    ebb_buf_reset(&file);
    read_fixture("manifest-deflate.avro", &file);
    for (size_t n = 0; n < file.len; n += n < 7000 ? 61 : 1) {
        struct ebb_avro_reader *reader;
        struct ebb_buf text;
        int rc;

        ebb_buf_init(&text, MAX);
        assert_int_equal(ebb_avro_reader_new(&reader, NULL), 0);
        rc = ebb_manifest_read(reader, "m", file.data, n, note_entry, &text, NULL, NULL);
        assert_true(rc == 0 || rc == -EBB_EMANIFEST_CORRUPT);
        assert_string_equal(ebb_buf_cstr(&text), "");
        whole += rc == 0;
        ebb_avro_reader_free(reader);
        ebb_buf_fini(&text);
    }
    assert_int_equal(whole, 1);
    ebb_buf_fini(&file);
}

#define REC(name, fields) "{\"type\":\"record\",\"name\":\"" name "\",\"fields\":[" fields "]}"
#define F(id, name, type) "{\"name\":\"" name "\",\"field-id\":" #id ",\"type\":" type "}"
#define OPT(type) "[\"null\"," type "]"
#define LIST_HEAD                                                                                                      \
    F(500, "manifest_path", "\"string\"")                                                                              \
    "," F(501, "manifest_length", "\"long\"") "," F(502, "partition_spec_id", "\"int\"")

/* A list or manifest of one block: what its rows give. */
static void check_rows(bool is_list, const char *schema, const char *const *meta, const char *rows, size_t n,
                       int64_t count, const char *lines, enum ebb_error kind, const char *error)
{
    struct ebb_buf file;

    ebb_buf_init(&file, MAX);
    put_header(&file, schema, NULL, meta);
    put_packed(&file, count, rows, n);
    check_bytes(is_list, ebb_buf_str(&file), lines, kind, error, NULL);
    ebb_buf_fini(&file);
}

#define LIST(schema, rows, count, lines)                                                                               \
    check_rows(true, schema, NULL, rows, sizeof(rows) - 1, count, lines, EBB_OK, NULL)
#define LIST_ERR(schema, rows, kind, error) check_rows(true, schema, NULL, rows, sizeof(rows) - 1, 1, NULL, kind, error)
#define ENTRY(schema, rows, count, lines)                                                                              \
    check_rows(false, schema, NULL, rows, sizeof(rows) - 1, count, lines, EBB_OK, NULL)
#define ENTRY_ERR(schema, rows, kind, error)                                                                           \
    check_rows(false, schema, NULL, rows, sizeof(rows) - 1, 1, NULL, kind, error)

static void lists_have_defaults(void **state)
{
    (void)state;
    LIST(REC("manifest_file", LIST_HEAD), "\2a\24\0\2b\26\2", 2,
         "a 10 spec 0 content 0 seq 0 snapshot -1 counts -1 -1 -1\nb 11 spec 1 content 0 seq 0 snapshot -1 counts -1 "
         "-1 -1\n");
    LIST(
        REC("x", LIST_HEAD
            "," F(503, "added_snapshot_id", OPT("\"long\"")) "," F(504, "added_data_files_count", OPT("\"int\"")) "," F(
                505, "existing_data_files_count", "[\"int\",\"null\"]") "," F(506, "deleted_data_files_count",
                                                                              OPT("\"int\""))),
        "\2a\24\0\0\0\2\0", 1, "a 10 spec 0 content 0 seq 0 snapshot -1 counts -1 -1 -1\n");
    LIST(REC("x", LIST_HEAD "," F(517, "content", "\"int\"") "," F(515, "sequence_number", "\"long\"") "," F(
                      504, "added_data_files_count", OPT("\"int\""))),
         "\2a\24\0\2\16\2\6", 1, "a 10 spec 0 content 1 seq 7 snapshot -1 counts 3 -1 -1\n");
    LIST(REC("x", F(500, "p", "[\"null\",\"bytes\"]") "," F(501, "l", "\"int\"") "," F(502, "s", "\"long\"")),
         "\2\2a\24\0", 1, "a 10 spec 0 content 0 seq 0 snapshot -1 counts -1 -1 -1\n");
    /* no ids at all: by name */
    LIST("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"partition_spec_id\",\"type\":\"int\"},"
         "{\"name\":\"manifest_length\",\"type\":\"long\"},{\"name\":\"manifest_path\",\"type\":\"string\"}]}",
         "\0\24\2a", 1, "a 10 spec 0 content 0 seq 0 snapshot -1 counts -1 -1 -1\n");
}

static void bad_lists_are_refused(void **state)
{
    (void)state;
    LIST_ERR(REC("x", LIST_HEAD), "\0\24\0", EBB_ELIST_CORRUPT, "path is empty");
    LIST_ERR(REC("x", LIST_HEAD), "\4a\0\24\0", EBB_ELIST_CORRUPT, "NUL");
    LIST_ERR(REC("x", LIST_HEAD), "\4a\344\24\0", EBB_ELIST_CORRUPT, "UTF-8");
    LIST_ERR(REC("x", LIST_HEAD), "\2a\1\0", EBB_ELIST_CORRUPT, "length");
    LIST_ERR(REC("x", LIST_HEAD "," F(517, "content", "\"int\"")), "\2a\24\0\4", EBB_ELIST_CORRUPT, "content 2");
    LIST_ERR(REC("x", LIST_HEAD "," F(506, "d", "\"int\"")), "\2a\24\0\1", EBB_ELIST_CORRUPT, "count");
    LIST_ERR(REC("x", F(500, "p", OPT("\"string\"")) "," F(501, "l", "\"int\"") "," F(502, "s", "\"int\"")), "\0\24\0",
             EBB_ELIST_CORRUPT, "is null");
    LIST_ERR(REC("x", F(501, "l", "\"int\"") "," F(502, "s", "\"int\"")), "\24\0", EBB_ELIST_CORRUPT,
             "no field manifest_path");
    LIST_ERR(REC("x", F(500, "p", "\"string\"") "," F(502, "s", "\"int\"")), "\2a\0", EBB_ELIST_CORRUPT,
             "no field manifest_length");
    check_bytes(true, EBB_STR(""), NULL, EBB_ELIST_CORRUPT, "not an Avro file", NULL);
}

static void encryption_is_seen(void **state)
{
    (void)state;
    LIST_ERR(REC("x", LIST_HEAD "," F(519, "key_metadata", OPT("\"bytes\""))), "\2a\24\0\2\2k", EBB_EENCRYPTED,
             "encrypted");
    LIST(REC("x", LIST_HEAD "," F(519, "key_metadata", OPT("\"bytes\""))), "\2a\24\0\2\0\2b\24\0\0", 2,
         "a 10 spec 0 content 0 seq 0 snapshot -1 counts -1 -1 -1\nb 10 spec 0 content 0 seq 0 snapshot -1 counts -1 "
         "-1 -1\n");
    check_bytes(true, EBB_STR("AGS1\0\0\20\0"), NULL, EBB_EENCRYPTED, "encrypted", NULL);
    check_bytes(false, EBB_STR("AGS1\0\0\20\0"), NULL, EBB_EENCRYPTED, "encrypted", NULL);
}

#define FILE_HEAD                                                                                                      \
    F(100, "file_path", "\"string\"")                                                                                  \
    "," F(101, "file_format", "\"string\"") "," F(103, "record_count", "\"long\"") "," F(104, "file_size_in_bytes",    \
                                                                                         "\"long\"")
#define STATUS F(0, "status", "\"int\"")

static void manifests_have_defaults(void **state)
{
    static const char *const deletes[] = {"content", "deletes", NULL};
    static const char *plain = REC("e", STATUS "," F(2, "data_file", REC("f", FILE_HEAD)));

    (void)state;
    ENTRY(plain,
          "\2\2a\6orc\2\4"
          "\0\2b\6ORC\2\4",
          2, "A0 a orc 1 2 snapshot -1 ref \nE0 b ORC 1 2 snapshot -1 ref \n");
    check_rows(false, plain, deletes, "\2\2a\6orc\2\4", 9, 1, "A1 a orc 1 2 snapshot -1 ref \n", EBB_OK, NULL);
    ENTRY(REC("e", STATUS "," F(1, "snapshot_id", OPT("\"long\"")) "," F(
                       2, "data_file",
                       REC("f", F(134, "content", "\"int\"") "," FILE_HEAD "," F(143, "referenced_data_file",
                                                                                 "[\"string\",\"null\"]")))),
          "\2\0\4\2a\6orc\2\4\0\2r"
          "\4\2\12\0\2b\6orc\2\4\2",
          2, "A2 a orc 1 2 snapshot -1 ref r\nD0 b orc 1 2 snapshot 5 ref \n");
    /* an unknown map before data_file, and a nullable data_file */
    ENTRY(REC("e", STATUS "," F(99, "m", "{\"type\":\"map\",\"values\":\"bytes\"}") "," F(2, "data_file",
                                                                                          OPT(REC("f", FILE_HEAD)))),
          "\2\2\2k\2v\0\2\2a\6orc\2\4", 1, "A0 a orc 1 2 snapshot -1 ref \n");
}

static void bad_manifests_are_refused(void **state)
{
    static const char *plain =
        REC("e", STATUS "," F(2, "data_file", REC("f", F(134, "content", "\"int\"") "," FILE_HEAD)));

    (void)state;
    ENTRY_ERR(plain, "\6\0\2a\6orc\2\4", EBB_EMANIFEST_CORRUPT, "status 3");
    ENTRY_ERR(plain, "\1\0\2a\6orc\2\4", EBB_EMANIFEST_CORRUPT, "status -1");
    ENTRY_ERR(plain, "\2\6\2a\6orc\2\4", EBB_EMANIFEST_CORRUPT, "content 3");
    ENTRY_ERR(plain, "\2\0\0\6orc\2\4", EBB_EMANIFEST_CORRUPT, "path is empty");
    ENTRY_ERR(plain, "\2\0\4a\0\6orc\2\4", EBB_EMANIFEST_CORRUPT, "NUL");
    ENTRY_ERR(plain, "\2\0\4a\200\6orc\2\4", EBB_EMANIFEST_CORRUPT, "UTF-8");
    ENTRY_ERR(plain, "\2\0\2a\16orc\2\4", EBB_EMANIFEST_CORRUPT, "past the end");
    ENTRY_ERR(REC("e", STATUS "," F(2, "data_file", OPT(REC("f", FILE_HEAD)))), "\2\0", EBB_EMANIFEST_CORRUPT,
              "is null");
    ENTRY_ERR(REC("e", STATUS), "\2", EBB_EMANIFEST_CORRUPT, "no field file_path");
    ENTRY_ERR(REC("e", F(2, "data_file", REC("f", FILE_HEAD))), "\2a\6orc\2\4", EBB_EMANIFEST_CORRUPT,
              "no field status");
    check_bytes(false, EBB_STR("PAR1...."), NULL, EBB_EMANIFEST_CORRUPT, "version 4", NULL);
}

static int refuse_ref(void *data, const struct ebb_manifest_ref *ref, struct ebb_err *err)
{
    (void)data;
    (void)ref;
    return ebb_err_set(err, EBB_ECORRUPT, "mine");
}

static void errors_of_the_callback_pass_unchanged(void **state)
{
    struct ebb_avro_reader *reader;
    struct ebb_buf file;
    struct ebb_err err;

    (void)state;
    ebb_buf_init(&file, MAX);
    read_fixture("list-null.avro", &file);
    assert_int_equal(ebb_avro_reader_new(&reader, NULL), 0);
    assert_int_equal(ebb_manifest_list_read(reader, "l", file.data, file.len, refuse_ref, NULL, &err), -EBB_ECORRUPT);
    assert_int_equal(err.error, EBB_ECORRUPT);
    assert_string_equal(err.message, "mine");
    ebb_avro_reader_free(reader);
    ebb_buf_fini(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_lists_are_read),        cmocka_unit_test(real_manifests_are_read),
        cmocka_unit_test(special_manifests_are_read), cmocka_unit_test(cut_manifests_are_refused),
        cmocka_unit_test(lists_have_defaults),        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(encryption_is_seen),         cmocka_unit_test(manifests_have_defaults),
        cmocka_unit_test(bad_manifests_are_refused),  cmocka_unit_test(errors_of_the_callback_pass_unchanged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
