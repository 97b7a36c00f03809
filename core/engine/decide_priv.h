/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of a decision, shared by what makes it (decide.c, evaluator.c) and what it is asked for later.
 */
#ifndef EBB_ENGINE_DECIDE_PRIV_H
#define EBB_ENGINE_DECIDE_PRIV_H

#include "engine/decide.h"
#include "engine/reads_priv.h"

struct ebb_decision {
    enum ebb_verdict verdict;
    int64_t until_ms;
    const char *by; /* static */
    struct ebb_value *action;
    struct ebb_fuses fuses;
    char *record; /* NULL: without_record */
    int64_t holds_until_ms;
    unsigned lacks;
    /* for the digest, which is made when it is first asked for */
    const struct ebb_policy *policy;
    struct ebb_decide_input input;
    struct ebb__reads *reads; /* owned; NULL: nothing was read */
    char digest[80];
};

#endif
