/* SPDX-License-Identifier: Apache-2.0 */
#include "table/apply_priv.h"

struct resume {
    struct ebb__run *run;
    struct ebb__batch redo;   /* not moved yet: goes through the whole way again */
    struct ebb__batch settle; /* decided: states are to be stored, moved ones judged */
    int64_t last_seq, last_batch;
};

/* ---- what became of each journaled file ---- */

/* Both names are one file: a move by hard link, or by a copy, that stopped in the middle. The old name is the safe one.
 */
static int finish_link(struct ebb__run *run, const struct ebb_removal_file *file, struct ebb_err *err)
{
    enum ebb_removal outcome;
    int rc = ebb_removal_unlink(&run->quarantine, file, &outcome, err);

    if (!rc && outcome != EBB_REMOVAL_DONE && outcome != EBB_REMOVAL_GONE)
        rc = -EBB_EIO;
    return rc;
}

static void decide_old(struct ebb_move *m, const struct ebb_removal_state *s)
{
    if (s->is_old_planned) {
        m->why = "";
    } else if (s->is_old_same) {
        m->state = EBB_MOVE_BACK;
        m->why = "it was put back when the run stopped";
    } else {
        m->state = EBB_MOVE_SKIPPED;
        m->why = "changed since it was planned";
    }
}

static void decide_new(struct ebb_move *m, const struct ebb_removal_state *s)
{
    m->state = s->is_new_same ? EBB_MOVE_MOVED : EBB_MOVE_CONFLICT;
    m->why = s->is_new_same ? "" : "what lies in quarantine under its name is another file";
}

static void decide_both(struct ebb_move *m, const struct ebb_removal_state *s)
{
    m->state = s->is_new_same ? EBB_MOVE_CONFLICT : EBB_MOVE_SKIPPED;
    m->why = s->is_new_same ? "a writer made a new file with the old name; the old file lies in quarantine"
                            : "its name in the quarantine is taken";
}

static void decide_nowhere(struct ebb_move *m)
{
    if (m->state == EBB_MOVE_MOVED && strcmp(m->why, EBB_WHY_DELETING) == 0) {
        m->state = EBB_MOVE_DELETED;
        m->why = "";
        return;
    }
    m->state = EBB_MOVE_FAILED;
    m->why = "gone: neither at its place nor in quarantine";
}

static int decide(struct ebb__run *run, struct ebb_move *m, struct ebb_err *err)
{
    struct ebb_removal_file file = ebb__run_file_of(m);
    struct ebb_removal_state s;
    int rc = ebb_removal_look(run->place, &run->quarantine, &file, &s, err);

    if (!rc && s.is_one_file) {
        rc = finish_link(run, &file, err);
        if (!rc)
            rc = ebb_removal_look(run->place, &run->quarantine, &file, &s, err);
    }
    if (rc)
        return rc;
    switch (s.presence) {
    case EBB_PRESENT_OLD:
        if (m->state == EBB_MOVE_MOVED) {
            m->state = EBB_MOVE_BACK;
            m->why = "it is at its place";
        } else {
            decide_old(m, &s);
        }
        break;
    case EBB_PRESENT_NEW:
        decide_new(m, &s);
        break;
    case EBB_PRESENT_BOTH:
        decide_both(m, &s);
        break;
    case EBB_PRESENT_NOWHERE:
        decide_nowhere(m);
        break;
    }
    return 0;
}

/* ---- journal ---- */

static int flush_redo(struct resume *r, struct ebb_err *err)
{
    int rc = r->redo.count > 0 ? ebb__batch_apply(r->run, &r->redo, err) : 0;

    ebb__batch_reset(&r->redo);
    return rc;
}

static int flush_settle(struct resume *r, struct ebb_err *err)
{
    int rc = r->settle.count > 0 ? ebb__batch_settle(r->run, &r->settle, err) : 0;

    ebb__batch_reset(&r->settle);
    return rc;
}

static int take_move(void *data, const struct ebb_move *move, struct ebb_err *err)
{
    struct resume *r = data;
    struct ebb_move m = *move;
    int rc;

    r->last_seq = move->seq;
    r->last_batch = move->batch;
    if (m.state != EBB_MOVE_PLANNED && m.state != EBB_MOVE_MOVED)
        return 0;
    rc = decide(r->run, &m, err);
    if (rc)
        return rc;
    if (m.state == EBB_MOVE_PLANNED) {
        rc = ebb__batch_add(&r->redo, &m, err);
        return !rc && r->redo.count == r->redo.max ? flush_redo(r, err) : rc;
    }
    rc = ebb__batch_add(&r->settle, &m, err);
    return !rc && r->settle.count == r->settle.max ? flush_settle(r, err) : rc;
}

static int decide_all(struct resume *r, struct ebb_err *err)
{
    int rc;

    r->last_seq = r->last_batch = -1;
    r->redo.is_journaled = r->settle.is_journaled = true;
    rc = ebb_store_list_moves(r->run->site.store, r->run->record.id, -1, take_move, r, err);
    if (!rc)
        rc = flush_settle(r, err);
    if (!rc)
        rc = flush_redo(r, err);
    if (!rc && r->run->is_stopped)
        rc = ebb_err_set(err, EBB_EPARTIAL, "run %s: stopped, because moved files are referenced now",
                         r->run->record.id);
    return rc;
}

/* ---- the run ---- */

static int check_state(const struct ebb__run *run, struct ebb_err *err)
{
    const char *s = run->record.status;

    if (strcmp(s, "started") == 0 || strcmp(s, "interrupted") == 0 || strcmp(s, "partial") == 0 ||
        strcmp(s, "failed") == 0)
        return 0;
    return ebb_err_set(err, EBB_ERUN_STATE, "run %s: is %s; there is nothing to go on with", run->record.id, s);
}

/* The plan that the run was begun with; NULL when it is gone or another file. */
static int open_plan(struct ebb__run *run, struct ebb_plan_file **out, struct ebb_err *err)
{
    struct ebb_err local = {0};
    int rc = ebb_plan_file_open(&run->site, run->record.plan_file, out, &local);

    if (!rc && strcmp(ebb_plan_file_summary(*out)->sha256, run->record.plan_sha256) == 0)
        return 0;
    ebb_plan_file_close(*out);
    *out = NULL;
    if (rc == -EBB_ENOMEM) {
        if (err)
            *err = local;
        return rc;
    }
    ebb_log_say(&run->site.log, EBB_LOG_WARN, "run %s: its plan %s is gone or was changed: the rest is left alone",
                run->record.id, run->record.plan_file);
    return 0;
}

static int prepare(struct ebb__run *run, const char *id, struct ebb_err *err)
{
    int rc;

    rc = ebb__run_load(run, id, err);
    if (!rc)
        rc = check_state(run, err);
    if (!rc)
        rc = ebb__run_open_place(run, err);
    if (!rc)
        rc = ebb__run_lock(run, err);
    if (!rc)
        rc = ebb__run_load(run, run->record.id, err); /* as it is now that nobody else works on it */
    if (!rc)
        rc = check_state(run, err);
    if (!rc)
        rc = ebb__run_open_table(run, err);
    if (!rc)
        rc = ebb__run_protect(run, err);
    if (rc && rc != -EBB_ENOT_FOUND && rc != -EBB_ERUN_STATE && rc != -EBB_ELOCKED)
        ebb_err_hint(err, "the table can't be judged; ebb restore %s puts back what was moved", id);
    return rc;
}

static int mark_stop(struct ebb__run *run, const struct ebb_plan_file *plan, struct ebb_err *err)
{
    struct ebb_str nothing = {NULL, 0};
    int rc = 0;

    if (plan)
        rc = ebb_quarantine_begin(&run->quarantine, run->record.id, ebb_plan_file_header(plan), run->record.started_ms,
                                  err);
    if (!rc)
        rc = ebb_quarantine_append(&run->quarantine, nothing, true, err);
    return rc == -EBB_ENOENT && !plan ? 0 : rc; /* nothing was ever moved */
}

static int go_on(struct ebb__run *run, struct ebb_plan_file *plan, struct ebb_err *err)
{
    struct resume r;
    int rc;

    memset(&r, 0, sizeof r);
    r.run = run;
    ebb_site_began(&run->site, run->record.id);
    rc = ebb__batch_init(&r.redo, EBB_BATCH_DEFAULT, err);
    if (!rc)
        rc = ebb__batch_init(&r.settle, EBB_BATCH_DEFAULT, err);
    if (!rc)
        rc = mark_stop(run, plan, err);
    if (!rc)
        rc = decide_all(&r, err);
    if (!rc && plan)
        rc = ebb__apply_check_files(run, plan, err);
    if (!rc && plan)
        rc = ebb__apply_work(run, plan, r.last_seq + 1, r.last_batch + 1, err);
    else if (!rc)
        rc = ebb_err_set(err, EBB_EPARTIAL, "run %s: closed; its plan is gone, so the rest was left alone",
                         run->record.id);
    ebb__batch_fini(&r.settle);
    ebb__batch_fini(&r.redo);
    return rc;
}

int ebb_resume(const struct ebb_site *site, const char *run_id, struct ebb_apply_result *out, struct ebb_err *err)
{
    struct ebb_plan_file *plan = NULL;
    struct ebb__run run;
    int rc;

    memset(out, 0, sizeof *out);
    out->status = "failed";
    rc = ebb__run_init(&run, site, err);
    if (!rc)
        rc = prepare(&run, run_id, err);
    if (!rc)
        rc = ebb__run_audit(&run, "run_resumed", run.record.plan, err);
    if (!rc)
        rc = ebb__run_audit_flush(&run, err);
    if (!rc)
        rc = open_plan(&run, &plan, err);
    if (!rc) {
        rc = go_on(&run, plan, err);
        rc = ebb__apply_end(&run, rc, out, err);
    }
    ebb__run_fini(&run);
    ebb_plan_file_close(plan);
    return rc;
}
