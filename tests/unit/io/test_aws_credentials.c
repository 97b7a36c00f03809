/* SPDX-License-Identifier: Apache-2.0
 *
 * Where AWS keys come from: shared files, half given keys, when they are fetched again, and what errors keep to
 * themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/aws_credentials.h"
#include "io/http_sync.h"
#include "scripted_server.h"

#define SECRET "S3cr3tOfTheSource"
#define MADE_MS ((int64_t)1767312000000) /* 2026-01-02T00:00:00Z */
#define KEYS(id)                                                                                                       \
    "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"AccessKeyId\":\"" id "\",\"SecretAccessKey\":\"" SECRET            \
    "\",\"Token\":\"t\",\"Expiration\":\"2026-01-02T01:00:00Z\"}"

struct world {
    char dir[64], credentials[96], config[96];
    int64_t now_ms;
    struct ebb_http_sync *sync;
    struct ebb_aws_credentials *keys;
    struct ebb_err err;
};

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

static void begin(struct world *w, const struct ebb_aws_config *config, const char *credentials, const char *shared)
{
    static const char *const NAMES[] = {"AWS_ACCESS_KEY_ID",
                                        "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SESSION_TOKEN",
                                        "AWS_PROFILE",
                                        "AWS_REGION",
                                        "AWS_DEFAULT_REGION",
                                        "AWS_WEB_IDENTITY_TOKEN_FILE",
                                        "AWS_ROLE_ARN",
                                        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                        "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                                        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"};
    const struct ebb_http_client_options options = {.proxy = ""};

    memset(w, 0, sizeof *w);
    w->now_ms = MADE_MS;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        unsetenv(NAMES[i]);
    snprintf(w->dir, sizeof w->dir, "/tmp/ebb-keys-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->credentials, sizeof w->credentials, "%s/credentials", w->dir);
    snprintf(w->config, sizeof w->config, "%s/config", w->dir);
    write_file(w->credentials, credentials);
    write_file(w->config, shared);
    setenv("AWS_SHARED_CREDENTIALS_FILE", w->credentials, 1);
    setenv("AWS_CONFIG_FILE", w->config, 1);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    assert_int_equal(ebb_http_sync_new(&options, NULL, &w->sync, NULL), 0);
    assert_int_equal(ebb_aws_credentials_new(config, w->sync, ebb_clock_fixed(&w->now_ms), &w->keys, NULL), 0);
}

static void end(struct world *w)
{
    ebb_aws_credentials_free(w->keys);
    ebb_http_sync_free(w->sync);
    unlink(w->credentials);
    unlink(w->config);
    rmdir(w->dir);
}

static void expect_keys(struct world *w, const char *id, const char *source)
{
    struct ebb_aws_keys got;

    assert_int_equal(ebb_aws_credentials_get(w->keys, &got, &w->err), 0);
    assert_string_equal(got.access_key_id, id);
    assert_string_equal(got.secret_access_key, SECRET);
    assert_string_equal(ebb_aws_credentials_source(w->keys), source);
}

static void expect_error(struct world *w, const char *text)
{
    struct ebb_aws_keys got;

    assert_int_equal(ebb_aws_credentials_get(w->keys, &got, &w->err), -EBB_ECONFIG);
    if (!strstr(w->err.message, text) && !strstr(w->err.hint, text))
        fail_msg("%s / %s", w->err.message, w->err.hint);
    assert_null(strstr(w->err.message, SECRET));
    assert_null(strstr(w->err.hint, SECRET));
}

static void test_what_is_configured(void **state)
{
    const struct ebb_aws_config config = {.access_key_id = "AKCONFIG", .secret_access_key = SECRET},
                                half = {.secret_access_key = SECRET};
    struct world w;

    (void)state;
    begin(&w, &config, "[default]\naws_access_key_id=AKFILE\naws_secret_access_key=no\n", "");
    expect_keys(&w, "AKCONFIG", "configuration");
    end(&w);
    begin(&w, &half, "", "");
    expect_error(&w, "storage.s3");
    end(&w);
}

static void test_environment(void **state)
{
    const struct ebb_aws_config config = {0};
    struct world w;

    (void)state;
    begin(&w, &config, "[default]\naws_access_key_id=AKFILE\naws_secret_access_key=no\n", "");
    setenv("AWS_ACCESS_KEY_ID", "AKENV", 1);
    expect_error(&w, "AWS_SECRET_ACCESS_KEY");
    setenv("AWS_SECRET_ACCESS_KEY", SECRET, 1);
    expect_keys(&w, "AKENV", "environment");
    end(&w);
}

#define FILE_OF(rest) "# a comment\n[default]\naws_access_key_id = AKONE\naws_secret_access_key = " SECRET "\r\n\n" rest

static void test_profiles(void **state)
{
    const struct ebb_aws_config plain = {0}, two = {.profile = "two"}, none = {.profile = "three"};
    struct world w;

    (void)state;
    begin(&w, &plain, FILE_OF("[two]\naws_access_key_id=AKTWO\n"), "[default]\nregion = eu-west-1\n");
    expect_keys(&w, "AKONE", "profile default");
    assert_string_equal(ebb_aws_credentials_region(w.keys), "eu-west-1");
    end(&w);
    begin(&w, &two, FILE_OF("[two]\naws_access_key_id=AKTWO\n"), "[profile two]\naws_secret_access_key=" SECRET "\n");
    expect_keys(&w, "AKTWO", "profile two");
    end(&w);
    begin(&w, &two, FILE_OF("[two]\naws_secret_access_key=" SECRET "\n"), "");
    expect_error(&w, "two");
    end(&w);
    begin(&w, &none, FILE_OF(""), "[three]\naws_access_key_id=A\naws_secret_access_key=B\n"); /* not "profile three" */
    expect_error(&w, "three");
    end(&w);
}

static void test_profiles_that_lead_elsewhere(void **state)
{
    static const char *const KEYS[] = {"role_arn", "source_profile", "credential_process", "sso_session"};
    const struct ebb_aws_config config = {.profile = "p"};
    char text[256];
    struct world w;

    (void)state;
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        snprintf(text, sizeof text, "[profile p]\n%s = " SECRET "\n", KEYS[i]);
        begin(&w, &config, "", text);
        expect_error(&w, KEYS[i]);
        assert_non_null(strstr(w.err.message, "not supported"));
        end(&w);
    }
}

static void test_nothing(void **state)
{
    const struct ebb_aws_config config = {0};
    struct world w;

    (void)state;
    begin(&w, &config, "", "");
    expect_error(&w, "AWS_ACCESS_KEY_ID");
    end(&w);
}

/* Five minutes before they end, and when they are to be forgotten. */
static void test_keys_that_end(void **state)
{
    const struct step first[] = {{STEP_READ, NULL, 0}, {STEP_SEND, KEYS("AKONE"), 0}, {STEP_END, NULL, 0}};
    const struct step then[] = {{STEP_READ, NULL, 0}, {STEP_SEND, KEYS("AKTWO"), 0}, {STEP_END, NULL, 0}};
    const struct step *scripts[] = {first, then};
    const struct ebb_aws_config config = {0};
    struct scripted_server server;
    struct world w;
    char uri[64];

    (void)state;
    begin(&w, &config, "", "");
    server_start(&server, scripts, 2);
    snprintf(uri, sizeof uri, "http://127.0.0.1:%d/keys", server.port);
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", uri, 1);
    setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer box", 1);
    expect_keys(&w, "AKONE", "the container");
    assert_non_null(strstr(server.last, "Authorization: Bearer box\r\n"));
    w.now_ms = MADE_MS + (int64_t)54 * 60000;
    expect_keys(&w, "AKONE", "the container");
    assert_int_equal(atomic_load(&server.requests), 1);
    w.now_ms = MADE_MS + (int64_t)55 * 60000;
    expect_keys(&w, "AKTWO", "the container");
    assert_int_equal(atomic_load(&server.requests), 2);
    w.now_ms = MADE_MS;
    expect_keys(&w, "AKTWO", "the container");
    ebb_aws_credentials_forget(w.keys);
    expect_keys(&w, "AKTWO", "the container");
    assert_int_equal(atomic_load(&server.requests), 3);
    end(&w);
    server_stop(&server);
}

/* Tokens go to this machine, or over https; broken answers are named, their text is not. */
static void test_containers_that_are_none(void **state)
{
    static const char *const URIS[] = {"http://192.0.2.1/k", "http://localhost.example.com/k",
                                       "http://127.0.0.1@192.0.2.1/k", "ftp://127.0.0.1/k", "http://127.0.0.10/k"};
    static const char *const ANSWERS[] = {
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"SecretAccessKey\":\"" SECRET "\"}",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"SecretAccessKey\":\"" SECRET "\"",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"" SECRET
        "\",\"Expiration\":\"soon\"}",
        "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 17\r\n\r\n" SECRET};
    const struct ebb_aws_config config = {0};
    struct world w;
    char uri[64];

    (void)state;
    begin(&w, &config, "", "");
    setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", SECRET, 1);
    for (size_t i = 0; i < sizeof URIS / sizeof URIS[0]; i++) {
        setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", URIS[i], 1);
        expect_error(&w, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
    }
    for (size_t i = 0; i < sizeof ANSWERS / sizeof ANSWERS[0]; i++) {
        const struct step script[] = {{STEP_READ, NULL, 0}, {STEP_SEND, ANSWERS[i], 0}, {STEP_END, NULL, 0}};
        const struct step *scripts[] = {script};
        struct scripted_server server;

        server_start(&server, scripts, 1);
        snprintf(uri, sizeof uri, "http://127.0.0.1:%d/k", server.port);
        setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", uri, 1);
        expect_error(&w, "");
        server_stop(&server);
    }
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_configured),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_profiles_that_lead_elsewhere),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_keys_that_end),
        cmocka_unit_test(test_containers_that_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
