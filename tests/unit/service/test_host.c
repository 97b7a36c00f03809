/* SPDX-License-Identifier: Apache-2.0
 *
 * The public interface: each function, what it gives back and what it says when it fails; clock, log and interruption
 * of the host.
 */
#include <math.h>

#include "ebb.h"
#include "service_help.h"

struct host_data {
    int64_t shift_ms;
    int clock_reads, log_lines, reports;
    char last_log[512], last_report[4096];
    bool stop;
    int stop_at; /* this reading of the clock */
};

static int64_t now_of(void *data)
{
    struct host_data *d = data;

    if (++d->clock_reads == d->stop_at)
        d->stop = true;
    return ebb_clock_system().now_ms(NULL) + d->shift_ms;
}

static void on_log(void *data, enum ebb_host_level level, const char *message)
{
    struct host_data *d = data;

    assert_in_range(level, EBB_HOST_ERROR, EBB_HOST_DEBUG);
    for (const char *p = message; *p; p++)
        assert_false((unsigned char)*p < 32 || *p == 127);
    d->log_lines++;
    snprintf(d->last_log, sizeof d->last_log, "%s", message);
}

static void on_host_report(void *data, const char *json)
{
    struct host_data *d = data;

    d->reports++;
    snprintf(d->last_report, sizeof d->last_report, "%s", json);
}

static char config_path[512], state_path[512];

static void options_of(struct world *w, struct host_data *d, struct ebb_host_options *o)
{
    memset(o, 0, sizeof *o);
    world_path(w, "ebb.lua", config_path);
    world_path(w, "state", state_path);
    o->config = config_path;
    o->state_dir = state_path;
    o->scripts_dir = EBB_SOURCE_DIR "/scripts";
    if (d) {
        o->now_ms = now_of;
        o->clock_data = d;
        o->log = on_log;
        o->log_data = d;
        o->cancelled = &d->stop;
    }
}

static struct ebb_host *start(struct world *w, struct host_data *d, const char *config)
{
    struct ebb_host_options o;
    struct ebb_host *host = NULL;
    struct ebb_host_error err;

    open_world(w);
    world_put(w, "ebb.lua", config);
    world_put(w, "policies/sweep.lua", POLICY_RUN);
    add_table(w, "a", 2);
    if (d)
        memset(d, 0, sizeof *d);
    options_of(w, d, &o);
    if (ebb_host_open(&o, &host, &err))
        fail_msg("%s: %s", err.code, err.message);
    return host;
}

#define ENFORCE CONFIG_HEAD "bind = { { policy = 'sweep', tables = { '**' }, mode = 'enforce' } } }"

/* The value of a text member that stands alone in its JSON. */
static void member(const char *json, const char *key, char out[64])
{
    char mark[64];
    const char *at;

    snprintf(mark, sizeof mark, "\"%s\":\"", key);
    at = strstr(json, mark);
    assert_non_null(at);
    at += strlen(mark);
    snprintf(out, 64, "%.*s", (int)strcspn(at, "\""), at);
}

static void test_plan_apply_restore(void **state)
{
    struct ebb_host_error err;
    struct host_data d;
    struct ebb_host *host;
    struct world w;
    char *plan = NULL, *result = NULL, id[64], run[64];

    (void)state;
    host = start(&w, &d, ENFORCE);
    assert_int_equal(ebb_host_plan(host, "lake.db.a", NULL, 0, &plan, &err), 0);
    assert_non_null(strstr(plan, "\"status\":\"ready\""));
    assert_non_null(strstr(plan, "\"candidates\":2"));
    member(plan, "plan", id);
    ebb_host_free_text(plan);
    assert_int_equal(ebb_host_apply(host, id, &result, &err), 0);
    assert_non_null(strstr(result, "\"status\":\"done\""));
    assert_non_null(strstr(result, "\"moved\":2"));
    member(result, "run", run);
    ebb_host_free_text(result);
    assert_false(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_int_equal(ebb_host_apply(host, id, &result, &err), -EBB_EPLAN_APPLIED);
    assert_null(result);
    assert_string_equal(err.code, "plan.already_applied");
    assert_int_equal(err.exit_status, 2);
    assert_int_equal(ebb_host_resume(host, run, &result, &err), -EBB_ERUN_STATE);
    assert_null(result);
    assert_int_equal(ebb_host_restore(host, run, &result, &err), 0);
    assert_non_null(strstr(result, "\"restored\":2"));
    ebb_host_free_text(result);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_true(d.clock_reads > 0);
    ebb_host_close(host);
    close_world(&w);
}

static void test_errors(void **state)
{
    struct ebb_host_error err;
    struct host_data d;
    struct ebb_host *host;
    struct world w;
    char *text = NULL;

    (void)state;
    host = start(&w, &d, ENFORCE);
    assert_int_equal(ebb_host_plan(host, "lake.db.none", NULL, 0, &text, &err), -EBB_ETABLE_NOT_FOUND);
    assert_string_equal(err.code, "table.not_found");
    assert_int_equal(err.exit_status, 64);
    assert_null(text);
    assert_int_equal(ebb_host_plan(host, "lake.db.a", "yesterday", 0, &text, &err), -EBB_ETIME);
    assert_int_equal(ebb_host_plan(host, "lake.db.a", "1h", 0, &text, &err), -EBB_ECUTOFF_FLOOR);
    assert_string_not_equal(err.hint, "");
    assert_int_equal(ebb_host_plan(host, "lake.db.a", "0d", 0, &text, &err), -EBB_ECUTOFF_FLOOR);
    for (size_t i = 0; i < 4; i++) {
        static const double SHARES[] = {-0.1, 1.1, (double)INFINITY, (double)NAN};

        assert_int_equal(ebb_host_plan(host, "lake.db.a", NULL, SHARES[i], &text, &err), -EBB_EUSAGE);
        assert_null(text);
    }
    assert_int_equal(ebb_host_plan(host, "lake.db.a\x1b[31m\n", NULL, 0, &text, NULL),
                     -EBB_ETABLE_NOT_FOUND); /* err may be NULL */
    assert_int_equal(ebb_host_plan(host, "lake.db.a\x1b[31m\n", NULL, 0, &text, &err), -EBB_ETABLE_NOT_FOUND);
    for (const char *p = err.message; *p; p++)
        assert_false((unsigned char)*p < 32);
    assert_int_equal(ebb_host_apply(host, "p-nothing", &text, &err), -EBB_ENOT_FOUND);
    assert_int_equal(ebb_host_restore(host, "r-nothing", &text, &err), -EBB_ENOT_FOUND);
    assert_int_equal(ebb_host_resume(host, "r-nothing", &text, &err), -EBB_ENOT_FOUND);
    assert_int_equal(ebb_host_decide(host, "none", "lake.db.a", &text, &err), -EBB_ENOT_FOUND);
    assert_null(text);
    assert_int_equal(ebb_host_decide(host, "sweep", "lake.db.none", &text, &err), -EBB_ETABLE_NOT_FOUND);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    ebb_host_close(host);
    ebb_host_close(NULL);
    ebb_host_free_text(NULL);
    close_world(&w);
}

static void test_a_held_plan_is_no_error(void **state)
{
    struct ebb_host_error err;
    struct ebb_host *host;
    struct world w;
    char *plan = NULL, *result = NULL, id[64];

    (void)state;
    host = start(&w, NULL, ENFORCE);
    assert_int_equal(ebb_host_plan(host, "lake.db.a", "3d", 0.1, &plan, &err), 0);
    assert_non_null(strstr(plan, "\"status\":\"held\""));
    member(plan, "plan", id);
    ebb_host_free_text(plan);
    assert_int_equal(ebb_host_apply(host, id, &result, &err), -EBB_EFUSE);
    assert_null(result);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    ebb_host_close(host);
    close_world(&w);
}

static void test_opening(void **state)
{
    struct ebb_host_options o;
    struct ebb_host *host = NULL;
    struct ebb_host_error err;
    struct world w;
    char *plan = NULL;
    const char *maps[] = {"hdfs://nn=/nowhere", "no map at all"};

    (void)state;
    open_world(&w);
    add_table(&w, "a", 1);
    options_of(&w, NULL, &o);
    assert_int_equal(ebb_host_open(&o, &host, &err), -EBB_ECONFIG); /* no such configuration */
    assert_null(host);
    world_put(&w, "ebb.lua", "return { catalog = 5 }");
    assert_int_equal(ebb_host_open(&o, &host, &err), -EBB_ECONFIG_UNKNOWN_KEY);
    assert_string_equal(err.code, "config.unknown_key");
    assert_int_equal(err.exit_status, 64);
    assert_non_null(strstr(err.hint, "catalogs"));
    o.config = NULL;
    o.maps = maps;
    o.map_count = 2;
    assert_int_equal(ebb_host_open(&o, &host, &err), -EBB_EUSAGE);
    o.map_count = 1;
    assert_int_equal(ebb_host_open(&o, &host, &err), 0);
    assert_int_equal(ebb_host_plan(host, w.tables[0].location, NULL, 0, &plan, &err),
                     0); /* a table by path needs no configuration */
    assert_non_null(strstr(plan, "\"candidates\":1"));
    ebb_host_free_text(plan);
    assert_int_equal(ebb_host_run(host, false, NULL, NULL, &err), -EBB_ECONFIG);
    ebb_host_close(host);
    o.state_dir = "/dev/null/x";
    assert_int_not_equal(ebb_host_open(&o, &host, &err), 0);
    assert_null(host);
    close_world(&w);
}

static void test_policies(void **state)
{
    struct ebb_host_error err;
    struct ebb_host *host;
    struct world w;
    char *manifest = NULL, *record = NULL, other[512];

    (void)state;
    host = start(&w, NULL,
                 "return { catalogs = { lake = { type = 'directory', path = './wh' } }, bind = { { policy = 'other', "
                 "tables = { '**' } } } }");
    assert_int_equal(ebb_host_decide(host, "other", "lake.db.a", &record, &err),
                     -EBB_ECONFIG); /* no folder of policies */
    world_put(&w, "more/other.lua",
              "return policy { api = 1, name = 'other', triggers = { time.calendar { '02:00' } }, decide = function() "
              "return skip(all {}) end }");
    world_path(&w, "more", other);
    assert_int_equal(ebb_host_load_policies(host, other, &manifest, &err), 0);
    assert_true(manifest[0] == '[' && strstr(manifest, "\"name\":\"other\""));
    ebb_host_free_text(manifest);
    assert_int_equal(ebb_host_load_policies(host, other, NULL, NULL), 0);
    assert_int_equal(ebb_host_decide(host, "other", "lake.db.a", &record, &err), 0);
    assert_non_null(strstr(record, "\"verdict\":\"skip\""));
    ebb_host_free_text(record);
    world_put(&w, "bad/a.lua", "return policy {");
    world_path(&w, "bad", other);
    manifest = other;
    assert_int_equal(ebb_host_load_policies(host, other, &manifest, &err), -EBB_EPOLICY_ERROR);
    assert_null(manifest);
    assert_int_equal(err.exit_status, 4);
    assert_int_equal(ebb_host_run(host, false, NULL, NULL, &err), 0); /* the folder from before still counts */
    assert_int_equal(ebb_host_load_policies(host, "/nowhere", &manifest, &err), -EBB_ECONFIG);
    ebb_host_close(host);
    close_world(&w);
}

static void test_a_policy_that_goes_wrong_leaves_its_record(void **state)
{
    struct ebb_host_error err;
    struct ebb_host *host;
    struct world w;
    char *record = NULL;

    (void)state;
    host = start(&w, NULL, ENFORCE);
    world_put(&w, "policies/sweep.lua",
              "return policy { api = 1, name = 'sweep', decide = function() while true do end end }");
    assert_int_equal(ebb_host_decide(host, "sweep", "lake.db.a", &record, &err), -EBB_EPOLICY_GAS);
    assert_int_equal(err.exit_status, 4);
    assert_non_null(strstr(record, "\"verdict\":\"error\""));
    ebb_host_free_text(record);
    ebb_host_close(host);
    close_world(&w);
}

static void test_a_pass(void **state)
{
    struct ebb_host_error err;
    struct ebb_host *host;
    struct host_data d;
    struct world w;

    (void)state;
    host = start(&w, &d, ENFORCE);
    d.shift_ms = -DAY_MS;
    assert_int_equal(ebb_host_run(host, false, on_host_report, &d, &err), 0);
    assert_non_null(strstr(d.last_report, "\"status\":\"not due\""));
    d.shift_ms = 0;
    assert_int_equal(ebb_host_run(host, true, on_host_report, &d, &err), 0);
    assert_non_null(strstr(d.last_report, "\"status\":\"ready\""));
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_int_equal(ebb_host_run(host, false, on_host_report, &d, &err), 0);
    assert_non_null(strstr(d.last_report, "\"status\":\"done\""));
    assert_non_null(strstr(d.last_report, "\"moved\":2"));
    assert_int_equal(d.reports, 3);
    ebb_host_close(host);
    close_world(&w);
}

/* A host whose clock is wrong can't remove anything. */
static void test_a_wrong_clock(void **state)
{
    struct ebb_host_error err;
    struct ebb_host *host;
    struct host_data d;
    struct world w;

    (void)state;
    host = start(&w, &d, ENFORCE);
    assert_int_equal(ebb_host_run(host, false, NULL, NULL, &err), 0);
    d.shift_ms = 30 * DAY_MS;
    assert_int_equal(ebb_host_run(host, false, on_host_report, &d, &err), -EBB_ECLOCK);
    assert_true(has_file(&w.tables[0], "data/young.parquet"));
    ebb_host_close(host);
    close_world(&w);
}

static void test_interrupted(void **state)
{
    struct ebb_host_error err;
    struct ebb_host *host;
    struct host_data d;
    struct world w;
    char *text = NULL, *result = NULL, id[64];

    (void)state;
    host = start(&w, &d, ENFORCE);
    assert_int_equal(ebb_host_plan(host, "lake.db.a", NULL, 0, &text, &err), 0);
    member(text, "plan", id);
    ebb_host_free_text(text);
    d.stop = true;
    assert_int_equal(ebb_host_plan(host, "lake.db.a", NULL, 0, &text, &err), -EBB_ECANCELLED);
    assert_int_equal(err.exit_status, 5);
    assert_null(text);
    assert_int_equal(ebb_host_apply(host, id, &result, &err), -EBB_ECANCELLED);
    ebb_host_free_text(result);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    assert_int_equal(ebb_host_run(host, false, NULL, NULL, &err), -EBB_ECANCELLED);
    d.stop = false; /* and it goes on when the host says so */
    assert_int_equal(ebb_host_plan(host, "lake.db.a", NULL, 0, &text, &err), 0);
    ebb_host_free_text(text);
    d.stop_at = d.clock_reads + 4; /* in the middle */
    assert_int_equal(ebb_host_plan(host, "lake.db.a", NULL, 0, &text, &err) == -EBB_ECANCELLED, d.stop);
    ebb_host_free_text(text);
    ebb_host_close(host);
    close_world(&w);
}

/* Without a clock of its own a host can still stop the work. */
static void test_interrupted_without_a_clock(void **state)
{
    struct ebb_host_options o;
    struct ebb_host_error err;
    struct ebb_host *host;
    volatile bool stop = false;
    struct world w;
    char *text = NULL;

    (void)state;
    host = start(&w, NULL, ENFORCE);
    ebb_host_close(host);
    options_of(&w, NULL, &o);
    o.cancelled = &stop;
    assert_int_equal(ebb_host_open(&o, &host, &err), 0);
    stop = true;
    assert_int_equal(ebb_host_plan(host, "lake.db.a", NULL, 0, &text, &err), -EBB_ECANCELLED);
    ebb_host_close(host);
    close_world(&w);
}

/* Two hosts on one state folder, and one with its own. */
static void test_several_hosts(void **state)
{
    struct ebb_host_options o;
    struct ebb_host_error err;
    struct ebb_host *a, *b = NULL, *c = NULL;
    struct world w;
    char *plan = NULL, *result = NULL, id[64], other[512];

    (void)state;
    a = start(&w, NULL, ENFORCE);
    options_of(&w, NULL, &o);
    assert_int_equal(ebb_host_open(&o, &b, &err), 0);
    world_path(&w, "state2", other);
    o.state_dir = other;
    assert_int_equal(ebb_host_open(&o, &c, &err), 0);
    assert_int_equal(ebb_host_plan(a, "lake.db.a", NULL, 0, &plan, &err), 0);
    member(plan, "plan", id);
    ebb_host_free_text(plan);
    assert_int_equal(ebb_host_apply(c, id, &result, &err), -EBB_ENOT_FOUND); /* that one knows nothing of it */
    assert_int_equal(ebb_host_apply(b, id, &result, &err), 0);
    ebb_host_free_text(result);
    assert_int_equal(ebb_host_apply(a, id, &result, &err), -EBB_EPLAN_APPLIED);
    ebb_host_close(a);
    ebb_host_close(b);
    ebb_host_close(c);
    close_world(&w);
}

static void test_log(void **state)
{
    struct ebb_host_error err;
    struct ebb_host *host;
    struct host_data d;
    struct world w;
    char *plan = NULL;

    (void)state;
    host = start(&w, &d, CONFIG_HEAD "tables = { ['**'] = { allow_below_floor = true } } }");
    assert_int_equal(ebb_host_plan(host, "lake.db.a", "0d", 1, &plan, &err), 0);
    ebb_host_free_text(plan);
    assert_true(d.log_lines > 0);
    assert_non_null(strstr(d.last_log, "BELOW THE FLOOR"));
    ebb_host_close(host);
    close_world(&w);
}

static void test_version(void **state)
{
    (void)state;
    assert_string_equal(ebb_host_version(), EBB_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_apply_restore),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_a_held_plan_is_no_error),
        cmocka_unit_test(test_opening),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_a_policy_that_goes_wrong_leaves_its_record),
        cmocka_unit_test(test_a_pass),
        cmocka_unit_test(test_a_wrong_clock),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_interrupted_without_a_clock),
        cmocka_unit_test(test_several_hosts),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
