/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <stdlib.h>
#include <strings.h>

static const struct ebb_config_catalog *find_config(const struct ebb_api_call *call, const char *name)
{
    const struct ebb_config *c = ebb_workspace_config(call->ws);

    for (size_t i = 0; i < c->catalog_count; i++)
        if (!strcmp(c->catalogs[i].name, name))
            return &c->catalogs[i];
    return NULL;
}

struct ebb_catalog *ebb__gravitino_find_catalog(const struct ebb_api_call *call, const char *name)
{
    const struct ebb_site *site = ebb_workspace_site(call->ws);

    for (size_t i = 0; i < site->catalog_count; i++)
        if (!strcmp(ebb_catalog_name(site->catalogs[i]), name))
            return site->catalogs[i];
    return NULL;
}

/* What names a backend and where it is; nothing that may be a secret. */
static void write_backend(struct ebb_jsonw *w, const struct ebb_config_catalog *c)
{
    struct ebb_buf uri;

    ebb_buf_init(&uri, 65536);
    if (!strcmp(c->type, "sqlite")) {
        ebb_jsonw_kstr(w, "catalog-backend", "jdbc");
        ebb_buf_printf(&uri, "jdbc:sqlite:%s", c->path ? c->path : "");
        ebb_jsonw_kstr(w, "uri", ebb_buf_cstr(&uri));
        ebb_jsonw_kstr(w, "catalog-backend-name", c->config.sql_name ? c->config.sql_name : c->name);
    } else if (!strcmp(c->type, "directory")) {
        ebb_jsonw_kstr(w, "catalog-backend", "hadoop");
        ebb_jsonw_kstr(w, "warehouse", c->path ? c->path : "");
    } else {
        ebb_jsonw_kstr(w, "catalog-backend", strcmp(c->type, "rest") ? "custom" : "rest");
        if (c->config.uri)
            ebb_jsonw_kstr(w, "uri", c->config.uri);
        if (c->config.warehouse)
            ebb_jsonw_kstr(w, "warehouse", c->config.warehouse);
    }
    ebb_buf_fini(&uri);
}

static void write_properties(struct ebb_jsonw *w, const struct ebb_config_catalog *c)
{
    ebb_jsonw_key(w, "properties");
    ebb_jsonw_begin(w, '{');
    write_backend(w, c);
    ebb_jsonw_kstr(w, "in-use", "true");
    ebb_jsonw_end(w, '}');
}

static void write_catalog(const struct ebb_api_call *call, struct ebb_jsonw *w, const struct ebb_config_catalog *c)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "name", c->name);
    ebb_jsonw_kstr(w, "type", "relational");
    ebb_jsonw_kstr(w, "provider", "lakehouse-iceberg");
    ebb_jsonw_kstr(w, "comment", "");
    write_properties(w, c);
    ebb__gravitino_audit(w, "ebb", ebb__gravitino_since(call), NULL, 0);
    ebb_jsonw_end(w, '}');
}

int ebb__gravitino_catalogs_list(struct ebb_api_call *call, struct ebb_err *err)
{
    const struct ebb_config *c = ebb_workspace_config(call->ws);
    bool details = ebb__gravitino_asks(call, "details");
    const char *space[] = {ebb__gravitino_arg(call, 0), NULL};
    struct ebb_jsonw w;
    int rc = ebb__gravitino_metalake(call);

    if (rc)
        return ebb__gravitino_done(rc);
    ebb__gravitino_begin(call, &w);
    ebb_jsonw_key(&w, details ? "catalogs" : "identifiers");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < c->catalog_count; i++)
        if (details)
            write_catalog(call, &w, &c->catalogs[i]);
        else
            ebb__gravitino_identifier(&w, space, c->catalogs[i].name);
    ebb_jsonw_end(&w, ']');
    return ebb__gravitino_end(call, &w, err);
}

int ebb__gravitino_need_catalog(struct ebb_api_call *call, struct ebb_catalog **out)
{
    const char *metalake = ebb__gravitino_arg(call, 0), *name = ebb__gravitino_arg(call, 1);
    struct ebb__subject subject = {"catalog(s)", name, "LOAD", "metalake", metalake};
    int rc = ebb__gravitino_metalake(call);

    if (rc)
        return rc;
    *out = ebb__gravitino_find_catalog(call, name);
    if (*out)
        return 0;
    return ebb__gravitino_fail(call, EBB__FAULT_NO_CATALOG, &subject, "Catalog %s.%s does not exist", metalake, name);
}

int ebb__gravitino_catalog_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_catalog *catalog = NULL;
    struct ebb_jsonw w;
    int rc = ebb__gravitino_need_catalog(call, &catalog);

    if (!rc) {
        ebb__gravitino_begin(call, &w);
        ebb_jsonw_key(&w, "catalog");
        write_catalog(call, &w, find_config(call, ebb_catalog_name(catalog)));
        rc = ebb__gravitino_end(call, &w, err);
    }
    return ebb__gravitino_done(rc);
}
