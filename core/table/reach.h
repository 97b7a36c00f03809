/* SPDX-License-Identifier: Apache-2.0
 *
 * Reachability: every name that a table's metadata still holds, as a stream, and as a set of
 * 64-bit fingerprints for membership tests (2.3). All or nothing: any piece that can't be read whole is an error and no
 * set.
 */
#ifndef EBB_TABLE_REACH_H
#define EBB_TABLE_REACH_H

#include "table/table.h"

enum ebb_reach_kind {
    EBB_REACH_METADATA, /* current metadata file, log entries, version hint, lagging versions */
    EBB_REACH_MANIFEST_LIST,
    EBB_REACH_MANIFEST,
    EBB_REACH_DATA,
    EBB_REACH_DELETES, /* position and equality delete files, deletion vectors */
    EBB_REACH_STATISTICS,
    EBB_REACH_REFERENCED /* referenced_data_file of a delete entry */
};
struct ebb_reach_options {
    bool keep_deleted_entries;
};
struct ebb_reach_stats {
    int64_t metadata_files_read; /* metadata.json, lists, manifests opened */
    int64_t names;
    int64_t live_files; /* data and delete files of the current snapshot's manifests and all others, with repeats */
};
/* path is as the metadata has it, but for a relative name, which gets the table's location before it; borrowed.
 * Non-zero stops and is returned. */
typedef int ebb_reach_cb(void *data, enum ebb_reach_kind kind, struct ebb_str path, struct ebb_err *err);

/* A reader remembers which manifest lists and manifests it has read (by exact path): a walk over a newer state of the
 * same table reads only what is new. */
struct ebb_reach_reader;
int ebb_reach_reader_new(const struct ebb_site *site, const struct ebb_reach_options *options,
                         struct ebb_reach_reader **out, struct ebb_err *err);
void ebb_reach_reader_free(struct ebb_reach_reader *reader);
/* Stream the reachable names of the table that this reader has not streamed before (a data file that several manifests
 * have is repeated, a manifest of several lists is not). Checks
 * everything on the way: lengths, counts, versions, and that pieces lie under the table's own schemes, a mapped prefix,
 * or one of read_also. stats are added to; may be NULL. After an error the reader must not be used again. */
int ebb_reach_reader_walk(struct ebb_reach_reader *reader, const struct ebb_table *table,
                          const struct ebb_strs *read_also, ebb_reach_cb *cb, void *data, struct ebb_reach_stats *stats,
                          struct ebb_err *err);
/* One walk with a reader of its own: every name. options NULL: the defaults. */
int ebb_reach_walk(const struct ebb_site *site, const struct ebb_table *table, const struct ebb_reach_options *options,
                   ebb_reach_cb *cb, void *data, struct ebb_reach_stats *stats, struct ebb_err *err);

enum ebb_match { EBB_MATCH_NONE, EBB_MATCH_SAME, EBB_MATCH_CONFLICT };
struct ebb_reach_set;
/* An empty set; rules are borrowed, seed as ebb_store_seed. EBB_ENOMEM. */
int ebb_reach_set_new(const struct ebb_prefix_rules *rules, uint64_t seed, struct ebb_reach_set **out,
                      struct ebb_err *err);
void ebb_reach_set_free(struct ebb_reach_set *set);
/* Add a name as metadata has it. `root`: what a relative name is resolved against (table location). */
int ebb_reach_set_add(struct ebb_reach_set *set, struct ebb_str path, const char *root, struct ebb_err *err);
/* Number of distinct names. */
int64_t ebb_reach_set_count(struct ebb_reach_set *set);
/* Is a listed name reachable? An exact match under any prefix that may be meant beats every conflict elsewhere.
 * conflict (may be NULL) gets
 * "(valid, actual)" for messages. */
int ebb_reach_set_match(struct ebb_reach_set *set, const struct ebb_location *listed, enum ebb_match *out,
                        struct ebb_buf *conflict, struct ebb_err *err);
/* The same for a path that is known to be normal: no check, no error. */
enum ebb_match ebb_reach_set_match_normal(struct ebb_reach_set *set, const struct ebb_location *listed,
                                          struct ebb_buf *conflict);
/* Whether a reachable name, under any prefix, has the same fold (base/fold.h) as this path, which is not reachable
 * itself. *fold is borrowed until the next call. */
bool ebb_reach_set_is_near(struct ebb_reach_set *set, struct ebb_str normal_path, struct ebb_str *fold);
/* Make room for about this many names at once. */
void ebb_reach_set_reserve(struct ebb_reach_set *set, int64_t names_count);

#endif
