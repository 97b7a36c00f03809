/* SPDX-License-Identifier: Apache-2.0
 *
 * An evaluator: decides many times at the cost of few. It keeps, for each policy that it has seen, the image of a ready
 * state (libraries, frozen globals, loaded chunk) and starts every evaluation from a fresh copy of it, so that nothing
 * passes from one evaluation to the next. ebb_decide is one evaluation by an evaluator of its own; both give the same
 * decision, record and gas. One evaluator per thread; policies may be shared between evaluators of several threads.
 *
 * The image's state never collects: a script that fills its memory with leftovers runs once more, with the same gas, in
 * a state that does, and the record says which ("state": "image" or "collected"). The images of the 64 policies used
 * last are kept. The version of the zone database is read when an evaluator is made: make a new one after an update.
 */
#ifndef EBB_ENGINE_EVALUATOR_H
#define EBB_ENGINE_EVALUATOR_H

#include "engine/decide.h"

struct ebb_evaluator;
/* EBB_ENOMEM. */
int ebb_evaluator_new(struct ebb_evaluator **out, struct ebb_err *err);
void ebb_evaluator_free(struct ebb_evaluator *evaluator);
/* As ebb_decide. The policy is known again by its address and bundle; before a policy is freed it must be forgotten. */
int ebb_evaluator_decide(struct ebb_evaluator *evaluator, const struct ebb_policy *policy,
                         const struct ebb_decide_input *input, struct ebb_decision **out, struct ebb_err *err);
/* Drop the image of a policy; unknown ones are fine. */
void ebb_evaluator_forget(struct ebb_evaluator *evaluator, const struct ebb_policy *policy);

#endif
