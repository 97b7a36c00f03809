/* SPDX-License-Identifier: Apache-2.0
 *
 * What a decision went by, for its record: the facts cut down to what was read and what guards and parameters need.
 */
#ifndef EBB_ENGINE_INPUTS_PRIV_H
#define EBB_ENGINE_INPUTS_PRIV_H

#include "engine/mask_priv.h"

/* Write the members "inputs", or "inputs_dropped": true when they are longer than max bytes or can't be told exactly;
 * and "inputs_masked", the names of members that were masked. e NULL: nothing was read. EBB_ENOMEM. */
int ebb__inputs_write(const struct ebb_policy *policy, const struct ebb_decide_input *input, const struct ebb__eval *e,
                      const struct ebb__mask *mask, size_t max, struct ebb_jsonw *w, struct ebb_err *err);

#endif
