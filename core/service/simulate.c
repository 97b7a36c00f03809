/* SPDX-License-Identifier: Apache-2.0
 *
 * Setting a simulation up: which policies, which tables, and what is known of both.
 */
#include "service/simulate.h"

#include <stdlib.h>

#include "base/time.h"
#include "service/simulate_priv.h"

#define AHEAD_MAX_MS ((int64_t)5 * 366 * 24 * 3600 * 1000)

int ebb_sleep_parse(const char *text, struct ebb_sleep *out, struct ebb_err *err)
{
    const char *slash = strchr(text, '/');
    char from[80];
    int rc;

    if (!slash || (size_t)(slash - text) >= sizeof from)
        return ebb_err_set(err, EBB_EUSAGE, "--asleep %.100s: FROM/TO is wanted, two instants", text);
    memcpy(from, text, (size_t)(slash - text));
    from[slash - text] = '\0';
    rc = ebb_time_parse(from, NULL, &out->from_ms, err);
    if (!rc)
        rc = ebb_time_parse(slash + 1, NULL, &out->to_ms, err);
    if (rc)
        return ebb_err_as(err, EBB_EUSAGE, "--asleep");
    if (out->to_ms <= out->from_ms)
        return ebb_err_set(err, EBB_EUSAGE, "--asleep %.100s: TO is not after FROM", text);
    return 0;
}

/* ---- scenes ---- */

static const char *text_in(const struct ebb_value *map, const char *key)
{
    const char *text = ebb_value_text_of(map, key);

    return text ? text : "";
}

static int name_scene(struct ebb__scene *c, const struct ebb_value *facts, struct ebb_err *err)
{
    const struct ebb_value *t = ebb_value_get(facts, "table");
    const char *ns = text_in(t, "namespace");
    struct ebb_buf name;

    ebb_buf_init(&name, 65536);
    ebb_buf_printf(&name, "%s.%s%s%s", text_in(t, "catalog"), ns, ns[0] ? "." : "", text_in(t, "name"));
    c->name = ebb_buf_take(&name);
    ebb_buf_fini(&name);
    return c->name ? 0 : ebb_err_nomem(err);
}

static void free_scene(struct ebb__scene *c)
{
    if (!c)
        return;
    ebb_arrivals_free(c->arrivals);
    ebb_session_free(c->session);
    free(c->label);
    free(c->name);
    free(c);
}

/* What passes left in the store. */
static int take_over(const struct ebb__simulation *s, const struct ebb__scene *c, const struct ebb_policy *policy,
                     struct ebb_err *err)
{
    struct ebb_value *own = NULL;
    int rc = ebb_facts_is_fixture(c->label) ? 0 : ebb_pass_facts(s->ws, c->label, policy, &own, err);

    if (!rc)
        rc = ebb__session_recall(c->session, s->ws, c->label, policy, ebb_value_get(own, "runs"), err);
    ebb_value_free(own);
    return rc;
}

static bool is_taken(const struct ebb_policy *policy, const struct ebb_value *facts)
{
    const struct ebb_value *t = ebb_value_get(facts, "table");

    return !ebb_policy_has_target(policy) ||
           ebb_policy_is_target(policy, text_in(t, "catalog"), text_in(t, "namespace"), text_in(t, "name"),
                                ebb_value_get(t, "properties"));
}

static int bind_policy(const struct ebb__simulation *s, struct ebb__scene *c, const struct ebb_policy *policy,
                       const struct ebb_value *facts, struct ebb_err *err)
{
    struct ebb_session_binding b;
    int rc;

    if (!is_taken(policy, facts) || (!s->only && !ebb__pass_binding(s->ws, policy, facts)))
        return 0;
    ebb__session_binding(s->ws, policy, facts, &b);
    b.mode = EBB_MODE_ENFORCE; /* runs are carried out */
    rc = ebb_session_bind(c->session, policy, &b, err);
    return rc ? rc : take_over(s, c, policy, err);
}

static int fill_scene(const struct ebb__simulation *s, struct ebb__scene *c, struct ebb_err *err)
{
    struct ebb_session_options options = {
        .now_ms = s->now_ms, .ends_at_once = true, .has_effects = true, .decided = ebb__scene_tell, .data = c};
    struct ebb_value *facts = NULL;
    int rc = ebb_pass_facts(s->ws, c->label, s->only, &facts, err);

    if (!rc)
        rc = name_scene(c, facts, err);
    if (!rc)
        rc = ebb_session_new(&options, &c->session, err);
    if (!rc)
        rc = ebb_session_add_table(c->session, facts, NULL, err);
    if (!rc)
        rc = ebb_arrivals_new(facts, s->now_ms, ebb_facts_is_fixture(c->label), &c->arrivals, err);
    if (!rc && s->only)
        rc = bind_policy(s, c, s->only, facts, err);
    for (size_t i = 0; !rc && !s->only && i < s->policies.count; i++)
        rc = bind_policy(s, c, s->policies.items[i], facts, err);
    ebb_value_free(facts);
    return rc;
}

static int add_scene(struct ebb__simulation *s, const char *table, struct ebb_err *err)
{
    struct ebb__scene **grown, *c;
    int rc;

    if (ebb_site_is_cancelled(ebb_workspace_site(s->ws)))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: while looking at tables");
    grown = realloc(s->scenes, (s->count + 1) * sizeof(struct ebb__scene *));
    c = calloc(1, sizeof *c);

    s->scenes = grown ? grown : s->scenes;
    if (c)
        c->label = strdup(table);
    if (!grown || !c || !c->label) {
        free_scene(c);
        return ebb_err_nomem(err);
    }
    c->simulation = s;
    rc = fill_scene(s, c, err);
    if (rc || !ebb_session_policy_at(c->session, 0)) {
        if (!rc)
            ebb_log_say(&ebb_workspace_site(s->ws)->log, EBB_LOG_WARN, "%s: no policy takes it", table);
        free_scene(c);
        return rc;
    }
    c->has_next = ebb_arrivals_next(c->arrivals, s->now_ms, &c->next);
    ebb__scene_look(c);
    s->scenes[s->count++] = c;
    return 0;
}

/* ---- tables of the bindings ---- */

struct listing {
    struct ebb__simulation *s;
    struct ebb_strs labels;
};

static bool is_bound(const struct ebb__simulation *s, const struct ebb_policy *policy, const struct ebb_table_ref *ref)
{
    const struct ebb_binding *b;
    bool has_binding = false;

    for (size_t i = 0; (b = ebb__pass_binding_at(s->ws, i)) != NULL; i++) {
        if (strcmp(b->policy, ebb_policy_get_name(policy)) != 0)
            continue;
        has_binding = true;
        if (ebb__binding_may_take(b, policy, ref->catalog, ref->namespace_, ref->name))
            return true;
    }
    return !has_binding && s->only && ebb_policy_may_target(policy, ref->catalog, ref->namespace_, ref->name);
}

static int on_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct listing *l = data;
    bool is_wanted = l->s->only && is_bound(l->s, l->s->only, ref);
    struct ebb_buf label;
    int rc = 0;

    for (size_t i = 0; !is_wanted && !l->s->only && i < l->s->policies.count; i++)
        is_wanted = is_bound(l->s, l->s->policies.items[i], ref);
    if (!is_wanted)
        return 0;
    ebb_buf_init(&label, 65536);
    ebb_buf_printf(&label, "%s.%s%s%s", ref->catalog, ref->namespace_ ? ref->namespace_ : "",
                   ref->namespace_ && ref->namespace_[0] ? "." : "", ref->name);
    rc = ebb_buf_check(&label, "table name", err);
    if (!rc)
        rc = ebb_strs_add(&l->labels, ebb_buf_cstr(&label), err);
    ebb_buf_fini(&label);
    return rc;
}

/* A table that can't be read is told and left out. */
static int add_bound(struct ebb__simulation *s, struct ebb_err *err)
{
    struct ebb_site *site = ebb_workspace_site(s->ws);
    struct listing l = {.s = s};
    struct ebb_err why;
    int rc = 0;

    ebb_strs_init(&l.labels);
    for (size_t i = 0; !rc && i < site->catalog_count; i++)
        rc = ebb_catalog_list(site->catalogs[i], on_table, &l, err);
    for (size_t i = 0; !rc && i < l.labels.count; i++) {
        rc = add_scene(s, l.labels.items[i], &why);
        if (rc && rc != -(int)EBB_ENOMEM && rc != -(int)EBB_ECANCELLED && rc != -(int)EBB_ECONFIG) {
            ebb_log_say(&site->log, EBB_LOG_WARN, "%s", why.message);
            rc = 0;
        } else if (rc && err)
            *err = why;
    }
    ebb_strs_fini(&l.labels);
    return rc;
}

/* ---- all ---- */

static int load_policies(struct ebb__simulation *s, struct ebb_err *err)
{
    int rc;

    s->only = s->o->loaded;
    if (s->only)
        return 0;
    if (s->o->policy) {
        rc = ebb_pass_load_policy(s->ws, s->o->policy, &s->own, err);
        s->only = s->own;
        return rc;
    }
    if (!ebb__pass_binding_at(s->ws, 0)) {
        rc = ebb_err_set(err, EBB_ECONFIG, "simulate: no policy is bound to any table");
        ebb_err_hint(err, "name one: --policy NAME|FILE --table TABLE");
        return rc;
    }
    rc = ebb__policy_list_load(s->ws, &s->policies, err);
    if (!rc && s->policies.first_error.error) {
        if (err)
            *err = s->policies.first_error;
        rc = -(int)s->policies.first_error.error;
    }
    return rc;
}

static int add_tables(struct ebb__simulation *s, struct ebb_err *err)
{
    const struct ebb_strs *tables = s->o->tables;
    int rc = 0;

    for (size_t i = 0; !rc && tables && i < tables->count; i++)
        rc = add_scene(s, tables->items[i], err);
    if (!rc && (!tables || !tables->count))
        rc = add_bound(s, err);
    if (rc || s->count)
        return rc;
    rc = ebb_err_set(err, EBB_EUSAGE, "simulate: no policy takes any of the tables");
    ebb_err_hint(err, "name a table with --table, or see what is bound with ebb tables");
    return rc;
}

static int check_times(const struct ebb__simulation *s, struct ebb_err *err)
{
    const struct ebb_simulation_options *o = s->o;

    if (o->until_ms <= s->now_ms || o->until_ms - s->now_ms > AHEAD_MAX_MS)
        return ebb_err_set(err, EBB_EUSAGE, "--until: must lie ahead, at most 5 years");
    for (size_t i = 1; i < o->asleep_count; i++)
        if (o->asleep[i].from_ms < o->asleep[i - 1].to_ms)
            return ebb_err_set(err, EBB_EUSAGE, "--asleep: the times overlap, or are not in order");
    return 0;
}

int ebb_simulate(struct ebb_workspace *ws, const struct ebb_simulation_options *o, struct ebb_err *err)
{
    struct ebb__simulation s;
    int rc;

    memset(&s, 0, sizeof s);
    s.ws = ws;
    s.o = o;
    s.now_ms = ebb_clock_now(&ebb_workspace_site(ws)->clock);
    rc = check_times(&s, err);
    if (!rc)
        rc = load_policies(&s, err);
    if (!rc)
        rc = add_tables(&s, err);
    if (!rc)
        rc = ebb__simulation_run(&s, err);
    for (size_t i = 0; i < s.count; i++)
        free_scene(s.scenes[i]);
    free(s.scenes);
    ebb__policy_list_fini(&s.policies);
    ebb_policy_free(s.own);
    return rc;
}
