/* SPDX-License-Identifier: Apache-2.0 */
#include "io/http_server_priv.h"

enum { STREAM_BLOCK = 16 * 1024 };

static size_t waiting(const struct ebb_http_exchange *x)
{
    return x->pushed.len - x->pushed_at;
}

static ssize_t take(struct ebb_http_exchange *x, char *to, size_t max)
{
    size_t n = waiting(x) < max ? waiting(x) : max;

    memcpy(to, x->pushed.data + x->pushed_at, n);
    x->pushed_at += n;
    if (!waiting(x)) {
        ebb_buf_reset(&x->pushed);
        x->pushed_at = 0;
    }
    return (ssize_t)n;
}

/* libmicrohttpd wants more of the body. */
static ssize_t read_stream(void *data, uint64_t at, char *to, size_t max)
{
    struct ebb_http_exchange *x = data;

    (void)at;
    x->server->has_progressed = true;
    if (!waiting(x) && !x->is_ended && !x->is_broken && !x->is_pulling) {
        x->is_pulling = true;
        x->stream.pull(x->stream.data, x);
    }
    if (x->is_broken)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (waiting(x))
        return take(x, to, max);
    if (x->is_ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    x->is_suspended = true;
    MHD_suspend_connection(x->mhd);
    return 0;
}

void ebb_http_reply_stream(struct ebb_http_exchange *x, const struct ebb_http_answer *answer,
                           const struct ebb_http_stream *stream)
{
    struct MHD_Response *response;

    if (!x->mhd) {
        stream->stop(stream->data);
        ebb__httpd_exchange_free(x);
        return;
    }
    x->stream = *stream;
    x->is_stream = true;
    response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, x, NULL);
    /* Without a body there must be no chunked one either: libmicrohttpd would send its end. */
    if (response && (!strcmp(x->method, "HEAD") || answer->status == 304))
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    ebb__httpd_give(x, response, answer);
}

static void break_off(struct ebb_http_exchange *x)
{
    x->is_broken = true;
    if (x->conn)
        ebb__httpd_conn_end(x->conn);
}

/* So that a stream whose peer is always a little behind does not grow. */
static void drop_taken(struct ebb_http_exchange *x)
{
    if (x->pushed_at <= waiting(x))
        return;
    memmove(x->pushed.data, x->pushed.data + x->pushed_at, waiting(x));
    x->pushed.len -= x->pushed_at;
    x->pushed_at = 0;
}

void ebb_http_stream_push(struct ebb_http_exchange *x, struct ebb_str piece)
{
    if (!x->mhd || x->is_ended || x->is_broken || !piece.n)
        return;
    if (!x->is_pulling && piece.n + waiting(x) > EBB__HTTPD_PUSHED_MAX) {
        break_off(x);
        return;
    }
    x->is_pulling = false;
    drop_taken(x);
    ebb_buf_add_str(&x->pushed, piece);
    if (x->pushed.bad)
        break_off(x);
    else
        ebb__httpd_resume(x);
}

void ebb_http_stream_end(struct ebb_http_exchange *x)
{
    if (!x->mhd || x->is_ended)
        return;
    x->is_ended = true;
    ebb__httpd_resume(x);
}
