/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/script.h"

#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/script_priv.h"

#define SCRIPT_NAME_MAX 80

static const char MODULES_KEY = 0; /* registry: name -> what the module returned */
static const char BOOT_KEY = 0;    /* registry: the table of boot.lua */

struct ebb_engine {
    lua_State *L;
    int dir; /* descriptor of the scripts folder */
    char *path;
};

/* Give source text to Lua and free it; a Lua error can't pass in between. */
static int load_text(lua_State *L, char *source, size_t n, const char *chunk)
{
    int status = luaL_loadbufferx(L, source, n, chunk, "t");

    free(source);
    return status;
}

/* Push the value of a script by its name "folder.file"; loads it once. */
static void push_module(lua_State *L, struct ebb_engine *engine, const char *name)
{
    char file[SCRIPT_NAME_MAX + 8], chunk[SCRIPT_NAME_MAX + 32];
    struct ebb_err err;
    char *source;
    size_t n = strlen(name);

    if (!n || n > SCRIPT_NAME_MAX || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.") != n || name[0] == '.')
        luaL_error(L, "import: \"%s\" is no name of a script", name);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &MODULES_KEY);
    if (lua_getfield(L, -1, name) != LUA_TNIL) {
        lua_remove(L, -2);
        return;
    }
    lua_pop(L, 1);
    snprintf(file, sizeof file, "%s.lua", name);
    for (char *p = file; p < file + n; p++)
        *p = *p == '.' ? '/' : *p;
    snprintf(chunk, sizeof chunk, "=scripts/%s", file);
    if (ebb__source_read(engine->dir, file, file, O_NOFOLLOW, &source, &n, &err))
        luaL_error(L, "%s", err.message);
    if (load_text(L, source, n, chunk) != LUA_OK)
        lua_error(L);
    ebb__script_push_helpers(L);
    lua_pushlightuserdata(L, engine);
    lua_pushcclosure(L, ebb__l_import, 1);
    lua_call(L, 2, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, name);
    lua_remove(L, -2);
}

int ebb__l_import(lua_State *L)
{
    struct ebb_engine *engine = lua_touserdata(L, lua_upvalueindex(1));

    push_module(L, engine, luaL_checkstring(L, 1));
    return 1;
}

/* Of the standard libraries only what computes: no files, processes, code loading or debugging. */
static void open_libraries(lua_State *L)
{
    static const luaL_Reg LIBRARIES[] = {{"_G", luaopen_base},
                                         {"table", luaopen_table},
                                         {"string", luaopen_string},
                                         {"math", luaopen_math},
                                         {NULL, NULL}};
    static const char *const REMOVED[] = {"dofile", "loadfile", "load", "print", "collectgarbage"};

    for (const luaL_Reg *lib = LIBRARIES; lib->name; lib++) {
        luaL_requiref(L, lib->name, lib->func, 1);
        lua_pop(L, 1);
    }
    for (size_t i = 0; i < sizeof REMOVED / sizeof *REMOVED; i++) {
        lua_pushnil(L);
        lua_setglobal(L, REMOVED[i]);
    }
}

static void check_boot(lua_State *L)
{
    static const char *const CALLS[] = {"chain", "spec", "validate", "evaluate"};

    if (lua_type(L, -1) != LUA_TTABLE)
        luaL_error(L, "boot.lua: does not return a table");
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
        if (lua_getfield(L, -1, CALLS[i]) != LUA_TFUNCTION)
            luaL_error(L, "boot.lua: has no function %s", CALLS[i]);
        lua_pop(L, 1);
    }
}

static int boot(lua_State *L)
{
    struct ebb_engine *engine = lua_touserdata(L, 1);

    open_libraries(L);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &MODULES_KEY);
    push_module(L, engine, "boot");
    check_boot(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &BOOT_KEY);
    return 0;
}

static int on_error(lua_State *L)
{
    if (lua_type(L, 1) != LUA_TSTRING)
        return 1;
    luaL_traceback(L, L, lua_tostring(L, 1), 1);
    return 1;
}

static enum ebb_error error_of(const char *code)
{
    for (int i = 1; code && i < EBB_ERROR_COUNT; i++)
        if (!strcmp(ebb_error_code((enum ebb_error)i), code))
            return (enum ebb_error)i;
    return EBB_EINTERNAL;
}

/* The error at the top: a fault with code and message, or a text (a mistake in the scripts). */
static int report(lua_State *L, int status, struct ebb_err *err)
{
    const char *code = NULL, *message = NULL;

    if (status == LUA_ERRMEM)
        return ebb_err_nomem(err);
    if (lua_type(L, -1) == LUA_TSTRING)
        return ebb_err_set(err, EBB_ECONFIG, "scripts: %s", lua_tostring(L, -1));
    if (lua_type(L, -1) == LUA_TTABLE && lua_checkstack(L, 4)) {
        lua_pushnil(L);
        while (lua_next(L, -2)) {
            const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";

            if (lua_type(L, -1) == LUA_TSTRING && !strcmp(key, "code"))
                code = lua_tostring(L, -1);
            if (lua_type(L, -1) == LUA_TSTRING && !strcmp(key, "message"))
                message = lua_tostring(L, -1);
            lua_pop(L, 1);
        }
    }
    return ebb_err_set(err, error_of(code), "%s", message ? message : "scripts: an error without a message");
}

static int run(struct ebb_engine *engine, lua_CFunction body, void *data, struct ebb_err *err)
{
    lua_State *L = engine->L;
    int status, rc = 0;

    lua_settop(L, 0);
    lua_pushcfunction(L, on_error);
    lua_pushcfunction(L, body);
    lua_pushlightuserdata(L, data);
    status = lua_pcall(L, 1, 0, 1);
    if (status != LUA_OK)
        rc = report(L, status, err);
    lua_settop(L, 0);
    return rc;
}

int ebb_engine_new(const char *scripts_dir, struct ebb_engine **out, struct ebb_err *err)
{
    struct ebb_engine *engine = calloc(1, sizeof *engine);
    int rc = 0;

    *out = NULL;
    if (!engine)
        return ebb_err_nomem(err);
    engine->path = strdup(scripts_dir ? scripts_dir : EBB_DATADIR "/scripts");
    engine->dir = engine->path ? open(engine->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    engine->L = luaL_newstate();
    if (!engine->path || !engine->L)
        rc = ebb_err_nomem(err);
    else if (engine->dir < 0) {
        rc = ebb_err_errno(err, errno, "scripts folder %s", engine->path);
        ebb_err_as(err, EBB_ECONFIG, NULL);
        rc = -(int)EBB_ECONFIG;
    } else
        rc = run(engine, boot, engine, err);
    if (rc)
        ebb_engine_free(engine);
    else
        *out = engine;
    return rc;
}

void ebb_engine_free(struct ebb_engine *engine)
{
    if (!engine)
        return;
    if (engine->L)
        lua_close(engine->L);
    if (engine->dir >= 0)
        close(engine->dir);
    free(engine->path);
    free(engine);
}

struct call {
    const char *function;
    const struct ebb_value *input;
    struct ebb_value *output;
    struct ebb_err err;
    int rc;
};

static int call_boot(lua_State *L)
{
    struct call *c = lua_touserdata(L, 1);
    struct ebb__value_rules rules = {ebb_value_limits_wide(), c->function, NULL, NULL, false};

    lua_rawgetp(L, LUA_REGISTRYINDEX, &BOOT_KEY);
    lua_getfield(L, -1, c->function);
    ebb__value_push(L, c->input);
    lua_call(L, 1, 1);
    c->rc = ebb__value_of_lua(L, -1, &rules, &c->output, &c->err);
    return 0;
}

/* Takes input. */
static int call(struct ebb_engine *engine, const char *function, struct ebb_value *input, struct ebb_value **out,
                struct ebb_err *err)
{
    struct call c = {.function = function, .input = input};
    int rc = ebb_value_check(input, function, err);

    *out = NULL;
    if (!rc)
        rc = run(engine, call_boot, &c, err);
    if (!rc && c.rc) {
        if (err)
            *err = c.err;
        rc = ebb_err_as(err, EBB_EINTERNAL, "scripts");
    }
    if (rc)
        ebb_value_free(c.output);
    else
        *out = c.output;
    ebb_value_free(input);
    return rc;
}

int ebb_engine_chain(struct ebb_engine *engine, const struct ebb_value *decision_action, const struct ebb_value *facts,
                     struct ebb_value **job_config, struct ebb_err *err)
{
    struct ebb_value *input = ebb_value_new_map(NULL);

    ebb_value_put_copy(input, "action", decision_action);
    ebb_value_put_copy(input, "facts", facts);
    return call(engine, "chain", input, job_config, err);
}

int ebb_engine_spec(struct ebb_engine *engine, const char *name, const struct ebb_value *context,
                    struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value *input = ebb_value_new_map(NULL);

    ebb_value_put_str(input, "engine", name);
    ebb_value_put_copy(input, "context", context);
    return call(engine, "spec", input, out, err);
}

int ebb_engine_validate(struct ebb_engine *engine, const char *strategy, const struct ebb_value *content,
                        struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value *input = ebb_value_new_map(NULL);

    ebb_value_put_str(input, "strategy", strategy);
    ebb_value_put_copy(input, "content", content);
    return call(engine, "validate", input, out, err);
}

int ebb_engine_evaluate(struct ebb_engine *engine, const char *strategy, const struct ebb_value *input,
                        struct ebb_value **out, struct ebb_err *err)
{
    struct ebb_value *all = ebb_value_new_map(NULL);

    ebb_value_put_str(all, "strategy", strategy);
    ebb_value_put_copy(all, "input", input);
    return call(engine, "evaluate", all, out, err);
}
