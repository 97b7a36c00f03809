/* SPDX-License-Identifier: Apache-2.0 */
#include "io/local_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "io/fd_priv.h"

/* Open component of `dir`, making it when it is missing. Descriptor or -errno. */
static int open_or_make(const struct ebb_local *local, int dir, const char *component, mode_t mode)
{
    int fd = ebb__local_open_at(local, dir, component, O_RDONLY | O_DIRECTORY, 0);
    int rc;

    if (fd != -ENOENT)
        return fd;
    if (mkdirat(dir, component, mode) && errno != EEXIST)
        return -errno;
    rc = ebb__fd_sync_dir(dir);
    if (rc)
        return -rc;
    return ebb__local_open_at(local, dir, component, O_RDONLY | O_DIRECTORY, 0);
}

static int make_dirs(const struct ebb_local *local, const char *name, mode_t mode)
{
    char component[NAME_MAX + 1];
    int dir = local->fd, fd = -1;
    const char *p = name;

    for (;;) {
        size_t n = strcspn(p, "/");

        fd = -ENAMETOOLONG;
        if (n <= NAME_MAX) {
            memcpy(component, p, n);
            component[n] = '\0';
            fd = open_or_make(local, dir, component, mode);
        }
        if (dir != local->fd)
            ebb__fd_close(dir);
        if (fd < 0 || !p[n])
            break;
        dir = fd;
        p += n + 1;
    }
    ebb__fd_close(fd);
    return fd < 0 ? -fd : 0;
}

int ebb__local_make_dirs(struct ebb_place *place, const char *name, bool is_private, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    int rc = make_dirs(local, name, is_private ? 0700 : 0777);

    return rc ? ebb__local_fail(local, rc, name, "make the folder", err) : 0;
}

static int create_at(int dir, const char *last, const void *bytes, size_t n)
{
    int fd, rc;

    do
        fd = openat(dir, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return errno;
    rc = ebb__fd_write(fd, bytes, n);
    EBB_FAILPOINT("create.before");
    if (!rc)
        rc = ebb__fd_sync(fd);
    EBB_FAILPOINT("create.after");
    if (close(fd) && !rc)
        rc = errno;
    if (rc)
        unlinkat(dir, last, 0);
    return rc ? rc : ebb__fd_sync_dir(dir);
}

int ebb__local_create(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    const char *last;
    int dir = ebb__local_open_parent(local, name, O_RDONLY, &last);
    int rc = dir < 0 ? -dir : create_at(dir, last, bytes, n);

    ebb__fd_close(dir);
    return rc ? ebb__local_fail(local, rc, name, "create", err) : 0;
}

/* A new file's folder is synced even without `sync`: a later synced append could not tell that it is still owed. */
static int append_at(int dir, const char *last, const void *bytes, size_t n, bool sync)
{
    bool is_new;
    int fd = ebb__fd_open_append(dir, last, &is_new);
    int rc = fd < 0 ? -fd : ebb__fd_append(fd, bytes, n, sync);

    if (fd >= 0 && close(fd) && !rc)
        rc = errno;
    return rc || !is_new ? rc : ebb__fd_sync_dir(dir);
}

int ebb__local_append(struct ebb_place *place, const char *name, const void *bytes, size_t n, bool sync,
                      struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    const char *last;
    int dir = ebb__local_open_parent(local, name, O_RDONLY, &last);
    int rc = dir < 0 ? -dir : append_at(dir, last, bytes, n, sync);

    ebb__fd_close(dir);
    return rc ? ebb__local_fail(local, rc, name, "append", err) : 0;
}

int ebb__local_replace(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    const char *last;
    int dir = ebb__local_open_parent(local, name, O_RDONLY, &last);
    int rc = dir < 0 ? -dir : ebb__fd_replace(dir, last, bytes, n);

    ebb__fd_close(dir);
    return rc ? ebb__local_fail(local, rc, name, "write", err) : 0;
}

/* A byte is written, so that a server which sets times on writing only gets to set one. */
static int probe_clock(int dir, const char *last, int64_t *out_ms)
{
    struct ebb_stat st;
    int rc, fd = openat(dir, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno;
    rc = ebb__fd_write(fd, "\n", 1);
    if (!rc)
        rc = ebb__fd_sync(fd);
    if (!rc)
        rc = ebb__fd_stat(fd, "", &st);
    if (close(fd) && !rc)
        rc = errno;
    if (unlinkat(dir, last, 0) && !rc)
        rc = errno;
    if (!rc)
        *out_ms = st.mtime_ns / 1000000;
    return rc;
}

int ebb__local_clock_ms(struct ebb_place *place, const char *probe_name, int64_t *out_ms, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    const char *last;
    int dir = ebb__local_open_parent(local, probe_name, O_PATH, &last);
    int rc = dir < 0 ? -dir : probe_clock(dir, last, out_ms);

    ebb__fd_close(dir);
    return rc ? ebb__local_fail(local, rc, probe_name, "create", err) : 0;
}
