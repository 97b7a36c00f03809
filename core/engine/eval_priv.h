/* SPDX-License-Identifier: Apache-2.0
 *
 * One evaluation of decide(t, ctx): what the bindings of the decision phase read and fill. All of it is owned on the C
 * side, so a Lua error may leave at any point.
 */
#ifndef EBB_ENGINE_EVAL_PRIV_H
#define EBB_ENGINE_EVAL_PRIV_H

#include "engine/changes_priv.h"
#include "engine/decide.h"
#include "engine/settings_priv.h"

#define EBB__CHECKS_MAX 500
#define EBB__CHECKS_EACH_MAX 400 /* check_each leaves room for the others */
#define EBB__NODES_MAX 1000
#define EBB__CHILDREN_MAX 4000
#define EBB__HEIGHT_MAX 16
#define EBB__NAME_MAX 64
#define EBB__NOTES_MAX 64
#define EBB__NOTES_BYTES ((size_t)4096)
#define EBB__RANKED_MAX 100 /* rows of a ranking that are recorded */

enum ebb__truth { EBB__FALSE, EBB__TRUE, EBB__UNKNOWN };
const char *ebb__truth_name(enum ebb__truth truth);
/* Three-valued combination; op: 'A' all, 'O' any, 'N' none. */
enum ebb__truth ebb__truth_join(char op, const enum ebb__truth *parts, size_t count);

/* A check, or a combination of such. */
struct ebb__node {
    char op; /* 'C' check, 'A' all, 'O' any, 'N' none */
    enum ebb__truth truth;
    char name[EBB__NAME_MAX + 1]; /* of a check */
    int first, count;             /* of the parts, in eval->children */
    int height;
};

struct ebb__eval {
    const struct ebb_policy *policy;
    const struct ebb_settings *settings;
    const struct ebb_decide_input *input;
    const struct ebb_value *table;             /* of the facts, or NULL */
    struct ebb_value *ctx;                     /* now, trigger, params, fleet, runs */
    struct ebb_value *events;                  /* see ebb__eval_events */
    bool has_events;                           /* `events` is made */
    struct ebb_value *trace;                   /* map: checks, notes, ranked: lists for the record */
    struct ebb_value *checks, *notes, *ranked; /* in trace */
    struct ebb__field ctx_fields[6];
    struct ebb__shape ctx_shape;
    struct ebb__changes changes;
    int node_count, child_count;
    size_t note_bytes;
    int64_t dropped_notes, dropped_checks;
    int64_t gas, mem_peak;
    /* what decide returned */
    enum ebb_verdict verdict;
    int node; /* -1 none */
    int64_t until_ms;
    bool override_quiet;
    struct ebb_value *action; /* owned */
    char why[512];
    int rc;             /* of taking the result */
    const char *state;  /* "image" or "collected": what the script ran in */
    const char *tzdata; /* version of the zone database; of the evaluator */
    struct ebb_err err;
    /* What stands above is zeroed for each evaluation; below is what is large and filled only as far as it is counted.
     */
    struct ebb__reads reads;
    struct ebb__node nodes[EBB__NODES_MAX];
    int children[EBB__CHILDREN_MAX];
};

/* Fill from policy, settings and input; reads no clock. EBB_ENOMEM, EBB_ELIMIT. */
int ebb__eval_init(struct ebb__eval *e, const struct ebb_policy *policy, const struct ebb_settings *settings,
                   const struct ebb_decide_input *input, struct ebb_err *err);
void ebb__eval_fini(struct ebb__eval *e);
/* All events by time, made when first asked for; NULL when none are known. EBB_ENOMEM, EBB_ELIMIT. */
int ebb__eval_events(struct ebb__eval *e, const struct ebb_value **out, struct ebb_err *err);
/* The header part in a state that was just opened: then decide is at hand. */
int ebb__eval_load(struct ebb__sandbox *sb, const struct ebb_policy *policy, struct ebb_err *err);
/* Call decide in a loaded state; the result is in *e. */
int ebb__eval_call(struct ebb__eval *e, struct ebb__sandbox *sb, struct ebb_err *err);
/* Both in a collected state of its own; sb is room for it, pool an empty pool with reuse. lines: bitmap of executed
 * lines, or NULL. */
int ebb__eval_run(struct ebb__eval *e, struct ebb__sandbox *sb, struct ebb__pool *pool, uint8_t *lines,
                  size_t line_count, struct ebb_err *err);
struct ebb__eval *ebb__eval_of(lua_State *L);

/* History (history.c), from the facts alone. */
#define EBB__OWN_RUN_KEY "ebb.run-id" /* in the summary of snapshots that maintenance made */
/* Whether the facts tell of runs at all: an empty list is a policy that never ran, none is a history that is not known.
 */
bool ebb__runs_is_known(const struct ebb_decide_input *input);
const struct ebb_value *ebb__runs_last(const struct ebb_decide_input *input, bool success_only);
int64_t ebb__runs_failed_in_a_row(const struct ebb_decide_input *input);
/* Latest runs in a row that changed nothing (ebb_guard_interval), up to EBB_GUARD_IDLE_MAX; *first: index of the oldest
 * of them in the facts, SIZE_MAX none. */
int ebb__runs_idle(const struct ebb_value *facts, size_t *first);
bool ebb__runs_is_running(const struct ebb_decide_input *input);
/* The events of the facts and the ones that follow from the snapshots, by time; *out NULL when neither is known. own:
 * also those of maintenance. */
int ebb__events_make(const struct ebb_decide_input *input, bool own, struct ebb_value **out, struct ebb_err *err);

/* Facts (bind_facts.c): push t and ctx. */
EBB_LJMP void ebb__facts_push(lua_State *L);
extern const struct ebb__shape ebb__shape_table, ebb__shape_partition, ebb__shape_trigger;
extern const struct ebb__shape ebb__shape_event, ebb__shape_run, ebb__shape_events, ebb__shape_runs;
/* How long the answer holds (changes.c). Something turns at an instant; or after_ms later than from_ms. */
void ebb__changes_at(struct ebb__eval *e, int64_t at_ms);
void ebb__changes_in(struct ebb__eval *e, int64_t from_ms, int64_t after_ms);
/* The script reads something that moves with the clock; or, moves false, that does so elsewhere. */
EBB_LJMP void ebb__changes_read(lua_State *L, enum ebb__moving what, bool moves);
/* A check of this name was made; its operands are at a and a + 2. */
void ebb__changes_check(lua_State *L, const char *name, int a, const char *op);
/* When the evaluation is over: until when its answer holds, as ebb_decision_get_holds_until_ms. */
int64_t ebb__changes_end(const struct ebb__eval *e);
EBB_LJMP struct ebb__node *ebb__check_node(lua_State *L, int index, const char *what);
/* Take what decide returned (bind_result.c); never throws. */
void ebb__result_take(lua_State *L, int index, struct ebb__eval *e);
/* The action at index (bind_action.c), or NULL. */
const struct ebb_value *ebb__action_test(lua_State *L, int index);
/* Put the operand at index into a record entry under key; never throws. other: index of the operand it was compared
 * with. */
void ebb__operand_put(lua_State *L, int index, int other, const struct ebb__eval *e, struct ebb_value *entry,
                      const char *key);

#endif
