/* SPDX-License-Identifier: Apache-2.0
 *
 * How long an answer holds. What is told must be true: the policy is decided again at many instants before the one that
 * is told, and each time the answer must be the same.
 */
#include "engine_help.h"

#include <time.h>

#include "engine/changes_priv.h"

#define MINUTE ((int64_t)60000)
#define HOUR (60 * MINUTE)
#define NEVER INT64_MAX
#define UNCLEAR 0
/* the answer holds until this many ms after HELP_NOW */
#define AFTER(ms) (HELP_NOW + (ms))

/* Listing an hour ago; partitions written 40 minutes and a second ago; events an hour ago and in 10 minutes; a run that
 * took partition p and ended two hours ago. */
#define FACTS                                                                                                          \
    "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"location\":\"s3://b/"                          \
    "t\",\"properties\":{\"k\":\"v\"},"                                                                                \
    "\"stats\":{\"bytes\":5,\"orphans\":{\"bytes\":1000,\"at\":1774738800000}},\"snapshots\":[{\"id\":1,\"at\":"       \
    "1774738800000}],\"partitions\":[{\"key\":\"p\",\"files\":1,\"last_write\":1774740000000},{\"key\":\"q\","         \
    "\"files\":2,"                                                                                                     \
    "\"last_write\":1774742399000}]},\"events\":[{\"type\":\"x\",\"id\":\"1\",\"at\":1774738800000,\"now\":7,\"age\":" \
    "9},{\"type\":\"x\",\"id\":\"2\",\"at\":1774743000000},{\"type\":\"y\",\"id\":\"3\",\"at\":1774738800000}],"       \
    "\"runs\":[{\"id\":\"r\",\"started\":1774731600000,\"ended\":1774735200000,\"outcome\":\"success\",\"conflicts\":" \
    "1,"                                                                                                               \
    "\"partitions\":[\"p\"]}]}"

struct run {
    struct ebb_policy *policy;
    struct ebb_value *facts, *trigger;
};

static struct ebb_decision *decide_at(const struct run *r, int64_t now)
{
    struct ebb_decide_input input = {.facts = r->facts, .now_ms = now, .trigger = r->trigger};
    struct ebb_decision *d = NULL;

    ebb_decide(r->policy, &input, &d, NULL);
    assert_non_null(d);
    return d;
}

/* Verdict, until, by, action: what a caller would act on. */
static void answer_of(const struct ebb_decision *d, char out[2048])
{
    struct ebb_buf action;

    ebb_buf_init(&action, 1024);
    if (ebb_decision_get_action(d))
        ebb_value_to_json(ebb_decision_get_action(d), &action, NULL);
    snprintf(out, 2048, "%d %lld %s %.1000s", (int)ebb_decision_get_verdict(d), (long long)ebb_decision_get_until_ms(d),
             ebb_decision_get_by(d), ebb_buf_cstr(&action));
    ebb_buf_fini(&action);
}

/* Before the instant that was told nothing differs. */
static void check_sound(const struct run *r, const char *body, int64_t holds)
{
    static const int64_t STEPS[] = {1,        7,    999,      MINUTE,   3 * MINUTE,  5 * MINUTE,
                                    HOUR / 2, HOUR, 5 * HOUR, HELP_DAY, 6 * HELP_DAY};
    struct ebb_decision *d = decide_at(r, HELP_NOW);
    char first[2048], other[2048], digest[80];

    answer_of(d, first);
    snprintf(digest, sizeof digest, "%s", ebb_decision_get_digest(d));
    ebb_decision_free(d);
    for (size_t i = 0; i < 2 * sizeof STEPS / sizeof *STEPS; i++) {
        int64_t step = STEPS[i / 2], at = i % 2 ? HELP_NOW + step : holds == NEVER ? 0 : holds - step;

        if (at <= HELP_NOW || at >= holds)
            continue;
        d = decide_at(r, at);
        answer_of(d, other);
        if (strcmp(first, other) || strcmp(digest, ebb_decision_get_digest(d)))
            fail_msg("%s\nholds until +%lld, but at +%lld: %s, not %s", body, (long long)(holds - HELP_NOW),
                     (long long)(at - HELP_NOW), other, first);
        ebb_decision_free(d);
    }
}

static void expect_of(const char *lines, const char *body, int64_t expected)
{
    struct run r = {
        .policy = help_policy(lines, body), .facts = help_json(FACTS), .trigger = help_json("{\"kind\":\"time\"}")};
    struct ebb_decision *d = decide_at(&r, HELP_NOW);
    int64_t holds = ebb_decision_get_holds_until_ms(d);

    if (holds != expected)
        fail_msg("%s\nholds until %lld (%+lld)\n%s", body, (long long)holds, (long long)(holds - HELP_NOW),
                 ebb_decision_get_record(d));
    if (ebb_decision_get_verdict(d) == EBB_VERDICT_ERROR && !strstr(body, "--error"))
        fail_msg("%s\n%s", body, ebb_decision_get_record(d));
    ebb_decision_free(d);
    check_sound(&r, body, holds);
    ebb_policy_free(r.policy);
    ebb_value_free(r.facts);
    ebb_value_free(r.trigger);
}

#define PARAMS "params = { d = { type = \"duration\", default = \"1h\" }, r = { type = \"number\", default = 0.5 } },"

static void expect(const char *body, int64_t expected)
{
    expect_of(PARAMS, body, expected);
}

/* One check whose result is the verdict. */
#define IF(check)                                                                                                      \
    "local v = all { " check                                                                                           \
    " }\nif v.ok then return skip(v, \"yes\") end\nreturn defer(v, 1774742400000 + 8640000000, \"no\")"
#define DEFER_END AFTER(8640000000)

static void test_turn(void **state)
{
    static const char *const OPS[] = {"<", "<=", ">", ">=", "==", "~="};

    (void)state;
    /* against trying out every ms */
    for (size_t i = 0; i < 6; i++)
        for (int64_t x = -6; x <= 6; x++)
            for (int slope = -1; slope <= 1; slope++) {
                int64_t first = INT64_MAX;
                bool results[2];

                for (int64_t t = 0; t < 20 && first == INT64_MAX; t++) {
                    int64_t a = x + slope * t;
                    bool holds[] = {a<0, a <= 0, a> 0, a >= 0, a == 0, a != 0};

                    results[t > 0] = holds[i];
                    if (t && results[1] != results[0])
                        first = t;
                }
                if (ebb__changes_turn(x, OPS[i], 0, slope) != first)
                    fail_msg("%lld %s 0, slope %d: %lld, not %lld", (long long)x, OPS[i], slope,
                             (long long)ebb__changes_turn(x, OPS[i], 0, slope), (long long)first);
            }
}

static void test_without_clock(void **state)
{
    (void)state;
    expect("return skip(all { check(\"c\", t.stats.bytes, \">\", 1) })", NEVER);
    expect("return skip(all { check(\"c\", ctx.runs.failed_in_a_row, \"<\", 3) })", NEVER);
    expect("local age = t.stats.orphans.bytes return skip(all {})", NEVER);
    expect("return defer(all {}, 1774742400000 + 5000)", AFTER(5000));
    expect("error(\"no\") --error", UNCLEAR);
}

static void test_clear(void **state)
{
    (void)state;
    expect(IF("check(\"c\", ctx.now, \"<\", 1774742400000 + 60000)"), AFTER(MINUTE));
    expect(IF("check(\"c\", 1774742400000 + 60000, \"<=\", ctx.now)"), AFTER(MINUTE));
    expect(IF("check(\"c\", ctx.now - 1774738800000, \">=\", 2 * ctx.params.d)"), AFTER(HOUR));
    expect(IF("check(\"c\", (ctx.now - ctx.params.d) - 1774742400000, \">\", -3600000 * 1)"), AFTER(1));
    expect(IF("check(\"c\", -ctx.now, \"<\", -1774742400000 - 5)"), AFTER(6));
    expect(IF("check(\"c\", t.stats.orphans.age, \">\", 7200000)"), AFTER(HOUR + 1));
    expect("local o = t.stats.orphans\n" IF("check(\"c\", o.age, \">\", 7200000)"), AFTER(HOUR + 1));
    expect(IF("check(\"a\", t.stats.orphans.age, \"unknown\")"), DEFER_END);
    expect(IF("check(\"c\", ctx.runs.since_partition(\"p\"), \">=\", 10800000)"), AFTER(HOUR));
    expect(IF("check(\"c\", ctx.runs.since_partition(\"none\"), \">=\", 10800000)"), NEVER);
    /* moved against each other: stands still */
    expect(IF("check(\"c\", ctx.now - t.stats.orphans.age, \"==\", 1774738800000)"), NEVER);
    expect(IF("check(\"c\", ctx.now, \"<\", ctx.now + 5)"), NEVER);
    /* each item its own; the first counts */
    expect("for _, p in ipairs(t.partitions {}) do\n"
           "  check_each(\"settled\", p.key, ctx.now - p.last_write, \">=\", 2700000)\nend return skip(all {})",
           AFTER(5 * MINUTE));
    expect("local r = rank { over = t.partitions {}, keep = function(p)\n"
           "  return check_each(\"settled\", p.key, ctx.now - p.last_write, \">=\", 2700000)\n"
           "     and check_each(\"rested\", p.key, ctx.runs.since_partition(p.key), \">=\", 7200000 + 60000)\nend,\n"
           "score = function(p) return p.files end }\n"
           "return skip(all { check(\"some\", r.count, \">=\", 1) })",
           AFTER(5 * MINUTE));
    /* over several lines */
    expect("local v = all {\n  check(\"c\",\n    ctx.now,\n    \"<\",\n    1774742400000 + 60000\n  ),\n}\n"
           "if v.ok then return skip(v) end return defer(v, 1774742400000 + 8640000000)",
           AFTER(MINUTE));
}

/* Windows that move: until something leaves them; what has not happened yet comes in. */
static void test_windows(void **state)
{
    (void)state;
    expect("local n = ctx.events.count { \"y\", since = \"2h\" } return skip(all { check(\"c\", n, \">\", 5) })",
           AFTER(HOUR));
    expect("local n = ctx.events.count { \"y\", since = \"30m\" } return skip(all { check(\"c\", n, \">\", 5) })",
           NEVER);
    expect("local n = #ctx.events.list { \"y\", since = 7200000 } if n == 0 then return skip(all {}) end return "
           "defer(all {}, "
           "1774742400000 + 8640000000)",
           AFTER(HOUR));
    expect("local n = ctx.events.count { \"x\" } if n > 1 then return skip(all {}) end return defer(all {}, "
           "1774742400000 + "
           "8640000000)",
           AFTER(10 * MINUTE));
    expect(
        "local n = ctx.events.count { \"y\", since = \"last_success\" } return skip(all { check(\"c\", n, \">\", 5) })",
        NEVER);
    expect("local n = #t.snapshots { since = \"90m\" } if n == 0 then return skip(all {}) end return defer(all {}, "
           "1774742400000 + 8640000000)",
           AFTER(HOUR / 2));
    expect("local n = #t.partitions { newer_than = \"1h\" } if n < 2 then return skip(all {}) end return defer(all {}, "
           "1774742400000 + 8640000000)",
           AFTER(20 * MINUTE));
    expect("local n = ctx.runs.count { within = \"4h\" } if n < 1 then return skip(all {}) end return defer(all {}, "
           "1774742400000 + 8640000000)",
           AFTER(HOUR));
    expect("return skip(all { check(\"c\", ctx.runs.conflicts { within = \"4h\" }, \"<\", 1) })", AFTER(HOUR));
    /* a window that begins at an instant which was worked out */
    expect("local n = ctx.events.count { \"y\", since = ctx.now - 7200000 } return skip(all { check(\"c\", n, \">\", "
           "5) })",
           UNCLEAR);
    expect("return skip(all { check(\"c\", ctx.events.count { \"y\", since = ctx.now - 7200000 }, \">\", 0) })",
           UNCLEAR);
}

#define THEN "\nif late then return skip(all {}) end\nreturn defer(all {}, 1774742400000 + 8640000000)"

/* The clock gets out of checks, in every way that we know of. */
static void test_unclear(void **state)
{
    static const char *const BODIES[] = {
        "local late = ctx.now > 1774742400000 + 60000" THEN,
        "local now = ctx.now\nlocal late = now > 1774742400000 + 60000" THEN,
        "local c = ctx\nlocal late = c.now > 1774742400000 + 60000" THEN,
        "local late = ctx[\"now\"] > 1774742400000 + 60000" THEN,
        "local k = \"n\" .. \"ow\"\nlocal late = ctx[k] > 1774742400000 + 60000" THEN,
        "local late = ctx[\"\\110ow\"] > 1774742400000 + 60000" THEN,
        "local late = ctx[ [[now]] ] > 1774742400000 + 60000" THEN,
        /* the same line as a good one, on either side, over the end of the line */
        "check(\"c\", ctx.now, \"<\", 5) local late = ctx.now > 1774742400000 + 60000" THEN,
        "local late = ctx.now > 1774742400000 + 60000 check(\"c\", ctx.now, \"<\", 5)" THEN,
        "local k = \"now\" local late\ncheck(\"c\", ctx.now, \"<\", 5) late = ctx[k] > 1774742400000 + 60000" THEN,
        "local late\nlate = ctx.now\n> 1774742400000 + 60000 check(\"c\", ctx.now, \"<\", 5)" THEN,
        "local k = \"now\" local late\nlate = ctx[k\n] > 1774742400000 + 60000 check(\"c\", ctx.now, \"<\", 5)" THEN,
        "local k = \"now\" local late\nlate = ctx[k]\n> 1774742400000 + 60000 check(\"c\", ctx.now, \"<\", 5)" THEN,
        /* inside of a check's brackets, but not as a plain operand */
        "local late check(\"c\", ctx.now > 1774742400000 + 60000, \"==\", true)" THEN,
        "local late check(\"c\", (function() late = ctx.now > 1774742400000 + 60000 return 1 end)(), \"==\", 1)" THEN,
        "local late local function f(n) late = n > 1774742400000 + 60000 return 1 end\ncheck(\"c\", f(ctx.now), "
        "\"==\", 1)" THEN,
        "local late local function f(n) late = n[1] > 1774742400000 + 60000 return 1 end\ncheck(\"c\", f { ctx.now }, "
        "\"==\", 1)" THEN,
        "local late = check(\"c\", ctx.now // 60000, \">\", 1774742400000 // 60000).ok" THEN,
        "local late = check(\"c\", ctx.now * 2, \">\", 2 * (1774742400000 + 60000)).ok" THEN,
        "local late = check(\"c\", 2 * (ctx.now), \">\", 2 * (1774742400000 + 60000)).ok" THEN,
        "local late = check(\"c\", ctx.now + ctx.now, \">\", 2 * (1774742400000 + 60000)).ok" THEN,
        "local late = check(\"c\", ctx.now % 120000, \">\", 60000).ok" THEN,
        "local late = check(\"c\", ctx.now, \"in\", { 1774742400000 + 60000 }).ok" THEN,
        "local late = check(\"c\", 5, \"in\", { ctx.now }).ok" THEN,
        "local late = check(\"c\", ctx.now and 5, \"==\", 5).ok" THEN,
        "local late = check(\"c\", ctx.now - ctx.params.r, \">\", 1774742400000 + 60000).ok" THEN,
        "local late = check(\"c\", #iso(ctx.now), \"==\", 20).ok" THEN,
        "local late = check(iso(ctx.now), 1, \"==\", 2).ok" THEN,
        "local late = check_each(\"c\", ctx.now, 1, \"==\", 1)" THEN,
        "local n = \"c\"\nlocal late = check(n, ctx.now, \">\", 1774742400000 + 60000).ok" THEN,
        /* the functions under other names */
        "local c = check\nlocal late = c(\"c\", ctx.now, \">\", 1774742400000 + 60000).ok" THEN,
        "local late\nlocal function check(n, a) late = a > 1774742400000 + 60000 end\ncheck(\"c\", ctx.now, \">\", "
        "5)" THEN,
        "local late\nlocal check = function(n, a) late = a > 1774742400000 + 60000 end\ncheck(\"c\", ctx.now, \">\", "
        "5)" THEN,
        "local late local function go(check)\ncheck(\"c\", ctx.now, \">\", 5)\nend\ngo(function(n, a) late = a > "
        "1774742400000 + "
        "60000 end)" THEN,
        "local late local function go(x, check_each)\ncheck_each(\"c\", \"k\", ctx.now, \">\", 5)\nend\ngo(1, "
        "function(n, k, a) "
        "late = a > 1774742400000 + 60000 end)" THEN,
        "local late\nfor _, check in ipairs { function(n, a) late = a > 1774742400000 + 60000 end } do\ncheck(\"c\", "
        "ctx.now, "
        "\">\", 5)\nend" THEN,
        /* another member of the name */
        "local e = ctx.events.list \"x\"[1]\nlocal late = check(\"c\", ctx.now - e.now, \">\", 1774742400000 + 60000 - "
        "7).ok" THEN,
        "local e = { age = 9 }\nlocal late = check(\"c\", ctx.now - e.age, \">\", 1774742400000 + 60000 - 9).ok" THEN,
        "local e = { since_partition = function() return 0 end }\nlocal late = check(\"c\", ctx.now - "
        "e.since_partition(1), "
        "\">\", 1774742400000 + 60000).ok" THEN,
        /* errors that are caught between a read and its check */
        "local late = false\npcall(function()\ncheck(\"c\", ctx.now, \"<\", error(\"x\"))\nend)" THEN,
        /* one name, two checks */
        "local late = check(\"c\", ctx.now, \">\", 1774742400000 + 60000).ok\ncheck(\"c\", 1, \"<\", 2)" THEN,
        "local late = check(\"c\", -ctx.now, \"<\", -1774742400000 - 60000).ok\ncheck(\"c\", ctx.now, \"<\", 2)" THEN,
        /* other ways to the value */
        "local late\nfor k, v in pairs(ctx) do if k == \"now\" then late = v > 1774742400000 + 60000 end end" THEN,
        "local late\nfor k, v in pairs(t.stats.orphans) do if k == \"age\" then late = v > 3600000 + 60000 end "
        "end" THEN,
        "local late = sum({ ctx }, \"now\") > 1774742400000 + 60000" THEN,
        "local late = t.stats.orphans.age > 3600000 + 60000" THEN,
        "local f = ctx.runs.since_partition\nlocal late = f(\"p\") > 7200000 + 60000" THEN,
        "local f = ctx.runs[\"since_partition\"]\nlocal late = f(\"p\") > 7200000 + 60000" THEN,
        "local f local late\ncheck(\"c\", ctx.runs.since_partition(\"p\"), \">\", 5) f = ctx.runs.since_partition late "
        "= f(\"p\") "
        "> 7200000 + 60000" THEN,
        "local late = check(\"c\", ctx.runs.since_partition, \"exists\").ok" THEN,
        "local late = check(\"c\", ctx.runs.since_partition(ctx.now), \"exists\").ok" THEN,
        /* ends of lines that are no ends of lines everywhere */
        "local late\rlocal x = 1\nlate = ctx.now > 1774742400000 + 60000" THEN,
        "note(\"\\z\n\")\nlocal late = ctx.now > 1774742400000 + 60000" THEN,
    };

    (void)state;
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++)
        expect(BODIES[i], UNCLEAR);
}

/* What looks odd and is clear nevertheless, or stands still. */
static void test_odd_but_sound(void **state)
{
    static const char *const BODIES[] = {
        "--[[ ctx.now ]] note(\"ctx.now\") return skip(all {})",
        "if false then note(ctx.now) end return skip(all {})",
        "local function unused() return ctx.now end return skip(all {})",
        "local x = { now = 5 }\nif x.now > 4 then return skip(all {}) end return skip(all { check(\"c\", 1, \"<\", 0) "
        "})",
    };

    (void)state;
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++)
        expect(BODIES[i], NEVER);
    expect("local c = ctx\n" IF("check(\"c\", c.now, \"<\", 1774742400000 + 60000)"), AFTER(MINUTE));
    expect("local k = t.properties[\"k\"]\n" IF("check(\"c\", ctx.now, \"<\", 1774742400000 + 60000), check(\"k\", "
                                                "t.properties[\"k\"], \"==\", \"v\")"),
           AFTER(MINUTE));
    expect("local bad = {}\n" IF("check(\"c\", ctx.now, \"<\", 1774742400000 + 60000 + (bad[1] or 0))"), AFTER(MINUTE));
}

/* A library reads the clock: never clear, whatever stands on its lines. */
static void test_library(void **state)
{
    char dir[] = "/tmp/ebb-changes-XXXXXX", path[128];
    struct ebb_policy *policy = NULL;
    struct ebb_err err;
    struct run r = {.facts = help_json(FACTS), .trigger = help_json("{\"kind\":\"time\"}")};
    static const char *const LIBS[] = {
        "return { late = function(ctx)\n return check(\"c\", ctx.now, \">\", 5).ok\nend }",
        "return { late = function(ctx)\n return ctx.now > 1774742400000 + 60000\nend }",
        "return { late = function(ctx)\n check(\"c\", 1, \">\", 5)\nreturn pcall(function() return 1 end)\nend }",
    };
    static const char SOURCE[] =
        "local u = use \"u\"\nreturn policy { api = 1, name = \"x\", target = { tables = { \"**\" } "
        "},\ndecide = function(t, ctx)\n local v = check(\"c\", ctx.now, \"<\", 5)\n local late = u.late(ctx)\n"
        " return skip(v)\nend }";

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "mkdir %s/lib", dir);
    assert_int_equal(system(path), 0);
    for (size_t i = 0; i < sizeof LIBS / sizeof *LIBS; i++) {
        FILE *f;
        struct ebb_decision *d;

        snprintf(path, sizeof path, "%s/lib/u.lua", dir);
        f = fopen(path, "w");
        assert_non_null(f);
        fputs(LIBS[i], f);
        fclose(f);
        snprintf(path, sizeof path, "%s/x.lua", dir);
        if (ebb_policy_load_text(path, SOURCE, sizeof SOURCE - 1, &policy, NULL, &err))
            fail_msg("%s", err.message);
        r.policy = policy;
        d = decide_at(&r, HELP_NOW);
        assert_int_equal(ebb_decision_get_holds_until_ms(d), UNCLEAR);
        ebb_decision_free(d);
        ebb_policy_free(policy);
    }
    snprintf(path, sizeof path, "rm -r %s", dir);
    assert_int_equal(system(path), 0);
    ebb_value_free(r.facts);
    ebb_value_free(r.trigger);
}

#define RUN_OLD "action.remove_orphan_files { older_than = 5 })"

/* What guards make of a run ends with their waits. */
static void test_guards(void **state)
{
    (void)state;
    expect_of("", "return run(all {}, " RUN_OLD, NEVER);
    expect_of("guard = { min_interval = \"5h\" },", "return run(all {}, " RUN_OLD, AFTER(3 * HOUR));
    expect_of("guard = { quiet = { { from = \"00:00\", to = \"06:00\" } } },", "return run(all {}, " RUN_OLD,
              AFTER(6 * HOUR));
    /* it is free now, and quiet some day */
    expect_of("guard = { quiet = { { from = \"10:00\", to = \"11:00\" } } },", "return run(all {}, " RUN_OLD, UNCLEAR);
    expect_of("", "return run(all {}, action.remove_orphan_files { older_than = 1774742400000 - 3600000 })", UNCLEAR);
    expect_of("", "return run(all {}, action.remove_orphan_files { older_than = ctx.now - 3 * 86400000 })", UNCLEAR);
    /* no wait matters for what is skipped */
    expect_of("guard = { min_interval = \"5h\", quiet = { { from = \"00:00\", to = \"06:00\" } } },",
              "return skip(all { check(\"c\", ctx.now, \"<\", 5) })", NEVER);
}

/* Not the target: nothing is read, and the clock does not matter. */
static void test_not_the_target(void **state)
{
    static const char SOURCE[] = "return policy { api = 1, name = \"x\", target = { tables = { \"a.b.c\" } }, decide = "
                                 "function(t, ctx) return skip(all { check(\"c\", ctx.now, \"<\", 5) }) end }";
    struct run r = {.facts = help_json(FACTS)};
    struct ebb_decision *d;

    (void)state;
    assert_int_equal(ebb_policy_load_text("x.lua", SOURCE, sizeof SOURCE - 1, &r.policy, NULL, NULL), 0);
    d = decide_at(&r, HELP_NOW);
    assert_int_equal(ebb_decision_get_holds_until_ms(d), NEVER);
    assert_int_equal(strncmp(ebb_decision_get_digest(d), "sha256:", 7), 0);
    ebb_decision_free(d);
    ebb_policy_free(r.policy);
    ebb_value_free(r.facts);
}

static void test_extreme_values(void **state)
{
    (void)state;
    expect(IF("check(\"c\", ctx.now + math.maxinteger, \">\", 5)"), UNCLEAR);
    expect(IF("check(\"c\", ctx.now, \"<\", math.maxinteger)"), UNCLEAR);
    expect(IF("check(\"c\", ctx.now, \"<\", 1e300)"), UNCLEAR);
    expect(IF("check(\"c\", ctx.now, \"<\", nil)"), DEFER_END);
    expect(
        "local n = ctx.events.count { \"y\", since = math.maxinteger } return skip(all { check(\"c\", n, \">\", 5) })",
        NEVER);
    expect("local n = ctx.events.count { \"y\", since = -1 } --error", UNCLEAR);
}

/* Statements in a row, on one line or several: whatever comes out of it must be sound. */
static void test_mixtures(void **state)
{
    static const char *const PARTS[] = {
        "n = n + (check(\"a\", ctx.now, \">\", 1774742400000 + 60000).ok and 1 or 0)",
        "n = n + (check(\"b\", t.stats.orphans.age, \"<\", 3600000 + 180000).ok and 1 or 0)",
        "n = n + (check_each(\"c\", \"k\", ctx.runs.since_partition(\"p\"), \">=\", 7200000 + 300000) and 1 or 0)",
        "n = n + (check(\"a\", 1, \">\", 0).ok and 1 or 0)",
        "n = n + (ctx.now > 1774742400000 + 120000 and 1 or 0)",
        "n = n + (c[k] > 1774742400000 + 240000 and 1 or 0)",
        "n = n + (e.now > 5 and 1 or 0)",
        "n = n + ctx.events.count { \"x\", since = \"70m\" }",
        "n = n + (pass(check(\"d\", ctx.now\n - 1774742400000, \">\", 60000)).ok and 1 or 0)",
        "n = n + #t.partitions { newer_than = 2401000 }",
        "n = n + (check(\"e\", ctx.now - t.stats.orphans.age, \">\", 5).ok and 1 or 0)",
        "n = n + (check(\"f\", ctx.now - e.age, \">\", 1774742400000 + 60000 - 9).ok and 1 or 0)",
    };
    unsigned seed = 7;

    (void)state;
    for (int i = 0; i < 150; i++) {
        char body[4096] =
            "local n, c, k = 0, ctx, \"now\"\nlocal e = { now = 7, age = 9 }\nlocal function pass(x) return x "
            "end\n";
        struct run r = {.facts = help_json(FACTS), .trigger = help_json("{\"kind\":\"time\"}")};
        struct ebb_decision *d;

        for (int k = 0; k < 4; k++) {
            seed = seed * 1103515245u + 12345u;
            snprintf(body + strlen(body), sizeof body - strlen(body), "%s%s",
                     PARTS[(seed >> 16) % (sizeof PARTS / sizeof *PARTS)], seed & 0x8000u ? "\n" : " ");
        }
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "\nreturn defer(all {}, 1774742400000 + 8640000000 + n)");
        r.policy = help_policy("", body);
        d = decide_at(&r, HELP_NOW);
        assert_int_equal(ebb_decision_get_verdict(d), EBB_VERDICT_DEFER);
        check_sound(&r, body, ebb_decision_get_holds_until_ms(d));
        ebb_decision_free(d);
        ebb_policy_free(r.policy);
        ebb_value_free(r.facts);
        ebb_value_free(r.trigger);
    }
}

/* A source that is all brackets is scanned in no time. */
static void test_hostile_source(void **state)
{
    static const char *const PARTS[] = {"check(", "check(\"a\", (", "check(-", "x[", "check(ctx.now,", "ctx.now]"};
    char *source = malloc(EBB_POLICY_SOURCE_MAX_BYTES);
    clock_t began = clock();

    (void)state;
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        struct ebb__movers movers;
        size_t n = 0, length = strlen(PARTS[i]);

        while (n + length <= EBB_POLICY_SOURCE_MAX_BYTES) {
            memcpy(source + n, PARTS[i], length);
            n += length;
        }
        assert_int_equal(ebb__movers_scan(&movers, (struct ebb_str){source, n}, NULL), 0);
        ebb__movers_fini(&movers);
    }
    free(source);
    assert_true((double)(clock() - began) / CLOCKS_PER_SEC < 20);
}

/* What is told of the digest: facts that an answer goes by, without being paths of their own, are in it. */
static void digest_of(const char *facts, char out[80])
{
    struct ebb_policy *policy = help_policy("", "return skip(all { check(\"c\", ctx.runs.failed_in_a_row, \">\", 0),\n"
                                                "check(\"e\", ctx.events.count { \"x\", since = \"last_success\" }, "
                                                "\">\", 1) })");
    struct ebb_decide_input input = {.now_ms = HELP_NOW};
    struct ebb_value *v = help_json(facts);
    struct ebb_decision *d = NULL;

    input.facts = v;
    assert_int_equal(ebb_decide(policy, &input, &d, NULL), 0);
    snprintf(out, 80, "%s", ebb_decision_get_digest(d));
    ebb_decision_free(d);
    ebb_value_free(v);
    ebb_policy_free(policy);
}

#define DIGEST_FACTS(runs)                                                                                             \
    "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\"},\"events\":[{\"type\":\"x\",\"id\":\"1\","      \
    "\"at\":500}]" runs "}"
#define DIGEST_LAST "{\"id\":\"b\",\"started\":900,\"ended\":950,\"outcome\":\"failed\"}"

static void test_digest(void **state)
{
    char one[80], other[80];

    (void)state;
    digest_of(DIGEST_FACTS(""), one);
    digest_of(DIGEST_FACTS(",\"runs\":[]"), other);
    assert_string_not_equal(one, other); /* a history that is not told is not an empty one */
    /* a run that ended after a later one had */
    digest_of(DIGEST_FACTS(",\"runs\":[{\"id\":\"a\",\"started\":800,\"outcome\":\"partial\"}," DIGEST_LAST "]"), one);
    digest_of(DIGEST_FACTS(",\"runs\":[{\"id\":\"a\",\"started\":800,\"outcome\":\"success\"}," DIGEST_LAST "]"),
              other);
    assert_string_not_equal(one, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turn),           cmocka_unit_test(test_without_clock),
        cmocka_unit_test(test_clear),          cmocka_unit_test(test_windows),
        cmocka_unit_test(test_unclear),        cmocka_unit_test(test_odd_but_sound),
        cmocka_unit_test(test_library),        cmocka_unit_test(test_guards),
        cmocka_unit_test(test_not_the_target), cmocka_unit_test(test_extreme_values),
        cmocka_unit_test(test_digest),         cmocka_unit_test(test_mixtures),
        cmocka_unit_test(test_hostile_source),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
