/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb tables
 */
#include <stdlib.h>

#include "front/commands.h"
#include "front/print.h"
#include "front/tables.h"
#include "service/pass.h"
#include "table/table.h"

static const struct ebb_example EXAMPLES[] = {
    {"ebb tables", "everything the configured catalogs know"},
    {"ebb tables 'lake.prod.*' --json", "JSON lines"},
    {NULL, NULL},
};

struct lister {
    struct ebb_cli *cli;
    const struct ebb_config *config;
    struct ebb_policy **policies; /* one for each binding; NULL: it does not load */
    int64_t count;
};

/* ---- policies that are bound to a table ---- */

static int load_policies(struct lister *l, struct ebb_err *err)
{
    struct ebb_err why;

    l->policies = calloc(l->config->binding_count + 1, sizeof(struct ebb_policy *));
    if (!l->policies)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < l->config->binding_count; i++) {
        int rc = ebb_pass_load_policy(l->cli->ws, l->config->bindings[i].policy, &l->policies[i], &why);

        if (rc == -(int)EBB_ENOMEM)
            return ebb_err_nomem(err);
        if (rc)
            ebb_log_say(&ebb_cli_site(l->cli)->log, EBB_LOG_WARN, "%s", why.message);
    }
    return 0;
}

static struct ebb_value *properties_of(const struct ebb_table *t)
{
    struct ebb_value *map = ebb_value_new_map(NULL);

    for (size_t i = 0; i < t->metadata->property_count; i++)
        ebb_value_put_str(map, t->metadata->properties[i].key, t->metadata->properties[i].value);
    return map;
}

/* A binding's globs and the policy's own target both must take the table. */
static bool is_bound(const struct ebb_binding *b, const struct ebb_policy *policy, const struct ebb_table *t,
                     const struct ebb_value *properties)
{
    bool bound = policy && !b->tables.count && ebb_policy_has_target(policy);

    for (size_t i = 0; policy && !bound && i < b->tables.count; i++)
        bound = ebb_table_glob_is_match(b->tables.items[i], t->label);
    if (!bound || !ebb_policy_has_target(policy))
        return bound;
    return ebb_policy_is_target(policy, t->ref.catalog, t->ref.namespace_, t->ref.name, properties);
}

static int bound_policies(const struct lister *l, const struct ebb_table *t, struct ebb_strs *out, struct ebb_err *err)
{
    struct ebb_value *properties = properties_of(t);
    int rc = 0;

    for (size_t i = 0; !rc && i < l->config->binding_count; i++) {
        const struct ebb_binding *b = &l->config->bindings[i];

        if (!ebb_strs_has(out, b->policy) && is_bound(b, l->policies[i], t, properties))
            rc = ebb_strs_add(out, b->policy, err);
    }
    ebb_value_free(properties);
    return rc;
}

/* ---- printing ---- */

static void print_json(struct ebb_cli *cli, const struct ebb_table *t, const struct ebb_strs *policies)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "table", t->label);
    ebb_jsonw_kstr(&w, "location", t->metadata->location);
    ebb_jsonw_kstr(&w, "uuid", t->metadata->uuid);
    ebb_jsonw_kint(&w, "format_version", t->metadata->format_version);
    ebb_jsonw_kint(&w, "snapshots", (int64_t)t->metadata->snapshot_count);
    ebb_print_strs_json(&w, "policies", policies);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&cli->out, '\n');
}

static void print_people(struct ebb_cli *cli, const struct ebb_table *t, const struct ebb_strs *policies)
{
    struct ebb_buf *out = &cli->out;
    size_t start = out->len;

    ebb_print_text(out, t->label);
    ebb_print_pad(out, start, 40);
    ebb_buf_printf(out, "v%d  %zu %s  ", t->metadata->format_version, t->metadata->snapshot_count,
                   t->metadata->snapshot_count == 1 ? "snapshot" : "snapshots");
    ebb_print_text(out, t->metadata->location);
    for (size_t i = 0; i < policies->count; i++) {
        ebb_buf_puts(out, i ? ", " : "  policies: ");
        ebb_print_text(out, policies->items[i]);
    }
    ebb_buf_putc(out, '\n');
}

static void print_problem(struct ebb_cli *cli, const char *name, const struct ebb_err *why)
{
    struct ebb_buf *out = &cli->out;
    size_t start = out->len;
    struct ebb_jsonw w;

    if (cli->is_json) {
        ebb_jsonw_init(&w, out);
        ebb_jsonw_begin(&w, '{');
        ebb_jsonw_kstr(&w, "table", name);
        ebb_cli_error_json(&w, why);
        ebb_jsonw_end(&w, '}');
    } else {
        ebb_print_text(out, name);
        ebb_print_pad(out, start, 40);
        ebb_print_word(cli, EBB_PRINT_RED, ebb_error_code(why->error));
        ebb_buf_puts(out, "  ");
        ebb_print_text(out, why->message);
    }
    ebb_buf_putc(out, '\n');
}

static int list_table(struct lister *l, const struct ebb_table *t, struct ebb_err *err)
{
    struct ebb_strs policies;
    int rc;

    ebb_strs_init(&policies);
    rc = bound_policies(l, t, &policies, err);
    if (!rc && l->cli->is_json)
        print_json(l->cli, t, &policies);
    else if (!rc)
        print_people(l->cli, t, &policies);
    ebb_strs_fini(&policies);
    return rc;
}

static int on_table(void *data, const char *name, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct lister *l = data;
    struct ebb_table *t = NULL;
    struct ebb_err why = ref->problem;
    int rc = ref->metadata_uri ? ebb_table_open_ref(ebb_cli_site(l->cli), ref, &t, &why) : -(int)ref->problem.error;

    l->count++;
    if (rc == -(int)EBB_ENOMEM)
        return ebb_err_nomem(err);
    if (rc) {
        print_problem(l->cli, name, &why);
        rc = 0;
    } else {
        rc = list_table(l, t, err);
    }
    ebb_table_free(t);
    return rc ? rc : ebb_cli_emit(l->cli, err);
}

static int run_tables(struct ebb_cli *cli, struct ebb_err *err)
{
    struct lister l = {cli, NULL, NULL, 0};
    int rc = ebb_cli_start(cli, true, err);

    if (rc)
        return rc;
    l.config = ebb_workspace_config(cli->ws);
    if (!l.config->catalog_count) {
        rc = ebb_err_set(err, EBB_ECONFIG, "tables: no catalog is configured");
        ebb_err_hint(err,
                     "ebb.lua: return { catalogs = { files = { type = \"directory\", path = \"./warehouse\" } } }");
        return rc;
    }
    rc = load_policies(&l, err);
    if (!rc)
        rc = ebb_tables_each(cli, ebb_args_word(&cli->args, 0), on_table, &l, err);
    if (!rc && !l.count && !cli->is_json)
        ebb_buf_puts(&cli->out, "No tables.\n");
    for (size_t i = 0; l.policies && i < l.config->binding_count; i++)
        ebb_policy_free(l.policies[i]);
    free(l.policies);
    return rc;
}

const struct ebb_command ebb_command_tables = {
    .name = "tables",
    .args = "[GLOB]",
    .summary = "tables that the catalogs know, and the policies bound to them",
    .about = "GLOB is over catalog.namespace.name: '*' stands for one part of a name, '**' for any number. A table "
             "that can't be read is "
             "listed with its error.",
    .arg_max = 1,
    .shared = EBB_TAKES_MAP,
    .examples = EXAMPLES,
    .run = run_tables,
};
