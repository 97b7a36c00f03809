/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards that make a run wait: intervals, back-off, quiet hours, blackouts.
 */
#include "engine/guards_priv.h"

#include <stdio.h>

#include "base/time.h"

/* What the instants are judged by: the guard of the settings, with the blackouts of the input where it has none. */
struct watch {
    struct ebb_guard guard;
    const struct ebb_value *flags;
    struct ebb_blackout days[EBB_POLICY_BLACKOUTS_MAX];
    struct ebb_tz *tz;
    bool has_failed; /* the blackouts can't be read: then every day is one */
    struct ebb_err err;
};

static void watch_init(struct watch *w, const struct ebb__eval *e, bool override_quiet)
{
    const struct ebb_decide_input *in = e->input;
    int rc;

    w->guard = *ebb_settings_get_guard(e->settings);
    w->flags = ebb_value_get(in->facts, "flags");
    w->tz = NULL;
    w->has_failed = false;
    if (override_quiet)
        w->guard.quiet_count = 0;
    if (w->guard.blackout_count || !in->blackouts)
        return;
    w->guard.blackouts = w->days;
    rc = ebb_blackouts_parse(in->blackouts, w->days, &w->guard.blackout_count, &w->err);
    if (!rc)
        rc = ebb_tz_load(in->blackout_tz ? in->blackout_tz : "UTC", &w->tz, &w->err);
    w->guard.blackout_tz = w->tz;
    w->has_failed = rc != 0;
    if (rc)
        w->guard.blackout_count = 0;
}

static void watch_fini(struct watch *w)
{
    ebb_tz_free(w->tz);
}

static int64_t add_ms(int64_t at, int64_t ms)
{
    int64_t sum;

    return __builtin_add_overflow(at, ms, &sum) ? INT64_MAX : sum;
}

/* From the end of the last run; elapsed time. Runs by hand don't wait: then the interval is 0. */
static int64_t interval_end(const struct ebb__eval *e, struct ebb_interval *interval)
{
    const struct ebb_value *last = ebb__runs_last(e->input, false);

    ebb_guard_interval(ebb_settings_get_guard(e->settings), e->input->facts, interval);
    if (!interval->ms || !last || ebb__guard_is_manual(e)) {
        *interval = (struct ebb_interval){0};
        return INT64_MIN;
    }
    return add_ms(ebb_value_int_of(last, "ended", ebb_value_int_of(last, "started", e->input->now_ms)), interval->ms);
}

/* "20d (5d, doubled 2 times: 6 runs changed nothing)" */
static void tell_interval(const struct ebb__eval *e, const struct ebb_interval *interval, struct ebb__guard_row *row)
{
    struct ebb_buf text = {.data = row->text, .cap = sizeof row->text, .max = sizeof row->text - 1};
    char times[16];

    if (!interval->doubled)
        return;
    snprintf(times, sizeof times, "%d times", interval->doubled);
    ebb_duration_format(&text, interval->ms);
    ebb_buf_puts(&text, " (");
    ebb_duration_format(&text, ebb_settings_get_guard(e->settings)->min_interval_ms);
    ebb_buf_printf(&text, ", doubled %s: %s%d runs changed nothing)", interval->doubled == 1 ? "once" : times,
                   interval->runs == EBB_GUARD_IDLE_MAX ? "the last " : "", interval->runs);
    ebb_buf_cstr(&text);
}

/* first × factor^k after `backoff_after` failures in a row. */
static int64_t backoff_end(const struct ebb__eval *e)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    const struct ebb_value *last = ebb__runs_last(e->input, false);
    int64_t failures = ebb__runs_failed_in_a_row(e->input);
    double wait = (double)guard->backoff_first_ms, max = (double)guard->backoff_max_ms;

    if (!guard->has_backoff || failures < guard->backoff_after || ebb__guard_is_manual(e))
        return INT64_MIN;
    for (int64_t i = guard->backoff_after; i < failures && wait < max; i++)
        wait *= guard->backoff_factor;
    return add_ms(ebb_value_int_of(last, "ended", e->input->now_ms),
                  wait < max ? (int64_t)wait : guard->backoff_max_ms);
}

static struct ebb__guard_row *add_wait(struct ebb__guards *g, const char *name, int64_t until, int64_t now)
{
    struct ebb__guard_row *row = ebb__guard_add(g, name, until <= now);

    row->has_until = until > now && until < INT64_MAX;
    row->until_ms = until;
    return row;
}

static void held_by(struct ebb__wait *wait, const char *name)
{
    if (!wait->by)
        wait->by = name;
}

/* An instant before which nothing starts. */
static struct ebb__guard_row *judge_end(struct ebb__guards *g, const char *name, int64_t end, int64_t now,
                                        struct ebb__wait *wait)
{
    struct ebb__guard_row *row = add_wait(g, name, end, now);

    if (end <= now)
        return row;
    held_by(wait, name);
    if (end > wait->until_ms)
        wait->until_ms = end;
    return row;
}

static void judge_interval(struct ebb__guards *g, const struct ebb__eval *e, struct ebb__wait *wait)
{
    struct ebb_interval interval;
    int64_t end = interval_end(e, &interval);

    tell_interval(e, &interval, judge_end(g, "guard.min_interval", end, e->input->now_ms, wait));
}

/* Windows on the calendar, looked at alone. */
static void judge_windows(struct ebb__guards *g, const char *name, const struct ebb_guard *guard,
                          const struct ebb_value *flags, int64_t now, struct ebb__wait *wait)
{
    int64_t end = now;

    if (ebb_guard_next_free(guard, flags, now, &end))
        add_wait(g, name, end, now);
    else
        ebb__guard_add(g, name, false);
    if (ebb_guard_is_quiet(guard, flags, now) || ebb_guard_is_blackout(guard, now))
        held_by(wait, name);
}

static void judge_blackouts(struct ebb__guards *g, const struct watch *w, int64_t now, struct ebb__wait *wait)
{
    struct ebb_guard alone = w->guard;

    alone.quiet_count = 0;
    if (w->has_failed) {
        snprintf(ebb__guard_add(g, "guard.blackout", false)->text, sizeof g->rows[0].text, "%.190s", w->err.message);
        held_by(wait, "guard.blackout");
    } else if (w->guard.blackout_count) {
        judge_windows(g, "guard.blackout", &alone, w->flags, now, wait);
    }
}

void ebb__guard_waits(struct ebb__guards *g, const struct ebb__eval *e, bool override_quiet, struct ebb__wait *out)
{
    int64_t now = e->input->now_ms;
    struct ebb_guard alone;
    struct watch w;

    watch_init(&w, e, override_quiet);
    *out = (struct ebb__wait){.until_ms = now};
    judge_interval(g, e, out);
    if (w.guard.has_backoff)
        judge_end(g, "guard.backoff", backoff_end(e), now, out);
    alone = w.guard;
    alone.blackout_count = 0;
    judge_windows(g, "guard.quiet", &alone, w.flags, now, out);
    judge_blackouts(g, &w, now, out);
    out->has_end = !w.has_failed && ebb_guard_next_free(&w.guard, w.flags, out->until_ms, &out->until_ms);
    watch_fini(&w);
}

/* ---- where a run would have to stop ---- */

static void note_start(const struct ebb_tz *tz, int64_t local_s, int64_t now, int64_t *first)
{
    int64_t at_s[2];
    int count = ebb_tz_instants(tz, local_s, at_s);

    for (int i = 0; i < (count > 1 ? 2 : 1); i++)
        if (at_s[i] * 1000 > now && at_s[i] * 1000 < *first)
            *first = at_s[i] * 1000;
}

/* The next start of a window: on one of the next days. */
static void note_window(const struct ebb_quiet *q, int64_t now, int64_t *first)
{
    struct ebb_civil date;
    int64_t today;

    ebb_tz_civil(q->tz, now / 1000, &date);
    today = ebb_civil_days(date.year, date.month, date.day);
    for (int64_t day = today - 1; day <= today + 8; day++) {
        ebb_civil_of_days(day, &date);
        if (q->days >> date.weekday & 1)
            note_start(q->tz, day * 86400 + q->from_minute * 60, now, first);
    }
}

int64_t ebb__guard_next_stop(const struct ebb__eval *e, bool override_quiet)
{
    int64_t first = INT64_MAX, now = e->input->now_ms;
    struct watch w;

    watch_init(&w, e, override_quiet);
    for (size_t i = 0; i < w.guard.quiet_count; i++) {
        const struct ebb_quiet *q = &w.guard.quiet[i];

        if (!q->only_if || ebb_value_bool_of(w.flags, q->only_if, false))
            note_window(q, now, &first);
    }
    for (size_t i = 0; i < w.guard.blackout_count; i++)
        note_start(w.guard.blackout_tz, w.guard.blackouts[i].first_day * 86400, now, &first);
    watch_fini(&w);
    return first;
}
