/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of a request: from its host's queue over tries and pauses to being told.
 */
#include "io/http_client_priv.h"

#include <stdio.h>
#include <stdlib.h>

static void launch_next(struct ebb_http_client *client, struct ebb__http_host *host);

struct ebb__http_host *ebb__http_host_of(struct ebb_http_client *client, const char *key)
{
    struct ebb__http_host *host;
    size_t n = strlen(key) + 1;

    for (host = client->hosts; host; host = host->next)
        if (!strcmp(host->key, key))
            return host;
    host = calloc(1, sizeof *host + n);
    if (!host)
        return NULL;
    memcpy(host->key, key, n);
    host->end = &host->first;
    host->next = client->hosts;
    client->hosts = host;
    return host;
}

static bool has_requests(const struct ebb_http_client *client, const struct ebb__http_host *host)
{
    for (const struct ebb_http_request *r = client->requests; r; r = r->next)
        if (r->host == host)
            return true;
    return false;
}

static void drop_host(struct ebb_http_client *client, struct ebb__http_host *host)
{
    struct ebb__http_host **at = &client->hosts;

    if (!host || host->running || host->first || has_requests(client, host))
        return;
    while (*at != host)
        at = &(*at)->next;
    *at = host->next;
    free(host);
}

static void wait_until(struct ebb_http_request *r, int64_t at)
{
    int64_t left = at - ebb_clock_elapsed_ms();

    uv_update_time(r->client->loop);
    uv_timer_start(&r->timer, ebb__http_timer, left > 0 ? (uint64_t)left : 0, 0);
}

void ebb__http_done(struct ebb_http_request *r)
{
    r->state = EBB__HTTP_DONE;
    uv_timer_start(&r->timer, ebb__http_timer, 0, 0);
}

static void late(struct ebb_http_request *r)
{
    ebb_err_set(&r->err, EBB_EIO, "%s: no answer within %u ms", r->where, r->deadline_ms);
    ebb__http_done(r);
}

void ebb__http_enqueue(struct ebb_http_request *r)
{
    r->state = EBB__HTTP_QUEUED;
    r->queue_next = NULL;
    *r->host->end = r;
    r->host->end = &r->queue_next;
    wait_until(r, r->ends_at);
    launch_next(r->client, r->host);
}

static void unqueue(struct ebb_http_request *r)
{
    struct ebb_http_request **at = &r->host->first;

    while (*at != r)
        at = &(*at)->queue_next;
    *at = r->queue_next;
    if (!*at)
        r->host->end = at;
}

static void launch(struct ebb_http_request *r)
{
    int64_t left = r->ends_at - ebb_clock_elapsed_ms();
    CURLMcode code;

    uv_timer_stop(&r->timer);
    if (left <= 0) {
        late(r);
        return;
    }
    r->tries++;
    ebb__http_easy_reset(r, left < r->try_ms ? (unsigned)left : r->try_ms);
    code = curl_multi_add_handle(r->client->multi, r->easy);
    if (code) {
        ebb_err_set(&r->err, EBB_EIO, "%s: %s", r->where, curl_multi_strerror(code));
        ebb__http_done(r);
        return;
    }
    r->state = EBB__HTTP_RUNNING;
    r->host->running++;
}

static void launch_next(struct ebb_http_client *client, struct ebb__http_host *host)
{
    while (!client->is_closing && host->first && host->running < client->per_host) {
        struct ebb_http_request *r = host->first;

        unqueue(r);
        launch(r);
    }
}

void ebb__http_leave(struct ebb_http_request *r)
{
    if (r->state == EBB__HTTP_QUEUED) {
        unqueue(r);
    } else if (r->state == EBB__HTTP_RUNNING) {
        curl_multi_remove_handle(r->client->multi, r->easy);
        r->host->running--;
        r->state = EBB__HTTP_PAUSED;
        launch_next(r->client, r->host);
    }
    uv_timer_stop(&r->timer);
}

void ebb__http_try_ended(struct ebb_http_request *r, CURLcode code)
{
    char status[20];
    unsigned wait;

    code = ebb__http_easy_result(r, code);
    ebb__http_leave(r);
    if (!ebb__http_retry(r, code, &wait)) {
        ebb__http_done(r);
        return;
    }
    snprintf(status, sizeof status, "status %d", r->status);
    ebb_log_say(&r->client->log, EBB_LOG_DEBUG, "http: %s %s: try %u of %u: %s; again in %u ms", r->method, r->where,
                r->tries, r->tries_max, code ? r->err.message : status, wait);
    r->state = EBB__HTTP_PAUSED;
    r->paused_until = ebb_clock_elapsed_ms() + wait;
    wait_until(r, r->paused_until);
}

void ebb__http_request_free(struct ebb_http_request *r)
{
    if (r->at) {
        *r->at = r->next;
        if (r->next)
            r->next->at = r->at;
    }
    drop_host(r->client, r->host);
    curl_easy_cleanup(r->easy);
    curl_slist_free_all(r->headers);
    free(r->method);
    free(r->url);
    free(r->body);
    ebb_strs_fini(&r->answer_headers);
    ebb_buf_fini(&r->answer);
    free(r);
}

static void timer_closed(uv_handle_t *handle)
{
    struct ebb_http_request *r = handle->data;
    struct ebb_http_client *client = r->client;

    ebb__http_request_free(r);
    if (client->is_closing && !client->requests)
        ebb__http_loop_finish(client);
}

static void tell(struct ebb_http_request *r)
{
    struct ebb_http_result result = {.tries = r->tries, .headers = &r->answer_headers};

    r->state = EBB__HTTP_TOLD;
    if (r->err.error) {
        ebb_strs_fini(&r->answer_headers);
        ebb_strs_init(&r->answer_headers);
    } else {
        result.status = r->status;
        result.body = ebb_buf_str(&r->answer);
    }
    r->cb(r->data, &result, &r->err);
    uv_close((uv_handle_t *)&r->timer, timer_closed);
}

/* The loop's time may lag behind, so a timer may come early. */
static bool is_early(struct ebb_http_request *r)
{
    int64_t at = r->state == EBB__HTTP_QUEUED ? r->ends_at : r->paused_until;

    if (ebb_clock_elapsed_ms() >= at)
        return false;
    wait_until(r, at);
    return true;
}

void ebb__http_timer(uv_timer_t *timer)
{
    struct ebb_http_request *r = timer->data;

    if (r->state == EBB__HTTP_DONE) {
        tell(r);
    } else if (!is_early(r)) {
        if (r->state == EBB__HTTP_PAUSED) {
            ebb__http_enqueue(r);
        } else {
            unqueue(r);
            late(r);
        }
    }
}
