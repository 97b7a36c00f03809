/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs of kind shell: an executable from the list in the configuration, run as a child process without any shell. What
 * may be run and with what environment is judged here, when a job is asked for and again before it starts: an API must
 * not be a shell.
 */
#ifndef EBB_SERVICE_SHELL_H
#define EBB_SERVICE_SHELL_H

#include "service/work.h"

/* Whether an executable may run: it stands on the list as it is written, is absolute, its own real path (no link
 * anywhere), a regular file that can be executed, belongs to root or to us, and neither it nor a folder above it can be
 * changed by others. EBB_EPERMISSION tells what is wrong. */
int ebb_shell_check_executable(const struct ebb_strs *allowed, const char *path, struct ebb_err *err);
/* Whether a template may set a variable of the environment: a plain name, and none by which loaders and interpreters
 * are told to run something else. EBB_EPERMISSION. */
int ebb_shell_check_variable(const char *name, struct ebb_err *err);

/* Carry out a job of kind shell, whose json is {"executable","arguments":[],"environments":{}}: a child in a process
 * group of its own, in a folder of its own (jobs/<id> in the state folder), without standard input; output.log and
 * error.log there keep the first megabyte of what it prints. When it is cancelled or past its deadline the group gets
 * SIGTERM and after 10 s SIGKILL. A job that was begun before (by a process that died) is not begun again: what is left
 * of it is killed, and it has failed. */
void ebb_shell_run(const struct ebb_work_context *context, const struct ebb_job_record *job,
                   struct ebb_work_result *out);

#endif
