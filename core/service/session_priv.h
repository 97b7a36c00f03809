/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of a session, shared by the session*.c files: tables, bound policies, and the pairs of both, which hold
 * schedule and runs.
 */
#ifndef EBB_SERVICE_SESSION_PRIV_H
#define EBB_SERVICE_SESSION_PRIV_H

#include "service/effects.h"
#include "service/session.h"

/* Smaller than three quarters of the usual target of 512 MiB: what compaction takes. */
#define EBB__SMALL_FILE_BYTES ((int64_t)384 * 1024 * 1024)

struct ebb__stage {           /* a table */
    struct ebb_value *origin; /* facts as they were added */
    struct ebb_value *facts;  /* as they are now, runs included as they were added; grows, and is made anew when it
                                 grew too much or a value is set */
    char *uuid;
    size_t grown;               /* items added since it was made */
    size_t made, settings_made; /* count how often the facts, and what settings go by, were made anew */
    size_t commits, event_count;
    bool is_history_unknown; /* policies are not told of runs */
};

/* A policy on a table. */
struct ebb__pair {
    struct ebb_schedule schedule;
    int64_t known_since_ms;           /* when the policy became active, if that was before the story; 0 with it */
    struct ebb_settings *settings;    /* NULL: to be made */
    struct ebb_value *runs;           /* list, oldest first */
    struct ebb_value *running;        /* the run under way, in runs; NULL none */
    struct ebb_value *action;         /* of that run */
    struct ebb_value *facts;          /* what the policy sees: borrows from the table and from runs; NULL: to be made */
    size_t facts_made, settings_made; /* of the table, when facts and settings were made */
    bool has_wake, is_blocked;        /* blocked: waits for the end of the run */
    int64_t wake_ms;
};

struct ebb__bound {
    const struct ebb_policy *policy;
    char name[64];
    struct ebb_session_binding binding; /* its pointers lead into kept */
    struct ebb_value *kept;             /* what the binding points to */
    struct ebb_value *overrides;        /* of ebb_session_param, or NULL */
    struct ebb_value *params;           /* both together, or NULL */
    struct ebb__pair **pairs;           /* one for each table */
    struct ebb_session_totals totals;
};

struct ebb_session {
    struct ebb_session_options options;
    int64_t now_ms;
    bool is_paused;
    bool is_changed; /* since it was last looked at what is due */
    struct ebb__stage **tables;
    size_t table_count;
    struct ebb__bound **bound;
    size_t bound_count;
    struct ebb_evaluator *evaluator;
    struct ebb_value *trigger; /* of the input that was handed out last */
    size_t decisions, runs, events;
};

/* One policy on one table, at hand. */
struct ebb__spot {
    struct ebb_session *session;
    struct ebb__bound *bound;
    struct ebb__stage *stage;
    struct ebb__pair *pair;
    size_t table;
};

struct ebb__bound *ebb__session_find(const struct ebb_session *s, const char *policy);
/* What the binding says to settings. */
void ebb__bound_site(const struct ebb__bound *bound, struct ebb_settings_site *out);
/* Without overrides, schedules and runs of the session. */
int ebb__bound_reset(struct ebb_session *s, struct ebb__bound *bound, struct ebb_err *err);
/* EBB_ENOT_FOUND: no such table or policy. */
int ebb__session_spot(struct ebb_session *s, size_t table, const char *policy, struct ebb__spot *out,
                      struct ebb_err *err);
/* Whether the policy takes the table as it is now. */
bool ebb__spot_is_wanted(const struct ebb__spot *at);
/* Settings and facts of the pair are made when they are not there. */
int ebb__spot_prepare(const struct ebb__spot *at, struct ebb_err *err);
/* The input of a decision; trigger borrowed, NULL: manual. After ebb__spot_prepare. */
void ebb__spot_input(const struct ebb__spot *at, const struct ebb_value *trigger, struct ebb_decide_input *out);
void ebb__spot_schedule_input(const struct ebb__spot *at, struct ebb_schedule_input *out);

/* Pairs. new: schedule active now; runs of the table. */
int ebb__pair_new(const struct ebb_session *s, const struct ebb__stage *stage, struct ebb__pair **out,
                  struct ebb_err *err);
void ebb__pair_free(struct ebb__pair *pair);
/* The story begins now. */
void ebb__pair_start(struct ebb__pair *pair, int64_t now_ms);
/* What happened at an instant belongs to the story, also when that began later: time triggers don't catch up. */
int ebb__pair_include(const struct ebb__spot *at, int64_t at_ms, struct ebb_err *err);
/* Settings, facts, wake are to be made anew. */
void ebb__pair_forget(struct ebb__pair *pair);
/* Something new may be due for the policies on a table. */
void ebb__session_touch(struct ebb_session *s, size_t table);

/* Tables. */
int ebb__stage_new(const struct ebb_value *facts, struct ebb__stage **out, struct ebb_err *err);
void ebb__stage_free(struct ebb__stage *stage);
int ebb__stage_reset(struct ebb__stage *stage, struct ebb_err *err);
/* Make facts anew with a value (NULL: without) at a path from their root ("table.stats.bytes"); path NULL: as they are,
 * but trimmed. */
int ebb__stage_change(struct ebb__stage *stage, const char *path, const struct ebb_value *value, struct ebb_err *err);
/* A snapshot by a writer, or by a run (run id not NULL); event is told too. */
struct ebb__commit {
    int64_t at_ms;
    const char *operation, *run; /* run NULL: a writer */
    int64_t added_files, added_bytes, added_records;
};
int ebb__stage_commit(struct ebb__stage *stage, const struct ebb__commit *commit, struct ebb_err *err);
/* What a commit by a writer adds: the mean of what the summaries of the table tell. */
void ebb__facts_typical(const struct ebb_value *facts, struct ebb__commit *out);
/* A counter of a snapshot's summary; -1: not told. */
int64_t ebb__snapshot_counter(const struct ebb_value *snapshot, const char *key);
/* Whether maintenance made it. */
bool ebb__snapshot_is_own(const struct ebb_value *snapshot);
int ebb__stage_event(struct ebb__stage *stage, const struct ebb_value *event, const char *id, int64_t now_ms,
                     struct ebb_err *err);
bool ebb__stage_has_event(const struct ebb__stage *stage, const char *id, const char *source);

/* A commit of the past or of now, by a writer. */
int ebb__session_arrive(struct ebb_session *s, size_t table, const struct ebb_arrival *arrival, struct ebb_err *err);

/* What the configuration says of a policy on a table, by its facts; mode observe when it says nothing. */
void ebb__session_binding(const struct ebb_workspace *ws, const struct ebb_policy *policy,
                          const struct ebb_value *facts, struct ebb_session_binding *out);
/* What passes left in the store of a policy on the one table of a session (nothing of a fixture); runs: of its facts.
 */
int ebb__session_recall(struct ebb_session *s, struct ebb_workspace *ws, const char *table,
                        const struct ebb_policy *policy, const struct ebb_value *runs, struct ebb_err *err);

/* Runs. */
int ebb__spot_begin(const struct ebb__spot *at, const struct ebb_decision *decision, const char *kind,
                    struct ebb_err *err);
int ebb__spot_end(const struct ebb__spot *at, const char *outcome, struct ebb_err *err);

/* Decide. due NULL: by hand; tells `decided`. *goes_on: whether more may be due. Policy errors are told, not returned.
 */
int ebb__spot_decide(const struct ebb__spot *at, const struct ebb_due *due, bool *goes_on, struct ebb_err *err);
/* All that is due now. */
int ebb__session_look(struct ebb_session *s, struct ebb_err *err);
int ebb__spot_look(const struct ebb__spot *at, struct ebb_err *err);

#endif
