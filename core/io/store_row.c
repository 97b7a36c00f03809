/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#include <stdlib.h>

void ebb__store_row_fini(struct ebb__store_row *row)
{
    for (size_t i = 0; i < EBB__ROW_TEXTS; i++)
        free(row->texts[i]);
    memset(row, 0, sizeof *row);
}

static int take(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb__store_shape *shape,
                struct ebb__store_row *row, struct ebb_err *err)
{
    int rc = 0;

    for (int i = 0; !rc && i < shape->texts; i++)
        rc = ebb__store_take_text(store, stmt, i, &row->texts[i], err);
    for (int i = 0; i < shape->numbers; i++)
        row->numbers[i] = sqlite3_column_int64(stmt, shape->texts + i);
    return rc;
}

int ebb__store_fetch(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb__store_shape *shape,
                     struct ebb__store_row *row, bool *found, struct ebb_err *err)
{
    int step = sqlite3_step(stmt);
    int rc = 0;

    *found = step == SQLITE_ROW;
    if (step == SQLITE_ROW)
        rc = take(store, stmt, shape, row, err);
    else if (step != SQLITE_DONE)
        rc = ebb__store_fail(store, shape->doing, err);
    sqlite3_reset(stmt);
    return rc;
}

static void bind_key(sqlite3_stmt *stmt, const struct ebb__store_shape *shape, const struct ebb__store_row *row)
{
    if (!shape->key_texts)
        sqlite3_bind_int64(stmt, 1, row->numbers[0]);
    for (int i = 0; i < shape->key_texts; i++)
        ebb__store_bind_text(stmt, i + 1, row->texts[i]);
}

int ebb__store_each(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb__store_shape *shape, int64_t limit,
                    ebb__store_give *give, void *data, struct ebb_err *err)
{
    struct ebb__store_row now = {.numbers = {0}}, last = {.numbers = {0}};
    bool found = true;
    int rc = 0;

    for (int64_t count = 0; !rc && found && (!limit || count < limit); count++) {
        rc = ebb__store_fetch(store, stmt, shape, &now, &found, err);
        if (!rc && found)
            rc = give(data, &now, err);
        if (found)
            bind_key(stmt, shape, &now);
        ebb__store_row_fini(&last);
        last = now;
        memset(&now, 0, sizeof now);
    }
    ebb__store_row_fini(&last);
    return rc;
}
