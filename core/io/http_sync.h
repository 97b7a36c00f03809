/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP for a thread that waits for its answers: a client (io/http_client.h) with a loop of its own, that is turned only
 * from inside of the functions here. Many requests may be under way at once; their callbacks run inside of
 * ebb_http_sync_turn and ebb_http_sync_poll. One thread.
 */
#ifndef EBB_IO_HTTP_SYNC_H
#define EBB_IO_HTTP_SYNC_H

#include <stdatomic.h>

#include "io/http_client.h"

struct ebb_http_sync;
/* options are those of a client, copied; cancelled (may be NULL, borrowed) ends every wait within a tenth of a second.
 * EBB_ENOMEM, EBB_EIO, EBB_EUNSUPPORTED. */
int ebb_http_sync_new(const struct ebb_http_client_options *options, const atomic_bool *cancelled,
                      struct ebb_http_sync **out, struct ebb_err *err);
/* Cancels what is under way: its callbacks come with EBB_ECANCELLED before this returns. NULL is fine. */
void ebb_http_sync_free(struct ebb_http_sync *sync);

/* As ebb_http_start. The callback comes from inside of ebb_http_sync_turn (or ebb_http_sync_free). */
int ebb_http_sync_start(struct ebb_http_sync *sync, const struct ebb_http_call *call, ebb_http_call_cb *cb, void *data,
                        struct ebb_err *err);
/* Wait until at least one callback has run, at most max_ms (-1: without end, but at once when nothing is under way).
 * Not from inside of a callback. EBB_ECANCELLED: the flag is set; what is under way stays so, until it is turned again
 * or freed. */
int ebb_http_sync_turn(struct ebb_http_sync *sync, int64_t max_ms, struct ebb_err *err);
/* Send and receive what can be without waiting; callbacks may run. Not from inside of one. */
void ebb_http_sync_poll(struct ebb_http_sync *sync);
/* While it is deaf the flag ends nothing: for steps that must come to their end. */
void ebb_http_sync_set_deaf(struct ebb_http_sync *sync, bool is_deaf);
size_t ebb_http_sync_pending(const struct ebb_http_sync *sync);

/* One request from beginning to end. The answer is owned by the caller. */
struct ebb_http_fetched {
    int status;
    struct ebb_strs headers;
    struct ebb_buf body;
    unsigned tries;
};
/* Initialises *out (its body has no bound besides call->answer_bytes). An answer of any status is 0. Errors of
 * ebb_http_start and of the callback; EBB_ECANCELLED. Other requests of the same sync go on meanwhile. */
int ebb_http_sync_call(struct ebb_http_sync *sync, const struct ebb_http_call *call, struct ebb_http_fetched *out,
                       struct ebb_err *err);
void ebb_http_fetched_fini(struct ebb_http_fetched *fetched);

/* Append text with every byte but A-Z a-z 0-9 - . _ ~ as %XX (upper case); with keep_slash '/' stays too. */
void ebb_http_encode(struct ebb_buf *out, struct ebb_str text, bool keep_slash);

#endif
