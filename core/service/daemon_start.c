/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts that a leader has: opened when it leads, and ended in order: first what runs, then what serves, then the
 * workers, then the loop's own handles.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "service/daemon_jobs_priv.h"

#define LOOK_THREADS (EBB__LOOKS_MAX + 1) /* one more for listing and small work with the store */
#define API_THREADS 3                     /* one more than questions may take */
#define GRACE_MS 5000

static void fill_options(struct ebb__daemon *d, struct ebb_worker_options *o, const char *pool)
{
    memset(o, 0, sizeof *o);
    o->state_dir = d->state_dir;
    o->log = d->log;
    o->clock = d->clock;
    o->metrics = d->metrics;
    o->generation = ebb__daemon_generation;
    o->data = d;
    o->pool = pool;
    o->list = d->workers;
    o->hub = d->hub;
    o->tells_end = true;
}

static int open_pool(struct ebb__daemon *d, struct ebb_worker_options *options, const char *name, unsigned threads,
                     size_t most, struct ebb_pool **out, struct ebb_err *err)
{
    struct ebb_pool_options o = {name, threads, most, ebb_worker_new, ebb_worker_free, options};

    return ebb_pool_new(&d->loop, &o, out, err);
}

static int open_pools(struct ebb__daemon *d, struct ebb_err *err)
{
    int rc;

    fill_options(d, &d->look_options, "look");
    d->look_options.has_looker = true;
    d->look_options.cancelled = &d->stop;
    fill_options(d, &d->job_options, "job");
    fill_options(d, &d->api_options, "api");
    d->api_options.tells_end = false;
    rc = open_pool(d, &d->look_options, "ebb-look", LOOK_THREADS, 0, &d->look_pool, err);
    if (!rc)
        rc = open_pool(d, &d->job_options, "ebb-job", (unsigned)d->boot->config->serve.jobs, 0, &d->job_pool, err);
    return rc ? rc : open_pool(d, &d->api_options, "ebb-api", API_THREADS, 1000, &d->api_pool, err);
}

static int open_notify(struct ebb__daemon *d, struct ebb_err *err)
{
    struct ebb_http_client_options c;
    struct ebb_notify_options o;
    int rc;

    memset(&c, 0, sizeof c);
    c.log = d->log;
    rc = ebb_http_client_new(&d->loop, &c, &d->client, err);
    if (rc)
        return rc;
    memset(&o, 0, sizeof o);
    o.config = d->generation->config;
    o.state_dir = d->state_dir;
    o.client = d->client;
    o.metrics = d->metrics;
    o.log = d->log;
    o.clock = d->clock;
    return ebb_notify_new(&d->loop, &o, &d->notify, err);
}

int ebb__daemon_open(struct ebb__daemon *d, struct ebb_err *err)
{
    int rc = open_pools(d, err);

    if (!rc)
        rc = open_notify(d, err);
    return rc ? rc : ebb__daemon_serve(d, err);
}

void ebb__daemon_lead(struct ebb__daemon *d)
{
    struct ebb_err err;

    if (ebb__daemon_open(d, &err)) {
        ebb__daemon_fail(d, &err);
        return;
    }
    d->is_serving = true;
    ebb__generation_gauges(d);
    ebb__pause_renamed(d);
    ebb__watch_open(d);
    ebb__place_write(d);
    ebb__status_write(d);
    ebb__say(&d->log, EBB_LOG_INFO, NULL, "serves on %s://%s, %zu policies, %zu bindings, %s",
             d->boot->config->serve.cert ? "https" : "http", d->address, d->generation->policy_count,
             d->generation->bound_count, d->generation->hash);
    ebb__systemd_tell(d, "READY=1\nSTATUS=serving");
    if (d->options->ready)
        d->options->ready(d->options->data, d->address);
    ebb__daemon_sync(d);
    ebb__daemon_list(d);
    d->clean_at_ms = ebb_clock_elapsed_ms() + EBB__TICK_MS;
}

/* ---- the end ---- */

void ebb__daemon_drain(struct ebb__daemon *d)
{
    if (d->is_draining)
        return;
    d->is_draining = true;
    d->drain_elapsed_ms = ebb_clock_elapsed_ms();
    ebb__systemd_tell(d, "STOPPING=1");
    atomic_store(&d->stop, true);
    ebb__daemon_stop_jobs(d);
    uv_timer_stop(&d->alarm);
    uv_timer_stop(&d->debounce);
    if (d->hub)
        ebb__status_write(d);
    ebb__daemon_close_more(d);
}

static bool is_working(const struct ebb__daemon *d)
{
    for (const struct ebb__running *r = d->running; r; r = r->next)
        if (r->is_working)
            return true;
    return d->looks || d->is_listing || d->is_saving_pause || d->is_syncing || d->is_cleaning ||
           (d->is_switching && !d->next);
}

static void drop_running(struct ebb__daemon *d)
{
    while (d->running) {
        struct ebb__running *r = d->running;

        d->running = r->next;
        ebb_arena_fini(&r->arena);
        free(r);
    }
}

static void on_handle(uv_handle_t *handle)
{
    ((struct ebb__daemon *)handle->data)->open_handles--;
}

static void end_loop(void *data)
{
    struct ebb__daemon *d = data;
    uv_handle_t *handles[] = {(uv_handle_t *)&d->tick,       (uv_handle_t *)&d->alarm,
                              (uv_handle_t *)&d->debounce,   (uv_handle_t *)&d->check,
                              (uv_handle_t *)&d->signals[0], (uv_handle_t *)&d->signals[1],
                              (uv_handle_t *)&d->signals[2]};

    d->hub = NULL;
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (handles[i]->data && !uv_is_closing(handles[i]))
            uv_close(handles[i], on_handle);
}

/* One more part is gone; workers and the hub go when nothing uses them any more. */
static void pools_gone(void *data)
{
    struct ebb__daemon *d = data;

    if (--d->closing)
        return;
    d->look_pool = d->job_pool = d->api_pool = NULL;
    drop_running(d);
    if (d->hub)
        ebb_hub_close(d->hub, end_loop, d);
    else
        end_loop(d);
}

static void close_pools(struct ebb__daemon *d)
{
    struct ebb_pool *pools[] = {d->look_pool, d->job_pool, d->api_pool};

    d->closing = 1;
    for (size_t i = 0; i < 3; i++)
        if (pools[i]) {
            d->closing++;
            ebb_pool_close(pools[i], pools_gone, d);
        }
    pools_gone(d);
}

static void client_gone(void *data)
{
    struct ebb__daemon *d = data;

    d->client = NULL;
    close_pools(d);
}

static void close_client(void *data)
{
    struct ebb__daemon *d = data;

    d->notify = NULL;
    if (d->client)
        ebb_http_client_close(d->client, client_gone, d);
    else
        client_gone(d);
}

static void close_notify(void *data)
{
    struct ebb__daemon *d = data;

    d->intake = NULL;
    if (d->notify)
        ebb_notify_close(d->notify, GRACE_MS, close_client, d);
    else
        close_client(d);
}

static void close_api(void *data)
{
    struct ebb__daemon *d = data;

    d->server = NULL;
    ebb_api_free(d->api);
    d->api = NULL;
    if (d->intake)
        ebb_intake_close(d->intake, close_notify, d);
    else
        close_notify(d);
}

void ebb__daemon_close_more(struct ebb__daemon *d)
{
    if (!d->is_draining || d->is_ending || is_working(d))
        return;
    d->is_ending = true;
    ebb__say(&d->log, EBB_LOG_INFO, NULL, "ends");
    if (d->is_serving)
        ebb__place_remove(d);
    ebb__watch_close(d);
    if (d->api)
        ebb_api_end_streams(d->api);
    if (d->server)
        ebb_http_server_close(d->server, GRACE_MS, close_api, d);
    else
        close_api(d);
}
