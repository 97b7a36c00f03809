/* SPDX-License-Identifier: Apache-2.0
 *
 * A generation: configuration, policies and bindings that belong together, loaded whole or not at all, immutable,
 * shared by threads until the last one lets it go. A run keeps the generation that it was decided with.
 */
#ifndef EBB_SERVICE_GENERATION_H
#define EBB_SERVICE_GENERATION_H

#include "engine/engine.h"
#include "io/store.h"
#include "service/config.h"

/* A binding with its policy. Those of the configuration first, in its order, then those of policy objects. */
struct ebb_bound {
    const struct ebb_policy *policy;
    const struct ebb_binding *binding;
    bool is_object; /* a policy object made over the API */
};
struct ebb_generation {
    struct ebb_config *config;
    struct ebb_policy **policies; /* of the folder, by file name; then those of objects */
    size_t policy_count;
    struct ebb_bound *bound;
    size_t bound_count;
    struct ebb_binding *object_bindings; /* owned here, not by the configuration */
    size_t object_binding_count;
    char hash[80]; /* "sha256:…" of the configuration, all policies and objects */
    int64_t loaded_ms;
};
struct ebb_generation_options {
    const char *config;                  /* file, NULL: none */
    struct ebb_store *store;             /* for policy objects; NULL: without */
    const struct ebb_generation *before; /* what is active, NULL none */
    bool force;                          /* policies may have vanished */
    int64_t now_ms;
};
/* Load everything, check everything. Any error: nothing is changed, and the diagnostics tell file, line and column
 * (diags may be NULL). EBB_ECONFIG…, EBB_EPOLICY_…. A binding whose policy is not there, or whose parameters do not fit
 * it, is an error. EBB_EREFUSED: five policies or all of `before` vanished at once, and force is not said. */
int ebb_generation_load(const struct ebb_generation_options *options, struct ebb_generation **out,
                        struct ebb_diagnostics *diags, struct ebb_err *err);
/* Thread safe. */
struct ebb_generation *ebb_generation_ref(struct ebb_generation *generation);
void ebb_generation_unref(struct ebb_generation *generation);
const struct ebb_policy *ebb_generation_find(const struct ebb_generation *generation, const char *policy);

#endif
