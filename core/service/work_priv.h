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
    const struct ebb_value *json; /* of the job; a map */
    struct ebb_site *site; /* of the context's workspace; its cancelled, progress and deadline are those of the job */
    struct ebb_work_result *out;
    bool has_begun; /* something may have been done to the table: it is not tried again from the beginning */
};

/* Each carries out one kind of job: 0, or what went wrong; EBB_ECANCELLED when it stopped because it was to. Ids and
 * counts go to out; what the error says is seen by whoever may see the job: no secrets in it. */
int ebb__work_remove(struct ebb__work *w, struct ebb_err *err);
int ebb__work_apply(struct ebb__work *w, struct ebb_err *err);
int ebb__work_restore(struct ebb__work *w, struct ebb_err *err);
int ebb__work_purge(struct ebb__work *w, struct ebb_err *err);
int ebb__work_shell(struct ebb__work *w, struct ebb_err *err);

/* A workspace of its own for plans and runs that were made with other URI maps (recorded). The caller closes it. */
int ebb__work_connect(const struct ebb__work *w, const struct ebb_strs *recorded, struct ebb_workspace **out,
                      struct ebb_err *err);

#endif
