/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors. Every function that can fail returns 0 or -EBB_E… and fills a struct ebb_err, which the caller owns (usually
 * on the stack). One list (EBB_ERRORS) gives for each error its stable code, its refusal class and the exit status of
 * the command line. Thread safe: no global state.
 */
#ifndef EBB_BASE_ERR_H
#define EBB_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

/* X(symbol, stable code, refusal class or "", exit status). Codes are listed for users in docs/errors.md. */
#define EBB_ERRORS(X)                                                                                                  \
    X(EUSAGE, "usage", "", 64)                                                                                         \
    X(ECONFIG, "config.invalid", "", 64)                                                                               \
    X(ECONFIG_SYNTAX, "config.syntax", "", 64)                                                                         \
    X(ECONFIG_UNKNOWN_KEY, "config.unknown_key", "", 64)                                                               \
    X(ETIME, "time.invalid", "", 64)                                                                                   \
    X(ELOCATION, "location.invalid", "", 64)                                                                           \
    X(ESQL, "sql.invalid", "", 64)                                                                                     \
    X(ESCHEDULE, "schedule.invalid", "", 64)                                                                           \
    X(ETABLE_NOT_FOUND, "table.not_found", "", 64)                                                                     \
    X(ECATALOG_UNKNOWN, "catalog.unknown", "", 64)                                                                     \
    X(EUNSUPPORTED, "unsupported", "", 64)                                                                             \
    X(ENOT_FOUND, "record.not_found", "", 64)                                                                          \
    X(EINVENTORY, "inventory.invalid", "", 64)                                                                         \
    X(ERECORD, "record.no_inputs", "", 64)                                                                             \
    X(EGC_DISABLED, "table.gc_disabled", "gc-disabled", 2)                                                             \
    X(EVERSION, "metadata.unsupported_version", "unsupported-version", 2)                                              \
    X(EENCRYPTED, "metadata.encrypted", "encrypted", 2)                                                                \
    X(EMETADATA, "metadata.unreadable", "metadata-unreadable", 2)                                                      \
    X(EMETADATA_MISSING, "metadata.missing", "metadata-unreadable", 2)                                                 \
    X(ELIST_MISSING, "metadata.missing_manifest_list", "manifest-list-missing", 2)                                     \
    X(ELIST_CORRUPT, "metadata.corrupt_manifest_list", "manifest-list-corrupt", 2)                                     \
    X(EMANIFEST_MISSING, "metadata.missing_manifest", "manifest-missing", 2)                                           \
    X(EMANIFEST_CORRUPT, "metadata.corrupt_manifest", "manifest-corrupt", 2)                                           \
    X(EHINT, "metadata.hint_missing_version", "hint-missing-version", 2)                                               \
    X(ENOT_CURRENT, "metadata.not_current", "", 2)                                                                     \
    X(EPOINTER_UNKNOWN, "metadata.pointer_unknown", "", 2)                                                             \
    X(EFEWER_SNAPSHOTS, "catalog.fewer_snapshots", "", 2)                                                              \
    X(ECATALOG_PLACE, "catalog.other_location", "", 2)                                                                 \
    X(EMETADATA_CHANGED, "metadata.changed", "", 2)                                                                    \
    X(EMETADATA_PLACE, "metadata.wrong_place", "", 2)                                                                  \
    X(EFOREIGN_TABLE, "location.foreign_table", "foreign-table", 2)                                                    \
    X(EFOREIGN_UUID, "location.foreign_uuid", "foreign-table", 2)                                                      \
    X(EPREFIX_CONFLICT, "location.prefix_conflict", "prefix-conflict", 2)                                              \
    X(EOUTSIDE, "location.outside_table", "", 2)                                                                       \
    X(ELINK_IN_USE, "location.link_in_use", "", 2)                                                                     \
    X(EROOT_LOCATION, "location.is_root", "", 2)                                                                       \
    X(EBAD_LOCATION, "location.unsafe", "", 2)                                                                         \
    X(ECASE_FOLDED, "location.case_insensitive", "", 2)                                                                \
    X(ESCHEME, "location.unsupported_scheme", "", 2)                                                                   \
    X(EOWNERSHIP, "location.ownership_unknown", "", 2)                                                                 \
    X(ECUTOFF_FUTURE, "cutoff.future", "", 2)                                                                          \
    X(ECUTOFF_FLOOR, "cutoff.below_floor", "", 2)                                                                      \
    X(EFUSE, "plan.held", "", 2)                                                                                       \
    X(EPLAN, "plan.unreadable", "", 2)                                                                                 \
    X(EPLAN_STALE, "plan.stale", "", 2)                                                                                \
    X(EPLAN_TABLE, "plan.wrong_table", "", 2)                                                                          \
    X(EPLAN_APPLIED, "plan.already_applied", "", 2)                                                                    \
    X(ELOCKED, "run.locked", "", 2)                                                                                    \
    X(ERUN_STATE, "run.wrong_state", "", 2)                                                                            \
    X(EQUARANTINE, "quarantine.unreadable", "", 2)                                                                     \
    X(ECLOCK, "clock.skew", "", 2)                                                                                     \
    X(EREFUSED, "policy.refused", "", 2)                                                                               \
    X(EVERIFY, "verify.missing_files", "", 1)                                                                          \
    X(EENGINE_UNSAFE, "engine.unsafe", "", 2)                                                                          \
    X(EIO, "io.failed", "", 3)                                                                                         \
    X(ECHANGED, "io.changed", "", 3)                                                                                   \
    X(EPERMISSION, "io.permission", "", 3)                                                                             \
    X(ENOSPACE, "io.no_space", "", 3)                                                                                  \
    X(ENOENT, "io.not_found", "", 3)                                                                                   \
    X(EEXIST, "io.exists", "", 3)                                                                                      \
    X(ECATALOG, "catalog.failed", "", 3)                                                                               \
    X(ECOMMIT_UNKNOWN, "commit.unknown_state", "", 3)                                                                  \
    X(ECOMMIT_CONFLICT, "commit.conflict", "", 3)                                                                      \
    X(EENGINE, "engine.failed", "", 3)                                                                                 \
    X(ESTORE, "store.failed", "", 3)                                                                                   \
    X(ESTORE_CORRUPT, "store.corrupt", "", 3)                                                                          \
    X(EAUDIT, "audit.broken", "", 3)                                                                                   \
    X(ENOMEM, "memory.exhausted", "", 3)                                                                               \
    X(ELIMIT, "limit.exceeded", "", 2)                                                                                 \
    X(EPARTIAL, "run.partial", "", 3)                                                                                  \
    X(EINTERNAL, "internal", "", 3)                                                                                    \
    X(ECORRUPT, "format.corrupt", "", 2)                                                                               \
    X(EPOLICY_SCHEMA, "policy.schema", "", 4)                                                                          \
    X(EPOLICY_ERROR, "policy.error", "", 4)                                                                            \
    X(EPOLICY_GAS, "policy.gas", "", 4)                                                                                \
    X(EPOLICY_MEMORY, "policy.memory", "", 4)                                                                          \
    X(EPOLICY_DEADLINE, "policy.deadline", "", 4)                                                                      \
    X(EPOLICY_RESULT, "policy.result", "", 4)                                                                          \
    X(ECANCELLED, "run.interrupted", "", 5)

enum ebb_error {
    EBB_OK = 0,
#define X(symbol, code, class_, exit_) EBB_##symbol,
    EBB_ERRORS(X)
#undef X
        EBB_ERROR_COUNT
};

#define EBB_ERR_MESSAGE_MAX 1024
#define EBB_ERR_HINT_MAX 512

/* What failed. `message` reads "<what>: <why>", names the file or field; it may hold any byte of a file name, so
 * whoever prints it escapes control characters (ebb_text_escape). `hint` tells the remedy or is empty. */
struct ebb_err {
    enum ebb_error error;
    bool retryable;
    char message[EBB_ERR_MESSAGE_MAX];
    char hint[EBB_ERR_HINT_MAX];
};

/* Fill *err (NULL is fine) and return -error. The hint is cleared. Text that does not fit is cut. */
int ebb_err_set(struct ebb_err *err, enum ebb_error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As ebb_err_set, for a failed system call: appends strerror(errno_value) and maps ENOSPC/EDQUOT, EACCES/EPERM/EROFS,
 * ENOENT, EEXIST and ENOMEM to their own errors; everything else becomes EBB_EIO. */
int ebb_err_errno(struct ebb_err *err, int errno_value, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Out of memory: the one way to report a failed allocation. */
int ebb_err_nomem(struct ebb_err *err);
/* Add the remedy to an error that was set. */
void ebb_err_hint(struct ebb_err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Change the error's kind but keep its text (e.g. "not found" of a manifest becomes EBB_EMANIFEST_MISSING); prefix, if
 * not NULL, is put before the message. Returns -error. */
int ebb_err_as(struct ebb_err *err, enum ebb_error error, const char *prefix);

/* Facts about an error: stable code ("location.outside_table"), class ("gc-disabled" or ""), exit status. Never NULL.
 */
const char *ebb_error_code(enum ebb_error error);
const char *ebb_error_class(enum ebb_error error);
int ebb_error_exit(enum ebb_error error);

#endif
