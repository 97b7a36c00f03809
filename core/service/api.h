/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP interfaces: routes as data (method, pattern, role, handler, its description for the OpenAPI document), and
 * one dispatcher for all. A handler runs in a worker thread, with that thread's workspace; it reads a request and makes
 * an answer, and tells the daemon through the hub. Each interface lists its routes next to their handlers.
 */
#ifndef EBB_SERVICE_API_H
#define EBB_SERVICE_API_H

#include "io/http_server.h"
#include "io/pool.h"
#include "service/auth.h"
#include "service/events.h"
#include "service/generation.h"
#include "service/hub.h"
#include "service/metrics.h"
#include "service/workspace.h"

/* What a handler has. */
struct ebb_api_call {
    /* of the thread and the daemon, borrowed */
    struct ebb_workspace *ws;
    struct ebb_generation *generation;
    struct ebb_hub *hub;
    struct ebb_metrics *metrics;
    int64_t now_ms;
    /* the request */
    const char *method, *path, *peer;
    struct ebb_principal who;
    const char *content_type; /* NULL none */
    struct ebb_str body;
    const struct ebb_strs *args;   /* parts of the path that the pattern names, decoded, in order */
    const struct ebb_value *query; /* map of texts (the last of a name), decoded */
    const struct ebb_value *json;  /* own interface: the body, checked by the schema of the route; NULL: none */
    const char *idempotency_key;   /* NULL none */
    const char *last_event_id;     /* NULL none */
    const char *document;          /* the OpenAPI document, JSON text */
    /* the answer: 200 and application/json at first */
    int status;
    const char *answer_type; /* NULL: no body */
    struct ebb_strs headers; /* "Name: value" */
    struct ebb_buf out;
    int stream_fd; /* -1; else a file whose bytes from stream_from to stream_to are the body, closed by the dispatcher
                    */
    int64_t stream_from, stream_to;
};
typedef int ebb_api_handler(struct ebb_api_call *call, struct ebb_err *err);
/* What an error becomes: own API: problem details (RFC 9457); the compatible one: its own shape. A call->status of 400
 * or more was told by the dispatcher (401, 403, 404 no such route, 405, 406, 415, 503) and stays; else it follows from
 * the error. What the handler had written is gone already; headers that the dispatcher added stay. */
typedef void ebb_api_error_cb(struct ebb_api_call *call, const struct ebb_err *err);

struct ebb_route {
    const char *method;  /* NULL ends a list */
    const char *pattern; /* "/api/plans/{id}/apply": {x} is one part of the path */
    enum ebb_role role;  /* EBB_ROLE_NONE: without any token */
    ebb_api_handler *handler;
    const char *summary; /* one line */
    const char *doc; /* JSON: parameters, requestBody, responses of its OpenAPI operation; NULL: not in the document */
};
struct ebb_api_part {
    const struct ebb_route *routes;
    const char *prefix; /* errors below it (unknown route, 401, 403, 405, 406, 415) are made by its error callback; the
                         * longest prefix of a path counts, whole parts of the path */
    ebb_api_error_cb *error;
    bool is_own; /* queries and bodies are checked by the document, and null is refused */
};
/* The own interface, by noun, and the one that is compatible with Gravitino's; NULL prefix at the end. */
extern const struct ebb_api_part EBB_API_PARTS[];
extern const struct ebb_route EBB_GRAVITINO_ROUTES[]; /* /api/version, /api/metalakes, /api/health */
void ebb_api_problem(struct ebb_api_call *call, const struct ebb_err *err);
void ebb_gravitino_problem(struct ebb_api_call *call, const struct ebb_err *err);

/* The HTTP status that an error has over the own interface (404 for EBB_ENOT_FOUND, 409 for states, 422 refusals …). */
int ebb_api_status(enum ebb_error error);
/* "Not Found" …; "" for a number without a name. */
const char *ebb_api_phrase(int status);
/* The `problem` of the HTTP server's options: problem details too. data is not used. */
void ebb_api_server_problem(void *data, int status, const char *why, struct ebb_buf *body, const char **content_type);

struct ebb_api;
struct ebb_api_options {
    struct ebb_pool *pool; /* context of its threads: struct ebb_worker of daemon.h */
    struct ebb_hub *hub;
    struct ebb_metrics *metrics;
    struct ebb_intake *intake;            /* POST /api/events and metrics reports are taken by it, on the loop */
    const struct ebb_serve_config *serve; /* who must show a token; copied, since that holds until the next start */
    struct ebb_log log;                   /* one access line for each request that changes something or fails */
    struct ebb_clock clock;
};
int ebb_api_new(uv_loop_t *loop, const struct ebb_api_options *options, struct ebb_api **out, struct ebb_err *err);
/* The handler of the HTTP server (data: the api): finds the route, asks who it is, runs the handler in the pool,
 * answers. GET /api/stream (server-sent events) is served on the loop from the hub. */
void ebb_api_handle(void *data, struct ebb_http_exchange *x);
/* End what is streamed until someone goes (GET /api/stream), so that nobody waits for them. */
void ebb_api_end_streams(struct ebb_api *api);
/* All exchanges must be over, and the hub still be there. Its timer is closed in the loop's next turn. */
void ebb_api_free(struct ebb_api *api);

#endif
