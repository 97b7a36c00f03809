/* SPDX-License-Identifier: Apache-2.0 */
#include "format/manifest.h"

#include "base/text.h"

/* Both readers: who is called, and what the callback answered, so that its errors are passed on unchanged. */
struct reading {
    const char *name;
    ebb_manifest_ref_cb *on_ref;
    ebb_manifest_entry_cb *on_entry;
    void *data;
    int callback_rc;
    int default_content;
    bool has_parts;
    struct ebb_manifest_counts counts;
};

#define FIELD(id, name, type, required)                                                                                \
    {                                                                                                                  \
        {id, 0, 0}, {name, NULL, NULL}, type, required                                                                 \
    }
#define FILE_FIELD(id, name, type, required)                                                                           \
    {                                                                                                                  \
        {2, id, 0}, {"data_file", name, NULL}, type, required                                                          \
    }

/* An Avro string is UTF-8: a name that is not was damaged, and protects the wrong file. */
static bool is_path(struct ebb_str path)
{
    return path.n > 0 && !memchr(path.p, '\0', path.n) && ebb_text_is_utf8(path.p, path.n);
}

static int64_t number_or(const struct ebb_avro_value *value, int64_t otherwise)
{
    return value->is_set ? value->number : otherwise;
}

static struct ebb_str bytes_or_none(const struct ebb_avro_value *value)
{
    struct ebb_str none = {"", 0};

    return value->is_set ? value->bytes : none;
}

/* An error of the file, not of the callback, gets the kind of the file. */
static int as_kind(const struct reading *r, int rc, enum ebb_error kind, struct ebb_err *err)
{
    return rc == -EBB_ECORRUPT && !r->callback_rc ? ebb_err_as(err, kind, NULL) : rc;
}

enum {
    LIST_PATH,
    LIST_LENGTH,
    LIST_SPEC,
    LIST_CONTENT,
    LIST_SEQUENCE,
    LIST_SNAPSHOT,
    LIST_ADDED,
    LIST_EXISTING,
    LIST_DELETED,
    LIST_KEY,
    LIST_FIELDS
};

static const struct ebb_avro_want LIST_WANTS[LIST_FIELDS] = {
    [LIST_PATH] = FIELD(500, "manifest_path", EBB_AVRO_BYTES, true),
    [LIST_LENGTH] = FIELD(501, "manifest_length", EBB_AVRO_LONG, true),
    [LIST_SPEC] = FIELD(502, "partition_spec_id", EBB_AVRO_INT, true),
    [LIST_CONTENT] = FIELD(517, "content", EBB_AVRO_INT, false),
    [LIST_SEQUENCE] = FIELD(515, "sequence_number", EBB_AVRO_LONG, false),
    [LIST_SNAPSHOT] = FIELD(503, "added_snapshot_id", EBB_AVRO_LONG, false),
    [LIST_ADDED] = FIELD(504, "added_files_count", EBB_AVRO_INT, false),
    [LIST_EXISTING] = FIELD(505, "existing_files_count", EBB_AVRO_INT, false),
    [LIST_DELETED] = FIELD(506, "deleted_files_count", EBB_AVRO_INT, false),
    [LIST_KEY] = FIELD(519, "key_metadata", EBB_AVRO_BYTES, false),
};

static int check_ref(const struct reading *r, const struct ebb_avro_value *row, struct ebb_err *err)
{
    struct ebb_str path = row[LIST_PATH].bytes;
    int n = (int)(path.n < 400 ? path.n : 400);

    if (!is_path(path))
        return ebb_err_set(err, EBB_ECORRUPT, "%s: a manifest path is empty, holds a NUL byte or is not UTF-8",
                           r->name);
    if (bytes_or_none(&row[LIST_KEY]).n > 0)
        return ebb_err_set(err, EBB_EENCRYPTED, "%s: manifest %.*s is encrypted (key_metadata)", r->name, n, path.p);
    if (row[LIST_LENGTH].number < 0)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: length of manifest %.*s is negative", r->name, n, path.p);
    if (number_or(&row[LIST_CONTENT], 0) < 0 || number_or(&row[LIST_CONTENT], 0) > 1)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: content %lld of manifest %.*s is neither data nor deletes", r->name,
                           (long long)row[LIST_CONTENT].number, n, path.p);
    for (int i = LIST_ADDED; i <= LIST_DELETED; i++)
        if (number_or(&row[i], 0) < 0)
            return ebb_err_set(err, EBB_ECORRUPT, "%s: a file count of manifest %.*s is negative", r->name, n, path.p);
    return 0;
}

static int on_list_row(void *data, const struct ebb_avro_value *row, struct ebb_err *err)
{
    struct reading *r = data;
    struct ebb_manifest_ref ref;
    int rc = check_ref(r, row, err);

    if (rc)
        return rc;
    ref.path = row[LIST_PATH].bytes;
    ref.length = row[LIST_LENGTH].number;
    ref.spec_id = row[LIST_SPEC].number;
    ref.content = (int)number_or(&row[LIST_CONTENT], 0);
    ref.sequence_number = number_or(&row[LIST_SEQUENCE], 0);
    ref.added_snapshot_id = number_or(&row[LIST_SNAPSHOT], -1);
    ref.added_files = number_or(&row[LIST_ADDED], -1);
    ref.existing_files = number_or(&row[LIST_EXISTING], -1);
    ref.deleted_files = number_or(&row[LIST_DELETED], -1);
    r->callback_rc = r->on_ref(r->data, &ref, err);
    return r->callback_rc;
}

int ebb_manifest_list_read(struct ebb_avro_reader *reader, const char *name, const void *bytes, size_t n,
                           ebb_manifest_ref_cb *cb, void *data, struct ebb_err *err)
{
    struct reading r = {.name = name, .on_ref = cb, .data = data};
    int rc = ebb_avro_read(reader, name, bytes, n, LIST_WANTS, LIST_FIELDS, NULL, on_list_row, &r, err);

    return as_kind(&r, rc, EBB_ELIST_CORRUPT, err);
}

enum {
    ENTRY_STATUS,
    ENTRY_SNAPSHOT,
    ENTRY_CONTENT,
    ENTRY_PATH,
    ENTRY_FORMAT,
    ENTRY_RECORDS,
    ENTRY_SIZE,
    ENTRY_REFERENCED,
    ENTRY_FIELDS,
    ENTRY_CONTENT_SIZE = ENTRY_FIELDS, /* from here on with parts only */
    ENTRY_PARTS
};

static const struct ebb_avro_want ENTRY_WANTS[ENTRY_FIELDS] = {
    [ENTRY_STATUS] = FIELD(0, "status", EBB_AVRO_INT, true),
    [ENTRY_SNAPSHOT] = FIELD(1, "snapshot_id", EBB_AVRO_LONG, false),
    [ENTRY_CONTENT] = FILE_FIELD(134, "content", EBB_AVRO_INT, false),
    [ENTRY_PATH] = FILE_FIELD(100, "file_path", EBB_AVRO_BYTES, true),
    [ENTRY_FORMAT] = FILE_FIELD(101, "file_format", EBB_AVRO_BYTES, true),
    [ENTRY_RECORDS] = FILE_FIELD(103, "record_count", EBB_AVRO_LONG, true),
    [ENTRY_SIZE] = FILE_FIELD(104, "file_size_in_bytes", EBB_AVRO_LONG, true),
    [ENTRY_REFERENCED] = FILE_FIELD(143, "referenced_data_file", EBB_AVRO_BYTES, false),
};

static int check_entry(const struct reading *r, const struct ebb_avro_value *row, struct ebb_err *err)
{
    int64_t status = row[ENTRY_STATUS].number, content = number_or(&row[ENTRY_CONTENT], 0);

    if (status < EBB_ENTRY_EXISTING || status > EBB_ENTRY_DELETED)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: entry status %lld is not known", r->name, (long long)status);
    if (content < 0 || content > 2)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: entry content %lld is not known", r->name, (long long)content);
    if (!is_path(row[ENTRY_PATH].bytes) ||
        (bytes_or_none(&row[ENTRY_REFERENCED]).n > 0 && !is_path(row[ENTRY_REFERENCED].bytes)))
        return ebb_err_set(err, EBB_ECORRUPT, "%s: a file path is empty, holds a NUL byte or is not UTF-8", r->name);
    return 0;
}

static void count_entry(struct ebb_manifest_counts *counts, enum ebb_entry_status status)
{
    if (status == EBB_ENTRY_ADDED)
        counts->added++;
    else if (status == EBB_ENTRY_EXISTING)
        counts->existing++;
    else
        counts->deleted++;
}

static int on_manifest_row(void *data, const struct ebb_avro_value *row, struct ebb_err *err)
{
    struct reading *r = data;
    struct ebb_manifest_entry entry;
    int rc = check_entry(r, row, err);

    if (rc)
        return rc;
    entry.status = (enum ebb_entry_status)row[ENTRY_STATUS].number;
    entry.content = (int)number_or(&row[ENTRY_CONTENT], r->default_content);
    entry.file_path = row[ENTRY_PATH].bytes;
    entry.file_format = row[ENTRY_FORMAT].bytes;
    entry.referenced_data_file = bytes_or_none(&row[ENTRY_REFERENCED]);
    entry.snapshot_id = number_or(&row[ENTRY_SNAPSHOT], -1);
    entry.record_count = row[ENTRY_RECORDS].number;
    entry.file_size_bytes = row[ENTRY_SIZE].number;
    entry.content_size_bytes = r->has_parts ? number_or(&row[ENTRY_CONTENT_SIZE], -1) : -1;
    entry.partition = r->has_parts ? row + ENTRY_PARTS : NULL;
    count_entry(&r->counts, entry.status);
    r->callback_rc = r->on_entry(r->data, &entry, err);
    return r->callback_rc;
}

/* The header's `content` decides where the entries do not say it themselves. */
static int on_manifest_meta(void *data, struct ebb_str key, struct ebb_str value, struct ebb_err *err)
{
    struct reading *r = data;

    (void)err;
    if (ebb_str_is_equal(key, EBB_STR("content")) && ebb_str_is_equal(value, EBB_STR("deletes")))
        r->default_content = 1;
    return 0;
}

static int read_entries(struct reading *r, struct ebb_avro_reader *reader, const void *bytes, size_t n,
                        const struct ebb_avro_want *wants, size_t want_count, struct ebb_manifest_counts *counts,
                        struct ebb_err *err)
{
    int rc;

    if (n >= 4 && !memcmp(bytes, "PAR1", 4))
        return ebb_err_set(err, EBB_EMANIFEST_CORRUPT, "%s: Parquet manifests of format version 4 are not supported",
                           r->name);
    rc = ebb_avro_read(reader, r->name, bytes, n, wants, want_count, on_manifest_meta, on_manifest_row, r, err);
    if (!rc && counts)
        *counts = r->counts;
    return as_kind(r, rc, EBB_EMANIFEST_CORRUPT, err);
}

int ebb_manifest_read(struct ebb_avro_reader *reader, const char *name, const void *bytes, size_t n,
                      ebb_manifest_entry_cb *cb, void *data, struct ebb_manifest_counts *counts, struct ebb_err *err)
{
    struct reading r = {.name = name, .on_entry = cb, .data = data};

    return read_entries(&r, reader, bytes, n, ENTRY_WANTS, ENTRY_FIELDS, counts, err);
}

int ebb_manifest_read_parts(struct ebb_avro_reader *reader, const char *name, const void *bytes, size_t n,
                            const struct ebb_manifest_part *parts, size_t part_count, ebb_manifest_entry_cb *cb,
                            void *data, struct ebb_manifest_counts *counts, struct ebb_err *err)
{
    static const struct ebb_avro_want SIZE = FILE_FIELD(145, "content_size_in_bytes", EBB_AVRO_LONG, false);
    struct reading r = {.name = name, .on_entry = cb, .data = data, .has_parts = true};
    struct ebb_avro_want wants[ENTRY_PARTS + EBB_MANIFEST_PARTS_MAX];

    if (part_count > EBB_MANIFEST_PARTS_MAX)
        return ebb_err_set(err, EBB_ELIMIT, "%s: more than %d partition fields", name, EBB_MANIFEST_PARTS_MAX);
    memcpy(wants, ENTRY_WANTS, sizeof ENTRY_WANTS);
    wants[ENTRY_CONTENT_SIZE] = SIZE;
    for (size_t i = 0; i < part_count; i++)
        wants[ENTRY_PARTS + i] = (struct ebb_avro_want){
            {2, 102, parts[i].field_id}, {"data_file", "partition", parts[i].name}, parts[i].type, false};
    return read_entries(&r, reader, bytes, n, wants, ENTRY_PARTS + part_count, counts, err);
}
