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
