/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking for many names at once, some of them local, others in buckets: each tells by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/place.h"
#include "scripted_server.h"

#define THERE                                                                                                          \
    "HTTP/1.1 200 OK\r\nConnection: close\r\nETag: \"e\"\r\nLast-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n"          \
    "Content-Length: 3\r\n\r\n"
#define GONE "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
#define DENIED "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
#define ANSWERS_MAX 8

static void start(struct scripted_server *server, const char *const *answers)
{
    static struct step steps[ANSWERS_MAX][3];
    static const struct step *scripts[ANSWERS_MAX];
    size_t n = 0;

    for (; answers[n]; n++) {
        steps[n][0] = (struct step){STEP_READ, NULL, 0};
        steps[n][1] = (struct step){STEP_SEND, answers[n], 0};
        steps[n][2] = (struct step){STEP_END, NULL, 0};
        scripts[n] = steps[n];
    }
    server_start(server, scripts, n);
}

/* One request after another, so that each gets the answer that is meant for it. */
static struct ebb_storage *new_storage(int port, const atomic_bool *cancelled)
{
    char endpoint[64];
    const struct ebb_s3_config s3 = {.endpoint = endpoint,
                                     .path_style = 1,
                                     .requests = 1,
                                     .aws = {"key", "secret", NULL, NULL, "us-east-1", NULL, NULL, true}};
    const struct ebb_storage_options options = {.s3 = &s3, .clock = ebb_clock_system(), .cancelled = cancelled};
    struct ebb_storage *storage = NULL;

    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d", port);
    assert_int_equal(ebb_storage_new(NULL, &options, &storage, NULL), 0);
    return storage;
}

static void test_each_tells(void **state)
{
    static const char *const answers[] = {THERE, GONE, DENIED, THERE, NULL};
    struct ebb_storage_stat_item items[] = {{.uri = "s3://lake/there"},  {.uri = "file:/dev/null/none"},
                                            {.uri = "s3://lake/gone"},   {.uri = "s3://lake/denied"},
                                            {.uri = "gs://lake/nobody"}, {.uri = "file:/proc/self/status"},
                                            {.uri = "s3://pond/there"}};
    struct scripted_server server;
    struct ebb_storage *storage;

    (void)state;
    start(&server, answers);
    storage = new_storage(server.port, NULL);
    assert_int_equal(ebb_storage_stat_many(storage, items, 7, NULL), 0);
    ebb_storage_free(storage);
    server_stop(&server);
    assert_int_equal(items[0].err.error, EBB_OK);
    assert_int_equal(items[0].st.size_bytes, 3);
    assert_string_equal(items[0].st.etag, "\"e\"");
    assert_int_equal(items[1].err.error, EBB_ENOENT);
    assert_int_equal(items[2].err.error, EBB_ENOENT);
    assert_int_equal(items[3].err.error, EBB_EPERMISSION);
    assert_int_equal(items[4].err.error, EBB_ESCHEME);
    assert_int_equal(items[5].err.error, EBB_OK);
    assert_true(items[5].st.is_file);
    assert_int_equal(items[6].err.error, EBB_OK);
    assert_non_null(strstr(server.last, "HEAD /pond/there "));
}

/* A move that was never begun, because nobody could be asked whether moves are safe there, is none that succeeded. */
static void test_moves_that_were_not_begun(void **state)
{
    static const char *const answers[] = {DENIED, NULL};
    const struct ebb_stat planned = {.is_file = true, .size_bytes = 3, .etag = "\"e\""};
    struct ebb_place_move_item items[2];
    struct scripted_server server;
    struct ebb_storage *storage;
    struct ebb_place *place = NULL;
    struct ebb_err err = {0};

    (void)state;
    memset(items, 0, sizeof items);
    for (size_t i = 0; i < 2; i++)
        items[i] = (struct ebb_place_move_item){
            .from_name = i ? "data/b" : "data/a", .to_name = i ? "q/b" : "q/a", .planned = &planned, .id = "x"};
    start(&server, answers);
    storage = new_storage(server.port, NULL);
    assert_int_equal(ebb_place_open(storage, "s3://lake/t", EBB_PLACE_WRITE, &place, &err), 0);
    assert_int_equal(ebb_place_move_many(place, place, items, 2, &err), -EBB_EPERMISSION);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(items[i].err.error, EBB_EPERMISSION);
        assert_false(items[i].after.is_file);
    }
    ebb_place_close(place);
    ebb_storage_free(storage);
    server_stop(&server);
}

/* What ends all is nobody's answer. */
static void test_cancelled(void **state)
{
    static const char *const answers[] = {THERE, NULL};
    struct ebb_storage_stat_item items[] = {{.uri = "s3://lake/a"}, {.uri = "s3://lake/b"}};
    atomic_bool cancelled = true;
    struct scripted_server server;
    struct ebb_storage *storage;
    struct ebb_err err = {0};

    (void)state;
    start(&server, answers);
    storage = new_storage(server.port, &cancelled);
    assert_int_equal(ebb_storage_stat_many(storage, items, 2, &err), -EBB_ECANCELLED);
    assert_int_equal(err.error, EBB_ECANCELLED);
    ebb_storage_free(storage);
    server_stop(&server);
}

#define LISTING(text)                                                                                                  \
    "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<ListBucketResult><Prefix>t/metadata/</Prefix>" text                  \
    "</ListBucketResult>"
#define LAST "<IsTruncated>false</IsTruncated>"

/* Empty is only what is certain to be. */
static void test_empty(void **state)
{
    static const char *const answers[] = {
        LISTING(LAST),
        LISTING(LAST "<Contents><Key>t/metadata/a</Key><LastModified>2026-01-02T03:04:05Z</LastModified><Size>1</Size>"
                     "</Contents>"),
        LISTING("<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>"),
        LISTING(LAST "<KeyCount>1</KeyCount>"),
        LISTING(""),
        LISTING(LAST),
        DENIED,
        NULL};
    static char *const URIS[] = {"s3://lake/t/metadata", "s3://lake/t/metadata",
                                 "s3://lake/t/metadata", "s3://lake/t/metadata",
                                 "s3://lake/t/metadata", "s3://lake/other/metadata",
                                 "s3://lake/t/metadata", "file:/nowhere/t/metadata",
                                 "gs://lake/t/metadata", "s3://lake"};
    const struct ebb_strs uris = {(char **)URIS, 10, 10};
    struct scripted_server server;
    struct ebb_storage *storage;
    bool are_empty[10];

    (void)state;
    start(&server, answers);
    storage = new_storage(server.port, NULL);
    assert_int_equal(ebb_storage_are_empty(storage, &uris, are_empty, NULL), 0);
    ebb_storage_free(storage);
    server_stop(&server);
    assert_true(are_empty[0]);
    for (size_t i = 1; i < 10; i++)
        if (are_empty[i])
            fail_msg("%zu: %s", i, URIS[i]);
    assert_int_equal(atomic_load(&server.requests), 7);
}

static void test_none(void **state)
{
    struct ebb_storage *storage = NULL;

    (void)state;
    assert_int_equal(ebb_storage_new(NULL, NULL, &storage, NULL), 0);
    assert_int_equal(ebb_storage_stat_many(storage, NULL, 0, NULL), 0);
    ebb_storage_free(storage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_tells), cmocka_unit_test(test_moves_that_were_not_begun),
        cmocka_unit_test(test_cancelled),  cmocka_unit_test(test_empty),
        cmocka_unit_test(test_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
