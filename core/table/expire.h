/* SPDX-License-Identifier: Apache-2.0
 *
 * Expiring snapshots: which may go (the rules of Iceberg's expire_snapshots), and the commit that takes them out. Files
 * are not touched: those that no snapshot needs any more are orphans afterwards, and go through plan and apply.
 * Branches and tags are never removed, also not those whose max-ref-age-ms is over.
 */
#ifndef EBB_TABLE_EXPIRE_H
#define EBB_TABLE_EXPIRE_H

#include "table/table.h"

struct ebb_expire_options {
    bool has_older_than;
    int64_t older_than_ms; /* else now less history.expire.max-snapshot-age-ms, 5 days without it */
    int64_t retain_last;   /* of each branch, from 1; 0: history.expire.min-snapshots-to-keep, 1 without it */
    const char *uuid;      /* of the table that was judged; NULL: any */
    bool dry_run;
};
struct ebb_expire_result {
    int64_t *ids; /* that go, oldest first; owned */
    size_t count;
    size_t kept;
    int64_t older_than_ms; /* that counted */
    bool was_committed;
};
void ebb_expire_result_fini(struct ebb_expire_result *result);

/* What goes of this metadata at this instant:
 * - of each branch as many from its head on as it keeps at least (min-snapshots-to-keep, else retain_last), and after
 *   them all that are young enough (max-snapshot-age-ms of the branch, else older_than), stay, up to the first that is
 *   neither;
 * - what a tag names stays; what no branch reaches and no tag names stays when it is young enough;
 * - the current snapshot, and the head of every branch, stay in any case.
 * EBB_EGC_DISABLED; EBB_EMETADATA: a value of its retention can't be used. */
int ebb_expire_choose(const struct ebb_metadata *metadata, const struct ebb_expire_options *options, int64_t now_ms,
                      struct ebb_expire_result *out, struct ebb_err *err);
/* Load the table, choose, and (unless dry_run) commit through its catalog; on a conflict again, at most three times.
 * Errors of ebb_table_open, _choose and ebb_catalog_remove_snapshots; EBB_EMETADATA_CHANGED: another uuid. */
int ebb_expire_run(const struct ebb_site *site, const char *name, const struct ebb_expire_options *options,
                   struct ebb_expire_result *out, struct ebb_err *err);

#endif
