/* SPDX-License-Identifier: Apache-2.0
 *
 * Events that were told from outside: the newest of each type, the oldest first. Commits are not taken from here: the
 * table's metadata tells them, each once, whatever was delivered.
 */
#include <stdlib.h>

#include "io/store_events.h"
#include "service/facts_priv.h"

#define OF_A_TYPE 1000
#define TYPES_MAX 100
#define MAX_BYTES ((size_t)4 << 20) /* of their JSON: what comes from outside must not fill the facts */

struct told {
    int64_t seq, at_ms, received_ms;
    char *source, *id, *type, *json; /* in the arena */
};

struct gathering {
    const char *table;
    struct ebb_arena arena;
    struct told *items;
    size_t count, cap;
    size_t bytes, max_bytes; /* of the type that is gathered */
};

static int grow(struct gathering *g, struct ebb_err *err)
{
    size_t cap = g->cap ? 2 * g->cap : 64;
    struct told *items;

    if (g->count < g->cap)
        return 0;
    items = realloc(g->items, cap * sizeof *items);
    if (!items)
        return ebb_err_nomem(err);
    g->items = items;
    g->cap = cap;
    return 0;
}

#define ENOUGH 1

static int on_event(void *data, const struct ebb_event *e, struct ebb_err *err)
{
    struct gathering *g = data;
    struct told *t;
    int rc;

    if (strcmp(e->table, g->table)) /* a '*' in its name is a pattern for the store */
        return 0;
    g->bytes += strlen(e->json) + strlen(e->id) + strlen(e->source) + 64;
    if (g->bytes > g->max_bytes)
        return ENOUGH;
    rc = grow(g, err);
    if (rc)
        return rc;
    t = &g->items[g->count];
    *t = (struct told){.seq = e->seq,
                       .at_ms = e->at_ms,
                       .received_ms = e->received_ms,
                       .source = ebb_arena_dup(&g->arena, e->source, strlen(e->source)),
                       .id = ebb_arena_dup(&g->arena, e->id, strlen(e->id)),
                       .type = ebb_arena_dup(&g->arena, e->type, strlen(e->type)),
                       .json = ebb_arena_dup(&g->arena, e->json, strlen(e->json))};
    if (!t->source || !t->id || !t->type || !t->json)
        return ebb_err_nomem(err);
    g->count++;
    return 0;
}

static int gather_type(const struct ebb_site *site, struct gathering *g, const char *type, struct ebb_err *err)
{
    struct ebb_event_filter filter = {.table = g->table, .type = type, .newest_first = true, .limit = OF_A_TYPE};
    int rc;

    if (!strcmp(type, "snapshot.committed"))
        return 0;
    g->bytes = 0;
    rc = ebb_store_list_events(site->store, &filter, on_event, g, err);
    return rc == ENOUGH ? 0 : rc;
}

static int by_time(const void *a, const void *b)
{
    const struct told *x = a, *y = b;

    if (x->at_ms != y->at_ms)
        return x->at_ms < y->at_ms ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Members of its own, but for those that say what it is. */
static void put_rest(struct ebb_value *event, const char *json)
{
    static const char *const OURS[] = {"id", "type", "at", "source", "own", "received", "seq"};
    struct ebb_value *rest = NULL;

    if (ebb_value_of_json("event", json, strlen(json), NULL, &rest, NULL))
        return;
    for (size_t i = 0; i < ebb_value_get_count(rest); i++) {
        struct ebb_str key = ebb_value_get_key(rest, i);
        bool is_ours = !key.p || strlen(key.p) != key.n;

        for (size_t k = 0; !is_ours && k < sizeof OURS / sizeof OURS[0]; k++)
            is_ours = !strcmp(OURS[k], key.p);
        if (!is_ours)
            ebb_value_put_copy(event, key.p, ebb_value_get_at(rest, i));
    }
    ebb_value_free(rest);
}

static void put_event(struct ebb_value *events, const struct told *t)
{
    struct ebb_value *event = ebb_value_add_map(events);

    ebb_value_put_str(event, "id", t->id);
    ebb_value_put_str(event, "type", t->type);
    ebb_value_put_int(event, "at", t->at_ms);
    ebb_value_put_str(event, "source", t->source);
    ebb_value_put_int(event, "received", t->received_ms);
    ebb_value_put_int(event, "seq", t->seq);
    put_rest(event, t->json);
}

int ebb__facts_put_told(const struct ebb_site *site, const struct ebb_table *table, struct ebb_value *events,
                        struct ebb_err *err)
{
    struct gathering g = {.table = table->label};
    struct ebb_strs types;
    int rc;

    if (!site->store)
        return 0;
    ebb_strs_init(&types);
    ebb_arena_init(&g.arena, 4 * MAX_BYTES);
    rc = ebb_store_event_types(site->store, table->label, &types, err);
    g.max_bytes = MAX_BYTES / (types.count < TYPES_MAX ? types.count + 1 : TYPES_MAX);
    for (size_t i = 0; !rc && i < types.count && i < TYPES_MAX; i++)
        rc = gather_type(site, &g, types.items[i], err);
    if (!rc && g.count)
        qsort(g.items, g.count, sizeof *g.items, by_time);
    for (size_t i = 0; !rc && i < g.count; i++)
        put_event(events, &g.items[i]);
    free(g.items);
    ebb_arena_fini(&g.arena);
    ebb_strs_fini(&types);
    return rc;
}
