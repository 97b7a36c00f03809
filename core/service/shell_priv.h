/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of shell jobs: the child process, and what is kept of it beside the job's folder.
 */
#ifndef EBB_SERVICE_SHELL_PRIV_H
#define EBB_SERVICE_SHELL_PRIV_H

#include <sys/types.h>

#include "service/shell.h"

#define EBB__SHELL_LOG_BYTES ((size_t)1024 * 1024)
#define EBB__SHELL_GRACE_MS 10000

struct ebb__child {
    pid_t pid;
    int out, error;                /* read ends, -1 closed */
    int out_log, error_log;        /* -1 closed */
    size_t out_bytes, error_bytes; /* that were kept; one that reached log_max may be cut */
    size_t log_max;                /* of each log; EBB__SHELL_LOG_BYTES unless it is set after the start */
};
/* Start it. argv and env end with NULL. EBB_EIO… */
int ebb__child_start(const char *folder, char *const *argv, char *const *env, struct ebb__child *out,
                     struct ebb_err *err);
/* Take what it prints for up to some ms; whether it is over (it stays to be reaped, so its number is still its own). */
bool ebb__child_wait(struct ebb__child *child, int wait_ms);
/* Reap it and close everything; with_group: what is left of its group is killed before. The status is that of waitpid.
 */
int ebb__child_end(struct ebb__child *child, bool with_group);
/* A text that tells this process from any other that has its number later ("<pid> <start> <boot>"), appended. */
int ebb__child_mark(pid_t pid, struct ebb_buf *out, struct ebb_err *err);
/* Whether that very process still lives. */
bool ebb__child_lives(const char *mark);
/* Kill the process group of a mark if that very process still lives. *lived tells. */
void ebb__child_kill(const char *mark, bool *lived);

/* Keep the folders of the newest jobs, remove older ones with what lies in them (links are not followed). */
void ebb__shell_prune(const char *jobs_dir, size_t keep);
/* Remove a folder with what lies in it, likewise. */
void ebb__shell_remove(const char *folder);

#endif
