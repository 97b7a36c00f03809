/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "io/catalog_rest_priv.h"

#define ETAG_MAX 256
#define KEPT_MAX ((size_t)100000)

/* ---- what is kept ---- */

static size_t kept_at(const struct ebb__rest_catalog *c, const char *path, bool *is_there)
{
    size_t from = 0, to = c->kept_count;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        int cmp = strcmp(c->kept[mid].path, path);

        if (!cmp) {
            *is_there = true;
            return mid;
        }
        if (cmp < 0)
            from = mid + 1;
        else
            to = mid;
    }
    *is_there = false;
    return from;
}

struct ebb__rest_table *ebb__rest_kept_find(struct ebb__rest_catalog *c, const char *path)
{
    bool is_there;
    size_t at = kept_at(c, path, &is_there);

    return is_there ? &c->kept[at].table : NULL;
}

int ebb__rest_keep(struct ebb__rest_catalog *c, const char *path, struct ebb__rest_table *table, struct ebb_err *err)
{
    bool is_there;
    size_t at = kept_at(c, path, &is_there);

    if (!is_there) {
        if (c->kept_count == KEPT_MAX) /* all anew, rather than without bound */
            ebb__rest_kept_fini(c), at = 0;
        if (c->kept_count == c->kept_cap) {
            size_t cap = c->kept_cap ? c->kept_cap * 2 : 64;
            struct ebb__rest_kept *kept = realloc(c->kept, cap * sizeof *kept);

            if (!kept)
                return ebb_err_nomem(err);
            c->kept = kept;
            c->kept_cap = cap;
        }
        memmove(&c->kept[at + 1], &c->kept[at], (c->kept_count - at) * sizeof *c->kept);
        memset(&c->kept[at], 0, sizeof *c->kept);
        c->kept_count++;
        c->kept[at].path = strdup(path);
        if (!c->kept[at].path) {
            c->kept_count--;
            memmove(&c->kept[at], &c->kept[at + 1], (c->kept_count - at) * sizeof *c->kept);
            return ebb_err_nomem(err);
        }
    }
    ebb__rest_table_fini(&c->kept[at].table);
    c->kept[at].table = *table;
    memset(table, 0, sizeof *table);
    return 0;
}

void ebb__rest_kept_fini(struct ebb__rest_catalog *c)
{
    for (size_t i = 0; i < c->kept_count; i++) {
        free(c->kept[i].path);
        ebb__rest_table_fini(&c->kept[i].table);
    }
    free(c->kept);
    c->kept = NULL;
    c->kept_count = c->kept_cap = 0;
}

/* ---- a load ---- */

static bool is_etag(const char *text)
{
    size_t n = text ? strlen(text) : 0;

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f)
            return false;
    return n && n <= ETAG_MAX;
}

static int on_table(void *data, const struct ebb_http_result *answer, struct ebb_err *err)
{
    struct ebb__rest_load *load = data;
    const char *etag = ebb_http_result_header(answer, "ETag");
    int rc;

    load->is_unchanged = answer->status == 304;
    ebb__rest_table_fini(&load->got);
    if (load->is_unchanged)
        return 0;
    rc = ebb__rest_parse_table(load->what, answer->body, &load->got, err);
    if (!rc && is_etag(etag)) {
        load->got.etag = strdup(etag);
        rc = load->got.etag ? 0 : ebb_err_nomem(err);
    }
    if (rc && rc != -(int)EBB_ENOMEM)
        rc = ebb_err_as(err, EBB_ECATALOG, load->catalog->rest->name);
    return rc;
}

static int prepare(struct ebb__rest_load *load, const struct ebb_strs *levels, const char *name, struct ebb_err *err)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 16384);
    ebb__rest_put_table(load->catalog->rest, &text, levels, name);
    load->path = ebb_buf_take(&text);
    ebb_buf_puts(&text, "table ");
    ebb__rest_join(&text, levels);
    ebb_buf_printf(&text, ".%s", name);
    load->what = ebb_buf_take(&text);
    ebb_buf_fini(&text);
    return load->path && load->what ? 0
                                    : ebb_err_set(err, EBB_ELIMIT, "catalog '%s': the name of a table is too long",
                                                  load->catalog->rest->name);
}

int ebb__rest_load_init(struct ebb__rest_load *load, struct ebb__rest_catalog *c, const struct ebb_strs *levels,
                        const char *name, bool is_fresh, struct ebb_err *err)
{
    const struct ebb__rest_table *kept;
    int rc;

    memset(load, 0, sizeof *load);
    load->catalog = c;
    ebb__rest_ask_init(&load->ask, NULL);
    rc = prepare(load, levels, name, err);
    if (rc)
        return rc;
    kept = is_fresh ? NULL : ebb__rest_kept_find(c, load->path);
    if (kept && kept->etag) {
        load->etag = strdup(kept->etag);
        if (!load->etag)
            return ebb_err_nomem(err);
    }
    load->ask.what = load->what;
    load->ask.etag = load->etag;
    load->ask.wants_vended = c->rest->vended;
    load->ask.take = on_table;
    load->ask.data = load;
    ebb_buf_printf(&load->ask.path, "%s?snapshots=all", load->path);
    return 0;
}

void ebb__rest_load_fini(struct ebb__rest_load *load)
{
    ebb__rest_ask_fini(&load->ask);
    ebb__rest_table_fini(&load->got);
    free(load->path);
    free(load->what);
    free(load->etag);
    memset(load, 0, sizeof *load);
}

int ebb__rest_load_take(struct ebb__rest_load *load, struct ebb__rest_table **out, struct ebb_err *err)
{
    struct ebb__rest_catalog *c = load->catalog;
    int rc = load->is_unchanged ? 0 : ebb__rest_keep(c, load->path, &load->got, err);

    *out = rc ? NULL : ebb__rest_kept_find(c, load->path);
    if (!rc && !*out)
        rc = ebb_err_set(err, EBB_EINTERNAL, "catalog '%s': %s: is not kept", c->rest->name, load->what);
    if (!rc && c->rest->vended)
        rc = ebb__rest_lend(c, load->path, load->what, *out, err);
    return rc;
}

int ebb__rest_load_one(struct ebb__rest_catalog *c, const struct ebb_strs *levels, const char *name, bool is_fresh,
                       struct ebb__rest_table **out, struct ebb_err *err)
{
    struct ebb__rest_load load;
    const char *why = ebb__rest_unreachable(c->rest, levels, name);
    int rc;

    *out = NULL;
    if (why)
        return ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "catalog '%s': table %s: %s", c->rest->name, name, why);
    rc = ebb__rest_load_init(&load, c, levels, name, is_fresh, err);
    load.ask.answer_bytes = EBB__REST_LARGE;
    if (!rc)
        rc = ebb__rest_ask_one(c->rest, &load.ask, err);
    if (!rc)
        rc = ebb__rest_load_take(&load, out, err);
    else if (ebb__rest_is_missing(&load.ask, "NoSuchTableException") ||
             ebb__rest_is_missing(&load.ask, "NoSuchNamespaceException"))
        rc = ebb_err_as(err, EBB_ETABLE_NOT_FOUND, NULL);
    ebb__rest_load_fini(&load);
    return rc;
}

int ebb__rest_split(const char *dotted, struct ebb_strs *levels, struct ebb_err *err)
{
    int rc = 0;

    while (!rc && *dotted) {
        size_t n = strcspn(dotted, ".");

        rc = ebb_strs_addn(levels, dotted, n, err);
        dotted += n;
        if (!rc && *dotted == '.' && !*++dotted)
            rc = ebb_strs_addn(levels, "", 0, err);
    }
    return rc;
}
