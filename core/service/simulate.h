/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulation: policies and tables from now on, in a closed loop: what a run does (effects.h) and what writers commit
 * (the table's own history, repeated) is what the next decision sees. Each run is taken as carried out, whatever the
 * mode of the binding, and ends when it starts. Nothing is read but the tables as they are now; nothing is done.
 */
#ifndef EBB_SERVICE_SIMULATE_H
#define EBB_SERVICE_SIMULATE_H

#include "service/session.h"
#include "service/workspace.h"

/* A stretch of time in which the process does not run. */
struct ebb_sleep {
    int64_t from_ms, to_ms;
};

/* One decision, or one occurrence that was dropped. Borrowed. */
struct ebb_simulation_line {
    const char *table;
    const struct ebb_session_decision *decision;
    bool has_nominal; /* a time trigger; the instant it names, and that with the spread of the table */
    int64_t nominal_ms, splayed_ms;
};
typedef int ebb_simulation_cb(void *data, const struct ebb_simulation_line *line, struct ebb_err *err);

/* What came of one policy on one table. */
struct ebb_simulation_sum {
    const char *policy, *table;
    struct ebb_session_totals totals;
    bool knows_layout; /* whether files and small files of the table are known */
    int64_t bad_ms;    /* how long more than half of its data files were small */
    size_t commits;    /* of writers, in the simulated time */
};
typedef int ebb_simulation_sum_cb(void *data, const struct ebb_simulation_sum *sum, struct ebb_err *err);

struct ebb_simulation_options {
    const char *policy;              /* name or file; NULL: all that are bound */
    const struct ebb_policy *loaded; /* instead: this one, borrowed */
    const struct ebb_strs *tables;   /* tables, or captured fixtures (*.json); NULL or none: those of the bindings */
    int64_t until_ms;
    const struct ebb_sleep *asleep; /* in order, apart from each other */
    size_t asleep_count;
    ebb_simulation_cb *line;    /* in order of time; may be NULL */
    ebb_simulation_sum_cb *sum; /* at the end; may be NULL */
    void *data;
};
/* From the workspace's clock to until_ms. Schedules and runs of the store are taken over. EBB_ECONFIG: nothing is
 * bound; EBB_EUSAGE: until_ms lies in the past or more than 5 years ahead, no table is taken, …; errors of loading
 * policies and reading tables. What a callback returns ends it. */
int ebb_simulate(struct ebb_workspace *ws, const struct ebb_simulation_options *options, struct ebb_err *err);

/* "FROM/TO", two instants. EBB_EUSAGE. */
int ebb_sleep_parse(const char *text, struct ebb_sleep *out, struct ebb_err *err);

#endif
