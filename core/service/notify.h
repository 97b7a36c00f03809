/* SPDX-License-Identifier: Apache-2.0
 *
 * Notices to people: a webhook (POST of JSON) or a command (JSON on standard input) for held, refused, failed, and runs
 * whose purge is due within 24 hours. The same matter is told once (deduplicated in the store, also over restarts),
 * tried again with back-off, and given up with a log line. Loop's thread only.
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
};
int ebb_notify_new(uv_loop_t *loop, const struct ebb_notify_options *options, struct ebb_notify **out,
                   struct ebb_err *err);
/* Another configuration from now on. */
int ebb_notify_configure(struct ebb_notify *notify, const struct ebb_config *config, struct ebb_err *err);
/* Tell it, if it was not told before. Never fails: what goes wrong is logged. */
void ebb_notify_tell(struct ebb_notify *notify, const struct ebb_notice *notice);
/* Notices under way are given up after grace_ms; they are told after the next start. */
void ebb_notify_close(struct ebb_notify *notify, unsigned grace_ms, void (*closed)(void *data), void *data);

#endif
