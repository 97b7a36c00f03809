/* SPDX-License-Identifier: Apache-2.0
 *
 * A decision record for people: verdict, who made it, checks, guards, the action.
 */
#ifndef EBB_FRONT_DECISION_PRINT_H
#define EBB_FRONT_DECISION_PRINT_H

#include "engine/value.h"
#include "front/cli.h"

/* Append the whole record. */
void ebb_decision_print(struct ebb_cli *cli, const struct ebb_value *record);
/* A value in one line: text escaped, the rest as JSON. */
void ebb_decision_print_value(struct ebb_buf *out, const struct ebb_value *value);

#endif
