/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_events.h"

#include <stdlib.h>

#include "io/store_priv.h"

#define SQL_MAX 1024

static int insert(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb_event *event, bool *is_new,
                  struct ebb_err *err)
{
    const char *const texts[] = {event->source, event->id, event->type, event->table, event->json};
    int rc;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ebb__store_bind_text(stmt, (int)i + 1, texts[i]);
    sqlite3_bind_int64(stmt, 6, event->at_ms);
    sqlite3_bind_int64(stmt, 7, event->received_ms);
    rc = ebb__store_run(store, stmt, "cannot write an event", err);
    *is_new = !rc && sqlite3_changes(store->db) == 1;
    return rc;
}

static int insert_all(struct ebb_store *store, const struct ebb_event *events, size_t count, bool *is_new,
                      size_t *fresh, struct ebb_err *err)
{
    static const char SQL[] = "INSERT INTO event (source, id, type, tbl, json, at_ms, received_ms)"
                              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (source, id) DO NOTHING";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    for (size_t i = 0; !rc && i < count; i++) {
        bool was_new;

        rc = insert(store, stmt, &events[i], &was_new, err);
        *fresh += was_new;
        if (is_new)
            is_new[i] = was_new;
    }
    return rc;
}

int ebb_store_put_events(struct ebb_store *store, const struct ebb_event *events, size_t count, bool *is_new,
                         size_t *fresh, struct ebb_err *err)
{
    size_t number = 0;
    int rc = ebb__store_begin(store, err);

    if (!rc)
        rc = ebb__store_end(store, insert_all(store, events, count, is_new, &number, err), err);
    if (rc)
        number = 0;
    for (size_t i = 0; rc && is_new && i < count; i++)
        is_new[i] = false;
    if (fresh)
        *fresh = number;
    return rc;
}

static const struct ebb__store_shape SHAPE = {.texts = 5, .numbers = 3, .doing = "cannot read an event"};

struct giving {
    ebb_event_cb *cb;
    void *data;
};

static int give(void *data, const struct ebb__store_row *row, struct ebb_err *err)
{
    const struct giving *g = data;
    struct ebb_event event = {
        .seq = row->numbers[0],
        .source = row->texts[0],
        .id = row->texts[1],
        .type = row->texts[2],
        .table = row->texts[3],
        .at_ms = row->numbers[1],
        .received_ms = row->numbers[2],
        .json = row->texts[4],
    };

    return g->cb(g->data, &event, err);
}

static bool is_exact(const char *glob)
{
    return !strchr(glob, '*');
}

static int list_sql(const struct ebb_event_filter *f, struct ebb_buf *sql, struct ebb_err *err)
{
    bool has_index = f->table && f->type && is_exact(f->table); /* else a scan in the order that is wanted is best */

    ebb_buf_puts(sql, "SELECT source, id, type, tbl, json, seq, at_ms, received_ms FROM event ");
    ebb_buf_puts(sql, has_index ? "WHERE " : "NOT INDEXED WHERE ");
    ebb_buf_puts(sql, f->newest_first ? "seq < ?1" : "seq > ?1");
    if (f->table)
        ebb_buf_puts(sql, is_exact(f->table) ? " AND tbl = ?2 AND tbl <> ''" : " AND tbl GLOB ?2");
    if (f->type)
        ebb_buf_puts(sql, " AND type = ?3");
    if (f->source)
        ebb_buf_puts(sql, " AND source = ?4");
    if (f->since_ms)
        ebb_buf_puts(sql, " AND at_ms >= ?5");
    ebb_buf_puts(sql, f->newest_first ? " ORDER BY seq DESC LIMIT :page" : " ORDER BY seq LIMIT :page");
    return ebb_buf_check(sql, "statement of the store", err);
}

static void bind_filter(sqlite3_stmt *stmt, const struct ebb_event_filter *f, const char *pattern)
{
    int64_t first = f->newest_first ? INT64_MAX : INT64_MIN;

    sqlite3_bind_int64(stmt, 1, f->after_seq ? f->after_seq : first);
    if (f->table)
        ebb__store_bind_text(stmt, 2, pattern);
    if (f->type)
        ebb__store_bind_text(stmt, 3, f->type);
    if (f->source)
        ebb__store_bind_text(stmt, 4, f->source);
    if (f->since_ms)
        sqlite3_bind_int64(stmt, 5, f->since_ms);
}

int ebb_store_list_events(struct ebb_store *store, const struct ebb_event_filter *filter, ebb_event_cb *cb, void *data,
                          struct ebb_err *err)
{
    static const struct ebb_event_filter ALL = {.table = NULL};
    const struct ebb_event_filter *f = filter ? filter : &ALL;
    struct giving g = {cb, data};
    sqlite3_stmt *stmt = NULL;
    struct ebb_buf sql, pattern;
    int rc;

    ebb_buf_init(&sql, SQL_MAX);
    ebb_buf_init(&pattern, 4096);
    rc = list_sql(f, &sql, err);
    if (!rc && f->table && is_exact(f->table))
        ebb_buf_puts(&pattern, f->table);
    else if (!rc && f->table)
        rc = ebb__store_glob(f->table, &pattern, err);
    if (!rc)
        rc = ebb_buf_check(&pattern, "table pattern", err);
    if (!rc)
        rc = ebb__store_borrow(store, ebb_buf_cstr(&sql), &stmt, err);
    if (rc)
        goto out;
    bind_filter(stmt, f, ebb_buf_cstr(&pattern));
    rc = ebb__store_each(store, stmt, &SHAPE, f->limit, give, &g, err);
out:
    ebb__store_return(store, stmt);
    ebb_buf_fini(&pattern);
    ebb_buf_fini(&sql);
    return rc;
}

int ebb_store_event_types(struct ebb_store *store, const char *table, struct ebb_strs *out, struct ebb_err *err)
{
    static const char SQL[] = "SELECT type FROM event WHERE type > ?1 AND tbl = ?2 AND tbl <> '' ORDER BY type LIMIT 1";
    sqlite3_stmt *stmt = NULL;
    char *type = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);
    int step = SQLITE_ROW;

    while (!rc && step == SQLITE_ROW) {
        ebb__store_bind_text(stmt, 1, type);
        ebb__store_bind_text(stmt, 2, table);
        step = sqlite3_step(stmt);
        free(type);
        type = NULL;
        if (step == SQLITE_ROW)
            rc = ebb__store_take_text(store, stmt, 0, &type, err);
        else if (step != SQLITE_DONE)
            rc = ebb__store_fail(store, "cannot read an event", err);
        sqlite3_reset(stmt);
        if (!rc && type)
            rc = ebb_strs_add(out, type, err);
    }
    free(type);
    return rc;
}
