/* SPDX-License-Identifier: Apache-2.0 */
#include "table/verify_priv.h"

#include "base/location.h"
#include "table/name_priv.h"
#include "table/reach.h"
#include "table/seen_priv.h"

struct walk {
    const struct ebb_site *site;
    const struct ebb_table *table;
    ebb__absent_cb *cb;
    void *data;
    int64_t step, seen, checked;
    struct ebb_buf uri;
    struct ebb_seen absent; /* told already: a name comes once for each manifest that has it */
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
static int look_behind(struct walk *w, struct ebb_err *err)
{
    struct ebb_buf head;
    int rc;

    ebb_buf_init(&head, 1);
    rc = ebb_storage_read_head(w->site->storage, w->uri.data, 1, &head, err);
    ebb_buf_fini(&head);
    return rc == -EBB_ENOENT ? rc : 0;
}

static int look(void *data, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err)
{
    struct walk *w = data;
    struct ebb_stat st;
    int rc;

    if (ebb_site_is_cancelled(w->site))
        return ebb_err_set(err, EBB_ECANCELLED, "verify: interrupted");
    if (w->seen++ % w->step != 0)
        return 0;
    rc = set_uri(w, path, err);
    if (rc)
        return rc;
    rc = ebb_storage_stat(w->site->storage, w->uri.data, &st, err);
    if (!rc && !st.is_file)
        rc = look_behind(w, err);
    if (w->checked++ % 1024 == 0)
        ebb_site_progress(w->site, "verify", w->checked, 0);
    if (rc != -EBB_ENOENT)
        return rc;
    if (kind == EBB_REACH_METADATA && is_hint(w->uri.data))
        return 0; /* protected always, but only tables in Hadoop layout have it */
    if (ebb__seen_find(&w->absent, ebb_buf_str(&w->uri)))
        return 0;
    if (!ebb__seen_add(&w->absent, ebb_buf_str(&w->uri)))
        return ebb_err_nomem(err);
    return w->cb(w->data, w->uri.data, kind == EBB_REACH_METADATA ? EBB_ABSENT_LOG : EBB_ABSENT_FILE, err);
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
    ebb_buf_init(&w.uri, EBB_LOCATION_MAX_BYTES);
    ebb__seen_init(&w.absent);
    rc = ebb_reach_walk(site, table, &options, look, &w, &stats, err);
    ebb__seen_fini(&w.absent);
    ebb_buf_fini(&w.uri);
    *checked = w.checked;
    return rc;
}
