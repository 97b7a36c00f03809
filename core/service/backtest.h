/* SPDX-License-Identifier: Apache-2.0
 *
 * Backtest, open loop: recorded decisions with their inputs, decided again by other policies. After the first changed
 * verdict the inputs are no longer what would have happened. Nothing is done or recorded.
 */
#ifndef EBB_SERVICE_BACKTEST_H
#define EBB_SERVICE_BACKTEST_H

#include "engine/policy.h"
#include "service/workspace.h"

struct ebb_backtest;
/* Load the new policies: a folder, or a file. Errors of loading; EBB_EUSAGE: there is none, or none of this name
 * (policy, NULL: all of them). */
int ebb_backtest_open(const char *path, const char *policy, struct ebb_backtest **out, struct ebb_err *err);
void ebb_backtest_close(struct ebb_backtest *backtest);
/* The policies that are tested, by index; NULL past the end. */
const struct ebb_policy *ebb_backtest_policy(const struct ebb_backtest *backtest, size_t index);

/* A decision that comes out differently, or can't be compared. Borrowed. */
struct ebb_backtest_row {
    const char *id, *policy, *table;
    int64_t at_ms;
    const struct ebb_value *before; /* its record */
    const struct ebb_value *after;  /* the record of the new decision, or NULL */
    const char *changed;            /* "verdict", "action", "until"; NULL: not comparable */
    const char *why;                /* not comparable: why */
};
typedef int ebb_backtest_cb(void *data, const struct ebb_backtest_row *row, struct ebb_err *err);

struct ebb_backtest_sum {
    int64_t decisions; /* recorded ones since then that are of the policies tested */
    int64_t compared, changed, not_comparable;
    int64_t without_policy;   /* of policies that are not tested */
    int64_t first_changed_ms; /* 0: none */
};
struct ebb_backtest_options {
    int64_t since_ms;
    const char *table; /* glob; NULL all */
    ebb_backtest_cb *row;
    void *data;
};
/* Store errors, and what the callback returns. EBB_ECONFIG without a store. */
int ebb_backtest_run(struct ebb_backtest *backtest, struct ebb_workspace *ws,
                     const struct ebb_backtest_options *options, struct ebb_backtest_sum *sum, struct ebb_err *err);

#endif
