/* SPDX-License-Identifier: Apache-2.0 */
#include "table/batch_priv.h"

#include <stdlib.h>

#include "base/failpoint.h"
#include "table/name_priv.h"

#define FILE_BYTES ((size_t)160 * 1024) /* two names, an identity, a reason: more than any real file needs */
#define LINES_BYTES ((size_t)1 << 30)

int ebb__batch_init(struct ebb__batch *batch, int64_t max, struct ebb_err *err)
{
    memset(batch, 0, sizeof *batch);
    batch->max = max <= 0 ? EBB_BATCH_DEFAULT : max > EBB_BATCH_MAX ? EBB_BATCH_MAX : (size_t)max;
    ebb_arena_init(&batch->arena, batch->max * FILE_BYTES);
    batch->moves = calloc(batch->max, sizeof *batch->moves);
    return batch->moves ? 0 : ebb_err_nomem(err);
}

void ebb__batch_fini(struct ebb__batch *batch)
{
    free(batch->moves);
    ebb_arena_fini(&batch->arena);
    memset(batch, 0, sizeof *batch);
}

void ebb__batch_reset(struct ebb__batch *batch)
{
    ebb_arena_fini(&batch->arena);
    ebb_arena_init(&batch->arena, batch->max * FILE_BYTES);
    batch->count = 0;
}

int ebb__batch_add(struct ebb__batch *batch, const struct ebb_move *move, struct ebb_err *err)
{
    struct ebb_move m = *move;

    if (batch->count >= batch->max)
        return ebb_err_set(err, EBB_EINTERNAL, "batch: full");
    m.batch = batch->number;
    m.path.p = ebb_arena_dup(&batch->arena, move->path.p, move->path.n);
    m.target.p = ebb_arena_dup(&batch->arena, move->target.p, move->target.n);
    m.id = ebb_arena_dup(&batch->arena, move->id, strlen(move->id));
    m.why = ebb_arena_dup(&batch->arena, move->why ? move->why : "", move->why ? strlen(move->why) : 0);
    if (!m.path.p || !m.target.p || !m.id || !m.why)
        return ebb_err_nomem(err);
    batch->moves[batch->count++] = m;
    return 0;
}

void ebb__batch_set(struct ebb__batch *batch, struct ebb_move *move, enum ebb_move_state state, const char *why)
{
    const char *copy = ebb_arena_dup(&batch->arena, why, strlen(why));

    move->state = state;
    move->why = copy ? copy : "";
}

/* ---- before anything moves ---- */

static int judge_one(struct ebb__run *run, struct ebb__batch *batch, struct ebb_move *move, struct ebb_err *err)
{
    enum ebb_judged verdict;
    int rc = ebb__run_judge(run, move->path, &verdict, err);

    if (!rc && verdict != EBB_JUDGED_FREE)
        ebb__batch_set(batch, move, EBB_MOVE_SKIPPED, ebb__verdict_text(verdict));
    return rc;
}

/* The file as it is now must be the planned one, and old. */
static int inspect_one(struct ebb__run *run, struct ebb__batch *batch, struct ebb_move *move, struct ebb_err *err)
{
    struct ebb_removal_file file = ebb__run_file_of(move);
    struct ebb_removal_state state;
    int rc = ebb_removal_look(run->place, &run->quarantine, &file, &state, err);

    if (rc == -EBB_EOUTSIDE) {
        ebb__batch_set(batch, move, EBB_MOVE_SKIPPED, "its name can't be used in the quarantine");
        return 0;
    }
    if (rc == -EBB_ENOMEM)
        return rc;
    if (rc)
        ebb__batch_set(batch, move, EBB_MOVE_FAILED, err ? err->message : "can't be looked at");
    else if (state.presence == EBB_PRESENT_NOWHERE)
        ebb__batch_set(batch, move, EBB_MOVE_SKIPPED, EBB_WHY_GONE);
    else if (state.presence != EBB_PRESENT_OLD)
        ebb__batch_set(batch, move, EBB_MOVE_SKIPPED, "its name in the quarantine is taken");
    else if (!state.is_old_planned)
        ebb__batch_set(batch, move, EBB_MOVE_SKIPPED, "changed since it was planned");
    return 0;
}

static int check_all(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err)
{
    struct ebb_err local;
    size_t i;
    int rc = 0;

    for (i = 0; i < batch->count && !rc; i++)
        if (batch->moves[i].state == EBB_MOVE_PLANNED)
            rc = judge_one(run, batch, &batch->moves[i], err);
    for (i = 0; i < batch->count && !rc; i++)
        if (batch->moves[i].state == EBB_MOVE_PLANNED) {
            rc = inspect_one(run, batch, &batch->moves[i], &local);
            if (rc && err)
                *err = local;
        }
    return rc;
}

static int journal_all(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err)
{
    int rc;

    EBB_FAILPOINT("journal.moves_planned.before");
    if (batch->is_journaled)
        rc = ebb_store_set_moves(run->site.store, run->record.id, batch->moves, batch->count, err);
    else
        rc = ebb_store_put_moves(run->site.store, run->record.id, batch->moves, batch->count, err);
    EBB_FAILPOINT("journal.moves_planned.after");
    return rc;
}

static void write_line(struct ebb__run *run, const struct ebb_move *move, struct ebb_buf *lines)
{
    struct ebb_run_file file;
    struct ebb_buf uri;

    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    ebb__name_uri(run->record.location, move->path, &uri);
    file.seq = move->seq;
    file.path = ebb_buf_str(&uri);
    file.target = move->target;
    file.id = ebb_str_of(move->id);
    file.size_bytes = move->size_bytes;
    file.mtime_ns = move->mtime_ns;
    if (uri.bad)
        lines->bad = true;
    else
        ebb_quarantine_write_file(lines, &file);
    ebb_buf_fini(&uri);
}

static int record_all(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err)
{
    struct ebb_buf lines;
    size_t i;
    int rc;

    ebb_buf_init(&lines, LINES_BYTES);
    for (i = 0; i < batch->count; i++)
        if (batch->moves[i].state == EBB_MOVE_PLANNED)
            write_line(run, &batch->moves[i], &lines);
    rc = ebb_buf_check(&lines, "run record", err);
    if (!rc && lines.len > 0)
        rc = ebb_quarantine_append(&run->quarantine, ebb_buf_str(&lines), false, err);
    ebb_buf_fini(&lines);
    return rc;
}

static int prepare(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err)
{
    bool changed;
    int rc;

    rc = ebb__run_may_go_on(run, err);
    if (!rc)
        rc = ebb__run_look_again(run, &changed, err);
    if (!rc)
        rc = check_all(run, batch, err);
    if (!rc)
        rc = journal_all(run, batch, err);
    if (!rc)
        rc = record_all(run, batch, err);
    if (!rc)
        rc = ebb__batch_make_dirs(run, batch, err);
    if (!rc)
        rc = ebb_run_lock_check(&run->lock, err);
    return rc;
}

/* ---- after the move ---- */

/* Judge all MOVED files with what is known now; those that are not free go back at once. */
static int judge_moved(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err)
{
    enum ebb_judged verdict;
    bool any = false;
    size_t i;
    int rc = 0;

    for (i = 0; i < batch->count && !rc; i++) {
        if (batch->moves[i].state != EBB_MOVE_MOVED)
            continue;
        rc = ebb__run_judge(run, batch->moves[i].path, &verdict, err);
        if (!rc && verdict != EBB_JUDGED_FREE) {
            ebb__batch_put_back(run, batch, &batch->moves[i], ebb__verdict_text(verdict));
            any = true;
        }
    }
    if (rc || !any)
        return rc;
    run->is_stopped = true;
    rc = ebb__batch_sync(run, batch, EBB_MOVE_BACK, err);
    return rc ? rc : ebb__batch_store(run, batch, EBB_MOVE_BACK, "put_back", err);
}

static int second_look(struct ebb__run *run, struct ebb__batch *batch, bool always, struct ebb_err *err)
{
    bool changed = false;
    int rc = ebb__run_look_again(run, &changed, err);

    return !rc && (changed || always) ? judge_moved(run, batch, err) : rc;
}

static int change_world(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err)
{
    int rc;

    rc = ebb__batch_take(run, batch, err);
    if (!rc)
        rc = ebb__batch_sync(run, batch, EBB_MOVE_MOVED, err);
    if (!rc)
        rc = ebb__batch_store(run, batch, EBB_MOVE_MOVED, "moved", err);
    if (!rc)
        rc = second_look(run, batch, false, err);
    return rc;
}

int ebb__batch_apply(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err)
{
    const atomic_bool *cancelled = run->site.cancelled;
    struct ebb_err cause = {0};
    int rc = prepare(run, batch, err);

    if (rc)
        return rc;
    run->site.cancelled =
        NULL; /* a batch whose files move is ended: put back, they could not be taken again by this plan */
    rc = change_world(run, batch, &cause);
    if (rc)
        ebb__batch_undo(run, batch, cause.message);
    else if (run->record.is_delete)
        rc = ebb__batch_delete(run, batch, &cause);
    run->site.cancelled = cancelled;
    if (rc && err)
        *err = cause;
    return rc;
}

int ebb__batch_settle(struct ebb__run *run, struct ebb__batch *batch, struct ebb_err *err)
{
    int rc;

    rc = ebb__run_may_go_on(run, err);
    if (!rc)
        rc = ebb__batch_sync(run, batch, EBB_MOVE_MOVED, err);
    if (!rc)
        rc = ebb__batch_store(run, batch, EBB_MOVE_PLANNED, "", err);
    if (!rc)
        rc = second_look(run, batch, true, err);
    if (!rc && run->record.is_delete)
        rc = ebb__batch_delete(run, batch, err);
    return rc;
}
