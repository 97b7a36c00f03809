/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <strings.h>

#include "io/http_server_priv.h"

static size_t head_memory(const struct ebb_http_server *server)
{
    return server->options.limits.header_bytes * 4 +
           (EBB__HTTPD_HEADERS_MAX + 1) * (sizeof(struct ebb__httpd_header) + 64) + 4096;
}

static struct ebb__httpd_conn *conn_of(struct MHD_Connection *mhd)
{
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

void *ebb__httpd_uri(void *data, const char *uri, struct MHD_Connection *mhd)
{
    struct ebb_http_server *server = data;
    struct ebb__httpd_conn *conn = conn_of(mhd);
    struct ebb_http_exchange *x = conn ? calloc(1, sizeof *x) : NULL;

    server->has_progressed = true;
    if (!x)
        return NULL;
    *x = (struct ebb_http_exchange){.server = server, .conn = conn, .mhd = mhd, .is_loopback = conn->is_loopback};
    x->is_tls = server->is_tls;
    ebb_arena_init(&x->arena, head_memory(server));
    ebb_buf_init(&x->body, server->options.limits.body_bytes);
    ebb_buf_init(&x->pushed, SIZE_MAX / 2);
    x->raw_target = uri ? uri : "";
    x->raw_target_n = strlen(x->raw_target);
    x->target = ebb_arena_dup(&x->arena, x->raw_target, x->raw_target_n);
    x->peer = ebb_arena_dup(&x->arena, conn->peer, strlen(conn->peer));
    conn->x = x;
    conn->deadline_ms = uv_now(server->loop) + server->options.limits.request_ms;
    return x;
}

void ebb__httpd_exchange_free(struct ebb_http_exchange *x)
{
    if (x->response)
        MHD_destroy_response(x->response);
    ebb_buf_fini(&x->body);
    ebb_buf_fini(&x->pushed);
    ebb_arena_fini(&x->arena);
    free(x);
}

/* ---- reading ---- */

static bool is_body_announced(const struct ebb_http_exchange *x)
{
    const char *length = ebb_http_header(x, "Content-Length");

    return ebb_http_header(x, "Transfer-Encoding") || (length && length[strspn(length, "0")]);
}

/* Refuse before the body: libmicrohttpd closes the connection then. */
static enum MHD_Result refuse_early(struct ebb_http_exchange *x, int status, const char *why)
{
    x->conn->lingers = is_body_announced(x) || status == 400 || status == 431;
    return ebb__httpd_refuse(x, status, why);
}

static int check_body(struct ebb_http_exchange *x, const char **why)
{
    const struct ebb_http_limits *limits = &x->server->options.limits;
    const char *length = ebb_http_header(x, "Content-Length");

    *why = "the body is too large";
    if (length && strtoull(length, NULL, 10) > limits->body_bytes)
        return 413;
    *why = "too many requests are being read";
    return is_body_announced(x) && x->server->body_bytes > limits->body_bytes * (EBB__HTTPD_BODIES - 1) ? 503 : 0;
}

static enum MHD_Result read_head(struct ebb_http_exchange *x, const char *method, const char *version)
{
    struct ebb_http_server *server = x->server;
    const unsigned rate = server->options.limits.requests_per_s;
    const char *why = NULL;
    int status;

    x->stage = EBB__HTTPD_BODY;
    server->counts.requests++;
    if (!x->target || !x->peer)
        return MHD_NO;
    status = ebb__httpd_check_head(x, method, version, &why);
    if (!ebb__httpd_address_allows(x->conn->from, rate, uv_now(server->loop)))
        return refuse_early(x, 429, "too many requests");
    if (!status && server->is_closing)
        return refuse_early(x, 503, "the server is being stopped");
    if (!status)
        status = check_body(x, &why);
    return status ? refuse_early(x, status, why) : MHD_YES;
}

static enum MHD_Result read_body(struct ebb_http_exchange *x, const char *bytes, size_t *n)
{
    const size_t max = x->server->options.limits.body_bytes;
    size_t got = *n;

    *n = 0;
    if (x->body_excess || got > max - x->body.len) {
        x->body_excess += got;
        return x->body_excess > max ? MHD_NO : MHD_YES;
    }
    ebb_buf_append(&x->body, bytes, got);
    if (x->body.bad)
        return MHD_NO;
    x->server->body_bytes += got;
    return MHD_YES;
}

static enum MHD_Result hand_over(struct ebb_http_exchange *x)
{
    x->conn->deadline_ms = 0;
    x->stage = EBB__HTTPD_HANDED;
    if (x->body_excess)
        return ebb__httpd_refuse(x, 413, "the body is too large");
    x->server->options.handler(x->server->options.data, x);
    if (x->is_answered)
        return x->response ? ebb__httpd_queue(x) : MHD_NO;
    x->is_suspended = true;
    MHD_suspend_connection(x->mhd);
    return MHD_YES;
}

enum MHD_Result ebb__httpd_access(void *data, struct MHD_Connection *mhd, const char *url, const char *method,
                                  const char *version, const char *bytes, size_t *n, void **context)
{
    struct ebb_http_server *server = data;
    struct ebb_http_exchange *x = *context;

    (void)mhd;
    (void)url;
    server->has_progressed = true;
    if (!x)
        return MHD_NO;
    if (x->stage == EBB__HTTPD_HEAD)
        return read_head(x, method, version);
    if (*n)
        return read_body(x, bytes, n);
    if (x->stage == EBB__HTTPD_BODY)
        return hand_over(x);
    return x->response ? ebb__httpd_queue(x) : MHD_NO;
}

/* ---- the end ---- */

static void next_request(struct ebb__httpd_conn *conn)
{
    const struct ebb_http_limits *limits = &conn->server->options.limits;

    conn->x = NULL;
    conn->deadline_ms = uv_now(conn->server->loop) + limits->idle_ms + limits->request_ms;
    if (conn->server->is_closing)
        ebb__httpd_conn_end(conn);
}

void ebb__httpd_notify_completed(void *data, struct MHD_Connection *mhd, void **context,
                                 enum MHD_RequestTerminationCode code)
{
    struct ebb_http_server *server = data;
    struct ebb_http_exchange *x = *context;
    bool is_handed;

    (void)mhd;
    (void)code;
    *context = NULL;
    if (!x)
        return;
    is_handed = x->stage == EBB__HTTPD_HANDED;
    server->body_bytes -= x->body.len;
    next_request(x->conn);
    x->conn = NULL;
    x->server = NULL;
    x->mhd = NULL;
    x->is_suspended = false;
    if (x->is_stream)
        x->stream.stop(x->stream.data);
    if (x->is_answered || !is_handed)
        ebb__httpd_exchange_free(x);
}

/* ---- what the handler asks ---- */

const char *ebb_http_method(const struct ebb_http_exchange *x)
{
    return x->method;
}

const char *ebb_http_path(const struct ebb_http_exchange *x)
{
    return x->path;
}

const char *ebb_http_query(const struct ebb_http_exchange *x)
{
    return x->query;
}

const char *ebb_http_header(const struct ebb_http_exchange *x, const char *name)
{
    for (size_t i = 0; i < x->header_count; i++)
        if (!strcasecmp(x->headers[i].name, name))
            return x->headers[i].value;
    return NULL;
}

struct ebb_str ebb_http_body(const struct ebb_http_exchange *x)
{
    return ebb_buf_str(&x->body);
}

const char *ebb_http_peer(const struct ebb_http_exchange *x)
{
    return x->peer;
}

bool ebb_http_is_loopback(const struct ebb_http_exchange *x)
{
    return x->is_loopback;
}

bool ebb_http_is_tls(const struct ebb_http_exchange *x)
{
    return x->is_tls;
}
