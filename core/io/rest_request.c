/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "io/rest_priv.h"

#define RENEWALS_MAX 3
#define URL_MAX ((size_t)16384)
#define TRIES 5
#define SMALL_MS 120000
#define LARGE_MS 900000
#define TRY_SMALL_MS 60000
#define TRY_LARGE_MS 600000

void ebb__rest_ask_init(struct ebb__rest_ask *ask, const char *what)
{
    memset(ask, 0, sizeof *ask);
    ebb_buf_init(&ask->path, URL_MAX);
    ask->what = what;
}

void ebb__rest_ask_fini(struct ebb__rest_ask *ask)
{
    ebb_buf_fini(&ask->path);
}

/* ---- sending ---- */

struct flight {
    struct ebb__rest *rest;
    struct ebb__rest_ask *ask;
};

static int add_header(struct ebb_strs *headers, const char *name, const char *value, struct ebb_err *err)
{
    struct ebb_buf line;
    int rc;

    ebb_buf_init(&line, (size_t)128 * 1024);
    ebb_buf_printf(&line, "%s: %s", name, value);
    rc = ebb_buf_check(&line, name, err);
    if (!rc)
        rc = ebb_strs_add(headers, ebb_buf_cstr(&line), err);
    if (line.data)
        memset(line.data, 0, line.len);
    ebb_buf_fini(&line);
    return rc;
}

static int put_headers(const struct ebb__rest *r, const struct ebb__rest_ask *ask, struct ebb_strs *headers,
                       struct ebb_err *err)
{
    const char *token = ask->token ? ask->token : r->token;
    struct ebb_buf bearer;
    int rc = add_header(headers, "Accept", "application/json", err);

    ebb_buf_init(&bearer, (size_t)128 * 1024);
    if (token)
        ebb_buf_printf(&bearer, "Bearer %s", token);
    if (!rc && ask->body.n)
        rc = add_header(headers, "Content-Type", "application/json", err);
    if (!rc && token)
        rc = add_header(headers, "Authorization", ebb_buf_cstr(&bearer), err);
    if (!rc && ask->etag)
        rc = add_header(headers, "If-None-Match", ask->etag, err);
    if (!rc && ask->wants_vended)
        rc = add_header(headers, "X-Iceberg-Access-Delegation", "vended-credentials", err);
    for (size_t i = 0; !rc && i < r->headers.count; i++)
        rc = ebb_strs_add(headers, r->headers.items[i], err);
    ebb_buf_fini(&bearer);
    return rc;
}

static int make_url(const struct ebb__rest *r, const struct ebb__rest_ask *ask, struct ebb_buf *url,
                    struct ebb_err *err)
{
    bool has_prefix = !ask->is_bare && r->prefix && r->prefix[0];

    ebb_buf_printf(url, "%s/v1/%s%s", ask->is_bare ? r->given_uri : r->uri, has_prefix ? r->prefix : "",
                   has_prefix ? "/" : "");
    ebb_buf_add_str(url, ebb_buf_str(&ask->path));
    return ask->path.bad ? ebb_buf_check(&ask->path, ask->what, err) : ebb_buf_check(url, ask->what, err);
}

static void on_answer(void *data, const struct ebb_http_result *result, const struct ebb_err *err)
{
    struct flight f = *(struct flight *)data;
    struct ebb__rest_ask *ask = f.ask;
    int rc = 0;

    free(data);
    ask->is_done = true;
    ask->status = result ? result->status : 0;
    f.rest->requests += result ? result->tries : 0;
    memset(&ask->err, 0, sizeof ask->err);
    if (err->error)
        ebb__rest_fail_unanswered(f.rest, ask->what, err, &ask->err);
    else if ((ask->status >= 200 && ask->status < 300) || (ask->status == 304 && ask->etag))
        rc = ask->take ? ask->take(ask->data, result, &ask->err) : 0;
    else
        ebb__rest_fail(f.rest, ask->what, ask->status, result->body, ask->type, &ask->err);
    if (!rc && !err->error && ask->status >= 200 && ask->status < 300)
        memset(&ask->err, 0, sizeof ask->err);
}

static int send_with(struct ebb__rest *r, struct ebb__rest_ask *ask, const struct ebb_strs *headers, const char *url,
                     struct ebb_err *err)
{
    bool is_large = ask->answer_bytes > EBB__REST_SMALL;
    bool is_get = !ask->method;
    const struct ebb_http_call call = {.method = ask->method ? ask->method : "GET",
                                       .url = url,
                                       .headers = headers,
                                       .body = ask->body,
                                       .answer_bytes = ask->answer_bytes ? ask->answer_bytes : EBB__REST_SMALL,
                                       .deadline_ms = is_large ? LARGE_MS : SMALL_MS,
                                       .try_ms = is_large || !is_get ? TRY_LARGE_MS : TRY_SMALL_MS,
                                       .tries = is_get ? TRIES : 1,
                                       .seed = (uint64_t)ebb_clock_elapsed_ms()};
    struct flight *flight = malloc(sizeof *flight);
    int rc;

    if (!flight)
        return ebb_err_nomem(err);
    *flight = (struct flight){r, ask};
    ask->turn = r->token_turn;
    rc = ebb_http_sync_start(r->http, &call, on_answer, flight, err);
    if (rc)
        free(flight);
    return rc;
}

/* A request that can't be made is that request's problem. */
static int send_ask(struct ebb__rest *r, struct ebb__rest_ask *ask, struct ebb_err *err)
{
    struct ebb_strs headers;
    struct ebb_buf url;
    struct ebb_err why = {0};
    int rc;

    ebb_strs_init(&headers);
    ebb_buf_init(&url, URL_MAX);
    ask->is_done = false;
    rc = make_url(r, ask, &url, &why);
    if (!rc)
        rc = put_headers(r, ask, &headers, &why);
    if (!rc)
        rc = send_with(r, ask, &headers, ebb_buf_cstr(&url), &why);
    ebb_strs_fini(&headers);
    ebb_buf_fini(&url);
    if (!rc)
        return 0;
    ask->is_done = true;
    if (rc == -(int)EBB_ENOMEM)
        return ebb_err_nomem(err);
    ebb__rest_fail_unanswered(r, ask->what, &why, &ask->err);
    return 0;
}

/* ---- many ---- */

static int open_http(struct ebb__rest *r, struct ebb_err *err)
{
    const struct ebb_http_client_options options = {
        .per_host = EBB__REST_PARALLEL, .ca_file = r->ca_file, .log = r->log};

    int rc = r->http ? 0 : ebb_http_sync_new(&options, r->cancelled, &r->http, err);

    if (!rc)
        ebb_http_sync_set_deaf(r->http, r->is_deaf);
    return rc;
}

void ebb__rest_set_deaf(struct ebb__rest *r, bool is_deaf)
{
    r->is_deaf = is_deaf;
    if (r->http)
        ebb_http_sync_set_deaf(r->http, is_deaf);
}

/* The token was not taken (any more): again with another, if there is one. Others that are under way may use up that
 * one, too. */
static bool is_refused(const struct ebb__rest_ask *ask)
{
    return ask->is_done && (ask->status == 401 || ask->status == 419) && ask->renewals < RENEWALS_MAX && !ask->token;
}

static int send_again(struct ebb__rest *r, struct ebb__rest_ask *ask, struct ebb_err *err)
{
    struct ebb_err why = {0};
    int rc;

    ask->renewals++;
    if (!r->credential && r->token_turn == ask->turn)
        return 0; /* there is no other */
    rc = ebb__rest_renew(r, ask->turn, &why);
    if (rc) {
        if (err)
            *err = why;
        return rc;
    }
    ask->type[0] = '\0';
    return send_ask(r, ask, err);
}

static int run_many(struct ebb__rest *r, struct ebb__rest_ask *asks, size_t n, struct ebb_err *err)
{
    size_t next = 0, first = 0;
    int rc = 0;

    while (!rc && first < n) {
        while (!rc && next < n && ebb_http_sync_pending(r->http) < 2 * EBB__REST_PARALLEL) {
            rc = ebb__rest_authorize(r, err);
            if (!rc)
                rc = send_ask(r, &asks[next++], err);
        }
        if (!rc && ebb_http_sync_pending(r->http))
            rc = ebb_http_sync_turn(r->http, -1, err);
        for (size_t i = first; !rc && i < next; i++)
            if (is_refused(&asks[i]))
                rc = send_again(r, &asks[i], err);
        /* one may have been refused while another got a token */
        while (first < next && asks[first].is_done && !is_refused(&asks[first]))
            first++;
    }
    return rc;
}

int ebb__rest_ask_many(struct ebb__rest *r, struct ebb__rest_ask *asks, size_t n, struct ebb_err *err)
{
    int rc = open_http(r, err);

    if (!rc)
        rc = run_many(r, asks, n, err);
    if (r->http && ebb_http_sync_pending(r->http)) { /* they end now: their callbacks know the asks */
        ebb_http_sync_free(r->http);
        r->http = NULL;
    }
    for (size_t i = 0; !rc && i < n; i++)
        if (asks[i].err.error == EBB_ECANCELLED || asks[i].err.error == EBB_ENOMEM) {
            rc = -(int)asks[i].err.error;
            if (err)
                *err = asks[i].err;
        }
    return rc;
}

int ebb__rest_ask_one(struct ebb__rest *r, struct ebb__rest_ask *ask, struct ebb_err *err)
{
    int rc = ebb__rest_ask_many(r, ask, 1, err);

    if (rc || !ask->err.error)
        return rc;
    if (err)
        *err = ask->err;
    return -(int)ask->err.error;
}

bool ebb__rest_is_missing(const struct ebb__rest_ask *ask, const char *type)
{
    return ask->status == 404 && (!strcmp(ask->type, type) || !strcmp(ask->type, "-"));
}
