/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the policy API for people and editors.
 */
#ifndef EBB_FRONT_API_PRINT_H
#define EBB_FRONT_API_PRINT_H

#include "base/buf.h"

/* Definitions for lua-language-server: a file that is read by editors, never run. */
void ebb_api_print_stubs(struct ebb_buf *out);
/* The reference of the policy guide, in Markdown. */
void ebb_api_print_reference(struct ebb_buf *out);

#endif
