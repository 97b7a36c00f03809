/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the work_*.c files: one job while it is carried out.
 */
#ifndef EBB_SERVICE_WORK_PRIV_H
#define EBB_SERVICE_WORK_PRIV_H

#include "base/time.h"
#include "service/work.h"
#include "service/workspace.h"

struct ebb__work {
    const struct ebb_work_context *context;
    const struct ebb_job_record *job;
    struct ebb_value *json; /* of the job; a map */
    struct ebb_site *site;  /* of the context's workspace; cancelled, progress and deadline are those of the job */
    struct ebb_work_result *out;
    bool has_started; /* it was not too late from the beginning */
    bool has_begun;   /* something may have been done to the table: it is not begun again */
};

/* Each carries out one kind of job: 0, or what went wrong; EBB_ECANCELLED when it stopped because it was to. Ids and
 * counts go to out. */
int ebb__work_remove(struct ebb__work *w, struct ebb_err *err);
int ebb__work_expire(struct ebb__work *w, struct ebb_err *err);
int ebb__work_apply(struct ebb__work *w, struct ebb_err *err);
int ebb__work_restore(struct ebb__work *w, struct ebb_err *err);
int ebb__work_purge(struct ebb__work *w, struct ebb_err *err);

/* A workspace of its own, for plans and runs that were made with other URI maps (recorded). The caller closes it. */
int ebb__work_connect(const struct ebb__work *w, const struct ebb_strs *recorded, struct ebb_workspace **out,
                      struct ebb_err *err);

/* The same with the maps of a run; NULL: without any. */
int ebb__work_connect_run(const struct ebb__work *w, const char *run, struct ebb_workspace **out, struct ebb_err *err);

/* What an earlier attempt left. */
struct ebb__work_left {
    char plan[40], plan_status[16]; /* "" none; the one with a run, else the newest */
    char run[40], run_status[16];
};
/* Of the plans that were made for a decision or job. */
int ebb__work_find_plan(const struct ebb__work *w, const char *parent, struct ebb__work_left *out, struct ebb_err *err);
/* Of runs under a parent (a plan, or a decision that led to no plan). */
int ebb__work_find_run(const struct ebb__work *w, const char *parent, struct ebb__work_left *out, struct ebb_err *err);
/* End it: resume a run that stopped in the middle, take the result of one that ended. */
int ebb__work_end(struct ebb__work *w, const struct ebb__work_left *left, struct ebb_err *err);
/* Take what an apply or resume did. */
void ebb__work_tell(struct ebb__work *w, const struct ebb_apply_result *result);

#endif
