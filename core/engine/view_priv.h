/* SPDX-License-Identifier: Apache-2.0
 *
 * Frozen views: how a script sees values that stay on the C side. Reading is recorded (the read set), writing is an
 * error, a field that the API does not know is an error with a hint, and one that is known but missing is nil.
 */
#ifndef EBB_ENGINE_VIEW_PRIV_H
#define EBB_ENGINE_VIEW_PRIV_H

#include "engine/bind_priv.h"
#include "engine/reads_priv.h"

/* Fields that are more than a member of the value. */
enum ebb__special {
    EBB__SPECIAL_NONE,
    EBB__SPECIAL_NOW,   /* moves with the clock */
    EBB__SPECIAL_AGE,   /* now less the member "at"; a fixed one where there is none */
    EBB__SPECIAL_SINCE, /* a method whose result moves with the clock */
};
struct ebb__shape;
struct ebb__field {
    const char *name;
    const struct ebb__shape *shape; /* of a map, or of the items of a list; NULL: plain data */
    bool always;                    /* a missing one reads as an empty map, not as nil */
    lua_CFunction method;           /* called with the view as upvalue 1 */
    enum ebb__special special;      /* not just what the facts say */
    unsigned lacks;                 /* bits to be noted when it is read and not there */
};
/* The fields of a map. open: others may be there too and read as nil when they are not. */
struct ebb__shape {
    const char *name; /* for messages: "t.stats" */
    const struct ebb__field *fields;
    size_t count;
    bool open;
};

struct ebb__view {
    const struct ebb_value *value; /* NULL: an empty map */
    const struct ebb__shape *shape;
    int node;
};
/* A list of values chosen from elsewhere. */
struct ebb__slice {
    const struct ebb__shape *shape; /* of the items */
    int node;
    size_t count;
    const struct ebb_value *items[];
};

/* Push scalars as they are, lists and maps as views, NULL as nil. */
EBB_LJMP void ebb__view_push(lua_State *L, const struct ebb_value *value, const struct ebb__shape *shape, int node);
/* Push a map view even when the value is NULL. */
EBB_LJMP void ebb__view_push_map(lua_State *L, const struct ebb_value *value, const struct ebb__shape *shape, int node);
/* Push an empty list with room for cap items; the caller fills items and count. */
EBB_LJMP struct ebb__slice *ebb__slice_push(lua_State *L, size_t cap, const struct ebb__shape *shape, int node);
struct ebb__view *ebb__view_test(lua_State *L, int index);
struct ebb__slice *ebb__slice_test(lua_State *L, int index);
/* Length of a frozen list, or -1 when the value at index is none. */
lua_Integer ebb__view_length(lua_State *L, int index);
/* Push item i of the frozen list at index; false (nothing pushed) when the value is no frozen list. */
EBB_LJMP bool ebb__view_push_item(lua_State *L, int index, lua_Integer i);
/* Push a list of the keys of a view in order; error when the value at index is no table. */
EBB_LJMP void ebb__view_push_keys(lua_State *L, int index);
/* For ebb__value_rules: takes views, slices and actions into plain data; 1 for others. */
int ebb__view_copy(void *data, lua_State *L, int index, struct ebb_value *box, struct ebb_str key, struct ebb_err *err);

#endif
