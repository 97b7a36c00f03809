/* SPDX-License-Identifier: Apache-2.0
 *
 * Removal of orphans by another engine. What it does can't be undone, so ebb makes all of its own checks first, and
 * believes nothing of what the engine says.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "service/engine_priv.h"

#define LOOK_MANY 512 /* files that are looked for at once */

static const struct ebb_engine_driver *driver_of(enum ebb_job_engine engine)
{
    switch (engine) {
    case EBB_JOB_SPARK:
        return &ebb_engine_spark;
    case EBB_JOB_LIVY:
        return &ebb_engine_livy;
    case EBB_JOB_TRINO:
        return &ebb_engine_trino;
    case EBB_JOB_GRAVITINO:
        return &ebb_engine_gravitino;
    case EBB_JOB_NATIVE:
        break;
    }
    return NULL;
}

static const struct ebb_engine_config *config_of(const struct ebb_config *c, enum ebb_job_engine engine)
{
    if (engine == EBB_JOB_SPARK)
        return &c->engines.spark;
    if (engine == EBB_JOB_GRAVITINO)
        return &c->engines.gravitino;
    return engine == EBB_JOB_LIVY ? &c->engines.livy : &c->engines.trino;
}

/* Whether it is told a statement, and can be asked first what it would remove. */
static bool can_be_asked(enum ebb_job_engine engine)
{
    return engine == EBB_JOB_SPARK || engine == EBB_JOB_LIVY;
}

/* ---- one run of the engine ---- */

static int on_began(void *data, const char *handle, struct ebb_err *err)
{
    struct ebb__engine_job *j = data;

    snprintf(j->handle, sizeof j->handle, "%s", handle);
    return ebb__engine_slot_put(j, handle, err);
}

static int run_statement(struct ebb__engine_job *j, const struct ebb_value *session, ebb_engine_row_cb *row, void *data,
                         struct ebb_err *err)
{
    struct ebb_site *site = ebb_workspace_site(j->ws);
    struct ebb_engine_context context = {j->ws, j->job->catalog, on_began, j};
    int64_t deadline_ms = site->deadline_ms, own_ms = ebb_clock_elapsed_ms() + j->config->timeout_ms;
    struct ebb_engine_spec spec = {j->key, NULL, NULL, session, NULL};
    struct ebb_value *said = NULL;
    struct ebb_buf text;
    int rc, cleared;

    ebb_store_new_id(site->store, "ebb", ebb_clock_now(&site->clock), j->key);
    ebb_buf_init(&text, (size_t)1 << 20);
    rc = ebb__engine_statement(j, &said, &text, err);
    spec.statement = text.len ? ebb_buf_cstr(&text) : NULL;
    spec.values = ebb_value_get(said, "config");
    spec.column = ebb_value_text_of(said, "column");
    if (!deadline_ms || own_ms < deadline_ms)
        site->deadline_ms = own_ms;
    if (!rc) {
        ebb_site_progress(site, j->is_dry ? "engine-look" : "engine-remove", 0, 0);
        rc = ebb_engine_execute(j->driver, &context, NULL, &spec, row, data, err);
        cleared = ebb__engine_slot_clear(j, rc ? NULL : err);
        rc = rc ? rc : cleared;
    }
    site->deadline_ms = deadline_ms;
    ebb_buf_fini(&text);
    ebb_value_free(said);
    return rc;
}

/* Trino's session: its own floor may be lower than a week, ours stays. */
static int make_session(const struct ebb__engine_job *j, struct ebb_value **out, struct ebb_err *err)
{
    char value[32], name[256];

    *out = NULL;
    if (j->engine != EBB_JOB_TRINO)
        return 0;
    *out = ebb_value_new_map(NULL);
    snprintf(value, sizeof value, "%" PRId64 "s", (j->now_ms - j->cutoff_ms) / 1000);
    snprintf(name, sizeof name, "%.200s.remove_orphan_files_min_retention",
             j->config->catalog ? j->config->catalog : j->job->catalog);
    if (j->now_ms - j->cutoff_ms < 7 * EBB_PLAN_FLOOR_MS)
        ebb_value_put_str(*out, name, value);
    return ebb_value_check(*out, "session", err);
}

/* ---- the plan ---- */

struct asking {
    struct ebb__engine_job *j;
    const struct ebb_value *session;
    int (*cb)(void *cb_data, struct ebb_str location, struct ebb_err *err);
    void *cb_data;
};

static int on_offer(void *data, struct ebb_str value, struct ebb_err *err)
{
    struct asking *a = data;

    return a->cb(a->cb_data, value, err);
}

/* What would it remove? */
static int offers(void *data, int (*cb)(void *cb_data, struct ebb_str location, struct ebb_err *err), void *cb_data,
                  struct ebb_err *err)
{
    struct asking *a = data;
    int rc;

    a->cb = cb;
    a->cb_data = cb_data;
    a->j->is_dry = true;
    rc = run_statement(a->j, a->session, on_offer, a, err);
    a->j->is_dry = false;
    return rc;
}

static int copy_of(const char *text, char **out, struct ebb_err *err)
{
    *out = strdup(text ? text : "");
    return *out ? 0 : ebb_err_nomem(err);
}

/* Names that the statement needs are those that the catalog has; what it points to now is what Trino must see too. */
static int look_at_table(struct ebb__engine_job *j, struct ebb_err *err)
{
    struct ebb_table *t = NULL;
    int rc = ebb_table_open(ebb_workspace_site(j->ws), j->job->name, &t, err);

    if (!rc)
        rc = copy_of(t->metadata->location, &j->location, err);
    if (!rc)
        rc = copy_of(t->metadata->uuid, &j->uuid, err);
    if (!rc)
        rc = copy_of(t->ref.metadata_uri, &j->metadata, err);
    ebb_table_free(t);
    return rc;
}

static int make_plan(struct ebb__engine_job *j, struct ebb_plan_options *options, struct ebb_plan_result *plan,
                     struct ebb_err *err)
{
    struct asking asking = {j, j->job->spark_conf, NULL, NULL};
    struct ebb_buf cutoff;
    int rc;

    ebb_buf_init(&cutoff, 64);
    ebb_time_iso(&cutoff, j->cutoff_ms);
    options->older_than = ebb_buf_cstr(&cutoff);
    options->engine = ebb_job_engine_name(j->engine);
    if (can_be_asked(j->engine)) {
        options->offers = offers;
        options->offers_data = &asking;
    }
    rc = ebb_plan_make(ebb_workspace_site(j->ws), j->job->name, options, plan, err);
    options->older_than = NULL;
    options->offers = NULL;
    ebb_buf_fini(&cutoff);
    return rc;
}

/* ---- the removal ---- */

struct removing {
    struct ebb__engine_job *j;
    struct ebb_reach_set *planned;
    struct ebb_prefix_rules *rules;
    int64_t deleted, beyond;
    struct ebb_strs waiting; /* files of the plan that were not looked for yet */
    struct ebb_storage_stat_item items[LOOK_MANY];
};

static int note_planned(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct removing *r = data;

    return ebb_reach_set_add(r->planned, c->path, r->j->location, err);
}

static int remember_plan(struct removing *r, const char *file, struct ebb_err *err)
{
    struct ebb_site *site = ebb_workspace_site(r->j->ws);
    struct ebb_plan_file *plan = NULL;
    int rc = ebb_prefix_rules_new(&r->rules, err);

    if (!rc)
        rc = ebb_reach_set_new(r->rules, ebb_store_seed(site->store), &r->planned, err);
    if (!rc)
        rc = ebb_plan_file_open(site, file, &plan, err);
    if (!rc)
        rc = ebb_plan_file_each(plan, note_planned, r, err);
    ebb_plan_file_close(plan);
    return rc;
}

/* It says it removed this. */
static int on_removed(void *data, struct ebb_str value, struct ebb_err *err)
{
    struct removing *r = data;
    enum ebb_match match = EBB_MATCH_NONE;
    struct ebb_location at;

    if (!can_be_asked(r->j->engine))
        return 0; /* what it tells are counts, if anything */
    r->deleted++;
    if (ebb_location_split(value.p, value.n, &at, NULL) || ebb_reach_set_match(r->planned, &at, &match, NULL, NULL) ||
        match != EBB_MATCH_SAME)
        if (++r->beyond <= 10)
            ebb_log_say(&ebb_workspace_site(r->j->ws)->log, EBB_LOG_WARN, "%s removed %.*s, which is not in the plan",
                        r->j->driver->name, (int)(value.n < 600 ? value.n : 600), value.p);
    return ebb__engine_record_deleted(r->j, value, err);
}

/* Look for those that wait, in an object store side by side. */
static int count_gone(struct removing *r, struct ebb_err *err)
{
    int rc;

    for (size_t i = 0; i < r->waiting.count; i++)
        r->items[i] = (struct ebb_storage_stat_item){.uri = r->waiting.items[i]};
    rc = ebb_storage_stat_many(ebb_workspace_site(r->j->ws)->storage, r->items, r->waiting.count, err);
    for (size_t i = 0; !rc && i < r->waiting.count; i++)
        if (r->items[i].err.error == EBB_ENOENT) {
            r->deleted++;
            rc = ebb__engine_record_deleted(r->j, ebb_str_of(r->waiting.items[i]), err);
        }
    ebb_strs_fini(&r->waiting);
    return rc;
}

static int on_candidate(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct removing *r = data;
    int rc = ebb_strs_addn(&r->waiting, c->path.p, c->path.n, err);

    return rc || r->waiting.count < LOOK_MANY ? rc : count_gone(r, err);
}

/* It does not tell: look. */
static int look_what_is_gone(struct removing *r, const char *file, struct ebb_err *err)
{
    struct ebb_plan_file *plan = NULL;
    int rc = ebb_plan_file_open(ebb_workspace_site(r->j->ws), file, &plan, err);

    if (!rc)
        rc = ebb_plan_file_each(plan, on_candidate, r, err);
    if (!rc)
        rc = count_gone(r, err);
    ebb_strs_fini(&r->waiting);
    ebb_plan_file_close(plan);
    return rc;
}

static int work(struct removing *r, const char *file, struct ebb_err *err)
{
    struct ebb_value *session = NULL;
    int rc = make_session(r->j, &session, err);

    if (!rc)
        rc = run_statement(r->j, r->j->engine == EBB_JOB_TRINO ? session : r->j->job->spark_conf, on_removed, r, err);
    if (!rc && !can_be_asked(r->j->engine))
        rc = look_what_is_gone(r, file, err);
    else if (r->j->engine == EBB_JOB_GRAVITINO && (rc == -(int)EBB_EENGINE || rc == -(int)EBB_ECANCELLED))
        look_what_is_gone(r, file, NULL); /* a job that failed, or was cancelled, may have got far */
    ebb_value_free(session);
    return rc;
}

/* A job that ended well and left files of the plan: it has other eyes than we, or a writer was faster. */
static int64_t count_left(const struct removing *r, const struct ebb_plan_result *plan)
{
    return r->j->engine == EBB_JOB_GRAVITINO ? plan->summary.candidates - r->deleted : 0;
}

static int tell_partial(const struct removing *r, const struct ebb_plan_result *plan, struct ebb_err *err)
{
    if (r->beyond)
        return ebb_err_set(err, EBB_EPARTIAL, "%s: %s removed %" PRId64 " files that are not in plan %s",
                           r->j->job->name, r->j->driver->name, r->beyond, plan->id);
    if (!count_left(r, plan))
        return 0;
    ebb_err_set(err, EBB_EPARTIAL, "%s: %s has ended, and %" PRId64 " of %" PRId64 " files of plan %s are still there",
                r->j->job->name, r->j->driver->name, count_left(r, plan), plan->summary.candidates, plan->id);
    ebb_err_hint(err, "does ebb on the server's machine see the same table in the same storage? Its own runs tell why");
    return -(int)EBB_EPARTIAL;
}

static int tell(struct removing *r, const struct ebb_plan_result *plan, int rc, struct ebb_apply_result *out,
                struct ebb_err *err)
{
    const char *status = rc ? "failed" : r->beyond || count_left(r, plan) ? "partial" : "done";
    int ended = ebb__engine_record_end(r->j, plan->id, status, r->deleted, rc ? NULL : err);

    snprintf(out->run, sizeof out->run, "%s", r->j->run);
    snprintf(out->plan, sizeof out->plan, "%s", plan->id);
    out->status = status;
    out->deleted = ebb__engine_deletes(r->j->engine) ? r->deleted : 0;
    out->moved = r->deleted - out->deleted;
    if (rc || ended)
        return rc ? rc : ended;
    return tell_partial(r, plan, err);
}

static int remove_planned(struct ebb__engine_job *j, struct ebb_job_result *result, struct ebb_err *err)
{
    struct removing *r = calloc(1, sizeof *r);
    int rc;

    if (!r)
        return ebb_err_nomem(err);
    r->j = j;
    rc = remember_plan(r, result->plan.file, err);
    if (!rc && j->engine == EBB_JOB_TRINO)
        rc = ebb__engine_check_trino(j, &result->plan, err);
    if (!rc)
        rc = ebb__engine_record_begin(j, &result->plan, err);
    if (!rc) {
        rc = work(r, result->plan.file, err);
        result->was_applied = true;
        rc = tell(r, &result->plan, rc, &result->apply, err);
    }
    ebb_reach_set_free(r->planned);
    ebb_prefix_rules_free(r->rules);
    free(r);
    return rc;
}

/* ---- the whole ---- */

static int check_floor(struct ebb__engine_job *j, struct ebb_err *err)
{
    j->now_ms = ebb_clock_now(&ebb_workspace_site(j->ws)->clock);
    j->cutoff_ms = j->job->has_older_than ? j->job->older_than_ms : j->now_ms - EBB_PLAN_DEFAULT_AGE_MS;
    j->cutoff_ms -= j->cutoff_ms % 1000; /* as statements have it */
    if (j->now_ms - j->cutoff_ms >= EBB_PLAN_FLOOR_MS)
        return 0;
    ebb_err_set(err, EBB_ECUTOFF_FLOOR, "--older-than %s: less than 24 hours ago", j->job->older_than);
    ebb_err_hint(err, "the floor of 24 h can't be lowered for other engines");
    return -(int)EBB_ECUTOFF_FLOOR;
}

static int check_wish(const struct ebb__engine_job *j, struct ebb_err *err)
{
    const char *name = ebb_job_engine_name(j->engine);

    if (!j->config->is_set && j->engine != EBB_JOB_GRAVITINO)
        return ebb_err_set(err, EBB_ECONFIG, "engine %s: is not configured (engines.%s)", name, name);
    if (ebb__engine_deletes(j->engine) && j->origin->policy && !j->job->dry_run && !j->origin->plan_only &&
        !j->origin->irreversible) {
        ebb_err_set(err, EBB_ECONFIG,
                    "policy %s: engine %s deletes for good: irreversible = true is wanted in its binding",
                    j->origin->policy, name);
        return -(int)EBB_ECONFIG;
    }
    if (j->engine == EBB_JOB_TRINO && (j->job->dry_run || j->job->location))
        return ebb_err_set(err, EBB_EUNSUPPORTED, "--engine trino: %s",
                           j->job->dry_run ? "has no dry run; plan natively instead"
                                           : "can't be limited to a location");
    return 0;
}

static int go(struct ebb__engine_job *j, struct ebb_plan_options *options, struct ebb_job_result *result,
              struct ebb_err *err)
{
    int rc = look_at_table(j, err);

    if (!rc)
        rc = ebb__engine_slot_settle(j, err);
    if (!rc)
        rc = make_plan(j, options, &result->plan, err);
    if (rc)
        return rc;
    rc = ebb__job_check_plan(&result->plan, j->origin, j->job->dry_run, err);
    if (rc || j->job->dry_run || j->origin->plan_only || !result->plan.summary.candidates)
        return rc;
    return remove_planned(j, result, err);
}

static void begin(struct ebb__engine_job *j, struct ebb_workspace *ws, const struct ebb_job *job,
                  enum ebb_job_engine engine, const struct ebb_job_origin *origin)
{
    *j = (struct ebb__engine_job){.ws = ws,
                                  .job = job,
                                  .origin = origin,
                                  .engine = engine,
                                  .driver = driver_of(engine),
                                  .config = config_of(ebb_workspace_config(ws), engine),
                                  .options = origin->options};
}

static void end(struct ebb__engine_job *j)
{
    free(j->location);
    free(j->uuid);
    free(j->metadata);
}

int ebb__engine_plan(struct ebb_workspace *ws, const struct ebb_job *job, struct ebb_plan_options *options,
                     struct ebb_plan_result *plan, struct ebb_err *err)
{
    struct ebb_job_origin none;
    struct ebb__engine_job j;
    int rc;

    memset(&none, 0, sizeof none);
    begin(&j, ws, job, job->engine, &none);
    rc = check_wish(&j, err);
    if (!rc)
        rc = check_floor(&j, err);
    if (!rc)
        rc = look_at_table(&j, err);
    if (!rc)
        rc = ebb__engine_slot_settle(&j, err);
    if (!rc)
        rc = make_plan(&j, options, plan, err);
    end(&j);
    return rc;
}

int ebb__engine_remove(struct ebb_workspace *ws, const struct ebb_job *job, enum ebb_job_engine engine,
                       const struct ebb_job_origin *origin, struct ebb_plan_options *options,
                       struct ebb_job_result *result, struct ebb_err *err)
{
    struct ebb_site *site = ebb_workspace_site(ws);
    bool allowed = site->allow_below_floor;
    struct ebb__engine_job j;
    int rc;

    begin(&j, ws, job, engine, origin);
    site->allow_below_floor = false;
    rc = check_wish(&j, err);
    if (!rc)
        rc = check_floor(&j, err);
    if (!rc)
        rc = go(&j, options, result, err);
    site->allow_below_floor = allowed;
    end(&j);
    return rc;
}
