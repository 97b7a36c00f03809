/* SPDX-License-Identifier: Apache-2.0
 *
 * The hub: how worker threads and the daemon's loop tell each other things. Notes go to the loop (a job was put into
 * the store, reload, cancel); news go out to whoever listens (progress, ends of jobs); the loop's status is there to be
 * read. All functions may be called on any thread, but for those that say otherwise.
 */
#ifndef EBB_SERVICE_HUB_H
#define EBB_SERVICE_HUB_H

#include <uv.h>

#include "engine/value.h"

struct ebb_hub;
enum ebb_note {
    EBB_NOTE_JOBS,    /* jobs were put into the store; text: NULL or the id */
    EBB_NOTE_CANCEL,  /* text: id of the job */
    EBB_NOTE_RELOAD,  /* configuration and policies; text: who asked; "force …": policies may have vanished */
    EBB_NOTE_OBJECTS, /* policy objects or what they are tied to changed */
    EBB_NOTE_LOOK,    /* something may have changed; text: dotted name of a table, or NULL: all */
    EBB_NOTE_PAUSE,   /* text: "all", "policy NAME", "table NAME"; also EBB_NOTE_RESUME */
    EBB_NOTE_RESUME,
    EBB_NOTE_STORE /* a write to the store failed: can it be written at all */
};
typedef void ebb_hub_note_cb(void *data, enum ebb_note note, const char *text);
/* Notes are handed over on the loop's thread, in order. */
int ebb_hub_new(uv_loop_t *loop, ebb_hub_note_cb *cb, void *data, struct ebb_hub **out, struct ebb_err *err);
/* On the loop; workers must be gone. closed (may be NULL) comes later on the loop. Notes and news that were not told by
 * then are forgotten, and so are the listeners: none may be used or unlisten after it. */
void ebb_hub_close(struct ebb_hub *hub, void (*closed)(void *data), void *data);
/* Memory that runs out loses no note: it is then handed over without its text, after the others, once for each kind. */
void ebb_hub_post(struct ebb_hub *hub, enum ebb_note note, const char *text);

/* News: type "job", "progress", "decision", "plan", "reload", "event", "clock"; json: one line. Listeners are called on
 * the loop's thread; one that is slow is the listener's affair. The last 1,000 are kept for who comes back (id: a
 * number that rises, also over restarts), of at most 8 MiB together. */
void ebb_hub_publish(struct ebb_hub *hub, const char *type, const char *json);
struct ebb_hub_listener;
typedef void ebb_hub_news_cb(void *data, int64_t id, const char *type, const char *json);
/* On the loop. News after `after` that are still known are told at once, from inside of listen (*out is set by then);
 * after -1, or later than the last: none. */
int ebb_hub_listen(struct ebb_hub *hub, int64_t after, ebb_hub_news_cb *cb, void *data, struct ebb_hub_listener **out,
                   struct ebb_err *err);
/* Also from inside of the callback. */
void ebb_hub_unlisten(struct ebb_hub *hub, struct ebb_hub_listener *listener);

/* The daemon's status: JSON text that the loop keeps up to date (ebb_hub_set_status), appended to out; "{}" before the
 * first. When memory runs out the old one stays. */
void ebb_hub_set_status(struct ebb_hub *hub, const char *json);
int ebb_hub_get_status(struct ebb_hub *hub, struct ebb_buf *out, struct ebb_err *err);

#endif
