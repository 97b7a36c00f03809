/* SPDX-License-Identifier: Apache-2.0
 *
 * Coming fires of time triggers: nominal time, fire time, and the reason of every difference. Nothing is evaluated: a
 * preview assumes that each run ends when it starts. Pure.
 */
#ifndef EBB_SERVICE_PREVIEW_H
#define EBB_SERVICE_PREVIEW_H

#include "service/schedule.h"
#include "service/workspace.h"

struct ebb_fire {
    size_t trigger;     /* index */
    bool has_nominal;   /* false: the wall time does not exist that day */
    int64_t nominal_ms; /* the instant that the trigger names */
    char local[96];     /* wall time and zone: "2026-03-29 02:00 Europe/Berlin" */
    int64_t local_s;    /* that wall time, as if the wall were UTC */
    char used[8];       /* the wall clock that counts instead of a time in a gap: "03:00" */
    int64_t fires_ms;
    struct ebb_strs why; /* "gap", "overlap", "spread +1h12m", "quiet", "blackout", "min_interval", … in this order */
    int64_t held_from_ms; /* when guards moved it: where it stood before; else fires_ms */
};
/* Append the reasons for people: "02:00 does not exist; uses 03:00, + spread 1h12m"; nothing when there is none. */
void ebb_fire_note(const struct ebb_fire *fire, struct ebb_buf *out);
/* Append the wall time for people: "Sun 2026-03-29 02:00". */
void ebb_fire_wall(const struct ebb_fire *fire, struct ebb_buf *out);
typedef int ebb_fire_cb(void *data, const struct ebb_fire *fire, struct ebb_err *err);

/* The first n fires strictly after from_ms, in order of fires_ms, of all time triggers together (equal instants are one
 * fire: the first trigger). Guards hold a fire back to the first free instant, or drop it (late_by; told to nobody).
 * in->now_ms is not used; in->facts may be NULL (no runs, no flags). */
int ebb_preview(const struct ebb_schedule_input *in, int64_t from_ms, size_t n, ebb_fire_cb *cb, void *data,
                struct ebb_err *err);

/* Fires of several policies and tables. */
struct ebb_coming_fire {
    char *policy, *table; /* table NULL: the policy by itself */
    struct ebb_fire fire;
};
struct ebb_coming {
    struct ebb_coming_fire *items;
    size_t count, cap;
    bool leaves_spread; /* a trigger has a spread, which is left out since it depends on the table */
};
void ebb_coming_fini(struct ebb_coming *list);

struct ebb_preview_options {
    const char *policy; /* name or file; NULL: all bound ones */
    const char *table;  /* table or captured fixture (*.json); NULL: those of the bindings */
    size_t n;
    const struct ebb_policy *loaded; /* instead of `policy`, which may be NULL then; borrowed */
};
/* The first n fires after the workspace's clock, by time, of the policies, those of policy objects too, and tables
 * named: a named table by its facts
 * and the binding that takes it; without one each table of the bindings, and for a policy that is given as file, or is
 * bound to no table, the policy by itself: without spread, and guards as far as they need no table. A table that can't
 * be read, or that the policy does not take, is told in the log. The caller ends *out, also after an error. */
int ebb_preview_pass(struct ebb_workspace *ws, const struct ebb_preview_options *options, struct ebb_coming *out,
                     struct ebb_err *err);

/* The next instant after in->now_ms at which ebb_schedule_due may tell something new while the facts stay as they are:
 * the next fire of a time trigger with its spread, the end of a debounce, a pending defer. INT64_MAX: none. */
int ebb_schedule_wake(const struct ebb_schedule_input *in, const struct ebb_schedule *schedule, int64_t *out,
                      struct ebb_err *err);

#endif
