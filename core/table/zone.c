/* SPDX-License-Identifier: Apache-2.0 */
#include "table/zone_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* False, and an empty path, when it has no usable one. */
static bool split_normal(const char *uri, struct ebb_location *parts, struct ebb_buf *path)
{
    static const struct ebb_str ROOT = {"/", 1};

    ebb_buf_reset(path);
    memset(parts, 0, sizeof *parts);
    if (!ebb_location_split(uri, strlen(uri), parts, NULL) &&
        !ebb_path_normalise(parts->path.n || !parts->authority.n ? parts->path : ROOT, path, NULL) && !path->bad)
        return true;
    ebb_buf_reset(path);
    return false;
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

/* Where a URI is reachable, in normal form: "/path", or "s3://bucket/key" (keys that differ in slashes alone count as
 * the same). False, and empty, when it has no such place. */
static bool target_of(const struct ebb_site *site, const char *uri, struct ebb_buf *out)
{
    struct ebb_location parts;
    struct ebb_buf raw, path;
    bool is_remote, ok;

    if (local_path(site, uri, out))
        return true;
    ebb_buf_init(&raw, 2 * EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&path, 2 * EBB_LOCATION_MAX_BYTES);
    ok = !ebb_uri_map_target(ebb_storage_map(site->storage), uri, &raw, &is_remote, NULL) && is_remote &&
         split_normal(ebb_buf_cstr(&raw), &parts, &path);
    if (ok) {
        ebb_buf_puts(out, "s3://");
        ebb_buf_add_str(out, parts.authority);
        if (path.len > 1)
            ebb_buf_add_str(out, ebb_buf_str(&path));
    }
    ebb_buf_fini(&path);
    ebb_buf_fini(&raw);
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

bool ebb__zone_path(const struct ebb_site *site, const char *uri, char out[PATH_MAX])
{
    struct ebb_buf local;
    bool ok;

    ebb_buf_init(&local, 2 * EBB_LOCATION_MAX_BYTES);
    ok = local_path(site, uri, &local) && snprintf(out, PATH_MAX, "%s", ebb_buf_cstr(&local)) < PATH_MAX;
    ebb_buf_fini(&local);
    return ok;
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

    if (zone->chain_count == EBB_ZONE_CHAIN_MAX)
        return true;
    zone->chain[zone->chain_count].dev = st->st_dev;
    zone->chain[zone->chain_count].ino = st->st_ino;
    zone->chain[zone->chain_count].depth = depth;
    zone->chain_count++;
    return false;
}

static int find_on_disk(struct ebb_zone *zone, struct ebb_err *err)
{
    int rc = ebb__mounts_read(&zone->mounts, err);

    if (rc)
        return rc;
    if (!ebb__mounts_disk(&zone->mounts, zone->real, zone->disk))
        zone->disk[0] = '\0';
    for (size_t i = 0; i < zone->mounts.count; i++)
        zone->has_mounts = zone->has_mounts || is_below(zone->real, zone->mounts.items[i].point);
    return 0;
}

int ebb__zone_init(struct ebb_zone *zone, const struct ebb_site *site, const struct ebb_prefix_rules *rules,
                   const char *uri, struct ebb_err *err)
{
    memset(zone, 0, sizeof *zone);
    zone->site = site;
    zone->rules = rules;
    ebb_buf_init(&zone->path, EBB_LOCATION_MAX_BYTES);
    ebb_buf_init(&zone->target, 2 * EBB_LOCATION_MAX_BYTES);
    zone->uri = strdup(uri);
    if (!zone->uri)
        return ebb_err_nomem(err);
    split_normal(zone->uri, &zone->parts, &zone->path);
    target_of(site, uri, &zone->target);
    if (!ebb__zone_real(site, uri, zone->real))
        return 0;
    each_ancestor(zone->real, add_to_chain, zone);
    return find_on_disk(zone, err);
}

void ebb__zone_fini(struct ebb_zone *zone)
{
    free(zone->uri);
    ebb_buf_fini(&zone->path);
    ebb_buf_fini(&zone->target);
    ebb__mounts_fini(&zone->mounts);
    memset(zone, 0, sizeof *zone);
}

/* What is left of a path at or below outer, else NULL. */
static const char *rest_of(const char *outer, const char *path)
{
    if (!outer[0] || (strcmp(outer, path) && !is_below(outer, path)))
        return NULL;
    path += strlen(outer);
    return *path == '/' ? path + 1 : path;
}

/* The disk first: a mount in the zone is not walked. A list of mounts can be wrong (a mount may be covered by another),
 * so what lies in the zone by its real path is never called outside. */
bool ebb__zone_rel(const struct ebb_zone *zone, const char *real, char out[PATH_MAX])
{
    char disk[PATH_MAX];
    const char *rest = NULL;

    if (zone->disk[0] && ebb__mounts_disk(&zone->mounts, real, disk))
        rest = rest_of(zone->disk, disk);
    if (!rest)
        rest = rest_of(zone->real, real);
    return rest && snprintf(out, PATH_MAX, "%s", rest) < PATH_MAX;
}

static enum ebb_zone_relation stronger(enum ebb_zone_relation a, enum ebb_zone_relation b)
{
    return a > b ? a : b;
}

/* Schemes whose authority is a bucket: a bare path never means them. */
static bool is_object_store(struct ebb_str scheme)
{
    static const char *const SCHEMES[] = {"s3",  "s3a",  "s3n",   "gs",   "oss",   "cos", "cosn",
                                          "obs", "abfs", "abfss", "wasb", "wasbs", "adl"};

    for (size_t i = 0; i < sizeof SCHEMES / sizeof SCHEMES[0]; i++)
        if (strlen(SCHEMES[i]) == scheme.n && !strncasecmp(SCHEMES[i], scheme.p, scheme.n))
            return true;
    return false;
}

static struct ebb_str without_port(struct ebb_str authority)
{
    size_t n = authority.n;

    while (n > 0 && authority.p[n - 1] >= '0' && authority.p[n - 1] <= '9')
        n--;
    if (n > 0 && n < authority.n && authority.p[n - 1] == ':')
        authority.n = n - 1;
    return authority;
}

static bool may_be_same_prefix(const struct ebb_zone *zone, const struct ebb_location *other)
{
    struct ebb_location a = zone->parts, b = *other;

    if (ebb_prefix_is_equal(zone->rules, &a, &b))
        return true;
    a.authority = without_port(a.authority);
    b.authority = without_port(b.authority);
    if (ebb_prefix_is_equal(zone->rules, &a, &b))
        return true;
    if (is_object_store(a.scheme) || is_object_store(b.scheme))
        return false;
    return ebb_prefix_is_match(zone->rules, &a, &b) || ebb_prefix_is_match(zone->rules, &b, &a);
}

static enum ebb_zone_relation relate_uris(const struct ebb_zone *zone, const char *uri)
{
    enum ebb_zone_relation relation = EBB_ZONE_APART;
    struct ebb_location parts;
    struct ebb_buf path;

    ebb_buf_init(&path, EBB_LOCATION_MAX_BYTES);
    if (zone->path.len && split_normal(uri, &parts, &path) && may_be_same_prefix(zone, &parts))
        relation = relate_paths(zone->path.data, ebb_buf_cstr(&path));
    ebb_buf_fini(&path);
    return relation;
}

enum ebb_zone_relation ebb__zone_relate_text(const struct ebb_zone *zone, const char *uri)
{
    enum ebb_zone_relation relation = relate_uris(zone, uri);
    struct ebb_buf target;

    if (relation == EBB_ZONE_EQUAL || !zone->target.len)
        return relation;
    ebb_buf_init(&target, 2 * EBB_LOCATION_MAX_BYTES);
    if (target_of(zone->site, uri, &target))
        relation = stronger(relation, relate_paths(zone->target.data, ebb_buf_cstr(&target)));
    ebb_buf_fini(&target);
    return relation;
}

bool ebb__zone_all_rels(const struct ebb_zone *zone, const char *uri, bool (*visit)(void *data, const char *rel),
                        void *data)
{
    char real[PATH_MAX], rel[PATH_MAX];
    struct ebb_location parts;
    struct ebb_buf normal;
    const char *rest = NULL;
    bool all = true, any = false;

    ebb_buf_init(&normal, 2 * EBB_LOCATION_MAX_BYTES);
    if (zone->path.len && split_normal(uri, &parts, &normal) && may_be_same_prefix(zone, &parts))
        rest = rest_of(zone->path.data, ebb_buf_cstr(&normal));
    if (rest) {
        any = true;
        all = visit(data, rest);
    }
    rest = NULL;
    if (zone->target.len && target_of(zone->site, uri, &normal))
        rest = rest_of(zone->target.data, ebb_buf_cstr(&normal));
    if (rest) {
        any = true;
        all = visit(data, rest) && all;
    }
    ebb_buf_fini(&normal);
    if (ebb__zone_real(zone->site, uri, real) && ebb__zone_rel(zone, real, rel)) {
        any = true;
        all = visit(data, rel) && all;
    }
    return any && all;
}

bool ebb__zone_is_straight(const struct ebb_site *site, const char *uri)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
    char path[PATH_MAX];
    long fd;

    if (!ebb__zone_path(site, uri, path))
        return false;
    fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR;
    close((int)fd);
    return true;
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
            if (zone->chain[i].depth == 0)
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
    char real[PATH_MAX], disk[PATH_MAX];

    if (relation == EBB_ZONE_EQUAL || !zone->real[0] || !ebb__zone_real(zone->site, uri, real))
        return relation;
    relation = stronger(relation, relate_paths(zone->real, real));
    if (zone->disk[0] && ebb__mounts_disk(&zone->mounts, real, disk))
        relation = stronger(relation, relate_paths(zone->disk, disk));
    each_ancestor(real, compare_inodes, &search);
    return stronger(relation, search.relation);
}
