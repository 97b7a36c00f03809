/* SPDX-License-Identifier: Apache-2.0
 *
 * A session over a table as it is now.
 */
#include <stdlib.h>

#include "service/pass_priv.h"
#include "service/session_priv.h"

#define LONG_AGO_MS ((int64_t)1) /* a policy that no pass saw yet counts all there is, as in a decision by hand */

static const char *text_in(const struct ebb_value *map, const char *key)
{
    const char *text = ebb_value_text_of(map, key);

    return text ? text : "";
}

void ebb__session_binding(const struct ebb_workspace *ws, const struct ebb_policy *policy,
                          const struct ebb_value *facts, struct ebb_session_binding *out)
{
    const struct ebb_binding *binding = ebb__pass_binding(ws, policy, facts);
    const struct ebb_value *t = ebb_value_get(facts, "table");
    const char *ns = text_in(t, "namespace");
    struct ebb_buf name;

    ebb_buf_init(&name, 65536);
    ebb_buf_printf(&name, "%s.%s%s%s", text_in(t, "catalog"), ns, ns[0] ? "." : "", text_in(t, "name"));
    memset(out, 0, sizeof *out);
    out->mode = EBB_MODE_OBSERVE;
    out->allow_below_floor = !name.bad && ebb_config_allows_below_floor(ebb_workspace_config(ws), ebb_buf_cstr(&name));
    ebb_buf_fini(&name);
    if (!binding)
        return;
    out->mode = (enum ebb_mode)binding->mode;
    out->params = binding->params;
    out->allow_below_floor = out->allow_below_floor || binding->allow_below_floor;
    out->allow_override_quiet = binding->allow_override_quiet;
    out->guard = binding->guard;
    out->blackouts = binding->blackouts;
    out->blackout_tz = binding->blackout_tz;
}

int ebb__session_recall(struct ebb_session *s, struct ebb_workspace *ws, const char *table,
                        const struct ebb_policy *policy, const struct ebb_value *runs, struct ebb_err *err)
{
    struct ebb_store *store = ebb_workspace_site(ws)->store;
    const char *uuid, *name = ebb_policy_get_name(policy);
    struct ebb_schedule schedule;
    bool is_used;
    int rc;

    uuid = ebb_value_text_of(ebb_value_get(ebb_session_facts(s, 0, NULL, NULL), "table"), "uuid");
    if (ebb_facts_is_fixture(table) || !store || !uuid)
        return 0;
    rc = ebb_schedule_load_of(store, policy, uuid, &schedule, err);
    if (rc)
        return rc;
    is_used = schedule.active_since_ms && schedule.active_since_ms <= ebb_session_now(s);
    if (is_used)
        rc = ebb_session_active_since(s, 0, name, schedule.active_since_ms, err);
    return rc ? rc : ebb_session_take_over(s, 0, name, runs, is_used ? &schedule : NULL, err);
}

int ebb_session_open(struct ebb_workspace *ws, const char *table, const struct ebb_policy *policy,
                     struct ebb_session **out, struct ebb_err *err)
{
    struct ebb_session_options options = {.now_ms = ebb_clock_now(&ebb_workspace_site(ws)->clock)};
    struct ebb_session_binding binding;
    struct ebb_session *s = NULL;
    struct ebb_value *facts = NULL;
    int rc = ebb_pass_facts(ws, table, policy, &facts, err);

    *out = NULL;
    if (!rc)
        rc = ebb_session_new(&options, &s, err);
    if (!rc)
        rc = ebb_session_add_table(s, facts, NULL, err);
    if (!rc) {
        ebb__session_binding(ws, policy, facts, &binding);
        rc = ebb_session_bind(s, policy, &binding, err);
    }
    if (!rc) /* unless the store knows better */
        rc = ebb_session_active_since(s, 0, ebb_policy_get_name(policy), LONG_AGO_MS, err);
    if (!rc)
        rc = ebb__session_recall(s, ws, table, policy, ebb_value_get(facts, "runs"), err);
    ebb_value_free(facts);
    if (rc)
        ebb_session_free(s);
    else
        *out = s;
    return rc;
}
