/* SPDX-License-Identifier: Apache-2.0
 *
 * What ebb asks a Gravitino server for as a client: job templates and runs. The server is that of a configured catalog
 * of type gravitino. (reference: Gravitino 1.3 OpenAPI, jobs)
 */
#ifndef EBB_SERVICE_METALAKE_H
#define EBB_SERVICE_METALAKE_H

#include "engine/value.h"
#include "io/gravitino.h"
#include "service/workspace.h"

/* A session with the server of a configured catalog. EBB_ECATALOG_UNKNOWN, EBB_ECONFIG: it is of another type. */
int ebb_metalake_open(struct ebb_workspace *ws, const char *catalog, struct ebb_gravitino **out, struct ebb_err *err);
/* Ask, and read the answer. Of the answer the member `member` is demanded (NULL: none). *out is owned by the caller.
 * Errors of ebb_gravitino_ask; EBB_ECATALOG: the answer is not to be understood. */
int ebb_metalake_ask(struct ebb_gravitino *g, struct ebb_gravitino_call *call, const char *member,
                     struct ebb_value **out, struct ebb_err *err);

/* ---- the template that ebb registers ---- */

/* What the template runs, on the server's machine. */
struct ebb_metalake_program {
    const char *program; /* absolute */
    const char *config;  /* absolute, NULL: what ebb finds there */
    const char *state;   /* absolute, NULL: as usual there */
};
/* The template as it is sent; owned by the caller. */
int ebb_metalake_template(const char *name, const struct ebb_metalake_program *p, struct ebb_value **out,
                          struct ebb_err *err);
/* Whether a template that the server shows is one that ebb registered: of type shell, and its arguments are those of
 * ebb's job, with all placeholders; program and global options may be others. */
bool ebb_metalake_is_ours(const struct ebb_value *template);
/* The template of this name as the server has it; *out NULL: there is none. */
int ebb_metalake_get_template(struct ebb_gravitino *g, const char *name, struct ebb_value **out, struct ebb_err *err);
enum ebb_registered { EBB_REGISTERED_NEW, EBB_REGISTERED_CHANGED, EBB_REGISTERED_SAME };
/* Make it what it should be. EBB_EREFUSED: one of this name is there that ebb did not register; it stays. */
int ebb_metalake_register(struct ebb_gravitino *g, const char *name, const struct ebb_metalake_program *p,
                          enum ebb_registered *out, struct ebb_err *err);

/* ---- runs ---- */

enum ebb_metalake_state {
    EBB_METALAKE_ACTIVE, /* queued, started, cancelling */
    EBB_METALAKE_SUCCEEDED,
    EBB_METALAKE_FAILED,
    EBB_METALAKE_CANCELLED
};
struct ebb_metalake_run {
    char id[128];
    char status[32]; /* as told */
    enum ebb_metalake_state state;
};
#define EBB_METALAKE_TIME 40
/* Runs of a template that somebody began after an instant (as the server writes it; "" any): how many (*count), and the
 * last of them in *out. creator NULL: anybody's. *newest: when the newest of all was made, "" where there is none (may
 * be the same buffer as since). */
int ebb_metalake_find_runs(struct ebb_gravitino *g, const char *template, const char *creator, const char *since,
                           struct ebb_metalake_run *out, size_t *count, char newest[EBB_METALAKE_TIME],
                           struct ebb_err *err);
/* Start one. values: a map of texts, which arrive there as they are here (the server's own substitution is escaped).
 * EBB_ENOT_FOUND: no such template. is_lost: no answer came that tells whether it was begun. */
int ebb_metalake_run(struct ebb_gravitino *g, const char *template, const struct ebb_value *values,
                     struct ebb_metalake_run *out, bool *is_lost, struct ebb_err *err);
/* How it is. EBB_ENOT_FOUND: the server does not know it (any more). */
int ebb_metalake_get_run(struct ebb_gravitino *g, const char *id, struct ebb_metalake_run *out, struct ebb_err *err);
/* Ask it to end. One that has ended stays as it is. */
int ebb_metalake_cancel(struct ebb_gravitino *g, const char *id, struct ebb_metalake_run *out, struct ebb_err *err);

#endif
