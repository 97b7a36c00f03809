/* SPDX-License-Identifier: Apache-2.0
 *
 * Completions for bash and zsh, and the hidden commands that print them and the man page.
 */
#include "front/cli.h"
#include "front/commands.h"
#include "front/help.h"

/* The words of all visible commands: whole names of one word, first words of the others once. */
static void put_words(struct ebb_buf *out)
{
    for (size_t i = 0; EBB_COMMANDS[i]; i++)
        if (!EBB_COMMANDS[i]->is_hidden)
            ebb_buf_printf(out, "%s%.*s", i ? " " : "", (int)strcspn(EBB_COMMANDS[i]->name, " "),
                           EBB_COMMANDS[i]->name);
}

static void put_option_words(struct ebb_buf *out, const struct ebb_command *c)
{
    const struct ebb_option *lists[4];
    size_t count = ebb_command_lists(c, lists);

    for (size_t l = 0; l < count; l++)
        for (const struct ebb_option *o = lists[l]; o->name; o++)
            ebb_buf_printf(out, "--%s ", o->name);
}

/* Values of options with choices: each such option stands once. */
static void put_choices(struct ebb_buf *out, const struct ebb_command *c)
{
    for (const struct ebb_option *o = c->options; o && o->name; o++)
        if (o->choices) {
            ebb_buf_printf(out, "    '%s --%s') words='", c->name, o->name);
            for (const char *p = o->choices; *p; p++)
                ebb_buf_putc(out, *p == '|' ? ' ' : *p);
            ebb_buf_puts(out, "' ;;\n");
        }
}

static void put_groups(struct ebb_buf *out)
{
    for (size_t i = 0; EBB_COMMANDS[i]; i++) {
        const char *space = strchr(EBB_COMMANDS[i]->name, ' ');

        if (space && !EBB_COMMANDS[i]->is_hidden)
            ebb_buf_printf(out, "    '%.*s') words='%s' ;;\n", (int)(space - EBB_COMMANDS[i]->name),
                           EBB_COMMANDS[i]->name, space + 1);
    }
}

void ebb_complete_bash(struct ebb_buf *out)
{
    ebb_buf_puts(out, "# bash completion for ebb, made by ebb from its table of commands\n"
                      "_ebb() {\n"
                      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word words= i\n"
                      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                      "    word=${COMP_WORDS[i]}\n"
                      "    case $word in\n"
                      "    -C|--config|--state|--map|--at) ((i++)) ;;\n"
                      "    -*) ;;\n"
                      "    *) case $command in\n"
                      "       ''|job|sql) command=${command:+$command }$word ;;\n"
                      "       esac ;;\n"
                      "    esac\n"
                      "  done\n"
                      "  case \"$command $prev\" in\n");
    for (size_t i = 0; EBB_COMMANDS[i]; i++)
        if (!EBB_COMMANDS[i]->is_hidden)
            put_choices(out, EBB_COMMANDS[i]);
    ebb_buf_puts(out, "  esac\n  if [[ -z $words ]]; then\n    case $command in\n    '') words='");
    put_words(out);
    ebb_buf_puts(out, "' ;;\n");
    put_groups(out);
    ebb_buf_puts(out, "    esac\n  fi\n  if [[ $cur == -* ]]; then\n    case $command in\n");
    for (size_t i = 0; EBB_COMMANDS[i]; i++) {
        if (EBB_COMMANDS[i]->is_hidden)
            continue;
        ebb_buf_printf(out, "    '%s') words='", EBB_COMMANDS[i]->name);
        put_option_words(out, EBB_COMMANDS[i]);
        ebb_buf_puts(out, "' ;;\n");
    }
    ebb_buf_puts(out, "    *) words='");
    put_option_words(out, NULL);
    ebb_buf_puts(out, "' ;;\n    esac\n  fi\n"
                      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                      "}\n"
                      "complete -o default -F _ebb ebb\n");
}

/* ---- zsh ---- */

/* Text inside single quotes of a zsh specification, where brackets and colons mean something. */
static void put_zsh(struct ebb_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            ebb_buf_puts(out, "'\\''");
        else if (strchr("[]:\\", *text))
            ebb_buf_printf(out, "\\%c", *text);
        else
            ebb_buf_putc(out, *text);
    }
}

static void put_zsh_option(struct ebb_buf *out, const struct ebb_option *o)
{
    ebb_buf_printf(out, " \\\n      '%s--%s%s[", o->repeats ? "*" : "", o->name, o->value ? "=" : "");
    put_zsh(out, o->help);
    ebb_buf_putc(out, ']');
    if (o->value) {
        ebb_buf_putc(out, ':');
        put_zsh(out, o->value);
        ebb_buf_putc(out, ':');
        if (o->choices) {
            ebb_buf_putc(out, '(');
            for (const char *p = o->choices; *p; p++)
                ebb_buf_putc(out, *p == '|' ? ' ' : *p);
            ebb_buf_putc(out, ')');
        } else {
            ebb_buf_puts(out, "_files");
        }
    }
    ebb_buf_putc(out, '\'');
}

static void put_zsh_command(struct ebb_buf *out, const struct ebb_command *c)
{
    const struct ebb_option *lists[4];
    size_t count = ebb_command_lists(c, lists);

    ebb_buf_printf(out, "  '%s')\n    _arguments", c->name);
    for (size_t l = 0; l < count; l++)
        for (const struct ebb_option *o = lists[l]; o->name; o++)
            put_zsh_option(out, o);
    ebb_buf_puts(out, " \\\n      '*: :_files' ;;\n");
}

void ebb_complete_zsh(struct ebb_buf *out)
{
    ebb_buf_puts(out, "#compdef ebb\n# made by ebb from its table of commands\n_ebb() {\n  local -a commands\n  local "
                      "name\n  commands=(\n");
    for (size_t i = 0; EBB_COMMANDS[i]; i++) {
        if (EBB_COMMANDS[i]->is_hidden)
            continue;
        ebb_buf_printf(out, "    '%.*s:", (int)strcspn(EBB_COMMANDS[i]->name, " "), EBB_COMMANDS[i]->name);
        put_zsh(out, EBB_COMMANDS[i]->summary);
        ebb_buf_puts(out, "'\n");
    }
    ebb_buf_puts(out, "  )\n"
                      "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
                      "  name=$words[2]\n"
                      "  if [[ $name == (job|sql) ]]; then\n"
                      "    if (( CURRENT == 3 )); then\n      compadd remove-orphan-files\n      return\n    fi\n"
                      "    name=\"$name $words[3]\"\n    shift words\n    (( CURRENT-- ))\n  fi\n"
                      "  shift words\n  (( CURRENT-- ))\n"
                      "  case $name in\n");
    for (size_t i = 0; EBB_COMMANDS[i]; i++)
        if (!EBB_COMMANDS[i]->is_hidden)
            put_zsh_command(out, EBB_COMMANDS[i]);
    ebb_buf_puts(out, "  esac\n}\n_ebb \"$@\"\n");
}

/* ---- the hidden commands ---- */

static int run_man(struct ebb_cli *cli, struct ebb_err *err)
{
    (void)err;
    ebb_man_print(&cli->out);
    return 0;
}

static int run_bash(struct ebb_cli *cli, struct ebb_err *err)
{
    (void)err;
    ebb_complete_bash(&cli->out);
    return 0;
}

static int run_zsh(struct ebb_cli *cli, struct ebb_err *err)
{
    (void)err;
    ebb_complete_zsh(&cli->out);
    return 0;
}

const struct ebb_command ebb_command_man = {
    .name = "__man", .args = "", .summary = "print the man page", .run = run_man, .is_hidden = true};
const struct ebb_command ebb_command_bash = {
    .name = "__complete-bash", .args = "", .summary = "print completions for bash", .run = run_bash, .is_hidden = true};
const struct ebb_command ebb_command_zsh = {
    .name = "__complete-zsh", .args = "", .summary = "print completions for zsh", .run = run_zsh, .is_hidden = true};
