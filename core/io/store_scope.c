/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_scope.h"

#include "io/store_priv.h"

struct giving {
    ebb_store_value_cb *cb;
    void *data;
};

static int give(void *data, const struct ebb__store_row *row, struct ebb_err *err)
{
    struct giving *g = data;

    return g->cb(g->data, row->texts[0], row->texts[1], err);
}

int ebb_store_list_values(struct ebb_store *store, const char *scope, ebb_store_value_cb *cb, void *data,
                          struct ebb_err *err)
{
    static const char SQL[] = "SELECT key, json FROM value WHERE key > ?1 AND scope = ?2 ORDER BY key LIMIT :page";
    static const struct ebb__store_shape SHAPE = {.texts = 2, .key_texts = 1, .doing = "cannot list values"};
    struct giving g = {cb, data};
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_prepare(store, SQL, &stmt, err);

    if (rc)
        return rc;
    ebb__store_bind_text(stmt, 1, "");
    ebb__store_bind_text(stmt, 2, scope);
    rc = ebb__store_each(store, stmt, &SHAPE, 0, give, &g, err);
    sqlite3_finalize(stmt);
    return rc;
}
