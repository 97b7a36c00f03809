/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/xml_priv.h"

static int on_end(void *data, size_t depth, const char *name, struct ebb_str text, struct ebb_err *err)
{
    (void)err;
    ebb_buf_printf(data, "%zu:%s=%.*s;", depth, name, (int)text.n, text.p);
    return 0;
}

static int parse(const char *text, struct ebb_buf *out)
{
    static const struct ebb__xml_ops OPS = {NULL, on_end};

    ebb_buf_init(out, 4096);
    return ebb__xml_parse("answer", ebb_str_of(text), &OPS, out, NULL);
}

static void expect(const char *text, const char *told)
{
    struct ebb_buf out;

    assert_int_equal(parse(text, &out), 0);
    assert_string_equal(ebb_buf_cstr(&out), told);
    ebb_buf_fini(&out);
}

static void refuse(const char *text)
{
    struct ebb_buf out;

    assert_int_equal(parse(text, &out), -EBB_ECORRUPT);
    ebb_buf_fini(&out);
}

static void test_elements(void **state)
{
    (void)state;
    expect("<a><b>x</b><c/><d>&lt;&amp;&#34;&#x2028;</d></a>", "1:b=x;1:c=;1:d=<&\"\xE2\x80\xA8;0:a=;");
    expect("<?xml version=\"1.0\"?>\n<s3:a xmlns:s3=\"urn:x\"> <s3:b>1</s3:b>\n</s3:a>", "1:b=1;0:a=\n;");
    expect("<a><![CDATA[<x>]]></a>", "0:a=<x>;");
}

static void test_what_is_none(void **state)
{
    (void)state;
    refuse("");
    refuse("<html><br></html>");
    refuse("<a><b>x</b>");
    refuse("<a>&nope;</a>");
    refuse("<a>\x01</a>");
    refuse("<a/><b/>");
}

/* Entities of one's own could grow without end, or read files. */
static void test_document_types(void **state)
{
    (void)state;
    refuse("<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>");
    refuse("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>");
}

static void test_depth(void **state)
{
    struct ebb_buf text;

    (void)state;
    ebb_buf_init(&text, 4096);
    for (int i = 0; i < EBB__XML_DEPTH_MAX + 1; i++)
        ebb_buf_puts(&text, "<a>");
    for (int i = 0; i < EBB__XML_DEPTH_MAX + 1; i++)
        ebb_buf_puts(&text, "</a>");
    refuse(ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

static void test_write(void **state)
{
    struct ebb_buf out;

    (void)state;
    ebb_buf_init(&out, 4096);
    assert_true(ebb__xml_write(&out, EBB_STR("a&b<c>\"d'\r\n\t\xC3\xA4")));
    assert_string_equal(ebb_buf_cstr(&out), "a&amp;b&lt;c&gt;&quot;d&apos;&#13;&#10;&#9;\xC3\xA4");
    assert_false(ebb__xml_write(&out, EBB_STR("a\x01")));
    assert_false(ebb__xml_write(&out, EBB_STR("a\xFF")));
    assert_false(ebb__xml_write(&out, EBB_STR("\xEF\xBF\xBE")));
    assert_false(ebb__xml_write(&out, EBB_STR("\xEF\xBF\xBF")));
    assert_true(ebb__xml_write(&out, EBB_STR("\xEF\xBF\xBD")));
    ebb_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements), cmocka_unit_test(test_what_is_none), cmocka_unit_test(test_document_types),
        cmocka_unit_test(test_depth),    cmocka_unit_test(test_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
