/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy objects: policies that people make over the API by type and content, without Lua. Content is validated here;
 * an object that is enabled and tied to a catalog, schema or table becomes a binding of the built-in policy of its
 * type.
 */
#ifndef EBB_SERVICE_OBJECTS_H
#define EBB_SERVICE_OBJECTS_H

#include "engine/engine.h"
#include "io/store_objects.h"
#include "service/config.h"

/* A policy object as it runs. Owned by the list. */
struct ebb_object_binding {
    struct ebb_policy
        *policy; /* the built-in one of its type, under the object's name; take it (set to NULL) to keep it */
    struct ebb_binding
        binding; /* tables: globs of what it is tied to; params; mode: approve when dryRun, else enforce */
};
struct ebb_object_bindings {
    struct ebb_object_binding *items;
    size_t count;
};
void ebb_object_bindings_fini(struct ebb_object_bindings *list);
/* Those that are enabled and tied to something, by number. Types that this version can't run are left out (the API says
 * so). Store errors, EBB_ENOMEM; EBB_ECORRUPT when a stored object can't be read. */
int ebb_object_bindings_load(struct ebb_store *store, struct ebb_object_bindings *out, struct ebb_err *err);

#endif
