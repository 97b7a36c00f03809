/* SPDX-License-Identifier: Apache-2.0
 *
 * Single requests against a server whose answers are written here: pauses, the limit, keys that ended, batches of
 * deletions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/s3_priv.h"
#include "scripted_server.h"

#define ANSWERS_MAX 12
#define HEAD_OF(status, more) "HTTP/1.1 " status "\r\nConnection: close\r\n" more
#define THERE                                                                                                          \
    HEAD_OF("200 OK", "Content-Length: 3\r\nETag: \"e\"\r\nLast-Modified: Fri, 24 May 2013 00:00:00 GMT\r\n\r\n")
#define BUSY HEAD_OF("503 Slow Down", "Content-Length: 0\r\n\r\n")
#define BAD HEAD_OF("400 Bad Request", "Content-Length: 0\r\n\r\n")
#define DELETED(items)                                                                                                 \
    HEAD_OF("200 OK", "Content-Type: application/xml\r\n\r\n") "<DeleteResult>" items "</DeleteResult>"

struct world {
    struct scripted_server server;
    struct ebb_s3 *s3;
    unsigned asked, asked_expired; /* of the lender */
    const char *token;
};

static int lend(void *data, bool are_expired, struct ebb_aws_keys *out, struct ebb_err *err)
{
    struct world *w = data;

    (void)err;
    w->asked++;
    w->asked_expired += are_expired;
    *out = (struct ebb_aws_keys){"id", "secret", w->token};
    return 0;
}

static void begin(struct world *w, const char *const *answers, unsigned requests)
{
    static struct step steps[ANSWERS_MAX][3];
    static const struct step *scripts[ANSWERS_MAX];
    const struct ebb_s3_lender lender = {lend, w};
    struct ebb_s3_config config = {.path_style = -1, .requests = requests, .aws = {.region = "us-east-1"}};
    const struct ebb_log log = {0};
    char endpoint[64];
    size_t n = 0;

    for (; answers[n]; n++) {
        steps[n][0] = (struct step){STEP_READ, NULL, 0};
        steps[n][1] = (struct step){STEP_SEND, answers[n], 0};
        steps[n][2] = (struct step){STEP_END, NULL, 0};
        scripts[n] = steps[n];
    }
    memset(w, 0, sizeof *w);
    w->token = "token";
    server_start(&w->server, scripts, n);
    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d", w->server.port);
    config.endpoint = endpoint;
    assert_int_equal(ebb_s3_new(&config, &lender, ebb_clock_system(), &log, NULL, &w->s3, NULL), 0);
}

static void end(struct world *w)
{
    ebb_s3_free(w->s3);
    server_stop(&w->server);
}

/* The most that a server may ask for is no reason to wait, or to count wrong. */
static void test_a_pause_that_is_out_of_range(void **state)
{
    const char *const answers[] = {
        HEAD_OF("503 Busy", "Content-Length: 0\r\nRetry-After: 9223372036854775807\r\n\r\n"),
        HEAD_OF("503 Busy", "Content-Length: 0\r\nRetry-After: 99999999999999999999999\r\n\r\n"), THERE, NULL};
    struct ebb_s3_object object;
    struct world w;

    (void)state;
    begin(&w, answers, 1);
    assert_int_equal(ebb_s3_head(w.s3, "lake", EBB_STR("k"), &object, NULL), 0);
    end(&w);
}

/* The first answers say that it is too much: fewer at once, though none was good before. */
static void test_the_limit_falls_at_the_first_answers(void **state)
{
    const char *const answers[] = {BUSY, BUSY, BUSY, BUSY, BUSY, BUSY, BUSY, BUSY, THERE, NULL};
    struct ebb_s3_head_item items[8];
    struct world w;

    (void)state;
    memset(items, 0, sizeof items);
    for (size_t i = 0; i < 8; i++)
        items[i].key = EBB_STR("k");
    begin(&w, answers, 8);
    assert_int_equal(ebb_s3_head_many(w.s3, "lake", items, 8, NULL), 0);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(items[i].err.error, EBB_OK);
    assert_true(w.s3->limit < 8);
    end(&w);
}

/* Of answers to what was sent at the same time, one counts: not down to one at once by one burst. */
static void test_one_burst_halves_the_limit_once(void **state)
{
    const char *const answers[] = {BUSY, BUSY, BUSY, BUSY, THERE, NULL};
    struct ebb_s3_head_item items[4];
    struct world w;

    (void)state;
    memset(items, 0, sizeof items);
    for (size_t i = 0; i < 4; i++)
        items[i].key = EBB_STR("k");
    begin(&w, answers, 4);
    assert_int_equal(ebb_s3_head_many(w.s3, "lake", items, 4, NULL), 0);
    assert_in_range(w.s3->limit, 2, 4);
    end(&w);
}

/* An answer to HEAD has no body that says ExpiredToken. */
static void test_a_head_with_keys_that_ended(void **state)
{
    const char *const answers[] = {BAD, THERE, NULL};
    struct ebb_s3_object object;
    struct world w;

    (void)state;
    begin(&w, answers, 1);
    assert_int_equal(ebb_s3_head(w.s3, "lake", EBB_STR("k"), &object, NULL), 0);
    assert_int_equal(w.asked_expired, 1);
    end(&w);
}

/* What is denied for good does not have keys fetched for each object. */
static void test_denied_heads_renew_keys_once(void **state)
{
    const char *const answers[] = {HEAD_OF("403 Forbidden", "Content-Length: 0\r\n\r\n"), NULL};
    struct ebb_s3_head_item items[6];
    struct world w;

    (void)state;
    memset(items, 0, sizeof items);
    for (size_t i = 0; i < 6; i++)
        items[i].key = EBB_STR("k");
    begin(&w, answers, 2);
    assert_int_equal(ebb_s3_head_many(w.s3, "lake", items, 6, NULL), 0);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(items[i].err.error, EBB_EPERMISSION);
    assert_int_equal(w.asked_expired, 1);
    end(&w);
}

/* HEAD of a bucket elsewhere: 400 without a body, the region in a header. */
static void test_a_head_in_another_region(void **state)
{
    const char *const answers[] = {
        HEAD_OF("400 Bad Request", "Content-Length: 0\r\nx-amz-bucket-region: eu-west-1\r\n\r\n"), NULL};
    struct ebb_err err = {0};
    struct world w;

    (void)state;
    begin(&w, answers, 1);
    assert_int_equal(ebb_s3_check_bucket(w.s3, "lake", &err), -EBB_ECONFIG);
    assert_non_null(strstr(err.hint, "eu-west-1"));
    assert_int_equal(w.asked_expired, 0);
    end(&w);
}

static void test_nothing_of_an_object(void **state)
{
    const char *const answers[] = {THERE, NULL};
    struct ebb_buf bytes;
    bool is_cut = false;
    struct world w;

    (void)state;
    begin(&w, answers, 1);
    ebb_buf_init(&bytes, 16);
    assert_int_equal(ebb_s3_get(w.s3, "lake", EBB_STR("k"), 0, &bytes, &is_cut, NULL, NULL), 0);
    assert_true(is_cut);
    ebb_buf_fini(&bytes);
    end(&w);
}

/* ---- one deletion ---- */

#define OTHER                                                                                                          \
    HEAD_OF("200 OK", "Content-Length: 3\r\nETag: \"f\"\r\nLast-Modified: Fri, 24 May 2013 00:00:00 GMT\r\n\r\n")
#define GONE HEAD_OF("204 No Content", "\r\n")

/* Leaves the last request in w. */
static int delete_seen(struct world *w, const char *const *answers)
{
    int rc;

    begin(w, answers, 1);
    rc = ebb_s3_delete_seen(w->s3, "lake", EBB_STR("k"), NULL);
    end(w);
    return rc;
}

static void test_a_deletion_is_of_what_was_seen(void **state)
{
    const char *const gone[] = {THERE, GONE, NULL};
    const char *const replaced[] = {THERE, HEAD_OF("412 Precondition Failed", "Content-Length: 0\r\n\r\n"), NULL};
    const char *const missing[] = {HEAD_OF("404 Not Found", "Content-Length: 0\r\n\r\n"), NULL};
    struct world w;

    (void)state;
    assert_int_equal(delete_seen(&w, gone), 0);
    assert_non_null(strstr(w.server.last, "If-Match: \"e\""));
    assert_int_equal(delete_seen(&w, replaced), -EBB_ECHANGED);
    assert_int_equal(delete_seen(&w, missing), -EBB_ENOENT);
}

/* A deletion whose answer was lost is sent again to the same object only: the next holder's lock stays. */
static void test_a_lost_deletion_is_looked_after(void **state)
{
    const char *const next_holder[] = {THERE, BUSY, OTHER, NULL};
    const char *const same[] = {THERE, BUSY, THERE, GONE, NULL};
    struct world w;

    (void)state;
    assert_int_equal(delete_seen(&w, next_holder), 0);
    assert_non_null(strstr(w.server.last, "HEAD /lake/k "));
    assert_int_equal(delete_seen(&w, same), 0);
    assert_non_null(strstr(w.server.last, "DELETE /lake/k "));
}

static void test_a_deletion_where_conditions_are_unknown(void **state)
{
    const char *const answers[] = {
        THERE,
        HEAD_OF("501 Not Implemented",
                "Content-Type: application/xml\r\n\r\n") "<Error><Code>NotImplemented</Code></Error>",
        GONE, NULL};
    struct world w;

    (void)state;
    assert_int_equal(delete_seen(&w, answers), 0);
    assert_non_null(strstr(w.server.last, "DELETE /lake/k "));
    assert_null(strstr(w.server.last, "If-Match"));
}

/* ---- DeleteObjects ---- */

static void test_a_batch_of_deletions(void **state)
{
    const char *const answers[] = {
        DELETED("<Deleted><Key>a b</Key></Deleted><Deleted><Key>x&amp;y&lt;\r\n</Key></Deleted>"
                "<Deleted><Key>never asked</Key></Deleted>"
                "<Error><Key>no</Key><Code>AccessDenied</Code><Message>m</Message></Error>"),
        NULL};
    struct ebb_s3_delete_item items[] = {
        {.key = EBB_STR("a b")}, {.key = EBB_STR("x&y<\n")}, {.key = EBB_STR("no")}, {.key = EBB_STR("left out")}};
    struct world w;

    (void)state;
    begin(&w, answers, 1);
    assert_int_equal(ebb_s3_delete_many(w.s3, "lake", items, 4, NULL), 0);
    assert_int_equal(items[0].err.error, EBB_OK);
    assert_int_equal(items[1].err.error, EBB_OK);
    assert_int_equal(items[2].err.error, EBB_EPERMISSION);
    assert_int_equal(items[3].err.error, EBB_ECORRUPT); /* not known to be gone */
    assert_non_null(strstr(w.server.last, "POST /lake?delete= "));
    assert_non_null(strstr(w.server.last, "Content-MD5: "));
    assert_non_null(strstr(w.server.last, "<Key>a b</Key>"));
    assert_non_null(strstr(w.server.last, "<Key>x&amp;y&lt;&#10;</Key>"));
    end(&w);
}

static void test_an_answer_that_names_the_wrong_keys(void **state)
{
    const char *const answers[] = {DELETED("<Deleted><Key>other</Key></Deleted>"), NULL};
    const char *const page[] = {HEAD_OF("200 OK", "\r\n") "<html>welcome</html>", NULL};
    struct ebb_s3_delete_item item = {.key = EBB_STR("k")};
    struct world w;

    (void)state;
    begin(&w, answers, 1);
    assert_int_equal(ebb_s3_delete_many(w.s3, "lake", &item, 1, NULL), 0);
    assert_int_equal(item.err.error, EBB_ECORRUPT);
    end(&w);
    begin(&w, page, 1);
    assert_int_equal(ebb_s3_delete_many(w.s3, "lake", &item, 1, NULL), 0);
    assert_int_equal(item.err.error, EBB_ECORRUPT);
    end(&w);
}

/* Only the keys that may pass are asked for again. */
static void test_single_keys_are_asked_for_again(void **state)
{
    const char *const answers[] = {
        DELETED("<Deleted><Key>done</Key></Deleted><Error><Key>busy</Key><Code>SlowDown</Code></Error>"),
        DELETED("<Deleted><Key>busy</Key></Deleted>"), NULL};
    struct ebb_s3_delete_item items[] = {{.key = EBB_STR("done")}, {.key = EBB_STR("busy")}};
    struct world w;

    (void)state;
    begin(&w, answers, 4);
    assert_int_equal(ebb_s3_delete_many(w.s3, "lake", items, 2, NULL), 0);
    assert_int_equal(items[0].err.error, EBB_OK);
    assert_int_equal(items[1].err.error, EBB_OK);
    assert_int_equal(atomic_load(&w.server.requests), 2);
    assert_null(strstr(w.server.last, "<Key>done</Key>"));
    assert_true(w.s3->limit < 4); /* the server was too busy */
    end(&w);
}

/* Names that XML can't hold, and servers without batches. */
static void test_single_deletions(void **state)
{
    const char *const one[] = {HEAD_OF("204 No Content", "\r\n"), NULL};
    const char *const lacking[] = {HEAD_OF("501 Not Implemented", "Content-Length: 0\r\n\r\n"),
                                   HEAD_OF("204 No Content", "\r\n"), NULL};
    struct ebb_s3_delete_item item = {.key = EBB_STR("a\001b")};
    struct world w;

    (void)state;
    begin(&w, one, 1);
    assert_int_equal(ebb_s3_delete_many(w.s3, "lake", &item, 1, NULL), 0);
    assert_int_equal(item.err.error, EBB_OK);
    assert_non_null(strstr(w.server.last, "DELETE /lake/a%01b "));
    end(&w);
    item.key = EBB_STR("k");
    begin(&w, lacking, 1);
    assert_int_equal(ebb_s3_delete_many(w.s3, "lake", &item, 1, NULL), 0);
    assert_int_equal(item.err.error, EBB_OK);
    assert_non_null(strstr(w.server.last, "DELETE /lake/k "));
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pause_that_is_out_of_range),
        cmocka_unit_test(test_the_limit_falls_at_the_first_answers),
        cmocka_unit_test(test_one_burst_halves_the_limit_once),
        cmocka_unit_test(test_a_head_with_keys_that_ended),
        cmocka_unit_test(test_denied_heads_renew_keys_once),
        cmocka_unit_test(test_a_head_in_another_region),
        cmocka_unit_test(test_nothing_of_an_object),
        cmocka_unit_test(test_a_deletion_is_of_what_was_seen),
        cmocka_unit_test(test_a_lost_deletion_is_looked_after),
        cmocka_unit_test(test_a_deletion_where_conditions_are_unknown),
        cmocka_unit_test(test_a_batch_of_deletions),
        cmocka_unit_test(test_an_answer_that_names_the_wrong_keys),
        cmocka_unit_test(test_single_keys_are_asked_for_again),
        cmocka_unit_test(test_single_deletions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
