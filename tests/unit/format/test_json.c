/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"

/* One letter for each token, in the order of enum ebb_json_kind. */
static const char LETTERS[] = ".{}[]ksif+-0";

/* Read a whole document; out gets the letters. Returns 0 or the error. */
static int scan(const char *bytes, size_t n, char *out, size_t room, bool *is_cut)
{
    struct ebb_json j;
    struct ebb_err err;
    size_t at = 0;
    int rc;

    ebb_json_init(&j, "doc", bytes, n);
    do {
        rc = ebb_json_next(&j, &err);
        if (!rc && at + 1 < room)
            out[at++] = LETTERS[j.kind];
    } while (!rc && j.kind != EBB_JSON_END);
    out[at] = '\0';
    if (is_cut)
        *is_cut = j.is_cut;
    if (rc) {
        assert_int_equal(err.error, EBB_ECORRUPT);
        assert_int_equal(strncmp(err.message, "doc: offset ", 12), 0);
        assert_int_equal(ebb_json_next(&j, &err), -EBB_ECORRUPT);
    }
    ebb_json_fini(&j);
    return rc;
}

static void good(const char *text, const char *letters)
{
    char got[256];

    assert_int_equal(scan(text, strlen(text), got, sizeof got, NULL), 0);
    assert_string_equal(got, letters);
}

static void bad_n(const char *bytes, size_t n, bool is_cut)
{
    char got[256];
    bool cut;

    if (scan(bytes, n, got, sizeof got, &cut) != -EBB_ECORRUPT)
        fail_msg("accepted: %.*s", (int)n, bytes);
    if (cut != is_cut)
        fail_msg("is_cut is wrong: %.*s", (int)n, bytes);
}

static void bad(const char *text)
{
    bad_n(text, strlen(text), false);
}

static void cut(const char *text)
{
    bad_n(text, strlen(text), true);
}

static void test_tokens(void **state)
{
    (void)state;
    good("{}", "{}.");
    good(" [ ] \r\n\t", "[].");
    good("{\"a\":1,\"b\":[true,false,null,1.5,\"x\"],\"\":{}}", "{kik[+-0fs]k{}}.");
    good("\"x\"", "s.");
    good("0", "i.");
    good("-0", "i.");
    good("1e5", "f.");
    good("[[],{},[{}]]", "[[]{}[{}]].");
}

static void test_refused(void **state)
{
    static const char *const BAD[] = {
        "{\"a\":1,}",
        "[1,]",
        "[,1]",
        "{,}",
        "{\"a\" 1}",
        "{a:1}",
        "{'a':1}",
        "[1 2]",
        "{\"a\":1 \"b\":2}",
        "01",
        "1.a",
        "[-]",
        "+1",
        ".5",
        "1e+x",
        "0x10",
        "NaN",
        "[Infinity]",
        "tru e",
        "nul1",
        "[1]]",
        "{}{}",
        "1 2",
        "\"\t\"",
        "\"a\nb\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "]",
        "}",
        "[}",
        "{]",
        "{\"a\":}",
        "{\"a\"}",
        "//c\n1",
        "\"\\ud800\"",
        "\"\\ud800x\"",
        "\"\\udc00\"",
        "\"\\ud800\\n\"",
        "\"\\ud800\\ud800\"",
        "\xEF\xBB\xBF{}",
        "\xFF",
        "[\xC2\xA0]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        bad(BAD[i]);
    bad_n("\0", 1, false);
    bad_n("{}\0", 3, false);
    bad_n("\"a\0b\"", 5, false);
    bad_n("[1,\0]", 5, false);
}

static void test_utf8(void **state)
{
    static const char *const BAD[] = {
        "\"\xC0\xAF\"",    "\"\xED\xA0\x80\"", "\"\xF5\x80\x80\x80\"",        "\"\x80\"",   "\"\xE2\x82\"",
        "\"\xC3\\u00e4\"", "{\"\xFF\":1}",     "\"12345678\xC3(long text)\"", "\"\\n\xFF\""};

    (void)state;
    good("\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8C\x8A\"", "s.");
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        bad(BAD[i]);
}

/* Every proper prefix of a document in a container is "cut", never an answer and never another error. */
static void test_cut(void **state)
{
    static const char DOC[] = "{\"a\":[1,-2.5e+10,\"\\ud83c\\udf0a\\\"x\xC3\xA4\"],\"b\":{\"c\":true,\"d\":null}}";

    (void)state;
    for (size_t n = 0; n < sizeof DOC - 1; n++)
        bad_n(DOC, n, true);
    good(DOC, "{k[ifs]k{k+k0}}.");
    cut("");
    cut("  ");
    cut("[12");
    cut("-");
}

static int64_t int_of(const char *text)
{
    struct ebb_json j;
    struct ebb_err err;
    int64_t value = 0;

    ebb_json_init(&j, "n", text, strlen(text));
    assert_int_equal(ebb_json_read_int(&j, "n", &value, &err), 0);
    ebb_json_fini(&j);
    return value;
}

static void test_integers(void **state)
{
    struct ebb_json j;
    struct ebb_err err;
    int64_t value;

    (void)state;
    assert_true(int_of("9223372036854775807") == INT64_MAX);
    assert_true(int_of("-9223372036854775808") == INT64_MIN);
    assert_true(int_of("9007199254740993") == 9007199254740993);
    assert_true(int_of("7301987312340117781") == 7301987312340117781);
    assert_true(int_of("-0") == 0);
    good("9223372036854775808", "f.");
    good("-9223372036854775809", "f.");
    good("99999999999999999999999999999999", "f.");
    good("1.0", "f.");
    ebb_json_init(&j, "n", "12.0", 4);
    assert_int_equal(ebb_json_read_int(&j, "n", &value, &err), -EBB_ECORRUPT);
    ebb_json_fini(&j);
}

static void test_text(void **state)
{
    static const char DOC[] =
        "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e4\\u20ac\\uD83C\\uDF0A\",\"plain\",\"\",\"\\u0000\"]";
    struct ebb_json j;
    struct ebb_err err;
    struct ebb_arena arena;
    char *text;

    (void)state;
    ebb_arena_init(&arena, 1 << 16);
    ebb_json_init(&j, "t", DOC, sizeof DOC - 1);
    assert_int_equal(ebb_json_expect(&j, EBB_JSON_ARRAY, "t", &err), 0);
    assert_int_equal(ebb_json_read_str(&j, "t", &arena, &text, &err), 0);
    assert_string_equal(text, "\"\\/\b\f\n\r\tA\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8C\x8A");
    assert_int_equal(ebb_json_read_str(&j, "t", &arena, &text, &err), 0);
    assert_string_equal(text, "plain");
    assert_true(ebb_json_is_text(&j, "plain"));
    assert_false(ebb_json_is_text(&j, "plai"));
    assert_int_equal(ebb_json_read_str(&j, "t", &arena, &text, &err), 0);
    assert_string_equal(text, "");
    assert_int_equal(ebb_json_read_str(&j, "t", &arena, &text, &err), -EBB_ECORRUPT); /* NUL */
    ebb_json_fini(&j);
    ebb_arena_fini(&arena);
}

static void test_repeated_keys(void **state)
{
    (void)state;
    bad("{\"a\":1,\"a\":1}");
    bad("{\"a\":1,\"\\u0061\":1}");
    bad("{\"\":1,\"\":1}");
    bad("[{\"x\":{\"a\":{\"b\":1},\"c\":[{}],\"a\":2}}]");
}

static void test_same_key_at_other_places(void **state)
{
    (void)state;
    good("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}]}", "{k{k{ki}}k[{ki}{ki}]}.");
}

/* An object of `count` keys, each with an object inside; `again` >= 0 repeats that key at the end. */
static char *many_keys(int count, int again)
{
    struct ebb_buf b;

    ebb_buf_init(&b, SIZE_MAX);
    ebb_buf_putc(&b, '{');
    for (int i = 0; i < count; i++)
        ebb_buf_printf(&b, "%s\"k%d\":{\"k%d\":1,\"x\":2}", i ? "," : "", i, i);
    if (again >= 0)
        ebb_buf_printf(&b, ",\"k%d\":0", again);
    ebb_buf_putc(&b, '}');
    return ebb_buf_take(&b);
}

static void test_many_keys(void **state)
{
    static const int COUNTS[] = {15, 16, 17, 127, 128, 129, 1000, 100000};

    (void)state;
    for (size_t i = 0; i < sizeof COUNTS / sizeof COUNTS[0]; i++) {
        char got[8];
        char *text = many_keys(COUNTS[i], -1);

        assert_int_equal(scan(text, strlen(text), got, sizeof got, NULL), 0);
        free(text);
        for (int k = 0; k < 3; k++) {
            text = many_keys(COUNTS[i], k * (COUNTS[i] - 1) / 2);
            bad(text);
            free(text);
        }
    }
}

static void test_depth(void **state)
{
    char text[2 * (EBB_JSON_DEPTH + 1) + 1];
    char got[256];

    (void)state;
    memset(text, '[', EBB_JSON_DEPTH);
    memset(text + EBB_JSON_DEPTH, ']', EBB_JSON_DEPTH);
    assert_int_equal(scan(text, 2 * EBB_JSON_DEPTH, got, sizeof got, NULL), 0);
    memset(text, '[', EBB_JSON_DEPTH + 1);
    memset(text + EBB_JSON_DEPTH + 1, ']', EBB_JSON_DEPTH + 1);
    bad_n(text, 2 * (EBB_JSON_DEPTH + 1), false);
}

static void test_skip_and_raw(void **state)
{
    static const char DOC[] = "{ \"a\" : [ 1, {\"b\": [] } ] , \"c\":-1.50 ,\"d\" : \"x\\n\", \"e\":null}";
    struct ebb_json j;
    struct ebb_err err;
    struct ebb_str raw;

    (void)state;
    ebb_json_init(&j, "r", DOC, sizeof DOC - 1);
    assert_int_equal(ebb_json_expect(&j, EBB_JSON_OBJECT, "r", &err), 0);
    assert_int_equal(ebb_json_expect(&j, EBB_JSON_KEY, "r", &err), 0);
    assert_int_equal(ebb_json_raw(&j, &raw, &err), 0);
    assert_true(ebb_str_is_equal(raw, EBB_STR("[ 1, {\"b\": [] } ]")));
    assert_int_equal(j.kind, EBB_JSON_ARRAY_END);
    assert_int_equal(ebb_json_expect(&j, EBB_JSON_KEY, "r", &err), 0);
    assert_int_equal(ebb_json_raw(&j, &raw, &err), 0);
    assert_true(ebb_str_is_equal(raw, EBB_STR("-1.50")));
    assert_int_equal(ebb_json_expect(&j, EBB_JSON_KEY, "r", &err), 0);
    assert_int_equal(ebb_json_next(&j, &err), 0);
    assert_int_equal(ebb_json_raw(&j, &raw, &err), 0);
    assert_true(ebb_str_is_equal(raw, EBB_STR("\"x\\n\"")));
    assert_int_equal(ebb_json_expect(&j, EBB_JSON_KEY, "r", &err), 0);
    assert_int_equal(ebb_json_skip(&j, &err), 0);
    assert_int_equal(ebb_json_expect(&j, EBB_JSON_OBJECT_END, "r", &err), 0);
    assert_int_equal(ebb_json_expect(&j, EBB_JSON_END, "r", &err), 0);
    assert_int_equal(ebb_json_next(&j, &err), 0);
    assert_int_equal(j.kind, EBB_JSON_END);
    ebb_json_fini(&j);
}

static void test_expect_names_the_field(void **state)
{
    struct ebb_json j;
    struct ebb_err err;
    bool value;

    (void)state;
    ebb_json_init(&j, "f.json", " 7", 2);
    assert_int_equal(ebb_json_read_bool(&j, "flag", &value, &err), -EBB_ECORRUPT);
    assert_string_equal(err.message, "f.json: offset 1: flag: want true or false, found an integer");
    ebb_json_fini(&j);
    ebb_json_init(&j, "f.json", "true", 4);
    assert_int_equal(ebb_json_read_bool(&j, "flag", &value, NULL), 0);
    assert_true(value);
    ebb_json_fini(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_utf8),          cmocka_unit_test(test_cut),
        cmocka_unit_test(test_integers),      cmocka_unit_test(test_text),
        cmocka_unit_test(test_repeated_keys), cmocka_unit_test(test_same_key_at_other_places),
        cmocka_unit_test(test_many_keys),     cmocka_unit_test(test_depth),
        cmocka_unit_test(test_skip_and_raw),  cmocka_unit_test(test_expect_names_the_field),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
