/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <strings.h>

#include "io/rest_priv.h"

#define CONFIG_TRIES 3

static int dup_text(const char *text, char **out, struct ebb_err *err)
{
    free(*out);
    *out = text ? strdup(text) : NULL;
    return text && !*out ? ebb_err_nomem(err) : 0;
}

static int dup_uri(const char *uri, char **out, struct ebb_err *err)
{
    size_t n = strlen(uri);

    while (n && uri[n - 1] == '/')
        n--;
    free(*out);
    *out = strndup(uri, n);
    return *out ? 0 : ebb_err_nomem(err);
}

static int copy_config(struct ebb__rest *r, const struct ebb_catalog_config *c, struct ebb_err *err)
{
    const struct {
        const char *from;
        char **to;
    } texts[] = {{c->name, &r->name},       {c->warehouse, &r->warehouse},   {c->prefix, &r->given_prefix},
                 {c->token, &r->token},     {c->credential, &r->credential}, {c->oauth2_uri, &r->oauth_uri},
                 {c->ca_file, &r->ca_file}, {"%1F", &r->separator},          {"\x1f", &r->separator_bytes},
                 {c->scope, &r->scope}};
    int rc = dup_uri(c->uri, &r->given_uri, err);

    if (!rc)
        rc = dup_text(r->given_uri, &r->uri, err);
    for (size_t i = 0; !rc && i < sizeof texts / sizeof texts[0]; i++)
        rc = dup_text(texts[i].from, texts[i].to, err);
    for (size_t i = 0; !rc && c->headers && i < c->headers->count; i++)
        rc = ebb_strs_add(&r->headers, c->headers->items[i], err);
    return rc;
}

int ebb__rest_new(const struct ebb_catalog_config *config, const struct ebb_catalog_site *site, struct ebb__rest **out,
                  struct ebb_err *err)
{
    struct ebb__rest *r = calloc(1, sizeof *r);
    int rc;

    if (!r)
        return ebb_err_nomem(err);
    ebb_strs_init(&r->headers);
    r->token_until_ms = INT64_MAX;
    r->vended = config->vended;
    r->clock = site->clock.now_ms ? site->clock : ebb_clock_system();
    r->log = site->log;
    r->cancelled = site->cancelled;
    rc = copy_config(r, config, err);
    if (rc) {
        ebb__rest_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

void ebb__rest_free(struct ebb__rest *r)
{
    char *texts[] = {r ? r->name : NULL,
                     r ? r->given_uri : NULL,
                     r ? r->uri : NULL,
                     r ? r->warehouse : NULL,
                     r ? r->prefix : NULL,
                     r ? r->separator : NULL,
                     r ? r->separator_bytes : NULL,
                     r ? r->given_prefix : NULL,
                     r ? r->credential : NULL,
                     r ? r->oauth_uri : NULL,
                     r ? r->scope : NULL,
                     r ? r->ca_file : NULL,
                     r ? r->token : NULL};

    if (!r)
        return;
    ebb_http_sync_free(r->http);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    ebb_strs_fini(&r->headers);
    free(r);
}

/* ---- what the server's configuration says ---- */

struct said {
    struct ebb_arena arena;
    char *uri[2], *prefix[2], *separator[2], *token[2], *is_nessie[2]; /* defaults, overrides */
    bool has_endpoints;
};

static int read_map(struct ebb_json *j, struct said *s, int which, struct ebb_err *err)
{
    const struct {
        const char *key;
        char **to;
    } keys[] = {{"uri", &s->uri[which]},
                {"prefix", &s->prefix[which]},
                {"namespace-separator", &s->separator[which]},
                {"token", &s->token[which]},
                {"nessie.is-nessie-catalog", &s->is_nessie[which]}};
    int rc = ebb_json_next(j, err);

    if (!rc && j->kind == EBB_JSON_NULL)
        return 0;
    if (!rc && j->kind != EBB_JSON_OBJECT)
        return ebb_json_fail(j, err, "an object is wanted");
    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
        char **to = NULL;

        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            if (ebb_json_is_text(j, keys[i].key))
                to = keys[i].to;
        rc = ebb_json_next(j, err);
        if (!rc && to && j->kind == EBB_JSON_STRING) {
            if (memchr(j->text.p, '\0', j->text.n))
                return ebb_json_fail(j, err, "a text holds NUL");
            *to = ebb_arena_dup(&s->arena, j->text.p, j->text.n);
            rc = *to ? 0 : ebb_err_nomem(err);
        } else if (!rc) {
            rc = ebb_json_skip(j, err);
        }
    }
    return rc;
}

static int read_endpoints(struct ebb_json *j, struct ebb__rest *r, struct ebb_err *err)
{
    int rc = ebb_json_next(j, err);

    if (rc || j->kind != EBB_JSON_ARRAY)
        return rc ? rc : ebb_json_skip(j, err);
    while (!(rc = ebb_json_next(j, err)) && j->kind != EBB_JSON_ARRAY_END)
        if (j->kind == EBB_JSON_STRING &&
            ebb_json_is_text(j, "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"))
            r->has_credentials_route = true;
        else if (j->kind != EBB_JSON_STRING && (rc = ebb_json_skip(j, err)))
            return rc;
    return rc;
}

static int read_config(struct ebb_json *j, struct ebb__rest *r, struct said *s, struct ebb_err *err)
{
    bool is_config = false;
    int rc = ebb_json_expect(j, EBB_JSON_OBJECT, "configuration", err);

    while (!rc && !(rc = ebb_json_next(j, err)) && j->kind == EBB_JSON_KEY) {
        if (ebb_json_is_text(j, "defaults") || ebb_json_is_text(j, "overrides")) {
            is_config = true;
            rc = read_map(j, s, ebb_json_is_text(j, "overrides"), err);
        } else if (ebb_json_is_text(j, "endpoints")) {
            rc = read_endpoints(j, r, err);
        } else {
            rc = ebb_json_skip(j, err);
        }
    }
    if (!rc && !is_config)
        rc = ebb_json_fail(j, err, "neither defaults nor overrides are in it");
    return rc;
}

/* The part of a URL up to its path: "https://host:port". */
static size_t origin_of(const char *uri)
{
    const char *host = strstr(uri, "://");

    return host ? (size_t)(host + 3 - uri) + strcspn(host + 3, "/?#") : 0;
}

static int take_uri(struct ebb__rest *r, const char *uri, struct ebb_err *err)
{
    size_t n = origin_of(r->given_uri);

    if (origin_of(uri) != n || strncasecmp(uri, r->given_uri, n) || strpbrk(uri, "?#\\ ")) {
        ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s wants requests to go to %.200s", r->name, r->given_uri, uri);
        ebb_err_hint(err,
                     "ebb sends no credentials to another server; if that is the right one, set catalogs.%s.uri to it",
                     r->name);
        return -(int)EBB_ECATALOG;
    }
    return dup_uri(uri, &r->uri, err);
}

/* It goes into URLs as it is. */
static bool is_path_text(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7f || strchr("?#\\\"<>", *text))
            return false;
    return true;
}

static int take_prefix(struct ebb__rest *r, const char *prefix, struct ebb_err *err)
{
    struct ebb_str p = ebb_str_of(prefix);

    if (!is_path_text(prefix))
        return ebb_err_set(err, EBB_ECATALOG, "catalog '%s': its prefix can't be part of a URL", r->name);
    while (p.n && p.p[0] == '/')
        p.p++, p.n--;
    while (p.n && p.p[p.n - 1] == '/')
        p.n--;
    free(r->prefix);
    r->prefix = strndup(p.p, p.n);
    return r->prefix ? 0 : ebb_err_nomem(err);
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* In URL-encoded form; what is not is encoded. */
static int take_separator(struct ebb__rest *r, const char *text, struct ebb_err *err)
{
    struct ebb_buf bytes, encoded;
    int rc = 0;

    ebb_buf_init(&bytes, 16);
    ebb_buf_init(&encoded, 48);
    for (const char *p = text; *p; p++) {
        if (*p == '%' && hex(p[1]) >= 0 && hex(p[2]) >= 0) {
            ebb_buf_putc(&bytes, (char)(hex(p[1]) * 16 + hex(p[2])));
            ebb_buf_append(&encoded, p, 3);
            p += 2;
        } else {
            ebb_buf_putc(&bytes, *p);
            ebb_http_encode(&encoded, (struct ebb_str){p, 1}, false);
        }
    }
    if (bytes.bad || encoded.bad || !bytes.len || memchr(bytes.data, '\0', bytes.len))
        rc = ebb_err_set(err, EBB_ECATALOG, "catalog '%s': its namespace-separator can't be used", r->name);
    if (!rc)
        rc = dup_text(ebb_buf_cstr(&encoded), &r->separator, err);
    if (!rc)
        rc = dup_text(ebb_buf_cstr(&bytes), &r->separator_bytes, err);
    ebb_buf_fini(&bytes);
    ebb_buf_fini(&encoded);
    return rc;
}

/* Defaults, overlaid by what is configured, overlaid by overrides. */
static const char *merged(char *const said[2], const char *ours)
{
    return said[1] ? said[1] : ours ? ours : said[0];
}

static int apply_config(struct ebb__rest *r, const struct said *s, struct ebb_err *err)
{
    const char *prefix = merged(s->prefix, r->given_prefix);
    const char *separator = merged(s->separator, NULL);
    const char *token = merged(s->token, r->token);
    int rc = s->uri[1] ? take_uri(r, s->uri[1], err) : 0;

    if (!rc && prefix)
        rc = take_prefix(r, prefix, err);
    if (!rc && separator)
        rc = take_separator(r, separator, err);
    if (!rc && token && token != r->token && !r->credential) {
        rc = dup_text(token, &r->token, err);
        r->token_turn++;
    }
    return rc;
}

int ebb__rest_configure(struct ebb__rest *r, struct ebb_str json, struct ebb_err *err)
{
    struct said s = {.has_endpoints = false};
    struct ebb_json j;
    int rc;

    ebb_arena_init(&s.arena, (size_t)1 << 20);
    ebb_json_init(&j, "configuration", json.p, json.n);
    rc = read_config(&j, r, &s, err);
    if (!rc)
        rc = ebb_json_expect(&j, EBB_JSON_END, "configuration", err);
    if (rc && rc != -(int)EBB_ENOMEM) {
        ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s/v1/config answers with something else", r->name, r->given_uri);
        ebb_err_hint(err, "uri is the part before /v1/config of an Iceberg REST catalog");
        rc = -(int)EBB_ECATALOG;
    }
    ebb_json_fini(&j);
    if (!rc)
        rc = apply_config(r, &s, err);
    ebb_arena_fini(&s.arena);
    return rc;
}

static int on_config(void *data, const struct ebb_http_result *answer, struct ebb_err *err)
{
    return ebb__rest_configure(data, answer->body, err);
}

static void hint_config(const struct ebb__rest *r, const struct ebb__rest_ask *ask, struct ebb_err *err)
{
    if (!err || err->hint[0] || !ask->status)
        return;
    if (ask->status < 500 && (!ask->type[0] || !r->warehouse))
        ebb_err_hint(err, "uri is the part before /v1/config of an Iceberg REST catalog");
    else if (r->warehouse && (ask->status == 404 || ask->status == 400 || ask->status == 500))
        ebb_err_hint(err, "check catalogs.%s.warehouse: does the server have one of this name?", r->name);
}

int ebb__rest_ready(struct ebb__rest *r, struct ebb_err *err)
{
    struct ebb__rest_ask ask;
    int rc;

    if (r->is_ready)
        return 0;
    ebb__rest_ask_init(&ask, "configuration");
    ask.is_bare = true;
    ebb_buf_puts(&ask.path, "config");
    if (r->warehouse) {
        ebb_buf_puts(&ask.path, "?warehouse=");
        ebb_http_encode(&ask.path, ebb_str_of(r->warehouse), false);
    }
    ask.take = on_config;
    ask.data = r;
    rc = ebb__rest_ask_one(r, &ask, err);
    if (rc)
        hint_config(r, &ask, err);
    r->is_ready = !rc;
    ebb__rest_ask_fini(&ask);
    return rc;
}
