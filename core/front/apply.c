/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb apply
 */
#include "front/ask.h"
#include "front/commands.h"
#include "front/print.h"
#include "table/result_json.h"

static const struct ebb_option OPTIONS[] = {
    {"resume", 0, "RUN", NULL, false, "end a run that stopped in the middle, instead of applying a plan"},
    {"delete", 0, NULL, NULL, false, "delete for good instead of moving to quarantine"},
    {"quarantine", 0, "URI", NULL, false, "an existing folder outside the table (default <location>/.ebb-quarantine)"},
    {"override", 0, "FUSE", "max_files|max_bytes|max_share|zero_overlap", true,
     "apply although this fuse holds the plan"},
    {"max-age", 0, "D", NULL, false, "refuse a plan older than this (default 7d)"},
    {"verify", 0, "MODE", "full|sample|none", false,
     "look afterwards whether every reachable file exists (default full)"},
    {"yes", 0, NULL, NULL, false, "do not ask; needed where nobody can be asked"},
    EBB_OPTIONS_END,
};

static const struct ebb_example EXAMPLES[] = {
    {"ebb apply p-01K5Z9", "move the candidates to quarantine, after asking"},
    {"ebb apply p-01K5Z9 --override max_share --yes", "a held plan that was looked at"},
    {"ebb apply --resume r-01K5ZB", "after a crash or an interruption"},
    {NULL, NULL},
};

/* ---- options ---- */

static int check_resume(const struct ebb_args *args, struct ebb_err *err)
{
    for (const struct ebb_option *o = OPTIONS; o->name; o++)
        if (strcmp(o->name, "resume") && strcmp(o->name, "yes") && ebb_args_has(args, o->name))
            return ebb_err_set(err, EBB_EUSAGE, "--%s: a resumed run goes on as it was begun", o->name);
    return 0;
}

static int check(const struct ebb_args *args, struct ebb_err *err)
{
    bool resumes = ebb_args_has(args, "resume");
    int rc;

    if (resumes == (args->word_count > 0))
        return ebb_err_set(err, EBB_EUSAGE, "apply: %s",
                           resumes ? "a plan or --resume RUN, not both" : "PLAN is missing");
    if (ebb_args_has(args, "delete") && ebb_args_has(args, "quarantine"))
        return ebb_err_set(err, EBB_EUSAGE, "apply: --delete or --quarantine, not both");
    if (!ebb_args_has(args, "yes") && !ebb_ask_is_possible()) {
        rc = ebb_err_set(err, EBB_EUSAGE, "apply: there is no terminal to ask at");
        ebb_err_hint(err, "--yes applies without asking");
        return rc;
    }
    return resumes ? check_resume(args, err) : 0;
}

static int read_options(const struct ebb_args *args, struct ebb_apply_options *o, struct ebb_err *err)
{
    int rc = ebb_args_all(args, "override", &o->overrides, err);

    o->delete_for_good = ebb_args_has(args, "delete");
    o->quarantine = ebb_args_get(args, "quarantine");
    o->verify = (enum ebb_verify_mode)ebb_args_choice(args, "verify", EBB_VERIFY_FULL);
    if (!rc)
        rc = ebb_args_duration(args, "max-age", &o->max_age_ms, err);
    if (!rc && ebb_args_has(args, "max-age") && o->max_age_ms <= 0)
        rc = ebb_err_set(err, EBB_EUSAGE, "--max-age %s: an age is wanted", ebb_args_get(args, "max-age"));
    return rc;
}

/* ---- what is printed ---- */

static void print_json(struct ebb_cli *cli, const struct ebb_apply_result *r)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_apply_json(&w, r);
    ebb_buf_putc(&cli->out, '\n');
}

static void print_people(struct ebb_cli *cli, const struct ebb_apply_result *r)
{
    struct ebb_buf *out = &cli->out;
    bool is_done = r->status && !strcmp(r->status, "done");

    ebb_buf_printf(out, "run %s\n", r->run);
    ebb_print_field(out, "plan", r->plan);
    ebb_print_name(out, "status");
    ebb_print_word(cli, is_done ? EBB_PRINT_GREEN : EBB_PRINT_RED, r->status ? r->status : "interrupted");
    ebb_buf_putc(out, '\n');
    ebb_print_count_field(out, "moved", r->moved);
    if (r->deleted)
        ebb_print_count_field(out, "deleted", r->deleted);
    if (r->returned)
        ebb_print_count_field(out, "put back", r->returned);
    if (r->already_gone)
        ebb_print_count_field(out, "already gone", r->already_gone);
    ebb_print_notes(out, "skipped", &r->skipped);
    ebb_print_notes(out, "failed", &r->failed);
    if (!r->quarantine)
        return;
    ebb_print_field(out, "quarantine", r->quarantine);
    ebb_buf_puts(out, "\nUndo:\n  ");
    ebb_print_program(cli, out);
    ebb_buf_printf(out, " restore %s\n", r->run);
}

/* Print what there is, also of a run that did not come to its end. */
static int finish(struct ebb_cli *cli, struct ebb_apply_result *r, int rc, struct ebb_err *err)
{
    if (r->run[0] && (!rc || r->status || rc == -(int)EBB_EPARTIAL || rc == -(int)EBB_ECANCELLED)) {
        if (cli->is_json)
            print_json(cli, r);
        else
            print_people(cli, r);
    }
    if (rc == -(int)EBB_ECANCELLED && r->run[0] && !err->hint[0])
        ebb_err_hint(err, "ebb apply --resume %s goes on", r->run);
    ebb_apply_result_fini(r);
    return rc;
}

/* ---- asking ---- */

static int ask(struct ebb_cli *cli, const struct ebb_plan_header *h, const struct ebb_plan_summary *s, bool *yes,
               struct ebb_err *err)
{
    bool deletes = ebb_args_has(&cli->args, "delete");
    struct ebb_buf text;
    int rc;

    *yes = ebb_args_has(&cli->args, "yes") || !s->candidates;
    if (*yes)
        return 0;
    ebb_buf_init(&text, 65536);
    ebb_buf_puts(&text, deletes ? "Delete " : "Move ");
    ebb_print_files(&text, s->candidates, s->candidate_bytes);
    ebb_buf_puts(&text, ", of ");
    ebb_print_text(&text, h->catalog);
    ebb_buf_putc(&text, '.');
    ebb_print_text(&text, h->namespace_);
    ebb_buf_putc(&text, '.');
    ebb_print_text(&text, h->name);
    ebb_buf_puts(&text, deletes ? " for good?" : " to quarantine?");
    rc = ebb_buf_check(&text, "question", err);
    if (!rc)
        rc = ebb_ask(cli, ebb_buf_cstr(&text), yes, err);
    ebb_buf_fini(&text);
    return rc;
}

/* ---- doing ---- */

static void set_floor(struct ebb_cli *cli, const struct ebb_plan_header *h)
{
    struct ebb_buf name;

    ebb_buf_init(&name, 65536);
    ebb_buf_printf(&name, "%s.%s%s%s", h->catalog, h->namespace_, h->namespace_[0] ? "." : "", h->name);
    ebb_cli_site(cli)->allow_below_floor =
        !name.bad && ebb_config_allows_below_floor(ebb_workspace_config(cli->ws), ebb_buf_cstr(&name));
    ebb_buf_fini(&name);
}

/* Look at the plan: maps it was made with, the question. */
static int prepare(struct ebb_cli *cli, const char *name, struct ebb_strs *maps, bool *yes, struct ebb_err *err)
{
    struct ebb_plan_file *plan;
    int rc = ebb_plan_file_open(ebb_cli_site(cli), name, &plan, err);

    if (rc)
        return rc;
    rc = ebb_workspace_recorded_maps(ebb_plan_file_header(plan)->options, maps, err);
    if (!rc)
        rc = ask(cli, ebb_plan_file_header(plan), ebb_plan_file_summary(plan), yes, err);
    set_floor(cli, ebb_plan_file_header(plan));
    ebb_plan_file_close(plan);
    return rc;
}

static int apply_plan(struct ebb_cli *cli, const char *plan, struct ebb_err *err)
{
    struct ebb_apply_options options;
    struct ebb_apply_result result;
    struct ebb_strs maps;
    bool yes = false;
    int rc;

    memset(&options, 0, sizeof options);
    memset(&result, 0, sizeof result);
    ebb_strs_init(&maps);
    rc = read_options(&cli->args, &options, err);
    if (!rc)
        rc = prepare(cli, plan, &maps, &yes, err);
    if (!rc && !yes)
        ebb_buf_puts(&cli->out, "Nothing was done.\n");
    if (!rc && yes)
        rc = ebb_cli_connect(cli, &maps, err);
    if (!rc && yes)
        rc = finish(cli, &result, ebb_apply(ebb_cli_site(cli), plan, &options, &result, err), err);
    ebb_strs_fini(&options.overrides);
    ebb_strs_fini(&maps);
    return rc;
}

static int resume_run(struct ebb_cli *cli, const char *run, struct ebb_err *err)
{
    struct ebb_apply_result result;
    struct ebb_strs maps;
    bool yes = ebb_args_has(&cli->args, "yes");
    int rc;

    memset(&result, 0, sizeof result);
    ebb_strs_init(&maps);
    rc = ebb_cli_run_maps(cli, run, &maps, err);
    if (!rc && !yes)
        rc = ebb_ask(cli, "Go on with this run?", &yes, err);
    if (!rc && !yes)
        ebb_buf_puts(&cli->out, "Nothing was done.\n");
    if (!rc && yes)
        rc = ebb_cli_connect(cli, &maps, err);
    if (!rc && yes)
        rc = finish(cli, &result, ebb_resume(ebb_cli_site(cli), run, &result, err), err);
    ebb_strs_fini(&maps);
    return rc;
}

static int run_apply(struct ebb_cli *cli, struct ebb_err *err)
{
    const char *run = ebb_args_get(&cli->args, "resume");
    int rc = check(&cli->args, err);

    if (!rc)
        rc = ebb_cli_open(cli, false, err);
    if (rc)
        return rc;
    return run ? resume_run(cli, run, err) : apply_plan(cli, ebb_args_word(&cli->args, 0), err);
}

const struct ebb_command ebb_command_apply = {
    .name = "apply",
    .args = "PLAN | --resume RUN",
    .summary = "carry a plan out: move its candidates to quarantine",
    .about = "Loads the table again and refuses a plan that is stale. Before each batch the metadata is read once "
             "more; what became "
             "referenced stays. What was moved can be put back with ebb restore until ebb purge.",
    .arg_max = 1,
    .shared = EBB_TAKES_MAP,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .run = run_apply,
};
