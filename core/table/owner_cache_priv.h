/* SPDX-License-Identifier: Apache-2.0
 *
 * Neighbours that were read whole, remembered between plans. Used by owners.c only.
 */
#ifndef EBB_TABLE_OWNER_CACHE_PRIV_H
#define EBB_TABLE_OWNER_CACHE_PRIV_H

#include "table/table.h"

/* Folders outside its own location in which the table has files, if they were recorded for this very metadata file;
 * else *found is false. Store errors. */
int ebb__owner_cache_get(const struct ebb_site *site, const struct ebb_table *table, struct ebb_strs *folders,
                         bool *found, struct ebb_err *err);
/* Record them. Too many are not recorded. Store errors. */
int ebb__owner_cache_put(const struct ebb_site *site, const struct ebb_table *table, const struct ebb_strs *folders,
                         struct ebb_err *err);

#endif
