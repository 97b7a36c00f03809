/* SPDX-License-Identifier: Apache-2.0
 *
 * Every request carries secrets in its URL and headers; no error and no log line may have them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client_help.h"
#include "scripted_server.h"

#define READ                                                                                                           \
    {                                                                                                                  \
        STEP_READ, NULL, 0                                                                                             \
    }
#define SEND(text)                                                                                                     \
    {                                                                                                                  \
        STEP_SEND, text, 0                                                                                             \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        STEP_END, NULL, 0                                                                                              \
    }
#define STALL                                                                                                          \
    {                                                                                                                  \
        STEP_STALL, NULL, 0                                                                                            \
    }
#define RESET                                                                                                          \
    {                                                                                                                  \
        STEP_RESET, NULL, 0                                                                                            \
    }
#define AGAIN                                                                                                          \
    {                                                                                                                  \
        STEP_AGAIN, NULL, 0                                                                                            \
    }
#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-One:  1\r\n\r\nhi"

static const struct step answers[] = {READ, SEND(OK_ANSWER), AGAIN};
static const struct step stalls[] = {READ, STALL};
static const struct step resets[] = {READ, RESET};
static const struct step resets_at_once[] = {RESET};
static const struct step closes[] = {READ, END};
static const struct step halves[] = {READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), END};
static const struct step busy[] = {READ, SEND("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"), AGAIN};

static void start_server(struct http_fixture *f, const struct step *const *scripts, size_t count)
{
    server_start(&f->server, scripts, count);
    f->is_serving = true;
    snprintf(f->url, sizeof f->url, "http://user:" SECRET "@127.0.0.1:%d/" SECRET "?token=" SECRET, f->server.port);
}
#define SERVE(f, ...)                                                                                                  \
    const struct step *const scripts[] = {__VA_ARGS__};                                                                \
    start_server(f, scripts, sizeof scripts / sizeof *scripts)

static void test_get(void **state)
{
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    SERVE(f, answers);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_answer(&s, 200, "hi", 1);
    assert_string_equal(s.header, "1");
    assert_true(server_saw(&f->server, "GET /" SECRET "?token=" SECRET " HTTP/1.1\r\n"));
    assert_true(server_saw(&f->server, "\r\nUser-Agent: ebb/" EBB_VERSION "\r\n"));
    assert_true(server_saw(&f->server, "\r\nX-Key: " SECRET "\r\n"));
    assert_true(server_saw(&f->server, "\r\nX-Empty:\r\n"));
    assert_false(server_saw(&f->server, "Expect"));
    assert_false(server_saw(&f->server, "Content-Type"));
}

static void test_methods(void **state)
{
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
    struct http_fixture *f = *state;

    SERVE(f, answers);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct seen s = {.f = f};
        char line[40];

        ask(f, &s, methods[i], "{\"a\":\"b\"}");
        finish(f);
        expect_answer(&s, 200, "hi", 1);
        snprintf(line, sizeof line, "%s /" SECRET, methods[i]);
        assert_true(server_saw(&f->server, line));
        assert_true(server_saw(&f->server, "\r\nContent-Length: 9\r\n"));
        assert_true(server_saw(&f->server, "\r\n\r\n{\"a\":\"b\"}"));
        assert_false(server_saw(&f->server, "x-www-form-urlencoded"));
    }
}

static void test_head(void **state)
{
    static const struct step head[] = {READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 99\r\nX-One: 1\r\n\r\n"), AGAIN};
    struct http_fixture *f = *state;
    struct seen s = {.f = f}, post = {.f = f};

    SERVE(f, head, answers);
    ask(f, &s, "HEAD", NULL);
    finish(f);
    expect_answer(&s, 200, "", 1);
    assert_string_equal(s.header, "1");
    ask(f, &post, "POST", ""); /* a body of nothing; on a connection of its own */
    finish(f);
    expect_answer(&post, 200, "hi", 1);
    assert_true(server_saw(&f->server, "\r\nContent-Length: 0\r\n"));
}

static void test_connections_are_kept(void **state)
{
    struct http_fixture *f = *state;
    struct seen s[3] = {{.f = f}, {.f = f}, {.f = f}};

    SERVE(f, answers);
    for (int i = 0; i < 3; i++) {
        ask(f, &s[i], "GET", NULL);
        finish(f);
        expect_answer(&s[i], 200, "hi", 1);
    }
    assert_int_equal(f->server.count, 1);
}

static void test_interim_answers(void **state)
{
    static const struct step interim[] = {READ,
                                          SEND("HTTP/1.1 103 Early Hints\r\nX-One: early\r\n\r\nHTTP/1.1 102 "
                                               "Processing\r\n\r\nHTTP/1.1 404 No\r\nX-Two: 2\r\n"
                                               "Content-Length: 0\r\n\r\n"),
                                          AGAIN};
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    SERVE(f, interim);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_answer(&s, 404, "", 1);
    assert_string_equal(s.header, "(none)");
}

static void test_redirects_are_not_followed(void **state)
{
    static const struct step redirect[] = {
        READ, SEND("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"), AGAIN};
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    SERVE(f, redirect);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_answer(&s, 302, "", 1);
    assert_int_equal(f->server.requests, 1);
}

static void test_busy_then_well(void **state)
{
    static const struct step busy_thrice[] = {READ, SEND("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"),
                                              READ, SEND("HTTP/1.1 429 Many\r\nContent-Length: 4\r\n\r\nmany"),
                                              READ, SEND("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops"),
                                              READ, SEND(OK_ANSWER),
                                              END};
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    SERVE(f, busy_thrice);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_answer(&s, 200, "hi", 4);
    assert_int_equal(f->server.requests, 4);
}

static void test_busy_for_ever(void **state)
{
    struct http_fixture *f = *state;
    struct seen get = {.f = f}, post = {.f = f}, again = {.f = f};

    SERVE(f, busy);
    ask(f, &get, "GET", NULL);
    finish(f);
    expect_answer(&get, 503, "busy", 4);
    ask(f, &post, "POST", "x"); /* may have been done */
    finish(f);
    expect_answer(&post, 503, "busy", 1);
    f->call.can_repeat = true;
    ask(f, &again, "POST", "x");
    finish(f);
    expect_answer(&again, 503, "busy", 4);
}

static void test_other_statuses_are_not_repeated(void **state)
{
    static const struct step bad[] = {READ, SEND("HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n"),
                                      READ, SEND("HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n"),
                                      READ, SEND("HTTP/1.1 501 What\r\nContent-Length: 0\r\n\r\n"),
                                      END};
    struct http_fixture *f = *state;
    const int statuses[] = {400, 401, 501};

    SERVE(f, bad);
    for (int i = 0; i < 3; i++) {
        struct seen s = {.f = f};

        ask(f, &s, "GET", NULL);
        finish(f);
        expect_answer(&s, statuses[i], "", 1);
    }
}

static void test_retry_after(void **state)
{
    static const struct step a_second[] = {
        READ, SEND("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"), READ, SEND(OK_ANSWER), END};
    struct http_fixture *f = *state;
    struct seen s = {.f = f};
    int64_t began = ebb_clock_elapsed_ms();

    SERVE(f, a_second);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_answer(&s, 200, "hi", 2);
    assert_true(ebb_clock_elapsed_ms() - began >= 1000);
}

/* By the clock of the one who sent it. */
static void test_retry_after_a_date(void **state)
{
    static const struct step dated[] = {READ,
                                        SEND("HTTP/1.1 429 Many\r\nDate: Mon, 01 Jun 2020 00:00:00 GMT\r\n"
                                             "Retry-After: Mon, 01 Jun 2020 00:00:01 GMT\r\nContent-Length: 0\r\n\r\n"),
                                        READ,
                                        SEND("HTTP/1.1 429 Many\r\nDate: Mon, 01 Jun 2020 00:00:00 GMT\r\n"
                                             "Retry-After: Mon, 01 Jun 2020 01:00:00 GMT\r\nContent-Length: 0\r\n\r\n"),
                                        END};
    struct http_fixture *f = *state;
    struct seen s = {.f = f};
    int64_t began = ebb_clock_elapsed_ms();

    SERVE(f, dated);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_answer(&s, 429, "", 2); /* an hour is beyond the deadline: not waited for */
    assert_true(ebb_clock_elapsed_ms() - began >= 1000);
}

static void test_retry_after_nonsense(void **state)
{
    static const struct step nonsense[] = {
        READ, SEND("HTTP/1.1 503 Busy\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n"),
        READ, SEND("HTTP/1.1 503 Busy\r\nRetry-After: -5\r\nContent-Length: 0\r\n\r\n"),
        READ, SEND("HTTP/1.1 503 Busy\r\nRetry-After: 99999999999999999999\r\nContent-Length: 0\r\n\r\n"),
        READ, SEND("HTTP/1.1 503 Busy\r\nRetry-After: 9223372036854775807\r\nContent-Length: 0\r\n\r\n"),
        END};
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    SERVE(f, nonsense);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_answer(&s, 503, "", 4);
}

static void test_connections_that_break(void **state)
{
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    f->call.tries = 5;
    SERVE(f, resets, resets_at_once, closes, halves, answers);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_answer(&s, 200, "hi", 5);
    assert_int_equal(f->server.count, 5);
}

static void test_a_post_is_sent_once(void **state)
{
    static const struct step *const breaks[] = {resets, closes, halves};
    struct http_fixture *f = *state;

    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        struct seen s = {.f = f};

        start_server(f, &breaks[i], 1);
        ask(f, &s, "POST", "x");
        finish(f);
        expect_failure(&s, EBB_EIO, 1);
        assert_int_equal(f->server.requests, 1);
        stop_server(f);
    }
}

/* Also when it would go over a connection that was kept and is dead by now. */
static void test_a_post_is_sent_once_over_a_kept_connection(void **state)
{
    static const struct step one_then_close[] = {READ, SEND(OK_ANSWER), READ, RESET};
    struct http_fixture *f = *state;
    struct seen get = {.f = f}, post = {.f = f};

    SERVE(f, one_then_close, resets);
    ask(f, &get, "GET", NULL);
    finish(f);
    ask(f, &post, "POST", "x");
    finish(f);
    expect_failure(&post, EBB_EIO, 1);
    assert_int_equal(f->server.requests, 2);
}

static void test_a_post_that_may_be_repeated(void **state)
{
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    f->call.can_repeat = true;
    SERVE(f, resets, halves, answers);
    ask(f, &s, "POST", "x");
    finish(f);
    expect_answer(&s, 200, "hi", 3);
    assert_true(server_saw(&f->server, "\r\n\r\nx"));
}

static void test_refused(void **state)
{
    struct http_fixture *f = *state;
    struct seen get = {.f = f}, post = {.f = f};
    char where[40];

    SERVE(f, answers);
    stop_server(f);
    snprintf(where, sizeof where, "127.0.0.1:%d: ", f->server.port);
    ask(f, &get, "GET", NULL);
    ask(f, &post, "POST", "x"); /* nothing was sent */
    finish(f);
    expect_failure(&get, EBB_EIO, 4);
    expect_failure(&post, EBB_EIO, 4);
    assert_ptr_equal(strstr(get.err.message, where), get.err.message);
    assert_true(get.err.retryable);
}

static void test_stall(void **state)
{
    struct http_fixture *f = *state;
    struct seen s = {.f = f}, well = {.f = f};

    f->call.try_ms = 100;
    f->call.tries = 2;
    SERVE(f, stalls, stalls, stalls, answers);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_failure(&s, EBB_EIO, 2);
    assert_non_null(strstr(s.err.message, "in time"));
    f->call.try_ms = 1000;
    ask(f, &well, "GET", NULL);
    finish(f);
    expect_answer(&well, 200, "hi", 2);
}

static void test_the_deadline_holds_for_all_tries(void **state)
{
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    f->call.try_ms = 60000;
    f->call.deadline_ms = 200;
    SERVE(f, stalls);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_failure(&s, EBB_EIO, 1);
}

static void test_trickle(void **state)
{
    static const struct step body[] = {
        READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"), {STEP_TRICKLE, NULL, 0}};
    static const struct step head[] = {READ, SEND("HTTP/1.1 200 OK\r\nX-One: "), {STEP_TRICKLE, NULL, 0}};
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    f->call.tries = 2;
    f->call.try_ms = 150;
    SERVE(f, body, head);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_failure(&s, EBB_EIO, 2);
}

static void test_long_answers(void **state)
{
    static const struct step honest[] = {
        READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 10001\r\n\r\n"), {STEP_FILL, NULL, 10001}, END};
    static const struct step endless[] = {READ, SEND("HTTP/1.1 200 OK\r\n\r\n"), {STEP_FILL, NULL, 100000000}, END};
    static const struct step fitting[] = {
        READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n"), {STEP_FILL, NULL, 10000}, END};
    static const struct step header[] = {
        READ, SEND("HTTP/1.1 200 OK\r\nX: "), {STEP_FILL, NULL, 80000}, SEND("\r\n\r\n"), END};
    static const struct step endless_header[] = {
        READ, SEND("HTTP/1.1 200 OK\r\nX: "), {STEP_FILL, NULL, 100000000}, END};
    static const struct step beyond_numbers[] = {
        READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nx"), END};
    static const struct step lying[] = {
        READ, SEND("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4000\r\n"), {STEP_FILL, NULL, 0x4000}, STALL};
    const struct step *const all[] = {honest, endless, header, endless_header, beyond_numbers, lying, fitting};
    struct http_fixture *f = *state;
    struct seen fits = {.f = f};

    f->call.answer_bytes = 10000;
    start_server(f, all, 7);
    for (int i = 0; i < 6; i++) {
        struct seen s = {.f = f};

        ask(f, &s, "GET", NULL);
        finish(f);
        expect_failure(&s, EBB_ELIMIT, 1);
    }
    ask(f, &fits, "GET", NULL);
    finish(f);
    assert_int_equal(fits.status, 200);
    assert_int_equal(fits.body_bytes, 10000);
}

static void test_many_headers(void **state)
{
    static char many[100000] = "HTTP/1.1 200 OK\r\n";
    const struct step script[] = {READ, SEND(many), STALL};
    const struct step *one = script;
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    for (size_t n = strlen(many); n < 90000; n += 15)
        memcpy(many + n, "X-Y: 01234567\r\n", 16);
    start_server(f, &one, 1);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_failure(&s, EBB_ELIMIT, 1);
}

static void test_nonsense(void **state)
{
    static const char *const texts[] = {
        "hello\r\n\r\n",
        "\r\n\r\n",
        "HTTP/1.1 OK\r\n\r\n",
        "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    };
    struct http_fixture *f = *state;

    f->call.tries = 1;
    f->call.try_ms = 2000;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct step script[] = {READ, SEND(texts[i]), END};
        const struct step *one = script;
        struct seen s = {.f = f};

        start_server(f, &one, 1);
        ask(f, &s, "GET", NULL);
        finish(f);
        if (!s.err.error)
            fail_msg("taken: %s", texts[i]);
        expect_failure(&s, EBB_EIO, 1);
        stop_server(f);
    }
}

static void test_limit_of_a_host(void **state)
{
    static const struct step slow[] = {
        READ, SEND("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n"), {STEP_FILL, NULL, 2000000}, AGAIN};
    struct http_fixture *f = *state;
    struct seen s[20] = {0};

    reopen(f, 3);
    SERVE(f, slow);
    for (int i = 0; i < 20; i++) {
        s[i].f = f;
        ask(f, &s[i], "GET", NULL);
    }
    finish(f);
    for (int i = 0; i < 20; i++)
        assert_int_equal(s[i].status, 200);
    assert_int_equal(f->server.requests, 20);
    assert_in_range(f->server.most, 1, 3);
    assert_in_range(f->server.count, 1, 3);
}

/* In order of asking. */
static void test_the_queue_is_fair(void **state)
{
    struct http_fixture *f = *state;
    struct seen s[5] = {0};

    reopen(f, 1);
    SERVE(f, answers);
    for (int i = 0; i < 5; i++) {
        s[i].f = f;
        ask(f, &s[i], "GET", NULL);
    }
    finish(f);
    for (int i = 0; i < 5; i++)
        assert_int_equal(s[i].place, i);
}

static void run_until_told(struct http_fixture *f, const struct seen *s)
{
    while (!s->told)
        uv_run(&f->loop, UV_RUN_ONCE);
}

static void test_waiting_counts(void **state)
{
    struct http_fixture *f = *state;
    struct seen first = {.f = f}, second = {.f = f}, third = {.f = f};

    reopen(f, 1);
    SERVE(f, stalls, answers);
    ask(f, &first, "GET", NULL);
    f->call.deadline_ms = 100;
    ask(f, &second, "GET", NULL);
    f->call.deadline_ms = 0;
    ask(f, &third, "GET", NULL);
    run_until_told(f, &second);
    expect_failure(&second, EBB_EIO, 0); /* never had a turn */
    assert_int_equal(first.told, 0);
    ebb_http_cancel(first.request);
    finish(f);
    expect_answer(&third, 200, "hi", 1);
}

static void test_hosts_do_not_wait_for_each_other(void **state)
{
    struct http_fixture *f = *state;
    struct scripted_server other;
    const struct step *const stall_only[] = {stalls};
    struct seen slow = {.f = f}, quick = {.f = f};

    reopen(f, 1);
    SERVE(f, answers);
    server_start(&other, stall_only, 1);
    snprintf(f->url, sizeof f->url, "http://127.0.0.1:%d/", other.port);
    ask(f, &slow, "GET", NULL);
    snprintf(f->url, sizeof f->url, "http://127.0.0.1:%d/", f->server.port);
    ask(f, &quick, "GET", NULL);
    run_until_told(f, &quick);
    expect_answer(&quick, 200, "hi", 1);
    assert_int_equal(slow.told, 0);
    ebb_http_cancel(slow.request);
    finish(f);
    server_stop(&other);
}

static void test_cancel_at_once(void **state)
{
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    SERVE(f, answers);
    ask(f, &s, "GET", NULL);
    ebb_http_cancel(s.request);
    assert_int_equal(s.told, 0);
    ebb_http_cancel(s.request);
    finish(f);
    assert_int_equal(s.told, 1);
    assert_int_equal(s.err.error, EBB_ECANCELLED);
}

static void test_cancel_while_it_waits_for_its_turn(void **state)
{
    struct http_fixture *f = *state;
    struct seen first = {.f = f}, second = {.f = f}, third = {.f = f};

    reopen(f, 1);
    SERVE(f, answers);
    ask(f, &first, "GET", NULL);
    ask(f, &second, "GET", NULL);
    ask(f, &third, "GET", NULL);
    ebb_http_cancel(second.request);
    finish(f);
    expect_failure(&second, EBB_ECANCELLED, 0);
    expect_answer(&first, 200, "hi", 1);
    expect_answer(&third, 200, "hi", 1);
}

static void wait_for_requests(struct http_fixture *f, int count)
{
    while (f->server.requests < count)
        uv_run(&f->loop, UV_RUN_NOWAIT);
}

static void test_cancel_while_it_runs(void **state)
{
    struct http_fixture *f = *state;
    struct seen s = {.f = f}, next = {.f = f};

    reopen(f, 1);
    SERVE(f, stalls, answers);
    ask(f, &s, "GET", NULL);
    ask(f, &next, "GET", NULL);
    wait_for_requests(f, 1);
    ebb_http_cancel(s.request);
    assert_int_equal(s.told, 0);
    finish(f);
    expect_failure(&s, EBB_ECANCELLED, 1);
    expect_answer(&next, 200, "hi", 1);
}

static void test_cancel_while_it_pauses(void **state)
{
    static const struct step later[] = {READ, SEND("HTTP/1.1 503 Busy\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n"),
                                        AGAIN};
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    SERVE(f, later);
    ask(f, &s, "GET", NULL);
    while (!strstr(f->log, "again in"))
        uv_run(&f->loop, UV_RUN_ONCE);
    ebb_http_cancel(s.request);
    finish(f);
    expect_failure(&s, EBB_ECANCELLED, 1);
    assert_int_equal(f->server.requests, 1);
}

/* Its own request is gone already, the other's answer may be there: it is cancelled all the same. */
static void test_cancel_from_a_callback(void **state)
{
    struct http_fixture *f = *state;
    struct seen first = {.f = f}, second = {.f = f};

    reopen(f, 1);
    SERVE(f, answers);
    first.cancel_self = true;
    first.cancel_other = &second;
    ask(f, &first, "GET", NULL);
    ask(f, &second, "GET", NULL);
    finish(f);
    expect_answer(&first, 200, "hi", 1);
    assert_int_equal(second.err.error, EBB_ECANCELLED);
    assert_int_equal(second.told, 1);
}

static void test_start_from_a_callback(void **state)
{
    struct http_fixture *f = *state;
    struct seen first = {.f = f}, second = {.f = f};

    SERVE(f, answers);
    first.then = &second;
    ask(f, &first, "GET", NULL);
    finish(f);
    expect_answer(&second, 200, "hi", 1);
}

static void test_close_in_every_phase(void **state)
{
    static const struct step later[] = {READ, SEND("HTTP/1.1 503 Busy\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n"),
                                        AGAIN};
    struct http_fixture *f = *state;
    struct seen s[4] = {{.f = f}, {.f = f}, {.f = f}, {.f = f}};
    struct ebb_err err;

    reopen(f, 1);
    SERVE(f, later, stalls);
    ask(f, &s[0], "GET", NULL); /* pauses, then */
    while (!strstr(f->log, "again in"))
        uv_run(&f->loop, UV_RUN_ONCE);
    f->call.can_repeat = false;
    ask(f, &s[1], "POST", "x"); /* runs */
    ask(f, &s[2], "GET", NULL); /* waits */
    wait_for_requests(f, 2);
    close_client(f);
    assert_int_equal(ebb_http_start(f->client, &f->call, seen_cb, &s[3], NULL, &err), -EBB_ECANCELLED);
    for (int i = 0; i < 3; i++)
        assert_int_equal(s[i].told, 0);
    finish(f);
    assert_true(f->is_closed);
    for (int i = 0; i < 3; i++)
        expect_failure(&s[i], EBB_ECANCELLED, i < 2 ? 1 : 0);
    assert_int_equal(s[3].told, 0);
}

static void test_close_from_a_callback(void **state)
{
    struct http_fixture *f = *state;
    struct seen s = {.f = f}, other = {.f = f};

    reopen(f, 1);
    SERVE(f, answers);
    s.close = true;
    ask(f, &s, "GET", NULL);
    ask(f, &other, "GET", NULL);
    finish(f);
    assert_true(f->is_closed);
    expect_answer(&s, 200, "hi", 1);
    assert_int_equal(other.err.error, EBB_ECANCELLED);
}

static void test_proxy(void **state)
{
    struct http_fixture *f = *state;
    struct seen s = {.f = f};
    char proxy[100];

    SERVE(f, answers);
    snprintf(proxy, sizeof proxy, "http://p:" SECRET "@127.0.0.1:%d", f->server.port);
    f->options.proxy = proxy;
    reopen(f, 0);
    snprintf(f->url, sizeof f->url, "http://lake.invalid/%s", SECRET);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_answer(&s, 200, "hi", 1);
    assert_true(server_saw(&f->server, "GET http://lake.invalid/" SECRET " HTTP/1.1\r\n"));
    assert_true(server_saw(&f->server, "\r\nProxy-Authorization: Basic "));
    f->options.proxy = "";
}

static void test_unknown_host(void **state)
{
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    f->call.tries = 1;
    snprintf(f->url, sizeof f->url, "http://user:" SECRET "@lake.invalid/" SECRET);
    ask(f, &s, "GET", NULL);
    finish(f);
    expect_failure(&s, EBB_EIO, 1);
    assert_non_null(strstr(s.err.message, "lake.invalid"));
}

static void test_what_may_not_be_sent(void **state)
{
    static const char *const urls[] = {"",
                                       "lake/" SECRET,
                                       "/" SECRET,
                                       "ftp://lake/" SECRET,
                                       "file:///etc/" SECRET,
                                       "gopher://127.0.0.1:70/" SECRET,
                                       "http://",
                                       "http:///" SECRET,
                                       "http://127.0.0.1:99999/" SECRET,
                                       "http://127.0.0.1:x/" SECRET,
                                       "http://127.0.0.1/" SECRET "\r\nX: y",
                                       "http://127.0.0.1\r\n/" SECRET,
                                       "http://u:" SECRET "\n@127.0.0.1/"};
    static const char *const headers[] = {"",
                                          SECRET,
                                          ": " SECRET,
                                          "X-Key: " SECRET "\r\nX-More: 1",
                                          "X-Key: " SECRET "\n",
                                          "X Key: " SECRET,
                                          "X-Key : " SECRET,
                                          "\r\nX-Key: " SECRET,
                                          "X-Key: \001" SECRET,
                                          "Content-Length: 5",
                                          "transfer-encoding: chunked"};
    static const char *const methods[] = {"", "get", "GET / HTTP/1.1\r\nX: y\r\n\r\n", "TRACE", "CONNECT"};
    struct http_fixture *f = *state;
    struct seen s = {.f = f};

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        expect_usage(f, &s, "GET", urls[i], "X: y");
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        expect_usage(f, &s, "GET", "http://127.0.0.1/", headers[i]);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        expect_usage(f, &s, methods[i], "http://127.0.0.1/", "X: y");
    finish(f);
    assert_int_equal(s.told, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_get),
        CASE(test_methods),
        CASE(test_head),
        CASE(test_connections_are_kept),
        CASE(test_interim_answers),
        CASE(test_redirects_are_not_followed),
        CASE(test_busy_then_well),
        CASE(test_busy_for_ever),
        CASE(test_other_statuses_are_not_repeated),
        CASE(test_retry_after),
        CASE(test_retry_after_a_date),
        CASE(test_retry_after_nonsense),
        CASE(test_connections_that_break),
        CASE(test_a_post_is_sent_once),
        CASE(test_a_post_is_sent_once_over_a_kept_connection),
        CASE(test_a_post_that_may_be_repeated),
        CASE(test_refused),
        CASE(test_stall),
        CASE(test_the_deadline_holds_for_all_tries),
        CASE(test_trickle),
        CASE(test_long_answers),
        CASE(test_many_headers),
        CASE(test_nonsense),
        CASE(test_limit_of_a_host),
        CASE(test_the_queue_is_fair),
        CASE(test_waiting_counts),
        CASE(test_hosts_do_not_wait_for_each_other),
        CASE(test_cancel_at_once),
        CASE(test_cancel_while_it_waits_for_its_turn),
        CASE(test_cancel_while_it_runs),
        CASE(test_cancel_while_it_pauses),
        CASE(test_cancel_from_a_callback),
        CASE(test_start_from_a_callback),
        CASE(test_close_in_every_phase),
        CASE(test_close_from_a_callback),
        CASE(test_proxy),
        CASE(test_unknown_host),
        CASE(test_what_may_not_be_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
