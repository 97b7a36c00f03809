/* SPDX-License-Identifier: Apache-2.0 */
#include "io/catalog_priv.h"

#include <sqlite3.h>
#include <stdlib.h>

#define BUSY_TIMEOUT_MS 10000

/* One answer of the database: namespace, name and pointer, three strings a row; the pointer is "" where there is none.
 */
struct rows {
    struct ebb_strs text;
};

static int fail(const struct ebb_catalog *c, sqlite3 *db, const char *doing, struct ebb_err *err)
{
    int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;
    int rc;

    if (code == SQLITE_NOMEM)
        return ebb_err_nomem(err);
    rc = ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: %s: %s", c->name, c->path, doing, sqlite3_errmsg(db));
    if (err)
        err->retryable = code == SQLITE_BUSY || code == SQLITE_LOCKED;
    if (code == SQLITE_ERROR)
        ebb_err_hint(err, "it must hold the table iceberg_tables of a JDBC or PyIceberg SQL catalog");
    return rc;
}

/* Opened for each question: so a database file that was replaced is seen, and no lock stays behind. */
static int open_db(const struct ebb_catalog *c, sqlite3 **db, struct ebb_err *err)
{
    if (sqlite3_open_v2(c->path, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return fail(c, *db, "cannot open", err);
    sqlite3_busy_timeout(*db, BUSY_TIMEOUT_MS);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    /* All answers are from one state of the catalog. */
    if (sqlite3_exec(*db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return fail(c, *db, "cannot begin to read", err);
    return 0;
}

static int ask(const struct ebb_catalog *c, sqlite3 *db, const char *sql, bool *has_row, struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    int step, rc = 0;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return fail(c, db, "cannot be asked", err);
    if (sqlite3_bind_parameter_count(stmt) > 0)
        sqlite3_bind_text(stmt, 1, c->sql_name, -1, SQLITE_STATIC);
    step = sqlite3_step(stmt);
    *has_row = step == SQLITE_ROW;
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        rc = fail(c, db, "cannot be read", err);
    sqlite3_finalize(stmt);
    return rc;
}

/* Text of a column; a NUL inside makes it unusable. */
static int read_text(const struct ebb_catalog *c, sqlite3 *db, sqlite3_stmt *stmt, int column, const char **out,
                     struct ebb_err *err)
{
    int type = sqlite3_column_type(stmt, column);

    *out = (const char *)sqlite3_column_text(stmt, column);
    if (type != SQLITE_NULL && !*out)
        return fail(c, db, "cannot be read", err);
    if (*out && strlen(*out) != (size_t)sqlite3_column_bytes(stmt, column))
        return ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: column %s: holds a NUL byte", c->name, c->path,
                           sqlite3_column_name(stmt, column));
    return 0;
}

static int read_row(const struct ebb_catalog *c, sqlite3 *db, sqlite3_stmt *stmt, struct rows *rows,
                    struct ebb_err *err)
{
    const char *text;
    int rc = 0;

    for (int i = 0; !rc && i < 3; i++) {
        rc = read_text(c, db, stmt, i, &text, err);
        if (!rc && !text && i < 2)
            rc = ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: column %s: is null", c->name, c->path,
                             sqlite3_column_name(stmt, i));
        if (!rc)
            rc = ebb_strs_add(&rows->text, text ? text : "", err);
    }
    return rc;
}

#define SELECT "SELECT table_namespace, table_name, metadata_location FROM iceberg_tables WHERE catalog_name = ?1"
#define ONE " AND table_namespace = ?2 AND table_name = ?3"
#define TABLES " AND (iceberg_type IS NULL OR iceberg_type = 'TABLE')" /* not views */
#define ORDER " ORDER BY table_namespace COLLATE BINARY, table_name COLLATE BINARY"

static const char *choose_sql(bool is_one, bool has_type)
{
    if (is_one)
        return has_type ? SELECT ONE TABLES ORDER : SELECT ONE ORDER;
    return has_type ? SELECT TABLES ORDER : SELECT ORDER;
}

static int select_rows(const struct ebb_catalog *c, sqlite3 *db, const char *namespace_, const char *name,
                       struct rows *rows, struct ebb_err *err)
{
    sqlite3_stmt *stmt = NULL;
    bool has_type = false;
    int rc, step;

    rc = ask(c, db, "SELECT 1 FROM pragma_table_info('iceberg_tables') WHERE lower(name) = 'iceberg_type'", &has_type,
             err);
    if (rc)
        return rc;
    if (sqlite3_prepare_v2(db, choose_sql(name != NULL, has_type), -1, &stmt, NULL) != SQLITE_OK)
        return fail(c, db, "cannot be asked for tables", err);
    sqlite3_bind_text(stmt, 1, c->sql_name, -1, SQLITE_STATIC);
    if (name) {
        sqlite3_bind_text(stmt, 2, namespace_, -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 3, name, -1, SQLITE_STATIC);
    }
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW && !rc)
        rc = read_row(c, db, stmt, rows, err);
    if (!rc && step != SQLITE_DONE)
        rc = fail(c, db, "cannot be read", err);
    sqlite3_finalize(stmt);
    return rc;
}

/* Nothing at all under this catalog_name, but tables of others: the configured name is wrong, and the tables would be
 * overlooked. */
static int check_sql_name(const struct ebb_catalog *c, sqlite3 *db, struct ebb_err *err)
{
    static const char PROPERTIES[] = "SELECT 1 FROM sqlite_schema WHERE name = 'iceberg_namespace_properties'";
    bool knows = false, others = false, has_properties = false;
    int rc;

    rc = ask(c, db, "SELECT 1 FROM iceberg_tables WHERE catalog_name = ?1 LIMIT 1", &knows, err);
    if (!rc && !knows)
        rc = ask(c, db, PROPERTIES, &has_properties, err);
    if (!rc && has_properties)
        rc = ask(c, db, "SELECT 1 FROM iceberg_namespace_properties WHERE catalog_name = ?1 LIMIT 1", &knows, err);
    if (!rc && !knows)
        rc = ask(c, db, "SELECT 1 FROM iceberg_tables LIMIT 1", &others, err);
    if (rc || !others)
        return rc;
    rc = ebb_err_set(err, EBB_ECATALOG, "catalog '%s': %s: holds no catalog_name '%s', only others", c->name, c->path,
                     c->sql_name);
    ebb_err_hint(err, "set `name` of this catalog to the catalog_name in iceberg_tables");
    return rc;
}

/* The rows of one table, or of all where name is NULL. */
static int read_rows(const struct ebb_catalog *c, const char *namespace_, const char *name, struct rows *rows,
                     struct ebb_err *err)
{
    sqlite3 *db = NULL;
    int rc = open_db(c, &db, err);

    if (!rc)
        rc = select_rows(c, db, namespace_, name, rows, err);
    if (!rc && !rows->text.count)
        rc = check_sql_name(c, db, err);
    sqlite3_close(db);
    return rc;
}

static int make_ref(const struct ebb_catalog *c, char *const row[3], struct ebb_table_ref *ref, struct ebb_err *err)
{
    int rc = ebb__table_ref_name(ref, c->name, row[0], row[1], err);

    if (rc)
        return rc;
    if (!row[2][0]) {
        ebb_err_set(&ref->problem, EBB_EPOINTER_UNKNOWN, "table %s.%s.%s: the catalog has no metadata location for it",
                    c->name, row[0], row[1]);
        return 0;
    }
    ref->metadata_uri = strdup(row[2]);
    return ref->metadata_uri ? 0 : ebb_err_nomem(err);
}

static int list(struct ebb_catalog *c, ebb_catalog_cb *cb, void *data, struct ebb_err *err)
{
    struct rows rows;
    int rc;

    ebb_strs_init(&rows.text);
    rc = read_rows(c, NULL, NULL, &rows, err);
    for (size_t i = 0; !rc && i + 2 < rows.text.count; i += 3) {
        struct ebb_table_ref ref = {.catalog = NULL};

        rc = make_ref(c, rows.text.items + i, &ref, err);
        if (!rc)
            rc = cb(data, &ref, err);
        ebb_table_ref_fini(&ref);
    }
    ebb_strs_fini(&rows.text);
    return rc;
}

static int load(struct ebb_catalog *c, const char *namespace_, const char *name, struct ebb_table_ref *out,
                struct ebb_err *err)
{
    struct rows rows;
    int rc;

    ebb_strs_init(&rows.text);
    rc = read_rows(c, namespace_, name, &rows, err);
    if (!rc && rows.text.count == 0)
        rc = ebb_err_set(err, EBB_ETABLE_NOT_FOUND, "table %s.%s.%s: the catalog has no such table", c->name,
                         namespace_, name);
    if (!rc && rows.text.count > 3)
        rc = ebb_err_set(err, EBB_ECATALOG, "table %s.%s.%s: the catalog has several rows for it", c->name, namespace_,
                         name);
    if (!rc)
        rc = make_ref(c, rows.text.items, out, err);
    ebb_strs_fini(&rows.text);
    return rc;
}

const struct ebb__catalog_ops ebb__catalog_sqlite = {
    .type = "sqlite",
    .list = list,
    .load = load,
};
