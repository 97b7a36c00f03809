/* SPDX-License-Identifier: Apache-2.0 */
#include "front/commands.h"

const struct ebb_command *const EBB_COMMANDS[] = {
    &ebb_command_tables,       &ebb_command_stats,      &ebb_command_capture,
    &ebb_command_plan,         &ebb_command_show,       &ebb_command_diff,
    &ebb_command_apply,        &ebb_command_restore,    &ebb_command_purge,
    &ebb_command_verify,       &ebb_command_runs,       &ebb_command_plans,
    &ebb_command_decisions,    &ebb_command_events,     &ebb_command_explain,
    &ebb_command_new,          &ebb_command_check,      &ebb_command_manifest,
    &ebb_command_decide,       &ebb_command_whynot,     &ebb_command_test,
    &ebb_command_next,         &ebb_command_simulate,   &ebb_command_backtest,
    &ebb_command_replay,       &ebb_command_repl,       &ebb_command_run,
    &ebb_command_serve,        &ebb_command_status,     &ebb_command_reload,
    &ebb_command_token_create, &ebb_command_token_list, &ebb_command_token_revoke,
    &ebb_command_job,          &ebb_command_job_expire, &ebb_command_sql,
    &ebb_command_doctor,       &ebb_command_demo,       &ebb_command_help,
    &ebb_command_stubs,        &ebb_command_reference,  &ebb_command_man,
    &ebb_command_bash,         &ebb_command_zsh,        NULL,
};
