/* SPDX-License-Identifier: Apache-2.0
 *
 * Coming fires of time triggers: nominal time, fire time, and the reason of every difference. Nothing is evaluated: a
 * preview assumes that each run ends when it starts. Pure.
 */
#ifndef EBB_SERVICE_PREVIEW_H
#define EBB_SERVICE_PREVIEW_H

#include "service/schedule.h"

struct ebb_fire {
    size_t trigger;     /* index */
    bool has_nominal;   /* false: the wall time does not exist that day */
    int64_t nominal_ms; /* the instant that the trigger names */
    char local[96];     /* wall time and zone: "2026-03-29 02:00 Europe/Berlin" */
    int64_t fires_ms;
    struct ebb_strs why; /* "gap", "overlap", "spread +1h12m", "quiet", "blackout", "min_interval", … in this order */
    int64_t held_from_ms; /* when guards moved it: where it stood before; else fires_ms */
};
typedef int ebb_fire_cb(void *data, const struct ebb_fire *fire, struct ebb_err *err);

/* The first n fires strictly after from_ms, in order of fires_ms, of all time triggers together (equal instants are one
 * fire: the first trigger). Guards hold a fire back to the first free instant, or drop it (late_by; told to nobody).
 * in->now_ms is not used; in->facts may be NULL (no runs, no flags). */
int ebb_preview(const struct ebb_schedule_input *in, int64_t from_ms, size_t n, ebb_fire_cb *cb, void *data,
                struct ebb_err *err);

/* The next instant after in->now_ms at which ebb_schedule_due may tell something new while the facts stay as they are:
 * the next fire of a time trigger with its spread, the end of a debounce, a pending defer. INT64_MAX: none. */
int ebb_schedule_wake(const struct ebb_schedule_input *in, const struct ebb_schedule *schedule, int64_t *out,
                      struct ebb_err *err);

#endif
