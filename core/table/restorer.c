/* SPDX-License-Identifier: Apache-2.0 */
#include "table/restore_priv.h"

#include <stdlib.h>

#include "table/name_priv.h"
#include "table/notes_priv.h"

static int add_wanted(struct ebb__restorer *r, const char *path, struct ebb_err *err)
{
    struct ebb_location parts;
    struct ebb_buf name;
    size_t n;
    int rc;

    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    rc = ebb_location_split(path, strlen(path), &parts, err);
    if (!rc && (parts.scheme.n > 0 || path[0] == '/')) {
        rc = ebb__name_of(r->run->record.location, ebb_str_of(path), NULL, &name, err);
    } else if (!rc) {
        n = strlen(path);
        while (n > 0 && path[n - 1] == '/')
            n--;
        ebb_buf_append(&name, path, n);
        if (!ebb__name_is_safe(ebb_buf_str(&name)))
            rc = ebb_err_set(err, EBB_EOUTSIDE, "%s: not a name below the table's location", path);
    }
    if (!rc)
        rc = ebb_strs_addn(&r->wanted, name.data, name.len, err);
    ebb_buf_fini(&name);
    return rc;
}

int ebb__restorer_init(struct ebb__restorer *r, struct ebb__run *run, const struct ebb_strs *paths, bool has_journal,
                       struct ebb_restore_result *out, struct ebb_err *err)
{
    size_t i;
    int rc;

    memset(r, 0, sizeof *r);
    r->run = run;
    r->out = out;
    r->has_journal = has_journal;
    rc = ebb__batch_init(&r->batch, EBB_BATCH_DEFAULT, err);
    for (i = 0; paths && i < paths->count && !rc; i++)
        rc = add_wanted(r, paths->items[i], err);
    if (!rc) {
        r->is_met = calloc(r->wanted.count + 1, sizeof *r->is_met);
        if (!r->is_met)
            rc = ebb_err_nomem(err);
    }
    return rc;
}

void ebb__restorer_fini(struct ebb__restorer *r)
{
    ebb__batch_fini(&r->batch);
    ebb_strs_fini(&r->wanted);
    free(r->is_met);
    r->is_met = NULL;
}

/* A wanted path is the file, or a folder above it. */
static bool is_wanted(struct ebb__restorer *r, struct ebb_str name)
{
    bool wanted = r->wanted.count == 0;
    size_t i;

    for (i = 0; i < r->wanted.count; i++) {
        struct ebb_str w = ebb_str_of(r->wanted.items[i]);

        if (!ebb_str_has_prefix(name, w) || (name.n > w.n && name.p[w.n] != '/'))
            continue;
        r->is_met[i] = true;
        wanted = true;
    }
    return wanted;
}

static int note(struct ebb__restorer *r, struct ebb_file_notes *to, struct ebb_str name, const char *why,
                struct ebb_err *err)
{
    struct ebb_buf uri;
    int rc;

    ebb_buf_init(&uri, EBB_LOCATION_MAX_BYTES);
    ebb__name_uri(r->run->record.location, name, &uri);
    rc = ebb_buf_check(&uri, "file name", err);
    if (!rc)
        rc = ebb__notes_add(to, ebb_buf_str(&uri), why, err);
    ebb_buf_fini(&uri);
    return rc;
}

static int fail(struct ebb__restorer *r, struct ebb_move *m, const char *why, struct ebb_err *err)
{
    return note(r, &r->out->failed, m->path, why, err);
}

static int put_back(struct ebb__restorer *r, struct ebb_move *m, struct ebb_err *err)
{
    struct ebb_removal_file file = ebb__run_file_of(m);
    struct ebb_err why = {0};
    enum ebb_removal outcome;
    int rc = ebb_removal_put_back(r->run->place, &r->run->quarantine, &file, &outcome, &why);

    if (rc) {
        if (err)
            *err = why;
        return rc;
    }
    if (outcome == EBB_REMOVAL_DONE) {
        ebb__batch_set(&r->batch, m, EBB_MOVE_BACK, "restored");
        r->out->restored++;
        return 0;
    }
    r->left++;
    if (outcome != EBB_REMOVAL_OCCUPIED)
        return fail(r, m, why.message, err);
    ebb__batch_set(&r->batch, m, EBB_MOVE_CONFLICT, "a new file has the old name");
    return note(r, &r->out->conflicts, m->path, "a new file has the old name", err);
}

/* A hard link that a stopped move left: the file never lost its old name. */
static int drop_link(struct ebb__restorer *r, struct ebb_move *m, struct ebb_err *err)
{
    struct ebb_removal_file file = ebb__run_file_of(m);
    enum ebb_removal outcome;
    int rc = ebb_removal_unlink(&r->run->quarantine, &file, &outcome, err);

    if (rc)
        return rc;
    ebb__batch_set(&r->batch, m, EBB_MOVE_BACK, "restored");
    r->out->already_there++;
    return 0;
}

static int at_old_name(struct ebb__restorer *r, struct ebb_move *m, const struct ebb_removal_state *s,
                       struct ebb_err *err)
{
    if (s->is_old_same) {
        r->out->already_there++;
        ebb__batch_set(&r->batch, m, EBB_MOVE_BACK, m->state == EBB_MOVE_BACK ? m->why : "it is at its place");
        return 0;
    }
    if (m->state == EBB_MOVE_BACK)
        return 0; /* back already; what a writer did to it since is no business of ours */
    if (m->state == EBB_MOVE_DELETED)
        return fail(r, m, "was removed for good", err);
    return note(r, &r->out->conflicts, m->path, "not in quarantine, and another file has its name", err);
}

static int nowhere(struct ebb__restorer *r, struct ebb_move *m, struct ebb_err *err)
{
    if (m->state == EBB_MOVE_BACK)
        return 0;
    return fail(r, m,
                m->state == EBB_MOVE_DELETED ? "was removed for good" : "gone: neither at its place nor in quarantine",
                err);
}

static int decide(struct ebb__restorer *r, struct ebb_move *m, struct ebb_err *err)
{
    struct ebb_removal_file file = ebb__run_file_of(m);
    struct ebb_removal_state s;
    struct ebb_err why = {0};
    int rc = ebb_removal_look(r->run->place, &r->run->quarantine, &file, &s, &why);

    if (rc == -EBB_EIO || rc == -EBB_EPERMISSION) { /* one file that can't be looked at must not keep the others */
        r->left++;
        return fail(r, m, why.message, err);
    }
    if (rc) {
        if (err)
            *err = why;
        return rc;
    }
    if (s.is_one_file)
        return drop_link(r, m, err);
    switch (s.presence) {
    case EBB_PRESENT_NEW:
    case EBB_PRESENT_BOTH:
        if (s.is_new_same)
            return put_back(r, m, err);
        r->left++;
        return fail(r, m, "what lies in quarantine under its name is another file", err);
    case EBB_PRESENT_OLD:
        return at_old_name(r, m, &s, err);
    case EBB_PRESENT_NOWHERE:
        return nowhere(r, m, err);
    }
    return 0;
}

int ebb__restorer_add(struct ebb__restorer *r, const struct ebb_move *move, struct ebb_err *err)
{
    int rc;

    if (!is_wanted(r, move->path)) {
        r->left++; /* not looked at: count it as there */
        return 0;
    }
    if (move->state == EBB_MOVE_SKIPPED)
        return 0;
    rc = ebb__batch_add(&r->batch, move, err);
    if (!rc)
        rc = decide(r, &r->batch.moves[r->batch.count - 1], err);
    return !rc && r->batch.count == r->batch.max ? ebb__restorer_flush(r, err) : rc;
}

static int audit_all(struct ebb__restorer *r, struct ebb_err *err)
{
    size_t i;
    int rc = 0;

    for (i = 0; i < r->batch.count && !rc; i++)
        if (r->batch.moves[i].state == EBB_MOVE_BACK)
            rc = ebb__run_audit_file(r->run, "restored", r->batch.moves[i].path, "", err);
    return rc ? rc : ebb__run_audit_flush(r->run, err);
}

static void prune(struct ebb__restorer *r)
{
    size_t i;

    for (i = 0; i < r->batch.count; i++)
        if (r->batch.moves[i].state == EBB_MOVE_BACK)
            ebb_removal_prune(&r->run->quarantine, r->batch.moves[i].target, NULL);
}

int ebb__restorer_flush(struct ebb__restorer *r, struct ebb_err *err)
{
    int rc;

    if (r->batch.count == 0)
        return 0;
    rc = ebb__batch_sync(r->run, &r->batch, EBB_MOVE_BACK, err);
    if (!rc && r->has_journal)
        rc = ebb__batch_store(r->run, &r->batch, EBB_MOVE_BACK, "restored", err);
    else if (!rc)
        rc = audit_all(r, err);
    if (!rc)
        prune(r);
    ebb__batch_reset(&r->batch);
    return rc ? rc : ebb__run_may_go_on(r->run, err);
}

static int tell_partial(const struct ebb__restorer *r, struct ebb_err *err)
{
    const struct ebb_file_notes *notes = r->out->failed.count ? &r->out->failed : &r->out->conflicts;

    return ebb_err_set(err, EBB_EPARTIAL, "run %s: partly restored: %zu conflicts, %zu failed, as %s: %s",
                       r->run->record.id, r->out->conflicts.count, r->out->failed.count, notes->items[0].path,
                       notes->items[0].why);
}

int ebb__restorer_end(struct ebb__restorer *r, struct ebb_err *err)
{
    size_t i;
    int rc = 0;

    for (i = 0; i < r->wanted.count && !rc; i++)
        if (!r->is_met[i])
            rc = note(r, &r->out->failed, ebb_str_of(r->wanted.items[i]), "this run did not move it", err);
    if (!rc && (r->out->conflicts.count > 0 || r->out->failed.count > 0))
        rc = tell_partial(r, err);
    return rc;
}
