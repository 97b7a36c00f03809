/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a lock file: to bytes and back.
 */
#ifndef EBB_TABLE_LOCK_TEXT_PRIV_H
#define EBB_TABLE_LOCK_TEXT_PRIV_H

#include "table/run_holder_priv.h"

#define EBB_LOCK_MAX_BYTES ((size_t)16 * 1024)

struct ebb__lock_text {
    struct ebb__holder holder;
    char run[40];
    int64_t epoch;
    int64_t expires_ms;
};
void ebb__lock_text_write(const struct ebb__lock_text *lock, struct ebb_buf *out);
/* EBB_ECORRUPT for anything that is not a whole lock. */
int ebb__lock_text_parse(struct ebb_str bytes, struct ebb__lock_text *out, struct ebb_err *err);

#endif
