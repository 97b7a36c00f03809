/* SPDX-License-Identifier: Apache-2.0
 *
 * What plans and runs recorded about where their URIs are reachable; asked between opening a workspace and connecting
 * it.
 */
#ifndef EBB_SERVICE_RECORDED_H
#define EBB_SERVICE_RECORDED_H

#include "service/workspace.h"

/* Maps of a plan (file or id): EBB_EPLAN, EBB_ENOT_FOUND. */
int ebb_recorded_maps_of_plan(struct ebb_workspace *ws, const char *plan, struct ebb_strs *out, struct ebb_err *err);
/* Maps of a run in the store: EBB_ENOT_FOUND. */
int ebb_recorded_maps_of_run(struct ebb_workspace *ws, const char *run, struct ebb_strs *out, struct ebb_err *err);

#endif
