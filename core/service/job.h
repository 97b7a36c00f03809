/* SPDX-License-Identifier: Apache-2.0
 *
 * The job remove-orphan-files: what an adapter makes and a job template runs. Its arguments are text; everything is
 * validated here again, whatever was checked before, since a job can be submitted without any policy. Runs natively:
 * plan, then (unless dry) apply.
 */
#ifndef EBB_SERVICE_JOB_H
#define EBB_SERVICE_JOB_H

#include "base/sql.h"
#include "service/workspace.h"

/* As given; "" and NULL mean not given (a template substitutes empty strings). */
struct ebb_job_args {
    const char *catalog;    /* configured name */
    const char *table;      /* "schema.table", the schema may have several levels */
    const char *older_than; /* 'yyyy-MM-dd HH:mm:ss' UTC (a zone may be given), or not given: 3 days */
    const char *location;
    const char *dry_run;    /* "true" or "false"; not given: false */
    const char *spark_conf; /* JSON object of texts; only an engine that is Spark can honour it */
    const char *engine;     /* native, spark, livy, trino; not given: native */
};

struct ebb_job {
    char *name; /* "catalog.schema.table" */
    char *catalog;
    struct ebb_strs parts; /* schema levels and table */
    bool has_older_than;
    int64_t older_than_ms;
    char *older_than; /* normal form, ISO */
    char *location;   /* NULL none */
    bool dry_run;
    enum ebb_job_engine engine;
    struct ebb_value *spark_conf; /* map of texts, or NULL */
};
/* EBB_EUSAGE names the argument; EBB_ETIME; EBB_ECUTOFF_FUTURE. */
int ebb_job_parse(const struct ebb_job_args *args, int64_t now_ms, struct ebb_job *out, struct ebb_err *err);
void ebb_job_fini(struct ebb_job *job);

/* What a policy adds to a job. Zeroed: nothing. */
struct ebb_job_origin {
    const char *policy, *decision, *policy_json;
    const char *uuid; /* of the table that was judged: another one of its name is not touched; NULL: any */
    const struct ebb_value
        *options; /* of the action: prefix_mismatch, keep, equal_schemes, equal_authorities; or NULL */
    struct ebb_fuses fuses;
    bool plan_only;  /* mode approve: the plan waits for a person */
    bool needs_full; /* an enforced policy acts only with ownership "full" */
    bool allow_below_floor;
    enum ebb_job_engine engine; /* who does it, of the binding */
    int64_t engine_above;       /* only when the table has more files than that; 0: always */
    bool irreversible;          /* the binding agrees that an engine deletes for good */
};
struct ebb_job_result {
    struct ebb_plan_result plan;
    struct ebb_apply_result apply;
    bool was_applied;
};
void ebb_job_result_fini(struct ebb_job_result *result);
/* Plan and, unless dry or plan_only, apply. The catalog must be configured (EBB_ECATALOG_UNKNOWN). A held plan is
 * EBB_EFUSE (the plan is in result). Errors of plan and apply.
 *
 * By another engine, that deletes for good: all checks of a plan are made first, with a floor of 24 h that nothing
 * lowers. Spark (also by Livy) is first asked what it would remove; its answer becomes the plan, each file of which
 * must be one that ebb itself would let go (EBB_EENGINE_UNSAFE names the first that is not); the plan waits as ever
 * when a fuse holds it or it is plan_only, and ebb_apply of it is native. Else Spark is told to remove. Trino can't be
 * asked: the plan is ebb's own. Of a policy's job EBB_ECONFIG unless it is irreversible. EBB_EENGINE: the engine
 * failed. */
int ebb_job_run(struct ebb_workspace *ws, const struct ebb_job *job, const struct ebb_job_origin *origin,
                struct ebb_job_result *result, struct ebb_err *err);

/* A recorded run that is open: when it is one of another engine (*is_engine) the engine is asked what became of it, and
 * it gets its end: done when that is known, else failed. Others are left alone. EBB_ENOT_FOUND; EBB_ELOCKED: another
 * process is at it; EBB_EENGINE (retryable): the engine does not answer. */
int ebb_job_settle(struct ebb_workspace *ws, const char *run, bool *is_engine, struct ebb_err *err);

/* Append the statement for Spark or Trino. The table is loaded through its configured catalog and location, gc.enabled
 * and the floor are checked as natively; when the catalog is not configured a location is refused
 * (EBB_ECATALOG_UNKNOWN). Trino has neither dry run nor location: EBB_EUNSUPPORTED. */
int ebb_job_sql(struct ebb_workspace *ws, const struct ebb_job *job, struct ebb_buf *out, struct ebb_err *err);

#endif
