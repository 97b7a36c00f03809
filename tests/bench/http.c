/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests a second of a trivial handler: the HTTP server on its loop, with all its checks, against libmicrohttpd as it
 * is, in its own thread with select, in the same run. The client keeps connections and sends the next request when the
 * answer is there. Answers that come later, from another thread, are measured too.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/http_server.h"
#include "io/pool.h"

enum { CONNECTIONS = 32, REQUESTS = 40000, ROUNDS = 3 };

static const char REQUEST[] = "GET /hello HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n";

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
    fprintf(stderr, "http: %s\n", what);
    exit(1);
}

/* ---- the client ---- */

static int dial(unsigned port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (void *)&to, sizeof to))
        die("can't connect");
    return fd;
}

static void take_answer(int fd)
{
    char answer[4096];
    size_t n = 0;

    do {
        ssize_t got = recv(fd, answer + n, sizeof answer - 1 - n, 0);

        if (got <= 0)
            die("no answer");
        n += (size_t)got;
        answer[n] = '\0';
    } while (n < 5 || memcmp(answer + n - 5, "hello", 5));
    if (memcmp(answer, "HTTP/1.1 200", 12))
        die(answer);
}

/* Requests a second. */
static double drive(unsigned port)
{
    int fds[CONNECTIONS];
    double start;

    for (int i = 0; i < CONNECTIONS; i++)
        fds[i] = dial(port);
    start = now_s();
    for (int r = 0; r < REQUESTS / CONNECTIONS; r++) {
        for (int i = 0; i < CONNECTIONS; i++)
            if (send(fds[i], REQUEST, sizeof REQUEST - 1, MSG_NOSIGNAL) != sizeof REQUEST - 1)
                die("can't send");
        for (int i = 0; i < CONNECTIONS; i++)
            take_answer(fds[i]);
    }
    start = now_s() - start;
    for (int i = 0; i < CONNECTIONS; i++)
        close(fds[i]);
    return REQUESTS / start;
}

/* ---- ours ---- */

struct ours {
    uv_loop_t loop;
    uv_async_t over;
    struct ebb_http_server *server;
    struct ebb_pool *pool; /* NULL: answered at once */
    pthread_t thread;
    double cpu_us;
};

static void reply(void *data)
{
    static const struct ebb_http_answer answer = {200, "text/plain", NULL};
    struct ebb_buf body;

    ebb_buf_init(&body, 64);
    ebb_buf_puts(&body, "hello");
    ebb_http_reply(data, &answer, &body);
}

static void no_work(void *context, void *data)
{
    (void)context;
    (void)data;
}

static void handle(void *data, struct ebb_http_exchange *x)
{
    struct ours *o = data;

    if (!o->pool)
        reply(x);
    else if (ebb_pool_post(o->pool, no_work, reply, x, NULL))
        die("can't post");
}

static void on_over(uv_async_t *async)
{
    struct ours *o = async->data;

    ebb_http_server_close(o->server, 0, NULL, NULL);
    if (o->pool)
        ebb_pool_close(o->pool, NULL, NULL);
    uv_close((uv_handle_t *)async, NULL);
}

static void *run_ours(void *data)
{
    struct ours *o = data;
    struct rusage use;

    uv_run(&o->loop, UV_RUN_DEFAULT);
    getrusage(RUSAGE_THREAD, &use);
    o->cpu_us = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e6 +
                (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    return NULL;
}

static double measure_ours(bool is_later, double *cpu_us)
{
    struct ours o = {.pool = NULL};
    struct ebb_http_server_options options = {.listen = "127.0.0.1:0", .fd = -1, .handler = handle, .data = &o};
    struct ebb_pool_options pool = {.name = "bench", .thread_count = 2};
    double rate;

    options.limits.requests_per_s = 10000000;
    uv_loop_init(&o.loop);
    uv_async_init(&o.loop, &o.over, on_over);
    o.over.data = &o;
    if (ebb_http_server_open(&o.loop, &options, &o.server, NULL) ||
        (is_later && ebb_pool_new(&o.loop, &pool, &o.pool, NULL)))
        die("can't open");
    pthread_create(&o.thread, NULL, run_ours, &o);
    rate = drive((unsigned)atoi(strrchr(ebb_http_server_address(o.server), ':') + 1));
    uv_async_send(&o.over);
    pthread_join(o.thread, NULL);
    if (uv_loop_close(&o.loop))
        die("something is still open");
    *cpu_us = o.cpu_us / REQUESTS;
    return rate;
}

/* ---- libmicrohttpd as it is ---- */

static enum MHD_Result hello(void *data, struct MHD_Connection *c, const char *url, const char *method,
                             const char *version, const char *bytes, size_t *n, void **context)
{
    struct MHD_Response *response;
    enum MHD_Result rc;

    (void)data, (void)url, (void)method, (void)version, (void)bytes, (void)n;
    if (!*context) {
        *context = c;
        return MHD_YES;
    }
    response = MHD_create_response_from_buffer(5, (void *)(uintptr_t) "hello", MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(response, "Content-Type", "text/plain");
    rc = MHD_queue_response(c, 200, response);
    MHD_destroy_response(response);
    return rc;
}

static double measure_bare(void)
{
    struct MHD_Daemon *mhd =
        MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, hello, NULL, MHD_OPTION_END);
    double rate;

    if (!mhd)
        die("can't start libmicrohttpd");
    rate = drive(MHD_get_daemon_info(mhd, MHD_DAEMON_INFO_BIND_PORT)->port);
    MHD_stop_daemon(mhd);
    return rate;
}

static double best(double a, double b)
{
    return b > a ? b : a;
}

int main(void)
{
    double bare = 0, at_once = 0, later = 0, cpu_us = 0, later_us = 0;

    for (int i = 0; i < ROUNDS; i++) {
        bare = best(bare, measure_bare());
        at_once = best(at_once, measure_ours(false, &cpu_us));
        later = best(later, measure_ours(true, &later_us));
    }
    printf("%d requests over %d connections, best of %d\n", REQUESTS, CONNECTIONS, ROUNDS);
    printf("libmicrohttpd, its own thread, select  %9.0f requests/s\n", bare);
    printf("the server, answered at once           %9.0f requests/s   %.2f of it   %.1f us of the loop each\n", at_once,
           at_once / bare, cpu_us);
    printf("the server, answered by a worker       %9.0f requests/s   %.2f of it   %.1f us of the loop each\n", later,
           later / bare, later_us);
    return 0;
}
