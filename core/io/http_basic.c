/* SPDX-License-Identifier: Apache-2.0 */
#include "io/http_basic_priv.h"

#include "base/text.h"

#define HEADER_MAX 65536

int ebb__http_header_add(struct ebb_strs *headers, const char *name, const char *value, struct ebb_err *err)
{
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, HEADER_MAX);
    ebb_buf_printf(&text, "%s: %s", name, value);
    rc = ebb_buf_check(&text, name, err);
    if (!rc)
        rc = ebb_strs_add(headers, ebb_buf_cstr(&text), err);
    ebb_buf_fini(&text);
    return rc;
}

int ebb__http_authorize(struct ebb_strs *headers, const char *user, const char *password, const char *token,
                        struct ebb_err *err)
{
    struct ebb_buf pair, value;
    int rc = 0;

    ebb_buf_init(&pair, HEADER_MAX);
    ebb_buf_init(&value, HEADER_MAX);
    if (token) {
        ebb_buf_printf(&value, "Bearer %s", token);
    } else if (password) {
        ebb_buf_printf(&pair, "%s:%s", user ? user : "", password);
        ebb_buf_puts(&value, "Basic ");
        ebb_text_base64(&value, pair.data, pair.len);
    }
    if (value.len || value.bad) {
        rc = ebb_buf_check(&value, "Authorization", err);
        if (!rc)
            rc = ebb__http_header_add(headers, "Authorization", ebb_buf_cstr(&value), err);
    }
    ebb_buf_fini(&pair);
    ebb_buf_fini(&value);
    return rc;
}
