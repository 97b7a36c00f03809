/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#define SQL_MAX 2048
#define COLUMNS                                                                                                        \
    "id, kind, template, tbl, uuid, policy, occurrence, parent, plan, run, code, message, owner, json, state,"         \
    " priority, attempt, queued_ms, not_before_ms, started_ms, changed_ms, ended_ms, deadline_ms"

static const struct ebb__store_shape SHAPE = {.texts = 14, .numbers = 9, .key_texts = 1, .doing = "cannot read a job"};

struct giving {
    struct ebb_store *store;
    ebb_job_cb *cb;
    void *data;
};

static int give(void *data, const struct ebb__store_row *row, struct ebb_err *err)
{
    const struct giving *g = data;
    char *const *t = row->texts;
    const int64_t *n = row->numbers;
    struct ebb_job_record job = {
        .id = t[0],
        .kind = t[1],
        .template_ = t[2],
        .table = t[3],
        .uuid = t[4],
        .policy = t[5],
        .occurrence = t[6],
        .parent = t[7],
        .plan = t[8],
        .run = t[9],
        .code = t[10],
        .message = t[11],
        .owner = t[12],
        .json = t[13],
        .state = (enum ebb_job_state)n[0],
        .priority = n[1],
        .attempt = n[2],
        .queued_ms = n[3],
        .not_before_ms = n[4],
        .started_ms = n[5],
        .changed_ms = n[6],
        .ended_ms = n[7],
        .deadline_ms = n[8],
    };

    if (n[0] < EBB_JOB_QUEUED || n[0] > EBB_JOB_UNKNOWN)
        return ebb_err_set(err, EBB_ESTORE_CORRUPT, "%s: job %s has state %lld", g->store->path, t[0], (long long)n[0]);
    return g->cb(g->data, &job, err);
}

int ebb_store_get_job(struct ebb_store *store, const char *id, ebb_job_cb *cb, void *data, struct ebb_err *err)
{
    static const char SQL[] = "SELECT " COLUMNS " FROM job WHERE id = ?1";
    struct giving g = {store, cb, data};
    struct ebb__store_row row = {.numbers = {0}};
    sqlite3_stmt *stmt = NULL;
    bool found = false;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    if (rc)
        return rc;
    ebb__store_bind_text(stmt, 1, id);
    rc = ebb__store_fetch(store, stmt, &SHAPE, &row, &found, err);
    if (!rc && !found)
        rc = ebb_err_set(err, EBB_ENOT_FOUND, "%s: no such job in %s", id, store->path);
    if (!rc)
        rc = give(&g, &row, err);
    ebb__store_row_fini(&row);
    return rc;
}

static void add_states(struct ebb_buf *sql, unsigned states)
{
    const char *between = "";

    ebb_buf_puts(sql, " AND state IN (");
    for (int i = 0; i <= EBB_JOB_UNKNOWN; i++)
        if (states >> i & 1) {
            ebb_buf_printf(sql, "%s%d", between, i);
            between = ", ";
        }
    ebb_buf_puts(sql, ")");
}

static int list_sql(const struct ebb_job_filter *f, struct ebb_buf *sql, struct ebb_err *err)
{
    ebb_buf_puts(sql, "SELECT " COLUMNS " FROM job WHERE ");
    ebb_buf_puts(sql, f->newest_first ? "id < ?1" : "id > ?1");
    if (f->table)
        ebb_buf_puts(sql, " AND tbl GLOB ?2");
    if (f->uuid)
        ebb_buf_puts(sql, " AND uuid = ?3");
    if (f->policy)
        ebb_buf_puts(sql, " AND policy = ?4");
    if (f->kind)
        ebb_buf_puts(sql, " AND kind = ?5");
    if (f->template_)
        ebb_buf_puts(sql, " AND template = ?6");
    if (f->run)
        ebb_buf_puts(sql, " AND run = ?7 AND run <> ''");
    if (f->since_ms)
        ebb_buf_puts(sql, " AND queued_ms >= ?8");
    if (f->states)
        add_states(sql, f->states);
    ebb_buf_puts(sql, f->newest_first ? " ORDER BY id DESC LIMIT :page" : " ORDER BY id LIMIT :page");
    return ebb_buf_check(sql, "statement of the store", err);
}

static void bind_filter(sqlite3_stmt *stmt, const struct ebb_job_filter *f, const char *pattern)
{
    const char *const texts[] = {f->table ? pattern : NULL, f->uuid, f->policy, f->kind, f->template_, f->run};

    ebb__store_bind_text(stmt, 1, f->after ? f->after : f->newest_first ? "\xFF" : "");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i])
            ebb__store_bind_text(stmt, (int)i + 2, texts[i]);
    if (f->since_ms)
        sqlite3_bind_int64(stmt, 8, f->since_ms);
}

int ebb_store_list_jobs(struct ebb_store *store, const struct ebb_job_filter *filter, ebb_job_cb *cb, void *data,
                        struct ebb_err *err)
{
    static const struct ebb_job_filter ALL = {.table = NULL};
    const struct ebb_job_filter *f = filter ? filter : &ALL;
    struct giving g = {store, cb, data};
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
    bind_filter(stmt, f, ebb_buf_cstr(&pattern));
    rc = ebb__store_each(store, stmt, &SHAPE, f->limit, give, &g, err);
out:
    ebb__store_return(store, stmt);
    ebb_buf_fini(&pattern);
    ebb_buf_fini(&sql);
    return rc;
}

int ebb_store_count_jobs(struct ebb_store *store, const char *template_, int64_t counts[EBB_JOB_UNKNOWN + 1],
                         struct ebb_err *err)
{
    static const char SQL[] = "SELECT state, count(*) FROM job WHERE ?1 OR template = ?2 GROUP BY state";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);
    int step;

    memset(counts, 0, (EBB_JOB_UNKNOWN + 1) * sizeof counts[0]);
    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, template_ == NULL);
    ebb__store_bind_text(stmt, 2, template_);
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW) {
        int64_t state = sqlite3_column_int64(stmt, 0);

        if (state >= 0 && state <= EBB_JOB_UNKNOWN)
            counts[state] = sqlite3_column_int64(stmt, 1);
    }
    if (step != SQLITE_DONE)
        rc = ebb__store_fail(store, "cannot count jobs", err);
    sqlite3_reset(stmt);
    return rc;
}

int ebb_store_count_asked_jobs(struct ebb_store *store, int64_t *count, int64_t *bytes, struct ebb_err *err)
{
    static const char SQL[] = "SELECT count(*), sum(length(CAST(json AS BLOB))) FROM job WHERE state IN (0, 1, 4, 6)"
                              " AND (occurrence = '' OR occurrence GLOB 'api *')";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    *count = *bytes = 0;
    if (rc)
        return rc;
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        *count = sqlite3_column_int64(stmt, 0);
        *bytes = sqlite3_column_int64(stmt, 1);
    } else
        rc = ebb__store_fail(store, "cannot count jobs", err);
    sqlite3_reset(stmt);
    return rc;
}

int ebb_store_drop_jobs(struct ebb_store *store, const char *template_, int64_t before_ms, int64_t *dropped,
                        struct ebb_err *err)
{
    static const char SQL[] = "DELETE FROM job WHERE state IN (2, 3, 5) AND (?1 OR template = ?2) AND ended_ms < ?3";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    *dropped = 0;
    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, template_ == NULL);
    ebb__store_bind_text(stmt, 2, template_);
    sqlite3_bind_int64(stmt, 3, before_ms);
    rc = ebb__store_run(store, stmt, "cannot drop jobs", err);
    if (!rc)
        *dropped = sqlite3_changes64(store->db);
    return rc;
}
