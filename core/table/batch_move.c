/* SPDX-License-Identifier: Apache-2.0 */
#include "table/batch_priv.h"

#include <stdlib.h>

#include "base/failpoint.h"
#include "table/name_priv.h"

/* Whether two names lie in one folder: files come sorted, so most neighbours do. */
static bool is_same_dir(struct ebb_str a, struct ebb_str b)
{
    return ebb_str_is_equal(ebb__name_dir(a), ebb__name_dir(b));
}

static int make_dir(struct ebb__run *run, struct ebb_str target, struct ebb_err *err)
{
    struct ebb_buf name;
    int rc;

    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    rc = ebb_quarantine_name(&run->quarantine, ebb__name_dir(target), &name, err);
    if (!rc)
        rc = ebb_place_make_dirs(run->quarantine.place, name.data, true, err);
    ebb_buf_fini(&name);
    return rc;
}

int ebb__batch_make_dirs(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err)
{
    const struct ebb_move *last = NULL;
    struct ebb_err local = {0};
    size_t i;
    int rc;

    for (i = 0; i < batch->count; i++) {
        struct ebb_move *move = &batch->moves[i];

        if (move->state != EBB_MOVE_PLANNED || (last && is_same_dir(last->target, move->target)))
            continue;
        rc = make_dir(run, move->target, &local);
        if (rc == -EBB_ENOSPACE || rc == -EBB_ENOMEM) {
            if (err)
                *err = local;
            return rc;
        }
        if (rc)
            ebb__batch_set(batch, move, EBB_MOVE_SKIPPED, local.message);
        else
            last = move;
    }
    return 0;
}

/* What became of a file that was to be taken. */
static void note_taken(struct ebb__batch *batch, struct ebb_move *move, enum ebb_removal outcome,
                       const struct ebb_err *why)
{
    switch (outcome) {
    case EBB_REMOVAL_DONE:
        ebb__batch_set(batch, move, EBB_MOVE_MOVED, "");
        break;
    case EBB_REMOVAL_GONE:
        ebb__batch_set(batch, move, EBB_MOVE_SKIPPED, EBB_WHY_GONE);
        break;
    case EBB_REMOVAL_CHANGED:
    case EBB_REMOVAL_OCCUPIED:
        ebb__batch_set(batch, move, EBB_MOVE_SKIPPED, why->message);
        break;
    case EBB_REMOVAL_REFUSED:
        ebb__batch_set(batch, move, why->error == EBB_EUNSUPPORTED ? EBB_MOVE_SKIPPED : EBB_MOVE_FAILED, why->message);
        break;
    case EBB_REMOVAL_STUCK:
        ebb__batch_set(batch, move, EBB_MOVE_CONFLICT,
                       "another file was caught under this name, and a newer one has its place: it lies in quarantine");
        break;
    }
}

/* The moves of a batch that are in one state (-1: all), as items; *which tells whose. The caller frees both. */
static int gather(struct ebb__batch *batch, int state, struct ebb_removal_item **items, size_t **which, size_t *count,
                  struct ebb_err *err)
{
    *count = 0;
    *items = calloc(batch->count + 1, sizeof **items);
    *which = calloc(batch->count + 1, sizeof **which);
    if (!*items || !*which)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < batch->count; i++)
        if (state < 0 || (int)batch->moves[i].state == state) {
            (*items)[*count].file = ebb__run_file_of(&batch->moves[i]);
            (*which)[(*count)++] = i;
        }
    return 0;
}

/* Locally each outcome is told as it comes; of many at once, what stopped them all leaves the rest as planned: what
 * became of them is looked at when the run goes on. */
int ebb__batch_take(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err)
{
    struct ebb_removal_item *items = NULL;
    size_t *which = NULL, count, step = ebb_place_is_remote(run->place) ? EBB_BATCH_MAX : 1;
    int rc = gather(batch, EBB_MOVE_PLANNED, &items, &which, &count, err);

    for (size_t from = 0; !rc && from < count; from += step) {
        size_t n = count - from < step ? count - from : step;

        rc = ebb_removal_take_many(run->place, &run->quarantine, items + from, n, err);
        for (size_t i = from; i < from + n; i++)
            if (!rc || items[i].outcome == EBB_REMOVAL_DONE) /* what is gone from its place is put back, then */
                note_taken(batch, &batch->moves[which[i]], items[i].outcome, &items[i].why);
    }
    free(items);
    free(which);
    return rc;
}

void ebb__batch_put_back(struct ebb__run *run, struct ebb__batch *batch, struct ebb_move *move, const char *why)
{
    struct ebb_removal_file file = ebb__run_file_of(move);
    struct ebb_err local = {0};
    enum ebb_removal outcome;
    int rc = ebb_removal_put_back(run->place, &run->quarantine, &file, &outcome, &local);

    if (!rc && outcome == EBB_REMOVAL_DONE)
        ebb__batch_set(batch, move, EBB_MOVE_BACK, why);
    else if (!rc && outcome == EBB_REMOVAL_GONE)
        ebb__batch_set(batch, move, EBB_MOVE_FAILED, local.message);
    else
        ebb__batch_set(batch, move, EBB_MOVE_CONFLICT, local.message);
}

int ebb__batch_sync(struct ebb__run *run, struct ebb__batch *batch, enum ebb_move_state state, struct ebb_err *err)
{
    const struct ebb_move *last = NULL;
    size_t i;
    int rc = 0;

    for (i = 0; i < batch->count && !rc; i++) {
        struct ebb_move *move = &batch->moves[i];
        struct ebb_removal_file file = ebb__run_file_of(move);

        if (move->state != state || (last && is_same_dir(last->path, move->path)))
            continue;
        rc = ebb_removal_sync(run->place, &run->quarantine, &file, err);
        last = move;
    }
    return rc;
}

int ebb__batch_store(struct ebb__run *run, struct ebb__batch *batch, enum ebb_move_state state, const char *event,
                     struct ebb_err *err)
{
    size_t i;
    int rc;

    EBB_FAILPOINT("journal.moves_state.before");
    rc = ebb_store_set_moves(run->site.store, run->record.id, batch->moves, batch->count, err);
    EBB_FAILPOINT("journal.moves_state.after");
    for (i = 0; i < batch->count && !rc && event[0]; i++)
        if (batch->moves[i].state == state)
            rc = ebb__run_audit_file(run, event, batch->moves[i].path, batch->moves[i].why, err);
    if (!rc)
        rc = ebb__run_audit_flush(run, err);
    EBB_FAILPOINT("journal.audit.after");
    return rc;
}

int ebb__batch_unlink(struct ebb__run *run, struct ebb__batch *batch, int state, ebb__batch_unlinked *told, void *data,
                      struct ebb_err *err)
{
    struct ebb_removal_item *items = NULL;
    size_t *which = NULL, count, step = ebb_place_is_remote(run->quarantine.place) ? EBB_BATCH_DEFAULT : 1;
    int rc = gather(batch, state, &items, &which, &count, err);

    for (size_t from = 0; !rc && from < count; from += step) {
        size_t n = count - from < step ? count - from : step;

        rc = ebb_removal_unlink_many(&run->quarantine, items + from, n, err);
        for (size_t i = from; !rc && i < from + n; i++)
            rc = told(data, &batch->moves[which[i]], items[i].outcome, &items[i].why, err);
    }
    free(items);
    free(which);
    return rc;
}

/* What became of a file that was to be removed for good. */
static int note_unlinked(void *data, struct ebb_move *move, enum ebb_removal outcome, const struct ebb_err *why,
                         struct ebb_err *err)
{
    struct ebb__batch *batch = data;

    (void)err;
    if (outcome == EBB_REMOVAL_DONE || outcome == EBB_REMOVAL_GONE)
        ebb__batch_set(batch, move, EBB_MOVE_DELETED, "");
    else
        ebb__batch_set(batch, move, EBB_MOVE_CONFLICT, why->message);
    return 0;
}

int ebb__batch_delete(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err)
{
    size_t i;
    int rc;

    for (i = 0; i < batch->count; i++)
        if (batch->moves[i].state == EBB_MOVE_MOVED)
            ebb__batch_set(batch, &batch->moves[i], EBB_MOVE_MOVED, EBB_WHY_DELETING);
    rc = ebb__batch_store(run, batch, EBB_MOVE_PLANNED, "", err);
    if (!rc)
        rc = ebb__batch_unlink(run, batch, EBB_MOVE_MOVED, note_unlinked, batch, err);
    if (!rc)
        rc = ebb__batch_store(run, batch, EBB_MOVE_DELETED, "deleted", err);
    return rc;
}

static int prune_move(void *data, const struct ebb_move *move, struct ebb_err *err)
{
    struct ebb__run *run = data;

    (void)err;
    ebb_removal_prune(&run->quarantine, move->target, NULL);
    return 0;
}

int ebb__batch_prune_run(struct ebb__run *run, struct ebb_err *err)
{
    return ebb_store_list_moves(run->site.store, run->record.id, -1, prune_move, run, err);
}

void ebb__batch_undo(struct ebb__run *run, struct ebb__batch *batch, const char *cause)
{
    struct ebb_err local = {0};
    size_t i;

    for (i = 0; i < batch->count; i++)
        if (batch->moves[i].state == EBB_MOVE_MOVED)
            ebb__batch_put_back(run, batch, &batch->moves[i], cause);
    if (ebb__batch_sync(run, batch, EBB_MOVE_BACK, &local) ||
        ebb__batch_store(run, batch, EBB_MOVE_BACK, "put_back", &local))
        ebb_log_say(&run->site.log, EBB_LOG_ERROR,
                    "run %s: the journal of a batch that was put back can't be written: %s", run->record.id,
                    local.message);
}
