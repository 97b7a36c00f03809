/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "engine/settings_priv.h"

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

/* Add the windows of a list. */
static int put_quiets(struct ebb_settings *s, const struct ebb_value *list, struct ebb_err *err)
{
    size_t count = ebb_value_get_kind(list) == EBB_VALUE_LIST ? ebb_value_get_count(list) : 0;
    int rc = 0;

    for (size_t i = 0; i < count && i < EBB_POLICY_QUIET_MAX && !rc; i++)
        rc = put_quiet(s, ebb_value_get_at(list, i), &s->quiet[s->guard.quiet_count++], err);
    s->guard.quiet = s->quiet;
    return rc;
}

static int check_quiets(const struct ebb_guard *g, struct ebb_err *err)
{
    int64_t free_ms;

    if (ebb_guard_next_free(g, NULL, 0, &free_ms))
        return 0;
    return ebb_err_set(err, EBB_ECONFIG, "guard.quiet: there is no time that is not quiet");
}

static int put_blackouts(struct ebb_settings *s, const struct ebb_settings_site *site, struct ebb_err *err)
{
    const char *zone = site->blackout_tz ? site->blackout_tz : "UTC";
    int rc;

    if (!site->blackouts)
        return 0;
    s->blackouts = calloc(EBB_POLICY_BLACKOUTS_MAX, sizeof *s->blackouts);
    if (!s->blackouts)
        return ebb_err_nomem(err);
    s->guard.blackouts = s->blackouts;
    rc = ebb_blackouts_parse(site->blackouts, s->blackouts, &s->guard.blackout_count, err);
    return rc ? rc : ebb__settings_zone(s, zone, &s->guard.blackout_tz, err);
}

static void put_limits(const struct ebb_settings *s, const struct ebb_value *guard, struct ebb_guard *g)
{
    const struct ebb_value *deletes = ebb_value_get(guard, "deletes"), *rewrites = ebb_value_get(guard, "rewrites");

    g->deletes_max_files = ebb_value_get_int(ebb__settings_value(s, deletes, "max_files"), 0);
    g->deletes_max_share = ebb_value_get_float(ebb__settings_value(s, deletes, "max_share"), 0);
    g->deletes_max_bytes = ebb__settings_size(s, deletes, "max_bytes");
    g->deletes_on_exceed = exceed_of(deletes);
    g->rewrites_max_files = ebb_value_get_int(ebb__settings_value(s, rewrites, "max_files"), 0);
    g->rewrites_max_bytes = ebb__settings_size(s, rewrites, "max_bytes");
    g->rewrites_on_exceed = exceed_of(rewrites);
}

static void put_backoff(const struct ebb_settings *s, const struct ebb_value *backoff, struct ebb_guard *g)
{
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

/* Everything but quiet windows. */
static int fill(const struct ebb_settings *s, const struct ebb_value *guard, struct ebb_guard *g, struct ebb_err *err)
{
    const struct ebb_value *fleet = ebb_value_get(guard, "fleet");

    g->overlap = overlap_of(ebb_value_text_of(guard, "overlap"));
    g->min_interval_ms = ebb__settings_duration(s, guard, "min_interval", 0);
    g->timeout_ms = ebb__settings_duration(s, guard, "timeout", 0);
    g->ignore_own = ebb_value_bool_of(guard, "ignore_own", true);
    g->stop_in_quiet = ebb_value_bool_of(guard, "stop_in_quiet", false);
    g->pause_after = ebb_value_get_int(ebb__settings_value(s, guard, "pause_after"), 0);
    g->fleet_slot = ebb_value_text_of(fleet, "slot");
    g->fleet_max_running = ebb_value_get_int(ebb__settings_value(s, fleet, "max_running"), 0);
    put_limits(s, guard, g);
    put_backoff(s, ebb_value_get(guard, "backoff"), g);
    return check_share(g, err);
}

int ebb__settings_guard(struct ebb_settings *s, const struct ebb_settings_site *site, struct ebb_err *err)
{
    const struct ebb_value *guard = ebb_value_get(s->policy->manifest, "guard");
    struct ebb_guard strict = {0};
    int rc = fill(s, guard, &s->guard, err);

    if (!rc)
        rc = put_quiets(s, ebb_value_get(guard, "quiet"), err);
    if (!rc && site->guard)
        rc = fill(s, site->guard, &strict, err);
    if (!rc && site->guard)
        rc = ebb__guard_tighten(&s->guard, &strict, site->guard, err);
    if (!rc)
        rc = put_quiets(s, ebb_value_get(site->guard, "quiet"), err);
    if (!rc)
        rc = check_quiets(&s->guard, err);
    return rc ? rc : put_blackouts(s, site, err);
}
