/* SPDX-License-Identifier: Apache-2.0
 *
 * Aliases: a name in the metadata may reach a file of the zone by another path (a link above it, a table that was moved
 * and left a link under its old name, a folder that is mounted twice, another prefix that is mapped to the same folder,
 * a link to the file itself). Such a file is listed under a name that no metadata holds; it is protected under that
 * name too. Links that a walk of the zone meets are not its business: the plan resolves them. Used by protect.c and
 * owners.c only.
 */
#ifndef EBB_TABLE_ALIAS_PRIV_H
#define EBB_TABLE_ALIAS_PRIV_H

#include "table/seen_priv.h"
#include "table/zone_priv.h"

struct ebb_alias {
    const struct ebb_zone *zone;
    const struct ebb_strs *exclude; /* URIs that no walk enters; NULL none */
    bool is_unwalked;               /* nothing in the zone is walked: links there are looked for here */
    bool is_prefix_strict; /* a name in the zone under another scheme or authority is no conflict that keeps it: look
                              where it leads */
    struct ebb_buf last_folder; /* as the metadata has it; answers repeat */
    bool last_is_plain;
    struct ebb_seen_entry
        *last; /* what is known of it: content 1 when it holds links, live the number in `inside`, -1 none */
    struct ebb_seen folders;
    struct ebb_strs inside; /* URIs of folders in the zone */
    struct ebb_buf scratch;
};

void ebb__alias_init(struct ebb_alias *alias, const struct ebb_zone *zone);
void ebb__alias_fini(struct ebb_alias *alias);
/* The name in the zone of the file that `name` (absolute) means, or n == 0: it lies elsewhere, or its path lies in the
 * zone as it is written. Borrowed until the next call. */
int ebb__alias_find(struct ebb_alias *alias, struct ebb_str name, struct ebb_str *out, struct ebb_err *err);

#endif
