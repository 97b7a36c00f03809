/* SPDX-License-Identifier: Apache-2.0 */
#include "table/restore_priv.h"

#include <stdio.h>

#include "table/apply_priv.h"

static int take_move(void *data, const struct ebb_move *move, struct ebb_err *err)
{
    return ebb__restorer_add(data, move, err);
}

static int check_state(const struct ebb__run *run, struct ebb_err *err)
{
    if (strcmp(run->record.status, "purged") != 0)
        return 0;
    return ebb_err_set(err, EBB_ERUN_STATE, "run %s: is purged; its files are gone for good", run->record.id);
}

/* Everything of the run is back: its folder has no use any more. */
static int close_folder(struct ebb__restorer *r, struct ebb_err *err)
{
    bool is_gone;
    int rc;

    if (r->left > 0)
        return 0;
    rc = ebb__batch_prune_run(r->run, err);
    return rc ? rc : ebb_removal_remove_record(&r->run->quarantine, &is_gone, err);
}

static int save(struct ebb__restorer *r, struct ebb_err *err)
{
    struct ebb__run *run = r->run;
    struct ebb_apply_result result;
    int rc;

    memset(&result, 0, sizeof result);
    rc = ebb__apply_tally(run, &result, err);
    if (run->record.ended_ms == 0)
        run->record.ended_ms = ebb_clock_now(&run->site.clock);
    if (!rc)
        rc = ebb__run_save(run, r->left == 0 ? "restored" : run->record.status, &result, err);
    ebb_apply_result_fini(&result);
    return rc;
}

static int restore_all(struct ebb__restorer *r, struct ebb_err *err)
{
    int rc;

    rc = ebb__run_audit(r->run, "restore_started", "", err);
    if (!rc)
        rc = ebb__run_audit_flush(r->run, err);
    if (!rc)
        rc = ebb_store_list_moves(r->run->site.store, r->run->record.id, -1, take_move, r, err);
    if (!rc)
        rc = ebb__restorer_flush(r, err);
    if (!rc)
        rc = close_folder(r, err);
    if (!rc)
        rc = save(r, err);
    return rc ? rc : ebb__restorer_end(r, err);
}

static int prepare(struct ebb__run *run, const char *id, struct ebb_err *err)
{
    int rc;

    rc = ebb__run_load(run, id, err);
    if (!rc)
        rc = check_state(run, err);
    if (!rc)
        rc = ebb__run_open_place(run, err);
    if (!rc)
        rc = ebb__run_lock(run, err);
    if (!rc)
        rc = ebb__run_load(run, run->record.id, err); /* as it is now that nobody else works on it */
    return rc ? rc : check_state(run, err);
}

int ebb_restore(const struct ebb_site *site, const char *id, const struct ebb_strs *paths,
                struct ebb_restore_result *out, struct ebb_err *err)
{
    struct ebb__restorer r;
    struct ebb__run run;
    int rc;

    memset(out, 0, sizeof *out);
    memset(&r, 0, sizeof r);
    rc = ebb__run_init(&run, site, err);
    if (!rc)
        rc = prepare(&run, id, err);
    if (!rc)
        rc = ebb__restorer_init(&r, &run, paths, true, out, err);
    snprintf(out->run, sizeof out->run, "%s", run.record.id);
    if (!rc)
        rc = restore_all(&r, err);
    ebb__restorer_fini(&r);
    ebb__run_fini(&run);
    return rc;
}
