/* SPDX-License-Identifier: Apache-2.0
 *
 * The Lua module `ebb` (require "ebb"), for specs and for users' scripts: what its files share. One file for each Lua
 * table, each with an opener that pushes the table. Calls that fail return nil and an error object; wrong arguments
 * raise.
 *
 * Lua errors are longjmps: memory that a binding needs is boxed (a userdata that Lua frees) before it is filled, so
 * that every call here may raise. A state is used by one thread.
 */
#ifndef EBB_FRONT_LUA_MODULE_PRIV_H
#define EBB_FRONT_LUA_MODULE_PRIV_H

#include <lauxlib.h>
#include <lua.h>

#include "base/buf.h"
#include "engine/value.h"

/* Marks a function that may raise, and the calls of such functions. */
#define EBB_LJMP
#define EBB_MAY_LJMP(call) (call)

/* Names of the metatables. */
#define EBB__LUA_ERROR "ebb.module.error"
#define EBB__LUA_BUF "ebb.module.buf"
#define EBB__LUA_RULES "ebb.module.rules"
#define EBB__LUA_CLOCKWORK "ebb.module.clockwork"
#define EBB__LUA_TREE "ebb.module.tree"
#define EBB__LUA_POLICY "ebb.module.policy"
#define EBB__LUA_TABLE "ebb.module.table"
#define EBB__LUA_JOB "ebb.module.job"
#define EBB__LUA_DECISION "ebb.module.decision"

#define EBB__LUA_TEXT_MAX ((size_t)1 << 20)

/* Push an empty box of `size` bytes, zeroed, whose __gc is fini (called once, with the box as argument 1). */
EBB_LJMP void *ebb__lua_box(lua_State *L, const char *metatable, size_t size, lua_CFunction fini);
/* Push a boxed buffer with the limit EBB__LUA_TEXT_MAX. */
EBB_LJMP struct ebb_buf *ebb__lua_buf(lua_State *L);
/* Return the buffer's bytes as string, or nil and the error when rc or the buffer says that it failed. */
EBB_LJMP int ebb__lua_return_buf(lua_State *L, struct ebb_buf *b, int rc, struct ebb_err *err);
/* Return an integer, or nil and the error. */
EBB_LJMP int ebb__lua_return_int(lua_State *L, int64_t value, int rc, const struct ebb_err *err);
/* Return nil and an error object {code, message, retryable, hint} with __tostring. */
EBB_LJMP int ebb__lua_fail(lua_State *L, const struct ebb_err *err);

/* Argument checks: no coercions; a wrong type raises. The slices live as long as the values. */
EBB_LJMP struct ebb_str ebb__lua_check_bytes(lua_State *L, int index);
EBB_LJMP int64_t ebb__lua_check_int(lua_State *L, int index);
/* As above for C strings: 0, or -error when a NUL is inside. */
EBB_LJMP int ebb__lua_check_text(lua_State *L, int index, enum ebb_error error, const char **out, struct ebb_err *err);
/* A list of strings (nil: empty when optional). Pushes one value that owns the array. */
EBB_LJMP const struct ebb_str *ebb__lua_check_list(lua_State *L, int index, size_t *count);

/* Push an empty boxed tree; the box frees what is put there. */
EBB_LJMP struct ebb_value **ebb__lua_tree(lua_State *L);
/* The value at index copied into a map, under EBB__LUA_KEY (nil: nothing). Pushes the box that owns the map. Raises for
 * what is no plain data: functions, mixed keys, holes, cycles. An empty table is a map. */
#define EBB__LUA_KEY "v"
EBB_LJMP const struct ebb_value *ebb__lua_check_value(lua_State *L, int index);
/* Push a deep copy as plain tables. */
EBB_LJMP void ebb__lua_push_value(lua_State *L, const struct ebb_value *value);
/* Return JSON text as plain tables, or nil and the error. */
EBB_LJMP int ebb__lua_return_json(lua_State *L, const char *what, const char *json, size_t n);
/* Give the metatable of the value at the top these methods (and __close the same function as __gc); once per state. */
EBB_LJMP void ebb__lua_methods(lua_State *L, const luaL_Reg *methods);

/* Openers: push one table. */
EBB_LJMP int ebb__lua_open_location(lua_State *L);
EBB_LJMP int ebb__lua_open_policy(lua_State *L);
EBB_LJMP int ebb__lua_open_schedule(lua_State *L);
EBB_LJMP int ebb__lua_open_sql(lua_State *L);
EBB_LJMP int ebb__lua_open_table(lua_State *L);
EBB_LJMP int ebb__lua_open_time(lua_State *L);
/* ebb.duration and ebb.size. */
int ebb__lua_duration(lua_State *L);
int ebb__lua_size(lua_State *L);
/* ebb.plan(table, options), ebb.apply(plan, options), ebb.restore(run, options). */
int ebb__lua_plan(lua_State *L);
int ebb__lua_apply(lua_State *L);
int ebb__lua_restore(lua_State *L);

#endif
