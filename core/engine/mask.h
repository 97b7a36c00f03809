/* SPDX-License-Identifier: Apache-2.0
 *
 * What must not leave: the rule by which records, and tables that are captured, leave secrets out.
 */
#ifndef EBB_ENGINE_MASK_H
#define EBB_ENGINE_MASK_H

#include "base/buf.h"

/* Whether the name of a property, or of another member, is like that of a secret: token, secret, password, credential,
 * key id, access key, …. */
bool ebb_is_secret_name(struct ebb_str name);

#endif
