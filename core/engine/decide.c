/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/decide.h"

#include <stdlib.h>

#include "engine/answer_priv.h"
#include "engine/evaluator_priv.h"
#include "engine/record_priv.h"

#define RECORD_BYTES 2000 /* of most records */

const char *ebb_verdict_name(enum ebb_verdict verdict)
{
    static const char *const NAMES[] = {"run", "skip", "defer", "refused", "error"};

    return NAMES[verdict];
}

static bool is_policy_error(int rc)
{
    return rc <= -(int)EBB_EPOLICY_SCHEMA && rc >= -(int)EBB_EPOLICY_RESULT;
}

static void take_guards(struct ebb_decision *d, const struct ebb__guards *g, const struct ebb_settings *settings)
{
    const struct ebb_guard *guard = settings ? ebb_settings_get_guard(settings) : NULL;

    d->verdict = g->verdict;
    d->until_ms = g->until_ms;
    d->by = g->by;
    if (guard)
        d->fuses = (struct ebb_fuses){guard->deletes_max_files, guard->deletes_max_share, guard->deletes_max_bytes,
                                      guard->deletes_on_exceed, g->timeout_ms};
}

static int write_record(struct ebb_decision *d, const struct ebb_policy *policy, const struct ebb_decide_input *input,
                        const struct ebb__eval *e, const struct ebb__guards *g, const struct ebb_err *failure,
                        struct ebb_err *err)
{
    struct ebb_buf out;
    int rc;

    if (input->without_record)
        return 0;
    ebb_buf_init(&out, EBB__RECORD_MAX_BYTES);
    ebb_buf_reserve(&out, RECORD_BYTES);
    rc = ebb__record_write(policy, input, e, g, failure, &out, err);
    if (!rc) {
        d->record = ebb_buf_take(&out);
        rc = d->record ? 0 : ebb_err_nomem(err);
    }
    ebb_buf_fini(&out);
    return rc;
}

/* The script and the guards, on an evaluation that is set up. *failed gets the policy's error. */
static int evaluate(struct ebb_decision *d, struct ebb_evaluator *evaluator, struct ebb__eval *e, struct ebb__guards *g,
                    int *failed, struct ebb_err *err)
{
    struct ebb_err failure;
    int rc = ebb__evaluator_run(evaluator, &failure);

    *failed = is_policy_error(rc) ? rc : 0;
    if (*failed) {
        g->verdict = EBB_VERDICT_ERROR;
        g->by = "policy";
    } else if (!rc)
        ebb__guards_apply(g, e);
    if (g->has_run_out)
        return ebb_err_nomem(err);
    if (rc && err)
        *err = failure;
    if (rc && !*failed)
        return rc;
    take_guards(d, g, e->settings);
    rc = ebb__answer_take(d, e->policy, e->input, e, g, *failed != 0, err);
    if (rc)
        return rc;
    rc = write_record(d, e->policy, e->input, e, g, *failed ? &failure : NULL, err);
    d->action = e->action;
    e->action = NULL;
    return rc;
}

static int decide(struct ebb_decision *d, struct ebb_evaluator *evaluator, const struct ebb_policy *policy,
                  const struct ebb_decide_input *input, int *failed, struct ebb_err *err)
{
    struct ebb_settings *own = NULL;
    struct ebb__guards g = {.verdict = EBB_VERDICT_SKIP, .by = "guard.target"};
    struct ebb__eval *e = NULL;
    int rc = 0;

    if (!ebb__guard_target(&g, policy, input)) {
        take_guards(d, &g, NULL);
        rc = ebb__answer_take(d, policy, input, NULL, &g, false, err);
        return rc ? rc : write_record(d, policy, input, NULL, &g, NULL, err);
    }
    if (!input->settings)
        rc = ebb__settings_of(policy, input, &own, err);
    if (!rc)
        rc = ebb__evaluator_begin(evaluator, policy, own ? own : input->settings, input, &e, err);
    if (!rc)
        rc = evaluate(d, evaluator, e, &g, failed, err);
    if (e)
        ebb__eval_fini(e);
    ebb_settings_free(own);
    return rc;
}

int ebb_evaluator_decide(struct ebb_evaluator *evaluator, const struct ebb_policy *policy,
                         const struct ebb_decide_input *input, struct ebb_decision **out, struct ebb_err *err)
{
    struct ebb_decision *d = calloc(1, sizeof *d);
    int failed = 0, rc;

    *out = NULL;
    if (!d)
        return ebb_err_nomem(err);
    rc = decide(d, evaluator, policy, input, &failed, err);
    if (rc) {
        ebb_decision_free(d);
        return rc;
    }
    *out = d;
    return failed;
}

int ebb_decide(const struct ebb_policy *policy, const struct ebb_decide_input *input, struct ebb_decision **out,
               struct ebb_err *err)
{
    struct ebb_evaluator *evaluator;
    int rc = ebb_evaluator_new(&evaluator, err);

    *out = NULL;
    if (rc)
        return rc;
    rc = ebb_evaluator_decide(evaluator, policy, input, out, err);
    ebb_evaluator_free(evaluator);
    return rc;
}

void ebb_decision_free(struct ebb_decision *d)
{
    if (!d)
        return;
    ebb_value_free(d->action);
    free(d->reads);
    free(d->record);
    free(d);
}

enum ebb_verdict ebb_decision_get_verdict(const struct ebb_decision *d)
{
    return d->verdict;
}

int64_t ebb_decision_get_until_ms(const struct ebb_decision *d)
{
    return d->until_ms;
}

const char *ebb_decision_get_by(const struct ebb_decision *d)
{
    return d->by;
}

const struct ebb_value *ebb_decision_get_action(const struct ebb_decision *d)
{
    return d->action;
}

const struct ebb_fuses *ebb_decision_get_fuses(const struct ebb_decision *d)
{
    return &d->fuses;
}

const char *ebb_decision_get_record(const struct ebb_decision *d)
{
    return d->record;
}
