/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a run that a process which died had begun by another engine.
 */
#include <stdlib.h>

#include "service/engine_priv.h"

struct found {
    struct ebb_value *json;
    char *table, *uuid;
};

static int on_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct found *f = data;

    f->table = strdup(record->table);
    f->uuid = strdup(record->uuid);
    if (!f->table || !f->uuid)
        return ebb_err_nomem(err);
    return ebb_value_of_json("run record", record->json, strlen(record->json), NULL, &f->json, err);
}

/* The job as far as the run's record tells. */
static int make_job(struct ebb_workspace *ws, const struct found *f, struct ebb_job *job, struct ebb_err *err)
{
    char *dot = strchr(f->table, '.');
    struct ebb_job_args args;

    memset(&args, 0, sizeof args);
    if (!dot)
        return ebb_err_set(err, EBB_EINTERNAL, "run record: table %s: is no name", f->table);
    *dot = '\0';
    args.catalog = f->table;
    args.table = dot + 1;
    args.engine = ebb_value_text_of(f->json, "engine");
    return ebb_job_parse(&args, ebb_clock_now(&ebb_workspace_site(ws)->clock), job, err);
}

static int settle(struct ebb_workspace *ws, const char *run, const struct found *f, struct ebb_err *err)
{
    static const char *const OPEN[] = {"started", "interrupted", NULL};
    struct ebb_job_origin origin;
    struct ebb__engine_job j;
    struct ebb_job job;
    int rc;

    memset(&job, 0, sizeof job);
    memset(&origin, 0, sizeof origin);
    memset(&j, 0, sizeof j);
    origin.policy = ebb_value_text_of(f->json, "policy");
    rc = make_job(ws, f, &job, err);
    j.ws = ws;
    j.job = &job;
    j.origin = &origin;
    j.engine = job.engine;
    j.uuid = f->uuid;
    j.location = (char *)(uintptr_t)ebb_value_text_of(f->json, "location");
    if (!rc)
        rc = ebb__engine_slot_settle(&j, err);
    if (!rc) /* a run that nobody noted more of than its beginning */
        rc = ebb_store_set_status(ebb_workspace_site(ws)->store, EBB_RECORD_RUN, run, OPEN, "failed", err);
    ebb_job_fini(&job);
    return rc == -(int)EBB_ERUN_STATE ? 0 : rc;
}

int ebb_job_settle(struct ebb_workspace *ws, const char *run, bool *is_engine, struct ebb_err *err)
{
    struct found f = {NULL, NULL, NULL};
    const char *kind;
    int rc = ebb_store_get(ebb_workspace_site(ws)->store, EBB_RECORD_RUN, run, on_run, &f, err);

    kind = ebb_value_text_of(f.json, "kind");
    *is_engine = !rc && kind && !strcmp(kind, "engine");
    if (*is_engine)
        rc = settle(ws, run, &f, err);
    ebb_value_free(f.json);
    free(f.table);
    free(f.uuid);
    return rc;
}
