/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine state: action to job configuration, contents of policy objects, evaluation of a strategy.
 */
#include "engine_help.h"

#include <unistd.h>

#define SCRIPTS EBB_SOURCE_DIR "/scripts"
#define STRATEGY "iceberg-orphan-file-removal"
#define TABLE                                                                                                          \
    "{\"catalog\":\"prod\",\"namespace\":\"events\",\"name\":\"clicks\",\"location\":\"s3://lake/prod/events/"         \
    "clicks\"}"

static struct ebb_engine *open_engine(void)
{
    struct ebb_engine *engine = NULL;
    struct ebb_err err;

    if (ebb_engine_new(SCRIPTS, &engine, &err))
        fail_msg("%s", err.message);
    return engine;
}

/* The chain on an action; facts of the table above at HELP_NOW. */
static int chain(struct ebb_engine *engine, const char *action_json, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value *action = help_json(action_json);
    struct ebb_value *facts = help_json("{\"table\":" TABLE ",\"now\":1774742400000}");
    int rc = ebb_engine_chain(engine, action, facts, out, err);

    ebb_value_free(action);
    ebb_value_free(facts);
    return rc;
}

static void check_config(const char *action, const char *older_than, const char *location, const char *dry_run)
{
    struct ebb_engine *engine = open_engine();
    struct ebb_value *job = NULL;
    const struct ebb_value *config;
    struct ebb_err err;

    if (chain(engine, action, &job, &err))
        fail_msg("%s: %s", action, err.message);
    config = ebb_value_get(job, "config");
    assert_string_equal(ebb_value_text_of(job, "template"), "builtin-iceberg-remove-orphan-files");
    assert_string_equal(ebb_value_text_of(config, "catalog_name"), "prod");
    assert_string_equal(ebb_value_text_of(config, "table_identifier"), "events.clicks");
    assert_string_equal(ebb_value_text_of(config, "older_than"), older_than);
    assert_string_equal(ebb_value_text_of(config, "dry_run"), dry_run);
    if (location)
        assert_string_equal(ebb_value_text_of(config, "location"), location);
    else
        assert_null(ebb_value_get(config, "location"));
    ebb_value_free(job);
    ebb_engine_free(engine);
}

static void test_chain(void **state)
{
    (void)state;
    check_config("{\"type\":\"remove_orphan_files\",\"older_than\":1774483200999}", "2026-03-26 00:00:00", NULL,
                 "false");
    check_config("{\"type\":\"remove_orphan_files\",\"older_than\":1774742400000,\"dry_run\":true,"
                 "\"location\":\"s3://lake/prod/events/clicks/data\"}",
                 "2026-03-29 00:00:00", "s3://lake/prod/events/clicks/data", "true");
}

static void test_chain_refusals(void **state)
{
    static const struct {
        const char *action;
        enum ebb_error error;
    } CASES[] = {
        {"{\"type\":\"remove_orphan_files\",\"older_than\":1774742400001}", EBB_ECUTOFF_FUTURE},
        {"{\"type\":\"remove_orphan_files\"}", EBB_ECONFIG},
        {"{\"type\":\"remove_orphan_files\",\"older_than\":0,\"location\":\"s3://lake/prod/events/clicks2\"}",
         EBB_EOUTSIDE},
        {"{\"type\":\"remove_orphan_files\",\"older_than\":0,\"location\":\"s3://lake/prod/events\"}", EBB_EOUTSIDE},
        {"{\"type\":\"remove_orphan_files\",\"older_than\":0,\"location\":\"s3://lake/prod/events/clicks/../x\"}",
         EBB_EOUTSIDE},
        {"{\"type\":\"remove_orphan_files\",\"older_than\":0,\"location\":\"\"}", EBB_EOUTSIDE},
        {"{\"type\":\"rewrite_data_files\"}", EBB_EUNSUPPORTED},
        {"{}", EBB_EUNSUPPORTED},
    };
    struct ebb_engine *engine = open_engine();

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct ebb_value *job = NULL;
        struct ebb_err err;
        int rc = chain(engine, CASES[i].action, &job, &err);

        if (rc != -(int)CASES[i].error)
            fail_msg("%s: %d %s", CASES[i].action, rc, rc ? err.message : "");
        assert_null(job);
    }
    ebb_engine_free(engine);
}

static void test_validate(void **state)
{
    static const struct {
        const char *content;
        enum ebb_error error;
        const char *text;
    } CASES[] = {
        {"{}", EBB_OK, NULL},
        {"{\"olderThanDays\":0,\"location\":\"s3://x/y\",\"dryRun\":true}", EBB_OK, NULL},
        {"{\"olderThanDays\":-1}", EBB_ECONFIG, "content.olderThanDays"},
        {"{\"olderThanDays\":3.5}", EBB_ECONFIG, "content.olderThanDays"},
        {"{\"olderThanDays\":\"3\"}", EBB_ECONFIG, "content.olderThanDays"},
        {"{\"dryRun\":\"false\"}", EBB_ECONFIG, "content.dryRun"},
        {"{\"location\":\"\"}", EBB_ECONFIG, "content.location"},
        {"{\"olderThan\":3}", EBB_ECONFIG_UNKNOWN_KEY, "content.olderThan"},
    };
    struct ebb_engine *engine = open_engine();
    struct ebb_err err;

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct ebb_value *content = help_json(CASES[i].content), *out = NULL;
        int rc = ebb_engine_validate(engine, STRATEGY, content, &out, &err);

        if (rc != -(int)CASES[i].error || (rc && !strstr(err.message, CASES[i].text)))
            fail_msg("%s: %d %s", CASES[i].content, rc, rc ? err.message : "");
        if (i == 0) {
            assert_int_equal(ebb_value_int_of(out, "olderThanDays", -1), 3);
            assert_false(ebb_value_bool_of(out, "dryRun", true));
            assert_null(ebb_value_get(out, "location"));
        }
        ebb_value_free(out);
        ebb_value_free(content);
    }
    ebb_engine_free(engine);
}

static struct ebb_value *evaluate(struct ebb_engine *engine, const char *input_json)
{
    struct ebb_value *input = help_json(input_json), *out = NULL;
    struct ebb_err err;

    if (ebb_engine_evaluate(engine, STRATEGY, input, &out, &err))
        fail_msg("%s", err.message);
    ebb_value_free(input);
    return out;
}

#define DAY_AGO "[{\"started\":1774656000000,\"ended\":1774656000000,\"outcome\":\"success\"}]"

static void test_evaluate(void **state)
{
    struct ebb_engine *engine = open_engine();
    struct ebb_value *v;

    (void)state;
    v = evaluate(engine, "{\"content\":{},\"now\":1774742400000,\"facts\":{\"table\":" TABLE "}}");
    assert_true(ebb_value_bool_of(v, "due", false));
    assert_int_equal(ebb_value_int_of(ebb_value_get(v, "context"), "older_than", 0), 1774742400000 - 3 * HELP_DAY);
    ebb_value_free(v);
    v = evaluate(engine, "{\"content\":{\"olderThanDays\":0},\"now\":1774742400000,\"facts\":{\"table\":" TABLE "}}");
    assert_int_equal(ebb_value_int_of(ebb_value_get(v, "context"), "older_than", 0), 1774742400000);
    ebb_value_free(v);
    v = evaluate(engine, "{\"content\":{},\"now\":1774742400000,\"facts\":{\"table\":" TABLE ",\"runs\":" DAY_AGO "}}");
    assert_false(ebb_value_bool_of(v, "due", true));
    assert_null(ebb_value_get(v, "context"));
    ebb_value_free(v);
    v = evaluate(engine, "{\"content\":{},\"now\":1774742400000,\"facts\":{\"table\":" TABLE ",\"runs\":" DAY_AGO
                         ",\"events\":[{\"type\":\"commit.failed\",\"at\":1774742000000}]}}");
    assert_true(ebb_value_bool_of(v, "due", false));
    assert_int_equal(ebb_value_int_of(v, "score", 0), 10);
    ebb_value_free(v);
    v = evaluate(engine,
                 "{\"content\":{},\"now\":1774742400000,\"conditions\":{\"every_days\":1},\"facts\":{\"table\":" TABLE
                 ",\"runs\":" DAY_AGO "}}");
    assert_true(ebb_value_bool_of(v, "due", false));
    ebb_value_free(v);
    ebb_engine_free(engine);
}

static void test_open(void **state)
{
    static const char *const BOOTS[] = {"return {",
                                        "error('x')",
                                        "return 5",
                                        "",
                                        "return {}",
                                        "return { chain = 1, validate = 2, evaluate = 3 }",
                                        "return { chain = print, validate = type }",
                                        "return setmetatable({}, { __index = error })"};
    struct ebb_engine *engine = NULL;
    struct ebb_err err;
    char dir[] = "/tmp/ebb-script-XXXXXX", path[64];

    (void)state;
    assert_int_equal(ebb_engine_new("/nonexistent/scripts", &engine, &err), -EBB_ECONFIG);
    assert_null(engine);
    assert_int_equal(ebb_engine_new(EBB_SOURCE_DIR "/tests", &engine, &err), -EBB_ECONFIG);
    assert_null(engine);
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/boot.lua", dir);
    for (size_t i = 0; i < sizeof BOOTS / sizeof BOOTS[0]; i++) {
        FILE *file = fopen(path, "w");

        assert_non_null(file);
        fputs(BOOTS[i], file);
        fclose(file);
        assert_int_equal(ebb_engine_new(dir, &engine, &err), -EBB_ECONFIG);
        assert_null(engine);
    }
    unlink(path);
    rmdir(dir);
    ebb_engine_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),    cmocka_unit_test(test_chain_refusals), cmocka_unit_test(test_validate),
        cmocka_unit_test(test_evaluate), cmocka_unit_test(test_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
