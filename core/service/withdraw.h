/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs that were decided by a policy as it is not any more: what has not begun is taken back, and decided again by the
 * policy that is there now. What has begun keeps its plan; what people asked for by plan or run is theirs.
 */
#ifndef EBB_SERVICE_WITHDRAW_H
#define EBB_SERVICE_WITHDRAW_H

#include "io/store_jobs.h"
#include "service/generation.h"

struct ebb_withdrawn {
    struct ebb_strs ids;   /* of the jobs, which are cancelled now */
    size_t again, removed; /* decided again; left without a policy */
};
void ebb_withdrawn_fini(struct ebb_withdrawn *withdrawn);
/* Take back what is queued in the store and not of this generation. After an error some may be left: call it again.
 * Store errors, EBB_ENOMEM; *out is valid in any case. */
int ebb_withdraw_jobs(struct ebb_store *store, const struct ebb_generation *generation, int64_t now_ms,
                      struct ebb_withdrawn *out, struct ebb_err *err);
/* Whether one job is, or would be, such a one. */
int ebb_withdraw_is_due(struct ebb_store *store, const struct ebb_generation *generation,
                        const struct ebb_job_record *job, bool *out, struct ebb_err *err);
/* Whether what a policy decided waited for so long that its time is over (stop_in_quiet): its occurrence waits on. */
bool ebb_withdraw_is_too_late(const struct ebb_job_record *job, int64_t now_ms);
/* Take back one job that is in one of the states `from`; *did false: it is in another. why: what to tell of it; NULL:
 * that its policy changed. */
int ebb_withdraw_job(struct ebb_store *store, const struct ebb_generation *generation, const char *id, unsigned from,
                     const char *why, int64_t now_ms, bool *did, struct ebb_err *err);
/* Runs that are recorded as under way, but whose job is over, or that no job began and that are older than two days:
 * interrupted. For a process that has just begun to lead. Store errors. */
int ebb_withdraw_open_runs(struct ebb_store *store, int64_t now_ms, struct ebb_err *err);

#endif
