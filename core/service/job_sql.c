/* SPDX-License-Identifier: Apache-2.0
 *
 * The statement an engine would get. Spark and Trino delete for good, so the floor is theirs and ours: never less than
 * 24 h.
 */
#include <stdlib.h>

#include "service/job.h"

static int check_location(const struct ebb_table *t, const char *location, struct ebb_err *err)
{
    bool inside = false;

    if (!location)
        return 0;
    if (strstr(location, "..") || ebb_location_contains(t->metadata->location, location, NULL, &inside, NULL) ||
        !inside)
        return ebb_err_set(err, EBB_EOUTSIDE, "--location %s: does not lie inside %s, the location of %s", location,
                           t->metadata->location, t->label);
    return 0;
}

static int check_table(struct ebb_workspace *ws, const struct ebb_job *job, struct ebb_err *err)
{
    struct ebb_protect_options options;
    struct ebb_protect *protect = NULL;
    struct ebb_table *t = NULL;
    int rc;

    if (!ebb_config_has_catalog(ebb_workspace_config(ws), job->catalog)) {
        if (job->location)
            return ebb_err_set(err, EBB_ECATALOG_UNKNOWN,
                               "--catalog %s: is not configured, so --location can't be checked", job->catalog);
        ebb_log_say(&ebb_workspace_site(ws)->log, EBB_LOG_WARN,
                    "catalog %s is not configured here: the table itself was not checked", job->catalog);
        return 0;
    }
    ebb_protect_options_init(&options);
    rc = ebb_table_open(ebb_workspace_site(ws), job->name, &t, err);
    if (!rc)
        rc = check_location(t, job->location, err);
    if (!rc) /* reads all metadata: Spark takes a cut manifest for a shorter one */
        rc = ebb_protect_new(ebb_workspace_site(ws), t, &options, &protect, err);
    ebb_protect_free(protect);
    ebb_table_free(t);
    ebb_protect_options_fini(&options);
    return rc;
}

static int spark_call(const struct ebb_job *job, int64_t cutoff_ms, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_str *parts = calloc(job->parts.count + 1, sizeof *parts);
    struct ebb_sql_arg args[4];
    size_t n = 0;
    int rc;

    if (!parts)
        return ebb_err_nomem(err);
    parts[0] = ebb_str_of(job->catalog);
    for (size_t i = 0; i < job->parts.count; i++)
        parts[i + 1] = ebb_str_of(job->parts.items[i]);
    memset(args, 0, sizeof args);
    args[n++] = (struct ebb_sql_arg){"table", EBB_SQL_TABLE, {NULL, 0}, parts, job->parts.count + 1, 0};
    args[n++] = (struct ebb_sql_arg){"older_than", EBB_SQL_TIMESTAMP_MS, {NULL, 0}, NULL, 0, cutoff_ms};
    if (job->location)
        args[n++] = (struct ebb_sql_arg){"location", EBB_SQL_TEXT, ebb_str_of(job->location), NULL, 0, 0};
    args[n++] = (struct ebb_sql_arg){"dry_run", EBB_SQL_BOOL, {NULL, 0}, NULL, 0, job->dry_run};
    rc = ebb_sql_call(EBB_SQL_SPARK, "remove_orphan_files", ebb_str_of(job->catalog), args, n, out, err);
    free(parts);
    return rc;
}

static int trino_execute(const struct ebb_job *job, int64_t age_ms, struct ebb_buf *out, struct ebb_err *err)
{
    struct ebb_str *parts;
    int rc;

    if (job->dry_run)
        return ebb_err_set(err, EBB_EUNSUPPORTED, "--engine trino: has no dry run; plan natively instead");
    if (job->location)
        return ebb_err_set(err, EBB_EUNSUPPORTED, "--engine trino: can't be limited to a location");
    parts = calloc(job->parts.count + 1, sizeof *parts);
    if (!parts)
        return ebb_err_nomem(err);
    parts[0] = ebb_str_of(job->catalog);
    for (size_t i = 0; i < job->parts.count; i++)
        parts[i + 1] = ebb_str_of(job->parts.items[i]);
    rc = ebb_sql_trino_execute("remove_orphan_files", parts, job->parts.count + 1, age_ms, out, err);
    free(parts);
    return rc;
}

int ebb_job_sql(struct ebb_workspace *ws, const struct ebb_job *job, struct ebb_buf *out, struct ebb_err *err)
{
    int64_t now_ms = ebb_clock_now(&ebb_workspace_site(ws)->clock);
    int64_t cutoff_ms = job->has_older_than ? job->older_than_ms : now_ms - EBB_PLAN_DEFAULT_AGE_MS;
    int rc;

    if (now_ms - cutoff_ms < EBB_PLAN_FLOOR_MS) {
        rc = ebb_err_set(err, EBB_ECUTOFF_FLOOR, "--older-than %s: less than 24 hours ago", job->older_than);
        ebb_err_hint(err, "engines delete for good: the floor of 24 h can't be lowered for them");
        return rc;
    }
    rc = check_table(ws, job, err);
    if (rc)
        return rc;
    return job->engine == EBB_JOB_TRINO ? trino_execute(job, now_ms - cutoff_ms, out, err)
                                        : spark_call(job, cutoff_ms, out, err);
}
