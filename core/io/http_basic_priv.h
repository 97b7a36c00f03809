/* SPDX-License-Identifier: Apache-2.0
 *
 * Who we are, for servers that take a password or a token.
 */
#ifndef EBB_IO_HTTP_BASIC_PRIV_H
#define EBB_IO_HTTP_BASIC_PRIV_H

#include "base/buf.h"

/* Add "Name: value". */
int ebb__http_header_add(struct ebb_strs *headers, const char *name, const char *value, struct ebb_err *err);
/* Add an Authorization header for a token (Bearer) or a password (Basic); nothing when there is neither. */
int ebb__http_authorize(struct ebb_strs *headers, const char *user, const char *password, const char *token,
                        struct ebb_err *err);

#endif
