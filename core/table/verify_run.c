/* SPDX-License-Identifier: Apache-2.0 */
#include "table/apply_priv.h"

#include "table/name_priv.h"
#include "table/verify_priv.h"

#define WARNINGS_MAX 20

struct absent {
    struct ebb__run *run;
    struct ebb_strs lost; /* names below the location that lie in this run's quarantine */
    int64_t others;
};

static int lies_in_quarantine(struct ebb__run *run, struct ebb_str name, bool *out, struct ebb_err *err)
{
    struct ebb_stat st;
    struct ebb_buf target;
    int rc;

    ebb_buf_init(&target, EBB_LOCATION_MAX_BYTES);
    rc = ebb_quarantine_name(&run->quarantine, name, &target, err);
    if (!rc)
        rc = ebb_place_stat(run->quarantine.place, target.data, &st, err);
    *out = rc == 0;
    ebb_buf_fini(&target);
    return rc == -EBB_ENOENT || rc == -EBB_EOUTSIDE ? 0 : rc;
}

static int note_absent(void *data, const char *uri, enum ebb__absence absence, struct ebb_err *err)
{
    struct absent *a = data;
    struct ebb_buf name;
    bool is_ours = false;
    int rc;

    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    rc = ebb__name_of(a->run->record.location, ebb_str_of(uri), ebb_protect_rules(a->run->protect), &name, NULL);
    if (rc)
        rc = 0; /* elsewhere: this run can't have moved it */
    else
        rc = lies_in_quarantine(a->run, ebb_buf_str(&name), &is_ours, err);
    if (!rc && is_ours)
        rc = ebb_strs_addn(&a->lost, name.data, name.len, err);
    else if (!rc && absence == EBB_ABSENT_FILE && a->others++ < WARNINGS_MAX)
        ebb_log_say(&a->run->site.log, EBB_LOG_WARN,
                    "verify: %s: the table needs it, and it is not there; this run did not move it", uri);
    ebb_buf_fini(&name);
    return rc;
}

struct returning {
    struct ebb__run *run;
    const struct ebb_strs *lost;
    struct ebb__batch batch;
};

static int return_flush(struct returning *r, struct ebb_err *err)
{
    int rc;

    if (r->batch.count == 0)
        return 0;
    rc = ebb__batch_sync(r->run, &r->batch, EBB_MOVE_BACK, err);
    if (!rc)
        rc = ebb__batch_store(r->run, &r->batch, EBB_MOVE_BACK, "put_back", err);
    ebb__batch_reset(&r->batch);
    return rc;
}

static int return_move(void *data, const struct ebb_move *move, struct ebb_err *err)
{
    struct returning *r = data;
    size_t i;
    int rc;

    for (i = 0; i < r->lost->count; i++)
        if (ebb_str_is_equal(move->path, ebb_str_of(r->lost->items[i])))
            break;
    if (i == r->lost->count)
        return 0;
    rc = ebb__batch_add(&r->batch, move, err);
    if (rc)
        return rc;
    ebb__batch_put_back(r->run, &r->batch, &r->batch.moves[r->batch.count - 1], "the table needs it");
    r->run->is_stopped = true;
    return r->batch.count == r->batch.max ? return_flush(r, err) : 0;
}

static int return_lost(struct ebb__run *run, const struct ebb_strs *lost, struct ebb_err *err)
{
    struct returning r;
    int rc;

    r.run = run;
    r.lost = lost;
    rc = ebb__batch_init(&r.batch, EBB_BATCH_DEFAULT, err);
    if (!rc)
        rc = ebb_store_list_moves(run->site.store, run->record.id, EBB_MOVE_MOVED, return_move, &r, err);
    if (!rc)
        rc = return_flush(&r, err);
    ebb__batch_fini(&r.batch);
    return rc;
}

int ebb__verify_run(struct ebb__run *run, struct ebb_err *err)
{
    struct absent a = {run, {0}, 0};
    int64_t checked;
    int rc;

    if (run->record.verify == EBB_VERIFY_NONE)
        return 0;
    ebb_strs_init(&a.lost);
    rc = ebb__verify_walk(&run->site, ebb_protect_table(run->protect),
                          run->record.verify == EBB_VERIFY_SAMPLE ? EBB_VERIFY_SAMPLE_STEP : 1, note_absent, &a,
                          &checked, err);
    if (!rc && a.lost.count > 0)
        rc = return_lost(run, &a.lost, err);
    ebb_strs_fini(&a.lost);
    return rc;
}
