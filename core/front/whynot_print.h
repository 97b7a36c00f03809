/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a policy does not run now, for people: shared by the command and the interactive session.
 */
#ifndef EBB_FRONT_WHYNOT_PRINT_H
#define EBB_FRONT_WHYNOT_PRINT_H

#include "engine/policy.h"
#include "front/cli.h"

/* What ebb_whynot told: the verdict, the checks with what is missing and when they turn, guards, the earliest instant
 * at which it would run (with the wall time of the policy's zone), and what was read. */
void ebb_whynot_print(struct ebb_cli *cli, const struct ebb_policy *policy, const struct ebb_value *whynot);
/* An instant as wall time of the zone that the policy goes by (its first parameter of type timezone): "Wed 02:00
 * Europe/Berlin"; nothing without one. params: as in a decision record. */
void ebb_print_wall(struct ebb_buf *out, const struct ebb_policy *policy, const struct ebb_value *params,
                    int64_t at_ms);

#endif
