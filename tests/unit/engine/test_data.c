/* SPDX-License-Identifier: Apache-2.0
 *
 * Data files: the configuration in the header sandbox.
 */
#include "engine_help.h"

#include <unistd.h>

static const char *get_env(void *data, const char *name)
{
    (void)data;
    return strcmp(name, "TOKEN") ? NULL : "secret";
}

static int load(const char *text, struct ebb_value **out, struct ebb_err *err)
{
    char path[] = "/tmp/ebb-data-XXXXXX";
    int fd = mkstemp(path);
    int rc;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    rc = ebb_data_load(path, get_env, NULL, out, err);
    unlink(path);
    return rc;
}

static void test_good(void **state)
{
    struct ebb_value *v = NULL;
    struct ebb_err err;

    (void)state;
    assert_int_equal(load("local n = 2\nreturn { catalogs = { lake = { token = env \"TOKEN\", n = n * 2 } }, bind = { "
                          "{ policy = \"p\" } } }",
                          &v, &err),
                     0);
    assert_string_equal(ebb_value_text_of(ebb_value_get(ebb_value_get(v, "catalogs"), "lake"), "token"), "secret");
    assert_int_equal(ebb_value_int_of(ebb_value_get(ebb_value_get(v, "catalogs"), "lake"), "n", 0), 4);
    assert_int_equal(ebb_value_get_kind(ebb_value_get(v, "bind")), EBB_VALUE_LIST);
    ebb_value_free(v);
}

static void test_bad(void **state)
{
    static const struct {
        const char *text;
        enum ebb_error error;
        const char *message;
    } CASES[] = {
        {"return {", EBB_ECONFIG_SYNTAX, ":1:"},
        {"return { a = env \"NONE\" }", EBB_ECONFIG, "NONE is not set"},
        {"return 5", EBB_ECONFIG, "not a table"},
        {"return { f = function() end }", EBB_ECONFIG, "function"},
        {"while true do end", EBB_ECONFIG, "gas"},
        {"return { a = os.getenv(\"HOME\") }", EBB_ECONFIG, "os: unknown"},
        {"return policy {}", EBB_ECONFIG, "policy: unknown"},
        {"return { 1, 2, x = 3 }", EBB_ECONFIG, "names and numbers"},
    };
    struct ebb_err err;

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct ebb_value *v = NULL;
        int rc = load(CASES[i].text, &v, &err);

        if (rc != -(int)CASES[i].error || !strstr(err.message, CASES[i].message))
            fail_msg("%s: %d %s", CASES[i].text, rc, rc ? err.message : "taken");
        assert_null(v);
    }
}

static void test_missing(void **state)
{
    struct ebb_value *v = NULL;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_data_load("/nonexistent/ebb.lua", NULL, NULL, &v, &err), -EBB_ENOENT);
    assert_int_equal(ebb_data_load("/tmp", NULL, NULL, &v, &err), -EBB_ECONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad),
                                       cmocka_unit_test(test_missing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
