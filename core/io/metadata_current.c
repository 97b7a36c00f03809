/* SPDX-License-Identifier: Apache-2.0 */
#include "io/catalog_priv.h"

#include <stdlib.h>
#include <strings.h>

#include "format/metadata.h"

#define HEAD_BYTES ((size_t)64 * 1024)
#define OTHER_MAX ((size_t)64 << 20) /* of another metadata file that is read whole */
#define ARENA_MAX ((size_t)1 << 20)
/* A successor may be a little older than what it succeeds, where clocks differ: writers of the format refuse more than
 * a minute. */
#define SKEW_MS ((int64_t)24 * 3600 * 1000)

struct file {
    char *uri;
    struct ebb_buf bytes;
    struct ebb_arena arena;
    struct ebb_metadata_identity id;
    bool is_whole; /* bytes hold the whole file */
};

static void file_init(struct file *f, size_t max)
{
    memset(f, 0, sizeof *f);
    ebb_buf_init(&f->bytes, max);
    ebb_arena_init(&f->arena, ARENA_MAX);
}

static void file_fini(struct file *f)
{
    ebb_buf_fini(&f->bytes);
    ebb_arena_fini(&f->arena);
    free(f->uri);
}

static int identify(struct file *f, struct ebb_err *err)
{
    return ebb_metadata_identify(f->uri, f->bytes.data ? f->bytes.data : "", f->bytes.len, &f->arena, &f->id, err);
}

static int read_whole(struct ebb_storage *storage, struct file *f, struct ebb_err *err)
{
    int rc = f->is_whole ? 0 : ebb_storage_read(storage, f->uri, &f->bytes, NULL, err);

    f->is_whole = !rc;
    return rc;
}

/* Who a file is: from its head if that tells, else from the whole of it. */
static int load(struct ebb_storage *storage, const char *dir_uri, const char *name, struct file *f, struct ebb_err *err)
{
    int rc = ebb__uri_join(dir_uri, name, &f->uri, err);

    if (!rc)
        rc = ebb_storage_read_head(storage, f->uri, HEAD_BYTES, &f->bytes, err);
    if (rc)
        return rc;
    f->is_whole = f->bytes.len < HEAD_BYTES;
    rc = identify(f, err);
    if (f->is_whole || (!rc && f->id.uuid && f->id.last_updated_ms))
        return rc;
    rc = read_whole(storage, f, err);
    return rc ? rc : identify(f, err);
}

static bool is_same_table(const struct file *ours, const struct file *other)
{
    if (ours->id.uuid && other->id.uuid)
        return strcasecmp(ours->id.uuid, other->id.uuid) == 0;
    /* Version 1 may have none. */
    return ours->id.location && other->id.location && strcmp(ours->id.location, other->id.location) == 0;
}

static const char *file_name(const char *uri)
{
    const char *slash = strrchr(uri, '/');

    return slash ? slash + 1 : uri;
}

static bool lists(const struct ebb_metadata *m, const char *name)
{
    for (size_t i = 0; i < m->metadata_log_count; i++)
        if (strcmp(file_name(m->metadata_log[i].file), name) == 0)
            return true;
    return false;
}

static int not_current(const struct file *ours, const struct file *other, const char *why, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_ENOT_CURRENT, "%s: is not the current metadata: %s %s", ours->uri,
                         file_name(other->uri), why);

    ebb_err_hint(err, "name the table through its catalog, or name the metadata file that is current");
    return rc;
}

/* Errors about another file's content are passed over: it is litter, or of a version that is not read here. */
static bool is_content(int rc)
{
    return rc == -EBB_EMETADATA || rc == -EBB_EVERSION || rc == -EBB_EENCRYPTED || rc == -EBB_ECORRUPT ||
           rc == -EBB_ELIMIT || rc == -EBB_ENOENT;
}

static int check_log(struct ebb_storage *storage, const struct file *ours, struct file *other, struct ebb_err *err)
{
    struct ebb_metadata *m = NULL;
    int rc;

    if (other->id.last_updated_ms > 0 && ours->id.last_updated_ms > SKEW_MS &&
        other->id.last_updated_ms < ours->id.last_updated_ms - SKEW_MS)
        return 0;
    rc = read_whole(storage, other, err);
    if (!rc)
        rc = ebb_metadata_parse(other->uri, other->bytes.data ? other->bytes.data : "", other->bytes.len, &m, err);
    if (!rc && lists(m, file_name(ours->uri)))
        rc = not_current(ours, other, "lists it in its metadata-log", err);
    ebb_metadata_free(m);
    return rc;
}

static int check_other(struct ebb_storage *storage, const char *dir_uri, const char *name, const struct file *ours,
                       struct ebb_err *err)
{
    struct file other;
    int rc;

    file_init(&other, OTHER_MAX);
    rc = load(storage, dir_uri, name, &other, err);
    if (!rc && is_same_table(ours, &other)) {
        if (other.id.last_updated_ms > ours->id.last_updated_ms)
            rc = not_current(ours, &other, "was written later", err);
        else
            rc = check_log(storage, ours, &other, err);
    }
    file_fini(&other);
    return is_content(rc) ? 0 : rc;
}

int ebb__metadata_dir_check_current(struct ebb_storage *storage, const struct ebb__metadata_dir *dir, const char *name,
                                    bool only_catalog_names, struct ebb_err *err)
{
    struct file ours;
    int rc;

    file_init(&ours, EBB_METADATA_MAX_BYTES);
    rc = load(storage, dir->uri, name, &ours, err);
    for (size_t i = 0; !rc && i < dir->names.count; i++) {
        const char *other = dir->names.items[i];

        if (strcmp(other, name) == 0 || (only_catalog_names && !ebb__catalog_is_name(other)))
            continue;
        rc = check_other(storage, dir->uri, other, &ours, err);
    }
    file_fini(&ours);
    return rc;
}
