/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

static void write_metalake(const struct ebb_api_call *call, struct ebb_jsonw *w)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "name", ebb_workspace_config(call->ws)->serve.metalake);
    ebb_jsonw_kstr(w, "comment", "served by ebb");
    ebb_jsonw_key(w, "properties");
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "in-use", "true");
    ebb_jsonw_end(w, '}');
    ebb__gravitino_audit(w, "ebb", ebb__gravitino_since(call), NULL, 0);
    ebb_jsonw_end(w, '}');
}

int ebb__gravitino_metalakes_list(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_jsonw w;

    ebb__gravitino_begin(call, &w);
    ebb_jsonw_key(&w, "metalakes");
    ebb_jsonw_begin(&w, '[');
    write_metalake(call, &w);
    ebb_jsonw_end(&w, ']');
    return ebb__gravitino_end(call, &w, err);
}

int ebb__gravitino_metalake_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_jsonw w;
    int rc = ebb__gravitino_metalake(call);

    if (!rc) {
        ebb__gravitino_begin(call, &w);
        ebb_jsonw_key(&w, "metalake");
        write_metalake(call, &w);
        rc = ebb__gravitino_end(call, &w, err);
    }
    return ebb__gravitino_done(rc);
}
