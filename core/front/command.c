/* SPDX-License-Identifier: Apache-2.0 */
#include "front/command.h"

#include "base/text.h"
#include "front/commands.h"

#define NAMES_MAX 64

const struct ebb_option EBB_GLOBAL_OPTIONS[] = {
    {"config", 'C', "FILE", NULL, false,
     "configuration (default ./ebb.lua, $XDG_CONFIG_HOME/ebb/ebb.lua, /etc/ebb/ebb.lua)"},
    {"state", 0, "DIR", NULL, false, "state folder (default $XDG_STATE_HOME/ebb or ~/.local/state/ebb)"},
    {"json", 0, NULL, NULL, false, "machine output; errors as an object on standard error"},
    {"help", 'h', NULL, NULL, false, "this help"},
    {"version", 0, NULL, NULL, false, "version of ebb and of the libraries it uses"},
    EBB_OPTIONS_END,
};

const struct ebb_option EBB_MAP_OPTIONS[] = {
    {"map", 0, "FROM=TO", NULL, true, "where a URI prefix is reachable here, as file:/warehouse=./wh"},
    EBB_OPTIONS_END,
};

const struct ebb_option EBB_AT_OPTIONS[] = {
    {"at", 0, "INSTANT", NULL, false, "decide as if it were this time (ISO 8601 with zone)"},
    EBB_OPTIONS_END,
};

static bool is_name(const char *name, const char *text, size_t n)
{
    return strlen(name) == n && !memcmp(name, text, n);
}

const struct ebb_command *ebb_command_find(const char *name)
{
    for (size_t i = 0; EBB_COMMANDS[i]; i++)
        if (!strcmp(EBB_COMMANDS[i]->name, name))
            return EBB_COMMANDS[i];
    return NULL;
}

bool ebb_command_is_group(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; n && EBB_COMMANDS[i]; i++)
        if (!strncmp(EBB_COMMANDS[i]->name, name, n) && EBB_COMMANDS[i]->name[n] == ' ')
            return true;
    return false;
}

const char *ebb_command_nearest(const char *word)
{
    const char *names[NAMES_MAX];
    size_t n = 0;

    for (size_t i = 0; EBB_COMMANDS[i] && n < NAMES_MAX; i++)
        if (!EBB_COMMANDS[i]->is_hidden)
            names[n++] = EBB_COMMANDS[i]->name;
    return ebb_text_nearest(word, names, n);
}

size_t ebb_command_lists(const struct ebb_command *command, const struct ebb_option *lists[4])
{
    size_t n = 0;

    if (command && command->options)
        lists[n++] = command->options;
    if (!command || (command->shared & EBB_TAKES_MAP))
        lists[n++] = EBB_MAP_OPTIONS;
    if (!command || (command->shared & EBB_TAKES_AT))
        lists[n++] = EBB_AT_OPTIONS;
    lists[n++] = EBB_GLOBAL_OPTIONS;
    return n;
}

const struct ebb_option *ebb_option_find(const struct ebb_command *command, const char *name, size_t n)
{
    const struct ebb_option *lists[4];
    size_t count = ebb_command_lists(command, lists);

    for (size_t l = 0; l < count; l++)
        for (const struct ebb_option *o = lists[l]; o->name; o++)
            if (is_name(o->name, name, n))
                return o;
    return NULL;
}

const struct ebb_option *ebb_option_find_letter(const struct ebb_command *command, char letter)
{
    const struct ebb_option *lists[4];
    size_t count = ebb_command_lists(command, lists);

    for (size_t l = 0; l < count; l++)
        for (const struct ebb_option *o = lists[l]; o->name; o++)
            if (o->letter == letter)
                return o;
    return NULL;
}

const char *ebb_option_nearest(const struct ebb_command *command, const char *name)
{
    const struct ebb_option *lists[4];
    const char *names[NAMES_MAX];
    size_t count = ebb_command_lists(command, lists), n = 0;

    for (size_t l = 0; l < count; l++)
        for (const struct ebb_option *o = lists[l]; o->name && n < NAMES_MAX; o++)
            names[n++] = o->name;
    return ebb_text_nearest(name, names, n);
}
