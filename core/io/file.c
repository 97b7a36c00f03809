/* SPDX-License-Identifier: Apache-2.0 */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/fd_priv.h"

static int open_file(const char *path, int flags)
{
    int fd;

    do
        fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

int ebb_file_read(const char *path, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_stat st;
    bool is_cut = false;
    int fd = open_file(path, O_RDONLY);
    int rc;

    ebb_buf_reset(out);
    rc = fd < 0 ? -fd : ebb__fd_read_regular(fd, out->max, out, &is_cut, &st);
    ebb__fd_close(fd);
    if (rc == ENOMEM)
        return ebb_err_nomem(err);
    if (!rc && is_cut)
        return ebb_err_set(err, EBB_ELIMIT, "%s: longer than %zu bytes", path, out->max);
    return rc ? ebb__fd_fail(err, rc, path, "read") : 0;
}

/* Open the folder that holds path; *last is its name in there. -errno. */
static int open_folder(const char *path, const char **last)
{
    const char *slash = strrchr(path, '/');
    char *folder;
    int fd;

    *last = slash ? slash + 1 : path;
    if (!**last)
        return -EISDIR;
    folder = !slash ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    if (!folder)
        return -ENOMEM;
    fd = open_file(folder, O_RDONLY | O_DIRECTORY);
    free(folder);
    return fd;
}

int ebb_file_replace(const char *path, const void *bytes, size_t n, struct ebb_err *err)
{
    const char *last;
    int dir = open_folder(path, &last);
    int rc = dir < 0 ? -dir : ebb__fd_replace(dir, last, bytes, n);

    ebb__fd_close(dir);
    return rc ? ebb__fd_fail(err, rc, path, "write") : 0;
}

int ebb_file_append(const char *path, const void *bytes, size_t n, struct ebb_err *err)
{
    const char *last;
    int dir = open_folder(path, &last);
    int rc = dir < 0 ? -dir : 0;
    int fd = -1;
    bool is_new = false;

    if (!rc) {
        fd = ebb__fd_open_append(dir, last, &is_new);
        rc = fd < 0 ? -fd : ebb__fd_append(fd, bytes, n, true);
    }
    if (!rc && is_new)
        rc = ebb__fd_sync_dir(dir);
    ebb__fd_close(fd);
    ebb__fd_close(dir);
    return rc ? ebb__fd_fail(err, rc, path, "append") : 0;
}

int ebb_file_create(const char *path, const void *bytes, size_t n, struct ebb_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    int rc;

    if (fd < 0)
        return ebb__fd_fail(err, errno, path, "make the file");
    rc = ebb__fd_append(fd, bytes, n, false);
    ebb__fd_close(fd);
    if (rc)
        unlink(path);
    return rc ? ebb__fd_fail(err, rc, path, "write") : 0;
}

static int make_dir(const char *path, struct ebb_err *err)
{
    if (mkdir(path, 0700) && errno != EEXIST)
        return ebb__fd_fail(err, errno, path, "make the folder");
    return 0;
}

int ebb_file_make_dirs(const char *path, struct ebb_err *err)
{
    char *copy = strdup(path);
    struct stat st;
    int rc = 0;

    if (!copy)
        return ebb_err_nomem(err);
    for (char *p = copy; !rc && *p; p++) {
        if (*p != '/' || p == copy)
            continue;
        *p = '\0';
        rc = make_dir(copy, err);
        *p = '/';
    }
    if (!rc)
        rc = make_dir(copy, err);
    free(copy);
    if (rc)
        return rc;
    if (stat(path, &st))
        return ebb__fd_fail(err, errno, path, "make the folder");
    return S_ISDIR(st.st_mode) ? 0 : ebb__fd_fail(err, ENOTDIR, path, "make the folder");
}
