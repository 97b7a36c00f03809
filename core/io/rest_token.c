/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens of OAuth2 client credentials: fetched, and fetched again before their time is over.
 */
#include <stdlib.h>

#include "io/oauth2_priv.h"
#include "io/rest_priv.h"

#define TOKEN_BYTES_MAX ((size_t)64 * 1024)

static int take_grant(struct ebb__rest *r, struct ebb_str json, struct ebb_err *err)
{
    char *token = NULL;
    int64_t expires_s;
    int rc = ebb__oauth2_read(json, &token, &expires_s, err);

    if (rc)
        return rc == -(int)EBB_ENOMEM
                   ? rc
                   : ebb_err_set(err, EBB_ECATALOG, "catalog '%s': no token is in the answer to a request for one",
                                 r->name);
    free(r->token);
    r->token = token;
    r->token_turn++;
    r->token_until_ms = expires_s < 0 ? INT64_MAX : ebb_clock_now(&r->clock) + expires_s * 800;
    return 0;
}

static int judge(struct ebb__rest *r, const struct ebb_http_fetched *got, struct ebb_err *err)
{
    char type[64];
    int rc;

    if (got->status == 200)
        return take_grant(r, ebb_buf_str(&got->body), err);
    rc = ebb__rest_fail(r, "token", got->status, ebb_buf_str(&got->body), type, err);
    if (got->status == 404 || got->status == 405 || got->status == 501)
        ebb_err_hint(err, "the catalog gives no tokens itself: set catalogs.%s.oauth2_server_uri", r->name);
    else if (got->status == 400 || got->status == 401)
        ebb_err_hint(err, "check catalogs.%s.credential (\"ID:SECRET\") and scope", r->name);
    return rc;
}

static int fetch(struct ebb__rest *r, const struct ebb_strs *headers, struct ebb_buf *form, struct ebb_buf *url,
                 struct ebb_err *err)
{
    const struct ebb_http_call call = {.method = "POST",
                                       .url = ebb_buf_cstr(url),
                                       .headers = headers,
                                       .body = ebb_buf_str(form),
                                       .answer_bytes = TOKEN_BYTES_MAX,
                                       .can_repeat = true};
    struct ebb_http_fetched got;
    struct ebb_err why = {0};
    int rc = ebb_http_sync_call(r->http, &call, &got, &why);

    r->requests += got.tries;
    if (rc)
        rc = ebb__rest_fail_unanswered(r, "token", &why, err);
    else
        rc = judge(r, &got, err);
    ebb_http_fetched_fini(&got);
    return rc;
}

static int get_token(struct ebb__rest *r, struct ebb_err *err)
{
    struct ebb_buf form, url;
    struct ebb_strs headers;
    int rc;

    ebb_buf_init(&form, TOKEN_BYTES_MAX);
    ebb_buf_init(&url, 16384);
    ebb_strs_init(&headers);
    ebb__oauth2_put_form(r->credential, r->scope ? r->scope : "catalog", &form);
    if (r->oauth_uri)
        ebb_buf_puts(&url, r->oauth_uri);
    else
        ebb_buf_printf(&url, "%s/v1/oauth/tokens", r->given_uri);
    rc = ebb_buf_check(&form, "credential", err);
    if (!rc)
        rc = ebb_strs_add(&headers, "Content-Type: application/x-www-form-urlencoded", err);
    if (!rc)
        rc = ebb_strs_add(&headers, "Accept: application/json", err);
    for (size_t i = 0; !rc && !r->oauth_uri && i < r->headers.count; i++)
        rc = ebb_strs_add(&headers, r->headers.items[i], err);
    if (!rc)
        rc = fetch(r, &headers, &form, &url, err);
    ebb_buf_fini(&form);
    ebb_buf_fini(&url);
    ebb_strs_fini(&headers);
    return rc;
}

int ebb__rest_authorize(struct ebb__rest *r, struct ebb_err *err)
{
    if (!r->credential || (r->token && ebb_clock_now(&r->clock) < r->token_until_ms))
        return 0;
    return get_token(r, err);
}

int ebb__rest_renew(struct ebb__rest *r, unsigned turn, struct ebb_err *err)
{
    if (r->token_turn != turn)
        return 0; /* another request was first */
    if (!r->credential)
        return ebb_err_set(err, EBB_EPERMISSION, "catalog '%s': there is no other token", r->name);
    return get_token(r, err);
}
