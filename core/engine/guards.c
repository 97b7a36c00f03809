/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/guards_priv.h"

#include <stdio.h>

struct ebb__guard_row *ebb__guard_add(struct ebb__guards *g, const char *name, bool is_good)
{
    struct ebb__guard_row *row = &g->rows[g->count < EBB__GUARDS_MAX ? g->count++ : EBB__GUARDS_MAX - 1];

    *row = (struct ebb__guard_row){.name = name, .truth = is_good ? EBB__TRUE : EBB__FALSE};
    return row;
}

bool ebb__guard_is_manual(const struct ebb__eval *e)
{
    const char *kind = ebb_value_text_of(e->input->trigger, "kind");

    return !e->input->trigger || (kind && !strcmp(kind, "manual"));
}

static bool is_orphan_removal(const struct ebb__eval *e)
{
    const char *type = ebb_value_text_of(e->action, "type");

    return type && !strcmp(type, "remove_orphan_files");
}

static void add_mode(struct ebb__guards *g, const struct ebb__eval *e)
{
    static const char *const MODES[] = {"observe", "approve", "enforce"};

    snprintf(ebb__guard_add(g, "guard.mode", true)->text, sizeof g->rows[0].text, "%s", MODES[e->input->mode]);
}

static void settle(struct ebb__guards *g, enum ebb_verdict verdict, const char *by, int64_t until)
{
    g->verdict = verdict;
    g->by = by;
    g->until_ms = until;
}

/* A run that stands: what else may hold it back. */
static void hold_back(struct ebb__guards *g, struct ebb__eval *e, const struct ebb__wait *wait)
{
    bool queue = ebb_settings_get_guard(e->settings)->overlap == EBB_OVERLAP_QUEUE_ONE;
    bool overlap = ebb__guard_overlap(g, e), fleet = ebb__guard_fleet(g, e), pause = ebb__guard_pause(g, e);
    bool rewrites;

    ebb__guard_deletes(g, e);
    rewrites = ebb__guard_rewrites(g, e);
    if (!pause)
        settle(g, EBB_VERDICT_SKIP, "guard.pause", 0);
    else if (!overlap)
        settle(g, queue ? EBB_VERDICT_DEFER : EBB_VERDICT_SKIP, "guard.overlap", 0);
    else if (!rewrites)
        settle(g, EBB_VERDICT_SKIP, "guard.rewrites", 0);
    else if (wait->by)
        settle(g, wait->has_end ? EBB_VERDICT_DEFER : EBB_VERDICT_SKIP, wait->by, wait->has_end ? wait->until_ms : 0);
    else if (!fleet)
        settle(g, EBB_VERDICT_DEFER, "guard.fleet", 0);
}

/* How long the run may take: no further than into the next quiet hours where those stop it. */
static void set_timeout(struct ebb__guards *g, const struct ebb__eval *e, bool override_quiet)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);
    int64_t left;

    g->timeout_ms = guard->timeout_ms;
    if (g->verdict != EBB_VERDICT_RUN || !guard->stop_in_quiet)
        return;
    left = ebb__guard_next_stop(e, override_quiet);
    if (left < INT64_MAX && (!g->timeout_ms || left - e->input->now_ms < g->timeout_ms))
        g->timeout_ms = left - e->input->now_ms;
}

void ebb__guards_apply(struct ebb__guards *g, struct ebb__eval *e)
{
    bool wants_run = e->verdict == EBB_VERDICT_RUN, floor = true, location = true;
    bool override_quiet = wants_run && e->override_quiet && e->input->allow_override_quiet;
    struct ebb__wait wait;

    settle(g, e->verdict, "policy", e->until_ms);
    if (wants_run && is_orphan_removal(e)) {
        floor = ebb__guard_floor(g, e);
        location = ebb__guard_location(g, e);
    }
    ebb__guard_waits(g, e, override_quiet, &wait);
    if (wants_run) {
        hold_back(g, e, &wait);
    } else {
        ebb__guard_overlap(g, e);
        ebb__guard_fleet(g, e);
        ebb__guard_pause(g, e);
    }
    if (!floor || !location)
        settle(g, EBB_VERDICT_REFUSED, floor ? "guard.location" : "guard.floor", 0);
    set_timeout(g, e, override_quiet);
    add_mode(g, e);
}
