/* SPDX-License-Identifier: Apache-2.0 */
#include "service/recorded.h"

int ebb_recorded_maps_of_plan(struct ebb_workspace *ws, const char *plan, struct ebb_strs *out, struct ebb_err *err)
{
    struct ebb_plan_file *file = NULL;
    int rc = ebb_plan_file_open(ebb_workspace_site(ws), plan, &file, err);

    if (!rc)
        rc = ebb_workspace_recorded_maps(ebb_plan_file_header(file)->options, out, err);
    ebb_plan_file_close(file);
    return rc;
}

static int on_run(void *data, const struct ebb_record *record, struct ebb_err *err)
{
    return ebb_workspace_recorded_maps(ebb_str_of(record->json), data, err);
}

int ebb_recorded_maps_of_run(struct ebb_workspace *ws, const char *run, struct ebb_strs *out, struct ebb_err *err)
{
    return ebb_store_get(ebb_workspace_site(ws)->store, EBB_RECORD_RUN, run, on_run, out, err);
}
