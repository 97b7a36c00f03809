/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage keys that a catalog gives for its tables, lent to the storage and fetched anew before they expire. They are
 * lent for what lies below the table only, however short the prefix that came with them: a catalog must not decide
 * where other tables' files are read.
 */
#include <stdlib.h>

#include "io/catalog_rest_priv.h"

struct ebb__rest_lent {
    struct ebb__rest_lent *next;
    struct ebb__rest_catalog *catalog;
    char *path, *what; /* of the table */
    char *prefix;      /* lent for */
    char *given;       /* prefix as the catalog gave it; "" its configuration */
    struct ebb__rest_keys keys;
    int64_t got_at_ms;
};

static void lent_free(struct ebb__rest_lent *l)
{
    ebb__rest_keys_fini(&l->keys);
    free(l->path);
    free(l->what);
    free(l->prefix);
    free(l->given);
    free(l);
}

void ebb__rest_lent_fini(struct ebb__rest_catalog *c)
{
    while (c->lent) {
        struct ebb__rest_lent *l = c->lent;

        c->lent = l->next;
        lent_free(l);
    }
}

/* ---- keys ---- */

static bool has_keys(const struct ebb__rest_keys *k)
{
    return k->id && k->id[0] && k->secret && k->secret[0];
}

static int dup_into(const char *from, char **to, struct ebb_err *err)
{
    char *copy = from ? strdup(from) : NULL;

    if (from && !copy)
        return ebb_err_nomem(err);
    free(*to);
    *to = copy;
    return 0;
}

static int copy_keys(struct ebb__rest_lent *l, const struct ebb__rest_keys *k, struct ebb_err *err)
{
    const struct {
        const char *from;
        char **to;
    } texts[] = {{k->id, &l->keys.id},
                 {k->secret, &l->keys.secret},
                 {k->session, &l->keys.session},
                 {k->region, &l->keys.region},
                 {k->endpoint, &l->keys.endpoint}};
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof texts / sizeof texts[0]; i++)
        rc = dup_into(texts[i].from, texts[i].to, err);
    l->keys.path_style = k->path_style;
    l->keys.expires_at_ms = k->expires_at_ms;
    l->got_at_ms = ebb_clock_now(&l->catalog->rest->clock);
    return rc;
}

/* When most of their time is over. */
static bool is_due(const struct ebb__rest_lent *l)
{
    int64_t now = ebb_clock_now(&l->catalog->rest->clock);

    if (l->keys.expires_at_ms == INT64_MAX)
        return false;
    return l->keys.expires_at_ms <= l->got_at_ms ||
           now - l->got_at_ms >= (l->keys.expires_at_ms - l->got_at_ms) / 5 * 4;
}

/* ---- fetching anew ---- */

struct fetching {
    const struct ebb__rest_lent *lent;
    bool is_whole;
    struct ebb__rest_table got;
};

static int on_keys(void *data, const struct ebb_http_result *answer, struct ebb_err *err)
{
    struct fetching *f = data;
    int rc;

    ebb__rest_table_fini(&f->got);
    rc = f->is_whole ? ebb__rest_parse_table(f->lent->what, answer->body, &f->got, err)
                     : ebb__rest_parse_credentials(f->lent->what, answer->body, &f->got, err);
    return rc && rc != -(int)EBB_ENOMEM ? ebb_err_as(err, EBB_ECATALOG, f->lent->catalog->rest->name) : rc;
}

static const struct ebb__rest_keys *find_keys(const struct ebb__rest_table *t, const char *given)
{
    for (size_t i = 0; i < t->key_count; i++)
        if (!strcmp(t->keys[i].prefix ? t->keys[i].prefix : "", given) && has_keys(&t->keys[i]))
            return &t->keys[i];
    return NULL;
}

static int fetch(struct ebb__rest_lent *l, bool is_whole, struct ebb_err *err)
{
    struct ebb__rest *rest = l->catalog->rest;
    const struct ebb__rest_table *kept = ebb__rest_kept_find(l->catalog, l->path);
    struct fetching f = {.lent = l, .is_whole = is_whole};
    const struct ebb__rest_keys *keys;
    struct ebb__rest_ask ask;
    int rc;

    ebb__rest_ask_init(&ask, l->what);
    ebb_buf_printf(&ask.path, is_whole ? "%s?snapshots=all" : "%s/credentials", l->path);
    ask.wants_vended = true;
    ask.answer_bytes = is_whole ? EBB__REST_LARGE : 0;
    ask.token = is_whole || !kept ? NULL : kept->token;
    ask.take = on_keys;
    ask.data = &f;
    rc = ebb__rest_ask_one(rest, &ask, err);
    keys = rc ? NULL : find_keys(&f.got, l->given);
    if (keys)
        rc = copy_keys(l, keys, err);
    else if (!rc)
        rc = ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: gives no storage keys any more", rest->name, l->what);
    ebb__rest_table_fini(&f.got);
    ebb__rest_ask_fini(&ask);
    return rc;
}

static int lend_keys(void *data, bool are_expired, struct ebb_aws_keys *out, struct ebb_err *err)
{
    struct ebb__rest_lent *l = data;
    bool is_whole = !l->catalog->rest->has_credentials_route || !l->given[0];
    int rc = 0;

    if (are_expired || is_due(l)) {
        rc = fetch(l, is_whole, err);
        if (!rc)
            ebb_log_say(&l->catalog->rest->log, EBB_LOG_DEBUG, "catalog %s: %s: new storage keys",
                        l->catalog->rest->name, l->what);
    }
    if (rc)
        return rc;
    memset(out, 0, sizeof *out);
    out->access_key_id = l->keys.id;
    out->secret_access_key = l->keys.secret;
    out->session_token = l->keys.session ? l->keys.session : "";
    return 0;
}

/* ---- lending ---- */

static bool is_s3(const char *uri)
{
    return !strncmp(uri, "s3://", 5) || !strncmp(uri, "s3a://", 6) || !strncmp(uri, "s3n://", 6);
}

/* What is behind the scheme. */
static const char *bucket_of(const char *uri)
{
    return strstr(uri, "://") + 3;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(bucket_of(text), bucket_of(with), strlen(bucket_of(with)));
}

/* Where keys of this prefix hold, within what is the table's; NULL: nowhere. */
static const char *narrow(const char *given, const char *table)
{
    if (!given[0])
        return table;
    if (!is_s3(given))
        return NULL;
    return begins(given, table) ? given : begins(table, given) ? table : NULL;
}

static struct ebb__rest_lent *find_lent(const struct ebb__rest_catalog *c, const char *path, const char *prefix)
{
    struct ebb__rest_lent *l = c->lent;

    while (l && (strcmp(l->path, path) || strcmp(l->prefix, prefix)))
        l = l->next;
    return l;
}

static int lend_to_storage(struct ebb__rest_lent *l, struct ebb_err *err)
{
    const struct ebb_s3_config config = {
        .endpoint = l->keys.endpoint, .path_style = l->keys.path_style, .aws = {.region = l->keys.region}};
    const struct ebb_s3_lender lender = {lend_keys, l};

    return ebb_storage_lend(l->catalog->storage, l->prefix, &config, &lender, err);
}

static int lend_one(struct ebb__rest_catalog *c, const char *path, const char *what, const char *prefix,
                    const struct ebb__rest_keys *keys, struct ebb_err *err)
{
    struct ebb__rest_lent *l = find_lent(c, path, prefix);
    int rc;

    if (!l) {
        l = calloc(1, sizeof *l);
        if (!l)
            return ebb_err_nomem(err);
        l->catalog = c;
        l->path = strdup(path);
        l->what = strdup(what);
        l->prefix = strdup(prefix);
        l->given = strdup("");
        if (!l->path || !l->what || !l->prefix || !l->given) {
            lent_free(l);
            return ebb_err_nomem(err);
        }
        l->next = c->lent;
        c->lent = l;
    }
    rc = dup_into(keys->prefix ? keys->prefix : "", &l->given, err);
    if (!rc)
        rc = copy_keys(l, keys, err);
    return rc ? rc : lend_to_storage(l, err);
}

/* The longest prefix that holds there comes last, and replaces shorter ones that were narrowed to the same. */
static int lend_below(struct ebb__rest_catalog *c, const char *path, const char *what, const struct ebb__rest_table *t,
                      const char *below, struct ebb_err *err)
{
    const struct ebb__rest_keys *whole = NULL;
    int rc = 0;

    for (size_t i = 0; !rc && i < t->key_count; i++) {
        const struct ebb__rest_keys *k = &t->keys[i];
        const char *prefix = has_keys(k) ? narrow(k->prefix ? k->prefix : "", below) : NULL;

        if (prefix && prefix != below)
            rc = lend_one(c, path, what, prefix, k, err);
        else if (prefix && (!whole || strlen(k->prefix) >= strlen(whole->prefix)))
            whole = k;
    }
    return rc || !whole ? rc : lend_one(c, path, what, below, whole, err);
}

static int lend_folder(struct ebb__rest_catalog *c, const char *path, const char *what, const struct ebb__rest_table *t,
                       struct ebb_str folder, struct ebb_err *err)
{
    char *below;
    int rc;

    while (folder.n && folder.p[folder.n - 1] == '/')
        folder.n--;
    below = calloc(1, folder.n + 2);
    if (!below)
        return ebb_err_nomem(err);
    memcpy(below, folder.p, folder.n);
    below[folder.n] = '/';
    rc = lend_below(c, path, what, t, below, err);
    free(below);
    return rc;
}

static bool has_any(const struct ebb__rest_table *t)
{
    for (size_t i = 0; i < t->key_count; i++)
        if (has_keys(&t->keys[i]))
            return true;
    return false;
}

int ebb__rest_lend(struct ebb__rest_catalog *c, const char *path, const char *what, const struct ebb__rest_table *t,
                   struct ebb_err *err)
{
    const char *slash = t->metadata_uri ? strrchr(t->metadata_uri, '/') : NULL;
    int rc = 0;

    if (t->signs && !has_any(t)) {
        ebb_err_set(err, EBB_EUNSUPPORTED,
                    "catalog '%s': %s: it offers to sign requests (remote signing), and gives no storage keys",
                    c->rest->name, what);
        ebb_err_hint(err, "signed requests can't list: leave vended_credentials out, and set keys in storage.s3");
        return -(int)EBB_EUNSUPPORTED;
    }
    if (!c->storage || !t->location || !is_s3(t->location))
        return 0;
    rc = lend_folder(c, path, what, t, ebb_str_of(t->location), err);
    if (!rc && slash && is_s3(t->metadata_uri) && !begins(t->metadata_uri, t->location))
        rc = lend_folder(c, path, what, t, (struct ebb_str){t->metadata_uri, (size_t)(slash - t->metadata_uri)}, err);
    return rc;
}
