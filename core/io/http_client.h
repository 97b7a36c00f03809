/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP client: libcurl's multi interface on a libuv loop. Limits requests per host, keeps deadlines, retries what
 * may be retried (connection failures, 408, 429, 500, 502, 503, 504; of methods that are not idempotent only when the
 * caller says that a repetition does no harm) with back-off and Retry-After, follows no redirects, speaks http and
 * https only, and checks certificates always. Everything runs on the loop's thread. Errors and log lines name method
 * and host only: paths, queries, user information and headers may be secrets.
 */
#ifndef EBB_IO_HTTP_CLIENT_H
#define EBB_IO_HTTP_CLIENT_H

#include <uv.h>

#include "base/buf.h"
#include "base/clock.h"

struct ebb_http_client;
struct ebb_http_client_options {
    unsigned per_host;      /* requests at once; 0: 8 */
    const char *ca_file;    /* PEM, and no other authorities; NULL: the system's */
    const char *proxy;      /* NULL: of the environment (http_proxy, https_proxy, no_proxy); "" none */
    const char *user_agent; /* NULL: ebb/<version> */
    struct ebb_log log;
};
/* EBB_ENOMEM; EBB_EUNSUPPORTED: a libcurl that may not be begun by several threads. */
int ebb_http_client_new(uv_loop_t *loop, const struct ebb_http_client_options *options, struct ebb_http_client **out,
                        struct ebb_err *err);
/* Cancels what is under way; closed (may be NULL) comes on the loop when the client is free. */
void ebb_http_client_close(struct ebb_http_client *client, void (*closed)(void *data), void *data);

struct ebb_http_call {
    const char *method; /* GET, HEAD, PUT, DELETE, OPTIONS; POST, PATCH */
    const char *url;
    const struct ebb_strs *headers; /* "Name: value", NULL none */
    struct ebb_str body;
    size_t answer_bytes;  /* greatest body; 0: 8 MiB (headers: 64 KiB) */
    unsigned deadline_ms; /* of all tries together; 0: 60,000 */
    unsigned try_ms;      /* of one try; 0: 20,000 */
    unsigned tries;       /* at most; 0: 4 */
    /* back-off, doubled each time, of which the jitter takes up to a half; 0: 250, 10,000. Retry-After counts when it
     * is longer. A pause that would end after the deadline is not begun: the last answer or error is the result. */
    unsigned first_wait_ms, max_wait_ms;
    bool can_repeat; /* a POST or PATCH may be sent again; else only when nothing was sent (no connection) */
    bool is_once;    /* no new connection takes the place of a dead one behind the caller's back: sent once a try, on a
                        connection of its own; and repeated only when nothing was sent */
    uint64_t seed;   /* of the jitter, so that it can be repeated */
};
struct ebb_http_result {
    int status; /* 0: no answer, the error tells */
    const struct ebb_strs *headers;
    struct ebb_str body;
    unsigned tries;
};
/* A header of the answer by name in any case, without leading blanks; NULL when it is missing. Borrowed. */
const char *ebb_http_result_header(const struct ebb_http_result *result, const char *name);
/* Exactly once, never from inside of start. err is EBB_OK when there is an answer, of any status. Else EBB_EIO (host,
 * what failed; retryable: may be over soon), EBB_ECANCELLED, EBB_ELIMIT (answer too long), EBB_ENOMEM. Borrowed during
 * the call; the request is gone after it. */
typedef void ebb_http_call_cb(void *data, const struct ebb_http_result *result, const struct ebb_err *err);
struct ebb_http_request;
/* All of call is copied. *out (out may be NULL) lives until the callback returns. EBB_EUSAGE (method, URL, header),
 * EBB_ECANCELLED (the client is closing), EBB_ENOMEM: then no callback comes. */
int ebb_http_start(struct ebb_http_client *client, const struct ebb_http_call *call, ebb_http_call_cb *cb, void *data,
                   struct ebb_http_request **out, struct ebb_err *err);
/* The callback comes with EBB_ECANCELLED, never from inside of cancel. */
void ebb_http_cancel(struct ebb_http_request *request);

#endif
