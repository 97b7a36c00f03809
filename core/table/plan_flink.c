/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of Flink writers that have not committed yet: manifests whose name begins with
 * the id of a job that has committed before, and what they name. They lie where the table's metadata is written.
 */
#include "format/manifest.h"
#include "table/plan_priv.h"

#define MANIFEST_MAX_BYTES ((size_t)1 << 30)

static int add_folder(struct ebb_planning *p, const char *uri, struct ebb_err *err)
{
    return uri && uri[0] && !ebb_strs_has(&p->flink_folders, uri) ? ebb_strs_add(&p->flink_folders, uri, err) : 0;
}

static int find_folders(struct ebb_planning *p, struct ebb_err *err)
{
    const struct ebb_metadata *m = p->table->metadata;
    struct ebb_buf usual;
    int rc;

    ebb_buf_init(&usual, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&usual, "%s/metadata", m->location);
    rc = ebb_buf_check(&usual, "location", err);
    if (!rc)
        rc = add_folder(p, ebb_buf_cstr(&usual), err);
    if (!rc)
        rc = add_folder(p, ebb_metadata_property(m, "write.metadata.path"), err);
    if (!rc)
        rc = add_folder(p, ebb_metadata_property(m, "flink.manifests.location"), err);
    ebb_buf_fini(&usual);
    return rc;
}

int ebb__plan_find_flink(struct ebb_planning *p, struct ebb_err *err)
{
    const struct ebb_metadata *m = p->table->metadata;
    int rc = 0;

    for (size_t i = 0; !rc && i < m->snapshot_count; i++) {
        const char *job = ebb_snapshot_summary(&m->snapshots[i], "flink.job-id");

        if (job && job[0] && !ebb_strs_has(&p->flink_jobs, job))
            rc = ebb_strs_add(&p->flink_jobs, job, err);
    }
    return rc || !p->flink_jobs.count ? rc : find_folders(p, err);
}

static bool is_of_job(const struct ebb_planning *p, struct ebb_str name)
{
    for (size_t i = 0; i < p->flink_jobs.count; i++)
        if (ebb_str_has_prefix(name, ebb_str_of(p->flink_jobs.items[i])))
            return true;
    return false;
}

bool ebb__plan_is_flink(const struct ebb_planning *p, const struct ebb_listed *f)
{
    struct ebb_buf folder;
    bool found = false;

    if (!is_of_job(p, f->name))
        return false;
    ebb_buf_init(&folder, 4 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&folder, "%s/", p->table->metadata->location);
    ebb_buf_add_str(&folder, f->dir);
    for (size_t i = 0; !found && !folder.bad && i < p->flink_folders.count; i++) {
        enum ebb_relation relation;

        found = !ebb_location_relation(p->flink_folders.items[i], ebb_buf_cstr(&folder), NULL, &relation, NULL) &&
                relation == EBB_RELATION_SAME;
    }
    ebb_buf_fini(&folder);
    return found;
}

struct flink {
    struct ebb_planning *p;
    struct ebb_place *place;
    struct ebb_avro_reader *reader;
    struct ebb_buf name, bytes;
};

static int protect_entry(void *data, const struct ebb_manifest_entry *entry, struct ebb_err *err)
{
    struct flink *f = data;

    return ebb_protect_add(f->p->protect, entry->file_path, err);
}

static bool enter_nothing(void *data, struct ebb_str dir)
{
    (void)data;
    (void)dir;
    return false;
}

static int on_file(void *data, const struct ebb_walk_entry *e, struct ebb_err *err)
{
    struct flink *f = data;
    int rc;

    if (e->kind != EBB_WALK_FILE || !is_of_job(f->p, e->name))
        return 0;
    ebb_buf_reset(&f->name);
    ebb_buf_add_str(&f->name, e->name);
    rc = ebb_place_read(f->place, ebb_buf_cstr(&f->name), f->bytes.max, &f->bytes, NULL, err);
    if (!rc)
        rc = ebb_manifest_read(f->reader, ebb_buf_cstr(&f->name), f->bytes.data ? f->bytes.data : "", f->bytes.len,
                               protect_entry, f, NULL, err);
    if (rc == -(int)EBB_EMANIFEST_CORRUPT || rc == -(int)EBB_ENOENT)
        rc = 0; /* half written, it names nothing more that can be told; or gone */
    return rc;
}

static int look_into(struct flink *f, const char *uri, struct ebb_err *err)
{
    static const struct ebb_walk_ops OPS = {enter_nothing, NULL, on_file};
    int rc = ebb_place_open(f->p->site->storage, uri, EBB_PLACE_READ, &f->place, err);

    if (rc == -(int)EBB_ENOENT)
        return 0; /* no such folder */
    if (!rc)
        rc = ebb_place_walk(f->place, "", &OPS, f, err);
    ebb_place_close(f->place);
    f->place = NULL;
    return rc;
}

int ebb__plan_protect_flink(struct ebb_planning *p, struct ebb_err *err)
{
    struct flink f;
    int rc;

    if (!p->flink_jobs.count)
        return 0;
    memset(&f, 0, sizeof f);
    f.p = p;
    ebb_buf_init(&f.name, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&f.bytes, MANIFEST_MAX_BYTES);
    rc = ebb_avro_reader_new(&f.reader, err);
    for (size_t i = 0; !rc && i < p->flink_folders.count; i++)
        rc = look_into(&f, p->flink_folders.items[i], err);
    ebb_avro_reader_free(f.reader);
    ebb_buf_fini(&f.name);
    ebb_buf_fini(&f.bytes);
    return rc;
}
