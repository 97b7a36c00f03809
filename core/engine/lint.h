/* SPDX-License-Identifier: Apache-2.0
 *
 * Lint of a loaded policy: what is allowed and still likely a mistake. Every finding is a warning with a stable code:
 *   lint.interval_drift     min_interval > period − 1 h − spread: runs drift or are dropped
 *   lint.spread_too_long    spread is not shorter than the period
 *   lint.late_by            late_by ends before the spread does
 *   lint.no_min_interval    an event trigger without min_interval
 *   lint.cron_days          cron with both day fields restricted: either matches
 *   lint.unreachable_check  code after a return, a check after skip/run/defer in the same block
 *   lint.unknown_field      t.… or ctx.… that the API does not have
 *   lint.unused_param       a parameter that nothing reads
 *   lint.integer_to_float   `/` on snapshot ids, instants or other integers of the API where `//` or ratio is meant
 *   lint.length_of_holes    `#` of a table written with holes or with string keys
 *   lint.unknown_global     a name that the sandbox does not have
 *   lint.duplicate_check    two checks of one name
 *   lint.check_operator     an operator that check does not have
 *   lint.unknown_argument   a key that an action does not have
 *   lint.wrong_phase        something of the data part inside decide
 *   lint.read_only          an assignment to facts
 *   lint.line_ends          CR LF
 *   lint.not_utf8           a byte that is not UTF-8
 * Works on the tokens of the source; never runs it. (lint.always_quiet, windows that leave no free instant, is an error
 * that the loader finds.)
 */
#ifndef EBB_ENGINE_LINT_H
#define EBB_ENGINE_LINT_H

#include "engine/policy.h"

/* Add the findings for a policy. EBB_ENOMEM. */
int ebb_lint_policy(const struct ebb_policy *policy, struct ebb_diagnostics *diags, struct ebb_err *err);

/* Report, as an error at its name, that the policy has the name of the one in another file: policy.duplicate_name. */
void ebb_lint_same_name(const struct ebb_policy *policy, const char *other, struct ebb_diagnostics *diags);

#endif
