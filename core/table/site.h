/* SPDX-License-Identifier: Apache-2.0
 *
 * The site: what a run works with, handed down through the table layer. Filled by whoever embeds the library (command
 * line, service, host); everything in it is borrowed and outlives the run.
 */
#ifndef EBB_TABLE_SITE_H
#define EBB_TABLE_SITE_H

#include <stdatomic.h>

#include "base/clock.h"
#include "io/audit.h"
#include "io/catalog.h"
#include "io/store.h"

/* What a long step is doing, for a progress line. */
struct ebb_progress {
    const char *phase; /* "metadata", "listing", "apply", "verify", … */
    int64_t done;
    int64_t total; /* 0 unknown */
};

struct ebb_site {
    struct ebb_clock clock;
    struct ebb_log log;
    struct ebb_storage *storage;
    const struct ebb_strs *maps; /* the "FROM=TO" texts the storage's map was made of, TO absolute; NULL = none. Plans
                                  * and runs record them, so that apply and restore find the same place. */
    struct ebb_catalog **catalogs;
    size_t catalog_count;
    struct ebb_store *store; /* NULL: nothing is recorded; then only plan to a file works */
    struct ebb_audit *audit; /* NULL only when store is */
    bool allow_below_floor;  /* set in the configuration for this table or job */
    void (*progress)(void *data, const struct ebb_progress *progress); /* NULL: none */
    void *progress_data;
    void (*began)(void *data, const char *run); /* told a run's id as soon as it is recorded, or gone on with; NULL */
    void *began_data;
    const atomic_bool *cancelled; /* NULL: never; checked between batches and files: EBB_ECANCELLED */
    int64_t deadline_ms;          /* of ebb_clock_elapsed_ms; past it the work counts as cancelled; 0: none */
};

/* Say in the log when what is removed from a place stays as older versions. Errors of the storage. */
int ebb_site_say_versioned(const struct ebb_site *site, struct ebb_place *place, struct ebb_err *err);
/* Whether to stop at the next safe point; and one step of progress, done of total (0 unknown), to whoever listens. */
bool ebb_site_is_cancelled(const struct ebb_site *site);
void ebb_site_progress(const struct ebb_site *site, const char *phase, int64_t done, int64_t total);
void ebb_site_began(const struct ebb_site *site, const char *run);

#endif
