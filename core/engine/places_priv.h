/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the keys of policy { … } stand in the source: for diagnostics. A small scanner of Lua tokens; it need not
 * understand more than nesting of tables and functions, and an unknown place is no error.
 */
#ifndef EBB_ENGINE_PLACES_PRIV_H
#define EBB_ENGINE_PLACES_PRIV_H

#include "base/buf.h"

struct ebb__place {
    char *path; /* "guard.quiet[1].from"; "" is policy itself */
    int line, column;
};
struct ebb__places {
    struct ebb_arena arena;
    struct ebb__place *items;
    size_t count, cap;
};
/* Scan; on lack of memory fewer places are known. */
void ebb__places_init(struct ebb__places *places, struct ebb_str source);
void ebb__places_fini(struct ebb__places *places);
/* Place of a path, or of the nearest thing around it; 0,0 when unknown. */
void ebb__places_find(const struct ebb__places *places, const char *path, int *line, int *column);

#endif
