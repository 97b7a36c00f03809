/* SPDX-License-Identifier: Apache-2.0
 *
 * Purging one run: is it allowed, is anything of it reachable again, and then file by file.
 */
#ifndef EBB_TABLE_PURGE_PRIV_H
#define EBB_TABLE_PURGE_PRIV_H

#include "table/batch_priv.h"

struct ebb__purge {
    struct ebb__run *run;
    const struct ebb_purge_options *options;
    struct ebb_purge_result *out;
    struct ebb__batch batch;
    bool is_unowned; /* the table is gone, and that was allowed: nothing to judge against */
    int64_t stuck;   /* files that could not be removed */
    int64_t returned;
};

/* purge_run.c: the run's record is loaded, place and lock are held. Errors are those of the whole purge; what only
 * keeps this run is a note in out->kept. *is_done: everything is removed. */
int ebb__purge_files(struct ebb__purge *p, bool *is_done, struct ebb_err *err);
int ebb__purge_note(struct ebb__purge *p, const char *why, struct ebb_err *err);

#endif
