/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the facts_*.c files.
 */
#ifndef EBB_SERVICE_FACTS_PRIV_H
#define EBB_SERVICE_FACTS_PRIV_H

#include "service/facts.h"

/* Events given by hand ("TYPE key=value …"), as of now, behind those that are there. EBB_EUSAGE. */
int ebb__facts_add_events(struct ebb_value *facts, const struct ebb_strs *texts, int64_t now_ms, struct ebb_err *err);
/* What an earlier read of this very state of the table found: a map, the caller frees it; NULL: nothing is kept. */
int ebb__facts_cache_get(const struct ebb_site *site, const char *scope, const struct ebb_table *table,
                         struct ebb_value **found, struct ebb_err *err);
/* Keep it; what is too large is not kept. found is a map of our own making. */
int ebb__facts_cache_put(const struct ebb_site *site, const char *scope, const struct ebb_table *table,
                         struct ebb_value *found, struct ebb_err *err);
/* After a failure to read manifests: warn, and 0, since what they tell just stays unknown; but errors of this process
 * are handed on (EBB_ENOMEM, EBB_ECANCELLED, EBB_EINTERNAL, store errors). */
int ebb__facts_left_unknown(const struct ebb_site *site, const struct ebb_err *why, struct ebb_err *err);
/* What manifests tell of files goes into stats, and the partitions into t. A table whose manifests can't be read is
 * warned of, and its numbers stay unknown. EBB_ENOMEM, EBB_ECANCELLED, store errors. */
int ebb__facts_put_files(const struct ebb_site *site, const struct ebb_table *table, struct ebb_value *t,
                         struct ebb_value *stats, struct ebb_err *err);
/* longest_write of the snapshots of the last 30 days, from the times of their files, and its source; likewise. */
int ebb__facts_put_writes(const struct ebb_site *site, const struct ebb_table *table, struct ebb_value *stats,
                          int64_t now_ms, struct ebb_err *err);
/* stats.custom: what was put into the store as statistics of the table, by name; the first 1,000, of 1 MiB, and no
 * deeper or larger than what a script may hand over. Store errors, EBB_ENOMEM. */
int ebb__facts_put_custom(const struct ebb_site *site, const struct ebb_table *table, struct ebb_value *stats,
                          struct ebb_err *err);
/* Events of the table that the store knows, added to events. Store errors. */
int ebb__facts_put_told(const struct ebb_site *site, const struct ebb_table *table, struct ebb_value *events,
                        struct ebb_err *err);

#endif
