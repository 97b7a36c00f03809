/* SPDX-License-Identifier: Apache-2.0 */
#include "service/backtest.h"

#include <stdlib.h>

#include "engine/replay.h"
#include "service/backtest_priv.h"
#include "service/pass_priv.h"

struct ebb_backtest {
    struct ebb_policy_list policies;
    struct ebb_evaluator *evaluator;
    const char *only; /* borrowed; NULL: all */
};

/* One test with what it has at hand. */
struct testing {
    struct ebb_backtest *bt;
    struct ebb_workspace *ws;
    const struct ebb_backtest_options *o;
    struct ebb_backtest_sum *sum;
};

int ebb_backtest_open(const char *path, const char *policy, struct ebb_backtest **out, struct ebb_err *err)
{
    struct ebb_backtest *bt = calloc(1, sizeof *bt);
    int rc = bt ? ebb__policy_list_read(path, &bt->policies, err) : ebb_err_nomem(err);

    *out = NULL;
    if (!rc && bt->policies.first_error.error) {
        rc = -(int)bt->policies.first_error.error;
        if (err)
            *err = bt->policies.first_error;
    }
    if (!rc && (!bt->policies.count || (policy && !ebb__policy_list_find(&bt->policies, policy))))
        rc = ebb_err_set(err, EBB_EUSAGE, "%s: holds no policy%s%s", path, policy ? " " : "", policy ? policy : "");
    if (!rc)
        rc = ebb_evaluator_new(&bt->evaluator, err);
    if (rc) {
        ebb_backtest_close(bt);
        return rc;
    }
    bt->only = policy;
    *out = bt;
    return 0;
}

void ebb_backtest_close(struct ebb_backtest *bt)
{
    if (!bt)
        return;
    ebb_evaluator_free(bt->evaluator);
    ebb__policy_list_fini(&bt->policies);
    free(bt);
}

const struct ebb_policy *ebb_backtest_policy(const struct ebb_backtest *bt, size_t index)
{
    if (bt->only)
        return index ? NULL : ebb__policy_list_find(&bt->policies, bt->only);
    return index < bt->policies.count ? bt->policies.items[index] : NULL;
}

/* The new revision of a policy, also under another name. */
static const struct ebb_policy *successor(const struct ebb_backtest *bt, const char *name)
{
    const struct ebb_policy *p;

    for (size_t i = 0; name && (p = ebb_backtest_policy(bt, i)) != NULL; i++)
        if (!strcmp(ebb_policy_get_name(p), name))
            return p;
    for (size_t i = 0; name && (p = ebb_backtest_policy(bt, i)) != NULL; i++)
        if (ebb_policy_get_was(p) && !strcmp(ebb_policy_get_was(p), name))
            return p;
    return NULL;
}

/* ---- comparing ---- */

static bool is_same_text(const struct ebb_value *a, const struct ebb_value *b, const char *key)
{
    const char *x = ebb_value_text_of(a, key), *y = ebb_value_text_of(b, key);

    return !strcmp(x ? x : "", y ? y : "");
}

static const char *find_change(const struct ebb_value *before, const struct ebb_value *after)
{
    const struct ebb_value *x = ebb_value_get(before, "action"), *y = ebb_value_get(after, "action");

    if (!is_same_text(before, after, "verdict"))
        return "verdict";
    if (!is_same_text(before, after, "until"))
        return "until";
    if ((x || y) && !(x && y && ebb_value_is_equal(x, y)))
        return "action";
    return NULL;
}

static int tell(const struct testing *t, struct ebb_backtest_row *row, struct ebb_err *err)
{
    struct ebb_backtest_sum *sum = t->sum;

    sum->compared += !row->why;
    sum->changed += row->changed != NULL;
    sum->not_comparable += row->why != NULL;
    if (row->changed && !sum->first_changed_ms)
        sum->first_changed_ms = row->at_ms;
    return row->changed || row->why ? t->o->row(t->o->data, row, err) : 0;
}

static int compare(const struct testing *t, const struct ebb_decision *decision, const struct ebb_policy *policy,
                   struct ebb_backtest_row *row, struct ebb_err *err)
{
    const char *json = ebb_decision_get_record(decision);
    struct ebb_value *after = NULL;
    struct ebb_buf why;
    int rc = ebb_value_of_json("decision", json, strlen(json), NULL, &after, err);

    ebb_buf_init(&why, 4096);
    if (!rc)
        rc = ebb__backtest_comparable(ebb_workspace_site(t->ws)->store, policy, row->before, after, &why, err);
    if (!rc) {
        row->after = after;
        if (why.len)
            row->why = ebb_buf_cstr(&why);
        else
            row->changed = find_change(row->before, after);
        rc = tell(t, row, err);
    }
    ebb_buf_fini(&why);
    ebb_value_free(after);
    return rc;
}

/* ---- one decision ---- */

static bool is_about_record(int rc)
{
    return rc == -(int)EBB_ERECORD || rc == -(int)EBB_ECORRUPT || rc == -(int)EBB_ECONFIG || rc == -(int)EBB_ETIME;
}

static int decide_again(const struct testing *t, const struct ebb_policy *policy, struct ebb_backtest_row *row,
                        struct ebb_err *err)
{
    struct ebb_decision *decision = NULL;
    struct ebb_replay_input in;
    struct ebb_err why;
    int rc = ebb_replay_input_of(row->before, &in, &why);

    if (!rc) {
        rc = ebb_evaluator_decide(t->bt->evaluator, policy, &in.input, &decision, &why);
        if (decision) /* a policy that goes wrong is a verdict, too */
            rc = compare(t, decision, policy, row, &why);
        ebb_replay_input_fini(&in);
    }
    if (rc && !decision && is_about_record(rc)) {
        row->why = why.message;
        rc = tell(t, row, err);
    } else if (rc && err)
        *err = why;
    ebb_decision_free(decision);
    return rc;
}

static int on_decision(void *data, const struct ebb_record *r, struct ebb_err *err)
{
    struct testing *t = data;
    const struct ebb_policy *policy = successor(t->bt, r->policy);
    struct ebb_backtest_row row = {.id = r->id, .policy = r->policy, .table = r->table, .at_ms = r->at_ms};
    struct ebb_value *before = NULL;
    int rc;

    if (ebb_site_is_cancelled(ebb_workspace_site(t->ws)))
        return ebb_err_set(err, EBB_ECANCELLED, "interrupted: during the backtest");
    if (!policy) {
        t->sum->without_policy++;
        return 0;
    }
    t->sum->decisions++;
    rc = ebb_value_of_json(r->id, r->json, strlen(r->json), NULL, &before, err);
    row.before = before;
    if (!rc)
        rc = decide_again(t, policy, &row, err);
    ebb_value_free(before);
    return rc;
}

int ebb_backtest_run(struct ebb_backtest *bt, struct ebb_workspace *ws, const struct ebb_backtest_options *o,
                     struct ebb_backtest_sum *sum, struct ebb_err *err)
{
    struct ebb_store *store = ebb_workspace_site(ws)->store;
    struct ebb_record_filter filter = {.table = o->table, .since_ms = o->since_ms};
    struct testing t = {bt, ws, o, sum};

    memset(sum, 0, sizeof *sum);
    if (!store)
        return ebb_err_set(err, EBB_ECONFIG, "backtest: needs the recorded decisions of a state folder");
    return ebb_store_list(store, EBB_RECORD_DECISION, &filter, on_decision, &t, err);
}
