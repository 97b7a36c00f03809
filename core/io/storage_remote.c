/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "io/storage_priv.h"

#define CONFIG_TEXTS 9

/* A configuration with texts of its own. */
struct config {
    struct ebb_s3_config s3;
    char *texts[CONFIG_TEXTS];
};

/* Keys lent for a prefix. */
struct lend {
    char *prefix; /* without a slash at its end */
    struct config config;
    struct ebb_s3_lender lender;
    struct ebb_s3 *client; /* NULL: not used yet */
};

struct ebb__storage_remote {
    unsigned holders;
    struct config config;
    struct ebb_clock clock;
    struct ebb_log log;
    const atomic_bool *cancelled;
    bool is_deaf;
    struct ebb_s3 *own; /* NULL: not used yet */
    struct ebb__storage_ahead *ahead;
    struct lend **lends;
    size_t lend_count;
};

static int config_copy(struct config *to, const struct ebb_s3_config *from, struct ebb_err *err)
{
    static const struct ebb_s3_config NONE = {.path_style = -1};

    to->s3 = from ? *from : NONE;
    const char **fields[CONFIG_TEXTS] = {&to->s3.endpoint,
                                         &to->s3.ca_file,
                                         &to->s3.proxy,
                                         &to->s3.aws.access_key_id,
                                         &to->s3.aws.secret_access_key,
                                         &to->s3.aws.session_token,
                                         &to->s3.aws.profile,
                                         &to->s3.aws.region,
                                         &to->s3.aws.sts_endpoint};

    for (size_t i = 0; i < CONFIG_TEXTS; i++) {
        to->texts[i] = *fields[i] ? strdup(*fields[i]) : NULL;
        if (*fields[i] && !to->texts[i])
            return ebb_err_nomem(err);
        *fields[i] = to->texts[i];
    }
    return 0;
}

static void config_fini(struct config *config)
{
    for (size_t i = 0; i < CONFIG_TEXTS; i++)
        free(config->texts[i]);
}

int ebb__storage_remote_new(const struct ebb_storage_options *options, struct ebb__storage_remote **out,
                            struct ebb_err *err)
{
    struct ebb__storage_remote *r = calloc(1, sizeof *r);
    int rc;

    *out = NULL;
    if (!r)
        return ebb_err_nomem(err);
    r->holders = 1;
    r->clock = options->clock.now_ms ? options->clock : ebb_clock_system();
    r->log = options->log;
    r->cancelled = options->cancelled;
    rc = config_copy(&r->config, options->s3, err);
    if (!rc)
        rc = ebb__storage_ahead_new(&r->ahead, err);
    if (rc)
        ebb__storage_remote_free(r);
    else
        *out = r;
    return rc;
}

struct ebb__storage_remote *ebb__storage_remote_share(struct ebb__storage_remote *remote)
{
    remote->holders++;
    return remote;
}

struct ebb__storage_ahead *ebb__storage_ahead_of(struct ebb__storage_remote *remote)
{
    return remote->ahead;
}

static void lend_free(struct lend *lend)
{
    ebb_s3_free(lend->client);
    config_fini(&lend->config);
    free(lend->prefix);
    free(lend);
}

void ebb__storage_remote_free(struct ebb__storage_remote *remote)
{
    if (!remote || --remote->holders)
        return;
    ebb_s3_free(remote->own);
    for (size_t i = 0; i < remote->lend_count; i++)
        lend_free(remote->lends[i]);
    free(remote->lends);
    ebb__storage_ahead_free(remote->ahead);
    config_fini(&remote->config);
    free(remote);
}

int ebb__storage_split(const char *target, char *bucket, size_t size, struct ebb_str *key, struct ebb_err *err)
{
    const char *at = target + 5; /* "s3://" */
    size_t n = strcspn(at, "/");

    if (strncmp(target, "s3://", 5) != 0 || !n || n >= size)
        return ebb_err_set(err, EBB_ELOCATION, "location '%.300s': names no bucket", target);
    memcpy(bucket, at, n);
    bucket[n] = '\0';
    *key = ebb_str_of(at[n] ? at + n + 1 : "");
    return 0;
}

static bool is_below(const char *prefix, const char *target)
{
    size_t n = strlen(prefix);

    return !strncmp(prefix, target, n) && (target[n] == '/' || !target[n]);
}

static struct lend *find_lend(const struct ebb__storage_remote *remote, const char *target)
{
    struct lend *best = NULL;

    for (size_t i = 0; i < remote->lend_count; i++) {
        struct lend *l = remote->lends[i];

        if (is_below(l->prefix, target) && (!best || strlen(l->prefix) > strlen(best->prefix)))
            best = l;
    }
    return best;
}

int ebb__storage_client(struct ebb__storage_remote *remote, const char *target, struct ebb_s3 **out,
                        struct ebb_err *err)
{
    struct lend *lend = find_lend(remote, target);
    struct ebb_s3 **client = lend ? &lend->client : &remote->own;
    int rc = 0;

    if (!*client)
        rc = ebb_s3_new(lend ? &lend->config.s3 : &remote->config.s3, lend ? &lend->lender : NULL, remote->clock,
                        &remote->log, remote->cancelled, client, err);
    *out = *client;
    if (!rc)
        ebb_s3_set_deaf(*client, remote->is_deaf);
    return rc;
}

void ebb__storage_remote_set_deaf(struct ebb__storage_remote *remote, bool is_deaf)
{
    remote->is_deaf = is_deaf;
    if (remote->own)
        ebb_s3_set_deaf(remote->own, is_deaf);
    for (size_t i = 0; i < remote->lend_count; i++)
        if (remote->lends[i]->client)
            ebb_s3_set_deaf(remote->lends[i]->client, is_deaf);
}

/* s3a: and s3n: are other names of s3:. */
static int normal_prefix(const char *prefix, char **out, struct ebb_err *err)
{
    const char *rest = strstr(prefix, "://");
    struct ebb_buf text;
    size_t n;

    if (!rest || strncmp(prefix, "s3", 2) != 0)
        return ebb_err_set(err, EBB_ELOCATION, "location '%.300s': keys are lent for s3: only", prefix);
    rest += 3;
    for (n = strlen(rest); n > 0 && rest[n - 1] == '/'; n--)
        ;
    ebb_buf_init(&text, EBB__STORAGE_PATH_MAX);
    ebb_buf_puts(&text, "s3://");
    ebb_buf_append(&text, rest, n);
    *out = ebb_buf_take(&text);
    ebb_buf_fini(&text);
    return *out ? 0 : ebb_err_nomem(err);
}

/* Is it lent already in the same way? Its client, and who holds it, stay then. */
static bool is_same_lend(const struct lend *a, const struct lend *b)
{
    for (size_t i = 0; i < CONFIG_TEXTS; i++) {
        const char *x = a->config.texts[i], *y = b->config.texts[i];

        if ((x || y) && (!x || !y || strcmp(x, y) != 0))
            return false;
    }
    return a->config.s3.path_style == b->config.s3.path_style;
}

static int add_lend(struct ebb__storage_remote *remote, struct lend *lend, struct ebb_err *err)
{
    struct lend **more;

    for (size_t i = 0; i < remote->lend_count; i++) {
        struct lend *old = remote->lends[i];

        if (strcmp(old->prefix, lend->prefix) != 0)
            continue;
        if (old->lender.data == lend->lender.data && is_same_lend(old, lend)) {
            lend_free(lend);
            return 0;
        }
        old->prefix[0] = '\x01'; /* of nothing any more; places may be open with its client: it goes with the storage */
    }
    more = realloc(remote->lends, (remote->lend_count + 1) * sizeof(struct lend *));
    if (!more) {
        lend_free(lend);
        return ebb_err_nomem(err);
    }
    remote->lends = more;
    remote->lends[remote->lend_count++] = lend;
    return 0;
}

/* What a catalog does not say of where its keys hold is as configured. */
static struct ebb_s3_config filled(const struct ebb_s3_config *lent, const struct ebb_s3_config *own)
{
    struct ebb_s3_config c = *lent;

    if (!c.endpoint && c.path_style < 0)
        c.path_style = own->path_style;
    if (!c.endpoint)
        c.endpoint = own->endpoint;
    if (!c.aws.region)
        c.aws.region = own->aws.region;
    if (!c.ca_file)
        c.ca_file = own->ca_file;
    if (!c.proxy)
        c.proxy = own->proxy;
    if (!c.requests)
        c.requests = own->requests;
    return c;
}

int ebb_storage_lend(struct ebb_storage *storage, const char *prefix, const struct ebb_s3_config *config,
                     const struct ebb_s3_lender *lender, struct ebb_err *err)
{
    struct ebb_s3_config whole;
    struct lend *lend;
    int rc;

    if (!storage->remote)
        return ebb_err_set(err, EBB_ESCHEME, "location '%.300s': object stores are not reachable from here", prefix);
    lend = calloc(1, sizeof *lend);
    if (!lend)
        return ebb_err_nomem(err);
    lend->lender = *lender;
    whole = filled(config, &storage->remote->config.s3);
    rc = config_copy(&lend->config, &whole, err);
    if (!rc)
        rc = normal_prefix(prefix, &lend->prefix, err);
    if (rc) {
        lend_free(lend);
        return rc;
    }
    return add_lend(storage->remote, lend, err);
}
