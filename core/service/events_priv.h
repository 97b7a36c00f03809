/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the events_*.c files: one event as it is read, checked and added to a list.
 */
#ifndef EBB_SERVICE_EVENTS_PRIV_H
#define EBB_SERVICE_EVENTS_PRIV_H

#include "base/text.h"
#include "format/json.h"
#include "service/events.h"

#define EBB__EVENTS_MAX 10000
#define EBB__EVENT_MAX_BYTES ((size_t)64 << 10)

/* What is read into. */
struct ebb__events {
    struct ebb_event_list *list;
    size_t cap;
    int64_t now_ms;
};

/* An event that is being read. Texts lie in the list's arena; NULL: not given. */
struct ebb__event_draft {
    const char *place; /* "event", "events[3]": for messages */
    char *source, *id, *type, *table;
    bool has_at;
    int64_t at_ms;
    struct ebb_buf rest; /* JSON object with the other members */
    struct ebb_jsonw w;  /* writes it */
    struct ebb_str text; /* the whole as it came: its hash is the id when there is none */
    const char *salt;    /* goes into the hash, too; NULL: nothing */
};

void ebb__events_begin(struct ebb__events *to, struct ebb_event_list *out, size_t body_bytes, int64_t now_ms);
void ebb__event_begin(struct ebb__event_draft *draft, const char *place, struct ebb_str text);
void ebb__event_free(struct ebb__event_draft *draft);
/* Errors of a JSON reader (and limits) become EBB_EUSAGE; others stay. */
int ebb__event_bad(int rc, struct ebb_err *err);
/* Check all and add it. */
int ebb__event_add(struct ebb__events *to, struct ebb__event_draft *draft, struct ebb_err *err);
/* "at" of an event as a text with its zone. */
int ebb__event_set_time(struct ebb__event_draft *draft, const char *what, const char *text, struct ebb_err *err);
/* Whether a text may be the name of a table: parts with dots between, none empty, no control characters. */
bool ebb__event_is_table(const char *text);
/* Members that events have of their own: they are left out of what comes with an event. */
bool ebb__event_is_reserved(struct ebb_str key);
/* Write the current key of a reader and the value behind it into the rest. */
int ebb__event_copy_member(struct ebb__events *to, struct ebb__event_draft *draft, struct ebb_json *j,
                           struct ebb_err *err);

typedef const char *ebb__event_header(void *data, const char *name);
/* One value of a body as a CloudEvent; the binary mode. */
int ebb__event_read_cloud(struct ebb__events *to, const char *place, struct ebb_str text, struct ebb_err *err);
int ebb__event_read_binary(struct ebb__events *to, const char *content_type, ebb__event_header *header, void *data,
                           struct ebb_str body, struct ebb_err *err);
/* Whether a content type is that one, whatever parameters follow. */
bool ebb__event_has_type(const char *content_type, const char *type);
bool ebb__event_is_json(const char *content_type);

#endif
