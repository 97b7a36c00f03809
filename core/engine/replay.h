/* SPDX-License-Identifier: Apache-2.0
 *
 * Replay: a decision again, from its record alone (made with_inputs). A difference is a bug: of the engine, a library,
 * or non-determinism. Pure.
 */
#ifndef EBB_ENGINE_REPLAY_H
#define EBB_ENGINE_REPLAY_H

#include "engine/evaluator.h"

/* The input that a record holds; borrows from record, which must outlive it. EBB_ERECORD when the record has no inputs
 * (too large, or none were recorded) or what was read is masked in it; EBB_ECORRUPT. free with ebb_replay_input_fini.
 */
struct ebb_replay_input {
    struct ebb_decide_input input;
};
int ebb_replay_input_of(const struct ebb_value *record, struct ebb_replay_input *out, struct ebb_err *err);
void ebb_replay_input_fini(struct ebb_replay_input *in);
/* Decide again and compare: differences get one text each ("checks[2].r: \"true\", was \"false\""); none: equal. id,
 * engine and tzdata may differ without being a difference, but engine and tzdata are told when something else does;
 * what the script ran in and how much memory it took is no difference either. A policy that goes wrong again is no
 * error. */
int ebb_replay(const struct ebb_policy *policy, const struct ebb_value *record, struct ebb_strs *differences,
               struct ebb_err *err);

#endif
