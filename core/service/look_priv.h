/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of a look: the looker, and one policy on one table.
 */
#ifndef EBB_SERVICE_LOOK_PRIV_H
#define EBB_SERVICE_LOOK_PRIV_H

#include "io/store_jobs.h"
#include "service/look.h"
#include "service/pass_question_priv.h"
#include "service/schedule.h"

struct ebb_looker {
    struct ebb_workspace *ws;
    struct ebb_site *site;
    struct ebb_metrics *metrics;
    struct ebb_engine *engine;
    struct ebb_evaluator *evaluator;
    struct ebb_generation *generation; /* whose policies the evaluator and the fleet know, with a reference; or NULL */
    struct ebb__fleet fleet;
    struct ebb_strs bundles; /* that the store is known to have */
    struct ebb__look_kept *kept;
    size_t kept_count;
    int64_t kept_ms; /* elapsed clock */
};
/* Let the evaluator and the fleet know the policies of a generation, which outlives their use. */
int ebb__looker_use(struct ebb_looker *looker, const struct ebb_generation *generation, struct ebb_err *err);

/* The settings of a binding for a table with these properties. Borrowed until the next call for the binding. */
int ebb__look_settings(struct ebb_looker *looker, const struct ebb_bound *bound, const struct ebb_value *properties,
                       const struct ebb_settings **out, struct ebb_err *err);
void ebb__look_settings_forget(struct ebb_looker *looker);

/* Told of each policy that was judged; job: what was made of it, or NULL. Borrowed. */
typedef void ebb__look_cb(void *data, const struct ebb_pass_report *report, const struct ebb_job_record *job);

/* How a look goes. */
struct ebb__look_way {
    const struct ebb_generation *generation;
    const char *policy; /* only this one; NULL all */
    bool is_dry;        /* nothing is taken: only decisions are recorded, and that a policy became active */
    const struct ebb_strs *paused;
    bool is_paused;
    ebb__look_cb *told;
    void *data;
    const char *owner, *occurrence; /* asked for by hand; as in struct ebb_look_options */
    bool plan_only;
};
/* Look at one table; what is to be written is put into the store (held by the caller). overlaps -1: unknown. Errors as
 * of ebb_look_tables. */
int ebb__look_table(struct ebb_looker *looker, const struct ebb__look_way *way, const struct ebb_table_ref *ref,
                    int64_t overlaps, struct ebb_look *look, struct ebb_err *err);
/* Whether a policy (NULL: any) takes a table by its name. */
bool ebb__look_is_for(const struct ebb_generation *generation, const char *policy, const struct ebb_table_ref *ref);
/* Greater for what is graver, 0 for none. */
int ebb__look_gravity(enum ebb_error error);
/* Whether an error ends the whole look, not only that at one table. */
bool ebb__look_is_fatal(int rc);

/* So many tell what can be due; a success before them is looked for when it matters. */
#define EBB__LOOK_LATEST_RUNS 10

/* One policy on one table. */
struct ebb__look_step {
    struct ebb_looker *looker;
    const struct ebb__look_way *way;
    const struct ebb_bound *bound;
    const struct ebb_table *table;
    struct ebb_facts_options options;
    const struct ebb_value *base;  /* of the table, without a policy */
    const struct ebb_value *facts; /* with the latest runs; with all of them once something is due */
    struct ebb_value *full;        /* owned: the latter */
    const struct ebb_settings *settings;
    struct ebb_schedule schedule;
    struct ebb_schedule before; /* as the store has it */
    bool is_renamed;            /* the store has it under another name */
    struct ebb_due due;
    struct ebb__question question;
    struct ebb__answer answer; /* the one before */
    bool is_unchanged;         /* and it still holds */
    struct ebb_decision *decision;
    char id[40]; /* of the decision */
    struct ebb_pass_report report;
    int64_t wake_ms;
};
#define EBB__LOOK_BY_HAND (SIZE_MAX - 1) /* as the trigger of what is due */
/* Judge; reports exactly once, also when it fails. Counts go to look. */
int ebb__look_judge(struct ebb__look_step *s, struct ebb_look *look, struct ebb_err *err);
/* Carry a decision on: a job, or the record of a run that does nothing; and tell of it. */
int ebb__look_act(struct ebb__look_step *s, struct ebb_look *look, struct ebb_err *err);
/* Tell of it; rc: how it ended, with err. */
void ebb__look_tell(struct ebb__look_step *s, const struct ebb_job_record *job, int rc, const struct ebb_err *err);

#endif
