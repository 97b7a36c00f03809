/* SPDX-License-Identifier: Apache-2.0
 *
 * What a listing may hold besides files: links that the table uses, metadata of other tables, and files of Flink writers that have not
 * committed yet.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/manifest.h"
#include "table/plan_priv.h"

int ebb__plan_each_name(const struct ebb_planning *p, ebb_reach_cb *cb, void *data, struct ebb_err *err)
{
    const struct ebb_protect_options *protect = &p->options->protect;
    struct ebb_reach_options options = {protect->keep_deleted_entries};
    struct ebb_reach_reader *reader = NULL;
    int rc = ebb_reach_reader_new(p->site, &options, &reader, err);

    if (!rc)
        rc = ebb_reach_reader_walk(reader, ebb_protect_table(p->protect), &protect->read_also, cb, data, NULL, err);
    ebb_reach_reader_free(reader);
    return rc;
}

/* ---- links ---- */

struct link_use {
    struct ebb_planning *p;
    struct ebb_place *place;
    struct ebb_buf normal;
};

/* The name relative to the location if the path is at or below a link, else n == 0. */
static struct ebb_str below_link(const struct link_use *u, struct ebb_str path)
{
    const struct ebb_planning *p = u->p;
    struct ebb_str root = ebb_buf_str(&p->root_path);
    struct ebb_str none = {NULL, 0}, rel;

    if (!ebb_str_has_prefix(path, root) || path.n <= root.n + 1 || path.p[root.n] != '/')
        return none;
    rel = (struct ebb_str){path.p + root.n + 1, path.n - root.n - 1};
    for (size_t i = 0; i < p->links.count; i++) {
        struct ebb_str link = ebb_str_of(p->links.items[i]);

        if (ebb_str_has_prefix(rel, link) && (rel.n == link.n || rel.p[link.n] == '/'))
            return rel;
    }
    return none;
}

/* Protect the file that a name behind a link really is. */
static int protect_target(struct link_use *u, struct ebb_str rel, struct ebb_err *err)
{
    const char *base = ebb_place_local(u->place);
    const char *location = u->p->table->metadata->location;
    size_t base_n = strlen(base);
    char path[PATH_MAX], real[PATH_MAX];
    struct ebb_buf uri;
    int rc;

    if (snprintf(path, sizeof path, "%s/%.*s", base, (int)rel.n, rel.p) >= (int)sizeof path || !realpath(path, real)) {
        rc = ebb_err_set(err, EBB_ELINK_IN_USE, "%s: %s/%.*s is behind a symbolic link that leads nowhere", u->p->table->label,
                         location, (int)rel.n, rel.p);
        ebb_err_hint(err, "mend or remove the link; the metadata names a file behind it");
        return rc;
    }
    if (strncmp(real, base, base_n) || real[base_n] != '/')
        return 0; /* outside: not listed, so never a candidate */
    ebb_buf_init(&uri, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&uri, "%s%s", location, real + base_n);
    rc = ebb_buf_check(&uri, "the target of a link", err);
    if (!rc)
        rc = ebb_protect_add(u->p->protect, ebb_buf_str(&uri), err);
    ebb_buf_fini(&uri);
    return rc;
}

static int on_reachable(void *data, enum ebb_reach_kind kind, struct ebb_str name, struct ebb_err *err)
{
    struct link_use *u = data;
    struct ebb_location loc;
    struct ebb_str rel;

    (void)kind;
    if (ebb_location_split(name.p, name.n, &loc, NULL) || !ebb_prefix_is_match(ebb_protect_rules(u->p->protect), &loc, &u->p->root))
        return 0;
    ebb_buf_reset(&u->normal);
    if (ebb_path_normalise(loc.path, &u->normal, NULL))
        return 0;
    rel = below_link(u, ebb_buf_str(&u->normal));
    return rel.n ? protect_target(u, rel, err) : 0;
}

int ebb__plan_resolve_links(struct ebb_planning *p, struct ebb_place *place, struct ebb_err *err)
{
    struct link_use u;
    int rc;

    if (!p->links.count)
        return 0;
    u.p = p;
    u.place = place;
    ebb_buf_init(&u.normal, 2 * EBB_LOCATION_MAX_BYTES);
    rc = ebb__plan_each_name(p, on_reachable, &u, err);
    ebb_buf_fini(&u.normal);
    return rc;
}

/* ---- metadata of other tables ---- */

#define IDENTITY_BYTES ((size_t)64 * 1024)

static int judge_identity(struct ebb_planning *p, const char *uri, const struct ebb_metadata_identity *identity, struct ebb_err *err)
{
    int rc;

    if (!identity->uuid || ebb_protect_is_known_uuid(p->protect, identity->uuid))
        return 0;
    rc = ebb_err_set(err, EBB_EFOREIGN_UUID, "%s: %s is metadata of another table (uuid %s)", p->table->label, uri, identity->uuid);
    ebb_err_hint(err, "if that table was dropped, say --dropped %s; if it lives, it must move or be left out with --exclude",
                 identity->uuid);
    return rc;
}

int ebb__plan_check_foreign(struct ebb_planning *p, const struct ebb_listed *f, bool *is_litter, struct ebb_err *err)
{
    struct ebb_metadata_identity identity = {NULL, NULL, 0, false};
    struct ebb_arena arena;
    struct ebb_buf uri, head;
    bool is_gzip;
    int rc;

    ebb_buf_init(&uri, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_add_str(&uri, f->name);
    *is_litter = true;
    if (!ebb_metadata_is_name(ebb_buf_cstr(&uri), &is_gzip)) {
        ebb_buf_fini(&uri);
        return 0;
    }
    ebb_arena_init(&arena, (size_t)1 << 20);
    ebb_buf_init(&head, IDENTITY_BYTES);
    ebb_buf_reset(&uri);
    ebb_buf_add_str(&uri, f->uri);
    rc = ebb_storage_read_head(p->site->storage, ebb_buf_cstr(&uri), IDENTITY_BYTES, &head, err);
    if (rc == -(int)EBB_ENOENT) {
        *is_litter = false; /* gone since it was listed */
        rc = 0;
    } else if (!rc && !ebb_metadata_identify(ebb_buf_cstr(&uri), head.data ? head.data : "", head.len, &arena, &identity, NULL)) {
        rc = judge_identity(p, ebb_buf_cstr(&uri), &identity, err);
    }
    ebb_buf_fini(&head);
    ebb_buf_fini(&uri);
    ebb_arena_fini(&arena);
    return rc;
}

/* ---- Flink ---- */

int ebb__plan_find_flink(struct ebb_planning *p, struct ebb_err *err)
{
    const struct ebb_metadata *m = p->table->metadata;
    int rc = 0;

    for (size_t i = 0; !rc && i < m->snapshot_count; i++) {
        const char *job = ebb_snapshot_summary(&m->snapshots[i], "flink.job-id");

        if (job && job[0] && !ebb_strs_has(&p->flink_jobs, job))
            rc = ebb_strs_add(&p->flink_jobs, job, err);
    }
    return rc;
}

bool ebb__plan_is_flink(const struct ebb_planning *p, struct ebb_str dir, struct ebb_str name)
{
    if (!ebb_str_is_equal(dir, EBB_STR("metadata")))
        return false;
    for (size_t i = 0; i < p->flink_jobs.count; i++)
        if (ebb_str_has_prefix(name, ebb_str_of(p->flink_jobs.items[i])))
            return true;
    return false;
}

struct flink {
    struct ebb_planning *p;
    struct ebb_place *place;
    struct ebb_avro_reader *reader;
};

static int protect_entry(void *data, const struct ebb_manifest_entry *entry, struct ebb_err *err)
{
    struct flink *f = data;

    return ebb_protect_add(f->p->protect, entry->file_path, err);
}

static int on_flink_file(void *data, const struct ebb_walk_entry *e, struct ebb_err *err)
{
    struct flink *f = data;
    struct ebb_buf name, bytes;
    int rc;

    if (e->kind != EBB_WALK_FILE || !ebb__plan_is_flink(f->p, e->dir, e->name))
        return 0;
    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&bytes, (size_t)1 << 30);
    ebb_buf_printf(&name, "%.*s/%.*s", (int)e->dir.n, e->dir.p, (int)e->name.n, e->name.p);
    rc = ebb_place_read(f->place, ebb_buf_cstr(&name), bytes.max, &bytes, NULL, err);
    if (!rc) {
        rc = ebb_manifest_read(f->reader, ebb_buf_cstr(&name), bytes.data ? bytes.data : "", bytes.len, protect_entry, f, NULL, err);
        if (rc == -(int)EBB_EMANIFEST_CORRUPT)
            rc = 0; /* half written: it names nothing that can be told */
    }
    if (rc == -(int)EBB_ENOENT)
        rc = 0;
    ebb_buf_fini(&name);
    ebb_buf_fini(&bytes);
    return rc;
}

int ebb__plan_protect_flink(struct ebb_planning *p, struct ebb_place *place, struct ebb_err *err)
{
    static const struct ebb_walk_ops OPS = {NULL, NULL, on_flink_file};
    struct flink f = {p, place, NULL};
    int rc;

    if (!p->flink_jobs.count)
        return 0;
    rc = ebb_avro_reader_new(&f.reader, err);
    if (!rc)
        rc = ebb_place_walk(place, "metadata", &OPS, &f, err);
    if (rc == -(int)EBB_ENOENT)
        rc = 0; /* no such folder */
    ebb_avro_reader_free(f.reader);
    return rc;
}
