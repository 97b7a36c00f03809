/* SPDX-License-Identifier: Apache-2.0
 *
 * Views: the catalogs are listed in a worker's thread; a table whose metadata is that of the view before is not opened.
 */
#include <stdlib.h>

#include "base/location.h"
#include "service/daemon_priv.h"
#include "table/table.h"

#define VIEW_MAX_BYTES ((size_t)2 << 30)
#define LABEL_MAX_BYTES 65536

struct listing {
    struct ebb_workspace *ws;
    const struct ebb__view *before;
    struct ebb__view *view;
    size_t cap;
    struct ebb_buf label;
};

struct ebb__view *ebb__view_ref(struct ebb__view *view)
{
    if (view)
        atomic_fetch_add(&view->refs, 1);
    return view;
}

void ebb__view_unref(struct ebb__view *view)
{
    if (!view || atomic_fetch_sub(&view->refs, 1) != 1)
        return;
    ebb_arena_fini(&view->arena);
    free(view->entries);
    free(view);
}

const struct ebb__entry *ebb__view_find(const struct ebb__view *view, const char *label)
{
    size_t low = 0, high = view ? view->count : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int c = strcmp(view->entries[middle].label, label);

        if (!c)
            return &view->entries[middle];
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static const char *keep(struct listing *l, const char *text)
{
    return text ? ebb_arena_dup(&l->view->arena, text, strlen(text)) : NULL;
}

static struct ebb__entry *add(struct listing *l)
{
    struct ebb__view *v = l->view;

    if (v->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 256;
        struct ebb__entry *grown = realloc(v->entries, cap * sizeof *grown);

        if (!grown)
            return NULL;
        v->entries = grown;
        l->cap = cap;
    }
    memset(&v->entries[v->count], 0, sizeof v->entries[0]);
    v->entries[v->count].watch = -1;
    return &v->entries[v->count++];
}

/* Where the table says it is, and who it is: of the view before, or of its metadata. */
static void identify(struct listing *l, const struct ebb_table_ref *ref, struct ebb__entry *e)
{
    const struct ebb__entry *was = ebb__view_find(l->before, e->label);
    struct ebb_table *t = NULL;

    if (was && was->location && was->metadata_uri && !strcmp(was->metadata_uri, ref->metadata_uri)) {
        e->location = keep(l, was->location);
        e->uuid = keep(l, was->uuid);
    } else if (ebb_table_open_ref(ebb_workspace_site(l->ws), ref, &t, NULL) == 0) {
        e->location = keep(l, t->metadata->location);
        e->uuid = keep(l, t->metadata->uuid);
    } else {
        l->view->is_unknown = true;
    }
    ebb_table_free(t);
}

static int fill(struct listing *l, const struct ebb_table_ref *ref, struct ebb__entry *e, struct ebb_err *err)
{
    ebb_buf_reset(&l->label);
    ebb_buf_printf(&l->label, "%s.%s%s%s", ref->catalog, ref->namespace_ ? ref->namespace_ : "",
                   ref->namespace_ && ref->namespace_[0] ? "." : "", ref->name);
    e->label = keep(l, ebb_buf_cstr(&l->label));
    e->catalog = keep(l, ref->catalog);
    e->namespace_ = keep(l, ref->namespace_ ? ref->namespace_ : "");
    e->name = keep(l, ref->name);
    e->metadata_uri = keep(l, ref->metadata_uri);
    e->folder_uri = keep(l, ref->folder_uri);
    e->needs_load = !ref->metadata_uri || ref->lagging.count > 0;
    if (!e->label || !e->catalog || !e->namespace_ || !e->name)
        return ebb_err_nomem(err);
    if (ref->metadata_uri)
        identify(l, ref, e);
    else
        l->view->is_unknown = true;
    return ebb_buf_check(&l->label, "table name", err);
}

static int on_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct listing *l = data;
    struct ebb__entry *e;

    if (ebb_site_is_cancelled(ebb_workspace_site(l->ws)))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: during the listing of catalogs");
    e = add(l);
    return e ? fill(l, ref, e, err) : ebb_err_nomem(err);
}

/* A catalog that can't be listed: what it held is still taken to be there. */
static int keep_catalog(struct listing *l, const char *catalog, struct ebb_err *err)
{
    l->view->is_unknown = true;
    for (size_t i = 0; l->before && i < l->before->count; i++) {
        const struct ebb__entry *was = &l->before->entries[i];
        struct ebb__entry *e = strcmp(was->catalog, catalog) ? NULL : add(l);

        if (strcmp(was->catalog, catalog) != 0)
            continue;
        if (!e)
            return ebb_err_nomem(err);
        e->label = keep(l, was->label);
        e->catalog = keep(l, was->catalog);
        e->namespace_ = keep(l, was->namespace_);
        e->name = keep(l, was->name);
        e->metadata_uri = keep(l, was->metadata_uri);
        e->folder_uri = keep(l, was->folder_uri);
        e->location = keep(l, was->location);
        e->uuid = keep(l, was->uuid);
        e->needs_load = true;
        if (!e->label || !e->catalog || !e->namespace_ || !e->name)
            return ebb_err_nomem(err);
    }
    return 0;
}

static int list_catalog(struct listing *l, struct ebb_catalog *catalog, struct ebb_err *err)
{
    size_t from = l->view->count;
    struct ebb_err why;
    int rc;

    memset(&why, 0, sizeof why);
    rc = ebb_catalog_list(catalog, on_table, l, &why);
    if (!rc)
        return 0;
    if (rc == -(int)EBB_ENOMEM || rc == -(int)EBB_ECANCELLED || rc == -(int)EBB_ELIMIT) {
        *err = why;
        return rc;
    }
    if (l->view->problem.error == EBB_OK)
        l->view->problem = why;
    l->view->count = from;
    return keep_catalog(l, ebb_catalog_name(catalog), err);
}

static int by_label(const void *a, const void *b)
{
    return strcmp(((const struct ebb__entry *)a)->label, ((const struct ebb__entry *)b)->label);
}

/* Two folders of one name: neither can be told from the other; the catalog says so when it is asked. */
static void sort_entries(struct ebb__view *v)
{
    size_t kept = 0;

    if (v->count)
        qsort(v->entries, v->count, sizeof *v->entries, by_label);
    for (size_t i = 0; i < v->count; i++) {
        if (kept && !strcmp(v->entries[kept - 1].label, v->entries[i].label)) {
            v->entries[kept - 1].needs_load = true;
            v->is_unknown = true;
        } else {
            v->entries[kept++] = v->entries[i];
        }
    }
    v->count = kept;
}

int ebb__view_new(struct ebb_workspace *ws, const struct ebb__view *before, struct ebb__view **out, struct ebb_err *err)
{
    const struct ebb_site *site = ebb_workspace_site(ws);
    struct listing l = {ws, before, calloc(1, sizeof(struct ebb__view)), 0, {0}};
    int64_t start_ms = ebb_clock_elapsed_ms();
    int rc = 0;

    *out = NULL;
    if (!l.view)
        return ebb_err_nomem(err);
    atomic_init(&l.view->refs, 1);
    ebb_arena_init(&l.view->arena, VIEW_MAX_BYTES);
    ebb_buf_init(&l.label, LABEL_MAX_BYTES);
    for (size_t i = 0; !rc && i < site->catalog_count; i++)
        rc = list_catalog(&l, site->catalogs[i], err);
    if (!rc) {
        sort_entries(l.view);
        rc = ebb__view_overlaps(l.view, err);
    }
    ebb_buf_fini(&l.label);
    if (rc) {
        ebb__view_unref(l.view);
        return rc;
    }
    l.view->took_ms = ebb_clock_elapsed_ms() - start_ms;
    *out = l.view;
    return 0;
}
