/* SPDX-License-Identifier: Apache-2.0
 *
 * What a REST catalog answers: pages, tables, keys, errors, configuration; and names in URLs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "io/rest_priv.h"

static struct ebb_err err;

static struct ebb__rest *session(const char *uri)
{
    const struct ebb_catalog_config config = {.name = "lake", .type = "rest", .uri = uri, .token = "SECRET-TOKEN"};
    const struct ebb_catalog_site site = {.storage = NULL};
    struct ebb__rest *rest = NULL;

    assert_int_equal(ebb__rest_new(&config, &site, &rest, &err), 0);
    return rest;
}

static void levels_of(struct ebb_strs *levels, const char *a, const char *b)
{
    ebb_strs_init(levels);
    assert_int_equal(ebb_strs_add(levels, a, NULL), 0);
    if (b)
        assert_int_equal(ebb_strs_add(levels, b, NULL), 0);
}

static void test_names_in_urls(void **state)
{
    struct ebb__rest *rest = session("http://h/");
    struct ebb_strs levels;
    struct ebb_buf path;

    (void)state;
    assert_string_equal(rest->uri, "http://h");
    ebb_buf_init(&path, 4096);
    levels_of(&levels, "a b+c", "\xC3\xA9/%");
    ebb__rest_put_table(rest, &path, &levels, "t.x~y_z-1?#");
    assert_string_equal(ebb_buf_cstr(&path), "namespaces/a%20b%2Bc%1F%C3%A9%2F%25/tables/t.x~y_z-1%3F%23");
    assert_null(ebb__rest_unreachable(rest, &levels, "t"));
    assert_non_null(ebb__rest_unreachable(rest, &levels, ".."));
    assert_non_null(ebb__rest_unreachable(rest, &levels, "."));
    assert_non_null(ebb__rest_ambiguous(&levels, "t.x"));
    assert_null(ebb__rest_ambiguous(&levels, "t"));
    ebb_strs_fini(&levels);
    levels_of(&levels,
              "a\x1f"
              "b",
              NULL);
    assert_non_null(ebb__rest_unreachable(rest, &levels, "t"));
    ebb_strs_fini(&levels);
    ebb_buf_fini(&path);
    ebb__rest_free(rest);
}

static void test_configuration(void **state)
{
    static const char *const ELSEWHERE[] = {"https://h:80/x",
                                            "http://h:81/x",
                                            "http://h:8/x",
                                            "http://h:800/x",
                                            "http://g:80/x",
                                            "http://u@h:80",
                                            "h:80",
                                            "http://h:80@g/",
                                            "http://h:80\\@g",
                                            "http://h:80?x",
                                            "",
                                            "//g"};
    struct ebb__rest *rest = session("http://h:80/api");
    char json[256];

    (void)state;
    assert_int_equal(ebb__rest_configure(rest,
                                         EBB_STR("{\"defaults\":{\"prefix\":\"d\",\"token\":\"theirs\"},\"overrides\":"
                                                 "{\"prefix\":\"/main%7Cwh/\",\"uri\":\"HTTP://H:80/other/\","
                                                 "\"namespace-separator\":\"%2E\",\"x\":[1]}}"),
                                         &err),
                     0);
    assert_string_equal(rest->prefix, "main%7Cwh");
    assert_string_equal(rest->uri, "HTTP://H:80/other");
    assert_string_equal(rest->separator, "%2E");
    assert_string_equal(rest->separator_bytes, ".");
    assert_string_equal(rest->token, "SECRET-TOKEN"); /* ours comes before their default */
    for (size_t i = 0; i < sizeof ELSEWHERE / sizeof ELSEWHERE[0]; i++) {
        snprintf(json, sizeof json, "{\"overrides\":{\"uri\":\"%s\"}}", ELSEWHERE[i]);
        if (ELSEWHERE[i][0] && !strchr(ELSEWHERE[i], '\\'))
            assert_int_equal(ebb__rest_configure(rest, ebb_str_of(json), &err), -EBB_ECATALOG);
        assert_string_equal(rest->uri, "HTTP://H:80/other");
    }
    assert_int_equal(ebb__rest_configure(rest, EBB_STR("{\"overrides\":{\"prefix\":\"a?b\"}}"), &err), -EBB_ECATALOG);
    assert_int_equal(ebb__rest_configure(rest, EBB_STR("{\"overrides\":{\"namespace-separator\":\"\"}}"), &err),
                     -EBB_ECATALOG);
    assert_int_equal(ebb__rest_configure(rest, EBB_STR("{\"x\":1}"), &err), -EBB_ECATALOG);
    ebb__rest_free(rest);
}

static void test_pages(void **state)
{
    static const char *const BAD[] = {"{\"identifiers\":[{\"name\":\"t\"}]}",
                                      "{\"identifiers\":[{\"name\":\"\",\"namespace\":[\"a\"]}]}",
                                      "{\"identifiers\":[{\"name\":\"t\",\"namespace\":[]}]}",
                                      "{\"identifiers\":[{\"name\":5,\"namespace\":[\"a\"]}]}",
                                      "{\"identifiers\":[5]}",
                                      "{\"identifiers\":[],\"next-page-token\":5}",
                                      "{}",
                                      "[]",
                                      ""};
    struct ebb__rest_page page;

    (void)state;
    assert_int_equal(
        ebb__rest_parse_page("x", true,
                             EBB_STR("{\"identifiers\":[{\"name\":\"t\",\"namespace\":[\"a\",\"b\"],\"x\":{}}],"
                                     "\"next-page-token\":\"p\"}"),
                             &page, &err),
        0);
    assert_int_equal(page.count, 1);
    assert_string_equal(page.items[0].name, "t");
    assert_string_equal(page.items[0].levels.items[1], "b");
    assert_string_equal(page.next, "p");
    ebb__rest_page_fini(&page);
    assert_int_equal(
        ebb__rest_parse_page("x", false, EBB_STR("{\"next-page-token\":null,\"namespaces\":[]}"), &page, &err), 0);
    assert_null(page.next);
    ebb__rest_page_fini(&page);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        assert_int_equal(ebb__rest_parse_page("x", true, ebb_str_of(BAD[i]), &page, &err), -EBB_ECORRUPT);
}

#define META "\"metadata\":{\"location\":\"s3://l/t\",\"table-uuid\":\"u\""

static void test_tables(void **state)
{
    static const char *const BAD[] = {"{\"metadata-location\":\"x\"}",
                                      "{\"metadata-location\":\"x\",\"metadata\":{}}",
                                      "{\"metadata-location\":5," META "}}",
                                      "{" META ",\"snapshots\":[{}]}}",
                                      "{" META ",\"snapshots\":[{\"snapshot-id\":1.5}]}}",
                                      "{" META ",\"snapshots\":[{\"snapshot-id\":92233720368547758070}]}}",
                                      "{" META ",\"snapshots\":5}}",
                                      "{" META ",\"refs\":{\"a\":{}}}}",
                                      "{" META ",\"current-snapshot-id\":\"1\"}}",
                                      "{" META "},\"storage-credentials\":[{\"config\":{}}]}",
                                      "{" META "},\"config\":{\"s3.session-token-expires-at-ms\":\"soon\"}}",
                                      "{" META "}} x"};
    struct ebb__rest_table t;

    (void)state;
    assert_int_equal(
        ebb__rest_parse_table(
            "x",
            EBB_STR(
                "{\"metadata-location\":\"s3://l/t/m.json\"," META
                ",\"snapshots\":[{\"snapshot-id\":9223372036854775807,\"manifest-list\":\"x\"},{\"snapshot-id\":1}],"
                "\"refs\":{\"main\":{\"snapshot-id\":1,\"type\":\"branch\"}},\"current-snapshot-id\":-1,"
                "\"properties\":{\"gc.enabled\":\"FALSE\"}},\"config\":{\"token\":\"tt\",\"client.region\":\"r\","
                "\"s3.remote-signing-enabled\":\"true\"},\"storage-credentials\":[{\"prefix\":\"s3://l/\","
                "\"config\":{\"s3.access-key-id\":\"a\",\"s3.secret-access-key\":\"b\",\"token\":\"no\","
                "\"s3.session-token-expires-at-ms\":\"1767229200000\"}}]}"),
            &t, &err),
        0);
    assert_string_equal(t.metadata_uri, "s3://l/t/m.json");
    assert_string_equal(t.token, "tt");
    assert_true(t.signs && !t.collects);
    assert_int_equal(t.snapshot_count, 2);
    assert_true(t.snapshots[0] == INT64_MAX);
    assert_int_equal(t.ref_count, 1);
    assert_true(t.current == -1);
    assert_int_equal(t.key_count, 2);
    assert_string_equal(t.keys[0].prefix, "");
    assert_string_equal(t.keys[0].region, "r");
    assert_string_equal(t.keys[1].prefix, "s3://l/");
    assert_true(t.keys[1].expires_at_ms == 1767229200000);
    ebb__rest_table_fini(&t);
    assert_int_equal(ebb__rest_parse_table("x", EBB_STR("{\"metadata-location\":null," META "}}"), &t, &err), 0);
    assert_null(t.metadata_uri);
    assert_true(t.collects && t.current == -1 && !t.snapshot_count);
    ebb__rest_table_fini(&t);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        if (ebb__rest_parse_table("x", ebb_str_of(BAD[i]), &t, &err) != -EBB_ECORRUPT)
            fail_msg("%s", BAD[i]);
}

static void test_errors(void **state)
{
    struct ebb__rest *rest = session("http://h");
    struct ebb__rest_told told;
    char type[64];

    (void)state;
    assert_true(ebb__rest_parse_error(
        EBB_STR("{\"error\":{\"message\":\"m\",\"type\":\"T\",\"code\":404,\"stack\":[]}}"), NULL, &told));
    assert_string_equal(told.type, "T");
    assert_true(
        ebb__rest_parse_error(EBB_STR("{\"error\":\"invalid_client\",\"error_description\":\"d\"}"), NULL, &told));
    assert_string_equal(told.type, "invalid_client");
    assert_string_equal(told.message, "d");
    assert_false(ebb__rest_parse_error(EBB_STR("<html>"), NULL, &told));
    assert_false(ebb__rest_parse_error(EBB_STR("{}"), NULL, &told));
    assert_false(ebb__rest_parse_error(EBB_STR(""), NULL, &told));
    assert_int_equal(
        ebb__rest_fail(rest, "table a.b", 403, EBB_STR("{\"error\":{\"message\":\"x SECRET-TOKEN\"}}"), type, &err),
        -EBB_EPERMISSION);
    assert_null(strstr(err.message, "SECRET"));
    assert_non_null(strstr(err.message, "table a.b"));
    assert_int_equal(ebb__rest_fail(rest, "x", 400, EBB_STR("<title>Error\n400</title>"), type, &err), -EBB_ECATALOG);
    assert_non_null(strstr(err.message, "Error 400"));
    assert_string_equal(type, "");
    ebb__rest_free(rest);
}

/* A message is cut: what is left of a secret at its end would be told. */
static void test_secrets(void **state)
{
    char *const header[] = {(char *)(uintptr_t) "X-Key: Token h1dden-key"};
    const struct ebb_strs headers = {(char **)(uintptr_t)header, 1, 1};
    const struct ebb__secrets secrets = {"s3cr3t-token", "client:c0nfid", &headers};
    static const char *const TOLD[] = {"bad token s3cr3t-token", "client:c0nfid", "is it c0nfid?", "Token h1dden-key",
                                       "h1dden-key"};
    char out[16];

    (void)state;
    for (size_t i = 0; i < sizeof TOLD / sizeof TOLD[0]; i++) {
        ebb__told_copy(&secrets, ebb_str_of(TOLD[i]), out, sizeof out);
        assert_string_equal(out, "");
    }
    ebb__told_copy(NULL, ebb_str_of(TOLD[0]), out, sizeof out);
    assert_string_equal(out, "bad token s3cr3");
    ebb__told_copy(&secrets, EBB_STR("client\ns3cr3t-toke"), out, sizeof out);
    assert_string_equal(out, "client s3cr3t-t");
    ebb__told_copy(&secrets, EBB_STR("12345678901234\xC3\xA9"), out, sizeof out);
    assert_string_equal(out, "12345678901234");
    ebb__told_copy(&secrets, EBB_STR("a\0b"), out, sizeof out);
    assert_string_equal(out, "a b");
    ebb__told_copy(&secrets, (struct ebb_str){NULL, 0}, out, sizeof out);
    assert_string_equal(out, "");
}

/* Steps that must come to their end: also where the first request comes after that was said. */
static void test_deaf(void **state)
{
    const struct ebb_catalog_config config = {.name = "lake", .type = "rest", .uri = "http://127.0.0.1:1"};
    atomic_bool cancelled = true;
    const struct ebb_catalog_site site = {.storage = NULL, .cancelled = &cancelled};
    struct ebb_catalog *catalog = NULL;
    struct ebb_table_ref ref = {NULL};

    (void)state;
    assert_int_equal(ebb_catalog_new(&config, &site, &catalog, &err), 0);
    ebb_catalog_set_deaf(catalog, true);
    assert_int_equal(ebb_catalog_load(catalog, "db", "t", &ref, &err), -EBB_ECATALOG); /* nobody is there */
    ebb_table_ref_fini(&ref);
    ebb_catalog_set_deaf(catalog, false);
    assert_int_equal(ebb_catalog_load(catalog, "db", "t", &ref, &err), -EBB_ECANCELLED);
    ebb_table_ref_fini(&ref);
    ebb_catalog_free(catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_in_urls), cmocka_unit_test(test_configuration), cmocka_unit_test(test_pages),
        cmocka_unit_test(test_tables),        cmocka_unit_test(test_errors),        cmocka_unit_test(test_deaf),
        cmocka_unit_test(test_secrets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
