/* SPDX-License-Identifier: Apache-2.0
 *
 * Who asks, and what they may: bearer tokens, hashed in the store, with roles. Comparison takes the same time whatever
 * the token. A token is "ebb_" and 43 characters (256 random bits, base64url), shown once when it is made.
 */
#ifndef EBB_SERVICE_AUTH_H
#define EBB_SERVICE_AUTH_H

#include "io/store.h"
#include "service/config.h"

enum ebb_role { EBB_ROLE_NONE, EBB_ROLE_VIEW, EBB_ROLE_OPERATE, EBB_ROLE_ADMIN }; /* each includes those before it */
const char *ebb_role_name(enum ebb_role role);
bool ebb_role_of(const char *name, enum ebb_role *out);

struct ebb_principal {
    enum ebb_role role;
    char name[128];   /* of the token; "anonymous"; or the user name of Basic without checks (serve.auth = "none") */
    bool is_verified; /* by a token */
};
/* Make a token; out gets its text. EBB_EEXIST (name), EBB_EUSAGE (name: [A-Za-z0-9._-]{1,64}). expires_ms 0: never. */
int ebb_token_create(struct ebb_store *store, const char *name, enum ebb_role role, int64_t now_ms, int64_t expires_ms,
                     const char *creator, char out[64], struct ebb_err *err);
int ebb_token_revoke(struct ebb_store *store, const char *name, struct ebb_err *err);
/* Names, roles, times as a list of maps; no hashes. */
int ebb_token_list(struct ebb_store *store, struct ebb_value **out, struct ebb_err *err);
int ebb_token_count(struct ebb_store *store, int64_t *out, struct ebb_err *err);

/* Who sent this Authorization header (NULL: none). serve.auth "none": nobody is asked for a token, everyone is admin
 * (loopback only), but a Bearer token that is wrong is refused. "token": Bearer, or Basic with the token as password.
 * EBB_EPERMISSION: refused; the message tells nothing of why. */
int ebb_auth_check(struct ebb_store *store, const struct ebb_serve_config *serve, const char *authorization,
                   int64_t now_ms, struct ebb_principal *out, struct ebb_err *err);
/* Whether the daemon may listen: loopback always; other addresses need TLS or insecure = true, and auth = "token" with
 * at least one token. EBB_ECONFIG tells what is missing. */
int ebb_auth_may_listen(struct ebb_store *store, const struct ebb_serve_config *serve, struct ebb_err *err);

#endif
