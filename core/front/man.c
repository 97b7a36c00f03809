/* SPDX-License-Identifier: Apache-2.0
 *
 * The man page, in man(7) macros.
 */
#include "front/commands.h"
#include "front/help.h"

/* Text of a macro line: what roff would take for its own is escaped. A '.' or quote is harmless but at the start of a
 * line. */
static void put(struct ebb_buf *out, const char *text)
{
    for (bool start = true; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            ebb_buf_puts(out, "\\&");
        start = false;
        if (*text == '\\')
            ebb_buf_puts(out, "\\e");
        else if (*text == '-')
            ebb_buf_puts(out, "\\-");
        else
            ebb_buf_putc(out, *text);
    }
}

static void put_options(struct ebb_buf *out, const struct ebb_option *o)
{
    for (; o && o->name; o++) {
        ebb_buf_puts(out, ".TP\n\\fB");
        if (o->letter)
            ebb_buf_printf(out, "\\-%c\\fR, \\fB", o->letter);
        ebb_buf_puts(out, "\\-\\-");
        put(out, o->name);
        ebb_buf_puts(out, "\\fR");
        if (o->value) {
            ebb_buf_puts(out, " \\fI");
            put(out, o->choices ? o->choices : o->value);
            ebb_buf_puts(out, "\\fR");
        }
        ebb_buf_putc(out, '\n');
        put(out, o->help);
        ebb_buf_puts(out, o->repeats ? " (may be given several times).\n" : ".\n");
    }
}

static void put_examples(struct ebb_buf *out, const struct ebb_example *e)
{
    if (e)
        ebb_buf_puts(out, ".PP\nExamples:\n");
    for (; e && e->line; e++) {
        ebb_buf_puts(out, ".TP\n.B ");
        put(out, e->line);
        ebb_buf_putc(out, '\n');
        put(out, e->about);
        ebb_buf_puts(out, ".\n");
    }
}

static void put_command(struct ebb_buf *out, const struct ebb_command *c)
{
    ebb_buf_puts(out, ".SS \"ebb ");
    put(out, c->name);
    if (c->args[0]) {
        ebb_buf_putc(out, ' ');
        put(out, c->args);
    }
    ebb_buf_puts(out, "\"\n");
    put(out, c->summary);
    ebb_buf_puts(out, ".\n");
    if (c->about) {
        ebb_buf_puts(out, ".PP\n");
        put(out, c->about);
        ebb_buf_putc(out, '\n');
    }
    put_options(out, c->options);
    if (c->shared & EBB_TAKES_MAP)
        put_options(out, EBB_MAP_OPTIONS);
    if (c->shared & EBB_TAKES_AT)
        put_options(out, EBB_AT_OPTIONS);
    put_examples(out, c->examples);
}

static void put_rest(struct ebb_buf *out)
{
    static const char *const STATUS[] = {"0",  "done, also: nothing to do",
                                         "1",  "a check, comparison or verification did not hold",
                                         "2",  "refused for safety; nothing was removed",
                                         "3",  "the work failed or was only partly done",
                                         "4",  "a policy went wrong",
                                         "5",  "interrupted; resumable",
                                         "64", "usage or configuration error"};

    ebb_buf_puts(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < sizeof STATUS / sizeof STATUS[0]; i += 2)
        ebb_buf_printf(out, ".TP\n.B %s\n%s.\n", STATUS[i], STATUS[i + 1]);
    ebb_buf_puts(
        out,
        ".SH ENVIRONMENT\n.TP\n.B XDG_CONFIG_HOME\nwhere ebb/ebb.lua is looked for.\n"
        ".TP\n.B XDG_STATE_HOME\nwhere the state folder ebb is, unless \\fB\\-\\-state\\fR names another.\n"
        ".TP\n.B NO_COLOR\nno colours, also on a terminal.\n"
        ".SH FILES\n.TP\n.I ./ebb.lua\nthe configuration, before $XDG_CONFIG_HOME/ebb/ebb.lua and /etc/ebb/ebb.lua.\n"
        ".TP\n.I <location>/.ebb\\-quarantine\nwhere applied plans keep files until they are purged.\n");
}

void ebb_man_print(struct ebb_buf *out)
{
    ebb_buf_printf(out, ".\\\" Made by ebb from its table of commands.\n.TH EBB 1 \"\" \"ebb %s\" \"User Commands\"\n",
                   EBB_VERSION);
    ebb_buf_puts(
        out,
        ".SH NAME\nebb \\- remove files that Apache Iceberg tables no longer reference\n"
        ".SH SYNOPSIS\n.B ebb\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
        ".SH DESCRIPTION\nebb finds files below the location of a table that none of its metadata references, and "
        "moves "
        "them to a quarantine from which they can be put back. A plan is made first, read only; applying it looks at "
        "the "
        "table again before each batch. Policies written in Lua decide when this is done.\n.PP\n"
        "A \\fITABLE\\fR is catalog.namespace.name of a configured catalog, or a path or URI of a table's folder or of "
        "its metadata.json.\n.SH OPTIONS\nOf every command, before or after its name:\n");
    put_options(out, EBB_GLOBAL_OPTIONS);
    ebb_buf_puts(out, ".SH COMMANDS\n");
    for (size_t i = 0; EBB_COMMANDS[i]; i++)
        if (!EBB_COMMANDS[i]->is_hidden)
            put_command(out, EBB_COMMANDS[i]);
    put_rest(out);
}
