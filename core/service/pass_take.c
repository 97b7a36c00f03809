/* SPDX-License-Identifier: Apache-2.0
 *
 * One policy on one table. The value moves along: facts, decision, job, plan, run; each is recorded before the next
 * begins.
 */
#include "service/pass_question_priv.h"
#include "service/schedule.h"

struct step {
    struct ebb__pass *p;
    const struct ebb_table *table;
    const struct ebb_facts_options *options;
    const struct ebb_value *facts;
    struct ebb_settings *settings;
    struct ebb_schedule schedule;
    struct ebb_schedule before; /* as it was when the pass came to the table */
    struct ebb_due due;
    struct ebb__question question;
    struct ebb__answer answer; /* the one before */
    bool is_unchanged;         /* and it still holds */
    struct ebb_decision *decision;
    char id[40]; /* of the decision */
    struct ebb_pass_report report;
    struct ebb_job_result result;
};

static void input_of(const struct step *s, struct ebb_schedule_input *out)
{
    *out = (struct ebb_schedule_input){s->p->policy, s->settings, s->table->metadata->uuid, s->facts,
                                       ebb_clock_now(&s->p->site->clock)};
}

/* A dry pass leaves the schedule alone: what is due stays due. Only that the policy became active is kept, so that
 * something can become due at all. */
static int save(struct step *s, const struct ebb_schedule *schedule, struct ebb_err *err)
{
    struct ebb_schedule kept = *schedule;

    if (s->p->options->dry_run) {
        kept = s->before;
        kept.active_since_ms = s->schedule.active_since_ms;
    }
    return ebb_schedule_save(s->p->site->store, ebb_policy_get_name(s->p->policy), s->table->metadata->uuid, &kept,
                             err);
}

/* ---- records ---- */

static void write_run(const struct step *s, const char *id, const char *status, const struct ebb_err *why,
                      struct ebb_buf *out)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "run", id);
    ebb_jsonw_kstr(&w, "kind", "decision");
    ebb_jsonw_kstr(&w, "decision", s->id);
    ebb_jsonw_kstr(&w, "policy", ebb_policy_get_name(s->p->policy));
    ebb_jsonw_kstr(&w, "table", s->table->label);
    ebb_jsonw_kstr(&w, "status", status);
    if (s->result.plan.id[0])
        ebb_jsonw_kstr(&w, "plan", s->result.plan.id);
    if (why) {
        ebb_jsonw_kstr(&w, "code", ebb_error_code(why->error));
        ebb_jsonw_kstr(&w, "message", why->message);
    }
    ebb_jsonw_end(&w, '}');
}

/* A run that did not touch the table still counts for intervals and history; one of a dry pass does not. */
static int put_run(struct step *s, const char *status, const struct ebb_err *why, struct ebb_err *err)
{
    struct ebb_site *site = s->p->site;
    int64_t now_ms = ebb_clock_now(&site->clock);
    struct ebb_record record;
    struct ebb_buf json;
    char id[40];
    int rc;

    if (s->p->options->dry_run)
        return 0;
    ebb_store_new_id(site->store, "r", now_ms, id);
    ebb_buf_init(&json, 65536);
    write_run(s, id, status, why, &json);
    record = (struct ebb_record){
        id,     s->table->label, s->table->metadata->uuid, ebb_policy_get_name(s->p->policy), status, now_ms,
        now_ms, s->id,           ebb_buf_cstr(&json)};
    rc = ebb_buf_check(&json, "run record", err);
    if (!rc)
        rc = ebb_store_put(site->store, EBB_RECORD_RUN, &record, err);
    ebb_buf_fini(&json);
    return rc;
}

/* ---- the job ---- */

/* What strategies need to know of the table: not its whole history. */
static struct ebb_value *job_facts(const struct step *s)
{
    static const char *const KEYS[] = {"catalog",  "namespace",      "name",      "uuid",
                                       "location", "format_version", "properties"};
    const struct ebb_value *table = ebb_value_get(s->facts, "table");
    struct ebb_value *facts = ebb_value_new_map(NULL);
    struct ebb_value *out = ebb_value_put_map(facts, "table");

    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        ebb_value_put_copy(out, KEYS[i], ebb_value_get(table, KEYS[i]));
    ebb_value_put_int(facts, "now", ebb_clock_now(&s->p->site->clock));
    return facts;
}

/* *config holds the options of the job and is the caller's. */
static int make_job(struct step *s, struct ebb_value **config, struct ebb_job *job, struct ebb_err *err)
{
    struct ebb_value *facts = job_facts(s);
    const struct ebb_value *c;
    struct ebb_job_args args;
    int rc = ebb_value_check(facts, "facts", err);

    if (!rc)
        rc = ebb_engine_chain(s->p->engine, ebb_decision_get_action(s->decision), facts, config, err);
    ebb_value_free(facts);
    if (rc)
        return rc;
    memset(&args, 0, sizeof args);
    c = ebb_value_get(*config, "config");
    args.catalog = ebb_value_text_of(c, "catalog_name");
    args.table = ebb_value_text_of(c, "table_identifier");
    args.older_than = ebb_value_text_of(c, "older_than");
    args.location = ebb_value_text_of(c, "location");
    args.dry_run = ebb_value_text_of(c, "dry_run");
    if (!args.older_than || !args.older_than[0]) /* without it a job falls back to its default: not what was decided */
        return ebb_err_set(err, EBB_ECONFIG, "scripts: the job has no older_than");
    return ebb_job_parse(&args, ebb_clock_now(&s->p->site->clock), job, err);
}

static void origin_of(const struct step *s, const struct ebb_value *config, struct ebb_job_origin *o)
{
    const struct ebb_binding *binding = s->p->binding;

    memset(o, 0, sizeof *o);
    o->policy = ebb_policy_get_name(s->p->policy);
    o->decision = s->id;
    o->policy_json = ebb_decision_get_record(s->decision);
    o->options = ebb_value_get(config, "options");
    o->fuses = *ebb_decision_get_fuses(s->decision);
    o->plan_only = binding->mode != EBB_BIND_ENFORCE || s->p->options->dry_run;
    o->needs_full = binding->mode == EBB_BIND_ENFORCE;
    o->allow_below_floor = binding->allow_below_floor;
}

static void tell_result(struct step *s)
{
    const struct ebb_job_result *r = &s->result;

    if (r->plan.id[0]) {
        s->report.plan = r->plan.id;
        s->report.status = r->plan.summary.status;
        s->report.candidates = r->plan.summary.candidates;
    }
    if (r->apply.run[0]) {
        s->report.run = r->apply.run;
        s->report.moved = r->apply.moved;
        if (r->apply.status)
            s->report.status = r->apply.status;
    }
}

/* Apply records its own run. What was interrupted before it touched anything is no run: it stays due. */
static int record_job(struct step *s, int rc, struct ebb_err *err)
{
    int put;

    if (s->result.apply.run[0])
        return rc;
    if (rc == -(int)EBB_ECANCELLED) {
        save(s, &s->before, NULL);
        return rc;
    }
    put = put_run(s, rc ? "failed" : "done", rc ? err : NULL, rc ? NULL : err);
    return rc ? rc : put;
}

static int run_job(struct step *s, struct ebb_err *err)
{
    struct ebb_value *config = NULL;
    struct ebb_job_origin origin;
    struct ebb_job job;
    int rc = make_job(s, &config, &job, err);

    if (!rc) {
        origin_of(s, config, &origin);
        rc = ebb_job_run(s->p->ws, &job, &origin, &s->result, err);
        ebb_job_fini(&job);
        tell_result(s);
    }
    ebb_value_free(config);
    return record_job(s, rc, err);
}

static int carry_out(struct step *s, struct ebb_err *err)
{
    switch (ebb_decision_get_verdict(s->decision)) {
    case EBB_VERDICT_RUN:
        if (s->p->binding->mode != EBB_BIND_OBSERVE)
            return run_job(s, err);
        s->report.status = "observed";
        return put_run(s, "observed", NULL, err);
    case EBB_VERDICT_REFUSED:
        s->report.status = "refused";
        return ebb_err_set(err, EBB_EREFUSED, "%s on %s: refused by %s", s->report.policy, s->table->label,
                           ebb_decision_get_by(s->decision));
    case EBB_VERDICT_SKIP:
        s->report.status = "skipped";
        break;
    case EBB_VERDICT_DEFER: /* the schedule knows */
    case EBB_VERDICT_ERROR:
        break;
    }
    return 0;
}

/* ---- the decision ---- */

static int read_more(void *data, unsigned manifests, struct ebb_value **facts, struct ebb_err *err)
{
    const struct step *s = data;
    struct ebb_facts_options options = *s->options;

    options.manifests = manifests;
    return ebb_facts_new(s->p->site, s->table, &options, s->question.input.now_ms, facts, err);
}

static int record(struct step *s, struct ebb_err *err)
{
    int rc = ebb__pass_put_decision(s->p->ws, s->id, s->table->label, s->table->metadata->uuid, s->p->policy,
                                    s->decision, err);

    s->report.decision = s->id;
    s->report.verdict = ebb_verdict_name(ebb_decision_get_verdict(s->decision));
    if (!rc && !s->p->options->dry_run)
        rc = ebb__answer_save(s->p->site->store, &s->question, s->table->metadata->uuid, s->decision, err);
    return rc;
}

static int ask(struct step *s, struct ebb_err *err)
{
    struct ebb_store *store = s->p->site->store;
    int put, rc = ebb__answer_load(store, ebb_policy_get_name(s->p->policy), s->table->metadata->uuid, &s->answer, err);

    if (!rc)
        rc = ebb__answer_holds(&s->answer, &s->question, &s->is_unchanged, err);
    if (rc || s->is_unchanged)
        return rc;
    ebb_store_new_id(store, "d", s->question.input.now_ms, s->id);
    s->question.input.id = s->id;
    s->question.input.with_inputs = true;
    rc = ebb__question_decide(&s->question, &s->decision, err);
    if (!s->decision)
        return rc;
    put = record(s, rc ? NULL : err); /* before anything acts on it */
    return rc ? rc : put;
}

static int decide(struct step *s, const struct ebb_schedule_input *in, struct ebb_err *err)
{
    const struct ebb__pass *p = s->p;
    struct ebb_value *trigger = NULL;
    struct ebb_decide_input *input = &s->question.input;
    int rc = ebb_schedule_trigger(in, &s->due, &trigger, err);

    if (rc)
        return rc;
    ebb__pass_bind_input(p->ws, p->binding, s->table->label, input);
    input->facts = s->facts;
    input->now_ms = in->now_ms;
    input->active_since_ms = s->schedule.active_since_ms;
    input->revised_ms = s->schedule.revised_ms;
    input->trigger = trigger;
    input->settings = s->settings;
    s->question.policy = p->policy;
    s->question.read = read_more;
    s->question.data = s;
    rc = ask(s, err);
    ebb_value_free(trigger);
    return rc;
}

/* The policy would say again what it said before: nothing is asked and nothing recorded but that. */
static int take_unchanged(struct step *s, struct ebb_err *err)
{
    int rc = 0;

    ebb_schedule_take(&s->schedule, &s->due);
    s->report.status = "unchanged";
    s->report.decision = s->answer.decision;
    s->report.unchanged = ebb_value_int_of(s->answer.kept, "unchanged", 0) + 1;
    if (!s->p->options->dry_run)
        rc = ebb__answer_count(s->p->site->store, ebb_policy_get_name(s->p->policy), s->table->metadata->uuid,
                               &s->answer, err);
    return rc ? rc : save(s, &s->schedule, err);
}

/* Taken before it acts: a crash must not start the same occurrence twice. */
static int take(struct step *s, const struct ebb_schedule_input *in, struct ebb_err *err)
{
    bool is_kept = ebb_schedule_settle(in, &s->due, s->decision, &s->schedule);

    if (ebb_decision_get_verdict(s->decision) == EBB_VERDICT_DEFER)
        s->report.status = is_kept ? "deferred" : "dropped: held back too long";
    return save(s, &s->schedule, err);
}

static int judge(struct step *s, struct ebb_err *err)
{
    const struct ebb_value *properties = ebb_value_get(ebb_value_get(s->facts, "table"), "properties");
    const char *uuid = s->table->metadata->uuid;
    struct ebb_settings_site site;
    struct ebb_schedule_input in;
    int rc;

    if (!uuid)
        return ebb_err_set(err, EBB_EMETADATA, "%s: has no uuid, so its schedule can't be kept", s->table->label);
    ebb_binding_site(s->p->binding, &site);
    rc = ebb_settings_new_bound(s->p->policy, &site, properties, &s->settings, err);
    if (!rc)
        rc = ebb_schedule_load_of(s->p->site->store, s->p->policy, uuid, &s->schedule, err);
    if (rc)
        return rc;
    s->before = s->schedule;
    input_of(s, &in);
    rc = ebb_schedule_due(&in, &s->schedule, &s->due, err);
    if (!rc && !s->due.is_due) {
        s->report.status = s->due.is_dropped ? "dropped: too late" : "not due";
        return save(s, &s->schedule, err);
    }
    if (!rc) {
        s->report.due = s->due.kind;
        rc = decide(s, &in, err);
    }
    if (!rc && s->is_unchanged)
        return take_unchanged(s, err);
    if (!rc)
        rc = take(s, &in, err);
    return rc ? rc : carry_out(s, err);
}

void ebb__pass_report(const struct ebb__pass *p, const struct ebb_pass_report *r)
{
    if (p->options->report)
        p->options->report(p->options->data, r);
}

int ebb__pass_take(struct ebb__pass *p, const struct ebb_table *table, const struct ebb_facts_options *options,
                   const struct ebb_value *facts, struct ebb_err *err)
{
    struct step s;
    int rc;

    memset(&s, 0, sizeof s);
    s.p = p;
    s.table = table;
    s.options = options;
    s.facts = facts;
    s.report.policy = ebb_policy_get_name(p->policy);
    s.report.table = table->label;
    rc = judge(&s, err);
    s.report.error = rc ? err : NULL;
    if (rc && !s.report.status)
        s.report.status = "failed";
    ebb__pass_report(p, &s.report);
    ebb_job_result_fini(&s.result);
    ebb_decision_free(s.decision);
    ebb__question_fini(&s.question);
    ebb__answer_fini(&s.answer);
    ebb_settings_free(s.settings);
    return rc;
}
