/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands, each defined in the file of its noun.
 */
#ifndef EBB_FRONT_COMMANDS_H
#define EBB_FRONT_COMMANDS_H

#include "front/command.h"

extern const struct ebb_command ebb_command_plan;
extern const struct ebb_command ebb_command_help;

#endif
