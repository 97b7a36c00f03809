/* SPDX-License-Identifier: Apache-2.0 */
#include "service/metalake.h"

int ebb_metalake_open(struct ebb_workspace *ws, const char *catalog, struct ebb_gravitino **out, struct ebb_err *err)
{
    const struct ebb_catalog_config *config = ebb_config_catalog(ebb_workspace_config(ws), catalog);
    const struct ebb_site *site = ebb_workspace_site(ws);
    const struct ebb_catalog_site around = {site->storage, site->clock, site->log, site->cancelled};

    *out = NULL;
    if (!config)
        return ebb_err_set(err, EBB_ECATALOG_UNKNOWN, "catalog '%s': is not configured", catalog);
    if (strcmp(config->type, "gravitino") != 0)
        return ebb_err_set(err, EBB_ECONFIG, "catalog '%s': is of type %s, not gravitino", catalog, config->type);
    return ebb_gravitino_new(config, &around, out, err);
}

/* A text that holds one would be taken for what stands before it. */
static bool holds_nul(const struct ebb_value *value)
{
    struct ebb_str text = ebb_value_get_bytes(value);

    if (text.n && memchr(text.p, '\0', text.n))
        return true;
    for (size_t i = 0; i < ebb_value_get_count(value); i++) {
        struct ebb_str key = ebb_value_get_key(value, i);

        if ((key.n && memchr(key.p, '\0', key.n)) || holds_nul(ebb_value_get_at(value, i)))
            return true;
    }
    return false;
}

static int read_answer(const struct ebb_buf *answer, const char *what, struct ebb_value **out, struct ebb_err *err)
{
    int rc = ebb_value_of_json(what, answer->data, answer->len, NULL, out, err);

    return rc || !holds_nul(*out) ? rc : ebb_err_set(err, EBB_ECATALOG, "%s: a text with a NUL", what);
}

int ebb_metalake_ask(struct ebb_gravitino *g, struct ebb_gravitino_call *call, const char *member,
                     struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_buf answer;
    int rc;

    *out = NULL;
    ebb_buf_init(&answer, (size_t)64 << 20);
    rc = ebb_gravitino_ask(g, call, &answer, err);
    if (!rc) {
        rc = read_answer(&answer, call->what, out, err);
        if (!rc && member && !ebb_value_get(*out, member))
            rc = ebb_err_set(err, EBB_ECATALOG, "%s: the server's answer has no \"%s\"", call->what, member);
        else if (rc && rc != -(int)EBB_ENOMEM)
            rc = ebb_err_as(err, EBB_ECATALOG, "the server's answer can't be understood");
    }
    if (rc) {
        ebb_value_free(*out);
        *out = NULL;
    }
    ebb_buf_fini(&answer);
    return rc;
}
