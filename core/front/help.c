/* SPDX-License-Identifier: Apache-2.0 */
#include "front/help.h"

#include "front/args.h"
#include "front/cli.h"
#include "front/commands.h"
#include "front/print.h"

#define OPTION_COLUMN 30
#define COMMAND_COLUMN 27
#define WIDTH 80

/* Words of a paragraph, broken at WIDTH; `column` is where it stands and where its further lines begin. */
static void wrap(struct ebb_buf *out, const char *text, size_t column)
{
    size_t used = column;

    while (*text) {
        size_t n = strcspn(text, " ");

        if (used > column && used + 1 + n > WIDTH) {
            ebb_buf_printf(out, "\n%*s", (int)column, "");
            used = column;
        } else if (used > column) {
            ebb_buf_putc(out, ' ');
            used++;
        }
        ebb_buf_append(out, text, n);
        used += n;
        text += n;
        text += strspn(text, " ");
    }
    ebb_buf_putc(out, '\n');
}

/* Characters, not bytes, since `start`. */
static size_t width_since(const struct ebb_buf *out, size_t start)
{
    size_t n = 0;

    for (size_t i = start; i < out->len; i++)
        n += ((unsigned char)out->data[i] & 0xC0) != 0x80;
    return n;
}

static void print_option(struct ebb_buf *out, const struct ebb_option *o)
{
    size_t start = out->len;

    if (o->letter)
        ebb_buf_printf(out, "  -%c, --%s", o->letter, o->name);
    else
        ebb_buf_printf(out, "      --%s", o->name);
    if (o->value)
        ebb_buf_printf(out, " %s", o->choices ? o->choices : o->value);
    if (o->repeats)
        ebb_buf_puts(out, "…");
    if (width_since(out, start) + 1 > OPTION_COLUMN)
        ebb_buf_printf(out, "\n%*s", OPTION_COLUMN, "");
    else
        ebb_print_pad(out, start, OPTION_COLUMN);
    wrap(out, o->help, OPTION_COLUMN);
}

static void print_options(struct ebb_buf *out, const char *title, const struct ebb_option *list)
{
    if (!list || !list->name)
        return;
    if (title)
        ebb_buf_printf(out, "\n%s:\n", title);
    for (; list->name; list++)
        print_option(out, list);
}

static void print_examples(struct ebb_buf *out, const struct ebb_example *e)
{
    if (!e)
        return;
    ebb_buf_puts(out, "\nExamples:\n");
    for (; e->line; e++)
        ebb_buf_printf(out, "  %s\n      %s\n", e->line, e->about);
}

static void print_command(struct ebb_buf *out, const struct ebb_command *c)
{
    bool has_options = (c->options && c->options->name) || c->shared;

    ebb_buf_printf(out, "Usage: ebb %s%s%s%s\n\n", c->name, has_options ? " [OPTION…]" : "", c->args[0] ? " " : "",
                   c->args);
    ebb_buf_printf(out, "%c%s.\n",
                   c->summary[0] >= 'a' && c->summary[0] <= 'z' ? c->summary[0] - 'a' + 'A' : c->summary[0],
                   c->summary + 1);
    if (c->about) {
        ebb_buf_putc(out, '\n');
        wrap(out, c->about, 0);
    }
    if (has_options)
        ebb_buf_puts(out, "\nOptions:\n");
    print_options(out, NULL, c->options);
    if (c->shared & EBB_TAKES_MAP)
        print_options(out, NULL, EBB_MAP_OPTIONS);
    if (c->shared & EBB_TAKES_AT)
        print_options(out, NULL, EBB_AT_OPTIONS);
    print_options(out, "Options of every command", EBB_GLOBAL_OPTIONS);
    print_examples(out, c->examples);
}

/* The commands whose name begins with a group's word; "" all. */
static void print_list(struct ebb_buf *out, const char *group)
{
    size_t n = strlen(group);

    for (size_t i = 0; EBB_COMMANDS[i]; i++) {
        const struct ebb_command *c = EBB_COMMANDS[i];
        size_t start = out->len;

        if (c->is_hidden || strncmp(c->name, group, n) || (n && c->name[n] != ' '))
            continue;
        ebb_buf_printf(out, "  %s", c->name);
        ebb_print_pad(out, start, COMMAND_COLUMN);
        ebb_buf_printf(out, "%s\n", c->summary);
    }
}

static void print_overview(struct ebb_buf *out)
{
    ebb_buf_puts(out, "Usage: ebb COMMAND [OPTION…] [ARGUMENT…]\n\n"
                      "ebb finds and removes files that Apache Iceberg tables no longer reference:\n"
                      "planned, re-verified, kept in quarantine, undoable.\n\nCommands:\n");
    print_list(out, "");
    print_options(out, "Options of every command", EBB_GLOBAL_OPTIONS);
    ebb_buf_puts(out, "\nA TABLE is catalog.namespace.name of a configured catalog, or a path or URI of a\n"
                      "table's folder or of its metadata.json; a local table needs no configuration.\n\n"
                      "Exit status: 0 done, 1 a check did not hold, 2 refused for safety, 3 failed or\n"
                      "partly done, 4 a policy went wrong, 5 interrupted, 64 usage or configuration.\n\n"
                      "ebb COMMAND --help tells more, with examples.\n");
}

int ebb_help_print(struct ebb_buf *out, const char *name, struct ebb_err *err)
{
    const struct ebb_command *c = ebb_command_find(name);
    int rc;

    if (!name[0]) {
        print_overview(out);
    } else if (c) {
        print_command(out, c);
    } else if (ebb_command_is_group(name)) {
        ebb_buf_printf(out, "Usage: ebb %s COMMAND [OPTION…]\n\nCommands:\n", name);
        print_list(out, name);
        ebb_buf_printf(out, "\nebb %s COMMAND --help tells more, with examples.\n", name);
    } else {
        rc = ebb_err_set(err, EBB_EUSAGE, "help: %s: no such command", name);
        if (ebb_command_nearest(name))
            ebb_err_hint(err, "did you mean %s?", ebb_command_nearest(name));
        return rc;
    }
    return 0;
}

static int run_help(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_buf name;
    int rc;

    ebb_buf_init(&name, 4096);
    for (size_t i = 0; i < cli->args.word_count; i++)
        ebb_buf_printf(&name, "%s%s", i ? " " : "", cli->args.words[i]);
    rc = ebb_buf_check(&name, "help", err);
    if (!rc)
        rc = ebb_help_print(&cli->out, ebb_buf_cstr(&name), err);
    ebb_buf_fini(&name);
    return rc;
}

static const struct ebb_example EXAMPLES[] = {
    {"ebb help plan", "the same as ebb plan --help"},
    {NULL, NULL},
};

const struct ebb_command ebb_command_help = {
    .name = "help",
    .args = "[COMMAND]",
    .summary = "what the commands do, or one of them",
    .arg_max = 2,
    .examples = EXAMPLES,
    .run = run_help,
};
