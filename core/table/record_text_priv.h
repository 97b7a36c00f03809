/* SPDX-License-Identifier: Apache-2.0
 *
 * One text out of the JSON of a stored record.
 */
#ifndef EBB_TABLE_RECORD_TEXT_PRIV_H
#define EBB_TABLE_RECORD_TEXT_PRIV_H

#include "base/buf.h"

/* Append the text of a member of the object; nothing when it is absent or no text. EBB_ECORRUPT. */
int ebb__record_text(const char *json, const char *key, struct ebb_buf *out, struct ebb_err *err);

#endif
