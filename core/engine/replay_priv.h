/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EBB_ENGINE_REPLAY_PRIV_H
#define EBB_ENGINE_REPLAY_PRIV_H

#include "engine/replay.h"

/* Add a text for each difference between two records (maps). EBB_ENOMEM. */
int ebb__records_compare(const struct ebb_value *now, const struct ebb_value *before, struct ebb_strs *out,
                         struct ebb_err *err);

#endif
