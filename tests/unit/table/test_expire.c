/* SPDX-License-Identifier: Apache-2.0
 *
 * Which snapshots go: the rules of expire_snapshots, on metadata made for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "table/expire.h"

#define NOW 1000000
#define HEAD                                                                                                           \
    "{\"format-version\":2,\"table-uuid\":\"00000000-0000-4000-8000-000000000001\",\"location\":\"file:/t\","          \
    "\"last-sequence-number\":9,\"last-updated-ms\":5,\"last-column-id\":1,\"current-schema-id\":0,\"schemas\":"       \
    "[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[]}],\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0," \
    "\"fields\":[]}],\"default-sort-order-id\":0,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}]"
#define S(id, parent, time)                                                                                            \
    "{\"snapshot-id\":" #id ",\"parent-snapshot-id\":" #parent ",\"timestamp-ms\":" #time                              \
    ",\"sequence-number\":1,\"manifest-list\":\"file:/t/l" #id "\",\"summary\":{\"operation\":\"append\"}}"
/* 1 <- 2 <- 3 <- 4, 3 <- 5; 6 staged long ago, 7 lately */
#define CHAIN                                                                                                          \
    S(1, null, 100)                                                                                                    \
    "," S(2, 1, 200) "," S(3, 2, 300) "," S(4, 3, 400) "," S(5, 3, 500) "," S(6, 1, 150) "," S(7, 1, 450)

struct row {
    const char *refs, *properties;
    int64_t older_than_ms, retain_last; /* -1: not given */
    const char *gone;                   /* oldest first */
};

static const struct row ROWS[] = {
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "", 440, 0, "1 6 2 3 "},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "", 460, 0, "1 6 2 3 7 "},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "", 600, 0, "1 6 2 3 7 5 "},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "", 440, 2, "1 6 2 "},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "", 440, 9, "6 "},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "", 300, 0, "1 6 2 "}, /* as old as the limit: stays */
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "", 50, 0, ""},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"},\"t\":{\"snapshot-id\":2,\"type\":\"tag\"}", "", 440, 0,
     "1 6 3 "},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"},\"b\":{\"snapshot-id\":5,\"type\":\"branch\"}", "", 600, 0,
     "1 6 2 3 7 "},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"},\"b\":{\"snapshot-id\":5,\"type\":\"branch\","
     "\"min-snapshots-to-keep\":3}",
     "", 600, 0, "1 6 7 "},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\",\"max-snapshot-age-ms\":999750}", "", 600, 0, "1 6 2 7 5 "},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"},\"t\":{\"snapshot-id\":1,\"type\":\"tag\",\"max-ref-age-ms\":1}",
     "", 600, 0, "6 2 3 7 5 "}, /* the age of refs is not applied */
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "\"history.expire.max-snapshot-age-ms\":\"999700\"", -1, 0,
     "1 6 2 "},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "\"history.expire.min-snapshots-to-keep\":\"3\"", 440, 0,
     "1 6 "},
    {"\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "", -1, 0, ""}, /* five days before 1970-01-01T00:16:40Z */
};

static int choose(const char *refs, const char *properties, const char *snapshots,
                  const struct ebb_expire_options *options, struct ebb_expire_result *out, struct ebb_err *err)
{
    char json[8192];
    struct ebb_metadata *m = NULL;
    int n = snprintf(json, sizeof json, HEAD ",\"properties\":{%s},\"snapshots\":[%s],\"refs\":{%s}%s}", properties,
                     snapshots, refs, strstr(refs, "main") ? ",\"current-snapshot-id\":4" : "");
    int rc = ebb_metadata_parse("m", json, (size_t)n, &m, err);

    if (rc)
        fail_msg("%s", err->message);
    rc = ebb_expire_choose(m, options, NOW, out, err);
    ebb_metadata_free(m);
    return rc;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct ebb_expire_options options = {.has_older_than = ROWS[i].older_than_ms >= 0,
                                                   .older_than_ms = ROWS[i].older_than_ms,
                                                   .retain_last = ROWS[i].retain_last};
        struct ebb_expire_result result;
        struct ebb_buf gone;
        struct ebb_err err;

        ebb_buf_init(&gone, 256);
        assert_int_equal(choose(ROWS[i].refs, ROWS[i].properties, CHAIN, &options, &result, &err), 0);
        for (size_t k = 0; k < result.count; k++)
            ebb_buf_printf(&gone, "%lld ", (long long)result.ids[k]);
        if (strcmp(ebb_buf_cstr(&gone), ROWS[i].gone))
            fail_msg("row %zu: '%s', wanted '%s'", i, ebb_buf_cstr(&gone), ROWS[i].gone);
        assert_int_equal(result.kept + result.count, 7);
        ebb_buf_fini(&gone);
        ebb_expire_result_fini(&result);
    }
}

static void test_what_is_refused(void **state)
{
    static const char MAIN[] = "\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}";
    struct ebb_expire_options options = {.has_older_than = true, .older_than_ms = 440};
    struct ebb_expire_result result;
    struct ebb_err err;

    (void)state;
    assert_int_equal(choose(MAIN, "\"gc.enabled\":\"false\"", CHAIN, &options, &result, &err), -EBB_EGC_DISABLED);
    assert_int_equal(choose(MAIN, "\"history.expire.min-snapshots-to-keep\":\"0\"", CHAIN, &options, &result, &err),
                     -EBB_EMETADATA);
    assert_int_equal(choose(MAIN, "\"history.expire.max-snapshot-age-ms\":\"-1\"", CHAIN, &options, &result, &err),
                     -EBB_EMETADATA);
    assert_int_equal(choose("\"main\":{\"snapshot-id\":4,\"type\":\"branch\",\"min-snapshots-to-keep\":-1}", "", CHAIN,
                            &options, &result, &err),
                     -EBB_EMETADATA);
    options.older_than_ms = NOW + 1;
    assert_int_equal(choose(MAIN, "", CHAIN, &options, &result, &err), -EBB_ECUTOFF_FUTURE);
}

/* Parents that go round in a circle, or are gone, end the walk. */
static void test_broken_chains(void **state)
{
    const struct ebb_expire_options options = {.has_older_than = true, .older_than_ms = 900, .retain_last = 100};
    struct ebb_expire_result result;
    struct ebb_err err;

    (void)state;
    assert_int_equal(choose("\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "",
                            S(1, 4, 100) "," S(4, 1, 200) "," S(9, 4, 300), &options, &result, &err),
                     0);
    assert_int_equal(result.count, 1);
    assert_true(result.ids[0] == 9);
    ebb_expire_result_fini(&result);
    assert_int_equal(
        choose("\"main\":{\"snapshot-id\":4,\"type\":\"branch\"}", "", S(4, 77, 200), &options, &result, &err), 0);
    assert_int_equal(result.count, 0);
    ebb_expire_result_fini(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_broken_chains),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
