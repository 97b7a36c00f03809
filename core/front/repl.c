/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb repl: the interactive session.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/tz.h"
#include "engine/lua_version.h"
#include "front/commands.h"
#include "front/print.h"
#include "front/repl_priv.h"

static const struct ebb_option OPTIONS[] = {
    {"bundle", 0, "DIR", NULL, false, "policies of this folder instead of the configured ones"},
    {"catalog", 0, "SPEC", NULL, true, "know this catalog too: [NAME=]directory:PATH or [NAME=]sqlite:PATH"},
    {"load", 0, "FILE", NULL, false, "replay a saved session first"},
    {"check", 0, NULL, NULL, false, "with --load: compare what comes out with what was saved, then exit"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb repl", "policies and catalogs of the configuration"},
    {"ebb repl --bundle ./policies clicks.json", "policies on a captured fixture"},
    {"ebb repl --catalog directory:./warehouse lake.db.events", "a real table, without a configuration"},
    {"ebb repl --load night.session --check", "a saved session as a test"},
    {NULL, NULL},
};

static void say_banner(struct ebb_repl *repl)
{
    struct ebb_buf *out = ebb__repl_out(repl);
    size_t count = ebb__repl_policy_count(repl), errors = ebb__repl_error_count(repl);
    char tzdata[16];

    ebb_tz_version(tzdata);
    ebb_buf_printf(out, "ebb %s  Lua %s  bundle %s (%zu polic%s, %zu error%s)  tzdata %s\n", EBB_VERSION,
                   ebb_lua_version(), ebb__repl_hash(repl), count, count == 1 ? "y" : "ies", errors,
                   errors == 1 ? "" : "s", tzdata[0] ? tzdata : "unknown");
    ebb_buf_puts(out, "overlay session: nothing you do here reaches a table.  :help for commands\n");
}

/* Run a whole input and show what it says. *incomplete: it goes on. */
static int take(struct ebb_repl *repl, struct ebb__repl_input *input, struct ebb_buf *block, bool *incomplete,
                struct ebb_err *err)
{
    int rc = ebb__repl_run(repl, ebb_buf_cstr(block), block->len, incomplete, err);

    if (rc || *incomplete)
        return rc;
    ebb__repl_input_add(input, ebb_buf_cstr(block));
    rc = ebb__repl_remember(repl, ebb_buf_cstr(block), block->len, ebb_buf_cstr(ebb__repl_out(repl)), err);
    ebb_buf_reset(block);
    return rc ? rc : ebb__repl_flush(repl, err);
}

/* A block whose end never came: what is wrong with it is said. */
static int take_rest(struct ebb_repl *repl, struct ebb_buf *block, struct ebb_err *err)
{
    bool incomplete = false;
    int rc = block->len ? ebb__repl_run(repl, ebb_buf_cstr(block), block->len, &incomplete, err) : 0;

    if (!rc && incomplete)
        ebb_buf_puts(ebb__repl_out(repl), "error: the input ends within a block\n");
    return rc ? rc : ebb__repl_flush(repl, err);
}

static int read_all(struct ebb_repl *repl, struct ebb__repl_input *input, struct ebb_buf *block, struct ebb_err *err)
{
    bool goes_on = false;
    int rc = 0;

    while (!rc && !repl->quits) {
        struct ebb_str line;

        rc = ebb__repl_input_read(input, goes_on, &line, err);
        if (rc == -(int)EBB_ENOENT)
            return take_rest(repl, block, err);
        if (rc == -(int)EBB_ECANCELLED || rc == -(int)EBB_ELIMIT) {
            if (rc == -(int)EBB_ELIMIT)
                ebb__repl_say_error(repl, err);
            rc = ebb__repl_flush(repl, err);
            ebb_buf_reset(block);
            goes_on = false;
            continue;
        }
        if (!rc && goes_on)
            ebb_buf_putc(block, '\n');
        if (!rc)
            ebb_buf_add_str(block, line);
        if (!rc && block->bad) {
            ebb_buf_check(block, "input", err);
            ebb__repl_say_error(repl, err);
            ebb_buf_reset(block);
            goes_on = false;
        }
        if (!rc)
            rc = take(repl, input, block, &goes_on, err);
    }
    return rc;
}

static int converse(struct ebb_repl *repl, struct ebb_err *err)
{
    struct ebb__repl_input *input = NULL;
    struct ebb_buf block;
    int rc = ebb__repl_flush(repl, err);

    ebb_buf_init(&block, EBB__REPL_LINE_MAX);
    if (repl->cli->signals)
        atomic_store(&repl->cli->signals->converses, isatty(STDIN_FILENO));
    if (!rc)
        rc = ebb__repl_input_open(repl, &input, err);
    if (!rc)
        rc = read_all(repl, input, &block, err);
    ebb__repl_input_close(input);
    if (repl->cli->signals)
        atomic_store(&repl->cli->signals->converses, false);
    ebb_buf_fini(&block);
    return rc;
}

/* As if it had been used by hand: a saved session then begins with it. */
static int use_word(struct ebb_repl *repl, const char *word, struct ebb_err *err)
{
    struct ebb_buf *out = ebb__repl_out(repl), line;
    const char *quote = strpbrk(word, " \t") ? "\"" : "";
    size_t start = out->len;
    int rc = ebb__repl_use(repl, word, err);

    ebb_buf_init(&line, EBB__REPL_LINE_MAX);
    ebb_buf_printf(&line, ":use %s%s%s", quote, word, quote);
    if (!rc)
        rc = ebb__repl_say_table(repl, err);
    if (!rc && !repl->is_checked)
        rc = ebb__repl_remember(repl, ebb_buf_cstr(&line), line.len, ebb_buf_cstr(out) + start, err);
    ebb_buf_fini(&line);
    return rc;
}

/* The words of the command line are tables; the last one stays in use. */
static int use_words(struct ebb_repl *repl, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && ebb_args_word(&repl->cli->args, i); i++)
        rc = use_word(repl, ebb_args_word(&repl->cli->args, i), err);
    return rc;
}

static int start(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_strs catalogs;
    int rc = ebb_cli_open(cli, false, err);

    ebb_strs_init(&catalogs);
    if (!rc && ebb_args_has(&cli->args, "bundle"))
        rc = ebb_workspace_set_policies(cli->ws, ebb_args_get(&cli->args, "bundle"), err);
    if (!rc)
        rc = ebb_args_all(&cli->args, "catalog", &catalogs, err);
    for (size_t i = 0; !rc && i < catalogs.count; i++)
        rc = ebb_workspace_add_catalog(cli->ws, catalogs.items[i], err);
    ebb_strs_fini(&catalogs);
    return rc ? rc : ebb_cli_connect(cli, NULL, err);
}

static int run_repl(struct ebb_cli *cli, struct ebb_err *err)
{
    const char *file = ebb_args_get(&cli->args, "load");
    bool check = ebb_args_has(&cli->args, "check"), differs = false;
    struct ebb_repl repl;
    int rc;

    if (check && !file)
        return ebb_err_set(err, EBB_EUSAGE, "--check: compares a session that --load names");
    memset(&repl, 0, sizeof repl);
    repl.cli = cli;
    repl.day = -1;
    repl.is_checked = file != NULL;
    repl.is_terminal = isatty(STDOUT_FILENO);
    rc = start(cli, err);
    if (!rc)
        rc = ebb__repl_open(&repl, err);
    if (!rc && !check)
        say_banner(&repl);
    if (!rc)
        rc = use_words(&repl, err);
    if (!rc && check)
        ebb_buf_reset(&cli->out);
    if (!rc && file)
        rc = ebb__repl_replay(&repl, file, check, &differs, err);
    if (!rc && !check)
        rc = converse(&repl, err);
    if (differs)
        cli->exit_status = 1;
    ebb__repl_close(&repl);
    return rc;
}

const struct ebb_command ebb_command_repl = {
    .name = "repl",
    .args = "[TABLE|FIXTURE…]",
    .summary = "try policies by hand: a session with a clock of its own",
    .about = "A line that starts with ':' is a command (:help lists them), anything else is Lua in the sandbox of a "
             "decision, with t and ctx of the table in use. Time, events, statistics and parameters can be changed; "
             "all of it is an overlay: nothing here reaches a table. Standard input may also be a pipe.",
    .arg_min = 0,
    .arg_max = 32,
    .shared = EBB_TAKES_MAP | EBB_TAKES_AT,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_repl,
};
