/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by daemon_jobs.c and daemon_sync.c: a job that runs, and jobs in the store.
 */
#ifndef EBB_SERVICE_DAEMON_JOBS_PRIV_H
#define EBB_SERVICE_DAEMON_JOBS_PRIV_H

#include "service/daemon_priv.h"
#include "service/withdraw.h"

enum ebb__job_outcome {
    EBB__JOB_NOT_BEGUN,  /* its start could not be recorded, or there was no workspace */
    EBB__JOB_GONE,       /* another state than was thought: withdrawn meanwhile */
    EBB__JOB_UNRECORDED, /* it ended, which could not be written */
    EBB__JOB_ENDED
};
enum ebb__stop { EBB__STOP_NOT, EBB__STOP_ASKED, EBB__STOP_DEADLINE, EBB__STOP_DRAIN };

struct ebb__running {
    struct ebb__running *next;
    struct ebb__daemon *d;
    struct ebb_arena arena; /* of the job's texts */
    struct ebb_job_record job;
    struct ebb__subject subject;
    atomic_bool cancelled;
    atomic_int why; /* enum ebb__stop */
    int64_t start_ms, attempt_before;
    bool is_working; /* a task of it is under way */
    enum ebb__job_outcome outcome;
    struct ebb_work_result result;
    struct ebb_err err;
};
struct ebb__running *ebb__running_find(struct ebb__daemon *d, const char *id);
void ebb__running_stop(struct ebb__running *r);
/* Write its end. Worker's thread. */
int ebb__running_record(struct ebb__running *r, struct ebb_store *store, struct ebb_err *err);
/* Its end is written; r is freed. */
void ebb__running_ended(struct ebb__running *r);
/* Ends that could not be written are tried again. */
void ebb__jobs_record_late(struct ebb__daemon *d);

/* Jobs were taken back: they leave the queue. */
void ebb__jobs_withdrawn(struct ebb__daemon *d, const struct ebb_withdrawn *withdrawn);

/* Copy a job with its texts (NULL becomes ""). False: memory ran out. */
bool ebb__job_keep(struct ebb_arena *arena, const struct ebb_job_record *job, struct ebb_job_record *out);
/* Change the state of a job in the store when it is in one of `from`; code and message: NULL leaves them. now_ms
 * becomes its end when the state is final. EBB_ERUN_STATE, EBB_ENOT_FOUND, store errors. */
int ebb__job_change(struct ebb_store *store, const char *id, unsigned from, enum ebb_job_state state,
                    const char *message, int64_t now_ms, struct ebb_err *err);

#endif
