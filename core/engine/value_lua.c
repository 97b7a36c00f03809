/* SPDX-License-Identifier: Apache-2.0 */
#include <lua.h>
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>

#include "engine/value_priv.h"

static int copy_any(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value *box,
                    struct ebb_str key, int depth, struct ebb_err *err);

static int refuse(const struct ebb__value_rules *rules, struct ebb_str key, const char *why, struct ebb_err *err)
{
    int n = key.p && key.n < 64 ? (int)key.n : 0;

    if (n)
        return ebb_err_set(err, EBB_EPOLICY_RESULT, "%s: \"%.*s\": %s", rules->what, n, key.p, why);
    return ebb_err_set(err, EBB_EPOLICY_RESULT, "%s: %s", rules->what, why);
}

/* What a table is, by its keys alone. An empty table is a map. */
static int classify(lua_State *L, int index, const struct ebb__value_rules *rules, enum ebb_value_kind *out,
                    struct ebb_err *err)
{
    size_t named = 0, numbered = 0;

    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING)
            named++;
        else if (lua_isinteger(L, -1))
            numbered++;
        else {
            lua_pop(L, 1);
            return refuse(rules, (struct ebb_str){NULL, 0}, "a key that is neither a text nor a whole number", err);
        }
    }
    if (rules->takes_lead && named && numbered == 1 && lua_rawlen(L, index) == 1)
        numbered = 0;
    if (named && numbered)
        return refuse(rules, (struct ebb_str){NULL, 0}, "names and numbers as keys of one table", err);
    if (numbered && (size_t)lua_rawlen(L, index) != numbered)
        return refuse(rules, (struct ebb_str){NULL, 0}, "a list with holes", err);
    *out = numbered ? EBB_VALUE_LIST : EBB_VALUE_MAP;
    return 0;
}

static int copy_list(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value *list, int depth,
                     struct ebb_err *err)
{
    lua_Integer n = (lua_Integer)lua_rawlen(L, index);
    int rc = 0;

    for (lua_Integer i = 1; i <= n && !rc; i++) {
        if (lua_rawgeti(L, index, i) == LUA_TNIL)
            rc = refuse(rules, (struct ebb_str){NULL, 0}, "a list with holes", err);
        else
            rc = copy_any(L, lua_gettop(L), rules, list, (struct ebb_str){NULL, 0}, depth, err);
        lua_pop(L, 1);
    }
    return rc;
}

static struct ebb_str key_of(lua_State *L)
{
    struct ebb_str key;

    key.p = lua_tolstring(L, -2, &key.n);
    return key;
}

/* Keys come in no order: of several errors the one of the least key is told. */
static int copy_map(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value *map, int depth,
                    struct ebb_err *err)
{
    struct ebb_str key, least = {NULL, 0};
    struct ebb_err one;
    int rc = 0;

    lua_pushnil(L);
    while (lua_next(L, index)) {
        int failed;

        key = lua_isinteger(L, -2) ? EBB_STR("1") : key_of(L);
        failed = copy_any(L, lua_gettop(L), rules, map, key, depth, &one);
        lua_pop(L, 1);
        if (!failed || (rc && ebb_str_compare(key, least) > 0))
            continue;
        rc = failed;
        least = key;
        if (err)
            *err = one;
    }
    return rc;
}

static int copy_members(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value *box, int depth,
                        struct ebb_err *err)
{
    if (ebb_value_get_kind(box) == EBB_VALUE_LIST)
        return copy_list(L, index, rules, box, depth, err);
    return copy_map(L, index, rules, box, depth, err);
}

/* What is wrong with the tree of a node, as the error of a script's value. */
static int check_tree(const struct ebb_value *node, const struct ebb__value_rules *rules, struct ebb_err *err)
{
    int rc = ebb_value_check(node, rules->what, err);

    return rc == -(int)EBB_ELIMIT ? ebb_err_as(err, EBB_EPOLICY_RESULT, NULL) : rc;
}

static int copy_table(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value *box,
                      struct ebb_str key, int depth, struct ebb_err *err)
{
    enum ebb_value_kind kind;
    struct ebb_value *made;
    int rc;

    if (depth >= rules->limits.depth || !lua_checkstack(L, 8))
        return refuse(rules, key, "nested too deeply", err);
    rc = classify(L, index, rules, &kind, err);
    if (rc)
        return rc;
    made = ebb__value_make(box, key, kind);
    rc = check_tree(made ? made : box, rules, err); /* without it the one above tells why */
    return rc ? rc : copy_members(L, index, rules, made, depth + 1, err);
}

static int copy_number(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value *box,
                       struct ebb_str key, struct ebb_err *err)
{
    double real;

    if (lua_isinteger(L, index)) {
        ebb__value_set_scalar(ebb__value_make(box, key, EBB_VALUE_INT), false, lua_tointeger(L, index), 0);
        return 0;
    }
    real = lua_tonumber(L, index);
    if (!isfinite(real))
        return refuse(rules, key, "not a number or infinite", err);
    ebb__value_set_scalar(ebb__value_make(box, key, EBB_VALUE_FLOAT), false, 0, real);
    return 0;
}

static int copy_special(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value *box,
                        struct ebb_str key, struct ebb_err *err)
{
    int rc = rules->special ? rules->special(rules->data, L, index, box, key, err) : 1;
    char why[64];

    if (rc <= 0)
        return rc;
    snprintf(why, sizeof why, "a %s is no plain data", lua_typename(L, lua_type(L, index)));
    return refuse(rules, key, why, err);
}

static int copy_any(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value *box,
                    struct ebb_str key, int depth, struct ebb_err *err)
{
    struct ebb_str text;
    int rc = 0;

    switch (lua_type(L, index)) {
    case LUA_TNIL:
        ebb__value_make(box, key, EBB_VALUE_NIL);
        break;
    case LUA_TBOOLEAN:
        ebb__value_set_scalar(ebb__value_make(box, key, EBB_VALUE_BOOL), lua_toboolean(L, index), 0, 0);
        break;
    case LUA_TNUMBER:
        rc = copy_number(L, index, rules, box, key, err);
        break;
    case LUA_TSTRING:
        text.p = lua_tolstring(L, index, &text.n);
        ebb__value_set_text(ebb__value_make(box, key, EBB_VALUE_STRING), text.p, text.n);
        break;
    case LUA_TTABLE:
        rc = copy_table(L, index, rules, box, key, depth, err);
        break;
    default:
        rc = copy_special(L, index, rules, box, key, err);
    }
    if (!rc)
        rc = ebb_value_check(box, rules->what, err);
    return rc == -(int)EBB_ELIMIT ? ebb_err_as(err, EBB_EPOLICY_RESULT, NULL) : rc;
}

int ebb__value_add_lua(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value *box,
                       struct ebb_str key, struct ebb_err *err)
{
    if (!lua_checkstack(L, 8))
        return ebb_err_nomem(err);
    return copy_any(L, lua_absindex(L, index), rules, box, key, 1, err);
}

int ebb__value_of_lua(lua_State *L, int index, const struct ebb__value_rules *rules, struct ebb_value **out,
                      struct ebb_err *err)
{
    enum ebb_value_kind kind;
    struct ebb_value *root;
    int rc;

    *out = NULL;
    index = lua_absindex(L, index);
    if (!lua_checkstack(L, 8))
        return ebb_err_nomem(err);
    if (lua_type(L, index) != LUA_TTABLE)
        return refuse(rules, (struct ebb_str){NULL, 0}, "not a table", err);
    rc = classify(L, index, rules, &kind, err);
    if (rc)
        return rc;
    root = kind == EBB_VALUE_LIST ? ebb_value_new_list(&rules->limits) : ebb_value_new_map(&rules->limits);
    rc = root ? copy_members(L, index, rules, root, 1, err) : ebb_err_nomem(err);
    if (!rc)
        rc = check_tree(root, rules, err);
    if (rc)
        ebb_value_free(root);
    else
        *out = root;
    return rc;
}

void ebb__value_push(lua_State *L, const struct ebb_value *value)
{
    enum ebb_value_kind kind = ebb_value_get_kind(value);
    struct ebb_str text = ebb_value_get_bytes(value);

    luaL_checkstack(L, 4, "value");
    switch (kind) {
    case EBB_VALUE_NIL:
        lua_pushnil(L);
        return;
    case EBB_VALUE_BOOL:
        lua_pushboolean(L, ebb_value_get_bool(value, false));
        return;
    case EBB_VALUE_INT:
        lua_pushinteger(L, ebb_value_get_int(value, 0));
        return;
    case EBB_VALUE_FLOAT:
        lua_pushnumber(L, ebb_value_get_float(value, 0));
        return;
    case EBB_VALUE_STRING:
        lua_pushlstring(L, text.p, text.n);
        return;
    default:
        break;
    }
    lua_newtable(L);
    for (size_t i = 0; i < ebb_value_get_count(value); i++) {
        struct ebb_str key = ebb_value_get_key(value, i);

        if (kind == EBB_VALUE_MAP)
            lua_pushlstring(L, key.p, key.n);
        ebb__value_push(L, ebb_value_get_at(value, i));
        if (kind == EBB_VALUE_MAP)
            lua_rawset(L, -3);
        else
            lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}
