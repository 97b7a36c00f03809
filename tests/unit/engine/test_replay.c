/* SPDX-License-Identifier: Apache-2.0
 *
 * What a decision read, its digest, the inputs in its record, masks, and deciding again from the record.
 */
#include "engine_help.h"

#include "engine/replay.h"

#define SKIP "return skip(all { check(\"never\", 1, \"==\", 2) })"

struct made {
    struct ebb_policy *policy;
    struct ebb_value *facts, *record;
    struct ebb_decision *d;
    struct ebb_decide_input input;
    int rc;
};

/* Decide with inputs; facts: JSON, or NULL for the fixture; a policy error is fine. */
static void make_as(struct made *m, const struct ebb_decide_input *input, const char *lines, const char *body,
                    const char *facts)
{
    struct ebb_err err;

    memset(m, 0, sizeof *m);
    m->policy = help_policy(lines, body);
    m->facts = facts ? help_json(facts) : help_facts("clicks.json");
    m->input = *input;
    m->input.facts = m->facts;
    m->input.now_ms = m->input.now_ms ? m->input.now_ms : HELP_NOW;
    m->input.with_inputs = true;
    m->input.id = "d-1";
    m->rc = ebb_decide(m->policy, &m->input, &m->d, &err);
    if (!m->d)
        fail_msg("%s", err.message);
    m->record = help_json(ebb_decision_get_record(m->d));
}

static void make(struct made *m, const char *lines, const char *body, const char *facts)
{
    struct ebb_decide_input none = {0};

    make_as(m, &none, lines, body, facts);
}

static void done(struct made *m)
{
    ebb_decision_free(m->d);
    ebb_policy_free(m->policy);
    ebb_value_free(m->facts);
    ebb_value_free(m->record);
}

static const char *read_at(const struct made *m, size_t i)
{
    const char *text = ebb_value_get_str(ebb_value_get_at(ebb_value_get(m->record, "reads"), i));

    return text ? text : "";
}

/* The paths, sorted, one a space. */
static void check_reads(const char *body, const char *expected)
{
    char all[4096] = "";
    struct made m;

    make(&m, "params = { retain = { type = \"duration\", default = \"3d\" } },", body, NULL);
    for (size_t i = 0; read_at(&m, i)[0]; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? " " : "", read_at(&m, i));
    if (strcmp(all, expected))
        fail_msg("%s\nread %s\nnot  %s", body, all, expected);
    done(&m);
}

static void test_paths(void **state)
{
    (void)state;
    check_reads(SKIP, "");
    check_reads("local x = t.stats.bytes " SKIP, "t.stats.bytes");
    check_reads("local x = t.current_snapshot " SKIP, "t.current_snapshot");
    check_reads("local x = t.current_snapshot.id " SKIP, "t.current_snapshot.id");
    check_reads("local x = t.properties[\"owner.timezone\"] " SKIP, "t.properties[\"owner.timezone\"]");
    check_reads("local x = t.properties[\"a\\\"b\\\\\"] " SKIP, "t.properties[\"a\\\"b\\\\\"]");
    check_reads("for k, v in pairs(t.properties) do note(k) end " SKIP, "t.properties");
    check_reads("local x = ctx.now + ctx.params.retain " SKIP, "ctx.now ctx.params.retain");
    check_reads("local x = #ctx.events.list { \"commit.failed\" } " SKIP, "ctx.events(commit.failed)");
    check_reads("local x = ctx.events.list { \"commit.failed\", where = function(e) return e.files_written > 1 end "
                "}[1].at " SKIP,
                "ctx.events(commit.failed)");
    check_reads("local x = t.snapshots { limit = 1 }[1].summary " SKIP, "t.snapshots");
    check_reads("local x = t.partitions {}[1].key " SKIP, "t.partitions");
    check_reads("local x = ctx.runs.count {} + ctx.runs.since_partition(\"k\") " SKIP,
                "ctx.runs.count ctx.runs.since_partition");
    check_reads("local x = ctx.trigger.kind " SKIP, "ctx.trigger.kind");
    check_reads("local x = t.spec and t.spec[1] " SKIP, "t.spec");
}

/* More than fits counts as everything. */
static void test_too_many_paths(void **state)
{
    struct made m;

    (void)state;
    make(&m, "", "for i = 1, 1000 do local x = t.properties[\"p\" .. i] end " SKIP, NULL);
    assert_string_equal(read_at(&m, 0), "*");
    done(&m);
    /* nor does a name that can't be written */
    make(&m, "", "local x = t.properties[\"a\\0b\"] " SKIP, NULL);
    assert_string_equal(read_at(&m, 0), "*");
    assert_non_null(ebb_value_get(ebb_value_get(ebb_value_get(m.record, "inputs"), "facts"), "events"));
    done(&m);
}

/* The digest of `body` on the fixture, and on facts where `from` is replaced by `to`: whether they are equal, and the
 * later one is what is worked out from the paths alone. */
static bool is_same_digest(const char *body, const char *from, const char *to, int64_t later)
{
    char path[512], changed[8192], out[80];
    struct made m;
    struct ebb_decide_input input = {0};
    struct ebb_decision *d = NULL;
    struct ebb_value *facts;
    struct ebb_err err;
    char *text, *at;
    size_t n;
    bool same;

    make(&m, "", body, NULL);
    snprintf(path, sizeof path, "%s/tests/fixtures/facts/clicks.json", EBB_SOURCE_DIR);
    text = help_read(path, &n);
    at = strstr(text, from);
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    facts = help_json(changed);
    input.facts = facts;
    input.now_ms = HELP_NOW + later;
    assert_int_equal(ebb_decide_digest(m.policy, &input, ebb_value_get(m.record, "reads"), out, &err), 0);
    same = !strcmp(out, ebb_decision_get_digest(m.d));
    assert_int_equal(strncmp(out, "sha256:", 7), 0);
    assert_int_equal(ebb_decide(m.policy, &input, &d, &err), 0);
    /* the policies here read the same paths on both facts */
    assert_string_equal(ebb_decision_get_digest(d), out);
    ebb_decision_free(d);
    ebb_value_free(facts);
    free(text);
    done(&m);
    return same;
}

static void test_digest(void **state)
{
    static const char BYTES[] = "local x = t.stats.bytes " SKIP;
    static const char FAILED[] = "local x = ctx.events.count \"commit.failed\" " SKIP;

    (void)state;
    assert_true(is_same_digest(BYTES, "45210", "45210", 0));
    assert_true(is_same_digest(BYTES, "45210", "1", 0));
    assert_true(is_same_digest(BYTES, "45210", "45210", 12345));
    assert_false(is_same_digest(BYTES, "518185156608", "518185156609", 0));
    assert_false(is_same_digest(BYTES, "\"bytes\": 518185156608,", "", 0));
    assert_true(is_same_digest(FAILED, "\"rest\"", "\"other\"", 0));
    assert_false(is_same_digest(FAILED, "\"files_written\": 212", "\"files_written\": 213", 0));
    assert_false(
        is_same_digest("local x = ctx.events.count \"snapshot.committed\" " SKIP, "\"id\": 50,", "\"id\": 49,", 0));
    assert_true(is_same_digest("local x = t.current_snapshot ~= nil " SKIP, "45210", "1", 0));
    assert_false(is_same_digest("local x = t.current_snapshot ~= nil " SKIP, "\"current_snapshot\"", "\"other\"", 0));
    assert_false(is_same_digest("local x = t.properties[\"owner.timezone\"] " SKIP, "Europe/Berlin", "UTC", 0));
    assert_true(is_same_digest("local x = t.properties[\"owner.timezone\"] " SKIP, "268435456\"", "1\"", 0));
    assert_false(is_same_digest("for k in pairs(t.properties) do note(k) end " SKIP, "268435456\"", "1\"", 0));
    /* guards go by the runs and the location */
    assert_false(
        is_same_digest(SKIP, "\"runs\": []", "\"runs\": [{\"started\":1,\"ended\":2,\"outcome\":\"failed\"}]", 0));
    assert_false(is_same_digest(SKIP, "s3://lake/prod/events/clicks", "s3://lake/prod/events/other", 0));
}

static void test_digest_of_age(void **state)
{
    struct ebb_decide_input input = {.now_ms = HELP_NOW + HELP_DAY};
    struct ebb_value *facts = help_json("{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"stats\":{"
                                        "\"orphans\":{\"at\":1774656000000}}}}");
    struct made m;
    char out[80];

    (void)state;
    make(&m, "", "assert(t.stats.orphans.age == 86400000) " SKIP,
         "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"stats\":{\"orphans\":{\"at\":"
         "1774656000000}}}}");
    assert_int_equal(m.rc, 0);
    input.facts = facts;
    assert_int_equal(ebb_decide_digest(m.policy, &input, ebb_value_get(m.record, "reads"), out, NULL), 0);
    assert_string_equal(out, ebb_decision_get_digest(m.d));
    done(&m);
    ebb_value_free(facts);
    /* a fixed age is taken where there is no instant; iterating shows what may be read */
    make(&m, "",
         "assert(t.stats.orphans.age == 5)\nlocal n = 0\nfor k, v in pairs(t.stats.orphans) do n = n + 1 assert(k == "
         "\"age\" and v == 5) end\nassert(n == 1) " SKIP,
         "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"stats\":{\"orphans\":{\"age\":5}}}}");
    assert_int_equal(m.rc, 0);
    done(&m);
    make(&m, "", "for k, v in pairs(t.stats.orphans) do assert(k == \"age\" and v == 86400000) end " SKIP,
         "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"stats\":{\"orphans\":{\"at\":"
         "1774656000000}}}}");
    assert_int_equal(m.rc, 0);
    done(&m);
}

static void check_replays(struct made *m)
{
    struct ebb_strs differences;
    struct ebb_err err = {0};

    ebb_strs_init(&differences);
    if (ebb_replay(m->policy, m->record, &differences, &err))
        fail_msg("%s\n%s", err.message, ebb_decision_get_record(m->d));
    if (differences.count)
        fail_msg("%s\n%s", differences.items[0], ebb_decision_get_record(m->d));
    ebb_strs_fini(&differences);
}

static void check_body(const char *lines, const char *body)
{
    struct made m;

    make(&m, lines, body, NULL);
    check_replays(&m);
    done(&m);
}

static void test_replay(void **state)
{
    (void)state;
    check_body("", SKIP);
    check_body("", "local x = t.stats.nothing_like_it");
    check_body("", "error(\"no\")");
    check_body("", "while true do end");
    check_body("params = { tz = { type = \"timezone\", default = \"UTC\", property = \"owner.timezone\" } },",
               "note(ctx.params.tz, t.properties[\"owner.timezone\"], t.properties.none) " SKIP);
    check_body("", "for k, v in pairs(t.properties) do note(k, v) end " SKIP);
    check_body(
        "", "for _, s in ipairs(t.snapshots { since = \"12h\" }) do note(s.id, s.summary[\"ebb.run-id\"]) end " SKIP);
    check_body("", "note(ctx.events.count \"snapshot.committed\", ctx.events.count \"none\") " SKIP);
    check_body("", "note(ctx.events.list { \"commit.failed\", since = \"1d\" }[1].files_written) " SKIP);
    check_body("", "note(t.current_snapshot ~= nil, t.spec == nil, t.refs.main.type) " SKIP);
    check_body("", "note(ctx.trigger.kind, ctx.trigger.missed, ctx.fleet.none) " SKIP);
    check_body("", "local r = rank { over = t.partitions {}, score = function(p) return p.files / 7 end }\n"
                   "return run(all { check(\"some\", r.count, \">\", 0) }, action.rewrite_data_files { strategy = "
                   "\"binpack\", partitions = r.keys })");
    check_body("guard = { quiet = { { from = \"00:00\", to = \"06:00\" } } },",
               "return run(all {}, action.remove_orphan_files { older_than = ctx.now - 5 * 86400000 })");
}

static void test_replay_with_runs(void **state)
{
    struct ebb_value *trigger = help_json("{\"kind\":\"time\",\"scheduled_for\":1774742400000,\"missed\":2}");
    struct ebb_value *overrides = help_json("{\"retain\":\"4d\"}");
    struct ebb_value *guard = help_json("{\"min_interval\":\"2d\"}");
    struct ebb_decide_input input = {.trigger = trigger,
                                     .overrides = overrides,
                                     .guard = guard,
                                     .active_since_ms = 5,
                                     .mode = EBB_MODE_APPROVE,
                                     .now_ms = HELP_NOW + 123,
                                     .allow_below_floor = true};
    char facts[16384] = "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"location\":\"s3://b/t\"},"
                        "\"flags\":{\"freeze\":true},\"runs\":[";
    struct made m;

    (void)state;
    for (int i = 0; i < 60; i++)
        snprintf(facts + strlen(facts), sizeof facts - strlen(facts),
                 "%s{\"id\":\"r-%d\",\"started\":%lld,\"ended\":%lld,\"outcome\":\"%s\",\"partitions\":[\"k\"]}",
                 i ? "," : "", i, (long long)(HELP_NOW - (100 - i) * 3600000),
                 (long long)(HELP_NOW - (100 - i) * 3600000 + 60000), i == 10 ? "success" : "failed");
    strcat(facts, "]}");
    make_as(&m, &input, "params = { retain = { type = \"duration\", default = \"3d\" } },",
            "note(ctx.runs.failed_in_a_row, ctx.runs.last.id, ctx.runs.last_success.id, ctx.trigger.missed, "
            "ctx.params.retain)\nreturn run(all {}, action.remove_orphan_files { older_than = ctx.now - "
            "ctx.params.retain })",
            facts);
    assert_string_equal(ebb_decision_get_by(m.d), "guard.min_interval");
    assert_non_null(strstr(ebb_decision_get_record(m.d), "\"49 r-59 r-10 2 345600000\""));
    assert_null(strstr(ebb_decision_get_record(m.d), "\"r-9\""));
    check_replays(&m);
    done(&m);
    make_as(&m, &input, "params = { retain = { type = \"duration\", default = \"3d\" } },",
            "note(ctx.runs.count { outcome = \"failed\" }, ctx.runs.since_partition(\"k\")) " SKIP, facts);
    check_replays(&m);
    done(&m);
    ebb_value_free(trigger);
    ebb_value_free(overrides);
    ebb_value_free(guard);
}

/* Those that changed nothing are in the record even behind many failures, and a digest tells them apart. */
static void test_replay_with_idle_runs(void **state)
{
    struct ebb_value *trigger = help_json("{\"kind\":\"time\"}");
    struct ebb_decide_input input = {.trigger = trigger, .now_ms = HELP_NOW};
    char digests[2][80];

    (void)state;
    for (int changed = 0; changed < 2; changed++) {
        char facts[16384] = "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"location\":"
                            "\"s3://b/t\"},\"runs\":[";
        struct made m;

        for (int i = 0; i < 60; i++)
            snprintf(facts + strlen(facts), sizeof facts - strlen(facts),
                     "%s{\"id\":\"r-%d\",\"started\":%lld,\"ended\":%lld,\"outcome\":\"%s\",\"changed\":%s}",
                     i ? "," : "", i, (long long)(HELP_NOW - (60 - i) * 3600000),
                     (long long)(HELP_NOW - (60 - i) * 3600000 + 60000), i < 20 ? "success" : "failed",
                     changed && i == 14 ? "true" : "false");
        strcat(facts, "]}");
        make_as(&m, &input, "guard = { min_interval = \"1d\" },",
                "return run(all {}, action.remove_orphan_files { older_than = ctx.now - 5 * 86400000 })", facts);
        assert_string_equal(ebb_decision_get_by(m.d), "guard.min_interval");
        assert_non_null(strstr(ebb_decision_get_record(m.d), changed ? "2d (1d, doubled once: 5 runs changed nothing)"
                                                                     : "8d (1d, doubled 3 times: the last 7 runs"));
        assert_null(strstr(ebb_decision_get_record(m.d), "\"r-12\""));
        check_replays(&m);
        snprintf(digests[changed], sizeof digests[0], "%s", ebb_decision_get_digest(m.d));
        done(&m);
    }
    assert_string_not_equal(digests[0], digests[1]);
    ebb_value_free(trigger);
}

/* The settings of a binding are what counts, and are in the record. */
static void test_replay_with_settings(void **state)
{
    struct ebb_policy *policy =
        help_policy("params = { n = { type = \"integer\", default = 1 } },", "note(ctx.params.n) " SKIP);
    struct ebb_value *params = help_json("{\"n\":7}"), *facts = help_facts("clicks.json");
    struct ebb_settings_site site = {.params = params};
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .with_inputs = true};
    struct ebb_settings *settings = NULL;
    struct ebb_strs differences;
    struct ebb_decision *d;
    struct ebb_value *record;

    (void)state;
    ebb_strs_init(&differences);
    assert_int_equal(ebb_settings_new_bound(policy, &site, NULL, &settings, NULL), 0);
    input.settings = settings;
    assert_int_equal(ebb_decide(policy, &input, &d, NULL), 0);
    record = help_json(ebb_decision_get_record(d));
    assert_non_null(strstr(ebb_decision_get_record(d), "\"notes\":[\"7\"]"));
    assert_int_equal(ebb_replay(policy, record, &differences, NULL), 0);
    assert_int_equal(differences.count, 0);
    ebb_value_free(record);
    ebb_decision_free(d);
    ebb_settings_free(settings);
    ebb_value_free(params);
    ebb_value_free(facts);
    ebb_policy_free(policy);
}

/* A record whose inputs say something else than its checks. */
static void test_differences(void **state)
{
    struct ebb_policy *policy = help_policy("", "return skip(all { check(\"big\", t.stats.bytes, \">\", 1000) })");
    struct ebb_strs differences;
    struct made m;
    struct ebb_value *record;
    char text[8192], *at;

    (void)state;
    make(&m, "", "return skip(all { check(\"big\", t.stats.bytes, \">\", 1000) })", NULL);
    snprintf(text, sizeof text, "%s", ebb_decision_get_record(m.d));
    at = strstr(text, "{\"bytes\":518185156608}");
    assert_non_null(at);
    memcpy(at, "{\"bytes\":7           }", 22);
    record = help_json(text);
    ebb_strs_init(&differences);
    assert_int_equal(ebb_replay(policy, record, &differences, NULL), 0);
    assert_int_equal(differences.count, 3);
    assert_string_equal(differences.items[0], "checks[0].a: 7, was 518185156608");
    assert_string_equal(differences.items[1], "checks[0].r: \"false\", was \"true\"");
    assert_string_equal(differences.items[2], "expr.r: \"false\", was \"true\"");
    ebb_strs_fini(&differences);
    ebb_value_free(record);
    ebb_policy_free(policy);
    done(&m);
}

static void test_other_policy(void **state)
{
    struct ebb_policy *policy = help_policy("", "note(\"new\") " SKIP);
    struct ebb_strs differences;
    struct made m;

    (void)state;
    make(&m, "", SKIP, NULL);
    ebb_strs_init(&differences);
    assert_int_equal(ebb_replay(policy, m.record, &differences, NULL), 0);
    assert_true(differences.count >= 2);
    assert_non_null(strstr(differences.items[0], "bundle: \"sha256:"));
    ebb_strs_fini(&differences);
    ebb_policy_free(policy);
    done(&m);
}

static void check_no_input(const char *json, enum ebb_error error, const char *text)
{
    struct ebb_value *record = help_json(json);
    struct ebb_replay_input in;
    struct ebb_err err = {0};

    if (ebb_replay_input_of(record, &in, &err) != -(int)error || !strstr(err.message, text))
        fail_msg("%s: %d %s", json, err.error, err.message);
    ebb_value_free(record);
}

static void test_bad_records(void **state)
{
    (void)state;
    check_no_input("{}", EBB_ERECORD, "no inputs");
    check_no_input("{\"id\":\"d-7\",\"inputs_dropped\":true}", EBB_ERECORD, "d-7");
    check_no_input("{\"inputs\":[]}", EBB_ECORRUPT, "inputs");
    check_no_input("{\"inputs\":{}}", EBB_ECORRUPT, "now");
    check_no_input("{\"now\":\"x\",\"inputs\":{}}", EBB_ECORRUPT, "now");
    check_no_input("{\"now\":\"2026-03-29T00:00:00Z\",\"inputs\":{\"facts\":{}}}", EBB_ECORRUPT, "mode");
    check_no_input("{\"now\":\"2026-03-29T00:00:00Z\",\"mode\":\"observe\",\"inputs\":{\"facts\":7}}", EBB_ECORRUPT,
                   "facts");
    check_no_input("{\"now\":\"2026-03-29T00:00:00Z\",\"mode\":\"observe\",\"inputs\":{\"facts\":{},\"trigger\":[]}}",
                   EBB_ECORRUPT, "trigger");
    check_no_input(
        "{\"now\":\"2026-03-29T00:00:00Z\",\"mode\":\"observe\",\"inputs\":{\"facts\":{}},\"inputs_masked\":["
        "\"a.token\"]}",
        EBB_ERECORD, "a.token");
}

#define SECRET_FACTS                                                                                                   \
    "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"properties\":{\"s3.secret-access-key\":"       \
    "\"wJalrXUtnFEMI\",\"plain\":\"value\",\"api_token\":\"zz\"}}}"

static void test_masks(void **state)
{
    struct ebb_strs differences;
    struct ebb_err err;
    struct made m;

    (void)state;
    /* not read: not there */
    make(&m, "", "note(t.properties.plain) " SKIP, SECRET_FACTS);
    assert_null(strstr(ebb_decision_get_record(m.d), "wJalr"));
    assert_null(ebb_value_get(m.record, "inputs_masked"));
    check_replays(&m);
    done(&m);
    /* read: neither in a check nor in notes, reasons, actions, inputs */
    make(&m, "",
         "local s = t.properties[\"s3.secret-access-key\"]\nnote(\"key is \" .. s, t.properties.api_token)\n"
         "note(t.properties.api_token)\n"
         "return run(all { check(\"s\", s, \"exists\"), check(\"t\", (\"x\"):rep(190) .. s, \"exists\") },\n"
         " action.remove_orphan_files { older_than = 0, keep = { s } }, { note = \"with \" .. s })",
         SECRET_FACTS);
    assert_int_equal(m.rc, 0);
    assert_null(strstr(ebb_decision_get_record(m.d), "wJalr"));
    assert_null(strstr(ebb_decision_get_record(m.d), "\"zz\""));
    assert_non_null(strstr(ebb_decision_get_record(m.d), "\"notes\":[\"key is *** zz\",\"***\"]"));
    assert_non_null(strstr(ebb_decision_get_record(m.d), "\"why\":\"with ***\""));
    assert_non_null(ebb_value_get(m.record, "inputs_masked"));
    ebb_strs_init(&differences);
    assert_int_equal(ebb_replay(m.policy, m.record, &differences, &err), -EBB_ERECORD);
    assert_non_null(strstr(err.message, "api_token is masked"));
    ebb_strs_fini(&differences);
    done(&m);
    make(&m, "", "error(t.properties[\"s3.secret-access-key\"])", SECRET_FACTS);
    assert_int_equal(m.rc, -EBB_EPOLICY_ERROR);
    assert_null(strstr(ebb_decision_get_record(m.d), "wJalr"));
    done(&m);
}

/* Statistics of others are in the inputs where they were read, and hide a secret like properties. */
static void test_statistics_of_others(void **state)
{
    static const char *const FACTS =
        "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"stats\":{\"custom\":{\"custom-heat\":7,"
        "\"custom-b\":8,\"custom-password\":\"hunter2\"}}}}";
    struct made m;

    (void)state;
    make(&m, "", "return skip(all { check(\"h\", t.stats.custom[\"custom-heat\"], \"==\", 8) })", FACTS);
    assert_non_null(strstr(ebb_decision_get_record(m.d), "t.stats.custom[\\\"custom-heat\\\"]"));
    assert_null(strstr(ebb_decision_get_record(m.d), "custom-b"));
    check_replays(&m);
    done(&m);
    make(&m, "", "note(t.stats.custom[\"custom-password\"] .. \"!\") " SKIP, FACTS);
    assert_int_equal(m.rc, 0);
    assert_null(strstr(ebb_decision_get_record(m.d), "hunter2"));
    done(&m);
}

static void test_masked_parameter(void **state)
{
    struct made m;

    (void)state;
    make(&m, "params = { pass = { type = \"string\", default = \"-\", property = \"db.password\" } },",
         "return skip(all { check(\"p\", ctx.params.pass, \"==\", \"x\") })",
         "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"properties\":{\"db.password\":\"hunter2\"}"
         "}}");
    assert_null(strstr(ebb_decision_get_record(m.d), "hunter2"));
    done(&m);
}

/* What is too much for a record is left out, and that is said. */
static void test_dropped(void **state)
{
    size_t size = (size_t)3 * 1024 * 1024;
    char *facts = malloc(size);
    struct made m;
    struct ebb_replay_input in;
    struct ebb_err err;
    size_t n;

    (void)state;
    n = (size_t)snprintf(facts, size,
                         "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"partitions\":[");
    for (int i = 0; i < 20000; i++)
        n += (size_t)snprintf(facts + n, size - n,
                              "%s{\"key\":\"ds=2026-03-29/hour=%d\",\"files\":%d,\"bytes\":123456789}", i ? "," : "", i,
                              i);
    snprintf(facts + n, size - n, "]}}");
    make(&m, "", "note(#t.partitions {}) " SKIP, facts);
    assert_true(ebb_value_bool_of(m.record, "inputs_dropped", false));
    assert_null(ebb_value_get(m.record, "inputs"));
    assert_int_equal(ebb_replay_input_of(m.record, &in, &err), -EBB_ERECORD);
    assert_non_null(strstr(err.hint, "too large"));
    done(&m);
    /* the same facts, not asked for */
    make(&m, "", "note(t.name) " SKIP, facts);
    check_replays(&m);
    done(&m);
    free(facts);
}

/* A text that JSON can't hold would be another one when it is read back. */
static void test_odd_text(void **state)
{
    struct ebb_value *facts = ebb_value_new_map(NULL), *table = ebb_value_put_map(facts, "table");
    struct ebb_policy *policy = help_policy("", "note(t.location) " SKIP);
    struct ebb_decide_input input = {.facts = facts, .now_ms = HELP_NOW, .with_inputs = true};
    struct ebb_decision *d;

    (void)state;
    ebb_value_put_str(table, "catalog", "c");
    ebb_value_put_str(table, "namespace", "n");
    ebb_value_put_str(table, "name", "t");
    ebb_value_put_str(table, "location", "s3://b/\xff");
    assert_int_equal(ebb_decide(policy, &input, &d, NULL), 0);
    assert_non_null(strstr(ebb_decision_get_record(d), "\"inputs_dropped\":true"));
    ebb_decision_free(d);
    ebb_policy_free(policy);
    ebb_value_free(facts);
}

static void test_lacks(void **state)
{
    static const char FACTS[] =
        "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"stats\":{\"bytes\":1}}}";
    static const struct {
        const char *body;
        unsigned lacks;
    } CASES[] = {
        {"local x = t.stats.bytes " SKIP, 0},
        {"local x = t.stats.data_files " SKIP, EBB_LACKS_FILES},
        {"local x = t.stats.small_files " SKIP, EBB_LACKS_FILES},
        {"local x = t.stats.longest_write " SKIP, EBB_LACKS_WRITES},
        {"local x = t.partitions {} " SKIP, EBB_LACKS_PARTITIONS},
        {"local x = t.stats.manifests, t.partitions {} " SKIP, EBB_LACKS_FILES | EBB_LACKS_PARTITIONS},
        {"local x = t.stats.orphans.files " SKIP, 0},
    };
    struct made m;

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        make(&m, "", CASES[i].body, FACTS);
        if (ebb_decision_get_lacks(m.d) != CASES[i].lacks)
            fail_msg("%s: %u", CASES[i].body, ebb_decision_get_lacks(m.d));
        done(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_too_many_paths),
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_digest_of_age),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_replay_with_runs),
        cmocka_unit_test(test_replay_with_idle_runs),
        cmocka_unit_test(test_replay_with_settings),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_other_policy),
        cmocka_unit_test(test_bad_records),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_statistics_of_others),
        cmocka_unit_test(test_masked_parameter),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_odd_text),
        cmocka_unit_test(test_lacks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
