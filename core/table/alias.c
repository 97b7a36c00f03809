/* SPDX-License-Identifier: Apache-2.0 */
#include "table/alias_priv.h"

int ebb__alias_init(struct ebb_alias *alias, const struct ebb_zone *zone, const char *label, struct ebb_err *err)
{
    struct ebb_location parts;
    int rc;

    alias->zone = zone;
    alias->label = label;
    ebb_buf_init(&alias->zone_path, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&alias->last_folder, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&alias->inside, 4 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&alias->scratch, 4 * EBB_LOCATION_MAX_BYTES);
    rc = ebb_location_split(zone->uri, strlen(zone->uri), &parts, err);
    return rc ? rc : ebb_path_normalise(parts.path, &alias->zone_path, err);
}

void ebb__alias_fini(struct ebb_alias *alias)
{
    ebb_buf_fini(&alias->zone_path);
    ebb_buf_fini(&alias->last_folder);
    ebb_buf_fini(&alias->inside);
    ebb_buf_fini(&alias->scratch);
}

static bool is_at_or_below(struct ebb_str outer, struct ebb_str path)
{
    return ebb_str_has_prefix(path, outer) && (path.n == outer.n || path.p[outer.n] == '/');
}

/* Names in the zone as they are written are matched by text, and so are those that differ in the prefix alone. */
static bool is_text_inside(struct ebb_alias *alias, const char *folder)
{
    struct ebb_location parts;

    if (ebb_location_split(folder, strlen(folder), &parts, NULL) || !parts.path.n || parts.path.p[0] != '/')
        return true; /* relative: below the location */
    ebb_buf_reset(&alias->scratch);
    if (ebb_path_normalise(parts.path, &alias->scratch, NULL))
        return true; /* the set refuses it */
    return is_at_or_below(ebb_buf_str(&alias->zone_path), ebb_buf_str(&alias->scratch));
}

static int look_at_folder(struct ebb_alias *alias, const char *folder, struct ebb_err *err)
{
    const struct ebb_zone *zone = alias->zone;
    enum ebb_zone_relation relation;
    char real[PATH_MAX];
    size_t n = strlen(zone->real);
    int rc;

    ebb_buf_reset(&alias->inside);
    if (!n || is_text_inside(alias, folder) || !ebb__zone_real(zone->site, folder, real))
        return 0;
    if (is_at_or_below(ebb_str_of(zone->real), ebb_str_of(real))) {
        ebb_buf_printf(&alias->inside, "%s%s/", zone->uri, real + n);
        return ebb_buf_check(&alias->inside, "a name in the metadata", err);
    }
    relation = ebb__zone_relate(zone, folder);
    if (relation != EBB_ZONE_INSIDE && relation != EBB_ZONE_EQUAL)
        return 0;
    rc = ebb_err_set(err, EBB_ELINK_IN_USE, "%s: metadata names files in %s, which is the same folder as one in %s",
                     alias->label, folder, zone->uri);
    ebb_err_hint(err, "the folder is mounted twice; which listed file a name means can't be told");
    return rc;
}

int ebb__alias_find(struct ebb_alias *alias, struct ebb_str name, struct ebb_str *out, struct ebb_err *err)
{
    const char *slash = name.n ? memrchr(name.p, '/', name.n) : NULL;
    struct ebb_str folder = {name.p, slash ? (size_t)(slash - name.p) : 0};
    int rc = 0;

    *out = (struct ebb_str){NULL, 0};
    if (!folder.n)
        return 0;
    if (!ebb_str_is_equal(ebb_buf_str(&alias->last_folder), folder)) {
        ebb_buf_reset(&alias->last_folder);
        ebb_buf_add_str(&alias->last_folder, folder);
        rc = ebb_buf_check(&alias->last_folder, "a name in the metadata", err);
        if (!rc)
            rc = look_at_folder(alias, ebb_buf_cstr(&alias->last_folder), err);
    }
    if (rc || !alias->inside.len)
        return rc;
    ebb_buf_reset(&alias->scratch);
    ebb_buf_add_str(&alias->scratch, ebb_buf_str(&alias->inside));
    ebb_buf_append(&alias->scratch, slash + 1, name.n - folder.n - 1);
    rc = ebb_buf_check(&alias->scratch, "a name in the metadata", err);
    *out = ebb_buf_str(&alias->scratch);
    return rc;
}
