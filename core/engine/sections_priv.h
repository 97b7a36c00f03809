/* SPDX-License-Identifier: Apache-2.0
 *
 * Sections of the facts that scripts ask for by calls with options.
 */
#ifndef EBB_ENGINE_SECTIONS_PRIV_H
#define EBB_ENGINE_SECTIONS_PRIV_H

#include "engine/eval_priv.h"

/* After when something counts; moves: that many ms before now, -1: a fixed instant. */
struct ebb__window {
    int64_t since, moves;
};
/* The options table at 1 (made when there is none); no other keys. */
EBB_LJMP void ebb__check_options(lua_State *L, const char *what, const char *const *keys, size_t count);
/* A whole number option, or otherwise. */
EBB_LJMP int64_t ebb__option_int(lua_State *L, const char *what, const char *key, int64_t otherwise);
/* "last_run", "last_success", an instant, or a duration back from now; missing: always. */
EBB_LJMP struct ebb__window ebb__option_since(lua_State *L, const char *what, const char *key);
/* Whether an instant is in the window; when the window moves it leaves it some day, and that is noted. */
bool ebb__window_has(lua_State *L, const struct ebb__window *w, int64_t at);

/* The calls (bind_sections.c). */
int ebb__l_snapshots(lua_State *L);
int ebb__l_partitions(lua_State *L);
int ebb__l_events_list(lua_State *L);
int ebb__l_events_count(lua_State *L);
extern const struct ebb__shape ebb__shape_snapshot;

#endif
