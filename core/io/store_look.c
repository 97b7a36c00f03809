/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/store_priv.h"

#define BUSY_MS 2000

static int64_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* Whether somebody holds the lock of ebb_store_lead. */
static void look_at_leader(const char *dir, struct ebb_store_look *out)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char name[PATH_MAX], pid[24] = "";
    int fd;

    snprintf(name, sizeof name, "%s/ebb.serve.lock", dir);
    fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    out->is_led = fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    if (out->is_led && pread(fd, pid, sizeof pid - 1, 0) > 0)
        out->leader_pid = strtol(pid, NULL, 10);
    close(fd);
}

static int ask(struct ebb_store *store, const char *sql, int64_t *out, struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_prepare(store, sql, &stmt, err);

    if (rc)
        return rc;
    if (sqlite3_step(stmt) == SQLITE_ROW)
        *out = sqlite3_column_int64(stmt, 0);
    else
        rc = ebb__store_fail(store, "cannot be read", err);
    sqlite3_finalize(stmt);
    return rc;
}

static int ask_all(struct ebb_store *store, bool check, struct ebb_store_look *out, struct ebb_err *err)
{
    int64_t page = 0, unused = 0;
    int rc = ask(store, "PRAGMA user_version", &out->schema, err);

    if (!rc)
        rc = ask(store, "PRAGMA page_size", &page, err);
    if (!rc)
        rc = ask(store, "PRAGMA freelist_count", &unused, err);
    out->free_bytes = unused * page;
    if (!rc && check)
        rc = ebb__store_check(store, "damaged", err);
    if (rc || out->schema < 1)
        return rc;
    rc = ask(store, "SELECT count(*) FROM record", &out->records, err);
    return rc ? rc : ask(store, "SELECT coalesce(min(at_ms), 0) FROM record", &out->oldest_ms, err);
}

static int look_inside(const char *dir, const char *path, bool check, struct ebb_store_look *out, struct ebb_err *err)
{
    struct ebb_store store = {.lock_fd = -1, .lead_fd = -1};
    int rc;

    store.dir = strdup(dir);
    store.path = strdup(path);
    if (!store.dir || !store.path)
        rc = ebb_err_nomem(err);
    else if (sqlite3_open_v2(path, &store.db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        rc = store.db ? ebb__store_fail(&store, "cannot open", err) : ebb_err_nomem(err);
    else {
        sqlite3_busy_timeout(store.db, BUSY_MS);
        rc = ask_all(&store, check, out, err);
    }
    sqlite3_close(store.db);
    free(store.path);
    free(store.dir);
    return rc;
}

int ebb_store_look(const char *state_dir, bool check, struct ebb_store_look *out, struct ebb_err *err)
{
    char path[PATH_MAX], wal[PATH_MAX + 8];
    struct stat st;

    memset(out, 0, sizeof *out);
    if (snprintf(path, sizeof path, "%s/ebb.db", state_dir) >= (int)sizeof path)
        return ebb_err_set(err, EBB_EUSAGE, "state folder: the name is too long");
    out->newest_schema = ebb__store_newest_schema();
    look_at_leader(state_dir, out);
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : ebb_err_errno(err, errno, "%s: cannot stat", path);
    out->exists = true;
    if (!S_ISREG(st.st_mode))
        return ebb_err_set(err, EBB_ESTORE, "%s: is not a regular file", path);
    out->size_bytes = st.st_size;
    snprintf(wal, sizeof wal, "%s-wal", path);
    out->wal_bytes = size_of(wal);
    return look_inside(state_dir, path, check, out, err);
}
