/* SPDX-License-Identifier: Apache-2.0 */
#include "io/local_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/fd_priv.h"

int ebb__local_stat(struct ebb_place *place, const char *name, struct ebb_stat *st, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    const char *last;
    int dir = ebb__local_open_parent(local, name, O_PATH, &last);
    int rc = dir < 0 ? -dir : ebb__fd_stat(dir, last, st);

    ebb__fd_close(dir);
    return rc ? ebb__local_fail(local, rc, name, "stat", err) : 0;
}

int ebb__local_read(struct ebb_place *place, const char *name, size_t max, struct ebb_buf *out, bool *is_cut,
                    struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    struct ebb_stat st;
    int fd = ebb__local_open_file(local, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    int rc = fd == -ENOTDIR ? ENOENT : fd < 0 ? -fd : ebb__fd_read_regular(fd, max, out, is_cut, &st);

    ebb__fd_close(fd);
    if (rc == ENOMEM)
        return out->bad ? ebb_buf_check(out, name, err) : ebb_err_nomem(err);
    return rc ? ebb__local_fail(local, rc, name, "read", err) : 0;
}

/* The real path is only good as long as it leads to the folder that was opened. */
static int check_root(const struct ebb_local *local)
{
    struct ebb_stat now, opened;
    int rc = ebb__fd_stat(AT_FDCWD, local->base.local, &now);

    if (!rc)
        rc = ebb__fd_stat(local->fd, "", &opened);
    if (!rc && (now.dev != opened.dev || now.ino != opened.ino))
        rc = ESTALE;
    return rc == ENOENT ? ESTALE : rc;
}

int ebb__local_resolve_link(struct ebb_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    struct ebb_buf path;
    char *real = NULL;
    int rc = check_root(local);

    ebb_buf_init(&path, SIZE_MAX);
    ebb_buf_printf(&path, "%s/%s", place->local, name);
    if (!rc && !path.bad)
        real = realpath(path.data, NULL);
    if (!rc && !real)
        rc = path.bad ? ENOMEM : errno == ENOTDIR ? ENOENT : errno;
    if (rc == ELOOP) /* a circle of links, not one that stands in the way */
        rc = ebb_err_errno(err, rc, "%s: cannot follow the link %s", place->uri, name);
    else if (rc)
        rc = ebb__local_fail(local, rc, name, "follow the link", err);
    if (real) {
        ebb_buf_puts(out, real);
        rc = ebb_buf_check(out, name, err);
    }
    free(real);
    ebb_buf_fini(&path);
    return rc;
}

int ebb__local_read_link(struct ebb_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    char text[PATH_MAX];
    const char *last;
    int dir = ebb__local_open_parent(local, name, O_PATH, &last);
    ssize_t n = dir < 0 ? -1 : readlinkat(dir, last, text, sizeof text);
    int rc = dir < 0 ? -dir : n < 0 ? errno : 0;

    ebb__fd_close(dir);
    if (!rc && (size_t)n == sizeof text)
        rc = ENAMETOOLONG;
    if (rc)
        return ebb__local_fail(local, rc, name, "read the link", err);
    ebb_buf_append(out, text, (size_t)n);
    return ebb_buf_check(out, name, err);
}
