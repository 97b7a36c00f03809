/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass: each binding looks at each table of the catalogs. What fails for one table is told and does not stop the
 * others.
 */
#include <stdlib.h>

#include "service/pass_priv.h"

static int gravity(enum ebb_error error)
{
    static const int ORDER[] = {2, 64, 4, 1, 3, 5};
    int status = ebb_error_exit(error);

    for (int i = 0; i < 6; i++)
        if (ORDER[i] == status)
            return i;
    return 0;
}

static void keep_gravest(struct ebb__pass *p, const struct ebb_err *err)
{
    if (!p->has_error || gravity(err->error) > gravity(p->gravest.error))
        p->gravest = *err;
    p->has_error = true;
}

/* ---- one table ---- */

static bool is_wanted(const struct ebb__pass *p, const struct ebb_table *t, const struct ebb_value *facts)
{
    return !ebb_policy_has_target(p->policy) ||
           ebb_policy_is_target(p->policy, t->ref.catalog, t->ref.namespace_, t->ref.name,
                                ebb_value_get(ebb_value_get(facts, "table"), "properties"));
}

/* Looked at again each second: a pass over many tables is long. */
static int look_at_fleet(struct ebb__pass *p, struct ebb_err *err)
{
    int64_t now_ms = ebb_clock_elapsed_ms();

    if (p->fleet && p->fleet_policy == p->policy && now_ms - p->fleet_ms < 1000)
        return 0;
    ebb_value_free(p->fleet);
    p->fleet_policy = p->policy;
    p->fleet_ms = now_ms;
    return ebb__pass_fleet(p->ws, &p->policies, p->policy, &p->fleet, err);
}

static int take_table(struct ebb__pass *p, const struct ebb_table *t, struct ebb_err *err)
{
    struct ebb_facts_options options = {.policy = ebb_policy_get_name(p->policy),
                                        .was = ebb_policy_get_was(p->policy),
                                        .flags = ebb_workspace_config(p->ws)->flags};
    struct ebb_value *facts = NULL;
    int rc = look_at_fleet(p, err);

    options.overlaps = ebb__neighbours_count(&p->neighbours, p->ws, t);
    options.fleet = p->fleet;
    if (!rc)
        rc = ebb_facts_new(p->site, t, &options, ebb_clock_now(&p->site->clock), &facts, err);
    if (!rc && is_wanted(p, t, facts)) {
        rc = ebb_strs_add(&p->seen, t->label, err);
        if (!rc)
            rc = ebb__pass_take(p, t, &options, facts, err);
    } else if (rc) {
        struct ebb_pass_report r = {.policy = options.policy, .table = t->label, .status = "failed", .error = err};

        ebb__pass_report(p, &r);
    }
    ebb_value_free(facts);
    return rc;
}

/* A table that can't be opened. */
static int report_closed(const struct ebb__pass *p, const char *label, const struct ebb_err *why)
{
    struct ebb_pass_report r = {
        .policy = ebb_policy_get_name(p->policy), .table = label, .status = "failed", .error = why};

    ebb__pass_report(p, &r);
    return -(int)why->error;
}

static int open_and_take(struct ebb__pass *p, const struct ebb_table_ref *ref, const char *label, struct ebb_err *err)
{
    struct ebb_table *t = NULL;
    int rc;

    if (!ref->metadata_uri) {
        *err = ref->problem;
        return report_closed(p, label, err);
    }
    rc = ebb_table_open_ref(p->site, ref, &t, err);
    rc = rc ? report_closed(p, label, err) : take_table(p, t, err);
    ebb_table_free(t);
    return rc;
}

/* Each policy takes a table once, by its first binding that names it. */
static bool is_for(const struct ebb__pass *p, const struct ebb_table_ref *ref, const char *label)
{
    if (!ebb__binding_may_take(p->binding, p->policy, ref->catalog, ref->namespace_, ref->name))
        return false;
    if (p->options->table && !ebb_table_glob_is_match(p->options->table, label))
        return false;
    return !ebb_strs_has(&p->seen, label);
}

static int on_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct ebb__pass *p = data;
    struct ebb_buf label;
    struct ebb_err why;
    int rc;

    if (ebb_site_is_cancelled(p->site))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: during the pass");
    memset(&why, 0, sizeof why);
    ebb_buf_init(&label, 65536);
    ebb_buf_printf(&label, "%s.%s%s%s", ref->catalog, ref->namespace_ ? ref->namespace_ : "",
                   ref->namespace_ && ref->namespace_[0] ? "." : "", ref->name);
    rc = ebb_buf_check(&label, "table name", &why);
    if (!rc && is_for(p, ref, ebb_buf_cstr(&label)))
        rc = open_and_take(p, ref, ebb_buf_cstr(&label), &why);
    ebb_buf_fini(&label);
    if (rc)
        keep_gravest(p, &why);
    if (rc != -(int)EBB_ECANCELLED && rc != -(int)EBB_ENOMEM)
        return 0;
    if (err)
        *err = why;
    return rc;
}

/* ---- all bindings ---- */

/* Whether an earlier binding is of the same policy. */
static bool is_again(const struct ebb_config *c, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!strcmp(c->bindings[i].policy, c->bindings[at].policy))
            return true;
    return false;
}

static int run_binding(struct ebb__pass *p, const struct ebb_binding *binding, struct ebb_err *err)
{
    struct ebb_err why;

    p->binding = binding;
    p->policy = ebb__policy_list_find(&p->policies, binding->policy);
    if (!p->policy) {
        ebb_err_set(&why, EBB_ECONFIG, "bind: policy %s: is not in the folder of policies, or does not load",
                    binding->policy);
        keep_gravest(p, &why);
        return 0;
    }
    for (size_t i = 0; i < p->site->catalog_count; i++) {
        int rc;

        memset(&why, 0, sizeof why);
        rc = ebb_catalog_list(p->site->catalogs[i], on_table, p, &why);
        if (!rc)
            continue;
        keep_gravest(p, &why);
        if (rc == -(int)EBB_ECANCELLED || rc == -(int)EBB_ENOMEM) {
            if (err)
                *err = why;
            return rc;
        }
        ebb_log_say(&p->site->log, EBB_LOG_WARN, "%s", why.message);
    }
    return 0;
}

/* The bindings of one policy together, in their order: what the first of them took is not taken again. */
static int run_policy(struct ebb__pass *p, const struct ebb_config *c, size_t first, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = first; !rc && i < c->binding_count; i++)
        if (!strcmp(c->bindings[i].policy, c->bindings[first].policy))
            rc = run_binding(p, &c->bindings[i], err);
    ebb_strs_fini(&p->seen);
    ebb_strs_init(&p->seen);
    return rc;
}

static int open_engine(struct ebb__pass *p, struct ebb_err *err)
{
    struct ebb_buf dir;
    int rc;

    ebb_buf_init(&dir, 65536);
    ebb_pass_data_dir(&dir);
    ebb_buf_puts(&dir, "/scripts");
    rc = ebb_engine_new(p->options->scripts_dir ? p->options->scripts_dir : ebb_buf_cstr(&dir), &p->engine, err);
    ebb_buf_fini(&dir);
    return rc;
}

static int run_all(struct ebb__pass *p, struct ebb_err *err)
{
    const struct ebb_config *c = ebb_workspace_config(p->ws);
    bool is_known = !p->options->policy;
    int rc = open_engine(p, err);

    if (!rc)
        rc = ebb__policy_list_load(p->ws, &p->policies, err);
    if (!rc && p->policies.first_error.error)
        keep_gravest(p, &p->policies.first_error);
    for (size_t i = 0; !rc && i < c->binding_count; i++) {
        bool is_named = p->options->policy && !strcmp(p->options->policy, c->bindings[i].policy);

        is_known = is_known || is_named;
        if ((is_named || !p->options->policy) && !is_again(c, i))
            rc = run_policy(p, c, i, err);
    }
    return rc || is_known ? rc : ebb_err_set(err, EBB_EUSAGE, "--policy %s: is bound to no table", p->options->policy);
}

int ebb_pass_run(struct ebb_workspace *ws, const struct ebb_pass_options *options, struct ebb_err *err)
{
    struct ebb__pass p;
    int rc;

    memset(&p, 0, sizeof p);
    p.ws = ws;
    p.site = ebb_workspace_site(ws);
    p.options = options;
    if (!ebb_workspace_config(ws)->binding_count) {
        rc = ebb_err_set(err, EBB_ECONFIG, "run: no policy is bound to any table");
        ebb_err_hint(err, "add bind = { { policy = \"…\", tables = { \"catalog.namespace.*\" } } } to ebb.lua");
        return rc;
    }
    rc = run_all(&p, err);
    if (!rc && p.has_error) {
        rc = -(int)p.gravest.error;
        if (err)
            *err = p.gravest;
    }
    ebb_value_free(p.fleet);
    ebb__policy_list_fini(&p.policies);
    ebb_engine_free(p.engine);
    ebb__neighbours_fini(&p.neighbours);
    ebb_strs_fini(&p.seen);
    return rc;
}
