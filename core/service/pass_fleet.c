/* SPDX-License-Identifier: Apache-2.0
 *
 * The fleet: which runs are under way, by the slots that their policies share.
 */
#include "service/pass_priv.h"

#define RUNS_MAX 10000 /* started ones that are looked at */

static const struct ebb_value *guard_of(const struct ebb_policy *policy)
{
    return ebb_value_get(ebb_value_get(ebb_policy_get_manifest(policy), "guard"), "fleet");
}

struct counting {
    const struct ebb_policy_list *policies;
    struct ebb_strs slots; /* one for each run, "" none */
    bool is_unknown;       /* the policy of a run is not among them */
};

static int on_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct counting *c = data;
    const struct ebb_policy *policy = ebb__policy_list_find(c->policies, record->policy);
    const char *slot = policy ? ebb_value_text_of(guard_of(policy), "slot") : NULL;

    if (!policy && record->policy[0])
        c->is_unknown = true;
    return ebb_strs_add(&c->slots, slot ? slot : "", err);
}

/* What runs in a slot is known when the policies of all runs are; an unknown count is left out, and holds back. */
static void put_slot(struct ebb_value *slots, const char *name, const struct counting *c)
{
    struct ebb_value *slot = ebb_value_put_map(slots, name);
    int64_t n = 0;

    for (size_t i = 0; i < c->slots.count; i++)
        n += !strcmp(c->slots.items[i], name);
    if (!c->is_unknown)
        ebb_value_put_int(slot, "running", n);
}

static void put_slots(struct ebb_value *fleet, const struct counting *c, const struct ebb_policy *policy)
{
    struct ebb_value *slots = ebb_value_put_map(fleet, "slots");
    const char *own = ebb_value_text_of(guard_of(policy), "slot");

    for (size_t i = 0; i < c->policies->count; i++) {
        const char *slot = ebb_value_text_of(guard_of(c->policies->items[i]), "slot");

        if (slot)
            put_slot(slots, slot, c);
    }
    if (own && !ebb_value_get(slots, own))
        put_slot(slots, own, c);
    ebb_value_put_int(fleet, "running", (int64_t)c->slots.count);
}

int ebb__pass_fleet(struct ebb_workspace *ws, const struct ebb_policy_list *policies, const struct ebb_policy *policy,
                    struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_record_filter filter = {NULL, NULL, NULL, "started", NULL, 0, true, RUNS_MAX};
    struct ebb_store *store = ebb_workspace_site(ws)->store;
    struct counting c = {.policies = policies};
    int rc = 0;

    *out = NULL;
    ebb_strs_init(&c.slots);
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
    ebb_strs_fini(&c.slots);
    return rc;
}
