/* SPDX-License-Identifier: Apache-2.0
 *
 * Decisions of a session, what follows from them, and changes of its world.
 */
#include <stdio.h>
#include <stdlib.h>

#include "service/session_priv.h"

#define COMMITS_MAX 100000

/* ---- deciding ---- */

static bool is_policy_error(int rc)
{
    return rc <= -(int)EBB_EPOLICY_SCHEMA && rc >= -(int)EBB_EPOLICY_RESULT;
}

static int evaluate(const struct ebb__spot *at, struct ebb_decide_input *input, struct ebb_decision **out,
                    struct ebb_err *err)
{
    struct ebb_session *s = at->session;
    char id[40];

    snprintf(id, sizeof id, "d-s%zu", ++s->decisions);
    input->id = id;
    if (s->options.lines)
        input->lines = s->options.lines(s->options.data, at->bound->policy, &input->line_count);
    return ebb_evaluator_decide(s->evaluator, at->bound->policy, input, out, err);
}

static struct ebb_value *manual_trigger(int64_t now_ms)
{
    struct ebb_value *v = ebb_value_new_map(NULL);

    ebb_value_put_str(v, "kind", "manual");
    ebb_value_put_int(v, "scheduled_for", now_ms);
    ebb_value_put_int(v, "missed", 0);
    ebb_value_put_list(v, "events");
    return v;
}

static void tell(const struct ebb__spot *at, const struct ebb_due *due, const struct ebb_decision *decision,
                 const char *dropped, const struct ebb_err *error)
{
    const struct ebb_session_options *o = &at->session->options;
    struct ebb_session_decision d = {at->bound->name, at->table, at->session->now_ms, due, decision, dropped, error};

    if (o->decided)
        o->decided(o->data, &d);
}

/* "guard.quiet" held it back: "quiet" */
static const char *short_name(const char *by)
{
    return strncmp(by, "guard.", 6) ? by : by + 6;
}

/* What was decided comes to pass. */
static int follow(const struct ebb__spot *at, const struct ebb_due *due, const struct ebb_decision *decision,
                  bool *goes_on, struct ebb_err *err)
{
    enum ebb_verdict verdict = ebb_decision_get_verdict(decision);
    struct ebb_schedule_input in;
    bool is_kept = true;

    if (due) {
        ebb__spot_schedule_input(at, &in);
        is_kept = ebb_schedule_settle(&in, due, decision, &at->pair->schedule);
    }
    tell(at, due, decision, is_kept ? NULL : short_name(ebb_decision_get_by(decision)), NULL);
    if (due && verdict == EBB_VERDICT_DEFER && is_kept && !ebb_decision_get_until_ms(decision))
        at->pair->is_blocked = true;
    *goes_on = due && !at->pair->is_blocked;
    return verdict == EBB_VERDICT_RUN ? ebb__spot_begin(at, decision, due ? due->kind : "manual", err) : 0;
}

int ebb__spot_decide(const struct ebb__spot *at, const struct ebb_due *due, bool *goes_on, struct ebb_err *err)
{
    struct ebb_schedule_input in;
    struct ebb_decide_input input;
    struct ebb_decision *decision = NULL;
    struct ebb_value *trigger = NULL;
    struct ebb_err failure;
    int rc = 0;

    *goes_on = false;
    ebb__spot_schedule_input(at, &in);
    if (due)
        rc = ebb_schedule_trigger(&in, due, &trigger, &failure);
    else
        trigger = manual_trigger(in.now_ms);
    if (!rc) {
        ebb__spot_input(at, trigger, &input);
        rc = evaluate(at, &input, &decision, &failure);
    }
    if (is_policy_error(rc)) {
        tell(at, due, decision, NULL, &failure);
        rc = 0;
    } else if (rc && err)
        *err = failure;
    else if (!rc)
        rc = follow(at, due, decision, goes_on, err);
    ebb_decision_free(decision);
    ebb_value_free(trigger);
    return rc;
}

int ebb_session_input(struct ebb_session *s, size_t table, const char *policy, struct ebb_decide_input *out,
                      struct ebb_err *err)
{
    struct ebb__spot at = {0};
    int rc = ebb__session_spot(s, table, policy, &at, err);

    if (!rc)
        rc = ebb__spot_prepare(&at, err);
    if (rc)
        return rc;
    ebb_value_free(s->trigger);
    s->trigger = manual_trigger(s->now_ms);
    ebb__spot_input(&at, s->trigger, out);
    return ebb_value_check(s->trigger, "trigger", err);
}

int ebb_session_decide(struct ebb_session *s, size_t table, const char *policy, struct ebb_decision **out,
                       struct ebb_err *err)
{
    struct ebb_decide_input input;
    struct ebb__spot at = {0};
    int rc;

    *out = NULL;
    rc = ebb_session_input(s, table, policy, &input, err);
    if (!rc)
        rc = ebb__session_spot(s, table, policy, &at, err);
    return rc ? rc : evaluate(&at, &input, out, err);
}

int ebb_session_manual(struct ebb_session *s, size_t table, const char *policy, struct ebb_err *err)
{
    struct ebb__spot at = {0};
    bool goes_on;
    int rc = ebb__session_spot(s, table, policy, &at, err);

    if (!rc)
        rc = ebb__spot_prepare(&at, err);
    return rc ? rc : ebb__spot_decide(&at, NULL, &goes_on, err);
}

int ebb_session_finish(struct ebb_session *s, size_t table, const char *policy, const char *outcome,
                       struct ebb_err *err)
{
    struct ebb__spot at = {0};
    int rc = ebb__session_spot(s, table, policy, &at, err);

    if (rc)
        return rc;
    if (strcmp(outcome, "success") && strcmp(outcome, "failed") && strcmp(outcome, "partial"))
        return ebb_err_set(err, EBB_EUSAGE, "finish: \"%.40s\" is none of success, failed, partial", outcome);
    if (!at.pair->running)
        return ebb_err_set(err, EBB_ERUN_STATE, "policy %s: has no run under way", at.bound->name);
    rc = ebb__spot_end(&at, outcome, err);
    return rc || s->is_paused ? rc : ebb__spot_look(&at, err);
}

int ebb_session_schedule(struct ebb_session *s, size_t table, const char *policy, struct ebb_schedule_input *in,
                         const struct ebb_schedule **schedule, struct ebb_err *err)
{
    struct ebb__spot at = {0};
    int rc = ebb__session_spot(s, table, policy, &at, err);

    if (!rc)
        rc = ebb__spot_prepare(&at, err);
    if (rc)
        return rc;
    ebb__spot_schedule_input(&at, in);
    *schedule = &at.pair->schedule;
    return 0;
}

/* ---- changing the world ---- */

static int stage_of(struct ebb_session *s, size_t table, struct ebb__stage **out, struct ebb_err *err)
{
    if (table >= s->table_count)
        return ebb_err_set(err, EBB_ENOT_FOUND, "table %zu: the session has %zu", table, s->table_count);
    *out = s->tables[table];
    return 0;
}

/* What happens at an instant belongs to the story of every policy on the table. */
static int include(struct ebb_session *s, size_t table, int64_t at_ms, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < s->bound_count; i++) {
        struct ebb__spot at = {s, s->bound[i], s->tables[table], s->bound[i]->pairs[table], table};

        rc = ebb__pair_include(&at, at_ms, err);
    }
    return rc;
}

static int check_event(const struct ebb_value *event, struct ebb_err *err)
{
    const struct ebb_value *at = ebb_value_get(event, "at");

    if (!ebb_value_text_of(event, "type"))
        return ebb_err_set(err, EBB_EUSAGE, "event: type: a text is wanted");
    if (at && (ebb_value_get_kind(at) != EBB_VALUE_INT || ebb_value_get_int(at, -1) < 0))
        return ebb_err_set(err, EBB_EUSAGE, "event: at: an instant (ms) is wanted");
    if (ebb_value_get(event, "id") && !ebb_value_text_of(event, "id"))
        return ebb_err_set(err, EBB_EUSAGE, "event: id: a text is wanted");
    return 0;
}

int ebb_session_event(struct ebb_session *s, size_t table, const struct ebb_value *event, char id[40],
                      struct ebb_err *err)
{
    const char *given = ebb_value_text_of(event, "id"), *source = ebb_value_text_of(event, "source");
    struct ebb__stage *t = NULL;
    char own[40];
    int rc = stage_of(s, table, &t, err);

    if (!rc)
        rc = check_event(event, err);
    if (rc)
        return rc;
    if (given)
        snprintf(own, sizeof own, "%.39s", given);
    else
        snprintf(own, sizeof own, "e-s%zu", ++s->events);
    if (id)
        memcpy(id, own, sizeof own);
    if (given && ebb__stage_has_event(t, given, source ? source : "session"))
        return 0; /* told again */
    rc = ebb__stage_event(t, event, given ? given : own, s->now_ms, err);
    ebb__session_touch(s, table);
    return rc ? rc : include(s, table, ebb_value_int_of(event, "at", s->now_ms), err);
}

int ebb_session_commits(struct ebb_session *s, size_t table, int64_t n, struct ebb_err *err)
{
    struct ebb__commit commit;
    struct ebb__stage *t = NULL;
    int rc = stage_of(s, table, &t, err);

    if (!rc && (n < 1 || n > COMMITS_MAX || n > s->now_ms))
        rc = ebb_err_set(err, EBB_EUSAGE, "commits: from 1 to %d are possible at once", COMMITS_MAX);
    if (rc)
        return rc;
    ebb__facts_typical(t->facts, &commit);
    for (int64_t i = n; !rc && i-- > 0;) {
        commit.at_ms = s->now_ms - i;
        rc = ebb__stage_commit(t, &commit, err);
    }
    ebb__session_touch(s, table);
    return rc ? rc : include(s, table, s->now_ms - (n - 1), err);
}

int ebb__session_arrive(struct ebb_session *s, size_t table, const struct ebb_arrival *arrival, struct ebb_err *err)
{
    struct ebb__commit commit = {arrival->at_ms, "append", NULL, arrival->files, arrival->bytes, arrival->records};
    int rc = ebb__stage_commit(s->tables[table], &commit, err);

    ebb__session_touch(s, table);
    return rc;
}

static int check_path(const char *path, struct ebb_err *err)
{
    static const char *const KNOWN[] = {
        "catalog",           "namespace", "name",  "location",  "format_version",   "properties", "spec",
        "sort_order",        "schema",    "refs",  "snapshots", "current_snapshot", "stats",      "partitions",
        "location_overlaps", "flags",     "fleet",
    };
    size_t n = strcspn(path, ".");
    char first[40];
    const char *nearest;

    snprintf(first, sizeof first, "%.*s", (int)(n < 39 ? n : 39), path);
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
        if (!strcmp(first, KNOWN[i])) {
            if (path[n] == '.' && (!path[n + 1] || path[strlen(path) - 1] == '.' || strstr(path, "..")))
                return ebb_err_set(err, EBB_EUSAGE, "set %.100s: a name is missing", path);
            return strlen(path) > 200 ? ebb_err_set(err, EBB_EUSAGE, "set: the path is too long") : 0;
        }
    nearest = ebb_text_nearest(first, KNOWN, sizeof KNOWN / sizeof KNOWN[0]);
    ebb_err_set(err, EBB_EUSAGE, "set %.100s: a table has no %s", path, first);
    if (nearest)
        ebb_err_hint(err, "did you mean %s?", nearest);
    return -(int)EBB_EUSAGE;
}

/* A history is made by running; it can only be forgotten. */
static int forget_history(struct ebb__stage *t, const struct ebb_value *value, struct ebb_err *err)
{
    if (value)
        return ebb_err_set(err, EBB_EUSAGE, "set runs: only nil can be given: the history is not known then");
    t->is_history_unknown = true;
    t->made++;
    return 0;
}

int ebb_session_set(struct ebb_session *s, size_t table, const char *path, const struct ebb_value *box, const char *key,
                    struct ebb_err *err)
{
    const struct ebb_value *value = box ? ebb_value_get(box, key) : NULL;
    bool is_outside = !strncmp(path, "flags", 5) || !strncmp(path, "fleet", 5);
    struct ebb__stage *t = NULL;
    char full[256];
    int rc = stage_of(s, table, &t, err);

    if (!rc && !strcmp(path, "runs")) {
        rc = forget_history(t, value, err);
        ebb__session_touch(s, table);
        return rc;
    }
    if (!rc)
        rc = check_path(path, err);
    if (rc)
        return rc;
    snprintf(full, sizeof full, "%s%.220s", is_outside ? "" : "table.", path);
    rc = ebb__stage_change(t, full, value, err);
    t->settings_made++;
    ebb__session_touch(s, table);
    return rc;
}

int ebb_session_reset(struct ebb_session *s, struct ebb_err *err)
{
    int rc = 0;

    for (size_t t = 0; !rc && t < s->table_count; t++)
        rc = ebb__stage_reset(s->tables[t], err);
    for (size_t i = 0; !rc && i < s->bound_count; i++)
        rc = ebb__bound_reset(s, s->bound[i], err);
    s->is_paused = false;
    s->is_changed = true;
    s->decisions = s->runs = s->events = 0;
    return rc;
}
