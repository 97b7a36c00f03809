/* SPDX-License-Identifier: Apache-2.0
 *
 * ebb whynot: what keeps a policy from running on a table now, and until when.
 */
#include "engine/whynot.h"

#include "front/commands.h"
#include "front/whynot_print.h"
#include "service/pass.h"
#include "service/session.h"

static const struct ebb_example EXAMPLES[] = {
    {"ebb whynot orphans-weekly lake.prod.events", "what is missing, and when it could run"},
    {"ebb whynot policies/orphans.lua clicks.json --at 2026-03-29T01:00:00Z", "on a captured table, at another time"},
    {NULL, NULL},
};

static void print_json(struct ebb_cli *cli, const struct ebb_value *whynot)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &cli->out);
    ebb_value_write(whynot, &w);
    ebb_buf_putc(&cli->out, '\n');
}

static int ask(struct ebb_cli *cli, const struct ebb_policy *policy, struct ebb_err *err)
{
    struct ebb_session *session = NULL;
    struct ebb_value *whynot = NULL;
    struct ebb_decide_input input = {.trigger = NULL};
    int rc = ebb_session_open(cli->ws, ebb_args_word(&cli->args, 1), policy, &session, err);

    if (!rc)
        rc = ebb_session_input(session, 0, ebb_policy_get_name(policy), &input, err);
    input.trigger = NULL; /* as when its time comes: a run by hand would not wait */
    if (!rc)
        rc = ebb_whynot(NULL, policy, &input, &whynot, err);
    if (!rc && cli->is_json)
        print_json(cli, whynot);
    else if (!rc)
        ebb_whynot_print(cli, policy, whynot);
    ebb_value_free(whynot);
    ebb_session_free(session);
    return rc;
}

static int run_whynot(struct ebb_cli *cli, struct ebb_err *err)
{
    struct ebb_policy *policy = NULL;
    int rc = ebb_cli_start(cli, false, err);

    if (!rc)
        rc = ebb_pass_load_policy(cli->ws, ebb_args_word(&cli->args, 0), &policy, err);
    if (!rc)
        rc = ask(cli, policy, err);
    ebb_policy_free(policy);
    return rc;
}

const struct ebb_command ebb_command_whynot = {
    .name = "whynot",
    .args = "POLICY TABLE",
    .summary = "why a policy does not run on a table now, and when it could",
    .about = "Decides as if a trigger had fired now and lists every check with what is missing and when the clock "
             "turns it, the "
             "guards, and the earliest instant at which the policy would run if nothing but the clock changed. Nothing "
             "is done or recorded. TABLE may also be a captured fixture (fixture.json).",
    .arg_min = 2,
    .arg_max = 2,
    .shared = EBB_TAKES_MAP | EBB_TAKES_AT,
    .examples = EXAMPLES,
    .run = run_whynot,
};
