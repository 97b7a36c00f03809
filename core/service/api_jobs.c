/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs: what is to be done, is done, was done.
 */
#include <inttypes.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/store_jobs.h"
#include "service/api_priv.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)
#define BY_HAND_PRIORITY 100
#define KEY_MAX_BYTES 255
#define WAITING_MAX 10000 /* jobs that were asked for: the daemon keeps all that wait in memory */
#define WAITING_MAX_BYTES ((int64_t)32 << 20)

void ebb__api_job(struct ebb_jsonw *w, const struct ebb_job_record *job, bool is_whole)
{
    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "id", job->id);
    ebb_jsonw_kstr(w, "kind", job->kind);
    ebb_jsonw_kstr(w, "state", ebb_job_state_name(job->state));
    ebb__api_text(w, "template", job->template_);
    ebb__api_text(w, "table", job->table);
    ebb__api_text(w, "policy", job->policy);
    ebb__api_text(w, "parent", job->parent);
    ebb__api_text(w, "owner", job->owner);
    ebb_jsonw_kint(w, "attempt", job->attempt);
    ebb__api_time(w, "queued", job->queued_ms);
    ebb__api_time(w, "not_before", job->not_before_ms);
    ebb__api_time(w, "started", job->started_ms);
    ebb__api_time(w, "ended", job->ended_ms);
    ebb__api_text(w, "plan", job->plan);
    ebb__api_text(w, "run", job->run);
    ebb__api_text(w, "code", job->code);
    ebb__api_text(w, "message", job->message);
    if (is_whole && strcmp(job->kind, "shell") != 0) /* arguments and environment of a program may be secret */
        ebb__api_json(w, "config", job->json);
    ebb_jsonw_end(w, '}');
}

/* ---- asking for one ---- */

struct repeat {
    struct ebb_api_call *call;
    const struct ebb_job_record *asked;
    const char *occurrence; /* without its day */
    bool found, is_other;
};

static int compare(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct repeat *r = data;
    size_t n = strlen(r->occurrence);
    struct ebb_jsonw w;

    (void)err;
    if (r->found || strncmp(job->occurrence, r->occurrence, n) != 0 || job->occurrence[n] != ' ')
        return 0;
    r->found = true;
    r->is_other = strcmp(job->kind, r->asked->kind) != 0 || strcmp(job->table, r->asked->table) != 0 ||
                  strcmp(job->json, r->asked->json) != 0;
    if (r->is_other)
        return 0;
    ebb_jsonw_init(&w, &r->call->out);
    ebb__api_job(&w, job, false);
    ebb_buf_putc(&r->call->out, '\n');
    return 0;
}

/* The job of an earlier request with this key, if there is one. */
static int find_repeat(struct repeat *r, struct ebb_err *err)
{
    struct ebb_job_filter f = {.since_ms = r->call->now_ms - DAY_MS, .newest_first = true};
    int rc = ebb_store_list_jobs(ebb__api_store(r->call), &f, compare, r, err);

    if (!rc && r->is_other)
        rc = ebb_err_set(err, EBB_EEXIST, "Idempotency-Key: was used for another job");
    return rc;
}

static bool is_key(const char *text)
{
    size_t n = 0;

    while (text[n] >= '!' && text[n] <= '~')
        n++;
    return n && n <= KEY_MAX_BYTES && !text[n];
}

/* "api <hash of who, what and key>" */
int ebb__api_once(const struct ebb_api_call *call, struct ebb_buf *out, struct ebb_err *err)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    struct ebb_buf text;
    int rc;

    if (!call->idempotency_key)
        return 0;
    if (!is_key(call->idempotency_key))
        return ebb_err_set(err, EBB_EUSAGE, "Idempotency-Key: 1 to %d visible characters of ASCII are wanted",
                           KEY_MAX_BYTES);
    ebb_buf_init(&text, (size_t)256 << 10);
    ebb_buf_printf(&text, "%s\n%s\n%s", call->who.name, call->path, call->idempotency_key);
    rc = ebb_buf_check(&text, "Idempotency-Key", err);
    if (!rc) {
        SHA256((const unsigned char *)text.data, text.len, digest);
        ebb_buf_puts(out, "api ");
        ebb_text_hex(out, digest, sizeof digest);
        rc = ebb_buf_check(out, "Idempotency-Key", err);
    }
    ebb_buf_fini(&text);
    return rc;
}

int ebb__api_check_room(struct ebb_api_call *call, const char *json, struct ebb_err *err)
{
    int64_t count, bytes;
    int rc = ebb_store_count_asked_jobs(ebb__api_store(call), &count, &bytes, err);

    if (rc)
        return rc;
    if (count < WAITING_MAX && bytes + (int64_t)strlen(json) <= WAITING_MAX_BYTES)
        return 0;
    call->status = 503;
    return ebb_err_set(err, EBB_ELIMIT, "jobs: %lld that were asked for wait already", (long long)count);
}

static void answer_job(struct ebb_api_call *call, const struct ebb_job_record *job)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &call->out);
    ebb__api_job(&w, job, false);
    ebb_buf_putc(&call->out, '\n');
}

/* *is_new false: another request with the same key was faster. */
static int put(struct ebb_api_call *call, const struct ebb_job_record *asked, const char *occurrence, bool *is_new,
               struct ebb_err *err)
{
    struct ebb_job_record job = *asked;
    char id[40], once[128] = "";
    int rc;

    ebb_store_new_job_id(ebb__api_store(call), call->now_ms, id);
    if (occurrence[0])
        snprintf(once, sizeof once, "%s %" PRId64, occurrence, call->now_ms / DAY_MS);
    job.id = id;
    job.template_ = "";
    job.occurrence = once;
    job.state = EBB_JOB_QUEUED;
    job.priority = BY_HAND_PRIORITY;
    job.queued_ms = job.changed_ms = call->now_ms;
    job.plan = job.run = job.code = job.message = "";
    job.owner = call->who.name;
    rc = ebb_store_put_job(ebb__api_store(call), &job, is_new, err);
    if (!rc && *is_new) {
        ebb_hub_post(call->hub, EBB_NOTE_JOBS, id);
        answer_job(call, &job);
    }
    return rc;
}

int ebb__api_put_job(struct ebb_api_call *call, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct repeat r = {call, job, "", false, false};
    struct ebb_buf occurrence;
    bool is_new = false;
    int rc = 0;

    ebb_buf_init(&occurrence, 256);
    if (call->idempotency_key) {
        rc = ebb__api_once(call, &occurrence, err);
        r.occurrence = ebb_buf_cstr(&occurrence);
        if (!rc)
            rc = find_repeat(&r, err);
    }
    if (!rc && !r.found)
        rc = ebb__api_check_room(call, job->json, err);
    if (!rc && !r.found)
        rc = put(call, job, r.occurrence, &is_new, err);
    if (!rc && !r.found && !is_new) {
        rc = find_repeat(&r, err);
        if (!rc && !r.found)
            rc = ebb_err_set(err, EBB_EEXIST, "Idempotency-Key: another request with it is under way");
    }
    if (!rc)
        call->status = 202;
    ebb_buf_fini(&occurrence);
    return rc;
}

/* ---- lists ---- */

static int on_job(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct ebb__api_page *page = data;

    (void)err;
    if (ebb__api_page_add(page, job->id))
        ebb__api_job(&page->w, job, false);
    return 0;
}

static int jobs_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_job_filter f = {.newest_first = !ebb__api_is_ascending(call)};
    const char *state = ebb__api_query_of(call, "state");
    enum ebb_job_state one;
    struct ebb__api_page page;
    struct ebb_buf position;
    bool found;
    int rc;

    ebb_buf_init(&position, 512);
    f.table = ebb__api_query_of(call, "table");
    f.policy = ebb__api_query_of(call, "policy");
    f.kind = ebb__api_query_of(call, "kind");
    if (state && ebb_job_state_of(state, &one))
        f.states = 1u << one;
    rc = ebb__api_since(call, &f.since_ms, err);
    if (!rc)
        rc = ebb__api_cursor(call, &position, &found, err);
    if (!rc && found)
        f.after = ebb_buf_cstr(&position);
    if (!rc) {
        ebb__api_page_begin(&page, call);
        f.limit = page.limit + 1;
        rc = ebb_store_list_jobs(ebb__api_store(call), &f, on_job, &page, err);
        ebb__api_page_end(&page);
    }
    ebb_buf_fini(&position);
    return rc;
}

static int show(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct ebb_api_call *call = data;
    struct ebb_jsonw w;

    (void)err;
    ebb_jsonw_init(&w, &call->out);
    ebb__api_job(&w, job, true);
    ebb_buf_putc(&call->out, '\n');
    return 0;
}

static int job_get(struct ebb_api_call *call, struct ebb_err *err)
{
    int rc = ebb_store_get_job(ebb__api_store(call), call->args->items[0], show, call, err);

    return rc == -(int)EBB_ENOT_FOUND ? ebb__api_not_found(err, "job", call->args->items[0]) : rc;
}

/* ---- cancelling ---- */

static int check_cancel(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct ebb_api_call *call = data;

    if (ebb_job_state_is_final(job->state))
        return ebb_err_set(err, EBB_ERUN_STATE, "job %s: is %s already", job->id, ebb_job_state_name(job->state));
    return show(call, job, err);
}

static int job_cancel(struct ebb_api_call *call, struct ebb_err *err)
{
    const char *id = call->args->items[0];
    int rc = ebb_store_get_job(ebb__api_store(call), id, check_cancel, call, err);

    if (rc == -(int)EBB_ENOT_FOUND)
        return ebb__api_not_found(err, "job", id);
    if (rc)
        return rc;
    ebb_hub_post(call->hub, EBB_NOTE_CANCEL, id);
    call->status = 202;
    return 0;
}

const struct ebb_route EBB__API_JOB_ROUTES[] = {
    {"GET", "/api/jobs", EBB_ROLE_VIEW, jobs_get, "Jobs",
     "{'parameters':[" EBB__API_LIST_PARAMETERS
     "{'name':'kind','in':'query','schema':{'type':'string','maxLength':64}},"
     "{'name':'state','in':'query','schema':{'$ref':'#/components/schemas/JobState'}}],"
     "'answer':{'200':{'$ref':'#/components/schemas/Jobs'}}}"},
    {"POST", "/api/jobs", EBB_ROLE_OPERATE, ebb__api_jobs_post, "Run a policy on a table now",
     "{'description':'The policy decides as at any time, with the trigger manual; when it says run, a job is "
     "queued. "
     "The "
     "verdict is told in any case. dry_run plans only.',"
     "'parameters':[{'$ref':'#/components/parameters/idempotency'}],"
     "'body':{'type':'object','required':['policy','table'],'additionalProperties':false,'properties':{"
     "'policy':{'type':'string','minLength':1,'maxLength':128},'table':{'type':'string','minLength':1,'maxLength':"
     "4096}"
     ","
     "'dry_run':{'type':'boolean'}}},"
     "'answer':{'200':{'$ref':'#/components/schemas/Verdict'},'202':{'$ref':'#/components/schemas/Verdict'}},"
     "'errors':[404,409,422]}"},
    {"GET", "/api/jobs/{id}", EBB_ROLE_VIEW, job_get, "A job",
     "{'answer':{'200':{'$ref':'#/components/schemas/Job'}}}"},
    {"POST", "/api/jobs/{id}/cancel", EBB_ROLE_OPERATE, job_cancel, "Stop a job at its next safe point",
     "{'answer':{'202':{'$ref':'#/components/schemas/Job'}},'errors':[409]}"},
    {NULL, NULL, EBB_ROLE_NONE, NULL, NULL, NULL},
};
