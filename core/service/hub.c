/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes and news wait behind one lock; one uv_async wakes the loop. No callback is called with the lock held.
 */
#include "service/hub.h"

#include <stdlib.h>

#include "base/clock.h"

#define NEWS_MAX 1000
#define NEWS_BYTES_MAX ((size_t)8 << 20)
#define NOTE_COUNT (EBB_NOTE_STORE + 1)

struct note {
    struct note *next;
    enum ebb_note kind;
    bool has_text;
    char text[];
};
struct news {
    int64_t id;
    size_t refs; /* the ring's, and the teller's */
    size_t bytes;
    char *json; /* inside of type */
    char type[];
};
struct ebb_hub_listener {
    struct ebb_hub_listener *next;
    int64_t seen;
    bool is_gone;
    ebb_hub_news_cb *cb;
    void *data;
};
struct ebb_hub {
    uv_mutex_t mutex;
    uv_async_t async;
    ebb_hub_note_cb *cb;
    void *data;
    /* behind the lock */
    struct note *notes, **notes_end;
    bool lost[NOTE_COUNT]; /* notes for which there was no memory */
    struct news *ring[NEWS_MAX];
    size_t first, count, bytes;
    int64_t last;
    char *status;
    /* the loop's own */
    struct ebb_hub_listener *listeners;
    unsigned telling;
    void (*closed)(void *data);
    void *closed_data;
};

static void tell_notes(struct ebb_hub *hub);
static void tell_news(struct ebb_hub *hub);

static void woken(uv_async_t *async)
{
    tell_notes(async->data);
    tell_news(async->data);
}

/* Numbers go on from the time in microseconds, so they rise over restarts too. */
static int64_t first_id(void)
{
    struct ebb_clock clock = ebb_clock_system();

    return ebb_clock_now(&clock) * 1000;
}

int ebb_hub_new(uv_loop_t *loop, ebb_hub_note_cb *cb, void *data, struct ebb_hub **out, struct ebb_err *err)
{
    struct ebb_hub *hub = calloc(1, sizeof *hub);
    int rc;

    *out = NULL;
    if (!hub)
        return ebb_err_nomem(err);
    hub->cb = cb;
    hub->data = data;
    hub->notes_end = &hub->notes;
    hub->last = first_id();
    if (uv_mutex_init(&hub->mutex)) {
        free(hub);
        return ebb_err_nomem(err);
    }
    rc = uv_async_init(loop, &hub->async, woken);
    if (rc) {
        uv_mutex_destroy(&hub->mutex);
        free(hub);
        return ebb_err_set(err, EBB_EIO, "hub: %s", uv_strerror(rc));
    }
    hub->async.data = hub;
    *out = hub;
    return 0;
}

/* ---- notes ---- */

static struct note *note_new(enum ebb_note kind, const char *text)
{
    size_t n = text ? strlen(text) + 1 : 0;
    struct note *note = malloc(sizeof *note + n);

    if (!note)
        return NULL;
    note->next = NULL;
    note->kind = kind;
    note->has_text = text != NULL;
    if (text)
        memcpy(note->text, text, n);
    return note;
}

void ebb_hub_post(struct ebb_hub *hub, enum ebb_note kind, const char *text)
{
    struct note *note = note_new(kind, text);

    uv_mutex_lock(&hub->mutex);
    if (note) {
        *hub->notes_end = note;
        hub->notes_end = &note->next;
    } else {
        hub->lost[kind] = true;
    }
    uv_mutex_unlock(&hub->mutex);
    uv_async_send(&hub->async);
}

static void tell_lost(struct ebb_hub *hub, const bool *lost)
{
    for (int i = 0; i < NOTE_COUNT; i++)
        if (lost[i])
            hub->cb(hub->data, (enum ebb_note)i, NULL);
}

static void tell_notes(struct ebb_hub *hub)
{
    struct note *note, *next;
    bool lost[NOTE_COUNT];

    uv_mutex_lock(&hub->mutex);
    note = hub->notes;
    hub->notes = NULL;
    hub->notes_end = &hub->notes;
    memcpy(lost, hub->lost, sizeof lost);
    memset(hub->lost, 0, sizeof hub->lost);
    uv_mutex_unlock(&hub->mutex);
    for (; note; note = next) {
        next = note->next;
        hub->cb(hub->data, note->kind, note->has_text ? note->text : NULL);
        free(note);
    }
    tell_lost(hub, lost);
}

/* ---- news ---- */

static struct news *news_new(const char *type, const char *json)
{
    size_t t = strlen(type) + 1, j = strlen(json) + 1;
    struct news *news = malloc(sizeof *news + t + j);

    if (!news)
        return NULL;
    news->refs = 1;
    news->bytes = sizeof *news + t + j;
    news->json = news->type + t;
    memcpy(news->type, type, t);
    memcpy(news->json, json, j);
    return news;
}

/* With the lock held, or when nobody else is there. */
static void news_unref(struct news *news)
{
    if (news && --news->refs == 0)
        free(news);
}

static void drop_oldest(struct ebb_hub *hub)
{
    struct news *news = hub->ring[hub->first];

    hub->first = (hub->first + 1) % NEWS_MAX;
    hub->count--;
    hub->bytes -= news->bytes;
    news_unref(news);
}

void ebb_hub_publish(struct ebb_hub *hub, const char *type, const char *json)
{
    struct news *news = news_new(type, json);

    uv_mutex_lock(&hub->mutex);
    hub->last++;
    if (news) {
        while (hub->count && (hub->count == NEWS_MAX || hub->bytes + news->bytes > NEWS_BYTES_MAX))
            drop_oldest(hub);
        news->id = hub->last;
        hub->ring[(hub->first + hub->count++) % NEWS_MAX] = news;
        hub->bytes += news->bytes;
    }
    uv_mutex_unlock(&hub->mutex);
    uv_async_send(&hub->async);
}

/* The oldest one after an id, referenced, or NULL. Ids in the ring rise, without gaps but for lost ones. */
static struct news *news_after(struct ebb_hub *hub, int64_t id)
{
    struct news *found = NULL;
    size_t low = 0, high;

    uv_mutex_lock(&hub->mutex);
    high = hub->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (hub->ring[(hub->first + middle) % NEWS_MAX]->id > id)
            high = middle;
        else
            low = middle + 1;
    }
    if (low < hub->count) {
        found = hub->ring[(hub->first + low) % NEWS_MAX];
        found->refs++;
    }
    uv_mutex_unlock(&hub->mutex);
    return found;
}

static void news_release(struct ebb_hub *hub, struct news *news)
{
    uv_mutex_lock(&hub->mutex);
    news_unref(news);
    uv_mutex_unlock(&hub->mutex);
}

/* Listeners that went while they were told. */
static void sweep(struct ebb_hub *hub)
{
    struct ebb_hub_listener **at = &hub->listeners;

    if (hub->telling)
        return;
    while (*at) {
        struct ebb_hub_listener *listener = *at;

        if (listener->is_gone) {
            *at = listener->next;
            free(listener);
        } else {
            at = &listener->next;
        }
    }
}

static void tell_listener(struct ebb_hub *hub, struct ebb_hub_listener *listener, int64_t last)
{
    struct news *news;

    while (!listener->is_gone && listener->seen < last && (news = news_after(hub, listener->seen))) {
        listener->seen = news->id;
        listener->cb(listener->data, news->id, news->type, news->json);
        news_release(hub, news);
    }
}

static int64_t last_id(struct ebb_hub *hub)
{
    int64_t last;

    uv_mutex_lock(&hub->mutex);
    last = hub->last;
    uv_mutex_unlock(&hub->mutex);
    return last;
}

/* What listeners publish themselves is told at the next turn of the loop. */
static void tell_news(struct ebb_hub *hub)
{
    int64_t last = last_id(hub);

    hub->telling++;
    for (struct ebb_hub_listener *listener = hub->listeners; listener; listener = listener->next)
        tell_listener(hub, listener, last);
    hub->telling--;
    sweep(hub);
}

int ebb_hub_listen(struct ebb_hub *hub, int64_t after, ebb_hub_news_cb *cb, void *data, struct ebb_hub_listener **out,
                   struct ebb_err *err)
{
    struct ebb_hub_listener *listener = calloc(1, sizeof *listener);
    int64_t last = last_id(hub);

    *out = listener;
    if (!listener)
        return ebb_err_nomem(err);
    listener->cb = cb;
    listener->data = data;
    listener->seen = after < 0 || after > last ? last : after;
    listener->next = hub->listeners;
    hub->listeners = listener;
    hub->telling++;
    tell_listener(hub, listener, last);
    hub->telling--;
    sweep(hub);
    return 0;
}

void ebb_hub_unlisten(struct ebb_hub *hub, struct ebb_hub_listener *listener)
{
    if (!listener)
        return;
    listener->is_gone = true;
    sweep(hub);
}

/* ---- status ---- */

void ebb_hub_set_status(struct ebb_hub *hub, const char *json)
{
    char *copy = strdup(json), *old;

    if (!copy)
        return;
    uv_mutex_lock(&hub->mutex);
    old = hub->status;
    hub->status = copy;
    uv_mutex_unlock(&hub->mutex);
    free(old);
}

int ebb_hub_get_status(struct ebb_hub *hub, struct ebb_buf *out, struct ebb_err *err)
{
    uv_mutex_lock(&hub->mutex);
    ebb_buf_puts(out, hub->status ? hub->status : "{}");
    uv_mutex_unlock(&hub->mutex);
    return ebb_buf_check(out, "status", err);
}

/* ---- end ---- */

static void hub_free(struct ebb_hub *hub)
{
    struct note *note, *next;
    struct ebb_hub_listener *listener, *after;

    for (note = hub->notes; note; note = next) {
        next = note->next;
        free(note);
    }
    for (listener = hub->listeners; listener; listener = after) {
        after = listener->next;
        free(listener);
    }
    while (hub->count)
        drop_oldest(hub);
    free(hub->status);
    uv_mutex_destroy(&hub->mutex);
    free(hub);
}

static void async_closed(uv_handle_t *handle)
{
    struct ebb_hub *hub = handle->data;
    void (*closed)(void *data) = hub->closed;
    void *data = hub->closed_data;

    hub_free(hub);
    if (closed)
        closed(data);
}

void ebb_hub_close(struct ebb_hub *hub, void (*closed)(void *data), void *data)
{
    hub->closed = closed;
    hub->closed_data = data;
    uv_close((uv_handle_t *)&hub->async, async_closed);
}
