/* SPDX-License-Identifier: Apache-2.0
 *
 * Metadata files as Spark and PyIceberg wrote them; the numbers were counted by another program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "format/metadata.h"

struct fact {
    const char *file;
    int version;
    const char *uuid, *location;
    int64_t current;
    size_t snapshots, refs, statistics, log, properties, specs, fields;
    const char *list, *operation; /* of the current snapshot */
};

static size_t load(const char *name, char *bytes, size_t room)
{
    char path[4096];
    FILE *f;
    size_t n;

    snprintf(path, sizeof path, "%s/tests/fixtures/metadata/%s", EBB_SOURCE_DIR, name);
    f = fopen(path, "rb");
    assert_non_null(f);
    n = fread(bytes, 1, room, f);
    assert_true(feof(f));
    fclose(f);
    return n;
}

static void check(const struct fact *fact)
{
    static char bytes[1 << 16];
    size_t n = load(fact->file, bytes, sizeof bytes);
    struct ebb_metadata *m;
    struct ebb_err err;
    const struct ebb_snapshot *s;

    if (ebb_metadata_parse(fact->file, bytes, n, &m, &err))
        fail_msg("%s", err.message);
    assert_int_equal(m->format_version, fact->version);
    assert_string_equal(m->uuid, fact->uuid);
    assert_string_equal(m->location, fact->location);
    assert_true(m->has_current_snapshot && m->current_snapshot_id == fact->current);
    assert_int_equal(m->snapshot_count, fact->snapshots);
    assert_int_equal(m->ref_count, fact->refs);
    assert_int_equal(m->statistics_count, fact->statistics);
    assert_int_equal(m->metadata_log_count, fact->log);
    assert_int_equal(m->property_count, fact->properties);
    assert_int_equal(m->spec_count, fact->specs);
    assert_int_equal(m->spec_field_count, fact->fields);
    s = ebb_metadata_snapshot(m, fact->current);
    assert_non_null(s);
    assert_string_equal(s->manifest_list, fact->list);
    assert_string_equal(s->operation, fact->operation);
    assert_true(m->schema_json.n && m->spec_json.n && m->sort_order_json.n);
    ebb_metadata_free(m);
}

static void test_real_files(void **state)
{
    static const struct fact FACTS[] = {
        {"pyiceberg-v1.metadata.json", 1, "a854db51-17df-44e3-a90b-d43d568d1aba",
         "file:///ebb/wh/c40-pyiceberg-v1/py2/events", 5428260216144802816, 8, 1, 0, 2, 2, 1, 1,
         "file:///ebb/wh/c40-pyiceberg-v1/py2/events/metadata/"
         "snap-5428260216144802816-0-675c5ae0-623d-481a-8902-79ae23686f45.avro",
         "append"},
        {"spark-evolution.metadata.json", 2, "5dd17560-23e7-4d00-9271-0c06f3474e7b",
         "file:/ebb/wh/c20-evolution/db/evo", 553324200859780685, 4, 1, 0, 11, 3, 5, 10,
         "file:/ebb/wh/c20-evolution/db/evo/metadata/"
         "snap-553324200859780685-1-777680d2-a1d9-4d22-adb2-9ba8a7b36353.avro",
         "append"},
        {"spark-partition-statistics.metadata.json", 2, "add4e90d-2e49-44c3-b0e7-b701196a4141",
         "file:/ebb/wh/c07-partition-stats/db/ps", 6676130539499134729, 2, 1, 2, 4, 2, 1, 1,
         "file:/ebb/wh/c07-partition-stats/db/ps/metadata/"
         "snap-6676130539499134729-1-c6931a0d-4d36-4e4a-a0dc-a34f213b478d.avro",
         "append"},
        {"spark-statistics.metadata.json", 2, "63c6c603-a483-48a9-89b0-c119c7ffd205",
         "file:/ebb/wh/c06-table-stats/db/st", 8450368389165063462, 2, 1, 2, 5, 2, 1, 1,
         "file:/ebb/wh/c06-table-stats/db/st/metadata/"
         "snap-8450368389165063462-1-ad7da66d-0532-4217-bc56-5db86097dda2.avro",
         "append"},
        {"spark-v1.metadata.json", 1, "200b9f1e-03af-411f-92d2-57d1a90769bb", "file:/ebb/wh/c01-v1-basic/db/t",
         3020812901749949598, 5, 1, 0, 5, 2, 1, 1,
         "file:/ebb/wh/c01-v1-basic/db/t/metadata/snap-3020812901749949598-1-f21ee69e-c1f4-47ea-92d9-9a7d9073de0c.avro",
         "overwrite"},
        {"spark-v2.gz.metadata.json", 2, "a70fca25-e808-4841-a4e7-a46ad28778df", "file:/ebb/wh/c05-gzip-metadata/db/gz",
         606840471881294500, 2, 1, 0, 2, 3, 1, 1,
         "file:/ebb/wh/c05-gzip-metadata/db/gz/metadata/"
         "snap-606840471881294500-1-812e30b3-1004-45dd-ae6a-d93125c1cc7b.avro",
         "append"},
        {"spark-v3.metadata.json", 3, "a3845a9d-e757-4347-82d9-847592f4d149", "file:/ebb/wh/c04-v3-dv/db/dv",
         6739782244720621237, 5, 1, 0, 5, 5, 1, 1,
         "file:/ebb/wh/c04-v3-dv/db/dv/metadata/snap-6739782244720621237-1-4024f1cb-31f9-41d6-aad4-b98fdac79fb9.avro",
         "overwrite"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof FACTS / sizeof FACTS[0]; i++)
        check(&FACTS[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_real_files)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
