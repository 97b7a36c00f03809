/* SPDX-License-Identifier: Apache-2.0 */
#include "table/purge_priv.h"

#include "base/failpoint.h"
#include "table/apply_priv.h"
#include "table/name_priv.h"
#include "table/notes_priv.h"

int ebb__purge_note(struct ebb__purge *p, const char *why, struct ebb_err *err)
{
    return ebb__notes_add(&p->out->kept, ebb_str_of(p->run->record.id), why, err);
}

static int note_file(struct ebb__purge *p, const struct ebb_move *move, const char *why, struct ebb_err *err)
{
    struct ebb_buf text;
    int rc;

    ebb_buf_init(&text, EBB_LOCATION_MAX_BYTES);
    ebb__name_uri(p->run->record.location, move->path, &text);
    rc = ebb_buf_check(&text, "file name", err);
    if (!rc)
        rc = ebb__notes_add(&p->out->kept, ebb_buf_str(&text), why, err);
    ebb_buf_fini(&text);
    return rc;
}

/* Does a file of the run lie in quarantine? A journal entry that a crash left open is decided by what is there. */
static int is_inside(struct ebb__purge *p, const struct ebb_move *move, bool *out, struct ebb_err *err)
{
    struct ebb_removal_file file = ebb__run_file_of(move);
    struct ebb_removal_state s;
    int rc;

    *out = false;
    if (move->state != EBB_MOVE_MOVED && move->state != EBB_MOVE_CONFLICT && move->state != EBB_MOVE_PLANNED)
        return 0;
    rc = ebb_removal_look(p->run->place, &p->run->quarantine, &file, &s, err);
    *out = !rc && (s.presence == EBB_PRESENT_NEW || s.presence == EBB_PRESENT_BOTH);
    return rc;
}

/* ---- first: is anything reachable again? ---- */

static int return_one(struct ebb__purge *p, const struct ebb_move *move, const char *why, struct ebb_err *err)
{
    int rc;

    ebb__batch_reset(&p->batch);
    rc = ebb__batch_add(&p->batch, move, err);
    if (rc)
        return rc;
    ebb__batch_put_back(p->run, &p->batch, &p->batch.moves[0], why);
    rc = ebb__batch_sync(p->run, &p->batch, EBB_MOVE_BACK, err);
    if (!rc)
        rc = ebb__batch_store(p->run, &p->batch, EBB_MOVE_BACK, "restored", err);
    if (!rc && p->batch.moves[0].state == EBB_MOVE_BACK)
        p->out->restored++;
    if (!rc)
        rc = note_file(p, move, p->batch.moves[0].why, err);
    ebb__batch_reset(&p->batch);
    return rc;
}

static int judge_move(void *data, const struct ebb_move *move, struct ebb_err *err)
{
    struct ebb__purge *p = data;
    enum ebb_judged verdict;
    bool inside;
    int rc;

    rc = is_inside(p, move, &inside, err);
    if (rc || !inside)
        return rc;
    rc = ebb__run_judge(p->run, move->path, &verdict, err);
    if (rc || verdict == EBB_JUDGED_FREE)
        return rc;
    p->returned++;
    return return_one(p, move, ebb__verdict_text(verdict), err);
}

static int judge_all(struct ebb__purge *p, struct ebb_err *err)
{
    p->returned = 0;
    return p->is_unowned ? 0 : ebb_store_list_moves(p->run->site.store, p->run->record.id, -1, judge_move, p, err);
}

/* ---- then: remove, a batch at a time ---- */

static int look_again(struct ebb__purge *p, struct ebb_err *err)
{
    bool changed = false;
    int rc = ebb__run_may_go_on(p->run, err);

    if (!rc && !p->is_unowned)
        rc = ebb__run_look_again(p->run, &changed, err);
    return !rc && changed ? judge_all(p, err) : rc;
}

static int note_unlinked(void *data, struct ebb_move *move, enum ebb_removal outcome, const struct ebb_err *why,
                         struct ebb_err *err)
{
    struct ebb__purge *p = data;

    if (outcome == EBB_REMOVAL_DONE || outcome == EBB_REMOVAL_GONE) {
        if (outcome == EBB_REMOVAL_DONE) {
            p->out->deleted++;
            p->out->bytes += move->size_bytes;
        }
        ebb__batch_set(&p->batch, move, EBB_MOVE_DELETED, outcome == EBB_REMOVAL_GONE ? EBB_WHY_GONE : "");
        return 0;
    }
    p->stuck++;
    ebb__batch_set(&p->batch, move, move->state, why->message);
    return note_file(p, move, why->message, err);
}

static int flush(struct ebb__purge *p, struct ebb_err *err)
{
    size_t i;
    int rc = 0;

    for (i = 0; i < p->batch.count && !rc; i++)
        ebb__batch_set(&p->batch, &p->batch.moves[i], p->batch.moves[i].state, EBB_WHY_DELETING);
    if (p->batch.count > 0)
        rc = ebb__batch_store(p->run, &p->batch, EBB_MOVE_PLANNED, "", err);
    if (!rc)
        rc = ebb__batch_unlink(p->run, &p->batch, -1, note_unlinked, p, err);
    if (!rc && p->batch.count > 0)
        rc = ebb__batch_store(p->run, &p->batch, EBB_MOVE_DELETED, "purged", err);
    ebb__batch_reset(&p->batch);
    return rc;
}

/* Judge right before the batch goes. What is put back now may be in the batch: then nothing of the run goes any more.
 */
static int step(struct ebb__purge *p, struct ebb_err *err)
{
    int rc = look_again(p, err);

    if (rc)
        return rc;
    return p->returned > 0 ? ebb_err_set(err, EBB_EPARTIAL, "run %s: is needed again", p->run->record.id)
                           : flush(p, err);
}

static int take_move(void *data, const struct ebb_move *move, struct ebb_err *err)
{
    struct ebb__purge *p = data;
    bool inside = move->state == EBB_MOVE_MOVED || move->state == EBB_MOVE_CONFLICT;
    int rc = 0;

    if (move->state == EBB_MOVE_PLANNED)
        rc = is_inside(p, move, &inside, err);
    if (rc || !inside)
        return rc;
    rc = ebb__batch_add(&p->batch, move, err);
    return !rc && p->batch.count == p->batch.max ? step(p, err) : rc;
}

static int remove_all(struct ebb__purge *p, struct ebb_err *err)
{
    int rc = ebb_store_list_moves(p->run->site.store, p->run->record.id, -1, take_move, p, err);

    return rc ? rc : step(p, err);
}

/* ---- the end ---- */

static int save(struct ebb__purge *p, const char *status, struct ebb_err *err)
{
    struct ebb_apply_result result;
    int rc;

    memset(&result, 0, sizeof result);
    rc = ebb__apply_tally(p->run, &result, err);
    if (!rc)
        rc = ebb__run_save(p->run, status, &result, err);
    ebb_apply_result_fini(&result);
    return rc;
}

static int remove_folder(struct ebb__purge *p, struct ebb_err *err)
{
    bool is_gone = true;
    int rc;

    rc = ebb__batch_prune_run(p->run, err);
    EBB_FAILPOINT("journal.purge_record.before");
    if (!rc)
        rc = ebb_removal_remove_record(&p->run->quarantine, &is_gone, err);
    EBB_FAILPOINT("journal.purge_record.after");
    if (!rc && !is_gone)
        ebb_log_say(&p->run->site.log, EBB_LOG_WARN, "%s: other files lie here; the folder stays",
                    p->run->quarantine.uri);
    return rc;
}

static int finish(struct ebb__purge *p, struct ebb_err *err)
{
    int rc = remove_folder(p, err);

    if (!rc)
        rc = save(p, "purged", err);
    if (!rc)
        rc = ebb__run_audit(p->run, "run_purged", "", err);
    return rc ? rc : ebb__run_audit_flush(p->run, err);
}

int ebb__purge_files(struct ebb__purge *p, bool *is_done, struct ebb_err *err)
{
    int rc;

    *is_done = false;
    rc = ebb__batch_init(&p->batch, EBB_BATCH_DEFAULT, err);
    if (!rc)
        rc = ebb__run_may_go_on(p->run, err);
    if (!rc)
        rc = judge_all(p, err);
    if (!rc && p->returned == 0)
        rc = remove_all(p, err);
    if (rc == -EBB_EPARTIAL)
        rc = 0;
    if (!rc && (p->returned > 0 || p->stuck > 0)) {
        rc = ebb__purge_note(
            p, p->returned > 0 ? "the table needs files of it again" : "files of it could not be removed", err);
        if (!rc)
            rc = save(p, p->run->record.status, err);
    } else if (!rc) {
        rc = finish(p, err);
        *is_done = !rc;
    }
    ebb__batch_fini(&p->batch);
    return rc;
}
