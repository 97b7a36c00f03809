/* SPDX-License-Identifier: Apache-2.0
 *
 * One decision: a policy, the facts of one table, an instant. Runs decide(t, ctx) in a fresh sandboxed state under
 * limits, then the guards in C, and yields a verdict with its record. Nothing is read but the input (and zone files);
 * nothing is done.
 */
#ifndef EBB_ENGINE_DECIDE_H
#define EBB_ENGINE_DECIDE_H

#include "engine/policy.h"

#define EBB_DECIDE_GAS ((int64_t)2000000)
#define EBB_DECIDE_FLOOR_MS ((int64_t)24 * 3600 * 1000)
#define EBB_DECIDE_DEFER_MAX_MS ((int64_t)366 * 24 * 3600 * 1000)

enum ebb_mode { EBB_MODE_OBSERVE, EBB_MODE_APPROVE, EBB_MODE_ENFORCE };

/* `facts` is a map; every part may be missing, which makes checks on it unknown. Instants and durations are integers
 * (ms).
 *
 * - table: catalog, namespace, name, uuid, location, format_version; properties (map of texts); spec, sort_order,
 * schema (plain data); snapshots: list, oldest first, of {id, parent_id, sequence, at, operation, summary};
 * current_snapshot: one of these; refs: map of name to {snapshot_id, type}; stats: {data_files, bytes, delete_files,
 * delete_records, small_files, manifests, snapshots, longest_write, as_of, snapshot_id, orphans: {files, bytes, at},
 * custom: map of name to plain data}
 * (`at` is when the listing was made: scripts see `age`, now − at; a fixed `age` is taken where there is no `at`);
 * partitions: list of {key, spec_id, files, bytes, records, delete_files, delete_records, avg_file, max_file,
 * last_write}; location_overlaps.
 *
 * - events: list of {id, type, at, source, …} of this table, in any order.
 *
 * - runs: list of {id, started, ended, outcome, changed, trigger, partitions, conflicts, …} of this policy on this
 *   table, oldest first; outcome is success, observed, failed, partial or running (ended missing); changed: whether it
 *   did anything to the table, missing where that is not known. An empty list: it never ran; none: the history is not
 *   known, and ctx.runs tells nil.
 *
 * - fleet: plain data; flags: map of site flag to boolean. */
struct ebb_decide_input {
    const struct ebb_value *facts;
    int64_t now_ms;
    int64_t active_since_ms;             /* when the policy became active on the table; 0: long ago */
    int64_t revised_ms;                  /* when this revision of the policy came to the table; 0: long ago. Failures
                                            from before it pause nothing */
    const struct ebb_value *trigger;     /* {kind, scheduled_for, missed, events}; NULL: {kind = "manual"} */
    const struct ebb_value *overrides;   /* parameters of the binding, or NULL; unused when settings is given */
    const struct ebb_value *guard;       /* guards of the binding, or NULL; unused when settings is given */
    const struct ebb_settings *settings; /* resolved for this table, or NULL: made here */
    enum ebb_mode mode;
    bool bound;                        /* a binding (or the user) names this table: a policy without target may run */
    bool allow_below_floor;            /* configured for this table: cutoffs younger than 24 h */
    bool allow_override_quiet;         /* the binding grants override_quiet */
    const struct ebb_value *blackouts; /* of the binding: list of texts "2026-12-24" or "2026-12-24..2027-01-02"; NULL
                                          none */
    const char *blackout_tz;           /* zone of their days; NULL = UTC */
    const char *id;                    /* decision id for the record, or NULL */
    int64_t gas;                       /* 0 = EBB_DECIDE_GAS */
    uint8_t *lines;      /* bitmap: executed lines of the policy's own file are set (line n: bit n); NULL none */
    size_t line_count;   /* bits in it */
    bool without_record; /* no record is written: only verdict, action, digest */
    bool with_inputs;    /* the record gets `inputs`: the facts that were read, enough to decide again (replay) */
};

enum ebb_verdict { EBB_VERDICT_RUN, EBB_VERDICT_SKIP, EBB_VERDICT_DEFER, EBB_VERDICT_REFUSED, EBB_VERDICT_ERROR };
/* "run", "skip", "defer", "refused", "error". */
const char *ebb_verdict_name(enum ebb_verdict verdict);

/* Limits that the run must keep (the guard's deletes and timeout); 0 = not given. */
struct ebb_fuses {
    int64_t max_files;
    double max_share;
    int64_t max_bytes;
    enum ebb_exceed on_exceed;
    int64_t timeout_ms;
};

struct ebb_decision;
/* Decide. When the policy goes wrong (EBB_EPOLICY_*) the call fails and *out is still a decision, verdict error, whose
 * record says so; after any other error (EBB_ECONFIG, EBB_ENOMEM, …) it is NULL. The caller frees. `refused` is no
 * error. */
int ebb_decide(const struct ebb_policy *policy, const struct ebb_decide_input *input, struct ebb_decision **out,
               struct ebb_err *err);
void ebb_decision_free(struct ebb_decision *decision);
enum ebb_verdict ebb_decision_get_verdict(const struct ebb_decision *decision);
/* defer: when to decide again; 0 when it waits for the end of the running run (overlap = "queue_one"). */
int64_t ebb_decision_get_until_ms(const struct ebb_decision *decision);
/* Name of the guard or "policy" that made the verdict. */
const char *ebb_decision_get_by(const struct ebb_decision *decision);
/* run and refused: the action, a map with "type" ("remove_orphan_files", …) and its arguments; else NULL. */
const struct ebb_value *ebb_decision_get_action(const struct ebb_decision *decision);
const struct ebb_fuses *ebb_decision_get_fuses(const struct ebb_decision *decision);
/* The decision record: one JSON line (no line feed), NUL terminated, borrowed. NULL when the input said
 * without_record. */
const char *ebb_decision_get_record(const struct ebb_decision *decision);

/* How long the answer holds while nothing that was read changes: the first later instant at which a check that moves
 * with the clock turns; INT64_MAX: the clock was not looked at; 0: it can't be told (the clock was looked at outside of
 * checks). */
int64_t ebb_decision_get_holds_until_ms(const struct ebb_decision *decision);
/* Digest ("sha256:…") over policy bundle, parameters, mode, engine, tzdata and all that was read, path by path, with
 * its value; the clock, and values that only move with it, are left out. Made when it is first asked for: all that the
 * input pointed to must still be there, unchanged. Borrowed; "" when memory ran out. */
const char *ebb_decision_get_digest(const struct ebb_decision *decision);
/* The same digest for a later input, from the paths of an earlier record ("reads"): equal means that the policy would
 * see the same. out: 80 bytes. */
int ebb_decide_digest(const struct ebb_policy *policy, const struct ebb_decide_input *input,
                      const struct ebb_value *reads, char out[80], struct ebb_err *err);
/* Facts that are read off manifests and were asked for although the input does not have them. */
#define EBB_LACKS_PARTITIONS 1u /* t.partitions */
#define EBB_LACKS_FILES 2u      /* t.stats: data_files … small_files, manifests */
#define EBB_LACKS_WRITES 4u     /* t.stats.longest_write */
unsigned ebb_decision_get_lacks(const struct ebb_decision *decision);

#endif
