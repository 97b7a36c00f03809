/* SPDX-License-Identifier: Apache-2.0
 *
 * The dispatcher: what happens to a request on the loop, before and after its handler ran in a worker thread.
 */
#include "service/api.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "service/api_priv.h"

#define LOG_LINES_A_SECOND 20
#define QUESTIONS_MAX 2 /* at one time: one thread less than the pool has */
#define WAITING_MAX 1000

const struct ebb_api_part EBB_API_PARTS[] = {
    {EBB__API_SERVICE_ROUTES, "/", ebb_api_problem, true},
    {EBB__API_TABLE_ROUTES, "/api/tables", ebb_api_problem, true},
    {EBB__API_ASK_ROUTES, "/api/next", ebb_api_problem, true},
    {EBB__API_RECORD_ROUTES, "/api/plans", ebb_api_problem, true},
    {EBB__API_RUN_ROUTES, "/api/runs", ebb_api_problem, true},
    {EBB__API_JOB_ROUTES, "/api/jobs", ebb_api_problem, true},
    {EBB__API_EVENT_ROUTES, "/api/events", ebb_api_problem, true},
    {EBB__API_ADMIN_ROUTES, "/api/tokens", ebb_api_problem, true},
    {EBB_GRAVITINO_ROUTES, "/api/metalakes", ebb_gravitino_problem, false},
    {NULL, "/api/version", ebb_gravitino_problem, false},
    {NULL, "/api/health", ebb_gravitino_problem, false},
    {NULL, "/health", ebb_gravitino_problem, false},
    {NULL, NULL, NULL, false},
};

/* ---- life ---- */

static int copy_serve(struct ebb_api *api, const struct ebb_serve_config *serve, struct ebb_err *err)
{
    memset(&api->serve, 0, sizeof api->serve);
    api->serve.auth = strdup(serve->auth ? serve->auth : "token");
    return api->serve.auth ? 0 : ebb_err_nomem(err);
}

int ebb_api_new(uv_loop_t *loop, const struct ebb_api_options *options, struct ebb_api **out, struct ebb_err *err)
{
    struct ebb_api *api = calloc(1, sizeof *api);
    int rc;

    *out = NULL;
    if (!api)
        return ebb_err_nomem(err);
    api->loop = loop;
    api->options = *options;
    rc = copy_serve(api, options->serve, err);
    api->options.serve = &api->serve;
    if (!rc)
        rc = ebb__api_table_new(&api->table, err);
    if (rc)
        ebb_api_free(api);
    else
        *out = api;
    return rc;
}

void ebb_api_free(struct ebb_api *api)
{
    if (!api)
        return;
    ebb__api_close_streams(api);
    ebb__api_table_fini(&api->table);
    free(api->serve.auth);
    free(api);
}

/* ---- the request ---- */

static void free_secret(char *text)
{
    if (text)
        OPENSSL_cleanse(text, strlen(text));
    free(text);
}

void ebb__api_request_free(struct ebb__api_request *r)
{
    if (r->call.stream_fd >= 0)
        close(r->call.stream_fd);
    ebb_event_list_fini(&r->events);
    ebb_strs_fini(&r->args);
    ebb_strs_fini(&r->headers);
    ebb_buf_fini(&r->shown);
    ebb_strs_fini(&r->call.headers);
    ebb_buf_fini(&r->call.out);
    ebb_value_free(r->query);
    ebb_value_free(r->json);
    free_secret(r->authorization);
    free(r->accept);
    free(r->content_type);
    free(r->idempotency_key);
    free(r->last_event_id);
    free(r);
}

static char *take_header(const struct ebb_http_exchange *x, const char *name)
{
    const char *value = ebb_http_header(x, name);

    return value ? strdup(value) : NULL;
}

/* What events in the binary mode of CloudEvents are read from. Copied, since the handler runs in another thread. */
static int take_event_headers(struct ebb__api_request *r, struct ebb_err *err)
{
    static const char *const NAMES[] = {"ce-specversion", "ce-id",      "ce-source", "ce-type",
                                        "ce-time",        "ce-subject", "ce-table",  "ce-datacontenttype"};
    struct ebb_buf line;
    int rc = 0;

    ebb_buf_init(&line, (size_t)64 << 10);
    for (size_t i = 0; !rc && i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *value = ebb_http_header(r->x, NAMES[i]);

        if (!value)
            continue;
        ebb_buf_reset(&line);
        ebb_buf_printf(&line, "%s: %s", NAMES[i], value);
        rc = ebb_buf_check(&line, NAMES[i], err);
        if (!rc)
            rc = ebb_strs_add(&r->headers, ebb_buf_cstr(&line), err);
    }
    ebb_buf_fini(&line);
    return rc;
}

static void call_begin(struct ebb__api_request *r)
{
    struct ebb_api_call *c = &r->call;

    c->hub = r->api->options.hub;
    c->metrics = r->api->options.metrics;
    c->now_ms = ebb_clock_now(&r->api->options.clock);
    c->method = ebb_http_method(r->x);
    c->path = ebb_http_path(r->x);
    c->peer = ebb_http_peer(r->x);
    c->content_type = r->content_type;
    c->idempotency_key = r->idempotency_key;
    c->last_event_id = r->last_event_id;
    c->document = r->api->table.json;
    c->body = ebb_http_body(r->x);
    c->args = &r->args;
    c->status = 200;
    c->answer_type = "application/json";
    c->stream_fd = -1;
    ebb_strs_init(&c->headers);
    ebb_buf_init(&c->out, EBB__API_OUT_MAX);
    snprintf(c->who.name, sizeof c->who.name, "anonymous");
}

static struct ebb__api_request *request_new(struct ebb_api *api, struct ebb_http_exchange *x)
{
    struct ebb__api_request *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->api = api;
    r->x = x;
    r->begun_ms = ebb_clock_elapsed_ms();
    ebb_strs_init(&r->args);
    ebb_strs_init(&r->headers);
    ebb_buf_init(&r->shown, 8192);
    r->authorization = take_header(x, "Authorization");
    r->accept = take_header(x, "Accept");
    r->content_type = take_header(x, "Content-Type");
    r->idempotency_key = take_header(x, "Idempotency-Key");
    r->last_event_id = take_header(x, "Last-Event-ID");
    call_begin(r);
    ebb__api_show_path(r->call.path, &r->shown);
    return r;
}

/* ---- the answer ---- */

bool ebb__api_is_change(const struct ebb__api_request *r)
{
    return strcmp(r->call.method, "GET") != 0 && strcmp(r->call.method, "HEAD") != 0;
}

/* Who is turned away again and again does not fill the log. */
static bool may_log(struct ebb_api *api)
{
    int64_t second = ebb_clock_elapsed_ms() / 1000;

    if (second != api->log_second_ms) {
        if (api->log_lost)
            ebb_log_say(&api->options.log, EBB_LOG_WARN, "api: %lld more requests were refused",
                        (long long)api->log_lost);
        api->log_second_ms = second;
        api->log_lines = api->log_lost = 0;
    }
    if (api->log_lines++ < LOG_LINES_A_SECOND)
        return true;
    api->log_lost++;
    return false;
}

static void tell(struct ebb__api_request *r)
{
    struct ebb_api *api = r->api;
    int64_t took_ms = ebb_clock_elapsed_ms() - r->begun_ms;
    int status = r->call.status;
    char code[16];

    snprintf(code, sizeof code, "%d", status);
    ebb_metrics_add(api->options.metrics, EBB_METRIC_HTTP_REQUESTS, code, 1);
    ebb_metrics_observe(api->options.metrics, EBB_METRIC_HTTP_SECONDS, (double)took_ms / 1000);
    if ((!ebb__api_is_change(r) && status < 400) || (r->event_count && status < 400) ||
        (status >= 400 && !may_log(api)))
        return;
    ebb_log_say(&api->options.log, status >= 500 ? EBB_LOG_WARN : EBB_LOG_INFO, "api: %s %s by %s from %s: %d, %lld ms",
                r->call.method, ebb_buf_cstr(&r->shown), r->call.who.name, r->call.peer, status, (long long)took_ms);
}

void ebb__api_answer(struct ebb__api_request *r)
{
    struct ebb_http_answer answer;

    if (r->call.out.bad) {
        struct ebb_err err;

        ebb_err_set(&err, EBB_ELIMIT, "the answer: too long");
        ebb_buf_reset(&r->call.out);
        ebb__api_fail(r, 0, &err);
    }
    tell(r);
    if (r->call.stream_fd >= 0) {
        ebb__api_send_file(r);
        return;
    }
    answer = (struct ebb_http_answer){r->call.status, r->call.answer_type, &r->call.headers};
    ebb_http_reply(r->x, &answer, &r->call.out);
    ebb__api_request_free(r);
}

void ebb__api_fail(struct ebb__api_request *r, int status, const struct ebb_err *err)
{
    r->call.status = status ? status : 200;
    ebb_buf_reset(&r->call.out);
    if (r->call.stream_fd >= 0)
        close(r->call.stream_fd);
    r->call.stream_fd = -1;
    r->part->error(&r->call, err);
    if (r->call.status == 429 || r->call.status == 503)
        ebb_strs_add(&r->call.headers, "Retry-After: 1", NULL);
}

/* ---- finding the route ---- */

static const struct ebb_api_part *part_of(const char *path)
{
    const struct ebb_api_part *best = &EBB_API_PARTS[0];

    for (const struct ebb_api_part *p = EBB_API_PARTS; p->prefix; p++)
        if (ebb__api_is_below(path, p->prefix) && strlen(p->prefix) > strlen(best->prefix))
            best = p;
    return best;
}

static bool takes_method(const struct ebb_route *route, const char *method)
{
    return !strcmp(route->method, method) || (!strcmp(method, "HEAD") && !strcmp(route->method, "GET"));
}

static void allow(struct ebb_buf *methods, const char *method)
{
    if (strstr(ebb_buf_cstr(methods), method))
        return;
    ebb_buf_puts(methods, methods->len ? ", " : "");
    ebb_buf_puts(methods, method);
    if (!strcmp(method, "GET"))
        ebb_buf_puts(methods, ", HEAD");
}

/* The first route that takes path and method; without one `methods` tells those that the path has. */
static int find_route(struct ebb__api_request *r, struct ebb_buf *methods, struct ebb_err *err)
{
    const struct ebb__api_table *t = &r->api->table;
    int rc = 0;

    for (size_t i = 0; !rc && !r->entry && i < t->count; i++) {
        const struct ebb_route *route = t->items[i].route;
        bool matches;

        ebb_strs_fini(&r->args);
        rc = ebb__api_match(route->pattern, r->call.path, &r->args, &matches, err);
        if (rc || !matches)
            continue;
        if (takes_method(route, r->call.method))
            r->entry = &t->items[i];
        else
            allow(methods, route->method);
    }
    return rc;
}

static void refuse_method(struct ebb__api_request *r, struct ebb_buf *methods)
{
    struct ebb_buf line;
    struct ebb_err err;

    ebb_buf_init(&line, 256);
    ebb_buf_printf(&line, "Allow: %s", ebb_buf_cstr(methods));
    ebb_strs_add(&r->call.headers, ebb_buf_cstr(&line), NULL);
    ebb_err_set(&err, EBB_EUSAGE, "%.16s: the path has %s", r->call.method, ebb_buf_cstr(methods));
    ebb__api_fail(r, 405, &err);
    ebb_buf_fini(&line);
}

/* False: it was answered. */
static bool find(struct ebb__api_request *r)
{
    struct ebb_buf methods;
    struct ebb_err err;
    int rc;

    r->part = part_of(r->call.path);
    ebb_buf_init(&methods, 128);
    rc = find_route(r, &methods, &err);
    if (!rc && r->entry)
        rc = ebb__api_query(ebb_http_query(r->x), &r->query, &err);
    if (!rc && r->entry)
        rc = take_event_headers(r, &err);
    r->call.query = r->query;
    if (rc) {
        ebb__api_fail(r, rc == -(int)EBB_EUSAGE ? 400 : 503, &err);
    } else if (!r->entry && methods.len) {
        refuse_method(r, &methods);
    } else if (!r->entry) {
        ebb_err_set(&err, EBB_ENOT_FOUND, "%.256s: there is nothing", ebb_buf_cstr(&r->shown));
        ebb_err_hint(&err, "GET /api/openapi.json lists all routes");
        ebb__api_fail(r, 404, &err);
    }
    ebb_buf_fini(&methods);
    if (!rc && r->entry)
        return true;
    ebb__api_answer(r);
    return false;
}

/* ---- through the pool ---- */

/* Handlers whose answer is made on the loop, once the request was found good. */
static const struct {
    ebb_api_handler *handler;
    void (*finish)(struct ebb__api_request *r);
} FINISHERS[] = {
    {ebb__api_stream_get, ebb__api_open_stream},
    {ebb__api_events_post, ebb__api_take_events},
    {ebb__api_report_post, ebb__api_take_events},
};

/* Who may only ask can take long: there is always a thread for who steers. */
static bool is_question(const struct ebb__api_request *r)
{
    return r->entry->route->role <= EBB_ROLE_VIEW;
}

static void finish(struct ebb__api_request *r)
{
    for (size_t i = 0; r->call.status < 400 && i < sizeof FINISHERS / sizeof FINISHERS[0]; i++)
        if (FINISHERS[i].handler == r->entry->route->handler) {
            FINISHERS[i].finish(r);
            return;
        }
    ebb__api_answer(r);
}

static void refuse_full(struct ebb__api_request *r)
{
    struct ebb_err err;

    ebb_err_set(&err, EBB_ELIMIT, "too many requests wait");
    ebb__api_fail(r, 503, &err);
    ebb__api_answer(r);
}

static void done(void *data);

/* Into the pool, or answered that it can't be. */
static void post(struct ebb__api_request *r)
{
    struct ebb_api *api = r->api;
    bool asks = is_question(r);
    struct ebb_err err;

    if (!ebb_pool_post(api->options.pool, ebb__api_work, done, r, &err)) {
        api->asking += asks;
        return;
    }
    refuse_full(r);
}

static void done(void *data)
{
    struct ebb__api_request *r = data;
    struct ebb_api *api = r->api;

    api->asking -= is_question(r);
    finish(r);
    while (api->first && api->asking < QUESTIONS_MAX) {
        r = api->first;
        api->first = r->next;
        api->waiting--;
        post(r);
    }
}

static void put_behind(struct ebb__api_request *r)
{
    struct ebb_api *api = r->api;

    if (api->first)
        api->last->next = r;
    else
        api->first = r;
    api->last = r;
    api->waiting++;
}

static bool is_of_loop(const struct ebb_route *route)
{
    return route->handler == ebb__api_health_get || route->handler == ebb__api_ready_get;
}

void ebb_api_handle(void *data, struct ebb_http_exchange *x)
{
    struct ebb_api *api = data;
    struct ebb__api_request *r = request_new(api, x);

    if (!r) {
        struct ebb_http_answer answer = {503, NULL, NULL};
        struct ebb_buf none;

        ebb_buf_init(&none, 1);
        ebb_http_reply(x, &answer, &none);
        return;
    }
    if (!find(r))
        return;
    if (is_of_loop(r->entry->route)) {
        ebb__api_work(NULL, r);
        ebb__api_answer(r);
    } else if (!is_question(r) || api->asking < QUESTIONS_MAX) {
        post(r);
    } else if (api->waiting < WAITING_MAX) {
        put_behind(r);
    } else {
        refuse_full(r);
    }
}
