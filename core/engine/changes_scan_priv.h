/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the scan for what moves with the clock.
 */
#ifndef EBB_ENGINE_CHANGES_SCAN_PRIV_H
#define EBB_ENGINE_CHANGES_SCAN_PRIV_H

#include "engine/changes_priv.h"
#include "engine/tokens_priv.h"

struct ebb__scan {
    const struct ebb__tokens *t;
    struct ebb__movers *out;
    size_t at;               /* of the operand that is read */
    struct ebb__mover mover; /* of the check that is read */
    int operand;
    int depth;
};

const struct ebb__token *ebb__scan_token(const struct ebb__scan *s, size_t at);
bool ebb__scan_is(const struct ebb__scan *s, size_t at, const char *text);
/* A name behind a dot or colon. */
bool ebb__scan_is_field(const struct ebb__scan *s, size_t at);
/* Such a name of something that moves. */
bool ebb__scan_is_read(const struct ebb__scan *s, size_t at);
/* Which of the moving values a name is; EBB__MOVING_COUNT: none. */
int ebb__scan_moving(struct ebb_str name);
/* The bracket that closes the one at `at`; past the end when there is none, or it is too far away. */
size_t ebb__scan_closing(const struct ebb__scan *s, size_t at);
/* Whether something that moves, or a function, is between. */
bool ebb__scan_has_reads(const struct ebb__scan *s, size_t from, size_t end);
/* Whether what moves is read as plain operands in the arguments between the brackets of a check; fills s->mover. first:
 * position of operand a, from 0. */
bool ebb__scan_arguments(struct ebb__scan *s, size_t open, size_t close, size_t first);

#endif
