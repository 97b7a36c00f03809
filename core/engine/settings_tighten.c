/* SPDX-License-Identifier: Apache-2.0
 *
 * The guards of a binding over those of a policy: of each the stricter one; a looser one is an error.
 */
#include "engine/settings_priv.h"

struct tightening {
    const struct ebb_value *written;
    struct ebb_err *err;
    int rc;
};

static void loosened(struct tightening *t, const char *name)
{
    if (t->rc)
        return;
    t->rc = ebb_err_set(t->err, EBB_ECONFIG, "bind.guard.%s: looser than in the policy", name);
    ebb_err_hint(t->err, "a binding may only make guards stricter");
}

/* A limit: the smaller one is stricter, 0 is none. */
static void shorter(struct tightening *t, const char *name, int64_t *mine, int64_t site)
{
    if (site <= 0)
        return;
    if (*mine > 0 && site > *mine)
        loosened(t, name);
    *mine = site;
}

/* A wait: the longer one is stricter. */
static void longer(struct tightening *t, const char *name, bool is_given, int64_t *mine, int64_t site)
{
    if (!is_given)
        return;
    if (site < *mine)
        loosened(t, name);
    *mine = site;
}

/* true is stricter. */
static void insist(struct tightening *t, const char *name, bool *mine, bool site)
{
    if (!ebb_value_get(t->written, name))
        return;
    if (*mine && !site)
        loosened(t, name);
    *mine = site;
}

static void hold(struct tightening *t, const char *key, const char *name, enum ebb_exceed *mine, enum ebb_exceed site)
{
    if (!ebb_value_get(ebb_value_get(t->written, key), "on_exceed"))
        return;
    if (site == EBB_EXCEED_TRIM && *mine == EBB_EXCEED_HOLD)
        loosened(t, name);
    *mine = site;
}

static void limits(struct tightening *t, struct ebb_guard *g, const struct ebb_guard *site)
{
    shorter(t, "deletes.max_files", &g->deletes_max_files, site->deletes_max_files);
    shorter(t, "deletes.max_bytes", &g->deletes_max_bytes, site->deletes_max_bytes);
    shorter(t, "rewrites.max_files", &g->rewrites_max_files, site->rewrites_max_files);
    shorter(t, "rewrites.max_bytes", &g->rewrites_max_bytes, site->rewrites_max_bytes);
    hold(t, "deletes", "deletes.on_exceed", &g->deletes_on_exceed, site->deletes_on_exceed);
    hold(t, "rewrites", "rewrites.on_exceed", &g->rewrites_on_exceed, site->rewrites_on_exceed);
    if (site->deletes_max_share <= 0)
        return;
    if (g->deletes_max_share > 0 && site->deletes_max_share > g->deletes_max_share)
        loosened(t, "deletes.max_share");
    g->deletes_max_share = site->deletes_max_share;
}

static void fleet(struct tightening *t, struct ebb_guard *g, const struct ebb_guard *site)
{
    if (!site->fleet_slot)
        return;
    if (g->fleet_slot && strcmp(g->fleet_slot, site->fleet_slot))
        loosened(t, "fleet.slot");
    g->fleet_slot = site->fleet_slot;
    shorter(t, "fleet.max_running", &g->fleet_max_running, site->fleet_max_running);
}

static void backoff(struct tightening *t, struct ebb_guard *g, const struct ebb_guard *site)
{
    const struct ebb_value *written = ebb_value_get(t->written, "backoff");

    if (!written)
        return;
    if (!g->has_backoff) {
        g->has_backoff = true;
        g->backoff_after = site->backoff_after;
        g->backoff_first_ms = site->backoff_first_ms;
        g->backoff_factor = site->backoff_factor;
        g->backoff_max_ms = site->backoff_max_ms;
        return;
    }
    if (ebb_value_get(written, "after_failures"))
        shorter(t, "backoff.after_failures", &g->backoff_after, site->backoff_after);
    longer(t, "backoff.first", true, &g->backoff_first_ms, site->backoff_first_ms);
    longer(t, "backoff.max", ebb_value_get(written, "max") != NULL, &g->backoff_max_ms, site->backoff_max_ms);
    if (!ebb_value_get(written, "factor"))
        return;
    if (site->backoff_factor < g->backoff_factor)
        loosened(t, "backoff.factor");
    g->backoff_factor = site->backoff_factor;
}

int ebb__guard_tighten(struct ebb_guard *g, const struct ebb_guard *site, const struct ebb_value *written,
                       struct ebb_err *err)
{
    struct tightening t = {written, err, 0};

    if (ebb_value_get(written, "overlap") && site->overlap > g->overlap)
        loosened(&t, "overlap");
    else if (ebb_value_get(written, "overlap"))
        g->overlap = site->overlap;
    longer(&t, "min_interval", ebb_value_get(written, "min_interval") != NULL, &g->min_interval_ms,
           site->min_interval_ms);
    shorter(&t, "timeout", &g->timeout_ms, site->timeout_ms);
    shorter(&t, "pause_after", &g->pause_after, site->pause_after);
    insist(&t, "ignore_own", &g->ignore_own, site->ignore_own);
    insist(&t, "stop_in_quiet", &g->stop_in_quiet, site->stop_in_quiet);
    limits(&t, g, site);
    fleet(&t, g, site);
    backoff(&t, g, site);
    return t.rc;
}
