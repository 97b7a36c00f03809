/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands and their options as data: one table drives parsing, --help, the man page and shell completions. Each
 * command stands next to its implementation; command.c lists them. Everything here is constant.
 */
#ifndef EBB_FRONT_COMMAND_H
#define EBB_FRONT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct ebb_cli;

struct ebb_option {
    const char *name;    /* long, without dashes; NULL ends a list */
    char letter;         /* short form, or 0 */
    const char *value;   /* name of its argument; NULL: a switch */
    const char *choices; /* "error|ignore|delete", or NULL: any text */
    bool repeats;        /* may be given several times */
    const char *help;    /* one line, small first letter, no full stop */
};
#define EBB_OPTIONS_END                                                                                                \
    {                                                                                                                  \
        NULL, 0, NULL, NULL, false, NULL                                                                               \
    }

/* Which of the options that many commands share a command takes. */
enum ebb_shared_options { EBB_TAKES_MAP = 1, EBB_TAKES_AT = 2 };

struct ebb_example {
    const char *line; /* NULL ends a list */
    const char *about;
};

struct ebb_command {
    const char *name;    /* one word, or two: "job remove-orphan-files" */
    const char *args;    /* "TABLE|GLOB", "" none */
    const char *summary; /* one line, small first letter */
    const char *about;   /* a paragraph, or NULL */
    size_t arg_min, arg_max;
    unsigned shared;                    /* enum ebb_shared_options */
    const struct ebb_option *options;   /* NULL none */
    const struct ebb_example *examples; /* NULL none */
    int (*run)(struct ebb_cli *cli, struct ebb_err *err);
    bool is_hidden;   /* not in help, man page, completions */
    bool has_signals; /* takes care of signals itself */
};

/* All commands in the order of the help, NULL at the end. */
extern const struct ebb_command *const EBB_COMMANDS[];
/* Options of every command: config, state, json, help, version; then the shared ones. Lists as in a command. */
extern const struct ebb_option EBB_GLOBAL_OPTIONS[];
extern const struct ebb_option EBB_MAP_OPTIONS[];
extern const struct ebb_option EBB_AT_OPTIONS[];

/* The command of this name, or NULL. */
const struct ebb_command *ebb_command_find(const char *name);
/* Whether a name is the first word of commands with two. */
bool ebb_command_is_group(const char *name);
/* The visible command (or group) whose name is nearest to a word, or NULL. */
const char *ebb_command_nearest(const char *word);
/* The option of this long name (length n) that a command takes; command NULL: before the command is known, any shared
 * one. */
const struct ebb_option *ebb_option_find(const struct ebb_command *command, const char *name, size_t n);
const struct ebb_option *ebb_option_find_letter(const struct ebb_command *command, char letter);
/* The name nearest to an unknown one, or NULL. */
const char *ebb_option_nearest(const struct ebb_command *command, const char *name);
/* The lists of options that a command takes, its own first. Returns how many (at most 4). */
size_t ebb_command_lists(const struct ebb_command *command, const struct ebb_option *lists[4]);

#endif
