/* SPDX-License-Identifier: Apache-2.0
 *
 * What is due: the triggers of one policy on one table against the clock, the facts and what fired before. The state is
 * kept in the store by policy name and table uuid. No clock is read here.
 */
#ifndef EBB_SERVICE_SCHEDULE_H
#define EBB_SERVICE_SCHEDULE_H

#include "engine/engine.h"
#include "io/store.h"

struct ebb_schedule {
    int64_t active_since_ms;                   /* first pass that saw the policy on the table; 0 never */
    int64_t deferred_until_ms;                 /* 0 none */
    int64_t deferred_deadline_ms;              /* held back by a guard: not later than this; 0 no bound */
    int64_t dropped;                           /* occurrences that were dropped, so far */
    int64_t unchanged;                         /* occurrences in a row whose answer still held */
    int64_t revised_ms;                        /* when another revision of the policy was first seen; 0 never */
    uint64_t revision;                         /* the one that was seen last; 0 none */
    int64_t fired_ms[EBB_POLICY_TRIGGERS_MAX]; /* nominal time of the last fire of each trigger */
    uint64_t keys[EBB_POLICY_TRIGGERS_MAX];    /* what the trigger was when it fired; 0: not known yet */
    int64_t told[EBB_POLICY_TRIGGERS_MAX];     /* number (seq) of the last event from outside that it fired for: the
                                                * order of arrival counts for these, whatever clocks say */
};
/* Load (all zero when there is none) and save. Store errors. */
int ebb_schedule_load(struct ebb_store *store, const char *policy, const char *uuid, struct ebb_schedule *out,
                      struct ebb_err *err);
/* The same for a policy that may have had another name (`was`): what that one left is taken over. */
int ebb_schedule_load_of(struct ebb_store *store, const struct ebb_policy *policy, const char *uuid,
                         struct ebb_schedule *out, struct ebb_err *err);
int ebb_schedule_save(struct ebb_store *store, const char *policy, const char *uuid,
                      const struct ebb_schedule *schedule, struct ebb_err *err);

struct ebb_due {
    bool is_due;
    const char *kind;             /* time, count, event, deferred, catch_up */
    size_t trigger;               /* index; SIZE_MAX for deferred */
    int64_t scheduled_for_ms;     /* nominal */
    int64_t missed;               /* earlier occurrences that were not run */
    int64_t since_ms;             /* event: what the occurrence holds lies after this, up to scheduled_for */
    int64_t since_seq, until_seq; /* event: and of those from outside, after the one, up to the other */
    bool is_dropped;              /* an occurrence was too late (late_by) or not caught up: fired without a run */
};

/* What the triggers are judged by: one policy on one table at one instant. All borrowed. */
struct ebb_schedule_input {
    const struct ebb_policy *policy;
    const struct ebb_settings *settings; /* of the policy for this table */
    const char *uuid;
    const struct ebb_value *facts; /* as for ebb_decide */
    int64_t now_ms;
};
/* Judge all triggers; the first that is due counts, in their order, a pending defer before them. A schedule that was
 * never used becomes active now: nothing from before is caught up, nor for a trigger that was changed or is new (what a
 * trigger is counts, not where it stands). A pending defer stands for the time triggers that are due with it, but for
 * catch_up = "all". schedule->fired_ms of dropped occurrences is moved
 * on; that of the due one is not: call ebb_schedule_take. What a clock that stepped back has fired already is not fired
 * again. EBB_EPOLICY_…: a `where` went wrong. */
int ebb_schedule_due(const struct ebb_schedule_input *input, struct ebb_schedule *schedule, struct ebb_due *out,
                     struct ebb_err *err);
/* The occurrence is decided now. */
void ebb_schedule_take(struct ebb_schedule *schedule, const struct ebb_due *due);
/* A decision put it off: decide again at until_ms (0: as soon as something changes, that is at the next pass). There is
 * one pending defer; a newer occurrence may bring it forward, never push it back. by_guard: a guard held the run back,
 * not the policy: false when it would come too late (late_by of the trigger; not given: the next occurrence), then
 * nothing is pending. */
bool ebb_schedule_defer(const struct ebb_schedule_input *input, const struct ebb_due *due, int64_t until_ms,
                        bool by_guard, struct ebb_schedule *schedule);
/* What becomes of an occurrence that was decided: it is taken, and what the decision puts off is kept. False: a guard
 * held it back for too long, it is dropped. */
bool ebb_schedule_settle(const struct ebb_schedule_input *input, const struct ebb_due *due,
                         const struct ebb_decision *decision, struct ebb_schedule *schedule);
/* The trigger as ebb_decide wants it; the caller frees. EBB_EPOLICY_…, EBB_ENOMEM. */
int ebb_schedule_trigger(const struct ebb_schedule_input *input, const struct ebb_due *due, struct ebb_value **out,
                         struct ebb_err *err);

#endif
