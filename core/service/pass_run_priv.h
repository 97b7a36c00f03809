/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the two halves of a pass: looking, and carrying out what was queued.
 */
#ifndef EBB_SERVICE_PASS_RUN_PRIV_H
#define EBB_SERVICE_PASS_RUN_PRIV_H

#include "service/look_priv.h"
#include "service/work.h"

/* A job of the look at hand, and what was told of it. */
struct ebb__pass_job {
    bool is_there;
    bool is_lost; /* memory ran out */
    struct ebb_arena arena;
    struct ebb_pass_report report;
    struct ebb_job_record record; /* its texts lie in the arena */
};
struct ebb__pass {
    struct ebb_workspace *ws;
    struct ebb_site *site;
    const struct ebb_pass_options *options;
    struct ebb_policy_list policies;
    struct ebb_generation generation; /* borrows from the two above */
    struct ebb_looker *looker;
    struct ebb__neighbours neighbours;
    const char *policy; /* at hand */
    bool has_told;
    struct ebb__pass_job job;
    struct ebb_err gravest;
    bool has_error;
};
void ebb__pass_keep_gravest(struct ebb__pass *p, const struct ebb_err *err);
/* Report to whoever asked for the pass. */
void ebb__pass_tell(const struct ebb__pass *p, const struct ebb_pass_report *report);
/* Copy a job that a look made, with its report. */
void ebb__pass_keep_job(struct ebb__pass *p, const struct ebb_pass_report *report, const struct ebb_job_record *job);
/* After the look (rc, err): carry its job out, if there is one, and report. */
int ebb__pass_end_job(struct ebb__pass *p, int rc, struct ebb_err *err);
/* Carry out what an earlier pass left queued or started. EBB_ECANCELLED, EBB_ENOMEM, store errors. */
int ebb__pass_end_left(struct ebb__pass *p, struct ebb_err *err);

#endif
