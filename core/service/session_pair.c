/* SPDX-License-Identifier: Apache-2.0
 *
 * A policy on a table: settings, schedule, runs, and what the policy sees.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/session_priv.h"

void ebb__pair_start(struct ebb__pair *p, int64_t now_ms)
{
    memset(&p->schedule, 0, sizeof p->schedule);
    p->schedule.active_since_ms = now_ms - 1; /* what happens at this very instant is part of the story */
    p->is_blocked = false;
    p->has_wake = false;
}

void ebb__pair_forget(struct ebb__pair *p)
{
    ebb_settings_free(p->settings);
    p->settings = NULL;
    ebb_value_free(p->facts);
    p->facts = NULL;
    p->has_wake = false;
}

void ebb__pair_free(struct ebb__pair *p)
{
    if (!p)
        return;
    ebb__pair_forget(p);
    ebb_value_free(p->action);
    ebb_value_free(p->runs);
    free(p);
}

/* A run of a fixture that is still under way can be ended like one of the session. */
static void find_running(struct ebb__pair *p)
{
    size_t count = ebb_value_get_count(p->runs);

    p->running = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct ebb_value *run = ebb_value_get_at(p->runs, i);
        const char *outcome = ebb_value_text_of(run, "outcome");

        if (outcome && !strcmp(outcome, "running"))
            p->running = (struct ebb_value *)run;
    }
}

static int take_runs(struct ebb__pair *p, const struct ebb_value *runs, struct ebb_err *err)
{
    struct ebb_value *own = ebb_value_new_list(NULL);
    int rc;

    for (size_t i = 0; i < ebb_value_get_count(runs); i++)
        ebb_value_add_copy(own, ebb_value_get_at(runs, i));
    rc = ebb_value_check(own, "runs", err);
    if (rc) {
        ebb_value_free(own);
        return rc;
    }
    ebb_value_free(p->runs);
    p->runs = own;
    find_running(p);
    return 0;
}

int ebb__pair_new(const struct ebb_session *s, const struct ebb__stage *t, struct ebb__pair **out, struct ebb_err *err)
{
    struct ebb__pair *p = calloc(1, sizeof *p);
    int rc;

    *out = NULL;
    if (!p)
        return ebb_err_nomem(err);
    rc = take_runs(p, ebb_value_get(t->facts, "runs"), err);
    if (rc) {
        ebb__pair_free(p);
        return rc;
    }
    ebb__pair_start(p, s->now_ms);
    *out = p;
    return 0;
}

int ebb_session_take_over(struct ebb_session *s, size_t table, const char *policy, const struct ebb_value *runs,
                          const struct ebb_schedule *schedule, struct ebb_err *err)
{
    struct ebb__spot at = {0};
    int rc = ebb__session_spot(s, table, policy, &at, err);

    if (!rc)
        rc = take_runs(at.pair, runs, err);
    if (rc)
        return rc;
    ebb__pair_forget(at.pair);
    if (schedule)
        at.pair->schedule = *schedule;
    s->is_changed = true;
    return 0;
}

static bool is_time(const struct ebb_trigger *t)
{
    return t->kind == EBB_TRIGGER_CALENDAR || t->kind == EBB_TRIGGER_CRON || t->kind == EBB_TRIGGER_EVERY;
}

int ebb__pair_include(const struct ebb__spot *at, int64_t at_ms, struct ebb_err *err)
{
    struct ebb_schedule *schedule = &at->pair->schedule;
    int64_t since = schedule->active_since_ms;

    int rc = at_ms > since || at_ms == INT64_MIN ? 0 : ebb__spot_prepare(at, err);

    if (rc || at_ms > since || at_ms == INT64_MIN)
        return rc;
    for (size_t i = 0; i < ebb_settings_get_trigger_count(at->pair->settings); i++)
        if (is_time(ebb_settings_get_trigger(at->pair->settings, i)) && schedule->fired_ms[i] < since)
            schedule->fired_ms[i] = since;
    schedule->active_since_ms = at_ms - 1;
    return 0;
}

void ebb__session_touch(struct ebb_session *s, size_t table)
{
    for (size_t i = 0; i < s->bound_count; i++)
        s->bound[i]->pairs[table]->has_wake = false;
    s->is_changed = true;
}

/* ---- what a policy sees ---- */

static const char *text_in(const struct ebb_value *table, const char *key)
{
    const char *text = ebb_value_text_of(table, key);

    return text ? text : "";
}

bool ebb__spot_is_wanted(const struct ebb__spot *at)
{
    const struct ebb_value *t = ebb_value_get(at->stage->facts, "table");

    return !ebb_policy_has_target(at->bound->policy) ||
           ebb_policy_is_target(at->bound->policy, text_in(t, "catalog"), text_in(t, "namespace"), text_in(t, "name"),
                                ebb_value_get(t, "properties"));
}

static int make_facts(const struct ebb__spot *at, struct ebb_err *err)
{
    const struct ebb_value *own = at->stage->facts;
    struct ebb_value *facts = ebb_value_new_map(NULL);
    int rc;

    for (size_t i = 0; i < ebb_value_get_count(own); i++)
        if (!ebb_str_is_equal(ebb_value_get_key(own, i), EBB_STR("runs")))
            ebb_value_put_ref(facts, ebb_value_get_key(own, i).p, ebb_value_get_at(own, i));
    if (!at->stage->is_history_unknown)
        ebb_value_put_ref(facts, "runs", at->pair->runs);
    rc = ebb_value_check(facts, "facts", err);
    if (rc) {
        ebb_value_free(facts);
        return rc;
    }
    ebb_value_free(at->pair->facts);
    at->pair->facts = facts;
    at->pair->facts_made = at->stage->made;
    return 0;
}

static int make_settings(const struct ebb__spot *at, struct ebb_err *err)
{
    const struct ebb_value *properties = ebb_value_get(ebb_value_get(at->stage->facts, "table"), "properties");
    struct ebb_settings *settings = NULL;
    struct ebb_settings_site site;
    int rc;

    ebb__bound_site(at->bound, &site);
    rc = ebb_settings_new_bound(at->bound->policy, &site, properties, &settings, err);
    if (rc)
        return rc;
    ebb_settings_free(at->pair->settings);
    at->pair->settings = settings;
    at->pair->settings_made = at->stage->settings_made;
    return 0;
}

int ebb__spot_prepare(const struct ebb__spot *at, struct ebb_err *err)
{
    const struct ebb__pair *p = at->pair;
    int rc = 0;

    if (!p->settings || p->settings_made != at->stage->settings_made)
        rc = make_settings(at, err);
    if (!rc && (!p->facts || p->facts_made != at->stage->made))
        rc = make_facts(at, err);
    return rc;
}

void ebb__spot_schedule_input(const struct ebb__spot *at, struct ebb_schedule_input *out)
{
    memset(out, 0, sizeof *out);
    out->policy = at->bound->policy;
    out->settings = at->pair->settings;
    out->uuid = at->stage->uuid;
    out->facts = at->pair->facts;
    out->now_ms = at->session->now_ms;
}

void ebb__spot_input(const struct ebb__spot *at, const struct ebb_value *trigger, struct ebb_decide_input *out)
{
    const struct ebb_session_binding *b = &at->bound->binding;
    int64_t known = at->pair->known_since_ms, since = at->pair->schedule.active_since_ms;

    memset(out, 0, sizeof *out);
    out->facts = at->pair->facts;
    out->now_ms = at->session->now_ms;
    out->active_since_ms = known && known < since ? known : since;
    out->revised_ms = at->pair->schedule.revised_ms;
    out->trigger = trigger;
    out->settings = at->pair->settings;
    out->mode = b->mode;
    out->bound = true;
    out->allow_below_floor = b->allow_below_floor;
    out->allow_override_quiet = b->allow_override_quiet;
}

/* ---- runs ---- */

static void put_partitions(struct ebb_value *run, const struct ebb_value *action)
{
    ebb_value_put_copy(run, "partitions", ebb_value_get(action, "partitions"));
}

/* Whether it did anything. That it did not is known only where all that it would have changed is: of an expiration. */
static void put_change(const struct ebb_value *facts, const struct ebb_value *action, const struct ebb_effect *e,
                       struct ebb_value *run)
{
    const char *type = ebb_value_text_of(action, "type");
    bool changed = e->files_deleted || e->files_rewritten || e->snapshots_expired || e->commits;
    bool is_known = ebb_value_get_kind(ebb_value_get(ebb_value_get(facts, "table"), "snapshots")) == EBB_VALUE_LIST;

    if (changed || (is_known && type && !strcmp(type, "expire_snapshots")))
        ebb_value_put_bool(run, "changed", changed);
}

/* What the action did to the table. */
static int take_effect(const struct ebb__spot *at, struct ebb_value *run, const char *id, struct ebb_err *err)
{
    struct ebb_session *s = at->session;
    struct ebb__commit commit = {s->now_ms, "replace", id, 0, 0, 0};
    struct ebb_value *changes = NULL;
    struct ebb_effect effect;
    int rc = ebb_effect_of(at->stage->facts, at->pair->action, s->now_ms, &effect, &changes, err);

    if (!rc)
        put_change(at->stage->facts, at->pair->action, &effect, run);
    for (size_t i = 0; !rc && i < ebb_value_get_count(changes); i++)
        rc = ebb__stage_change(at->stage, ebb_value_get_key(changes, i).p, ebb_value_get_at(changes, i), err);
    if (!rc && effect.commits)
        rc = ebb__stage_commit(at->stage, &commit, err);
    if (!rc)
        ebb_effect_add(&at->bound->totals.effect, &effect);
    ebb_value_free(changes);
    ebb__session_touch(s, at->table);
    return rc;
}

int ebb__spot_begin(const struct ebb__spot *at, const struct ebb_decision *decision, const char *kind,
                    struct ebb_err *err)
{
    const struct ebb_value *action = ebb_decision_get_action(decision);
    struct ebb_session *s = at->session;
    bool is_observed = at->bound->binding.mode == EBB_MODE_OBSERVE;
    struct ebb_value *run = ebb_value_add_map(at->pair->runs);
    char id[40];
    int rc;

    snprintf(id, sizeof id, "r-s%zu", ++s->runs);
    ebb_value_put_str(run, "id", id);
    ebb_value_put_int(run, "started", s->now_ms);
    ebb_value_put_str(run, "trigger", kind);
    ebb_value_put_str(run, "outcome", "running");
    put_partitions(run, action);
    rc = ebb_value_check(at->pair->runs, "runs", err);
    ebb_value_free(at->pair->action);
    at->pair->action = NULL;
    if (!rc && action)
        rc = ebb_value_dup(action, NULL, &at->pair->action, err);
    if (rc)
        return rc;
    at->pair->running = run;
    if (is_observed || s->options.ends_at_once)
        rc = ebb__spot_end(at, is_observed ? "observed" : "success", err);
    return rc;
}

int ebb__spot_end(const struct ebb__spot *at, const char *outcome, struct ebb_err *err)
{
    bool is_real = at->bound->binding.mode == EBB_MODE_ENFORCE && !strcmp(outcome, "success");
    struct ebb__pair *p = at->pair;
    struct ebb_value *run = p->running;
    char id[40];
    int rc = 0;

    snprintf(id, sizeof id, "%.39s", ebb_value_text_of(run, "id") ? ebb_value_text_of(run, "id") : "");
    ebb_value_put_str(run, "outcome", outcome);
    ebb_value_put_int(run, "ended", at->session->now_ms);
    p->running = NULL;
    p->is_blocked = false;
    p->has_wake = false;
    at->bound->totals.runs++;
    if (is_real && at->session->options.has_effects && p->action)
        rc = take_effect(at, run, id, err);
    return rc ? rc : ebb_value_check(p->runs, "runs", err);
}
