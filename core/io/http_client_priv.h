/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the HTTP client. A request is queued at its host, runs when a slot is free, pauses before it is tried
 * again, is done, and is told from its own timer: the caller's callback never runs inside of curl. All on one thread.
 */
#ifndef EBB_IO_HTTP_CLIENT_PRIV_H
#define EBB_IO_HTTP_CLIENT_PRIV_H

#include <curl/curl.h>

#include "io/http_client.h"

#define EBB__HTTP_HOST_MAX 280

enum ebb__http_state {
    EBB__HTTP_QUEUED,  /* its timer is the deadline */
    EBB__HTTP_RUNNING, /* curl has it, and keeps the time */
    EBB__HTTP_PAUSED,  /* its timer is the end of the pause */
    EBB__HTTP_DONE,    /* its timer tells it */
    EBB__HTTP_TOLD
};

/* One for each scheme, host and port that has requests. */
struct ebb__http_host {
    struct ebb__http_host *next;
    unsigned running;
    struct ebb_http_request *first, **end; /* that are queued */
    char key[];
};

struct ebb_http_client {
    uv_loop_t *loop;
    CURLM *multi;
    uv_timer_t timer; /* curl's */
    unsigned handles; /* of libuv that are open: the timer, sockets */
    unsigned per_host;
    char *ca_file, *proxy, *user_agent;
    struct ebb_log log;
    struct ebb__http_host *hosts;
    struct ebb_http_request *requests;
    bool is_closing, is_finishing;
    void (*closed)(void *data);
    void *data;
};

struct ebb_http_request {
    struct ebb_http_client *client;
    struct ebb_http_request *next, **at; /* of all */
    struct ebb_http_request *queue_next;
    struct ebb__http_host *host;
    enum ebb__http_state state;
    uv_timer_t timer;
    CURL *easy;
    struct curl_slist *headers;
    char curl_error[CURL_ERROR_SIZE];
    /* what is asked */
    char *method, *url, *body;
    size_t body_bytes;
    size_t answer_bytes;
    unsigned deadline_ms, try_ms, tries_max, first_wait_ms, max_wait_ms;
    bool may_repeat;
    uint64_t seed;
    int64_t ends_at, paused_until;  /* monotonic ms */
    char where[EBB__HTTP_HOST_MAX]; /* host, and port when it was given */
    ebb_http_call_cb *cb;
    void *data;
    /* what came */
    unsigned tries;
    int status;
    struct ebb_strs answer_headers;
    size_t header_bytes;
    struct ebb_buf answer;
    bool has_head; /* the whole of the headers */
    bool is_too_long, are_headers_too_long, has_no_memory;
    struct ebb_err err;
};

/* ---- http_client_check.c ---- */
/* Whether a call may be sent, and where to: key is scheme, host and port, where the part of it that people may see.
 * Each holds EBB__HTTP_HOST_MAX bytes. EBB_EUSAGE, which repeats nothing that may be a secret. */
int ebb__http_check(const struct ebb_http_call *call, char *key, char *where, struct ebb_err *err);
bool ebb__http_is_idempotent(const char *method);

/* ---- http_client_easy.c ---- */
/* The handle with all that is the same at each try. */
int ebb__http_easy_new(struct ebb_http_request *r, const struct ebb_strs *headers, struct ebb_err *err);
/* Forget what came of the try before. */
void ebb__http_easy_reset(struct ebb_http_request *r, unsigned try_ms);
/* Fill r->status or r->err from how the try ended. Returns how it ended really. */
CURLcode ebb__http_easy_result(struct ebb_http_request *r, CURLcode code);

/* ---- http_client_retry.c ---- */
/* Whether a try that ended like this (r->status, r->err) may be repeated, and after how long. */
bool ebb__http_is_passing(CURLcode code); /* a failure of the connection, which may be over soon */
bool ebb__http_retry(const struct ebb_http_request *r, CURLcode code, unsigned *wait_ms);

/* ---- http_client_queue.c ---- */
/* The host of a key; made when it is new, NULL without memory. */
struct ebb__http_host *ebb__http_host_of(struct ebb_http_client *client, const char *key);
/* It runs when its host has a slot: now or later. */
void ebb__http_enqueue(struct ebb_http_request *r);
/* Take it away from where it waits or runs. */
void ebb__http_leave(struct ebb_http_request *r);
/* Its timer has come. */
void ebb__http_timer(uv_timer_t *timer);
/* A try is over. */
void ebb__http_try_ended(struct ebb_http_request *r, CURLcode code);
/* It will be told at the next turn of the loop. */
void ebb__http_done(struct ebb_http_request *r);
/* Bytes and handles of a request whose timer is closed or was never begun. */
void ebb__http_request_free(struct ebb_http_request *r);

/* ---- http_client_loop.c ---- */
/* Tie curl to the loop. */
int ebb__http_loop_open(struct ebb_http_client *client, struct ebb_err *err);
/* No request is left: let curl go; the client is freed and its end told when all handles are closed. */
void ebb__http_loop_finish(struct ebb_http_client *client);

/* ---- http_client.c ---- */
void ebb__http_client_free(struct ebb_http_client *client);

#endif
