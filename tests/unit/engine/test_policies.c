/* SPDX-License-Identifier: Apache-2.0
 *
 * The policies that ship: they load without a warning and decide as their texts say.
 */
#include "engine_help.h"

static struct ebb_policy *load(const char *name)
{
    char path[512];
    struct ebb_policy *policy = NULL;
    struct ebb_diagnostics diags;
    struct ebb_err err;

    snprintf(path, sizeof path, "%s/policies/%s", EBB_SOURCE_DIR, name);
    ebb_diagnostics_init(&diags);
    if (ebb_policy_load(path, &policy, &diags, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < diags.count; i++)
        fail_msg("%s:%d: %s", name, diags.items[i].line, diags.items[i].message);
    ebb_diagnostics_fini(&diags);
    return policy;
}

struct step {
    struct ebb_value *facts;
    struct ebb_decide_input input;
    struct ebb_decision *d;
};

static void decide(struct step *s, const struct ebb_policy *policy, const char *facts_json, int64_t now)
{
    struct ebb_err err;

    s->facts = help_json(facts_json);
    s->input.facts = s->facts;
    s->input.now_ms = now;
    if (ebb_decide(policy, &s->input, &s->d, &err))
        fail_msg("%s", err.message);
}

static void done(struct step *s)
{
    ebb_decision_free(s->d);
    ebb_value_free(s->facts);
    memset(s, 0, sizeof *s);
}

static void check_verdict(const struct step *s, enum ebb_verdict verdict)
{
    if (ebb_decision_get_verdict(s->d) != verdict)
        fail_msg("%s", ebb_decision_get_record(s->d));
}

static int64_t cutoff_of(const struct step *s)
{
    return ebb_value_int_of(ebb_decision_get_action(s->d), "older_than", -1);
}

#define CLICKS                                                                                                         \
    "\"catalog\":\"prod\",\"namespace\":\"events\",\"name\":\"clicks\",\"location\":\"s3://lake/"                      \
    "clicks\",\"location_overlaps\":0,"                                                                                \
    "\"current_snapshot\":{\"id\":1}"

static void test_builtin(void **state)
{
    struct ebb_policy *policy = load("iceberg_orphan_file_removal.lua");
    struct ebb_value *overrides =
        help_json("{\"olderThanDays\":0,\"dryRun\":true,\"location\":\"s3://lake/clicks/data\"}");
    struct step s = {.input = {.bound = true}};

    (void)state;
    decide(&s, policy, "{\"runs\":[],\"table\":{" CLICKS "}}", HELP_NOW);
    check_verdict(&s, EBB_VERDICT_RUN);
    assert_int_equal(cutoff_of(&s), HELP_NOW - 3 * HELP_DAY);
    assert_null(ebb_value_get(ebb_decision_get_action(s.d), "location"));
    assert_false(ebb_value_bool_of(ebb_decision_get_action(s.d), "dry_run", true));
    done(&s);
    s.input.bound = true;
    s.input.overrides = overrides;
    decide(&s, policy, "{\"runs\":[],\"table\":{" CLICKS "}}", HELP_NOW);
    check_verdict(&s, EBB_VERDICT_REFUSED);
    done(&s);
    s.input.bound = s.input.allow_below_floor = true;
    s.input.overrides = overrides;
    decide(&s, policy, "{\"runs\":[],\"table\":{" CLICKS "}}", HELP_NOW);
    check_verdict(&s, EBB_VERDICT_RUN);
    assert_int_equal(cutoff_of(&s), HELP_NOW);
    assert_true(ebb_value_bool_of(ebb_decision_get_action(s.d), "dry_run", false));
    assert_string_equal(ebb_value_text_of(ebb_decision_get_action(s.d), "location"), "s3://lake/clicks/data");
    done(&s);
    s.input.bound = true;
    decide(&s, policy, "{\"runs\":[],\"table\":{" CLICKS ",\"properties\":{\"gc.enabled\":\"FALSE\"}}}", HELP_NOW);
    check_verdict(&s, EBB_VERDICT_SKIP);
    done(&s);
    decide(&s, policy, "{\"runs\":[],\"table\":{" CLICKS "}}", HELP_NOW);
    check_verdict(&s, EBB_VERDICT_SKIP);
    assert_string_equal(ebb_decision_get_by(s.d), "guard.target");
    done(&s);
    ebb_value_free(overrides);
    ebb_policy_free(policy);
}

/* No list of runs is no list of no runs: a streak of failures may stand behind it. */
static void test_history_unknown(void **state)
{
    struct ebb_policy *policy = load("iceberg_orphan_file_removal.lua");
    struct step s = {.input = {.bound = true}};

    (void)state;
    decide(&s, policy, "{\"table\":{" CLICKS "}}", HELP_NOW);
    check_verdict(&s, EBB_VERDICT_SKIP);
    done(&s);
    ebb_policy_free(policy);
}

static void test_weekly(void **state)
{
    static const struct {
        const char *stats;
        enum ebb_verdict verdict;
    } CASES[] = {
        {"{\"longest_write\":3600000}", EBB_VERDICT_RUN},    /* never scanned */
        {"{}", EBB_VERDICT_SKIP},                            /* writers not measured */
        {"{\"longest_write\":500000000}", EBB_VERDICT_SKIP}, /* longer than 5 days */
        {"{\"longest_write\":1,\"orphans\":{\"bytes\":1,\"age\":86400000}}", EBB_VERDICT_SKIP}, /* little to gain */
        {"{\"longest_write\":1,\"orphans\":{\"bytes\":1073741824,\"age\":86400000}}", EBB_VERDICT_RUN}, /* 1 GiB */
        {"{\"longest_write\":1,\"orphans\":{\"bytes\":1,\"age\":1209600001}}",
         EBB_VERDICT_RUN}, /* estimate over 14 d */
    };
    struct ebb_policy *policy = load("examples/orphans_weekly.lua");
    struct step s = {0};
    char json[1024];

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        snprintf(json, sizeof json, "{\"runs\":[],\"table\":{" CLICKS ",\"stats\":%s}}", CASES[i].stats);
        decide(&s, policy, json, HELP_NOW);
        check_verdict(&s, CASES[i].verdict);
        if (CASES[i].verdict == EBB_VERDICT_RUN)
            assert_int_equal(cutoff_of(&s), HELP_NOW - 5 * HELP_DAY);
        done(&s);
    }
    decide(&s, policy,
           "{\"runs\":[],\"table\":{" CLICKS
           ",\"stats\":{\"longest_write\":1},\"properties\":{\"maintenance.orphans\":\"off\"}}}",
           HELP_NOW);
    check_verdict(&s, EBB_VERDICT_SKIP);
    assert_string_equal(ebb_decision_get_by(s.d), "guard.target");
    done(&s);
    /* Monday 07:00 in New York is 11:00Z: quiet until 20:00 there */
    decide(&s, policy,
           "{\"runs\":[],\"table\":{" CLICKS
           ",\"stats\":{\"longest_write\":1},\"properties\":{\"owner.timezone\":\"America/New_York\"}}}",
           HELP_NOW + HELP_DAY + 11 * 3600000);
    check_verdict(&s, EBB_VERDICT_DEFER);
    assert_int_equal(ebb_decision_get_until_ms(s.d), HELP_NOW + 2 * HELP_DAY);
    done(&s);
    ebb_policy_free(policy);
}

#define FAILED "{\"id\":\"e-1\",\"type\":\"commit.failed\",\"at\":1774742400000,\"files_written\":212}"

static void test_on_event(void **state)
{
    struct ebb_policy *policy = load("examples/orphans_on_event.lua");
    struct step s = {0};

    (void)state;
    /* a failed commit arms a run for the time when its leftovers are three days old */
    decide(&s, policy, "{\"runs\":[],\"table\":{" CLICKS ",\"snapshots\":[]},\"events\":[" FAILED "]}",
           HELP_NOW + 600000);
    check_verdict(&s, EBB_VERDICT_DEFER);
    assert_int_equal(ebb_decision_get_until_ms(s.d), HELP_NOW + 3 * HELP_DAY);
    assert_string_equal(ebb_decision_get_by(s.d), "policy");
    done(&s);
    decide(&s, policy, "{\"runs\":[],\"table\":{" CLICKS ",\"snapshots\":[]},\"events\":[" FAILED "]}",
           HELP_NOW + 3 * HELP_DAY);
    check_verdict(&s, EBB_VERDICT_RUN);
    assert_int_equal(cutoff_of(&s), HELP_NOW);
    done(&s);
    /* one that was retried and won leaves nothing */
    decide(&s, policy,
           "{\"runs\":[],\"table\":{" CLICKS
           ",\"snapshots\":[]},\"events\":[{\"id\":\"e\",\"type\":\"commit.failed\",\"at\":1774742400000,"
           "\"files_written\":3,\"retried_ok\":true}]}",
           HELP_NOW + 3 * HELP_DAY);
    check_verdict(&s, EBB_VERDICT_SKIP);
    done(&s);
    ebb_policy_free(policy);
}

static void check_filter(const struct ebb_policy *policy, const char *event_json, bool is_wanted)
{
    struct ebb_value *event = help_json(event_json);
    struct ebb_err err;
    bool out;

    if (ebb_policy_filter_event(policy, 1, event, &out, &err))
        fail_msg("%s", err.message);
    assert_int_equal(out, is_wanted);
    assert_int_equal(ebb_policy_filter_event(policy, 0, event, &out, &err), 0);
    assert_true(out);
    ebb_value_free(event);
}

static void test_filter(void **state)
{
    struct ebb_policy *policy = load("examples/orphans_on_event.lua");

    (void)state;
    check_filter(policy, "{\"type\":\"commit.failed\",\"files_written\":1}", true);
    check_filter(policy, "{\"type\":\"commit.failed\",\"files_written\":0}", false);
    check_filter(policy, "{\"type\":\"commit.failed\",\"files_written\":1,\"retried_ok\":true}", false);
    check_filter(policy, "{\"type\":\"commit.failed\"}", false);
    ebb_policy_free(policy);
}

/* 500 commits on Tuesday 11:00 CEST: quiet until 19:00 CEST. */
static void test_on_event_quiet(void **state)
{
    struct ebb_policy *policy = load("examples/orphans_on_event.lua");
    char *json = malloc(100000);
    size_t n = 0;
    struct step s = {0};

    (void)state;
    n += (size_t)snprintf(json, 100000,
                          "{\"runs\":[],\"table\":{" CLICKS
                          ",\"properties\":{\"owner.timezone\":\"Europe/Berlin\"},\"snapshots\":[");
    for (int i = 0; i < 500; i++)
        n += (size_t)snprintf(json + n, 100000 - n, "%s{\"id\":%d,\"at\":%lld}", i ? "," : "", i + 1,
                              (long long)(HELP_NOW + i));
    snprintf(json + n, 100000 - n, "]}}");
    decide(&s, policy, json, HELP_NOW + 2 * HELP_DAY + 9 * 3600000);
    check_verdict(&s, EBB_VERDICT_DEFER);
    assert_string_equal(ebb_decision_get_by(s.d), "guard.quiet");
    assert_int_equal(ebb_decision_get_until_ms(s.d), HELP_NOW + 2 * HELP_DAY + 17 * 3600000);
    done(&s);
    free(json);
    ebb_policy_free(policy);
}

/* Whatever the history, no shipped policy asks for files younger than three days. */
static void test_never_young(void **state)
{
    static const char *const FILES[] = {"iceberg_orphan_file_removal.lua", "examples/orphans_weekly.lua",
                                        "examples/orphans_on_event.lua"};
    uint64_t seed = 7;
    char json[2048];
    int runs = 0;

    (void)state;
    for (int i = 0; i < 300; i++) {
        struct ebb_policy *policy = load(FILES[i % 3]);
        struct step s = {.input = {.bound = true}};

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        snprintf(
            json, sizeof json,
            "{\"table\":{" CLICKS ",\"snapshots\":[],\"stats\":{\"longest_write\":%llu}},\"events\":[{\"id\":\"e\","
            "\"type\":\"commit.failed\","
            "\"at\":%lld,\"files_written\":%llu}],\"runs\":[{\"started\":%lld,\"ended\":%lld,\"outcome\":\"%s\"}]}",
            (unsigned long long)(seed >> 34), (long long)(HELP_NOW - (int64_t)(seed >> 33)),
            (unsigned long long)(seed >> 60), (long long)(HELP_NOW - (int64_t)(seed >> 32)),
            (long long)(HELP_NOW - (int64_t)(seed >> 33)), seed >> 63 ? "success" : "failed");
        decide(&s, policy, json, HELP_NOW);
        if (ebb_decision_get_verdict(s.d) == EBB_VERDICT_RUN) {
            assert_true(HELP_NOW - cutoff_of(&s) >= 3 * HELP_DAY);
            runs++;
        }
        done(&s);
        ebb_policy_free(policy);
    }
    assert_true(runs > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin),     cmocka_unit_test(test_history_unknown),
        cmocka_unit_test(test_weekly),      cmocka_unit_test(test_on_event),
        cmocka_unit_test(test_filter),      cmocka_unit_test(test_on_event_quiet),
        cmocka_unit_test(test_never_young),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
