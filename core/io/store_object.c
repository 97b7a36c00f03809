/* SPDX-License-Identifier: Apache-2.0 */
#include "io/store_objects.h"

#include "io/store_priv.h"

static const char *const KINDS[] = {"policy", "job template", "token", "policy of another server"};
#define COLUMNS "name, json, creator, modifier, number, kind, created_ms, modified_ms"

static const char *kind_name(enum ebb_object_kind kind)
{
    return (size_t)kind < sizeof KINDS / sizeof KINDS[0] ? KINDS[kind] : "object";
}

static int not_found(struct ebb_store *store, enum ebb_object_kind kind, const char *name, struct ebb_err *err)
{
    return ebb_err_set(err, EBB_ENOT_FOUND, "%s: no such %s in %s", name, kind_name(kind), store->path);
}

static int write_object(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb_object *object,
                        struct ebb_err *err)
{
    int rc = 0;

    if (sqlite3_step(stmt) != SQLITE_DONE)
        rc = ebb__store_is_taken(store)
                 ? ebb_err_set(err, EBB_EEXIST, "%s: there is such a %s already", object->name, kind_name(object->kind))
                 : ebb__store_fail(store, "cannot write an object", err);
    sqlite3_reset(stmt);
    return rc;
}

int ebb__store_check_objects(struct ebb_store *store, enum ebb_object_kind kind, struct ebb_err *err)
{
    static const char SQL[] = "SELECT count(*), sum(length(CAST(json AS BLOB))) FROM object WHERE kind = ?1";
    const int64_t most = kind == EBB_OBJECT_TOKEN ? EBB_TOKENS_MAX : EBB_OBJECTS_MAX;
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, (int)kind);
    if (sqlite3_step(stmt) != SQLITE_ROW)
        rc = ebb__store_fail(store, "cannot count objects", err);
    else if (sqlite3_column_int64(stmt, 0) > most)
        rc = ebb_err_set(err, EBB_ELIMIT, "there can't be more than %lld of the kind %s", (long long)most,
                         kind_name(kind));
    else if (sqlite3_column_int64(stmt, 1) > (int64_t)EBB_OBJECTS_MAX_BYTES)
        rc = ebb_err_set(err, EBB_ELIMIT, "all of the kind %s together can't be longer than %zu bytes", kind_name(kind),
                         EBB_OBJECTS_MAX_BYTES);
    sqlite3_reset(stmt);
    return rc;
}

int ebb__store_insert_object(struct ebb_store *store, const struct ebb_object *object, struct ebb_err *err)
{
    static const char SQL[] = "INSERT INTO object (kind, name, json, creator, modifier, created_ms, modified_ms)"
                              " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, (int)object->kind);
    ebb__store_bind_text(stmt, 2, object->name);
    ebb__store_bind_text(stmt, 3, object->json);
    ebb__store_bind_text(stmt, 4, object->creator);
    ebb__store_bind_text(stmt, 5, object->modifier);
    sqlite3_bind_int64(stmt, 6, object->created_ms);
    sqlite3_bind_int64(stmt, 7, object->modified_ms);
    return write_object(store, stmt, object, err);
}

int ebb_store_add_object(struct ebb_store *store, const struct ebb_object *object, struct ebb_err *err)
{
    int rc = ebb__store_begin(store, err);

    if (rc)
        return rc;
    rc = ebb__store_insert_object(store, object, err);
    if (!rc)
        rc = ebb__store_check_objects(store, object->kind, err);
    return ebb__store_end(store, rc, err);
}

/* Length of the JSON of an object; -1: there is none. */
static int64_t length_of(struct ebb_store *store, enum ebb_object_kind kind, const char *name)
{
    static const char SQL[] = "SELECT length(CAST(json AS BLOB)) FROM object WHERE kind = ?1 AND name = ?2";
    sqlite3_stmt *stmt = NULL;
    int64_t n = -1;

    if (ebb__store_keep(store, SQL, &stmt, NULL))
        return n;
    sqlite3_bind_int(stmt, 1, (int)kind);
    ebb__store_bind_text(stmt, 2, name);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        n = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return n;
}

int ebb__store_update_object(struct ebb_store *store, const char *name, const struct ebb_object *object,
                             struct ebb_err *err)
{
    static const char SQL[] = "UPDATE object SET name = ?3, json = ?4, modifier = ?5, modified_ms = ?6"
                              " WHERE kind = ?1 AND name = ?2";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, (int)object->kind);
    ebb__store_bind_text(stmt, 2, name);
    ebb__store_bind_text(stmt, 3, object->name);
    ebb__store_bind_text(stmt, 4, object->json);
    ebb__store_bind_text(stmt, 5, object->modifier);
    sqlite3_bind_int64(stmt, 6, object->modified_ms);
    rc = write_object(store, stmt, object, err);
    if (!rc && sqlite3_changes(store->db) != 1)
        rc = not_found(store, object->kind, name, err);
    return rc;
}

int ebb_store_change_object(struct ebb_store *store, const char *name, const struct ebb_object *object,
                            struct ebb_err *err)
{
    bool grows;
    int rc = ebb__store_begin(store, err);

    if (rc)
        return rc;
    grows = (int64_t)strlen(object->json) > length_of(store, object->kind, name);
    rc = ebb__store_update_object(store, name, object, err);
    if (!rc && grows)
        rc = ebb__store_check_objects(store, object->kind, err);
    return ebb__store_end(store, rc, err);
}

int ebb_store_drop_object(struct ebb_store *store, enum ebb_object_kind kind, const char *name, bool *found,
                          struct ebb_err *err)
{
    static const char SQL[] = "DELETE FROM object WHERE kind = ?1 AND name = ?2";
    sqlite3_stmt *stmt = NULL;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    *found = false;
    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, (int)kind);
    ebb__store_bind_text(stmt, 2, name);
    rc = ebb__store_run(store, stmt, "cannot drop an object", err);
    *found = !rc && sqlite3_changes(store->db) == 1;
    return rc;
}

static const struct ebb__store_shape SHAPE = {.texts = 4, .numbers = 4, .doing = "cannot read an object"};

struct giving {
    struct ebb_store *store;
    ebb_object_cb *cb;
    void *data;
};

static int give(void *data, const struct ebb__store_row *row, struct ebb_err *err)
{
    const struct giving *g = data;
    struct ebb_object object = {
        .kind = (enum ebb_object_kind)row->numbers[1],
        .number = row->numbers[0],
        .name = row->texts[0],
        .json = row->texts[1],
        .creator = row->texts[2],
        .modifier = row->texts[3],
        .created_ms = row->numbers[2],
        .modified_ms = row->numbers[3],
    };

    if (row->numbers[1] < EBB_OBJECT_POLICY || row->numbers[1] > EBB_OBJECT_REMOTE_POLICY)
        return ebb_err_set(err, EBB_ESTORE_CORRUPT, "%s: an object has kind %lld", g->store->path,
                           (long long)row->numbers[1]);
    return g->cb(g->data, &object, err);
}

int ebb_store_get_object(struct ebb_store *store, enum ebb_object_kind kind, const char *name, ebb_object_cb *cb,
                         void *data, struct ebb_err *err)
{
    static const char SQL[] = "SELECT " COLUMNS " FROM object WHERE kind = ?1 AND name = ?2";
    struct giving g = {store, cb, data};
    struct ebb__store_row row = {.numbers = {0}};
    sqlite3_stmt *stmt = NULL;
    bool found = false;
    int rc = ebb__store_keep(store, SQL, &stmt, err);

    if (rc)
        return rc;
    sqlite3_bind_int(stmt, 1, (int)kind);
    ebb__store_bind_text(stmt, 2, name);
    rc = ebb__store_fetch(store, stmt, &SHAPE, &row, &found, err);
    if (!rc)
        rc = found ? give(&g, &row, err) : not_found(store, kind, name, err);
    ebb__store_row_fini(&row);
    return rc;
}

int ebb_store_list_objects(struct ebb_store *store, enum ebb_object_kind kind, ebb_object_cb *cb, void *data,
                           struct ebb_err *err)
{
    struct giving g = {store, cb, data};
    sqlite3_stmt *stmt = NULL;
    int rc;

    rc = ebb__store_prepare(
        store, "SELECT " COLUMNS " FROM object WHERE number > ?1 AND kind = ?2 ORDER BY number LIMIT :page", &stmt,
        err);
    if (rc)
        return rc;
    sqlite3_bind_int64(stmt, 1, INT64_MIN);
    sqlite3_bind_int(stmt, 2, (int)kind);
    rc = ebb__store_each(store, stmt, &SHAPE, 0, give, &g, err);
    sqlite3_finalize(stmt);
    return rc;
}
