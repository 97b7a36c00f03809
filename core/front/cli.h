/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the program: the parsed command line, the workspace, and what is printed. Commands append to `out` and
 * call ebb_cli_emit now and then; the rest is written at the end. One thread.
 */
#ifndef EBB_FRONT_CLI_H
#define EBB_FRONT_CLI_H

#include "front/args.h"
#include "front/signals.h"
#include "service/workspace.h"

enum ebb_progress_mode { EBB_PROGRESS_AUTO, EBB_PROGRESS_NONE, EBB_PROGRESS_JSON };

struct ebb_cli {
    struct ebb_args args;
    bool is_json;
    bool has_colour; /* standard output is a terminal that may be coloured */
    int exit_status; /* when the command returns 0 */
    struct ebb_buf out;
    struct ebb_strs said; /* warnings that were printed: each is told once */
    struct ebb_workspace *ws;
    int64_t now_ms; /* --at */
    atomic_bool *cancelled;
    struct ebb_signals *signals; /* where `cancelled` is; NULL in a command that another one runs */
    bool keeps_out;              /* a caller takes `out`: emit writes nothing */
    enum ebb_progress_mode progress;
    bool has_line; /* a progress line stands on the terminal */
    int64_t line_ms, phase_ms;
    const char *phase;
};

/* cancelled: set when the run is to stop; borrowed. */
void ebb_cli_init(struct ebb_cli *cli, atomic_bool *cancelled);
void ebb_cli_fini(struct ebb_cli *cli);

/* Open configuration and, unless without_store, state; then connect with --map and recorded maps (NULL none). Errors of
 * the workspace. */
int ebb_cli_open(struct ebb_cli *cli, bool without_store, struct ebb_err *err);
int ebb_cli_connect(struct ebb_cli *cli, const struct ebb_strs *recorded, struct ebb_err *err);
/* Both, for commands that need no recorded maps. */
int ebb_cli_start(struct ebb_cli *cli, bool without_store, struct ebb_err *err);
/* Valid after ebb_cli_open. */
struct ebb_site *ebb_cli_site(struct ebb_cli *cli);
/* The time of this run: --at or the system's. */
int64_t ebb_cli_now(struct ebb_cli *cli);
/* Add the maps that a plan (file or id) or a run was made with. EBB_ENOT_FOUND and errors of reading it. */
int ebb_cli_plan_maps(struct ebb_cli *cli, const char *plan, struct ebb_strs *out, struct ebb_err *err);
int ebb_cli_run_maps(struct ebb_cli *cli, const char *run, struct ebb_strs *out, struct ebb_err *err);

/* Write what is due when there is much of it; ebb_cli_flush: all. EBB_EIO "standard output: …". */
int ebb_cli_emit(struct ebb_cli *cli, struct ebb_err *err);
int ebb_cli_flush(struct ebb_cli *cli, struct ebb_err *err);
/* Print an error on standard error, as text or as an object. */
void ebb_cli_report(struct ebb_cli *cli, const struct ebb_err *err);
/* The "error" member of an object that w has open. */
void ebb_cli_error_json(struct ebb_jsonw *w, const struct ebb_err *err);
/* Take the progress line off the terminal. */
void ebb_cli_clear_progress(struct ebb_cli *cli);

#endif
