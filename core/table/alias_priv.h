/* SPDX-License-Identifier: Apache-2.0
 *
 * Aliases: a name in the metadata may reach a file of the zone by another path (a link above it, a table that was moved
 * and left a link under its old name). Such a file is listed under a name that no metadata holds; it is protected under
 * that name too. Used by protect.c only.
 */
#ifndef EBB_TABLE_ALIAS_PRIV_H
#define EBB_TABLE_ALIAS_PRIV_H

#include "table/zone_priv.h"

struct ebb_alias {
    const struct ebb_zone *zone;
    const char *label;          /* of the table, for messages; set by the owner */
    struct ebb_buf zone_path;   /* normal path of the zone */
    struct ebb_buf last_folder; /* as the metadata has it; answers repeat */
    struct ebb_buf inside;      /* URI of the same folder in the zone, empty when it lies elsewhere */
    struct ebb_buf scratch;
};

int ebb__alias_init(struct ebb_alias *alias, const struct ebb_zone *zone, const char *label, struct ebb_err *err);
void ebb__alias_fini(struct ebb_alias *alias);
/* The name in the zone of the file that `name` means, or n == 0: it lies elsewhere, or its path lies in the zone as it
 * is written. Borrowed until the next call. A folder that is the zone's by device and inode but not by real path (a
 * bind mount) is EBB_ELINK_IN_USE. */
int ebb__alias_find(struct ebb_alias *alias, struct ebb_str name, struct ebb_str *out, struct ebb_err *err);

#endif
