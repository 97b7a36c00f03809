/* SPDX-License-Identifier: Apache-2.0
 *
 * Folding: what is left of a path when the differences that people and programs overlook are taken away:
 * percent-encoding, '+' for a space, case, accents and the two Unicode spellings of them. Two names of one fold are
 * *near*; that is told, never acted on. Pure.
 */
#ifndef EBB_BASE_FOLD_H
#define EBB_BASE_FOLD_H

#include "base/buf.h"

/* Whether ebb_path_fold would leave the path as it is; quick. */
bool ebb_path_is_folded(struct ebb_str path);
/* Append the fold. */
void ebb_path_fold(struct ebb_str path, struct ebb_buf *out);

#endif
