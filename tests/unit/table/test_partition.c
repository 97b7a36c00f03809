/* SPDX-License-Identifier: Apache-2.0
 *
 * Partition values as Iceberg writes them into paths: the specification's result types, Java's texts, URL encoding.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "table/partition_priv.h"

struct number_case {
    const char *transform, *type;
    int64_t number;
    const char *text;
};

static const struct number_case NUMBERS[] = {
    {"identity", "int", -7, "p=-7"},
    {"identity", "long", INT64_MIN, "p=-9223372036854775808"},
    {"bucket[16]", "string", 15, "p=15"},
    {"truncate[10]", "int", 30, "p=30"},
    {"year", "date", 47, "p=2017"},
    {"year", "timestamp", -1, "p=1969"},
    {"month", "date", 574, "p=2017-11"},
    {"month", "timestamptz", -1, "p=1969-12"},
    {"day", "timestamp", 17501, "p=2017-12-01"},
    {"day", "date", -1, "p=1969-12-31"},
    {"hour", "timestamp", 420034, "p=2017-12-01-10"},
    {"hour", "timestamptz", -1, "p=1969-12-31-23"},
    {"identity", "date", 17501, "p=2017-12-01"},
    {"identity", "date", 0, "p=1970-01-01"},
    {"identity", "time", 36775038194, "p=10%3A12%3A55.038194"},
    {"identity", "time", 0, "p=00%3A00"},
    {"identity", "timestamp", 1512151975038194, "p=2017-12-01T18%3A12%3A55.038194"},
    {"identity", "timestamptz", 1512151975038194, "p=2017-12-01T18%3A12%3A55.038194Z"},
    {"identity", "timestamptz", 1512151975000000, "p=2017-12-01T18%3A12%3A55Z"},
    {"identity", "timestamptz", 1512151975500000, "p=2017-12-01T18%3A12%3A55.500Z"},
    {"identity", "timestamp", 1512151920000000, "p=2017-12-01T18%3A12"},
    {"identity", "timestamp", -1, "p=1969-12-31T23%3A59%3A59.999999"},
    {"identity", "timestamp_ns", 1512151975038194001, "p=2017-12-01T18%3A12%3A55.038194001"},
    {"identity", "timestamptz_ns", 1512151975038194000, "p=2017-12-01T18%3A12%3A55.038194Z"},
};

static void expect(const char *transform, const char *type, const struct ebb_avro_value *value, const char *text)
{
    struct ebb__partition_field f = {.name = "p"};
    struct ebb_buf out;
    bool ok;

    if (!ebb__partition_kind_of(transform, type, &f))
        fail_msg("%s of %s is not known", transform, type);
    ebb_buf_init(&out, 4096);
    ok = ebb__partition_put(&out, &f, value);
    if (ok != (text != NULL))
        fail_msg("%s of %s: %s was written", transform, type, ebb_buf_cstr(&out));
    if (text)
        assert_string_equal(ebb_buf_cstr(&out), text);
    ebb_buf_fini(&out);
}

static void test_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
        struct ebb_avro_value v = {true, NUMBERS[i].number, {"", 0}};

        expect(NUMBERS[i].transform, NUMBERS[i].type, &v, NUMBERS[i].text);
    }
}

static void test_a_time_that_is_none(void **state)
{
    struct ebb_avro_value v = {true, -1, {"", 0}};

    (void)state;
    expect("identity", "time", &v, NULL);
    v.number = (int64_t)86400 * 1000000;
    expect("identity", "time", &v, NULL);
}

struct bytes_case {
    const char *type;
    struct ebb_str bytes;
    const char *text;
};
#define BYTES(text)                                                                                                    \
    {                                                                                                                  \
        text, sizeof(text) - 1                                                                                         \
    }

static const struct bytes_case TEXTS[] = {
    {"string", BYTES("eu"), "p=eu"},
    {"string", BYTES(""), "p="},
    {"string", BYTES("a b/c=d%e+f~g*h_i-j.k"), "p=a+b%2Fc%3Dd%25e%2Bf%7Eg*h_i-j.k"},
    {"string", BYTES("caf\xc3\xa9"), "p=caf%C3%A9"},
    {"boolean", BYTES("\1"), "p=true"},
    {"boolean", BYTES("\0"), "p=false"},
    {"boolean", BYTES(""), NULL},
    {"uuid", BYTES("\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7"),
     "p=f79c3e09-677c-4bbd-a479-3f349cb785e7"},
    {"uuid", BYTES("short"), NULL},
    {"binary", BYTES("\xff\xfe"), "p=%2F%2F4%3D"},
    {"fixed[3]", BYTES("abc"), "p=YWJj"},
    {"decimal(9, 2)", BYTES("\x05\xae"), "p=14.54"},
    {"decimal(9,2)", BYTES("\xff\xff\xff\xff"), "p=-0.01"},
    {"decimal(9, 2)", BYTES("\x00"), "p=0.00"},
    {"decimal(9, 0)", BYTES("\x00\x80"), "p=128"},
    {"decimal(9, 2)", BYTES("\x80"), "p=-1.28"},
    {"decimal(38, 10)", BYTES("\x01"), "p=1E-10"},
    {"decimal(38, 10)", BYTES("\x0c"), "p=1.2E-9"},
    {"decimal(38, 6)", BYTES("\x01"), "p=0.000001"},
    {"decimal(38, 0)", BYTES("\x4b\x3b\x4c\xa8\x5a\x86\xc4\x7a\x09\x8a\x22\x3f\xff\xff\xff\xff"),
     "p=99999999999999999999999999999999999999"},
    {"decimal(38, 0)", BYTES("12345678901234567"), NULL},
    {"decimal(9, 2)", BYTES(""), NULL},
    {"float", BYTES("\xcd\xcc\xcc\x3d"), "p=0.1"},
    {"double", BYTES("\x9a\x99\x99\x99\x99\x99\xb9\x3f"), "p=0.1"},
    {"double", BYTES("\xcd\xcc\xcc\x3d"), "p=0.10000000149011612"},
    {"double", BYTES("\0\0\0\0\0\0\xf0\x3f"), "p=1.0"},
    {"double", BYTES("\0\0\0\0\0\0\0\x80"), "p=-0.0"},
    {"double", BYTES("\0\0\0\0\xd0\x12\x63\x41"), "p=1.0E7"},
    {"double", BYTES("\0\0\0\0\x80\x84\x2e\x41"), "p=1000000.0"},
    {"double", BYTES("\x2d\x43\x1c\xeb\xe2\x36\x1a\x3f"), "p=1.0E-4"},
    {"double", BYTES("\xfc\xa9\xf1\xd2\x4d\x62\x50\x3f"), "p=0.001"},
    {"double", BYTES("\0\0\0\0\0\0\xf0\x7f"), "p=Infinity"},
    {"double", BYTES("\0\0\0\0\0\0\xf8\x7f"), "p=NaN"},
    {"double", BYTES("abc"), NULL},
};

static void test_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        struct ebb_avro_value v = {true, 0, TEXTS[i].bytes};

        expect("identity", TEXTS[i].type, &v, TEXTS[i].text);
    }
}

static void test_null_and_void(void **state)
{
    struct ebb_avro_value null = {false, 0, {"", 0}}, value = {true, 5, {"x", 1}};

    (void)state;
    expect("identity", "string", &null, "p=null");
    expect("day", "timestamp", &null, "p=null");
    expect("void", "string", &value, "p=null");
}

static void test_names_are_encoded(void **state)
{
    struct ebb__partition_field f = {.name = "my col/1", .kind = EBB__PARTITION_NUMBER};
    struct ebb_avro_value v = {true, 1, {"", 0}};
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 4096);
    assert_true(ebb__partition_put(&out, &f, &v));
    assert_string_equal(ebb_buf_cstr(&out), "my+col%2F1=1");
    ebb_buf_fini(&out);
}

static void test_what_is_not_known(void **state)
{
    static const char *const CASES[][2] = {{"zorder", "int"},
                                           {"identity", NULL},
                                           {"identity", "variant"},
                                           {"identity", "decimal(x)"},
                                           {"identity", "decimal(39, 2)"},
                                           {"truncate[2]", NULL},
                                           {"identity", "decimal(9, 10)"},
                                           {"identity", "decimal(9, 2) x"}};
    struct ebb__partition_field f = {.name = "p"};

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        if (ebb__partition_kind_of(CASES[i][0], CASES[i][1], &f))
            fail_msg("%s of %s is known", CASES[i][0], CASES[i][1] ? CASES[i][1] : "nothing");
}

static const char METADATA[] =
    "{\"format-version\":2,\"table-uuid\":\"11111111-2222-4333-8444-555555555555\",\"location\":\"/t\","
    "\"last-updated-ms\":1,\"last-sequence-number\":0,\"current-schema-id\":1,\"default-spec-id\":1,\"schemas\":["
    "{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"a\",\"required\":true,\"type\":\"int\"},"
    "{\"id\":2,\"name\":\"gone\",\"required\":true,\"type\":\"date\"},{\"id\":3,\"name\":\"s\",\"required\":true,"
    "\"type\":{\"type\":\"struct\",\"fields\":[{\"id\":4,\"name\":\"in\",\"required\":true,\"type\":\"uuid\"}]}}]},"
    "{\"type\":\"struct\",\"schema-id\":1,\"fields\":[{\"type\":\"long\",\"id\":1,\"name\":\"a\",\"required\":true}]}],"
    "\"partition-specs\":[{\"spec-id\":0,\"fields\":[]},{\"spec-id\":1,\"fields\":["
    "{\"source-id\":1,\"field-id\":1000,\"name\":\"a\",\"transform\":\"identity\"},"
    "{\"source-id\":2,\"field-id\":1001,\"name\":\"gone\",\"transform\":\"identity\"},"
    "{\"source-id\":4,\"field-id\":1002,\"name\":\"in\",\"transform\":\"identity\"}]},"
    "{\"spec-id\":2,\"fields\":[{\"source-id\":9,\"field-id\":1003,\"name\":\"x\",\"transform\":\"identity\"}]},"
    "{\"spec-id\":3,\"fields\":[{\"source-id\":9,\"field-id\":1004,\"name\":\"b\",\"transform\":\"bucket[4]\"}]}],"
    "\"snapshots\":[]}";

static void test_specs_of_a_table(void **state)
{
    struct ebb__partition_specs specs;
    const struct ebb__partition_spec *spec;
    struct ebb_metadata *m = NULL;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_metadata_parse("m", METADATA, sizeof METADATA - 1, &m, &err), 0);
    assert_int_equal(ebb__partition_specs_init(&specs, m, &err), 0);
    spec = ebb__partition_specs_find(&specs, 0);
    assert_true(spec->is_known);
    assert_int_equal(spec->count, 0);
    spec = ebb__partition_specs_find(&specs, 1);
    assert_true(spec->is_known);
    assert_int_equal(spec->count, 3);
    assert_int_equal(specs.fields[spec->first].kind, EBB__PARTITION_NUMBER);
    assert_int_equal(specs.fields[spec->first + 1].kind, EBB__PARTITION_DATE); /* its column is in an older schema */
    assert_int_equal(specs.fields[spec->first + 2].kind, EBB__PARTITION_UUID); /* and this one inside another */
    assert_int_equal(specs.fields[spec->first + 2].field_id, 1002);
    assert_false(ebb__partition_specs_find(&specs, 2)->is_known);
    assert_true(ebb__partition_specs_find(&specs, 3)->is_known); /* a bucket is a number, whatever of */
    assert_null(ebb__partition_specs_find(&specs, 4));
    ebb__partition_specs_fini(&specs);
    ebb_metadata_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_a_time_that_is_none),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_null_and_void),
        cmocka_unit_test(test_names_are_encoded),
        cmocka_unit_test(test_what_is_not_known),
        cmocka_unit_test(test_specs_of_a_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
