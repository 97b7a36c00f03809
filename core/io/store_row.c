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

/* Fill a page; the statement is idle afterwards. */
static int read_page(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb__store_shape *shape,
                     struct ebb__store_row *rows, size_t *count, struct ebb_err *err)
{
    int step = SQLITE_ROW, rc = 0;

    *count = 0;
    while (!rc && *count < EBB__STORE_PAGE && (step = sqlite3_step(stmt)) == SQLITE_ROW)
        rc = take(store, stmt, shape, &rows[(*count)++], err);
    if (!rc && step != SQLITE_DONE && step != SQLITE_ROW)
        rc = ebb__store_fail(store, shape->doing, err);
    sqlite3_reset(stmt);
    return rc;
}

static void free_page(struct ebb__store_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ebb__store_row_fini(&rows[i]);
}

/* Read a page after the row whose key is bound, and give it. */
static int give_page(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb__store_shape *shape,
                     struct ebb__store_row *rows, size_t *count, ebb__store_give *give, void *data, struct ebb_err *err)
{
    int rc = read_page(store, stmt, shape, rows, count, err);

    for (size_t i = 0; !rc && i < *count; i++)
        rc = give(data, &rows[i], err);
    return rc;
}

int ebb__store_each(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb__store_shape *shape, int64_t limit,
                    ebb__store_give *give, void *data, struct ebb_err *err)
{
    struct ebb__store_row *pages = calloc((size_t)2 * EBB__STORE_PAGE, sizeof *pages), *now = pages;
    int64_t left = limit ? limit : INT64_MAX;
    size_t count = 0, before = 0;
    int wanted = 0, rc = pages ? 0 : ebb_err_nomem(err);

    while (!rc && count == (size_t)wanted && left > 0) {
        wanted = left < EBB__STORE_PAGE ? (int)left : EBB__STORE_PAGE;
        sqlite3_bind_int(stmt, sqlite3_bind_parameter_index(stmt, ":page"), wanted);
        before = count;
        now = now == pages ? pages + EBB__STORE_PAGE : pages;
        rc = give_page(store, stmt, shape, now, &count, give, data, err);
        free_page(now == pages ? pages + EBB__STORE_PAGE : pages, before);
        if (!rc && count)
            bind_key(stmt, shape, &now[count - 1]);
        left -= (int64_t)count;
    }
    if (pages)
        free_page(now, count);
    free(pages);
    return rc;
}
