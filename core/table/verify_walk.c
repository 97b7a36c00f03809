/* SPDX-License-Identifier: Apache-2.0 */
#include "table/verify_priv.h"

#include <stdlib.h>

#include "base/location.h"
#include "table/name_priv.h"
#include "table/reach.h"
#include "table/seen_priv.h"

#define MANY 512 /* names that are looked for at once */

struct walk {
    const struct ebb_site *site;
    const struct ebb_table *table;
    ebb__absent_cb *cb;
    void *data;
    int64_t step, seen, checked;
    struct ebb_buf uri;
    struct ebb_seen absent; /* told already: a name comes once for each manifest that has it */
    /* not looked for yet: */
    struct ebb_strs uris;
    enum ebb_reach_kind kinds[MANY];
    size_t most; /* 1 where each costs nothing but itself */
    struct ebb_storage_stat_item *items;
};

static bool is_hint(const char *uri)
{
    const char *name = strrchr(uri, '/');

    return name && (strcmp(name, "/version-hint.text") == 0 || strcmp(name, "/version-hint.txt") == 0);
}

/* A relative name is below the table's location. */
static int set_uri(struct walk *w, struct ebb_str path, struct ebb_err *err)
{
    struct ebb_location parts;
    int rc;

    ebb_buf_reset(&w->uri);
    rc = ebb_location_split(path.p, path.n, &parts, err);
    if (rc)
        return rc;
    if (parts.scheme.n > 0 || (parts.path.n > 0 && parts.path.p[0] == '/'))
        ebb_buf_add_str(&w->uri, path);
    else
        ebb__name_uri(w->table->metadata->location, path, &w->uri);
    return ebb_buf_check(&w->uri, "file name", err);
}

/* A link is as good as what it leads to: one that leads nowhere is a missing file. What can't be opened otherwise
 * counts as there. */
static int look_behind(struct walk *w, const char *uri, struct ebb_err *err)
{
    struct ebb_buf head;
    int rc;

    ebb_buf_init(&head, 1);
    rc = ebb_storage_read_head(w->site->storage, uri, 1, &head, err);
    ebb_buf_fini(&head);
    return rc == -EBB_ENOENT ? rc : 0;
}

static int tell_absent(struct walk *w, enum ebb_reach_kind kind, const char *uri, struct ebb_err *err)
{
    if (kind == EBB_REACH_METADATA && is_hint(uri))
        return 0; /* protected always, but only tables in Hadoop layout have it */
    if (ebb__seen_find(&w->absent, ebb_str_of(uri)))
        return 0;
    if (!ebb__seen_add(&w->absent, ebb_str_of(uri)))
        return ebb_err_nomem(err);
    return w->cb(w->data, uri, kind == EBB_REACH_METADATA ? EBB_ABSENT_LOG : EBB_ABSENT_FILE, err);
}

static int judge(struct walk *w, enum ebb_reach_kind kind, const struct ebb_storage_stat_item *item,
                 struct ebb_err *err)
{
    int rc = -(int)item->err.error;

    if (rc && err)
        *err = item->err;
    if (!rc && !item->st.is_file)
        rc = look_behind(w, item->uri, err);
    if (w->checked++ % 1024 == 0)
        ebb_site_progress(w->site, "verify", w->checked, 0);
    return rc == -EBB_ENOENT ? tell_absent(w, kind, item->uri, err) : rc;
}

/* Look for all that wait. */
static int look_for_all(struct walk *w, struct ebb_err *err)
{
    int rc;

    for (size_t i = 0; i < w->uris.count; i++)
        w->items[i].uri = w->uris.items[i];
    rc = ebb_storage_stat_many(w->site->storage, w->items, w->uris.count, err);
    for (size_t i = 0; !rc && i < w->uris.count; i++)
        rc = judge(w, w->kinds[i], &w->items[i], err);
    ebb_strs_fini(&w->uris);
    return rc;
}

static int look(void *data, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err)
{
    struct walk *w = data;
    int rc;

    if (ebb_site_is_cancelled(w->site))
        return ebb_err_set(err, EBB_ECANCELLED, "verify: interrupted");
    if (w->seen++ % w->step != 0)
        return 0;
    rc = set_uri(w, path, err);
    if (rc)
        return rc;
    w->kinds[w->uris.count] = kind;
    rc = ebb_strs_add(&w->uris, w->uri.data, err);
    return rc || w->uris.count < w->most ? rc : look_for_all(w, err);
}

int ebb__verify_walk(const struct ebb_site *site, const struct ebb_table *table, int64_t step, ebb__absent_cb *cb,
                     void *data, int64_t *checked, struct ebb_err *err)
{
    struct ebb_reach_options options = {false};
    struct ebb_reach_stats stats;
    struct walk w;
    int rc;

    memset(&w, 0, sizeof w);
    w.site = site;
    w.table = table;
    w.cb = cb;
    w.data = data;
    w.step = step > 0 ? step : 1;
    w.most = ebb_storage_is_remote(site->storage, table->metadata->location) ? MANY : 1;
    w.items = calloc(w.most, sizeof *w.items);
    if (!w.items)
        return ebb_err_nomem(err);
    ebb_strs_init(&w.uris);
    ebb_buf_init(&w.uri, EBB_LOCATION_MAX_BYTES);
    ebb__seen_init(&w.absent);
    rc = ebb_reach_walk(site, table, &options, look, &w, &stats, err);
    if (!rc)
        rc = look_for_all(&w, err);
    ebb_strs_fini(&w.uris);
    ebb__seen_fini(&w.absent);
    ebb_buf_fini(&w.uri);
    free(w.items);
    *checked = w.checked;
    return rc;
}
