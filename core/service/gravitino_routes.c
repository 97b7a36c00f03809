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

#define LAKE "/api/metalakes/{metalake}"
#define SCHEMAS LAKE "/catalogs/{catalog}/schemas"
#define TABLES SCHEMAS "/{schema}/tables"
#define OBJECT LAKE "/objects/{type}/{fullName}"
#define STATISTICS OBJECT "/statistics"

/* Not in the OpenAPI document of the own interface: docs/gravitino-api.md tells what they are. */
const struct ebb_route EBB_GRAVITINO_ROUTES[] = {
    {"GET", "/api/version", EBB_ROLE_NONE, ebb__gravitino_version, "Version of the interface", NULL},
    {"GET", "/api/health", EBB_ROLE_NONE, ebb__gravitino_health, "Health", NULL},
    {"GET", "/api/health/live", EBB_ROLE_NONE, ebb__gravitino_health, "Health", NULL},
    {"GET", "/api/health/ready", EBB_ROLE_NONE, ebb__gravitino_health, "Health", NULL},
    {"GET", "/health", EBB_ROLE_NONE, ebb__gravitino_health, "Health", NULL},
    {"GET", "/health/live", EBB_ROLE_NONE, ebb__gravitino_health, "Health", NULL},
    {"GET", "/health/ready", EBB_ROLE_NONE, ebb__gravitino_health, "Health", NULL},

    {"GET", "/api/metalakes", EBB_ROLE_VIEW, ebb__gravitino_metalakes_list, "Metalakes", NULL},
    {"GET", LAKE, EBB_ROLE_VIEW, ebb__gravitino_metalake_get, "One metalake", NULL},
    {"GET", LAKE "/catalogs", EBB_ROLE_VIEW, ebb__gravitino_catalogs_list, "Catalogs", NULL},
    {"GET", LAKE "/catalogs/{catalog}", EBB_ROLE_VIEW, ebb__gravitino_catalog_get, "One catalog", NULL},
    {"GET", SCHEMAS, EBB_ROLE_VIEW, ebb__gravitino_schemas_list, "Schemas", NULL},
    {"GET", SCHEMAS "/{schema}", EBB_ROLE_VIEW, ebb__gravitino_schema_get, "One schema", NULL},
    {"GET", TABLES, EBB_ROLE_VIEW, ebb__gravitino_tables_list, "Tables", NULL},
    {"GET", TABLES "/{table}", EBB_ROLE_VIEW, ebb__gravitino_table_get, "One table", NULL},
    {"GET", TABLES "/{table}/partitions", EBB_ROLE_VIEW, ebb__gravitino_partitions_get, "Not supported", NULL},

    {"GET", LAKE "/policies", EBB_ROLE_VIEW, ebb__gravitino_policies_list, "Policies", NULL},
    {"POST", LAKE "/policies", EBB_ROLE_ADMIN, ebb__gravitino_policy_create, "Create a policy", NULL},
    {"GET", LAKE "/policies/{policy}", EBB_ROLE_VIEW, ebb__gravitino_policy_get, "One policy", NULL},
    {"PUT", LAKE "/policies/{policy}", EBB_ROLE_ADMIN, ebb__gravitino_policy_alter, "Alter a policy", NULL},
    {"PATCH", LAKE "/policies/{policy}", EBB_ROLE_ADMIN, ebb__gravitino_policy_set, "Enable or disable", NULL},
    {"DELETE", LAKE "/policies/{policy}", EBB_ROLE_ADMIN, ebb__gravitino_policy_delete, "Delete a policy", NULL},
    {"GET", LAKE "/policies/{policy}/objects", EBB_ROLE_VIEW, ebb__gravitino_policy_objects, "Objects", NULL},
    {"GET", OBJECT "/policies", EBB_ROLE_VIEW, ebb__gravitino_ties_list, "Policies of an object", NULL},
    {"POST", OBJECT "/policies", EBB_ROLE_ADMIN, ebb__gravitino_ties_change, "Attach and detach", NULL},
    {"GET", OBJECT "/policies/{policy}", EBB_ROLE_VIEW, ebb__gravitino_tie_get, "One policy of an object", NULL},

    {"GET", STATISTICS, EBB_ROLE_VIEW, ebb__gravitino_statistics_list, "Statistics", NULL},
    {"PUT", STATISTICS, EBB_ROLE_OPERATE, ebb__gravitino_statistics_put, "Update statistics", NULL},
    {"POST", STATISTICS, EBB_ROLE_OPERATE, ebb__gravitino_statistics_drop, "Drop statistics", NULL},
    {"GET", STATISTICS "/partitions", EBB_ROLE_VIEW, ebb__gravitino_part_statistics_list, "Statistics", NULL},
    {"PUT", STATISTICS "/partitions", EBB_ROLE_OPERATE, ebb__gravitino_part_statistics_put, "Update", NULL},
    {"POST", STATISTICS "/partitions", EBB_ROLE_OPERATE, ebb__gravitino_part_statistics_drop, "Drop", NULL},

    {"GET", LAKE "/jobs/templates", EBB_ROLE_VIEW, ebb__gravitino_templates_list, "Job templates", NULL},
    {"POST", LAKE "/jobs/templates", EBB_ROLE_ADMIN, ebb__gravitino_template_add, "Register a template", NULL},
    {"GET", LAKE "/jobs/templates/{template}", EBB_ROLE_VIEW, ebb__gravitino_template_get, "One template", NULL},
    {"PUT", LAKE "/jobs/templates/{template}", EBB_ROLE_ADMIN, ebb__gravitino_template_alter, "Alter", NULL},
    {"DELETE", LAKE "/jobs/templates/{template}", EBB_ROLE_ADMIN, ebb__gravitino_template_delete, "Delete", NULL},
    {"GET", LAKE "/jobs/runs", EBB_ROLE_VIEW, ebb__gravitino_runs_list, "Job runs", NULL},
    {"POST", LAKE "/jobs/runs", EBB_ROLE_OPERATE, ebb__gravitino_run_start, "Run a job", NULL},
    {"GET", LAKE "/jobs/runs/{job}", EBB_ROLE_VIEW, ebb__gravitino_run_get, "One run", NULL},
    {"POST", LAKE "/jobs/runs/{job}", EBB_ROLE_OPERATE, ebb__gravitino_run_cancel, "Cancel a run", NULL},
    {NULL, NULL, EBB_ROLE_NONE, NULL, NULL, NULL}};
