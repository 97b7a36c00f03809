/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a schedule: in the store under policy name and table uuid.
 */
#include "service/schedule.h"

#define SCOPE "schedule"
#define KEY_MAX_BYTES 65536

/* Policy names hold no '/'. */
static int make_key(const char *policy, const char *uuid, struct ebb_buf *out, struct ebb_err *err)
{
    ebb_buf_init(out, KEY_MAX_BYTES);
    ebb_buf_printf(out, "%s/%s", policy, uuid);
    return ebb_buf_check(out, "table uuid", err);
}

static void fill(const struct ebb_value *v, struct ebb_schedule *out)
{
    const struct ebb_value *fired = ebb_value_get(v, "fired"), *keys = ebb_value_get(v, "keys");
    const struct ebb_value *told = ebb_value_get(v, "told");

    out->active_since_ms = ebb_value_int_of(v, "active_since", 0);
    out->deferred_until_ms = ebb_value_int_of(v, "deferred_until", 0);
    out->deferred_deadline_ms = ebb_value_int_of(v, "deferred_deadline", 0);
    out->dropped = ebb_value_int_of(v, "dropped", 0);
    out->unchanged = ebb_value_int_of(v, "unchanged", 0);
    out->revised_ms = ebb_value_int_of(v, "revised", 0);
    out->revision = (uint64_t)ebb_value_int_of(v, "revision", 0);
    for (size_t i = 0; i < ebb_value_get_count(keys) && i < EBB_POLICY_TRIGGERS_MAX; i++)
        out->keys[i] = (uint64_t)ebb_value_get_int(ebb_value_get_at(keys, i), 0);
    for (size_t i = 0; i < ebb_value_get_count(fired) && i < EBB_POLICY_TRIGGERS_MAX; i++)
        out->fired_ms[i] = ebb_value_get_int(ebb_value_get_at(fired, i), 0);
    for (size_t i = 0; i < ebb_value_get_count(told) && i < EBB_POLICY_TRIGGERS_MAX; i++)
        out->told[i] = ebb_value_get_int(ebb_value_get_at(told, i), 0);
}

int ebb_schedule_load(struct ebb_store *store, const char *policy, const char *uuid, struct ebb_schedule *out,
                      struct ebb_err *err)
{
    struct ebb_value *v = NULL;
    struct ebb_buf key, json;
    bool found = false;
    int rc;

    memset(out, 0, sizeof *out);
    ebb_buf_init(&json, 65536);
    rc = make_key(policy, uuid, &key, err);
    if (!rc)
        rc = ebb_store_get_value(store, SCOPE, ebb_buf_cstr(&key), &json, &found, err);
    if (!rc && found)
        rc = ebb_value_of_json("schedule state", json.data ? json.data : "", json.len, NULL, &v, err);
    if (!rc && found)
        fill(v, out);
    ebb_value_free(v);
    ebb_buf_fini(&json);
    ebb_buf_fini(&key);
    return rc;
}

int ebb_schedule_load_of(struct ebb_store *store, const struct ebb_policy *policy, const char *uuid,
                         struct ebb_schedule *out, struct ebb_err *err)
{
    const char *was = ebb_policy_get_was(policy);
    int rc = ebb_schedule_load(store, ebb_policy_get_name(policy), uuid, out, err);

    if (rc || out->active_since_ms || !was)
        return rc;
    return ebb_schedule_load(store, was, uuid, out, err);
}

/* Most triggers are not of events: the list ends with the last that tells something. */
static void write_told(const struct ebb_schedule *s, struct ebb_jsonw *w)
{
    size_t count = EBB_POLICY_TRIGGERS_MAX;

    while (count > 0 && !s->told[count - 1])
        count--;
    if (!count)
        return;
    ebb_jsonw_key(w, "told");
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < count; i++)
        ebb_jsonw_int(w, s->told[i]);
    ebb_jsonw_end(w, ']');
}

static void write(const struct ebb_schedule *s, struct ebb_buf *out)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kint(&w, "active_since", s->active_since_ms);
    ebb_jsonw_kint(&w, "deferred_until", s->deferred_until_ms);
    ebb_jsonw_kint(&w, "deferred_deadline", s->deferred_deadline_ms);
    ebb_jsonw_kint(&w, "dropped", s->dropped);
    ebb_jsonw_kint(&w, "unchanged", s->unchanged);
    ebb_jsonw_kint(&w, "revised", s->revised_ms);
    ebb_jsonw_kint(&w, "revision", (int64_t)s->revision);
    ebb_jsonw_key(&w, "fired");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < EBB_POLICY_TRIGGERS_MAX; i++)
        ebb_jsonw_int(&w, s->fired_ms[i]);
    ebb_jsonw_end(&w, ']');
    ebb_jsonw_key(&w, "keys");
    ebb_jsonw_begin(&w, '[');
    for (size_t i = 0; i < EBB_POLICY_TRIGGERS_MAX; i++)
        ebb_jsonw_int(&w, (int64_t)s->keys[i]);
    ebb_jsonw_end(&w, ']');
    write_told(s, &w);
    ebb_jsonw_end(&w, '}');
}

int ebb_schedule_save(struct ebb_store *store, const char *policy, const char *uuid, const struct ebb_schedule *s,
                      struct ebb_err *err)
{
    struct ebb_buf key, json;
    int rc = make_key(policy, uuid, &key, err);

    ebb_buf_init(&json, 65536);
    write(s, &json);
    if (!rc)
        rc = ebb_buf_check(&json, "schedule state", err);
    if (!rc)
        rc = ebb_store_put_value(store, SCOPE, ebb_buf_cstr(&key), ebb_buf_cstr(&json), err);
    ebb_buf_fini(&json);
    ebb_buf_fini(&key);
    return rc;
}

void ebb_schedule_take(struct ebb_schedule *schedule, const struct ebb_due *due)
{
    if (due->trigger == SIZE_MAX)
        schedule->deferred_until_ms = 0;
    else
        schedule->fired_ms[due->trigger] = due->scheduled_for_ms;
    if (due->trigger != SIZE_MAX && due->until_seq > schedule->told[due->trigger])
        schedule->told[due->trigger] = due->until_seq;
}

bool ebb_schedule_settle(const struct ebb_schedule_input *in, const struct ebb_due *due,
                         const struct ebb_decision *decision, struct ebb_schedule *schedule)
{
    bool by_guard = strcmp(ebb_decision_get_by(decision), "policy") != 0;

    ebb_schedule_take(schedule, due);
    return ebb_decision_get_verdict(decision) != EBB_VERDICT_DEFER ||
           ebb_schedule_defer(in, due, ebb_decision_get_until_ms(decision), by_guard, schedule);
}
