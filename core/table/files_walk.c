/* SPDX-License-Identifier: Apache-2.0 */
#include "table/files_walk_priv.h"

int ebb__files_walk_init(struct ebb__files_walk *w, const struct ebb_site *site, const struct ebb_table *table,
                         struct ebb_err *err)
{
    int rc;

    memset(w, 0, sizeof *w);
    w->site = site;
    w->table = table;
    ebb_buf_init(&w->list_bytes, EBB__PIECE_MAX_BYTES);
    ebb_buf_init(&w->manifest_bytes, EBB__PIECE_MAX_BYTES);
    ebb_buf_init(&w->uri, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&w->list_uri, 2 * EBB_LOCATION_MAX_BYTES);
    rc = ebb_avro_reader_new(&w->list_reader, err);
    return rc ? rc : ebb_avro_reader_new(&w->manifest_reader, err);
}

void ebb__files_walk_fini(struct ebb__files_walk *w)
{
    ebb_avro_reader_free(w->list_reader);
    ebb_avro_reader_free(w->manifest_reader);
    ebb_buf_fini(&w->list_bytes);
    ebb_buf_fini(&w->manifest_bytes);
    ebb_buf_fini(&w->uri);
    ebb_buf_fini(&w->list_uri);
}

struct step {
    struct ebb__files_walk *walk;
    ebb_manifest_ref_cb *cb;
    void *data;
};

static int on_manifest(void *data, const struct ebb_manifest_ref *ref, struct ebb_err *err)
{
    struct step *s = data;

    if (ebb_site_is_cancelled(s->walk->site))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: while reading manifests of %s", s->walk->table->label);
    return s->cb(s->data, ref, err);
}

/* Version 1 may name its manifests itself; each is of the snapshot that does, and of the first spec. */
static int walk_inline(struct step *s, const struct ebb_snapshot *snapshot, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < snapshot->manifest_count; i++) {
        struct ebb_manifest_ref ref = {ebb_str_of(snapshot->manifests[i]), -1, 0, 0, 0, -1, -1, -1, -1};

        rc = on_manifest(s, &ref, err);
    }
    return rc;
}

int ebb__files_walk_manifests(struct ebb__files_walk *w, const struct ebb_snapshot *snapshot, ebb_manifest_ref_cb *cb,
                              void *data, struct ebb_err *err)
{
    struct step s = {w, cb, data};
    int rc;

    if (!snapshot->manifest_list)
        return walk_inline(&s, snapshot, err);
    rc = ebb__piece_uri(w->site, w->table, NULL, ebb_str_of(snapshot->manifest_list), &w->list_uri, err);
    if (!rc)
        rc = ebb__piece_read(w->site, w->table, ebb_buf_cstr(&w->list_uri), EBB_ELIST_MISSING, "manifest list",
                             &w->list_bytes, err);
    if (!rc)
        rc = ebb_manifest_list_read(w->list_reader, ebb_buf_cstr(&w->list_uri), ebb_buf_cstr(&w->list_bytes),
                                    w->list_bytes.len, on_manifest, &s, err);
    return rc;
}

int ebb__files_walk_entries(struct ebb__files_walk *w, const struct ebb_manifest_ref *ref,
                            const struct ebb_manifest_part *parts, size_t part_count, ebb_manifest_entry_cb *cb,
                            void *data, struct ebb_err *err)
{
    struct ebb_manifest_counts counts = {0, 0, 0};
    const char *uri;
    int rc = ebb__piece_uri(w->site, w->table, NULL, ref->path, &w->uri, err);

    uri = ebb_buf_cstr(&w->uri);
    if (!rc)
        rc = ebb__piece_read(w->site, w->table, uri, EBB_EMANIFEST_MISSING, "manifest", &w->manifest_bytes, err);
    if (!rc)
        rc = ebb__piece_check_length(w->table, uri, ref->length, (int64_t)w->manifest_bytes.len, err);
    if (!rc)
        rc = ebb_manifest_read_parts(w->manifest_reader, uri, ebb_buf_cstr(&w->manifest_bytes), w->manifest_bytes.len,
                                     parts, part_count, cb, data, &counts, err);
    return rc ? rc : ebb__piece_check_counts(w->site, w->table, uri, ref, &counts, err);
}
