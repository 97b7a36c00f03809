/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass. The value moves along: facts, decision, job, plan, run; each is recorded before the next begins.
 */
#include <stdlib.h>

#include "service/pass_priv.h"
#include "service/schedule.h"

struct pass {
    struct ebb_workspace *ws;
    struct ebb_site *site;
    const struct ebb_pass_options *options;
    struct ebb_policy_list policies;
    struct ebb_engine *engine;
    const struct ebb_binding *binding; /* at hand */
    const struct ebb_policy *policy;   /* at hand */
    struct ebb_strs seen;              /* "policy\ntable": a table is taken once per policy, by its first binding */
    struct ebb_err gravest;
    bool has_error;
};

/* ---- errors of a pass ---- */

static int gravity(enum ebb_error error)
{
    static const int ORDER[] = {2, 64, 4, 1, 3, 5};
    int status = ebb_error_exit(error);

    for (int i = 0; i < 6; i++)
        if (ORDER[i] == status)
            return i;
    return 0;
}

static void keep_gravest(struct pass *p, const struct ebb_err *err)
{
    if (!p->has_error || gravity(err->error) > gravity(p->gravest.error))
        p->gravest = *err;
    p->has_error = true;
}

static void report(const struct pass *p, const struct ebb_pass_report *r)
{
    if (p->options->report)
        p->options->report(p->options->data, r);
}

/* ---- one decision carried out ---- */

struct step {
    const struct ebb_table *table;
    const struct ebb_value *facts;
    const struct ebb_decision *decision;
    char id[40]; /* of the decision */
    struct ebb_pass_report *report;
    struct ebb_job_result result;
};

/* A run that did not touch the table still counts for intervals and history. */
static int put_run(struct pass *p, const struct step *s, const char *status, const struct ebb_err *why, struct ebb_err *err)
{
    int64_t now_ms = ebb_clock_now(&p->site->clock);
    struct ebb_record record;
    struct ebb_jsonw w;
    struct ebb_buf json;
    char id[40];
    int rc;

    ebb_store_new_id(p->site->store, "r", now_ms, id);
    ebb_buf_init(&json, 65536);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "run", id);
    ebb_jsonw_kstr(&w, "kind", "decision");
    ebb_jsonw_kstr(&w, "decision", s->id);
    ebb_jsonw_kstr(&w, "policy", ebb_policy_get_name(p->policy));
    ebb_jsonw_kstr(&w, "table", s->table->label);
    ebb_jsonw_kstr(&w, "status", status);
    if (s->result.plan.id[0])
        ebb_jsonw_kstr(&w, "plan", s->result.plan.id);
    if (why) {
        ebb_jsonw_kstr(&w, "code", ebb_error_code(why->error));
        ebb_jsonw_kstr(&w, "message", why->message);
    }
    ebb_jsonw_end(&w, '}');
    record = (struct ebb_record){id, s->table->label, s->table->metadata->uuid ? s->table->metadata->uuid : "",
                                 ebb_policy_get_name(p->policy), status, now_ms, now_ms, s->id, ebb_buf_cstr(&json)};
    rc = ebb_buf_check(&json, "run record", err);
    if (!rc)
        rc = ebb_store_put(p->site->store, EBB_RECORD_RUN, &record, err);
    ebb_buf_fini(&json);
    return rc;
}

static int make_job(struct pass *p, const struct step *s, struct ebb_job *job, struct ebb_err *err)
{
    struct ebb_value *facts = NULL, *config = NULL;
    const struct ebb_value *c;
    struct ebb_job_args args;
    int rc = ebb_value_dup(s->facts, NULL, &facts, err);

    if (rc)
        return rc;
    ebb_value_put_int(facts, "now", ebb_clock_now(&p->site->clock));
    rc = ebb_engine_chain(p->engine, ebb_decision_get_action(s->decision), facts, &config, err);
    if (!rc) {
        memset(&args, 0, sizeof args);
        c = ebb_value_get(config, "config");
        args.catalog = ebb_value_text_of(c, "catalog_name");
        args.table = ebb_value_text_of(c, "table_identifier");
        args.older_than = ebb_value_text_of(c, "older_than");
        args.location = ebb_value_text_of(c, "location");
        args.dry_run = ebb_value_text_of(c, "dry_run");
        rc = ebb_job_parse(&args, ebb_clock_now(&p->site->clock), job, err);
    }
    ebb_value_free(config);
    ebb_value_free(facts);
    return rc;
}

static void origin_of(const struct pass *p, const struct step *s, struct ebb_job_origin *o)
{
    memset(o, 0, sizeof *o);
    o->policy = ebb_policy_get_name(p->policy);
    o->decision = s->id;
    o->policy_json = ebb_decision_get_record(s->decision);
    o->fuses = *ebb_decision_get_fuses(s->decision);
    o->plan_only = p->binding->mode != EBB_BIND_ENFORCE || p->options->dry_run;
    o->needs_full = p->binding->mode == EBB_BIND_ENFORCE;
    o->allow_below_floor = p->binding->allow_below_floor;
}

static void tell_result(struct step *s)
{
    const struct ebb_job_result *r = &s->result;

    if (r->plan.id[0]) {
        s->report->plan = r->plan.id;
        s->report->status = r->plan.summary.status;
        s->report->candidates = r->plan.summary.candidates;
    }
    if (r->apply.run[0]) {
        s->report->run = r->apply.run;
        s->report->moved = r->apply.moved;
        if (r->apply.status)
            s->report->status = r->apply.status;
    }
}

static int run_job(struct pass *p, struct step *s, struct ebb_err *err)
{
    struct ebb_job_origin origin;
    struct ebb_job job;
    int rc = make_job(p, s, &job, err);

    if (rc) {
        put_run(p, s, "failed", err, NULL);
        return rc;
    }
    origin_of(p, s, &origin);
    rc = ebb_job_run(p->ws, &job, &origin, &s->result, err);
    ebb_job_fini(&job);
    tell_result(s);
    if (!s->result.apply.run[0]) { /* apply records its own run */
        int put = put_run(p, s, rc ? "failed" : "done", rc ? err : NULL, rc ? NULL : err);

        rc = rc ? rc : put;
    }
    return rc;
}

static int carry_out(struct pass *p, struct step *s, struct ebb_schedule *schedule, struct ebb_err *err)
{
    switch (ebb_decision_get_verdict(s->decision)) {
    case EBB_VERDICT_RUN:
        if (p->binding->mode == EBB_BIND_OBSERVE) {
            s->report->status = "observed";
            return put_run(p, s, "observed", NULL, err);
        }
        return run_job(p, s, err);
    case EBB_VERDICT_DEFER:
        schedule->deferred_until_ms = ebb_decision_get_until_ms(s->decision);
        s->report->status = "deferred";
        return 0;
    case EBB_VERDICT_REFUSED:
        s->report->status = "refused";
        return ebb_err_set(err, EBB_EREFUSED, "%s on %s: refused by %s", s->report->policy, s->table->label,
                           ebb_decision_get_by(s->decision));
    case EBB_VERDICT_SKIP:
    case EBB_VERDICT_ERROR:
        s->report->status = "skipped";
        break;
    }
    return 0;
}

/* ---- one table ---- */

static int decide_due(struct pass *p, struct step *s, const struct ebb_settings *settings, struct ebb_schedule *schedule,
                      const struct ebb_due *due, struct ebb_decision **out, struct ebb_err *err)
{
    struct ebb_decide_input input;
    struct ebb_value *trigger = ebb_schedule_trigger(due, s->facts, schedule);
    int rc, put;

    memset(&input, 0, sizeof input);
    input.facts = s->facts;
    input.now_ms = ebb_clock_now(&p->site->clock);
    input.active_since_ms = schedule->active_since_ms;
    input.trigger = trigger;
    input.settings = settings;
    input.mode = (enum ebb_mode)p->binding->mode;
    input.bound = true;
    input.allow_below_floor = p->binding->allow_below_floor ||
                              ebb_config_allows_below_floor(ebb_workspace_config(p->ws), s->table->label);
    input.allow_override_quiet = p->binding->allow_override_quiet;
    ebb_store_new_id(p->site->store, "d", input.now_ms, s->id);
    input.id = s->id;
    rc = ebb_decide(p->policy, &input, out, err);
    if (*out) { /* recorded before anything acts on it */
        put = ebb__pass_put_decision(p->ws, s->id, s->table->label, s->table->metadata->uuid, ebb_policy_get_name(p->policy), *out,
                                     rc ? NULL : err);
        rc = rc ? rc : put;
    }
    ebb_value_free(trigger);
    return rc;
}

static int act_on_due(struct pass *p, struct step *s, const struct ebb_settings *settings, struct ebb_schedule *schedule,
                      const struct ebb_due *due, struct ebb_err *err)
{
    struct ebb_decision *decision = NULL;
    const char *uuid = s->table->metadata->uuid;
    int rc;

    s->report->due = due->kind;
    rc = decide_due(p, s, settings, schedule, due, &decision, err);
    s->decision = decision;
    if (decision) {
        s->report->decision = s->id;
        s->report->verdict = ebb_verdict_name(ebb_decision_get_verdict(decision));
    }
    if (!rc) { /* taken before it acts: a crash must not start the same occurrence twice */
        ebb_schedule_take(schedule, due);
        if (ebb_decision_get_verdict(decision) == EBB_VERDICT_DEFER)
            schedule->deferred_until_ms = ebb_decision_get_until_ms(decision);
        rc = ebb_schedule_save(p->site->store, ebb_policy_get_name(p->policy), uuid, schedule, err);
    }
    if (!rc)
        rc = carry_out(p, s, schedule, err);
    s->report->error = rc ? err : NULL;
    if (rc && !s->report->status)
        s->report->status = "failed";
    report(p, s->report);
    ebb_decision_free(decision);
    return rc;
}

static int judge_table(struct pass *p, struct step *s, struct ebb_err *err)
{
    const char *policy = ebb_policy_get_name(p->policy), *uuid = s->table->metadata->uuid;
    struct ebb_settings *settings = NULL;
    struct ebb_schedule schedule;
    struct ebb_due due;
    int rc = ebb_settings_new(p->policy, p->binding->params, ebb_value_get(ebb_value_get(s->facts, "table"), "properties"), &settings, err);

    if (!rc)
        rc = ebb_schedule_load(p->site->store, policy, uuid, &schedule, err);
    if (rc) {
        ebb_settings_free(settings);
        return rc;
    }
    ebb_schedule_due(settings, policy, uuid, s->facts, &schedule, ebb_clock_now(&p->site->clock), &due);
    if (due.is_due) {
        rc = act_on_due(p, s, settings, &schedule, &due, err);
    } else {
        rc = ebb_schedule_save(p->site->store, policy, uuid, &schedule, err);
        s->report->status = due.is_dropped ? "dropped: too late" : "not due";
        report(p, s->report);
    }
    ebb_settings_free(settings);
    return rc;
}

static bool is_in_scope(const struct pass *p, const struct ebb_table *t, const struct ebb_value *facts)
{
    const struct ebb_strs *globs = &p->binding->tables;
    bool bound = globs->count == 0 && ebb_policy_has_target(p->policy);

    for (size_t i = 0; !bound && i < globs->count; i++)
        bound = ebb_table_glob_is_match(globs->items[i], t->label);
    if (bound && p->options->table)
        bound = ebb_table_glob_is_match(p->options->table, t->label);
    if (!bound || !ebb_policy_has_target(p->policy))
        return bound;
    return ebb_policy_is_target(p->policy, t->ref.catalog, t->ref.namespace_, t->ref.name,
                                ebb_value_get(ebb_value_get(facts, "table"), "properties"));
}

/* Each policy takes a table once, by its first binding that names it. */
static bool is_first(struct pass *p, const char *label)
{
    struct ebb_buf key;
    bool first;

    ebb_buf_init(&key, 65536);
    ebb_buf_printf(&key, "%s\n%s", ebb_policy_get_name(p->policy), label);
    first = !ebb_strs_has(&p->seen, ebb_buf_cstr(&key));
    if (first)
        first = ebb_strs_add(&p->seen, ebb_buf_cstr(&key), NULL) == 0;
    ebb_buf_fini(&key);
    return first;
}

static int take_table(struct pass *p, const struct ebb_table *t, struct ebb_err *err)
{
    struct ebb_facts_options options = {ebb_policy_get_name(p->policy), -1, ebb_workspace_config(p->ws)->flags, NULL};
    struct ebb_pass_report r;
    struct ebb_value *facts = NULL;
    struct step s;
    int rc;

    memset(&r, 0, sizeof r);
    memset(&s, 0, sizeof s);
    r.policy = ebb_policy_get_name(p->policy);
    r.table = t->label;
    s.table = t;
    s.report = &r;
    if (!t->metadata->uuid)
        return ebb_err_set(err, EBB_EMETADATA, "%s: has no uuid, so its schedule can't be kept", t->label);
    options.overlaps = ebb__pass_overlaps(p->ws, t);
    rc = ebb_facts_new(p->site, t, &options, ebb_clock_now(&p->site->clock), &facts, err);
    s.facts = facts;
    if (!rc && is_in_scope(p, t, facts) && is_first(p, t->label))
        rc = judge_table(p, &s, err);
    ebb_job_result_fini(&s.result);
    ebb_value_free(facts);
    return rc;
}

/* ---- all tables ---- */

static bool may_match(const struct pass *p, const struct ebb_table_ref *ref)
{
    struct ebb_buf label;
    bool match = p->binding->tables.count == 0;

    ebb_buf_init(&label, 65536);
    ebb_buf_printf(&label, "%s.%s%s%s", ref->catalog, ref->namespace_ ? ref->namespace_ : "",
                   ref->namespace_ && ref->namespace_[0] ? "." : "", ref->name);
    for (size_t i = 0; !match && i < p->binding->tables.count; i++)
        match = ebb_table_glob_is_match(p->binding->tables.items[i], ebb_buf_cstr(&label));
    if (match && p->options->table)
        match = ebb_table_glob_is_match(p->options->table, ebb_buf_cstr(&label));
    ebb_buf_fini(&label);
    return match;
}

static int on_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct pass *p = data;
    struct ebb_table *t = NULL;
    struct ebb_err why;
    int rc;

    if (ebb_site_is_cancelled(p->site))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: during the pass");
    if (!may_match(p, ref))
        return 0;
    memset(&why, 0, sizeof why);
    rc = ref->metadata_uri ? ebb_table_open_ref(p->site, ref, &t, &why) : -(int)ref->problem.error;
    if (rc && !ref->metadata_uri)
        why = ref->problem;
    if (!rc)
        rc = take_table(p, t, &why);
    else
        ebb_log_say(&p->site->log, EBB_LOG_WARN, "%s", why.message);
    ebb_table_free(t);
    if (rc)
        keep_gravest(p, &why);
    if (rc == -(int)EBB_ECANCELLED || rc == -(int)EBB_ENOMEM) {
        if (err)
            *err = why;
        return rc;
    }
    return 0;
}

static int run_binding(struct pass *p, const struct ebb_binding *binding, struct ebb_err *err)
{
    struct ebb_err missing;
    int rc = 0;

    p->binding = binding;
    p->policy = ebb__policy_list_find(&p->policies, binding->policy);
    if (p->options->policy && strcmp(p->options->policy, binding->policy))
        return 0;
    if (!p->policy) {
        ebb_err_set(&missing, EBB_ECONFIG, "bind: policy %s: is not in the folder of policies, or does not load", binding->policy);
        keep_gravest(p, &missing);
        return 0;
    }
    for (size_t i = 0; !rc && i < p->site->catalog_count; i++)
        rc = ebb_catalog_list(p->site->catalogs[i], on_table, p, err);
    return rc;
}

static int run_all(struct pass *p, struct ebb_err *err)
{
    const struct ebb_config *c = ebb_workspace_config(p->ws);
    struct ebb_buf dir;
    int rc;

    ebb_buf_init(&dir, 65536);
    ebb_pass_data_dir(&dir);
    ebb_buf_puts(&dir, "/scripts");
    if (p->options->scripts_dir) {
        ebb_buf_reset(&dir);
        ebb_buf_puts(&dir, p->options->scripts_dir);
    }
    rc = ebb_engine_new(ebb_buf_cstr(&dir), &p->engine, err);
    ebb_buf_fini(&dir);
    if (!rc)
        rc = ebb__policy_list_load(p->ws, &p->policies, err);
    if (!rc && p->policies.first_error.error)
        keep_gravest(p, &p->policies.first_error);
    for (size_t i = 0; !rc && i < c->binding_count; i++)
        rc = run_binding(p, &c->bindings[i], err);
    return rc;
}

int ebb_pass_run(struct ebb_workspace *ws, const struct ebb_pass_options *options, struct ebb_err *err)
{
    struct pass p;
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
    ebb__policy_list_fini(&p.policies);
    ebb_engine_free(p.engine);
    ebb_strs_fini(&p.seen);
    return rc;
}
