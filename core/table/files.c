/* SPDX-License-Identifier: Apache-2.0 */
#include "table/files.h"

#include <stdlib.h>

#include "base/text.h"
#include "table/files_walk_priv.h"

#define KEYS_MAX_BYTES ((size_t)256 << 20)
#define KEY_MAX_BYTES ((size_t)64 * 1024)
#define WRITTEN_ANY_TIME (-2) /* of one of its files it is not known, and so not of the partition */

static bool add_up(int64_t *sum, int64_t n)
{
    return n >= 0 && !__builtin_add_overflow(*sum, n, sum);
}

struct reading {
    struct ebb__files_walk walk;
    struct ebb__partition_specs specs;
    struct ebb_files *files;
    const struct ebb_snapshot *snapshot;
    int64_t small_below;
    int64_t expired_ms; /* no ancestor that is gone was committed later than this; -1 unknown */
    uint32_t *slots;    /* number of the partition, from 1 */
    size_t slot_count;  /* a power of two, or 0 */
    size_t cap;         /* of files->partitions */
    struct ebb_buf key;
    /* of the manifest at hand: */
    const struct ebb_manifest_ref *ref;
    const struct ebb__partition_spec *spec;
};

static void give_up(struct reading *r, const char *why)
{
    if (r->files->has_partitions)
        r->files->why = why;
    r->files->has_partitions = false;
}

/* ---- partitions by key ---- */

static uint64_t hash_of(const struct reading *r, struct ebb_str key, int64_t spec_id)
{
    uint64_t h =
        (r->walk.site->store ? ebb_store_seed(r->walk.site->store) : 14695981039346656037u) ^ (uint64_t)spec_id;

    for (size_t i = 0; i < key.n; i++)
        h = (h ^ (unsigned char)key.p[i]) * 1099511628211u;
    return h ^ h >> 29;
}

static size_t find_slot(const struct reading *r, struct ebb_str key, int64_t spec_id)
{
    size_t at = (size_t)hash_of(r, key, spec_id) & (r->slot_count - 1);

    for (; r->slots[at]; at = (at + 1) & (r->slot_count - 1)) {
        const struct ebb_partition *p = &r->files->partitions[r->slots[at] - 1];

        if (p->spec_id == spec_id && ebb_str_is_equal(ebb_str_of(p->key), key))
            break;
    }
    return at;
}

static int grow_slots(struct reading *r, struct ebb_err *err)
{
    size_t count = r->slot_count ? 2 * r->slot_count : 256;
    uint32_t *slots;

    if (r->slot_count > 2 * r->files->partition_count)
        return 0;
    slots = calloc(count, sizeof *slots);
    if (!slots)
        return ebb_err_nomem(err);
    free(r->slots);
    r->slots = slots;
    r->slot_count = count;
    for (uint32_t i = 0; i < r->files->partition_count; i++) {
        const struct ebb_partition *p = &r->files->partitions[i];

        slots[find_slot(r, ebb_str_of(p->key), p->spec_id)] = i + 1;
    }
    return 0;
}

static int grow_partitions(struct reading *r, struct ebb_err *err)
{
    size_t cap = r->cap ? 2 * r->cap : 128;
    struct ebb_partition *partitions;

    if (r->files->partition_count < r->cap)
        return 0;
    partitions = realloc(r->files->partitions, cap * sizeof *partitions);
    if (!partitions)
        return ebb_err_nomem(err);
    r->files->partitions = partitions;
    r->cap = cap;
    return 0;
}

/* The partition of the key at hand; *out NULL when there are too many. */
static int find_partition(struct reading *r, int64_t spec_id, struct ebb_partition **out, struct ebb_err *err)
{
    struct ebb_files *f = r->files;
    struct ebb_str key = ebb_buf_str(&r->key);
    size_t at;
    char *copy;
    int rc = grow_slots(r, err);

    *out = NULL;
    if (!rc)
        rc = grow_partitions(r, err);
    if (rc)
        return rc;
    at = find_slot(r, key, spec_id);
    if (!r->slots[at]) {
        copy =
            f->partition_count < EBB_FILES_PARTITIONS_MAX ? ebb_arena_dup(&f->arena, key.p ? key.p : "", key.n) : NULL;
        if (!copy) {
            give_up(r, "there are too many");
            return 0;
        }
        f->partitions[f->partition_count] =
            (struct ebb_partition){.key = copy, .spec_id = spec_id, .last_write_ms = -1};
        r->slots[at] = (uint32_t)++f->partition_count;
    }
    *out = &f->partitions[r->slots[at] - 1];
    return 0;
}

/* ---- entries ---- */

static bool make_key(struct reading *r, const struct ebb_manifest_entry *entry)
{
    const struct ebb__partition_spec *spec = r->spec;

    ebb_buf_reset(&r->key);
    for (size_t i = 0; i < spec->count; i++) {
        if (i)
            ebb_buf_putc(&r->key, '/');
        if (!ebb__partition_put(&r->key, &r->specs.fields[spec->first + i], &entry->partition[i]))
            return false;
    }
    return !r->key.bad;
}

/* When the entry was added, as far as the metadata still tells. */
static int64_t written_at(const struct reading *r, const struct ebb_manifest_entry *entry)
{
    int64_t id = entry->snapshot_id >= 0 ? entry->snapshot_id : r->ref->added_snapshot_id;
    const struct ebb_snapshot *s = ebb_metadata_snapshot(r->walk.table->metadata, id);

    return s ? s->timestamp_ms : r->expired_ms;
}

static bool count_totals(struct reading *r, const struct ebb_manifest_entry *e)
{
    struct ebb_files *f = r->files;
    int64_t size = e->content && e->content_size_bytes >= 0 ? e->content_size_bytes : e->file_size_bytes;

    if (e->content) {
        f->delete_files++;
        return add_up(&f->bytes, size) && add_up(&f->delete_records, e->record_count);
    }
    f->data_files++;
    f->small_files += e->file_size_bytes < r->small_below;
    return add_up(&f->bytes, size) && add_up(&f->records, e->record_count);
}

static bool count_partition(struct reading *r, const struct ebb_manifest_entry *e, struct ebb_partition *p)
{
    int64_t at = written_at(r, e);

    if (at < 0)
        p->last_write_ms = WRITTEN_ANY_TIME;
    else if (p->last_write_ms != WRITTEN_ANY_TIME && at > p->last_write_ms)
        p->last_write_ms = at;
    if (e->content) {
        p->delete_files++;
        return add_up(&p->delete_records, e->record_count);
    }
    p->files++;
    if (e->file_size_bytes > p->max_file)
        p->max_file = e->file_size_bytes;
    return add_up(&p->bytes, e->file_size_bytes) && add_up(&p->records, e->record_count);
}

static int on_entry(void *data, const struct ebb_manifest_entry *entry, struct ebb_err *err)
{
    struct reading *r = data;
    struct ebb_partition *p = NULL;
    bool ok;
    int rc = 0;

    if (entry->status == EBB_ENTRY_DELETED)
        return 0;
    ok = count_totals(r, entry);
    if (ok && r->files->has_partitions && !make_key(r, entry))
        give_up(r, "a value is none of its type, or too long");
    if (ok && r->files->has_partitions)
        rc = find_partition(r, r->ref->spec_id, &p, err);
    if (!rc && ok && p)
        ok = count_partition(r, entry, p);
    if (!ok)
        rc = ebb_err_set(err, EBB_EMANIFEST_CORRUPT, "%s: a manifest holds a negative size or count",
                         r->walk.table->label);
    return rc;
}

static int on_manifest(void *data, const struct ebb_manifest_ref *ref, struct ebb_err *err)
{
    struct ebb_manifest_part parts[EBB_MANIFEST_PARTS_MAX];
    struct reading *r = data;
    size_t count;

    r->files->manifests++;
    r->ref = ref;
    r->spec = ebb__partition_specs_find(&r->specs, ref->spec_id);
    if (!r->spec || !r->spec->is_known)
        give_up(r, "a transform or column type is not known");
    count = r->files->has_partitions ? r->spec->count : 0;
    for (size_t i = 0; i < count; i++) {
        const struct ebb__partition_field *f = &r->specs.fields[r->spec->first + i];

        parts[i] = (struct ebb_manifest_part){f->field_id, f->name, ebb__partition_storage(f->kind)};
    }
    return ebb__files_walk_entries(&r->walk, ref, parts, count, on_entry, r, err);
}

/* ---- the whole ---- */

/* Files of the current snapshot were added by its ancestors; those that are gone are older than every one of the
 * unbroken line that is left. */
static int64_t expired_bound(const struct ebb_metadata *m, const struct ebb_snapshot *s)
{
    int64_t oldest = s->timestamp_ms;

    for (size_t i = 0; i <= m->snapshot_count; i++) { /* a line of parents that runs in a circle ends, too */
        const struct ebb_snapshot *parent = s->parent_id >= 0 ? ebb_metadata_snapshot(m, s->parent_id) : NULL;

        if (!parent)
            return s->parent_id >= 0 ? oldest : -1;
        s = parent;
        if (s->timestamp_ms < oldest)
            oldest = s->timestamp_ms;
    }
    return -1;
}

/* The length of a list is recorded nowhere: the summary must not promise more files than were found, and must say so
 * when there are none. */
static int check_empty(const struct reading *r, struct ebb_err *err)
{
    if (r->files->manifests || ebb__piece_counter(r->snapshot, "total-data-files") >= 0)
        return 0;
    return ebb_err_set(err, EBB_ELIST_CORRUPT, "%s: the manifest list is empty, and its summary does not say so",
                       r->walk.table->label);
}

static int check_total(const struct reading *r, const char *key, int64_t found, struct ebb_err *err)
{
    int64_t recorded = ebb__piece_counter(r->snapshot, key);

    return recorded <= found
               ? 0
               : ebb_err_set(err, EBB_ELIST_CORRUPT, "%s: the manifests hold fewer files than %s of the summary says",
                             r->walk.table->label, key);
}

static int by_key(const void *a, const void *b)
{
    const struct ebb_partition *x = a, *y = b;
    int c = strcmp(x->key, y->key);

    return c ? c : x->spec_id < y->spec_id ? -1 : x->spec_id > y->spec_id;
}

static int read_current(struct reading *r, struct ebb_err *err)
{
    const struct ebb_metadata *m = r->walk.table->metadata;
    struct ebb_files *f = r->files;
    int64_t target;
    int rc = ebb__partition_specs_init(&r->specs, m, err);

    if (!ebb_text_count(ebb_metadata_property(m, "write.target-file-size-bytes"), &target) || !target)
        target = EBB_FILES_TARGET_BYTES;
    r->small_below = (int64_t)((double)target * EBB_FILES_SMALL_SHARE);
    r->expired_ms = expired_bound(m, r->snapshot);
    if (!rc)
        rc = ebb__files_walk_manifests(&r->walk, r->snapshot, on_manifest, r, err);
    if (!rc)
        rc = check_empty(r, err);
    if (!rc)
        rc = check_total(r, "total-data-files", f->data_files, err);
    if (!rc)
        rc = check_total(r, "total-delete-files", f->delete_files, err);
    if (!f->has_partitions)
        f->partition_count = 0;
    for (size_t i = 0; i < f->partition_count; i++)
        if (f->partitions[i].last_write_ms == WRITTEN_ANY_TIME)
            f->partitions[i].last_write_ms = -1;
    if (f->partition_count)
        qsort(f->partitions, f->partition_count, sizeof *f->partitions, by_key);
    return rc;
}

int ebb_files_read(const struct ebb_site *site, const struct ebb_table *table, struct ebb_files **out,
                   struct ebb_err *err)
{
    const struct ebb_metadata *m = table->metadata;
    struct reading r = {.files = calloc(1, sizeof *r.files)};
    int rc;

    *out = NULL;
    if (!r.files)
        return ebb_err_nomem(err);
    r.files->has_partitions = true;
    ebb_arena_init(&r.files->arena, KEYS_MAX_BYTES);
    ebb_buf_init(&r.key, KEY_MAX_BYTES);
    rc = ebb__files_walk_init(&r.walk, site, table, err);
    r.snapshot = m->has_current_snapshot ? ebb_metadata_snapshot(m, m->current_snapshot_id) : NULL;
    if (!rc && r.snapshot)
        rc = read_current(&r, err);
    ebb__files_walk_fini(&r.walk);
    ebb__partition_specs_fini(&r.specs);
    ebb_buf_fini(&r.key);
    free(r.slots);
    if (rc)
        ebb_files_free(r.files);
    else
        *out = r.files;
    return rc;
}

void ebb_files_free(struct ebb_files *f)
{
    if (!f)
        return;
    free(f->partitions);
    ebb_arena_fini(&f->arena);
    free(f);
}
