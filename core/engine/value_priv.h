/* SPDX-License-Identifier: Apache-2.0
 *
 * Building with keys that are not NUL terminated, and the copy between Lua and C. Inside the engine layer only.
 */
#ifndef EBB_ENGINE_VALUE_PRIV_H
#define EBB_ENGINE_VALUE_PRIV_H

#include <lua.h>

#include "engine/value.h"

/* An empty value of a kind under a key, or at the end of a list (key.p NULL); NULL when the tree is bad. */
struct ebb_value *ebb__value_make(struct ebb_value *box, struct ebb_str key, enum ebb_value_kind kind);
void ebb__value_set_scalar(struct ebb_value *value, bool truth, int64_t number, double real);
void ebb__value_set_text(struct ebb_value *value, const char *bytes, size_t n);

/* Turns a Lua value that is no plain data (userdata, function) into a value below box; returns 0 when it did, 1 when it
 * does not know it, or an error. Must not throw. */
typedef int ebb__value_special_cb(void *data, lua_State *L, int index, struct ebb_value *box, struct ebb_str key,
                                  struct ebb_err *err);
struct ebb__value_rules {
    struct ebb_value_limits limits;
    const char *what;               /* for messages */
    ebb__value_special_cb *special; /* or NULL */
    void *data;
    bool takes_lead; /* a table with names may have one value without: { "a", b = 1 } is a map with "1" and "b" */
};
/* Deep copy of the table at index into a fresh tree: raw access only, never throws, needs a few free stack slots. A
 * table with keys 1..n only is a list, with string keys only a map, an empty one a map. EBB_EPOLICY_RESULT: cycles and
 * depth, odd keys, NaN and infinities, functions and other kinds; EBB_ENOMEM. */
int ebb__value_of_lua(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value **out,
                      struct ebb_err *err);
/* The same for any value, below box. */
int ebb__value_add_lua(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value *box,
                       struct ebb_str key, struct ebb_err *err);
/* Push a deep copy as plain tables. May throw (memory): call it in a protected call. */
void ebb__value_push(lua_State *L, const struct ebb_value *value);

#endif
