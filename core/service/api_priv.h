/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the HTTP interfaces: paths and queries, the document, one request on its way, and helpers of
 * handlers.
 */
#ifndef EBB_SERVICE_API_PRIV_H
#define EBB_SERVICE_API_PRIV_H

#include "io/catalog.h"
#include "io/store_jobs.h"
#include "service/api.h"
#include "service/daemon.h"

#define EBB__API_PATH_PARTS_MAX 32
#define EBB__API_QUERY_MAX 64
#define EBB__API_OUT_MAX ((size_t)64 << 20)
#define EBB__API_BODY_MAX ((size_t)1 << 20) /* of the own interface, but for events */
#define EBB__API_LIMIT 100                  /* items of a list when nothing else is asked for */
#define EBB__API_LIMIT_MAX 1000
#define EBB__API_HANDLER_MS 30000 /* a handler that reads tables is stopped then */
#define EBB__API_STREAMS_MAX 64
#define EBB__API_STREAM_BEAT_MS 15000
#define EBB__API_STREAM_LIFE_MS (3600 * (int64_t)1000)

/* ---- paths, queries ---- */

/* Append what a percent-encoded text stands for; plus: '+' is a blank. EBB_EUSAGE: a bad escape, NUL, no UTF-8. */
int ebb__api_decode(const char *text, size_t n, bool plus, struct ebb_buf *out, struct ebb_err *err);
/* Append a path as it may stand in logs: without what looks like one of our tokens, and not too long. */
void ebb__api_show_path(const char *path, struct ebb_buf *out);
/* Whether a path is below a prefix, or it, by whole parts. */
bool ebb__api_is_below(const char *path, const char *prefix);
/* Take a path by a pattern; *matches. args gets the decoded parts that are named. EBB_EUSAGE as of decode. A '/' that
 * was encoded separates nothing. */
int ebb__api_match(const char *pattern, const char *path, struct ebb_strs *args, bool *matches, struct ebb_err *err);
/* A query as a map of texts; the caller frees. EBB_EUSAGE: too many, or as of decode. */
int ebb__api_query(const char *query, struct ebb_value **out, struct ebb_err *err);
/* Whether an Accept header (NULL: everything) takes a media type; JSON is taken by problem+json and the compatible
 * interface's own type, too. */
bool ebb__api_accepts(const char *accept, const char *type);
/* Whether a Content-Type header names this media type, whatever its parameters. */
bool ebb__api_is_type(const char *content_type, const char *type);

/* ---- the document ---- */

/* A route with all that belongs to it. */
struct ebb__api_entry {
    const struct ebb_api_part *part;
    const struct ebb_route *route;
    const struct ebb_value *operation; /* in the document, NULL: not in it */
};
struct ebb__api_table {
    struct ebb__api_entry *items;
    size_t count;
    struct ebb_value *document;
    char *json; /* text of the document */
};
int ebb__api_table_new(struct ebb__api_table *out, struct ebb_err *err);
void ebb__api_table_fini(struct ebb__api_table *table);
/* Components of the document: a JSON object with ' for ". */
extern const char *const EBB__API_COMPONENTS[]; /* NULL at the end; each {'name': {…}, …} of schemas */
extern const char EBB__API_PARAMETERS[];        /* the same of parameters */

/* Check a value against a schema of the document (the part of JSON Schema that the document uses). EBB_EUSAGE:
 * "<where>: <why>". */
int ebb__api_check(const struct ebb_value *document, const struct ebb_value *schema, const struct ebb_value *value,
                   const char *where, struct ebb_err *err);
/* The query of a request against the parameters of an operation. */
int ebb__api_check_query(const struct ebb_value *document, const struct ebb_value *operation,
                         const struct ebb_value *query, struct ebb_err *err);
/* Read a body that the operation's JSON schema describes; *out NULL: it is empty and need not be given. */
int ebb__api_read_body(const struct ebb_value *document, const struct ebb_value *operation, struct ebb_str body,
                       struct ebb_value **out, struct ebb_err *err);

/* ---- one request ---- */

struct ebb__api_request {
    struct ebb_api *api;
    struct ebb_http_exchange *x;
    const struct ebb__api_entry *entry; /* NULL: no route */
    const struct ebb_api_part *part;    /* that makes errors */
    struct ebb_strs args;
    struct ebb_value *query, *json;
    char *authorization, *accept, *content_type, *idempotency_key, *last_event_id; /* NULL none */
    struct ebb_buf shown;    /* the path for logs: what looks like a token is left out */
    struct ebb_strs headers; /* "name: value" of those that events are read from */
    struct ebb_api_call call;
    struct ebb_event_list events; /* to be taken in on the loop */
    size_t event_count;
    int64_t begun_ms;              /* of ebb_clock_elapsed_ms */
    struct ebb__api_request *next; /* that waits */
};
struct ebb_api {
    uv_loop_t *loop;
    struct ebb_api_options options;
    struct ebb_serve_config serve;
    struct ebb__api_table table;
    struct ebb__api_stream *streams; /* open ones */
    size_t stream_count;
    uv_timer_t *beat; /* NULL: no stream was ever opened */
    int64_t log_second_ms, log_lines, log_lost;
    struct ebb__api_request *first, *last; /* questions that wait */
    size_t waiting, asking;                /* how many wait, and are in the pool */
};
/* Whether it may change something: anything but GET and HEAD. */
bool ebb__api_is_change(const struct ebb__api_request *r);
/* Run it in a worker: context is a struct ebb_worker or NULL. */
void ebb__api_work(void *context, void *request);
/* The error as the part's interface tells it; status 0: it follows from the error. */
void ebb__api_fail(struct ebb__api_request *r, int status, const struct ebb_err *err);
/* Answer with what the call has, tell log and metrics, and free the request. */
void ebb__api_answer(struct ebb__api_request *r);
void ebb__api_request_free(struct ebb__api_request *r);
/* What routes do that end on the loop; each answers. */
void ebb__api_open_stream(struct ebb__api_request *r);
void ebb__api_take_events(struct ebb__api_request *r);
/* A body out of a file. Takes the call's stream_fd over. */
void ebb__api_send_file(struct ebb__api_request *r);
void ebb__api_close_streams(struct ebb_api *api);

/* ---- helpers of handlers ---- */

/* The value of a query parameter, or NULL. */
const char *ebb__api_query_of(const struct ebb_api_call *call, const char *name);
/* A number that the document checked, or otherwise. */
int64_t ebb__api_query_int(const struct ebb_api_call *call, const char *name, int64_t otherwise);
struct ebb_store *ebb__api_store(const struct ebb_api_call *call);
/* Set an error that says which thing is not there. */
int ebb__api_not_found(struct ebb_err *err, const char *what, const char *name);
void ebb__api_time(struct ebb_jsonw *w, const char *key, int64_t ms); /* ISO; left out when it is 0 */
/* Left out when it is NULL or "". */
void ebb__api_text(struct ebb_jsonw *w, const char *key, const char *text);
/* Append text to the answer as a value: JSON text as it is when it can be read, else null. */
void ebb__api_json(struct ebb_jsonw *w, const char *key, const char *json);

/* A page of a list: {"items":[…],"cursor":"…"}; the cursor is missing at the end. */
struct ebb__api_page {
    struct ebb_jsonw w;
    int64_t limit, count;
    bool is_full;          /* one more came than is given */
    struct ebb_buf cursor; /* of the last item that is given */
};
/* Begin: limit from the query. */
void ebb__api_page_begin(struct ebb__api_page *page, struct ebb_api_call *call);
/* Before each item: false: no more are taken. position: what the next page goes on after. */
bool ebb__api_page_add(struct ebb__api_page *page, const char *position);
void ebb__api_page_end(struct ebb__api_page *page);
/* What the cursor of the query says; *found false: none. EBB_EUSAGE when it is none of ours. */
int ebb__api_cursor(const struct ebb_api_call *call, struct ebb_buf *position, bool *found, struct ebb_err *err);

/* ---- pieces of documents ---- */

#define EBB__API_LIST_PARAMETERS                                                                                       \
    "{'$ref':'#/components/parameters/limit'},{'$ref':'#/components/parameters/cursor'},"                              \
    "{'$ref':'#/components/parameters/order'},{'$ref':'#/components/parameters/since'},"                               \
    "{'$ref':'#/components/parameters/table'},{'$ref':'#/components/parameters/policy'},"
#define EBB__API_ONCE "'parameters':[{'$ref':'#/components/parameters/idempotency'}],"
#define EBB__API_QUEUED "'answer':{'202':{'$ref':'#/components/schemas/Job'}}"
#define EBB__API_OPTIONAL_BODY(properties)                                                                             \
    "'requestBody':{'content':{'application/json':{'schema':{'type':'object','additionalProperties':false,"            \
    "'properties':{" properties "}}}}},"

/* ---- records ---- */

/* A copy of a record. */
struct ebb__api_taken {
    struct ebb_arena arena;
    struct ebb_record record;
    bool is_there;
};
/* By its whole id. EBB_ENOT_FOUND. */
int ebb__api_take(const struct ebb_api_call *call, enum ebb_record_kind kind, const char *id,
                  struct ebb__api_taken *out, struct ebb_err *err);
void ebb__api_taken_fini(struct ebb__api_taken *taken);
/* As an object; is_whole: with its document as "record". */
void ebb__api_record(struct ebb_jsonw *w, enum ebb_record_kind kind, const struct ebb_record *r, bool is_whole);
/* The query's since (an instant; 0 none), and whether its order is oldest first. */
int ebb__api_since(const struct ebb_api_call *call, int64_t *out, struct ebb_err *err);
bool ebb__api_is_ascending(const struct ebb_api_call *call);
int ebb__api_plans_get(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_runs_get(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_run_get(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_decisions_get(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_decision_get(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_explain_get(struct ebb_api_call *call, struct ebb_err *err);

/* ---- jobs ---- */

/* Put a job that was asked for into the store, tell the daemon, answer 202 with it. kind, table, uuid, policy, parent
 * and json are of the job; the same Idempotency-Key within a day gives the same job again: EBB_EEXIST when that one was
 * another. */
int ebb__api_put_job(struct ebb_api_call *call, const struct ebb_job_record *job, struct ebb_err *err);
/* Whether one more job may be asked for. EBB_ELIMIT, with the status 503: too many wait. */
int ebb__api_check_room(struct ebb_api_call *call, const char *json, struct ebb_err *err);
/* Append the occurrence that the request's Idempotency-Key stands for, without its day; nothing when it has none.
 * EBB_EUSAGE: a bad key. */
int ebb__api_once(const struct ebb_api_call *call, struct ebb_buf *out, struct ebb_err *err);
int ebb__api_jobs_post(struct ebb_api_call *call, struct ebb_err *err);
/* The job as an object. */
void ebb__api_job(struct ebb_jsonw *w, const struct ebb_job_record *job, bool is_whole);

/* ---- tables ---- */

struct ebb_coming_fire; /* preview.h */
/* A table of a configured catalog by its dotted name; never a path. The caller ends *out, also after an error.
 * EBB_ETABLE_NOT_FOUND, EBB_ECATALOG_UNKNOWN, the table's problem. */
int ebb__api_find_table(const struct ebb_api_call *call, const char *label, struct ebb_table_ref *out,
                        struct ebb_err *err);
void ebb__api_fire(struct ebb_jsonw *w, const struct ebb_coming_fire *f);

extern const struct ebb_route EBB__API_RECORD_ROUTES[];
extern const struct ebb_route EBB__API_RUN_ROUTES[];
extern const struct ebb_route EBB__API_JOB_ROUTES[];
extern const struct ebb_route EBB__API_TABLE_ROUTES[];
extern const struct ebb_route EBB__API_ASK_ROUTES[];
extern const struct ebb_route EBB__API_ADMIN_ROUTES[];
extern const struct ebb_route EBB__API_EVENT_ROUTES[];
extern const struct ebb_route EBB__API_SERVICE_ROUTES[]; /* /healthz, /readyz, /metrics, /api/status … */

/* Handlers of routes that end on the loop. */
int ebb__api_events_post(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_report_post(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_stream_get(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_health_get(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_ready_get(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_status_get(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_metrics_get(struct ebb_api_call *call, struct ebb_err *err);
int ebb__api_document_get(struct ebb_api_call *call, struct ebb_err *err);

#endif
