/* SPDX-License-Identifier: Apache-2.0
 *
 * What must not leave: the rule by which records, and tables that are captured, leave secrets out.
 */
#ifndef EBB_ENGINE_MASK_H
#define EBB_ENGINE_MASK_H

#include "engine/value.h"

/* Whether the name of a property, or of another member, is like that of a secret: token, secret, password, credential,
 * key id, access key, …. */
bool ebb_is_secret_name(struct ebb_str name);
/* Append a value as JSON text with these secrets masked wherever they stand in a text, and members whose names are like
 * those of secrets. secrets is put in order. EBB_ELIMIT, EBB_ENOMEM. */
int ebb_mask_json(struct ebb_strs *secrets, const struct ebb_value *value, struct ebb_buf *out, struct ebb_err *err);
/* Append a text likewise. */
int ebb_mask_text(struct ebb_strs *secrets, const char *text, struct ebb_buf *out, struct ebb_err *err);

#endif
