/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "service/engine_priv.h"

static void write_run(const struct ebb__engine_job *j, const char *plan, const char *status, int64_t deleted,
                      struct ebb_buf *out)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "run", j->run);
    ebb_jsonw_kstr(&w, "kind", "engine");
    ebb_jsonw_kstr(&w, "engine", ebb_job_engine_name(j->engine));
    ebb_jsonw_kstr(&w, "plan", plan);
    ebb_jsonw_kstr(&w, "policy", j->origin->policy ? j->origin->policy : "");
    ebb_jsonw_kstr(&w, "table", j->job->name);
    ebb_jsonw_kstr(&w, "location", j->location);
    ebb_jsonw_kstr(&w, "status", status);
    if (j->handle[0])
        ebb_jsonw_kstr(&w, "handle", j->handle);
    ebb_jsonw_kint(&w, "moved", ebb__engine_deletes(j->engine) ? 0 : deleted);
    ebb_jsonw_kint(&w, "deleted", ebb__engine_deletes(j->engine) ? deleted : 0);
    ebb_jsonw_end(&w, '}');
}

static struct ebb_record record_of(const struct ebb__engine_job *j, const char *plan, const char *status,
                                   int64_t end_ms, struct ebb_buf *json)
{
    return (struct ebb_record){
        j->run, j->job->name, j->uuid,           j->origin->policy ? j->origin->policy : "", status, j->now_ms,
        end_ms, plan,         ebb_buf_cstr(json)};
}

/* ---- the audit log ---- */

static int audit(const struct ebb__engine_job *j, const char *event, const char *path, size_t n, struct ebb_err *err)
{
    const struct ebb_site *site = ebb_workspace_site(j->ws);
    struct ebb_buf object;
    struct ebb_jsonw w;
    int rc;

    if (!site->audit)
        return 0;
    ebb_buf_init(&object, (size_t)1 << 20);
    ebb_jsonw_init(&w, &object);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "event", event);
    ebb_jsonw_kstr(&w, "run", j->run);
    ebb_jsonw_kstr(&w, "engine", ebb_job_engine_name(j->engine));
    if (path) {
        ebb_jsonw_path(&w, "path", path, n);
    } else {
        ebb_jsonw_kstr(&w, "table", j->job->name);
        ebb_jsonw_kstr(&w, "uuid", j->uuid);
        ebb_jsonw_kstr(&w, "location", j->location);
    }
    ebb_jsonw_end(&w, '}');
    rc = ebb_buf_check(&object, "audit event", err);
    if (!rc) {
        object.data[object.len - 1] = '\0'; /* the members without their braces */
        rc = ebb_audit_add(site->audit, ebb_clock_now(&site->clock), object.data + 1, err);
    }
    ebb_buf_fini(&object);
    return rc;
}

int ebb__engine_record_deleted(const struct ebb__engine_job *j, struct ebb_str location, struct ebb_err *err)
{
    return audit(j, ebb__engine_deletes(j->engine) ? "deleted" : "moved", location.p, location.n, err);
}

struct claim {
    struct ebb_store *store;
    const struct ebb_record *run;
};

static int take_plan(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct claim *claim = data;

    return ebb_store_claim_plan(claim->store, record, claim->run, err);
}

int ebb__engine_record_begin(struct ebb__engine_job *j, const struct ebb_plan_result *plan, struct ebb_err *err)
{
    const struct ebb_site *site = ebb_workspace_site(j->ws);
    struct ebb_record run;
    struct ebb_buf json;
    int rc;

    ebb_store_new_id(site->store, "r", ebb_clock_now(&site->clock), j->run);
    ebb_buf_init(&json, 65536);
    write_run(j, plan->id, "started", 0, &json);
    run = record_of(j, plan->id, "started", 0, &json);
    rc = ebb_buf_check(&json, "run record", err);
    if (!rc)
        rc = ebb_store_get(site->store, EBB_RECORD_PLAN, plan->id, take_plan, &(struct claim){site->store, &run}, err);
    if (!rc)
        rc = audit(j, "engine-began", NULL, 0, err);
    if (!rc && site->audit)
        rc = ebb_audit_flush(site->audit, err);
    if (!rc)
        ebb_site_began(site, j->run);
    ebb_buf_fini(&json);
    return rc;
}

int ebb__engine_record_end(const struct ebb__engine_job *j, const char *plan, const char *status, int64_t deleted,
                           struct ebb_err *err)
{
    const struct ebb_site *site = ebb_workspace_site(j->ws);
    struct ebb_record run;
    struct ebb_buf json;
    int rc;

    ebb_buf_init(&json, 65536);
    write_run(j, plan, status, deleted, &json);
    run = record_of(j, plan, status, ebb_clock_now(&site->clock), &json);
    rc = ebb_buf_check(&json, "run record", err);
    if (!rc)
        rc = audit(j, !strcmp(status, "done") ? "engine-done" : "engine-failed", NULL, 0, err);
    if (!rc && site->audit)
        rc = ebb_audit_flush(site->audit, err);
    if (!rc)
        rc = ebb_store_put(site->store, EBB_RECORD_RUN, &run, err);
    ebb_buf_fini(&json);
    return rc;
}
