/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs in the store and the queue on the loop: what is left over from a process that died, what was put there
 * meanwhile, what was cancelled, and ends that could not be written at once.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "service/daemon_jobs_priv.h"

#define QUEUED_MAX 10000
#define RETRY_MS 10000
#define LIVE ((1u << EBB_JOB_STARTED) | (1u << EBB_JOB_CANCELLING) | (1u << EBB_JOB_UNKNOWN))

struct change {
    struct ebb_store *store;
    unsigned from;
    enum ebb_job_state state;
    const char *message;
    int64_t now_ms;
};

static int on_change(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct change *c = data;
    struct ebb_job_record changed = *job;

    changed.state = c->state;
    changed.changed_ms = c->now_ms;
    changed.ended_ms = ebb_job_state_is_final(c->state) ? c->now_ms : 0;
    if (c->message) {
        changed.code = ebb_error_code(EBB_ECANCELLED);
        changed.message = c->message;
    }
    return ebb_store_set_job(c->store, &changed, c->from, err);
}

int ebb__job_change(struct ebb_store *store, const char *id, unsigned from, enum ebb_job_state state,
                    const char *message, int64_t now_ms, struct ebb_err *err)
{
    struct change c = {store, from, state, message, now_ms};

    return ebb_store_get_job(store, id, on_change, &c, err);
}

/* ---- the queue gets what is queued ---- */

struct listed {
    struct listed *next;
    struct ebb_job_record job;
};
struct task {
    struct ebb__daemon *d;
    bool recovers, withdraws;
    struct ebb_withdrawn withdrawn;
    struct ebb_arena arena;
    struct listed *first;
    size_t count; /* of these */
    int64_t counts[EBB_JOB_UNKNOWN + 1];
    size_t resumed;
    int rc;
    struct ebb_err err;
};

bool ebb__job_keep(struct ebb_arena *arena, const struct ebb_job_record *job, struct ebb_job_record *out)
{
    const char **texts[] = {&out->id,     &out->kind,       &out->template_, &out->table, &out->uuid,
                            &out->policy, &out->occurrence, &out->parent,    &out->plan,  &out->run,
                            &out->code,   &out->message,    &out->owner,     &out->json};

    *out = *job;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = *texts[i] ? *texts[i] : "";

        *texts[i] = ebb_arena_dup(arena, text, strlen(text));
        if (!*texts[i])
            return false;
    }
    return true;
}

static int on_queued(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct task *task = data;
    struct listed *l = ebb_arena_alloc(&task->arena, sizeof *l);

    if (!l || !ebb__job_keep(&task->arena, job, &l->job))
        return ebb_err_nomem(err);
    l->next = task->first;
    task->first = l;
    task->count++;
    return 0;
}

struct left_over {
    struct ebb_strs ids;   /* to be queued again */
    struct ebb_strs ended; /* their end was asked for */
};

static int on_left_over(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct left_over *left = data;

    return ebb_strs_add(job->state == EBB_JOB_CANCELLING ? &left->ended : &left->ids, job->id, err);
}

/* Jobs that were under way when the process died: unknown, then queued again; the worker finds how far they came. One
 * whose end was asked for is not gone on with. */
static int resolve(struct task *task, struct ebb_store *store)
{
    struct ebb_job_filter filter;
    struct left_over left;
    int64_t now_ms = ebb_clock_now(&task->d->clock);
    int rc;

    memset(&filter, 0, sizeof filter);
    filter.states = LIVE;
    ebb_strs_init(&left.ids);
    ebb_strs_init(&left.ended);
    rc = ebb_store_list_jobs(store, &filter, on_left_over, &left, &task->err);
    for (size_t i = 0; !rc && i < left.ids.count; i++) {
        struct ebb__subject subject = {left.ids.items[i], NULL, NULL, NULL};

        ebb__say(&task->d->log, EBB_LOG_WARN, &subject, "job was under way when the process ended: gone on with");
        rc = ebb__job_change(store, left.ids.items[i], LIVE, EBB_JOB_UNKNOWN, NULL, now_ms, &task->err);
        if (!rc)
            rc = ebb__job_change(store, left.ids.items[i], LIVE, EBB_JOB_QUEUED, NULL, now_ms, &task->err);
    }
    for (size_t i = 0; !rc && i < left.ended.count; i++)
        rc = ebb__job_change(store, left.ended.items[i], LIVE, EBB_JOB_CANCELLED, "cancelled on request", now_ms,
                             &task->err);
    if (!rc)
        rc = ebb_withdraw_open_runs(store, now_ms, &task->err);
    task->resumed = left.ids.count;
    ebb_strs_fini(&left.ids);
    ebb_strs_fini(&left.ended);
    return rc;
}

static void work(void *context, void *data)
{
    struct task *task = data;
    struct ebb_worker *worker = context;
    struct ebb_job_filter filter;
    struct ebb_store *store;

    memset(&filter, 0, sizeof filter);
    filter.states = 1u << EBB_JOB_QUEUED;
    filter.limit = QUEUED_MAX;
    task->rc = ebb_worker_ready(worker, &task->err);
    if (!task->rc) {
        store = ebb_workspace_site(worker->ws)->store;
        if (task->recovers)
            task->rc = resolve(task, store);
        if (!task->rc && task->recovers)
            task->rc = ebb_store_count_jobs(store, NULL, task->counts, &task->err);
        if (!task->rc && task->withdraws)
            task->rc = ebb_withdraw_jobs(store, worker->generation, ebb_clock_now(&task->d->clock), &task->withdrawn,
                                         &task->err);
        if (!task->rc)
            task->rc = ebb_store_list_jobs(store, &filter, on_queued, task, &task->err);
    }
    if (worker)
        ebb__worker_done(worker);
}

static void put_listed(struct ebb__daemon *d, const struct task *task)
{
    for (const struct listed *l = task->first; l; l = l->next) {
        bool is_running = false;

        if (ebb_work_queue_has(d->queue, l->job.id, &is_running) && is_running)
            continue;
        if (ebb_work_queue_put(d->queue, &l->job, NULL))
            d->wants_sync = true;
    }
}

void ebb__jobs_withdrawn(struct ebb__daemon *d, const struct ebb_withdrawn *w)
{
    for (size_t i = 0; i < w->ids.count; i++) {
        struct ebb__subject subject = {w->ids.items[i], NULL, NULL, NULL};

        ebb__say(&d->log, EBB_LOG_WARN, &subject, "job withdrawn: its policy is another now, or was removed");
        ebb_work_queue_end(d->queue, w->ids.items[i]);
    }
}

static void recovered(struct ebb__daemon *d, const struct task *task)
{
    d->ended[0] = task->counts[EBB_JOB_SUCCEEDED];
    d->ended[1] = task->counts[EBB_JOB_FAILED];
    d->ended[2] = task->counts[EBB_JOB_CANCELLED];
    if (task->resumed)
        ebb__say(&d->log, EBB_LOG_INFO, NULL, "%zu jobs are gone on with", task->resumed);
    d->is_recovered = true;
}

static void done(void *data)
{
    struct task *task = data;
    struct ebb__daemon *d = task->d;
    bool is_again = d->wants_sync;

    d->is_syncing = d->wants_sync = false;
    ebb__jobs_withdrawn(d, &task->withdrawn);
    if (task->rc) {
        ebb__say(&d->log, EBB_LOG_ERROR, NULL, "jobs can't be read: %s", task->err.message);
        if (ebb__is_store_error(&task->err))
            ebb__daemon_store_failed(d, &task->err);
        d->wants_sync = true;
        d->sync_at_ms = ebb_clock_elapsed_ms() + RETRY_MS;
    } else {
        put_listed(d, task);
        if (task->count >= QUEUED_MAX) { /* there are more */
            d->wants_sync = true;
            d->sync_at_ms = ebb_clock_elapsed_ms() + RETRY_MS;
        }
        if (task->recovers)
            recovered(d, task);
        d->must_withdraw = d->must_withdraw && !task->withdraws;
        if (task->withdraws && d->is_listed)
            ebb__daemon_look_all(d);
    }
    ebb_withdrawn_fini(&task->withdrawn);
    ebb_arena_fini(&task->arena);
    free(task);
    ebb__daemon_dirty(d);
    if (is_again)
        ebb__daemon_sync(d);
    ebb__daemon_work(d);
    ebb__daemon_look(d);
    ebb__daemon_close_more(d);
}

void ebb__daemon_sync(struct ebb__daemon *d)
{
    struct task *task;

    if (d->is_syncing) {
        d->wants_sync = true;
        return;
    }
    if (d->is_draining || d->store_fault.is_set)
        return;
    task = calloc(1, sizeof *task);
    if (!task) {
        d->wants_sync = true;
        return;
    }
    d->wants_sync = false;
    task->d = d;
    task->recovers = !d->is_recovered;
    task->withdraws = task->recovers || d->must_withdraw;
    ebb_arena_init(&task->arena, (size_t)512 << 20);
    d->is_syncing = true;
    if (ebb__daemon_post(d, d->look_pool, work, done, task)) {
        d->is_syncing = false;
        d->wants_sync = true;
        free(task);
    }
}

/* ---- cancelling ---- */

struct cancel {
    struct ebb__daemon *d;
    char id[64];
    char *table; /* of the job: what waits for it there goes on */
};

static int keep_table(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct cancel *c = data;

    c->table = strdup(job->table);
    return c->table ? 0 : ebb_err_nomem(err);
}

static void work_cancel(void *context, void *data)
{
    struct cancel *c = data;
    struct ebb_worker *worker = context;
    int64_t now_ms = ebb_clock_now(&c->d->clock);
    struct ebb_err err;

    if (ebb_worker_ready(worker, &err) == 0) {
        struct ebb_store *store = ebb_workspace_site(worker->ws)->store;

        if (ebb__job_change(store, c->id, 1u << EBB_JOB_QUEUED, EBB_JOB_CANCELLED, "cancelled on request", now_ms,
                            &err) == -(int)EBB_ERUN_STATE)
            ebb__job_change(store, c->id, 1u << EBB_JOB_STARTED, EBB_JOB_CANCELLING, NULL, now_ms, &err);
        ebb_store_get_job(store, c->id, keep_table, c, &err);
    }
    if (worker)
        ebb__worker_done(worker);
}

static void done_cancel(void *data)
{
    struct cancel *c = data;
    struct ebb__daemon *d = c->d;
    struct ebb__table *t = c->table ? ebb__tables_find(&d->tables, c->table) : NULL;

    free(c->table);
    free(c);
    if (t)
        ebb__tables_queue(&d->tables, t);
    ebb__tables_slot_free(&d->tables);
    ebb__daemon_sync(d);
    ebb__daemon_look(d);
    ebb__daemon_close_more(d);
}

void ebb__daemon_cancel(struct ebb__daemon *d, const char *id)
{
    struct ebb__running *r = ebb__running_find(d, id);
    struct cancel *c = calloc(1, sizeof *c);

    if (r)
        ebb__running_stop(r);
    else
        ebb_work_queue_end(d->queue, id);
    if (!c)
        return;
    c->d = d;
    snprintf(c->id, sizeof c->id, "%s", id);
    if (ebb__daemon_post(d, d->look_pool, work_cancel, done_cancel, c))
        free(c);
}

/* ---- ends that are written later ---- */

static void work_late(void *context, void *data)
{
    struct ebb__running *r = data;
    struct ebb_worker *worker = context;
    int rc = ebb_worker_ready(worker, &r->err);

    if (!rc)
        rc = ebb__running_record(r, ebb_workspace_site(worker->ws)->store, &r->err);
    r->outcome = rc && rc != -(int)EBB_ERUN_STATE && rc != -(int)EBB_ENOT_FOUND ? EBB__JOB_UNRECORDED : EBB__JOB_ENDED;
    if (worker)
        ebb__worker_done(worker);
}

static void done_late(void *data)
{
    struct ebb__running *r = data;
    struct ebb__daemon *d = r->d;

    r->is_working = false;
    if (r->outcome == EBB__JOB_ENDED)
        ebb__running_ended(r);
    else
        ebb__daemon_store_failed(d, &r->err);
    ebb__daemon_work(d);
    ebb__daemon_close_more(d);
}

void ebb__jobs_record_late(struct ebb__daemon *d)
{
    for (struct ebb__running *r = d->running; r; r = r->next)
        if (!r->is_working && r->outcome == EBB__JOB_UNRECORDED)
            r->is_working = ebb__daemon_post(d, d->look_pool, work_late, done_late, r) == 0;
}
