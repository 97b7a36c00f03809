/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that changes a table's storage (apply, resume, restore, purge): what it works on, and its record in the store.
 * One struct carries it from its checks to its end. Life: init; options (from a plan's header or a record); open the
 * place; lock; open the table; work; fini.
 */
#ifndef EBB_TABLE_RUN_PRIV_H
#define EBB_TABLE_RUN_PRIV_H

#include "table/apply.h"
#include "table/removal.h"
#include "table/run_lock.h"

/* The record of a run. All strings live in the run's arena or are static. */
struct ebb__run_record {
    char id[40];
    const char *plan;  /* plan id */
    const char *table; /* "catalog.namespace.name" */
    const char *uuid;  /* "" unknown */
    const char *location;
    const char *policy; /* "" none */
    const char *status;
    const char *outside; /* URI of the folder given as quarantine, NULL = the default */
    const char *plan_file;
    const char *plan_sha256;
    struct ebb_str options; /* JSON object of the plan's header */
    bool is_delete;
    enum ebb_verify_mode verify;
    int64_t batch_count;
    int64_t started_ms, ended_ms;
};

struct ebb__run {
    struct ebb_site site; /* as given, but the storage knows the maps that the plan was made with */
    struct ebb_strs maps;
    struct ebb_uri_map *map;     /* owned, NULL: the site's */
    struct ebb_storage *storage; /* owned, NULL: the site's */
    struct ebb_arena arena;
    struct ebb__run_record record;
    char *name; /* what the table is opened by */
    struct ebb_protect_options protect_options;
    struct ebb_place *place; /* the table's location, for writing */
    struct ebb_quarantine quarantine;
    struct ebb_run_lock lock;
    struct ebb_table *table;
    struct ebb_protect *protect;
    bool has_changed; /* the protection was re-read since the first file was moved */
    bool is_deaf;     /* storage and catalogs are, until the end of the run */
    bool is_stopped;  /* ends before its plan does, though nothing failed */
};

int ebb__run_init(struct ebb__run *run, const struct ebb_site *site, struct ebb_err *err);
/* Releases the lock too. */
void ebb__run_fini(struct ebb__run *run);
/* Take the options of a plan's header: name, maps, protection. EBB_EPLAN. */
int ebb__run_set_options(struct ebb__run *run, struct ebb_str options, struct ebb_err *err);
/* Open the table's location for writing, and the quarantine of the run (makes nothing). */
int ebb__run_open_place(struct ebb__run *run, struct ebb_err *err);
/* Take the lock of the location; a take-over goes into the audit log. From here to the end of the run no request to
 * storage or catalogs is cancelled: the run itself looks, between its batches. */
int ebb__run_lock(struct ebb__run *run, struct ebb_err *err);
/* Open the table: uuid and location must be those of the record, else EBB_EPLAN_TABLE. */
int ebb__run_open_table(struct ebb__run *run, struct ebb_err *err);
/* Build the protection of the opened table. */
int ebb__run_protect(struct ebb__run *run, struct ebb_err *err);
/* Refresh it; notes whether it changed. */
int ebb__run_look_again(struct ebb__run *run, bool *changed, struct ebb_err *err);
/* Judge a name below the location. */
int ebb__run_judge(struct ebb__run *run, struct ebb_str name, enum ebb_judged *out, struct ebb_err *err);
/* Cancelled? Lock still ours? Between batches. */
int ebb__run_may_go_on(struct ebb__run *run, struct ebb_err *err);

/* run_record.c: the record in the store. */
int ebb__run_load(struct ebb__run *run, const char *id, struct ebb_err *err);
/* Fill a store record; json is the text's buffer and must outlive it. result may be NULL. */
int ebb__run_describe(const struct ebb__run *run, const struct ebb_apply_result *result, struct ebb_buf *json,
                      struct ebb_record *out, struct ebb_err *err);
/* Put it, with this status (static text) and end time. */
int ebb__run_save(struct ebb__run *run, const char *status, const struct ebb_apply_result *result, struct ebb_err *err);

/* run_audit.c */
int ebb__run_audit_file(struct ebb__run *run, const char *event, struct ebb_str name, const char *why,
                        struct ebb_err *err);
int ebb__run_audit(struct ebb__run *run, const char *event, const char *detail, struct ebb_err *err);
int ebb__run_audit_flush(struct ebb__run *run, struct ebb_err *err);

/* The recorded file of a journal entry. */
struct ebb_removal_file ebb__run_file_of(const struct ebb_move *move);
/* What a verdict means, for people. */
const char *ebb__verdict_text(enum ebb_judged verdict);

#endif
