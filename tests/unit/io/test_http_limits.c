/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP server against peers that want too much: slow, many, large, often. And TLS.
 */
#include "http_help.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define L "Host: localhost\r\n"

/* How long until the peer closes, while one byte more is sent every few milliseconds. */
static int64_t drip(int fd, const char *bytes, size_t n)
{
    int64_t start = ebb_clock_elapsed_ms();
    char c;

    for (size_t i = 0;; i++) {
        ssize_t got = recv(fd, &c, 1, MSG_DONTWAIT);

        if (!got || (got < 0 && errno != EAGAIN))
            break;
        send(fd, bytes + i % n, 1, MSG_NOSIGNAL);
        usleep(5000);
        if (ebb_clock_elapsed_ms() - start > 20000)
            break;
    }
    return ebb_clock_elapsed_ms() - start;
}

/* Bytes keep coming, but the request does not end: it is cut off all the same. */
static void slow(struct world *w)
{
    static const char *const starts[] = {"", "GET / HTTP/1.1\r\n" L,
                                         "POST / HTTP/1.1\r\n" L "Content-Length: 100000\r\n\r\n",
                                         "POST / HTTP/1.1\r\n" L "Transfer-Encoding: chunked\r\n\r\n1000000\r\n",
                                         "POST / HTTP/1.1\r\n" L "Transfer-Encoding: chunked\r\n\r\n0\r\n"};

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        int fd = dial(w);

        send_text(fd, starts[i]);
        CHECK(drip(fd, "abcde", 5) < 20000);
        close(fd);
    }
    CHECK(atomic_load(&w->handled) == 0);
}

static void test_slow(void **state)
{
    struct world w;
    (void)state;

    world_init(&w, slow);
    w.options.limits.request_ms = 300;
    world_run(&w);
}

static void slow_second(struct world *w)
{
    int fd = dial(w);

    send_text(fd, "GET /first HTTP/1.1\r\n" L "\r\n");
    free(read_until(fd, "|-|"));
    CHECK(drip(fd, "abcde", 5) < 20000);
    close(fd);
    CHECK(atomic_load(&w->handled) == 1);
}

static void test_slow_second(void **state)
{
    struct world w;
    (void)state;

    world_init(&w, slow_second);
    w.options.limits.request_ms = 300;
    w.options.limits.idle_ms = 1000;
    world_run(&w);
}

/* Connections that say nothing, and one that does not take its answer. */
static void idle(struct world *w)
{
    int quiet = dial(w), kept = dial(w), greedy = dial(w);
    char c;

    send_text(kept, "GET /kept HTTP/1.1\r\n" L "\r\n");
    free(read_until(kept, "|-|"));
    send_text(greedy, "GET /endless HTTP/1.1\r\n" L "\r\n");
    CHECK(recv(quiet, &c, 1, 0) == 0);
    CHECK(recv(kept, &c, 1, 0) == 0);
    for (int i = 0; i < 20000 && !atomic_load(&w->stopped); i++)
        usleep(1000);
    CHECK(atomic_load(&w->stopped) == 1);
    close(quiet);
    close(kept);
    close(greedy);
}

static void test_idle(void **state)
{
    struct world w;
    (void)state;

    world_init(&w, idle);
    w.options.limits.idle_ms = 1000;
    world_run(&w);
}

/* One that pauses for 5 ms after each 64 turns that did nothing has less in two seconds; one that spins many times
 * that. */
#define TURNS_MAX (64 * 2000 / 5 + 1000)

/* A chunk extension that never ends fills the buffer: nothing more is read, and the processor is left alone. */
static void stuck(struct world *w)
{
    char bytes[4096];
    int fd = dial(w), before = atomic_load(&w->turns);

    memset(bytes, 'x', sizeof bytes);
    send_text(fd, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: chunked\r\n\r\n1;");
    for (int i = 0; i < 100; i++)
        send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
    free(read_all(fd, NULL));
    close(fd);
    CHECK(atomic_load(&w->handled) == 0);
    CHECK(atomic_load(&w->turns) - before < TURNS_MAX); /* in the two seconds in which it is stuck */
}

static void test_stuck(void **state)
{
    struct world w;
    (void)state;

    world_init(&w, stuck);
    w.options.limits.request_ms = 2000;
    world_run(&w);
}

/* No descriptor is left to accept with: the processor is left alone, and who waits is answered once there is one. */
static void starved(struct world *w)
{
    int fds[300], count = 0, fd, before;
    char *a;

    while (count < 300 && (fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    CHECK(count > 0 && count < 300);
    close(fds[--count]);
    fd = dial(w);
    send_text(fd, "GET /starved HTTP/1.1\r\n" L "Connection: close\r\n\r\n");
    before = atomic_load(&w->turns);
    usleep(1000000);
    CHECK(atomic_load(&w->turns) - before < TURNS_MAX);
    CHECK(atomic_load(&w->handled) == 0);
    while (count)
        close(fds[--count]);
    a = read_all(fd, NULL);
    CHECK_HAS(a, "GET|/starved||-|");
    free(a);
    close(fd);
}

static void test_starved(void **state)
{
    struct rlimit before, few;
    struct world w;
    (void)state;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){128, before.rlim_max};
    world_init(&w, starved);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    world_run(&w);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* ---- many ---- */

static bool is_closed_at_once(int fd)
{
    char c;

    return recv(fd, &c, 1, 0) <= 0;
}

static void many(struct world *w)
{
    int fds[8], more = -1;
    char *a;

    for (int i = 0; i < 8; i++) {
        fds[i] = dial(w);
        send_text(fds[i], "GET /kept HTTP/1.1\r\n" L "\r\n");
        a = read_until(fds[i], "|-|");
        CHECK(status_of(a) == 200);
        free(a);
    }
    for (int i = 0; i < 20; i++) {
        more = dial(w);
        CHECK(is_closed_at_once(more));
        close(more);
    }
    for (int i = 0; i < 8; i++)
        close(fds[i]);
    for (int i = 0; i < 2000; i++) { /* and there is room again */
        a = ask(w, "GET /again HTTP/1.1\r\n" L "Connection: close\r\n\r\n");
        more = status_of(a);
        free(a);
        if (more == 200)
            break;
        usleep(1000);
    }
    CHECK(more == 200);
}

static void test_many_of_one(void **state)
{
    struct world w;
    (void)state;

    world_init(&w, many);
    w.options.limits.connections_per_address = 8;
    world_run(&w);
    assert_true(w.counts.refused >= 20);
}

/* Over the limit of all connections one waits until another is gone. */
static void many_of_all(struct world *w)
{
    int first = dial(w), second = dial(w), third;
    char *a;

    send_text(first, "GET /kept HTTP/1.1\r\n" L "\r\n");
    send_text(second, "GET /kept HTTP/1.1\r\n" L "\r\n");
    free(read_until(first, "|-|"));
    free(read_until(second, "|-|"));
    third = dial(w);
    send_text(third, "GET /third HTTP/1.1\r\n" L "Connection: close\r\n\r\n");
    CHECK(atomic_load(&w->handled) == 2);
    close(first);
    a = read_all(third, NULL);
    CHECK_HAS(a, "/third");
    free(a);
    close(second);
    close(third);
}

static void test_many_of_all(void **state)
{
    struct world w;
    (void)state;

    world_init(&w, many_of_all);
    w.options.limits.connections = 2;
    world_run(&w);
}

static void often(struct world *w)
{
    int refused = 0, taken = 0;
    int64_t start = ebb_clock_elapsed_ms(), passed;

    for (int i = 0; i < 200; i++) {
        char *a = ask(w, i % 2 ? "GET / HTTP/1.1\r\n" L "Connection: close\r\n\r\n"
                               : "POST / HTTP/1.1\r\n" L "Content-Length: 1\r\nConnection: close\r\n\r\nx");

        taken += status_of(a) == 200;
        refused += status_of(a) == 429;
        if (status_of(a) == 429)
            CHECK_HAS(a, "\r\nRetry-After: 1\r\n");
        free(a);
    }
    passed = ebb_clock_elapsed_ms() - start;
    CHECK(taken + refused == 200);
    CHECK(taken >= 50 && taken <= 50 + 5 * (passed + 1000) / 1000);
    usleep(400000);
    free(ask(w, "GET / HTTP/1.1\r\n" L "Connection: close\r\n\r\n"));
    CHECK(atomic_load(&w->handled) > taken); /* the allowance grows again */
}

static void test_often(void **state)
{
    struct world w;
    (void)state;

    world_init(&w, often);
    w.options.limits.requests_per_s = 5;
    world_run(&w);
}

/* ---- large ---- */

static void large(struct world *w)
{
    static char body[300000];
    char *a;
    int fd = dial(w);

    memset(body, 'x', sizeof body);
    send_text(fd, "POST / HTTP/1.1\r\n" L "Content-Length: 300000\r\n\r\n");
    send_all(fd, body, sizeof body); /* the answer is not lost although the body was sent in vain */
    a = read_all(fd, NULL);
    CHECK(status_of(a) == 413);
    free(a);
    close(fd);
    fd = dial(w);
    send_text(fd, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: chunked\r\n\r\n1D4C0\r\n"); /* 120,000 */
    send_all(fd, body, 120000);
    send_text(fd, "\r\n0\r\n\r\n");
    a = read_all(fd, NULL);
    CHECK(status_of(a) == 413);
    free(a);
    close(fd);
    fd = dial(w);
    send_text(fd, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: chunked\r\n\r\nfffffff\r\n");
    for (int i = 0; i < 200 && send_all(fd, body, sizeof body); i++)
        ;
    free(read_all(fd, NULL));
    close(fd);
    CHECK(atomic_load(&w->handled) == 0);
    fd = dial(w);
    send_text(fd, "POST / HTTP/1.1\r\n" L "Content-Length: 100000\r\nConnection: close\r\n\r\n");
    send_all(fd, body, 100000);
    a = read_all(fd, NULL);
    CHECK(status_of(a) == 200);
    free(a);
    close(fd);
}

static void test_large(void **state)
{
    struct world w;
    (void)state;

    world_init(&w, large);
    w.options.limits.body_bytes = 100000;
    world_run(&w);
}

/* Bodies of all requests together are bounded too. */
static void crowd(struct world *w)
{
    static char body[100000];
    int fds[8];
    char *a = NULL;

    memset(body, 'x', sizeof body);
    for (int i = 0; i < 8; i++) {
        fds[i] = dial(w);
        send_text(fds[i], "POST / HTTP/1.1\r\n" L "Content-Length: 100000\r\n\r\n");
        send_all(fds[i], body, sizeof body - 1);
    }
    for (int i = 0; i < 5000; i++) {
        a = ask(w, "POST / HTTP/1.1\r\n" L "Content-Length: 1\r\nConnection: close\r\n\r\nx");
        if (status_of(a) == 503)
            break;
        free(a);
        a = NULL;
        usleep(1000);
    }
    CHECK(a && strstr(a, "\r\nRetry-After: 1\r\n"));
    free(a);
    a = ask(w, "GET /small HTTP/1.1\r\n" L "Connection: close\r\n\r\n");
    CHECK(status_of(a) == 200);
    free(a);
    for (int i = 0; i < 8; i++)
        close(fds[i]);
    for (int i = 0, status = 0; i < 5000 && status != 200; i++) {
        a = ask(w, "POST / HTTP/1.1\r\n" L "Content-Length: 1\r\nConnection: close\r\n\r\nx");
        status = status_of(a);
        CHECK(status == 200 || i < 4999);
        free(a);
    }
}

static void test_crowd(void **state)
{
    struct world w;
    (void)state;

    world_init(&w, crowd);
    w.options.limits.body_bytes = 100000;
    world_run(&w);
}

/* ---- TLS, with the openssl command on the other side ---- */

/* GnuTLS loses a little memory over a certificate that can't be read. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:gnutls_x509_crt_init\nleak:gnutls_subject_alt_names_init\n";
}

static char folder[] = "/tmp/ebb-tls-XXXXXX";

/* command sees the argument as $1. */
static int shell(const char *command, const char *argument)
{
    pid_t child = fork();
    int status = -1;

    if (!child) {
        execl("/bin/sh", "sh", "-c", command, "sh", argument, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return status;
}

static void tls(struct world *w)
{
    char port[16];

    snprintf(port, sizeof port, "%u", w->port);
    CHECK(
        shell("printf 'GET /tls HTTP/1.1\\r\\nHost: localhost:1\\r\\nOrigin: https://localhost:1\\r\\nConnection: "
              "close\\r\\n\\r\\n' | openssl s_client -quiet -no_ign_eof -connect 127.0.0.1:$1 2>/dev/null >/dev/null; "
              "printf 'GET /tls HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' | openssl s_client "
              "-quiet "
              "-ign_eof -tls1_3 -connect 127.0.0.1:$1 2>/dev/null | grep -q 'GET|/tls||-|'",
              port) == 0);
    CHECK(shell("printf 'GET /tls HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' | openssl s_client "
                "-quiet -ign_eof -tls1_2 -connect 127.0.0.1:$1 2>/dev/null | grep -q 'GET|/tls||-|'",
                port) == 0);
    /* what is no longer safe */
    CHECK(shell("openssl s_client -quiet -tls1_1 -cipher ALL:@SECLEVEL=0 -connect 127.0.0.1:$1 </dev/null "
                ">/dev/null 2>&1",
                port) != 0);
    CHECK(shell("openssl s_client -quiet -tls1_2 -cipher AES128-SHA -connect 127.0.0.1:$1 </dev/null >/dev/null 2>&1",
                port) != 0);
    CHECK(shell("openssl s_client -quiet -tls1_2 -cipher ECDHE-RSA-AES256-SHA -connect 127.0.0.1:$1 </dev/null "
                ">/dev/null 2>&1",
                port) != 0);
    free(ask(w, "GET /plain HTTP/1.1\r\n" L "\r\n")); /* plain text to a TLS port */
    CHECK(atomic_load(&w->handled) >= 2 && atomic_load(&w->handled) <= 3);
}

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    close(fd);
    return good ? 0 : -1;
}

static void expect_refused(struct world *w, const char *cert, const char *key)
{
    struct ebb_http_server *server;
    struct ebb_err err;

    w->options.cert = cert;
    w->options.key = key;
    assert_int_equal(uv_loop_init(&w->loop), 0);
    assert_int_equal(ebb_http_server_open(&w->loop, &w->options, &server, &err), -EBB_ECONFIG);
    assert_non_null(strstr(err.message, "/tmp/ebb-tls-"));
    assert_int_equal(uv_loop_close(&w->loop), 0);
}

static void test_tls(void **state)
{
    char cert[100], key[100], other[100];
    struct world w;
    (void)state;

    assert_non_null(mkdtemp(folder));
    snprintf(cert, sizeof cert, "%s/cert.pem", folder);
    snprintf(key, sizeof key, "%s/key.pem", folder);
    snprintf(other, sizeof other, "%s/other.pem", folder);
    if (shell("cd $1 && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj "
              "/CN=localhost 2>/dev/null && openssl genrsa -out other.pem 2048 2>/dev/null",
              folder))
        fail_msg("openssl could not make a certificate");
    world_init(&w, tls);
    w.options.cert = cert;
    w.options.key = key;
    world_run(&w);
    world_init(&w, tls);
    expect_refused(&w, cert, other);
    expect_refused(&w, key, key);
    expect_refused(&w, folder, key);
    write_file(other, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    expect_refused(&w, other, key);
    expect_refused(&w, cert, "/tmp/ebb-tls-none");
    shell("rm -r $1", folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow),        cmocka_unit_test(test_slow_second), cmocka_unit_test(test_idle),
        cmocka_unit_test(test_stuck),       cmocka_unit_test(test_starved),     cmocka_unit_test(test_many_of_one),
        cmocka_unit_test(test_many_of_all), cmocka_unit_test(test_often),       cmocka_unit_test(test_large),
        cmocka_unit_test(test_crowd),       cmocka_unit_test(test_tls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
