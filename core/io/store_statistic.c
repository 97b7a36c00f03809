/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_objects.h"

#include "io/store_priv.h"

#define SQL_MAX 1024

static void bind_key(sqlite3_stmt *stmt, const struct ebb_statistic *item)
{
    ebb__store_bind_text(stmt, 1, item->table);
    ebb__store_bind_text(stmt, 2, item->partition);
    ebb__store_bind_text(stmt, 3, item->name);
}

static int put_all(struct ebb_store *store, const struct ebb_statistic *items, size_t count, struct ebb_err *err)
{
    static const char SQL[] =
        "INSERT INTO statistic (tbl, part, name, json, creator, modifier, created_ms, modified_ms)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (tbl, part, name) DO UPDATE SET json = excluded.json,"
        " modifier = excluded.modifier, modified_ms = excluded.modified_ms";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    for (size_t i = 0; !rc && i < count; i++) {
        bind_key(stmt, &items[i]);
        ebb__store_bind_text(stmt, 4, items[i].json);
        ebb__store_bind_text(stmt, 5, items[i].creator);
        ebb__store_bind_text(stmt, 6, items[i].modifier);
        sqlite3_bind_int64(stmt, 7, items[i].created_ms);
        sqlite3_bind_int64(stmt, 8, items[i].modified_ms);
        rc = ebb__store_run(store, stmt, "cannot write statistics", err);
    }
    return rc;
}

/* Whether what a table has now, in the transaction, is within the bounds. */
static int check_bounds(struct ebb_store *store, const char *table, struct ebb_err *err)
{
    static const char SQL[] = "SELECT count(*), sum(length(CAST(part AS BLOB)) + length(CAST(name AS BLOB))"
                              " + length(CAST(json AS BLOB))) FROM statistic WHERE tbl = ?1";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    if (rc)
        return rc;
    ebb__store_bind_text(stmt, 1, table);
    if (sqlite3_step(stmt) != SQLITE_ROW)
        rc = ebb__store_fail(store, "cannot count statistics", err);
    else if (sqlite3_column_int64(stmt, 0) > EBB_STATISTICS_MAX)
        rc = ebb_err_set(err, EBB_ELIMIT, "%s can't have more than %d statistics", table, EBB_STATISTICS_MAX);
    else if (sqlite3_column_int64(stmt, 1) > (int64_t)EBB_STATISTICS_MAX_BYTES)
        rc = ebb_err_set(err, EBB_ELIMIT, "the statistics of %s can't be longer than %zu bytes", table,
                         EBB_STATISTICS_MAX_BYTES);
    sqlite3_reset(stmt);
    return rc;
}

int ebb_store_put_statistics(struct ebb_store *store, const struct ebb_statistic *items, size_t count,
                             struct ebb_err *err)
{
    int rc = ebb__store_begin(store, err);

    if (rc)
        return rc;
    rc = put_all(store, items, count, err);
    for (size_t i = 0; !rc && i < count; i++)
        if (i == 0 || strcmp(items[i].table, items[i - 1].table) != 0)
            rc = check_bounds(store, items[i].table, err);
    return ebb__store_end(store, rc, err);
}

static int drop_all(struct ebb_store *store, const struct ebb_statistic *items, size_t count, bool *dropped,
                    struct ebb_err *err)
{
    static const char SQL[] = "DELETE FROM statistic WHERE tbl = ?1 AND part = ?2 AND name = ?3";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    for (size_t i = 0; !rc && i < count; i++) {
        bind_key(stmt, &items[i]);
        rc = ebb__store_run(store, stmt, "cannot drop statistics", err);
        *dropped = *dropped || (!rc && sqlite3_changes(store->db) > 0);
    }
    return rc;
}

int ebb_store_drop_statistics(struct ebb_store *store, const struct ebb_statistic *items, size_t count, bool *dropped,
                              struct ebb_err *err)
{
    int rc = ebb__store_begin(store, err);

    *dropped = false;
    if (!rc)
        rc = ebb__store_end(store, drop_all(store, items, count, dropped, err), err);
    if (rc)
        *dropped = false;
    return rc;
}

static const struct ebb__store_shape SHAPE = {
    .texts = 6, .numbers = 2, .key_texts = 2, .doing = "cannot read statistics"};

struct giving {
    const char *table;
    ebb_statistic_cb *cb;
    void *data;
};

static int give(void *data, const struct ebb__store_row *row, struct ebb_err *err)
{
    const struct giving *g = data;
    struct ebb_statistic item = {
        .table = g->table,
        .partition = row->texts[0],
        .name = row->texts[1],
        .json = row->texts[2],
        .creator = row->texts[3],
        .modifier = row->texts[4],
        .created_ms = row->numbers[0],
        .modified_ms = row->numbers[1],
    };

    return g->cb(g->data, &item, err);
}

static int list_sql(const struct ebb_statistic_filter *f, struct ebb_buf *sql, struct ebb_err *err)
{
    ebb_buf_puts(sql, "SELECT part, name, json, creator, modifier, tbl, created_ms, modified_ms FROM statistic"
                      " WHERE (part, name) > (?1, ?2) AND tbl = ?3");
    ebb_buf_puts(sql, f->of_partitions ? " AND part <> ''" : " AND part = ''");
    if (f->from)
        ebb_buf_puts(sql, f->is_from_open ? " AND part > ?4" : " AND part >= ?4");
    if (f->to)
        ebb_buf_puts(sql, f->is_to_closed ? " AND part <= ?5" : " AND part < ?5");
    ebb_buf_puts(sql, " ORDER BY part, name LIMIT :page");
    return ebb_buf_check(sql, "statement of the store", err);
}

int ebb_store_list_statistics(struct ebb_store *store, const struct ebb_statistic_filter *filter, ebb_statistic_cb *cb,
                              void *data, struct ebb_err *err)
{
    struct giving g = {filter->table, cb, data};
    sqlite3_stmt *stmt = NULL;
    struct ebb_buf sql;
    int rc;

    ebb_buf_init(&sql, SQL_MAX);
    rc = list_sql(filter, &sql, err);
    if (!rc)
        rc = ebb__store_prepare(store, ebb_buf_cstr(&sql), &stmt, err);
    if (rc)
        goto out;
    ebb__store_bind_text(stmt, 1, "");
    ebb__store_bind_text(stmt, 2, "");
    ebb__store_bind_text(stmt, 3, filter->table);
    if (filter->from)
        ebb__store_bind_text(stmt, 4, filter->from);
    if (filter->to)
        ebb__store_bind_text(stmt, 5, filter->to);
    rc = ebb__store_each(store, stmt, &SHAPE, 0, give, &g, err);
out:
    sqlite3_finalize(stmt);
    ebb_buf_fini(&sql);
    return rc;
}
