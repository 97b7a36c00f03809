/* SPDX-License-Identifier: Apache-2.0
 *
 * What tables, plans, apply and restore share: options, and a workspace of their own.
 */
#ifndef EBB_FRONT_LUA_TABLE_PRIV_H
#define EBB_FRONT_LUA_TABLE_PRIV_H

#include "front/lua/policy_priv.h"
#include "service/workspace.h"

/* Options of a call, with those of the table object behind them. Maps, borrowed; may be NULL. */
struct ebb__lua_options {
    int arg;
    const struct ebb_value *own, *table;
};

/* An opened table. */
struct ebb__lua_table {
    struct ebb_workspace *ws;
    struct ebb_table *table; /* NULL: closed */
    struct ebb_value *options;
    struct ebb_strs maps;
};
/* The table object at index, or NULL when it is something else; raises when it is closed. */
EBB_LJMP struct ebb__lua_table *ebb__lua_test_table(lua_State *L, int index);

/* The value of an option, or NULL. */
const struct ebb_value *ebb__lua_option(const struct ebb__lua_options *o, const char *key);
/* A text (NULL when not given); true or false; raises for other types. */
EBB_LJMP const char *ebb__lua_option_text(lua_State *L, const struct ebb__lua_options *o, const char *key);
EBB_LJMP bool ebb__lua_option_bool(lua_State *L, const struct ebb__lua_options *o, const char *key);
/* Index of one of the names (NULL at their end), `otherwise` when not given; raises for others. */
EBB_LJMP int ebb__lua_option_choice(lua_State *L, const struct ebb__lua_options *o, const char *key,
                                    const char *const *names, int otherwise);
/* A list of texts, or a map of texts as "KEY=VALUE"; appended to out. */
EBB_LJMP int ebb__lua_option_list(lua_State *L, const struct ebb__lua_options *o, const char *key, struct ebb_strs *out,
                                  struct ebb_err *err);
/* Open a workspace by the options config (a file, or false: none), state, and for connecting map. As the command line
 * does, it looks for a configuration when there is none in the options. */
EBB_LJMP int ebb__lua_open_workspace(lua_State *L, const struct ebb__lua_options *o, bool without_store,
                                     struct ebb_workspace **out, struct ebb_err *err);
EBB_LJMP int ebb__lua_connect(lua_State *L, const struct ebb__lua_options *o, struct ebb_workspace *ws,
                              const struct ebb_strs *recorded, struct ebb_strs *maps, struct ebb_err *err);

#endif
