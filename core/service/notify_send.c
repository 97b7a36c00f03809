/* SPDX-License-Identifier: Apache-2.0
 *
 * A notice as a POST. Answers other than 2xx mean that it was not told.
 */
#include "service/notify_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <xxhash.h>

#define ANSWER_BYTES 65536

static void answered(void *data, const struct ebb_http_result *result, const struct ebb_err *err)
{
    struct ebb__notify_item *item = data;

    item->request = NULL;
    item->err = *err;
    if (!err->error && (result->status < 200 || result->status > 299))
        ebb_err_set(&item->err, EBB_EIO, "%s: status %d", item->target->label, result->status);
    ebb__notify_tried(item);
}

static bool has_header(const struct ebb_strs *headers, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < headers->count; i++)
        if (!strncasecmp(headers->items[i], name, n) && headers->items[i][n] == ':')
            return true;
    return false;
}

static int make_headers(const struct ebb__notify_item *item, struct ebb_strs *out, struct ebb_err *err)
{
    const struct ebb_strs *given = &item->target->headers;
    char key[64];
    int rc;

    snprintf(key, sizeof key, "Idempotency-Key: %s", item->key);
    rc = ebb_strs_add(out, key, err);
    if (!rc && !has_header(given, "Content-Type"))
        rc = ebb_strs_add(out, "Content-Type: application/json", err);
    for (size_t i = 0; !rc && i < given->count; i++)
        if (strncasecmp(given->items[i], "Idempotency-Key:", 16))
            rc = ebb_strs_add(out, given->items[i], err);
    return rc;
}

int ebb__notify_send(struct ebb__notify_item *item, struct ebb_err *err)
{
    struct ebb_http_call call = {
        .method = "POST",
        .url = item->target->url,
        .body = ebb_str_of(item->payload),
        .answer_bytes = ANSWER_BYTES,
        .can_repeat = true, /* Idempotency-Key */
        .seed = XXH64(item->id, strlen(item->id), 0),
    };
    struct ebb_strs headers;
    int rc;

    ebb_strs_init(&headers);
    call.headers = &headers;
    rc = make_headers(item, &headers, err);
    if (!rc)
        rc = ebb_http_start(item->notify->client, &call, answered, item, &item->request, err);
    ebb_strs_fini(&headers);
    return rc;
}
