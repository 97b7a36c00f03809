/* SPDX-License-Identifier: Apache-2.0
 *
 * Coming fires of policies on tables, as a pass would come to them.
 */
#include <stdlib.h>

#include "service/objects.h"
#include "service/pass_priv.h"
#include "service/preview.h"

struct gathering {
    struct ebb_workspace *ws;
    const struct ebb_preview_options *o;
    struct ebb_coming *out;
    const struct ebb_policy *policy;   /* at hand */
    const struct ebb_binding *binding; /* at hand, or NULL */
    const char *table;                 /* at hand, or NULL */
    struct ebb_strs seen;              /* tables that the policy at hand took by an earlier binding */
    size_t taken;                      /* pairs of the policy at hand */
    int64_t now_ms;
    /* Those of the store, which a daemon runs; none where the workspace has a generation, which knows them. */
    struct ebb_object_bindings objects;
};

/* ---- the list ---- */

static void fini_fire(struct ebb_coming_fire *f)
{
    free(f->policy);
    free(f->table);
    ebb_strs_fini(&f->fire.why);
}

void ebb_coming_fini(struct ebb_coming *list)
{
    for (size_t i = 0; i < list->count; i++)
        fini_fire(&list->items[i]);
    free(list->items);
    memset(list, 0, sizeof *list);
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int by_time(const void *a, const void *b)
{
    const struct ebb_coming_fire *x = a, *y = b;
    int order = compare_texts(x->policy, y->policy);

    if (x->fire.fires_ms != y->fire.fires_ms)
        return x->fire.fires_ms < y->fire.fires_ms ? -1 : 1;
    return order ? order : compare_texts(x->table, y->table);
}

/* Only the first n stay. */
static void trim(struct gathering *g)
{
    struct ebb_coming *list = g->out;

    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, by_time);
    while (list->count > g->o->n)
        fini_fire(&list->items[--list->count]);
}

static int grow(struct ebb_coming *list, struct ebb_err *err)
{
    size_t cap = list->cap ? list->cap * 2 : 16;
    struct ebb_coming_fire *grown;

    if (list->count < list->cap)
        return 0;
    grown = realloc(list->items, cap * sizeof *grown);
    if (!grown)
        return ebb_err_nomem(err);
    list->items = grown;
    list->cap = cap;
    return 0;
}

static int on_fire(void *data, const struct ebb_fire *fire, struct ebb_err *err)
{
    struct gathering *g = data;
    struct ebb_coming_fire *f;
    int rc = grow(g->out, err);

    if (rc)
        return rc;
    f = &g->out->items[g->out->count++];
    memset(f, 0, sizeof *f);
    f->fire = *fire;
    ebb_strs_init(&f->fire.why);
    f->policy = strdup(ebb_policy_get_name(g->policy));
    f->table = g->table ? strdup(g->table) : NULL;
    if (!f->policy || (g->table && !f->table))
        rc = ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < fire->why.count; i++)
        rc = ebb_strs_add(&f->fire.why, fire->why.items[i], err);
    return rc;
}

/* ---- one policy on one table, or by itself ---- */

static bool has_spread(const struct ebb_settings *settings)
{
    for (size_t i = 0; i < ebb_settings_get_trigger_count(settings); i++)
        if (ebb_settings_get_trigger(settings, i)->spread_ms > 0)
            return true;
    return false;
}

static int preview(struct gathering *g, const struct ebb_value *facts, struct ebb_err *err)
{
    const struct ebb_value *table = ebb_value_get(facts, "table");
    struct ebb_schedule_input in = {
        .policy = g->policy, .uuid = ebb_value_text_of(table, "uuid"), .facts = facts, .now_ms = g->now_ms};
    struct ebb_settings *settings = NULL;
    struct ebb_settings_site site;
    int rc;

    ebb_binding_site(g->binding, &site);
    rc = ebb_settings_new_bound(g->policy, &site, ebb_value_get(table, "properties"), &settings, err);
    in.settings = settings;
    if (!rc)
        rc = ebb_preview(&in, g->now_ms, g->o->n, on_fire, g, err);
    if (!rc && !in.uuid && has_spread(settings))
        g->out->leaves_spread = true;
    g->taken++;
    trim(g);
    ebb_settings_free(settings);
    return rc;
}

static int preview_table(struct gathering *g, const struct ebb_value *facts, struct ebb_err *err)
{
    const struct ebb_value *t = ebb_value_get(facts, "table");
    const char *catalog = ebb_value_text_of(t, "catalog"), *ns = ebb_value_text_of(t, "namespace"),
               *name = ebb_value_text_of(t, "name");
    struct ebb_buf label;
    int rc;

    if (ebb_policy_has_target(g->policy) && !ebb_policy_is_target(g->policy, catalog ? catalog : "", ns ? ns : "",
                                                                  name ? name : "", ebb_value_get(t, "properties")))
        return 0;
    ebb_buf_init(&label, 65536);
    ebb_buf_printf(&label, "%s.%s%s%s", catalog ? catalog : "", ns ? ns : "", ns && ns[0] ? "." : "", name ? name : "");
    rc = ebb_buf_check(&label, "table name", err);
    g->table = ebb_buf_cstr(&label);
    if (!rc)
        rc = preview(g, facts, err);
    g->table = NULL;
    ebb_buf_fini(&label);
    return rc;
}

/* By index: those that the workspace knows, then those of policy objects; NULL past the last. */
static const struct ebb_binding *binding_at(const struct gathering *g, size_t index)
{
    size_t known = 0;

    while (ebb__pass_binding_at(g->ws, known) && known <= index)
        known++;
    if (index < known)
        return ebb__pass_binding_at(g->ws, index);
    return index - known < g->objects.count ? &g->objects.items[index - known].binding : NULL;
}

static const struct ebb_object_binding *find_object(const struct gathering *g, const char *policy)
{
    for (size_t i = 0; i < g->objects.count; i++)
        if (!strcmp(ebb_policy_get_name(g->objects.items[i].policy), policy))
            return &g->objects.items[i];
    return NULL;
}

/* An object has one binding, and takes nothing else. */
static bool is_tied(const struct ebb_object_binding *object, const struct ebb_value *facts)
{
    const struct ebb_value *t = ebb_value_get(facts, "table");
    const char *catalog = ebb_value_text_of(t, "catalog"), *ns = ebb_value_text_of(t, "namespace"),
               *name = ebb_value_text_of(t, "name");

    return ebb__binding_may_take(&object->binding, object->policy, catalog ? catalog : "", ns ? ns : "",
                                 name ? name : "");
}

static int preview_named(struct gathering *g, struct ebb_err *err)
{
    const struct ebb_object_binding *object = find_object(g, ebb_policy_get_name(g->policy));
    struct ebb_decide_options o = {.policy = ebb_policy_get_name(g->policy), .table = g->o->table};
    struct ebb_value *facts = NULL;
    int rc = ebb__pass_facts(g->ws, &o, g->policy, g->now_ms, &facts, err);

    if (!rc)
        g->binding = object ? &object->binding : ebb__pass_binding(g->ws, g->policy, facts);
    if (!rc && (!object || is_tied(object, facts)))
        rc = preview_table(g, facts, err);
    if (!rc && !g->taken)
        ebb_log_say(&ebb_workspace_site(g->ws)->log, EBB_LOG_WARN, "%s: policy %s does not take it", g->o->table,
                    ebb_policy_get_name(g->policy));
    ebb_value_free(facts);
    return rc;
}

/* ---- the tables of bindings ---- */

static int open_and_preview(struct gathering *g, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct ebb_facts_options options = {
        .policy = ebb_policy_get_name(g->policy), .overlaps = -1, .flags = ebb_workspace_config(g->ws)->flags};
    struct ebb_site *site = ebb_workspace_site(g->ws);
    struct ebb_value *facts = NULL;
    struct ebb_table *t = NULL;
    int rc;

    if (!ref->metadata_uri) {
        if (err)
            *err = ref->problem;
        return -(int)ref->problem.error;
    }
    rc = ebb_table_open_ref(site, ref, &t, err);
    if (!rc)
        rc = ebb_facts_new(site, t, &options, g->now_ms, &facts, err);
    if (!rc)
        rc = preview_table(g, facts, err);
    ebb_value_free(facts);
    ebb_table_free(t);
    return rc;
}

/* A table that can't be read is told of and left out. */
static int on_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct gathering *g = data;
    struct ebb_site *site = ebb_workspace_site(g->ws);
    struct ebb_buf label;
    struct ebb_err why;
    int rc;

    if (ebb_site_is_cancelled(site))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: while looking at tables");
    if (!ebb__binding_may_take(g->binding, g->policy, ref->catalog, ref->namespace_, ref->name))
        return 0;
    memset(&why, 0, sizeof why);
    ebb_buf_init(&label, 65536);
    ebb_buf_printf(&label, "%s.%s%s%s", ref->catalog, ref->namespace_ ? ref->namespace_ : "",
                   ref->namespace_ && ref->namespace_[0] ? "." : "", ref->name);
    rc = ebb_buf_check(&label, "table name", &why);
    if (!rc && !ebb_strs_has(&g->seen, ebb_buf_cstr(&label))) {
        rc = ebb_strs_add(&g->seen, ebb_buf_cstr(&label), &why);
        if (!rc)
            rc = open_and_preview(g, ref, &why);
    }
    ebb_buf_fini(&label);
    if (rc && rc != -(int)EBB_ENOMEM && rc != -(int)EBB_ECANCELLED) {
        ebb_log_say(&site->log, EBB_LOG_WARN, "%s", why.message);
        return 0;
    }
    if (rc && err)
        *err = why;
    return rc;
}

/* The bindings of a policy together, in their order. */
static int preview_bound(struct gathering *g, struct ebb_err *err)
{
    struct ebb_site *site = ebb_workspace_site(g->ws);
    const struct ebb_binding *b;
    int rc = 0;

    for (size_t i = 0; !rc && (b = binding_at(g, i)) != NULL; i++) {
        g->binding = b;
        if (strcmp(b->policy, ebb_policy_get_name(g->policy)))
            continue;
        for (size_t k = 0; !rc && k < site->catalog_count; k++)
            rc = ebb_catalog_list(site->catalogs[k], on_table, g, err);
    }
    ebb_strs_fini(&g->seen);
    ebb_strs_init(&g->seen);
    return rc;
}

/* ---- policies ---- */

/* The site's flags count without a table too. */
static int preview_alone(struct gathering *g, struct ebb_err *err)
{
    struct ebb_value *facts = ebb_value_new_map(NULL);
    int rc;

    g->binding = NULL;
    ebb_value_put_copy(facts, "flags", ebb_workspace_config(g->ws)->flags);
    rc = ebb_value_check(facts, "flags", err);
    if (!rc)
        rc = preview(g, facts, err);
    ebb_value_free(facts);
    return rc;
}

static int preview_policy(struct gathering *g, bool is_file, struct ebb_err *err)
{
    int rc;

    g->taken = 0;
    if (g->o->table)
        return preview_named(g, err);
    rc = is_file ? 0 : preview_bound(g, err);
    return rc || g->taken || !(g->o->policy || g->o->loaded) ? rc : preview_alone(g, err);
}

static bool is_bound(const struct gathering *g, const char *name)
{
    const struct ebb_binding *b;

    for (size_t i = 0; (b = binding_at(g, i)) != NULL; i++)
        if (!strcmp(b->policy, name))
            return true;
    return false;
}

/* Bindings of the configuration come first: without any, there need not be a folder. */
static int preview_listed(struct gathering *g, struct ebb_policy_list *list, struct ebb_err *err)
{
    int rc = ebb__pass_binding_at(g->ws, 0) ? ebb__policy_list_load(g->ws, list, err) : 0;

    if (!rc && list->first_error.error)
        ebb_log_say(&ebb_workspace_site(g->ws)->log, EBB_LOG_WARN, "%s", list->first_error.message);
    for (size_t i = 0; !rc && i < list->count; i++) {
        g->policy = list->items[i];
        if (is_bound(g, ebb_policy_get_name(g->policy)))
            rc = preview_policy(g, false, err);
    }
    return rc;
}

static int preview_objects(struct gathering *g, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < g->objects.count; i++) {
        g->policy = g->objects.items[i].policy;
        rc = preview_policy(g, false, err);
    }
    return rc;
}

static int preview_all(struct gathering *g, struct ebb_err *err)
{
    struct ebb_policy_list list = {0};
    int rc;

    if (!binding_at(g, 0)) {
        rc = ebb_err_set(err, EBB_ECONFIG, "next: no policy is bound to any table");
        ebb_err_hint(err, "name a policy: ebb next policies/orphans.lua");
        return rc;
    }
    rc = preview_listed(g, &list, err);
    if (!rc)
        rc = preview_objects(g, err);
    ebb__policy_list_fini(&list);
    return rc;
}

static int preview_one(struct gathering *g, struct ebb_err *err)
{
    const char *name = g->o->policy;
    const struct ebb_object_binding *object = find_object(g, name);
    struct ebb_policy *policy = NULL;
    int rc;

    g->policy = object ? object->policy : NULL;
    if (object)
        return preview_policy(g, false, err);
    rc = ebb_pass_load_policy(g->ws, name, &policy, err);
    g->policy = policy;
    if (!rc)
        rc = preview_policy(g, strchr(name, '/') || ebb__pass_is_policy_file(name), err);
    ebb_policy_free(policy);
    return rc;
}

int ebb_preview_pass(struct ebb_workspace *ws, const struct ebb_preview_options *o, struct ebb_coming *out,
                     struct ebb_err *err)
{
    struct gathering g = {.ws = ws, .o = o, .out = out, .now_ms = ebb_clock_now(&ebb_workspace_site(ws)->clock)};
    struct ebb_store *store = ebb_workspace_site(ws)->store;
    int rc = 0;

    memset(out, 0, sizeof *out);
    ebb_strs_init(&g.seen);
    if (store && !ebb_workspace_generation(ws))
        rc = ebb_object_bindings_load(store, ebb_workspace_config(ws), &g.objects, err);
    g.policy = o->loaded;
    if (!rc && o->loaded)
        rc = preview_policy(&g, false, err);
    else if (!rc)
        rc = o->policy ? preview_one(&g, err) : preview_all(&g, err);
    ebb_object_bindings_fini(&g.objects);
    ebb_strs_fini(&g.seen);
    return rc;
}
