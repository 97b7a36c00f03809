/* SPDX-License-Identifier: Apache-2.0
 *
 * An evaluator, as decide.c uses it: one evaluation at a time, begun and run here; the caller ends it with
 * ebb__eval_fini.
 */
#ifndef EBB_ENGINE_EVALUATOR_PRIV_H
#define EBB_ENGINE_EVALUATOR_PRIV_H

#include "engine/eval_priv.h"
#include "engine/evaluator.h"

/* The evaluation of an input, in memory that belongs to the evaluator. EBB_ENOMEM, EBB_ELIMIT; also then the caller
 * ends it. */
int ebb__evaluator_begin(struct ebb_evaluator *evaluator, const struct ebb_policy *policy,
                         const struct ebb_settings *settings, const struct ebb_decide_input *input,
                         struct ebb__eval **out, struct ebb_err *err);
/* Run header and decide in a fresh state; the result is in the evaluation. */
int ebb__evaluator_run(struct ebb_evaluator *evaluator, struct ebb_err *err);

#endif
