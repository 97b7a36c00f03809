/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "service/host_priv.h"

struct ebb_host_evaluator {
    struct ebb_host_bundle *bundle;
    struct ebb_evaluator *evaluator;
};

struct ebb_host_decision {
    struct ebb_decision *decision;
    char *action; /* JSON, or NULL */
};

enum ebb_mode ebb__host_mode(enum ebb_host_mode mode)
{
    if (mode == EBB_HOST_ENFORCE)
        return EBB_MODE_ENFORCE;
    return mode == EBB_HOST_APPROVE ? EBB_MODE_APPROVE : EBB_MODE_OBSERVE;
}

enum ebb_host_verdict ebb__host_verdict(enum ebb_verdict verdict)
{
    static const enum ebb_host_verdict VERDICTS[] = {
        [EBB_VERDICT_RUN] = EBB_HOST_RUN,      [EBB_VERDICT_SKIP] = EBB_HOST_SKIP,
        [EBB_VERDICT_DEFER] = EBB_HOST_DEFER,  [EBB_VERDICT_REFUSED] = EBB_HOST_REFUSED,
        [EBB_VERDICT_ERROR] = EBB_HOST_FAILED,
    };

    return VERDICTS[verdict];
}

int ebb_host_evaluator_open(struct ebb_host_bundle *bundle, struct ebb_host_evaluator **out, struct ebb_host_error *err)
{
    struct ebb_host_evaluator *ev = calloc(1, sizeof *ev);
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    *out = NULL;
    rc = ev ? ebb_evaluator_new(&ev->evaluator, &why) : ebb_err_nomem(&why);
    if (rc) {
        free(ev);
        return ebb__host_tell(rc, &why, err);
    }
    ev->bundle = ebb__host_bundle_hold(bundle);
    *out = ev;
    return 0;
}

void ebb_host_evaluator_close(struct ebb_host_evaluator *ev)
{
    if (!ev)
        return;
    ebb_evaluator_free(ev->evaluator);
    ebb_host_bundle_free(ev->bundle);
    free(ev);
}

static int write_action(struct ebb_host_decision *d, struct ebb_err *err)
{
    const struct ebb_value *action = ebb_decision_get_action(d->decision);
    struct ebb_buf json;
    int rc;

    if (!action)
        return 0;
    ebb_buf_init(&json, (size_t)1 << 20);
    rc = ebb_value_to_json(action, &json, err);
    if (!rc) {
        d->action = ebb_buf_take(&json);
        rc = d->action ? 0 : ebb_err_nomem(err);
    }
    ebb_buf_fini(&json);
    return rc;
}

static int decide(struct ebb_host_evaluator *ev, const struct ebb_host_input *in, struct ebb_host_decision *d,
                  struct ebb_err *err)
{
    struct ebb_decide_input input = {.now_ms = in->now_ms,
                                     .active_since_ms = in->active_since_ms,
                                     .mode = ebb__host_mode(in->mode),
                                     .bound = true,
                                     .allow_below_floor = in->allow_below_floor,
                                     .allow_override_quiet = in->allow_override_quiet,
                                     .id = in->id,
                                     .gas = in->gas,
                                     .without_record = in->without_record};
    const struct ebb_policy *policy = NULL;
    struct ebb_value *params = NULL, *trigger = NULL;
    int rc = ebb__host_bundle_find(ev->bundle, in->policy, &policy, err);

    if (!rc && !in->facts)
        rc = ebb_err_set(err, EBB_EUSAGE, "facts: missing");
    if (!rc)
        rc = ebb__host_json(in->params, "params", &params, err);
    if (!rc)
        rc = ebb__host_json(in->trigger, "trigger", &trigger, err);
    if (!rc) {
        input.facts = in->facts->value;
        input.overrides = params;
        input.trigger = trigger;
        rc = ebb_evaluator_decide(ev->evaluator, policy, &input, &d->decision, err);
    }
    ebb_value_free(params);
    ebb_value_free(trigger);
    return rc;
}

int ebb_host_evaluate(struct ebb_host_evaluator *evaluator, const struct ebb_host_input *input,
                      struct ebb_host_decision **out, struct ebb_host_error *err)
{
    struct ebb_host_decision *d = calloc(1, sizeof *d);
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    *out = NULL;
    rc = d ? decide(evaluator, input, d, &why) : ebb_err_nomem(&why);
    if (!rc)
        rc = write_action(d, &why);
    if (rc && d && (!d->decision || ebb_decision_get_verdict(d->decision) != EBB_VERDICT_ERROR)) {
        ebb_host_decision_free(d);
        d = NULL;
    }
    *out = d;
    return ebb__host_tell(rc, &why, err);
}

void ebb_host_decision_free(struct ebb_host_decision *d)
{
    if (!d)
        return;
    ebb_decision_free(d->decision);
    free(d->action);
    free(d);
}

enum ebb_host_verdict ebb_host_decision_verdict(const struct ebb_host_decision *d)
{
    return ebb__host_verdict(ebb_decision_get_verdict(d->decision));
}

int64_t ebb_host_decision_until_ms(const struct ebb_host_decision *d)
{
    return ebb_decision_get_until_ms(d->decision);
}

int64_t ebb_host_decision_holds_until_ms(const struct ebb_host_decision *d)
{
    return ebb_decision_get_holds_until_ms(d->decision);
}

const char *ebb_host_decision_by(const struct ebb_host_decision *d)
{
    return ebb_decision_get_by(d->decision);
}

const char *ebb_host_decision_action(const struct ebb_host_decision *d)
{
    return d->action;
}

const char *ebb_host_decision_record(const struct ebb_host_decision *d)
{
    return ebb_decision_get_record(d->decision);
}
