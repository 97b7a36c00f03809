/* SPDX-License-Identifier: Apache-2.0
 *
 * Links that the walk met: they are neither followed nor candidates. A name in the metadata at or below one means the
 * file it leads to, which is then protected under the name it is listed by.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "table/plan_priv.h"

struct link_use {
    struct ebb_planning *p;
    const char *base; /* real path of the location */
    struct ebb_buf normal;
};

int ebb__plan_note_link(struct ebb_planning *p, const struct ebb_walk_entry *e, struct ebb_err *err)
{
    struct ebb_buf rel;
    int rc;

    p->summary.links++;
    ebb_buf_init(&rel, 4 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_add_str(&rel, e->dir);
    if (e->dir.n)
        ebb_buf_putc(&rel, '/');
    ebb_buf_add_str(&rel, e->name);
    rc = rel.full ? 0 : ebb_buf_check(&rel, "a link", err); /* so long a name is in no metadata */
    if (!rc && !rel.full && !ebb__seen_find(&p->links, ebb_buf_str(&rel)) &&
        !ebb__seen_add(&p->links, ebb_buf_str(&rel)))
        rc = ebb_err_nomem(err);
    ebb_buf_fini(&rel);
    return rc;
}

/* The name relative to the location if the path is at or below a link, else n == 0. */
static struct ebb_str below_link(const struct link_use *u, struct ebb_str path)
{
    struct ebb_str root = ebb_buf_str(&u->p->root_path);
    struct ebb_str none = {NULL, 0}, rel;

    if (!ebb_str_has_prefix(path, root) || path.n <= root.n + 1 || path.p[root.n] != '/')
        return none;
    rel = (struct ebb_str){path.p + root.n + 1, path.n - root.n - 1};
    for (size_t i = 1; i <= rel.n; i++)
        if ((i == rel.n || rel.p[i] == '/') && ebb__seen_find(&u->p->links, (struct ebb_str){rel.p, i}))
            return rel;
    return none;
}

static int refuse_link(const struct link_use *u, struct ebb_str rel, struct ebb_err *err)
{
    int rc = ebb_err_set(err, EBB_ELINK_IN_USE, "%s: %s/%.*s is not there, and its name leads through a symbolic link",
                         u->p->table->label, u->p->table->metadata->location, (int)(rel.n < 600 ? rel.n : 600), rel.p);

    ebb_err_hint(err, "mend the link: the metadata names a file behind it, and which file that was can't be told");
    return rc;
}

/* Protect the file that a name behind a link really is. */
static int protect_target(struct link_use *u, struct ebb_str rel, struct ebb_err *err)
{
    char path[PATH_MAX], real[PATH_MAX], inside[PATH_MAX];
    struct ebb_buf uri;
    int rc;

    if (snprintf(path, sizeof path, "%s/%.*s", u->base, (int)rel.n, rel.p) >= (int)sizeof path || !realpath(path, real))
        return refuse_link(u, rel, err);
    if (!ebb__zone_rel(&u->p->zone, real, inside))
        return 0; /* not listed, so never a candidate */
    ebb_buf_init(&uri, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_printf(&uri, "%s/%s", u->p->table->metadata->location, inside);
    rc = ebb_buf_check(&uri, "the target of a link", err);
    if (!rc)
        rc = ebb_protect_add(u->p->protect, ebb_buf_str(&uri), err);
    u->p->fitting += !rc;
    ebb_buf_fini(&uri);
    return rc;
}

static int on_reachable(void *data, enum ebb_reach_kind kind, struct ebb_str name, struct ebb_err *err)
{
    struct link_use *u = data;
    struct ebb_location loc;
    struct ebb_str rel;

    (void)kind;
    if (ebb_location_split(name.p, name.n, &loc, NULL) ||
        !ebb_prefix_is_match(ebb_protect_rules(u->p->protect), &loc, &u->p->root))
        return 0;
    ebb_buf_reset(&u->normal);
    if (ebb_path_normalise(loc.path, &u->normal, NULL))
        return 0;
    rel = below_link(u, ebb_buf_str(&u->normal));
    return rel.n ? protect_target(u, rel, err) : 0;
}

int ebb__plan_resolve_links(struct ebb_planning *p, struct ebb_place *place, struct ebb_err *err)
{
    struct link_use u = {p, ebb_place_local(place), {NULL, 0, 0, 0, false, false}};
    int rc;

    if (!p->links.count)
        return 0;
    ebb_buf_init(&u.normal, 2 * EBB_LOCATION_MAX_BYTES);
    rc = ebb_protect_each_name(p->protect, on_reachable, &u, err);
    ebb_buf_fini(&u.normal);
    return rc;
}
