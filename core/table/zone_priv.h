/* SPDX-License-Identifier: Apache-2.0
 *
 * A zone: the folder a run is about, and how other places lie to it: by text, by the text of what a map makes of it, by real path, and by device
 * and inode (orphan-removal 2.5). Any of them suffices to call two places overlapping.
 */
#ifndef EBB_TABLE_ZONE_PRIV_H
#define EBB_TABLE_ZONE_PRIV_H

#include <limits.h>

#include "table/site.h"

#define EBB_ZONE_CHAIN_MAX 128

struct ebb_zone {
    const struct ebb_site *site;
    const struct ebb_prefix_rules *rules;
    char *uri;
    struct ebb_buf local;   /* normal local path, empty when it has none */
    char real[PATH_MAX];    /* real path, "" when it has none */
    struct { uint64_t dev, ino; } chain[EBB_ZONE_CHAIN_MAX]; /* the folder itself, then its ancestors */
    size_t chain_count;
};

enum ebb_zone_relation {
    EBB_ZONE_APART,
    EBB_ZONE_AROUND, /* the place holds the zone */
    EBB_ZONE_INSIDE, /* the place lies in the zone */
    EBB_ZONE_EQUAL
};

int ebb__zone_init(struct ebb_zone *zone, const struct ebb_site *site, const struct ebb_prefix_rules *rules, const char *uri,
                   struct ebb_err *err);
void ebb__zone_fini(struct ebb_zone *zone);
/* How a folder lies to the zone; a place that can't be compared in one way is compared in the others. */
enum ebb_zone_relation ebb__zone_relate(const struct ebb_zone *zone, const char *uri);
/* The same by text and mapped text only: no system call. For names of files. */
enum ebb_zone_relation ebb__zone_relate_text(const struct ebb_zone *zone, const char *uri);
/* Real path of a local folder or of its nearest existing ancestor plus the rest. False when the URI is not local. */
bool ebb__zone_real(const struct ebb_site *site, const char *uri, char out[PATH_MAX]);

#endif
