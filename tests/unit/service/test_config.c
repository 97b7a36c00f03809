/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb.lua: every key, and what is wrong with it.
 */
#include "config_help.h"

static void test_guards_and_blackouts(void **state)
{
    struct ebb_config *c =
        good("return { bind = { { policy = 'a', guard = { min_interval = '1d', deletes = { max_files = "
             "5 } }, blackouts = { '2026-12-24..2027-01-02' }, blackout_tz = 'Europe/Berlin' }, { "
             "policy = 'b' } } }");
    struct ebb_settings_site site;

    (void)state;
    ebb_binding_site(&c->bindings[0], &site);
    assert_string_equal(ebb_value_text_of(site.guard, "min_interval"), "1d");
    assert_int_equal(ebb_value_get_count(site.blackouts), 1);
    assert_string_equal(site.blackout_tz, "Europe/Berlin");
    ebb_binding_site(&c->bindings[1], &site);
    assert_true(!site.guard && !site.blackouts && !site.blackout_tz && !site.params);
    ebb_binding_site(NULL, &site);
    assert_true(!site.guard && !site.blackouts && !site.blackout_tz && !site.params);
    ebb_config_free(c);
}

static void test_everything(void **state)
{
    char path[256];
    struct ebb_config *c =
        good("return {\n"
             "  catalogs = { files = { type = 'directory', path = './wh' }, sql = { type = 'sqlite', path = '/x/c.db', "
             "name = 'default' } },\n"
             "  locations = { ['file:/warehouse'] = './wh', ['s3://b'] = '/mnt/b', ['hdfs://n'] = 'file:/y' },\n"
             "  policies = 'pol',\n"
             "  bind = { { policy = 'a', tables = { 'files.*', 'x.**' }, mode = 'enforce', params = { n = 5 },\n"
             "             allow_below_floor = true, allow_override_quiet = true }, { policy = 'b' }, { policy = 'c', "
             "mode = 'approve' } },\n"
             "  tables = { ['files.scratch.*'] = { allow_below_floor = true }, ['files.db.*'] = { allow_below_floor = "
             "false } },\n"
             "  flags = { freeze = true } }");

    (void)state;
    assert_int_equal(c->catalog_count, 2);
    assert_string_equal(c->catalogs[0].name, "files");
    assert_string_equal(c->catalogs[0].type, "directory");
    snprintf(path, sizeof path, "%s/./wh", top);
    assert_string_equal(c->catalogs[0].path, path);
    assert_null(c->catalogs[0].config.sql_name);
    assert_string_equal(c->catalogs[1].path, "/x/c.db");
    assert_string_equal(c->catalogs[1].config.sql_name, "default");
    assert_int_equal(c->maps.count, 3);
    snprintf(path, sizeof path, "file:/warehouse=%s/./wh", top);
    assert_string_equal(c->maps.items[0], path);
    assert_string_equal(c->maps.items[1], "hdfs://n=file:/y");
    assert_string_equal(c->maps.items[2], "s3://b=/mnt/b");
    snprintf(path, sizeof path, "%s/pol", top);
    assert_string_equal(c->policies, path);
    assert_int_equal(c->binding_count, 3);
    assert_string_equal(c->bindings[0].policy, "a");
    assert_int_equal(c->bindings[0].tables.count, 2);
    assert_int_equal(c->bindings[0].mode, EBB_BIND_ENFORCE);
    assert_true(c->bindings[0].allow_below_floor && c->bindings[0].allow_override_quiet);
    assert_int_equal(ebb_value_int_of(c->bindings[0].params, "n", 0), 5);
    assert_int_equal(c->bindings[1].mode, EBB_BIND_OBSERVE); /* what nothing is said of is only watched */
    assert_false(c->bindings[1].allow_below_floor || c->bindings[1].allow_override_quiet);
    assert_int_equal(c->bindings[1].tables.count, 0);
    assert_int_equal(c->bindings[2].mode, EBB_BIND_APPROVE);
    assert_true(ebb_config_allows_below_floor(c, "files.scratch.t"));
    assert_false(ebb_config_allows_below_floor(c, "files.db.t"));
    assert_false(ebb_config_allows_below_floor(c, "files.scratch.a.t"));
    assert_true(ebb_value_bool_of(c->flags, "freeze", false));
    ebb_config_free(c);
}

static void test_remote_catalogs(void **state)
{
    static const char *const HIDDEN[] = {"TOKEN1", "ID:SECRET2", "SECRET3", "SECRET4", "SECRET5"};
    static const char *const SHOWN[] = {"\"uri\":\"https://c.example/api\"", "\"warehouse\":\"wh\"",
                                        "\"Polaris-Realm\":\"***\""};
    char path[256];
    struct ebb_config *c = good(
        "return { catalogs = {\n"
        "  a = { type = 'rest', uri = 'https://c.example/api', warehouse = 'wh', prefix = 'p', token = 'TOKEN1',\n"
        "        headers = { ['Polaris-Realm'] = 'SECRET3' }, vended_credentials = true, ca_file = 'ca.pem' },\n"
        "  b = { type = 'rest', uri = 'http://x', credential = 'ID:SECRET2', oauth2_server_uri = 'http://o/t', scope = "
        "'s' },\n"
        "  u = { type = 'glue', region = 'eu-west-1', endpoint = 'http://e', catalog_id = '1', profile = 'p',\n"
        "        access_key_id = 'AKID', secret_access_key = 'SECRET4', session_token = 'SECRET5' } } }");
    const struct ebb_catalog_config *a = &c->catalogs[0].config, *u = &c->catalogs[2].config;
    struct ebb_buf shown;

    (void)state;
    ebb_buf_init(&shown, 65536);
    assert_string_equal(a->uri, "https://c.example/api");
    assert_string_equal(a->token, "TOKEN1");
    assert_true(a->vended && !c->catalogs[1].config.vended);
    assert_string_equal(a->headers->items[0], "Polaris-Realm: SECRET3");
    snprintf(path, sizeof path, "%s/ca.pem", top);
    assert_string_equal(a->ca_file, path);
    assert_null(a->path);
    assert_string_equal(c->catalogs[1].config.oauth2_uri, "http://o/t");
    assert_string_equal(u->aws.region, "eu-west-1");
    assert_string_equal(u->aws.secret_access_key, "SECRET4");
    assert_int_equal(ebb_config_show(c, &shown, NULL), 0);
    for (size_t i = 0; i < sizeof HIDDEN / sizeof HIDDEN[0]; i++)
        assert_null(strstr(ebb_buf_cstr(&shown), HIDDEN[i]));
    for (size_t i = 0; i < sizeof SHOWN / sizeof SHOWN[0]; i++)
        if (!strstr(ebb_buf_cstr(&shown), SHOWN[i]))
            fail_msg("%s is not in %s", SHOWN[i], ebb_buf_cstr(&shown));
    ebb_buf_fini(&shown);
    ebb_config_free(c);
}

static void test_catalog_by_spec(void **state)
{
    static const char *const BAD_SPECS[] = {"rest:",  "a=rest:x",       "a=rest:http://u:p@h", "a=glue:http://h",
                                            "glue:x", "=rest:http://h", "a=rest:http://h"};
    struct ebb_config *c =
        good("return { catalogs = { l = { type = 'rest', uri = 'http://x', headers = { A = 'b' } } } }");
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_config_add_catalog(c, "a=rest:http://127.0.0.1:8181/iceberg", &err), 0);
    assert_string_equal(c->catalogs[1].config.uri, "http://127.0.0.1:8181/iceberg");
    assert_string_equal(c->catalogs[1].config.name, "a");
    assert_int_equal(ebb_config_add_catalog(c, "directory:/wh", &err), 0);
    assert_string_equal(c->catalogs[2].config.name, "lake");
    assert_string_equal(c->catalogs[2].config.path, "/wh");
    assert_string_equal(c->catalogs[0].config.headers->items[0], "A: b"); /* it moved with its catalog */
    for (size_t i = 0; i < sizeof BAD_SPECS / sizeof BAD_SPECS[0]; i++)
        assert_int_equal(ebb_config_add_catalog(c, BAD_SPECS[i], &err), -EBB_EUSAGE);
    ebb_config_free(c);
}

static void test_a_catalog_behind_another(void **state)
{
    struct ebb_config *c = good("return { catalogs = { grav = { type = 'gravitino', uri = 'http://x', metalake = 'm', "
                                "backing = 'lake' }, lake = { type = 'rest', uri = 'http://y' } } }");
    struct ebb_err err;

    (void)state;
    assert_ptr_equal(ebb_config_catalog(c, "grav")->backing, ebb_config_catalog(c, "lake"));
    assert_null(ebb_config_catalog(c, "lake")->backing);
    assert_null(ebb_config_catalog(c, "gra"));
    for (int i = 0; i < 20; i++) { /* it moves with the others */
        char spec[64];

        snprintf(spec, sizeof spec, "more%d=directory:/x", i);
        assert_int_equal(ebb_config_add_catalog(c, spec, &err), 0);
        assert_ptr_equal(ebb_config_catalog(c, "grav")->backing, ebb_config_catalog(c, "lake"));
        assert_string_equal(ebb_config_catalog(c, "grav")->backing->uri, "http://y");
    }
    ebb_config_free(c);
}

static void test_nothing(void **state)
{
    struct ebb_config *c = good("return {}");

    (void)state;
    assert_int_equal(c->catalog_count + c->binding_count + c->maps.count, 0);
    assert_null(c->policies);
    assert_false(ebb_config_allows_below_floor(c, "a.b.c"));
    ebb_config_free(c);
    c = good("return { catalogs = {}, locations = {}, bind = {}, tables = {}, flags = {} }");
    ebb_config_free(c);
}

static const struct bad BAD[] = {
    {"return { catalog = {} }", EBB_ECONFIG_UNKNOWN_KEY, "catalog: unknown key", "catalogs"},
    {"return { polices = 'x' }", EBB_ECONFIG_UNKNOWN_KEY, "polices: unknown key", "policies"},
    {"return { catalogs = { l = { type = 'directory', pth = 'x' } } }", EBB_ECONFIG_UNKNOWN_KEY,
     "catalogs.l.pth: unknown key", "path"},
    {"return { bind = { { policy = 'a', table = {} } } }", EBB_ECONFIG_UNKNOWN_KEY, "bind.table: unknown key",
     "tables"},
    {"return { bind = { { policy = 'a', mode = 'enforce', allow_under_floor = true } } }", EBB_ECONFIG_UNKNOWN_KEY,
     "bind.allow_under_floor", ""},
    {"return { tables = { ['a.*'] = { allow_belowfloor = true } } }", EBB_ECONFIG_UNKNOWN_KEY,
     "tables.a.*.allow_belowfloor", "allow_below_floor"},
    {"return { ['catalogs\\0x'] = {} }", EBB_ECONFIG_UNKNOWN_KEY, "unknown key", ""},
    {"return { engines = { flink = {} } }", EBB_ECONFIG_UNKNOWN_KEY, "engines.flink: unknown key", ""},
    {"return { engines = { spark = { comand = { 'x' } } } }", EBB_ECONFIG_UNKNOWN_KEY, "engines.spark.comand",
     "command"},
    {"return { engines = { spark = { command = {} } } }", EBB_ECONFIG, "engines.spark.command", ""},
    {"return { engines = { spark = { command = { 'spark-sql', '--properties-file=x' } } } }", EBB_ECONFIG,
     "engines.spark.command: --properties-file", ""},
    {"return { engines = { spark = { conf = { ['sql.x'] = 'y' } } } }", EBB_ECONFIG, "engines.spark.conf.sql.x", ""},
    {"return { engines = { spark = { conf = { ['spark.x'] = 1 } } } }", EBB_ECONFIG, "text is wanted", ""},
    {"return { engines = { spark = { timeout = '1s' } } }", EBB_ECONFIG, "engines.spark.timeout", ""},
    {"return { engines = { trino = {} } }", EBB_ECONFIG, "engines.trino.uri", ""},
    {"return { engines = { trino = { uri = 'ftp://x' } } }", EBB_ECONFIG, "engines.trino.uri", ""},
    {"return { engines = { trino = { uri = 'http://u:p@x' } } }", EBB_ECONFIG, "engines.trino.uri", ""},
    {"return { engines = { trino = { uri = 'http://x', token = 't' } } }", EBB_ECONFIG, "https is wanted", ""},
    {"return { engines = { trino = { uri = 'https://x', token = 't', password = 'p' } } }", EBB_ECONFIG,
     "exclude each other", ""},
    {"return { engines = { trino = { uri = 'https://x', user = 'a\\nb' } } }", EBB_ECONFIG, "control characters", ""},
    {"return { engines = { livy = { uri = 'http://x' } } }", EBB_ECONFIG, "engines.livy.file", ""},
    {"return { bind = { { policy = 'a', engine = 'flink' } } }", EBB_ECONFIG, "bind.engine", ""},
    {"return { bind = { { policy = 'a', engine = { 'native', above = '5 rows', use = 'spark' } } } }", EBB_ECONFIG,
     "bind.engine.above", ""},
    {"return { bind = { { policy = 'a', engine = { 'native', 'spark', above = 1 } } } }", EBB_ECONFIG, "", ""},
    {"return { catalogs = { l = { type = 'hive', uri = 'http://x' } } }", EBB_EUNSUPPORTED, "catalogs.l: type hive",
     ""},
    {"return { catalogs = { l = { type = 'postgresql' } } }", EBB_EUNSUPPORTED, "catalogs.l: type postgresql", ""},
    {"return { catalogs = { l = { type = 'rset' } } }", EBB_ECONFIG, "catalogs.l.type: there is no such", "rest"},
    {"return { catalogs = { l = { type = 'oracle' } } }", EBB_ECONFIG, "catalogs.l.type: there is no such", "glue"},
    {"return { catalogs = { l = { typ = 'rest' } } }", EBB_ECONFIG_UNKNOWN_KEY, "catalogs.l.typ: unknown", "type"},
    {"return { catalogs = { l = { type = 'rest' } } }", EBB_ECONFIG, "catalogs.l.uri: is missing", ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://x', path = 'y' } } }", EBB_ECONFIG_UNKNOWN_KEY,
     "catalogs.l.path: unknown key", ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://x', warehose = 'y' } } }", EBB_ECONFIG_UNKNOWN_KEY,
     "catalogs.l.warehose: unknown key", "warehouse"},
    {"return { catalogs = { l = { type = 'rest', uri = 'ftp://x' } } }", EBB_ECONFIG, "catalogs.l.uri: a http", ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://' } } }", EBB_ECONFIG, "catalogs.l.uri: a http", ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://u:p@x' } } }", EBB_ECONFIG, "catalogs.l.uri: a http",
     ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://x?token=y' } } }", EBB_ECONFIG, "catalogs.l.uri: a", ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://x', token = '' } } }", EBB_ECONFIG,
     "catalogs.l.token: text is wanted", ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://x', vended_credentials = 'yes' } } }", EBB_ECONFIG,
     "catalogs.l.vended_credentials: true or false", ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://x', token = 'a', credential = 'b' } } }", EBB_ECONFIG,
     "catalogs.l: either token or credential", ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://x', scope = 'a' } } }", EBB_ECONFIG,
     "go with credential only", ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://x', headers = 'a' } } }", EBB_ECONFIG,
     "catalogs.l.headers: a table", ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://x', headers = { X = 'a\\nb' } } } }", EBB_ECONFIG,
     "catalogs.l.headers: [\"Name\"]", ""},
    {"return { catalogs = { l = { type = 'rest', uri = 'http://x', headers = { authorization = 'a' } } } }",
     EBB_ECONFIG, "use token or credential", ""},
    {"return { catalogs = { l = { type = 'hive', uri = 'http://x' } } }", EBB_EUNSUPPORTED, "catalogs.l: type hive",
     ""},
    {"return { catalogs = { l = { type = 'gravitino', uri = 'http://x' } } }", EBB_ECONFIG,
     "catalogs.l.metalake: is missing", ""},
    {"return { catalogs = { l = { type = 'gravitino', uri = 'http://x', metalake = 'm', backing = 'k' } } }",
     EBB_ECONFIG, "catalogs.l.backing: the name of another catalog", ""},
    {"return { catalogs = { l = { type = 'gravitino', uri = 'http://x', metalake = 'm', backing = 'l' } } }",
     EBB_ECONFIG, "catalogs.l.backing: is itself of type gravitino", ""},
    {"return { catalogs = { l = { type = 'gravitino', uri = 'http://x', metalake = 'm', user = 'u', token = 't' } } }",
     EBB_ECONFIG, "user goes neither with token", ""},
    {"return { catalogs = { l = { type = 'gravitino', uri = 'http://x', metalake = 'm', user = 'u:p' } } }",
     EBB_ECONFIG, "catalogs.l.user: holds a ':'", ""},
    {"return { catalogs = { l = { type = 'gravitino', uri = 'http://x', metalake = 'm', credential = 'u:p' } } }",
     EBB_ECONFIG, "catalogs.l.oauth2_server_uri: is missing", ""},
    {"return { catalogs = { l = { type = 'gravitino', uri = 'http://x', metalake = 'm', warehouse = 'w' } } }",
     EBB_ECONFIG_UNKNOWN_KEY, "catalogs.l.warehouse", ""},
    {"return { catalogs = { l = { type = 'glue', access_key_id = 'c' } } }", EBB_ECONFIG, "go together", ""},
    {"return { catalogs = { l = { type = 'glue', session_token = 'c' } } }", EBB_ECONFIG, "session_token goes", ""},
    {"return { catalogs = { l = { type = 'glue', uri = 'http://x' } } }", EBB_ECONFIG_UNKNOWN_KEY, "catalogs.l.uri",
     ""},
    {"return { catalogs = { 'x' } }", EBB_ECONFIG, "catalogs: a table with named keys", ""},
    {"return { catalogs = 'x' }", EBB_ECONFIG, "catalogs: a table with named keys", ""},
    {"return { catalogs = { l = 'x' } }", EBB_ECONFIG, "catalogs.l: a table with named keys", ""},
    {"return { catalogs = { l = { path = 'x' } } }", EBB_ECONFIG, "catalogs.l.type: is missing", ""},
    {"return { catalogs = { l = { type = 'directory' } } }", EBB_ECONFIG, "catalogs.l.path: is missing", ""},
    {"return { catalogs = { l = { type = 'directory', path = 5 } } }", EBB_ECONFIG, "catalogs.l.path: text is wanted",
     ""},
    {"return { catalogs = { l = { type = 'directory', path = '' } } }", EBB_ECONFIG, "catalogs.l.path: text is wanted",
     ""},
    {"return { catalogs = { l = { type = 'directory', path = 'a\\0b' } } }", EBB_ECONFIG,
     "catalogs.l.path: text is wanted", ""},
    {"return { catalogs = { ['l\\0x'] = { type = 'directory', path = 'a' } } }", EBB_ECONFIG,
     "catalogs: a name is empty or holds a NUL", ""},
    {"return { catalogs = { [''] = { type = 'directory', path = 'a' } } }", EBB_ECONFIG, "catalogs: a name is empty",
     ""},
    {"return { catalogs = { path = { type = 'directory', path = 'a' } } }", EBB_ECONFIG, "catalogs.path: is how tables",
     ""},
    {"return { locations = { 'x' } }", EBB_ECONFIG, "locations: a table of", ""},
    {"return { locations = 'x' }", EBB_ECONFIG, "locations: a table of", ""},
    {"return { locations = { ['file:/a'] = 5 } }", EBB_ECONFIG, "locations.file:/a: text is wanted", ""},
    {"return { locations = { ['file:/a'] = '' } }", EBB_ECONFIG, "locations.file:/a: text is wanted", ""},
    {"return { locations = { ['file:/a'] = './x=y' } }", EBB_ECONFIG, "may not hold '='", ""},
    {"return { policies = {} }", EBB_ECONFIG, "policies: text is wanted", ""},
    {"return { bind = { { policy = 'a' }, { policy = 'b', guard = { min_intervall = '1d' } } } }", EBB_ECONFIG,
     "bind[2]: guard.min_intervall", "min_interval"},
    {"return { bind = { { policy = 'a', guard = 5 } } }", EBB_ECONFIG, "bind[1]: guard: a table", ""},
    {"return { bind = { { policy = 'a', guard = { min_interval = '1' } } } }", EBB_ECONFIG, "guard.min_interval", ""},
    {"return { bind = { { policy = 'a', blackouts = { '2026-12-24', '2026-12-32' } } } }", EBB_ECONFIG,
     "bind[1]: blackouts[2]: \"2026-12-32\"", "2026-12-24"},
    {"return { bind = { { policy = 'a', blackouts = {} } } }", EBB_ECONFIG, "blackouts: a list of dates", ""},
    {"return { bind = { { policy = 'a', blackouts = '2026-12-24' } } }", EBB_ECONFIG, "blackouts: a list of dates", ""},
    {"return { bind = { { policy = 'a', blackout_tz = 'UTC' } } }", EBB_ECONFIG, "goes with blackouts", ""},
    {"return { bind = { { policy = 'a', blackouts = { '2026-12-24' }, blackout_tz = 'EST' } } }", EBB_ECONFIG, "EST",
     ""},
    {"return { bind = { policy = 'a' } }", EBB_ECONFIG, "bind: a list of bindings", ""},
    {"return { bind = 'a' }", EBB_ECONFIG, "bind: a list of bindings", ""},
    {"return { bind = { 'a' } }", EBB_ECONFIG, "bind: a table with named keys", ""},
    {"return { bind = { {} } }", EBB_ECONFIG, "bind.policy: is missing", ""},
    {"return { bind = { { policy = true } } }", EBB_ECONFIG, "bind.policy: text is wanted", ""},
    {"return { bind = { { policy = 'a', mode = 'Enforce' } } }", EBB_ECONFIG, "bind.mode: observe, approve or enforce",
     ""},
    {"return { bind = { { policy = 'a', mode = true } } }", EBB_ECONFIG, "bind.mode", ""},
    {"return { bind = { { policy = 'a', tables = 'x' } } }", EBB_ECONFIG, "bind.tables: a list of texts", ""},
    {"return { bind = { { policy = 'a', tables = { 5 } } } }", EBB_ECONFIG, "bind.tables: a list of texts", ""},
    {"return { bind = { { policy = 'a', tables = { '' } } } }", EBB_ECONFIG, "bind.tables: a list of texts", ""},
    {"return { bind = { { policy = 'a', tables = { x = 'y' } } } }", EBB_ECONFIG, "bind.tables: a list of texts", ""},
    {"return { bind = { { policy = 'a', params = { 1 } } } }", EBB_ECONFIG, "bind.params: a table with named keys", ""},
    {"return { bind = { { policy = 'a', allow_below_floor = 'true' } } }", EBB_ECONFIG,
     "bind.allow_below_floor: true or false", ""},
    {"return { bind = { { policy = 'a', allow_override_quiet = 1 } } }", EBB_ECONFIG,
     "bind.allow_override_quiet: true or false", ""},
    {"return { tables = { 'a' } }", EBB_ECONFIG, "tables: a table of", ""},
    {"return { tables = { a = true } }", EBB_ECONFIG, "tables.a: a table with named keys", ""},
    {"return { tables = { a = { allow_below_floor = 1 } } }", EBB_ECONFIG, "tables.a.allow_below_floor: true or false",
     ""},
    {"return { flags = { 'a' } }", EBB_ECONFIG, "flags: a table of", ""},
    {"return { flags = { a = 'yes' } }", EBB_ECONFIG, "flags.a: true or false", ""},
    {"return { 1 }", EBB_ECONFIG, "a table with named keys", ""},
    {"return nil", EBB_ECONFIG, "", ""},
    {"", EBB_ECONFIG, "", ""},
    {"return {\n  catalogs = {\n    x = = 5\n} }", EBB_ECONFIG_SYNTAX, ":3:", ""},
    {"return { a = env 'EBB_NOT_SET_ANYWHERE' }", EBB_ECONFIG, "EBB_NOT_SET_ANYWHERE is not set", ""},
    {"while true do end", EBB_ECONFIG, "gas", ""},
    {"local t = {} for i = 1, 1e9 do t[i] = i end return t", EBB_ECONFIG, "", ""},
    {"local s = 'x' while true do s = s .. s end", EBB_ECONFIG, "", ""},
    {"local t = {} t.t = t return t", EBB_ECONFIG, "", ""},
    {"return setmetatable({}, {})", EBB_ECONFIG, "", ""},
    {"return { policies = io.open('/etc/passwd') }", EBB_ECONFIG, "", ""},
    {"\x1bLua", EBB_ECONFIG_SYNTAX, "", ""},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        expect_bad(&BAD[i]);
}

/* An empty list reads as `{}`, the same as no key would: it must not come to mean "every table". */
static void test_a_binding_of_no_table_is_refused(void **state)
{
    static const char TEXT[] =
        "local none = {} return { bind = { { policy = 'a', mode = 'enforce', tables = none } } }";
    struct ebb_config *c;
    struct ebb_err err;

    (void)state;
    assert_int_equal(load_bytes(TEXT, strlen(TEXT), &c, &err), -EBB_ECONFIG);
    assert_non_null(strstr(err.message, "bind.tables"));
}

static void test_env(void **state)
{
    struct ebb_config *c;

    (void)state;
    setenv("EBB_TEST_FOLDER", "/from/env", 1);
    c = good("return { policies = env 'EBB_TEST_FOLDER' }");
    assert_string_equal(c->policies, "/from/env");
    ebb_config_free(c);
}

static void test_bytes(void **state)
{
    char *big = malloc(70000);
    struct ebb_config *c;
    struct ebb_err err;

    (void)state;
    memset(big, '-', 70000);
    assert_int_equal(load_bytes(big, 65537, &c, &err), -EBB_ECONFIG);
    memcpy(big, "return {} --", 12);
    assert_int_equal(load_bytes(big, 65536, &c, &err), 0);
    ebb_config_free(c);
    free(big);
    assert_int_equal(load_bytes("return {}\0 x", 12, &c, &err), -EBB_ECONFIG_SYNTAX);
    c = good("return {\r\n policies = 'x'\r\n}\r\n");
    ebb_config_free(c);
}

static void test_places_that_are_no_file(void **state)
{
    struct ebb_config *c = NULL;
    struct ebb_err err;
    char path[256];

    (void)state;
    assert_int_equal(ebb_config_load(top, &c, &err), -EBB_ECONFIG);
    assert_int_equal(ebb_config_load("/dev/zero", &c, &err), -EBB_ECONFIG);
    snprintf(path, sizeof path, "%s/fifo", top);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(ebb_config_load(path, &c, &err), -EBB_ECONFIG);
    snprintf(path, sizeof path, "%s/none.lua", top);
    assert_int_equal(ebb_config_load(path, &c, &err), -EBB_ECONFIG);
    assert_null(c);
}

/* Through a link the file's own folder counts. */
static void test_relative_to_the_file_behind_a_link(void **state)
{
    struct ebb_config *c = NULL;
    struct ebb_err err;
    char path[256], want[256], real[256];

    (void)state;
    snprintf(path, sizeof path, "%s/sub", top);
    assert_int_equal(mkdir(path, 0700), 0);
    put("sub/real.lua", "return { policies = 'p' }", 25);
    snprintf(real, sizeof real, "%s/sub/real.lua", top);
    snprintf(path, sizeof path, "%s/link.lua", top);
    assert_int_equal(symlink(real, path), 0);
    assert_int_equal(ebb_config_load(path, &c, &err), 0);
    snprintf(want, sizeof want, "%s/sub/p", top);
    assert_string_equal(c->policies, want);
    ebb_config_free(c);
}

static void test_finding(void **state)
{
    struct ebb_buf found;
    char path[256];

    (void)state;
    ebb_buf_init(&found, 65536);
    assert_int_equal(chdir(top), 0);
    put("ebb.lua", "return {}", 9);
    ebb_config_find(&found);
    assert_string_equal(ebb_buf_cstr(&found), "ebb.lua");
    snprintf(path, sizeof path, "%s/ebb.lua", top);
    assert_int_equal(unlink(path), 0);
    setenv("XDG_CONFIG_HOME", top, 1);
    snprintf(path, sizeof path, "%s/ebb", top);
    assert_int_equal(mkdir(path, 0700), 0);
    put("ebb/ebb.lua", "return {}", 9);
    ebb_config_find(&found);
    snprintf(path, sizeof path, "%s/ebb/ebb.lua", top);
    assert_string_equal(ebb_buf_cstr(&found), path);
    setenv("XDG_CONFIG_HOME", "relative", 1); /* not absolute: does not count */
    setenv("HOME", "/nowhere", 1);
    ebb_config_find(&found);
    assert_true(!found.len || !strcmp(ebb_buf_cstr(&found), "/etc/ebb/ebb.lua"));
    ebb_buf_fini(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guards_and_blackouts),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_a_catalog_behind_another),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_remote_catalogs),
        cmocka_unit_test(test_catalog_by_spec),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_a_binding_of_no_table_is_refused),
        cmocka_unit_test(test_env),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_places_that_are_no_file),
        cmocka_unit_test(test_relative_to_the_file_behind_a_link),
        cmocka_unit_test(test_finding),
    };

    return cmocka_run_group_tests(tests, make_top, remove_top);
}
