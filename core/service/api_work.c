/* SPDX-License-Identifier: Apache-2.0
 *
 * A request in a worker thread: who asks, whether they may, whether it is well formed; then its handler. What changes
 * something stands in the audit log before it is done, and again with its result.
 */
#include "service/api_priv.h"

/* Those do without a workspace: they must answer when the store can't be opened, too. */
static bool needs_workspace(const struct ebb_route *route)
{
    static ebb_api_handler *const FREE[] = {ebb__api_health_get, ebb__api_ready_get, ebb__api_status_get,
                                            ebb__api_metrics_get, ebb__api_document_get};

    for (size_t i = 0; i < sizeof FREE / sizeof FREE[0]; i++)
        if (route->handler == FREE[i])
            return false;
    return true;
}

static int refuse(struct ebb__api_request *r, int status, struct ebb_err *err)
{
    if (status == 401)
        ebb_strs_add(&r->call.headers, "WWW-Authenticate: Bearer", NULL);
    ebb__api_fail(r, status, err);
    return -1;
}

/* Each of these gives 0, or -1 after it made the answer. */

static int bring_workspace(struct ebb__api_request *r, struct ebb_worker *worker)
{
    struct ebb_err err;
    int rc;

    if (!worker && !needs_workspace(r->entry->route))
        return 0;
    if (!worker) {
        ebb_err_set(&err, EBB_ESTORE, "the service: its state can't be opened now");
        return refuse(r, 503, &err);
    }
    rc = ebb_worker_ready(worker, &err);
    if (rc && needs_workspace(r->entry->route))
        return refuse(r, 503, &err);
    r->call.ws = rc ? NULL : worker->ws;
    r->call.generation = rc ? NULL : worker->generation;
    return 0;
}

static int check_who(struct ebb__api_request *r)
{
    enum ebb_role role = r->entry->route->role;
    bool is_asked = r->authorization || strcmp(r->api->serve.auth, "none") != 0;
    struct ebb_err err;

    if (role == EBB_ROLE_NONE)
        return 0;
    if (is_asked && !r->call.ws) {
        ebb_err_set(&err, EBB_ESTORE, "the service: tokens can't be looked up now");
        return refuse(r, 503, &err);
    }
    if (ebb_auth_check(r->call.ws ? ebb__api_store(&r->call) : NULL, &r->api->serve, r->authorization, r->call.now_ms,
                       &r->call.who, &err))
        return refuse(r, err.error == EBB_EPERMISSION ? 401 : 503, &err);
    if (r->call.who.role >= role)
        return 0;
    ebb_err_set(&err, EBB_EPERMISSION, "%s: the role %s is wanted", r->call.who.name, ebb_role_name(role));
    ebb_err_hint(&err, "take a token made with --role %s; ebb token list tells which there are", ebb_role_name(role));
    return refuse(r, 403, &err);
}

/* What the route answers with, when it is not JSON: tell by the document. */
static const char *answer_type(const struct ebb__api_entry *e)
{
    const struct ebb_value *ok =
        ebb_value_get(ebb_value_get(ebb_value_get(e->operation, "responses"), "200"), "content");

    return ebb_value_get_count(ok) ? ebb_value_get_key(ok, 0).p : "application/json";
}

static bool is_event_type(const struct ebb__api_request *r)
{
    return r->entry->route->handler == ebb__api_events_post &&
           (ebb__api_is_type(r->content_type, "application/cloudevents+json") ||
            ebb__api_is_type(r->content_type, "application/cloudevents-batch+json") || r->headers.count > 0);
}

static int check_types(struct ebb__api_request *r)
{
    struct ebb_err err;

    if (!ebb__api_accepts(r->accept, answer_type(r->entry))) {
        ebb_err_set(&err, EBB_EUSAGE, "Accept: the answer is %s", answer_type(r->entry));
        return refuse(r, 406, &err);
    }
    if (r->call.body.n && !ebb__api_is_type(r->content_type, "application/json") && !is_event_type(r)) {
        ebb_err_set(&err, EBB_EUSAGE, "Content-Type: application/json is wanted");
        return refuse(r, 415, &err);
    }
    return 0;
}

static bool reads_own_body(const struct ebb_route *route)
{
    return route->handler == ebb__api_events_post || route->handler == ebb__api_report_post;
}

/* The own interface: what the document says holds. */
static int check_form(struct ebb__api_request *r)
{
    const struct ebb_value *document = r->api->table.document;
    struct ebb_err err;
    int rc;

    if (!r->entry->part->is_own)
        return 0;
    if (!reads_own_body(r->entry->route) && r->call.body.n > EBB__API_BODY_MAX) {
        ebb_err_set(&err, EBB_EUSAGE, "body: more than %zu bytes", EBB__API_BODY_MAX);
        return refuse(r, 413, &err);
    }
    rc = ebb__api_check_query(document, r->entry->operation, r->query, &err);
    if (!rc && !reads_own_body(r->entry->route))
        rc = ebb__api_read_body(document, r->entry->operation, r->call.body, &r->json, &err);
    r->call.json = r->json;
    return rc ? refuse(r, 0, &err) : 0;
}

/* ---- audit ---- */

static bool is_audited(const struct ebb__api_request *r)
{
    return ebb__api_is_change(r) && !reads_own_body(r->entry->route);
}

static int audit(struct ebb__api_request *r, const char *event, struct ebb_err *err)
{
    struct ebb_audit *log = ebb_workspace_site(r->call.ws)->audit;
    struct ebb_buf line;
    struct ebb_jsonw w;
    int rc;

    ebb_buf_init(&line, (size_t)256 << 10);
    ebb_jsonw_init(&w, &line);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "event", event);
    ebb_jsonw_kstr(&w, "who", r->call.who.name);
    ebb_jsonw_kbool(&w, "verified", r->call.who.is_verified);
    ebb_jsonw_kstr(&w, "role", ebb_role_name(r->call.who.role));
    ebb_jsonw_kstr(&w, "from", r->call.peer);
    ebb_jsonw_kstr(&w, "method", r->call.method);
    ebb_jsonw_kstr(&w, "path", ebb_buf_cstr(&r->shown));
    if (!strcmp(event, "api.answered"))
        ebb_jsonw_kint(&w, "status", r->call.status);
    ebb_jsonw_end(&w, '}');
    rc = ebb_buf_check(&line, "audit line", err);
    if (!rc) {
        line.data[line.len - 1] = '\0'; /* members without braces */
        rc = ebb_audit_add(log, r->call.now_ms, line.data + 1, err);
    }
    if (!rc)
        rc = ebb_audit_flush(log, err);
    ebb_buf_fini(&line);
    return rc;
}

/* ---- the handler ---- */

/* The loop finds out whether the store can be written at all. */
static void tell_store(struct ebb__api_request *r, const struct ebb_err *err)
{
    if (err->error == EBB_ESTORE || err->error == EBB_ESTORE_CORRUPT || err->error == EBB_ENOSPACE ||
        err->error == EBB_EAUDIT)
        ebb_hub_post(r->call.hub, EBB_NOTE_STORE, NULL);
}

/* Nobody waits for ever, and others wait for the thread. */
static int handle(struct ebb__api_request *r, struct ebb_err *err)
{
    struct ebb_site *site = r->call.ws ? ebb_workspace_site(r->call.ws) : NULL;
    int rc;

    if (site)
        site->deadline_ms = ebb_clock_elapsed_ms() + EBB__API_HANDLER_MS;
    if (site && !ebb__api_is_change(r))
        ebb_store_limit(site->store, site->deadline_ms);
    rc = r->entry->route->handler(&r->call, err);
    if (site) {
        ebb_store_limit(site->store, 0);
        site->deadline_ms = 0;
    }
    if (rc == -(int)EBB_ECANCELLED) {
        r->call.status = 503;
        rc = ebb_err_set(err, EBB_ECANCELLED, "the service: this took too long, or it is ending");
    }
    return rc;
}

static void carry_out(struct ebb__api_request *r)
{
    struct ebb_err err;
    int rc;

    if (is_audited(r) && audit(r, "api.asked", &err)) {
        ebb_metrics_add(r->call.metrics, EBB_METRIC_STORE_ERRORS, NULL, 1);
        ebb__api_fail(r, 503, &err);
        tell_store(r, &err);
        return;
    }
    rc = handle(r, &err);
    if (rc)
        tell_store(r, &err);
    if (rc) /* a handler may say the status itself */
        ebb__api_fail(r, r->call.status >= 400 ? r->call.status : 0, &err);
    if (is_audited(r) && audit(r, "api.answered", &err))
        ebb_log_say(&r->api->options.log, EBB_LOG_ERROR, "api: %s", err.message);
}

void ebb__api_work(void *context, void *request)
{
    struct ebb__api_request *r = request;

    if (bring_workspace(r, context) || check_who(r) || check_types(r) || check_form(r))
        return;
    carry_out(r);
}
