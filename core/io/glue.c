/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions to Glue: where it is, signatures, what is asked again, and errors as one line.
 */
#include "io/glue_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#define ANSWER_MAX ((size_t)64 << 20)
#define TRIES 6
#define FIRST_WAIT_MS 200
#define TEXT_MAX ((size_t)65536)

/* ---- where it is ---- */

static int bad_endpoint(const struct ebb__glue *g, const char *why, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ECONFIG, "catalog '%s': endpoint: %s", g->name, why);
}

/* The endpoint is "http[s]://host[:port]", nothing behind. */
static int take_endpoint(struct ebb__glue *g, const char *given, struct ebb_err *err)
{
    bool is_tls = !strncasecmp(given, "https://", 8);
    const char *port = is_tls ? ":443" : ":80";
    const char *host = given + (is_tls ? 8 : 7);
    size_t n = strlen(given), k = strlen(port);

    if (!is_tls && strncasecmp(given, "http://", 7) != 0)
        return bad_endpoint(g, "is no http: or https: URL", err);
    while (n && given[n - 1] == '/')
        n--;
    if (given + n <= host || strcspn(host, "/?#@ \t") < (size_t)(given + n - host))
        return bad_endpoint(g, "scheme and host are wanted, nothing else", err);
    g->endpoint = strndup(given, n);
    g->host = strndup(host, (size_t)(given + n - host));
    if (!g->endpoint || !g->host)
        return ebb_err_nomem(err);
    n = strlen(g->host);
    if (n > k && !strcmp(g->host + n - k, port))
        g->host[n - k] = '\0';
    return 0;
}

static int set_endpoint(struct ebb__glue *g, const char *given, struct ebb_err *err)
{
    const char *const names[] = {"AWS_ENDPOINT_URL_GLUE", "AWS_ENDPOINT_URL"};
    char usual[160];

    for (size_t i = 0; (!given || !*given) && i < 2; i++)
        given = getenv(names[i]);
    if (given && *given)
        return take_endpoint(g, given, err);
    snprintf(usual, sizeof usual, "https://glue.%s.amazonaws.com%s", g->region,
             strncmp(g->region, "cn-", 3) ? "" : ".cn");
    return take_endpoint(g, usual, err);
}

static int set_region(struct ebb__glue *g, struct ebb_err *err)
{
    const char *region = ebb_aws_credentials_region(g->credentials);
    size_t n = region ? strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;

    if (!region || !*region) {
        ebb_err_set(err, EBB_ECONFIG, "catalog '%s': region is not known", g->name);
        ebb_err_hint(err, "set catalogs.%s.region, or AWS_REGION, or region in ~/.aws/config", g->name);
        return -(int)EBB_ECONFIG;
    }
    if (region[n] || n > 32)
        return ebb_err_set(err, EBB_ECONFIG, "catalog '%s': region %.60s: is none", g->name, region);
    g->region = strdup(region);
    return g->region ? 0 : ebb_err_nomem(err);
}

static int fill(struct ebb__glue *g, const struct ebb_catalog_config *config, struct ebb_err *err)
{
    const struct ebb_http_client_options http = {.per_host = 4, .ca_file = config->ca_file, .log = g->log};
    int rc;

    g->name = strdup(config->name);
    if (config->catalog_id && config->catalog_id[0])
        g->catalog_id = strdup(config->catalog_id);
    if (!g->name || (config->catalog_id && config->catalog_id[0] && !g->catalog_id))
        return ebb_err_nomem(err);
    rc = ebb_http_sync_new(&http, g->cancelled, &g->http, err);
    if (!rc)
        rc = ebb_aws_credentials_new(&config->aws, g->http, g->clock, &g->credentials, err);
    if (!rc)
        rc = set_region(g, err);
    return rc ? rc : set_endpoint(g, config->endpoint, err);
}

int ebb__glue_new(const struct ebb_catalog_config *config, const struct ebb_catalog_site *site, struct ebb__glue **out,
                  struct ebb_err *err)
{
    struct ebb__glue *g = calloc(1, sizeof *g);
    int rc;

    *out = NULL;
    if (!g)
        return ebb_err_nomem(err);
    g->clock = site->clock;
    g->log = site->log;
    g->cancelled = site->cancelled;
    rc = fill(g, config, err);
    if (rc)
        ebb__glue_free(g);
    else
        *out = g;
    return rc;
}

void ebb__glue_free(struct ebb__glue *g)
{
    if (!g)
        return;
    ebb_aws_credentials_free(g->credentials);
    ebb_http_sync_free(g->http);
    free(g->name);
    free(g->endpoint);
    free(g->host);
    free(g->region);
    free(g->catalog_id);
    free(g);
}

/* ---- one request ---- */

static int put_headers(struct ebb__glue *g, const char *action, struct ebb_str body, struct ebb_strs *headers,
                       struct ebb_err *err)
{
    char sha256[EBB_SHA256_HEX], target[96];
    struct ebb_sigv4_request q = {.method = "POST", .host = g->host, .path = "/", .service = "glue"};
    struct ebb_strs plain;
    int rc = ebb_sha256_hex(body.p, body.n, sha256, err);

    ebb_strs_init(&plain);
    snprintf(target, sizeof target, "X-Amz-Target: AWSGlue.%s", action);
    if (!rc)
        rc = ebb_strs_add(&plain, "Content-Type: application/x-amz-json-1.1", err);
    if (!rc)
        rc = ebb_strs_add(&plain, target, err);
    q.headers = &plain;
    q.payload_sha256 = sha256;
    q.region = g->region;
    q.now_ms = ebb_clock_now(&g->clock);
    if (!rc)
        rc = ebb_aws_credentials_get(g->credentials, &q.keys, err);
    for (size_t i = 0; !rc && i < plain.count; i++)
        rc = ebb_strs_add(headers, plain.items[i], err);
    if (!rc)
        rc = ebb_sigv4_sign(&q, headers, err);
    ebb_strs_fini(&plain);
    return rc;
}

/* *is_sent: what fails from then on is the endpoint's. */
static int send_once(struct ebb__glue *g, const char *action, struct ebb_str body, struct ebb_http_fetched *out,
                     bool *is_sent, struct ebb_err *err)
{
    struct ebb_strs headers;
    struct ebb_buf url;
    struct ebb_http_call call = {.method = "POST",
                                 .body = body,
                                 .answer_bytes = ANSWER_MAX,
                                 .headers = &headers,
                                 .can_repeat = true, /* only questions are asked */
                                 .seed = (uint64_t)ebb_clock_elapsed_ms()};
    int rc;

    ebb_strs_init(&headers);
    ebb_buf_init(&url, TEXT_MAX);
    ebb_buf_printf(&url, "%s/", g->endpoint);
    call.url = ebb_buf_cstr(&url);
    rc = ebb_buf_check(&url, "endpoint", err);
    if (!rc)
        rc = put_headers(g, action, body, &headers, err);
    *is_sent = !rc;
    if (!rc)
        rc = ebb_http_sync_call(g->http, &call, out, err);
    ebb_strs_fini(&headers);
    ebb_buf_fini(&url);
    return rc;
}

/* ---- what went wrong ---- */

static bool is_one_of(const char *type, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(type, *names))
            return true;
    return false;
}

static bool is_throttled(const char *type)
{
    static const char *const NAMES[] = {"ThrottlingException",
                                        "Throttling",
                                        "ThrottledException",
                                        "RequestLimitExceeded",
                                        "TooManyRequestsException",
                                        "InternalServiceException",
                                        "OperationTimeoutException",
                                        "ServiceUnavailableException",
                                        NULL};

    return is_one_of(type, NAMES);
}

static bool is_expired(const char *type)
{
    static const char *const NAMES[] = {"ExpiredTokenException", "ExpiredToken", NULL};

    return is_one_of(type, NAMES);
}

static bool is_key_trouble(const char *type)
{
    static const char *const NAMES[] = {"UnrecognizedClientException",
                                        "InvalidClientTokenId",
                                        "InvalidSignatureException",
                                        "SignatureDoesNotMatch",
                                        "IncompleteSignatureException",
                                        "MissingAuthenticationTokenException",
                                        NULL};

    return is_expired(type) || is_one_of(type, NAMES);
}

/* A signature that is too old or too new, by its text. */
static bool is_clock_trouble(const char *type, const char *message)
{
    return !strcmp(type, "RequestExpired") || !strcmp(type, "RequestTimeTooSkewed") ||
           strstr(message, "Signature expired") || strstr(message, "Signature not yet current");
}

static enum ebb_error kind_of(const char *type, const char *message, int status)
{
    if (is_clock_trouble(type, message))
        return EBB_ECLOCK;
    if (is_key_trouble(type))
        return EBB_ECONFIG;
    if (!strcmp(type, "AccessDeniedException") || status == 401 || status == 403)
        return EBB_EPERMISSION;
    return EBB_ECATALOG;
}

static void hint(const struct ebb__glue *g, const char *type, const char *message, const char *action,
                 struct ebb_err *err)
{
    const char *source = ebb_aws_credentials_source(g->credentials);

    if (is_clock_trouble(type, message))
        ebb_err_hint(err, "mend the clock of this machine");
    else if (is_expired(type))
        ebb_err_hint(err, "the keys (%s) have expired: get new ones", source);
    else if (strstr(message, "Credential should be scoped"))
        ebb_err_hint(err, "%s is not in region %s: set catalogs.%s.region", g->endpoint, g->region, g->name);
    else if (is_key_trouble(type))
        ebb_err_hint(err, "the keys (%s) are not known in region %s, or the secret is wrong", source, g->region);
    else if (!strcmp(type, "AccessDeniedException"))
        ebb_err_hint(err, "allow glue:%s to whom the keys (%s) belong", action, source);
    else if (!type[0])
        ebb_err_hint(err, "is %s really Glue? set catalogs.%s.endpoint, or leave it out", g->endpoint, g->name);
    else if (is_throttled(type))
        ebb_err_hint(err, "it may pass: try again later");
}

static int fail(const struct ebb__glue *g, const char *action, const char *what, const struct ebb_http_fetched *answer,
                const char *type, const char *message, struct ebb_err *err)
{
    ebb_err_set(err, kind_of(type, message, answer->status), "catalog '%s': %s: %s answers %d%s%s%s%s", g->name, what,
                g->endpoint, answer->status, type[0] ? " " : "", type, message[0] ? ": " : "", message);
    if (err) {
        hint(g, type, message, action, err);
        err->retryable = is_throttled(type) || answer->status == 429 || answer->status >= 500;
    }
    return -(int)kind_of(type, message, answer->status);
}

/* A request that got no answer. */
static int fail_unanswered(const struct ebb__glue *g, const char *what, struct ebb_err *err)
{
    char why[EBB_ERR_MESSAGE_MAX];
    struct ebb_err was;

    if (!err)
        return -(int)EBB_ECATALOG;
    if (err->error != EBB_EIO && err->error != EBB_ELIMIT)
        return -(int)err->error;
    was = *err;
    snprintf(why, sizeof why, "%s", was.message);
    ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: %s: %.700s", g->name, what, g->endpoint, why);
    ebb_err_hint(err, "is endpoint (or region) of this catalog right, and can it be reached from here?");
    err->retryable = was.retryable;
    return -(int)EBB_ECATALOG;
}

/* ---- asking ---- */

static bool repeats(const char *text, const char *secret)
{
    return secret && strlen(secret) >= 4 && strstr(text, secret);
}

/* A server's text that holds what we must not show is not shown at all. */
static void hide(struct ebb__glue *g, char *type, char *message)
{
    struct ebb_aws_keys keys;

    if (ebb_aws_credentials_get(g->credentials, &keys, NULL) || repeats(message, keys.secret_access_key) ||
        repeats(message, keys.session_token) || repeats(type, keys.secret_access_key) ||
        repeats(type, keys.session_token))
        type[0] = message[0] = '\0';
}

/* Up to the whole of a wait that doubles each time. */
static int pause_for(const struct ebb__glue *g, unsigned turn, struct ebb_err *err)
{
    uint64_t mixed = (uint64_t)ebb_clock_elapsed_ms() * UINT64_C(6364136223846793005) + turn;
    int64_t whole = (int64_t)FIRST_WAIT_MS << turn;
    int64_t until = ebb_clock_elapsed_ms() + 20 + (int64_t)((mixed >> 33) % (uint64_t)whole);

    while (ebb_clock_elapsed_ms() < until) {
        const struct timespec slice = {.tv_nsec = 20000000};

        if (g->cancelled && atomic_load(g->cancelled))
            return ebb_err_set(err, EBB_ECANCELLED, "catalog '%s': interrupted", g->name);
        nanosleep(&slice, NULL);
    }
    return 0;
}

static int take_answer(struct ebb_http_fetched *fetched, struct ebb_buf *answer, struct ebb_err *err)
{
    ebb_buf_reset(answer);
    ebb_buf_add_str(answer, ebb_buf_str(&fetched->body));
    return ebb_buf_check(answer, "answer", err);
}

int ebb__glue_ask(struct ebb__glue *g, const char *action, const char *what, struct ebb_str body,
                  struct ebb_buf *answer, char type[64], struct ebb_err *err)
{
    bool was_renewed = false, is_again = true, is_sent;
    char message[320];
    int rc = 0;

    for (unsigned turn = 0; !rc && is_again; turn++) {
        struct ebb_http_fetched fetched = {.status = 0};

        is_again = false;
        type[0] = '\0';
        rc = send_once(g, action, body, &fetched, &is_sent, err);
        if (rc) {
            rc = is_sent ? fail_unanswered(g, what, err) : rc;
        } else if (fetched.status == 200) {
            rc = take_answer(&fetched, answer, err);
        } else {
            ebb__glue_parse_error(ebb_buf_str(&fetched.body), type, message);
            hide(g, type, message);
            is_again = (is_throttled(type) && turn + 1 < TRIES) || (is_expired(type) && !was_renewed);
            if (!is_again)
                rc = fail(g, action, what, &fetched, type, message, err);
        }
        if (is_again && is_expired(type)) {
            was_renewed = true;
            ebb_aws_credentials_forget(g->credentials);
        } else if (is_again) {
            rc = pause_for(g, turn, err);
        }
        ebb_http_fetched_fini(&fetched);
    }
    return rc;
}
