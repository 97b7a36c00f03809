/* SPDX-License-Identifier: Apache-2.0
 *
 * Events from outside: read from requests, checked, put into the store in batches. Formats: one JSON object or an array
 * of them, {"source","id","type","table","at"?, …}; CloudEvents 1.0 structured (application/cloudevents+json, batch:
 * application/cloudevents-batch+json) and binary mode (ce-* headers); metrics reports of the Iceberg REST protocol.
 */
#ifndef EBB_SERVICE_EVENTS_H
#define EBB_SERVICE_EVENTS_H

#include "io/pool.h"
#include "io/store_events.h"
#include "service/metrics.h"

struct ebb_event_list {
    struct ebb_arena arena;
    struct ebb_event *items;
    size_t count;
};
/* Frees all; may be called twice. */
void ebb_event_list_fini(struct ebb_event_list *list);
/* header: value of a header by name or NULL. At most 10,000 events, 64 KiB each. An event without an id gets the hash
 * of its text as id (repeated delivery of the same text is one event), one without time its arrival; a time more than a
 * day ahead is refused. EBB_EUSAGE names the member and its place. */
int ebb_events_parse(const char *content_type, const char *(*header)(void *data, const char *name), void *data,
                     struct ebb_str body, int64_t now_ms, struct ebb_event_list *out, struct ebb_err *err);
/* A report that a writer or reader posts to …/metrics of the Iceberg REST protocol, as one event: type
 * "commit.reported" or "scan.reported". table: dotted name. */
int ebb_events_of_report(const char *table, struct ebb_str body, int64_t now_ms, struct ebb_event_list *out,
                         struct ebb_err *err);

/* Taking in: lists wait in a bounded queue and are written many at a time by a thread of its own. Loop's thread only.
 */
struct ebb_intake;
struct ebb_intake_options {
    const char *state_dir;
    size_t waiting_max; /* events, 0: 100,000 */
    struct ebb_metrics *metrics;
    /* A batch is durable: the tables that have new events (distinct, "" left out). */
    void (*arrived)(void *data, const struct ebb_strs *tables);
    void (*failed)(void *data, const struct ebb_err *err); /* a batch can't be written; NULL: nobody is told */
    void *data;
};
int ebb_intake_new(uv_loop_t *loop, const struct ebb_intake_options *options, struct ebb_intake **out,
                   struct ebb_err *err);
/* Takes the list over (also when it fails). done comes later on the loop: EBB_OK: all are durable, `fresh` were new.
 * EBB_ELIMIT: the queue is full, nothing was taken, no callback. */
typedef void ebb_intake_cb(void *data, size_t fresh, const struct ebb_err *err);
int ebb_intake_put(struct ebb_intake *intake, struct ebb_event_list *list, ebb_intake_cb *done, void *data,
                   struct ebb_err *err);
size_t ebb_intake_waiting(const struct ebb_intake *intake);
void ebb_intake_close(struct ebb_intake *intake, void (*closed)(void *data), void *data);

#endif
