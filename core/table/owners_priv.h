/* SPDX-License-Identifier: Apache-2.0
 *
 * Owners: the other tables that the catalogs know (and those found in folders above), what places each claims, and what
 *that means for a zone : a table whose place equals or lies in the zone is a reason to refuse; one whose place holds
 *the zone, and one of the same uuid, has its reachable names protected. Used by protect.c only.
 */
#ifndef EBB_TABLE_OWNERS_PRIV_H
#define EBB_TABLE_OWNERS_PRIV_H

#include "table/protect.h"
#include "table/zone_priv.h"

enum ebb_owner_role {
    EBB_OWNER_APART,
    EBB_OWNER_OUTER, /* its place holds the zone: its names are protected */
    EBB_OWNER_CO     /* same uuid, or declared with --with: its names are protected */
};
struct ebb_owner {
    char *key; /* tells it from all others: catalog, namespace, name and folder */
    char *label;
    char *uuid;         /* NULL unknown */
    char *metadata_uri; /* NULL unknown */
    char *location;     /* NULL unknown */
    struct ebb_stat stat;
    struct ebb_table *table; /* kept while its names are protected; NULL for one that is apart */
    enum ebb_owner_role role;
    bool is_whole;   /* all of its metadata was read */
    bool is_current; /* seen in the look at hand */
};
struct ebb_owners {
    const struct ebb_site *site;
    const struct ebb_protect_options *options;
    const struct ebb_zone *zone;
    struct ebb_owner *items;
    size_t count, cap;
    ebb_reach_cb *protect_name; /* what takes the names of outer tables and co-owners */
    void *data;
    int64_t files_read;
    bool has_catalog_entry; /* a catalog knows the table itself */
    bool is_whole;          /* every neighbour was read whole */
    bool has_changed;       /* something was read in the last look */
};

void ebb__owners_init(struct ebb_owners *owners, const struct ebb_site *site, const struct ebb_protect_options *options,
                      const struct ebb_zone *zone, ebb_reach_cb *protect_name, void *data);
void ebb__owners_fini(struct ebb_owners *owners);
/* Look at every table of every catalog, at the declared co-owners, and at the folders above. What was read before and
 * has not changed is not read again. EBB_EFOREIGN_TABLE, EBB_EOWNERSHIP, catalog errors. */
int ebb__owners_look(struct ebb_owners *owners, const struct ebb_table *table, struct ebb_err *err);
/* All names of the co-owners and outer tables again. */
int ebb__owners_each_name(struct ebb_owners *owners, ebb_reach_cb *cb, void *data, struct ebb_err *err);
/* Whether a co-owner or outer table has this uuid. */
bool ebb__owners_has_uuid(const struct ebb_owners *owners, const char *uuid);

#endif
