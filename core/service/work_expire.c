/* SPDX-License-Identifier: Apache-2.0
 *
 * expire-snapshots: a commit to the catalog; no file is touched.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "service/objects.h"
#include "service/work_priv.h"
#include "table/expire.h"

static int parse(const struct ebb__work *w, struct ebb_job *job, struct ebb_expire_options *o, struct ebb_err *err)
{
    const struct ebb_value *c = ebb_value_get(w->json, "config");
    const struct ebb_value *retain;
    struct ebb_job_args args;
    int rc;

    c = ebb_value_get_kind(c) == EBB_VALUE_MAP ? c : w->json;
    memset(&args, 0, sizeof args);
    args.catalog = ebb_value_text_of(c, "catalog_name");
    args.table = ebb_value_text_of(c, "table_identifier");
    args.older_than = ebb_value_text_of(c, "older_than");
    args.dry_run = ebb_value_text_of(c, "dry_run");
    rc = ebb_job_parse(&args, ebb_clock_now(&w->site->clock), job, err);
    if (rc)
        return rc;
    retain = ebb_value_get(c, "retain_last");
    if (ebb_value_get_str(retain) && ebb_value_get_str(retain)[0] &&
        (!ebb_text_count(ebb_value_get_str(retain), &o->retain_last) || o->retain_last < 1))
        return ebb_err_set(err, EBB_EUSAGE, "%s: retain_last: a number from 1 on is wanted", w->job->id);
    o->has_older_than = job->has_older_than;
    o->older_than_ms = job->older_than_ms;
    o->dry_run = job->dry_run || w->context->is_dry;
    o->uuid = w->job->uuid[0] ? w->job->uuid : NULL;
    return 0;
}

int ebb__work_expire(struct ebb__work *w, struct ebb_err *err)
{
    struct ebb_expire_options options = {.retain_last = 0};
    struct ebb_expire_result result = {.ids = NULL};
    struct ebb_job job;
    int rc;

    memset(&job, 0, sizeof job);
    if (w->job->policy[0]) /* what a policy decides of it is not carried out by this version */
        return ebb_err_set(err, EBB_EUNSUPPORTED, "%s: expire-snapshots of a policy is not carried out", w->job->id);
    rc = parse(w, &job, &options, err);
    if (!rc && !ebb_config_has_catalog(ebb_workspace_config(w->context->ws), job.catalog))
        rc = ebb_err_set(err, EBB_ECATALOG_UNKNOWN, "catalog %s: is not configured", job.catalog);
    if (!rc)
        rc = ebb_expire_run(w->site, job.name, &options, &result, err);
    if (!rc) {
        w->out->candidates = (int64_t)result.count;
        snprintf(w->out->status, sizeof w->out->status, "%s", result.was_committed ? "done" : "empty");
        if (options.dry_run && result.count)
            snprintf(w->out->status, sizeof w->out->status, "ready");
    }
    ebb_expire_result_fini(&result);
    ebb_job_fini(&job);
    return rc;
}
