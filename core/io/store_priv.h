/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the store: the connection, errors of SQLite, transactions, binding. Not for other layers.
 */
#ifndef EBB_IO_STORE_PRIV_H
#define EBB_IO_STORE_PRIV_H

#include <sqlite3.h>

#include "io/store_jobs.h"
#include "io/store_objects.h"

/* A statement that is kept for its next use. */
struct ebb__store_kept {
    const char *sql; /* a literal: told by its address */
    sqlite3_stmt *stmt;
};
#define EBB__STORE_KEPT_MAX 64 /* more than there are */
#define EBB__STORE_LENT_MAX 16

struct ebb_store {
    sqlite3 *db;
    char *dir;  /* absolute, real */
    char *path; /* dir/ebb.db */
    int lock_fd;
    int lead_fd; /* of ebb.serve.lock, -1 */
    uint64_t seed;
    int tag;             /* number of this connection among those that are open, -1: not drawn yet */
    int64_t last_job_id; /* that was given by this connection */
    int64_t until_ms;    /* of ebb_clock_elapsed_ms, when statements end; 0 never */
    struct ebb__store_kept kept[EBB__STORE_KEPT_MAX];
    size_t kept_count;
    sqlite3_stmt *lent[EBB__STORE_LENT_MAX]; /* that are not lent now */
    size_t lent_at;
    struct ebb__store_held *held; /* gathered writes; NULL: none are gathered */
};

/* Make an error of what SQLite said last: EBB_ENOSPACE, EBB_EPERMISSION, EBB_ESTORE_CORRUPT, EBB_ENOMEM, EBB_EIO, else
 * EBB_ESTORE. `doing` tells what was tried. Returns -error. */
int ebb__store_fail(struct ebb_store *store, const char *doing, struct ebb_err *err);
/* Run fixed statements without results. */
int ebb__store_exec(struct ebb_store *store, const char *sql, struct ebb_err *err);
int ebb__store_prepare(struct ebb_store *store, const char *sql, sqlite3_stmt **out, struct ebb_err *err);
/* A statement that stays with the connection; it must not be finalized, and be reset before anything else may run that
 * uses it too (so never over a callback). sql is a literal. */
int ebb__store_keep(struct ebb_store *store, const char *sql, sqlite3_stmt **out, struct ebb_err *err);
/* A statement of any text, with nothing bound, to be given back (NULL is fine). */
int ebb__store_borrow(struct ebb_store *store, const char *sql, sqlite3_stmt **out, struct ebb_err *err);
void ebb__store_return(struct ebb_store *store, sqlite3_stmt *stmt);
void ebb__store_lent_fini(struct ebb_store *store);
/* Whether what SQLite said last is that a unique key (or a primary one) is taken. */
bool ebb__store_is_taken(const struct ebb_store *store);
/* Step a statement that gives no rows, and reset it. */
int ebb__store_run(struct ebb_store *store, sqlite3_stmt *stmt, const char *doing, struct ebb_err *err);
/* A write transaction. end: commits when rc is 0, else rolls back; returns rc or the error of the commit. */
int ebb__store_begin(struct ebb_store *store, struct ebb_err *err);
int ebb__store_end(struct ebb_store *store, int rc, struct ebb_err *err);

/* Bind borrowed text (NULL counts as "") or bytes; they must stay until the statement is reset. Failures of binding
 * show in the step. */
void ebb__store_bind_text(sqlite3_stmt *stmt, int index, const char *text);
void ebb__store_bind_blob(sqlite3_stmt *stmt, int index, struct ebb_str bytes);
/* Copy a column as NUL terminated text into *out (free()); EBB_ENOMEM, EBB_ESTORE_CORRUPT when it is no text. */
int ebb__store_take_text(struct ebb_store *store, sqlite3_stmt *stmt, int column, char **out, struct ebb_err *err);

/* A row whose texts are owned. */
#define EBB__ROW_TEXTS 15
#define EBB__ROW_NUMBERS 9
struct ebb__store_row {
    char *texts[EBB__ROW_TEXTS];
    int64_t numbers[EBB__ROW_NUMBERS];
};
/* What a query gives: texts first, then numbers. It is asked for a page of rows at a time (LIMIT :page), each page
 * after the last row of the one before: that row's key is bound to ?1 (and ?2): its first key_texts texts or, when that
 * is 0, its first number. */
#define EBB__STORE_PAGE 64
struct ebb__store_shape {
    int texts, numbers, key_texts;
    const char *doing;
};
void ebb__store_row_fini(struct ebb__store_row *row);
/* The row of a bound statement, which is reset afterwards. */
int ebb__store_fetch(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb__store_shape *shape,
                     struct ebb__store_row *row, bool *found, struct ebb_err *err);
/* Rows one after the other, and no statement is open while give runs: it may write, and so may other processes (what is
 * changed meanwhile is given or not). A kept statement must not be used by give again. The caller has bound everything,
 * also the key to begin after. limit 0: all. */
typedef int ebb__store_give(void *data, const struct ebb__store_row *row, struct ebb_err *err);
int ebb__store_each(struct ebb_store *store, sqlite3_stmt *stmt, const struct ebb__store_shape *shape, int64_t limit,
                    ebb__store_give *give, void *data, struct ebb_err *err);
/* Our globs know only '*'; GLOB has '?' and '[' too. */
int ebb__store_glob(const char *glob, struct ebb_buf *out, struct ebb_err *err);

/* Writes inside of a transaction that is open. */
int ebb__store_write_record(struct ebb_store *store, enum ebb_record_kind kind, const struct ebb_record *record,
                            struct ebb_err *err);
int ebb__store_write_value(struct ebb_store *store, const char *scope, const char *key, const char *value,
                           struct ebb_err *err);
int ebb__store_write_job(struct ebb_store *store, const struct ebb_job_record *job, bool *is_new, struct ebb_err *err);
/* EBB_EEXIST; EBB_ENOT_FOUND. */
int ebb__store_insert_object(struct ebb_store *store, const struct ebb_object *object, struct ebb_err *err);
int ebb__store_update_object(struct ebb_store *store, const char *name, const struct ebb_object *object,
                             struct ebb_err *err);
/* Whether what is there now, in the transaction, is within the bounds of its kind. EBB_ELIMIT. */
int ebb__store_check_objects(struct ebb_store *store, enum ebb_object_kind kind, struct ebb_err *err);
/* Add to what is gathered (store->held is set). */
int ebb__store_hold_record(struct ebb_store *store, enum ebb_record_kind kind, const struct ebb_record *record,
                           struct ebb_err *err);
int ebb__store_hold_value(struct ebb_store *store, const char *scope, const char *key, const char *value,
                          struct ebb_err *err);
int ebb__store_hold_job(struct ebb_store *store, const struct ebb_job_record *job, struct ebb_err *err);

/* PRAGMA integrity_check; `when` goes into the message ("damaged after an unclean stop"). */
int ebb__store_check(struct ebb_store *store, const char *when, struct ebb_err *err);
/* The schema version of this program. */
int64_t ebb__store_newest_schema(void);
/* Bring the schema of an opened file to this program's version. */
int ebb__store_migrate(struct ebb_store *store, struct ebb_err *err);

#endif
