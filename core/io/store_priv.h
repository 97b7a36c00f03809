/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the store: the connection, errors of SQLite, transactions, binding. Not for other layers.
 */
#ifndef EBB_IO_STORE_PRIV_H
#define EBB_IO_STORE_PRIV_H

#include <sqlite3.h>

#include "io/store.h"

struct ebb_store {
    sqlite3 *db;
    char *dir;  /* absolute, real */
    char *path; /* dir/ebb.db */
    int lock_fd;
    uint64_t seed;
};

/* Make an error of what SQLite said last: EBB_ENOSPACE, EBB_EPERMISSION, EBB_ESTORE_CORRUPT, EBB_ENOMEM, EBB_EIO, else
 * EBB_ESTORE. `doing` tells what was tried. Returns -error. */
int ebb__store_fail(struct ebb_store *store, const char *doing, struct ebb_err *err);
/* Run fixed statements without results. */
int ebb__store_exec(struct ebb_store *store, const char *sql, struct ebb_err *err);
int ebb__store_prepare(struct ebb_store *store, const char *sql, sqlite3_stmt **out, struct ebb_err *err);
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

/* Bring the schema of an opened file to this program's version. */
int ebb__store_migrate(struct ebb_store *store, struct ebb_err *err);

#endif
