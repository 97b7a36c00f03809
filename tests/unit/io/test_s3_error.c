/* SPDX-License-Identifier: Apache-2.0
 *
 * What is done about an answer (the interface's list of error codes), and how it is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/s3_priv.h"

static void test_judge(void **state)
{
    static const struct {
        int status;
        const char *code;
        enum ebb__s3_next next;
    } ROWS[] = {
        {200, "", EBB__S3_DONE},
        {204, "", EBB__S3_DONE},
        {503, "SlowDown", EBB__S3_SLOWER},
        {503, "", EBB__S3_SLOWER},
        {429, "TooManyRequests", EBB__S3_SLOWER},
        {500, "InternalError", EBB__S3_AGAIN},
        {200, "InternalError", EBB__S3_AGAIN}, /* a copy that failed after its 200 */
        {400, "RequestTimeout", EBB__S3_AGAIN},
        {409, "OperationAborted", EBB__S3_AGAIN},
        {400, "ExpiredToken", EBB__S3_NEW_KEYS},
        {403, "InvalidToken", EBB__S3_NEW_KEYS},
        {403, "RequestTimeTooSkewed", EBB__S3_NEW_CLOCK},
        {403, "AccessDenied", EBB__S3_DONE},
        {403, "SignatureDoesNotMatch", EBB__S3_DONE},
        {404, "NoSuchBucket", EBB__S3_DONE},
        {412, "PreconditionFailed", EBB__S3_DONE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        assert_int_equal(ebb__s3_judge(ROWS[i].status, ROWS[i].code), ROWS[i].next);
}

static void expect(int status, const char *body, const char *header_region, enum ebb_error error, const char *hint)
{
    static char host[] = "127.0.0.1:9", region[] = "us-east-1";
    struct ebb_s3 s3 = {.host = host, .region = region};
    struct ebb__s3_failure failure;
    struct ebb_err err = {0};

    ebb__s3_failure_read(ebb_str_of(body), &failure);
    ebb__s3_fail(&s3, "s3://b/k", "b", status, &failure, header_region, &err);
    assert_int_equal(err.error, error);
    assert_non_null(strstr(err.message, "s3://b/k"));
    assert_null(strchr(err.message, '\n'));
    if (hint)
        assert_non_null(strstr(err.hint, hint));
}

static void test_fail(void **state)
{
    (void)state;
    expect(404, "<Error><Code>NoSuchBucket</Code></Error>", NULL, EBB_ECONFIG, "endpoint");
    expect(404, "", NULL, EBB_ENOENT, NULL);
    expect(403, "", NULL, EBB_EPERMISSION, "right");
    expect(403, "<Error><Code>InvalidAccessKeyId</Code><Message>a\nb</Message></Error>", NULL, EBB_ECONFIG,
           "access_key");
    expect(403, "<Error><Code>SignatureDoesNotMatch</Code></Error>", NULL, EBB_ECONFIG, "secret");
    expect(301, "", "eu-west-1", EBB_ECONFIG, "eu-west-1");
    expect(400, "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-central-1</Region></Error>", NULL,
           EBB_ECONFIG, "eu-central-1");
    expect(403, "<Error><Code>InvalidObjectState</Code></Error>", NULL, EBB_EUNSUPPORTED, "archive");
    expect(412, "", NULL, EBB_ECHANGED, NULL);
    expect(200, "<html>a page</html>", NULL, EBB_EIO, "endpoint");
    expect(503, "<Error><Code>SlowDown</Code></Error>", NULL, EBB_EIO, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_judge), cmocka_unit_test(test_fail)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
