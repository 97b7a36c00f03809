/* SPDX-License-Identifier: Apache-2.0
 *
 * Certificates are always checked; the pauses between tries are computed from the seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <microhttpd.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "client_help.h"
#include "io/http_client_priv.h"

struct tls {
    struct http_fixture *http;
    struct MHD_Daemon *daemon;
    char *cert, *key; /* PEM */
    char ca_file[64], other_ca_file[64];
};

static char *pem_of(BIO *bio)
{
    char *bytes;
    long n = BIO_get_mem_data(bio, &bytes);
    char *copy = strndup(bytes, (size_t)n);

    BIO_free(bio);
    return copy;
}

static void add_names(X509 *x, const char *names)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, names);

    assert_non_null(extension);
    assert_int_equal(X509_add_ext(x, extension, -1), 1);
    X509_EXTENSION_free(extension);
}

/* Signed by itself, valid from `from_s` to `to_s` seconds from now. */
static void make_certificate(const char *names, long from_s, long to_s, char **cert, char **key)
{
    EVP_PKEY *pkey = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    BIO *cert_bio = BIO_new(BIO_s_mem()), *key_bio = BIO_new(BIO_s_mem());

    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1 + from_s % 1000 + to_s % 1000);
    X509_gmtime_adj(X509_getm_notBefore(x), from_s);
    X509_gmtime_adj(X509_getm_notAfter(x), to_s);
    X509_set_pubkey(x, pkey);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, (const unsigned char *)"test", -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    add_names(x, names);
    assert_true(X509_sign(x, pkey, EVP_sha256()) > 0);
    assert_int_equal(PEM_write_bio_X509(cert_bio, x), 1);
    assert_int_equal(PEM_write_bio_PrivateKey(key_bio, pkey, NULL, NULL, 0, NULL, NULL), 1);
    X509_free(x);
    EVP_PKEY_free(pkey);
    *cert = pem_of(cert_bio);
    *key = pem_of(key_bio);
}

static void write_temporary(char path[64], const char *text)
{
    int fd;

    snprintf(path, 64, "/tmp/ebb-ca-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static enum MHD_Result answer(void *data, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *body, size_t *n, void **state)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(2, (void *)(uintptr_t) "hi", MHD_RESPMEM_PERSISTENT);
    enum MHD_Result rc = MHD_queue_response(connection, 200, response);

    (void)data, (void)url, (void)method, (void)version, (void)body, (void)n, (void)state;
    MHD_destroy_response(response);
    return rc;
}

static void serve_tls(struct tls *t, const char *names, long from_s, long to_s)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    const union MHD_DaemonInfo *info;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    make_certificate(names, from_s, to_s, &t->cert, &t->key);
    write_temporary(t->ca_file, t->cert);
    t->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS, 0, NULL, NULL, answer, NULL,
                                 MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_HTTPS_MEM_CERT, t->cert,
                                 MHD_OPTION_HTTPS_MEM_KEY, t->key, MHD_OPTION_END);
    assert_non_null(t->daemon);
    info = MHD_get_daemon_info(t->daemon, MHD_DAEMON_INFO_BIND_PORT);
    snprintf(t->http->url, sizeof t->http->url, "https://127.0.0.1:%d/" SECRET, info->port);
}

static void trust(struct tls *t, const char *ca_file)
{
    t->http->options.ca_file = ca_file;
    reopen(t->http, 0);
}

static int setup_tls(void **state)
{
    struct tls *t = calloc(1, sizeof *t);
    void *http;

    setup(&http);
    t->http = http;
    *state = t;
    return 0;
}

static int teardown_tls(void **state)
{
    struct tls *t = *state;
    void *http = t->http;

    t->http->options.ca_file = NULL;
    teardown(&http);
    if (t->daemon)
        MHD_stop_daemon(t->daemon);
    if (t->ca_file[0])
        unlink(t->ca_file);
    if (t->other_ca_file[0])
        unlink(t->other_ca_file);
    free(t->cert);
    free(t->key);
    free(t);
    return 0;
}

static void expect_refusal(struct tls *t, const char *why)
{
    struct seen s = {.f = t->http};

    ask(t->http, &s, "GET", NULL);
    finish(t->http);
    expect_failure(&s, EBB_EIO, 1); /* and never tried again */
    if (!strstr(s.err.message, why))
        fail_msg("%s", s.err.message);
    assert_false(s.err.retryable);
}

static void test_signed_by_itself(void **state)
{
    struct tls *t = *state;
    struct seen s = {.f = t->http};

    serve_tls(t, "IP:127.0.0.1", -3600, 3600);
    expect_refusal(t, "self-signed certificate");
    trust(t, t->ca_file);
    ask(t->http, &s, "GET", NULL);
    finish(t->http);
    expect_answer(&s, 200, "hi", 1);
}

static void test_another_authority(void **state)
{
    struct tls *t = *state;
    char *cert, *key;

    serve_tls(t, "IP:127.0.0.1", -3600, 3600);
    make_certificate("IP:127.0.0.1", -3600, 7200, &cert, &key);
    write_temporary(t->other_ca_file, cert);
    free(cert);
    free(key);
    trust(t, t->other_ca_file);
    expect_refusal(t, "certificate");
}

static void test_another_name(void **state)
{
    struct tls *t = *state;

    serve_tls(t, "DNS:lake.example,IP:127.0.0.2", -3600, 3600);
    trust(t, t->ca_file);
    expect_refusal(t, "127.0.0.1");
}

static void test_out_of_date(void **state)
{
    struct tls *t = *state;

    serve_tls(t, "IP:127.0.0.1", -7200, -3600);
    trust(t, t->ca_file);
    expect_refusal(t, "expired");
}

static void test_authorities_that_cannot_be_read(void **state)
{
    struct tls *t = *state;

    serve_tls(t, "IP:127.0.0.1", -3600, 3600);
    trust(t, "/nonexistent/ca.pem");
    expect_refusal(t, "127.0.0.1");
}

static void test_plain_answer_to_tls(void **state)
{
    static const struct step plain[] = {{STEP_SEND, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 0},
                                        {STEP_END, NULL, 0}};
    static const struct step *const scripts[] = {plain};
    struct tls *t = *state;
    struct seen s = {.f = t->http};

    server_start(&t->http->server, scripts, 1);
    t->http->is_serving = true;
    t->http->call.tries = 1;
    snprintf(t->http->url, sizeof t->http->url, "https://127.0.0.1:%d/", t->http->server.port);
    ask(t->http, &s, "POST", "x");
    finish(t->http);
    expect_failure(&s, EBB_EIO, 1);
}

/* ---- pauses ---- */

static unsigned pause_of(struct ebb_http_request *r, unsigned tries)
{
    unsigned wait = 0;

    r->tries = tries;
    assert_true(ebb__http_retry(r, CURLE_COULDNT_CONNECT, &wait));
    return wait;
}

static void test_pauses(void **state)
{
    struct ebb_http_request r = {.tries_max = 1000, .first_wait_ms = 100, .max_wait_ms = 1000};
    const unsigned whole[] = {100, 200, 400, 800, 1000, 1000, 1000};
    bool differ = false;

    (void)state;
    r.ends_at = ebb_clock_elapsed_ms() + 3600000;
    for (uint64_t seed = 0; seed < 50; seed++) {
        r.seed = seed;
        for (unsigned i = 0; i < sizeof whole / sizeof *whole; i++) {
            unsigned wait = pause_of(&r, i + 1);

            assert_in_range(wait, whole[i] / 2, whole[i]);
            assert_int_equal(wait, pause_of(&r, i + 1));
            r.seed = seed + 1000;
            differ = differ || wait != pause_of(&r, i + 1);
            r.seed = seed;
        }
    }
    assert_true(differ);
    r.max_wait_ms = UINT32_MAX;
    r.ends_at = INT64_MAX;
    assert_in_range(pause_of(&r, 900), UINT32_MAX / 2, UINT32_MAX);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_tls, teardown_tls)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_signed_by_itself),
        CASE(test_another_authority),
        CASE(test_another_name),
        CASE(test_out_of_date),
        CASE(test_authorities_that_cannot_be_read),
        CASE(test_plain_answer_to_tls),
        cmocka_unit_test(test_pauses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
