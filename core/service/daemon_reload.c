/* SPDX-License-Identifier: Apache-2.0
 *
 * Reload: a worker loads a generation whole; looks under way end; then it becomes the active one at one point, and
 * queued jobs and pending defers of policies that changed are decided again.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "service/daemon_jobs_priv.h"
#include "service/schedule.h"

/* ---- loading ---- */

struct load {
    struct ebb__daemon *d;
    struct ebb_generation *before, *after;
    bool force;
    struct ebb_diagnostics diags;
    int rc;
    struct ebb_err err;
};

static void work_load(void *context, void *data)
{
    struct load *load = data;
    struct ebb_worker *worker = context;
    struct ebb_generation_options o;

    memset(&o, 0, sizeof o);
    o.config = load->d->config_file;
    o.before = load->before;
    o.force = load->force;
    o.now_ms = ebb_clock_now(&load->d->clock);
    load->rc = ebb_worker_ready(worker, &load->err);
    if (!load->rc) {
        o.store = ebb_workspace_site(worker->ws)->store;
        load->rc = ebb_generation_load(&o, &load->after, &load->diags, &load->err);
    }
    if (worker)
        ebb__worker_done(worker);
}

static const struct ebb_diagnostic *first_error(const struct ebb_diagnostics *diags)
{
    for (size_t i = 0; diags && i < diags->count; i++)
        if (diags->items[i].is_error)
            return &diags->items[i];
    return NULL;
}

void ebb__diagnose_reload(struct ebb__daemon *d, const struct ebb_diagnostics *diags, const struct ebb_err *err)
{
    const struct ebb_diagnostic *at = first_error(diags);

    if (!d->reload_fault.is_set)
        d->reload_fault.since_ms = ebb__now(d);
    d->reload_fault.is_set = true;
    d->reload_fault.err = *err;
    snprintf(d->reload_file, sizeof d->reload_file, "%s", at ? at->file : d->config_file ? d->config_file : "");
    snprintf(d->reload_code, sizeof d->reload_code, "%s", ebb_error_code(err->error));
    d->reload_line = at ? at->line : 0;
    d->reload_column = at ? at->column : 0;
}

static void load_failed(struct ebb__daemon *d, const struct load *load)
{
    ebb__diagnose_reload(d, &load->diags, &load->err);
    ebb_metrics_add(d->metrics, EBB_METRIC_RELOADS, "failed", 1);
    ebb__say(&d->log, EBB_LOG_ERROR, NULL, "reload failed, the policies in use stay: %s%s%s", load->err.message,
             load->err.hint[0] ? "; " : "", load->err.hint);
    ebb__daemon_news(d, "reload", "result", "failed", "message", load->err.message, NULL);
    d->reloads++;
}

static void load_same(struct ebb__daemon *d, struct load *load)
{
    d->reload_fault.is_set = false;
    d->reloads++;
    ebb_metrics_add(d->metrics, EBB_METRIC_RELOADS, "unchanged", 1);
    ebb__say(&d->log, EBB_LOG_INFO, NULL, "reload: nothing changed, %s", d->generation->hash);
    ebb__daemon_news(d, "reload", "result", "unchanged", "hash", d->generation->hash, NULL);
    ebb_generation_unref(load->after);
}

static void load_end(struct ebb__daemon *d)
{
    d->is_reloading = false;
    ebb__systemd_tell(d, d->is_draining ? "STOPPING=1" : "READY=1");
    ebb__daemon_dirty(d);
    if (d->wants_reload) {
        bool force = d->wants_force;

        d->wants_reload = d->wants_force = false;
        ebb__daemon_reload(d, "again", force);
    }
}

static void done_load(void *data)
{
    struct load *load = data;
    struct ebb__daemon *d = load->d;

    if (load->rc) {
        load_failed(d, load);
    } else if (d->is_draining) {
        ebb_generation_unref(load->after);
    } else if (!strcmp(load->after->hash, d->generation->hash)) {
        load_same(d, load);
    } else {
        d->next = load->after;
        d->is_switching = true;
    }
    ebb_diagnostics_fini(&load->diags);
    ebb_generation_unref(load->before);
    free(load);
    if (d->is_switching)
        ebb__daemon_switch(d);
    else
        load_end(d);
    ebb__daemon_close_more(d);
}

void ebb__daemon_reload(struct ebb__daemon *d, const char *who, bool force)
{
    struct load *load;

    if (d->is_draining || !d->is_serving)
        return;
    if (d->is_reloading) {
        d->wants_reload = true;
        d->wants_force = d->wants_force || force;
        return;
    }
    load = calloc(1, sizeof *load);
    if (!load)
        return;
    load->d = d;
    load->force = force;
    load->before = ebb_generation_ref(d->generation);
    ebb_diagnostics_init(&load->diags);
    d->is_reloading = true;
    ebb__systemd_tell(d, "RELOADING=1");
    ebb__say(&d->log, EBB_LOG_INFO, NULL, "reload: asked for by %s%s", who, force ? ", whatever vanished" : "");
    if (ebb__daemon_post(d, d->look_pool, work_load, done_load, load)) {
        d->is_reloading = false;
        ebb_generation_unref(load->before);
        free(load);
    }
}

/* ---- the switch ---- */

struct decide {
    struct ebb__daemon *d;
    struct ebb__view *view;
    struct ebb_generation *before, *after;
    struct ebb_withdrawn withdrawn; /* jobs that are not queued any more */
    int rc;
    struct ebb_err err;
};

/* A pending defer of a policy that changed is due at once. */
static int bring_one_forward(struct ebb_store *store, const char *policy, const char *uuid, int64_t now_ms,
                             struct ebb_err *err)
{
    struct ebb_schedule schedule;
    int rc = ebb_schedule_load(store, policy, uuid, &schedule, err);

    if (rc || schedule.deferred_until_ms <= now_ms)
        return rc;
    schedule.deferred_until_ms = now_ms;
    return ebb_schedule_save(store, policy, uuid, &schedule, err);
}

/* Pending defers of one policy, in one transaction. */
static int bring_forward(struct decide *x, struct ebb_store *store, const char *policy)
{
    int64_t now_ms = ebb_clock_now(&x->d->clock);
    int rc = ebb_store_hold(store, &x->err);

    for (size_t i = 0; !rc && x->view && i < x->view->count; i++)
        if (x->view->entries[i].uuid)
            rc = bring_one_forward(store, policy, x->view->entries[i].uuid, now_ms, &x->err);
    if (rc) {
        ebb_store_drop_held(store);
        return rc;
    }
    return ebb_store_release(store, &x->err);
}

static int bring_all_forward(struct decide *x, struct ebb_store *store)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < x->after->policy_count; i++) {
        const char *name = ebb_policy_get_name(x->after->policies[i]);
        enum ebb__policy_change change = EBB__POLICY_SAME;

        rc = ebb__policy_change(x->before, x->after, name, &change, &x->err);
        if (!rc && change == EBB__POLICY_CHANGED && ebb_generation_find(x->before, name))
            rc = bring_forward(x, store, name);
    }
    return rc;
}

static void work_decide(void *context, void *data)
{
    struct decide *x = data;
    struct ebb_worker *worker = context;

    x->rc = ebb_worker_ready(worker, &x->err);
    if (!x->rc)
        x->rc = ebb_withdraw_jobs(ebb_workspace_site(worker->ws)->store, x->after, ebb_clock_now(&x->d->clock),
                                  &x->withdrawn, &x->err);
    if (!x->rc)
        x->rc = bring_all_forward(x, ebb_workspace_site(worker->ws)->store);
    if (worker)
        ebb__worker_done(worker);
}

static void tell_switch(struct ebb__daemon *d, const struct decide *x)
{
    ebb__say(&d->log, EBB_LOG_INFO, NULL,
             "reloaded: %zu policies, %zu bindings, %s; %zu queued jobs are decided again, %zu cancelled",
             d->generation->policy_count, d->generation->bound_count, d->generation->hash, x->withdrawn.again,
             x->withdrawn.removed);
    ebb__daemon_news(d, "reload", "result", "done", "hash", d->generation->hash, NULL);
    if (x->rc)
        ebb__say(&d->log, EBB_LOG_ERROR, NULL, "queued jobs can't be decided again, none starts until they are: %s",
                 x->err.message);
}

static void done_decide(void *data)
{
    struct decide *x = data;
    struct ebb__daemon *d = x->d;

    ebb__jobs_withdrawn(d, &x->withdrawn);
    d->must_withdraw = x->rc != 0;
    if (x->rc && ebb__is_store_error(&x->err))
        ebb__daemon_store_failed(d, &x->err);
    tell_switch(d, x);
    d->is_switching = false;
    d->reloads++;
    d->reload_fault.is_set = false;
    ebb_metrics_add(d->metrics, EBB_METRIC_RELOADS, "done", 1);
    ebb_withdrawn_fini(&x->withdrawn);
    ebb__view_unref(x->view);
    ebb_generation_unref(x->before);
    ebb_generation_unref(x->after);
    free(x);
    load_end(d);
    d->wants_sync = true; /* also when it can't be done now */
    ebb__daemon_sync(d);
    ebb__daemon_list(d);
    ebb__daemon_look_all(d);
    ebb__daemon_work(d);
    ebb__daemon_close_more(d);
}

static void activate(struct ebb__daemon *d)
{
    struct ebb_generation *before = d->generation;
    struct ebb_err err;

    pthread_mutex_lock(&d->generation_lock);
    d->generation = d->next;
    pthread_mutex_unlock(&d->generation_lock);
    d->next = NULL;
    ebb_generation_unref(before);
    ebb__generation_gauges(d);
    ebb__pause_renamed(d);
    if (ebb_notify_configure(d->notify, d->generation->config, &err))
        ebb__say(&d->log, EBB_LOG_ERROR, NULL, "notices go where they went before: %s", err.message);
}

void ebb__daemon_switch(struct ebb__daemon *d)
{
    struct decide *x;

    if (!d->next || d->looks)
        return;
    x = calloc(1, sizeof *x);
    if (!x)
        return; /* with the next tick */
    x->d = d;
    x->view = ebb__view_ref(d->view);
    x->before = ebb_generation_ref(d->generation);
    x->after = ebb_generation_ref(d->next);
    activate(d);
    if (ebb__daemon_post(d, d->look_pool, work_decide, done_decide, x)) {
        x->rc = ebb_err_nomem(&x->err);
        done_decide(x);
    }
}

struct ebb_generation *ebb__daemon_generation(void *daemon)
{
    struct ebb__daemon *d = daemon;
    struct ebb_generation *g;

    pthread_mutex_lock(&d->generation_lock);
    g = ebb_generation_ref(d->generation);
    pthread_mutex_unlock(&d->generation_lock);
    return g;
}
