/* SPDX-License-Identifier: Apache-2.0
 *
 * Events in: read in a worker thread, taken in on the loop; and those that were taken in as a list.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "service/api_priv.h"

#define SEPARATOR '\x1f' /* between the levels of a namespace, in paths of the Iceberg REST protocol */

/* ---- in the worker ---- */

static struct ebb__api_request *request_of(struct ebb_api_call *call)
{
    return (struct ebb__api_request *)(void *)((char *)call - offsetof(struct ebb__api_request, call));
}

static const char *header_of(void *data, const char *name)
{
    const struct ebb__api_request *r = data;
    size_t n = strlen(name);

    for (size_t i = 0; i < r->headers.count; i++)
        if (!strncasecmp(r->headers.items[i], name, n) && !strncmp(r->headers.items[i] + n, ": ", 2))
            return r->headers.items[i] + n + 2;
    return NULL;
}

int ebb__api_events_post(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__api_request *r = request_of(call);
    int rc = ebb_events_parse(call->content_type, header_of, r, call->body, call->now_ms, &r->events, err);

    r->event_count = r->events.count;
    return rc == -(int)EBB_ECORRUPT || rc == -(int)EBB_ELIMIT ? ebb_err_as(err, EBB_EUSAGE, NULL) : rc;
}

int ebb__api_report_post(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb__api_request *r = request_of(call);
    struct ebb_buf name;
    int rc;

    ebb_buf_init(&name, 4096);
    for (size_t i = 0; i < call->args->count; i++)
        ebb_buf_printf(&name, "%s%s", i ? "." : "", call->args->items[i]);
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] == SEPARATOR)
            name.data[i] = '.';
    rc = ebb_buf_check(&name, "name of the table", err);
    if (!rc)
        rc = ebb_events_of_report(ebb_buf_cstr(&name), call->body, call->now_ms, &r->events, err);
    r->event_count = r->events.count;
    ebb_buf_fini(&name);
    return rc == -(int)EBB_ECORRUPT || rc == -(int)EBB_ELIMIT ? ebb_err_as(err, EBB_EUSAGE, NULL) : rc;
}

/* ---- on the loop ---- */

static void answer_taken(struct ebb__api_request *r, size_t fresh)
{
    struct ebb_jsonw w;

    if (r->entry->route->handler == ebb__api_report_post) {
        r->call.status = 204;
        r->call.answer_type = NULL;
        return;
    }
    r->call.status = 202;
    ebb_jsonw_init(&w, &r->call.out);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kint(&w, "accepted", (int64_t)fresh);
    ebb_jsonw_kint(&w, "duplicates", (int64_t)(r->event_count - fresh));
    ebb_jsonw_end(&w, '}');
    ebb_buf_putc(&r->call.out, '\n');
}

static void on_durable(void *data, size_t fresh, const struct ebb_err *err)
{
    struct ebb__api_request *r = data;

    if (err && err->error)
        ebb__api_fail(r, 503, err);
    else
        answer_taken(r, fresh);
    ebb__api_answer(r);
}

void ebb__api_take_events(struct ebb__api_request *r)
{
    struct ebb_err err;
    int rc = ebb_intake_put(r->api->options.intake, &r->events, on_durable, r, &err);

    if (!rc)
        return;
    ebb__api_fail(r, rc == -(int)EBB_ELIMIT ? 429 : 503, &err);
    ebb__api_answer(r);
}

/* ---- the list ---- */

static int on_event(void *data, const struct ebb_event *e, struct ebb_err *err)
{
    struct ebb__api_page *page = data;
    char position[32];

    (void)err;
    snprintf(position, sizeof position, "%" PRId64, e->seq);
    if (!ebb__api_page_add(page, position))
        return 0;
    ebb_jsonw_begin(&page->w, '{');
    ebb_jsonw_kint(&page->w, "seq", e->seq);
    ebb_jsonw_kstr(&page->w, "source", e->source);
    ebb_jsonw_kstr(&page->w, "id", e->id);
    ebb_jsonw_kstr(&page->w, "type", e->type);
    if (e->table[0])
        ebb_jsonw_kstr(&page->w, "table", e->table);
    ebb__api_time(&page->w, "at", e->at_ms);
    ebb__api_time(&page->w, "received", e->received_ms);
    ebb__api_json(&page->w, "data", e->json);
    ebb_jsonw_end(&page->w, '}');
    return 0;
}

static int events_get(struct ebb_api_call *call, struct ebb_err *err)
{
    struct ebb_event_filter f = {.newest_first = !ebb__api_is_ascending(call)};
    struct ebb__api_page page;
    struct ebb_buf position;
    bool found;
    int rc;

    ebb_buf_init(&position, 64);
    f.table = ebb__api_query_of(call, "table");
    f.type = ebb__api_query_of(call, "type");
    f.source = ebb__api_query_of(call, "source");
    rc = ebb__api_since(call, &f.since_ms, err);
    if (!rc)
        rc = ebb__api_cursor(call, &position, &found, err);
    if (!rc && found && !ebb_text_count(ebb_buf_cstr(&position), &f.after_seq))
        rc = ebb_err_set(err, EBB_EUSAGE, "cursor: not one that this list gave");
    if (!rc) {
        ebb__api_page_begin(&page, call);
        f.limit = page.limit + 1;
        rc = ebb_store_list_events(ebb__api_store(call), &f, on_event, &page, err);
        ebb__api_page_end(&page);
    }
    ebb_buf_fini(&position);
    return rc;
}

#define BODY                                                                                                           \
    "'requestBody':{'required':true,'content':{'application/json':{'schema':{'$ref':'#/components/schemas/"            \
    "EventsIn'}},"                                                                                                     \
    "'application/cloudevents+json':{'schema':{'type':'object'}},"                                                     \
    "'application/cloudevents-batch+json':{'schema':{'type':'array','items':{'type':'object'}}}}}"

const struct ebb_route EBB__API_EVENT_ROUTES[] = {
    {"GET", "/api/events", EBB_ROLE_VIEW, events_get, "Events that were taken in",
     "{'parameters':[{'$ref':'#/components/parameters/limit'},{'$ref':'#/components/parameters/cursor'},"
     "{'$ref':'#/components/parameters/order'},{'$ref':'#/components/parameters/since'},"
     "{'$ref':'#/components/parameters/table'},"
     "{'name':'type','in':'query','schema':{'type':'string','maxLength':256}},"
     "{'name':'source','in':'query','schema':{'type':'string','maxLength':1024}}],"
     "'answer':{'200':{'$ref':'#/components/schemas/Events'}}}"},
    {"POST", "/api/events", EBB_ROLE_OPERATE, ebb__api_events_post, "Tell that something happened",
     "{'description':'One event or an array of them; CloudEvents 1.0, structured, batched and binary. Answered when "
     "they "
     "are durable; an event that is known by source and id counts as duplicate.'," BODY ","
     "'answer':{'202':{'$ref':'#/components/schemas/EventsTaken'}}}"},
    {"POST", "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics", EBB_ROLE_OPERATE,
     ebb__api_report_post, "A metrics report of the Iceberg REST protocol",
     "{'description':'prefix is the catalog; the levels of the namespace stand with %1F between them.',"
     "'body':{'$ref':'#/components/schemas/Report'},'responses':{'204':{'description':'Taken'}}}"},
    {NULL, NULL, EBB_ROLE_NONE, NULL, NULL, NULL},
};
