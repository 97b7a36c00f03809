/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic that the files on time share.
 */
#ifndef EBB_BASE_TIME_PRIV_H
#define EBB_BASE_TIME_PRIV_H

#include "base/time.h"

#define EBB_DAY_S 86400

/* a / b rounded down; b > 0. */
static inline int64_t ebb__floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0 ? 1 : 0);
}

/* Date and clock of seconds since 1970-01-01T00:00:00. */
void ebb__civil_of_seconds(int64_t s, struct ebb_civil *out);

#endif
