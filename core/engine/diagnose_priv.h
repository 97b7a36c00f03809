/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings of the loader: from what went wrong to a diagnostic with file, line, column and code.
 */
#ifndef EBB_ENGINE_DIAGNOSE_PRIV_H
#define EBB_ENGINE_DIAGNOSE_PRIV_H

#include "engine/bundle_priv.h"
#include "engine/diagnostic.h"

/* All borrowed; line and column 0: unknown. hint NULL: none. */
struct ebb__finding {
    const char *file;
    struct ebb_str source; /* for the text of the line; empty: none */
    int line, column;
    bool is_error;
    const char *code; /* static */
    const char *message, *hint;
};
void ebb__diagnose(struct ebb_diagnostics *diags, const struct ebb__finding *finding);
/* A message without the file, and the line unless it is 0, in front. */
const char *ebb__diagnose_bare(const char *message, const char *file, int line);
/* A file that could not be read. */
void ebb__diagnose_unread(struct ebb_diagnostics *diags, const char *file, const struct ebb_err *err);
/* What no policy source may be: empty, longer than EBB_POLICY_SOURCE_MAX_BYTES, precompiled, led by a byte order mark,
 * with NUL bytes. EBB_EPOLICY_SCHEMA (precompiled: EBB_EPOLICY_ERROR), reported; the message begins with the file. */
int ebb__diagnose_source(struct ebb_diagnostics *diags, const char *file, struct ebb_str source, struct ebb_err *err);
/* The header phase failed with err at a line of the policy (0 unknown): syntax, or an error when it ran, in the policy
 * or in a library of the bundle. */
void ebb__diagnose_header(struct ebb_diagnostics *diags, const char *file, struct ebb_str source,
                          const struct ebb__bundle *bundle, int line, const struct ebb_err *err);
/* Warnings about line ends and encoding. */
void ebb__diagnose_style(struct ebb_diagnostics *diags, const char *file, struct ebb_str source);

#endif
