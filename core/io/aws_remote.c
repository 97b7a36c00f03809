/* SPDX-License-Identifier: Apache-2.0
 *
 * Temporary keys from where a program runs: an identity token for STS, the container's endpoint, the instance's.
 */
#include <stdlib.h>

#include "base/time.h"
#include "format/json.h"
#include "io/aws_credentials_priv.h"
#include "io/file.h"
#include "io/xml_priv.h"

#define ANSWER_MAX ((size_t)256 * 1024)
#define TOKEN_MAX ((size_t)64 * 1024)
#define NEAR_MS 2000 /* an endpoint of this machine answers at once, or not at all */
#define FAR_MS 20000
#define IMDS "http://169.254.169.254"
#define CONTAINER "http://169.254.170.2"

/* Keys as an endpoint gives them. */
struct given {
    struct ebb_buf id, secret, token, expires;
};

static void given_init(struct given *g)
{
    ebb_buf_init(&g->id, TOKEN_MAX);
    ebb_buf_init(&g->secret, TOKEN_MAX);
    ebb_buf_init(&g->token, TOKEN_MAX);
    ebb_buf_init(&g->expires, TOKEN_MAX);
}

static void given_fini(struct given *g)
{
    ebb_buf_fini(&g->id);
    ebb_buf_fini(&g->secret);
    ebb_buf_fini(&g->token);
    ebb_buf_fini(&g->expires);
}

static int keep(struct ebb_aws_credentials *c, const struct given *g, const char *source, struct ebb_err *err)
{
    int64_t expires_ms = 0;

    if (!g->id.len || !g->secret.len || g->id.bad || g->secret.bad || g->token.bad)
        return ebb_err_set(err, EBB_ECONFIG, "AWS keys from %s: the answer holds none", source);
    if (g->expires.len && ebb_time_parse(g->expires.data, NULL, &expires_ms, NULL))
        return ebb_err_set(err, EBB_ECONFIG, "AWS keys from %s: the answer does not tell when they expire", source);
    return ebb__aws_keys_set(c, g->id.data, g->secret.data, g->token.len ? g->token.data : NULL, expires_ms, source,
                             err);
}

static struct ebb_buf *member_of(struct given *g, const struct ebb_json *j)
{
    if (ebb_json_is_text(j, "AccessKeyId"))
        return &g->id;
    if (ebb_json_is_text(j, "SecretAccessKey"))
        return &g->secret;
    if (ebb_json_is_text(j, "Token") || ebb_json_is_text(j, "SessionToken"))
        return &g->token;
    return ebb_json_is_text(j, "Expiration") ? &g->expires : NULL;
}

/* {"AccessKeyId","SecretAccessKey","Token","Expiration",…} */
static int read_json(struct given *g, struct ebb_str bytes, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "AWS keys", bytes.p, bytes.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "keys", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY) {
        struct ebb_buf *to = member_of(g, &j);

        if (!to) {
            rc = ebb_json_skip(&j, err);
            continue;
        }
        rc = ebb_json_next(&j, err);
        if (!rc && j.kind == EBB_JSON_STRING) {
            ebb_buf_reset(to);
            ebb_buf_add_str(to, j.text);
            ebb_buf_cstr(to);
        } else if (!rc) {
            rc = ebb_json_skip(&j, err);
        }
    }
    ebb_json_fini(&j);
    return rc;
}

/* One answer of 200; a header may be added. is_missing: nobody is there, or says 404. */
static int fetch(struct ebb_aws_credentials *c, const char *method, const char *url, char *header, unsigned ms,
                 struct ebb_str body, struct ebb_http_fetched *out, struct ebb_err *err)
{
    char *items[] = {header};
    const struct ebb_strs headers = {items, header ? 1 : 0, 1};
    const struct ebb_http_call call = {.method = method,
                                       .url = url,
                                       .headers = &headers,
                                       .body = body,
                                       .answer_bytes = ANSWER_MAX,
                                       .deadline_ms = 2 * ms,
                                       .try_ms = ms,
                                       .tries = 2,
                                       .can_repeat = true};
    int rc = ebb_http_sync_call(c->sync, &call, out, err);

    if (!rc && out->status != 200)
        rc = ebb_err_set(err, EBB_EIO, "AWS keys: the endpoint answered %d", out->status);
    return rc;
}

static int keep_json(struct ebb_aws_credentials *c, const struct ebb_http_fetched *got, const char *source,
                     struct ebb_err *err)
{
    struct given g;
    int rc;

    given_init(&g);
    rc = read_json(&g, ebb_buf_str(&got->body), err);
    if (!rc)
        rc = keep(c, &g, source, err);
    given_fini(&g);
    return rc;
}

/* A source that is there but broken is named. */
static int broken(int rc, const char *source, struct ebb_err *err)
{
    if (!rc || rc == -EBB_ECANCELLED || rc == -EBB_ENOMEM || rc == -EBB_ECONFIG)
        return rc;
    return ebb_err_as(err, EBB_ECONFIG, source);
}

/* ---- web identity ---- */

static int on_sts(void *data, size_t depth, const char *name, struct ebb_str text, struct ebb_err *err)
{
    struct given *g = data;
    struct ebb_buf *to = !strcmp(name, "AccessKeyId")       ? &g->id
                         : !strcmp(name, "SecretAccessKey") ? &g->secret
                         : !strcmp(name, "SessionToken")    ? &g->token
                         : !strcmp(name, "Expiration")      ? &g->expires
                                                            : NULL;

    (void)depth, (void)err;
    if (to) {
        ebb_buf_reset(to);
        ebb_buf_add_str(to, text);
        ebb_buf_cstr(to);
    }
    return 0;
}

static int write_sts(const struct ebb_buf *token, struct ebb_buf *out, struct ebb_err *err)
{
    const char *role = ebb__aws_env("AWS_ROLE_ARN"), *session = ebb__aws_env("AWS_ROLE_SESSION_NAME");
    struct ebb_str text = ebb_buf_str(token);

    while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
        text.n--;
    ebb_buf_puts(out, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=");
    ebb_http_encode(out, ebb_str_of(role), false);
    ebb_buf_puts(out, "&RoleSessionName=");
    ebb_http_encode(out, ebb_str_of(session ? session : "ebb"), false);
    ebb_buf_puts(out, "&WebIdentityToken=");
    ebb_http_encode(out, text, false);
    return ebb_buf_check(out, "web identity", err);
}

static int assume(struct ebb_aws_credentials *c, struct ebb_str body, struct ebb_err *err)
{
    static const struct ebb__xml_ops OPS = {NULL, on_sts};
    char type[] = "Content-Type: application/x-www-form-urlencoded";
    const char *region = ebb_aws_credentials_region(c);
    struct ebb_http_fetched got;
    struct ebb_buf url;
    struct given g;
    int rc;

    given_init(&g);
    ebb_buf_init(&url, 4096);
    if (c->sts_endpoint)
        ebb_buf_printf(&url, "%s/", c->sts_endpoint);
    else if (region)
        ebb_buf_printf(&url, "https://sts.%s.amazonaws.com/", region);
    else
        ebb_buf_puts(&url, "https://sts.amazonaws.com/");
    rc = fetch(c, "POST", ebb_buf_cstr(&url), type, FAR_MS, body, &got, err);
    if (!rc)
        rc = ebb__xml_parse("answer of STS", ebb_buf_str(&got.body), &OPS, &g, err);
    ebb_http_fetched_fini(&got);
    if (!rc)
        rc = keep(c, &g, "web identity", err);
    else
        rc = ebb_err_as(err, rc == -EBB_ECANCELLED ? EBB_ECANCELLED : EBB_ECONFIG, "web identity");
    ebb_buf_fini(&url);
    given_fini(&g);
    return rc;
}

int ebb__aws_from_token(struct ebb_aws_credentials *c, bool *found, struct ebb_err *err)
{
    const char *file = ebb__aws_env("AWS_WEB_IDENTITY_TOKEN_FILE");
    struct ebb_buf token, body;
    int rc;

    *found = file != NULL;
    if (!file)
        return 0;
    if (!ebb__aws_env("AWS_ROLE_ARN"))
        return ebb_err_set(err, EBB_ECONFIG, "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
    ebb_buf_init(&token, TOKEN_MAX);
    ebb_buf_init(&body, 8 * TOKEN_MAX);
    rc = ebb_file_read(file, &token, err);
    if (rc)
        rc = ebb_err_as(err, EBB_ECONFIG, "AWS_WEB_IDENTITY_TOKEN_FILE");
    if (!rc)
        rc = write_sts(&token, &body, err);
    if (!rc)
        rc = assume(c, ebb_buf_str(&body), err);
    ebb_buf_fini(&body);
    ebb_buf_fini(&token);
    return rc;
}

/* ---- container ---- */

/* Only https, or addresses of this machine and of the container's host: else a token would go anywhere. */
static bool is_container_url(const char *url)
{
    static const char *const HOSTS[] = {"http://127.0.0.1", "http://localhost",      "http://[::1]",
                                        CONTAINER,          "http://169.254.170.23", "http://[fd00:ec2::23]"};

    if (!strncmp(url, "https://", 8))
        return true;
    for (size_t i = 0; i < sizeof HOSTS / sizeof HOSTS[0]; i++)
        if (!strncmp(url, HOSTS[i], strlen(HOSTS[i])) && strchr("/:", url[strlen(HOSTS[i])]) && url[strlen(HOSTS[i])] &&
            !strchr(url, '@'))
            return true;
    return false;
}

static int container_header(struct ebb_buf *header, struct ebb_err *err)
{
    const char *file = ebb__aws_env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    const char *token = ebb__aws_env("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    struct ebb_buf text;
    int rc = 0;

    if (!file && !token)
        return 0;
    ebb_buf_init(&text, TOKEN_MAX);
    if (file)
        rc = ebb_file_read(file, &text, err);
    else
        ebb_buf_puts(&text, token);
    while (text.len && strchr("\r\n", text.data[text.len - 1]))
        text.len--;
    ebb_buf_puts(header, "Authorization: ");
    ebb_buf_add_str(header, ebb_buf_str(&text));
    ebb_buf_fini(&text);
    return rc ? ebb_err_as(err, EBB_ECONFIG, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
              : ebb_buf_check(header, "token", err);
}

int ebb__aws_from_container(struct ebb_aws_credentials *c, bool *found, struct ebb_err *err)
{
    const char *full = ebb__aws_env("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    const char *relative = ebb__aws_env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    struct ebb_http_fetched got;
    struct ebb_buf url, header;
    int rc;

    *found = full || relative;
    if (!*found)
        return 0;
    ebb_buf_init(&url, 8192);
    ebb_buf_init(&header, 2 * TOKEN_MAX);
    if (relative)
        ebb_buf_printf(&url, CONTAINER "%s", relative);
    else
        ebb_buf_puts(&url, full);
    rc = ebb_buf_check(&url, "AWS_CONTAINER_CREDENTIALS_FULL_URI", err);
    if (!rc && !is_container_url(url.data))
        rc = ebb_err_set(err, EBB_ECONFIG,
                         "AWS_CONTAINER_CREDENTIALS_FULL_URI: neither https nor an address of this "
                         "machine");
    if (!rc)
        rc = container_header(&header, err);
    if (!rc) {
        rc = fetch(c, "GET", url.data, header.len ? header.data : NULL, NEAR_MS, (struct ebb_str){"", 0}, &got, err);
        if (!rc)
            rc = keep_json(c, &got, "the container", err);
        rc = broken(rc, "keys of the container", err);
        ebb_http_fetched_fini(&got);
    }
    ebb_buf_fini(&header);
    ebb_buf_fini(&url);
    return rc;
}

/* ---- instance (IMDSv2) ---- */

static int imds(struct ebb_aws_credentials *c, const char *method, const char *path, char *header,
                struct ebb_http_fetched *out, struct ebb_err *err)
{
    struct ebb_buf url;
    int rc;

    ebb_buf_init(&url, 8192);
    ebb_buf_printf(&url, "%s%s", c->imds_endpoint ? c->imds_endpoint : IMDS, path);
    rc = ebb_buf_check(&url, "address of the instance's endpoint", err);
    memset(out, 0, sizeof *out);
    if (!rc)
        rc = fetch(c, method, url.data, header, NEAR_MS, (struct ebb_str){"", 0}, out, err);
    ebb_buf_fini(&url);
    return rc;
}

static int read_role(struct ebb_aws_credentials *c, char *header, struct ebb_buf *path, bool *found,
                     struct ebb_err *err)
{
    struct ebb_http_fetched got;
    int rc = imds(c, "GET", "/latest/meta-data/iam/security-credentials/", header, &got, err);
    size_t n = got.body.len ? strcspn(ebb_buf_cstr(&got.body), "\r\n") : 0;

    *found = !rc && n > 0;
    ebb_buf_puts(path, "/latest/meta-data/iam/security-credentials/");
    if (*found)
        ebb_http_encode(path, (struct ebb_str){got.body.data, n}, false);
    if (got.status == 404) /* an instance without a role */
        rc = 0;
    ebb_http_fetched_fini(&got);
    return rc ? rc : ebb_buf_check(path, "role", err);
}

int ebb__aws_from_instance(struct ebb_aws_credentials *c, bool *found, struct ebb_err *err)
{
    char ttl[] = "X-aws-ec2-metadata-token-ttl-seconds: 21600";
    struct ebb_http_fetched token, got;
    struct ebb_buf header, path;
    int rc;

    *found = false;
    if (c->without_imds)
        return 0;
    rc = imds(c, "PUT", "/latest/api/token", ttl, &token, err);
    ebb_buf_init(&header, 2 * TOKEN_MAX);
    ebb_buf_init(&path, 8192);
    if (rc) { /* no instance */
        rc = rc == -EBB_ECANCELLED || rc == -EBB_ENOMEM ? rc : 0;
        goto out;
    }
    ebb_buf_puts(&header, "X-aws-ec2-metadata-token: ");
    ebb_buf_add_str(&header, ebb_buf_str(&token.body));
    rc = ebb_buf_check(&header, "token", err);
    if (!rc)
        rc = read_role(c, header.data, &path, found, err);
    if (!rc && *found) {
        rc = imds(c, "GET", path.data, header.data, &got, err);
        if (!rc)
            rc = keep_json(c, &got, "the instance", err);
        ebb_http_fetched_fini(&got);
    }
    rc = broken(rc, "keys of the instance", err);
out:
    ebb_http_fetched_fini(&token);
    ebb_buf_fini(&path);
    ebb_buf_fini(&header);
    return rc;
}
