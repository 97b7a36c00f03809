/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks metadata -> lists -> manifests. A manifest is read at the moment a list names it for the first time, so nothing
 * is kept but which pieces were read and how many live entries each held (for the checks against the snapshots'
 * summaries).
 */
#include "table/reach.h"

#include <inttypes.h>
#include <stdlib.h>

#include "table/piece_priv.h"
#include "table/seen_priv.h"

#define LISTS_AHEAD 8 /* manifest lists that are fetched before their time */

struct ebb_reach_reader {
    const struct ebb_site *site;
    struct ebb_reach_options options;
    struct ebb_avro_reader *list_reader, *manifest_reader;
    struct ebb_buf list_bytes, manifest_bytes, uri, list_uri, whole;
    struct ebb_seen lists, manifests;
    /* of the walk at hand: */
    const struct ebb_table *table;
    const struct ebb_strs *read_also;
    ebb_reach_cb *cb;
    void *data;
    struct ebb_reach_stats *stats;
    int64_t live[2]; /* live entries of the snapshot at hand: data, deletes */
    int64_t refs;    /* manifests in the list at hand */
};

int ebb_reach_reader_new(const struct ebb_site *site, const struct ebb_reach_options *options,
                         struct ebb_reach_reader **out, struct ebb_err *err)
{
    struct ebb_reach_reader *r = calloc(1, sizeof *r);
    int rc;

    if (!r)
        return ebb_err_nomem(err);
    r->site = site;
    if (options)
        r->options = *options;
    ebb_buf_init(&r->list_bytes, EBB__PIECE_MAX_BYTES);
    ebb_buf_init(&r->manifest_bytes, EBB__PIECE_MAX_BYTES);
    ebb_buf_init(&r->uri, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&r->list_uri, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&r->whole, 2 * EBB_LOCATION_MAX_BYTES);
    ebb__seen_init(&r->lists);
    ebb__seen_init(&r->manifests);
    rc = ebb_avro_reader_new(&r->list_reader, err);
    if (!rc)
        rc = ebb_avro_reader_new(&r->manifest_reader, err);
    if (rc) {
        ebb_reach_reader_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

void ebb_reach_reader_free(struct ebb_reach_reader *r)
{
    if (!r)
        return;
    ebb_avro_reader_free(r->list_reader);
    ebb_avro_reader_free(r->manifest_reader);
    ebb_buf_fini(&r->list_bytes);
    ebb_buf_fini(&r->manifest_bytes);
    ebb_buf_fini(&r->uri);
    ebb_buf_fini(&r->list_uri);
    ebb_buf_fini(&r->whole);
    ebb__seen_fini(&r->lists);
    ebb__seen_fini(&r->manifests);
    free(r);
}

/* A relative name is meant below the location of its own table. */
static int emit(struct ebb_reach_reader *r, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err)
{
    int rc;

    r->stats->names++;
    if (!ebb__piece_is_relative(path))
        return r->cb(r->data, kind, path, err);
    ebb_buf_reset(&r->whole);
    ebb_buf_printf(&r->whole, "%s/", r->table->metadata->location);
    ebb_buf_add_str(&r->whole, path);
    rc = ebb_buf_check(&r->whole, "a name in the metadata", err);
    return rc ? rc : r->cb(r->data, kind, ebb_buf_str(&r->whole), err);
}

static int read_piece(struct ebb_reach_reader *r, const char *uri, enum ebb_error missing, const char *what,
                      struct ebb_buf *bytes, struct ebb_err *err)
{
    r->stats->metadata_files_read++;
    return ebb__piece_read(r->site, r->table, uri, missing, what, bytes, err);
}

static int on_entry(void *data, const struct ebb_manifest_entry *entry, struct ebb_err *err)
{
    struct ebb_reach_reader *r = data;
    int rc;

    if (entry->status == EBB_ENTRY_DELETED && !r->options.keep_deleted_entries)
        return 0;
    rc = emit(r, entry->content ? EBB_REACH_DELETES : EBB_REACH_DATA, entry->file_path, err);
    if (!rc && entry->referenced_data_file.n)
        rc = emit(r, EBB_REACH_REFERENCED, entry->referenced_data_file, err);
    return rc;
}

static int read_manifest(struct ebb_reach_reader *r, const struct ebb_manifest_ref *ref, struct ebb_seen_entry **out,
                         struct ebb_err *err)
{
    struct ebb_manifest_counts counts = {0, 0, 0};
    struct ebb_seen_entry *entry;
    const char *uri;
    int rc = ebb__piece_uri(r->site, r->table, r->read_also, ref->path, &r->uri, err);

    uri = ebb_buf_cstr(&r->uri);
    if (!rc)
        rc = read_piece(r, uri, EBB_EMANIFEST_MISSING, "manifest", &r->manifest_bytes, err);
    if (!rc)
        rc = ebb__piece_check_length(r->table, uri, ref->length, (int64_t)r->manifest_bytes.len, err);
    if (!rc)
        rc = ebb_manifest_read(r->manifest_reader, uri, r->manifest_bytes.data ? r->manifest_bytes.data : "",
                               r->manifest_bytes.len, on_entry, r, &counts, err);
    if (!rc)
        rc = ebb__piece_check_counts(r->site, r->table, uri, ref, &counts, err);
    if (rc)
        return rc;
    entry = ebb__seen_add(&r->manifests, ref->path);
    if (!entry)
        return ebb_err_nomem(err);
    entry->length_bytes = (int64_t)r->manifest_bytes.len;
    entry->live = counts.added + counts.existing;
    entry->content = ref->content;
    r->stats->live_files += entry->live;
    ebb_site_progress(r->site, "metadata", r->stats->metadata_files_read, 0);
    *out = entry;
    return 0;
}

static int on_manifest(void *data, const struct ebb_manifest_ref *ref, struct ebb_err *err)
{
    struct ebb_reach_reader *r = data;
    struct ebb_seen_entry *entry = ebb__seen_find(&r->manifests, ref->path);
    int rc = entry ? 0 : emit(r, EBB_REACH_MANIFEST, ref->path, err);

    if (ebb_site_is_cancelled(r->site))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: while reading metadata of %s", r->table->label);
    r->refs++;
    if (!rc && entry)
        rc = ebb__piece_check_length(r->table, entry->path.p, ref->length, entry->length_bytes, err);
    else if (!rc)
        rc = read_manifest(r, ref, &entry, err);
    if (!rc)
        r->live[entry->content ? 1 : 0] += entry->live;
    return rc;
}

static int check_total(const struct ebb_reach_reader *r, const struct ebb_snapshot *s, const char *key, int64_t found,
                       struct ebb_err *err)
{
    int64_t recorded = ebb__piece_counter(s, key);
    int rc;

    if (recorded < 0 || found == recorded)
        return 0;
    if (found > recorded) {
        ebb_log_say(&r->site->log, EBB_LOG_WARN,
                    "%s: snapshot %" PRId64 " holds %" PRId64 " files, its summary's %s is %" PRId64, r->table->label,
                    s->id, found, key, recorded);
        return 0;
    }
    rc = ebb_err_set(err, EBB_ELIST_CORRUPT,
                     "%s: manifest list %s leads to %" PRId64 " live files, but the summary of snapshot %" PRId64
                     " says %s = %" PRId64,
                     r->table->label, s->manifest_list ? s->manifest_list : "(inline)", found, s->id, key, recorded);
    ebb_err_hint(err, "the list or a manifest was cut short; nothing can be removed until the table is repaired");
    return rc;
}

/* The length of a list is recorded nowhere, and a list cut after its header reads as empty: the summary must say that
 * it is. */
static int check_snapshot(const struct ebb_reach_reader *r, const struct ebb_snapshot *s, struct ebb_err *err)
{
    int rc = check_total(r, s, "total-data-files", r->live[0], err);

    if (!rc)
        rc = check_total(r, s, "total-delete-files", r->live[1], err);
    if (rc || r->refs > 0 || ebb__piece_counter(s, "total-data-files") >= 0)
        return rc;
    rc = ebb_err_set(err, EBB_ELIST_CORRUPT,
                     "%s: manifest list of snapshot %" PRId64
                     " is empty, and no total-data-files in its summary says that it should be",
                     r->table->label, s->id);
    ebb_err_hint(err,
                 "a list that was cut after its header looks the same; expire that snapshot if it is really empty");
    return rc;
}

static int walk_inline(struct ebb_reach_reader *r, const struct ebb_snapshot *s, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < s->manifest_count; i++) {
        struct ebb_manifest_ref ref = {ebb_str_of(s->manifests[i]), -1, 0, 0, 0, s->id, -1, -1, -1};

        rc = on_manifest(r, &ref, err);
    }
    return rc;
}

static int remember_list(struct ebb_reach_reader *r, struct ebb_str path, struct ebb_err *err)
{
    struct ebb_seen_entry *entry = ebb__seen_add(&r->lists, path);

    if (!entry)
        return ebb_err_nomem(err);
    entry->live = r->live[0];
    entry->live_deletes = r->live[1];
    entry->refs = r->refs;
    return 0;
}

/* ---- what will be read soon ---- */

static int announce(struct ebb_reach_reader *r, struct ebb_str path, struct ebb_strs *uris, struct ebb_err *err)
{
    struct ebb_buf uri;
    int rc = 0;

    ebb_buf_init(&uri, 2 * EBB_LOCATION_MAX_BYTES);
    if (!ebb__piece_uri(r->site, r->table, r->read_also, path, &uri, NULL))
        rc = ebb_strs_add(uris, uri.data, err);
    ebb_buf_fini(&uri);
    return rc;
}

struct announced {
    struct ebb_reach_reader *r;
    struct ebb_strs uris;
};

static int announce_manifest(void *data, const struct ebb_manifest_ref *ref, struct ebb_err *err)
{
    struct announced *a = data;

    return ebb__seen_find(&a->r->manifests, ref->path) ? 0 : announce(a->r, ref->path, &a->uris, err);
}

static bool is_far(const struct ebb_reach_reader *r)
{
    return ebb_storage_is_remote(r->site->storage, r->table->metadata->location);
}

/* The manifests of a list that were not read yet. A list that can't be read is found out when it is walked. */
static int announce_manifests(struct ebb_reach_reader *r, struct ebb_err *err)
{
    struct announced a = {.r = r};
    int rc;

    if (!is_far(r))
        return 0;
    ebb_strs_init(&a.uris);
    ebb_manifest_list_read(r->list_reader, ebb_buf_cstr(&r->list_uri), r->list_bytes.data ? r->list_bytes.data : "",
                           r->list_bytes.len, announce_manifest, &a, NULL);
    rc = ebb_storage_read_ahead(r->site->storage, &a.uris, err);
    ebb_strs_fini(&a.uris);
    return rc;
}

/* The lists of snapshots [from, to) that were not read yet, in the order in which they are walked. */
static int announce_lists(struct ebb_reach_reader *r, size_t from, size_t to, struct ebb_err *err)
{
    const struct ebb_snapshot *snapshots = r->table->metadata->snapshots;
    struct ebb_strs uris;
    int rc = 0;

    if (from >= to || !is_far(r))
        return 0;
    ebb_strs_init(&uris);
    for (size_t i = to; !rc && i-- > from;)
        if (snapshots[i].manifest_list && !ebb__seen_find(&r->lists, ebb_str_of(snapshots[i].manifest_list)))
            rc = announce(r, ebb_str_of(snapshots[i].manifest_list), &uris, err);
    if (!rc)
        rc = ebb_storage_read_ahead(r->site->storage, &uris, err);
    ebb_strs_fini(&uris);
    return rc;
}

static int walk_list(struct ebb_reach_reader *r, const struct ebb_snapshot *s, struct ebb_err *err)
{
    struct ebb_str path = ebb_str_of(s->manifest_list);
    int rc = ebb__piece_uri(r->site, r->table, r->read_also, path, &r->list_uri, err);

    if (!rc)
        rc = read_piece(r, ebb_buf_cstr(&r->list_uri), EBB_ELIST_MISSING, "manifest list", &r->list_bytes, err);
    if (!rc)
        rc = announce_manifests(r, err);
    if (!rc)
        rc = ebb_manifest_list_read(r->list_reader, ebb_buf_cstr(&r->list_uri),
                                    r->list_bytes.data ? r->list_bytes.data : "", r->list_bytes.len, on_manifest, r,
                                    err);
    return rc ? rc : remember_list(r, path, err);
}

static int walk_snapshot(struct ebb_reach_reader *r, const struct ebb_snapshot *s, struct ebb_err *err)
{
    const struct ebb_seen_entry *seen = NULL;
    int rc = 0;

    r->live[0] = r->live[1] = r->refs = 0;
    if (s->manifest_list) {
        rc = emit(r, EBB_REACH_MANIFEST_LIST, ebb_str_of(s->manifest_list), err);
        seen = ebb__seen_find(&r->lists, ebb_str_of(s->manifest_list));
    }
    if (rc)
        return rc;
    if (seen) {
        r->live[0] = seen->live;
        r->live[1] = seen->live_deletes;
        r->refs = seen->refs;
    } else {
        rc = s->manifest_list ? walk_list(r, s, err) : walk_inline(r, s, err);
    }
    return rc ? rc : check_snapshot(r, s, err);
}

static int emit_joined(struct ebb_reach_reader *r, const char *folder, const char *name, struct ebb_err *err)
{
    int rc;

    ebb_buf_reset(&r->uri);
    ebb_buf_printf(&r->uri, "%s/%s", folder, name);
    rc = ebb_buf_check(&r->uri, "location", err);
    return rc ? rc : emit(r, EBB_REACH_METADATA, ebb_buf_str(&r->uri), err);
}

/* The pointer's file is protected under the location's own prefix too, however the catalog spells it. */
static int emit_pointer(struct ebb_reach_reader *r, const char *uri, struct ebb_err *err)
{
    const char *location = r->table->metadata->location;
    struct ebb_location at, pointer;
    int rc = emit(r, EBB_REACH_METADATA, ebb_str_of(uri), err);

    if (rc || ebb_location_split(uri, strlen(uri), &pointer, NULL) ||
        ebb_location_split(location, strlen(location), &at, NULL))
        return rc;
    ebb_buf_reset(&r->uri);
    ebb_buf_append(&r->uri, location, (size_t)(at.path.p - location));
    ebb_buf_add_str(&r->uri, pointer.path);
    rc = ebb_buf_check(&r->uri, "location", err);
    return rc ? rc : emit(r, EBB_REACH_METADATA, ebb_buf_str(&r->uri), err);
}

static int walk_names(struct ebb_reach_reader *r, struct ebb_err *err)
{
    const struct ebb_metadata *m = r->table->metadata;
    int rc = emit_pointer(r, r->table->ref.metadata_uri, err);

    for (size_t i = 0; !rc && i < r->table->ref.lagging.count; i++)
        rc = emit_pointer(r, r->table->ref.lagging.items[i], err);
    for (size_t i = 0; !rc && i < m->metadata_log_count; i++)
        rc = emit(r, EBB_REACH_METADATA, ebb_str_of(m->metadata_log[i].file), err);
    for (size_t i = 0; !rc && i < m->statistics_count; i++)
        rc = emit(r, EBB_REACH_STATISTICS, ebb_str_of(m->statistics[i].path), err);
    if (!rc)
        rc = emit_joined(r, m->location, "metadata/version-hint.text", err);
    if (!rc)
        rc = emit_joined(r, m->location, "metadata/version-hint.txt", err);
    return rc;
}

/* The newest first: its list names most of the manifests, and so they are fetched side by side. */
static int walk_snapshots(struct ebb_reach_reader *r, struct ebb_err *err)
{
    const struct ebb_metadata *m = r->table->metadata;
    size_t announced = m->snapshot_count;
    int rc = 0;

    for (size_t i = m->snapshot_count; !rc && i-- > 0;) {
        size_t from = i > LISTS_AHEAD ? i - LISTS_AHEAD : 0;

        rc = announce_lists(r, from, announced, err);
        announced = from;
        if (!rc)
            rc = walk_snapshot(r, &m->snapshots[i], err);
    }
    return rc;
}

int ebb_reach_reader_walk(struct ebb_reach_reader *r, const struct ebb_table *table, const struct ebb_strs *read_also,
                          ebb_reach_cb *cb, void *data, struct ebb_reach_stats *stats, struct ebb_err *err)
{
    struct ebb_reach_stats own = {0, 0, 0};
    int rc;

    r->table = table;
    r->read_also = read_also;
    r->cb = cb;
    r->data = data;
    r->stats = stats ? stats : &own;
    r->stats->metadata_files_read++; /* the metadata file itself */
    rc = walk_names(r, err);
    if (!rc)
        rc = walk_snapshots(r, err);
    r->stats = NULL;
    return rc;
}

int ebb_reach_walk(const struct ebb_site *site, const struct ebb_table *table, const struct ebb_reach_options *options,
                   ebb_reach_cb *cb, void *data, struct ebb_reach_stats *stats, struct ebb_err *err)
{
    struct ebb_reach_reader *r = NULL;
    int rc = ebb_reach_reader_new(site, options, &r, err);

    if (!rc)
        rc = ebb_reach_reader_walk(r, table, NULL, cb, data, stats, err);
    ebb_reach_reader_free(r);
    return rc;
}
