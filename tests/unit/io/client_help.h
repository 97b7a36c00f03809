/* SPDX-License-Identifier: Apache-2.0
 *
 * A client on a loop beside a scripted server. Include after cmocka.h.
 */
#ifndef EBB_TESTS_CLIENT_HELP_H
#define EBB_TESTS_CLIENT_HELP_H

#include <stdio.h>
#include <stdlib.h>

#include "io/http_client.h"
#include "scripted_server.h"

#define SECRET "s3cr3t"

struct http_fixture {
    uv_loop_t loop;
    struct ebb_http_client_options options;
    struct ebb_http_client *client; /* NULL: closed */
    bool is_closed;
    struct ebb_http_call call; /* as it is changed by a test; method, url, body by ask */
    struct ebb_strs headers;
    char url[500];
    char log[20000];
    int told; /* callbacks so far */
    struct scripted_server server;
    bool is_serving;
};

/* What became of a request. */
struct seen {
    struct http_fixture *f;
    struct ebb_http_request *request;
    int told, place, status;
    unsigned tries;
    char body[100];
    size_t body_bytes;
    char header[100]; /* X-One */
    struct ebb_err err;
    /* what to do in the callback */
    bool cancel_self, close;
    struct seen *cancel_other, *then;
};

static inline void http_log(void *data, enum ebb_log_level level, const char *message)
{
    struct http_fixture *f = data;
    size_t n = strlen(f->log);

    (void)level;
    snprintf(f->log + n, sizeof f->log - n, "%s\n", message);
}

static inline void http_closed(void *data)
{
    ((struct http_fixture *)data)->is_closed = true;
}

static inline void close_client(struct http_fixture *f)
{
    ebb_http_client_close(f->client, http_closed, f);
}

static void ask(struct http_fixture *f, struct seen *s, const char *method, const char *body);

static inline void seen_cb(void *data, const struct ebb_http_result *result, const struct ebb_err *err)
{
    struct seen *s = data;
    const char *header = ebb_http_result_header(result, "x-ONE");

    s->told++;
    s->place = s->f->told++;
    s->status = result->status;
    s->tries = result->tries;
    s->body_bytes = result->body.n;
    snprintf(s->body, sizeof s->body, "%.*s", (int)(result->body.n < 99 ? result->body.n : 99),
             result->body.n ? result->body.p : "");
    snprintf(s->header, sizeof s->header, "%s", header ? header : "(none)");
    s->err = *err;
    if (s->cancel_self)
        ebb_http_cancel(s->request);
    if (s->cancel_other)
        ebb_http_cancel(s->cancel_other->request);
    if (s->then)
        ask(s->f, s->then, "GET", NULL);
    if (s->close)
        close_client(s->f);
}

static inline void ask(struct http_fixture *f, struct seen *s, const char *method, const char *body)
{
    struct ebb_err err = {0};

    f->call.method = method;
    f->call.url = f->url;
    f->call.body = ebb_str_of(body ? body : "");
    if (ebb_http_start(f->client, &f->call, seen_cb, s, &s->request, &err))
        fail_msg("%s", err.message);
    assert_int_equal(s->told, 0);
}

/* Until nothing is left to do; kept connections do not count. */
static inline void finish(struct http_fixture *f)
{
    uv_run(&f->loop, UV_RUN_DEFAULT);
}

static inline void expect_answer(const struct seen *s, int status, const char *body, unsigned tries)
{
    if (s->err.error)
        fail_msg("%s", s->err.message);
    assert_int_equal(s->told, 1);
    assert_int_equal(s->status, status);
    assert_string_equal(s->body, body);
    assert_int_equal(s->tries, tries);
}

static inline void expect_failure(const struct seen *s, enum ebb_error error, unsigned tries)
{
    assert_int_equal(s->told, 1);
    assert_int_equal(s->err.error, error);
    assert_int_equal(s->status, 0);
    assert_int_equal(s->body_bytes, 0);
    assert_int_equal(s->tries, tries);
    assert_null(strstr(s->err.message, SECRET));
    assert_null(strstr(s->err.hint, SECRET));
}

static inline void expect_usage(struct http_fixture *f, struct seen *s, const char *method, const char *url,
                                const char *header)
{
    struct ebb_strs headers = {0};
    struct ebb_http_call call = {.method = method, .url = url, .headers = &headers};
    struct ebb_err err = {0};

    assert_int_equal(ebb_strs_add(&headers, header, NULL), 0);
    if (ebb_http_start(f->client, &call, seen_cb, s, NULL, &err) != -EBB_EUSAGE)
        fail_msg("taken: %s %s %s", method, url, header);
    assert_null(strstr(err.message, SECRET));
    ebb_strs_fini(&headers);
}

static inline void open_client(struct http_fixture *f)
{
    f->is_closed = false;
    assert_int_equal(ebb_http_client_new(&f->loop, &f->options, &f->client, NULL), 0);
}

/* With another limit, or other options. */
static inline void reopen(struct http_fixture *f, unsigned per_host)
{
    close_client(f);
    finish(f);
    assert_true(f->is_closed);
    f->options.per_host = per_host;
    open_client(f);
}

static inline int setup(void **state)
{
    struct http_fixture *f = calloc(1, sizeof *f);

    alarm(120);
    assert_int_equal(uv_loop_init(&f->loop), 0);
    f->options.proxy = "";
    f->options.log = (struct ebb_log){http_log, f, EBB_LOG_DEBUG};
    open_client(f);
    assert_int_equal(ebb_strs_add(&f->headers, "X-Key: " SECRET, NULL), 0);
    assert_int_equal(ebb_strs_add(&f->headers, "X-Empty:", NULL), 0);
    f->call.headers = &f->headers;
    f->call.first_wait_ms = 5;
    f->call.max_wait_ms = 20;
    *state = f;
    return 0;
}

static inline void stop_server(struct http_fixture *f)
{
    if (f->is_serving)
        server_stop(&f->server);
    f->is_serving = false;
}

static inline int teardown(void **state)
{
    struct http_fixture *f = *state;

    if (!f->is_closed)
        close_client(f);
    finish(f);
    assert_true(f->is_closed);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    stop_server(f);
    assert_null(strstr(f->log, SECRET));
    ebb_strs_fini(&f->headers);
    free(f);
    return 0;
}

#endif
