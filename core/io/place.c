/* SPDX-License-Identifier: Apache-2.0 */
#include "io/place_priv.h"

void ebb_place_close(struct ebb_place *place)
{
    if (place)
        place->ops->close(place);
}

const char *ebb_place_uri(const struct ebb_place *place)
{
    return place->uri;
}

const char *ebb_place_local(const struct ebb_place *place)
{
    return place->local ? place->local : "";
}

const char *ebb_place_address(const struct ebb_place *place)
{
    return place->local ? place->local : place->address;
}

bool ebb_place_is_remote(const struct ebb_place *place)
{
    return !place->local;
}

int ebb_place_is_versioned(struct ebb_place *place, int *out, struct ebb_err *err)
{
    *out = 0;
    return place->ops->is_versioned ? place->ops->is_versioned(place, out, err) : 0;
}

static bool is_component(const char *p, size_t n)
{
    return n && !(n == 1 && p[0] == '.') && !(n == 2 && p[0] == '.' && p[1] == '.');
}

static int check_name(const char *name, struct ebb_err *err)
{
    const char *p = name;

    for (;;) {
        size_t n = strcspn(p, "/");

        if (!is_component(p, n))
            return ebb_err_set(err, EBB_EBAD_LOCATION,
                               "%s: not a name below the folder: it has an empty, \".\" or \"..\" component", name);
        if (!p[n])
            return 0;
        p += n + 1;
    }
}

static int check_write(const struct ebb_place *place, struct ebb_err *err)
{
    if (place->mode == EBB_PLACE_WRITE)
        return 0;
    return ebb_err_set(err, EBB_EINTERNAL, "%s: opened for reading, not for writing", place->uri);
}

static int check_change(const struct ebb_place *place, const char *name, struct ebb_err *err)
{
    int rc = check_write(place, err);

    return rc ? rc : check_name(name, err);
}

int ebb_place_stat_root(struct ebb_place *place, struct ebb_stat *st, struct ebb_err *err)
{
    return place->ops->stat_root(place, st, err);
}

int ebb_place_is_case_insensitive(struct ebb_place *place, bool *out, struct ebb_err *err)
{
    return place->ops->is_case_insensitive(place, out, err);
}

int ebb_place_walk(struct ebb_place *place, const char *below, const struct ebb_walk_ops *ops, void *data,
                   struct ebb_err *err)
{
    int rc = below[0] ? check_name(below, err) : 0;

    return rc ? rc : place->ops->walk(place, below, ops, data, err);
}

int ebb_walk_stat(const struct ebb_walk_entry *entry, struct ebb_stat *st, struct ebb_err *err)
{
    const struct ebb_walk_handle *handle = entry->handle;

    return handle->place->ops->walk_stat(entry, st, err);
}

int ebb_place_stat(struct ebb_place *place, const char *name, struct ebb_stat *st, struct ebb_err *err)
{
    int rc = check_name(name, err);

    return rc ? rc : place->ops->stat(place, name, st, err);
}

int ebb_place_read(struct ebb_place *place, const char *name, size_t max, struct ebb_buf *out, bool *is_cut,
                   struct ebb_err *err)
{
    bool unwanted;
    int rc = check_name(name, err);

    ebb_buf_reset(out);
    return rc ? rc : place->ops->read(place, name, max, out, is_cut ? is_cut : &unwanted, err);
}

int ebb_place_resolve_link(struct ebb_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err)
{
    int rc = check_name(name, err);

    return rc ? rc : place->ops->resolve_link(place, name, out, err);
}

int ebb_place_read_link(struct ebb_place *place, const char *name, struct ebb_buf *out, struct ebb_err *err)
{
    int rc = check_name(name, err);

    return rc ? rc : place->ops->read_link(place, name, out, err);
}

int ebb_place_make_dirs(struct ebb_place *place, const char *name, bool is_private, struct ebb_err *err)
{
    int rc = check_change(place, name, err);

    return rc ? rc : place->ops->make_dirs(place, name, is_private, err);
}

int ebb_place_create(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err)
{
    int rc = check_change(place, name, err);

    return rc ? rc : place->ops->create(place, name, bytes, n, err);
}

int ebb_place_append(struct ebb_place *place, const char *name, const void *bytes, size_t n, bool sync,
                     struct ebb_err *err)
{
    int rc = check_change(place, name, err);

    return rc ? rc : place->ops->append(place, name, bytes, n, sync, err);
}

int ebb_place_replace(struct ebb_place *place, const char *name, const void *bytes, size_t n, struct ebb_err *err)
{
    int rc = check_change(place, name, err);

    return rc ? rc : place->ops->replace(place, name, bytes, n, err);
}

int ebb_place_move(struct ebb_place *from, const char *from_name, struct ebb_place *to, const char *to_name,
                   struct ebb_err *err)
{
    int rc = check_change(from, from_name, err);

    if (!rc)
        rc = check_change(to, to_name, err);
    if (rc)
        return rc;
    if (from->ops != to->ops)
        return ebb_err_set(err, EBB_EUNSUPPORTED, "%s: cannot move to %s: another kind of storage (cross-device)",
                           from->uri, to->uri);
    return from->ops->move(from, from_name, to, to_name, err);
}

int ebb_place_sync_dir(struct ebb_place *place, const char *dir, struct ebb_err *err)
{
    int rc = check_write(place, err);

    if (!rc && dir[0])
        rc = check_name(dir, err);
    return rc ? rc : place->ops->sync_dir(place, dir, err);
}

int ebb_place_unlink(struct ebb_place *place, const char *name, struct ebb_err *err)
{
    int rc = check_change(place, name, err);

    return rc ? rc : place->ops->unlink(place, name, err);
}

int ebb_place_remove_dir(struct ebb_place *place, const char *name, struct ebb_err *err)
{
    int rc = check_change(place, name, err);

    return rc ? rc : place->ops->remove_dir(place, name, err);
}

int ebb_place_clock_ms(struct ebb_place *place, const char *probe_name, int64_t *out_ms, struct ebb_err *err)
{
    int rc = check_change(place, probe_name, err);

    return rc ? rc : place->ops->clock_ms(place, probe_name, out_ms, err);
}

/* What concerns one name only, and what ends all. */
static bool is_for_all(int rc)
{
    return rc == -EBB_ENOMEM || rc == -EBB_ECANCELLED || rc == -EBB_EINTERNAL;
}

int ebb_place_stat_many(struct ebb_place *place, struct ebb_place_stat_item *items, size_t n, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < n; i++)
        rc = check_name(items[i].name, err);
    if (rc || place->ops->stat_many)
        return rc ? rc : place->ops->stat_many(place, items, n, err);
    for (size_t i = 0; !rc && i < n; i++) {
        memset(&items[i].err, 0, sizeof items[i].err);
        rc = place->ops->stat(place, items[i].name, &items[i].st, &items[i].err);
        if (is_for_all(rc) && err)
            *err = items[i].err;
        rc = is_for_all(rc) ? rc : 0;
    }
    return rc;
}

int ebb_place_read_log(struct ebb_place *place, const char *name, size_t max, struct ebb_buf *out, bool *is_cut,
                       struct ebb_err *err)
{
    bool unwanted;
    int rc;

    if (!place->ops->read_log)
        return ebb_place_read(place, name, max, out, is_cut, err);
    rc = check_name(name, err);
    ebb_buf_reset(out);
    return rc ? rc : place->ops->read_log(place, name, max, out, is_cut ? is_cut : &unwanted, err);
}

static int move_one(struct ebb_place *from, struct ebb_place *to, struct ebb_place_move_item *item)
{
    int rc = from->ops->move(from, item->from_name, to, item->to_name, &item->err);

    if (rc)
        return rc;
    /* It is moved, whatever this says: an empty `after` is no file that anybody planned. */
    memset(&item->after, 0, sizeof item->after);
    rc = to->ops->stat(to, item->to_name, &item->after, NULL);
    return is_for_all(rc) ? rc : 0;
}

int ebb_place_move_many(struct ebb_place *from, struct ebb_place *to, struct ebb_place_move_item *items, size_t n,
                        struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < n; i++) {
        rc = check_change(from, items[i].from_name, err);
        if (!rc)
            rc = check_change(to, items[i].to_name, err);
    }
    if (!rc && from->ops != to->ops)
        rc = ebb_err_set(err, EBB_EUNSUPPORTED, "%s: cannot move to %s: another kind of storage (cross-device)",
                         from->uri, to->uri);
    if (rc || from->ops->move_many)
        return rc ? rc : from->ops->move_many(from, to, items, n, err);
    for (size_t i = 0; !rc && i < n; i++) {
        memset(&items[i].err, 0, sizeof items[i].err);
        rc = move_one(from, to, &items[i]);
        if (is_for_all(rc) && err)
            *err = items[i].err;
        rc = is_for_all(rc) ? rc : 0;
    }
    return rc;
}

int ebb_place_unlink_many(struct ebb_place *place, struct ebb_place_unlink_item *items, size_t n, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < n; i++)
        rc = check_change(place, items[i].name, err);
    if (rc || place->ops->unlink_many)
        return rc ? rc : place->ops->unlink_many(place, items, n, err);
    for (size_t i = 0; !rc && i < n; i++) {
        memset(&items[i].err, 0, sizeof items[i].err);
        rc = place->ops->unlink(place, items[i].name, &items[i].err);
        if (is_for_all(rc) && err)
            *err = items[i].err;
        rc = is_for_all(rc) ? rc : 0;
    }
    return rc;
}

int ebb_place_unlink_log(struct ebb_place *place, const char *name, struct ebb_err *err)
{
    int rc = check_change(place, name, err);

    if (rc)
        return rc;
    return place->ops->unlink_log ? place->ops->unlink_log(place, name, err) : place->ops->unlink(place, name, err);
}
