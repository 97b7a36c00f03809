/* SPDX-License-Identifier: Apache-2.0
 *
 * The policies that decisions were made with, kept in the store: a file that was edited since can still be replayed.
 */
#ifndef EBB_SERVICE_BUNDLES_H
#define EBB_SERVICE_BUNDLES_H

#include "engine/policy.h"
#include "io/store.h"

/* Keep the sources of a policy under the hash of its bundle; once. Store errors. */
int ebb_bundles_put(struct ebb_store *store, const struct ebb_policy *policy, struct ebb_err *err);
/* A policy by the hash of its bundle ("sha256:…"); the caller frees. EBB_ENOT_FOUND; EBB_ECORRUPT when what is kept has
 * another hash; store errors. */
int ebb_bundles_get(struct ebb_store *store, const char *hash, struct ebb_policy **out, struct ebb_err *err);

#endif
