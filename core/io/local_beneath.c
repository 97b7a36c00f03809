/* SPDX-License-Identifier: Apache-2.0 */
#include "io/local_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "io/fd_priv.h"

#define PIECE_MAX 4000 /* bytes of a path handed to one system call; PATH_MAX is 4096 with its NUL */
#define AGAIN_MAX 100  /* openat2 gives up with EAGAIN when something is renamed at the same time */
#define DIR_HANDLE (O_PATH | O_DIRECTORY | O_CLOEXEC)

static int openat2_beneath(int dir, const char *path, int flags, mode_t mode)
{
    struct open_how how = {0};
    long fd;
    int tries = 0;

    how.flags = (uint64_t)(unsigned)flags;
    how.mode = flags & O_CREAT ? mode : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS;
    do
        fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
    while (fd < 0 && (errno == EINTR || errno == EAGAIN) && tries++ < AGAIN_MAX);
    return fd < 0 ? -errno : (int)fd;
}

/* Mount id, or the device of a folder where there is none. */
static int mount_of(int fd, bool *has_mount_id, uint64_t *mount)
{
    struct statx x;

    if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &x))
        return errno;
    *has_mount_id = x.stx_mask & STATX_MNT_ID;
    *mount = *has_mount_id ? x.stx_mnt_id : makedev(x.stx_dev_major, x.stx_dev_minor);
    return 0;
}

static int check_mount(const struct ebb_local *local, int fd)
{
    bool has_mount_id;
    uint64_t mount;
    int rc = mount_of(fd, &has_mount_id, &mount);

    if (rc)
        return rc;
    return has_mount_id == local->has_mount_id && mount == local->mount ? 0 : EXDEV;
}

/* ENOTDIR of a link that O_NOFOLLOW stopped at is ELOOP, as openat2 says it. */
static int why_not_dir(int dir, const char *component)
{
    struct stat st;

    if (!fstatat(dir, component, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
        return ELOOP;
    return ENOTDIR;
}

static int open_component(const struct ebb_local *local, int dir, const char *component, int flags, mode_t mode)
{
    int fd, rc;

    do
        fd = openat(dir, component, flags | O_NOFOLLOW, mode);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return -(errno == ENOTDIR ? why_not_dir(dir, component) : errno);
    rc = check_mount(local, fd);
    if (rc) {
        ebb__fd_close(fd);
        return -rc;
    }
    return fd;
}

int ebb__local_open_at(const struct ebb_local *local, int dir, const char *component, int flags, mode_t mode)
{
    if (local->has_openat2)
        return openat2_beneath(dir, component, flags | O_CLOEXEC, mode);
    return open_component(local, dir, component, flags | O_CLOEXEC, mode);
}

/* Bytes of the next piece of a path to open at once: whole components, one where openat2 is missing. */
static size_t piece_length(const struct ebb_local *local, struct ebb_str path)
{
    size_t n = path.n < PIECE_MAX ? path.n : PIECE_MAX;
    const char *slash;

    if (!local->has_openat2) {
        slash = memchr(path.p, '/', n);
        return slash ? (size_t)(slash - path.p) : n;
    }
    if (n == path.n)
        return n;
    slash = memrchr(path.p, '/', n);
    return slash ? (size_t)(slash - path.p) : n;
}

static int open_path(const struct ebb_local *local, struct ebb_str path, int flags, mode_t mode)
{
    char piece[PIECE_MAX + 1];
    int dir = local->fd, fd;

    for (;;) {
        size_t n = piece_length(local, path);
        bool is_last = n == path.n;

        if (!is_last && path.p[n] != '/')
            fd = -ENAMETOOLONG;
        else {
            memcpy(piece, path.p, n);
            piece[n] = '\0';
            fd = ebb__local_open_at(local, dir, piece, is_last ? flags : DIR_HANDLE, mode);
        }
        if (dir != local->fd)
            ebb__fd_close(dir);
        if (is_last || fd < 0)
            return fd;
        dir = fd;
        path.p += n + 1;
        path.n -= n + 1;
    }
}

int ebb__local_open_dir(const struct ebb_local *local, struct ebb_str dir, int flags)
{
    return open_path(local, dir.n ? dir : EBB_STR("."), flags | O_DIRECTORY, 0);
}

int ebb__local_open_file(const struct ebb_local *local, const char *name, int flags, mode_t mode)
{
    return open_path(local, ebb_str_of(name), flags, mode);
}

int ebb__local_open_parent(const struct ebb_local *local, const char *name, int flags, const char **last)
{
    const char *slash = strrchr(name, '/');
    struct ebb_str dir = {name, slash ? (size_t)(slash - name) : 0};
    int fd = ebb__local_open_dir(local, dir, flags);

    *last = slash ? slash + 1 : name;
    return fd == -ENOTDIR ? -ENOENT : fd;
}

int ebb__local_learn(struct ebb_local *local)
{
    int fd = openat2_beneath(local->fd, ".", DIR_HANDLE, 0);

    local->has_openat2 = fd >= 0;
    if (fd < 0 && fd != -ENOSYS && fd != -EPERM)
        return -fd;
    ebb__fd_close(fd);
    return mount_of(local->fd, &local->has_mount_id, &local->mount);
}

int ebb__local_fail(const struct ebb_local *local, int errno_value, const char *name, const char *verb,
                    struct ebb_err *err)
{
    const char *uri = local->base.uri;
    size_t n = strlen(uri);
    const char *slash = name[0] && (!n || uri[n - 1] != '/') ? "/" : "";

    if (errno_value == EBB__NOT_REGULAR)
        return ebb_err_set(err, EBB_EIO, "%s%s%s: cannot %s: not a regular file", uri, slash, name, verb);
    if (errno_value == ELOOP)
        return ebb_err_set(err, EBB_EIO, "%s%s%s: cannot %s: a symbolic link stands in the way", uri, slash, name,
                           verb);
    if (errno_value == EXDEV)
        return ebb_err_set(err, EBB_EIO, "%s%s%s: cannot %s: it lies behind a mount point (cross-device)", uri, slash,
                           name, verb);
    return ebb_err_errno(err, errno_value, "%s%s%s: cannot %s", uri, slash, name, verb);
}
