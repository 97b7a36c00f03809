/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <strings.h>

#include "service/events_priv.h"

bool ebb__event_has_type(const char *content_type, const char *type)
{
    size_t n = strlen(type);
    const char *p = content_type;

    while (*p == ' ' || *p == '\t')
        p++;
    return strncasecmp(p, type, n) == 0 && (p[n] == '\0' || p[n] == ';' || p[n] == ' ' || p[n] == '\t');
}

bool ebb__event_is_json(const char *content_type)
{
    size_t n = strcspn(content_type, "; \t");

    return ebb__event_has_type(content_type, "application/json") ||
           (n > 5 && strncasecmp(content_type + n - 5, "+json", 5) == 0);
}

/* ---- our own form ---- */

static int read_at(struct ebb__events *to, struct ebb__event_draft *draft, struct ebb_json *j, struct ebb_err *err)
{
    char *text;
    int rc = ebb_json_next(j, err);

    if (rc)
        return rc;
    if (j->kind == EBB_JSON_INT) {
        draft->at_ms = j->number;
        draft->has_at = true;
        return 0;
    }
    if (j->kind != EBB_JSON_STRING)
        return ebb_json_fail(j, err, "at: an instant as text or milliseconds since 1970 is wanted");
    text = memchr(j->text.p, '\0', j->text.n) ? NULL : ebb_arena_dup(&to->list->arena, j->text.p, j->text.n);
    return text ? ebb__event_set_time(draft, "at", text, err) : ebb_json_fail(j, err, "at: is no instant");
}

static int read_member(struct ebb__events *to, struct ebb__event_draft *draft, struct ebb_json *j, struct ebb_err *err)
{
    struct ebb_arena *arena = &to->list->arena;

    if (ebb_json_is_text(j, "source"))
        return ebb_json_read_str(j, "source", arena, &draft->source, err);
    if (ebb_json_is_text(j, "id"))
        return ebb_json_read_str(j, "id", arena, &draft->id, err);
    if (ebb_json_is_text(j, "type"))
        return ebb_json_read_str(j, "type", arena, &draft->type, err);
    if (ebb_json_is_text(j, "table"))
        return ebb_json_read_str(j, "table", arena, &draft->table, err);
    if (ebb_json_is_text(j, "at"))
        return read_at(to, draft, j, err);
    if (ebb__event_is_reserved(j->text))
        return ebb_json_fail(j, err, "%.*s: is not given by the sender", (int)j->text.n, j->text.p);
    return ebb__event_copy_member(to, draft, j, err);
}

static int read_own(struct ebb__events *to, const char *place, struct ebb_str text, struct ebb_err *err)
{
    struct ebb__event_draft draft;
    struct ebb_json j;
    int rc;

    ebb__event_begin(&draft, place, text);
    ebb_json_init(&j, place, text.p, text.n);
    rc = ebb_json_expect(&j, EBB_JSON_OBJECT, "an event", err);
    while (!rc && !(rc = ebb_json_next(&j, err)) && j.kind == EBB_JSON_KEY)
        rc = read_member(to, &draft, &j, err);
    rc = ebb__event_bad(rc, err);
    if (!rc)
        rc = ebb__event_add(to, &draft, err);
    ebb_json_fini(&j);
    ebb__event_free(&draft);
    return rc;
}

/* ---- one or many ---- */

typedef int read_event(struct ebb__events *to, const char *place, struct ebb_str text, struct ebb_err *err);

/* The reader stands at the first token of a value. */
static int read_one(struct ebb__events *to, struct ebb_json *j, read_event *read, const char *place,
                    struct ebb_err *err)
{
    const char *begin = j->start + j->token_at;
    struct ebb_str text;
    int rc;

    if (j->kind != EBB_JSON_OBJECT)
        return ebb_err_set(err, EBB_EUSAGE, "%s: is no object", place);
    rc = ebb__event_bad(ebb_json_skip(j, err), err);
    if (rc)
        return rc;
    text = (struct ebb_str){begin, (size_t)(j->p - begin)};
    return read(to, place, text, err);
}

static int read_array(struct ebb__events *to, struct ebb_json *j, read_event *read, struct ebb_err *err)
{
    char place[32];
    int rc;

    for (size_t i = 0; !(rc = ebb__event_bad(ebb_json_next(j, err), err)) && j->kind != EBB_JSON_ARRAY_END; i++) {
        snprintf(place, sizeof place, "events[%zu]", i);
        rc = read_one(to, j, read, place, err);
        if (rc)
            return rc;
    }
    return rc;
}

enum { ONE = 1, MANY = 2 };

static int read_body(struct ebb__events *to, struct ebb_str body, unsigned forms, read_event *read, struct ebb_err *err)
{
    struct ebb_json j;
    int rc;

    ebb_json_init(&j, "body", body.p, body.n);
    rc = ebb__event_bad(ebb_json_next(&j, err), err);
    if (rc)
        goto out;
    if ((forms & MANY) && j.kind == EBB_JSON_ARRAY)
        rc = read_array(to, &j, read, err);
    else if ((forms & ONE) && j.kind == EBB_JSON_OBJECT)
        rc = read_one(to, &j, read, "event", err);
    else
        rc = ebb_err_set(err, EBB_EUSAGE, "body: %s is wanted",
                         forms == MANY  ? "an array of events"
                         : forms == ONE ? "an event"
                                        : "an event or an array of events");
    if (!rc)
        rc = ebb__event_bad(ebb_json_expect(&j, EBB_JSON_END, "the end", err), err);
out:
    ebb_json_fini(&j);
    return rc;
}

static int parse(struct ebb__events *to, const char *content_type, ebb__event_header *header, void *data,
                 struct ebb_str body, struct ebb_err *err)
{
    if (ebb__event_has_type(content_type, "application/cloudevents-batch+json"))
        return read_body(to, body, MANY, ebb__event_read_cloud, err);
    if (ebb__event_has_type(content_type, "application/cloudevents+json"))
        return read_body(to, body, ONE, ebb__event_read_cloud, err);
    if (header && header(data, "ce-specversion"))
        return ebb__event_read_binary(to, content_type, header, data, body, err);
    if (ebb__event_has_type(content_type, "application/json"))
        return read_body(to, body, ONE | MANY, read_own, err);
    return ebb_err_set(err, EBB_EUSAGE,
                       "content type: application/json, application/cloudevents+json or "
                       "application/cloudevents-batch+json is wanted");
}

int ebb_events_parse(const char *content_type, const char *(*header)(void *data, const char *name), void *data,
                     struct ebb_str body, int64_t now_ms, struct ebb_event_list *out, struct ebb_err *err)
{
    struct ebb__events to;
    int rc;

    ebb__events_begin(&to, out, body.n, now_ms);
    rc = parse(&to, content_type ? content_type : "", header, data, body, err);
    if (rc)
        ebb_event_list_fini(out);
    return rc;
}
