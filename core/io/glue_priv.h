/* SPDX-License-Identifier: Apache-2.0
 *
 * AWS Glue's data catalog, JSON 1.1: signed questions, and what answers hold. Not for other layers. One thread.
 */
#ifndef EBB_IO_GLUE_PRIV_H
#define EBB_IO_GLUE_PRIV_H

#include "format/json.h"
#include "io/aws_credentials.h"
#include "io/catalog_priv.h"
#include "io/http_sync.h"

#define EBB__GLUE_PAGES_MAX 100000

/* ---- the client ---- */

struct ebb__glue {
    char *name;            /* of the catalog, for messages */
    char *endpoint, *host; /* "https://glue.eu-west-1.amazonaws.com", host as it is signed */
    char *region, *catalog_id;
    struct ebb_http_sync *http;
    struct ebb_aws_credentials *credentials;
    struct ebb_clock clock;
    struct ebb_log log;
    const atomic_bool *cancelled;
};
/* Copies. EBB_ECONFIG: no region, an endpoint that is none. */
int ebb__glue_new(const struct ebb_catalog_config *config, const struct ebb_catalog_site *site, struct ebb__glue **out,
                  struct ebb_err *err);
void ebb__glue_free(struct ebb__glue *glue); /* NULL is fine */

/* One question. action: "GetTables", …; what: for messages. type gets the kind of an error that the server told
 * ("EntityNotFoundException"), else "". Throttled and failed questions are asked again; keys that have expired are
 * fetched anew once. Errors are one line: "catalog 'aws': database sales: AccessDeniedException: …". */
int ebb__glue_ask(struct ebb__glue *glue, const char *action, const char *what, struct ebb_str body,
                  struct ebb_buf *answer, char type[64], struct ebb_err *err);

/* ---- what answers hold ---- */

/* A database or a table. Owned texts; NULL: not said. */
struct ebb__glue_item {
    char *name, *account; /* whose it is */
    char *location, *metadata_uri, *table_type;
    bool is_link, is_view;
    char *target_account, *target_database, *target_name; /* of a link */
};
struct ebb__glue_items {
    struct ebb__glue_item *items;
    size_t count, cap;
    char *next; /* token of the next page; NULL: this was the last */
};
void ebb__glue_items_fini(struct ebb__glue_items *items);
/* Add what an answer lists: DatabaseList, TableList, or the one Database or Table. EBB_ECATALOG. */
int ebb__glue_parse(const char *what, struct ebb_str json, struct ebb__glue_items *out, struct ebb_err *err);
/* Sort by name, drop those that stand on two pages. */
void ebb__glue_items_sort(struct ebb__glue_items *items);
/* Kind ("EntityNotFoundException") and text of an error, "" where missing; cut. */
void ebb__glue_parse_error(struct ebb_str json, char type[64], char message[320]);

#endif
