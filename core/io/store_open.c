/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/fd_priv.h"
#include "io/file.h"

#define BUSY_TIMEOUT_MS 10000

static int find_dir(struct ebb_store *store, const char *state_dir, struct ebb_err *err)
{
    struct ebb_buf path;
    int rc;

    ebb_buf_init(&path, PATH_MAX);
    if (!*state_dir)
        return ebb_err_set(err, EBB_EUSAGE, "state folder: the name is empty");
    rc = ebb_file_make_dirs(state_dir, err);
    if (rc) {
        ebb_err_hint(err, "--state DIR names another folder for records");
        goto out;
    }
    store->dir = realpath(state_dir, NULL);
    if (!store->dir) {
        rc = ebb_err_errno(err, errno, "%s: cannot find the state folder", state_dir);
        goto out;
    }
    ebb_buf_printf(&path, "%s/ebb.db", strcmp(store->dir, "/") ? store->dir : "");
    rc = ebb_buf_check(&path, "name of the store", err);
    if (!rc && !(store->path = ebb_buf_take(&path)))
        rc = ebb_err_nomem(err);
out:
    ebb_buf_fini(&path);
    return rc;
}

/* Every process that has the store open holds this lock shared. Whoever gets it alone knows that a WAL was left by a
 * process that died. (Looking at SQLite's own locks would drop those of other connections in this process.) */
static int take_lock(struct ebb_store *store, bool *is_alone, struct ebb_err *err)
{
    char name[PATH_MAX + 8];

    snprintf(name, sizeof name, "%s.lock", store->path);
    store->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600);
    if (store->lock_fd < 0)
        return ebb_err_errno(err, errno, "%s: cannot open", name);
    *is_alone = flock(store->lock_fd, LOCK_EX | LOCK_NB) == 0;
    if (!*is_alone && errno != EWOULDBLOCK)
        return ebb_err_errno(err, errno, "%s: cannot lock", name);
    while (!*is_alone && flock(store->lock_fd, LOCK_SH) != 0)
        if (errno != EINTR)
            return ebb_err_errno(err, errno, "%s: cannot lock", name);
    return 0;
}

static int share_lock(struct ebb_store *store, struct ebb_err *err)
{
    while (flock(store->lock_fd, LOCK_SH) != 0)
        if (errno != EINTR)
            return ebb_err_errno(err, errno, "%s.lock: cannot lock", store->path);
    return 0;
}

static int sync_dir(const char *dir, struct ebb_err *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 ? errno : ebb__fd_sync_dir(fd);

    ebb__fd_close(fd);
    return failed ? ebb_err_errno(err, failed, "%s: cannot sync", dir) : 0;
}

/* The file exists afterwards, with mode 0600 whatever the umask says. It is made by name: opening and closing it here
 * would drop the locks that another connection of this process has on it. */
static int make_file(struct ebb_store *store, struct ebb_err *err)
{
    struct stat st;
    bool is_new;

    is_new = mknod(store->path, S_IFREG | 0600, 0) == 0;
    if (!is_new && errno != EEXIST)
        return ebb_err_errno(err, errno, "%s: cannot make", store->path);
    if (lstat(store->path, &st) != 0)
        return ebb_err_errno(err, errno, "%s: cannot stat", store->path);
    if (!S_ISREG(st.st_mode))
        return ebb_err_set(err, EBB_ESTORE, "%s: is not a regular file", store->path);
    if ((is_new || st.st_uid == geteuid()) && (st.st_mode & 07777) != 0600 && chmod(store->path, 0600) != 0)
        return ebb_err_errno(err, errno, "%s: cannot set its mode", store->path);
    return is_new ? sync_dir(store->dir, err) : 0;
}

static bool has_wal(const struct ebb_store *store)
{
    char name[PATH_MAX + 8];
    struct stat st;

    snprintf(name, sizeof name, "%s-wal", store->path);
    return stat(name, &st) == 0 && st.st_size > 0;
}

static int check_wal_mode(struct ebb_store *store, struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    const char *mode;
    int rc;

    rc = ebb__store_prepare(store, "PRAGMA journal_mode = WAL", &stmt, err);
    if (rc)
        return rc;
    if (sqlite3_step(stmt) != SQLITE_ROW) {
        rc = ebb__store_fail(store, "cannot switch to WAL", err);
    } else {
        mode = (const char *)sqlite3_column_text(stmt, 0);
        if (!mode || strcmp(mode, "wal") != 0)
            rc = ebb_err_set(err, EBB_ESTORE, "%s: its file system has no shared memory for WAL", store->path);
    }
    sqlite3_finalize(stmt);
    return rc;
}

static int connect_db(struct ebb_store *store, struct ebb_err *err)
{
    int rc;

    rc = sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (!store->db)
        return ebb_err_nomem(err);
    if (rc != SQLITE_OK)
        return ebb__store_fail(store, "cannot open", err);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    rc = check_wal_mode(store, err);
    if (rc)
        return rc;
    return ebb__store_exec(store,
                           "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;"
                           "PRAGMA journal_size_limit = 67108864",
                           err);
}

int ebb__store_check(struct ebb_store *store, const char *when, struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    const char *word;
    int rc;

    rc = ebb__store_prepare(store, "PRAGMA integrity_check(1)", &stmt, err);
    if (rc)
        return rc;
    if (sqlite3_step(stmt) != SQLITE_ROW) {
        rc = ebb__store_fail(store, "cannot check its integrity", err);
        goto out;
    }
    word = (const char *)sqlite3_column_text(stmt, 0);
    if (word && strcmp(word, "ok") == 0)
        goto out;
    rc = ebb_err_set(err, EBB_ESTORE_CORRUPT, "%s: %s: %s", store->path, when, word ? word : "");
    ebb_err_hint(
        err,
        "move %s and %s-wal aside and start with a copy from a backup or with a new store; files in quarantine "
        "come back with `ebb restore --from URI`",
        store->path, store->path);
out:
    sqlite3_finalize(stmt);
    return rc;
}

int ebb_store_check(struct ebb_store *store, struct ebb_err *err)
{
    return ebb__store_check(store, "damaged", err);
}

static int open_all(struct ebb_store *store, const char *state_dir, struct ebb_err *err)
{
    bool is_alone = false, was_unclean;
    int rc;

    rc = find_dir(store, state_dir, err);
    if (!rc)
        rc = take_lock(store, &is_alone, err);
    if (!rc)
        rc = make_file(store, err);
    if (rc)
        return rc;
    was_unclean = is_alone && has_wal(store);
    rc = connect_db(store, err);
    if (!rc && was_unclean)
        rc = ebb__store_check(store, "damaged after an unclean stop", err);
    if (!rc)
        rc = ebb__store_migrate(store, err);
    if (!rc && is_alone)
        rc = share_lock(store, err);
    return rc;
}

int ebb_store_open(const char *state_dir, struct ebb_store **out, struct ebb_err *err)
{
    struct ebb_store *store = calloc(1, sizeof *store);
    int rc;

    *out = NULL;
    if (!store)
        return ebb_err_nomem(err);
    store->lock_fd = -1;
    store->lead_fd = -1;
    store->tag = -1;
    rc = open_all(store, state_dir, err);
    if (rc)
        ebb_store_close(store);
    else
        *out = store;
    return rc;
}

void ebb_store_close(struct ebb_store *store)
{
    if (!store)
        return;
    ebb_store_drop_held(store);
    ebb__store_lent_fini(store);
    for (size_t i = 0; i < store->kept_count; i++)
        sqlite3_finalize(store->kept[i].stmt);
    sqlite3_close(store->db);
    ebb_store_resign(store);
    if (store->lock_fd >= 0)
        close(store->lock_fd);
    free(store->path);
    free(store->dir);
    free(store);
}
