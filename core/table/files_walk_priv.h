/* SPDX-License-Identifier: Apache-2.0
 *
 * The manifests of one snapshot, and the entries of one manifest with the parts of the partition: shared by what counts
 * files and what measures writers.
 */
#ifndef EBB_TABLE_FILES_WALK_PRIV_H
#define EBB_TABLE_FILES_WALK_PRIV_H

#include "table/files.h"
#include "table/partition_priv.h"
#include "table/piece_priv.h"

struct ebb__files_walk {
    const struct ebb_site *site;
    const struct ebb_table *table;
    struct ebb_avro_reader *list_reader, *manifest_reader;
    struct ebb_buf list_bytes, manifest_bytes, uri, list_uri;
};
int ebb__files_walk_init(struct ebb__files_walk *w, const struct ebb_site *site, const struct ebb_table *table,
                         struct ebb_err *err);
void ebb__files_walk_fini(struct ebb__files_walk *w);
/* Each manifest of a snapshot. cb may call ebb__files_walk_entries. EBB_ECANCELLED between two of them. */
int ebb__files_walk_manifests(struct ebb__files_walk *w, const struct ebb_snapshot *s, ebb_manifest_ref_cb *cb,
                              void *data, struct ebb_err *err);
/* Each entry of a manifest, deleted ones too; checks length and counts. */
int ebb__files_walk_entries(struct ebb__files_walk *w, const struct ebb_manifest_ref *ref,
                            const struct ebb_manifest_part *parts, size_t part_count, ebb_manifest_entry_cb *cb,
                            void *data, struct ebb_err *err);

#endif
