/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#include <stdlib.h>

static int read_status(struct ebb_store *store, enum ebb_record_kind kind, const char *id, char **out,
                       struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int step, rc = ebb__store_prepare(store, "SELECT status FROM record WHERE kind = ?1 AND id = ?2", &stmt, err);

    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, (int)kind);
    ebb__store_bind_text(stmt, 2, id);
    step = sqlite3_step(stmt);
    if (step == SQLITE_ROW)
        rc = ebb__store_take_text(store, stmt, 0, out, err);
    else if (step == SQLITE_DONE)
        rc = ebb_err_set(err, EBB_ENOT_FOUND, "%s: no such record in %s", id, store->path);
    else
        rc = ebb__store_fail(store, "cannot read a record", err);
    sqlite3_finalize(stmt);
    return rc;
}

static int write_status(struct ebb_store *store, enum ebb_record_kind kind, const char *id, const char *to,
                        struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_prepare(store, "UPDATE record SET status = ?3 WHERE kind = ?1 AND id = ?2", &stmt, err);

    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, (int)kind);
    ebb__store_bind_text(stmt, 2, id);
    ebb__store_bind_text(stmt, 3, to);
    rc = ebb__store_run(store, stmt, "cannot change a record", err);
    sqlite3_finalize(stmt);
    return rc;
}

static int change(struct ebb_store *store, enum ebb_record_kind kind, const char *id, const char *const *from,
                  const char *to, struct ebb_err *err)
{
    char *status = NULL;
    bool is_one = false;
    int rc = read_status(store, kind, id, &status, err);

    for (; !rc && *from; from++)
        is_one = is_one || !strcmp(status, *from);
    if (!rc && !is_one)
        rc = ebb_err_set(err, EBB_ERUN_STATE, "%s: is %s already", id, status);
    if (!rc)
        rc = write_status(store, kind, id, to, err);
    free(status);
    return rc;
}

int ebb_store_set_status(struct ebb_store *store, enum ebb_record_kind kind, const char *id, const char *const *from,
                         const char *to, struct ebb_err *err)
{
    int rc = ebb__store_begin(store, err);

    return rc ? rc : ebb__store_end(store, change(store, kind, id, from, to, err), err);
}
