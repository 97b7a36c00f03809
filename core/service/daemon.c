/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon: its parts are opened, it waits to lead, serves, and ends in order.
 */
#include "service/daemon.h"

#include <inttypes.h>
#include <stdlib.h>

#include "service/daemon_priv.h"

int64_t ebb__now(const struct ebb__daemon *d)
{
    return ebb_clock_now(&d->clock);
}

bool ebb__daemon_may_start(const struct ebb__daemon *d)
{
    return d->is_leader && d->is_recovered && !d->must_withdraw && !d->is_draining && !d->store_fault.is_set;
}

void ebb__daemon_dirty(struct ebb__daemon *d)
{
    d->is_dirty = true;
}

int ebb__daemon_post(struct ebb__daemon *d, struct ebb_pool *pool, ebb_pool_work_cb *work, ebb_pool_done_cb *done,
                     void *data)
{
    struct ebb_err err;
    int rc = pool ? ebb_pool_post(pool, work, done, data, &err) : ebb_err_set(&err, EBB_ECANCELLED, "it is ending");

    if (rc && rc != -(int)EBB_ECANCELLED)
        ebb__say(&d->log, EBB_LOG_ERROR, NULL, "work can't be handed out: %s", err.message);
    return rc;
}

bool ebb__is_store_error(const struct ebb_err *err)
{
    return err->error == EBB_ESTORE || err->error == EBB_ESTORE_CORRUPT || err->error == EBB_ENOSPACE ||
           err->error == EBB_EAUDIT;
}

/* Whoever can't write says so: it is found out for all, but not again and again. */
static void probe_if_due(struct ebb__daemon *d, int64_t now_ms)
{
    if ((d->store_fault.is_set || d->wants_probe) && now_ms >= d->store_try_ms)
        ebb__daemon_probe(d);
}

void ebb__daemon_store_failed(struct ebb__daemon *d, const struct ebb_err *err)
{
    bool was_set = d->store_fault.is_set;

    ebb_metrics_add(d->metrics, EBB_METRIC_STORE_ERRORS, NULL, 1);
    d->store_fault.err = *err;
    if (was_set)
        return;
    d->store_fault.is_set = true;
    d->store_fault.since_ms = ebb__now(d);
    d->store_try_ms = ebb_clock_elapsed_ms() + EBB__STORE_RETRY_MS;
    ebb__say(&d->log, EBB_LOG_ERROR, NULL, "the store can't be written, nothing new starts until it can: %s",
             err->message);
    ebb__daemon_dirty(d);
}

void ebb__daemon_fail(struct ebb__daemon *d, const struct ebb_err *err)
{
    if (!d->is_failed)
        d->failure = *err;
    d->is_failed = true;
    ebb__daemon_drain(d);
}

void ebb__generation_gauges(struct ebb__daemon *d)
{
    ebb_metrics_set(d->metrics, EBB_METRIC_POLICIES, NULL, (double)d->generation->policy_count);
    ebb_metrics_set(d->metrics, EBB_METRIC_GENERATION, NULL, (double)d->generation->loaded_ms / 1000);
}

/* ---- notes of other threads ---- */

static void on_note(void *data, enum ebb_note note, const char *text)
{
    struct ebb__daemon *d = data;
    struct ebb__table *t = text ? ebb__tables_find(&d->tables, text) : NULL;

    if (!d->is_serving)
        return;
    switch (note) {
    case EBB_NOTE_JOBS:
        ebb__daemon_sync(d);
        break;
    case EBB_NOTE_CANCEL:
        if (text)
            ebb__daemon_cancel(d, text);
        break;
    case EBB_NOTE_RELOAD:
        ebb__daemon_reload(d, text ? text : "the API", text && !strncmp(text, "force ", 6));
        break;
    case EBB_NOTE_OBJECTS:
        ebb__daemon_reload(d, "policy objects", false);
        break;
    case EBB_NOTE_LOOK:
        if (t) {
            t->listed_ms = INT64_MIN / 2;
            ebb__tables_queue(&d->tables, t);
        } else {
            ebb__daemon_list(d);
        }
        if (text)
            ebb__daemon_look(d);
        else
            ebb__daemon_look_all(d);
        break;
    case EBB_NOTE_PAUSE:
    case EBB_NOTE_RESUME:
        if (text)
            ebb__daemon_pause(d, text, note == EBB_NOTE_PAUSE);
        break;
    case EBB_NOTE_STORE:
        d->wants_probe = true; /* with the next tick, if one was just made */
        probe_if_due(d, ebb_clock_elapsed_ms());
        break;
    }
}

/* ---- what is loaded before it leads ---- */

static int load_first(struct ebb__daemon *d, struct ebb_diagnostics *diags, struct ebb_err *err)
{
    struct ebb_generation_options o = {d->config_file, d->lead_store, d->generation, false, ebb__now(d)};
    struct ebb_generation *loaded = NULL;
    int rc = ebb_generation_load(&o, &loaded, diags, err);

    if (rc)
        return rc;
    ebb_generation_unref(d->generation);
    ebb_generation_unref(d->boot);
    d->generation = loaded;
    d->boot = ebb_generation_ref(loaded);
    return 0;
}

/* What was loaded before the wait may be old by now. What does not load leaves it, as for a reload. */
static void load_after_wait(struct ebb__daemon *d)
{
    struct ebb_diagnostics diags;
    struct ebb_err err;

    ebb_diagnostics_init(&diags);
    if (load_first(d, &diags, &err)) {
        ebb__diagnose_reload(d, &diags, &err);
        ebb__say(&d->log, EBB_LOG_ERROR, NULL, "policies of before the wait stay in use: %s", err.message);
    }
    ebb_diagnostics_fini(&diags);
    ebb_strs_fini(&d->paused);
    ebb_strs_init(&d->paused);
    if (ebb__pause_load(d, &err))
        ebb__daemon_fail(d, &err);
}

/* ---- the tick ---- */

static void try_to_lead(struct ebb__daemon *d)
{
    struct ebb_err err;
    int rc = ebb_store_lead(d->lead_store, &d->epoch, &err);

    if (!rc) {
        d->is_leader = true;
        ebb__say(&d->log, EBB_LOG_INFO, NULL, "leads, epoch %" PRId64, d->epoch);
        if (d->wall_ms)
            load_after_wait(d);
        if (!d->is_draining)
            ebb__daemon_lead(d);
    } else if (rc != -(int)EBB_ELOCKED && !err.retryable) {
        ebb__daemon_fail(d, &err);
    } else if (!d->wall_ms) {
        ebb__say(&d->log, EBB_LOG_INFO, NULL, "waits, since another process leads: %s", err.message);
        ebb__systemd_tell(d, "READY=1\nSTATUS=standby");
    }
}

static void measure_lag(struct ebb__daemon *d, int64_t now_ms)
{
    int64_t late_ms = d->elapsed_ms ? now_ms - d->elapsed_ms - EBB__TICK_MS : 0;
    struct ebb_http_counts counts;

    ebb_metrics_set(d->metrics, EBB_METRIC_LOOP_LAG, NULL, late_ms > 0 ? (double)late_ms / 1000 : 0);
    if (!d->server)
        return;
    ebb_http_server_counts(d->server, &counts);
    ebb_metrics_set(d->metrics, EBB_METRIC_HTTP_OPEN, NULL, (double)counts.connections_open);
}

static void serve_tick(struct ebb__daemon *d, int64_t now_ms)
{
    probe_if_due(d, now_ms);
    if (now_ms >= d->list_at_elapsed_ms && !d->is_listing)
        ebb__daemon_list(d);
    if (now_ms >= d->clean_at_ms)
        ebb__daemon_clean(d);
    if (d->wants_sync && now_ms >= d->sync_at_ms)
        ebb__daemon_sync(d);
    ebb__daemon_switch(d);
    if (d->wants_pause_saved)
        ebb__pause_save(d);
    ebb__daemon_jobs_tick(d);
    if (d->tables.first)
        ebb__daemon_look(d);
}

static void on_tick(uv_timer_t *timer)
{
    struct ebb__daemon *d = timer->data;
    int64_t now_ms = ebb_clock_elapsed_ms();

    if (!d->is_leader && !d->is_draining)
        try_to_lead(d);
    measure_lag(d, now_ms);
    ebb__clock_tick(d);
    if (d->is_serving && !d->is_draining)
        serve_tick(d, now_ms);
    ebb__systemd_tick(d);
    ebb__status_write(d);
    ebb__daemon_close_more(d);
}

static void on_check(uv_check_t *check)
{
    struct ebb__daemon *d = check->data;

    if (d->is_dirty)
        ebb__status_write(d);
}

/* ---- opening ---- */

static char *real_config(const char *given)
{
    struct ebb_buf found;
    char *out;

    ebb_buf_init(&found, 65536);
    if (given)
        ebb_buf_puts(&found, given);
    else
        ebb_config_find(&found);
    out = found.len ? realpath(ebb_buf_cstr(&found), NULL) : NULL;
    if (!out && found.len)
        out = strdup(ebb_buf_cstr(&found));
    ebb_buf_fini(&found);
    return out;
}

static int open_state(struct ebb__daemon *d, struct ebb_err *err)
{
    struct ebb_buf dir;
    int rc;

    ebb_buf_init(&dir, 65536);
    rc = ebb_workspace_state_dir(d->options->state_dir, &dir, err);
    if (!rc)
        rc = ebb_store_open(ebb_buf_cstr(&dir), &d->lead_store, err);
    ebb_buf_fini(&dir);
    if (rc)
        return rc;
    d->state_dir = strdup(ebb_store_dir(d->lead_store));
    return d->state_dir ? 0 : ebb_err_nomem(err);
}

static int open_handles(struct ebb__daemon *d, struct ebb_err *err)
{
    uv_timer_t *timers[] = {&d->tick, &d->alarm, &d->debounce};

    for (size_t i = 0; i < 3; i++) {
        uv_timer_init(&d->loop, timers[i]);
        timers[i]->data = d;
        d->open_handles++;
    }
    uv_check_init(&d->loop, &d->check);
    d->check.data = d;
    d->open_handles++;
    uv_check_start(&d->check, on_check);
    return ebb__signals_open(d, err);
}

static int open_base(struct ebb__daemon *d, struct ebb_err *err)
{
    int rc = ebb_metrics_new(&d->metrics, err);

    d->config_file = real_config(d->options->config);
    d->workers = ebb__worker_list_new();
    if (!rc && (!d->workers || pthread_mutex_init(&d->generation_lock, NULL)))
        rc = ebb_err_nomem(err);
    if (rc)
        return rc;
    d->has_generation_lock = true;
    rc = open_state(d, err);
    if (!rc)
        rc = load_first(d, NULL, err);
    if (!rc)
        rc = ebb_looker_check(err);
    if (!rc)
        rc = ebb__pause_load(d, err);
    if (!rc)
        rc = ebb_work_queue_new((unsigned)d->generation->config->serve.jobs, &d->queue, err);
    return rc;
}

static void free_all(struct ebb__daemon *d)
{
    ebb_work_queue_free(d->queue);
    ebb__tables_fini(&d->tables);
    ebb__view_unref(d->view);
    ebb_strs_fini(&d->paused);
    ebb_generation_unref(d->next);
    ebb_generation_unref(d->generation);
    ebb_generation_unref(d->boot);
    if (d->lead_store && d->is_leader) {
        ebb__token_end(d);
        ebb_store_resign(d->lead_store);
    }
    ebb_store_close(d->lead_store);
    ebb__worker_list_free(d->workers);
    ebb_metrics_free(d->metrics);
    if (d->has_generation_lock)
        pthread_mutex_destroy(&d->generation_lock);
    free(d->config_file);
    free(d->state_dir);
}

static int run(struct ebb__daemon *d, struct ebb_err *err)
{
    int rc = open_handles(d, err);

    if (!rc)
        rc = ebb_hub_new(&d->loop, on_note, d, &d->hub, err);
    if (rc)
        ebb__daemon_fail(d, err);
    else
        uv_timer_start(&d->tick, on_tick, 0, EBB__TICK_MS);
    uv_run(&d->loop, UV_RUN_DEFAULT);
    if (d->is_failed && err)
        *err = d->failure;
    return d->is_failed ? -(int)d->failure.error : 0;
}

int ebb_daemon_run(const struct ebb_daemon_options *options, struct ebb_err *err)
{
    struct ebb__daemon *d = calloc(1, sizeof *d);
    struct ebb_err why;
    int rc;

    if (!d || uv_loop_init(&d->loop)) {
        free(d);
        return ebb_err_nomem(err);
    }
    memset(&why, 0, sizeof why);
    d->options = options;
    d->clock = options->clock.now_ms ? options->clock : ebb_clock_system();
    d->target = (struct ebb__log_target){options->line, options->data};
    d->log = ebb__target_log(&d->target, options->level);
    d->started_ms = ebb__now(d);
    d->started_elapsed_ms = ebb_clock_elapsed_ms();
    rc = open_base(d, &why);
    if (!rc)
        rc = run(d, &why);
    free_all(d);
    uv_loop_close(&d->loop);
    free(d);
    if (rc && err)
        *err = why;
    return rc;
}
