/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves against a server whose answers are written here: lost answers, refusals, writers in between. With EBB_TEST_S3
 * (the address of a real server, keys ebbtest and ebbtestsecret), copies in parts, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/s3_place_priv.h"
#include "io/s3_priv.h"
#include "scripted_server.h"

#define ANSWERS_MAX 16
#define HEAD_OF(status, more) "HTTP/1.1 " status "\r\nConnection: close\r\n" more
#define SOURCE                                                                                                         \
    HEAD_OF("200 OK", "Content-Length: 3\r\nETag: \"e\"\r\nLast-Modified: Fri, 24 May 2013 00:00:00 GMT\r\n\r\n")
#define OTHER                                                                                                          \
    HEAD_OF("200 OK", "Content-Length: 3\r\nETag: \"o\"\r\nLast-Modified: Fri, 24 May 2013 00:00:01 GMT\r\n\r\n")
#define COPY                                                                                                           \
    HEAD_OF("200 OK", "Content-Length: 3\r\nETag: \"c\"\r\nLast-Modified: Fri, 24 May 2013 00:00:02 GMT\r\n"           \
                      "x-amz-meta-ebb-id: id\r\nx-amz-meta-ebb-mtime: 1\r\n\r\n")
#define GONE HEAD_OF("404 Not Found", "Content-Length: 0\r\n\r\n")
#define DONE HEAD_OF("200 OK", "Content-Length: 0\r\n\r\n")
#define DENIED HEAD_OF("403 Forbidden", "Content-Length: 0\r\n\r\n")
#define CHANGED HEAD_OF("412 Precondition Failed", "Content-Length: 0\r\n\r\n")
#define EXPIRED HEAD_OF("400 Bad Request", "Content-Length: 40\r\n\r\n<Error><Code>ExpiredToken</Code></Error>")
#define LOST ""
#define BUSY HEAD_OF("503 Service Unavailable", "Content-Length: 0\r\n\r\n")
#define SLOW HEAD_OF("503 Slow Down", "Content-Length: 42\r\n\r\n<Error><Code>SlowDown</Code></Error>      ")

static struct ebb_s3 *client(const char *endpoint, uint64_t part_bytes)
{
    struct ebb_s3_config config = {.endpoint = endpoint,
                                   .path_style = -1,
                                   .copy_part_bytes = part_bytes,
                                   .aws = {"ebbtest", "ebbtestsecret", NULL, NULL, "us-east-1", NULL, NULL, true}};
    const struct ebb_log log = {0};
    struct ebb_s3 *s3 = NULL;

    assert_int_equal(ebb_s3_new(&config, NULL, ebb_clock_system(), &log, NULL, &s3, NULL), 0);
    return s3;
}

static struct ebb_s3 *begin(struct scripted_server *server, const char *const *answers)
{
    static struct step steps[ANSWERS_MAX][3];
    static const struct step *scripts[ANSWERS_MAX];
    char endpoint[64];
    size_t n = 0;

    for (; answers[n]; n++) {
        steps[n][0] = (struct step){STEP_READ, NULL, 0};
        steps[n][1] = (struct step){STEP_SEND, answers[n], 0};
        steps[n][2] = (struct step){STEP_END, NULL, 0};
        scripts[n] = steps[n];
    }
    server_start(server, scripts, n);
    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d", server->port);
    return client(endpoint, 0);
}

/* The answers are all there is to ask for, and the last question is this. */
static void expect(const char *const *answers, bool if_match, enum ebb_error error, const char *last)
{
    struct ebb_s3_move_item item = {
        .from = EBB_STR("a"), .to = EBB_STR("q"), .etag = "\"e\"", .size_bytes = 3, .ebb_id = "id", .ebb_mtime_ms = 1};
    struct scripted_server server;
    struct ebb_s3 *s3 = begin(&server, answers);
    int n = 0;

    assert_int_equal(ebb_s3_move_many(s3, "lake", "lake", if_match, &item, 1, NULL), 0);
    ebb_s3_free(s3);
    server_stop(&server);
    while (answers[n])
        n++;
    assert_int_equal(item.err.error, error);
    assert_int_equal(atomic_load(&server.requests), n);
    if (strncmp(server.last, last, strlen(last)) != 0)
        fail_msg("%s: is not %s", server.last, last);
}

static void test_the_copy_stays_when_a_lost_deletion_is_denied_later(void **state)
{
    const char *const gone[] = {SOURCE, GONE, DONE, COPY, LOST, DENIED, GONE, NULL};
    const char *const unknown[] = {SOURCE, GONE, DONE, COPY, LOST, DENIED, DENIED, NULL};
    const char *const replaced[] = {SOURCE, GONE, DONE, COPY, LOST, CHANGED, NULL};
    const char *const there[] = {SOURCE, GONE, DONE, COPY, DENIED, SOURCE, DONE, NULL};

    (void)state;
    expect(gone, true, EBB_OK, "HEAD /lake/a ");
    expect(unknown, true, EBB_EPERMISSION, "HEAD /lake/a ");
    expect(replaced, true, EBB_ECHANGED, "DELETE /lake/a ");
    expect(there, true, EBB_EPERMISSION, "DELETE /lake/q ");
}

/* A deletion whose answer was lost may be carried out yet: the copy stays, whatever the looks say meanwhile. */
static void test_the_copy_stays_while_a_deletion_may_be_under_way(void **state)
{
    const char *const still[] = {SOURCE, GONE, DONE, COPY, LOST, DENIED, SOURCE, NULL};
    const char *const busy[] = {SOURCE, GONE, DONE, COPY, BUSY, CHANGED, NULL};
    const char *const refused[] = {SOURCE, GONE, DONE, COPY, SLOW, CHANGED, DONE, NULL};

    (void)state;
    expect(still, true, EBB_EPERMISSION, "HEAD /lake/a ");
    expect(busy, true, EBB_ECHANGED, "DELETE /lake/a ");    /* of a proxy: the server may have had it */
    expect(refused, true, EBB_ECHANGED, "DELETE /lake/q "); /* the server itself says that it did nothing */
}

static void test_a_deletion_that_is_never_answered_is_looked_at(void **state)
{
    const char *const gone[] = {SOURCE, GONE, DONE, COPY, LOST, LOST, LOST, LOST, LOST, LOST, GONE, NULL};
    const char *const still[] = {SOURCE, GONE, DONE, COPY, LOST, LOST, LOST, LOST, LOST, LOST, SOURCE, NULL};

    (void)state;
    expect(gone, true, EBB_OK, "HEAD /lake/a ");
    expect(still, true, EBB_EIO, "HEAD /lake/a ");
}

static void test_a_deletion_without_condition_is_looked_at_and_not_repeated(void **state)
{
    const char *const recreated[] = {SOURCE, GONE, DONE, COPY, SOURCE, LOST, OTHER, NULL};
    const char *const gone[] = {SOURCE, GONE, DONE, COPY, SOURCE, LOST, GONE, NULL};
    const char *const still[] = {SOURCE, GONE, DONE, COPY, SOURCE, LOST, SOURCE, DONE, NULL};

    (void)state;
    expect(recreated, false, EBB_ECHANGED, "HEAD /lake/a ");
    expect(gone, false, EBB_OK, "HEAD /lake/a ");
    expect(still, false, EBB_OK, "DELETE /lake/a ");
}

static void test_a_copy_that_was_overwritten_is_not_taken_back(void **state)
{
    const char *const written[] = {SOURCE, GONE, DONE, COPY, SOURCE, DENIED, SOURCE, OTHER, NULL};
    const char *const ours[] = {SOURCE, GONE, DONE, COPY, SOURCE, DENIED, SOURCE, COPY, DONE, NULL};

    (void)state;
    expect(written, false, EBB_EPERMISSION, "HEAD /lake/q ");
    expect(ours, false, EBB_EPERMISSION, "DELETE /lake/q ");
}

struct stopper {
    atomic_bool cancelled;
};

static int lend_and_stop(void *data, bool are_expired, struct ebb_aws_keys *out, struct ebb_err *err)
{
    struct stopper *stopper = data;

    (void)err;
    if (are_expired)
        atomic_store(&stopper->cancelled, true);
    *out = (struct ebb_aws_keys){"id", "secret", NULL};
    return 0;
}

/* One is moved, the other's deletion is still to be sent again when it is cancelled: each tells which it is. */
static void test_a_stop_tells_what_was_moved(void **state)
{
    const char *const answers[] = {SOURCE, SOURCE, GONE, GONE, DONE, DONE, COPY, COPY, DONE, EXPIRED, NULL};
    struct ebb_s3_move_item items[] = {{.from = EBB_STR("a"), .to = EBB_STR("q/a"), .etag = "\"e\"", .size_bytes = 3},
                                       {.from = EBB_STR("b"), .to = EBB_STR("q/b"), .etag = "\"e\"", .size_bytes = 3}};
    struct ebb_s3_config config = {.path_style = -1, .requests = 1, .aws = {.region = "us-east-1"}};
    struct stopper stopper = {false};
    const struct ebb_s3_lender lender = {lend_and_stop, &stopper};
    const struct ebb_log log = {0};
    struct scripted_server server;
    struct ebb_s3 *s3 = begin(&server, answers);
    char endpoint[64];

    (void)state;
    ebb_s3_free(s3);
    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d", server.port);
    config.endpoint = endpoint;
    items[0].ebb_id = items[1].ebb_id = "id";
    items[0].ebb_mtime_ms = items[1].ebb_mtime_ms = 1;
    assert_int_equal(ebb_s3_new(&config, &lender, ebb_clock_system(), &log, &stopper.cancelled, &s3, NULL), 0);
    assert_int_equal(ebb_s3_move_many(s3, "lake", "lake", true, items, 2, NULL), -EBB_ECANCELLED);
    assert_int_equal(items[0].err.error, EBB_OK);
    assert_string_equal(items[0].after.ebb_id, "id");
    assert_int_equal(items[1].err.error, EBB_ECANCELLED);
    ebb_s3_free(s3);
    server_stop(&server);
}

static void test_a_page_of_a_proxy_stores_nothing(void **state)
{
    const char *const answers[] = {HEAD_OF("200 OK", "Content-Length: 6\r\n\r\n<html>"), NULL};
    struct scripted_server server;
    struct ebb_s3 *s3 = begin(&server, answers);

    (void)state;
    assert_int_equal(ebb_s3_put(s3, "lake", EBB_STR("lock"), "x", 1, true, NULL), -EBB_ECORRUPT);
    ebb_s3_free(s3);
    server_stop(&server);
}

#define STORED HEAD_OF("200 OK", "Content-Length: 0\r\nETag: \"p\"\r\n\r\n")

static void test_nothing_moves_where_if_none_match_is_ignored(void **state)
{
    const char *const answers[] = {DONE, STORED, STORED, DONE, DONE, NULL};
    struct ebb_stat planned = {.size_bytes = 3, .etag = "\"e\""};
    struct ebb_place_move_item item = {.from_name = "a", .to_name = "q", .planned = &planned, .id = "id"};
    struct scripted_server server;
    struct ebb_s3 *s3 = begin(&server, answers);
    struct ebb_place *place = NULL;

    (void)state;
    assert_int_equal(ebb__s3_place_open(s3, "lake", "t", "s3://lake/t", EBB_PLACE_WRITE, &place, NULL), 0);
    assert_int_equal(ebb__s3_place_move_many(place, place, &item, 1, NULL), -EBB_EUNSUPPORTED);
    assert_int_equal(atomic_load(&server.requests), 5);
    ebb_place_close(place);
    ebb_s3_free(s3);
    server_stop(&server);
}

/* ---- a real server ---- */

#define LARGE (((size_t)12 << 20) + 7)

static void make_bucket(struct ebb_s3 *s3)
{
    const struct ebb__s3_call call = {.method = "PUT", .bucket = "parts"};
    struct ebb__s3_got got;

    ebb__s3_do(s3, &call, &got, NULL); /* it may be there */
    ebb__s3_got_fini(&got);
}

static void test_a_large_object_goes_in_parts(void **state)
{
    const char *endpoint = getenv("EBB_TEST_S3");
    struct ebb_s3_object before, after;
    struct ebb_s3_abilities abilities;
    struct ebb_s3_move_item item = {.from = EBB_STR("a/large +%.bin"), .to = EBB_STR("q/large +%.bin")};
    char *bytes = calloc(1, LARGE);
    struct ebb_buf got;
    struct ebb_s3 *s3;
    bool is_cut = true;

    (void)state;
    if (!endpoint) {
        free(bytes);
        skip();
    }
    assert_non_null(bytes);
    for (size_t i = 0; i < LARGE; i++)
        bytes[i] = (char)(i * 7 >> 3);
    s3 = client(endpoint, (uint64_t)5 << 20);
    make_bucket(s3);
    assert_int_equal(ebb_s3_probe(s3, "parts", EBB_STR("probes/"), &abilities, NULL), 0);
    assert_true(abilities.puts_if_none_match);
    assert_int_equal(ebb_s3_delete(s3, "parts", item.to, NULL, NULL), 0);
    assert_int_equal(ebb_s3_put(s3, "parts", item.from, bytes, LARGE, false, NULL), 0);
    assert_int_equal(ebb_s3_head(s3, "parts", item.from, &before, NULL), 0);
    item.etag = before.etag;
    item.size_bytes = LARGE;
    item.ebb_id = "id of it";
    item.ebb_mtime_ms = 42;
    assert_int_equal(ebb_s3_move_many(s3, "parts", "parts", false, &item, 1, NULL), 0);
    if (item.err.error)
        fail_msg("%s", item.err.message);
    assert_int_equal(ebb_s3_head(s3, "parts", item.from, &after, NULL), -EBB_ENOENT);
    ebb_buf_init(&got, LARGE + 1);
    assert_int_equal(ebb_s3_get(s3, "parts", item.to, LARGE + 1, &got, &is_cut, &after, NULL), 0);
    assert_int_equal(got.len, LARGE);
    assert_memory_equal(got.data, bytes, LARGE);
    assert_string_equal(after.ebb_id, "id of it");
    assert_int_equal(after.ebb_mtime_ms, 42);
    ebb_buf_fini(&got);
    assert_int_equal(ebb_s3_delete(s3, "parts", item.to, NULL, NULL), 0);
    ebb_s3_free(s3);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_copy_stays_when_a_lost_deletion_is_denied_later),
        cmocka_unit_test(test_the_copy_stays_while_a_deletion_may_be_under_way),
        cmocka_unit_test(test_a_deletion_that_is_never_answered_is_looked_at),
        cmocka_unit_test(test_a_deletion_without_condition_is_looked_at_and_not_repeated),
        cmocka_unit_test(test_a_copy_that_was_overwritten_is_not_taken_back),
        cmocka_unit_test(test_a_stop_tells_what_was_moved),
        cmocka_unit_test(test_a_page_of_a_proxy_stores_nothing),
        cmocka_unit_test(test_nothing_moves_where_if_none_match_is_ignored),
        cmocka_unit_test(test_a_large_object_goes_in_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
