/* SPDX-License-Identifier: Apache-2.0 */
#include "format/metadata_priv.h"

#include "format/gunzip_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#define NEWEST_VERSION 3
#define ARENA_FACTOR 16
#define ARENA_SLACK_BYTES ((size_t)1 << 20)

int ebb__metadata_rc(int rc, struct ebb_err *err)
{
    return rc == -EBB_ECORRUPT || rc == -EBB_ELIMIT ? ebb_err_as(err, EBB_EMETADATA, NULL) : rc;
}

static int read_uuid(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    int rc = ebb__metadata_want(r, EBB_JSON_STRING, "table-uuid", err);

    (void)target;
    if (!rc)
        rc = ebb__metadata_text(r, "table-uuid", &r->m->uuid, err);
    if (!rc && !ebb__metadata_clean_uuid(r->m->uuid))
        rc = ebb_json_fail(&r->j, err, "table-uuid: is empty or holds control characters");
    return rc;
}

static int read_location(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    int rc = ebb__metadata_want(r, EBB_JSON_STRING, "location", err);

    (void)target;
    if (!rc && r->j.text.n == 0)
        rc = ebb_json_fail(&r->j, err, "location: is empty");
    if (!rc)
        rc = ebb__metadata_text(r, "location", &r->m->location, err);
    if (!rc)
        ebb__metadata_clean_location(r->m->location);
    return rc;
}

/* An empty list of keys says nothing; anything else is taken for encryption. */
static int read_encryption_keys(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    size_t at = r->j.token_at;
    int rc = 0;

    (void)target;
    if (r->j.kind == EBB_JSON_ARRAY)
        rc = ebb_json_next(&r->j, err);
    if (rc || r->j.kind == EBB_JSON_ARRAY_END)
        return rc;
    return ebb_err_set(err, EBB_EENCRYPTED, "%s: offset %zu: encryption-keys: the table is encrypted", r->j.name, at);
}

#define TOP(member) offsetof(struct ebb__metadata_top, member)

static const struct ebb__field FIELDS[] = {
    {"format-version", EBB__FIELD_INT, EBB__REQUIRED, TOP(format_version), NULL},
    {"table-uuid", EBB__FIELD_READ, EBB__REQUIRED_V2 | EBB__NULLABLE, 0, read_uuid},
    {"location", EBB__FIELD_READ, EBB__REQUIRED, 0, read_location},
    {"last-updated-ms", EBB__FIELD_INT, EBB__REQUIRED, TOP(last_updated_ms), NULL},
    {"last-sequence-number", EBB__FIELD_INT, EBB__REQUIRED_V2, TOP(last_sequence_number), NULL},
    {"current-snapshot-id", EBB__FIELD_INT, EBB__NULLABLE, TOP(current_snapshot_id), NULL},
    {"snapshots", EBB__FIELD_READ, 0, 0, ebb__metadata_snapshots},
    {"refs", EBB__FIELD_READ, EBB__NULLABLE, 0, ebb__metadata_refs},
    {"statistics", EBB__FIELD_READ, EBB__NULLABLE, 0, ebb__metadata_statistics},
    {"partition-statistics", EBB__FIELD_READ, EBB__NULLABLE, 0, ebb__metadata_partition_statistics},
    {"metadata-log", EBB__FIELD_READ, EBB__NULLABLE, 0, ebb__metadata_log},
    {"properties", EBB__FIELD_READ, EBB__NULLABLE, 0, ebb__metadata_properties},
    {"encryption-keys", EBB__FIELD_READ, EBB__NULLABLE, 0, read_encryption_keys},
    {"partition-specs", EBB__FIELD_READ, EBB__REQUIRED_V2, 0, ebb__metadata_specs},
    {"partition-spec", EBB__FIELD_READ, EBB__NULLABLE, 0, ebb__metadata_v1_spec},
    {"default-spec-id", EBB__FIELD_INT, EBB__NULLABLE, TOP(default_spec_id), NULL},
    {"schemas", EBB__FIELD_RAW_ARRAY, EBB__NULLABLE, TOP(schemas), NULL},
    {"schema", EBB__FIELD_RAW_OBJECT, EBB__NULLABLE, TOP(schema), NULL},
    {"current-schema-id", EBB__FIELD_INT, EBB__NULLABLE, TOP(current_schema_id), NULL},
    {"sort-orders", EBB__FIELD_RAW_ARRAY, EBB__NULLABLE, TOP(sort_orders), NULL},
    {"default-sort-order-id", EBB__FIELD_INT, EBB__NULLABLE, TOP(default_sort_order_id), NULL},
};

/* The version decides what the rest means, so it is sought first, wherever it stands. */
static int find_version(const char *name, struct ebb_str text, int64_t *out, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, name, text.p, text.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "table metadata", err);
    while (!rc) {
        rc = ebb_json_next(&j, err);
        if (!rc && j.kind == EBB_JSON_OBJECT_END)
            rc = ebb_json_fail(&j, err, "format-version is missing");
        if (rc || ebb_json_is_text(&j, "format-version"))
            break;
        rc = ebb_json_skip(&j, err);
    }
    if (!rc)
        rc = ebb_json_read_int(&j, "format-version", out, err);
    ebb_json_fini(&j);
    if (!rc && (*out < 1 || *out > NEWEST_VERSION)) {
        rc = ebb_err_set(err, EBB_EVERSION, "%s: format-version: %" PRId64 " is not known, only 1 to %d", name, *out,
                         NEWEST_VERSION);
        ebb_err_hint(err, "a newer format names files in ways that this program does not follow");
    }
    return rc;
}

static void reader_init(struct ebb__metadata_reader *r, const char *name, struct ebb_str text, struct ebb_metadata *m)
{
    memset(r, 0, sizeof *r);
    ebb_json_init(&r->j, name, text.p, text.n);
    r->m = m;
    r->version = m->format_version;
    r->top.current_snapshot_id = -1;
    ebb__rows_init(&r->snapshots, sizeof(struct ebb_snapshot));
    ebb__rows_init(&r->refs, sizeof(struct ebb_ref));
    ebb__rows_init(&r->statistics, sizeof(struct ebb_statistics_file));
    ebb__rows_init(&r->log, sizeof(struct ebb_log_entry));
    ebb__rows_init(&r->properties, sizeof(struct ebb_pair));
    ebb__rows_init(&r->spec_fields, sizeof(struct ebb_spec_field));
    ebb__rows_init(&r->v1_fields, sizeof(struct ebb_spec_field));
    ebb__rows_init(&r->spec_ids, sizeof(int64_t));
    ebb__rows_init(&r->pairs, sizeof(struct ebb_pair));
    ebb__rows_init(&r->paths, sizeof(char *));
}

static void reader_fini(struct ebb__metadata_reader *r)
{
    ebb__rows_fini(&r->paths);
    ebb__rows_fini(&r->pairs);
    ebb__rows_fini(&r->spec_ids);
    ebb__rows_fini(&r->v1_fields);
    ebb__rows_fini(&r->spec_fields);
    ebb__rows_fini(&r->properties);
    ebb__rows_fini(&r->log);
    ebb__rows_fini(&r->statistics);
    ebb__rows_fini(&r->refs);
    ebb__rows_fini(&r->snapshots);
    ebb_json_fini(&r->j);
}

/* Without any refs the current snapshot is that of the branch main. */
static int add_main(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    struct ebb_ref *ref;

    if (r->top.has_refs || r->top.current_snapshot_id == -1)
        return 0;
    ref = ebb__rows_add(&r->refs);
    if (!ref)
        return ebb_err_nomem(err);
    ref->name = ebb_arena_dup(&r->m->arena, "main", 4);
    ref->snapshot_id = r->top.current_snapshot_id;
    ref->is_branch = true;
    return ref->name ? 0 : ebb_err_nomem(err);
}

static int take_top(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    struct ebb_metadata *m = r->m;
    int rc = add_main(r, err);

    m->last_updated_ms = r->top.last_updated_ms;
    m->last_sequence_number = r->top.last_sequence_number;
    if (!rc)
        rc = ebb__rows_take(&r->snapshots, &m->arena, &m->snapshots, &m->snapshot_count, err);
    if (!rc)
        rc = ebb__rows_take(&r->refs, &m->arena, &m->refs, &m->ref_count, err);
    if (!rc)
        rc = ebb__rows_take(&r->statistics, &m->arena, &m->statistics, &m->statistics_count, err);
    if (!rc)
        rc = ebb__rows_take(&r->log, &m->arena, &m->metadata_log, &m->metadata_log_count, err);
    if (!rc)
        rc = ebb__rows_take(&r->properties, &m->arena, &m->properties, &m->property_count, err);
    return rc;
}

static int read_document(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    int rc;

    r->empty = ebb_arena_dup(&r->m->arena, "", 0);
    if (!r->empty)
        return ebb_err_nomem(err);
    rc = ebb_json_next(&r->j, err);
    if (!rc)
        rc = ebb__metadata_object(r, "table metadata", FIELDS, sizeof FIELDS / sizeof FIELDS[0], &r->top, err);
    if (!rc)
        rc = ebb_json_expect(&r->j, EBB_JSON_END, "table metadata", err);
    if (!rc)
        rc = take_top(r, err);
    if (!rc)
        rc = ebb__metadata_check_snapshots(r, err);
    return rc ? rc : ebb__metadata_choose(r, err);
}

static int parse_text(const char *name, struct ebb_str text, struct ebb_metadata **out, struct ebb_err *err)
{
    struct ebb__metadata_reader r;
    struct ebb_metadata *m;
    int64_t version = 0;
    int rc = find_version(name, text, &version, err);

    if (rc)
        return rc;
    m = calloc(1, sizeof *m);
    if (!m)
        return ebb_err_nomem(err);
    ebb_arena_init(&m->arena, text.n * ARENA_FACTOR + ARENA_SLACK_BYTES);
    m->format_version = (int)version;
    reader_init(&r, name, text, m);
    rc = read_document(&r, err);
    reader_fini(&r);
    if (rc)
        ebb_metadata_free(m);
    else
        *out = m;
    return rc;
}

int ebb_metadata_parse(const char *name, const void *bytes, size_t n, struct ebb_metadata **out, struct ebb_err *err)
{
    struct ebb_buf unzipped;
    struct ebb_str text = {bytes, n};
    bool is_gzip;
    int rc = 0;

    *out = NULL;
    ebb_buf_init(&unzipped, EBB_METADATA_MAX_BYTES);
    ebb_metadata_is_name(name, &is_gzip);
    if (is_gzip || ebb__gunzip_is_magic(bytes, n)) {
        rc = ebb__gunzip(name, bytes, n, &unzipped, NULL, err);
        text = ebb_buf_str(&unzipped);
    }
    if (!rc && text.n > EBB_METADATA_MAX_BYTES)
        rc = ebb_err_set(err, EBB_ELIMIT, "%s: longer than %zu bytes", name, EBB_METADATA_MAX_BYTES);
    if (!rc)
        rc = parse_text(name, text, out, err);
    ebb_buf_fini(&unzipped);
    return ebb__metadata_rc(rc, err);
}

void ebb_metadata_free(struct ebb_metadata *m)
{
    if (!m)
        return;
    ebb_arena_fini(&m->arena);
    free(m);
}

const char *ebb_metadata_property(const struct ebb_metadata *m, const char *key)
{
    for (size_t i = 0; i < m->property_count; i++)
        if (!strcmp(m->properties[i].key, key))
            return m->properties[i].value;
    return NULL;
}

bool ebb_metadata_is_gc_enabled(const struct ebb_metadata *m)
{
    const char *value = ebb_metadata_property(m, "gc.enabled");

    return !value || !strcasecmp(value, "true");
}
