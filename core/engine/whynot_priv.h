/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of whynot: the policy is evaluated at many instants (probes) with the same facts; what differs between two of
 * them turned in between, and halving finds the millisecond.
 */
#ifndef EBB_ENGINE_WHYNOT_PRIV_H
#define EBB_ENGINE_WHYNOT_PRIV_H

#include "engine/whynot.h"

#define EBB__PROBES_MAX 1500
#define EBB__PROBES_GAS ((int64_t)20000000) /* and no more once they cost this much */
#define EBB__PROBES_CPU_MS 1200             /* nor once they took this long: for what is slow at little gas */

/* An operand of a check as a number. */
struct ebb__operand {
    bool is_known, is_int, is_instant;
    int64_t whole; /* ints and instants */
    double real;   /* also of ints */
};
void ebb__operands_of(const struct ebb_value *check, int64_t now_ms, struct ebb__operand out[2]);

#define EBB__ABSENT 3 /* the check was not made there */
struct ebb__probe {
    int64_t at_ms;
    enum ebb_verdict verdict;
    int64_t until_ms; /* of a defer; 0 none */
    uint8_t *truths;  /* EBB__FALSE, …, EBB__ABSENT: of each check of the first probe */
};

struct ebb__why {
    struct ebb_evaluator *evaluator;
    const struct ebb_policy *policy;
    struct ebb_decide_input input;
    struct ebb_value *record; /* of the first probe */
    const struct ebb_value *checks;
    size_t check_count;
    int8_t *slopes;            /* of each check: 1, -1: a − b grows or shrinks as the clock goes; else 0 */
    struct ebb__probe *probes; /* by instant */
    size_t count;
    int64_t gas; /* that all of them took */
    int64_t cpu_end_ns;
    int64_t end_ms;
};
/* Evaluate at an instant; the record as a map in *record (the caller frees) and the decision's verdict and until in
 * *probe, without truths. A policy that goes wrong: verdict error, and *record is still set; the return value is the
 * policy's error. */
int ebb__why_evaluate(struct ebb__why *y, int64_t at_ms, struct ebb__probe *probe, struct ebb_value **record,
                      struct ebb_err *err);
/* Probe an instant unless it was, lies outside, or there are too many. *index: the probe, or SIZE_MAX. */
int ebb__why_probe(struct ebb__why *y, int64_t at_ms, size_t *index, struct ebb_err *err);
/* Put probes where something may turn. */
int ebb__why_spread(struct ebb__why *y, struct ebb_err *err);
/* The first instant after the first probe at which check i is another; *to gets its truth there. 0: it does not turn.
 */
int ebb__why_turn(struct ebb__why *y, size_t i, int64_t *at_ms, uint8_t *to, struct ebb_err *err);
/* The first instant at which the verdict is run; *has false: none. */
int ebb__why_earliest(struct ebb__why *y, bool *has, int64_t *at_ms, struct ebb_err *err);
/* What check i lacks to be true, as a text; false: nothing that can be said. */
bool ebb__why_needs(const struct ebb__why *y, size_t i, char out[120]);

#endif
