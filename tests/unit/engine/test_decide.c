/* SPDX-License-Identifier: Apache-2.0
 *
 * decide: three-valued checks, results, facts, helpers, the record.
 */
#include "engine_help.h"

/* Decide on the clicks fixture; the record (freed by the caller) and the verdict. */
static char *record_of(const char *lines, const char *body, enum ebb_verdict *verdict)
{
    struct ebb_policy *policy = help_policy(lines, body);
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .id = "d-1", .mode = EBB_MODE_ENFORCE};
    struct ebb_decision *d = NULL;
    struct ebb_err err;
    char *record;

    if (ebb_decide(policy, &input, &d, &err))
        fail_msg("%s: %s", body, err.message);
    *verdict = ebb_decision_get_verdict(d);
    record = strdup(ebb_decision_get_record(d));
    ebb_decision_free(d);
    ebb_policy_free(policy);
    ebb_value_free(facts);
    return record;
}

static void check_has(const char *body, const char *text)
{
    enum ebb_verdict verdict;
    char *record = record_of("", body, &verdict);

    if (!strstr(record, text))
        fail_msg("%s\n has no %s", record, text);
    free(record);
}

/* The body must raise an error or break a rule; its text is checked. */
static void check_fails(const char *body, enum ebb_error error, const char *text)
{
    struct ebb_policy *policy = help_policy("", body);
    struct ebb_value *facts = help_facts("clicks.json");
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW};
    struct ebb_decision *d = NULL;
    struct ebb_err err = {0};
    int rc = ebb_decide(policy, &input, &d, &err);

    if (rc != -(int)error || !strstr(err.message, text))
        fail_msg("%s: %d %s", body, rc, err.message);
    assert_non_null(d);
    assert_int_equal(ebb_decision_get_verdict(d), EBB_VERDICT_ERROR);
    assert_null(ebb_decision_get_action(d));
    assert_non_null(strstr(ebb_decision_get_record(d), ebb_error_code(error)));
    ebb_decision_free(d);
    ebb_policy_free(policy);
    ebb_value_free(facts);
}

/* assert(…) of each line must hold. */
static void check_holds(const char *lines)
{
    char body[8192];
    enum ebb_verdict verdict;

    snprintf(body, sizeof body, "%s\nreturn skip(all { check(\"never\", 1, \"==\", 2) })", lines);
    free(record_of("", body, &verdict));
    assert_int_equal(verdict, EBB_VERDICT_SKIP);
}

#define T "check(\"t\", 1, \"==\", 1)"
#define F "check(\"f\", 1, \"==\", 2)"
#define U "check(\"u\", nil, \"==\", 1)"

static void test_three_values(void **state)
{
    (void)state;
    check_holds(
        "assert(" T ".result == \"true\" and " F ".result == \"false\" and " U ".result == \"unknown\")\n"
        "assert(" T ".ok == true and " F ".ok == false and " U ".ok == false)\n"
        "assert(all { " T ", " U ", " F " }.result == \"false\")\n"
        "assert(all { " T ", " U " }.result == \"unknown\")\n"
        "assert(all { " T ", " T " }.result == \"true\")\n"
        "assert(all {}.result == \"true\" and any {}.result == \"false\" and none {}.result == \"true\")\n"
        "assert(any { " F ", " U ", " T " }.result == \"true\")\n"
        "assert(any { " F ", " U " }.result == \"unknown\")\n"
        "assert(any { " F ", " F " }.result == \"false\")\n"
        "assert(none { " F ", " F " }.result == \"true\")\n"
        "assert(none { " F ", " U " }.result == \"unknown\")\n"
        "assert(none { " U ", " T " }.result == \"false\")\n"
        "assert(check(\"e\", nil, \"exists\").result == \"false\" and check(\"e\", 1, \"exists\").result == \"true\")\n"
        "assert(check(\"e\", nil, \"unknown\").result == \"true\" and check(\"e\", false, \"unknown\").result == "
        "\"false\")\n"
        "assert(check(\"m\", t.stats.orphans, \"exists\").result == \"false\" and check(\"m\", t.stats.orphans, "
        "\"unknown\").ok and check(\"m\", t.stats, \"exists\").ok and check(\"m\", ctx.fleet, \"==\", 1).result == "
        "\"unknown\")\n"
        "assert(check(\"n\", 0/0, \"<\", 1).result == \"unknown\")\n");
}

static void test_operators(void **state)
{
    (void)state;
    check_holds(
        "local function r(a, op, b) return check(\"x\", a, op, b).result == \"true\" end\n"
        "assert(r(1, \"==\", 1.0) and r(1, \"~=\", 2) and r(\"1\", \"~=\", 1) and r(true, \"==\", true))\n"
        "assert(r(1, \"<\", 2) and r(2, \"<=\", 2) and r(3, \">\", 2) and r(2, \">=\", 2))\n"
        "assert(r(\"a\", \"<\", \"b\") and not r(\"B\", \">\", \"a\"))\n"
        "assert(r(9007199254740993, \">\", 9007199254740992))\n"
        "assert(r(\"b\", \"in\", { \"a\", \"b\" }) and not r(\"c\", \"in\", { \"a\" }))\n"
        "assert(r(\"part-1.parquet\", \"matches\", \"*.parquet\") and not r(\"x\", \"matches\", \"y*\"))\n"
        "assert(check_each(\"e\", \"k\", 2, \">\", 1) == true and check_each(\"e\", \"k\", nil, \">\", 1) == false)\n");
}

static void test_facts(void **state)
{
    (void)state;
    check_holds(
        "assert(t.catalog == \"prod\" and t.name == \"clicks\" and t.format_version == 2)\n"
        "assert(t.current_snapshot.id == 3776207205136740581 and math.type(t.current_snapshot.id) == \"integer\")\n"
        "assert(t.properties[\"owner.timezone\"] == \"Europe/Berlin\" and t.properties.none == nil)\n"
        "assert(t.stats.data_files == 45210 and t.stats.orphans.bytes == nil and t.spec == nil)\n"
        "assert(t.stats.custom[\"custom-x\"] == nil and t.stats.custom ~= nil)\n"
        "assert(type(t) == \"table\" and tostring(t) == \"table\")\n"
        "local s = t.snapshots {}\nassert(#s == 3 and s[1].id == 50 and s[4] == nil)\n"
        "assert(#t.snapshots { limit = 1 } == 1 and t.snapshots { limit = 1 }[1].id == t.current_snapshot.id)\n"
        "assert(#t.snapshots { since = \"12h\" } == 2)\n"
        "local p = t.partitions { min_files = 10 }\nassert(#p == 2 and p[1].key == \"ds=2026-03-26\")\n"
        "local keys = {}\nfor i, q in ipairs(t.partitions {}) do keys[i] = q.key end\n"
        "assert(table.concat(keys, \" \") == \"ds=2026-03-26 ds=2026-03-27 ds=2026-03-28\")\n"
        "local names = {}\nfor k, v in pairs(t.properties) do names[#names + 1] = k end\n"
        "assert(#names == 2 and names[1] == \"owner.timezone\")\n"
        "assert(ctx.now == 1774742400000 and ctx.trigger.kind == \"manual\" and ctx.trigger.missed == nil)\n"
        "assert(ctx.runs.failed_in_a_row == 0 and ctx.runs.last == nil and ctx.fleet.x == nil)\n");
    check_fails("return t.stats.byte", EBB_EPOLICY_ERROR, "t.stats.byte: unknown");
    check_fails("return t.stat", EBB_EPOLICY_ERROR, "t.stat: unknown");
    check_fails("return ctx.params.x", EBB_EPOLICY_ERROR, "ctx.params.x: unknown");
}

static void test_events(void **state)
{
    (void)state;
    /* snapshot 51 was made by maintenance; e-773 announces a snapshot that the metadata shows already */
    check_holds("assert(ctx.events.count { \"snapshot.committed\", since = \"last_success\" } == 2)\n"
                "assert(ctx.events.count { \"snapshot.committed\", since = \"1h\" } == 1)\n"
                "assert(ctx.events.count \"commit.failed\" == 2)\n"
                "local l = ctx.events.list { \"commit.failed\", where = function(e) return e.retried_ok ~= true end }\n"
                "assert(#l == 1 and l[1].id == \"e-771\" and l[1].files_written == 212 and l[1].none == nil)\n"
                "assert(#ctx.events.list { \"no.such\" } == 0)\n");
    check_fails("ctx.events.list { since = \"1h\" }", EBB_EPOLICY_ERROR, "event.type");
    check_fails("ctx.events.list { \"a\", sinse = \"1h\" }", EBB_EPOLICY_ERROR, "sinse: unknown");
}

static void test_text_helpers(void **state)
{
    (void)state;
    check_holds(
        "assert(str.len(\"abc\") == 3 and (\"aBc\"):lower() == \"abc\" and str.upper(\"aBc\") == \"ABC\")\n"
        "assert((\" x y \"):trim() == \"x y\")\n"
        "local s = (\"a,,b\"):split(\",\")\nassert(#s == 3 and s[1] == \"a\" and s[2] == \"\" and s[3] == \"b\")\n"
        "assert((\"abc\"):starts(\"ab\") and not (\"abc\"):starts(\"b\") and (\"abc\"):ends(\"bc\") and "
        "(\"abc\"):contains(\"b\"))\n"
        "local a, b = (\"a.b.c\"):find(\".\")\nassert(a == 2 and b == 2)\n"
        "assert((\"a.b.c\"):find(\".\", 3) == 4 and (\"abc\"):find(\"x\") == nil)\n"
        "assert((\"hello\"):sub(2, 3) == \"el\" and (\"hello\"):sub(-3) == \"llo\" and (\"hello\"):sub(4, 2) == \"\")\n"
        "assert((\"hello\"):sub(0) == \"hello\" and (\"hello\"):sub(-100, 2) == \"he\" and "
        "(\"x\"):sub(math.mininteger, -1) == \"x\")\n"
        "assert((\"ab\"):rep(3) == \"ababab\" and (\"a\"):rep(3, \"-\") == \"a-a-a\" and (\"a\"):rep(-1) == \"\")\n"
        "local r, n = (\"a.b.c\"):replace(\".\", \"::\")\nassert(r == \"a::b::c\" and n == 2)\n"
        "assert(fmt(\"%s %5d|%-5d|%05.1f %x %%\", \"a\", 42, 7, 2.25, 255) == \"a    42|7    |002.2 ff %\")\n"
        "assert(fmt(\"%g %s %s\", 0.5, nil, 1.5) == \"0.5 nil 1.5\")\n"
        "assert(bytes_h(1536) == \"1.5 KiB\" and bytes_h(nil) == \"unknown\")\n"
        "assert(iso(0) == \"1970-01-01T00:00:00Z\" and iso(nil) == \"unknown\")\n"
        "assert(hash(\"k\", 10) == hash(\"k\", 10) and hash(\"k\", 1) == 0 and hash(7, 100) < 100)\n"
        "assert(glob(\"*.stats\", \"a.stats\") and not glob(\"a?\", \"a\"))\n"
        "assert(tostring(nil) == \"nil\" and tostring(1) == \"1\" and tonumber(\"10\") == 10 and tonumber(\"ff\", 16) "
        "== 255)\n"
        "assert(tonumber(\"x\") == nil and tonumber(\"\") == nil and select(\"#\", 1, 2) == 2 and select(-1, 1, 2) == "
        "2)\n");
}

static void test_list_helpers(void **state)
{
    (void)state;
    check_holds(
        "local l = { 5, 3, 9, 3 }\n"
        "assert(sum(l) == 20 and sum({}) == 0 and sum(t.partitions {}, \"files\") == 263)\n"
        "assert(min_by(l) == 3 and max_by(l) == 9 and min_by({}) == nil)\n"
        "assert(min_by(t.partitions {}, \"files\").key == \"ds=2026-03-27\")\n"
        "assert(max_by(t.partitions {}, function(p) return p.bytes end).key == \"ds=2026-03-26\")\n"
        "assert(percentile({ 1, 2, 3, 4 }, 50) == 2 and percentile({ 1, 2, 3, 4 }, 100) == 4 and percentile({}, 50) == "
        "nil)\n"
        "local s = sort_by({ { k = 2, v = \"a\" }, { k = 1, v = \"b\" }, { k = 2, v = \"c\" } }, \"k\")\n"
        "assert(s[1].v == \"b\" and s[2].v == \"a\" and s[3].v == \"c\")\n"
        "s = sort_by({ { k = 2, v = \"a\" }, { v = \"n\" }, { k = 3, v = \"c\" } }, \"k\", \"desc\")\n"
        "assert(s[1].v == \"c\" and s[2].v == \"a\" and s[3].v == \"n\")\n"
        "local g = group_by({ 1, 2, 3, 4 }, function(n) return n % 2 end)\n"
        "assert(#g[0] == 2 and g[1][2] == 3)\n"
        "local top2 = top(l, 2)\nassert(#top2 == 2 and top2[1] == 9 and top2[2] == 5)\n"
        "assert(ratio(1, 4) == 0.25 and ratio(1, 0) == 0 and ratio(nil, 1) == nil and ratio(math.mininteger, -1) > 0)\n"
        "assert(clamp(5, 0, 3) == 3 and clamp(-1, 0, 3) == 0 and clamp(2, 0, 3) == 2 and clamp(nil, 0, 1) == nil)\n"
        "local q = { 3, 1, 2 }\ntable.sort(q)\nassert(table.concat(q, \",\") == \"1,2,3\")\n"
        "table.sort(q, function(a, b) return a > b end)\nassert(table.concat(q, \",\") == \"3,2,1\")\n"
        "table.insert(q, 1, 4)\ntable.insert(q, 0)\nassert(table.concat(q, \",\") == \"4,3,2,1,0\")\n"
        "assert(table.remove(q) == 0 and table.remove(q, 1) == 4 and #q == 3)\n"
        "assert(select(\"#\", table.unpack({ 1, 2, 3 })) == 3)\n"
        "local o = {}\nfor k, v in pairs({ b = 1, a = 2, [10] = 3, [2] = 4, [-1] = 5 }) do o[#o + 1] = tostring(k) "
        "end\n"
        "assert(table.concat(o, \" \") == \"-1 2 10 a b\")\n"
        "assert(math.max(1, 2.5) == 2.5 and math.min(3, 2) == 2 and math.floor(2.7) == 2 and math.type(2 // 1) == "
        "\"integer\")\n"
        "assert(math.fmod(-5, 3) == -2 and math.fmod(math.mininteger, -1) == 0 and math.abs(-3) == 3)\n");
}

static void test_time_helpers(void **state)
{
    (void)state;
    /* 2026-03-29T01:30Z is 03:30 in Berlin, on the day whose 02:00 to 03:00 is missing */
    check_holds("local c = time.civil(1774747800000, \"Europe/Berlin\")\n"
                "assert(c.year == 2026 and c.month == 3 and c.day == 29 and c.hour == 3 and c.minute == 30 and "
                "c.weekday == 7)\n"
                "assert(c.offset == 7200 and c.ms == 0)\n"
                "assert(time.start_of(\"day\", 1774747800000, \"Europe/Berlin\") == 1774738800000)\n"
                "assert(time.start_of(\"month\", 1774747800000, \"UTC\") == 1772323200000)\n"
                "assert(time.start_of(\"week\", 1774747800000, \"UTC\") == 1774224000000)\n");
}

static void test_results(void **state)
{
    (void)state;
    check_fails("return run(all { " F " }, action.remove_orphan_files { older_than = 0 })", EBB_EPOLICY_RESULT,
                "checks are false");
    check_fails("return run(all { " U " }, action.remove_orphan_files { older_than = 0 })", EBB_EPOLICY_RESULT,
                "checks are unknown");
    check_fails("return defer(all {}, ctx.now)", EBB_EPOLICY_RESULT, "not in the future");
    check_fails("return defer(all {}, ctx.now + 400 * 86400000)", EBB_EPOLICY_RESULT, "more than a year");
    check_fails("return 5", EBB_EPOLICY_RESULT, "decide returned a number");
    check_fails("return", EBB_EPOLICY_RESULT, "decide returned a nil");
    check_fails("return action.remove_orphan_files { older_than = 0 }", EBB_EPOLICY_RESULT, "decide returned a table");
    check_fails("return run(all {}, action.remove_orphan_files { older_than = 0 }, { override_quite = true })",
                EBB_EPOLICY_ERROR, "override_quite: unknown");
    check_fails("return run(all {}, action.remove_orphan_files { older_than = 0, prefix_mismatch = \"x\" })",
                EBB_EPOLICY_ERROR, "none of error|ignore|delete");
    check_fails("return run(all {}, action.remove_orphan_files {})", EBB_EPOLICY_ERROR, "older_than: missing");
    check_fails("return run(all {}, action.remove_orphan_files { older_than = 0, location = \"a\\0b\" })",
                EBB_EPOLICY_ERROR, "NUL");
    check_fails("local x = 1 + nil", EBB_EPOLICY_ERROR, "arithmetic on a nil value");
}

static void test_record(void **state)
{
    enum ebb_verdict verdict;
    char *record = record_of(
        "params = { retain = { type = \"duration\", default = \"3d\" } },",
        "note(\"a\\27b\", 1)\n"
        "check(\"late\", nil, \"<=\", ctx.now)\n"
        "check(\"soon\", ctx.now, \">\", t.properties[\"no\"])\n"
        "local v = any { check(\"many\", 37, \">=\", 500), all { check(\"ripe\", ctx.now - 5000, \"<=\", ctx.now), " U
        " } }\n"
        "return defer(v, ctx.now + 86400000, \"later\")",
        &verdict);
    struct ebb_value *v = help_json(record);

    (void)state;
    assert_int_equal(verdict, EBB_VERDICT_DEFER);
    assert_null(strchr(record, '\n'));
    assert_string_equal(ebb_value_text_of(v, "id"), "d-1");
    assert_string_equal(ebb_value_text_of(v, "policy"), "test");
    assert_string_equal(ebb_value_text_of(v, "table"), "prod.events.clicks");
    assert_string_equal(ebb_value_text_of(v, "now"), "2026-03-29T00:00:00Z");
    assert_string_equal(ebb_value_text_of(v, "verdict"), "defer");
    assert_string_equal(ebb_value_text_of(v, "until"), "2026-03-30T00:00:00Z");
    assert_string_equal(ebb_value_text_of(v, "mode"), "enforce");
    assert_non_null(strstr(record, "{\"n\":\"many\",\"a\":37,\"op\":\">=\",\"b\":500,\"r\":\"false\"}"));
    assert_non_null(
        strstr(record, "{\"n\":\"ripe\",\"a\":\"2026-03-28T23:59:55Z\",\"op\":\"<=\",\"b\":\"now\",\"r\":\"true\"}"));
    assert_non_null(strstr(record, "{\"n\":\"u\",\"a\":null,\"op\":\"==\",\"b\":1,\"r\":\"unknown\"}"));
    assert_non_null(strstr(record, "{\"n\":\"late\",\"a\":null,\"op\":\"<=\",\"b\":\"now\",\"r\":\"unknown\"}"));
    assert_non_null(strstr(record, "{\"n\":\"soon\",\"a\":\"now\",\"op\":\">\",\"b\":null,\"r\":\"unknown\"}"));
    assert_non_null(
        strstr(record, "\"expr\":{\"any\":[\"many\",{\"all\":[\"ripe\",\"u\"],\"r\":\"unknown\"}],\"r\":\"unknown\"}"));
    assert_non_null(strstr(record, "\"notes\":[\"a\\u001bb 1\"]"));
    assert_non_null(strstr(record, "\"ctx.now\""));
    assert_true(ebb_value_int_of(v, "gas", 0) > 0);
    ebb_value_free(v);
    free(record);
}

static void test_rank(void **state)
{
    static const char BODY[] =
        "local r = rank { over = t.partitions {}, keep = function(p) return check_each(\"big\", p.key, p.files, \">\", "
        "2) end,\n"
        " score = function(p) return p.files, { files = p.files } end, per = function(p) return p.bytes end,\n"
        " min = 3, budget = { bytes = 10 * 1024 * 1024 * 1024, count = 2 } }\n"
        "assert(r.count == 2 and r.keys[1] == \"ds=2026-03-26\" and r.keys[2] == \"ds=2026-03-27\")\n"
        "assert(r.bytes == 8589934592 + 805306368 and r.best == 200)\n"
        "return run(all { check(\"worth\", r.count, \">=\", 1) }, action.rewrite_data_files { strategy = \"binpack\", "
        "partitions = r.keys })";
    enum ebb_verdict verdict;
    char *record = record_of("", BODY, &verdict);

    (void)state;
    assert_int_equal(verdict, EBB_VERDICT_RUN);
    assert_non_null(strstr(record, "\"partitions\":[\"ds=2026-03-26\",\"ds=2026-03-27\"]"));
    assert_non_null(strstr(record, "\"parts\":{\"files\":200}"));
    free(record);
    check_has("local r = rank { over = { { key = \"b\" }, { key = \"a\" } }, score = function() return 1 end }\n"
              "note(r.keys[1], r.keys[2]) return skip(all {})",
              "\"notes\":[\"a b\"]");
}

/* The record tells of every item that was scored whether it was taken, and why not. */
static void test_rank_record(void **state)
{
    static const char BODY[] = "local r = rank { over = { { key = \"a\", n = 5, b = 10 }, { key = \"b\", n = 1, b = 1 "
                               "}, { key = \"c\", n = 9, b = "
                               "95 }, { key = \"d\", n = 8, b = 1 }, { key = \"e\", n = 7, b = 1 } },\n"
                               " score = function(p) return p.n, { n = p.n } end, per = function(p) return p.b end, "
                               "min = 2, budget = { bytes = "
                               "100, count = 3 } }\nreturn skip(all { check(\"r\", r.count, \"==\", 3) })";

    (void)state;
    check_has(BODY, "{\"key\":\"a\",\"parts\":{\"n\":5},\"per\":10.0,\"score\":5.0,\"taken\":true}");
    check_has(BODY, "{\"key\":\"b\",\"parts\":{\"n\":1},\"score\":1.0,\"taken\":false,\"why\":\"below min 2\"}");
    check_has(BODY, "{\"key\":\"c\",\"parts\":{\"n\":9},\"per\":95.0,\"score\":9.0,\"taken\":false,\"why\":\"over the "
                    "count\"}");
    check_has(
        "local r = rank { over = { { key = \"a\" } }, score = function() return 1 end, per = function() return 9 end, "
        "budget = { bytes = 5 } } return skip(all {})",
        "\"taken\":false,\"why\":\"over the bytes\"");
}

static void test_notes(void **state)
{
    (void)state;
    check_has("for i = 1, 100 do note(\"x\") end return skip(all {})", "\"dropped_notes\":36");
}

/* Two instants that are the same: the second one is called now. */
static void test_same_instant(void **state)
{
    (void)state;
    check_has("return skip(all { check(\"ripe\", 1774742400000, \"<=\", ctx.now) })",
              "\"a\":\"2026-03-29T00:00:00Z\",\"op\":\"<=\",\"b\":\"now\"");
    check_has("return skip(all { check(\"at\", ctx.now, \"<\", 1774742400000 + 1000) })",
              "\"a\":\"now\",\"op\":\"<\",\"b\":\"2026-03-29T00:00:01Z\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_values), cmocka_unit_test(test_operators),    cmocka_unit_test(test_facts),
        cmocka_unit_test(test_events),       cmocka_unit_test(test_text_helpers), cmocka_unit_test(test_list_helpers),
        cmocka_unit_test(test_time_helpers), cmocka_unit_test(test_results),      cmocka_unit_test(test_record),
        cmocka_unit_test(test_rank),         cmocka_unit_test(test_notes),        cmocka_unit_test(test_rank_record),
        cmocka_unit_test(test_same_instant),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
