/* SPDX-License-Identifier: Apache-2.0
 *
 * Every ten minutes: the store is kept bounded, and runs whose quarantine can be emptied soon are told of or purged.
 * And, while the store can't be written, trying it again.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/time.h"
#include "service/daemon_priv.h"

#define DAY_MS (24 * 3600 * INT64_C(1000))
#define QUARANTINE_MS (7 * DAY_MS)
#define SKIPS_MAX 100000
#define EVENTS_MAX 10000000
#define JOBS_MAX 200000
#define DUE_MAX 1000 /* runs told of at once */

struct due {
    struct due *next;
    char id[64], table[512], policy[80];
    int64_t at_ms; /* when its quarantine may be emptied */
};
struct task {
    struct ebb__daemon *d;
    struct ebb_retention keep;
    bool purges;
    struct due *due;
    size_t due_count;
    int64_t dropped, store_bytes;
    bool has_jobs;
    int rc;
    struct ebb_err err;
};

/* ---- in the worker ---- */

static int on_run(void *data, const struct ebb_record *run, struct ebb_err *err)
{
    struct task *task = data;
    struct due *due;
    int64_t at_ms = run->end_ms + QUARANTINE_MS;

    if (!run->end_ms || (strcmp(run->status, "done") != 0 && strcmp(run->status, "partial") != 0) ||
        at_ms > ebb_clock_now(&task->d->clock) + DAY_MS || task->due_count >= DUE_MAX ||
        strstr(run->json, "\"moved\":0,"))
        return 0;
    due = calloc(1, sizeof *due);
    if (!due)
        return ebb_err_nomem(err);
    snprintf(due->id, sizeof due->id, "%s", run->id);
    snprintf(due->table, sizeof due->table, "%s", run->table);
    snprintf(due->policy, sizeof due->policy, "%s", run->policy);
    due->at_ms = at_ms;
    due->next = task->due;
    task->due = due;
    task->due_count++;
    return 0;
}

/* The run's purge is a job; its occurrence keeps it from being asked for twice. */
static int put_purge(struct task *task, struct ebb_store *store, const struct due *due)
{
    char id[40], occurrence[128], json[160];
    struct ebb_job_record job;
    int64_t now_ms = ebb_clock_now(&task->d->clock);
    bool is_new = false;
    int rc;

    ebb_store_new_job_id(store, now_ms, id);
    snprintf(occurrence, sizeof occurrence, "purge %s %" PRId64, due->id, now_ms / DAY_MS);
    snprintf(json, sizeof json, "{\"runs\":[\"%s\"],\"older_than\":\"7d\"}", due->id);
    memset(&job, 0, sizeof job);
    job.id = id;
    job.kind = "purge";
    job.table = due->table;
    job.occurrence = occurrence;
    job.json = json;
    job.template_ = job.uuid = job.policy = job.parent = job.plan = job.run = job.code = job.message = "";
    job.owner = "serve.purge";
    job.state = EBB_JOB_QUEUED;
    job.queued_ms = job.changed_ms = now_ms;
    rc = ebb_store_put_job(store, &job, &is_new, &task->err);
    task->has_jobs = task->has_jobs || is_new;
    return rc;
}

static int look_for_due(struct task *task, struct ebb_store *store)
{
    struct ebb_record_filter filter;
    int64_t now_ms = ebb_clock_now(&task->d->clock);
    int rc;

    memset(&filter, 0, sizeof filter);
    rc = ebb_store_list(store, EBB_RECORD_RUN, &filter, on_run, task, &task->err);
    for (const struct due *due = task->due; !rc && task->purges && due; due = due->next)
        if (due->at_ms <= now_ms)
            rc = put_purge(task, store, due);
    return rc;
}

static void measure(struct task *task, const char *dir)
{
    static const char *const NAMES[] = {"ebb.db", "ebb.db-wal"};
    char path[4200];
    struct stat st;

    for (size_t i = 0; i < 2; i++)
        if (snprintf(path, sizeof path, "%s/%s", dir, NAMES[i]) < (int)sizeof path && !stat(path, &st))
            task->store_bytes += st.st_size;
}

static void work(void *context, void *data)
{
    struct task *task = data;
    struct ebb_worker *worker = context;
    struct ebb_store *store;

    task->rc = ebb_worker_ready(worker, &task->err);
    if (!task->rc) {
        store = ebb_workspace_site(worker->ws)->store;
        task->rc = ebb_store_prune(store, ebb_clock_now(&task->d->clock), &task->keep, &task->dropped, &task->err);
        if (!task->rc)
            task->rc = look_for_due(task, store);
        measure(task, ebb_store_dir(store));
    }
    if (worker)
        ebb__worker_done(worker);
}

/* ---- on the loop ---- */

void ebb__daemon_notice(struct ebb__daemon *d, const char *kind, const char *key, const struct ebb__subject *subject,
                        const char *id, const char *message, const char *hint)
{
    struct ebb_notice notice = {
        kind, key,        subject->policy ? subject->policy : "", subject->table ? subject->table : "", id, message,
        hint, ebb__now(d)};

    ebb_notify_tell(d->notify, &notice);
}

static void tell_due(struct ebb__daemon *d, const struct task *task)
{
    int64_t now_ms = ebb__now(d);

    for (const struct due *due = task->due; due; due = due->next) {
        struct ebb__subject subject = {NULL, due->id, due->policy, due->table};
        struct ebb_buf text;
        char key[96];

        if (due->at_ms < now_ms && !task->purges)
            continue;
        ebb_buf_init(&text, 256);
        ebb_buf_puts(&text, task->purges ? "its quarantine is emptied at " : "its quarantine may be emptied from ");
        ebb_time_iso(&text, due->at_ms);
        snprintf(key, sizeof key, "purge-due %s", due->id);
        ebb__daemon_notice(d, "purge-due", key, &subject, due->id, ebb_buf_cstr(&text),
                           "ebb restore puts the files back as long as they are there");
        ebb_buf_fini(&text);
    }
}

static void done(void *data)
{
    struct task *task = data;
    struct ebb__daemon *d = task->d;

    d->is_cleaning = false;
    ebb_metrics_add(d->metrics, EBB_METRIC_RECORDS_DROPPED, NULL, task->dropped);
    ebb_metrics_set(d->metrics, EBB_METRIC_STORE_BYTES, NULL, (double)task->store_bytes);
    if (task->dropped)
        ebb__say(&d->log, EBB_LOG_INFO, NULL, "records that are past their time were dropped: %" PRId64, task->dropped);
    tell_due(d, task);
    if (task->rc) {
        ebb__say(&d->log, EBB_LOG_ERROR, NULL, "housekeeping failed: %s", task->err.message);
        if (ebb__is_store_error(&task->err))
            ebb__daemon_store_failed(d, &task->err);
    }
    if (task->has_jobs)
        ebb__daemon_sync(d);
    while (task->due) {
        struct due *due = task->due;

        task->due = due->next;
        free(due);
    }
    free(task);
    ebb__daemon_close_more(d);
}

/* A clock that was set far forward makes everything look old enough: a day is left to see that it was a mistake. */
static bool is_doubtful(const struct ebb__daemon *d)
{
    return d->ahead_elapsed_ms && ebb_clock_elapsed_ms() - d->ahead_elapsed_ms < DAY_MS;
}

void ebb__daemon_clean(struct ebb__daemon *d)
{
    const struct ebb_serve_config *serve = &d->generation->config->serve;
    struct task *task;

    d->clean_at_ms = ebb_clock_elapsed_ms() + EBB__HOUSEKEEPING_MS;
    if (d->reload_fault.is_set) /* what was in the way may be gone */
        ebb__daemon_reload(d, "housekeeping", false);
    if (d->is_cleaning || d->is_draining || d->store_fault.is_set)
        return;
    task = calloc(1, sizeof *task);
    if (!task)
        return;
    task->d = d;
    task->purges = serve->purge && !is_doubtful(d);
    task->keep = (struct ebb_retention){.skips_max = SKIPS_MAX,
                                        .skips_ms = serve->keep_decisions_ms,
                                        .decisions_ms = serve->keep_decisions_ms,
                                        .jobs_ms = serve->keep_jobs_ms,
                                        .events_ms = serve->keep_events_ms,
                                        .events_max = EVENTS_MAX,
                                        .jobs_max = JOBS_MAX};
    d->is_cleaning = true;
    if (ebb__daemon_post(d, d->look_pool, work, done, task)) {
        d->is_cleaning = false;
        free(task);
    }
}

/* ---- a store that can't be written ---- */

struct probe {
    struct ebb__daemon *d;
    int rc;
    struct ebb_err err;
};

static void work_probe(void *context, void *data)
{
    struct probe *p = data;
    struct ebb_worker *worker = context;
    char now[32];

    snprintf(now, sizeof now, "%" PRId64, ebb_clock_now(&p->d->clock));
    p->rc = ebb_worker_ready(worker, &p->err);
    if (!p->rc)
        p->rc = ebb_audit_check(ebb_workspace_site(worker->ws)->audit, &p->err);
    if (!p->rc)
        p->rc = ebb_store_put_value(ebb_workspace_site(worker->ws)->store, "daemon", "probe", now, &p->err);
    if (worker)
        ebb__worker_done(worker);
}

static void done_probe(void *data)
{
    struct probe *p = data;
    struct ebb__daemon *d = p->d;
    bool is_ok = !p->rc, is_mended = is_ok && d->store_fault.is_set;

    if (is_ok)
        d->store_try_ms = ebb_clock_elapsed_ms() + EBB__STORE_DOUBT_MS;
    if (is_mended) {
        d->store_fault.is_set = false;
        ebb__say(&d->log, EBB_LOG_WARN, NULL, "the store can be written again: work goes on");
    } else if (!is_ok) {
        ebb__daemon_store_failed(d, &p->err);
    }
    free(p);
    ebb__daemon_dirty(d);
    if (is_ok) {
        ebb__daemon_jobs_tick(d);
        ebb__daemon_sync(d);
        is_mended ? ebb__daemon_look_all(d) : ebb__daemon_look(d); /* looks that failed for it wait no longer */
    }
    ebb__daemon_close_more(d);
}

void ebb__daemon_probe(struct ebb__daemon *d)
{
    struct probe *p = calloc(1, sizeof *p);

    d->wants_probe = false;
    d->store_try_ms = ebb_clock_elapsed_ms() + EBB__STORE_RETRY_MS;
    if (!p)
        return;
    p->d = d;
    if (ebb__daemon_post(d, d->look_pool, work_probe, done_probe, p))
        free(p);
}
