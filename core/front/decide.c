/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb decide, ebb run: policies at work.
 */
#include "front/commands.h"
#include "front/decision_print.h"
#include "front/print.h"
#include "service/pass.h"

static const struct ebb_option DECIDE_OPTIONS[] = {
    {"event", 0, "'TYPE KEY=VALUE …'", NULL, true, "as if this had just happened"},
    EBB_OPTIONS_END,
};

static const struct ebb_option RUN_OPTIONS[] = {
    {"policy", 0, "NAME", NULL, false, "only this policy"},
    {"table", 0, "GLOB", NULL, false, "only tables whose name this takes"},
    {"dry-run", 0, NULL, NULL, false, "decide and plan, never apply"},
    EBB_OPTIONS_END,
};

static const struct ebb_example DECIDE_EXAMPLES[] = {
    {"ebb decide orphans-weekly lake.prod.events", "what it would do now, and why"},
    {"ebb decide policies/orphans.lua lake.prod.events --at 2026-03-29T02:30:00Z", "at another time"},
    {"ebb decide orphans-on-event lake.prod.events --event 'commit.failed files_written=212'", "after an event"},
    {NULL, NULL},
};

static const struct ebb_example RUN_EXAMPLES[] = {
    {"ebb run --dry-run", "what would be done now"},
    {"ebb run --json", "one pass from cron, CI or Airflow"},
    {NULL, NULL},
};

/* ---- decide ---- */

static int print_decision(struct ebb_cli *cli, const struct ebb_decision *decision, struct ebb_err *err)
{
    const char *json = ebb_decision_get_record(decision);
    struct ebb_value *record = NULL;
    int rc;

    if (cli->is_json) {
        ebb_buf_puts(&cli->out, json);
        ebb_buf_putc(&cli->out, '\n');
        return 0;
    }
    rc = ebb_value_of_json("decision", json, strlen(json), NULL, &record, err);
    if (!rc)
        ebb_decision_print(cli, record);
    ebb_value_free(record);
    return rc;
}

static int decide(struct ebb_cli *cli, const struct ebb_strs *events, struct ebb_err *err)
{
    struct ebb_decide_options o = {ebb_args_word(&cli->args, 0), ebb_args_word(&cli->args, 1), events};
    struct ebb_decision *decision = NULL;
    int rc = ebb_pass_decide(cli->ws, &o, &decision, err);

    if (decision) {
        struct ebb_err why;
        int printed = print_decision(cli, decision, &why);

        if (!rc && printed) {
            *err = why;
            rc = printed;
        }
        if (ebb_decision_get_verdict(decision) == EBB_VERDICT_REFUSED)
            cli->exit_status = ebb_error_exit(EBB_EREFUSED);
    }
    ebb_decision_free(decision);
    return rc;
}

static int run_decide(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_strs events;
    int rc;

    ebb_strs_init(&events);
    rc = ebb_args_all(&cli->args, "event", &events, err);
    if (!rc)
        rc = ebb_cli_start(cli, false, err);
    if (!rc)
        rc = decide(cli, &events, err);
    ebb_strs_fini(&events);
    return rc;
}

/* ---- run ---- */

static void print_report(struct ebb_cli *cli, const struct ebb_pass_report *r)
{
    struct ebb_buf *out = &cli->out;
    const char *words[] = {r->decision, r->plan, r->run};

    ebb_print_text(out, r->policy);
    ebb_buf_puts(out, " on ");
    ebb_print_text(out, r->table);
    ebb_buf_puts(out, ": ");
    ebb_print_word(cli, r->error ? EBB_PRINT_RED : EBB_PRINT_GREEN, r->status ? r->status : r->verdict);
    if (r->plan) {
        ebb_buf_puts(out, ", ");
        ebb_print_count(out, r->candidates);
        ebb_buf_puts(out, " candidates");
    }
    if (r->run) {
        ebb_buf_puts(out, ", ");
        ebb_print_count(out, r->moved);
        ebb_buf_puts(out, " moved");
    }
    for (size_t i = 0; i < 3; i++)
        if (words[i]) {
            ebb_buf_puts(out, i ? " " : "  ");
            ebb_print_text(out, words[i]);
        }
    if (r->error) {
        ebb_buf_puts(out, "\n  ");
        ebb_print_text(out, r->error->message);
    }
    ebb_buf_putc(out, '\n');
}

/* A pass can't be stopped by what becomes of its output: a failed write shows at the end. */
static void on_report(void *data, const struct ebb_pass_report *report)
{
    struct ebb_cli *cli = data;
    struct ebb_jsonw w;

    if (!cli->is_json) {
        print_report(cli, report);
        return;
    }
    ebb_jsonw_init(&w, &cli->out);
    ebb_pass_report_json(&w, report);
    ebb_buf_putc(&cli->out, '\n');
}

/* Files are removed at the real time or not at all. */
static int check_at(const struct ebb_cli *cli, struct ebb_err *err)
{
    const struct ebb_config *c = ebb_workspace_config(cli->ws);
    const char *policy = ebb_args_get(&cli->args, "policy");
    int rc = 0;

    if (!ebb_args_has(&cli->args, "at") || ebb_args_has(&cli->args, "dry-run"))
        return 0;
    for (size_t i = 0; !rc && i < c->binding_count; i++)
        if (c->bindings[i].mode == EBB_BIND_ENFORCE && (!policy || !strcmp(policy, c->bindings[i].policy)))
            rc = ebb_err_set(err, EBB_EUSAGE,
                             "--at: policy %s is bound with mode enforce, which acts only at the real time",
                             c->bindings[i].policy);
    if (rc)
        ebb_err_hint(err, "with --dry-run nothing is applied");
    return rc;
}

static int run_run(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_pass_options o;
    int rc = ebb_cli_start(cli, false, err);

    if (!rc)
        rc = check_at(cli, err);
    if (rc)
        return rc;
    memset(&o, 0, sizeof o);
    o.policy = ebb_args_get(&cli->args, "policy");
    o.table = ebb_args_get(&cli->args, "table");
    o.dry_run = ebb_args_has(&cli->args, "dry-run");
    o.report = on_report;
    o.data = cli;
    return ebb_pass_run(cli->ws, &o, err);
}

const struct ebb_command ebb_command_decide = {
    .name = "decide",
    .args = "POLICY TABLE",
    .summary = "one decision of a policy on a table; nothing is done",
    .about = "POLICY is the name of a policy in the configured folder, or a file; TABLE may also be a captured fixture "
             "(fixture.json). Exit "
             "status 2 when the decision is refused.",
    .arg_min = 2,
    .arg_max = 2,
    .shared = EBB_TAKES_MAP | EBB_TAKES_AT,
    .options = DECIDE_OPTIONS,
    .examples = DECIDE_EXAMPLES,
    .run = run_decide,
};

const struct ebb_command ebb_command_run = {
    .name = "run",
    .args = "",
    .summary = "one pass over everything that is due, then exit",
    .about =
        "Each bound policy looks at each of its tables. What a binding allows is done: observe records only, approve "
        "plans, enforce "
        "plans and applies. One table that fails does not stop the others; the exit status tells the gravest failure. "
        "Policies made over the Gravitino interface are run by `ebb serve` alone.",
    .shared = EBB_TAKES_MAP | EBB_TAKES_AT,
    .options = RUN_OPTIONS,
    .examples = RUN_EXAMPLES,
    .run = run_run,
};
