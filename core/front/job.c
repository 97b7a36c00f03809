/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb job remove-orphan-files, ebb sql remove-orphan-files: what a job template runs, and the statement of another
 * engine. Arguments may be empty texts: a template substitutes those for what was not given.
 */
#include <inttypes.h>
#include <stdio.h>

#include "front/commands.h"
#include "front/print.h"
#include "service/job.h"

static const struct ebb_option OPTIONS[] = {
    {"catalog", 0, "NAME", NULL, false, "configured catalog"},
    {"table", 0, "SCHEMA.TABLE", NULL, false, "the table; a schema may have several levels"},
    {"older-than", 0, "TIME", NULL, false, "'yyyy-MM-dd HH:mm:ss' in UTC (default 3 days ago)"},
    {"location", 0, "URI", NULL, false, "only this folder inside the table's location"},
    {"dry-run", 0, "true|false", NULL, false, "list only (default false)"},
    {"spark-conf", 0, "JSON", NULL, false, "settings of a Spark session; only spark and livy can honour them"},
    {"engine", 0, "native|spark|livy|trino|gravitino", NULL, false, "who does it (default native; for ebb sql spark)"},
    EBB_OPTIONS_END,
};

static const struct ebb_example JOB_EXAMPLES[] = {
    {"ebb job remove-orphan-files --catalog lake --table prod.events --dry-run true", "list orphans"},
    {"ebb job remove-orphan-files --catalog lake --table prod.events --older-than '2026-06-01 00:00:00'",
     "plan and apply in one go"},
    {"ebb job remove-orphan-files --engine spark --catalog lake --table prod.events",
     "Spark removes them for good, after ebb has checked its dry run"},
    {NULL, NULL},
};

static const struct ebb_example SQL_EXAMPLES[] = {
    {"ebb sql remove-orphan-files --catalog lake --table prod.events", "CALL … for Spark"},
    {"ebb sql remove-orphan-files --engine trino --catalog lake --table prod.events",
     "ALTER TABLE … EXECUTE for Trino"},
    {NULL, NULL},
};

static int parse(struct ebb_cli *cli, const char *engine, struct ebb_job *job, struct ebb_err *err)
{
    const struct ebb_args *a = &cli->args;
    const char *given = ebb_args_get(a, "engine");
    struct ebb_job_args args = {ebb_args_get(a, "catalog"),        ebb_args_get(a, "table"),
                                ebb_args_get(a, "older-than"),     ebb_args_get(a, "location"),
                                ebb_args_get(a, "dry-run"),        ebb_args_get(a, "spark-conf"),
                                given && given[0] ? given : engine};

    return ebb_job_parse(&args, ebb_cli_now(cli), job, err);
}

/* ---- job ---- */

static int on_orphan(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct ebb_cli *cli = data;
    struct ebb_jsonw w;

    if (cli->is_json) {
        ebb_jsonw_init(&w, &cli->out);
        ebb_jsonw_begin(&w, '{');
        ebb_jsonw_path(&w, "orphan_file_location", c->path.p, c->path.n);
        ebb_jsonw_end(&w, '}');
    } else {
        ebb_text_escape(&cli->out, c->path.p, c->path.n);
    }
    ebb_buf_putc(&cli->out, '\n');
    return ebb_cli_emit(cli, err);
}

/* The orphans of the plan, then their number on standard error. */
static int print_orphans(struct ebb_cli *cli, const char *file, struct ebb_err *err)
{
    struct ebb_plan_file *plan;
    int rc = ebb_plan_file_open(ebb_cli_site(cli), file, &plan, err);

    if (rc)
        return rc;
    rc = ebb_plan_file_each(plan, on_orphan, cli, err);
    if (!rc)
        rc = ebb_cli_flush(cli, err);
    if (!rc)
        fprintf(stderr, "orphan_file_location count: %" PRId64 "\n", ebb_plan_file_summary(plan)->candidates);
    ebb_plan_file_close(plan);
    return rc;
}

static int run_job(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_job_result result;
    struct ebb_job job;
    int rc;

    memset(&job, 0, sizeof job);
    memset(&result, 0, sizeof result);
    cli->progress = EBB_PROGRESS_NONE;
    rc = ebb_cli_start(cli, false, err);
    if (!rc)
        rc = parse(cli, "native", &job, err);
    if (!rc)
        rc = ebb_job_run(cli->ws, &job, NULL, &result, err);
    if (!rc)
        rc = print_orphans(cli, result.plan.file, err);
    ebb_job_result_fini(&result);
    ebb_job_fini(&job);
    return rc;
}

/* ---- sql ---- */

static int run_sql(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_job job;
    int rc;

    memset(&job, 0, sizeof job);
    rc = ebb_cli_start(cli, true, err);
    if (!rc)
        rc = parse(cli, "spark", &job, err);
    if (!rc && (job.engine == EBB_JOB_NATIVE || job.engine == EBB_JOB_GRAVITINO))
        rc = ebb_err_set(err, EBB_EUSAGE, "--engine %s: sends no statement; spark or trino is wanted",
                         ebb_job_engine_name(job.engine));
    if (!rc)
        rc = ebb_job_sql(cli->ws, &job, &cli->out, err);
    if (!rc)
        ebb_buf_putc(&cli->out, '\n');
    ebb_job_fini(&job);
    return rc;
}

const struct ebb_command ebb_command_job = {
    .name = "job remove-orphan-files",
    .args = "",
    .summary = "the job itself, as a job template runs it",
    .about =
        "Plans and, unless it is a dry run, applies at once: files go to quarantine. Prints the locations of the "
        "orphans, one a line, "
        "and their number on standard error. Empty arguments count as not given. Spark, Livy and Trino (engines in "
        "the configuration) delete for good, after the same checks: see docs/engines.md; a Gravitino server runs "
        "this very job: see docs/gravitino.md.",
    .shared = EBB_TAKES_MAP,
    .options = OPTIONS,
    .examples = JOB_EXAMPLES,
    .run = run_job,
};

const struct ebb_command ebb_command_sql = {
    .name = "sql remove-orphan-files",
    .args = "",
    .summary = "print the statement another engine would get",
    .about = "Nothing is sent. The table is checked first when its catalog is configured here.",
    .shared = EBB_TAKES_MAP,
    .options = OPTIONS,
    .examples = SQL_EXAMPLES,
    .run = run_sql,
};
