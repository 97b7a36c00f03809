/* SPDX-License-Identifier: Apache-2.0 */
#include "io/catalog_commit.h"

#include <stdlib.h>

#include "io/catalog_rest_priv.h"

void ebb_commit_done_fini(struct ebb_commit_done *done)
{
    free(done->metadata_uri);
    memset(done, 0, sizeof *done);
}

bool ebb_catalog_can_commit(const struct ebb_catalog *catalog)
{
    return catalog->ops == &ebb__catalog_rest;
}

/* Whatever the catalog says: these stay. */
static int check(const struct ebb_catalog *catalog, const struct ebb_commit_removal *removal, struct ebb_err *err)
{
    if (!removal->count || !removal->uuid)
        return ebb_err_set(err, EBB_EUSAGE, "catalog '%s': %s: no snapshot to remove, or a table without uuid",
                           catalog->name, removal->name);
    for (size_t i = 0; i < removal->ref_count; i++)
        for (size_t k = 0; k < removal->count; k++)
            if (removal->refs[i].snapshot == removal->snapshots[k])
                return ebb_err_set(err, EBB_EUSAGE, "catalog '%s': %s: snapshot %lld is that of %s: it stays",
                                   catalog->name, removal->name, (long long)removal->snapshots[k],
                                   removal->refs[i].name);
    return 0;
}

int ebb_catalog_remove_snapshots(struct ebb_catalog *catalog, const struct ebb_commit_removal *removal,
                                 struct ebb_commit_done *out, struct ebb_err *err)
{
    int rc;

    memset(out, 0, sizeof *out);
    if (!ebb_catalog_can_commit(catalog)) {
        rc = ebb_err_set(err, EBB_EUNSUPPORTED, "catalog '%s': a catalog of type %s is not changed by ebb",
                         catalog->name, catalog->ops->type);
        ebb_err_hint(err, "of type rest it can be");
        return rc;
    }
    rc = check(catalog, removal, err);
    if (!rc)
        rc = ebb__rest_remove_snapshots(catalog, removal, out, err);
    if (rc)
        ebb_commit_done_fini(out);
    return rc;
}
