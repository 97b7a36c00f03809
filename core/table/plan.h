/* SPDX-License-Identifier: Apache-2.0
 *
 * Planning: list, join, reload, fuses, write. Read only for the table. The plan file and its record are the only
 * output.
 */
#ifndef EBB_TABLE_PLAN_H
#define EBB_TABLE_PLAN_H

#include "base/text.h"
#include "format/plan.h"
#include "table/protect.h"

#define EBB_PLAN_FLOOR_MS ((int64_t)24 * 3600 * 1000)
#define EBB_PLAN_DEFAULT_AGE_MS ((int64_t)3 * 24 * 3600 * 1000)

/* Why a file that another engine offers must stay. */
enum ebb_offer_rule {
    EBB_OFFER_NO_LOCATION,
    EBB_OFFER_OUTSIDE,
    EBB_OFFER_HIDDEN,
    EBB_OFFER_REACHABLE,
    EBB_OFFER_NEIGHBOUR,
    EBB_OFFER_CONFLICT,
    EBB_OFFER_MISSING,
    EBB_OFFER_NO_FILE,
    EBB_OFFER_NO_TIME,
    EBB_OFFER_YOUNG,
    EBB_OFFER_KEPT
};
/* The rule as words that go on after "FILE, which ", and its short name ("reachable"). */
const char *ebb_offer_rule_text(enum ebb_offer_rule rule);
const char *ebb_offer_rule_name(enum ebb_offer_rule rule);

struct ebb_plan_options {
    struct ebb_protect_options protect;
    const char *older_than; /* NULL = "3d"; a duration ("0d" is the written zero), or a timestamp with zone */
    bool is_job;            /* only a timestamp was seen: the floor holds unless the site allows less (2.1) */
    const char *location;   /* NULL = the table's; else must lie inside it */
    /* Instead of listing: every file that another engine would remove, given to cb. EBB_EENGINE_UNSAFE when ebb would
     * not let one of them go. NULL: the storage is listed. */
    int (*offers)(void *data, int (*cb)(void *cb_data, struct ebb_str location, struct ebb_err *err), void *cb_data,
                  struct ebb_err *err);
    void *offers_data;
    /* Told of each offer that must stay, and by which rule, instead of refusing the whole answer: for who only
     * compares. NULL: refuse. */
    int (*refused)(void *data, struct ebb_str location, enum ebb_offer_rule rule, struct ebb_err *err);
    void *refused_data;
    const char *engine;  /* who makes the offer or is to remove what the plan holds (kept in it), or NULL: ebb */
    const char *listing; /* inventory file, or NULL */
    const char *output;  /* plan file to write, or NULL = state folder */
    int64_t max_files;   /* fuses; 0 = none */
    uint64_t max_bytes;  /* 0 = none */
    double max_share;    /* candidates / listed; 0 = the default 0.5 */
    bool age_latest;     /* latest of mtime, ctime, btime instead of mtime */
    /* Whether a file is kept whatever else is known of it; its folder (below the location) and name. NULL: none is. */
    bool (*keeps)(void *data, struct ebb_str dir, struct ebb_str name);
    void *keeps_data;
    const char *uuid;        /* that the table must have, or NULL: any */
    const char *policy_json; /* what asked for it, or NULL */
    const char *policy;      /* its name, or "" */
    const char *decision;    /* decision id, or "" */
};
void ebb_plan_options_init(struct ebb_plan_options *options);
void ebb_plan_options_fini(struct ebb_plan_options *options);

struct ebb_plan_result {
    char id[40];
    char *file; /* owned */
    char *table, *uuid, *location;
    int64_t cutoff_ms;
    const char *ownership;
    struct ebb_plan_summary summary;
};
void ebb_plan_result_fini(struct ebb_plan_result *result);

/* The object that `ebb plan --json` prints and the store keeps. */
void ebb_plan_json(struct ebb_jsonw *w, const char *id, const char *file, const char *table, const char *uuid,
                   const char *location, int64_t cutoff_ms, const struct ebb_plan_summary *summary);
/* Plan one table. 0 also when the plan is held by a fuse (summary.status): the caller turns that into exit 2. On any
 * error no plan file and no record is left. */
int ebb_plan_make(const struct ebb_site *site, const char *table, const struct ebb_plan_options *options,
                  struct ebb_plan_result *out, struct ebb_err *err);

#endif
