/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define APPLICATION_ID 0x65626231 /* "ebb1" */

/* MIGRATIONS[i] leads from schema version i to i + 1. Released ones never change. */
static const char *const MIGRATIONS[] = {
    "CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE record ("
    " kind INTEGER NOT NULL, id TEXT NOT NULL, tbl TEXT NOT NULL, uuid TEXT NOT NULL, policy TEXT NOT NULL,"
    " status TEXT NOT NULL, at_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, parent TEXT NOT NULL, json TEXT NOT NULL,"
    " PRIMARY KEY (kind, id)) STRICT;"
    "CREATE INDEX record_time ON record (kind, at_ms, id);"
    "CREATE INDEX record_uuid ON record (kind, uuid, at_ms, id);"
    "CREATE INDEX record_policy ON record (kind, policy, at_ms, id);"
    "CREATE INDEX record_parent ON record (kind, parent, at_ms, id);"
    "CREATE TABLE move ("
    " run TEXT NOT NULL, seq INTEGER NOT NULL, batch INTEGER NOT NULL, path BLOB NOT NULL, target BLOB NOT NULL,"
    " id TEXT NOT NULL, size_bytes INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, state INTEGER NOT NULL,"
    " why TEXT NOT NULL, PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE value (scope TEXT NOT NULL, key TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (scope, key))"
    " STRICT, WITHOUT ROWID;",

    "CREATE TABLE job ("
    " id TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL, template TEXT NOT NULL, tbl TEXT NOT NULL, uuid TEXT NOT NULL,"
    " policy TEXT NOT NULL, occurrence TEXT NOT NULL, parent TEXT NOT NULL, state INTEGER NOT NULL,"
    " priority INTEGER NOT NULL, attempt INTEGER NOT NULL, queued_ms INTEGER NOT NULL, not_before_ms INTEGER NOT NULL,"
    " started_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL,"
    " deadline_ms INTEGER NOT NULL, plan TEXT NOT NULL, run TEXT NOT NULL, code TEXT NOT NULL, message TEXT NOT NULL,"
    " owner TEXT NOT NULL, json TEXT NOT NULL) STRICT;"
    "CREATE INDEX record_open ON record (kind, at_ms, id) WHERE status = 'started';"
    "CREATE UNIQUE INDEX job_occurrence ON job (occurrence) WHERE occurrence <> '';"
    "CREATE INDEX job_state ON job (state, template, ended_ms);"
    "CREATE INDEX job_uuid ON job (uuid, id);"
    "CREATE INDEX job_run ON job (run, id) WHERE run <> '';"
    "CREATE TABLE event ("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL,"
    " tbl TEXT NOT NULL, at_ms INTEGER NOT NULL, received_ms INTEGER NOT NULL, json TEXT NOT NULL,"
    " UNIQUE (source, id)) STRICT;"
    "CREATE INDEX event_table ON event (tbl, type, seq) WHERE tbl <> '';"
    "CREATE TABLE object ("
    " number INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, name TEXT NOT NULL, json TEXT NOT NULL,"
    " creator TEXT NOT NULL, modifier TEXT NOT NULL, created_ms INTEGER NOT NULL, modified_ms INTEGER NOT NULL,"
    " UNIQUE (kind, name)) STRICT;"
    "CREATE TABLE tie ("
    " object INTEGER NOT NULL REFERENCES object (number) ON DELETE CASCADE, type TEXT NOT NULL,"
    " full_name TEXT NOT NULL, PRIMARY KEY (object, type, full_name)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX tie_place ON tie (type, full_name);"
    "CREATE TABLE statistic ("
    " tbl TEXT NOT NULL, part TEXT NOT NULL, name TEXT NOT NULL, json TEXT NOT NULL, creator TEXT NOT NULL,"
    " modifier TEXT NOT NULL, created_ms INTEGER NOT NULL, modified_ms INTEGER NOT NULL,"
    " PRIMARY KEY (tbl, part, name)) STRICT, WITHOUT ROWID;",
};
#define SCHEMA_VERSION ((int64_t)(sizeof MIGRATIONS / sizeof MIGRATIONS[0]))

int64_t ebb__store_newest_schema(void)
{
    return SCHEMA_VERSION;
}

/* The one integer that a statement gives; *found is false when it gives no row. */
static int ask_int(struct ebb_store *store, const char *sql, int64_t *out, bool *found, struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int step, rc;

    rc = ebb__store_prepare(store, sql, &stmt, err);
    if (rc)
        return rc;
    step = sqlite3_step(stmt);
    *found = step == SQLITE_ROW;
    if (step == SQLITE_ROW)
        *out = sqlite3_column_int64(stmt, 0);
    else if (step != SQLITE_DONE)
        rc = ebb__store_fail(store, "cannot be read", err);
    sqlite3_finalize(stmt);
    return rc;
}

static int ask(struct ebb_store *store, const char *sql, int64_t *out, struct ebb_err *err)
{
    bool found;
    int rc = ask_int(store, sql, out, &found, err);

    return rc || found ? rc : ebb_err_set(err, EBB_ESTORE, "%s: a pragma gives no answer", store->path);
}

static int check_owner(struct ebb_store *store, int64_t version, struct ebb_err *err)
{
    int64_t id = 0, objects = 0;
    int rc;

    rc = ask(store, "PRAGMA application_id", &id, err);
    if (!rc)
        rc = ask(store, "SELECT count(*) FROM sqlite_schema", &objects, err);
    if (rc || id == APPLICATION_ID || (id == 0 && version == 0 && objects == 0))
        return rc;
    rc = ebb_err_set(err, EBB_ESTORE, "%s: is a database of another program (application_id %" PRId64 ")", store->path,
                     id);
    ebb_err_hint(err, "name another state folder with --state");
    return rc;
}

static int check_version(struct ebb_store *store, int64_t version, struct ebb_err *err)
{
    int rc;

    if (version >= 0 && version <= SCHEMA_VERSION)
        return 0;
    rc = ebb_err_set(err, EBB_ESTORE, "%s: has schema version %" PRId64 ", this program knows versions up to %" PRId64,
                     store->path, version, SCHEMA_VERSION);
    ebb_err_hint(err, "use the newer ebb that wrote it, or another state folder");
    return rc;
}

static int plant_seed(struct ebb_store *store, struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    uint64_t seed = 0;
    int rc;

    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        return ebb_err_errno(err, errno, "%s: cannot draw a random seed", store->path);
    rc = ebb__store_prepare(store, "INSERT INTO meta (key, value) VALUES ('seed', ?1)", &stmt, err);
    if (rc)
        return rc;
    sqlite3_bind_int64(stmt, 1, (int64_t)seed);
    rc = ebb__store_run(store, stmt, "cannot write the seed", err);
    sqlite3_finalize(stmt);
    return rc;
}

static int step_up(struct ebb_store *store, int64_t from, struct ebb_err *err)
{
    char sql[96];
    int rc;

    rc = ebb__store_exec(store, MIGRATIONS[from], err);
    if (!rc && from == 0)
        rc = plant_seed(store, err);
    if (rc)
        return rc;
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %" PRId64, APPLICATION_ID, from + 1);
    return ebb__store_exec(store, sql, err);
}

static int step_up_all(struct ebb_store *store, struct ebb_err *err)
{
    int64_t version = 0;
    int rc;

    rc = ask(store, "PRAGMA user_version", &version, err);
    if (!rc)
        rc = check_owner(store, version, err);
    if (!rc)
        rc = check_version(store, version, err);
    for (; !rc && version < SCHEMA_VERSION; version++)
        rc = step_up(store, version, err);
    return rc;
}

static int read_seed(struct ebb_store *store, struct ebb_err *err)
{
    int64_t seed = 0;
    bool found = false;
    int rc =
        ask_int(store, "SELECT value FROM meta WHERE key = 'seed' AND typeof(value) = 'integer'", &seed, &found, err);

    if (!rc && !found)
        rc = ebb_err_set(err, EBB_ESTORE_CORRUPT, "%s: has lost its seed", store->path);
    store->seed = (uint64_t)seed;
    return rc;
}

int ebb__store_migrate(struct ebb_store *store, struct ebb_err *err)
{
    int64_t version = 0;
    int rc;

    rc = ask(store, "PRAGMA user_version", &version, err);
    if (!rc)
        rc = check_owner(store, version, err);
    if (!rc)
        rc = check_version(store, version, err);
    if (!rc && version < SCHEMA_VERSION) {
        rc = ebb__store_begin(store, err);
        if (!rc)
            rc = ebb__store_end(store, step_up_all(store, err), err);
    }
    return rc ? rc : read_seed(store, err);
}
