/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#include <stdlib.h>

#define HELD_MAX_BYTES ((size_t)1 << 20) /* longer ones are caches */

static int write_value(struct ebb_store *store, const char *sql, const char *const *values, int count,
                       struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc;

    rc = ebb__store_keep(store, sql, &stmt, err);
    if (rc)
        return rc;
    for (int i = 0; i < count; i++)
        ebb__store_bind_text(stmt, i + 1, values[i]);
    return ebb__store_run(store, stmt, "cannot write a value", err);
}

int ebb__store_write_value(struct ebb_store *store, const char *scope, const char *key, const char *value,
                           struct ebb_err *err)
{
    static const char DELETE[] = "DELETE FROM value WHERE scope = ?1 AND key = ?2";
    static const char UPSERT[] = "INSERT INTO value (scope, key, json) VALUES (?1, ?2, ?3)"
                                 " ON CONFLICT (scope, key) DO UPDATE SET json = excluded.json";
    const char *values[] = {scope, key, value};

    return write_value(store, value ? UPSERT : DELETE, values, value ? 3 : 2, err);
}

int ebb_store_put_value(struct ebb_store *store, const char *scope, const char *key, const char *value,
                        struct ebb_err *err)
{
    if (store->held && (!value || strlen(value) <= HELD_MAX_BYTES))
        return ebb__store_hold_value(store, scope, key, value, err);
    return ebb__store_write_value(store, scope, key, value, err);
}

int ebb_store_get_value(struct ebb_store *store, const char *scope, const char *key, struct ebb_buf *out, bool *found,
                        struct ebb_err *err)
{
    static const char SQL[] = "SELECT json FROM value WHERE scope = ?1 AND key = ?2";
    sqlite3_stmt *stmt = NULL;
    char *text = NULL;
    int rc, step;

    *found = false;
    rc = ebb__store_keep(store, SQL, &stmt, err);
    if (rc)
        return rc;
    ebb__store_bind_text(stmt, 1, scope);
    ebb__store_bind_text(stmt, 2, key);
    step = sqlite3_step(stmt);
    if (step == SQLITE_ROW)
        rc = ebb__store_take_text(store, stmt, 0, &text, err);
    else if (step != SQLITE_DONE)
        rc = ebb__store_fail(store, "cannot read a value", err);
    sqlite3_reset(stmt);
    if (rc || !text)
        return rc;
    *found = true;
    ebb_buf_puts(out, text);
    free(text);
    return ebb_buf_check(out, "value of the store", err);
}
