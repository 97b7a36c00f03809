/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb plan
 */
#include "base/time.h"
#include "front/cli.h"
#include "front/commands.h"
#include "front/plan_print.h"
#include "front/print.h"
#include "front/tables.h"
#include "service/engine_compare.h"

static const struct ebb_option OPTIONS[] = {
    {"older-than", 0, "AGE|INSTANT", NULL, false,
     "only files older than this: 3d (default), 36h, 2026-06-01T00:00:00Z"},
    {"location", 0, "URI", NULL, false, "scan only this folder inside the table's location"},
    {"max-files", 0, "N", NULL, false, "hold the plan when it has more candidates"},
    {"max-bytes", 0, "SIZE", NULL, false, "hold the plan when its candidates are larger, as 100GiB"},
    {"max-share", 0, "P", NULL, false, "hold the plan when more of the listed files would go (default 50%)"},
    {"prefix-mismatch", 0, "MODE", "error|ignore|delete", false,
     "files whose scheme or authority differs from the metadata (default error)"},
    {"equal-schemes", 0, "A,B=C", NULL, true, "schemes A and B mean the same as C"},
    {"equal-authorities", 0, "A,B=C", NULL, true, "authorities A and B mean the same as C"},
    {"listing", 0, "FILE", NULL, false, "take the files from this inventory (TSV, CSV, S3 Inventory)"},
    {"with", 0, "TABLE", NULL, true, "this table shares the location: what it references stays"},
    {"exclude", 0, "URI", NULL, true, "leave out everything at or below this place"},
    {"read-also", 0, "URI", NULL, true, "metadata may lie here too, outside the table's own storage"},
    {"dropped", 0, "UUID", NULL, true, "the table of this uuid was dropped: its metadata is litter"},
    {"keep-deleted-entries", 0, NULL, NULL, false, "files that a manifest marks as deleted stay"},
    {"age", 0, "TIME", "mtime|latest", false, "a file's age: its mtime (default), or the latest of its times"},
    {"compare", 0, "ENGINE", "spark|livy", false,
     "ask that engine too, and explain each difference; exit status 1 when one is not explained"},
    {"output", 'o', "FILE", NULL, false, "write the plan here instead of into the state folder"},
    {"progress", 0, "MODE", "auto|none|json", false, "on standard error (default auto: on a terminal)"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb plan ./warehouse/db/events", "a local table, files older than 3 days"},
    {"ebb plan lake.prod.events --older-than 7d --json", "a table of a configured catalog"},
    {"ebb plan --map file:/warehouse=./wh ./wh/db/events", "metadata that names another place than where it lies now"},
    {"ebb plan 'lake.prod.*' --max-files 10000", "one plan for each table"},
    {"ebb plan lake.prod.events --compare spark", "what Spark would remove beside it, each difference explained"},
    {NULL, NULL},
};

/* "A,B=C" or "A=B,C": one side is one name, the other one or more. */
static int check_equals(const char *option, const struct ebb_strs *list, struct ebb_err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->items[i], *equals = strchr(text, '=');

        if (equals && equals != text && !strchr(equals + 1, '=') &&
            (!strchr(equals, ',') || strchr(text, ',') > equals))
            continue;
        ebb_err_set(err, EBB_EUSAGE, "--%s %s: NAMES=NAME is wanted", option, text);
        ebb_err_hint(err, "the names before '=', separated by commas, mean the same as the one behind it: "
                          "--equal-schemes gs,gcs=s3");
        return -(int)EBB_EUSAGE;
    }
    return 0;
}

static int read_lists(const struct ebb_args *args, struct ebb_plan_options *o, struct ebb_err *err)
{
    struct ebb_protect_options *p = &o->protect;
    int rc = ebb_args_all(args, "equal-schemes", &p->equal_schemes, err);

    if (!rc)
        rc = check_equals("equal-schemes", &p->equal_schemes, err);
    if (!rc)
        rc = ebb_args_all(args, "equal-authorities", &p->equal_authorities, err);
    if (!rc)
        rc = check_equals("equal-authorities", &p->equal_authorities, err);
    if (!rc)
        rc = ebb_args_all(args, "with", &p->with, err);
    if (!rc)
        rc = ebb_args_all(args, "dropped", &p->dropped, err);
    if (!rc)
        rc = ebb_args_all(args, "read-also", &p->read_also, err);
    if (!rc)
        rc = ebb_args_all(args, "exclude", &p->exclude, err);
    return rc;
}

static int read_options(const struct ebb_args *args, struct ebb_plan_options *o, struct ebb_err *err)
{
    int rc = read_lists(args, o, err);

    if (!rc)
        rc = ebb_args_int(args, "max-files", 1, &o->max_files, err);
    if (!rc)
        rc = ebb_args_size(args, "max-bytes", &o->max_bytes, err);
    if (!rc)
        rc = ebb_args_share(args, "max-share", &o->max_share, err);
    o->older_than = ebb_args_get(args, "older-than");
    o->location = ebb_args_get(args, "location");
    if (!rc && o->location && !o->location[0])
        rc = ebb_err_set(err, EBB_EUSAGE, "--location: is empty; leave it out to scan the whole table");
    o->listing = ebb_args_get(args, "listing");
    o->output = ebb_args_get(args, "output");
    o->protect.mismatch = (enum ebb_mismatch_mode)ebb_args_choice(args, "prefix-mismatch", EBB_MISMATCH_ERROR);
    o->protect.keep_deleted_entries = ebb_args_has(args, "keep-deleted-entries");
    o->age_latest = ebb_args_choice(args, "age", 0) == 1;
    return rc;
}

/* ---- what is printed ---- */

static void write_differences(struct ebb_jsonw *w, const char *key, const struct ebb_engine_differences *list)
{
    ebb_jsonw_key(w, key);
    ebb_jsonw_begin(w, '[');
    for (size_t i = 0; i < list->count; i++) {
        const struct ebb_engine_difference *d = &list->items[i];

        ebb_jsonw_begin(w, '{');
        ebb_jsonw_path(w, "path", d->path, strlen(d->path));
        ebb_jsonw_kstr(w, "rule", d->rule);
        ebb_jsonw_kstr(w, "why", d->why);
        ebb_jsonw_kbool(w, "explained", d->is_explained);
        ebb_jsonw_end(w, '}');
    }
    ebb_jsonw_end(w, ']');
}

/* One more member of the object behind it. */
static void write_comparison(struct ebb_buf *out, const char *engine, const struct ebb_engine_comparison *c)
{
    struct ebb_jsonw w;

    out->len--;
    ebb_buf_puts(out, ",\"compare\":");
    ebb_jsonw_init(&w, out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "engine", engine);
    ebb_jsonw_kstr(&w, "plan", c->plan);
    ebb_jsonw_kint(&w, "equal", c->equal);
    ebb_jsonw_kint(&w, "only_ebb_count", c->only_ebb.total);
    ebb_jsonw_kint(&w, "only_engine_count", c->only_engine.total);
    ebb_jsonw_kint(&w, "unexplained", c->unexplained);
    write_differences(&w, "only_ebb", &c->only_ebb);
    write_differences(&w, "only_engine", &c->only_engine);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(out, '}');
}

static void print_json(struct ebb_cli *cli, const struct ebb_plan_result *r, const char *engine,
                       const struct ebb_engine_comparison *c)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_plan_json(&w, r->id, r->file, r->table, r->uuid, r->location, r->cutoff_ms, &r->summary);
    if (engine && !cli->out.bad)
        write_comparison(&cli->out, engine, c);
    ebb_buf_putc(&cli->out, '\n');
}

static void print_differences(struct ebb_buf *out, const char *name, const struct ebb_engine_differences *list)
{
    ebb_print_count_field(out, name, list->total);
    for (size_t i = 0; i < list->count && i < 20; i++) {
        ebb_buf_puts(out, list->items[i].is_explained ? "    " : "  ! ");
        ebb_print_text(out, list->items[i].path);
        ebb_buf_printf(out, ": %s\n", list->items[i].why);
    }
    if (list->total > 20)
        ebb_buf_printf(out, "    … (--json has up to %d)\n", EBB_DIFFERENCES_MAX);
}

static void print_comparison(struct ebb_cli *cli, const char *engine, const struct ebb_engine_comparison *c)
{
    struct ebb_buf *out = &cli->out;

    ebb_buf_printf(out, "\nCompared with %s (plan %s):\n", engine, c->plan);
    ebb_print_count_field(out, "equal", c->equal);
    print_differences(out, "only ebb", &c->only_ebb);
    print_differences(out, "only engine", &c->only_engine);
    ebb_print_count_field(out, "unexplained", c->unexplained);
}

static void print_next(struct ebb_cli *cli, const struct ebb_plan_result *r)
{
    const struct ebb_plan_summary *s = &r->summary;
    struct ebb_buf *out = &cli->out;
    bool is_held = !strcmp(s->status, "held");

    if (!strcmp(s->status, "empty")) {
        ebb_buf_puts(out, "\nNothing to do.\n");
        return;
    }
    ebb_buf_puts(out, is_held ? "\nHeld: look at it first, then name the fuse to go on.\n  " : "\nNext:\n  ");
    ebb_print_program(cli, out);
    ebb_buf_printf(out, " show %s\n  ", r->id);
    ebb_print_program(cli, out);
    ebb_buf_printf(out, " apply %s", r->id);
    for (size_t i = 0; i < s->held_by.count; i++)
        ebb_buf_printf(out, " --override %s", s->held_by.items[i]);
    ebb_buf_putc(out, '\n');
}

static void print_people(struct ebb_cli *cli, const struct ebb_plan_result *r)
{
    struct ebb_buf *out = &cli->out;

    ebb_buf_printf(out, "plan %s\n", r->id);
    ebb_print_field(out, "table", r->table);
    ebb_print_field(out, "location", r->location);
    ebb_print_name(out, "older than");
    ebb_print_time(out, r->cutoff_ms);
    ebb_buf_putc(out, '\n');
    ebb_print_field(out, "ownership", r->ownership);
    ebb_plan_print_counts(cli, &r->summary);
    ebb_print_field(out, "file", r->file);
    print_next(cli, r);
}

/* ---- one table, many tables ---- */

/* Ask the other engine too; what it says without a reason is exit status 1. */
static int compare(struct ebb_cli *cli, const struct ebb_plan_options *options, const struct ebb_plan_result *result,
                   const char *engine, struct ebb_engine_comparison *c, struct ebb_err *err)
{
    int rc;

    if (!engine)
        return 0;
    if (options->location || options->listing)
        return ebb_err_set(err, EBB_EUSAGE, "--compare: goes with neither --location nor --listing");
    rc = ebb_engine_compare(cli->ws, engine, result, c, err);
    if (!rc && c->unexplained && cli->exit_status < 1)
        cli->exit_status = 1;
    return rc;
}

static int plan_one(struct ebb_cli *cli, const char *table, const struct ebb_plan_options *options, struct ebb_err *err)
{
    const char *engine = ebb_args_get(&cli->args, "compare");
    struct ebb_engine_comparison comparison;
    struct ebb_plan_result result;
    int rc = ebb_tables_set_floor(cli, table, err);

    memset(&comparison, 0, sizeof comparison);
    if (!rc)
        rc = ebb_plan_make(ebb_cli_site(cli), table, options, &result, err);
    if (rc)
        return rc;
    rc = compare(cli, options, &result, engine, &comparison, err);
    if (rc) {
        ebb_engine_comparison_fini(&comparison);
        ebb_plan_result_fini(&result);
        return rc;
    }
    if (!strcmp(result.summary.status, "held") && cli->exit_status < ebb_error_exit(EBB_EFUSE))
        cli->exit_status = ebb_error_exit(EBB_EFUSE);
    if (cli->is_json)
        print_json(cli, &result, engine, &comparison);
    else
        print_people(cli, &result);
    if (engine && !cli->is_json)
        print_comparison(cli, engine, &comparison);
    ebb_engine_comparison_fini(&comparison);
    ebb_plan_result_fini(&result);
    return ebb_cli_emit(cli, err);
}

struct many {
    struct ebb_cli *cli;
    const struct ebb_plan_options *options;
    int64_t count;
};

/* A table that can't be planned does not stop the others; the exit status is the greatest one. */
static int note_failure(struct ebb_cli *cli, const char *table, const struct ebb_err *failure, struct ebb_err *err)
{
    struct ebb_jsonw w;

    if (cli->exit_status < ebb_error_exit(failure->error))
        cli->exit_status = ebb_error_exit(failure->error);
    if (!cli->is_json) {
        int rc;

        ebb_print_word(cli, EBB_PRINT_RED, ebb_error_code(failure->error));
        ebb_buf_putc(&cli->out, '\n');
        rc = ebb_cli_flush(cli, err);

        ebb_cli_report(cli, failure);
        return rc;
    }
    ebb_jsonw_init(&w, &cli->out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "table", table);
    ebb_cli_error_json(&w, failure);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&cli->out, '\n');
    return ebb_cli_emit(cli, err);
}

static int plan_next(void *data, const char *name, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct many *m = data;
    struct ebb_err failure;
    int rc;

    (void)ref;
    if (m->count++ && !m->cli->is_json)
        ebb_buf_putc(&m->cli->out, '\n');
    if (!m->cli->is_json) {
        ebb_print_text(&m->cli->out, name);
        ebb_buf_puts(&m->cli->out, ": ");
    }
    rc = plan_one(m->cli, name, m->options, &failure);
    if (rc == -(int)EBB_ECANCELLED) {
        *err = failure;
        return rc;
    }
    return rc ? note_failure(m->cli, name, &failure, err) : 0;
}

static int plan_many(struct ebb_cli *cli, const char *glob, const struct ebb_plan_options *options, struct ebb_err *err)
{
    struct many m = {cli, options, 0};
    int rc;

    if (options->output || options->listing || options->location)
        return ebb_err_set(err, EBB_EUSAGE, "plan %s: --output, --listing and --location are of one table", glob);
    rc = ebb_tables_each(cli, glob, plan_next, &m, err);
    if (!rc && !m.count) {
        rc = ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "plan %s: no table of the catalogs has such a name", glob);
        ebb_err_hint(err, "ebb tables lists them; '*' stands for one part of a name, '**' for any number");
    }
    return rc;
}

static int run_plan(struct ebb_cli *cli, struct ebb_err *err)
{
    const char *table = ebb_args_word(&cli->args, 0);
    struct ebb_plan_options options;
    int rc;

    ebb_plan_options_init(&options);
    cli->progress = (enum ebb_progress_mode)ebb_args_choice(&cli->args, "progress", EBB_PROGRESS_AUTO);
    rc = read_options(&cli->args, &options, err);
    if (!rc)
        rc = ebb_cli_start(cli, false, err);
    if (!rc)
        rc = ebb_tables_is_glob(table) ? plan_many(cli, table, &options, err) : plan_one(cli, table, &options, err);
    ebb_plan_options_fini(&options);
    return rc;
}

const struct ebb_command ebb_command_plan = {
    .name = "plan",
    .args = "TABLE|GLOB",
    .summary = "find what could go; read only, writes a plan",
    .about =
        "Reads all metadata of the table, lists its location and writes the files that nothing references and that are "
        "old "
        "enough into a plan. Nothing of the table is changed. A plan that would remove suspiciously much is held, exit "
        "status 2; ebb apply then wants the fuse by name.",
    .arg_min = 1,
    .arg_max = 1,
    .shared = EBB_TAKES_MAP,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_plan,
};
