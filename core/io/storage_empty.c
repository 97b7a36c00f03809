/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether anything lies below folders of object stores, many at once.
 */
#include <stdlib.h>

#include "io/s3_list_priv.h"
#include "io/storage_priv.h"

struct asked {
    struct ebb_s3 *s3; /* NULL: not asked */
    const char *uri;
    struct ebb_buf prefix;
    bool is_running;
    bool *is_empty; /* out */
};

static void on_answer(void *data, const struct ebb__s3_answer *answer)
{
    struct asked *a = data;
    struct ebb__s3_page page;

    a->is_running = false;
    if (answer->err->error)
        return;
    ebb__s3_page_init(&page);
    *a->is_empty = !ebb__s3_page_read(a->uri, answer->body, false, &page, NULL) && !page.count && !page.is_truncated &&
                   ebb__s3_page_is_of(&page, ebb_buf_str(&a->prefix));
    ebb__s3_page_fini(&page);
}

static int start(struct asked *a, const char *bucket, struct ebb_str key, struct ebb_err *err)
{
    struct ebb__s3_call call = {.method = "GET", .bucket = bucket};
    struct ebb_buf query;
    int rc;

    ebb_buf_add_str(&a->prefix, key);
    ebb_buf_putc(&a->prefix, '/');
    ebb__s3_list_query(ebb_buf_str(&a->prefix), (struct ebb_str){"", 0}, (struct ebb_str){"", 0}, false, &query);
    call.query = ebb_buf_cstr(&query);
    rc = ebb_buf_check(&a->prefix, a->uri, err);
    if (!rc)
        rc = ebb_buf_check(&query, a->uri, err);
    if (!rc)
        rc = ebb__s3_start(a->s3, &call, on_answer, a, err);
    a->is_running = !rc;
    ebb_buf_fini(&query);
    return rc;
}

/* What leads to no bucket is not asked for. */
static void ask(struct ebb_storage *storage, struct asked *a)
{
    struct ebb_buf target;
    struct ebb_str key;
    char bucket[256];
    bool is_remote = false;

    ebb_buf_init(&target, EBB__STORAGE_PATH_MAX);
    if (!ebb_uri_map_target(storage->map, a->uri, &target, &is_remote, NULL) && is_remote && storage->remote &&
        !ebb__storage_split(ebb_buf_cstr(&target), bucket, sizeof bucket, &key, NULL) && key.n &&
        !ebb__storage_client(storage->remote, ebb_buf_cstr(&target), &a->s3, NULL))
        start(a, bucket, key, NULL);
    ebb_buf_fini(&target);
}

static int wait_for(const struct asked *a, struct ebb_err *err)
{
    int rc = 0;

    while (!rc && a->is_running)
        rc = ebb__s3_pending(a->s3) ? ebb__s3_turn(a->s3, err)
                                    : ebb_err_set(err, EBB_EIO, "%s: the question was given up", a->uri);
    return rc;
}

int ebb_storage_are_empty(struct ebb_storage *storage, const struct ebb_strs *uris, bool *out, struct ebb_err *err)
{
    struct asked *asked = calloc(uris->count + 1, sizeof *asked);
    int rc = 0;

    if (!asked)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < uris->count; i++) {
        out[i] = false;
        asked[i] = (struct asked){.uri = uris->items[i], .is_empty = &out[i]};
        ebb_buf_init(&asked[i].prefix, EBB_LOCATION_MAX_BYTES);
        ask(storage, &asked[i]);
    }
    for (size_t i = 0; !rc && i < uris->count; i++)
        rc = wait_for(&asked[i], err);
    for (size_t i = 0; i < uris->count; i++)
        if (asked[i].is_running)
            ebb__s3_drop(asked[i].s3);
    for (size_t i = 0; i < uris->count; i++)
        ebb_buf_fini(&asked[i].prefix);
    free(asked);
    return rc;
}
