/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts: what a policy may know of a table, as a value tree (engine/decide.h tells the shape), from its metadata, the
 * catalogs and the store. What is not known is left out. Manifests are read only where that is asked for. Of a long
 * history the newest part is told: EBB_FACTS_SNAPSHOTS_MAX snapshots, and as events EBB_FACTS_COMMITS_MAX commits; the
 * latest 1,000 runs, and of what was told from outside the latest 1,000 events of each type. A job of the policy that
 * is queued or under way is told as a run that runs.
 */
#ifndef EBB_SERVICE_FACTS_H
#define EBB_SERVICE_FACTS_H

#include "engine/engine.h"
#include "table/table.h"

#define EBB_FACTS_SNAPSHOTS_MAX ((size_t)10000)
#define EBB_FACTS_COMMITS_MAX ((size_t)50000)
/* In the summary of a snapshot that maintenance committed: such commits are `own` events. */
#define EBB_FACTS_OWN_KEY "ebb.run-id"

#define EBB_FACTS_FORMAT 1 /* of captured tables */
#define EBB_FACTS_FILE_MAX_BYTES ((size_t)64 << 20)

/* Bounds of a tree of facts: a long history and many partitions together. */
struct ebb_value_limits ebb_facts_limits(void);

struct ebb_facts_options {
    const char *policy;            /* whose runs are told; NULL none */
    const char *was;               /* the name that it had before (`was`), or NULL */
    int64_t overlaps;              /* other known tables that overlap; -1 unknown */
    const struct ebb_value *flags; /* site flags, or NULL */
    const struct ebb_strs *events; /* "TYPE key=value …" to add, as of now (ebb decide --event); NULL none */
    const struct ebb_value *fleet; /* what runs (a map), or NULL */
    int64_t runs_max; /* of the latest runs so many, not telling what they changed; 0: 1,000, and of the latest, back to
                         the one that changed something, whether they did */
    unsigned manifests; /* EBB_LACKS_…: what to read off manifests, too (kept in the store by state) */
};
/* What a table can tell beyond its metadata. */
#define EBB_FACTS_MANIFESTS (EBB_LACKS_PARTITIONS | EBB_LACKS_FILES | EBB_LACKS_WRITES)
/* A fresh tree; the caller frees it. now_ms: for ages. EBB_EUSAGE for an event that can't be read; store errors. */
int ebb_facts_new(const struct ebb_site *site, const struct ebb_table *table, const struct ebb_facts_options *options,
                  int64_t now_ms, struct ebb_value **out, struct ebb_err *err);
/* Those for one policy, over those of the table that were made without any (base, which must outlive them): its runs,
 * and what the fleet does. Store errors, EBB_ENOMEM. */
int ebb_facts_over(const struct ebb_site *site, const struct ebb_table *table, const struct ebb_value *base,
                   const struct ebb_facts_options *options, struct ebb_value **out, struct ebb_err *err);
/* Whether a table is given as a captured fixture: a name that ends in .json, but not in .metadata.json. */
bool ebb_facts_is_fixture(const char *table);
/* From a captured fixture (JSON object with "table" …): as it is, but for events to add. EBB_EUSAGE when it is no such
 * file (no JSON, a byte order mark, no table in it, written by another version of the format, larger than
 * EBB_FACTS_FILE_MAX_BYTES) or an event can't be read; a remedy is in the hint. */
int ebb_facts_load(const char *file, const struct ebb_strs *events, int64_t now_ms, struct ebb_value **out,
                   struct ebb_err *err);

#endif
