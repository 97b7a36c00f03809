/* SPDX-License-Identifier: Apache-2.0 */
#include "front/tables.h"

#include "table/table.h"

bool ebb_tables_is_glob(const char *arg)
{
    return strchr(arg, '*') && !strchr(arg, '/');
}

struct each {
    struct ebb_cli *cli;
    const char *glob;
    ebb_tables_cb *cb;
    void *data;
};

static int on_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    const struct each *e = data;
    struct ebb_buf name;
    int rc;

    if (ebb_site_is_cancelled(ebb_cli_site(e->cli)))
        return ebb_err_set(err, EBB_ECANCELLED, "tables: interrupted");
    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&name, "%s.%s%s%s", ref->catalog, ref->namespace_ ? ref->namespace_ : "",
                   ref->namespace_ && ref->namespace_[0] ? "." : "", ref->name);
    rc = ebb_buf_check(&name, "table name", err);
    if (!rc && (!e->glob || ebb_table_glob_is_match(e->glob, ebb_buf_cstr(&name))))
        rc = e->cb(e->data, ebb_buf_cstr(&name), ref, err);
    ebb_buf_fini(&name);
    return rc;
}

int ebb_tables_each(struct ebb_cli *cli, const char *glob, ebb_tables_cb *cb, void *data, struct ebb_err *err)
{
    const struct ebb_site *site = ebb_cli_site(cli);
    struct each e = {cli, glob, cb, data};
    int rc = 0;

    for (size_t i = 0; !rc && i < site->catalog_count; i++)
        rc = ebb_catalog_list(site->catalogs[i], on_table, &e, err);
    return rc;
}

int ebb_tables_set_floor(struct ebb_cli *cli, const char *name, struct ebb_err *err)
{
    const struct ebb_config *config = ebb_workspace_config(cli->ws);
    struct ebb_site *site = ebb_cli_site(cli);
    struct ebb_table *table = NULL;
    int rc;

    site->allow_below_floor = false;
    if (!config->below_floor.count)
        return 0;
    rc = ebb_table_open(site, name, &table, err);
    if (!rc)
        site->allow_below_floor = ebb_config_allows_below_floor(config, table->label);
    ebb_table_free(table);
    return rc;
}
