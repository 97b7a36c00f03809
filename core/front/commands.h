/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands, each defined in the file of its noun.
 */
#ifndef EBB_FRONT_COMMANDS_H
#define EBB_FRONT_COMMANDS_H

#include "front/command.h"

extern const struct ebb_command ebb_command_tables;
extern const struct ebb_command ebb_command_stats;
extern const struct ebb_command ebb_command_capture;
extern const struct ebb_command ebb_command_plan;
extern const struct ebb_command ebb_command_show;
extern const struct ebb_command ebb_command_diff;
extern const struct ebb_command ebb_command_apply;
extern const struct ebb_command ebb_command_restore;
extern const struct ebb_command ebb_command_purge;
extern const struct ebb_command ebb_command_verify;
extern const struct ebb_command ebb_command_runs;
extern const struct ebb_command ebb_command_plans;
extern const struct ebb_command ebb_command_decisions;
extern const struct ebb_command ebb_command_events;
extern const struct ebb_command ebb_command_explain;
extern const struct ebb_command ebb_command_check;
extern const struct ebb_command ebb_command_new;
extern const struct ebb_command ebb_command_manifest;
extern const struct ebb_command ebb_command_decide;
extern const struct ebb_command ebb_command_next;
extern const struct ebb_command ebb_command_test;
extern const struct ebb_command ebb_command_repl;
extern const struct ebb_command ebb_command_simulate;
extern const struct ebb_command ebb_command_replay;
extern const struct ebb_command ebb_command_backtest;
extern const struct ebb_command ebb_command_whynot;
extern const struct ebb_command ebb_command_run;
extern const struct ebb_command ebb_command_job;
extern const struct ebb_command ebb_command_job_expire;
extern const struct ebb_command ebb_command_sql;
extern const struct ebb_command ebb_command_gravitino_register;
extern const struct ebb_command ebb_command_gravitino_sync;
extern const struct ebb_command ebb_command_gravitino_status;
extern const struct ebb_command ebb_command_doctor;
extern const struct ebb_command ebb_command_demo;
extern const struct ebb_command ebb_command_serve;
extern const struct ebb_command ebb_command_status;
extern const struct ebb_command ebb_command_reload;
extern const struct ebb_command ebb_command_token_create;
extern const struct ebb_command ebb_command_token_list;
extern const struct ebb_command ebb_command_token_revoke;
extern const struct ebb_command ebb_command_help;
extern const struct ebb_command ebb_command_stubs;
extern const struct ebb_command ebb_command_reference;
extern const struct ebb_command ebb_command_man;
extern const struct ebb_command ebb_command_bash;
extern const struct ebb_command ebb_command_zsh;

#endif
