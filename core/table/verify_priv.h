/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking whether reachable files exist, shared by `verify` and the end of an apply.
 */
#ifndef EBB_TABLE_VERIFY_PRIV_H
#define EBB_TABLE_VERIFY_PRIV_H

#include "table/apply.h"

#define EBB_VERIFY_SAMPLE_STEP 16

enum ebb__absence {
    EBB_ABSENT_FILE, /* a file that a reader of the table needs */
    EBB_ABSENT_LOG   /* an old metadata file that the log names: may be gone */
};
/* A reachable name that is not there. uri is absolute. */
typedef int ebb__absent_cb(void *data, const char *uri, enum ebb__absence absence, struct ebb_err *err);
/* Stat every step-th reachable name. A name that can't be looked at (other than that it is missing) is an error. */
int ebb__verify_walk(const struct ebb_site *site, const struct ebb_table *table, int64_t step, ebb__absent_cb *cb,
                     void *data, int64_t *checked, struct ebb_err *err);

#endif
