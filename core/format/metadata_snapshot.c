/* SPDX-License-Identifier: Apache-2.0 */
#include "format/metadata_priv.h"

#include <inttypes.h>
#include <stdlib.h>

static int read_manifest(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    char **path = ebb__rows_add(&r->paths);
    int rc;

    if (!path)
        return ebb_err_nomem(err);
    rc = ebb__metadata_want(r, EBB_JSON_STRING, "manifests: an item", err);
    if (rc)
        return rc;
    if (r->j.text.n == 0)
        return ebb_json_fail(&r->j, err, "manifests: an item is empty");
    return ebb__metadata_text(r, "manifests", path, err);
}

/* An empty list must still be told from none: it gets an address. */
static int read_manifests(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    struct ebb_snapshot *snapshot = target;
    int rc = ebb__metadata_array(r, "manifests", read_manifest, err);

    if (!rc)
        rc = ebb__rows_take(&r->paths, &r->m->arena, &snapshot->manifests, &snapshot->manifest_count, err);
    if (!rc && !snapshot->manifests) {
        snapshot->manifests = ebb_arena_alloc(&r->m->arena, sizeof *snapshot->manifests);
        if (!snapshot->manifests)
            return ebb_err_nomem(err);
    }
    return rc;
}

static bool has_nul(struct ebb_str text)
{
    return text.n && memchr(text.p, '\0', text.n);
}

/* The key is current. What is not text is of no use to anybody and passed over. */
static int read_summary_item(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    struct ebb_pair *pair;
    char *name = NULL;
    int rc = 0;

    if (!has_nul(r->j.text))
        rc = ebb__metadata_text(r, "summary", &name, err);
    if (!rc)
        rc = ebb_json_next(&r->j, err);
    if (rc)
        return rc;
    if (!name || r->j.kind != EBB_JSON_STRING || has_nul(r->j.text))
        return ebb_json_skip(&r->j, err);
    pair = ebb__rows_add(&r->pairs);
    if (!pair)
        return ebb_err_nomem(err);
    pair->key = name;
    return ebb__metadata_text(r, "summary", &pair->value, err);
}

static int read_summary(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    struct ebb_snapshot *snapshot = target;
    int rc = ebb__metadata_want(r, EBB_JSON_OBJECT, "summary", err);

    while (!rc) {
        rc = ebb_json_next(&r->j, err);
        if (rc || r->j.kind == EBB_JSON_OBJECT_END)
            break;
        rc = read_summary_item(r, err);
    }
    if (!rc)
        rc = ebb__rows_take(&r->pairs, &r->m->arena, &snapshot->summary, &snapshot->summary_count, err);
    for (size_t i = 0; !rc && i < snapshot->summary_count; i++)
        if (!strcmp(snapshot->summary[i].key, "operation"))
            snapshot->operation = snapshot->summary[i].value;
    return rc;
}

static int read_key_id(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    (void)target;
    return ebb_err_set(err, EBB_EENCRYPTED, "%s: offset %zu: a snapshot has a key-id: its manifest list is encrypted",
                       r->j.name, r->j.token_at);
}

static const struct ebb__field FIELDS[] = {
    {"snapshot-id", EBB__FIELD_INT, EBB__REQUIRED, offsetof(struct ebb_snapshot, id), NULL},
    {"parent-snapshot-id", EBB__FIELD_INT, EBB__NULLABLE, offsetof(struct ebb_snapshot, parent_id), NULL},
    {"sequence-number", EBB__FIELD_INT, EBB__NULLABLE, offsetof(struct ebb_snapshot, sequence_number), NULL},
    {"timestamp-ms", EBB__FIELD_INT, EBB__REQUIRED, offsetof(struct ebb_snapshot, timestamp_ms), NULL},
    {"schema-id", EBB__FIELD_INT, EBB__NULLABLE, offsetof(struct ebb_snapshot, schema_id), NULL},
    {"manifest-list", EBB__FIELD_PATH, 0, offsetof(struct ebb_snapshot, manifest_list), NULL},
    {"manifests", EBB__FIELD_READ, 0, 0, read_manifests},
    {"summary", EBB__FIELD_READ, EBB__NULLABLE, 0, read_summary},
    {"key-id", EBB__FIELD_READ, EBB__NULLABLE, 0, read_key_id},
};

/* A snapshot that names no manifests in the way of its version is damage, never an empty snapshot. */
static int check_manifests(struct ebb__metadata_reader *r, struct ebb_snapshot *snapshot, struct ebb_err *err)
{
    if (snapshot->manifest_list) {
        snapshot->manifests = NULL;
        snapshot->manifest_count = 0;
        return 0;
    }
    if (!snapshot->manifests)
        return ebb_json_fail(&r->j, err, "snapshot %" PRId64 ": manifest-list is missing", snapshot->id);
    if (r->version >= 2)
        return ebb_json_fail(&r->j, err, "snapshot %" PRId64 ": manifests without manifest-list in version %" PRId64,
                             snapshot->id, r->version);
    return 0;
}

static int read_snapshot(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    struct ebb_snapshot *snapshot = ebb__rows_add(&r->snapshots);
    int rc;

    if (!snapshot)
        return ebb_err_nomem(err);
    snapshot->parent_id = -1;
    snapshot->schema_id = -1;
    snapshot->operation = r->empty;
    rc = ebb__metadata_object(r, "snapshot", FIELDS, sizeof FIELDS / sizeof FIELDS[0], snapshot, err);
    if (!rc)
        rc = check_manifests(r, snapshot, err);
    if (!rc && snapshot->id == -1)
        rc = ebb_json_fail(&r->j, err, "snapshot: -1 is not an id");
    return rc;
}

int ebb__metadata_snapshots(struct ebb__metadata_reader *r, void *target, struct ebb_err *err)
{
    (void)target;
    return ebb__metadata_array(r, "snapshots", read_snapshot, err);
}

static int compare_ids(const void *a, const void *b)
{
    const struct ebb_snapshot *x = *(const struct ebb_snapshot *const *)a;
    const struct ebb_snapshot *y = *(const struct ebb_snapshot *const *)b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static int sort_ids(struct ebb_metadata *m, const char *name, struct ebb_err *err)
{
    if (!m->snapshot_count)
        return 0;
    m->by_id = ebb_arena_alloc(&m->arena, m->snapshot_count * sizeof *m->by_id);
    if (!m->by_id)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < m->snapshot_count; i++)
        m->by_id[i] = &m->snapshots[i];
    qsort(m->by_id, m->snapshot_count, sizeof *m->by_id, compare_ids);
    for (size_t i = 1; i < m->snapshot_count; i++)
        if (m->by_id[i]->id == m->by_id[i - 1]->id)
            return ebb_err_set(err, EBB_ECORRUPT, "%s: snapshots: the id %" PRId64 " is repeated", name,
                               m->by_id[i]->id);
    return 0;
}

const struct ebb_snapshot *ebb_metadata_snapshot(const struct ebb_metadata *m, int64_t id)
{
    struct ebb_snapshot wanted = {.id = id};
    const struct ebb_snapshot *key = &wanted;
    const struct ebb_snapshot *const *found;

    if (!m->snapshot_count)
        return NULL;
    found = bsearch(&key, m->by_id, m->snapshot_count, sizeof *m->by_id, compare_ids);
    return found ? *found : NULL;
}

int ebb__metadata_check_snapshots(struct ebb__metadata_reader *r, struct ebb_err *err)
{
    struct ebb_metadata *m = r->m;
    int rc = sort_ids(m, r->j.name, err);

    if (rc)
        return rc;
    m->current_snapshot_id = r->top.current_snapshot_id;
    m->has_current_snapshot = m->current_snapshot_id != -1;
    if (m->has_current_snapshot && !ebb_metadata_snapshot(m, m->current_snapshot_id))
        return ebb_err_set(err, EBB_ECORRUPT, "%s: current-snapshot-id: %" PRId64 " is not in snapshots", r->j.name,
                           m->current_snapshot_id);
    for (size_t i = 0; i < m->ref_count; i++)
        if (!ebb_metadata_snapshot(m, m->refs[i].snapshot_id))
            return ebb_err_set(err, EBB_ECORRUPT, "%s: refs: %s: %" PRId64 " is not in snapshots", r->j.name,
                               m->refs[i].name, m->refs[i].snapshot_id);
    return 0;
}

const char *ebb_snapshot_summary(const struct ebb_snapshot *s, const char *key)
{
    for (size_t i = 0; i < s->summary_count; i++)
        if (!strcmp(s->summary[i].key, key))
            return s->summary[i].value;
    return NULL;
}
