/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the generation_*.c files: bindings that a generation owns, and what changed between two generations.
 */
#ifndef EBB_SERVICE_GENERATION_PRIV_H
#define EBB_SERVICE_GENERATION_PRIV_H

#include "service/generation.h"

/* Free what a binding owns that stands alone (not one of the configuration). */
void ebb__binding_fini(struct ebb_binding *binding);
/* Append all that a binding says as text that is the same for the same binding. */
int ebb__binding_describe(const struct ebb_binding *binding, struct ebb_buf *out, struct ebb_err *err);
/* What became of a policy between two generations. */
enum ebb__policy_change { EBB__POLICY_SAME, EBB__POLICY_CHANGED, EBB__POLICY_REMOVED };
/* By name: removed when it is not there any more, or no binding names it; changed when its bundle or one of its
 * bindings differs. EBB_ENOMEM. */
int ebb__policy_change(const struct ebb_generation *before, const struct ebb_generation *after, const char *policy,
                       enum ebb__policy_change *out, struct ebb_err *err);

/* What a policy and its bindings are, in short; "" when no binding names it. EBB_ENOMEM. */
#define EBB__REVISION_SIZE 24
int ebb__policy_revision(const struct ebb_generation *generation, const char *policy, char out[EBB__REVISION_SIZE],
                         struct ebb_err *err);

#endif
