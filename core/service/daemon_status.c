/* SPDX-License-Identifier: Apache-2.0
 *
 * The status as JSON text.
 */
#include <unistd.h>

#include "base/time.h"
#include "service/daemon_priv.h"

static void put_time(struct ebb_jsonw *w, const char *key, int64_t at_ms)
{
    struct ebb_buf text;

    ebb_jsonw_key(w, key);
    if (!at_ms || at_ms == INT64_MAX) {
        ebb_jsonw_null(w);
        return;
    }
    ebb_buf_init(&text, 64);
    ebb_time_iso(&text, at_ms);
    ebb_jsonw_str(w, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

static const char *state_name(const struct ebb__daemon *d)
{
    if (d->is_draining)
        return "draining";
    if (!d->is_leader)
        return "standby";
    return d->is_serving && d->is_listed && d->is_recovered ? "serving" : "starting";
}

/* NULL: it is ready. */
static const char *why_not_ready(const struct ebb__daemon *d)
{
    if (d->is_draining)
        return "it is ending";
    if (!d->is_leader)
        return "another process leads";
    if (d->store_fault.is_set)
        return d->store_fault.err.message;
    if (!d->is_recovered)
        return "jobs of before are being looked at";
    return d->is_listed ? NULL : "catalogs are being listed";
}

static void put_error(struct ebb_jsonw *w, const struct ebb__fault *fault)
{
    ebb_jsonw_key(w, "error");
    if (!fault->is_set) {
        ebb_jsonw_null(w);
        return;
    }
    ebb_jsonw_str(w, fault->err.message);
}

static void put_generation(struct ebb_jsonw *w, const struct ebb__daemon *d)
{
    ebb_jsonw_key(w, "generation");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "hash", d->generation ? d->generation->hash : "");
    put_time(w, "loaded", d->generation ? d->generation->loaded_ms : 0);
    ebb_jsonw_kstr(w, "config", d->config_file);
    ebb_jsonw_key(w, "error");
    if (d->reload_fault.is_set) {
        ebb_jsonw_begin(w, '{');
        ebb_jsonw_kstr(w, "file", d->reload_file);
        ebb_jsonw_kint(w, "line", d->reload_line);
        ebb_jsonw_kint(w, "column", d->reload_column);
        ebb_jsonw_kstr(w, "code", d->reload_code);
        ebb_jsonw_kstr(w, "message", d->reload_fault.err.message);
        ebb_jsonw_kstr(w, "hint", d->reload_fault.err.hint);
        put_time(w, "since", d->reload_fault.since_ms);
        ebb_jsonw_end(w, '}');
    } else {
        ebb_jsonw_null(w);
    }
    ebb_jsonw_end(w, '}');
    ebb_jsonw_kint(w, "reloads", d->reloads);
    ebb_jsonw_kbool(w, "is_reloading", d->is_reloading || d->wants_reload);
}

/* One that is idle takes the active generation before it works: it runs that one. */
static void put_workers(struct ebb_jsonw *w, const struct ebb__daemon *d)
{
    struct ebb_worker_list *list = d->workers;

    ebb_jsonw_key(w, "workers");
    ebb_jsonw_begin(w, '[');
    pthread_mutex_lock(&list->lock);
    for (size_t i = 0; i < list->count; i++) {
        const struct ebb__worker_seen *seen = &list->items[i];

        ebb_jsonw_begin(w, '{');
        ebb_jsonw_kstr(w, "pool", seen->pool);
        ebb_jsonw_kstr(w, "hash", seen->is_busy || !d->generation ? seen->hash : d->generation->hash);
        ebb_jsonw_kbool(w, "is_busy", seen->is_busy);
        ebb_jsonw_end(w, '}');
    }
    pthread_mutex_unlock(&list->lock);
    ebb_jsonw_end(w, ']');
}

static void put_work(struct ebb_jsonw *w, const struct ebb__daemon *d)
{
    static const char *const ENDED[] = {"succeeded", "failed", "cancelled"};
    const struct ebb__table *next = ebb__tables_next(&d->tables);

    ebb_jsonw_key(w, "looks");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kint(w, "waiting", (int64_t)d->tables.waiting);
    ebb_jsonw_kint(w, "running", (int64_t)d->looks);
    ebb_jsonw_end(w, '}');
    ebb_jsonw_key(w, "jobs");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kint(w, "queued", d->queue ? (int64_t)ebb_work_queue_waiting(d->queue) : 0);
    ebb_jsonw_kint(w, "started", d->queue ? (int64_t)ebb_work_queue_running(d->queue) : 0);
    for (size_t i = 0; i < 3; i++)
        ebb_jsonw_kint(w, ENDED[i], d->ended[i]);
    ebb_jsonw_end(w, '}');
    ebb_jsonw_key(w, "due");
    ebb_jsonw_begin(w, '{');
    put_time(w, "at", next ? next->wake_ms : 0);
    ebb_jsonw_kstr(w, "table", next ? next->entry->label : NULL);
    ebb_jsonw_end(w, '}');
}

static void put_world(struct ebb_jsonw *w, const struct ebb__daemon *d)
{
    ebb_jsonw_kint(w, "tables", (int64_t)d->tables.count);
    ebb_jsonw_kint(w, "policies", d->generation ? (int64_t)d->generation->policy_count : 0);
    ebb_jsonw_kint(w, "bindings", d->generation ? (int64_t)d->generation->bound_count : 0);
    ebb_jsonw_key(w, "listing");
    ebb_jsonw_begin(w, '{');
    put_time(w, "at", d->listed_at_ms);
    ebb_jsonw_kint(w, "took_ms", d->view ? d->view->took_ms : 0);
    ebb_jsonw_kstr(w, "error", d->view && d->view->problem.error ? d->view->problem.message : NULL);
    ebb_jsonw_end(w, '}');
    ebb_jsonw_key(w, "watch");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kbool(w, "is_complete", ebb__watch_is_complete(d));
    ebb_jsonw_kint(w, "folders", (int64_t)ebb__watch_count(d));
    ebb_jsonw_end(w, '}');
}

static void put_health(struct ebb_jsonw *w, const struct ebb__daemon *d)
{
    ebb_jsonw_key(w, "store");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kbool(w, "ok", !d->store_fault.is_set);
    put_error(w, &d->store_fault);
    put_time(w, "since", d->store_fault.is_set ? d->store_fault.since_ms : 0);
    ebb_jsonw_end(w, '}');
    ebb_jsonw_key(w, "clock");
    ebb_jsonw_begin(w, '{');
    put_time(w, "now", ebb__now(d));
    ebb_jsonw_kint(w, "steps", d->steps);
    ebb_jsonw_kint(w, "last_step_ms", d->last_step_ms);
    ebb_jsonw_end(w, '}');
    ebb_jsonw_key(w, "paused");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < d->paused.count; i++)
        ebb_jsonw_str(w, d->paused.items[i]);
    ebb_jsonw_end(w, ']');
}

static void put_head(struct ebb_jsonw *w, const struct ebb__daemon *d)
{
    const char *why = why_not_ready(d);

    ebb_jsonw_kint(w, "pid", getpid());
    ebb_jsonw_kstr(w, "version", EBB_VERSION);
    put_time(w, "started", d->started_ms);
    ebb_jsonw_kint(w, "uptime_s", (ebb_clock_elapsed_ms() - d->started_elapsed_ms) / 1000);
    ebb_jsonw_kstr(w, "address", d->address);
    ebb_jsonw_kstr(w, "state", state_name(d));
    ebb_jsonw_kbool(w, "ready", !why);
    if (why)
        ebb_jsonw_kstr(w, "why", why);
    ebb_jsonw_key(w, "leader");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kbool(w, "is_leader", d->is_leader);
    ebb_jsonw_kint(w, "epoch", d->epoch);
    ebb_jsonw_end(w, '}');
}

static void tell_metrics(const struct ebb__daemon *d)
{
    size_t queued = d->queue ? ebb_work_queue_waiting(d->queue) : 0;

    ebb_metrics_set(d->metrics, EBB_METRIC_JOBS, "queued", (double)queued);
    ebb_metrics_set(d->metrics, EBB_METRIC_JOBS, "started", d->queue ? (double)ebb_work_queue_running(d->queue) : 0);
    ebb_metrics_set(d->metrics, EBB_METRIC_LEADER, NULL, d->is_leader);
}

void ebb__status_write(struct ebb__daemon *d)
{
    struct ebb_buf text;
    struct ebb_jsonw w;

    d->is_dirty = false;
    ebb_buf_init(&text, (size_t)64 << 20);
    ebb_jsonw_init(&w, &text);
    ebb_jsonw_begin(&w, '{');
    put_head(&w, d);
    put_generation(&w, d);
    put_workers(&w, d);
    put_world(&w, d);
    put_work(&w, d);
    put_health(&w, d);
    ebb_jsonw_end(&w, '}');
    if (ebb_buf_check(&text, "status", NULL) == 0)
        ebb_hub_set_status(d->hub, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
    tell_metrics(d);
}
