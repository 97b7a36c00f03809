/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts of a table: what its metadata and the store say, and nothing that they don't.
 */
#include "service_help.h"

#include <sys/resource.h>

#include "io/store_events.h"
#include "io/store_objects.h"
#include "service/facts.h"

#define CURRENT "\"current-snapshot-id\":-1,\"refs\":{},\"snapshots\":[]"

static struct ebb_value *facts_of(struct world *w, const struct ebb_strs *events)
{
    struct ebb_facts_options o = {.policy = "sweep", .overlaps = 3, .events = events};
    struct ebb_value *facts = NULL;
    struct ebb_table *t = NULL;

    assert_ok(w, try_open(w, 0));
    assert_ok(w, ebb_table_open(ebb_workspace_site(w->ws), "lake.db.a", &t, &w->err));
    assert_ok(w, ebb_facts_new(ebb_workspace_site(w->ws), t, &o, world_now(w), &facts, &w->err));
    ebb_table_free(t);
    return facts;
}

static void start(struct world *w)
{
    open_world(w);
    world_put(w, "ebb.lua", CONFIG_HEAD "}");
    add_table(w, "a", 1);
}

static const struct ebb_value *sub(const struct ebb_value *v, const char *a, const char *b)
{
    v = ebb_value_get(v, a);
    return b ? ebb_value_get(v, b) : v;
}

static void test_identity(void **state)
{
    struct ebb_value *facts;
    const struct ebb_value *t;
    struct world w;

    (void)state;
    start(&w);
    edit_metadata(&w.tables[0], "\"properties\":{}", "\"properties\":{\"owner\":\"x\",\"k\":\"\"}");
    facts = facts_of(&w, NULL);
    t = ebb_value_get(facts, "table");
    assert_string_equal(ebb_value_text_of(t, "catalog"), "lake");
    assert_string_equal(ebb_value_text_of(t, "namespace"), "db");
    assert_string_equal(ebb_value_text_of(t, "name"), "a");
    assert_string_equal(ebb_value_text_of(t, "uuid"), "00000001-2222-4333-8444-555555555555");
    assert_string_equal(ebb_value_text_of(t, "location"), w.tables[0].uri);
    assert_int_equal(ebb_value_int_of(t, "format_version", 0), 2);
    assert_int_equal(ebb_value_int_of(t, "location_overlaps", 0), 3);
    assert_string_equal(ebb_value_text_of(ebb_value_get(t, "properties"), "owner"), "x");
    assert_int_equal(ebb_value_int_of(ebb_value_get(t, "stats"), "snapshots", -1), 0);
    assert_null(sub(t, "stats", "data_files")); /* not known is not there */
    assert_null(sub(t, "stats", "orphans"));
    assert_null(ebb_value_get(t, "current_snapshot"));
    assert_int_equal(ebb_value_get_count(ebb_value_get(facts, "events")), 0);
    ebb_value_free(facts);
    close_world(&w);
}

#define SNAPSHOT(id, seq, at, summary)                                                                                 \
    "{\"snapshot-id\":" #id ",\"sequence-number\":" #seq ",\"timestamp-ms\":" #at ",\"manifest-list\":\"m" #id         \
    "\",\"summary\":{\"operation\":\"append\"" summary "}}"

static void test_snapshots(void **state)
{
    struct ebb_value *facts;
    const struct ebb_value *t, *events;
    struct world w;

    (void)state;
    start(&w);
    edit_metadata(
        &w.tables[0], CURRENT,
        "\"current-snapshot-id\":9007199254740993,\"refs\":{\"main\":{\"snapshot-id\":9007199254740993,\"type\":"
        "\"branch\"},"
        "\"v1\":{\"snapshot-id\":7,\"type\":\"tag\"}},\"snapshots\":[" SNAPSHOT(
            9007199254740993, 3, 3000,
            ",\"total-data-files\":\"12\",\"total-files-size\":\"9223372036854775807\",\"total-delete-files\":\"x1\","
            "\"total-position-deletes\":\"9223372036854775807\",\"total-equality-deletes\":\"1\"") "," SNAPSHOT(7, 1,
                                                                                                                1000,
                                                                                                                "") "," SNAPSHOT(8,
                                                                                                                                 2,
                                                                                                                                 2000,
                                                                                                                                 ",\"ebb.run-id\":\"r-1\"") "]");
    facts = facts_of(&w, NULL);
    t = ebb_value_get(facts, "table");
    events = ebb_value_get(facts, "events");
    assert_int_equal(ebb_value_get_count(ebb_value_get(t, "snapshots")), 3); /* oldest first */
    assert_int_equal(ebb_value_int_of(ebb_value_get_at(ebb_value_get(t, "snapshots"), 0), "id", 0), 7);
    assert_int_equal(ebb_value_int_of(ebb_value_get_at(ebb_value_get(t, "snapshots"), 2), "id", 0),
                     9007199254740993); /* no float could hold it */
    assert_int_equal(ebb_value_int_of(ebb_value_get(t, "current_snapshot"), "sequence", 0), 3);
    assert_string_equal(ebb_value_text_of(sub(t, "refs", "v1"), "type"), "tag");
    assert_int_equal(ebb_value_int_of(ebb_value_get(t, "stats"), "data_files", 0), 12);
    assert_int_equal(ebb_value_int_of(ebb_value_get(t, "stats"), "bytes", 0), INT64_MAX);
    assert_null(sub(t, "stats", "delete_files"));   /* no number */
    assert_null(sub(t, "stats", "delete_records")); /* the sum is none */
    assert_int_equal(ebb_value_get_count(events), 3);
    assert_string_equal(ebb_value_text_of(ebb_value_get_at(events, 0), "type"), "snapshot.committed");
    assert_false(ebb_value_bool_of(ebb_value_get_at(events, 0), "own", false));
    assert_true(ebb_value_bool_of(ebb_value_get_at(events, 1), "own", false)); /* made by maintenance */
    ebb_value_free(facts);
    close_world(&w);
}

static void test_counters_of_a_hostile_summary(void **state)
{
    static const char *const VALUES[] = {
        "", "-1", " 1", "1 ", "0x10", "1e3", "9223372036854775808", "99999999999999999999999", "+1"};

    (void)state;
    for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++) {
        struct ebb_value *facts;
        struct world w;
        char text[512];

        start(&w);
        snprintf(text, sizeof text,
                 "\"current-snapshot-id\":7,\"snapshots\":[{\"snapshot-id\":7,\"sequence-number\":1,\"timestamp-ms\":1,"
                 "\"manifest-list\":\"m\","
                 "\"summary\":{\"operation\":\"append\",\"total-data-files\":\"%s\"}}]",
                 VALUES[i]);
        edit_metadata(&w.tables[0], CURRENT, text);
        facts = facts_of(&w, NULL);
        if (sub(ebb_value_get(facts, "table"), "stats", "data_files"))
            fail_msg("'%s' was taken for a number", VALUES[i]);
        ebb_value_free(facts);
        close_world(&w);
    }
}

static void test_runs_and_the_last_plan(void **state)
{
    static const struct {
        const char *status, *outcome;
    } CASES[] = {{"done", "success"},    {"restored", "success"}, {"purged", "success"},      {"observed", "observed"},
                 {"partial", "partial"}, {"failed", "failed"},    {"interrupted", "partial"}, {"started", "running"}};
    struct ebb_record r = {"", "lake.db.a", "00000001-2222-4333-8444-555555555555", "sweep", "", 0, 0, "", "{}"};
    struct ebb_value *facts;
    const struct ebb_value *runs, *orphans;
    struct world w;
    char id[40];

    (void)state;
    start(&w);
    assert_ok(&w, try_open(&w, 0));
    for (size_t i = 0; i < 8; i++) {
        snprintf(id, sizeof id, "r-%026zu", i);
        r.id = id;
        r.status = CASES[i].status;
        r.at_ms = (int64_t)i + 1;
        r.end_ms = i < 7 ? (int64_t)i + 2 : 0;
        assert_ok(&w, ebb_store_put(ebb_workspace_site(w.ws)->store, EBB_RECORD_RUN, &r, &w.err));
    }
    r.id = "r-other";
    r.policy = "other";
    assert_ok(&w, ebb_store_put(ebb_workspace_site(w.ws)->store, EBB_RECORD_RUN, &r, &w.err));
    r = (struct ebb_record){"p-1", "lake.db.a", r.uuid,
                            "",    "ready",     world_now(&w) - 1000,
                            0,     "",          "{\"candidates\":5,\"candidate_bytes\":70}"};
    assert_ok(&w, ebb_store_put(ebb_workspace_site(w.ws)->store, EBB_RECORD_PLAN, &r, &w.err));
    r.id = "p-2"; /* newer, but not of the whole location */
    r.at_ms += 500;
    r.json = "{\"candidates\":1,\"candidate_bytes\":1,\"partial\":true}";
    assert_ok(&w, ebb_store_put(ebb_workspace_site(w.ws)->store, EBB_RECORD_PLAN, &r, &w.err));
    facts = facts_of(&w, NULL);
    runs = ebb_value_get(facts, "runs");
    assert_int_equal(ebb_value_get_count(runs), 8);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(ebb_value_text_of(ebb_value_get_at(runs, i), "outcome"), CASES[i].outcome);
    assert_null(ebb_value_get(ebb_value_get_at(runs, 7), "ended"));
    orphans = sub(ebb_value_get(facts, "table"), "stats", "orphans");
    assert_int_equal(ebb_value_int_of(orphans, "files", 0), 5);
    assert_int_equal(ebb_value_int_of(orphans, "bytes", 0), 70);
    assert_int_equal(ebb_value_int_of(orphans, "at", 0), r.at_ms - 500);
    ebb_value_free(facts);
    close_world(&w);
}

static void put_statistic(struct world *w, const char *table, const char *partition, const char *name, const char *json)
{
    struct ebb_statistic s = {table, partition, name, json, "anna", "", 1, 1};

    assert_ok(w, ebb_store_put_statistics(ebb_workspace_site(w->ws)->store, &s, 1, &w->err));
}

/* What others measured is told by name; what is no value, or larger than a script may hand over, is not. */
static void test_statistics_of_others(void **state)
{
    static char deep[64], large[20000];
    const struct ebb_value *custom;
    struct ebb_value *facts;
    struct world w;
    char name[32];

    (void)state;
    memset(deep, '[', 20);
    memset(deep + 20, ']', 20);
    snprintf(large, sizeof large, "\"%019000d\"", 0);
    start(&w);
    assert_ok(&w, try_open(&w, 0));
    facts = facts_of(&w, NULL);
    assert_null(sub(ebb_value_get(facts, "table"), "stats", "custom"));
    ebb_value_free(facts);
    put_statistic(&w, "lake.db.a", "", "custom-heat", "0.25");
    put_statistic(&w, "lake.db.a", "", "custom-\"odd\" näme", "{\"k\":[1,true,\"x\"]}");
    put_statistic(&w, "lake.db.a", "", "custom-deep", deep);
    put_statistic(&w, "lake.db.a", "", "custom-large", large);
    put_statistic(&w, "lake.db.a", "", "custom-bad", "{");
    put_statistic(&w, "lake.db.a", "", "custom-two", "1],[2");
    put_statistic(&w, "lake.db.a", "p=1", "custom-part", "1");
    put_statistic(&w, "lake.db.b", "", "custom-other", "1");
    facts = facts_of(&w, NULL);
    custom = sub(ebb_value_get(facts, "table"), "stats", "custom");
    assert_int_equal(ebb_value_get_count(custom), 2);
    assert_true(ebb_value_get_float(ebb_value_get(custom, "custom-heat"), 0) == 0.25);
    assert_string_equal(
        ebb_value_get_str(ebb_value_get_at(ebb_value_get(ebb_value_get(custom, "custom-\"odd\" näme"), "k"), 2)), "x");
    ebb_value_free(facts);
    for (int i = 0; i < 1500; i++) {
        snprintf(name, sizeof name, "many-%d", i);
        put_statistic(&w, "lake.db.a", "", name, "1");
    }
    facts = facts_of(&w, NULL);
    /* the first thousand by name: four of them are nothing that can be told */
    assert_int_equal(ebb_value_get_count(sub(ebb_value_get(facts, "table"), "stats", "custom")), 996);
    ebb_value_free(facts);
    close_world(&w);
}

/* Of the latest runs, back to one that changed something or of which that can't be told, what they changed. */
static void test_what_runs_changed(void **state)
{
    static const struct {
        const char *status, *json;
        int changed; /* -1: it is not told */
    } RUNS[] = {
        {"done", "{\"moved\":0,\"deleted\":0,\"returned\":0}", -1},
        {"done", "{\"moved\":2,\"deleted\":0,\"returned\":0}", 1},
        {"done", "{\"moved\":0,\"deleted\":0,\"returned\":0,\"already_gone\":3}", 0},
        {"failed", "{\"kind\":\"decision\"}", -1},
        {"observed", "{\"kind\":\"decision\"}", -1},
        {"partial", "{\"moved\":0,\"deleted\":0,\"returned\":0,\"skipped\":[]}", 0},
        {"done", "{\"moved\":0}", 0},
        {"started", "{\"moved\":0}", -1},
    };
    static const struct {
        const char *status, *json;
        int changed;
    } LAST[] = {{"restored", "{\"moved\":2}", 1},
                {"purged", "{\"moved\":0,\"deleted\":3}", 1},
                {"partial", "{\"moved\":0,\"returned\":1}", 1},
                {"done", "{\"kind\":\"decision\",\"plan\":\"p-1\"}", -1},
                {"done", "{", -1}};
    struct ebb_record r = {"", "lake.db.a", "00000001-2222-4333-8444-555555555555", "sweep", "", 0, 0, "", ""};
    struct ebb_value *facts;
    const struct ebb_value *runs;
    struct world w;
    char id[40];

    (void)state;
    start(&w);
    assert_ok(&w, try_open(&w, 0));
    for (size_t i = 0; i < 8; i++) {
        snprintf(id, sizeof id, "r-%026zu", i);
        r.id = id;
        r.status = RUNS[i].status;
        r.json = RUNS[i].json;
        r.at_ms = (int64_t)i + 1;
        r.end_ms = i < 7 ? (int64_t)i + 2 : 0;
        assert_ok(&w, ebb_store_put(ebb_workspace_site(w.ws)->store, EBB_RECORD_RUN, &r, &w.err));
    }
    facts = facts_of(&w, NULL);
    runs = ebb_value_get(facts, "runs");
    for (size_t i = 0; i < 8; i++) {
        const struct ebb_value *changed = ebb_value_get(ebb_value_get_at(runs, i), "changed");

        assert_int_equal(changed ? ebb_value_get_bool(changed, false) : -1, RUNS[i].changed);
    }
    ebb_value_free(facts);
    for (size_t i = 0; i < sizeof LAST / sizeof LAST[0]; i++) {
        const struct ebb_value *changed;

        snprintf(id, sizeof id, "r-%026zu", i + 10);
        r.status = LAST[i].status;
        r.json = LAST[i].json;
        r.at_ms = r.end_ms = (int64_t)i + 10;
        assert_ok(&w, ebb_store_put(ebb_workspace_site(w.ws)->store, EBB_RECORD_RUN, &r, &w.err));
        facts = facts_of(&w, NULL);
        runs = ebb_value_get(facts, "runs");
        changed = ebb_value_get(ebb_value_get_at(runs, i + 8), "changed");
        assert_int_equal(changed ? ebb_value_get_bool(changed, false) : -1, LAST[i].changed);
        assert_null(ebb_value_get(ebb_value_get_at(runs, 6), "changed")); /* nobody asks what was before */
        ebb_value_free(facts);
    }
    close_world(&w);
}

static void test_runs_under_a_former_name(void **state)
{
    struct ebb_record r = {"", "lake.db.a", "00000001-2222-4333-8444-555555555555", "", "done", 0, 0, "", "{}"};
    static const struct {
        const char *id, *policy;
        int64_t at_ms;
    } RUNS[] = {{"r-1", "old", 1}, {"r-2", "old", 2}, {"r-3", "new", 3}, {"r-4", "old", 4}, {"r-5", "new", 5}};
    struct ebb_facts_options o = {.policy = "new", .was = "old", .overlaps = -1};
    static const char *const WANTED[] = {"r-1", "r-2", "r-3", "r-5"}; /* r-4 is of another policy of that name */
    struct ebb_value *facts = NULL;
    struct ebb_table *t = NULL;
    struct world w;

    (void)state;
    start(&w);
    assert_ok(&w, try_open(&w, 0));
    for (size_t i = 0; i < sizeof RUNS / sizeof RUNS[0]; i++) {
        r.id = RUNS[i].id;
        r.policy = RUNS[i].policy;
        r.at_ms = RUNS[i].at_ms;
        assert_ok(&w, ebb_store_put(ebb_workspace_site(w.ws)->store, EBB_RECORD_RUN, &r, &w.err));
    }
    assert_ok(&w, ebb_table_open(ebb_workspace_site(w.ws), "lake.db.a", &t, &w.err));
    assert_ok(&w, ebb_facts_new(ebb_workspace_site(w.ws), t, &o, 10, &facts, &w.err));
    assert_int_equal(ebb_value_get_count(ebb_value_get(facts, "runs")), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(ebb_value_text_of(ebb_value_get_at(ebb_value_get(facts, "runs"), i), "id"), WANTED[i]);
    ebb_value_free(facts);
    ebb_table_free(t);
    close_world(&w);
}

static void test_events_by_hand(void **state)
{
    static const char *const BAD[] = {"", " ", "a=b", "type key", "type =x", "type a=b c"};
    struct ebb_facts_options o = {.overlaps = -1};
    struct ebb_value *facts;
    const struct ebb_value *e;
    struct ebb_table *t = NULL;
    struct ebb_strs events;
    struct world w;

    (void)state;
    start(&w);
    ebb_strs_init(&events);
    assert_ok(&w, ebb_strs_add(&events, "commit.failed files=212 ok=true big=99999999999999999999 text=a=b empty= id=5",
                               &w.err));
    facts = facts_of(&w, &events);
    assert_int_equal(ebb_value_get_count(ebb_value_get(facts, "events")), 1);
    e = ebb_value_get_at(ebb_value_get(facts, "events"), 0);
    assert_string_equal(ebb_value_text_of(e, "type"), "commit.failed");
    assert_int_equal(ebb_value_int_of(e, "files", 0), 212);
    assert_true(ebb_value_bool_of(e, "ok", false));
    assert_string_equal(ebb_value_text_of(e, "big"), "99999999999999999999"); /* no integer of ours: text */
    assert_string_equal(ebb_value_text_of(e, "text"), "a=b");
    assert_string_equal(ebb_value_text_of(e, "empty"), "");
    ebb_value_free(facts);
    ebb_strs_fini(&events);
    assert_ok(&w, ebb_table_open(ebb_workspace_site(w.ws), "lake.db.a", &t, &w.err));
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        ebb_strs_init(&events);
        assert_ok(&w, ebb_strs_add(&events, BAD[i], &w.err));
        o.events = &events;
        facts = NULL;
        assert_error(&w, ebb_facts_new(ebb_workspace_site(w.ws), t, &o, 0, &facts, &w.err), EUSAGE);
        assert_null(facts);
        ebb_strs_fini(&events);
    }
    ebb_table_free(t);
    close_world(&w);
}

/* The newest part of a very long history, in bounded time. */
static void put_told(struct world *w, const char *id, const char *type, const char *table, int64_t at_ms,
                     const char *json)
{
    struct ebb_event e = {0, "spark", id, type, table, at_ms, at_ms + 7, json};

    assert_ok(w, ebb_store_put_events(ebb_workspace_site(w->ws)->store, &e, 1, NULL, NULL, &w->err));
}

/* Those that were told from outside: they have a number. */
static void expect_told(const struct ebb_value *facts, const char *right)
{
    const struct ebb_value *events = ebb_value_get(facts, "events");
    struct ebb_buf text;

    ebb_buf_init(&text, 65536);
    for (size_t i = 0; i < ebb_value_get_count(events); i++) {
        const struct ebb_value *e = ebb_value_get_at(events, i);

        if (ebb_value_get(e, "seq"))
            ebb_buf_printf(&text, "%s:%s:%lld:%lld:%s ", ebb_value_text_of(e, "id"), ebb_value_text_of(e, "type"),
                           (long long)ebb_value_int_of(e, "at", 0), (long long)ebb_value_int_of(e, "received", 0),
                           ebb_value_text_of(e, "source"));
    }
    assert_string_equal(ebb_buf_cstr(&text), right);
    ebb_buf_fini(&text);
}

static void test_events_that_were_told(void **state)
{
    struct ebb_value *facts;
    const struct ebb_value *events, *last;
    struct world w;

    (void)state;
    start(&w);
    assert_ok(&w, try_open(&w, 0));
    put_told(&w, "1", "commit.failed", "lake.db.a", 2000, "{\"files_written\":3,\"seq\":99,\"own\":true}");
    put_told(&w, "2", "table.changed", "lake.db.a", 1000, "{}");
    put_told(&w, "3", "commit.failed", "lake.db.b", 1000, "{}");      /* of another table */
    put_told(&w, "4", "snapshot.committed", "lake.db.a", 3000, "{}"); /* commits are read off the metadata */
    put_told(&w, "5", "commit.failed", "lake.db.a", 500, "{}");
    facts = facts_of(&w, NULL);
    expect_told(facts,
                "5:commit.failed:500:507:spark 2:table.changed:1000:1007:spark 1:commit.failed:2000:2007:spark ");
    events = ebb_value_get(facts, "events");
    last = ebb_value_get_at(events, ebb_value_get_count(events) - 1);
    assert_int_equal(ebb_value_int_of(last, "files_written", 0), 3);
    assert_int_equal(ebb_value_int_of(last, "seq", 0), 1); /* ours, not the sender's */
    assert_null(ebb_value_get(last, "own"));
    ebb_value_free(facts);
    close_world(&w);
}

static void test_many_events_that_were_told(void **state)
{
    struct ebb_event *events = calloc(3000, sizeof *events);
    char(*ids)[8] = calloc(3000, sizeof *ids);
    size_t told = 0;
    struct ebb_value *facts;
    struct world w;

    (void)state;
    assert_true(events && ids);
    start(&w);
    assert_ok(&w, try_open(&w, 0));
    for (int i = 0; i < 3000; i++) {
        snprintf(ids[i], sizeof ids[i], "%d", i);
        events[i] = (struct ebb_event){0, "s", ids[i], i ? "scan.reported" : "commit.failed", "lake.db.a", i, i, "{}"};
    }
    assert_ok(&w, ebb_store_put_events(ebb_workspace_site(w.ws)->store, events, 3000, NULL, NULL, &w.err));
    facts = facts_of(&w, NULL);
    for (size_t i = 0; i < ebb_value_get_count(ebb_value_get(facts, "events")); i++)
        told += ebb_value_get(ebb_value_get_at(ebb_value_get(facts, "events"), i), "seq") != NULL;
    assert_int_equal(told, 1001); /* the latest of each type: many of one do not hide another */
    ebb_value_free(facts);
    close_world(&w);
    free(events);
    free(ids);
}

static void test_a_long_history(void **state)
{
    const size_t count = 60000;
    struct rusage before, after;
    struct ebb_value *facts;
    const struct ebb_value *t;
    struct world w;
    char path[512];
    double seconds;
    FILE *f;

    (void)state;
    start(&w);
    path_of(&w.tables[0], "metadata/v1.metadata.json", path);
    f = fopen(path, "w");
    fprintf(f,
            "{\"format-version\":2,\"table-uuid\":\"u\",\"location\":\"%s\",\"last-sequence-number\":%zu,\"last-"
            "updated-ms\":1,\"last-column-id\":1,"
            "\"current-schema-id\":0,\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":"
            "\"a\",\"required\":false,"
            "\"type\":\"int\"}]}],\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":[]}],\"last-"
            "partition-id\":999,"
            "\"default-sort-order-id\":0,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"properties\":{},\"current-"
            "snapshot-id\":%zu,"
            "\"snapshots\":[",
            w.tables[0].uri, count, count);
    for (size_t i = 1; i <= count; i++) {
        fprintf(f,
                "%s{\"snapshot-id\":%zu,\"sequence-number\":%zu,\"timestamp-ms\":%zu,\"manifest-list\":\"m\","
                "\"summary\":{\"operation\":\"append\"",
                i > 1 ? "," : "", i, i, i * 1000);
        for (int k = 0; k < 35; k++)
            fprintf(f, ",\"key-%d\":\"value\"", k);
        fprintf(f, "}}");
    }
    fprintf(f, "]}");
    fclose(f);
    assert_ok(&w, try_open(&w, 0));
    getrusage(RUSAGE_SELF, &before);
    facts = facts_of(&w, NULL);
    getrusage(RUSAGE_SELF, &after);
    seconds = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
              (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6;
    t = ebb_value_get(facts, "table");
    assert_int_equal(ebb_value_int_of(ebb_value_get(t, "stats"), "snapshots", 0), count);
    assert_int_equal(ebb_value_get_count(ebb_value_get(t, "snapshots")), EBB_FACTS_SNAPSHOTS_MAX);
    assert_int_equal(ebb_value_get_count(ebb_value_get(facts, "events")), EBB_FACTS_COMMITS_MAX);
    assert_int_equal(
        ebb_value_int_of(ebb_value_get_at(ebb_value_get(t, "snapshots"), EBB_FACTS_SNAPSHOTS_MAX - 1), "id", 0), count);
    assert_non_null(
        ebb_value_get(ebb_value_get_at(ebb_value_get(t, "snapshots"), EBB_FACTS_SNAPSHOTS_MAX - 1), "summary"));
    assert_null(ebb_value_get(ebb_value_get_at(ebb_value_get(t, "snapshots"), 0), "summary"));
    assert_true(seconds < 20); /* far less without sanitizers; it must only not be quadratic */
    ebb_value_free(facts);
    close_world(&w);
}

struct captured_case {
    const char *text, *message, *hint;
};

static void test_captured_files_that_are_none(void **state)
{
    static const struct captured_case CASES[] = {
        {"\xef\xbb\xbf{\"table\":{}}", "begins with a byte order mark", "without one"},
        {"\xff\xfe{", "begins with a byte order mark", "UTF-8"},
        {"{\"table\":", "offset", "ebb capture"},
        {"{\"format\":2,\"ebb\":\"9.1.0\",\"table\":{}}", "format 2, written by ebb 9.1.0", "capture the table again"},
        {"{\"format\":\"1\",\"table\":{}}", "format: a number is due", ""},
        {"{\"format\":1}", "no \"table\" in it", "ebb capture"},
        {"{\"table\":{\"partitions\":{}}}", "table.partitions: a list is due, not a map", ""},
        {"{\"table\":{\"properties\":[]}}", "table.properties: a map is due, not a list", ""},
        {"{\"table\":{},\"runs\":{}}", "runs: a list is due, not a map", ""},
    };
    struct ebb_value *v = NULL;
    struct world w;
    char path[512];

    (void)state;
    start(&w);
    world_path(&w, "f.json", path);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        world_put(&w, "f.json", CASES[i].text);
        memset(&w.err, 0, sizeof w.err);
        assert_int_equal(ebb_facts_load(path, NULL, 0, &v, &w.err), -(int)EBB_EUSAGE);
        if (strncmp(w.err.message, path, strlen(path)) != 0 || !strstr(w.err.message, CASES[i].message) ||
            !strstr(w.err.hint, CASES[i].hint))
            fail_msg("%s: %s (%s)", CASES[i].text, w.err.message, w.err.hint);
        assert_null(v);
    }
    world_put(&w, "f.json", "{\"format\":1,\"table\":{}}");
    assert_ok(&w, ebb_facts_load(path, NULL, 0, &v, &w.err));
    ebb_value_free(v);
    close_world(&w);
}

static void test_a_captured_file_that_is_too_large(void **state)
{
    struct ebb_value *v = NULL;
    struct world w;
    char path[512];

    (void)state;
    start(&w);
    world_path(&w, "f.json", path);
    world_put(&w, "f.json", "{");
    assert_int_equal(truncate(path, (off_t)EBB_FACTS_FILE_MAX_BYTES + 1), 0);
    assert_int_equal(ebb_facts_load(path, NULL, 0, &v, &w.err), -(int)EBB_EUSAGE);
    assert_non_null(strstr(w.err.message, "is larger than 64 MiB"));
    assert_non_null(strstr(w.err.hint, "--policy"));
    close_world(&w);
}

static void test_captured(void **state)
{
    static const char *const BAD[] = {
        "", "5", "{}", "[]", "{\"table\":", "{\"tabel\":{}}", "{\"table\":null}", "{\"table\":5}"};
    struct ebb_value *v = NULL;
    struct ebb_strs events;
    struct world w;
    char path[512];

    (void)state;
    start(&w);
    world_path(&w, "f.json", path);
    world_put(&w, "f.json", "{\"table\":{\"name\":\"x\"}}");
    assert_ok(&w, ebb_facts_load(path, NULL, 0, &v, &w.err));
    assert_string_equal(ebb_value_text_of(ebb_value_get(v, "table"), "name"), "x");
    ebb_value_free(v);
    world_put(&w, "f.json", "{\"table\":{},\"events\":[{\"id\":\"old\"}]}");
    ebb_strs_init(&events);
    assert_ok(&w, ebb_strs_add(&events, "x a=1", &w.err));
    assert_ok(&w, ebb_facts_load(path, &events, 70, &v, &w.err));
    assert_int_equal(ebb_value_get_count(ebb_value_get(v, "events")), 2);
    assert_int_equal(ebb_value_int_of(ebb_value_get_at(ebb_value_get(v, "events"), 1), "at", 0), 70);
    ebb_value_free(v);
    ebb_strs_fini(&events);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        world_put(&w, "f.json", BAD[i]);
        v = NULL;
        if (ebb_facts_load(path, NULL, 0, &v, &w.err) != -EBB_EUSAGE)
            fail_msg("'%s': %s", BAD[i], w.err.message);
        assert_null(v);
    }
    assert_int_not_equal(ebb_facts_load("/nowhere.json", NULL, 0, &v, &w.err), 0);
    assert_int_not_equal(ebb_facts_load("/dev/zero", NULL, 0, &v, &w.err), 0);
    assert_int_not_equal(ebb_facts_load(w.top, NULL, 0, &v, &w.err), 0);
    world_path(&w, "fifo.json", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_not_equal(ebb_facts_load(path, NULL, 0, &v, &w.err), 0);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_counters_of_a_hostile_summary),
        cmocka_unit_test(test_runs_and_the_last_plan),
        cmocka_unit_test(test_what_runs_changed),
        cmocka_unit_test(test_statistics_of_others),
        cmocka_unit_test(test_runs_under_a_former_name),
        cmocka_unit_test(test_events_by_hand),
        cmocka_unit_test(test_events_that_were_told),
        cmocka_unit_test(test_many_events_that_were_told),
        cmocka_unit_test(test_a_long_history),
        cmocka_unit_test(test_captured),
        cmocka_unit_test(test_captured_files_that_are_none),
        cmocka_unit_test(test_a_captured_file_that_is_too_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
