/* SPDX-License-Identifier: Apache-2.0
 *
 * A zone: the folder a run is about, and how other places lie to it: by text, by the text of what a map makes of it, by
 * real path, by the place on the disk (mounts), and by device and inode. Any of them suffices to call two places
 * overlapping. By text, prefixes are compared loosely: a missing scheme or authority, or a port, makes no difference,
 * for this only protects.
 */
#ifndef EBB_TABLE_ZONE_PRIV_H
#define EBB_TABLE_ZONE_PRIV_H

#include <limits.h>

#include "table/mounts_priv.h"
#include "table/site.h"

#define EBB_ZONE_CHAIN_MAX 128

struct ebb_zone {
    const struct ebb_site *site;
    const struct ebb_prefix_rules *rules;
    char *uri;
    struct ebb_location parts; /* of uri */
    struct ebb_buf path;       /* its path in normal form, empty when it has none */
    struct ebb_buf target;     /* where it is reachable, "/path" or "s3://bucket/key", normal; empty when nowhere */
    char real[PATH_MAX];       /* real path, "" when it has none */
    struct ebb_mounts mounts;
    char disk[PATH_MAX]; /* place on the disk, "" when it is not known */
    bool has_mounts;     /* something is mounted below it */
    struct {
        uint64_t dev, ino;
        size_t depth;
    } chain[EBB_ZONE_CHAIN_MAX]; /* the folder itself (depth 0) and its ancestors, those that exist */
    size_t chain_count;
};

enum ebb_zone_relation {
    EBB_ZONE_APART,
    EBB_ZONE_AROUND, /* the place holds the zone */
    EBB_ZONE_INSIDE, /* the place lies in the zone */
    EBB_ZONE_EQUAL
};

int ebb__zone_init(struct ebb_zone *zone, const struct ebb_site *site, const struct ebb_prefix_rules *rules,
                   const char *uri, struct ebb_err *err);
void ebb__zone_fini(struct ebb_zone *zone);
/* How a folder lies to the zone; a place that can't be compared in one way is compared in the others. */
enum ebb_zone_relation ebb__zone_relate(const struct ebb_zone *zone, const char *uri);
/* The same by text and mapped text only: no system call. For names of files. */
enum ebb_zone_relation ebb__zone_relate_text(const struct ebb_zone *zone, const char *uri);
/* The name below the zone under which a walk of it lists what lies at a real path: "" for the zone itself, false when
 * it is not there. */
bool ebb__zone_rel(const struct ebb_zone *zone, const char *real, char out[PATH_MAX]);
/* Call visit with every name below the zone that a place may have there (as written, as mapped, on the disk). Whether
 * there was one, and visit said true to all. */
bool ebb__zone_all_rels(const struct ebb_zone *zone, const char *uri, bool (*visit)(void *data, const char *rel),
                        void *data);
/* Whether a local folder is reached without any link; one that does not exist is. False when that can't be told. */
bool ebb__zone_is_straight(const struct ebb_site *site, const char *uri);
/* Local path of a URI, links unresolved. False when it is not local, or too long. */
bool ebb__zone_path(const struct ebb_site *site, const char *uri, char out[PATH_MAX]);
/* Real path of a local folder or of its nearest existing ancestor plus the rest. False when the URI is not local. */
bool ebb__zone_real(const struct ebb_site *site, const char *uri, char out[PATH_MAX]);

#endif
