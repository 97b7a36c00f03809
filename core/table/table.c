/* SPDX-License-Identifier: Apache-2.0 */
#include "table/table.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct ebb_catalog *find_catalog(const struct ebb_site *site, const char *name, size_t n)
{
    for (size_t i = 0; i < site->catalog_count; i++) {
        const char *have = ebb_catalog_name(site->catalogs[i]);

        if (strlen(have) == n && !memcmp(have, name, n))
            return site->catalogs[i];
    }
    return NULL;
}

static bool is_path(const char *name)
{
    return strchr(name, '/') || name[0] == '.' || strchr(name, ':');
}

static int load_from_catalog(const struct ebb_site *site, const char *name, struct ebb_table_ref *out,
                             struct ebb_err *err)
{
    const char *dot = strchr(name, '.');
    const char *last = strrchr(name, '.');
    struct ebb_catalog *catalog = dot ? find_catalog(site, name, (size_t)(dot - name)) : NULL;
    struct ebb_buf levels;
    int rc;

    if (!catalog || !last[1]) {
        rc = ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "table %s: no such path, and no catalog of that name", name);
        ebb_err_hint(err, "a table is catalog.namespace.table, or the path of its folder or metadata file");
        return rc;
    }
    ebb_buf_init(&levels, 4096);
    if (dot != last) /* else a table without namespace */
        ebb_buf_append(&levels, dot + 1, (size_t)(last - dot - 1));
    rc = ebb_buf_check(&levels, "namespace", err);
    if (!rc)
        rc = ebb_catalog_load(catalog, ebb_buf_cstr(&levels), last + 1, out, err);
    ebb_buf_fini(&levels);
    return rc;
}

static int dup_text(const char *text, char **out, struct ebb_err *err)
{
    *out = text ? strdup(text) : NULL;
    return text && !*out ? ebb_err_nomem(err) : 0;
}

static int real_path_of(const struct ebb_site *site, const char *uri, char out[PATH_MAX])
{
    struct ebb_buf local;
    int rc;

    ebb_buf_init(&local, EBB_LOCATION_MAX_BYTES);
    rc = ebb_uri_map_local(ebb_storage_map(site->storage), uri, &local, NULL);
    if (!rc && !realpath(ebb_buf_cstr(&local), out))
        rc = -(int)EBB_ENOENT;
    ebb_buf_fini(&local);
    return rc;
}

/* A folder whose pointer its own layout does not tell: another configured catalog may know it. */
struct pointer_search {
    const struct ebb_site *site;
    const char *folder;
    struct ebb_table_ref *found;
    bool is_found;
};

/* Whether a metadata file is kept right in the folder (one of a table further down is not). */
static bool is_kept_in(const struct pointer_search *search, const char *metadata_uri)
{
    char kept[PATH_MAX], wanted[PATH_MAX];
    const char *slash = strrchr(metadata_uri, '/');
    struct ebb_buf uri;
    bool is_same;

    ebb_buf_init(&uri, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_append(&uri, metadata_uri, slash ? (size_t)(slash - metadata_uri) : 0);
    is_same = real_path_of(search->site, ebb_buf_cstr(&uri), kept) == 0;
    ebb_buf_reset(&uri);
    ebb_buf_printf(&uri, "%s/metadata", search->folder);
    is_same =
        is_same && !uri.bad && real_path_of(search->site, ebb_buf_cstr(&uri), wanted) == 0 && !strcmp(kept, wanted);
    ebb_buf_fini(&uri);
    return is_same;
}

static int match_pointer(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct pointer_search *search = data;
    int rc;

    if (!ref->metadata_uri || !is_kept_in(search, ref->metadata_uri))
        return 0;
    if (search->is_found && !strcmp(ref->metadata_uri, search->found->metadata_uri))
        return 0;
    if (!search->is_found) {
        search->is_found = true;
        return ebb_table_ref_copy(ref, search->found, err);
    }
    rc = ebb_err_set(err, EBB_EPOINTER_UNKNOWN, "%s: holds the metadata of several tables, %s.%s.%s and %s.%s.%s",
                     search->folder, search->found->catalog, search->found->namespace_, search->found->name,
                     ref->catalog, ref->namespace_, ref->name);
    ebb_err_hint(err, "name the table by its catalog");
    return rc;
}

static int search_pointer(const struct ebb_site *site, struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct ebb_table_ref found;
    struct pointer_search search = {site, ref->folder_uri, &found, false};
    int rc = 0;

    memset(&found, 0, sizeof found);
    for (size_t i = 0; !rc && i < site->catalog_count; i++)
        rc = ebb_catalog_list(site->catalogs[i], match_pointer, &search, err);
    if (!rc && search.is_found) {
        ebb_table_ref_fini(ref);
        *ref = found;
        return 0;
    }
    ebb_table_ref_fini(&found);
    return rc;
}

/* By path such a folder is an error at once; it is made what a directory catalog lists. */
static int as_unknown(const struct ebb_site *site, const char *path, struct ebb_table_ref *ref,
                      const struct ebb_err *why, struct ebb_err *err)
{
    struct ebb_buf uri;
    int rc = 0;

    ebb_buf_init(&uri, 2 * EBB_LOCATION_MAX_BYTES);
    if (path[0] == '/' || !strchr(path, ':'))
        rc = ebb_uri_map_uri(ebb_storage_map(site->storage), path, &uri, err);
    else
        ebb_buf_puts(&uri, path);
    if (!rc)
        rc = ebb_buf_check(&uri, "location", err);
    if (!rc)
        rc = dup_text(ebb_buf_cstr(&uri), &ref->folder_uri, err);
    if (!rc)
        rc = dup_text("path", &ref->catalog, err);
    if (!rc)
        rc = dup_text(path, &ref->name, err);
    ref->problem = *why;
    ebb_buf_fini(&uri);
    return rc;
}

static int check_ref(const struct ebb_site *site, struct ebb_table_ref *ref, struct ebb_err *err)
{
    int rc;

    if (!ref->metadata_uri && ref->problem.error == EBB_EPOINTER_UNKNOWN && ref->folder_uri) {
        rc = search_pointer(site, ref, err);
        if (rc)
            return rc;
    }
    if (ref->metadata_uri)
        return 0;
    if (err)
        *err = ref->problem;
    return -(int)ref->problem.error;
}

static int read_metadata(const struct ebb_site *site, struct ebb_table *t, struct ebb_err *err)
{
    struct ebb_buf bytes;
    int rc;

    ebb_buf_init(&bytes, EBB_METADATA_MAX_BYTES);
    rc = ebb_storage_read(site->storage, t->ref.metadata_uri, &bytes, &t->metadata_stat, err);
    if (rc == -(int)EBB_ENOENT) {
        rc = ebb_err_as(err, EBB_EMETADATA_MISSING, t->label);
        ebb_err_hint(err,
                     "the catalog points to a metadata file that does not exist; nothing can be told about the table");
    } else if (rc == -(int)EBB_EPERMISSION || rc == -(int)EBB_EIO || rc == -(int)EBB_ELIMIT) {
        rc = ebb_err_as(err, EBB_EMETADATA, t->label);
    } else if (rc == 0) {
        rc = ebb_metadata_parse(t->ref.metadata_uri, bytes.data ? bytes.data : "", bytes.len, &t->metadata, err);
    }
    ebb_buf_fini(&bytes);
    return rc;
}

static bool is_same_place(const struct ebb_site *site, const char *a, const char *b)
{
    char x[PATH_MAX], y[PATH_MAX];
    enum ebb_relation relation;

    if (real_path_of(site, a, x) == 0 && real_path_of(site, b, y) == 0)
        return !strcmp(x, y);
    return !ebb_location_relation(a, b, NULL, &relation, NULL) && relation == EBB_RELATION_SAME;
}

/* Where the table's writers put metadata: write.metadata.path, or `metadata` in the location. */
static int is_kept_by_table(const struct ebb_site *site, const struct ebb_table *t, bool *out, struct ebb_err *err)
{
    const char *path = ebb_metadata_property(t->metadata, "write.metadata.path");
    const char *slash = strrchr(t->ref.metadata_uri, '/');
    struct ebb_buf folder, usual;
    int rc;

    ebb_buf_init(&folder, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&usual, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_append(&folder, t->ref.metadata_uri, slash ? (size_t)(slash - t->ref.metadata_uri) : 0);
    ebb_buf_printf(&usual, "%s/metadata", t->metadata->location);
    rc = ebb_buf_check(&folder, "location", err);
    if (!rc)
        rc = ebb_buf_check(&usual, "location", err);
    *out = !rc && ((path && path[0] && is_same_place(site, path, ebb_buf_cstr(&folder))) ||
                   is_same_place(site, ebb_buf_cstr(&usual), ebb_buf_cstr(&folder)));
    ebb_buf_fini(&folder);
    ebb_buf_fini(&usual);
    return rc;
}

/* A table that was found in a folder must say that it lives there, and a metadata file that was named by hand must lie
 * where its table keeps them: else it speaks of other files (a copied or moved table), or of an older state (a saved
 * metadata file) whose successors nobody looks for. */
static int check_place(const struct ebb_site *site, const struct ebb_table *t, struct ebb_err *err)
{
    const char *where = t->ref.folder_uri ? t->ref.folder_uri : t->ref.metadata_uri;
    bool is_right = true;
    int rc = 0;

    if (!strcmp(t->ref.catalog, "path"))
        rc = is_kept_by_table(site, t, &is_right, err);
    else if (t->ref.folder_uri)
        is_right = is_same_place(site, t->metadata->location, t->ref.folder_uri);
    if (rc || is_right)
        return rc;
    rc = ebb_err_set(err, EBB_EMETADATA_PLACE, "%s: metadata says location %s, but the table was found in %s", t->label,
                     t->metadata->location, where);
    ebb_err_hint(err, "if that is where the location is reachable here, say --map %s=FOLDER", t->metadata->location);
    return rc;
}

static int make_label(struct ebb_table *t, struct ebb_err *err)
{
    struct ebb_buf b;

    ebb_buf_init(&b, 8192);
    ebb_buf_printf(&b, "%s.%s%s%s", t->ref.catalog, t->ref.namespace_ ? t->ref.namespace_ : "",
                   t->ref.namespace_ && t->ref.namespace_[0] ? "." : "", t->ref.name);
    t->label = ebb_buf_take(&b);
    return t->label ? 0 : ebb_err_nomem(err);
}

/* What opens the same table again: the catalog's name for it, or the path as it was given, made absolute. */
static int make_opened_as(struct ebb_table *t, const char *path, struct ebb_err *err)
{
    char cwd[PATH_MAX];
    struct ebb_buf b;

    if (!path || strcmp(t->ref.catalog, "path"))
        return dup_text(t->label, &t->opened_as, err);
    if (path[0] == '/' || strchr(path, ':') || !getcwd(cwd, sizeof cwd))
        return dup_text(path, &t->opened_as, err);
    ebb_buf_init(&b, EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&b, "%s/%s", cwd, path);
    t->opened_as = ebb_buf_take(&b);
    return t->opened_as ? 0 : ebb_err_nomem(err);
}

/* Takes over ref. */
static bool has_told(const struct ebb_table_ref *ref, int64_t id)
{
    for (size_t i = 0; i < ref->snapshot_count; i++)
        if (ref->snapshots[i] == id)
            return true;
    return false;
}

static bool has_snapshot(const struct ebb_metadata *m, int64_t id)
{
    for (size_t i = 0; i < m->snapshot_count; i++)
        if (m->snapshots[i].id == id)
            return true;
    return false;
}

/* A catalog that tells snapshots itself and the file it points to must agree: what only one of them knows is in use. */
static int check_snapshots(const struct ebb_table *t, struct ebb_err *err)
{
    const struct ebb_metadata *m = t->metadata;
    bool agree = true;
    int rc;

    if (!t->ref.has_snapshots)
        return 0;
    for (size_t i = 0; agree && i < m->snapshot_count; i++)
        agree = has_told(&t->ref, m->snapshots[i].id);
    for (size_t i = 0; agree && i < t->ref.snapshot_count; i++)
        agree = has_snapshot(m, t->ref.snapshots[i]);
    if (agree)
        return 0;
    rc = ebb_err_set(err, EBB_EFEWER_SNAPSHOTS,
                     "%s: the catalog tells %zu snapshots, its metadata file holds %zu, and they are not the same",
                     t->label, t->ref.snapshot_count, m->snapshot_count);
    ebb_err_hint(err, "a catalog that keeps history elsewhere, or shows a part of it, can't be cleaned natively");
    return rc;
}

/* Where two servers name different places for a table, one of them means another table of that name. */
static int check_location(const struct ebb_table *t, struct ebb_err *err)
{
    const char *told = t->ref.location, *said = t->metadata->location;
    size_t n = told ? strlen(told) : 0, m = said ? strlen(said) : 0;
    int rc;

    while (n && told[n - 1] == '/')
        n--;
    while (m && said[m - 1] == '/')
        m--;
    if (!told || (n == m && !memcmp(told, said, n)))
        return 0;
    rc = ebb_err_set(err, EBB_ECATALOG_PLACE, "%s: the catalog says it is at %s, its metadata file says %s", t->label,
                     told, said ? said : "nothing");
    ebb_err_hint(err, "is the right catalog configured as the one behind it (catalogs.%s.backing)?", t->ref.catalog);
    return rc;
}

static int open_taken(const struct ebb_site *site, struct ebb_table_ref *ref, const char *path, struct ebb_table **out,
                      struct ebb_err *err)
{
    struct ebb_table *t = calloc(1, sizeof *t);
    int rc;

    if (!t) {
        ebb_table_ref_fini(ref);
        return ebb_err_nomem(err);
    }
    t->ref = *ref;
    memset(ref, 0, sizeof *ref);
    rc = check_ref(site, &t->ref, err);
    if (!rc)
        rc = make_label(t, err);
    if (!rc)
        rc = read_metadata(site, t, err);
    if (!rc)
        rc = check_snapshots(t, err);
    if (!rc)
        rc = check_location(t, err);
    if (!rc)
        rc = ebb_location_check_table(t->metadata->location, err);
    if (rc == -(int)EBB_EROOT_LOCATION || rc == -(int)EBB_EBAD_LOCATION || rc == -(int)EBB_ELOCATION)
        rc = ebb_err_as(err, rc == -(int)EBB_EROOT_LOCATION ? EBB_EROOT_LOCATION : EBB_EBAD_LOCATION, t->label);
    if (!rc)
        rc = check_place(site, t, err);
    if (!rc)
        rc = make_opened_as(t, path, err);
    if (rc) {
        ebb_table_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

int ebb_table_open(const struct ebb_site *site, const char *name, struct ebb_table **out, struct ebb_err *err)
{
    struct ebb_table_ref ref;
    struct ebb_err why;
    int rc;

    memset(&ref, 0, sizeof ref);
    memset(&why, 0, sizeof why);
    if (is_path(name)) {
        rc = ebb_table_ref_by_path(site->storage, name, &ref, &why);
        if (rc == -(int)EBB_EPOINTER_UNKNOWN)
            rc = as_unknown(site, name, &ref, &why, err);
        else if (rc && err)
            *err = why;
    } else {
        rc = load_from_catalog(site, name, &ref, err);
    }
    if (rc) {
        ebb_table_ref_fini(&ref);
        return rc;
    }
    return open_taken(site, &ref, name, out, err);
}

int ebb_table_open_ref(const struct ebb_site *site, const struct ebb_table_ref *from, struct ebb_table **out,
                       struct ebb_err *err)
{
    struct ebb_table_ref ref;
    int rc = ebb_table_ref_copy(from, &ref, err);

    if (rc) {
        ebb_table_ref_fini(&ref);
        return rc;
    }
    return open_taken(site, &ref, ref.metadata_uri, out, err);
}

static int same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

int ebb_table_reload(const struct ebb_site *site, const struct ebb_table *table, struct ebb_table **out,
                     struct ebb_err *err)
{
    const struct ebb_table_ref *ref = &table->ref;
    struct ebb_catalog *catalog = find_catalog(site, ref->catalog, strlen(ref->catalog));
    struct ebb_table_ref fresh;
    struct ebb_table *t = NULL;
    int rc;

    memset(&fresh, 0, sizeof fresh);
    if (catalog)
        rc = ebb_catalog_load(catalog, ref->namespace_, ref->name, &fresh, err);
    else
        rc = ebb_table_ref_by_path(site->storage, table->opened_as, &fresh, err);
    if (rc) {
        ebb_table_ref_fini(&fresh);
        return rc;
    }
    rc = open_taken(site, &fresh, table->opened_as, &t, err);
    if (rc)
        return rc;
    if (!same_text(t->metadata->uuid, table->metadata->uuid) ||
        !same_text(t->metadata->location, table->metadata->location)) {
        ebb_table_free(t);
        return ebb_err_set(err, EBB_EMETADATA_CHANGED,
                           "%s: uuid or location is not what it was: another table has this name", table->label);
    }
    *out = t;
    return 0;
}

bool ebb_table_is_same_state(const struct ebb_table *a, const struct ebb_table *b)
{
    return same_text(a->ref.metadata_uri, b->ref.metadata_uri) &&
           ebb_stat_is_same(&a->metadata_stat, &b->metadata_stat) && a->ref.lagging.count == b->ref.lagging.count;
}

void ebb_table_free(struct ebb_table *table)
{
    if (!table)
        return;
    ebb_metadata_free(table->metadata);
    ebb_table_ref_fini(&table->ref);
    free(table->label);
    free(table->opened_as);
    free(table);
}
