/* SPDX-License-Identifier: Apache-2.0
 *
 * Coming fires, in closed form: from one fire to the next there is one question to the guards ("when are you all
 * free?") and one to each trigger, however many occurrences lie between.
 */
#include "service/preview.h"

#include <stdio.h>

#include "service/schedule_priv.h"

#define HELD_INTERVAL 4u /* beside EBB_HELD_… */
/* Without any fire for so long there is none: the guards drop them all. */
#define HORIZON_MS ((int64_t)50 * 366 * 86400 * 1000)

struct previewing {
    const struct ebb_schedule_input *in;
    int64_t last_ms;     /* end of the last run, as far as known or foretold; INT64_MIN none */
    int64_t interval_ms; /* between runs; what those that are foretold change is not known: it stays as it is */
    int64_t at_ms;       /* fires up to here are told */
    int64_t start_ms;
};

/* One occurrence: when it would fire but for the guards. */
struct occurrence {
    size_t trigger;
    int64_t nominal_ms, fires_ms;
};

static const struct ebb_trigger *trigger_of(const struct previewing *p, size_t index)
{
    return ebb_settings_get_trigger(p->in->settings, index);
}

/* ---- triggers ---- */

/* Steps from the last run: never ran counts from the start of the preview. */
static int64_t step_base(const struct previewing *p)
{
    return p->last_ms == INT64_MIN ? p->start_ms : p->last_ms;
}

static bool nominal_next(const struct previewing *p, const struct ebb_trigger *t, int64_t after_ms, int64_t *out)
{
    int64_t base = step_base(p), steps;

    if (t->calendar)
        return ebb_calendar_next(t->calendar, after_ms, out);
    steps = after_ms < base ? 1 : (after_ms - base) / t->step_ms + 1;
    return !__builtin_mul_overflow(steps, t->step_ms, out) && !__builtin_add_overflow(*out, base, out);
}

static bool nominal_last(const struct previewing *p, const struct ebb_trigger *t, int64_t at_ms, int64_t *out)
{
    int64_t base = step_base(p);

    if (t->calendar)
        return ebb_calendar_last(t->calendar, at_ms, out);
    if (at_ms < base || at_ms - base < t->step_ms)
        return false;
    *out = base + (at_ms - base) / t->step_ms * t->step_ms;
    return true;
}

/* The first occurrence of all triggers after what was told; of equal ones that of the first trigger. */
static bool find_next(const struct previewing *p, struct occurrence *out)
{
    bool found = false;

    for (size_t i = 0; i < ebb_settings_get_trigger_count(p->in->settings); i++) {
        const struct ebb_trigger *t = trigger_of(p, i);
        int64_t spread, nominal;

        if (t->kind > EBB_TRIGGER_EVERY)
            continue;
        spread = ebb__schedule_spread(p->in, i);
        if (t->late_by_ms >= 0 && spread > t->late_by_ms) /* always too late */
            continue;
        if (!nominal_next(p, t, p->at_ms - spread, &nominal))
            continue;
        if (!found || ebb__schedule_add(nominal, spread) < out->fires_ms)
            *out = (struct occurrence){i, nominal, ebb__schedule_add(nominal, spread)};
        found = true;
    }
    return found;
}

/* ---- guards ---- */

/* The first instant from at_ms on at which all guards are free, and what is in the way until then. */
static bool free_from(const struct previewing *p, int64_t at_ms, int64_t *out, unsigned *by)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(p->in->settings);
    const struct ebb_value *flags = ebb_value_get(p->in->facts, "flags");
    int64_t end = p->last_ms == INT64_MIN ? INT64_MIN : ebb__schedule_add(p->last_ms, p->interval_ms);
    unsigned later = 0;
    bool is_free = ebb_guard_wait(guard, flags, at_ms, out, by);

    if (p->interval_ms <= 0 || end <= at_ms)
        return is_free;
    if (ebb_guard_is_quiet(guard, flags, at_ms))
        later |= EBB_HELD_QUIET;
    if (ebb_guard_is_blackout(guard, at_ms))
        later |= EBB_HELD_BLACKOUT;
    is_free = end < INT64_MAX && ebb_guard_wait(guard, flags, end, out, by);
    *by |= later | HELD_INTERVAL;
    return is_free;
}

/* The occurrence that waited for free_ms: the latest of the first trigger that has one which is not too late. */
static bool find_held(const struct previewing *p, int64_t after_ms, int64_t free_ms, struct occurrence *out)
{
    for (size_t i = 0; i < ebb_settings_get_trigger_count(p->in->settings); i++) {
        const struct ebb_trigger *t = trigger_of(p, i);
        int64_t spread, nominal, until;
        unsigned by;

        if (t->kind > EBB_TRIGGER_EVERY)
            continue;
        spread = ebb__schedule_spread(p->in, i);
        if (!nominal_last(p, t, free_ms - spread, &nominal) || nominal + spread <= after_ms ||
            free_ms > ebb__schedule_deadline(p->in, i, nominal))
            continue;
        if (!free_from(p, nominal + spread, &until, &by) || until != free_ms) /* it was free before, and ran */
            continue;
        *out = (struct occurrence){i, nominal, nominal + spread};
        return true;
    }
    return false;
}

/* ---- telling ---- */

static void say_local(const struct ebb_trigger *t, const struct ebb_calendar_wall *wall, struct ebb_fire *f)
{
    struct ebb_civil date;
    int64_t day = (wall->local_s - (wall->local_s % 86400 + 86400) % 86400) / 86400;
    int second = (int)(wall->local_s - day * 86400), used = (int)((wall->used_s % 86400 + 86400) % 86400);

    ebb_civil_of_days(day, &date);
    f->local_s = wall->local_s;
    snprintf(f->local, sizeof f->local, "%04lld-%02d-%02d %02d:%02d %.64s", (long long)date.year, date.month, date.day,
             second / 3600 % 24, second / 60 % 60, t->tz);
    snprintf(f->used, sizeof f->used, "%02d:%02d", used / 3600 % 24, used / 60 % 60);
}

static int say(struct ebb_fire *f, const char *word, struct ebb_err *err)
{
    return ebb_strs_add(&f->why, word, err);
}

static int say_spread(struct ebb_fire *f, int64_t spread_ms, struct ebb_err *err)
{
    char text[64];
    struct ebb_buf b = {.data = text, .cap = sizeof text, .max = sizeof text - 1};

    ebb_buf_puts(&b, "spread +");
    ebb_duration_format(&b, spread_ms);
    return say(f, ebb_buf_cstr(&b), err);
}

static int explain(const struct ebb_trigger *t, const struct occurrence *o, unsigned by, struct ebb_fire *f,
                   struct ebb_err *err)
{
    struct ebb_calendar_wall wall = {0};
    int rc = 0;

    if (t->calendar)
        ebb_calendar_wall(t->calendar, o->nominal_ms, &wall);
    else
        wall.local_s = wall.used_s = o->nominal_ms / 1000;
    f->has_nominal = !wall.is_gap;
    say_local(t, &wall, f);
    if (wall.is_gap)
        rc = say(f, "gap", err);
    if (!rc && wall.is_overlap)
        rc = say(f, "overlap", err);
    if (!rc && o->fires_ms > o->nominal_ms)
        rc = say_spread(f, o->fires_ms - o->nominal_ms, err);
    if (!rc && by & EBB_HELD_QUIET)
        rc = say(f, "quiet", err);
    if (!rc && by & EBB_HELD_BLACKOUT)
        rc = say(f, "blackout", err);
    return !rc && by & HELD_INTERVAL ? say(f, "min_interval", err) : rc;
}

static int tell(struct previewing *p, const struct occurrence *o, int64_t fires_ms, ebb_fire_cb *cb, void *data,
                struct ebb_err *err)
{
    struct ebb_fire f = {
        .trigger = o->trigger, .nominal_ms = o->nominal_ms, .fires_ms = fires_ms, .held_from_ms = o->fires_ms};
    unsigned by = 0;
    int64_t until;
    int rc;

    if (o->fires_ms < fires_ms)
        free_from(p, o->fires_ms, &until, &by);
    ebb_strs_init(&f.why);
    rc = explain(trigger_of(p, o->trigger), o, by, &f, err);
    if (!rc)
        rc = cb(data, &f, err);
    ebb_strs_fini(&f.why);
    return rc;
}

/* ---- the walk ---- */

/* The next fire. False in *found: there is none to tell of any more. */
static bool find_fire(struct previewing *p, bool is_first, struct occurrence *out, int64_t *fires_ms)
{
    int64_t horizon = ebb__schedule_add(p->at_ms, HORIZON_MS);
    struct occurrence o;
    unsigned by;

    /* What was held back before the start and is still waiting. */
    if (is_first && free_from(p, p->at_ms, fires_ms, &by) && *fires_ms > p->at_ms) {
        if (find_held(p, p->last_ms, *fires_ms, out))
            return true;
        p->at_ms = *fires_ms;
    }
    while (p->at_ms <= horizon) {
        if (!find_next(p, &o) || !free_from(p, o.fires_ms, fires_ms, &by))
            return false;
        if (*fires_ms == o.fires_ms) {
            *out = o;
            return true;
        }
        if (find_held(p, p->at_ms, *fires_ms, out))
            return true;
        p->at_ms = *fires_ms;
    }
    return false;
}

static int64_t last_end(const struct ebb_value *facts)
{
    int64_t ended = ebb__schedule_last_run(facts, false, "ended");

    return ended > 0 ? ended : INT64_MIN;
}

int ebb_preview(const struct ebb_schedule_input *in, int64_t from_ms, size_t n, ebb_fire_cb *cb, void *data,
                struct ebb_err *err)
{
    struct previewing p = {.in = in, .last_ms = last_end(in->facts), .at_ms = from_ms, .start_ms = from_ms};
    struct ebb_interval interval;
    int rc = 0;

    ebb_guard_interval(ebb_settings_get_guard(in->settings), in->facts, &interval);
    p.interval_ms = interval.ms;
    for (size_t i = 0; !rc && i < n; i++) {
        struct occurrence o;
        int64_t fires_ms;

        if (!find_fire(&p, i == 0, &o, &fires_ms))
            break;
        rc = tell(&p, &o, fires_ms, cb, data, err);
        p.at_ms = p.last_ms = fires_ms;
    }
    return rc;
}
