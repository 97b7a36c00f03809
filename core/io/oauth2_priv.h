/* SPDX-License-Identifier: Apache-2.0
 *
 * OAuth2 client credentials (RFC 6749, section 4.4): the form that is sent and the answer to it. Not for other layers.
 */
#ifndef EBB_IO_OAUTH2_PRIV_H
#define EBB_IO_OAUTH2_PRIV_H

#include <stdint.h>

#include "base/buf.h"

/* Append the form for a credential "ID:SECRET" (or a secret alone); scope NULL: none. */
void ebb__oauth2_put_form(const char *credential, const char *scope, struct ebb_buf *form);
/* The access token (owned by the caller) and how long it counts in seconds, -1: not said. EBB_ECORRUPT: there is none
 * that could be a header; EBB_ENOMEM. */
int ebb__oauth2_read(struct ebb_str json, char **token, int64_t *expires_s, struct ebb_err *err);

#endif
