/* SPDX-License-Identifier: Apache-2.0 */
#include "table/apply_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/failpoint.h"

static int dup_text(struct ebb__run *run, const char *text, const char **out, struct ebb_err *err)
{
    *out = ebb_arena_dup(&run->arena, text, strlen(text));
    return *out ? 0 : ebb_err_nomem(err);
}

static int set_label(struct ebb__run *run, const struct ebb_plan_header *h, struct ebb_err *err)
{
    struct ebb_buf label;
    int rc;

    ebb_buf_init(&label, 8192);
    ebb_buf_printf(&label, "%s.%s.%s", h->catalog, h->namespace_, h->name);
    rc = ebb_buf_check(&label, "table name", err);
    if (!rc)
        rc = dup_text(run, ebb_buf_cstr(&label), &run->record.table, err);
    ebb_buf_fini(&label);
    return rc;
}

/* Strings of the plan live as long as its file is open, which is longer than the run. */
static int fill_record(struct ebb__run *run, const struct ebb_plan_file *plan, const struct ebb_apply_options *options,
                       struct ebb_err *err)
{
    const struct ebb_plan_header *h = ebb_plan_file_header(plan);
    struct ebb__run_record *r = &run->record;
    char *absolute = realpath(ebb_plan_file_path(plan), NULL);
    int rc;

    if (!absolute)
        return ebb_err_set(err, EBB_ENOT_FOUND, "plan %s: is gone", ebb_plan_file_path(plan));
    r->started_ms = ebb_clock_now(&run->site.clock);
    ebb_store_new_id(run->site.store, "r", r->started_ms, r->id);
    r->plan = h->id;
    r->uuid = h->uuid;
    r->location = h->location;
    r->policy = options->policy ? options->policy : "";
    r->status = "started";
    r->outside = options->quarantine;
    r->plan_sha256 = ebb_plan_file_summary(plan)->sha256;
    r->options = h->options;
    r->is_delete = options->delete_for_good;
    r->verify = options->verify;
    r->batch_count = options->batch_count > 0 && options->batch_count < EBB_BATCH_MAX ? (int64_t)options->batch_count
                                                                                      : EBB_BATCH_DEFAULT;
    rc = dup_text(run, absolute, &r->plan_file, err);
    free(absolute);
    return rc ? rc : set_label(run, h, err);
}

static int claim(struct ebb__run *run, const struct ebb_plan_file *plan, struct ebb_err *err)
{
    const struct ebb_plan_header *h = ebb_plan_file_header(plan);
    struct ebb_record of_plan, of_run;
    struct ebb_buf json, plan_json;
    struct ebb_jsonw w;
    int rc;

    ebb_buf_init(&plan_json, (size_t)1 << 20);
    ebb_jsonw_init(&w, &plan_json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "id", h->id);
    ebb_jsonw_kstr(&w, "file", run->record.plan_file);
    ebb_jsonw_kstr(&w, "sha256", run->record.plan_sha256);
    ebb_jsonw_kstr(&w, "location", h->location);
    ebb_jsonw_end(&w, '}');
    rc = ebb__run_describe(run, NULL, &json, &of_run, err);
    if (!rc)
        rc = ebb_buf_check(&plan_json, "plan record", err);
    memset(&of_plan, 0, sizeof of_plan);
    of_plan.id = h->id;
    of_plan.table = run->record.table;
    of_plan.uuid = h->uuid;
    of_plan.policy = of_plan.parent = "";
    of_plan.status = "applied";
    of_plan.at_ms = h->created_ms;
    of_plan.json = ebb_buf_cstr(&plan_json);
    EBB_FAILPOINT("journal.claim.before");
    if (!rc)
        rc = ebb_store_claim_plan(run->site.store, &of_plan, &of_run, err);
    EBB_FAILPOINT("journal.claim.after");
    if (!rc)
        ebb_site_began(&run->site, run->record.id);
    ebb_buf_fini(&plan_json);
    ebb_buf_fini(&json);
    return rc;
}

/* All that must hold before anything is changed. Only the lock file and a clock probe are written here. */
static int check_all(struct ebb__run *run, struct ebb_plan_file *plan, const struct ebb_apply_options *options,
                     struct ebb_err *err)
{
    int rc;

    rc = ebb__run_set_options(run, run->record.options, err);
    if (!rc)
        rc = ebb__run_open_table(run, err);
    if (!rc)
        run->record.table = run->table->label;
    if (!rc)
        rc = ebb__run_protect(run, err);
    if (!rc)
        rc = ebb__apply_check_files(run, plan, err);
    if (!rc)
        rc = ebb__apply_check_missing(run, &options->overrides, err);
    if (!rc)
        rc = ebb__run_open_place(run, err);
    return rc ? rc : ebb__run_lock(run, err);
}

static int begin(struct ebb__run *run, const struct ebb_plan_file *plan, struct ebb_err *err)
{
    int rc;

    rc = ebb__run_audit(run, "run_started", run->record.plan, err);
    if (!rc)
        rc = ebb__run_audit_flush(run, err);
    if (!rc)
        rc = ebb_quarantine_begin(&run->quarantine, run->record.id, ebb_plan_file_header(plan), run->record.started_ms,
                                  err);
    return rc;
}

static int apply_files(struct ebb__run *run, struct ebb_plan_file *plan, const struct ebb_apply_options *options,
                       struct ebb_apply_result *out, struct ebb_err *err)
{
    int rc;

    rc = check_all(run, plan, options, err);
    if (!rc)
        rc = claim(run, plan, err);
    if (rc)
        return rc;
    rc = begin(run, plan, err);
    if (!rc)
        rc = ebb__apply_work(run, plan, 0, 0, err);
    return ebb__apply_end(run, rc, out, err);
}

/* A plan without candidates: nothing to look at and nothing to claim, but the run has its record. */
static int apply_nothing(struct ebb__run *run, struct ebb_apply_result *out, struct ebb_err *err)
{
    snprintf(out->run, sizeof out->run, "%s", run->record.id);
    snprintf(out->plan, sizeof out->plan, "%s", run->record.plan);
    out->status = "done";
    run->record.ended_ms = ebb_clock_now(&run->site.clock);
    return ebb__run_save(run, "done", out, err);
}

int ebb_apply(const struct ebb_site *site, const char *plan_name, const struct ebb_apply_options *options,
              struct ebb_apply_result *out, struct ebb_err *err)
{
    struct ebb_plan_file *plan = NULL;
    struct ebb__run run;
    int rc;

    memset(out, 0, sizeof *out);
    out->status = "failed";
    rc = ebb__run_init(&run, site, err);
    if (!rc && !site->store)
        rc = ebb_err_set(err, EBB_EUSAGE, "apply: needs a state folder for its journal");
    if (!rc)
        rc = ebb_plan_file_open(site, plan_name, &plan, err);
    if (!rc)
        rc = ebb__apply_check_plan(site, plan, options, err);
    if (!rc)
        rc = fill_record(&run, plan, options, err);
    if (!rc && strcmp(ebb_plan_file_summary(plan)->status, "empty") == 0)
        rc = apply_nothing(&run, out, err);
    else if (!rc)
        rc = apply_files(&run, plan, options, out, err);
    ebb__run_fini(&run);
    ebb_plan_file_close(plan);
    return rc;
}
