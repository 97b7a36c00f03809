/* SPDX-License-Identifier: Apache-2.0
 *
 * The decision record: one JSON line.
 */
#ifndef EBB_ENGINE_RECORD_PRIV_H
#define EBB_ENGINE_RECORD_PRIV_H

#include "engine/guards_priv.h"

#define EBB__RECORD_MAX_BYTES ((size_t)1024 * 1024)

/* Append the record. eval may be half filled (policy error) or NULL (not the target); failure: the error of the script,
 * or NULL. */
int ebb__record_write(const struct ebb_policy *policy, const struct ebb_decide_input *input, const struct ebb__eval *e,
                      const struct ebb__guards *g, const struct ebb_err *failure, struct ebb_buf *out,
                      struct ebb_err *err);

#endif
