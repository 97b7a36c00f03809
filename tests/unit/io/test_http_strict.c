/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP server against requests that break the rules: each is refused before the handler sees it, and its connection
 * closed, so that nothing after it is taken for a request.
 */
#include "http_help.h"

#define L "Host: localhost\r\n"
#define SMUGGLED "GET /smuggled HTTP/1.1\r\n" L "\r\n"

struct bad {
    int status; /* 0: closed without an answer */
    const char *request;
    size_t n;
};
#define BAD(status, text)                                                                                              \
    {                                                                                                                  \
        status, text, sizeof text - 1                                                                                  \
    }

/* What RFC 9112, 9110 and 3986 forbid, or what two servers would read in two ways. */
static const struct bad bads[] = {
    /* the first line */
    BAD(0, "GARBAGE\r\n\r\n"),
    BAD(400, "GET /\r\n\r\n"),
    BAD(400, "GET / \r\n" L "\r\n"),
    BAD(400, "GET / extra HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET / http/1.1\r\n" L "\r\n"),
    BAD(400, "GET / HTTP/1.1x\r\n" L "\r\n"),
    BAD(400, "GET / HTTP/11\r\n" L "\r\n"),
    BAD(505, "GET / HTTP/2.0\r\n" L "\r\n"),
    BAD(505, "GET / HTTP/0.9\r\n" L "\r\n"),
    BAD(505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    BAD(400, "GET  / HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET\t/ HTTP/1.1 HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "G\001T / HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "G(T / HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET / HTTP/1.1\n" L "\r\n"),
    BAD(400, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\n" L "\r\n"),
    /* the target */
    BAD(400, "GET a HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET * HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "CONNECT localhost:80 HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET /a\tb HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET /a\001b HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET /a\177b HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET /a\rb HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET /\303\244 HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET /a#b HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET /%00 HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET /%zz HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET /%2 HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET /?%g0 HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET /a\000b HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET http://evil.example/ HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET http://localhost:1/ HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET https://localhost/ HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET http:///x HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET ftp://localhost/ HTTP/1.1\r\n" L "\r\n"),
    BAD(400, "GET http://user@localhost/ HTTP/1.1\r\n" L "\r\n"),
    /* header lines */
    BAD(400, "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "X y: z\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "no colon\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L ": no name\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L " folded\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "\tfolded\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\nX: a\r\n b\r\n" L "\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n folded: a\r\n" L "\r\n"),
    BAD(400, "GET / HTTP/1.1\r\nX: a\n" L "\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "X: a\r\n\n"),
    BAD(400, "GET / HTTP/1.1\nHost: localhost\n\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "X: a\rb\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "X: a\000b\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "X: a\000\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "X\000: a\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "X: \001\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "X: \177\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "X\303\244: a\r\n\r\n"),
    /* Host */
    BAD(400, "GET / HTTP/1.1\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L L "\r\n"),
    BAD(400, "GET / HTTP/1.1\r\nHost: localhost, evil\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\nHost: localhost/\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\nHost: localhost:\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\nHost: localhost:99999\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\nHost: user@localhost\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"),
    BAD(421, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
    BAD(421, "GET / HTTP/1.1\r\nHost: localhost.\r\n\r\n"),
    BAD(421, "GET / HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n"),
    BAD(421, "GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n"),
    BAD(421, "GET / HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n"),
    BAD(421, "GET / HTTP/1.0\r\nHost: evil.example\r\n\r\n"),
    /* lengths */
    BAD(400, "POST / HTTP/1.1\r\n" L "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Content-Length: 0\r\nContent-Length: 44\r\n\r\n" SMUGGLED),
    BAD(400, "POST / HTTP/1.1\r\n" L "Content-Length: 3, 3\r\n\r\nabc"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Content-Length: +3\r\n\r\nabc"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Content-Length: -3\r\n\r\nabc"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Content-Length: 0x3\r\n\r\nabc"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Content-Length: 3 3\r\n\r\nabc"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Content-Length:\r\n\r\nabc"),
    BAD(413, "POST / HTTP/1.1\r\n" L "Content-Length: 8388609\r\n\r\n"),
    BAD(413, "POST / HTTP/1.1\r\n" L "Content-Length: 18446744073709551615\r\n\r\n"),
    BAD(413, "POST / HTTP/1.1\r\n" L "Content-Length: 99999999999999999999999\r\n\r\n"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" SMUGGLED),
    BAD(400, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
    BAD(501, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    BAD(501, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" SMUGGLED),
    BAD(501, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: identity\r\n\r\n" SMUGGLED),
    BAD(501, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"),
    BAD(400, "POST / HTTP/1.0\r\n" L "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n"),
    BAD(413, "POST / HTTP/1.1\r\n" L "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n\r\n"),
    /* twice */
    BAD(400, "GET / HTTP/1.1\r\n" L "Authorization: a\r\nauthorization: b\r\n\r\n"),
    BAD(400, "POST / HTTP/1.1\r\n" L "Content-Type: a/b\r\nContent-Type: a/b\r\nContent-Length: 0\r\n\r\n"),
    /* Origin */
    BAD(403, "GET / HTTP/1.1\r\n" L "Origin: http://evil.example\r\n\r\n"),
    BAD(403, "GET / HTTP/1.1\r\n" L "Origin: null\r\n\r\n"),
    BAD(403, "GET / HTTP/1.1\r\n" L "Origin:\r\n\r\n"),
    BAD(403, "GET / HTTP/1.1\r\n" L "Origin: http://localhost:3000\r\n\r\n"),
    BAD(403, "GET / HTTP/1.1\r\n" L "Origin: http://localhost.evil.example\r\n\r\n"),
    BAD(403, "GET / HTTP/1.1\r\n" L "Origin: http://localhost/path\r\n\r\n"),
    BAD(403, "GET / HTTP/1.1\r\n" L "Origin: file://localhost\r\n\r\n"),
    BAD(400, "GET / HTTP/1.1\r\n" L "Origin: http://localhost\r\nOrigin: http://evil.example\r\n\r\n"),
    BAD(403, "POST / HTTP/1.1\r\n" L "Origin: http://evil.example\r\nContent-Length: 3\r\n\r\nabc"),
};

static void refuse_each(struct world *w)
{
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        int fd = dial(w);
        char *a;

        send_all(fd, bads[i].request, bads[i].n);
        send_text(fd, SMUGGLED); /* whatever was sent with it is no request */
        shutdown(fd, SHUT_WR);
        a = read_all(fd, NULL);
        if (status_of(a) != bads[i].status)
            note_failure(w, __FILE__, bads[i].status, bads[i].request, a);
        CHECK(!strstr(a, "/smuggled"));
        CHECK(atomic_load(&w->handled) == 0);
        free(a);
        close(fd);
    }
}

static const char *const goods[] = {
    "GET / HTTP/1.1\r\nhOsT:localhost\r\n",
    "GET / HTTP/1.1\r\nHost: \t localhost \t\r\n",
    "GET / HTTP/1.1\r\nHost: LOCALHOST:8490\r\n",
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n",
    "GET / HTTP/1.1\r\nHost: [0:0::1]:80\r\n",
    "GET / HTTP/1.1\r\nHost: ebb.example\r\n",
    "GET / HTTP/1.1\r\nHost: ebb.example:4711\r\n",
    "GET / HTTP/1.1\r\nHost: strict.example:99\r\n",
    "\r\nGET / HTTP/1.1\r\n" L,
    "GET / HTTP/1.1\r\n" L "X:\r\nY: \t\r\nZ: a\tb \303\244\r\n",
    "GET / HTTP/1.1\r\n" L "X: a\r\nX: b\r\n",
    "GET / HTTP/1.1\r\n" L "Cookie: a=b; c=\"d\"; ; =e\r\n",
    "GET /?a=b&a&&=c&%61 HTTP/1.1\r\n" L,
    "GET / HTTP/1.1\r\n" L "Origin: http://localhost\r\n",
    "GET / HTTP/1.1\r\n" L "Origin: http://LOCALHOST:80\r\n",
    "GET / HTTP/1.1\r\nHost: localhost:8490\r\nOrigin: http://localhost:8490\r\n",
    "GET / HTTP/1.1\r\nHost: [::1]:8490\r\nOrigin: http://[::1]:8490\r\n",
    "GET / HTTP/1.1\r\n" L "Origin: https://ebb.example\r\n",
    "POST / HTTP/1.1\r\n" L "Content-Length: 00\r\n",
    "DELETE / HTTP/1.1\r\n" L "Transfer-Encoding: Chunked\r\n\r\n0\r\n",
    "M-SEARCH / HTTP/1.9\r\n" L "Connection: close\r\n",
};

static void take_each(struct world *w)
{
    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
        int fd = dial(w);
        char *a;

        send_text(fd, goods[i]);
        send_text(fd, "\r\n");
        a = read_until(fd, "|-|");
        if (status_of(a) != 200)
            note_failure(w, __FILE__, (int)i, goods[i], a);
        free(a);
        close(fd);
    }
    CHECK(atomic_load(&w->handled) == sizeof goods / sizeof goods[0]);
}

/* Refused answers are whole ones, of the same kind as the others. */
static void say_why(struct world *w)
{
    char *a = ask(w, "GET / HTTP/1.1\r\nHost: evil\r\n\r\n");

    CHECK_HAS(a, "HTTP/1.1 421 Misdirected Request\r\n");
    CHECK_HAS(a, "\r\nConnection: close\r\n");
    CHECK_HAS(a, "\r\nContent-Type: application/problem+json\r\n");
    CHECK_HAS(a, "\r\nX-Content-Type-Options: nosniff\r\n");
    CHECK_HAS(a, "\r\nCache-Control: no-store\r\n");
    CHECK_HAS(a, "\r\n\r\n{\"status\":421,\"detail\":\"Host is");
    free(a);
}

/* Heads of every size around the limit, in one piece and in two, with the second half of the bytes late. */
static void sizes(struct world *w)
{
    static const size_t limit = 32 * 1024;
    char *request = malloc(2 * limit);

    for (size_t n = 1000; n < limit + 20000; n += n < limit - 100 || n > limit + 100 ? 2711 : 50) {
        static const char start[] = "GET / HTTP/1.1\r\n" L "Connection: close\r\nX: ";
        int fd = dial(w);
        char *a;

        memset(request, 'x', n);
        memcpy(request, start, sizeof start - 1);
        memcpy(request + n - 4, "\r\n\r\n", 4);
        send_all(fd, request, n / 2);
        if (n % 2)
            usleep(2000);
        send_all(fd, request + n / 2, n - n / 2);
        a = read_all(fd, NULL);
        if (status_of(a) != (n <= limit ? 200 : 431))
            note_failure(w, __FILE__, (int)n, "size", a);
        free(a);
        close(fd);
    }
    free(request);
}

static void many_headers(struct world *w)
{
    struct ebb_buf b;
    char *a;

    ebb_buf_init(&b, 1 << 20);
    ebb_buf_puts(&b, "GET / HTTP/1.1\r\n" L "Connection: close\r\n");
    for (int i = 0; i < 126; i++)
        ebb_buf_printf(&b, "X%d: y\r\n", i);
    ebb_buf_puts(&b, "\r\n");
    a = ask(w, ebb_buf_cstr(&b));
    CHECK(status_of(a) == 200);
    free(a);
    ebb_buf_reset(&b);
    ebb_buf_puts(&b, "GET / HTTP/1.1\r\n" L);
    for (int i = 0; i < 128; i++)
        ebb_buf_puts(&b, "a:\r\n");
    ebb_buf_puts(&b, "\r\n");
    a = ask(w, ebb_buf_cstr(&b));
    CHECK(status_of(a) == 431);
    free(a);
    ebb_buf_fini(&b);
}

/* Bytes that were drawn, not thought of: none reaches the handler as a request, and the server lives. */
static void noise(struct world *w)
{
    uint64_t s = 88172645463325252u;
    char bytes[512];

    for (int i = 0; i < 300; i++) {
        int fd = dial(w);

        for (size_t j = 0; j < sizeof bytes; j++) {
            s ^= s << 13, s ^= s >> 7, s ^= s << 17;
            bytes[j] = "GET /HTP1.\r\n: \0\t\377ahost"[s % 23];
        }
        send_all(fd, bytes, sizeof bytes);
        shutdown(fd, SHUT_WR);
        free(read_all(fd, NULL));
        close(fd);
    }
    CHECK(atomic_load(&w->handled) == 0);
    free(ask(w, "GET /alive HTTP/1.1\r\n" L "Connection: close\r\n\r\n"));
    CHECK(atomic_load(&w->handled) == 1);
}

static void run(void (*client)(struct world *w))
{
    struct world w;

    world_init(&w, client);
    ebb_strs_add(&w.hosts, "ebb.example", NULL);
    ebb_strs_add(&w.hosts, "strict.example:99", NULL);
    world_run(&w);
}

static void test_refused(void **state)
{
    (void)state;
    run(refuse_each);
}

static void test_taken(void **state)
{
    (void)state;
    run(take_each);
}

static void test_why(void **state)
{
    (void)state;
    run(say_why);
}

static void test_sizes(void **state)
{
    (void)state;
    run(sizes);
}

static void test_many_headers(void **state)
{
    (void)state;
    run(many_headers);
}

static void test_noise(void **state)
{
    (void)state;
    run(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_taken),        cmocka_unit_test(test_why),
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_many_headers), cmocka_unit_test(test_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
