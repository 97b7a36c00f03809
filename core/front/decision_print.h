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
/* One row of its checks, as a line: "    many_snapshots    false   37 >= 500". */
void ebb_decision_print_check(struct ebb_cli *cli, const struct ebb_value *row);
/* What a check compared: "37 >= 500", "nil < 5d", "1.4 GiB >= 1.0 GiB"; nothing for a row without operator. */
void ebb_decision_print_comparison(struct ebb_buf *out, const struct ebb_value *row);
/* The verdict in a few words: "RUN remove_orphan_files", "DEFER until 2026-04-01T00:00:00Z  because of that". */
void ebb_decision_print_verdict(struct ebb_cli *cli, const struct ebb_value *record);
/* The same without the reason. */
void ebb_decision_print_outcome(struct ebb_cli *cli, const struct ebb_value *record);
/* A value in one line: text escaped, the rest as JSON. */
void ebb_decision_print_value(struct ebb_buf *out, const struct ebb_value *value);

#endif
