/* SPDX-License-Identifier: Apache-2.0 */
#include "base/location.h"

#include "front/lua/module_priv.h"

static int l_location_normalise(lua_State *L)
{
    struct ebb_str text = ebb__lua_check_bytes(L, 1);
    struct ebb_buf *out = ebb__lua_buf(L);
    struct ebb_err err;
    int rc = ebb_location_normalise(text.p, text.n, out, &err);

    return ebb__lua_return_buf(L, out, rc, &err);
}

struct rules_box {
    struct ebb_prefix_rules *rules;
};

static int l_rules_gc(lua_State *L)
{
    struct rules_box *box = luaL_checkudata(L, 1, EBB__LUA_RULES);

    ebb_prefix_rules_free(box->rules);
    box->rules = NULL;
    return 0;
}

typedef int (*add_cb)(struct ebb_prefix_rules *rules, const char *names, const char *as, struct ebb_err *err);

/* Add the pairs of the table at the top; raises when something in it is not a string. */
static int add_pairs(lua_State *L, struct ebb_prefix_rules *rules, add_cb add, struct ebb_err *err)
{
    int rc = 0;

    if (!lua_istable(L, -1))
        return luaL_error(L, "equal names: a table of strings is expected");
    lua_pushnil(L);
    while (!rc && lua_next(L, -2)) {
        const char *names, *as = NULL;

        rc = ebb__lua_check_text(L, lua_gettop(L) - 1, EBB_ECONFIG, &names, err);
        if (!rc)
            rc = ebb__lua_check_text(L, lua_gettop(L), EBB_ECONFIG, &as, err);
        if (!rc)
            rc = add(rules, names, as, err);
        lua_pop(L, 1);
    }
    return rc;
}

/* Read { equal_schemes = {…}, equal_authorities = {…} }; other keys raise. */
static int read_options(lua_State *L, int index, struct ebb_prefix_rules *rules, struct ebb_err *err)
{
    int rc = 0;

    if (lua_isnoneornil(L, index))
        return 0;
    luaL_checktype(L, index, LUA_TTABLE);
    lua_pushnil(L);
    while (!rc && lua_next(L, index)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";

        if (!strcmp(key, "equal_schemes"))
            rc = add_pairs(L, rules, ebb_prefix_rules_add_schemes, err);
        else if (!strcmp(key, "equal_authorities"))
            rc = add_pairs(L, rules, ebb_prefix_rules_add_authorities, err);
        else
            return luaL_argerror(L, index, "unknown option");
        lua_pop(L, 1);
    }
    return rc;
}

static int l_location_relation(lua_State *L)
{
    static const char *const NAMES[] = {"same", "inside", "outside", "conflict"};
    enum ebb_relation relation = EBB_RELATION_OUTSIDE;
    const char *valid, *actual;
    struct rules_box *box;
    struct ebb_err err;
    int rc, rc2;

    lua_settop(L, 3);
    rc = ebb__lua_check_text(L, 1, EBB_ELOCATION, &valid, &err);
    rc2 = ebb__lua_check_text(L, 2, EBB_ELOCATION, &actual, &err);
    if (rc || rc2)
        return ebb__lua_fail(L, &err);
    box = ebb__lua_box(L, EBB__LUA_RULES, sizeof *box, l_rules_gc);
    rc = ebb_prefix_rules_new(&box->rules, &err);
    if (!rc)
        rc = read_options(L, 3, box->rules, &err);
    if (!rc)
        rc = ebb_location_relation(valid, actual, box->rules, &relation, &err);
    if (rc)
        return ebb__lua_fail(L, &err);
    lua_pushstring(L, NAMES[relation]);
    return 1;
}

static int l_location_is_hidden(lua_State *L)
{
    struct ebb_str path = ebb__lua_check_bytes(L, 1);
    struct ebb_hidden_rule rule = {NULL, 0};

    if (!lua_isnoneornil(L, 2))
        rule.fields = ebb__lua_check_list(L, 2, &rule.count);
    lua_pushboolean(L, ebb_location_is_hidden(path, &rule));
    return 1;
}

static const luaL_Reg FUNCTIONS[] = {
    {"normalise", l_location_normalise},
    {"relation", l_location_relation},
    {"is_hidden", l_location_is_hidden},
    {NULL, NULL},
};

EBB_LJMP int ebb__lua_open_location(lua_State *L)
{
    luaL_newlib(L, FUNCTIONS);
    return 1;
}
