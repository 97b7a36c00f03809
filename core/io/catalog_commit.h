/* SPDX-License-Identifier: Apache-2.0
 *
 * What is changed in a catalog: snapshots are taken out of a table's metadata, and nothing else. Files are never
 * touched here: what nothing refers to afterwards are orphans, and go through plan and apply like all others.
 */
#ifndef EBB_IO_CATALOG_COMMIT_H
#define EBB_IO_CATALOG_COMMIT_H

#include "io/catalog.h"

struct ebb_commit_ref {
    const char *name;
    int64_t snapshot;
};
/* What is to go, and the table as it was when that was judged. Borrowed. */
struct ebb_commit_removal {
    const char *namespace_, *name;
    const char *uuid;
    const struct ebb_commit_ref *refs; /* all of them */
    size_t ref_count;
    const int64_t *snapshots;
    size_t count;
};
struct ebb_commit_done {
    char *metadata_uri;      /* of the table afterwards; owned */
    size_t removed;          /* of those that were to go, and were there */
    bool was_seen_by_reload; /* the answer did not tell; the table did */
};
void ebb_commit_done_fini(struct ebb_commit_done *done);

/* Whether the type of catalog can do it. */
bool ebb_catalog_can_commit(const struct ebb_catalog *catalog);
/* Take snapshots out. The table is loaded right before, and must have this uuid, exactly these refs, and its garbage
 * collected (gc.enabled); the commit requires uuid and refs once more; afterwards it is loaded again, and must have all
 * refs and none of the snapshots. Never repeated: after an answer that leaves it open (5xx, none at all) the table
 * tells.
 *
 * EBB_EUSAGE: a snapshot that is current, or that a ref names, or nothing to remove. EBB_ECOMMIT_CONFLICT: the table is
 * not (any more) what was judged: nothing was changed, judge again. EBB_EGC_DISABLED. EBB_ECOMMIT_UNKNOWN: nobody can
 * tell whether it was done. EBB_EUNSUPPORTED: the type commits nothing. EBB_ECATALOG: refused or failed, and nothing
 * was changed. EBB_ETABLE_NOT_FOUND, and errors of loading. */
int ebb_catalog_remove_snapshots(struct ebb_catalog *catalog, const struct ebb_commit_removal *removal,
                                 struct ebb_commit_done *out, struct ebb_err *err);

#endif
