/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages of listings as servers send them, and keys to cut ranges at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/s3_list_priv.h"

#define HEAD "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
#define OBJECT(key)                                                                                                    \
    "<Contents><Key>" key "</Key><LastModified>2026-01-02T03:04:05.678Z</LastModified><ETag>&quot;d41d&quot;</ETag>"   \
    "<Size>12</Size></Contents>"

static int read_page(const char *body, bool is_encoded, struct ebb__s3_page *page)
{
    ebb__s3_page_init(page);
    return ebb__s3_page_read("listing", ebb_str_of(body), is_encoded, page, NULL);
}

static void refuse(const char *body, bool is_encoded)
{
    struct ebb__s3_page page;

    assert_int_equal(read_page(body, is_encoded, &page), -EBB_ECORRUPT);
    ebb__s3_page_fini(&page);
}

static void expect_key(const char *body, bool is_encoded, const char *key, bool is_doubtful)
{
    struct ebb__s3_page page;

    assert_int_equal(read_page(body, is_encoded, &page), 0);
    assert_int_equal(page.count, 1);
    assert_true(ebb_str_is_equal(ebb__s3_page_key(&page, &page.items[0]), ebb_str_of(key)));
    assert_int_equal(page.items[0].is_doubtful, is_doubtful);
    ebb__s3_page_fini(&page);
}

static void test_page(void **state)
{
    struct ebb__s3_page page;

    (void)state;
    assert_int_equal(
        read_page(HEAD "<IsTruncated>true</IsTruncated><NextContinuationToken>a/+=</NextContinuationToken>" OBJECT(
                      "a") "<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes></ListBucketResult>",
                  false, &page),
        0);
    assert_int_equal(page.count, 2);
    assert_true(page.is_truncated);
    assert_string_equal(ebb_buf_cstr(&page.token), "a/+=");
    assert_int_equal(page.items[0].size_bytes, 12);
    assert_int_equal(page.items[0].mtime_ms, 1767323045000); /* whole seconds: HEAD tells no more */
    assert_memory_equal(page.keys.data + page.items[0].etag_at, "\"d41d\"", 6);
    assert_true(page.items[1].is_prefix);
    ebb__s3_page_fini(&page);
}

#define WHOLE(key) HEAD "<IsTruncated>false</IsTruncated>" OBJECT(key) "</ListBucketResult>"

/* '+' and %XX are other names when the server does not encode: then nothing is decoded. */
static void test_names(void **state)
{
    (void)state;
    expect_key(WHOLE("a+b/x%2By"), true, "a b/x+y", false);
    expect_key(WHOLE("a+b/x%2By"), false, "a+b/x%2By", false);
    expect_key(WHOLE("a%0Ab"), true, "a\nb", false);
    expect_key(WHOLE("a&#10;b"), false, "a\nb", true);
    expect_key(WHOLE("a\xEF\xBF\xBD"), false, "a\xEF\xBF\xBD", true);
    refuse(WHOLE("a%2"), true);
    refuse(WHOLE("a%zz"), true);
}

static void test_what_is_none(void **state)
{
    (void)state;
    refuse("<html>moved</html>", false);
    refuse("<Error><Code>SlowDown</Code></Error>", false);
    refuse(HEAD OBJECT("a") "</ListBucketResult>", false);
    refuse(HEAD "<IsTruncated>maybe</IsTruncated></ListBucketResult>", false);
    refuse(HEAD "<IsTruncated>true</IsTruncated></ListBucketResult>", false);
    refuse(HEAD "<IsTruncated>false</IsTruncated>" OBJECT("a"), false);
    refuse(HEAD "<IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents></ListBucketResult>", false);
    refuse(HEAD "<IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
           false);
    refuse(HEAD
           "<IsTruncated>false</IsTruncated><Contents><Key>a</Key><LastModified>2026-01-02T03:04:05Z</LastModified>"
           "<Size>99999999999999999999</Size></Contents></ListBucketResult>",
           false);
}

static void expect_between(const char *prefix, const char *a, const char *b)
{
    struct ebb_buf out;

    ebb_buf_init(&out, 4096);
    assert_true(ebb__s3_split_key(ebb_str_of(prefix), ebb_str_of(a), ebb_str_of(b), &out));
    assert_true(ebb_str_compare(ebb_buf_str(&out), ebb_str_of(a)) > 0);
    if (*b)
        assert_true(ebb_str_compare(ebb_buf_str(&out), ebb_str_of(b)) < 0);
    else
        assert_true(ebb_str_has_prefix(ebb_buf_str(&out), ebb_str_of(prefix)));
    ebb_buf_fini(&out);
}

static void test_split(void **state)
{
    struct ebb_buf out;

    (void)state;
    expect_between("t/", "t/data/00000", "t/metadata/");
    expect_between("t/", "t/data/00000", "");
    expect_between("t/", "t/data/5", "t/data/6");
    expect_between("", "a", "z");
    ebb_buf_init(&out, 4096);
    assert_false(ebb__s3_split_key(EBB_STR("t/"), EBB_STR("t/~~"), EBB_STR(""), &out));
    assert_false(ebb__s3_split_key(EBB_STR("t/"), EBB_STR("t/a"), EBB_STR("t/a"), &out));
    ebb_buf_fini(&out);
}

static void expect_split(const struct ebb_strs *cuts, const char *after, const char *end, size_t passed,
                         const char *wanted)
{
    struct ebb_buf out;
    bool found;

    ebb_buf_init(&out, 4096);
    found = ebb__s3_split(cuts, EBB_STR("t/"), ebb_str_of(after), ebb_str_of(end), passed, &out);
    if (found != (wanted != NULL) || (found && strcmp(ebb_buf_cstr(&out), wanted) != 0))
        fail_msg("%s..%s by %zu: %s", after, end, passed, ebb_buf_cstr(&out));
    ebb_buf_fini(&out);
}

/* At a folder, beyond the page that is under way; else by bytes, unless little is left. */
static void test_split_at_folders(void **state)
{
    static char *const FOLDERS[] = {"t/data/", "t/data/a/", "t/data/b/", "t/data/c/", "t/data/d/", "t/metadata/"};
    const struct ebb_strs cuts = {(char **)FOLDERS, 6, 6}, none = {NULL, 0, 0};

    (void)state;
    assert_int_equal(ebb__s3_cuts_before(&cuts, EBB_STR("a")), 0);
    assert_int_equal(ebb__s3_cuts_before(&cuts, EBB_STR("t/data/b/")), 2);
    assert_int_equal(ebb__s3_cuts_before(&cuts, EBB_STR("t/data/b/1")), 3);
    assert_int_equal(ebb__s3_cuts_before(&cuts, EBB_STR("u")), 6);
    expect_split(&cuts, "", "", 0, "t/data/c/");
    expect_split(&cuts, "t/data/a/1", "", 0, "t/data/d/");
    expect_split(&cuts, "t/data/a/1", "t/metadata/", 0, "t/data/c/");
    expect_split(&cuts, "t/data/a/1", "t/metadata/", 1, "t/data/d/");
    expect_split(&cuts, "t/data/a/1", "t/metadata/", 3, NULL); /* the page under way has all of it */
    expect_split(&cuts, "t/data/a/", "t/data/b/", 0, "t/data/aW");
    expect_split(&cuts, "t/data/a/5", "t/data/a/7", 0, "t/data/a/6");
    expect_split(&cuts, "t/data/a/5", "t/data/a/7", 1, NULL);
    expect_split(&none, "t/data/5", "t/data/7", 0, "t/data/6");
}

static void test_times(void **state)
{
    int64_t ms = 0;

    (void)state;
    assert_int_equal(ebb__s3_http_time("Fri, 24 May 2013 00:00:00 GMT", &ms), 0);
    assert_int_equal(ms, 1369353600000);
    assert_int_equal(ebb__s3_http_time("Friday, 24-May-13 00:00:00 GMT", &ms), -EBB_ETIME);
    assert_int_equal(ebb__s3_http_time("Fri, 24 Xyz 2013 00:00:00 GMT", &ms), -EBB_ETIME);
    assert_int_equal(ebb__s3_http_time("", &ms), -EBB_ETIME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_what_is_none),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_split_at_folders),
        cmocka_unit_test(test_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
