/* SPDX-License-Identifier: Apache-2.0 */
#include "io/local_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/fd_priv.h"

static void local_close(struct ebb_place *place)
{
    struct ebb_local *local = ebb__local_of(place);

    ebb__fd_close(local->fd);
    free(place->uri);
    free(place->local);
    free(local);
}

static int local_stat_root(struct ebb_place *place, struct ebb_stat *st, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    int rc = ebb__fd_stat(local->fd, "", st);

    return rc ? ebb__local_fail(local, rc, "", "stat", err) : 0;
}

static const struct ebb_place_ops LOCAL_OPS = {
    .close = local_close,
    .stat_root = local_stat_root,
    .is_case_insensitive = ebb__local_is_case_insensitive,
    .walk = ebb__local_walk,
    .walk_stat = ebb__local_walk_stat,
    .stat = ebb__local_stat,
    .read = ebb__local_read,
    .resolve_link = ebb__local_resolve_link,
    .read_link = ebb__local_read_link,
    .make_dirs = ebb__local_make_dirs,
    .create = ebb__local_create,
    .append = ebb__local_append,
    .replace = ebb__local_replace,
    .move = ebb__local_move,
    .sync_dir = ebb__local_sync_dir,
    .unlink = ebb__local_unlink,
    .remove_dir = ebb__local_remove_dir,
    .clock_ms = ebb__local_clock_ms,
};

/* 0 or errno. The real path has no link in it, so none is allowed when it is opened. */
static int open_root(struct ebb_local *local, const char *path)
{
    local->base.local = realpath(path, NULL);
    if (!local->base.local)
        return errno;
    do
        local->fd = open(local->base.local, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    while (local->fd < 0 && errno == EINTR);
    if (local->fd < 0)
        return errno;
    return ebb__local_learn(local);
}

int ebb__local_place_open(const char *path, const char *uri, enum ebb_place_mode mode, struct ebb_place **out,
                          struct ebb_err *err)
{
    struct ebb_local *local = calloc(1, sizeof *local);
    int rc;

    *out = NULL;
    if (!local)
        return ebb_err_nomem(err);
    local->fd = -1;
    local->base.ops = &LOCAL_OPS;
    local->base.mode = mode;
    local->base.uri = strdup(uri);
    if (!local->base.uri) {
        rc = ebb_err_nomem(err);
        goto out;
    }
    rc = open_root(local, path);
    if (rc)
        rc = ebb_err_errno(err, rc, "%s: cannot open the folder", uri);
out:
    if (rc)
        local_close(&local->base);
    else
        *out = &local->base;
    return rc;
}
