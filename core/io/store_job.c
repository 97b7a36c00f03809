/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const STATES[] = {"queued", "started", "succeeded", "failed", "cancelling", "cancelled", "unknown"};
#define STATE_COUNT (sizeof STATES / sizeof STATES[0])

const char *ebb_job_state_name(enum ebb_job_state state)
{
    return (size_t)state < STATE_COUNT ? STATES[state] : "unknown";
}

bool ebb_job_state_of(const char *name, enum ebb_job_state *out)
{
    for (size_t i = 0; i < STATE_COUNT; i++)
        if (strcmp(name, STATES[i]) == 0) {
            *out = (enum ebb_job_state)i;
            return true;
        }
    return false;
}

bool ebb_job_state_is_final(enum ebb_job_state state)
{
    return state == EBB_JOB_SUCCEEDED || state == EBB_JOB_FAILED || state == EBB_JOB_CANCELLED;
}

/* ---- ids ---- */

#define IDS_PER_MS ((int64_t)1000000)
#define IDS_PER_TAG ((int64_t)10000)
#define TAG_MAX 100
#define ID_MS_MIN ((int64_t)1000000000000) /* so that there are always 19 digits */
#define ID_MS_MAX ((int64_t)9223372036000)

/* Connections that are open at one time number themselves by a lock on a byte each, whichever process they are of: so
 * no two give the same id, though what one of them has put may not be seen by the other yet. */
static int take_tag(const struct ebb_store *store)
{
    for (int tag = 0; tag < TAG_MAX; tag++) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = tag + 1, .l_len = 1};

        if (fcntl(store->lock_fd, F_OFD_SETLK, &lock) == 0)
            return tag;
    }
    return TAG_MAX - 1;
}

static void write_id(int64_t number, char out[40])
{
    snprintf(out, 40, "job-%019" PRId64, number);
}

/* The greatest id from `first` on in its range that is in the store; first - 1 when there is none. */
static int64_t last_in_store(struct ebb_store *store, int64_t first)
{
    static const char SQL[] = "SELECT max(id) FROM job WHERE id >= ?1 AND id < ?2";
    char from[40], to[40];
    sqlite3_stmt *stmt = NULL;
    const char *text;
    int64_t last = first - 1;

    if (ebb__store_keep(store, SQL, &stmt, NULL))
        return last;
    write_id(first, from);
    write_id(first + IDS_PER_TAG, to);
    ebb__store_bind_text(stmt, 1, from);
    ebb__store_bind_text(stmt, 2, to);
    if (sqlite3_step(stmt) == SQLITE_ROW && (text = (const char *)sqlite3_column_text(stmt, 0)) && strlen(text) > 4)
        last = strtoll(text + 4, NULL, 10);
    sqlite3_reset(stmt);
    return last;
}

void ebb_store_new_job_id(struct ebb_store *store, int64_t now_ms, char out[40])
{
    int64_t ms = now_ms < ID_MS_MIN ? ID_MS_MIN : now_ms > ID_MS_MAX ? ID_MS_MAX : now_ms;
    int64_t first;

    if (store->tag < 0)
        store->tag = take_tag(store);
    if (store->last_job_id / IDS_PER_MS > ms) /* the clock was set back: ids go on ascending */
        ms = store->last_job_id / IDS_PER_MS;
    first = ms * IDS_PER_MS + store->tag * IDS_PER_TAG;
    if (store->last_job_id < first)
        store->last_job_id = last_in_store(store, first);
    while (store->last_job_id + 1 >= first + IDS_PER_TAG) { /* full: the next millisecond */
        first += IDS_PER_MS;
        store->last_job_id = last_in_store(store, first);
    }
    write_id(++store->last_job_id, out);
}

/* ---- putting and changing ---- */

static void bind_texts(sqlite3_stmt *stmt, const struct ebb_job_record *job)
{
    const char *const texts[] = {job->id,     job->kind,       job->template_, job->table, job->uuid,
                                 job->policy, job->occurrence, job->parent,    job->plan,  job->run,
                                 job->code,   job->message,    job->owner,     job->json};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ebb__store_bind_text(stmt, (int)i + 1, texts[i]);
}

static void bind_numbers(sqlite3_stmt *stmt, const struct ebb_job_record *job)
{
    const int64_t numbers[] = {job->state,      job->priority,   job->attempt,  job->queued_ms,  job->not_before_ms,
                               job->started_ms, job->changed_ms, job->ended_ms, job->deadline_ms};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sqlite3_bind_int64(stmt, (int)i + 15, numbers[i]);
}

int ebb__store_write_job(struct ebb_store *store, const struct ebb_job_record *job, bool *is_new, struct ebb_err *err)
{
    static const char SQL[] =
        "INSERT INTO job (id, kind, template, tbl, uuid, policy, occurrence, parent, plan, run, code, message, owner,"
        " json, state, priority, attempt, queued_ms, not_before_ms, started_ms, changed_ms, ended_ms, deadline_ms)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,"
        " ?23) ON CONFLICT (occurrence) WHERE occurrence <> '' DO NOTHING";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    *is_new = false;
    if (rc)
        return rc;
    bind_texts(stmt, job);
    bind_numbers(stmt, job);
    if (sqlite3_step(stmt) == SQLITE_DONE)
        *is_new = sqlite3_changes(store->db) == 1;
    else if (ebb__store_is_taken(store))
        rc = ebb_err_set(err, EBB_EEXIST, "%s: a job with this id is in %s already", job->id, store->path);
    else
        rc = ebb__store_fail(store, "cannot write a job", err);
    sqlite3_reset(stmt);
    return rc;
}

static int check_job(const struct ebb_job_record *job, struct ebb_err *err)
{
    if (!job->id || !*job->id)
        return ebb_err_set(err, EBB_EINTERNAL, "store: a job without an id");
    if ((size_t)job->state >= STATE_COUNT)
        return ebb_err_set(err, EBB_EINTERNAL, "store: job %s: state %d", job->id, (int)job->state);
    return 0;
}

int ebb_store_put_job(struct ebb_store *store, const struct ebb_job_record *job, bool *is_new, struct ebb_err *err)
{
    bool ignored;
    bool *fresh = is_new ? is_new : &ignored;
    int rc = check_job(job, err);

    *fresh = false;
    if (rc)
        return rc;
    if (store->held) {
        rc = ebb__store_hold_job(store, job, err);
        *fresh = !rc;
        return rc;
    }
    rc = ebb__store_begin(store, err);
    if (!rc)
        rc = ebb__store_end(store, ebb__store_write_job(store, job, fresh, err), err);
    if (rc)
        *fresh = false;
    return rc;
}

/* Tell why a job was not changed. */
static int why_not(struct ebb_store *store, const char *id, struct ebb_err *err)
{
    static const char SQL[] = "SELECT state FROM job WHERE id = ?1";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);
    int step;

    if (rc)
        return rc;
    ebb__store_bind_text(stmt, 1, id);
    step = sqlite3_step(stmt);
    if (step == SQLITE_ROW)
        rc = ebb_err_set(err, EBB_ERUN_STATE, "job %s: is %s already", id,
                         ebb_job_state_name((enum ebb_job_state)sqlite3_column_int(stmt, 0)));
    else if (step == SQLITE_DONE)
        rc = ebb_err_set(err, EBB_ENOT_FOUND, "%s: no such job in %s", id, store->path);
    else
        rc = ebb__store_fail(store, "cannot read a job", err);
    sqlite3_reset(stmt);
    return rc;
}

static int change(struct ebb_store *store, const struct ebb_job_record *job, unsigned from, struct ebb_err *err)
{
    static const char SQL[] =
        "UPDATE job SET plan = ?9, run = ?10, code = ?11, message = ?12, state = ?15, attempt = ?17,"
        " not_before_ms = ?19, started_ms = ?20, changed_ms = ?21, ended_ms = ?22, deadline_ms = ?23"
        " WHERE id = ?1 AND (?24 >> state) & 1";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    if (rc)
        return rc;
    bind_texts(stmt, job);
    bind_numbers(stmt, job);
    sqlite3_bind_int64(stmt, 24, (int64_t)from);
    rc = ebb__store_run(store, stmt, "cannot write a job", err);
    if (!rc && sqlite3_changes(store->db) != 1)
        rc = why_not(store, job->id, err);
    return rc;
}

int ebb_store_set_job(struct ebb_store *store, const struct ebb_job_record *job, unsigned from, struct ebb_err *err)
{
    int rc = check_job(job, err);

    if (!rc)
        rc = ebb__store_begin(store, err);
    return rc ? rc : ebb__store_end(store, change(store, job, from, err), err);
}
