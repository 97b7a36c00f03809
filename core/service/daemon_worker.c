/* SPDX-License-Identifier: Apache-2.0
 *
 * Worker threads: each has a workspace for the active generation, and is listed for the status.
 */
#include <stdlib.h>

#include "service/daemon_priv.h"

struct ebb_worker_log {
    const struct ebb_worker_options *options;
    struct ebb__subject subject;
};

static void write_line(void *data, enum ebb_log_level level, const char *message)
{
    struct ebb_worker_log *said = data;
    const struct ebb__log_target *target = said->options->log.data;

    ebb__target_line(target, level, &said->subject, message);
}

void ebb__worker_about(struct ebb_worker *worker, const struct ebb__subject *subject)
{
    static const struct ebb__subject NOTHING;

    worker->said->subject = subject ? *subject : NOTHING;
}

/* ---- who is there ---- */

struct ebb_worker_list *ebb__worker_list_new(void)
{
    struct ebb_worker_list *list = calloc(1, sizeof *list);

    if (list && pthread_mutex_init(&list->lock, NULL)) {
        free(list);
        return NULL;
    }
    return list;
}

void ebb__worker_list_free(struct ebb_worker_list *list)
{
    if (!list)
        return;
    pthread_mutex_destroy(&list->lock);
    free(list);
}

static void enlist(struct ebb_worker_list *list, const struct ebb_worker *worker)
{
    if (!list)
        return;
    pthread_mutex_lock(&list->lock);
    if (list->count < EBB__WORKERS_MAX)
        list->items[list->count++] = (struct ebb__worker_seen){worker, worker->options->pool, "", false};
    pthread_mutex_unlock(&list->lock);
}

static void delist(struct ebb_worker_list *list, const struct ebb_worker *worker)
{
    if (!list)
        return;
    pthread_mutex_lock(&list->lock);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].worker == worker) {
            list->items[i] = list->items[--list->count];
            break;
        }
    pthread_mutex_unlock(&list->lock);
}

static void mark(const struct ebb_worker *worker, bool is_busy)
{
    struct ebb_worker_list *list = worker->options->list;

    if (!list)
        return;
    pthread_mutex_lock(&list->lock);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].worker == worker) {
            list->items[i].is_busy = is_busy;
            snprintf(list->items[i].hash, sizeof list->items[i].hash, "%s",
                     worker->generation ? worker->generation->hash : "");
        }
    pthread_mutex_unlock(&list->lock);
}

void ebb__worker_done(struct ebb_worker *worker)
{
    ebb__worker_about(worker, NULL);
    mark(worker, false);
}

/* ---- life ---- */

void *ebb_worker_new(void *options)
{
    struct ebb_worker *worker = calloc(1, sizeof *worker);

    if (!worker)
        return NULL;
    worker->said = calloc(1, sizeof *worker->said);
    if (!worker->said) {
        free(worker);
        return NULL;
    }
    worker->options = options;
    worker->said->options = options;
    enlist(worker->options->list, worker);
    return worker;
}

static void drop(struct ebb_worker *worker)
{
    ebb_looker_free(worker->looker);
    worker->looker = NULL;
    ebb_workspace_close(worker->ws);
    worker->ws = NULL;
    ebb_generation_unref(worker->generation);
    worker->generation = NULL;
}

void ebb_worker_free(void *data)
{
    struct ebb_worker *worker = data;

    if (!worker)
        return;
    delist(worker->options->list, worker);
    drop(worker);
    free(worker->said);
    free(worker);
}

static int open_workspace(struct ebb_worker *worker, struct ebb_err *err)
{
    struct ebb_workspace_options o;
    int rc;

    memset(&o, 0, sizeof o);
    o.shared = worker->generation->config;
    o.generation = worker->generation;
    o.state_dir = worker->options->state_dir;
    o.clock = worker->options->clock;
    o.log = (struct ebb_log){write_line, worker->said, worker->options->log.level};
    o.cancelled = worker->options->cancelled;
    rc = ebb_workspace_open(&o, false, &worker->ws, err);
    if (!rc)
        rc = ebb_workspace_connect(worker->ws, NULL, NULL, err);
    if (!rc && worker->options->has_looker)
        rc = ebb_looker_new(worker->ws, NULL, worker->options->metrics, &worker->looker, err);
    return rc;
}

/* Whoever moved the audit log away wants a new one to begin. */
static bool is_current(const struct ebb_worker *worker, const struct ebb_generation *active)
{
    const struct ebb_site *site;

    if (!worker->ws || worker->generation != active)
        return false;
    site = ebb_workspace_site(worker->ws);
    if (!site->audit || ebb_audit_is_current(site->audit))
        return true;
    ebb__say(&worker->options->log, EBB_LOG_WARN, NULL, "the audit log was moved or replaced: it is opened anew");
    return false;
}

/* Whoever can't open it can't record anything: the loop finds out whether that is so for all. */
static void tell_failure(const struct ebb_worker *worker)
{
    if (worker->options->hub)
        ebb_hub_post(worker->options->hub, EBB_NOTE_STORE, NULL);
}

int ebb_worker_ready(struct ebb_worker *worker, struct ebb_err *err)
{
    struct ebb_generation *active;
    int rc = 0;

    if (!worker)
        return ebb_err_nomem(err);
    active = worker->options->generation(worker->options->data);
    if (is_current(worker, active)) {
        ebb_generation_unref(active);
    } else {
        drop(worker);
        worker->generation = active;
        rc = open_workspace(worker, err);
        if (rc) {
            drop(worker);
            tell_failure(worker);
        }
    }
    mark(worker, worker->options->tells_end);
    return rc;
}
