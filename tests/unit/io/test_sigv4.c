/* SPDX-License-Identifier: Apache-2.0
 *
 * The examples of the specification ("Signature Version 4", and "Authenticating Requests" of S3's interface): the
 * values are those that it prints.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/sigv4.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
/* 20150830T123600Z, 20130524T000000Z */
#define SUITE_MS ((int64_t)1440938160000)
#define S3_MS ((int64_t)1369353600000)

static const struct ebb_aws_keys SUITE_KEYS = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", NULL};
static const struct ebb_aws_keys S3_KEYS = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", NULL};

static struct ebb_sigv4_request suite(const char *method, const char *path, const char *query)
{
    return (struct ebb_sigv4_request){.method = method,
                                      .host = "example.amazonaws.com",
                                      .path = path,
                                      .query = query,
                                      .payload_sha256 = EMPTY,
                                      .region = "us-east-1",
                                      .service = "service",
                                      .keys = SUITE_KEYS,
                                      .now_ms = SUITE_MS};
}

static struct ebb_sigv4_request s3(const char *method, const char *path, const char *query)
{
    struct ebb_sigv4_request r = suite(method, path, query);

    r.host = "examplebucket.s3.amazonaws.com";
    r.service = "s3";
    r.keys = S3_KEYS;
    r.now_ms = S3_MS;
    return r;
}

static void expect_signature(const struct ebb_sigv4_request *r, const char *signature)
{
    struct ebb_strs out;
    struct ebb_err err = {0};

    ebb_strs_init(&out);
    assert_int_equal(ebb_sigv4_sign(r, &out, &err), 0);
    assert_non_null(strstr(out.items[0], "Authorization: AWS4-HMAC-SHA256 Credential="));
    assert_non_null(strstr(out.items[0], "Signature="));
    assert_string_equal(strstr(out.items[0], "Signature=") + 10, signature);
    ebb_strs_fini(&out);
}

static void expect_request(const struct ebb_sigv4_request *r, const char *text)
{
    struct ebb_buf out;

    ebb_buf_init(&out, 1 << 20);
    assert_int_equal(ebb_sigv4_explain(r, &out, NULL, NULL), 0);
    assert_string_equal(ebb_buf_cstr(&out), text);
    ebb_buf_fini(&out);
}

/* get-vanilla */
static void test_plain(void **state)
{
    struct ebb_sigv4_request r = suite("GET", "/", "");
    struct ebb_buf text;

    (void)state;
    expect_request(&r, "GET\n/\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-date\n" EMPTY);
    ebb_buf_init(&text, 4096);
    assert_int_equal(ebb_sigv4_explain(&r, NULL, &text, NULL), 0);
    assert_string_equal(ebb_buf_cstr(&text),
                        "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/service/aws4_request\n"
                        "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63");
    ebb_buf_fini(&text);
    expect_signature(&r, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

/* post-vanilla */
static void test_method(void **state)
{
    struct ebb_sigv4_request r = suite("POST", "/", NULL);

    (void)state;
    expect_signature(&r, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
}

/* post-x-www-form-urlencoded */
static void test_form(void **state)
{
    struct ebb_sigv4_request r = suite("POST", "/", "");
    char type[] = "Content-Type: application/x-www-form-urlencoded", hash[EBB_SHA256_HEX];
    char *items[] = {type};
    struct ebb_strs headers = {items, 1, 1};

    (void)state;
    assert_int_equal(ebb_sha256_hex("Param1=value1", 13, hash, NULL), 0);
    r.headers = &headers;
    r.payload_sha256 = hash;
    expect_signature(&r, "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
}

/* get-utf8, get-vanilla-utf8-query, get-vanilla-empty-query-key, get-unreserved */
static void test_texts(void **state)
{
    static const char UNRESERVED[] = "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    struct ebb_sigv4_request r = suite("GET", "/\xE1\x88\xB4", ""); /* as the suite has it: encoded in signing */

    (void)state;
    expect_signature(&r, "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85");
    r = suite("GET", "/", "%E1%88%B4=bar");
    expect_signature(&r, "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04");
    r = suite("GET", "/", "Param1=value1");
    expect_signature(&r, "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb");
    r = suite("GET", UNRESERVED, "");
    expect_signature(&r, "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f");
}

/* get-vanilla-query-order-key-case */
static void test_query_is_sorted(void **state)
{
    struct ebb_sigv4_request r = suite("GET", "/", "Param2=value2&Param1=value1");

    (void)state;
    expect_signature(&r, "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
    r.query = "b=2&a=2&a=1&delete&A=";
    expect_request(&r, "GET\n/\nA=&a=1&a=2&b=2&delete=\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\n"
                       "host;x-amz-date\n" EMPTY);
}

/* get-header-value-trim; post-header-key-sort */
static void test_headers(void **state)
{
    struct ebb_sigv4_request r = suite("GET", "/", "");
    char one[] = "My-Header1: value1", two[] = "My-Header2:  \"a   b   c\"  ";
    char *items[] = {two, one};
    struct ebb_strs headers = {items, 2, 2};

    (void)state;
    r.headers = &headers;
    expect_request(&r, "GET\n/\n\nhost:example.amazonaws.com\nmy-header1:value1\nmy-header2:\"a b c\"\n"
                       "x-amz-date:20150830T123600Z\n\nhost;my-header1;my-header2;x-amz-date\n" EMPTY);
    expect_signature(&r, "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736");
}

/* A name that begins another one stands first, whatever the values. */
static void test_headers_by_name(void **state)
{
    struct ebb_sigv4_request r = suite("GET", "/", "");
    char one[] = "x-a-b: 1", two[] = "x-a: 2";
    char *items[] = {one, two};
    struct ebb_strs headers = {items, 2, 2};

    (void)state;
    r.headers = &headers;
    expect_request(&r, "GET\n/\n\nhost:example.amazonaws.com\nx-a:2\nx-a-b:1\nx-amz-date:20150830T123600Z\n\n"
                       "host;x-a;x-a-b;x-amz-date\n" EMPTY);
}

/* get-utf8, get-space: sent as %E1%88%B4, signed as %25E1…; S3 signs what is sent. */
static void test_paths(void **state)
{
    struct ebb_sigv4_request r = suite("GET", "/%E1%88%B4", "");

    (void)state;
    expect_request(&r, "GET\n/%25E1%2588%25B4\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\n"
                       "host;x-amz-date\n" EMPTY);
    r.path = "/example1/example2/../..";
    expect_request(&r, "GET\n/\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-date\n" EMPTY);
    r.path = "//example//./x/";
    expect_request(
        &r, "GET\n/example/x/\n\nhost:example.amazonaws.com\nx-amz-date:20150830T123600Z\n\nhost;x-amz-date\n" EMPTY);
    r = s3("GET", "/a//b/../%E1%88%B4%20x", "");
    expect_request(&r, "GET\n/a//b/../%E1%88%B4%20x\n\nhost:examplebucket.s3.amazonaws.com\nx-amz-content-sha256:" EMPTY
                       "\nx-amz-date:20130524T000000Z\n\nhost;x-amz-content-sha256;x-amz-date\n" EMPTY);
}

/* GET Object with a range, PUT Object, GET Bucket Lifecycle, List Objects. */
static void test_s3(void **state)
{
    struct ebb_sigv4_request r = s3("GET", "/test.txt", "");
    char range[] = "Range: bytes=0-9", date[] = "Date: Fri, 24 May 2013 00:00:00 GMT";
    char storage_class[] = "x-amz-storage-class: REDUCED_REDUNDANCY";
    char *one[] = {range}, *two[] = {date, storage_class};
    struct ebb_strs headers = {one, 1, 1}, more = {two, 2, 2};

    (void)state;
    r.headers = &headers;
    expect_signature(&r, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    r = s3("PUT", "/test%24file.text", "");
    r.headers = &more;
    r.payload_sha256 = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    expect_signature(&r, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    r = s3("GET", "/", "lifecycle");
    expect_signature(&r, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    r = s3("GET", "/", "max-keys=2&prefix=J");
    expect_signature(&r, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void test_session_token(void **state)
{
    struct ebb_sigv4_request r = s3("GET", "/", "");
    struct ebb_strs out;
    bool found = false;

    (void)state;
    r.keys.session_token = "token/with+signs==";
    ebb_strs_init(&out);
    assert_int_equal(ebb_sigv4_sign(&r, &out, NULL), 0);
    assert_non_null(strstr(out.items[0], "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"));
    for (size_t i = 0; i < out.count; i++)
        found = found || !strcmp(out.items[i], "x-amz-security-token: token/with+signs==");
    assert_true(found);
    ebb_strs_fini(&out);
}

static void test_sha256(void **state)
{
    char out[EBB_SHA256_HEX];

    (void)state;
    assert_int_equal(ebb_sha256_hex(NULL, 0, out, NULL), 0);
    assert_string_equal(out, EMPTY);
    assert_int_equal(ebb_sha256_hex("Welcome to Amazon S3.", 21, out, NULL), 0);
    assert_string_equal(out, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_form),   cmocka_unit_test(test_texts),           cmocka_unit_test(test_plain),
        cmocka_unit_test(test_method), cmocka_unit_test(test_query_is_sorted), cmocka_unit_test(test_headers),
        cmocka_unit_test(test_paths),  cmocka_unit_test(test_headers_by_name), cmocka_unit_test(test_session_token),
        cmocka_unit_test(test_s3),     cmocka_unit_test(test_sha256),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
