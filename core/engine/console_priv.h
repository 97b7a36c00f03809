/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of the console: one chunk while it runs, and how values are shown.
 */
#ifndef EBB_ENGINE_CONSOLE_PRIV_H
#define EBB_ENGINE_CONSOLE_PRIV_H

#include "engine/console.h"
#include "engine/eval_priv.h"

#define EBB__CONSOLE_OUT_BYTES ((size_t)1 << 20)
#define EBB__CONSOLE_WIDTH 100
#define EBB__CONSOLE_DEPTH 6
#define EBB__CONSOLE_TEXT 400 /* bytes of a text that are shown */

struct ebb__console {
    struct ebb__eval eval;            /* first: the bindings find it as their host */
    struct ebb_buf expression, block; /* the chunk as either */
    struct ebb_str source;
    bool is_loaded;     /* past the compiler */
    bool is_expression; /* values are shown, nil too */
    int64_t gas;
    struct ebb_console_result *result;
    struct ebb_value *taken; /* map that gets the value, instead of showing it; or NULL */
};

/* Show the value at index on lines of its own. */
EBB_LJMP void ebb__console_show(lua_State *L, int index, struct ebb__console *c);
/* Put a copy of the value at index into the map, under "value"; raises an error when it is no plain data. Returns 0. */
EBB_LJMP int ebb__console_take(lua_State *L, int index, struct ebb_value *map);
/* Append plain data: on one line when it fits into the width, else a member a line. key: name of the value, for
 * instants and durations, or NULL. */
void ebb__console_write(struct ebb_buf *out, const char *key, const struct ebb_value *value);
/* The same for facts: fields that are known and missing are named, lists that are asked for by functions are not
 * written out. */
void ebb__console_write_view(struct ebb_buf *out, const struct ebb_value *value, const struct ebb__shape *shape);
/* When the chunk is a path of facts ("t.stats.bytes"), the length of that path, else 0. */
size_t ebb__console_path(struct ebb_str source);
/* Append why the facts have nothing under this path. */
void ebb__console_unknown(struct ebb_buf *out, struct ebb_str path);
/* An error of the chunk, told in the console's own words where there are such. */
void ebb__console_explain(struct ebb_str source, struct ebb_err *err);
/* Whether a message of the compiler means that more must come. */
bool ebb__console_is_cut(const char *message);
/* The column (from 1) of the token that a message of the compiler is about, 0 unknown. Loads beginnings of the chunk.
 */
EBB_LJMP int ebb__console_column(lua_State *L, struct ebb_str source, int line, const char *message);

#endif
