/* SPDX-License-Identifier: Apache-2.0
 *
 * A session: its tables, its bound policies, and what they are asked.
 */
#include <stdio.h>
#include <stdlib.h>

#include "service/session_priv.h"

int ebb_session_new(const struct ebb_session_options *options, struct ebb_session **out, struct ebb_err *err)
{
    struct ebb_session *s = calloc(1, sizeof *s);
    int rc;

    *out = NULL;
    if (!s)
        return ebb_err_nomem(err);
    s->options = *options;
    s->now_ms = options->now_ms;
    rc = ebb_evaluator_new(&s->evaluator, err);
    if (rc) {
        ebb_session_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

static void free_bound(struct ebb_session *s, struct ebb__bound *b)
{
    if (!b)
        return;
    if (b->policy)
        ebb_evaluator_forget(s->evaluator, b->policy);
    for (size_t i = 0; b->pairs && i < s->table_count; i++)
        ebb__pair_free(b->pairs[i]);
    free(b->pairs);
    ebb_value_free(b->kept);
    ebb_value_free(b->overrides);
    ebb_value_free(b->params);
    free(b);
}

void ebb_session_free(struct ebb_session *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->bound_count; i++)
        free_bound(s, s->bound[i]);
    for (size_t i = 0; i < s->table_count; i++)
        ebb__stage_free(s->tables[i]);
    free(s->bound);
    free(s->tables);
    ebb_value_free(s->trigger);
    ebb_evaluator_free(s->evaluator);
    free(s);
}

/* ---- finding ---- */

struct ebb__bound *ebb__session_find(const struct ebb_session *s, const char *policy)
{
    for (size_t i = 0; policy && i < s->bound_count; i++)
        if (!strcmp(s->bound[i]->name, policy))
            return s->bound[i];
    return NULL;
}

int ebb__session_spot(struct ebb_session *s, size_t table, const char *policy, struct ebb__spot *out,
                      struct ebb_err *err)
{
    struct ebb__bound *b = ebb__session_find(s, policy);

    if (!b)
        return ebb_err_set(err, EBB_ENOT_FOUND, "policy %.100s: is not bound in this session", policy ? policy : "");
    if (table >= s->table_count)
        return ebb_err_set(err, EBB_ENOT_FOUND, "table %zu: the session has %zu", table, s->table_count);
    *out = (struct ebb__spot){s, b, s->tables[table], b->pairs[table], table};
    return 0;
}

size_t ebb_session_table_count(const struct ebb_session *s)
{
    return s->table_count;
}

int64_t ebb_session_now(const struct ebb_session *s)
{
    return s->now_ms;
}

const struct ebb_policy *ebb_session_policy(const struct ebb_session *s, const char *name)
{
    const struct ebb__bound *b = ebb__session_find(s, name);

    return b ? b->policy : NULL;
}

const struct ebb_policy *ebb_session_policy_at(const struct ebb_session *s, size_t index)
{
    return index < s->bound_count ? s->bound[index]->policy : NULL;
}

int ebb_session_get_totals(const struct ebb_session *s, const char *policy, struct ebb_session_totals *out,
                           struct ebb_err *err)
{
    const struct ebb__bound *b = ebb__session_find(s, policy);

    if (!b)
        return ebb_err_set(err, EBB_ENOT_FOUND, "policy %.100s: is not bound in this session", policy);
    *out = b->totals;
    return 0;
}

const struct ebb_value *ebb_session_facts(struct ebb_session *s, size_t table, const char *policy, struct ebb_err *err)
{
    struct ebb__spot at = {0};

    if (policy)
        return ebb__session_spot(s, table, policy, &at, err) || ebb__spot_prepare(&at, err) ? NULL : at.pair->facts;
    if (table < s->table_count)
        return s->tables[table]->facts;
    ebb_err_set(err, EBB_ENOT_FOUND, "table %zu: the session has %zu", table, s->table_count);
    return NULL;
}

/* ---- tables ---- */

/* Room for one more pointer. */
static int widen(void *list, size_t count, struct ebb_err *err)
{
    void **items, ***at = list;

    items = realloc(*at, (count + 1) * sizeof *items);
    if (!items)
        return ebb_err_nomem(err);
    *at = items;
    items[count] = NULL;
    return 0;
}

int ebb_session_add_table(struct ebb_session *s, const struct ebb_value *facts, size_t *index, struct ebb_err *err)
{
    struct ebb__stage *t = NULL;
    int rc = widen(&s->tables, s->table_count, err);
    size_t made = 0;

    if (!rc)
        rc = ebb__stage_new(facts, &t, err);
    for (; !rc && made < s->bound_count; made++) {
        rc = widen(&s->bound[made]->pairs, s->table_count, err);
        if (!rc)
            rc = ebb__pair_new(s, t, &s->bound[made]->pairs[s->table_count], err);
    }
    if (rc) {
        for (size_t i = 0; i + 1 < made; i++)
            ebb__pair_free(s->bound[i]->pairs[s->table_count]);
        ebb__stage_free(t);
        return rc;
    }
    s->tables[s->table_count] = t;
    if (index)
        *index = s->table_count;
    s->table_count++;
    s->is_changed = true;
    return 0;
}

int ebb_session_active_since(struct ebb_session *s, size_t table, const char *policy, int64_t at_ms,
                             struct ebb_err *err)
{
    struct ebb__spot at = {0};
    int rc = ebb__session_spot(s, table, policy, &at, err);

    if (!rc)
        at.pair->known_since_ms = at_ms;
    return rc;
}

/* ---- bindings ---- */

/* Parameters of the binding with the overrides of the session over them. */
static int merge_params(struct ebb__bound *b, struct ebb_err *err)
{
    const struct ebb_value *own = ebb_value_get(b->kept, "params");
    struct ebb_value *params = NULL;
    int rc = 0;

    if (own || b->overrides) {
        params = ebb_value_new_map(NULL);
        for (size_t i = 0; i < ebb_value_get_count(own); i++)
            ebb_value_put_copy(params, ebb_value_get_key(own, i).p, ebb_value_get_at(own, i));
        for (size_t i = 0; i < ebb_value_get_count(b->overrides); i++)
            ebb_value_put_copy(params, ebb_value_get_key(b->overrides, i).p, ebb_value_get_at(b->overrides, i));
        rc = ebb_value_check(params, "parameters", err);
    }
    if (rc) {
        ebb_value_free(params);
        return rc;
    }
    ebb_value_free(b->params);
    b->params = params;
    return 0;
}

static int keep_binding(struct ebb__bound *b, const struct ebb_session_binding *binding, struct ebb_err *err)
{
    struct ebb_value *kept = ebb_value_new_map(NULL);
    int rc;

    ebb_value_put_copy(kept, "params", binding->params);
    ebb_value_put_copy(kept, "blackouts", binding->blackouts);
    ebb_value_put_copy(kept, "guard", binding->guard);
    ebb_value_put_str(kept, "blackout_tz", binding->blackout_tz);
    rc = ebb_value_check(kept, "binding", err);
    if (rc) {
        ebb_value_free(kept);
        return rc;
    }
    ebb_value_free(b->kept);
    b->kept = kept;
    b->binding = *binding;
    b->binding.params = ebb_value_get(kept, "params");
    b->binding.blackouts = ebb_value_get(kept, "blackouts");
    b->binding.guard = ebb_value_get(kept, "guard");
    b->binding.blackout_tz = ebb_value_text_of(kept, "blackout_tz");
    return merge_params(b, err);
}

void ebb__bound_site(const struct ebb__bound *b, struct ebb_settings_site *out)
{
    *out = (struct ebb_settings_site){b->params, b->binding.guard, b->binding.blackouts, b->binding.blackout_tz};
}

/* Whether the settings of a policy can be made for each table. */
static int check_settings(const struct ebb_session *s, const struct ebb_policy *policy,
                          const struct ebb_settings_site *site, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < s->table_count; i++) {
        const struct ebb_value *table = ebb_value_get(s->tables[i]->facts, "table");
        struct ebb_settings *settings = NULL;

        rc = ebb_settings_new_bound(policy, site, ebb_value_get(table, "properties"), &settings, err);
        ebb_settings_free(settings);
    }
    return rc;
}

static int check_binding(const struct ebb_session *s, const struct ebb_policy *policy,
                         const struct ebb_session_binding *b, struct ebb_err *err)
{
    struct ebb_settings_site site = {b->params, b->guard, b->blackouts, b->blackout_tz};

    return check_settings(s, policy, &site, err);
}

/* The same with what is bound, overrides included. */
static int check_bound(const struct ebb_session *s, const struct ebb__bound *b, const struct ebb_policy *policy,
                       struct ebb_err *err)
{
    struct ebb_settings_site site;

    ebb__bound_site(b, &site);
    return check_settings(s, policy, &site, err);
}

static bool is_same_trigger(const struct ebb_trigger *a, const struct ebb_trigger *b)
{
    return a->kind == b->kind && !strcmp(a->text ? a->text : "", b->text ? b->text : "") &&
           !strcmp(a->tz ? a->tz : "", b->tz ? b->tz : "") && a->anchor == b->anchor;
}

/* A trigger that another revision put in place of the old one is new: nothing from before is caught up. */
static int carry_schedule(const struct ebb__spot *at, const struct ebb_settings *old, struct ebb_err *err)
{
    size_t known = old ? ebb_settings_get_trigger_count(old) : 0;
    struct ebb_schedule *schedule = &at->pair->schedule;
    int rc = ebb__spot_prepare(at, err);

    for (size_t i = 0; !rc && i < ebb_settings_get_trigger_count(at->pair->settings); i++)
        if (i >= known ||
            !is_same_trigger(ebb_settings_get_trigger(old, i), ebb_settings_get_trigger(at->pair->settings, i)))
            schedule->fired_ms[i] = at->session->now_ms;
    if (schedule->deferred_until_ms) /* decided again at once */
        schedule->deferred_until_ms = at->session->now_ms;
    at->pair->is_blocked = at->pair->is_blocked && at->pair->running;
    return rc;
}

/* Overrides of parameters that a new revision does not have are dropped. */
static int keep_overrides(struct ebb__bound *b, const struct ebb_policy *policy, struct ebb_err *err)
{
    const struct ebb_value *params = ebb_value_get(ebb_policy_get_manifest(policy), "params");
    struct ebb_value *kept = NULL;
    int rc;

    if (!b->overrides)
        return 0;
    kept = ebb_value_new_map(NULL);
    for (size_t i = 0; i < ebb_value_get_count(b->overrides); i++)
        if (ebb_value_get(params, ebb_value_get_key(b->overrides, i).p))
            ebb_value_put_copy(kept, ebb_value_get_key(b->overrides, i).p, ebb_value_get_at(b->overrides, i));
    rc = ebb_value_check(kept, "parameters", err);
    if (rc) {
        ebb_value_free(kept);
        return rc;
    }
    ebb_value_free(b->overrides);
    b->overrides = kept;
    return 0;
}

static int replace(struct ebb_session *s, struct ebb__bound *b, const struct ebb_policy *policy,
                   const struct ebb_session_binding *binding, struct ebb_err *err)
{
    const struct ebb_policy *before = b->policy;
    int rc = check_binding(s, policy, binding, err);

    if (!rc)
        rc = keep_overrides(b, policy, err);
    if (!rc)
        rc = keep_binding(b, binding, err);
    if (!rc && b->overrides && check_bound(s, b, policy, NULL)) {
        ebb_value_free(b->overrides); /* what no longer fits goes too */
        b->overrides = NULL;
        rc = merge_params(b, err);
    }
    if (rc)
        return rc;
    b->policy = policy;
    snprintf(b->name, sizeof b->name, "%s", ebb_policy_get_name(policy));
    for (size_t i = 0; !rc && i < s->table_count; i++) {
        struct ebb__spot at = {s, b, s->tables[i], b->pairs[i], i};
        struct ebb_settings *old = at.pair->settings;

        at.pair->settings = NULL;
        ebb__pair_forget(at.pair);
        rc = carry_schedule(&at, old, err);
        ebb_settings_free(old);
        if (!rc)
            rc = ebb__spot_look(&at, err);
    }
    ebb_evaluator_forget(s->evaluator, before);
    return rc;
}

static int add_bound(struct ebb_session *s, const struct ebb_policy *policy, const struct ebb_session_binding *binding,
                     struct ebb_err *err)
{
    struct ebb__bound *b = calloc(1, sizeof *b);
    int rc = b ? 0 : ebb_err_nomem(err);

    if (!rc)
        rc = check_binding(s, policy, binding, err);
    if (!rc)
        rc = widen(&s->bound, s->bound_count, err);
    if (!rc) {
        b->pairs = calloc(s->table_count + 1, sizeof *b->pairs);
        rc = b->pairs ? keep_binding(b, binding, err) : ebb_err_nomem(err);
    }
    for (size_t i = 0; !rc && i < s->table_count; i++)
        rc = ebb__pair_new(s, s->tables[i], &b->pairs[i], err);
    if (rc) {
        free_bound(s, b);
        return rc;
    }
    b->policy = policy;
    snprintf(b->name, sizeof b->name, "%s", ebb_policy_get_name(policy));
    s->bound[s->bound_count++] = b;
    s->is_changed = true;
    return 0;
}

int ebb_session_bind(struct ebb_session *s, const struct ebb_policy *policy, const struct ebb_session_binding *binding,
                     struct ebb_err *err)
{
    struct ebb__bound *b = ebb__session_find(s, ebb_policy_get_name(policy));

    if (!b)
        b = ebb__session_find(s, ebb_policy_get_was(policy));
    return b ? replace(s, b, policy, binding, err) : add_bound(s, policy, binding, err);
}

int ebb_session_unbind(struct ebb_session *s, const char *policy, struct ebb_err *err)
{
    struct ebb__bound *b = ebb__session_find(s, policy);
    size_t i = 0;

    if (!b)
        return ebb_err_set(err, EBB_ENOT_FOUND, "policy %.100s: is not bound in this session", policy);
    while (s->bound[i] != b)
        i++;
    memmove(&s->bound[i], &s->bound[i + 1], (s->bound_count - i - 1) * sizeof(struct ebb__bound *));
    s->bound_count--;
    free_bound(s, b);
    return 0;
}

/* The overrides with one more, or one less (box NULL). */
static int with_override(const struct ebb_value *old, const char *name, const struct ebb_value *value,
                         struct ebb_value **out, struct ebb_err *err)
{
    *out = ebb_value_new_map(NULL);
    for (size_t i = 0; i < ebb_value_get_count(old); i++)
        if (strcmp(ebb_value_get_key(old, i).p, name))
            ebb_value_put_copy(*out, ebb_value_get_key(old, i).p, ebb_value_get_at(old, i));
    ebb_value_put_copy(*out, name, value);
    return ebb_value_check(*out, "parameters", err);
}

int ebb_session_param(struct ebb_session *s, const char *policy, const char *name, const struct ebb_value *box,
                      const char *key, struct ebb_err *err)
{
    struct ebb__bound *b = ebb__session_find(s, policy);
    struct ebb_value *old, *overrides = NULL;
    int rc;

    if (!b)
        return ebb_err_set(err, EBB_ENOT_FOUND, "policy %.100s: is not bound in this session", policy);
    old = b->overrides;
    rc = with_override(old, name, box ? ebb_value_get(box, key) : NULL, &overrides, err);
    if (!rc) {
        b->overrides = overrides;
        rc = merge_params(b, err);
    }
    if (!rc)
        rc = check_bound(s, b, b->policy, err);
    if (rc) {
        b->overrides = old;
        merge_params(b, NULL);
        ebb_value_free(overrides);
        return rc;
    }
    ebb_value_free(old);
    for (size_t i = 0; i < s->table_count; i++)
        ebb__pair_forget(b->pairs[i]);
    s->is_changed = true;
    return 0;
}

int ebb__bound_reset(struct ebb_session *s, struct ebb__bound *b, struct ebb_err *err)
{
    int rc = 0;

    ebb_value_free(b->overrides);
    b->overrides = NULL;
    memset(&b->totals, 0, sizeof b->totals);
    rc = merge_params(b, err);
    for (size_t i = 0; !rc && i < s->table_count; i++) {
        int64_t known_since_ms = b->pairs[i]->known_since_ms;
        struct ebb__pair *fresh;

        rc = ebb__pair_new(s, s->tables[i], &fresh, err);
        if (rc)
            break;
        fresh->known_since_ms = known_since_ms;
        ebb__pair_free(b->pairs[i]);
        b->pairs[i] = fresh;
    }
    return rc;
}
