/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of files that were not done, and why (results of apply.h).
 */
#ifndef EBB_TABLE_NOTES_PRIV_H
#define EBB_TABLE_NOTES_PRIV_H

#include "table/apply.h"

/* More are counted in the journal only: the last note then says so. */
#define EBB_NOTES_MAX ((size_t)100000)

int ebb__notes_add(struct ebb_file_notes *notes, struct ebb_str path, const char *why, struct ebb_err *err);
void ebb__notes_fini(struct ebb_file_notes *notes);
/* Write the first `max` as a JSON array of {"path" or "path_b64", "why"}. */
void ebb__notes_write(const struct ebb_file_notes *notes, size_t max, struct ebb_jsonw *w);

#endif
