/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pass_priv.h"

struct loading {
    struct ebb__neighbours *n;
    const struct ebb_site *site;
};

static int add(struct ebb__neighbours *n, const struct ebb_table *t, struct ebb_err *err)
{
    int rc = ebb_strs_add(&n->labels, t->label, err);

    return rc ? rc : ebb_strs_add(&n->locations, t->metadata->location, err);
}

static int on_table(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    struct loading *l = data;
    struct ebb_table *t = NULL;
    int rc = ref->metadata_uri ? ebb_table_open_ref(l->site, ref, &t, err) : -(int)ref->problem.error;

    if (!rc)
        rc = add(l->n, t, err);
    else
        l->n->is_unknown = true;
    ebb_table_free(t);
    return rc == -(int)EBB_ENOMEM ? rc : 0;
}

static void load(struct ebb__neighbours *n, const struct ebb_site *site)
{
    struct loading l = {n, site};

    n->is_loaded = true;
    n->is_unknown = site->catalog_count == 0;
    for (size_t i = 0; i < site->catalog_count; i++)
        if (ebb_catalog_list(site->catalogs[i], on_table, &l, NULL))
            n->is_unknown = true;
}

void ebb__neighbours_fini(struct ebb__neighbours *n)
{
    ebb_strs_fini(&n->labels);
    ebb_strs_fini(&n->locations);
    memset(n, 0, sizeof *n);
}

/* How many others overlap a location. */
static int64_t count(const struct ebb__neighbours *n, const char *label, const char *own)
{
    int64_t overlaps = 0;

    for (size_t i = 0; i < n->locations.count && i < n->labels.count; i++) {
        bool inside = false, around = false;

        if (!strcmp(n->labels.items[i], label))
            continue;
        ebb_location_contains(own, n->locations.items[i], NULL, &inside, NULL);
        ebb_location_contains(n->locations.items[i], own, NULL, &around, NULL);
        overlaps += inside || around;
    }
    return n->is_unknown && !overlaps ? -1 : overlaps;
}

int64_t ebb__neighbours_count(struct ebb__neighbours *n, struct ebb_workspace *ws, const struct ebb_table *table)
{
    if (!n->is_loaded)
        load(n, ebb_workspace_site(ws));
    return count(n, table->label, table->metadata->location);
}

int64_t ebb__neighbours_count_of(struct ebb__neighbours *n, struct ebb_workspace *ws, const char *label)
{
    if (!n->is_loaded)
        load(n, ebb_workspace_site(ws));
    for (size_t i = 0; i < n->locations.count && i < n->labels.count; i++)
        if (!strcmp(n->labels.items[i], label))
            return count(n, label, n->locations.items[i]);
    return -1;
}
