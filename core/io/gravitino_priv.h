/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the gravitino*.c files: a session. Not for other layers.
 */
#ifndef EBB_IO_GRAVITINO_PRIV_H
#define EBB_IO_GRAVITINO_PRIV_H

#include "io/gravitino.h"
#include "io/http_sync.h"

struct ebb_gravitino {
    char *name; /* of the configured catalog, for messages */
    char *uri;  /* without '/' at the end */
    char *metalake, *catalog, *user, *credential, *oauth_uri, *scope;
    char *token;            /* in use */
    int64_t token_until_ms; /* a new one is due then; INT64_MAX: never */
    struct ebb_strs headers;
    struct ebb_http_sync *http;
    struct ebb_clock clock;
};

/* A token where one is due; is_refused: the one there is counts no more. EBB_OK without any where none is configured.
 */
int ebb__gravitino_authorize(struct ebb_gravitino *g, bool is_refused, struct ebb_err *err);
/* What a message is about: what was asked for, and of whom. */
struct ebb__gravitino_about {
    const char *what;
    const char *uri; /* of the server, or of the one that gives tokens */
};
/* An answer that is none of success, as an error; type as in ebb_gravitino_call. The stack is never told. */
int ebb__gravitino_refused(const struct ebb_gravitino *g, const struct ebb__gravitino_about *about, int status,
                           struct ebb_str body, char type[64], struct ebb_err *err);
/* No answer came: `why` tells. */
int ebb__gravitino_unanswered(const struct ebb_gravitino *g, const struct ebb__gravitino_about *about,
                              const struct ebb_err *why, struct ebb_err *err);

#endif
