/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#include <stdlib.h>

#define PAGE_MOVES 256
#define PAGE_BYTES ((size_t)64 << 20) /* names are at most 32 KiB each */

static int insert(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb_move *m, struct ebb_err *err)
{
    sqlite3_bind_int64(stmt, 2, m->seq);
    sqlite3_bind_int64(stmt, 3, m->batch);
    ebb__store_bind_blob(stmt, 4, m->path);
    ebb__store_bind_blob(stmt, 5, m->target);
    ebb__store_bind_text(stmt, 6, m->id);
    sqlite3_bind_int64(stmt, 7, (int64_t)m->size_bytes);
    sqlite3_bind_int64(stmt, 8, m->mtime_ns);
    sqlite3_bind_int(stmt, 9, (int)m->state);
    ebb__store_bind_text(stmt, 10, m->why);
    return ebb__store_run(store, stmt, "cannot write the journal", err);
}

static int update(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb_move *m, struct ebb_err *err)
{
    int rc;

    sqlite3_bind_int64(stmt, 2, m->seq);
    sqlite3_bind_int(stmt, 3, (int)m->state);
    ebb__store_bind_text(stmt, 4, m->why);
    rc = ebb__store_run(store, stmt, "cannot write the journal", err);
    if (!rc && sqlite3_changes(store->db) != 1)
        rc = ebb_err_set(err, EBB_ESTORE, "%s: the journal has no move %lld of this run", store->path,
                         (long long)m->seq);
    return rc;
}

typedef int write_move(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb_move *m, struct ebb_err *err);

static int write_moves(struct ebb_store *store, const char *sql, const char *run, const struct ebb_move *moves,
                       size_t count, write_move *write, struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc;

    rc = ebb__store_begin(store, err);
    if (rc)
        return rc;
    rc = ebb__store_prepare(store, sql, &stmt, err);
    if (!rc)
        ebb__store_bind_text(stmt, 1, run);
    for (size_t i = 0; !rc && i < count; i++)
        rc = write(store, stmt, &moves[i], err);
    sqlite3_finalize(stmt);
    return ebb__store_end(store, rc, err);
}

int ebb_store_put_moves(struct ebb_store *store, const char *run, const struct ebb_move *moves, size_t count,
                        struct ebb_err *err)
{
    return write_moves(store,
                       "INSERT INTO move (run, seq, batch, path, target, id, size_bytes, mtime_ns, state, why)"
                       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                       run, moves, count, insert, err);
}

int ebb_store_set_moves(struct ebb_store *store, const char *run, const struct ebb_move *moves, size_t count,
                        struct ebb_err *err)
{
    return write_moves(store, "UPDATE move SET state = ?3, why = ?4 WHERE run = ?1 AND seq = ?2", run, moves, count,
                       update, err);
}

/* A page of moves that were copied out of the store. */
struct page {
    struct ebb_arena arena;
    struct ebb_move moves[PAGE_MOVES];
    size_t count;
};

static char *copy_bytes(struct page *page, sqlite3_stmt *stmt, int column, size_t *n)
{
    const void *bytes = sqlite3_column_blob(stmt, column);

    *n = (size_t)sqlite3_column_bytes(stmt, column);
    return ebb_arena_dup(&page->arena, bytes ? bytes : "", *n);
}

static int copy_move(struct ebb_store *store, sqlite3_stmt *stmt, struct page *page, struct ebb_err *err)
{
    struct ebb_move *m = &page->moves[page->count];
    int state = sqlite3_column_int(stmt, 7);
    size_t n;

    if (state < EBB_MOVE_PLANNED || state > EBB_MOVE_CONFLICT)
        return ebb_err_set(err, EBB_ESTORE_CORRUPT, "%s: the journal has a move of state %d", store->path, state);
    m->batch = sqlite3_column_int64(stmt, 0);
    m->seq = sqlite3_column_int64(stmt, 1);
    m->path.p = copy_bytes(page, stmt, 2, &m->path.n);
    m->target.p = copy_bytes(page, stmt, 3, &m->target.n);
    m->id = copy_bytes(page, stmt, 4, &n);
    m->size_bytes = (uint64_t)sqlite3_column_int64(stmt, 5);
    m->mtime_ns = sqlite3_column_int64(stmt, 6);
    m->state = (enum ebb_move_state)state;
    m->why = copy_bytes(page, stmt, 8, &n);
    if (!m->path.p || !m->target.p || !m->id || !m->why)
        return ebb_err_nomem(err);
    page->count++;
    return 0;
}

/* Fill the page with moves after `last`; the statement is idle afterwards, so that callbacks may write. */
static int read_page(struct ebb_store *store, sqlite3_stmt *stmt, int64_t last, struct page *page, struct ebb_err *err)
{
    int rc = 0, step;

    page->count = 0;
    ebb_arena_fini(&page->arena);
    ebb_arena_init(&page->arena, PAGE_BYTES);
    sqlite3_bind_int64(stmt, 2, last);
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW && !rc && page->count < PAGE_MOVES)
        rc = copy_move(store, stmt, page, err);
    if (!rc && step != SQLITE_DONE && step != SQLITE_ROW)
        rc = ebb__store_fail(store, "cannot read the journal", err);
    sqlite3_reset(stmt);
    return rc;
}

static int each_page(struct ebb_store *store, sqlite3_stmt *stmt, struct page *page, ebb_move_cb *cb, void *data,
                     struct ebb_err *err)
{
    int64_t last = INT64_MIN;
    int rc;

    do {
        rc = read_page(store, stmt, last, page, err);
        for (size_t i = 0; !rc && i < page->count; i++) {
            last = page->moves[i].seq;
            rc = cb(data, &page->moves[i], err);
        }
    } while (!rc && page->count == PAGE_MOVES);
    return rc;
}

int ebb_store_list_moves(struct ebb_store *store, const char *run, int state, ebb_move_cb *cb, void *data,
                         struct ebb_err *err)
{
    static const char SQL[] = "SELECT batch, seq, path, target, id, size_bytes, mtime_ns, state, why FROM move"
                              " WHERE run = ?1 AND seq > ?2 AND (?3 < 0 OR state = ?3) ORDER BY seq LIMIT ?4";
    struct page *page = calloc(1, sizeof *page);
    sqlite3_stmt *stmt = NULL;
    int rc;

    if (!page)
        return ebb_err_nomem(err);
    ebb_arena_init(&page->arena, PAGE_BYTES);
    rc = ebb__store_prepare(store, SQL, &stmt, err);
    if (rc)
        goto out;
    ebb__store_bind_text(stmt, 1, run);
    sqlite3_bind_int(stmt, 3, state);
    sqlite3_bind_int(stmt, 4, PAGE_MOVES);
    rc = each_page(store, stmt, page, cb, data, err);
out:
    sqlite3_finalize(stmt);
    ebb_arena_fini(&page->arena);
    free(page);
    return rc;
}
