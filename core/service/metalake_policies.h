/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies that a Gravitino server keeps and ebb runs: read there, judged here, and kept in the store as what they
 * come to. Nothing is written to the server. (reference: Gravitino 1.3 OpenAPI, policies)
 *
 * A policy is for ebb when it is of type system_iceberg_orphan_file_removal, or of type custom with the property
 * strategy.type = "iceberg-orphan-file-removal". What ebb does not understand in it keeps it from running.
 */
#ifndef EBB_SERVICE_METALAKE_POLICIES_H
#define EBB_SERVICE_METALAKE_POLICIES_H

#include "service/metalake.h"

#define EBB_METALAKE_STRATEGY "iceberg-orphan-file-removal"

/* Borrowed during the call. */
struct ebb_metalake_policy {
    const char *name;            /* as there */
    const char *type;            /* policyType, as there */
    bool is_enabled;             /* there */
    bool is_ours;                /* for ebb; else nothing but name and type is told */
    const char *problem;         /* why it can't run; NULL: it can, where it is tied and enabled */
    const char *engine;          /* "native", or "gravitino" when it names ebb's job template */
    const struct ebb_strs *ties; /* "table grav.shop.orders", our names, sorted; those of other catalogs are left out */
    const struct ebb_strs *ignored; /* ties that count for nothing, each with its reason */
    const char *json;               /* what is kept of it */
};
typedef int ebb_metalake_policy_cb(void *data, const struct ebb_metalake_policy *policy, struct ebb_err *err);
/* All policies of the metalake, by name. Errors of the server (EBB_ECATALOG …) and of cb. */
int ebb_metalake_each_policy(struct ebb_workspace *ws, struct ebb_gravitino *g, const char *catalog,
                             ebb_metalake_policy_cb *cb, void *data, struct ebb_err *err);

struct ebb_metalake_synced {
    size_t policies; /* for ebb, tied to the catalog or not */
    size_t running;  /* enabled, tied, understood */
    bool changed;    /* what the store had was otherwise */
    int64_t changes; /* how often it was, by whatever process; also after an error of the server */
};
/* Make what the store keeps of the policies of a catalog's server what they are there now: all or nothing. After an
 * error of the server what was kept stays. is_dry: nothing is changed, only told. */
int ebb_metalake_sync(struct ebb_workspace *ws, const char *catalog, bool is_dry, struct ebb_metalake_synced *out,
                      struct ebb_err *err);

/* Right before a job of a policy acts on a table: the server still has it on that table, enabled, and as it is kept
 * here. Policies that are none of a server's pass. EBB_EREFUSED: it was changed, disabled, detached or dropped there;
 * errors of the server: nobody knows, so nothing is done. */
int ebb_metalake_check_policy(struct ebb_workspace *ws, const char *policy, const char *table, struct ebb_err *err);

#endif
