/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands of the interactive session: finding, running, help.
 */
#include <ctype.h>
#include <stdlib.h>

#include "engine/api.h"
#include "front/print.h"
#include "front/repl_priv.h"

static const struct ebb__repl_command *const GROUPS[] = {EBB__REPL_LOOK,   EBB__REPL_DECIDE, EBB__REPL_TIME,
                                                         EBB__REPL_CHANGE, EBB__REPL_CHECK,  EBB__REPL_SESSION};
#define GROUP_COUNT (sizeof GROUPS / sizeof GROUPS[0])

static int run_help(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err);
static const struct ebb__repl_command HELP = {
    "help", "session", "[CMD|NAME]",      "these lines; of one command, or of a function that policies have",
    0,      1,         EBB__REPL_COMMAND, run_help};

const struct ebb__repl_command *ebb__repl_command_at(size_t index)
{
    for (size_t g = 0; g < GROUP_COUNT; g++)
        for (const struct ebb__repl_command *c = GROUPS[g]; c->name; c++)
            if (!index--)
                return c;
    return index ? NULL : &HELP;
}

static const struct ebb__repl_command *find(const char *name)
{
    const struct ebb__repl_command *c;

    for (size_t i = 0; (c = ebb__repl_command_at(i)); i++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}

static int unknown(const char *name, struct ebb_err *err)
{
    const char *names[EBB__REPL_WORDS_MAX];
    const struct ebb__repl_command *c;
    const char *near;
    size_t count = 0;
    int rc;

    while (count < EBB__REPL_WORDS_MAX && (c = ebb__repl_command_at(count)))
        names[count++] = c->name;
    near = ebb_text_nearest(name, names, count);
    for (size_t i = count; i-- > 0 && name[0];)
        if (!strncmp(names[i], name, strlen(name)))
            near = names[i];
    rc = ebb_err_set(err, EBB_EUSAGE, ":%.100s: unknown command", name);
    if (near)
        ebb_err_hint(err, "did you mean :%s?", near);
    else
        ebb_err_hint(err, ":help lists the commands");
    return rc;
}

/* ---- help ---- */

static void say_command(struct ebb_buf *out, const struct ebb__repl_command *c)
{
    ebb_buf_printf(out, ":%s%s%s", c->name, c->args[0] ? " " : "", c->args);
}

static void say_groups(struct ebb_buf *out)
{
    for (size_t g = 0; g < GROUP_COUNT; g++) {
        size_t start = out->len;

        ebb_buf_printf(out, " %s", GROUPS[g]->group);
        ebb_print_pad(out, start, 11);
        for (const struct ebb__repl_command *c = GROUPS[g]; c->name; c++) {
            ebb_buf_puts(out, c == GROUPS[g] ? "" : "  ");
            say_command(out, c);
        }
        ebb_buf_putc(out, '\n');
    }
    ebb_buf_puts(out, " anything else is Lua.  :help CMD for one command, :help check for a function\n");
}

static bool say_entry(struct ebb_buf *out, const char *name)
{
    size_t count;
    const struct ebb_api_entry *all = ebb_api_get(&count);
    bool any = false;

    for (size_t i = 0; i < count; i++)
        if (!strcmp(all[i].name, name)) {
            ebb_buf_printf(out, " %s  %s  (%s)\n   %s\n", all[i].name, all[i].type, all[i].kind, all[i].doc);
            any = true;
        }
    return any;
}

static int run_help(struct ebb_repl *repl, const struct ebb__repl_words *words, struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(repl);
    const char *name = words->count > 1 ? words->items[1] : NULL;
    const struct ebb__repl_command *c = name ? find(name + (name[0] == ':')) : NULL;

    if (!name) {
        say_groups(out);
    } else if (c) {
        ebb_buf_putc(out, ' ');
        say_command(out, c);
        ebb_buf_printf(out, "\n   %s\n", c->help);
    }
    if (!name || say_entry(out, name) || c)
        return 0;
    ebb_err_set(err, EBB_EUSAGE, ":help %s: neither a command nor a name that policies have", name);
    ebb_err_hint(err, ":help lists the commands");
    return -(int)EBB_EUSAGE;
}

/* ---- running ---- */

static char *skip_blank(char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* One word, quotes taken off; writes it in place and gives the place behind it, NULL for a quote without an end. */
static char *take_word(char *p)
{
    char *to = p;
    char quote = '\0';

    for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
        if (quote ? *p == quote : *p == '\'' || *p == '"')
            quote = quote ? '\0' : *p;
        else
            *to++ = *p;
    }
    if (quote)
        return NULL;
    if (*p)
        p++;
    *to = '\0';
    return p;
}

static int split(const char *line, struct ebb__repl_words *words, struct ebb_err *err)
{
    char *p = words->kept = strdup(line);

    if (!p)
        return ebb_err_nomem(err);
    for (p = skip_blank(p); *p; p = skip_blank(p)) {
        size_t at = (size_t)(p - words->kept);

        if (words->count == EBB__REPL_WORDS_MAX)
            return ebb_err_set(err, EBB_EUSAGE, "input: more than %d words", EBB__REPL_WORDS_MAX);
        if (words->count == 1)
            words->rest = line + at;
        if (words->count == 2)
            words->last = line + at;
        words->items[words->count++] = p;
        p = take_word(p);
        if (!p)
            return ebb_err_set(err, EBB_EUSAGE, "input: a quote has no end");
    }
    return 0;
}

static int check_words(const struct ebb__repl_command *c, const struct ebb__repl_words *words, struct ebb_err *err)
{
    size_t given = words->count - 1;

    if (given >= c->min && given <= c->max)
        return 0;
    ebb_err_set(err, EBB_EUSAGE, ":%s: %s", c->name, given < c->min ? "something is missing" : "too many words");
    ebb_err_hint(err, "write :%s %s", c->name, c->args);
    return -(int)EBB_EUSAGE;
}

static int run_command(struct ebb_repl *repl, const char *line, struct ebb_err *err)
{
    struct ebb__repl_words words = {.rest = "", .last = ""};
    const struct ebb__repl_command *c = NULL;
    int rc = split(line, &words, err);

    if (!rc && !words.count)
        rc = ebb_err_set(err, EBB_EUSAGE, ": stands before the name of a command; :help lists them");
    if (!rc) {
        c = find(words.items[0]);
        rc = c ? check_words(c, &words, err) : unknown(words.items[0], err);
    }
    if (!rc)
        rc = c->run(repl, &words, err);
    free(words.kept);
    return rc;
}

void ebb__repl_say_error(struct ebb_repl *repl, const struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(repl);

    ebb_buf_puts(out, "error: ");
    ebb_print_text(out, err->message);
    ebb_buf_putc(out, '\n');
    if (err->hint[0]) {
        ebb_buf_puts(out, "  hint: ");
        ebb_print_text(out, err->hint);
        ebb_buf_putc(out, '\n');
    }
}

bool ebb__repl_is_ended(const struct ebb_repl *repl)
{
    return repl->cli->signals && atomic_load(&repl->cli->signals->ends);
}

int ebb__repl_run(struct ebb_repl *repl, const char *input, size_t n, bool *incomplete, struct ebb_err *err)
{
    size_t i = 0;
    int rc = 0;

    *incomplete = false;
    while (i < n && isspace((unsigned char)input[i]))
        i++;
    if (i == n)
        return 0;
    if (strlen(input) != n)
        rc = ebb_err_set(err, EBB_EUSAGE, "input: holds a NUL byte");
    else if (input[i] == ':' && !(i + 1 < n && input[i + 1] == ':'))
        rc = run_command(repl, input + i + 1, err);
    else
        rc = ebb__repl_lua(repl, (struct ebb_str){input, n}, incomplete, err);
    if (atomic_exchange(repl->cli->cancelled, false) && !rc)
        rc = ebb_err_set(err, EBB_ECANCELLED, "interrupted");
    if (ebb__repl_is_ended(repl)) {
        repl->quits = true;
        repl->cli->exit_status = ebb_error_exit(EBB_ECANCELLED);
    }
    if (rc && rc != -(int)EBB_ENOMEM) {
        ebb__repl_say_error(repl, err);
        rc = 0;
    }
    return rc;
}

/* An option of this program's own command line that the command must be given too. */
static int add_again(struct ebb_strs *words, const struct ebb_given *given, bool takes_map, struct ebb_err *err)
{
    const char *name = given->option->name;
    struct ebb_buf option;
    int rc;

    if (strcmp(name, "config") && strcmp(name, "state") && !(takes_map && !strcmp(name, "map")))
        return 0;
    ebb_buf_init(&option, EBB__REPL_LINE_MAX);
    ebb_buf_printf(&option, "--%s=%s", name, given->value);
    rc = ebb_buf_check(&option, name, err);
    if (!rc)
        rc = ebb_strs_add(words, ebb_buf_cstr(&option), err);
    ebb_buf_fini(&option);
    return rc;
}

static int make_words(struct ebb_repl *repl, const char *const *args, size_t count, struct ebb_strs *out,
                      struct ebb_err *err)
{
    const struct ebb_args *own = &repl->cli->args;
    bool takes_map = !strcmp(args[0], "plan");
    int rc = ebb_strs_add(out, "ebb", err);

    if (!rc)
        rc = ebb_strs_add(out, args[0], err);
    for (size_t i = 0; !rc && i < own->count; i++)
        rc = add_again(out, &own->items[i], takes_map, err);
    for (size_t i = 1; !rc && i < count; i++)
        rc = ebb_strs_add(out, args[i], err);
    return rc;
}

int ebb__repl_program(struct ebb_repl *repl, const char *const *args, size_t count, struct ebb_err *err)
{
    struct ebb_strs words;
    struct ebb_cli sub;
    int rc;

    ebb_cli_init(&sub, repl->cli->cancelled);
    sub.keeps_out = true;
    sub.has_colour = repl->cli->has_colour;
    ebb_strs_init(&words);
    rc = make_words(repl, args, count, &words, err);
    if (!rc)
        rc = ebb_args_parse(&sub.args, (int)words.count, words.items, err);
    if (!rc)
        rc = sub.args.command->run(&sub, err);
    ebb_buf_add_str(ebb__repl_out(repl), ebb_buf_str(&sub.out));
    ebb_cli_fini(&sub);
    ebb_strs_fini(&words);
    return rc;
}
