/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon: one libuv loop that hears of changes, wakes when something is due, has tables looked at and jobs carried
 * out by worker threads, serves HTTP, and reloads. The loop never waits for a disk.
 */
#ifndef EBB_SERVICE_DAEMON_H
#define EBB_SERVICE_DAEMON_H

#include "service/generation.h"
#include "service/look.h"
#include "service/work.h"

/* What a worker thread has: made for the generation that its task names, made anew when another one comes. */
struct ebb_worker {
    struct ebb_workspace *ws;
    struct ebb_looker *looker;
    struct ebb_generation *generation; /* that ws was made for */
    const struct ebb_worker_options *options;
};
struct ebb_worker_options {
    const char *state_dir;
    struct ebb_log log;
    struct ebb_clock clock;
    struct ebb_metrics *metrics;
    /* The generation that is active now, with a reference for the caller. Any thread. */
    struct ebb_generation *(*generation)(void *data);
    void *data;
};
/* context_new and context_free of a pool; data is the options. */
void *ebb_worker_new(void *options);
void ebb_worker_free(void *worker);
/* Bring a worker to the active generation: opens its workspace and connects. Errors of both. */
int ebb_worker_ready(struct ebb_worker *worker, struct ebb_err *err);

struct ebb_daemon_options {
    const char *config;    /* file, NULL: look for one */
    const char *state_dir; /* NULL: the usual one */
    const char *listen;    /* instead of serve.listen; NULL */
    struct ebb_log log;
    struct ebb_clock clock;
    /* Told once when it serves: the address. NULL: nobody. */
    void (*ready)(void *data, const char *address);
    void *data;
};
/* Run until SIGTERM or SIGINT: the first drains (no new starts, batches end at a safe point), the second stops at the
 * next journal step. Blocks while another process leads (standby). SIGHUP reloads. 0 after an orderly end;
 * EBB_ECONFIG…, EBB_ESTORE…, EBB_EIO (address in use). */
int ebb_daemon_run(const struct ebb_daemon_options *options, struct ebb_err *err);

#endif
