/* SPDX-License-Identifier: Apache-2.0
 *
 * Putting files back, one at a time, by what lies at their old and new names: shared by restore (from the journal, from
 * a run record) and purge.
 */
#ifndef EBB_TABLE_RESTORE_PRIV_H
#define EBB_TABLE_RESTORE_PRIV_H

#include "table/batch_priv.h"

struct ebb__restorer {
    struct ebb__run *run;
    struct ebb_strs wanted; /* names or folders below the location; none = all */
    bool *is_met;           /* which of them were found */
    bool has_journal;       /* the store knows the run */
    struct ebb__batch batch;
    int64_t left; /* files that still lie in quarantine */
    struct ebb_restore_result *out;
};

/* paths: as given by the user. EBB_EOUTSIDE. The run's location must be known. */
int ebb__restorer_init(struct ebb__restorer *r, struct ebb__run *run, const struct ebb_strs *paths, bool has_journal,
                       struct ebb_restore_result *out, struct ebb_err *err);
void ebb__restorer_fini(struct ebb__restorer *r);
/* One journaled file, if it is wanted; its state may be PLANNED when unknown: only the world decides. */
int ebb__restorer_add(struct ebb__restorer *r, const struct ebb_move *move, struct ebb_err *err);
/* Sync, store and audit what was done so far. */
int ebb__restorer_flush(struct ebb__restorer *r, struct ebb_err *err);
/* Note the wanted paths that were not found; EBB_EPARTIAL when something could not be put back. */
int ebb__restorer_end(struct ebb__restorer *r, struct ebb_err *err);

#endif
