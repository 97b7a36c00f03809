/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies at work: one decision (`ebb decide`), and one pass over everything that is due (`ebb run`): facts → policy →
 * strategy → adapter → job, each step recorded under its id. A pass decides what it did not decide before and then
 * ends; nothing calls back.
 */
#ifndef EBB_SERVICE_PASS_H
#define EBB_SERVICE_PASS_H

#include "service/job.h"
#include "service/workspace.h"

/* Folder with scripts/ and policies/: beside the program (<prefix>/share/ebb, or the source tree it was built in), else
 * the installed one. */
void ebb_pass_data_dir(struct ebb_buf *out);

/* Policy files (*.lua but no *_spec.lua) of a folder, sorted, as paths; a file gives itself. EBB_ECONFIG when the
 * folder can't be read. */
int ebb_policy_files(const char *path, struct ebb_strs *out, struct ebb_err *err);

/* Load a policy by file (it has a '/' or ends in .lua) or by the name of one in the configured folder. EBB_EPOLICY_*,
 * EBB_ENOT_FOUND. */
int ebb_pass_load_policy(struct ebb_workspace *ws, const char *policy, struct ebb_policy **out, struct ebb_err *err);

struct ebb_decide_options {
    const char *policy;            /* name or file */
    const char *table;             /* table, or a captured fixture (*.json) */
    const struct ebb_strs *events; /* "TYPE key=value …"; NULL none */
};
/* One decision as of the workspace's clock, nothing done; recorded in the store when there is one. *out may be set
 * although it fails (EBB_EPOLICY_*): its record tells. Verdict refused is no error here. The caller frees. */
int ebb_pass_decide(struct ebb_workspace *ws, const struct ebb_decide_options *options, struct ebb_decision **out,
                    struct ebb_err *err);

/* All facts of a table, read off its manifests too, or those of a captured fixture (*.json), as of the workspace's
 * clock, with the runs of a policy (NULL: without). Errors of opening the table; EBB_EUSAGE: no fixture. The caller
 * frees. */
int ebb_pass_facts(struct ebb_workspace *ws, const char *table, const struct ebb_policy *policy, struct ebb_value **out,
                   struct ebb_err *err);

/* Facts as a file (`ebb capture`): identity, what the policies read of the table, and what guards go by; members whose
 * names are like those of secrets are left out. policies: names or files; none: those of the folder that take the
 * table, and when there are none either, everything. Errors as of ebb_pass_facts and ebb_pass_load_policy. The caller
 * frees. */
int ebb_pass_capture(struct ebb_workspace *ws, const char *table, const struct ebb_strs *policies,
                     struct ebb_value **out, struct ebb_err *err);

/* What happened to one policy on one table in a pass. Borrowed. */
struct ebb_pass_report {
    const char *policy, *table;
    const char *due;      /* trigger kind, or NULL: nothing was due */
    const char *verdict;  /* run, skip, defer, refused, error; NULL when nothing was due */
    const char *decision; /* id or NULL */
    const char *plan;     /* id or NULL */
    const char *run;      /* id or NULL */
    const char *status;   /* "not due", "unchanged", "observed", "planned", "done", "partial", "held", "failed", … */
    int64_t candidates, moved;
    int64_t unchanged;           /* status "unchanged": how often in a row */
    const struct ebb_err *error; /* NULL: none */
};
typedef void ebb_pass_cb(void *data, const struct ebb_pass_report *report);

/* The report as a JSON object. */
void ebb_pass_report_json(struct ebb_jsonw *w, const struct ebb_pass_report *report);

struct ebb_pass_options {
    const char *policy;      /* only this one; NULL all bound ones */
    const char *table;       /* glob; NULL all */
    bool dry_run;            /* plan, never apply */
    const char *scripts_dir; /* NULL: scripts/ of ebb_pass_data_dir */
    ebb_pass_cb *report;     /* may be NULL */
    void *data;
};
/* One pass. Goes on after a failure of one table; returns the gravest error (interrupted, failed, policy error,
 * refused, in this order), 0 when all went well. EBB_ECONFIG when nothing is bound. */
int ebb_pass_run(struct ebb_workspace *ws, const struct ebb_pass_options *options, struct ebb_err *err);

#endif
