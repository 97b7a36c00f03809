/* SPDX-License-Identifier: Apache-2.0 */
#include "format/metadata_priv.h"

#include <strings.h>

#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

/* The members of an object whose keys are data: item is called with each key as the current token. */
static int read_members(struct ebb__metadata_reader *r, const char *what,
                        int (*item)(struct ebb__metadata_reader *r, struct ebb_err *err), struct ebb_err *err)
{
    int rc = ebb__metadata_want(r, EBB_JSON_OBJECT, what, err);

    while (!rc) {
        rc = ebb_json_next(&r->j, err);
        if (rc || r->j.kind == EBB_JSON_OBJECT_END)
            break;
        rc = item(r, err);
    }
    return rc;
}

static int read_ref_type(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    struct ebb_ref *ref = target;
    char *type;
    int rc = ebb__metadata_want(r, EBB_JSON_STRING, "refs: type", err);

    if (!rc)
        rc = ebb__metadata_text(r, "refs: type", &type, err);
    if (rc)
        return rc;
    ref->is_branch = !strcasecmp(type, "branch");
    if (!ref->is_branch && strcasecmp(type, "tag"))
        return ebb_json_fail(&r->j, err, "refs: %s: type is neither branch nor tag", ref->name);
    return 0;
}

static int read_ref(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    static const struct ebb__field FIELDS[] = {
        {"snapshot-id", EBB__FIELD_INT, EBB__REQUIRED, offsetof(struct ebb_ref, snapshot_id), NULL},
        {"type", EBB__FIELD_READ, EBB__REQUIRED, 0, read_ref_type},
        {"min-snapshots-to-keep", EBB__FIELD_INT, EBB__NULLABLE, offsetof(struct ebb_ref, min_snapshots_to_keep), NULL},
        {"max-snapshot-age-ms", EBB__FIELD_INT, EBB__NULLABLE, offsetof(struct ebb_ref, max_snapshot_age_ms), NULL},
    };
    struct ebb_ref *ref = ebb__rows_add(&r->refs);
    int rc;

    if (!ref)
        return ebb_err_nomem(err);
    rc = ebb__metadata_text(r, "refs", &ref->name, err);
    if (!rc)
        rc = ebb_json_next(&r->j, err);
    return rc ? rc : ebb__metadata_object(r, "refs", FIELDS, COUNT(FIELDS), ref, err);
}

int ebb__metadata_refs(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    (void)target;
    r->top.has_refs = true;
    return read_members(r, "refs", read_ref, err);
}

static int read_statistics_file(struct ebb__metadata_reader *r, const char *what, bool is_partition,
                                struct ebb_err *err)
{
    static const struct ebb__field FIELDS[] = {
        {"snapshot-id", EBB__FIELD_INT, EBB__REQUIRED, offsetof(struct ebb_statistics_file, snapshot_id), NULL},
        {"statistics-path", EBB__FIELD_PATH, EBB__REQUIRED, offsetof(struct ebb_statistics_file, path), NULL},
    };
    struct ebb_statistics_file *file = ebb__rows_add(&r->statistics);

    if (!file)
        return ebb_err_nomem(err);
    file->is_partition = is_partition;
    return ebb__metadata_object(r, what, FIELDS, COUNT(FIELDS), file, err);
}

static int read_table_statistics(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    return read_statistics_file(r, "statistics", false, err);
}

static int read_partition_statistics(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    return read_statistics_file(r, "partition-statistics", true, err);
}

int ebb__metadata_statistics(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    (void)target;
    return ebb__metadata_array(r, "statistics", read_table_statistics, err);
}

int ebb__metadata_partition_statistics(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    (void)target;
    return ebb__metadata_array(r, "partition-statistics", read_partition_statistics, err);
}

static int read_log_entry(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    static const struct ebb__field FIELDS[] = {
        {"timestamp-ms", EBB__FIELD_INT, EBB__REQUIRED, offsetof(struct ebb_log_entry, timestamp_ms), NULL},
        {"metadata-file", EBB__FIELD_PATH, EBB__REQUIRED, offsetof(struct ebb_log_entry, file), NULL},
    };
    struct ebb_log_entry *entry = ebb__rows_add(&r->log);

    if (!entry)
        return ebb_err_nomem(err);
    return ebb__metadata_object(r, "metadata-log", FIELDS, COUNT(FIELDS), entry, err);
}

int ebb__metadata_log(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    (void)target;
    return ebb__metadata_array(r, "metadata-log", read_log_entry, err);
}

/* A value that is no text is refused: "gc.enabled": false must not pass for absent. */
static int read_property(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    struct ebb_pair *pair = ebb__rows_add(&r->properties);
    int rc;

    if (!pair)
        return ebb_err_nomem(err);
    rc = ebb__metadata_text(r, "properties", &pair->key, err);
    if (!rc)
        rc = ebb_json_next(&r->j, err);
    if (!rc)
        rc = ebb__metadata_want(r, EBB_JSON_STRING, pair->key, err);
    if (!rc && !strcmp(pair->key, "encryption.key-id"))
        rc = ebb_err_set(err, EBB_EENCRYPTED, "%s: properties: encryption.key-id is set: the table is encrypted",
                         r->j.name);
    return rc ? rc : ebb__metadata_text(r, pair->key, &pair->value, err);
}

int ebb__metadata_properties(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    (void)target;
    return read_members(r, "properties", read_property, err);
}
