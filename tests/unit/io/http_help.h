/* SPDX-License-Identifier: Apache-2.0
 *
 * A server with a handler that echoes, and a client with raw sockets in a thread of its own. The client's checks are
 * recorded and asserted on the loop's thread.
 */
#ifndef EBB_TESTS_HTTP_HELP_H
#define EBB_TESTS_HTTP_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "io/http_server.h"

struct world {
    uv_loop_t loop;
    uv_async_t over;
    uv_prepare_t turn;
    atomic_int turns; /* of the loop: one that spins has hundreds of thousands a second */
    struct ebb_http_server *server;
    struct ebb_http_server_options options;
    struct ebb_strs hosts;
    unsigned port, grace_ms;
    void (*client)(struct world *w);
    char failures[2000];
    struct ebb_http_exchange *held; /* by the handler, for "/held" */
    atomic_int handled, stopped, pulled, echoed;
    int closed;
    struct ebb_http_counts counts;
};

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what))                                                                                                   \
            note_failure(w, __FILE__, __LINE__, #what, "");                                                            \
    } while (0)
#define CHECK_HAS(answer, part)                                                                                        \
    do {                                                                                                               \
        if (!strstr(answer, part))                                                                                     \
            note_failure(w, __FILE__, __LINE__, part, answer);                                                         \
    } while (0)

static void note_failure(struct world *w, const char *file, int line, const char *what, const char *answer)
{
    size_t n = strlen(w->failures);

    snprintf(w->failures + n, sizeof w->failures - n, "%s:%d: %s in <%.200s>\n", file, line, what, answer);
}

/* ---- the handler ---- */

struct later {
    uv_timer_t timer;
    struct ebb_http_exchange *x;
};

static void reply_text(struct ebb_http_exchange *x, int status, const char *text)
{
    const struct ebb_http_answer answer = {status, "text/plain", NULL};
    struct ebb_buf body;

    ebb_buf_init(&body, 1 << 26);
    ebb_buf_puts(&body, text);
    ebb_http_reply(x, &answer, &body);
}

static void free_later(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_later(uv_timer_t *timer)
{
    struct later *later = timer->data;

    reply_text(later->x, 200, "later");
    uv_close((uv_handle_t *)timer, free_later);
}

static void reply_later(struct world *w, struct ebb_http_exchange *x)
{
    struct later *later = calloc(1, sizeof *later);

    later->x = x;
    later->timer.data = later;
    uv_timer_init(&w->loop, &later->timer);
    uv_timer_start(&later->timer, on_later, 30, 0);
}

static void reply_echo(struct ebb_http_exchange *x)
{
    const struct ebb_http_answer answer = {200, "text/plain", NULL};
    const char *type = ebb_http_header(x, "content-TYPE");
    struct ebb_str body = ebb_http_body(x);
    struct ebb_buf out;

    ebb_buf_init(&out, 1 << 26);
    ebb_buf_printf(&out, "%s|%s|%s|%s|", ebb_http_method(x), ebb_http_path(x), ebb_http_query(x), type ? type : "-");
    ebb_buf_add_str(&out, body);
    ebb_http_reply(x, &answer, &out);
}

/* A counted stream of blocks: pushed when pulled for. */
struct blocks {
    struct world *w;
    struct ebb_http_exchange *x;
    int left;
    uv_timer_t timer;
    bool is_timed, is_stopped;
};

static void free_blocks(uv_handle_t *handle)
{
    free(handle->data);
}

static void push_block(struct blocks *b)
{
    char block[32768];

    memset(block, 'b', sizeof block);
    if (b->left-- > 0)
        ebb_http_stream_push(b->x, (struct ebb_str){block, sizeof block});
    else
        ebb_http_stream_end(b->x);
}

static void on_block(uv_timer_t *timer)
{
    struct blocks *b = timer->data;

    if (!b->is_stopped)
        push_block(b);
}

static void pull_block(void *data, struct ebb_http_exchange *x)
{
    struct blocks *b = data;

    b->x = x;
    atomic_fetch_add(&b->w->pulled, 1);
    if (b->is_timed)
        uv_timer_start(&b->timer, on_block, 1, 0);
    else
        push_block(b);
}

static void stop_block(void *data)
{
    struct blocks *b = data;

    atomic_fetch_add(&b->w->stopped, 1);
    b->is_stopped = true;
    uv_close((uv_handle_t *)&b->timer, free_blocks);
}

static void reply_blocks(struct world *w, struct ebb_http_exchange *x, int count, bool is_timed)
{
    const struct ebb_http_answer answer = {200, "application/octet-stream", NULL};
    struct blocks *b = calloc(1, sizeof *b);
    struct ebb_http_stream stream = {pull_block, stop_block, b};

    *b = (struct blocks){.w = w, .left = count, .is_timed = is_timed};
    uv_timer_init(&w->loop, &b->timer);
    b->timer.data = b;
    ebb_http_reply_stream(x, &answer, &stream);
}

/* News that nobody asked for, until the server breaks it off. */
static void ignore_pull(void *data, struct ebb_http_exchange *x)
{
    (void)data;
    (void)x;
}

static void on_news(uv_timer_t *timer)
{
    struct blocks *b = timer->data;

    ebb_http_stream_push(b->x, EBB_STR("data: news\n\n"));
    if (b->left)
        for (int i = 0; i < b->left; i++)
            push_block(&(struct blocks){.x = b->x, .left = 1});
}

static void reply_news(struct world *w, struct ebb_http_exchange *x, int flood)
{
    const struct ebb_http_answer answer = {200, "text/event-stream", NULL};
    struct blocks *b = calloc(1, sizeof *b);
    struct ebb_http_stream stream = {ignore_pull, stop_block, b};

    *b = (struct blocks){.w = w, .x = x, .left = flood};
    uv_timer_init(&w->loop, &b->timer);
    b->timer.data = b;
    uv_timer_start(&b->timer, on_news, 5, 5);
    ebb_http_reply_stream(x, &answer, &stream);
}

/* A stream that never says anything. */
static void reply_quiet(struct world *w, struct ebb_http_exchange *x)
{
    const struct ebb_http_answer answer = {200, "text/event-stream", NULL};
    struct blocks *b = calloc(1, sizeof *b);
    struct ebb_http_stream stream = {ignore_pull, stop_block, b};

    b->w = w;
    uv_timer_init(&w->loop, &b->timer);
    b->timer.data = b;
    ebb_http_reply_stream(x, &answer, &stream);
}

static void handle(void *data, struct ebb_http_exchange *x)
{
    struct world *w = data;
    const char *path = ebb_http_path(x);

    atomic_fetch_add(&w->handled, 1);
    if (!strcmp(path, "/later"))
        reply_later(w, x);
    else if (!strcmp(path, "/held"))
        w->held = x;
    else if (!strcmp(path, "/blocks"))
        reply_blocks(w, x, 100, false);
    else if (!strcmp(path, "/timed"))
        reply_blocks(w, x, 50, true);
    else if (!strcmp(path, "/endless"))
        reply_blocks(w, x, INT32_MAX, false);
    else if (!strcmp(path, "/news"))
        reply_news(w, x, 0);
    else if (!strcmp(path, "/quiet"))
        reply_quiet(w, x);
    else if (!strcmp(path, "/flood"))
        reply_news(w, x, 10);
    else
        reply_echo(x);
}

static void problem(void *data, int status, const char *why, struct ebb_buf *body, const char **content_type)
{
    (void)data;
    ebb_buf_printf(body, "{\"status\":%d,\"detail\":\"%s\"}", status, why);
    *content_type = "application/problem+json";
}

/* ---- the client ---- */

static int dial(struct world *w)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)w->port)};
    struct timeval limit = {20, 0};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    CHECK(connect(fd, (void *)&to, sizeof to) == 0);
    return fd;
}

static bool send_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

static bool send_text(int fd, const char *text)
{
    return send_all(fd, text, strlen(text));
}

/* Until the peer closes (or nothing comes for long): NUL terminated, free() it. n may be NULL. */
static char *read_all(int fd, size_t *n)
{
    struct ebb_buf all;
    char bytes[65536];
    ssize_t got;

    ebb_buf_init(&all, 1 << 28);
    while ((got = recv(fd, bytes, sizeof bytes, 0)) > 0)
        ebb_buf_append(&all, bytes, (size_t)got);
    ebb_buf_cstr(&all);
    if (n)
        *n = all.len;
    return ebb_buf_take(&all);
}

/* Until `end` was seen. */
static char *read_until(int fd, const char *end)
{
    struct ebb_buf all;
    char c;

    ebb_buf_init(&all, 1 << 28);
    while (!strstr(ebb_buf_cstr(&all), end) && recv(fd, &c, 1, 0) == 1)
        ebb_buf_putc(&all, c);
    ebb_buf_cstr(&all);
    return ebb_buf_take(&all);
}

/* One request on a connection of its own, all that comes back. */
static char *ask(struct world *w, const char *request)
{
    int fd = dial(w);
    char *answer;

    send_text(fd, request);
    answer = read_all(fd, NULL);
    close(fd);
    return answer;
}

static int status_of(const char *answer)
{
    return strncmp(answer, "HTTP/1.", 7) ? 0 : atoi(answer + 9);
}

/* ---- the world ---- */

static void *run_client(void *data)
{
    struct world *w = data;

    w->client(w);
    uv_async_send(&w->over);
    return NULL;
}

static void on_server_closed(void *data)
{
    struct world *w = data;

    w->closed++;
    if (w->held) /* the handler may be later than the server's end */
        reply_text(w->held, 200, "held");
}

static void on_turn(uv_prepare_t *turn)
{
    struct world *w = turn->data;

    atomic_fetch_add(&w->turns, 1);
}

static void on_over(uv_async_t *over)
{
    struct world *w = over->data;

    ebb_http_server_counts(w->server, &w->counts);
    ebb_http_server_close(w->server, w->grace_ms, on_server_closed, w);
    if (w->held && w->grace_ms) {
        reply_text(w->held, 200, "held");
        w->held = NULL;
    }
    uv_close((uv_handle_t *)over, NULL);
    uv_close((uv_handle_t *)&w->turn, NULL);
}

static void world_init(struct world *w, void (*client)(struct world *w))
{
    memset(w, 0, sizeof *w);
    w->client = client;
    w->grace_ms = 2000;
    ebb_strs_init(&w->hosts);
    w->options = (struct ebb_http_server_options){
        .listen = "127.0.0.1:0", .fd = -1, .handler = handle, .problem = problem, .data = w, .hosts = &w->hosts};
}

/* Serve until the client is through; then everything must be closed. */
static void world_run(struct world *w)
{
    struct ebb_err err;
    pthread_t thread;

    assert_int_equal(uv_loop_init(&w->loop), 0);
    w->over.data = w;
    assert_int_equal(uv_async_init(&w->loop, &w->over, on_over), 0);
    w->turn.data = w;
    assert_int_equal(uv_prepare_init(&w->loop, &w->turn), 0);
    assert_int_equal(uv_prepare_start(&w->turn, on_turn), 0);
    if (ebb_http_server_open(&w->loop, &w->options, &w->server, &err))
        fail_msg("%s", err.message);
    w->port = (unsigned)atoi(strrchr(ebb_http_server_address(w->server), ':') + 1);
    assert_int_equal(pthread_create(&thread, NULL, run_client, w), 0);
    assert_int_equal(uv_run(&w->loop, UV_RUN_DEFAULT), 0);
    pthread_join(thread, NULL);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(w->closed, 1);
    ebb_strs_fini(&w->hosts);
    if (w->failures[0])
        fail_msg("%s", w->failures);
}

#endif
