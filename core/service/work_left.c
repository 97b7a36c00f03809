/* SPDX-License-Identifier: Apache-2.0
 *
 * What an earlier attempt of a job left, and how it is ended.
 */
#include <stdio.h>
#include <string.h>

#include "service/work_priv.h"

#define LOOKED_AT 100 /* plans or runs of one job */

struct finding {
    const struct ebb__work *w;
    struct ebb__work_left *out;
};

/* The newest; but a run that is open goes before those that ended. */
static int on_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct ebb__work_left *out = data;
    bool is_open = !strcmp(record->status, "started") || !strcmp(record->status, "interrupted");

    (void)err;
    if (out->run[0] && !is_open)
        return 0;
    snprintf(out->run, sizeof out->run, "%s", record->id);
    snprintf(out->run_status, sizeof out->run_status, "%s", record->status);
    return 0;
}

static int list_runs(const struct ebb__work *w, const char *parent, struct ebb__work_left *out, struct ebb_err *err)
{
    struct ebb_record_filter filter = {.parent = parent, .newest_first = true, .limit = LOOKED_AT};

    return ebb_store_list(w->site->store, EBB_RECORD_RUN, &filter, on_run, out, err);
}

int ebb__work_find_run(const struct ebb__work *w, const char *parent, struct ebb__work_left *out, struct ebb_err *err)
{
    out->run[0] = out->run_status[0] = '\0';
    return list_runs(w, parent, out, err);
}

static int on_plan(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct finding *f = data;

    if (f->out->run[0])
        return 0;
    if (!f->out->plan[0] || !strcmp(record->status, "applied")) {
        snprintf(f->out->plan, sizeof f->out->plan, "%s", record->id);
        snprintf(f->out->plan_status, sizeof f->out->plan_status, "%s", record->status);
    }
    return list_runs(f->w, record->id, f->out, err);
}

int ebb__work_find_plan(const struct ebb__work *w, const char *parent, struct ebb__work_left *out, struct ebb_err *err)
{
    struct ebb_record_filter filter = {.parent = parent, .newest_first = true, .limit = LOOKED_AT};
    struct finding f = {w, out};

    memset(out, 0, sizeof *out);
    return ebb_store_list(w->site->store, EBB_RECORD_PLAN, &filter, on_plan, &f, err);
}

void ebb__work_tell(struct ebb__work *w, const struct ebb_apply_result *r)
{
    struct ebb_work_result *out = w->out;

    snprintf(out->run, sizeof out->run, "%s", r->run);
    if (r->plan[0])
        snprintf(out->plan, sizeof out->plan, "%s", r->plan);
    if (r->status)
        snprintf(out->status, sizeof out->status, "%s", r->status);
    out->moved = r->moved;
    out->deleted = r->deleted;
    out->restored = r->returned;
}

static int take_result(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct ebb_work_result *out = data;
    struct ebb_value *run = NULL;

    (void)err;
    if (ebb_value_of_json("run record", record->json, strlen(record->json), NULL, &run, NULL))
        return 0; /* the numbers are for show only */
    out->moved = ebb_value_int_of(run, "moved", 0);
    out->deleted = ebb_value_int_of(run, "deleted", 0);
    ebb_value_free(run);
    return 0;
}

static int take_ended(struct ebb__work *w, const struct ebb__work_left *left, struct ebb_err *err)
{
    int rc = ebb_store_get(w->site->store, EBB_RECORD_RUN, left->run, take_result, w->out, err);

    if (!rc && (!strcmp(left->run_status, "partial") || !strcmp(left->run_status, "failed")))
        rc = ebb_err_set(err, EBB_EPARTIAL, "run %s: is %s", left->run, left->run_status);
    return rc;
}

static int take_status(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct ebb__work_left *left = data;

    (void)err;
    snprintf(left->run_status, sizeof left->run_status, "%s", record->status);
    return 0;
}

/* One of another engine is never begun again: what it did is its end. */
static int take_settled(struct ebb__work *w, const char *run, struct ebb_err *err)
{
    struct ebb__work_left left;
    int rc;

    memset(&left, 0, sizeof left);
    snprintf(left.run, sizeof left.run, "%s", run);
    w->has_begun = true;
    rc = ebb_store_get(w->site->store, EBB_RECORD_RUN, run, take_status, &left, err);
    snprintf(w->out->status, sizeof w->out->status, "%s", left.run_status);
    return rc ? rc : take_ended(w, &left, err);
}

static int resume(struct ebb__work *w, const char *run, struct ebb_err *err)
{
    struct ebb_apply_result result;
    struct ebb_workspace *ws = NULL;
    bool is_engine = false;
    int rc = ebb_job_settle(w->context->ws, run, &is_engine, err);

    if (rc || is_engine)
        return rc ? rc : take_settled(w, run, err);
    rc = ebb__work_connect_run(w, run, &ws, err);
    memset(&result, 0, sizeof result);
    if (!rc)
        rc = ebb_resume(ebb_workspace_site(ws), run, &result, err);
    if (result.run[0])
        ebb__work_tell(w, &result);
    ebb_apply_result_fini(&result);
    ebb_workspace_close(ws);
    return rc;
}

int ebb__work_end(struct ebb__work *w, const struct ebb__work_left *left, struct ebb_err *err)
{
    bool is_open = !strcmp(left->run_status, "started") || !strcmp(left->run_status, "interrupted");

    snprintf(w->out->plan, sizeof w->out->plan, "%s", left->plan);
    snprintf(w->out->run, sizeof w->out->run, "%s", left->run);
    snprintf(w->out->status, sizeof w->out->status, "%s", left->run_status);
    if (!is_open)
        w->has_begun = true;
    return is_open ? resume(w, left->run, err) : take_ended(w, left, err);
}

int ebb__work_connect(const struct ebb__work *w, const struct ebb_strs *recorded, struct ebb_workspace **out,
                      struct ebb_err *err)
{
    const struct ebb_site *site = w->site;
    struct ebb_workspace_options o = {.shared = ebb_workspace_config(w->context->ws),
                                      .state_dir = ebb_store_dir(site->store),
                                      .clock = site->clock,
                                      .log = site->log,
                                      .progress = site->progress,
                                      .progress_data = site->progress_data,
                                      .cancelled = site->cancelled};
    int rc = ebb_workspace_open(&o, false, out, err);

    if (!rc)
        rc = ebb_workspace_connect(*out, NULL, recorded, err);
    if (rc) {
        ebb_workspace_close(*out);
        *out = NULL;
        return rc;
    }
    ebb_workspace_site(*out)->began = site->began;
    ebb_workspace_site(*out)->began_data = site->began_data;
    ebb_workspace_site(*out)->deadline_ms = site->deadline_ms;
    ebb_workspace_site(*out)->allow_below_floor = site->allow_below_floor;
    return 0;
}

static int run_maps(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    return ebb_workspace_recorded_maps(ebb_str_of(record->json), data, err);
}

int ebb__work_connect_run(const struct ebb__work *w, const char *run, struct ebb_workspace **out, struct ebb_err *err)
{
    struct ebb_strs maps;
    int rc = 0;

    *out = NULL;
    ebb_strs_init(&maps);
    if (run)
        rc = ebb_store_get(w->site->store, EBB_RECORD_RUN, run, run_maps, &maps, err);
    if (!rc)
        rc = ebb__work_connect(w, &maps, out, err);
    ebb_strs_fini(&maps);
    return rc;
}
