/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "warehouse_help.h"

#define META "db/t/metadata/"

/* ---- what a catalog lists, as text: "ns|name|metadata|folder|lagging|problem\n" a table ---- */

static int note(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    (void)err;
    assert_true((ref->metadata_uri == NULL) == (ref->problem.error != EBB_OK));
    ebb_buf_printf(data, "%s|%s|%s|%s|%zu|%s\n", ref->namespace_, ref->name,
                   ref->metadata_uri ? ref->metadata_uri : "-", ref->folder_uri ? ref->folder_uri : "-",
                   ref->lagging.count, ref->problem.error ? ebb_error_code(ref->problem.error) : "-");
    return 0;
}

static int make(struct warehouse *w, const char *type, const char *below, const char *sql_name,
                struct ebb_catalog **out)
{
    char path[256];
    struct ebb_catalog_config config = {.name = "cat", .type = type, .path = path, .sql_name = sql_name};
    const struct ebb_catalog_site site = {.storage = w->storage};

    snprintf(path, sizeof path, "%s%s", w->root, below);
    return ebb_catalog_new(&config, &site, out, &w->err);
}

static void assert_lists(struct warehouse *w, struct ebb_catalog *c, const char *want)
{
    struct ebb_buf text;

    ebb_buf_init(&text, 65536);
    assert_int_equal(ebb_catalog_list(c, note, &text, &w->err), 0);
    assert_string_equal(ebb_buf_cstr(&text), want);
    ebb_buf_fini(&text);
}

static void assert_directory_lists(struct warehouse *w, const char *want)
{
    struct ebb_catalog *c;

    assert_int_equal(make(w, "directory", "", NULL, &c), 0);
    assert_lists(w, c, want);
    ebb_catalog_free(c);
}

static int load(struct warehouse *w, struct ebb_catalog *c, const char *ns, const char *name, char *uri, size_t max)
{
    struct ebb_table_ref ref;
    int rc = ebb_catalog_load(c, ns, name, &ref, &w->err);

    uri[0] = '\0';
    if (!rc) {
        assert_string_equal(ref.catalog, "cat");
        assert_string_equal(ref.namespace_, ns);
        assert_string_equal(ref.name, name);
        snprintf(uri, max, "%s", ref.metadata_uri);
        ebb_table_ref_fini(&ref);
    }
    return rc;
}

/* ---- configuration ---- */

static void test_configuration(void **state)
{
    static const char *const NOT_BUILT[] = {"hive", "postgresql"};
    static const char *const BAD_NAMES[] = {"", "1a", "-a", "a.b", "a b", "\xC3\xA4"};
    struct warehouse *w = *state;
    struct ebb_catalog_config config = {.name = "a-b_1", .type = "directory", .path = "/x"};
    const struct ebb_catalog_site site = {.storage = w->storage};
    struct ebb_catalog *c = NULL;

    assert_int_equal(ebb_catalog_new(&config, &site, &c, &w->err), 0);
    assert_string_equal(ebb_catalog_name(c), "a-b_1");
    ebb_catalog_free(c);
    for (size_t i = 0; i < 2; i++) {
        config.type = NOT_BUILT[i];
        assert_int_equal(ebb_catalog_new(&config, &site, &c, &w->err), -EBB_ECONFIG);
        assert_non_null(strstr(w->err.message, NOT_BUILT[i]));
        assert_non_null(strstr(w->err.message, "not built"));
    }
    config.type = "sqllite";
    assert_int_equal(ebb_catalog_new(&config, &site, &c, &w->err), -EBB_ECONFIG);
    assert_non_null(strstr(w->err.hint, "sqlite"));
    config.type = NULL;
    assert_int_equal(ebb_catalog_new(&config, &site, &c, &w->err), -EBB_ECONFIG);
    config.type = "directory";
    config.path = NULL;
    assert_int_equal(ebb_catalog_new(&config, &site, &c, &w->err), -EBB_ECONFIG);
    config.path = "/x";
    for (size_t i = 0; i < sizeof BAD_NAMES / sizeof BAD_NAMES[0]; i++) {
        config.name = BAD_NAMES[i];
        assert_int_equal(ebb_catalog_new(&config, &site, &c, &w->err), -EBB_ECONFIG);
    }
}

/* ---- directory ---- */

static void test_directory_lists_all_tables(void **state)
{
    struct warehouse *w = *state;

    put_file(w, "b/t/metadata/v1.metadata.json", "{}");
    put_file(w, "a/x/t2/metadata/v1.gz.metadata.json", "{}");
    put_file(w, "a/x/t2/metadata/version-hint.text", "1");
    put_file(w, "a/t1/metadata/v1.metadata.json", "{}");
    put_file(w, "a/t1/metadata/v2.metadata.json", "{}");
    put_file(w, "a/t1/metadata/version-hint.text", "1");
    put_file(w, "top/metadata/v1.metadata.json.gz", "{}");
    put_file(w, "a/none/metadata/snap.avro", "x");
    put_file(w, "a/none/data/v1.metadata.json", "{}");
    assert_directory_lists(w, "|top|file:/w/top/metadata/v1.metadata.json.gz|file:/w/top|0|-\n"
                              "a|t1|file:/w/a/t1/metadata/v2.metadata.json|file:/w/a/t1|1|-\n"
                              "a.x|t2|file:/w/a/x/t2/metadata/v1.gz.metadata.json|file:/w/a/x/t2|0|-\n"
                              "b|t|file:/w/b/t/metadata/v1.metadata.json|file:/w/b/t|0|-\n");
}

/* A table may lie below another table's data; what is in quarantine is no table; links are not followed. */
static void test_directory_looks_below_tables(void **state)
{
    struct warehouse *w = *state;
    char link[128];

    put_file(w, "db/parent/metadata/v1.metadata.json", "{}");
    put_file(w, "db/parent/data/child/metadata/v1.metadata.json", "{}");
    put_file(w, "db/parent/.ebb-quarantine/r-1/metadata/v1.metadata.json", "{}");
    snprintf(link, sizeof link, "%s/db/linked", w->root);
    assert_int_equal(symlink("parent", link), 0);
    assert_directory_lists(w, "db|parent|file:/w/db/parent/metadata/v1.metadata.json|file:/w/db/parent|0|-\n"
                              "db.parent.data|child|file:/w/db/parent/data/child/metadata/v1.metadata.json|"
                              "file:/w/db/parent/data/child|0|-\n");
}

static void test_directory_lists_problems(void **state)
{
    struct warehouse *w = *state;

    put_file(w, "db/ahead/metadata/v1.metadata.json", "{}");
    put_file(w, "db/ahead/metadata/version-hint.text", "9");
    put_file(w, "db/other/metadata/00000-" UUID_A ".metadata.json", "{}");
    put_file(w, "db/other/metadata/00001-" UUID_A ".metadata.json", "{}");
    put_file(w, "db/temp/metadata/" UUID_A ".metadata.json", "{}");
    assert_directory_lists(w, "db|ahead|-|file:/w/db/ahead|0|metadata.hint_missing_version\n"
                              "db|other|-|file:/w/db/other|0|metadata.pointer_unknown\n"
                              "db|temp|-|file:/w/db/temp|0|metadata.pointer_unknown\n");
}

/* A Hadoop table that was registered in a catalog and went on there: the newest vN is not the current one. */
static void test_directory_sees_a_table_that_moved_to_a_catalog(void **state)
{
    struct warehouse *w = *state;

    put_metadata(w, META "v1.metadata.json", UUID_A, 1000, NULL);
    put_file(w, META "version-hint.text", "1");
    put_metadata(w, META "00002-" UUID_A ".metadata.json", UUID_A, 2000, "v1.metadata.json");
    assert_directory_lists(w, "db|t|-|file:/w/db/t|0|metadata.pointer_unknown\n");
    put_metadata(w, META "v2.metadata.json", UUID_A, 3000, NULL); /* and one that came back */
    assert_directory_lists(w, "db|t|file:/w/db/t/metadata/v2.metadata.json|file:/w/db/t|1|-\n");
    put_metadata(w, META "00002-" UUID_A ".metadata.json", UUID_B, 9000, NULL); /* of another table */
    assert_directory_lists(w, "db|t|file:/w/db/t/metadata/v2.metadata.json|file:/w/db/t|1|-\n");
}

static void test_directory_without_tables(void **state)
{
    struct warehouse *w = *state;
    struct ebb_catalog *c;
    struct ebb_buf text;

    assert_directory_lists(w, "");
    ebb_buf_init(&text, 64);
    assert_int_equal(make(w, "directory", "/missing", NULL, &c), 0);
    assert_int_equal(ebb_catalog_list(c, note, &text, &w->err), -EBB_ECATALOG);
    ebb_catalog_free(c);
    put_file(w, "file", "x");
    assert_int_equal(make(w, "directory", "/file", NULL, &c), 0);
    assert_int_equal(ebb_catalog_list(c, note, &text, &w->err), -EBB_ECATALOG);
    ebb_catalog_free(c);
    ebb_buf_fini(&text);
}

/* Case LS1: a folder that can't be listed ends the listing. */
static void test_directory_that_cannot_be_listed(void **state)
{
    struct warehouse *w = *state;
    struct ebb_catalog *c;
    struct ebb_buf text;
    char path[128];

    if (geteuid() == 0)
        skip();
    put_file(w, "db/t/metadata/v1.metadata.json", "{}");
    put_file(w, "db/closed/metadata/v1.metadata.json", "{}");
    snprintf(path, sizeof path, "%s/db/closed", w->root);
    assert_int_equal(chmod(path, 0), 0);
    ebb_buf_init(&text, 64);
    assert_int_equal(make(w, "directory", "", NULL, &c), 0);
    assert_int_equal(ebb_catalog_list(c, note, &text, &w->err), -EBB_EPERMISSION);
    assert_string_equal(ebb_buf_cstr(&text), "");
    chmod(path, 0755);
    ebb_catalog_free(c);
    ebb_buf_fini(&text);
}

static void test_path_that_is_a_table(void **state)
{
    struct warehouse *w = *state;
    struct ebb_catalog *c;
    char uri[128];

    put_file(w, "db/t/metadata/v1.metadata.json", "{}");
    assert_int_equal(make(w, "directory", "/db/t/", NULL, &c), 0);
    assert_lists(w, c, "|t|file:/w/db/t/metadata/v1.metadata.json|file:/w/db/t|0|-\n");
    assert_int_equal(load(w, c, "", "t", uri, sizeof uri), 0);
    assert_string_equal(uri, "file:/w/db/t/metadata/v1.metadata.json");
    ebb_catalog_free(c);
}

static void test_directory_loads_one(void **state)
{
    static const char *const NONE[][2] = {{"db", "x"},     {"db", ""},   {"", "db"},   {"db/t", "metadata"},
                                          {"", "db/t"},    {"..", "db"}, {"db.", "t"}, {"db", "../t"},
                                          {"linked", "t"}, {"", "."}};
    struct warehouse *w = *state;
    struct ebb_catalog *c;
    char uri[128], link[128];

    put_file(w, "db/t/metadata/v1.metadata.json", "{}");
    put_file(w, "d.b/t.v2/metadata/v1.metadata.json", "{}");
    put_file(w, "db/ahead/metadata/v1.metadata.json", "{}");
    put_file(w, "db/ahead/metadata/version-hint.text", "9");
    snprintf(link, sizeof link, "%s/linked", w->root);
    assert_int_equal(symlink("db", link), 0);
    assert_int_equal(make(w, "directory", "", NULL, &c), 0);
    assert_int_equal(load(w, c, "db", "t", uri, sizeof uri), 0);
    assert_string_equal(uri, "file:/w/db/t/metadata/v1.metadata.json");
    assert_int_equal(load(w, c, "d.b", "t.v2", uri, sizeof uri), 0);
    assert_string_equal(uri, "file:/w/d.b/t.v2/metadata/v1.metadata.json");
    assert_int_equal(load(w, c, "db", "ahead", uri, sizeof uri), -EBB_EHINT);
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++)
        assert_int_equal(load(w, c, NONE[i][0], NONE[i][1], uri, sizeof uri), -EBB_ETABLE_NOT_FOUND);
    put_file(w, "d/b/t.v2/metadata/v1.metadata.json", "{}");
    put_file(w, "p/d.b/u/metadata/v1.metadata.json", "{}");
    put_file(w, "p.d/b/u/metadata/v1.metadata.json", "{}");
    assert_int_equal(load(w, c, "p.d.b", "u", uri, sizeof uri), -EBB_ECATALOG); /* two folders have that name */
    ebb_catalog_free(c);
}

static int stop(void *data, const struct ebb_table_ref *ref, struct ebb_err *err)
{
    ++*(int *)data;
    return ebb_err_set(err, EBB_ECANCELLED, "%s: enough", ref->name);
}

static void test_callback_error_ends_the_list(void **state)
{
    struct warehouse *w = *state;
    struct ebb_catalog *c;
    int calls = 0;

    put_file(w, "db/a/metadata/v1.metadata.json", "{}");
    put_file(w, "db/b/metadata/v1.metadata.json", "{}");
    assert_int_equal(make(w, "directory", "", NULL, &c), 0);
    assert_int_equal(ebb_catalog_list(c, stop, &calls, &w->err), -EBB_ECANCELLED);
    assert_int_equal(calls, 1);
    ebb_catalog_free(c);
}

/* ---- sqlite ---- */

static void run_sql(struct warehouse *w, const char *sql)
{
    sqlite3 *db;
    char path[128];

    snprintf(path, sizeof path, "%s/cat.db", w->root);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* As PyIceberg makes it; JDBC catalogs have iceberg_type behind. */
#define CREATE                                                                                                         \
    "CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL,"          \
    " table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000),"    \
    " PRIMARY KEY (catalog_name, table_namespace, table_name));"
#define ADD_TYPE "ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5);"
#define ROW(ns, name, uri) "INSERT INTO iceberg_tables VALUES ('prod','" ns "','" name "'," uri ",NULL);"
#define TYPED(name, type) "INSERT INTO iceberg_tables VALUES ('prod','n','" name "','file:/w/" name "',NULL," type ");"

static void test_sqlite_lists_its_rows(void **state)
{
    struct warehouse *w = *state;
    struct ebb_catalog *c;

    run_sql(w, CREATE ROW("b.c", "t", "'s3://lake/b c/t/metadata/00003-x.metadata.json'") ROW("b", "z", "NULL")
                   ROW("a", "it''s", "'file:///w//a/'") ROW("B", "t", "''") "INSERT INTO iceberg_tables VALUES"
                                                                            " ('test','a','u','file:/u',NULL);");
    assert_int_equal(make(w, "sqlite", "/cat.db", "prod", &c), 0);
    assert_lists(w, c,
                 "B|t|-|-|0|metadata.pointer_unknown\n"
                 "a|it's|file:///w//a/|-|0|-\n"
                 "b|z|-|-|0|metadata.pointer_unknown\n"
                 "b.c|t|s3://lake/b c/t/metadata/00003-x.metadata.json|-|0|-\n");
    ebb_catalog_free(c);
}

static void test_sqlite_views_are_no_tables(void **state)
{
    struct warehouse *w = *state;
    struct ebb_catalog *c;
    char uri[128];

    run_sql(w, CREATE ADD_TYPE TYPED("t", "'TABLE'") TYPED("old", "NULL") TYPED("v", "'VIEW'"));
    assert_int_equal(make(w, "sqlite", "/cat.db", "prod", &c), 0);
    assert_lists(w, c, "n|old|file:/w/old|-|0|-\nn|t|file:/w/t|-|0|-\n");
    assert_int_equal(load(w, c, "n", "v", uri, sizeof uri), -EBB_ETABLE_NOT_FOUND);
    ebb_catalog_free(c);
}

static void test_sqlite_loads_one(void **state)
{
    struct warehouse *w = *state;
    struct ebb_catalog *c;
    char uri[128];

    run_sql(w, CREATE ROW("a.b", "t", "'file:/w/1'") ROW("a", "b", "NULL"));
    assert_int_equal(make(w, "sqlite", "/cat.db", "prod", &c), 0);
    assert_int_equal(load(w, c, "a.b", "t", uri, sizeof uri), 0);
    assert_string_equal(uri, "file:/w/1");
    assert_int_equal(load(w, c, "a", "b", uri, sizeof uri), -EBB_EPOINTER_UNKNOWN);
    assert_int_equal(load(w, c, "A.b", "t", uri, sizeof uri), -EBB_ETABLE_NOT_FOUND);
    assert_int_equal(load(w, c, "a", "b.t", uri, sizeof uri), -EBB_ETABLE_NOT_FOUND);
    assert_int_equal(load(w, c, "a.b", "t' OR '1'='1", uri, sizeof uri), -EBB_ETABLE_NOT_FOUND);
    run_sql(w, "UPDATE iceberg_tables SET metadata_location = 'file:/w/2'"); /* a commit is seen at once */
    assert_int_equal(load(w, c, "a.b", "t", uri, sizeof uri), 0);
    assert_string_equal(uri, "file:/w/2");
    ebb_catalog_free(c);
}

/* The name of the catalog is its catalog_name unless another is given; a wrong one must not look like an empty catalog.
 */
static void test_sqlite_catalog_name(void **state)
{
    struct warehouse *w = *state;
    struct ebb_catalog *c;
    struct ebb_buf text;
    char uri[128];

    ebb_buf_init(&text, 64);
    run_sql(w, CREATE ROW("a", "t", "'file:/w/1'"));
    assert_int_equal(make(w, "sqlite", "/cat.db", NULL, &c), 0); /* "cat" */
    assert_int_equal(ebb_catalog_list(c, note, &text, &w->err), -EBB_ECATALOG);
    assert_non_null(strstr(w->err.message, "'cat'"));
    assert_int_equal(load(w, c, "a", "t", uri, sizeof uri), -EBB_ECATALOG);
    run_sql(w, "CREATE TABLE iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL);"
               "INSERT INTO iceberg_namespace_properties VALUES ('cat')"); /* known, but without tables */
    assert_lists(w, c, "");
    assert_int_equal(load(w, c, "a", "t", uri, sizeof uri), -EBB_ETABLE_NOT_FOUND);
    run_sql(w, "INSERT INTO iceberg_tables VALUES ('cat','a','u','file:/w/u',NULL)");
    assert_lists(w, c, "a|u|file:/w/u|-|0|-\n");
    run_sql(w, "DELETE FROM iceberg_tables; DROP TABLE iceberg_namespace_properties");
    assert_lists(w, c, "");
    ebb_catalog_free(c);
    ebb_buf_fini(&text);
}

static void test_sqlite_that_is_none(void **state)
{
    struct warehouse *w = *state;
    struct ebb_catalog *c;
    struct ebb_buf text;
    char uri[128], path[128];
    struct stat st;

    ebb_buf_init(&text, 64);
    assert_int_equal(make(w, "sqlite", "/cat.db", "prod", &c), 0);
    assert_int_equal(ebb_catalog_list(c, note, &text, &w->err), -EBB_ECATALOG);
    assert_int_equal(load(w, c, "a", "t", uri, sizeof uri), -EBB_ECATALOG);
    snprintf(path, sizeof path, "%s/cat.db", w->root);
    assert_int_equal(stat(path, &st), -1); /* and none was made */
    put_file(w, "cat.db",
             "this is no database, although it is long enough to look like one of them, is it?..............");
    assert_int_equal(ebb_catalog_list(c, note, &text, &w->err), -EBB_ECATALOG);
    remove_file(w, "cat.db");
    run_sql(w, "CREATE TABLE cats (name TEXT)");
    assert_int_equal(ebb_catalog_list(c, note, &text, &w->err), -EBB_ECATALOG);
    assert_non_null(strstr(w->err.hint, "iceberg_tables"));
    assert_int_equal(text.len, 0);
    ebb_catalog_free(c);
    ebb_buf_fini(&text);
}

static void test_sqlite_row_with_a_nul_is_an_error(void **state)
{
    struct warehouse *w = *state;
    struct ebb_catalog *c;
    struct ebb_buf text;

    ebb_buf_init(&text, 256);
    run_sql(w, CREATE ROW("a", "t", "'file:/w/1'") ROW("a", "u", "'file:/w/' || char(0) || '2'"));
    assert_int_equal(make(w, "sqlite", "/cat.db", "prod", &c), 0);
    assert_int_equal(ebb_catalog_list(c, note, &text, &w->err), -EBB_ECATALOG);
    assert_int_equal(text.len, 0); /* complete or nothing */
    ebb_catalog_free(c);
    ebb_buf_fini(&text);
}

/* ---- by path ---- */

static int by_path(struct warehouse *w, const char *path, struct ebb_table_ref *ref)
{
    int rc = ebb_table_ref_by_path(w->storage, path, ref, &w->err);

    if (rc) {
        assert_null(ref->name);
        assert_null(ref->metadata_uri);
    }
    return rc;
}

static void expect_path(struct warehouse *w, const char *path, const char *metadata)
{
    struct ebb_table_ref ref;

    assert_int_equal(by_path(w, path, &ref), 0);
    assert_string_equal(ref.catalog, "path");
    assert_string_equal(ref.namespace_, "db");
    assert_string_equal(ref.name, "t");
    assert_string_equal(ref.folder_uri, "file:/w/db/t");
    assert_string_equal(ref.metadata_uri, metadata);
    ebb_table_ref_fini(&ref);
}

static void expect_refused(struct warehouse *w, const char *path, int error)
{
    struct ebb_table_ref ref;

    assert_int_equal(by_path(w, path, &ref), -error);
}

static void expect_local(struct warehouse *w, const char *below, const char *metadata)
{
    char path[256];

    snprintf(path, sizeof path, "%s%s", w->root, below);
    expect_path(w, path, metadata);
}

static void test_folder_by_path(void **state)
{
    struct warehouse *w = *state;
    const char *const want = "file:/w/db/t/metadata/v2.metadata.json";
    struct ebb_table_ref ref;
    char *cwd = getcwd(NULL, 0);

    put_file(w, META "v1.metadata.json", "{}");
    put_file(w, META "v2.metadata.json", "{}");
    put_file(w, META "version-hint.text", "1");
    expect_local(w, "/db/t", want);
    expect_local(w, "/db/t///", want);
    expect_local(w, "//db/./t", want);
    expect_local(w, "/db/../db/t", want);
    expect_path(w, "file:/w/db/t", want);
    expect_path(w, "file:/w/db/t//", want);
    assert_int_equal(chdir(w->root), 0);
    expect_path(w, "db/t", want);
    expect_path(w, "./db/t/", want);
    assert_int_equal(by_path(w, "db/t", &ref), 0);
    assert_int_equal(ref.lagging.count, 1);
    assert_string_equal(ref.lagging.items[0], "file:/w/db/t/metadata/v1.metadata.json");
    assert_int_equal(ref.problem.error, EBB_OK);
    ebb_table_ref_fini(&ref);
    assert_int_equal(chdir(cwd), 0);
    free(cwd);
}

/* Past a link, ".." is what the system says, not what the text looks like. */
static void test_climbing_path_past_a_link(void **state)
{
    struct warehouse *w = *state;
    char path[128];

    put_file(w, META "v1.metadata.json", "{}");
    put_file(w, "far/away/file", "x");
    put_file(w, "far/t/metadata/v9.metadata.json", "{}");
    snprintf(path, sizeof path, "%s/db/link", w->root);
    assert_int_equal(symlink("../far/away", path), 0);
    snprintf(path, sizeof path, "%s/db/link/../t", w->root);
    {
        struct ebb_table_ref ref;

        assert_int_equal(by_path(w, path, &ref), 0);
        assert_string_equal(ref.metadata_uri, "file:/w/far/t/metadata/v9.metadata.json");
        ebb_table_ref_fini(&ref);
    }
}

static void test_no_table_by_path(void **state)
{
    struct warehouse *w = *state;

    put_file(w, "db/t/data/part.parquet", "x");
    put_file(w, "db/u/metadata/00001-" UUID_A ".metadata.json", "{}");
    expect_refused(w, "", EBB_ETABLE_NOT_FOUND);
    expect_refused(w, "file:/w/db/none", EBB_ETABLE_NOT_FOUND);
    expect_refused(w, "file:/w/db/t", EBB_ETABLE_NOT_FOUND);
    expect_refused(w, "file:/w/db/t/data/part.parquet", EBB_ETABLE_NOT_FOUND);
    expect_refused(w, "file:/w/db/t/data/part.parquet/x", EBB_ETABLE_NOT_FOUND);
    expect_refused(w, "/no/such/../place", EBB_ETABLE_NOT_FOUND);
    expect_refused(w, "s3://lake/db/t", EBB_ESCHEME);
    expect_refused(w, "file:/w/db/u", EBB_EPOINTER_UNKNOWN);
    assert_string_not_equal(w->err.hint, "");
}

static void test_hint_problems_by_path(void **state)
{
    struct warehouse *w = *state;

    put_metadata(w, META "v1.metadata.json", UUID_A, 1000, NULL);
    put_file(w, META "version-hint.text", "5");
    expect_refused(w, "file:/w/db/t", EBB_EHINT);
    expect_refused(w, "file:/w/db/t/metadata/v1.metadata.json", EBB_EHINT);
}

#define N(n) "0000" #n "-" UUID_A ".metadata.json"

static void test_current_file_by_hand(void **state)
{
    struct warehouse *w = *state;

    put_metadata(w, META N(0), UUID_A, 1000, NULL);
    put_metadata(w, META N(1), UUID_A, 2000, N(0));
    put_metadata(w, META "00009-" UUID_B ".metadata.json", UUID_B, 9000, N(1)); /* of another table */
    put_file(w, META "00007-cut.metadata.json", "{\"format-version\":2,\"table-");
    put_file(w, META "00008-empty.metadata.json", "");
    put_file(w, META "snap-1.avro", "x");
    expect_path(w, "file:/w/db/t/metadata/" N(1), "file:/w/db/t/metadata/" N(1));
    expect_local(w, "/db/t/metadata/" N(1), "file:/w/db/t/metadata/" N(1));
}

static void test_listed_file_is_not_current(void **state)
{
    struct warehouse *w = *state;

    put_metadata(w, META N(0), UUID_A, 2000, NULL);
    put_metadata(w, META N(1), UUID_A, 2000, N(0)); /* the same time: the log tells */
    expect_refused(w, "file:/w/db/t/metadata/" N(0), EBB_ENOT_CURRENT);
    assert_non_null(strstr(w->err.message, "00001-"));
    put_metadata(w, META N(1), UUID_A, 1500, N(0)); /* a slow clock */
    expect_refused(w, "file:/w/db/t/metadata/" N(0), EBB_ENOT_CURRENT);
    put_metadata(w, META N(1), "5E0C1C0E-8D1E-4C6A-9B1F-0F3A0B9D2E77", 1500, N(0)); /* case of a uuid */
    expect_refused(w, "file:/w/db/t/metadata/" N(0), EBB_ENOT_CURRENT);
}

static void test_older_file_is_not_current(void **state)
{
    struct warehouse *w = *state;
    char four[] = "{\"format-version\":4,\"table-uuid\":\"" UUID_A "\",\"last-updated-ms\":2000,\"new\":{}}";

    put_metadata(w, META N(0), UUID_A, 1000, NULL);
    put_metadata(w, META N(2), UUID_A, 1001, N(1)); /* the log was trimmed */
    expect_refused(w, "file:/w/db/t/metadata/" N(0), EBB_ENOT_CURRENT);
    put_file(w, META N(2), four); /* of a version that is not read here */
    expect_refused(w, "file:/w/db/t/metadata/" N(0), EBB_ENOT_CURRENT);
}

static void test_version_by_hand(void **state)
{
    struct warehouse *w = *state;

    put_metadata(w, META "v1.metadata.json", UUID_A, 1000, NULL);
    put_metadata(w, META "v2.metadata.json", UUID_A, 1000, NULL);
    put_metadata(w, META "v4.metadata.json", UUID_A, 900, NULL); /* beyond a gap */
    put_file(w, META "version-hint.text", "1");
    expect_path(w, "file:/w/db/t/metadata/v2.metadata.json", "file:/w/db/t/metadata/v2.metadata.json");
    expect_refused(w, "file:/w/db/t/metadata/v1.metadata.json", EBB_ENOT_CURRENT);
    expect_refused(w, "file:/w/db/t/metadata/v4.metadata.json", EBB_ENOT_CURRENT);
}

static void test_file_that_is_no_metadata(void **state)
{
    struct warehouse *w = *state;

    put_file(w, META N(1), "{}");
    expect_refused(w, "file:/w/db/t/metadata/" N(1), EBB_EMETADATA);
    put_file(w, META N(1), "");
    expect_refused(w, "file:/w/db/t/metadata/" N(1), EBB_EMETADATA);
}

/* write.metadata.path may be anywhere: then the folder of the table is not known. */
static void test_file_elsewhere(void **state)
{
    struct warehouse *w = *state;
    struct ebb_table_ref ref;

    put_metadata(w, "else/meta/" N(0), UUID_A, 1000, NULL);
    assert_int_equal(by_path(w, "file:/w/else/meta/" N(0), &ref), 0);
    assert_string_equal(ref.namespace_, "else");
    assert_string_equal(ref.name, "meta");
    assert_null(ref.folder_uri);
    ebb_table_ref_fini(&ref);
}

#define BOTH(t) cmocka_unit_test_setup_teardown(t, warehouse_setup, warehouse_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_configuration),
        BOTH(test_directory_lists_all_tables),
        BOTH(test_directory_looks_below_tables),
        BOTH(test_directory_lists_problems),
        BOTH(test_directory_sees_a_table_that_moved_to_a_catalog),
        BOTH(test_directory_without_tables),
        BOTH(test_directory_that_cannot_be_listed),
        BOTH(test_path_that_is_a_table),
        BOTH(test_directory_loads_one),
        BOTH(test_callback_error_ends_the_list),
        BOTH(test_sqlite_lists_its_rows),
        BOTH(test_sqlite_views_are_no_tables),
        BOTH(test_sqlite_loads_one),
        BOTH(test_sqlite_catalog_name),
        BOTH(test_sqlite_that_is_none),
        BOTH(test_sqlite_row_with_a_nul_is_an_error),
        BOTH(test_folder_by_path),
        BOTH(test_climbing_path_past_a_link),
        BOTH(test_no_table_by_path),
        BOTH(test_hint_problems_by_path),
        BOTH(test_current_file_by_hand),
        BOTH(test_listed_file_is_not_current),
        BOTH(test_older_file_is_not_current),
        BOTH(test_version_by_hand),
        BOTH(test_file_that_is_no_metadata),
        BOTH(test_file_elsewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
