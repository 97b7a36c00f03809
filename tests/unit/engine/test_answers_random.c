/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies and facts by chance. An answer whose digest is the same, and that still holds by the clock, is the one that
 * a new evaluation gives; and a record is decided again as it was.
 */
#include "engine_help.h"

#include "engine/replay.h"

#define POLICIES 150
#define WORLDS 60
#define CHECKS_MAX 5
#define PLACES 3

static unsigned next_random(uint64_t *seed, unsigned below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (unsigned)(*seed % below);
}

static const char *const OPERANDS[] = {
    "t.stats.bytes",
    "t.stats.orphans.bytes",
    "t.stats.orphans.age",
    "#t.partitions { min_files = 2 }",
    "#t.partitions { newer_than = \"2h\" }",
    "ctx.runs.failed_in_a_row",
    "ctx.runs.last.ended",
    "ctx.runs.last_success.started",
    "ctx.runs.count { within = \"3h\" }",
    "ctx.runs.count { outcome = \"failed\" }",
    "ctx.runs.since_partition(\"p\")",
    "ctx.runs.conflicts { within = \"3h\" }",
    "ctx.events.count { \"x\", since = \"last_success\" }",
    "ctx.events.count { \"x\", since = \"last_run\" }",
    "ctx.events.count { \"x\", since = \"3h\" }",
    "ctx.events.count { \"snapshot.committed\", since = \"last_success\" }",
    "#t.snapshots { since = ctx.now - 7200000 }",
    "ctx.trigger.missed",
    "ctx.params.p",
    "ctx.now",
    "t.properties.k",
    "t.current_snapshot.id",
    "#t.properties.k",
    "time.civil(ctx.now).hour",
};
#define OPERAND_COUNT ((unsigned)(sizeof OPERANDS / sizeof *OPERANDS))

static struct ebb_policy *make_policy(uint64_t *seed, char body[4096])
{
    static const char *const OPS[] = {"<", ">=", "==", "exists", "unknown"};
    static const char *const LIMITS[] = {"0", "1", "2", "3600000", "7200000", "1774742400000", "1774738800000"};
    static const char *const OF[] = {"all", "any", "none"};
    static const char *const ENDS[] = {"", "if ctx.runs.last then note(ctx.runs.last.outcome) end\n",
                                       "if t.stats.bytes == 2 then return defer(v, ctx.now + 5000, \"w\") end\n"};
    struct ebb_buf out;

    ebb_buf_init(&out, 4000);
    ebb_buf_printf(&out, "local v = %s {\n", OF[next_random(seed, 3)]);
    for (unsigned i = 0, count = 1 + next_random(seed, CHECKS_MAX); i < count; i++) {
        const char *op = OPS[next_random(seed, 5)];

        ebb_buf_printf(&out, "check(\"c%u\", %s, \"%s\"", i, OPERANDS[next_random(seed, OPERAND_COUNT)], op);
        if (op[0] != 'e' && op[0] != 'u')
            ebb_buf_printf(&out, ", %s", LIMITS[next_random(seed, 7)]);
        ebb_buf_puts(&out, "),\n");
    }
    ebb_buf_printf(&out, "}\n%sif not v.ok then return skip(v) end\n", ENDS[next_random(seed, 3)]);
    ebb_buf_puts(&out, "return run(v, action.remove_orphan_files { older_than = 1774000000000 })");
    snprintf(body, 4096, "%s", ebb_buf_cstr(&out));
    ebb_buf_fini(&out);
    return help_policy("params = { p = { type = \"integer\", default = 1, property = \"p\" } },\n"
                       "guard = { min_interval = \"1h\", fleet = { slot = \"s\", max_running = 1 } },",
                       body);
}

/* Facts of a few parts, each one of some. */
static struct ebb_value *make_facts(uint64_t *seed)
{
    static const char *const PROPERTIES[] = {"", "\"properties\":{\"k\":\"v\"},",
                                             "\"properties\":{\"k\":\"2\",\"p\":\"2\"},"};
    static const char *const STATS[] = {"", ",\"stats\":{\"bytes\":2}",
                                        ",\"stats\":{\"bytes\":1,\"orphans\":{\"bytes\":1,\"at\":1774738800000}}"};
    static const char *const SNAPSHOTS[] = {"", ",\"snapshots\":[{\"id\":1,\"at\":1774738800000}]",
                                            ",\"current_snapshot\":{\"id\":1},\"snapshots\":[{\"id\":1,\"at\":"
                                            "1774738800000,\"summary\":{\"ebb.run\":\"r\"}}]"};
    static const char *const PARTITIONS[] = {
        "", ",\"partitions\":[{\"key\":\"p\",\"files\":3,\"last_write\":1774740000000}]",
        ",\"partitions\":[{\"key\":\"p\",\"files\":1,\"last_write\":1774736000000}]"};
    static const char *const EVENTS[] = {"", ",\"events\":[]",
                                         ",\"events\":[{\"id\":\"1\",\"type\":\"x\",\"at\":1774738800000},{\"id\":"
                                         "\"2\",\"type\":\"y\",\"at\":1774738800000}]"};
    static const char *const RUNS[] = {
        "",
        ",\"runs\":[]",
        ",\"runs\":[{\"id\":\"a\",\"started\":1774731600000,\"ended\":1774735200000,\"outcome\":\"success\","
        "\"partitions\":[\"p\"]}]",
        ",\"runs\":[{\"id\":\"a\",\"started\":1774731600000,\"ended\":1774735200000,\"outcome\":\"failed\","
        "\"conflicts\":1},"
        "{\"id\":\"b\",\"started\":1774739000000,\"ended\":1774739100000,\"outcome\":\"failed\"}]",
        ",\"runs\":[{\"id\":\"a\",\"started\":1774731600000,\"ended\":1774739900000,\"outcome\":\"success\"},"
        "{\"id\":\"b\",\"started\":1774739000000,\"ended\":1774739100000,\"outcome\":\"failed\"}]",
        ",\"runs\":[{\"id\":\"a\",\"started\":1774731600000,\"outcome\":\"running\",\"partitions\":[\"p\"]}]"};
    static const char *const FLEETS[] = {"", ",\"fleet\":{\"slots\":{\"s\":{\"running\":1}}}"};
    char text[4096];

    snprintf(
        text, sizeof text,
        "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",%s\"location\":\"s3://b/t\"%s%s%s}%s%s%s}",
        PROPERTIES[next_random(seed, 3)], STATS[next_random(seed, 3)], SNAPSHOTS[next_random(seed, 3)],
        PARTITIONS[next_random(seed, 3)], EVENTS[next_random(seed, 3)], RUNS[next_random(seed, 6)],
        FLEETS[next_random(seed, 2)]);
    return help_json(text);
}

static struct ebb_decision *decide(const struct ebb_policy *policy, const struct ebb_decide_input *input)
{
    struct ebb_decision *d = NULL;

    ebb_decide(policy, input, &d, NULL); /* a policy that goes wrong makes a decision, too */
    assert_non_null(d);
    return d;
}

static struct ebb_value *record_of(const struct ebb_decision *d)
{
    return help_json(ebb_decision_get_record(d));
}

/* Verdict, by, and how each check came out. */
static void answer_of(const struct ebb_decision *d, char out[1024])
{
    struct ebb_value *record = record_of(d);
    const struct ebb_value *checks = ebb_value_get(record, "checks");
    struct ebb_buf b;

    ebb_buf_init(&b, 1000);
    ebb_buf_printf(&b, "%s by %s", ebb_verdict_name(ebb_decision_get_verdict(d)), ebb_decision_get_by(d));
    for (size_t i = 0; i < ebb_value_get_count(checks); i++)
        ebb_buf_printf(&b, " %s", ebb_value_text_of(ebb_value_get_at(checks, i), "r"));
    snprintf(out, 1024, "%s", ebb_buf_cstr(&b));
    ebb_buf_fini(&b);
    ebb_value_free(record);
}

static void check_replay(const struct ebb_policy *policy, const struct ebb_value *record, const char *body)
{
    struct ebb_strs differences;
    struct ebb_err err = {.message = ""};

    ebb_strs_init(&differences);
    if (ebb_replay(policy, record, &differences, &err) && err.error != EBB_EPOLICY_ERROR)
        fail_msg("%s\n%s", err.message, body);
    if (differences.count)
        fail_msg("decided again: %s\n%s", differences.items[0], body);
    ebb_strs_fini(&differences);
}

/* A world, and what was answered in it before. */
static size_t check_answer(const struct ebb_policy *policy, const struct ebb_decision *before,
                           const struct ebb_value *reads, const struct ebb_decide_input *input, const char *body)
{
    char digest[80], first[1024], now[1024];
    struct ebb_decision *d;
    bool holds;

    assert_int_equal(ebb_decide_digest(policy, input, reads, digest, NULL), 0);
    holds = input->now_ms < ebb_decision_get_holds_until_ms(before) && !strcmp(digest, ebb_decision_get_digest(before));
    if (!holds)
        return 0;
    d = decide(policy, input);
    answer_of(before, first);
    answer_of(d, now);
    if (strcmp(first, now))
        fail_msg("said to be unchanged: %s, but it is %s\n%s", first, now, body);
    ebb_decision_free(d);
    return 1;
}

static size_t try_policy(uint64_t *seed)
{
    char body[4096];
    struct ebb_policy *policy = make_policy(seed, body);
    size_t held = 0;

    for (int w = 0; w < PLACES; w++) {
        struct ebb_value *facts = make_facts(seed), *trigger = help_json("{\"kind\":\"time\",\"missed\":1}");
        struct ebb_decide_input input = {
            .facts = facts, .now_ms = HELP_NOW, .trigger = trigger, .bound = true, .id = "d", .with_inputs = true};
        struct ebb_decision *d = decide(policy, &input);
        struct ebb_value *record = record_of(d);

        check_replay(policy, record, body);
        for (int i = 0; i < WORLDS; i++) {
            struct ebb_value *other = make_facts(seed);
            struct ebb_decide_input later = input;

            later.facts = i % 2 ? other : facts;
            later.now_ms += next_random(seed, 4) * (int64_t)1800000;
            later.trigger = next_random(seed, 4) ? trigger : NULL;
            held += check_answer(policy, d, ebb_value_get(record, "reads"), &later, body);
            ebb_value_free(other);
        }
        ebb_value_free(record);
        ebb_decision_free(d);
        ebb_value_free(trigger);
        ebb_value_free(facts);
    }
    ebb_policy_free(policy);
    return held;
}

static void test_what_is_unchanged(void **state)
{
    uint64_t seed = 20260401;
    size_t held = 0;

    (void)state;
    for (int i = 0; i < POLICIES; i++)
        held += try_policy(&seed);
    assert_true(held > 500); /* else nothing was tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_unchanged)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
