/* SPDX-License-Identifier: Apache-2.0
 *
 * Asking the person at the terminal.
 */
#ifndef EBB_FRONT_ASK_H
#define EBB_FRONT_ASK_H

#include "front/cli.h"

/* Whether somebody can be asked: standard input and standard error are terminals. */
bool ebb_ask_is_possible(void);
/* Print the question and wait for a line; only "y" and "yes" mean yes. EBB_ECANCELLED when interrupted. */
int ebb_ask(struct ebb_cli *cli, const char *question, bool *yes, struct ebb_err *err);

#endif
