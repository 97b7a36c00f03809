/* SPDX-License-Identifier: Apache-2.0 */
#include "table/zone_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool is_below(const char *outer, const char *inner)
{
    size_t n = strlen(outer);

    if (n == 1 && outer[0] == '/')
        return inner[0] == '/' && inner[1];
    return !strncmp(outer, inner, n) && inner[n] == '/';
}

static enum ebb_zone_relation relate_paths(const char *zone, const char *place)
{
    if (!zone[0] || !place[0])
        return EBB_ZONE_APART;
    if (!strcmp(zone, place))
        return EBB_ZONE_EQUAL;
    if (is_below(zone, place))
        return EBB_ZONE_INSIDE;
    return is_below(place, zone) ? EBB_ZONE_AROUND : EBB_ZONE_APART;
}

static bool local_path(const struct ebb_site *site, const char *uri, struct ebb_buf *out)
{
    struct ebb_buf raw;
    bool ok;

    ebb_buf_init(&raw, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_reset(out);
    ok = !ebb_uri_map_local(ebb_storage_map(site->storage), uri, &raw, NULL) &&
         !ebb_path_normalise(ebb_buf_str(&raw), out, NULL);
    ebb_buf_fini(&raw);
    if (!ok)
        ebb_buf_reset(out);
    return ok;
}

/* realpath() of a path of which the last components may not exist yet. */
static bool real_of(const char *path, char out[PATH_MAX])
{
    char head[PATH_MAX];
    size_t n = strlen(path);
    size_t cut = n;

    if (n >= sizeof head)
        return false;
    memcpy(head, path, n + 1);
    while (!realpath(head, out)) {
        while (cut > 0 && head[cut - 1] != '/')
            cut--;
        if (cut <= 1)
            return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
        head[--cut] = '\0';
    }
    n = strlen(out);
    return snprintf(out + n, PATH_MAX - n, "%s", path + cut) < (int)(PATH_MAX - n);
}

bool ebb__zone_real(const struct ebb_site *site, const char *uri, char out[PATH_MAX])
{
    struct ebb_buf local;
    bool ok;

    ebb_buf_init(&local, 2 * EBB_LOCATION_MAX_BYTES);
    ok = local_path(site, uri, &local) && real_of(ebb_buf_cstr(&local), out);
    ebb_buf_fini(&local);
    if (!ok)
        out[0] = '\0';
    return ok;
}

/* Call visit for a real path and each of its ancestors; stops when it says true. */
static bool each_ancestor(const char *real, bool (*visit)(void *data, size_t depth, const struct stat *st), void *data)
{
    char path[PATH_MAX];
    size_t n = strlen(real);
    struct stat st;

    memcpy(path, real, n + 1);
    for (size_t depth = 0; n > 0; depth++) {
        if (!stat(path, &st) && visit(data, depth, &st))
            return true;
        while (n > 0 && path[n - 1] != '/')
            n--;
        if (n > 1)
            n--;
        else if (n == 1 && !path[1])
            break;
        path[n] = '\0';
    }
    return false;
}

static bool add_to_chain(void *data, size_t depth, const struct stat *st)
{
    struct ebb_zone *zone = data;

    (void)depth;
    if (zone->chain_count == EBB_ZONE_CHAIN_MAX)
        return true;
    zone->chain[zone->chain_count].dev = st->st_dev;
    zone->chain[zone->chain_count].ino = st->st_ino;
    zone->chain_count++;
    return false;
}

int ebb__zone_init(struct ebb_zone *zone, const struct ebb_site *site, const struct ebb_prefix_rules *rules, const char *uri,
                   struct ebb_err *err)
{
    memset(zone, 0, sizeof *zone);
    zone->site = site;
    zone->rules = rules;
    ebb_buf_init(&zone->local, 2 * EBB_LOCATION_MAX_BYTES);
    zone->uri = strdup(uri);
    if (!zone->uri)
        return ebb_err_nomem(err);
    local_path(site, uri, &zone->local);
    if (ebb__zone_real(site, uri, zone->real))
        each_ancestor(zone->real, add_to_chain, zone);
    return 0;
}

void ebb__zone_fini(struct ebb_zone *zone)
{
    free(zone->uri);
    ebb_buf_fini(&zone->local);
    memset(zone, 0, sizeof *zone);
}

static enum ebb_zone_relation stronger(enum ebb_zone_relation a, enum ebb_zone_relation b)
{
    return a > b ? a : b;
}

static enum ebb_zone_relation relate_uris(const struct ebb_zone *zone, const char *uri)
{
    bool inside = false, around = false;

    if (ebb_location_contains(zone->uri, uri, zone->rules, &inside, NULL) ||
        ebb_location_contains(uri, zone->uri, zone->rules, &around, NULL))
        return EBB_ZONE_APART;
    if (inside && around)
        return EBB_ZONE_EQUAL;
    return inside ? EBB_ZONE_INSIDE : around ? EBB_ZONE_AROUND : EBB_ZONE_APART;
}

enum ebb_zone_relation ebb__zone_relate_text(const struct ebb_zone *zone, const char *uri)
{
    enum ebb_zone_relation relation = relate_uris(zone, uri);
    struct ebb_buf local;

    if (relation == EBB_ZONE_EQUAL || !zone->local.len)
        return relation;
    ebb_buf_init(&local, 2 * EBB_LOCATION_MAX_BYTES);
    if (local_path(zone->site, uri, &local))
        relation = stronger(relation, relate_paths(zone->local.data, ebb_buf_cstr(&local)));
    ebb_buf_fini(&local);
    return relation;
}

struct inode_search {
    const struct ebb_zone *zone;
    enum ebb_zone_relation relation;
};

static bool compare_inodes(void *data, size_t depth, const struct stat *st)
{
    struct inode_search *search = data;
    const struct ebb_zone *zone = search->zone;

    for (size_t i = 0; i < zone->chain_count; i++)
        if (zone->chain[i].dev == st->st_dev && zone->chain[i].ino == st->st_ino) {
            if (i == 0)
                search->relation = depth == 0 ? EBB_ZONE_EQUAL : EBB_ZONE_INSIDE;
            else
                search->relation = depth == 0 ? EBB_ZONE_AROUND : EBB_ZONE_APART;
            return true;
        }
    return false;
}

enum ebb_zone_relation ebb__zone_relate(const struct ebb_zone *zone, const char *uri)
{
    struct inode_search search = {zone, EBB_ZONE_APART};
    enum ebb_zone_relation relation = ebb__zone_relate_text(zone, uri);
    char real[PATH_MAX];

    if (relation == EBB_ZONE_EQUAL || !zone->real[0] || !ebb__zone_real(zone->site, uri, real))
        return relation;
    relation = stronger(relation, relate_paths(zone->real, real));
    each_ancestor(real, compare_inodes, &search);
    return stronger(relation, search.relation);
}
