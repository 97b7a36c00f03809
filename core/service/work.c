/* SPDX-License-Identifier: Apache-2.0
 *
 * One job in a worker: what the site is while it runs, and what its end means.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/failpoint.h"
#include "engine/mask.h"
#include "service/shell.h"
#include "service/work_priv.h"

#define ATTEMPTS_MAX 3
#define RETRY_FIRST_MS ((int64_t)60 * 1000)
#define RETRY_FACTOR 4
#define PROGRESS_MS 500

static int refuse(struct ebb__work *w, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_EUNSUPPORTED, "%s: this version of ebb does not carry out jobs of kind %.40s",
                         w->job->id, w->job->kind);

    ebb_err_hint(err, "remove-orphan-files, expire-snapshots, apply, restore, purge and shell are carried out");
    return rc;
}

static const struct {
    const char *kind;
    int (*run)(struct ebb__work *w, struct ebb_err *err);
} KINDS[] = {
    {"remove-orphan-files", ebb__work_remove},
    {"expire-snapshots", ebb__work_expire},
    {"apply", ebb__work_apply},
    {"restore", ebb__work_restore},
    {"purge", ebb__work_purge},
};

static bool is_too_late(const struct ebb__work *w)
{
    return w->job->deadline_ms && ebb_clock_now(&w->site->clock) >= w->job->deadline_ms;
}

static int carry_out(struct ebb__work *w, struct ebb_err *err)
{
    int rc = ebb_value_of_json(w->job->id, w->job->json, strlen(w->job->json), NULL, &w->json, err);

    if (rc)
        return rc;
    if (is_too_late(w))
        return ebb_err_set(err, EBB_ECANCELLED, "%s: its time was over before it began", w->job->id);
    if (ebb_value_get_kind(w->json) != EBB_VALUE_MAP)
        return ebb_err_set(err, EBB_EUSAGE, "%s: its configuration: an object is wanted", w->job->id);
    w->has_started = true;
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
        if (!strcmp(KINDS[i].kind, w->job->kind))
            return KINDS[i].run(w, err);
    return refuse(w, err);
}

/* ---- progress ---- */

struct telling {
    const struct ebb__work *w;
    int64_t told_ms;
    char phase[32];
};

static void tell_progress(void *data, const struct ebb_progress *p)
{
    struct telling *t = data;
    int64_t now_ms = ebb_clock_elapsed_ms();
    struct ebb_jsonw w;
    struct ebb_buf json;

    if (!strcmp(t->phase, p->phase) && now_ms - t->told_ms < PROGRESS_MS)
        return;
    t->told_ms = now_ms;
    snprintf(t->phase, sizeof t->phase, "%s", p->phase);
    ebb_buf_init(&json, 65536);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "job", t->w->job->id);
    ebb_jsonw_kstr(&w, "table", t->w->job->table);
    ebb_jsonw_kstr(&w, "phase", p->phase);
    ebb_jsonw_kint(&w, "done", p->done);
    if (p->total)
        ebb_jsonw_kint(&w, "total", p->total);
    ebb_jsonw_end(&w, '}');
    if (!json.bad)
        ebb_hub_publish(t->w->context->hub, "progress", ebb_buf_cstr(&json));
    ebb_buf_fini(&json);
}

/* ---- what goes wrong ---- */

/* What may be otherwise in a while. */
static bool may_pass(const struct ebb__work *w, const struct ebb_err *err)
{
    switch (err->error) {
    case EBB_ELOCKED:
    case EBB_EMETADATA_CHANGED:
    case EBB_ECATALOG:
    case EBB_EIO:
    case EBB_ENOMEM:
    case EBB_ENOSPACE:
    case EBB_ESTORE:
    case EBB_EAUDIT:
        return true;
    case EBB_EPLAN_STALE: /* a new plan would not be */
        return strcmp(w->job->kind, "apply") != 0;
    default:
        return err->retryable;
    }
}

static int note_open(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    (void)err;
    *(bool *)data = !strcmp(record->status, "started");
    return 0;
}

/* The end of its run could not be recorded. As long as that counts as under way nothing else runs there: so it is gone
 * on with, however often it takes. */
static bool is_run_open(const struct ebb__work *w, const struct ebb_err *err)
{
    bool is_own = !strcmp(w->job->kind, "remove-orphan-files") || !strcmp(w->job->kind, "apply");
    bool is_open = false;
    int rc;

    if (!is_own || !w->out->run[0] || !may_pass(w, err))
        return false;
    rc = ebb_store_get(w->site->store, EBB_RECORD_RUN, w->out->run, note_open, &is_open, NULL);
    return rc ? rc != -(int)EBB_ENOT_FOUND : is_open;
}

/* A run whose time was over is gone on with later, where it stopped. */
static bool may_go_on(const struct ebb__work *w, const struct ebb_err *err)
{
    if (err->error == EBB_ECANCELLED)
        return w->out->run[0] && !w->job->deadline_ms;
    return !w->has_begun && may_pass(w, err);
}

/* The same for the same job, but not for all jobs that failed at once. */
static int64_t back_off_ms(const struct ebb__work *w)
{
    int64_t wait_ms = RETRY_FIRST_MS;

    for (int64_t i = 1; i < w->job->attempt && i < ATTEMPTS_MAX; i++)
        wait_ms *= RETRY_FACTOR;
    return wait_ms + (int64_t)(XXH3_64bits(w->job->id, strlen(w->job->id)) % (uint64_t)(wait_ms / 2));
}

static bool is_to_stop(const struct ebb__work *w)
{
    return w->site->cancelled && atomic_load(w->site->cancelled);
}

static void judge_stop(struct ebb__work *w, struct ebb_err *err)
{
    struct ebb_work_result *out = w->out;

    out->state = is_to_stop(w) || !w->has_started ? EBB_JOB_CANCELLED : EBB_JOB_FAILED;
    if (out->state == EBB_JOB_FAILED)
        ebb_err_set(err, EBB_ECANCELLED, "%s: its time was over (guard.timeout)", w->job->id);
    if (out->run[0])
        ebb_err_hint(err, "ebb apply --resume %s goes on", out->run);
}

static void judge(struct ebb__work *w, int rc, struct ebb_err *err)
{
    struct ebb_work_result *out = w->out;
    int64_t attempts_max = w->context->attempts_max ? w->context->attempts_max : ATTEMPTS_MAX;

    out->state = rc ? EBB_JOB_FAILED : EBB_JOB_SUCCEEDED;
    if (rc == -(int)EBB_ECANCELLED)
        judge_stop(w, err);
    out->is_held = rc == -(int)EBB_EFUSE || (!rc && !out->run[0] && !strcmp(out->status, "ready"));
    if (out->state != EBB_JOB_FAILED)
        return;
    if (!is_run_open(w, err) && (w->job->attempt >= attempts_max || !may_go_on(w, err)))
        return;
    out->state = EBB_JOB_QUEUED;
    out->not_before_ms = ebb_clock_now(&w->site->clock) + back_off_ms(w);
}

/* Who is named in a URI (user:password@), and the value after a name like that of a secret, are nobody's business. */
static void mask(char *text)
{
    for (char *p = text; *p; p++) {
        size_t n = strcspn(p, "=@/ ");
        size_t value;

        if (p > text + 2 && !strncmp(p - 3, "://", 3) && p[strcspn(p, "@/ ")] == '@') {
            memset(p, '*', strcspn(p, "@"));
        } else if (n && p[n] == '=' && ebb_is_secret_name((struct ebb_str){p, n})) {
            value = strcspn(p + n + 1, " ,;&\"'");
            memset(p + n + 1, '*', value);
            p += n + value;
        }
    }
}

/* ---- records ---- */

static void write_run(const struct ebb__work *w, const char *id, const char *status, struct ebb_buf *out)
{
    const struct ebb_err *why = &w->out->err;
    struct ebb_jsonw j;

    ebb_jsonw_init(&j, out);
    ebb_jsonw_begin(&j, '{');
    ebb_jsonw_kstr(&j, "run", id);
    ebb_jsonw_kstr(&j, "kind", "decision");
    ebb_jsonw_kstr(&j, "decision", w->job->parent);
    ebb_jsonw_kstr(&j, "policy", w->job->policy);
    ebb_jsonw_kstr(&j, "table", w->job->table);
    ebb_jsonw_kstr(&j, "status", status);
    if (w->out->plan[0])
        ebb_jsonw_kstr(&j, "plan", w->out->plan);
    if (why->error) {
        ebb_jsonw_kstr(&j, "code", ebb_error_code(why->error));
        ebb_jsonw_kstr(&j, "message", why->message);
    }
    ebb_jsonw_end(&j, '}');
}

static int put_run(const struct ebb__work *w, struct ebb_err *err)
{
    const char *status = w->out->state == EBB_JOB_SUCCEEDED ? "done" : "failed";
    int64_t now_ms = ebb_clock_now(&w->site->clock);
    struct ebb_record record;
    struct ebb_buf json;
    char id[40];
    int rc;

    ebb_store_new_id(w->site->store, "r", now_ms, id);
    ebb_buf_init(&json, 65536);
    write_run(w, id, status, &json);
    record = (struct ebb_record){id,     w->job->table, w->job->uuid,   w->job->policy,     status,
                                 now_ms, now_ms,        w->job->parent, ebb_buf_cstr(&json)};
    rc = ebb_buf_check(&json, "run record", err);
    if (!rc)
        rc = ebb_store_put(w->site->store, EBB_RECORD_RUN, &record, err);
    ebb_buf_fini(&json);
    return rc;
}

/* A run that did not touch the table still counts for intervals and history; what was stopped before it did is none. */
static void record(struct ebb__work *w)
{
    struct ebb_work_result *out = w->out;
    bool is_over = out->state == EBB_JOB_SUCCEEDED || out->state == EBB_JOB_FAILED;
    struct ebb_err why;

    if (!is_over || out->run[0] || !w->job->policy[0] || !w->job->parent[0] || w->context->is_dry)
        return;
    memset(&why, 0, sizeof why);
    EBB_FAILPOINT("work.run_record.before");
    if (put_run(w, &why) && !out->err.error) {
        out->state = EBB_JOB_FAILED;
        out->err = why;
    }
    EBB_FAILPOINT("work.run_record.after");
}

static void count(const struct ebb__work *w)
{
    const struct ebb_work_result *out = w->out;

    ebb_metrics_add(w->context->metrics, EBB_METRIC_FILES_MOVED, NULL, out->moved);
    ebb_metrics_add(w->context->metrics, EBB_METRIC_FILES_DELETED, NULL, out->deleted);
    ebb_metrics_add(w->context->metrics, EBB_METRIC_FILES_RESTORED, NULL, out->restored);
}

/* ---- the job ---- */

static void limit_time(const struct ebb__work *w)
{
    int64_t left_ms = w->job->deadline_ms - ebb_clock_now(&w->site->clock);

    if (w->job->deadline_ms)
        w->site->deadline_ms = ebb_clock_elapsed_ms() + (left_ms > 1 ? left_ms : 1);
}

void ebb_work_run(const struct ebb_work_context *context, const struct ebb_job_record *job, struct ebb_work_result *out)
{
    struct ebb_site *site = ebb_workspace_site(context->ws), before = *site;
    struct ebb__work w = {.context = context, .job = job, .site = site, .out = out};
    struct telling telling = {.w = &w};
    int rc;

    memset(out, 0, sizeof *out);
    if (!strcmp(job->kind, "shell")) {
        ebb_shell_run(context, job, out);
        return;
    }
    if (context->cancelled)
        site->cancelled = context->cancelled;
    site->began = context->began;
    site->began_data = context->began_data;
    if (context->hub) {
        site->progress = tell_progress;
        site->progress_data = &telling;
    }
    limit_time(&w);
    rc = carry_out(&w, &out->err);
    judge(&w, rc, &out->err);
    if (!rc)
        memset(&out->err, 0, sizeof out->err);
    mask(out->err.message);
    record(&w);
    count(&w);
    *site = before;
    ebb_value_free(w.json);
}
