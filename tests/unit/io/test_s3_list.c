/* SPDX-License-Identifier: Apache-2.0
 *
 * Listings against a server whose pages are written here, one request after another: what is told is complete and in
 * its place, or it is an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/s3_list_priv.h"
#include "scripted_server.h"

#define PAGES_MAX 6
#define RAW "<ListBucketResult><Prefix> +%</Prefix><IsTruncated>false</IsTruncated></ListBucketResult>"
#define ENCODED "<ListBucketResult><Prefix>%20%2B%25</Prefix><IsTruncated>false</IsTruncated></ListBucketResult>"
#define PAGE(inside) "<ListBucketResult>" inside "</ListBucketResult>"
#define LAST "<IsTruncated>false</IsTruncated>"
#define MORE(token) "<IsTruncated>true</IsTruncated><NextContinuationToken>" token "</NextContinuationToken>"
#define OBJECT(key)                                                                                                    \
    "<Contents><Key>" key "</Key><LastModified>2026-01-02T03:04:05Z</LastModified><ETag>\"d\"</ETag><Size>1</Size>"    \
    "</Contents>"

struct told {
    struct ebb_buf keys; /* "a,b," */
    const char *unwanted;
    int stop; /* what the callback returns */
};

static int on_object(void *data, const struct ebb_s3_listed *object, struct ebb_err *err)
{
    struct told *told = data;

    (void)err;
    ebb_buf_add_str(&told->keys, object->key);
    ebb_buf_puts(&told->keys, object->is_doubtful ? "?," : ",");
    return told->stop;
}

static bool on_enter(void *data, struct ebb_str prefix)
{
    struct told *told = data;

    return !told->unwanted || !ebb_str_is_equal(prefix, ebb_str_of(told->unwanted));
}

static int list_at(int port, struct told *told)
{
    struct ebb_s3_config config = {.path_style = -1,
                                   .aws = {"key", "secret", NULL, NULL, "us-east-1", NULL, NULL, true}};
    const struct ebb_log log = {0};
    char endpoint[64];
    struct ebb_s3 *s3 = NULL;
    int rc;

    snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%d", port);
    config.endpoint = endpoint;
    assert_int_equal(ebb_s3_new(&config, NULL, ebb_clock_system(), &log, NULL, &s3, NULL), 0);
    rc = ebb_s3_list(s3, "lake", EBB_STR("t/"), 1, told->unwanted ? on_enter : NULL, on_object, told, NULL);
    ebb_s3_free(s3);
    return rc;
}

/* One answer a connection. */
static int list(const char *const *bodies, struct told *told, char last[REQUEST_MAX])
{
    static char answers[PAGES_MAX][4096];
    static struct step steps[PAGES_MAX][3];
    const struct step *scripts[PAGES_MAX];
    struct scripted_server server;
    size_t count = 0;
    int rc;

    ebb_buf_init(&told->keys, 4096);
    for (; bodies[count]; count++) {
        snprintf(answers[count], sizeof answers[count],
                 "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", strlen(bodies[count]),
                 bodies[count]);
        steps[count][0] = (struct step){STEP_READ, NULL, 0};
        steps[count][1] = (struct step){STEP_SEND, answers[count], 0};
        steps[count][2] = (struct step){STEP_END, NULL, 0};
        scripts[count] = steps[count];
    }
    server_start(&server, scripts, count);
    rc = list_at(server.port, told);
    server_stop(&server);
    if (last)
        memcpy(last, server.last, REQUEST_MAX);
    return rc;
}

static void expect(const char *const *bodies, const char *keys, const char *last_has)
{
    struct told told = {0};
    char last[REQUEST_MAX];

    assert_int_equal(list(bodies, &told, last), 0);
    assert_string_equal(ebb_buf_cstr(&told.keys), keys);
    if (last_has && !strstr(last, last_has))
        fail_msg("%s: is not in %s", last_has, last);
    ebb_buf_fini(&told.keys);
}

static void refuse(const char *second, const char *third)
{
    const char *const bodies[] = {RAW, second, third, NULL};
    struct told told = {0};
    int rc = list(bodies, &told, NULL);

    if (rc != -EBB_ECORRUPT)
        fail_msg("%d for %s %s", rc, second, third ? third : "");
    ebb_buf_fini(&told.keys);
}

static void test_pages(void **state)
{
    const char *const empty[] = {RAW, PAGE(LAST "<KeyCount>0</KeyCount>"), NULL};
    const char *const two[] = {RAW, PAGE(MORE("x/+=") OBJECT("t/a") OBJECT("t/b")),
                               PAGE("<KeyCount>1</KeyCount>" OBJECT("t/c") LAST), NULL};
    const char *const hollow[] = {RAW, PAGE(MORE("1")), PAGE(MORE("2") "<KeyCount>0</KeyCount>"),
                                  PAGE(LAST OBJECT("t/z")), NULL};

    (void)state;
    expect(empty, "", "&prefix=t%2F");
    expect(two, "t/a,t/b,t/c,", "continuation-token=x%2F%2B%3D&");
    expect(hollow, "t/z,", "continuation-token=2&"); /* no keys, and yet there is more */
}

/* Decoded only where the server was seen to encode; never by what EncodingType says. */
static void test_encoding(void **state)
{
    const char *const raw[] = {
        RAW, PAGE("<EncodingType>url</EncodingType><Prefix>t/</Prefix>" LAST OBJECT("t/a+b%2Fc")), NULL};
    const char *const encoded[] = {ENCODED, PAGE("<Prefix>t%2F</Prefix>" LAST OBJECT("t/a+b%2Fc%2B")), NULL};
    const char *const mangled[] = {RAW, PAGE(LAST OBJECT("t/a\xEF\xBF\xBD")), NULL};

    (void)state;
    expect(raw, "t/a+b%2Fc,", NULL);
    expect(encoded, "t/a b/c+,", NULL);
    expect(mangled, "t/a\xEF\xBF\xBD?,", NULL);
}

static void test_hostile(void **state)
{
    (void)state;
    refuse(PAGE(OBJECT("t/a")), NULL);                                   /* is there more? */
    refuse(PAGE("<IsTruncated>true</IsTruncated>" OBJECT("t/a")), NULL); /* and how? */
    refuse(PAGE("<IsTruncated>perhaps</IsTruncated>" OBJECT("t/a")), NULL);
    refuse(PAGE(LAST OBJECT("t/b") OBJECT("t/a")), NULL); /* order */
    refuse(PAGE(LAST OBJECT("t/a") OBJECT("t/a")), NULL); /* twice */
    refuse(PAGE(LAST OBJECT("u/a")), NULL);               /* elsewhere */
    refuse(PAGE(LAST OBJECT("t2")), NULL);
    refuse(PAGE("<Prefix>u/</Prefix>" LAST), NULL);                  /* not what was asked */
    refuse(PAGE("<KeyCount>2</KeyCount>" LAST OBJECT("t/a")), NULL); /* one is missing */
    refuse(PAGE("<KeyCount>-1</KeyCount>" LAST OBJECT("t/a")), NULL);
    refuse(PAGE(MORE("x") OBJECT("t/a")), PAGE(MORE("x") OBJECT("t/b"))); /* the same again */
    refuse(PAGE(MORE("x") OBJECT("t/b")), PAGE(LAST OBJECT("t/a")));      /* backwards */
    refuse("<ListBucketResult>" LAST OBJECT("t/a"), NULL);                /* cut */
    refuse("<html>" LAST "</html>", NULL);
    refuse(PAGE(LAST "<Contents><Key>t/a</Key><Size>1</Size></Contents>"), NULL); /* how old? */
}

static void test_unwanted(void **state)
{
    const char *const bodies[] = {RAW, PAGE(MORE("1") OBJECT("t/a") OBJECT("t/no/1") OBJECT("t/no/2")),
                                  PAGE(LAST OBJECT("t/z")), NULL};
    struct told told = {.unwanted = "t/no/"};
    char last[REQUEST_MAX];

    (void)state;
    assert_int_equal(list(bodies, &told, last), 0);
    assert_string_equal(ebb_buf_cstr(&told.keys), "t/a,t/z,");
    assert_non_null(strstr(last, "start-after=t%2Fno%2F%F4%8F%BF%BF")); /* passed over, not paged through */
    ebb_buf_fini(&told.keys);
}

static void test_stop(void **state)
{
    const char *const bodies[] = {RAW, PAGE(MORE("1") OBJECT("t/a") OBJECT("t/b")), NULL};
    struct told told = {.stop = -EBB_EEXIST};

    (void)state;
    assert_int_equal(list(bodies, &told, NULL), -EBB_EEXIST);
    assert_string_equal(ebb_buf_cstr(&told.keys), "t/a,");
    ebb_buf_fini(&told.keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),    cmocka_unit_test(test_encoding), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_unwanted), cmocka_unit_test(test_stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
