/* SPDX-License-Identifier: Apache-2.0
 *
 * A policy on a table, now, because somebody asks for it: it decides as ever, and what it decides becomes a job as
 * ever.
 */
#include <inttypes.h>
#include <stdio.h>

#include "service/api_priv.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)

/* What came of it. */
struct asked {
    struct ebb_api_call *call;
    bool is_told;
    char verdict[16], status[64], decision[40], job[40], message[EBB_ERR_MESSAGE_MAX];
    char policy[128];
    const char *table;
    const char *occurrence; /* without its day, "" none */
    bool is_other;
};

static void report(void *data, const char *policy, const char *table, const char *verdict, const char *status,
                   const char *decision, const char *job, const struct ebb_err *error)
{
    struct asked *a = data;

    (void)policy;
    (void)table;
    a->is_told = true;
    snprintf(a->verdict, sizeof a->verdict, "%s", verdict ? verdict : "");
    snprintf(a->status, sizeof a->status, "%s", status ? status : verdict ? verdict : "");
    snprintf(a->decision, sizeof a->decision, "%s", decision ? decision : "");
    snprintf(a->job, sizeof a->job, "%s", job ? job : "");
    snprintf(a->message, sizeof a->message, "%s", error ? error->message : "");
}

static void answer(struct asked *a)
{
    struct ebb_jsonw w;

    a->call->status = a->job[0] ? 202 : 200;
    ebb_jsonw_init(&w, &a->call->out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "policy", a->policy);
    ebb_jsonw_kstr(&w, "table", a->table);
    ebb__api_text(&w, "verdict", a->verdict);
    ebb_jsonw_kstr(&w, "status", a->status);
    ebb__api_text(&w, "decision", a->decision);
    ebb__api_text(&w, "job", a->job);
    ebb__api_text(&w, "message", a->message);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&a->call->out, '\n');
}

/* ---- what is paused ---- */

static int read_paused(const struct ebb_api_call *call, struct ebb_strs *out, struct ebb_err *err)
{
    struct ebb_value *status = NULL;
    const struct ebb_value *list;
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, EBB__API_OUT_MAX);
    rc = ebb_hub_get_status(call->hub, &text, err);
    if (!rc && text.len)
        rc = ebb_value_of_json("status", text.data, text.len, NULL, &status, err);
    list = ebb_value_get(status, "paused");
    for (size_t i = 0; !rc && i < ebb_value_get_count(list); i++)
        if (ebb_value_get_str(ebb_value_get_at(list, i)))
            rc = ebb_strs_add(out, ebb_value_get_str(ebb_value_get_at(list, i)), err);
    ebb_value_free(status);
    ebb_buf_fini(&text);
    return rc;
}

/* ---- the same request again ---- */

static int compare(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct asked *a = data;
    size_t n = strlen(a->occurrence);

    (void)err;
    if (a->job[0] || strncmp(job->occurrence, a->occurrence, n) != 0 || job->occurrence[n] != ' ')
        return 0;
    a->is_other = strcmp(job->policy, a->policy) != 0 || strcmp(job->table, a->table) != 0;
    snprintf(a->job, sizeof a->job, "%s", job->id);
    snprintf(a->decision, sizeof a->decision, "%s", job->parent);
    snprintf(a->verdict, sizeof a->verdict, "run");
    snprintf(a->status, sizeof a->status, "%s", ebb_job_state_name(job->state));
    return 0;
}

static int find_before(struct asked *a, struct ebb_err *err)
{
    struct ebb_job_filter f = {.since_ms = a->call->now_ms - DAY_MS, .newest_first = true};
    int rc = a->occurrence[0] ? ebb_store_list_jobs(ebb__api_store(a->call), &f, compare, a, err) : 0;

    if (!rc && a->is_other)
        rc = ebb_err_set(err, EBB_EEXIST, "Idempotency-Key: was used for another job");
    return rc;
}

/* ---- looking ---- */

static int look(struct asked *a, const struct ebb_table_ref *ref, const struct ebb_strs *paused, struct ebb_err *err)
{
    struct ebb_api_call *call = a->call;
    struct ebb_look_options o = {.policy = a->policy, .overlaps = -1, .paused = paused, .report = report, .data = a};
    struct ebb_looker *looker = NULL;
    struct ebb_look found = {0};
    char once[128] = "";
    int rc = ebb_looker_new(call->ws, NULL, call->metrics, &looker, err);

    if (a->occurrence[0])
        snprintf(once, sizeof once, "%s %" PRId64, a->occurrence, call->now_ms / DAY_MS);
    o.owner = call->who.name;
    o.occurrence = once;
    o.plan_only = ebb_value_bool_of(call->json, "dry_run", false);
    if (!rc)
        rc = ebb_look_tables(looker, call->generation, ref, 1, &o, &found, err);
    if (!rc && !a->is_told)
        rc = ebb_err_set(err, EBB_EREFUSED, "policy %s: is not bound to %s", a->policy, a->table);
    if (!rc && a->job[0] && !found.jobs) /* another request with the same key was faster */
        a->job[0] = '\0';
    ebb_look_fini(&found);
    ebb_looker_free(looker);
    return rc;
}

static int run(struct asked *a, struct ebb_err *err)
{
    struct ebb_table_ref ref;
    struct ebb_strs paused;
    int rc = ebb__api_find_table(a->call, a->table, &ref, err);

    ebb_strs_init(&paused);
    if (!rc)
        rc = read_paused(a->call, &paused, err);
    if (!rc)
        rc = look(a, &ref, &paused, err);
    if (!rc && a->job[0])
        ebb_hub_post(a->call->hub, EBB_NOTE_JOBS, a->job);
    else if (!rc)
        rc = find_before(a, err);
    ebb_strs_fini(&paused);
    ebb_table_ref_fini(&ref);
    return rc;
}

int ebb__api_jobs_post(struct ebb_api_call *call, struct ebb_err *err)
{
    struct asked a = {.call = call, .table = ebb_value_text_of(call->json, "table")};
    const char *policy = ebb_value_text_of(call->json, "policy");
    struct ebb_buf occurrence;
    int rc;

    if (!ebb_generation_find(call->generation, policy))
        return ebb__api_not_found(err, "policy", policy);
    snprintf(a.policy, sizeof a.policy, "%s", policy);
    ebb_buf_init(&occurrence, 256);
    rc = ebb__api_once(call, &occurrence, err);
    a.occurrence = ebb_buf_cstr(&occurrence);
    if (!rc)
        rc = find_before(&a, err);
    if (!rc && !a.job[0])
        rc = run(&a, err);
    if (!rc)
        answer(&a);
    ebb_buf_fini(&occurrence);
    return rc;
}
