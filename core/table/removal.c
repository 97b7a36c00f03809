/* SPDX-License-Identifier: Apache-2.0 */
#include "table/removal_priv.h"

#include "table/name_priv.h"

int ebb__removal_names_init(struct ebb__removal_names *n, const struct ebb_quarantine *q,
                            const struct ebb_removal_file *file, struct ebb_err *err)
{
    int rc;

    ebb_buf_init(&n->old_name, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&n->new_name, EBB_LOCATION_MAX_BYTES);
    if (!ebb__name_is_safe(file->name))
        return ebb_err_set(err, EBB_EOUTSIDE, "\"%.*s\" can't be a name below the table's location",
                           (int)(file->name.n > 400 ? 400 : file->name.n), file->name.p);
    if (file->target.n == 0)
        return ebb_err_set(err, EBB_EOUTSIDE, "quarantine: a file without a name");
    ebb_buf_add_str(&n->old_name, file->name);
    rc = ebb_buf_check(&n->old_name, "file name", err);
    return rc ? rc : ebb_quarantine_name(q, file->target, &n->new_name, err);
}

void ebb__removal_names_fini(struct ebb__removal_names *n)
{
    ebb_buf_fini(&n->new_name);
    ebb_buf_fini(&n->old_name);
}

bool ebb__removal_is_fatal(int rc)
{
    return rc == -EBB_ENOSPACE || rc == -EBB_ENOMEM || rc == -EBB_EINTERNAL || rc == -EBB_EOUTSIDE;
}

/* Turn an error of the storage into an outcome; 0 unless it must stop the run. */
int ebb__removal_outcome(int rc, enum ebb_removal *out)
{
    if (ebb__removal_is_fatal(rc))
        return rc;
    *out = rc == 0             ? EBB_REMOVAL_DONE
           : rc == -EBB_ENOENT ? EBB_REMOVAL_GONE
           : rc == -EBB_EEXIST ? EBB_REMOVAL_OCCUPIED
                               : EBB_REMOVAL_REFUSED;
    return 0;
}

static int changed(const char *name, const char *why, enum ebb_removal *out, struct ebb_err *err)
{
    ebb_err_set(err, EBB_EREFUSED, "%s: %s", name, why);
    *out = EBB_REMOVAL_CHANGED;
    return 0;
}

bool ebb__removal_is_same(const struct ebb_stat *st, const struct ebb_removal_file *file)
{
    return st->is_file && ebb_stat_is_moved(st, file->id, file->size_bytes, file->mtime_ns);
}

/* Never touched since it was planned: the change time too. */
bool ebb__removal_is_planned(const struct ebb_stat *st, const struct ebb_removal_file *file)
{
    char id[EBB_STAT_ID_MAX];

    ebb_stat_id(st, id);
    return ebb__removal_is_same(st, file) && strcmp(id, file->id) == 0;
}

/* After a move: is what lies at the new name the recorded file? Between the look before and the move a writer may have
 * put another one there. */
static int check_taken(struct ebb_place *table, struct ebb_quarantine *q, const struct ebb__removal_names *n,
                       const struct ebb_removal_file *file, enum ebb_removal *out, struct ebb_err *err)
{
    struct ebb_stat st;
    int rc = ebb_place_stat(q->place, n->new_name.data, &st, err);

    if (!rc && ebb__removal_is_same(&st, file))
        return 0;
    rc = ebb_place_move(q->place, n->new_name.data, table, n->old_name.data, err);
    if (!rc)
        return changed(n->old_name.data, "was replaced while it was moved, and was put back", out, err);
    *out = EBB_REMOVAL_STUCK;
    return 0;
}

int ebb_removal_take(struct ebb_place *table, struct ebb_quarantine *q, const struct ebb_removal_file *file,
                     enum ebb_removal *out, struct ebb_err *err)
{
    struct ebb__removal_names n;
    struct ebb_stat st;
    int rc;

    rc = ebb__removal_names_init(&n, q, file, err);
    if (rc)
        goto out;
    rc = ebb_place_stat(table, n.old_name.data, &st, err);
    if (!rc && !ebb__removal_is_planned(&st, file)) {
        rc = changed(n.old_name.data, "changed since it was planned", out, err);
        goto out;
    }
    if (!rc)
        rc = ebb_place_move(table, n.old_name.data, q->place, n.new_name.data, err);
    rc = ebb__removal_outcome(rc, out);
    if (!rc && *out == EBB_REMOVAL_DONE)
        rc = check_taken(table, q, &n, file, out, err);
out:
    ebb__removal_names_fini(&n);
    return rc;
}

static int make_parent(struct ebb_place *table, const char *name, struct ebb_err *err)
{
    struct ebb_str dir = ebb__name_dir(ebb_str_of(name));
    struct ebb_buf b;
    int rc = 0;

    ebb_buf_init(&b, EBB_LOCATION_MAX_BYTES);
    ebb_buf_add_str(&b, dir);
    if (dir.n > 0)
        rc = ebb_place_make_dirs(table, ebb_buf_cstr(&b), false, err);
    ebb_buf_fini(&b);
    return rc;
}

int ebb_removal_put_back(struct ebb_place *table, struct ebb_quarantine *q, const struct ebb_removal_file *file,
                         enum ebb_removal *out, struct ebb_err *err)
{
    struct ebb__removal_names n;
    struct ebb_stat st;
    int rc;

    rc = ebb__removal_names_init(&n, q, file, err);
    if (rc)
        goto out;
    rc = ebb_place_stat(q->place, n.new_name.data, &st, err);
    if (!rc && !ebb__removal_is_same(&st, file)) {
        rc = changed(n.new_name.data, "is not the file that was put here", out, err);
        goto out;
    }
    if (!rc)
        rc = make_parent(table, n.old_name.data, err);
    if (!rc)
        rc = ebb_place_move(q->place, n.new_name.data, table, n.old_name.data, err);
    rc = ebb__removal_outcome(rc, out);
out:
    ebb__removal_names_fini(&n);
    return rc;
}

int ebb_removal_unlink(struct ebb_quarantine *q, const struct ebb_removal_file *file, enum ebb_removal *out,
                       struct ebb_err *err)
{
    struct ebb__removal_names n;
    struct ebb_stat st;
    int rc;

    rc = ebb__removal_names_init(&n, q, file, err);
    if (rc)
        goto out;
    rc = ebb_place_stat(q->place, n.new_name.data, &st, err);
    if (!rc && !ebb__removal_is_same(&st, file)) {
        rc = changed(n.new_name.data, "is not the file that was put here", out, err);
        goto out;
    }
    if (!rc)
        rc = ebb_place_unlink(q->place, n.new_name.data, err);
    rc = ebb__removal_outcome(rc, out);
out:
    ebb__removal_names_fini(&n);
    return rc;
}

int ebb_removal_prune(struct ebb_quarantine *q, struct ebb_str target, struct ebb_err *err)
{
    struct ebb_str dir = ebb__name_dir(target);
    struct ebb_buf name;
    int rc = 0;

    if (ebb_place_is_remote(q->place))
        return 0; /* there are no folders */
    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    for (; dir.n > 0 && !rc; dir = ebb__name_dir(dir)) {
        ebb_buf_reset(&name);
        rc = ebb_quarantine_name(q, dir, &name, err);
        if (!rc)
            rc = ebb_place_remove_dir(q->place, name.data, err);
        if (rc == -EBB_ENOENT)
            rc = 0;
    }
    ebb_buf_fini(&name);
    return rc == -EBB_EEXIST ? 0 : rc;
}

static int unlink_own(struct ebb_quarantine *q, const char *last, bool is_log, struct ebb_err *err)
{
    struct ebb_buf name;
    int rc;

    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&name, "%s/%s", q->folder, last);
    rc = ebb_buf_check(&name, "quarantine name", err);
    if (!rc)
        rc = is_log ? ebb_place_unlink_log(q->place, name.data, err) : ebb_place_unlink(q->place, name.data, err);
    ebb_buf_fini(&name);
    return rc == -EBB_ENOENT ? 0 : rc;
}

int ebb_removal_remove_record(struct ebb_quarantine *q, bool *is_gone, struct ebb_err *err)
{
    int rc;

    *is_gone = false;
    rc = unlink_own(q, EBB_QUARANTINE_RECORD, true, err);
    if (!rc)
        rc = unlink_own(q, EBB_QUARANTINE_RECORD_NEW, false, err);
    if (rc)
        return rc;
    rc = ebb_place_remove_dir(q->place, q->folder, err);
    *is_gone = rc == 0 || rc == -EBB_ENOENT;
    return rc == -EBB_ENOENT || rc == -EBB_EEXIST ? 0 : rc;
}

static int sync_parent(struct ebb_place *place, const char *name, struct ebb_err *err)
{
    struct ebb_str dir = ebb__name_dir(ebb_str_of(name));
    struct ebb_buf b;
    int rc;

    ebb_buf_init(&b, EBB_LOCATION_MAX_BYTES);
    ebb_buf_add_str(&b, dir);
    rc = ebb_place_sync_dir(place, ebb_buf_cstr(&b), err);
    ebb_buf_fini(&b);
    return rc == -EBB_ENOENT ? 0 : rc;
}

int ebb_removal_sync(struct ebb_place *table, struct ebb_quarantine *q, const struct ebb_removal_file *file,
                     struct ebb_err *err)
{
    struct ebb__removal_names n;
    int rc;

    rc = ebb__removal_names_init(&n, q, file, err);
    if (!rc)
        rc = sync_parent(q->place, n.new_name.data, err);
    if (!rc)
        rc = sync_parent(table, n.old_name.data, err);
    ebb__removal_names_fini(&n);
    return rc;
}

static int look_at(struct ebb_place *place, const char *name, struct ebb_stat *st, bool *is_there, struct ebb_err *err)
{
    int rc = ebb_place_stat(place, name, st, err);

    *is_there = rc == 0;
    return rc == -EBB_ENOENT ? 0 : rc;
}

int ebb_removal_look(struct ebb_place *table, struct ebb_quarantine *q, const struct ebb_removal_file *file,
                     struct ebb_removal_state *out, struct ebb_err *err)
{
    struct ebb_stat before, after;
    bool has_old = false, has_new = false;
    struct ebb__removal_names n;
    int rc;

    memset(out, 0, sizeof *out);
    rc = ebb__removal_names_init(&n, q, file, err);
    if (!rc)
        rc = look_at(table, n.old_name.data, &before, &has_old, err);
    if (!rc)
        rc = look_at(q->place, n.new_name.data, &after, &has_new, err);
    ebb__removal_names_fini(&n);
    if (rc)
        return rc;
    out->presence =
        has_old ? (has_new ? EBB_PRESENT_BOTH : EBB_PRESENT_OLD) : (has_new ? EBB_PRESENT_NEW : EBB_PRESENT_NOWHERE);
    out->is_old_planned = has_old && ebb__removal_is_planned(&before, file);
    out->is_old_same = has_old && ebb__removal_is_same(&before, file);
    out->is_new_same = has_new && ebb__removal_is_same(&after, file);
    out->is_one_file =
        has_old && has_new &&
        (ebb_stat_is_one(&before, &after) || (ebb_place_is_remote(table) && out->is_old_same && out->is_new_same));
    return 0;
}
