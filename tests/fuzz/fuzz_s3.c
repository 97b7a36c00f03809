/* SPDX-License-Identifier: Apache-2.0
 *
 * What object stores answer: the first byte says whether keys count as encoded; the rest is read as a page of a listing
 * and as an error.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "io/s3_list_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_items(const struct ebb__s3_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct ebb__s3_page_item *item = &page->items[i];

        if (item->key_at > page->keys.len || item->key_bytes > page->keys.len - item->key_at ||
            item->etag_at > page->keys.len || item->etag_bytes > page->keys.len - item->etag_at ||
            item->etag_bytes >= EBB_S3_ETAG_MAX)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ebb__s3_failure failure;
    struct ebb__s3_page page;
    struct ebb_str body;

    if (size == 0)
        return 0;
    body = (struct ebb_str){(const char *)data + 1, size - 1};
    ebb__s3_page_init(&page);
    if (!ebb__s3_page_read("listing", body, data[0] & 1, &page, NULL)) {
        if (!page.has_truncated || (page.is_truncated && !page.token.len))
            abort();
        check_items(&page);
    }
    ebb__s3_page_fini(&page);
    ebb__s3_failure_read(body, &failure);
    if (memchr(failure.code, '\n', strlen(failure.code)))
        abort();
    ebb__s3_judge(400, failure.code);
    return 0;
}
