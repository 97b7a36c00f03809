/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ebb check` finds, with its place: source faults, syntax, schema, lint. Every finding has a source that gives it
 * and a near one that does not.
 */
#include "engine_help.h"

#include "engine/lint.h"
#include "engine/syntax.h"

static void look(const char *source, size_t n, struct ebb_diagnostics *diags)
{
    struct ebb_policy *policy = NULL;
    struct ebb_err err;

    ebb_diagnostics_init(diags);
    if (!ebb_policy_load_text("p.lua", source, n, &policy, diags, &err) && ebb_lint_policy(policy, diags, &err))
        fail_msg("%s", err.message);
    ebb_policy_free(policy);
    ebb_diagnostics_sort(diags);
}

static const struct ebb_diagnostic *find(const struct ebb_diagnostics *diags, const char *code)
{
    for (size_t i = 0; i < diags->count; i++)
        if (!strcmp(diags->items[i].code, code))
            return &diags->items[i];
    return NULL;
}

/* There is a finding of the code, at this place. */
static void has_at(const char *source, size_t n, const char *code, int line, int column, const char *message)
{
    struct ebb_diagnostics diags;
    const struct ebb_diagnostic *d;

    look(source, n, &diags);
    d = find(&diags, code);
    if (!d)
        fail_msg("%s\nno %s, but %s", source, code, diags.count ? diags.items[0].message : "nothing");
    if (d->line != line || d->column != column || !strstr(d->message, message))
        fail_msg("%s\n%d:%d: %s, expected %d:%d: %s", source, d->line, d->column, d->message, line, column, message);
    ebb_diagnostics_fini(&diags);
}

static void has(const char *source, const char *code, int line, int column, const char *message)
{
    has_at(source, strlen(source), code, line, column, message);
}

/* Nothing is found at all. */
static void clean(const char *source)
{
    struct ebb_diagnostics diags;

    look(source, strlen(source), &diags);
    if (diags.count)
        fail_msg("%s\n%d: %s [%s]", source, diags.items[0].line, diags.items[0].message, diags.items[0].code);
    ebb_diagnostics_fini(&diags);
}

#define HEAD "return policy { api = 1, name = \"p\",\n"
#define TAIL "\ndecide = function(t, ctx) return skip(all {}) end }"
#define BODY(text) HEAD "decide = function(t, ctx)\n" text "\nreturn skip(all {}) end }"

static void test_files(void **state)
{
    (void)state;
    has("", "file.empty", 0, 0, "empty");
    has(" \n\t\n", "file.empty", 0, 0, "empty");
    has_at("a\nb\0c", 5, "file.nul", 2, 2, "NUL");
    has("\xEF\xBB\xBFreturn 1", "file.bom", 1, 1, "byte order mark");
    has_at("\xFF\xFEr\0", 4, "file.bom", 1, 1, "byte order mark");
    has("\x1bLua", "file.binary", 0, 0, "precompiled");
    has(HEAD "doc = \"a\",\r" TAIL, "lint.line_ends", 2, 11, "CR LF");
    has(HEAD "doc = \"\xFF\"," TAIL, "lint.not_utf8", 2, 8, "UTF-8");
    clean(HEAD "doc = \"Ü\"," TAIL);
}

static void test_syntax(void **state)
{
    struct ebb_syntax s;

    (void)state;
    has("local x = = 3", "syntax", 1, 11, "unexpected symbol near '='");
    has("return policy {\n\tname = = 1 }", "syntax", 2, 9, "unexpected symbol");
    has("local s = \"Ü\" x", "syntax", 1, 16, "near");
    has("local s = \"no end\nx = 1", "syntax", 1, 11, "unfinished string");
    has("return policy {\n api = 1,\n", "syntax", 3, 1, "near <eof>");
    has("return policy { a b }", "syntax", 1, 19, "'}' expected near 'b'");
    has("local n = 3x", "syntax", 1, 11, "malformed number near '3x'");
    has("for i = 1 do end", "syntax", 1, 11, "',' expected near 'do'");
    assert_true(ebb_syntax_check(EBB_STR("return 1"), &s));
    assert_true(ebb_syntax_check(EBB_STR(""), &s));
    assert_false(ebb_syntax_check(EBB_STR("end"), &s));
    assert_int_equal(s.line, 1);
    assert_int_equal(s.column, 1);
}

static void check_caret(const char *source, int line, int column, const char *expected)
{
    char text[1024];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    ebb_caret_print(&b, ebb_str_of(source), line, column);
    assert_string_equal(ebb_buf_cstr(&b), expected);
}

static void test_caret(void **state)
{
    (void)state;
    check_caret("local x = = 3", 1, 11, "  local x = = 3\n            ^\n");
    check_caret("a\n\tx = 1\r\nb", 2, 2, "  \tx = 1\n  \t^\n");
    check_caret("\"Ü\" x", 1, 5, "  \"Ü\" x\n      ^\n");
    check_caret("a\x1b[2J b", 1, 7, "  a?[2J b\n        ^\n");
    check_caret("a", 1, 2, "  a\n   ^\n");
    check_caret(" \n", 1, 1, "");
    check_caret("a", 3, 1, "");
    check_caret("a", 0, 1, "");
    check_caret("a", 1, 0, "");
}

static void test_schema_codes(void **state)
{
    (void)state;
    has(HEAD "guard = { min_intervall = \"5d\" }," TAIL, "schema.unknown_key", 2, 11, "did you mean `min_interval`?");
    has(HEAD "guard = { min_interval = 5 }," TAIL, "schema.type", 2, 11, "a duration is due, not an integer");
    has(HEAD "guard = { min_interval = \"5\" }," TAIL, "schema.value", 2, 11, "guard.min_interval");
    has("return policy {\n name = \"p\"," TAIL, "schema.missing", 1, 8, "api: missing");
    has(HEAD "guard = { timeout = param \"x\" }," TAIL, "schema.parameter", 2, 11, "no parameter \"x\"");
    has(HEAD "triggers = { time.calendar { \"Sun 02:00\",\n tz = \"Nowhere/City\" } }," TAIL, "schema.value", 3, 2,
        "triggers[1].tz");
    has(HEAD "triggers = { time.calendar {\n \"Sonntag\" } }," TAIL, "schema.value", 3, 2, "triggers[1][1]");
    has(HEAD "guard = { quiet = { { from = \"25:00\",\n to = \"02:00\" } } }," TAIL, "schema.value", 2, 23,
        "guard.quiet[1].from");
    has(HEAD "guard = { quiet = { { from = \"00:00\", to = \"00:00\" } } }," TAIL, "lint.always_quiet", 2, 11,
        "no time that is not quiet");
    has("return 5", "header.result", 0, 0, "must end with");
    has("local a = 1\nlocal b = a.x.y", "header.error", 2, 11, "attempt to index");
    has("\n check(\"a\", 1, \"==\", 1)", "header.error", 2, 2, "only inside decide");
    has("while true do end", "policy.gas", 0, 0, "gas");
    has("return policy { api = 1, name = \"p\", doc = 0/0 }", "schema.value", 0, 0, "");
}

static void test_names(void **state)
{
    (void)state;
    has(BODY(" x = 1"), "lint.unknown_global", 3, 2, "x: can't be set");
    has(BODY(" local y = os.time()"), "lint.unknown_global", 3, 12, "os: the sandbox has no such name");
    has(BODY(" local y = math.random()"), "lint.unknown_global", 3, 12, "math.random");
    has(BODY(" local y = (\"a\"):gsub(\"a\", \"b\")"), "lint.unknown_global", 3, 18, ":gsub");
    has(BODY(" if true then local z = 1 end note(z)"), "lint.unknown_global", 3, 36, "z: ");
    clean(BODY(" local z = 1 note(z)"));
    clean(BODY(" for i, p in ipairs({}) do note(i, p) end"));
    clean(BODY(" repeat local done = true until done"));
    clean(BODY(" local function f(a) return f(a) end note(f)"));
    clean(BODY(" local u = { a = 1, [\"b\"] = 2 } goto over ::over:: note(u.a, (\"x\"):upper())"));
    clean(BODY(" while (function() for _ in ipairs({}) do end return false end)() do local q = 1 note(q) end"));
}

static void test_fields(void **state)
{
    (void)state;
    has(BODY(" note(t.stats.byts)"), "lint.unknown_field", 3, 15, "t.stats.byts");
    has(BODY(" local s = t.stats.orphans\n note(s.aeg)"), "lint.unknown_field", 4, 9, "t.stats.orphans.aeg");
    has(BODY(" note(t.current_snapshot.tid)"), "lint.unknown_field", 3, 26, "snapshot.tid");
    has(BODY(" note(ctx.params.retain)"), "lint.unknown_field", 3, 18, "ctx.params.retain");
    has(BODY(" note(ctx.nwo)"), "lint.unknown_field", 3, 11, "ctx.nwo");
    clean(BODY(" local s = t.stats\n for _, s in ipairs({ { any = 1 } }) do note(s.any) end note(s.bytes)"));
    clean(BODY(" note(t.properties.owner, t.properties[\"a.b\"], t.current_snapshot.summary.x, ctx.runs.last.engine)"));
    clean(BODY(" note(ctx.fleet.slots, t.refs.main, ctx.events.count { \"a.b\" }, #t.snapshots {})"));
}

static void test_flow(void **state)
{
    (void)state;
    has(BODY(" if t.name then skip(all {}) end"), "lint.unreachable_check", 3, 17, "its result is dropped");
    has(BODY(" if t.name then return skip(all {}) else return skip(any {}) end\n note(1)"), "lint.unreachable_check", 4,
        2, "never reached");
    has(BODY(" do return skip(all {}) end"), "lint.unreachable_check", 4, 1, "never reached");
    clean(BODY(" if t.name then return skip(all {}) end\n note(1)"));
    clean(BODY(" if t.name then return skip(all {}) elseif t.uuid then return skip(any {}) end\n note(1)"));
    clean(BODY(" for i = 1, 2 do if i == 1 then return skip(all {}) else return skip(any {}) end end note(1)"));
    clean(BODY(" local f = function() return skip(all {}) end note(f)"));
    has(BODY(" note(all { check(\"a\", 1, \"<\", 2),\n check(\"a\", 2, \"<\", 3) })"), "lint.duplicate_check", 4, 8,
        "check in line 3");
    clean(BODY(" if t.name then note(check(\"a\", 1, \"<\", 2)) else note(check(\"a\", 2, \"<\", 3)) end"));
}

static void test_calls(void **state)
{
    (void)state;
    has(BODY(" note(check(\"a\", t.name, \"=\", 1))"), "lint.check_operator", 3, 26, "\"=\" is no operator");
    has(BODY(" note(check(\"a\", math.max(1, 2), \"!=\", 1))"), "lint.check_operator", 3, 34, "\"!=\"");
    has(BODY(" note(check_each(\"a\", \"k\", 1, \"eq\", 1))"), "lint.check_operator", 3, 31, "\"eq\"");
    clean(BODY(" local op = \"<\" note(check(\"a\", 1, op, 1), check(\"b\", t.name, \"exists\"), check(\"c\", 1, \"i\" "
               ".. \"n\", {}))"));
    has(BODY(" note(action.remove_orphan_files { older_then = 1 })"), "lint.unknown_argument", 3, 36, "older_then");
    has(BODY(" note(action.expire_snapshots({ older_than = 1, keep = 1 }))"), "lint.unknown_argument", 3, 49, "keep");
    clean(BODY(
        " note(action.remove_orphan_files { older_than = 1, equal_schemes = { s3a = \"s3\" }, [\"keep\"] = {} })"));
    clean(BODY(" local action = { x = function(a) return a end } note(action.x { any = 1 })"));
    has(BODY(" note(param \"a\")"), "lint.wrong_phase", 3, 7, "param: only for the data part");
    has(BODY(" note(time.calendar \"Sun 02:00\")"), "lint.wrong_phase", 3, 7, "time.calendar");
    clean(BODY(" note(time.start_of(\"day\", ctx.now), time.civil(ctx.now).hour)"));
    has(BODY(" t.stats.bytes = 0"), "lint.read_only", 3, 2, "read only");
    has(BODY(" ctx.now = 0"), "lint.read_only", 3, 2, "read only");
    clean(BODY(" local t = {} t.x = 1 note({ t.x == 1, y = t.x })"));
}

static void test_numbers(void **state)
{
    (void)state;
    has(BODY(" note(ctx.now / 2)"), "lint.integer_to_float", 3, 15, "float");
    has(BODY(" note(5 / t.current_snapshot.id)"), "lint.integer_to_float", 3, 9, "float");
    has(BODY(" note(action.remove_orphan_files { older_than = ctx.now - 86400000 / 2 })"), "lint.integer_to_float", 3,
        68, "float");
    clean(BODY(" note(ctx.now // 2, t.stats.bytes / t.stats.data_files, ratio(ctx.now, 2))"));
    clean(BODY(" note(action.remove_orphan_files { older_than = math.floor(ctx.now - 3 / 2) })"));
    has(BODY(" local m = { a = 1 }\n note(#m)"), "lint.length_of_holes", 4, 7, "#");
    has(BODY(" note(#{ 1, nil, 3 })"), "lint.length_of_holes", 3, 7, "#");
    clean(BODY(" local m = { 1, 2 }\n note(#m, #{ 1 }, #t.name, #ctx.events.list { \"a.b\" })"));
}

static void test_params(void **state)
{
    (void)state;
    has(HEAD "params = {\n left = { type = \"integer\" } }," TAIL, "lint.unused_param", 3, 2, "params.left");
    clean(HEAD "params = { tz = { type = \"timezone\", default = \"UTC\" } },\n"
               "guard = { quiet = { { from = \"01:00\", to = \"02:00\", tz = param \"tz\" } } }," TAIL);
    clean(HEAD "params = { a = { type = \"integer\" } },\ndecide = function(t, ctx)\n"
               " for k, v in pairs(ctx.params) do note(k, v) end return skip(all {}) end }");
}

static void test_schedule(void **state)
{
    (void)state;
    has(HEAD "triggers = { time.calendar { \"Sun 02:00\" } },\nguard = { min_interval = \"7d\" }," TAIL,
        "lint.interval_drift", 3, 11, "drift");
    /* In spring two Sundays are 167 h apart; an hour is left for the run. */
    has(HEAD "triggers = { time.calendar { \"Sun 02:00\", tz = \"Europe/Berlin\" } },\nguard = { min_interval = "
             "\"167h\" }," TAIL,
        "lint.interval_drift", 3, 11, "drift");
    clean(HEAD "triggers = { time.calendar { \"Sun 02:00\", tz = \"Europe/Berlin\" } },\n"
               "guard = { min_interval = \"166h\" }," TAIL);
    has(HEAD "triggers = { time.every { \"2h\", anchor = \"epoch\",\n spread = \"2h\" } }," TAIL,
        "lint.spread_too_long", 3, 2, "spread");
    clean(HEAD "triggers = { time.every { \"2h\", anchor = \"epoch\", spread = \"119m\" } }," TAIL);
    has(HEAD "triggers = { time.calendar { \"Sun 02:00\", spread = \"3h\",\n late_by = \"2h\" } }," TAIL,
        "lint.late_by", 3, 2, "late_by");
    has(HEAD "triggers = {\n on.event { \"commit.failed\" } }," TAIL, "lint.no_min_interval", 3, 2, "min_interval");
    has(HEAD "triggers = {\n on.count { \"snapshot.committed\", n = 5 } }," TAIL, "lint.no_min_interval", 3, 2,
        "min_interval");
    clean(HEAD "triggers = { on.event { \"commit.failed\" } }, guard = { min_interval = \"1h\" }," TAIL);
    has(HEAD "triggers = { time.cron {\n \"0 4 1 * 1\" } }," TAIL, "lint.cron_days", 2, 14, "either");
    clean(HEAD "triggers = { time.cron { \"0 4 */2 * 1\" } }," TAIL);
    /* Quiet from end to end but for a flag that is not set. */
    clean(HEAD "guard = { quiet = { { from = \"00:00\", to = \"00:00\", only_if = \"freeze\" } } }," TAIL);
}

/* Sources that nest or repeat beyond all measure are passed over, not tripped over. */
static void test_large(void **state)
{
    char *source = malloc(70000);
    struct ebb_diagnostics diags;
    size_t n = 0;

    (void)state;
    n += (size_t)snprintf(source, 70000, HEAD "doc = \"x\",\n");
    for (int i = 0; i < 180; i++)
        n += (size_t)snprintf(source + n, 70000 - n, "k%d = {", i);
    look(source, n, &diags);
    ebb_diagnostics_fini(&diags);
    n = (size_t)snprintf(source, 70000, HEAD "decide = function(t, ctx)\n");
    for (int i = 0; i < 1000; i++)
        n += (size_t)snprintf(source + n, 70000 - n, " note(check(\"c%d\", 1, \"<\", zz))\n", i);
    n += (size_t)snprintf(source + n, 70000 - n, "return skip(all {}) end }");
    look(source, n, &diags);
    assert_int_equal(diags.count, EBB_DIAGNOSTICS_MAX);
    assert_int_equal(diags.warning_count, 1000);
    ebb_diagnostics_fini(&diags);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),  cmocka_unit_test(test_syntax),   cmocka_unit_test(test_caret),
        cmocka_unit_test(test_names),  cmocka_unit_test(test_fields),   cmocka_unit_test(test_schema_codes),
        cmocka_unit_test(test_flow),   cmocka_unit_test(test_calls),    cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_params), cmocka_unit_test(test_schedule), cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
