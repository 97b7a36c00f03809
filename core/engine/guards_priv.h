/* SPDX-License-Identifier: Apache-2.0
 *
 * The guards: C code that looks at every decision after the script and can only make it more careful.
 */
#ifndef EBB_ENGINE_GUARDS_PRIV_H
#define EBB_ENGINE_GUARDS_PRIV_H

#include "engine/eval_priv.h"

#define EBB__GUARDS_MAX 16

struct ebb__guard_row {
    const char *name; /* static: "guard.floor" */
    enum ebb__truth truth;
    bool has_until;
    int64_t until_ms;
    char text[200]; /* what was compared, "" none */
};

struct ebb__guards {
    struct ebb__guard_row rows[EBB__GUARDS_MAX];
    size_t count;
    enum ebb_verdict verdict;
    int64_t until_ms;
    const char *by; /* "policy" or the name of a guard */
};

/* Whether the policy runs on this table at all; fills the first row. */
bool ebb__guard_target(struct ebb__guards *g, const struct ebb_policy *policy, const struct ebb_decide_input *input);
/* Judge what the script wants; the result is in g->verdict, until_ms, by. */
void ebb__guards_apply(struct ebb__guards *g, const struct ebb__eval *e);

#endif
