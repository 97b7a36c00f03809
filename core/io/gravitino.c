/* SPDX-License-Identifier: Apache-2.0 */
#include "io/gravitino_priv.h"

#include <stdlib.h>

#include "io/http_basic_priv.h"
#include "io/oauth2_priv.h"

#define ANSWER_MAX ((size_t)64 << 20)
#define URL_MAX ((size_t)65536)
#define READ_MS 120000
#define READ_TRY_MS 60000
#define WRITE_MS 60000 /* an executable may be fetched meanwhile, 30 s each */
#define PARALLEL 4

static int copy_text(const char *text, char **out, struct ebb_err *err)
{
    *out = text && text[0] ? strdup(text) : NULL;
    return text && text[0] && !*out ? ebb_err_nomem(err) : 0;
}

static int copy_uri(const char *uri, char **out, struct ebb_err *err)
{
    size_t n = strlen(uri);

    while (n && uri[n - 1] == '/')
        n--;
    *out = strndup(uri, n);
    return *out ? 0 : ebb_err_nomem(err);
}

static int copy_config(struct ebb_gravitino *g, const struct ebb_catalog_config *c, struct ebb_err *err)
{
    int rc = copy_text(c->name, &g->name, err);

    if (!rc && (!c->uri || !c->uri[0] || !c->metalake || !c->metalake[0]))
        rc = ebb_err_set(err, EBB_ECONFIG, "catalog '%s': uri and metalake are wanted", c->name);
    if (!rc)
        rc = copy_uri(c->uri, &g->uri, err);
    if (!rc)
        rc = copy_text(c->metalake, &g->metalake, err);
    if (!rc)
        rc = copy_text(c->remote ? c->remote : c->name, &g->catalog, err);
    if (!rc)
        rc = copy_text(c->user, &g->user, err);
    if (!rc)
        rc = copy_text(c->token, &g->token, err);
    if (!rc)
        rc = copy_text(c->credential, &g->credential, err);
    if (!rc)
        rc = copy_text(c->oauth2_uri, &g->oauth_uri, err);
    if (!rc)
        rc = copy_text(c->scope, &g->scope, err);
    for (size_t i = 0; !rc && c->headers && i < c->headers->count; i++)
        rc = ebb_strs_add(&g->headers, c->headers->items[i], err);
    return rc;
}

int ebb_gravitino_new(const struct ebb_catalog_config *config, const struct ebb_catalog_site *site,
                      struct ebb_gravitino **out, struct ebb_err *err)
{
    const struct ebb_http_client_options options = {.per_host = PARALLEL, .ca_file = config->ca_file, .log = site->log};
    struct ebb_gravitino *g = calloc(1, sizeof *g);
    int rc;

    *out = NULL;
    if (!g)
        return ebb_err_nomem(err);
    ebb_strs_init(&g->headers);
    g->clock = site->clock;
    g->token_until_ms = INT64_MAX;
    rc = copy_config(g, config, err);
    if (!rc)
        rc = ebb_http_sync_new(&options, site->cancelled, &g->http, err);
    if (rc)
        ebb_gravitino_free(g);
    else
        *out = g;
    return rc;
}

void ebb_gravitino_free(struct ebb_gravitino *g)
{
    if (!g)
        return;
    ebb_http_sync_free(g->http);
    ebb_strs_fini(&g->headers);
    free(g->name);
    free(g->uri);
    free(g->metalake);
    free(g->catalog);
    free(g->user);
    free(g->credential);
    free(g->oauth_uri);
    free(g->scope);
    free(g->token);
    free(g);
}

void ebb_gravitino_set_deaf(struct ebb_gravitino *g, bool is_deaf)
{
    ebb_http_sync_set_deaf(g->http, is_deaf);
}

const char *ebb_gravitino_catalog(const struct ebb_gravitino *g)
{
    return g->catalog;
}

const char *ebb_gravitino_user(const struct ebb_gravitino *g)
{
    if (g->credential || g->token)
        return NULL;
    return g->user ? g->user : "anonymous";
}

void ebb_gravitino_segment(struct ebb_buf *path, const char *name)
{
    ebb_buf_putc(path, '/');
    ebb_http_encode(path, ebb_str_of(name), false);
}

/* ---- requests ---- */

static int put_headers(const struct ebb_gravitino *g, const struct ebb_gravitino_call *call, struct ebb_strs *out,
                       struct ebb_err *err)
{
    int rc = ebb__http_header_add(out, "Accept", "application/vnd.gravitino.v1+json", err);

    if (!rc && call->body)
        rc = ebb__http_header_add(out, "Content-Type", "application/json", err);
    for (size_t i = 0; !rc && i < g->headers.count; i++)
        rc = ebb_strs_add(out, g->headers.items[i], err);
    if (rc)
        return rc;
    /* in simple mode the password counts for nothing; a token goes as such */
    return ebb__http_authorize(out, g->user, g->token ? NULL : g->user ? "ebb" : NULL, g->token, err);
}

/* "/a/../b": what is between here and the server would make another path of it. */
static bool has_dots(const char *path)
{
    for (const char *p = path; (p = strstr(p, "/.")); p += 2)
        if (!p[2] || p[2] == '/' || p[2] == '?' || (p[2] == '.' && (!p[3] || p[3] == '/' || p[3] == '?')))
            return true;
    return false;
}

static int put_url(const struct ebb_gravitino *g, const struct ebb_gravitino_call *call, struct ebb_buf *out,
                   struct ebb_err *err)
{
    ebb_buf_printf(out, "%s/api", g->uri);
    if (!call->is_bare) {
        ebb_buf_puts(out, "/metalakes");
        ebb_gravitino_segment(out, g->metalake);
    }
    if (has_dots(call->path))
        return ebb_err_set(err, EBB_EUSAGE, "catalog '%s': %s: a name that is \".\" or \"..\" can't be asked for",
                           g->name, call->what);
    ebb_buf_puts(out, call->path);
    return ebb_buf_check(out, call->what, err);
}

static int send_call(struct ebb_gravitino *g, const struct ebb_gravitino_call *call, const char *url,
                     struct ebb_http_fetched *got, struct ebb_err *err)
{
    bool is_get = !call->method || !strcmp(call->method, "GET");
    struct ebb_http_call http = {.method = call->method ? call->method : "GET",
                                 .url = url,
                                 .answer_bytes = ANSWER_MAX,
                                 .deadline_ms = is_get ? READ_MS : WRITE_MS,
                                 .try_ms = is_get ? READ_TRY_MS : WRITE_MS,
                                 .tries = is_get ? 4 : 1,
                                 .is_once = !is_get};
    struct ebb_strs headers;
    int rc;

    if (call->body)
        http.body = ebb_str_of(call->body);
    ebb_strs_init(&headers);
    rc = put_headers(g, call, &headers, err);
    http.headers = &headers;
    if (!rc)
        rc = ebb_http_sync_call(g->http, &http, got, err);
    ebb_strs_fini(&headers);
    return rc;
}

/* Sent once, and once more with another token. An answer, or why there is none. */
static int exchange(struct ebb_gravitino *g, struct ebb_gravitino_call *call, const char *url,
                    struct ebb_http_fetched *got, struct ebb_err *err)
{
    struct ebb_err why = {0};
    int rc = ebb__gravitino_authorize(g, false, err);

    if (rc)
        return rc;
    rc = send_call(g, call, url, got, &why);
    if (!rc && got->status == 401 && g->credential) {
        ebb_http_fetched_fini(got);
        memset(got, 0, sizeof *got);
        rc = ebb__gravitino_authorize(g, true, err);
        if (rc)
            return rc;
        rc = send_call(g, call, url, got, &why);
    }
    return rc ? ebb__gravitino_unanswered(g, &(struct ebb__gravitino_about){call->what, g->uri}, &why, err) : 0;
}

int ebb_gravitino_ask(struct ebb_gravitino *g, struct ebb_gravitino_call *call, struct ebb_buf *answer,
                      struct ebb_err *err)
{
    struct ebb_http_fetched got;
    struct ebb_buf url;
    int rc;

    memset(&got, 0, sizeof got);
    call->status = 0;
    call->type[0] = '\0';
    ebb_buf_reset(answer);
    ebb_buf_init(&url, URL_MAX);
    rc = put_url(g, call, &url, err);
    if (!rc)
        rc = exchange(g, call, ebb_buf_cstr(&url), &got, err);
    if (!rc)
        call->status = got.status;
    if (!rc && got.status == 200)
        ebb_buf_add_str(answer, ebb_buf_str(&got.body));
    else if (!rc)
        rc = ebb__gravitino_refused(g, &(struct ebb__gravitino_about){call->what, g->uri}, got.status,
                                    ebb_buf_str(&got.body), call->type, err);
    if (!rc)
        rc = ebb_buf_check(answer, call->what, err);
    ebb_http_fetched_fini(&got);
    ebb_buf_fini(&url);
    return rc;
}

/* ---- tokens ---- */

static int take_token(struct ebb_gravitino *g, const struct ebb_http_fetched *got, struct ebb_err *err)
{
    const struct ebb__gravitino_about about = {"token", g->oauth_uri};
    char *token = NULL, type[64];
    int64_t expires_s = -1;
    int rc;

    if (got->status != 200) {
        rc = ebb__gravitino_refused(g, &about, got->status, ebb_buf_str(&got->body), type, err);
        ebb_err_hint(err, "check catalogs.%s.credential (\"ID:SECRET\"), oauth2_server_uri and scope", g->name);
        return rc;
    }
    rc = ebb__oauth2_read(ebb_buf_str(&got->body), &token, &expires_s, err);
    if (rc)
        return rc == -(int)EBB_ENOMEM
                   ? rc
                   : ebb_err_set(err, EBB_ECATALOG, "catalog '%s': no token is in the answer to a request for one",
                                 g->name);
    free(g->token);
    g->token = token;
    g->token_until_ms = expires_s < 0 ? INT64_MAX : ebb_clock_now(&g->clock) + expires_s * 800;
    return 0;
}

static int get_token(struct ebb_gravitino *g, struct ebb_err *err)
{
    struct ebb_http_call call = {
        .method = "POST", .url = g->oauth_uri, .answer_bytes = (size_t)64 * 1024, .can_repeat = true};
    struct ebb_http_fetched got;
    struct ebb_strs headers;
    struct ebb_err why = {0};
    struct ebb_buf form;
    int rc;

    memset(&got, 0, sizeof got);
    ebb_strs_init(&headers);
    ebb_buf_init(&form, (size_t)64 * 1024);
    ebb__oauth2_put_form(g->credential, g->scope, &form);
    rc = ebb_buf_check(&form, "credential", err);
    if (!rc)
        rc = ebb__http_header_add(&headers, "Content-Type", "application/x-www-form-urlencoded", err);
    if (!rc)
        rc = ebb__http_header_add(&headers, "Accept", "application/json", err);
    call.headers = &headers;
    call.body = ebb_buf_str(&form);
    if (!rc && ebb_http_sync_call(g->http, &call, &got, &why))
        rc = ebb__gravitino_unanswered(g, &(struct ebb__gravitino_about){"token", g->oauth_uri}, &why, err);
    if (!rc)
        rc = take_token(g, &got, err);
    ebb_http_fetched_fini(&got);
    ebb_buf_fini(&form);
    ebb_strs_fini(&headers);
    return rc;
}

int ebb__gravitino_authorize(struct ebb_gravitino *g, bool is_refused, struct ebb_err *err)
{
    if (!g->credential || (!is_refused && g->token && ebb_clock_now(&g->clock) < g->token_until_ms))
        return 0;
    return get_token(g, err);
}
