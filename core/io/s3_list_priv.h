/* SPDX-License-Identifier: Apache-2.0
 *
 * Listing: pages and ranges of keys. A range is (after, end]: beyond a key, up to and with another.
 */
#ifndef EBB_IO_S3_LIST_PRIV_H
#define EBB_IO_S3_LIST_PRIV_H

#include "io/s3_priv.h"

#define EBB__S3_PAGE_BYTES ((size_t)16 << 20)

struct ebb__s3_page_item {
    size_t key_at, key_bytes; /* in keys */
    size_t etag_at, etag_bytes;
    uint64_t size_bytes;
    int64_t mtime_ms;
    bool is_prefix; /* a common prefix, not an object */
    bool is_doubtful;
};
struct ebb__s3_page {
    struct ebb__s3_page_item *items;
    size_t count, cap;
    struct ebb_buf keys; /* their bytes */
    struct ebb_buf token;
    struct ebb_buf prefix; /* that the server says it lists */
    bool has_truncated, is_truncated;
};
void ebb__s3_page_init(struct ebb__s3_page *page);
void ebb__s3_page_fini(struct ebb__s3_page *page);
/* Read an answer. EBB_ECORRUPT when it is no whole page; order and range of its keys are checked by whoever asked. */
int ebb__s3_page_read(const char *what, struct ebb_str body, bool is_encoded, struct ebb__s3_page *page,
                      struct ebb_err *err);
/* Whether it lists what was asked for, as far as it says. */
bool ebb__s3_page_is_of(const struct ebb__s3_page *page, struct ebb_str prefix);
static inline struct ebb_str ebb__s3_page_key(const struct ebb__s3_page *page, const struct ebb__s3_page_item *item)
{
    return (struct ebb_str){page->keys.data + item->key_at, item->key_bytes};
}

/* Begin `out` with the query of a page, its parts in the order in which they are signed. token empty: the first page
 * behind `after`. */
void ebb__s3_list_query(struct ebb_str prefix, struct ebb_str after, struct ebb_str token, bool has_delimiter,
                        struct ebb_buf *out);

/* s3_cuts.c: folders below a prefix, down to two levels: `data` and `metadata` of a table, then its partitions. */
struct ebb__s3_cuts {
    struct ebb_s3 *s3;
    const char *bucket, *what; /* what: for messages */
    struct ebb_str prefix;
    bool (*is_wanted)(void *data, struct ebb_str folder);
    void *data;
};
/* Add those that the first page of each level tells, sorted. */
int ebb__s3_cuts_find(const struct ebb__s3_cuts *cuts, struct ebb_strs *out, struct ebb_err *err);
/* How many lie before a key. */
size_t ebb__s3_cuts_before(const struct ebb_strs *cuts, struct ebb_str key);

/* s3_split.c: append a key between two (b empty: the end of all keys that begin with prefix), for cutting a range.
 * False when there is none that is worth it. */
bool ebb__s3_split_key(struct ebb_str prefix, struct ebb_str a, struct ebb_str b, struct ebb_buf *out);
/* The same for a range whose next page is under way: of the folders in it the one in the middle of what lies behind
 * that page, which will lead over as many as the last one did (passed). What it has beyond the new end comes twice. */
bool ebb__s3_split(const struct ebb_strs *cuts, struct ebb_str prefix, struct ebb_str after, struct ebb_str end,
                   size_t passed, struct ebb_buf *out);

#endif
