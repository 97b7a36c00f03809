/* SPDX-License-Identifier: Apache-2.0
 *
 * Acting on plans: apply, resume, restore, purge, verify. The only functions of the library that change a table's
 * storage; each goes through table/removal.h, holds the lock of the location, and writes its journal first.
 */
#ifndef EBB_TABLE_APPLY_H
#define EBB_TABLE_APPLY_H

#include "table/plan_file.h"
#include "table/protect.h"

enum ebb_verify_mode { EBB_VERIFY_FULL, EBB_VERIFY_SAMPLE, EBB_VERIFY_NONE };

/* A file that was not done, and why. Owned strings. */
struct ebb_file_note {
    char *path;
    char *why;
};
struct ebb_file_notes {
    struct ebb_file_note *items;
    size_t count, cap;
};

struct ebb_apply_options {
    bool delete_for_good;      /* unlink after the second reload instead of keeping in quarantine */
    const char *quarantine;    /* URI of a folder outside; NULL = <location>/.ebb-quarantine */
    struct ebb_strs overrides; /* names of fuses that may be blown */
    int64_t max_age_ms;        /* oldest plan; 0 = 7 days */
    enum ebb_verify_mode verify;
    size_t batch_count; /* 0 = 1000 */
    const char *policy; /* name, or NULL */
};
struct ebb_apply_result {
    char run[40];
    char plan[40];
    const char *status;   /* done | partial | failed | interrupted */
    int64_t moved;        /* lie in quarantine now */
    int64_t deleted;      /* removed for good */
    int64_t returned;     /* moved and put back */
    int64_t already_gone; /* were not there any more */
    struct ebb_file_notes skipped, failed;
    char *quarantine; /* URI of <quarantine>/<run>, owned; NULL when nothing was moved */
};
void ebb_apply_result_fini(struct ebb_apply_result *result);
/* EBB_EPARTIAL when something was skipped, failed or put back (result is filled); EBB_ECANCELLED when interrupted
 * (resumable). */
int ebb_apply(const struct ebb_site *site, const char *plan, const struct ebb_apply_options *options,
              struct ebb_apply_result *out, struct ebb_err *err);
/* End a run that stopped in the middle: each journaled file is decided by what lies at its old and new name; then the
 * rest of the plan is applied. */
int ebb_resume(const struct ebb_site *site, const char *run, struct ebb_apply_result *out, struct ebb_err *err);

struct ebb_restore_result {
    char run[40];
    int64_t restored, already_there;
    struct ebb_file_notes conflicts, failed;
};
/* Frees the notes. */
void ebb_restore_result_fini(struct ebb_restore_result *result);
/* Put files of a run back, never over a new one; needs no readable table. paths: files or folders, relative to the
 * location or full URIs; none = all. EBB_EPARTIAL when something could not go back (result is filled). */
int ebb_restore(const struct ebb_site *site, const char *run, const struct ebb_strs *paths,
                struct ebb_restore_result *out, struct ebb_err *err);
/* Without any record: from a quarantine run folder alone (its run.jsonl). */
int ebb_restore_from(const struct ebb_site *site, const char *uri, const struct ebb_strs *paths,
                     struct ebb_restore_result *out, struct ebb_err *err);

struct ebb_purge_options {
    int64_t older_than_ms; /* age of the run; -1 = 7 days */
    bool dropped;          /* owners that are gone or have another uuid are allowed */
};
struct ebb_purge_result {
    struct ebb_strs runs;
    int64_t deleted, restored;
    uint64_t bytes;
    struct ebb_file_notes kept;
};
void ebb_purge_result_fini(struct ebb_purge_result *result);
/* runs: ids, none = all that are old enough. EBB_EPARTIAL when a run had to be restored or a file stayed. */
int ebb_purge(const struct ebb_site *site, const struct ebb_strs *runs, const struct ebb_purge_options *options,
              struct ebb_purge_result *out, struct ebb_err *err);

struct ebb_verify_result {
    int64_t checked;
    struct ebb_file_notes missing;     /* reachable, but not there */
    struct ebb_file_notes quarantined; /* reachable, but lies in a quarantine: run id in why */
};
void ebb_verify_result_fini(struct ebb_verify_result *result);
/* Every reachable file exists? EBB_EVERIFY when not. Read only. */
int ebb_verify(const struct ebb_site *site, const char *table, struct ebb_verify_result *out, struct ebb_err *err);

#endif
