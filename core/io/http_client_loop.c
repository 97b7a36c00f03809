/* SPDX-License-Identifier: Apache-2.0
 *
 * curl's multi interface on the loop: its sockets are watched, its one timer is kept, and what ended is taken after
 * each action, whatever the action said.
 */
#include "io/http_client_priv.h"

#include <stdlib.h>

#define KEPT_CONNECTIONS 64

struct watch {
    uv_poll_t poll;
    curl_socket_t fd;
    struct ebb_http_client *client;
};

static void handle_gone(struct ebb_http_client *client)
{
    void (*closed)(void *data) = client->closed;
    void *data = client->data;

    if (--client->handles)
        return;
    ebb__http_client_free(client);
    if (closed)
        closed(data);
}

static void take_ended(struct ebb_http_client *client)
{
    CURLMsg *msg;
    int left;

    while ((msg = curl_multi_info_read(client->multi, &left))) {
        struct ebb_http_request *r = NULL;
        CURLcode code = msg->data.result;

        if (msg->msg == CURLMSG_DONE && !curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &r) && r)
            ebb__http_try_ended(r, code);
    }
}

/* curl gave up on all of them: a socket could not be watched. */
static void end_all(struct ebb_http_client *client)
{
    for (struct ebb_http_request *r = client->requests; r; r = r->next)
        if (r->state == EBB__HTTP_RUNNING)
            ebb__http_try_ended(r, CURLE_ABORTED_BY_CALLBACK);
}

static void act(struct ebb_http_client *client, curl_socket_t fd, int events)
{
    int running;
    CURLMcode code = curl_multi_socket_action(client->multi, fd, events, &running);

    take_ended(client);
    if (code) {
        ebb_log_say(&client->log, EBB_LOG_ERROR, "http: %s", curl_multi_strerror(code));
        end_all(client);
    }
}

static void polled(uv_poll_t *poll, int status, int events)
{
    struct watch *w = poll->data;
    int flags = 0;

    if (status < 0)
        flags = CURL_CSELECT_ERR;
    if (events & UV_READABLE)
        flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        flags |= CURL_CSELECT_OUT;
    act(w->client, w->fd, flags);
}

static void timed(uv_timer_t *timer)
{
    act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int set_timer(CURLM *multi, long timeout_ms, void *data)
{
    struct ebb_http_client *client = data;

    (void)multi;
    if (client->is_finishing)
        return 0;
    if (timeout_ms < 0) {
        uv_timer_stop(&client->timer);
        return 0;
    }
    uv_update_time(client->loop);
    uv_timer_start(&client->timer, timed, (uint64_t)timeout_ms, 0);
    return 0;
}

static void watch_closed(uv_handle_t *handle)
{
    struct watch *w = handle->data;
    struct ebb_http_client *client = w->client;

    free(w);
    handle_gone(client);
}

static void unwatch(struct ebb_http_client *client, struct watch *w)
{
    curl_multi_assign(client->multi, w->fd, NULL);
    uv_poll_stop(&w->poll);
    uv_close((uv_handle_t *)&w->poll, watch_closed);
}

static struct watch *watch_new(struct ebb_http_client *client, curl_socket_t fd)
{
    struct watch *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->fd = fd;
    w->client = client;
    if (uv_poll_init(client->loop, &w->poll, fd)) {
        free(w);
        return NULL;
    }
    w->poll.data = w;
    client->handles++;
    curl_multi_assign(client->multi, fd, w);
    return w;
}

static int set_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *of_socket)
{
    struct ebb_http_client *client = data;
    struct watch *w = of_socket;
    int events = (what != CURL_POLL_OUT ? UV_READABLE : 0) | (what != CURL_POLL_IN ? UV_WRITABLE : 0);

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (w)
            unwatch(client, w);
        return 0;
    }
    if (!w)
        w = watch_new(client, fd);
    return w && !uv_poll_start(&w->poll, events, polled) ? 0 : -1;
}

#define SET(option, value) (code = code ? code : curl_multi_setopt(client->multi, option, value))

int ebb__http_loop_open(struct ebb_http_client *client, struct ebb_err *err)
{
    CURLMcode code = CURLM_OK;

    client->multi = curl_multi_init();
    if (!client->multi)
        return ebb_err_nomem(err);
    SET(CURLMOPT_SOCKETFUNCTION, set_socket);
    SET(CURLMOPT_SOCKETDATA, client);
    SET(CURLMOPT_TIMERFUNCTION, set_timer);
    SET(CURLMOPT_TIMERDATA, client);
    SET(CURLMOPT_MAX_HOST_CONNECTIONS, (long)client->per_host);
    SET(CURLMOPT_MAXCONNECTS, (long)KEPT_CONNECTIONS);
    if (code)
        return ebb_err_set(err, EBB_EINTERNAL, "HTTP client: %s", curl_multi_strerror(code));
    uv_timer_init(client->loop, &client->timer);
    client->timer.data = client;
    client->handles = 1;
    return 0;
}

#undef SET

static void timer_closed(uv_handle_t *handle)
{
    handle_gone(handle->data);
}

void ebb__http_loop_finish(struct ebb_http_client *client)
{
    client->is_finishing = true;
    curl_multi_cleanup(client->multi);
    client->multi = NULL;
    uv_close((uv_handle_t *)&client->timer, timer_closed);
}
