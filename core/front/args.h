/* SPDX-License-Identifier: Apache-2.0
 *
 * The parsed command line: GNU long options (--name value, --name=value, never abbreviated), short ones, "--" ends
 * options, options of every command also before it. Borrows argv.
 */
#ifndef EBB_FRONT_ARGS_H
#define EBB_FRONT_ARGS_H

#include "base/buf.h"
#include "front/command.h"

struct ebb_given {
    const struct ebb_option *option;
    const char *value; /* NULL for a switch */
};

struct ebb_args {
    const struct ebb_command *command; /* NULL: none was named (only --help or --version) */
    char name[128];                    /* the words of its name so far: "job" alone is a group */
    struct ebb_given *items;
    size_t count;
    const char **words; /* the arguments that are no options */
    size_t word_count;
};

/* EBB_EUSAGE. Numbers of words are checked unless --help or --version was given. */
int ebb_args_parse(struct ebb_args *args, int argc, char **argv, struct ebb_err *err);
void ebb_args_fini(struct ebb_args *args);
bool ebb_args_has(const struct ebb_args *args, const char *name);
/* The value of an option, or NULL. */
const char *ebb_args_get(const struct ebb_args *args, const char *name);
/* Add all values of an option that repeats. EBB_ENOMEM. */
int ebb_args_all(const struct ebb_args *args, const char *name, struct ebb_strs *out, struct ebb_err *err);
/* A word by index, or NULL. */
const char *ebb_args_word(const struct ebb_args *args, size_t index);
/* Whether --json stands on a command line, for errors of the parsing itself. */
bool ebb_args_wants_json(int argc, char **argv);

/* Values: the number from min on; a share "0.4" or "40%" in (0, 1]; a duration; a size. *out is left alone when the
 * option was not given. EBB_EUSAGE or EBB_ETIME, naming the option. */
int ebb_args_int(const struct ebb_args *args, const char *name, int64_t min, int64_t *out, struct ebb_err *err);
int ebb_args_share(const struct ebb_args *args, const char *name, double *out, struct ebb_err *err);
int ebb_args_duration(const struct ebb_args *args, const char *name, int64_t *out_ms, struct ebb_err *err);
/* A span of time before now ("7d"), or an instant with zone. EBB_ETIME. */
int ebb_args_since(const struct ebb_args *args, const char *name, int64_t now_ms, int64_t *out_ms, struct ebb_err *err);
int ebb_args_size(const struct ebb_args *args, const char *name, uint64_t *out_bytes, struct ebb_err *err);
/* The index of the choice that was given, or `otherwise`. */
int ebb_args_choice(const struct ebb_args *args, const char *name, int otherwise);

#endif
