/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EBB_SERVICE_BACKTEST_PRIV_H
#define EBB_SERVICE_BACKTEST_PRIV_H

#include "engine/policy.h"
#include "io/store.h"

/* Whether the new decision went only by what the inputs of the old one hold; if not, why is said. A value that the old
 * policy did not look at may be missing from them, which says nothing of what it was. */
int ebb__backtest_comparable(struct ebb_store *store, const struct ebb_policy *policy, const struct ebb_value *before,
                             const struct ebb_value *after, struct ebb_buf *why, struct ebb_err *err);

#endif
