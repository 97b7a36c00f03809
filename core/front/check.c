/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb check, ebb manifest: policies as files, nothing is run but their headers.
 */
#include "engine/policy.h"
#include "front/commands.h"
#include "front/print.h"
#include "service/pass.h"

static const struct ebb_option OPTIONS[] = {
    {"strict", 0, NULL, NULL, false, "warnings count as errors"},
    EBB_OPTIONS_END,
};

static const struct ebb_example CHECK_EXAMPLES[] = {
    {"ebb check", "every policy of the configured folder (or ./policies)"},
    {"ebb check policies/orphans.lua --json", "for an editor or CI"},
    {NULL, NULL},
};

static const struct ebb_example MANIFEST_EXAMPLES[] = {
    {"ebb manifest policies/orphans.lua | jq .triggers", "what the file declares"},
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

/* What is wrong in a file stands in the list; only what is wrong with reading it ends the check. */
static int check_file(const char *file, struct ebb_diagnostics *list, struct ebb_err *err)
{
    struct ebb_policy *policy = NULL;
    size_t before = list->error_count;
    int rc = ebb_policy_load(file, &policy, list, err);

    ebb_policy_free(policy);
    return list->error_count > before ? 0 : rc;
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
    if (d->hint && d->hint[0]) {
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
    struct ebb_strs files;
    int rc;

    ebb_diagnostics_init(&list);
    ebb_strs_init(&files);
    rc = gather(cli, &files, err);
    for (size_t i = 0; !rc && i < files.count; i++)
        rc = check_file(files.items[i], &list, err);
    if (!rc) {
        print_diagnostics(cli, &list, files.count);
        cli->exit_status = list.error_count || (list.warning_count && ebb_args_has(&cli->args, "strict"));
    }
    ebb_strs_fini(&files);
    ebb_diagnostics_fini(&list);
    return rc;
}

/* ---- manifest ---- */

static int run_manifest(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_policy *policy = NULL;
    int rc = ebb_policy_load(ebb_args_word(&cli->args, 0), &policy, NULL, err);

    if (!rc) {
        ebb_buf_puts(&cli->out, ebb_policy_get_manifest_json(policy));
        ebb_buf_putc(&cli->out, '\n');
    }
    ebb_policy_free(policy);
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
    .examples = CHECK_EXAMPLES,
    .run = run_check,
};

const struct ebb_command ebb_command_manifest = {
    .name = "manifest",
    .args = "FILE",
    .summary = "the data part of a policy as JSON",
    .arg_min = 1,
    .arg_max = 1,
    .examples = MANIFEST_EXAMPLES,
    .run = run_manifest,
};
