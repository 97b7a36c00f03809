/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the HTTP server: what its parts share. One server has connections (one per socket), a connection has at
 * most one exchange at a time. libmicrohttpd owns the sockets; an exchange owns copies of all it gives out, as it may
 * outlive its connection and the server.
 */
#ifndef EBB_IO_HTTP_SERVER_PRIV_H
#define EBB_IO_HTTP_SERVER_PRIV_H

#include <microhttpd.h>
#include <netinet/in.h>

#include "io/http_authority.h"
#include "io/http_server.h"

enum {
    EBB__HTTPD_HEADERS_MAX = 128,
    EBB__HTTPD_LINGERS_MAX = 64, /* sockets that are read empty after a refusal, so that it is not lost */
    EBB__HTTPD_LINGER_MS = 2000,
    EBB__HTTPD_PUSHED_MAX = 1 << 20, /* bytes of a stream that wait without having been asked for */
    EBB__HTTPD_BODIES = 8            /* bodies of the greatest size that all requests together may hold */
};

/* ---- addresses: how many connections and requests come from each (http_server_limit.c) ---- */
struct ebb__httpd_address {
    struct ebb__httpd_address *next_in_hash;
    struct ebb__httpd_address *prev, *next; /* by last use, newest first */
    uint64_t key;                           /* an IPv4 address, or the first half of an IPv6 one */
    bool is_v6;
    unsigned connections;
    uint64_t at_ms;
    int64_t tokens; /* thousandths of requests that may come at once */
};
enum { EBB__HTTPD_HASH_SIZE = 512, EBB__HTTPD_ADDRESSES_MAX = 1024 };
struct ebb__httpd_addresses {
    struct ebb__httpd_address *hash[EBB__HTTPD_HASH_SIZE];
    struct ebb__httpd_address *newest, *oldest;
    size_t count;
    uint64_t seed;
};
void ebb__httpd_addresses_init(struct ebb__httpd_addresses *all);
void ebb__httpd_addresses_fini(struct ebb__httpd_addresses *all);
/* The entry of an address, made when it is missing; the one longest unused and without a connection makes room. NULL:
 * out of memory. */
struct ebb__httpd_address *ebb__httpd_address_get(struct ebb__httpd_addresses *all, const struct sockaddr *sa,
                                                  unsigned requests_per_s, uint64_t now_ms);
/* Whether one more request is within the rate; takes it from the allowance. */
bool ebb__httpd_address_allows(struct ebb__httpd_address *a, unsigned requests_per_s, uint64_t now_ms);

/* ---- a connection (http_server_conn.c) ---- */
struct ebb__httpd_conn {
    struct ebb__httpd_conn *prev, *next;
    struct ebb_http_server *server;
    struct ebb__httpd_address *from;
    struct ebb_http_exchange *x; /* NULL between two requests */
    int fd;                      /* libmicrohttpd's */
    uint64_t deadline_ms;        /* of the loop, for the request that comes; 0: none */
    bool lingers;                /* refused with a body on its way */
    bool is_loopback;
    char peer[INET6_ADDRSTRLEN], local[INET6_ADDRSTRLEN];
};
void ebb__httpd_notify_connection(void *server, struct MHD_Connection *mhd, void **context,
                                  enum MHD_ConnectionNotificationCode code);
enum MHD_Result ebb__httpd_accept(void *server, const struct sockaddr *sa, socklen_t n);
/* Close the sockets whose request did not come in time, or whose peer is gone and nothing else would notice. */
void ebb__httpd_conns_sweep(struct ebb_http_server *server);
/* End a connection: what libmicrohttpd has not sent yet is lost. */
void ebb__httpd_conn_end(struct ebb__httpd_conn *conn);
/* Numeric text of an address, IPv4 also where it is mapped into IPv6. */
void ebb__httpd_address_text(const struct sockaddr *sa, char text[INET6_ADDRSTRLEN]);

/* ---- sockets that are read empty (http_server_linger.c) ---- */
struct ebb__httpd_linger;
void ebb__httpd_linger_start(struct ebb_http_server *server, int fd);
void ebb__httpd_lingers_end(struct ebb_http_server *server);

/* ---- an exchange ---- */
struct ebb__httpd_header {
    const char *name, *value;
};
enum ebb__httpd_stage { EBB__HTTPD_HEAD, EBB__HTTPD_BODY, EBB__HTTPD_HANDED, EBB__HTTPD_QUEUED };
struct ebb_http_exchange {
    struct ebb_http_server *server; /* NULL, as conn and mhd, once the request is over for libmicrohttpd */
    struct ebb__httpd_conn *conn;
    struct MHD_Connection *mhd;
    enum ebb__httpd_stage stage;
    bool is_suspended, is_answered, is_tls, is_loopback;
    /* the request; texts are in the arena */
    struct ebb_arena arena;
    const char *raw_target; /* where libmicrohttpd has it, for the check of the bytes around it */
    size_t raw_target_n;
    const char *method, *target, *path, *query, *peer;
    struct ebb__httpd_header *headers;
    size_t header_count;
    struct ebb_buf body;
    size_t body_excess; /* bytes beyond the limit that were thrown away */
    /* the answer */
    int status;
    struct MHD_Response *response;
    struct ebb_http_stream stream;
    bool is_stream, is_pulling, is_ended, is_broken;
    struct ebb_buf pushed;
    size_t pushed_at; /* bytes of it that were taken */
};
void *ebb__httpd_uri(void *server, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result ebb__httpd_access(void *server, struct MHD_Connection *mhd, const char *url, const char *method,
                                  const char *version, const char *bytes, size_t *n, void **context);
void ebb__httpd_notify_completed(void *server, struct MHD_Connection *mhd, void **context,
                                 enum MHD_RequestTerminationCode code);
void ebb__httpd_exchange_free(struct ebb_http_exchange *x);

/* Copy and judge what came before the body (http_server_check.c). 0, or the status of the refusal with *why. */
int ebb__httpd_check_head(struct ebb_http_exchange *x, const char *method, const char *version, const char **why);

/* Answer with an error of the server's own and close the connection. For the access handler to return. */
enum MHD_Result ebb__httpd_refuse(struct ebb_http_exchange *x, int status, const char *why);
/* Hand the response that was made to libmicrohttpd. For the access handler to return. */
enum MHD_Result ebb__httpd_queue(struct ebb_http_exchange *x);
/* The handler's answer: give it its headers and let it go; a plain 500 when response is NULL or a header not valid. */
void ebb__httpd_give(struct ebb_http_exchange *x, struct MHD_Response *response, const struct ebb_http_answer *answer);
/* Give a response its headers; false when one of them is not valid. */
bool ebb__httpd_add_headers(struct ebb_http_exchange *x, struct MHD_Response *response,
                            const struct ebb_http_answer *answer);
/* Let libmicrohttpd go on with the exchange. */
void ebb__httpd_resume(struct ebb_http_exchange *x);

/* ---- the server (http_server.c) ---- */
struct ebb_http_server {
    uv_loop_t *loop;
    struct ebb_http_server_options options; /* its texts are NULL after opening */
    bool is_tls;
    bool is_layout_known; /* this libmicrohttpd keeps a request's bytes where it found them, see http_server_check.c */
    struct ebb_strs hosts;
    struct MHD_Daemon *mhd;
    uv_poll_t poll;
    uv_timer_t timer, sweep, grace;
    unsigned spins;      /* runs right after each other that did nothing */
    uint64_t run_ms;     /* of the last one */
    bool has_progressed; /* something was read or made since */
    bool has_resumed;    /* a connection may go on, which libmicrohttpd sees when it runs */
    struct ebb__httpd_addresses addresses;
    struct ebb__httpd_conn *conns;
    struct ebb__httpd_linger *lingers;
    size_t linger_count;
    size_t body_bytes; /* that requests hold now */
    struct ebb_http_counts counts;
    char address[INET6_ADDRSTRLEN + 16];
    char message[256]; /* the last one of libmicrohttpd */
    bool is_closing, is_ended;
    unsigned open_handles;
    void (*closed)(void *data);
    void *closed_data;
};
/* Run libmicrohttpd once more soon. */
void ebb__httpd_wake(struct ebb_http_server *server);
/* The handle of a part of the server is gone; the last one frees the server. */
void ebb__httpd_handle_closed(struct ebb_http_server *server);

/* ---- listening (http_server_listen.c) ---- */
/* A listening socket as the options say, in *fd. EBB_EUSAGE, EBB_EIO. */
int ebb__httpd_listen(const struct ebb_http_server_options *options, int *fd, struct ebb_err *err);

#endif
