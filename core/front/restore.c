/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb restore
 */
#include <stdlib.h>
#include <unistd.h>

#include "front/commands.h"
#include "front/print.h"
#include "table/result_json.h"

static const struct ebb_option OPTIONS[] = {
    {"from", 0, "URI", NULL, false, "a run's folder in quarantine; needs no record of the run"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb restore r-01K5ZB", "put everything back"},
    {"ebb restore r-01K5ZB data/day=1/a.parquet", "one file, named below the table's location"},
    {"ebb restore --from ./wh/db/t/.ebb-quarantine/r-01K5ZB", "when the state folder is lost"},
    {NULL, NULL},
};

static void print_json(struct ebb_cli *cli, const struct ebb_restore_result *r)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_restore_json(&w, r);
    ebb_buf_putc(&cli->out, '\n');
}

static void print_people(struct ebb_cli *cli, const struct ebb_restore_result *r)
{
    struct ebb_buf *out = &cli->out;

    ebb_buf_puts(out, "run ");
    ebb_print_text(out, r->run);
    ebb_buf_putc(out, '\n');
    ebb_print_count_field(out, "restored", r->restored);
    if (r->already_there)
        ebb_print_count_field(out, "already there", r->already_there);
    ebb_print_notes(out, "conflict", &r->conflicts);
    ebb_print_notes(out, "failed", &r->failed);
}

static int finish(struct ebb_cli *cli, struct ebb_restore_result *r, int rc)
{
    if (r->run[0] && (!rc || rc == -(int)EBB_EPARTIAL || rc == -(int)EBB_ECANCELLED)) {
        if (cli->is_json)
            print_json(cli, r);
        else
            print_people(cli, r);
    }
    ebb_restore_result_fini(r);
    return rc;
}

/* The words from a number on. */
static int take_paths(const struct ebb_args *args, size_t from, struct ebb_strs *out, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = from; !rc && i < args->word_count; i++)
        rc = ebb_strs_add(out, args->words[i], err);
    return rc;
}

static int restore_run(struct ebb_cli *cli, const char *run, const struct ebb_strs *paths, struct ebb_err *err)
{
    struct ebb_restore_result result;
    struct ebb_strs maps;
    int rc;

    memset(&result, 0, sizeof result);
    ebb_strs_init(&maps);
    rc = ebb_cli_run_maps(cli, run, &maps, err);
    if (!rc)
        rc = ebb_cli_connect(cli, &maps, err);
    if (!rc)
        rc = finish(cli, &result, ebb_restore(ebb_cli_site(cli), run, paths, &result, err));
    ebb_strs_fini(&maps);
    return rc;
}

/* The record in the folder tells the maps of the run; only the folder itself must be found. */
static int restore_from(struct ebb_cli *cli, const char *folder, const struct ebb_strs *paths, struct ebb_err *err)
{
    char *local = access(folder, F_OK) ? NULL : realpath(folder, NULL);
    struct ebb_restore_result result;
    int rc;

    memset(&result, 0, sizeof result);
    rc = ebb_cli_connect(cli, NULL, err);
    if (!rc)
        rc = ebb_restore_from(ebb_cli_site(cli), local ? local : folder, paths, &result, err);
    free(local);
    return finish(cli, &result, rc);
}

static int run_restore(struct ebb_cli *cli, struct ebb_err *err)
{
    const char *folder = ebb_args_get(&cli->args, "from");
    struct ebb_strs paths;
    int rc;

    if (!folder && !cli->args.word_count)
        return ebb_err_set(err, EBB_EUSAGE, "restore: RUN is missing");
    ebb_strs_init(&paths);
    rc = take_paths(&cli->args, folder ? 0 : 1, &paths, err);
    if (!rc)
        rc = ebb_cli_open(cli, false, err);
    if (!rc)
        rc = folder ? restore_from(cli, folder, &paths, err) : restore_run(cli, cli->args.words[0], &paths, err);
    ebb_strs_fini(&paths);
    return rc;
}

const struct ebb_command ebb_command_restore = {
    .name = "restore",
    .args = "RUN [PATH…] | --from URI [PATH…]",
    .summary = "put files of a run back where they were",
    .about = "Content and modification time are as before. What lies at the old path now is never overwritten: such a "
             "file stays in "
             "quarantine and is reported.",
    .arg_max = (size_t)-1,
    .shared = EBB_TAKES_MAP,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_restore,
};
