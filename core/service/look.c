/* SPDX-License-Identifier: Apache-2.0
 *
 * Many tables, one transaction.
 */
#include "service/look_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/failpoint.h"

/* ---- the looker ---- */

static int open_engine(const char *scripts_dir, struct ebb_engine **out, struct ebb_err *err)
{
    struct ebb_buf dir;
    int rc;

    ebb_buf_init(&dir, 65536);
    ebb_pass_data_dir(&dir);
    ebb_buf_puts(&dir, "/scripts");
    rc = ebb_engine_new(scripts_dir ? scripts_dir : ebb_buf_cstr(&dir), out, err);
    ebb_buf_fini(&dir);
    if (rc)
        ebb_err_hint(err, "it belongs to the program: install ebb with its share folder, or mend the folder's rights");
    return rc;
}

int ebb_looker_check(struct ebb_err *err)
{
    struct ebb_engine *engine = NULL;
    int rc = open_engine(NULL, &engine, err);

    ebb_engine_free(engine);
    return rc;
}

int ebb_looker_new(struct ebb_workspace *ws, const char *scripts_dir, struct ebb_metrics *metrics,
                   struct ebb_looker **out, struct ebb_err *err)
{
    struct ebb_looker *looker = calloc(1, sizeof *looker);
    int rc;

    *out = NULL;
    if (!looker)
        return ebb_err_nomem(err);
    looker->ws = ws;
    looker->site = ebb_workspace_site(ws);
    looker->metrics = metrics;
    ebb_strs_init(&looker->bundles);
    ebb__fleet_init(&looker->fleet, ebb_workspace_config(ws), NULL, 0);
    rc = open_engine(scripts_dir, &looker->engine, err);
    if (rc)
        ebb_looker_free(looker);
    else
        *out = looker;
    return rc;
}

void ebb_looker_free(struct ebb_looker *looker)
{
    if (!looker)
        return;
    ebb_evaluator_free(looker->evaluator);
    ebb__look_settings_forget(looker);
    ebb__fleet_fini(&looker->fleet);
    ebb_engine_free(looker->engine);
    ebb_strs_fini(&looker->bundles);
    ebb_generation_unref(looker->generation);
    free(looker);
}

int ebb__looker_use(struct ebb_looker *looker, const struct ebb_generation *generation, struct ebb_err *err)
{
    ebb_evaluator_free(looker->evaluator);
    looker->evaluator = NULL;
    ebb__look_settings_forget(looker);
    ebb__fleet_fini(&looker->fleet);
    ebb__fleet_init(&looker->fleet, generation->config, generation->policies, generation->policy_count);
    return ebb_evaluator_new(&looker->evaluator, err);
}

/* A generation is kept as long as the evaluator knows its policies by their addresses. */
static int adopt(struct ebb_looker *looker, struct ebb_generation *generation, struct ebb_err *err)
{
    int rc;

    if (looker->generation == generation)
        return 0;
    rc = ebb__looker_use(looker, generation, err);
    ebb_generation_unref(looker->generation);
    looker->generation = rc ? NULL : ebb_generation_ref(generation);
    return rc;
}

/* ---- one table ---- */

bool ebb__look_is_fatal(int rc)
{
    return rc == -(int)EBB_ENOMEM || rc == -(int)EBB_ECANCELLED || rc == -(int)EBB_ESTORE ||
           rc == -(int)EBB_ESTORE_CORRUPT;
}

int ebb__look_gravity(enum ebb_error error)
{
    static const int ORDER[] = {2, 64, 4, 1, 3, 5};
    int status = ebb_error_exit(error);

    for (int i = 0; i < 6; i++)
        if (ORDER[i] == status)
            return i + 1;
    return 0;
}

static void keep_gravest(struct ebb_look *look, const struct ebb_err *err)
{
    if (ebb__look_gravity(err->error) > ebb__look_gravity(look->problem.error))
        look->problem = *err;
}

static bool takes(const struct ebb_bound *b, const struct ebb_table_ref *ref)
{
    return ebb__binding_may_take(b->binding, b->policy, ref->catalog, ref->namespace_, ref->name);
}

/* Each policy takes a table once, by its first binding that names it. */
static bool is_first(const struct ebb_generation *g, size_t at, const struct ebb_table_ref *ref)
{
    for (size_t i = 0; i < at; i++)
        if (g->bound[i].policy == g->bound[at].policy && takes(&g->bound[i], ref))
            return false;
    return true;
}

static bool is_for(const struct ebb_generation *g, const char *policy, size_t at, const struct ebb_table_ref *ref)
{
    const struct ebb_bound *b = &g->bound[at];

    return (!policy || !strcmp(policy, ebb_policy_get_name(b->policy))) && takes(b, ref) && is_first(g, at, ref);
}

bool ebb__look_is_for(const struct ebb_generation *g, const char *policy, const struct ebb_table_ref *ref)
{
    for (size_t i = 0; i < g->bound_count; i++)
        if (is_for(g, policy, i, ref))
            return true;
    return false;
}

static bool is_wanted(const struct ebb_policy *policy, const struct ebb_table *t, const struct ebb_value *base)
{
    return !ebb_policy_has_target(policy) ||
           ebb_policy_is_target(policy, t->ref.catalog, t->ref.namespace_, t->ref.name,
                                ebb_value_get(ebb_value_get(base, "table"), "properties"));
}

static int judge_bound(struct ebb_looker *looker, const struct ebb__look_way *way, size_t at,
                       const struct ebb_table *table, const struct ebb_value *base, struct ebb_look *look,
                       struct ebb_err *err)
{
    const struct ebb_bound *b = &way->generation->bound[at];
    struct ebb__look_step s;
    struct ebb_value *facts = NULL;
    int rc;

    memset(&s, 0, sizeof s);
    s.looker = looker;
    s.way = way;
    s.bound = b;
    s.table = table;
    s.wake_ms = INT64_MAX;
    s.report.policy = ebb_policy_get_name(b->policy);
    s.report.table = table->label;
    s.options =
        (struct ebb_facts_options){.policy = s.report.policy,
                                   .was = ebb_policy_get_was(b->policy),
                                   .flags = ebb_value_get(base, "flags"),
                                   .overlaps = ebb_value_int_of(ebb_value_get(base, "table"), "location_overlaps", -1)};
    s.base = base;
    s.options.runs_max = EBB__LOOK_LATEST_RUNS;
    rc = ebb__fleet_get(&looker->fleet, &s.options.fleet, err);
    if (!rc)
        rc = ebb_facts_over(looker->site, table, base, &s.options, &facts, err);
    s.options.runs_max = 0;
    s.facts = facts;
    if (!rc)
        rc = ebb__look_judge(&s, look, err);
    look->wake_ms = s.wake_ms < look->wake_ms ? s.wake_ms : look->wake_ms;
    ebb_value_free(facts);
    return rc;
}

/* A table that can't be read is told for each policy that would have been asked. */
static void tell_closed(const struct ebb__look_way *way, const struct ebb_table_ref *ref, const struct ebb_err *why)
{
    struct ebb_pass_report r = {.status = "failed", .error = why};
    struct ebb_buf label;

    ebb_buf_init(&label, 65536);
    ebb_buf_printf(&label, "%s.%s%s%s", ref->catalog, ref->namespace_ ? ref->namespace_ : "",
                   ref->namespace_ && ref->namespace_[0] ? "." : "", ref->name);
    r.table = ebb_buf_cstr(&label);
    for (size_t i = 0; way->told && !label.bad && i < way->generation->bound_count; i++)
        if (is_for(way->generation, way->policy, i, ref)) {
            r.policy = ebb_policy_get_name(way->generation->bound[i].policy);
            way->told(way->data, &r, NULL);
        }
    ebb_buf_fini(&label);
}

static int note_place(const struct ebb_table *t, struct ebb_look *look, struct ebb_err *err)
{
    const struct ebb_metadata *m = t->metadata;

    if (m->uuid)
        snprintf(look->uuid, sizeof look->uuid, "%s", m->uuid);
    look->location = strdup(m->location);
    look->metadata_uri = strdup(t->ref.metadata_uri);
    return look->location && look->metadata_uri ? 0 : ebb_err_nomem(err);
}

static int judge_all(struct ebb_looker *looker, const struct ebb__look_way *way, const struct ebb_table *t,
                     const struct ebb_value *base, struct ebb_look *look, struct ebb_err *err)
{
    for (size_t i = 0; i < way->generation->bound_count; i++) {
        struct ebb_err why;
        int rc;

        if (!is_for(way->generation, way->policy, i, &t->ref) || !is_wanted(way->generation->bound[i].policy, t, base))
            continue;
        memset(&why, 0, sizeof why);
        rc = judge_bound(looker, way, i, t, base, look, &why);
        if (rc)
            keep_gravest(look, &why);
        if (ebb__look_is_fatal(rc)) {
            if (err)
                *err = why;
            return rc;
        }
    }
    return 0;
}

static int look_at(struct ebb_looker *looker, const struct ebb__look_way *way, const struct ebb_table *t,
                   int64_t overlaps, struct ebb_look *look, struct ebb_err *err)
{
    struct ebb_facts_options options = {.overlaps = overlaps, .flags = ebb_workspace_config(looker->ws)->flags};
    struct ebb_value *base = NULL;
    int rc = note_place(t, look, err);

    if (!rc)
        rc = ebb_facts_new(looker->site, t, &options, ebb_clock_now(&looker->site->clock), &base, err);
    if (rc && !ebb__look_is_fatal(rc)) {
        keep_gravest(look, err);
        tell_closed(way, &t->ref, err);
        return 0;
    }
    if (!rc)
        rc = judge_all(looker, way, t, base, look, err);
    ebb_value_free(base);
    return rc;
}

int ebb__look_table(struct ebb_looker *looker, const struct ebb__look_way *way, const struct ebb_table_ref *ref,
                    int64_t overlaps, struct ebb_look *look, struct ebb_err *err)
{
    struct ebb_table *t = NULL;
    struct ebb_err why;
    int rc;

    memset(look, 0, sizeof *look);
    memset(&why, 0, sizeof why);
    look->wake_ms = INT64_MAX;
    if (!ebb__look_is_for(way->generation, way->policy, ref))
        return 0;
    if (ref->metadata_uri)
        rc = ebb_table_open_ref(looker->site, ref, &t, &why);
    else
        rc = -(int)(why = ref->problem).error;
    if (!rc)
        rc = look_at(looker, way, t, overlaps, look, &why);
    else if (!ebb__look_is_fatal(rc)) {
        keep_gravest(look, &why);
        tell_closed(way, ref, &why);
        rc = 0;
    }
    ebb_table_free(t);
    if (rc && err)
        *err = why;
    return rc;
}

void ebb_look_fini(struct ebb_look *look)
{
    free(look->location);
    free(look->metadata_uri);
    look->location = look->metadata_uri = NULL;
}

/* ---- many ---- */

static void forward(void *data, const struct ebb_pass_report *r, const struct ebb_job_record *job)
{
    const struct ebb_look_options *o = data;

    if (o->report)
        o->report(o->data, r->policy, r->table, r->verdict, r->status, r->decision, job ? job->id : NULL, r->error);
}

static int look_at_all(struct ebb_looker *looker, const struct ebb__look_way *way, const struct ebb_table_ref *refs,
                       size_t count, const struct ebb_look_options *o, struct ebb_look *looks, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++) {
        int64_t began_ms = ebb_clock_elapsed_ms();

        if (ebb_site_is_cancelled(looker->site))
            return ebb_err_set(err, EBB_ECANCELLED, "interrupted: while tables were looked at");
        rc = ebb__look_table(looker, way, &refs[i], o->overlaps_each ? o->overlaps_each[i] : o->overlaps, &looks[i],
                             err);
        ebb_metrics_add(looker->metrics, EBB_METRIC_LOOKS, NULL, 1);
        if (looks[i].problem.error)
            ebb_metrics_add(looker->metrics, EBB_METRIC_LOOK_ERRORS, NULL, 1);
        ebb_metrics_observe(looker->metrics, EBB_METRIC_LOOK_SECONDS,
                            (double)(ebb_clock_elapsed_ms() - began_ms) / 1000);
    }
    return rc;
}

int ebb_look_tables(struct ebb_looker *looker, struct ebb_generation *generation, const struct ebb_table_ref *refs,
                    size_t count, const struct ebb_look_options *o, struct ebb_look *looks, struct ebb_err *err)
{
    struct ebb__look_way way = {generation,           o->policy, false,         o->paused,   o->is_paused, forward,
                                (void *)(uintptr_t)o, o->owner,  o->occurrence, o->plan_only};
    struct ebb_store *store = looker->site->store;
    int rc = adopt(looker, generation, err);

    memset(looks, 0, count * sizeof *looks);
    if (o->is_after_end)
        ebb__fleet_forget(&looker->fleet);
    if (!rc)
        rc = ebb__fleet_load(&looker->fleet, store, err);
    if (!rc)
        rc = ebb_store_hold(store, err);
    if (rc)
        return rc;
    rc = look_at_all(looker, &way, refs, count, o, looks, err);
    EBB_FAILPOINT("look.release.before");
    if (!rc)
        rc = ebb_store_release(store, err);
    else
        ebb_store_drop_held(store);
    EBB_FAILPOINT("look.release.after");
    if (rc) { /* what was added in memory is not in the store */
        ebb__fleet_forget(&looker->fleet);
        ebb_strs_fini(&looker->bundles);
    }
    return rc;
}
