/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of the objects that a JSON reader has open: told apart by hash, forgotten in reverse order.
 */
#ifndef EBB_FORMAT_JSON_PRIV_H
#define EBB_FORMAT_JSON_PRIV_H

#include "format/json.h"

enum ebb__json_added { EBB__JSON_NEW_KEY, EBB__JSON_REPEATED_KEY, EBB__JSON_TOO_MANY_KEYS, EBB__JSON_NO_MEMORY };

/* Add a key of the object at `depth`, whose keys begin at `base` of the stack. */
enum ebb__json_added ebb__json_keys_add(struct ebb_json_keys *keys, size_t base, int depth, struct ebb_str key);
/* Forget all keys from `base` on. */
void ebb__json_keys_drop(struct ebb_json_keys *keys, size_t base);
void ebb__json_keys_fini(struct ebb_json_keys *keys);

#endif
