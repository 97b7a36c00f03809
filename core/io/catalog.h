/* SPDX-License-Identifier: Apache-2.0
 *
 * Catalogs: which tables exist and where their current metadata is. A vtable; `directory` (Hadoop layout), `sqlite`
 * (the iceberg_tables of PyIceberg's and the JDBC SQL catalog), `rest` (Iceberg REST), `glue` and
 * `gravitino` (which asks one of the others for pointers), and tables opened by path. Read only, but for what
 * io/catalog_commit.h does. Never decides by numbers in file names in a catalog table: only the pointer counts. Not
 * thread safe.
 */
#ifndef EBB_IO_CATALOG_H
#define EBB_IO_CATALOG_H

#include "io/place.h"

/* Where a table is, as its catalog says. Owned strings; free with ebb_table_ref_fini. */
struct ebb_table_ref {
    char *catalog;    /* configured name; "path" for a table opened by path */
    char *namespace_; /* levels joined by '.' */
    char *name;
    char *metadata_uri; /* current metadata file; NULL when unknown */
    char *folder_uri; /* the folder the catalog keeps the table in (directory catalogs, tables by path whose metadata is
                       * in `metadata`); NULL elsewhere */
    bool has_snapshots; /* the catalog told the snapshots itself (rest): then they must be those of the metadata file */
    int64_t *snapshots; /* their ids, as told; owned */
    size_t snapshot_count;
    char *location; /* where the catalog says the table is (gravitino): the metadata file must say the same; or NULL */
    struct ebb_strs lagging; /* hadoop layout: metadata files vK with K >= the hint, other than the current one */
    struct ebb_err problem;  /* why metadata_uri is NULL (EBB_OK: none): EBB_EPOINTER_UNKNOWN, EBB_EHINT, …; also of a
                              * table that has one, but whose dotted name could mean another (rest) */
};
void ebb_table_ref_fini(struct ebb_table_ref *ref);
/* A copy with memory of its own; to be freed also after an error (EBB_ENOMEM). */
int ebb_table_ref_copy(const struct ebb_table_ref *from, struct ebb_table_ref *to, struct ebb_err *err);

struct ebb_catalog;
/* What was configured of a catalog (`catalogs.NAME`). All texts are borrowed during ebb_catalog_new; NULL: not said.
 * Keys that a type does not know are refused by whoever reads the configuration. */
struct ebb_catalog_config {
    const char *name;     /* [A-Za-z_][A-Za-z0-9_-]* */
    const char *type;     /* "directory", "sqlite", "rest", "glue", "gravitino" */
    const char *path;     /* directory, sqlite: local path */
    const char *sql_name; /* sqlite: value of catalog_name; NULL = name */
    /* rest */
    const char *uri;
    const char *token;              /* sent as bearer */
    const struct ebb_strs *headers; /* "Name: value", sent with every request */
    const char *warehouse;
    const char *prefix;     /* NULL: what /v1/config says */
    const char *credential; /* OAuth2 client credentials, "ID:SECRET" */
    const char *oauth2_uri; /* NULL: <uri>/v1/oauth/tokens */
    const char *scope;      /* NULL: "catalog" */
    bool vended;            /* ask for storage credentials of each table and use them */
    /* glue */
    const char *endpoint;   /* NULL: AWS's of the region */
    const char *catalog_id; /* the account; NULL: the caller's */
    struct ebb_aws_config aws;
    /* gravitino; uri, token, credential, oauth2_uri, scope, headers as of rest */
    const char *metalake;
    const char *remote;                       /* the catalog's name there; NULL = name */
    const char *user;                         /* of authentication "simple" */
    const struct ebb_catalog_config *backing; /* the Iceberg catalog behind it; NULL none */
    /* all that speak HTTP */
    const char *ca_file;
};
/* What a catalog needs of its surroundings. storage is borrowed, as cancelled is (may be NULL). */
struct ebb_catalog_site {
    struct ebb_storage *storage;
    struct ebb_clock clock;
    struct ebb_log log;
    const atomic_bool *cancelled;
};
/* EBB_ECONFIG: unknown type (hive, postgresql are named as not built), missing or unusable key. Opens and connects to
 * nothing yet. */
int ebb_catalog_new(const struct ebb_catalog_config *config, const struct ebb_catalog_site *site,
                    struct ebb_catalog **out, struct ebb_err *err);
void ebb_catalog_free(struct ebb_catalog *catalog);
const char *ebb_catalog_name(const struct ebb_catalog *catalog);
/* As ebb_storage_set_deaf, of the catalog's own requests. */
void ebb_catalog_set_deaf(struct ebb_catalog *catalog, bool is_deaf);

/* Called once per table; the ref is borrowed (valid during the call). */
typedef int ebb_catalog_cb(void *data, const struct ebb_table_ref *ref, struct ebb_err *err);
/* All tables, sorted by namespace and name; in directory catalogs also those below other tables and on file systems
 * mounted below the path, but not through links or in .ebb-quarantine. A table that went on in another catalog (a
 * NNNNN-… file follows the newest vN) has EBB_EPOINTER_UNKNOWN. A sqlite catalog without any row of its catalog_name,
 * but with those of others, is EBB_ECATALOG. The listing is complete or an error (EBB_ECATALOG, EBB_EIO…): nothing is
 * left out silently; a table whose pointer can't be told is listed with its problem. */
int ebb_catalog_list(struct ebb_catalog *catalog, ebb_catalog_cb *cb, void *data, struct ebb_err *err);
/* One table. EBB_ETABLE_NOT_FOUND, the table's problem, or EBB_ECATALOG when two folders have the same name ("a.b/t"
 * and "a/b/t", neither read directly). */
int ebb_catalog_load(struct ebb_catalog *catalog, const char *namespace_, const char *name, struct ebb_table_ref *out,
                     struct ebb_err *err);
/* What the catalog keeps as statistics of a table: an object with a list "statistics" of {"name", "value"}, as JSON in
 * *answer (reset before); empty where the type has none. Errors of a load. */
int ebb_catalog_statistics(struct ebb_catalog *catalog, const char *namespace_, const char *name,
                           struct ebb_buf *answer, struct ebb_err *err);

/* A table by path or URI of its folder (Hadoop layout: version hint, probing upward; in another folder
 * EBB_EPOINTER_UNKNOWN) or of one of its
 * *.metadata.json. A file named by hand is checked: EBB_ENOT_CURRENT when another metadata file of the same uuid in its
 * folder lists it in its metadata-log or has a greater last-updated-ms, or when it is a vN and readers find another
 * one. Its name is parent folder (namespace) and folder; catalog is "path". EBB_ETABLE_NOT_FOUND when there is none,
 * EBB_EHINT, EBB_EMETADATA. */
int ebb_table_ref_by_path(struct ebb_storage *storage, const char *path_or_uri, struct ebb_table_ref *out,
                          struct ebb_err *err);

/* Hadoop layout: the current metadata file below a table folder. hint_version -1: no usable hint. A hint that is a
 * number is believed, of whatever size: EBB_EHINT when that version has no file. One that exists but can't be read is
 * EBB_EIO or EBB_EPERMISSION; any other text counts as none. EBB_ETABLE_NOT_FOUND. */
struct ebb_hadoop_version {
    char *metadata_uri; /* owned */
    int64_t version;
    int64_t hint_version;
    struct ebb_strs lagging; /* URIs of vK with hint <= K < version */
};
int ebb_hadoop_resolve(struct ebb_storage *storage, const char *folder_uri, struct ebb_hadoop_version *out,
                       struct ebb_err *err);
void ebb_hadoop_version_fini(struct ebb_hadoop_version *v);

#endif
