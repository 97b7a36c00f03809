/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies by chance against the plain way: decided again at every tenth minute of some days. What whynot tells of the
 * clock must be what is seen there, and an answer holds as long as it is said to.
 */
#include "engine_help.h"

#include "engine/whynot.h"

#define STEP ((int64_t)600000)
#define STEPS (3 * 24 * 6)
#define POLICIES 40
#define CHECKS_MAX 4
#define NONE INT64_MIN

static uint64_t next_random(uint64_t *seed, uint64_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed % below;
}

/* One check of some kind; durations are whole steps, so that turns lie at full steps or a millisecond behind. */
static void add_check(struct ebb_buf *out, uint64_t *seed, int i)
{
    static const char *const OPS[] = {"<", "<=", ">", ">="};
    const char *op = OPS[next_random(seed, 4)];
    long long steps = (long long)next_random(seed, STEPS);

    switch (next_random(seed, 7)) {
    case 0:
        ebb_buf_printf(out, "check(\"c%d\", t.stats.orphans.age, \"%s\", %lld * 600000)", i, op, steps);
        return;
    case 1:
        ebb_buf_printf(out, "check(\"c%d\", ctx.now, \"%s\", %lld)", i, op, (long long)HELP_NOW + steps * STEP);
        return;
    case 2:
        ebb_buf_printf(out, "check(\"c%d\", time.civil(ctx.now, \"Europe/Berlin\").hour, \"%s\", %d)", i, op,
                       (int)next_random(seed, 24));
        return;
    case 3:
        ebb_buf_printf(out, "check(\"c%d\", ctx.events.count { \"x\", since = %lld * 600000 }, \"%s\", %d)", i, steps,
                       op, (int)next_random(seed, 4));
        return;
    case 4:
        ebb_buf_printf(out, "check(\"c%d\", t.properties.k, \"==\", \"%s\")", i, next_random(seed, 3) ? "v" : "w");
        return;
    case 5:
        ebb_buf_printf(out, "check(\"c%d\", %lld - ctx.now, \"%s\", %lld * 600000)", i,
                       (long long)HELP_NOW + steps * STEP, op, (long long)next_random(seed, 300));
        return;
    default:
        ebb_buf_printf(out, "check(\"c%d\", ctx.now %% 86400000, \"%s\", %d * 3600000)", i, op,
                       (int)next_random(seed, 24));
    }
}

static struct ebb_policy *make_policy(uint64_t *seed, char body[4096])
{
    static const char *const GUARDS[] = {
        "", "guard = { min_interval = \"20h\" },",
        "guard = { quiet = { { from = \"22:00\", to = \"06:00\", tz = \"Europe/Berlin\" } } },",
        "guard = { min_interval = \"5h\", quiet = { { days = \"Sun\", from = \"00:00\", to = \"12:00\" } } },"};
    static const char *const OF[] = {"all", "any", "none"};
    int count = 1 + (int)next_random(seed, CHECKS_MAX);
    struct ebb_buf out;

    ebb_buf_init(&out, 4000);
    ebb_buf_printf(&out, "local v = %s { ", OF[next_random(seed, 3)]);
    for (int i = 0; i < count; i++) {
        add_check(&out, seed, i);
        ebb_buf_puts(&out, ",\n");
    }
    ebb_buf_puts(&out, "}\nif not v.ok then return skip(v) end\n"
                       "return run(v, action.remove_orphan_files { older_than = 1774000000000 })");
    snprintf(body, 4096, "%s", ebb_buf_cstr(&out));
    ebb_buf_fini(&out);
    return help_policy(GUARDS[next_random(seed, 4)], body);
}

static struct ebb_value *make_facts(uint64_t *seed)
{
    struct ebb_value *facts = help_json(
        "{\"table\":{\"catalog\":\"c\",\"namespace\":\"n\",\"name\":\"t\",\"location\":\"s3://b/t\","
        "\"properties\":{\"k\":\"v\"},\"stats\":{\"orphans\":{\"at\":1774738800000}}},"
        "\"runs\":[{\"id\":\"r\",\"started\":1774731600000,\"ended\":1774735200000,\"outcome\":\"success\"}]}");
    struct ebb_value *events = ebb_value_put_list(facts, "events");

    for (int i = (int)next_random(seed, 5); i > 0; i--) {
        struct ebb_value *event = ebb_value_add_map(events);

        ebb_value_put_str(event, "id", "e");
        ebb_value_put_str(event, "type", "x");
        ebb_value_put_int(event, "at", HELP_NOW - (int64_t)next_random(seed, 400) * STEP);
    }
    return facts;
}

/* What is seen at one instant. */
struct sight {
    enum ebb_verdict verdict;
    char by[40];
    int64_t holds_until;
    bool is_true[CHECKS_MAX];
};

static void look(const struct ebb_policy *policy, const struct ebb_decide_input *input, struct sight *out)
{
    struct ebb_decision *d = NULL;
    const char *record;
    char wanted[32];

    if (ebb_decide(policy, input, &d, NULL))
        fail_msg("no decision");
    memset(out, 0, sizeof *out);
    out->verdict = ebb_decision_get_verdict(d);
    snprintf(out->by, sizeof out->by, "%s", ebb_decision_get_by(d));
    out->holds_until = ebb_decision_get_holds_until_ms(d);
    record = ebb_decision_get_record(d);
    for (int i = 0; i < CHECKS_MAX; i++) {
        const char *r;

        snprintf(wanted, sizeof wanted, "{\"n\":\"c%d\"", i);
        r = strstr(record, wanted);
        r = r ? strstr(r, "\"r\":\"") : NULL;
        out->is_true[i] = r && r[5] == 't';
    }
    ebb_decision_free(d);
}

/* What is told lies in the step before the one at which it is first seen. */
static void check_instant(const char *what, const char *body, int64_t told, int64_t seen)
{
    if (seen == NONE ? told == NONE || told > HELP_NOW + STEPS * STEP : told > seen - STEP && told <= seen)
        return;
    fail_msg("%s: told +%lld steps, seen +%lld steps\n%s", what,
             told == NONE ? -1LL : (long long)((told - HELP_NOW) / STEP),
             seen == NONE ? -1LL : (long long)((seen - HELP_NOW) / STEP), body);
}

static void try_policy(uint64_t *seed)
{
    char body[4096], name[8];
    struct ebb_policy *policy = make_policy(seed, body);
    struct ebb_value *facts = make_facts(seed), *trigger = help_json("{\"kind\":\"time\"}"), *out = NULL;
    struct ebb_decide_input input = {.facts = facts, .trigger = trigger, .now_ms = HELP_NOW, .bound = true};
    int64_t earliest = NONE, turns[CHECKS_MAX] = {NONE, NONE, NONE, NONE};
    const struct ebb_value *checks;
    struct sight first, now;

    assert_int_equal(ebb_whynot(NULL, policy, &input, &out, NULL), 0);
    look(policy, &input, &first);
    for (int64_t m = 0; m <= STEPS; m++) {
        input.now_ms = HELP_NOW + m * STEP;
        look(policy, &input, &now);
        if (now.verdict == EBB_VERDICT_RUN && earliest == NONE)
            earliest = input.now_ms;
        for (int i = 0; i < CHECKS_MAX; i++)
            if (turns[i] == NONE && now.is_true[i] != first.is_true[i])
                turns[i] = input.now_ms;
        if (input.now_ms < first.holds_until && (now.verdict != first.verdict || strcmp(now.by, first.by) ||
                                                 memcmp(now.is_true, first.is_true, sizeof now.is_true)))
            fail_msg("holds for %lld steps, but not at +%lld\n%s", (long long)((first.holds_until - HELP_NOW) / STEP),
                     (long long)m, body);
    }
    check_instant("earliest", body, ebb_value_int_of(out, "earliest", NONE), earliest);
    checks = ebb_value_get(out, "checks");
    for (size_t i = 0; i < ebb_value_get_count(checks); i++) {
        snprintf(name, sizeof name, "c%zu", i);
        check_instant(name, body, ebb_value_int_of(ebb_value_get_at(checks, i), "turns_at", NONE), turns[i]);
    }
    ebb_value_free(out);
    ebb_value_free(trigger);
    ebb_value_free(facts);
    ebb_policy_free(policy);
}

static void test_what_is_told_is_seen(void **state)
{
    uint64_t seed = 20260329;

    (void)state;
    for (int i = 0; i < POLICIES; i++)
        try_policy(&seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_told_is_seen)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
