/* SPDX-License-Identifier: Apache-2.0 */
#include "io/local_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/fd_priv.h"

#define DENTS_BYTES ((size_t)128 * 1024)

/* linux_dirent64, as getdents64(2) lays it out. */
struct dent {
    uint64_t ino;
    int64_t off;
    unsigned short reclen;
    unsigned char type;
    char name[];
};

/* Depth first with one handle open at a time. `pending` is a stack of names of folders still to enter; below a name
 * stands a struct pending_foot, so that popping finds it. `path` is cut back to the parent's length and gets the name
 * appended: the parent's bytes are still there, since whatever was entered in between lay below that parent. */
struct local_walk {
    struct ebb_walk_handle head;
    const struct ebb_walk_ops *ops;
    void *data;
    struct ebb_buf path;
    struct ebb_buf pending;
    int dir; /* the folder whose entries are passed; -1 while one is reported by its parent */
    char *dents;
};

struct pending_foot {
    size_t parent_len;
    size_t name_len;
};

static int fail(const struct local_walk *w, int errno_value, struct ebb_err *err)
{
    struct ebb_str path = ebb_buf_str(&w->path);

    return ebb__local_fail(ebb__local_of(w->head.place), errno_value, path.n ? path.p : "", "list", err);
}

static int push(struct local_walk *w, struct ebb_str name, struct ebb_err *err)
{
    struct pending_foot foot = {w->path.len, name.n};

    ebb_buf_add_str(&w->pending, name);
    ebb_buf_append(&w->pending, &foot, sizeof foot);
    return ebb_buf_check(&w->pending, "folders still to list", err);
}

/* Make `path` the next folder to enter; *parent_len: how much of it is its parent. */
static int pop(struct local_walk *w, size_t *parent_len, struct ebb_err *err)
{
    struct pending_foot foot;

    memcpy(&foot, w->pending.data + w->pending.len - sizeof foot, sizeof foot);
    w->pending.len -= sizeof foot + foot.name_len;
    w->path.len = foot.parent_len;
    if (foot.parent_len)
        ebb_buf_putc(&w->path, '/');
    ebb_buf_append(&w->path, w->pending.data + w->pending.len, foot.name_len);
    *parent_len = foot.parent_len;
    return ebb_buf_check(&w->path, "path of a folder", err);
}

static int kind_by_stat(const struct local_walk *w, const char *name, unsigned char *type)
{
    struct stat st;

    if (fstatat(w->dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT))
        return errno;
    *type = (unsigned char)IFTODT(st.st_mode);
    return 0;
}

static enum ebb_walk_kind kind_of(unsigned char type)
{
    if (type == DT_REG)
        return EBB_WALK_FILE;
    return type == DT_LNK ? EBB_WALK_LINK : EBB_WALK_OTHER;
}

static int one_dent(struct local_walk *w, const struct dent *d, struct ebb_walk_entry *entry, struct ebb_err *err)
{
    unsigned char type = d->type;
    int rc;

    if (d->name[0] == '.' && (!d->name[1] || (d->name[1] == '.' && !d->name[2])))
        return 0;
    entry->name = ebb_str_of(d->name);
    if (type == DT_UNKNOWN) {
        rc = kind_by_stat(w, d->name, &type);
        if (rc == ENOENT)
            return 0;
        if (rc)
            return fail(w, rc, err);
    }
    if (type == DT_DIR)
        return push(w, entry->name, err);
    entry->kind = kind_of(type);
    return w->ops->entry(w->data, entry, err);
}

/* All entries of w->dir. */
static int list_dir(struct local_walk *w, struct ebb_err *err)
{
    struct ebb_walk_entry entry = {.dir = ebb_buf_str(&w->path), .handle = w};
    long n;
    int rc = 0;

    while (!rc) {
        n = syscall(SYS_getdents64, w->dir, w->dents, DENTS_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != ENOENT)
            return fail(w, errno, err);
        if (n <= 0)
            return 0;
        for (long at = 0; at < n && !rc;) {
            const struct dent *d = (const struct dent *)(const void *)(w->dents + at);

            rc = one_dent(w, d, &entry, err);
            at += d->reclen;
        }
    }
    return rc;
}

/* A folder that turned out to be a mount point, or became a link: an entry of its parent, which is announced again. */
static int report_unentered(struct local_walk *w, size_t parent_len, enum ebb_walk_kind kind, struct ebb_err *err)
{
    size_t name_at = parent_len ? parent_len + 1 : 0;
    struct ebb_walk_entry entry = {.dir = {w->path.data, parent_len}, .kind = kind, .handle = w};
    int rc;

    entry.name = (struct ebb_str){w->path.data + name_at, w->path.len - name_at};
    rc = w->ops->dir ? w->ops->dir(w->data, entry.dir, err) : 0;
    return rc ? rc : w->ops->entry(w->data, &entry, err);
}

static int enter(struct local_walk *w, struct ebb_err *err)
{
    int rc = w->ops->dir ? w->ops->dir(w->data, ebb_buf_str(&w->path), err) : 0;

    if (!rc)
        rc = list_dir(w, err);
    ebb__fd_close(w->dir);
    w->dir = -1;
    return rc;
}

static int next_dir(struct local_walk *w, struct ebb_err *err)
{
    size_t parent_len;
    int rc = pop(w, &parent_len, err);

    if (rc)
        return rc;
    if (w->ops->enter && !w->ops->enter(w->data, ebb_buf_str(&w->path)))
        return 0;
    w->dir = ebb__local_open_dir(ebb__local_of(w->head.place), ebb_buf_str(&w->path), O_RDONLY);
    if (w->dir >= 0)
        return enter(w, err);
    rc = -w->dir;
    w->dir = -1;
    if (rc == ENOENT || rc == ENOTDIR)
        return 0;
    if (rc == EXDEV || rc == ELOOP)
        return report_unentered(w, parent_len, rc == EXDEV ? EBB_WALK_MOUNT : EBB_WALK_LINK, err);
    return fail(w, rc, err);
}

static int start(struct local_walk *w, const char *below, struct ebb_err *err)
{
    int rc;

    ebb_buf_puts(&w->path, below);
    rc = ebb_buf_check(&w->path, "path of a folder", err);
    if (rc)
        return rc;
    w->dir = ebb__local_open_dir(ebb__local_of(w->head.place), ebb_str_of(below), O_RDONLY);
    if (w->dir >= 0)
        return enter(w, err);
    rc = -w->dir;
    w->dir = -1;
    return fail(w, rc, err);
}

int ebb__local_walk(struct ebb_place *place, const char *below, const struct ebb_walk_ops *ops, void *data,
                    struct ebb_err *err)
{
    struct local_walk w = {.head = {place}, .ops = ops, .data = data, .dir = -1};
    int rc;

    ebb_buf_init(&w.path, SIZE_MAX);
    ebb_buf_init(&w.pending, SIZE_MAX);
    w.dents = malloc(DENTS_BYTES);
    rc = w.dents ? start(&w, below, err) : ebb_err_nomem(err);
    while (!rc && w.pending.len)
        rc = next_dir(&w, err);
    ebb__fd_close(w.dir);
    free(w.dents);
    ebb_buf_fini(&w.pending);
    ebb_buf_fini(&w.path);
    return rc;
}

static int stat_unentered(const struct local_walk *w, struct ebb_stat *st, struct ebb_err *err)
{
    return ebb__local_stat(w->head.place, w->path.data, st, err);
}

int ebb__local_walk_stat(const struct ebb_walk_entry *entry, struct ebb_stat *st, struct ebb_err *err)
{
    const struct local_walk *w = entry->handle;
    int rc;

    if (w->dir < 0)
        return stat_unentered(w, st, err);
    rc = ebb__fd_stat(w->dir, entry->name.p, st);
    if (!rc)
        return 0;
    return ebb_err_errno(err, rc, "%s/%.*s/%.*s: cannot stat", w->head.place->uri, (int)entry->dir.n, entry->dir.p,
                         (int)entry->name.n, entry->name.p);
}
