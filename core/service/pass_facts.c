/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pass_priv.h"

int ebb__pass_read_facts(struct ebb_workspace *ws, const char *table, const struct ebb_facts_options *options,
                         int64_t now_ms, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_facts_options o = *options;
    struct ebb__neighbours neighbours;
    struct ebb_table *t = NULL;
    int rc;

    *out = NULL;
    if (ebb_facts_is_fixture(table))
        return ebb_facts_load(table, o.events, now_ms, out, err);
    rc = ebb_table_open(ebb_workspace_site(ws), table, &t, err);
    if (rc)
        return rc;
    if (o.overlaps < 0) {
        memset(&neighbours, 0, sizeof neighbours);
        o.overlaps = ebb__neighbours_count(&neighbours, ws, t);
        ebb__neighbours_fini(&neighbours);
    }
    o.flags = ebb_workspace_config(ws)->flags;
    rc = ebb_facts_new(ebb_workspace_site(ws), t, &o, now_ms, out, err);
    ebb_table_free(t);
    return rc;
}

int ebb__pass_facts(struct ebb_workspace *ws, const struct ebb_decide_options *o, const struct ebb_policy *policy,
                    int64_t now_ms, struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_facts_options options = {
        .policy = ebb_policy_get_name(policy), .overlaps = -1, .was = ebb_policy_get_was(policy), .events = o->events};

    return ebb__pass_read_facts(ws, o->table, &options, now_ms, out, err);
}
