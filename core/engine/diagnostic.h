/* SPDX-License-Identifier: Apache-2.0
 *
 * What is wrong in a file, with its place: the output of `ebb check`. One list per run, filled by the loader. Not
 * thread safe.
 */
#ifndef EBB_ENGINE_DIAGNOSTIC_H
#define EBB_ENGINE_DIAGNOSTIC_H

#include "base/text.h"

struct ebb_diagnostic {
    char *file;
    int line, column; /* from 1; 0: unknown */
    bool is_error;    /* else a warning */
    const char *code; /* static: "syntax", "schema.unknown_key", "policy.gas", … (docs/errors.md), "lint.…" */
    char *message;
    char *hint; /* "" none */
    char *text; /* the line of the source, "" unknown: for a caret under the column */
};

#define EBB_DIAGNOSTICS_MAX 200

/* At most EBB_DIAGNOSTICS_MAX items are kept; the counts go on. */
struct ebb_diagnostics {
    struct ebb_diagnostic *items;
    size_t count, cap;
    size_t error_count, warning_count;
};

/* An empty list, and the end of one; a list can be used again after fini. */
void ebb_diagnostics_init(struct ebb_diagnostics *list);
void ebb_diagnostics_fini(struct ebb_diagnostics *list);
/* Add one (all text is copied; code must be static; hint and text NULL = none). list NULL is fine: nothing is kept. */
void ebb_diagnostics_add(struct ebb_diagnostics *list, const struct ebb_diagnostic *item);
/* Sort by file, line and column; what is equal keeps its order. */
void ebb_diagnostics_sort(struct ebb_diagnostics *list);
/* Write the list as a JSON array of {file,line,column,severity,code,message,hint}; hint only where there is one. */
void ebb_diagnostics_write(const struct ebb_diagnostics *list, struct ebb_jsonw *w);

#endif
