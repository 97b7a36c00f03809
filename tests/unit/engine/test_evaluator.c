/* SPDX-License-Identifier: Apache-2.0
 *
 * The evaluator: the same decision, record and gas as a decision of its own, however often and in which order; nothing
 * passes from one evaluation to the next.
 */
#include "engine_help.h"

#include <dirent.h>

#include "engine/evaluator.h"

#define SKIP " return skip(all { check(\"never\", 1, \"==\", 2) })"

static struct ebb_evaluator *new_evaluator(void)
{
    struct ebb_evaluator *ev = NULL;
    struct ebb_err err;

    assert_int_equal(ebb_evaluator_new(&ev, &err), 0);
    return ev;
}

/* A decision by the evaluator (NULL: of its own); the record, or the error's code when there is none. */
static char *record_of(struct ebb_evaluator *ev, const struct ebb_policy *policy, const struct ebb_decide_input *input)
{
    struct ebb_decision *d = NULL;
    struct ebb_err err;
    char *text;
    int rc = ev ? ebb_evaluator_decide(ev, policy, input, &d, &err) : ebb_decide(policy, input, &d, &err);

    text = strdup(d ? ebb_decision_get_record(d) : ebb_error_code((enum ebb_error) - rc));
    assert_non_null(text);
    assert_true(rc == 0 || !d || ebb_decision_get_verdict(d) == EBB_VERDICT_ERROR);
    ebb_decision_free(d);
    return text;
}

static void compare(struct ebb_evaluator *ev, const struct ebb_policy *policy, const struct ebb_decide_input *input)
{
    char *one = record_of(NULL, policy, input);

    for (int i = 0; i < 3; i++) {
        char *again = record_of(ev, policy, input);

        assert_string_equal(one, again);
        free(again);
    }
    free(one);
}

static struct ebb_policy *load(const char *folder, const char *name)
{
    char path[600];
    struct ebb_policy *policy = NULL;
    struct ebb_err err;

    snprintf(path, sizeof path, "%s/%s/%s", EBB_SOURCE_DIR, folder, name);
    return ebb_policy_load(path, &policy, NULL, &err) ? NULL : policy;
}

/* All policies of a folder by one evaluator, in turns; gives their number. */
static int compare_folder(const char *folder, struct ebb_evaluator *ev, const struct ebb_value *facts)
{
    struct ebb_decide_input input = {.facts = facts, .now_ms = 1925348400000, .bound = true};
    char path[600];
    struct dirent *entry;
    DIR *dir;
    int count = 0;

    snprintf(path, sizeof path, "%s/%s", EBB_SOURCE_DIR, folder);
    dir = opendir(path);
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        struct ebb_policy *policy = strstr(entry->d_name, ".lua") ? load(folder, entry->d_name) : NULL;

        if (!policy)
            continue;
        compare(ev, policy, &input);
        ebb_evaluator_forget(ev, policy);
        ebb_policy_free(policy);
        count++;
    }
    closedir(dir);
    return count;
}

static void test_equal(void **state)
{
    struct ebb_evaluator *ev = new_evaluator();
    struct ebb_value *facts = help_facts("clicks.json");

    (void)state;
    assert_true(compare_folder("policies", ev, facts) >= 1);
    assert_true(compare_folder("policies/examples", ev, facts) >= 2);
    ebb_value_free(facts);
    ebb_evaluator_free(ev);
}

static const char *const BODIES[] = {
    "local s = \"\" for i = 1, 200 do s = s .. i end note(#s)" SKIP,
    "local x = {} for i = 1, 3000 do x[\"k\" .. i] = i end local n = 0 for k, v in pairs(x) do n = n + v end "
    "note(n)" SKIP,
    "while true do end",
    "error(\"no\")",
    "local function f() return 1 + f() end f()",
    "local x = {} while true do x[{}] = 1 end",
    "local a = action.remove_orphan_files { older_than = ctx.now - 864000000 } return run(all {}, a)",
    "note(time.civil(ctx.now, \"Europe/Berlin\").hour, time.civil(ctx.now, \"UTC\").hour)" SKIP,
    "return defer(check(\"n\", t.stats.bytes, \">\", 1), ctx.now + 1000)",
    "note(ctx.events.count { \"snapshot.committed\", since = 1 })" SKIP,
};

/* Turns of many policies, each with an image of its own; what one does shows in no other. */
static void test_turns(void **state)
{
    enum { N = sizeof BODIES / sizeof *BODIES };
    struct ebb_evaluator *ev = new_evaluator();
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .bound = true};
    struct ebb_policy *policies[N];
    char *first[N];

    (void)state;
    for (size_t i = 0; i < N; i++) {
        policies[i] = help_policy("", BODIES[i]);
        first[i] = record_of(NULL, policies[i], &input);
    }
    for (size_t turn = 0; turn < 3 * N; turn++) {
        size_t i = turn * 7 % N;
        char *again = record_of(ev, policies[i], &input);

        assert_string_equal(first[i], again);
        free(again);
    }
    for (size_t i = 0; i < N; i++) {
        free(first[i]);
        ebb_policy_free(policies[i]);
    }
    ebb_value_free(facts);
    ebb_evaluator_free(ev);
}

/* More policies than images are kept. */
static void test_many(void **state)
{
    enum { N = 70 };
    struct ebb_evaluator *ev = new_evaluator();
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .bound = true};
    struct ebb_policy *policies[N];
    char body[100], want[32];

    (void)state;
    for (int i = 0; i < N; i++) {
        snprintf(body, sizeof body, "note(\"number %d.\")" SKIP, i);
        policies[i] = help_policy("", body);
    }
    for (int turn = 0; turn < 3 * N; turn++) {
        char *record = record_of(ev, policies[turn % N], &input);

        snprintf(want, sizeof want, "number %d.", turn % N);
        assert_non_null(strstr(record, want));
        free(record);
    }
    for (int i = 0; i < N; i++)
        ebb_policy_free(policies[i]);
    ebb_value_free(facts);
    ebb_evaluator_free(ev);
}

/* The lines before decide leave an action, a zone and a counter behind: each evaluation finds them as they were. */
static void test_fresh(void **state)
{
    static const char SOURCE[] = "local count, seen = 0, {}\n"
                                 "local ready = action.remove_orphan_files { older_than = 1000, keep = { \"x\" } }\n"
                                 "local hour = time.civil(0, \"Asia/Tokyo\").hour\n"
                                 "return policy { api = 1, name = \"fresh\", target = { tables = { \"**\" } },\n"
                                 "decide = function(t, ctx)\n"
                                 "  count = count + 1\n"
                                 "  seen[#seen + 1] = t.name\n"
                                 "  note(count, #seen, hour, time.civil(0, \"Asia/Tokyo\").hour)\n"
                                 "  return run(all { check(\"a\", ready.older_than, \"==\", 1000) }, ready)\n"
                                 "end }\n";
    struct ebb_evaluator *ev = new_evaluator();
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .bound = true};
    struct ebb_policy *policy = NULL;
    struct ebb_err err;
    char *record;

    (void)state;
    assert_int_equal(ebb_policy_load_text("fresh.lua", SOURCE, sizeof SOURCE - 1, &policy, NULL, &err), 0);
    for (int i = 0; i < 3; i++) {
        record = record_of(ev, policy, &input);
        assert_non_null(strstr(record, "\"notes\":[\"1 1 9 9\"]"));
        assert_non_null(strstr(record, "\"verdict\":\"run\""));
        free(record);
    }
    compare(ev, policy, &input);
    ebb_policy_free(policy);
    ebb_value_free(facts);
    ebb_evaluator_free(ev);
}

static void expect_state(const char *body, const char *state, const char *verdict)
{
    struct ebb_evaluator *ev = new_evaluator();
    struct ebb_policy *policy = help_policy("", body);
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .bound = true};
    char *record, want[64];

    record = record_of(ev, policy, &input);
    snprintf(want, sizeof want, "\"state\":\"%s\"", state);
    if (!strstr(record, want))
        fail_msg("%s is not in %s", want, record);
    snprintf(want, sizeof want, "\"verdict\":\"%s\"", verdict);
    if (!strstr(record, want))
        fail_msg("%s is not in %s", want, record);
    free(record);
    compare(ev, policy, &input);
    ebb_policy_free(policy);
    ebb_value_free(facts);
    ebb_evaluator_free(ev);
}

/* What fills the pool with leftovers runs once more where leftovers are collected, and the record says so. */
static void test_collected(void **state)
{
    (void)state;
    expect_state("local x = 1" SKIP, "image", "skip");
    expect_state("local k, s = str.rep(\"x\", 1000) for i = 1, 200 do s = str.rep(k, 60) .. i end note(#s)" SKIP,
                 "collected", "skip");
    expect_state("local s = \"x\" while true do s = s .. s end", "collected", "error");
    /* All that is kept fits into the memory, and each piece that does not makes everything be collected: paid for. */
    expect_state("local x, k = str.rep(\"x\", 1000), {} for i = 1, 62 do k[i] = str.rep(x, 60) .. i end "
                 "while true do k[63] = str.rep(x, 50) .. #k end",
                 "collected", "error");
}

/* A decision without a record is the same decision. */
static void test_without_record(void **state)
{
    struct ebb_evaluator *ev = new_evaluator();
    struct ebb_policy *policy =
        help_policy("", "return run(all {}, action.remove_orphan_files { older_than = ctx.now - 864000000 })");
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .bound = true, .without_record = true};
    struct ebb_decision *d = NULL;
    struct ebb_err err;

    (void)state;
    assert_int_equal(ebb_evaluator_decide(ev, policy, &input, &d, &err), 0);
    assert_null(ebb_decision_get_record(d));
    assert_int_equal(ebb_decision_get_verdict(d), EBB_VERDICT_RUN);
    assert_string_equal(ebb_value_text_of(ebb_decision_get_action(d), "type"), "remove_orphan_files");
    ebb_decision_free(d);
    ebb_policy_free(policy);
    ebb_value_free(facts);
    ebb_evaluator_free(ev);
}

/* Executed lines are told; the record is the one without them. */
static void test_lines(void **state)
{
    struct ebb_evaluator *ev = new_evaluator();
    struct ebb_policy *policy = help_policy("doc = \"x\",", "local n = 0\n"
                                                            "for i = 1, 300 do\n"
                                                            "  if i < 0 then\n"
                                                            "    n = n - 1\n"
                                                            "  else\n"
                                                            "    n = n + 1\n"
                                                            "  end\n"
                                                            "end\n"
                                                            "if n == 0 then\n"
                                                            "  note(\"none\")\n"
                                                            "end\n" SKIP);
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .bound = true};
    static const int RUN[] = {4, 5, 6, 9, 12, 15}, NOT[] = {7, 13};
    uint8_t lines[4] = {0};
    char *plain = record_of(ev, policy, &input), *watched;

    (void)state;
    input.lines = lines;
    input.line_count = 32;
    watched = record_of(ev, policy, &input);
    assert_string_equal(plain, watched);
    for (size_t i = 0; i < sizeof RUN / sizeof *RUN; i++)
        if (!(lines[RUN[i] / 8] & 1 << RUN[i] % 8))
            fail_msg("line %d was run", RUN[i]);
    for (size_t i = 0; i < sizeof NOT / sizeof *NOT; i++)
        if (lines[NOT[i] / 8] & 1 << NOT[i] % 8)
            fail_msg("line %d was not run", NOT[i]);
    memset(lines, 0, sizeof lines);
    input.line_count = 6; /* what lies beyond is not touched */
    free(watched);
    watched = record_of(ev, policy, &input);
    assert_int_equal(lines[0] & 0xc0, 0);
    assert_int_equal(lines[1], 0);
    free(plain);
    free(watched);
    ebb_policy_free(policy);
    ebb_value_free(facts);
    ebb_evaluator_free(ev);
}

/* The policy is changed in place: another bundle at the same address is another policy. */
static void test_forget(void **state)
{
    struct ebb_evaluator *ev = new_evaluator();
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .bound = true};

    (void)state;
    for (int i = 0; i < 50; i++) {
        char body[100], want[32];
        struct ebb_policy *policy;
        char *record;

        snprintf(body, sizeof body, "note(\"number %d.\")" SKIP, i);
        snprintf(want, sizeof want, "number %d.", i);
        policy = help_policy("", body);
        record = record_of(ev, policy, &input);
        assert_non_null(strstr(record, want));
        free(record);
        if (i % 2)
            ebb_evaluator_forget(ev, policy);
        ebb_policy_free(policy);
    }
    ebb_value_free(facts);
    ebb_evaluator_free(ev);
    ebb_evaluator_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal), cmocka_unit_test(test_turns),     cmocka_unit_test(test_many),
        cmocka_unit_test(test_fresh), cmocka_unit_test(test_collected), cmocka_unit_test(test_without_record),
        cmocka_unit_test(test_lines), cmocka_unit_test(test_forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
