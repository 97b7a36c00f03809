/* SPDX-License-Identifier: Apache-2.0
 *
 * What the store keeps of notices: scope "notice", one value for each notice and target.
 */
#include "service/notify_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/value.h"
#include "io/store_scope.h"

void *ebb__notify_store_open(void *state_dir)
{
    struct ebb_store *store = NULL;

    return ebb_store_open(state_dir, &store, NULL) ? NULL : store;
}

void ebb__notify_store_close(void *store)
{
    ebb_store_close(store);
}

static int no_store(struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ESTORE, "notices: the store cannot be opened");
}

void ebb__notify_put(void *store, void *data)
{
    struct ebb__notify_item *item = data;

    item->err = (struct ebb_err){0};
    if (!store)
        no_store(&item->err);
    else if (!item->record)
        ebb_err_nomem(&item->err);
    else
        ebb_store_put_value(store, EBB__NOTIFY_SCOPE, item->id, item->record, &item->err);
}

void ebb__notify_claim(void *store, void *data)
{
    struct ebb__notify_item *item = data;
    struct ebb_buf there;

    ebb_buf_init(&there, EBB__NOTIFY_PAYLOAD_MAX * 4);
    item->err = (struct ebb_err){0};
    if (!store)
        no_store(&item->err);
    else if (!ebb_store_get_value(store, EBB__NOTIFY_SCOPE, item->id, &there, &item->is_known, &item->err) &&
             !item->is_known)
        ebb__notify_put(store, item);
    ebb_buf_fini(&there);
}

/* ---- what waits ---- */

static bool copy_hash(char out[EBB__NOTIFY_HASH], const char *text)
{
    if (!text || strlen(text) != EBB__NOTIFY_HASH - 1 || strspn(text, "0123456789abcdef") != EBB__NOTIFY_HASH - 1)
        return false;
    memcpy(out, text, EBB__NOTIFY_HASH);
    return true;
}

static char *json_of(const struct ebb_value *value)
{
    struct ebb_buf json;
    char *text = NULL;

    if (ebb_value_get_kind(value) != EBB_VALUE_MAP)
        return NULL;
    ebb_buf_init(&json, EBB__NOTIFY_PAYLOAD_MAX);
    if (!ebb_value_to_json(value, &json, NULL))
        text = ebb_buf_take(&json);
    ebb_buf_fini(&json);
    return text;
}

/* What cannot be read is left alone. */
static void take_waiting(struct ebb__notify_load *load, const char *id, const struct ebb_value *value)
{
    struct ebb__notify_found *f = calloc(1, sizeof *f);
    const char *kind = ebb_value_text_of(value, "kind");

    if (!f)
        return;
    f->payload = json_of(ebb_value_get(value, "notice"));
    if (!f->payload || !kind || !copy_hash(f->id, id) || !copy_hash(f->key, ebb_value_text_of(value, "key")) ||
        !copy_hash(f->target, ebb_value_text_of(value, "target"))) {
        free(f->payload);
        free(f);
        return;
    }
    snprintf(f->kind, sizeof f->kind, "%s", kind);
    f->tries = ebb_value_int_of(value, "tries", 0);
    f->first_ms = ebb_value_int_of(value, "first_ms", load->now_ms);
    f->next_ms = ebb_value_int_of(value, "next_ms", load->now_ms);
    f->next = load->found;
    load->found = f;
    load->count++;
}

struct loading {
    struct ebb__notify_load *load;
    struct ebb_store *store;
};

static int see(void *data, const char *id, const char *json, struct ebb_err *err)
{
    struct loading *l = data;
    struct ebb_value *value = NULL;
    const char *state;
    int rc = 0;

    if (ebb_value_of_json("notice", json, strlen(json), NULL, &value, NULL))
        return 0;
    state = ebb_value_text_of(value, "state");
    if (l->load->now_ms - ebb_value_int_of(value, "changed_ms", l->load->now_ms) > EBB__NOTIFY_KEEP_MS)
        rc = ebb_store_put_value(l->store, EBB__NOTIFY_SCOPE, id, NULL, err);
    else if (state && !strcmp(state, "waiting") && l->load->count < EBB__NOTIFY_ITEMS_MAX)
        take_waiting(l->load, id, value);
    ebb_value_free(value);
    return rc;
}

void ebb__notify_load(void *store, void *data)
{
    struct ebb__notify_load *load = data;
    struct loading l = {load, store};

    if (!store)
        no_store(&load->err);
    else
        ebb_store_list_values(store, EBB__NOTIFY_SCOPE, see, &l, &load->err);
}

void ebb__notify_load_free(struct ebb__notify_load *load)
{
    struct ebb__notify_found *f, *next;

    for (f = load->found; f; f = next) {
        next = f->next;
        free(f->payload);
        free(f);
    }
    free(load);
}
