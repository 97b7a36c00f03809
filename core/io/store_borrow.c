/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements whose text is put together: those used last are kept with the connection. One that is lent is not lent
 * again: whoever asks meanwhile gets one of his own.
 */
#include <stdlib.h>

#include "io/store_priv.h"

int ebb__store_borrow(struct ebb_store *store, const char *sql, sqlite3_stmt **out, struct ebb_err *err)
{
    for (size_t i = 0; i < EBB__STORE_LENT_MAX; i++) {
        sqlite3_stmt *stmt = store->lent[i];

        if (stmt && !strcmp(sqlite3_sql(stmt), sql)) {
            store->lent[i] = NULL;
            *out = stmt;
            return 0;
        }
    }
    if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK)
        return 0;
    return ebb__store_fail(store, "cannot prepare a statement", err);
}

void ebb__store_return(struct ebb_store *store, sqlite3_stmt *stmt)
{
    size_t at = store->lent_at;

    if (!stmt)
        return;
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    for (size_t i = 0; i < EBB__STORE_LENT_MAX; i++)
        if (!store->lent[i])
            at = i;
    if (store->lent[at]) {
        sqlite3_finalize(store->lent[at]);
        store->lent_at = (at + 1) % EBB__STORE_LENT_MAX;
    }
    store->lent[at] = stmt;
}

void ebb__store_lent_fini(struct ebb_store *store)
{
    for (size_t i = 0; i < EBB__STORE_LENT_MAX; i++) {
        sqlite3_finalize(store->lent[i]);
        store->lent[i] = NULL;
    }
}
