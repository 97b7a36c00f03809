/* SPDX-License-Identifier: Apache-2.0 */
#include "table/apply_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/time.h"
#include "table/name_priv.h"
#include "table/notes_priv.h"

/* ---- counts ---- */

struct tally {
    struct ebb__run *run;
    struct ebb_apply_result *out;
};

static int add_note(struct tally *t, const struct ebb_move *move, struct ebb_file_notes *to, struct ebb_err *err)
{
    struct ebb_buf uri;
    int rc;

    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    ebb__name_uri(t->run->record.location, move->path, &uri);
    rc = ebb_buf_check(&uri, "file name", err);
    if (!rc)
        rc = ebb__notes_add(to, ebb_buf_str(&uri), move->why, err);
    ebb_buf_fini(&uri);
    return rc;
}

static int count_move(void *data, const struct ebb_move *move, struct ebb_err *err)
{
    struct tally *t = data;
    struct ebb_apply_result *out = t->out;

    switch (move->state) {
    case EBB_MOVE_MOVED:
        out->moved++;
        return 0;
    case EBB_MOVE_DELETED:
        out->deleted++;
        return 0;
    case EBB_MOVE_BACK:
        out->returned++;
        return 0;
    case EBB_MOVE_PLANNED:
        return 0;
    case EBB_MOVE_SKIPPED:
        if (strcmp(move->why, EBB_WHY_GONE) != 0)
            return add_note(t, move, &out->skipped, err);
        out->already_gone++;
        return 0;
    case EBB_MOVE_FAILED:
    case EBB_MOVE_CONFLICT:
        return add_note(t, move, &out->failed, err);
    }
    return 0;
}

int ebb__apply_tally(struct ebb__run *run, struct ebb_apply_result *out, struct ebb_err *err)
{
    struct tally t = {run, out};

    return ebb_store_list_moves(run->site.store, run->record.id, -1, count_move, &t, err);
}

/* ---- last looks ---- */

struct sweep {
    struct ebb__run *run;
    struct ebb__batch batch;
};

static int sweep_flush(struct sweep *s, struct ebb_err *err)
{
    int rc = s->batch.count > 0 ? ebb__batch_settle(s->run, &s->batch, err) : 0;

    ebb__batch_reset(&s->batch);
    return rc;
}

static int sweep_move(void *data, const struct ebb_move *move, struct ebb_err *err)
{
    struct sweep *s = data;
    int rc = ebb__batch_add(&s->batch, move, err);

    return !rc && s->batch.count == s->batch.max ? sweep_flush(s, err) : rc;
}

int ebb__apply_sweep(struct ebb__run *run, struct ebb_err *err)
{
    struct sweep s;
    int rc;

    s.run = run;
    rc = ebb__batch_init(&s.batch, EBB_BATCH_DEFAULT, err);
    if (!rc)
        rc = ebb_store_list_moves(run->site.store, run->record.id, EBB_MOVE_MOVED, sweep_move, &s, err);
    if (!rc)
        rc = sweep_flush(&s, err);
    ebb__batch_fini(&s.batch);
    return rc;
}

/* The table may have changed between two batches: files of an earlier one are judged once more. */
static int look_last(struct ebb__run *run, struct ebb_err *err)
{
    bool changed = false;
    int rc;

    rc = ebb__run_may_go_on(run, err);
    if (!rc)
        rc = ebb__run_look_again(run, &changed, err);
    if (!rc && run->has_changed)
        rc = ebb__apply_sweep(run, err);
    if (!rc)
        rc = ebb__verify_run(run, err);
    return rc;
}

/* ---- the end ---- */

static const char *status_of(int rc, const struct ebb_apply_result *r)
{
    if (rc == -EBB_ECANCELLED)
        return "interrupted";
    if (rc && rc != -EBB_EPARTIAL)
        return r->moved + r->deleted > 0 ? "partial" : "failed";
    if (rc || r->skipped.count > 0 || r->failed.count > 0 || r->returned > 0)
        return "partial";
    return "done";
}

static int write_end(struct ebb__run *run, const struct ebb_apply_result *r, struct ebb_err *err)
{
    struct ebb_buf line, at;
    struct ebb_jsonw w;
    int rc;

    ebb_buf_init(&line, 4096);
    ebb_buf_init(&at, 64);
    ebb_time_iso(&at, run->record.ended_ms);
    ebb_jsonw_init(&w, &line);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "end", r->status);
    ebb_jsonw_kstr(&w, "at", ebb_buf_cstr(&at));
    ebb_jsonw_kint(&w, "moved", r->moved);
    ebb_jsonw_kint(&w, "deleted", r->deleted);
    ebb_jsonw_kint(&w, "returned", r->returned);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&line, '\n');
    rc = ebb_buf_check(&line, "run record", err);
    if (!rc)
        rc = ebb_quarantine_append(&run->quarantine, ebb_buf_str(&line), false, err);
    ebb_buf_fini(&at);
    ebb_buf_fini(&line);
    return rc;
}

/* Nothing of the run lies in quarantine any more: its folder has no use. */
static bool is_empty_run(const struct ebb_apply_result *r)
{
    return r->moved == 0 && r->failed.count == 0;
}

static int close_record(struct ebb__run *run, const struct ebb_apply_result *r, struct ebb_err *err)
{
    bool is_over = strcmp(r->status, "done") == 0 || strcmp(r->status, "partial") == 0;
    bool is_gone;
    int rc;

    if (!run->quarantine.folder)
        return 0;
    if (!is_over || !is_empty_run(r))
        return write_end(run, r, err);
    rc = ebb__batch_prune_run(run, err);
    return rc ? rc : ebb_removal_remove_record(&run->quarantine, &is_gone, err);
}

static int say_partial(struct ebb__run *run, const struct ebb_apply_result *r, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_EPARTIAL, "run %s: partly done: %zu skipped, %zu failed, %lld put back", run->record.id,
                       r->skipped.count, r->failed.count, (long long)r->returned);
}

static int fill_result(struct ebb__run *run, struct ebb_apply_result *out, struct ebb_err *err)
{
    snprintf(out->run, sizeof out->run, "%s", run->record.id);
    snprintf(out->plan, sizeof out->plan, "%s", run->record.plan);
    if (out->moved + (int64_t)out->failed.count == 0 || !run->quarantine.uri)
        return 0;
    out->quarantine = strdup(run->quarantine.uri);
    return out->quarantine ? 0 : ebb_err_nomem(err);
}

/* Record and audit log get the end even when the work failed; the first error counts. */
static int save_end(struct ebb__run *run, struct ebb_apply_result *out, struct ebb_err *err)
{
    int rc, next;

    run->record.ended_ms = ebb_clock_now(&run->site.clock);
    rc = close_record(run, out, err);
    next = ebb__run_save(run, out->status, out, rc ? NULL : err);
    rc = rc ? rc : next;
    next = ebb__run_audit(run, "run_ended", out->status, rc ? NULL : err);
    rc = rc ? rc : next;
    next = ebb__run_audit_flush(run, rc ? NULL : err);
    return rc ? rc : next;
}

int ebb__apply_end(struct ebb__run *run, int rc, struct ebb_apply_result *out, struct ebb_err *err)
{
    struct ebb_err cause = {0}, local = {0};
    int next;

    if (rc && err)
        cause = *err;
    if (!rc || rc == -EBB_EPARTIAL) {
        next = look_last(run, &local);
        if (next) {
            rc = next;
            cause = local;
        }
    }
    next = ebb__apply_tally(run, out, &local);
    out->status = status_of(rc, out);
    if (!next)
        next = fill_result(run, out, &local);
    if (!next)
        next = save_end(run, out, &local);
    if (!rc && next) {
        rc = next;
        cause = local;
        out->status = "partial";
    }
    if (!rc && strcmp(out->status, "partial") == 0)
        rc = say_partial(run, out, &cause);
    else if (rc && rc != -EBB_EPARTIAL)
        ebb_err_hint(&cause, "what was moved is recorded; go on with: ebb apply --resume %s", run->record.id);
    if (rc && err)
        *err = cause;
    return rc;
}
