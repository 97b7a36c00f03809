/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables and policies: what is there, what is bound to what, what comes next. Only tables of configured catalogs are
 * reached, by their dotted names; never a path.
 */
#include <stdio.h>
#include <stdlib.h>

#include "service/api_priv.h"
#include "service/preview.h"
#include "table/table.h"

#define NAME_MAX_BYTES ((size_t)64 << 10)
#define COVERAGE_MAX 1000
#define RUNS_SHOWN 5

static const char *const MODES[] = {"observe", "approve", "enforce"};

/* ---- names ---- */

int ebb__api_find_table(const struct ebb_api_call *call, const char *label, struct ebb_table_ref *out,
                        struct ebb_err *err)
{
    const struct ebb_site *site = ebb_workspace_site(call->ws);
    const char *first = strchr(label, '.'), *last = strrchr(label, '.');
    char *namespace_ = NULL;
    int rc;

    memset(out, 0, sizeof *out);
    if (!first || !last[1] || strchr(label, '/'))
        return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "table %.256s: a name catalog.namespace.table is wanted", label);
    for (size_t i = 0; i < site->catalog_count; i++) {
        const char *name = ebb_catalog_name(site->catalogs[i]);

        if (strlen(name) != (size_t)(first - label) || strncmp(name, label, strlen(name)) != 0)
            continue;
        namespace_ = last > first ? strndup(first + 1, (size_t)(last - first - 1)) : strdup("");
        rc = namespace_ ? ebb_catalog_load(site->catalogs[i], namespace_, last + 1, out, err) : ebb_err_nomem(err);
        free(namespace_);
        return rc;
    }
    return ebb_err_set(err, EBB_ECATALOG_UNKNOWN, "table %.256s: no such catalog", label);
}

static int label_of(const struct ebb_table_ref *ref, struct ebb_buf *out, struct ebb_err *err)
{
    const char *namespace_ = ref->namespace_ ? ref->namespace_ : "";

    ebb_buf_reset(out);
    ebb_buf_printf(out, "%s.%s%s%s", ref->catalog, namespace_, namespace_[0] ? "." : "", ref->name);
    return ebb_buf_check(out, "name of a table", err);
}

struct names {
    struct ebb_strs list;
    const char *glob, *after;
    struct ebb_buf label;
};

static int on_name(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct names *n = data;
    int rc = label_of(ref, &n->label, err);

    if (rc || (n->glob && !ebb_table_glob_is_match(n->glob, ebb_buf_cstr(&n->label))) ||
        (n->after && strcmp(ebb_buf_cstr(&n->label), n->after) <= 0))
        return rc;
    return ebb_strs_add(&n->list, ebb_buf_cstr(&n->label), err);
}

/* All names, sorted. */
static int gather(const struct ebb_api_call *call, struct names *n, struct ebb_err *err)
{
    const struct ebb_site *site = ebb_workspace_site(call->ws);
    int rc = 0;

    for (size_t i = 0; !rc && i < site->catalog_count; i++)
        rc = ebb_catalog_list(site->catalogs[i], on_name, n, err);
    if (!rc && n->list.count)
        ebb_strs_sort(&n->list);
    return rc;
}

/* ---- bindings ---- */

/* By name alone: properties may still keep the policy away. */
static bool may_bind(const struct ebb_bound *b, const char *label)
{
    const char *first = strchr(label, '.'), *last = strrchr(label, '.');
    bool bound = !b->binding->tables.count && ebb_policy_has_target(b->policy), takes = true;
    char *catalog, *namespace_;

    for (size_t i = 0; i < b->binding->tables.count; i++)
        bound = bound || ebb_table_glob_is_match(b->binding->tables.items[i], label);
    if (!bound || !ebb_policy_has_target(b->policy) || !first)
        return bound;
    catalog = strndup(label, (size_t)(first - label));
    namespace_ = last > first ? strndup(first + 1, (size_t)(last - first - 1)) : strdup("");
    takes = catalog && namespace_ && ebb_policy_may_target(b->policy, catalog, namespace_, last + 1);
    free(catalog);
    free(namespace_);
    return takes;
}

static bool is_bound(const struct ebb_bound *b, const struct ebb_table *t, const struct ebb_value *properties)
{
    return may_bind(b, t->label) &&
           (!ebb_policy_has_target(b->policy) ||
            ebb_policy_is_target(b->policy, t->ref.catalog, t->ref.namespace_, t->ref.name, properties));
}

static void put_names(const struct ebb_api_call *call, struct ebb_jsonw *w, const char *label)
{
    const struct ebb_generation *g = call->generation;

    ebb_jsonw_key(w, "policies");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < g->bound_count; i++)
        if (may_bind(&g->bound[i], label))
            ebb_jsonw_str(w, ebb_policy_get_name(g->bound[i].policy));
    ebb_jsonw_end(w, ']');
}

/* ---- the list of tables ---- */

static int tables_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct names n = {.glob = ebb__api_query_of(call, "table")};
    struct ebb__api_page page;
    struct ebb_buf position;
    bool found;
    int rc;

    ebb_strs_init(&n.list);
    ebb_buf_init(&n.label, NAME_MAX_BYTES);
    ebb_buf_init(&position, NAME_MAX_BYTES);
    rc = ebb__api_cursor(call, &position, &found, err);
    n.after = !rc && found ? ebb_buf_cstr(&position) : NULL;
    if (!rc)
        rc = gather(call, &n, err);
    if (!rc) {
        ebb__api_page_begin(&page, call);
        for (size_t i = 0; i < n.list.count && ebb__api_page_add(&page, n.list.items[i]); i++) {
            ebb_jsonw_begin(&page.w, '{');
            ebb_jsonw_kstr(&page.w, "table", n.list.items[i]);
            put_names(call, &page.w, n.list.items[i]);
            ebb_jsonw_end(&page.w, '}');
        }
        ebb__api_page_end(&page);
    }
    ebb_buf_fini(&position);
    ebb_buf_fini(&n.label);
    ebb_strs_fini(&n.list);
    return rc;
}

/* ---- one table ---- */

static struct ebb_value *properties_of(const struct ebb_table *t)
{
    struct ebb_value *map = ebb_value_new_map(NULL);

    for (size_t i = 0; i < t->metadata->property_count; i++)
        ebb_value_put_str(map, t->metadata->properties[i].key, t->metadata->properties[i].value);
    return map;
}

void ebb__api_fire(struct ebb_jsonw *w, const struct ebb_coming_fire *f)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "policy", f->policy);
    if (f->table)
        ebb_jsonw_kstr(w, "table", f->table);
    ebb_jsonw_kint(w, "trigger", (int64_t)f->fire.trigger + 1);
    if (f->fire.has_nominal)
        ebb__api_time(w, "nominal", f->fire.nominal_ms);
    ebb_jsonw_kstr(w, "local", f->fire.local);
    ebb__api_time(w, "fires", f->fire.fires_ms);
    ebb_jsonw_key(w, "why");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < f->fire.why.count; i++)
        ebb_jsonw_str(w, f->fire.why.items[i]);
    ebb_jsonw_end(w, ']');
    ebb_jsonw_end(w, '}');
}

/* The next fire of a policy on the table; nothing when it can't be told. */
static void put_next(struct ebb_api_call *call, struct ebb_jsonw *w, const struct ebb_policy *policy, const char *label)
{
    struct ebb_preview_options o = {.table = label, .n = 1, .loaded = policy};
    struct ebb_coming coming = {0};

    if (!ebb_preview_pass(call->ws, &o, &coming, NULL) && coming.count) {
        ebb_jsonw_key(w, "next");
        ebb__api_fire(w, &coming.items[0]);
    }
    ebb_coming_fini(&coming);
}

static void put_bound(struct ebb_api_call *call, struct ebb_jsonw *w, const struct ebb_table *t)
{
    const struct ebb_generation *g = call->generation;
    struct ebb_value *properties = properties_of(t);

    ebb_jsonw_key(w, "policies");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < g->bound_count; i++) {
        if (!is_bound(&g->bound[i], t, properties))
            continue;
        ebb_jsonw_begin(w, '{');
        ebb_jsonw_kstr(w, "policy", ebb_policy_get_name(g->bound[i].policy));
        ebb_jsonw_kstr(w, "mode", MODES[g->bound[i].binding->mode]);
        put_next(call, w, g->bound[i].policy, t->label);
        ebb_jsonw_end(w, '}');
    }
    ebb_jsonw_end(w, ']');
    ebb_value_free(properties);
}

static int on_run(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    (void)err;
    ebb__api_record(data, EBB_RECORD_RUN, r, false);
    return 0;
}

static int put_runs(struct ebb_api_call *call, struct ebb_jsonw *w, const struct ebb_table *t, struct ebb_err *err)
{
    struct ebb_record_filter f = {.newest_first = true, .limit = RUNS_SHOWN};
    int rc;

    f.uuid = t->metadata->uuid;
    f.table = f.uuid ? NULL : t->label;
    ebb_jsonw_key(w, "runs");
    ebb_jsonw_begin(w, '[');
    rc = ebb_store_list(ebb__api_store(call), EBB_RECORD_RUN, &f, on_run, w, err);
    ebb_jsonw_end(w, ']');
    return rc;
}

static int show_table(struct ebb_api_call *call, const struct ebb_table *t, struct ebb_err *err)
{
    const struct ebb_metadata *m = t->metadata;
    struct ebb_jsonw w;
    int rc;

    ebb_jsonw_init(&w, &call->out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "table", t->label);
    if (m->uuid)
        ebb_jsonw_kstr(&w, "uuid", m->uuid);
    ebb_jsonw_kstr(&w, "location", m->location);
    ebb_jsonw_kstr(&w, "metadata", t->ref.metadata_uri);
    ebb_jsonw_kint(&w, "format_version", m->format_version);
    ebb_jsonw_kint(&w, "snapshots", (int64_t)m->snapshot_count);
    ebb__api_time(&w, "last_updated", m->last_updated_ms);
    put_bound(call, &w, t);
    rc = put_runs(call, &w, t, err);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&call->out, '\n');
    return rc;
}

static int table_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_table_ref ref;
    struct ebb_table *table = NULL;
    int rc = ebb__api_find_table(call, call->args->items[0], &ref, err);

    if (!rc)
        rc = ebb_table_open_ref(ebb_workspace_site(call->ws), &ref, &table, err);
    if (!rc)
        rc = show_table(call, table, err);
    ebb_table_free(table);
    ebb_table_ref_fini(&ref);
    return rc;
}

static int table_look(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_table_ref ref;
    int rc = ebb__api_find_table(call, call->args->items[0], &ref, err);

    ebb_table_ref_fini(&ref);
    if (rc)
        return rc;
    ebb_hub_post(call->hub, EBB_NOTE_LOOK, call->args->items[0]);
    call->status = 202;
    ebb_buf_puts(&call->out, "{\"ok\":true}\n");
    return 0;
}

/* ---- policies ---- */

static bool is_object(const struct ebb_policy *policy)
{
    return strchr(ebb_policy_get_name(policy), ':') != NULL;
}

static void put_policy(const struct ebb_api_call *call, struct ebb_jsonw *w, const struct ebb_policy *policy)
{
    const struct ebb_generation *g = call->generation;
    int64_t bindings = 0;

    for (size_t i = 0; i < g->bound_count; i++)
        bindings += g->bound[i].policy == policy;
    ebb_jsonw_kstr(w, "policy", ebb_policy_get_name(policy));
    ebb_jsonw_kstr(w, "bundle", ebb_policy_get_bundle(policy));
    ebb_jsonw_kbool(w, "is_object", is_object(policy));
    ebb_jsonw_kint(w, "bindings", bindings);
}

static const struct ebb_policy *const *sorted(const struct ebb_generation *g, const struct ebb_policy **list)
{
    for (size_t i = 0; i < g->policy_count; i++) {
        size_t k = i;

        for (; k && strcmp(ebb_policy_get_name(list[k - 1]), ebb_policy_get_name(g->policies[i])) > 0; k--)
            list[k] = list[k - 1];
        list[k] = g->policies[i];
    }
    return list;
}

static int policies_get(struct ebb_api_call *call, struct ebb_err *err)
{
    const struct ebb_generation *g = call->generation;
    const struct ebb_policy **list = calloc(g->policy_count + 1, sizeof *list);
    struct ebb__api_page page;
    struct ebb_buf position;
    bool found = false;
    int rc = list ? 0 : ebb_err_nomem(err);

    ebb_buf_init(&position, NAME_MAX_BYTES);
    if (!rc)
        rc = ebb__api_cursor(call, &position, &found, err);
    if (!rc) {
        sorted(g, list);
        ebb__api_page_begin(&page, call);
        for (size_t i = 0; i < g->policy_count; i++) {
            const char *name = ebb_policy_get_name(list[i]);

            if (found && strcmp(name, ebb_buf_cstr(&position)) <= 0)
                continue;
            if (!ebb__api_page_add(&page, name))
                break;
            ebb_jsonw_begin(&page.w, '{');
            put_policy(call, &page.w, list[i]);
            ebb_jsonw_end(&page.w, '}');
        }
        ebb__api_page_end(&page);
    }
    ebb_buf_fini(&position);
    free(list);
    return rc;
}

static void put_strs(struct ebb_jsonw *w, const char *key, const struct ebb_strs *list)
{
    ebb_jsonw_key(w, key);
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < list->count; i++)
        ebb_jsonw_str(w, list->items[i]);
    ebb_jsonw_end(w, ']');
}

static void put_binding(struct ebb_jsonw *w, const struct ebb_bound *b, const struct names *n)
{
    int64_t covers = 0;

    ebb_jsonw_begin(w, '{');
    put_strs(w, "tables", &b->binding->tables);
    ebb_jsonw_kstr(w, "mode", MODES[b->binding->mode]);
    if (b->binding->params) {
        ebb_jsonw_key(w, "params");
        ebb_value_write(b->binding->params, w);
    }
    ebb_jsonw_key(w, "covered");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < n->list.count; i++)
        if (may_bind(b, n->list.items[i]) && covers++ < COVERAGE_MAX)
            ebb_jsonw_str(w, n->list.items[i]);
    ebb_jsonw_end(w, ']');
    ebb_jsonw_kint(w, "covers", covers);
    ebb_jsonw_end(w, '}');
}

static int show_policy(struct ebb_api_call *call, const struct ebb_policy *policy, const struct names *n,
                       struct ebb_err *err)
{
    const struct ebb_generation *g = call->generation;
    struct ebb_value *sources = NULL;
    struct ebb_jsonw w;
    int rc = ebb_policy_sources(policy, &sources, err);

    if (rc)
        return rc;
    ebb_jsonw_init(&w, &call->out);
    ebb_jsonw_begin(&w, '{');
    put_policy(call, &w, policy);
    ebb_jsonw_kstr(&w, "generation", g->hash);
    ebb_jsonw_kstr(&w, "file", ebb_policy_get_file(policy));
    ebb_jsonw_key(&w, "manifest");
    ebb_value_write(ebb_policy_get_manifest(policy), &w);
    if (ebb_value_text_of(sources, "source"))
        ebb_jsonw_kstr(&w, "source", ebb_value_text_of(sources, "source"));
    ebb_jsonw_key(&w, "bound");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < g->bound_count; i++)
        if (g->bound[i].policy == policy)
            put_binding(&w, &g->bound[i], n);
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&call->out, '\n');
    ebb_value_free(sources);
    return 0;
}

static int policy_get(struct ebb_api_call *call, struct ebb_err *err)
{
    const struct ebb_policy *policy = ebb_generation_find(call->generation, call->args->items[0]);
    struct names n = {.glob = NULL};
    int rc = policy ? 0 : ebb__api_not_found(err, "policy", call->args->items[0]);

    ebb_strs_init(&n.list);
    ebb_buf_init(&n.label, NAME_MAX_BYTES);
    if (!rc)
        rc = gather(call, &n, err);
    if (!rc)
        rc = show_policy(call, policy, &n, err);
    ebb_buf_fini(&n.label);
    ebb_strs_fini(&n.list);
    return rc;
}

const struct ebb_route EBB__API_TABLE_ROUTES[] = {
    {"GET", "/api/tables", EBB_ROLE_VIEW, tables_get, "Tables that the catalogs know, by name",
     "{'description':'policies: those bound to the name; the properties of a table may still keep one away.',"
     "'parameters':[{'$ref':'#/components/parameters/limit'},{'$ref':'#/components/parameters/cursor'},"
     "{'$ref':'#/components/parameters/table'}],'answer':{'200':{'$ref':'#/components/schemas/Tables'}}}"},
    {"GET", "/api/tables/{table}", EBB_ROLE_VIEW, table_get, "A table: what is bound to it, what comes next, last runs",
     "{'answer':{'200':{'$ref':'#/components/schemas/Table'}},'errors':[422]}"},
    {"POST", "/api/tables/{table}/look", EBB_ROLE_OPERATE, table_look, "Look at a table now, as if it had changed",
     "{'answer':{'202':{'$ref':'#/components/schemas/Ok'}},'errors':[422]}"},
    {"GET", "/api/policies", EBB_ROLE_VIEW, policies_get, "Policies of the active generation, by name",
     "{'parameters':[{'$ref':'#/components/parameters/limit'},{'$ref':'#/components/parameters/cursor'}],"
     "'answer':{'200':{'$ref':'#/components/schemas/Policies'}}}"},
    {"GET", "/api/policies/{name}", EBB_ROLE_VIEW, policy_get, "A policy: manifest, source, bindings, what they cover",
     "{'answer':{'200':{'$ref':'#/components/schemas/Policy'}}}"},
    {NULL, NULL, EBB_ROLE_NONE, NULL, NULL, NULL},
};
