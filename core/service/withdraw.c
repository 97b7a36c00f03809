/* SPDX-License-Identifier: Apache-2.0 */
#include "service/withdraw.h"

#include <stdlib.h>

#include "service/generation_priv.h"
#include "service/schedule.h"

void ebb_withdrawn_fini(struct ebb_withdrawn *w)
{
    ebb_strs_fini(&w->ids);
    memset(w, 0, sizeof *w);
}

/* ---- which ---- */

/* The policy that stands for a name now: the one that has it, or had it before it was renamed. */
static const struct ebb_policy *successor(const struct ebb_generation *g, const char *name)
{
    for (size_t i = 0; i < g->bound_count; i++)
        if (!strcmp(ebb_policy_get_name(g->bound[i].policy), name))
            return g->bound[i].policy;
    for (size_t i = 0; i < g->bound_count; i++) {
        const char *was = ebb_policy_get_was(g->bound[i].policy);

        if (was && !strcmp(was, name))
            return g->bound[i].policy;
    }
    return NULL;
}

static int on_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    (void)record;
    (void)err;
    *(bool *)data = true;
    return 0;
}

struct finding {
    struct ebb_store *store;
    bool has_run;
};

static int on_plan(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct finding *f = data;
    struct ebb_record_filter filter = {.parent = record->id, .limit = 1};

    return f->has_run ? 0 : ebb_store_list(f->store, EBB_RECORD_RUN, &filter, on_run, &f->has_run, err);
}

/* An attempt of it acted on the table. */
static int has_begun(struct ebb_store *store, const struct ebb_job_record *job, bool *out, struct ebb_err *err)
{
    struct ebb_record_filter filter = {.parent = job->parent};
    struct finding f = {store, job->attempt > 0 && job->run[0]};
    int rc = 0;

    if (!f.has_run && job->attempt > 0)
        rc = ebb_store_list(store, EBB_RECORD_PLAN, &filter, on_plan, &f, err);
    *out = f.has_run;
    return rc;
}

static int is_of(const struct ebb_generation *g, const struct ebb_job_record *job, bool *out, struct ebb_err *err)
{
    struct ebb_value *json = NULL;
    const char *its;
    char now[EBB__REVISION_SIZE];
    int rc = ebb__policy_revision(g, job->policy, now, err);

    *out = false;
    if (!rc)
        rc = ebb_value_of_json(job->id, job->json, strlen(job->json), NULL, &json, err);
    if (rc == -(int)EBB_ECORRUPT || rc == -(int)EBB_ELIMIT) /* it fails when it is carried out */
        rc = 0, *out = true;
    its = ebb_value_text_of(ebb_value_get(json, "origin"), "revision");
    if (its && now[0])
        *out = !strcmp(its, now);
    ebb_value_free(json);
    return rc;
}

int ebb_withdraw_is_due(struct ebb_store *store, const struct ebb_generation *g, const struct ebb_job_record *job,
                        bool *out, struct ebb_err *err)
{
    bool is_kept = true;
    int rc = 0;

    if (job->policy[0] && !strncmp(job->parent, "d-", 2))
        rc = is_of(g, job, &is_kept, err);
    if (!rc && !is_kept)
        rc = has_begun(store, job, &is_kept, err);
    *out = !rc && !is_kept;
    return rc;
}

/* ---- taking back ---- */

struct taking {
    struct ebb_store *store;
    const struct ebb_generation *generation;
    int64_t now_ms;
    unsigned from;
    const char *why; /* NULL: its policy changed */
    bool did, is_again;
};

/* Asked for by hand: not made up for by what the policy does by itself. */
static bool is_by_hand(const struct ebb_job_record *job)
{
    return strncmp(job->owner, "policy ", 7) != 0;
}

static int cancel(struct taking *t, const struct ebb_job_record *job, const char *why, struct ebb_err *err)
{
    struct ebb_job_record changed = *job;
    int rc;

    changed.state = EBB_JOB_CANCELLED;
    changed.changed_ms = changed.ended_ms = t->now_ms;
    changed.code = ebb_error_code(EBB_ECANCELLED);
    changed.message = why;
    rc = ebb_store_set_job(t->store, &changed, t->from, err);
    t->did = !rc;
    return rc == -(int)EBB_ERUN_STATE || rc == -(int)EBB_ENOT_FOUND ? 0 : rc;
}

static int64_t not_after_ms(const struct ebb_job_record *job)
{
    struct ebb_value *json = NULL;
    int64_t at_ms = 0;

    if (ebb_value_of_json(job->id, job->json, strlen(job->json), NULL, &json, NULL) == 0)
        at_ms = ebb_value_int_of(json, "not_after", 0);
    ebb_value_free(json);
    return at_ms;
}

/* What its occurrence stood for is pending again, due at once: written first, so that it is not lost. A job that began
 * meanwhile has it. */
static int decide_again(struct taking *t, const struct ebb_job_record *job, const struct ebb_policy *policy,
                        struct ebb_err *err)
{
    const char *name = ebb_policy_get_name(policy);
    struct ebb_schedule before, pending;
    int rc = ebb_schedule_load_of(t->store, policy, job->uuid, &before, err);

    if (rc)
        return rc;
    pending = before;
    if (!pending.deferred_until_ms || pending.deferred_until_ms > t->now_ms) {
        pending.deferred_until_ms = t->now_ms;
        pending.deferred_deadline_ms = not_after_ms(job);
    }
    rc = ebb_schedule_save(t->store, name, job->uuid, &pending, err);
    if (!rc)
        rc = cancel(t, job, t->why ? t->why : "withdrawn: its policy changed and decides again", err);
    if (!rc && !t->did)
        rc = ebb_schedule_save(t->store, name, job->uuid, &before, err);
    return rc;
}

static int take_back(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct taking *t = data;
    const struct ebb_policy *policy = successor(t->generation, job->policy);

    t->is_again = policy && job->uuid[0] && !is_by_hand(job);
    if (t->is_again)
        return decide_again(t, job, policy, err);
    return cancel(
        t, job, policy ? "withdrawn: its policy changed; ask again for it" : "withdrawn: its policy was removed", err);
}

static int withdraw(struct taking *t, const char *id, struct ebb_err *err)
{
    int rc;

    t->did = false;
    rc = ebb_store_get_job(t->store, id, take_back, t, err);
    return rc == -(int)EBB_ENOT_FOUND ? 0 : rc;
}

bool ebb_withdraw_is_too_late(const struct ebb_job_record *job, int64_t now_ms)
{
    return job->deadline_ms && now_ms >= job->deadline_ms && job->attempt == 0 && job->policy[0] && job->uuid[0] &&
           !strncmp(job->parent, "d-", 2) && !is_by_hand(job);
}

int ebb_withdraw_job(struct ebb_store *store, const struct ebb_generation *g, const char *id, unsigned from,
                     const char *why, int64_t now_ms, bool *did, struct ebb_err *err)
{
    struct taking t = {store, g, now_ms, from, why, false, false};
    int rc = withdraw(&t, id, err);

    *did = t.did;
    return rc;
}

struct listing {
    struct ebb_store *store;
    const struct ebb_generation *generation;
    struct ebb_strs due;
};

static int on_queued(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct listing *l = data;
    bool is_due;
    int rc = ebb_withdraw_is_due(l->store, l->generation, job, &is_due, err);

    return rc || !is_due ? rc : ebb_strs_add(&l->due, job->id, err);
}

int ebb_withdraw_jobs(struct ebb_store *store, const struct ebb_generation *g, int64_t now_ms,
                      struct ebb_withdrawn *out, struct ebb_err *err)
{
    struct ebb_job_filter filter = {.states = 1u << EBB_JOB_QUEUED};
    struct listing l = {.store = store, .generation = g};
    struct taking t = {store, g, now_ms, 1u << EBB_JOB_QUEUED, NULL, false, false};
    int rc;

    memset(out, 0, sizeof *out);
    ebb_strs_init(&l.due);
    rc = ebb_store_list_jobs(store, &filter, on_queued, &l, err);
    for (size_t i = 0; !rc && i < l.due.count; i++) {
        rc = withdraw(&t, l.due.items[i], err);
        if (rc || !t.did)
            continue;
        *(t.is_again ? &out->again : &out->removed) += 1;
        rc = ebb_strs_add(&out->ids, l.due.items[i], err);
    }
    ebb_strs_fini(&l.due);
    return rc;
}

/* ---- runs that nobody goes on with ---- */

#define LONG_MS ((int64_t)2 * 24 * 3600 * 1000)

struct open_runs {
    struct ebb_store *store;
    int64_t now_ms, at_ms; /* of the run at hand */
    bool is_active, is_over;
};

static int on_its_job(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    struct open_runs *o = data;
    bool is_final = ebb_job_state_is_final(job->state);

    (void)err;
    o->is_active = o->is_active || !is_final;
    o->is_over =
        o->is_over || (is_final && job->started_ms && job->started_ms <= o->at_ms && job->ended_ms >= o->at_ms);
    return 0;
}

/* A run whose job is over is not under way, though its process did not live to write that: it would be in the way of
 * its policy for ever. One without a job may be of another process; but not for long. */
static int on_open_run(void *data, const struct ebb_record *run, struct ebb_err *err)
{
    static const char *const FROM[] = {"started", NULL};
    struct open_runs *o = data;
    struct ebb_job_filter filter = {.uuid = run->uuid, .policy = run->policy};
    int rc;

    o->is_active = o->is_over = false;
    o->at_ms = run->at_ms;
    rc = ebb_store_list_jobs(o->store, &filter, on_its_job, o, err);
    if (rc || o->is_active || (!o->is_over && run->at_ms > o->now_ms - LONG_MS))
        return rc;
    rc = ebb_store_set_status(o->store, EBB_RECORD_RUN, run->id, FROM, "interrupted", err);
    return rc == -(int)EBB_ERUN_STATE || rc == -(int)EBB_ENOT_FOUND ? 0 : rc;
}

int ebb_withdraw_open_runs(struct ebb_store *store, int64_t now_ms, struct ebb_err *err)
{
    struct ebb_record_filter open = {.status = "started"};
    struct open_runs o = {.store = store, .now_ms = now_ms};

    return ebb_store_list(store, EBB_RECORD_RUN, &open, on_open_run, &o, err);
}
