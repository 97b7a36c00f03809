/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes over a small warehouse: modes, records, what one failure does to the others, and what a hostile policy or
 * table can not do.
 */
#include "service_help.h"

#define BIND(mode) CONFIG_HEAD "bind = { { policy = 'sweep', tables = { 'lake.db.*' }, mode = '" mode "' } } }"
#define DECIDE(body)                                                                                                   \
    "return policy { api = 1, name = 'sweep', triggers = { time.every { '1h', anchor = 'epoch' } },\n"                 \
    "decide = function(t, ctx) " body " end }\n"

static void start(struct world *w, const char *config, const char *policy)
{
    open_world(w);
    world_put(w, "ebb.lua", config);
    world_put(w, "policies/sweep.lua", policy);
}

/* The first pass, a day ago, makes the policy active. */
static void activate(struct world *w)
{
    assert_ok(w, pass(w, -DAY_MS));
    for (size_t i = 0; i < w->told_count; i++)
        assert_string_equal(w->told[i].status, "not due");
    assert_int_equal(count_records(w, EBB_RECORD_DECISION, NULL), 0);
}

static int decision_exists(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    (void)err;
    snprintf(data, 4096, "%s", record->json);
    return 0;
}

/* ---- modes ---- */

static void test_observe(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("observe"), POLICY_RUN);
    add_table(&w, "a", 2);
    activate(&w);
    assert_ok(&w, pass(&w, 0));
    assert_string_equal(told_of(&w, "lake.db.a")->status, "observed");
    assert_string_equal(told_of(&w, "lake.db.a")->verdict, "run");
    assert_string_equal(told_of(&w, "lake.db.a")->plan, "");
    assert_int_equal(count_records(&w, EBB_RECORD_PLAN, NULL), 0);
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, "observed"), 1);
    assert_int_equal(count_records(&w, EBB_RECORD_DECISION, "run"), 1);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    close_world(&w);
}

static void test_approve(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("approve"), POLICY_RUN);
    add_table(&w, "a", 2);
    activate(&w);
    assert_ok(&w, pass(&w, 0));
    assert_string_equal(told_of(&w, "lake.db.a")->status, "ready");
    assert_int_equal(told_of(&w, "lake.db.a")->candidates, 2);
    assert_string_equal(told_of(&w, "lake.db.a")->run, "");
    assert_int_equal(count_records(&w, EBB_RECORD_PLAN, "ready"), 1);
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, "done"), 1);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    close_world(&w);
}

static void test_enforce(void **state)
{
    struct world w;
    char json[4096];

    (void)state;
    start(&w, BIND("enforce"), POLICY_RUN);
    add_table(&w, "a", 2);
    activate(&w);
    assert_ok(&w, pass(&w, 0));
    assert_string_equal(told_of(&w, "lake.db.a")->status, "done");
    assert_int_equal(told_of(&w, "lake.db.a")->moved, 2);
    assert_false(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_true(has_file(&w.tables[0], "data/live.parquet"));
    assert_true(has_file(&w.tables[0], "data/young.parquet"));
    assert_ok(&w, ebb_store_get(ebb_workspace_site(w.ws)->store, EBB_RECORD_DECISION,
                                told_of(&w, "lake.db.a")->decision, decision_exists, json, &w.err));
    assert_non_null(strstr(json, "\"mode\":\"enforce\""));
    assert_ok(&w, pass(&w, 60000));
    assert_int_equal(told_of(&w, "lake.db.a")->moved, 0);
    close_world(&w);
}

static void test_an_occurrence_is_taken_once(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("observe"), DECIDE("return skip(all {})"));
    add_table(&w, "a", 0);
    activate(&w);
    assert_ok(&w, pass(&w, 0));
    assert_string_equal(told_of(&w, "lake.db.a")->status, "skipped");
    assert_ok(&w, pass(&w, 1));
    assert_ok(&w, pass(&w, 2));
    assert_int_equal(count_records(&w, EBB_RECORD_DECISION, NULL),
                     told_of(&w, "lake.db.a")->due[0] ? 2 : 1); /* the hour may have turned */
    close_world(&w);
}

/* A dry pass tells what would be done and takes nothing from the real one. */
static void test_a_dry_pass_takes_nothing(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("enforce"),
          DECIDE("return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 })"));
    add_table(&w, "a", 2);
    w.dry_run = true;
    activate(&w); /* being active is kept, or nothing could ever be due */
    for (int i = 0; i < 2; i++) {
        assert_ok(&w, pass(&w, 0));
        assert_string_equal(told_of(&w, "lake.db.a")->status, "ready");
        assert_int_equal(told_of(&w, "lake.db.a")->candidates, 2);
        assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    }
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, NULL), 0);
    w.dry_run = false;
    assert_ok(&w, pass(&w, 0));
    assert_string_equal(told_of(&w, "lake.db.a")->status, "done");
    assert_int_equal(told_of(&w, "lake.db.a")->moved, 2);
    close_world(&w);
}

static void test_the_safer_dry_run_wins(void **state)
{
    struct world w;

    (void)state;
    start(
        &w, BIND("enforce"),
        DECIDE(
            "return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000, dry_run = true })"));
    add_table(&w, "a", 2);
    activate(&w);
    assert_ok(&w, pass(&w, 0));
    assert_string_equal(told_of(&w, "lake.db.a")->status, "ready");
    assert_string_equal(told_of(&w, "lake.db.a")->run, "");
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    close_world(&w);
}

static void test_enforce_needs_full_ownership(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("enforce"), POLICY_RUN);
    add_table(&w, "a", 2);
    add_table(&w, "broken", 0);
    activate(&w);
    world_put(&w, "wh/db/broken/metadata/v1.metadata.json", "{\"format-version\":2,");
    assert_int_not_equal(pass(&w, 0), 0);
    assert_string_not_equal(told_of(&w, "lake.db.a")->code, "");
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    close_world(&w);
}

/* ---- refusals and errors ---- */

static void check_refused(const char *config, const char *body, const char *verdict, const char *code)
{
    struct world w;

    start(&w, config, body);
    add_table(&w, "a", 2);
    activate(&w);
    if (ebb_error_exit((enum ebb_error) - pass(&w, 0)) == 0)
        fail_msg("%s: not refused", body);
    if (strcmp(told_of(&w, "lake.db.a")->verdict, verdict) || strcmp(told_of(&w, "lake.db.a")->code, code))
        fail_msg("%s: %s %s: %s", body, told_of(&w, "lake.db.a")->verdict, told_of(&w, "lake.db.a")->code,
                 told_of(&w, "lake.db.a")->message);
    assert_string_equal(told_of(&w, "lake.db.a")->run, "");
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_true(has_file(&w.tables[0], "data/young.parquet"));
    close_world(&w);
}

#define RUN_WITH(args) DECIDE("return run(all {}, action.remove_orphan_files { " args " })")

static void test_refused_verdicts(void **state)
{
    (void)state;
    check_refused(BIND("enforce"), RUN_WITH("older_than = ctx.now"), "refused", "policy.refused");
    check_refused(BIND("enforce"), RUN_WITH("older_than = ctx.now - 86400000 + 1"), "refused", "policy.refused");
    check_refused(BIND("enforce"), RUN_WITH("older_than = ctx.now + 1"), "refused", "policy.refused");
    check_refused(BIND("enforce"), RUN_WITH("older_than = math.maxinteger"), "refused", "policy.refused");
    check_refused(BIND("enforce"), RUN_WITH("older_than = 0, location = '/'"), "refused", "policy.refused");
    check_refused(BIND("enforce"), RUN_WITH("older_than = 0, location = t.location .. '/../b'"), "refused",
                  "policy.refused");
    check_refused(BIND("enforce"), RUN_WITH("older_than = 0, location = t.location .. 'b'"), "refused",
                  "policy.refused");
    check_refused(BIND("enforce"), RUN_WITH("older_than = 0, location = ''"), "refused", "policy.refused");
    check_refused(BIND("enforce"), RUN_WITH("older_than = 0, location = 'data'"), "refused", "policy.refused");
}

static void test_policy_errors(void **state)
{
    (void)state;
    check_refused(BIND("enforce"), RUN_WITH("older_than = 1.5"), "error", "policy.error");
    check_refused(BIND("enforce"), RUN_WITH("older_than = ctx.now / 2"), "error", "policy.error");
    check_refused(BIND("enforce"), RUN_WITH("older_than = '3d'"), "error", "policy.error");
    check_refused(BIND("enforce"), RUN_WITH("older_than = 0, delete = true"), "error", "policy.error");
    check_refused(BIND("enforce"), RUN_WITH("older_than = 0, location = {}"), "error", "policy.error");
    check_refused(BIND("enforce"), DECIDE("error('no')"), "error", "policy.error");
    check_refused(BIND("enforce"), DECIDE("while true do end"), "error", "policy.gas");
    check_refused(BIND("enforce"),
                  DECIDE("return { verdict = 'run', action = { type = 'remove_orphan_files', older_than = 0 } }"),
                  "error", "policy.result");
    check_refused(BIND("enforce"), DECIDE("return run(all {}, { type = 'remove_orphan_files', older_than = 0 })"),
                  "error", "policy.error");
    check_refused(
        BIND("enforce"),
        DECIDE("return run(all { check('x', nil, 'exists') }, action.remove_orphan_files { older_than = 0 })"), "error",
        "policy.result");
}

/* Two looks at a location: that of the engine, and that of the plan through links. */
static void test_a_location_through_a_link(void **state)
{
    struct world w;
    char path[512], target[512];

    (void)state;
    start(&w, BIND("enforce"), RUN_WITH("older_than = ctx.now - 3 * 86400000, location = t.location .. '/link'"));
    add_table(&w, "a", 2);
    world_put(&w, "outside/precious.parquet", "x");
    world_path(&w, "outside/precious.parquet", path);
    set_age(path, TEN_DAYS_MS);
    world_path(&w, "outside", target);
    path_of(&w.tables[0], "link", path);
    assert_int_equal(symlink(target, path), 0);
    activate(&w);
    pass(&w, 0);
    assert_string_equal(told_of(&w, "lake.db.a")->run, "");
    world_path(&w, "outside/precious.parquet", path);
    assert_int_equal(access(path, F_OK), 0);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    close_world(&w);
}

static void test_a_location_inside(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("enforce"), RUN_WITH("older_than = ctx.now - 3 * 86400000, location = t.location .. '/data/p'"));
    add_table(&w, "a", 1);
    put_file(&w.tables[0], "data/p/old.parquet");
    put_file(&w.tables[0], "data/p2/old.parquet");
    activate(&w);
    pass(&w, 0);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_true(has_file(&w.tables[0], "data/p2/old.parquet"));
    assert_true(has_file(&w.tables[0], "data/live.parquet"));
    close_world(&w);
}

static void test_below_the_floor_where_it_is_allowed(void **state)
{
    struct world w;

    (void)state;
    start(&w,
          CONFIG_HEAD
          "bind = { { policy = 'sweep', tables = { 'lake.db.a' }, mode = 'enforce', allow_below_floor = true },"
          "{ policy = 'sweep', tables = { 'lake.db.*' }, mode = 'enforce' } },"
          "tables = { ['lake.db.c'] = { allow_below_floor = true } } }",
          RUN_WITH("older_than = ctx.now"));
    add_table(&w, "a", 1);
    add_table(&w, "b", 1);
    add_table(&w, "c", 1);
    activate(&w);
    assert_int_equal(pass(&w, 0), -EBB_EREFUSED);
    assert_string_equal(told_of(&w, "lake.db.a")->status, "done");
    assert_int_equal(told_of(&w, "lake.db.a")->moved, 2); /* the young one too */
    assert_string_equal(told_of(&w, "lake.db.b")->verdict, "refused");
    assert_string_equal(told_of(&w, "lake.db.c")->status, "done");
    assert_true(has_file(&w.tables[1], "data/young.parquet"));
    assert_true(has_file(&w.tables[1], "data/old-0.parquet"));
    close_world(&w);
}

/* ---- what an action asks for reaches the plan ---- */

static void test_keep(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("enforce"), RUN_WITH("older_than = ctx.now - 3 * 86400000, keep = { '*.stats', 'data/old-0.*' }"));
    add_table(&w, "a", 2);
    put_file(&w.tables[0], "metadata/x.stats");
    activate(&w);
    assert_ok(&w, pass(&w, 0));
    assert_int_equal(told_of(&w, "lake.db.a")->moved, 1);
    assert_true(has_file(&w.tables[0], "metadata/x.stats"));
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_false(has_file(&w.tables[0], "data/old-1.parquet"));
    close_world(&w);
}

/* The live file is named by another scheme: a conflict, unless the action says how to take it. */
static void test_prefixes(void **state)
{
    static const char *const POLICIES[] = {
        RUN_WITH("older_than = ctx.now - 3 * 86400000, prefix_mismatch = 'error'"),
        RUN_WITH("older_than = ctx.now - 3 * 86400000, prefix_mismatch = 'ignore'"),
        RUN_WITH("older_than = ctx.now - 3 * 86400000, equal_schemes = { hdfs = 'file' }"),
        RUN_WITH("older_than = ctx.now - 3 * 86400000, equal_schemes = { ['hdfs,x'] = 'file' }, equal_authorities = { "
                 "a = 'b' }"),
    };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct world w;
        int rc;

        start(&w, BIND("approve"), POLICIES[i]);
        add_table(&w, "a", 2);
        edit_metadata(&w.tables[0], "\"statistics-path\":\"file:/", "\"statistics-path\":\"hdfs:/");
        activate(&w);
        rc = pass(&w, 0);
        if ((rc == -EBB_EPREFIX_CONFLICT) != (i == 0))
            fail_msg("%zu: %d %s", i, rc, w.err.message);
        close_world(&w);
    }
}

static void test_fuses_hold(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("enforce"),
          "return policy { api = 1, name = 'sweep', triggers = { time.every { '1h', anchor = 'epoch' } }, guard = { "
          "deletes = { max_share = 0.1 } },"
          "decide = function(t, ctx) return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * "
          "86400000 }) end }");
    add_table(&w, "a", 2);
    activate(&w);
    assert_int_equal(pass(&w, 0), -EBB_EFUSE);
    assert_string_equal(told_of(&w, "lake.db.a")->status, "held");
    assert_string_equal(told_of(&w, "lake.db.a")->code, "plan.held");
    assert_string_not_equal(told_of(&w, "lake.db.a")->plan, "");
    assert_int_equal(count_records(&w, EBB_RECORD_PLAN, "held"), 1);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    close_world(&w);
}

/* ---- several tables, several bindings ---- */

static void test_one_failure_does_not_stop_the_others(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("approve"), POLICY_RUN);
    add_table(&w, "a", 1);
    add_table(&w, "b", 1);
    add_table(&w, "c", 1);
    activate(&w);
    edit_metadata(&w.tables[0], "\"properties\":{}", "\"properties\":{\"gc.enabled\":\"false\"}");
    world_put(&w, "wh/db/b/metadata/v1.metadata.json", "{");
    assert_int_not_equal(pass(&w, 0), 0);
    assert_int_equal(w.told_count, 3);
    assert_string_equal(told_of(&w, "lake.db.a")->code, "table.gc_disabled");
    assert_string_equal(told_of(&w, "lake.db.a")->status, "failed");
    assert_string_equal(told_of(&w, "lake.db.b")->status, "failed");
    assert_string_not_equal(told_of(&w, "lake.db.b")->code, "");
    assert_string_equal(told_of(&w, "lake.db.c")->status, "ready");
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, "failed"), 1);
    close_world(&w);
}

static void test_the_gravest_error_is_returned(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("approve"),
          DECIDE("if t.name == 'a' then error('x') end return run(all {}, action.remove_orphan_files { older_than = "
                 "ctx.now })"));
    add_table(&w, "a", 1);
    add_table(&w, "b", 1);
    activate(&w);
    assert_int_equal(pass(&w, 0), -EBB_EPOLICY_ERROR); /* goes before refused */
    close_world(&w);
}

static void test_the_first_binding_counts(void **state)
{
    struct world w;

    (void)state;
    start(&w,
          CONFIG_HEAD "bind = { { policy = 'sweep', tables = { 'lake.db.a' } }, { policy = 'sweep', tables = { "
                      "'lake.**' }, mode = 'enforce' } } }",
          POLICY_RUN);
    add_table(&w, "a", 1);
    add_table(&w, "b", 1);
    activate(&w);
    assert_ok(&w, pass(&w, 0));
    assert_int_equal(w.told_count, 2);
    assert_string_equal(told_of(&w, "lake.db.a")->status, "observed");
    assert_string_equal(told_of(&w, "lake.db.b")->status, "done");
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    close_world(&w);
}

/* ebb decide goes by the binding that a pass would go by. */
static void test_decide_goes_by_the_binding_of_the_table(void **state)
{
    struct ebb_decide_options o = {"sweep", "lake.db.b", NULL};
    struct ebb_decision *d = NULL;
    struct world w;

    (void)state;
    start(&w,
          CONFIG_HEAD "bind = { { policy = 'sweep', tables = { 'lake.db.a' }, params = { n = 1 } },"
                      "{ policy = 'sweep', tables = { 'lake.db.b' }, mode = 'enforce', params = { n = 2 } } } }",
          "return policy { api = 1, name = 'sweep', params = { n = { type = 'integer', default = 0 } }, triggers = { "
          "time.calendar { '02:00' } },"
          "decide = function(t, ctx) return skip(all { check('n', ctx.params.n, '==', 2) }) end }");
    add_table(&w, "a", 0);
    add_table(&w, "b", 0);
    assert_ok(&w, try_open(&w, 0));
    assert_ok(&w, ebb_pass_decide(w.ws, &o, &d, &w.err));
    assert_non_null(strstr(ebb_decision_get_record(d), "\"mode\":\"enforce\""));
    assert_non_null(strstr(ebb_decision_get_record(d), "{\"n\":2}"));
    ebb_decision_free(d);
    o.table = "lake.db.a";
    assert_ok(&w, ebb_pass_decide(w.ws, &o, &d, &w.err));
    assert_non_null(strstr(ebb_decision_get_record(d), "\"mode\":\"observe\""));
    ebb_decision_free(d);
    assert_int_equal(count_records(&w, EBB_RECORD_DECISION, "skip"), 2);
    close_world(&w);
}

/* "Since the last run" of what never ran is since it became active, for a decision by hand too. */
static void test_decide_knows_since_when_it_is_active(void **state)
{
    struct ebb_decide_options o = {"sweep", "lake.db.a", NULL};
    struct ebb_decision *d = NULL;
    struct world w;

    (void)state;
    start(
        &w, BIND("observe"),
        DECIDE(
            "return skip(all { check('n', ctx.events.count { 'snapshot.committed', since = 'last_run' }, '==', 0) })"));
    add_table(&w, "a", 0);
    edit_metadata(
        &w.tables[0], "\"current-snapshot-id\":-1,\"refs\":{},\"snapshots\":[]",
        "\"current-snapshot-id\":1,\"snapshots\":[{\"snapshot-id\":1,\"sequence-number\":1,\"timestamp-ms\":1000,"
        "\"manifest-list\":\"m\",\"summary\":{\"operation\":\"append\"}}]");
    activate(&w);
    assert_ok(&w, try_open(&w, 0));
    assert_ok(&w, ebb_pass_decide(w.ws, &o, &d, &w.err));
    assert_non_null(strstr(ebb_decision_get_record(d), "\"r\":\"true\""));
    if (!strstr(ebb_decision_get_record(d), "\"a\":0"))
        fail_msg("%s", ebb_decision_get_record(d));
    ebb_decision_free(d);
    close_world(&w);
}

static void test_filters(void **state)
{
    struct world w;

    (void)state;
    start(&w,
          CONFIG_HEAD
          "bind = { { policy = 'sweep', tables = { 'lake.db.*' } }, { policy = 'other', tables = { '**' } } } }",
          POLICY_RUN);
    world_put(&w, "policies/other.lua",
              "return policy { api = 1, name = 'other', triggers = { time.calendar { '02:00' } }, decide = function() "
              "return skip(all {}) end }");
    add_table(&w, "a", 0);
    add_table(&w, "b", 0);
    activate(&w);
    assert_int_equal(w.told_count, 4);
    w.only_policy = "other";
    assert_ok(&w, pass(&w, 0));
    assert_int_equal(w.told_count, 2);
    w.only_table = "*.*.b";
    assert_ok(&w, pass(&w, 0));
    assert_int_equal(w.told_count, 1);
    w.only_policy = "nothing";
    assert_error(&w, pass(&w, 0), EUSAGE);
    close_world(&w);
}

static void test_target_and_binding_both_count(void **state)
{
    struct world w;

    (void)state;
    start(&w, CONFIG_HEAD "bind = { { policy = 'sweep', tables = { 'lake.db.*' } } } }",
          "return policy { api = 1, name = 'sweep', target = { tables = { 'lake.*.*' }, exclude = { 'lake.*.c' },"
          "where = { property = 'sweep', is_not = 'off' } }, triggers = { time.every { '1h', anchor = 'epoch' } },"
          "decide = function() return skip(all {}) end }");
    add_table(&w, "a", 0);
    add_table(&w, "b", 0);
    add_table(&w, "c", 0);
    edit_metadata(&w.tables[1], "\"properties\":{}", "\"properties\":{\"sweep\":\"off\"}");
    world_put(&w, "wh/db/c/metadata/v1.metadata.json", "{"); /* excluded: nobody needs to read it */
    assert_ok(&w, pass(&w, 0));
    assert_int_equal(w.told_count, 1);
    assert_string_equal(w.told[0].table, "lake.db.a");
    close_world(&w);
}

/* ---- history ---- */

#define GUARDED(guard)                                                                                                 \
    "return policy { api = 1, name = 'sweep', triggers = { time.every { '1h', anchor = 'epoch' } }, guard = { " guard  \
    " },\n"                                                                                                            \
    "decide = function(t, ctx) return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 "   \
    "}) end }\n"

static void test_observed_runs_count_for_the_interval(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("observe"), GUARDED("min_interval = '90m'"));
    add_table(&w, "a", 0);
    activate(&w);
    assert_ok(&w, pass(&w, 0));
    assert_string_equal(told_of(&w, "lake.db.a")->status, "observed");
    assert_ok(&w, pass(&w, HOUR_MS)); /* held back past the next occurrence of its trigger */
    assert_string_equal(told_of(&w, "lake.db.a")->verdict, "defer");
    assert_ok(&w, pass(&w, 3 * HOUR_MS));
    assert_string_equal(told_of(&w, "lake.db.a")->status, "observed");
    close_world(&w);
}

/* What the record of the last decision says of the interval. */
static void check_interval(struct world *w, const char *verdict, const char *why)
{
    char json[4096];

    assert_string_equal(told_of(w, "lake.db.a")->verdict, verdict);
    assert_ok(w, ebb_store_get(ebb_workspace_site(w->ws)->store, EBB_RECORD_DECISION, told_of(w, "lake.db.a")->decision,
                               decision_exists, json, &w->err));
    if (why ? !strstr(json, why) : strstr(json, "doubled") != NULL)
        fail_msg("%s", json);
}

/* Five runs in a row that found nothing double the interval, each further one again; one that finds something ends
 * that. Plans that only wait say nothing. */
static void test_runs_that_change_nothing_come_less_often(void **state)
{
    struct table_fixture *t;
    struct world w;

    (void)state;
    start(&w, BIND("enforce"), GUARDED("min_interval = '40m'"));
    t = add_table(&w, "a", 0);
    activate(&w);
    for (int hour = 0; hour < 5; hour++) {
        assert_ok(&w, pass(&w, (hour - 9) * HOUR_MS));
        check_interval(&w, "run", NULL);
        assert_int_equal(told_of(&w, "lake.db.a")->moved, 0);
    }
    assert_ok(&w, pass(&w, -4 * HOUR_MS));
    check_interval(&w, "defer", "\"1h20m (40m, doubled once: 5 runs changed nothing)\"");
    assert_ok(&w, pass(&w, -3 * HOUR_MS));
    check_interval(&w, "run", "\"1h20m (40m, doubled once: 5 runs changed nothing)\"");
    assert_ok(&w, pass(&w, -HOUR_MS));
    check_interval(&w, "defer", "\"2h40m (40m, doubled 2 times: 6 runs changed nothing)\"");
    put_file(t, "data/old-new.parquet");
    assert_ok(&w, pass(&w, 0));
    check_interval(&w, "run", "\"2h40m (40m, doubled 2 times: 6 runs changed nothing)\"");
    assert_int_equal(told_of(&w, "lake.db.a")->moved, 1);
    assert_ok(&w, pass(&w, HOUR_MS));
    check_interval(&w, "run", NULL);
    close_world(&w);
}

static void test_plans_without_a_run_are_no_runs_that_change_nothing(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("approve"), GUARDED("min_interval = '40m'"));
    add_table(&w, "a", 0);
    activate(&w);
    for (int hour = 0; hour < 8; hour++) {
        assert_ok(&w, pass(&w, hour * HOUR_MS));
        check_interval(&w, "run", NULL);
    }
    close_world(&w);
}

static void test_back_off_after_failures(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("enforce"), GUARDED("backoff = { first = '3h', max = '1d' }, deletes = { max_files = 1 }"));
    add_table(&w, "a", 3);
    activate(&w);
    assert_int_equal(pass(&w, 0), -EBB_EFUSE);
    assert_ok(&w, pass(&w, HOUR_MS));
    assert_string_equal(told_of(&w, "lake.db.a")->verdict, "defer");
    assert_int_equal(count_records(&w, EBB_RECORD_PLAN, NULL), 1);
    assert_int_equal(pass(&w, 4 * HOUR_MS), -EBB_EFUSE);
    close_world(&w);
}

/* The latest thousand runs count, not the first. */
static void test_a_long_history(void **state)
{
    struct ebb_record r = {"", "lake.db.a", "00000001-2222-4333-8444-555555555555", "sweep", "observed", 0, 0,
                           "", "{}"};
    struct world w;
    char id[40];

    (void)state;
    start(&w, BIND("observe"), GUARDED("min_interval = '1d'"));
    add_table(&w, "a", 0);
    activate(&w);
    for (int i = 0; i < 1500; i++) {
        snprintf(id, sizeof id, "r-%026d", i);
        r.id = id;
        r.at_ms = r.end_ms = world_now(&w) - (int64_t)(1500 - i) * 60000 + DAY_MS;
        assert_ok(&w, ebb_store_put(ebb_workspace_site(w.ws)->store, EBB_RECORD_RUN, &r, &w.err));
    }
    assert_ok(&w, pass(&w, 0));
    assert_string_equal(told_of(&w, "lake.db.a")->verdict, "defer");
    close_world(&w);
}

static void test_defer_and_deferred(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("observe"),
          DECIDE("if ctx.trigger.kind == 'deferred' then return run(all {}, action.remove_orphan_files { older_than = "
                 "0 }) end "
                 "return defer(all {}, ctx.now + 60000, 'soon')"));
    add_table(&w, "a", 0);
    activate(&w);
    assert_ok(&w, pass(&w, 0));
    assert_string_equal(told_of(&w, "lake.db.a")->status, "deferred");
    assert_ok(&w, pass(&w, 70000));
    assert_string_equal(told_of(&w, "lake.db.a")->due, "deferred");
    assert_string_equal(told_of(&w, "lake.db.a")->status, "observed");
    close_world(&w);
}

/* A run that is under way (or was killed) keeps the next one of the same policy away; queue_one waits for it. */
static void test_overlap(void **state)
{
    struct ebb_record r = {"r-00000000000000000000000000",
                           "lake.db.a",
                           "00000001-2222-4333-8444-555555555555",
                           "sweep",
                           "started",
                           0,
                           0,
                           "",
                           "{}"};
    struct world w;

    (void)state;
    start(&w, BIND("enforce"), GUARDED("overlap = 'queue_one'"));
    add_table(&w, "a", 1);
    activate(&w);
    r.at_ms = world_now(&w);
    assert_ok(&w, ebb_store_put(ebb_workspace_site(w.ws)->store, EBB_RECORD_RUN, &r, &w.err));
    assert_ok(&w, pass(&w, 0));
    assert_string_equal(told_of(&w, "lake.db.a")->status, "deferred");
    assert_ok(&w, pass(&w, 1000));
    assert_string_equal(told_of(&w, "lake.db.a")->due, "deferred");
    assert_string_equal(told_of(&w, "lake.db.a")->status, "deferred");
    r.status = "done";
    r.end_ms = world_now(&w);
    assert_ok(&w, ebb_store_put(ebb_workspace_site(w.ws)->store, EBB_RECORD_RUN, &r, &w.err));
    assert_ok(&w, pass(&w, 2000));
    assert_string_equal(told_of(&w, "lake.db.a")->status, "done");
    close_world(&w);
}

/* Interrupted at the n-th look at the clock: what did not begin stays due, what began can be ended. Returns false when
 * the pass ended first. */
static bool interrupt(int n)
{
    struct world w;
    bool was_cancelled;

    start(&w, BIND("enforce"), POLICY_RUN);
    add_table(&w, "a", 2);
    add_table(&w, "b", 2);
    activate(&w);
    w.cancel_at = n;
    was_cancelled = pass(&w, 0) == -EBB_ECANCELLED;
    w.cancel_at = 0;
    atomic_store(&w.cancelled, false);
    assert_int_equal(count_records(&w, EBB_RECORD_RUN, "failed"), 0);
    if (was_cancelled && !count_records(&w, EBB_RECORD_RUN, "interrupted")) {
        assert_ok(&w, pass(&w, 0));
        for (size_t i = 0; i < 2; i++) {
            assert_false(has_file(&w.tables[i], "data/old-0.parquet"));
            assert_false(has_file(&w.tables[i], "data/old-1.parquet"));
        }
    }
    for (size_t i = 0; i < 2; i++)
        assert_true(has_file(&w.tables[i], "data/live.parquet") && has_file(&w.tables[i], "data/young.parquet"));
    close_world(&w);
    return was_cancelled;
}

static void test_interrupted_stays_due(void **state)
{
    int n = 1;

    (void)state;
    while (interrupt(n) && n < 200)
        n++;
    assert_in_range(n, 5, 199);
}

/* ---- configuration of a pass ---- */

static void test_what_must_be_there(void **state)
{
    struct world w;

    (void)state;
    start(&w, CONFIG_HEAD "}", POLICY_RUN);
    add_table(&w, "a", 0);
    assert_error(&w, pass(&w, 0), ECONFIG);
    world_put(&w, "ebb.lua", BIND("enforce"));
    w.scripts = "/nowhere";
    assert_error(&w, pass(&w, 0), ECONFIG);
    world_put(&w, "scripts/boot.lua", "return {");
    w.scripts = w.top;
    assert_error(&w, pass(&w, 0), ECONFIG);
    w.scripts = EBB_SOURCE_DIR "/scripts";
    world_put(&w, "ebb.lua",
              "return { catalogs = {}, policies = './nowhere', bind = { { policy = 'sweep', tables = { '**' } } } }");
    assert_error(&w, pass(&w, 0), ECONFIG);
    world_put(&w, "ebb.lua", "return { catalogs = {}, bind = { { policy = 'sweep', tables = { '**' } } } }");
    assert_error(&w, pass(&w, 0), ECONFIG);
    world_put(&w, "ebb.lua", CONFIG_HEAD "bind = { { policy = 'swep', tables = { '**' } } } }");
    assert_error(&w, pass(&w, 0), ECONFIG);
    world_put(&w, "ebb.lua", CONFIG_HEAD "bind = { { policy = 'sweep', tables = { '**' }, params = { no = 1 } } } }");
    assert_error(&w, pass(&w, 0), ECONFIG);
    assert_string_equal(told_of(&w, "lake.db.a")->code, "config.invalid");
    close_world(&w);
}

static void test_two_policies_of_one_name(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("enforce"), POLICY_RUN);
    add_table(&w, "a", 1);
    world_put(&w, "policies/again.lua", POLICY_RUN);
    assert_error(&w, pass(&w, 0), EPOLICY_SCHEMA);
    assert_non_null(strstr(w.err.message, "name sweep is that of"));
    assert_int_equal(w.told_count, 0);
    close_world(&w);
}

/* One that does not load is told; the others go on. */
static void test_a_policy_that_does_not_load(void **state)
{
    struct world w;

    (void)state;
    start(&w, BIND("observe"), POLICY_RUN);
    add_table(&w, "a", 0);
    activate(&w);
    world_put(&w, "policies/broken.lua", "return policy {");
    world_put(&w, "policies/broken_spec.lua", "not looked at");
    assert_error(&w, pass(&w, 0), EPOLICY_ERROR);
    assert_string_equal(told_of(&w, "lake.db.a")->status, "observed");
    close_world(&w);
}

static void test_a_table_without_a_uuid(void **state)
{
    struct world w;

    (void)state;
    start(&w, CONFIG_HEAD "bind = { { policy = 'sweep', tables = { 'lake.db.a' } } } }", POLICY_RUN);
    add_table(&w, "a", 0);
    add_table(&w, "b", 0);
    edit_metadata(&w.tables[1], "\"format-version\":2,\"table-uuid\":\"00000002-2222-4333-8444-555555555555\",",
                  "\"format-version\":1,");
    assert_ok(&w, pass(&w, 0)); /* nobody asked for b */
    world_put(&w, "ebb.lua", BIND("observe"));
    pass(&w, 0);
    assert_string_equal(told_of(&w, "lake.db.a")->status, "not due");
    close_world(&w);
}

/* What a table says of itself reaches parameters only through their types. */
static void test_hostile_properties(void **state)
{
    static const char POLICY[] = "return policy { api = 1, name = 'sweep', params = { tz = { type = 'timezone', "
                                 "default = 'UTC', property = 'owner.timezone' },"
                                 "retain = { type = 'duration', default = '5d', min = '3d', property = 'retain' } },"
                                 "triggers = { time.calendar { '02:00', tz = param 'tz' } },"
                                 "decide = function(t, ctx) return run(all {}, action.remove_orphan_files { older_than "
                                 "= ctx.now - ctx.params.retain }) end }";
    static const char *const VALUES[] = {
        "\"owner.timezone\":\"../../etc/passwd\"",
        "\"owner.timezone\":\"/etc/passwd\"",
        "\"owner.timezone\":\"\"",
        "\"owner.timezone\":\"EST\"",
        "\"retain\":\"0d\"",
        "\"retain\":\"-3d\"",
        "\"retain\":\"2d\"",
        "\"retain\":\"99999999999999999999d\"",
        "\"retain\":\"\"",
    };

    (void)state;
    for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++) {
        struct world w;
        char properties[256];

        start(&w, BIND("enforce"), POLICY);
        add_table(&w, "a", 1);
        add_table(&w, "b", 1);
        snprintf(properties, sizeof properties, "\"properties\":{%s}", VALUES[i]);
        edit_metadata(&w.tables[0], "\"properties\":{}", properties);
        if (pass(&w, -2 * DAY_MS) != -EBB_ECONFIG)
            fail_msg("%s: %s", VALUES[i], w.err.message);
        assert_string_equal(told_of(&w, "lake.db.a")->code, "config.invalid");
        assert_string_equal(told_of(&w, "lake.db.b")->status, "not due");
        assert_int_equal(pass(&w, 0), -EBB_ECONFIG);
        assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
        assert_string_equal(told_of(&w, "lake.db.b")->status, "done");
        close_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_observe),
        cmocka_unit_test(test_approve),
        cmocka_unit_test(test_enforce),
        cmocka_unit_test(test_an_occurrence_is_taken_once),
        cmocka_unit_test(test_a_dry_pass_takes_nothing),
        cmocka_unit_test(test_the_safer_dry_run_wins),
        cmocka_unit_test(test_enforce_needs_full_ownership),
        cmocka_unit_test(test_refused_verdicts),
        cmocka_unit_test(test_policy_errors),
        cmocka_unit_test(test_a_location_through_a_link),
        cmocka_unit_test(test_a_location_inside),
        cmocka_unit_test(test_below_the_floor_where_it_is_allowed),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_fuses_hold),
        cmocka_unit_test(test_one_failure_does_not_stop_the_others),
        cmocka_unit_test(test_the_gravest_error_is_returned),
        cmocka_unit_test(test_the_first_binding_counts),
        cmocka_unit_test(test_decide_goes_by_the_binding_of_the_table),
        cmocka_unit_test(test_decide_knows_since_when_it_is_active),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_target_and_binding_both_count),
        cmocka_unit_test(test_observed_runs_count_for_the_interval),
        cmocka_unit_test(test_runs_that_change_nothing_come_less_often),
        cmocka_unit_test(test_plans_without_a_run_are_no_runs_that_change_nothing),
        cmocka_unit_test(test_back_off_after_failures),
        cmocka_unit_test(test_a_long_history),
        cmocka_unit_test(test_defer_and_deferred),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_interrupted_stays_due),
        cmocka_unit_test(test_what_must_be_there),
        cmocka_unit_test(test_two_policies_of_one_name),
        cmocka_unit_test(test_a_policy_that_does_not_load),
        cmocka_unit_test(test_a_table_without_a_uuid),
        cmocka_unit_test(test_hostile_properties),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
