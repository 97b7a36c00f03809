/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a listing can be cut before anything of it is known: at its folders.
 */
#include <stdlib.h>

#include "io/s3_list_priv.h"

#define CUTS_MAX 4096
#define TOP_MAX 4 /* folders of the first level that are looked into */

/* One level, as far as one page tells. */
struct level {
    const struct ebb__s3_cuts *cuts;
    struct ebb_str prefix;
    struct ebb__s3_page page;
    bool is_running;
    struct ebb_err err;
};

static void on_level(void *data, const struct ebb__s3_answer *answer)
{
    struct level *level = data;
    const struct ebb__s3_cuts *cuts = level->cuts;

    level->is_running = false;
    if (answer->err->error)
        level->err = *answer->err;
    else
        ebb__s3_page_read(cuts->what, answer->body, cuts->s3->encoding == EBB__S3_ENCODED, &level->page, &level->err);
}

static int ask(struct level *level, struct ebb_err *err)
{
    const struct ebb__s3_cuts *cuts = level->cuts;
    struct ebb__s3_call call = {.method = "GET", .bucket = cuts->bucket};
    struct ebb_buf query;
    int rc;

    ebb__s3_list_query(level->prefix, (struct ebb_str){"", 0}, (struct ebb_str){"", 0}, true, &query);
    call.query = ebb_buf_cstr(&query);
    rc = ebb_buf_check(&query, cuts->what, err);
    if (!rc)
        rc = ebb__s3_start(cuts->s3, &call, on_level, level, err);
    level->is_running = !rc;
    ebb_buf_fini(&query);
    return rc;
}

static bool are_running(const struct level *levels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (levels[i].is_running)
            return true;
    return false;
}

/* Ask for these folders at the same time. */
static int ask_all(const struct ebb__s3_cuts *cuts, struct level *levels, size_t n, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < n; i++) {
        levels[i].cuts = cuts;
        rc = ask(&levels[i], err);
    }
    while (!rc && are_running(levels, n))
        rc = ebb__s3_turn(cuts->s3, err);
    if (are_running(levels, n))
        ebb__s3_drop(cuts->s3);
    for (size_t i = 0; !rc && i < n; i++) {
        rc = -(int)levels[i].err.error;
        if (rc && err)
            *err = levels[i].err;
    }
    return rc;
}

static int take(const struct ebb__s3_cuts *cuts, const struct ebb__s3_page *page, struct ebb_strs *out,
                struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < page->count && out->count < CUTS_MAX; i++) {
        struct ebb_str key = ebb__s3_page_key(page, &page->items[i]);

        if (page->items[i].is_prefix && !page->items[i].is_doubtful && key.n > cuts->prefix.n &&
            ebb_str_has_prefix(key, cuts->prefix) && !memchr(key.p, '\0', key.n) && cuts->is_wanted(cuts->data, key))
            rc = ebb_strs_addn(out, key.p, key.n, err);
    }
    return rc;
}

static int look_into(const struct ebb__s3_cuts *cuts, struct level *levels, size_t n, struct ebb_strs *out,
                     struct ebb_err *err)
{
    int rc;

    for (size_t i = 0; i < n; i++)
        ebb__s3_page_init(&levels[i].page);
    rc = ask_all(cuts, levels, n, err);
    for (size_t i = 0; i < n; i++) {
        if (!rc)
            rc = take(cuts, &levels[i].page, out, err);
        ebb__s3_page_fini(&levels[i].page);
    }
    return rc;
}

int ebb__s3_cuts_find(const struct ebb__s3_cuts *cuts, struct ebb_strs *out, struct ebb_err *err)
{
    struct level top = {.prefix = cuts->prefix}, below[TOP_MAX];
    int rc = look_into(cuts, &top, 1, out, err);
    size_t n = out->count <= TOP_MAX ? out->count : 0;

    memset(below, 0, sizeof below);
    for (size_t i = 0; i < n; i++)
        below[i].prefix = ebb_str_of(out->items[i]);
    if (!rc)
        rc = look_into(cuts, below, n, out, err);
    ebb_strs_sort(out);
    return rc;
}

size_t ebb__s3_cuts_before(const struct ebb_strs *cuts, struct ebb_str key)
{
    size_t low = 0, high = cuts->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ebb_str_compare(ebb_str_of(cuts->items[middle]), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
