/* SPDX-License-Identifier: Apache-2.0
 *
 * A listing: ranges of keys, several of them at the same time. Their first cuts are common prefixes; where one turns
 * out long while others are done, it is cut again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "io/s3_list_priv.h"

#define PARALLEL 16
#define RANGES_MAX 4096
#define SPLIT_PAGES 2             /* a range that gave fewer may be about to end: cutting it would only ask twice */
#define BEYOND "\xF4\x8F\xBF\xBF" /* U+10FFFF: after every key that begins like what stands before it */

struct listing;
struct range {
    struct listing *l;
    struct ebb_buf after, end; /* end empty: no end */
    struct ebb_buf token;      /* of the next page; empty: begin after `after` */
    bool is_running, is_done, is_long;
    size_t pages;
    size_t passed;       /* cuts that its last page led over */
    struct ebb_buf page; /* come, not told yet */
    bool has_page;
};

struct listing {
    struct ebb_s3 *s3;
    const char *bucket;
    struct ebb_str prefix;
    unsigned parallel;
    ebb_s3_enter_cb *enter;
    ebb_s3_list_cb *cb;
    void *data;
    struct range **ranges;
    size_t count, pages, splits;
    struct ebb_strs cuts;   /* sorted */
    struct ebb_buf refused; /* the last folder that is not wanted, with its slash */
    struct ebb_buf allowed; /* the last that is */
    char what[600];
    int rc;
    struct ebb_err err;
};

/* ---- ranges ---- */

static void range_free(struct range *r)
{
    ebb_buf_fini(&r->after);
    ebb_buf_fini(&r->end);
    ebb_buf_fini(&r->token);
    ebb_buf_fini(&r->page);
    free(r);
}

static struct range *add_range(struct listing *l, struct ebb_str after, struct ebb_str end)
{
    struct range **more = realloc(l->ranges, (l->count + 1) * sizeof(struct range *));
    struct range *r;

    if (!more)
        return NULL;
    l->ranges = more;
    r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->l = l;
    ebb_buf_init(&r->after, 65536);
    ebb_buf_init(&r->end, 65536);
    ebb_buf_init(&r->token, EBB__XML_TEXT_MAX);
    ebb_buf_add_str(&r->after, after);
    ebb_buf_add_str(&r->end, end);
    if (r->after.bad || r->end.bad) {
        range_free(r);
        return NULL;
    }
    l->ranges[l->count++] = r;
    return r;
}

static void fail(struct listing *l, int rc)
{
    if (!l->rc)
        l->rc = rc;
}

static void corrupt(struct listing *l, const char *why)
{
    if (!l->rc)
        fail(l, ebb_err_set(&l->err, EBB_ECORRUPT, "%s: the server's listing is not right: %s", l->what, why));
}

/* ---- folders that are not wanted ---- */

/* The folder of a key, with its slash. */
static struct ebb_str dir_of(struct ebb_str key)
{
    while (key.n && key.p[key.n - 1] != '/')
        key.n--;
    return key;
}

/* Ask for each folder below the prefix that leads to this key, from the outside in. */
static bool is_wanted(void *data, struct ebb_str key)
{
    struct listing *l = data;
    struct ebb_str dir = dir_of(key);

    if (!l->enter || dir.n <= l->prefix.n || ebb_str_is_equal(dir, ebb_buf_str(&l->allowed)))
        return true;
    if (l->refused.len && ebb_str_has_prefix(key, ebb_buf_str(&l->refused)))
        return false;
    for (size_t i = l->prefix.n; i < dir.n; i++) {
        struct ebb_str part = {dir.p, i + 1};

        if (dir.p[i] != '/' || l->enter(l->data, part))
            continue;
        ebb_buf_reset(&l->refused);
        ebb_buf_add_str(&l->refused, part);
        return false;
    }
    ebb_buf_reset(&l->allowed);
    ebb_buf_add_str(&l->allowed, dir);
    return true;
}

/* ---- pages ---- */

static int tell_item(struct listing *l, const struct ebb__s3_page *page, const struct ebb__s3_page_item *item)
{
    const struct ebb_s3_listed listed = {ebb__s3_page_key(page, item),
                                         item->size_bytes,
                                         item->mtime_ms,
                                         {page->keys.data + item->etag_at, item->etag_bytes},
                                         item->is_doubtful};

    return l->cb(l->data, &listed, &l->err);
}

/* Keys ascend, begin with the prefix, and lie beyond what was told. Past the end another range goes on. */
static bool take_items(struct range *r, const struct ebb__s3_page *page)
{
    struct listing *l = r->l;

    for (size_t i = 0; !l->rc && i < page->count; i++) {
        struct ebb_str key = ebb__s3_page_key(page, &page->items[i]);

        if (!ebb_str_has_prefix(key, l->prefix))
            corrupt(l, "a key does not begin with the prefix");
        else if (r->after.len && ebb_str_compare(key, ebb_buf_str(&r->after)) <= 0)
            corrupt(l, "keys do not ascend");
        if (l->rc)
            return false;
        if (r->end.len && ebb_str_compare(key, ebb_buf_str(&r->end)) > 0)
            return true;
        ebb_buf_reset(&r->after);
        ebb_buf_add_str(&r->after, key);
        if (r->after.bad)
            corrupt(l, "a key is too long");
        else if (is_wanted(l, key))
            fail(l, tell_item(l, page, &page->items[i]));
    }
    return false;
}

/* A folder that is not wanted and does not end on this page is passed over. */
static void pass_over(struct range *r)
{
    struct listing *l = r->l;

    if (!l->refused.len || !ebb_str_has_prefix(ebb_buf_str(&r->after), ebb_buf_str(&l->refused)))
        return;
    ebb_buf_reset(&r->after);
    ebb_buf_add_str(&r->after, ebb_buf_str(&l->refused));
    ebb_buf_puts(&r->after, BEYOND);
    ebb_buf_reset(&r->token);
    r->is_done = r->end.len && ebb_str_compare(ebb_buf_str(&r->after), ebb_buf_str(&r->end)) >= 0;
}

static void take_page(struct range *r, const struct ebb__s3_page *page)
{
    struct listing *l = r->l;
    size_t before;
    bool is_past;

    if (!ebb__s3_page_is_of(page, l->prefix))
        corrupt(l, "it is of another prefix");
    before = ebb__s3_cuts_before(&l->cuts, ebb_buf_str(&r->after));
    is_past = take_items(r, page);
    if (l->rc)
        return;
    r->passed = ebb__s3_cuts_before(&l->cuts, ebb_buf_str(&r->after)) - before;
    if (is_past || !page->is_truncated) {
        r->is_done = true;
        return;
    }
    if (ebb_str_is_equal(ebb_buf_str(&page->token), ebb_buf_str(&r->token))) {
        corrupt(l, "the same page is offered twice");
        return;
    }
    r->is_long = true;
    ebb_buf_reset(&r->token);
    ebb_buf_add_str(&r->token, ebb_buf_str(&page->token));
    pass_over(r);
}

/* Only kept: who is told may itself ask this client, and pages that come meanwhile must wait for the end of that. */
static void on_page(void *data, const struct ebb__s3_answer *answer)
{
    struct range *r = data;
    struct listing *l = r->l;

    r->is_running = false;
    r->pages++;
    l->pages++;
    if (l->rc)
        return;
    if (answer->err->error) {
        l->err = *answer->err;
        fail(l, -(int)answer->err->error);
        return;
    }
    r->page = *answer->bytes;
    ebb_buf_init(answer->bytes, r->page.max);
    r->has_page = true;
}

/* Tell a page that has come. Only one: what it leads to is asked for before the next one is read. */
static void take_one(struct listing *l)
{
    struct ebb__s3_page page;
    struct range *r = NULL;

    for (size_t i = 0; !r && i < l->count; i++)
        if (l->ranges[i]->has_page)
            r = l->ranges[i];
    if (!r)
        return;
    ebb__s3_page_init(&page);
    fail(l, ebb__s3_page_read(l->what, ebb_buf_str(&r->page), l->s3->encoding == EBB__S3_ENCODED, &page, &l->err));
    if (!l->rc)
        take_page(r, &page);
    r->has_page = false;
    ebb_buf_fini(&r->page);
    ebb__s3_page_fini(&page);
}

static int ask(struct range *r)
{
    struct listing *l = r->l;
    struct ebb__s3_call call = {.method = "GET", .bucket = l->bucket};
    struct ebb_buf query;
    int rc;

    ebb__s3_list_query(l->prefix, ebb_buf_str(&r->after), ebb_buf_str(&r->token), false, &query);
    call.query = ebb_buf_cstr(&query);
    rc = ebb_buf_check(&query, l->what, &l->err);
    if (!rc)
        rc = ebb__s3_start(l->s3, &call, on_page, r, &l->err);
    r->is_running = !rc;
    ebb_buf_fini(&query);
    return rc;
}

/* ---- cutting ---- */

static int find_cuts(struct listing *l, struct ebb_err *err)
{
    const struct ebb__s3_cuts cuts = {l->s3, l->bucket, l->what, l->prefix, is_wanted, l};

    return ebb__s3_cuts_find(&cuts, &l->cuts, err);
}

/* As many ranges as go at once, of as many cuts each. */
static int make_ranges(struct listing *l, struct ebb_err *err)
{
    struct ebb_str after = {"", 0};
    size_t pieces = l->parallel > 1 && l->cuts.count ? l->parallel : 1;

    for (size_t i = 1; i < pieces; i++) {
        size_t at = i * l->cuts.count / pieces;
        struct ebb_str cut = ebb_str_of(l->cuts.items[at]);

        if (ebb_str_compare(cut, after) <= 0)
            continue;
        if (!add_range(l, after, cut))
            return ebb_err_nomem(err);
        after = cut;
    }
    return add_range(l, after, (struct ebb_str){"", 0}) ? 0 : ebb_err_nomem(err);
}

static size_t count_running(const struct listing *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->count; i++)
        n += l->ranges[i]->is_running || l->ranges[i]->has_page;
    return n;
}

static struct range *longest(const struct listing *l)
{
    struct range *best = NULL;

    for (size_t i = 0; i < l->count; i++) {
        struct range *r = l->ranges[i];

        if (!r->is_done && r->is_long && r->is_running && r->pages >= SPLIT_PAGES && (!best || r->pages > best->pages))
            best = r;
    }
    return best;
}

/* Cut a range that is under way: what its page tells beyond its new end is told by the new range. */
static int split(struct listing *l, bool *was_split)
{
    struct range *r = longest(l), *more;
    struct ebb_buf key;

    *was_split = false;
    if (!r || l->count >= RANGES_MAX || l->splits > l->parallel + l->pages / 2)
        return 0;
    l->splits++;
    ebb_buf_init(&key, 65536);
    if (ebb__s3_split(&l->cuts, l->prefix, ebb_buf_str(&r->after), ebb_buf_str(&r->end), r->passed, &key)) {
        more = add_range(l, ebb_buf_str(&key), ebb_buf_str(&r->end));
        if (!more) {
            ebb_buf_fini(&key);
            return ebb_err_nomem(&l->err);
        }
        ebb_buf_reset(&r->end);
        ebb_buf_add_str(&r->end, ebb_buf_str(&key));
        *was_split = true;
    }
    r->pages = 0; /* another one is the longest next time */
    ebb_buf_fini(&key);
    return 0;
}

/* Ask for the next page of each range that has one, as many as go at once. */
static int ask_all(struct listing *l, bool *is_done)
{
    size_t running = count_running(l);
    bool was_split = true;
    int rc = 0;

    for (size_t i = 0; !rc && i < l->count && running < l->parallel; i++)
        if (!l->ranges[i]->is_done && !l->ranges[i]->is_running && !l->ranges[i]->has_page) {
            rc = ask(l->ranges[i]);
            running++;
        }
    while (!rc && was_split && running < l->parallel && l->parallel > 1) {
        rc = split(l, &was_split);
        if (!rc && was_split) {
            rc = ask(l->ranges[l->count - 1]);
            running++;
        }
    }
    *is_done = !rc && running == 0;
    return rc;
}

static bool has_pages(const struct listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->ranges[i]->has_page)
            return true;
    return false;
}

static int run(struct listing *l)
{
    bool is_done = false;

    while (!l->rc) {
        take_one(l);
        if (!l->rc)
            fail(l, ask_all(l, &is_done));
        if (is_done || l->rc)
            break;
        if (has_pages(l)) {
            ebb__s3_poll(l->s3);
            continue;
        }
        if (!ebb__s3_pending(l->s3)) /* whoever was told a page gave up all requests of this client */
            fail(l, ebb_err_set(&l->err, EBB_EIO, "%s: the listing was broken off", l->what));
        else
            fail(l, ebb__s3_turn(l->s3, &l->err));
    }
    return l->rc;
}

static bool is_asking(const struct listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->ranges[i]->is_running)
            return true;
    return false;
}

int ebb_s3_list(struct ebb_s3 *s3, const char *bucket, struct ebb_str prefix, unsigned parallel, ebb_s3_enter_cb *enter,
                ebb_s3_list_cb *cb, void *data, struct ebb_err *err)
{
    struct listing l = {.s3 = s3, .bucket = bucket, .prefix = prefix, .enter = enter, .cb = cb, .data = data};
    struct ebb_buf what;
    int rc;

    l.parallel = parallel ? parallel : PARALLEL;
    ebb_buf_init(&what, sizeof l.what);
    ebb__s3_name(&what, bucket, prefix);
    snprintf(l.what, sizeof l.what, "%s", ebb_buf_cstr(&what));
    ebb_buf_fini(&what);
    ebb_strs_init(&l.cuts);
    ebb_buf_init(&l.refused, 65536);
    ebb_buf_init(&l.allowed, 65536);
    rc = ebb__s3_probe_encoding(s3, bucket, err);
    if (!rc && l.parallel > 1)
        rc = find_cuts(&l, err);
    if (!rc)
        rc = make_ranges(&l, err);
    if (!rc) {
        rc = run(&l);
        if (rc && err)
            *err = l.err;
    }
    if (rc && is_asking(&l)) /* else what others have under way goes on */
        ebb__s3_drop(s3);
    for (size_t i = 0; i < l.count; i++)
        range_free(l.ranges[i]);
    free(l.ranges);
    ebb_strs_fini(&l.cuts);
    ebb_buf_fini(&l.refused);
    ebb_buf_fini(&l.allowed);
    return rc;
}
