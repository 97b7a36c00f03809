/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/failpoint.h"

#define LIMIT_STEPS 10000 /* of SQLite, between two looks at the clock */

static enum ebb_error kind_of_io(struct ebb_store *store)
{
    int system_error = sqlite3_system_errno(store->db);

    return system_error == ENOSPC || system_error == EDQUOT ? EBB_ENOSPACE : EBB_EIO;
}

static enum ebb_error kind_of(struct ebb_store *store, int code)
{
    if (code == SQLITE_READONLY_DBMOVED)
        return EBB_ESTORE;
    switch (code & 0xFF) {
    case SQLITE_FULL:
        return EBB_ENOSPACE;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return EBB_EPERMISSION;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return EBB_ESTORE_CORRUPT;
    case SQLITE_IOERR:
        return kind_of_io(store);
    default:
        return EBB_ESTORE;
    }
}

int ebb__store_fail(struct ebb_store *store, const char *doing, struct ebb_err *err)
{
    int code = sqlite3_extended_errcode(store->db);
    enum ebb_error kind;

    if ((code & 0xFF) == SQLITE_NOMEM)
        return ebb_err_nomem(err);
    if ((code & 0xFF) == SQLITE_INTERRUPT)
        return ebb_err_set(err, EBB_ECANCELLED, "%s: %s: this took too long", store->path, doing);
    kind = kind_of(store, code);
    ebb_err_set(err, kind, "%s: %s: %s", store->path, doing, sqlite3_errmsg(store->db));
    if (kind == EBB_ESTORE_CORRUPT)
        ebb_err_hint(
            err,
            "move %s, %s-wal and %s-shm aside and start with a copy from a backup or with a new store; files in "
            "quarantine come back with `ebb restore --from URI`",
            store->path, store->path, store->path);
    if (kind == EBB_ENOSPACE)
        ebb_err_hint(err, "free some space on the file system of %s", store->dir);
    if (err && (code & 0xFF) == SQLITE_BUSY)
        err->retryable = true;
    return -(int)kind;
}

static int is_late(void *data)
{
    const struct ebb_store *store = data;

    return ebb_clock_elapsed_ms() >= store->until_ms;
}

void ebb_store_limit(struct ebb_store *store, int64_t until_ms)
{
    store->until_ms = until_ms;
    sqlite3_progress_handler(store->db, until_ms ? LIMIT_STEPS : 0, until_ms ? is_late : NULL, store);
}

int ebb__store_exec(struct ebb_store *store, const char *sql, struct ebb_err *err)
{
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    return ebb__store_fail(store, "cannot run a statement", err);
}

int ebb__store_prepare(struct ebb_store *store, const char *sql, sqlite3_stmt **out, struct ebb_err *err)
{
    if (sqlite3_prepare_v2(store->db, sql, -1, out, NULL) == SQLITE_OK)
        return 0;
    return ebb__store_fail(store, "cannot prepare a statement", err);
}

int ebb__store_keep(struct ebb_store *store, const char *sql, sqlite3_stmt **out, struct ebb_err *err)
{
    struct ebb__store_kept *kept;

    for (size_t i = 0; i < store->kept_count; i++)
        if (store->kept[i].sql == sql) {
            *out = store->kept[i].stmt;
            return 0;
        }
    if (store->kept_count == EBB__STORE_KEPT_MAX)
        return ebb_err_set(err, EBB_EINTERNAL, "store: too many statements are kept");
    kept = &store->kept[store->kept_count];
    if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &kept->stmt, NULL) != SQLITE_OK)
        return ebb__store_fail(store, "cannot prepare a statement", err);
    kept->sql = sql;
    store->kept_count++;
    *out = kept->stmt;
    return 0;
}

bool ebb__store_is_taken(const struct ebb_store *store)
{
    int code = sqlite3_extended_errcode(store->db);

    return code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY;
}

int ebb__store_run(struct ebb_store *store, sqlite3_stmt *stmt, const char *doing, struct ebb_err *err)
{
    int rc = 0;

    if (sqlite3_step(stmt) != SQLITE_DONE)
        rc = ebb__store_fail(store, doing, err);
    sqlite3_reset(stmt);
    return rc;
}

int ebb__store_begin(struct ebb_store *store, struct ebb_err *err)
{
    if (sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    return ebb__store_fail(store, "cannot begin to write", err);
}

int ebb__store_end(struct ebb_store *store, int rc, struct ebb_err *err)
{
    EBB_FAILPOINT("store.commit");
    if (!rc && sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        rc = ebb__store_fail(store, "cannot commit", err);
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    EBB_FAILPOINT("store.committed");
    return rc;
}

void ebb__store_bind_text(sqlite3_stmt *stmt, int index, const char *text)
{
    sqlite3_bind_text(stmt, index, text ? text : "", -1, SQLITE_STATIC);
}

void ebb__store_bind_blob(sqlite3_stmt *stmt, int index, struct ebb_str bytes)
{
    sqlite3_bind_blob64(stmt, index, bytes.n ? bytes.p : "", bytes.n, SQLITE_STATIC);
}

int ebb__store_take_text(struct ebb_store *store, sqlite3_stmt *stmt, int column, char **out, struct ebb_err *err)
{
    const unsigned char *text;

    if (sqlite3_column_type(stmt, column) != SQLITE_TEXT)
        return ebb_err_set(err, EBB_ESTORE_CORRUPT, "%s: column %s: not a text", store->path,
                           sqlite3_column_name(stmt, column));
    text = sqlite3_column_text(stmt, column);
    *out = text ? strdup((const char *)text) : NULL;
    return *out ? 0 : ebb_err_nomem(err);
}

const char *ebb_store_dir(const struct ebb_store *store)
{
    return store->dir;
}

uint64_t ebb_store_seed(const struct ebb_store *store)
{
    return store->seed;
}

static void draw(unsigned char *out, size_t n)
{
    ssize_t got;

    do
        got = getrandom(out, n, 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)n)
        sqlite3_randomness((int)n, out);
}

#define ULID_TIME_MAX (((int64_t)1 << 48) - 1)

void ebb_store_new_id(struct ebb_store *store, const char *prefix, int64_t now_ms, char out[40])
{
    static const char CROCKFORD[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    unsigned char dice[16];
    char text[27];
    uint64_t time_ms = now_ms < 0 ? 0 : (uint64_t)(now_ms > ULID_TIME_MAX ? ULID_TIME_MAX : now_ms);

    (void)store;
    draw(dice, sizeof dice);
    for (int i = 0; i < 10; i++)
        text[i] = CROCKFORD[time_ms >> (45 - 5 * i) & 31];
    for (int i = 0; i < 16; i++)
        text[10 + i] = CROCKFORD[dice[i] & 31];
    text[26] = '\0';
    snprintf(out, 40, "%.12s-%s", prefix, text);
}
