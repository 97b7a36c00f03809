/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/time.h"
#include "engine/guards_priv.h"
#include "engine/whynot_priv.h"

int ebb__why_evaluate(struct ebb__why *y, int64_t at_ms, struct ebb__probe *probe, struct ebb_value **record,
                      struct ebb_err *err)
{
    struct ebb_decision *d = NULL;
    const char *text;
    int rc, parsed = 0;

    *record = NULL;
    y->input.now_ms = at_ms;
    rc = ebb_evaluator_decide(y->evaluator, y->policy, &y->input, &d, err);
    if (rc == -(int)EBB_EPOLICY_MEMORY) { /* of the script, or of the process: the script's runs out again */
        ebb_decision_free(d);
        rc = ebb_evaluator_decide(y->evaluator, y->policy, &y->input, &d, err);
    }
    if (d) {
        *probe = (struct ebb__probe){at_ms, ebb_decision_get_verdict(d), 0, NULL};
        if (probe->verdict == EBB_VERDICT_DEFER)
            probe->until_ms = ebb_decision_get_until_ms(d);
        text = ebb_decision_get_record(d);
        parsed = ebb_value_of_json("decision record", text, strlen(text), NULL, record, rc ? NULL : err);
    }
    ebb_decision_free(d);
    return rc ? rc : parsed;
}

static uint8_t truth_of(const struct ebb_value *check)
{
    const char *r = ebb_value_text_of(check, "r");

    for (uint8_t i = EBB__FALSE; i <= EBB__UNKNOWN; i++)
        if (r && !strcmp(r, ebb__truth_name((enum ebb__truth)i)))
            return i;
    return EBB__ABSENT;
}

static bool is_same_check(const struct ebb_value *a, const struct ebb_value *b)
{
    return a && b && ebb_value_is_equal(ebb_value_get(a, "n"), ebb_value_get(b, "n")) &&
           ebb_value_is_equal(ebb_value_get(a, "key"), ebb_value_get(b, "key"));
}

/* The check of another record that is check i of the first: the same name and key, as often seen before. */
static const struct ebb_value *find_check(const struct ebb__why *y, size_t i, const struct ebb_value *checks)
{
    const struct ebb_value *wanted = ebb_value_get_at(y->checks, i);
    size_t before = 0;

    if (ebb_value_get_count(checks) == y->check_count && is_same_check(wanted, ebb_value_get_at(checks, i)))
        return ebb_value_get_at(checks, i);
    for (size_t k = 0; k < i; k++)
        before += is_same_check(wanted, ebb_value_get_at(y->checks, k));
    for (size_t k = 0; k < ebb_value_get_count(checks); k++)
        if (is_same_check(wanted, ebb_value_get_at(checks, k)) && before-- == 0)
            return ebb_value_get_at(checks, k);
    return NULL;
}

static int add_probe(struct ebb__why *y, size_t place, struct ebb__probe *probe, const struct ebb_value *record,
                     struct ebb_err *err)
{
    const struct ebb_value *checks = ebb_value_get(record, "checks");

    probe->truths = malloc(y->check_count + 1);
    if (!probe->truths)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < y->check_count; i++)
        probe->truths[i] = truth_of(find_check(y, i, checks));
    memmove(y->probes + place + 1, y->probes + place, (y->count - place) * sizeof *y->probes);
    y->probes[place] = *probe;
    y->count++;
    return 0;
}

int ebb__why_probe(struct ebb__why *y, int64_t at_ms, size_t *index, struct ebb_err *err)
{
    struct ebb_value *record;
    struct ebb__probe probe;
    size_t place = 0;
    int rc;

    *index = SIZE_MAX;
    while (place < y->count && y->probes[place].at_ms < at_ms)
        place++;
    if (place < y->count && y->probes[place].at_ms == at_ms)
        *index = place;
    if (*index != SIZE_MAX || place == 0 || at_ms > y->end_ms || y->count == EBB__PROBES_MAX ||
        y->gas > EBB__PROBES_GAS || ebb__cpu_now_ns() > y->cpu_end_ns)
        return 0;
    rc = ebb__why_evaluate(y, at_ms, &probe, &record, err);
    y->gas += ebb_value_int_of(record, "gas", 0);
    if (record) /* a policy that goes wrong there tells no more than that */
        rc = add_probe(y, place, &probe, record, err);
    ebb_value_free(record);
    if (!rc)
        *index = place;
    return rc;
}

static int open_why(struct ebb__why *y, const struct ebb_decide_input *input, struct ebb_err *err)
{
    struct ebb__probe first;
    int rc = ebb__why_evaluate(y, input->now_ms, &first, &y->record, err);

    if (rc)
        return rc;
    y->checks = ebb_value_get(y->record, "checks");
    y->check_count = ebb_value_get_count(y->checks);
    if (__builtin_add_overflow(input->now_ms, EBB_WHYNOT_AHEAD_MS, &y->end_ms))
        y->end_ms = INT64_MAX;
    y->probes = malloc((EBB__PROBES_MAX + 1) * sizeof *y->probes);
    y->slopes = calloc(y->check_count + 1, sizeof *y->slopes);
    return y->probes && y->slopes ? add_probe(y, 0, &first, y->record, err) : ebb_err_nomem(err);
}

static void close_why(struct ebb__why *y)
{
    for (size_t i = 0; i < y->count; i++)
        free(y->probes[i].truths);
    free(y->probes);
    free(y->slopes);
    ebb_value_free(y->record);
}

static void put_all(struct ebb_value *out, const struct ebb_value *map, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ebb_value_get(map, keys[i]))
            ebb_value_put_copy(out, keys[i], ebb_value_get(map, keys[i]));
}

static int put_checks(struct ebb__why *y, struct ebb_value *list, struct ebb_err *err)
{
    static const char *const KEYS[] = {"n", "key", "a", "op", "b", "r", "u"};
    int rc = 0;

    for (size_t i = 0; i < y->check_count && !rc; i++) {
        const struct ebb_value *check = ebb_value_get_at(y->checks, i);
        struct ebb_value *one = ebb_value_add_map(list);
        char needs[120];
        int64_t at = 0;
        uint8_t to = EBB__ABSENT;

        put_all(one, check, KEYS, sizeof KEYS / sizeof *KEYS);
        rc = ebb__why_turn(y, i, &at, &to, err);
        if (!rc && at) {
            ebb_value_put_int(one, "turns_at", at);
            ebb_value_put_str(one, "turns_to", ebb__truth_name((enum ebb__truth)to));
        }
        if (ebb__why_needs(y, i, needs))
            ebb_value_put_str(one, "needs", needs);
    }
    return rc;
}

static void put_guards(const struct ebb__why *y, struct ebb_value *list)
{
    static const char *const KEYS[] = {"n", "r", "why"};
    const struct ebb_value *guards = ebb_value_get(y->record, "guards");

    for (size_t i = 0; i < ebb_value_get_count(guards); i++) {
        const struct ebb_value *guard = ebb_value_get_at(guards, i);
        const char *until = ebb_value_text_of(guard, "until");
        struct ebb_value *one = ebb_value_add_map(list);
        int64_t at;

        put_all(one, guard, KEYS, 3);
        if (until && !ebb_time_parse(until, NULL, &at, NULL))
            ebb_value_put_int(one, "until", at);
    }
}

static int fill(struct ebb__why *y, struct ebb_value *out, struct ebb_err *err)
{
    struct ebb_value *checks = ebb_value_put_list(out, "checks");
    bool has_earliest = false;
    int64_t at = 0;
    int rc = ebb__why_spread(y, err);

    if (!rc)
        rc = put_checks(y, checks, err);
    put_guards(y, ebb_value_put_list(out, "guards"));
    if (!rc)
        rc = ebb__why_earliest(y, &has_earliest, &at, err);
    if (has_earliest)
        ebb_value_put_int(out, "earliest", at);
    ebb_value_put_copy(out, "record", y->record);
    if (ebb_value_get(y->record, "reads"))
        ebb_value_put_copy(out, "reads", ebb_value_get(y->record, "reads"));
    return rc ? rc : ebb_value_check(out, "whynot", err);
}

/* Who asks why not asks for what its triggers would bring: no run by hand, which does not wait. */
static struct ebb_value *make_trigger(int64_t now_ms)
{
    struct ebb_value *trigger = ebb_value_new_map(NULL);

    ebb_value_put_str(trigger, "kind", "time");
    ebb_value_put_int(trigger, "scheduled_for", now_ms);
    return trigger;
}

int ebb_whynot(struct ebb_evaluator *evaluator, const struct ebb_policy *policy, const struct ebb_decide_input *input,
               struct ebb_value **out, struct ebb_err *err)
{
    struct ebb__why y = {.evaluator = evaluator, .policy = policy, .input = *input};
    struct ebb_value *trigger = NULL, *made = ebb_value_new_map(NULL);
    struct ebb_evaluator *own = NULL;
    int rc = made ? 0 : ebb_err_nomem(err);

    *out = NULL;
    y.input.without_record = false;
    y.input.with_inputs = false;
    y.input.lines = NULL;
    y.cpu_end_ns = ebb__cpu_now_ns() + (int64_t)EBB__PROBES_CPU_MS * 1000000;
    if (!rc && !input->trigger) {
        y.input.trigger = trigger = make_trigger(input->now_ms);
        rc = ebb_value_check(trigger, "trigger", err);
    }
    if (!rc && !evaluator)
        rc = ebb_evaluator_new(&own, err);
    y.evaluator = own ? own : evaluator;
    if (!rc)
        rc = open_why(&y, input, err);
    if (!rc)
        rc = fill(&y, made, err);
    close_why(&y);
    ebb_evaluator_free(own);
    ebb_value_free(trigger);
    if (rc)
        ebb_value_free(made);
    else
        *out = made;
    return rc;
}
