/* SPDX-License-Identifier: Apache-2.0
 *
 * The world of the interactive session: the tables that were used, and the session that holds them and the policies.
 */
#include <stdlib.h>

#include "front/print.h"
#include "front/repl_priv.h"
#include "front/tables.h"
#include "service/facts.h"
#include "service/pass.h"

#define TABLES_MAX 64

/* As the configuration binds it, but for the mode: nothing starts here. */
static int bind(struct ebb_repl *repl, const struct ebb_policy *policy, struct ebb_err *err)
{
    const struct ebb_config *c = ebb_workspace_config(repl->cli->ws);
    struct ebb_session_binding binding = {.mode = EBB_MODE_OBSERVE};

    for (size_t i = c->binding_count; i-- > 0;)
        if (!strcmp(c->bindings[i].policy, ebb_policy_get_name(policy))) {
            binding.params = c->bindings[i].params;
            binding.allow_below_floor = c->bindings[i].allow_below_floor;
            binding.allow_override_quiet = c->bindings[i].allow_override_quiet;
        }
    return ebb_session_bind(repl->session, policy, &binding, err);
}

static int bind_all(struct ebb_repl *repl, const struct ebb__repl_bundle *b, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < b->count; i++)
        rc = bind(repl, b->items[i], err);
    for (size_t i = 0; !rc && repl->bundle && i < repl->bundle->count; i++)
        if (!ebb__repl_bundle_find(b, ebb_policy_get_name(repl->bundle->items[i])))
            rc = ebb_session_unbind(repl->session, ebb_policy_get_name(repl->bundle->items[i]), err);
    return rc;
}

int ebb__repl_reload(struct ebb_repl *repl, struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(repl);
    struct ebb__repl_bundle *b = NULL;
    int rc = ebb__repl_bundle_load(repl, &b, err);

    if (rc)
        return rc;
    if (b->error_count) {
        ebb_buf_printf(out, "%zu error%s. still using bundle %s\n", b->error_count, b->error_count == 1 ? "" : "s",
                       ebb__repl_hash(repl));
        ebb__repl_bundle_free(b);
        return 0;
    }
    rc = bind_all(repl, b, err);
    if (rc) {
        /* what was bound may already be new: both must stay alive, and the old ones come back */
        if (!repl->bundle || bind_all(repl, repl->bundle, NULL))
            repl->quits = true;
        for (size_t i = 0; i < b->count; i++)
            if (!ebb__repl_bundle_find(repl->bundle, ebb_policy_get_name(b->items[i])))
                ebb_session_unbind(repl->session, ebb_policy_get_name(b->items[i]), NULL);
        ebb__repl_bundle_free(b);
        return rc;
    }
    ebb__repl_bundle_free(repl->bundle);
    repl->bundle = b;
    if (!ebb__repl_bundle_find(b, repl->policy))
        repl->policy[0] = '\0';
    ebb_buf_printf(out, "bundle %s (%zu polic%s)\n", b->hash, b->count, b->count == 1 ? "y" : "ies");
    return 0;
}

/* ---- opening and closing ---- */

static void decided(void *data, const struct ebb_session_decision *decision)
{
    ebb__repl_say_decision(data, decision);
}

int ebb__repl_open(struct ebb_repl *repl, struct ebb_err *err)
{
    struct ebb_session_options o;
    struct ebb__repl_bundle *b = NULL;
    int rc;

    memset(&o, 0, sizeof o);
    o.now_ms = repl->started_ms = ebb_cli_now(repl->cli);
    o.ends_at_once = true;
    o.decided = decided;
    o.data = repl;
    repl->current = EBB__REPL_NONE;
    repl->gas = -1;
    ebb_buf_init(&repl->more, SIZE_MAX / 4);
    rc = ebb__repl_bundle_load(repl, &b, err);
    if (!rc)
        rc = ebb_session_new(&o, &repl->session, err);
    if (!rc)
        rc = bind_all(repl, b, err);
    repl->bundle = b;
    return rc;
}

void ebb__repl_close(struct ebb_repl *repl)
{
    ebb_session_free(repl->session);
    ebb__repl_bundle_free(repl->bundle);
    ebb__repl_forget(repl);
    for (size_t i = 0; i < repl->table_count; i++) {
        free(repl->tables[i].label);
        free(repl->tables[i].opened);
    }
    free(repl->tables);
    for (size_t i = 0; i < repl->entry_count; i++) {
        free(repl->entries[i].input);
        free(repl->entries[i].output);
    }
    free(repl->entries);
    ebb_buf_fini(&repl->more);
}

/* ---- tables ---- */

static void label_of(const struct ebb_value *facts, struct ebb_buf *out)
{
    const struct ebb_value *t = ebb_value_get(facts, "table");
    static const char *const PARTS[] = {"catalog", "namespace", "name"};

    for (size_t i = 0; i < 3; i++) {
        const char *text = ebb_value_text_of(t, PARTS[i]);

        if (text && text[0])
            ebb_buf_printf(out, "%s%s", out->len ? "." : "", text);
    }
}

static int add_table(struct ebb_repl *repl, const char *name, const struct ebb_value *facts, struct ebb_err *err)
{
    struct ebb__repl_table *all = realloc(repl->tables, (repl->table_count + 1) * sizeof *all), *one;
    struct ebb_buf label;
    int rc;

    if (!all)
        return ebb_err_nomem(err);
    repl->tables = all;
    one = &all[repl->table_count];
    memset(one, 0, sizeof *one);
    ebb_buf_init(&label, 65536);
    label_of(facts, &label);
    one->is_fixture = ebb_facts_is_fixture(name);
    one->opened = strdup(name);
    one->label = strdup(ebb_buf_cstr(&label));
    ebb_buf_fini(&label);
    rc = one->opened && one->label ? ebb_session_add_table(repl->session, facts, &one->index, err) : ebb_err_nomem(err);
    if (rc) {
        free(one->opened);
        free(one->label);
    } else {
        repl->current = repl->table_count++;
    }
    return rc;
}

/* The policy whose runs are those of the table: the only one that takes it. */
static const struct ebb_policy *only_policy(const struct ebb_repl *repl, const struct ebb_value *facts)
{
    const struct ebb_value *t = ebb_value_get(facts, "table");
    const struct ebb_policy *found = NULL;

    for (size_t i = 0; i < ebb__repl_policy_count(repl); i++) {
        const struct ebb_policy *p = ebb__repl_policy_at(repl, i);
        const char *catalog = ebb_value_text_of(t, "catalog"), *name = ebb_value_text_of(t, "name");
        const char *namespace_ = ebb_value_text_of(t, "namespace");

        if (ebb_policy_has_target(p) && !ebb_policy_is_target(p, catalog ? catalog : "", namespace_ ? namespace_ : "",
                                                              name ? name : "", ebb_value_get(t, "properties")))
            continue;
        if (found)
            return NULL;
        found = p;
    }
    return found;
}

static int open_facts(struct ebb_repl *repl, const char *name, struct ebb_value **out, struct ebb_err *err)
{
    const struct ebb_policy *only;
    int rc = ebb_tables_set_floor(repl->cli, name, err);

    if (!rc)
        rc = ebb_pass_facts(repl->cli->ws, name, NULL, out, err);
    only = rc || ebb_facts_is_fixture(name) ? NULL : only_policy(repl, *out);
    if (only) {
        ebb_value_free(*out);
        *out = NULL;
        rc = ebb_pass_facts(repl->cli->ws, name, only, out, err);
    }
    return rc;
}

int ebb__repl_use(struct ebb_repl *repl, const char *name, struct ebb_err *err)
{
    struct ebb_value *facts = NULL;
    int rc;

    for (size_t i = 0; i < repl->table_count; i++)
        if (!strcmp(repl->tables[i].opened, name) || !strcmp(repl->tables[i].label, name)) {
            repl->current = i;
            repl->policy[0] = '\0';
            return 0;
        }
    if (repl->table_count == TABLES_MAX)
        return ebb_err_set(err, EBB_ELIMIT, "use: a session holds %d tables", TABLES_MAX);
    rc = open_facts(repl, name, &facts, err);
    if (!rc)
        rc = add_table(repl, name, facts, err);
    if (!rc)
        repl->policy[0] = '\0';
    ebb_value_free(facts);
    return rc;
}

int ebb__repl_table(struct ebb_repl *repl, const struct ebb__repl_table **out, struct ebb_err *err)
{
    if (repl->current == EBB__REPL_NONE) {
        ebb_err_set(err, EBB_EUSAGE, "no table is in use");
        ebb_err_hint(err, ":use TABLE or :use fixture.json");
        return -(int)EBB_EUSAGE;
    }
    *out = &repl->tables[repl->current];
    return 0;
}

bool ebb__repl_takes(struct ebb_repl *repl, const struct ebb_policy *policy)
{
    const struct ebb_value *facts = NULL, *t;
    const char *parts[3];
    static const char *const KEYS[] = {"catalog", "namespace", "name"};

    if (repl->current == EBB__REPL_NONE || ebb__repl_facts(repl, NULL, &facts, NULL))
        return false;
    t = ebb_value_get(facts, "table");
    for (size_t i = 0; i < 3; i++) {
        parts[i] = ebb_value_text_of(t, KEYS[i]);
        parts[i] = parts[i] ? parts[i] : "";
    }
    return !ebb_policy_has_target(policy) ||
           ebb_policy_is_target(policy, parts[0], parts[1], parts[2], ebb_value_get(t, "properties"));
}

const struct ebb_policy *ebb__repl_policy_meant(const struct ebb_repl *repl)
{
    const struct ebb_policy *found = NULL, *p;

    if (repl->policy[0])
        return ebb__repl_bundle_find(repl->bundle, repl->policy);
    for (size_t i = 0; (p = ebb__repl_policy_at(repl, i)); i++)
        if (ebb__repl_takes((struct ebb_repl *)(uintptr_t)repl, p)) {
            if (found)
                return NULL;
            found = p;
        }
    return found;
}

static int no_policy(const struct ebb_repl *repl, const char *name, struct ebb_err *err)
{
    const char *names[256], *near = NULL;
    size_t count = 0;
    int rc;

    while (count < sizeof names / sizeof names[0] && ebb__repl_policy_at(repl, count)) {
        names[count] = ebb_policy_get_name(ebb__repl_policy_at(repl, count));
        count++;
    }
    if (!name) {
        rc = ebb_err_set(err, EBB_EUSAGE, "which policy? %zu of them could be meant", count);
        ebb_err_hint(err, ":policies lists them");
        return rc;
    }
    near = ebb_text_nearest(name, names, count);
    rc = ebb_err_set(err, EBB_ENOT_FOUND, "policy %s: there is none of this name", name);
    if (near)
        ebb_err_hint(err, "did you mean %s?", near);
    return rc;
}

int ebb__repl_policy(struct ebb_repl *repl, const char *name, const struct ebb_policy **out, struct ebb_err *err)
{
    *out = name ? ebb__repl_bundle_find(repl->bundle, name) : ebb__repl_policy_meant(repl);
    if (!*out)
        return no_policy(repl, name, err);
    strncpy(repl->policy, ebb_policy_get_name(*out), sizeof repl->policy - 1);
    return 0;
}

int ebb__repl_facts(struct ebb_repl *repl, const char *policy, const struct ebb_value **out, struct ebb_err *err)
{
    const struct ebb__repl_table *table;
    int rc = ebb__repl_table(repl, &table, err);
    struct ebb_err why;

    if (rc)
        return rc;
    *out = ebb_session_facts(repl->session, table->index, policy, &why);
    if (*out)
        return 0;
    if (err)
        *err = why;
    return -(int)why.error;
}

int ebb__repl_decide_input(struct ebb_repl *repl, const struct ebb_policy *policy, struct ebb_decide_input *out,
                           struct ebb_err *err)
{
    int rc;

    if (policy && repl->current != EBB__REPL_NONE)
        return ebb_session_input(repl->session, repl->tables[repl->current].index, ebb_policy_get_name(policy), out,
                                 err);
    memset(out, 0, sizeof *out);
    out->now_ms = ebb_session_now(repl->session);
    out->bound = true;
    rc = repl->current == EBB__REPL_NONE ? 0 : ebb__repl_facts(repl, NULL, &out->facts, err);
    return rc;
}
