/* SPDX-License-Identifier: Apache-2.0
 *
 * remove-orphan-files: a job that a policy decided on, or that was asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "service/metalake_policies.h"
#include "service/objects.h"
#include "service/work_priv.h"

struct removal {
    struct ebb__work *w;
    struct ebb_job job;
    struct ebb_job_origin origin;
    char *policy_json; /* the record of the decision */
    struct ebb_job_result result;
};

static int parse_job(struct removal *r, struct ebb_err *err)
{
    const struct ebb_value *c = ebb_value_get(r->w->json, "config");
    struct ebb_job_args args;

    c = ebb_value_get_kind(c) == EBB_VALUE_MAP ? c : r->w->json;
    memset(&args, 0, sizeof args);
    args.catalog = ebb_value_text_of(c, "catalog_name");
    args.table = ebb_value_text_of(c, "table_identifier");
    args.older_than = ebb_value_text_of(c, "older_than");
    args.location = ebb_value_text_of(c, "location");
    args.dry_run = ebb_value_text_of(c, "dry_run");
    args.spark_conf = ebb_value_text_of(c, "spark_conf");
    if (r->w->job->policy[0] && (!args.older_than || !args.older_than[0])) /* the default is not what was decided */
        return ebb_err_set(err, EBB_ECONFIG, "%s: has no older_than", r->w->job->id);
    return ebb_job_parse(&args, ebb_clock_now(&r->w->site->clock), &r->job, err);
}

static int take_json(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    char **json = data;

    *json = strdup(record->json);
    return *json ? 0 : ebb_err_nomem(err);
}

static void read_fuses(const struct ebb_value *fuses, struct ebb_fuses *out)
{
    out->max_files = ebb_value_int_of(fuses, "max_files", 0);
    out->max_bytes = ebb_value_int_of(fuses, "max_bytes", 0);
    out->max_share = ebb_value_get_float(ebb_value_get(fuses, "max_share"), 0);
    out->timeout_ms = ebb_value_int_of(fuses, "timeout", 0);
}

/* Who does it; a name that this version does not know is no reason to do it otherwise. */
static int read_engine(const struct ebb_value *origin, struct ebb_job_origin *o, struct ebb_err *err)
{
    const char *name = ebb_value_text_of(origin, "engine");

    if (!name)
        return 0;
    o->engine = ebb_job_engine_of(name);
    o->engine_above = ebb_value_int_of(origin, "engine_above", 0);
    o->irreversible = ebb_value_bool_of(origin, "irreversible", false);
    return o->engine < EBB_JOB_ENGINES ? 0 : ebb_err_set(err, EBB_ECONFIG, "engine %s: is not known", name);
}

static int read_decision(struct removal *r, struct ebb_err *err)
{
    int rc = ebb_store_get(r->w->site->store, EBB_RECORD_DECISION, r->w->job->parent, take_json, &r->policy_json, err);

    r->origin.policy_json = r->policy_json;
    return rc;
}

/* Only what a policy decided has an origin: whoever asks for a job may not lower the floor with it. */
static int read_origin(struct removal *r, struct ebb_err *err)
{
    const struct ebb_job_record *job = r->w->job;
    const struct ebb_value *origin = ebb_value_get(r->w->json, "origin");
    struct ebb_job_origin *o = &r->origin;
    const struct ebb_generation *generation = ebb_workspace_generation(r->w->context->ws);
    int rc = ebb_object_check_enabled(r->w->site->store, job->policy, err);

    if (!rc && generation)
        rc = ebb_object_check_current(r->w->site->store, generation, job->policy, err);
    if (!rc && !r->w->context->is_dry)
        rc = ebb_metalake_check_policy(r->w->context->ws, job->policy, r->job.name, err);
    if (rc)
        return rc;
    o->policy = job->policy[0] ? job->policy : NULL;
    o->uuid = job->uuid[0] ? job->uuid : NULL;
    o->decision = job->policy[0] && job->parent[0] ? job->parent : job->id;
    o->plan_only = r->w->context->is_dry;
    if (!job->policy[0] || !job->parent[0])
        return 0;
    if (ebb_value_get_kind(origin) != EBB_VALUE_MAP)
        return ebb_err_set(err, EBB_ECONFIG, "%s: does not tell where it comes from", job->id);
    o->plan_only = o->plan_only || ebb_value_bool_of(origin, "plan_only", true);
    o->needs_full = ebb_value_bool_of(origin, "needs_full", true);
    o->allow_below_floor = ebb_value_bool_of(origin, "allow_below_floor", false);
    o->options = ebb_value_get(origin, "options");
    read_fuses(ebb_value_get(origin, "fuses"), &o->fuses);
    rc = read_engine(origin, o, err);
    return rc ? rc : read_decision(r, err);
}

/* The guard's limit and the job's own: the sooner one. */
static void limit_time(struct removal *r)
{
    int64_t timeout = r->origin.fuses.timeout_ms, left = r->w->site->deadline_ms;

    if (!left)
        return;
    left -= ebb_clock_elapsed_ms();
    left = left > 1 ? left : 1;
    r->origin.fuses.timeout_ms = timeout > 0 && timeout < left ? timeout : left;
}

static void tell(struct removal *r)
{
    const struct ebb_plan_result *plan = &r->result.plan;
    struct ebb_work_result *out = r->w->out;

    if (!plan->id[0])
        return;
    snprintf(out->plan, sizeof out->plan, "%s", plan->id);
    snprintf(out->status, sizeof out->status, "%s", plan->summary.status ? plan->summary.status : "");
    out->candidates = plan->summary.candidates;
    if (r->result.apply.run[0])
        ebb__work_tell(r->w, &r->result.apply);
}

static int begin(struct removal *r, struct ebb_err *err)
{
    int rc;

    limit_time(r);
    EBB_FAILPOINT("work.remove.before");
    rc = ebb_job_run(r->w->context->ws, &r->job, &r->origin, &r->result, err);
    EBB_FAILPOINT("work.remove.after");
    r->w->has_begun = r->w->has_begun || r->result.apply.run[0];
    tell(r);
    ebb_job_result_fini(&r->result);
    return rc;
}

/* A plan that waits for a person is the result; another one without a run is left alone, since a new one is fresher. */
static int go_on(struct removal *r, bool *is_done, struct ebb_err *err)
{
    bool plans_only = r->job.dry_run || r->origin.plan_only;
    struct ebb__work_left left;
    int rc = ebb__work_find_plan(r->w, r->origin.decision, &left, err);

    *is_done = true;
    if (!rc && !left.run[0])
        rc = ebb__work_find_run(r->w, r->origin.decision, &left, err);
    if (!rc && left.run[0])
        return ebb__work_end(r->w, &left, err);
    if (!rc && left.plan[0] && plans_only) {
        snprintf(r->w->out->plan, sizeof r->w->out->plan, "%s", left.plan);
        snprintf(r->w->out->status, sizeof r->w->out->status, "%s", left.plan_status);
        return strcmp(left.plan_status, "held")
                   ? 0
                   : ebb_err_set(err, EBB_EFUSE, "%s: plan %s is held", r->job.name, left.plan);
    }
    *is_done = false;
    return rc;
}

int ebb__work_remove(struct ebb__work *w, struct ebb_err *err)
{
    struct removal r = {.w = w};
    bool is_done = false;
    int rc = parse_job(&r, err);

    if (rc)
        return rc;
    rc = read_origin(&r, err);
    if (!rc && w->job->attempt > 1)
        rc = go_on(&r, &is_done, err);
    if (!rc && !is_done)
        rc = begin(&r, err);
    free(r.policy_json);
    ebb_job_fini(&r.job);
    return rc;
}
