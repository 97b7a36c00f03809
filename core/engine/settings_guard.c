/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "engine/settings_priv.h"

#define MINUTE_MS ((int64_t)60000)
#define SEARCH_MS ((int64_t)15 * 24 * 3600 * 1000)

static enum ebb_overlap overlap_of(const char *text)
{
    if (text && !strcmp(text, "queue_one"))
        return EBB_OVERLAP_QUEUE_ONE;
    return text && !strcmp(text, "cancel_running") ? EBB_OVERLAP_CANCEL : EBB_OVERLAP_SKIP;
}

static enum ebb_exceed exceed_of(const struct ebb_value *limits)
{
    const char *text = ebb_value_text_of(limits, "on_exceed");

    return text && !strcmp(text, "trim") ? EBB_EXCEED_TRIM : EBB_EXCEED_HOLD;
}

static int put_quiet(struct ebb_settings *s, const struct ebb_value *m, struct ebb_quiet *q, struct ebb_err *err)
{
    const char *tz = ebb__settings_text(s, m, "tz"), *days = ebb_value_text_of(m, "days");

    q->days = 0x7f;
    if (days)
        ebb__days_parse(days, &q->days);
    ebb__minute_parse(ebb_value_text_of(m, "from"), &q->from_minute);
    ebb__minute_parse(ebb_value_text_of(m, "to"), &q->to_minute);
    q->only_if = ebb_value_text_of(m, "only_if");
    return ebb__settings_zone(s, tz ? tz : "UTC", &q->tz, err);
}

static int put_quiets(struct ebb_settings *s, const struct ebb_value *list, struct ebb_err *err)
{
    size_t count = ebb_value_get_kind(list) == EBB_VALUE_LIST ? ebb_value_get_count(list) : 0;
    struct ebb_guard always;
    int64_t free_ms;
    int rc = 0;

    for (size_t i = 0; i < count && i < EBB_POLICY_QUIET_MAX && !rc; i++) {
        rc = put_quiet(s, ebb_value_get_at(list, i), &s->quiet[i], err);
        s->guard.quiet_count = i + 1;
    }
    s->guard.quiet = s->quiet;
    always = s->guard;
    if (!rc && !ebb_guard_next_free(&always, NULL, 0, &free_ms))
        rc = ebb_err_set(err, EBB_ECONFIG, "guard.quiet: there is no time that is not quiet");
    return rc;
}

static void put_limits(struct ebb_settings *s, const struct ebb_value *guard)
{
    const struct ebb_value *deletes = ebb_value_get(guard, "deletes"), *rewrites = ebb_value_get(guard, "rewrites");
    struct ebb_guard *g = &s->guard;

    g->deletes_max_files = ebb_value_get_int(ebb__settings_value(s, deletes, "max_files"), 0);
    g->deletes_max_share = ebb_value_get_float(ebb__settings_value(s, deletes, "max_share"), 0);
    g->deletes_max_bytes = ebb__settings_size(s, deletes, "max_bytes");
    g->deletes_on_exceed = exceed_of(deletes);
    g->rewrites_max_files = ebb_value_get_int(ebb__settings_value(s, rewrites, "max_files"), 0);
    g->rewrites_max_bytes = ebb__settings_size(s, rewrites, "max_bytes");
    g->rewrites_on_exceed = exceed_of(rewrites);
}

static void put_backoff(struct ebb_settings *s, const struct ebb_value *backoff)
{
    struct ebb_guard *g = &s->guard;

    g->has_backoff = backoff != NULL;
    g->backoff_after = ebb_value_int_of(backoff, "after_failures", 1);
    g->backoff_first_ms = ebb__settings_duration(s, backoff, "first", 0);
    g->backoff_factor = ebb_value_get_float(ebb_value_get(backoff, "factor"), 2);
    g->backoff_max_ms = ebb__settings_duration(s, backoff, "max", (int64_t)24 * 3600 * 1000);
}

static int check_share(const struct ebb_guard *g, struct ebb_err *err)
{
    if (g->deletes_max_share < 0 || g->deletes_max_share > 1)
        return ebb_err_set(err, EBB_ECONFIG, "guard.deletes.max_share: not above 0 and at most 1");
    if (g->deletes_max_files < 0 || g->rewrites_max_files < 0)
        return ebb_err_set(err, EBB_ECONFIG, "guard: max_files is negative");
    return 0;
}

int ebb__settings_guard(struct ebb_settings *s, struct ebb_err *err)
{
    const struct ebb_value *guard = ebb_value_get(s->policy->manifest, "guard");
    const struct ebb_value *fleet = ebb_value_get(guard, "fleet");
    struct ebb_guard *g = &s->guard;
    int rc;

    g->overlap = overlap_of(ebb_value_text_of(guard, "overlap"));
    g->min_interval_ms = ebb__settings_duration(s, guard, "min_interval", 0);
    g->timeout_ms = ebb__settings_duration(s, guard, "timeout", 0);
    g->ignore_own = ebb_value_bool_of(guard, "ignore_own", true);
    g->stop_in_quiet = ebb_value_bool_of(guard, "stop_in_quiet", false);
    g->pause_after = ebb_value_get_int(ebb__settings_value(s, guard, "pause_after"), 0);
    g->fleet_slot = ebb_value_text_of(fleet, "slot");
    g->fleet_max_running = ebb_value_get_int(ebb__settings_value(s, fleet, "max_running"), 0);
    put_limits(s, guard);
    put_backoff(s, ebb_value_get(guard, "backoff"));
    rc = check_share(g, err);
    return rc ? rc : put_quiets(s, ebb_value_get(guard, "quiet"), err);
}

/* Local wall time: weekday, ms of the day. */
static int64_t wall_ms(const struct ebb_tz *tz, int64_t at_ms, int *weekday)
{
    int64_t ms = (at_ms % 1000 + 1000) % 1000;
    struct ebb_civil c;

    ebb_tz_civil(tz, (at_ms - ms) / 1000, &c);
    *weekday = c.weekday;
    return ((int64_t)c.hour * 3600 + c.minute * 60 + c.second) * 1000 + ms;
}

static bool is_in_window(const struct ebb_quiet *q, int64_t at_ms)
{
    int day;
    int64_t now = wall_ms(q->tz, at_ms, &day);
    int64_t from = q->from_minute * MINUTE_MS, to = q->to_minute * MINUTE_MS;
    bool starts_today = q->days >> day & 1, started_yesterday = q->days >> ((day + 6) % 7) & 1;

    if (from == 0 && to == 0)
        return starts_today;
    if (from < to)
        return starts_today && now >= from && now < to;
    return (starts_today && now >= from) || (started_yesterday && now < to);
}

bool ebb_guard_is_quiet(const struct ebb_guard *guard, const struct ebb_value *flags, int64_t at_ms)
{
    for (size_t i = 0; i < guard->quiet_count; i++) {
        const struct ebb_quiet *q = &guard->quiet[i];

        if (q->only_if && !ebb_value_bool_of(flags, q->only_if, false))
            continue;
        if (is_in_window(q, at_ms))
            return true;
    }
    return false;
}

/* ms to the next full minute on the first wall clock; zones of today differ by whole minutes. */
static int64_t to_next_minute(const struct ebb_guard *guard, int64_t at_ms)
{
    int day;

    return MINUTE_MS - wall_ms(guard->quiet[0].tz, at_ms, &day) % MINUTE_MS;
}

/* Windows begin and end, and clocks change, at full minutes: look at each. */
bool ebb_guard_next_free(const struct ebb_guard *guard, const struct ebb_value *flags, int64_t at_ms, int64_t *out_ms)
{
    for (int64_t at = at_ms; at - at_ms <= SEARCH_MS; at += to_next_minute(guard, at)) {
        if (ebb_guard_is_quiet(guard, flags, at))
            continue;
        *out_ms = at;
        return true;
    }
    return false;
}
