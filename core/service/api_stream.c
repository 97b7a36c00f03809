/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers that come in pieces: server-sent events from the hub, and files.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "service/api_priv.h"

#define PIECE_BYTES ((size_t)64 << 10)

/* ---- server-sent events ---- */

struct ebb__api_stream {
    struct ebb_api *api;
    struct ebb_http_exchange *x;
    struct ebb_hub_listener *listener;
    int64_t begun_ms;
    bool is_ended;
    bool is_opening, is_gone; /* the peer went while it was opened */
    struct ebb__api_stream *next, **link;
};

static void say(struct ebb__api_stream *s, const char *text)
{
    if (!s->is_ended)
        ebb_http_stream_push(s->x, ebb_str_of(text));
}

static void on_news(void *data, int64_t id, const char *type, const char *json)
{
    struct ebb__api_stream *s = data;
    struct ebb_buf text;

    ebb_buf_init(&text, (size_t)1 << 20);
    ebb_buf_printf(&text, "id: %" PRId64 "\nevent: %s\ndata: ", id, type);
    ebb_buf_puts(&text, json);
    ebb_buf_puts(&text, "\n\n");
    if (!text.bad)
        say(s, ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

static void end_stream(struct ebb__api_stream *s)
{
    if (s->is_ended)
        return;
    s->is_ended = true;
    ebb_http_stream_end(s->x);
}

void ebb_api_end_streams(struct ebb_api *api)
{
    for (struct ebb__api_stream *s = api->streams, *next; s; s = next) {
        next = s->next;
        end_stream(s);
    }
}

static void on_beat(uv_timer_t *timer)
{
    struct ebb_api *api = timer->data;
    int64_t now_ms = ebb_clock_elapsed_ms();

    for (struct ebb__api_stream *s = api->streams, *next; s; s = next) {
        next = s->next;
        if (now_ms - s->begun_ms < EBB__API_STREAM_LIFE_MS) {
            say(s, ": still here\n\n");
        } else { /* whoever may not listen any more has to show a token again */
            end_stream(s);
        }
    }
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static int start_beat(struct ebb_api *api, struct ebb_err *err)
{
    if (api->beat)
        return 0;
    api->beat = malloc(sizeof *api->beat);
    if (!api->beat)
        return ebb_err_nomem(err);
    uv_timer_init(api->loop, api->beat);
    api->beat->data = api;
    uv_unref((uv_handle_t *)api->beat);
    uv_timer_start(api->beat, on_beat, EBB__API_STREAM_BEAT_MS, EBB__API_STREAM_BEAT_MS);
    return 0;
}

void ebb__api_close_streams(struct ebb_api *api)
{
    if (api->beat)
        uv_close((uv_handle_t *)api->beat, on_closed);
    api->beat = NULL;
}

static void unlink_stream(struct ebb__api_stream *s)
{
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    s->api->stream_count--;
}

static void on_stop(void *data)
{
    struct ebb__api_stream *s = data;

    s->is_ended = true;
    s->is_gone = true;
    if (s->is_opening)
        return;
    if (s->listener)
        ebb_hub_unlisten(s->api->options.hub, s->listener);
    unlink_stream(s);
    free(s);
}

/* News come when they come; nothing waits to be pulled. */
static void on_pull(void *data, struct ebb_http_exchange *x)
{
    (void)data;
    (void)x;
}

static void begin(struct ebb__api_request *r, struct ebb__api_stream *s, int64_t after)
{
    struct ebb_http_answer answer = {200, "text/event-stream", &r->call.headers};
    struct ebb_http_stream stream = {on_pull, on_stop, s};
    struct ebb_api *api = r->api;

    s->api = api;
    s->x = r->x;
    s->begun_ms = ebb_clock_elapsed_ms();
    s->next = api->streams;
    s->link = &api->streams;
    if (s->next)
        s->next->link = &s->next;
    api->streams = s;
    api->stream_count++;
    ebb_strs_add(&r->call.headers, "Cache-Control: no-store", NULL);
    ebb_metrics_add(api->options.metrics, EBB_METRIC_HTTP_REQUESTS, "200", 1);
    s->is_opening = true;
    ebb_http_reply_stream(r->x, &answer, &stream);
    say(s, "retry: 3000\n\n");
    if (!s->is_ended && ebb_hub_listen(api->options.hub, after, on_news, s, &s->listener, NULL)) {
        s->listener = NULL;
        end_stream(s);
    }
    s->is_opening = false;
    ebb__api_request_free(r);
    if (s->is_gone)
        on_stop(s);
}

void ebb__api_open_stream(struct ebb__api_request *r)
{
    struct ebb__api_stream *s = NULL;
    int64_t after = -1;
    struct ebb_err err;
    int rc;

    if (!strcmp(r->call.method, "HEAD")) {
        r->call.answer_type = "text/event-stream";
        ebb__api_answer(r);
        return;
    }
    rc = start_beat(r->api, &err);

    if (!rc && r->api->stream_count >= EBB__API_STREAMS_MAX)
        rc = ebb_err_set(&err, EBB_ELIMIT, "stream: %d are open already", EBB__API_STREAMS_MAX);
    s = rc ? NULL : calloc(1, sizeof *s);
    if (!rc && !s)
        rc = ebb_err_nomem(&err);
    if (rc) {
        ebb__api_fail(r, 503, &err);
        ebb__api_answer(r);
        return;
    }
    if (r->last_event_id)
        ebb_text_count(r->last_event_id, &after);
    begin(r, s, after);
}

int ebb__api_stream_get(struct ebb_api_call *call, struct ebb_err *err)
{
    int64_t after;

    if (call->last_event_id && !ebb_text_count(call->last_event_id, &after))
        return ebb_err_set(err, EBB_EUSAGE, "Last-Event-ID: a number is wanted");
    return 0;
}

/* ---- files ---- */

struct sending {
    struct ebb__api_request *r;
    uv_fs_t fs;
    bool is_reading, is_stopped;
    int64_t at;
    char piece[PIECE_BYTES];
};

static void sending_free(struct sending *s)
{
    ebb__api_request_free(s->r);
    free(s);
}

static void on_read(uv_fs_t *fs)
{
    struct sending *s = fs->data;
    ssize_t n = fs->result;

    uv_fs_req_cleanup(fs);
    s->is_reading = false;
    if (s->is_stopped) {
        sending_free(s);
    } else if (n <= 0) { /* an error, or shorter than it was: the answer is cut, and so is no whole one */
        ebb_http_stream_end(s->r->x);
    } else {
        s->at += n;
        ebb_http_stream_push(s->r->x, (struct ebb_str){s->piece, (size_t)n});
    }
}

static void pull_file(void *data, struct ebb_http_exchange *x)
{
    struct sending *s = data;
    int64_t left = s->r->call.stream_to - s->at;
    uv_buf_t buf = uv_buf_init(s->piece, left < (int64_t)PIECE_BYTES ? (unsigned)(left > 0 ? left : 0) : PIECE_BYTES);

    if (s->is_reading || s->is_stopped)
        return;
    if (left <= 0) {
        ebb_http_stream_end(x);
        return;
    }
    s->fs.data = s;
    s->is_reading = uv_fs_read(s->r->api->loop, &s->fs, s->r->call.stream_fd, &buf, 1, s->at, on_read) == 0;
    if (!s->is_reading)
        ebb_http_stream_end(x);
}

static void stop_file(void *data)
{
    struct sending *s = data;

    s->is_stopped = true;
    if (!s->is_reading)
        sending_free(s);
}

void ebb__api_send_file(struct ebb__api_request *r)
{
    struct ebb_http_answer answer = {r->call.status, r->call.answer_type, &r->call.headers};
    struct ebb_http_stream stream = {pull_file, stop_file, NULL};
    struct sending *s = calloc(1, sizeof *s);
    struct ebb_err err;

    if (!s) {
        ebb_err_nomem(&err);
        ebb__api_fail(r, 503, &err);
        ebb__api_answer(r);
        return;
    }
    s->r = r;
    s->at = r->call.stream_from;
    stream.data = s;
    ebb_http_reply_stream(r->x, &answer, &stream);
}
