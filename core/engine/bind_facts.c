/* SPDX-License-Identifier: Apache-2.0
 *
 * t and ctx: the shapes of the facts, and the lists that are asked for with options.
 */
#include <lauxlib.h>
#include <stdlib.h>

#include "base/time.h"
#include "engine/eval_priv.h"

/* Whole numbers below this are durations, others instants (this one is in 1973). */
#define INSTANT_MIN ((int64_t)100000000000)

static int l_snapshots(lua_State *L);
static int l_partitions(lua_State *L);
static int l_events_list(lua_State *L);
static int l_events_count(lua_State *L);

#define PLAIN(name)                                                                                                    \
    {                                                                                                                  \
        name, NULL, false, NULL, EBB__SPECIAL_NONE, 0                                                                  \
    }
/* Known from manifests only. */
#define COUNTED(name, lacks)                                                                                           \
    {                                                                                                                  \
        name, NULL, false, NULL, EBB__SPECIAL_NONE, lacks                                                              \
    }
#define MAP(name, shape, always)                                                                                       \
    {                                                                                                                  \
        name, shape, always, NULL, EBB__SPECIAL_NONE, 0                                                                \
    }
#define METHOD(name, function)                                                                                         \
    {                                                                                                                  \
        name, NULL, false, function, EBB__SPECIAL_NONE, 0                                                              \
    }
#define MOVING(name, special)                                                                                          \
    {                                                                                                                  \
        name, NULL, false, NULL, special, 0                                                                            \
    }
#define SHAPE(label, fields, open)                                                                                     \
    {                                                                                                                  \
        label, fields, sizeof(fields) / sizeof *(fields), open                                                         \
    }

static const struct ebb__field SNAPSHOT[] = {PLAIN("id"), PLAIN("parent_id"), PLAIN("sequence"),
                                             PLAIN("at"), PLAIN("operation"), MAP("summary", NULL, true)};
static const struct ebb__shape SNAPSHOT_SHAPE = SHAPE("snapshot", SNAPSHOT, false);

static const struct ebb__field ORPHANS[] = {PLAIN("files"), PLAIN("bytes"), MOVING("age", EBB__SPECIAL_AGE)};
static const struct ebb__shape ORPHANS_SHAPE = SHAPE("t.stats.orphans", ORPHANS, false);

static const struct ebb__field STATS[] = {
    COUNTED("data_files", EBB_LACKS_FILES),
    COUNTED("bytes", EBB_LACKS_FILES),
    COUNTED("delete_files", EBB_LACKS_FILES),
    COUNTED("delete_records", EBB_LACKS_FILES),
    COUNTED("small_files", EBB_LACKS_FILES),
    COUNTED("manifests", EBB_LACKS_FILES),
    PLAIN("snapshots"),
    COUNTED("longest_write", EBB_LACKS_WRITES),
    COUNTED("longest_write_source", EBB_LACKS_WRITES),
    PLAIN("as_of"),
    PLAIN("snapshot_id"),
    MAP("orphans", &ORPHANS_SHAPE, true),
};
static const struct ebb__shape STATS_SHAPE = SHAPE("t.stats", STATS, false);

static const struct ebb__field PARTITION[] = {
    PLAIN("key"),          PLAIN("spec_id"),        PLAIN("files"),    PLAIN("bytes"),    PLAIN("records"),
    PLAIN("delete_files"), PLAIN("delete_records"), PLAIN("avg_file"), PLAIN("max_file"), PLAIN("last_write")};
const struct ebb__shape ebb__shape_partition = SHAPE("partition", PARTITION, false);

static const struct ebb__field TABLE[] = {
    PLAIN("catalog"),
    PLAIN("namespace"),
    PLAIN("name"),
    PLAIN("uuid"),
    PLAIN("location"),
    PLAIN("format_version"),
    MAP("properties", NULL, true),
    PLAIN("spec"),
    PLAIN("sort_order"),
    PLAIN("schema"),
    MAP("current_snapshot", &SNAPSHOT_SHAPE, false),
    METHOD("snapshots", l_snapshots),
    MAP("refs", NULL, true),
    MAP("stats", &STATS_SHAPE, true),
    METHOD("partitions", l_partitions),
    PLAIN("location_overlaps"),
};
const struct ebb__shape ebb__shape_table = SHAPE("t", TABLE, false);

static const struct ebb__field EVENT[] = {PLAIN("id"), PLAIN("type"), PLAIN("at"), PLAIN("source")};
const struct ebb__shape ebb__shape_event = SHAPE("event", EVENT, true);

static const struct ebb__field EVENTS[] = {METHOD("list", l_events_list), METHOD("count", l_events_count)};
const struct ebb__shape ebb__shape_events = SHAPE("ctx.events", EVENTS, false);

static const struct ebb__field TRIGGER[] = {PLAIN("kind"), PLAIN("scheduled_for"), PLAIN("missed"),
                                            MAP("events", &ebb__shape_event, false)};
const struct ebb__shape ebb__shape_trigger = SHAPE("ctx.trigger", TRIGGER, false);

static int read_root(lua_State *L, const char *name)
{
    return ebb__reads_at(ebb__sandbox_of(L)->reads, EBB__READS_ROOT, ebb_str_of(name));
}

/* A section was asked for: all of it counts as read. Gives its node. */
static int mark(lua_State *L, const char *root, const char *name)
{
    struct ebb__reads *reads = ebb__sandbox_of(L)->reads;
    int node = ebb__reads_at(reads, read_root(L, root), ebb_str_of(name));

    ebb__reads_mark(reads, node);
    return node;
}

EBB_LJMP void ebb__facts_push(lua_State *L)
{
    struct ebb__eval *e = ebb__eval_of(L);
    struct ebb__field *f = e->ctx_fields;

    f[0] = (struct ebb__field)MOVING("now", EBB__SPECIAL_NOW);
    f[1] = (struct ebb__field)MAP("trigger", &ebb__shape_trigger, true);
    f[2] = (struct ebb__field)MAP("params", &e->policy->params_shape, true);
    f[3] = (struct ebb__field)MAP("events", &ebb__shape_events, true);
    f[4] = (struct ebb__field)MAP("runs", &ebb__shape_runs, true);
    f[5] = (struct ebb__field)MAP("fleet", NULL, true);
    e->changes = (struct ebb__changes){.holds_until_ms = INT64_MAX};
    e->ctx_shape = (struct ebb__shape){"ctx", f, 6, false};
    ebb__view_push_map(L, e->table, &ebb__shape_table, read_root(L, "t"));
    ebb__view_push_map(L, e->ctx, &e->ctx_shape, read_root(L, "ctx"));
}

static int64_t started_at(lua_State *L, bool success)
{
    struct ebb__eval *e = ebb__eval_of(L);
    const struct ebb_value *run = ebb__runs_last(e->input, success);

    return run ? ebb_value_int_of(run, "started", 0) : e->input->active_since_ms;
}

/* An instant that is a duration back from now. */
static int64_t since_ago(struct ebb__eval *e, int64_t ms, int64_t *moves)
{
    int64_t at;

    if (__builtin_sub_overflow(e->input->now_ms, ms, &at))
        at = ms < 0 ? INT64_MAX : INT64_MIN;
    *moves = ms;
    return at;
}

EBB_LJMP int64_t ebb__check_since(lua_State *L, int index, const char *what, int64_t *moves)
{
    struct ebb__eval *e = ebb__eval_of(L);
    const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tostring(L, index) : NULL;
    int64_t ms;

    *moves = -1;
    if (text && !strcmp(text, "last_run"))
        return started_at(L, false);
    if (text && !strcmp(text, "last_success"))
        return started_at(L, true);
    if (text) {
        if (ebb_duration_parse(text, &ms, NULL))
            luaL_error(L, "%s: \"%s\" is neither last_run, last_success nor a duration", what, text);
        return since_ago(e, ms, moves);
    }
    ms = ebb__check_int(L, index, what);
    if (ms < 0)
        luaL_error(L, "%s: a duration or an instant is not negative", what);
    return ms < INSTANT_MIN ? since_ago(e, ms, moves) : ms;
}

/* From when on something counts; moves: that many ms before now, -1: a fixed instant. */
struct window {
    int64_t since, moves;
};

/* The options table at 1 (or none); no other keys. */
static void check_options(lua_State *L, const char *what, const char *const *keys, size_t count)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    if (lua_type(L, 1) != LUA_TTABLE)
        luaL_error(L, "%s: write %s { … }", what, what);
    lua_settop(L, 1);
    EBB_MAY_LJMP(ebb__check_keys(L, 1, what, keys, count));
}

/* A whole number option, or otherwise. */
static int64_t option_int(lua_State *L, const char *what, const char *key, int64_t otherwise)
{
    int64_t n = otherwise;

    lua_pushstring(L, key);
    if (lua_rawget(L, 1) != LUA_TNIL)
        n = ebb__check_int(L, -1, what);
    lua_pop(L, 1);
    return n;
}

static struct window option_since(lua_State *L, const char *what, const char *key)
{
    struct window w = {INT64_MIN, -1};

    lua_pushstring(L, key);
    if (lua_rawget(L, 1) != LUA_TNIL)
        w.since = ebb__check_since(L, -1, what, &w.moves);
    lua_pop(L, 1);
    return w;
}

/* Whether an item of an instant is in the window; one that is leaves it some day when the window moves. */
static bool is_in(lua_State *L, const struct window *w, int64_t at)
{
    if (at <= w->since)
        return false;
    if (w->moves >= 0)
        ebb__changes_in(ebb__eval_of(L), at, w->moves);
    return true;
}

/* t.snapshots { limit =, since = }: oldest first; limit keeps the newest. nil when unknown. */
static int l_snapshots(lua_State *L)
{
    static const char *const KEYS[] = {"limit", "since"};
    const struct ebb_value *all = ebb_value_get(ebb__eval_of(L)->table, "snapshots");
    size_t n = ebb_value_get_count(all), first = 0;
    struct ebb__slice *s;
    struct window since;
    int64_t limit;
    int node;

    check_options(L, "t.snapshots", KEYS, 2);
    node = mark(L, "t", "snapshots");
    limit = option_int(L, "t.snapshots", "limit", INT64_MAX);
    since = option_since(L, "t.snapshots", "since");
    if (!all)
        return 0;
    EBB_MAY_LJMP(ebb__charge(L, n + 10));
    s = ebb__slice_push(L, n, &SNAPSHOT_SHAPE, node);
    for (size_t i = 0; i < n; i++)
        if (is_in(L, &since, ebb_value_int_of(ebb_value_get_at(all, i), "at", 0)))
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
static int l_partitions(lua_State *L)
{
    static const char *const KEYS[] = {"min_files", "newer_than", "limit"};
    const struct ebb_value *all = ebb_value_get(ebb__eval_of(L)->table, "partitions");
    size_t n = ebb_value_get_count(all);
    struct ebb__slice *s;
    struct window newer;
    int64_t limit, files;
    int node;

    check_options(L, "t.partitions", KEYS, 3);
    node = mark(L, "t", "partitions");
    limit = option_int(L, "t.partitions", "limit", INT64_MAX);
    files = option_int(L, "t.partitions", "min_files", INT64_MIN);
    newer = option_since(L, "t.partitions", "newer_than");
    if (!all)
        ebb__eval_of(L)->changes.lacks |= EBB_LACKS_PARTITIONS;
    if (!all)
        return 0;
    EBB_MAY_LJMP(ebb__charge(L, 8 * n + 10));
    s = ebb__slice_push(L, n, &ebb__shape_partition, node);
    for (size_t i = 0; i < n; i++) {
        const struct ebb_value *p = ebb_value_get_at(all, i);

        if (ebb_value_int_of(p, "files", 0) >= files && is_in(L, &newer, ebb_value_int_of(p, "last_write", INT64_MAX)))
            s->items[s->count++] = p;
    }
    qsort(s->items, s->count, sizeof *s->items, compare_partitions);
    if (limit >= 0 && (uint64_t)limit < s->count)
        s->count = (size_t)limit;
    return 1;
}

/* Options of ctx.events: the type at [1], since, where; leaves the filter (or nil) at 2. */
static const char *event_options(lua_State *L, const char *what, struct window *since)
{
    static const char *const KEYS[] = {"since", "where"};
    const char *type;

    if (lua_type(L, 1) == LUA_TSTRING) {
        lua_settop(L, 1);
        lua_newtable(L);
        lua_insert(L, 1);
        lua_rawseti(L, 1, 1);
    }
    if (lua_type(L, 1) != LUA_TTABLE || lua_rawgeti(L, 1, 1) != LUA_TSTRING)
        luaL_error(L, "%s: write %s { \"event.type\", since = … }", what, what);
    type = lua_tostring(L, -1);
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
    *since = option_since(L, what, "since");
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

/* Whether the event, of the right type, has happened within the window. */
static bool is_due(lua_State *L, const struct window *since, int64_t at)
{
    struct ebb__eval *e = ebb__eval_of(L);

    if (at > e->input->now_ms) {
        ebb__changes_at(e, at);
        return false;
    }
    return is_in(L, since, at);
}

/* Push the list of events that fit the options. */
static struct ebb__slice *push_events(lua_State *L, const char *what)
{
    const struct ebb_value *events = events_of(L);
    size_t n = ebb_value_get_count(events);
    struct ebb__slice *s;
    struct window since;
    const char *type = event_options(L, what, &since);
    int node = mark_events(L, type);

    EBB_MAY_LJMP(ebb__charge(L, 2 * n + 10));
    s = ebb__slice_push(L, n, &ebb__shape_event, node);
    for (size_t i = 0; i < n; i++) {
        const struct ebb_value *event = ebb_value_get_at(events, i);
        const char *its = ebb_value_text_of(event, "type");

        if (its && !strcmp(its, type) && is_due(L, &since, ebb_value_int_of(event, "at", 0)) && is_wanted(L, event, 3))
            s->items[s->count++] = event;
    }
    return s;
}

/* ctx.events.list { type, since =, where = }: by time, oldest first. */
static int l_events_list(lua_State *L)
{
    push_events(L, "ctx.events.list");
    return 1;
}

/* ctx.events.count { … }: nil when no source of such events is known. */
static int l_events_count(lua_State *L)
{
    struct ebb__slice *s = push_events(L, "ctx.events.count");

    if (!events_of(L))
        return 0;
    lua_pushinteger(L, (lua_Integer)s->count);
    return 1;
}
