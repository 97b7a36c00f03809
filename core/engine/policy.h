/* SPDX-License-Identifier: Apache-2.0
 *
 * A policy file: loaded once (header phase in the sandbox, closed schema), then immutable data. Parameters, time zones
 * and through them triggers and guards depend on the table and on the binding: struct ebb_settings holds them resolved.
 * Policies and settings may be read by several threads; each call of ebb_decide makes its own Lua state.
 */
#ifndef EBB_ENGINE_POLICY_H
#define EBB_ENGINE_POLICY_H

#include "base/calendar.h"
#include "engine/diagnostic.h"
#include "engine/value.h"

#define EBB_POLICY_SOURCE_MAX_BYTES ((size_t)64 * 1024)
#define EBB_POLICY_TRIGGERS_MAX 32
#define EBB_POLICY_PARAMS_MAX 64
#define EBB_POLICY_QUIET_MAX 16
#define EBB_POLICY_LIBS_MAX 32

struct ebb_policy;
/* Load one file. Everything wrong in it goes to diags (may be NULL); the first error is also in *err. A policy with
 * warnings only is loaded. *out is NULL on error. EBB_EPOLICY_SCHEMA, EBB_EPOLICY_ERROR (also syntax), EBB_EPOLICY_GAS,
 * EBB_EPOLICY_MEMORY, EBB_EPOLICY_DEADLINE, EBB_ENOENT, EBB_EIO…. */
int ebb_policy_load(const char *file, struct ebb_policy **out, struct ebb_diagnostics *diags, struct ebb_err *err);
/* The same for source in memory; file names it in messages, libraries of `use` are looked up beside it. */
int ebb_policy_load_text(const char *file, const char *source, size_t n, struct ebb_policy **out,
                         struct ebb_diagnostics *diags, struct ebb_err *err);
/* The sources that a policy consists of, as {file, source, libs: {name: source}}, and a policy from such: no file is
 * read, the bundle is the same. Errors as of ebb_policy_load; EBB_ECORRUPT when that is no bundle. */
int ebb_policy_sources(const struct ebb_policy *policy, struct ebb_value **out, struct ebb_err *err);
int ebb_policy_load_sources(const struct ebb_value *sources, struct ebb_policy **out, struct ebb_err *err);
/* Go by another name, which no file can have ("object:weekly": it has a ':'), and another former name (NULL: none): for
 * records and schedules. Before anything else uses the policy. EBB_EUSAGE: no such name, or longer than 63 bytes;
 * EBB_ENOMEM. */
int ebb_policy_set_name(struct ebb_policy *policy, const char *name, const char *was, struct ebb_err *err);
void ebb_policy_free(struct ebb_policy *policy);

/* Whether a text may be the name of a policy: [a-z][a-z0-9-]*, at most 63 bytes. */
bool ebb_policy_is_name(const char *name);
/* The file it was loaded from, as given; its `name`. Borrowed. */
const char *ebb_policy_get_file(const struct ebb_policy *policy);
const char *ebb_policy_get_name(const struct ebb_policy *policy);
/* "sha256:<64 hex>" over the policy and the libraries that it uses. */
const char *ebb_policy_get_bundle(const struct ebb_policy *policy);
/* The data part as a tree, and as JSON text (NUL terminated, borrowed). Functions appear as the string "function". */
const struct ebb_value *ebb_policy_get_manifest(const struct ebb_policy *policy);
const char *ebb_policy_get_manifest_json(const struct ebb_policy *policy);
/* Former name (`was`), or NULL. */
const char *ebb_policy_get_was(const struct ebb_policy *policy);
/* Whether the policy names tables itself; if not it runs only where a binding does. */
bool ebb_policy_has_target(const struct ebb_policy *policy);
/* Whether the target takes this table: tables, exclude, where. namespace_ holds levels joined by '.', properties is a
 * map of strings or NULL. A policy without target: false. */
bool ebb_policy_is_target(const struct ebb_policy *policy, const char *catalog, const char *namespace_,
                          const char *name, const struct ebb_value *properties);
/* The same by name alone, for a table whose properties are not known: tables and exclude. */
bool ebb_policy_may_target(const struct ebb_policy *policy, const char *catalog, const char *namespace_,
                           const char *name);
/* Whether a table glob ("prod.*.*"; '*' within one component, '**' any number of components) takes a dotted table name.
 * Bounded by length of glob × length of name. */
bool ebb_table_glob_is_match(const char *glob, const char *name);
/* Whether a text glob ('*' any run of characters, '?' one, nothing else special) takes all of the text. Bounded
 * likewise. */
bool ebb_glob_is_match(struct ebb_str glob, struct ebb_str text);

enum ebb_trigger_kind {
    EBB_TRIGGER_CALENDAR,
    EBB_TRIGGER_CRON,
    EBB_TRIGGER_EVERY,
    EBB_TRIGGER_COUNT,
    EBB_TRIGGER_EVENT
};
enum ebb_anchor { EBB_ANCHOR_EPOCH, EBB_ANCHOR_START_OF_DAY, EBB_ANCHOR_LAST_START, EBB_ANCHOR_LAST_END };
enum ebb_catch_up { EBB_CATCH_UP_ONE, EBB_CATCH_UP_NONE, EBB_CATCH_UP_ALL };
enum ebb_since { EBB_SINCE_LAST_RUN, EBB_SINCE_LAST_SUCCESS };

/* One trigger with its parameters put in. Durations in ms. */
struct ebb_trigger {
    enum ebb_trigger_kind kind;
    const char *text;                    /* calendar or cron expression, step ("2h"), or event type */
    const char *tz;                      /* zone name; "UTC" by default */
    const struct ebb_calendar *calendar; /* time triggers, but for the anchors last_start and last_end: NULL */
    int64_t step_ms;                     /* every */
    enum ebb_anchor anchor;              /* every */
    int64_t spread_ms;                   /* time triggers */
    enum ebb_catch_up catch_up;          /* time triggers */
    int64_t catch_up_max;                /* for "all" */
    int64_t late_by_ms;                  /* -1: not given (the next occurrence; none for events and counts) */
    int64_t n;                           /* count */
    enum ebb_since since;                /* count */
    bool has_where;                      /* event: a filter function exists */
    int64_t debounce_ms, max_hold_ms;    /* event; max_hold 0: none */
    int line;                            /* in the file */
};

enum ebb_overlap { EBB_OVERLAP_SKIP, EBB_OVERLAP_QUEUE_ONE, EBB_OVERLAP_CANCEL };
enum ebb_exceed { EBB_EXCEED_HOLD, EBB_EXCEED_TRIM };

/* One quiet window: half-open [from, to) of the local wall time on the days it starts. from == to == 0: the whole day.
 */
struct ebb_quiet {
    unsigned days; /* bit 0 = Sunday */
    int from_minute, to_minute;
    const struct ebb_tz *tz;
    const char *only_if; /* name of a site flag, or NULL */
};

/* Local dates, both inside, as days since the epoch. */
struct ebb_blackout {
    int64_t first_day, last_day;
};
#define EBB_POLICY_BLACKOUTS_MAX 366

struct ebb_guard {
    enum ebb_overlap overlap;
    int64_t min_interval_ms; /* 0: none */
    int64_t timeout_ms;      /* 0: none */
    bool ignore_own;         /* default true */
    bool stop_in_quiet;
    const struct ebb_quiet *quiet;
    size_t quiet_count;
    const struct ebb_blackout *blackouts; /* of the binding */
    size_t blackout_count;
    const struct ebb_tz *blackout_tz;
    /* limits of one run; 0 = not given */
    int64_t deletes_max_files;
    double deletes_max_share;
    int64_t deletes_max_bytes;
    enum ebb_exceed deletes_on_exceed;
    int64_t rewrites_max_files;
    int64_t rewrites_max_bytes;
    enum ebb_exceed rewrites_on_exceed;
    const char *fleet_slot; /* NULL: none */
    int64_t fleet_max_running;
    bool has_backoff;
    int64_t backoff_after;
    int64_t backoff_first_ms;
    double backoff_factor;
    int64_t backoff_max_ms;
    int64_t pause_after; /* 0: never */
};

/* A policy with the parameters of one table. Immutable; must not outlive the policy. */
struct ebb_settings;
/* overrides: map of parameter name to value as written in the binding, or NULL; properties: the table's, or NULL. What
 * counts: override, else property, else default. EBB_ECONFIG names the parameter or property that is wrong. */
int ebb_settings_new(const struct ebb_policy *policy, const struct ebb_value *overrides,
                     const struct ebb_value *properties, struct ebb_settings **out, struct ebb_err *err);
/* What a binding says of a policy; all borrowed. */
struct ebb_settings_site {
    const struct ebb_value *params;    /* overrides, as above; NULL none */
    const struct ebb_value *guard;     /* guards as in a policy, which may only be stricter; NULL none */
    const struct ebb_value *blackouts; /* list of texts "2026-12-24" or "2026-12-24..2027-01-02"; NULL none */
    const char *blackout_tz;           /* zone of their days; NULL: UTC */
};
/* The same for a binding: of each guard the stricter of policy and binding counts, quiet windows of both. EBB_ECONFIG
 * also where the binding would loosen a guard ("guard.min_interval: …"). */
int ebb_settings_new_bound(const struct ebb_policy *policy, const struct ebb_settings_site *site,
                           const struct ebb_value *properties, struct ebb_settings **out, struct ebb_err *err);
/* Check the guards of a binding by the schema of guards, without a policy. EBB_ECONFIG: "<where>: guard.…", with a
 * suggestion for an unknown key. */
int ebb_guard_check_site(const char *where, const struct ebb_value *guard, struct ebb_err *err);
/* Read blackouts. out: EBB_POLICY_BLACKOUTS_MAX entries. EBB_ECONFIG names the entry. */
int ebb_blackouts_parse(const struct ebb_value *list, struct ebb_blackout *out, size_t *count, struct ebb_err *err);
void ebb_settings_free(struct ebb_settings *settings);
/* Typed parameters as a map: durations in ms, sizes in bytes. */
const struct ebb_value *ebb_settings_get_params(const struct ebb_settings *settings);
size_t ebb_settings_get_trigger_count(const struct ebb_settings *settings);
const struct ebb_trigger *ebb_settings_get_trigger(const struct ebb_settings *settings, size_t index);
const struct ebb_guard *ebb_settings_get_guard(const struct ebb_settings *settings);
/* Whether the `where` function of an event trigger takes an event (a map); without one every event is. Runs in a
 * sandbox of its own, with the gas of the header phase. Errors as of a decision: EBB_EPOLICY_…. */
int ebb_policy_filter_event(const struct ebb_policy *policy, size_t trigger, const struct ebb_value *event, bool *out,
                            struct ebb_err *err);
/* min_interval after runs that changed nothing: from the fifth of them in a row on each further one doubles it, up to 8
 * times. In a row are the latest runs of the facts (decide.h) that are a success and not `changed`; a success that
 * changed something, or of which that is not known, ends the row, as does any other run that changed something; else
 * failed, partial, observed and running ones neither count nor end it. */
struct ebb_interval {
    int64_t ms; /* that counts; 0: the guard has none */
    int doubled;
    int runs; /* that changed nothing, in a row; no more than EBB_GUARD_IDLE_MAX are counted */
};
#define EBB_GUARD_IDLE_FROM 5
#define EBB_GUARD_IDLE_MAX 7
void ebb_guard_interval(const struct ebb_guard *guard, const struct ebb_value *facts, struct ebb_interval *out);
/* Whether an instant is quiet. flags: map of site flag to boolean, or NULL (none is set). */
bool ebb_guard_is_quiet(const struct ebb_guard *guard, const struct ebb_value *flags, int64_t at_ms);
/* Whether an instant lies on a date of the blackouts. */
bool ebb_guard_is_blackout(const struct ebb_guard *guard, int64_t at_ms);
/* The first instant at or after at_ms that is neither quiet nor on a blackout date; false when there is none within 15
 * days (days of blackouts not counted). */
bool ebb_guard_next_free(const struct ebb_guard *guard, const struct ebb_value *flags, int64_t at_ms, int64_t *out_ms);
/* The same, telling what was in the way. */
#define EBB_HELD_QUIET 1u
#define EBB_HELD_BLACKOUT 2u
bool ebb_guard_wait(const struct ebb_guard *guard, const struct ebb_value *flags, int64_t at_ms, int64_t *out_ms,
                    unsigned *by);

#endif
