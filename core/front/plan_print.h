/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of a plan for people, shared by plan, show and explain.
 */
#ifndef EBB_FRONT_PLAN_PRINT_H
#define EBB_FRONT_PLAN_PRINT_H

#include "front/cli.h"

/* The counts of a summary, its candidates, its status and what holds it. */
void ebb_plan_print_counts(struct ebb_cli *cli, const struct ebb_plan_summary *summary);
/* The status word alone, with the fuses that hold it. */
void ebb_plan_print_status(struct ebb_cli *cli, const struct ebb_plan_summary *summary);
/* Who made it, of what, when: the header. */
void ebb_plan_print_header(struct ebb_cli *cli, const struct ebb_plan_header *header);

#endif
