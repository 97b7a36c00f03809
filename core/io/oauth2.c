/* SPDX-License-Identifier: Apache-2.0 */
#include "io/oauth2_priv.h"

#include <stdlib.h>

#include "format/json.h"
#include "io/http_sync.h"

#define TOKEN_S_MAX ((int64_t)10 * 365 * 86400)

static void put_field(struct ebb_buf *form, const char *key, struct ebb_str value)
{
    ebb_buf_printf(form, "%s%s=", form->len ? "&" : "", key);
    ebb_http_encode(form, value, false);
}

void ebb__oauth2_put_form(const char *credential, const char *scope, struct ebb_buf *form)
{
    const char *colon = strchr(credential, ':');

    put_field(form, "grant_type", EBB_STR("client_credentials"));
    if (colon)
        put_field(form, "client_id", (struct ebb_str){credential, (size_t)(colon - credential)});
    put_field(form, "client_secret", ebb_str_of(colon ? colon + 1 : credential));
    if (scope)
        put_field(form, "scope", ebb_str_of(scope));
}

/* Between two values of the object. */
static int read_member(struct ebb_json *j, char **token, int64_t *expires_s, struct ebb_err *err)
{
    bool is_token = ebb_json_is_text(j, "access_token"), is_time = ebb_json_is_text(j, "expires_in");
    int rc = ebb_json_next(j, err);

    if (rc)
        return rc;
    if (is_token && j->kind == EBB_JSON_STRING && j->text.n) {
        for (size_t i = 0; i < j->text.n; i++)
            if ((unsigned char)j->text.p[i] <= ' ' || (unsigned char)j->text.p[i] >= 0x7f)
                return ebb_json_fail(j, err, "access_token can't be a header");
        *token = strndup(j->text.p, j->text.n);
        return *token ? 0 : ebb_err_nomem(err);
    }
    if (is_time && j->kind == EBB_JSON_INT && j->number >= 0 && j->number <= TOKEN_S_MAX) {
        *expires_s = j->number;
        return 0;
    }
    return ebb_json_skip(j, err);
}

int ebb__oauth2_read(struct ebb_str json, char **token, int64_t *expires_s, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    *token = NULL;
    *expires_s = -1;
    ebb_json_init(&j, "token", json.p, json.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "answer", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY)
        rc = read_member(&j, token, expires_s, err);
    if (!rc && !*token)
        rc = ebb_json_fail(&j, err, "no access_token");
    ebb_json_fini(&j);
    if (rc) {
        free(*token);
        *token = NULL;
    }
    return rc;
}
