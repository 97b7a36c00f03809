/* SPDX-License-Identifier: Apache-2.0
 *
 * The store: one SQLite file `ebb.db` in the state folder (mode 0700/0600), WAL, synchronous=FULL, with numbered
 * migrations. Keeps plans, runs, the journal of file moves, decisions, and schedule state. A store that can't be
 * written stops the work: every put is durable on return or an error. A newer schema than this program knows is
 * refused. One struct per thread; several processes may share the file (busy timeout 10 s). Records carry key columns
 * plus a JSON document.
 */
#ifndef EBB_IO_STORE_H
#define EBB_IO_STORE_H

#include "base/buf.h"

struct ebb_store;
/* Open or make it. After an unclean stop (a WAL left behind, and no other process has it open: told by a lock on
 * `ebb.db.lock`) the integrity is checked: EBB_ESTORE_CORRUPT names the file and what to do. EBB_ESTORE (retryable when
 * busy), EBB_ENOSPACE, EBB_EPERMISSION, EBB_EIO. */
int ebb_store_open(const char *state_dir, struct ebb_store **out, struct ebb_err *err);
void ebb_store_close(struct ebb_store *store);
/* The folder's real, absolute path. */
const char *ebb_store_dir(const struct ebb_store *store);
/* From an instant of ebb_clock_elapsed_ms on statements end with EBB_ECANCELLED, what they wrote undone; 0: never. For
 * whoever reads for others, who decide how much. */
void ebb_store_limit(struct ebb_store *store, int64_t until_ms);
/* The random seed of this state folder (drawn once at creation): for fingerprints. */
uint64_t ebb_store_seed(const struct ebb_store *store);
/* A fresh id: prefix + "-" + 26 characters (ULID, Crockford base32: time then randomness), e.g. "p-01J…". Sorts by
 * time. */
void ebb_store_new_id(struct ebb_store *store, const char *prefix, int64_t now_ms, char out[40]);

/* Records of kind plan, run, decision. Strings are copied in and out. */
enum ebb_record_kind { EBB_RECORD_PLAN, EBB_RECORD_RUN, EBB_RECORD_DECISION };
struct ebb_record {
    const char *id;
    const char *table;  /* "catalog.ns.name" */
    const char *uuid;   /* table uuid, "" unknown */
    const char *policy; /* "" none */
    const char *status; /* plan: ready|held|empty|applied|rejected; run:
                           started|done|partial|failed|interrupted|restored|purged; decision: verdict */
    int64_t at_ms;      /* creation */
    int64_t end_ms;     /* runs: end, 0 while running */
    const char *parent; /* run: plan id; plan: decision id; "" none */
    const char *json;   /* the whole record */
};
/* Insert or replace by (kind, id). */
int ebb_store_put(struct ebb_store *store, enum ebb_record_kind kind, const struct ebb_record *record,
                  struct ebb_err *err);
typedef int ebb_record_cb(void *data, const struct ebb_record *record, struct ebb_err *err);
/* One record, through cb. An id may be given by a unique prefix of at least 6 characters. EBB_ENOT_FOUND. */
int ebb_store_get(struct ebb_store *store, enum ebb_record_kind kind, const char *id, ebb_record_cb *cb, void *data,
                  struct ebb_err *err);
struct ebb_record_filter {
    const char *table;  /* glob ('*' any run of characters), NULL = all */
    const char *uuid;   /* NULL = all */
    const char *policy; /* exact, NULL = all */
    const char *status; /* exact, NULL = all */
    const char *parent; /* exact, NULL = all */
    int64_t since_ms;   /* 0 = all */
    bool newest_first;
    int64_t limit;     /* 0 = all */
    const char *after; /* only records after this id of after_ms in the order asked for; NULL = from the beginning */
    int64_t after_ms;
};
/* By (at_ms, id). One record at a time is held, and cb may write to the store; a record that is put meanwhile is given
 * or not. filter NULL: all. */
int ebb_store_list(struct ebb_store *store, enum ebb_record_kind kind, const struct ebb_record_filter *filter,
                   ebb_record_cb *cb, void *data, struct ebb_err *err);
/* The latest runs of a policy on a table, newest first, at most limit: what schedules and guards ask for. with_json:
 * with their documents. cb must not use the store. */
struct ebb_run_head {
    const char *id, *status;
    int64_t at_ms, end_ms;
    const char *json; /* NULL: not asked for */
};
typedef int ebb_run_cb(void *data, const struct ebb_run_head *run, struct ebb_err *err);
int ebb_store_list_runs(struct ebb_store *store, const char *policy, const char *uuid, int64_t limit, bool with_json,
                        ebb_run_cb *cb, void *data, struct ebb_err *err);
/* Claim a plan for a run: status ready|held -> applied and insert the run, in one transaction; EBB_EPLAN_APPLIED when
 * it was applied already (the plan id need not be in the store: a plan file from elsewhere is recorded by this call).
 * EBB_ERUN_STATE for a stored plan of another status. */
int ebb_store_claim_plan(struct ebb_store *store, const struct ebb_record *plan, const struct ebb_record *run,
                         struct ebb_err *err);

/* Change the status of a record that has one of `from` (NULL at the end); its document stays. EBB_ERUN_STATE when it
 * has another, EBB_ENOT_FOUND. A plan that is made "rejected" so can't be claimed any more. */
int ebb_store_set_status(struct ebb_store *store, enum ebb_record_kind kind, const char *id, const char *const *from,
                         const char *to, struct ebb_err *err);

/* The journal: what a run is about to do to each file, written before it is done. */
enum ebb_move_state {
    EBB_MOVE_PLANNED, /* recorded; the world may or may not have changed */
    EBB_MOVE_MOVED,   /* lies in quarantine */
    EBB_MOVE_BACK,    /* was moved and put back (became reachable, or restored) */
    EBB_MOVE_SKIPPED, /* never moved; why tells */
    EBB_MOVE_FAILED,
    EBB_MOVE_DELETED, /* removed for good (purge, --delete) */
    EBB_MOVE_CONFLICT /* can't go back: a new file has the old name */
};
struct ebb_move {
    int64_t batch;
    int64_t seq;           /* unique in the run, from 0 */
    struct ebb_str path;   /* relative to the table location, raw bytes */
    struct ebb_str target; /* relative to the quarantine folder of the run */
    const char *id;        /* identity as planned */
    uint64_t size_bytes;
    int64_t mtime_ns;
    enum ebb_move_state state;
    const char *why; /* "" none */
};
/* Insert a batch as it is given (state PLANNED normally), one transaction, durable. */
int ebb_store_put_moves(struct ebb_store *store, const char *run, const struct ebb_move *moves, size_t count,
                        struct ebb_err *err);
/* Set state and why of moves by seq, one transaction, durable. EBB_ESTORE, and nothing is set, when one is not in the
 * journal. */
int ebb_store_set_moves(struct ebb_store *store, const char *run, const struct ebb_move *moves, size_t count,
                        struct ebb_err *err);
typedef int ebb_move_cb(void *data, const struct ebb_move *move, struct ebb_err *err);
/* All moves of a run by seq; state -1 = all, else only that state. cb may call ebb_store_set_moves. */
int ebb_store_list_moves(struct ebb_store *store, const char *run, int state, ebb_move_cb *cb, void *data,
                         struct ebb_err *err);

/* Small named values (schedule state, caches): scope and key to JSON text. value NULL deletes. ebb_store_get_value
 * appends to out; *found tells. */
int ebb_store_put_value(struct ebb_store *store, const char *scope, const char *key, const char *value,
                        struct ebb_err *err);
int ebb_store_get_value(struct ebb_store *store, const char *scope, const char *key, struct ebb_buf *out, bool *found,
                        struct ebb_err *err);

/* Gather writes: until the release puts of records, values and jobs are kept in memory (and not seen by reads) and are
 * then written in one durable transaction, all or none. For many small writes of one step, such as looking at a hundred
 * tables. Not nested. Everything else (claims, moves) is written at once, as ever, and so are values of more than 1
 * MiB: caches, which belong to no step. EBB_ELIMIT when more than 256 MiB are gathered. Whatever a release gives,
 * nothing is gathered afterwards. */
int ebb_store_hold(struct ebb_store *store, struct ebb_err *err);
int ebb_store_release(struct ebb_store *store, struct ebb_err *err);
/* Forget what was gathered. */
void ebb_store_drop_held(struct ebb_store *store);

/* Keep the store bounded: decisions that only skipped, other decisions, final jobs (beyond their number: those that
 * somebody asked for), events that are older than their time or beyond their number go, oldest first. With the
 * decisions go plans that are empty (not the newest of a table), runs that touched no file (not the latest 100 of a
 * policy on a table), and the journals of runs of which nothing can lie in quarantine any more. Everything else stays:
 * plans that can be applied or were, decisions of plans that wait and of jobs that are not final, runs and journals
 * that can be gone on with, restored or purged. 0 in a bound: none. *dropped gets how many of all. */
struct ebb_retention {
    int64_t skips_max, skips_ms;
    int64_t decisions_ms, jobs_ms, events_ms, events_max, jobs_max;
};
int ebb_store_prune(struct ebb_store *store, int64_t now_ms, const struct ebb_retention *keep, int64_t *dropped,
                    struct ebb_err *err);
/* PRAGMA integrity_check now. EBB_ESTORE_CORRUPT. */
int ebb_store_check(struct ebb_store *store, struct ebb_err *err);

/* Who works on this state folder: one process at a time (a lock on ebb.serve.lock, given back by the kernel when the
 * process dies). Each taking raises the epoch, which is kept in the store. EBB_ELOCKED: another process has it (its pid
 * in the message). The lock lives until the store is closed or it is given back. */
int ebb_store_lead(struct ebb_store *store, int64_t *epoch, struct ebb_err *err);
void ebb_store_resign(struct ebb_store *store);

#endif
