/* SPDX-License-Identifier: Apache-2.0
 *
 * What the catalogs hold is listed again now and then, in a worker's thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/daemon_priv.h"
#include "service/metalake_policies.h"

/* Listing takes at most this part of the time; the smaller one where changes are told by the folders themselves. */
#define SHARE_WATCHED 200
#define SHARE_POLLED 20

struct task {
    struct ebb__daemon *d;
    struct ebb__view *before, *after;
    int watch_fd;
    int64_t changes;         /* of policies that servers keep, ever */
    bool is_uncounted;       /* the store did not tell them */
    int64_t sync_ms;         /* how long reading those policies took */
    struct ebb_err sync_err; /* of the first server whose policies could not be read; EBB_OK none */
    struct ebb_err err;
};

/* Policies that servers keep for us; what one says while it can't be asked stays as it was. */
static void sync_policies(struct task *task, struct ebb_workspace *ws)
{
    const struct ebb_config *config = ebb_workspace_config(ws);
    int64_t begin_ms = ebb_clock_elapsed_ms();

    for (size_t i = 0; i < config->catalog_count; i++) {
        struct ebb_metalake_synced synced;
        struct ebb_err err = {.error = EBB_OK};

        if (strcmp(config->catalogs[i].type, "gravitino") != 0)
            continue;
        if (ebb_metalake_sync(ws, config->catalogs[i].name, false, &synced, &err) && !task->sync_err.error)
            task->sync_err = err;
        task->is_uncounted = task->is_uncounted || ebb__is_store_error(&err);
        task->changes += synced.changes;
    }
    task->sync_ms = ebb_clock_elapsed_ms() - begin_ms;
}

static void work(void *context, void *data)
{
    struct task *task = data;
    struct ebb_worker *worker = context;
    int rc = ebb_worker_ready(worker, &task->err);

    if (!rc)
        rc = ebb__view_new(worker->ws, task->before, &task->after, &task->err);
    if (!rc)
        ebb__watch_view(task->watch_fd, worker->ws, task->after);
    if (!rc)
        sync_policies(task, worker->ws);
    if (worker)
        ebb__worker_done(worker);
}

static void plan_next(struct ebb__daemon *d, int64_t took_ms)
{
    int64_t share = ebb__watch_is_complete(d) ? SHARE_WATCHED : SHARE_POLLED;
    int64_t wait_ms = d->generation->config->serve.poll_ms;

    if (wait_ms < took_ms * share)
        wait_ms = took_ms * share;
    d->list_at_elapsed_ms = ebb_clock_elapsed_ms() + wait_ms;
}

static void tell_problem(struct ebb__daemon *d, const struct ebb__view *view)
{
    bool is_new = view->problem.error && (!d->view || strcmp(d->view->problem.message, view->problem.message) != 0);

    if (is_new)
        ebb__say(&d->log, EBB_LOG_WARN, NULL, "catalog can't be listed, its tables stay as they were: %s",
                 view->problem.message);
}

static void take_over(struct ebb__daemon *d, struct ebb__view *view)
{
    size_t fresh = 0, gone = 0;
    struct ebb_err err;

    if (ebb__tables_merge(&d->tables, view, ebb_clock_elapsed_ms(), &fresh, &gone, &err)) {
        ebb__say(&d->log, EBB_LOG_ERROR, NULL, "listing is left out: %s", err.message);
        ebb__view_unref(view);
        return;
    }
    tell_problem(d, view);
    if (fresh || gone || !d->is_listed)
        ebb__say(&d->log, EBB_LOG_INFO, NULL, "catalogs listed: %zu tables, %zu new, %zu gone, in %" PRId64 " ms",
                 view->count, fresh, gone, view->took_ms);
    ebb__view_unref(d->view);
    d->view = view;
    d->listed_at_ms = ebb__now(d);
    ebb_metrics_set(d->metrics, EBB_METRIC_TABLES, NULL, (double)view->count);
    ebb__watch_update(d);
    d->is_listed = true;
}

static void take_policies(struct ebb__daemon *d, const struct task *task)
{
    bool is_new = strcmp(d->sync_problem, task->sync_err.message) != 0;

    if (is_new && task->sync_err.error)
        ebb__say(&d->log, EBB_LOG_WARN, NULL, "policies of a server can't be read, they stay as they were: %s",
                 task->sync_err.message);
    snprintf(d->sync_problem, sizeof d->sync_problem, "%s", task->sync_err.message);
    if (!task->is_uncounted && task->changes != d->sync_changes) {
        d->sync_changes = task->changes;
        ebb__daemon_reload(d, "policies of a Gravitino server", false);
    }
}

static void done(void *data)
{
    struct task *task = data;
    struct ebb__daemon *d = task->d;
    int64_t took_ms = (task->after ? task->after->took_ms : 0) + task->sync_ms;

    d->is_listing = false;
    if (task->after) {
        take_over(d, task->after);
        take_policies(d, task);
    } else if (ebb__is_store_error(&task->err)) {
        ebb__daemon_store_failed(d, &task->err);
    } else if (!d->is_draining) {
        ebb__say(&d->log, EBB_LOG_ERROR, NULL, "catalogs can't be listed: %s", task->err.message);
    }
    plan_next(d, took_ms);
    ebb__view_unref(task->before);
    free(task);
    ebb__daemon_dirty(d);
    if (d->wants_listing) {
        d->wants_listing = false;
        ebb__daemon_list(d);
    }
    ebb__daemon_look(d);
    ebb__daemon_close_more(d);
}

void ebb__daemon_list(struct ebb__daemon *d)
{
    struct task *task;

    if (d->is_listing) {
        d->wants_listing = true;
        return;
    }
    if (d->is_draining || d->store_fault.is_set)
        return;
    task = calloc(1, sizeof *task);
    if (!task)
        return;
    task->d = d;
    task->before = ebb__view_ref(d->view);
    task->watch_fd = ebb__watch_fd(d);
    d->is_listing = true;
    if (ebb__daemon_post(d, d->look_pool, work, done, task)) {
        d->is_listing = false;
        ebb__view_unref(task->before);
        free(task);
    }
}
