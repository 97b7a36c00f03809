/* SPDX-License-Identifier: Apache-2.0
 *
 * What is due: the triggers of one policy on one table against the clock, the facts and what fired before (design of the scheduler). The state is kept in
 * the store by policy name and table uuid. No clock is read here.
 */
#ifndef EBB_SERVICE_SCHEDULE_H
#define EBB_SERVICE_SCHEDULE_H

#include "engine/engine.h"
#include "io/store.h"

struct ebb_schedule {
    int64_t active_since_ms;   /* first pass that saw the policy on the table; 0 never */
    int64_t deferred_until_ms; /* 0 none */
    int64_t fired_ms[EBB_POLICY_TRIGGERS_MAX]; /* nominal time of the last fire of each trigger */
};
/* Load (all zero when there is none) and save. Store errors. */
int ebb_schedule_load(struct ebb_store *store, const char *policy, const char *uuid, struct ebb_schedule *out, struct ebb_err *err);
int ebb_schedule_save(struct ebb_store *store, const char *policy, const char *uuid, const struct ebb_schedule *schedule,
                      struct ebb_err *err);

struct ebb_due {
    bool is_due;
    const char *kind;        /* time, count, event, deferred, catch_up */
    size_t trigger;          /* index; SIZE_MAX for deferred */
    int64_t scheduled_for_ms; /* nominal */
    int64_t missed;          /* earlier occurrences that were not run */
    bool is_dropped;         /* an occurrence was too late (late_by) or not caught up: fired without a run */
};
/* Judge all triggers; the first that is due counts, in their order, a pending defer before them. schedule->fired_ms of dropped occurrences is moved on;
 * that of the due one is not: call ebb_schedule_take. facts as for ebb_decide. */
void ebb_schedule_due(const struct ebb_settings *settings, const char *policy, const char *uuid, const struct ebb_value *facts,
                      struct ebb_schedule *schedule, int64_t now_ms, struct ebb_due *out);
/* The occurrence is decided now. */
void ebb_schedule_take(struct ebb_schedule *schedule, const struct ebb_due *due);
/* The trigger as ebb_decide wants it; a fresh map, or NULL when memory is exhausted. */
struct ebb_value *ebb_schedule_trigger(const struct ebb_due *due, const struct ebb_value *facts, const struct ebb_schedule *schedule);

#endif
