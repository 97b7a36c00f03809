/* SPDX-License-Identifier: Apache-2.0
 *
 * All names: namespaces level by level, then the tables in each; pages of one listing one after another, listings side
 * by side. Complete, or an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/text.h"
#include "io/rest_priv.h"

#define IDLE_MAX 50

/* One listing: of the namespaces below one, or of the tables in it. */
struct listing {
    struct ebb__rest *rest;
    const struct ebb_strs *levels; /* NULL: the top */
    bool is_tables;
    char *what;
    struct ebb_strs tokens; /* all that came */
    struct ebb__rest_page page;
    unsigned idle; /* pages in a row without a new name */
    bool is_done;
};

/* Names that were seen: open addressing, by their joined levels. */
struct search {
    struct ebb__rest *rest;
    struct ebb__rest_names spaces;
    size_t *slots; /* index + 1 */
    size_t slot_count;
    struct ebb__rest_names *tables;
};

/* ---- names ---- */

static bool same_levels(const struct ebb_strs *a, const struct ebb_strs *b)
{
    bool same = a->count == b->count;

    for (size_t i = 0; same && i < a->count; i++)
        same = !strcmp(a->items[i], b->items[i]);
    return same;
}

static uint64_t hash_levels(const struct ebb_strs *levels)
{
    uint64_t h = 1469598103934665603U;

    for (size_t i = 0; i < levels->count; i++) {
        for (const char *p = levels->items[i]; *p; p++)
            h = (h ^ (unsigned char)*p) * 1099511628211U;
        h = (h ^ 0x1f) * 1099511628211U;
    }
    return h;
}

static int grow_slots(struct search *s, struct ebb_err *err)
{
    size_t count = s->slot_count ? s->slot_count * 2 : 256;
    size_t *slots = calloc(count, sizeof *slots);

    if (!slots)
        return ebb_err_nomem(err);
    for (size_t i = 0; i < s->spaces.count; i++) {
        size_t at = hash_levels(&s->spaces.items[i].levels) & (count - 1);

        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    free(s->slots);
    s->slots = slots;
    s->slot_count = count;
    return 0;
}

static int add_name(const struct ebb__rest *r, struct ebb__rest_names *names, struct ebb__rest_name *name,
                    struct ebb_err *err)
{
    if (names->count >= EBB__REST_NAMES_MAX)
        return ebb_err_set(err, EBB_ELIMIT, "catalog '%s': more than %d names", r->name, EBB__REST_NAMES_MAX);
    if (names->count == names->cap) {
        size_t cap = names->cap ? names->cap * 2 : 64;
        struct ebb__rest_name *items = realloc(names->items, cap * sizeof *items);

        if (!items)
            return ebb_err_nomem(err);
        names->items = items;
        names->cap = cap;
    }
    names->items[names->count++] = *name;
    memset(name, 0, sizeof *name);
    return 0;
}

/* Servers that know no nesting may answer with the top again: each is taken once. */
static int add_space(struct search *s, struct ebb__rest_name *name, struct ebb_err *err)
{
    size_t at;
    int rc = 2 * s->spaces.count >= s->slot_count ? grow_slots(s, err) : 0;

    if (rc)
        return rc;
    at = hash_levels(&name->levels) & (s->slot_count - 1);
    while (s->slots[at]) {
        if (same_levels(&s->spaces.items[s->slots[at] - 1].levels, &name->levels))
            return 0;
        at = (at + 1) & (s->slot_count - 1);
    }
    rc = add_name(s->rest, &s->spaces, name, err);
    if (!rc)
        s->slots[at] = s->spaces.count;
    return rc;
}

/* ---- one listing ---- */

static void listing_fini(struct listing *l)
{
    free(l->what);
    ebb_strs_fini(&l->tokens);
    ebb__rest_page_fini(&l->page);
}

static int listing_init(struct listing *l, struct ebb__rest *r, const struct ebb_strs *levels, bool is_tables,
                        struct ebb_err *err)
{
    struct ebb_buf what;

    memset(l, 0, sizeof *l);
    l->rest = r;
    l->levels = levels;
    l->is_tables = is_tables;
    ebb_strs_init(&l->tokens);
    ebb_buf_init(&what, 65536);
    ebb_buf_puts(&what, is_tables ? "tables of " : levels ? "namespaces below " : "namespaces");
    if (levels)
        ebb__rest_join(&what, levels);
    l->what = ebb_buf_take(&what);
    ebb_buf_fini(&what);
    return l->what ? 0 : ebb_err_nomem(err);
}

static int on_page(void *data, const struct ebb_http_result *answer, struct ebb_err *err)
{
    struct listing *l = data;
    int rc = ebb__rest_parse_page(l->what, l->is_tables, answer->body, &l->page, err);

    if (rc && rc != -(int)EBB_ENOMEM) {
        ebb_err_as(err, EBB_ECATALOG, l->rest->name);
        ebb_err_hint(err, "uri is the part before /v1/config of an Iceberg REST catalog");
        rc = -(int)EBB_ECATALOG;
    }
    return rc;
}

static void put_path(const struct listing *l, struct ebb_buf *path)
{
    const char *token = l->tokens.count ? l->tokens.items[l->tokens.count - 1] : "";

    ebb_buf_puts(path, "namespaces");
    if (l->is_tables) {
        ebb_buf_putc(path, '/');
        ebb__rest_put_space(l->rest, path, l->levels);
        ebb_buf_puts(path, "/tables");
    }
    ebb_buf_puts(path, "?");
    if (!l->is_tables && l->levels) {
        ebb_buf_puts(path, "parent=");
        ebb__rest_put_space(l->rest, path, l->levels);
        ebb_buf_putc(path, '&');
    }
    ebb_buf_puts(path, "pageToken=");
    ebb_http_encode(path, ebb_str_of(token), false);
    ebb_buf_printf(path, "&pageSize=%d", EBB__REST_PAGE);
}

static int fail(const struct listing *l, struct ebb_err *err, const char *why)
{
    return ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: %s", l->rest->name, l->what, why);
}

static int check_page(struct listing *l, struct ebb_err *err)
{
    if (!l->page.next)
        return 0;
    if (ebb_strs_has(&l->tokens, l->page.next))
        return fail(l, err, "the server goes round in circles: a page token came twice");
    if (l->tokens.count >= EBB__REST_PAGES_MAX || l->idle >= IDLE_MAX)
        return fail(l, err, "the listing has no end");
    return ebb_strs_add(&l->tokens, l->page.next, err);
}

/* Servers without nesting say so in several ways. */
static bool is_without_nesting(const struct ebb__rest_ask *ask)
{
    if (ask->status == 405 || ask->status == 406 || ask->status == 501)
        return true;
    return ask->status == 400 && ask->type[0] &&
           (!strcmp(ask->type, "UnsupportedOperationException") || strcasestr(ask->err.message, "nest"));
}

/* What came, or that there is nothing (any more). */
static int judge(struct listing *l, const struct ebb__rest_ask *ask, struct ebb_err *err)
{
    if (!ask->err.error)
        return check_page(l, err);
    l->is_done = true;
    if (l->levels && ebb__rest_is_missing(ask, "NoSuchNamespaceException"))
        return 0; /* dropped meanwhile */
    if (l->levels && !l->is_tables && is_without_nesting(ask))
        return 0;
    if (err)
        *err = ask->err;
    return -(int)ask->err.error;
}

static int take_page(struct search *s, struct listing *l, struct ebb_err *err)
{
    size_t before = s->spaces.count + s->tables->count;
    int rc = 0;

    for (size_t i = 0; !rc && i < l->page.count; i++) {
        struct ebb__rest_name *name = &l->page.items[i];

        if (!l->is_tables)
            rc = add_space(s, name, err);
        else if (!same_levels(&name->levels, l->levels))
            rc = fail(l, err, "the server answers with tables of another namespace");
        else
            rc = add_name(s->rest, s->tables, name, err);
    }
    l->idle = s->spaces.count + s->tables->count == before ? l->idle + 1 : 0;
    l->is_done = l->is_done || !l->page.next;
    ebb__rest_page_fini(&l->page);
    return rc;
}

/* ---- many ---- */

static int ask_round(struct search *s, struct listing *all, size_t n, struct ebb__rest_ask *asks, size_t *open,
                     struct ebb_err *err)
{
    struct listing **who = calloc(n, sizeof *who);
    size_t count = 0;
    int rc = who ? 0 : ebb_err_nomem(err);

    for (size_t i = 0; !rc && i < n; i++) {
        if (all[i].is_done)
            continue;
        ebb__rest_ask_init(&asks[count], all[i].what);
        put_path(&all[i], &asks[count].path);
        asks[count].take = on_page;
        asks[count].data = &all[i];
        who[count++] = &all[i];
    }
    if (!rc)
        rc = ebb__rest_ask_many(s->rest, asks, count, err);
    for (size_t i = 0; !rc && i < count; i++) {
        rc = judge(who[i], &asks[i], err);
        if (!rc)
            rc = take_page(s, who[i], err);
    }
    *open = 0;
    for (size_t i = 0; i < count; i++) {
        *open += !who[i]->is_done;
        ebb__rest_ask_fini(&asks[i]);
    }
    free(who);
    return rc;
}

static int run_listings(struct search *s, struct listing *all, size_t n, struct ebb_err *err)
{
    struct ebb__rest_ask *asks = calloc(n, sizeof *asks);
    size_t open = n;
    int rc = asks ? 0 : ebb_err_nomem(err);

    while (!rc && open)
        rc = ask_round(s, all, n, asks, &open, err);
    free(asks);
    return rc;
}

#define CHUNK 512

/* The list of namespaces may move while it is gone through. */
static int copy_levels(const struct ebb_strs *from, struct ebb_strs *to, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < from->count; i++)
        rc = ebb_strs_add(to, from->items[i], err);
    return rc;
}

/* The tables in, or the namespaces below, those from..to. */
static int list_chunk(struct search *s, size_t from, size_t to, bool is_tables, struct ebb_err *err)
{
    struct listing *all = calloc(to - from, sizeof *all);
    struct ebb_strs *levels = calloc(to - from, sizeof *levels);
    int rc = all && levels ? 0 : ebb_err_nomem(err);
    size_t n = to - from;

    for (size_t i = 0; !rc && i < n; i++) {
        rc = copy_levels(&s->spaces.items[from + i].levels, &levels[i], err);
        if (!rc)
            rc = listing_init(&all[i], s->rest, &levels[i], is_tables, err);
        if (!rc && ebb__rest_unreachable(s->rest, &levels[i], NULL))
            rc = fail(&all[i], err, ebb__rest_unreachable(s->rest, &levels[i], NULL));
    }
    if (!rc)
        rc = run_listings(s, all, n, err);
    for (size_t i = 0; all && levels && i < n; i++) {
        listing_fini(&all[i]);
        ebb_strs_fini(&levels[i]);
    }
    free(all);
    free(levels);
    return rc;
}

/* Those that are found meanwhile come in their turn. */
static int list_each(struct search *s, bool is_tables, struct ebb_err *err)
{
    size_t to;
    int rc = 0;

    for (size_t i = 0; !rc && i < s->spaces.count; i = to) {
        to = s->spaces.count - i > CHUNK ? i + CHUNK : s->spaces.count;
        rc = list_chunk(s, i, to, is_tables, err);
    }
    return rc;
}

static int list_top(struct search *s, struct ebb_err *err)
{
    struct listing top;
    int rc = listing_init(&top, s->rest, NULL, false, err);

    if (!rc)
        rc = run_listings(s, &top, 1, err);
    listing_fini(&top);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    const struct ebb__rest_name *x = a, *y = b;
    int c = strcmp(x->dotted, y->dotted);

    return c ? c : strcmp(x->name, y->name);
}

static int sort_names(struct ebb__rest_names *names, struct ebb_err *err)
{
    for (size_t i = 0; i < names->count; i++) {
        struct ebb_buf dotted;

        ebb_buf_init(&dotted, (size_t)1 << 20);
        ebb__rest_join(&dotted, &names->items[i].levels);
        names->items[i].dotted = ebb_buf_take(&dotted);
        ebb_buf_fini(&dotted);
        if (!names->items[i].dotted)
            return ebb_err_nomem(err);
    }
    if (names->count)
        qsort(names->items, names->count, sizeof *names->items, by_name);
    return 0;
}

int ebb__rest_list(struct ebb__rest *rest, struct ebb__rest_names *out, struct ebb_err *err)
{
    struct search s = {.rest = rest, .tables = out};
    int rc;

    memset(out, 0, sizeof *out);
    rc = list_top(&s, err);
    if (!rc)
        rc = list_each(&s, false, err);
    if (!rc)
        rc = list_each(&s, true, err);
    if (!rc)
        rc = sort_names(out, err);
    free(s.slots);
    ebb__rest_names_fini(&s.spaces);
    if (rc)
        ebb__rest_names_fini(out);
    return rc;
}
