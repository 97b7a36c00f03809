/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts: what a policy may know of a table, as a value tree (engine/decide.h tells the shape), from its metadata, the catalogs and the store. What is not
 * known is left out. Reads metadata only, never manifests.
 */
#ifndef EBB_SERVICE_FACTS_H
#define EBB_SERVICE_FACTS_H

#include "engine/engine.h"
#include "table/table.h"

struct ebb_facts_options {
    const char *policy;             /* whose runs are told; NULL none */
    int64_t overlaps;               /* other known tables that overlap; -1 unknown */
    const struct ebb_value *flags;  /* site flags, or NULL */
    const struct ebb_strs *events;  /* "TYPE key=value …" to add, as of now (ebb decide --event); NULL none */
};
/* A fresh tree; the caller frees it. now_ms: for ages. EBB_EUSAGE for an event that can't be read; store errors. */
int ebb_facts_new(const struct ebb_site *site, const struct ebb_table *table, const struct ebb_facts_options *options, int64_t now_ms,
                  struct ebb_value **out, struct ebb_err *err);
/* From a captured fixture (JSON object with "table" …): as it is. EBB_EUSAGE when it is no such file. */
int ebb_facts_load(const char *file, struct ebb_value **out, struct ebb_err *err);

#endif
