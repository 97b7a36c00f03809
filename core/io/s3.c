/* SPDX-License-Identifier: Apache-2.0
 *
 * The client itself: what was configured.
 */
#include <stdlib.h>
#include <strings.h>

#include "io/s3_priv.h"

#define REQUESTS 32
#define REQUESTS_MAX 256
#define COPY_PART_BYTES ((uint64_t)5 << 30)
#define URL_MAX ((size_t)16 * 1024)

static int bad_endpoint(const char *endpoint, const char *why, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_ECONFIG, "storage.s3.endpoint %.200s: %s", endpoint, why);

    ebb_err_hint(err, "it reads http://HOST:PORT or https://HOST");
    return rc;
}

static const char *default_port(const char *scheme)
{
    return strcmp(scheme, "https") ? ":80" : ":443";
}

/* Take "http://host:port/base" apart. */
static int split_endpoint(struct ebb_s3 *s3, struct ebb_err *err)
{
    const char *rest = strstr(s3->endpoint, "://");
    const char *slash;
    size_t n;

    if (!rest || (strncasecmp(s3->endpoint, "http://", 7) != 0 && strncasecmp(s3->endpoint, "https://", 8) != 0))
        return bad_endpoint(s3->endpoint, "is no http: or https: URL", err);
    s3->scheme = strdup(rest - s3->endpoint == 4 ? "http" : "https");
    rest += 3;
    if (strpbrk(rest, "@?# \t"))
        return bad_endpoint("", "holds a user, a query or blanks", err);
    slash = strchr(rest, '/');
    n = slash ? (size_t)(slash - rest) : strlen(rest);
    s3->host = strndup(rest, n);
    s3->base = strdup(slash ? slash : "");
    if (!s3->scheme || !s3->host || !s3->base)
        return ebb_err_nomem(err);
    if (!n)
        return bad_endpoint(s3->endpoint, "names no host", err);
    for (n = strlen(s3->base); n > 0 && s3->base[n - 1] == '/'; n--)
        s3->base[n - 1] = '\0';
    n = strlen(default_port(s3->scheme));
    if (strlen(s3->host) > n && !strcmp(s3->host + strlen(s3->host) - n, default_port(s3->scheme)))
        s3->host[strlen(s3->host) - n] = '\0';
    return 0;
}

/* AWS's own endpoint of the region, once that is known. */
static int set_aws_endpoint(struct ebb_s3 *s3, struct ebb_err *err)
{
    const char *end = strncmp(s3->region, "cn-", 3) ? "amazonaws.com" : "amazonaws.com.cn";
    struct ebb_buf host;

    ebb_buf_init(&host, URL_MAX);
    ebb_buf_printf(&host, "s3.%s.%s", s3->region, end);
    s3->host = ebb_buf_take(&host);
    s3->scheme = strdup("https");
    s3->base = strdup("");
    return s3->host && s3->scheme && s3->base ? 0 : ebb_err_nomem(err);
}

static const char *endpoint_of(const struct ebb_s3_config *config)
{
    static const char *const NAMES[] = {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"};
    const char *value = config->endpoint;

    for (size_t i = 0; (!value || !*value) && i < 2; i++)
        value = getenv(NAMES[i]);
    return value && *value ? value : "";
}

static bool is_region(const char *region)
{
    size_t n = strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return n > 0 && n < 32 && !region[n];
}

static int set_region(struct ebb_s3 *s3, const struct ebb_s3_config *config, struct ebb_err *err)
{
    const char *region = s3->credentials ? ebb_aws_credentials_region(s3->credentials) : config->aws.region;

    if ((!region || !*region) && s3->endpoint[0])
        region = "us-east-1"; /* what servers of one's own take */
    if (!region || !*region) {
        int rc = ebb_err_set(err, EBB_ECONFIG, "storage.s3.region: is not known");

        ebb_err_hint(err, "set it, or AWS_REGION, or region in ~/.aws/config");
        return rc;
    }
    if (!is_region(region))
        return ebb_err_set(err, EBB_ECONFIG, "storage.s3.region %.60s: is no region", region);
    s3->region = strdup(region);
    return s3->region ? 0 : ebb_err_nomem(err);
}

static int connect_to(struct ebb_s3 *s3, const struct ebb_s3_config *config, const struct ebb_log *log,
                      const atomic_bool *cancelled, struct ebb_err *err)
{
    struct ebb_http_client_options http = {
        .per_host = s3->requests_max, .ca_file = config->ca_file, .proxy = config->proxy};
    int rc;

    if (log)
        http.log = s3->log = *log;
    rc = ebb_http_sync_new(&http, cancelled, &s3->sync, err);
    if (!rc && !s3->has_lender)
        rc = ebb_aws_credentials_new(&config->aws, s3->sync, s3->clock, &s3->credentials, err);
    if (!rc)
        rc = set_region(s3, config, err);
    if (rc)
        return rc;
    return s3->endpoint[0] ? split_endpoint(s3, err) : set_aws_endpoint(s3, err);
}

int ebb_s3_new(const struct ebb_s3_config *config, const struct ebb_s3_lender *lender, struct ebb_clock clock,
               const struct ebb_log *log, const atomic_bool *cancelled, struct ebb_s3 **out, struct ebb_err *err)
{
    struct ebb_s3 *s3 = calloc(1, sizeof *s3);
    int rc;

    *out = NULL;
    if (!s3)
        return ebb_err_nomem(err);
    s3->end = &s3->first;
    s3->ahead_ms = INT64_MIN;
    s3->clock = clock;
    s3->requests_max = config->requests ? config->requests : REQUESTS;
    if (s3->requests_max > REQUESTS_MAX)
        s3->requests_max = REQUESTS_MAX;
    s3->limit = s3->requests_max;
    s3->copy_part_bytes = config->copy_part_bytes ? config->copy_part_bytes : COPY_PART_BYTES;
    s3->path_style = config->path_style;
    s3->seed = (uint64_t)(uintptr_t)s3 ^ (uint64_t)ebb_clock_elapsed_ms();
    if (lender) {
        s3->lender = *lender;
        s3->has_lender = true;
    }
    s3->endpoint = strdup(endpoint_of(config));
    rc = s3->endpoint ? connect_to(s3, config, log, cancelled, err) : ebb_err_nomem(err);
    if (rc)
        ebb_s3_free(s3);
    else
        *out = s3;
    return rc;
}

void ebb_s3_free(struct ebb_s3 *s3)
{
    if (!s3)
        return;
    ebb__s3_drop(s3);
    ebb_aws_credentials_free(s3->credentials);
    ebb_http_sync_free(s3->sync);
    free(s3->endpoint);
    free(s3->scheme);
    free(s3->host);
    free(s3->base);
    free(s3->region);
    free(s3->bucket);
    free(s3);
}

int64_t ebb_s3_ahead_ms(const struct ebb_s3 *s3)
{
    return s3->ahead_ms;
}

void ebb_s3_set_deaf(struct ebb_s3 *s3, bool is_deaf)
{
    ebb_http_sync_set_deaf(s3->sync, is_deaf);
}

int64_t ebb_s3_now_ms(const struct ebb_s3 *s3)
{
    return ebb_clock_now(&s3->clock);
}
