/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs in the store: what was decided or asked for, from being queued to its end. A job is recorded before anything
 * acts. At most one job per occurrence, whoever inserts it.
 */
#ifndef EBB_IO_STORE_JOBS_H
#define EBB_IO_STORE_JOBS_H

#include "io/store.h"

enum ebb_job_state {
    EBB_JOB_QUEUED,
    EBB_JOB_STARTED,
    EBB_JOB_SUCCEEDED,
    EBB_JOB_FAILED,
    EBB_JOB_CANCELLING,
    EBB_JOB_CANCELLED,
    EBB_JOB_UNKNOWN /* was started when the process died; resolved at the next start */
};
/* "queued", "started", …; of_name gives false for another text. */
const char *ebb_job_state_name(enum ebb_job_state state);
bool ebb_job_state_of(const char *name, enum ebb_job_state *out);
bool ebb_job_state_is_final(enum ebb_job_state state); /* succeeded, failed, cancelled */
/* The states that are not final, as bits of a filter. */
#define EBB_JOBS_ACTIVE                                                                                                \
    (1u << EBB_JOB_QUEUED | 1u << EBB_JOB_STARTED | 1u << EBB_JOB_CANCELLING | 1u << EBB_JOB_UNKNOWN)

struct ebb_job_record {
    const char *id;   /* "job-" and 19 digits, ascending with time: ebb_store_new_job_id */
    const char *kind; /* remove-orphan-files, expire-snapshots, rewrite-data-files, rewrite-manifests, update-stats,
                       * apply, restore, purge, shell */
    const char *template_;  /* job template that it was started from, "" none */
    const char *table;      /* dotted name, "" none */
    const char *uuid;       /* "" unknown */
    const char *policy;     /* "" by hand */
    const char *occurrence; /* unique when not "": "<policy> <uuid> <trigger> <nominal ms>" */
    const char *parent;     /* decision or plan id, "" none */
    enum ebb_job_state state;
    int64_t priority;                                                                /* greater first */
    int64_t attempt;                                                                 /* from 1 once started */
    int64_t queued_ms, not_before_ms, started_ms, changed_ms, ended_ms, deadline_ms; /* 0 none */
    const char *plan, *run;     /* what came of it, "" nothing yet */
    const char *code, *message; /* of the failure, "" none; masked */
    const char *owner;          /* who asked: user or policy */
    const char *json;           /* what to do: the job's own configuration */
};
void ebb_store_new_job_id(struct ebb_store *store, int64_t now_ms, char out[40]);
/* Insert. *is_new false: its occurrence has a job already, nothing is changed. EBB_EEXIST: the id is taken. May be held
 * (ebb_store_hold): then *is_new is true and what is not new is left out at the release. */
int ebb_store_put_job(struct ebb_store *store, const struct ebb_job_record *job, bool *is_new, struct ebb_err *err);
/* Change a job whose state is one of `from` (bits 1 << state): state, attempt, times, plan, run, code, message are
 * taken from `job`, the others stay. EBB_ERUN_STATE when it is in another state: nothing is changed; EBB_ENOT_FOUND. */
int ebb_store_set_job(struct ebb_store *store, const struct ebb_job_record *job, unsigned from, struct ebb_err *err);
typedef int ebb_job_cb(void *data, const struct ebb_job_record *job, struct ebb_err *err);
int ebb_store_get_job(struct ebb_store *store, const char *id, ebb_job_cb *cb, void *data, struct ebb_err *err);
struct ebb_job_filter {
    const char *table;                                  /* glob, NULL all */
    const char *uuid, *policy, *kind, *template_, *run; /* exact, NULL all */
    unsigned states;                                    /* bits, 0 all */
    int64_t since_ms;                                   /* queued at or after; 0 all */
    const char *after; /* ids after this (before it with newest_first); NULL from the beginning */
    bool newest_first;
    int64_t limit; /* 0 all */
};
/* By id, that is by age. */
int ebb_store_list_jobs(struct ebb_store *store, const struct ebb_job_filter *filter, ebb_job_cb *cb, void *data,
                        struct ebb_err *err);
/* Jobs of each state; of a template when it is not NULL. */
int ebb_store_count_jobs(struct ebb_store *store, const char *template_, int64_t counts[EBB_JOB_UNKNOWN + 1],
                         struct ebb_err *err);
/* Jobs that somebody asked for (of no occurrence of a policy) and that are not final: how many, and bytes of their
 * json. */
int ebb_store_count_asked_jobs(struct ebb_store *store, int64_t *count, int64_t *bytes, struct ebb_err *err);
/* Forget final jobs of a template (NULL: all) that ended before an instant. */
int ebb_store_drop_jobs(struct ebb_store *store, const char *template_, int64_t before_ms, int64_t *dropped,
                        struct ebb_err *err);

#endif
