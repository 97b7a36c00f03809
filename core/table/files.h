/* SPDX-License-Identifier: Apache-2.0
 *
 * What the manifests of a table tell of its files: totals and partitions of the current snapshot, and how long writers
 * took. Whole or not at all: a piece that can't be read, or that disagrees with what lists and summaries recorded, is
 * an error and no numbers.
 */
#ifndef EBB_TABLE_FILES_H
#define EBB_TABLE_FILES_H

#include "table/table.h"

#define EBB_FILES_PARTITIONS_MAX ((size_t)100000)
#define EBB_FILES_TARGET_BYTES ((int64_t)512 << 20) /* where write.target-file-size-bytes does not say */
#define EBB_FILES_SMALL_SHARE 0.75                  /* of the target; Iceberg's rewrite takes smaller files */

/* Live files only (status existing or added). Position and equality delete files and deletion vectors are delete files.
 */
struct ebb_partition {
    const char *key; /* "ds=2026-03-28/region=eu", as Iceberg writes it into paths; "" unpartitioned */
    int64_t spec_id;
    int64_t files, bytes, records; /* of data files */
    int64_t delete_files, delete_records;
    int64_t max_file; /* bytes of the largest data file */
    /* Commit time of the newest snapshot that added a file of it; where that has expired, of the oldest one known to
     * come after it, so a partition is never taken for older than it is. -1: not known. */
    int64_t last_write_ms;
};
struct ebb_files {
    int64_t data_files, records;
    int64_t bytes; /* of data and delete files, as total-files-size of a summary counts them */
    int64_t delete_files, delete_records;
    int64_t small_files; /* data files below EBB_FILES_SMALL_SHARE of the target size */
    int64_t manifests;
    bool has_partitions;              /* false: too many, or of a transform or type that is not known */
    const char *why;                  /* they are not known; static */
    struct ebb_partition *partitions; /* by key, then spec_id */
    size_t partition_count;
    struct ebb_arena arena;
};
/* Read the manifests of the current snapshot; a table without one has no files. EBB_ELIST_*, EBB_EMANIFEST_*,
 * EBB_EENCRYPTED, EBB_ESCHEME, EBB_ECANCELLED, EBB_ENOMEM…. The caller frees. */
int ebb_files_read(const struct ebb_site *site, const struct ebb_table *table, struct ebb_files **out,
                   struct ebb_err *err);
void ebb_files_free(struct ebb_files *files);

#define EBB_WRITES_FILES_MAX ((int64_t)50000)
/* A file may be this much younger than the commit that added it (clocks differ); beyond that its time is not the time
 * it was written (the table was copied, or restored). */
#define EBB_WRITES_SKEW_MS ((int64_t)10 * 60 * 1000)

/* Measures how long writers took: from the oldest file that a snapshot added to its commit. */
struct ebb_writes;
/* Both are borrowed. EBB_ENOMEM. */
int ebb_writes_new(const struct ebb_site *site, const struct ebb_table *table, struct ebb_writes **out,
                   struct ebb_err *err);
void ebb_writes_free(struct ebb_writes *writes);
/* *ms gets how long it took, -1 when it added no files. Looks at every file that it added; at most EBB_WRITES_FILES_MAX
 * with one struct (EBB_ELIMIT). A file that is gone or whose time tells nothing, or a manifest that can't be read, is
 * an error: what is not measured whole is not known. */
int ebb_writes_measure(struct ebb_writes *writes, const struct ebb_snapshot *snapshot, int64_t *ms,
                       struct ebb_err *err);

#endif
