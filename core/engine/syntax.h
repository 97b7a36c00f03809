/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a Lua source is well formed, and where it is not: by the compiler, nothing is run.
 */
#ifndef EBB_ENGINE_SYNTAX_H
#define EBB_ENGINE_SYNTAX_H

#include "base/buf.h"

/* What is wrong with a source. */
struct ebb_syntax {
    int line, column;  /* from 1, column in characters; the place of the token that does not fit */
    char message[256]; /* the compiler's, without the place */
};
/* True when the source (at most 64 KiB) compiles; else *out tells. Also false, with line 0, for want of memory. */
bool ebb_syntax_check(struct ebb_str source, struct ebb_syntax *out);
/* Append the line of a source and a caret under the column, both indented by two; nothing when the line is blank or
 * column is 0. Control characters show as '?', tabs stay, of a long line the part around the place is shown. */
void ebb_caret_print(struct ebb_buf *out, struct ebb_str source, int line, int column);

#endif
