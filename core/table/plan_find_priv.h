/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a plan is: a file named by hand, or one that the store knows by id.
 */
#ifndef EBB_TABLE_PLAN_FIND_PRIV_H
#define EBB_TABLE_PLAN_FIND_PRIV_H

#include "format/plan.h"
#include "table/site.h"

/* The path of a plan (owned). EBB_ENOT_FOUND. */
int ebb__plan_find(const struct ebb_site *site, const char *plan, char **path, struct ebb_err *err);
/* A file whose id is in the store must be the file that was recorded: EBB_EPLAN when the record has another hash. */
int ebb__plan_check_record(const struct ebb_site *site, const struct ebb_plan_header *header, const char *sha256,
                           struct ebb_err *err);

#endif
