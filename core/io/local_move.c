/* SPDX-License-Identifier: Apache-2.0 */
#include "io/local_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "io/fd_priv.h"

struct ends {
    int from_dir, to_dir;
    const char *from_last, *to_last;
};

/* The file gets its second name before the first one goes; a name that is taken fails in linkat. */
static int link_and_unlink(const struct ends *e)
{
    int rc;

    EBB_FAILPOINT("link.before");
    rc = linkat(e->from_dir, e->from_last, e->to_dir, e->to_last, 0) ? errno : 0;
    EBB_FAILPOINT("link.after");
    if (rc)
        return rc == EPERM ? EOPNOTSUPP : rc;
    EBB_FAILPOINT("unlink.before");
    rc = unlinkat(e->from_dir, e->from_last, 0) ? errno : 0;
    EBB_FAILPOINT("unlink.after");
    if (rc && unlinkat(e->to_dir, e->to_last, 0))
        return errno;
    return rc;
}

/* ENOENT is the source's; a target folder that is gone is another matter. */
static int tell_missing(const struct ends *e)
{
    struct ebb_stat st;

    return ebb__fd_stat(e->from_dir, e->from_last, &st) == ENOENT ? ENOENT : ESTALE;
}

static int rename_without_replacing(const struct ends *e)
{
    int rc;

    EBB_FAILPOINT("rename.before");
    rc = renameat2(e->from_dir, e->from_last, e->to_dir, e->to_last, RENAME_NOREPLACE) ? errno : 0;
    EBB_FAILPOINT("rename.after");
    if (rc == EINVAL || rc == ENOSYS)
        rc = link_and_unlink(e);
    return rc == ENOENT ? tell_missing(e) : rc;
}

static int move_fail(struct ebb_place *from, const char *from_name, struct ebb_place *to, const char *to_name,
                     int errno_value, struct ebb_err *err)
{
    const char *why = NULL;

    if (errno_value == EXDEV)
        why = "another file system (cross-device)";
    if (errno_value == EOPNOTSUPP)
        why = "the file system can neither rename without replacing nor make hard links";
    if (why)
        return ebb_err_set(err, EBB_EUNSUPPORTED, "%s: cannot move %s to %s/%s: %s", from->uri, from_name, to->uri,
                           to_name, why);
    return ebb_err_errno(err, errno_value, "%s: cannot move %s to %s/%s", from->uri, from_name, to->uri, to_name);
}

int ebb__local_move(struct ebb_place *from, const char *from_name, struct ebb_place *to, const char *to_name,
                    struct ebb_err *err)
{
    struct ends e = {-1, -1, NULL, NULL};
    int rc = 0;

    e.from_dir = ebb__local_open_parent(ebb__local_of(from), from_name, O_PATH, &e.from_last);
    if (e.from_dir < 0)
        rc = -e.from_dir;
    if (!rc) {
        e.to_dir = ebb__local_open_parent(ebb__local_of(to), to_name, O_PATH, &e.to_last);
        if (e.to_dir < 0)
            rc = e.to_dir == -ENOENT ? ESTALE : -e.to_dir;
    }
    if (!rc)
        rc = rename_without_replacing(&e);
    ebb__fd_close(e.to_dir);
    ebb__fd_close(e.from_dir);
    if (rc == ESTALE)
        return ebb_err_set(err, EBB_EIO, "%s: cannot move %s: the folder of %s/%s is not there", from->uri, from_name,
                           to->uri, to_name);
    return rc ? move_fail(from, from_name, to, to_name, rc, err) : 0;
}

int ebb__local_sync_dir(struct ebb_place *place, const char *dir, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    int fd = ebb__local_open_dir(local, ebb_str_of(dir), O_RDONLY);
    int rc = fd < 0 ? -fd : ebb__fd_sync_dir(fd);

    ebb__fd_close(fd);
    return rc ? ebb__local_fail(local, rc, dir, "sync", err) : 0;
}

static int unlink_name(struct ebb_local *local, const char *name, int flags)
{
    const char *last;
    int dir = ebb__local_open_parent(local, name, O_PATH, &last);
    int rc;

    if (dir < 0)
        return -dir;
    EBB_FAILPOINT("unlink.before");
    rc = unlinkat(dir, last, flags) ? errno : 0;
    EBB_FAILPOINT("unlink.after");
    ebb__fd_close(dir);
    return rc;
}

int ebb__local_unlink(struct ebb_place *place, const char *name, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    int rc = unlink_name(local, name, 0);

    return rc ? ebb__local_fail(local, rc, name, "remove", err) : 0;
}

int ebb__local_remove_dir(struct ebb_place *place, const char *name, struct ebb_err *err)
{
    struct ebb_local *local = ebb__local_of(place);
    int rc = unlink_name(local, name, AT_REMOVEDIR);

    if (rc == ENOTEMPTY || rc == EEXIST)
        return ebb_err_set(err, EBB_EEXIST, "%s/%s: cannot remove the folder: it is not empty", place->uri, name);
    return rc ? ebb__local_fail(local, rc, name, "remove the folder", err) : 0;
}
