/* SPDX-License-Identifier: Apache-2.0 */
#include "io/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>

#include "io/fd_priv.h"
#include "io/local_priv.h"

#define LOCAL_PATH_MAX ((size_t)64 * 1024)

struct ebb_storage {
    const struct ebb_uri_map *map;
};

int ebb_storage_new(const struct ebb_uri_map *map, const struct ebb_storage_options *options, struct ebb_storage **out,
                    struct ebb_err *err)
{
    (void)options;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return ebb_err_nomem(err);
    (*out)->map = map;
    return 0;
}

int ebb_storage_new_like(const struct ebb_storage *other, const struct ebb_uri_map *map, struct ebb_storage **out,
                         struct ebb_err *err)
{
    (void)other;
    return ebb_storage_new(map, NULL, out, err);
}

void ebb_storage_free(struct ebb_storage *storage)
{
    free(storage);
}

const struct ebb_uri_map *ebb_storage_map(const struct ebb_storage *storage)
{
    return storage->map;
}

static int local_path(struct ebb_storage *storage, const char *uri, struct ebb_buf *path, struct ebb_err *err)
{
    int rc;

    ebb_buf_init(path, LOCAL_PATH_MAX);
    rc = ebb_uri_map_local(storage->map, uri, path, err);
    return rc ? rc : ebb_buf_check(path, uri, err);
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

static int read_uri(struct ebb_storage *storage, const char *uri, size_t max, struct ebb_buf *out, bool *is_cut,
                    struct ebb_stat *st, struct ebb_err *err)
{
    struct ebb_buf path;
    int rc = local_path(storage, uri, &path, err);

    ebb_buf_reset(out);
    if (!rc)
        rc = read_path(path.data, uri, max < out->max ? max : out->max, out, is_cut, st, err);
    ebb_buf_fini(&path);
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

int ebb_storage_stat(struct ebb_storage *storage, const char *uri, struct ebb_stat *st, struct ebb_err *err)
{
    struct ebb_buf path;
    int rc = local_path(storage, uri, &path, err);

    if (!rc) {
        rc = ebb__fd_stat(AT_FDCWD, path.data, st);
        rc = rc ? fail(rc, uri, "stat", err) : 0;
    }
    ebb_buf_fini(&path);
    return rc;
}

int ebb_place_open(struct ebb_storage *storage, const char *uri, enum ebb_place_mode mode, struct ebb_place **out,
                   struct ebb_err *err)
{
    struct ebb_buf path;
    int rc = local_path(storage, uri, &path, err);

    *out = NULL;
    if (!rc)
        rc = ebb__local_place_open(path.data, uri, mode, out, err);
    ebb_buf_fini(&path);
    return rc;
}
