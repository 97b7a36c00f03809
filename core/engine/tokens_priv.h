/* SPDX-License-Identifier: Apache-2.0
 *
 * The tokens of a Lua source, for places and lint: the source is read, never run. Damaged text gives some tokens or
 * other, never an error.
 */
#ifndef EBB_ENGINE_TOKENS_PRIV_H
#define EBB_ENGINE_TOKENS_PRIV_H

#include "base/buf.h"

enum ebb__token_kind {
    EBB__TOKEN_END,
    EBB__TOKEN_NAME,
    EBB__TOKEN_WORD,
    EBB__TOKEN_NUMBER,
    EBB__TOKEN_TEXT,
    EBB__TOKEN_SIGN
};

struct ebb__token {
    enum ebb__token_kind kind; /* WORD is a reserved word, SIGN an operator or bracket */
    struct ebb_str text;       /* TEXT: what stands between the quotes, as written */
    size_t offset;             /* of its first byte in the source */
    int line;
};

struct ebb__tokens {
    struct ebb_str source;
    struct ebb__token *items; /* ends with a token END */
    size_t count;             /* without it */
};

/* EBB_ENOMEM. The source is borrowed. */
int ebb__tokens_init(struct ebb__tokens *tokens, struct ebb_str source, struct ebb_err *err);
void ebb__tokens_fini(struct ebb__tokens *tokens);
/* The token at an index; past the end: END. */
const struct ebb__token *ebb__token_at(const struct ebb__tokens *tokens, size_t index);
/* Whether a token that is no TEXT reads like this. */
bool ebb__token_is(const struct ebb__token *token, const char *text);
/* Column from 1 of a byte: characters of UTF-8 (a byte that is none counts as one) since the start of its line. */
int ebb__column_of(struct ebb_str source, size_t offset);
/* The text of line n (from 1) without its end; empty when there is none. */
struct ebb_str ebb__line_of(struct ebb_str source, int line);

#endif
