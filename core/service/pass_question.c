/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pass_question_priv.h"

void ebb__question_fini(struct ebb__question *q)
{
    ebb_value_free(q->facts);
    q->facts = NULL;
}

int ebb__question_read(struct ebb__question *q, unsigned manifests, struct ebb_err *err)
{
    struct ebb_value *facts = NULL;
    unsigned all = q->manifests | manifests;
    int rc;

    if (all == q->manifests || !q->read)
        return 0;
    rc = q->read(q->data, all, &facts, err);
    if (rc)
        return rc;
    ebb_value_free(q->facts);
    q->facts = facts;
    q->input.facts = facts;
    q->manifests = all;
    return 0;
}

static int decide(struct ebb__question *q, struct ebb_decision **out, struct ebb_err *err)
{
    return q->evaluator ? ebb_evaluator_decide(q->evaluator, q->policy, &q->input, out, err)
                        : ebb_decide(q->policy, &q->input, out, err);
}

int ebb__question_decide(struct ebb__question *q, struct ebb_decision **out, struct ebb_err *err)
{
    int rc = decide(q, out, err);

    /* Ends: each round reads more. */
    while (*out && q->read && (ebb_decision_get_lacks(*out) & ~q->manifests)) {
        unsigned lacks = ebb_decision_get_lacks(*out);

        ebb_decision_free(*out);
        *out = NULL;
        rc = ebb__question_read(q, lacks, err);
        if (rc)
            return rc;
        rc = decide(q, out, err);
    }
    return rc;
}
