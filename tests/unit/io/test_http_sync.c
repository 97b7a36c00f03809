/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for answers: nobody there, somebody who never answers, many at once, and the flag that ends all waiting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/http_sync.h"

/* A port on which connections are taken, and nothing is ever said. */
static int listen_silently(char url[64])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    snprintf(url, 64, "http://127.0.0.1:%d/x", ntohs(at.sin_port));
    return fd;
}

static struct ebb_http_sync *open_sync(const atomic_bool *cancelled)
{
    const struct ebb_http_client_options options = {.proxy = ""};
    struct ebb_http_sync *sync = NULL;

    assert_int_equal(ebb_http_sync_new(&options, cancelled, &sync, NULL), 0);
    return sync;
}

static void test_nobody_there(void **state)
{
    struct ebb_http_sync *sync = open_sync(NULL);
    struct ebb_http_fetched got;
    struct ebb_err err = {0};
    char url[64];
    struct ebb_http_call call = {.method = "GET", .url = url, .tries = 1};

    (void)state;
    close(listen_silently(url));
    assert_int_equal(ebb_http_sync_call(sync, &call, &got, &err), -EBB_EIO);
    assert_true(err.retryable);
    ebb_http_fetched_fini(&got);
    ebb_http_sync_free(sync);
}

static void count(void *data, const struct ebb_http_result *result, const struct ebb_err *err)
{
    (void)result;
    assert_int_equal(err->error, EBB_ECANCELLED);
    ++*(int *)data;
}

/* What is under way when it is freed is told before. */
static void test_free_tells_all(void **state)
{
    struct ebb_http_sync *sync = open_sync(NULL);
    char url[64];
    int fd = listen_silently(url), told = 0;
    struct ebb_http_call call = {.method = "GET", .url = url};

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(ebb_http_sync_start(sync, &call, count, &told, NULL), 0);
    assert_int_equal(ebb_http_sync_pending(sync), 3);
    assert_int_equal(ebb_http_sync_turn(sync, 10, NULL), 0);
    assert_int_equal(told, 0);
    ebb_http_sync_free(sync);
    assert_int_equal(told, 3);
    close(fd);
}

static void test_the_flag_ends_waiting(void **state)
{
    atomic_bool cancelled = true;
    struct ebb_http_sync *sync = open_sync(&cancelled);
    struct ebb_http_fetched got;
    char url[64];
    int fd = listen_silently(url);
    struct ebb_http_call call = {.method = "GET", .url = url};

    (void)state;
    assert_int_equal(ebb_http_sync_call(sync, &call, &got, NULL), -EBB_ECANCELLED);
    ebb_http_fetched_fini(&got);
    ebb_http_sync_free(sync);
    close(fd);
}

static void test_encode(void **state)
{
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 4096);
    ebb_http_encode(&out, EBB_STR("a-Z0._~/ +%\xC3\xA4\n=&?#"), true);
    assert_string_equal(ebb_buf_cstr(&out), "a-Z0._~/%20%2B%25%C3%A4%0A%3D%26%3F%23");
    ebb_buf_reset(&out);
    ebb_http_encode(&out, EBB_STR("a/b"), false);
    assert_string_equal(ebb_buf_cstr(&out), "a%2Fb");
    ebb_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_free_tells_all),
        cmocka_unit_test(test_the_flag_ends_waiting),
        cmocka_unit_test(test_encode),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
