/* SPDX-License-Identifier: Apache-2.0
 *
 * How long an answer holds while nothing but the clock changes. Some values move with the clock: ctx.now, the age of
 * the last listing, ctx.runs.since_partition(). They may be read anywhere; the answer can be told to hold only when
 * each was read as an operand of a check, added to and taken from what stands still. That is found out in two halves:
 * the source is scanned once, when the policy is loaded, for the places that are such operands; and while it runs every
 * such read is looked up by its line, and counted against the check that takes it. On any doubt nothing is told.
 */
#ifndef EBB_ENGINE_CHANGES_PRIV_H
#define EBB_ENGINE_CHANGES_PRIV_H

#include "base/buf.h"

/* What moves. */
enum ebb__moving { EBB__MOVING_NOW, EBB__MOVING_AGE, EBB__MOVING_SINCE, EBB__MOVING_COUNT };

/* A check with an operand that moves: how often each is read for it, and how each operand moves with the clock. */
struct ebb__mover {
    struct ebb_str name; /* in the source */
    int reads[EBB__MOVING_COUNT];
    int slope[2][EBB__MOVING_COUNT]; /* of operand a and b */
    bool is_clear;                   /* false: there are several of this name */
};

/* Of the source of a policy. */
struct ebb__movers {
    bool is_clear;  /* false: nothing can be told */
    uint8_t *lines; /* by number; bits EBB__LINE_… */
    size_t line_count;
    struct ebb__mover *items;
    size_t count, cap;
};
#define EBB__LINE_CLEAR 1u /* something that moves is read as an operand */
#define EBB__LINE_DIM 2u   /* it may be read otherwise */

/* Scan a source. Of what can't be told nothing is told: only EBB_ENOMEM. */
int ebb__movers_scan(struct ebb__movers *movers, struct ebb_str source, struct ebb_err *err);
void ebb__movers_fini(struct ebb__movers *movers);
const struct ebb__mover *ebb__movers_find(const struct ebb__movers *movers, const char *name);

/* Of one evaluation. */
struct ebb__changes {
    bool is_unclear;
    bool age_stands; /* the age that was read is a fixed one */
    int pending[EBB__MOVING_COUNT];
    int64_t holds_until_ms;
    unsigned lacks; /* EBB_LACKS_… */
};

/* After this many ms the comparison of a and b turns, when a - b changes by slope (-1, 0, 1) each ms; INT64_MAX never.
 * op is one of == ~= < <= > >=. */
int64_t ebb__changes_turn(int64_t a, const char *op, int64_t b, int slope);

#endif
