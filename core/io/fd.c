/* SPDX-License-Identifier: Apache-2.0 */
#include "io/fd_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/failpoint.h"

#define READ_CHUNK ((size_t)256 * 1024)

void ebb__fd_close(int fd)
{
    int kept = errno;

    if (fd >= 0)
        close(fd);
    errno = kept;
}

static int read_some(int fd, void *to, size_t n, size_t *got)
{
    ssize_t r;

    do
        r = read(fd, to, n < READ_CHUNK * 64 ? n : READ_CHUNK * 64);
    while (r < 0 && errno == EINTR);
    *got = r > 0 ? (size_t)r : 0;
    return r < 0 ? errno : 0;
}

int ebb__fd_read(int fd, size_t max, uint64_t size_hint, struct ebb_buf *out, bool *is_cut)
{
    size_t left = max, got, want = size_hint < READ_CHUNK * 256 ? (size_t)size_hint + 1 : READ_CHUNK;
    char probe, *to;
    int rc;

    *is_cut = false;
    while (left) {
        want = want < left ? want : left;
        to = ebb_buf_reserve(out, want);
        if (!to)
            return ENOMEM;
        rc = read_some(fd, to, want, &got);
        if (rc || !got)
            return rc;
        out->len += got;
        out->data[out->len] = '\0';
        left -= got;
        want = got < want ? want - got : READ_CHUNK;
    }
    rc = read_some(fd, &probe, 1, &got);
    *is_cut = !rc && got;
    return rc;
}

int ebb__fd_read_regular(int fd, size_t max, struct ebb_buf *out, bool *is_cut, struct ebb_stat *st)
{
    int rc = ebb__fd_stat(fd, "", st);

    if (rc)
        return rc;
    if (!st->is_file)
        return EBB__NOT_REGULAR;
    return ebb__fd_read(fd, max, st->size_bytes, out, is_cut);
}

int ebb__fd_write(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;

    while (n) {
        ssize_t w = write(fd, p, n);

        if (w < 0 && errno != EINTR)
            return errno;
        if (w == 0)
            return EIO;
        if (w > 0) {
            p += w;
            n -= (size_t)w;
        }
    }
    return 0;
}

int ebb__fd_sync(int fd)
{
    int rc;

    do
        rc = fsync(fd);
    while (rc && errno == EINTR);
    return rc ? errno : 0;
}

int ebb__fd_sync_dir(int fd)
{
    int rc = ebb__fd_sync(fd);

    return rc == EINVAL || rc == EOPNOTSUPP ? 0 : rc;
}

int ebb__fd_open_append(int dir, const char *name, bool *is_new)
{
    const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

    for (int tries = 0; tries < 16; tries++) {
        int fd = openat(dir, name, flags);

        *is_new = fd < 0 && errno == ENOENT;
        if (*is_new)
            fd = openat(dir, name, flags | O_CREAT | O_EXCL, 0600);
        if (fd >= 0)
            return fd;
        if (errno != EINTR && !(*is_new && errno == EEXIST))
            break;
    }
    return -errno;
}

int ebb__fd_append(int fd, const void *bytes, size_t n, bool sync)
{
    struct ebb_stat st;
    int rc = ebb__fd_stat(fd, "", &st);

    if (rc || !st.is_file)
        return rc ? rc : EBB__NOT_REGULAR;
    rc = ebb__fd_write(fd, bytes, n);
    if (rc && ftruncate(fd, (off_t)st.size_bytes))
        return rc;
    EBB_FAILPOINT("append.before");
    if (!rc && sync)
        rc = ebb__fd_sync(fd);
    EBB_FAILPOINT("append.after");
    return rc;
}

/* Nanoseconds since the epoch; 0 (unknown) when they don't fit. */
static int64_t to_ns(const struct statx_timestamp *t)
{
    int64_t ns;

    if (__builtin_mul_overflow(t->tv_sec, INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, (int64_t)t->tv_nsec, &ns))
        return 0;
    return ns;
}

int ebb__fd_stat(int fd, const char *name, struct ebb_stat *st)
{
    struct statx x;
    int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name[0] ? 0 : AT_EMPTY_PATH);

    memset(st, 0, sizeof *st);
    if (statx(fd, name, flags, STATX_BASIC_STATS | STATX_BTIME, &x))
        return errno;
    st->size_bytes = x.stx_size;
    st->mtime_ns = x.stx_mask & STATX_MTIME ? to_ns(&x.stx_mtime) : 0;
    st->ctime_ns = x.stx_mask & STATX_CTIME ? to_ns(&x.stx_ctime) : 0;
    st->btime_ns = x.stx_mask & STATX_BTIME ? to_ns(&x.stx_btime) : 0;
    st->dev = makedev(x.stx_dev_major, x.stx_dev_minor);
    st->ino = x.stx_ino;
    st->link_count = x.stx_nlink;
    st->is_file = S_ISREG(x.stx_mode);
    return 0;
}

int ebb__fd_fail(struct ebb_err *err, int errno_value, const char *name, const char *verb)
{
    if (errno_value == EBB__NOT_REGULAR)
        return ebb_err_set(err, EBB_EIO, "%s: cannot %s: not a regular file", name, verb);
    return ebb_err_errno(err, errno_value, "%s: cannot %s", name, verb);
}

static int create_temporary(int dir, char name[32], int *out)
{
    for (int tries = 0; tries < 16; tries++) {
        uint64_t random = 0;

        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
            return EIO;
        snprintf(name, 32, ".ebb-tmp-%016llx", (unsigned long long)random);
        *out = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (*out >= 0)
            return 0;
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

int ebb__fd_replace(int dir, const char *name, const void *bytes, size_t n)
{
    char temporary[32];
    int fd = -1, rc = create_temporary(dir, temporary, &fd);

    if (rc)
        return rc;
    rc = ebb__fd_write(fd, bytes, n);
    if (!rc)
        rc = ebb__fd_sync(fd);
    if (close(fd) && !rc)
        rc = errno;
    EBB_FAILPOINT("replace.before");
    if (!rc && renameat(dir, temporary, dir, name))
        rc = errno;
    EBB_FAILPOINT("replace.after");
    if (rc)
        unlinkat(dir, temporary, 0);
    return rc ? rc : ebb__fd_sync_dir(dir);
}
