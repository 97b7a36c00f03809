/* SPDX-License-Identifier: Apache-2.0
 *
 * A look at a table: everything that is bound to it is judged once: what is due, what the policy says, what guards say.
 * A decision to run becomes a job in the store (queued), in the same transaction in which its occurrence is taken;
 * nothing is carried out here. `ebb run` looks and then carries out; the daemon looks when something is due or changed.
 */
#ifndef EBB_SERVICE_LOOK_H
#define EBB_SERVICE_LOOK_H

#include "io/catalog.h"
#include "service/generation.h"
#include "service/metrics.h"
#include "service/workspace.h"

struct ebb_looker; /* of one thread: workspace, engine, evaluator */
/* workspace is borrowed and connected. scripts_dir NULL: that of ebb_pass_data_dir. */
int ebb_looker_new(struct ebb_workspace *ws, const char *scripts_dir, struct ebb_metrics *metrics,
                   struct ebb_looker **out, struct ebb_err *err);
/* Whether the scripts are there that turn decisions into jobs. EBB_EIO, EBB_ENOT_FOUND, EBB_ECONFIG. */
int ebb_looker_check(struct ebb_err *err);
void ebb_looker_free(struct ebb_looker *looker);

/* What became of a table. */
struct ebb_look {
    int64_t wake_ms;     /* look again then even if nothing changed; INT64_MAX never. What waits for a run to end
                          * (overlap = "queue_one") waits for no time: look again when a job of the table ended */
    bool waits_for_slot; /* that others hold: look again when one of their jobs ended */
    int64_t jobs;        /* put into the store */
    int64_t decisions;   /* recorded */
    int64_t unchanged;
    char uuid[40];          /* "" unknown */
    char *location;         /* URI, NULL unknown; owned */
    char *metadata_uri;     /* that was looked at; owned */
    struct ebb_err problem; /* of the table or of one policy on it, the gravest; EBB_OK none: told, not fatal */
};
void ebb_look_fini(struct ebb_look *look);
struct ebb_look_options {
    const char *policy;            /* only this one; NULL all bound ones */
    int64_t overlaps;              /* other known tables that overlap; -1 unknown */
    const int64_t *overlaps_each;  /* the same for each of refs, instead; NULL none */
    bool is_paused;                /* judge triggers, start nothing: what is due stays pending as one */
    bool is_after_end;             /* jobs ended just now: who holds slots is read anew */
    const struct ebb_strs *paused; /* the same for "all", "policy NAME", "table NAME"; NULL none */
    /* Asked for by hand, by this owner (NULL: not): decided now, trigger "manual", whatever is due; the schedule stays
     * as it is. The job has this occurrence ("" none) and is only planned when plan_only. */
    const char *owner, *occurrence;
    bool plan_only;
    /* Told of each policy that was judged (ebb_pass_report without plan and run); NULL: nobody. */
    void (*report)(void *data, const char *policy, const char *table, const char *verdict, const char *status,
                   const char *decision, const char *job, const struct ebb_err *error);
    void *data;
};
/* Look at many tables, and write all that came of it in one transaction. looks has room for count. An error of the
 * store (nothing was written, nothing taken, no job is there), of memory, or EBB_ECANCELLED; what is wrong with a table
 * is its own problem. */
int ebb_look_tables(struct ebb_looker *looker, struct ebb_generation *generation, const struct ebb_table_ref *refs,
                    size_t count, const struct ebb_look_options *options, struct ebb_look *looks, struct ebb_err *err);

#endif
