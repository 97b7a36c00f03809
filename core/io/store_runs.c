/* SPDX-License-Identifier: Apache-2.0
 *
 * What is asked for most: the latest runs of a policy on a table.
 */
#include "io/store_priv.h"

static int give(struct ebb_store *store, sqlite3_stmt *stmt, ebb_run_cb *cb, void *data, struct ebb_err *err)
{
    int step, rc = 0;

    while (!rc && (step = sqlite3_step(stmt)) != SQLITE_DONE) {
        const char *id = (const char *)sqlite3_column_text(stmt, 0);
        const char *status = (const char *)sqlite3_column_text(stmt, 1);
        struct ebb_run_head head = {id, status, sqlite3_column_int64(stmt, 2), sqlite3_column_int64(stmt, 3),
                                    (const char *)sqlite3_column_text(stmt, 4)};

        if (step != SQLITE_ROW)
            rc = ebb__store_fail(store, "cannot read a record", err);
        else
            rc = id && status ? cb(data, &head, err) : ebb_err_nomem(err);
    }
    return rc;
}

int ebb_store_list_runs(struct ebb_store *store, const char *policy, const char *uuid, int64_t limit, bool with_json,
                        ebb_run_cb *cb, void *data, struct ebb_err *err)
{
    static const char SQL[] = "SELECT id, status, at_ms, end_ms, CASE WHEN ?5 THEN json END"
                              " FROM record INDEXED BY record_uuid"
                              " WHERE kind = ?1 AND uuid = ?2 AND policy = ?3 ORDER BY at_ms DESC, id DESC LIMIT ?4";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_borrow(store, SQL, &stmt, err);

    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, EBB_RECORD_RUN);
    ebb__store_bind_text(stmt, 2, uuid);
    ebb__store_bind_text(stmt, 3, policy);
    sqlite3_bind_int64(stmt, 4, limit);
    sqlite3_bind_int(stmt, 5, with_json);
    rc = give(store, stmt, cb, data, err);
    ebb__store_return(store, stmt);
    return rc;
}
