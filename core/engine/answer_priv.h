/* SPDX-License-Identifier: Apache-2.0
 *
 * What a decision knows of its own answer: how long it holds, what it lacked, what it had read.
 */
#ifndef EBB_ENGINE_ANSWER_PRIV_H
#define EBB_ENGINE_ANSWER_PRIV_H

#include "engine/decide_priv.h"
#include "engine/guards_priv.h"

/* Fill these parts of the decision from an evaluation and its guards, which were applied; e NULL: the policy is not for
 * this table; failed: the policy went wrong. EBB_ENOMEM. */
int ebb__answer_take(struct ebb_decision *d, const struct ebb_policy *policy, const struct ebb_decide_input *input,
                     struct ebb__eval *e, const struct ebb__guards *g, bool failed, struct ebb_err *err);
/* Settings for an input that has none. */
int ebb__settings_of(const struct ebb_policy *policy, const struct ebb_decide_input *input, struct ebb_settings **out,
                     struct ebb_err *err);
/* The digest of an input over these paths. */
int ebb__digest_make(const struct ebb_policy *policy, const struct ebb_decide_input *input,
                     const struct ebb_strs *paths, char out[80], struct ebb_err *err);

#endif
