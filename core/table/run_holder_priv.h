/* SPDX-License-Identifier: Apache-2.0
 *
 * Who holds a lock, and the proof that such a process no longer lives: possible only in the same boot and the same
 * process-id space.
 */
#ifndef EBB_TABLE_RUN_HOLDER_PRIV_H
#define EBB_TABLE_RUN_HOLDER_PRIV_H

#include "base/buf.h"

struct ebb__holder {
    char host[256];
    char boot[64];  /* id of the running boot, "" unknown */
    char space[64]; /* process-id namespace, "" unknown */
    int64_t pid;
    int64_t start; /* start time of the process in clock ticks since boot, 0 unknown */
};
void ebb__holder_self(struct ebb__holder *out);
/* True only when it is certain. */
bool ebb__holder_is_gone(const struct ebb__holder *holder);

#endif
