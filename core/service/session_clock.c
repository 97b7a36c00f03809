/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock of a session, and what becomes due on the way.
 */
#include "service/preview.h"
#include "service/session_priv.h"

#define CLOCK_MAX_MS ((int64_t)253402300799999) /* the end of the year 9999 */
#define ROUNDS_MAX 1000 /* occurrences of one policy on one table at one instant (catch_up = "all") */

/* ---- what is due now ---- */

/* Occurrences that were dropped are those whose triggers moved on. */
static void tell_dropped(const struct ebb__spot *at, const struct ebb_schedule *before)
{
    const struct ebb_session_options *o = &at->session->options;

    for (size_t i = 0; o->decided && i < EBB_POLICY_TRIGGERS_MAX; i++) {
        int64_t fired_ms = at->pair->schedule.fired_ms[i];
        struct ebb_due due = {.kind = "time", .trigger = i, .scheduled_for_ms = fired_ms, .is_dropped = true};
        struct ebb_session_decision d = {at->bound->name, at->table, at->session->now_ms, &due, NULL, "late", NULL};

        if (fired_ms != before->fired_ms[i])
            o->decided(o->data, &d);
    }
}

static void tell_error(const struct ebb__spot *at, const struct ebb_err *error)
{
    const struct ebb_session_options *o = &at->session->options;
    struct ebb_session_decision d = {at->bound->name, at->table, at->session->now_ms, NULL, NULL, NULL, error};

    if (o->decided)
        o->decided(o->data, &d);
}

/* One occurrence; a `where` that goes wrong is told. */
static int look_once(const struct ebb__spot *at, bool *goes_on, struct ebb_err *err)
{
    struct ebb_schedule_input in;
    struct ebb_due due;
    struct ebb_schedule before = at->pair->schedule;
    struct ebb_err failure;
    int rc = ebb__spot_prepare(at, err);

    *goes_on = false;
    if (rc)
        return rc;
    ebb__spot_schedule_input(at, &in);
    rc = ebb_schedule_due(&in, &at->pair->schedule, &due, &failure);
    if (rc == -(int)EBB_ENOMEM)
        return ebb_err_nomem(err);
    if (rc) {
        tell_error(at, &failure);
        return 0;
    }
    if (due.is_dropped)
        tell_dropped(at, &before);
    return due.is_due ? ebb__spot_decide(at, &due, goes_on, err) : 0;
}

int ebb__spot_look(const struct ebb__spot *at, struct ebb_err *err)
{
    bool goes_on = !at->pair->is_blocked && ebb__spot_is_wanted(at);
    int rc = 0;

    for (int i = 0; !rc && goes_on && i < ROUNDS_MAX; i++)
        rc = look_once(at, &goes_on, err);
    at->pair->has_wake = false;
    return rc;
}

static bool may_be_due(const struct ebb_session *s, const struct ebb__pair *p)
{
    return !p->has_wake || p->wake_ms <= s->now_ms;
}

int ebb__session_look(struct ebb_session *s, struct ebb_err *err)
{
    int rc = 0;

    if (s->is_paused)
        return 0;
    s->is_changed = false;
    for (size_t i = 0; !rc && i < s->bound_count; i++)
        for (size_t t = 0; !rc && t < s->table_count; t++) {
            struct ebb__spot at = {s, s->bound[i], s->tables[t], s->bound[i]->pairs[t], t};

            if (may_be_due(s, at.pair))
                rc = ebb__spot_look(&at, err);
        }
    return rc;
}

/* ---- when to look again ---- */

static int spot_wake(const struct ebb__spot *at, struct ebb_err *err)
{
    struct ebb__pair *p = at->pair;
    struct ebb_schedule_input in;
    int rc;

    if (p->has_wake)
        return 0;
    p->wake_ms = INT64_MAX;
    if (!p->is_blocked && ebb__spot_is_wanted(at)) {
        rc = ebb__spot_prepare(at, err);
        if (rc)
            return rc;
        ebb__spot_schedule_input(at, &in);
        rc = ebb_schedule_wake(&in, &p->schedule, &p->wake_ms, NULL);
        if (rc == -(int)EBB_ENOMEM)
            return ebb_err_nomem(err);
        if (rc)
            p->wake_ms = INT64_MAX; /* its `where` goes wrong: told when it was looked at */
    }
    p->has_wake = true;
    return 0;
}

static int next_wake(struct ebb_session *s, int64_t *out, struct ebb_err *err)
{
    int rc = 0;

    *out = INT64_MAX;
    for (size_t i = 0; !rc && i < s->bound_count; i++)
        for (size_t t = 0; !rc && t < s->table_count; t++) {
            struct ebb__spot at = {s, s->bound[i], s->tables[t], s->bound[i]->pairs[t], t};

            rc = spot_wake(&at, err);
            if (!rc && at.pair->wake_ms < *out)
                *out = at.pair->wake_ms;
        }
    if (*out <= s->now_ms)
        *out = s->now_ms + 1;
    return rc;
}

int ebb_session_wake(struct ebb_session *s, int64_t *out, struct ebb_err *err)
{
    *out = INT64_MAX;
    if (s->is_paused)
        return 0;
    if (s->is_changed) {
        *out = s->now_ms;
        return 0;
    }
    return next_wake(s, out, err);
}

/* ---- the clock ---- */

static int add_to_now(const struct ebb_session *s, int64_t by_ms, int64_t *out, struct ebb_err *err)
{
    if (__builtin_add_overflow(s->now_ms, by_ms, out) || *out < 0 || *out > CLOCK_MAX_MS)
        return ebb_err_set(err, EBB_EUSAGE, "clock: is to stay between 1970 and 9999");
    return 0;
}

int ebb_session_at(struct ebb_session *s, int64_t at_ms, struct ebb_err *err)
{
    if (at_ms < 0 || at_ms > CLOCK_MAX_MS)
        return ebb_err_set(err, EBB_EUSAGE, "clock: is to stay between 1970 and 9999");
    s->now_ms = at_ms;
    for (size_t i = 0; i < s->bound_count; i++)
        for (size_t t = 0; t < s->table_count; t++)
            ebb__pair_start(s->bound[i]->pairs[t], at_ms);
    s->is_changed = true;
    return 0;
}

int ebb_session_step(struct ebb_session *s, int64_t by_ms, struct ebb_err *err)
{
    int64_t end = s->now_ms, wake = 0;
    int rc = by_ms < 0 ? ebb_err_set(err, EBB_EUSAGE, "step: goes forward only") : add_to_now(s, by_ms, &end, err);

    if (!rc)
        rc = ebb__session_look(s, err);
    while (!rc && !s->is_paused) {
        rc = next_wake(s, &wake, err);
        if (rc || wake > end)
            break;
        s->now_ms = wake;
        rc = ebb__session_look(s, err);
    }
    if (!rc)
        s->now_ms = end;
    return rc;
}

static int jump(struct ebb_session *s, int64_t by_ms, struct ebb_err *err)
{
    int64_t now;
    int rc = add_to_now(s, by_ms, &now, err);

    if (rc)
        return rc;
    s->now_ms = now;
    for (size_t i = 0; i < s->bound_count; i++)
        for (size_t t = 0; t < s->table_count; t++)
            s->bound[i]->pairs[t]->has_wake = false;
    return ebb__session_look(s, err);
}

int ebb_session_asleep(struct ebb_session *s, int64_t by_ms, struct ebb_err *err)
{
    if (by_ms < 0)
        return ebb_err_set(err, EBB_EUSAGE, "asleep: goes forward only");
    return jump(s, by_ms, err);
}

int ebb_session_clock_step(struct ebb_session *s, int64_t delta_ms, struct ebb_err *err)
{
    return jump(s, delta_ms, err);
}

void ebb_session_pause(struct ebb_session *s)
{
    s->is_paused = true;
}

int ebb_session_resume(struct ebb_session *s, struct ebb_err *err)
{
    s->is_paused = false;
    return ebb__session_look(s, err);
}
