/* SPDX-License-Identifier: Apache-2.0
 *
 * One page of a listing: asked for, read and checked.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "io/s3_list_priv.h"

void ebb__s3_page_init(struct ebb__s3_page *page)
{
    memset(page, 0, sizeof *page);
    ebb_buf_init(&page->keys, EBB__S3_PAGE_BYTES);
    ebb_buf_init(&page->token, EBB__XML_TEXT_MAX);
    ebb_buf_init(&page->prefix, EBB__XML_TEXT_MAX);
}

void ebb__s3_page_fini(struct ebb__s3_page *page)
{
    ebb_buf_fini(&page->keys);
    ebb_buf_fini(&page->token);
    ebb_buf_fini(&page->prefix);
    free(page->items);
    memset(page, 0, sizeof *page);
}

void ebb__s3_list_query(struct ebb_str prefix, struct ebb_str after, struct ebb_str token, bool has_delimiter,
                        struct ebb_buf *out)
{
    ebb_buf_init(out, 4 * EBB__XML_TEXT_MAX);
    if (token.n) {
        ebb_buf_puts(out, "continuation-token=");
        ebb_http_encode(out, token, false);
        ebb_buf_putc(out, '&');
    }
    if (has_delimiter)
        ebb_buf_puts(out, "delimiter=%2F&");
    ebb_buf_puts(out, "encoding-type=url&list-type=2&max-keys=1000&prefix=");
    ebb_http_encode(out, prefix, false);
    if (after.n && !token.n) {
        ebb_buf_puts(out, "&start-after=");
        ebb_http_encode(out, after, false);
    }
}

struct reading {
    struct ebb__s3_page *page;
    const char *what;
    bool is_encoded;
    struct ebb__s3_page_item item; /* at hand */
    bool has_key, has_size, has_time;
    uint64_t told_count; /* of keys and common prefixes */
};

static int add_item(struct reading *r, struct ebb_err *err)
{
    struct ebb__s3_page *p = r->page;

    if (p->count == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 256;
        struct ebb__s3_page_item *more = realloc(p->items, cap * sizeof *more);

        if (!more)
            return ebb_err_nomem(err);
        p->items = more;
        p->cap = cap;
    }
    p->items[p->count++] = r->item;
    return 0;
}

/* What XML mangles, where keys come raw: such a name is not known for certain. */
static bool is_mangled(struct ebb_str key)
{
    for (size_t i = 0; i < key.n; i++) {
        unsigned char c = (unsigned char)key.p[i];

        if (c < 0x20 || c == 0x7f)
            return true;
        if (c == 0xEF && i + 2 < key.n && (unsigned char)key.p[i + 1] == 0xBF && (unsigned char)key.p[i + 2] == 0xBD)
            return true; /* U+FFFD */
    }
    return false;
}

static int take_key(struct reading *r, struct ebb_str text, struct ebb_err *err)
{
    struct ebb_buf *keys = &r->page->keys;

    r->item.key_at = keys->len;
    if (!r->is_encoded)
        ebb_buf_add_str(keys, text);
    else if (!ebb__s3_decode(text, keys))
        return ebb_err_set(err, EBB_ECORRUPT, "%s: a key is not encoded as it should be", r->what);
    r->item.key_bytes = keys->len - r->item.key_at;
    r->item.is_doubtful = !r->is_encoded && is_mangled(text);
    r->has_key = true;
    return ebb_buf_check(keys, r->what, err);
}

static int take_number(struct reading *r, struct ebb_str text, const char *name, uint64_t *out, struct ebb_err *err)
{
    uint64_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9' || n > (UINT64_MAX - 9) / 10)
            return ebb_err_set(err, EBB_ECORRUPT, "%s: %s is no number", r->what, name);
        n = 10 * n + (uint64_t)(text.p[i] - '0');
    }
    *out = n;
    return 0;
}

static int take_etag(struct reading *r, struct ebb_str text, struct ebb_err *err)
{
    struct ebb_buf *keys = &r->page->keys;

    if (text.n >= EBB_S3_ETAG_MAX)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: an ETag of %zu bytes", r->what, text.n);
    r->item.etag_at = keys->len;
    r->item.etag_bytes = text.n;
    ebb_buf_add_str(keys, text);
    return ebb_buf_check(keys, r->what, err);
}

static int take_member(struct reading *r, const char *name, struct ebb_str text, struct ebb_err *err)
{
    if (!strcmp(name, "Key") || !strcmp(name, "Prefix"))
        return take_key(r, text, err);
    if (!strcmp(name, "Size")) {
        r->has_size = text.n > 0;
        return take_number(r, text, "a size", &r->item.size_bytes, err);
    }
    if (!strcmp(name, "ETag"))
        return take_etag(r, text, err);
    if (!strcmp(name, "LastModified"))
        r->has_time = !ebb__s3_iso_time(text, &r->item.mtime_ms);
    return 0;
}

static int on_begin(void *data, size_t depth, const char *name, struct ebb_err *err)
{
    struct reading *r = data;

    if (depth == 0 && strcmp(name, "ListBucketResult") != 0)
        return ebb_err_set(err, EBB_ECORRUPT, "%s: <%.40s> is no listing", r->what, name);
    if (depth == 1) {
        memset(&r->item, 0, sizeof r->item);
        r->has_key = r->has_size = r->has_time = false;
    }
    return 0;
}

static int on_end(void *data, size_t depth, const char *name, struct ebb_str text, struct ebb_err *err)
{
    struct reading *r = data;

    if (depth == 2)
        return take_member(r, name, text, err);
    if (depth != 1)
        return 0;
    if (!strcmp(name, "IsTruncated")) {
        r->page->has_truncated = ebb_str_is_equal(text, EBB_STR("true")) || ebb_str_is_equal(text, EBB_STR("false"));
        r->page->is_truncated = ebb_str_is_equal(text, EBB_STR("true"));
    } else if (!strcmp(name, "NextContinuationToken")) {
        ebb_buf_add_str(&r->page->token, text);
    } else if (!strcmp(name, "Prefix")) {
        ebb_buf_add_str(&r->page->prefix, text);
    } else if (!strcmp(name, "KeyCount")) {
        return take_number(r, text, "the number of keys", &r->told_count, err);
    } else if (!strcmp(name, "Contents")) {
        if (!r->has_key || !r->has_size || !r->has_time)
            return ebb_err_set(err, EBB_ECORRUPT, "%s: an object without key, size or time", r->what);
        return add_item(r, err);
    } else if (!strcmp(name, "CommonPrefixes") && r->has_key) {
        r->item.is_prefix = true;
        return add_item(r, err);
    }
    return 0;
}

int ebb__s3_page_read(const char *what, struct ebb_str body, bool is_encoded, struct ebb__s3_page *page,
                      struct ebb_err *err)
{
    static const struct ebb__xml_ops OPS = {on_begin, on_end};
    struct reading r = {.page = page, .what = what, .is_encoded = is_encoded};
    int rc = ebb__xml_parse(what, body, &OPS, &r, err);

    if (!rc && !page->has_truncated)
        rc = ebb_err_set(err, EBB_ECORRUPT, "%s: does not tell whether there is more", what);
    if (!rc && r.told_count > page->count)
        rc = ebb_err_set(err, EBB_ECORRUPT, "%s: holds %zu keys of %" PRIu64, what, page->count, r.told_count);
    if (!rc && page->is_truncated && !page->token.len)
        rc = ebb_err_set(err, EBB_ECORRUPT, "%s: there is more, but it does not tell how to go on", what);
    return rc;
}

bool ebb__s3_page_is_of(const struct ebb__s3_page *page, struct ebb_str prefix)
{
    struct ebb_str told = ebb_buf_str(&page->prefix);
    struct ebb_buf decoded;
    bool is_same;

    if (!told.n || ebb_str_is_equal(told, prefix))
        return true;
    ebb_buf_init(&decoded, EBB__XML_TEXT_MAX);
    is_same = ebb__s3_decode(told, &decoded) && ebb_str_is_equal(ebb_buf_str(&decoded), prefix);
    ebb_buf_fini(&decoded);
    return is_same;
}
