/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#include <stdlib.h>

#define COLUMNS "id, tbl, uuid, policy, status, at_ms, end_ms, parent, json"
#define SQL_MAX 1024
#define ID_PREFIX_MIN 6

/* A record whose strings are owned. */
struct owned {
    char *text[7]; /* id, table, uuid, policy, status, parent, json */
    int64_t at_ms, end_ms;
};

static void owned_fini(struct owned *o)
{
    for (size_t i = 0; i < 7; i++)
        free(o->text[i]);
    memset(o, 0, sizeof *o);
}

static int owned_take(struct ebb_store *store, sqlite3_stmt *stmt, struct owned *o, struct ebb_err *err)
{
    static const int COLUMN[7] = {0, 1, 2, 3, 4, 7, 8};
    int rc = 0;

    for (int i = 0; !rc && i < 7; i++)
        rc = ebb__store_take_text(store, stmt, COLUMN[i], &o->text[i], err);
    o->at_ms = sqlite3_column_int64(stmt, 5);
    o->end_ms = sqlite3_column_int64(stmt, 6);
    return rc;
}

static int owned_give(const struct owned *o, ebb_record_cb *cb, void *data, struct ebb_err *err)
{
    struct ebb_record record = {
        .id = o->text[0],
        .table = o->text[1],
        .uuid = o->text[2],
        .policy = o->text[3],
        .status = o->text[4],
        .at_ms = o->at_ms,
        .end_ms = o->end_ms,
        .parent = o->text[5],
        .json = o->text[6],
    };

    return cb(data, &record, err);
}

/* sql is a literal. */
static int put(struct ebb_store *store, const char *sql, enum ebb_record_kind kind, const struct ebb_record *r,
               const char *status, struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc;

    if (!r->id || !*r->id)
        return ebb_err_set(err, EBB_EINTERNAL, "store: a record without an id");
    rc = ebb__store_keep(store, sql, &stmt, err);
    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, (int)kind);
    ebb__store_bind_text(stmt, 2, r->id);
    ebb__store_bind_text(stmt, 3, r->table);
    ebb__store_bind_text(stmt, 4, r->uuid);
    ebb__store_bind_text(stmt, 5, r->policy);
    ebb__store_bind_text(stmt, 6, status);
    sqlite3_bind_int64(stmt, 7, r->at_ms);
    sqlite3_bind_int64(stmt, 8, r->end_ms);
    ebb__store_bind_text(stmt, 9, r->parent);
    ebb__store_bind_text(stmt, 10, r->json);
    return ebb__store_run(store, stmt, "cannot write a record", err);
}

#define INSERT_SQL "INSERT INTO record (kind, " COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
static const char INSERT[] = INSERT_SQL;

int ebb__store_write_record(struct ebb_store *store, enum ebb_record_kind kind, const struct ebb_record *record,
                            struct ebb_err *err)
{
    static const char SQL[] = INSERT_SQL
        " ON CONFLICT (kind, id) DO UPDATE SET tbl = excluded.tbl, uuid = excluded.uuid, policy = excluded.policy,"
        " status = excluded.status, at_ms = excluded.at_ms, end_ms = excluded.end_ms, parent = excluded.parent,"
        " json = excluded.json";

    return put(store, SQL, kind, record, record->status, err);
}

int ebb_store_put(struct ebb_store *store, enum ebb_record_kind kind, const struct ebb_record *record,
                  struct ebb_err *err)
{
    int rc;

    if (store->held)
        return ebb__store_hold_record(store, kind, record, err);
    rc = ebb__store_begin(store, err);
    return rc ? rc : ebb__store_end(store, ebb__store_write_record(store, kind, record, err), err);
}

/* The first record of a bound statement; a second one makes *is_more. */
static int fetch(struct ebb_store *store, sqlite3_stmt *stmt, struct owned *o, bool *found, bool *is_more,
                 struct ebb_err *err)
{
    int step = sqlite3_step(stmt);
    int rc = 0;

    *found = step == SQLITE_ROW;
    if (is_more)
        *is_more = false;
    if (step == SQLITE_ROW)
        rc = owned_take(store, stmt, o, err);
    if (!rc && step == SQLITE_ROW && is_more) {
        step = sqlite3_step(stmt);
        *is_more = step == SQLITE_ROW;
    }
    if (!rc && step != SQLITE_ROW && step != SQLITE_DONE)
        rc = ebb__store_fail(store, "cannot read a record", err);
    return rc;
}

static int find_exact(struct ebb_store *store, enum ebb_record_kind kind, const char *id, struct owned *o, bool *found,
                      struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc;

    rc = ebb__store_prepare(store, "SELECT " COLUMNS " FROM record WHERE kind = ?1 AND id = ?2", &stmt, err);
    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, (int)kind);
    ebb__store_bind_text(stmt, 2, id);
    rc = fetch(store, stmt, o, found, NULL, err);
    sqlite3_finalize(stmt);
    return rc;
}

static int find_prefix(struct ebb_store *store, enum ebb_record_kind kind, const char *id, struct owned *o, bool *found,
                       struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    struct ebb_buf above;
    bool is_more = false;
    int rc;

    ebb_buf_init(&above, 256);
    ebb_buf_puts(&above, id);
    ebb_buf_putc(&above, '\xFF'); /* greater than any byte of an id that begins so */
    rc = ebb_buf_check(&above, "record id", err);
    if (!rc)
        rc = ebb__store_prepare(
            store, "SELECT " COLUMNS " FROM record WHERE kind = ?1 AND id > ?2 AND id < ?3 ORDER BY id LIMIT 2", &stmt,
            err);
    if (rc)
        goto out;
    sqlite3_bind_int(stmt, 1, (int)kind);
    ebb__store_bind_text(stmt, 2, id);
    ebb__store_bind_text(stmt, 3, ebb_buf_cstr(&above));
    rc = fetch(store, stmt, o, found, &is_more, err);
    if (!rc && is_more)
        rc = ebb_err_set(err, EBB_ENOT_FOUND, "%s: several ids begin so: give more characters", id);
out:
    sqlite3_finalize(stmt);
    ebb_buf_fini(&above);
    return rc;
}

static const char *kind_name(enum ebb_record_kind kind)
{
    return kind == EBB_RECORD_PLAN ? "plan" : kind == EBB_RECORD_RUN ? "run" : "decision";
}

int ebb_store_get(struct ebb_store *store, enum ebb_record_kind kind, const char *id, ebb_record_cb *cb, void *data,
                  struct ebb_err *err)
{
    struct owned o = {{NULL}, 0, 0};
    bool found = false;
    int rc;

    rc = find_exact(store, kind, id, &o, &found, err);
    if (!rc && !found && strlen(id) >= ID_PREFIX_MIN)
        rc = find_prefix(store, kind, id, &o, &found, err);
    if (!rc && !found)
        rc = ebb_err_set(err, EBB_ENOT_FOUND, "%s: no such %s in %s", id, kind_name(kind), store->path);
    if (!rc)
        rc = owned_give(&o, cb, data, err);
    owned_fini(&o);
    return rc;
}

int ebb__store_glob(const char *glob, struct ebb_buf *out, struct ebb_err *err)
{
    for (const char *p = glob; *p; p++)
        if (*p == '?' || *p == '[')
            ebb_buf_printf(out, "[%c]", *p);
        else if (*p != '*' || p == glob || p[-1] != '*')
            ebb_buf_putc(out, *p);
    return ebb_buf_check(out, "table pattern", err);
}

/* What is under way has an index of its own. */
static bool is_open(const struct ebb_record_filter *f)
{
    return f->status && !strcmp(f->status, "started");
}

static int list_sql(const struct ebb_record_filter *f, struct ebb_buf *sql, struct ebb_err *err)
{
    /* Named, since without statistics the one that is taken may hold every record of a policy. */
    const char *index = f->parent    ? "record_parent"
                        : f->uuid    ? "record_uuid"
                        : f->policy  ? "record_policy"
                        : is_open(f) ? "record_open"
                                     : "record_time";

    ebb_buf_printf(sql, "SELECT " COLUMNS " FROM record INDEXED BY %s WHERE kind = ?1", index);
    ebb_buf_puts(sql, f->newest_first ? " AND (at_ms, id) < (?2, ?3)" : " AND (at_ms, id) > (?2, ?3)");
    if (f->table)
        ebb_buf_puts(sql, " AND tbl GLOB ?4");
    if (f->uuid)
        ebb_buf_puts(sql, " AND uuid = ?5");
    if (f->policy)
        ebb_buf_puts(sql, " AND policy = ?6");
    if (f->status)
        ebb_buf_puts(sql, is_open(f) ? " AND status = 'started'" : " AND status = ?7");
    if (f->parent)
        ebb_buf_puts(sql, " AND parent = ?8");
    if (f->since_ms)
        ebb_buf_puts(sql, " AND at_ms >= ?9");
    ebb_buf_puts(sql, f->newest_first ? " ORDER BY at_ms DESC, id DESC LIMIT 1" : " ORDER BY at_ms, id LIMIT 1");
    return ebb_buf_check(sql, "statement of the store", err);
}

static void bind_filter(sqlite3_stmt *stmt, const struct ebb_record_filter *f, const char *pattern)
{
    if (f->table)
        ebb__store_bind_text(stmt, 4, pattern);
    if (f->uuid)
        ebb__store_bind_text(stmt, 5, f->uuid);
    if (f->policy)
        ebb__store_bind_text(stmt, 6, f->policy);
    if (f->status && !is_open(f))
        ebb__store_bind_text(stmt, 7, f->status);
    if (f->parent)
        ebb__store_bind_text(stmt, 8, f->parent);
    if (f->since_ms)
        sqlite3_bind_int64(stmt, 9, f->since_ms);
}

/* One record a time, each after the one before by (at_ms, id), and no statement open while cb runs: it may write, and
 * so may other processes. */
static int each(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb_record_filter *f, ebb_record_cb *cb,
                void *data, struct ebb_err *err)
{
    struct owned now = {{NULL}, 0, 0}, last = {{NULL}, 0, 0};
    bool found = true;
    int rc = 0;

    last.at_ms = f->after ? f->after_ms : f->newest_first ? INT64_MAX : INT64_MIN;
    last.text[0] = f->after ? strdup(f->after) : NULL;
    if (f->after && !last.text[0])
        return ebb_err_nomem(err);
    for (int64_t count = 0; !rc && found && (!f->limit || count < f->limit); count++) {
        sqlite3_bind_int64(stmt, 2, last.at_ms);
        ebb__store_bind_text(stmt, 3, last.text[0]);
        rc = fetch(store, stmt, &now, &found, NULL, err);
        sqlite3_reset(stmt);
        if (!rc && found)
            rc = owned_give(&now, cb, data, err);
        owned_fini(&last);
        last = now;
        memset(&now, 0, sizeof now);
    }
    owned_fini(&last);
    return rc;
}

int ebb_store_list(struct ebb_store *store, enum ebb_record_kind kind, const struct ebb_record_filter *filter,
                   ebb_record_cb *cb, void *data, struct ebb_err *err)
{
    static const struct ebb_record_filter ALL = {0};
    const struct ebb_record_filter *f = filter ? filter : &ALL;
    sqlite3_stmt *stmt = NULL;
    struct ebb_buf sql, pattern;
    int rc;

    ebb_buf_init(&sql, SQL_MAX);
    ebb_buf_init(&pattern, 4096);
    rc = list_sql(f, &sql, err);
    if (!rc && f->table)
        rc = ebb__store_glob(f->table, &pattern, err);
    if (!rc)
        rc = ebb__store_borrow(store, ebb_buf_cstr(&sql), &stmt, err);
    if (rc)
        goto out;
    sqlite3_bind_int(stmt, 1, (int)kind);
    bind_filter(stmt, f, ebb_buf_cstr(&pattern));
    rc = each(store, stmt, f, cb, data, err);
out:
    ebb__store_return(store, stmt);
    ebb_buf_fini(&pattern);
    ebb_buf_fini(&sql);
    return rc;
}

static int mark_applied(struct ebb_store *store, const struct owned *plan, struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc;

    if (strcmp(plan->text[4], "applied") == 0)
        return ebb_err_set(err, EBB_EPLAN_APPLIED, "plan %s: was applied already", plan->text[0]);
    if (strcmp(plan->text[4], "ready") != 0 && strcmp(plan->text[4], "held") != 0) {
        ebb_err_set(err, EBB_ERUN_STATE, "plan %s: is %s, neither ready nor held", plan->text[0], plan->text[4]);
        ebb_err_hint(err, "make a new one: ebb plan %.256s", plan->text[1]);
        return -(int)EBB_ERUN_STATE;
    }
    rc = ebb__store_prepare(store, "UPDATE record SET status = 'applied' WHERE kind = ?1 AND id = ?2", &stmt, err);
    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, EBB_RECORD_PLAN);
    ebb__store_bind_text(stmt, 2, plan->text[0]);
    rc = ebb__store_run(store, stmt, "cannot claim a plan", err);
    sqlite3_finalize(stmt);
    return rc;
}

static int claim(struct ebb_store *store, const struct ebb_record *plan, const struct ebb_record *run,
                 struct ebb_err *err)
{
    struct owned stored = {{NULL}, 0, 0};
    bool found = false;
    int rc;

    rc = find_exact(store, EBB_RECORD_PLAN, plan->id, &stored, &found, err);
    if (!rc)
        rc = found ? mark_applied(store, &stored, err) : put(store, INSERT, EBB_RECORD_PLAN, plan, "applied", err);
    if (!rc)
        rc = put(store, INSERT, EBB_RECORD_RUN, run, run->status, err);
    owned_fini(&stored);
    return rc;
}

int ebb_store_claim_plan(struct ebb_store *store, const struct ebb_record *plan, const struct ebb_record *run,
                         struct ebb_err *err)
{
    int rc = ebb__store_begin(store, err);

    return rc ? rc : ebb__store_end(store, claim(store, plan, run, err), err);
}
