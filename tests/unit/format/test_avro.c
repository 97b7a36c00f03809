/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "avro_help.h"

#define MAX ((size_t)1 << 24)
#define WANT_INT(id, name)                                                                                             \
    {                                                                                                                  \
        {id, 0, 0}, {name, NULL, NULL}, EBB_AVRO_INT, true                                                             \
    }
#define WANT_BYTES(id, name)                                                                                           \
    {                                                                                                                  \
        {id, 0, 0}, {name, NULL, NULL}, EBB_AVRO_BYTES, true                                                           \
    }
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What the rows said: "5 abc - +\n" for a number, bytes, unset, present. */
struct rows {
    const struct ebb_avro_want *wants;
    size_t want_count;
    struct ebb_buf text;
};

static int note_row(void *data, const struct ebb_avro_value *row, struct ebb_err *err)
{
    struct rows *r = data;

    (void)err;
    for (size_t i = 0; i < r->want_count; i++) {
        if (i)
            ebb_buf_putc(&r->text, ' ');
        if (!row[i].is_set)
            ebb_buf_putc(&r->text, '-');
        else if (r->wants[i].type == EBB_AVRO_PRESENT)
            ebb_buf_putc(&r->text, '+');
        else if (r->wants[i].type == EBB_AVRO_INT)
            ebb_buf_printf(&r->text, "%lld", (long long)row[i].number);
        else
            ebb_buf_add_str(&r->text, row[i].bytes);
        if (!row[i].is_set)
            assert_true(row[i].number == 0 && row[i].bytes.n == 0);
    }
    ebb_buf_putc(&r->text, '\n');
    return 0;
}

/* Read a container; on success *text is what the rows said. */
static int read_file(struct ebb_avro_reader *reader, struct ebb_str file, const struct ebb_avro_want *wants,
                     size_t want_count, struct ebb_buf *text, struct ebb_err *err)
{
    struct rows r = {.wants = wants, .want_count = want_count};
    char *exact = malloc(file.n + 1); /* so that reading past it is seen */
    int rc;

    assert_non_null(exact);
    exact = realloc(exact, file.n ? file.n : 1);
    assert_non_null(exact);
    memcpy(exact, file.p, file.n);
    ebb_buf_init(&r.text, MAX);
    memset(err, 0, sizeof *err);
    rc = ebb_avro_read(reader, "test.avro", exact, file.n, wants, want_count, NULL, note_row, &r, err);
    assert_int_equal(rc, -(int)err->error);
    ebb_buf_append(text, r.text.data, r.text.len);
    ebb_buf_fini(&r.text);
    free(exact);
    return rc;
}

/* One block of rows with this schema must give these lines, or with lines NULL the error with that text. */
static void check(const char *schema, const struct ebb_avro_want *wants, size_t want_count,
                  const struct ebb_buf *payload, int64_t rows, const char *lines, const char *error)
{
    struct ebb_avro_reader *reader;
    struct ebb_buf file, text;
    struct ebb_err err;
    int rc;

    assert_int_equal(ebb_avro_reader_new(&reader, NULL), 0);
    ebb_buf_init(&file, MAX);
    ebb_buf_init(&text, MAX);
    put_header(&file, schema, NULL, NULL);
    if (payload)
        put_block(&file, NULL, rows, payload);
    rc = read_file(reader, ebb_buf_str(&file), wants, want_count, &text, &err);
    if (lines) {
        assert_string_equal(rc ? err.message : "", "");
        assert_string_equal(ebb_buf_cstr(&text), lines);
    } else {
        assert_int_not_equal(rc, 0);
        assert_true(err.error == EBB_ECORRUPT || err.error == EBB_ELIMIT);
        assert_non_null(strstr(err.message, "test.avro"));
        if (!strstr(err.message, error))
            fail_msg("\"%s\" does not say \"%s\"", err.message, error);
    }
    ebb_buf_fini(&text);
    ebb_buf_fini(&file);
    ebb_avro_reader_free(reader);
}

#define REC(fields) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[" fields "]}"
#define FIELD(id, name, type) "{\"name\":\"" name "\",\"field-id\":" #id ",\"type\":" type "}"
#define LAST FIELD(9, "last", "\"int\"")

static const struct ebb_avro_want WANT_LAST[] = {WANT_INT(9, "last")};

/* A skipped field of this type and bytes, then last = 7; twice, so that the position after is proven. */
static void check_skip(const char *type, const struct ebb_buf *value, const char *error)
{
    struct ebb_buf schema, payload;

    ebb_buf_init(&schema, MAX);
    ebb_buf_init(&payload, MAX);
    ebb_buf_printf(&schema, "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"x\",\"type\":%s},%s]}", type,
                   LAST);
    for (int i = 0; i < 2; i++) {
        ebb_buf_append(&payload, value->data, value->len);
        put_long(&payload, 7);
    }
    check(ebb_buf_cstr(&schema), WANT_LAST, 1, &payload, 2, error ? NULL : "7\n7\n", error);
    ebb_buf_fini(&payload);
    ebb_buf_fini(&schema);
}

static void check_skip_raw(const char *type, const char *bytes, size_t n, const char *error)
{
    struct ebb_buf value;

    ebb_buf_init(&value, MAX);
    ebb_buf_append(&value, bytes, n);
    check_skip(type, &value, error);
    ebb_buf_fini(&value);
}

#define SKIP(type, bytes) check_skip_raw(type, bytes, sizeof(bytes) - 1, NULL)
#define REFUSE(type, bytes, error) check_skip_raw(type, bytes, sizeof(bytes) - 1, error)

/* Avro 1.11, "Binary encoding". */
static void numbers_are_zigzag_varints(void **state)
{
    static const struct ebb_avro_want want[] = {WANT_INT(1, "n")};
    static const int64_t values[] = {0,
                                     -1,
                                     1,
                                     -2,
                                     2,
                                     -64,
                                     64,
                                     8191,
                                     -8192,
                                     1 << 20,
                                     -(1 << 27),
                                     INT32_MAX,
                                     INT32_MIN,
                                     (int64_t)1 << 34,
                                     -((int64_t)1 << 48),
                                     ((int64_t)1 << 55) - 1,
                                     (int64_t)1 << 55,
                                     (int64_t)1 << 56,
                                     INT64_C(7301987312340117781),
                                     INT64_MAX,
                                     INT64_MIN};
    struct ebb_buf payload, lines;

    (void)state;
    ebb_buf_init(&payload, MAX);
    ebb_buf_init(&lines, MAX);
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < COUNT(values); i++) {
            put_long(&payload, values[i]);
            ebb_buf_printf(&lines, "%lld\n", (long long)values[i]);
        }
    check(REC(FIELD(1, "n", "\"long\"")), want, 1, &payload, 2 * (int64_t)COUNT(values), ebb_buf_cstr(&lines), NULL);
    ebb_buf_fini(&payload);
    ebb_buf_fini(&lines);
}

static void numbers_that_are_too_long_are_refused(void **state)
{
    (void)state;
    SKIP("\"int\"", "\xff\xff\xff\xff\x0f");
    SKIP("\"int\"", "\x80\x80\x80\x80\x00");
    REFUSE("\"int\"", "\xff\xff\xff\xff\x1f", "too long");
    REFUSE("\"int\"", "\x80\x80\x80\x80\x80\x00", "too long");
    REFUSE("\"int\"", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", "too long");
    SKIP("\"long\"", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    REFUSE("\"long\"", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "too long");
    REFUSE("\"long\"", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", "too long");
    REFUSE("\"long\"", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",
           "too long");
}

static void skipped_types_have_their_length(void **state)
{
    (void)state;
    SKIP("\"null\"", "");
    SKIP("\"boolean\"", "\1");
    REFUSE("\"boolean\"", "\2", "boolean");
    SKIP("\"float\"", "\xff\xff\xff\xff");
    SKIP("\"double\"", "\xff\xff\xff\xff\xff\xff\xff\xff");
    SKIP("\"string\"", "\6abc");
    SKIP("\"bytes\"", "\0");
    SKIP("{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}", "\x80\1");
    SKIP("{\"type\":{\"type\":\"int\"}}", "\2");
    SKIP("{\"type\":\"fixed\",\"name\":\"f\",\"size\":3}", "abc");
    SKIP("{\"type\":\"fixed\",\"name\":\"f\",\"size\":0}", "");
    SKIP("{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\",\"B\"]}", "\2");
    REFUSE("{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\",\"B\"]}", "\4", "enum");
    REFUSE("{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\",\"B\"]}", "\1", "enum");
    SKIP("{\"name\":\"q\",\"fields\":[],\"type\":\"record\"}", "");
    SKIP("{\"name\":\"q\",\"type\":\"record\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"b\",\"type\":"
         "\"string\"}]}",
         "\2\2x");
    REFUSE("\"string\"", "\1", "negative");
    REFUSE("\"string\"", "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", "past the end");
    REFUSE("{\"type\":\"fixed\",\"name\":\"f\",\"size\":2147483647}", "abc", "cannot be in");
}

static void unions_have_any_number_of_branches(void **state)
{
    static const char *three = "[\"null\",\"string\",{\"type\":\"fixed\",\"name\":\"f\",\"size\":2}]";

    (void)state;
    SKIP("[\"null\",\"string\"]", "\0");
    SKIP("[\"null\",\"string\"]", "\2\2a");
    SKIP("[\"string\",\"null\"]", "\2");
    SKIP("[\"string\",\"null\"]", "\0\2a");
    SKIP("[\"string\"]", "\0\2a");
    SKIP("[\"null\"]", "\0");
    SKIP("[\"int\",\"string\"]", "\2\2a");
    SKIP(three, "\0");
    SKIP(three, "\2\2a");
    SKIP(three, "\4xy");
    SKIP("[\"null\",[\"null\",\"int\"]]", "\2\2\10");
    REFUSE(three, "\6", "branch is out of range");
    REFUSE(three, "\1", "branch is out of range");
    REFUSE("[\"null\",\"int\"]", "\4", "branch is out of range");
    REFUSE("[\"null\",\"int\"]", "\1", "branch is out of range");
    REFUSE("[\"string\"]", "\2\2a", "branch is out of range");
    REFUSE("[\"null\",\"int\"]", "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", "branch is out of range");
    REFUSE("[]", "\0", "no branches");
}

#define ARRAY(items) "{\"type\":\"array\",\"items\":" items "}"
#define MAP(values) "{\"type\":\"map\",\"values\":" values "}"
#define PAIR(key, value)                                                                                               \
    ARRAY("{\"type\":\"record\",\"name\":\"kv\",\"fields\":[{\"name\":\"key\",\"type\":" key                           \
          "},{\"name\":\"value\",\"type\":" value "}]}")

static void arrays_and_maps_come_in_blocks(void **state)
{
    (void)state;
    SKIP(ARRAY("\"boolean\""), "\0");
    SKIP(ARRAY("\"boolean\""), "\4\1\0\2\1\0");
    SKIP(ARRAY("\"boolean\""), "\3\4\1\0\0"); /* two items, stated as two bytes */
    SKIP(ARRAY("\"string\""), "\2\2a\1\4\2b\0");
    SKIP(MAP("\"long\""), "\4\2a\2\2b\x80\1\0");
    SKIP(MAP("\"long\""), "\1\6\2a\2\0");
    SKIP(ARRAY(ARRAY(MAP("\"string\""))), "\4\2\2\2a\2b\0\0\0\0");
    SKIP(PAIR("\"int\"", "\"long\""), "\4\2\4\6\x80\1\0");
    SKIP(PAIR("\"int\"", "\"long\""), "\3\10\2\4\6\2\0");
    SKIP(PAIR("\"int\"", "\"bytes\""), "\4\2\4ab\4\0\0");
    SKIP(PAIR("\"int\"", "\"bytes\""), "\1\10\2\4ab\0");
    SKIP(ARRAY("\"int\""), "\6\2\4\6\0");
    SKIP(ARRAY("\"null\""), "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\0"); /* they take no bytes */
    SKIP(ARRAY("\"null\""), "\3\0\0");
}

static void wrong_blocks_are_refused(void **state)
{
    (void)state;
    REFUSE(ARRAY("\"boolean\""), "\3\2\1\0\0", "block is wrong");
    REFUSE(ARRAY("\"boolean\""), "\3\6\1\0\0", "block is wrong");
    REFUSE(ARRAY("\"boolean\""), "\3\1\1\0\0", "block is wrong");
    REFUSE(ARRAY("\"boolean\""), "\3\x80\x80\1\1\0\0", "block is wrong");
    REFUSE(ARRAY("\"null\""), "\3\2\0\0", "block is wrong");
    REFUSE(PAIR("\"int\"", "\"long\""), "\3\6\2\4\6\2\0", "block is wrong");
    REFUSE(PAIR("\"int\"", "\"bytes\""), "\1\6\2\4ab\0", "block is wrong");
    REFUSE(PAIR("\"int\"", "\"bytes\""), "\2\2\1\0", "negative");
    REFUSE(PAIR("\"int\"", "\"long\""), "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", "past the end");
    REFUSE(ARRAY("\"boolean\""), "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", "");
    REFUSE(ARRAY("\"boolean\""), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "");
    REFUSE(MAP("\"boolean\""), "\4\2a\1", "");
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Metric maps of all lengths and numbers of all sizes, at all distances from the end of the block. */
static void metric_maps_are_skipped_exactly(void **state)
{
    uint32_t seed = 1;
    struct ebb_buf value;

    (void)state;
    ebb_buf_init(&value, MAX);
    for (int i = 0; i < 3000; i++) {
        uint32_t count = next_random(&seed) % 30;
        bool has_bytes = i % 3 == 0;

        ebb_buf_reset(&value);
        if (count)
            put_long(&value, count);
        for (uint32_t k = 0; k < count; k++) {
            put_long(&value, (int32_t)(next_random(&seed) << 8) >> next_random(&seed) % 32);
            if (has_bytes)
                put_bytes(&value, "0123456789012345678901234567890123456789012345678901234567890123456789",
                          next_random(&seed) % 70);
            else
                put_long(&value,
                         (int64_t)((uint64_t)next_random(&seed) << 40) >> next_random(&seed) % (i % 2 ? 64 : 30));
        }
        put_long(&value, 0);
        check_skip(has_bytes ? PAIR("\"int\"", "\"bytes\"") : PAIR("\"int\"", "\"long\""), &value, NULL);
    }
    ebb_buf_fini(&value);
}

/* A key of six bytes is no int, wherever it stands among the others. */
static void long_keys_in_metric_maps_are_refused(void **state)
{
    struct ebb_buf value;

    (void)state;
    ebb_buf_init(&value, MAX);
    for (int at = 0; at < 20; at++)
        for (int length = 5; length <= 12; length++) {
            ebb_buf_reset(&value);
            put_long(&value, 20);
            for (int k = 0; k < 20; k++) {
                for (int i = 1; k == at && i < length; i++)
                    ebb_buf_putc(&value, (char)0x80);
                ebb_buf_append(&value, "\0\0", 2);
            }
            put_long(&value, 0);
            check_skip(PAIR("\"int\"", "\"long\""), &value, length > 5 ? "too long" : NULL);
            check_skip(PAIR("\"long\"", "\"int\""), &value, length > 10 ? "too long" : NULL);
            check_skip(PAIR("\"int\"", "\"bytes\""), &value, length > 5 ? "too long" : NULL);
        }
    ebb_buf_fini(&value);
}

/* Five bytes hold 35 bits, an int has 32. */
static void keys_out_of_range_in_metric_maps_are_refused(void **state)
{
    struct ebb_buf value;

    (void)state;
    ebb_buf_init(&value, MAX);
    for (int at = 0; at < 20; at++)
        for (int is_over = 0; is_over < 2; is_over++) {
            ebb_buf_reset(&value);
            put_long(&value, 20);
            for (int k = 0; k < 20; k++) {
                ebb_buf_puts(&value, k != at ? "\2" : is_over ? "\xff\xff\xff\xff\x10" : "\xff\xff\xff\xff\x0f");
                ebb_buf_puts(&value, "\xff\xff\xff\xff\x10"); /* a long may be larger */
            }
            put_long(&value, 0);
            check_skip(PAIR("\"int\"", "\"long\""), &value, is_over ? "too long" : NULL);
        }
    ebb_buf_fini(&value);
}

static void wanted_fields_are_found_by_id(void **state)
{
    static const struct ebb_avro_want wants[] = {
        {{2, 100, 0}, {"d", "path", NULL}, EBB_AVRO_BYTES, true},
        {{0, 0, 0}, {"status", NULL, NULL}, EBB_AVRO_INT, true},
        {{2, 143, 0}, {"d", "ref", NULL}, EBB_AVRO_BYTES, false},
        {{2, 131, 0}, {"d", "key", NULL}, EBB_AVRO_PRESENT, false},
        {{3, 0, 0}, {"gone", NULL, NULL}, EBB_AVRO_INT, false},
        {{2, 0, 0}, {"d", NULL, NULL}, EBB_AVRO_PRESENT, false},
    };
    static const char *schema = REC(FIELD(77, "m", MAP("\"string\"")) "," FIELD(
        2, "whatever",
        REC(FIELD(143, "ref", "[\"bytes\",\"null\"]") "," FIELD(5, "path", "\"int\"") "," FIELD(
            100, "p", "\"string\"") "," FIELD(131, "key", "[\"null\"," ARRAY("\"int\"") "]"))) "," FIELD(0, "s",
                                                                                                         "\"int\""));
    struct ebb_buf payload;

    (void)state;
    ebb_buf_init(&payload, MAX);
    ebb_buf_append(&payload,
                   "\2\2k\2v\0"
                   "\0\4rr"
                   "\16"
                   "\6abc"
                   "\2\2\2\0"
                   "\4",
                   20);
    ebb_buf_append(&payload,
                   "\0"
                   "\2"
                   "\16"
                   "\4xy"
                   "\0"
                   "\2",
                   8);
    check(schema, wants, COUNT(wants), &payload, 2, "abc 2 rr + - +\nxy 1 - - - +\n", NULL);
    ebb_buf_fini(&payload);
}

static void names_count_only_without_any_id(void **state)
{
    static const struct ebb_avro_want wants[] = {WANT_INT(1, "a"),
                                                 {{2, 3, 0}, {"d", "b", NULL}, EBB_AVRO_BYTES, false}};
    struct ebb_buf payload;

    (void)state;
    ebb_buf_init(&payload, MAX);
    ebb_buf_append(&payload, "\4\2x", 3);
    check(
        REC("{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"d\",\"type\":{\"type\":\"record\",\"name\":\"q\",\"fields\":"
            "[{\"name\":\"b\",\"type\":\"string\"}]}}"),
        wants, 2, &payload, 1, "2 x\n", NULL);
    check(REC("{\"name\":\"a\",\"type\":\"int\"}," FIELD(7, "b", "\"string\"")), wants, 2, &payload, 1, NULL,
          "no field a");
    ebb_buf_fini(&payload);
}

static void unions_of_records_and_values_are_read(void **state)
{
    static const struct ebb_avro_want wants[] = {WANT_BYTES(1, "b"),
                                                 {{2, 3, 0}, {"d", "x", NULL}, EBB_AVRO_INT, false}};
    static const char *schema =
        REC(FIELD(1, "b", "[\"string\",\"null\",\"bytes\",{\"type\":\"fixed\",\"name\":\"f\",\"size\":2}]") "," FIELD(
            2, "d",
            "[\"null\",{\"type\":\"record\",\"name\":\"p\",\"fields\":[" FIELD(
                3, "x", "\"long\"") "]},"
                                    "{\"type\":\"record\",\"name\":\"q\",\"fields\":[{\"name\":\"z\",\"type\":"
                                    "\"boolean\"}," FIELD(3, "x", "\"int\"") "]}]"));
    struct ebb_buf payload;

    (void)state;
    ebb_buf_init(&payload, MAX);
    ebb_buf_append(&payload,
                   "\0\2s\2\2"
                   "\4\2b\4\1\4"
                   "\6ff\0",
                   15);
    check(schema, wants, 2, &payload, 3, "s 1\nb 2\nff -\n", NULL);
    ebb_buf_append(&payload, "\2\0", 2);
    check(schema, wants, 2, &payload, 4, NULL, "required field (b) is null");
    ebb_buf_fini(&payload);
}

static void fields_that_do_not_fit_are_refused(void **state)
{
    static const struct ebb_avro_want number[] = {WANT_INT(1, "a")}, bytes[] = {WANT_BYTES(1, "a")};
    static const struct ebb_avro_want deep[] = {{{1, 2, 0}, {"a", "b", NULL}, EBB_AVRO_INT, false}};

    (void)state;
    check(REC(FIELD(1, "a", "\"string\"")), number, 1, NULL, 0, NULL, "field a has a type that does not fit");
    check(REC(FIELD(1, "a", "\"boolean\"")), number, 1, NULL, 0, NULL, "does not fit");
    check(REC(FIELD(1, "a", "[\"null\",\"string\"]")), number, 1, NULL, 0, NULL, "does not fit");
    check(REC(FIELD(1, "a", "\"int\"")), bytes, 1, NULL, 0, NULL, "does not fit");
    check(REC(FIELD(1, "a", ARRAY("\"int\""))), bytes, 1, NULL, 0, NULL, "does not fit");
    check(REC(FIELD(1, "a", REC(""))), number, 1, NULL, 0, NULL, "does not fit");
    check(REC(FIELD(1, "a", "\"int\"")), deep, 1, NULL, 0, NULL, "must be a record");
    check(REC(FIELD(3, "a", "\"int\"")), number, 1, NULL, 0, NULL, "no field a");
    check(REC(FIELD(1, "a", "\"int\"") "," FIELD(1, "b", "\"int\"")), number, 1, NULL, 0, NULL, "occurs twice");
    check(REC(FIELD(1, "a", "\"int\"")), number, 1, NULL, 0, "", NULL);
    check(REC(FIELD(1, "a", "\"long\"")), number, 1, NULL, 0, "", NULL);
}

static void bad_schemas_are_refused(void **state)
{
    static const char *const schemas[] = {
        "",
        "{",
        "null",
        "5",
        "\"int\"",
        "[]",
        "[\"null\"]",
        "{}",
        "{\"type\":5}",
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":5}",
        "{\"type\":\"record\",\"fields\":[]}",
        REC("5"),
        REC("{\"name\":\"a\"}"),
        REC(LAST) " x",
        REC(LAST) "{}",
        REC("{\"name\":\"a\",\"type\":{\"type\":\"array\"}}"),
        REC("{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":\"f\"}}"),
        REC("{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}}"),
        REC("{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":\"f\",\"size\":9999999999}}"),
        REC("{\"name\":\"a\",\"type\":{\"type\":\"enum\",\"name\":\"f\"}}"),
        REC("{\"name\":\"a\",\"type\":{\"type\":\"enum\",\"name\":\"f\",\"symbols\":[1]}}"),
        REC("{\"name\":\"a\",\"field-id\":\"1\",\"type\":\"int\"}"),
        REC("{\"name\":\"a\",\"field-id\":1.5,\"type\":\"int\"}"),
        REC("{\"name\":\"a\",\"type\":\"array\"}"),
        REC("{\"name\":\"a\",\"type\":\"nope\"}"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(schemas); i++)
        check(schemas[i], NULL, 0, NULL, 0, NULL, "schema");
}

#define FIXED(name, more) "{\"type\":\"fixed\",\"size\":2," more "\"name\":\"" name "\"}"
#define PLAIN(name, type) "{\"name\":\"" name "\",\"type\":" type "}"

/* Avro 1.11, "Names". */
static void named_types_are_used_again(void **state)
{
    struct ebb_buf payload;

    (void)state;
    ebb_buf_init(&payload, MAX);
    ebb_buf_append(&payload, "aabb\16", 5);
    check(REC(PLAIN("x", FIXED("f", "")) "," PLAIN("y", "\"f\"") "," LAST), WANT_LAST, 1, &payload, 1, "7\n", NULL);
    check(REC(PLAIN("x", FIXED("f", "\"namespace\":\"a.b\",")) "," PLAIN("y", "\"a.b.f\"") "," LAST), WANT_LAST, 1,
          &payload, 1, "7\n", NULL);
    check(REC(PLAIN("x", FIXED("a.f", "\"namespace\":\"ignored\",")) "," PLAIN("y", "{\"type\":\"a.f\"}") "," LAST),
          WANT_LAST, 1, &payload, 1, "7\n", NULL);
    check("{\"namespace\":\"n\",\"type\":\"record\",\"name\":\"r\",\"fields\":[" PLAIN("x", FIXED("f", "")) "," PLAIN(
              "y", "\"n.f\"") "," LAST "]}",
          WANT_LAST, 1, &payload, 1, "7\n", NULL);
    check("{\"fields\":[" PLAIN("x", FIXED("f", "")) "," PLAIN("y", "\"f\"") "," LAST
                                                                             "],\"type\":\"record\",\"name\":\"n.r\"}",
          WANT_LAST, 1, &payload, 1, "7\n", NULL);
    /* a record used again, with a union, array and inner name */
    ebb_buf_reset(&payload);
    ebb_buf_append(&payload,
                   "\2\2aa\0"
                   "\2\4bbcc\0"
                   "dd\16",
                   15);
    check(
        REC(PLAIN("x", "{\"type\":\"record\",\"name\":\"m.q\",\"fields\":[" PLAIN(
                           "i", "[\"null\"," ARRAY(FIXED(
                                    "f", "")) "]") "]}") "," PLAIN("y", "\"m.q\"") "," PLAIN("z", "\"m.f\"") "," LAST),
        WANT_LAST, 1, &payload, 1, "7\n", NULL);
    ebb_buf_fini(&payload);
}

static void names_that_are_no_types_are_refused(void **state)
{
    (void)state;
    check(REC(PLAIN("y", "\"f\"") "," PLAIN("x", FIXED("f", ""))), NULL, 0, NULL, 0, NULL, "unknown type \"f\"");
    check(REC(PLAIN("x", FIXED("f", "\"namespace\":\"a\",")) "," PLAIN("y", "\"f\"")), NULL, 0, NULL, 0, NULL,
          "unknown type");
    check(REC(PLAIN("x", FIXED("f", "")) "," PLAIN("y", FIXED("f", "")) "," PLAIN("z", "\"f\"")), NULL, 0, NULL, 0,
          NULL, "\"f\" is defined twice");
    check(REC(PLAIN("x", "\"r\"")), NULL, 0, NULL, 0, NULL, "\"r\" is recursive");
    check(REC(PLAIN("x", "[\"null\"," ARRAY("\"r\"") "]")), NULL, 0, NULL, 0, NULL, "recursive");
}

/* A record used twice by each of 40 records would unfold to 2^40 types. */
static void schemas_that_unfold_without_end_are_refused(void **state)
{
    struct ebb_buf schema;

    (void)state;
    ebb_buf_init(&schema, MAX);
    ebb_buf_puts(&schema,
                 "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"record\","
                 "\"name\":\"r0\",\"fields\":[]}}");
    for (int i = 1; i < 40; i++)
        ebb_buf_printf(&schema,
                       ",{\"name\":\"a\",\"type\":{\"type\":\"record\",\"name\":\"r%d\",\"fields\":["
                       "{\"name\":\"x\",\"type\":\"r%d\"},{\"name\":\"y\",\"type\":\"r%d\"}]}}",
                       i, i - 1, i - 1);
    ebb_buf_puts(&schema, "]}");
    check(ebb_buf_cstr(&schema), NULL, 0, NULL, 0, NULL, "too large");
    ebb_buf_fini(&schema);
}

/* Three blocks of one row with each codec; nothing may point into a buffer that is used again. */
static void each_codec_is_read(void **state)
{
    static const char *const codecs[] = {NULL, "null", "", "deflate", "snappy", "zstandard"};
    static const struct ebb_avro_want want[] = {WANT_BYTES(1, "path")};
    struct ebb_avro_reader *reader;

    (void)state;
    assert_int_equal(ebb_avro_reader_new(&reader, NULL), 0);
    for (size_t i = 0; i < COUNT(codecs); i++) {
        struct ebb_buf file, payload, text;
        struct ebb_err err;

        ebb_buf_init(&file, MAX);
        ebb_buf_init(&payload, MAX);
        ebb_buf_init(&text, MAX);
        put_header(&file, REC(FIELD(1, "path", "\"string\"")), codecs[i], NULL);
        for (int k = 1; k <= 3; k++) {
            ebb_buf_reset(&payload);
            put_text(&payload, k == 1 ? "s3://a/1" : k == 2 ? "s3://a/2" : "s3://a/3");
            put_block(&file, codecs[i], 1, &payload);
        }
        ebb_buf_reset(&payload);
        put_block(&file, codecs[i], 0, &payload);
        assert_int_equal(read_file(reader, ebb_buf_str(&file), want, 1, &text, &err), 0);
        assert_string_equal(ebb_buf_cstr(&text), "s3://a/1\ns3://a/2\ns3://a/3\n");
        ebb_buf_fini(&text);
        ebb_buf_fini(&payload);
        ebb_buf_fini(&file);
    }
    ebb_avro_reader_free(reader);
}

/* A block that was packed by hand: lines, or NULL and what the error says. */
static void check_packed(const char *codec, struct ebb_str packed, int64_t rows, const char *lines, enum ebb_error kind,
                         const char *error)
{
    static const struct ebb_avro_want want[] = {WANT_BYTES(1, "path")};
    struct ebb_avro_reader *reader;
    struct ebb_buf file, text;
    struct ebb_err err;
    int rc;

    assert_int_equal(ebb_avro_reader_new(&reader, NULL), 0);
    ebb_buf_init(&file, MAX);
    ebb_buf_init(&text, MAX);
    put_header(&file, REC(FIELD(1, "path", "\"string\"")), codec, NULL);
    put_packed(&file, rows, packed.p, packed.n);
    rc = read_file(reader, ebb_buf_str(&file), want, 1, &text, &err);
    if (lines) {
        assert_int_equal(rc, 0);
        assert_string_equal(ebb_buf_cstr(&text), lines);
    } else {
        assert_int_equal(rc, -(int)kind);
        if (!strstr(err.message, error))
            fail_msg("\"%s\" does not say \"%s\"", err.message, error);
    }
    ebb_buf_fini(&text);
    ebb_buf_fini(&file);
    ebb_avro_reader_free(reader);
}

static void damaged_blocks_are_refused(void **state)
{
    static const char *const codecs[] = {"deflate", "snappy", "zstandard"};
    char out[256];
    struct ebb_str packed = {out, 0};

    (void)state;
    for (size_t i = 0; i < COUNT(codecs); i++) {
        size_t n = pack(codecs[i], EBB_STR("\24aaaaaaaaaa"), out, sizeof out - 8);

        for (packed.n = 0; packed.n < n; packed.n++)
            check_packed(codecs[i], packed, 1, NULL, EBB_ECORRUPT, "");
        check_packed(codecs[i], packed, 1, "aaaaaaaaaa\n", EBB_OK, NULL);
        memset(out + n, 'x', 8);
        for (packed.n = n + 1; packed.n < n + 8; packed.n++)
            check_packed(codecs[i], packed, 1, NULL, EBB_ECORRUPT, "");
    }
    packed.n = pack("snappy", EBB_STR("\2a"), out, sizeof out);
    out[packed.n - 1] ^= 1;
    check_packed("snappy", packed, 1, NULL, EBB_ECORRUPT, "checksum");
    check_packed("snappy", EBB_STR("\xff\xff\xff\xff\x07zzzz"), 1, NULL, EBB_ELIMIT, "more than");
    check_packed("snappy", EBB_STR("\xff\xff\xff\x7fzzzz"), 1, NULL, EBB_ECORRUPT, "snappy");
}

/* PyIceberg cuts the last byte off a zlib stream, which leaves three bytes of its Adler-32 (big endian) behind the
 * data. */
static void the_rest_of_a_zlib_stream_is_no_damage(void **state)
{
    struct ebb_str in = EBB_STR("\6abc");
    char out[256];
    struct ebb_str packed = {out, pack("deflate", EBB_STR("\6abc"), out, sizeof out)};
    uint32_t sum = libdeflate_adler32(1, in.p, in.n);

    (void)state;
    for (int i = 0; i < 4; i++) {
        out[packed.n++] = (char)(sum >> (24 - 8 * i));
        check_packed("deflate", packed, 1, "abc\n", EBB_OK, NULL);
    }
    out[packed.n - 2] ^= 1;
    check_packed("deflate", packed, 1, NULL, EBB_ECORRUPT, "left over");
    out[packed.n - 2] ^= 1;
    out[packed.n++] = 0;
    check_packed("deflate", packed, 1, NULL, EBB_ECORRUPT, "left over");
}

static void zstd_frames_may_follow_each_other(void **state)
{
    char out[256];
    size_t n = pack("zstandard", EBB_STR("\6a"), out, sizeof out);
    struct ebb_str packed = {out, n + pack("zstandard", EBB_STR("bc"), out + n, sizeof out - n)};

    (void)state;
    check_packed("zstandard", packed, 1, "abc\n", EBB_OK, NULL);
    packed.n--;
    check_packed("zstandard", packed, 1, NULL, EBB_ECORRUPT, "cut short");
}

static void other_codecs_are_refused_by_name(void **state)
{
    (void)state;
    check_packed("bzip2", EBB_STR("x"), 1, NULL, EBB_ECORRUPT, "\"bzip2\"");
    check_packed("xz", EBB_STR("x"), 1, NULL, EBB_ECORRUPT, "\"xz\"");
    check_packed("Deflate", EBB_STR("x"), 1, NULL, EBB_ECORRUPT, "\"Deflate\"");
}

static void row_counts_must_be_exact(void **state)
{
    (void)state;
    check_packed(NULL, EBB_STR("\2a\2b"), 2, "a\nb\n", EBB_OK, NULL);
    check_packed(NULL, EBB_STR("\2a\2b"), 1, NULL, EBB_ECORRUPT, "left over after 1 rows");
    check_packed(NULL, EBB_STR("\2a\2b"), 3, NULL, EBB_ECORRUPT, "row 2");
    check_packed(NULL, EBB_STR("\2a\2b"), 0, NULL, EBB_ECORRUPT, "left over");
    check_packed(NULL, EBB_STR("\2a\2b"), -2, NULL, EBB_ECORRUPT, "negative");
    check_packed(NULL, EBB_STR("\2a\2b"), INT64_MAX, NULL, EBB_ECORRUPT, "cannot be in");
    check_packed(NULL, EBB_STR("\2a\6b"), 2, NULL, EBB_ECORRUPT, "past the end");
    check_packed(NULL, EBB_STR(""), 1, NULL, EBB_ECORRUPT, "cannot be in");
}

/* A file cut anywhere but after its header or a block is refused, and so are bytes behind it. */
static void a_file_ends_after_a_sync_marker(void **state)
{
    static const struct ebb_avro_want want[] = {WANT_BYTES(1, "path")};
    struct ebb_avro_reader *reader;
    struct ebb_buf file, payload, text;
    struct ebb_err err;
    size_t header, block;

    (void)state;
    assert_int_equal(ebb_avro_reader_new(&reader, NULL), 0);
    ebb_buf_init(&file, MAX);
    ebb_buf_init(&payload, MAX);
    ebb_buf_init(&text, MAX);
    put_header(&file, REC(FIELD(1, "path", "\"string\"")), "deflate", NULL);
    header = file.len;
    put_text(&payload, "abc");
    put_block(&file, "deflate", 1, &payload);
    block = file.len;
    put_block(&file, "deflate", 1, &payload);
    for (size_t n = 0; n <= file.len; n++) {
        bool is_whole = n == header || n == block || n == file.len;

        ebb_buf_reset(&text);
        assert_int_equal(read_file(reader, (struct ebb_str){file.data, n}, want, 1, &text, &err),
                         is_whole ? 0 : -EBB_ECORRUPT);
        if (is_whole)
            assert_string_equal(ebb_buf_cstr(&text), n == header ? "" : n == block ? "abc\n" : "abc\nabc\n");
    }
    for (int i = 0; i < 20; i++) {
        ebb_buf_putc(&file, (char)(i * 2));
        assert_int_equal(read_file(reader, ebb_buf_str(&file), want, 1, &text, &err), -EBB_ECORRUPT);
    }
    file.len = block;
    file.data[block - 1] ^= 1;
    assert_int_equal(read_file(reader, ebb_buf_str(&file), want, 1, &text, &err), -EBB_ECORRUPT);
    assert_non_null(strstr(err.message, "sync"));
    ebb_buf_fini(&text);
    ebb_buf_fini(&payload);
    ebb_buf_fini(&file);
    ebb_avro_reader_free(reader);
}

static int note_meta(void *data, struct ebb_str key, struct ebb_str value, struct ebb_err *err)
{
    struct ebb_buf *b = data;

    (void)err;
    if (ebb_str_is_equal(key, EBB_STR("stop")))
        return -77;
    if (!ebb_str_has_prefix(key, EBB_STR("avro.schema"))) {
        ebb_buf_add_str(b, key);
        ebb_buf_putc(b, '=');
        ebb_buf_add_str(b, value);
        ebb_buf_putc(b, ';');
    }
    return 0;
}

static int refuse_row(void *data, const struct ebb_avro_value *row, struct ebb_err *err)
{
    (void)data;
    (void)row;
    (void)err;
    return -88;
}

static void header_keys_are_told(void **state)
{
    static const char *const more[] = {"content", "data", "empty", "", NULL}, *const stop[] = {"stop", "", NULL};
    struct ebb_avro_reader *reader;
    struct ebb_buf file, text;

    (void)state;
    assert_int_equal(ebb_avro_reader_new(&reader, NULL), 0);
    ebb_buf_init(&file, MAX);
    ebb_buf_init(&text, MAX);
    put_header(&file, REC(LAST), "null", more);
    assert_int_equal(ebb_avro_read(reader, "t", file.data, file.len, NULL, 0, note_meta, refuse_row, &text, NULL), 0);
    assert_string_equal(ebb_buf_cstr(&text), "content=data;empty=;avro.codec=null;");
    put_packed(&file, 1, "\2", 1);
    assert_int_equal(ebb_avro_read(reader, "t", file.data, file.len, NULL, 0, NULL, refuse_row, &text, NULL), -88);
    ebb_buf_reset(&file);
    put_header(&file, REC(LAST), "null", stop);
    assert_int_equal(ebb_avro_read(reader, "t", file.data, file.len, NULL, 0, note_meta, refuse_row, &text, NULL), -77);
    ebb_buf_fini(&text);
    ebb_buf_fini(&file);
    ebb_avro_reader_free(reader);
}

static void check_file(struct ebb_str file, enum ebb_error kind, const char *error)
{
    struct ebb_avro_reader *reader;
    struct ebb_buf text;
    struct ebb_err err;

    assert_int_equal(ebb_avro_reader_new(&reader, NULL), 0);
    ebb_buf_init(&text, MAX);
    assert_int_equal(read_file(reader, file, NULL, 0, &text, &err), -(int)kind);
    if (error && !strstr(err.message, error))
        fail_msg("\"%s\" does not say \"%s\"", err.message, error);
    ebb_buf_fini(&text);
    ebb_avro_reader_free(reader);
}

static void headers_are_checked(void **state)
{
    static const char *const twice[] = {"avro.schema", "{}", NULL};
    struct ebb_buf file;

    (void)state;
    check_file(EBB_STR(""), EBB_ECORRUPT, "not an Avro file");
    check_file(EBB_STR("Obj"), EBB_ECORRUPT, "not an Avro file");
    check_file(EBB_STR("PAR1...."), EBB_ECORRUPT, "not an Avro file");
    check_file(EBB_STR("Obj\2...."), EBB_ECORRUPT, "not an Avro file");
    check_file(EBB_STR("AGS1"), EBB_EENCRYPTED, "encrypted");
    check_file(EBB_STR("Obj\1\0" SYNC), EBB_ECORRUPT, "no avro.schema");
    check_file(EBB_STR("Obj\1\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"), EBB_ECORRUPT, "header");
    check_file(EBB_STR("Obj\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0"), EBB_ECORRUPT, "header");
    check_file(EBB_STR("Obj\1\2\1a"), EBB_ECORRUPT, "header");
    ebb_buf_init(&file, MAX);
    put_header(&file, REC(LAST), NULL, twice);
    check_file(ebb_buf_str(&file), EBB_ECORRUPT, "twice");
    ebb_buf_fini(&file);
}

/* The header is a map as any other: in one block or several, with sizes or without. */
static void headers_come_in_blocks(void **state)
{
    const char *schema = REC("");
    struct ebb_buf entry, file;

    (void)state;
    ebb_buf_init(&entry, MAX);
    ebb_buf_init(&file, MAX);
    put_text(&entry, "avro.schema");
    put_text(&entry, schema);
    for (int wrong = 0; wrong < 2; wrong++) {
        ebb_buf_reset(&file);
        ebb_buf_append(&file, "Obj\1", 4);
        put_long(&file, 1);
        put_text(&file, "k");
        put_text(&file, "v");
        put_long(&file, -1);
        put_long(&file, (int64_t)entry.len - wrong);
        ebb_buf_append(&file, entry.data, entry.len);
        put_long(&file, 0);
        ebb_buf_append(&file, SYNC, 16);
        check_file(ebb_buf_str(&file), wrong ? EBB_ECORRUPT : EBB_OK, wrong ? "header is damaged" : NULL);
    }
    ebb_buf_fini(&file);
    ebb_buf_fini(&entry);
}

/* More schemas than are kept, in turn, with two sets of wants. */
static void many_schemas_are_read_by_one_reader(void **state)
{
    static const struct ebb_avro_want one[] = {WANT_INT(1, "a")}, two[] = {WANT_INT(1, "a"), WANT_INT(2, "b")};
    struct ebb_avro_reader *reader;
    struct ebb_buf file, text, schema;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_avro_reader_new(&reader, NULL), 0);
    ebb_buf_init(&file, MAX);
    ebb_buf_init(&text, MAX);
    ebb_buf_init(&schema, MAX);
    for (int i = 0; i < 200; i++) {
        bool swapped = i % 20 > 10;

        ebb_buf_reset(&schema);
        ebb_buf_reset(&file);
        ebb_buf_reset(&text);
        ebb_buf_printf(&schema, "{\"type\":\"record\",\"name\":\"r%d\",\"fields\":[%s,%s]}", i % 20,
                       swapped ? FIELD(2, "b", "\"long\"") : FIELD(1, "a", "\"int\""),
                       swapped ? FIELD(1, "a", "\"long\"") : FIELD(2, "b", "\"int\""));
        put_header(&file, ebb_buf_cstr(&schema), NULL, NULL);
        put_packed(&file, 1, "\2\4", 2);
        assert_int_equal(read_file(reader, ebb_buf_str(&file), i % 3 ? one : two, i % 3 ? 1 : 2, &text, &err), 0);
        assert_string_equal(ebb_buf_cstr(&text), i % 3 ? (swapped ? "2\n" : "1\n") : (swapped ? "2 1\n" : "1 2\n"));
    }
    ebb_buf_fini(&schema);
    ebb_buf_fini(&text);
    ebb_buf_fini(&file);
    ebb_avro_reader_free(reader);
}

struct again {
    struct ebb_avro_reader *reader;
    struct ebb_str file;
    int rc;
};

static int read_again(void *data, const struct ebb_avro_value *row, struct ebb_err *err)
{
    struct again *a = data;

    (void)row;
    a->rc = ebb_avro_read(a->reader, "t", a->file.p, a->file.n, NULL, 0, NULL, refuse_row, NULL, err);
    return 0;
}

static void a_reader_is_not_used_from_its_callback(void **state)
{
    struct again a = {.rc = 0};
    struct ebb_buf file;

    (void)state;
    assert_int_equal(ebb_avro_reader_new(&a.reader, NULL), 0);
    ebb_buf_init(&file, MAX);
    put_header(&file, REC(LAST), NULL, NULL);
    put_packed(&file, 1, "\2", 1);
    a.file = ebb_buf_str(&file);
    assert_int_equal(ebb_avro_read(a.reader, "t", file.data, file.len, NULL, 0, NULL, read_again, &a, NULL), 0);
    assert_int_equal(a.rc, -EBB_EINTERNAL);
    ebb_buf_fini(&file);
    ebb_avro_reader_free(a.reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_zigzag_varints),
        cmocka_unit_test(numbers_that_are_too_long_are_refused),
        cmocka_unit_test(skipped_types_have_their_length),
        cmocka_unit_test(unions_have_any_number_of_branches),
        cmocka_unit_test(arrays_and_maps_come_in_blocks),
        cmocka_unit_test(wrong_blocks_are_refused),
        cmocka_unit_test(metric_maps_are_skipped_exactly),
        cmocka_unit_test(long_keys_in_metric_maps_are_refused),
        cmocka_unit_test(keys_out_of_range_in_metric_maps_are_refused),
        cmocka_unit_test(wanted_fields_are_found_by_id),
        cmocka_unit_test(names_count_only_without_any_id),
        cmocka_unit_test(unions_of_records_and_values_are_read),
        cmocka_unit_test(fields_that_do_not_fit_are_refused),
        cmocka_unit_test(bad_schemas_are_refused),
        cmocka_unit_test(named_types_are_used_again),
        cmocka_unit_test(names_that_are_no_types_are_refused),
        cmocka_unit_test(schemas_that_unfold_without_end_are_refused),
        cmocka_unit_test(each_codec_is_read),
        cmocka_unit_test(damaged_blocks_are_refused),
        cmocka_unit_test(the_rest_of_a_zlib_stream_is_no_damage),
        cmocka_unit_test(zstd_frames_may_follow_each_other),
        cmocka_unit_test(other_codecs_are_refused_by_name),
        cmocka_unit_test(row_counts_must_be_exact),
        cmocka_unit_test(a_file_ends_after_a_sync_marker),
        cmocka_unit_test(header_keys_are_told),
        cmocka_unit_test(headers_are_checked),
        cmocka_unit_test(headers_come_in_blocks),
        cmocka_unit_test(many_schemas_are_read_by_one_reader),
        cmocka_unit_test(a_reader_is_not_used_from_its_callback),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
