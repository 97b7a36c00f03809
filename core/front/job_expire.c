/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb job expire-snapshots. Arguments may be empty texts, as those of the other jobs.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "front/commands.h"
#include "front/print.h"
#include "service/job.h"
#include "table/expire.h"

static const struct ebb_option OPTIONS[] = {
    {"catalog", 0, "NAME", NULL, false, "configured catalog, of type rest"},
    {"table", 0, "SCHEMA.TABLE", NULL, false, "the table; a schema may have several levels"},
    {"older-than", 0, "TIME", NULL, false,
     "'yyyy-MM-dd HH:mm:ss' in UTC (default: as the table says, else 5 days ago)"},
    {"retain-last", 0, "N", NULL, false, "keep so many of each branch at least (default: as the table says, else 1)"},
    {"dry-run", 0, "true|false", NULL, false, "list only (default false)"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb job expire-snapshots --catalog lake --table prod.events --dry-run true", "list snapshots that would go"},
    {"ebb job expire-snapshots --catalog lake --table prod.events --older-than '2026-06-01 00:00:00' --retain-last 10",
     "take them out of the table"},
    {NULL, NULL},
};

static int parse(struct ebb_cli *cli, struct ebb_job *job, struct ebb_expire_options *o, struct ebb_err *err)
{
    const struct ebb_args *a = &cli->args;
    const char *retain = ebb_args_get(a, "retain-last");
    struct ebb_job_args args = {.catalog = ebb_args_get(a, "catalog"),
                                .table = ebb_args_get(a, "table"),
                                .older_than = ebb_args_get(a, "older-than"),
                                .dry_run = ebb_args_get(a, "dry-run")};
    int rc = ebb_job_parse(&args, ebb_cli_now(cli), job, err);

    if (rc)
        return rc;
    if (retain && retain[0] && (!ebb_text_count(retain, &o->retain_last) || o->retain_last < 1))
        return ebb_err_set(err, EBB_EUSAGE, "--retain-last %s: a number from 1 on is wanted", retain);
    o->has_older_than = job->has_older_than;
    o->older_than_ms = job->older_than_ms;
    o->dry_run = job->dry_run;
    return 0;
}

static int print(struct ebb_cli *cli, const struct ebb_expire_result *result, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < result->count; i++) {
        ebb_buf_printf(&cli->out, cli->is_json ? "{\"snapshot_id\":%" PRId64 "}\n" : "%" PRId64 "\n", result->ids[i]);
        rc = ebb_cli_emit(cli, err);
    }
    if (!rc)
        rc = ebb_cli_flush(cli, err);
    if (!rc)
        fprintf(stderr, "expired_snapshot count: %zu, kept: %zu\n", result->count, result->kept);
    return rc;
}

static int run(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_expire_options options = {.retain_last = 0};
    struct ebb_expire_result result = {.ids = NULL};
    struct ebb_job job;
    int rc;

    memset(&job, 0, sizeof job);
    cli->progress = EBB_PROGRESS_NONE;
    rc = ebb_cli_start(cli, false, err);
    if (!rc)
        rc = parse(cli, &job, &options, err);
    if (!rc && !ebb_config_has_catalog(ebb_workspace_config(cli->ws), job.catalog))
        rc = ebb_err_set(err, EBB_ECATALOG_UNKNOWN, "--catalog %s: is not configured", job.catalog);
    if (!rc)
        rc = ebb_expire_run(ebb_cli_site(cli), job.name, &options, &result, err);
    if (!rc)
        rc = print(cli, &result, err);
    ebb_expire_result_fini(&result);
    ebb_job_fini(&job);
    return rc;
}

const struct ebb_command ebb_command_job_expire = {
    .name = "job expire-snapshots",
    .args = "",
    .summary = "take old snapshots out of a table",
    .about =
        "Commits to a catalog of type rest, and touches no file: files that no snapshot needs any more are orphans "
        "afterwards, for remove-orphan-files. The current snapshot, branches and tags stay. Prints the ids of the "
        "snapshots, one a line, and their number on standard error. Empty arguments count as not given.",
    .shared = EBB_TAKES_MAP,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run,
};
