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

/* What the names of policy objects begin with where they stand beside those of policy files. */
#define EBB_OBJECT_PREFIX "object:"
/* Append the name by which a policy object goes in records and schedules: the prefix and its name, percent-encoded but
 * for [A-Za-z0-9._-]; a long one is cut and its number added after '~'. At most 63 bytes. */
void ebb_object_policy_name(const char *name, int64_t number, struct ebb_buf *out);

/* The same of a policy that a Gravitino server keeps, which is stored as "<catalog>.<name>". */
#define EBB_REMOTE_PREFIX "gravitino:"
void ebb_remote_policy_name(const char *name, int64_t number, struct ebb_buf *out);
/* Whether a policy of this name is one of either kind, not one of a file. */
bool ebb_is_object_name(const char *policy);

/* What the stored document of a policy object says. */
#define EBB_OBJECT_ORPHANS "system_iceberg_orphan_file_removal"
#define EBB_OBJECT_EXPIRATION "system_iceberg_snapshot_expiration"
#define EBB_OBJECT_COMPACTION "system_iceberg_compaction"
#define EBB_OBJECT_CUSTOM "custom"
/* Whether this version carries out a type. */
bool ebb_object_runs(const char *type);
/* Read and check the content of the orphan removal, as it was sent: olderThanDays (3), location (none), dryRun (false),
 * nothing else; *out gets all of them, as the parameters of the built-in policy. 0 days only where the configuration
 * allows any table to go below the floor (config NULL: was checked before). EBB_EUSAGE. */
int ebb_object_orphan_content(const struct ebb_value *content, const struct ebb_config *config, struct ebb_value **out,
                              struct ebb_err *err);
/* The shortest interval that the content of a remote policy may ask for, which is that of the built-in policy. */
#define EBB_OBJECT_INTERVAL_MIN_H 120

/* Whether what goes by this policy name may still run: true for policies of files; a policy object must be there and be
 * enabled now, whatever a generation says that was loaded before. EBB_EREFUSED tells that it may not; store errors. */
int ebb_object_check_enabled(struct ebb_store *store, const char *policy, struct ebb_err *err);

struct ebb_generation;
/* Whether what a generation has of a policy object is what is stored of it now; where it is tied may differ. True for
 * policies of files. EBB_EREFUSED, retryable: it is older (a reload is under way, or failed). */
int ebb_object_check_current(struct ebb_store *store, const struct ebb_generation *generation, const char *policy,
                             struct ebb_err *err);

/* Call back with the remote policy that goes by this name. EBB_ENOT_FOUND. */
int ebb_remote_policy_find(struct ebb_store *store, const char *policy, ebb_object_cb *cb, void *data,
                           struct ebb_err *err);

/* A policy object as it runs. Owned by the list. */
struct ebb_object_binding {
    struct ebb_policy
        *policy; /* the built-in one of its type, under the object's name; take it (set to NULL) to keep it */
    struct ebb_binding
        binding; /* tables: globs of what it is tied to; params; mode: approve when dryRun, else enforce. Its policy,
                  * tables and params are its own memory; take it (set to zeros) to keep it */
};
struct ebb_object_bindings {
    struct ebb_object_binding *items;
    size_t count;
};
void ebb_object_bindings_fini(struct ebb_object_bindings *list);
/* Those that are enabled and tied to something, by number, remote ones last. Types that this version can't run are left
 * out (the API says so), and remote ones of catalogs that are not configured as Gravitino's. Store errors, EBB_ENOMEM;
 * EBB_ECORRUPT when a stored object can't be read. */
int ebb_object_bindings_load(struct ebb_store *store, const struct ebb_config *config, struct ebb_object_bindings *out,
                             struct ebb_err *err);

#endif
