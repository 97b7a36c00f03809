/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

int ebb__gravitino_version(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_jsonw w;

    ebb__gravitino_begin(call, &w);
    ebb_jsonw_key(&w, "version");
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "version", EBB__GRAVITINO_VERSION);
    ebb_jsonw_kstr(&w, "compileDate", "");
    ebb_jsonw_kstr(&w, "gitCommit", "ebb");
    ebb_jsonw_end(&w, '}');
    return ebb__gravitino_end(call, &w, err);
}

int ebb__gravitino_health(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_jsonw w;

    ebb__gravitino_begin(call, &w);
    ebb_jsonw_kstr(&w, "status", "up");
    ebb_jsonw_key(&w, "checks");
    ebb_jsonw_begin(&w, '[');
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "name", "entityStore");
    ebb_jsonw_kstr(&w, "status", "up");
    ebb_jsonw_key(&w, "details");
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_end(&w, '}');
    ebb_jsonw_end(&w, '}');
    ebb_jsonw_end(&w, ']');
    return ebb__gravitino_end(call, &w, err);
}

const struct ebb_route EBB_GRAVITINO_ROUTES[] = {
    {"GET", "/api/version", EBB_ROLE_NONE, ebb__gravitino_version, "Version of the interface", NULL},
    {"GET", "/api/health", EBB_ROLE_NONE, ebb__gravitino_health, "Health", NULL},
    {"GET", "/api/health/live", EBB_ROLE_NONE, ebb__gravitino_health, "Health", NULL},
    {"GET", "/api/health/ready", EBB_ROLE_NONE, ebb__gravitino_health, "Health", NULL},
    {NULL, NULL, EBB_ROLE_NONE, NULL, NULL, NULL}};
