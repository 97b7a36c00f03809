/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pass queued, or an earlier one left, is carried out: the state of the job is written before and after.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/failpoint.h"
#include "service/objects.h"
#include "service/pass_run_priv.h"
#include "service/withdraw.h"

#define JOB_MAX_BYTES ((size_t)2 << 20)
#define LEFT_MAX_BYTES ((size_t)256 << 20)

/* ---- copies ---- */

static int dup_texts(struct ebb_arena *arena, struct ebb_job_record *job, struct ebb_err *err)
{
    const char **texts[] = {&job->id,         &job->kind,   &job->template_, &job->table, &job->uuid,
                            &job->policy,     &job->parent, &job->plan,      &job->run,   &job->code,
                            &job->occurrence, &job->owner,  &job->message,   &job->json};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i] = ebb_arena_dup(arena, *texts[i], strlen(*texts[i]));
        if (!*texts[i])
            return ebb_err_nomem(err);
    }
    return 0;
}

void ebb__pass_keep_job(struct ebb__pass *p, const struct ebb_pass_report *r, const struct ebb_job_record *job)
{
    struct ebb__pass_job *kept = &p->job;

    ebb_arena_init(&kept->arena, JOB_MAX_BYTES);
    kept->is_there = true;
    kept->report = *r;
    kept->record = *job;
    kept->is_lost = dup_texts(&kept->arena, &kept->record, NULL) != 0;
    kept->report.table = kept->record.table;
    kept->report.decision = kept->record.parent;
}

/* ---- one job ---- */

static void fill_report(struct ebb_pass_report *r, const struct ebb_work_result *out)
{
    r->status = out->status[0] ? out->status : out->err.error ? "failed" : "done";
    r->error = out->err.error ? &out->err : NULL;
    r->plan = out->plan[0] ? out->plan : NULL;
    r->run = out->run[0] ? out->run : NULL;
    r->candidates = out->candidates;
    r->moved = out->moved;
}

static int begin(const struct ebb__pass *p, struct ebb_job_record *job, struct ebb_err *err)
{
    job->started_ms = job->changed_ms = ebb_clock_now(&p->site->clock);
    job->attempt++;
    job->state = EBB_JOB_STARTED;
    return p->options->dry_run ? 0 : ebb_store_set_job(p->site->store, job, EBB_JOBS_ACTIVE, err);
}

/* What was interrupted is gone on with by the next pass. */
static enum ebb_job_state state_after(const struct ebb__pass *p, const struct ebb_work_result *out)
{
    if (out->state != EBB_JOB_CANCELLED || !ebb_site_is_cancelled(p->site))
        return out->state;
    return out->run[0] ? EBB_JOB_UNKNOWN : EBB_JOB_QUEUED;
}

static int end(const struct ebb__pass *p, struct ebb_job_record *job, const struct ebb_work_result *out,
               struct ebb_err *err)
{
    job->state = state_after(p, out);
    job->changed_ms = ebb_clock_now(&p->site->clock);
    job->ended_ms = ebb_job_state_is_final(job->state) ? job->changed_ms : 0;
    job->plan = out->plan;
    job->run = out->run;
    job->code = out->err.error ? ebb_error_code(out->err.error) : "";
    job->message = out->err.error ? out->err.message : "";
    return p->options->dry_run ? 0 : ebb_store_set_job(p->site->store, job, EBB_JOBS_ACTIVE, err);
}

static int carry_out(struct ebb__pass *p, struct ebb_job_record *job, struct ebb_pass_report *r, struct ebb_err *err)
{
    struct ebb_work_context context = {.ws = p->ws, .attempts_max = 1, .is_dry = p->options->dry_run};
    struct ebb_work_result out;
    struct ebb_err why;
    int rc = begin(p, job, err);

    ebb__fleet_forget(&p->looker->fleet);
    if (rc) {
        r->status = "failed";
        r->error = err;
        ebb__pass_tell(p, r);
        return rc;
    }
    EBB_FAILPOINT("pass.job.started");
    ebb_work_run(&context, job, &out);
    EBB_FAILPOINT("pass.job.done");
    memset(&why, 0, sizeof why);
    rc = end(p, job, &out, &why);
    EBB_FAILPOINT("pass.job.ended");
    if (rc && !out.err.error)
        out.err = why;
    fill_report(r, &out);
    ebb__pass_tell(p, r);
    if (out.err.error && err)
        *err = out.err;
    return -(int)out.err.error;
}

int ebb__pass_end_job(struct ebb__pass *p, int rc, struct ebb_err *err)
{
    struct ebb__pass_job *kept = &p->job;

    if (!kept->is_there)
        return rc;
    if (!rc && kept->is_lost)
        rc = ebb_err_nomem(err);
    if (rc) {
        kept->report.status = "failed";
        kept->report.error = err;
        ebb__pass_tell(p, &kept->report);
    } else {
        rc = carry_out(p, &kept->record, &kept->report, err);
    }
    ebb_arena_fini(&kept->arena);
    memset(kept, 0, sizeof *kept);
    return rc;
}

/* ---- what is left ---- */

struct left {
    struct ebb__pass *p;
    struct ebb_arena arena;
    struct ebb_job_record *jobs;
    size_t count;
};

static int on_job(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct left *l = data;
    const struct ebb_pass_options *o = l->p->options;
    struct ebb_job_record *grown;

    /* Those of policy objects are the daemon's: a pass knows no such bindings. */
    if (!job->policy[0] || !job->parent[0] || ebb_is_object_name(job->policy) ||
        (o->policy && strcmp(o->policy, job->policy)) || (o->table && !ebb_table_glob_is_match(o->table, job->table)))
        return 0;
    grown = realloc(l->jobs, (l->count + 1) * sizeof *grown);
    if (!grown)
        return ebb_err_nomem(err);
    l->jobs = grown;
    grown[l->count] = *job;
    return dup_texts(&l->arena, &grown[l->count++], err);
}

/* Whether a binding still lets the policy do on the table what the job is to do. */
static bool is_allowed(const struct ebb__pass *p, const struct ebb_job_record *job, const struct ebb_value *json)
{
    const struct ebb_generation *g = &p->generation;
    const struct ebb_value *config = ebb_value_get(json, "config");
    bool plan_only = ebb_value_bool_of(ebb_value_get(json, "origin"), "plan_only", false);
    const char *catalog = ebb_value_text_of(config, "catalog_name");
    const char *table = ebb_value_text_of(config, "table_identifier");
    const char *dot = table ? strrchr(table, '.') : NULL;
    char space[1024];

    if (!catalog || !dot || (size_t)(dot - table) >= sizeof space)
        return false;
    snprintf(space, sizeof space, "%.*s", (int)(dot - table), table);
    for (size_t i = 0; i < g->bound_count; i++) {
        const struct ebb_bound *b = &g->bound[i];

        if (!strcmp(ebb_policy_get_name(b->policy), job->policy) &&
            ebb__binding_may_take(b->binding, b->policy, catalog, space, dot + 1)) /* the first one counts */
            return b->binding->mode == EBB_BIND_ENFORCE || (plan_only && b->binding->mode == EBB_BIND_APPROVE);
    }
    return false;
}

static int withdraw(const struct ebb__pass *p, struct ebb_job_record *job, struct ebb_err *err)
{
    job->state = EBB_JOB_CANCELLED;
    job->changed_ms = job->ended_ms = ebb_clock_now(&p->site->clock);
    job->code = ebb_error_code(EBB_ECANCELLED);
    job->message = "no binding lets its policy do this any more";
    return ebb_store_set_job(p->site->store, job, EBB_JOBS_ACTIVE, err);
}

static int end_one(struct ebb__pass *p, struct ebb_job_record *job, struct ebb_err *err)
{
    struct ebb_pass_report r = {.policy = job->policy, .table = job->table, .verdict = "run", .decision = job->parent};
    struct ebb_store *store = p->site->store;
    struct ebb_value *json = NULL;
    bool is_outdated = false, did;
    int rc = ebb_value_of_json(job->id, job->json, strlen(job->json), NULL, &json, err);

    if (!rc)
        rc = ebb_withdraw_is_due(store, &p->generation, job, &is_outdated, err);
    if (rc) {
        ebb_value_free(json);
        return rc;
    }
    r.due = ebb_value_text_of(json, "due");
    if (job->state == EBB_JOB_CANCELLING || !is_allowed(p, job, json))
        rc = withdraw(p, job, err);
    else if (is_outdated) /* this pass decides again */
        rc = ebb_withdraw_job(store, &p->generation, job->id, EBB_JOBS_ACTIVE, NULL, ebb_clock_now(&p->site->clock),
                              &did, err);
    else
        rc = carry_out(p, job, &r, err);
    ebb_value_free(json);
    return rc;
}

int ebb__pass_end_left(struct ebb__pass *p, struct ebb_err *err)
{
    struct ebb_job_filter filter = {.states = EBB_JOBS_ACTIVE, .kind = "remove-orphan-files"};
    struct left l = {.p = p};
    int rc;

    ebb_arena_init(&l.arena, LEFT_MAX_BYTES);
    rc = ebb_store_list_jobs(p->site->store, &filter, on_job, &l, err);
    for (size_t i = 0; !rc && i < l.count; i++) {
        struct ebb_err why;

        memset(&why, 0, sizeof why);
        rc = end_one(p, &l.jobs[i], &why);
        if (rc)
            ebb__pass_keep_gravest(p, &why);
        if (rc && err)
            *err = why;
        if (!ebb__look_is_fatal(rc) || (rc == -(int)EBB_ECANCELLED && !ebb_site_is_cancelled(p->site)))
            rc = 0;
    }
    free(l.jobs);
    ebb_arena_fini(&l.arena);
    return rc ? rc : ebb_withdraw_open_runs(p->site->store, ebb_clock_now(&p->site->clock), err);
}
