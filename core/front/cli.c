/* SPDX-License-Identifier: Apache-2.0 */
#include "front/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time.h"
#include "front/progress.h"

#define OUT_MAX_BYTES ((size_t)1 << 30)
#define SAID_MAX 1000

static bool may_colour(void)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(none && none[0]) && !(term && !strcmp(term, "dumb"));
}

void ebb_cli_init(struct ebb_cli *cli, atomic_bool *cancelled)
{
    memset(cli, 0, sizeof *cli);
    ebb_buf_init(&cli->out, OUT_MAX_BYTES);
    ebb_strs_init(&cli->said);
    cli->has_colour = may_colour();
    cli->cancelled = cancelled;
}

void ebb_cli_fini(struct ebb_cli *cli)
{
    ebb_workspace_close(cli->ws);
    ebb_args_fini(&cli->args);
    ebb_strs_fini(&cli->said);
    ebb_buf_fini(&cli->out);
}

/* A table is looked at several times in one run; what is wrong with it is news once. */
static bool was_said(struct ebb_cli *cli, const char *message)
{
    if (ebb_strs_has(&cli->said, message))
        return true;
    if (cli->said.count < SAID_MAX)
        ebb_strs_add(&cli->said, message, NULL);
    return false;
}

static void log_line(void *data, enum ebb_log_level level, const char *message)
{
    struct ebb_cli *cli = data;
    struct ebb_buf text;
    struct ebb_jsonw w;

    if (was_said(cli, message))
        return;
    ebb_cli_clear_progress(cli);
    if (!cli->is_json) {
        fprintf(stderr, "ebb: %s%s\n", level == EBB_LOG_WARN ? "warning: " : "", message);
        return;
    }
    ebb_buf_init(&text, 65536);
    ebb_jsonw_init(&w, &text);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, level == EBB_LOG_WARN ? "warning" : "message", message);
    ebb_jsonw_end(&w, '}');
    fprintf(stderr, "%s\n", ebb_buf_cstr(&text));
    ebb_buf_fini(&text);
}

/* "2026-03-29T02:30Z" as "2026-03-29T02:30:00Z": whoever names a time to look at seldom means a second. */
static int parse_at(const char *at, int64_t *out_ms, struct ebb_err *err)
{
    char text[128];

    if (strspn(at, "0123456789-") == 10 && strchr("T ", at[10]) && strspn(at + 10, "T 0123456789:") == 6 &&
        strlen(at) < sizeof text - 4) {
        snprintf(text, sizeof text, "%.16s:00%s", at, at + 16);
        return ebb_time_parse(text, NULL, out_ms, err);
    }
    return ebb_time_parse(at, NULL, out_ms, err);
}

static int set_clock(struct ebb_cli *cli, struct ebb_clock *out, struct ebb_err *err)
{
    const char *at = ebb_args_get(&cli->args, "at");
    int rc;

    *out = ebb_clock_system();
    if (!at)
        return 0;
    rc = parse_at(at, &cli->now_ms, err);
    if (rc)
        return ebb_err_as(err, EBB_ETIME, "--at");
    *out = ebb_clock_fixed(&cli->now_ms);
    return 0;
}

int ebb_cli_open(struct ebb_cli *cli, bool without_store, struct ebb_err *err)
{
    struct ebb_workspace_options o;
    int rc;

    memset(&o, 0, sizeof o);
    o.config = ebb_args_get(&cli->args, "config");
    o.state_dir = ebb_args_get(&cli->args, "state");
    o.log.write = log_line;
    o.log.data = cli;
    o.log.level = EBB_LOG_WARN;
    o.progress = ebb_progress_show;
    o.progress_data = cli;
    o.cancelled = cli->cancelled;
    rc = set_clock(cli, &o.clock, err);
    return rc ? rc : ebb_workspace_open(&o, without_store, &cli->ws, err);
}

int ebb_cli_connect(struct ebb_cli *cli, const struct ebb_strs *recorded, struct ebb_err *err)
{
    struct ebb_strs maps;
    int rc;

    ebb_strs_init(&maps);
    rc = ebb_args_all(&cli->args, "map", &maps, err);
    if (!rc)
        rc = ebb_workspace_connect(cli->ws, &maps, recorded, err);
    ebb_strs_fini(&maps);
    return rc;
}

int ebb_cli_start(struct ebb_cli *cli, bool without_store, struct ebb_err *err)
{
    int rc = ebb_cli_open(cli, without_store, err);

    return rc ? rc : ebb_cli_connect(cli, NULL, err);
}

struct ebb_site *ebb_cli_site(struct ebb_cli *cli)
{
    return ebb_workspace_site(cli->ws);
}

int64_t ebb_cli_now(struct ebb_cli *cli)
{
    return ebb_clock_now(&ebb_cli_site(cli)->clock);
}

int ebb_cli_plan_maps(struct ebb_cli *cli, const char *plan, struct ebb_strs *out, struct ebb_err *err)
{
    struct ebb_plan_file *file;
    int rc = ebb_plan_file_open(ebb_cli_site(cli), plan, &file, err);

    if (rc)
        return rc;
    rc = ebb_workspace_recorded_maps(ebb_plan_file_header(file)->options, out, err);
    ebb_plan_file_close(file);
    return rc;
}

static int record_maps(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    return ebb_workspace_recorded_maps(ebb_str_of(record->json), data, err);
}

int ebb_cli_run_maps(struct ebb_cli *cli, const char *run, struct ebb_strs *out, struct ebb_err *err)
{
    return ebb_store_get(ebb_cli_site(cli)->store, EBB_RECORD_RUN, run, record_maps, out, err);
}
