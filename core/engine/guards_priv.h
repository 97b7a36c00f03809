/* SPDX-License-Identifier: Apache-2.0
 *
 * The guards: C code that looks at every decision after the script and can only make it more careful.
 */
#ifndef EBB_ENGINE_GUARDS_PRIV_H
#define EBB_ENGINE_GUARDS_PRIV_H

#include "engine/eval_priv.h"

#define EBB__GUARDS_MAX 16

struct ebb__guard_row {
    const char *name; /* static: "guard.floor" */
    enum ebb__truth truth;
    bool has_until;
    int64_t until_ms;
    char text[200]; /* what was compared, "" none */
};

struct ebb__guards {
    struct ebb__guard_row rows[EBB__GUARDS_MAX];
    size_t count;
    enum ebb_verdict verdict;
    int64_t until_ms;
    const char *by;     /* "policy" or the name of a guard */
    int64_t timeout_ms; /* of the run: the guard's, or earlier where quiet hours stop it; 0 none */
    bool has_run_out;   /* of memory: the verdict says nothing */
};

/* Whether the policy runs on this table at all; fills the first row. */
bool ebb__guard_target(struct ebb__guards *g, const struct ebb_policy *policy, const struct ebb_decide_input *input);
/* Judge what the script wants; the result is in g->verdict, until_ms, by. Partitions beyond the limits of rewrites are
 * cut off the action. */
void ebb__guards_apply(struct ebb__guards *g, struct ebb__eval *e);

/* Add a row; the last one is used again when there are too many. */
struct ebb__guard_row *ebb__guard_add(struct ebb__guards *g, const char *name, bool is_good);
bool ebb__guard_is_manual(const struct ebb__eval *e);

/* What may never be: guards_safe.c. */
bool ebb__guard_floor(struct ebb__guards *g, const struct ebb__eval *e);
bool ebb__guard_location(struct ebb__guards *g, const struct ebb__eval *e);

/* What has to wait (guards_wait.c). */
struct ebb__wait {
    const char *by; /* the first guard that holds back, NULL none */
    bool has_end;   /* false: it can't be told when all are free */
    int64_t until_ms;
};
/* Rows of min_interval, backoff, quiet, blackout. override_quiet: quiet hours don't count. */
void ebb__guard_waits(struct ebb__guards *g, const struct ebb__eval *e, bool override_quiet, struct ebb__wait *out);
/* When quiet hours or a blackout begin, after now; INT64_MAX: they don't. */
int64_t ebb__guard_next_stop(const struct ebb__eval *e, bool override_quiet);

/* What runs beside (guards_room.c): rows of overlap, fleet, pause. */
bool ebb__guard_overlap(struct ebb__guards *g, const struct ebb__eval *e);
bool ebb__guard_fleet(struct ebb__guards *g, const struct ebb__eval *e);
bool ebb__guard_pause(struct ebb__guards *g, const struct ebb__eval *e);

/* How much (guards_limits.c). */
void ebb__guard_deletes(struct ebb__guards *g, const struct ebb__eval *e);
bool ebb__guard_rewrites(struct ebb__guards *g, struct ebb__eval *e);

#endif
