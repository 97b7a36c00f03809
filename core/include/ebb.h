/* SPDX-License-Identifier: Apache-2.0
 *
 * libebb: keeps Apache Iceberg tables clean. The public C interface: a host opens the engine with its own clock and
 * log, loads policies, decides, plans, applies and restores. Link with -lebb (pkg-config ebb).
 *
 * Rules. No function prints, exits, starts a thread, or changes locale, signals or environment. One struct ebb_host,
 * ebb_host_evaluator or ebb_host_session per thread; a bundle and facts may be shared by all. Functions return 0 or a
 * negative number; then *err (may be NULL) tells what happened. Text given back through char ** is owned by the caller:
 * ebb_host_free_text. JSON documents are those of the command line's --json. Instants are milliseconds since
 * 1970-01-01T00:00:00Z.
 */
#ifndef EBB_H
#define EBB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EBB_API __attribute__((visibility("default")))

struct ebb_host;

/* What went wrong, safe to print. code is stable ("location.foreign_table"); exit_status is what the command line would
 * end with: 2 refused for safety, 3 failed or partly done, 4 a policy went wrong, 5 interrupted, 64 usage or
 * configuration. */
struct ebb_host_error {
    int exit_status;
    bool retryable;
    char code[64];
    char message[1024];
    char hint[512];
};

enum ebb_host_level { EBB_HOST_ERROR, EBB_HOST_WARN, EBB_HOST_INFO, EBB_HOST_DEBUG };

/* All pointers are borrowed during ebb_host_open, but clock_data, log_data and cancelled, which must live as long as
 * the host. Zeroed: the defaults. */
struct ebb_host_options {
    const char *config;      /* ebb.lua; NULL: none is read */
    const char *state_dir;   /* NULL: $XDG_STATE_HOME/ebb, else ~/.local/state/ebb */
    const char *scripts_dir; /* strategies and adapters; NULL: the installed ones */
    const char *const *maps; /* "FROM=TO": where URI prefixes are reachable here */
    size_t map_count;
    int64_t (*now_ms)(void *clock_data); /* NULL: the system's clock */
    void *clock_data;
    void (*log)(void *log_data, enum ebb_host_level level,
                const char *message); /* one line, safe to print; NULL: silent */
    void *log_data;
    const volatile bool *cancelled; /* set by the host to stop at the next safe point; NULL: never */
};

/* The version ("0.1.0"); what is written to *out belongs to the caller: ebb_host_close and ebb_host_free_text, which
 * take NULL too. Opening reads the configuration and makes the state folder when it is not there. */
EBB_API const char *ebb_host_version(void);
EBB_API int ebb_host_open(const struct ebb_host_options *options, struct ebb_host **out, struct ebb_host_error *err);
EBB_API void ebb_host_close(struct ebb_host *host);
EBB_API void ebb_host_free_text(char *text);

/* Load every policy of a folder (or one file), and remember the folder for ebb_host_run. *manifest (may be NULL) gets a
 * JSON list of their data parts. The first file that is wrong is an error: nothing is loaded half. */
EBB_API int ebb_host_load_policies(struct ebb_host *host, const char *path, char **manifest,
                                   struct ebb_host_error *err);

/* One decision of a loaded policy on a table ("catalog.namespace.table", a path, or a captured fixture *.json), as of
 * the host's clock; nothing is done. *record gets the decision record. When the policy goes wrong the call fails and
 * *record tells (it may be NULL). */
EBB_API int ebb_host_decide(struct ebb_host *host, const char *policy, const char *table, char **record,
                            struct ebb_host_error *err);

/* Plan the removal of orphan files: read only for the table. older_than: "3d" or an instant with zone, NULL = 3 days.
 * max_share: greatest part of the listed files that may be candidates before the plan is held, 0 = 0.5. *plan gets the
 * summary, with the plan's id and file. A held plan is no error here: its status tells. */
EBB_API int ebb_host_plan(struct ebb_host *host, const char *table, const char *older_than, double max_share,
                          char **plan, struct ebb_host_error *err);
/* Apply a plan (id or file): files go to quarantine. *result is set also when only a part was done (exit_status 3). */
EBB_API int ebb_host_apply(struct ebb_host *host, const char *plan, char **result, struct ebb_host_error *err);
/* End an interrupted run. */
EBB_API int ebb_host_resume(struct ebb_host *host, const char *run, char **result, struct ebb_host_error *err);
/* Put back what a run moved. */
EBB_API int ebb_host_restore(struct ebb_host *host, const char *run, char **result, struct ebb_host_error *err);

/* One pass over everything that is due for the bound policies. report gets one JSON object per policy and table; may be
 * NULL. */
typedef void ebb_host_report_cb(void *data, const char *json);
EBB_API int ebb_host_run(struct ebb_host *host, bool dry_run, ebb_host_report_cb *report, void *data,
                         struct ebb_host_error *err);

/* ---- deciding on facts: compile once, evaluate many ---- */

/* Policies, loaded and checked once. Immutable: any number of threads may use one at the same time. */
struct ebb_host_bundle;
/* Load every policy of a folder, or one file. The first that is wrong is an error; two of one name are one too. Freeing
 * gives up the caller's hold: evaluators, decisions and sessions that were made of it keep what they need. */
EBB_API int ebb_host_bundle_load(const char *path, struct ebb_host_bundle **out, struct ebb_host_error *err);
EBB_API void ebb_host_bundle_free(struct ebb_host_bundle *bundle);
EBB_API size_t ebb_host_bundle_count(const struct ebb_host_bundle *bundle);
/* By index, NULL past the end; all borrowed from the bundle. The data part as JSON; "sha256:…" over policy and
 * libraries. */
EBB_API const char *ebb_host_bundle_name(const struct ebb_host_bundle *bundle, size_t index);
EBB_API const char *ebb_host_bundle_manifest(const struct ebb_host_bundle *bundle, size_t index);
EBB_API const char *ebb_host_bundle_hash(const struct ebb_host_bundle *bundle, size_t index);

/* The facts of one table, as `ebb capture` writes them. Immutable. */
struct ebb_host_facts;
EBB_API int ebb_host_facts_parse(const char *json, size_t n, struct ebb_host_facts **out, struct ebb_host_error *err);
EBB_API void ebb_host_facts_free(struct ebb_host_facts *facts);

enum ebb_host_mode { EBB_HOST_OBSERVE, EBB_HOST_APPROVE, EBB_HOST_ENFORCE };

/* What one decision is made from. Zeroed but for policy, facts and now_ms: a decision by hand, mode observe. */
struct ebb_host_input {
    const char *policy;
    const struct ebb_host_facts *facts;
    int64_t now_ms;
    const char *params;      /* JSON object of overrides, or NULL */
    const char *trigger;     /* JSON object {"kind":"time","scheduled_for":…}, or NULL: by hand */
    int64_t active_since_ms; /* when the policy became active on the table; 0: long ago */
    enum ebb_host_mode mode;
    bool allow_below_floor; /* cutoffs younger than 24 h */
    bool allow_override_quiet;
    bool without_record; /* no record is written: faster */
    int64_t gas;         /* 0: 2,000,000 */
    const char *id;      /* for the record, or NULL */
};

enum ebb_host_verdict { EBB_HOST_RUN, EBB_HOST_SKIP, EBB_HOST_DEFER, EBB_HOST_REFUSED, EBB_HOST_FAILED };

/* One per thread. Every evaluation starts from a fresh state, bounded in instructions, memory and time. */
struct ebb_host_evaluator;
struct ebb_host_decision;
EBB_API int ebb_host_evaluator_open(struct ebb_host_bundle *bundle, struct ebb_host_evaluator **out,
                                    struct ebb_host_error *err);
EBB_API void ebb_host_evaluator_close(struct ebb_host_evaluator *evaluator);
/* Decide; nothing is done. When the policy goes wrong (exit_status 4) the call fails and *out is still a decision,
 * verdict failed; else *out is NULL on error. The same input gives the same decision, on every machine. */
EBB_API int ebb_host_evaluate(struct ebb_host_evaluator *evaluator, const struct ebb_host_input *input,
                              struct ebb_host_decision **out, struct ebb_host_error *err);
EBB_API void ebb_host_decision_free(struct ebb_host_decision *decision);
EBB_API enum ebb_host_verdict ebb_host_decision_verdict(const struct ebb_host_decision *decision);
/* defer: when to decide again; 0 when it waits for the end of a run. */
EBB_API int64_t ebb_host_decision_until_ms(const struct ebb_host_decision *decision);
/* Until when the answer holds while the facts stay as they are; INT64_MAX: for ever; 0: it can't be told. */
EBB_API int64_t ebb_host_decision_holds_until_ms(const struct ebb_host_decision *decision);
/* "policy", or the guard that made the verdict. Borrowed, like the next two. */
EBB_API const char *ebb_host_decision_by(const struct ebb_host_decision *decision);
/* JSON: the action of run and refused, else NULL; the record, NULL without_record. */
EBB_API const char *ebb_host_decision_action(const struct ebb_host_decision *decision);
EBB_API const char *ebb_host_decision_record(const struct ebb_host_decision *decision);

/* ---- the scheduler in the host's own loop, with the host's clock ---- */

/* A world of tables (as facts), bound policies, their schedules and runs. It reads no clock: the host moves it on. One
 * thread. */
struct ebb_host_session;

/* What became of an occurrence. Borrowed during the call. */
struct ebb_host_event {
    const char *policy;
    size_t table;
    int64_t at_ms;
    enum ebb_host_verdict verdict; /* without a decision: skip */
    int64_t until_ms;              /* defer */
    const char *record;            /* JSON; NULL: dropped without a decision */
    const char *dropped;           /* why, or NULL: "late", "quiet", "paused", … */
};
typedef void ebb_host_event_cb(void *data, const struct ebb_host_event *event);

struct ebb_host_session_options {
    int64_t now_ms;             /* where its clock starts */
    bool ends_at_once;          /* runs end when they start; else ebb_host_session_finish */
    bool has_effects;           /* runs that end well change the facts by estimates, for simulations */
    ebb_host_event_cb *decided; /* in order; may be NULL */
    void *data;
};
EBB_API int ebb_host_session_open(struct ebb_host_bundle *bundle, const struct ebb_host_session_options *options,
                                  struct ebb_host_session **out, struct ebb_host_error *err);
EBB_API void ebb_host_session_close(struct ebb_host_session *session);
/* Bind a policy of the bundle to the tables that it names, or all. params: JSON object of overrides, or NULL. */
EBB_API int ebb_host_session_bind(struct ebb_host_session *session, const char *policy, enum ebb_host_mode mode,
                                  const char *params, struct ebb_host_error *err);
/* Add a table; *index (may be NULL) gets its number. */
EBB_API int ebb_host_session_add_table(struct ebb_host_session *session, const struct ebb_host_facts *facts,
                                       size_t *index, struct ebb_host_error *err);
/* Something happened to a table now: JSON object with "type" and what else is known; id and at may be missing. */
EBB_API int ebb_host_session_event(struct ebb_host_session *session, size_t table, const char *event,
                                   struct ebb_host_error *err);
/* Time went by: decide all that is due on the way, in order. */
EBB_API int ebb_host_session_step(struct ebb_host_session *session, int64_t by_ms, struct ebb_host_error *err);
/* When to step next: the first instant at which something may be due; INT64_MAX: not before something happens. */
EBB_API int ebb_host_session_wake(struct ebb_host_session *session, int64_t *at_ms, struct ebb_host_error *err);
EBB_API int64_t ebb_host_session_now(const struct ebb_host_session *session);
/* The running job of a policy on a table ended: "success", "failed" or "partial". */
EBB_API int ebb_host_session_finish(struct ebb_host_session *session, size_t table, const char *policy,
                                    const char *outcome, struct ebb_host_error *err);

#ifdef __cplusplus
}
#endif

#endif
