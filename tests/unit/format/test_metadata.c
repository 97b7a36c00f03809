/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "format/metadata.h"

#define NAME "s3://lake/t/metadata/00001-a.metadata.json"
#define UUID "5e0c1c0e-8d1e-4c6a-9b1f-0f3a0b9d2e77"
#define HEAD "\"table-uuid\":\"" UUID "\",\"location\":\"s3://lake/t\",\"last-updated-ms\":1767225600000"
#define V2 "{\"format-version\":2," HEAD ",\"last-sequence-number\":2,\"partition-specs\":[]"
#define V3 "{\"format-version\":3," HEAD ",\"last-sequence-number\":2,\"partition-specs\":[]"
#define V1 "{\"format-version\":1," HEAD ",\"partition-spec\":[]"
#define SNAP "{\"snapshot-id\":7301987312340117781,\"timestamp-ms\":5,\"manifest-list\":\"s3://lake/t/l1\"}"

static int parse_n(const char *name, const void *bytes, size_t n, struct ebb_metadata **out, struct ebb_err *err)
{
    char *exact = malloc(n ? n : 1); /* so that the sanitizer sees reads past the end */
    int rc;

    memcpy(exact, bytes, n);
    rc = ebb_metadata_parse(name, exact, n, out, err);
    free(exact);
    if (rc) {
        assert_int_equal(rc, -(int)err->error);
        assert_null(*out);
    }
    return rc;
}

static struct ebb_metadata *good(const char *text)
{
    struct ebb_metadata *m;
    struct ebb_err err;

    if (parse_n(NAME, text, strlen(text), &m, &err))
        fail_msg("%s: %s", text, err.message);
    return m;
}

static void fine(const char *text)
{
    ebb_metadata_free(good(text));
}

static void refused(const char *text, enum ebb_error error)
{
    struct ebb_metadata *m;
    struct ebb_err err;

    if (!parse_n(NAME, text, strlen(text), &m, &err))
        fail_msg("accepted: %s", text);
    if (err.error != error)
        fail_msg("%s: %s", text, err.message);
    assert_int_equal(strncmp(err.message, NAME ": ", sizeof NAME + 1), 0);
}

static void bad(const char *text)
{
    refused(text, EBB_EMETADATA);
}

static const char FULL[] =
    "{\"format-version\":2,\"table-uuid\":\"5E0C1C0E-8D1E-4C6A-9B1F-0F3A0B9D2E77\",\"location\":\"s3://lake/wh/orders/"
    "\","
    "\"last-sequence-number\":34,\"last-updated-ms\":1767225600000,\"last-column-id\":3,"
    "\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[]}, {\"schema-id\":1,\"fields\":[{\"id\":1}]}],"
    "\"current-schema-id\":1,"
    "\"partition-specs\":[{\"spec-id\":0,\"fields\":[{\"source-id\":2,\"field-id\":1000,\"name\":\"_day\","
    "\"transform\":"
    "\"identity\"}]},{\"fields\":[{\"name\":\"a\",\"transform\":\"bucket[4]\"},{\"name\":\"b\",\"transform\":\"void\"}]"
    ","
    "\"spec-id\":3}],\"default-spec-id\":3,\"last-partition-id\":1000,"
    "\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"default-sort-order-id\":0,"
    "\"properties\":{\"gc.enabled\":\"TRUE\",\"k\":\"v\"},\"current-snapshot-id\":9223372036854775807,"
    "\"refs\":{\"main\":{\"snapshot-id\":9223372036854775807,\"type\":\"branch\"},"
    "\"audit\":{\"type\":\"tag\",\"snapshot-id\":9007199254740993,\"max-ref-age-ms\":1}},"
    "\"snapshots\":[{\"snapshot-id\":9007199254740993,\"sequence-number\":1,\"timestamp-ms\":1767225590000,"
    "\"summary\":{\"operation\":\"append\",\"added-files\":\"1\",\"odd\":7},\"schema-id\":0,"
    "\"manifest-list\":\"s3://lake/wh/orders/metadata/snap-1.avro\"},"
    "{\"snapshot-id\":9223372036854775807,\"parent-snapshot-id\":9007199254740993,\"sequence-number\":34,"
    "\"timestamp-ms\":1767225590001,\"manifest-list\":\"s3://lake/wh/orders/metadata/snap-2.avro\"}],"
    "\"snapshot-log\":[{\"timestamp-ms\":1,\"snapshot-id\":5}],"
    "\"metadata-log\":[{\"timestamp-ms\":1767225500000,\"metadata-file\":\"s3://lake/wh/orders/metadata/"
    "0.metadata.json\"}],"
    "\"statistics\":[{\"snapshot-id\":5,\"statistics-path\":\"s3://lake/a.stats\",\"file-size-in-bytes\":1}],"
    "\"partition-statistics\":[{\"snapshot-id\":6,\"statistics-path\":\"s3://lake/"
    "b.parquet\"}],\"unknown\":{\"x\":[1]}}";

static void check_top(const struct ebb_metadata *m)
{
    assert_int_equal(m->format_version, 2);
    assert_string_equal(m->uuid, UUID);
    assert_string_equal(m->location, "s3://lake/wh/orders");
    assert_true(m->last_updated_ms == 1767225600000);
    assert_int_equal(m->last_sequence_number, 34);
    assert_true(m->has_current_snapshot);
    assert_true(m->current_snapshot_id == INT64_MAX);
    assert_true(ebb_metadata_is_gc_enabled(m));
    assert_string_equal(ebb_metadata_property(m, "k"), "v");
    assert_null(ebb_metadata_property(m, "K"));
}

static void check_snapshots(const struct ebb_metadata *m)
{
    const struct ebb_snapshot *s = ebb_metadata_snapshot(m, 9007199254740993);

    assert_int_equal(m->snapshot_count, 2);
    assert_ptr_equal(s, &m->snapshots[0]);
    assert_null(ebb_metadata_snapshot(m, 9007199254740992));
    assert_int_equal(s->parent_id, -1);
    assert_int_equal(s->sequence_number, 1);
    assert_true(s->timestamp_ms == 1767225590000);
    assert_int_equal(s->schema_id, 0);
    assert_string_equal(s->manifest_list, "s3://lake/wh/orders/metadata/snap-1.avro");
    assert_int_equal(s->manifest_count, 0);
    assert_string_equal(s->operation, "append");
    assert_int_equal(s->summary_count, 2);
    assert_string_equal(ebb_snapshot_summary(s, "added-files"), "1");
    assert_null(ebb_snapshot_summary(s, "odd"));
    s = &m->snapshots[1];
    assert_true(s->parent_id == 9007199254740993);
    assert_int_equal(s->schema_id, -1);
    assert_string_equal(s->operation, "");
    assert_int_equal(s->summary_count, 0);
}

static void check_lists(const struct ebb_metadata *m)
{
    assert_int_equal(m->ref_count, 2);
    assert_string_equal(m->refs[0].name, "main");
    assert_true(m->refs[0].is_branch);
    assert_string_equal(m->refs[1].name, "audit");
    assert_false(m->refs[1].is_branch);
    assert_true(m->refs[1].snapshot_id == 9007199254740993);
    assert_int_equal(m->metadata_log_count, 1);
    assert_string_equal(m->metadata_log[0].file, "s3://lake/wh/orders/metadata/0.metadata.json");
    assert_int_equal(m->statistics_count, 2);
    assert_string_equal(m->statistics[0].path, "s3://lake/a.stats");
    assert_false(m->statistics[0].is_partition);
    assert_int_equal(m->statistics[1].snapshot_id, 6);
    assert_string_equal(m->statistics[1].path, "s3://lake/b.parquet");
    assert_true(m->statistics[1].is_partition);
}

static void check_specs(const struct ebb_metadata *m)
{
    assert_int_equal(m->spec_count, 2);
    assert_int_equal(m->spec_ids[0], 0);
    assert_int_equal(m->spec_ids[1], 3);
    assert_int_equal(m->default_spec_id, 3);
    assert_int_equal(m->spec_field_count, 3);
    assert_int_equal(m->spec_fields[0].spec_id, 0);
    assert_string_equal(m->spec_fields[0].name, "_day");
    assert_int_equal(m->spec_fields[1].spec_id, 3);
    assert_int_equal(m->spec_fields[2].spec_id, 3);
    assert_string_equal(m->spec_fields[2].transform, "void");
    assert_true(ebb_str_is_equal(m->schema_json, EBB_STR("{\"schema-id\":1,\"fields\":[{\"id\":1}]}")));
    assert_true(ebb_str_has_prefix(m->spec_json, EBB_STR("{\"fields\":[{\"name\":\"a\"")));
    assert_true(ebb_str_is_equal(m->sort_order_json, EBB_STR("{\"order-id\":0,\"fields\":[]}")));
}

static void test_everything(void **state)
{
    struct ebb_metadata *m = good(FULL);

    (void)state;
    check_top(m);
    check_snapshots(m);
    check_lists(m);
    check_specs(m);
    ebb_metadata_free(m);
}

/* Any cut, any trailing byte, any zero byte: refused. */
static void test_damage(void **state)
{
    struct ebb_metadata *m;
    struct ebb_err err;
    size_t n = sizeof FULL - 1;
    char *copy = malloc(n + 4);

    (void)state;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(parse_n(NAME, FULL, i, &m, &err), -EBB_EMETADATA);
    memcpy(copy, FULL, n + 1);
    assert_int_equal(parse_n(NAME, copy, n + 1, &m, &err), -EBB_EMETADATA); /* a NUL behind */
    copy[n] = 'x';
    assert_int_equal(parse_n(NAME, copy, n + 1, &m, &err), -EBB_EMETADATA);
    copy[n] = '\n';
    assert_int_equal(parse_n(NAME, copy, n + 1, &m, &err), 0);
    ebb_metadata_free(m);
    memset(copy, 0, n);
    assert_int_equal(parse_n(NAME, copy, n, &m, &err), -EBB_EMETADATA);
    memcpy(copy, "\xEF\xBB\xBF", 3);
    memcpy(copy + 3, FULL, n);
    assert_int_equal(parse_n(NAME, copy, n + 3, &m, &err), -EBB_EMETADATA);
    free(copy);
    bad("");
    bad("null");
    bad("[]");
    bad("[" V2 "}]");
}

static void test_versions(void **state)
{
    (void)state;
    fine(V1 "}");
    fine(V2 "}");
    fine(V3 "}");
    refused("{\"format-version\":4}", EBB_EVERSION);
    refused("{\"format-version\":9,\"snapshots\":[{\"snapshot-id\":1}]}", EBB_EVERSION);
    refused("{\"snapshots\":[{\"snapshot-id\":1}],\"format-version\":4}", EBB_EVERSION);
    refused("{\"format-version\":0}", EBB_EVERSION);
    refused("{\"format-version\":4294967298}", EBB_EVERSION);
    bad("{" HEAD "}");
    bad("{\"format-version\":\"2\"," HEAD ",\"last-sequence-number\":2,\"partition-specs\":[]}");
    bad("{\"format-version\":2.0," HEAD ",\"last-sequence-number\":2,\"partition-specs\":[]}");
    bad("{\"format-version\":null}");
    bad("{\"format-version\":99999999999999999999}");
    bad(V2 ",\"format-version\":2}");
}

static void test_required(void **state)
{
    (void)state;
    bad("{\"format-version\":2,\"location\":\"x\",\"last-updated-ms\":1,\"last-sequence-number\":2,\"partition-specs\":"
        "[]}");
    bad("{\"format-version\":2,\"table-uuid\":null,\"location\":\"x\",\"last-updated-ms\":1,\"last-sequence-number\":2,"
        "\"partition-specs\":[]}");
    bad("{\"format-version\":2,\"table-uuid\":\"u\",\"last-updated-ms\":1,\"last-sequence-number\":2,\"partition-"
        "specs\":[]}");
    bad("{\"format-version\":2,\"table-uuid\":\"u\",\"location\":\"x\",\"last-sequence-number\":2,\"partition-specs\":["
        "]}");
    bad("{\"format-version\":2," HEAD ",\"partition-specs\":[]}");
    bad("{\"format-version\":2," HEAD ",\"last-sequence-number\":2}");
    bad("{\"format-version\":2," HEAD ",\"last-sequence-number\":2,\"partition-spec\":[]}");
    bad("{\"format-version\":1," HEAD "}");
    fine("{\"format-version\":1,\"location\":\"x\",\"last-updated-ms\":1,\"partition-specs\":[]}");
}

static void test_repeated_keys(void **state)
{
    (void)state;
    bad(V2 ",\"location\":\"s3://other\"}");
    bad(V2 ",\"snapshots\":[],\"snapshots\":[" SNAP "]}");
    bad(V2 ",\"properties\":{\"gc.enabled\":\"false\",\"gc.enabled\":\"true\"}}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifest-list\":\"a\",\"manifest-list\":\"b\"}]}");
    bad(V2 ",\"unknown\":{\"a\":1,\"a\":2}}");
}

static void test_snapshots(void **state)
{
    (void)state;
    fine(V2 ",\"snapshots\":[" SNAP "]}");
    fine(V2 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifest-list\":\"a\",\"summary\":null,"
            "\"parent-snapshot-id\":null,\"schema-id\":null,\"key-id\":null}]}");
    bad(V2 ",\"snapshots\":null}");
    bad(V2 ",\"snapshots\":{}}");
    bad(V2 ",\"snapshots\":[null]}");
    bad(V2 ",\"snapshots\":[{\"timestamp-ms\":5,\"manifest-list\":\"a\"}]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":1,\"manifest-list\":\"a\"}]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5}]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifest-list\":\"\"}]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifest-list\":null}]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifest-list\":7}]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifest-list\":\"a\\u0000b\"}]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifests\":[\"m\"]}]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":1.5,\"timestamp-ms\":5,\"manifest-list\":\"a\"}]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":\"1\",\"timestamp-ms\":5,\"manifest-list\":\"a\"}]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":9223372036854775808,\"timestamp-ms\":5,\"manifest-list\":\"a\"}]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":-1,\"timestamp-ms\":5,\"manifest-list\":\"a\"}]}");
    bad(V2 ",\"snapshots\":[" SNAP "," SNAP "]}");
    bad(V2 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifest-list\":\"a\",\"summary\":[]}]}");
}

static void test_v1_manifests(void **state)
{
    struct ebb_metadata *m;

    (void)state;
    m = good(V1 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifests\":[\"m1\",\"m2\"]},"
                "{\"snapshot-id\":2,\"timestamp-ms\":5,\"manifests\":[]},"
                "{\"snapshot-id\":3,\"timestamp-ms\":5,\"manifests\":[\"m3\"],\"manifest-list\":\"l\"},"
                "{\"snapshot-id\":4,\"timestamp-ms\":5,\"manifests\":[\"m4\"]}]}");
    assert_null(m->snapshots[0].manifest_list);
    assert_int_equal(m->snapshots[0].manifest_count, 2);
    assert_string_equal(m->snapshots[0].manifests[1], "m2");
    assert_int_equal(m->snapshots[1].manifest_count, 0);
    assert_string_equal(m->snapshots[2].manifest_list, "l");
    assert_int_equal(m->snapshots[2].manifest_count, 0);
    assert_int_equal(m->snapshots[3].manifest_count, 1);
    assert_string_equal(m->snapshots[3].manifests[0], "m4");
    ebb_metadata_free(m);
    bad(V1 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5}]}");
    bad(V1 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifests\":[\"\"]}]}");
    bad(V1 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifests\":[1]}]}");
    bad(V1 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifests\":null}]}");
    bad(V1 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifests\":\"m\"}]}");
}

static void test_current_and_refs(void **state)
{
    struct ebb_metadata *m = good(V2 ",\"current-snapshot-id\":-1}");

    (void)state;
    assert_false(m->has_current_snapshot);
    assert_int_equal(m->ref_count, 0);
    ebb_metadata_free(m);
    m = good(V3 ",\"current-snapshot-id\":null,\"refs\":{}}");
    assert_false(m->has_current_snapshot);
    ebb_metadata_free(m);
    m = good(V1 ",\"current-snapshot-id\":7301987312340117781,\"snapshots\":[" SNAP "]}");
    assert_int_equal(m->ref_count, 1);
    assert_string_equal(m->refs[0].name, "main");
    assert_true(m->refs[0].is_branch);
    assert_true(m->refs[0].snapshot_id == 7301987312340117781);
    ebb_metadata_free(m);
    bad(V2 ",\"current-snapshot-id\":7301987312340117780,\"snapshots\":[" SNAP "]}");
    bad(V2 ",\"current-snapshot-id\":7301987312340117781}");
    bad(V2 ",\"snapshots\":[" SNAP "],\"refs\":{\"b\":{\"snapshot-id\":1,\"type\":\"branch\"}}}");
    bad(V2 ",\"snapshots\":[" SNAP "],\"refs\":{\"b\":{\"type\":\"branch\"}}}");
    bad(V2 ",\"snapshots\":[" SNAP "],\"refs\":{\"b\":{\"snapshot-id\":7301987312340117781}}}");
    bad(V2 ",\"snapshots\":[" SNAP "],\"refs\":{\"b\":{\"snapshot-id\":7301987312340117781,\"type\":\"x\"}}}");
    bad(V2 ",\"refs\":[]}");
}

static void test_lists(void **state)
{
    (void)state;
    fine(V2
         ",\"statistics\":null,\"partition-statistics\":null,\"metadata-log\":null,\"refs\":null,\"properties\":null}");
    bad(V2 ",\"statistics\":{}}");
    bad(V2 ",\"statistics\":[{\"snapshot-id\":1}]}");
    bad(V2 ",\"statistics\":[{\"snapshot-id\":1,\"statistics-path\":\"\"}]}");
    bad(V2 ",\"statistics\":[{\"snapshot-id\":1,\"statistics-path\":[\"a\"]}]}");
    bad(V2 ",\"partition-statistics\":[{\"snapshot-id\":1,\"statistics-path\":null}]}");
    bad(V2 ",\"metadata-log\":[{\"timestamp-ms\":1}]}");
    bad(V2 ",\"metadata-log\":[{\"metadata-file\":\"a\"}]}");
    bad(V2 ",\"metadata-log\":[{\"timestamp-ms\":1,\"metadata-file\":\"\"}]}");
    bad(V2 ",\"metadata-log\":[\"a\"]}");
    bad(V2 ",\"properties\":{\"gc.enabled\":false}}");
    bad(V2 ",\"properties\":{\"gc.enabled\":null}}");
    bad(V2 ",\"properties\":[]}");
    bad(V1 ",\"partition-specs\":[{\"fields\":[]}]}");
    bad(V1 ",\"partition-specs\":[{\"spec-id\":0}]}");
    bad(V1 ",\"partition-specs\":[{\"spec-id\":0,\"fields\":[{\"transform\":\"identity\"}]}]}");
}

static void test_encrypted(void **state)
{
    (void)state;
    fine(V3 ",\"encryption-keys\":[],\"snapshots\":[]}");
    fine(V3 ",\"encryption-keys\":null}");
    refused(V3 ",\"encryption-keys\":[{\"key-id\":\"a\"}]}", EBB_EENCRYPTED);
    refused(V3 ",\"encryption-keys\":{}}", EBB_EENCRYPTED);
    refused(V3 ",\"snapshots\":[{\"snapshot-id\":1,\"timestamp-ms\":5,\"manifest-list\":\"a\",\"key-id\":\"k\"}]}",
            EBB_EENCRYPTED);
    refused(V3 ",\"properties\":{\"encryption.key-id\":\"k1\"}}", EBB_EENCRYPTED);
    refused(V2 ",\"properties\":{\"encryption.key-id\":\"\"}}", EBB_EENCRYPTED);
}

static void test_v1_fallback(void **state)
{
    struct ebb_metadata *m =
        good("{\"format-version\":1,\"location\":\"/t\",\"last-updated-ms\":1,\"schema\":{\"fields\":[]},"
             "\"partition-spec\":[{\"name\":\"_d\",\"transform\":\"day\",\"source-id\":1}]}");

    (void)state;
    assert_null(m->uuid);
    assert_int_equal(m->spec_count, 1);
    assert_int_equal(m->spec_ids[0], 0);
    assert_int_equal(m->spec_field_count, 1);
    assert_int_equal(m->spec_fields[0].spec_id, 0);
    assert_string_equal(m->spec_fields[0].name, "_d");
    assert_true(ebb_str_is_equal(m->schema_json, EBB_STR("{\"fields\":[]}")));
    assert_true(ebb_str_has_prefix(m->spec_json, EBB_STR("[{\"name\":\"_d\"")));
    assert_null(m->sort_order_json.p);
    ebb_metadata_free(m);
    m = good("{\"format-version\":1,\"location\":\"/t\",\"last-updated-ms\":1,\"partition-spec\":[{\"name\":\"x\","
             "\"transform\":\"day\"}],\"partition-specs\":[{\"spec-id\":4,\"fields\":[{\"name\":\"y\",\"transform\":"
             "\"day\"}]}],"
             "\"default-spec-id\":4}");
    assert_int_equal(m->spec_field_count, 1);
    assert_string_equal(m->spec_fields[0].name, "y");
    assert_int_equal(m->default_spec_id, 4);
    assert_true(ebb_str_has_prefix(m->spec_json, EBB_STR("{\"spec-id\":4")));
    ebb_metadata_free(m);
}

static void test_location(void **state)
{
    static const char *const CASES[][2] = {
        {"s3://b/t", "s3://b/t"},
        {"s3://b/t/", "s3://b/t"},
        {"s3://b/t//", "s3://b/t/"},
        {"/", "/"},
        {"file:///", "file:///"},
        {"file:/", "file:/"},
        {"s3://", "s3://"},
        {"file:/a/", "file:/a"},
        {"file:///a/", "file:///a"},
        {"s3://b/", "s3://b"},
        {"rel/", "rel"},
        {"a b/%2F/", "a b/%2F"},
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct ebb_metadata *m;

        snprintf(text, sizeof text,
                 "{\"format-version\":1,\"location\":\"%s\",\"last-updated-ms\":1,\"partition-spec\":[]}", CASES[i][0]);
        m = good(text);
        assert_string_equal(m->location, CASES[i][1]);
        ebb_metadata_free(m);
    }
    bad("{\"format-version\":1,\"location\":\"\",\"last-updated-ms\":1,\"partition-spec\":[]}");
    bad("{\"format-version\":1,\"location\":null,\"last-updated-ms\":1,\"partition-spec\":[]}");
    bad("{\"format-version\":1,\"location\":\"a\\u0000\",\"last-updated-ms\":1,\"partition-spec\":[]}");
    bad("{\"format-version\":1,\"table-uuid\":\"\",\"location\":\"x\",\"last-updated-ms\":1,\"partition-spec\":[]}");
    bad("{\"format-version\":1,\"table-uuid\":\"a\\nb\",\"location\":\"x\",\"last-updated-ms\":1,\"partition-spec\":[]"
        "}");
}

/* Case OW5 */
static void test_gc_enabled(void **state)
{
    static const char *const OFF[] = {"FALSE", "False", " false", "0", "no", "", " true", "true "};
    static const char *const ON[] = {"true", "TRUE", "True"};
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof OFF / sizeof OFF[0] + sizeof ON / sizeof ON[0]; i++) {
        bool on = i >= sizeof OFF / sizeof OFF[0];
        const char *value = on ? ON[i - sizeof OFF / sizeof OFF[0]] : OFF[i];
        struct ebb_metadata *m;

        snprintf(text, sizeof text, V2 ",\"properties\":{\"gc.enabled\":\"%s\"}}", value);
        m = good(text);
        assert_int_equal(ebb_metadata_is_gc_enabled(m), on);
        ebb_metadata_free(m);
    }
}

/* gzip of text; the caller frees. */
static unsigned char *zip(const char *text, size_t n, size_t *zipped)
{
    size_t room = n + 1024;
    unsigned char *out = malloc(room);
    z_stream z;

    memset(&z, 0, sizeof z);
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *zipped = z.total_out;
    deflateEnd(&z);
    return out;
}

static void test_gzip(void **state)
{
    struct ebb_metadata *m;
    struct ebb_err err;
    size_t n;
    unsigned char *bytes = zip(FULL, sizeof FULL - 1, &n);

    (void)state;
    assert_int_equal(parse_n("v2.gz.metadata.json", bytes, n, &m, &err), 0);
    check_snapshots(m);
    ebb_metadata_free(m);
    assert_int_equal(parse_n("v2.metadata.json", bytes, n, &m, &err), 0);
    ebb_metadata_free(m);
    assert_int_equal(parse_n("v2.gz.metadata.json", FULL, sizeof FULL - 1, &m, &err), -EBB_EMETADATA);
    assert_int_equal(parse_n("v2.metadata.json.gz", "", 0, &m, &err), -EBB_EMETADATA);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(parse_n("v2.gz.metadata.json", bytes, i, &m, &err), -EBB_EMETADATA);
    bytes[n] = 'x';
    assert_int_equal(parse_n("v2.gz.metadata.json", bytes, n + 1, &m, &err), -EBB_EMETADATA);
    bytes[n - 5] ^= 1; /* of the checksum */
    assert_int_equal(parse_n("v2.gz.metadata.json", bytes, n, &m, &err), -EBB_EMETADATA);
    free(bytes);
}

static void test_gzip_members(void **state)
{
    struct ebb_metadata *m;
    struct ebb_err err;
    size_t n, rest;
    unsigned char *first = zip(FULL, 100, &n), *second = zip(FULL + 100, sizeof FULL - 1 - 100, &rest);
    unsigned char *both = malloc(n + rest);

    (void)state;
    memcpy(both, first, n);
    memcpy(both + n, second, rest);
    assert_int_equal(parse_n("v2.gz.metadata.json", both, n + rest, &m, &err), 0);
    check_lists(m);
    ebb_metadata_free(m);
    free(first);
    free(second);
    free(both);
}

static int identify(const void *bytes, size_t n, struct ebb_arena *arena, struct ebb_metadata_identity *out)
{
    char *exact = malloc(n ? n : 1);
    struct ebb_err err;
    int rc;

    memcpy(exact, bytes, n);
    rc = ebb_metadata_identify("x.metadata.json", exact, n, arena, out, &err);
    free(exact);
    return rc;
}

static void test_identity(void **state)
{
    struct ebb_metadata_identity id;
    struct ebb_arena arena;
    size_t n = sizeof FULL - 1;
    size_t uuid_end = (size_t)(strstr(FULL, "2E77\"") + 5 - FULL);
    size_t updated_end = (size_t)(strstr(FULL, ",\"last-column-id") - FULL);

    (void)state;
    ebb_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i <= n; i++) {
        int rc = identify(FULL, i, &arena, &id);

        assert_int_equal(rc, i < uuid_end ? -EBB_EMETADATA : 0);
        assert_int_equal(id.is_cut, i < n);
        if (rc)
            continue;
        assert_string_equal(id.uuid, UUID);
        assert_true(id.last_updated_ms == (i > updated_end ? 1767225600000 : 0)); /* no number that may be cut */
    }
    assert_string_equal(id.location, "s3://lake/wh/orders");
    ebb_arena_fini(&arena);
}

static void test_identity_of_odd_files(void **state)
{
    struct ebb_metadata_identity id;
    struct ebb_arena arena;

    (void)state;
    ebb_arena_init(&arena, 1 << 20);
    assert_int_equal(identify("{}", 2, &arena, &id), -EBB_EMETADATA);
    assert_int_equal(identify("[]", 2, &arena, &id), -EBB_EMETADATA);
    assert_int_equal(identify("hello", 5, &arena, &id), -EBB_EMETADATA);
    assert_int_equal(identify("", 0, &arena, &id), -EBB_EMETADATA);
    assert_int_equal(identify("{\"location\":\"a/\"}", 17, &arena, &id), 0);
    assert_null(id.uuid);
    assert_string_equal(id.location, "a");
    assert_false(id.is_cut);
    assert_int_equal(identify("{\"location\":\"a\",", 16, &arena, &id), 0); /* a uuid may follow */
    assert_true(id.is_cut);
    assert_int_equal(identify("{\"table-uuid\":\"U\",#", 19, &arena, &id), 0); /* damaged behind its uuid */
    assert_string_equal(id.uuid, "u");
    assert_true(id.is_cut);
    assert_int_equal(identify("{\"location\":\"a\",#", 17, &arena, &id), -EBB_EMETADATA);
    assert_int_equal(identify("{\"format-version\":9,\"table-uuid\":\"U\"}", 37, &arena, &id), 0);
    ebb_arena_fini(&arena);
}

static void test_identity_of_gzip(void **state)
{
    struct ebb_metadata_identity id;
    struct ebb_arena arena;
    size_t n, known = 0;
    unsigned char *bytes = zip(FULL, sizeof FULL - 1, &n);

    (void)state;
    ebb_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i <= n; i++) {
        int rc = identify(bytes, i, &arena, &id);

        assert_true(i < 2 || id.is_cut == (i < n));
        assert_true(rc == 0 || !known); /* more bytes never know less */
        if (!rc)
            assert_string_equal(id.uuid, UUID);
        known += !rc;
    }
    assert_true(known > n / 4);
    free(bytes);
    ebb_arena_fini(&arena);
}

static void test_names(void **state)
{
    bool gz;

    (void)state;
    assert_true(ebb_metadata_is_name("v1.metadata.json", &gz));
    assert_false(gz);
    assert_true(ebb_metadata_is_name("s3://b/t/metadata/00012-9f.gz.metadata.json", &gz));
    assert_true(gz);
    assert_true(ebb_metadata_is_name("v1.metadata.json.gz", &gz));
    assert_true(gz);
    assert_true(ebb_metadata_is_name("/a.gz.metadata.json/v3.metadata.json", &gz));
    assert_false(gz);
    assert_false(ebb_metadata_is_name("v1.metadata.json.crc", &gz));
    assert_false(gz);
    assert_false(ebb_metadata_is_name("v1.metadata.jsonx", NULL));
    assert_false(ebb_metadata_is_name("metadata.json", NULL));
    assert_false(ebb_metadata_is_name("x.metadata.json/part-0.parquet", NULL));
    assert_false(ebb_metadata_is_name("", &gz));
    assert_false(gz);
}

/* Many small things in a small text must fit the bound of the arena. */
static void test_dense(void **state)
{
    struct ebb_buf b;
    struct ebb_metadata *m;

    (void)state;
    ebb_buf_init(&b, SIZE_MAX);
    ebb_buf_puts(&b, V1 ",\"properties\":{");
    for (int i = 0; i < 50000; i++)
        ebb_buf_printf(&b, "%s\"%x\":\"\"", i ? "," : "", i);
    ebb_buf_puts(&b, "},\"snapshots\":[");
    for (int i = 0; i < 20000; i++)
        ebb_buf_printf(&b, "%s{\"snapshot-id\":%d,\"timestamp-ms\":1,\"manifests\":[\"a\",\"b\",\"c\"]}", i ? "," : "",
                       i);
    ebb_buf_puts(&b, "]}");
    m = good(ebb_buf_cstr(&b));
    assert_int_equal(m->snapshot_count, 20000);
    assert_int_equal(m->property_count, 50000);
    for (int64_t i = 0; i < 20000; i++)
        assert_ptr_equal(ebb_metadata_snapshot(m, i), &m->snapshots[i]);
    ebb_metadata_free(m);
    ebb_buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_required),
        cmocka_unit_test(test_repeated_keys),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_v1_manifests),
        cmocka_unit_test(test_current_and_refs),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_encrypted),
        cmocka_unit_test(test_v1_fallback),
        cmocka_unit_test(test_location),
        cmocka_unit_test(test_gc_enabled),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_gzip_members),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_identity_of_odd_files),
        cmocka_unit_test(test_identity_of_gzip),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_dense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
