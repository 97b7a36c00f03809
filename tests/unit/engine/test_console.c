/* SPDX-License-Identifier: Apache-2.0
 *
 * The console: expressions, statements, what is shown of facts, and every way in which a line can go wrong.
 */
#include "engine_help.h"

#include "engine/console.h"

struct run {
    struct ebb_console_result result;
    struct ebb_err err;
    int rc;
};

static struct run run_in(const struct ebb_policy *policy, const struct ebb_value *facts, const char *source, size_t n)
{
    struct ebb_decide_input input;
    struct run r;

    memset(&r, 0, sizeof r);
    memset(&input, 0, sizeof input);
    input.facts = facts;
    input.now_ms = HELP_NOW;
    input.bound = true;
    ebb_console_result_init(&r.result);
    r.rc = ebb_console_run(policy, &input, (struct ebb_str){source, n}, &r.result, &r.err);
    return r;
}

static struct run run(const char *source)
{
    struct ebb_value *facts = help_facts("clicks.json");
    struct run r = run_in(NULL, facts, source, strlen(source));

    ebb_value_free(facts);
    return r;
}

static void expect_text(const char *source, const char *wanted, int line)
{
    struct run r = run(source);

    if (r.rc || strcmp(ebb_buf_cstr(&r.result.out), wanted))
        fail_msg("line %d: %s: rc %d %s, out <%s>", line, source, r.rc, r.err.message, ebb_buf_cstr(&r.result.out));
    ebb_console_result_fini(&r.result);
}
#define EXPECT(source, wanted) expect_text(source, wanted, __LINE__)

static void expect_error(const char *source, enum ebb_error error, const char *message, int line)
{
    struct run r = run(source);

    if (r.rc != -(int)error || !strstr(r.err.message, message))
        fail_msg("line %d: %s: rc %d <%s>", line, source, r.rc, r.rc ? r.err.message : "");
    ebb_console_result_fini(&r.result);
}
#define FAILS(source, error, message) expect_error(source, error, message, __LINE__)

static void expressions(void **state)
{
    (void)state;
    EXPECT("1 + 2", "3\n");
    EXPECT("40 / 1", "40.0\n");
    EXPECT("nil", "nil\n");
    EXPECT("true", "true\n");
    EXPECT("\"a\" .. \"b\"", "\"ab\"\n");
    EXPECT("1, 2", "1\n2\n");
    EXPECT("return 7", "7\n");
    EXPECT("{ b = 1, a = { 2, 3 }, [\"x y\"] = \"z\" }", "{ a = { 2, 3 }, b = 1, [\"x y\"] = \"z\" }\n");
    EXPECT("{}", "{}\n");
    EXPECT("t.name -- a comment", "\"clicks\"\n");
    EXPECT("t.stats.data_files", "45210\n");
    EXPECT("t.current_snapshot.id", "3776207205136740581\n");
    EXPECT("ctx.now", "1774742400000   -- 2026-03-29T00:00:00Z\n");
    EXPECT("t.stats.longest_write", "5400000   -- 1h30m\n");
    EXPECT("type(check)", "\"function\"\n");
    EXPECT("all { check(\"a\", 1, \"<\", 2), check(\"b\", nil, \"<\", 2) }",
           "all   unknown\n  a   true\n  b   unknown\n");
}

static void statements(void **state)
{
    (void)state;
    EXPECT("local x = 3", "");
    EXPECT("note(1, \"b\") note(2)", "1  b\n2\n");
    EXPECT("print(t.name)", "clicks\n");
    EXPECT(
        "for _, p in ipairs(t.partitions{}) do\n  if p.delete_records > 0 then note(p.key, p.delete_records) end\nend",
        "ds=2026-03-28  100\n");
    EXPECT("", "");
}

/* Each chunk is a new state: nothing stays. */
static void nothing_stays(void **state)
{
    (void)state;
    FAILS("x = 1", EBB_EPOLICY_ERROR, "x: can't be set");
    FAILS("x", EBB_EPOLICY_ERROR, "unknown");
}

static void missing_facts(void **state)
{
    struct ebb_value *facts = help_json("{\"table\": {\"catalog\": \"c\", \"namespace\": \"n\", \"name\": \"t\"}}");
    struct run r = run_in(NULL, facts, "t.stats.longest_write", 21);

    (void)state;
    assert_int_equal(r.rc, 0);
    assert_string_equal(ebb_buf_cstr(&r.result.out), "nil   -- unknown: no writer has reported a duration. A check on "
                                                     "it is 'unknown', never true.\n");
    ebb_console_result_fini(&r.result);
    r = run_in(NULL, facts, "t.stats", 7);
    assert_int_equal(r.rc, 0);
    assert_non_null(strstr(ebb_buf_cstr(&r.result.out), "-- unknown: data_files, bytes, "));
    ebb_console_result_fini(&r.result);
    r = run_in(NULL, facts, "t.partitions{}", 14);
    assert_int_equal(r.rc, 0);
    assert_non_null(strstr(ebb_buf_cstr(&r.result.out), "the manifests were not read"));
    ebb_console_result_fini(&r.result);
    ebb_value_free(facts);
}

static void read_only(void **state)
{
    (void)state;
    FAILS("t.stats.bytes = 0", EBB_EPOLICY_ERROR,
          "t is read-only.  To try another value in this session: :set stats.bytes 0");
    FAILS("ctx.params.retain = \"1d\"", EBB_EPOLICY_ERROR, ":param retain \"1d\"");
    FAILS("ctx.now = 5", EBB_EPOLICY_ERROR, ":at INSTANT");
    FAILS("t.stats.byts", EBB_EPOLICY_ERROR, "t.stats.byts: unknown");
}

static void expect_place(const char *source, int line, int column)
{
    struct run r = run(source);

    assert_int_equal(r.rc, -(int)EBB_EPOLICY_ERROR);
    if (r.result.is_incomplete || r.result.line != line || r.result.column != column)
        fail_msg("%s: %d:%d incomplete %d (%s)", source, r.result.line, r.result.column, r.result.is_incomplete,
                 r.err.message);
    ebb_console_result_fini(&r.result);
}

static void syntax(void **state)
{
    (void)state;
    expect_place("local x = = 3", 1, 11);
    expect_place("local x = == 3", 1, 11);
    expect_place("t.stats t.stats", 1, 9);
    expect_place("for i = 1, 3 do\n  local = 4\nend", 2, 9);
    expect_place("end", 1, 1);
    expect_place("x = \"abc", 1, 0);
    expect_place("x = \"abc\nd\"", 1, 5);
    expect_place("\x1b[2J", 1, 0);
}

static void incomplete(void **state)
{
    static const char *const CUT[] = {"for i = 1, 3 do", "if true then\n  note(1)",
                                      "note(",           "1 +",
                                      "t.stats.",        "x = [[ long",
                                      "{ a = 1,",        "--[[ note",
                                      "function",        "local f = function(a)"};

    (void)state;
    for (size_t i = 0; i < sizeof CUT / sizeof *CUT; i++) {
        struct run r = run(CUT[i]);

        if (r.rc != -(int)EBB_EPOLICY_ERROR || !r.result.is_incomplete)
            fail_msg("%s: rc %d incomplete %d", CUT[i], r.rc, r.result.is_incomplete);
        ebb_console_result_fini(&r.result);
    }
}

static void limits(void **state)
{
    struct run r = run("while true do end");

    (void)state;
    assert_int_equal(r.rc, -(int)EBB_EPOLICY_GAS);
    assert_true(r.result.gas >= EBB_DECIDE_GAS);
    ebb_console_result_fini(&r.result);
    FAILS("local s = (\"x\"):rep(1000) while true do s = s .. s end", EBB_EPOLICY_MEMORY, "memory");
    FAILS("local t = {} for i = 1, 1e9 do t[i] = i end", EBB_EPOLICY_MEMORY, "memory");
    FAILS("os.exit()", EBB_EPOLICY_ERROR, "os: unknown");
    FAILS("load(\"x\")", EBB_EPOLICY_ERROR, "load: unknown");
    FAILS("error(\"stop\")", EBB_EPOLICY_ERROR, "stop");
    FAILS("use \"nothing\"", EBB_EPOLICY_ERROR, "nothing");
    /* what failed leaves the console as it was */
    EXPECT("pcall(use, \"nothing\") return check(\"a\", 1, \"==\", 1).ok", "true\n");
}

/* Output can be neither endless nor a command to the terminal. */
static void output(void **state)
{
    struct run r = run("for i = 1, 100000 do print(\"0123456789012345678901234567890123456789\") end");
    char *big = malloc(200000);

    (void)state;
    assert_true(r.result.out.len <= (1 << 20) + 64);
    ebb_console_result_fini(&r.result);
    EXPECT("note(\"\\27[2J\\27]0;x\\7\")", "\\x1b[2J\\x1b]0;x\\x07\n");
    EXPECT("\"\\27[2J\"", "\"\\x1b[2J\"\n");
    EXPECT("{ [\"\\27\"] = 1 }", "{ [\"\\x1b\"] = 1 }\n");
    r = run("local v = 1 for i = 1, 10 do v = { v } end return v");
    assert_int_equal(r.rc, 0);
    assert_string_equal(ebb_buf_cstr(&r.result.out), "{ { { { { { {…} } } } } } }\n");
    ebb_console_result_fini(&r.result);
    r = run("local v = {} v.v = v return v");
    assert_int_equal(r.rc, 0);
    ebb_console_result_fini(&r.result);
    r = run("(\"x\"):rep(60000)");
    assert_int_equal(r.rc, 0);
    assert_true(r.result.out.len < 500);
    ebb_console_result_fini(&r.result);
    memset(big, ' ', 200000);
    r = run_in(NULL, NULL, big, 200000);
    assert_int_not_equal(r.rc, 0);
    ebb_console_result_fini(&r.result);
    free(big);
}

static void views(void **state)
{
    struct run r = run("t");
    const char *out = ebb_buf_cstr(&r.result.out);

    (void)state;
    assert_int_equal(r.rc, 0);
    assert_non_null(strstr(out, "snapshots = function, 3 known"));
    assert_non_null(strstr(out, "last_write = 1774740000000 (2026-03-28T23:20:00Z)") ? out : strstr(out, "stats = "));
    assert_non_null(strstr(out, "-- unknown: spec, sort_order, schema"));
    ebb_console_result_fini(&r.result);
    EXPECT("t.partitions{ limit = 1 }",
           "{\n  {\n    avg_file = 42949672,\n    bytes = 8589934592,\n    delete_files = 0,\n    delete_records = 0,\n"
           "    files = 200,\n    key = \"ds=2026-03-26\",\n    last_write = 1774560000000 (2026-03-26T21:20:00Z),\n"
           "    max_file = 268435456,\n    records = 5000,\n    spec_id = 0,\n  },\n}\n");
    EXPECT("t.refs", "{ main = { snapshot_id = 3776207205136740581, type = \"branch\" } }\n");
    EXPECT("action.remove_orphan_files { older_than = ctx.now }",
           "{ older_than = 1774742400000 (2026-03-29T00:00:00Z), type = \"remove_orphan_files\" }\n");
}

static void policies(void **state)
{
    struct ebb_policy *policy = help_policy("params = { retain = { type = \"duration\", default = \"5d\" } },",
                                            "return skip(check(\"a\", 1, \"<\", 0))");
    struct ebb_value *facts = help_facts("clicks.json");
    struct run r = run_in(policy, facts, "ctx.params.retain", 17);

    (void)state;
    assert_int_equal(r.rc, 0);
    assert_string_equal(ebb_buf_cstr(&r.result.out), "432000000\n");
    ebb_console_result_fini(&r.result);
    ebb_value_free(facts);
    ebb_policy_free(policy);
}

/* :set takes what an expression gives. */
static void values(void **state)
{
    struct ebb_value *facts = help_facts("clicks.json"), *box = NULL;
    struct ebb_decide_input input;
    struct ebb_err err;

    (void)state;
    memset(&input, 0, sizeof input);
    input.facts = facts;
    input.now_ms = HELP_NOW;
    assert_int_equal(ebb_console_value(NULL, &input, EBB_STR("t.stats.data_files * 2"), &box, &err), 0);
    assert_int_equal(ebb_value_int_of(box, "value", 0), 90420);
    ebb_value_free(box);
    assert_int_equal(ebb_console_value(NULL, &input, EBB_STR("{ a = t.properties }"), &box, &err), 0);
    assert_string_equal(ebb_value_text_of(ebb_value_get(ebb_value_get(box, "value"), "a"), "owner.timezone"),
                        "Europe/Berlin");
    ebb_value_free(box);
    assert_int_equal(ebb_console_value(NULL, &input, EBB_STR("nil"), &box, &err), 0);
    assert_int_equal(ebb_value_get_kind(ebb_value_get(box, "value")), EBB_VALUE_NIL);
    ebb_value_free(box);
    assert_int_equal(ebb_console_value(NULL, &input, EBB_STR("90m"), &box, &err), -(int)EBB_EPOLICY_ERROR);
    assert_int_equal(ebb_console_value(NULL, &input, EBB_STR("check"), &box, &err), -(int)EBB_EPOLICY_ERROR);
    assert_null(box);
    ebb_value_free(facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions),   cmocka_unit_test(statements), cmocka_unit_test(nothing_stays),
        cmocka_unit_test(missing_facts), cmocka_unit_test(read_only),  cmocka_unit_test(syntax),
        cmocka_unit_test(incomplete),    cmocka_unit_test(limits),     cmocka_unit_test(output),
        cmocka_unit_test(views),         cmocka_unit_test(policies),   cmocka_unit_test(values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
