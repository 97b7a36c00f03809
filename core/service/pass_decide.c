/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "service/bundles.h"
#include "service/generation.h"
#include "service/pass_question_priv.h"
#include "service/schedule.h"

int ebb__pass_put_decision(struct ebb_workspace *ws, const char *id, const char *table, const char *uuid,
                           const struct ebb_policy *policy, const struct ebb_decision *decision, struct ebb_err *err)
{
    struct ebb_site *site = ebb_workspace_site(ws);
    struct ebb_record record = {id,
                                table,
                                uuid ? uuid : "",
                                ebb_policy_get_name(policy),
                                ebb_verdict_name(ebb_decision_get_verdict(decision)),
                                ebb_clock_now(&site->clock),
                                0,
                                "",
                                ebb_decision_get_record(decision)};

    int rc = site->store ? ebb_bundles_put(site->store, policy, err) : 0;

    return site->store && !rc ? ebb_store_put(site->store, EBB_RECORD_DECISION, &record, err) : rc;
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

const struct ebb_binding *ebb__pass_binding_at(const struct ebb_workspace *ws, size_t index)
{
    const struct ebb_config *c = ebb_workspace_config(ws);
    const struct ebb_generation *g = ebb_workspace_generation(ws);

    if (index < c->binding_count)
        return &c->bindings[index];
    index -= c->binding_count;
    return g && index < g->object_binding_count ? &g->object_bindings[index] : NULL;
}

const struct ebb_binding *ebb__pass_binding(const struct ebb_workspace *ws, const struct ebb_policy *policy,
                                            const struct ebb_value *facts)
{
    const struct ebb_value *t = ebb_value_get(facts, "table");
    const struct ebb_binding *b;

    for (size_t i = 0; (b = ebb__pass_binding_at(ws, i)) != NULL; i++)
        if (!strcmp(b->policy, ebb_policy_get_name(policy)) &&
            ebb__binding_may_take(b, policy, text_of(t, "catalog"), text_of(t, "namespace"), text_of(t, "name")))
            return b;
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
    rc = ebb_schedule_load_of(store, policy, uuid, &schedule, err);
    if (!rc)
        *out = schedule.active_since_ms;
    return rc;
}

void ebb__pass_bind_input(const struct ebb_workspace *ws, const struct ebb_binding *binding, const char *table,
                          struct ebb_decide_input *input)
{
    input->mode = binding ? (enum ebb_mode)binding->mode : EBB_MODE_OBSERVE;
    input->bound = true;
    input->allow_below_floor =
        (binding && binding->allow_below_floor) || ebb_config_allows_below_floor(ebb_workspace_config(ws), table);
    input->allow_override_quiet = binding && binding->allow_override_quiet;
}

struct asking {
    struct ebb_workspace *ws;
    const struct ebb_decide_options *o;
    struct ebb_facts_options facts;
    struct ebb_policy *policy;
    struct ebb_value *first, *trigger;
    struct ebb_policy_list list;
    struct ebb__fleet fleet;
    struct ebb_settings *settings;
    struct ebb__question question;
    struct ebb_buf table; /* its dotted name */
    char id[40];
};

static int read_facts(void *data, unsigned manifests, struct ebb_value **out, struct ebb_err *err)
{
    struct asking *a = data;

    a->facts.manifests = manifests;
    return ebb__pass_read_facts(a->ws, a->o->table, &a->facts, a->question.input.now_ms, out, err);
}

/* Who else runs is told by all policies of the folder; where those can't be read it is not known. */
static int read_fleet(struct asking *a, struct ebb_err *err)
{
    int rc;

    if (!ebb_workspace_config(a->ws)->policies || ebb_facts_is_fixture(a->o->table))
        return 0;
    if (ebb__policy_list_load(a->ws, &a->list, NULL))
        return 0;
    ebb__fleet_init(&a->fleet, ebb_workspace_config(a->ws), a->list.items, a->list.count);
    a->fleet.more = a->policy;
    rc = ebb__fleet_load(&a->fleet, ebb_workspace_site(a->ws)->store, err);
    return rc ? rc : ebb__fleet_get(&a->fleet, &a->facts.fleet, err);
}

static int prepare(struct asking *a, struct ebb_err *err)
{
    struct ebb_decide_input *input = &a->question.input;
    const struct ebb_value *t = ebb_value_get(a->first, "table");
    const struct ebb_binding *binding = ebb__pass_binding(a->ws, a->policy, a->first);
    struct ebb_settings_site site;
    int rc;

    table_name(a->first, &a->table);
    ebb_binding_site(binding, &site);
    rc = ebb_settings_new_bound(a->policy, &site, ebb_value_get(t, "properties"), &a->settings, err);
    if (rc)
        return rc;
    a->trigger = hand_trigger(a->first, a->o->events ? a->o->events->count : 0, input->now_ms);
    rc = ebb_value_check(a->trigger, "trigger", err);
    if (rc)
        return rc;
    ebb__pass_bind_input(a->ws, binding, ebb_buf_cstr(&a->table), input);
    input->facts = a->first;
    input->trigger = a->trigger;
    input->settings = a->settings;
    ebb_store_new_id(ebb_workspace_site(a->ws)->store, "d", input->now_ms, a->id);
    input->id = a->id;
    input->with_inputs = true;
    a->question.policy = a->policy;
    a->question.read = ebb_facts_is_fixture(a->o->table) ? NULL : read_facts;
    a->question.data = a;
    return find_active_since(a->ws, a->policy, a->first, a->o->table, &input->active_since_ms, err);
}

static int ask(struct asking *a, struct ebb_decision **out, struct ebb_err *err)
{
    int put, rc = prepare(a, err);

    if (rc)
        return rc;
    rc = ebb__question_decide(&a->question, out, err);
    if (!*out)
        return rc;
    put = ebb__pass_put_decision(a->ws, a->id, ebb_buf_cstr(&a->table),
                                 ebb_value_text_of(ebb_value_get(a->first, "table"), "uuid"), a->policy, *out,
                                 rc ? NULL : err);
    return rc ? rc : put;
}

int ebb_pass_decide(struct ebb_workspace *ws, const struct ebb_decide_options *o, struct ebb_decision **out,
                    struct ebb_err *err)
{
    struct asking a = {.ws = ws, .o = o, .facts = {.overlaps = -1, .events = o->events}};
    int rc;

    *out = NULL;
    ebb_buf_init(&a.table, 16384);
    a.question.input.now_ms = ebb_clock_now(&ebb_workspace_site(ws)->clock);
    rc = ebb_pass_load_policy(ws, o->policy, &a.policy, err);
    if (!rc) {
        a.facts.policy = ebb_policy_get_name(a.policy);
        a.facts.was = ebb_policy_get_was(a.policy);
        rc = read_fleet(&a, err);
    }
    if (!rc)
        rc = read_facts(&a, 0, &a.first, err);
    a.facts.overlaps = ebb_value_int_of(ebb_value_get(a.first, "table"), "location_overlaps", -1);
    if (!rc)
        rc = ask(&a, out, err);
    ebb__question_fini(&a.question);
    ebb_settings_free(a.settings);
    ebb_value_free(a.trigger);
    ebb_value_free(a.first);
    ebb__fleet_fini(&a.fleet);
    ebb__policy_list_fini(&a.list);
    ebb_policy_free(a.policy);
    ebb_buf_fini(&a.table);
    return rc;
}
