/* SPDX-License-Identifier: Apache-2.0
 *
 * Help texts, the man page and shell completions, all made from the table of commands.
 */
#ifndef EBB_FRONT_HELP_H
#define EBB_FRONT_HELP_H

#include "base/buf.h"
#include "front/command.h"

/* Help of a command, of a group ("job"), or of the whole program (""). EBB_EUSAGE: no such thing. */
int ebb_help_print(struct ebb_buf *out, const char *name, struct ebb_err *err);
/* The man page ebb(1), in man(7) form. */
void ebb_man_print(struct ebb_buf *out);
void ebb_complete_bash(struct ebb_buf *out);
void ebb_complete_zsh(struct ebb_buf *out);

#endif
