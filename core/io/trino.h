/* SPDX-License-Identifier: Apache-2.0
 *
 * Trino's statement protocol: POST registers a query, each GET of the next address takes a page (the first one begins
 * the query), DELETE ends it. What fails does so with status 200. One query per struct, one thread.
 */
#ifndef EBB_IO_TRINO_H
#define EBB_IO_TRINO_H

#include "base/clock.h"
#include "base/buf.h"

struct ebb_trino_options {
    const char *uri;                /* http(s)://HOST:PORT, no slash at the end */
    const char *user;               /* who asks */
    const char *password, *token;   /* NULL: none */
    const char *catalog;            /* for names without one, and before session properties of a catalog; NULL: none */
    const struct ebb_strs *session; /* "name=value", raw; a name without a dot is one of Trino's own. NULL: none */
    struct ebb_log log;
};
struct ebb_trino;
/* Copies what it needs. EBB_ENOMEM, EBB_EUSAGE. */
int ebb_trino_new(const struct ebb_trino_options *options, struct ebb_trino **out, struct ebb_err *err);
void ebb_trino_free(struct ebb_trino *trino);

/* Register a statement (no semicolon). It does not begin before the first page is taken, so a POST is sent again when
 * its answer was lost. EBB_EENGINE: refused, or no answer. */
int ebb_trino_post(struct ebb_trino *trino, const char *statement, struct ebb_err *err);
/* Its id; "" before. */
const char *ebb_trino_id(const struct ebb_trino *trino);

enum ebb_trino_state { EBB_TRINO_RUNNING, EBB_TRINO_DONE, EBB_TRINO_FAILED, EBB_TRINO_CANCELLED, EBB_TRINO_GONE };
/* A value of a row: text as it is, numbers and the like as they are written, n == 0 for null. */
typedef int ebb_trino_row_cb(void *data, struct ebb_str value, struct ebb_err *err);
/* Take one page; the server holds it back for about a second when there is no news. Values of the column of this name
 * go to cb (NULL: none wanted). FAILED, CANCELLED: err tells, 0 is returned. GONE: the server forgot it. EBB_EENGINE
 * (retryable: the page can be asked for again): no answer, or not one of Trino's. A next address of another server is
 * refused. */
int ebb_trino_page(struct ebb_trino *trino, const char *column, ebb_trino_row_cb *cb, void *data,
                   enum ebb_trino_state *state, struct ebb_err *err);
/* What became of a query that another process began. */
int ebb_trino_ask(struct ebb_trino *trino, const char *id, enum ebb_trino_state *state, struct ebb_err *err);
/* End it, by its id or, with NULL, the one at hand. Ending it again is fine. */
int ebb_trino_cancel(struct ebb_trino *trino, const char *id, struct ebb_err *err);

#endif
