/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs: undone, stopped, or done for good.
 */
#include <stdio.h>

#include "base/time.h"
#include "service/api_priv.h"

#define JOB_MAX ((size_t)64 << 10)

static int queue_for_run(struct ebb_api_call *call, const char *kind, const struct ebb_record *run, const char *json,
                         struct ebb_err *err)
{
    struct ebb_job_record job = {.kind = kind, .table = run->table, .uuid = run->uuid, .policy = "", .json = json};

    job.parent = run->id;
    return ebb__api_put_job(call, &job, err);
}

static int run_restore(struct ebb_api_call *call, struct ebb_err *err)
{
    const struct ebb_value *paths = ebb_value_get(call->json, "paths");
    struct ebb__api_taken taken;
    struct ebb_buf json;
    struct ebb_jsonw w;
    int rc = ebb__api_take(call, EBB_RECORD_RUN, call->args->items[0], &taken, err);

    if (rc)
        return rc;
    ebb_buf_init(&json, EBB__API_BODY_MAX * 2);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "run", taken.record.id);
    if (paths) {
        ebb_jsonw_key(&w, "paths");
        ebb_value_write(paths, &w);
    }
    ebb_jsonw_end(&w, '}');
    rc = ebb_buf_check(&json, "job", err);
    if (!rc)
        rc = queue_for_run(call, "restore", &taken.record, ebb_buf_cstr(&json), err);
    ebb_buf_fini(&json);
    ebb__api_taken_fini(&taken);
    return rc;
}

static int run_purge(struct ebb_api_call *call, struct ebb_err *err)
{
    const char *older_than = ebb_value_text_of(call->json, "older_than");
    struct ebb__api_taken taken;
    struct ebb_buf json;
    struct ebb_jsonw w;
    int64_t age_ms;
    int rc;

    if (older_than && ebb_duration_parse(older_than, &age_ms, err))
        return ebb_err_as(err, EBB_EUSAGE, "older_than");
    rc = ebb__api_take(call, EBB_RECORD_RUN, call->args->items[0], &taken, err);
    if (rc)
        return rc;
    ebb_buf_init(&json, JOB_MAX);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_key(&w, "runs");
    ebb_jsonw_begin(&w, '[');
    ebb_jsonw_str(&w, taken.record.id);
    ebb_jsonw_end(&w, ']');
    if (older_than)
        ebb_jsonw_kstr(&w, "older_than", older_than);
    ebb_jsonw_end(&w, '}');
    rc = ebb_buf_check(&json, "job", err);
    if (!rc)
        rc = queue_for_run(call, "purge", &taken.record, ebb_buf_cstr(&json), err);
    ebb_buf_fini(&json);
    ebb__api_taken_fini(&taken);
    return rc;
}

/* What a run belongs to: by its id, its plan, or what the plan was made for. */
struct search {
    const char *run, *plan;
    char origin[64]; /* parent of the plan: a decision or a job */
    char job[40];
};

static bool is_of_run(const struct search *s, const struct ebb_job_record *job)
{
    return !strcmp(job->run, s->run) ||
           (s->plan[0] && (!strcmp(job->plan, s->plan) || !strcmp(job->parent, s->plan))) ||
           (s->origin[0] && (!strcmp(job->id, s->origin) || !strcmp(job->parent, s->origin)));
}

static int find_job(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct search *s = data;

    (void)err;
    if (is_of_run(s, job))
        snprintf(s->job, sizeof s->job, "%s", job->id);
    return 0;
}

static int take_parent(void *data, const struct ebb_record *plan, struct ebb_err *err)
{
    struct search *s = data;

    (void)err;
    snprintf(s->origin, sizeof s->origin, "%s", plan->parent);
    return 0;
}

static int find_job_of(const struct ebb_api_call *call, const struct ebb_record *run, struct search *s,
                       struct ebb_err *err)
{
    struct ebb_job_filter f = {.table = run->table,
                               .states = 1u << EBB_JOB_STARTED | 1u << EBB_JOB_CANCELLING | 1u << EBB_JOB_UNKNOWN};
    int rc = 0;

    *s = (struct search){.run = run->id, .plan = run->parent};
    if (run->parent[0])
        rc = ebb_store_get(ebb__api_store(call), EBB_RECORD_PLAN, run->parent, take_parent, s, err);
    if (rc == -(int)EBB_ENOT_FOUND)
        rc = 0;
    if (!rc)
        rc = ebb_store_list_jobs(ebb__api_store(call), &f, find_job, s, err);
    if (!rc && !s->job[0])
        rc = ebb_err_set(err, EBB_ERUN_STATE, "run %s: belongs to no job that is under way", run->id);
    return rc;
}

/* A run is cancelled by the job that it belongs to. */
static int run_cancel(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__api_taken taken;
    struct search s;
    struct ebb_jsonw w;
    int rc = ebb__api_take(call, EBB_RECORD_RUN, call->args->items[0], &taken, err);

    if (rc)
        return rc;
    if (strcmp(taken.record.status, "started") != 0)
        rc = ebb_err_set(err, EBB_ERUN_STATE, "run %s: is %s already", taken.record.id, taken.record.status);
    if (!rc)
        rc = find_job_of(call, &taken.record, &s, err);
    if (!rc) {
        ebb_hub_post(call->hub, EBB_NOTE_CANCEL, s.job);
        call->status = 202;
        ebb_jsonw_init(&w, &call->out);
        ebb__api_record(&w, EBB_RECORD_RUN, &taken.record, false);
        ebb_buf_putc(&call->out, '\n');
    }
    ebb__api_taken_fini(&taken);
    return rc;
}

const struct ebb_route EBB__API_RUN_ROUTES[] = {
    {"GET", "/api/runs", EBB_ROLE_VIEW, ebb__api_runs_get, "Runs",
     "{'parameters':[" EBB__API_LIST_PARAMETERS
     "{'name':'status','in':'query','schema':{'type':'string','enum':['started','done',"
     "'partial','failed','interrupted','restored','purged','observed']}},"
     "{'name':'plan','in':'query','schema':{'type':'string','maxLength':64}}],"
     "'answer':{'200':{'$ref':'#/components/schemas/Runs'}}}"},
    {"GET", "/api/runs/{id}", EBB_ROLE_VIEW, ebb__api_run_get, "A run with its record",
     "{'answer':{'200':{'$ref':'#/components/schemas/Run'}}}"},
    {"POST", "/api/runs/{id}/cancel", EBB_ROLE_OPERATE, run_cancel, "Stop a run at its next safe point",
     "{'answer':{'202':{'$ref':'#/components/schemas/Run'}},'errors':[409]}"},
    {"POST", "/api/runs/{id}/restore", EBB_ROLE_OPERATE, run_restore, "Put the files of a run back: a job that does it",
     "{" EBB__API_ONCE EBB__API_OPTIONAL_BODY(
         "'paths':{'type':'array','maxItems':1000,'description':'files or folders; none: all',"
         "'items':{'type':'string','minLength':1,'maxLength':4096}}") EBB__API_QUEUED ",'errors':[409,422]}"},
    {"POST", "/api/runs/{id}/purge", EBB_ROLE_ADMIN, run_purge,
     "Delete what a run left in quarantine: a job that does it",
     "{" EBB__API_ONCE EBB__API_OPTIONAL_BODY(
         "'older_than':{'type':'string','maxLength':32,'description':'7d when it is not given'}") EBB__API_QUEUED
     ",'errors':[409,422]}"},
    {NULL, NULL, EBB_ROLE_NONE, NULL, NULL, NULL},
};
