/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/text.h"

static bool is_utf8(struct ebb_str s)
{
    return ebb_text_is_utf8(s.p, s.n);
}

/* RFC 3629 section 4, and the usual attacks. */
static void utf8_is_judged_by_the_grammar(void **state)
{
    (void)state;
    assert_true(is_utf8(EBB_STR("")));
    assert_true(is_utf8(EBB_STR("a\0b")));
    assert_true(is_utf8(EBB_STR("\xC2\x80 \xDF\xBF \xE0\xA0\x80 \xED\x9F\xBF \xEE\x80\x80 \xEF\xBF\xBF")));
    assert_true(is_utf8(EBB_STR("\xF0\x90\x80\x80 \xF4\x8F\xBF\xBF 日本 😀")));
    assert_false(is_utf8(EBB_STR("\x80")));
    assert_false(is_utf8(EBB_STR("\xC0\xAF")));
    assert_false(is_utf8(EBB_STR("\xC1\xBF")));
    assert_false(is_utf8(EBB_STR("\xE0\x9F\xBF")));
    assert_false(is_utf8(EBB_STR("\xED\xA0\x80")));
    assert_false(is_utf8(EBB_STR("\xF0\x8F\xBF\xBF")));
    assert_false(is_utf8(EBB_STR("\xF4\x90\x80\x80")));
    assert_false(is_utf8(EBB_STR("\xF5\x80\x80\x80")));
    assert_false(is_utf8(EBB_STR("\xE6\x97")));
    assert_false(is_utf8(EBB_STR("\xC3")));
    assert_false(is_utf8(EBB_STR("\xC3(")));
    assert_false(is_utf8(EBB_STR("\xFF")));
}

static void assert_escaped(struct ebb_str s, const char *want)
{
    struct ebb_buf b;

    ebb_buf_init(&b, 1000);
    ebb_text_escape(&b, s.p, s.n);
    assert_string_equal(ebb_buf_cstr(&b), want);
    ebb_buf_fini(&b);
}

static void terminal_text_holds_no_control(void **state)
{
    (void)state;
    assert_escaped(EBB_STR("plain 日本"), "plain 日本");
    assert_escaped(EBB_STR("a\nb\x1b[31m\x7f"), "a\\x0ab\\x1b[31m\\x7f");
    assert_escaped(EBB_STR("a\0b"), "a\\x00b");
    assert_escaped(EBB_STR("a\\x0a"), "a\\\\x0a");
    assert_escaped(EBB_STR("\xC2\x9Bm"), "\\xc2\\x9bm");
    /* what turns the direction of writing, or ends a line, shows a name as another one (U+202E, U+2067, U+061C, U+2028)
     */
    assert_escaped(EBB_STR("a\u202Egpj.exe"), "a\\xe2\\x80\\xaegpj.exe");
    assert_escaped(EBB_STR("\u2067\u2069\u200F"), "\\xe2\\x81\\xa7\\xe2\\x81\\xa9\\xe2\\x80\\x8f");
    assert_escaped(EBB_STR("\u061C\u2028"), "\\xd8\\x9c\\xe2\\x80\\xa8");
    assert_escaped(EBB_STR("\u200D\u2026\u2065\u05D0"), "\u200D\u2026\u2065\u05D0");
    assert_escaped(EBB_STR("\xFFz\xE6\x97"), "\\xffz\\xe6\\x97");
}

/* RFC 4648 section 10. */
static void base64_vectors(void **state)
{
    static const char *const PLAIN[] = {"", "f", "fo", "foo", "foob", "fooba", "foobar"};
    static const char *const CODED[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    struct ebb_buf b;

    (void)state;
    ebb_buf_init(&b, 100);
    for (size_t i = 0; i < 7; i++) {
        ebb_buf_reset(&b);
        ebb_text_base64(&b, PLAIN[i], strlen(PLAIN[i]));
        assert_string_equal(ebb_buf_cstr(&b), CODED[i]);
        ebb_buf_reset(&b);
        assert_true(ebb_text_unbase64(&b, CODED[i], strlen(CODED[i])));
        assert_string_equal(ebb_buf_cstr(&b), PLAIN[i]);
    }
    ebb_buf_fini(&b);
}

static void base64_of_all_bytes(void **state)
{
    unsigned char all[256];
    struct ebb_buf text, back;

    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    ebb_buf_init(&text, 1000);
    ebb_buf_init(&back, 1000);
    ebb_text_base64(&text, all, sizeof all);
    assert_true(ebb_text_unbase64(&back, text.data, text.len));
    assert_int_equal(back.len, 256);
    assert_memory_equal(back.data, all, 256);
    ebb_buf_fini(&text);
    ebb_buf_fini(&back);
}

static void base64_is_strict(void **state)
{
    static const char *const BAD[] = {
        "Z", "Zg", "Zg=", "Zg=x", "Zh==", "Zm9=", "Zm9v\n", "====", "Zg==Zg==", "Z===", "Zm-_", "Zm 9"};
    struct ebb_buf b;

    (void)state;
    ebb_buf_init(&b, 100);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_false(ebb_text_unbase64(&b, BAD[i], strlen(BAD[i])));
    assert_false(ebb_text_unbase64(&b, "Zm\0v", 4));
    ebb_buf_fini(&b);
}

static void assert_size(uint64_t bytes, const char *want)
{
    struct ebb_buf b;

    ebb_buf_init(&b, 100);
    ebb_text_size(&b, bytes);
    assert_string_equal(ebb_buf_cstr(&b), want);
    ebb_buf_fini(&b);
}

static void sizes_for_people(void **state)
{
    (void)state;
    assert_size(0, "0 B");
    assert_size(1023, "1023 B");
    assert_size(1024, "1.0 KiB");
    assert_size(1536, "1.5 KiB");
    assert_size(1048575, "1.0 MiB");
    assert_size(UINT64_C(5) << 30, "5.0 GiB");
    assert_size(UINT64_MAX, "16.0 EiB");
}

static void hex_is_lower_case(void **state)
{
    struct ebb_buf b;

    (void)state;
    ebb_buf_init(&b, 100);
    ebb_text_hex(&b, "\x00\xAB\x7f", 3);
    assert_string_equal(ebb_buf_cstr(&b), "00ab7f");
    ebb_buf_fini(&b);
}

static void nearest_word(void **state)
{
    static const char *const WORDS[] = {"location", "older_than", "dry_run", "ab", "retention_threshold"};
    char huge[200];

    (void)state;
    assert_string_equal(ebb_text_nearest("locatoin", WORDS, 5), "location");
    assert_string_equal(ebb_text_nearest("dryrun", WORDS, 5), "dry_run");
    assert_string_equal(ebb_text_nearest("oldr_tahn", WORDS, 5), "older_than");
    assert_string_equal(ebb_text_nearest("dry_run", WORDS, 5), "dry_run");
    assert_null(ebb_text_nearest("something", WORDS, 5));
    assert_null(ebb_text_nearest("xy", WORDS, 5));
    assert_null(ebb_text_nearest("x", WORDS, 0));
    memset(huge, 'x', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    assert_null(ebb_text_nearest(huge, WORDS, 5));
}

static void counts(void **state)
{
    static const struct {
        const char *text;
        bool is_good;
        int64_t n;
    } CASES[] = {{"0", true, 0},   {"007", true, 7},  {"9223372036854775807", true, INT64_MAX},
                 {NULL, false, 0}, {"", false, 0},    {"9223372036854775808", false, 0},
                 {"-1", false, 0}, {"+1", false, 0},  {" 1", false, 0},
                 {"1 ", false, 0}, {"1.0", false, 0}, {"0x1", false, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        int64_t n = -1;

        if (ebb_text_count(CASES[i].text, &n) != CASES[i].is_good || (CASES[i].is_good && n != CASES[i].n))
            fail_msg("%s", CASES[i].text ? CASES[i].text : "NULL");
    }
}

static void json_document(void **state)
{
    struct ebb_buf b;
    struct ebb_jsonw w;

    (void)state;
    ebb_buf_init(&b, 1000);
    ebb_jsonw_init(&w, &b);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "a", "q\"\\\n\t\x1f\x7f");
    ebb_jsonw_kint(&w, "min", INT64_MIN);
    ebb_jsonw_kbool(&w, "yes", true);
    ebb_jsonw_key(&w, "list");
    ebb_jsonw_begin(&w, '[');
    ebb_jsonw_uint(&w, UINT64_MAX);
    ebb_jsonw_null(&w);
    ebb_jsonw_str(&w, NULL);
    ebb_jsonw_bool(&w, false);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_end(&w, '}');
    ebb_jsonw_raw(&w, "[1]", 3);
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_path(&w, "path", "日本", 6);
    ebb_jsonw_path(&w, "raw", "\xFF", 1);
    ebb_jsonw_key(&w, "bad");
    ebb_jsonw_strn(&w, "\xFFx\xC2\x80", 4);
    ebb_jsonw_end(&w, '}');
    assert_string_equal(ebb_buf_cstr(&b),
                        "{\"a\":\"q\\\"\\\\\\n\\u0009\\u001f\\u007f\",\"min\":-9223372036854775808,\"yes\":true,"
                        "\"list\":[18446744073709551615,null,null,false,{},[1]],\"path\":\"日本\",\"raw_b64\":\"/w==\","
                        "\"bad\":\"\xEF\xBF\xBDx\\u0080\"}");
    ebb_buf_fini(&b);
}

static void json_depth_is_limited(void **state)
{
    struct ebb_buf b;
    struct ebb_jsonw w;

    (void)state;
    ebb_buf_init(&b, 1000);
    ebb_jsonw_init(&w, &b);
    for (int i = 0; i < EBB_JSONW_DEPTH; i++)
        ebb_jsonw_begin(&w, '[');
    assert_false(b.bad);
    ebb_jsonw_begin(&w, '[');
    assert_true(b.bad);
    for (int i = 0; i < EBB_JSONW_DEPTH + 5; i++)
        ebb_jsonw_end(&w, ']');
    ebb_buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_judged_by_the_grammar),
        cmocka_unit_test(terminal_text_holds_no_control),
        cmocka_unit_test(base64_vectors),
        cmocka_unit_test(base64_of_all_bytes),
        cmocka_unit_test(base64_is_strict),
        cmocka_unit_test(sizes_for_people),
        cmocka_unit_test(hex_is_lower_case),
        cmocka_unit_test(nearest_word),
        cmocka_unit_test(counts),
        cmocka_unit_test(json_document),
        cmocka_unit_test(json_depth_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
