/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies of decide, as they may be meant and as they may be made: what is told of an answer must be true. While it is
 * said to hold the policy decides the same, with the same digest; and a decision made again from its record is the
 * same. Half of the mutations are made of words that have to do with the clock.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/evaluator.h"
#include "engine/replay.h"
#include "fuzz_words.h"

#define NOW ((int64_t)1774742400000)
#define BODY_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

static const char *const WORDS[] = {
    "check(\"a\", ",
    "check(\"b\", ",
    "check_each(\"c\", \"k\", ",
    "ctx.now",
    "ctx\n.now",
    "ctx.now\n",
    "c.now",
    "e.now",
    "ctx[\"now\"]",
    "ctx[k]",
    "ctx[k\n]",
    "ctx.now - ",
    "t.stats.orphans.age",
    "t.stats.orphans",
    "e.age",
    "ctx.runs.since_partition(\"p\")",
    "ctx.runs.since_partition",
    "s(\"p\")",
    ", \"<\", ",
    ", \">=\", ",
    ", \"==\", ",
    ", \"in\", ",
    ", \"exists\")",
    "1774742400000 + 60000",
    "1774742400000",
    "3600000 + 60000",
    "ctx.params.d",
    " + ",
    " - ",
    " * ",
    " // ",
    "-",
    ")",
    "(",
    ".ok",
    "\n",
    " ",
    "; ",
    "n = n + (",
    " and 1 or 0)",
    " > ",
    "if ",
    " then n = n + 1 end\n",
    "local x = ",
    "local c = ctx\n",
    "local check = ",
    "local function check(a, b) ",
    "function(check) ",
    "for _, check in ipairs { ",
    " end\n",
    "for k, v in pairs(ctx) do n = n + (k == \"now\" and v > 1774742400000 + 1 and 1 or 0) end\n",
    "for _, p in ipairs(t.partitions {}) do ",
    "t.partitions { newer_than = \"1h\" }",
    "#t.snapshots { since = \"90m\" }",
    "ctx.events.count { \"x\", since = \"2h\" }",
    "ctx.events.count { \"x\" }",
    "ctx.runs.count { within = \"3h\" }",
    "ctx.runs.conflicts { within = \"3h\" }",
    "p.last_write",
    "rank { over = t.partitions {}, score = function(p) return ",
    " end }.count",
    "pcall(function() ",
    " end)",
    "error(1)",
    "f(function() return ",
    "all { ",
    "any { ",
    " }",
    "return skip(all {})\n",
    "return defer(all {}, ",
    "return run(all {}, action.remove_orphan_files { older_than = ",
    " })",
    "t.properties[\"a\"]",
    "t.current_snapshot",
    "time.civil(ctx.now, \"UTC\").minute",
    "note(",
    "--[[",
    "]]",
    "\"",
    "\\z",
    "\r",
    "goto now ::now::",
};
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
    return fuzz_mutate_words(WORDS, sizeof WORDS / sizeof *WORDS, data, size, max, seed);
}

static const char FACTS[] =
    "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"location\":\"s3://b/"
    "t\",\"properties\":{\"a\":\"v\"},"
    "\"current_snapshot\":{\"id\":1},\"stats\":{\"bytes\":5,\"orphans\":{\"bytes\":1000,\"at\":1774738800000}},"
    "\"snapshots\":[{\"id\":1,\"at\":1774738800000}],\"partitions\":[{\"key\":\"p\",\"files\":1,\"last_write\":"
    "1774740000000},{\"key\":\"q\",\"files\":2,\"last_write\":1774742399000}]},\"events\":[{\"type\":\"x\",\"id\":"
    "\"1\","
    "\"at\":1774738800000},{\"type\":\"x\",\"id\":\"2\",\"at\":1774743000000}],\"runs\":[{\"id\":\"r\",\"started\":"
    "1774731600000,\"ended\":1774735200000,\"outcome\":\"success\",\"conflicts\":1,\"partitions\":[\"p\"]}]}";

struct answer {
    int rc;
    char text[4096];
    int64_t holds;
};

/* What a caller would act on. */
static bool decide(struct ebb_evaluator *evaluator, const struct ebb_policy *policy, struct ebb_decide_input *input,
                   int64_t now, struct answer *out)
{
    struct ebb_decision *d = NULL;
    struct ebb_buf action;

    input->now_ms = now;
    out->rc = ebb_evaluator_decide(evaluator, policy, input, &d, NULL);
    if (!d || out->rc) {
        ebb_decision_free(d);
        return false;
    }
    ebb_buf_init(&action, 3000);
    if (ebb_decision_get_action(d))
        ebb_value_to_json(ebb_decision_get_action(d), &action, NULL);
    snprintf(out->text, sizeof out->text, "%s %s %lld %s %s", ebb_verdict_name(ebb_decision_get_verdict(d)),
             ebb_decision_get_by(d), (long long)ebb_decision_get_until_ms(d), ebb_decision_get_digest(d),
             ebb_buf_cstr(&action));
    out->holds = ebb_decision_get_holds_until_ms(d);
    ebb_buf_fini(&action);
    ebb_decision_free(d);
    return true;
}

static void check_holds(struct ebb_evaluator *evaluator, const struct ebb_policy *policy,
                        struct ebb_decide_input *input)
{
    static const int64_t STEPS[] = {1, 2, 59999, 60000, 60001, 600000, 3600000, 3600001, 5400000, 86400000, 864000000};
    struct answer first, later;

    if (!decide(evaluator, policy, input, NOW, &first))
        return;
    for (size_t i = 0; i < 2 * sizeof STEPS / sizeof *STEPS; i++) {
        int64_t at = i % 2 ? NOW + STEPS[i / 2] : first.holds < INT64_MAX ? first.holds - STEPS[i / 2] : 0;

        if (at <= NOW || at >= first.holds)
            continue;
        if (!decide(evaluator, policy, input, at, &later)) {
            if (later.rc != -(int)EBB_EPOLICY_DEADLINE)
                abort();
        } else if (strcmp(first.text, later.text)) {
            fprintf(stderr, "at %+lld: %s, not %s\n", (long long)(at - NOW), later.text, first.text);
            abort();
        }
    }
}

static void check_replay(const struct ebb_policy *policy, struct ebb_decide_input *input)
{
    struct ebb_strs differences;
    struct ebb_decision *d = NULL;
    struct ebb_value *record = NULL;
    const char *text;
    int rc;

    input->now_ms = NOW;
    input->with_inputs = true;
    rc = ebb_decide(policy, input, &d, NULL);
    if (!d || rc == -(int)EBB_EPOLICY_DEADLINE)
        goto out;
    text = ebb_decision_get_record(d);
    if (ebb_value_of_json("record", text, strlen(text), NULL, &record, NULL))
        abort();
    ebb_strs_init(&differences);
    rc = ebb_replay(policy, record, &differences, NULL);
    if (!rc && differences.count && !strstr(differences.items[0], "policy.deadline")) {
        fprintf(stderr, "%s\n%s\n", differences.items[0], text);
        abort();
    }
    ebb_strs_fini(&differences);
out:
    ebb_value_free(record);
    ebb_decision_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char HEAD[] =
        "return policy { api = 1, name = \"x\", target = { tables = { \"**\" } }, params = { d = { "
        "type = \"duration\", default = \"1h\" } }, decide = function(t, ctx)\n"
        "local n, c, k, s = 0, ctx, \"now\", function() return 1 end\n"
        "local e, p = { now = 7, age = 9 }, { last_write = 1774740000000 }\n"
        "local function f(g) n = n + (g() or 0) return n end\n";
    static const char TAIL[] = "\nreturn defer(all {}, 1774742400000 + 8640000000 + n) end }";
    char source[sizeof HEAD + BODY_MAX + sizeof TAIL];
    struct ebb_evaluator *evaluator = NULL;
    struct ebb_policy *policy = NULL;
    struct ebb_value *facts = NULL;
    struct ebb_decide_input input = {.gas = 100000};

    if (size > BODY_MAX)
        return 0;
    memcpy(source, HEAD, sizeof HEAD - 1);
    memcpy(source + sizeof HEAD - 1, data, size);
    memcpy(source + sizeof HEAD - 1 + size, TAIL, sizeof TAIL);
    if (!ebb_policy_load_text("fuzz.lua", source, sizeof HEAD - 1 + size + sizeof TAIL - 1, &policy, NULL, NULL) &&
        !ebb_value_of_json("facts", FACTS, sizeof FACTS - 1, NULL, &facts, NULL) &&
        !ebb_evaluator_new(&evaluator, NULL)) {
        input.facts = facts;
        check_holds(evaluator, policy, &input);
        check_replay(policy, &input);
    }
    ebb_evaluator_free(evaluator);
    ebb_value_free(facts);
    ebb_policy_free(policy);
    return 0;
}
