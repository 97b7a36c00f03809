/* SPDX-License-Identifier: Apache-2.0
 *
 * How time passes in a simulation: all tables go on together, from one instant at which something may happen to the
 * next.
 */
#include "service/schedule_priv.h"
#include "service/simulate_priv.h"

/* ---- telling ---- */

static int find_times(const struct ebb__scene *c, const struct ebb_session_decision *d,
                      struct ebb_simulation_line *line, struct ebb_err *err)
{
    const struct ebb_schedule *schedule;
    struct ebb_schedule_input in;
    enum ebb_trigger_kind kind;
    int rc;

    if (!d->due || d->due->trigger == SIZE_MAX)
        return 0;
    rc = ebb_session_schedule(c->session, d->table, d->policy, &in, &schedule, err);
    if (rc)
        return rc;
    kind = ebb_settings_get_trigger(in.settings, d->due->trigger)->kind;
    line->has_nominal = kind == EBB_TRIGGER_CALENDAR || kind == EBB_TRIGGER_CRON || kind == EBB_TRIGGER_EVERY;
    line->nominal_ms = d->due->scheduled_for_ms;
    line->splayed_ms = line->nominal_ms + ebb__schedule_spread(&in, d->due->trigger);
    return 0;
}

void ebb__scene_tell(void *data, const struct ebb_session_decision *d)
{
    struct ebb__scene *c = data;
    struct ebb__simulation *s = c->simulation;
    struct ebb_simulation_line line = {.table = c->name, .decision = d};

    if (s->failed || !s->o->line)
        return;
    s->failed = find_times(c, d, &line, &s->failure);
    if (!s->failed)
        s->failed = s->o->line(s->o->data, &line, &s->failure);
}

static int tell_sums(const struct ebb__simulation *s, const struct ebb__scene *c, struct ebb_err *err)
{
    const struct ebb_policy *policy;
    int rc = 0;

    for (size_t i = 0; !rc && (policy = ebb_session_policy_at(c->session, i)) != NULL; i++) {
        struct ebb_simulation_sum sum = {.policy = ebb_policy_get_name(policy),
                                         .table = c->name,
                                         .knows_layout = c->knows_layout,
                                         .bad_ms = c->bad_ms,
                                         .commits = c->commits};

        rc = ebb_session_get_totals(c->session, sum.policy, &sum.totals, err);
        if (!rc)
            rc = s->o->sum(s->o->data, &sum, err);
    }
    return rc;
}

/* ---- one table ---- */

void ebb__scene_look(struct ebb__scene *c)
{
    const struct ebb_value *facts = ebb_session_facts(c->session, 0, NULL, NULL);
    const struct ebb_value *stats = ebb_value_get(ebb_value_get(facts, "table"), "stats");
    int64_t files = ebb_value_int_of(stats, "data_files", -1), small = ebb_value_int_of(stats, "small_files", -1);

    c->knows_layout = files >= 0 && small >= 0;
    c->is_bad = c->knows_layout && small > files / 2;
}

/* The commits up to an instant. */
static int arrive(struct ebb__scene *c, int64_t until_ms, struct ebb_err *err)
{
    int rc = 0;

    while (!rc && c->has_next && c->next.at_ms <= until_ms) {
        rc = ebb__session_arrive(c->session, 0, &c->next, err);
        c->commits++;
        c->has_next = ebb_arrivals_next(c->arrivals, c->next.at_ms, &c->next);
    }
    return rc;
}

static int move_scene(struct ebb__scene *c, int64_t to_ms, bool asleep, struct ebb_err *err)
{
    int64_t by_ms = to_ms - ebb_session_now(c->session);
    int rc;

    if (c->is_bad)
        c->bad_ms += by_ms;
    if (asleep) {
        rc = arrive(c, to_ms, err);
        if (!rc)
            rc = ebb_session_asleep(c->session, by_ms, err);
    } else {
        rc = ebb_session_step(c->session, by_ms, err);
        if (!rc)
            rc = arrive(c, to_ms, err);
    }
    ebb__scene_look(c);
    return rc;
}

static int next_of(const struct ebb__scene *c, int64_t *out, struct ebb_err *err)
{
    int rc = ebb_session_wake(c->session, out, err);

    if (!rc && c->has_next && c->next.at_ms < *out)
        *out = c->next.at_ms;
    return rc;
}

/* ---- all ---- */

static int move(struct ebb__simulation *s, int64_t to_ms, bool asleep, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && !s->failed && i < s->count; i++)
        if (ebb_site_is_cancelled(ebb_workspace_site(s->ws)))
            return ebb_err_set(err, EBB_ECANCELLED, "interrupted: during the simulation");
        else
            rc = move_scene(s->scenes[i], to_ms, asleep, err);
    if (!rc && s->failed) {
        rc = s->failed;
        if (err)
            *err = s->failure;
    }
    s->now_ms = to_ms;
    return rc;
}

/* The next instant at which something may happen; at most until_ms. */
static int next_instant(const struct ebb__simulation *s, int64_t until_ms, int64_t *out, struct ebb_err *err)
{
    int64_t at;
    int rc = 0;

    *out = until_ms;
    for (size_t i = 0; !rc && i < s->count; i++) {
        rc = next_of(s->scenes[i], &at, err);
        if (!rc && at < *out)
            *out = at > s->now_ms ? at : s->now_ms;
    }
    return rc;
}

static int run_until(struct ebb__simulation *s, int64_t until_ms, struct ebb_err *err)
{
    int64_t at = s->now_ms;
    int rc = 0;

    while (!rc && (at < until_ms || s->now_ms < until_ms)) {
        if (ebb_site_is_cancelled(ebb_workspace_site(s->ws)))
            return ebb_err_set(err, EBB_ECANCELLED, "interrupted: during the simulation");
        rc = next_instant(s, until_ms, &at, err);
        if (!rc)
            rc = move(s, at, false, err);
    }
    return rc;
}

int ebb__simulation_run(struct ebb__simulation *s, struct ebb_err *err)
{
    const struct ebb_simulation_options *o = s->o;
    int rc = 0;

    for (size_t i = 0; !rc && i < o->asleep_count; i++) {
        if (o->asleep[i].to_ms <= s->now_ms || o->asleep[i].from_ms >= o->until_ms)
            continue;
        rc = run_until(s, o->asleep[i].from_ms, err);
        if (!rc)
            rc = move(s, o->asleep[i].to_ms < o->until_ms ? o->asleep[i].to_ms : o->until_ms, true, err);
    }
    if (!rc)
        rc = run_until(s, o->until_ms, err);
    for (size_t i = 0; !rc && o->sum && i < s->count; i++)
        rc = tell_sums(s, s->scenes[i], err);
    return rc;
}
