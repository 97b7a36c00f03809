/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of a decision, shared by what makes it (decide.c, evaluator.c) and what it is asked for later.
 */
#ifndef EBB_ENGINE_DECIDE_PRIV_H
#define EBB_ENGINE_DECIDE_PRIV_H

#include "engine/decide.h"

struct ebb_decision {
    enum ebb_verdict verdict;
    int64_t until_ms;
    const char *by; /* static */
    struct ebb_value *action;
    struct ebb_fuses fuses;
    char *record; /* NULL: without_record */
};

#endif
