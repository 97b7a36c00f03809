/* SPDX-License-Identifier: Apache-2.0
 *
 * storage = { s3 = { … } } of ebb.lua.
 */
#include "config_help.h"

static void test_all(void **state)
{
    struct ebb_config *c = good(
        "return { storage = { s3 = { endpoint = 'http://s3.example:9000', region = 'eu-west-1', path_style = true,\n"
        "  access_key_id = 'planted-id', secret_access_key = 'planted-secret', session_token = 'planted-token',\n"
        "  profile = 'p', ca_file = 'ca.pem', requests = 64 } },\n"
        "  locations = { ['file:/warehouse'] = 's3://lake/wh' } }");
    char path[256];
    struct ebb_buf shown;

    (void)state;
    assert_string_equal(c->s3.endpoint, "http://s3.example:9000");
    assert_string_equal(c->s3.aws.region, "eu-west-1");
    assert_int_equal(c->s3.path_style, 1);
    assert_string_equal(c->s3.aws.access_key_id, "planted-id");
    assert_string_equal(c->s3.aws.secret_access_key, "planted-secret");
    assert_string_equal(c->s3.aws.session_token, "planted-token");
    assert_string_equal(c->s3.aws.profile, "p");
    assert_int_equal(c->s3.requests, 64);
    snprintf(path, sizeof path, "%s/ca.pem", top);
    assert_string_equal(c->s3.ca_file, path);
    assert_string_equal(c->maps.items[0], "file:/warehouse=s3://lake/wh"); /* not made a path of this machine */
    ebb_buf_init(&shown, 65536);
    assert_int_equal(ebb_config_show(c, &shown, NULL), 0);
    assert_null(strstr(ebb_buf_cstr(&shown), "planted"));
    assert_non_null(strstr(ebb_buf_cstr(&shown), "\"endpoint\":\"http://s3.example:9000\""));
    assert_non_null(strstr(ebb_buf_cstr(&shown), "\"secret_access_key\":\"***\""));
    ebb_buf_fini(&shown);
    ebb_config_free(c);
}

static void test_none(void **state)
{
    struct ebb_config *c = good("return { storage = { s3 = {} } }");

    (void)state;
    assert_null(c->s3.endpoint);
    assert_null(c->s3.aws.access_key_id);
    assert_int_equal(c->s3.path_style, -1); /* not said is neither */
    ebb_config_free(c);
    c = good("return { storage = { s3 = { path_style = false } } }");
    assert_int_equal(c->s3.path_style, 0);
    ebb_config_free(c);
}

static const struct bad BAD[] = {
    {"return { storage = 's3' }", EBB_ECONFIG, "storage", ""},
    {"return { storage = { gcs = {} } }", EBB_ECONFIG_UNKNOWN_KEY, "storage.gcs: unknown key", ""},
    {"return { storage = { s3 = { endpont = 'x' } } }", EBB_ECONFIG_UNKNOWN_KEY, "storage.s3.endpont", "endpoint"},
    {"return { storage = { s3 = { region = 5 } } }", EBB_ECONFIG, "storage.s3.region: text is wanted", ""},
    {"return { storage = { s3 = { endpoint = '' } } }", EBB_ECONFIG, "storage.s3.endpoint: text is wanted", ""},
    {"return { storage = { s3 = { path_style = 'yes' } } }", EBB_ECONFIG, "storage.s3.path_style", ""},
    {"return { storage = { s3 = { access_key_id = 'a' } } }", EBB_ECONFIG, "secret_access_key", ""},
    {"return { storage = { s3 = { session_token = 'a' } } }", EBB_ECONFIG, "storage.s3.session_token", ""},
    {"return { storage = { s3 = { requests = 0 } } }", EBB_ECONFIG, "from 1 to 256", ""},
    {"return { storage = { s3 = { requests = 257 } } }", EBB_ECONFIG, "from 1 to 256", ""},
    {"return { storage = { s3 = { requests = 'many' } } }", EBB_ECONFIG, "from 1 to 256", ""},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        expect_bad(&BAD[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_bad),
    };

    return cmocka_run_group_tests(tests, make_top, remove_top);
}
