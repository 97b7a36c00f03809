/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP/1.1 server: libmicrohttpd in external epoll mode, watched by a libuv loop. It reads whole requests within
 * limits and hands them to one handler; the answer may come later. Knows nothing of what is served: no routes, no
 * authentication. Everything runs on the loop's thread.
 *
 * Against hostile peers: limits of connections (all, and per address), of header and body bytes, of the time that a
 * request may take to arrive and an answer to be taken (slow peers are dropped), of requests per second and address
 * (429 with Retry-After). A request that breaks HTTP (bad Content-Length, both lengths, NUL, control characters in a
 * target, no Host in 1.1, an absolute target of another host) is answered 400 and the connection closed. Host and
 * Origin are checked here against DNS rebinding: a Host that is not one of ours (localhost, a loopback address, the
 * address that the connection came to, options.hosts; any port) is 421, an Origin that is neither the request's own
 * host and port nor one of options.hosts is 403. Answers to such errors are made by `problem`; what libmicrohttpd finds
 * by itself (a first line or a chunk that can't be read) has a short page of its own, or none.
 */
#ifndef EBB_IO_HTTP_SERVER_H
#define EBB_IO_HTTP_SERVER_H

#include <uv.h>

#include "base/buf.h"
#include "base/clock.h"

struct ebb_http_server;
struct ebb_http_exchange; /* one request and its answer */

typedef void ebb_http_handler_cb(void *data, struct ebb_http_exchange *x);
struct ebb_http_limits {
    unsigned connections, connections_per_address; /* 0: 512, 64 */
    size_t header_bytes, body_bytes;               /* 0: 32 KiB, 8 MiB; a larger body is 413, headers 431 */
    unsigned request_ms;     /* the whole request must have come by then, from its first line on; 0: 30,000 */
    unsigned idle_ms;        /* keep-alive, and an answer that is not taken; 0: 30,000 */
    unsigned requests_per_s; /* of one address (of IPv6 its /64), after a burst of ten times that; 0: 1,000 */
};
struct ebb_http_server_options {
    const char *listen;     /* "127.0.0.1:8490", "[::1]:0" */
    int fd;                 /* a listening socket that was handed over (systemd; the server's once it is open), -1 */
    const char *cert, *key; /* files with PEM, both NULL: no TLS */
    const struct ebb_strs *hosts; /* names that Host may have besides the address and localhost; NULL none */
    struct ebb_http_limits limits;
    ebb_http_handler_cb *handler; /* a whole request is here; answer it now or later, exactly once */
    /* The body of the server's own error answers; NULL: plain text. */
    void (*problem)(void *data, int status, const char *why, struct ebb_buf *body, const char **content_type);
    void *data;
    struct ebb_log log;
};
/* EBB_EUSAGE (address), EBB_EIO (in use …), EBB_ECONFIG (certificate), EBB_ENOMEM. */
int ebb_http_server_open(uv_loop_t *loop, const struct ebb_http_server_options *options, struct ebb_http_server **out,
                         struct ebb_err *err);
/* "127.0.0.1:8490" with the port that was really taken. Borrowed. */
const char *ebb_http_server_address(const struct ebb_http_server *server);
/* The same of a socket that was handed over, before a server is opened on it. EBB_EUSAGE: it is none of the internet;
 * EBB_EIO. */
int ebb_http_bound(int fd, char *text, size_t n, struct ebb_err *err);
/* Counters since start, for metrics. */
struct ebb_http_counts {
    int64_t connections_open, connections, requests, refused;
};
void ebb_http_server_counts(const struct ebb_http_server *server, struct ebb_http_counts *out);
/* Take no new connections and requests; answers that are under way are given up after grace_ms. closed is called on the
 * loop when everything is gone and the server is free. */
void ebb_http_server_close(struct ebb_http_server *server, unsigned grace_ms, void (*closed)(void *data), void *data);

/* ---- the request; all borrowed while the exchange lives ---- */
const char *ebb_http_method(const struct ebb_http_exchange *x);
/* The path as it came, percent-encoded, without query. */
const char *ebb_http_path(const struct ebb_http_exchange *x);
/* The query as it came, without '?', "" none. */
const char *ebb_http_query(const struct ebb_http_exchange *x);
/* A header by name in any case, NULL when it is missing. A header that came twice and may not (Host, Content-Length,
 * Content-Type, Authorization) was refused. */
const char *ebb_http_header(const struct ebb_http_exchange *x, const char *name);
struct ebb_str ebb_http_body(const struct ebb_http_exchange *x);
/* Numeric address without port, for audit and log. */
const char *ebb_http_peer(const struct ebb_http_exchange *x);
bool ebb_http_is_loopback(const struct ebb_http_exchange *x);
bool ebb_http_is_tls(const struct ebb_http_exchange *x);

/* ---- the answer, exactly one of these ---- */
struct ebb_http_answer {
    int status;
    const char *content_type;       /* NULL: no body */
    const struct ebb_strs *headers; /* "Name: value" further ones, checked for line ends; NULL none. Copied. */
};
/* A whole body; its memory is taken over and the buffer empty afterwards. Content-Length is set. HEAD gets no body. */
void ebb_http_reply(struct ebb_http_exchange *x, const struct ebb_http_answer *answer, struct ebb_buf *body);
/* A body that comes in pieces (chunked). pull is called on the loop when more can be taken: it calls
 * ebb_http_stream_push / _end now or later, once for each pull. stop is called exactly once, when the answer is over or
 * the peer gone: nothing is pushed after it. The exchange lives until stop returns. */
struct ebb_http_stream {
    void (*pull)(void *data, struct ebb_http_exchange *x);
    void (*stop)(void *data);
    void *data;
};
void ebb_http_reply_stream(struct ebb_http_exchange *x, const struct ebb_http_answer *answer,
                           const struct ebb_http_stream *stream);
/* One more piece, copied; more than 1 MiB that was not taken yet ends a stream that does not wait for pull. */
void ebb_http_stream_push(struct ebb_http_exchange *x, struct ebb_str piece);
void ebb_http_stream_end(struct ebb_http_exchange *x);

#endif
