/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "io/http_server_priv.h"

enum { HEADER_NAME_MAX = 64, PROBLEM_MAX = 64 * 1024 };

/* ---- headers ---- */

static bool add_line(struct MHD_Response *response, const char *line)
{
    const char *colon = strchr(line, ':');
    char name[HEADER_NAME_MAX + 1];

    if (!colon || colon == line || colon - line > HEADER_NAME_MAX)
        return false;
    for (const char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    memcpy(name, line, (size_t)(colon - line));
    name[colon - line] = '\0';
    return MHD_add_response_header(response, name, colon + 1 + strspn(colon + 1, " ")) == MHD_YES;
}

bool ebb__httpd_add_headers(struct ebb_http_exchange *x, struct MHD_Response *response,
                            const struct ebb_http_answer *answer)
{
    bool good = true, is_cached = false;

    for (size_t i = 0; answer->headers && i < answer->headers->count; i++) {
        good = good && add_line(response, answer->headers->items[i]);
        is_cached = is_cached || !strncasecmp(answer->headers->items[i], "Cache-Control:", 14);
    }
    if (answer->content_type)
        good = good && MHD_add_response_header(response, "Content-Type", answer->content_type) == MHD_YES;
    if (!is_cached)
        good = good && MHD_add_response_header(response, "Cache-Control", "no-store") == MHD_YES;
    good = good && MHD_add_response_header(response, "X-Content-Type-Options", "nosniff") == MHD_YES;
    /* libmicrohttpd takes a bare LF for the end of a chunk's line: nothing after such a body is taken for a request. */
    if ((x->server && x->server->is_closing) || ebb_http_header(x, "Transfer-Encoding"))
        good = good && MHD_add_response_header(response, "Connection", "close") == MHD_YES;
    return good;
}

/* ---- handing over ---- */

void ebb__httpd_resume(struct ebb_http_exchange *x)
{
    if (!x->is_suspended)
        return;
    x->is_suspended = false;
    MHD_resume_connection(x->mhd);
    ebb__httpd_wake(x->server);
}

enum MHD_Result ebb__httpd_queue(struct ebb_http_exchange *x)
{
    struct MHD_Response *response = x->response;
    enum MHD_Result rc;

    x->response = NULL;
    x->stage = EBB__HTTPD_QUEUED;
    x->is_answered = true;
    rc = MHD_queue_response(x->mhd, (unsigned)x->status, response);
    MHD_destroy_response(response);
    return rc;
}

/* ---- errors of the server's own ---- */

static const char *problem_body(struct ebb_http_server *server, int status, const char *why, struct ebb_buf *body)
{
    const char *type = NULL;

    if (server->options.problem)
        server->options.problem(server->options.data, status, why, body, &type);
    if (type && !body->bad)
        return type;
    ebb_buf_reset(body);
    ebb_buf_printf(body, "%s\n", why);
    return "text/plain";
}

enum MHD_Result ebb__httpd_refuse(struct ebb_http_exchange *x, int status, const char *why)
{
    struct ebb_http_answer answer = {status, NULL, NULL};
    struct ebb_buf body;
    bool good;

    x->stage = EBB__HTTPD_QUEUED;
    x->server->counts.refused++;
    ebb_log_say(&x->server->options.log, EBB_LOG_DEBUG, "http: %s: %d: %s", x->conn->peer, status, why);
    ebb_buf_init(&body, PROBLEM_MAX);
    answer.content_type = problem_body(x->server, status, why, &body);
    x->status = status;
    x->response =
        MHD_create_response_from_buffer(body.len, (void *)(uintptr_t)ebb_buf_cstr(&body), MHD_RESPMEM_MUST_COPY);
    ebb_buf_fini(&body);
    if (!x->response)
        return MHD_NO;
    good = ebb__httpd_add_headers(x, x->response, &answer) &&
           MHD_add_response_header(x->response, "Connection", "close") == MHD_YES;
    if (good && (status == 429 || status == 503))
        good = MHD_add_response_header(x->response, "Retry-After", "1") == MHD_YES;
    return good ? ebb__httpd_queue(x) : MHD_NO;
}

/* ---- answers of the handler ---- */

static struct MHD_Response *whole_response(const struct ebb_http_answer *answer, struct ebb_buf *body)
{
    size_t n = body && answer->content_type ? body->len : 0;
    char *bytes = n ? ebb_buf_take(body) : NULL;
    struct MHD_Response *response;

    if (!n)
        return MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    if (!bytes)
        return NULL;
    response = MHD_create_response_from_buffer(n, bytes, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(bytes);
    return response;
}

/* What is answered when the answer that was given can't be. */
static struct MHD_Response *failed_response(struct ebb_http_exchange *x)
{
    static const char text[] = "the answer could not be made\n";
    const struct ebb_http_answer answer = {500, "text/plain", NULL};
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof text - 1, (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);

    x->status = answer.status;
    if (response)
        ebb__httpd_add_headers(x, response, &answer);
    return response;
}

void ebb__httpd_give(struct ebb_http_exchange *x, struct MHD_Response *response, const struct ebb_http_answer *answer)
{
    x->is_answered = true;
    x->status = answer->status;
    x->response = response;
    if (response && (answer->status < 200 || answer->status > 599 || !ebb__httpd_add_headers(x, response, answer))) {
        MHD_destroy_response(response);
        x->response = NULL;
    }
    if (!x->response)
        x->response = failed_response(x);
    ebb__httpd_resume(x);
}

void ebb_http_reply(struct ebb_http_exchange *x, const struct ebb_http_answer *answer, struct ebb_buf *body)
{
    bool is_bad = body && body->bad;

    if (x->mhd)
        ebb__httpd_give(x, is_bad ? NULL : whole_response(answer, body), answer);
    if (body)
        ebb_buf_fini(body);
    if (!x->mhd)
        ebb__httpd_exchange_free(x);
}
