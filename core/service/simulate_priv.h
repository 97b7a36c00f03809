/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of a simulation: the tables with their sessions (simulate.c), and how time passes (simulate_run.c).
 */
#ifndef EBB_SERVICE_SIMULATE_PRIV_H
#define EBB_SERVICE_SIMULATE_PRIV_H

#include "service/pass_priv.h"
#include "service/session_priv.h"
#include "service/simulate.h"

struct ebb__simulation;

/* One table, with a session of its own: what runs do on it reaches all policies on it. */
struct ebb__scene {
    struct ebb__simulation *simulation;
    char *label; /* as it was asked for */
    char *name;  /* "catalog.namespace.name", of its facts */
    struct ebb_session *session;
    struct ebb_arrivals *arrivals;
    bool has_next;
    struct ebb_arrival next; /* the commit to come */
    size_t commits;
    bool knows_layout, is_bad;
    int64_t bad_ms;
};

struct ebb__simulation {
    struct ebb_workspace *ws;
    const struct ebb_simulation_options *o;
    struct ebb_policy_list policies; /* owned; empty when the one policy was given */
    struct ebb_policy *own;          /* the one that was loaded, or NULL */
    const struct ebb_policy *only;   /* the one policy, or NULL: those that are bound */
    struct ebb__scene **scenes;
    size_t count;
    int64_t now_ms;
    int failed; /* what a callback returned */
    struct ebb_err failure;
};

/* Let time pass from now to the end. */
int ebb__simulation_run(struct ebb__simulation *s, struct ebb_err *err);
/* Tells a decision of a session (ebb_session_cb); data is the scene. */
void ebb__scene_tell(void *data, const struct ebb_session_decision *decision);
/* Whether more than half of the files are small. */
void ebb__scene_look(struct ebb__scene *scene);

#endif
