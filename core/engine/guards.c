/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/guards_priv.h"

#include <stdio.h>

#include "base/location.h"

static struct ebb__guard_row *add(struct ebb__guards *g, const char *name, bool is_good)
{
    struct ebb__guard_row *row = &g->rows[g->count < EBB__GUARDS_MAX ? g->count++ : EBB__GUARDS_MAX - 1];

    *row = (struct ebb__guard_row){.name = name, .truth = is_good ? EBB__TRUE : EBB__FALSE};
    return row;
}

static const char *text_or_empty(const struct ebb_value *map, const char *key)
{
    const char *text = ebb_value_text_of(map, key);

    return text ? text : "";
}

bool ebb__guard_target(struct ebb__guards *g, const struct ebb_policy *policy, const struct ebb_decide_input *input)
{
    const struct ebb_value *t = ebb_value_get(input->facts, "table");
    bool is_target = ebb_policy_has_target(policy)
                         ? ebb_policy_is_target(policy, text_or_empty(t, "catalog"), text_or_empty(t, "namespace"),
                                                text_or_empty(t, "name"), ebb_value_get(t, "properties"))
                         : input->bound;
    struct ebb__guard_row *row = add(g, "guard.target", is_target);

    if (!is_target)
        snprintf(row->text, sizeof row->text, "%s",
                 ebb_policy_has_target(policy) ? "the policy does not name this table" : "no binding names this table");
    return is_target;
}

static bool is_orphan_removal(const struct ebb__eval *e)
{
    const char *type = ebb_value_text_of(e->action, "type");

    return type && !strcmp(type, "remove_orphan_files");
}

/* 24 h between the cutoff and now, unless configured otherwise; never the future. */
static bool is_above_floor(struct ebb__guards *g, const struct ebb__eval *e)
{
    int64_t cutoff = ebb_value_int_of(e->action, "older_than", INT64_MAX), now = e->input->now_ms;
    bool is_good = cutoff <= now && (e->input->allow_below_floor || cutoff <= now - EBB_DECIDE_FLOOR_MS);
    struct ebb__guard_row *row = add(g, "guard.floor", is_good);

    if (!is_good)
        snprintf(row->text, sizeof row->text, "%s",
                 cutoff > now ? "the cutoff lies in the future" : "the cutoff is younger than 24 h");
    return is_good;
}

static bool is_inside(struct ebb__guards *g, const struct ebb__eval *e)
{
    const char *own = ebb_value_text_of(e->table, "location"), *asked = ebb_value_text_of(e->action, "location");
    struct ebb_err err = {.message = "the table's location is unknown"};
    bool inside = false;
    int rc = own ? ebb_location_check_table(own, &err) : -1;
    struct ebb__guard_row *row;

    if (!rc && !asked)
        inside = true;
    else if (!rc)
        rc = ebb_location_contains(own, asked, NULL, &inside, &err);
    row = add(g, "guard.location", !rc && inside);
    if (rc)
        snprintf(row->text, sizeof row->text, "%.190s", err.message);
    else if (!inside)
        snprintf(row->text, sizeof row->text, "outside of the table's location");
    return !rc && inside;
}

static bool is_manual(const struct ebb__eval *e)
{
    const char *kind = ebb_value_text_of(e->input->trigger, "kind");

    return !e->input->trigger || (kind && !strcmp(kind, "manual"));
}

static int64_t add_ms(int64_t at, int64_t ms)
{
    int64_t sum;

    return __builtin_add_overflow(at, ms, &sum) ? INT64_MAX : sum;
}

/* From the end of the last run; elapsed time. Runs by hand don't wait. */
static int64_t interval_end(const struct ebb__eval *e)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    const struct ebb_value *last = ebb__runs_last(e->input, false);

    if (!guard->min_interval_ms || !last || is_manual(e))
        return INT64_MIN;
    return add_ms(ebb_value_int_of(last, "ended", ebb_value_int_of(last, "started", e->input->now_ms)),
                  guard->min_interval_ms);
}

/* first × factor^k after `backoff_after` failures in a row. */
static int64_t backoff_end(const struct ebb__eval *e)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    const struct ebb_value *last = ebb__runs_last(e->input, false);
    int64_t failures = ebb__runs_failed_in_a_row(e->input);
    double wait = (double)guard->backoff_first_ms;

    if (!guard->has_backoff || failures < guard->backoff_after || is_manual(e))
        return INT64_MIN;
    for (int64_t i = guard->backoff_after; i < failures && wait < (double)guard->backoff_max_ms; i++)
        wait *= guard->backoff_factor;
    if (wait > (double)guard->backoff_max_ms)
        wait = (double)guard->backoff_max_ms;
    return add_ms(ebb_value_int_of(last, "ended", e->input->now_ms), (int64_t)wait);
}

static struct ebb__guard_row *add_wait(struct ebb__guards *g, const char *name, int64_t until, int64_t now)
{
    struct ebb__guard_row *row = add(g, name, until <= now);

    row->has_until = until > now;
    row->until_ms = until;
    return row;
}

/* The first instant at which all of the waits are over; *by is the first guard that holds back. */
static bool free_at(struct ebb__guards *g, const struct ebb__eval *e, bool override_quiet, int64_t *until,
                    const char **by)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    const struct ebb_value *flags = ebb_value_get(e->input->facts, "flags");
    int64_t now = e->input->now_ms, at = now, quiet_end = now, ends[2] = {interval_end(e), backoff_end(e)};
    static const char *const NAMES[] = {"guard.min_interval", "guard.backoff"};
    bool has_end = true;

    *by = NULL;
    for (size_t i = 0; i < 2; i++) {
        if (i == 0 || guard->has_backoff)
            add_wait(g, NAMES[i], ends[i], now);
        if (ends[i] > at)
            at = ends[i];
        if (ends[i] > now && !*by)
            *by = NAMES[i];
    }
    if (!override_quiet)
        has_end = ebb_guard_next_free(guard, flags, now, &quiet_end);
    if (!has_end)
        add(g, "guard.quiet", false);
    else
        add_wait(g, "guard.quiet", quiet_end, now);
    if ((!has_end || quiet_end > now) && !*by)
        *by = "guard.quiet";
    if (!override_quiet)
        has_end = ebb_guard_next_free(guard, flags, at, &at);
    *until = at;
    return has_end;
}

static bool may_overlap(struct ebb__guards *g, const struct ebb__eval *e)
{
    bool is_good = !ebb__runs_is_running(e->input);
    struct ebb__guard_row *row = add(g, "guard.overlap", is_good);

    if (!is_good)
        snprintf(row->text, sizeof row->text, "a run of this policy on this table is under way");
    return is_good;
}

static bool is_paused(struct ebb__guards *g, const struct ebb__eval *e)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    int64_t failures = ebb__runs_failed_in_a_row(e->input);
    bool paused = guard->pause_after && failures >= guard->pause_after && !is_manual(e);
    struct ebb__guard_row *row;

    if (!guard->pause_after)
        return false;
    row = add(g, "guard.pause", !paused);
    snprintf(row->text, sizeof row->text, "%lld failed in a row", (long long)failures);
    return paused;
}

static void add_limits(struct ebb__guards *g, const struct ebb__eval *e)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    struct ebb__guard_row *row;
    int n;

    if (!guard->deletes_max_files && guard->deletes_max_share <= 0 && !guard->deletes_max_bytes)
        return;
    row = add(g, "guard.deletes", true);
    n = snprintf(row->text, sizeof row->text, "checked by the plan:");
    if (guard->deletes_max_files)
        n += snprintf(row->text + n, sizeof row->text - (size_t)n, " %lld files", (long long)guard->deletes_max_files);
    if (guard->deletes_max_share > 0)
        n += snprintf(row->text + n, sizeof row->text - (size_t)n, " %.4g %%", guard->deletes_max_share * 100);
    if (guard->deletes_max_bytes)
        snprintf(row->text + n, sizeof row->text - (size_t)n, " %lld bytes", (long long)guard->deletes_max_bytes);
}

static void add_mode(struct ebb__guards *g, const struct ebb__eval *e)
{
    static const char *const MODES[] = {"observe", "approve", "enforce"};

    snprintf(add(g, "guard.mode", true)->text, sizeof g->rows[0].text, "%s", MODES[e->input->mode]);
}

static void settle(struct ebb__guards *g, enum ebb_verdict verdict, const char *by, int64_t until)
{
    g->verdict = verdict;
    g->by = by;
    g->until_ms = until;
}

/* A run that stands: what else may hold it back. */
static void hold_back(struct ebb__guards *g, const struct ebb__eval *e, bool overlap_free, bool paused, const char *by,
                      bool has_end, int64_t until)
{
    bool queue = ebb_settings_get_guard(e->settings)->overlap == EBB_OVERLAP_QUEUE_ONE;

    if (paused)
        settle(g, EBB_VERDICT_SKIP, "guard.pause", 0);
    else if (!overlap_free)
        settle(g, queue ? EBB_VERDICT_DEFER : EBB_VERDICT_SKIP, "guard.overlap", 0);
    else if (by)
        settle(g, has_end ? EBB_VERDICT_DEFER : EBB_VERDICT_SKIP, by, has_end ? until : 0);
}

void ebb__guards_apply(struct ebb__guards *g, const struct ebb__eval *e)
{
    bool wants_run = e->verdict == EBB_VERDICT_RUN, floor = true, location = true;
    bool override_quiet = wants_run && e->override_quiet && e->input->allow_override_quiet;
    bool has_end, overlap_free, paused;
    int64_t until;
    const char *by;

    settle(g, e->verdict, "policy", e->until_ms);
    if (wants_run && is_orphan_removal(e)) {
        floor = is_above_floor(g, e);
        location = is_inside(g, e);
    }
    has_end = free_at(g, e, override_quiet, &until, &by);
    overlap_free = may_overlap(g, e);
    paused = is_paused(g, e);
    if (wants_run)
        add_limits(g, e);
    add_mode(g, e);
    if (!wants_run)
        return;
    if (!floor || !location)
        settle(g, EBB_VERDICT_REFUSED, floor ? "guard.location" : "guard.floor", 0);
    else
        hold_back(g, e, overlap_free, paused, by, has_end, until);
}
