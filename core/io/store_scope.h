/* SPDX-License-Identifier: Apache-2.0
 *
 * The small named values of a scope, one after the other.
 */
#ifndef EBB_IO_STORE_SCOPE_H
#define EBB_IO_STORE_SCOPE_H

#include "io/store.h"

typedef int ebb_store_value_cb(void *data, const char *key, const char *json, struct ebb_err *err);
/* All values of a scope by key. cb may write to the store; what is put meanwhile is given or not. The first error of cb
 * ends it. */
int ebb_store_list_values(struct ebb_store *store, const char *scope, ebb_store_value_cb *cb, void *data,
                          struct ebb_err *err);

#endif
