/* SPDX-License-Identifier: Apache-2.0
 *
 * A session: a world in memory with a virtual clock: tables as facts, bound policies, their schedules and runs. It goes
 * through the same evaluator, guards and scheduler as a pass; nothing real is read or done. Under specs
 * (`ebb.testing`), `ebb simulate`, `ebb backtest`, the interactive session, and hosts that drive the scheduler
 * themselves. One thread.
 */
#ifndef EBB_SERVICE_SESSION_H
#define EBB_SERVICE_SESSION_H

#include "engine/evaluator.h"
#include "service/effects.h"
#include "service/schedule.h"

struct ebb_session;

/* One decision as it was made. Borrowed during the callback. */
struct ebb_session_decision {
    const char *policy;
    size_t table;
    int64_t at_ms;
    const struct ebb_due *due;           /* NULL: asked for by hand */
    const struct ebb_decision *decision; /* NULL: an occurrence was dropped without one */
    const char *dropped;                 /* why, or NULL: "late", "quiet", "paused", … */
    const struct ebb_err *error;         /* the policy went wrong, or NULL */
};
typedef void ebb_session_cb(void *data, const struct ebb_session_decision *decision);

struct ebb_session_options {
    int64_t now_ms;    /* where the clock starts */
    bool ends_at_once; /* a run that starts ends at the same instant (observe always does); else ebb_session_finish */
    bool has_effects;  /* a run of mode enforce that ends with success changes its table by the models of effects.h */
    ebb_session_cb *decided; /* each decision, in order; may be NULL */
    void *data;
    uint8_t *(*lines)(void *data, const struct ebb_policy *policy, size_t *count); /* bitmap of executed lines for
                                                                                      coverage, or NULL */
};
int ebb_session_new(const struct ebb_session_options *options, struct ebb_session **out, struct ebb_err *err);
void ebb_session_free(struct ebb_session *session);

struct ebb_workspace;
/* A session over one table, or a captured fixture (*.json), as it is at the workspace's clock, with one policy
 * (borrowed) as its binding says, and with what passes left in the store. Errors of reading the table, EBB_ECONFIG. */
int ebb_session_open(struct ebb_workspace *ws, const char *table, const struct ebb_policy *policy,
                     struct ebb_session **out, struct ebb_err *err);

struct ebb_session_binding {
    enum ebb_mode mode;
    const struct ebb_value *params; /* overrides, copied; NULL none */
    bool allow_below_floor, allow_override_quiet;
    const struct ebb_value *blackouts; /* as in struct ebb_settings_site; copied, like the next; NULL none */
    const char *blackout_tz;           /* NULL: UTC */
    const struct ebb_value *guard;     /* stricter guards; NULL none */
};
/* Bind a policy (borrowed, must outlive its binding) to every table that its target takes, or all tables when it names
 * none. A policy of the same name is replaced: schedule and runs stay, what is pending is decided again at once
 * (policies.md 8.3). */
int ebb_session_bind(struct ebb_session *session, const struct ebb_policy *policy,
                     const struct ebb_session_binding *binding, struct ebb_err *err);
/* The policy became active on the table before the story began: what it counts from there on when it never ran.
 * EBB_ENOT_FOUND. */
int ebb_session_active_since(struct ebb_session *session, size_t table, const char *policy, int64_t at_ms,
                             struct ebb_err *err);
/* Take over what is known of a policy on a table: its runs (as in facts; NULL: none) and its schedule (NULL: as it is).
 * EBB_ENOT_FOUND. */
int ebb_session_take_over(struct ebb_session *session, size_t table, const char *policy, const struct ebb_value *runs,
                          const struct ebb_schedule *schedule, struct ebb_err *err);
/* EBB_ENOT_FOUND. */
int ebb_session_unbind(struct ebb_session *session, const char *policy, struct ebb_err *err);
/* Add a table by its facts (decide.h; copied); *index gets its number, from 0. Its runs, when the facts have any, are
 * taken as runs of every policy. */
int ebb_session_add_table(struct ebb_session *session, const struct ebb_value *facts, size_t *index,
                          struct ebb_err *err);
size_t ebb_session_table_count(const struct ebb_session *session);
/* The facts as they are now for a policy (NULL: without runs). Borrowed until the next change. */
const struct ebb_value *ebb_session_facts(struct ebb_session *session, size_t table, const char *policy,
                                          struct ebb_err *err);

/* The clock. at: set it; nothing fires for what lies between, and schedules become active here (the start of a story).
 * step: move on by a duration, deciding all that is due on the way, in order. asleep: time passes while the process
 * does not run; then it looks. clock_step: the wall clock jumps by delta (also back), elapsed time does not. */
int64_t ebb_session_now(const struct ebb_session *session);
int ebb_session_at(struct ebb_session *session, int64_t at_ms, struct ebb_err *err);
int ebb_session_step(struct ebb_session *session, int64_t by_ms, struct ebb_err *err);
int ebb_session_asleep(struct ebb_session *session, int64_t by_ms, struct ebb_err *err);
int ebb_session_clock_step(struct ebb_session *session, int64_t delta_ms, struct ebb_err *err);
/* The next instant at which something may be due; INT64_MAX none. */
int ebb_session_wake(struct ebb_session *session, int64_t *out, struct ebb_err *err);
/* Pause and resume everything; what comes meanwhile collapses to one pending occurrence, catch_up decides on resume. */
void ebb_session_pause(struct ebb_session *session);
int ebb_session_resume(struct ebb_session *session, struct ebb_err *err);

/* Change the world. event: a map with type and whatever else; id and at are filled in when missing; *id (may be NULL)
 * gets the id. commits: n snapshots by writers, one millisecond apart, ending now. set: the value (NULL removes) at a
 * path below t ("stats.bytes", "properties", "partitions"), or "flags.NAME"; "runs" with NULL: the
 * history is not known. reset: back to the facts as they were
 * added, without runs, events, schedules; the clock stays. */
int ebb_session_event(struct ebb_session *session, size_t table, const struct ebb_value *event, char id[40],
                      struct ebb_err *err);
int ebb_session_commits(struct ebb_session *session, size_t table, int64_t n, struct ebb_err *err);
int ebb_session_set(struct ebb_session *session, size_t table, const char *path, const struct ebb_value *box,
                    const char *key, struct ebb_err *err); /* the value is box[key] */
int ebb_session_reset(struct ebb_session *session, struct ebb_err *err);
/* Override a parameter of a bound policy; the value is box[key]; NULL box takes the override back. EBB_ECONFIG. */
int ebb_session_param(struct ebb_session *session, const char *policy, const char *name, const struct ebb_value *box,
                      const char *key, struct ebb_err *err);

/* Decide now, trigger kind manual; nothing starts and nothing is remembered. The caller frees *out (also set when the
 * policy goes wrong, as ebb_decide). EBB_ENOT_FOUND. */
int ebb_session_decide(struct ebb_session *session, size_t table, const char *policy, struct ebb_decision **out,
                       struct ebb_err *err);
/* The input of that decision, for ebb_whynot and ebb_console_run. Borrowed until the next change. */
int ebb_session_input(struct ebb_session *session, size_t table, const char *policy, struct ebb_decide_input *out,
                      struct ebb_err *err);
/* A run by hand: decides (kind manual) and starts when the verdict is run; tells `decided`. */
int ebb_session_manual(struct ebb_session *session, size_t table, const char *policy, struct ebb_err *err);
/* End the running job of a policy on a table: outcome success, failed, partial. EBB_ERUN_STATE when none runs. */
int ebb_session_finish(struct ebb_session *session, size_t table, const char *policy, const char *outcome,
                       struct ebb_err *err);
/* What the runs of a policy did so far, by the models of effects.h (has_effects): estimates. EBB_ENOT_FOUND. */
struct ebb_session_totals {
    int64_t runs;
    struct ebb_effect effect;
};
int ebb_session_get_totals(const struct ebb_session *session, const char *policy, struct ebb_session_totals *out,
                           struct ebb_err *err);
/* The schedule state of a policy on a table, and its settings, for previews. Borrowed. */
int ebb_session_schedule(struct ebb_session *session, size_t table, const char *policy, struct ebb_schedule_input *in,
                         const struct ebb_schedule **schedule, struct ebb_err *err);
/* The bound policy of a name, or NULL; by index, NULL past the end. */
const struct ebb_policy *ebb_session_policy(const struct ebb_session *session, const char *name);
const struct ebb_policy *ebb_session_policy_at(const struct ebb_session *session, size_t index);

#endif
