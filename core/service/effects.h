/* SPDX-License-Identifier: Apache-2.0
 *
 * Models of what happens to a table in a simulation: what an action does to the facts, and the commits of its writers.
 * Simple and deterministic; all they tell is an estimate. Pure.
 */
#ifndef EBB_SERVICE_EFFECTS_H
#define EBB_SERVICE_EFFECTS_H

#include "engine/value.h"

/* What a run would have done. */
struct ebb_effect {
    int64_t files_deleted, bytes_deleted; /* orphans removed; files that only expired snapshots held */
    int64_t files_rewritten, bytes_rewritten, files_written;
    int64_t snapshots_expired;
    bool commits; /* it makes a snapshot of operation replace */
};
/* The effect of an action that goes well on the facts of a table (decide.h). *changes, the caller's: a map of paths
 * from the root of the facts ("table.stats") to their new values. What is not known stays unknown.
 *   remove_orphan_files  what the last listing found is gone: stats.orphans is zero, as of now
 *   expire_snapshots     snapshots older than older_than go, but for the current one, those that refs name, and the
 *                        latest retain_last (1); with each its manifest list and the data files it had deleted
 *   rewrite_data_files   each of the partitions (all without) becomes files of the target size, without delete files
 *   rewrite_manifests    one manifest for every 20,000 files
 * EBB_ENOMEM, EBB_ELIMIT. */
int ebb_effect_of(const struct ebb_value *facts, const struct ebb_value *action, int64_t now_ms, struct ebb_effect *out,
                  struct ebb_value **changes, struct ebb_err *err);
void ebb_effect_add(struct ebb_effect *sum, const struct ebb_effect *effect);
/* A number of a summary or a property: digits alone; -1: anything else, or NULL. */
int64_t ebb_effect_number(const char *text);
/* The target size of data files: of the property write.target-file-size-bytes, 512 MiB without. */
int64_t ebb_effect_target_bytes(const struct ebb_value *facts);

/* The commits of writers, as they came: the latest part of the table's history (whole weeks, at most four; of a younger
 * table whole days) over and over again. */
struct ebb_arrivals;
struct ebb_arrival {
    int64_t at_ms;
    int64_t files, bytes, records; /* what it adds; what a summary does not tell is the mean of the others */
};
/* From the snapshots in the facts up to now. A table that saw no commit for longer than the part that would be repeated
 * gets none, unless `always`. EBB_ENOMEM. */
int ebb_arrivals_new(const struct ebb_value *facts, int64_t now_ms, bool always, struct ebb_arrivals **out,
                     struct ebb_err *err);
void ebb_arrivals_free(struct ebb_arrivals *arrivals);
/* The first one after an instant; false: there is none. */
bool ebb_arrivals_next(const struct ebb_arrivals *arrivals, int64_t after_ms, struct ebb_arrival *out);
/* How many commits are repeated, and in what time. */
size_t ebb_arrivals_count(const struct ebb_arrivals *arrivals, int64_t *period_ms);

#endif
