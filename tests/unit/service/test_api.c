/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths, queries, media types and the document of the HTTP interface.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "service/api_priv.h"

#define ERROR(symbol) (-(int)EBB_##symbol)

static int decode(const char *text, bool plus, char out[64])
{
    struct ebb_buf b;
    struct ebb_err err;
    int rc;

    ebb_buf_init(&b, 63);
    rc = ebb__api_decode(text, strlen(text), plus, &b, &err);
    snprintf(out, 64, "%s", ebb_buf_cstr(&b));
    ebb_buf_fini(&b);
    return rc;
}

static void test_decoding(void **state)
{
    static const char *const BAD[] = {"%", "%1", "%zz", "%0", "a%00b", "%ff", "%c3%28", "%ed%a0%80", "%-1", "%+1"};
    char out[64];

    (void)state;
    assert_int_equal(decode("a%20b%2Fc", false, out), 0);
    assert_string_equal(out, "a b/c");
    assert_int_equal(decode("a+b", false, out), 0);
    assert_string_equal(out, "a+b");
    assert_int_equal(decode("a+b", true, out), 0);
    assert_string_equal(out, "a b");
    assert_int_equal(decode("%E2%82%ac", false, out), 0);
    assert_string_equal(out, "\xe2\x82\xac");
    assert_int_equal(decode("%252e", false, out), 0); /* once, never twice */
    assert_string_equal(out, "%2e");
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        assert_int_equal(decode(BAD[i], false, out), ERROR(EUSAGE));
}

static bool matches(const char *pattern, const char *path, struct ebb_strs *args)
{
    struct ebb_err err;
    bool is_match = false;

    ebb_strs_fini(args);
    assert_int_equal(ebb__api_match(pattern, path, args, &is_match, &err), 0);
    return is_match;
}

static void test_matching(void **state)
{
    struct ebb_strs args;

    (void)state;
    ebb_strs_init(&args);
    assert_true(matches("/api/plans", "/api/plans", &args));
    assert_false(matches("/api/plans", "/api/plans/", &args));
    assert_false(matches("/api/plans", "/api/plan", &args));
    assert_false(matches("/api/plans", "//api/plans", &args));
    assert_true(matches("/api/plans/{id}", "/api/plans/p-1", &args));
    assert_int_equal(args.count, 1);
    assert_string_equal(args.items[0], "p-1");
    assert_false(matches("/api/plans/{id}", "/api/plans/", &args));
    assert_false(matches("/api/plans/{id}/apply", "/api/plans//apply", &args));
    assert_true(matches("/api/plans/{id}/apply", "/api/plans/a%2Fb/apply", &args)); /* it separates nothing */
    assert_string_equal(args.items[0], "a/b");
    assert_false(matches("/api/plans/{id}", "/api/plans/a/b", &args));
    assert_true(matches("/api/plans/{id}", "/api/plans/..", &args));
    assert_string_equal(args.items[0], "..");
    assert_true(matches("/api/plans", "/api/pl%61ns", &args));
    assert_false(matches("/api/plans", "/api/PLANS", &args));
    assert_true(matches("/{a}/x/{b}", "/1/x/2", &args));
    assert_int_equal(args.count, 2);
    ebb_strs_fini(&args);
}

static void test_below(void **state)
{
    (void)state;
    assert_true(ebb__api_is_below("/api/metalakes", "/api/metalakes"));
    assert_true(ebb__api_is_below("/api/metalakes/x", "/api/metalakes"));
    assert_false(ebb__api_is_below("/api/metalakesx", "/api/metalakes"));
    assert_true(ebb__api_is_below("/x", "/"));
}

static void test_queries(void **state)
{
    struct ebb_value *map = NULL;
    struct ebb_err err;
    struct ebb_buf many;

    (void)state;
    assert_int_equal(ebb__api_query("a=1&b=x%26y&c&a=2&&d=", &map, &err), 0);
    assert_int_equal(ebb_value_get_count(map), 4);
    assert_string_equal(ebb_value_text_of(map, "a"), "2");
    assert_string_equal(ebb_value_text_of(map, "b"), "x&y");
    assert_string_equal(ebb_value_text_of(map, "c"), "");
    assert_string_equal(ebb_value_text_of(map, "d"), "");
    ebb_value_free(map);
    assert_int_equal(ebb__api_query("a=%00", &map, &err), ERROR(EUSAGE));
    assert_null(map);
    assert_int_equal(ebb__api_query("%ff=1", &map, &err), ERROR(EUSAGE));
    ebb_buf_init(&many, 65536);
    for (int i = 0; i <= EBB__API_QUERY_MAX; i++)
        ebb_buf_puts(&many, "x&");
    assert_int_equal(ebb__api_query(ebb_buf_cstr(&many), &map, &err), ERROR(EUSAGE));
    ebb_buf_fini(&many);
}

static void test_accept(void **state)
{
    (void)state;
    assert_true(ebb__api_accepts(NULL, "application/json"));
    assert_true(ebb__api_accepts("", "application/json"));
    assert_true(ebb__api_accepts("*/*", "application/json"));
    assert_true(ebb__api_accepts("text/html, application/*;q=0.5", "application/json"));
    assert_true(ebb__api_accepts("Application/JSON", "application/json"));
    assert_true(ebb__api_accepts("application/vnd.gravitino.v1+json", "application/json"));
    assert_false(ebb__api_accepts("application/vnd.gravitino.v2+json", "application/json"));
    assert_false(ebb__api_accepts("text/html", "application/json"));
    assert_false(ebb__api_accepts("application/json;q=0", "application/json"));
    assert_false(ebb__api_accepts("application/json; q=0.000", "application/json"));
    assert_true(ebb__api_accepts("application/json; q=0.001", "application/json"));
    assert_false(ebb__api_accepts("applicationx/*", "application/json"));
    assert_true(ebb__api_accepts("text/*", "text/event-stream"));
    assert_true(ebb__api_is_type("application/json; charset=utf-8", "application/json"));
    assert_false(ebb__api_is_type("application/jsonx", "application/json"));
    assert_false(ebb__api_is_type(NULL, "application/json"));
}

/* ---- the document ---- */

static void test_every_route_is_in_the_document(void **state)
{
    struct ebb__api_table table;
    struct ebb_err err;
    const struct ebb_value *paths;
    size_t documented = 0, operations = 0;

    (void)state;
    assert_int_equal(ebb__api_table_new(&table, &err), 0);
    paths = ebb_value_get(table.document, "paths");
    for (size_t i = 0; i < table.count; i++) {
        const struct ebb__api_entry *e = &table.items[i];

        if (e->part->is_own)
            assert_non_null(e->route->doc);
        if (!e->route->doc)
            continue;
        documented++;
        assert_non_null(ebb_value_get(paths, e->route->pattern));
        assert_non_null(ebb_value_get(e->operation, "responses"));
        assert_true(e->route->summary[0] != '\0');
        for (const char *p = strchr(e->route->pattern, '{'); p; p = strchr(p + 1, '{'))
            assert_non_null(ebb_value_get(ebb_value_get(e->operation, "responses"), "404"));
    }
    for (size_t i = 0; i < ebb_value_get_count(paths); i++)
        operations += ebb_value_get_count(ebb_value_get_at(paths, i));
    assert_int_equal(documented, operations); /* no two routes are one */
    ebb__api_table_fini(&table);
}

/* Every reference leads somewhere. */
static void check_refs(const struct ebb_value *document, const struct ebb_value *v)
{
    const char *ref = ebb_value_get_kind(v) == EBB_VALUE_MAP ? ebb_value_text_of(v, "$ref") : NULL;

    if (ref) {
        const char *kind = ref + strlen("#/components/"), *name = strrchr(ref, '/') + 1;
        const struct ebb_value *kinds = ebb_value_getn(ebb_value_get(document, "components"), kind, strcspn(kind, "/"));

        assert_non_null(ebb_value_get(kinds, name));
    }
    if (ebb_value_get_kind(v) == EBB_VALUE_MAP || ebb_value_get_kind(v) == EBB_VALUE_LIST)
        for (size_t i = 0; i < ebb_value_get_count(v); i++)
            check_refs(document, ebb_value_get_at(v, i));
}

static void test_references_lead_somewhere(void **state)
{
    struct ebb__api_table table;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb__api_table_new(&table, &err), 0);
    check_refs(table.document, table.document);
    ebb__api_table_fini(&table);
}

/* ---- what is documented is what is taken ---- */

static const struct ebb_value *operation_of(const struct ebb__api_table *table, const char *method, const char *pattern)
{
    for (size_t i = 0; i < table->count; i++)
        if (!strcmp(table->items[i].route->method, method) && !strcmp(table->items[i].route->pattern, pattern))
            return table->items[i].operation;
    fail_msg("no %s %s", method, pattern);
    return NULL;
}

static int check_query(const struct ebb__api_table *table, const char *query, struct ebb_err *err)
{
    struct ebb_value *map = NULL;
    int rc;

    assert_int_equal(ebb__api_query(query, &map, err), 0);
    rc = ebb__api_check_query(table->document, operation_of(table, "GET", "/api/plans"), map, err);
    ebb_value_free(map);
    return rc;
}

static void test_queries_are_checked(void **state)
{
    static const char *const GOOD[] = {"", "limit=1", "limit=1000", "status=held&order=asc", "table=lake.*"};
    static const char *const BAD[] = {"limit=0",   "limit=1001", "limit=x",    "limit=-1",
                                      "limit=1.5", "limit=",     "status=odd", "order=up",
                                      "unknown=1", "Limit=1",    "policy=",    "limit=99999999999999999999",
                                      "cursor="};
    struct ebb__api_table table;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb__api_table_new(&table, &err), 0);
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++)
        assert_int_equal(check_query(&table, GOOD[i], &err), 0);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        assert_int_equal(check_query(&table, BAD[i], &err), ERROR(EUSAGE));
    ebb__api_table_fini(&table);
}

static int read_body(const struct ebb__api_table *table, const char *pattern, const char *body, struct ebb_err *err)
{
    struct ebb_value *out = NULL;
    int rc = ebb__api_read_body(table->document, operation_of(table, "POST", pattern), ebb_str_of(body), &out, err);

    ebb_value_free(out);
    return rc;
}

static void test_bodies_are_checked(void **state)
{
    static const char *const GOOD[] = {"{}", "{\"overrides\":[]}", "{\"overrides\":[\"max_files\"],\"delete\":true}",
                                       " { \"verify\" : \"full\" } "};
    static const char *const BAD[] = {"[]",
                                      "1",
                                      "\"x\"",
                                      "null",
                                      "{",
                                      "{}{}",
                                      "{\"overrides\":\"max_files\"}",
                                      "{\"overrides\":[1]}",
                                      "{\"overrides\":[\"none\"]}",
                                      "{\"delete\":\"true\"}",
                                      "{\"delete\":1}",
                                      "{\"unknown\":1}",
                                      "{\"delete\":null}",
                                      "{\"verify\":\"Full\"}",
                                      "{\"delete\":true,\"delete\":true}",
                                      "{\"overrides\":[null]}",
                                      "\xff"};
    struct ebb__api_table table;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb__api_table_new(&table, &err), 0);
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++)
        assert_int_equal(read_body(&table, "/api/plans/{id}/apply", GOOD[i], &err), 0);
    assert_int_equal(read_body(&table, "/api/plans/{id}/apply", "", &err), 0);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        assert_int_equal(read_body(&table, "/api/plans/{id}/apply", BAD[i], &err), ERROR(EUSAGE));
    assert_int_equal(read_body(&table, "/api/tokens", "", &err), ERROR(EUSAGE));
    assert_int_equal(read_body(&table, "/api/tokens", "{\"name\":\"a\"}", &err), ERROR(EUSAGE));
    assert_int_equal(read_body(&table, "/api/jobs/{id}/cancel", "{}", &err), ERROR(EUSAGE)); /* takes none */
    ebb__api_table_fini(&table);
}

/* ---- problems ---- */

static void test_problems(void **state)
{
    struct ebb_api_call call = {.status = 200};
    struct ebb_value *map = NULL;
    struct ebb_err err;

    (void)state;
    ebb_buf_init(&call.out, 65536);
    ebb_err_set(&err, EBB_EPLAN_APPLIED, "plan \x01: was applied");
    ebb_err_hint(&err, "make another");
    ebb_api_problem(&call, &err);
    assert_int_equal(call.status, 409);
    assert_string_equal(call.answer_type, "application/problem+json");
    assert_int_equal(ebb_value_of_json("problem", call.out.data, call.out.len, NULL, &map, &err), 0);
    assert_string_equal(ebb_value_text_of(map, "code"), "plan.already_applied");
    assert_string_equal(ebb_value_text_of(map, "title"), "Conflict");
    assert_string_equal(ebb_value_text_of(map, "detail"), "plan \\x01: was applied");
    assert_string_equal(ebb_value_text_of(map, "hint"), "make another");
    assert_int_equal(ebb_value_int_of(map, "status", 0), 409);
    ebb_value_free(map);
    call.status = 403; /* told by the dispatcher */
    ebb_err_set(&err, EBB_EPERMISSION, "no");
    ebb_api_problem(&call, &err);
    assert_int_equal(call.status, 403);
    ebb_buf_fini(&call.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_matching),
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_queries),
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_every_route_is_in_the_document),
        cmocka_unit_test(test_references_lead_somewhere),
        cmocka_unit_test(test_queries_are_checked),
        cmocka_unit_test(test_bodies_are_checked),
        cmocka_unit_test(test_problems),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
