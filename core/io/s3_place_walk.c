/* SPDX-License-Identifier: Apache-2.0
 *
 * Walking a place in a bucket: keys of a listing told as entries of folders.
 */
#include "io/s3_place_priv.h"

struct handle {
    struct ebb_walk_handle base;
    struct ebb_stat st;
};

struct walk {
    struct ebb_s3_place *p;
    const struct ebb_walk_ops *ops;
    void *data;
    struct ebb_buf dir; /* of the entries that come */
    bool has_dir;
};

static bool is_plain(struct ebb_str name)
{
    for (size_t i = 0, start = 0; i <= name.n; i++) {
        if (i < name.n && name.p[i] != '/')
            continue;
        if (i == start || (i - start == 1 && name.p[start] == '.') ||
            (i - start == 2 && name.p[start] == '.' && name.p[start + 1] == '.'))
            return false;
        start = i + 1;
    }
    return !memchr(name.p, '\0', name.n);
}

/* What other tools put where a folder would be. */
static bool is_marker(const struct ebb_s3_listed *object, struct ebb_str name)
{
    static const char SUFFIX[] = "_$folder$";
    size_t n = sizeof SUFFIX - 1;

    return object->size_bytes == 0 && name.n >= n && !memcmp(name.p + name.n - n, SUFFIX, n);
}

static struct ebb_str below(const struct walk *w, struct ebb_str key)
{
    size_t n = strlen(w->p->prefix);

    return (struct ebb_str){key.p + n, key.n - n};
}

static bool on_enter(void *data, struct ebb_str prefix)
{
    struct walk *w = data;
    struct ebb_str dir = below(w, prefix);

    if (dir.n > 0 && dir.p[dir.n - 1] == '/')
        dir.n--;
    w->has_dir = false; /* whoever is asked may have forgotten the folder at hand */
    return !is_plain(dir) || w->ops->enter(w->data, dir);
}

static int enter_dir(struct walk *w, struct ebb_str dir, struct ebb_err *err)
{
    if (w->has_dir && ebb_str_is_equal(dir, ebb_buf_str(&w->dir)))
        return 0;
    ebb_buf_reset(&w->dir);
    ebb_buf_add_str(&w->dir, dir);
    w->has_dir = true;
    if (w->dir.bad)
        return ebb_err_nomem(err);
    return w->ops->dir ? w->ops->dir(w->data, ebb_buf_str(&w->dir), err) : 0;
}

static int on_odd(struct walk *w, struct ebb_str name, struct handle *handle, struct ebb_err *err)
{
    struct ebb_walk_entry entry = {{"", 0}, name, EBB_WALK_ODD, handle};
    int rc = enter_dir(w, entry.dir, err);

    return rc ? rc : w->ops->entry(w->data, &entry, err);
}

static int on_object(void *data, const struct ebb_s3_listed *object, struct ebb_err *err)
{
    struct walk *w = data;
    struct ebb_str rest = below(w, object->key);
    struct ebb_s3_object o = {.size_bytes = object->size_bytes, .mtime_ms = object->mtime_ms};
    struct ebb_walk_entry entry = {.kind = EBB_WALK_FILE};
    struct handle handle = {.base = {&w->p->base}};
    size_t slash = rest.n;
    int rc;

    if (object->etag.n < sizeof o.etag)
        memcpy(o.etag, object->etag.p, object->etag.n);
    ebb__s3_place_stat(&o, &handle.st);
    if (object->is_doubtful || !is_plain(rest) || is_marker(object, rest) || !o.etag[0])
        return on_odd(w, rest, &handle, err);
    while (slash > 0 && rest.p[slash - 1] != '/')
        slash--;
    rc = enter_dir(w, (struct ebb_str){rest.p, slash ? slash - 1 : 0}, err);
    entry.dir = ebb_buf_str(&w->dir);
    entry.name = (struct ebb_str){rest.p + slash, rest.n - slash};
    entry.handle = &handle;
    return rc ? rc : w->ops->entry(w->data, &entry, err);
}

int ebb__s3_place_walk(struct ebb_place *place, const char *name, const struct ebb_walk_ops *ops, void *data,
                       struct ebb_err *err)
{
    struct walk w = {.p = ebb__s3_place_of(place), .ops = ops, .data = data};
    struct ebb_buf key;
    int rc = ebb__s3_place_key(w.p, name, &key, err);

    ebb_buf_init(&w.dir, EBB_LOCATION_MAX_BYTES);
    if (!rc && name[0])
        ebb_buf_putc(&key, '/');
    if (!rc)
        rc = ebb_s3_list(w.p->s3, w.p->bucket, ebb_buf_str(&key), 0, ops->enter ? on_enter : NULL, on_object, &w, err);
    ebb_buf_fini(&w.dir);
    ebb_buf_fini(&key);
    return rc;
}

int ebb__s3_place_walk_stat(const struct ebb_walk_entry *entry, struct ebb_stat *st, struct ebb_err *err)
{
    (void)err;
    *st = ((const struct handle *)entry->handle)->st;
    return 0;
}
