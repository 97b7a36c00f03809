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
    bool is_borrowed; /* the policies of the workspace's generation */
    size_t count;
    struct ebb_err first_error; /* of a file that does not load; error EBB_OK: all load */
};
/* The policies of the workspace's generation; without one every policy of the folder. A file that does not load is left
 * out and told in first_error; two of one name are an error. */
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
/* By index: the bindings of the configuration, then those of the generation's policy objects; NULL past the last. */
const struct ebb_binding *ebb__pass_binding_at(const struct ebb_workspace *ws, size_t index);
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

/* What is queued or under way: runs and jobs of the store, and those that are added. As a fact: {running, slots = {name
 * = {running}}}; running of a slot is left out when it is not known. */
struct ebb__fleet {
    const struct ebb_config *config;
    struct ebb_policy *const *policies; /* that are known */
    size_t policy_count;
    const struct ebb_policy *more; /* one besides, or NULL */
    struct ebb_strs names;         /* of policies, "" by hand */
    int64_t *counts;               /* of each */
    int64_t total, reload_ms;
    bool is_loaded, is_unknown, is_stale;
    struct ebb_value *value;
};
/* All borrowed. */
void ebb__fleet_init(struct ebb__fleet *fleet, const struct ebb_config *config, struct ebb_policy *const *policies,
                     size_t policy_count);
void ebb__fleet_fini(struct ebb__fleet *fleet);
/* Read it off the store (NULL: nothing runs), but not more than once a second. Not while writes are held. */
int ebb__fleet_load(struct ebb__fleet *fleet, struct ebb_store *store, struct ebb_err *err);
/* Read it again the next time. */
void ebb__fleet_forget(struct ebb__fleet *fleet);
/* One more of a policy. */
int ebb__fleet_add(struct ebb__fleet *fleet, const char *policy, struct ebb_err *err);
/* Borrowed, until the next change. */
int ebb__fleet_get(struct ebb__fleet *fleet, const struct ebb_value **out, struct ebb_err *err);
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
/* The same of one of them, by its dotted name, as they were read. */
int64_t ebb__neighbours_count_of(struct ebb__neighbours *n, struct ebb_workspace *ws, const char *label);

#endif
