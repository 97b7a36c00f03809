/* SPDX-License-Identifier: Apache-2.0
 *
 * Host, Origin and targets, taken apart: RFC 3986 section 3.2, RFC 6454 section 6, RFC 9112 section 3.2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/http_authority.h"

struct authority_case {
    const char *text, *host; /* host NULL: refused */
    int default_port, port;
};

static const struct authority_case authorities[] = {
    {"localhost", "localhost", 80, -1},
    {"LocalHost:8490", "localhost", 80, 8490},
    {"a.b-c_d.example:80", "a.b-c_d.example", 80, -1},
    {"a:80", "a", 443, 80},
    {"a:0", "a", 0, 0},
    {"a:65535", "a", 0, 65535},
    {"127.0.0.1:1", "127.0.0.1", 80, 1},
    {"[::1]", "::1", 80, -1},
    {"[0:0:0:0:0:0:0:1]:8490", "::1", 80, 8490},
    {"[FE80::A]:443", "fe80::a", 443, -1},
    {"[::ffff:1.2.3.4]", "::ffff:1.2.3.4", 0, -1},
    {"", NULL, 0, 0},
    {":80", NULL, 0, 0},
    {"a:", NULL, 0, 0},
    {"a:65536", NULL, 0, 0},
    {"a:000080", NULL, 0, 0},
    {"a:+1", NULL, 0, 0},
    {"a:1:2", NULL, 0, 0},
    {"a:80 ", NULL, 0, 0},
    {"a b", NULL, 0, 0},
    {"u@a", NULL, 0, 0},
    {"a/", NULL, 0, 0},
    {"a,b", NULL, 0, 0},
    {"a%41", NULL, 0, 0},
    {"::1", NULL, 0, 0},
    {"[", NULL, 0, 0},
    {"[]", NULL, 0, 0},
    {"[::1", NULL, 0, 0},
    {"[::1]x", NULL, 0, 0},
    {"[::1]80", NULL, 0, 0},
    {"[::1%eth0]", NULL, 0, 0},
    {"[1.2.3.4]", NULL, 0, 0},
    {"[::1]:", NULL, 0, 0},
    {"\303\244", NULL, 0, 0},
};

static void test_authorities(void **state)
{
    struct ebb_http_authority a;
    char longest[300];
    (void)state;

    for (size_t i = 0; i < sizeof authorities / sizeof authorities[0]; i++) {
        const struct authority_case *c = &authorities[i];
        bool good = ebb_http_authority_parse(ebb_str_of(c->text), c->default_port, &a);

        if (good != (c->host != NULL))
            fail_msg("%s", c->text);
        if (!good)
            continue;
        assert_string_equal(a.host, c->host);
        assert_int_equal(a.port, c->port);
    }
    memset(longest, 'a', sizeof longest);
    assert_true(ebb_http_authority_parse((struct ebb_str){longest, 255}, 0, &a));
    assert_false(ebb_http_authority_parse((struct ebb_str){longest, 256}, 0, &a));
    assert_false(ebb_http_authority_parse((struct ebb_str){"a\0b", 3}, 0, &a));
    assert_false(ebb_http_authority_parse((struct ebb_str){"[::1\0]", 6}, 0, &a));
    assert_false(ebb_http_authority_parse((struct ebb_str){NULL, 0}, 0, &a));
}

static void test_origins(void **state)
{
    static const char *const bad[] = {
        "",    "null", "http:",       "http://",    "ftp://a",      "http://a/", "http://a?", "http://a b",
        "//a", "a",    "https://[a]", "http://u@a", "http://a:1:2", "HTTP//a",   "file:///a"};
    struct ebb_http_authority a, b;
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(ebb_http_origin_parse(ebb_str_of(bad[i]), &a));
    assert_true(ebb_http_origin_parse(EBB_STR("HTTPS://A.example:443"), &a));
    assert_true(ebb_http_authority_parse(EBB_STR("a.EXAMPLE"), 80, &b));
    assert_true(ebb_http_authority_is_equal(&a, &b));
    assert_true(ebb_http_origin_parse(EBB_STR("http://a.example:443"), &a));
    assert_false(ebb_http_authority_is_equal(&a, &b));
    assert_int_equal(a.port, 443);
    assert_true(ebb_http_origin_parse(EBB_STR("http://[::1]:80"), &a));
    assert_string_equal(a.host, "::1");
    assert_int_equal(a.port, -1);
}

static void test_hosts(void **state)
{
    struct ebb_http_authority a;
    struct ebb_strs hosts;
    (void)state;

    ebb_strs_init(&hosts);
    assert_true(ebb_http_authority_parse(EBB_STR("ebb.example:1"), 80, &a));
    assert_false(ebb_http_hosts_have(NULL, &a));
    assert_false(ebb_http_hosts_have(&hosts, &a));
    assert_int_equal(ebb_strs_add(&hosts, "not a name", NULL), 0);
    assert_int_equal(ebb_strs_add(&hosts, "EBB.example:2", NULL), 0);
    assert_false(ebb_http_hosts_have(&hosts, &a));
    a.port = 2;
    assert_true(ebb_http_hosts_have(&hosts, &a));
    assert_int_equal(ebb_strs_add(&hosts, "ebb.EXAMPLE", NULL), 0);
    a.port = -1;
    assert_true(ebb_http_hosts_have(&hosts, &a));
    assert_true(ebb_http_authority_parse(EBB_STR("x.ebb.example"), 80, &a));
    assert_false(ebb_http_hosts_have(&hosts, &a));
    ebb_strs_fini(&hosts);
}

static void expect_target(const char *text, const char *authority, const char *path, const char *query)
{
    struct ebb_http_target t;

    assert_true(ebb_http_target_parse(ebb_str_of(text), &t));
    assert_true(authority ? ebb_str_is_equal(t.authority, ebb_str_of(authority)) : t.authority.p == NULL);
    assert_true(ebb_str_is_equal(t.path, ebb_str_of(path)));
    assert_true(ebb_str_is_equal(t.query, ebb_str_of(query)));
}

static void test_targets(void **state)
{
    static const char *const bad[] = {"",        "a",      "?a",    "**",    "*?",       "/ ",    "/\t",   "/#",
                                      "/%",      "/%1",    "/%g1",  "/%00",  "/?%00",    "/\177", "/\377", "ftp://a/",
                                      "http:/a", "http:a", "/a\nb", "//a b", "mailto:a", "/%0"};
    struct ebb_http_target t;
    (void)state;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (ebb_http_target_parse(ebb_str_of(bad[i]), &t))
            fail_msg("%s", bad[i]);
    expect_target("/", NULL, "/", "");
    expect_target("/a/b%2Fc?x=1?y", NULL, "/a/b%2Fc", "x=1?y");
    expect_target("/?", NULL, "/", "");
    expect_target("//evil/x", NULL, "//evil/x", "");
    expect_target("*", NULL, "*", "");
    expect_target("http://h:1", "h:1", "/", "");
    expect_target("HTTP://h?q", "h", "/", "q");
    expect_target("https://h/p?q", "h", "/p", "q");
    expect_target("http:///p", "", "/p", "");
    assert_true(ebb_http_target_parse(EBB_STR("https://h/"), &t) && t.is_tls);
    assert_true(ebb_http_target_parse(EBB_STR("http://h/"), &t) && !t.is_tls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_authorities),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_targets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
