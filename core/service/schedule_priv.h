/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the schedule: what judging triggers and looking ahead share.
 */
#ifndef EBB_SERVICE_SCHEDULE_PRIV_H
#define EBB_SERVICE_SCHEDULE_PRIV_H

#include "service/schedule.h"

/* The fixed offset of a table on one trigger: the same on every node and for ever. 0 when no table is given (uuid
 * NULL) or the trigger has no spread. */
int64_t ebb__schedule_spread(const struct ebb_schedule_input *in, size_t index);
/* When the last run of the policy started (key "started") or ended ("ended"); success: only of those that went well. 0
 * when there is none. */
int64_t ebb__schedule_last_run(const struct ebb_value *facts, bool success, const char *key);
/* Where the steps of a trigger with the anchor last_start or last_end begin, or where a count does: at what its base
 * says, but not again at what fired since the last run without leading to one. */
int64_t ebb__schedule_count_from(const struct ebb_schedule_input *in, const struct ebb_schedule *schedule, size_t index,
                                 int64_t base_ms);
/* Which events: after since, up to until. Those from outside (they have a seq) are told apart by it, so that none that
 * comes late is missed; since_seq -1: by when they came. */
struct ebb__span {
    int64_t since_ms, until_ms;
    int64_t since_seq, until_seq;
};
/* Whether an event belongs to a trigger: its type, in the span, not made by maintenance, and wanted. EBB_EPOLICY_…. */
int ebb__schedule_takes_event(const struct ebb_schedule_input *in, size_t index, const struct ebb_value *event,
                              const struct ebb__span *span, bool *out, struct ebb_err *err);

struct ebb__batch {
    int64_t count, first_ms, last_ms; /* when they happened; of those from outside: when they came */
    int64_t last_seq;                 /* 0: none is from outside */
    bool is_ahead;                    /* one came when the clock was ahead of now */
};
/* The events of a trigger in a span. EBB_EPOLICY_…. */
int ebb__schedule_gather(const struct ebb_schedule_input *in, size_t index, const struct ebb__span *span,
                         struct ebb__batch *out, struct ebb_err *err);
/* The last instant at which an occurrence of a trigger that is held back may still begin; INT64_MAX: any. */
int64_t ebb__schedule_deadline(const struct ebb_schedule_input *in, size_t index, int64_t nominal_ms);

/* Give each trigger the state that it had, wherever it stood; one that is new begins now. */
void ebb__schedule_align(const struct ebb_schedule_input *in, struct ebb_schedule *schedule);
/* Sums that stop at the ends. */
int64_t ebb__schedule_add(int64_t at_ms, int64_t by_ms);

#endif
