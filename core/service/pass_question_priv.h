/* SPDX-License-Identifier: Apache-2.0
 *
 * One policy asked about one table: first with what metadata tells; when the policy looks at what only manifests tell,
 * those are read and it is asked again. And answers that still hold: a policy that skipped is not asked again while all
 * that it had read stays the same.
 */
#ifndef EBB_SERVICE_PASS_QUESTION_PRIV_H
#define EBB_SERVICE_PASS_QUESTION_PRIV_H

#include "engine/evaluator.h"
#include "service/pass_priv.h"

struct ebb__question {
    const struct ebb_policy *policy;
    struct ebb_evaluator *evaluator; /* NULL: one for this decision */
    struct ebb_decide_input input;   /* facts: from metadata alone at first */
    unsigned manifests;              /* EBB_LACKS_…: what its facts have from manifests */
    /* Facts with that from manifests, too; NULL: there is no more to know (a captured table). */
    int (*read)(void *data, unsigned manifests, struct ebb_value **facts, struct ebb_err *err);
    void *data;
    struct ebb_value *facts; /* that were read for it */
};
void ebb__question_fini(struct ebb__question *q);
/* Give it facts with these parts, too. */
int ebb__question_read(struct ebb__question *q, unsigned manifests, struct ebb_err *err);
/* As ebb_decide, with one decision for the caller. */
int ebb__question_decide(struct ebb__question *q, struct ebb_decision **out, struct ebb_err *err);

/* What was answered last, of a policy on a table. */
struct ebb__answer {
    struct ebb_value *kept; /* NULL: nothing that could still hold */
    char decision[40];      /* its id */
};
int ebb__answer_load(struct ebb_store *store, const char *policy, const char *uuid, struct ebb__answer *out,
                     struct ebb_err *err);
void ebb__answer_fini(struct ebb__answer *answer);
/* Whether the policy would answer the same (a skip of its own): reads what it read then, and compares. */
int ebb__answer_holds(const struct ebb__answer *answer, struct ebb__question *q, bool *out, struct ebb_err *err);
/* Keep a decision that was just made for the question, or forget what is kept (before) when it can't hold. */
int ebb__answer_save(struct ebb_store *store, const struct ebb__question *q, const char *uuid,
                     const struct ebb__answer *before, const struct ebb_decision *decision, struct ebb_err *err);

#endif
