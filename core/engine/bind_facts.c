/* SPDX-License-Identifier: Apache-2.0
 *
 * t and ctx: the shapes of the facts.
 */
#include "engine/sections_priv.h"

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
const struct ebb__shape ebb__shape_snapshot = SHAPE("snapshot", SNAPSHOT, false);

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
    MAP("custom", NULL, true),
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
    MAP("current_snapshot", &ebb__shape_snapshot, false),
    METHOD("snapshots", ebb__l_snapshots),
    MAP("refs", NULL, true),
    MAP("stats", &STATS_SHAPE, true),
    METHOD("partitions", ebb__l_partitions),
    PLAIN("location_overlaps"),
};
const struct ebb__shape ebb__shape_table = SHAPE("t", TABLE, false);

static const struct ebb__field EVENT[] = {PLAIN("id"), PLAIN("type"), PLAIN("at"), PLAIN("source"), PLAIN("received")};
const struct ebb__shape ebb__shape_event = SHAPE("event", EVENT, true);

static const struct ebb__field EVENTS[] = {METHOD("list", ebb__l_events_list), METHOD("count", ebb__l_events_count)};
const struct ebb__shape ebb__shape_events = SHAPE("ctx.events", EVENTS, false);

static const struct ebb__field TRIGGER[] = {PLAIN("kind"), PLAIN("scheduled_for"), PLAIN("missed"),
                                            MAP("events", &ebb__shape_event, false)};
const struct ebb__shape ebb__shape_trigger = SHAPE("ctx.trigger", TRIGGER, false);

static int root(lua_State *L, const char *name)
{
    return ebb__reads_at(ebb__sandbox_of(L)->reads, EBB__READS_ROOT, ebb_str_of(name));
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
    ebb__view_push_map(L, e->table, &ebb__shape_table, root(L, "t"));
    ebb__view_push_map(L, e->ctx, &e->ctx_shape, root(L, "ctx"));
}
