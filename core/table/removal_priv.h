/* SPDX-License-Identifier: Apache-2.0
 *
 * What taking, putting back and unlinking have in common, of one file and of many.
 */
#ifndef EBB_TABLE_REMOVAL_PRIV_H
#define EBB_TABLE_REMOVAL_PRIV_H

#include "table/removal.h"

/* Both names of a file, NUL terminated. */
struct ebb__removal_names {
    struct ebb_buf old_name, new_name;
};
/* EBB_EOUTSIDE when one leads elsewhere. Fini also after an error. */
int ebb__removal_names_init(struct ebb__removal_names *names, const struct ebb_quarantine *q,
                            const struct ebb_removal_file *file, struct ebb_err *err);
void ebb__removal_names_fini(struct ebb__removal_names *names);
/* Whether an error must stop the whole run. */
bool ebb__removal_is_fatal(int rc);
/* Turn an error of the storage into an outcome; 0 unless it must stop the run. */
int ebb__removal_outcome(int rc, enum ebb_removal *out);
/* Whether it is the recorded file, moved or not; whether it was never touched since it was planned. */
bool ebb__removal_is_same(const struct ebb_stat *st, const struct ebb_removal_file *file);
bool ebb__removal_is_planned(const struct ebb_stat *st, const struct ebb_removal_file *file);

#endif
