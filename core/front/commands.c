/* SPDX-License-Identifier: Apache-2.0 */
#include "front/commands.h"

const struct ebb_command *const EBB_COMMANDS[] = {
    &ebb_command_plan,
    &ebb_command_help,
    NULL,
};
