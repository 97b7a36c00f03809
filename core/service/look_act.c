/* SPDX-License-Identifier: Apache-2.0
 *
 * From a decision to a job: strategy and adapter make its configuration now, so that what is queued is what was
 * decided, whatever is loaded later.
 */
#include <inttypes.h>
#include <stdio.h>

#include "service/generation_priv.h"
#include "service/look_priv.h"
#include "service/schedule_priv.h"

#define JOB_MAX_BYTES ((size_t)1 << 20)
#define BY_HAND_PRIORITY 100
#define TEMPLATE_PREFIX "builtin-iceberg-"

struct making {
    struct ebb_value *config; /* of the adapter */
    struct ebb_buf json, occurrence, owner;
    char id[40], revision[EBB__REVISION_SIZE];
    struct ebb_job_record job;
};

static const char *text_or(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

void ebb__look_tell(struct ebb__look_step *s, const struct ebb_job_record *job, int rc, const struct ebb_err *err)
{
    s->report.error = rc ? err : NULL;
    if (rc && !s->report.status)
        s->report.status = "failed";
    if (s->way->told)
        s->way->told(s->way->data, &s->report, job);
}

/* ---- runs that do nothing ---- */

static void write_run(const struct ebb__look_step *s, const char *id, const char *status, const struct ebb_err *why,
                      struct ebb_buf *out)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "run", id);
    ebb_jsonw_kstr(&w, "kind", "decision");
    ebb_jsonw_kstr(&w, "decision", s->id);
    ebb_jsonw_kstr(&w, "policy", s->report.policy);
    ebb_jsonw_kstr(&w, "table", s->table->label);
    ebb_jsonw_kstr(&w, "status", status);
    if (why) {
        ebb_jsonw_kstr(&w, "code", ebb_error_code(why->error));
        ebb_jsonw_kstr(&w, "message", why->message);
    }
    ebb_jsonw_end(&w, '}');
}

/* It still counts for intervals and history; one of a dry pass does not. */
static int put_run(const struct ebb__look_step *s, const char *status, const struct ebb_err *why, struct ebb_err *err)
{
    struct ebb_site *site = s->looker->site;
    int64_t now_ms = ebb_clock_now(&site->clock);
    struct ebb_record record;
    struct ebb_buf json;
    char id[40];
    int rc;

    if (s->way->is_dry)
        return 0;
    ebb_store_new_id(site->store, "r", now_ms, id);
    ebb_buf_init(&json, 65536);
    write_run(s, id, status, why, &json);
    record = (struct ebb_record){id,     s->table->label, s->table->metadata->uuid, s->report.policy, status, now_ms,
                                 now_ms, s->id,           ebb_buf_cstr(&json)};
    rc = ebb_buf_check(&json, "run record", err);
    if (!rc)
        rc = ebb_store_put(site->store, EBB_RECORD_RUN, &record, err);
    ebb_buf_fini(&json);
    return rc;
}

/* ---- the job ---- */

/* What strategies need to know of the table: not its whole history. */
static struct ebb_value *job_facts(const struct ebb__look_step *s)
{
    static const char *const KEYS[] = {"catalog",  "namespace",      "name",      "uuid",
                                       "location", "format_version", "properties"};
    const struct ebb_value *table = ebb_value_get(s->facts, "table");
    struct ebb_value *facts = ebb_value_new_map(NULL);
    struct ebb_value *out = ebb_value_put_map(facts, "table");

    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        ebb_value_put_copy(out, KEYS[i], ebb_value_get(table, KEYS[i]));
    ebb_value_put_int(facts, "now", s->question.input.now_ms);
    return facts;
}

static int make_config(const struct ebb__look_step *s, struct making *m, struct ebb_err *err)
{
    struct ebb_value *facts = job_facts(s);
    const struct ebb_value *c;
    const char *older_than;
    int rc = ebb_value_check(facts, "facts", err);

    if (!rc)
        rc = ebb_engine_chain(s->looker->engine, ebb_decision_get_action(s->decision), facts, &m->config, err);
    ebb_value_free(facts);
    if (rc)
        return rc;
    c = ebb_value_get(m->config, "config");
    older_than = ebb_value_text_of(c, "older_than");
    if (!older_than || !older_than[0]) /* without it a job falls back to its default: not what was decided */
        return ebb_err_set(err, EBB_ECONFIG, "scripts: the job has no older_than");
    return 0;
}

/* When a run must have stopped since quiet hours begin (stop_in_quiet), however long its job waits; 0: not for that.
 * The other limit, the guard's own, counts from its start. */
static int64_t quiet_begins_ms(const struct ebb__look_step *s)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(s->settings);
    int64_t timeout_ms = ebb_decision_get_fuses(s->decision)->timeout_ms;

    if (!guard->stop_in_quiet || timeout_ms <= 0 || timeout_ms == guard->timeout_ms)
        return 0;
    return s->question.input.now_ms + timeout_ms;
}

static void write_fuses(const struct ebb__look_step *s, struct ebb_jsonw *w)
{
    const struct ebb_fuses *fuses = ebb_decision_get_fuses(s->decision);
    int64_t own_ms = ebb_settings_get_guard(s->settings)->timeout_ms;
    struct ebb_value *v = ebb_value_new_map(NULL);

    ebb_value_put_int(v, "max_files", fuses->max_files);
    ebb_value_put_int(v, "max_bytes", fuses->max_bytes);
    ebb_value_put_float(v, "max_share", fuses->max_share);
    ebb_value_put_int(v, "timeout", quiet_begins_ms(s) ? own_ms : fuses->timeout_ms);
    ebb_jsonw_key(w, "fuses");
    if (ebb_value_check(v, "fuses", NULL))
        w->out->bad = true; /* never a job without its limits */
    else
        ebb_value_write(v, w);
    ebb_value_free(v);
}

static void write_origin(const struct ebb__look_step *s, const struct making *m, struct ebb_jsonw *w)
{
    static const char *const MODES[] = {"observe", "approve", "enforce"};
    const struct ebb_binding *binding = s->bound->binding;
    const struct ebb_guard *guard = ebb_settings_get_guard(s->settings);

    ebb_jsonw_kstr(w, "revision", m->revision);
    ebb_jsonw_kstr(w, "mode", MODES[binding->mode]);
    ebb_jsonw_kbool(w, "plan_only", binding->mode != EBB_BIND_ENFORCE || s->way->is_dry || s->way->plan_only);
    ebb_jsonw_kbool(w, "needs_full", binding->mode == EBB_BIND_ENFORCE);
    ebb_jsonw_kbool(w, "allow_below_floor", binding->allow_below_floor);
    if (binding->engine != EBB_JOB_NATIVE) {
        ebb_jsonw_kstr(w, "engine", ebb_job_engine_name(binding->engine));
        ebb_jsonw_kint(w, "engine_above", binding->engine_above);
        ebb_jsonw_kbool(w, "irreversible", binding->irreversible);
    }
    write_fuses(s, w);
    if (guard->fleet_slot) {
        ebb_jsonw_kstr(w, "slot", guard->fleet_slot);
        ebb_jsonw_kint(w, "slot_max", guard->fleet_max_running);
    }
    if (ebb_value_get(m->config, "options")) {
        ebb_jsonw_key(w, "options");
        ebb_value_write(ebb_value_get(m->config, "options"), w);
    }
}

/* The last instant at which the occurrence may begin when something holds it back; 0: any. */
static int64_t not_after_ms(const struct ebb__look_step *s)
{
    const struct ebb_schedule_input in = {s->bound->policy, s->settings, s->table->metadata->uuid, s->facts,
                                          s->question.input.now_ms};
    int64_t at_ms;

    if (s->due.trigger == SIZE_MAX || s->way->owner)
        return s->way->owner ? 0 : s->before.deferred_deadline_ms;
    at_ms = ebb__schedule_deadline(&in, s->due.trigger, s->due.scheduled_for_ms);
    return at_ms < INT64_MAX ? at_ms : 0;
}

static void write_job(const struct ebb__look_step *s, const struct making *m, struct ebb_buf *out)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_key(&w, "config");
    ebb_value_write(ebb_value_get(m->config, "config"), &w);
    ebb_jsonw_key(&w, "origin");
    ebb_jsonw_begin(&w, '{');
    write_origin(s, m, &w);
    ebb_jsonw_end(&w, '}');
    ebb_jsonw_kstr(&w, "due", s->due.kind);
    ebb_jsonw_kint(&w, "scheduled_for", s->due.scheduled_for_ms);
    ebb_jsonw_kint(&w, "not_after", not_after_ms(s));
    ebb_jsonw_end(&w, '}');
}

/* One job for an occurrence, whoever looks. */
static void write_occurrence(const struct ebb__look_step *s, struct ebb_buf *out)
{
    if (s->way->owner) {
        ebb_buf_puts(out, s->way->occurrence ? s->way->occurrence : "");
        return;
    }
    ebb_buf_printf(out, "%s %s ", s->report.policy, s->table->metadata->uuid);
    if (s->due.trigger == SIZE_MAX)
        ebb_buf_puts(out, "deferred");
    else
        ebb_buf_printf(out, "%zu", s->due.trigger);
    ebb_buf_printf(out, " %" PRId64, s->due.scheduled_for_ms);
}

static const char *kind_of(const struct making *m)
{
    const char *template_ = text_or(ebb_value_text_of(m->config, "template"), "");
    size_t n = strlen(TEMPLATE_PREFIX);

    return strncmp(template_, TEMPLATE_PREFIX, n) ? template_ : template_ + n;
}

static void fill_job(const struct ebb__look_step *s, struct making *m)
{
    int64_t now_ms = s->question.input.now_ms;

    ebb_store_new_job_id(s->looker->site->store, now_ms, m->id);
    m->job = (struct ebb_job_record){.id = m->id,
                                     .kind = kind_of(m),
                                     .template_ = text_or(ebb_value_text_of(m->config, "template"), ""),
                                     .table = s->table->label,
                                     .uuid = s->table->metadata->uuid,
                                     .policy = s->report.policy,
                                     .occurrence = ebb_buf_cstr(&m->occurrence),
                                     .parent = s->id,
                                     .state = EBB_JOB_QUEUED,
                                     .priority = s->way->owner ? BY_HAND_PRIORITY : 0,
                                     .queued_ms = now_ms,
                                     .changed_ms = now_ms,
                                     .deadline_ms = quiet_begins_ms(s),
                                     .plan = "",
                                     .run = "",
                                     .code = "",
                                     .message = "",
                                     .owner = ebb_buf_cstr(&m->owner),
                                     .json = ebb_buf_cstr(&m->json)};
}

static int make_job(const struct ebb__look_step *s, struct making *m, struct ebb_err *err)
{
    int rc = make_config(s, m, err);

    if (!rc)
        rc = ebb__policy_revision(s->way->generation, s->report.policy, m->revision, err);
    if (rc)
        return rc;
    write_job(s, m, &m->json);
    write_occurrence(s, &m->occurrence);
    if (s->way->owner)
        ebb_buf_puts(&m->owner, s->way->owner);
    else
        ebb_buf_printf(&m->owner, "policy %s", s->report.policy);
    rc = ebb_buf_check(&m->json, "job", err);
    if (!rc)
        rc = ebb_buf_check(&m->occurrence, "table uuid", err);
    if (!rc)
        rc = ebb_buf_check(&m->owner, "policy name", err);
    if (!rc)
        fill_job(s, m);
    return rc;
}

static int put_job(const struct ebb__look_step *s, const struct making *m, struct ebb_look *look, struct ebb_err *err)
{
    bool is_new = true;
    int rc = 0;

    if (!s->way->is_dry)
        rc = ebb_store_put_job(s->looker->site->store, &m->job, &is_new, err);
    if (!rc && is_new && !s->way->is_dry) {
        look->jobs++;
        rc = ebb__fleet_add(&s->looker->fleet, s->report.policy, err);
    }
    return rc;
}

static int queue(struct ebb__look_step *s, struct ebb_look *look, struct ebb_err *err)
{
    struct making m = {.config = NULL};
    int put, rc;

    ebb_buf_init(&m.json, JOB_MAX_BYTES);
    ebb_buf_init(&m.occurrence, 65536);
    ebb_buf_init(&m.owner, 4096);
    rc = make_job(s, &m, err);
    s->report.status = rc ? "failed" : "queued";
    if (!rc)
        rc = put_job(s, &m, look, err);
    else if (!ebb__look_is_fatal(rc) && ebb__look_is_fatal(put = put_run(s, "failed", err, NULL)))
        rc = put;
    ebb__look_tell(s, rc ? NULL : &m.job, rc, err);
    ebb_value_free(m.config);
    ebb_buf_fini(&m.owner);
    ebb_buf_fini(&m.occurrence);
    ebb_buf_fini(&m.json);
    return rc;
}

int ebb__look_act(struct ebb__look_step *s, struct ebb_look *look, struct ebb_err *err)
{
    int rc = 0;

    switch (ebb_decision_get_verdict(s->decision)) {
    case EBB_VERDICT_RUN:
        if (s->bound->binding->mode != EBB_BIND_OBSERVE)
            return queue(s, look, err);
        s->report.status = "observed";
        rc = put_run(s, "observed", NULL, err);
        break;
    case EBB_VERDICT_REFUSED:
        s->report.status = "refused";
        rc = ebb_err_set(err, EBB_EREFUSED, "%s on %s: refused by %s", s->report.policy, s->table->label,
                         ebb_decision_get_by(s->decision));
        break;
    case EBB_VERDICT_SKIP:
        s->report.status = strcmp(ebb_decision_get_by(s->decision), "guard.pause") ? "skipped" : "paused";
        break;
    case EBB_VERDICT_DEFER: /* the schedule knows */
    case EBB_VERDICT_ERROR:
        break;
    }
    ebb__look_tell(s, NULL, rc, err);
    return rc;
}
