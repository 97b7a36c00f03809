/* SPDX-License-Identifier: Apache-2.0
 *
 * A notice to one target: what is sent, and what the store keeps of it.
 */
#include "service/notify_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/time.h"

#define TEXT_MAX 4096

static char *take(struct ebb_buf *b)
{
    char *text = ebb_buf_take(b);

    ebb_buf_fini(b);
    return text;
}

static void put_text(struct ebb_jsonw *w, const char *key, const char *text)
{
    ebb_jsonw_key(w, key);
    ebb_jsonw_strn(w, text ? text : "", text ? strnlen(text, TEXT_MAX) : 0);
}

static void put_time(struct ebb_jsonw *w, const char *key, int64_t ms)
{
    struct ebb_buf iso;

    ebb_buf_init(&iso, 100);
    ebb_time_iso(&iso, ms);
    ebb_jsonw_kstr(w, key, ebb_buf_cstr(&iso));
    ebb_buf_fini(&iso);
}

char *ebb__notify_payload(const struct ebb_notify *n, const struct ebb_notice *notice)
{
    struct ebb_buf json;
    struct ebb_jsonw w;

    ebb_buf_init(&json, EBB__NOTIFY_PAYLOAD_MAX);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    put_text(&w, "kind", notice->kind);
    put_text(&w, "policy", notice->policy);
    put_text(&w, "table", notice->table);
    put_text(&w, "id", notice->id);
    put_text(&w, "message", notice->message);
    put_text(&w, "hint", notice->hint);
    put_time(&w, "at", notice->at_ms);
    put_text(&w, "host", n->host);
    put_text(&w, "key", notice->key);
    ebb_jsonw_end(&w, '}');
    return take(&json);
}

struct ebb__notify_item *ebb__notify_item_new(struct ebb_notify *n, struct ebb__notify_target *target,
                                              const char id[EBB__NOTIFY_HASH], const char *kind, const char *key,
                                              char *payload)
{
    struct ebb__notify_item *item;

    if (!payload || n->item_count >= EBB__NOTIFY_ITEMS_MAX || !(item = calloc(1, sizeof *item))) {
        free(payload);
        return NULL;
    }
    item->notify = n;
    item->target = target;
    target->refs++;
    snprintf(item->id, sizeof item->id, "%s", id);
    snprintf(item->key, sizeof item->key, "%s", key);
    snprintf(item->kind, sizeof item->kind, "%s", kind);
    item->payload = payload;
    item->at = n->end;
    *n->end = item;
    n->end = &item->next;
    n->item_count++;
    return item;
}

void ebb__notify_item_free(struct ebb__notify_item *item)
{
    struct ebb_notify *n = item->notify;

    *item->at = item->next;
    if (item->next)
        item->next->at = item->at;
    else
        n->end = item->at;
    n->item_count--;
    n->is_full = false;
    ebb__notify_target_unref(item->target);
    free(item->payload);
    free(item->record);
    free(item);
}

bool ebb__notify_has(const struct ebb_notify *n, const char *id)
{
    for (const struct ebb__notify_item *item = n->items; item; item = item->next)
        if (!strcmp(item->id, id))
            return true;
    return false;
}

void ebb__notify_record(struct ebb__notify_item *item, const char *state, int64_t wait_ms)
{
    int64_t now = ebb_clock_now(&item->notify->clock);
    struct ebb_buf json;
    struct ebb_jsonw w;

    ebb_buf_init(&json, EBB__NOTIFY_PAYLOAD_MAX * 2);
    ebb_jsonw_init(&w, &json);
    ebb_jsonw_begin(&w, '{');
    ebb_jsonw_kstr(&w, "state", state);
    ebb_jsonw_kstr(&w, "kind", item->kind);
    ebb_jsonw_kstr(&w, "key", item->key);
    ebb_jsonw_kstr(&w, "target", item->target->id);
    ebb_jsonw_kint(&w, "tries", item->tries);
    ebb_jsonw_kint(&w, "first_ms", item->first_ms);
    ebb_jsonw_kint(&w, "changed_ms", now);
    if (!strcmp(state, "waiting")) {
        ebb_jsonw_kint(&w, "next_ms", now + wait_ms);
        ebb_jsonw_key(&w, "notice");
        ebb_jsonw_raw(&w, item->payload, strlen(item->payload));
    }
    ebb_jsonw_end(&w, '}');
    free(item->record);
    item->record = take(&json);
}
