/* SPDX-License-Identifier: Apache-2.0
 *
 * Carrying out jobs: one job of the store, in a worker thread, with what is needed to resume it after a crash; and
 * which jobs may run beside each other.
 */
#ifndef EBB_SERVICE_WORK_H
#define EBB_SERVICE_WORK_H

#include "io/store_jobs.h"
#include "service/hub.h"
#include "service/job.h"
#include "service/metrics.h"

/* What happened. Texts are owned by it. */
struct ebb_work_result {
    enum ebb_job_state state; /* succeeded, failed, cancelled; queued: to be tried again at not_before_ms */
    int64_t not_before_ms;
    char plan[40], run[40];
    char
        status[16]; /* of the run or, without one, of the plan: done, partial, failed, ready, held, empty, …; "" none */
    struct ebb_err err; /* EBB_OK when it succeeded */
    int64_t candidates, moved, deleted, restored;
    bool is_held; /* the plan waits for a person */
};
struct ebb_work_context {
    struct ebb_workspace *ws;                   /* of this thread */
    struct ebb_hub *hub;                        /* for progress; may be NULL */
    struct ebb_metrics *metrics;                /* may be NULL */
    const atomic_bool *cancelled;               /* of this job */
    const struct ebb_strs *executables;         /* that templates of type shell may run; NULL or empty: none */
    void (*began)(void *data, const char *run); /* told the run's id as soon as it is known; NULL: nobody */
    void *began_data;
    unsigned attempts_max; /* 0: 3 */
    bool is_dry;           /* plan, but neither apply nor record a run (`ebb run --dry-run`) */
};
/* What a job is told by in its json:
 * - remove-orphan-files: the arguments of the job (catalog_name, table_identifier, older_than, location, dry_run,
 *   spark_conf: texts) in it or in "config"; of a policy also "origin" (ebb_job_origin without its texts, which are
 *   those of the decision);
 * - expire-snapshots: catalog_name, table_identifier, older_than, retain_last, dry_run likewise; not of a policy;
 * - apply: {"plan": id, "overrides": [fuse…], "delete": bool, "quarantine": URI, "verify": "full|sample|none",
 *   "max_age": "7d"}; only plan is wanted;
 * - restore: {"run": id, "paths": […]}; purge: {"runs": [id…], "older_than": "7d", "dropped": bool}.
 * Other kinds, but shell (shell.h), are not carried out by this version: EBB_EUNSUPPORTED. */
/* Carry out a job that is in state started (recorded by the caller). A job that was started before (attempt > 1, or its
 * run is there already) is gone on with: a run of its plan that is in the journal is resumed, one that ended is taken
 * as its result, else it begins anew. What may pass (a lock, storage that does not answer, metadata that changed) is
 * tried again later, with back-off, as long as nothing was begun; a run that its timeout stopped is gone on with
 * likewise. A job whose deadline is past before it begins is cancelled. A decision that led to no run gets the record
 * of one, that intervals and back-off count. The new state is not written here. */
void ebb_work_run(const struct ebb_work_context *context, const struct ebb_job_record *job,
                  struct ebb_work_result *out);

/* ---- queue: which job is next. One thread; holds no store. ---- */
struct ebb_work_queue;
int ebb_work_queue_new(unsigned running_max, struct ebb_work_queue **out, struct ebb_err *err);
void ebb_work_queue_free(struct ebb_work_queue *queue);
/* A queued job (copied); again with the same id: replaced. */
int ebb_work_queue_put(struct ebb_work_queue *queue, const struct ebb_job_record *job, struct ebb_err *err);
/* The next that may start at now: not before its time; no job that runs on its table excludes it (orphan removal,
 * apply, restore, purge exclude every job that changes the table; rewrite and expire each other; manifests and rewrite;
 * a kind itself); no queued expiration of the same table stands before its orphan removal; a slot is free, also of
 * those that policies share. By priority,
 * which rises by one for each 10 minutes of waiting, then age, then policy name. It counts as running then. NULL: none;
 * *wake_ms gets the next not_before of one that waits for time alone, INT64_MAX none. */
const struct ebb_job_record *ebb_work_queue_take(struct ebb_work_queue *queue, int64_t now_ms, int64_t *wake_ms);
/* A running job is over, or a queued one is withdrawn. */
void ebb_work_queue_end(struct ebb_work_queue *queue, const char *id);
/* Whether it is queued or running. */
bool ebb_work_queue_has(const struct ebb_work_queue *queue, const char *id, bool *is_running);
size_t ebb_work_queue_waiting(const struct ebb_work_queue *queue);
size_t ebb_work_queue_running(const struct ebb_work_queue *queue);
/* Why a queued job waits, for people ("on the same table: job-… (expire-snapshots)"), appended. */
void ebb_work_queue_why(const struct ebb_work_queue *queue, const char *id, int64_t now_ms, struct ebb_buf *out);
/* Whether two kinds of jobs may run on one table at once. */
bool ebb_work_is_compatible(const char *kind, const char *other);

#endif
