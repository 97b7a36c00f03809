/* SPDX-License-Identifier: Apache-2.0
 *
 * A table as it was loaded at one moment: catalog pointer, metadata, and the storage's view of the metadata file.
 * Immutable.
 */
#ifndef EBB_TABLE_TABLE_H
#define EBB_TABLE_TABLE_H

#include "format/metadata.h"
#include "table/site.h"

struct ebb_table {
    struct ebb_table_ref ref;
    char *label;     /* "catalog.namespace.name", for messages and records */
    char *opened_as; /* the name or absolute path to open it by again */
    struct ebb_metadata *metadata;
    struct ebb_stat metadata_stat;
};

/* name: "catalog.namespace….table" of a configured catalog, or a path or URI. All refusals of the metadata itself apply
 * (version, encryption, unreadable, pointer unknown, not current); the metadata's location must be where the catalog
 * keeps the table (EBB_EMETADATA_PLACE, with a hint for
 * --map) and be usable (ebb_location_check_table). gc.enabled is not judged here. */
int ebb_table_open(const struct ebb_site *site, const char *name, struct ebb_table **out, struct ebb_err *err);
int ebb_table_open_ref(const struct ebb_site *site, const struct ebb_table_ref *ref, struct ebb_table **out,
                       struct ebb_err *err);
/* Load the same table again through its catalog (or path). The new state is a new object. EBB_EMETADATA_CHANGED when
 * uuid or location are not those of `table`. */
int ebb_table_reload(const struct ebb_site *site, const struct ebb_table *table, struct ebb_table **out,
                     struct ebb_err *err);
/* Whether two loads are of the very same metadata file (URI, size, inode, times). */
bool ebb_table_is_same_state(const struct ebb_table *a, const struct ebb_table *b);
void ebb_table_free(struct ebb_table *table);

#endif
