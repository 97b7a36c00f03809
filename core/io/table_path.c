/* SPDX-License-Identifier: Apache-2.0 */
#include "io/catalog_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "format/metadata.h"

static struct ebb_str trim(struct ebb_str s)
{
    while (s.n > 1 && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

/* Split a path into what is above its last component and that component; false for a root. */
static bool split_last(struct ebb_str path, struct ebb_str *above, struct ebb_str *last)
{
    size_t start;

    path = trim(path);
    start = path.n;
    while (start && path.p[start - 1] != '/')
        start--;
    *last = (struct ebb_str){path.p + start, path.n - start};
    *above = trim((struct ebb_str){path.p, start});
    return last->n > 0;
}

static bool is_climbing(const char *path)
{
    for (const char *p = path; (p = strstr(p, "..")) != NULL; p++)
        if ((p == path || p[-1] == '/') && (p[2] == '\0' || p[2] == '/'))
            return true;
    return false;
}

static bool is_uri(const char *text)
{
    struct ebb_location l;

    return text[0] != '/' && ebb_location_split(text, strlen(text), &l, NULL) == 0 && l.scheme.n;
}

static int resolve(const char *path, char **out, struct ebb_err *err)
{
    *out = realpath(path, NULL);
    if (*out)
        return 0;
    if (errno == ENOENT || errno == ENOTDIR)
        return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "%s: there is no such file or folder", path);
    return ebb_err_errno(err, errno, "%s: cannot find", path);
}

/* A path with ".." means what the system says, which past a link is not what the text looks like. Only there *out is
 * the real path, else NULL: the text is what maps and catalogs speak of. */
static int resolve_climbing(const char *path, char **out, struct ebb_err *err)
{
    struct ebb_buf uri;
    char *plain = NULL;
    int rc;

    *out = NULL;
    if (!is_climbing(path))
        return 0;
    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    rc = resolve(path, out, err);
    if (!rc)
        rc = ebb_uri_map_uri(NULL, path, &uri, err);
    if (!rc)
        plain = realpath(ebb_buf_cstr(&uri) + strlen("file:"), NULL);
    if (plain && strcmp(plain, *out) == 0) {
        free(*out);
        *out = NULL;
    }
    free(plain);
    ebb_buf_fini(&uri);
    return rc;
}

/* The table's own URI of a local path. */
static int uri_of_local(struct ebb_storage *storage, const char *path, struct ebb_buf *out, struct ebb_err *err)
{
    char *real = NULL;
    int rc = resolve_climbing(path, &real, err);

    if (!rc)
        rc = ebb_uri_map_uri(ebb_storage_map(storage), real ? real : path, out, err);
    free(real);
    return rc;
}

static int uri_of(struct ebb_storage *storage, const char *text, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_location l;
    int rc;

    if (!*text)
        return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "table: the name is empty");
    if (!is_uri(text))
        return uri_of_local(storage, text, out, err);
    rc = ebb_location_split(text, strlen(text), &l, err);
    if (rc)
        return rc;
    ebb_buf_append(out, text, strlen(text) - (l.path.n - trim(l.path).n));
    return ebb_buf_check(out, "location", err);
}

/* Names by the folder: its last component, and the one above as namespace. */
static int name_by_folder(const char *folder_uri, struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct ebb_location l;
    struct ebb_str above, name = {"", 0}, ns = {"", 0}, rest;
    int rc = ebb_location_split(folder_uri, strlen(folder_uri), &l, err);

    if (rc)
        return rc;
    if (split_last(l.path, &above, &name))
        split_last(above, &rest, &ns);
    ref->catalog = strdup("path");
    ref->name = strndup(name.p, name.n);
    ref->namespace_ = strndup(ns.p, ns.n);
    return ref->catalog && ref->name && ref->namespace_ ? 0 : ebb_err_nomem(err);
}

static int pointer_unknown(const char *folder_uri, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_EPOINTER_UNKNOWN,
                         "%s: only a catalog knows which of its metadata files is the current one", folder_uri);

    ebb_err_hint(err, "configure the catalog of this table, or name its current *.metadata.json");
    return rc;
}

/* A Hadoop table that went over to a catalog has both kinds of names: then its newest vN is not the current one. */
static int check_not_moved(struct ebb_storage *storage, const struct ebb__metadata_dir *dir, const char *folder_uri,
                           const char *metadata_uri, struct ebb_err *err)
{
    int rc = ebb__metadata_dir_check_current(storage, dir, strrchr(metadata_uri, '/') + 1, true, err);

    return rc == -EBB_ENOT_CURRENT ? pointer_unknown(folder_uri, err) : rc;
}

static bool has_catalog_names(const struct ebb__metadata_dir *dir)
{
    for (size_t i = 0; i < dir->names.count; i++)
        if (ebb__catalog_is_name(dir->names.items[i]))
            return true;
    return false;
}

static int locate_in(struct ebb_storage *storage, const struct ebb__metadata_dir *dir, const char *folder_uri,
                     struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct ebb_hadoop_version version;
    int rc;

    if (!dir->names.count && !dir->has_number)
        return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "%s: holds no metadata file", dir->uri);
    if (!ebb__hadoop_is_layout(dir))
        return pointer_unknown(folder_uri, err);
    rc = ebb__hadoop_choose(dir, &version, err);
    if (rc == -EBB_ETABLE_NOT_FOUND && dir->names.count)
        rc = pointer_unknown(folder_uri, err);
    if (!rc && has_catalog_names(dir))
        rc = check_not_moved(storage, dir, folder_uri, version.metadata_uri, err);
    if (!rc) {
        ref->metadata_uri = version.metadata_uri;
        version.metadata_uri = NULL;
        ref->lagging = version.lagging;
        ebb_strs_init(&version.lagging);
    }
    ebb_hadoop_version_fini(&version);
    return rc;
}

int ebb__table_ref_locate(struct ebb_storage *storage, const char *folder_uri, struct ebb_table_ref *ref,
                          struct ebb_err *err)
{
    struct ebb__metadata_dir dir;
    char *uri = NULL;
    int rc;

    ebb__metadata_dir_init(&dir);
    ref->folder_uri = strdup(folder_uri);
    rc = ref->folder_uri ? ebb__uri_join(folder_uri, "metadata", &uri, err) : ebb_err_nomem(err);
    if (!rc)
        rc = ebb__metadata_dir_read(storage, uri, &dir, err);
    if (!rc)
        rc = locate_in(storage, &dir, folder_uri, ref, err);
    ebb__metadata_dir_fini(&dir);
    free(uri);
    return rc;
}

static int by_folder(struct ebb_storage *storage, const char *uri, struct ebb_table_ref *out, struct ebb_err *err)
{
    int rc = name_by_folder(uri, out, err);

    return rc ? rc : ebb__table_ref_locate(storage, uri, out, err);
}

/* A vN in a Hadoop table must be the version that readers find. */
static int check_version(const struct ebb__metadata_dir *dir, const char *uri, const char *name, struct ebb_err *err)
{
    struct ebb_hadoop_version version;
    int64_t number;
    int rank, rc;

    if (!ebb__hadoop_is_name(name, &number, &rank))
        return 0;
    rc = ebb__hadoop_choose(dir, &version, err);
    if (rc)
        return rc;
    if (strcmp(strrchr(version.metadata_uri, '/') + 1, name) != 0) {
        rc = ebb_err_set(err, EBB_ENOT_CURRENT, "%s: is not the current metadata: that is %s", uri,
                         version.metadata_uri);
        ebb_err_hint(err, "name the table's folder");
    }
    ebb_hadoop_version_fini(&version);
    return rc;
}

static int check_by_hand(struct ebb_storage *storage, struct ebb_str dir_uri, const char *uri, const char *name,
                         struct ebb_err *err)
{
    struct ebb__metadata_dir dir;
    char *dir_text = strndup(dir_uri.p, dir_uri.n);
    int rc;

    ebb__metadata_dir_init(&dir);
    rc = dir_text ? ebb__metadata_dir_read(storage, dir_text, &dir, err) : ebb_err_nomem(err);
    if (!rc)
        rc = check_version(&dir, uri, name, err);
    if (!rc)
        rc = ebb__metadata_dir_check_current(storage, &dir, name, false, err);
    ebb__metadata_dir_fini(&dir);
    free(dir_text);
    return rc;
}

/* uri is that of a file. Its table is kept in the folder above `metadata`; a file elsewhere has no such folder. */
static int by_file(struct ebb_storage *storage, const char *uri, struct ebb_table_ref *out, struct ebb_err *err)
{
    struct ebb_str dir, name, above, last;
    int rc;

    split_last(ebb_str_of(uri), &dir, &name);
    out->metadata_uri = strdup(uri);
    if (!out->metadata_uri)
        return ebb_err_nomem(err);
    if (split_last(dir, &above, &last) && ebb_str_is_equal(last, EBB_STR("metadata"))) {
        out->folder_uri = strndup(above.p, above.n);
        rc = out->folder_uri ? name_by_folder(out->folder_uri, out, err) : ebb_err_nomem(err);
    } else {
        char *folder = strndup(dir.p, dir.n);

        rc = folder ? name_by_folder(folder, out, err) : ebb_err_nomem(err);
        free(folder);
    }
    return rc ? rc : check_by_hand(storage, dir, uri, name.p, err);
}

static int by_uri(struct ebb_storage *storage, const char *uri, struct ebb_table_ref *out, struct ebb_err *err)
{
    struct ebb_stat st;
    int rc;

    if (ebb_storage_is_remote(storage, uri)) /* there are no folders to be told from files */
        return ebb_metadata_is_name(uri, NULL) ? by_file(storage, uri, out, err) : by_folder(storage, uri, out, err);
    rc = ebb_storage_stat(storage, uri, &st, err);
    if (rc == -EBB_ENOENT)
        return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "%s: there is no such file or folder", uri);
    if (rc)
        return rc;
    if (st.is_file && !ebb_metadata_is_name(uri, NULL))
        return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "%s: is neither a table's folder nor a *.metadata.json", uri);
    return st.is_file ? by_file(storage, uri, out, err) : by_folder(storage, uri, out, err);
}

int ebb_table_ref_by_path(struct ebb_storage *storage, const char *path_or_uri, struct ebb_table_ref *out,
                          struct ebb_err *err)
{
    struct ebb_buf uri;
    int rc;

    memset(out, 0, sizeof *out);
    ebb_strs_init(&out->lagging);
    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    rc = uri_of(storage, path_or_uri, &uri, err);
    if (!rc)
        rc = by_uri(storage, ebb_buf_cstr(&uri), out, err);
    ebb_buf_fini(&uri);
    if (rc)
        ebb_table_ref_fini(out);
    return rc;
}
