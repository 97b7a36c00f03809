/* SPDX-License-Identifier: Apache-2.0
 *
 * A server of Apache Gravitino as a client sees it: one metalake, asked by one thread. Requests and their errors are
 * here; what is asked for, and what the answers mean, is known where it is needed.
 */
#ifndef EBB_IO_GRAVITINO_H
#define EBB_IO_GRAVITINO_H

#include "io/catalog.h"

struct ebb_gravitino;
/* config is that of a catalog of type gravitino; copied. Nothing is sent yet. EBB_ECONFIG, EBB_ENOMEM. */
int ebb_gravitino_new(const struct ebb_catalog_config *config, const struct ebb_catalog_site *site,
                      struct ebb_gravitino **out, struct ebb_err *err);
void ebb_gravitino_free(struct ebb_gravitino *g); /* NULL is fine */
/* As ebb_http_sync_set_deaf. */
void ebb_gravitino_set_deaf(struct ebb_gravitino *g, bool is_deaf);
/* The name of the catalog there. Borrowed. */
const char *ebb_gravitino_catalog(const struct ebb_gravitino *g);
/* Who is named as creator of what we make: the configured user, "anonymous" where nobody is told, NULL where a token
 * tells. Borrowed. */
const char *ebb_gravitino_user(const struct ebb_gravitino *g);

struct ebb_gravitino_call {
    const char *method; /* NULL: GET */
    const char *path;   /* begins with '/', segments encoded: behind /api/metalakes/<metalake> */
    const char *body;   /* JSON, NULL none */
    const char *what;   /* for messages: "table shop.orders" */
    bool is_bare;       /* behind /api alone */
    int status;         /* told: of the answer, 0 none (it may have been acted on all the same) */
    char type[64];      /* told: of an error, "NoSuchTableException"; "" none */
};
/* Append "/" and a name, encoded for a path. */
void ebb_gravitino_segment(struct ebb_buf *path, const char *name);
/* One request from beginning to end; only a GET is sent again. The body of an answer 200 is put into *answer (no bound
 * but 64 MiB, reset before). Errors name the server and its message: EBB_ENOT_FOUND (404 of an object, code 1003),
 * EBB_EEXIST (1004), EBB_EPERMISSION (401, 403), EBB_EUNSUPPORTED (405, code 1006), EBB_EREFUSED (400, 409: it won't do
 * that), EBB_ECATALOG (all else; retryable: the server is busy or down), EBB_ECANCELLED. (reference: Gravitino 1.3
 * OpenAPI, ErrorModel) */
int ebb_gravitino_ask(struct ebb_gravitino *g, struct ebb_gravitino_call *call, struct ebb_buf *answer,
                      struct ebb_err *err);

#endif
