/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb verify
 */
#include "front/commands.h"
#include "front/print.h"
#include "table/result_json.h"

static const struct ebb_example EXAMPLES[] = {
    {"ebb verify lake.prod.events", "is every file there that the table references"},
    {NULL, NULL},
};

static void print_json(struct ebb_cli *cli, const char *table, const struct ebb_verify_result *r)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_verify_json(&w, table, r);
    ebb_buf_putc(&cli->out, '\n');
}

static void print_people(struct ebb_cli *cli, const char *table, const struct ebb_verify_result *r)
{
    struct ebb_buf *out = &cli->out;

    ebb_print_field(out, "table", table);
    ebb_print_count_field(out, "checked", r->checked);
    ebb_print_notes(out, "missing", &r->missing);
    ebb_print_notes(out, "in quarantine", &r->quarantined);
    if (!r->missing.count && !r->quarantined.count)
        ebb_print_field(out, "result", "every referenced file is there");
}

static int run_verify(struct ebb_cli *cli, struct ebb_err *err)
{
    const char *table = ebb_args_word(&cli->args, 0);
    struct ebb_verify_result result;
    int rc = ebb_cli_start(cli, false, err);

    if (rc)
        return rc;
    memset(&result, 0, sizeof result);
    rc = ebb_verify(ebb_cli_site(cli), table, &result, err);
    if (!rc || rc == -(int)EBB_EVERIFY) {
        if (cli->is_json)
            print_json(cli, table, &result);
        else
            print_people(cli, table, &result);
    }
    ebb_verify_result_fini(&result);
    return rc;
}

const struct ebb_command ebb_command_verify = {
    .name = "verify",
    .args = "TABLE",
    .summary = "tell whether every file that a table references exists",
    .about = "Read only. Exit status 1 when files are missing, or lie in a quarantine although they are referenced.",
    .arg_min = 1,
    .arg_max = 1,
    .shared = EBB_TAKES_MAP,
    .examples = EXAMPLES,
    .run = run_verify,
};
