/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_help.h"

static char *json_of(const struct ebb_value *v)
{
    struct ebb_buf b;
    struct ebb_err err;

    ebb_buf_init(&b, 1 << 20);
    assert_int_equal(ebb_value_to_json(v, &b, &err), 0);
    return ebb_buf_take(&b);
}

static void check_round(const char *in, const char *out)
{
    struct ebb_value *v = help_json(in), *copy = NULL;
    char *text = json_of(v);
    struct ebb_err err;

    assert_string_equal(text, out);
    assert_int_equal(ebb_value_dup(v, NULL, &copy, &err), 0);
    assert_true(ebb_value_is_equal(v, copy));
    free(text);
    ebb_value_free(copy);
    ebb_value_free(v);
}

static void test_json(void **state)
{
    (void)state;
    check_round("{\"b\":1,\"a\":[true,null,\"x\"],\"c\":{}}", "{\"a\":[true,null,\"x\"],\"b\":1,\"c\":{}}");
    check_round("[9223372036854775807,-9223372036854775808]", "[9223372036854775807,-9223372036854775808]");
    check_round("[0.1,1e300,2.5]", "[0.1,1e+300,2.5]");
    check_round("[-0.0,40.0,1e5,-0e3]", "[-0.0,40.0,100000.0,-0.0]");
    check_round("{\"gone\":null,\"k\":\"\\u0001\"}", "{\"k\":\"\\u0001\"}");
}

static void test_bad_json(void **state)
{
    static const char *const BAD[] = {"",        "1",     "\"x\"", "{\"a\":1,\"a\":2}", "{\"a\":1", "[1,]",
                                      "[1e999]", "{} {}", "[nan]"};
    struct ebb_value *v = (struct ebb_value *)1;
    struct ebb_value_limits small = {3, 10, 8};
    struct ebb_err err;

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        if (!ebb_value_of_json("x", BAD[i], strlen(BAD[i]), NULL, &v, &err))
            fail_msg("%s: taken", BAD[i]);
        assert_null(v);
    }
    assert_int_equal(ebb_value_of_json("x", "[[[[1]]]]", 9, &small, &v, &err), -EBB_ELIMIT);
    assert_int_equal(ebb_value_of_json("x", "[\"123456789\"]", 13, &small, &v, &err), -EBB_ELIMIT);
    assert_int_equal(ebb_value_of_json("x", "[1,2,3,4,5,6,7,8,9,10]", 22, &small, &v, &err), -EBB_ELIMIT);
    assert_int_equal(ebb_value_of_json("x", "[1,2,3]", 7, &small, &v, &err), 0);
    ebb_value_free(v);
}

static void test_build(void **state)
{
    struct ebb_value *root = ebb_value_new_map(NULL), *list, *inner;
    struct ebb_err err;
    char *text;

    (void)state;
    ebb_value_put_str(root, "z", "last");
    ebb_value_put_str(root, "none", NULL);
    ebb_value_put_int(root, "a", 1);
    ebb_value_put_int(root, "a", 2);
    list = ebb_value_put_list(root, "l");
    ebb_value_add_float(list, 1.5);
    inner = ebb_value_add_map(list);
    ebb_value_put_bool(inner, "yes", true);
    ebb_value_add_copy(list, inner);
    assert_int_equal(ebb_value_check(root, "x", &err), 0);
    text = json_of(root);
    assert_string_equal(text, "{\"a\":2,\"l\":[1.5,{\"yes\":true},{\"yes\":true}],\"z\":\"last\"}");
    free(text);
    assert_int_equal(ebb_value_int_of(root, "a", 0), 2);
    assert_null(ebb_value_get(root, "none"));
    assert_string_equal(ebb_value_text_of(root, "z"), "last");
    assert_int_equal(ebb_value_get_count(list), 3);
    assert_null(ebb_value_get_at(list, 3));
    ebb_value_free(root);
}

/* A tree that goes bad stays bad, and building on is harmless. */
static void test_bad_tree(void **state)
{
    struct ebb_value_limits limits = {2, 3, 4};
    struct ebb_value *root = ebb_value_new_map(&limits), *m;
    struct ebb_err err;

    (void)state;
    m = ebb_value_put_map(root, "m");
    assert_non_null(m);
    assert_null(ebb_value_put_map(m, "deep"));
    ebb_value_put_int(m, "x", 1);
    assert_int_equal(ebb_value_check(root, "tree", &err), -EBB_ELIMIT);
    assert_null(ebb_value_put_map(root, "n"));
    assert_null(ebb_value_put_map(NULL, "n"));
    ebb_value_put_str(NULL, "n", "x");
    ebb_value_free(root);
    assert_int_equal(ebb_value_check(NULL, "tree", &err), -EBB_ENOMEM);
}

static void test_many_keys(void **state)
{
    struct ebb_value *root = ebb_value_new_map(NULL);
    char key[32];

    (void)state;
    for (int i = 999; i >= 0; i--) {
        snprintf(key, sizeof key, "k%03d", (i * 7) % 1000);
        ebb_value_put_int(root, key, (i * 7) % 1000);
    }
    assert_int_equal(ebb_value_get_count(root), 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(ebb_value_get_int(ebb_value_get_at(root, i), -1), (int)i);
    ebb_value_free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),     cmocka_unit_test(test_bad_json),  cmocka_unit_test(test_build),
        cmocka_unit_test(test_bad_tree), cmocka_unit_test(test_many_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
