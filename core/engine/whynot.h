/* SPDX-License-Identifier: Apache-2.0
 *
 * Why not now: one decision in dry mode, with the instant at which each time-dependent check and guard turns, and the
 * earliest instant at which the policy would run if nothing but the clock changed. Turning points are found by how the
 * operands move with the clock (facts and events stay as they are) and every one that is told was verified: the policy
 * was evaluated there and just before. What does not go straight (hours of the day) is looked at every half hour for
 * two days and every hour for eight; what comes and goes between two looks is not told. Nothing is recorded, nothing
 * done.
 */
#ifndef EBB_ENGINE_WHYNOT_H
#define EBB_ENGINE_WHYNOT_H

#include "engine/evaluator.h"

/* How far ahead is looked. */
#define EBB_WHYNOT_AHEAD_MS ((int64_t)366 * 24 * 3600 * 1000)

/* *out, a map:
 *   record    the decision record as a map
 *   checks    list in the order of the record: {n, key (check_each), a, op, b, r, needs (text, what is missing: "463
 *             more", "13h more", "1.5 GiB less", "a value"), turns_at (instant), turns_to ("true"|"false"|"unknown")};
 *             turns_at is missing when the check does not turn within EBB_WHYNOT_AHEAD_MS
 *   guards    list: {n, r, why, until (instant)}
 *   earliest  instant at which the policy would run, all guards included; missing when it would not
 *   reads     list of paths
 * Without a trigger in the input that of a time trigger is taken: a run by hand would not wait. When the policy goes
 * wrong: as ebb_decide, *out NULL. evaluator may be NULL. The caller frees. */
int ebb_whynot(struct ebb_evaluator *evaluator, const struct ebb_policy *policy, const struct ebb_decide_input *input,
               struct ebb_value **out, struct ebb_err *err);

#endif
