/* SPDX-License-Identifier: Apache-2.0
 *
 * What another engine would remove beside what ebb would: each difference with the rule that explains it.
 */
#ifndef EBB_SERVICE_ENGINE_COMPARE_H
#define EBB_SERVICE_ENGINE_COMPARE_H

#include "service/job.h"

#define EBB_DIFFERENCES_MAX 1000

struct ebb_engine_difference {
    char *path;
    const char *rule; /* short name */
    const char *why;  /* the rule in words */
    bool is_explained;
};
struct ebb_engine_differences {
    struct ebb_engine_difference *items; /* the first EBB_DIFFERENCES_MAX */
    size_t count;
    int64_t total;
};
struct ebb_engine_comparison {
    char plan[40]; /* of the engine's answer, less what must stay */
    int64_t equal, unexplained;
    struct ebb_engine_differences only_ebb, only_engine;
};
void ebb_engine_comparison_fini(struct ebb_engine_comparison *c);

/* Ask an engine (spark, livy) what it would remove of the table of a plan, with the plan's cutoff. native: a plan that
 * was just made of a whole table of a configured catalog. EBB_EUSAGE otherwise; EBB_ECUTOFF_FLOOR: engines look at
 * nothing younger than a day; EBB_EENGINE. */
int ebb_engine_compare(struct ebb_workspace *ws, const char *engine, const struct ebb_plan_result *native,
                       struct ebb_engine_comparison *out, struct ebb_err *err);

#endif
