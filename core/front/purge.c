/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb purge
 */
#include "front/commands.h"
#include "front/print.h"
#include "table/result_json.h"

static const struct ebb_option OPTIONS[] = {
    {"older-than", 0, "D", NULL, false, "only runs that ended at least this long ago (default 7d)"},
    {"dropped", 0, NULL, NULL, false, "also where the table is gone or has another uuid"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb purge", "every quarantined run older than 7 days"},
    {"ebb purge r-01K5ZB --older-than 0d", "one run, now"},
    {NULL, NULL},
};

static void print_json(struct ebb_cli *cli, const struct ebb_purge_result *r)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_purge_json(&w, r);
    ebb_buf_putc(&cli->out, '\n');
}

static void print_people(struct ebb_cli *cli, const struct ebb_purge_result *r)
{
    struct ebb_buf *out = &cli->out;

    if (!r->runs.count && !r->kept.count) {
        ebb_buf_puts(out, "Nothing to purge.\n");
        return;
    }
    for (size_t i = 0; i < r->runs.count; i++)
        ebb_print_field(out, "purged", r->runs.items[i]);
    ebb_print_name(out, "deleted");
    ebb_print_files(out, r->deleted, r->bytes);
    ebb_buf_putc(out, '\n');
    if (r->restored)
        ebb_print_count_field(out, "restored", r->restored);
    ebb_print_notes(out, "kept", &r->kept);
}

/* The maps of named runs; each run finds its own place by its own record, these serve the catalogs. */
static int gather_maps(struct ebb_cli *cli, const struct ebb_strs *runs, struct ebb_strs *maps, struct ebb_err *err)
{
    int rc = 0;

    if (runs->count == 1)
        rc = ebb_cli_run_maps(cli, runs->items[0], maps, err);
    return rc;
}

static int purge(struct ebb_cli *cli, const struct ebb_strs *runs, const struct ebb_purge_options *options,
                 struct ebb_err *err)
{
    struct ebb_purge_result result;
    int rc;

    memset(&result, 0, sizeof result);
    rc = ebb_purge(ebb_cli_site(cli), runs, options, &result, err);
    if (!rc || rc == -(int)EBB_EPARTIAL || result.runs.count || result.deleted) {
        if (cli->is_json)
            print_json(cli, &result);
        else
            print_people(cli, &result);
    }
    ebb_purge_result_fini(&result);
    return rc;
}

static int run_purge(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_purge_options options = {-1, ebb_args_has(&cli->args, "dropped")};
    struct ebb_strs runs, maps;
    int rc = ebb_args_duration(&cli->args, "older-than", &options.older_than_ms, err);

    ebb_strs_init(&runs);
    ebb_strs_init(&maps);
    for (size_t i = 0; !rc && i < cli->args.word_count; i++)
        rc = ebb_strs_add(&runs, cli->args.words[i], err);
    if (!rc)
        rc = ebb_cli_open(cli, false, err);
    if (!rc)
        rc = gather_maps(cli, &runs, &maps, err);
    if (!rc)
        rc = ebb_cli_connect(cli, &maps, err);
    if (!rc)
        rc = purge(cli, &runs, &options, err);
    ebb_strs_fini(&maps);
    ebb_strs_fini(&runs);
    return rc;
}

const struct ebb_command ebb_command_purge = {
    .name = "purge",
    .args = "[RUN…]",
    .summary = "delete what lies in quarantine, for good",
    .about = "Loads every owner of the location first: a run whose files are referenced again is put back and "
             "reported, not purged. Only "
             "files that a run recorded are deleted, each with its recorded identity.",
    .arg_max = (size_t)-1,
    .shared = EBB_TAKES_MAP,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_purge,
};
