/* SPDX-License-Identifier: Apache-2.0
 *
 * Plan files on disk: reading with every check (whole, hash, order, counts), and finding one by id in the state folder
 * (`plans/<id>.plan`).
 */
#ifndef EBB_TABLE_PLAN_FILE_H
#define EBB_TABLE_PLAN_FILE_H

#include "format/plan.h"
#include "table/site.h"

struct ebb_plan_file;
/* plan: a path (it has a '/' or ends in .plan, or exists) or an id in the store. The whole file is read once: last
 * line, hash, ascending paths, counts and bytes must hold: EBB_EPLAN; EBB_ENOT_FOUND. */
int ebb_plan_file_open(const struct ebb_site *site, const char *plan, struct ebb_plan_file **out, struct ebb_err *err);
void ebb_plan_file_close(struct ebb_plan_file *file);
const char *ebb_plan_file_path(const struct ebb_plan_file *file);
const struct ebb_plan_header *ebb_plan_file_header(const struct ebb_plan_file *file);
const struct ebb_plan_summary *ebb_plan_file_summary(const struct ebb_plan_file *file);
typedef int ebb_plan_candidate_cb(void *data, const struct ebb_plan_candidate *candidate, struct ebb_err *err);
/* All candidates in order, from the same open file. The hash is checked again: EBB_EPLAN when the file changed
 * meanwhile. */
int ebb_plan_file_each(struct ebb_plan_file *file, ebb_plan_candidate_cb *cb, void *data, struct ebb_err *err);
/* The same, one at a time: start (again), then next until *is_end. The candidate's strings live in `arena`. */
int ebb_plan_file_rewind(struct ebb_plan_file *file, struct ebb_err *err);
int ebb_plan_file_next(struct ebb_plan_file *file, struct ebb_arena *arena, struct ebb_plan_candidate *out,
                       bool *is_end, struct ebb_err *err);

#endif
