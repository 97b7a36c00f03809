/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards that look at what else runs, or ran.
 */
#include "engine/guards_priv.h"

#include <stdio.h>

/* Nothing that runs is cancelled: "cancel_running" waits for no end and starts nothing, like "skip". */
bool ebb__guard_overlap(struct ebb__guards *g, const struct ebb__eval *e)
{
    bool is_good = !ebb__runs_is_running(e->input);
    struct ebb__guard_row *row = ebb__guard_add(g, "guard.overlap", is_good);

    if (!is_good)
        snprintf(row->text, sizeof row->text, "a run of this policy on this table is under way");
    return is_good;
}

/* Slots are kept by whoever runs a fleet. Where none is kept nothing is checked; a slot of a fleet that nobody holds is
 * free; a count that makes no sense is not. */
bool ebb__guard_fleet(struct ebb__guards *g, const struct ebb__eval *e)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    const struct ebb_value *fleet = ebb_value_get(e->input->facts, "fleet");
    const struct ebb_value *slot =
        ebb_value_get(ebb_value_get(fleet, "slots"), guard->fleet_slot ? guard->fleet_slot : "");
    int64_t running = slot ? ebb_value_int_of(slot, "running", INT64_MAX) : 0;
    bool is_free = !fleet || (running >= 0 && running < guard->fleet_max_running);
    struct ebb__guard_row *row;

    if (!guard->fleet_slot)
        return true;
    row = ebb__guard_add(g, "guard.fleet", is_free);
    if (!fleet)
        snprintf(row->text, sizeof row->text, "slot %.60s: no fleet is known", guard->fleet_slot);
    else if (running == INT64_MAX)
        snprintf(row->text, sizeof row->text, "slot %.60s: it is not known how many run", guard->fleet_slot);
    else
        snprintf(row->text, sizeof row->text, "slot %.60s: %lld of %lld run", guard->fleet_slot, (long long)running,
                 (long long)guard->fleet_max_running);
    return is_free;
}

/* Failures without another outcome between them, of this revision of the policy. */
static int64_t failures_in_a_row(const struct ebb__eval *e)
{
    const struct ebb_value *runs = ebb_value_get(e->input->facts, "runs");
    int64_t all = ebb__runs_failed_in_a_row(e->input), count = 0;

    for (size_t i = ebb_value_get_count(runs); i-- > 0 && count < all;) {
        const struct ebb_value *run = ebb_value_get_at(runs, i);
        const char *outcome = ebb_value_text_of(run, "outcome");

        if (outcome && !strcmp(outcome, "running"))
            continue;
        if (ebb_value_int_of(run, "started", INT64_MAX) < e->input->revised_ms)
            break;
        count++;
    }
    return count;
}

bool ebb__guard_pause(struct ebb__guards *g, const struct ebb__eval *e)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    int64_t failures = failures_in_a_row(e);
    bool is_good = !guard->pause_after || failures < guard->pause_after || ebb__guard_is_manual(e);
    struct ebb__guard_row *row;

    if (!guard->pause_after)
        return true;
    row = ebb__guard_add(g, "guard.pause", is_good);
    snprintf(row->text, sizeof row->text, "%lld failed in a row%s", (long long)failures,
             is_good ? "" : ": paused until the policy is revised");
    return is_good;
}
