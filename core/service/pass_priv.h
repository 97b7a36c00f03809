/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the pass_*.c files: the policies of the configured folder, what overlaps, the record of a decision, and a
 * pass with what it has at hand.
 */
#ifndef EBB_SERVICE_PASS_PRIV_H
#define EBB_SERVICE_PASS_PRIV_H

#include "service/facts.h"
#include "service/pass.h"

struct ebb_policy_list {
    struct ebb_policy **items;
    size_t count;
    struct ebb_err first_error; /* of a file that does not load; error EBB_OK: all load */
};
/* Load every policy of the folder. A file that does not load is left out and told in first_error; two of one name are
 * an error. */
int ebb__policy_list_load(struct ebb_workspace *ws, struct ebb_policy_list *list, struct ebb_err *err);
/* The same of any folder, or a file. */
int ebb__policy_list_read(const char *path, struct ebb_policy_list *list, struct ebb_err *err);
void ebb__policy_list_fini(struct ebb_policy_list *list);
const struct ebb_policy *ebb__policy_list_find(const struct ebb_policy_list *list, const char *name);
bool ebb__pass_is_policy_file(const char *name);

/* Put a decision into the store, and with it what its policy consists of. */
int ebb__pass_put_decision(struct ebb_workspace *ws, const char *id, const char *table, const char *uuid,
                           const struct ebb_policy *policy, const struct ebb_decision *decision, struct ebb_err *err);
/* Whether a binding takes a table by its name: its globs, or without any the policy's target. */
bool ebb__binding_may_take(const struct ebb_binding *binding, const struct ebb_policy *policy, const char *catalog,
                           const char *namespace_, const char *name);
/* The first binding of the policy that takes a table, by its facts: the one that a pass would go by. NULL: none. */
const struct ebb_binding *ebb__pass_binding(const struct ebb_workspace *ws, const struct ebb_policy *policy,
                                            const struct ebb_value *facts);
/* Facts of a table, or of a captured fixture (*.json); flags of the options, and overlaps when they are -1, are filled
 * in here. The caller frees. */
int ebb__pass_read_facts(struct ebb_workspace *ws, const char *table, const struct ebb_facts_options *options,
                         int64_t now_ms, struct ebb_value **out, struct ebb_err *err);
/* The same for a policy, without what only manifests tell. */
int ebb__pass_facts(struct ebb_workspace *ws, const struct ebb_decide_options *options, const struct ebb_policy *policy,
                    int64_t now_ms, struct ebb_value **out, struct ebb_err *err);

/* What runs, for facts: {running, slots = {name = {running}}}; running of a slot is left out when it is not known. The
 * caller frees. */
int ebb__pass_fleet(struct ebb_workspace *ws, const struct ebb_policy_list *policies, const struct ebb_policy *policy,
                    struct ebb_value **out, struct ebb_err *err);
/* How an input is to be judged that a binding takes (NULL: none); table: its dotted name. */
void ebb__pass_bind_input(const struct ebb_workspace *ws, const struct ebb_binding *binding, const char *table,
                          struct ebb_decide_input *input);

/* Where the tables of the catalogs are, read once. */
struct ebb__neighbours {
    struct ebb_strs labels, locations; /* side by side */
    bool is_loaded, is_unknown;        /* unknown: a table or catalog could not be read */
};
void ebb__neighbours_fini(struct ebb__neighbours *n);
/* How many other tables of the catalogs overlap this one; -1 when that can't be told. */
int64_t ebb__neighbours_count(struct ebb__neighbours *n, struct ebb_workspace *ws, const struct ebb_table *table);

struct ebb__pass {
    struct ebb_workspace *ws;
    struct ebb_site *site;
    const struct ebb_pass_options *options;
    struct ebb_policy_list policies;
    struct ebb_engine *engine;
    struct ebb__neighbours neighbours;
    const struct ebb_binding *binding; /* at hand */
    const struct ebb_policy *policy;   /* at hand */
    struct ebb_strs seen;              /* tables that the policy at hand took by an earlier binding */
    struct ebb_value *fleet;           /* as seen by fleet_policy, at most a second ago */
    const struct ebb_policy *fleet_policy;
    int64_t fleet_ms; /* of ebb_clock_elapsed_ms */
    struct ebb_err gravest;
    bool has_error;
};
/* Decide what is due for the policy at hand on a table, and carry it out. facts: from metadata alone; options: those
 * that they were made with. Reports exactly once, also when it fails. */
int ebb__pass_take(struct ebb__pass *p, const struct ebb_table *table, const struct ebb_facts_options *options,
                   const struct ebb_value *facts, struct ebb_err *err);
void ebb__pass_report(const struct ebb__pass *p, const struct ebb_pass_report *report);

#endif
