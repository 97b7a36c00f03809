/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "table/files_walk_priv.h"

struct ebb_writes {
    struct ebb__files_walk walk;
    struct ebb_buf uri;
    int64_t files_left;
    /* of the snapshot at hand: */
    const struct ebb_snapshot *snapshot;
    int64_t oldest_ms;
    bool has_files;
};

int ebb_writes_new(const struct ebb_site *site, const struct ebb_table *table, struct ebb_writes **out,
                   struct ebb_err *err)
{
    struct ebb_writes *w = calloc(1, sizeof *w);
    int rc;

    *out = NULL;
    if (!w)
        return ebb_err_nomem(err);
    ebb_buf_init(&w->uri, 2 * EBB_LOCATION_MAX_BYTES);
    w->files_left = EBB_WRITES_FILES_MAX;
    rc = ebb__files_walk_init(&w->walk, site, table, err);
    if (rc)
        ebb_writes_free(w);
    else
        *out = w;
    return rc;
}

void ebb_writes_free(struct ebb_writes *w)
{
    if (!w)
        return;
    ebb__files_walk_fini(&w->walk);
    ebb_buf_fini(&w->uri);
    free(w);
}

static int look_at(struct ebb_writes *w, struct ebb_str path, struct ebb_err *err)
{
    const struct ebb_site *site = w->walk.site;
    struct ebb_stat st;
    int64_t at;
    int rc;

    if (!w->files_left--)
        return ebb_err_set(err, EBB_ELIMIT, "%s: its writers added more than %lld files", w->walk.table->label,
                           (long long)EBB_WRITES_FILES_MAX);
    rc = ebb__piece_uri(site, w->walk.table, NULL, path, &w->uri, err);
    if (!rc)
        rc = ebb_storage_stat(site->storage, ebb_buf_cstr(&w->uri), &st, err);
    if (rc)
        return rc;
    at = st.mtime_ns / 1000000;
    if (!st.is_file || st.mtime_ns <= 0 || at > w->snapshot->timestamp_ms + EBB_WRITES_SKEW_MS)
        return ebb_err_set(err, EBB_EMETADATA, "%s: %s was not written before it was committed: its time tells nothing",
                           w->walk.table->label, ebb_buf_cstr(&w->uri));
    if (!w->has_files || at < w->oldest_ms)
        w->oldest_ms = at;
    w->has_files = true;
    return 0;
}

static int on_entry(void *data, const struct ebb_manifest_entry *entry, struct ebb_err *err)
{
    struct ebb_writes *w = data;

    if (entry->status != EBB_ENTRY_ADDED || (entry->snapshot_id >= 0 && entry->snapshot_id != w->snapshot->id))
        return 0;
    if (ebb_site_is_cancelled(w->walk.site))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: while looking at files of %s", w->walk.table->label);
    return look_at(w, entry->file_path, err);
}

static int on_manifest(void *data, const struct ebb_manifest_ref *ref, struct ebb_err *err)
{
    struct ebb_writes *w = data;

    if (ref->added_snapshot_id >= 0 && ref->added_snapshot_id != w->snapshot->id)
        return 0;
    return ebb__files_walk_entries(&w->walk, ref, NULL, 0, on_entry, w, err);
}

int ebb_writes_measure(struct ebb_writes *w, const struct ebb_snapshot *snapshot, int64_t *ms, struct ebb_err *err)
{
    int rc;

    w->snapshot = snapshot;
    w->has_files = false;
    rc = ebb__files_walk_manifests(&w->walk, snapshot, on_manifest, w, err);
    if (rc)
        return rc;
    *ms = !w->has_files ? -1 : w->oldest_ms < snapshot->timestamp_ms ? snapshot->timestamp_ms - w->oldest_ms : 0;
    return 0;
}
