/* SPDX-License-Identifier: Apache-2.0
 *
 * Bindings of the sandbox: what they share, and one opener for each table of the API. An opener adds its functions to
 * the table of globals, which is at the top of the stack. All of these may raise Lua errors.
 */
#ifndef EBB_ENGINE_BIND_PRIV_H
#define EBB_ENGINE_BIND_PRIV_H

#include "engine/sandbox_priv.h"

/* Kinds of userdata that a script can hold. */
enum ebb__class {
    EBB__FROZEN, /* a read-only table of the API */
    EBB__VIEW,   /* facts: a map or list */
    EBB__SLICE,  /* facts: a chosen list */
    EBB__NODE,   /* a check result */
    EBB__ACTION,
    EBB__RESULT, /* of run, skip, defer */
    EBB__MADE,   /* param and triggers */
    EBB__POLICY,
    EBB__CLASS_COUNT
};

struct luaL_Reg;

/* Push a function of the API: an object of the state, unlike lua_pushcfunction. Scripts may use it as a key, and where
 * the code of the program lies must not tell how such a table grows. */
EBB_LJMP void ebb__push_function(lua_State *L, lua_CFunction function);
/* Add functions to the table at the top. */
EBB_LJMP void ebb__set_functions(lua_State *L, const struct luaL_Reg *functions);
/* Make a frozen table of functions, filled further by `more` (or NULL), and set it as a global. */
EBB_LJMP void ebb__set_library(lua_State *L, const char *name, const struct luaL_Reg *functions,
                               void (*more)(lua_State *L));
/* Make the metatable of a class: methods as "__index" …, and no access to it from scripts. Openers do so for what
 * every decision needs, that it is in the image of the state. */
EBB_LJMP void ebb__class_make(lua_State *L, enum ebb__class class, const struct luaL_Reg *methods);
/* Set the metatable of the userdata at the top, made when it is not there. */
EBB_LJMP void ebb__object_init(lua_State *L, enum ebb__class class, const struct luaL_Reg *methods);
/* The userdata at index when it is of the class, else NULL. Never throws. */
void *ebb__object_test(lua_State *L, int index, enum ebb__class class);
/* Error "<where>.<name>: unknown" with the nearest of names as a hint. */
EBB_LJMP int ebb__unknown_name(lua_State *L, const char *where, const char *name, const char *const *names,
                               size_t count);
/* Error unless the phase is the one named. */
EBB_LJMP void ebb__need_phase(lua_State *L, enum ebb__phase phase, const char *name);
/* The text of a value as tostring gives it, pushed: tables and other objects by the name of their type. */
EBB_LJMP const char *ebb__push_text(lua_State *L, int index, size_t *n);
/* "table" for what a script sees as a table (also frozen facts), else the name of the Lua type. */
const char *ebb__type_name(lua_State *L, int index);
/* Error "<what>: an instant (integer, ms) is due". */
EBB_LJMP int64_t ebb__check_int(lua_State *L, int index, const char *what);
/* Error when the table at index has any key but these. */
EBB_LJMP void ebb__check_keys(lua_State *L, int index, const char *what, const char *const *keys, size_t count);

/* Lists: plain tables and frozen lists alike. The length is below LUA_MAXINTEGER: with holes a script can make one of
 * that length, and what comes after it would wrap around. */
EBB_LJMP lua_Integer ebb__list_length(lua_State *L, int index, const char *what);
EBB_LJMP void ebb__list_push(lua_State *L, int index, lua_Integer i);
/* Push f(item) of the item at the top; f at index is a function, a field name, or none (the item itself). */
EBB_LJMP void ebb__list_project(lua_State *L, int f);
/* Check that the value at index is a function, a field name, or missing. */
EBB_LJMP void ebb__check_projection(lua_State *L, int index, const char *what);
/* Replace the plain table at the top by the same elements in stable order; less(L) is called with two values at the top
 * and tells whether the second goes before the first; it must leave the stack as it found it. context is an absolute
 * index that it may use. */
typedef bool ebb__less_cb(lua_State *L, int context);
EBB_LJMP void ebb__list_sort(lua_State *L, ebb__less_cb *less, int context);

/* Openers. */
EBB_LJMP void ebb__bind_base(lua_State *L);
EBB_LJMP void ebb__bind_pairs(lua_State *L);
EBB_LJMP void ebb__bind_math(lua_State *L);
EBB_LJMP void ebb__bind_str(lua_State *L);
EBB_LJMP void ebb__bind_table(lua_State *L);
EBB_LJMP void ebb__bind_text(lua_State *L);
EBB_LJMP void ebb__bind_list(lua_State *L);
EBB_LJMP void ebb__bind_time(lua_State *L);
EBB_LJMP void ebb__bind_header(lua_State *L);
EBB_LJMP void ebb__bind_check(lua_State *L);
EBB_LJMP void ebb__bind_rank(lua_State *L);
EBB_LJMP void ebb__bind_action(lua_State *L);
EBB_LJMP void ebb__bind_result(lua_State *L);
EBB_LJMP void ebb__bind_views(lua_State *L);
/* The pure helpers: base, math, str, table, text, list; sets the methods of strings. */
EBB_LJMP void ebb__bind_pure(lua_State *L);
/* Opener of the policy sandbox: pushes the table of all globals. */
int ebb__open_policy(lua_State *L);

#endif
