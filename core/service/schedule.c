/* SPDX-License-Identifier: Apache-2.0 */
#include "service/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define SCOPE "schedule"
#define ON_TIME_MS ((int64_t)10 * 60 * 1000) /* later than this is missed (catch_up = "none") */

static void make_key(const char *policy, const char *uuid, char out[512])
{
    snprintf(out, 512, "%s/%s", policy, uuid);
}

int ebb_schedule_load(struct ebb_store *store, const char *policy, const char *uuid, struct ebb_schedule *out, struct ebb_err *err)
{
    struct ebb_value *v = NULL;
    const struct ebb_value *fired;
    struct ebb_buf json;
    bool found = false;
    char key[512];
    int rc;

    memset(out, 0, sizeof *out);
    make_key(policy, uuid, key);
    ebb_buf_init(&json, 65536);
    rc = ebb_store_get_value(store, SCOPE, key, &json, &found, err);
    if (!rc && found)
        rc = ebb_value_of_json("schedule state", json.data ? json.data : "", json.len, NULL, &v, err);
    ebb_buf_fini(&json);
    if (rc || !found)
        return rc;
    out->active_since_ms = ebb_value_int_of(v, "active_since", 0);
    out->deferred_until_ms = ebb_value_int_of(v, "deferred_until", 0);
    fired = ebb_value_get(v, "fired");
    for (size_t i = 0; i < ebb_value_get_count(fired) && i < EBB_POLICY_TRIGGERS_MAX; i++)
        out->fired_ms[i] = ebb_value_get_int(ebb_value_get_at(fired, i), 0);
    ebb_value_free(v);
    return 0;
}

int ebb_schedule_save(struct ebb_store *store, const char *policy, const char *uuid, const struct ebb_schedule *s, struct ebb_err *err)
{
    struct ebb_buf json;
    struct ebb_jsonw w;
    char key[512];
    int rc;

    make_key(policy, uuid, key);
    ebb_buf_init(&json, 65536);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kint(&w, "active_since", s->active_since_ms);
    ebb_jsonw_kint(&w, "deferred_until", s->deferred_until_ms);
    ebb_jsonw_key(&w, "fired");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < EBB_POLICY_TRIGGERS_MAX; i++)
        ebb_jsonw_int(&w, s->fired_ms[i]);
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_end(&w, '}');
    rc = ebb_buf_check(&json, "schedule state", err);
    if (!rc)
        rc = ebb_store_put_value(store, SCOPE, key, ebb_buf_cstr(&json), err);
    ebb_buf_fini(&json);
    return rc;
}

/* ---- history in the facts ---- */

/* End (or start) of the last run of the policy; success: only a finished one. 0 when there is none. */
static int64_t last_run(const struct ebb_value *facts, bool success, const char *key)
{
    const struct ebb_value *runs = ebb_value_get(facts, "runs");

    for (size_t i = ebb_value_get_count(runs); i-- > 0;) {
        const struct ebb_value *run = ebb_value_get_at(runs, i);
        const char *outcome = ebb_value_text_of(run, "outcome");
        bool ok = outcome && (!strcmp(outcome, "success") || !strcmp(outcome, "observed"));

        if (!success || ok)
            return ebb_value_int_of(run, key, ebb_value_int_of(run, "started", 0));
    }
    return 0;
}

static bool is_counted(const struct ebb_value *event, const char *type, int64_t since_ms, bool ignore_own)
{
    const char *have = ebb_value_text_of(event, "type");

    return have && !strcmp(have, type) && ebb_value_int_of(event, "at", 0) > since_ms &&
           !(ignore_own && ebb_value_bool_of(event, "own", false));
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- triggers ---- */

struct judging {
    const struct ebb_settings *settings;
    const char *policy, *uuid;
    const struct ebb_value *facts;
    struct ebb_schedule *schedule;
    int64_t now_ms;
};

/* The fixed offset of a table: the same on every node and for ever. */
static int64_t spread_of(const struct judging *j, size_t index, int64_t spread_ms)
{
    char text[1024];
    int n = snprintf(text, sizeof text, "%s\n%s\n%zu", j->policy, j->uuid, index);

    if (spread_ms <= 0 || n < 0)
        return 0;
    return (int64_t)(XXH3_64bits(text, (size_t)n) % (uint64_t)spread_ms);
}

static bool is_too_late(const struct judging *j, const struct ebb_trigger *t, int64_t fires_ms)
{
    if (t->late_by_ms >= 0 && j->now_ms - fires_ms > t->late_by_ms)
        return true;
    return t->catch_up == EBB_CATCH_UP_NONE && j->now_ms - fires_ms > ON_TIME_MS;
}

static void judge_calendar(const struct judging *j, const struct ebb_trigger *t, size_t index, struct ebb_due *out)
{
    int64_t spread = spread_of(j, index, t->spread_ms);
    int64_t since = later(j->schedule->fired_ms[index], j->schedule->active_since_ms);
    int64_t nominal;

    if (!ebb_calendar_last(t->calendar, j->now_ms - spread, &nominal) || nominal <= since)
        return;
    if (is_too_late(j, t, nominal + spread)) {
        j->schedule->fired_ms[index] = nominal;
        out->is_dropped = true;
        return;
    }
    out->is_due = true;
    out->scheduled_for_ms = nominal;
    out->missed = ebb_calendar_count(t->calendar, since, nominal) - 1;
    out->kind = out->missed > 0 ? "catch_up" : "time";
}

/* Steps counted from the last run. */
static void judge_since_run(const struct judging *j, const struct ebb_trigger *t, struct ebb_due *out)
{
    int64_t from = last_run(j->facts, false, t->anchor == EBB_ANCHOR_LAST_END ? "ended" : "started");
    int64_t next;

    from = later(from, j->schedule->active_since_ms);
    next = from + t->step_ms;
    if (next > j->now_ms)
        return;
    out->is_due = true;
    out->scheduled_for_ms = next;
    out->missed = t->step_ms > 0 ? (j->now_ms - next) / t->step_ms : 0;
    out->kind = "time";
}

static void judge_count(const struct judging *j, const struct ebb_trigger *t, struct ebb_due *out)
{
    const struct ebb_value *events = ebb_value_get(j->facts, "events");
    bool ignore_own = ebb_settings_get_guard(j->settings)->ignore_own;
    int64_t since = later(last_run(j->facts, t->since == EBB_SINCE_LAST_SUCCESS, "started"), j->schedule->active_since_ms);
    int64_t count = 0;

    for (size_t i = 0; i < ebb_value_get_count(events); i++)
        count += is_counted(ebb_value_get_at(events, i), t->text, since, ignore_own);
    if (count < t->n)
        return;
    out->is_due = true;
    out->kind = "count";
    out->scheduled_for_ms = j->now_ms;
}

/* Debounce: quiet since the last event, or held for max_hold since the first. */
static void judge_event(const struct judging *j, const struct ebb_trigger *t, size_t index, struct ebb_due *out)
{
    const struct ebb_value *events = ebb_value_get(j->facts, "events");
    bool ignore_own = ebb_settings_get_guard(j->settings)->ignore_own;
    int64_t since = later(j->schedule->fired_ms[index], j->schedule->active_since_ms);
    int64_t first = 0, last = 0;

    for (size_t i = 0; i < ebb_value_get_count(events); i++) {
        const struct ebb_value *event = ebb_value_get_at(events, i);
        int64_t at = ebb_value_int_of(event, "at", 0);

        if (!is_counted(event, t->text, since, ignore_own) || at > j->now_ms)
            continue;
        first = first ? (at < first ? at : first) : at;
        last = later(last, at);
    }
    if (!last || (j->now_ms < last + t->debounce_ms && !(t->max_hold_ms > 0 && j->now_ms >= first + t->max_hold_ms)))
        return;
    out->is_due = true;
    out->kind = "event";
    out->scheduled_for_ms = last;
}

static void judge_trigger(const struct judging *j, size_t index, struct ebb_due *out)
{
    const struct ebb_trigger *t = ebb_settings_get_trigger(j->settings, index);

    out->trigger = index;
    switch (t->kind) {
    case EBB_TRIGGER_CALENDAR:
    case EBB_TRIGGER_CRON:
    case EBB_TRIGGER_EVERY:
        if (t->calendar)
            judge_calendar(j, t, index, out);
        else
            judge_since_run(j, t, out);
        break;
    case EBB_TRIGGER_COUNT:
        judge_count(j, t, out);
        break;
    case EBB_TRIGGER_EVENT:
        judge_event(j, t, index, out);
        break;
    }
}

void ebb_schedule_due(const struct ebb_settings *settings, const char *policy, const char *uuid, const struct ebb_value *facts,
                      struct ebb_schedule *schedule, int64_t now_ms, struct ebb_due *out)
{
    struct judging j = {settings, policy, uuid, facts, schedule, now_ms};
    bool dropped = false;

    memset(out, 0, sizeof *out);
    if (!schedule->active_since_ms)
        schedule->active_since_ms = now_ms;
    if (schedule->deferred_until_ms && schedule->deferred_until_ms <= now_ms) {
        out->is_due = true;
        out->kind = "deferred";
        out->trigger = SIZE_MAX;
        out->scheduled_for_ms = schedule->deferred_until_ms;
        return;
    }
    for (size_t i = 0; !out->is_due && i < ebb_settings_get_trigger_count(settings); i++) {
        judge_trigger(&j, i, out);
        dropped = dropped || out->is_dropped;
    }
    out->is_dropped = dropped;
}

void ebb_schedule_take(struct ebb_schedule *schedule, const struct ebb_due *due)
{
    if (due->trigger == SIZE_MAX)
        schedule->deferred_until_ms = 0;
    else
        schedule->fired_ms[due->trigger] = due->scheduled_for_ms;
}

struct ebb_value *ebb_schedule_trigger(const struct ebb_due *due, const struct ebb_value *facts, const struct ebb_schedule *schedule)
{
    struct ebb_value *v = ebb_value_new_map(NULL);
    struct ebb_value *list;
    const struct ebb_value *events = ebb_value_get(facts, "events");
    int64_t since = due->trigger < EBB_POLICY_TRIGGERS_MAX ? schedule->fired_ms[due->trigger] : 0;

    ebb_value_put_str(v, "kind", due->kind);
    ebb_value_put_int(v, "scheduled_for", due->scheduled_for_ms);
    ebb_value_put_int(v, "missed", due->missed);
    list = ebb_value_put_list(v, "events");
    if (strcmp(due->kind, "event"))
        return v;
    for (size_t i = 0; i < ebb_value_get_count(events); i++)
        if (ebb_value_int_of(ebb_value_get_at(events, i), "at", 0) > later(since, schedule->active_since_ms))
            ebb_value_add_copy(list, ebb_value_get_at(events, i));
    return v;
}
