/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a URI leads: through the map to a local path or to a bucket, and there to the client whose keys go for it.
 */
#include "io/storage_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/fd_priv.h"
#include "io/local_priv.h"
#include "io/s3_place_priv.h"

int ebb_storage_new(const struct ebb_uri_map *map, const struct ebb_storage_options *options, struct ebb_storage **out,
                    struct ebb_err *err)
{
    struct ebb_storage *s = calloc(1, sizeof *s);
    int rc = 0;

    *out = NULL;
    if (!s)
        return ebb_err_nomem(err);
    s->map = map;
    if (options)
        rc = ebb__storage_remote_new(options, &s->remote, err);
    if (rc)
        ebb_storage_free(s);
    else
        *out = s;
    return rc;
}

int ebb_storage_new_like(const struct ebb_storage *other, const struct ebb_uri_map *map, struct ebb_storage **out,
                         struct ebb_err *err)
{
    int rc = ebb_storage_new(map, NULL, out, err);

    if (!rc && other->remote)
        (*out)->remote = ebb__storage_remote_share(other->remote);
    return rc;
}

void ebb_storage_free(struct ebb_storage *storage)
{
    if (!storage)
        return;
    ebb__storage_remote_free(storage->remote);
    free(storage);
}

const struct ebb_uri_map *ebb_storage_map(const struct ebb_storage *storage)
{
    return storage->map;
}

/* ---- where a URI leads ---- */

struct where {
    struct ebb_buf target;
    bool is_remote;
    struct ebb_s3 *s3; /* remote: the client, bucket and key (borrows from target) */
    char bucket[256];
    struct ebb_str key;
};

static int find_where(struct ebb_storage *storage, const char *uri, struct where *w, struct ebb_err *err)
{
    int rc;

    memset(w, 0, sizeof *w);
    ebb_buf_init(&w->target, EBB__STORAGE_PATH_MAX);
    rc = ebb_uri_map_target(storage->map, uri, &w->target, &w->is_remote, err);
    if (rc || !w->is_remote)
        return rc;
    if (!storage->remote) {
        rc = ebb_err_set(err, EBB_ESCHEME, "location '%s': object stores are not reachable from here", uri);
        ebb_err_hint(err, "tell where it is reachable with --map FROM=TO");
        return rc;
    }
    rc = ebb__storage_split(ebb_buf_cstr(&w->target), w->bucket, sizeof w->bucket, &w->key, err);
    return rc ? rc : ebb__storage_client(storage->remote, ebb_buf_cstr(&w->target), &w->s3, err);
}

static int fail(int errno_value, const char *uri, const char *verb, struct ebb_err *err)
{
    return ebb__fd_fail(err, errno_value == ENOTDIR ? ENOENT : errno_value, uri, verb);
}

static int read_path(const char *path, const char *uri, size_t max, struct ebb_buf *out, bool *is_cut,
                     struct ebb_stat *st, struct ebb_err *err)
{
    int fd, rc;

    do
        fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    rc = fd < 0 ? errno : ebb__fd_read_regular(fd, max, out, is_cut, st);
    ebb__fd_close(fd);
    if (rc == ENOMEM)
        return ebb_err_nomem(err);
    return rc ? fail(rc, uri, "read", err) : 0;
}

static int read_object(struct ebb_storage *storage, const struct where *w, size_t max, struct ebb_buf *out,
                       bool *is_cut, struct ebb_stat *st, struct ebb_err *err)
{
    struct ebb_s3_object object;
    bool is_taken = false;
    int rc = 0;

    *is_cut = false;
    if (max == out->max)
        rc = ebb__storage_ahead_take(storage->remote, ebb__storage_ahead_of(storage->remote), w->target.data, out, st,
                                     &is_taken, err);
    if (rc || is_taken)
        return rc;
    rc = ebb_s3_get(w->s3, w->bucket, w->key, max, out, is_cut, &object, err);

    if (!rc)
        ebb__s3_place_stat(&object, st);
    return rc;
}

static int read_uri(struct ebb_storage *storage, const char *uri, size_t max, struct ebb_buf *out, bool *is_cut,
                    struct ebb_stat *st, struct ebb_err *err)
{
    struct where w;
    int rc = find_where(storage, uri, &w, err);

    ebb_buf_reset(out);
    max = max < out->max ? max : out->max;
    if (!rc)
        rc = w.is_remote ? read_object(storage, &w, max, out, is_cut, st, err)
                         : read_path(w.target.data, uri, max, out, is_cut, st, err);
    ebb_buf_fini(&w.target);
    return rc;
}

int ebb_storage_read_ahead(struct ebb_storage *storage, const struct ebb_strs *uris, struct ebb_err *err)
{
    struct ebb_strs targets;
    struct where w;
    int rc = 0;

    if (!storage->remote)
        return 0;
    ebb_strs_init(&targets);
    for (size_t i = 0; !rc && i < uris->count; i++) {
        if (!find_where(storage, uris->items[i], &w, NULL) && w.is_remote)
            rc = ebb_strs_add(&targets, w.target.data, err);
        ebb_buf_fini(&w.target);
    }
    if (!rc && targets.count)
        rc = ebb__storage_ahead_want(storage->remote, ebb__storage_ahead_of(storage->remote), &targets, err);
    ebb_strs_fini(&targets);
    return rc;
}

int ebb_storage_read(struct ebb_storage *storage, const char *uri, struct ebb_buf *out, struct ebb_stat *st,
                     struct ebb_err *err)
{
    struct ebb_stat unwanted;
    bool is_cut = false;
    int rc = read_uri(storage, uri, out->max, out, &is_cut, st ? st : &unwanted, err);

    if (!rc && is_cut)
        rc = ebb_err_set(err, EBB_ELIMIT, "%s: longer than %zu bytes", uri, out->max);
    return rc;
}

int ebb_storage_read_head(struct ebb_storage *storage, const char *uri, size_t max, struct ebb_buf *out,
                          struct ebb_err *err)
{
    struct ebb_stat unwanted;
    bool is_cut;

    return read_uri(storage, uri, max, out, &is_cut, &unwanted, err);
}

static int stat_object(const struct where *w, struct ebb_stat *st, struct ebb_err *err)
{
    struct ebb_s3_object object;
    int rc = ebb_s3_head(w->s3, w->bucket, w->key, &object, err);

    if (!rc)
        ebb__s3_place_stat(&object, st);
    return rc;
}

static int stat_path(const struct where *w, const char *uri, struct ebb_stat *st, struct ebb_err *err)
{
    int rc = ebb__fd_stat(AT_FDCWD, w->target.data, st);

    return rc ? fail(rc, uri, "stat", err) : 0;
}

int ebb_storage_stat(struct ebb_storage *storage, const char *uri, struct ebb_stat *st, struct ebb_err *err)
{
    struct where w;
    int rc = find_where(storage, uri, &w, err);

    if (!rc)
        rc = w.is_remote ? stat_object(&w, st, err) : stat_path(&w, uri, st, err);
    ebb_buf_fini(&w.target);
    return rc;
}

/* ---- many at once ---- */

/* Objects of one bucket that wait to be asked for. */
struct asked {
    struct ebb_s3 *s3;
    char bucket[256];
    struct ebb_strs keys;
    struct ebb_s3_head_item *heads;
    struct ebb_storage_stat_item **items;
    size_t count;
};

static int ask(struct asked *a, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < a->count; i++)
        a->heads[i].key = ebb_str_of(a->keys.items[i]);
    if (a->count)
        rc = ebb_s3_head_many(a->s3, a->bucket, a->heads, a->count, err);
    for (size_t i = 0; !rc && i < a->count; i++) {
        a->items[i]->err = a->heads[i].err;
        if (!a->heads[i].err.error)
            ebb__s3_place_stat(&a->heads[i].object, &a->items[i]->st);
    }
    ebb_strs_fini(&a->keys);
    a->count = 0;
    return rc;
}

static int add_asked(struct asked *a, const struct where *w, struct ebb_storage_stat_item *item, struct ebb_err *err)
{
    int rc = 0;

    if (a->count && (a->s3 != w->s3 || strcmp(a->bucket, w->bucket) != 0))
        rc = ask(a, err);
    if (!rc)
        rc = ebb_strs_addn(&a->keys, w->key.p, w->key.n, err);
    if (rc)
        return rc;
    a->s3 = w->s3;
    snprintf(a->bucket, sizeof a->bucket, "%s", w->bucket);
    a->items[a->count++] = item;
    return 0;
}

/* What concerns one name only, and what ends all. */
static bool is_for_all(int rc)
{
    return rc == -EBB_ENOMEM || rc == -EBB_ECANCELLED || rc == -EBB_EINTERNAL;
}

static int stat_or_add(struct ebb_storage *storage, struct asked *a, struct ebb_storage_stat_item *item,
                       struct ebb_err *err)
{
    struct where w;
    int rc;

    memset(&item->err, 0, sizeof item->err);
    rc = find_where(storage, item->uri, &w, &item->err);
    if (!rc && !w.is_remote)
        rc = stat_path(&w, item->uri, &item->st, &item->err);
    if (is_for_all(rc) && err)
        *err = item->err;
    rc = item->err.error && !is_for_all(rc) ? 0 : rc;
    if (!rc && !item->err.error && w.is_remote)
        rc = add_asked(a, &w, item, err);
    ebb_buf_fini(&w.target);
    return rc;
}

int ebb_storage_stat_many(struct ebb_storage *storage, struct ebb_storage_stat_item *items, size_t n,
                          struct ebb_err *err)
{
    struct asked a = {.heads = calloc(n + 1, sizeof *a.heads), .items = calloc(n + 1, sizeof *a.items)};
    int rc = a.heads && a.items ? 0 : ebb_err_nomem(err);

    ebb_strs_init(&a.keys);
    for (size_t i = 0; !rc && i < n; i++)
        rc = stat_or_add(storage, &a, &items[i], err);
    if (!rc)
        rc = ask(&a, err);
    ebb_strs_fini(&a.keys);
    free(a.items);
    free(a.heads);
    return rc;
}

int ebb_place_open(struct ebb_storage *storage, const char *uri, enum ebb_place_mode mode, struct ebb_place **out,
                   struct ebb_err *err)
{
    struct where w;
    int rc = find_where(storage, uri, &w, err);

    *out = NULL;
    if (!rc && w.is_remote)
        rc = ebb__s3_place_open(w.s3, w.bucket, w.key.p, uri, mode, out, err);
    else if (!rc)
        rc = ebb__local_place_open(w.target.data, uri, mode, out, err);
    ebb_buf_fini(&w.target);
    return rc;
}

void ebb_storage_set_deaf(struct ebb_storage *storage, bool is_deaf)
{
    if (storage->remote)
        ebb__storage_remote_set_deaf(storage->remote, is_deaf);
}

bool ebb_storage_is_remote(const struct ebb_storage *storage, const char *uri)
{
    struct ebb_buf target;
    bool is_remote = false;

    ebb_buf_init(&target, EBB__STORAGE_PATH_MAX);
    if (ebb_uri_map_target(storage->map, uri, &target, &is_remote, NULL))
        is_remote = false;
    ebb_buf_fini(&target);
    return is_remote;
}

int64_t ebb_storage_ahead_ms(struct ebb_storage *storage, const char *uri)
{
    int64_t ahead = INT64_MIN;
    struct where w;

    if (!find_where(storage, uri, &w, NULL))
        ahead = w.is_remote ? ebb_s3_ahead_ms(w.s3) : 0;
    ebb_buf_fini(&w.target);
    return ahead;
}
