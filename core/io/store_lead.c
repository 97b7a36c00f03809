/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PID_TEXT_MAX 32

/* What another process wrote into the file; only for people. */
static void read_pid(int fd, char out[PID_TEXT_MAX])
{
    ssize_t n = pread(fd, out, PID_TEXT_MAX - 1, 0);

    out[n > 0 ? n : 0] = '\0';
    out[strspn(out, "0123456789")] = '\0';
}

static int lock(int fd, const char *name, struct ebb_err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char pid[PID_TEXT_MAX];
    int rc;

    if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
        return 0;
    if (errno != EAGAIN && errno != EACCES)
        return ebb_err_errno(err, errno, "%s: cannot lock", name);
    read_pid(fd, pid);
    rc = ebb_err_set(err, EBB_ELOCKED, "%s: another ebb serve has this state folder%s%s", name, *pid ? ", pid " : "",
                     pid);
    if (err)
        err->retryable = true;
    return rc;
}

static int write_pid(int fd, const char *name, struct ebb_err *err)
{
    char text[PID_TEXT_MAX];
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());

    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return ebb_err_errno(err, errno, "%s: cannot write", name);
    return 0;
}

static int raise_epoch(struct ebb_store *store, int64_t *epoch, struct ebb_err *err)
{
    static const char SQL[] = "INSERT INTO meta (key, value) VALUES ('epoch', 1)"
                              " ON CONFLICT (key) DO UPDATE SET value = value + 1 RETURNING value";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_begin(store, err);

    if (rc)
        return rc;
    rc = ebb__store_prepare(store, SQL, &stmt, err);
    if (!rc && sqlite3_step(stmt) == SQLITE_ROW)
        *epoch = sqlite3_column_int64(stmt, 0);
    else if (!rc)
        rc = ebb__store_fail(store, "cannot raise the epoch", err);
    if (!rc && sqlite3_step(stmt) != SQLITE_DONE)
        rc = ebb__store_fail(store, "cannot raise the epoch", err);
    sqlite3_finalize(stmt);
    return ebb__store_end(store, rc, err);
}

int ebb_store_lead(struct ebb_store *store, int64_t *epoch, struct ebb_err *err)
{
    char name[PATH_MAX + 24];
    int rc;

    if (store->lead_fd >= 0)
        return ebb_err_set(err, EBB_EINTERNAL, "store: it is led by this connection already");
    snprintf(name, sizeof name, "%s/ebb.serve.lock", strcmp(store->dir, "/") ? store->dir : "");
    store->lead_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
    if (store->lead_fd < 0)
        return ebb_err_errno(err, errno, "%s: cannot open", name);
    rc = lock(store->lead_fd, name, err);
    if (!rc)
        rc = write_pid(store->lead_fd, name, err);
    if (!rc)
        rc = raise_epoch(store, epoch, err);
    if (rc)
        ebb_store_resign(store);
    return rc;
}

void ebb_store_resign(struct ebb_store *store)
{
    if (store->lead_fd >= 0)
        close(store->lead_fd);
    store->lead_fd = -1;
}
