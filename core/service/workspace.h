/* SPDX-License-Identifier: Apache-2.0
 *
 * The workspace: configuration, state folder, storage and catalogs of one process, put together as the site that the
 * table layer works with. Opened in two steps, since a plan or run from the store tells which URI maps it was made
 * with. One per thread.
 */
#ifndef EBB_SERVICE_WORKSPACE_H
#define EBB_SERVICE_WORKSPACE_H

#include "service/config.h"
#include "table/apply.h"
#include "table/plan.h"

struct ebb_generation;

struct ebb_workspace_options {
    const char *config;              /* file; NULL = look for one (ebb_config_find) unless no_config */
    const struct ebb_config *shared; /* instead of any file: this one, borrowed, not to be changed */
    /* Its policies and bindings count instead of the folder's, those of policy objects too. Borrowed; its configuration
     * is `shared`. NULL: none. */
    const struct ebb_generation *generation;
    bool no_config;
    const char *state_dir;  /* NULL = $XDG_STATE_HOME/ebb or ~/.local/state/ebb */
    struct ebb_clock clock; /* now_ms NULL = the system's */
    struct ebb_log log;
    void (*progress)(void *data, const struct ebb_progress *progress);
    void *progress_data;
    const atomic_bool *cancelled;
};

/* Append the name of the state folder: the given one, or with NULL the usual one. EBB_EUSAGE: none can be told. */
int ebb_workspace_state_dir(const char *given, struct ebb_buf *out, struct ebb_err *err);

struct ebb_workspace;
/* Load the configuration; open (make) the store and the audit log unless without_store. */
int ebb_workspace_open(const struct ebb_workspace_options *options, bool without_store, struct ebb_workspace **out,
                       struct ebb_err *err);
/* Make storage and catalogs: maps of the command line ("FROM=TO", may be NULL), then those of the configuration, then
 * recorded ones (of a plan or run, may be NULL) for prefixes that neither names. */
int ebb_workspace_connect(struct ebb_workspace *ws, const struct ebb_strs *maps, const struct ebb_strs *recorded,
                          struct ebb_err *err);
void ebb_workspace_close(struct ebb_workspace *ws);
/* Borrowed. The site is complete after connect; a caller may set allow_below_floor in it. */
struct ebb_site *ebb_workspace_site(struct ebb_workspace *ws);
const struct ebb_config *ebb_workspace_config(const struct ebb_workspace *ws);
const struct ebb_generation *ebb_workspace_generation(const struct ebb_workspace *ws); /* or NULL */
/* Take policies from this folder instead of the configured one (copied). EBB_EINTERNAL with a shared configuration,
 * like the next. */
int ebb_workspace_set_policies(struct ebb_workspace *ws, const char *dir, struct ebb_err *err);

/* Know a catalog besides the configured ones, from "[NAME=]TYPE:PATH" (type directory or sqlite; NAME is "lake" when it
 * is not given); before ebb_workspace_connect. EBB_EUSAGE. */
int ebb_workspace_add_catalog(struct ebb_workspace *ws, const char *spec, struct ebb_err *err);

/* The "map" list of a plan's options or a run's record (JSON text, either the options object itself or an object that
 * has it as "options"). Added to out. */
int ebb_workspace_recorded_maps(struct ebb_str json, struct ebb_strs *out, struct ebb_err *err);

#endif
