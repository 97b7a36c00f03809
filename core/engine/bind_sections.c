/* SPDX-License-Identifier: Apache-2.0
 *
 * The lists that are asked for with options: snapshots, partitions, events.
 */
#include <lauxlib.h>
#include <stdlib.h>

#include "engine/sections_priv.h"

/* A section was asked for: all of it counts as read. Gives its node. */
static int mark(lua_State *L, const char *root, const char *name)
{
    struct ebb__reads *reads = ebb__sandbox_of(L)->reads;
    int node = ebb__reads_at(reads, ebb__reads_at(reads, EBB__READS_ROOT, ebb_str_of(root)), ebb_str_of(name));

    ebb__reads_mark(reads, node);
    return node;
}

/* t.snapshots { limit =, since = }: oldest first; limit keeps the newest. nil when unknown. */
int ebb__l_snapshots(lua_State *L)
{
    static const char *const KEYS[] = {"limit", "since"};
    const struct ebb_value *all = ebb_value_get(ebb__eval_of(L)->table, "snapshots");
    size_t n = ebb_value_get_count(all), first = 0;
    struct ebb__slice *s;
    struct ebb__window since;
    int64_t limit;
    int node;

    ebb__check_options(L, "t.snapshots", KEYS, 2);
    node = mark(L, "t", "snapshots");
    limit = ebb__option_int(L, "t.snapshots", "limit", INT64_MAX);
    since = ebb__option_since(L, "t.snapshots", "since");
    if (!all)
        return 0;
    EBB_MAY_LJMP(ebb__charge(L, n + 10));
    s = ebb__slice_push(L, n, &ebb__shape_snapshot, node);
    for (size_t i = 0; i < n; i++)
        if (ebb__window_has(L, &since, ebb_value_int_of(ebb_value_get_at(all, i), "at", 0)))
            s->items[s->count++] = ebb_value_get_at(all, i);
    if (limit >= 0 && (uint64_t)limit < s->count) {
        first = s->count - (size_t)limit;
        memmove(s->items, s->items + first, (size_t)limit * sizeof *s->items);
        s->count = (size_t)limit;
    }
    return 1;
}

static int compare_partitions(const void *a, const void *b)
{
    const struct ebb_value *x = *(const struct ebb_value *const *)a, *y = *(const struct ebb_value *const *)b;

    int c = ebb_str_compare(ebb_value_get_bytes(ebb_value_get(x, "key")), ebb_value_get_bytes(ebb_value_get(y, "key")));
    int64_t s = ebb_value_int_of(x, "spec_id", 0), t = ebb_value_int_of(y, "spec_id", 0);

    return c ? c : s < t ? -1 : s > t;
}

/* t.partitions { min_files =, newer_than =, limit = }: by key. nil when unknown. */
int ebb__l_partitions(lua_State *L)
{
    static const char *const KEYS[] = {"min_files", "newer_than", "limit"};
    const struct ebb_value *all = ebb_value_get(ebb__eval_of(L)->table, "partitions");
    size_t n = ebb_value_get_count(all);
    struct ebb__slice *s;
    struct ebb__window newer;
    int64_t limit, files;
    int node;

    ebb__check_options(L, "t.partitions", KEYS, 3);
    node = mark(L, "t", "partitions");
    limit = ebb__option_int(L, "t.partitions", "limit", INT64_MAX);
    files = ebb__option_int(L, "t.partitions", "min_files", INT64_MIN);
    newer = ebb__option_since(L, "t.partitions", "newer_than");
    if (!all)
        ebb__eval_of(L)->changes.lacks |= EBB_LACKS_PARTITIONS;
    if (!all)
        return 0;
    EBB_MAY_LJMP(ebb__charge(L, 8 * n + 10));
    s = ebb__slice_push(L, n, &ebb__shape_partition, node);
    for (size_t i = 0; i < n; i++) {
        const struct ebb_value *p = ebb_value_get_at(all, i);

        if (ebb_value_int_of(p, "files", 0) >= files &&
            ebb__window_has(L, &newer, ebb_value_int_of(p, "last_write", INT64_MAX)))
            s->items[s->count++] = p;
    }
    qsort(s->items, s->count, sizeof *s->items, compare_partitions);
    if (limit >= 0 && (uint64_t)limit < s->count)
        s->count = (size_t)limit;
    return 1;
}

/* Options of ctx.events: the type at [1], since, where; leaves the filter (or nil) at 2. */
static const char *event_options(lua_State *L, const char *what, struct ebb__window *since)
{
    static const char *const KEYS[] = {"since", "where"};
    const char *type;

    lua_settop(L, 1);
    if (lua_type(L, 1) == LUA_TSTRING) {
        lua_newtable(L);
        lua_insert(L, 1);
        lua_rawseti(L, 1, 1);
    }
    if (lua_type(L, 1) != LUA_TTABLE || lua_rawgeti(L, 1, 1) != LUA_TSTRING)
        luaL_error(L, "%s: write %s { \"event.type\", since = … }", what, what);
    type = lua_tostring(L, -1);
    EBB_MAY_LJMP(ebb__charge_walk(L));
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        if (lua_isinteger(L, -2) && lua_tointeger(L, -2) == 1) {
            lua_pop(L, 1);
            continue;
        }
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    lua_replace(L, 1);
    EBB_MAY_LJMP(ebb__check_keys(L, 1, what, KEYS, 2));
    *since = ebb__option_since(L, what, "since");
    lua_pushliteral(L, "where");
    if (lua_rawget(L, 1) != LUA_TNIL && lua_type(L, -1) != LUA_TFUNCTION)
        luaL_error(L, "%s: where is a function", what);
    return type;
}

static bool is_wanted(lua_State *L, const struct ebb_value *event, int filter)
{
    bool wanted;

    if (lua_isnil(L, filter))
        return true;
    lua_pushvalue(L, filter);
    ebb__view_push(L, event, &ebb__shape_event, EBB__READS_NONE);
    lua_call(L, 1, 1);
    wanted = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return wanted;
}

static const struct ebb_value *events_of(lua_State *L)
{
    const struct ebb_value *events;
    struct ebb_err err;
    int rc = ebb__eval_events(ebb__eval_of(L), &events, &err);

    if (rc == -(int)EBB_ENOMEM)
        EBB_MAY_LJMP(ebb__abort(L, EBB_EPOLICY_MEMORY));
    if (rc)
        luaL_error(L, "%s", err.message);
    return events;
}

/* All events of a type count as read. Pushes a text. */
static int mark_events(lua_State *L, const char *type)
{
    lua_pushfstring(L, "events(%s)", type);
    return mark(L, "ctx", lua_tostring(L, -1));
}

/* Whether the event, of the right type, has happened within the window. One that was told late counts from when it was
 * told: a run before that knew nothing of it. In a window that moves it is the time that counts. */
static bool is_due(lua_State *L, const struct ebb__window *since, const struct ebb_value *event)
{
    struct ebb__eval *e = ebb__eval_of(L);
    int64_t at = ebb_value_int_of(event, "at", 0), told = ebb_value_int_of(event, "received", at);

    if (at > e->input->now_ms) {
        ebb__changes_at(e, at);
        return false;
    }
    return ebb__window_has(L, since, since->moves < 0 && told > at ? told : at);
}

/* Push the list of events that fit the options. */
static struct ebb__slice *push_events(lua_State *L, const char *what)
{
    const struct ebb_value *events = events_of(L);
    size_t n = ebb_value_get_count(events);
    struct ebb__slice *s;
    struct ebb__window since;
    const char *type = event_options(L, what, &since);
    int node = mark_events(L, type);

    EBB_MAY_LJMP(ebb__charge(L, 2 * n + 10));
    s = ebb__slice_push(L, n, &ebb__shape_event, node);
    for (size_t i = 0; i < n; i++) {
        const struct ebb_value *event = ebb_value_get_at(events, i);
        const char *its = ebb_value_text_of(event, "type");

        if (its && !strcmp(its, type) && is_due(L, &since, event) && is_wanted(L, event, 3))
            s->items[s->count++] = event;
    }
    return s;
}

/* ctx.events.list { type, since =, where = }: by time, oldest first. */
int ebb__l_events_list(lua_State *L)
{
    push_events(L, "ctx.events.list");
    return 1;
}

/* ctx.events.count { … }: nil when no source of such events is known. */
int ebb__l_events_count(lua_State *L)
{
    struct ebb__slice *s = push_events(L, "ctx.events.count");

    if (!events_of(L))
        return 0;
    lua_pushinteger(L, (lua_Integer)s->count);
    return 1;
}
