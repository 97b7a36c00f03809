/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the pass_*.c files: the policies of the configured folder, and the record of a decision.
 */
#ifndef EBB_SERVICE_PASS_PRIV_H
#define EBB_SERVICE_PASS_PRIV_H

#include "service/facts.h"
#include "service/pass.h"

struct ebb_policy_list {
    struct ebb_policy **items;
    size_t count;
    struct ebb_err first_error; /* of a file that does not load; error EBB_OK: all load */
};
/* Load every policy of the folder. A file that does not load is left out and told in first_error; two of one name are an error. */
int ebb__policy_list_load(struct ebb_workspace *ws, struct ebb_policy_list *list, struct ebb_err *err);
void ebb__policy_list_fini(struct ebb_policy_list *list);
const struct ebb_policy *ebb__policy_list_find(const struct ebb_policy_list *list, const char *name);
bool ebb__pass_is_policy_file(const char *name);

/* Put a decision into the store. */
int ebb__pass_put_decision(struct ebb_workspace *ws, const char *id, const char *table, const char *uuid, const char *policy,
                           const struct ebb_decision *decision, struct ebb_err *err);
/* How many other tables of the catalogs overlap this one; -1 when that can't be told. */
int64_t ebb__pass_overlaps(struct ebb_workspace *ws, const struct ebb_table *table);

#endif
