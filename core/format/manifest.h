/* SPDX-License-Identifier: Apache-2.0
 *
 * Manifest lists and manifests. Each is read whole from memory through the projecting Avro reader; rows
 * are given to a callback, their strings valid only during it. Both check what can be checked: ids, counts, statuses,
 * encryption.
 */
#ifndef EBB_FORMAT_MANIFEST_H
#define EBB_FORMAT_MANIFEST_H

#include "format/avro.h"

/* One row of a manifest list. A count of -1 is unknown. */
struct ebb_manifest_ref {
    struct ebb_str path;
    int64_t length;
    int64_t spec_id;
    int content; /* 0 data, 1 deletes */
    int64_t sequence_number;
    int64_t added_snapshot_id;
    int64_t added_files, existing_files, deleted_files;
};
typedef int ebb_manifest_ref_cb(void *data, const struct ebb_manifest_ref *ref, struct ebb_err *err);

/* EBB_ELIST_CORRUPT, EBB_EENCRYPTED (key_metadata set, or "AGS1"), EBB_ENOMEM, or what the callback returned. */
int ebb_manifest_list_read(struct ebb_avro_reader *reader, const char *name, const void *bytes, size_t n,
                           ebb_manifest_ref_cb *cb, void *data, struct ebb_err *err);

enum ebb_entry_status { EBB_ENTRY_EXISTING = 0, EBB_ENTRY_ADDED = 1, EBB_ENTRY_DELETED = 2 };

struct ebb_manifest_entry {
    enum ebb_entry_status status;
    int content; /* 0 data, 1 position deletes and deletion vectors, 2 equality deletes */
    struct ebb_str file_path;
    struct ebb_str file_format;
    struct ebb_str referenced_data_file; /* n == 0: none */
    int64_t snapshot_id;                 /* -1: inherit */
    int64_t record_count;
    int64_t file_size_bytes;
    int64_t content_size_bytes;             /* of a deletion vector in its file; -1: none, or not asked for */
    const struct ebb_avro_value *partition; /* one value for each part that was asked for */
};
typedef int ebb_manifest_entry_cb(void *data, const struct ebb_manifest_entry *entry, struct ebb_err *err);

struct ebb_manifest_counts {
    int64_t added, existing, deleted;
};

/* EBB_EMANIFEST_CORRUPT (also: status outside 0..2, a path that is empty or not UTF-8, a Parquet manifest of version
 * 4), EBB_EENCRYPTED, EBB_ENOMEM, or what the callback returned. *counts is filled on success (NULL is fine); comparing
 * it with the list is the caller's business. */
int ebb_manifest_read(struct ebb_avro_reader *reader, const char *name, const void *bytes, size_t n,
                      ebb_manifest_entry_cb *cb, void *data, struct ebb_manifest_counts *counts, struct ebb_err *err);
/* A field of the partition tuple that is to be read, too. A null, and a field that the file does not have, is not
 * set. */
struct ebb_manifest_part {
    int field_id;
    const char *name; /* for files without ids */
    enum ebb_avro_type type;
};
#define EBB_MANIFEST_PARTS_MAX 48
/* As ebb_manifest_read, with content_size_bytes and these parts of the partition; a part of another type is
 * EBB_EMANIFEST_CORRUPT, more than EBB_MANIFEST_PARTS_MAX are EBB_ELIMIT. */
int ebb_manifest_read_parts(struct ebb_avro_reader *reader, const char *name, const void *bytes, size_t n,
                            const struct ebb_manifest_part *parts, size_t part_count, ebb_manifest_entry_cb *cb,
                            void *data, struct ebb_manifest_counts *counts, struct ebb_err *err);

#endif
