/* SPDX-License-Identifier: Apache-2.0
 *
 * The catalog of type `rest`: a session, what was learned of tables, and keys that it lends. Not for other layers.
 */
#ifndef EBB_IO_CATALOG_REST_PRIV_H
#define EBB_IO_CATALOG_REST_PRIV_H

#include "io/catalog_commit.h"
#include "io/catalog_priv.h"
#include "io/rest_priv.h"

/* What a table was when it was loaded last. */
struct ebb__rest_kept {
    char *path; /* its own in URLs */
    struct ebb__rest_table table;
};

struct ebb__rest_lent;
struct ebb__rest_catalog {
    struct ebb__rest *rest;
    struct ebb_storage *storage;
    struct ebb__rest_kept *kept; /* sorted by path */
    size_t kept_count, kept_cap;
    struct ebb__rest_lent *lent;
};

/* NULL: nothing is kept. Borrowed until the next table is loaded. */
struct ebb__rest_table *ebb__rest_kept_find(struct ebb__rest_catalog *c, const char *path);
/* Takes what is in table, which is zeroed. */
int ebb__rest_keep(struct ebb__rest_catalog *c, const char *path, struct ebb__rest_table *table, struct ebb_err *err);
void ebb__rest_kept_fini(struct ebb__rest_catalog *c);

/* A load under way. */
struct ebb__rest_load {
    struct ebb__rest_catalog *catalog;
    struct ebb__rest_ask ask;
    char *path;                 /* "namespaces/…/tables/…" */
    char *what;                 /* "table a.b" */
    char *etag;                 /* that was sent */
    struct ebb__rest_table got; /* unless it is unchanged */
    bool is_unchanged;
};
int ebb__rest_load_init(struct ebb__rest_load *load, struct ebb__rest_catalog *c, const struct ebb_strs *levels,
                        const char *name, bool is_fresh, struct ebb_err *err);
void ebb__rest_load_fini(struct ebb__rest_load *load);
/* After a load that succeeded: what the table is, kept, and its keys lent. Borrowed until the next one. */
int ebb__rest_load_take(struct ebb__rest_load *load, struct ebb__rest_table **out, struct ebb_err *err);
/* Load one table; is_fresh: whatever was kept. path may be NULL. EBB_ETABLE_NOT_FOUND. */
int ebb__rest_load_one(struct ebb__rest_catalog *c, const struct ebb_strs *levels, const char *name, bool is_fresh,
                       struct ebb__rest_table **out, struct ebb_err *err);
/* Levels of a dotted namespace. */
int ebb__rest_split(const char *dotted, struct ebb_strs *levels, struct ebb_err *err);

int ebb__rest_remove_snapshots(struct ebb_catalog *catalog, const struct ebb_commit_removal *removal,
                               struct ebb_commit_done *out, struct ebb_err *err);

/* Lend the keys that came with a table to the storage, for what lies below it. EBB_EUNSUPPORTED: the catalog would sign
 * requests, and gives no keys. */
int ebb__rest_lend(struct ebb__rest_catalog *c, const char *path, const char *what, const struct ebb__rest_table *table,
                   struct ebb_err *err);
void ebb__rest_lent_fini(struct ebb__rest_catalog *c);

#endif
