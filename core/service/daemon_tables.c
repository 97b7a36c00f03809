/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables that are known: found by name, woken by time (a heap), looked at in turn (a queue).
 */
#include <stdlib.h>

#include "service/daemon_priv.h"

/* ---- heap ---- */

static void place(struct ebb__tables *t, size_t at, struct ebb__table *table)
{
    t->heap[at] = table;
    table->heap_at = at;
}

static void sift_up(struct ebb__tables *t, size_t at)
{
    struct ebb__table *table = t->heap[at];

    while (at && t->heap[(at - 1) / 2]->wake_ms > table->wake_ms) {
        place(t, at, t->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(t, at, table);
}

static void sift_down(struct ebb__tables *t, size_t at)
{
    struct ebb__table *table = t->heap[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= t->heap_count)
            break;
        if (child + 1 < t->heap_count && t->heap[child + 1]->wake_ms < t->heap[child]->wake_ms)
            child++;
        if (t->heap[child]->wake_ms >= table->wake_ms)
            break;
        place(t, at, t->heap[child]);
        at = child;
    }
    place(t, at, table);
}

static void heap_remove(struct ebb__tables *t, struct ebb__table *table)
{
    size_t at = table->heap_at;

    if (at == SIZE_MAX)
        return;
    table->heap_at = SIZE_MAX;
    if (at == --t->heap_count)
        return;
    place(t, at, t->heap[t->heap_count]);
    sift_up(t, at);
    sift_down(t, t->heap[at]->heap_at);
}

void ebb__tables_wake(struct ebb__tables *t, struct ebb__table *table, int64_t wake_ms)
{
    heap_remove(t, table);
    table->wake_ms = wake_ms;
    if (wake_ms == INT64_MAX || t->heap_count == t->heap_cap)
        return;
    place(t, t->heap_count, table);
    sift_up(t, t->heap_count++);
}

const struct ebb__table *ebb__tables_next(const struct ebb__tables *t)
{
    return t->heap_count ? t->heap[0] : NULL;
}

/* ---- queue ---- */

void ebb__tables_queue(struct ebb__tables *t, struct ebb__table *table)
{
    if (table->is_looking)
        table->is_noted = true;
    if (table->is_looking || table->is_queued || table->is_gone)
        return;
    table->is_queued = true;
    table->next = NULL;
    if (t->last)
        t->last->next = table;
    else
        t->first = table;
    t->last = table;
    t->waiting++;
}

struct ebb__table *ebb__tables_take(struct ebb__tables *t)
{
    struct ebb__table *table = t->first;

    if (!table)
        return NULL;
    t->first = table->next;
    if (!t->first)
        t->last = NULL;
    t->waiting--;
    table->is_queued = false;
    table->is_looking = true;
    heap_remove(t, table);
    return table;
}

void ebb__tables_due(struct ebb__tables *t, int64_t now_ms)
{
    while (t->heap_count && t->heap[0]->wake_ms <= now_ms) {
        struct ebb__table *table = t->heap[0];

        heap_remove(t, table);
        ebb__tables_queue(t, table);
    }
}

void ebb__tables_looked(struct ebb__tables *t, struct ebb__table *table, int64_t wake_ms)
{
    table->is_looking = false;
    if (table->is_gone) {
        free(table);
        return;
    }
    ebb__tables_wake(t, table, wake_ms);
    if (table->is_noted) {
        table->is_noted = false;
        ebb__tables_queue(t, table);
    }
}

/* Leave out those that are gone. */
static void queue_sweep(struct ebb__tables *t)
{
    struct ebb__table *table = t->first;

    t->first = t->last = NULL;
    t->waiting = 0;
    while (table) {
        struct ebb__table *next = table->next;

        table->is_queued = false;
        if (table->is_gone)
            free(table);
        else
            ebb__tables_queue(t, table);
        table = next;
    }
}

/* ---- by name ---- */

struct ebb__table *ebb__tables_find(const struct ebb__tables *t, const char *label)
{
    size_t low = 0, high = t->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int c = strcmp(t->items[middle]->entry->label, label);

        if (!c)
            return t->items[middle];
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- slots ---- */

#define SLOT_LOOKS 4

static struct ebb__table *longest_waiting(const struct ebb__tables *t)
{
    struct ebb__table *found = NULL;

    for (size_t i = 0; i < t->count; i++) {
        struct ebb__table *one = t->items[i];

        if (one->slot_since_ms && !one->is_queued && !one->is_noted &&
            (!found || one->slot_since_ms < found->slot_since_ms))
            found = one;
    }
    return found;
}

void ebb__tables_slot_free(struct ebb__tables *t)
{
    struct ebb__table *table;

    for (int i = 0; i < SLOT_LOOKS && (table = longest_waiting(t)) != NULL; i++) {
        table->early = 0;
        ebb__tables_queue(t, table);
    }
}

/* ---- another view ---- */

struct merge {
    struct ebb__tables *t;
    const struct ebb__view *view;
    struct ebb__table **items, **fresh;
    size_t count, fresh_count, gone;
    int64_t listed_ms;
};

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool is_changed(const struct ebb__entry *was, const struct ebb__entry *is)
{
    return !is_same_text(was->metadata_uri, is->metadata_uri) || !is_same_text(was->location, is->location) ||
           was->overlaps != is->overlaps;
}

/* New tables are made first: when memory runs out nothing was changed yet. */
static int make_fresh(struct merge *m, struct ebb_err *err)
{
    size_t old = 0;

    for (size_t i = 0; i < m->view->count; i++) {
        int c = -1;

        while (old < m->t->count && (c = strcmp(m->t->items[old]->entry->label, m->view->entries[i].label)) < 0)
            old++;
        if (old < m->t->count && c == 0)
            continue;
        m->fresh[m->fresh_count] = calloc(1, sizeof **m->fresh);
        if (!m->fresh[m->fresh_count])
            return ebb_err_nomem(err);
        m->fresh[m->fresh_count]->heap_at = SIZE_MAX;
        m->fresh[m->fresh_count]->wake_ms = INT64_MAX;
        m->fresh[m->fresh_count++]->entry = &m->view->entries[i];
    }
    return 0;
}

static void leave(struct merge *m, struct ebb__table *table)
{
    heap_remove(m->t, table);
    table->is_gone = true;
    m->gone++;
    if (!table->is_looking && !table->is_queued)
        free(table);
}

static void take_over(struct merge *m)
{
    size_t old = 0, fresh = 0;

    for (size_t i = 0; i < m->view->count; i++) {
        const struct ebb__entry *entry = &m->view->entries[i];
        struct ebb__table *table;

        while (old < m->t->count && strcmp(m->t->items[old]->entry->label, entry->label) < 0)
            leave(m, m->t->items[old++]);
        if (fresh < m->fresh_count && m->fresh[fresh]->entry == entry) {
            table = m->fresh[fresh++];
            table->is_noted = true;
        } else {
            table = m->t->items[old++];
            table->is_noted = table->is_noted || is_changed(table->entry, entry);
            table->entry = entry;
        }
        table->listed_ms = m->listed_ms;
        m->items[m->count++] = table;
    }
    while (old < m->t->count)
        leave(m, m->t->items[old++]);
}

/* What was noted and is not being looked at is queued. */
static void queue_noted(struct ebb__tables *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i]->is_noted && !t->items[i]->is_looking) {
            t->items[i]->is_noted = false;
            ebb__tables_queue(t, t->items[i]);
        }
}

static int make_room(struct merge *m, struct ebb_err *err)
{
    struct ebb__table **heap;

    m->items = calloc(m->view->count + 1, sizeof *m->items);
    m->fresh = calloc(m->view->count + 1, sizeof *m->fresh);
    if (!m->items || !m->fresh)
        return ebb_err_nomem(err);
    if (m->t->heap_cap >= m->view->count)
        return 0;
    heap = realloc(m->t->heap, m->view->count * sizeof *heap);
    if (!heap)
        return ebb_err_nomem(err);
    m->t->heap = heap;
    m->t->heap_cap = m->view->count;
    return 0;
}

int ebb__tables_merge(struct ebb__tables *t, const struct ebb__view *view, int64_t listed_ms, size_t *fresh,
                      size_t *gone, struct ebb_err *err)
{
    struct merge m = {t, view, NULL, NULL, 0, 0, 0, listed_ms};
    int rc = make_room(&m, err);

    if (!rc)
        rc = make_fresh(&m, err);
    if (rc) {
        for (size_t i = 0; i < m.fresh_count; i++)
            free(m.fresh[i]);
        free(m.items);
    } else {
        take_over(&m);
        free(t->items);
        t->items = m.items;
        t->count = m.count;
        queue_sweep(t);
        queue_noted(t);
        *fresh = m.fresh_count;
        *gone = m.gone;
    }
    free(m.fresh);
    return rc;
}

void ebb__tables_fini(struct ebb__tables *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->items[i]);
    free(t->items);
    free(t->heap);
    memset(t, 0, sizeof *t);
}
