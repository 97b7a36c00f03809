/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts an inventory is read with: a source of bytes (plain or gzip file), records of cells (CSV, TSV), rows (what
 * the cells mean), and the manifest of an S3 Inventory. Each part is pushed by the one before it and holds one record
 * at most.
 */
#ifndef EBB_IO_INVENTORY_PRIV_H
#define EBB_IO_INVENTORY_PRIV_H

#include "io/inventory.h"

#define EBB__RECORD_MAX_BYTES ((size_t)64 * 1024)
#define EBB__RECORD_MAX_CELLS 256

/* ---- records (inventory_records.c) ---- */

struct ebb__records;
/* One record; cells are borrowed during the call. */
typedef int ebb__records_cb(void *data, const struct ebb__records *records, const struct ebb_str *cells, size_t count,
                            struct ebb_err *err);

enum ebb__cell_state {
    EBB__CELL_START,
    EBB__CELL_PLAIN,
    EBB__CELL_QUOTED,
    EBB__CELL_AFTER_QUOTE,
    EBB__CELL_AFTER_CR,
    EBB__CELL_AFTER_QUOTE_CR
};

struct ebb__records {
    const char *name; /* file, for messages; borrowed */
    ebb__records_cb *cb;
    void *data;
    int64_t line;         /* of the record at hand: where it begins, from 1 */
    bool is_unterminated; /* the record at hand is the last one and no line end followed it */
    /* private: */
    bool is_csv;
    bool strips_cr; /* TSV whose first line ended with CR LF */
    int64_t next_line;
    enum ebb__cell_state state;
    struct ebb_buf bytes;
    size_t ends[EBB__RECORD_MAX_CELLS];
    size_t count;
};
void ebb__records_init(struct ebb__records *r, const char *name, bool is_csv, bool strips_cr, ebb__records_cb *cb,
                       void *data);
void ebb__records_fini(struct ebb__records *r);
/* Non-zero from cb stops and is returned. EBB_EINVENTORY on a broken quote, too long a record, too many cells. */
int ebb__records_feed(struct ebb__records *r, const char *p, size_t n, struct ebb_err *err);
/* The bytes are over: give the last record if it was not ended. */
int ebb__records_end(struct ebb__records *r, struct ebb_err *err);
/* "<name>: line N: <text>" */
int ebb__records_fail(const struct ebb__records *r, struct ebb_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- rows (inventory_rows.c) ---- */

enum ebb__column {
    EBB__COLUMN_PATH, /* S3 Inventory: the key */
    EBB__COLUMN_SIZE,
    EBB__COLUMN_MTIME,
    EBB__COLUMN_ID,
    EBB__COLUMN_BUCKET, /* from here on S3 Inventory only */
    EBB__COLUMN_LATEST,
    EBB__COLUMN_DELETED,
    EBB__COLUMN_COUNT
};

struct ebb__rows {
    struct ebb__records records;
    ebb_inventory_cb *cb;
    void *data;
    bool is_s3;
    bool is_whole; /* a checksum tells whether the file is whole; else the last record counts as cut unless a line end
                      follows it */
    bool has_records;          /* the records are set up */
    size_t column_count;       /* 0: the header comes next */
    int at[EBB__COLUMN_COUNT]; /* index of the cell, -1 none */
    struct ebb_buf head;       /* the first line until it is whole */
    struct ebb_buf path;
    const char *name;
};
/* A list with a header line. */
void ebb__inventory_rows_init(struct ebb__rows *rows, const char *name, bool is_whole, ebb_inventory_cb *cb,
                              void *data);
/* A data file of an S3 Inventory: CSV without a header, its columns as the manifest's fileSchema says. EBB_EINVENTORY
 * when one is missing. */
int ebb__inventory_rows_init_s3(struct ebb__rows *rows, const char *name, struct ebb_str schema, ebb_inventory_cb *cb,
                                void *data, struct ebb_err *err);
void ebb__inventory_rows_fini(struct ebb__rows *rows);
int ebb__inventory_rows_feed(struct ebb__rows *rows, const char *p, size_t n, struct ebb_err *err);
int ebb__inventory_rows_end(struct ebb__rows *rows, struct ebb_err *err);

/* Cells of a row (inventory_cells.c). The name of a column, NULL where this kind of list has none. */
const char *ebb__inventory_rows_column_name(const struct ebb__rows *rows, enum ebb__column column);
int ebb__inventory_rows_cell_fail(const struct ebb__rows *rows, enum ebb__column column, const char *why,
                                  struct ebb_err *err);
/* Old versions and delete markers are no objects that a listing of the bucket would show. */
int ebb__inventory_rows_is_shown(const struct ebb__rows *rows, const struct ebb_str *cells, bool *out,
                                 struct ebb_err *err);
int ebb__inventory_rows_read_row(struct ebb__rows *rows, const struct ebb_str *cells, struct ebb_inventory_row *row,
                                 struct ebb_err *err);

/* ---- sources (inventory_source.c) ---- */

struct ebb__source;
/* Open a regular file; gzip is recognised by its first bytes. */
int ebb__source_open(const char *path, struct ebb__source **out, struct ebb_err *err);
void ebb__source_close(struct ebb__source *source);
bool ebb__source_is_gzip(const struct ebb__source *source);
/* The next bytes (borrowed until the next call), *n = 0 at the end. EBB_EINVENTORY: gzip data that is damaged or cut.
 */
int ebb__source_next(struct ebb__source *source, const char **p, size_t *n, struct ebb_err *err);
/* At the end: number of bytes of the file as it is stored, and their MD5 in lower-case hex. EBB_EIO when there is no
 * MD5 here. */
int ebb__source_sum(struct ebb__source *source, int64_t *size_bytes, char md5[33], struct ebb_err *err);

/* Push all bytes of the source through the rows (inventory.c). */
int ebb__inventory_pump(struct ebb__source *source, struct ebb__rows *rows, struct ebb_err *err);

/* ---- S3 Inventory (inventory_s3.c) ---- */

struct ebb__s3_file {
    char *key;
    char *md5;
    int64_t size_bytes;
};
struct ebb__s3_manifest {
    struct ebb_arena arena;
    char *schema;
    struct ebb__s3_file *files;
    size_t count, cap;
};
/* Read a manifest.json. EBB_EINVENTORY; out is to be freed in either case. */
int ebb__s3_manifest_parse(const char *name, const void *bytes, size_t n, struct ebb__s3_manifest *out,
                           struct ebb_err *err);
void ebb__s3_manifest_fini(struct ebb__s3_manifest *m);
int ebb__inventory_read_s3(const char *file, ebb_inventory_cb *cb, void *data, struct ebb_err *err);

#endif
