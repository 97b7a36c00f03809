/* SPDX-License-Identifier: Apache-2.0
 *
 * Triggers against guards, with the defaults of the parameters put in.
 */
#include <stdio.h>

#include "engine/diagnose_priv.h"
#include "engine/lint_priv.h"

#define HOUR_MS ((int64_t)3600000)
#define START_MS ((int64_t)20454 * 24 * HOUR_MS) /* 2026-01-01: what is found must not depend on the day */
#define FIRES_MAX 400
#define SPAN_MS ((int64_t)400 * 24 * HOUR_MS)

struct looking {
    const struct ebb_policy *policy;
    const struct ebb_guard *guard;
    struct ebb__places places;
    struct ebb_diagnostics *diags;
};

static void find_as(struct looking *l, bool is_error, const char *path, const char *code, const char *hint,
                    const char *message)
{
    struct ebb__finding f = {
        .file = l->policy->file, .is_error = is_error, .code = code, .hint = hint, .message = message};

    f.source = (struct ebb_str){l->policy->source, l->policy->source_bytes};
    ebb__places_find(&l->places, path, &f.line, &f.column);
    ebb__diagnose(l->diags, &f);
}

static void find(struct looking *l, const char *path, const char *code, const char *hint, const char *message)
{
    find_as(l, false, path, code, hint, message);
}

/* Shortest distance of two fires within a good year, or of the first few hundred. */
static int64_t period_of(const struct ebb_trigger *t)
{
    int64_t at, next, shortest = INT64_MAX;

    if (t->kind == EBB_TRIGGER_EVERY)
        return t->step_ms;
    if (!t->calendar || !ebb_calendar_next(t->calendar, START_MS, &at))
        return shortest;
    for (int i = 0; i < FIRES_MAX && ebb_calendar_next(t->calendar, at, &next); i++) {
        if (next - START_MS > SPAN_MS)
            break;
        if (next - at < shortest)
            shortest = next - at;
        at = next;
    }
    return shortest;
}

static void look_at_time(struct looking *l, const struct ebb_trigger *t, const char *path)
{
    int64_t period = period_of(t), interval = l->guard->min_interval_ms;
    char place[80];

    snprintf(place, sizeof place, "%s.spread", path);
    if (t->spread_ms && t->spread_ms >= period)
        find(l, place, "lint.spread_too_long", "a spread is part of the period: make it shorter",
             "the spread is not shorter than the time from one fire to the next");
    else if (interval && period < INT64_MAX && interval > period - HOUR_MS - t->spread_ms)
        find(l, "guard.min_interval", "lint.interval_drift", "leave an hour, the spread and the time that a run takes",
             "guard.min_interval leaves less than an hour and the spread of the period: runs will drift or drop");
    snprintf(place, sizeof place, "%s.late_by", path);
    if (t->late_by_ms >= 0 && t->late_by_ms < t->spread_ms)
        find(l, place, "lint.late_by", "lateness counts from the nominal time: make it longer than the spread",
             "late_by ends before the spread does: tables at its end would never run");
}

/* Both day fields restricted: a field that begins with '*' is not. */
static bool has_both_days(const char *cron)
{
    char fields[5][64];

    if (sscanf(cron, "%63s %63s %63s %63s %63s", fields[0], fields[1], fields[2], fields[3], fields[4]) != 5)
        return false;
    return fields[2][0] != '*' && fields[4][0] != '*';
}

static void look_at(struct looking *l, const struct ebb_trigger *t, size_t index)
{
    char path[40];

    snprintf(path, sizeof path, "triggers[%zu]", index + 1);
    if (t->kind == EBB_TRIGGER_COUNT || t->kind == EBB_TRIGGER_EVENT) {
        if (!l->guard->min_interval_ms) /* policies that answer each other's commits would go on for ever */
            find_as(l, true, path, "lint.no_min_interval", "add guard.min_interval",
                    "a trigger by events without guard.min_interval: a busy table would run without end");
        return;
    }
    look_at_time(l, t, path);
    if (t->kind == EBB_TRIGGER_CRON && has_both_days(t->text))
        find(l, path, "lint.cron_days", "use time.calendar when both must fit",
             "day of month and weekday are both given: cron fires when either fits");
}

int ebb__lint_schedule(const struct ebb_policy *policy, struct ebb_diagnostics *diags, struct ebb_err *err)
{
    struct looking l = {.policy = policy, .diags = diags};
    struct ebb_settings *settings = NULL;
    int rc = ebb_settings_new(policy, NULL, NULL, &settings, err);

    if (rc)
        return rc;
    l.guard = ebb_settings_get_guard(settings);
    ebb__places_init(&l.places, (struct ebb_str){policy->source, policy->source_bytes});
    for (size_t i = 0; i < ebb_settings_get_trigger_count(settings); i++)
        look_at(&l, ebb_settings_get_trigger(settings, i), i);
    ebb__places_fini(&l.places);
    ebb_settings_free(settings);
    return 0;
}
