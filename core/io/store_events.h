/* SPDX-License-Identifier: Apache-2.0
 *
 * Events in the store: what was told from outside, each once by (source, id), numbered in the order of arrival.
 */
#ifndef EBB_IO_STORE_EVENTS_H
#define EBB_IO_STORE_EVENTS_H

#include "io/store.h"

struct ebb_event {
    int64_t seq;             /* given by the store */
    const char *source, *id; /* together unique */
    const char *type;        /* "snapshot-added", "commit-failed", … */
    const char *table;       /* dotted name, "" none */
    int64_t at_ms;           /* as the source says */
    int64_t received_ms;
    const char *json; /* object with the rest of its members; "{}" none */
};
/* Insert all in one durable transaction; those that are known are left out. *fresh (may be NULL) gets their number, and
 * is_new (may be NULL) tells for each. Store errors: none is in. */
int ebb_store_put_events(struct ebb_store *store, const struct ebb_event *events, size_t count, bool *is_new,
                         size_t *fresh, struct ebb_err *err);
typedef int ebb_event_cb(void *data, const struct ebb_event *event, struct ebb_err *err);
struct ebb_event_filter {
    const char *table;         /* glob, NULL all */
    const char *type, *source; /* exact, NULL all */
    int64_t since_ms;          /* at_ms, 0 all */
    int64_t after_seq;         /* 0 all; with newest_first: before it */
    bool newest_first;
    int64_t limit; /* 0 all */
};
int ebb_store_list_events(struct ebb_store *store, const struct ebb_event_filter *filter, ebb_event_cb *cb, void *data,
                          struct ebb_err *err);
/* The types of events of a table (dotted name), sorted, added to out. */
int ebb_store_event_types(struct ebb_store *store, const char *table, struct ebb_strs *out, struct ebb_err *err);

#endif
