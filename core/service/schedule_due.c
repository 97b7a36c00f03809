/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging triggers. All instants are nominal times of the past but for a spread; sums are taken so that they can't
 * overflow.
 */
#include <stdio.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "service/schedule_priv.h"

#define ON_TIME_MS ((int64_t)10 * 60 * 1000) /* later than this is missed (catch_up = "none") */
#define TRIGGER_EVENTS_MAX 1000

struct judging {
    const struct ebb_schedule_input *in;
    struct ebb_schedule *schedule;
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- triggers that changed ---- */

/* What a trigger is: options that only matter when it fires are left out. Never 0. */
static uint64_t key_of(const struct ebb_trigger *t)
{
    const char *parts[] = {t->text ? t->text : "", " ", t->tz ? t->tz : ""};
    char numbers[120];
    XXH3_state_t state;
    uint64_t hash;

    snprintf(numbers, sizeof numbers, "%d %lld %d %lld %d ", (int)t->kind, (long long)t->step_ms, (int)t->anchor,
             (long long)t->n, (int)t->since);
    XXH3_64bits_reset(&state); /* needs no memory: a key that depended on it would make the trigger a new one */
    XXH3_64bits_update(&state, numbers, strlen(numbers));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        XXH3_64bits_update(&state, parts[i], strlen(parts[i]));
    hash = XXH3_64bits_digest(&state);
    return hash ? hash : 1;
}

/* Where a trigger stood when the schedule was last looked at; SIZE_MAX: it is new. A schedule that does not tell was
 * kept before triggers had keys. */
static size_t place_before(const struct ebb_schedule *schedule, uint64_t key, size_t index)
{
    bool is_told = false;

    if (schedule->keys[index] == key)
        return index;
    for (size_t i = 0; i < EBB_POLICY_TRIGGERS_MAX; i++) {
        if (schedule->keys[i] == key)
            return i;
        is_told = is_told || schedule->keys[i];
    }
    return is_told ? SIZE_MAX : index;
}

/* Number of the newest event from outside. */
static int64_t newest_told(const struct ebb_value *facts)
{
    const struct ebb_value *events = ebb_value_get(facts, "events");
    int64_t newest = 0;

    for (size_t i = 0; i < ebb_value_get_count(events); i++)
        newest = later(newest, ebb_value_int_of(ebb_value_get_at(events, i), "seq", 0));
    return newest;
}

void ebb__schedule_align(const struct ebb_schedule_input *in, struct ebb_schedule *schedule)
{
    struct ebb_schedule before = *schedule;
    size_t count = ebb_settings_get_trigger_count(in->settings);

    memset(schedule->keys, 0, sizeof schedule->keys);
    memset(schedule->fired_ms, 0, sizeof schedule->fired_ms);
    memset(schedule->told, 0, sizeof schedule->told);
    for (size_t i = 0; i < count && i < EBB_POLICY_TRIGGERS_MAX; i++) {
        uint64_t key = key_of(ebb_settings_get_trigger(in->settings, i));
        size_t place = place_before(&before, key, i);

        schedule->keys[i] = key;
        schedule->fired_ms[i] = place == SIZE_MAX ? in->now_ms : before.fired_ms[place];
        schedule->told[i] = place == SIZE_MAX || !before.active_since_ms ? newest_told(in->facts) : before.told[place];
    }
}

/* A new revision is noted: it ends a pause after failures. */
static void note_revision(const struct ebb_schedule_input *in, struct ebb_schedule *schedule)
{
    const char *bundle = ebb_policy_get_bundle(in->policy);
    uint64_t revision = XXH3_64bits(bundle, strlen(bundle));

    if (schedule->revision && schedule->revision != revision)
        schedule->revised_ms = in->now_ms;
    schedule->revision = revision;
}

/* ---- history in the facts ---- */

int64_t ebb__schedule_last_run(const struct ebb_value *facts, bool success, const char *key)
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

int64_t ebb__schedule_count_from(const struct ebb_schedule_input *in, const struct ebb_schedule *schedule, size_t index,
                                 int64_t base_ms)
{
    int64_t fired = schedule->fired_ms[index], base = base_ms;

    if (fired > ebb__schedule_last_run(in->facts, false, "started"))
        base = later(base, fired);
    return later(base, schedule->active_since_ms);
}

/* ---- events ---- */

/* When it became known. */
static int64_t arrived(const struct ebb_value *event)
{
    int64_t at = ebb_value_int_of(event, "at", 0);

    return ebb_value_int_of(event, "seq", 0) > 0 ? ebb_value_int_of(event, "received", at) : at;
}

static bool is_within(const struct ebb_value *event, const struct ebb__span *span)
{
    int64_t seq = ebb_value_int_of(event, "seq", 0), at = arrived(event);

    if (seq > 0 && span->since_seq >= 0)
        return seq > span->since_seq && seq <= span->until_seq;
    return at > span->since_ms && at <= span->until_ms;
}

int ebb__schedule_takes_event(const struct ebb_schedule_input *in, size_t index, const struct ebb_value *event,
                              const struct ebb__span *span, bool *out, struct ebb_err *err)
{
    const struct ebb_trigger *t = ebb_settings_get_trigger(in->settings, index);
    const char *type = ebb_value_text_of(event, "type");

    *out = false;
    if (!type || strcmp(type, t->text) || !is_within(event, span))
        return 0;
    if (ebb_settings_get_guard(in->settings)->ignore_own && ebb_value_bool_of(event, "own", false))
        return 0;
    return ebb_policy_filter_event(in->policy, index, event, out, err);
}

static void add_to(struct ebb__batch *batch, const struct ebb_value *event, int64_t now_ms)
{
    int64_t at = arrived(event);

    batch->is_ahead = batch->is_ahead || at > now_ms;
    batch->first_ms = batch->count && batch->first_ms < at ? batch->first_ms : at;
    batch->last_ms = batch->count ? later(batch->last_ms, at) : at;
    batch->last_seq = later(batch->last_seq, ebb_value_int_of(event, "seq", 0));
    batch->count++;
}

int ebb__schedule_gather(const struct ebb_schedule_input *in, size_t index, const struct ebb__span *span,
                         struct ebb__batch *out, struct ebb_err *err)
{
    const struct ebb_value *events = ebb_value_get(in->facts, "events");
    int rc = 0;

    memset(out, 0, sizeof *out);
    for (size_t i = 0; !rc && i < ebb_value_get_count(events); i++) {
        const struct ebb_value *event = ebb_value_get_at(events, i);
        bool is_one = false;

        rc = ebb__schedule_takes_event(in, index, event, span, &is_one, err);
        if (!rc && is_one)
            add_to(out, event, in->now_ms);
    }
    return rc;
}

/* ---- triggers ---- */

int64_t ebb__schedule_spread(const struct ebb_schedule_input *in, size_t index)
{
    int64_t spread_ms = ebb_settings_get_trigger(in->settings, index)->spread_ms;
    const char *parts[] = {ebb_policy_get_name(in->policy), "\n", in->uuid, "\n", NULL};
    char number[24];
    XXH3_state_t state;
    uint64_t hash;

    if (spread_ms < 1000 || !in->uuid)
        return 0;
    snprintf(number, sizeof number, "%zu", index);
    parts[4] = number;
    XXH3_64bits_reset(&state); /* needs no memory: an offset that depended on it would move the time */
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        XXH3_64bits_update(&state, parts[i], strlen(parts[i]));
    hash = XXH3_64bits_digest(&state);
    return (int64_t)(hash % (uint64_t)(spread_ms / 1000)) * 1000; /* whole seconds: it is read by people */
}

/* late_by is counted from the nominal time, the spread included; catch_up = "none" from when it was to fire. */
static bool is_too_late(const struct judging *j, const struct ebb_trigger *t, int64_t nominal_ms, int64_t spread_ms)
{
    int64_t late_ms = j->in->now_ms - nominal_ms;

    return (t->late_by_ms >= 0 && late_ms > t->late_by_ms) ||
           (t->catch_up == EBB_CATCH_UP_NONE && late_ms - spread_ms > ON_TIME_MS);
}

/* Of `count` occurrences after since, the last of them `latest`: the one to run now. catch_up = "all" takes the latest
 * `max` one after the other, the first of them stands for the rest too. */
static void pick(const struct ebb_trigger *t, int64_t since, int64_t latest, int64_t count, struct ebb_due *out)
{
    int64_t at = latest;

    out->is_due = true;
    out->kind = count > 1 ? "catch_up" : "time";
    out->missed = count - 1;
    if (t->catch_up == EBB_CATCH_UP_ALL && count > t->catch_up_max) {
        for (int64_t i = 1; i < t->catch_up_max; i++)
            if (!ebb_calendar_last(t->calendar, at - 1, &at))
                break;
        out->missed = count - t->catch_up_max;
    } else if (t->catch_up == EBB_CATCH_UP_ALL && ebb_calendar_next(t->calendar, since, &at)) {
        out->missed = 0;
    }
    out->scheduled_for_ms = at;
}

static void judge_calendar(const struct judging *j, const struct ebb_trigger *t, size_t index, struct ebb_due *out)
{
    int64_t spread = ebb__schedule_spread(j->in, index);
    int64_t since = later(j->schedule->fired_ms[index], j->schedule->active_since_ms);
    int64_t latest;

    if (!ebb_calendar_last(t->calendar, j->in->now_ms - spread, &latest) || latest <= since)
        return;
    if (is_too_late(j, t, latest, spread)) {
        j->schedule->dropped += ebb_calendar_count(t->calendar, since, latest);
        j->schedule->fired_ms[index] = latest;
        out->is_dropped = true;
        return;
    }
    pick(t, since, latest, ebb_calendar_count(t->calendar, since, latest), out);
}

/* Steps counted from the last run. */
static void judge_since_run(const struct judging *j, const struct ebb_trigger *t, size_t index, struct ebb_due *out)
{
    int64_t from = ebb__schedule_count_from(
        j->in, j->schedule, index,
        ebb__schedule_last_run(j->in->facts, false, t->anchor == EBB_ANCHOR_LAST_END ? "ended" : "started"));
    int64_t spread = ebb__schedule_spread(j->in, index), passed_ms = j->in->now_ms - spread - from;
    int64_t steps = t->step_ms > 0 ? passed_ms / t->step_ms : 0;
    int64_t latest = from + steps * t->step_ms;

    if (passed_ms < 0 || steps < 1)
        return;
    if (is_too_late(j, t, latest, spread)) {
        j->schedule->fired_ms[index] = latest;
        j->schedule->dropped += steps;
        out->is_dropped = true;
        return;
    }
    out->is_due = true;
    out->kind = steps > 1 ? "catch_up" : "time";
    out->scheduled_for_ms = latest;
    out->missed = steps - 1;
}

static int judge_count(const struct judging *j, const struct ebb_trigger *t, size_t index, struct ebb_due *out,
                       struct ebb_err *err)
{
    int64_t since = ebb__schedule_count_from(
        j->in, j->schedule, index, ebb__schedule_last_run(j->in->facts, t->since == EBB_SINCE_LAST_SUCCESS, "started"));
    const struct ebb__span span = {since, j->in->now_ms, -1, 0};
    struct ebb__batch batch;
    int rc = ebb__schedule_gather(j->in, index, &span, &batch, err);

    if (rc || batch.count < t->n)
        return rc;
    out->is_due = true;
    out->kind = "count";
    out->scheduled_for_ms = j->in->now_ms;
    return 0;
}

/* Debounce: quiet since the last event, or held for max_hold since the first. After a clock that was ahead nobody knows
 * how long it was quiet. */
static bool is_quiet(const struct ebb__batch *batch, const struct ebb_trigger *t, int64_t now_ms)
{
    return batch->is_ahead || now_ms - batch->last_ms >= t->debounce_ms ||
           (t->max_hold_ms > 0 && now_ms - batch->first_ms >= t->max_hold_ms);
}

static int judge_event(const struct judging *j, const struct ebb_trigger *t, size_t index, struct ebb_due *out,
                       struct ebb_err *err)
{
    int64_t fired = j->schedule->fired_ms[index], since = later(fired, j->schedule->active_since_ms);
    const struct ebb__span span = {since, j->in->now_ms, j->schedule->told[index], INT64_MAX};
    struct ebb__batch batch;
    int rc = ebb__schedule_gather(j->in, index, &span, &batch, err);

    if (rc || !batch.count || !is_quiet(&batch, t, j->in->now_ms))
        return rc;
    out->is_due = true;
    out->kind = "event";
    out->scheduled_for_ms = batch.last_seq ? later(batch.last_ms, ebb__schedule_add(fired, 1)) : batch.last_ms;
    out->since_ms = since;
    out->since_seq = span.since_seq;
    out->until_seq = batch.last_seq;
    return 0;
}

static int judge_trigger(const struct judging *j, size_t index, struct ebb_due *out, struct ebb_err *err)
{
    const struct ebb_trigger *t = ebb_settings_get_trigger(j->in->settings, index);

    out->trigger = index;
    switch (t->kind) {
    case EBB_TRIGGER_CALENDAR:
    case EBB_TRIGGER_CRON:
    case EBB_TRIGGER_EVERY:
        if (t->calendar)
            judge_calendar(j, t, index, out);
        else
            judge_since_run(j, t, index, out);
        break;
    case EBB_TRIGGER_COUNT:
        return judge_count(j, t, index, out, err);
    case EBB_TRIGGER_EVENT:
        return judge_event(j, t, index, out, err);
    }
    return 0;
}

/* A pending defer that is due stands for the time triggers that are due with it: one instant, one decision. */
static void absorb(const struct judging *j, struct ebb_due *out)
{
    for (size_t i = 0; i < ebb_settings_get_trigger_count(j->in->settings); i++) {
        const struct ebb_trigger *t = ebb_settings_get_trigger(j->in->settings, i);
        struct ebb_due due;

        if (t->kind > EBB_TRIGGER_EVERY || t->catch_up == EBB_CATCH_UP_ALL)
            continue;
        memset(&due, 0, sizeof due);
        if (t->calendar)
            judge_calendar(j, t, i, &due);
        else
            judge_since_run(j, t, i, &due);
        if (!due.is_due)
            continue;
        j->schedule->fired_ms[i] = due.scheduled_for_ms;
        out->missed += due.missed;
        if (due.scheduled_for_ms + ebb__schedule_spread(j->in, i) < j->in->now_ms)
            out->missed++;
    }
}

static void make_deferred(const struct judging *j, struct ebb_due *out)
{
    out->is_due = true;
    out->kind = "deferred";
    out->trigger = SIZE_MAX;
    out->scheduled_for_ms = j->schedule->deferred_until_ms;
    absorb(j, out);
}

int ebb_schedule_due(const struct ebb_schedule_input *in, struct ebb_schedule *schedule, struct ebb_due *out,
                     struct ebb_err *err)
{
    struct judging j = {in, schedule};
    bool dropped = false;
    int rc = 0;

    memset(out, 0, sizeof *out);
    ebb__schedule_align(in, schedule);
    if (!schedule->active_since_ms || schedule->active_since_ms > in->now_ms)
        schedule->active_since_ms = in->now_ms;
    note_revision(in, schedule);
    if (schedule->deferred_until_ms && schedule->deferred_until_ms <= in->now_ms) {
        make_deferred(&j, out);
        return 0;
    }
    for (size_t i = 0; !rc && !out->is_due && i < ebb_settings_get_trigger_count(in->settings); i++) {
        rc = judge_trigger(&j, i, out, err);
        dropped = dropped || out->is_dropped;
    }
    out->is_dropped = dropped;
    return rc;
}

/* ---- what a decision makes of it ---- */

int64_t ebb__schedule_add(int64_t at_ms, int64_t by_ms)
{
    int64_t sum;

    return __builtin_add_overflow(at_ms, by_ms, &sum) ? by_ms < 0 ? INT64_MIN : INT64_MAX : sum;
}

int64_t ebb__schedule_deadline(const struct ebb_schedule_input *in, size_t index, int64_t nominal_ms)
{
    const struct ebb_trigger *t = ebb_settings_get_trigger(in->settings, index);
    int64_t next = INT64_MAX;

    if (t->late_by_ms >= 0)
        return ebb__schedule_add(nominal_ms, t->late_by_ms);
    if (t->calendar && !ebb_calendar_next(t->calendar, nominal_ms, &next))
        next = INT64_MAX;
    else if (!t->calendar && t->kind == EBB_TRIGGER_EVERY)
        next = ebb__schedule_add(nominal_ms, t->step_ms);
    return ebb__schedule_add(next, ebb__schedule_spread(in, index));
}

bool ebb_schedule_defer(const struct ebb_schedule_input *in, const struct ebb_due *due, int64_t until_ms, bool by_guard,
                        struct ebb_schedule *schedule)
{
    int64_t until = until_ms ? until_ms : in->now_ms, deadline = INT64_MAX;

    if (by_guard && due->trigger != SIZE_MAX)
        deadline = ebb__schedule_deadline(in, due->trigger, due->scheduled_for_ms);
    else if (by_guard && schedule->deferred_deadline_ms)
        deadline = schedule->deferred_deadline_ms;
    if (until > deadline) {
        schedule->dropped++;
        return false;
    }
    if (!schedule->deferred_until_ms || until < schedule->deferred_until_ms) {
        schedule->deferred_until_ms = until;
        schedule->deferred_deadline_ms = deadline < INT64_MAX ? deadline : 0;
    } else if (until == schedule->deferred_until_ms && schedule->deferred_deadline_ms &&
               deadline > schedule->deferred_deadline_ms) {
        schedule->deferred_deadline_ms = deadline < INT64_MAX ? deadline : 0;
    }
    return true;
}

/* The latest events of the occurrence, in their order. */
static int add_events(const struct ebb_schedule_input *in, const struct ebb_due *due, struct ebb_value *list,
                      struct ebb_err *err)
{
    const struct ebb_value *events = ebb_value_get(in->facts, "events"), *taken[TRIGGER_EVENTS_MAX];
    const struct ebb__span span = {due->since_ms, due->scheduled_for_ms, due->since_seq, due->until_seq};
    size_t count = 0;
    int rc = 0;

    for (size_t i = ebb_value_get_count(events); !rc && i-- > 0 && count < TRIGGER_EVENTS_MAX;) {
        bool is_one = false;

        rc = ebb__schedule_takes_event(in, due->trigger, ebb_value_get_at(events, i), &span, &is_one, err);
        if (!rc && is_one)
            taken[count++] = ebb_value_get_at(events, i);
    }
    while (!rc && count > 0)
        ebb_value_add_copy(list, taken[--count]);
    return rc;
}

int ebb_schedule_trigger(const struct ebb_schedule_input *in, const struct ebb_due *due, struct ebb_value **out,
                         struct ebb_err *err)
{
    struct ebb_value *v = ebb_value_new_map(NULL);
    struct ebb_value *list;
    int rc = 0;

    ebb_value_put_str(v, "kind", due->kind);
    ebb_value_put_int(v, "scheduled_for", due->scheduled_for_ms);
    ebb_value_put_int(v, "missed", due->missed);
    list = ebb_value_put_list(v, "events");
    if (!strcmp(due->kind, "event"))
        rc = add_events(in, due, list, err);
    if (!rc)
        rc = ebb_value_check(v, "trigger", err);
    if (rc) {
        ebb_value_free(v);
        v = NULL;
    }
    *out = v;
    return rc;
}
