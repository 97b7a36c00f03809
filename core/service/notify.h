/* SPDX-License-Identifier: Apache-2.0
 *
 * Notices to people: a webhook (POST of JSON) or a command (JSON on standard input) for held, refused, failed, and runs
 * whose purge is due within 24 hours. The same matter is told once (deduplicated in the store, also over restarts),
 * tried again with back-off (also after a restart, and under the same Idempotency-Key), and given up after 24 hours
 * with a log line. Who was told is remembered for 90 days, for each target. At most four are sent at once; the store is
 * used from a thread of its own. Commands are run without a shell; they and their children are killed after a minute.
 * The program ignores SIGPIPE. Loop's thread only.
 */
#ifndef EBB_SERVICE_NOTIFY_H
#define EBB_SERVICE_NOTIFY_H

#include "io/http_client.h"
#include "io/store.h"
#include "service/config.h"
#include "service/metrics.h"

struct ebb_notice {
    const char *kind;                /* "held", "refused", "failed", "purge-due", "paused" */
    const char *key;                 /* what makes it the same matter: "held p-…" */
    const char *policy, *table, *id; /* id of plan, decision, job or run; "" none */
    const char *message;             /* for people, one line */
    const char *hint;                /* what to do, "" none */
    int64_t at_ms;
};
struct ebb_notify;
struct ebb_notify_options {
    const struct ebb_config *config; /* copied from: serve.notify */
    const char *state_dir;           /* a store connection of its own */
    struct ebb_http_client *client;
    struct ebb_metrics *metrics;
    struct ebb_log log;
    struct ebb_clock clock;
    unsigned first_wait_ms; /* of the back-off, doubled up to an hour; 0: 30 s */
    unsigned command_ms;    /* that a command may take; 0: a minute */
};
/* EBB_ENOMEM, EBB_EIO, EBB_ECONFIG. A store that cannot be opened is logged when there is something to tell. */
int ebb_notify_new(uv_loop_t *loop, const struct ebb_notify_options *options, struct ebb_notify **out,
                   struct ebb_err *err);
/* Another configuration from now on. An error: the old one stays, or what waits is told after the next start
 * (EBB_ENOMEM). What waits for a target that is gone stays in the store. */
int ebb_notify_configure(struct ebb_notify *notify, const struct ebb_config *config, struct ebb_err *err);
/* Tell it, if it was not told before. Never fails: what goes wrong is logged. When the store cannot be written it is
 * told nevertheless. */
void ebb_notify_tell(struct ebb_notify *notify, const struct ebb_notice *notice);
/* Notices under way are given up after grace_ms; they are told after the next start. */
void ebb_notify_close(struct ebb_notify *notify, unsigned grace_ms, void (*closed)(void *data), void *data);

#endif
