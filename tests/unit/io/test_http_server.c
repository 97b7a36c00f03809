/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP server: requests and answers as they should be, with raw sockets.
 */
#include "http_help.h"

#include <netinet/tcp.h>

#define HOST "Host: localhost\r\n"

static void get_and_post(struct world *w)
{
    char *a = ask(w, "GET /a%20b?x=1&y=%2F HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");

    CHECK(status_of(a) == 200);
    CHECK_HAS(a, "\r\nX-Content-Type-Options: nosniff\r\n");
    CHECK_HAS(a, "\r\nCache-Control: no-store\r\n");
    CHECK_HAS(a, "\r\nContent-Type: text/plain\r\n");
    CHECK_HAS(a, "\r\n\r\nGET|/a%20b|x=1&y=%2F|-|");
    CHECK(!strstr(a, "Server:"));
    free(a);
    a = ask(w, "POST /p HTTP/1.1\r\n" HOST "Content-Type: a/b\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
    CHECK_HAS(a, "\r\n\r\nPOST|/p||a/b|hello");
    free(a);
    a = ask(w, "POST /c HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
               "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: z\r\n\r\n");
    CHECK_HAS(a, "\r\n\r\nPOST|/c||-|abcde");
    free(a);
    a = ask(w, "GET / HTTP/1.0\r\n\r\n");
    CHECK_HAS(a, "\r\n\r\nGET|/||-|");
    free(a);
    a = ask(w, "GET http://LOCALHOST/abs?q HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    CHECK_HAS(a, "\r\n\r\nGET|/abs|q|-|");
    free(a);
    a = ask(w, "OPTIONS * HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    CHECK_HAS(a, "\r\n\r\nOPTIONS|*||-|");
    free(a);
}

static void head_has_no_body(struct world *w)
{
    char *a = ask(w, "HEAD /a HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");

    CHECK(status_of(a) == 200);
    CHECK_HAS(a, "\r\nContent-Length: 11\r\n");
    CHECK(!strcmp(strstr(a, "\r\n\r\n"), "\r\n\r\n"));
    free(a);
    a = ask(w, "HEAD /blocks HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    CHECK(!strcmp(strstr(a, "\r\n\r\n"), "\r\n\r\n"));
    CHECK(atomic_load(&w->pulled) == 0);
    free(a);
    a = ask(w, "HEAD / HTTP/1.1\r\nHost: evil\r\n\r\n");
    CHECK(status_of(a) == 421 && !strcmp(strstr(a, "\r\n\r\n"), "\r\n\r\n"));
    free(a);
}

static void answers_later(struct world *w)
{
    char *a = ask(w, "GET /later HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    int fd = dial(w);

    CHECK_HAS(a, "\r\n\r\nlater");
    free(a);
    /* pipelined, answered in order, one later and one at once */
    send_text(fd, "GET /later HTTP/1.1\r\n" HOST "\r\nGET /second HTTP/1.1\r\n" HOST "\r\n"
                  "POST /third HTTP/1.1\r\n" HOST "Content-Length: 2\r\nConnection: close\r\n\r\nok");
    a = read_all(fd, NULL);
    close(fd);
    CHECK_HAS(a, "later");
    CHECK(strstr(a, "/second") > strstr(a, "later"));
    CHECK(strstr(a, "POST|/third||-|ok") > strstr(a, "/second"));
    free(a);
    CHECK(atomic_load(&w->handled) == 4);
}

/* A peer that has said all and closed its side still gets its answer. */
static void half_closed(struct world *w)
{
    int fd = dial(w);
    char *a;

    send_text(fd, "GET /later HTTP/1.1\r\n" HOST "\r\n");
    shutdown(fd, SHUT_WR);
    a = read_all(fd, NULL);
    CHECK_HAS(a, "\r\n\r\nlater");
    free(a);
    close(fd);
    fd = dial(w);
    send_text(fd, "GET /timed HTTP/1.1\r\n" HOST "\r\n");
    shutdown(fd, SHUT_WR);
    a = read_all(fd, NULL);
    CHECK_HAS(a, "\r\n0\r\n\r\n");
    free(a);
    close(fd);
}

/* All that is said and its end in one: answered if whole, then closed, long before any limit of time. */
static void closed_with_it(struct world *w)
{
    static const char *const requests[] = {"GET /whole HTTP/1.1\r\n" HOST "\r\n", "GET /half HTTP/1.1\r\nHo",
                                           "POST /half HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\nabc", "G", ""};

    for (int i = 0; i < 5; i++) {
        int fd = dial(w), on = 1; /* waits less than the 30 s that a connection may be idle */
        char *a, c;

        setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof on); /* the end goes with the bytes */
        send_text(fd, requests[i]);
        shutdown(fd, SHUT_WR);
        a = read_all(fd, NULL);
        CHECK((status_of(a) == 200) == (i == 0));
        CHECK(recv(fd, &c, 1, MSG_DONTWAIT) == 0);
        free(a);
        close(fd);
    }
    CHECK(atomic_load(&w->handled) == 1);
}

static void dripped(struct world *w)
{
    const char *request = "POST /drip HTTP/1.1\r\n" HOST "Content-Length: 3\r\nConnection: close\r\n\r\nabc";
    int fd = dial(w);
    char *a;

    for (const char *c = request; *c; c++)
        CHECK(send_all(fd, c, 1));
    a = read_all(fd, NULL);
    CHECK_HAS(a, "POST|/drip||-|abc");
    free(a);
    close(fd);
}

static void continues(struct world *w)
{
    int fd = dial(w);
    char *a;

    send_text(fd, "POST /e HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n");
    a = read_until(fd, "\r\n\r\n");
    CHECK(status_of(a) == 100);
    free(a);
    send_text(fd, "ok");
    a = read_all(fd, NULL);
    CHECK_HAS(a, "POST|/e||-|ok");
    free(a);
    close(fd);
    fd = dial(w);
    send_text(fd, "POST /e HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n");
    a = read_all(fd, NULL);
    CHECK(status_of(a) == 413);
    free(a);
    close(fd);
}

static void streams(struct world *w)
{
    size_t n;
    int fd = dial(w);
    char *a;

    send_text(fd, "GET /blocks HTTP/1.0\r\n\r\n");
    a = read_all(fd, &n);
    CHECK(n > 100 * 32768 && n < 100 * 32768 + 1000);
    free(a);
    close(fd);
    CHECK(atomic_load(&w->pulled) == 101);
    fd = dial(w);
    send_text(fd, "GET /timed HTTP/1.1\r\n" HOST "\r\nGET /after HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    a = read_all(fd, &n);
    CHECK_HAS(a, "Transfer-Encoding: chunked");
    CHECK(n > 50 * 32768 && memmem(a, n, "GET|/after||-|", 14));
    free(a);
    close(fd);
    CHECK(atomic_load(&w->stopped) == 2);
}

static void wait_for(struct world *w, atomic_int *count, int wanted)
{
    for (int i = 0; i < 20000 && atomic_load(count) < wanted; i++)
        usleep(1000);
    CHECK(atomic_load(count) >= wanted);
}

/* Only as much is pulled as the peer takes; a peer that goes ends it. */
static void back_pressure(struct world *w)
{
    int fd = dial(w), pulled = -1;

    send_text(fd, "GET /endless HTTP/1.1\r\n" HOST "\r\n");
    while (pulled != atomic_load(&w->pulled)) {
        pulled = atomic_load(&w->pulled);
        usleep(100000);
    }
    CHECK(pulled > 0 && pulled < 2000);
    CHECK(atomic_load(&w->stopped) == 0);
    close(fd);
    wait_for(w, &w->stopped, 1);
}

static void news(struct world *w)
{
    int fd = dial(w);
    char *a;

    send_text(fd, "GET /news HTTP/1.1\r\n" HOST "\r\n");
    for (int i = 0; i < 5; i++) {
        a = read_until(fd, "data: news\n\n");
        CHECK_HAS(a, "data: news");
        free(a);
    }
    close(fd);
    wait_for(w, &w->stopped, 1);
    fd = dial(w); /* one that does not take what it is told */
    send_text(fd, "GET /flood HTTP/1.1\r\n" HOST "\r\n");
    wait_for(w, &w->stopped, 2);
    close(fd);
}

/* A peer that resets a stream with nothing to say is noticed. */
static void quiet(struct world *w)
{
    struct linger reset = {1, 0};
    int fd = dial(w);

    send_text(fd, "GET /quiet HTTP/1.1\r\n" HOST "\r\n");
    free(read_until(fd, "\r\n\r\n"));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    wait_for(w, &w->stopped, 1);
}

/* Gone before the answer: the handler's reply is in vain, and harmless. */
static void gone(struct world *w)
{
    struct linger reset = {1, 0};

    for (int i = 0; i < 20; i++) {
        int fd = dial(w);

        send_text(fd, i % 2 ? "GET /later HTTP/1.1\r\n" HOST "\r\n"
                            : "POST /x HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\n");
        if (i % 3 == 0)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        close(fd);
    }
    free(ask(w, "GET /later HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"));
    CHECK(atomic_load(&w->handled) <= 11);
}

static void *one_of_many(void *data)
{
    struct world *w = data;

    for (int i = 0; i < 40; i++) {
        char *a = ask(w, i % 2 ? "GET /later HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"
                               : "POST /m HTTP/1.1\r\n" HOST "Content-Length: 1\r\nConnection: close\r\n\r\nm");

        if (strstr(a, i % 2 ? "later" : "POST|/m||-|m"))
            atomic_fetch_add(&w->echoed, 1);
        free(a);
    }
    return NULL;
}

static void concurrent(struct world *w)
{
    pthread_t threads[16];

    for (int i = 0; i < 16; i++)
        pthread_create(&threads[i], NULL, one_of_many, w);
    for (int i = 0; i < 16; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&w->echoed) == 16 * 40);
    CHECK(atomic_load(&w->handled) == 16 * 40);
}

static void large_body(struct world *w)
{
    size_t n = 5 * 1000 * 1000, got;
    char *body = malloc(n), *a;
    int fd = dial(w);

    memset(body, 'x', n);
    send_text(fd, "POST /l HTTP/1.1\r\n" HOST "Content-Length: 5000000\r\nConnection: close\r\n\r\n");
    CHECK(send_all(fd, body, n));
    a = read_all(fd, &got);
    CHECK_HAS(a, "Content-Length: 5000011\r\n");
    CHECK(got > n && a[got - 1] == 'x');
    free(a);
    free(body);
    close(fd);
}

/* Held by the handler while the server is closed: the answer still goes out within the grace. */
static void held_at_close(struct world *w)
{
    int fd = dial(w);

    send_text(fd, "GET /held HTTP/1.1\r\n" HOST "\r\n");
    wait_for(w, &w->handled, 1);
    w->echoed = fd;
}

static void run(void (*client)(struct world *w))
{
    struct world w;

    world_init(&w, client);
    world_run(&w);
    assert_int_equal(w.counts.connections > 0, 1);
}

#define TEST(name)                                                                                                     \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        run(name);                                                                                                     \
    }
TEST(get_and_post)
TEST(head_has_no_body)
TEST(answers_later)
TEST(half_closed)
TEST(closed_with_it)
TEST(dripped)
TEST(continues)
TEST(streams)
TEST(back_pressure)
TEST(news)
TEST(gone)
TEST(quiet)
TEST(concurrent)
TEST(large_body)

static void test_close(void **state)
{
    struct world w;
    char *a;
    (void)state;

    world_init(&w, held_at_close);
    world_run(&w);
    a = read_all(w.echoed, NULL);
    assert_non_null(strstr(a, "\r\n\r\nheld"));
    assert_non_null(strstr(a, "Connection: close"));
    free(a);
    close(w.echoed);
}

/* Given up: the handler's answer comes when there is no server any more. */
static void test_close_before_answer(void **state)
{
    struct world w;
    (void)state;

    world_init(&w, held_at_close);
    w.grace_ms = 0;
    world_run(&w);
    close(w.echoed);
}

static void endless_at_close(struct world *w)
{
    char *a;

    w->echoed = dial(w);
    send_text(w->echoed, "GET /news HTTP/1.1\r\n" HOST "\r\n");
    a = read_until(w->echoed, "news");
    free(a);
}

static void idle_at_close(struct world *w)
{
    w->echoed = dial(w);
    send_text(w->echoed, "GET /kept HTTP/1.1\r\n" HOST "\r\n");
    free(read_until(w->echoed, "|-|"));
}

static void test_close_gives_up(void **state)
{
    struct world w;
    (void)state;

    world_init(&w, endless_at_close);
    w.grace_ms = 50;
    world_run(&w);
    assert_int_equal(w.stopped, 1);
    close(w.echoed);
    world_init(&w, idle_at_close);
    w.grace_ms = 1000000; /* a connection between two requests does not hold up the end */
    world_run(&w);
    close(w.echoed);
}

static void nothing(struct world *w)
{
    (void)w;
}

static int open_with(const char *listen, int fd, struct ebb_err *err)
{
    struct ebb_http_server_options options = {.listen = listen, .fd = fd, .handler = handle};
    struct ebb_http_server *server;
    uv_loop_t loop;
    int rc;

    uv_loop_init(&loop);
    rc = ebb_http_server_open(&loop, &options, &server, err);
    if (!rc)
        ebb_http_server_close(server, 0, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    return rc;
}

static void test_open(void **state)
{
    static const char *const bad[] = {"",           "127.0.0.1",    "8490",        "example.com:80",
                                      "127.0.0.1:", "::1:80",       "[::1]",       "[::1]:65536",
                                      "1.2.3:4",    "127.0.0.1:-1", "[1.2.3.4]:5", "127.0.0.1:0 "};
    char taken[64];
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct ebb_err err;
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(open_with(bad[i], -1, &err), -EBB_EUSAGE);
    assert_int_equal(open_with("localhost:0", -1, &err), 0);
    assert_int_equal(open_with(NULL, fd, &err), -EBB_EUSAGE); /* does not listen */
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (void *)&at, n) | listen(fd, 5) | getsockname(fd, (void *)&at, &n), 0);
    snprintf(taken, sizeof taken, "127.0.0.1:%u", ntohs(at.sin_port));
    assert_int_equal(open_with(taken, -1, &err), -EBB_EIO);
    assert_non_null(strstr(err.message, "in use"));
    assert_int_equal(open_with(NULL, fd, &err), 0);
    close(fd); /* was closed with the server already */
}

static void one_request(struct world *w)
{
    char *a = ask(w, "GET /handed HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");

    CHECK_HAS(a, "GET|/handed||-|");
    free(a);
}

static void test_handed_over(void **state)
{
    struct world w;
    struct sockaddr_in at = {.sin_family = AF_INET};
    (void)state;

    world_init(&w, one_request);
    w.options.listen = NULL;
    w.options.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(w.options.fd, (void *)&at, sizeof at) | listen(w.options.fd, 5), 0);
    world_run(&w);
    world_init(&w, nothing);
    w.options.listen = "[::1]:0";
    world_run(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get_and_post),   cmocka_unit_test(test_head_has_no_body),
        cmocka_unit_test(test_answers_later),  cmocka_unit_test(test_half_closed),
        cmocka_unit_test(test_closed_with_it), cmocka_unit_test(test_dripped),
        cmocka_unit_test(test_continues),      cmocka_unit_test(test_streams),
        cmocka_unit_test(test_back_pressure),  cmocka_unit_test(test_news),
        cmocka_unit_test(test_gone),           cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_concurrent),     cmocka_unit_test(test_large_body),
        cmocka_unit_test(test_close),          cmocka_unit_test(test_close_before_answer),
        cmocka_unit_test(test_close_gives_up), cmocka_unit_test(test_open),
        cmocka_unit_test(test_handed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
