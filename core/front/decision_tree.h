/* SPDX-License-Identifier: Apache-2.0
 *
 * The checks of a decision record as they were combined, aligned; and what was ranked. Shared by the commands that show
 * decisions and by the interactive session.
 */
#ifndef EBB_FRONT_DECISION_TREE_H
#define EBB_FRONT_DECISION_TREE_H

#include "engine/value.h"
#include "front/cli.h"

/* The checks as a tree of any/all/none, one a line: name, result, comparison, and behind it what is missing (needs) or
 * when it turns (turns_at). checks: as of a record or of ebb_whynot; now_ms: for the latter. Checks by item
 * (check_each) are counted by name. */
void ebb_decision_print_tree(struct ebb_cli *cli, const struct ebb_value *record, const struct ebb_value *checks,
                             int64_t now_ms);
/* One line of such a table: indent blanks, name, result, text (escaped; may be NULL). Ends without a line feed. */
void ebb_decision_print_row(struct ebb_cli *cli, size_t indent, const char *name, const char *result, const char *text);
/* The table of rank {…}: key, score, its parts, whether it was taken; then items that a check kept out. Nothing when
 * nothing was ranked. EBB_ENOMEM. */
int ebb_decision_print_ranked(struct ebb_buf *out, const struct ebb_value *record, struct ebb_err *err);
/* A span of time for people: "71h", "1h 30m", "12d 4h". */
void ebb_print_span(struct ebb_buf *out, int64_t ms);

#endif
