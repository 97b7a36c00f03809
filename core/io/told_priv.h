/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that servers tell in errors, on their way into our messages. Not for other layers.
 */
#ifndef EBB_IO_TOLD_PRIV_H
#define EBB_IO_TOLD_PRIV_H

#include "base/buf.h"

/* What a server knows of us and may repeat. Borrowed; NULL: there is none. */
struct ebb__secrets {
    const char *token;
    const char *credential;         /* "ID:SECRET" */
    const struct ebb_strs *headers; /* "Name: value" */
};

/* Copy a text, cut where it does not fit and never within a character, control characters as blanks. Nothing of it when
 * it repeats a secret of 4 bytes or more: that is looked for in the whole text, since of one that is cut a part could
 * be left. secrets NULL: none. */
void ebb__told_copy(const struct ebb__secrets *secrets, struct ebb_str text, char *out, size_t size);

#endif
