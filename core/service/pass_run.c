/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass: each binding looks at each table of the catalogs, one policy on one table after the other, and what a look
 * queued is carried out before the next. What fails for one table is told and does not stop the others.
 */
#include <stdlib.h>

#include "base/failpoint.h"
#include "service/pass_run_priv.h"

void ebb__pass_keep_gravest(struct ebb__pass *p, const struct ebb_err *err)
{
    if (!p->has_error || ebb__look_gravity(err->error) > ebb__look_gravity(p->gravest.error))
        p->gravest = *err;
    p->has_error = true;
}

/* ---- one table ---- */

void ebb__pass_tell(const struct ebb__pass *p, const struct ebb_pass_report *r)
{
    if (p->options->report)
        p->options->report(p->options->data, r);
}

/* Nothing, or one policy. A job is carried out after the look, when it is in the store. */
static void on_told(void *data, const struct ebb_pass_report *r, const struct ebb_job_record *job)
{
    struct ebb__pass *p = data;

    p->has_told = true;
    if (!job)
        ebb__pass_tell(p, r);
    else
        ebb__pass_keep_job(p, r, job);
}

static int look(struct ebb__pass *p, const struct ebb_table_ref *ref, int64_t overlaps, struct ebb_look *out,
                struct ebb_err *err)
{
    struct ebb__look_way way = {
        .generation = &p->generation, .policy = p->policy, .is_dry = p->options->dry_run, .told = on_told, .data = p};
    struct ebb_store *store = p->site->store;
    int rc = ebb__fleet_load(&p->looker->fleet, store, err);

    if (!rc)
        rc = ebb_store_hold(store, err);
    if (rc)
        return rc;
    rc = ebb__look_table(p->looker, &way, ref, overlaps, out, err);
    EBB_FAILPOINT("pass.release.before");
    if (!rc)
        rc = ebb_store_release(store, err);
    else
        ebb_store_drop_held(store);
    EBB_FAILPOINT("pass.release.after");
    if (rc)
        ebb_strs_fini(&p->looker->bundles);
    return rc;
}

static int take_table(struct ebb__pass *p, const struct ebb_table_ref *ref, const char *label, struct ebb_err *err)
{
    struct ebb_look out;
    int rc;

    p->has_told = false;
    memset(&out, 0, sizeof out);
    rc = look(p, ref, ebb__neighbours_count_of(&p->neighbours, p->ws, label), &out, err);
    if (!rc && out.problem.error) {
        *err = out.problem;
        rc = -(int)out.problem.error;
    } else if (rc && !p->has_told) {
        struct ebb_pass_report r = {.policy = p->policy, .table = label, .status = "failed", .error = err};

        ebb__pass_tell(p, &r);
    }
    ebb_look_fini(&out);
    return ebb__pass_end_job(p, rc, err);
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
    if (!rc && (!p->options->table || ebb_table_glob_is_match(p->options->table, ebb_buf_cstr(&label))) &&
        ebb__look_is_for(&p->generation, p->policy, ref))
        rc = take_table(p, ref, ebb_buf_cstr(&label), &why);
    ebb_buf_fini(&label);
    if (rc)
        ebb__pass_keep_gravest(p, &why);
    if (rc != -(int)EBB_ENOMEM && (rc != -(int)EBB_ECANCELLED || !ebb_site_is_cancelled(p->site)))
        return 0; /* that its time was over ends a job, not the pass */
    if (err)
        *err = why;
    return rc;
}

/* ---- all bindings ---- */

static int run_policy(struct ebb__pass *p, const char *policy, struct ebb_err *err)
{
    struct ebb_err why;

    p->policy = policy;
    for (size_t i = 0; i < p->site->catalog_count; i++) {
        int rc;

        memset(&why, 0, sizeof why);
        rc = ebb_catalog_list(p->site->catalogs[i], on_table, p, &why);
        if (!rc)
            continue;
        ebb__pass_keep_gravest(p, &why);
        if (rc == -(int)EBB_ECANCELLED || rc == -(int)EBB_ENOMEM) {
            if (err)
                *err = why;
            return rc;
        }
        ebb_log_say(&p->site->log, EBB_LOG_WARN, "%s", why.message);
    }
    return 0;
}

/* Whether an earlier binding is of the same policy. */
static bool is_again(const struct ebb_config *c, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!strcmp(c->bindings[i].policy, c->bindings[at].policy))
            return true;
    return false;
}

/* Bindings with their policies; one whose policy is not there is told, and the others go on. */
static int bind_all(struct ebb__pass *p, const struct ebb_config *c, struct ebb_err *err)
{
    struct ebb_generation *g = &p->generation;

    g->config = (struct ebb_config *)(uintptr_t)c;
    g->policies = p->policies.items;
    g->policy_count = p->policies.count;
    g->bound = calloc(c->binding_count + 1, sizeof *g->bound);
    if (!g->bound)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < c->binding_count; i++) {
        const struct ebb_policy *policy = ebb__policy_list_find(&p->policies, c->bindings[i].policy);
        struct ebb_err why;

        if (policy) {
            g->bound[g->bound_count++] = (struct ebb_bound){policy, &c->bindings[i], false};
        } else if (!p->options->policy || !strcmp(p->options->policy, c->bindings[i].policy)) {
            ebb_err_set(&why, EBB_ECONFIG, "bind: policy %s: is not in the folder of policies, or does not load",
                        c->bindings[i].policy);
            ebb__pass_keep_gravest(p, &why);
        }
    }
    return ebb__looker_use(p->looker, g, err);
}

static int run_all(struct ebb__pass *p, struct ebb_err *err)
{
    const struct ebb_config *c = ebb_workspace_config(p->ws);
    bool is_known = !p->options->policy;
    int rc = ebb_looker_new(p->ws, p->options->scripts_dir, NULL, &p->looker, err);

    if (!rc)
        rc = ebb__policy_list_load(p->ws, &p->policies, err);
    if (!rc && p->policies.first_error.error)
        ebb__pass_keep_gravest(p, &p->policies.first_error);
    if (!rc)
        rc = bind_all(p, c, err);
    if (!rc && !p->options->dry_run)
        rc = ebb__pass_end_left(p, err);
    for (size_t i = 0; !rc && i < c->binding_count; i++) {
        bool is_named = p->options->policy && !strcmp(p->options->policy, c->bindings[i].policy);

        is_known = is_known || is_named;
        if ((is_named || !p->options->policy) && !is_again(c, i))
            rc = run_policy(p, c->bindings[i].policy, err);
    }
    return rc || is_known ? rc : ebb_err_set(err, EBB_EUSAGE, "--policy %s: is bound to no table", p->options->policy);
}

/* One at a time carries jobs out: another pass, or a daemon. A dry pass does nothing that could be done twice. */
static int lead(const struct ebb__pass *p, struct ebb_err *err)
{
    int64_t epoch;
    int rc = p->options->dry_run ? 0 : ebb_store_lead(p->site->store, &epoch, err);

    if (rc == -(int)EBB_ELOCKED)
        ebb_err_hint(err, "`ebb serve` or another `ebb run` works here; with --dry-run nothing is applied");
    return rc;
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
    rc = lead(&p, err);
    if (rc)
        return rc;
    rc = run_all(&p, err);
    if (!rc && p.has_error) {
        rc = -(int)p.gravest.error;
        if (err)
            *err = p.gravest;
    }
    ebb_looker_free(p.looker);
    ebb__policy_list_fini(&p.policies);
    ebb__neighbours_fini(&p.neighbours);
    free(p.generation.bound);
    if (!options->dry_run)
        ebb_store_resign(p.site->store);
    return rc;
}
