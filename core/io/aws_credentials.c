/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain: who is asked for keys, in which order, and when again.
 */
#include "io/aws_credentials_priv.h"

#include <stdlib.h>

static int copy(char **out, const char *text, struct ebb_err *err)
{
    *out = text && *text ? strdup(text) : NULL;
    return text && *text && !*out ? ebb_err_nomem(err) : 0;
}

static const char *env(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

const char *ebb__aws_env(const char *name)
{
    return env(name);
}

int ebb_aws_credentials_new(const struct ebb_aws_config *config, struct ebb_http_sync *sync, struct ebb_clock clock,
                            struct ebb_aws_credentials **out, struct ebb_err *err)
{
    struct ebb_aws_credentials *c = calloc(1, sizeof *c);
    const char *off = env("AWS_EC2_METADATA_DISABLED");
    int rc;

    *out = NULL;
    if (!c)
        return ebb_err_nomem(err);
    c->sync = sync;
    c->clock = clock;
    c->without_imds = config->without_imds || (off && !strcmp(off, "true"));
    rc = copy(&c->config_id, config->access_key_id, err);
    if (!rc)
        rc = copy(&c->config_secret, config->secret_access_key, err);
    if (!rc)
        rc = copy(&c->config_token, config->session_token, err);
    if (!rc)
        rc = copy(&c->profile, config->profile ? config->profile : env("AWS_PROFILE"), err);
    if (!rc)
        rc = copy(&c->region, config->region, err);
    if (!rc)
        rc = copy(&c->sts_endpoint, config->sts_endpoint ? config->sts_endpoint : env("AWS_ENDPOINT_URL_STS"), err);
    if (!rc)
        rc = copy(&c->imds_endpoint,
                  config->imds_endpoint ? config->imds_endpoint : env("AWS_EC2_METADATA_SERVICE_ENDPOINT"), err);
    if (rc)
        ebb_aws_credentials_free(c);
    else
        *out = c;
    return rc;
}

static void forget_keys(struct ebb_aws_credentials *c)
{
    char **texts[] = {&c->id, &c->secret, &c->token};

    for (size_t i = 0; i < 3; i++) {
        free(*texts[i]);
        *texts[i] = NULL;
    }
    c->expires_ms = 0;
}

void ebb_aws_credentials_free(struct ebb_aws_credentials *c)
{
    if (!c)
        return;
    forget_keys(c);
    free(c->config_id);
    free(c->config_secret);
    free(c->config_token);
    free(c->profile);
    free(c->region);
    free(c->sts_endpoint);
    free(c->imds_endpoint);
    free(c);
}

int ebb__aws_keys_set(struct ebb_aws_credentials *c, const char *id, const char *secret, const char *token,
                      int64_t expires_ms, const char *source, struct ebb_err *err)
{
    int rc;

    forget_keys(c);
    rc = copy(&c->id, id, err);
    if (!rc)
        rc = copy(&c->secret, secret, err);
    if (!rc)
        rc = copy(&c->token, token, err);
    c->expires_ms = expires_ms;
    snprintf(c->source, sizeof c->source, "%s", source);
    return rc;
}

static int half_given(const char *where, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ECONFIG, "%s: one of access key id and secret access key is missing", where);
}

static int from_config(struct ebb_aws_credentials *c, bool *found, struct ebb_err *err)
{
    *found = c->config_id || c->config_secret;
    if (!*found)
        return 0;
    if (!c->config_id || !c->config_secret)
        return half_given("storage.s3", err);
    return ebb__aws_keys_set(c, c->config_id, c->config_secret, c->config_token, 0, "configuration", err);
}

static int from_environment(struct ebb_aws_credentials *c, bool *found, struct ebb_err *err)
{
    const char *id = env("AWS_ACCESS_KEY_ID"), *secret = env("AWS_SECRET_ACCESS_KEY");

    *found = id || secret;
    if (!*found)
        return 0;
    if (!id || !secret)
        return half_given("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", err);
    return ebb__aws_keys_set(c, id, secret, env("AWS_SESSION_TOKEN"), 0, "environment", err);
}

typedef int source(struct ebb_aws_credentials *c, bool *found, struct ebb_err *err);

static int fetch(struct ebb_aws_credentials *c, struct ebb_err *err)
{
    static source *const SOURCES[] = {from_config,         from_environment,        ebb__aws_from_profile,
                                      ebb__aws_from_token, ebb__aws_from_container, ebb__aws_from_instance};
    bool found = false;
    int rc = 0;

    for (size_t i = 0; !rc && !found && i < sizeof SOURCES / sizeof SOURCES[0]; i++)
        rc = SOURCES[i](c, &found, err);
    if (rc || found)
        return rc;
    rc = ebb_err_set(err, EBB_ECONFIG, "AWS keys: none were found");
    ebb_err_hint(err, "set storage.s3.access_key_id and secret_access_key, AWS_ACCESS_KEY_ID and "
                      "AWS_SECRET_ACCESS_KEY, or a profile in ~/.aws/credentials");
    return rc;
}

int ebb_aws_credentials_get(struct ebb_aws_credentials *c, struct ebb_aws_keys *out, struct ebb_err *err)
{
    bool is_due = !c->id || (c->expires_ms && ebb_clock_now(&c->clock) + EBB_AWS_REFRESH_MS >= c->expires_ms);
    int rc = is_due ? fetch(c, err) : 0;

    if (rc) {
        forget_keys(c);
        return rc;
    }
    *out = (struct ebb_aws_keys){c->id, c->secret, c->token};
    return 0;
}

void ebb_aws_credentials_forget(struct ebb_aws_credentials *c)
{
    forget_keys(c);
}

const char *ebb_aws_credentials_region(struct ebb_aws_credentials *c)
{
    const char *region = c->region;

    if (!region)
        region = env("AWS_REGION");
    if (!region)
        region = env("AWS_DEFAULT_REGION");
    if (region)
        return region;
    return ebb__aws_profile_region(c, &c->region, NULL) ? NULL : c->region;
}

const char *ebb_aws_credentials_source(const struct ebb_aws_credentials *c)
{
    return c->source;
}
