/* SPDX-License-Identifier: Apache-2.0 */
#include "table/alias_priv.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FOLDERS_MAX 65536 /* remembered at once */

void ebb__alias_init(struct ebb_alias *alias, const struct ebb_zone *zone)
{
    memset(alias, 0, sizeof *alias);
    alias->zone = zone;
    ebb_buf_init(&alias->last_folder, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&alias->scratch, 4 * EBB_LOCATION_MAX_BYTES);
    ebb__seen_init(&alias->folders);
}

void ebb__alias_fini(struct ebb_alias *alias)
{
    ebb_buf_fini(&alias->last_folder);
    ebb_buf_fini(&alias->scratch);
    ebb__seen_fini(&alias->folders);
    ebb_strs_fini(&alias->inside);
}

static bool is_at_or_below(struct ebb_str outer, struct ebb_str path)
{
    return ebb_str_has_prefix(path, outer) && (path.n == outer.n || path.p[outer.n] == '/');
}

static bool is_excluded(const struct ebb_alias *alias, const char *folder)
{
    bool inside = false;

    for (size_t i = 0; alias->exclude && i < alias->exclude->count; i++)
        if (!ebb_location_contains(alias->exclude->items[i], folder, alias->zone->rules, &inside, NULL) && inside)
            return true;
    return false;
}

/* Written as lying in the zone, and where the walk of the zone sees every link on the way. */
static bool is_plain(struct ebb_alias *alias, const char *folder)
{
    const struct ebb_zone *zone = alias->zone;
    struct ebb_location parts;

    if (alias->is_unwalked || zone->has_mounts || ebb_location_split(folder, strlen(folder), &parts, NULL))
        return false;
    if (alias->is_prefix_strict && !ebb_prefix_is_match(zone->rules, &parts, &zone->parts))
        return false;
    ebb_buf_reset(&alias->scratch);
    if (ebb_path_normalise(parts.path, &alias->scratch, NULL))
        return false;
    return is_at_or_below(ebb_buf_str(&zone->path), ebb_buf_str(&alias->scratch)) && !is_excluded(alias, folder);
}

static bool has_links(const char *real)
{
    DIR *dir = opendir(real);
    struct dirent *d;
    bool found = false;

    while (dir && !found && (d = readdir(dir)) != NULL)
        found = d->d_type == DT_LNK || d->d_type == DT_UNKNOWN;
    if (dir)
        closedir(dir);
    return found;
}

static int add_inside(struct ebb_alias *alias, const char *rel, struct ebb_seen_entry *entry, struct ebb_err *err)
{
    int rc;

    ebb_buf_reset(&alias->scratch);
    ebb_buf_printf(&alias->scratch, "%s/%s", alias->zone->uri, rel);
    rc = ebb_buf_check(&alias->scratch, "a name in the metadata", err);
    entry->live = (int64_t)alias->inside.count;
    return rc ? rc : ebb_strs_add(&alias->inside, ebb_buf_cstr(&alias->scratch), err);
}

static int look_at_folder(struct ebb_alias *alias, const char *folder, struct ebb_err *err)
{
    char real[PATH_MAX], rel[PATH_MAX];
    int rc = 0;

    if (alias->folders.count >= FOLDERS_MAX) {
        ebb__seen_fini(&alias->folders);
        ebb_strs_fini(&alias->inside);
    }
    alias->last = ebb__seen_add(&alias->folders, ebb_str_of(folder));
    if (!alias->last)
        return ebb_err_nomem(err);
    alias->last->live = -1;
    if (!ebb__zone_real(alias->zone->site, folder, real))
        return 0;
    alias->last->content = has_links(real);
    if (ebb__zone_rel(alias->zone, real, rel))
        rc = add_inside(alias, rel, alias->last, err);
    return rc;
}

static int take_folder(struct ebb_alias *alias, struct ebb_str folder, struct ebb_err *err)
{
    const char *text;
    int rc;

    alias->last = NULL;
    ebb_buf_reset(&alias->last_folder);
    ebb_buf_add_str(&alias->last_folder, folder);
    rc = ebb_buf_check(&alias->last_folder, "a name in the metadata", err);
    if (rc)
        return rc;
    text = ebb_buf_cstr(&alias->last_folder);
    alias->last_is_plain = is_plain(alias, text);
    if (!alias->last_is_plain)
        alias->last = ebb__seen_find(&alias->folders, folder);
    return alias->last_is_plain || alias->last ? 0 : look_at_folder(alias, text, err);
}

/* Where a link to a file leads, if that is in the zone; scratch then holds the URI. */
static bool follow_link(struct ebb_alias *alias, struct ebb_str name)
{
    const struct ebb_zone *zone = alias->zone;
    char path[PATH_MAX], real[PATH_MAX], rel[PATH_MAX];
    struct stat st;

    ebb_buf_reset(&alias->scratch);
    ebb_buf_add_str(&alias->scratch, name);
    if (!ebb__zone_path(zone->site, ebb_buf_cstr(&alias->scratch), path) || lstat(path, &st) || !S_ISLNK(st.st_mode) ||
        !realpath(path, real) || !ebb__zone_rel(zone, real, rel))
        return false;
    ebb_buf_reset(&alias->scratch);
    ebb_buf_printf(&alias->scratch, "%s/%s", zone->uri, rel);
    return true;
}

int ebb__alias_find(struct ebb_alias *alias, struct ebb_str name, struct ebb_str *out, struct ebb_err *err)
{
    const char *slash = name.n ? memrchr(name.p, '/', name.n) : NULL;
    struct ebb_str folder = {name.p, slash ? (size_t)(slash - name.p) : 0};
    int rc = 0;

    *out = (struct ebb_str){NULL, 0};
    if (!alias->zone->real[0] || !folder.n)
        return 0;
    if (!ebb_str_is_equal(ebb_buf_str(&alias->last_folder), folder))
        rc = take_folder(alias, folder, err);
    if (rc || alias->last_is_plain || !alias->last)
        return rc;
    if (!alias->last->content || !follow_link(alias, name)) {
        if (alias->last->live < 0)
            return 0;
        ebb_buf_reset(&alias->scratch);
        ebb_buf_printf(&alias->scratch, "%s/", alias->inside.items[alias->last->live]);
        ebb_buf_append(&alias->scratch, slash + 1, name.n - folder.n - 1);
    }
    rc = ebb_buf_check(&alias->scratch, "a name in the metadata", err);
    *out = ebb_buf_str(&alias->scratch);
    return rc;
}
