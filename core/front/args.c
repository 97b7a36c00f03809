/* SPDX-License-Identifier: Apache-2.0 */
#include "front/args.h"

#include <stdio.h>
#include <stdlib.h>

#define NAME_MAX_BYTES 128

struct parser {
    struct ebb_args *args;
    char **argv;
    int argc, at;
    bool is_over; /* "--" was seen */
};

static const char *command_name(const struct ebb_args *args)
{
    return args->command ? args->command->name : "ebb";
}

static int unknown_option(const struct parser *p, const char *name, struct ebb_err *err)
{
    const struct ebb_args *args = p->args;
    const char *nearest = ebb_option_nearest(args->command, name);
    int rc = ebb_err_set(err, EBB_EUSAGE, "%s: unknown option --%s", command_name(args), name);

    if (nearest)
        ebb_err_hint(err, "did you mean --%s?", nearest);
    else if (args->command)
        ebb_err_hint(err, "ebb %s --help lists its options", args->command->name);
    else
        ebb_err_hint(err, "options of a command stand behind its name; ebb help lists the commands");
    return rc;
}

static bool is_choice(const char *choices, const char *value)
{
    size_t n = strlen(value);

    for (const char *c = choices; n && c; c = strchr(c, '|') ? strchr(c, '|') + 1 : NULL)
        if (!strncmp(c, value, n) && (c[n] == '\0' || c[n] == '|'))
            return true;
    return false;
}

static int give(struct parser *p, const struct ebb_option *option, const char *value, struct ebb_err *err)
{
    struct ebb_args *args = p->args;

    if (option->value && !option->repeats && ebb_args_has(args, option->name))
        return ebb_err_set(err, EBB_EUSAGE, "--%s: given twice", option->name);
    if (option->choices && !is_choice(option->choices, value))
        return ebb_err_set(err, EBB_EUSAGE, "--%s %s: one of %s is wanted", option->name, value, option->choices);
    args->items[args->count].option = option;
    args->items[args->count++].value = value;
    return 0;
}

/* An option is never taken for the value of the one before it: a lost value must not eat --dry-run. */
static int missing_value(const struct ebb_option *option, const char *next, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_EUSAGE, "--%s: %s is missing", option->name, option->value);

    if (next)
        ebb_err_hint(err, "if %s is meant as its value: --%s=%s", next, option->name, next);
    return rc;
}

/* The value of an option: what stands behind '=' (or the letter), else the next argument. */
static int take_value(struct parser *p, const struct ebb_option *option, const char *attached, struct ebb_err *err)
{
    if (!option->value && attached)
        return ebb_err_set(err, EBB_EUSAGE, "--%s: takes no value", option->name);
    if (option->value && !attached) {
        if (p->at >= p->argc || !strncmp(p->argv[p->at], "--", 2))
            return missing_value(option, p->at < p->argc ? p->argv[p->at] : NULL, err);
        attached = p->argv[p->at++];
    }
    return give(p, option, attached, err);
}

static int take_long(struct parser *p, const char *text, struct ebb_err *err)
{
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    const struct ebb_option *option = ebb_option_find(p->args->command, text, n);
    char name[NAME_MAX_BYTES];

    if (option)
        return take_value(p, option, equals ? equals + 1 : NULL, err);
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), text);
    return unknown_option(p, name, err);
}

/* "-C", "-CFILE"; switches may stand together. */
static int take_short(struct parser *p, const char *letters, struct ebb_err *err)
{
    int rc = 0;

    for (; !rc && *letters; letters++) {
        const struct ebb_option *option = ebb_option_find_letter(p->args->command, *letters);

        if (!option)
            return ebb_err_set(err, EBB_EUSAGE, "%s: unknown option -%c", command_name(p->args), *letters);
        if (option->value)
            return take_value(p, option, letters[1] ? letters + 1 : NULL, err);
        rc = give(p, option, NULL, err);
    }
    return rc;
}

static int unknown_command(const char *name, struct ebb_err *err)
{
    const char *nearest = ebb_command_nearest(name);
    int rc = ebb_err_set(err, EBB_EUSAGE, "%s: unknown command", name);

    if (nearest)
        ebb_err_hint(err, "did you mean %s?", nearest);
    else
        ebb_err_hint(err, "ebb help lists the commands");
    return rc;
}

/* A word that belongs to the command's name. */
static int take_name(struct parser *p, const char *word, struct ebb_err *err)
{
    struct ebb_args *args = p->args;
    size_t n = strlen(args->name);

    snprintf(args->name + n, sizeof args->name - n, "%s%s", n ? " " : "", word);
    args->command = ebb_command_find(args->name);
    if (args->command || ebb_command_is_group(args->name))
        return 0;
    return unknown_command(args->name, err);
}

static int take(struct parser *p, const char *text, struct ebb_err *err)
{
    if (!p->is_over && !strcmp(text, "--")) {
        p->is_over = true;
        return 0;
    }
    if (!p->is_over && text[0] == '-' && text[1] == '-')
        return take_long(p, text + 2, err);
    if (!p->is_over && text[0] == '-' && text[1])
        return take_short(p, text + 1, err);
    if (!p->args->command)
        return take_name(p, text, err);
    p->args->words[p->args->word_count++] = text;
    return 0;
}

/* Options that stood before the command were taken without knowing it. */
static int check_taken(const struct parser *p, struct ebb_err *err)
{
    const struct ebb_args *args = p->args;

    for (size_t i = 0; args->command && i < args->count; i++) {
        const char *name = args->items[i].option->name;

        if (ebb_option_find(args->command, name, strlen(name)) != args->items[i].option)
            return unknown_option(p, name, err);
    }
    return 0;
}

static int check_words(const struct parser *p, struct ebb_err *err)
{
    const struct ebb_args *args = p->args;
    int rc;

    if (ebb_args_has(args, "help") || ebb_args_has(args, "version"))
        return 0;
    if (!args->command && args->name[0]) {
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: the rest of the command is missing", args->name);
        ebb_err_hint(err, "ebb help %s lists what there is", args->name);
        return rc;
    }
    if (!args->command) {
        rc = ebb_err_set(err, EBB_EUSAGE, "command: is missing");
        ebb_err_hint(err, "ebb help lists the commands");
        return rc;
    }
    if (args->word_count >= args->command->arg_min && args->word_count <= args->command->arg_max)
        return 0;
    if (args->word_count > args->command->arg_max)
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: %s: one argument too many", args->command->name,
                         args->words[args->command->arg_max]);
    else
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: %s is missing", args->command->name, args->command->args);
    if (!args->command->arg_max && ebb_option_find(args->command, "table", 5))
        ebb_err_hint(err, "name a table by --table %s", args->words[0]);
    else if (args->command->arg_max)
        ebb_err_hint(err, "usage: ebb %s %s", args->command->name, args->command->args);
    else
        ebb_err_hint(err, "%s takes only options: ebb help %s", args->command->name, args->command->name);
    return rc;
}

int ebb_args_parse(struct ebb_args *args, int argc, char **argv, struct ebb_err *err)
{
    struct parser p = {args, argv, argc, 1, false};
    size_t max = argc > 0 ? (size_t)argc : 1;
    int rc = 0;

    memset(args, 0, sizeof *args);
    /* "-hh" gives several options in one argument: room for every letter. */
    for (int i = 1; i < argc; i++)
        max += strlen(argv[i]);
    args->items = calloc(max, sizeof *args->items);
    args->words = calloc(max, sizeof *args->words);
    if (!args->items || !args->words)
        return ebb_err_nomem(err);
    while (!rc && p.at < p.argc)
        rc = take(&p, p.argv[p.at++], err);
    if (!rc)
        rc = check_taken(&p, err);
    return rc ? rc : check_words(&p, err);
}

void ebb_args_fini(struct ebb_args *args)
{
    free(args->items);
    free(args->words);
    memset(args, 0, sizeof *args);
}

const char *ebb_args_get(const struct ebb_args *args, const char *name)
{
    for (size_t i = 0; i < args->count; i++)
        if (!strcmp(args->items[i].option->name, name))
            return args->items[i].value;
    return NULL;
}

bool ebb_args_has(const struct ebb_args *args, const char *name)
{
    for (size_t i = 0; i < args->count; i++)
        if (!strcmp(args->items[i].option->name, name))
            return true;
    return false;
}

int ebb_args_all(const struct ebb_args *args, const char *name, struct ebb_strs *out, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < args->count; i++)
        if (!strcmp(args->items[i].option->name, name))
            rc = ebb_strs_add(out, args->items[i].value, err);
    return rc;
}

const char *ebb_args_word(const struct ebb_args *args, size_t index)
{
    return index < args->word_count ? args->words[index] : NULL;
}

bool ebb_args_wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--json"))
            return true;
    return false;
}
