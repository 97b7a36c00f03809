/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "service/pass_priv.h"
#include "service/schedule.h"

int ebb__pass_put_decision(struct ebb_workspace *ws, const char *id, const char *table, const char *uuid,
                           const char *policy, const struct ebb_decision *decision, struct ebb_err *err)
{
    struct ebb_site *site = ebb_workspace_site(ws);
    struct ebb_record record = {id,
                                table,
                                uuid ? uuid : "",
                                policy,
                                ebb_verdict_name(ebb_decision_get_verdict(decision)),
                                ebb_clock_now(&site->clock),
                                0,
                                "",
                                ebb_decision_get_record(decision)};

    return site->store ? ebb_store_put(site->store, EBB_RECORD_DECISION, &record, err) : 0;
}

bool ebb__binding_may_take(const struct ebb_binding *binding, const struct ebb_policy *policy, const char *catalog,
                           const char *namespace_, const char *name)
{
    const char *ns = namespace_ ? namespace_ : "";
    struct ebb_buf label;
    bool takes = false;

    if (ebb_policy_has_target(policy) && !ebb_policy_may_target(policy, catalog, ns, name))
        return false;
    if (!binding->tables.count)
        return ebb_policy_has_target(policy);
    ebb_buf_init(&label, 65536);
    ebb_buf_printf(&label, "%s.%s%s%s", catalog, ns, ns[0] ? "." : "", name);
    for (size_t i = 0; !takes && !label.bad && i < binding->tables.count; i++)
        takes = ebb_table_glob_is_match(binding->tables.items[i], ebb_buf_cstr(&label));
    ebb_buf_fini(&label);
    return takes;
}

static const char *text_of(const struct ebb_value *table, const char *key)
{
    const char *text = ebb_value_text_of(table, key);

    return text ? text : "";
}

const struct ebb_binding *ebb__pass_binding(const struct ebb_workspace *ws, const struct ebb_policy *policy,
                                            const struct ebb_value *facts)
{
    const struct ebb_config *c = ebb_workspace_config(ws);
    const struct ebb_value *t = ebb_value_get(facts, "table");

    for (size_t i = 0; i < c->binding_count; i++)
        if (!strcmp(c->bindings[i].policy, ebb_policy_get_name(policy)) &&
            ebb__binding_may_take(&c->bindings[i], policy, text_of(t, "catalog"), text_of(t, "namespace"),
                                  text_of(t, "name")))
            return &c->bindings[i];
    return NULL;
}

/* A decision that was asked for: trigger manual, or event when events were given; those are the last of the facts. */
static struct ebb_value *hand_trigger(const struct ebb_value *facts, size_t given, int64_t now_ms)
{
    struct ebb_value *v = ebb_value_new_map(NULL);
    struct ebb_value *list;
    const struct ebb_value *events = ebb_value_get(facts, "events");
    size_t count = ebb_value_get_count(events);

    ebb_value_put_str(v, "kind", given ? "event" : "manual");
    ebb_value_put_int(v, "scheduled_for", now_ms);
    list = ebb_value_put_list(v, "events");
    for (size_t i = count > given ? count - given : 0; i < count; i++)
        ebb_value_add_copy(list, ebb_value_get_at(events, i));
    return v;
}

static void table_name(const struct ebb_value *facts, struct ebb_buf *out)
{
    const struct ebb_value *t = ebb_value_get(facts, "table");
    const char *ns = text_of(t, "namespace");

    ebb_buf_printf(out, "%s.%s%s%s", text_of(t, "catalog"), ns, ns[0] ? "." : "", text_of(t, "name"));
}

/* Since when passes know the policy on the table; 0: never, or it is a fixture, which depends on nothing here. */
static int find_active_since(struct ebb_workspace *ws, const struct ebb_policy *policy, const struct ebb_value *facts,
                             const char *table, int64_t *out, struct ebb_err *err)
{
    const char *uuid = ebb_value_text_of(ebb_value_get(facts, "table"), "uuid");
    struct ebb_store *store = ebb_workspace_site(ws)->store;
    struct ebb_schedule schedule;
    int rc = 0;

    *out = 0;
    if (!store || !uuid || ebb_facts_is_fixture(table))
        return 0;
    rc = ebb_schedule_load(store, ebb_policy_get_name(policy), uuid, &schedule, err);
    if (!rc)
        *out = schedule.active_since_ms;
    return rc;
}

static int decide(struct ebb_workspace *ws, const struct ebb_policy *policy, const struct ebb_value *facts,
                  const struct ebb_decide_options *o, struct ebb_decision **out, struct ebb_err *err)
{
    struct ebb_site *site = ebb_workspace_site(ws);
    const struct ebb_binding *binding = ebb__pass_binding(ws, policy, facts);
    struct ebb_decide_input input;
    struct ebb_value *trigger;
    struct ebb_buf name;
    char id[40];
    int rc, put;

    memset(&input, 0, sizeof input);
    ebb_buf_init(&name, 16384);
    table_name(facts, &name);
    input.facts = facts;
    input.now_ms = ebb_clock_now(&site->clock);
    trigger = hand_trigger(facts, o->events ? o->events->count : 0, input.now_ms);
    input.trigger = trigger;
    input.overrides = binding ? binding->params : NULL;
    input.mode = binding ? (enum ebb_mode)binding->mode : EBB_MODE_OBSERVE;
    input.bound = true;
    input.allow_below_floor = (binding && binding->allow_below_floor) ||
                              ebb_config_allows_below_floor(ebb_workspace_config(ws), ebb_buf_cstr(&name));
    input.allow_override_quiet = binding && binding->allow_override_quiet;
    ebb_store_new_id(site->store, "d", input.now_ms, id);
    input.id = id;
    rc = find_active_since(ws, policy, facts, o->table, &input.active_since_ms, err);
    if (!rc)
        rc = ebb_decide(policy, &input, out, err);
    if (*out) {
        put = ebb__pass_put_decision(ws, id, ebb_buf_cstr(&name),
                                     ebb_value_text_of(ebb_value_get(facts, "table"), "uuid"),
                                     ebb_policy_get_name(policy), *out, rc ? NULL : err);
        rc = rc ? rc : put;
    }
    ebb_value_free(trigger);
    ebb_buf_fini(&name);
    return rc;
}

int ebb_pass_decide(struct ebb_workspace *ws, const struct ebb_decide_options *o, struct ebb_decision **out,
                    struct ebb_err *err)
{
    struct ebb_policy *policy = NULL;
    struct ebb_value *facts = NULL;
    int rc;

    *out = NULL;
    rc = ebb_pass_load_policy(ws, o->policy, &policy, err);
    if (!rc)
        rc = ebb__pass_facts(ws, o, policy, ebb_clock_now(&ebb_workspace_site(ws)->clock), &facts, err);
    if (!rc)
        rc = decide(ws, policy, facts, o, out, err);
    ebb_value_free(facts);
    ebb_policy_free(policy);
    return rc;
}
