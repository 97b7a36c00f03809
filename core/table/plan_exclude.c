/* SPDX-License-Identifier: Apache-2.0
 *
 * What a listing leaves out: the places of --exclude, however they are spelled, in the table's own terms; and the state
 * folder, should it lie in the table.
 */
#include <limits.h>
#include <stdlib.h>

#include "table/plan_priv.h"

struct places {
    struct ebb_planning *p;
    struct ebb_strs *out;
    struct ebb_err *err;
    int rc;
};

static bool add_place(void *data, const char *rel)
{
    struct places *places = data;
    struct ebb_buf uri;

    if (!rel[0])
        return false; /* the location itself: nothing would be left */
    ebb_buf_init(&uri, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&uri, "%s/%s", places->p->table->metadata->location, rel);
    if (!places->rc)
        places->rc = ebb_buf_check(&uri, "an excluded place", places->err);
    if (!places->rc && !ebb_strs_has(places->out, ebb_buf_cstr(&uri)))
        places->rc = ebb_strs_add(places->out, ebb_buf_cstr(&uri), places->err);
    ebb_buf_fini(&uri);
    return true;
}

static int exclude(struct ebb_planning *p, const char *asked, struct ebb_strs *out, struct ebb_err *err)
{
    struct places places = {p, out, err, 0};
    int rc;

    if (ebb__zone_all_rels(&p->zone, asked, add_place, &places) || places.rc)
        return places.rc;
    rc = ebb_err_set(err, EBB_EUSAGE, "exclude %s: does not lie below %s, the location of %s", asked,
                     p->table->metadata->location, p->table->label);
    ebb_err_hint(err, "give a folder or file inside the table's location");
    return rc;
}

/* Our own store, journal and plans are never candidates. */
static int exclude_state(struct ebb_planning *p, struct ebb_strs *out, struct ebb_err *err)
{
    struct places places = {p, out, err, 0};
    char real[PATH_MAX], rel[PATH_MAX];

    if (p->site->store && realpath(ebb_store_dir(p->site->store), real) && ebb__zone_rel(&p->zone, real, rel))
        add_place(&places, rel);
    return places.rc;
}

int ebb__plan_exclude(struct ebb_planning *p, const struct ebb_strs *asked, struct ebb_strs *out, struct ebb_err *err)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < asked->count; i++)
        rc = exclude(p, asked->items[i], out, err);
    return rc ? rc : exclude_state(p, out, err);
}

bool ebb__plan_is_excluded(const struct ebb_planning *p, const char *uri)
{
    const struct ebb_strs *exclude_list = &p->protect_options->exclude;
    bool inside = false;

    for (size_t i = 0; i < exclude_list->count; i++)
        if (!ebb_location_contains(exclude_list->items[i], uri, ebb_protect_rules(p->protect), &inside, NULL) && inside)
            return true;
    return false;
}
