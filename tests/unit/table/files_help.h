/* SPDX-License-Identifier: Apache-2.0
 *
 * Manifests of a table, written entry by entry: one data column "region", which spec 1 partitions by.
 */
#ifndef EBB_TESTS_FILES_HELP_H
#define EBB_TESTS_FILES_HELP_H

#include "../format/avro_help.h"

#include "table_help.h"

#define LIST_SCHEMA                                                                                                    \
    "{\"type\":\"record\",\"name\":\"manifest_file\",\"fields\":["                                                     \
    "{\"name\":\"manifest_path\",\"type\":\"string\",\"field-id\":500},"                                               \
    "{\"name\":\"manifest_length\",\"type\":\"long\",\"field-id\":501},"                                               \
    "{\"name\":\"partition_spec_id\",\"type\":\"int\",\"field-id\":502},"                                              \
    "{\"name\":\"content\",\"type\":\"int\",\"field-id\":517},"                                                        \
    "{\"name\":\"added_snapshot_id\",\"type\":\"long\",\"field-id\":503}]}"
#define MANIFEST_SCHEMA(type)                                                                                          \
    "{\"type\":\"record\",\"name\":\"manifest_entry\",\"fields\":["                                                    \
    "{\"name\":\"status\",\"type\":\"int\",\"field-id\":0},"                                                           \
    "{\"name\":\"snapshot_id\",\"type\":[\"null\",\"long\"],\"field-id\":1},"                                          \
    "{\"name\":\"data_file\",\"field-id\":2,\"type\":{\"type\":\"record\",\"name\":\"r2\",\"fields\":["                \
    "{\"name\":\"content\",\"type\":\"int\",\"field-id\":134},"                                                        \
    "{\"name\":\"file_path\",\"type\":\"string\",\"field-id\":100},"                                                   \
    "{\"name\":\"file_format\",\"type\":\"string\",\"field-id\":101},"                                                 \
    "{\"name\":\"partition\",\"field-id\":102,\"type\":{\"type\":\"record\",\"name\":\"r102\",\"fields\":["            \
    "{\"name\":\"region\",\"type\":[\"null\",\"" type "\"],\"field-id\":1000}]}},"                                     \
    "{\"name\":\"record_count\",\"type\":\"long\",\"field-id\":103},"                                                  \
    "{\"name\":\"file_size_in_bytes\",\"type\":\"long\",\"field-id\":104},"                                            \
    "{\"name\":\"content_size_in_bytes\",\"type\":[\"null\",\"long\"],\"field-id\":145}]}}]}"

struct entry {
    int status;
    int64_t snapshot; /* 0: inherit */
    int content;
    const char *region; /* NULL: null */
    int64_t records, size, content_size;
    const char *path; /* NULL: of no matter */
};

struct manifests {
    struct table_fixture *t;
    const char *uuid, *codec;
    struct ebb_buf rows; /* of the list */
    int64_t row_count;
    int count;
};

static inline void manifests_init(struct manifests *f, struct table_fixture *t)
{
    memset(f, 0, sizeof *f);
    f->t = t;
    f->uuid = UUID_A;
    f->codec = "deflate";
    ebb_buf_init(&f->rows, 1 << 20);
}

static inline void manifests_fini(struct manifests *f)
{
    ebb_buf_fini(&f->rows);
}

static inline void put_bytes_at(const char *path, const struct ebb_buf *bytes)
{
    FILE *file;

    make_parents(path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->data, 1, bytes->len, file), bytes->len);
    assert_int_equal(fclose(file), 0);
}

static inline void put_optional(struct ebb_buf *rows, int64_t value)
{
    put_long(rows, value ? 1 : 0);
    if (value)
        put_long(rows, value);
}

static inline void put_entry(struct manifests *f, struct ebb_buf *rows, const struct entry *e)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", f->t->uri, e->path ? e->path : "data/none.parquet");
    put_long(rows, e->status);
    put_optional(rows, e->snapshot);
    put_long(rows, e->content);
    put_text(rows, path);
    put_text(rows, "PARQUET");
    put_long(rows, e->region ? 1 : 0);
    if (e->region)
        put_text(rows, e->region);
    put_long(rows, e->records);
    put_long(rows, e->size);
    put_optional(rows, e->content_size);
}

static inline void add_manifest(struct manifests *f, int64_t snapshot, const struct entry *entries, size_t count)
{
    struct ebb_buf rows, file;
    char path[512];

    ebb_buf_init(&rows, 64 << 20);
    ebb_buf_init(&file, 64 << 20);
    for (size_t i = 0; i < count; i++)
        put_entry(f, &rows, &entries[i]);
    put_header(&file, MANIFEST_SCHEMA("string"), f->codec, NULL);
    if (count)
        put_block(&file, f->codec, (int64_t)count, &rows);
    snprintf(path, sizeof path, "%s/metadata/m%d.avro", f->t->location, ++f->count);
    put_bytes_at(path, &file);
    snprintf(path, sizeof path, "%s/metadata/m%d.avro", f->t->uri, f->count);
    put_text(&f->rows, path);
    put_long(&f->rows, (int64_t)file.len);
    put_long(&f->rows, 1);
    put_long(&f->rows, 0);
    put_long(&f->rows, snapshot);
    f->row_count++;
    ebb_buf_fini(&rows);
    ebb_buf_fini(&file);
}

#define SPECS                                                                                                          \
    "{\"spec-id\":0,\"fields\":[]},{\"spec-id\":1,\"fields\":[{\"source-id\":1,\"field-id\":1000,\"name\":\"region\"," \
    "\"transform\":\"identity\"}]}"

/* A version with the manifests of the list so far, as the list of the current snapshot. */
static inline void commit_list(struct manifests *f, const char *column_type, const char *snapshots,
                               const char *properties)
{
    struct ebb_buf file;
    char path[512], hint[16], text[16384], list[512];

    ebb_buf_init(&file, 1 << 20);
    put_header(&file, LIST_SCHEMA, "null", NULL);
    if (f->row_count)
        put_block(&file, "null", f->row_count, &f->rows);
    snprintf(path, sizeof path, "%s/metadata/list.avro", f->t->location);
    put_bytes_at(path, &file);
    ebb_buf_fini(&file);
    f->t->version++;
    snprintf(list, sizeof list, "\"sequence-number\":1,\"manifest-list\":\"%s/metadata/list.avro\"", f->t->uri);
    snprintf(text, sizeof text,
             "{\"format-version\":2,\"table-uuid\":\"%s\",\"location\":\"%s\",\"last-sequence-number\":9,"
             "\"last-updated-ms\":1,\"current-snapshot-id\":3,\"current-schema-id\":0,\"default-spec-id\":1,"
             "\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"region\","
             "\"required\":false,\"type\":\"%s\"}]}],\"partition-specs\":[" SPECS "],\"properties\":{%s},"
             "\"snapshots\":[%s{\"snapshot-id\":3,\"parent-snapshot-id\":2,\"timestamp-ms\":3000,%s,"
             "\"summary\":{\"operation\":\"append\"}}]}",
             f->uuid, f->t->uri, column_type, properties, snapshots, list);
    snprintf(path, sizeof path, "%s/metadata/v%d.metadata.json", f->t->location, f->t->version);
    write_path(path, text);
    snprintf(path, sizeof path, "%s/metadata/version-hint.text", f->t->location);
    snprintf(hint, sizeof hint, "%d", f->t->version);
    write_path(path, hint);
}

static inline void snapshot_text(struct manifests *f, int id, int parent, char out[512])
{
    snprintf(out, 512,
             "{\"snapshot-id\":%d,\"parent-snapshot-id\":%d,\"timestamp-ms\":%d000,\"sequence-number\":1,"
             "\"manifest-list\":\"%s/metadata/list.avro\",\"summary\":{\"operation\":\"append\"}},",
             id, parent, id, f->t->uri);
}

#endif
