/* SPDX-License-Identifier: Apache-2.0
 *
 * Many files at once. Locally one after another; in an object store each step is made for all before the next one.
 */
#include <stdlib.h>

#include "table/removal_priv.h"

static int take_each(struct ebb_place *table, struct ebb_quarantine *q, struct ebb_removal_item *items, size_t n,
                     struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < n; i++) {
        items[i].outcome = EBB_REMOVAL_REFUSED;
        rc = ebb_removal_take(table, q, &items[i].file, &items[i].outcome, &items[i].why);
        if (rc && err)
            *err = items[i].why;
    }
    return rc;
}

static int unlink_each(struct ebb_quarantine *q, struct ebb_removal_item *items, size_t n, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < n; i++) {
        items[i].outcome = EBB_REMOVAL_REFUSED;
        rc = ebb_removal_unlink(q, &items[i].file, &items[i].outcome, &items[i].why);
        if (rc && err)
            *err = items[i].why;
    }
    return rc;
}

/* All that is at hand for n items. Those that are left after the look are `count` of moves or unlinks, of items
 * `which`. */
struct many {
    struct ebb_quarantine *q;
    struct ebb_removal_item *items;
    size_t n, count;
    struct ebb__removal_names *names;
    struct ebb_place_stat_item *stats;
    struct ebb_place_move_item *moves;
    struct ebb_place_unlink_item *unlinks;
    size_t *which;
};

static void many_fini(struct many *m)
{
    for (size_t i = 0; m->names && i < m->n; i++)
        ebb__removal_names_fini(&m->names[i]);
    free(m->names);
    free(m->stats);
    free(m->moves);
    free(m->unlinks);
    free(m->which);
}

static int many_init(struct many *m, struct ebb_quarantine *q, struct ebb_removal_item *items, size_t n,
                     struct ebb_err *err)
{
    int rc = 0;

    memset(m, 0, sizeof *m);
    m->q = q;
    m->items = items;
    m->names = calloc(n + 1, sizeof *m->names);
    m->stats = calloc(n + 1, sizeof *m->stats);
    m->moves = calloc(n + 1, sizeof *m->moves);
    m->unlinks = calloc(n + 1, sizeof *m->unlinks);
    m->which = calloc(n + 1, sizeof *m->which);
    if (!m->names || !m->stats || !m->moves || !m->unlinks || !m->which)
        return ebb_err_nomem(err);
    for (size_t i = 0; !rc && i < n; i++) {
        memset(&items[i].why, 0, sizeof items[i].why);
        items[i].outcome = EBB_REMOVAL_REFUSED;
        m->n++;
        rc = ebb__removal_names_init(&m->names[i], q, &items[i].file, err);
    }
    return rc;
}

/* Look at all; false for those that are not what is wanted, whose outcome is told. */
static bool may_go(struct ebb_removal_item *item, const struct ebb_place_stat_item *seen, bool is_planned,
                   const char *why)
{
    if (seen->err.error) {
        item->why = seen->err;
        item->outcome = seen->err.error == EBB_ENOENT ? EBB_REMOVAL_GONE : EBB_REMOVAL_REFUSED;
        return false;
    }
    if (is_planned ? ebb__removal_is_planned(&seen->st, &item->file) : ebb__removal_is_same(&seen->st, &item->file))
        return true;
    ebb_err_set(&item->why, EBB_EREFUSED, "%s: %s", seen->name, why);
    item->outcome = EBB_REMOVAL_CHANGED;
    return false;
}

static enum ebb_removal outcome_of_move(const struct ebb_place_move_item *move, const struct ebb_removal_file *file)
{
    switch (move->err.error) {
    case EBB_OK:
        return ebb__removal_is_same(&move->after, file) ? EBB_REMOVAL_DONE : EBB_REMOVAL_STUCK;
    case EBB_ENOENT:
        return EBB_REMOVAL_GONE;
    case EBB_ECHANGED:
        return EBB_REMOVAL_CHANGED;
    case EBB_EEXIST:
        return EBB_REMOVAL_OCCUPIED;
    default:
        return EBB_REMOVAL_REFUSED;
    }
}

static int move_all(struct many *m, struct ebb_place *table, struct ebb_err *err)
{
    int rc = ebb_place_move_many(table, m->q->place, m->moves, m->count, err);

    for (size_t i = 0; i < m->count; i++) {
        struct ebb_removal_item *item = &m->items[m->which[i]];

        item->why = m->moves[i].err;
        item->outcome = outcome_of_move(&m->moves[i], &item->file);
        if (!rc && ebb__removal_is_fatal(-(int)item->why.error)) {
            rc = -(int)item->why.error;
            if (err)
                *err = item->why;
        }
    }
    return rc;
}

int ebb_removal_take_many(struct ebb_place *table, struct ebb_quarantine *q, struct ebb_removal_item *items, size_t n,
                          struct ebb_err *err)
{
    struct many m;
    int rc;

    if (!ebb_place_is_remote(table))
        return take_each(table, q, items, n, err);
    rc = many_init(&m, q, items, n, err);
    for (size_t i = 0; !rc && i < n; i++)
        m.stats[i].name = m.names[i].old_name.data;
    if (!rc)
        rc = ebb_place_stat_many(table, m.stats, n, err);
    for (size_t i = 0; !rc && i < n; i++) {
        if (!may_go(&items[i], &m.stats[i], true, "changed since it was planned"))
            continue;
        m.moves[m.count] = (struct ebb_place_move_item){.from_name = m.names[i].old_name.data,
                                                        .to_name = m.names[i].new_name.data,
                                                        .planned = &m.stats[i].st,
                                                        .id = items[i].file.id};
        m.which[m.count++] = i;
    }
    if (!rc)
        rc = move_all(&m, table, err);
    many_fini(&m);
    return rc;
}

static int unlink_all(struct many *m, struct ebb_err *err)
{
    int rc = ebb_place_unlink_many(m->q->place, m->unlinks, m->count, err);

    for (size_t i = 0; !rc && i < m->count; i++) {
        struct ebb_removal_item *item = &m->items[m->which[i]];

        item->why = m->unlinks[i].err;
        rc = ebb__removal_outcome(-(int)item->why.error, &item->outcome);
        if (rc && err)
            *err = item->why;
    }
    return rc;
}

int ebb_removal_unlink_many(struct ebb_quarantine *q, struct ebb_removal_item *items, size_t n, struct ebb_err *err)
{
    struct many m;
    int rc;

    if (!ebb_place_is_remote(q->place))
        return unlink_each(q, items, n, err);
    rc = many_init(&m, q, items, n, err);
    for (size_t i = 0; !rc && i < n; i++)
        m.stats[i].name = m.names[i].new_name.data;
    if (!rc)
        rc = ebb_place_stat_many(q->place, m.stats, n, err);
    for (size_t i = 0; !rc && i < n; i++) {
        if (!may_go(&items[i], &m.stats[i], false, "is not the file that was put here"))
            continue;
        m.unlinks[m.count].name = m.names[i].new_name.data;
        m.which[m.count++] = i;
    }
    if (!rc)
        rc = unlink_all(&m, err);
    many_fini(&m);
    return rc;
}
