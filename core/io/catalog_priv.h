/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the catalogs: the vtable, references, and the metadata folder of a table as it was found. Not for other
 * layers.
 */
#ifndef EBB_IO_CATALOG_PRIV_H
#define EBB_IO_CATALOG_PRIV_H

#include "io/catalog.h"

struct ebb_catalog;
struct ebb__catalog_ops {
    const char *type;
    /* Build what the type needs beside the common part (NULL: nothing); kept in catalog->state. The common part is
     * filled. */
    int (*open)(struct ebb_catalog *catalog, const struct ebb_catalog_config *config,
                const struct ebb_catalog_site *site, struct ebb_err *err);
    void (*set_deaf)(struct ebb_catalog *catalog, bool is_deaf); /* NULL: it asks nobody */
    void (*close)(struct ebb_catalog *catalog);                  /* NULL: nothing; also after a failed open */
    int (*list)(struct ebb_catalog *catalog, ebb_catalog_cb *cb, void *data, struct ebb_err *err);
    /* Fills out, which is zeroed; the caller frees it after an error. A table's problem may be left in out->problem. */
    int (*load)(struct ebb_catalog *catalog, const char *namespace_, const char *name, struct ebb_table_ref *out,
                struct ebb_err *err);
    /* NULL: it has none. As ebb_catalog_statistics. */
    int (*statistics)(struct ebb_catalog *catalog, const char *namespace_, const char *name, struct ebb_buf *answer,
                      struct ebb_err *err);
};

struct ebb_catalog {
    const struct ebb__catalog_ops *ops;
    char *name;
    char *path; /* absolute; NULL where a type has none */
    char *sql_name;
    struct ebb_storage *storage;
    void *state; /* of the type */
};

extern const struct ebb__catalog_ops ebb__catalog_directory;
extern const struct ebb__catalog_ops ebb__catalog_sqlite;
extern const struct ebb__catalog_ops ebb__catalog_rest;
extern const struct ebb__catalog_ops ebb__catalog_glue;
extern const struct ebb__catalog_ops ebb__catalog_gravitino;

/* Whether the type reads local files: path is due then. */
static inline bool ebb__catalog_is_local(const struct ebb__catalog_ops *ops)
{
    return ops == &ebb__catalog_directory || ops == &ebb__catalog_sqlite;
}

/* Set the names of a zeroed reference. */
int ebb__table_ref_name(struct ebb_table_ref *ref, const char *catalog, const char *namespace_, const char *name,
                        struct ebb_err *err);
/* Find the current metadata below a table folder: fills folder_uri, metadata_uri and lagging. EBB_ETABLE_NOT_FOUND: no
 * table there; EBB_EHINT; EBB_EPOINTER_UNKNOWN in the layout of another catalog. */
int ebb__table_ref_locate(struct ebb_storage *storage, const char *folder_uri, struct ebb_table_ref *ref,
                          struct ebb_err *err);

/* A metadata folder: its version hint, read first, and the names of its metadata files (a link, pipe … counts as a
 * file). */
struct ebb__metadata_dir {
    char *uri;
    bool has_hint;   /* version-hint.text exists */
    bool has_number; /* and its first line is a number */
    int64_t hint;    /* clamped to int64 */
    struct ebb_strs names;
};
void ebb__metadata_dir_init(struct ebb__metadata_dir *dir);
void ebb__metadata_dir_fini(struct ebb__metadata_dir *dir);
/* EBB_ETABLE_NOT_FOUND when there is no such folder. A hint that exists but can't be read is an error. */
int ebb__metadata_dir_read(struct ebb_storage *storage, const char *uri, struct ebb__metadata_dir *dir,
                           struct ebb_err *err);

/* "v12.metadata.json" and its gzip spellings: the version and the spelling's rank in the order in which readers try
 * them. */
bool ebb__hadoop_is_name(const char *name, int64_t *version, int *rank);
/* Whether the folder is that of a Hadoop table: a hint or any vN. */
bool ebb__hadoop_is_layout(const struct ebb__metadata_dir *dir);
/* The current version of what was found. EBB_EHINT, EBB_ETABLE_NOT_FOUND. */
int ebb__hadoop_choose(const struct ebb__metadata_dir *dir, struct ebb_hadoop_version *out, struct ebb_err *err);

/* Whether the metadata file `name` of the folder has a successor there: EBB_ENOT_CURRENT when another metadata file of
 * the same table has a greater last-updated-ms or lists it in its metadata-log. only_catalog_names: look at NNNNN-…
 * files alone. Files that are no metadata are passed over; files that can't be read are errors. */
int ebb__metadata_dir_check_current(struct ebb_storage *storage, const struct ebb__metadata_dir *dir, const char *name,
                                    bool only_catalog_names, struct ebb_err *err);
/* "00012-…": the name of a file that a catalog points to. */
bool ebb__catalog_is_name(const char *name);

/* "<uri>/<name>" in fresh memory; runs of slashes at the end of uri become one. EBB_ENOMEM, EBB_ELIMIT. */
int ebb__uri_join(const char *uri, const char *name, char **out, struct ebb_err *err);

#endif
