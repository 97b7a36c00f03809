/* SPDX-License-Identifier: Apache-2.0
 *
 * Handlers of the compatible interface, called without a server: what they answer, and what stands in the store then.
 */
#include "service_help.h"

#include "service/api_priv.h"
#include "service/gravitino_priv.h"
#include "service/objects.h"

#define NOW_MS ((int64_t)1798761600000)
#define CONFIG CONFIG_HEAD "serve = { metalake = 'ml' } }"
#define POLICIES "/api/metalakes/ml/policies"
#define TEMPLATES "/api/metalakes/ml/jobs/templates"
#define RUNS "/api/metalakes/ml/jobs/runs"
#define TABLE_POLICIES "/api/metalakes/ml/objects/table/lake.db.t/policies"
#define TABLE_STATISTICS "/api/metalakes/ml/objects/table/lake.db.t/statistics"

struct asked {
    struct world w;
    int status;
    char text[65536];
    struct ebb_value *json;
};

static void forget(struct asked *a)
{
    ebb_value_free(a->json);
    a->json = NULL;
}

static void call_route(struct asked *a, const struct ebb_route *route, const char *query, const char *body,
                       struct ebb_strs *args)
{
    struct ebb_value *values = NULL;
    struct ebb_api_call call = {.ws = a->w.ws,
                                .now_ms = NOW_MS,
                                .method = route->method,
                                .path = "",
                                .peer = "127.0.0.1",
                                .who = {EBB_ROLE_ADMIN, "anna", false},
                                .args = args,
                                .status = 200,
                                .answer_type = "application/json",
                                .stream_fd = -1};
    int rc;

    assert_int_equal(ebb__api_query(query, &values, &a->w.err), 0);
    call.query = values;
    call.body = ebb_str_of(body ? body : "");
    ebb_buf_init(&call.out, (size_t)1 << 20);
    memset(&a->w.err, 0, sizeof a->w.err);
    rc = route->handler(&call, &a->w.err);
    if (rc)
        fail_msg("%s %s: %s", route->method, route->pattern, a->w.err.message);
    a->status = call.status;
    snprintf(a->text, sizeof a->text, "%s", ebb_buf_cstr(&call.out));
    assert_int_equal(ebb_value_of_json("answer", a->text, strlen(a->text), NULL, &a->json, NULL), 0);
    ebb_buf_fini(&call.out);
    ebb_value_free(values);
}

/* Ask; the answer is in a. */
static void ask(struct asked *a, const char *method, const char *target, const char *body)
{
    char path[512];
    const char *query = strchr(target, '?');
    struct ebb_strs args;
    bool matches = false;

    forget(a);
    snprintf(path, sizeof path, "%.*s", (int)(query ? (size_t)(query - target) : strlen(target)), target);
    for (const struct ebb_route *r = EBB_GRAVITINO_ROUTES; r->method && !matches; r++) {
        if (strcmp(r->method, method) != 0)
            continue;
        ebb_strs_init(&args);
        assert_int_equal(ebb__api_match(r->pattern, path, &args, &matches, &a->w.err), 0);
        if (matches)
            call_route(a, r, query ? query + 1 : "", body, &args);
        ebb_strs_fini(&args);
    }
    if (!matches)
        fail_msg("no route: %s %s", method, target);
}

static void expect(struct asked *a, int status, int code, const char *type)
{
    const char *is = ebb_value_text_of(a->json, "type");

    if (a->status != status || ebb_value_int_of(a->json, "code", -1) != code ||
        (type && (!is || strcmp(is, type) != 0)))
        fail_msg("expected %d %d %s, got %d %s", status, code, type ? type : "", a->status, a->text);
}

static void has(const struct asked *a, const char *text)
{
    if (!strstr(a->text, text))
        fail_msg("no '%s' in %s", text, a->text);
}

static void lacks(const struct asked *a, const char *text)
{
    if (strstr(a->text, text))
        fail_msg("'%s' in %s", text, a->text);
}

static void open_with(struct asked *a, const char *config)
{
    memset(a, 0, sizeof *a);
    open_world(&a->w);
    world_put(&a->w, "ebb.lua", config);
    add_table(&a->w, "t", 1);
    assert_ok(&a->w, try_open(&a->w, 0));
}

static void end(struct asked *a)
{
    forget(a);
    close_world(&a->w);
}

/* ---- placeholders ---- */

static void filled(const char *text, const char *conf_json, const char *want)
{
    struct ebb_value *conf = NULL;
    struct ebb_buf out;
    struct ebb_err err;
    int rc;

    assert_int_equal(ebb_value_of_json("conf", conf_json, strlen(conf_json), NULL, &conf, &err), 0);
    ebb_buf_init(&out, 4096);
    rc = ebb__template_fill(text, conf, &out, &err);
    if (rc)
        assert_string_equal(err.message, want);
    else
        assert_string_equal(ebb_buf_cstr(&out), want);
    ebb_buf_fini(&out);
    ebb_value_free(conf);
}

static void test_fill(void **state)
{
    (void)state;
    filled("x {{a}} y", "{\"a\":\"1\"}", "x 1 y");
    filled("{{a}}{{b}}", "{\"a\":\"{{b}}\",\"b\":\"2\"}", "{{b}}2"); /* one pass */
    filled("{{a}} {{no}} {{", "{\"a\":\"\"}", " {{no}} {{");
    filled("{{a b}} {{}} {{a}", "{\"a\":\"1\"}", "{{a b}} {{}} {{a}");
    filled("{{a.b-c_1}}", "{\"a.b-c_1\":\"ok\"}", "ok");
    filled("{{{a}}}", "{\"a\":\"1\"}", "{1}");
    filled("{{a}}", "{\"a\":\"$1\"}", "a");
    filled("{{a}}", "{\"a\":\"<$0>\"}", "<{{a}}>");
    filled("{{a}}", "{\"a\":\"$12\"}", "a2");
    filled("{{a}}", "{\"a\":\"$HOME\"}", "Illegal group reference");
    filled("{{a}}", "{\"a\":\"$(x)\"}", "Illegal group reference");
    filled("{{a}}", "{\"a\":\"x$\"}", "Illegal group reference: group index is missing");
    filled("{{a}}", "{\"a\":\"\\\\$HOME \\\\\\\\ \\\\n\"}", "$HOME \\ n");
    filled("{{a}}", "{\"a\":\"it's \\\"q\\\" `x`; \\u00e9\"}", "it's \"q\" `x`; \xc3\xa9");
}

/* ---- policies ---- */

static void test_custom_policy(void **state)
{
    struct asked a;

    (void)state;
    open_with(&a, CONFIG);
    ask(&a, "POST", POLICIES,
        "{\"name\":\"p\",\"policyType\":\"custom\",\"content\":{\"customRules\":{\"interval-hours\":168,\"nul\":null},"
        "\"supportedObjectTypes\":[\"TABLE\",\"CATALOG\",\"table\"],\"properties\":{\"strategy.type\":\"x\"}}}");
    expect(&a, 200, 0, NULL);
    has(&a, "{\"code\":0,\"policy\":{\"name\":\"p\",\"policyType\":\"custom\",\"enabled\":true,\"content\":{");
    has(&a, "\"customRules\":{\"interval-hours\":168}");
    has(&a, "\"supportedObjectTypes\":[\"table\",\"catalog\"]");
    has(&a, "\"inherited\":null,\"audit\":{\"creator\":\"anna\",\"createTime\":\"20");
    lacks(&a, "nul\"");
    lacks(&a, "lastModifi");
    ask(&a, "POST", POLICIES,
        "{\"name\":\"p\",\"policyType\":\"CUSTOM\",\"content\":{\"supportedObjectTypes\":[\"TABLE\"]}}");
    expect(&a, 409, 1004, "PolicyAlreadyExistsException");
    assert_string_equal(
        ebb_value_text_of(a.json, "message"),
        "Failed to operate policy(s) [p] operation [CREATE] under object [ml], reason [Policy with name "
        "p under metalake ml already exists]");
    ask(&a, "PATCH", POLICIES "/p", "{\"enable\":false}");
    assert_string_equal(a.text, "{\"code\":0}");
    ask(&a, "GET", POLICIES "?details=true", NULL);
    has(&a, "\"enabled\":false");
    has(&a, "\"lastModifier\":\"anna\"");
    ask(&a, "PUT", POLICIES "/p", "{\"updates\":[{\"@type\":\"rename\",\"newName\":\"q/1\"}]}");
    expect(&a, 200, 0, NULL);
    ask(&a, "GET", POLICIES "/q%2F1", NULL);
    expect(&a, 200, 0, NULL);
    ask(&a, "GET", POLICIES "/p", NULL);
    expect(&a, 404, 1003, "NoSuchPolicyException");
    ask(&a, "DELETE", POLICIES "/q%2F1", NULL);
    assert_string_equal(a.text, "{\"code\":0,\"dropped\":true}");
    ask(&a, "DELETE", POLICIES "/q%2F1", NULL);
    assert_string_equal(a.text, "{\"code\":0,\"dropped\":false}");
    end(&a);
}

static void refused(struct asked *a, const char *body, const char *why)
{
    ask(a, "POST", POLICIES, body);
    expect(a, 400, 1001, "IllegalArgumentException");
    has(a, why);
}

static void test_bad_policies(void **state)
{
    static const char *const MALFORMED[] = {
        "",
        "{",
        "[]",
        "{\"name\":\"x\"} x",
        "{\"name\":1}",
        "{\"name\":\"x\",\"name\":\"y\"}",
        "{\"name\":\"x\",\"policyType\":\"custom\",\"no\":1,\"content\":{}}",
        "{\"name\":\"x\",\"content\":{\"supportedObjectTypes\":[\"TABLE\"]}}",
        "{\"name\":\"x\",\"policyType\":\"custom\",\"content\":{\"supportedObjectTypes\":[\"NOPE\"]}}",
        "{\"name\":\"x\",\"policyType\":\"custom\",\"content\":{\"supportedObjectTypes\":[\"TABLE\"],\"a\":1}}",
        "{\"name\":\"x\",\"policyType\":\"system_iceberg_orphan_file_removal\",\"content\":{\"olderThanDay\":3}}",
        "{\"name\":\"x\",\"policyType\":\"system_iceberg_orphan_file_removal\",\"content\":{\"dryRun\":\"no\"}}",
        "{\"name\":\"x\\u0000y\",\"policyType\":\"custom\",\"content\":{\"supportedObjectTypes\":[\"TABLE\"]}}"};
    struct asked a;

    (void)state;
    open_with(&a, CONFIG);
    for (size_t i = 0; i < sizeof MALFORMED / sizeof *MALFORMED; i++) {
        refused(&a, MALFORMED[i], "\"message\":\"Malformed json request\"");
        assert_int_equal(ebb_value_get_count(ebb_value_get(a.json, "stack")), 1);
    }
    refused(&a, "{\"name\":\"x\",\"policyType\":\"foo\",\"content\":{\"supportedObjectTypes\":[\"TABLE\"]}}",
            "Unknown policy type: foo, it should start with 'system_' or be 'custom'");
    refused(&a, "{\"name\":\"x\",\"policyType\":\"system_x\",\"content\":{\"supportedObjectTypes\":[\"TABLE\"]}}",
            "Unknown built-in policy type: system_x");
    refused(&a, "{\"name\":\"x\",\"policyType\":\"system_x\",\"content\":{}}", "supportedObjectTypes cannot be empty");
    refused(&a, "{\"name\":\" \",\"policyType\":\"custom\",\"content\":{\"supportedObjectTypes\":[\"TABLE\"]}}",
            "name");
    refused(&a,
            "{\"name\":\"x\",\"policyType\":\"system_iceberg_orphan_file_removal\",\"content\":{\"olderThanDays\":-1}}",
            "olderThanDays");
    refused(&a,
            "{\"name\":\"x\",\"policyType\":\"system_iceberg_orphan_file_removal\",\"content\":{\"olderThanDays\":0}}",
            "allow_below_floor");
    refused(&a,
            "{\"name\":\"x\",\"policyType\":\"system_iceberg_orphan_file_removal\",\"content\":{\"location\":\"/\"}}",
            "location");
    refused(&a, "{\"name\":\"x\",\"policyType\":\"system_iceberg_compaction\",\"content\":{\"maxPartitionNum\":0}}",
            "maxPartitionNum must be positive");
    refused(&a,
            "{\"name\":\"x\",\"policyType\":\"system_iceberg_compaction\","
            "\"content\":{\"rewriteOptions\":{\"job.options.a\":\"1\"}}}",
            "job.options.a");
    ask(&a, "GET", POLICIES, NULL);
    assert_string_equal(a.text, "{\"code\":0,\"names\":[]}");
    ask(&a, "GET", "/api/metalakes/other/policies", NULL);
    expect(&a, 404, 1003, "NoSuchMetalakeException");
    end(&a);
}

static void test_system_contents(void **state)
{
    struct asked a;

    (void)state;
    open_with(&a,
              CONFIG_HEAD "serve = { metalake = 'ml' }, tables = { ['lake.db.t'] = { allow_below_floor = true } } }");
    ask(&a, "POST", POLICIES,
        "{\"name\":\"c\",\"policyType\":\"system_iceberg_compaction\",\"content\":{\"minDeleteFileNumber\":5}}");
    expect(&a, 200, 0, NULL);
    has(&a, "\"content\":{\"dataFileMseWeight\":1,\"deleteFileNumberWeight\":100,\"maxPartitionNum\":50,"
            "\"minDataFileMse\":405323966463344,\"minDeleteFileNumber\":5,\"rewriteOptions\":{}}");
    ask(&a, "POST", POLICIES, "{\"name\":\"o\",\"policyType\":\"System_Iceberg_Orphan_File_Removal\",\"content\":{}}");
    expect(&a, 200, 0, NULL);
    has(&a, "\"policyType\":\"system_iceberg_orphan_file_removal\"");
    has(&a, "\"content\":{\"dryRun\":false,\"olderThanDays\":3}");
    ask(&a, "POST", POLICIES,
        "{\"name\":\"z\",\"policyType\":\"system_iceberg_orphan_file_removal\",\"content\":{\"olderThanDays\":0}}");
    expect(&a, 200, 0, NULL);
    ask(&a, "PUT", POLICIES "/o",
        "{\"updates\":[{\"@type\":\"updateContent\",\"policyType\":\"custom\","
        "\"newContent\":{\"supportedObjectTypes\":[\"TABLE\"]}}]}");
    expect(&a, 400, 1001, "IllegalArgumentException");
    ask(&a, "PUT", POLICIES "/o", "{\"updates\":[{\"@type\":\"rename\",\"newName\":\"c\"}]}");
    expect(&a, 500, 1002, "RuntimeException");
    ask(&a, "PUT", POLICIES "/o", "{\"updates\":[]}");
    expect(&a, 200, 0, NULL);
    has(&a, "lastModifiedTime");
    end(&a);
}

/* ---- ties ---- */

static void test_inheritance(void **state)
{
    struct asked a;

    (void)state;
    open_with(&a, CONFIG);
    ask(&a, "POST", POLICIES, "{\"name\":\"o\",\"policyType\":\"system_iceberg_orphan_file_removal\",\"content\":{}}");
    ask(&a, "POST", POLICIES, "{\"name\":\"s\",\"policyType\":\"system_iceberg_snapshot_expiration\",\"content\":{}}");
    ask(&a, "POST", "/api/metalakes/ml/objects/CATALOG/lake/policies", "{\"policiesToAdd\":[\"o\",\"no-such\"]}");
    assert_string_equal(a.text, "{\"code\":0,\"names\":[\"o\"]}");
    ask(&a, "POST", "/api/metalakes/ml/objects/catalog/lake/policies", "{\"policiesToAdd\":[\"s\",\"o\"]}");
    expect(&a, 409, 1004, "PolicyAlreadyAssociatedException");
    ask(&a, "GET", "/api/metalakes/ml/objects/catalog/lake/policies", NULL);
    assert_string_equal(a.text, "{\"code\":0,\"names\":[\"o\"]}");
    ask(&a, "GET", TABLE_POLICIES "?details=true", NULL);
    has(&a, "\"inherited\":true");
    ask(&a, "GET", "/api/metalakes/ml/objects/schema/lake.db/policies/o", NULL);
    has(&a, "\"inherited\":true");
    ask(&a, "GET", TABLE_POLICIES "/s", NULL);
    expect(&a, 404, 1003, "NoSuchPolicyException");
    lacks(&a, "stack");
    ask(&a, "POST", TABLE_POLICIES, "{\"policiesToAdd\":[\"o\"]}");
    expect(&a, 200, 0, NULL);
    ask(&a, "GET", TABLE_POLICIES "?details=true", NULL); /* its own wins */
    has(&a, "\"inherited\":false");
    lacks(&a, "\"inherited\":true");
    ask(&a, "GET", POLICIES "/o/objects", NULL);
    has(&a, "{\"type\":\"table\",\"fullName\":\"lake.db.t\"}");
    has(&a, "{\"type\":\"catalog\",\"fullName\":\"lake\"}");
    ask(&a, "POST", TABLE_POLICIES, "{\"policiesToRemove\":[\"o\",\"s\"],\"policiesToAdd\":[\"s\"]}");
    assert_string_equal(a.text, "{\"code\":0,\"names\":[]}");
    ask(&a, "POST", TABLE_POLICIES, "{}");
    expect(&a, 400, 1001, "IllegalArgumentException");
    end(&a);
}

static void test_no_place(void **state)
{
    struct asked a;

    (void)state;
    open_with(&a, CONFIG);
    ask(&a, "GET", "/api/metalakes/ml/objects/table/lake.db.no/policies", NULL);
    expect(&a, 404, 1003, "NoSuchMetadataObjectException");
    ask(&a, "GET", "/api/metalakes/ml/objects/table/lake..t/policies", NULL);
    expect(&a, 404, 1003, "NoSuchMetadataObjectException");
    ask(&a, "GET", "/api/metalakes/ml/objects/table/lake.db.%2Ft/policies", NULL);
    expect(&a, 404, 1003, "NoSuchMetadataObjectException");
    ask(&a, "GET", "/api/metalakes/ml/objects/nonsense/lake/policies", NULL);
    expect(&a, 400, 1001, "IllegalArgumentException");
    has(&a, "No enum constant");
    ask(&a, "POST", "/api/metalakes/ml/objects/column/lake.db.t.c/policies", "{\"policiesToAdd\":[\"o\"]}");
    expect(&a, 400, 1001, "IllegalArgumentException");
    has(&a, "Cannot associate policies for unsupported metadata object type");
    ask(&a, "GET", "/api/metalakes/ml/objects/schema/lake.db/statistics", NULL);
    expect(&a, 405, 1006, "UnsupportedOperationException");
    end(&a);
}

/* ---- tables ---- */

static void test_tables(void **state)
{
    struct asked a;

    (void)state;
    open_with(&a, CONFIG);
    ask(&a, "GET", "/api/metalakes", NULL);
    has(&a, "\"name\":\"ml\"");
    ask(&a, "GET", "/api/metalakes/ml/catalogs", NULL);
    assert_string_equal(a.text, "{\"code\":0,\"identifiers\":[{\"namespace\":[\"ml\"],\"name\":\"lake\"}]}");
    ask(&a, "GET", "/api/metalakes/ml/catalogs/lake", NULL);
    has(&a, "\"type\":\"relational\",\"provider\":\"lakehouse-iceberg\"");
    ask(&a, "GET", "/api/metalakes/ml/catalogs/lake/schemas", NULL);
    assert_string_equal(a.text, "{\"code\":0,\"identifiers\":[{\"namespace\":[\"ml\",\"lake\"],\"name\":\"db\"}]}");
    ask(&a, "GET", "/api/metalakes/ml/catalogs/lake/schemas/db/tables", NULL);
    assert_string_equal(a.text,
                        "{\"code\":0,\"identifiers\":[{\"namespace\":[\"ml\",\"lake\",\"db\"],\"name\":\"t\"}]}");
    ask(&a, "GET", "/api/metalakes/ml/catalogs/lake/schemas/db/tables/t", NULL);
    expect(&a, 200, 0, NULL);
    has(&a, "\"current-snapshot-id\":\"none\"");
    has(&a, "\"distribution\":{\"strategy\":\"none\",\"number\":0,\"funcArgs\":[]}");
    ask(&a, "GET", "/api/metalakes/ml/catalogs/lake/schemas/db/tables/no", NULL);
    expect(&a, 404, 1003, "NoSuchTableException");
    ask(&a, "GET", "/api/metalakes/ml/catalogs/lake/schemas/no/tables", NULL);
    expect(&a, 404, 1003, "NoSuchSchemaException");
    ask(&a, "GET", "/api/metalakes/ml/catalogs/no/schemas", NULL);
    expect(&a, 404, 1003, "NoSuchCatalogException");
    ask(&a, "GET", "/api/metalakes/ml/catalogs/lake/schemas/db/tables/t/partitions", NULL);
    expect(&a, 405, 1006, "UnsupportedOperationException");
    end(&a);
}

static void test_types(void **state)
{
    static const char SCHEMA[] =
        "{\"t\":[\"int\",\"decimal(10, 2)\",\"fixed[16]\",\"timestamptz\",\"variant\","
        "{\"type\":\"list\",\"element-id\":2,\"element\":\"long\",\"element-required\":true},"
        "{\"type\":\"struct\",\"fields\":[{\"id\":3,\"name\":\"a\",\"type\":\"date\",\"required\":true}]}]}";
    struct ebb_value *types = NULL;
    struct ebb_buf out;
    struct ebb_jsonw w;

    (void)state;
    assert_int_equal(ebb_value_of_json("types", SCHEMA, strlen(SCHEMA), NULL, &types, NULL), 0);
    ebb_buf_init(&out, 4096);
    ebb_jsonw_init(&w, &out);
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < 7; i++)
        ebb__gravitino_type(&w, ebb_value_get_at(ebb_value_get(types, "t"), i), 1);
    ebb_jsonw_end(&w, ']');
    assert_string_equal(
        ebb_buf_cstr(&out),
        "[\"integer\",\"decimal(10,2)\",\"fixed(16)\",\"timestamp_tz(6)\",{\"type\":\"unparsed\",\"unparsedType\":"
        "\"variant\"},{\"type\":\"list\",\"elementType\":\"long\",\"containsNull\":false},{\"type\":\"struct\","
        "\"fields\":[{\"name\":\"a\",\"type\":\"date\",\"nullable\":false}]}]");
    ebb_buf_fini(&out);
    ebb_value_free(types);
}

/* ---- statistics ---- */

static void test_statistics(void **state)
{
    struct asked a;

    (void)state;
    open_with(&a, CONFIG);
    ask(&a, "PUT", TABLE_STATISTICS,
        "{\"updates\":{\"custom-n\":12,\"custom-big\":12345678901234567890,"
        "\"custom-d\":1.5,\"custom-o\":{\"a\":[1]}}}");
    assert_string_equal(a.text, "{\"code\":0}");
    ask(&a, "GET", TABLE_STATISTICS, NULL);
    has(&a, "{\"name\":\"custom-n\",\"value\":12,\"reserved\":false,\"modifiable\":true,\"audit\":{");
    has(&a, "\"value\":-6101065172474983726,");
    has(&a, "\"value\":1.5,");
    has(&a, "\"value\":{\"a\":[1]},");
    ask(&a, "PUT", TABLE_STATISTICS, "{\"updates\":{\"n\":12}}");
    expect(&a, 400, 1001, "IllegalStatisticNameException");
    ask(&a, "PUT", TABLE_STATISTICS, "{\"updates\":{}}");
    expect(&a, 400, 1001, "IllegalArgumentException");
    ask(&a, "PUT", TABLE_STATISTICS, "{\"updates\":{\"custom-n\":null}}");
    expect(&a, 400, 1001, "IllegalArgumentException");
    ask(&a, "POST", TABLE_STATISTICS, "{\"names\":[\"custom-n\",\"x\"]}");
    assert_string_equal(a.text, "{\"code\":0,\"dropped\":true}");
    ask(&a, "POST", TABLE_STATISTICS, "{\"names\":[\"custom-n\"]}");
    assert_string_equal(a.text, "{\"code\":0,\"dropped\":false}");
    ask(&a, "PUT", TABLE_STATISTICS "/partitions",
        "{\"updates\":[{\"partitionName\":\"a\",\"statistics\":{\"custom-x\":1,\"custom-y\":2}},"
        "{\"statistics\":{\"custom-x\":3},\"partitionName\":\"b\"}]}");
    assert_string_equal(a.text, "{\"code\":0}");
    ask(&a, "GET", TABLE_STATISTICS "/partitions?from=a&to=b", NULL);
    has(&a, "{\"code\":0,\"partitionStatistics\":[{\"partitionName\":\"a\",\"statistics\":[{\"name\":\"custom-x\"");
    lacks(&a, "\"partitionName\":\"b\"");
    ask(&a, "GET", TABLE_STATISTICS "/partitions?from=a&fromInclusive=false", NULL);
    has(&a, "\"partitionStatistics\":[{\"partitionName\":\"b\"");
    lacks(&a, "\"partitionName\":\"a\"");
    ask(&a, "POST", TABLE_STATISTICS "/partitions",
        "{\"drops\":[{\"partitionName\":\"a\",\"statisticNames\":[\"custom-x\"]}]}");
    assert_string_equal(a.text, "{\"code\":0,\"dropped\":true}");
    end(&a);
}

/* ---- templates and runs ---- */

static void test_templates(void **state)
{
    struct asked a;

    (void)state;
    open_with(&a, CONFIG);
    ask(&a, "POST", TEMPLATES, "{\"jobTemplate\":{\"name\":\"echo\",\"jobType\":\"shell\",\"executable\":\"/x.sh\"}}");
    assert_string_equal(a.text, "{\"code\":0}");
    ask(&a, "GET", TEMPLATES "/echo", NULL);
    has(&a,
        "{\"code\":0,\"jobTemplate\":{\"jobType\":\"shell\",\"name\":\"echo\",\"executable\":\"/x.sh\",\"arguments\":"
        "[],\"environments\":{},\"customFields\":{},\"audit\":{");
    has(&a, "},\"scripts\":[]}}");
    ask(&a, "POST", TEMPLATES, "{\"jobTemplate\":{\"name\":\"echo\",\"jobType\":\"SHELL\",\"executable\":\"/x.sh\"}}");
    expect(&a, 409, 1004, "JobTemplateAlreadyExistsException");
    ask(&a, "POST", TEMPLATES,
        "{\"jobTemplate\":{\"name\":\"builtin-x\",\"jobType\":\"shell\",\"executable\":\"/x\"}}");
    expect(&a, 400, 1001, "IllegalJobTemplateOperationException");
    ask(&a, "DELETE", TEMPLATES "/builtin-iceberg-remove-orphan-files", NULL);
    expect(&a, 400, 1001, "IllegalJobTemplateOperationException");
    ask(&a, "POST", TEMPLATES,
        "{\"jobTemplate\":{\"name\":\"e\",\"jobType\":\"shell\",\"executable\":\"/x\",\"jars\":[]}}");
    expect(&a, 400, 1001, "IllegalArgumentException");
    ask(&a, "PUT", TEMPLATES "/echo",
        "{\"updates\":[{\"@type\":\"rename\",\"newName\":\"echo2\"},{\"@type\":\"updateTemplate\",\"newTemplate\":"
        "{\"@type\":\"shell\",\"newArguments\":[\"{{a}}\"]}}]}");
    has(&a, "\"name\":\"echo2\",\"executable\":\"/x.sh\",\"arguments\":[\"{{a}}\"]");
    ask(&a, "GET", TEMPLATES, NULL);
    assert_string_equal(a.text, "{\"code\":0,\"names\":[\"builtin-iceberg-remove-orphan-files\",\"echo2\"]}");
    ask(&a, "GET", TEMPLATES "/echo", NULL);
    expect(&a, 404, 1003, "NoSuchJobTemplateException");
    end(&a);
}

static void refused_run(struct asked *a, const char *conf, int status, int code, const char *type, const char *why)
{
    char body[1024];

    snprintf(body, sizeof body, "{\"jobTemplateName\":\"builtin-iceberg-remove-orphan-files\",\"jobConf\":%s}", conf);
    ask(a, "POST", RUNS, body);
    expect(a, status, code, type);
    has(a, why);
}

static void test_bad_runs(void **state)
{
    struct asked a;

    (void)state;
    open_with(&a, CONFIG);
    refused_run(&a, "{\"catalog_name\":null}", 500, 1002, "RuntimeException",
                "Failed to operate object operation [RUN] under [ml], reason [null value in entry: catalog_name=null]");
    refused_run(&a, "{\"catalog_name\":\"$HOME\"}", 400, 1001, "IllegalArgumentException",
                "reason [Illegal group reference]");
    refused_run(&a, "{\"catalog_name\":\"lake\",\"table_identifier\":\"db.t\",\"dryRun\":true}", 400, 1001,
                "IllegalArgumentException", "dryRun");
    refused_run(&a, "{\"catalog_name\":\"no\",\"table_identifier\":\"db.t\"}", 400, 1001, "IllegalArgumentException",
                "catalog_name");
    refused_run(&a, "{\"catalog_name\":\"lake\",\"table_identifier\":\"db.t\",\"dry_run\":\"perhaps\"}", 400, 1001,
                "IllegalArgumentException", "dry-run");
    refused_run(&a, "{\"catalog_name\":\"lake\",\"table_identifier\":\"../t.x\"}", 400, 1001,
                "IllegalArgumentException", "table");
    refused_run(&a, "{\"catalog_name\":\"lake\",\"table_identifier\":\"db.t\",\"older_than\":\"2999-01-01 00:00:00\"}",
                400, 1001, "IllegalArgumentException", "future");
    ask(&a, "POST", RUNS, "{\"jobTemplateName\":\"no\"}");
    expect(&a, 404, 1003, "NoSuchJobTemplateException");
    ask(&a, "POST", RUNS, "{\"jobTemplateName\":\"no\",\"x\":1}");
    expect(&a, 400, 1001, "IllegalArgumentException");
    ask(&a, "POST", RUNS, "{}");
    expect(&a, 400, 1001, "IllegalArgumentException");
    ask(&a, "POST", TEMPLATES,
        "{\"jobTemplate\":{\"name\":\"sh\",\"jobType\":\"shell\",\"executable\":\"/bin/true\"}}");
    ask(&a, "POST", RUNS, "{\"jobTemplateName\":\"sh\"}"); /* on no list */
    expect(&a, 403, 1008, "ForbiddenException");
    ask(&a, "POST", TEMPLATES, "{\"jobTemplate\":{\"name\":\"sp\",\"jobType\":\"spark\",\"executable\":\"x.jar\"}}");
    ask(&a, "POST", RUNS, "{\"jobTemplateName\":\"sp\"}");
    expect(&a, 405, 1006, "UnsupportedOperationException");
    ask(&a, "GET", RUNS, NULL);
    assert_string_equal(a.text, "{\"code\":0,\"jobs\":[]}");
    ask(&a, "GET", RUNS "/job-1", NULL);
    expect(&a, 404, 1003, "NoSuchJobException");
    assert_string_equal(ebb_value_text_of(a.json, "message"),
                        "Failed to operate job(s) [job-1] operation [GET] under object [ml], reason [Job with ID job-1 "
                        "under metalake ml does not exist]");
    end(&a);
}

static int take_kind(void *data, const struct ebb_job_record *job, struct ebb_err *err)
{
    char *out = data;

    (void)err;
    snprintf(out, 512, "%s %s %s %s", job->kind, job->table, job->owner, job->json);
    return 0;
}

static void test_run(void **state)
{
    struct asked a;
    char id[64], target[256], job[512];

    (void)state;
    open_with(&a, CONFIG);
    ask(&a, "POST", RUNS,
        "{\"jobTemplateName\":\"builtin-iceberg-remove-orphan-files\",\"jobConf\":{\"catalog_name\":\"lake\","
        "\"table_identifier\":\"db.t\",\"older_than\":\"\",\"location\":\"\",\"dry_run\":true,\"spark_conf\":\"\","
        "\"spark_master\":\"local\"}}");
    expect(&a, 200, 0, NULL);
    has(&a, "\"jobTemplateName\":\"builtin-iceberg-remove-orphan-files\",\"status\":\"queued\",\"audit\":{\"creator\":"
            "\"anna\",\"createTime\":");
    snprintf(id, sizeof id, "%s", ebb_value_text_of(ebb_value_get(a.json, "job"), "jobId"));
    assert_int_equal(ebb_store_get_job(ebb_workspace_site(a.w.ws)->store, id, take_kind, job, &a.w.err), 0);
    assert_string_equal(
        job, "remove-orphan-files lake.db.t anna {\"config\":{\"catalog_name\":\"lake\",\"dry_run\":\"true\","
             "\"location\":\"\",\"older_than\":\"\",\"spark_conf\":\"\",\"table_identifier\":\"db.t\"}}");
    snprintf(target, sizeof target, RUNS "/%s", id);
    ask(&a, "POST", target, NULL);
    has(&a, "\"status\":\"cancelling\"");
    ask(&a, "GET", target, NULL);
    has(&a, "\"status\":\"cancelled\"");
    ask(&a, "POST", target, NULL); /* is over: as it is */
    has(&a, "\"status\":\"cancelled\"");
    ask(&a, "GET", RUNS "?jobTemplateName=builtin-iceberg-remove-orphan-files", NULL);
    has(&a, id);
    ask(&a, "GET", RUNS "?jobTemplateName=no", NULL);
    expect(&a, 404, 1003, "NoSuchJobTemplateException");
    end(&a);
}

/* What is disabled or gone does not run, whatever was loaded before. */
static void test_a_disabled_object_does_not_run(void **state)
{
    struct asked a;
    struct ebb_store *store;

    (void)state;
    open_with(&a, CONFIG);
    store = ebb_workspace_site(a.w.ws)->store;
    ask(&a, "POST", POLICIES,
        "{\"name\":\"a b\",\"policyType\":\"system_iceberg_orphan_file_removal\",\"content\":{}}");
    assert_int_equal(ebb_object_check_enabled(store, "sweep", &a.w.err), 0);
    assert_int_equal(ebb_object_check_enabled(store, "object:a%20b", &a.w.err), 0);
    ask(&a, "PATCH", POLICIES "/a%20b", "{\"enable\":false}");
    assert_int_equal(ebb_object_check_enabled(store, "object:a%20b", &a.w.err), -(int)EBB_EREFUSED);
    ask(&a, "PATCH", POLICIES "/a%20b", "{\"enable\":true}");
    assert_int_equal(ebb_object_check_enabled(store, "object:a%20b", &a.w.err), 0);
    ask(&a, "DELETE", POLICIES "/a%20b", NULL);
    assert_int_equal(ebb_object_check_enabled(store, "object:a%20b", &a.w.err), -(int)EBB_EREFUSED);
    end(&a);
}

/* A key that is no placeholder may be one that was to hold something back. */
static void test_a_misspelt_dry_run_is_refused(void **state)
{
    struct asked a;

    (void)state;
    open_with(&a, CONFIG);
    refused_run(&a, "{\"catalog_name\":\"lake\",\"table_identifier\":\"db.t\",\"dry-run\":\"true\"}", 400, 1001,
                "IllegalArgumentException", "dry-run is no placeholder");
    end(&a);
}

static void test_zero_days_need_the_configuration(void **state)
{
    struct asked a;

    (void)state;
    open_with(&a, CONFIG);
    refused(&a,
            "{\"name\":\"x\",\"policyType\":\"system_iceberg_orphan_file_removal\",\"content\":{\"olderThanDays\":0}}",
            "allow_below_floor");
    end(&a);
}

static void test_names(void **state)
{
    struct ebb_buf b;

    (void)state;
    ebb_buf_init(&b, 256);
    ebb_object_policy_name("weekly", 7, &b);
    assert_string_equal(ebb_buf_cstr(&b), "object:weekly");
    ebb_buf_reset(&b);
    ebb_object_policy_name("a/b=c !", 7, &b);
    assert_string_equal(ebb_buf_cstr(&b), "object:a%2Fb%3Dc%20%21");
    ebb_buf_reset(&b);
    ebb_object_policy_name("a23456789-123456789-123456789-123456789-123456789-1234567", 7, &b);
    assert_string_equal(ebb_buf_cstr(&b), "object:a23456789-123456789-123456789-123456~7");
    ebb_buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fill),
                                       cmocka_unit_test(test_custom_policy),
                                       cmocka_unit_test(test_bad_policies),
                                       cmocka_unit_test(test_system_contents),
                                       cmocka_unit_test(test_inheritance),
                                       cmocka_unit_test(test_no_place),
                                       cmocka_unit_test(test_tables),
                                       cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_statistics),
                                       cmocka_unit_test(test_templates),
                                       cmocka_unit_test(test_bad_runs),
                                       cmocka_unit_test(test_run),
                                       cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_a_disabled_object_does_not_run),
                                       cmocka_unit_test(test_a_misspelt_dry_run_is_refused),
                                       cmocka_unit_test(test_zero_days_need_the_configuration)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
