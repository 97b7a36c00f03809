/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pass_priv.h"

int ebb_pass_facts(struct ebb_workspace *ws, const char *table, const struct ebb_policy *policy, struct ebb_value **out,
                   struct ebb_err *err)
{
    struct ebb_facts_options o = {.policy = policy ? ebb_policy_get_name(policy) : NULL,
                                  .was = policy ? ebb_policy_get_was(policy) : NULL,
                                  .overlaps = -1,
                                  .manifests = EBB_FACTS_MANIFESTS};

    return ebb__pass_read_facts(ws, table, &o, ebb_clock_now(&ebb_workspace_site(ws)->clock), out, err);
}
