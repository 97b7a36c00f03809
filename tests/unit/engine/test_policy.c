/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy files: the closed schema with places and suggestions, manifest, parameters, triggers, targets, libraries.
 */
#include "engine_help.h"

#include <sys/stat.h>
#include <unistd.h>

/* Load text that must fail with one error; check place and text. */
static void check_bad(const char *source, int line, const char *message)
{
    struct ebb_policy *policy = NULL;
    struct ebb_diagnostics diags;
    struct ebb_err err;

    ebb_diagnostics_init(&diags);
    if (!ebb_policy_load_text("p.lua", source, strlen(source), &policy, &diags, &err))
        fail_msg("taken: %s", source);
    assert_null(policy);
    assert_true(diags.error_count >= 1);
    if (!strstr(diags.items[0].message, message))
        fail_msg("%s: \"%s\", expected \"%s\"", source, diags.items[0].message, message);
    if (line)
        assert_int_equal(diags.items[0].line, line);
    ebb_diagnostics_fini(&diags);
}

#define HEAD "return policy {\n api = 1, name = \"p\",\n"
#define TAIL ",\n decide = function(t, ctx) return skip(all {}) end }"

static void test_schema(void **state)
{
    (void)state;
    check_bad(HEAD "guard = {\n min_intervall = \"5d\" }" TAIL, 4,
              "guard.min_intervall: unknown, did you mean `min_interval`?");
    check_bad(HEAD "guards = {}" TAIL, 3, "guards: unknown, did you mean `guard`?");
    check_bad("return policy { name = \"p\", decide = function() end }", 1, "api: missing");
    check_bad("return policy { api = 2, name = \"p\", decide = function() end }", 1, "api: must be 1");
    check_bad("return policy { api = 1, name = \"P x\", decide = function() end }", 1, "name: a name is");
    check_bad("return policy { api = 1, name = \"p\" }", 1, "decide: missing");
    check_bad("return policy { api = 1, name = \"p\", decide = 5 }", 1, "decide: a function is due");
    check_bad("return { api = 1 }", 0, "return policy");
    check_bad("local x = check(\"a\", 1, \"==\", 1)", 1, "only inside decide");
    check_bad("local x =\n undefined_thing", 2, "undefined_thing: unknown");
    check_bad(HEAD "guard = { deletes = { max_share = 1.5 } }" TAIL, 3, "not above 0 and at most 1");
    check_bad(HEAD "guard = { deletes = { max_share = 0 } }" TAIL, 3, "not above 0 and at most 1");
    check_bad(HEAD "guard = { backoff = { first = \"1h\", factor = 11 } }" TAIL, 3, "factor: not between 1 and 10");
    check_bad(HEAD "guard = { min_interval = \"5 days\" }" TAIL, 3, "guard.min_interval");
    check_bad(HEAD "guard = { min_interval = 5 }" TAIL, 3, "a duration is due, not an integer");
    check_bad(HEAD "guard = { overlap = \"maybe\" }" TAIL, 3, "none of skip|queue_one|cancel_running");
    check_bad(HEAD "target = { tables = {} , exclud = {} }" TAIL, 3, "did you mean `exclude`?");
    check_bad(HEAD "target = { tables = { \"a..b\" } }" TAIL, 3, "no table pattern");
    check_bad(HEAD "doc = (\"x\"):rep(1025)" TAIL, 3, "longer than 1024 bytes");
}

static void test_quiet_schema(void **state)
{
    (void)state;
    check_bad(HEAD "guard = { quiet = { { from = \"08:00\", to = \"08:00\" } } }" TAIL, 3, "has no length");
    check_bad(HEAD "guard = { quiet = { { from = \"00:00\", to = \"00:00\" } } }" TAIL, 0, "no time that is not quiet");
    check_bad(HEAD "guard = { quiet = { { from = \"8:00\", to = \"10:00\" } } }" TAIL, 3, "no time of day");
    check_bad(HEAD "guard = { quiet = { { days = \"Mon-Fri\", from = \"08:00\", to = \"10:00\" } } }" TAIL, 3,
              "not understood");
    check_bad(HEAD "guard = { quiet = { { from = \"08:00\", to = \"10:00\", tz = \"EST\" } } }" TAIL, 3, "EST");
}

static void test_trigger_schema(void **state)
{
    (void)state;
    check_bad(HEAD "triggers = { time.calendar { \"Sunny 02:00\" } }" TAIL, 3, "triggers[1]");
    check_bad(HEAD "triggers = { time.calendar { \"Sun 02:00\", timezone = \"UTC\" } }" TAIL, 3, "timezone: unknown");
    check_bad(HEAD "triggers = { time.every { \"2h\" } }" TAIL, 3, "anchor: missing");
    check_bad(HEAD "triggers = { time.every { \"2h\", anchor = \"epoch\", tz = \"UTC\" } }" TAIL, 3, "start_of_day");
    check_bad(HEAD "triggers = { on.count { \"snapshot.committed\" } }" TAIL, 3, "n: missing");
    check_bad(HEAD "triggers = { on.event { \"commit.failed\", where = 5 } }" TAIL, 3, "a function is due");
    check_bad(HEAD "triggers = { \"Sun 02:00\" }" TAIL, 3, "triggers[1]: a table is due, not a string");
    check_bad(HEAD "triggers = { on.count { \"x\", n = param \"nope\" } }" TAIL, 3, "there is no parameter \"nope\"");
    check_bad(HEAD "params = { d = { type = \"duration\", default = \"1d\" } },\n triggers = { on.count { \"x\", n = "
                   "param \"d\" } }" TAIL,
              4, "is a duration, not an integer");
}

static void test_param_schema(void **state)
{
    (void)state;
    check_bad(HEAD "params = { r = { type = \"duration\", default = \"1d\", min = \"3d\" } }" TAIL, 3,
              "below the minimum 3d");
    check_bad(HEAD "params = { r = { type = \"days\", default = 1 } }" TAIL, 3, "none of duration|");
    check_bad(HEAD "params = { r = { type = \"integer\", default = 1.5 } }" TAIL, 3, "an integer is due");
    check_bad(HEAD "params = { r = { type = \"timezone\", default = \"Nowhere/City\" } }" TAIL, 3, "params.r.default");
    check_bad(HEAD "params = { r = { type = \"boolean\", default = true, min = 1 } }" TAIL, 3, "has no bounds");
    check_bad(HEAD "params = { [\"a-b\"] = { type = \"boolean\" } }" TAIL, 3, "a name is made of");
}

/* Load text that must be right. */
static void check_good(const char *source)
{
    struct ebb_policy *policy = NULL;
    struct ebb_err err;

    if (ebb_policy_load_text("p.lua", source, strlen(source), &policy, NULL, &err))
        fail_msg("%s\n%s", source, err.message);
    ebb_policy_free(policy);
}

/* HEAD, then `each` n times within before and after. */
static const char *many(char out[32768], const char *before, const char *each, int n, const char *after)
{
    size_t at = (size_t)snprintf(out, 32768, HEAD "%s", before);

    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, 32768 - at, "%s", each);
    snprintf(out + at, 32768 - at, "%s" TAIL, after);
    return out;
}

static void test_counts(void **state)
{
    static char source[32768];
    size_t at;

    (void)state;
    check_good(many(source, "triggers = {", "time.calendar { \"Sun 02:00\" },", 32, "}"));
    check_bad(many(source, "triggers = {", "time.calendar { \"Sun 02:00\" },", 33, "}"), 3, "more than 32");
    check_good(many(source, "guard = { quiet = {", "{ from = \"01:00\", to = \"02:00\" },", 16, "} }"));
    check_bad(many(source, "guard = { quiet = {", "{ from = \"01:00\", to = \"02:00\" },", 17, "} }"), 3,
              "more than 16");
    check_good(many(source, "doc = \"", "x", 1024, "\""));
    check_bad(many(source, "doc = \"", "x", 1025, "\""), 3, "longer than 1024 bytes");
    for (int n = 64; n <= 65; n++) {
        at = (size_t)snprintf(source, sizeof source, HEAD "params = {");
        for (int i = 0; i < n; i++)
            at += (size_t)snprintf(source + at, sizeof source - at, "p%d = { type = \"boolean\" },", i);
        snprintf(source + at, sizeof source - at, "}" TAIL);
        if (n == 64)
            check_good(source);
        else
            check_bad(source, 3, "more than 64");
    }
}

static void test_bounds(void **state)
{
    static const char *const GOOD[] = {
        "guard = { deletes = { max_share = 1 } }",
        "guard = { deletes = { max_share = 1e-9 } }",
        "guard = { backoff = { first = \"1h\", factor = 1 } }",
        "guard = { backoff = { first = \"1h\", factor = 10 } }",
        "was = \"old-name\"",
        "target = { tables = \"a.b.c\" }",
        "params = { n = { type = \"integer\", min = 3, max = 3, default = 3 } }",
    };
    static const struct {
        const char *text, *message;
    } BAD[] = {
        {"guard = { deletes = { max_share = 1.0001 } }", "not above 0 and at most 1"},
        {"guard = { deletes = { max_share = -0.1 } }", "not above 0 and at most 1"},
        {"guard = { deletes = { max_files = 0 } }", "not between"},
        {"guard = { deletes = { max_files = 1.5 } }", "a whole number is due"},
        {"guard = { rewrites = { max_share = 0.5 } }", "unknown"},
        {"guard = { backoff = { first = \"1h\", factor = 0.99 } }", "not between 1 and 10"},
        {"guard = { backoff = { first = \"1h\", factor = 10.01 } }", "not between 1 and 10"},
        {"guard = { backoff = { factor = 2 } }", "guard.backoff.first: missing"},
        {"was = \"Old\"", "was: a name is"},
        {"was = 5", "was: a text is due, not an integer"},
        {"target = {}", "target.tables: missing"},
        {"target = { tables = { 5 } }", "target.tables[1]: a text is due, not an integer"},
        {"target = { tables = { \"a.b\" }, where = { property = \"x\" } }", "one of is, is_not, matches, exists"},
        {"params = { n = { type = \"integer\", min = 5, max = 3 } }", "params.n.min: above the maximum"},
        {"params = { n = { default = 3 } }", "params.n.type: missing"},
        {"params = { 5 }", "table is due"},
        {"decide2 = function() end", "decide2: unknown, did you mean `decide`?"},
    };
    char source[1024], name[80];

    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        snprintf(source, sizeof source, HEAD "%s" TAIL, GOOD[i]);
        check_good(source);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        snprintf(source, sizeof source, HEAD "%s" TAIL, BAD[i].text);
        check_bad(source, 3, BAD[i].message);
    }
    for (int n = 63; n <= 64; n++) {
        memset(name, 'a', sizeof name);
        name[n] = '\0';
        snprintf(source, sizeof source, "return policy { api = 1, name = \"%s\"" TAIL, name);
        if (n == 63)
            check_good(source);
        else
            check_bad(source, 1, "name: a name is");
    }
}

static void test_manifest(void **state)
{
    static const char SOURCE[] =
        "return policy { api = 1, name = \"p\", params = { n = { type = \"integer\", default = 60 } },"
        " triggers = { on.count { \"snapshot.committed\", n = param \"n\" } }, decide = function() end }";
    struct ebb_policy *policy = NULL;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_policy_load_text("p.lua", SOURCE, sizeof SOURCE - 1, &policy, NULL, &err), 0);
    assert_string_equal(
        ebb_policy_get_manifest_json(policy),
        "{\"api\":1,\"decide\":\"function\",\"name\":\"p\",\"params\":{\"n\":{\"default\":60,\"type\":\"integer\"}},"
        "\"triggers\":[{\"kind\":\"on.count\",\"n\":{\"param\":\"n\"},\"text\":\"snapshot.committed\"}]}");
    assert_int_equal(strncmp(ebb_policy_get_bundle(policy), "sha256:", 7), 0);
    assert_int_equal(strlen(ebb_policy_get_bundle(policy)), 7 + 64);
    assert_false(ebb_policy_has_target(policy));
    ebb_policy_free(policy);
}

static const char PARAMS[] =
    "params = { retain = { type = \"duration\", default = \"5d\", min = \"3d\" },"
    " size = { type = \"bytes\", default = \"1GiB\", property = \"write.size\" },"
    " tz = { type = \"timezone\", default = \"UTC\", property = \"owner.timezone\" },"
    " share = { type = \"number\", default = 0.5, max = 1 },"
    " place = { type = \"location\" } },"
    " triggers = { time.calendar { \"Sun 02:00\", tz = param \"tz\", spread = \"3h\", late_by = \"36h\" } },"
    " guard = { min_interval = param \"retain\", quiet = { { days = \"Mon..Fri\", from = \"07:00\","
    " to = \"20:00\", tz = param \"tz\" } }, deletes = { max_files = 5, max_share = param \"share\" } },";

static void test_settings(void **state)
{
    struct ebb_policy *policy = help_policy(PARAMS, "return skip(all {})");
    struct ebb_value *overrides = help_json("{\"retain\":\"4d\",\"share\":0.25}");
    struct ebb_value *properties = help_json("{\"write.size\":\"1000\",\"owner.timezone\":\"Europe/Berlin\"}");
    struct ebb_settings *s = NULL;
    const struct ebb_value *p;
    const struct ebb_guard *g;
    const struct ebb_trigger *t;
    struct ebb_err err;
    int64_t at;

    (void)state;
    assert_int_equal(ebb_settings_new(policy, overrides, properties, &s, &err), 0);
    p = ebb_settings_get_params(s);
    assert_int_equal(ebb_value_int_of(p, "retain", 0), 4 * HELP_DAY);
    assert_int_equal(ebb_value_int_of(p, "size", 0), 1000);
    assert_string_equal(ebb_value_text_of(p, "tz"), "Europe/Berlin");
    assert_null(ebb_value_get(p, "place"));
    g = ebb_settings_get_guard(s);
    assert_int_equal(g->min_interval_ms, 4 * HELP_DAY);
    assert_int_equal(g->deletes_max_files, 5);
    assert_true(g->deletes_max_share == 0.25);
    assert_true(g->ignore_own);
    assert_int_equal(ebb_settings_get_trigger_count(s), 1);
    t = ebb_settings_get_trigger(s, 0);
    assert_int_equal(t->kind, EBB_TRIGGER_CALENDAR);
    assert_string_equal(t->tz, "Europe/Berlin");
    assert_int_equal(t->spread_ms, 3 * 3600000);
    assert_int_equal(t->late_by_ms, 36 * 3600000);
    /* 2026-03-29 02:00 does not exist in Berlin: 01:00Z is the first instant after the gap */
    assert_true(ebb_calendar_next(t->calendar, HELP_NOW, &at));
    assert_int_equal(at, HELP_NOW + 3600000);
    /* Monday 2026-03-30 05:00Z is 07:00 in Berlin: quiet until 20:00 there, 18:00Z */
    assert_true(ebb_guard_next_free(g, NULL, HELP_NOW + 29 * 3600000, &at));
    assert_int_equal(at, HELP_NOW + 42 * 3600000);
    ebb_settings_free(s);
    ebb_value_free(overrides);
    ebb_value_free(properties);
    ebb_policy_free(policy);
}

static void test_bad_settings(void **state)
{
    static const struct {
        const char *overrides, *properties, *text;
    } CASES[] = {
        {"{\"retain\":\"1d\"}", "{}", "below the minimum 3d"},
        {"{\"retain\":-5}", "{}", "negative"},
        {"{\"retan\":\"5d\"}", "{}", "no such parameter"},
        {"{\"share\":2}", "{}", "above the maximum 1"},
        {"{\"share\":-1}", "{}", "max_share"},
        {"{}", "{\"owner.timezone\":\"PST\"}", "owner.timezone"},
        {"{}", "{\"write.size\":\"big\"}", "write.size"},
    };
    struct ebb_policy *policy = help_policy(PARAMS, "return skip(all {})");

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct ebb_value *o = help_json(CASES[i].overrides), *p = help_json(CASES[i].properties);
        struct ebb_settings *s = NULL;
        struct ebb_err err;

        assert_int_equal(ebb_settings_new(policy, o, p, &s, &err), -EBB_ECONFIG);
        if (!strstr(err.message, CASES[i].text))
            fail_msg("%s, expected %s", err.message, CASES[i].text);
        assert_null(s);
        ebb_value_free(o);
        ebb_value_free(p);
    }
    ebb_policy_free(policy);
}

/* What is over a limit is the script's error, in whatever order its tables are walked. */
static void test_too_many_values(void **state)
{
    char *source = malloc(65536);
    size_t n = 0;

    (void)state;
    n += (size_t)snprintf(source, 65536, "return policy { api = 1, name = \"p\", triggers = {");
    for (int i = 0; i < 1500; i++)
        n += (size_t)snprintf(source + n, 65536 - n, "time.calendar { \"02:00\" },");
    n += (size_t)snprintf(source + n, 65536 - n, "}, decide = function() return skip(all {}) end }");
    for (int i = 0; i < 20; i++) {
        struct ebb_policy *policy = NULL;
        struct ebb_err err;

        assert_int_equal(ebb_policy_load_text("p.lua", source, n, &policy, NULL, &err), -EBB_EPOLICY_SCHEMA);
        assert_null(policy);
    }
    free(source);
}

static void test_globs(void **state)
{
    static const struct {
        const char *glob, *name;
        bool is_match;
    } CASES[] = {
        {"prod.*.*", "prod.events.clicks", true},
        {"prod.*.*", "prod.a.b.c", false},
        {"prod.**", "prod.a.b.c", true},
        {"**", "x", true},
        {"**.clicks", "a.b.clicks", true},
        {"**.clicks", "clicks", true},
        {"a.**.c", "a.c", true},
        {"a.**.c", "a.b.b.c", true},
        {"a.**.c", "a.b.b.d", false},
        {"*", "a.b", false},
        {"prod.ev*.cl*s", "prod.events.clicks", true},
        {"prod.ev*x.clicks", "prod.events.clicks", false},
        {"*.*", "a.b", true},
        {"prod", "prod.x", false},
        {"**.a.**.b", "x.a.a.y.b", true},
        {"**.a.**.b", "x.a.a.y.c", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (ebb_table_glob_is_match(CASES[i].glob, CASES[i].name) != CASES[i].is_match)
            fail_msg("%s on %s", CASES[i].glob, CASES[i].name);
    assert_true(ebb_glob_is_match(EBB_STR("*.stats"), EBB_STR("metadata/x.stats")));
    assert_true(ebb_glob_is_match(EBB_STR("a?c*"), EBB_STR("abc")));
    assert_false(ebb_glob_is_match(EBB_STR("a?c"), EBB_STR("ac")));
}

static void test_target(void **state)
{
    static const char SOURCE[] =
        "return policy { api = 1, name = \"p\", target = { tables = { \"prod.*.*\" }, exclude = { \"prod.scratch.*\" },"
        " where = { property = \"maintenance.orphans\", is_not = \"off\" } }, decide = function() end }";
    struct ebb_value *off = help_json("{\"maintenance.orphans\":\"off\"}"),
                     *on = help_json("{\"maintenance.orphans\":\"on\"}");
    struct ebb_policy *policy = NULL;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_policy_load_text("p.lua", SOURCE, sizeof SOURCE - 1, &policy, NULL, &err), 0);
    assert_true(ebb_policy_is_target(policy, "prod", "events", "clicks", NULL));
    assert_true(ebb_policy_is_target(policy, "prod", "events", "clicks", on));
    assert_false(ebb_policy_is_target(policy, "prod", "events", "clicks", off));
    assert_false(ebb_policy_is_target(policy, "prod", "scratch", "x", NULL));
    assert_false(ebb_policy_is_target(policy, "dev", "events", "clicks", NULL));
    assert_false(ebb_policy_is_target(policy, "prod", "a.b", "x", NULL));
    ebb_policy_free(policy);
    ebb_value_free(on);
    ebb_value_free(off);
}

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int load_in(const char *dir, char bundle[80], struct ebb_err *err)
{
    struct ebb_policy *policy = NULL;
    char path[512];
    int rc;

    snprintf(path, sizeof path, "%s/p.lua", dir);
    rc = ebb_policy_load(path, &policy, NULL, err);
    if (!rc)
        snprintf(bundle, 80, "%s", ebb_policy_get_bundle(policy));
    ebb_policy_free(policy);
    return rc;
}

#define USE(name) "local u = use \"" name "\"\nreturn policy { api = 1, name = u.name, decide = function() end }"

static void test_use(void **state)
{
    char dir[] = "/tmp/ebb-policy-XXXXXX", lib[64], moved[64], path[128], first[80], second[80];
    struct ebb_err err;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(lib, sizeof lib, "%s/lib", dir);
    assert_int_equal(mkdir(lib, 0700), 0);
    write_file(dir, "p.lua", USE("names"));
    write_file(lib, "names.lua", "return { name = \"abc\" }");
    assert_int_equal(load_in(dir, first, &err), 0);
    write_file(lib, "names.lua", "return { name = \"abcd\" }");
    assert_int_equal(load_in(dir, second, &err), 0);
    assert_string_not_equal(first, second);
    write_file(lib, "names.lua", "return use \"names\"");
    assert_int_equal(load_in(dir, first, &err), -EBB_EPOLICY_ERROR);
    assert_non_null(strstr(err.message, "uses itself"));
    write_file(dir, "p.lua", USE("../p"));
    assert_int_equal(load_in(dir, first, &err), -EBB_EPOLICY_ERROR);
    write_file(lib, "names.lua", "return { name = \"abc\" }");
    write_file(dir, "p.lua", USE("link"));
    snprintf(path, sizeof path, "%s/link.lua", lib);
    assert_int_equal(symlink("names.lua", path), 0);
    assert_int_equal(load_in(dir, first, &err), -EBB_EPOLICY_ERROR); /* a good file, but through a link */
    write_file(dir, "p.lua", USE("names\\0x"));
    assert_int_equal(load_in(dir, first, &err), -EBB_EPOLICY_ERROR);
    write_file(dir, "p.lua", USE("names"));
    snprintf(moved, sizeof moved, "%s/elsewhere", dir);
    assert_int_equal(rename(lib, moved), 0);
    assert_int_equal(symlink("elsewhere", lib), 0);
    assert_int_equal(load_in(dir, first, &err), -EBB_EPOLICY_ERROR); /* the whole folder through a link */
    assert_int_equal(unlink(lib), 0);
    assert_int_equal(rename(moved, lib), 0);
    assert_int_equal(load_in(dir, first, &err), 0);
    write_file(dir, "p.lua", USE("none"));
    assert_int_equal(load_in(dir, first, &err), -EBB_EPOLICY_ERROR);
    unlink(path);
    snprintf(path, sizeof path, "%s/names.lua", lib);
    unlink(path);
    snprintf(path, sizeof path, "%s/p.lua", dir);
    unlink(path);
    rmdir(lib);
    rmdir(dir);
    assert_int_equal(load_in(dir, first, &err), -EBB_ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema),
        cmocka_unit_test(test_quiet_schema),
        cmocka_unit_test(test_trigger_schema),
        cmocka_unit_test(test_param_schema),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_manifest),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_too_many_values),
        cmocka_unit_test(test_globs),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
