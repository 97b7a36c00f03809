/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy files: any bytes through the header phase and, when they load, through decide on a fixed table: once on its
 * own and twice by an evaluator, in turns with another policy. All give the same record, gas included, unless the
 * deadline came. A run must keep the floor and the location. Half of the mutations are made of words of the language
 * and of the API.
 */
#include <stdlib.h>

#include "base/location.h"
#include "engine/engine.h"
#include "engine/evaluator.h"
#include "fuzz_words.h"

#define NOW ((int64_t)1774742400000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

static const char *const WORDS[] = {
    "local ",
    "function(a, b) ",
    " end ",
    "return ",
    "if true then ",
    "while true do ",
    "for i = 1, 9 do ",
    "for k, v in pairs(",
    "for _, v in ipairs(",
    "goto x ::x:: ",
    "nil",
    "true",
    "0/0",
    "1/0",
    "math.mininteger",
    "math.maxinteger",
    "[math.maxinteger] = 1",
    "[1 << 62] = 1",
    "table.unpack(",
    "table.remove(",
    "(ipairs({}))(",
    "(pairs({}))(",
    "check(\"n\", 1, \"==\", 1).name",
    "[ipairs] = 1",
    "-1",
    "1 << 62",
    "\"\\27[2J\"",
    "\"a\"",
    "{}",
    "{ 1, 2, 3 }",
    "..",
    "#",
    " // ",
    " % ",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ", ",
    " = ",
    "t",
    "ctx",
    "t.stats",
    "t.snapshots {}",
    "t.partitions {}",
    "t.properties",
    "t.current_snapshot",
    "ctx.now",
    "ctx.params",
    "ctx.events.list { \"commit.failed\" }",
    "ctx.events.count { \"snapshot.committed\" }",
    "ctx.runs.last",
    "ctx.runs.count {}",
    "ctx.runs.since_partition(\"a\")",
    "check(\"n\", 1, \"==\", 1)",
    "check_each(\"n\", \"k\", 1, \"<\", 2)",
    "all { ",
    "any { ",
    "none { ",
    "run(all {}, ",
    "skip(all {})",
    "defer(all {}, ctx.now + 1000)",
    "action.remove_orphan_files { older_than = ",
    "action.expire_snapshots {}",
    "action.rewrite_data_files { partitions = ",
    "rank { over = ",
    ", score = function(p) return 1 end }",
    "pcall(",
    "error(",
    "note(",
    "fmt(\"%s %d %.3f\", ",
    "table.insert(",
    "table.sort(",
    "table.concat(",
    "sort_by(",
    "group_by(",
    "percentile(",
    "sum(",
    "top(",
    "str.rep(\"x\", 60000)",
    "str.split(",
    "str.replace(",
    "glob(\"*a*\", ",
    "time.civil(ctx.now, \"Europe/Berlin\")",
    "time.start_of(\"day\", ",
    "hash(",
    "iso(",
    "bytes_h(",
    "ratio(",
    "clamp(",
    "tostring(",
    "tonumber(",
    "select(\"#\", ",
    "type(",
    "param \"p\"",
    "on.event { \"x\" }",
    "time.cron { \"0 1 * * *\" }",
};
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
    return fuzz_mutate_words(WORDS, sizeof WORDS / sizeof *WORDS, data, size, max, seed);
}

static const char FACTS[] = "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"uuid\":\"u\","
                            "\"location\":\"s3://b/t\",\"format_version\":2,"
                            "\"properties\":{\"owner.timezone\":\"Europe/"
                            "Berlin\"},\"current_snapshot\":{\"id\":2},\"snapshots\":[{\"id\":1,\"at\":1774700000000},"
                            "{\"id\":2,\"at\":1774740000000}],\"stats\":{\"bytes\":5,\"longest_write\":7},"
                            "\"partitions\":[{\"key\":\"a\",\"files\":3,\"bytes\":9}],"
                            "\"location_overlaps\":0},\"events\":[{\"id\":\"e\",\"type\":\"commit.failed\",\"at\":"
                            "1774740000000,\"files_written\":3}],\"runs\":[]}";

static void check(const struct ebb_decision *d)
{
    const struct ebb_value *action = ebb_decision_get_action(d);
    const char *type = ebb_value_text_of(action, "type"), *location = ebb_value_text_of(action, "location");
    bool inside = false;

    if (!ebb_decision_get_record(d))
        abort();
    if (ebb_decision_get_verdict(d) != EBB_VERDICT_RUN || !type || strcmp(type, "remove_orphan_files"))
        return;
    if (ebb_value_int_of(action, "older_than", NOW) > NOW - EBB_DECIDE_FLOOR_MS)
        abort();
    if (location && (ebb_location_contains("s3://b/t", location, NULL, &inside, NULL) || !inside))
        abort();
}

static bool is_late(int rc)
{
    return rc == -(int)EBB_EPOLICY_DEADLINE;
}

/* The same by the evaluator. */
static void again(struct ebb_evaluator *evaluator, const struct ebb_policy *policy,
                  const struct ebb_decide_input *input, int rc, const struct ebb_decision *first)
{
    struct ebb_decision *d = NULL;
    struct ebb_err err;
    int other = ebb_evaluator_decide(evaluator, policy, input, &d, &err);

    if (!is_late(rc) && !is_late(other)) {
        if (rc != other || !d != !first)
            abort();
        if (d && strcmp(ebb_decision_get_record(d), ebb_decision_get_record(first)))
            abort();
    }
    ebb_decision_free(d);
}

static void run(const struct ebb_policy *policy, const struct ebb_policy *between, const struct ebb_decide_input *input)
{
    struct ebb_evaluator *evaluator = NULL;
    struct ebb_decision *d = NULL, *other = NULL;
    struct ebb_err err;
    int rc = ebb_decide(policy, input, &d, &err);

    if (d)
        check(d);
    if (!ebb_evaluator_new(&evaluator, &err)) {
        again(evaluator, policy, input, rc, d);
        ebb_evaluator_decide(evaluator, between, input, &other, &err);
        again(evaluator, policy, input, rc, d);
    }
    ebb_decision_free(other);
    ebb_decision_free(d);
    ebb_evaluator_free(evaluator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char BETWEEN[] =
        "local n = 0 return policy { api = 1, name = \"between\", decide = function(t) n = n + 1 "
        "return skip(all { check(\"n\", n, \"==\", 1) }) end }";
    struct ebb_policy *policy = NULL, *between = NULL;
    struct ebb_value *facts = NULL;
    struct ebb_diagnostics diags;
    struct ebb_err err;
    struct ebb_decide_input input = {.now_ms = NOW, .bound = true, .gas = 200000};

    ebb_diagnostics_init(&diags);
    if (!ebb_policy_load_text("fuzz.lua", (const char *)data, size, &policy, &diags, &err) &&
        !ebb_policy_load_text("between.lua", BETWEEN, sizeof BETWEEN - 1, &between, NULL, &err) &&
        !ebb_value_of_json("facts", FACTS, sizeof FACTS - 1, NULL, &facts, &err)) {
        input.facts = facts;
        run(policy, between, &input);
    }
    ebb_value_free(facts);
    ebb_policy_free(between);
    ebb_policy_free(policy);
    ebb_diagnostics_fini(&diags);
    return 0;
}
