/* SPDX-License-Identifier: Apache-2.0
 *
 * Where notices go. URLs are secrets often enough: only the host is for the log.
 */
#include "service/notify_priv.h"

#define OPENSSL_API_COMPAT 10101
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

void ebb__notify_hash(const char *const *texts, size_t count, char out[EBB__NOTIFY_HASH])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char sum[SHA256_DIGEST_LENGTH];
    SHA256_CTX sha;

    SHA256_Init(&sha);
    for (size_t i = 0; i < count; i++)
        SHA256_Update(&sha, texts[i], strlen(texts[i]) + 1);
    SHA256_Final(sum, &sha);
    for (size_t i = 0; i < (EBB__NOTIFY_HASH - 1) / 2; i++) {
        out[2 * i] = digits[sum[i] >> 4];
        out[2 * i + 1] = digits[sum[i] & 15];
    }
    out[EBB__NOTIFY_HASH - 1] = '\0';
}

void ebb__notify_target_unref(struct ebb__notify_target *target)
{
    if (!target || --target->refs)
        return;
    free(target->url);
    ebb_strs_fini(&target->command);
    ebb_strs_fini(&target->headers);
    ebb_strs_fini(&target->on);
    ebb_strs_fini(&target->secrets);
    free(target);
}

void ebb__notify_targets_unref(struct ebb__notify_target *targets)
{
    while (targets) {
        struct ebb__notify_target *next = targets->next;

        targets->next = NULL;
        ebb__notify_target_unref(targets);
        targets = next;
    }
}

bool ebb__notify_target_wants(const struct ebb__notify_target *target, const char *kind)
{
    return !target->on.count || ebb_strs_has(&target->on, kind);
}

static int copy_texts(struct ebb_strs *to, const struct ebb_strs *from, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < from->count; i++)
        rc = ebb_strs_add(to, from->items[i], err);
    return rc;
}

/* The host of a URL: what stands between "//", user information, and the path. */
static void name_host(const char *url, char *out, size_t size)
{
    const char *host = strstr(url, "//");
    size_t n;

    host = host ? host + 2 : url;
    n = strcspn(host, "/?#");
    for (size_t i = n; i-- > 0;)
        if (host[i] == '@') {
            host += i + 1;
            n -= i + 1;
            break;
        }
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), host);
}

static void name_target(struct ebb__notify_target *t)
{
    if (t->url) {
        const char *texts[] = {"url", t->url};

        ebb__notify_hash(texts, 2, t->id);
        name_host(t->url, t->label, sizeof t->label);
    } else {
        const char *slash = strrchr(t->command.items[0], '/');

        ebb__notify_hash((const char *const *)t->command.items, t->command.count, t->id);
        snprintf(t->label, sizeof t->label, "%s", slash ? slash + 1 : t->command.items[0]);
    }
}

static int target_new(const struct ebb_notify_config *c, const struct ebb_strs *secrets,
                      struct ebb__notify_target **out, struct ebb_err *err)
{
    struct ebb__notify_target *t = calloc(1, sizeof *t);
    int rc;

    *out = t;
    if (!t)
        return ebb_err_nomem(err);
    t->refs = 1;
    if (!c->url && !c->command.count)
        return ebb_err_set(err, EBB_ECONFIG, "serve.notify: neither url nor command");
    if (c->url && !(t->url = strdup(c->url)))
        return ebb_err_nomem(err);
    rc = copy_texts(&t->command, &c->command, err);
    if (!rc)
        rc = copy_texts(&t->headers, &c->headers, err);
    if (!rc)
        rc = copy_texts(&t->on, &c->on, err);
    if (!rc && !c->url)
        rc = copy_texts(&t->secrets, secrets, err);
    if (!rc)
        name_target(t);
    return rc;
}

int ebb__notify_targets(const struct ebb_config *config, struct ebb__notify_target **out, struct ebb_err *err)
{
    struct ebb__notify_target *all = NULL, **end = &all;
    int rc = 0;

    for (size_t i = 0; !rc && i < config->serve.notify_count; i++) {
        rc = target_new(&config->serve.notify[i], &config->secrets, end, err);
        if (*end)
            end = &(*end)->next;
    }
    if (rc)
        ebb__notify_targets_unref(all);
    else
        *out = all;
    return rc;
}
