/* SPDX-License-Identifier: Apache-2.0 */
#include "io/catalog_priv.h"

#include <stdlib.h>

#include "format/metadata.h"

#define MOUNTS_MAX 64

/* A table's folder, found by its metadata. */
struct found {
    char *folder; /* relative to the catalog's path; "" is the path itself */
    char *namespace_;
    char *name;
};

struct search {
    struct ebb_catalog *catalog;
    struct ebb_strs
        mounts; /* folders on other file systems, relative to the path, in the order in which they are searched */
    const char *mount; /* the one that is searched; "" first */
    bool is_metadata;  /* the folder at hand is called "metadata" */
    bool has_metadata; /* and a metadata file was seen in it */
    struct found *items;
    size_t count, cap;
};

static void search_fini(struct search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->items[i].folder);
        free(s->items[i].namespace_);
        free(s->items[i].name);
    }
    free(s->items);
    ebb_strs_fini(&s->mounts);
}

static struct ebb_str last_of(struct ebb_str path)
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    size_t start = slash ? (size_t)(slash - path.p) + 1 : 0;

    return (struct ebb_str){path.p + start, path.n - start};
}

/* "a/b" of two parts, either may be empty. */
static char *join(const char *above, struct ebb_str below)
{
    struct ebb_buf text;
    char *out;

    ebb_buf_init(&text, EBB_LOCATION_MAX_BYTES);
    ebb_buf_puts(&text, above);
    if (*above && below.n)
        ebb_buf_putc(&text, '/');
    ebb_buf_add_str(&text, below);
    out = ebb_buf_take(&text);
    ebb_buf_fini(&text);
    return out;
}

/* Names of a folder: the path's own last component where the path itself is a table. */
static int name_found(struct search *s, struct found *f, struct ebb_err *err)
{
    struct ebb_str path = ebb_str_of(f->folder), last = last_of(path);

    if (!path.n) {
        struct ebb_str root = ebb_str_of(s->catalog->path);

        while (root.n && root.p[root.n - 1] == '/')
            root.n--;
        last = last_of(root);
    }
    f->name = strndup(last.p, last.n);
    f->namespace_ = strndup(path.p, path.n > last.n ? path.n - last.n - 1 : 0);
    if (!f->name || !f->namespace_)
        return ebb_err_nomem(err);
    for (char *p = f->namespace_; *p; p++)
        if (*p == '/')
            *p = '.';
    return 0;
}

static int add_found(struct search *s, struct ebb_str metadata_dir, struct ebb_err *err)
{
    size_t n = metadata_dir.n - strlen("metadata");
    struct ebb_str folder = {metadata_dir.p, n ? n - 1 : 0};
    struct found *f;

    if (s->count == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        struct found *items = realloc(s->items, cap * sizeof *items);

        if (!items)
            return ebb_err_nomem(err);
        s->items = items;
        s->cap = cap;
    }
    f = &s->items[s->count++];
    memset(f, 0, sizeof *f);
    f->folder = join(s->mount, folder);
    return f->folder ? name_found(s, f, err) : ebb_err_nomem(err);
}

static bool enter(void *data, struct ebb_str dir)
{
    (void)data;
    return !ebb_str_is_equal(last_of(dir), EBB_STR(".ebb-quarantine"));
}

static int begin_dir(void *data, struct ebb_str dir, struct ebb_err *err)
{
    struct search *s = data;

    (void)err;
    s->is_metadata = ebb_str_is_equal(last_of(dir), EBB_STR("metadata"));
    s->has_metadata = false;
    return 0;
}

static int add_mount(struct search *s, const struct ebb_walk_entry *entry, struct ebb_err *err)
{
    char *above = join(s->mount, entry->dir);
    char *folder = above ? join(above, entry->name) : NULL;
    int rc;

    if (!folder)
        rc = ebb_err_nomem(err);
    else if (s->mounts.count >= MOUNTS_MAX)
        rc = ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: more than %d mount points below %s", s->catalog->name,
                         folder, MOUNTS_MAX, s->catalog->path);
    else
        rc = ebb_strs_add(&s->mounts, folder, err);
    free(folder);
    free(above);
    return rc;
}

static bool is_metadata_name(struct ebb_str name)
{
    char text[1024];

    if (name.n >= sizeof text)
        return false;
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    return ebb_metadata_is_name(text, NULL);
}

static int entry_seen(void *data, const struct ebb_walk_entry *entry, struct ebb_err *err)
{
    struct search *s = data;

    if (entry->kind == EBB_WALK_MOUNT)
        return add_mount(s, entry, err);
    if (!s->is_metadata || s->has_metadata || !is_metadata_name(entry->name))
        return 0;
    s->has_metadata = true;
    return add_found(s, entry->dir, err);
}

/* The URI of a folder below the catalog's path. */
static int folder_uri(const struct ebb_catalog *c, const char *folder, struct ebb_buf *out, struct ebb_err *err)
{
    char *path = NULL;
    int rc = 0;

    if (*folder) {
        rc = ebb__uri_join(c->path, folder, &path, err);
        if (rc)
            return rc;
    }
    ebb_buf_reset(out);
    rc = ebb_uri_map_uri(ebb_storage_map(c->storage), path ? path : c->path, out, err);
    free(path);
    return rc;
}

static int open_folder(const struct ebb_catalog *c, const char *folder, struct ebb_place **out, struct ebb_err *err)
{
    struct ebb_buf uri;
    int rc;

    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    rc = folder_uri(c, folder, &uri, err);
    if (!rc)
        rc = ebb_place_open(c->storage, ebb_buf_cstr(&uri), EBB_PLACE_READ, out, err);
    ebb_buf_fini(&uri);
    if (rc && rc != -EBB_ENOMEM)
        rc = ebb_err_as(err, EBB_ECATALOG, c->name);
    return rc;
}

static int search_mount(struct search *s, const char *mount, struct ebb_err *err)
{
    static const struct ebb_walk_ops OPS = {enter, begin_dir, entry_seen};
    struct ebb_place *place = NULL;
    int rc = open_folder(s->catalog, mount, &place, err);

    s->mount = mount;
    if (!rc)
        rc = ebb_place_walk(place, "", &OPS, s, err);
    ebb_place_close(place);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    int c = strcmp(x->namespace_, y->namespace_);

    if (!c)
        c = strcmp(x->name, y->name);
    return c ? c : strcmp(x->folder, y->folder);
}

/* Find all tables, also those below another table's folder and on file systems mounted below the path. */
static int search(struct search *s, struct ebb_err *err)
{
    int rc = search_mount(s, "", err);

    for (size_t i = 0; !rc && i < s->mounts.count; i++) {
        char *mount = strdup(s->mounts.items[i]); /* the list may grow meanwhile */

        rc = mount ? search_mount(s, mount, err) : ebb_err_nomem(err);
        free(mount);
    }
    if (!rc && s->count)
        qsort(s->items, s->count, sizeof *s->items, by_name);
    return rc;
}

static int locate(const struct ebb_catalog *c, const char *folder, struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct ebb_buf uri;
    int rc;

    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    rc = folder_uri(c, folder, &uri, err);
    if (!rc)
        rc = ebb__table_ref_locate(c->storage, ebb_buf_cstr(&uri), ref, err);
    ebb_buf_fini(&uri);
    return rc;
}

static int list_one(const struct ebb_catalog *c, const struct found *f, ebb_catalog_cb *cb, void *data,
                    struct ebb_err *err)
{
    struct ebb_table_ref ref = {.catalog = NULL};
    int rc = ebb__table_ref_name(&ref, c->name, f->namespace_, f->name, err);

    if (rc)
        goto out;
    rc = locate(c, f->folder, &ref, &ref.problem);
    if (rc == -EBB_ENOMEM) {
        rc = ebb_err_nomem(err);
    } else if (rc == -EBB_ETABLE_NOT_FOUND) {
        rc = 0; /* dropped since the search */
    } else {
        if (!rc)
            memset(&ref.problem, 0, sizeof ref.problem);
        rc = cb(data, &ref, err);
    }
out:
    ebb_table_ref_fini(&ref);
    return rc;
}

static int list(struct ebb_catalog *c, ebb_catalog_cb *cb, void *data, struct ebb_err *err)
{
    struct search s = {.catalog = c, .mount = ""};
    int rc = search(&s, err);

    for (size_t i = 0; !rc && i < s.count; i++)
        rc = list_one(c, &s.items[i], cb, data, err);
    search_fini(&s);
    return rc;
}

/* Whether ns and name, read as folders, lead to a metadata folder without links and mounts; then *folder is set. */
static int try_folder(const struct ebb_catalog *c, const char *namespace_, const char *name, char **folder,
                      struct ebb_err *err)
{
    struct ebb_place *place = NULL;
    struct ebb_stat st;
    char *ns = strdup(namespace_), *below, *metadata = NULL;
    int rc;

    for (char *p = ns; p && *p; p++)
        if (*p == '.')
            *p = '/';
    below = ns ? join(ns, ebb_str_of(name)) : NULL;
    metadata = below ? join(below, EBB_STR("metadata")) : NULL;
    rc = metadata ? open_folder(c, "", &place, err) : ebb_err_nomem(err);
    if (!rc && !strchr(namespace_, '/') && !strchr(name, '/') && ebb_place_stat(place, metadata, &st, NULL) == 0) {
        *folder = below;
        below = NULL;
    }
    ebb_place_close(place);
    free(metadata);
    free(below);
    free(ns);
    return rc;
}

static int not_found(const struct ebb_catalog *c, const char *namespace_, const char *name, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "table %s.%s.%s: there is none below %s", c->name, namespace_, name,
                       c->path);
}

/* Names with dots in a folder's name, and tables behind a mount point. */
static int search_folder(struct ebb_catalog *c, const char *namespace_, const char *name, char **folder,
                         struct ebb_err *err)
{
    struct search s = {.catalog = c, .mount = ""};
    int rc = search(&s, err);

    for (size_t i = 0; !rc && i < s.count; i++) {
        struct found *f = &s.items[i];

        if (strcmp(f->namespace_, namespace_) != 0 || strcmp(f->name, name) != 0)
            continue;
        if (*folder) {
            rc = ebb_err_set(err, EBB_ECATALOG, "table %s.%s.%s: is in several folders: %s and %s", c->name, namespace_,
                             name, *folder, f->folder);
            break;
        }
        *folder = f->folder;
        f->folder = NULL;
    }
    if (!rc && !*folder)
        rc = not_found(c, namespace_, name, err);
    search_fini(&s);
    return rc;
}

static int load(struct ebb_catalog *c, const char *namespace_, const char *name, struct ebb_table_ref *out,
                struct ebb_err *err)
{
    char *folder = NULL;
    int rc = ebb__table_ref_name(out, c->name, namespace_, name, err);

    if (!rc)
        rc = try_folder(c, namespace_, name, &folder, err);
    if (!rc && !folder)
        rc = search_folder(c, namespace_, name, &folder, err);
    if (!rc)
        rc = locate(c, folder, out, err);
    if (rc == -EBB_ETABLE_NOT_FOUND)
        rc = not_found(c, namespace_, name, err);
    free(folder);
    return rc;
}

const struct ebb__catalog_ops ebb__catalog_directory = {
    .type = "directory",
    .list = list,
    .load = load,
};
