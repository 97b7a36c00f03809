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

int ebb_metalake_ask(struct ebb_gravitino *g, struct ebb_gravitino_call *call, const char *member,
                     struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_buf answer;
    int rc;

    *out = NULL;
    ebb_buf_init(&answer, (size_t)64 << 20);
    rc = ebb_gravitino_ask(g, call, &answer, err);
    if (!rc) {
        rc = ebb_value_of_json(call->what, answer.data, answer.len, NULL, out, err);
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
