/* SPDX-License-Identifier: Apache-2.0
 *
 * Why not: what checks lack, when they turn, and the earliest run.
 */
#include "engine_help.h"

#include "engine/whynot.h"

#define HOUR ((int64_t)3600000)
#define NONE INT64_MIN

struct asked {
    struct ebb_policy *policy;
    struct ebb_value *facts, *trigger, *out;
};

static void ask(struct asked *a, const char *lines, const char *body, const char *facts)
{
    struct ebb_decide_input input = {.now_ms = HELP_NOW, .bound = true};
    struct ebb_err err;

    memset(a, 0, sizeof *a);
    a->policy = help_policy(lines, body);
    a->facts = facts ? help_json(facts) : help_facts("clicks.json");
    input.facts = a->facts;
    if (ebb_whynot(NULL, a->policy, &input, &a->out, &err))
        fail_msg("%s", err.message);
}

static void done(struct asked *a)
{
    ebb_policy_free(a->policy);
    ebb_value_free(a->facts);
    ebb_value_free(a->out);
}

static const struct ebb_value *check_named(const struct asked *a, const char *name)
{
    const struct ebb_value *checks = ebb_value_get(a->out, "checks");

    for (size_t i = 0; i < ebb_value_get_count(checks); i++) {
        const struct ebb_value *c = ebb_value_get_at(checks, i);

        if (!strcmp(ebb_value_text_of(c, "n"), name))
            return c;
    }
    fail_msg("no check %s", name);
    return NULL;
}

/* needs NULL and turns_at NONE: not told. */
static void expect(const struct asked *a, const char *name, const char *r, const char *needs, int64_t turns_at,
                   const char *turns_to)
{
    const struct ebb_value *c = check_named(a, name);
    const char *its = ebb_value_text_of(c, "needs"), *to = ebb_value_text_of(c, "turns_to");

    assert_string_equal(ebb_value_text_of(c, "r"), r);
    if ((its != NULL) != (needs != NULL) || (its && strcmp(its, needs)))
        fail_msg("%s needs %s", name, its ? its : "nothing");
    if (ebb_value_int_of(c, "turns_at", NONE) != turns_at)
        fail_msg("%s turns at %lld: %+lld", name, (long long)ebb_value_int_of(c, "turns_at", NONE),
                 (long long)(ebb_value_int_of(c, "turns_at", NONE) - turns_at));
    if (turns_at != NONE)
        assert_string_equal(to, turns_to);
}

static void expect_earliest(const struct asked *a, int64_t at)
{
    if (ebb_value_int_of(a->out, "earliest", NONE) != at)
        fail_msg("earliest %lld: %+lld", (long long)ebb_value_int_of(a->out, "earliest", NONE),
                 (long long)(ebb_value_int_of(a->out, "earliest", NONE) - at));
}

static const struct ebb_value *guard_named(const struct asked *a, const char *name)
{
    const struct ebb_value *guards = ebb_value_get(a->out, "guards");

    for (size_t i = 0; i < ebb_value_get_count(guards); i++)
        if (!strcmp(ebb_value_text_of(ebb_value_get_at(guards, i), "n"), name))
            return ebb_value_get_at(guards, i);
    fail_msg("no %s", name);
    return NULL;
}

/* The leftovers of a failed commit at midnight, an hour later, as in the guide of the interactive session. */
static void test_leftovers(void **state)
{
    static const char LINES[] = "params = { retain = { type = \"duration\", default = \"3d\" }, every_n = { type = "
                                "\"integer\", default = 500 } },\nguard = { min_interval = \"20h\" },";
    static const char BODY[] =
        "local p = ctx.params\nlocal ripe_at\n"
        "for _, e in ipairs(ctx.events.list { \"commit.failed\", since = \"last_success\" }) do\n"
        "  ripe_at = math.min(ripe_at or e.at + p.retain, e.at + p.retain)\nend\n"
        "local v = any { check(\"many\", ctx.events.count { \"snapshot.committed\" }, \">=\", p.every_n),\n"
        "  all { check(\"failed\", 1, \">\", 0), check(\"ripe\", ripe_at, \"<=\", ctx.now) } }\n"
        "if not v.ok then return defer(v, ripe_at, \"ripens\") end\n"
        "return run(v, action.remove_orphan_files { older_than = ctx.now - p.retain })";
    char facts[2048];
    struct asked a;

    (void)state;
    snprintf(
        facts, sizeof facts,
        "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"location\":\"s3://b/t\",\"snapshots\":[]},"
        "\"events\":[{\"id\":\"e\",\"type\":\"commit.failed\",\"at\":%lld}],\"runs\":[]}",
        (long long)(HELP_NOW - HOUR));
    ask(&a, LINES, BODY, facts);
    expect(&a, "many", "false", "500 more", NONE, NULL);
    expect(&a, "failed", "true", NULL, NONE, NULL);
    expect(&a, "ripe", "false", "2d23h more", HELP_NOW + 71 * HOUR, "true");
    expect_earliest(&a, HELP_NOW + 71 * HOUR);
    assert_string_equal(ebb_value_text_of(ebb_value_get(a.out, "record"), "verdict"), "defer");
    assert_string_equal(ebb_value_get_str(ebb_value_get_at(ebb_value_get(a.out, "reads"), 0)),
                        "ctx.events(commit.failed)");
    done(&a);
}

/* A guard that holds back until an instant; then quiet hours, which it must leave, too. */
static void test_guards(void **state)
{
    char facts[1024];
    struct asked a;

    (void)state;
    snprintf(facts, sizeof facts,
             "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"location\":\"s3://b/t\"},\"runs\":[{"
             "\"started\":%lld,\"ended\":%lld,\"outcome\":\"success\"}]}",
             (long long)(HELP_NOW - 2 * HOUR), (long long)(HELP_NOW - HOUR));
    ask(&a, "guard = { min_interval = \"5h\" },",
        "return run(all { check(\"yes\", 1, \"==\", 1) }, action.remove_orphan_files { older_than = ctx.now - 3 * "
        "86400000 })",
        facts);
    assert_string_equal(ebb_value_text_of(guard_named(&a, "guard.min_interval"), "r"), "false");
    assert_int_equal(ebb_value_int_of(guard_named(&a, "guard.min_interval"), "until", 0), HELP_NOW + 4 * HOUR);
    expect_earliest(&a, HELP_NOW + 4 * HOUR);
    done(&a);
    /* the check turns while it is quiet */
    ask(&a, "guard = { quiet = { { from = \"00:30\", to = \"09:30\" } } },",
        "local v = check(\"old\", ctx.now, \">\", 1774742400000 + 3600000)\nif not v.ok then return skip(v) end\n"
        "return run(v, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 })",
        facts);
    expect(&a, "old", "false", "1h more", HELP_NOW + HOUR + 1, "true");
    expect_earliest(&a, HELP_NOW + 9 * HOUR + HOUR / 2);
    done(&a);
}

#define FACTS                                                                                                          \
    "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"location\":\"s3://b/"                          \
    "t\",\"stats\":{\"bytes\":5,"                                                                                      \
    "\"longest_write\":7200000,\"orphans\":{\"bytes\":1000,\"files\":3,\"at\":1774738800000}},\"partitions\":[{"       \
    "\"key\":"                                                                                                         \
    "\"a\",\"last_write\":1774740000000},{\"key\":\"b\",\"last_write\":1774742399000}]},\"events\":[{\"type\":\"x\","  \
    "\"at\":1774738800000},{\"type\":\"x\",\"at\":1774742400000}],\"runs\":[]}"

static void test_needs(void **state)
{
    struct asked a;

    (void)state;
    ask(&a,
        "params = { retain = { type = \"duration\", default = \"1h\" }, waste = { type = \"bytes\", default = \"1GiB\" "
        "} },",
        "local o = t.stats.orphans\n"
        "check(\"bytes\", o.bytes, \">=\", ctx.params.waste)\ncheck(\"short\", t.stats.longest_write, \"<\", "
        "ctx.params.retain)\n"
        "check(\"files\", o.files, \">\", 10)\ncheck(\"few\", o.files, \"<=\", 1)\ncheck(\"same\", o.files, \"==\", "
        "5)\n"
        "check(\"other\", o.files, \"~=\", 3)\ncheck(\"real\", 0.25, \">\", 0.75)\ncheck(\"text\", \"a\", \"==\", "
        "\"b\")\n"
        "check(\"snapshot\", t.current_snapshot, \"exists\")\ncheck(\"nothing\", t.stats.data_files, \">\", 3)\n"
        "check(\"big\", math.mininteger, \">\", math.maxinteger)\ncheck(\"unknown\", o.files, \"unknown\")\n"
        "return skip(all { check(\"one\", 1, \"in\", { 2 }) })",
        FACTS);
    expect(&a, "bytes", "false", "1.0 GiB more", NONE, NULL);
    expect(&a, "short", "false", "1h less", NONE, NULL);
    expect(&a, "files", "false", "8 more", NONE, NULL);
    expect(&a, "few", "false", "2 less", NONE, NULL);
    expect(&a, "same", "false", "2 more", NONE, NULL);
    expect(&a, "other", "false", NULL, NONE, NULL);
    expect(&a, "real", "false", "0.5 more", NONE, NULL);
    expect(&a, "text", "false", NULL, NONE, NULL);
    expect(&a, "snapshot", "false", "a value", NONE, NULL);
    expect(&a, "nothing", "unknown", "a value", NONE, NULL);
    expect(&a, "big", "false", NULL, NONE, NULL);
    expect(&a, "unknown", "false", NULL, NONE, NULL);
    expect_earliest(&a, NONE);
    done(&a);
}

/* Ages, partitions, windows, floats, calendar: each at the millisecond. */
static void test_turns(void **state)
{
    struct asked a;

    (void)state;
    ask(&a, "",
        "local o = t.stats.orphans\n"
        "check(\"age\", o.age, \">\", 7200000)\ncheck(\"fresh\", o.age, \"<\", 7200000)\n"
        "for _, p in ipairs(t.partitions {}) do check_each(\"settled\", p.key, ctx.now - p.last_write, \">=\", "
        "2700000) end\n"
        "check(\"hours\", (ctx.now - 1774738800000) / 3600000, \">=\", 2.5)\n"
        "check(\"window\", ctx.events.count { \"x\", since = \"6h\" }, \">=\", 2)\n"
        "check(\"days\", (ctx.now // 86400000) * 86400000, \">\", ctx.now // 86400000 * 0 + 1774742400000)\n"
        "check(\"hour\", time.civil(ctx.now, \"UTC\").hour, \"==\", 5)\n"
        "check(\"never\", 1, \"<\", 0)\ncheck(\"now\", ctx.now, \"==\", 1774742400000)\n"
        "return skip(all { check(\"past\", ctx.now, \"<\", 100) })",
        FACTS);
    expect(&a, "age", "false", "1h more", HELP_NOW + HOUR + 1, "true");
    expect(&a, "fresh", "true", NULL, HELP_NOW + HOUR, "false");
    expect(&a, "settled", "false", "5m more", HELP_NOW + 5 * 60000, "true");
    expect(&a, "hours", "false", "1.5 more", HELP_NOW + HOUR + HOUR / 2, "true");
    expect(&a, "window", "true", NULL, HELP_NOW + 5 * HOUR, "false");
    expect(&a, "hour", "false", "5 more", HELP_NOW + 5 * HOUR, "true"); /* found: the window ends there, too */
    expect(&a, "never", "false", "2 less", NONE, NULL);
    expect(&a, "now", "true", NULL, HELP_NOW + 1, "false");
    expect(&a, "past", "false", NULL, NONE, NULL);
    done(&a);
}

static void test_run_now(void **state)
{
    struct asked a;

    (void)state;
    ask(&a, "", "return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 })", FACTS);
    expect_earliest(&a, HELP_NOW);
    done(&a);
    /* never, whatever the time */
    ask(&a, "", "return run(all {}, action.remove_orphan_files { older_than = ctx.now })", FACTS);
    expect_earliest(&a, NONE);
    done(&a);
    /* a cutoff that stands is above the floor after a day */
    ask(&a, "", "return run(all {}, action.remove_orphan_files { older_than = 1774742400000 - 3600000 })", FACTS);
    expect_earliest(&a, HELP_NOW + 23 * HOUR);
    done(&a);
}

static void test_not_the_target(void **state)
{
    struct ebb_policy *policy;
    struct ebb_value *facts = help_json(FACTS), *out = NULL;
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW};
    static const char SOURCE[] = "return policy { api = 1, name = \"x\", target = { tables = { \"a.b.c\" } }, decide = "
                                 "function() return skip(all {}) end }";

    (void)state;
    assert_int_equal(ebb_policy_load_text("x.lua", SOURCE, sizeof SOURCE - 1, &policy, NULL, NULL), 0);
    assert_int_equal(ebb_whynot(NULL, policy, &input, &out, NULL), 0);
    assert_string_equal(ebb_value_text_of(ebb_value_get_at(ebb_value_get(out, "guards"), 0), "n"), "guard.target");
    assert_null(ebb_value_get(out, "earliest"));
    ebb_value_free(out);
    ebb_policy_free(policy);
    ebb_value_free(facts);
}

static void test_policy_error(void **state)
{
    struct ebb_policy *policy = help_policy("", "error(\"no\")");
    struct ebb_value *facts = help_json(FACTS), *out = NULL;
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW};
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_whynot(NULL, policy, &input, &out, &err), -EBB_EPOLICY_ERROR);
    assert_null(out);
    ebb_policy_free(policy);
    /* it goes wrong only later: what was found until then is told */
    policy =
        help_policy("", "if ctx.now > 1774742400000 + 3600000 then error(\"no\") end return skip(all { check(\"c\", 1, "
                        "\"==\", 2) })");
    assert_int_equal(ebb_whynot(NULL, policy, &input, &out, &err), 0);
    assert_null(ebb_value_get(out, "earliest"));
    ebb_value_free(out);
    ebb_policy_free(policy);
    ebb_value_free(facts);
}

/* At the end of time. */
static void test_extreme_instants(void **state)
{
    struct ebb_policy *policy = help_policy("", "return skip(all { check(\"c\", ctx.now, \"<\", 5) })");
    struct ebb_value *facts = help_json(FACTS), *out = NULL;
    struct ebb_decide_input input = {.facts = facts};
    static const int64_t AT[] = {INT64_MAX, INT64_MIN, INT64_MAX - 5, 0, -1};

    (void)state;
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        input.now_ms = AT[i];
        assert_int_equal(ebb_whynot(NULL, policy, &input, &out, NULL), 0);
        ebb_value_free(out);
    }
    ebb_policy_free(policy);
    ebb_value_free(facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leftovers),    cmocka_unit_test(test_guards),
        cmocka_unit_test(test_needs),        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_run_now),      cmocka_unit_test(test_not_the_target),
        cmocka_unit_test(test_policy_error), cmocka_unit_test(test_extreme_instants),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
