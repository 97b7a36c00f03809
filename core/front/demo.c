/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb demo: the main job on a small warehouse of real tables, told on one screen. Everything it says was measured on
 * the way.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "front/cli.h"
#include "front/commands.h"
#include "front/demo_warehouse.h"
#include "front/print.h"
#include "service/pass.h"

#define WEEK_AND_A_DAY_MS ((int64_t)8 * 24 * 3600 * 1000)
#define STORIES_MAX 8

/* What a pass did with one table. */
struct story {
    char table[128], status[32], code[64], decision[40], run[40];
    int64_t candidates, moved;
};

struct demo {
    struct ebb_cli *cli;
    struct ebb_buf data; /* where the originals are */
    char dir[PATH_MAX], config[PATH_MAX + 16], state[PATH_MAX + 16];
    int64_t then_ms; /* the instant the warehouse was made */
    struct story stories[STORIES_MAX];
    size_t story_count;
    int64_t restored;
    char cut[512]; /* what was said of the table with a cut manifest */
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb demo", "in a fresh temporary folder"},
    {"ebb demo ./try", "in a folder of your own, to go on with"},
    {NULL, NULL},
};

/* ---- steps ---- */

static int open_at(const struct demo *d, int64_t *at_ms, bool with_config, struct ebb_workspace **ws,
                   struct ebb_err *err)
{
    struct ebb_workspace_options o;
    struct ebb_strs maps;
    char map[PATH_MAX + 16];
    int rc;

    memset(&o, 0, sizeof o);
    ebb_strs_init(&maps);
    snprintf(map, sizeof map, "file:/ebb=%s", d->dir);
    o.config = with_config ? d->config : NULL;
    o.no_config = !with_config;
    o.state_dir = d->state;
    if (at_ms)
        o.clock = ebb_clock_fixed(at_ms);
    o.cancelled = d->cli->cancelled;
    rc = ebb_workspace_open(&o, false, ws, err);
    if (!rc)
        rc = ebb_strs_add(&maps, map, err);
    if (!rc)
        rc = ebb_workspace_connect(*ws, with_config ? NULL : &maps, NULL, err);
    ebb_strs_fini(&maps);
    if (rc) {
        ebb_workspace_close(*ws);
        *ws = NULL;
    }
    return rc;
}

static void keep_story(void *data, const struct ebb_pass_report *r)
{
    struct demo *d = data;
    struct story *s;

    if (d->story_count == STORIES_MAX || !r->due)
        return;
    s = &d->stories[d->story_count++];
    snprintf(s->table, sizeof s->table, "%s", r->table);
    snprintf(s->status, sizeof s->status, "%s", r->status ? r->status : "");
    snprintf(s->decision, sizeof s->decision, "%s", r->decision ? r->decision : "");
    snprintf(s->run, sizeof s->run, "%s", r->run ? r->run : "");
    if (r->error) {
        snprintf(s->code, sizeof s->code, "%s", ebb_error_code(r->error->error));
    }
    s->candidates = r->candidates;
    s->moved = r->moved;
}

/* The pass a week ago makes the policy active; the one now finds its weekly time due. */
static int run_pass(struct demo *d, int64_t *at_ms, struct ebb_err *err)
{
    struct ebb_pass_options options;
    struct ebb_workspace *ws = NULL;
    int rc = open_at(d, at_ms, true, &ws, err);

    memset(&options, 0, sizeof options);
    options.report = keep_story;
    options.data = d;
    if (!rc)
        rc = ebb_pass_run(ws, &options, err);
    ebb_workspace_close(ws);
    return rc == -(int)EBB_EFOREIGN_TABLE ? 0 : rc; /* the nested table is meant to be refused */
}

static int plan_cut(struct demo *d, struct ebb_err *err)
{
    struct ebb_plan_options options;
    struct ebb_plan_result result;
    struct ebb_workspace *ws = NULL;
    struct ebb_err why;
    char table[PATH_MAX + 64];
    int rc = open_at(d, NULL, false, &ws, err);

    if (rc)
        return rc;
    memset(&result, 0, sizeof result);
    memset(&why, 0, sizeof why);
    ebb_plan_options_init(&options);
    snprintf(table, sizeof table, "%s/wh/c29-damaged/db/trunc_manifest", d->dir);
    rc = ebb_plan_make(ebb_workspace_site(ws), table, &options, &result, &why);
    snprintf(d->cut, sizeof d->cut, "%s", rc ? ebb_error_code(why.error) : "planned");
    ebb_plan_result_fini(&result);
    ebb_plan_options_fini(&options);
    ebb_workspace_close(ws);
    if (rc == -(int)EBB_EMANIFEST_CORRUPT)
        return 0;
    if (err)
        *err = why;
    return rc ? rc : ebb_err_set(err, EBB_EINTERNAL, "demo: the table with a cut manifest was planned");
}

static int restore_all(struct demo *d, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < d->story_count; i++) {
        struct ebb_restore_result result;
        struct ebb_workspace *ws = NULL;

        if (!d->stories[i].run[0])
            continue;
        memset(&result, 0, sizeof result);
        rc = open_at(d, NULL, true, &ws, err);
        if (!rc)
            rc = ebb_restore(ebb_workspace_site(ws), d->stories[i].run, NULL, &result, err);
        d->restored += result.restored;
        ebb_restore_result_fini(&result);
        ebb_workspace_close(ws);
    }
    return rc;
}

/* ---- the story ---- */

static const char *about(const struct story *s)
{
    if (strstr(s->table, ".side"))
        return "every live file is on a branch only: all kept";
    if (strstr(s->table, ".st"))
        return "two statistics files that only the metadata names: kept";
    if (strstr(s->table, ".child"))
        return "lies inside another table's folder: only its own litter went";
    return "another table lies inside it: nothing is touched";
}

static void tell_table(struct demo *d, const struct story *s)
{
    struct ebb_buf *out = &d->cli->out;
    size_t start = out->len;

    ebb_buf_printf(out, "   %s", s->table);
    ebb_print_pad(out, start, 21);
    ebb_print_word(d->cli, s->code[0] ? EBB_PRINT_YELLOW : EBB_PRINT_GREEN, s->code[0] ? "refused" : s->status);
    ebb_buf_printf(out, "%*s", s->code[0] ? 2 : (int)(9 - strlen(s->status) % 9), "");
    if (s->moved)
        ebb_buf_printf(out, "%2" PRId64 " of %2" PRId64 " orphans moved   ", s->moved, s->candidates);
    else
        ebb_buf_printf(out, "%-25s", s->code);
    ebb_buf_printf(out, "%s\n", about(s));
}

static int print_record(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    struct demo *d = data;
    struct ebb_buf *out = &d->cli->out;
    struct ebb_value *v = NULL;
    const struct ebb_value *list;
    int rc = ebb_value_of_json("decision", record->json, strlen(record->json), NULL, &v, err);

    if (rc)
        return rc;
    list = ebb_value_get(v, "checks");
    for (size_t i = 0; i < ebb_value_get_count(list) && i < 4; i++) {
        const struct ebb_value *check = ebb_value_get_at(list, i);

        ebb_buf_printf(out, "   check  %-24s %s\n", ebb_value_text_of(check, "n"), ebb_value_text_of(check, "r"));
    }
    list = ebb_value_get(v, "guards");
    ebb_buf_puts(out, "   guards ");
    for (size_t i = 0; i < ebb_value_get_count(list); i++)
        ebb_buf_printf(out, "%s%s %s", i ? ", " : "", ebb_value_text_of(ebb_value_get_at(list, i), "n") + 6,
                       ebb_value_text_of(ebb_value_get_at(list, i), "r"));
    ebb_buf_putc(out, '\n');
    ebb_value_free(v);
    return 0;
}

static int tell_why(struct demo *d, struct ebb_err *err)
{
    const struct story *s = &d->stories[0];
    struct ebb_workspace *ws = NULL;
    int rc = open_at(d, NULL, true, &ws, err);

    if (!rc) {
        ebb_buf_printf(&d->cli->out, "\n3  Why %s ran (ebb explain %s)\n", s->table, s->decision);
        rc = ebb_store_get(ebb_workspace_site(ws)->store, EBB_RECORD_DECISION, s->decision, print_record, d, err);
    }
    ebb_workspace_close(ws);
    return rc;
}

static void tell_next(struct demo *d)
{
    static const char *const LINES[] = {"tables", "plan hadoop.db.st", "runs"};
    struct ebb_buf *out = &d->cli->out;

    ebb_buf_printf(out, "\nGo on:  cd %s\n", d->dir);
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
        ebb_buf_puts(out, "        ");
        ebb_print_self(out);
        ebb_buf_printf(out, " --state state %s\n", LINES[i]);
    }
}

static int tell(struct demo *d, struct ebb_err *err)
{
    struct ebb_buf *out = &d->cli->out;
    int64_t same = 0, other = 0;
    int rc;

    ebb_buf_printf(out, "1  A warehouse of four real tables, with litter and traps, in %s\n", d->dir);
    ebb_buf_puts(out, "   policy iceberg-orphan-file-removal (olderThanDays 3), bound to all tables, mode enforce\n\n");
    ebb_buf_puts(
        out,
        "2  One pass: the policy's weekly time was due; each table was decided, planned, checked again, and moved\n");
    for (size_t i = 0; i < d->story_count; i++)
        tell_table(d, &d->stories[i]);
    rc = tell_why(d, err);
    if (rc)
        return rc;
    rc = restore_all(d, err);
    if (!rc)
        rc = ebb_demo_warehouse_compare(d->data.data, d->dir, d->then_ms, &same, &other, err);
    if (rc)
        return rc;
    ebb_buf_printf(out, "\n4  A fifth table has a manifest that was cut in the middle: refused (%s)\n", d->cut);
    ebb_buf_puts(out, "   Spark's own procedure reads it as a shorter manifest and offers a live file for deletion.\n");
    ebb_buf_printf(
        out, "\n5  Undone: %" PRId64 " files restored; all %" PRId64 " files are as they were, content and time\n",
        d->restored, same);
    if (other)
        return ebb_err_set(err, EBB_EINTERNAL, "demo: %" PRId64 " files are not as they were", other);
    tell_next(d);
    return 0;
}

static int choose_dir(struct demo *d, struct ebb_err *err)
{
    const char *asked = ebb_args_word(&d->cli->args, 0);
    const char *tmp = getenv("TMPDIR");
    char cwd[PATH_MAX];
    int n;

    if (!asked) {
        n = snprintf(d->dir, sizeof d->dir, "%s/ebb-demo-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");
        if (n < 0 || n >= (int)sizeof d->dir || !mkdtemp(d->dir))
            return ebb_err_errno(err, errno, "%s: making a folder", d->dir);
    } else if (asked[0] == '/') {
        n = snprintf(d->dir, sizeof d->dir, "%s", asked);
    } else {
        if (!getcwd(cwd, sizeof cwd))
            return ebb_err_errno(err, errno, "working folder");
        n = snprintf(d->dir, sizeof d->dir, "%s/%s", cwd, asked);
    }
    if (n < 0 || n >= (int)sizeof d->dir)
        return ebb_err_set(err, EBB_EUSAGE, "%s: path too long", asked ? asked : "folder");
    snprintf(d->config, sizeof d->config, "%s/ebb.lua", d->dir);
    snprintf(d->state, sizeof d->state, "%s/state", d->dir);
    return 0;
}

static int make_warehouse(struct demo *d, struct ebb_err *err)
{
    char policies[PATH_MAX + 16];
    struct ebb_buf base;
    int rc;

    ebb_buf_init(&base, PATH_MAX);
    ebb_pass_data_dir(&base);
    snprintf(policies, sizeof policies, "%s/policies", ebb_buf_cstr(&base));
    ebb_buf_printf(&d->data, "%s/demo", ebb_buf_cstr(&base));
    rc = ebb_buf_check(&d->data, "data folder", err);
    if (!rc)
        rc = ebb_demo_warehouse_make(d->data.data, policies, d->dir, d->then_ms, err);
    ebb_buf_fini(&base);
    return rc;
}

static int run(struct ebb_cli *cli, struct ebb_err *err)
{
    struct demo *d = calloc(1, sizeof *d);
    struct ebb_clock clock = ebb_clock_system();
    int64_t week_ago;
    int rc;

    if (!d)
        return ebb_err_nomem(err);
    d->cli = cli;
    d->then_ms = ebb_clock_now(&clock);
    week_ago = d->then_ms - WEEK_AND_A_DAY_MS;
    ebb_buf_init(&d->data, PATH_MAX);
    rc = choose_dir(d, err);
    if (!rc)
        rc = make_warehouse(d, err);
    if (!rc)
        rc = run_pass(d, &week_ago, err);
    if (!rc)
        rc = run_pass(d, NULL, err);
    if (!rc)
        rc = plan_cut(d, err);
    if (!rc && !d->story_count)
        rc = ebb_err_set(err, EBB_EINTERNAL, "demo: nothing was due");
    if (!rc)
        rc = tell(d, err);
    ebb_buf_fini(&d->data);
    free(d);
    return rc;
}

const struct ebb_command ebb_command_demo = {
    .name = "demo",
    .args = "[DIR]",
    .summary = "a small warehouse of real tables, cleaned and put back",
    .about = "Copies four small tables with planted litter and traps into a folder, runs policy, plan, explanation, "
             "apply and restore on them, and tells what "
             "happened. Nothing outside that folder is touched.",
    .arg_max = 1,
    .examples = EXAMPLES,
    .run = run,
};
