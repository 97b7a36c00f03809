/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_objects.h"

#include "io/store_priv.h"

/* A place that objects of a kind are tied to. */
struct spot {
    enum ebb_object_kind kind;
    const char *type, *full_name;
};

/* Run sql for each name: ?1 kind, ?2 name, ?3 type, ?4 full name. */
static int for_each(struct ebb_store *store, const char *sql, const struct spot *spot, const struct ebb_strs *names,
                    struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = names->count ? ebb__store_keep(store, sql, &stmt, err) : 0;

    for (size_t i = 0; !rc && i < names->count; i++) {
        sqlite3_bind_int(stmt, 1, (int)spot->kind);
        ebb__store_bind_text(stmt, 2, names->items[i]);
        ebb__store_bind_text(stmt, 3, spot->type);
        ebb__store_bind_text(stmt, 4, spot->full_name);
        if (sqlite3_step(stmt) != SQLITE_DONE)
            rc = ebb__store_is_taken(store) ? ebb_err_set(err, EBB_EEXIST, "%s: is tied to %s %s already",
                                                          names->items[i], spot->type, spot->full_name)
                                            : ebb__store_fail(store, "cannot tie an object", err);
        sqlite3_reset(stmt);
    }
    return rc;
}

int ebb_store_tie_objects(struct ebb_store *store, enum ebb_object_kind kind, const char *type, const char *full_name,
                          const struct ebb_strs *add, const struct ebb_strs *remove, struct ebb_err *err)
{
    static const char REMOVE[] = "DELETE FROM tie WHERE type = ?3 AND full_name = ?4"
                                 " AND object = (SELECT number FROM object WHERE kind = ?1 AND name = ?2)";
    static const char ADD[] = "INSERT INTO tie (object, type, full_name)"
                              " SELECT number, ?3, ?4 FROM object WHERE kind = ?1 AND name = ?2";
    const struct spot spot = {kind, type, full_name};
    int rc = ebb__store_begin(store, err);

    if (rc)
        return rc;
    if (add)
        rc = for_each(store, ADD, &spot, add, err);
    if (!rc && remove)
        rc = for_each(store, REMOVE, &spot, remove, err);
    return ebb__store_end(store, rc, err);
}

static const struct ebb__store_shape SHAPE = {.texts = 1, .numbers = 0, .key_texts = 1, .doing = "cannot read ties"};

static int add_text(void *data, const struct ebb__store_row *row, struct ebb_err *err)
{
    return ebb_strs_add(data, row->texts[0], err);
}

int ebb_store_tied_objects(struct ebb_store *store, enum ebb_object_kind kind, const char *type, const char *full_name,
                           struct ebb_strs *out, struct ebb_err *err)
{
    static const char SQL[] = "SELECT o.name FROM tie t JOIN object o ON o.number = t.object WHERE o.name > ?1"
                              " AND t.type = ?2 AND t.full_name = ?3 AND o.kind = ?4 ORDER BY o.name LIMIT :page";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    if (rc)
        return rc;
    ebb__store_bind_text(stmt, 1, "");
    ebb__store_bind_text(stmt, 2, type);
    ebb__store_bind_text(stmt, 3, full_name);
    sqlite3_bind_int(stmt, 4, (int)kind);
    return ebb__store_each(store, stmt, &SHAPE, 0, add_text, out, err);
}

int ebb_store_object_ties(struct ebb_store *store, enum ebb_object_kind kind, const char *name, struct ebb_strs *out,
                          struct ebb_err *err)
{
    static const char SQL[] =
        "SELECT t.type || ' ' || t.full_name AS place FROM tie t JOIN object o ON o.number = t.object"
        " WHERE place > ?1 AND o.kind = ?2 AND o.name = ?3 ORDER BY place LIMIT :page";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    if (rc)
        return rc;
    ebb__store_bind_text(stmt, 1, "");
    sqlite3_bind_int(stmt, 2, (int)kind);
    ebb__store_bind_text(stmt, 3, name);
    return ebb__store_each(store, stmt, &SHAPE, 0, add_text, out, err);
}
