/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch: up to a thousand files of a run on their way through journal, quarantine and second look. A batch either
 * comes to its end, or what it moved is put back; only a crash leaves one in the middle, and then the journal tells
 * (resume).
 */
#ifndef EBB_TABLE_BATCH_PRIV_H
#define EBB_TABLE_BATCH_PRIV_H

#include "table/run_priv.h"

#define EBB_BATCH_DEFAULT 1000
#define EBB_BATCH_MAX 10000
#define EBB_WHY_GONE "already gone"
#define EBB_WHY_DELETING "deleting"

struct ebb__batch {
    struct ebb_arena arena;
    struct ebb_move *moves; /* strings in the arena */
    size_t count, max;
    int64_t number;
    bool is_journaled; /* its moves have rows in the journal already */
};
int ebb__batch_init(struct ebb__batch *batch, int64_t max, struct ebb_err *err);
void ebb__batch_fini(struct ebb__batch *batch);
void ebb__batch_reset(struct ebb__batch *batch);
/* Copies. The batch must not be full. */
int ebb__batch_add(struct ebb__batch *batch, const struct ebb_move *move, struct ebb_err *err);
void ebb__batch_set(struct ebb__batch *batch, struct ebb_move *move, enum ebb_move_state state, const char *why);

/* Take the PLANNED files of a batch out of the table: look again, judge, check identity, journal, record, move, look
 * again; with delete, unlink. Sets run->is_stopped when something had to go back. */
int ebb__batch_apply(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err);
/* The second half, for files that lie in quarantine already: store the states, judge every MOVED file anew, put back
 * what is not free; with delete, unlink the rest. */
int ebb__batch_settle(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err);

/* batch_move.c: the steps that change the world. */
int ebb__batch_make_dirs(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err);
int ebb__batch_take(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err);
void ebb__batch_put_back(struct ebb__run *run, struct ebb__batch *batch, struct ebb_move *move, const char *why);
int ebb__batch_sync(struct ebb__run *run, struct ebb__batch *batch, enum ebb_move_state state, struct ebb_err *err);
int ebb__batch_delete(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err);
/* Unlink the files of a batch in one state (-1: all) from quarantine; each outcome is told as soon as it is known. */
typedef int ebb__batch_unlinked(void *data, struct ebb_move *move, enum ebb_removal outcome, const struct ebb_err *why,
                                struct ebb_err *err);
int ebb__batch_unlink(struct ebb__run *run, struct ebb__batch *batch, int state, ebb__batch_unlinked *told, void *data,
                      struct ebb_err *err);
/* Put back everything that this batch moved, because of `cause`. */
void ebb__batch_undo(struct ebb__run *run, struct ebb__batch *batch, const char *cause);
/* Remove the run's folders as far as they are empty, also those that a crash left. */
int ebb__batch_prune_run(struct ebb__run *run, struct ebb_err *err);
/* Store the states of all moves, and name those in `state` in the audit log as `event`. */
int ebb__batch_store(struct ebb__run *run, struct ebb__batch *batch, enum ebb_move_state state, const char *event,
                     struct ebb_err *err);

#endif
