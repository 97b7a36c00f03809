/* SPDX-License-Identifier: Apache-2.0
 *
 * Candidates on their way into a plan: taken in any order, given back sorted by path, in bounded memory (sorted runs go
 * to an unlinked temporary file in the state folder and are merged).
 */
#ifndef EBB_TABLE_SPOOL_PRIV_H
#define EBB_TABLE_SPOOL_PRIV_H

#include "format/plan.h"

struct ebb_spool;
/* dir: where the temporary file may lie. */
int ebb__spool_new(const char *dir, struct ebb_spool **out, struct ebb_err *err);
void ebb__spool_free(struct ebb_spool *spool);
int ebb__spool_add(struct ebb_spool *spool, const struct ebb_plan_candidate *candidate, struct ebb_err *err);
typedef int ebb_spool_cb(void *data, const struct ebb_plan_candidate *candidate, struct ebb_err *err);
/* All candidates in ascending byte order of their paths, each path once, with the newest of its times. Once only. */
int ebb__spool_each(struct ebb_spool *spool, ebb_spool_cb *cb, void *data, struct ebb_err *err);

#endif
