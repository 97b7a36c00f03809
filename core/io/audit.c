/* SPDX-License-Identifier: Apache-2.0 */
#include "io/audit_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/time.h"
#include "io/fd_priv.h"

/* Events wait without seq and prev: those are known only under the lock, since other processes append too. */
struct ebb_audit {
    char *path;
    int fd;
    int dir_fd;
    struct ebb_buf queue; /* whole events, each ended by a line feed */
    struct ebb_buf lines; /* what is written in a flush */
};

#define QUEUE_MAX ((size_t)64 << 20)
#define TORN_TRIES 100

bool ebb_audit_is_current(const struct ebb_audit *audit)
{
    struct stat mine, named;

    return fstat(audit->fd, &mine) == 0 && fstatat(audit->dir_fd, EBB__AUDIT_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           named.st_dev == mine.st_dev && named.st_ino == mine.st_ino;
}

static int check_same_file(const struct ebb_audit *audit, struct ebb_err *err)
{
    if (ebb_audit_is_current(audit))
        return 0;
    return ebb_err_set(err, EBB_EAUDIT, "%s: was moved or replaced while it was open", audit->path);
}

static int write_at_end(struct ebb_audit *audit, struct ebb_str bytes, int64_t end, struct ebb_err *err)
{
    int failed;

    EBB_FAILPOINT("audit.write");
    failed = ebb__fd_write(audit->fd, bytes.p, bytes.n);
    EBB_FAILPOINT("audit.written");
    if (!failed)
        failed = ebb__fd_sync(audit->fd);
    EBB_FAILPOINT("audit.synced");
    if (!failed)
        return 0;
    ebb_err_errno(err, failed, "%s: cannot write", audit->path);
    if (ftruncate(audit->fd, end) != 0)
        ebb_err_hint(err, "the log ends in a torn line now; the next opening cuts it off");
    return err ? -(int)err->error : -EBB_EIO;
}

static int save_torn(struct ebb_audit *audit, struct ebb_str torn, int64_t seq, char name[64], struct ebb_err *err)
{
    int fd = -1, failed = EEXIST;

    for (int i = 1; i <= TORN_TRIES && failed == EEXIST; i++) {
        snprintf(name, 64, i == 1 ? "%s.torn-%" PRId64 : "%s.torn-%" PRId64 "-%d", EBB__AUDIT_NAME, seq, i);
        fd = openat(audit->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        failed = fd < 0 ? errno : 0;
    }
    if (!failed)
        failed = ebb__fd_write(fd, torn.p, torn.n);
    if (!failed)
        failed = ebb__fd_sync(fd);
    if (!failed)
        failed = ebb__fd_sync_dir(audit->dir_fd);
    ebb__fd_close(fd);
    return failed ? ebb_err_errno(err, failed, "%s: cannot keep its torn last line", audit->path) : 0;
}

static int cut_torn(struct ebb_audit *audit, struct ebb__audit_tail *tail, struct ebb_err *err)
{
    char name[64];
    char event[128];
    struct ebb_str torn = ebb_buf_str(&tail->torn);
    int rc;

    rc = save_torn(audit, torn, tail->seq + 1, name, err);
    if (rc)
        return rc;
    if (ftruncate(audit->fd, tail->end) != 0)
        return ebb_err_errno(err, errno, "%s: cannot cut its torn last line", audit->path);
    snprintf(event, sizeof event, "\"event\":\"torn\",\"bytes\":%zu,\"file\":\"%s\"", torn.n, name);
    ebb_buf_reset(&audit->lines);
    ebb__audit_line(tail, &audit->lines, ebb_str_of(event));
    rc = ebb_buf_check(&audit->lines, audit->path, err);
    if (!rc)
        rc = write_at_end(audit, ebb_buf_str(&audit->lines), tail->end, err);
    tail->end += (int64_t)audit->lines.len;
    return rc;
}

/* Under the lock: find the end of the chain, mend a torn line. */
static int find_end(struct ebb_audit *audit, struct ebb__audit_tail *tail, struct ebb_err *err)
{
    int rc;

    rc = check_same_file(audit, err);
    if (!rc)
        rc = ebb__audit_read_tail(audit->fd, audit->path, tail, err);
    if (!rc && tail->torn.len)
        rc = cut_torn(audit, tail, err);
    return rc;
}

static int open_files(struct ebb_audit *audit, const char *state_dir, struct ebb_err *err)
{
    struct ebb_buf path;
    int failed, rc;

    ebb_buf_init(&path, PATH_MAX);
    ebb_buf_printf(&path, "%s/%s", state_dir, EBB__AUDIT_NAME);
    rc = ebb_buf_check(&path, "name of the audit log", err);
    if (!rc && !(audit->path = ebb_buf_take(&path)))
        rc = ebb_err_nomem(err);
    ebb_buf_fini(&path);
    if (rc)
        return rc;
    audit->dir_fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (audit->dir_fd < 0)
        return ebb_err_errno(err, errno, "%s: cannot open the state folder", state_dir);
    failed = ebb__audit_open_file(audit->dir_fd, &audit->fd);
    return failed ? ebb_err_errno(err, failed, "%s: cannot open", audit->path) : 0;
}

int ebb_audit_open(const char *state_dir, struct ebb_audit **out, struct ebb_err *err)
{
    struct ebb_audit *audit = calloc(1, sizeof *audit);
    struct ebb__audit_tail tail;
    int rc;

    *out = NULL;
    if (!audit)
        return ebb_err_nomem(err);
    audit->fd = audit->dir_fd = -1;
    ebb__audit_tail_init(&tail);
    ebb_buf_init(&audit->queue, QUEUE_MAX);
    ebb_buf_init(&audit->lines, QUEUE_MAX * 2);
    rc = open_files(audit, state_dir, err);
    if (!rc)
        rc = ebb__audit_lock(audit->fd, true, audit->path, err);
    if (!rc) {
        rc = find_end(audit, &tail, err);
        ebb__audit_unlock(audit->fd);
    }
    ebb__audit_tail_fini(&tail);
    if (rc)
        ebb_audit_close(audit);
    else
        *out = audit;
    return rc;
}

void ebb_audit_close(struct ebb_audit *audit)
{
    if (!audit)
        return;
    if (audit->queue.len)
        ebb_audit_flush(audit, NULL);
    ebb__fd_close(audit->fd);
    ebb__fd_close(audit->dir_fd);
    ebb_buf_fini(&audit->queue);
    ebb_buf_fini(&audit->lines);
    free(audit->path);
    free(audit);
}

int ebb_audit_add(struct ebb_audit *audit, int64_t at_ms, const char *members, struct ebb_err *err)
{
    size_t n = strlen(members), before = audit->queue.len;
    int rc;

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)members[i] < 0x20)
            return ebb_err_set(err, EBB_EINTERNAL, "%s: an event holds a control character", audit->path);
    if (n < 2 || members[0] != '"' || n > EBB__AUDIT_MEMBERS_MAX)
        return ebb_err_set(err, n > EBB__AUDIT_MEMBERS_MAX ? EBB_ELIMIT : EBB_EINTERNAL,
                           "%s: an event of %zu bytes cannot be a line", audit->path, n);
    ebb_buf_puts(&audit->queue, "\"at\":\"");
    ebb_time_iso(&audit->queue, at_ms);
    ebb_buf_puts(&audit->queue, "\",");
    ebb_buf_append(&audit->queue, members, n);
    ebb_buf_putc(&audit->queue, '\n');
    rc = ebb_buf_check(&audit->queue, audit->path, err);
    if (rc) { /* what was queued before stays whole */
        audit->queue.len = before;
        audit->queue.bad = false;
    }
    return rc;
}

static int write_queue(struct ebb_audit *audit, struct ebb_err *err)
{
    struct ebb__audit_tail tail;
    const char *p = audit->queue.data, *end = p + audit->queue.len;
    int rc;

    ebb__audit_tail_init(&tail);
    rc = find_end(audit, &tail, err);
    if (rc)
        goto out;
    ebb_buf_reset(&audit->lines);
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        struct ebb_str event = {p, (size_t)(stop - p)};

        ebb__audit_line(&tail, &audit->lines, event);
        p = stop + 1;
    }
    rc = ebb_buf_check(&audit->lines, audit->path, err);
    if (!rc)
        rc = write_at_end(audit, ebb_buf_str(&audit->lines), tail.end, err);
    if (!rc)
        ebb_buf_reset(&audit->queue);
out:
    ebb__audit_tail_fini(&tail);
    return rc;
}

int ebb_audit_check(struct ebb_audit *audit, struct ebb_err *err)
{
    struct ebb__audit_tail tail;
    int rc = ebb__audit_lock(audit->fd, true, audit->path, err);

    if (rc)
        return rc;
    ebb__audit_tail_init(&tail);
    rc = find_end(audit, &tail, err);
    ebb__audit_unlock(audit->fd);
    ebb__audit_tail_fini(&tail);
    return rc;
}

int ebb_audit_flush(struct ebb_audit *audit, struct ebb_err *err)
{
    int rc;

    if (!audit->queue.len)
        return 0;
    rc = ebb__audit_lock(audit->fd, true, audit->path, err);
    if (rc)
        return rc;
    rc = write_queue(audit, err);
    ebb__audit_unlock(audit->fd);
    return rc;
}
