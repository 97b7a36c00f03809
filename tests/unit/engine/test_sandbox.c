/* SPDX-License-Identifier: Apache-2.0
 *
 * Every hostile policy of tests/cases/sandbox comes out as its first line says, soon and without harm.
 */
#include "engine_help.h"

#include <dirent.h>
#include <locale.h>
#include <time.h>

#include "engine/evaluator.h"
#include "engine/header_priv.h"
#include "engine/lua_version.h"

#define CPU_LIMIT_MS 2000

static int64_t cpu_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The word of the expectation that an outcome stands for. */
static const char *word_of(int rc, const struct ebb_decision *d)
{
    switch (-rc) {
    case 0:
        return ebb_decision_get_verdict(d) == EBB_VERDICT_SKIP ? "ok=skip"
                                                               : ebb_verdict_name(ebb_decision_get_verdict(d));
    case EBB_EPOLICY_GAS:
        return "gas";
    case EBB_EPOLICY_MEMORY:
        return "memory";
    case EBB_EPOLICY_DEADLINE:
        return "deadline";
    case EBB_EPOLICY_ERROR:
    case EBB_EPOLICY_RESULT:
        return "error";
    default:
        return "?";
    }
}

static bool is_expected(const char *expected, const char *word)
{
    char copy[200];
    char *rest = NULL;

    if (!strcmp(expected, "no-run"))
        return strcmp(word, "run") != 0 && strcmp(word, "?") != 0;
    snprintf(copy, sizeof copy, "%s", expected);
    for (char *p = strtok_r(copy, " ", &rest); p; p = strtok_r(NULL, " ", &rest))
        if (!strcmp(p, word))
            return true;
    return false;
}

static void read_expectation(const char *path, char out[200])
{
    size_t n;
    char *text = help_read(path, &n);
    char *line_end = strchr(text, '\n');

    *line_end = '\0';
    assert_int_equal(strncmp(text, "-- expect: ", 11), 0);
    snprintf(out, 200, "%s", text + 11);
    free(text);
}

/* By the evaluator, twice: the same, unless the deadline came. */
static void repeat(struct ebb_evaluator *ev, const char *path, const struct ebb_policy *policy,
                   const struct ebb_decide_input *input, int rc, const struct ebb_decision *first)
{
    for (int i = 0; i < 2; i++) {
        struct ebb_decision *d = NULL;
        struct ebb_err err;
        int other = ebb_evaluator_decide(ev, policy, input, &d, &err);

        assert_non_null(d);
        if (rc != -EBB_EPOLICY_DEADLINE && other != -EBB_EPOLICY_DEADLINE &&
            (rc != other || strcmp(ebb_decision_get_record(first), ebb_decision_get_record(d)) != 0))
            fail_msg("%s: %s, then %s", path, ebb_decision_get_record(first), ebb_decision_get_record(d));
        ebb_decision_free(d);
    }
    ebb_evaluator_forget(ev, policy);
}

static void run_case(struct ebb_evaluator *ev, const char *path, const struct ebb_value *facts)
{
    char expected[200];
    struct ebb_policy *policy = NULL;
    struct ebb_decision *d = NULL;
    struct ebb_diagnostics diags;
    struct ebb_err err;
    /* 2031-01-05T03:00:00Z */
    struct ebb_decide_input input = {.facts = facts, .now_ms = 1925348400000};
    int64_t before = cpu_ms(), took = 0;
    int rc;

    read_expectation(path, expected);
    ebb_diagnostics_init(&diags);
    rc = ebb_policy_load(path, &policy, &diags, &err);
    if (!strcmp(expected, "check-fails=*")) {
        assert_int_not_equal(rc, 0);
        assert_true(diags.error_count > 0);
    } else if (rc) {
        fail_msg("%s: does not load: %s", path, err.message);
    } else {
        rc = ebb_decide(policy, &input, &d, &err);
        if (!is_expected(expected, word_of(rc, d)))
            fail_msg("%s: %s, but expected %s (%s)", path, word_of(rc, d), expected, rc ? err.message : "no error");
        assert_non_null(d);
        for (const char *p = ebb_decision_get_record(d); *p; p++)
            assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
        took = cpu_ms() - before;
        repeat(ev, path, policy, &input, rc, d);
    }
    if (took > CPU_LIMIT_MS)
        fail_msg("%s: took %lld ms of CPU time", path, (long long)took);
    ebb_decision_free(d);
    ebb_policy_free(policy);
    ebb_diagnostics_fini(&diags);
}

static void test_corpus(void **state)
{
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_evaluator *ev = NULL;
    DIR *dir = opendir(EBB_SOURCE_DIR "/tests/cases/sandbox");
    struct dirent *entry;
    char path[600];
    int count = 0;

    (void)state;
    assert_non_null(dir);
    assert_int_equal(ebb_evaluator_new(&ev, NULL), 0);
    while ((entry = readdir(dir)) != NULL) {
        size_t n = strlen(entry->d_name);

        if (n < 4 || strcmp(entry->d_name + n - 4, ".lua"))
            continue;
        snprintf(path, sizeof path, "%s/tests/cases/sandbox/%s", EBB_SOURCE_DIR, entry->d_name);
        run_case(ev, path, facts);
        count++;
    }
    closedir(dir);
    ebb_evaluator_free(ev);
    assert_true(count >= 160);
    ebb_value_free(facts);
}

/* Decide and give the error, or 0. */
static int outcome(const char *body, struct ebb_err *err)
{
    struct ebb_policy *policy = help_policy("", body);
    struct ebb_decide_input input = {.now_ms = HELP_NOW, .bound = true};
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decision *d = NULL;
    int rc;

    input.facts = facts;
    rc = ebb_decide(policy, &input, &d, err);
    ebb_decision_free(d);
    ebb_policy_free(policy);
    ebb_value_free(facts);
    return -rc;
}

#define SKIP " return skip(all { check(\"never\", 1, \"==\", 2) })"

static void test_names(void **state)
{
    static const char *const GONE[] = {"os",           "io",     "require",        "package",   "load",
                                       "loadfile",     "dofile", "debug",          "coroutine", "setmetatable",
                                       "getmetatable", "rawget", "rawset",         "rawequal",  "rawlen",
                                       "next",         "xpcall", "collectgarbage", "print",     "utf8",
                                       "string",       "_G",     "_VERSION",       "warn",      "env"};
    char body[256];
    struct ebb_err err;

    (void)state;
    for (size_t i = 0; i < sizeof GONE / sizeof *GONE; i++) {
        snprintf(body, sizeof body, "local x = %s" SKIP, GONE[i]);
        assert_int_equal(outcome(body, &err), EBB_EPOLICY_ERROR);
        assert_non_null(strstr(err.message, GONE[i]));
    }
    assert_int_equal(outcome("local x = math.random" SKIP, &err), EBB_EPOLICY_ERROR);
    assert_int_equal(outcome("local x = ceck" SKIP, &err), EBB_EPOLICY_ERROR);
    assert_string_equal(err.hint, "did you mean check?");
}

static void test_frozen(void **state)
{
    static const char *const BODIES[] = {
        "str.len = nil",
        "check = 1",
        "_ENV.x = 1",
        "t.name = \"x\"",
        "ctx.now = 1",
        "t.stats.bytes = 0",
        "t.properties.x = 1",
        "t.snapshots{}[1] = 2",
        "action.x = 1",
        "table.insert(_ENV, 1)",
        "table.insert(math, 1)",
        "local c = check(\"c\", 1, \"==\", 1) c.ok = false",
        "local a = action.remove_orphan_files { older_than = 1 } a.older_than = 2",
    };
    char body[256];
    struct ebb_err err;

    (void)state;
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++) {
        snprintf(body, sizeof body, "%s" SKIP, BODIES[i]);
        if (outcome(body, &err) != EBB_EPOLICY_ERROR)
            fail_msg("%s: not refused", BODIES[i]);
    }
}

/* An abort can't be caught, whatever the script does afterwards. */
static void test_sticky(void **state)
{
    struct ebb_err err;

    (void)state;
    assert_int_equal(outcome("pcall(function() while true do end end)" SKIP, &err), EBB_EPOLICY_GAS);
    assert_int_equal(outcome("pcall(function() local s = \"x\" while true do s = s .. s end end)" SKIP, &err),
                     EBB_EPOLICY_MEMORY);
    assert_int_equal(outcome("local function f() return pcall(f) end f()" SKIP, &err), 0);
    assert_int_equal(outcome("table.sort({ 3, 2, 1 }, function() while true do end end)" SKIP, &err), EBB_EPOLICY_GAS);
}

static void test_boundary(void **state)
{
    static const char *const BODIES[] = {
        "local x = {} x.x = x return run(all {}, action.remove_orphan_files { older_than = 1, keep = x })",
        "return run(all {}, action.remove_orphan_files { older_than = 0/0 })",
        "return run(all {}, action.remove_orphan_files { older_than = 1.5 })",
        "return run(all {}, action.remove_orphan_files { older_than = 1, lokation = \"x\" })",
        "return run(all {}, action.remove_orphan_files { older_than = 1, keep = { [1] = \"a\", [3] = \"b\" } })",
        "return run(all {}, action.remove_orphan_files { older_than = 1, keep = print })",
        "return run(all {}, { older_than = 1 })",
        "return { verdict = \"run\" }",
        "return nil",
        "return skip(all {}), 1",
        "local x = check(\"x\", 1, \"==\", 1) for i = 1, 20 do x = all { x } end return skip(x)",
        "return skip(all { check(\"a\", 1, \"==\", 1), nil, check(\"b\", 1, \"==\", 1) })",
        "return skip(all { true })",
        "check(\"x\", \"a\", \"<\", 1)",
        "check(\"x\", 1, \"=<\", 1)",
        "hash(\"k\", -1)",
        "hash(\"k\", 0)",
        "table.unpack({}, 1, 300)",
        "fmt(\"%99.99f\", 1)",
        "fmt(\"%q\", 1)",
        "fmt(\"%d\")",
        "time.civil(1 << 62, \"UTC\")",
        "time.civil(0, \"../../etc/passwd\")",
        "time.calendar { \"Sun 02:00\" }",
        "policy {}",
        "use \"x\"",
        "local x = 1 // 0",
    };
    struct ebb_err err;

    (void)state;
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++) {
        int error = outcome(BODIES[i], &err);

        if (error != EBB_EPOLICY_ERROR && error != EBB_EPOLICY_RESULT)
            fail_msg("%s: %d", BODIES[i], error);
    }
}

/* The same script uses the same gas each time. */
static void test_gas(void **state)
{
    static const char BODY[] = "local x = {} for i = 1, 3000 do x[\"k\" .. i] = i end "
                               "local n = 0 for k, v in pairs(x) do n = n + v end note(n)" SKIP;
    struct ebb_policy *policy = help_policy("", BODY);
    struct ebb_decide_input input = {.now_ms = HELP_NOW, .bound = true};
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_err err;
    char first[64] = "";

    (void)state;
    input.facts = facts;
    for (int i = 0; i < 5; i++) {
        struct ebb_decision *d = NULL;
        const char *gas;

        assert_int_equal(ebb_decide(policy, &input, &d, &err), 0);
        gas = strstr(ebb_decision_get_record(d), "\"gas\":");
        assert_non_null(gas);
        if (!first[0])
            snprintf(first, sizeof first, "%.20s", gas);
        assert_memory_equal(first, gas, 12);
        ebb_decision_free(d);
    }
    ebb_policy_free(policy);
    ebb_value_free(facts);
}

/* With any limit of memory a policy either decides or ends with its error; nothing leaks. */
static int run_small(lua_State *L)
{
    static const char SOURCE[] = "local t = {} for i = 1, 50 do t[i] = fmt(\"%d\", i) end "
                                 "return policy { api = 1, name = \"x\", triggers = { time.cron { \"0 1 * * *\" } },"
                                 "doc = table.concat(sort_by(t)), decide = function() end }";

    ebb__header_push(L, (struct ebb_str){SOURCE, sizeof SOURCE - 1});
    return 0;
}

static void test_memory(void **state)
{
    int good = 0, bad = 0;

    (void)state;
    for (size_t extra = 0; extra < 20000; extra += 97) {
        struct ebb__sandbox sb;
        struct ebb_err err;
        int rc;

        assert_int_equal(ebb__sandbox_open(&sb, EBB__PHASE_HEADER, NULL, ebb__open_policy, &err), 0);
        sb.mem_max = sb.mem_used + extra;
        rc = ebb__sandbox_run(&sb, run_small, NULL, "x.lua", NULL, &err);
        ebb__sandbox_close(&sb);
        if (rc)
            assert_int_equal(rc, -EBB_EPOLICY_MEMORY);
        good += !rc;
        bad += rc != 0;
    }
    assert_true(good > 0 && bad > 0);
}

static void test_source(void **state)
{
    struct ebb_policy *policy = NULL;
    struct ebb_diagnostics diags;
    struct ebb_err err;
    char *big = malloc(70000);

    (void)state;
    memset(big, ' ', 70000);
    assert_int_equal(ebb_policy_load_text("x.lua", big, 70000, &policy, NULL, &err), -EBB_EPOLICY_SCHEMA);
    memset(big, '(', 60000);
    assert_int_equal(ebb_policy_load_text("x.lua", big, 60000, &policy, NULL, &err), -EBB_EPOLICY_ERROR);
    free(big);
    assert_int_equal(ebb_policy_load_text("x.lua", "\x1bLua", 4, &policy, NULL, &err), -EBB_EPOLICY_ERROR);
    ebb_diagnostics_init(&diags);
    assert_int_equal(ebb_policy_load_text("x.lua", "\n\nreturn policy { = }", 21, &policy, &diags, &err),
                     -EBB_EPOLICY_ERROR);
    assert_int_equal(diags.count, 1);
    assert_int_equal(diags.items[0].line, 3);
    assert_string_equal(diags.items[0].code, "syntax");
    ebb_diagnostics_fini(&diags);
}

/* The release that is linked is known, and those with faults within reach are refused. */
static void test_release(void **state)
{
    static const char *const BAD[] = {"5.4.0", "5.4.1", "5.4.2", "5.4.3"}, *const GOOD[] = {"5.4.4", "5.4.6", "5.4.8"};
    struct ebb_err err;

    (void)state;
    assert_int_equal(strncmp(ebb_lua_version(), "5.4.", 4), 0);
    assert_non_null(strstr(lua_ident, ebb_lua_version()));
    assert_int_equal(ebb_lua_check(ebb_lua_version(), &err), 0);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(ebb_lua_check(BAD[i], &err), -EBB_EUNSUPPORTED);
        assert_non_null(strstr(err.message, BAD[i]));
    }
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        assert_int_equal(ebb_lua_check(GOOD[i], NULL), 0);
}

#define STRONGLY "local n = 0 for i = 1, 500 do x[\"k\" .. i % 13] = i x[\"k\" .. (i * 5 + 2) % 13] = nil end "

/* Keys that come and go in a table: where it grows must not depend on chance. */
static void test_chance(void **state)
{
    struct ebb_policy *policy = help_policy("", "local x = {} " STRONGLY STRONGLY SKIP);
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .bound = true};
    struct ebb_err err;
    char first[4096] = "";

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct ebb_decision *d = NULL;

        assert_int_equal(ebb_decide(policy, &input, &d, &err), 0);
        if (!first[0])
            snprintf(first, sizeof first, "%s", ebb_decision_get_record(d));
        assert_string_equal(first, ebb_decision_get_record(d));
        ebb_decision_free(d);
    }
    ebb_policy_free(policy);
    ebb_value_free(facts);
}

/* Of several mistakes the same one is told each time. */
static void test_first_mistake(void **state)
{
    static const char BODY[] =
        "return run(all {}, action.rewrite_manifests {}, { zeta = 1, alpha = 2, override = 3, notes = 4 })";
    struct ebb_err err;

    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(outcome(BODY, &err), EBB_EPOLICY_ERROR);
        assert_non_null(strstr(err.message, "run.alpha: unknown"));
        assert_int_equal(
            outcome(
                "return run(all {}, action.rewrite_data_files { partitions = { z = 0/0, b = print, m = 1/0, a = 1 } })",
                &err),
            EBB_EPOLICY_ERROR);
        assert_non_null(strstr(err.message, "print"));
        assert_int_equal(
            outcome(
                "return run(all {}, action.rewrite_data_files { partitions = { z = 0/0, b = check, m = 1/0, a = 1 } })",
                &err),
            EBB_EPOLICY_ERROR);
        assert_non_null(strstr(err.message, "\"b\""));
    }
}

/* A host with another locale: numbers and the order of texts are those of "C". */
static void test_locale(void **state)
{
    static const char *const NAMES[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    struct ebb_err err;
    bool has_one = false;

    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES && !has_one; i++)
        has_one = setlocale(LC_ALL, NAMES[i]) != NULL;
    assert_int_equal(outcome("local x = 1.5 assert(x .. \"\" == \"1.5\") assert(\"B\" < \"a\") "
                             "assert(tostring(2.25) == \"2.25\" and tonumber(\"2.25\") == 2.25)" SKIP,
                             &err),
                     0);
    setlocale(LC_ALL, "C");
    if (!has_one)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),  cmocka_unit_test(test_names),    cmocka_unit_test(test_frozen),
        cmocka_unit_test(test_sticky),  cmocka_unit_test(test_boundary), cmocka_unit_test(test_gas),
        cmocka_unit_test(test_release), cmocka_unit_test(test_chance),   cmocka_unit_test(test_first_mistake),
        cmocka_unit_test(test_locale),  cmocka_unit_test(test_source),   cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
