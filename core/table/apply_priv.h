/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces that apply and resume share: checks of a plan, working it off, and the end of a run.
 */
#ifndef EBB_TABLE_APPLY_PRIV_H
#define EBB_TABLE_APPLY_PRIV_H

#include "table/batch_priv.h"

/* apply_check.c: may this plan be applied, by its own words and the time? Listing, fuses and overrides, age. */
int ebb__apply_check_plan(const struct ebb_site *site, const struct ebb_plan_file *plan,
                          const struct ebb_apply_options *options, struct ebb_err *err);
/* The cutoff against the clock and the floor; the scanned folder and every candidate: inside the table, inside what was
 * scanned, not excluded, old. Needs the protection's rules. */
int ebb__apply_check_files(struct ebb__run *run, struct ebb_plan_file *plan, struct ebb_err *err);

/* The fuse missing_files: every file that the table needs below its location is there, unless overridden or verify is
 * none. EBB_EFUSE. */
int ebb__apply_check_missing(struct ebb__run *run, const struct ebb_strs *overrides, struct ebb_err *err);
/* apply_work.c: apply the candidates of a plan from number `from` on. EBB_EPARTIAL when it stopped because something
 * had to go back. */
int ebb__apply_work(struct ebb__run *run, struct ebb_plan_file *plan, int64_t from, int64_t first_batch,
                    struct ebb_err *err);

/* apply_end.c: last looks, counts, record, audit. rc and err are those of the work so far; returns what the whole run
 * returns. */
int ebb__apply_end(struct ebb__run *run, int rc, struct ebb_apply_result *out, struct ebb_err *err);
/* Fill the result from the journal. */
int ebb__apply_tally(struct ebb__run *run, struct ebb_apply_result *out, struct ebb_err *err);
/* Judge everything that lies in the run's quarantine; what is not free goes back. */
int ebb__apply_sweep(struct ebb__run *run, struct ebb_err *err);

/* verify_run.c: does every reachable file exist? What is missing and lies in this run's quarantine goes back. */
int ebb__verify_run(struct ebb__run *run, struct ebb_err *err);

#endif
