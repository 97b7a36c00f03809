/* SPDX-License-Identifier: Apache-2.0 */
#include "table/apply_priv.h"

#include "table/name_priv.h"

struct work {
    struct ebb__run *run;
    struct ebb__batch batch;
    const struct ebb_prefix_rules *rules;
    int64_t seq;  /* of the next candidate */
    int64_t from; /* the first that is to be done */
    int64_t total;
};

static int flush(struct work *w, struct ebb_err *err)
{
    int rc;

    if (w->batch.count == 0)
        return 0;
    rc = ebb__batch_apply(w->run, &w->batch, err);
    if (rc)
        return rc;
    ebb_site_progress(&w->run->site, "apply", w->seq, w->total);
    ebb__batch_reset(&w->batch);
    w->batch.number++;
    if (w->run->is_stopped)
        return ebb_err_set(err, EBB_EPARTIAL, "run %s: stopped, because files became referenced while it ran",
                           w->run->record.id);
    return 0;
}

static int add(struct work *w, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    char id[EBB_STAT_ID_MAX];
    struct ebb_move move;
    struct ebb_buf name;
    int rc;

    memset(&move, 0, sizeof move);
    ebb_buf_init(&name, EBB_LOCATION_MAX_BYTES);
    rc = ebb__name_of(w->run->record.location, c->path, w->rules, &name, err);
    if (!rc && c->id.n >= sizeof id)
        rc = ebb_err_set(err, EBB_EPLAN, "%s: its identity is too long", ebb_buf_cstr(&name));
    if (!rc) {
        memcpy(id, c->id.p, c->id.n);
        id[c->id.n] = '\0';
        move.seq = w->seq;
        move.path = move.target = ebb_buf_str(&name);
        move.id = id;
        move.size_bytes = c->size_bytes;
        move.mtime_ns = c->mtime_ns;
        move.state = EBB_MOVE_PLANNED;
        rc = ebb__batch_add(&w->batch, &move, err);
    }
    ebb_buf_fini(&name);
    return rc;
}

static int take_candidate(void *data, const struct ebb_plan_candidate *c, struct ebb_err *err)
{
    struct work *w = data;
    int rc = 0;

    if (w->seq >= w->from)
        rc = add(w, c, err);
    w->seq++;
    if (!rc && w->batch.count == w->batch.max)
        rc = flush(w, err);
    return rc;
}

int ebb__apply_work(struct ebb__run *run, struct ebb_plan_file *plan, int64_t from, int64_t first_batch,
                    struct ebb_err *err)
{
    struct work w;
    int rc;

    memset(&w, 0, sizeof w);
    w.run = run;
    w.rules = ebb_protect_rules(run->protect);
    w.from = from;
    w.total = ebb_plan_file_summary(plan)->candidates;
    rc = ebb__batch_init(&w.batch, run->record.batch_count, err);
    w.batch.number = first_batch;
    if (!rc)
        rc = ebb_plan_file_each(plan, take_candidate, &w, err);
    if (!rc)
        rc = flush(&w, err);
    ebb__batch_fini(&w.batch);
    return rc;
}
