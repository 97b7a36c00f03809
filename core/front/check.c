/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb check: policies as files, nothing is run but their headers.
 */
#include "engine/lint.h"
#include "engine/syntax.h"
#include "front/commands.h"
#include "front/print.h"
#include "service/pass.h"

static const struct ebb_option OPTIONS[] = {
    {"strict", 0, NULL, NULL, false, "warnings count as errors"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb check", "every policy of the configured folder (or ./policies)"},
    {"ebb check policies/orphans.lua --json", "for an editor or CI"},
    {NULL, NULL},
};

/* ---- which files ---- */

static int add_default(struct ebb_cli *cli, struct ebb_strs *files, struct ebb_err *err)
{
    const char *dir;
    int rc = ebb_cli_open(cli, true, err);

    if (rc)
        return rc;
    dir = ebb_workspace_config(cli->ws)->policies;
    return ebb_policy_files(dir ? dir : "./policies", files, err);
}

static int gather(struct ebb_cli *cli, struct ebb_strs *files, struct ebb_err *err)
{
    int rc = cli->args.word_count ? 0 : add_default(cli, files, err);

    for (size_t i = 0; !rc && i < cli->args.word_count; i++) {
        struct ebb_strs some;

        ebb_strs_init(&some);
        rc = ebb_policy_files(cli->args.words[i], &some, err);
        for (size_t k = 0; !rc && k < some.count; k++)
            rc = ebb_strs_add(files, some.items[k], err);
        ebb_strs_fini(&some);
    }
    return rc;
}

/* ---- check ---- */

/* A policy that loads: its name must be that of no other. */
static int check_name(const struct ebb_policy *policy, struct ebb_strs *names, struct ebb_diagnostics *list,
                      struct ebb_err *err)
{
    const char *name = ebb_policy_get_name(policy);
    int rc;

    for (size_t i = 0; i + 1 < names->count; i += 2)
        if (!strcmp(names->items[i], name)) {
            ebb_lint_same_name(policy, names->items[i + 1], list);
            return 0;
        }
    rc = ebb_strs_add(names, name, err);
    return rc ? rc : ebb_strs_add(names, ebb_policy_get_file(policy), err);
}

/* What is wrong in a file stands in the list; only what is wrong with the check itself ends it. */
static int check_file(const char *file, struct ebb_strs *names, struct ebb_diagnostics *list, struct ebb_err *err)
{
    struct ebb_policy *policy = NULL;
    size_t before = list->error_count;
    int rc = ebb_policy_load(file, &policy, list, err);

    if (!rc)
        rc = ebb_lint_policy(policy, list, err);
    if (!rc)
        rc = check_name(policy, names, list, err);
    ebb_policy_free(policy);
    return rc && rc != -(int)EBB_ENOMEM && list->error_count > before ? 0 : rc;
}

static void print_one(struct ebb_cli *cli, const struct ebb_diagnostic *d)
{
    struct ebb_buf *out = &cli->out;

    ebb_print_text(out, d->file);
    if (d->line > 0)
        ebb_buf_printf(out, ":%d", d->line);
    if (d->line > 0 && d->column > 0)
        ebb_buf_printf(out, ":%d", d->column);
    ebb_buf_puts(out, ": ");
    ebb_print_word(cli, d->is_error ? EBB_PRINT_RED : EBB_PRINT_YELLOW, d->is_error ? "error" : "warning");
    ebb_buf_puts(out, ": ");
    ebb_print_text(out, d->message);
    ebb_buf_printf(out, " [%s]\n", d->code);
    if (d->text[0])
        ebb_caret_print(out, ebb_str_of(d->text), 1, d->column);
    if (d->hint[0] && !strstr(d->message, "did you mean")) {
        ebb_buf_puts(out, "  hint: ");
        ebb_print_text(out, d->hint);
        ebb_buf_putc(out, '\n');
    }
}

static void print_diagnostics(struct ebb_cli *cli, const struct ebb_diagnostics *list, size_t files)
{
    struct ebb_jsonw w;

    if (cli->is_json) {
        ebb_jsonw_init(&w, &cli->out);
        ebb_diagnostics_write(list, &w);
        ebb_buf_putc(&cli->out, '\n');
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        print_one(cli, &list->items[i]);
    ebb_buf_printf(&cli->out, "%zu %s, %zu %s, %zu %s\n", files, files == 1 ? "file" : "files", list->error_count,
                   list->error_count == 1 ? "error" : "errors", list->warning_count,
                   list->warning_count == 1 ? "warning" : "warnings");
}

static int run_check(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_diagnostics list;
    struct ebb_strs files, names;
    int rc;

    ebb_diagnostics_init(&list);
    ebb_strs_init(&files);
    ebb_strs_init(&names);
    rc = gather(cli, &files, err);
    for (size_t i = 0; !rc && i < files.count; i++)
        rc = check_file(files.items[i], &names, &list, err);
    if (!rc) {
        ebb_diagnostics_sort(&list);
        print_diagnostics(cli, &list, files.count);
        cli->exit_status = list.error_count || (list.warning_count && ebb_args_has(&cli->args, "strict"));
    }
    ebb_strs_fini(&files);
    ebb_strs_fini(&names);
    ebb_diagnostics_fini(&list);
    return rc;
}

const struct ebb_command ebb_command_check = {
    .name = "check",
    .args = "[DIR|FILE…]",
    .summary = "tell whether policies are well formed",
    .about = "Syntax, schema and lint, with file, line and column. Of a folder all *.lua but *_spec.lua. Exit status 1 "
             "when something is "
             "wrong.",
    .arg_max = (size_t)-1,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_check,
};
