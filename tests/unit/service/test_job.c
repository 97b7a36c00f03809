/* SPDX-License-Identifier: Apache-2.0
 *
 * The job remove-orphan-files: its arguments as texts, what it runs, and the statement for other engines.
 */
#include "service_help.h"

#include "base/time.h"
#include "service/job.h"

static int64_t instant(const char *text)
{
    int64_t ms = 0;

    assert_int_equal(ebb_time_parse(text, NULL, &ms, NULL), 0);
    return ms;
}

#define NOW instant("2026-06-10T12:00:00Z")

/* ---- arguments ---- */

static void test_all_arguments(void **state)
{
    struct ebb_job_args a = {
        "lake", "prod.eu.events", "2026-06-01 10:00:00", "s3://b/t/data", "true", "{\"spark.a\":\"1\"}", "spark"};
    struct ebb_job job;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_job_parse(&a, NOW, &job, &err), 0);
    assert_string_equal(job.name, "lake.prod.eu.events");
    assert_string_equal(job.catalog, "lake");
    assert_int_equal(job.parts.count, 3);
    assert_string_equal(job.parts.items[0], "prod");
    assert_string_equal(job.parts.items[2], "events");
    assert_true(job.has_older_than);
    assert_int_equal(job.older_than_ms, instant("2026-06-01T10:00:00Z"));
    assert_string_equal(job.older_than, "2026-06-01T10:00:00Z");
    assert_string_equal(job.location, "s3://b/t/data");
    assert_true(job.dry_run);
    assert_int_equal(job.engine, EBB_JOB_SPARK);
    ebb_job_fini(&job);
}

static void test_empty_means_not_given(void **state)
{
    struct ebb_job_args a = {"lake", "prod.events", "", "", "", "", ""};
    struct ebb_job job;
    struct ebb_err err;

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ebb_job_parse(&a, NOW, &job, &err), 0);
        assert_false(job.has_older_than || job.dry_run);
        assert_null(job.older_than);
        assert_null(job.location);
        assert_int_equal(job.engine, EBB_JOB_NATIVE);
        ebb_job_fini(&job);
        a = (struct ebb_job_args){.catalog = "lake", .table = "prod.events"};
    }
}

static void check_time(const char *text, const char *iso)
{
    struct ebb_job_args a = {.catalog = "lake", .table = "prod.events", .older_than = text};
    struct ebb_job job;
    struct ebb_err err;

    if (ebb_job_parse(&a, NOW, &job, &err))
        fail_msg("%s: %s", text, err.message);
    assert_string_equal(job.older_than, iso);
    ebb_job_fini(&job);
}

static void test_times(void **state)
{
    (void)state;
    check_time("2026-06-01 10:00:00", "2026-06-01T10:00:00Z"); /* UTC, whatever the host's zone */
    check_time("2026-06-01T10:00:00Z", "2026-06-01T10:00:00Z");
    check_time("2026-06-01 10:00:00 +02:00", "2026-06-01T08:00:00Z");
    check_time("2026-06-10 12:00:00", "2026-06-10T12:00:00Z"); /* now */
}

static const struct {
    struct ebb_job_args args;
    enum ebb_error error;
    const char *message;
} BAD[] = {
    {{.table = "s.t"}, EBB_EUSAGE, "--catalog: is missing"},
    {{.catalog = "", .table = "s.t"}, EBB_EUSAGE, "--catalog: is missing"},
    {{.catalog = "c"}, EBB_EUSAGE, "--table: is missing"},
    {{.catalog = "c", .table = "t"}, EBB_EUSAGE, "--table t: schema.table"},
    {{.catalog = "c", .table = ".t"}, EBB_EUSAGE, "--table"},
    {{.catalog = "c", .table = "s."}, EBB_EUSAGE, "--table"},
    {{.catalog = "c", .table = "s..t"}, EBB_EUSAGE, "--table"},
    {{.catalog = "c", .table = "."}, EBB_EUSAGE, "--table"},
    {{.catalog = "c", .table = "s.t", .dry_run = "TRUE"}, EBB_EUSAGE, "--dry-run TRUE: true or false"},
    {{.catalog = "c", .table = "s.t", .dry_run = "1"}, EBB_EUSAGE, "--dry-run 1"},
    {{.catalog = "c", .table = "s.t", .dry_run = "true "}, EBB_EUSAGE, "--dry-run"},
    {{.catalog = "c", .table = "s.t", .dry_run = "no"}, EBB_EUSAGE, "--dry-run"},
    {{.catalog = "c", .table = "s.t", .dry_run = "{{dry_run}}"}, EBB_EUSAGE, "--dry-run {{dry_run}}: a placeholder"},
    {{.catalog = "{{catalog_name}}", .table = "s.t"}, EBB_EUSAGE, "--catalog {{catalog_name}}: a placeholder"},
    {{.catalog = "c", .table = "{{table.id-1}}"}, EBB_EUSAGE, "--table {{table.id-1}}: a placeholder"},
    {{.catalog = "c", .table = "s.t", .location = "{{location}}"}, EBB_EUSAGE, "--location {{location}}: a place"},
    {{.catalog = "c", .table = "s.t", .older_than = "{{older_than}}"}, EBB_EUSAGE, "--older-than {{older_than}}: a"},
    {{.catalog = "c", .table = "s.t", .engine = "Spark"}, EBB_EUSAGE, "--engine Spark: native, spark, livy, trino or"},
    {{.catalog = "c", .table = "s.t", .older_than = "3d"}, EBB_ETIME, "--older-than"},
    {{.catalog = "c", .table = "s.t", .older_than = "yesterday"}, EBB_ETIME, "--older-than"},
    {{.catalog = "c", .table = "s.t", .older_than = "--dry-run"}, EBB_ETIME, "--older-than"},
    {{.catalog = "c", .table = "s.t", .older_than = "2026-02-30 00:00:00"}, EBB_ETIME, "--older-than"},
    {{.catalog = "c", .table = "s.t", .older_than = "99999999999999999999"}, EBB_ETIME, "--older-than"},
    {{.catalog = "c", .table = "s.t", .older_than = "2026-06-10 12:00:01"}, EBB_ECUTOFF_FUTURE, "lies in the future"},
    {{.catalog = "c", .table = "s.t", .older_than = "9999-01-01 00:00:00"}, EBB_ECUTOFF_FUTURE, "lies in the future"},
    {{.catalog = "c", .table = "s.t", .spark_conf = "{"}, EBB_EUSAGE, "--spark-conf"},
    {{.catalog = "c", .table = "s.t", .spark_conf = "[]", .engine = "spark"},
     EBB_EUSAGE,
     "--spark-conf: a JSON object"},
    {{.catalog = "c", .table = "s.t", .spark_conf = "{\"a\":1}", .engine = "spark"},
     EBB_EUSAGE,
     "--spark-conf: a: text is wanted"},
    {{.catalog = "c", .table = "s.t", .spark_conf = "{\"a\":\"1\",\"a\":\"2\"}", .engine = "spark"},
     EBB_EUSAGE,
     "--spark-conf"},
    {{.catalog = "c", .table = "s.t", .spark_conf = "{\"a\":\"1\"}"}, EBB_EUNSUPPORTED, "only --engine spark"},
    {{.catalog = "c", .table = "s.t", .spark_conf = "{\"a\":\"1\"}", .engine = "trino"},
     EBB_EUNSUPPORTED,
     "only --engine spark"},
    {{.catalog = "c", .table = "s.t", .spark_conf = "{\"a\":\"1\"}", .engine = "spark"}, EBB_EUSAGE, "begin with"},
    {{.catalog = "c", .table = "s.t", .spark_conf = "{\"spark.sql.variable.substitute\":\"true\"}", .engine = "livy"},
     EBB_EUSAGE,
     "is always false here"},
};

static void test_bad_arguments(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct ebb_job job;
        struct ebb_err err;
        int rc;

        memset(&err, 0, sizeof err);
        rc = ebb_job_parse(&BAD[i].args, NOW, &job, &err);
        if (rc != -(int)BAD[i].error || !strstr(err.message, BAD[i].message))
            fail_msg("%zu: %d (wanted %d) %s", i, rc, -(int)BAD[i].error, err.message);
        assert_null(job.name); /* nothing is left to free */
    }
}

static void test_an_empty_conf_is_none(void **state)
{
    struct ebb_job_args a = {.catalog = "c", .table = "s.t", .spark_conf = "{}"};
    struct ebb_job job;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_job_parse(&a, NOW, &job, &err), 0);
    ebb_job_fini(&job);
}

/* ---- running ---- */

static int run(struct world *w, struct ebb_job_args a, const struct ebb_job_origin *origin, struct ebb_job_result *r)
{
    struct ebb_job job;
    int rc;

    memset(r, 0, sizeof *r);
    rc = ebb_job_parse(&a, world_now(w), &job, &w->err);
    if (rc)
        return rc;
    rc = ebb_job_run(w->ws, &job, origin, r, &w->err);
    ebb_job_fini(&job);
    return rc;
}

static void start(struct world *w)
{
    open_world(w);
    world_put(w, "ebb.lua", CONFIG_HEAD "tables = { ['lake.db.low'] = { allow_below_floor = true } } }");
    add_table(w, "a", 2);
    add_table(w, "low", 2);
    assert_ok(w, try_open(w, 0));
}

static void test_dry_and_wet(void **state)
{
    struct ebb_job_result r;
    struct world w;

    (void)state;
    start(&w);
    assert_ok(&w, run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.a", .dry_run = "true"}, NULL, &r));
    assert_int_equal(r.plan.summary.candidates, 2);
    assert_false(r.was_applied);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    ebb_job_result_fini(&r);
    assert_ok(&w, run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.a"}, NULL, &r));
    assert_true(r.was_applied);
    assert_int_equal(r.apply.moved, 2);
    assert_true(has_file(&w.tables[0], "data/young.parquet")); /* without a cutoff: three days */
    ebb_job_result_fini(&r);
    close_world(&w);
}

static void dawdle(void *data, const struct ebb_progress *progress)
{
    struct timespec pause = {0, 5000000};

    (void)data;
    (void)progress;
    nanosleep(&pause, NULL);
}

/* The guard's timeout: the job stops at the next safe point, nothing is moved. */
static void test_a_job_that_takes_too_long_stops(void **state)
{
    struct ebb_job_origin origin;
    struct ebb_job_result r;
    struct world w;

    (void)state;
    start(&w);
    memset(&origin, 0, sizeof origin);
    origin.fuses.timeout_ms = 1;
    ebb_workspace_site(w.ws)->progress = dawdle;
    assert_error(&w, run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.a"}, &origin, &r), ECANCELLED);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    ebb_job_result_fini(&r);
    origin.fuses.timeout_ms = 3600000;
    assert_ok(&w, run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.a"}, &origin, &r));
    assert_false(has_file(&w.tables[0], "data/old-0.parquet"));
    ebb_job_result_fini(&r);
    close_world(&w);
}

static void test_a_job_is_checked_like_any_plan(void **state)
{
    struct ebb_job_origin origin;
    struct ebb_job_result r;
    struct ebb_buf recent;
    struct world w;
    char outside[512];

    (void)state;
    start(&w);
    ebb_buf_init(&recent, 64);
    ebb_time_iso(&recent, world_now(&w) - 2 * HOUR_MS);
    assert_error(&w,
                 run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.a", .older_than = ebb_buf_cstr(&recent)},
                     NULL, &r),
                 ECUTOFF_FLOOR);
    ebb_job_result_fini(&r);
    assert_ok(&w,
              run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.low", .older_than = ebb_buf_cstr(&recent)},
                  NULL, &r));
    assert_int_equal(r.apply.moved, 2); /* the young file is an hour old */
    ebb_job_result_fini(&r);
    assert_error(&w,
                 run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.a", .older_than = ebb_buf_cstr(&recent)},
                     NULL, &r),
                 ECUTOFF_FLOOR); /* what one job was allowed is not left behind for the next */
    ebb_job_result_fini(&r);
    world_path(&w, "wh", outside);
    assert_error(&w, run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.a", .location = outside}, NULL, &r),
                 EOUTSIDE);
    ebb_job_result_fini(&r);
    assert_error(&w, run(&w, (struct ebb_job_args){.catalog = "other", .table = "db.a"}, NULL, &r), ECATALOG_UNKNOWN);
    ebb_job_result_fini(&r);
    assert_error(&w, run(&w, (struct ebb_job_args){.catalog = w.tables[0].location, .table = "db.a"}, NULL, &r),
                 ECATALOG_UNKNOWN);
    ebb_job_result_fini(&r);
    assert_error(&w, run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db/../wh.a"}, NULL, &r), EUSAGE);
    ebb_job_result_fini(&r);
    assert_error(&w, run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.none"}, NULL, &r), ETABLE_NOT_FOUND);
    ebb_job_result_fini(&r);
    assert_error(&w, run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.a", .engine = "spark"}, NULL, &r),
                 ECONFIG);
    ebb_job_result_fini(&r);
    memset(&origin, 0, sizeof origin);
    origin.fuses.max_files = 1;
    assert_error(&w, run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.a"}, &origin, &r), EFUSE);
    assert_string_equal(r.plan.summary.status, "held");
    ebb_job_result_fini(&r);
    assert_error(&w, run(&w, (struct ebb_job_args){.catalog = "lake", .table = "db.a", .dry_run = "true"}, &origin, &r),
                 EFUSE);
    ebb_job_result_fini(&r);
    assert_true(has_file(&w.tables[0], "data/old-0.parquet"));
    ebb_buf_fini(&recent);
    close_world(&w);
}

/* ---- statements ---- */

static int sql(struct world *w, struct ebb_job_args a, struct ebb_buf *out)
{
    struct ebb_job job;
    int rc = ebb_job_parse(&a, world_now(w), &job, &w->err);

    ebb_buf_init(out, 65536);
    if (rc)
        return rc;
    rc = ebb_job_sql(w->ws, &job, out, &w->err);
    ebb_job_fini(&job);
    return rc;
}

static void test_spark_statement(void **state)
{
    struct ebb_buf out;
    struct world w;

    (void)state;
    start(&w);
    assert_ok(&w,
              sql(&w, (struct ebb_job_args){"lake", "db.a", "2026-01-07 12:00:00", NULL, "true", NULL, "spark"}, &out));
    assert_string_equal(ebb_buf_cstr(&out), "CALL `lake`.system.remove_orphan_files(table => '`lake`.`db`.`a`', "
                                            "older_than => TIMESTAMP '2026-01-07 12:00:00Z', dry_run => true)");
    ebb_buf_fini(&out);
    /* a catalog that only Spark knows; names that need quotes */
    assert_ok(&w,
              sql(&w,
                  (struct ebb_job_args){"spark_catalog", "db-1.t`2'", "2026-01-07 12:00:00", NULL, NULL, NULL, "spark"},
                  &out));
    assert_string_equal(ebb_buf_cstr(&out),
                        "CALL `spark_catalog`.system.remove_orphan_files(table => '`spark_catalog`.`db-1`.`t``2\\'`', "
                        "older_than => TIMESTAMP '2026-01-07 12:00:00Z', dry_run => false)");
    ebb_buf_fini(&out);
    close_world(&w);
}

static void test_statements_are_refused(void **state)
{
    struct ebb_buf out, recent;
    struct world w;
    char place[512];

    (void)state;
    start(&w);
    ebb_buf_init(&recent, 64);
    ebb_time_iso(&recent, world_now(&w) - DAY_MS + 60000);
    assert_error(
        &w, sql(&w, (struct ebb_job_args){"lake", "db.low", ebb_buf_cstr(&recent), NULL, NULL, NULL, "spark"}, &out),
        ECUTOFF_FLOOR);
    ebb_buf_fini(&out);
    snprintf(place, sizeof place, "%s/data", w.tables[0].location);
    assert_ok(&w, sql(&w, (struct ebb_job_args){"lake", "db.a", NULL, place, NULL, NULL, "spark"}, &out));
    assert_non_null(strstr(ebb_buf_cstr(&out), "location => '"));
    ebb_buf_fini(&out);
    for (int i = 0; i < 4; i++) {
        static const char *const OUTSIDE[] = {"/../low", "b", "/data/../../low", "/data/../data"};

        snprintf(place, sizeof place, "%s%s", w.tables[0].location, OUTSIDE[i]);
        assert_error(&w, sql(&w, (struct ebb_job_args){"lake", "db.a", NULL, place, NULL, NULL, "spark"}, &out),
                     EOUTSIDE);
        ebb_buf_fini(&out);
    }
    assert_error(&w, sql(&w, (struct ebb_job_args){"nobody", "db.a", NULL, "s3://x", NULL, NULL, "spark"}, &out),
                 ECATALOG_UNKNOWN);
    ebb_buf_fini(&out);
    assert_error(&w, sql(&w, (struct ebb_job_args){"lake", "db.none", NULL, NULL, NULL, NULL, "spark"}, &out),
                 ETABLE_NOT_FOUND);
    ebb_buf_fini(&out);
    assert_error(&w, sql(&w, (struct ebb_job_args){"lake", "db.a", NULL, NULL, "true", NULL, "trino"}, &out),
                 EUNSUPPORTED);
    ebb_buf_fini(&out);
    snprintf(place, sizeof place, "%s/data", w.tables[0].location);
    assert_error(&w, sql(&w, (struct ebb_job_args){"lake", "db.a", NULL, place, NULL, NULL, "trino"}, &out),
                 EUNSUPPORTED);
    ebb_buf_fini(&out);
    edit_metadata(&w.tables[0], "\"properties\":{}", "\"properties\":{\"gc.enabled\":\"FALSE\"}");
    assert_error(&w, sql(&w, (struct ebb_job_args){"lake", "db.a", NULL, NULL, NULL, NULL, "spark"}, &out),
                 EGC_DISABLED);
    ebb_buf_fini(&out);
    assert_error(&w, sql(&w, (struct ebb_job_args){"lake", "db.a", NULL, NULL, NULL, NULL, "trino"}, &out),
                 EGC_DISABLED);
    ebb_buf_fini(&out);
    ebb_buf_fini(&recent);
    close_world(&w);
}

static void test_trino_statement(void **state)
{
    struct ebb_buf out;
    struct world w;

    (void)state;
    start(&w);
    assert_ok(&w, sql(&w, (struct ebb_job_args){"lake", "db.a", NULL, NULL, NULL, NULL, "trino"}, &out));
    assert_string_equal(ebb_buf_cstr(&out),
                        "ALTER TABLE \"lake\".\"db\".\"a\" EXECUTE remove_orphan_files(retention_threshold => '3d')");
    ebb_buf_fini(&out);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_arguments),
        cmocka_unit_test(test_empty_means_not_given),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_an_empty_conf_is_none),
        cmocka_unit_test(test_dry_and_wet),
        cmocka_unit_test(test_a_job_that_takes_too_long_stops),
        cmocka_unit_test(test_a_job_is_checked_like_any_plan),
        cmocka_unit_test(test_spark_statement),
        cmocka_unit_test(test_statements_are_refused),
        cmocka_unit_test(test_trino_statement),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
