/* SPDX-License-Identifier: Apache-2.0
 *
 * When to look again: the next instant at which judging the triggers may tell something new.
 */
#include "service/preview.h"
#include "service/schedule_priv.h"

struct waking {
    const struct ebb_schedule_input *in;
    const struct ebb_schedule *schedule;
    int64_t at_ms; /* the earliest so far */
};

/* Only what lies ahead can be new. */
static void note(struct waking *w, int64_t at_ms)
{
    if (at_ms > w->in->now_ms && at_ms < w->at_ms)
        w->at_ms = at_ms;
}

/* A schedule that was never used, or activated by a clock that was ahead, becomes active now. */
static int64_t active_since(const struct waking *w)
{
    int64_t since = w->schedule->active_since_ms;

    return !since || since > w->in->now_ms ? w->in->now_ms : since;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The first fire after now of what did not fire before. */
static void wake_calendar(struct waking *w, const struct ebb_trigger *t, size_t index)
{
    int64_t spread = ebb__schedule_spread(w->in, index);
    int64_t since = later(w->schedule->fired_ms[index], active_since(w)), nominal;

    if (ebb_calendar_next(t->calendar, later(since, w->in->now_ms - spread), &nominal))
        note(w, ebb__schedule_add(nominal, spread));
}

static void wake_since_run(struct waking *w, const struct ebb_trigger *t, size_t index)
{
    const char *key = t->anchor == EBB_ANCHOR_LAST_END ? "ended" : "started";
    int64_t last = ebb__schedule_last_run(w->in->facts, false, key), spread = ebb__schedule_spread(w->in, index);
    int64_t from = later(ebb__schedule_count_from(w->in, w->schedule, index, last), active_since(w));
    int64_t passed = w->in->now_ms - spread - from;
    int64_t steps = passed >= 0 && t->step_ms > 0 ? passed / t->step_ms + 1 : 1;

    note(w, ebb__schedule_add(ebb__schedule_add(from, steps * t->step_ms), spread));
}

/* Events may be known that are still to come. */
static int wake_to_come(struct waking *w, size_t index, struct ebb_err *err)
{
    const struct ebb_value *events = ebb_value_get(w->in->facts, "events");
    const struct ebb__span span = {w->in->now_ms, INT64_MAX, 0, 0};
    int rc = 0;

    for (size_t i = 0; !rc && i < ebb_value_get_count(events); i++) {
        const struct ebb_value *event = ebb_value_get_at(events, i);
        bool is_one = false;

        rc = ebb__schedule_takes_event(w->in, index, event, &span, &is_one, err);
        if (!rc && is_one)
            note(w, ebb_value_int_of(event, "at", 0));
    }
    return rc;
}

/* The end of a debounce. */
static int wake_event(struct waking *w, const struct ebb_trigger *t, size_t index, struct ebb_err *err)
{
    const struct ebb__span span = {later(w->schedule->fired_ms[index], active_since(w)), w->in->now_ms,
                                   w->schedule->told[index], INT64_MAX};
    struct ebb__batch batch;
    int rc = ebb__schedule_gather(w->in, index, &span, &batch, err);

    if (rc)
        return rc;
    if (batch.count)
        note(w, ebb__schedule_add(batch.last_ms, t->debounce_ms));
    if (batch.count && t->max_hold_ms > 0)
        note(w, ebb__schedule_add(batch.first_ms, t->max_hold_ms));
    return wake_to_come(w, index, err);
}

static int wake_trigger(struct waking *w, size_t index, struct ebb_err *err)
{
    const struct ebb_trigger *t = ebb_settings_get_trigger(w->in->settings, index);

    if (t->kind == EBB_TRIGGER_EVENT)
        return wake_event(w, t, index, err);
    if (t->kind == EBB_TRIGGER_COUNT)
        return wake_to_come(w, index, err);
    if (t->calendar)
        wake_calendar(w, t, index);
    else
        wake_since_run(w, t, index);
    return 0;
}

int ebb_schedule_wake(const struct ebb_schedule_input *in, const struct ebb_schedule *schedule, int64_t *out,
                      struct ebb_err *err)
{
    struct ebb_schedule aligned = *schedule;
    struct waking w = {in, &aligned, INT64_MAX};
    int rc = 0;

    ebb__schedule_align(in, &aligned);
    note(&w, schedule->deferred_until_ms);
    for (size_t i = 0; !rc && i < ebb_settings_get_trigger_count(in->settings); i++)
        rc = wake_trigger(&w, i, err);
    *out = rc ? INT64_MAX : w.at_ms;
    return rc;
}
