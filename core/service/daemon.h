/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon: one libuv loop that hears of changes, wakes when something is due, has tables looked at and jobs carried
 * out by worker threads, serves HTTP, and reloads. The loop never waits for a disk.
 */
#ifndef EBB_SERVICE_DAEMON_H
#define EBB_SERVICE_DAEMON_H

#include <stdatomic.h>

#include "service/generation.h"
#include "service/look.h"
#include "service/work.h"

/* What a worker thread has: made for the generation that is active when its task begins, made anew when another one
 * came. */
struct ebb_worker {
    struct ebb_workspace *ws;
    struct ebb_looker *looker;         /* of the pool "look" only */
    struct ebb_generation *generation; /* that ws was made for */
    const struct ebb_worker_options *options;
    struct ebb_worker_log *said; /* what its log lines are about */
};
struct ebb_worker_options {
    const char *state_dir;
    struct ebb_log log;
    struct ebb_clock clock;
    struct ebb_metrics *metrics;
    /* The generation that is active now, with a reference for the caller. Any thread. */
    struct ebb_generation *(*generation)(void *data);
    void *data;
    const char *pool; /* name of the pool */
    bool has_looker;
    bool tells_end;               /* ebb__worker_done is called after each task: it counts as busy until then */
    const atomic_bool *cancelled; /* ends what the workers do; NULL never */
    struct ebb_hub *hub;          /* told of a workspace that can't be opened; NULL nobody */
    struct ebb_worker_list *list; /* who is there, for the status; NULL: nobody asks */
};
/* context_new and context_free of a pool; data is the options. */
void *ebb_worker_new(void *options);
void ebb_worker_free(void *worker);
/* Bring a worker to the active generation: opens its workspace and connects. Errors of both. */
int ebb_worker_ready(struct ebb_worker *worker, struct ebb_err *err);

/* One line of the log with what it is about; texts without are NULL. */
struct ebb_daemon_line {
    enum ebb_log_level level;
    const char *message; /* one line, escaped */
    const char *job, *run, *policy, *table;
};

/* The status (ebb_hub_get_status, GET /api/status) is one JSON object:
 *   pid, version, started, uptime_s, address, state "standby|starting|serving|draining",
 *   ready (leader, first listing done, store can be written, not draining), why (a text) when it is not ready,
 *   leader {is_leader, epoch}, generation {hash, loaded, config, error null | {file, line, column, code, message,
 *   since}}, reloads (attempts that ended), is_reloading, workers [{pool, hash, is_busy}], tables, policies, bindings,
 *   listing {at, took_ms, error}, looks {waiting, running}, jobs {queued, started, succeeded, failed, cancelled},
 *   due {at, table} (at null: nothing), store {ok, error, since}, clock {now, steps, last_step_ms}, paused [texts],
 *   watch {is_complete, folders}.
 * Times are ISO texts in UTC, null where there is none. */
struct ebb_daemon_options {
    const char *config;    /* file, NULL: look for one */
    const char *state_dir; /* NULL: the usual one */
    const char *listen;    /* instead of serve.listen; NULL */
    enum ebb_log_level level;
    /* The log; any thread. */
    void (*line)(void *data, const struct ebb_daemon_line *line);
    struct ebb_clock clock;
    /* Told once when it serves: the address. NULL: nobody. */
    void (*ready)(void *data, const char *address);
    void *data;
};
/* Run until SIGTERM or SIGINT: the first drains (no new starts, batches end at a safe point), the second ends the
 * process at once (the journal knows what was done). Blocks while another process leads (standby). SIGHUP reloads.
 * These signals must not be blocked in the calling thread. 0 after an orderly end; EBB_ECONFIG…, EBB_EPOLICY_…,
 * EBB_ESTORE…, EBB_EIO (address in use). */
int ebb_daemon_run(const struct ebb_daemon_options *options, struct ebb_err *err);

/* Where the daemon of a state folder can be reached: `daemon.json` in it (mode 0600), which the daemon writes when it
 * serves and removes at its end. */
struct ebb_daemon_place {
    int64_t pid;
    char scheme[8], address[280];
    char token[128]; /* of this run, "" none is needed */
    char cert[4096]; /* PEM that its certificate is checked by, "" none */
};
/* state_dir NULL: the usual one. EBB_ENOT_FOUND: none runs there (a file of a process that is gone counts as none). */
int ebb_daemon_find(const char *state_dir, struct ebb_daemon_place *out, struct ebb_err *err);

#endif
