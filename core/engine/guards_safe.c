/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/guards_priv.h"

#include <stdio.h>

#include "base/location.h"

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
    struct ebb__guard_row *row = ebb__guard_add(g, "guard.target", is_target);

    if (!is_target)
        snprintf(row->text, sizeof row->text, "%s",
                 ebb_policy_has_target(policy) ? "the policy does not name this table" : "no binding names this table");
    return is_target;
}

/* 24 h between the cutoff and now, unless configured otherwise; never the future. */
bool ebb__guard_floor(struct ebb__guards *g, const struct ebb__eval *e)
{
    int64_t cutoff = ebb_value_int_of(e->action, "older_than", INT64_MAX), now = e->input->now_ms;
    bool is_good = cutoff <= now && (e->input->allow_below_floor || cutoff <= now - EBB_DECIDE_FLOOR_MS);
    struct ebb__guard_row *row = ebb__guard_add(g, "guard.floor", is_good);

    if (!is_good)
        snprintf(row->text, sizeof row->text, "%s",
                 cutoff > now ? "the cutoff lies in the future" : "the cutoff is younger than 24 h");
    return is_good;
}

bool ebb__guard_location(struct ebb__guards *g, const struct ebb__eval *e)
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
    g->has_run_out = g->has_run_out || rc == -(int)EBB_ENOMEM;
    row = ebb__guard_add(g, "guard.location", !rc && inside);
    if (rc)
        snprintf(row->text, sizeof row->text, "%.190s", err.message);
    else if (!inside)
        snprintf(row->text, sizeof row->text, "outside of the table's location");
    return !rc && inside;
}
