/* SPDX-License-Identifier: Apache-2.0
 *
 * Constructors of the data part: policy, param, time.calendar, time.cron, time.every, on.count, on.event, use. They
 * only box what they are given; the schema is checked afterwards, in C, on plain data.
 */
#include <lauxlib.h>

#include "engine/bundle_priv.h"
#include "engine/header_priv.h"

static const char LIBS_KEY = 0; /* its address is the registry key of the libraries that are loaded */

static int caller_line(lua_State *L)
{
    lua_Debug ar;

    if (!lua_getstack(L, 1, &ar) || !lua_getinfo(L, "l", &ar))
        return 0;
    return ar.currentline > 0 ? ar.currentline : 0;
}

static int made_newindex(lua_State *L)
{
    return luaL_error(L, "what a constructor made is read only");
}

static int made_index(lua_State *L)
{
    return luaL_error(L, "what a constructor made can't be looked into");
}

static const luaL_Reg MADE_METHODS[] = {{"__index", made_index}, {"__newindex", made_newindex}, {NULL, NULL}};

/* Box the value at the top. */
static int box(lua_State *L, const char *kind, enum ebb__class class)
{
    struct ebb__made *made;
    int line = caller_line(L);

    EBB_MAY_LJMP(ebb__charge(L, 20));
    made = lua_newuserdatauv(L, sizeof *made, 1);
    *made = (struct ebb__made){kind, line};
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
    ebb__object_init(L, class, MADE_METHODS);
    return 1;
}

/* Push a copy of the arguments of a trigger, the positional one under "text". */
static void push_arguments(lua_State *L, const char *kind)
{
    if (lua_type(L, 1) == LUA_TSTRING) {
        lua_newtable(L);
        lua_pushvalue(L, 1);
        lua_setfield(L, -2, "text");
        return;
    }
    if (lua_type(L, 1) != LUA_TTABLE)
        luaL_error(L, "%s: write %s { \"…\", … }", kind, kind);
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        bool first = lua_isinteger(L, -2) && lua_tointeger(L, -2) == 1;

        EBB_MAY_LJMP(ebb__charge(L, 2));
        if (!first && lua_type(L, -2) != LUA_TSTRING)
            luaL_error(L, "%s: takes one value without a name", kind);
        if (!first && !strcmp(lua_tostring(L, -2), "text"))
            luaL_error(L, "%s.text: unknown", kind);
        if (first)
            lua_pushliteral(L, "text");
        else
            lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
}

static int trigger(lua_State *L, const char *kind)
{
    EBB_MAY_LJMP(ebb__need_phase(L, EBB__PHASE_HEADER, kind));
    push_arguments(L, kind);
    return box(L, kind, EBB__MADE);
}

static int l_calendar(lua_State *L)
{
    return trigger(L, "time.calendar");
}

static int l_cron(lua_State *L)
{
    return trigger(L, "time.cron");
}

static int l_every(lua_State *L)
{
    return trigger(L, "time.every");
}

static int l_count(lua_State *L)
{
    return trigger(L, "on.count");
}

static int l_event(lua_State *L)
{
    return trigger(L, "on.event");
}

static int l_param(lua_State *L)
{
    EBB_MAY_LJMP(ebb__need_phase(L, EBB__PHASE_HEADER, "param"));
    if (lua_type(L, 1) != LUA_TSTRING)
        return luaL_error(L, "param: the name of a parameter is due, not %s", ebb__type_name(L, 1));
    lua_settop(L, 1);
    return box(L, "param", EBB__MADE);
}

static int l_policy(lua_State *L)
{
    EBB_MAY_LJMP(ebb__need_phase(L, EBB__PHASE_HEADER, "policy"));
    if (lua_type(L, 1) != LUA_TTABLE)
        return luaL_error(L, "policy: write policy { … }");
    lua_settop(L, 1);
    return box(L, "policy", EBB__POLICY);
}

static void push_libs(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &LIBS_KEY) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &LIBS_KEY);
}

static void load_lib(lua_State *L, const char *name)
{
    struct ebb__bundle *bundle = ebb__sandbox_of(L)->bundle;
    const struct ebb__lib *lib;
    struct ebb_err err;

    if (!bundle)
        luaL_error(L, "use: there are no libraries here");
    lib = ebb__bundle_get(bundle, name, &err);
    if (!lib)
        luaL_error(L, "use: %s", err.message);
    lua_pushfstring(L, "=lib/%s", name);
    EBB_MAY_LJMP(ebb__load_chunk(L, lib->source, lib->source_bytes, lua_tostring(L, -1)));
    lua_call(L, 0, 1);
    lua_remove(L, -2);
    if (lua_isnil(L, -1) || lua_isboolean(L, -1)) {
        bundle->fault = "use.result";
        luaL_error(L, "use: lib/%s.lua returns nothing of use", name);
    }
}

/* Error "use: <what> <why>"; the code goes to the bundle. */
static int refuse_use(lua_State *L, const char *code, const char *what, const char *why)
{
    struct ebb__bundle *bundle = ebb__sandbox_of(L)->bundle;

    if (bundle)
        bundle->fault = code;
    return luaL_error(L, "use: %s %s", what, why);
}

/* use "name": the value of lib/name.lua of the bundle, loaded once. */
static int l_use(lua_State *L)
{
    if (lua_type(L, 1) != LUA_TSTRING)
        return luaL_error(L, "use: the name of a library is due, not %s", ebb__type_name(L, 1));
    EBB_MAY_LJMP(ebb__need_phase(L, EBB__PHASE_HEADER, "use"));
    if (strlen(lua_tostring(L, 1)) != lua_rawlen(L, 1))
        return refuse_use(L, "use.name", "the name of a library is plain:", "[a-z][a-z0-9_]*");
    lua_settop(L, 1);
    push_libs(L);
    lua_pushvalue(L, 1);
    if (lua_rawget(L, 2) == LUA_TBOOLEAN)
        return refuse_use(L, "use.cycle", lua_pushfstring(L, "lib/%s.lua", lua_tostring(L, 1)), "uses itself");
    if (!lua_isnil(L, 3))
        return 1;
    lua_pushvalue(L, 1);
    lua_pushboolean(L, 0);
    lua_rawset(L, 2);
    load_lib(L, lua_tostring(L, 1));
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -2);
    lua_rawset(L, 2);
    return 1;
}

static const luaL_Reg GLOBALS[] = {{"policy", l_policy}, {"param", l_param}, {"use", l_use}, {NULL, NULL}};
static const luaL_Reg TIME[] = {
    {"calendar", l_calendar},      {"cron", l_cron}, {"every", l_every}, {"civil", ebb__l_civil},
    {"start_of", ebb__l_start_of}, {NULL, NULL},
};
static const luaL_Reg ON[] = {{"count", l_count}, {"event", l_event}, {NULL, NULL}};

EBB_LJMP void ebb__bind_header(lua_State *L)
{
    ebb__set_functions(L, GLOBALS);
    ebb__set_library(L, "time", TIME, NULL);
    ebb__set_library(L, "on", ON, NULL);
}

EBB_LJMP void ebb__header_push(lua_State *L, struct ebb_str source)
{
    ebb__load_chunk(L, source.p, source.n, "=policy");
    lua_call(L, 0, 1);
    if (!ebb__object_test(L, -1, EBB__POLICY))
        luaL_error(L, "the file must end with: return policy { … }");
    lua_getiuservalue(L, -1, 1);
    lua_remove(L, -2);
}

static int copy_made(lua_State *L, int index, const struct ebb__made *made, struct ebb_value *box_, struct ebb_str key,
                     const struct ebb__value_rules *rules, struct ebb_err *err)
{
    struct ebb_value *map = ebb__value_make(box_, key, EBB_VALUE_MAP);
    int rc;

    ebb_value_put_str(map, EBB__MADE_KIND, made->kind);
    ebb_value_put_int(map, "line", made->line);
    if (!lua_checkstack(L, 8))
        return ebb_err_nomem(err);
    if (!map)
        return ebb_value_check(box_, rules->what, err);
    lua_getiuservalue(L, index, 1);
    rc = ebb__value_add_lua(L, -1, rules, map, EBB_STR("args"), err);
    lua_pop(L, 1);
    return rc;
}

int ebb__header_copy(void *data, lua_State *L, int index, struct ebb_value *box_, struct ebb_str key,
                     struct ebb_err *err)
{
    const struct ebb__made *made;
    struct ebb_value *map;

    if (lua_type(L, index) == LUA_TFUNCTION) {
        map = ebb__value_make(box_, key, EBB_VALUE_MAP);
        ebb_value_put_bool(map, EBB__FUNCTION_KEY, true);
        return 0;
    }
    made = ebb__object_test(L, index, EBB__MADE);
    return made ? copy_made(L, index, made, box_, key, data, err) : 1;
}
