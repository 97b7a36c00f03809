/* SPDX-License-Identifier: Apache-2.0
 *
 * Planning in pieces, shared by the plan_*.c files: one struct carries a planning from its cutoff to its file.
 */
#ifndef EBB_TABLE_PLAN_PRIV_H
#define EBB_TABLE_PLAN_PRIV_H

#include "table/plan.h"
#include "table/seen_priv.h"
#include "table/spool_priv.h"
#include "table/zone_priv.h"

#define EBB_QUARANTINE_NAME ".ebb-quarantine"
#define EBB_PLAN_SKEW_MS ((int64_t)5 * 60 * 1000)

struct ebb_planning {
    const struct ebb_site *site;
    const struct ebb_plan_options *options;
    const struct ebb_table *table;
    const struct ebb_protect_options
        *protect_options; /* as asked for, but with what was made of --location and --exclude */
    struct ebb_zone zone; /* the table's location */
    struct ebb_protect *protect;
    struct ebb_spool *spool;
    struct ebb_plan_summary summary;
    struct ebb_location root;    /* parts of the table location as written */
    struct ebb_buf root_path;    /* its path in normal form */
    struct ebb_buf scanned_path; /* the scanned folder's path in normal form */
    struct ebb_str *hidden_fields;
    struct ebb_hidden_rule hidden;
    struct ebb_strs flink_jobs;    /* flink.job-id of all summaries */
    struct ebb_strs flink_folders; /* where uncommitted manifests may lie */
    struct ebb_seen links;         /* relative names of symbolic links seen */
    int64_t now_ms, cutoff_ms;
    int64_t fitting; /* listed and reachable, without what lies in `metadata` */
    int64_t skew_ms; /* how far the newest file lies in the future, beyond tolerance */
    char *older_than;
    char id[40];
};

/* plan_cutoff.c. Once the table was read: now, and an age, go by the storage's clock where it gives one. EBB_ECLOCK. */
int ebb__plan_follow_clock(struct ebb_planning *p, struct ebb_err *err);
/* The cutoff from the option's text. EBB_ECUTOFF_FUTURE, EBB_ECUTOFF_FLOOR, EBB_ETIME. */
int ebb__plan_cutoff(struct ebb_planning *p, struct ebb_err *err);
/* plan_list.c: list the storage or the inventory, join, spool the candidates (2.3, 2.4). */
int ebb__plan_walk(struct ebb_planning *p, struct ebb_place *place, const char *below, struct ebb_err *err);
int ebb__plan_inventory(struct ebb_planning *p, struct ebb_err *err);
/* plan_offer.c: take what another engine would remove. EBB_EENGINE_UNSAFE: one of it must stay. */
int ebb__plan_take_offers(struct ebb_planning *p, struct ebb_err *err);
/* plan.c: EBB_ECASE_FOLDED. */
int ebb__plan_check_case(const struct ebb_planning *p, struct ebb_place *place, struct ebb_err *err);
/* The part of a normal path below the table's location; false when it is not below the scanned folder. */
bool ebb__plan_relative(const struct ebb_planning *p, struct ebb_str normal, struct ebb_str *rel);
/* One listed file that nothing references, visible. rel: relative to the table location. */
struct ebb_listed {
    struct ebb_str uri; /* raw, as it will be written and deleted */
    struct ebb_str dir, name;
    const struct ebb_walk_entry *entry; /* NULL: from an inventory */
    uint64_t size_bytes;
    int64_t mtime_ns; /* 0 unknown */
    struct ebb_str id;
};
int ebb__plan_consider(struct ebb_planning *p, struct ebb_listed *file, struct ebb_err *err);
/* plan_exclude.c: --exclude and the state folder, as URIs below the table's location. EBB_EUSAGE for a place that is
 * not there. */
int ebb__plan_exclude(struct ebb_planning *p, const struct ebb_strs *asked, struct ebb_strs *out, struct ebb_err *err);
bool ebb__plan_is_excluded(const struct ebb_planning *p, const char *uri);
/* plan_links.c: links (2.4). EBB_ELINK_IN_USE. */
int ebb__plan_note_link(struct ebb_planning *p, const struct ebb_walk_entry *entry, struct ebb_err *err);
int ebb__plan_resolve_links(struct ebb_planning *p, struct ebb_place *place, struct ebb_err *err);
/* plan_foreign.c: other tables' metadata (2.5). EBB_EFOREIGN_UUID. */
int ebb__plan_check_foreign(struct ebb_planning *p, const struct ebb_listed *file, bool *is_litter,
                            struct ebb_err *err);
/* plan_flink.c: Flink's uncommitted files (2.2). */
int ebb__plan_find_flink(struct ebb_planning *p, struct ebb_err *err);
int ebb__plan_protect_flink(struct ebb_planning *p, struct ebb_err *err);
bool ebb__plan_is_flink(const struct ebb_planning *p, const struct ebb_listed *file);
/* plan_overlap.c: nothing that was listed (but metadata files) is reachable, and not all files of the table are seen to
 * lie elsewhere (fuse zero_overlap). */
int ebb__plan_is_mismatch(const struct ebb_planning *p, bool *out, struct ebb_err *err);
/* plan_quarantine.c: warn of referenced files that lie in a quarantine. Store errors. */
int ebb__plan_look_at_quarantine(struct ebb_planning *p, struct ebb_err *err);
/* plan_write.c: fuses, file, record. An output that exists must be a plan (or empty): EBB_EEXIST. */
int ebb__plan_check_output(const struct ebb_planning *p, struct ebb_err *err);
int ebb__plan_write(struct ebb_planning *p, const struct ebb_protect_options *protect, char **file,
                    struct ebb_err *err);

#endif
