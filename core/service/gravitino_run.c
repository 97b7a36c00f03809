/* SPDX-License-Identifier: Apache-2.0 */
#include "service/gravitino_priv.h"

#include <stdlib.h>

static struct ebb__subject subject_of(const struct ebb_api_call *call, const char *name, const char *operation)
{
    return (struct ebb__subject){"job(s)", name, operation, "object", ebb__gravitino_arg(call, 0)};
}

int ebb__run_no_template(struct ebb_api_call *call, const char *name, const char *operation)
{
    struct ebb__subject subject = subject_of(call, "", operation);

    return ebb__gravitino_fail(call, EBB__FAULT_NO_TEMPLATE, &subject,
                               "Job template with name %s under metalake %s does not exist", name, subject.under);
}

/* ---- write ---- */

/* What was started and not heard of since is still started as far as anybody knows. */
static const char *status_of(enum ebb_job_state state)
{
    return ebb_job_state_name(state == EBB_JOB_UNKNOWN ? EBB_JOB_STARTED : state);
}

static void write_run(struct ebb_jsonw *w, const struct ebb_job_record *job, const char *template_)
{
    bool has_changed = job->changed_ms > job->queued_ms || job->state != EBB_JOB_QUEUED;

    ebb_jsonw_begin(w, '{');
    ebb_jsonw_kstr(w, "jobId", job->id);
    ebb_jsonw_kstr(w, "jobTemplateName", template_);
    ebb_jsonw_kstr(w, "status", status_of(job->state));
    ebb__gravitino_audit(w, job->owner, job->queued_ms, has_changed ? job->owner : "", job->changed_ms);
    ebb_jsonw_end(w, '}');
}

int ebb__run_answer(struct ebb_api_call *call, const struct ebb_job_record *job, const char *template_,
                    struct ebb_err *err)
{
    struct ebb_jsonw w;

    ebb__gravitino_begin(call, &w);
    ebb_jsonw_key(&w, "job");
    write_run(&w, job, template_);
    return ebb__gravitino_end(call, &w, err);
}

/* ---- names of templates: a job keeps the number of its template, so it is found after a rename ---- */

struct names {
    struct ebb_strs names;
    int64_t *numbers;
};

static int add_name(void *data, const struct ebb_object *object, struct ebb_err *err)
{
    struct names *n = data;
    int64_t *numbers = realloc(n->numbers, (n->names.count + 1) * sizeof *numbers);

    if (!numbers)
        return ebb_err_nomem(err);
    n->numbers = numbers;
    numbers[n->names.count] = object->number;
    return ebb_strs_add(&n->names, object->name, err);
}

static int names_load(const struct ebb_api_call *call, struct names *out, struct ebb_err *err)
{
    ebb_strs_init(&out->names);
    out->numbers = NULL;
    return ebb_store_list_objects(ebb__gravitino_store(call), EBB_OBJECT_TEMPLATE, add_name, out, err);
}

static void names_fini(struct names *n)
{
    ebb_strs_fini(&n->names);
    free(n->numbers);
}

/* The name that the template of a job has now. */
static const char *name_now(const struct names *n, const struct ebb_job_record *job)
{
    struct ebb_value *json = NULL;
    int64_t number = 0;

    if (!strcmp(job->kind, "shell") && !ebb_value_of_json(job->id, job->json, strlen(job->json), NULL, &json, NULL))
        number = ebb_value_int_of(json, "template", 0);
    ebb_value_free(json);
    for (size_t i = 0; number && i < n->names.count; i++)
        if (n->numbers[i] == number)
            return n->names.items[i];
    return job->template_;
}

/* ---- list, get ---- */

struct listing {
    struct ebb_jsonw w;
    const struct names *names;
    const char *only; /* template, NULL all */
};

static int write_one(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct listing *l = data;
    const char *name;

    (void)err;
    if (!job->template_[0])
        return 0;
    name = name_now(l->names, job);
    if (!l->only || !strcmp(l->only, name))
        write_run(&l->w, job, name);
    return 0;
}

static int check_template(struct ebb_api_call *call, const char *name, struct ebb_err *err)
{
    struct ebb__entity e;
    int rc = ebb__template_get(call, name, &e, err);

    ebb__entity_fini(&e);
    return rc == -(int)EBB_ENOT_FOUND ? ebb__run_no_template(call, name, "LIST") : rc;
}

int ebb__gravitino_runs_list(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_job_filter all = {0};
    struct names names = {0};
    struct listing l = {.names = &names, .only = ebb_value_text_of(call->query, "jobTemplateName")};
    int rc = ebb__gravitino_metalake(call);

    if (!rc && l.only)
        rc = check_template(call, l.only, err);
    if (!rc)
        rc = names_load(call, &names, err);
    if (!rc) {
        ebb__gravitino_begin(call, &l.w);
        ebb_jsonw_key(&l.w, "jobs");
        ebb_jsonw_begin(&l.w, '[');
        rc = ebb_store_list_jobs(ebb__gravitino_store(call), &all, write_one, &l, err);
        ebb_jsonw_end(&l.w, ']');
    }
    if (!rc)
        rc = ebb__gravitino_end(call, &l.w, err);
    names_fini(&names);
    return ebb__gravitino_done(rc);
}

struct one {
    struct ebb_api_call *call;
    const struct names *names;
    bool cancel, found;
};

/* Queued ones are over at once, started ones when they stop; the daemon is told of both. */
static int cancel(struct ebb_api_call *call, struct ebb_job_record *job, struct ebb_err *err)
{
    struct ebb_job_record next = *job;
    int rc;

    next.changed_ms = call->now_ms;
    next.state = job->state == EBB_JOB_QUEUED ? EBB_JOB_CANCELLED : EBB_JOB_CANCELLING;
    if (next.state == EBB_JOB_CANCELLED) {
        next.ended_ms = call->now_ms;
        next.code = ebb_error_code(EBB_ECANCELLED);
        next.message = "cancelled on request";
    }
    rc = ebb_store_set_job(ebb__gravitino_store(call), &next, 1u << job->state, err);
    if (rc)
        return rc;
    ebb__gravitino_tell(call, EBB_NOTE_CANCEL, job->id);
    job->state = EBB_JOB_CANCELLING;
    job->changed_ms = call->now_ms;
    return 0;
}

static int take_one(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct one *o = data;
    struct ebb_job_record now = *job;
    int rc = 0;

    if (!job->template_[0])
        return 0;
    o->found = true;
    if (o->cancel && (job->state == EBB_JOB_QUEUED || job->state == EBB_JOB_STARTED || job->state == EBB_JOB_UNKNOWN))
        rc = cancel(o->call, &now, err);
    return rc ? rc : ebb__run_answer(o->call, &now, name_now(o->names, job), err);
}

static int get_or_cancel(struct ebb_api_call *call, bool is_cancel, struct ebb_err *err)
{
    struct ebb__subject subject = subject_of(call, ebb__gravitino_arg(call, 1), is_cancel ? "CANCEL" : "GET");
    struct names names = {0};
    struct one one = {.call = call, .names = &names, .cancel = is_cancel};
    int rc = ebb__gravitino_metalake(call);

    if (!rc)
        rc = names_load(call, &names, err);
    for (int tries = 0; !rc && tries < 5; tries++) { /* its state may change in between */
        rc = ebb_store_get_job(ebb__gravitino_store(call), subject.name, take_one, &one, err);
        if (rc != -(int)EBB_ERUN_STATE)
            break;
        rc = tries == 4 ? rc : 0;
    }
    if (rc == -(int)EBB_ENOT_FOUND || (!rc && !one.found))
        rc = ebb__gravitino_fail(call, EBB__FAULT_NO_JOB, &subject, "Job with ID %s under metalake %s does not exist",
                                 subject.name, subject.under);
    names_fini(&names);
    return ebb__gravitino_done(rc);
}

int ebb__gravitino_run_get(struct ebb_api_call *call, struct ebb_err *err)
{
    return get_or_cancel(call, false, err);
}

int ebb__gravitino_run_cancel(struct ebb_api_call *call, struct ebb_err *err)
{
    return get_or_cancel(call, true, err);
}
