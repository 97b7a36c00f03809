/* SPDX-License-Identifier: Apache-2.0
 *
 * The fleet: which runs are under way, by the slots that their policies share.
 */
#include "service/pass_priv.h"

#define RUNS_MAX 10000 /* started ones that are looked at */

struct counting {
    const struct ebb_policy_list *policies;
    const struct ebb_config *config;
    struct ebb_strs runs; /* the policy of each, "" by hand */
    bool is_unknown;      /* the policy of a run is not among them */
};

static const char *slot_of(const struct ebb_value *guard)
{
    return ebb_value_text_of(ebb_value_get(guard, "fleet"), "slot");
}

/* What a policy itself says of its slot. */
static const char *own_slot(const struct ebb_policy *policy)
{
    return slot_of(ebb_value_get(ebb_policy_get_manifest(policy), "guard"));
}

static int on_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct counting *c = data;
    const struct ebb_policy *policy = ebb__policy_list_find(c->policies, record->policy);

    if (!policy && record->policy[0])
        c->is_unknown = true;
    return ebb_strs_add(&c->runs, policy ? ebb_policy_get_name(policy) : "", err);
}

/* Whether runs of a policy hold the slot: it says so, or one of its bindings, on whichever tables. */
static bool may_hold(const struct counting *c, const char *policy, const char *slot)
{
    const struct ebb_policy *p = policy[0] ? ebb__policy_list_find(c->policies, policy) : NULL;
    const char *its = p ? own_slot(p) : NULL;

    if (its && !strcmp(its, slot))
        return true;
    for (size_t i = 0; p && i < c->config->binding_count; i++) {
        const struct ebb_binding *b = &c->config->bindings[i];

        its = b->policy && !strcmp(b->policy, policy) ? slot_of(b->guard) : NULL;
        if (its && !strcmp(its, slot))
            return true;
    }
    return false;
}

/* What runs in a slot is known when the policies of all runs are; an unknown count is left out, and holds back. */
static void put_slot(struct ebb_value *slots, const char *name, const struct counting *c)
{
    struct ebb_value *slot;
    int64_t n = 0;

    if (!name || ebb_value_get(slots, name))
        return;
    slot = ebb_value_put_map(slots, name);
    for (size_t i = 0; i < c->runs.count; i++)
        n += may_hold(c, c->runs.items[i], name);
    if (!c->is_unknown)
        ebb_value_put_int(slot, "running", n);
}

static void put_slots(struct ebb_value *fleet, const struct counting *c, const struct ebb_policy *policy)
{
    struct ebb_value *slots = ebb_value_put_map(fleet, "slots");

    for (size_t i = 0; i < c->policies->count; i++)
        put_slot(slots, own_slot(c->policies->items[i]), c);
    put_slot(slots, own_slot(policy), c);
    for (size_t i = 0; i < c->config->binding_count; i++)
        put_slot(slots, slot_of(c->config->bindings[i].guard), c);
    ebb_value_put_int(fleet, "running", (int64_t)c->runs.count);
}

int ebb__pass_fleet(struct ebb_workspace *ws, const struct ebb_policy_list *policies, const struct ebb_policy *policy,
                    struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_record_filter filter = {NULL, NULL, NULL, "started", NULL, 0, true, RUNS_MAX};
    struct ebb_store *store = ebb_workspace_site(ws)->store;
    struct counting c = {.policies = policies, .config = ebb_workspace_config(ws)};
    int rc = 0;

    *out = NULL;
    ebb_strs_init(&c.runs);
    if (store)
        rc = ebb_store_list(store, EBB_RECORD_RUN, &filter, on_run, &c, err);
    if (!rc) {
        *out = ebb_value_new_map(NULL);
        put_slots(*out, &c, policy);
        rc = ebb_value_check(*out, "fleet", err);
    }
    if (rc) {
        ebb_value_free(*out);
        *out = NULL;
    }
    ebb_strs_fini(&c.runs);
    return rc;
}
