/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/answer_priv.h"

#include <stdlib.h>

int ebb__settings_of(const struct ebb_policy *policy, const struct ebb_decide_input *input, struct ebb_settings **out,
                     struct ebb_err *err)
{
    const struct ebb_value *properties = ebb_value_get(ebb_value_get(input->facts, "table"), "properties");
    struct ebb_settings_site site = {input->overrides, input->guard, input->blackouts, input->blackout_tz};

    return ebb_settings_new_bound(policy, &site, properties, out, err);
}

static void limit(int64_t *holds, int64_t until)
{
    if (until < *holds)
        *holds = until;
}

/* What the guards made of a run: every wait that ends may change it, and windows that begin are not looked for. */
static int64_t guarded_until(const struct ebb__eval *e, const struct ebb__guards *g, int64_t holds)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);

    if (g->verdict == EBB_VERDICT_REFUSED)
        return 0;
    if (g->verdict == EBB_VERDICT_RUN &&
        (guard->quiet_count || guard->blackout_count || e->input->blackouts || guard->fleet_slot))
        return 0;
    for (size_t i = 0; i < g->count; i++)
        if (g->rows[i].has_until)
            limit(&holds, g->rows[i].until_ms);
    return holds;
}

static int64_t holds_until(const struct ebb__eval *e, const struct ebb__guards *g)
{
    int64_t holds = ebb__changes_end(e);

    if (!holds)
        return 0;
    if (e->verdict == EBB_VERDICT_DEFER)
        limit(&holds, e->until_ms);
    if (e->verdict == EBB_VERDICT_RUN)
        holds = guarded_until(e, g, holds);
    return holds > e->input->now_ms ? holds : 0;
}

static void note_read(struct ebb__eval *e, const char *a, const char *b)
{
    int node = ebb__reads_at(&e->reads, EBB__READS_ROOT, EBB_STR("t"));

    node = ebb__reads_at(&e->reads, node, ebb_str_of(a));
    ebb__reads_mark(&e->reads, b ? ebb__reads_at(&e->reads, node, ebb_str_of(b)) : node);
}

/* Facts that the guards of a rewrite go by. */
static void note_guards(struct ebb__eval *e)
{
    const struct ebb_guard *guard = ebb_settings_get_guard(e->settings);

    if (!e->action || (!guard->rewrites_max_files && !guard->rewrites_max_bytes))
        return;
    if (ebb_value_get(e->action, "partitions"))
        note_read(e, "partitions", NULL);
    note_read(e, "stats", "data_files");
    note_read(e, "stats", "bytes");
}

int ebb__answer_take(struct ebb_decision *d, const struct ebb_policy *policy, const struct ebb_decide_input *input,
                     struct ebb__eval *e, const struct ebb__guards *g, bool failed, struct ebb_err *err)
{
    d->policy = policy;
    d->input = *input;
    d->holds_until_ms = INT64_MAX;
    if (!e)
        return 0;
    d->holds_until_ms = failed ? 0 : holds_until(e, g);
    d->lacks = e->changes.lacks;
    note_guards(e);
    d->reads = ebb__reads_keep(&e->reads);
    return d->reads ? 0 : ebb_err_nomem(err);
}

int64_t ebb_decision_get_holds_until_ms(const struct ebb_decision *d)
{
    return d->holds_until_ms;
}

unsigned ebb_decision_get_lacks(const struct ebb_decision *d)
{
    return d->lacks;
}

const char *ebb_decision_get_digest(const struct ebb_decision *d)
{
    struct ebb_decision *mine = (struct ebb_decision *)(uintptr_t)d;
    struct ebb_strs paths;
    int rc;

    if (d->digest[0])
        return d->digest;
    ebb_strs_init(&paths);
    rc = d->reads ? ebb__reads_list(d->reads, &paths, NULL) : 0;
    if (rc || ebb__digest_make(d->policy, &d->input, &paths, mine->digest, NULL))
        mine->digest[0] = '\0';
    ebb_strs_fini(&paths);
    return d->digest;
}

int ebb_decide_digest(const struct ebb_policy *policy, const struct ebb_decide_input *input,
                      const struct ebb_value *reads, char out[80], struct ebb_err *err)
{
    struct ebb_strs paths;
    int rc = 0;

    ebb_strs_init(&paths);
    for (size_t i = 0; i < ebb_value_get_count(reads) && !rc; i++) {
        struct ebb_str path = ebb_value_get_bytes(ebb_value_get_at(reads, i));

        rc = path.p ? ebb_strs_addn(&paths, path.p, path.n, err)
                    : ebb_err_set(err, EBB_ECORRUPT, "reads[%zu]: a text is due", i);
    }
    if (!rc)
        rc = ebb__digest_make(policy, input, &paths, out, err);
    ebb_strs_fini(&paths);
    return rc;
}
