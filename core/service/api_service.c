/* SPDX-License-Identifier: Apache-2.0
 *
 * The service itself: health, status, metrics, the document; reload, pause, resume; the stream of news.
 */
#include "service/api_priv.h"

static int put_json(struct ebb_api_call *call, const char *key, const char *text, bool ok)
{
    struct ebb_jsonw w;

    ebb_jsonw_init(&w, &call->out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kbool(&w, "ok", ok);
    if (key)
        ebb_jsonw_kstr(&w, key, text);
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&call->out, '\n');
    return 0;
}

int ebb__api_health_get(struct ebb_api_call *call, struct ebb_err *err)
{
    (void)err;
    return put_json(call, NULL, NULL, true);
}

/* The status as a map; the caller frees. Before the first one is told: NULL. */
static struct ebb_value *status_of(struct ebb_api_call *call)
{
    struct ebb_value *map = NULL;
    struct ebb_buf text;

    ebb_buf_init(&text, EBB__API_OUT_MAX);
    if (!ebb_hub_get_status(call->hub, &text, NULL) && text.len)
        ebb_value_of_json("status", text.data, text.len, NULL, &map, NULL);
    ebb_buf_fini(&text);
    return map;
}

int ebb__api_ready_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_value *status = status_of(call);
    bool is_ready = ebb_value_bool_of(status, "ready", false);
    const char *why = ebb_value_text_of(status, "why");
    int rc = 0;

    if (is_ready) {
        put_json(call, NULL, NULL, true);
    } else {
        call->status = 503;
        rc = ebb_err_set(err, EBB_ESTORE, "not ready: %s", why ? why : "it is starting");
    }
    ebb_value_free(status);
    return rc;
}

int ebb__api_status_get(struct ebb_api_call *call, struct ebb_err *err)
{
    int rc = ebb_hub_get_status(call->hub, &call->out, err);

    if (!rc && !call->out.len)
        ebb_buf_puts(&call->out, "{\"ready\":false,\"why\":\"it is starting\"}");
    ebb_buf_putc(&call->out, '\n');
    return rc;
}

int ebb__api_metrics_get(struct ebb_api_call *call, struct ebb_err *err)
{
    call->answer_type = "text/plain; version=0.0.4; charset=utf-8";
    return ebb_metrics_write(call->metrics, &call->out, err);
}

int ebb__api_document_get(struct ebb_api_call *call, struct ebb_err *err)
{
    (void)err;
    ebb_buf_puts(&call->out, call->document);
    return 0;
}

#define TEXT_ANSWER(type, about)                                                                                       \
    "{'responses':{'200':{'description':'" about "','content':{'" type "':{'schema':{'type':'string'}}}}}}"
#define OK_ANSWER "'answer':{'200':{'$ref':'#/components/schemas/Ok'}}"

const struct ebb_route EBB__API_SERVICE_ROUTES[] = {
    {"GET", "/healthz", EBB_ROLE_NONE, ebb__api_health_get, "Whether the process answers", "{" OK_ANSWER "}"},
    {"GET", "/readyz", EBB_ROLE_NONE, ebb__api_ready_get,
     "Whether it works: the store can be written, policies are there", "{" OK_ANSWER "}"},
    {"GET", "/metrics", EBB_ROLE_VIEW, ebb__api_metrics_get, "Metrics as Prometheus text",
     TEXT_ANSWER("text/plain", "Text format 0.0.4")},
    {"GET", "/api/status", EBB_ROLE_VIEW, ebb__api_status_get, "What the daemon is doing",
     "{'answer':{'200':{'$ref':'#/components/schemas/Status'}}}"},
    {"GET", "/api/openapi.json", EBB_ROLE_NONE, ebb__api_document_get, "This document",
     "{'answer':{'200':{'type':'object'}}}"},
    {"GET", "/api/stream", EBB_ROLE_VIEW, ebb__api_stream_get, "News as they come: server-sent events",
     "{'description':'Names of events: job, progress, decision, plan, reload, clock. Comments every 15 seconds. "
     "Ends after an hour. Last-Event-ID goes on after the news of that number.',"
     "'responses':{'200':{'description':'The stream','content':{'text/event-stream':{'schema':{'type':'string'}}}}}}"},
    {NULL, NULL, EBB_ROLE_NONE, NULL, NULL, NULL},
};
