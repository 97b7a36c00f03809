/* SPDX-License-Identifier: Apache-2.0
 *
 * Protection: everything that must be known before a file of a table may go, as one object that plan, apply, restore
 * and purge share: the reachable set of the table and its co-owners, the neighbours' places, and the refusals
 * (gc.enabled, owners, foreign uuid, prefix conflicts). Built from the live catalogs each time; refreshed before each
 * batch.
 */
#ifndef EBB_TABLE_PROTECT_H
#define EBB_TABLE_PROTECT_H

#include "base/text.h"
#include "table/reach.h"

enum ebb_mismatch_mode { EBB_MISMATCH_ERROR, EBB_MISMATCH_IGNORE, EBB_MISMATCH_DELETE };
struct ebb_protect_options {
    struct ebb_strs equal_schemes, equal_authorities; /* "a,b=c", as given */
    enum ebb_mismatch_mode mismatch;
    struct ebb_strs with;      /* co-owners: table names whose reachable set is added */
    struct ebb_strs dropped;   /* uuids of tables known to be dropped */
    struct ebb_strs read_also; /* URI prefixes outside the table's schemes that may be read for metadata */
    char *scanned;           /* the folder that is (or was) listed, inside the location; NULL = the location. Owned. */
    struct ebb_strs exclude; /* URIs inside it at or below which nothing is listed: another table may live there */
    bool keep_deleted_entries;
    bool is_unwalked; /* the files to judge come from a list, so nobody meets the links on the way; not kept in plans */
};

enum ebb_judged {
    EBB_JUDGED_FREE, /* nothing known references it */
    EBB_JUDGED_REACHABLE,
    EBB_JUDGED_NEIGHBOUR, /* reachable from a co-owner or from a table whose place holds this one */
    EBB_JUDGED_CONFLICT   /* equal path under another prefix, mode ignore */
};

struct ebb_protect;
/* Load everything and refuse what must be refused: EBB_EGC_DISABLED, EBB_EFOREIGN_TABLE, EBB_EOWNERSHIP, and all errors
 * of reading metadata. `table` is borrowed and outlives it. */
int ebb_protect_new(const struct ebb_site *site, const struct ebb_table *table,
                    const struct ebb_protect_options *options, struct ebb_protect **out, struct ebb_err *err);
void ebb_protect_free(struct ebb_protect *protect);
/* Look again: the table's pointer, its co-owners, outer tables and neighbours. *changed tells whether anything was
 * re-read. Fails like _new, and with EBB_EMETADATA_CHANGED; after an error nothing may be deleted. */
int ebb_protect_refresh(struct ebb_protect *protect, bool *changed, struct ebb_err *err);
/* Judge one listed URI (raw bytes). In mode error a conflict is EBB_EPREFIX_CONFLICT; in mode delete it is FREE. */
int ebb_protect_judge(struct ebb_protect *protect, struct ebb_str uri, enum ebb_judged *out, struct ebb_err *err);
/* The same for a location whose path is normal already: the hot path of a listing. */
int ebb_protect_judge_normal(struct ebb_protect *protect, const struct ebb_location *normal, enum ebb_judged *out,
                             struct ebb_err *err);
/* Whether the table has a name that differs from this free one only by encoding, case or accents; fold gets what they
 * share (borrowed until the next call). */
bool ebb_protect_is_near(struct ebb_protect *protect, struct ebb_str uri, struct ebb_str *fold);
/* The current state of the table (changes with refresh; borrowed). */
const struct ebb_table *ebb_protect_table(const struct ebb_protect *protect);
/* "full", "metadata" or "none". */
const char *ebb_protect_ownership(const struct ebb_protect *protect);
int64_t ebb_protect_reachable_count(const struct ebb_protect *protect);
int64_t ebb_protect_files_read(const struct ebb_protect *protect);
/* The rules made of the declared equals. Borrowed. */
const struct ebb_prefix_rules *ebb_protect_rules(const struct ebb_protect *protect);
/* Live data and delete files that the table's metadata names. */
int64_t ebb_protect_live_files(const struct ebb_protect *protect);
/* Whether `uuid` is that of the table, of a co-owner, of an outer table, or declared dropped. */
bool ebb_protect_is_known_uuid(const struct ebb_protect *protect, const char *uuid);
/* Every protected name again: of the table, of its co-owners and of outer tables. */
int ebb_protect_each_name(struct ebb_protect *protect, ebb_reach_cb *cb, void *data, struct ebb_err *err);
/* Protect one more name (a link's target, what an uncommitted manifest names). */
int ebb_protect_add(struct ebb_protect *protect, struct ebb_str uri, struct ebb_err *err);
void ebb_protect_options_init(struct ebb_protect_options *options);
void ebb_protect_options_fini(struct ebb_protect_options *options);
/* The options as members of the JSON object that w has open (a plan's header keeps them), and back from such an object;
 * unknown members are left alone. Apply rebuilds the same protection from them. EBB_EPLAN. `out` must be initialised.
 */
void ebb_protect_options_write(const struct ebb_protect_options *options, struct ebb_jsonw *w);
int ebb_protect_options_read(struct ebb_str json, struct ebb_protect_options *out, struct ebb_err *err);

#endif
