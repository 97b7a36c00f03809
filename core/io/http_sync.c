/* SPDX-License-Identifier: Apache-2.0 */
#include "io/http_sync.h"

#include <stdlib.h>
#include <strings.h>

#define LOOK_MS 100 /* how often the flag is looked at */

struct ebb_http_sync {
    uv_loop_t loop;
    uv_timer_t look;
    struct ebb_http_client *client;
    const atomic_bool *cancelled;
    size_t pending;
    uint64_t told; /* callbacks that have run */
    bool is_closed, is_deaf;
};

/* One request under way. */
struct flight {
    struct ebb_http_sync *sync;
    ebb_http_call_cb *cb;
    void *data;
};

static void on_look(uv_timer_t *timer)
{
    (void)timer; /* the loop only has to turn */
}

static void on_client_closed(void *data)
{
    struct ebb_http_sync *sync = data;

    sync->is_closed = true;
}

static void on_walk(uv_handle_t *handle, void *data)
{
    (void)data;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void close_loop(struct ebb_http_sync *sync)
{
    uv_walk(&sync->loop, on_walk, NULL);
    uv_run(&sync->loop, UV_RUN_DEFAULT);
    uv_loop_close(&sync->loop);
}

int ebb_http_sync_new(const struct ebb_http_client_options *options, const atomic_bool *cancelled,
                      struct ebb_http_sync **out, struct ebb_err *err)
{
    struct ebb_http_sync *sync = calloc(1, sizeof *sync);
    int rc;

    *out = NULL;
    if (!sync)
        return ebb_err_nomem(err);
    rc = uv_loop_init(&sync->loop);
    if (rc) {
        free(sync);
        return ebb_err_errno(err, -rc, "event loop");
    }
    sync->cancelled = cancelled;
    uv_timer_init(&sync->loop, &sync->look);
    rc = ebb_http_client_new(&sync->loop, options, &sync->client, err);
    if (rc) {
        close_loop(sync);
        free(sync);
        return rc;
    }
    *out = sync;
    return 0;
}

void ebb_http_sync_free(struct ebb_http_sync *sync)
{
    if (!sync)
        return;
    ebb_http_client_close(sync->client, on_client_closed, sync);
    while (!sync->is_closed)
        uv_run(&sync->loop, UV_RUN_ONCE);
    close_loop(sync);
    free(sync);
}

static void on_answer(void *data, const struct ebb_http_result *result, const struct ebb_err *err)
{
    struct flight flight = *(struct flight *)data;

    free(data);
    flight.sync->pending--;
    flight.sync->told++;
    flight.cb(flight.data, result, err);
}

int ebb_http_sync_start(struct ebb_http_sync *sync, const struct ebb_http_call *call, ebb_http_call_cb *cb, void *data,
                        struct ebb_err *err)
{
    struct flight *flight = malloc(sizeof *flight);
    int rc;

    if (!flight)
        return ebb_err_nomem(err);
    *flight = (struct flight){sync, cb, data};
    rc = ebb_http_start(sync->client, call, on_answer, flight, NULL, err);
    if (rc)
        free(flight);
    else
        sync->pending++;
    return rc;
}

size_t ebb_http_sync_pending(const struct ebb_http_sync *sync)
{
    return sync->pending;
}

static bool is_cancelled(const struct ebb_http_sync *sync)
{
    return !sync->is_deaf && sync->cancelled && atomic_load(sync->cancelled);
}

void ebb_http_sync_set_deaf(struct ebb_http_sync *sync, bool is_deaf)
{
    sync->is_deaf = is_deaf;
}

int ebb_http_sync_turn(struct ebb_http_sync *sync, int64_t max_ms, struct ebb_err *err)
{
    uint64_t before = sync->told;
    int64_t ends = max_ms < 0 ? INT64_MAX : ebb_clock_elapsed_ms() + max_ms;
    uint64_t look = max_ms >= 0 && max_ms < LOOK_MS ? (uint64_t)max_ms : LOOK_MS;

    if (!sync->pending && max_ms < 0)
        return 0;
    uv_update_time(&sync->loop);
    uv_timer_start(&sync->look, on_look, look, LOOK_MS);
    while (sync->told == before && !is_cancelled(sync) && ebb_clock_elapsed_ms() < ends)
        uv_run(&sync->loop, UV_RUN_ONCE);
    uv_timer_stop(&sync->look);
    if (sync->told == before && is_cancelled(sync))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: while waiting for an answer");
    return 0;
}

void ebb_http_sync_poll(struct ebb_http_sync *sync)
{
    uv_run(&sync->loop, UV_RUN_NOWAIT);
}

/* ---- one call ---- */

struct waiting {
    struct ebb_http_fetched *out; /* NULL: nobody waits any more */
    bool is_done;
    int rc;
    struct ebb_err err;
};

static int take(struct ebb_http_fetched *out, const struct ebb_http_result *result, struct ebb_err *err)
{
    int rc = 0;

    out->status = result->status;
    out->tries = result->tries;
    for (size_t i = 0; !rc && i < result->headers->count; i++)
        rc = ebb_strs_add(&out->headers, result->headers->items[i], err);
    ebb_buf_add_str(&out->body, result->body);
    return rc ? rc : ebb_buf_check(&out->body, "answer", err);
}

static void on_fetched(void *data, const struct ebb_http_result *result, const struct ebb_err *err)
{
    struct waiting *w = data;

    if (!w->out) {
        free(w);
        return;
    }
    w->is_done = true;
    w->err = *err;
    w->rc = err->error ? -(int)err->error : take(w->out, result, &w->err);
}

/* The callback comes once more, when the client is freed or turned: then it is that which frees. */
static int wait_for(struct ebb_http_sync *sync, struct waiting *w, struct ebb_err *err)
{
    int rc = 0;

    while (!rc && !w->is_done)
        rc = ebb_http_sync_turn(sync, -1, err);
    if (!w->is_done) {
        w->out = NULL;
        return rc;
    }
    rc = w->rc;
    if (rc && err)
        *err = w->err;
    free(w);
    return rc;
}

int ebb_http_sync_call(struct ebb_http_sync *sync, const struct ebb_http_call *call, struct ebb_http_fetched *out,
                       struct ebb_err *err)
{
    struct waiting *w = calloc(1, sizeof *w);
    int rc;

    memset(out, 0, sizeof *out);
    ebb_strs_init(&out->headers);
    ebb_buf_init(&out->body, SIZE_MAX / 2);
    if (!w)
        return ebb_err_nomem(err);
    w->out = out;
    rc = ebb_http_sync_start(sync, call, on_fetched, w, err);
    if (rc) {
        free(w);
        return rc;
    }
    return wait_for(sync, w, err);
}

void ebb_http_fetched_fini(struct ebb_http_fetched *fetched)
{
    ebb_strs_fini(&fetched->headers);
    ebb_buf_fini(&fetched->body);
    memset(fetched, 0, sizeof *fetched);
}

void ebb_http_encode(struct ebb_buf *out, struct ebb_str text, bool keep_slash)
{
    static const char KEPT[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c && (strchr(KEPT, c) || (keep_slash && c == '/')))
            ebb_buf_putc(out, (char)c);
        else
            ebb_buf_printf(out, "%%%02X", c);
    }
}
