/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of acting on plans as the JSON objects of the command line and of the library.
 */
#ifndef EBB_TABLE_RESULT_JSON_H
#define EBB_TABLE_RESULT_JSON_H

#include "base/text.h"
#include "table/apply.h"

/* Append the result as one object. */
void ebb_apply_json(struct ebb_jsonw *w, const struct ebb_apply_result *result);
void ebb_restore_json(struct ebb_jsonw *w, const struct ebb_restore_result *result);
void ebb_purge_json(struct ebb_jsonw *w, const struct ebb_purge_result *result);
void ebb_verify_json(struct ebb_jsonw *w, const char *table, const struct ebb_verify_result *result);
/* A list of {"path","why"}. */
void ebb_file_notes_json(struct ebb_jsonw *w, const char *key, const struct ebb_file_notes *notes);

#endif
