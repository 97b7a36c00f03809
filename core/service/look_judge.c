/* SPDX-License-Identifier: Apache-2.0
 *
 * One policy on one table: what is due, what the policy says, what becomes of the occurrence.
 */
#include "service/bundles.h"
#include "service/look_priv.h"
#include "service/preview.h"

#define AGAIN_MS 1000 /* after one occurrence of several that are due */

static void input_of(const struct ebb__look_step *s, struct ebb_schedule_input *out)
{
    *out = (struct ebb_schedule_input){s->bound->policy, s->settings, s->table->metadata->uuid, s->facts,
                                       ebb_clock_now(&s->looker->site->clock)};
}

static const char *name_of(const struct ebb__look_step *s)
{
    return ebb_policy_get_name(s->bound->policy);
}

/* ---- the schedule ---- */

static int load(struct ebb__look_step *s, struct ebb_err *err)
{
    struct ebb_store *store = s->looker->site->store;
    const char *uuid = s->table->metadata->uuid;
    int rc = ebb_schedule_load(store, name_of(s), uuid, &s->schedule, err);

    if (!rc && !s->schedule.active_since_ms) {
        rc = ebb_schedule_load_of(store, s->bound->policy, uuid, &s->schedule, err);
        s->is_renamed = s->schedule.active_since_ms != 0;
    }
    s->before = s->schedule;
    return rc;
}

/* What takes nothing leaves the schedule alone: what is due stays due. Only that the policy became active is kept, so
 * that something can become due at all. */
static int save(struct ebb__look_step *s, bool takes, struct ebb_err *err)
{
    struct ebb_schedule kept = s->schedule;

    if (!takes || s->way->is_dry) {
        kept = s->before;
        if (!kept.active_since_ms)
            kept.active_since_ms = s->schedule.active_since_ms;
    }
    if (!s->is_renamed && !memcmp(&kept, &s->before, sizeof kept))
        return 0;
    return ebb_schedule_save(s->looker->site->store, name_of(s), s->table->metadata->uuid, &kept, err);
}

static bool waits_for_a_run(const struct ebb__look_step *s, int64_t now_ms)
{
    if (s->schedule.deferred_until_ms && s->schedule.deferred_until_ms <= now_ms)
        return true;
    return s->decision && ebb_decision_get_verdict(s->decision) == EBB_VERDICT_RUN &&
           s->bound->binding->mode != EBB_BIND_OBSERVE;
}

/* When to look again. Of several occurrences that are due (catch_up = "all") one is decided at a time; what waits for
 * the end of a run is not looked at by the clock. */
static int find_wake(struct ebb__look_step *s, const struct ebb_schedule_input *in, struct ebb_err *err)
{
    struct ebb_schedule after = s->schedule;
    struct ebb_due due;
    int rc = ebb_schedule_wake(in, &s->schedule, &s->wake_ms, err);

    if (rc || !s->due.is_due || waits_for_a_run(s, in->now_ms))
        return rc;
    rc = ebb_schedule_due(in, &after, &due, err);
    if (!rc && due.is_due && s->wake_ms > in->now_ms + AGAIN_MS)
        s->wake_ms = in->now_ms + AGAIN_MS;
    return rc;
}

/* ---- the decision ---- */

static int read_more(void *data, unsigned manifests, struct ebb_value **facts, struct ebb_err *err)
{
    const struct ebb__look_step *s = data;
    struct ebb_facts_options options = s->options;

    options.manifests = manifests;
    return ebb_facts_new(s->looker->site, s->table, &options, s->question.input.now_ms, facts, err);
}

/* What a policy consists of is put into the store once. */
static int put_bundle(struct ebb__look_step *s, struct ebb_err *err)
{
    const char *bundle = ebb_policy_get_bundle(s->bound->policy);
    int rc;

    if (ebb_strs_has(&s->looker->bundles, bundle))
        return 0;
    rc = ebb_bundles_put(s->looker->site->store, s->bound->policy, err);
    return rc ? rc : ebb_strs_add(&s->looker->bundles, bundle, err);
}

static int record(struct ebb__look_step *s, struct ebb_err *err)
{
    const char *uuid = s->table->metadata->uuid, *verdict = ebb_verdict_name(ebb_decision_get_verdict(s->decision));
    struct ebb_store *store = s->looker->site->store;
    struct ebb_record record = {s->id,
                                s->table->label,
                                uuid,
                                name_of(s),
                                verdict,
                                ebb_clock_now(&s->looker->site->clock),
                                0,
                                "",
                                ebb_decision_get_record(s->decision)};
    int rc = put_bundle(s, err);

    s->report.decision = s->id;
    s->report.verdict = verdict;
    if (!rc)
        rc = ebb_store_put(store, EBB_RECORD_DECISION, &record, err);
    if (!rc && !s->way->is_dry && !s->way->owner)
        rc = ebb__answer_save(store, &s->question, uuid, &s->answer, s->decision, err);
    return rc;
}

static int ask(struct ebb__look_step *s, struct ebb_err *err)
{
    struct ebb_store *store = s->looker->site->store;
    int put, rc = 0;

    if (!s->way->owner) /* who asks by hand wants to be told anew */
        rc = ebb__answer_load(store, name_of(s), s->table->metadata->uuid, &s->answer, err);
    if (!rc && !s->way->owner)
        rc = ebb__answer_holds(&s->answer, &s->question, &s->is_unchanged, err);
    if (rc || s->is_unchanged)
        return rc;
    ebb_store_new_id(store, "d", s->question.input.now_ms, s->id);
    s->question.input.id = s->id;
    s->question.input.with_inputs = true;
    rc = ebb__question_decide(&s->question, &s->decision, err);
    if (!s->decision)
        return rc;
    put = record(s, rc ? NULL : err);
    return ebb__look_is_fatal(put) || !rc ? put : rc;
}

static int decide(struct ebb__look_step *s, const struct ebb_schedule_input *in, struct ebb_err *err)
{
    struct ebb_value *trigger = NULL;
    struct ebb_decide_input *input = &s->question.input;
    int rc = ebb_schedule_trigger(in, &s->due, &trigger, err);

    if (rc)
        return rc;
    ebb__pass_bind_input(s->looker->ws, s->bound->binding, s->table->label, input);
    input->facts = s->facts;
    input->now_ms = in->now_ms;
    input->active_since_ms = s->schedule.active_since_ms;
    input->revised_ms = s->schedule.revised_ms;
    input->trigger = trigger;
    input->settings = s->settings;
    s->question.policy = s->bound->policy;
    s->question.evaluator = s->looker->evaluator;
    s->question.read = read_more;
    s->question.data = s;
    rc = ask(s, err);
    input->trigger = NULL;
    ebb_value_free(trigger);
    return rc;
}

/* The policy would say again what it said before: nothing is asked and nothing recorded but that. */
static int take_unchanged(struct ebb__look_step *s, struct ebb_look *look, struct ebb_err *err)
{
    ebb_schedule_take(&s->schedule, &s->due);
    s->report.status = "unchanged";
    s->report.decision = s->answer.decision;
    s->report.unchanged = ++s->schedule.unchanged;
    look->unchanged++;
    ebb_metrics_add(s->looker->metrics, EBB_METRIC_UNCHANGED, NULL, 1);
    return save(s, true, err);
}

static int take(struct ebb__look_step *s, const struct ebb_schedule_input *in, struct ebb_look *look,
                struct ebb_err *err)
{
    bool is_kept = ebb_schedule_settle(in, &s->due, s->decision, &s->schedule);

    s->schedule.unchanged = 0;
    look->decisions++;
    ebb_metrics_add(s->looker->metrics, EBB_METRIC_DECISIONS, s->report.verdict, 1);
    if (!is_kept)
        ebb_metrics_add(s->looker->metrics, EBB_METRIC_DROPPED_OCCURRENCES, NULL, 1);
    if (ebb_decision_get_verdict(s->decision) == EBB_VERDICT_DEFER) {
        s->report.status = is_kept ? "deferred" : "dropped: held back too long";
        if (is_kept && !strcmp(ebb_decision_get_by(s->decision), "guard.fleet"))
            look->waits_for_slot = true;
    }
    return save(s, true, err);
}

/* ---- all ---- */

static bool has_pause(const struct ebb_strs *paused, const char *kind, const char *name)
{
    size_t n = strlen(kind);

    for (size_t i = 0; i < paused->count; i++)
        if (!strncmp(paused->items[i], kind, n) && !strcmp(paused->items[i] + n, name))
            return true;
    return false;
}

static bool is_paused(const struct ebb__look_step *s)
{
    const struct ebb_strs *paused = s->way->paused;

    return s->way->is_paused || (paused && (has_pause(paused, "all", "") || has_pause(paused, "policy ", name_of(s)) ||
                                            has_pause(paused, "table ", s->table->label)));
}

/* With catch_up = "all" occurrences run one after the other: the next waits for the one before, it does not overlap
 * it. */
static bool waits_its_turn(const struct ebb__look_step *s)
{
    const struct ebb_value *runs = ebb_value_get(s->facts, "runs"), *last;
    const struct ebb_trigger *t;
    const char *outcome;

    if (!s->due.is_due || s->due.trigger == SIZE_MAX)
        return false;
    t = ebb_settings_get_trigger(s->settings, s->due.trigger);
    last = ebb_value_get_at(runs, ebb_value_get_count(runs) - 1);
    outcome = ebb_value_text_of(last, "outcome");
    return t->kind <= EBB_TRIGGER_EVERY && t->catch_up == EBB_CATCH_UP_ALL && outcome && !strcmp(outcome, "running");
}

static int leave(struct ebb__look_step *s, const char *why, struct ebb_err *err)
{
    s->report.status = s->due.is_due ? why : "not due";
    s->report.due = s->due.is_due ? s->due.kind : NULL;
    s->due.is_due = false; /* it stays so: not a reason to look again */
    return save(s, false, err);
}

static int judge_due(struct ebb__look_step *s, const struct ebb_schedule_input *in, struct ebb_look *look,
                     struct ebb_err *err)
{
    int rc;

    if (is_paused(s))
        return leave(s, "paused", err);
    if (waits_its_turn(s))
        return leave(s, "waiting", err);
    if (s->due.is_dropped)
        ebb_metrics_add(s->looker->metrics, EBB_METRIC_DROPPED_OCCURRENCES, NULL, 1);
    if (!s->due.is_due) {
        s->report.status = s->due.is_dropped ? "dropped: too late" : "not due";
        return save(s, true, err);
    }
    s->report.due = s->due.kind;
    rc = decide(s, in, err);
    if (!rc && s->is_unchanged)
        return take_unchanged(s, look, err);
    if (!rc)
        rc = take(s, in, look, err);
    return rc;
}

/* What the latest runs tell is due, or asked for by hand: judged by all that are known. */
static int read_history(struct ebb__look_step *s, struct ebb_schedule_input *in, struct ebb_err *err)
{
    size_t count = ebb_value_get_count(ebb_value_get(s->facts, "runs"));
    bool is_asked = ebb_settings_get_guard(s->settings)->min_interval_ms > 0; /* what they changed matters, too */
    int rc;

    if (!count || (count < EBB__LOOK_LATEST_RUNS && !is_asked))
        return 0; /* these were all */
    rc = ebb_facts_over(s->looker->site, s->table, s->base, &s->options, &s->full, err);
    if (rc)
        return rc;
    in->facts = s->facts = s->full;
    s->schedule = s->before;
    return s->way->owner ? 0 : ebb_schedule_due(in, &s->schedule, &s->due, err);
}

/* By hand: nothing is taken of the schedule, and a defer is not kept. */
static int judge_by_hand(struct ebb__look_step *s, const struct ebb_schedule_input *in, struct ebb_look *look,
                         struct ebb_err *err)
{
    int rc;

    s->due = (struct ebb_due){.kind = "manual", .trigger = EBB__LOOK_BY_HAND, .scheduled_for_ms = in->now_ms};
    s->report.due = s->due.kind;
    if (is_paused(s)) {
        s->report.status = "paused";
        return 0;
    }
    rc = decide(s, in, err);
    if (rc)
        return rc;
    look->decisions++;
    ebb_metrics_add(s->looker->metrics, EBB_METRIC_DECISIONS, s->report.verdict, 1);
    if (ebb_decision_get_verdict(s->decision) == EBB_VERDICT_DEFER)
        s->report.status = "deferred";
    return 0;
}

static int judge(struct ebb__look_step *s, struct ebb_look *look, struct ebb_err *err)
{
    const struct ebb_value *properties = ebb_value_get(ebb_value_get(s->facts, "table"), "properties");
    struct ebb_schedule_input in;
    int rc;

    if (!s->table->metadata->uuid)
        return ebb_err_set(err, EBB_EMETADATA, "%s: has no uuid, so its schedule can't be kept", s->table->label);
    rc = ebb__look_settings(s->looker, s->bound, properties, &s->settings, err);
    if (!rc)
        rc = load(s, err);
    if (rc)
        return rc;
    input_of(s, &in);
    if (!s->way->owner)
        rc = ebb_schedule_due(&in, &s->schedule, &s->due, err);
    if (!rc && (s->way->owner || s->due.is_due))
        rc = read_history(s, &in, err);
    if (!rc && s->way->owner)
        return judge_by_hand(s, &in, look, err);
    if (!rc)
        rc = judge_due(s, &in, look, err);
    if (!rc)
        rc = find_wake(s, &in, err);
    return rc;
}

int ebb__look_judge(struct ebb__look_step *s, struct ebb_look *look, struct ebb_err *err)
{
    int rc = judge(s, look, err);

    if (!rc && s->decision)
        rc = ebb__look_act(s, look, err);
    else
        ebb__look_tell(s, NULL, rc, err);
    ebb_decision_free(s->decision);
    ebb__question_fini(&s->question);
    ebb_value_free(s->full);
    ebb__answer_fini(&s->answer);
    return rc;
}
