/* SPDX-License-Identifier: Apache-2.0
 *
 * A look at one neighbour: what places it claims and what they mean for the zone. Used by owners.c only.
 */
#ifndef EBB_TABLE_LOOK_PRIV_H
#define EBB_TABLE_LOOK_PRIV_H

#include "table/owners_priv.h"

struct ebb_look {
    struct ebb_owners *owners;
    const struct ebb_table *table; /* the neighbour */
    enum ebb_owner_role role;
    bool touches;    /* one of its places holds the zone */
    bool has_mounts; /* something is mounted below its location */
    struct ebb_buf folder, last_folder;
    bool last_inside;
    struct ebb_strs
        outside; /* folders outside its own location, or behind links in it, that hold files of it, sorted */
    size_t outside_seen;
};

void ebb__look_begin(struct ebb_look *look, struct ebb_owners *owners, enum ebb_owner_role role);
void ebb__look_end(struct ebb_look *look);
/* A table that could be loaded: judge its places and read all its names, unless they are remembered; fills role and
 * is_whole of owner. EBB_EFOREIGN_TABLE, or errors of this process; a neighbour that can't be read and is apart is only
 * warned of. */
int ebb__look_read(struct ebb_look *look, const struct ebb_table *table, struct ebb_owner *owner, struct ebb_err *err);
/* A table that could not be loaded, for the reason `why`: it owns the folder its catalog keeps it in, and the location
 * that its metadata names as far as that can be read. EBB_EFOREIGN_TABLE, EBB_EOWNERSHIP. */
int ebb__look_unloadable(struct ebb_look *look, const char *label, const struct ebb_table_ref *ref,
                         const struct ebb_err *why, struct ebb_err *err);

#endif
