/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs: those that are queued in the store are mirrored in the queue; what may start goes to a worker, which records
 * the start, carries it out and records the end.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "service/daemon_jobs_priv.h"

#define PAUSED_MS 60000 /* how long a queued job of something paused is put aside */
#define RETRY_MS 10000  /* after a start that was not recorded */

/* ---- in the worker ---- */

static int record_start(struct ebb__running *r, const struct ebb_site *site, int64_t now_ms)
{
    int rc = ebb_audit_check(site->audit, &r->err); /* what it does has to be recorded there, too */

    if (rc)
        return rc;
    r->job.state = EBB_JOB_STARTED;
    r->job.attempt++;
    r->job.started_ms = r->job.changed_ms = now_ms;
    return ebb_store_set_job(site->store, &r->job, 1u << EBB_JOB_QUEUED, &r->err);
}

static void set_failure(struct ebb__running *r, const char *code, const char *message)
{
    r->job.code = code;
    r->job.message = message;
}

/* A stop ends a job in another way, whoever asked for it: a person, its deadline, or the end of the process, after
 * which it is gone on with. */
static void settle_stopped(struct ebb__running *r)
{
    int why = atomic_load(&r->why);
    bool is_stopped = r->result.err.error == EBB_ECANCELLED || r->result.state == EBB_JOB_CANCELLED ||
                      r->result.state == EBB_JOB_QUEUED;

    if (!is_stopped || why == EBB__STOP_NOT)
        return;
    if (why == EBB__STOP_DRAIN) {
        r->job.state = r->result.state == EBB_JOB_QUEUED ? EBB_JOB_QUEUED : EBB_JOB_UNKNOWN;
        r->job.ended_ms = 0;
        set_failure(r, "", "");
    } else if (why == EBB__STOP_ASKED) {
        r->job.state = EBB_JOB_CANCELLED;
        set_failure(r, ebb_error_code(EBB_ECANCELLED), "cancelled on request");
    } else {
        r->job.state = EBB_JOB_FAILED;
        set_failure(r, ebb_error_code(EBB_ECANCELLED), "interrupted: its deadline is over");
    }
    if (r->job.state == EBB_JOB_CANCELLED || r->job.state == EBB_JOB_FAILED)
        r->job.ended_ms = r->job.changed_ms;
}

static void settle(struct ebb__running *r, int64_t now_ms)
{
    const struct ebb_work_result *result = &r->result;
    bool has_failed = result->err.error != EBB_OK;

    r->job.state = result->state;
    r->job.changed_ms = now_ms;
    r->job.ended_ms = ebb_job_state_is_final(result->state) ? now_ms : 0;
    r->job.not_before_ms = result->not_before_ms;
    r->job.plan = result->plan[0] ? result->plan : r->job.plan;
    r->job.run = result->run[0] ? result->run : r->job.run;
    set_failure(r, has_failed ? ebb_error_code(result->err.error) : "", has_failed ? result->err.message : "");
    settle_stopped(r);
}

int ebb__running_record(struct ebb__running *r, struct ebb_store *store, struct ebb_err *err)
{
    int rc = ebb_store_set_job(store, &r->job, 1u << EBB_JOB_STARTED, err);

    if (rc != -(int)EBB_ERUN_STATE)
        return rc;
    /* Someone asked for its end meanwhile: what was to be tried again is not. */
    if (r->job.state == EBB_JOB_QUEUED || r->job.state == EBB_JOB_UNKNOWN) {
        r->job.state = EBB_JOB_CANCELLED;
        r->job.ended_ms = r->job.changed_ms;
    }
    return ebb_store_set_job(store, &r->job, 1u << EBB_JOB_CANCELLING, err);
}

struct beginning {
    const struct ebb__running *r;
    struct ebb_worker *worker;
    char run[40];
};

/* From now on each line names the run, too. */
static void on_began(void *data, const char *run)
{
    struct beginning *b = data;
    struct ebb__subject about = b->r->subject;

    snprintf(b->run, sizeof b->run, "%s", run);
    about.run = b->run;
    ebb__worker_about(b->worker, &about);
    ebb__say(&b->r->d->log, EBB_LOG_INFO, &about, "run begun");
}

static void carry_out(struct ebb__running *r, struct ebb_worker *worker)
{
    struct beginning beginning = {.r = r, .worker = worker};
    struct ebb__daemon *d = r->d;
    struct ebb_work_context context;
    int rc;

    memset(&context, 0, sizeof context);
    context.ws = worker->ws;
    context.hub = d->hub;
    context.metrics = d->metrics;
    context.cancelled = &r->cancelled;
    context.began = on_began;
    context.began_data = &beginning;
    context.executables = &worker->generation->config->serve.executables;
    ebb__say(&d->log, EBB_LOG_INFO, &r->subject, "job started: %s, attempt %" PRId64, r->job.kind, r->job.attempt);
    ebb__daemon_news(d, "job", "job", r->job.id, "state", "started", "table", r->job.table, "policy", r->job.policy,
                     NULL);
    ebb_work_run(&context, &r->job, &r->result);
    ebb__worker_about(worker, &r->subject);
    settle(r, ebb_clock_now(&d->clock));
    rc = ebb__running_record(r, ebb_workspace_site(worker->ws)->store, &r->err);
    r->outcome = !rc                                                        ? EBB__JOB_ENDED
                 : rc == -(int)EBB_ERUN_STATE || rc == -(int)EBB_ENOT_FOUND ? EBB__JOB_GONE
                                                                            : EBB__JOB_UNRECORDED;
}

/* It waited until its time was over: what it was for is pending again, for when the guards let it. */
static int put_off(struct ebb__running *r, const struct ebb_worker *worker)
{
    bool did;

    return ebb_withdraw_job(ebb_workspace_site(worker->ws)->store, worker->generation, r->job.id, 1u << EBB_JOB_QUEUED,
                            "its time was over before it began: it is decided again", ebb_clock_now(&r->d->clock), &did,
                            &r->err);
}

static void work(void *context, void *data)
{
    struct ebb__running *r = data;
    struct ebb_worker *worker = context;
    int rc = ebb_worker_ready(worker, &r->err);

    r->outcome = EBB__JOB_NOT_BEGUN;
    if (!rc && ebb_withdraw_is_too_late(&r->job, ebb_clock_now(&r->d->clock))) {
        if (!put_off(r, worker))
            r->outcome = EBB__JOB_GONE;
    } else if (!rc) {
        ebb__worker_about(worker, &r->subject);
        rc = record_start(r, ebb_workspace_site(worker->ws), ebb_clock_now(&r->d->clock));
        if (rc == -(int)EBB_ERUN_STATE || rc == -(int)EBB_ENOT_FOUND)
            r->outcome = EBB__JOB_GONE;
        else if (!rc)
            carry_out(r, worker);
    }
    if (worker)
        ebb__worker_done(worker);
}

/* ---- back on the loop ---- */

static void unlink_running(struct ebb__running *r)
{
    struct ebb__running **at = &r->d->running;

    while (*at && *at != r)
        at = &(*at)->next;
    if (*at)
        *at = r->next;
}

static void free_running(struct ebb__running *r)
{
    unlink_running(r);
    ebb_arena_fini(&r->arena);
    free(r);
}

static void tell_notices(struct ebb__running *r)
{
    char key[160];

    if (r->result.is_held && r->result.plan[0]) {
        snprintf(key, sizeof key, "held %s", r->result.plan);
        ebb__daemon_notice(r->d, "held", key, &r->subject, r->result.plan, "a plan waits to be looked at",
                           "ebb show tells what is in it, ebb apply carries it out");
    } else if (r->job.state == EBB_JOB_FAILED) {
        snprintf(key, sizeof key, "failed %s", r->job.id);
        ebb__daemon_notice(r->d, "failed", key, &r->subject, r->job.id, r->job.message, r->result.err.hint);
    }
}

static void count_end(struct ebb__running *r)
{
    struct ebb__daemon *d = r->d;

    if (!ebb_job_state_is_final(r->job.state))
        return;
    d->ended[r->job.state == EBB_JOB_SUCCEEDED ? 0 : r->job.state == EBB_JOB_FAILED ? 1 : 2]++;
    ebb_metrics_add(d->metrics, EBB_METRIC_JOBS_ENDED, ebb_job_state_name(r->job.state), 1);
    ebb_metrics_observe(d->metrics, EBB_METRIC_JOB_SECONDS, (double)(ebb_clock_elapsed_ms() - r->start_ms) / 1000);
}

/* The end is in the store. */
void ebb__running_ended(struct ebb__running *r)
{
    struct ebb__daemon *d = r->d;
    struct ebb__table *t = ebb__tables_find(&d->tables, r->job.table);
    struct ebb__subject about = r->subject;
    bool is_again = r->job.state == EBB_JOB_QUEUED;

    about.run = r->job.run;
    ebb__say(&d->log, r->job.state == EBB_JOB_FAILED ? EBB_LOG_WARN : EBB_LOG_INFO, &about, "job ended: %s%s%s%s%s",
             is_again ? "to be tried again" : ebb_job_state_name(r->job.state), r->result.status[0] ? ", " : "",
             r->result.status, r->job.message[0] ? ": " : "", r->job.message);
    if (ebb__is_store_error(&r->result.err) && !d->store_fault.is_set)
        ebb__daemon_probe(d);
    count_end(r);
    tell_notices(r);
    ebb__daemon_news(d, "job", "job", r->job.id, "state", ebb_job_state_name(r->job.state), "table", r->job.table,
                     "policy", r->job.policy, "plan", r->job.plan, "run", r->job.run, NULL);
    ebb_work_queue_end(d->queue, r->job.id);
    if (is_again && ebb_work_queue_put(d->queue, &r->job, NULL))
        d->wants_sync = true;
    if (t)
        ebb__tables_queue(&d->tables, t);
    ebb__tables_slot_free(&d->tables);
    free_running(r);
}

static void put_back(struct ebb__running *r)
{
    struct ebb__daemon *d = r->d;

    ebb__say(&d->log, EBB_LOG_ERROR, &r->subject, "job can't be started: %s", r->err.message);
    if (ebb__is_store_error(&r->err))
        ebb__daemon_store_failed(d, &r->err);
    ebb_work_queue_end(d->queue, r->job.id);
    r->job.state = EBB_JOB_QUEUED;
    r->job.attempt = r->attempt_before;
    r->job.changed_ms = ebb__now(d);
    r->job.not_before_ms = r->job.changed_ms + RETRY_MS;
    if (ebb_work_queue_put(d->queue, &r->job, NULL))
        d->wants_sync = true;
    free_running(r);
}

/* What waits for it on its table goes on. */
static void gone(struct ebb__running *r)
{
    struct ebb__daemon *d = r->d;
    struct ebb__table *t = ebb__tables_find(&d->tables, r->job.table);

    ebb_work_queue_end(d->queue, r->job.id);
    if (t)
        ebb__tables_queue(&d->tables, t);
    ebb__tables_slot_free(&d->tables);
    free_running(r);
}

static void done(void *data)
{
    struct ebb__running *r = data;
    struct ebb__daemon *d = r->d;

    r->is_working = false;
    switch (r->outcome) {
    case EBB__JOB_NOT_BEGUN:
        put_back(r);
        break;
    case EBB__JOB_GONE:
        gone(r);
        break;
    case EBB__JOB_UNRECORDED: /* it keeps its slot and its lock until that is written */
        ebb__say(&d->log, EBB_LOG_ERROR, &r->subject, "end of the job can't be recorded: %s", r->err.message);
        ebb__daemon_store_failed(d, &r->err);
        break;
    case EBB__JOB_ENDED:
        ebb__running_ended(r);
        break;
    }
    ebb__daemon_dirty(d);
    if (d->wants_sync)
        ebb__daemon_sync(d);
    ebb__daemon_work(d);
    ebb__daemon_look(d);
    ebb__daemon_close_more(d);
}

/* ---- sending ---- */

static struct ebb__running *make_running(struct ebb__daemon *d, const struct ebb_job_record *job)
{
    struct ebb__running *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->d = d;
    r->start_ms = ebb_clock_elapsed_ms();
    r->attempt_before = job->attempt;
    atomic_init(&r->cancelled, false);
    atomic_init(&r->why, EBB__STOP_NOT);
    ebb_arena_init(&r->arena, (size_t)64 << 20);
    if (ebb__job_keep(&r->arena, job, &r->job)) {
        r->subject = (struct ebb__subject){r->job.id, NULL, r->job.policy, r->job.table};
        return r;
    }
    ebb_arena_fini(&r->arena);
    free(r);
    return NULL;
}

/* A pause holds what people asked for, too; but what puts files back is a remedy. */
static bool is_paused(const struct ebb__daemon *d, const struct ebb_job_record *job)
{
    return strcmp(job->kind, "restore") != 0 &&
           (ebb__pause_has(&d->paused, "all", NULL) || ebb__pause_has(&d->paused, "table", job->table) ||
            (job->policy[0] && ebb__pause_has(&d->paused, "policy", job->policy)));
}

/* A job that does not begin now: back into the queue, for later. */
static void put_aside(struct ebb__daemon *d, struct ebb__running *r, int64_t wait_ms)
{
    ebb_work_queue_end(d->queue, r->job.id);
    r->job.changed_ms = ebb__now(d); /* that is from when it waits */
    r->job.not_before_ms = r->job.changed_ms + wait_ms;
    ebb_work_queue_put(d->queue, &r->job, NULL);
    ebb_arena_fini(&r->arena);
    free(r);
}

static bool start(struct ebb__daemon *d, const struct ebb_job_record *job)
{
    struct ebb__running *r = make_running(d, job);

    if (!r) {
        ebb_work_queue_end(d->queue, job->id);
        d->wants_sync = true;
        return false;
    }
    if (is_paused(d, job)) {
        put_aside(d, r, PAUSED_MS);
        return true;
    }
    if (ebb__daemon_post(d, d->job_pool, work, done, r)) {
        put_aside(d, r, RETRY_MS);
        return false;
    }
    r->is_working = true;
    r->next = d->running;
    d->running = r;
    return true;
}

void ebb__daemon_work(struct ebb__daemon *d)
{
    size_t most = ebb_work_queue_waiting(d->queue) + 1;

    while (most-- && ebb__daemon_may_start(d) && !d->is_switching) {
        int64_t wake_ms;
        const struct ebb_job_record *job = ebb_work_queue_take(d->queue, ebb__now(d), &wake_ms);

        if (!job || !start(d, job))
            return;
        ebb__daemon_dirty(d);
    }
}

/* ---- stopping ---- */

static void stop(struct ebb__running *r, int why)
{
    int none = EBB__STOP_NOT;

    atomic_compare_exchange_strong(&r->why, &none, why);
    atomic_store(&r->cancelled, true);
}

struct ebb__running *ebb__running_find(struct ebb__daemon *d, const char *id)
{
    struct ebb__running *r = d->running;

    while (r && strcmp(r->job.id, id) != 0)
        r = r->next;
    return r;
}

void ebb__running_stop(struct ebb__running *r)
{
    stop(r, EBB__STOP_ASKED);
}

void ebb__daemon_stop_jobs(struct ebb__daemon *d)
{
    for (struct ebb__running *r = d->running; r; r = r->next)
        stop(r, EBB__STOP_DRAIN);
}

void ebb__daemon_jobs_tick(struct ebb__daemon *d)
{
    int64_t now_ms = ebb__now(d);

    for (struct ebb__running *r = d->running; r; r = r->next)
        if (r->job.deadline_ms && now_ms > r->job.deadline_ms && r->is_working)
            stop(r, EBB__STOP_DEADLINE);
    if (ebb_work_queue_waiting(d->queue))
        ebb__daemon_work(d);
    if (!d->store_fault.is_set)
        ebb__jobs_record_late(d);
}
