/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "service/host_priv.h"
#include "service/session.h"

struct ebb_host_session {
    struct ebb_host_bundle *bundle;
    struct ebb_session *session;
    ebb_host_event_cb *decided;
    void *data;
};

static void decided(void *data, const struct ebb_session_decision *made)
{
    struct ebb_host_session *s = data;
    struct ebb_host_event event = {.policy = made->policy,
                                   .table = made->table,
                                   .at_ms = made->at_ms,
                                   .verdict = EBB_HOST_SKIP,
                                   .dropped = made->dropped};

    if (made->decision) {
        event.verdict = ebb__host_verdict(ebb_decision_get_verdict(made->decision));
        event.until_ms = ebb_decision_get_until_ms(made->decision);
        event.record = ebb_decision_get_record(made->decision);
    }
    if (s->decided)
        s->decided(s->data, &event);
}

int ebb_host_session_open(struct ebb_host_bundle *bundle, const struct ebb_host_session_options *options,
                          struct ebb_host_session **out, struct ebb_host_error *err)
{
    struct ebb_host_session *s = calloc(1, sizeof *s);
    struct ebb_session_options inner = {.now_ms = options->now_ms,
                                        .ends_at_once = options->ends_at_once,
                                        .has_effects = options->has_effects,
                                        .decided = decided,
                                        .data = s};
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    *out = NULL;
    rc = s ? ebb_session_new(&inner, &s->session, &why) : ebb_err_nomem(&why);
    if (rc) {
        free(s);
        return ebb__host_tell(rc, &why, err);
    }
    s->decided = options->decided;
    s->data = options->data;
    s->bundle = ebb__host_bundle_hold(bundle);
    *out = s;
    return 0;
}

void ebb_host_session_close(struct ebb_host_session *s)
{
    if (!s)
        return;
    ebb_session_free(s->session);
    ebb_host_bundle_free(s->bundle);
    free(s);
}

/* What is wrong with overrides shows when they are given, not when a table is there. */
static int check_overrides(const struct ebb_policy *policy, const struct ebb_value *overrides, struct ebb_err *err)
{
    struct ebb_settings *settings = NULL;
    int rc = ebb_settings_new(policy, overrides, NULL, &settings, err);

    ebb_settings_free(settings);
    return rc;
}

int ebb_host_session_bind(struct ebb_host_session *s, const char *policy, enum ebb_host_mode mode, const char *params,
                          struct ebb_host_error *err)
{
    struct ebb_session_binding binding = {.mode = ebb__host_mode(mode)};
    const struct ebb_policy *found = NULL;
    struct ebb_value *overrides = NULL;
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    rc = ebb__host_bundle_find(s->bundle, policy, &found, &why);
    if (!rc)
        rc = ebb__host_json(params, "params", &overrides, &why);
    binding.params = overrides;
    if (!rc && overrides)
        rc = check_overrides(found, overrides, &why);
    if (!rc)
        rc = ebb_session_bind(s->session, found, &binding, &why);
    ebb_value_free(overrides);
    return ebb__host_tell(rc, &why, err);
}

int ebb_host_session_add_table(struct ebb_host_session *s, const struct ebb_host_facts *facts, size_t *index,
                               struct ebb_host_error *err)
{
    struct ebb_err why;
    size_t at = 0;
    int rc;

    memset(&why, 0, sizeof why);
    rc = facts ? ebb_session_add_table(s->session, facts->value, &at, &why)
               : ebb_err_set(&why, EBB_EUSAGE, "facts: missing");
    if (!rc && index)
        *index = at;
    return ebb__host_tell(rc, &why, err);
}

/* Sessions trust the caller with the numbers of tables; hosts are told. */
static int check_table(const struct ebb_host_session *s, size_t table, struct ebb_err *err)
{
    if (table < ebb_session_table_count(s->session))
        return 0;
    return ebb_err_set(err, EBB_ENOT_FOUND, "table %zu: the session has no such table", table);
}

int ebb_host_session_event(struct ebb_host_session *s, size_t table, const char *event, struct ebb_host_error *err)
{
    struct ebb_value *value = NULL;
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    rc = check_table(s, table, &why);
    if (!rc)
        rc = ebb__host_json(event, "event", &value, &why);
    if (!rc && !ebb_value_text_of(value, "type"))
        rc = ebb_err_set(&why, EBB_EUSAGE, "event: an object with \"type\" is due");
    if (!rc)
        rc = ebb_session_event(s->session, table, value, NULL, &why);
    ebb_value_free(value);
    return ebb__host_tell(rc, &why, err);
}

int ebb_host_session_step(struct ebb_host_session *s, int64_t by_ms, struct ebb_host_error *err)
{
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    rc = by_ms >= 0 ? ebb_session_step(s->session, by_ms, &why)
                    : ebb_err_set(&why, EBB_EUSAGE, "step: time does not go back");
    return ebb__host_tell(rc, &why, err);
}

int ebb_host_session_wake(struct ebb_host_session *s, int64_t *at_ms, struct ebb_host_error *err)
{
    struct ebb_err why;

    memset(&why, 0, sizeof why);
    return ebb__host_tell(ebb_session_wake(s->session, at_ms, &why), &why, err);
}

int64_t ebb_host_session_now(const struct ebb_host_session *s)
{
    return ebb_session_now(s->session);
}

int ebb_host_session_finish(struct ebb_host_session *s, size_t table, const char *policy, const char *outcome,
                            struct ebb_host_error *err)
{
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    rc = check_table(s, table, &why);
    if (!rc && (!policy || !outcome))
        rc = ebb_err_set(&why, EBB_EUSAGE, "finish: a policy and an outcome are due");
    if (!rc)
        rc = ebb_session_finish(s->session, table, policy, outcome, &why);
    return ebb__host_tell(rc, &why, err);
}
